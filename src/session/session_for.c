/* session_for.c - sessions for the usual questions. */
#include "base/handle.h"
#include "rockit/session.h"

static const char * or (const char *said, const char *otherwise)
{
	return said ? said : otherwise;
}

/* Times come from a run of their own, so that there is something to divide by. */
static int plan_counters(const struct rk_session_options *base, const char *counters,
			 struct rk_session **ret, struct rk_error *err)
{
	struct rk_session_options o = *base;

	o.traces = or (base->traces, base->preset ? NULL : "kernel");
	o.counters = or (base->counters, counters);
	return rk_session_plan(&o, ret, err);
}

int rk_session_for_kernel(const struct rk_session_options *base, const char *kernel,
			  struct rk_session **ret, struct rk_error *err)
{
	struct rk_session_options o;

	if (!base)
		return rk_misuse(__func__, err);
	o = *base;
	o.kernel_regex = or (kernel, base->kernel_regex);
	return plan_counters(&o, "@waves,@instructions", ret, err);
}

int rk_session_for_memory(const struct rk_session_options *base, struct rk_session **ret,
			  struct rk_error *err)
{
	return base ? plan_counters(base, "@memory,@cache", ret, err) : rk_misuse(__func__, err);
}

int rk_session_for_compute_unit(const struct rk_session_options *base, struct rk_session **ret,
				struct rk_error *err)
{
	return base ? plan_counters(base, "@compute_unit", ret, err) : rk_misuse(__func__, err);
}

int rk_session_for_rocprof_compute(const struct rk_session_options *base, const char *arch,
				   struct rk_session **ret, struct rk_error *err)
{
	struct rk_session_options o;

	if (!base)
		return rk_misuse(__func__, err);
	o = *base;
	o.tool = or (base->tool, "rocprof-compute");
	o.arch = or (arch, base->arch);
	return rk_session_plan(&o, ret, err);
}
