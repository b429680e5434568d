/* pc_sampling.c - see pc_sampling.h. */
#include "tool/pc_sampling.h"

#include <inttypes.h>
#include <string.h>

#include "tool/tool_impl.h"

enum {
	HOST_TRAP_US = 1000,         /* every wave of the GPU is sampled at each trap */
	STOCHASTIC_CYCLES = 1 << 20, /* half a millisecond; only powers of two are taken */
	STOCHASTIC_LEAST = 1 << 8,
};

/* MI200 traps; MI300 and later also sample in hardware. The rest of the chips do neither. */
static bool can_trap(const struct rk_want *want)
{
	return rk_tool_arch_is(want, "gfx90a") || rk_tool_arch_is(want, "gfx94") ||
	       rk_tool_arch_is(want, "gfx95");
}

static bool can_sample(const struct rk_want *want, struct rk_version v)
{
	return rk_version_since(v, 7, 0) &&
	       (rk_tool_arch_is(want, "gfx94") || rk_tool_arch_is(want, "gfx95"));
}

static bool arch_known(const struct rk_want *want)
{
	return want->arch && *want->arch;
}

static uint64_t power_of_two(uint64_t v)
{
	uint64_t p = STOCHASTIC_LEAST;

	while (p < v && p < UINT64_C(1) << 62)
		p <<= 1;
	return p;
}

static void stochastic(const struct rk_pc_sampling *pc, struct rk_pc_choice *ret,
		       struct rk_list *notes)
{
	uint64_t cycles = pc->interval ? power_of_two(pc->interval) : STOCHASTIC_CYCLES;

	ret->method = "stochastic";
	ret->unit = "cycles";
	/* An interval in another unit means nothing in cycles. */
	if (pc->unit && strcmp(pc->unit, "cycles") != 0) {
		cycles = STOCHASTIC_CYCLES;
		rk_list_addf(notes,
			     "stochastic PC sampling counts cycles, not %s: every %" PRIu64
			     " cycles",
			     pc->unit, cycles);
	} else if (pc->interval && cycles != pc->interval) {
		rk_list_addf(notes,
			     "PC sampling interval %" PRIu64 " becomes %" PRIu64
			     ": the hardware takes powers of two",
			     pc->interval, cycles);
	}
	ret->interval = cycles;
}

static void host_trap(const struct rk_pc_sampling *pc, bool asked, struct rk_pc_choice *ret,
		      struct rk_list *notes)
{
	ret->method = "host_trap";
	ret->unit = "time";
	ret->interval = asked && pc->interval ? pc->interval : HOST_TRAP_US;
	if (asked && pc->unit && strcmp(pc->unit, "time") != 0) {
		ret->interval = HOST_TRAP_US;
		rk_list_addf(notes,
			     "host_trap PC sampling counts time, not %s: every %" PRIu64 " us",
			     pc->unit, ret->interval);
	}
}

bool rk_pc_choose(struct rk_version v, const struct rk_want *want, struct rk_pc_choice *ret,
		  struct rk_list *notes)
{
	const struct rk_pc_sampling *pc = want->pc;
	bool traps = pc->method && !strcmp(pc->method, "host_trap");
	bool samples = pc->method && !strcmp(pc->method, "stochastic");

	if (rk_version_before(v, 6, 4)) {
		rk_list_add(notes, "no PC sampling: rocprofv3 has it from ROCm 6.4 on");
		return false;
	}
	if (arch_known(want) && !can_trap(want)) {
		rk_list_addf(notes,
			     "no PC sampling: %s cannot do it (gfx90a, gfx94x and gfx95x can)",
			     want->arch);
		return false;
	}
	/* A unit tells the method when none is named. */
	if (!pc->method && pc->unit && !strcmp(pc->unit, "time"))
		traps = true;
	if (!traps &&
	    (can_sample(want, v) || (samples && !arch_known(want) && rk_version_since(v, 7, 0)))) {
		stochastic(pc, ret, notes);
		return true;
	}
	if (samples)
		rk_list_addf(notes, "PC sampling by host_trap: stochastic needs ROCm 7.0 and "
				    "gfx94x or gfx95x");
	host_trap(pc, !samples, ret, notes);
	return true;
}
