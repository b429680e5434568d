/*
 * opencl.c - our own collector for OpenCL: a layer that the loader puts between the program and
 * every OpenCL runtime, whatever the device. The program is started as it is; two variables say
 * the rest.
 */
#include <string.h>

#include "tool/collector.h"
#include "tool/tool_impl.h"

enum { HAS = RK_TRACE_KERNEL | RK_TRACE_MEMCPY | RK_TRACE_MARKER };

/* --tool-args are settings of the collector: "limit=4G window=1". */
static void put_settings(const struct rk_want *want, struct rk_tool_command *c)
{
	struct rk_bytes b;

	rk_bytes_init(&b, 1 << 16);
	rk_bytes_puts(&b, "dir=");
	rk_collector_put_value(&b, want->dir);
	/* Every call costs as much as the launch it makes: only for those who want all calls. */
	if ((want->traces & RK_TRACE_HIP) && (want->traces & RK_TRACE_HSA))
		rk_bytes_puts(&b, ",api=1");
	for (size_t i = 0; want->extra && i < want->extra->n; i++)
		rk_bytes_printf(&b, ",%s", want->extra->v[i]);
	if (rk_bytes_str(&b))
		rk_list_set(&c->env, "ROCKIT_COLLECT", rk_bytes_str(&b));
	c->env.bad = c->env.bad || b.bad;
	rk_bytes_release(&b);
}

static int command(const char *path, struct rk_version v, const struct rk_want *want,
		   struct rk_tool_command *ret, struct rk_error *err)
{
	(void)v;
	if (strpbrk(path, ":"))
		return rk_fail(err, RK_E_USAGE,
			       "the loader takes no layer whose path has a colon: '%s'", path);
	rk_list_append(&ret->argv, want->app);
	rk_list_set(&ret->env, "OPENCL_LAYERS", path);
	put_settings(want, ret);
	ret->delivers = want->traces & HAS;
	rk_tool_no_traces(ret, want->traces & ~(unsigned)HAS, "OpenCL has none");
	if (rk_tool_wants_counters(want))
		rk_list_add(&ret->notes, "no counters: OpenCL has none");
	if (want->pc)
		rk_list_add(&ret->notes, "no PC sampling: OpenCL has none");
	if (want->kernel_regex)
		rk_list_add(&ret->notes, "all kernels: the filter is for counters");
	return rk_tool_end(ret, err);
}

static const char *const programs[] = { "librockit-opencl.so", NULL };

const struct rk_tool_ops rk_tool_opencl = {
	.name = "opencl",
	.programs = programs,
	.one_run = true,
	.library = true,
	.command = command,
};
