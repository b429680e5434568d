/*
 * sim_work.c - what the application did. Durations, names and ids are the same in every run; start
 * times lie inside the run, one event each 20 us.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sim.h"

#define SLOT_NS 20000u
#define KERNELS 5u

const struct kernel kernel_list[] = {
	{ "_Z9vectorAddPKfS0_Pfi",
	  "vectorAdd(float const*, float const*, float*, int)",
	  "vectorAdd",
	  8,
	  0,
	  16,
	  0,
	  0,
	  { 256, 1, 1 },
	  { 1048576, 1, 1 } },
	{ "_Z9transposeIfLi32ELi8EEvPT_PKS0_ii",
	  "void transpose<float, 32, 8>(float*, float const*, int, int)",
	  "transpose",
	  24,
	  4,
	  32,
	  4224,
	  0,
	  { 32, 8, 1 },
	  { 4096, 1024, 1 } },
	{ "_ZN2at6native6reduceINS0_3SumIfEELi4EEEvPKfPfi",
	  "void at::native::reduce<at::native::Sum<float>, 4>(float const*, float*, int)",
	  "reduce",
	  64,
	  32,
	  48,
	  8192,
	  16,
	  { 512, 1, 1 },
	  { 65536, 2, 1 } },
	{ "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI32x32x8x1_SN_1LDSB0",
	  "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI32x32x8x1_SN_1LDSB0",
	  "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI32x32x8x1_SN_1LDSB0",
	  128,
	  128,
	  96,
	  25600,
	  0,
	  { 256, 1, 1 },
	  { 16384, 16, 4 } },
	{ "_Z5scaleIXadL_Zli5_halfPKcEEEvPf",
	  "void scale<&(operator\"\" _half(char const*))>(float*)",
	  "scale",
	  12,
	  0,
	  16,
	  512,
	  0,
	  { 64, 1, 1 },
	  { 6400, 1, 1 } },
};

static struct dispatch dispatch_at(unsigned id, uint64_t slot0, unsigned agent)
{
	unsigned k = (id - 1) % KERNELS;
	uint64_t start = slot0 + (id + 2) * (uint64_t)SLOT_NS + 3000;
	struct dispatch d = {
		.kernel = &kernel_list[k],
		.id = id,
		.kernel_id = k + 1,
		.agent = agent,
		.queue = 1,
		.stream = 1,
		.correlation = 10 + id,
		.start = start,
		.end = start + 2000 + k * 500 + id % 3 * 100,
	};

	if (fault("negative-times") && id % 2 == 0) {
		d.end = d.start - 1000;
	}
	return d;
}

static void make_dispatches(struct work *w, unsigned n, unsigned agent)
{
	w->dispatches = take((n + 1) * sizeof(*w->dispatches));
	for (unsigned i = 0; i < n; i++)
		w->dispatches[fault("unsorted") ? n - 1 - i : i] =
			dispatch_at(i + 1, w->start, agent);
	w->ndispatches = n;
	w->nkernels = n < KERNELS ? n : KERNELS;
}

static void add_call(struct work *w, const char *domain, const char *function, const char *message,
		     unsigned correlation, uint64_t start)
{
	uint64_t length = message && strcmp(function, "roctxMarkA") == 0 ? 0 : 1200;

	w->calls[w->ncalls++] =
		(struct call){ domain, function, message, correlation, start, start + length };
}

static void make_calls(struct work *w, unsigned n)
{
	uint64_t s = w->start + 1000, last = w->start + (n + 4) * (uint64_t)SLOT_NS;
	const char *message = getenv("ROCKIT_SIM_MESSAGE");

	w->calls = take((n + 24) * sizeof(*w->calls));
	add_call(w, "HSA_CORE", "hsa_system_get_major_extension_table", NULL, 1, s);
	add_call(w, "HSA_CORE", "hsa_queue_create", NULL, 2, s + 2000);
	add_call(w, "HSA_AMD_EXT", "hsa_amd_memory_pool_allocate", NULL, 3, s + 4000);
	add_call(w, "HIP_COMPILER", "__hipRegisterFatBinary", NULL, 4, s + 6000);
	add_call(w, "HIP_COMPILER", "__hipRegisterFunction", NULL, 5, s + 8000);
	add_call(w, "HIP_RUNTIME", "hipMalloc", NULL, 6, s + 10000);
	add_call(w, "HIP_RUNTIME", "hipMemcpyAsync", NULL, 7, s + SLOT_NS);
	add_call(w, "MARKER", "roctxRangePushA", message ? message : "forward, batch 1", 8,
		 s + SLOT_NS + 4000);
	add_call(w, "MARKER", "roctxMarkA", "step 1", 9, s + SLOT_NS + 8000);
	for (unsigned i = 1; i <= n; i++)
		add_call(w, "HIP_RUNTIME", "hipLaunchKernel", NULL, 10 + i,
			 w->start + (i + 2) * (uint64_t)SLOT_NS);
	add_call(w, "RCCL", "ncclAllReduce", NULL, n + 11, last);
	add_call(w, "RCCL", "ncclAllGather", NULL, n + 12, last + 2000);
	add_call(w, "HIP_RUNTIME", "hipMemcpyAsync", NULL, n + 13, last + 4000);
	add_call(w, "HIP_RUNTIME", "hipDeviceSynchronize", NULL, n + 14, last + 6000);
	add_call(w, "HIP_RUNTIME", "hipFree", NULL, n + 15, last + 10000);
}

static void make_memory(struct work *w, unsigned n, unsigned agent)
{
	uint64_t s = w->start, last = w->start + (n + 4) * (uint64_t)SLOT_NS;
	const uint64_t at = 0x7f2a40000000;

	w->copies = take(2 * sizeof(*w->copies));
	w->copies[0] = (struct copy){ "HOST_TO_DEVICE",   0,      agent, 7, 1, s + SLOT_NS + 3000,
				      s + SLOT_NS + 7000, 4194304 };
	w->copies[1] = (struct copy){ "DEVICE_TO_HOST", agent,       0,      n + 13, 1,
				      last + 6000,      last + 9000, 2097152 };
	w->ncopies = 2;
	w->allocations = take(4 * sizeof(*w->allocations));
	w->allocations[0] = (struct allocation){ "ALLOCATE", false,     agent,   6,
						 s + 11100,  s + 11900, 8388608, at };
	w->allocations[1] =
		(struct allocation){ "ALLOC", true, agent, 0, s + 30000, s + 30500, 65536, 0 };
	w->allocations[2] =
		(struct allocation){ "FREE", true, agent, 0, last + 9500, last + 9700, 65536, 0 };
	w->allocations[3] = (struct allocation){ "FREE",       false,        agent, n + 15,
						 last + 11100, last + 11900, 0,     at };
	w->nallocations = 4;
}

/* Short programs end before their invented work does: wait for it. */
static void cover(uint64_t until)
{
	uint64_t now = boot_ns();
	struct timespec left;

	if (now >= until)
		return;
	left.tv_sec = (time_t)((until - now) / 1000000000u);
	left.tv_nsec = (long)((until - now) % 1000000000u);
	nanosleep(&left, NULL);
}

struct work work_make(const struct app_end *end, char *const *argv, bool counting)
{
	struct work w = { .pid = getpid(), .ppid = getppid(), .argv = argv };
	unsigned n = sim.kernels + (counting && fault("extra-dispatch"));
	const char *local = getenv("LOCAL_RANK");
	unsigned long long device = 0;

	if (local)
		read_number(local, &device);
	device = 1 + device % sim.gpus;
	w.start = end->start_ns;
	w.end = w.start + (n + 6) * (uint64_t)SLOT_NS;
	if (w.end < end->end_ns)
		w.end = end->end_ns;
	cover(w.end);
	make_dispatches(&w, n, (unsigned)device);
	make_calls(&w, n);
	make_memory(&w, n, (unsigned)device);
	return w;
}

struct work work_of_worker(const struct app_end *end, char *const *argv, bool counting,
			   unsigned rank)
{
	struct work w;

	if (sim.ranks) {
		setenv("RANK", print_text("%u", rank), 1);
		setenv("LOCAL_RANK", print_text("%u", rank), 1);
		setenv("WORLD_SIZE", print_text("%u", sim.ranks), 1);
	}
	w = work_make(end, argv, counting);
	w.pid = end->pid + (pid_t)rank;
	return w;
}
