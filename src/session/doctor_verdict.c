/* doctor_verdict.c - all checks in one sentence: can `rockit run` profile here. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "session/doctor_impl.h"

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

/* "8 x gfx942", "gfx1100 and 2 x gfx90a"; three kinds at most, then "and others". */
static void name_gpus(const struct rk_look *l, char *out, size_t size)
{
	size_t len = 0;
	unsigned kinds = 0;
	const struct rk_gpu *gpu, *other;

	for (size_t i = 0; (gpu = rk_look_amd(l, i)) != NULL && len < size; i++) {
		size_t before = 0, n = 0;

		for (size_t k = 0; (other = rk_look_amd(l, k)) != NULL; k++) {
			bool same = strcmp(kind_of(gpu), kind_of(other)) == 0;

			before += same && k < i;
			n += same;
		}
		if (before)
			continue;
		if (++kinds > 3) {
			snprintf(out + len, size - len, " and others");
			return;
		}
		len += (size_t)snprintf(out + len, size - len, "%s%zu x %s",
					kinds > 1 ? " and " : "", n, kind_of(gpu));
	}
}

/* "rocprofv3 7.0.2": by its ROCm release where that is known, else by its own number. */
static void name_tool(const struct rk_tool_found *t, char *out, size_t size)
{
	const char *version = t->rocm[0] ? t->rocm : t->version;

	snprintf(out, size, "%s%s%s", t->name, version[0] ? " " : "", version);
}

static void judge(const struct rk_look *l, char *out, size_t size)
{
	const struct rk_doctor_check *bad = first_bad(l->d);
	const struct rk_tool_found *best = rk_look_best(l);
	char gpus[KIND_BYTES] = "", tool[KIND_BYTES] = "";

	name_gpus(l, gpus, sizeof(gpus));
	if (best)
		name_tool(best, tool, sizeof(tool));
	if (gpus[0] && bad)
		snprintf(out, size, "not ready: %s", bad->text);
	else if (gpus[0])
		snprintf(out, size, "ready: rockit run uses %s on %s", tool, gpus);
	else if (l->opencl)
		snprintf(out, size,
			 "ready for OpenCL programs: no AMD GPU here, so rockit run traces OpenCL "
			 "itself; it plans runs for other machines, too (rockit run --dry-run)");
	else if (best)
		snprintf(out, size,
			 "not ready: %s is here, but no AMD GPU; rockit reads and converts files, "
			 "and plans runs (rockit run --dry-run)",
			 tool);
	else if (rk_look_count(l, "NVIDIA"))
		snprintf(
			out, size,
			"no AMD GPU here: for NVIDIA's, profile with nsys; rockit reads what 'nsys "
			"export --type sqlite' writes");
	else
		snprintf(out, size,
			 "no AMD GPU and no profiler here: rockit reads and converts files, and "
			 "plans runs for other machines (rockit run --dry-run)");
	l->d->ready = gpus[0] ? !bad : l->opencl;
}

void rk_look_verdict(struct rk_look *l)
{
	char text[LINE_BYTES];

	judge(l, text, sizeof(text));
	l->d->verdict = rk_strdup(text);
	l->bad |= !l->d->verdict;
}
