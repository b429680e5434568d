/* cup_record.c - see cup.h: CUPTI's records as records of ours. */
#include <string.h>

#include "cup.h"

/* Nobody tells when it was handed to the device. */
static struct rk_rec_times times(uint64_t start, uint64_t end)
{
	return (struct rk_rec_times){ (int64_t)start, (int64_t)start, (int64_t)start,
				      (int64_t)end };
}

/* CUPTI could not take its times: it did run, but there is nothing to say about it. */
static bool timeless(uint64_t start, uint64_t end)
{
	if (start && end)
		return false;
	rk_rec_source_lost(1);
	return true;
}

static void kernel(const void *record)
{
	const struct cupti_kernel *r = record;
	struct rk_rec_kernel k = { .tid = RK_REC_UNKNOWN, .correlation = r->correlation };

	if (timeless(r->start, r->end))
		return;
	rk_cup_clock_seen(r->start);
	k.shape = rk_cup_kernel_shape(r);
	k.queue = rk_cup_stream(r->device, r->context, r->stream);
	k.t = times(r->start, r->end);
	k.graph = r->graph;
	k.graph_node = r->graph_node;
	rk_rec_kernel(&k);
}

static uint32_t direction(uint8_t copy_kind)
{
	static const uint8_t directions[] = {
		[CUPTI_COPY_HTOD] = RK_REC_HOST_TO_DEVICE,
		[CUPTI_COPY_HTOA] = RK_REC_HOST_TO_DEVICE,
		[CUPTI_COPY_DTOH] = RK_REC_DEVICE_TO_HOST,
		[CUPTI_COPY_ATOH] = RK_REC_DEVICE_TO_HOST,
		[CUPTI_COPY_ATOA] = RK_REC_DEVICE_TO_DEVICE,
		[CUPTI_COPY_ATOD] = RK_REC_DEVICE_TO_DEVICE,
		[CUPTI_COPY_DTOA] = RK_REC_DEVICE_TO_DEVICE,
		[CUPTI_COPY_DTOD] = RK_REC_DEVICE_TO_DEVICE,
		[CUPTI_COPY_HTOH] = RK_REC_HOST_TO_HOST,
		[CUPTI_COPY_PTOP] = RK_REC_PEER,
	};

	return copy_kind < sizeof(directions) ? directions[copy_kind] : 0;
}

/* What copies and fills have in common; their records are laid out differently. */
static void put_copy(struct rk_rec_copy c, uint64_t start, uint64_t end, uint32_t queue)
{
	rk_cup_clock_seen(start);
	c.tid = RK_REC_UNKNOWN;
	c.queue = queue;
	c.t = times(start, end);
	rk_rec_copy(&c);
}

static void copy(const void *record)
{
	const struct cupti_memcpy *r = record;
	struct rk_rec_copy c = { .direction = direction(r->copy_kind),
				 .bytes = r->bytes,
				 .correlation = r->correlation };

	if (!timeless(r->start, r->end))
		put_copy(c, r->start, r->end, rk_cup_stream(r->device, r->context, r->stream));
}

static void peer_copy(const void *record)
{
	const struct cupti_memcpy2 *r = record;
	struct rk_rec_copy c = { .direction = RK_REC_PEER,
				 .bytes = r->bytes,
				 .correlation = r->correlation };

	if (timeless(r->start, r->end))
		return;
	c.from = rk_cup_device(r->from_device);
	c.to = rk_cup_device(r->to_device);
	put_copy(c, r->start, r->end, rk_cup_stream(r->device, r->context, r->stream));
}

static void fill(const void *record)
{
	const struct cupti_memset *r = record;
	struct rk_rec_copy c = { .direction = RK_REC_FILL,
				 .bytes = r->bytes,
				 .correlation = r->correlation };

	if (!timeless(r->start, r->end))
		put_copy(c, r->start, r->end, rk_cup_stream(r->device, r->context, r->stream));
}

static void sync_record(const void *record)
{
	const struct cupti_sync *r = record;

	if (timeless(r->start, r->end))
		return;
	rk_cup_clock_seen(r->start);
	rk_cup_sync_record(r);
}

