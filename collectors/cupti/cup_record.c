/*
 * cup_record.c - see cup.h: convert CUPTI's records to ours: devices, shapes, synchronisations and
 * the rest.
 */
#include <stdio.h>
#include <string.h>

#include "cup.h"

enum { DEVICES = 64, CONTEXTS = 256, STREAMS = 1024, NONE = DEVICES };

static uint32_t devices[DEVICES];   /* recorder ids by ordinal */
static uint8_t device_of[CONTEXTS]; /* ordinal + 1, indexed by context number */

static struct {
	uint32_t device, context, stream, id;
} streams[STREAMS]; /* cache with one entry per hash; id 0: empty */

static bool ask(int device, int which, uint32_t *ret)
{
	int v = 0;

	*ret = 0;
	if (!rk_cup.driver.cuDeviceGetAttribute ||
	    rk_cup.driver.cuDeviceGetAttribute(&v, which, device) || v < 0)
		return false;
	*ret = (uint32_t)v;
	return true;
}

static uint32_t attribute(int device, int which)
{
	uint32_t v;

	ask(device, which, &v);
	return v;
}

/* As in struct rk_rec_device. A GPU is function 0. */
static uint32_t pci(int device)
{
	uint32_t domain, bus, slot;

	if (!ask(device, CUDA_ATTR_PCI_DOMAIN, &domain) || domain > UINT16_MAX ||
	    !ask(device, CUDA_ATTR_PCI_BUS, &bus) || bus > UINT8_MAX ||
	    !ask(device, CUDA_ATTR_PCI_DEVICE, &slot) || slot > 31)
		return 0;
	return 1 + (domain << 16 | bus << 8 | slot << 3);
}

static uint32_t string(const char *text)
{
	return rk_rec_string(text, strlen(text));
}

/* "sm_90". */
static uint32_t arch(int device)
{
	uint32_t major = attribute(device, CUDA_ATTR_MAJOR);
	char text[32];

	if (!major)
		return 0;
	snprintf(text, sizeof(text), "sm_%u%u", major, attribute(device, CUDA_ATTR_MINOR));
	return string(text);
}

static uint32_t describe(uint32_t ordinal)
{
	struct rk_rec_device d = { .number = ordinal, .type = RK_REC_GPU };
	const struct cuda *f = &rk_cup.driver;
	size_t memory = 0;
	char name[256], release[48];
	int handle, v = 0;

	d.vendor = RK_CUP_STRING("NVIDIA");
	if (f->cuDriverGetVersion && !f->cuDriverGetVersion(&v) && v > 0) {
		snprintf(release, sizeof(release), "CUDA %d.%d", v / 1000, v % 1000 / 10);
		d.driver = string(release);
	}
	if (!f->cuDeviceGet || f->cuDeviceGet(&handle, (int)ordinal))
		return rk_rec_device(&d);
	if (f->cuDeviceGetName && !f->cuDeviceGetName(name, (int)sizeof(name), handle)) {
		name[sizeof(name) - 1] = '\0';
		d.name = string(name);
	}
	if (f->cuDeviceTotalMem_v2 && !f->cuDeviceTotalMem_v2(&memory, handle))
		d.memory_bytes = memory;
	d.arch = arch(handle);
	d.pci = pci(handle);
	d.compute_units = attribute(handle, CUDA_ATTR_MULTIPROCESSORS);
	d.clock_mhz = attribute(handle, CUDA_ATTR_CLOCK_KHZ) / 1000;
	d.wave_size = attribute(handle, CUDA_ATTR_WARP_SIZE);
	return rk_rec_device(&d);
}

uint32_t rk_cup_device(uint32_t ordinal)
{
	if (ordinal >= DEVICES)
		return 0;
	if (!devices[ordinal]) {
		devices[ordinal] = describe(ordinal);
		rk_cup_clock_calibrate(true);
	}
	return devices[ordinal];
}

