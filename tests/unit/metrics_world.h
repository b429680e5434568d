/* metrics_world.h - directories as profilers leave them, and what rk_run_metrics says of them. */
#ifndef RK_METRICS_WORLD_H
#define RK_METRICS_WORLD_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rockit/metrics.h"
#include "rockit/rockit.h"
#include "tap.h"
#include "world.h"

/* rocprof-compute: a row per dispatch. */
#define WIDE                                                                         \
	"Dispatch_ID,Kernel_Name,GPU_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup," \
	"Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR,wave_size,obj,"
#define TIMES ",Start_Timestamp,End_Timestamp\n"
#define ROW(id, name) #id ",\"" name "\",2,1024,256,0,0,8,4,16,64,0x7f00,"

/* the same, a row per counter */
#define LONG                                                                          \
	"GPU_ID,Dispatch_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,"              \
	"Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR,Kernel_Name,Start_Timestamp," \
	"End_Timestamp,Kernel_ID,Counter_Name,Counter_Value\n"
#define LONG_ROW(id, name, value, start, end) \
	"2," #id ",1024,256,0,0,8,4,16,\"copy\"," #start "," #end ",1," name "," #value "\n"

/* an MI210 with round numbers */
#define SYSINFO_HEAD                                                                                      \
	"workload_name,command,ip_blocks,gpu_model,gpu_arch,cu_per_gpu,simd_per_cu,se_per_gpu,wave_size," \
	"max_waves_per_cu,max_sclk,max_mclk,cur_sclk,cur_mclk,total_l2_chan,lds_banks_per_cu,"            \
	"sqc_per_gpu,pipes_per_gpu,num_xcd,num_hbm_channels\n"
#define SYSINFO \
	SYSINFO_HEAD "w,prog,SQ,MI210,gfx90a,100,4,8,64,32,1000,1000,1000,1000,32,32,50,4,1,32\n"

/* rocprofv3 */
#define V3                                                                              \
	"\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\","  \
	"\"Thread_Id\",\"Grid_Size\",\"Kernel_Id\",\"Kernel_Name\",\"Workgroup_Size\"," \
	"\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\","      \
	"\"SGPR_Count\",\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\","        \
	"\"End_Timestamp\"\n"
#define V3_OF(agent, id, kernel, name, value, start, end)                                     \
	"5," #id ",\"Agent " #agent "\",1,100,9,1024,7,\"" kernel "\",256,0,0,8,0,16,\"" name \
	"\"," #value "," #start "," #end "\n"
#define V3_ROW(id, name, value, start, end) V3_OF(4, id, "copy", name, value, start, end)
#define AGENTS                                                                                           \
	"\"Node_Id\",\"Logical_Node_Id\",\"Agent_Type\",\"Simd_Count\",\"Wave_Front_Size\",\"Num_Xcc\"," \
	"\"Cu_Count\",\"Array_Count\",\"Simd_Arrays_Per_Engine\",\"Simd_Per_Cu\","                       \
	"\"Max_Engine_Clk_Fcompute\",\"Max_Waves_Per_Cu\",\"Name\",\"Product_Name\"\n"
#define MI300X(id) \
#id "," #id ",\"GPU\",1216,64,8,304,32,1,4,2100,32,\"gfx942\",\"AMD Instinct MI300X\"\n"
#define MI210(id) \
#id "," #id ",\"GPU\",416,64,1,104,8,1,4,1700,32,\"gfx90a\",\"AMD Instinct MI210\"\n"
#define TRACE                                                                             \
	"\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\"," \
	"\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\","           \
	"\"End_Timestamp\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\","           \
	"\"Accum_VGPR_Count\",\"SGPR_Count\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\","  \
	"\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\n"
#define TRACE_ROW(id, name, start, end)                                                   \
	"\"KERNEL_DISPATCH\",\"Agent 4\",1,0,9," #id ",7,\"" name "\",5," #start "," #end \
	",0,0,8,0,16,256,1,1,1024,1,1\n"

struct ask {
	struct world w;
	struct rk_run *run;
	struct rk_metrics *m; /* NULL: ask said no */
};

static inline void ask_open(struct ask *a)
{
	*a = (struct ask){ 0 };
	world_open(&a->w, 1);
}

static inline void ask_again(struct ask *a)
{
	rk_metrics_free(a->m);
	rk_run_close(a->run);
	a->m = NULL;
	a->run = NULL;
}

static inline void ask_close(struct ask *a)
{
	ask_again(a);
	world_close(&a->w);
}

/* The metrics of dir/sub. */
static inline int ask_with(struct ask *a, const char *sub, unsigned threads,
			   const struct rk_metrics_options *opt)
{
	const struct rk_run_options how = { .threads = threads };
	char path[600];
	const char *paths[] = { path };
	int rc;

	ask_again(a);
	rk_error_clear(&a->w.err);
	snprintf(path, sizeof(path), "%s/%s", a->w.dir, sub);
	rc = rk_run_open(paths, 1, &how, &a->run, &a->w.err);
	return rc < 0 ? rc : rk_run_metrics(a->run, opt, &a->m, &a->w.err);
}

/* Whether there is an answer, which there should be. */
static inline bool ask(struct ask *a, const char *sub, const struct rk_metrics_options *opt)
{
	if (CHECK_I64(ask_with(a, sub, 1, opt), 0) && CHECK(a->m != NULL))
		return true;
	CHECK_STR(a->w.err.message, "");
	return false;
}

