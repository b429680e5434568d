/*
 * ranks_render.c - render only the ranks of a job, without the rest of a report: text, JSON and
 * CSV.
 */
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/json_out.h"
#include "base/page.h"
#include "base/text.h"
#include "ranks/ranks_parts.h"
#include "rockit/ranks.h"

/* indexed by enum rk_ranks_clock */
static const char *const clock_words[] = { "same", "aligned", "alone" };

/* -1 means unknown. */
static void known(struct rk_json_out *j, const char *key, int64_t v)
{
	if (v < 0)
		rk_json_null(j, key);
	else
		rk_json_int(j, key, v);
}

static void put_rank(struct rk_json_out *j, const struct rk_ranks_rank *r)
{
	rk_json_object_flat(j, NULL);
	rk_json_int(j, "rank", r->rank);
	known(j, "local_rank", r->local_rank);
	rk_json_text(j, "node", rk_text_or_null(r->node));
	rk_json_text(j, "tool", rk_text_or_null(r->tool));
	rk_json_text(j, "tool_version", rk_text_or_null(r->tool_version));
	rk_json_text(j, "state", rk_text_or_null(r->state));
	known(j, "status", r->status);
	rk_json_uint(j, "kernels", r->kernels);
	rk_json_int(j, "kernel_ns", r->kernel_ns);
	if (r->kernels) {
		rk_json_int(j, "first_ns", r->first_ns);
		rk_json_int(j, "last_ns", r->last_ns);
	} else {
		rk_json_null(j, "first_ns");
		rk_json_null(j, "last_ns");
	}
	known(j, "compute_ns", r->compute_ns);
	known(j, "comm_ns", r->comm_ns);
	known(j, "both_ns", r->both_ns);
	known(j, "idle_ns", r->idle_ns);
	rk_json_uint(j, "collectives", r->collectives);
	rk_json_uint(j, "last", r->last);
	rk_json_int(j, "wait_ns", r->wait_ns);
	rk_json_int(j, "caused_ns", r->caused_ns);
	rk_json_text(j, "clock", clock_words[r->clock]);
	if (r->clock == RK_CLOCK_ALONE) {
		rk_json_null(j, "offset_ns");
		rk_json_null(j, "drift_ppm");
		rk_json_null(j, "error_ns");
	} else {
		rk_json_int(j, "offset_ns", r->offset_ns);
		rk_json_real(j, "drift_ppm", r->drift_ppm);
		known(j, "error_ns", r->error_ns);
	}
	rk_json_text(j, "clock_by", rk_text_or_null(r->clock_by));
	rk_json_text(j, "clock_note", rk_text_or_null(r->clock_note));
	rk_json_close(j);
}

static void put_collective(struct rk_json_out *j, const struct rk_ranks_collective *c)
{
	rk_json_object_flat(j, NULL);
	rk_json_text(j, "name", c->name);
	rk_json_uint(j, "calls", c->calls);
	rk_json_uint(j, "unmatched", c->unmatched);
	rk_json_uint(j, "ranks", c->ranks);
	rk_json_bool(j, "inter_node", c->inter_node);
	rk_json_int(j, "total_ns", c->total_ns);
	rk_json_int(j, "late_ns", c->late_ns);
	rk_json_int(j, "wire_ns", c->wire_ns);
	rk_json_int(j, "wait_ns", c->wait_ns);
	rk_json_real(j, "wire_median_ns", c->wire_median_ns);
	rk_json_real(j, "wire_max_ns", c->wire_max_ns);
	known(j, "straggler", c->straggler);
	rk_json_uint(j, "straggler_calls", c->straggler_calls);
	known(j, "error_ns", c->error_ns);
	rk_json_text(j, "verdict", c->verdict);
	rk_json_close(j);
}

static void put_spread(struct rk_json_out *j, const struct rk_ranks_spread *s)
{
	rk_json_object_flat(j, NULL);
	rk_json_text(j, "name", s->name);
	rk_json_uint(j, "ranks", s->ranks);
	rk_json_int(j, "min_ns", s->min_ns);
	rk_json_int(j, "min_rank", s->min_rank);
	rk_json_int(j, "max_ns", s->max_ns);
	rk_json_int(j, "max_rank", s->max_rank);
	rk_json_real(j, "mean_ns", s->mean_ns);
	rk_json_real(j, "imbalance", s->imbalance);
	rk_json_close(j);
}

static void put_copy(struct rk_json_out *j, const struct rk_ranks_copy *c)
{
	rk_json_object_flat(j, NULL);
	rk_json_text(j, "node", rk_text_or_null(c->node));
	rk_json_text(j, "direction", c->direction);
	known(j, "src", c->src);
	known(j, "dst", c->dst);
	rk_json_uint(j, "calls", c->calls);
	known(j, "bytes", c->bytes);
	rk_json_int(j, "time_ns", c->time_ns);
	rk_json_real(j, "gb_per_s", c->gb_per_s);
	rk_json_close(j);
}

static void put_problem(struct rk_json_out *j, const struct rk_ranks_problem *p)
{
	rk_json_object_flat(j, NULL);
	rk_json_text(j, "kind", p->kind);
	known(j, "rank", p->rank);
	rk_json_uint(j, "count", p->count);
	rk_json_text(j, "message", p->text);
	rk_json_close(j);
}

