/* diff_pages.c - a comparison as JSON (complete) and as Markdown (for a pull request). */
#include "diff/diff_pages.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json_out.h"
#include "base/num.h"
#include "base/text.h"
#include "report/report_parts.h"

void rk_put_change(struct rk_bytes *out, int64_t ns)
{
	if (ns)
		rk_bytes_put_u8(out, ns < 0 ? '-' : '+');
	rk_put_duration(out, fabs((double)ns));
}

/* "+1.230 ms of 10.00 ms GPU time, beyond the noise (0.05 ms)" */
static void put_of(struct rk_bytes *out, const struct rk_diff_whole *w, const char *what)
{
	rk_put_change(out, w->delta_ns);
	rk_bytes_puts(out, " of ");
	rk_put_duration(out, (double)w->a_ns);
	rk_bytes_puts(out, what);
	if (isnan(w->noise_ns) || !w->delta_ns)
		return;
	rk_bytes_puts(out, w->significant ? ", beyond the noise (" : ", within the noise (");
	rk_put_duration(out, w->noise_ns);
	rk_bytes_put_u8(out, ')');
}

void rk_put_diff_verdict(struct rk_bytes *out, const struct rk_diff *d)
{
	const struct rk_diff_whole *w = &d->gpu;

	if (!w->a_ns && !w->b_ns) {
		rk_bytes_puts(out, "no GPU time in A or B");
		return;
	}
	if (isnan(w->percent))
		rk_bytes_puts(out, "A has no GPU time: ");
	else if (fabs(w->percent) < 0.005)
		rk_bytes_puts(out, "no change: ");
	else
		rk_bytes_printf(out, "B is %.*f %% %s: ", fabs(w->percent) < 1 ? 2 : 1,
				fabs(w->percent), w->delta_ns > 0 ? "slower" : "faster");
	put_of(out, w, " GPU time");
}

void rk_put_diff_wall(struct rk_bytes *out, const struct rk_diff *d)
{
	const struct rk_diff_whole *w = &d->wall;

	if (!w->known) {
		rk_bytes_puts(out, "wall time unknown");
		return;
	}
	rk_bytes_puts(out, "wall time ");
	if (!isnan(w->percent))
		rk_bytes_printf(out, "%+.*f %%: ", fabs(w->percent) < 1 ? 2 : 1, w->percent + 0.0);
	put_of(out, w, "");
}

const char *rk_diff_part_words(const char *part)
{
	static const char *const words[][2] = {
		{ "appeared", "kernels only in B" },
		{ "vanished", "kernels only in A" },
		{ "speed", "kernels faster or slower per call" },
		{ "calls", "kernels called more or less often" },
		{ "overlap", "kernels running concurrently" },
		{ "unplaced", "kernels without a start time" },
		{ "copies", "copies while no kernel ran" },
		{ "idle", "no kernel or copy ran" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i][0], part) == 0)
			return words[i][1];
	return part;
}

char rk_diff_mark(const struct rk_diff_kernel *k)
{
	if (!k->delta_ns && !k->speed_ns)
		return ' ';
	if (k->significant)
		return '*';
	if (isnan(k->noise_ns) && (k->match == RK_DIFF_SAME || k->match == RK_DIFF_RENAMED))
		return '?';
	return '~';
}

const char *rk_diff_match_word(enum rk_diff_match m)
{
	static const char *const words[] = { "same", "renamed", "appeared", "vanished" };

	return words[m];
}

const char *rk_diff_shown_name(const char *name)
{
	return name[0] ? name : "(no name)";
}

const char *rk_diff_kernel_name(const struct rk_diff_kernel *k)
{
	return rk_diff_shown_name(k->match == RK_DIFF_VANISHED ? k->a.name : k->b.name);
}

size_t rk_diff_changed(const struct rk_diff *d)
{
	size_t n = 0;

	while (n < d->nkernels && (d->kernels[n].delta_ns || d->kernels[n].speed_ns ||
				   d->kernels[n].a.calls != d->kernels[n].b.calls))
		n++;
	return n;
}

/* ---- JSON ---- */

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
		for (const struct rk_diff_part *p = w->parts; p < w->parts + w->nparts; p++) {
			rk_json_object_flat(j, NULL);
			rk_json_text(j, "part", p->name);
			rk_json_int(j, "a_ns", p->a_ns);
			rk_json_int(j, "b_ns", p->b_ns);
			rk_json_int(j, "delta_ns", p->delta_ns);
			rk_json_close(j);
		}
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

