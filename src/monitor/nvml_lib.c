/* nvml_lib.c - see nvml_lib.h. */
#include "monitor/nvml_lib.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#include "monitor/sysfs.h"

#define LIBRARY "libnvidia-ml.so.1"

/* The names of each function, the newest first. */
static const struct {
	size_t at;
	const char *names[3];
} functions[] = {
	/* The first nvmlInit fails as a whole where one GPU does. */
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

static void *load(const char *root)
{
	char path[RK_SYSFS_PATH];

	if (!root || !root[0])
		return dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	rk_sysfs_path(path, root, "/usr/lib/" LIBRARY);
	/* With a slash in it the loader searches nowhere. */
	return strchr(path, '/') ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

static void resolve(struct rk_nvml *n)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *f = NULL;

		for (size_t k = 0; k < 3 && functions[i].names[k] && !f; k++)
			f = dlsym(n->lib, functions[i].names[k]);
		/* POSIX has functions and data in pointers of one size. */
		memcpy((char *)n + functions[i].at, &f, sizeof(f));
	}
}

int rk_nvml_open(struct rk_nvml *n, const char *root)
{
	int code;

	*n = (struct rk_nvml){ .lib = load(root) };
	if (!n->lib)
		return RK_NVML_NO_LIBRARY;
	resolve(n);
	code = RK_NVML_NO_FUNCTION;
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
	/* GPUs that share the memory of the host have none of their own to tell of. */
	*ret_code = RK_NVML_CALL(n, memory, d, &v1);
	*total = (double)v1.total;
	*used = (double)v1.used;
	return *ret_code == RK_NVML_SUCCESS && v1.total != 0;
}