void rk_cup_device_each(void (*f)(uint32_t id, void *user), void *user)
{
	for (unsigned i = 0; i < DEVICES; i++)
		if (devices[i])
			f(devices[i], user);
}

static uint32_t cup_stream(uint32_t device, uint32_t context, uint32_t stream)
{
	uint32_t place = (stream * 31 + context * 7 + device) % STREAMS, id;

	if (streams[place].id && streams[place].stream == stream &&
	    streams[place].context == context && streams[place].device == device)
		return streams[place].id;
	id = rk_rec_stream(rk_cup_device(device), stream, context);
	streams[place].device = device;
	streams[place].context = context;
	streams[place].stream = stream;
	streams[place].id = id;
	if (context < CONTEXTS && device < DEVICES)
		device_of[context] = (uint8_t)(device + 1);
	return id;
}

/* ---- names and shapes of launches ---- */
/*
 * A program launches the same few kernels again and again, so both tables cache the last entry in
 * each slot. Names are compared in full, not only by address: modules are unloaded, and addresses
 * are reused.
 */

enum {
	NAMES = 2048,
	SHAPES = 4096,
	TEXT_BYTES = 1 << 20, /* bytes of names kept for comparison */
	NAME_MAX_BYTES = 8000,
};

struct name {
	const char *address, *copy;
	uint32_t id;
};

/* Everything that defines a shape, without padding, so that it can be compared as bytes. */
struct key {
	uint32_t name, device, registers, local;
	uint64_t shared;
	int32_t grid[3], block[3];
};

static struct name names[NAMES];
static struct {
	struct key key;
	uint32_t id;
} shapes[SHAPES];
static char text[TEXT_BYTES];
static size_t used;

static uint32_t name_of(const char *s)
{
	struct name *n = &names[((uintptr_t)s >> 4 ^ (uintptr_t)s >> 15) % NAMES];
	size_t len;

	if (!s)
		return 0;
	if (n->address == s && n->copy && !strcmp(s, n->copy))
		return n->id;
	len = strnlen(s, NAME_MAX_BYTES);
	n->address = s;
	n->copy = NULL;
	if (len < NAME_MAX_BYTES && len < TEXT_BYTES - used) {
		n->copy = memcpy(text + used, s, len);
		text[used + len] = '\0';
		used += len + 1;
	}
	n->id = rk_rec_string(s, len);
	return n->id;
}

static uint32_t hash(const struct key *k)
{
	const unsigned char *p = (const unsigned char *)k;
	uint64_t h = 0, word;

	_Static_assert(sizeof(*k) % sizeof(word) == 0, "whole words");
	for (size_t i = 0; i < sizeof(*k); i += sizeof(word)) {
		memcpy(&word, p + i, sizeof(word));
		h = (h ^ word) * 0x9fb21c651e98df25u;
		h ^= h >> 29;
	}
	return (uint32_t)(h >> 20) % SHAPES;
}

static uint32_t positive(int32_t v)
{
	return v > 0 ? (uint32_t)v : 0;
}

static uint32_t define(const struct key *k)
{
	struct rk_rec_function f = { k->name, rk_cup_device(k->device), k->registers, k->local,
				     RK_REC_UNKNOWN };
	struct rk_rec_shape s = { .function = rk_rec_function(&f) };

	s.local_bytes = k->shared < RK_REC_UNKNOWN ? (uint32_t)k->shared : RK_REC_UNKNOWN;
	for (unsigned i = 0; i < 3; i++) {
		s.group[i] = positive(k->block[i]);
		s.items[i] = (uint64_t)positive(k->grid[i]) * positive(k->block[i]);
	}
	return rk_rec_shape(&s);
}

