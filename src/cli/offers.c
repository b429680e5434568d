/* offers.c - see offers.h. */
#include "offers.h"

#include "rockit/monitor.h"

const char *const rk_offer_traces[] = { "hip",  "hsa",     "kernel", "memcpy", "marker",
					"rccl", "scratch", "alloc",  "sys",    NULL };

const char *const rk_offer_libraries[] = { "rocblas", "hipblaslt", "miopen", "rccl", "none", NULL };

const char *const rk_offer_counters[] = { "compute_bound",
					  "memory_bound",
					  "communication_bound",
					  "full_profile",
					  "instruction_mix",
					  "@instructions",
					  "@waves",
					  "@memory",
					  "@cache",
					  "@compute_unit",
					  "@lds",
					  "@stalls",
					  "@limits",
					  "@resources",
					  NULL };

const char *const rk_offer_groups[] = { "time",      "launch", "occupancy", "waves", "mix",
					"scratch",   "pipes",  "latency",   "stall", "flops",
					"roofline",  "lds",    "l1",        "sl1d",  "l1i",
					"l2",        "fabric", "hbm",       "comm",  "atomic",
					"scheduler", NULL };

const struct rk_foreign rk_rocprof_options[] = {
	{ "hip-trace", "'-t hip', or '-t hip,kernel' with the kernels" },
	{ "hip-api", "'-t hip'" },
	{ "hip-activity", "'-t hip,kernel,memcpy'" },
	{ "hip-runtime-trace", "'-t hip'" },
	{ "hip-compiler-trace", "'-t hip'" },
	{ "hsa-trace", "'-t hsa', or '-t hsa,kernel' with the kernels" },
	{ "hsa-api", "'-t hsa'" },
	{ "hsa-activity", "'-t hsa,kernel,memcpy'" },
	{ "hsa-core-trace", "'-t hsa'" },
	{ "hsa-amd-trace", "'-t hsa'" },
	{ "kernel-trace", "'-t kernel'" },
	{ "memory-copy-trace", "'-t memcpy'" },
	{ "memory-allocation-trace", "'-t alloc'" },
	{ "scratch-memory-trace", "'-t scratch'" },
	{ "marker-trace", "'-t marker'" },
	{ "roctx-trace", "'-t marker'" },
	{ "roctx-range", "'-t marker'" },
	{ "rccl-trace", "'-t rccl'" },
	{ "runtime-trace", "'-t hip,kernel,memcpy,marker,rccl,scratch,alloc'" },
	{ "sys-trace", "'-t sys'" },
	{ "pmc", "'-c LIST'" },
	{ "list-avail", "'rockit counters'" },
	{ "list-basic", "'rockit counters'" },
	{ "list-derived", "'rockit counters'" },
	{ "list-counters", "'rockit counters'" },
	{ "kernel-include-regex", "'--kernel-regex RE'" },
	{ "pc-sampling-method", "'-p pc_sampling'" },
	{ "pc-sampling-beta-enabled", "'-p pc_sampling'" },
	{ "stats", "'--then report', or 'rockit report' after the run" },
	{ "summary", "'--then report', or 'rockit report' after the run" },
	{ "timestamp", "done without being asked" },
	{ "output-directory", "'-d DIR'" },
	{ "output-file", "'-d DIR'" },
	{ "output-format", "'rockit convert DIR -o OUT' after the run" },
	{ "plugin", "'rockit convert DIR -o OUT' after the run" },
	{ NULL, NULL },
};

const char *rk_sensor_word(size_t i)
{
	return rk_monitor_word((unsigned)i);
}
