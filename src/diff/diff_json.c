/* diff_json.c - a comparison, complete, for programs. */
#include <math.h>
#include <stdio.h>

#include "base/json_out.h"
#include "diff/diff_pages.h"
#include "report/report_parts.h"

static void put_side(struct rk_json_out *j, const char *key, const struct rk_diff_side *s)
{
	rk_json_object(j, key);
	rk_json_array_flat(j, "inputs");
	for (size_t i = 0; i < s->runs; i++)
		rk_json_text(j, NULL, s->labels[i]);
	rk_json_close(j);
	rk_json_uint(j, "runs", s->runs);
	rk_json_uint(j, "kernel_names", s->kernels);
	rk_json_uint(j, "kernel_calls", s->calls);
	rk_json_uint(j, "kernels_without_times", s->untimed);
	rk_json_uint(j, "copies", s->copies);
	rk_json_int(j, "bytes", s->bytes);
	rk_json_close(j);
}

static void put_part(struct rk_json_out *j, const struct rk_diff_part *p)
{
	rk_json_object_flat(j, NULL);
	rk_json_text(j, "part", p->name);
	rk_json_int(j, "a_ns", p->a_ns);
	rk_json_int(j, "b_ns", p->b_ns);
	rk_json_int(j, "delta_ns", p->delta_ns);
	rk_json_close(j);
}

static void put_whole(struct rk_json_out *j, const char *key, const struct rk_diff_whole *w)
{
	if (!w->known) {
		rk_json_null(j, key);
		return;
	}
	rk_json_object(j, key);
	rk_json_int(j, "a_ns", w->a_ns);
	rk_json_int(j, "b_ns", w->b_ns);
	rk_json_int(j, "delta_ns", w->delta_ns);
	rk_json_real(j, "percent", w->percent);
	rk_json_real(j, "noise_ns", w->noise_ns);
	rk_json_bool(j, "significant", w->significant);
	if (w->nparts) {
		rk_json_array(j, "parts");
		for (size_t i = 0; i < w->nparts; i++)
			put_part(j, &w->parts[i]);
		rk_json_close(j);
	}
	rk_json_close(j);
}

static void put_count(struct rk_json_out *j, const char *key, const struct rk_diff_count *c,
		      bool there)
{
	if (!there) {
		rk_json_null(j, key);
		return;
	}
	rk_json_object_flat(j, key);
	rk_json_text(j, "name", c->name);
	rk_json_uint(j, "calls", c->calls);
	rk_json_uint(j, "calls_least", c->calls_least);
	rk_json_uint(j, "calls_most", c->calls_most);
	rk_json_int(j, "total_ns", c->total_ns);
	rk_json_real(j, "mean_ns", c->mean_ns);
	rk_json_real(j, "median_ns", c->median_ns);
	rk_json_real(j, "mad_ns", c->mad_ns);
	rk_json_real(j, "stddev_ns", c->stddev_ns);
	rk_json_close(j);
}

static void put_grids(struct rk_json_out *j, const struct rk_diff *d, size_t *at, size_t kernel)
{
	rk_json_array_flat(j, "grids");
	for (; *at < d->ngrids && d->grids[*at].kernel == kernel; (*at)++) {
		rk_json_object(j, NULL);
		rk_json_text(j, "shape", d->grids[*at].shape);
		rk_json_uint(j, "calls_a", d->grids[*at].a);
		rk_json_uint(j, "calls_b", d->grids[*at].b);
		rk_json_close(j);
	}
	rk_json_close(j);
}

static void put_kernels(struct rk_json_out *j, const struct rk_diff *d)
{
	size_t grid = 0;

	rk_json_array(j, "kernels");
	for (size_t i = 0; i < d->nkernels; i++) {
		const struct rk_diff_kernel *k = &d->kernels[i];

		rk_json_object(j, NULL);
		rk_json_text(j, "name", rk_diff_kernel_name(k));
		rk_json_text(j, "match", rk_diff_match_word(k->match));
		rk_json_int(j, "delta_ns", k->delta_ns);
		rk_json_int(j, "speed_ns", k->speed_ns);
		rk_json_int(j, "calls_ns", k->calls_ns);
		rk_json_real(j, "noise_ns", k->noise_ns);
		rk_json_bool(j, "significant", k->significant);
		put_count(j, "a", &k->a, k->match != RK_DIFF_APPEARED);
		put_count(j, "b", &k->b, k->match != RK_DIFF_VANISHED);
		if (k->grids)
			put_grids(j, d, &grid, i);
		rk_json_close(j);
	}
	rk_json_close(j);
}

