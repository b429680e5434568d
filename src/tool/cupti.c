/*
 * cupti.c - our own collector for CUDA: a library that NVIDIA's driver loads into the program and
 * that takes its records from CUPTI. The program is started as it is; variables say the rest.
 */
#include "tool/collector.h"
#include "tool/tool_impl.h"

enum {
	CALLS = RK_TRACE_HIP | RK_TRACE_HSA, /* together: whoever wants every call */
	HAS = RK_TRACE_KERNEL | RK_TRACE_MEMCPY | RK_TRACE_MARKER | RK_TRACE_ALLOC,
	FLUSH_MS = 500, /* what is lost at most when the program is killed */
};

static void put_settings(const struct rk_want *want, struct rk_tool_command *c)
{
	struct rk_bytes b;

	rk_bytes_init(&b, 1 << 16);
	rk_bytes_puts(&b, "dir=");
	rk_collector_put_value(&b, want->dir);
	for (size_t i = 0; want->extra && i < want->extra->n; i++) /* the first of a name counts */
		rk_bytes_printf(&b, ",%s", want->extra->v[i]);
	rk_bytes_printf(&b, ",flush=%d", FLUSH_MS);
	/* Every call costs as much as the launch it makes: only for those who want all calls. */
	if ((want->traces & CALLS) == CALLS)
		rk_bytes_puts(&b, ",api=1");
	if (want->traces & RK_TRACE_ALLOC)
		rk_bytes_puts(&b, ",alloc=1");
	if (rk_bytes_str(&b))
		rk_list_set(&c->env, "ROCKIT_COLLECT", rk_bytes_str(&b));
	c->env.bad = c->env.bad || b.bad;
	rk_bytes_release(&b);
}

static void put_notes(const struct rk_want *want, struct rk_tool_command *c)
{
	rk_tool_no_traces(c, want->traces & CALLS,
			  "this is CUDA, whose calls come where both are wanted");
	rk_tool_no_traces(c, want->traces & RK_TRACE_RCCL, "NCCL's ranges are markers");
	rk_tool_no_traces(c, want->traces & RK_TRACE_SCRATCH, "CUPTI has none");
	if (rk_tool_wants_counters(want))
		rk_list_add(&c->notes, "no counters: this collector has none");
	if (want->pc)
		rk_list_add(&c->notes, "no PC sampling: this collector has none");
	if (want->kernel_regex)
		rk_list_add(&c->notes, "all kernels: the filter is for counters");
}

static int command(const char *path, struct rk_version v, const struct rk_want *want,
		   struct rk_tool_command *ret, struct rk_error *err)
{
	(void)v;
	rk_list_append(&ret->argv, want->app);
	rk_list_set(&ret->env, "CUDA_INJECTION64_PATH", path);
	if (want->traces & RK_TRACE_MARKER)
		rk_list_set(&ret->env, "NVTX_INJECTION64_PATH", path);
	put_settings(want, ret);
	ret->delivers = want->traces & HAS;
	put_notes(want, ret);
	return rk_tool_end(ret, err);
}

static const char *const programs[] = { "librockit-cupti.so", NULL };

const struct rk_tool_ops rk_tool_cupti = {
	.name = "cupti",
	.programs = programs,
	.one_run = true,
	.library = true,
	.command = command,
};
