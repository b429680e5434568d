/*
 * cupti.c - our own collector for CUDA: a library that NVIDIA's driver loads into the program and
 * that takes its records from CUPTI. The program is started as it is; variables say the rest.
 */
#include <stdio.h>
#include <string.h>

#include "tool/collector.h"
#include "tool/tool_impl.h"

enum {
	CALLS = RK_TRACE_HIP | RK_TRACE_HSA, /* together: whoever wants every call */
	HAS = RK_TRACE_KERNEL | RK_TRACE_MEMCPY | RK_TRACE_MARKER | RK_TRACE_ALLOC,
	FLUSH_MS = 100, /* what is done for longer than that is not lost, see rockit-run(1) */
};

/*
 * What NVIDIA's hardware answers to the question that a counter of AMD's is asked for, by the
 * beginnings of its names; the first that fits. CUPTI 13.0 knows all of these from Turing on (but
 * for reads and writes apart on GB202) and runs a kernel twice for all of them together.
 */
#define SM                                                                         \
	"sm__cycles_active.avg.pct_of_peak_sustained_elapsed+"                     \
	"sm__warps_active.avg.pct_of_peak_sustained_active+sm__inst_executed.sum+" \
	"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"
#define L2 "lts__t_sector_hit_rate.pct"
#define DRAM                                                  \
	"dram__throughput.avg.pct_of_peak_sustained_elapsed+" \
	"dram__bytes_read.sum+dram__bytes_write.sum"

static const struct question {
	const char *start, *metrics;
} questions[] = {
	{ "SQ_", SM },
	{ "GRBM_", "gpu__time_duration.sum+" SM },
	{ "TCP_", "l1tex__t_sector_hit_rate.pct" },
	{ "TCC_EA", DRAM },
	{ "TCC_", L2 },
	{ "GL2C_", L2 },
	{ "FETCH_SIZE", DRAM },
	{ "WRITE_SIZE", DRAM },
	{ "", SM },
};

static const char *metrics_for(const char *counter)
{
	size_t i = 0;

	while (strncmp(counter, questions[i].start, strlen(questions[i].start)) != 0)
		i++;
	return questions[i].metrics;
}

/* Each once. */
static void choose_metrics(const struct rk_list *counters, struct rk_list *ret)
{
	for (size_t i = 0; i < counters->n; i++) {
		for (const char *p = metrics_for(counters->v[i]); *p; p += strspn(p, "+")) {
			char name[80];
			size_t len = strcspn(p, "+");

			snprintf(name, sizeof(name), "%.*s", (int)len, p);
			rk_list_add_once(ret, name);
			p += len;
		}
	}
}

static void put_settings(const struct rk_want *want, struct rk_tool_command *c)
{
	struct rk_bytes b;

	rk_bytes_init(&b, 1 << 16);
	rk_bytes_puts(&b, "dir=");
	rk_collector_put_value(&b, want->dir);
	for (size_t i = 0; want->extra && i < want->extra->n; i++) /* the first of a name counts */
		rk_bytes_printf(&b, ",%s", want->extra->v[i]);
	for (size_t i = 0; i < c->instead.n; i++)
		rk_bytes_printf(&b, "%s%s", i ? "+" : ",counters=", c->instead.v[i]);
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

static void put_trace_notes(const struct rk_want *want, struct rk_tool_command *c)
{
	rk_tool_no_traces(c, want->traces & CALLS,
			  "this is CUDA, whose calls come where both are wanted");
	rk_tool_no_traces(c, want->traces & RK_TRACE_RCCL, "NCCL's ranges are markers");
	rk_tool_no_traces(c, want->traces & RK_TRACE_SCRATCH, "CUPTI has none");
}

static void put_notes(const struct rk_want *want, struct rk_tool_command *c)
{
	if (c->counters)
		rk_list_add(&c->notes, "counters are NVIDIA's, for the same questions: see "
				       "rockit-run(1)");
	if (want->pc)
		rk_list_add(&c->notes, "no PC sampling: this collector has none");
	if (want->kernel_regex)
		rk_list_add(&c->notes, "all kernels: this collector has no filter");
}

static int command(const char *path, struct rk_version v, const struct rk_want *want,
		   struct rk_tool_command *ret, struct rk_error *err)
{
	(void)v;
	rk_list_append(&ret->argv, want->app);
	rk_list_set(&ret->env, "CUDA_INJECTION64_PATH", path);
	if (want->traces & RK_TRACE_MARKER)
		rk_list_set(&ret->env, "NVTX_INJECTION64_PATH", path);
	ret->counters = rk_tool_wants_counters(want);
	if (ret->counters)
		choose_metrics(want->counters, &ret->instead);
	put_settings(want, ret);
	/* Kernels that are counted run one by one and again: their times would be of no use. */
	if (!ret->counters) {
		ret->delivers = want->traces & HAS;
		put_trace_notes(want, ret);
	}
	put_notes(want, ret);
	return rk_tool_end(ret, err);
}

static const char *const programs[] = { "librockit-cupti.so", NULL };

const struct rk_tool_ops rk_tool_cupti = {
	.name = "cupti",
	.programs = programs,
	.replays = true,
	.library = true,
	.command = command,
};