/* The shape of a launch. */
static uint32_t cup_kernel_shape(const struct cupti_kernel *r)
{
	struct key k = { .name = name_of(r->name),
			 .device = r->device,
			 .registers = r->registers,
			 .local = r->local_per_thread,
			 .shared = (uint64_t)positive(r->static_shared) +
				   positive(r->dynamic_shared) };
	uint32_t place;

	memcpy(k.grid, r->grid, sizeof(k.grid));
	memcpy(k.block, r->block, sizeof(k.block));
	place = hash(&k);
	if (!shapes[place].id || memcmp(&shapes[place].key, &k, sizeof(k)) != 0) {
		shapes[place].key = k;
		shapes[place].id = define(&k);
	}
	return shapes[place].id;
}

/* ---- synchronisations ---- */
/*
 * CUPTI has records for them, but to write those it inspects every launch: 2.6 us each, more than
 * everything else together. Since CUDA 12.6 single functions can be recorded, and only a few of
 * them synchronise. So we record their calls instead, and launches have no extra cost.
 */

/* The functions that wait, and what they wait for; and those that start kernels, type 0. */
static const struct single {
	uint32_t kind; /* kind of the call's record */
	uint32_t cbid;
	uint32_t since; /* first CUPTI release with this number; not requested from older ones */
	uint32_t type;
} singles[] = {
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
	{ DRIVER(cuLaunchKernel), 0, 0 },
	{ DRIVER(cuLaunchKernel_ptsz), 0, 0 },
	{ DRIVER(cuLaunchCooperativeKernel), 0, 0 },
	{ DRIVER(cuLaunchCooperativeKernel_ptsz), 0, 0 },
	{ DRIVER(cuGraphLaunch), 0, 0 },
	{ DRIVER(cuGraphLaunch_ptsz), 0, 0 },
	{ DRIVER(cuLaunchKernelEx), 0, 0 },
	{ DRIVER(cuLaunchKernelEx_ptsz), 0, 0 },
	{ RUNTIME(cudaLaunchKernel), 0, 0 },
	{ RUNTIME(cudaLaunchKernel_ptsz), 0, 0 },
	{ RUNTIME(cudaLaunchCooperativeKernel), 0, 0 },
	{ RUNTIME(cudaLaunchCooperativeKernel_ptsz), 0, 0 },
	{ RUNTIME(cudaGraphLaunch), 0, 0 },
	{ RUNTIME(cudaGraphLaunch_ptsz), 0, 0 },
	{ RUNTIME(cudaLaunchKernelExC), 0, 0 },
	{ RUNTIME(cudaLaunchKernelExC_ptsz), 0, 0 },
};

enum { SINGLES = sizeof(singles) / sizeof(singles[0]), RECENT = 4096 };

/* ---- switching on and off ---- */

static bool launch_calls; /* calls that start kernels are enabled */

static bool switch_calls(bool launches, bool on)
{
	const struct cupti *f = &rk_cup.f;
	bool good = true;

	for (const struct single *w = singles; w < singles + SINGLES; w++) {
		bool runtime = w->kind == CUPTI_KIND_RUNTIME;
		cupti_result rc;

		if (rk_cup.version < w->since || launches != !w->type)
			continue;
		if (rk_cup.subscriber && runtime)
			rc = f->cuptiActivityEnableRuntimeApi_v2(rk_cup.subscriber, w->cbid, on);
		else if (rk_cup.subscriber)
			rc = f->cuptiActivityEnableDriverApi_v2(rk_cup.subscriber, w->cbid, on);
		else if (runtime)
			rc = f->cuptiActivityEnableRuntimeApi(w->cbid, on);
		else
			rc = f->cuptiActivityEnableDriverApi(w->cbid, on);
		good &= rc == CUPTI_OK;
	}
	return good;
}

static bool has_single_calls(void)
{
	const struct cupti *f = &rk_cup.f;

	if (rk_cup.subscriber)
		return f->cuptiActivityEnableDriverApi_v2 && f->cuptiActivityEnableRuntimeApi_v2;
	return f->cuptiActivityEnableDriverApi && f->cuptiActivityEnableRuntimeApi;
}

bool rk_cup_sync_by_calls(void)
{
	rk_cup.waits = rk_cup.all_calls || (has_single_calls() && switch_calls(false, true));
	if (!rk_cup.waits && has_single_calls())
		switch_calls(false, false);
	return rk_cup.waits;
}

