/* ocl_device.c - see ocl.h: tables of handles; devices and their clocks. */
#include <sched.h>
#include <string.h>

#include "ocl.h"

#define MOST_STEPS 64 /* max probes: such a table counts as full, so that lookups stay cheap */

uint32_t rk_ocl_slot(_Atomic(uintptr_t) *keys, uint32_t cap, const void *key, bool claim)
{
	uintptr_t wanted = (uintptr_t)key;
	uint32_t hash = (uint32_t)(((uint64_t)wanted * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
	uint32_t at = hash & (cap - 1);

	if (!wanted)
		return cap;
	for (int i = 0; i < MOST_STEPS; i++, at = (at + 1) & (cap - 1)) {
		uintptr_t there = atomic_load_explicit(&keys[at], memory_order_acquire);

		if (there == wanted)
			return at;
		if (there)
			continue;
		if (!claim)
			return cap;
		/* On failure `there` is the key that another thread put in first. */
		if (atomic_compare_exchange_strong(&keys[at], &there, wanted) || there == wanted)
			return at;
	}
	return cap;
}

/* ---- devices, and how their clocks relate to the host clock ---- */
/*
 * If the runtime has clGetDeviceAndHostTimer(), we read the device clock with it, between two
 * readings of the host clock. Otherwise (PoCL, OpenCL before 2.1) we use the time at which a
 * command was queued: it is between the start and the end of the call that enqueued it, which are a
 * few microseconds apart. We write the tightest of many such brackets.
 */

#define NS_PER_S INT64_C(1000000000)
#define REWRITE_NS (10 * NS_PER_S)
#define FIRST_SAMPLES 256 /* each of the first commands is a sample, */
#define LATER_EVERY 1024  /* later one in so many */
#define TIMER_TRIES 8
#define TEXT_MAX 512
#define BEING_MADE UINT32_MAX /* value of `number` while a device is being added */
#define MOST_YIELDS 10000
#define MOST_PARENTS 16   /* max nesting of sub-devices */
#define VENDOR_AMD 0x1002 /* for CL_DEVICE_VENDOR_ID: PCI vendor numbers */
#define VENDOR_NVIDIA 0x10de
#define VENDOR_INTEL 0x8086
#define WAVEFRONT_WIDTH_AMD 0x4043 /* CL_DEVICE_..., cl_amd_device_attribute_query */
#define WARP_SIZE_NV 0x4003        /* CL_DEVICE_..., cl_nv_device_attribute_query */
#define PCI_BUS_INFO 0x410f        /* CL_DEVICE_..._KHR, cl_khr_pci_bus_info */
#define TOPOLOGY_AMD 0x4037        /* CL_DEVICE_...: a type, 17 bytes, bus, device, function */
#define TOPOLOGY_IS_PCI 1
#define TOPOLOGY_BUS 21
#define PCI_BUS_NV 0x4008 /* CL_DEVICE_PCI_BUS_ID_NV */
#define PCI_SLOT_NV 0x4009
#define PCI_DOMAIN_NV 0x400a

static _Atomic(uintptr_t) keys[RK_OCL_DEVICES];
static struct rk_ocl_device devices[RK_OCL_DEVICES];
static _Atomic uint32_t nnumbers;

static uint32_t info_string(cl_device_id handle, cl_device_info what)
{
	char text[TEXT_MAX] = "";
	size_t len = 0;

	if (rk_ocl.target.clGetDeviceInfo(handle, what, sizeof(text), text, &len) != CL_SUCCESS ||
	    len < 2)
		return 0;
	return rk_rec_string(text, len - 1);
}

static uint32_t info_u32(cl_device_id handle, cl_device_info what)
{
	cl_uint value = 0;

	rk_ocl.target.clGetDeviceInfo(handle, what, sizeof(value), &value, NULL);
	return value;
}

static uint32_t info_type(cl_device_id handle)
{
	cl_device_type type = 0;

	rk_ocl.target.clGetDeviceInfo(handle, CL_DEVICE_TYPE, sizeof(type), &type, NULL);
	if (type & CL_DEVICE_TYPE_GPU)
		return RK_REC_GPU;
	return type & CL_DEVICE_TYPE_CPU ? RK_REC_CPU : RK_REC_OTHER;
}

/* Work-items that run together. Each vendor has its own query, which must not be sent to others. */
static uint32_t info_wave(cl_device_id handle)
{
	uint32_t vendor = info_u32(handle, CL_DEVICE_VENDOR_ID);

	if (info_type(handle) != RK_REC_GPU)
		return 0;
	if (vendor == VENDOR_AMD)
		return info_u32(handle, WAVEFRONT_WIDTH_AMD);
	return vendor == VENDOR_NVIDIA ? info_u32(handle, WARP_SIZE_NV) : 0;
}

/* Domain, bus, device, function. AMD and NVIDIA have had questions of their own for longer. */
static bool ask_pci(cl_device_id handle, cl_uint at[4])
{
	uint32_t vendor = info_u32(handle, CL_DEVICE_VENDOR_ID);
	unsigned char topology[24] = { 0 };
	cl_uint bus = 0;
	size_t len = 0;

	if (rk_ocl.target.clGetDeviceInfo(handle, PCI_BUS_INFO, 4 * sizeof(*at), at, &len) ==
		    CL_SUCCESS &&
	    len == 4 * sizeof(*at))
		return true;
	if (vendor == VENDOR_AMD &&
	    rk_ocl.target.clGetDeviceInfo(handle, TOPOLOGY_AMD, sizeof(topology), topology, NULL) ==
		    CL_SUCCESS &&
	    topology[0] == TOPOLOGY_IS_PCI) {
		at[0] = 0;
		for (unsigned i = 1; i < 4; i++)
			at[i] = topology[TOPOLOGY_BUS + i - 1];
		return true;
	}
	if (vendor != VENDOR_NVIDIA ||
	    rk_ocl.target.clGetDeviceInfo(handle, PCI_BUS_NV, sizeof(bus), &bus, NULL) !=
		    CL_SUCCESS)
		return false;
	at[0] = info_u32(handle, PCI_DOMAIN_NV);
	at[1] = bus;
	at[2] = info_u32(handle, PCI_SLOT_NV) >> 3;
	at[3] = 0;
	return true;
}

/* As in struct rk_rec_device; 0: unknown. */
static uint32_t info_pci(cl_device_id handle)
{
	cl_uint at[4] = { 0 };

	if (info_type(handle) != RK_REC_GPU || !ask_pci(handle, at) || at[0] > UINT16_MAX ||
	    at[1] > UINT8_MAX || at[2] > 31 || at[3] > 7)
		return 0;
	return 1 + (at[0] << 16 | at[1] << 8 | at[2] << 3 | at[3]);
}

static void describe(struct rk_ocl_device *d, cl_device_id handle, uint32_t number)
{
	cl_ulong bytes = 0;
	struct rk_rec_device facts = {
		.number = number,
		.type = info_type(handle),
		.name = info_string(handle, CL_DEVICE_NAME),
		.vendor = info_string(handle, CL_DEVICE_VENDOR),
		.driver = info_string(handle, CL_DRIVER_VERSION),
		.compute_units = info_u32(handle, CL_DEVICE_MAX_COMPUTE_UNITS),
		.clock_mhz = info_u32(handle, CL_DEVICE_MAX_CLOCK_FREQUENCY),
		.wave_size = info_wave(handle),
		.pci = info_pci(handle),
	};

	rk_ocl.target.clGetDeviceInfo(handle, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(bytes), &bytes,
				      NULL);
	facts.memory_bytes = bytes;
	atomic_store(&d->id, rk_rec_device(&facts));
}

/* Is the function safe to call? Loaders do not check whether an older runtime has it. */
static bool platform_has_timer(cl_platform_id platform)
{
	char text[TEXT_MAX] = "";
	cl_ulong resolution = 0;
	size_t len = 0;

	if (!rk_ocl.target.clGetDeviceAndHostTimer ||
	    rk_ocl.target.clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof(text), text,
					    &len) != CL_SUCCESS ||
	    len < sizeof("OpenCL 2.1") || strncmp(text, "OpenCL 2.1", 10) < 0)
		return false;
	return rk_ocl.target.clGetPlatformInfo(platform, CL_PLATFORM_HOST_TIMER_RESOLUTION,
					       sizeof(resolution), &resolution,
					       NULL) == CL_SUCCESS &&
	       resolution;
}

static void *find_function(cl_platform_id platform, const char *name)
{
	if (!rk_ocl.target.clGetExtensionFunctionAddressForPlatform)
		return NULL;
	return rk_ocl.target.clGetExtensionFunctionAddressForPlatform(platform, name);
}

/* The best of several readings, each taken between two readings of the host clock. */
static void read_timer(struct rk_ocl_device *d)
{
	for (int i = 0; i < TIMER_TRIES; i++) {
		cl_ulong device_ns = 0, host_ns = 0;
		int64_t before = rk_rec_now();

		if (rk_ocl.target.clGetDeviceAndHostTimer(atomic_load(&d->root), &device_ns,
							  &host_ns) != CL_SUCCESS) {
			atomic_store(&d->has_timer, false);
			return;
		}
		rk_ocl_device_sample(d, (int64_t)device_ns, before, rk_rec_now() - before);
	}
}

static cl_device_id root_of(cl_device_id handle)
{
	for (int i = 0; i < MOST_PARENTS; i++) {
		cl_device_id parent = NULL;

		if (rk_ocl.target.clGetDeviceInfo(handle, CL_DEVICE_PARENT_DEVICE, sizeof(parent),
						  &parent, NULL) != CL_SUCCESS ||
		    !parent)
			break;
		handle = parent;
	}
	return handle;
}

static void learn_platform(struct rk_ocl_device *d)
{
	cl_platform_id platform = NULL;
	uint32_t vendor;

	rk_ocl.target.clGetDeviceInfo(d->handle, CL_DEVICE_PLATFORM, sizeof(platform), &platform,
				      NULL);
	if (!platform)
		return;
	atomic_store(&d->suggest, find_function(platform, "clGetKernelSuggestedLocalWorkSizeKHR"));
	/* OpenCL has no query for the registers of a kernel; two vendors have one. */
	vendor = info_u32(d->handle, CL_DEVICE_VENDOR_ID);
	if (info_type(d->handle) == RK_REC_GPU) {
		atomic_store(&d->intel, vendor == VENDOR_INTEL);
		if (vendor == VENDOR_AMD)
			atomic_store(&d->amd, find_function(platform, "clGetKernelInfoAMD"));
	}
	atomic_store(&d->has_timer, platform_has_timer(platform));
	if (atomic_load(&d->has_timer))
		read_timer(d);
}

struct rk_ocl_device *rk_ocl_device_get(cl_device_id handle)
{
	uint32_t at = rk_ocl_slot(keys, RK_OCL_DEVICES, handle, true);
	uint32_t number = 0;

	if (at == RK_OCL_DEVICES)
		return NULL;
	struct rk_ocl_device *d = &devices[at];
	if (atomic_compare_exchange_strong(&d->number, &number, BEING_MADE)) {
		number = atomic_fetch_add(&nnumbers, 1);
		d->handle = handle;
		atomic_store(&d->root, root_of(handle));
		describe(d, handle, number);
		learn_platform(d);
		atomic_store(&d->number, number + 1);
		return d;
	}
	for (int i = 0; i < MOST_YIELDS && number == BEING_MADE; i++) {
		sched_yield();
		number = atomic_load(&d->number);
	}
	/* query again: the address may belong to another sub-device by now */
	if (number != BEING_MADE) {
		atomic_store(&d->root, root_of(handle));
		describe(d, handle, number - 1);
	}
	return d;
}

bool rk_ocl_device_due(struct rk_ocl_device *d)
{
	uint32_t n = atomic_load_explicit(&d->asked, memory_order_relaxed);

	/* An inexact count is good enough. */
	atomic_store_explicit(&d->asked, n + 1, memory_order_relaxed);
	return (n < FIRST_SAMPLES || n % LATER_EVERY == 0) && !atomic_load(&d->has_timer);
}

static void write_sample(struct rk_ocl_device *d)
{
	struct rk_rec_clocks c;

	rk_rec_clocks(&c);
	rk_rec_calibration(atomic_load(&d->id), d->device_ns, d->boot_ns,
			   d->boot_ns - c.boot_ns + c.raw_ns, d->error_ns + c.error_ns);
	d->written_ns = c.boot_ns;
	d->written_error_ns = d->error_ns;
	d->error_ns = 0;
}

void rk_ocl_device_sample(struct rk_ocl_device *d, int64_t device_ns, int64_t before_ns,
			  int64_t width_ns)
{
	int64_t error_ns = width_ns / 2 + 1;

	if (device_ns <= 0 || width_ns < 0 || atomic_exchange(&d->busy, true))
		return;
	if (!d->error_ns || error_ns < d->error_ns) {
		d->device_ns = device_ns;
		d->boot_ns = before_ns + width_ns / 2;
		d->error_ns = error_ns;
	}
	/*
	 * Write the first at once, in case the program is killed soon; later ones if twice as good.
	 */
	if (!d->written_error_ns || d->error_ns < d->written_error_ns / 2 ||
	    before_ns - d->written_ns > REWRITE_NS)
		write_sample(d);
	atomic_store(&d->busy, false);
}

void rk_ocl_device_calibrate_all(bool last)
{
	for (uint32_t i = 0; i < RK_OCL_DEVICES; i++) {
		struct rk_ocl_device *d = &devices[i];

		if (!atomic_load(&d->id))
			continue;
		if (atomic_load(&d->has_timer) &&
		    (last || rk_rec_now() - atomic_load(&d->read_ns) > REWRITE_NS)) {
			atomic_store(&d->read_ns, rk_rec_now());
			read_timer(d);
		}
		if (!last || atomic_exchange(&d->busy, true))
			continue;
		if (d->error_ns)
			write_sample(d);
		atomic_store(&d->busy, false);
	}
}

void rk_ocl_device_forked(void)
{
	for (uint32_t i = 0; i < RK_OCL_DEVICES; i++) {
		atomic_store(&devices[i].busy, false);
		/* The runtime may hang in a child that is about to exit: do not call it there. */
		atomic_store(&devices[i].has_timer, false);
		/* The child's file needs its own calibration. */
		devices[i].error_ns = devices[i].written_error_ns = 0;
		atomic_store(&devices[i].asked, 0);
	}
}
