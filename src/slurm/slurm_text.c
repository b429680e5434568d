/* slurm_text.c - the parts of a job for people and for scripts. */
#include <inttypes.h>
#include <string.h>

#include "base/json_out.h"
#include "slurm/slurm_parts.h"

/* "0,8-15", as --ranks takes it. `at` gives the i-th number. */
static void put_ranges(struct rk_bytes *out, const int64_t *v, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t last = i;

		while (last + 1 < n && v[last + 1] == v[last] + 1)
			last++;
		rk_bytes_printf(out, "%s%" PRId64, i ? "," : "", v[i]);
		if (last > i)
			rk_bytes_printf(out, "-%" PRId64, v[last]);
		i = last + 1;
	}
}

/* The same of the ranks of one node. */
static void put_node_ranges(struct rk_bytes *out, const struct rk_slurm_parts *p, const char *node)
{
	int64_t first = -1, last = -1;
	bool some = false;

	for (size_t i = 0; i <= p->n; i++) {
		if (i < p->n && strcmp(p->v[i].node, node) != 0)
			continue;
		if (i < p->n && first >= 0 && p->v[i].rank == last + 1) {
			last = p->v[i].rank;
			continue;
		}
		if (first >= 0) {
			rk_bytes_printf(out, "%s%" PRId64, some ? "," : "", first);
			if (last > first)
				rk_bytes_printf(out, "-%" PRId64, last);
			some = true;
		}
		first = last = i < p->n ? p->v[i].rank : -1;
	}
}

struct sum {
	size_t by_state[RK_PART_UNREADABLE + 1], n;
	uint64_t kernels;
};

/* False where an earlier rank was on the same node: each is told once. */
static bool sum_node(const struct rk_slurm_parts *p, size_t at, struct sum *ret)
{
	const char *node = p->v[at].node;

	*ret = (struct sum){ .n = 0 };
	for (size_t i = 0; i < at; i++)
		if (!strcmp(p->v[i].node, node))
			return false;
	for (size_t i = at; i < p->n; i++) {
		if (strcmp(p->v[i].node, node) != 0)
			continue;
		ret->n++;
		ret->by_state[p->v[i].state]++;
		ret->kernels += p->v[i].kernels;
	}
	return true;
}

/* Names from files: nothing in them steers a terminal. */
static void put_plain(struct rk_bytes *out, const char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			rk_bytes_printf(out, "\\x%02x", (unsigned)(unsigned char)*text);
		else
			rk_bytes_put_u8(out, (uint8_t)*text);
	}
}

static void put_node(const struct rk_slurm_parts *p, size_t at, struct rk_bytes *out)
{
	struct sum s;

	if (!sum_node(p, at, &s))
		return;
	put_plain(out, p->v[at].node[0] ? p->v[at].node : "(unknown node)");
	rk_bytes_puts(out, s.n == 1 ? ": rank " : ": ranks ");
	put_node_ranges(out, p, p->v[at].node);
	rk_bytes_puts(out, ":");
	for (unsigned i = 0; i <= RK_PART_UNREADABLE; i++)
		if (s.by_state[i])
			rk_bytes_printf(out, " %zu %s,", s.by_state[i],
					rk_part_state_name((enum rk_part_state)i));
	rk_bytes_printf(out, " %" PRIu64 " kernel%s\n", s.kernels, s.kernels == 1 ? "" : "s");
}

void rk_slurm_parts_text(const struct rk_slurm_parts *p, struct rk_bytes *out)
{
	if (p->job[0]) {
		rk_bytes_puts(out, "job ");
		put_plain(out, p->job);
		rk_bytes_puts(out, ": ");
	}
	rk_bytes_printf(out, "%zu rank%s", p->n, p->n == 1 ? "" : "s");
	if (p->size >= 0)
		rk_bytes_printf(out, " of %" PRId64, p->size);
	if (p->ranks) {
		rk_bytes_puts(out, ", asked for ");
		put_plain(out, p->ranks);
	}
	rk_bytes_puts(out, "\n");
	for (size_t i = 0; i < p->n; i++)
		put_node(p, i, out);
	for (size_t i = 0; i < p->n; i++) {
		if (p->v[i].state == RK_PART_DONE)
			continue;
		rk_bytes_printf(out, "rank %" PRId64 ": %s: ", p->v[i].rank,
				rk_part_state_name(p->v[i].state));
		put_plain(out, p->v[i].why);
		rk_bytes_puts(out, "\n");
	}
	if (p->nmissing) {
		rk_bytes_puts(out, "missing: ");
		put_ranges(out, p->missing, p->nmissing);
		rk_bytes_puts(out, "\n");
	}
	for (size_t i = 0; i < p->notes.n; i++) {
		put_plain(out, p->notes.v[i]);
		rk_bytes_puts(out, "\n");
	}
}

static void node_json(const struct rk_slurm_parts *p, size_t at, struct rk_json_out *j)
{
	struct sum s;

	if (!sum_node(p, at, &s))
		return;
	rk_json_object_flat(j, NULL);
	rk_json_text(j, "node", p->v[at].node[0] ? p->v[at].node : NULL);
	rk_json_uint(j, "ranks", s.n);
	for (unsigned i = 0; i <= RK_PART_UNREADABLE; i++)
		rk_json_uint(j, rk_part_state_name((enum rk_part_state)i), s.by_state[i]);
	rk_json_uint(j, "kernels", s.kernels);
	rk_json_close(j);
}

static void rank_json(const struct rk_part *v, struct rk_json_out *j)
{
	rk_json_object_flat(j, NULL);
	rk_json_int(j, "rank", v->rank);
	rk_json_text(j, "node", v->node[0] ? v->node : NULL);
	rk_json_text(j, "job", v->job[0] ? v->job : NULL);
	rk_json_text(j, "state", rk_part_state_name(v->state));
	rk_json_int(j, "exit_status", v->status);
	rk_json_uint(j, "kernels", v->kernels);
	rk_json_text(j, "why", v->why[0] ? v->why : NULL);
	rk_json_close(j);
}

void rk_slurm_parts_json(const struct rk_slurm_parts *p, struct rk_bytes *out)
{
	struct rk_json_out j;

	rk_json_begin(&j, out);
	rk_json_int(&j, "schema", 1);
	rk_json_text(&j, "dir", p->dir);
	rk_json_text(&j, "job", p->job[0] ? p->job : NULL);
	if (p->size >= 0)
		rk_json_int(&j, "size", p->size);
	else
		rk_json_null(&j, "size");
	rk_json_text(&j, "asked", p->ranks);
	rk_json_bool(&j, "whole", rk_slurm_whole(p));
	rk_json_array(&j, "nodes");
	for (size_t i = 0; i < p->n; i++)
		node_json(p, i, &j);
	rk_json_close(&j);
	rk_json_array(&j, "ranks");
	for (size_t i = 0; i < p->n; i++)
		rank_json(&p->v[i], &j);
	rk_json_close(&j);
	rk_json_array_flat(&j, "missing");
	for (size_t i = 0; i < p->nmissing; i++)
		rk_json_int(&j, NULL, p->missing[i]);
	rk_json_close(&j);
	rk_json_list(&j, "notes", &p->notes);
	rk_json_end(&j);
}
