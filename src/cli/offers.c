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

const char *rk_sensor_word(size_t i)
{
	return rk_monitor_word((unsigned)i);
}
