/* record.c - the facts that go into run.json. */
#include "session/record.h"

#include <sys/timex.h>

#include "base/alloc.h"
#include "base/clock.h"

/* The kernel lets the bound grow while nobody corrects the clock, so it holds at any time. */
static int64_t realtime_error_ns(void)
{
	struct timex t = { .modes = 0 };

	if (adjtimex(&t) < 0 || t.status & STA_UNSYNC || t.maxerror < 0)
		return -1;
	return (int64_t)t.maxerror * 1000;
}

/* The tightest of some tries: boot time, wall, boot time; the wall belongs to the middle. */
struct rk_clock_pair rk_clock_pair_read(void)
{
	struct rk_clock_pair best = { .error_ns = INT64_MAX };

	for (int i = 0; i < 8; i++) {
		int64_t before = rk_clock_ns(CLOCK_BOOTTIME), wall = rk_clock_ns(CLOCK_REALTIME),
			after = rk_clock_ns(CLOCK_BOOTTIME), half = (after - before + 1) / 2;

		if (half < best.error_ns)
			best = (struct rk_clock_pair){ before + half, wall, half, -1 };
	}
	best.realtime_error_ns = realtime_error_ns();
	return best;
}

int rk_record_init(struct rk_record *r, const struct rk_plan *p, struct rk_error *err)
{
	*r = (struct rk_record){ .state = "running" };
	r->passes = rk_calloc(p->npasses ? p->npasses : 1, sizeof(*r->passes));
	return r->passes ? rk_gpus_find(p->root, &r->gpus, err) : rk_fail_nomem(err);
}

void rk_record_release(struct rk_record *r)
{
	rk_free(r->passes);
	rk_gpus_release(&r->gpus);
	rk_list_release(&r->tables);
	rk_list_release(&r->traces);
	rk_list_release(&r->counters);
	rk_list_release(&r->dropped);
	rk_list_release(&r->repaired);
	rk_list_release(&r->warnings);
}