#define EACH(j, key, put, v, n)                  \
	do {                                     \
		rk_json_array(j, key);           \
		for (size_t i = 0; i < (n); i++) \
			put(j, &(v)[i]);         \
		rk_json_close(j);                \
	} while (0)

void rk_ranks_json(struct rk_bytes *out, const struct rk_ranks *k)
{
	struct rk_list says = { 0 };
	struct rk_json_out j;

	rk_json_begin(&j, out);
	if (k->size)
		rk_json_uint(&j, "size", k->size);
	else
		rk_json_null(&j, "size");
	if (k->nodes)
		rk_json_uint(&j, "nodes", k->nodes);
	else
		rk_json_null(&j, "nodes");
	rk_json_text(&j, "job", rk_text_or_null(k->job));
	rk_json_real(&j, "imbalance", k->imbalance);
	rk_json_int(&j, "intra_ns", k->intra_ns);
	rk_json_int(&j, "inter_ns", k->inter_ns);
	known(&j, "reference", k->reference);
	if (k->reference < 0)
		rk_json_null(&j, "base_ns");
	else
		rk_json_int(&j, "base_ns", k->base_ns);
	rk_ranks_say(&says, k);
	rk_json_list(&j, "summary", &says);
	rk_list_release(&says);
	EACH(&j, "ranks", put_rank, k->ranks, k->nranks);
	EACH(&j, "collectives", put_collective, k->collectives, k->ncollectives);
	EACH(&j, "spreads", put_spread, k->spreads, k->nspreads);
	EACH(&j, "copies", put_copy, k->copies, k->ncopies);
	EACH(&j, "problems", put_problem, k->problems, k->nproblems);
	rk_json_end(&j);
	if (!out->bad)
		out->len--; /* the line continues */
}

/* ---- CSV: one row per rank ---- */

/* An empty cell if the value is unknown. */
static void cell_known(struct rk_bytes *out, int64_t v, bool is)
{
	rk_bytes_put_u8(out, ',');
	if (is)
		rk_put_integer(out, v);
}

static void cell_text(struct rk_bytes *out, const char *s)
{
	rk_bytes_put_u8(out, ',');
	rk_csv_cell(out, s, strlen(s));
}

static void csv_form(struct rk_bytes *out, const void *what, const struct rk_render_options *look)
{
	const struct rk_ranks *k = what;

	(void)look;
	rk_bytes_puts(out, "rank,local_rank,node,state,status,kernels,kernel_ns,first_ns,last_ns,"
			   "compute_ns,comm_ns,both_ns,idle_ns,collectives,last,wait_ns,caused_ns,"
			   "clock,offset_ns,drift_ppm,error_ns,clock_note\n");
	for (size_t i = 0; i < k->nranks; i++) {
		const struct rk_ranks_rank *r = &k->ranks[i];
		bool timed = r->kernels != 0, related = r->clock != RK_CLOCK_ALONE;

		rk_put_integer(out, r->rank);
		cell_known(out, r->local_rank, r->local_rank >= 0);
		cell_text(out, r->node);
		cell_text(out, r->state);
		cell_known(out, r->status, r->status >= 0);
		rk_bytes_printf(out, ",%" PRIu64, r->kernels);
		cell_known(out, r->kernel_ns, true);
		cell_known(out, r->first_ns, timed);
		cell_known(out, r->last_ns, timed);
		cell_known(out, r->compute_ns, r->compute_ns >= 0);
		cell_known(out, r->comm_ns, r->comm_ns >= 0);
		cell_known(out, r->both_ns, r->both_ns >= 0);
		cell_known(out, r->idle_ns, r->idle_ns >= 0);
		rk_bytes_printf(out, ",%" PRIu64 ",%" PRIu64, r->collectives, r->last);
		cell_known(out, r->wait_ns, true);
		cell_known(out, r->caused_ns, true);
		rk_bytes_printf(out, ",%s", clock_words[r->clock]);
		cell_known(out, r->offset_ns, related);
		rk_bytes_put_u8(out, ',');
		if (related)
			rk_put_number(out, r->drift_ppm, "");
		cell_known(out, r->error_ns, related && r->error_ns >= 0);
		cell_text(out, r->clock_note);
		rk_bytes_put_u8(out, '\n');
	}
}

/* ---- all forms ---- */

static void text_form(struct rk_bytes *out, const void *k, const struct rk_render_options *look)
{
	struct rk_page page;

	rk_page_begin(&page, out, look);
	rk_ranks_text(&page, k);
	rk_page_end(&page);
	/* remove the empty line before the first title */
	if (out->len)
		memmove(out->data, out->data + 1, --out->len);
}

static void json_form(struct rk_bytes *out, const void *k, const struct rk_render_options *look)
{
	(void)look;
	rk_bytes_puts(out, "{\"schema\":1,\n \"ranks\":");
	rk_ranks_json(out, k);
	rk_bytes_puts(out, "}\n");
}

int rk_ranks_render(const struct rk_ranks *k, const struct rk_render_options *opt, char **ret_text,
		    size_t *ret_len, struct rk_error *err)
{
	static rk_form *const forms[RK_NFORMS] = { text_form, json_form, csv_form };

	return rk_render(forms, k, opt, ret_text, ret_len, __func__, err);
}
