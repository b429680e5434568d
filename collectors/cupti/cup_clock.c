/*
 * cup_clock.c - see cup.h: CUPTI's clock and the host's.
 *
 * CUPTI is asked to take the host's times from us (CLOCK_BOOTTIME): it then turns the device's into
 * those itself. Whether it does is seen at the first record: a time between the start of the
 * program and now can be nothing else, for CUPTI's own clock counts from another year. If it does
 * not, its clock is compared with ours now and then, as for any other device.
 */
#include "cup.h"

#define NS_PER_S 1000000000LL
#define AGAIN_NS (60 * NS_PER_S)
#define TRIES 8

static struct {
	atomic_int kind; /* not seen, the host's, CUPTI's own */
	_Atomic int64_t offset;
	int64_t start_ns, last_ns;
	bool asked;
} clock_state;

enum { NOT_SEEN, HOSTS, CUPTIS };

static uint64_t now(void)
{
	return (uint64_t)rk_rec_now();
}

void rk_cup_clock_start(void)
{
	cupti_timestamp *f = now;
	size_t bytes = sizeof(f);
	cupti_result rc = -1;

	clock_state.start_ns = rk_rec_now();
	if (rk_cup.subscriber && rk_cup.f.cuptiActivitySetAttribute_v2)
		rc = rk_cup.f.cuptiActivitySetAttribute_v2(rk_cup.subscriber, CUPTI_ATTR_TIMESTAMP,
							   &bytes, (void *)&f);
	else if (!rk_cup.subscriber && rk_cup.f.cuptiActivityRegisterTimestampCallback)
		rc = rk_cup.f.cuptiActivityRegisterTimestampCallback(f);
	clock_state.asked = rc == CUPTI_OK;
}

static cupti_result read_clock(uint64_t *ret)
{
	if (rk_cup.subscriber && rk_cup.f.cuptiGetTimestamp_v2)
		return rk_cup.f.cuptiGetTimestamp_v2(rk_cup.subscriber, ret);
	return rk_cup.f.cuptiGetTimestamp(ret);
}

/* The tightest of some readings between two of the host's clock. */
struct reading {
	int64_t cupti_ns, boot_ns, error_ns;
};

static bool compare(struct reading *best)
{
	best->error_ns = INT64_MAX;
	for (int i = 0; i < TRIES; i++) {
		int64_t before = rk_rec_now(), width;
		uint64_t t = 0;

		if (read_clock(&t) != CUPTI_OK || t > INT64_MAX)
			return false;
		width = rk_rec_now() - before;
		if (width < best->error_ns)
			*best = (struct reading){ (int64_t)t, before + width / 2, width };
	}
	best->error_ns = best->error_ns / 2 + 1;
	return true;
}

static void write_reading(uint32_t device, void *user)
{
	const struct reading *r = user;
	struct rk_rec_clocks c;

	rk_rec_clocks(&c);
	rk_rec_calibration(device, r->cupti_ns, r->boot_ns, c.raw_ns - (c.boot_ns - r->boot_ns),
			   r->error_ns);
}

void rk_cup_clock_calibrate(bool last)
{
	int64_t t = rk_rec_now();
	struct reading r = { t, t, 0 };

	if (atomic_load(&clock_state.kind) == NOT_SEEN ||
	    (!last && clock_state.last_ns && t - clock_state.last_ns < AGAIN_NS))
		return;
	if (atomic_load(&clock_state.kind) == CUPTIS && !compare(&r))
		return;
	clock_state.last_ns = t;
	atomic_store(&clock_state.offset, r.boot_ns - r.cupti_ns);
	rk_cup_device_each(write_reading, &r);
}

void rk_cup_clock_seen(uint64_t cupti_ns)
{
	int64_t t = (int64_t)cupti_ns;
	bool hosts;

	if (atomic_load(&clock_state.kind) != NOT_SEEN)
		return;
	hosts = t >= clock_state.start_ns - NS_PER_S && t <= rk_rec_now() + NS_PER_S;
	atomic_store(&clock_state.kind, clock_state.asked && hosts ? HOSTS : CUPTIS);
	rk_cup_clock_calibrate(true);
}

int64_t rk_cup_clock_host(uint64_t cupti_ns)
{
	return (int64_t)cupti_ns + atomic_load(&clock_state.offset);
}
