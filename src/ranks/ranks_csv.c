/* ranks_csv.c - the ranks of a job as CSV: a row each. */
#include <inttypes.h>
#include <string.h>

#include "base/page.h"
#include "base/text.h"
#include "ranks/ranks_parts.h"

/* What is not known is an empty cell. */
static void known(struct rk_bytes *out, int64_t v, bool is)
{
	rk_bytes_put_u8(out, ',');
	if (is)
		rk_put_integer(out, v);
}

static void text(struct rk_bytes *out, const char *s)
{
	rk_bytes_put_u8(out, ',');
	rk_csv_cell(out, s, strlen(s));
}

static void put_rank(struct rk_bytes *out, const struct rk_ranks_rank *r)
{
	static const char *const clocks[] = { "same", "aligned", "alone" };
	bool timed = r->kernels != 0, related = r->clock != RK_CLOCK_ALONE;

	rk_put_integer(out, r->rank);
	known(out, r->local_rank, r->local_rank >= 0);
	text(out, r->node);
	text(out, r->state);
	known(out, r->status, r->status >= 0);
	rk_bytes_printf(out, ",%" PRIu64, r->kernels);
	known(out, r->kernel_ns, true);
	known(out, r->first_ns, timed);
	known(out, r->last_ns, timed);
	known(out, r->compute_ns, r->compute_ns >= 0);
	known(out, r->comm_ns, r->comm_ns >= 0);
	known(out, r->both_ns, r->both_ns >= 0);
	known(out, r->idle_ns, r->idle_ns >= 0);
	rk_bytes_printf(out, ",%" PRIu64 ",%" PRIu64, r->collectives, r->last);
	known(out, r->wait_ns, true);
	known(out, r->caused_ns, true);
	rk_bytes_printf(out, ",%s", clocks[r->clock]);
	known(out, r->offset_ns, related);
	rk_bytes_put_u8(out, ',');
	if (related)
		rk_put_number(out, r->drift_ppm, "");
	known(out, r->error_ns, related && r->error_ns >= 0);
	text(out, r->clock_note);
	rk_bytes_put_u8(out, '\n');
}

void rk_ranks_csv(struct rk_bytes *out, const struct rk_ranks *k)
{
	rk_bytes_puts(out, "rank,local_rank,node,state,status,kernels,kernel_ns,first_ns,last_ns,"
			   "compute_ns,comm_ns,both_ns,idle_ns,collectives,last,wait_ns,caused_ns,"
			   "clock,offset_ns,drift_ppm,error_ns,clock_note\n");
	for (size_t i = 0; i < k->nranks; i++)
		put_rank(out, &k->ranks[i]);
}