static void put_lines(struct rk_json_out *j, const char *key, const struct rk_diff_lines *l,
		      bool bytes)
{
	rk_json_array(j, key);
	for (size_t i = 0; i < l->n; i++) {
		const struct rk_diff_line *x = &l->v[i];

		rk_json_object_flat(j, NULL);
		rk_json_text(j, "name", x->name);
		rk_json_uint(j, "calls_a", x->calls_a);
		rk_json_uint(j, "calls_b", x->calls_b);
		if (bytes) {
			rk_json_int(j, "bytes_a", x->bytes_a);
			rk_json_int(j, "bytes_b", x->bytes_b);
		}
		rk_json_int(j, "a_ns", x->a_ns);
		rk_json_int(j, "b_ns", x->b_ns);
		rk_json_int(j, "delta_ns", x->delta_ns);
		rk_json_close(j);
	}
	rk_json_close(j);
}

static void put_finding(struct rk_json_out *j, const struct rk_diff_finding *f)
{
	rk_json_object(j, NULL);
	rk_json_text(j, "kind", f->kind);
	rk_json_text(j, "subject", f->subject);
	rk_json_uint(j, "a", f->a);
	rk_json_uint(j, "b", f->b);
	rk_json_text(j, "text", f->text);
	if (f->around_a[0] || f->around_b[0]) {
		rk_json_uint(j, "at", f->at);
		rk_json_text(j, "around_a", f->around_a);
		rk_json_text(j, "around_b", f->around_b);
	}
	rk_json_close(j);
}

static void put_queues(struct rk_json_out *j, const struct rk_diff_structure *s)
{
	rk_json_array(j, "queues");
	for (size_t i = 0; i < s->nqueues; i++) {
		const struct rk_diff_queue *q = &s->queues[i];
		char hash[20];

		snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)q->hash);
		rk_json_object_flat(j, NULL);
		rk_json_text(j, "hash", hash);
		rk_json_uint(j, "launches", q->length);
		rk_json_bool(j, "in_a", q->a);
		rk_json_bool(j, "in_b", q->b);
		rk_json_close(j);
	}
	rk_json_close(j);
}

static void put_structure(struct rk_json_out *j, const struct rk_diff_structure *s)
{
	if (!s->asked) {
		rk_json_null(j, "structure");
		return;
	}
	rk_json_object(j, "structure");
	rk_json_bool(j, "equal", s->equal);
	rk_json_uint(j, "launches_a", s->launches_a);
	rk_json_uint(j, "launches_b", s->launches_b);
	rk_json_array(j, "differences");
	for (size_t i = 0; i < s->nfindings; i++)
		put_finding(j, &s->findings[i]);
	rk_json_close(j);
	rk_json_uint(j, "differences_left_out", s->left_out);
	put_queues(j, s);
	rk_json_close(j);
}

void rk_diff_json(struct rk_bytes *out, const struct rk_diff *d)
{
	struct rk_json_out j;

	rk_json_begin(&j, out);
	rk_json_int(&j, "schema", 1);
	/* null: nothing was to be judged */
	rk_json_text(&j, "verdict", d->reason[0] ? rk_diff_verdict_word(d->verdict) : NULL);
	rk_json_text(&j, "reason", d->reason[0] ? d->reason : NULL);
	rk_json_real(&j, "gate_percent", d->gated ? d->gate_percent : NAN);
	put_side(&j, "a", &d->a);
	put_side(&j, "b", &d->b);
	put_whole(&j, "gpu", &d->gpu);
	put_whole(&j, "wall", &d->wall);
	put_whole(&j, "copy", &d->copy);
	put_whole(&j, "api", &d->api);
	put_kernels(&j, d);
	if (d->ranks.n)
		put_lines(&j, "ranks", &d->ranks, false);
	put_lines(&j, "copies", &d->copies, true);
	put_lines(&j, "api_calls", &d->calls, false);
	put_structure(&j, &d->structure);
	rk_json_array(&j, "incomplete");
	for (size_t i = 0; i < d->ndoubts; i++)
		rk_json_text(&j, NULL, d->doubts[i]);
	rk_json_close(&j);
	rk_json_end(&j);
}
