/* doctor_gpus.c - AMD's GPUs: known to the driver, their power level. */
#include <stdio.h>
#include <string.h>

#include "doctor/doctor_impl.h"

enum { LINE_BYTES = 256, PATH_BYTES = 128 };

/* gfx10, gfx11 and gfx12 are RDNA, but gfx125x is not. */
static bool is_rdna(const char *gfx)
{
	return strncmp(gfx, "gfx1", 4) == 0 && strlen(gfx) == 7 && strncmp(gfx, "gfx125", 6) != 0;
}

static size_t count_compute(const struct rk_look *l)
{
	const struct rk_gpu *gpu;
	size_t n = 0;

	for (size_t i = 0; (gpu = rk_look_amd(l, i)) != NULL; i++)
		n += gpu->kfd_node >= 0;
	return n;
}

/* amdgpu drives more chips than ROCm computes on. */
static void look_at_topology(struct rk_look *l)
{
	enum rk_doctor_status status = count_compute(l) ? RK_DOCTOR_INFO : RK_DOCTOR_BAD;
	const struct rk_gpu *gpu;

	if (!rk_look_exists(l, "/sys/module/amdgpu"))
		return;
	for (size_t i = 0; (gpu = rk_look_amd(l, i)) != NULL; i++)
		if (gpu->kfd_node < 0)
			rk_look_say(l, "not-compute", status, gpu->pci[0] ? gpu->pci : "GPU",
				    "GPU %d (%s) is not among the driver's compute devices: ROCm "
				    "does not see it",
				    gpu->index, gpu->name);
}

struct levels {
	size_t gated, forced; /* GPUs whose counters may read 0; GPUs with other fixed clocks */
	char gated_level[LINE_BYTES], forced_level[LINE_BYTES]; /* of the first of each */
};

/* "profile_standard" and its like keep the clocks on: what amd-smi calls STABLE_STD. */
static void sort_level(const struct rk_gpu *gpu, const char *level, struct levels *all)
{
	bool stable = strncmp(level, "profile_", strlen("profile_")) == 0;

	if (is_rdna(gpu->gfx) && !stable) {
		if (all->gated++ == 0)
			memcpy(all->gated_level, level, strlen(level) + 1);
	} else if (strcmp(level, "auto") != 0 && all->forced++ == 0) {
		memcpy(all->forced_level, level, strlen(level) + 1);
	}
}

static void read_levels(struct rk_look *l, struct levels *all)
{
	char path[PATH_BYTES], level[LINE_BYTES];
	const struct rk_gpu *gpu;

	for (size_t i = 0; (gpu = rk_look_amd(l, i)) != NULL; i++) {
		if (gpu->card < 0)
			continue;
		snprintf(path, sizeof(path),
			 "/sys/class/drm/card%d/device/power_dpm_force_performance_level",
			 gpu->card);
		if (rk_look_line(l, path, level, sizeof(level)))
			sort_level(gpu, level, all);
	}
}

static void look_at_power_levels(struct rk_look *l)
{
	struct levels all = { 0 };

	read_levels(l, &all);
	if (all.gated) {
		rk_look_say(l, "power-level", RK_DOCTOR_WARN, "power level",
			    "hardware counters of %zu RDNA GPU%s may read 0 while the power level "
			    "is '%s'",
			    all.gated, all.gated == 1 ? "" : "s", all.gated_level);
		rk_look_advise(l, "for counters: sudo amd-smi set --gpu all --perf-level "
				  "STABLE_STD; afterwards the same with AUTO");
	}
	if (all.forced)
		rk_look_say(l, "power-level", RK_DOCTOR_INFO, "power level",
			    "clocks of %zu GPU%s are fixed ('%s'): times differ from everyday ones",
			    all.forced, all.forced == 1 ? "" : "s", all.forced_level);
}

void rk_look_gpus(struct rk_look *l)
{
	look_at_topology(l);
	look_at_power_levels(l);
}
