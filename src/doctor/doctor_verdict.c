/* doctor_verdict.c - all checks in one sentence: can `rockit run` profile here. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "doctor/doctor_impl.h"

enum { LINE_BYTES = 1024, KIND_BYTES = 160 };

static const struct rk_doctor_check *first_bad(const struct rk_doctor *d)
{
	for (size_t i = 0; i < d->nchecks; i++)
		if (d->checks[i].status == RK_DOCTOR_BAD)
			return &d->checks[i];
	return NULL;
}

/* GPUs are told apart by target, or by name where no driver gives a target. */
static const char *kind_of(const struct rk_gpu *gpu)
{
	return gpu->gfx[0] ? gpu->gfx : gpu->name;
}

static bool is_of(const struct rk_gpu *gpu, const char *vendor)
{
	return strcmp(gpu->vendor, vendor) == 0;
}

/* How many GPUs of a vendor are of the kind of GPU i; 0 when one before it is. */
static size_t count_like(const struct rk_gpus *g, size_t i, const char *vendor)
{
	size_t n = 0;

	for (size_t k = 0; k < g->n; k++) {
		bool same = is_of(&g->gpus[k], vendor) &&
			    strcmp(kind_of(&g->gpus[k]), kind_of(&g->gpus[i])) == 0;

		if (same && k < i)
			return 0;
		n += same;
	}
	return n;
}

/* "8 x gfx942", "gfx1100 and 2 x gfx90a"; three kinds at most, then "and others". */
static void name_gpus(const struct rk_look *l, const char *vendor, char *out, size_t size)
{
	const struct rk_gpus *g = &l->d->gpus;
	size_t len = 0, n;
	unsigned kinds = 0;

	out[0] = '\0';
	for (size_t i = 0; i < g->n && len < size; i++) {
		n = is_of(&g->gpus[i], vendor) ? count_like(g, i, vendor) : 0;
		if (!n)
			continue;
		if (++kinds > 3) {
			snprintf(out + len, size - len, " and others");
			return;
		}
		len += (size_t)snprintf(out + len, size - len, "%s%zu x %s",
					kinds > 1 ? " and " : "", n, kind_of(&g->gpus[i]));
	}
}

/* "rocprofv3 7.0.2": by its ROCm release where that is known, else by its own number. */
static void name_tool(const struct rk_tool_found *t, char *out, size_t size)
{
	const char *version = t->rocm[0] ? t->rocm : t->version;

	snprintf(out, size, "%s%s%s", t->name, version[0] ? " " : "", version);
}

/* Where there is no AMD GPU, what else can be done. */
static bool judge_others(const struct rk_look *l, const char *tool, char *out, size_t size)
{
	const struct rk_doctor_check *bad = first_bad(l->d);
	char gpus[KIND_BYTES];

	name_gpus(l, "NVIDIA", gpus, sizeof(gpus));
	if (l->cupti && bad)
		snprintf(out, size, "not ready: %s", bad->text);
	else if (l->cupti)
		snprintf(out, size, "ready: rockit run traces CUDA programs on %s itself",
			 gpus[0] ? gpus : "NVIDIA's GPUs");
	else if (l->opencl)
		snprintf(out, size,
			 "ready for OpenCL programs: no AMD GPU here, so rockit run traces OpenCL "
			 "itself; it plans runs for other machines, too (rockit run --dry-run)");
	else if (tool[0])
		snprintf(out, size,
			 "not ready: %s is here, but no AMD GPU; rockit reads and converts files, "
			 "and plans runs (rockit run --dry-run)",
			 tool);
	else if (gpus[0])
		snprintf(
			out, size,
			"no AMD GPU here: for NVIDIA's, profile with nsys; rockit reads what 'nsys "
			"export --type sqlite' writes");
	else
		snprintf(out, size,
			 "no AMD GPU and no profiler here: rockit reads and converts files, and "
			 "plans runs for other machines (rockit run --dry-run)");
	return l->cupti ? !bad : l->opencl;
}

static bool judge(const struct rk_look *l, char *out, size_t size)
{
	const struct rk_doctor_check *bad = first_bad(l->d);
	const struct rk_tool_found *best = rk_look_best(l);
	char gpus[KIND_BYTES], tool[KIND_BYTES] = "";

	name_gpus(l, "AMD", gpus, sizeof(gpus));
	if (best)
		name_tool(best, tool, sizeof(tool));
	if (!gpus[0])
		return judge_others(l, tool, out, size);
	if (bad)
		snprintf(out, size, "not ready: %s", bad->text);
	else
		snprintf(out, size, "ready: rockit run uses %s on %s", tool, gpus);
	return !bad;
}

void rk_look_verdict(struct rk_look *l)
{
	char text[LINE_BYTES];

	l->d->ready = judge(l, text, sizeof(text));
	l->d->verdict = rk_strdup(text);
	l->bad |= !l->d->verdict;
}
