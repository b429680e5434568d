/*
 * nvml.c - NVIDIA's management library: loading it, and sampling a GPU through it.
 *
 * A reading that the library refuses, or has no function for, is NAN. With MIG on, the library
 * reports no load, and power, energy, memory, clocks and temperature of the whole GPU: instances
 * do not have their own sensors.
 */
#include "monitor/nvml.h"

#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "monitor/sampler.h"
#include "monitor/sysfs.h"

/* ---- the library ---- */

#define LIBRARY "libnvidia-ml.so.1"

/* The names of each function, the newest first. */
static const struct {
	size_t at;
	const char *names[3];
} functions[] = {
	/* The old nvmlInit fails if a single GPU does. */
	{ offsetof(struct rk_nvml, init), { "nvmlInit_v2", "nvmlInit" } },
	{ offsetof(struct rk_nvml, shutdown), { "nvmlShutdown" } },
	{ offsetof(struct rk_nvml, driver_version), { "nvmlSystemGetDriverVersion" } },
	{ offsetof(struct rk_nvml, cuda_version),
	  { "nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion" } },
	{ offsetof(struct rk_nvml, count), { "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount" } },
	{ offsetof(struct rk_nvml, by_index),
	  { "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex" } },
	{ offsetof(struct rk_nvml, by_pci),
	  { "nvmlDeviceGetHandleByPciBusId_v2", "nvmlDeviceGetHandleByPciBusId" } },
	{ offsetof(struct rk_nvml, pci),
	  { "nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo" } },
	{ offsetof(struct rk_nvml, name), { "nvmlDeviceGetName" } },
	{ offsetof(struct rk_nvml, uuid), { "nvmlDeviceGetUUID" } },
	{ offsetof(struct rk_nvml, compute), { "nvmlDeviceGetCudaComputeCapability" } },
	{ offsetof(struct rk_nvml, mig), { "nvmlDeviceGetMigMode" } },
	{ offsetof(struct rk_nvml, persistence), { "nvmlDeviceGetPersistenceMode" } },
	{ offsetof(struct rk_nvml, power), { "nvmlDeviceGetPowerUsage" } },
	{ offsetof(struct rk_nvml, energy), { "nvmlDeviceGetTotalEnergyConsumption" } },
	{ offsetof(struct rk_nvml, memory), { "nvmlDeviceGetMemoryInfo" } },
	{ offsetof(struct rk_nvml, memory2), { "nvmlDeviceGetMemoryInfo_v2" } },
	{ offsetof(struct rk_nvml, utilization), { "nvmlDeviceGetUtilizationRates" } },
	{ offsetof(struct rk_nvml, clock), { "nvmlDeviceGetClockInfo" } },
	{ offsetof(struct rk_nvml, temperature), { "nvmlDeviceGetTemperature" } },
	{ offsetof(struct rk_nvml, temperature_v), { "nvmlDeviceGetTemperatureV" } },
};

int rk_nvml_open(struct rk_nvml *n, const char *root)
{
	char path[RK_SYSFS_PATH] = LIBRARY;
	int code = RK_NVML_NO_FUNCTION;

	if (root && root[0])
		rk_sysfs_path(path, root, "/usr/lib/" LIBRARY);
	*n = (struct rk_nvml){ 0 };
	/* A path with a slash keeps the loader from searching elsewhere. */
	if (!root || !root[0] || strchr(path, '/'))
		n->lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!n->lib)
		return RK_NVML_NO_LIBRARY;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *f = NULL;

		for (size_t k = 0; k < 3 && functions[i].names[k] && !f; k++)
			f = dlsym(n->lib, functions[i].names[k]);
		/* POSIX: pointers to functions and to data have the same size. */
		memcpy((char *)n + functions[i].at, &f, sizeof(f));
	}
	if (n->init && n->shutdown)
		code = n->init();
	if (code == RK_NVML_SUCCESS)
		return 0;
	dlclose(n->lib);
	*n = (struct rk_nvml){ 0 };
	return code;
}

void rk_nvml_close(struct rk_nvml *n)
{
	if (!n->lib)
		return;
	n->shutdown();
	dlclose(n->lib);
	*n = (struct rk_nvml){ 0 };
}

bool rk_nvml_memory(const struct rk_nvml *n, struct rk_nvml_device *d, double *total, double *used,
		    int *ret_code)
{
	struct rk_nvml_memory2 v2 = { .version =
					      RK_NVML_STRUCT_VERSION(struct rk_nvml_memory2, 2) };
	struct rk_nvml_memory v1 = { 0 };

	*ret_code = RK_NVML_CALL(n, memory2, d, &v2);
	if (*ret_code == RK_NVML_SUCCESS) {
		*total = (double)v2.total;
		*used = (double)v2.used;
		return v2.total != 0;
	}
	/* A GPU that shares the host's memory reports a total of 0. */
	*ret_code = RK_NVML_CALL(n, memory, d, &v1);
	*total = (double)v1.total;
	*used = (double)v1.used;
	return *ret_code == RK_NVML_SUCCESS && v1.total != 0;
}

/* ---- sampling ---- */

/*
 * The energy counter has no timestamp and is updated only every tenth of a second or so: the closer
 * two readings are, the larger is the error of the power between them. For shorter times we use the
 * driver's own power, which on most chips is a mean over a second.
 */
static const int64_t least_mean_ns = 1000000000;
/* Above this, the counter has jumped. */
static const double most_watts = 5000;

struct nvml {
	struct rk_monitor_source base;
	struct rk_nvml lib; /* lib.lib NULL: none */
	struct rk_nvml_device *device;
	unsigned want;
	bool lost;
	/* The last reading of the energy counter. */
	double energy_j;
	int64_t at_ns;
	bool begun;
};