bool rk_cup_launch_calls(void)
{
	launch_calls = has_single_calls() && switch_calls(true, true);
	if (!launch_calls && has_single_calls())
		switch_calls(true, false);
	return launch_calls;
}

void rk_cup_single_calls_off(void)
{
	if (rk_cup.waits && !rk_cup.all_calls)
		switch_calls(false, false);
	if (launch_calls)
		switch_calls(true, false);
}

/* ---- records ---- */

static void put(uint32_t type, uint64_t start, uint64_t end, struct rk_rec_sync s)
{
	static const char *const words[] = {
		"synchronization",
		[CUPTI_SYNC_EVENT] = "event synchronize",
		[CUPTI_SYNC_STREAM_WAIT_EVENT] = "stream wait event",
		[CUPTI_SYNC_STREAM] = "stream synchronize",
		[CUPTI_SYNC_CONTEXT] = "context synchronize",
	};
	const char *name = words[type < sizeof(words) / sizeof(words[0]) ? type : 0];

	s.name = rk_rec_string(name, strlen(name));
	s.t = (struct rk_rec_times){ 0, 0, rk_cup_clock_host(start), rk_cup_clock_host(end) };
	rk_rec_sync(&s);
}

/*
 * The runtime function calls the driver function, and both records have the same correlation
 * number: it is one wait. They are written one after the other, but other threads may write in
 * between.
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

/* Runs on the reading thread. Records the call if it synchronises. */
static void cup_sync_call(const struct cupti_api *r)
{
	const struct single *w = singles;

	while (w < singles + SINGLES && (w->kind != r->kind || w->cbid != r->cbid))
		w++;
	if (w < singles + SINGLES && w->type && is_new(r))
		put(w->type, r->start, r->end,
		    (struct rk_rec_sync){ .tid = r->thread, .correlation = r->correlation });
}

/* ---- records ---- */

/* The time of submission is unknown. */
static struct rk_rec_times times(uint64_t start, uint64_t end)
{
	return (struct rk_rec_times){ (int64_t)start, (int64_t)start, (int64_t)start,
				      (int64_t)end };
}

/*
 * Is it not to be recorded? Because CUPTI has no times for it: it ran, but is lost. Or because it is
 * in no range that was asked for: `when` is the time that decides.
 */
static bool left_out(uint64_t start, uint64_t end, uint64_t when)
{
	if (!start || !end) {
		rk_rec_source_lost(1);
		return true;
	}
	rk_cup_clock_seen(start);
	if (!rk_cup_gate_shut(rk_cup_clock_host(when)))
		return false;
	rk_rec_skip();
	return true;
}

/*
 * When the kernel was launched, if CUPTI says so (only for rk_cup_gate_shut()). For kernels of graphs
 * it has no such time: then, when it began.
 */
static uint64_t launched(const struct cupti_kernel *r)
{
	return r->queued && r->queued <= r->start ? r->queued : r->start;
}