static inline const struct rk_metric_value *in_list(const struct rk_metric_value *v, size_t n,
						    const char *id)
{
	static const struct rk_metric_value none = { "",  "",  "",  0,   NAN, NAN,
						     NAN, NAN, NAN, NAN, NAN };

	for (size_t i = 0; i < n; i++)
		if (strcmp(v[i].id, id) == 0)
			return &v[i];
	return &none;
}

static inline const struct rk_metric_value *value_of(const struct ask *a, const char *id)
{
	return in_list(a->m->metrics, a->m->nmetrics, id);
}

static inline const struct rk_metric_kernel *kernel_of(const struct ask *a, const char *name)
{
	static const struct rk_metric_kernel none = { .name = "" };

	for (size_t i = 0; i < a->m->nkernels; i++)
		if (strcmp(a->m->kernels[i].name, name) == 0)
			return &a->m->kernels[i];
	return &none;
}

static inline const struct rk_metric_value *of_kernel(const struct ask *a, const char *kernel,
						      const char *id)
{
	const struct rk_metric_kernel *k = kernel_of(a, kernel);

	return in_list(k->metrics, k->nmetrics, id);
}

/* Why a metric is absent; "" when it is not. */
static inline const char *absent(const struct ask *a, const char *id)
{
	for (size_t i = 0; i < a->m->nabsent; i++)
		if (strcmp(a->m->absent[i].id, id) == 0)
			return a->m->absent[i].reason;
	return "";
}

/* In how many dispatches a doubt was met. */
static inline uint64_t flagged(const struct ask *a, const char *kind)
{
	for (size_t i = 0; i < a->m->nflags; i++)
		if (strcmp(a->m->flags[i].kind, kind) == 0)
			return a->m->flags[i].dispatches;
	return 0;
}

static inline uint64_t warned(const struct ask *a, const char *kind)
{
	for (size_t i = 0; i < a->m->nwarnings; i++)
		if (strcmp(a->m->warnings[i].kind, kind) == 0)
			return a->m->warnings[i].count;
	return 0;
}

/* The same value, or missing where it should be. */
static inline bool is_near(double got, double want)
{
	return isnan(want) ? isnan(got) : fabs(got - want) <= 1e-12 * fabs(want);
}

static inline void check_near(double got, double want, const char *file, int line, const char *what)
{
	if (!tap_check(is_near(got, want), file, line, what))
		printf("# %s:%d: %.17g where %.17g was expected\n", file, line, got, want);
}
#define CHECK_NEAR(got, want) check_near((got), (want), __FILE__, __LINE__, #got)

/* Every metric has a value or is absent with a reason, and none is infinite. */
static inline bool is_whole(const struct rk_metrics *m)
{
	for (size_t i = 0; i < m->nmetrics; i++) {
		const struct rk_metric_value *v = &m->metrics[i];

		if (!isfinite(v->avg) || !isfinite(v->min) || !isfinite(v->max) ||
		    isinf(v->weighted) || isinf(v->median) || isinf(v->percent_of_peak) ||
		    !v->dispatches || !(v->min <= v->avg * (1 + 1e-12) || v->avg < 0))
			return false;
		for (size_t j = 0; j < m->nabsent; j++)
			if (strcmp(m->absent[j].id, v->id) == 0)
				return false;
	}
	for (size_t i = 0; i < m->nabsent; i++)
		if (!*m->absent[i].reason)
			return false;
	for (size_t i = 0; i < m->nkernels; i++)
		if (!*m->kernels[i].verdict.name || !*m->kernels[i].verdict.reason)
			return false;
	return true;
}

/* Both say the same in every cell. */
static inline bool same_values(const struct rk_metric_value *a, size_t na,
			       const struct rk_metric_value *b, size_t nb)
{
	bool same = na == nb;

	for (size_t i = 0; same && i < na; i++)
		same = strcmp(a[i].id, b[i].id) == 0 && a[i].dispatches == b[i].dispatches &&
		       is_near(a[i].avg, b[i].avg) && is_near(a[i].min, b[i].min) &&
		       is_near(a[i].max, b[i].max) && is_near(a[i].weighted, b[i].weighted) &&
		       is_near(a[i].median, b[i].median) && is_near(a[i].peak, b[i].peak);
	return same;
}

static inline bool same_answer(const struct rk_metrics *a, const struct rk_metrics *b)
{
	bool same = a->nkernels == b->nkernels && a->dispatches == b->dispatches &&
		    a->total_ns == b->total_ns && a->nflags == b->nflags &&
		    same_values(a->metrics, a->nmetrics, b->metrics, b->nmetrics);

	for (size_t i = 0; same && i < a->nflags; i++)
		same = strcmp(a->flags[i].kind, b->flags[i].kind) == 0 &&
		       a->flags[i].dispatches == b->flags[i].dispatches;
	for (size_t i = 0; same && i < a->nkernels; i++) {
		const struct rk_metric_kernel *x = &a->kernels[i], *y = &b->kernels[i];

		same = strcmp(x->name, y->name) == 0 && x->calls == y->calls &&
		       strcmp(x->verdict.name, y->verdict.name) == 0 &&
		       same_values(x->metrics, x->nmetrics, y->metrics, y->nmetrics);
	}
	return same;
}

#endif