/* ---- calls ---- */

enum { CALLS = 2048, UNKNOWN_CALL = 0 };

/* "cudaLaunchKernel_v7000" is cudaLaunchKernel to everybody. */
static size_t name_length(const char *name)
{
	size_t len = strlen(name), digits = len;

	while (digits && name[digits - 1] >= '0' && name[digits - 1] <= '9')
		digits--;
	if (len - digits >= 4 && digits > 2 && !strncmp(name + digits - 2, "_v", 2))
		return digits - 2;
	return len;
}

static uint32_t call_name(int domain, uint32_t cbid)
{
	static uint32_t known[2][CALLS];
	uint32_t *slot = &known[domain == CUPTI_DOMAIN_RUNTIME][cbid < CALLS ? cbid : UNKNOWN_CALL];
	const char *name = NULL;

	if (*slot)
		return *slot;
	if (cbid >= CALLS || !rk_cup.f.cuptiGetCallbackName ||
	    rk_cup.f.cuptiGetCallbackName(domain, cbid, &name) || !name)
		name = "unknown";
	*slot = rk_rec_string(name, name_length(name));
	return *slot;
}

static void call(const void *record)
{
	const struct cupti_api *r = record;
	bool runtime = r->kind == CUPTI_KIND_RUNTIME;
	struct rk_rec_call c = { .correlation = r->correlation, .tid = r->thread };

	if (timeless(r->start, r->end))
		return;
	rk_cup_clock_seen(r->start);
	if (rk_cup.waits)
		rk_cup_sync_call(r);
	if (!rk_cup.calls)
		return;
	c.name = call_name(runtime ? CUPTI_DOMAIN_RUNTIME : CUPTI_DOMAIN_DRIVER, r->cbid);
	c.domain = runtime ? RK_CUP_STRING("CUDA_RUNTIME_API") : RK_CUP_STRING("CUDA_DRIVER_API");
	c.start_ns = rk_cup_clock_host(r->start);
	c.duration_ns = (int64_t)(r->end - r->start);
	rk_rec_call(&c);
}

static void memory(const void *record)
{
	const struct cupti_memory *r = record;
	struct rk_rec_memory m = { .tid = RK_REC_UNKNOWN,
				   .address = r->address,
				   .bytes = r->bytes,
				   .correlation = r->correlation };

	if (timeless(r->timestamp, r->timestamp))
		return;
	rk_cup_clock_seen(r->timestamp);
	m.kind = r->operation == CUPTI_MEMORY_RELEASE ? RK_REC_FREE : RK_REC_ALLOC;
	m.device = rk_cup_device(r->device);
	m.start_ns = rk_cup_clock_host(r->timestamp);
	rk_rec_memory(&m);
}

/* ---- all ---- */

bool rk_cup_record(const struct cupti_record *r, size_t bytes)
{
	static const struct {
		uint32_t kind;
		size_t bytes; /* that we look at */
		void (*take)(const void *record);
	} kinds[] = {
		{ CUPTI_KIND_CONCURRENT_KERNEL, sizeof(struct cupti_kernel), kernel },
		{ CUPTI_KIND_MEMCPY, sizeof(struct cupti_memcpy), copy },
		{ CUPTI_KIND_MEMSET, sizeof(struct cupti_memset), fill },
		{ CUPTI_KIND_SYNCHRONIZATION, sizeof(struct cupti_sync), sync_record },
		{ CUPTI_KIND_RUNTIME, sizeof(struct cupti_api), call },
		{ CUPTI_KIND_DRIVER, sizeof(struct cupti_api), call },
		{ CUPTI_KIND_KERNEL, sizeof(struct cupti_kernel), kernel },
		{ CUPTI_KIND_MEMCPY2, sizeof(struct cupti_memcpy2), peer_copy },
		{ CUPTI_KIND_MEMORY2, sizeof(struct cupti_memory), memory },
	};

	if (bytes < sizeof(*r))
		return false;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kinds[i].kind != r->kind)
			continue;
		if (bytes < kinds[i].bytes)
			return false;
		kinds[i].take(r);
		break;
	}
	return true; /* kinds that nobody asked for are passed over */
}
