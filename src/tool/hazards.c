/* hazards.c - see hazards.h. Only what a user can act on. */
#include "tool/hazards.h"

#include <stdbool.h>
#include <string.h>

#define SINCE(a, b)     \
	{               \
		a, b, 0 \
	}
#define ALWAYS          \
	{               \
		0, 0, 0 \
	}

static const struct rk_hazard hazards[] = {
	{ "rocprofv3", ALWAYS, SINCE(6, 3), "",
	  "counter files have no times: take durations from a pass without counters" },
	{ "rocprofv3", SINCE(6, 3), SINCE(6, 4), "",
	  "the script imports numpy and dies without it: pip install numpy" },
	{ "rocprofv3", ALWAYS, SINCE(7, 0), "",
	  "csv has no sizes of copies: --tool-args '--output-format json' where they matter" },
	{ "rocprofv3", SINCE(7, 0), SINCE(7, 13), "",
	  "a quote or semicolon in a ROCTx message or kernel name makes rocpd's writer abort at "
	  "exit: rockit takes csv when markers are traced" },
	{ "rocprofv3", SINCE(7, 0), SINCE(7, 13), "",
	  "a reclaim of scratch memory may abort rocpd's writer: leave the scratch trace out when the "
	  "program dies at exit" },
	{ "rocprofv3", SINCE(6, 4), ALWAYS, "gfx942",
	  "PC sampling needs the firmware that came with ROCm 7.0 or later" },
	{ "rocprofv3", ALWAYS, ALWAYS, "gfx94",
	  "two profilers at once on one node can reset an MI300A: run one at a time" },
	{ "rocprofv3", ALWAYS, ALWAYS, "",
	  "collectives over five or more GPUs can hang under HIP and kernel tracing: trace kernels "
	  "only, or a few ranks, and give --timeout" },
	{ "rocprofv3", ALWAYS, ALWAYS, "",
	  "counters run the kernels of all streams one after the other: times of such a pass are "
	  "not real ones, and ranks that wait for each other can stop for ever" },
	{ "rocprofv3", ALWAYS, ALWAYS, "",
	  "a program ended by SIGKILL, SIGSEGV or _exit() leaves no data: end it with SIGTERM or "
	  "let it finish" },
	{ "rocprofv3", ALWAYS, ALWAYS, "gfx908",
	  "some counters of rocprof no longer exist here: see rockit counters --arch gfx908" },
	{ "rocprofv3", ALWAYS, ALWAYS, "gfx11",
	  "counters that are listed may read zero: amd-smi set -l STABLE_STD first" },
	{ "rocprofv3", ALWAYS, ALWAYS, "gfx12",
	  "counters that are listed may read zero: amd-smi set -l STABLE_STD first" },
	{ "rocprofv2", ALWAYS, ALWAYS, "",
	  "no longer maintained: rocprofv3 comes with ROCm 6.2 and later" },
	{ "rocprofv2", SINCE(7, 0), ALWAYS, "", "not tested with ROCm 7: use rocprofv3" },
	{ "rocprof", ALWAYS, ALWAYS, "",
	  "no longer maintained: rocprofv3 comes with ROCm 6.2 and later" },
	{ "rocprof", ALWAYS, ALWAYS, "",
	  "rows of several processes are mixed in one file: start rockit in each rank" },
	{ "rocprof",
	  ALWAYS,
	  { 7, 2, 2 },
	  "",
	  "kernels launched by HIP graphs are missing: use rocprofv3" },
	{ "rocprof", ALWAYS, ALWAYS, "",
	  "the program's stderr is joined to its stdout, between lines of the tool" },
	{ "rocprof", ALWAYS, ALWAYS, "gfx1", "not made for this chip: use rocprofv3" },
	{ "rocprof", ALWAYS, ALWAYS, "gfx95", "not made for this chip: use rocprofv3" },
	{ "rocprof", ALWAYS, ALWAYS, "gfx94",
	  "FETCH_SIZE differs from rocprofv3's: compare only within one tool" },
	{ "rocprof-compute", ALWAYS, SINCE(10, 0), "",
	  "needs a dozen Python packages of exact versions: give it an environment of its own" },
	{ "rocprof-compute", ALWAYS, ALWAYS, "",
	  "runs the program some twenty times: start with a short one" },
	{ "rocprof-compute", ALWAYS, SINCE(7, 13), "",
	  "several ranks write to one directory: start rockit in each rank" },
	{ "rocprof-sys", ALWAYS, ALWAYS, "",
	  "a full trace buffer drops the end: --tool-args '--trace-buffer-size KB'" },
};

static bool in_releases(const struct rk_hazard *h, struct rk_version v)
{
	if (!rk_version_known(v))
		return !rk_version_known(h->until);
	return rk_version_compare(v, h->from) >= 0 &&
	       (!rk_version_known(h->until) || rk_version_compare(v, h->until) < 0);
}

const struct rk_hazard *rk_hazards_next(const char *tool, struct rk_version v, const char *arch,
					size_t *at)
{
	while (*at < sizeof(hazards) / sizeof(hazards[0])) {
		const struct rk_hazard *h = &hazards[(*at)++];

		if (!strcmp(h->tool, tool) && in_releases(h, v) &&
		    !strncmp(arch ? arch : "", h->arch, strlen(h->arch)))
			return h;
	}
	return NULL;
}