static void kernel(const void *record)
{
	const struct cupti_kernel *r = record;
	struct rk_rec_kernel k = { .tid = RK_REC_UNKNOWN, .correlation = r->correlation };

	if (left_out(r->start, r->end, launched(r)))
		return;
	k.shape = cup_kernel_shape(r);
	k.queue = cup_stream(r->device, r->context, r->stream);
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

/* Common part of copies and fills, whose records have different layouts. */
static void put_copy(struct rk_rec_copy c, uint64_t start, uint64_t end, uint32_t queue)
{
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

	if (!left_out(r->start, r->end, r->start))
		put_copy(c, r->start, r->end, cup_stream(r->device, r->context, r->stream));
}

static void peer_copy(const void *record)
{
	const struct cupti_memcpy2 *r = record;
	struct rk_rec_copy c = { .direction = RK_REC_PEER,
				 .bytes = r->bytes,
				 .correlation = r->correlation };

	if (left_out(r->start, r->end, r->start))
		return;
	c.from = rk_cup_device(r->from_device);
	c.to = rk_cup_device(r->to_device);
	put_copy(c, r->start, r->end, cup_stream(r->device, r->context, r->stream));
}

static void fill(const void *record)
{
	const struct cupti_memset *r = record;
	struct rk_rec_copy c = { .direction = RK_REC_FILL,
				 .bytes = r->bytes,
				 .correlation = r->correlation };

	if (!left_out(r->start, r->end, r->start))
		put_copy(c, r->start, r->end, cup_stream(r->device, r->context, r->stream));
}

static void sync_record(const void *record)
{
	const struct cupti_sync *r = record;
	struct rk_rec_sync s = { .tid = RK_REC_UNKNOWN, .correlation = r->correlation };

	if (left_out(r->start, r->end, r->start))
		return;
	/* unknown for a stream of a context whose device is not known yet */
	if (r->context < CONTEXTS && device_of[r->context] && r->stream != CUPTI_NO_STREAM)
		s.queue = cup_stream(device_of[r->context] - 1u, r->context, r->stream);
	put(r->type, r->start, r->end, s);
}

/* ---- calls ---- */

enum { CALLS = 2048, UNKNOWN_CALL = 0 };

static uint32_t call_names[2][CALLS];

/* Strips the version: "cudaLaunchKernel_v7000" is known as cudaLaunchKernel. */
static uint32_t call_name(int domain, uint32_t cbid)
{
	uint32_t *slot =
		&call_names[domain == CUPTI_DOMAIN_RUNTIME][cbid < CALLS ? cbid : UNKNOWN_CALL];
	const char *name = NULL;
	size_t len, digits;

	if (*slot)
		return *slot;
	if (cbid >= CALLS || !rk_cup.f.cuptiGetCallbackName ||
	    rk_cup.f.cuptiGetCallbackName(domain, cbid, &name) || !name)
		name = "unknown";
	len = digits = strlen(name);
	while (digits && name[digits - 1] >= '0' && name[digits - 1] <= '9')
		digits--;
	if (len - digits >= 4 && digits > 2 && !strncmp(name + digits - 2, "_v", 2))
		len = digits - 2;
	*slot = rk_rec_string(name, len);
	return *slot;
}

static void call(const void *record)
{
	const struct cupti_api *r = record;
	bool runtime = r->kind == CUPTI_KIND_RUNTIME;
	struct rk_rec_call c = { .correlation = r->correlation, .tid = r->thread };

	if (left_out(r->start, r->end, r->start))
		return;
	if (rk_cup.waits)
		cup_sync_call(r);
	if (!rk_cup.calls || !rk_rec_sampled())
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

	if (left_out(r->timestamp, r->timestamp, r->timestamp))
		return;
	m.kind = r->operation == CUPTI_MEMORY_RELEASE ? RK_REC_FREE : RK_REC_ALLOC;
	m.device = rk_cup_device(r->device);
	m.start_ns = rk_cup_clock_host(r->timestamp);
	rk_rec_memory(&m);
}

/* ---- all ---- */

static uint32_t epoch;

/* The ids that the recorder gave us are good no more. Those of devices stay. */
static void forget_ids(void)
{
	epoch = rk_rec_epoch();
	memset(streams, 0, sizeof(streams));
	memset(names, 0, sizeof(names));
	memset(shapes, 0, sizeof(shapes));
	memset(call_names, 0, sizeof(call_names));
	used = 0;
}

bool rk_cup_record(const struct cupti_record *r, size_t bytes)
{
	static const struct {
		uint32_t kind;
		size_t bytes; /* bytes that we access */
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
	if (epoch != rk_rec_epoch())
		forget_ids();
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kinds[i].kind != r->kind)
			continue;
		if (bytes < kinds[i].bytes)
			return false;
		kinds[i].take(r);
		break;
	}
	return true; /* skip kinds that we did not enable */
}