static bool nvml_takes(const struct rk_gpu *gpu)
{
	return strcmp(gpu->vendor, "NVIDIA") == 0;
}

/* v, or NAN if the call failed. A lost GPU stays lost until the machine restarts. */
static double given(struct nvml *g, int code, double v)
{
	if (code == RK_NVML_GPU_IS_LOST)
		g->lost = true;
	return code == RK_NVML_SUCCESS ? v : (double)NAN;
}

static double unless_zero(double v)
{
	return v > 0 ? v : (double)NAN;
}

/* Power is the mean since the last reading if that is known, else what the driver reports. */
static void read_power(struct nvml *g, struct rk_readings *ret)
{
	unsigned long long mj = 0;
	unsigned mw = 0;
	int code = RK_NVML_CALL(&g->lib, energy, g->device, &mj);
	double energy_j = unless_zero(given(g, code, (double)mj / 1e3));
	int64_t now = rk_clock_steady_ns(), time = now - g->at_ns;
	double watts = (energy_j - g->energy_j) * 1e9 / (double)time;
	bool known = g->begun && time >= least_mean_ns && watts > 0 && watts <= most_watts;

	g->begun = !isnan(energy_j);
	g->energy_j = energy_j;
	g->at_ns = now;
	if (!known) {
		code = RK_NVML_CALL(&g->lib, power, g->device, &mw);
		watts = unless_zero(given(g, code, (double)mw / 1e3));
	}
	ret->v[RK_READ_ENERGY] = energy_j;
	ret->v[RK_READ_POWER] = watts;
}

static void read_memory(struct nvml *g, struct rk_readings *ret)
{
	double total, used;
	int code;

	if (rk_nvml_memory(&g->lib, g->device, &total, &used, &code)) {
		ret->v[RK_READ_VRAM_TOTAL] = total;
		ret->v[RK_READ_VRAM_USED] = used;
	}
	given(g, code, 0);
}

static void read_busy(struct nvml *g, struct rk_readings *ret)
{
	struct rk_nvml_utilization u = { 0 };
	int code = RK_NVML_CALL(&g->lib, utilization, g->device, &u);

	if (u.gpu <= 100)
		ret->v[RK_READ_BUSY] = given(g, code, u.gpu);
}

static void read_clocks(struct nvml *g, struct rk_readings *ret)
{
	unsigned sm = 0, mem = 0;
	int code = RK_NVML_CALL(&g->lib, clock, g->device, RK_NVML_CLOCK_SM, &sm);

	ret->v[RK_READ_SCLK] = given(g, code, sm);
	code = RK_NVML_CALL(&g->lib, clock, g->device, RK_NVML_CLOCK_MEM, &mem);
	ret->v[RK_READ_MCLK] = given(g, code, mem);
}

/* The newer call first: NVIDIA has deprecated the other. */
static void read_temperature(struct nvml *g, struct rk_readings *ret)
{
	struct rk_nvml_temperature t = { .version = RK_NVML_STRUCT_VERSION(t, 1),
					 .sensor = RK_NVML_TEMPERATURE_GPU };
	unsigned old = 0;
	int code = RK_NVML_CALL(&g->lib, temperature_v, g->device, &t);
	double v = given(g, code, t.temperature);

	if (isnan(v)) {
		code = RK_NVML_CALL(&g->lib, temperature, g->device, t.sensor, &old);
		v = given(g, code, old);
	}
	ret->v[RK_READ_TEMP] = v;
}

/* Each part calls the driver, so we read only the parts that are wanted. */
static const struct part {
	unsigned readings;
	void (*read)(struct nvml *g, struct rk_readings *ret);
} parts[] = {
	{ 1u << RK_READ_POWER | 1u << RK_READ_ENERGY, read_power },
	{ 1u << RK_READ_VRAM_USED | 1u << RK_READ_VRAM_TOTAL, read_memory },
	{ 1u << RK_READ_BUSY, read_busy },
	{ 1u << RK_READ_SCLK | 1u << RK_READ_MCLK, read_clocks },
	{ 1u << RK_READ_TEMP, read_temperature },
};

static void nvml_read(struct rk_monitor_source *s, struct rk_readings *ret)
{
	struct nvml *g = (struct nvml *)s;

	for (unsigned i = 0; i < RK_NREADINGS; i++)
		ret->v[i] = (double)NAN;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (g->device && !g->lost && parts[i].readings & g->want)
			parts[i].read(g, ret);
	for (unsigned i = 0; i < RK_NREADINGS; i++)
		if (!(g->want >> i & 1))
			ret->v[i] = (double)NAN;
}

static bool nvml_lost(const struct rk_monitor_source *s)
{
	return ((const struct nvml *)s)->lost;
}

static void nvml_close(struct rk_monitor_source *s)
{
	struct nvml *g = (struct nvml *)s;

	rk_nvml_close(&g->lib);
	rk_free(g);
}

static int nvml_open(const char *root, const struct rk_gpu *gpu, unsigned want,
		     struct rk_monitor_source **ret, struct rk_error *err)
{
	struct nvml *g = rk_calloc(1, sizeof(*g));

	if (!g)
		return rk_fail_nomem(err);
	g->base.ops = &rk_monitor_nvml;
	g->want = want;
	if (rk_nvml_open(&g->lib, root) == 0 &&
	    RK_NVML_CALL(&g->lib, by_pci, gpu->pci, &g->device) != RK_NVML_SUCCESS)
		g->device = NULL;
	*ret = &g->base;
	return 0;
}

const struct rk_monitor_ops rk_monitor_nvml = {
	.name = "nvml",
	.takes = nvml_takes,
	.open = nvml_open,
	.read = nvml_read,
	.lost = nvml_lost,
	.close = nvml_close,
};