static void put_kernels(struct rk_json_out *j, const struct rk_diff *d)
{
	const struct rk_diff_grid *g = d->grids, *end = g ? g + d->ngrids : g;

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
		if (k->grids) {
			rk_json_array_flat(j, "grids");
			for (; g < end && g->kernel == i; g++) {
				rk_json_object(j, NULL);
				rk_json_text(j, "shape", g->shape);
				rk_json_uint(j, "calls_a", g->a);
				rk_json_uint(j, "calls_b", g->b);
				rk_json_close(j);
			}
			rk_json_close(j);
		}
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
	for (size_t i = 0; i < s->nfindings; i++) {
		const struct rk_diff_finding *f = &s->findings[i];

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
	rk_json_close(j);
	rk_json_uint(j, "differences_left_out", s->left_out);
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
	rk_json_close(j);
}

void rk_diff_json(struct rk_bytes *out, const struct rk_diff *d)
{
	static const char *const verdicts[] = {
		[RK_DIFF_WITHIN] = "within", [RK_DIFF_BEYOND] = "beyond", [RK_DIFF_UNKNOWN] = "unknown"
	};
	struct rk_json_out j;

	rk_json_begin(&j, out);
	rk_json_int(&j, "schema", 1);
	if (d->reason[0]) {
		rk_json_text(&j, "verdict", verdicts[d->verdict]);
		rk_json_text(&j, "reason", d->reason);
	} else { /* no gate and no structure check */
		rk_json_null(&j, "verdict");
		rk_json_null(&j, "reason");
	}
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

/* ---- Markdown ---- */

enum { ROWS_SHOWN = 20, NAME_SHOWN = 120 };

/* Names are untrusted: nothing in them may become markup, a link, or a column. */
static void md_text(struct rk_bytes *out, const char *s)
{
	struct rk_bytes safe;
	size_t len;

	rk_bytes_init(&safe, 8 * strlen(s) + 64);
	rk_put_printable(&safe, s, strlen(s), true);
	len = rk_utf8_fit((const char *)safe.data, safe.len, NAME_SHOWN);
	for (size_t i = 0; i < len; i++) {
		char c = (char)safe.data[i];

		if (c == '<')
			rk_bytes_puts(out, "&lt;");
		else if (c == '>')
			rk_bytes_puts(out, "&gt;");
		else if (c == '&')
			rk_bytes_puts(out, "&amp;");
		else if (c && strchr("\\`*_{}[]()#+-.!|~@:$", c))
			rk_bytes_printf(out, "\\%c", c);
		else
			rk_bytes_put_u8(out, (uint8_t)c);
	}
	if (len < safe.len)
		rk_bytes_puts(out, "…");
	out->bad |= safe.bad;
	rk_bytes_release(&safe);
}

void rk_put_pair(struct rk_bytes *out, uint64_t a, uint64_t b, const char *arrow)
{
	rk_put_grouped(out, a);
	if (a != b) {
		rk_bytes_printf(out, " %s ", arrow);
		rk_put_grouped(out, b);
	}
}

static void md_parts(struct rk_bytes *out, const struct rk_diff *d)
{
	const struct rk_diff_whole *w = d->wall.known ? &d->wall : &d->gpu;

	rk_bytes_printf(out, "\n| Part of the %s time | Change | A | B |\n|---|--:|--:|--:|\n",
			d->wall.known ? "wall" : "GPU");
	for (size_t i = 0; i < w->nparts; i++) {
		const struct rk_diff_part *p = &w->parts[i];

		if (!p->delta_ns)
			continue;
		rk_bytes_printf(out, "| %s: %s | ", p->name, rk_diff_part_words(p->name));
		rk_put_change(out, p->delta_ns);
		rk_bytes_puts(out, p->a_ns < 0 ? " | -" : " | ");
		rk_put_duration(out, fabs((double)p->a_ns));
		rk_bytes_puts(out, p->b_ns < 0 ? " | -" : " | ");
		rk_put_duration(out, fabs((double)p->b_ns));
		rk_bytes_puts(out, " |\n");
	}
	rk_bytes_puts(out, "| **all** | **");
	rk_put_change(out, w->delta_ns);
	rk_bytes_puts(out, "** | ");
	rk_put_duration(out, (double)w->a_ns);
	rk_bytes_puts(out, " | ");
	rk_put_duration(out, (double)w->b_ns);
	rk_bytes_puts(out, " |\n");
}

static void md_kernels(struct rk_bytes *out, const struct rk_diff *d, size_t top)
{
	size_t changed = rk_diff_changed(d), shown = top ? rk_min(top, changed) : changed;
	int64_t rest = 0;

	if (!changed)
		return;
	rk_bytes_puts(out, "\n| Change | Calls | Mean | Kernel |\n|--:|--:|--:|---|\n");
	for (size_t i = 0; i < shown; i++) {
		const struct rk_diff_kernel *k = &d->kernels[i];
		char mark = rk_diff_mark(k);

		rk_bytes_puts(out, mark == '*' ? "| **" : "| ");
		rk_put_change(out, k->delta_ns);
		if (mark == '*')
			rk_bytes_puts(out, "**");
		else if (mark == '?')
			rk_bytes_puts(out, " ?");
		rk_bytes_puts(out, " | ");
		rk_put_pair(out, k->a.calls, k->b.calls, "→");
		rk_bytes_puts(out, " | ");
		rk_put_duration(out, k->a.mean_ns);
		rk_bytes_puts(out, " → ");
		rk_put_duration(out, k->b.mean_ns);
		rk_bytes_puts(out, " | ");
		md_text(out, rk_diff_kernel_name(k));
		if (k->match == RK_DIFF_RENAMED) {
			rk_bytes_puts(out, " (was ");
			md_text(out, k->a.name);
			rk_bytes_puts(out, ")");
		} else if (k->match != RK_DIFF_SAME) {
			rk_bytes_printf(out, " (%s)", rk_diff_match_word(k->match));
		}
		if (k->grids)
			rk_bytes_puts(out, " (grids changed)");
		rk_bytes_puts(out, " |\n");
	}
	for (size_t i = shown; i < changed; i++)
		rest += d->kernels[i].delta_ns;
	if (shown < changed) {
		rk_bytes_puts(out, "| ");
		rk_put_change(out, rest);
		rk_bytes_printf(out, " | | | %zu more |\n", changed - shown);
	}
	rk_bytes_puts(out, "\nBold: beyond the noise and at least 1 %. `?`: noise unknown.\n");
}

static void md_copies(struct rk_bytes *out, const struct rk_diff *d)
{
	if (!d->copies.n)
		return;
	rk_bytes_puts(out, "\n| Copies | Change | Count | Bytes |\n|---|--:|--:|--:|\n");
	for (size_t i = 0; i < d->copies.n && i < ROWS_SHOWN; i++) {
		const struct rk_diff_line *l = &d->copies.v[i];

		rk_bytes_puts(out, "| ");
		md_text(out, l->name);
		rk_bytes_puts(out, " | ");
		rk_put_change(out, l->delta_ns);
		rk_bytes_puts(out, " | ");
		rk_put_pair(out, l->calls_a, l->calls_b, "→");
		rk_bytes_puts(out, " | ");
		rk_put_pair(out, (uint64_t)l->bytes_a, (uint64_t)l->bytes_b, "→");
		rk_bytes_puts(out, " |\n");
	}
}

void rk_diff_markdown(struct rk_bytes *out, const struct rk_diff *d,
		      const struct rk_render_options *look)
{
	static const char *const words[] = {
		[RK_DIFF_WITHIN] = "passed", [RK_DIFF_BEYOND] = "failed", [RK_DIFF_UNKNOWN] = "inconclusive"
	};
	const struct rk_diff_structure *s = &d->structure;

	if (s->asked && !d->gated) {
		rk_bytes_puts(out, "### Structure\n");
	} else {
		rk_bytes_puts(out, "### ");
		rk_put_diff_verdict(out, d);
		rk_bytes_puts(out, "\n\n");
		rk_put_diff_wall(out, d);
		rk_bytes_put_u8(out, '\n');
		md_parts(out, d);
		md_kernels(out, d, look->top);
		md_copies(out, d);
	}
	if (s->nfindings)
		rk_bytes_puts(out, "\n| Structure | What | A and B |\n|---|---|---|\n");
	for (size_t i = 0; i < s->nfindings && i < ROWS_SHOWN; i++) {
		rk_bytes_printf(out, "| %s | ", s->findings[i].kind);
		md_text(out, s->findings[i].subject);
		rk_bytes_puts(out, " | ");
		md_text(out, s->findings[i].text);
		rk_bytes_puts(out, " |\n");
	}
	if (s->nfindings + s->left_out > ROWS_SHOWN)
		rk_bytes_printf(out, "\n%zu more differences.\n",
				s->nfindings + s->left_out - ROWS_SHOWN);
	if (d->ndoubts)
		rk_bytes_puts(out, "\nIncomplete:\n\n");
	for (size_t i = 0; i < d->ndoubts && i < ROWS_SHOWN; i++) {
		rk_bytes_puts(out, "- ");
		md_text(out, d->doubts[i]);
		rk_bytes_put_u8(out, '\n');
	}
	if (d->reason[0]) {
		rk_bytes_printf(out, "\n**%s**: ", words[d->verdict]);
		md_text(out, d->reason);
		rk_bytes_put_u8(out, '\n');
	}
}
