/*
 * cup_sync.c - see cup.h: synchronisations.
 *
 * CUPTI has records of its own for them, but to write those it looks at every launch: 2.6 us each, more
 * than everything else together costs. From CUDA 12.6 on single functions can be recorded, and those
 * that synchronise are a handful: then their calls are taken instead, and launches do not pay for them.
 */
#include <string.h>

#include "cup.h"

/* What the functions wait for. */
static const struct wait {
	uint32_t cbid;
	uint32_t since; /* a release of CUPTI; older ones are not asked for a number beyond theirs */
	uint32_t type;
} driver_waits[] = {
	{ CUPTI_DRIVER_cuCtxSynchronize, 0, CUPTI_SYNC_CONTEXT },
	{ CUPTI_DRIVER_cuCtxSynchronize_v2, 130000, CUPTI_SYNC_CONTEXT },
	{ CUPTI_DRIVER_cuEventSynchronize, 0, CUPTI_SYNC_EVENT },
	{ CUPTI_DRIVER_cuStreamSynchronize, 0, CUPTI_SYNC_STREAM },
	{ CUPTI_DRIVER_cuStreamSynchronize_ptsz, 0, CUPTI_SYNC_STREAM },
	{ CUPTI_DRIVER_cuStreamWaitEvent, 0, CUPTI_SYNC_STREAM_WAIT_EVENT },
	{ CUPTI_DRIVER_cuStreamWaitEvent_ptsz, 0, CUPTI_SYNC_STREAM_WAIT_EVENT },
}, runtime_waits[] = {
	{ CUPTI_RUNTIME_cudaDeviceSynchronize, 0, CUPTI_SYNC_CONTEXT },
	{ CUPTI_RUNTIME_cudaThreadSynchronize, 0, CUPTI_SYNC_CONTEXT },
	{ CUPTI_RUNTIME_cudaExecutionCtxSynchronize, 130100, CUPTI_SYNC_CONTEXT },
	{ CUPTI_RUNTIME_cudaEventSynchronize, 0, CUPTI_SYNC_EVENT },
	{ CUPTI_RUNTIME_cudaStreamSynchronize, 0, CUPTI_SYNC_STREAM },
	{ CUPTI_RUNTIME_cudaStreamSynchronize_ptsz, 0, CUPTI_SYNC_STREAM },
	{ CUPTI_RUNTIME_cudaStreamWaitEvent, 0, CUPTI_SYNC_STREAM_WAIT_EVENT },
	{ CUPTI_RUNTIME_cudaStreamWaitEvent_ptsz, 0, CUPTI_SYNC_STREAM_WAIT_EVENT },
};

enum {
	DRIVER_WAITS = sizeof(driver_waits) / sizeof(driver_waits[0]),
	RUNTIME_WAITS = sizeof(runtime_waits) / sizeof(runtime_waits[0]),
	RECENT = 4096,
};

/* ---- switching on and off ---- */

static cupti_result driver_call(uint32_t cbid, bool on)
{
	return rk_cup.subscriber ?
		       rk_cup.f.cuptiActivityEnableDriverApi_v2(rk_cup.subscriber, cbid, on) :
		       rk_cup.f.cuptiActivityEnableDriverApi(cbid, on);
}

static cupti_result runtime_call(uint32_t cbid, bool on)
{
	return rk_cup.subscriber ?
		       rk_cup.f.cuptiActivityEnableRuntimeApi_v2(rk_cup.subscriber, cbid, on) :
		       rk_cup.f.cuptiActivityEnableRuntimeApi(cbid, on);
}

static bool switch_calls(bool on)
{
	bool good = true;

	for (const struct wait *w = driver_waits; w < driver_waits + DRIVER_WAITS; w++)
		if (rk_cup.version >= w->since)
			good &= driver_call(w->cbid, on) == CUPTI_OK;
	for (const struct wait *w = runtime_waits; w < runtime_waits + RUNTIME_WAITS; w++)
		if (rk_cup.version >= w->since)
			good &= runtime_call(w->cbid, on) == CUPTI_OK;
	return good;
}

static bool has_single_calls(void)
{
	const struct cupti *f = &rk_cup.f;

	return rk_cup.subscriber ?
		       f->cuptiActivityEnableDriverApi_v2 && f->cuptiActivityEnableRuntimeApi_v2 :
		       f->cuptiActivityEnableDriverApi && f->cuptiActivityEnableRuntimeApi;
}

bool rk_cup_sync_by_calls(void)
{
	rk_cup.waits = rk_cup.calls || (has_single_calls() && switch_calls(true));
	if (!rk_cup.waits && has_single_calls())
		switch_calls(false);
	return rk_cup.waits;
}

void rk_cup_sync_off(void)
{
	if (rk_cup.waits && !rk_cup.calls)
		switch_calls(false);
}

/* ---- records ---- */

static void put(uint32_t type, uint64_t start, uint64_t end, struct rk_rec_sync s)
{
	static const char *const names[] = {
		"synchronization",
		[CUPTI_SYNC_EVENT] = "event synchronize",
		[CUPTI_SYNC_STREAM_WAIT_EVENT] = "stream wait event",
		[CUPTI_SYNC_STREAM] = "stream synchronize",
		[CUPTI_SYNC_CONTEXT] = "context synchronize",
	};
	const char *name = names[type < sizeof(names) / sizeof(names[0]) ? type : 0];

	s.name = rk_rec_string(name, strlen(name));
	s.t = (struct rk_rec_times){ 0, 0, rk_cup_clock_host(start), rk_cup_clock_host(end) };
	rk_rec_sync(&s);
}

void rk_cup_sync_record(const struct cupti_sync *r)
{
	put(r->type, r->start, r->end,
	    (struct rk_rec_sync){ .tid = RK_REC_UNKNOWN,
				  .queue = rk_cup_stream_of(r->context, r->stream),
				  .correlation = r->correlation });
}

static const struct wait *find(const struct cupti_api *r)
{
	bool runtime = r->kind == CUPTI_KIND_RUNTIME;
	const struct wait *w = runtime ? runtime_waits : driver_waits;

	for (unsigned n = runtime ? RUNTIME_WAITS : DRIVER_WAITS; n; n--, w++)
		if (w->cbid == r->cbid)
			return w;
	return NULL;
}

/*
 * The runtime's function calls the driver's, and both records have one number: it is one wait. They are
 * written one after the other, but other threads write in between.
 */
static bool is_new(const struct cupti_api *r)
{
	static struct {
		uint32_t thread, correlation;
	} seen[RECENT];
	unsigned i = r->correlation % RECENT;

	if (seen[i].thread == r->thread && seen[i].correlation == r->correlation)
		return false;
	seen[i].thread = r->thread;
	seen[i].correlation = r->correlation;
	return true;
}

void rk_cup_sync_call(const struct cupti_api *r)
{
	const struct wait *w = find(r);

	if (w && is_new(r))
		put(w->type, r->start, r->end,
		    (struct rk_rec_sync){ .tid = r->thread, .correlation = r->correlation });
}
