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
	uint32_t kind; /* of the call's record */
	uint32_t cbid;
	uint32_t since; /* a release of CUPTI; older ones are not asked for a number beyond theirs */
	uint32_t type;
} waits[] = {
#define DRIVER(name) CUPTI_KIND_DRIVER, CUPTI_DRIVER_##name
#define RUNTIME(name) CUPTI_KIND_RUNTIME, CUPTI_RUNTIME_##name
	{ DRIVER(cuCtxSynchronize), 0, CUPTI_SYNC_CONTEXT },
	{ DRIVER(cuCtxSynchronize_v2), 130000, CUPTI_SYNC_CONTEXT },
	{ DRIVER(cuEventSynchronize), 0, CUPTI_SYNC_EVENT },
	{ DRIVER(cuStreamSynchronize), 0, CUPTI_SYNC_STREAM },
	{ DRIVER(cuStreamSynchronize_ptsz), 0, CUPTI_SYNC_STREAM },
	{ DRIVER(cuStreamWaitEvent), 0, CUPTI_SYNC_STREAM_WAIT_EVENT },
	{ DRIVER(cuStreamWaitEvent_ptsz), 0, CUPTI_SYNC_STREAM_WAIT_EVENT },
	{ RUNTIME(cudaDeviceSynchronize), 0, CUPTI_SYNC_CONTEXT },
	{ RUNTIME(cudaThreadSynchronize), 0, CUPTI_SYNC_CONTEXT },
	{ RUNTIME(cudaExecutionCtxSynchronize), 130100, CUPTI_SYNC_CONTEXT },
	{ RUNTIME(cudaEventSynchronize), 0, CUPTI_SYNC_EVENT },
	{ RUNTIME(cudaStreamSynchronize), 0, CUPTI_SYNC_STREAM },
	{ RUNTIME(cudaStreamSynchronize_ptsz), 0, CUPTI_SYNC_STREAM },
	{ RUNTIME(cudaStreamWaitEvent), 0, CUPTI_SYNC_STREAM_WAIT_EVENT },
	{ RUNTIME(cudaStreamWaitEvent_ptsz), 0, CUPTI_SYNC_STREAM_WAIT_EVENT },
};

enum { WAITS = sizeof(waits) / sizeof(waits[0]), RECENT = 4096 };

/* ---- switching on and off ---- */

static cupti_result switch_call(const struct wait *w, bool on)
{
	const struct cupti *f = &rk_cup.f;
	bool runtime = w->kind == CUPTI_KIND_RUNTIME;

	if (rk_cup.subscriber)
		return (runtime ?
				f->cuptiActivityEnableRuntimeApi_v2 :
				f->cuptiActivityEnableDriverApi_v2)(rk_cup.subscriber, w->cbid, on);
	return (runtime ? f->cuptiActivityEnableRuntimeApi :
			  f->cuptiActivityEnableDriverApi)(w->cbid, on);
}

static bool switch_calls(bool on)
{
	bool good = true;

	for (const struct wait *w = waits; w < waits + WAITS; w++)
		if (rk_cup.version >= w->since)
			good &= switch_call(w, on) == CUPTI_OK;
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
	for (const struct wait *w = waits; w < waits + WAITS; w++)
		if (w->kind == r->kind && w->cbid == r->cbid)
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
