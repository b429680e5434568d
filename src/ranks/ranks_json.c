/* ranks_json.c - a job of several ranks as JSON. */
#include "base/json_out.h"
#include "ranks/ranks_parts.h"

static const char *or_null(const char *s)
{
	return s && s[0] ? s : NULL;
}

/* -1 stands for what is not known. */
static void known(struct rk_json_out *j, const char *key, int64_t v)
{
	if (v < 0)
		rk_json_null(j, key);
	else
		rk_json_int(j, key, v);
}

static void put_clock(struct rk_json_out *j, const struct rk_ranks_rank *r)
{
	static const char *const words[] = { "same", "aligned", "alone" };

	rk_json_text(j, "clock", words[r->clock]);
	if (r->clock == RK_CLOCK_ALONE) {
		rk_json_null(j, "offset_ns");
		rk_json_null(j, "drift_ppm");
		rk_json_null(j, "error_ns");
	} else {
		rk_json_int(j, "offset_ns", r->offset_ns);
		rk_json_real(j, "drift_ppm", r->drift_ppm);
		known(j, "error_ns", r->error_ns);
	}
	rk_json_text(j, "clock_by", or_null(r->clock_by));
	rk_json_text(j, "clock_note", or_null(r->clock_note));
}

static void put_rank(struct rk_json_out *j, const struct rk_ranks_rank *r)
{
	rk_json_object_flat(j, NULL);
	rk_json_int(j, "rank", r->rank);
	known(j, "local_rank", r->local_rank);
	rk_json_text(j, "node", or_null(r->node));
	rk_json_text(j, "tool", or_null(r->tool));
	rk_json_text(j, "tool_version", or_null(r->tool_version));
	rk_json_text(j, "state", or_null(r->state));
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
	put_clock(j, r);
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
	rk_json_text(j, "node", or_null(c->node));
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

static void put_head(struct rk_json_out *j, const struct rk_ranks *k)
{
	struct rk_list says = { 0 };

	if (k->size)
		rk_json_uint(j, "size", k->size);
	else
		rk_json_null(j, "size");
	if (k->nodes)
		rk_json_uint(j, "nodes", k->nodes);
	else
		rk_json_null(j, "nodes");
	rk_json_text(j, "job", or_null(k->job));
	rk_json_real(j, "imbalance", k->imbalance);
	rk_json_int(j, "intra_ns", k->intra_ns);
	rk_json_int(j, "inter_ns", k->inter_ns);
	known(j, "reference", k->reference);
	if (k->reference < 0)
		rk_json_null(j, "base_ns");
	else
		rk_json_int(j, "base_ns", k->base_ns);
	rk_ranks_say(&says, k);
	rk_json_list(j, "summary", &says);
	rk_list_release(&says);
}

void rk_ranks_json(struct rk_bytes *out, const struct rk_ranks *k)
{
	struct rk_json_out j;

	rk_json_begin(&j, out);
	put_head(&j, k);
	EACH(&j, "ranks", put_rank, k->ranks, k->nranks);
	EACH(&j, "collectives", put_collective, k->collectives, k->ncollectives);
	EACH(&j, "spreads", put_spread, k->spreads, k->nspreads);
	EACH(&j, "copies", put_copy, k->copies, k->ncopies);
	EACH(&j, "problems", put_problem, k->problems, k->nproblems);
	rk_json_end(&j);
	if (!out->bad)
		out->len--; /* the line goes on */
}
