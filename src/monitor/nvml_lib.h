/* nvml_lib.h - NVML found, loaded and begun; functions that it lacks are NULL. */
#ifndef RK_NVML_LIB_H
#define RK_NVML_LIB_H

#include <stdbool.h>
#include <stddef.h>

#include "monitor/nvml_abi.h"

struct rk_nvml {
	void *lib;
	int (*init)(void);
	int (*shutdown)(void);
	int (*driver_version)(char *text, unsigned size);
	int (*cuda_version)(int *ret); /* 13000 is CUDA 13.0 */
	int (*count)(unsigned *ret);
	int (*by_index)(unsigned i, struct rk_nvml_device **ret);
	int (*by_pci)(const char *address, struct rk_nvml_device **ret);
	int (*pci)(struct rk_nvml_device *d, struct rk_nvml_pci *ret);
	int (*name)(struct rk_nvml_device *d, char *text, unsigned size);
	int (*uuid)(struct rk_nvml_device *d, char *text, unsigned size);
	int (*compute)(struct rk_nvml_device *d, int *major, int *minor);
	int (*mig)(struct rk_nvml_device *d, unsigned *now, unsigned *pending);
	int (*persistence)(struct rk_nvml_device *d, unsigned *ret);
	int (*power)(struct rk_nvml_device *d, unsigned *ret_mw);
	int (*energy)(struct rk_nvml_device *d, unsigned long long *ret_mj);
	int (*memory)(struct rk_nvml_device *d, struct rk_nvml_memory *ret);
	int (*memory2)(struct rk_nvml_device *d, struct rk_nvml_memory2 *ret);
	int (*utilization)(struct rk_nvml_device *d, struct rk_nvml_utilization *ret);
	int (*clock)(struct rk_nvml_device *d, unsigned kind, unsigned *ret_mhz);
	int (*temperature)(struct rk_nvml_device *d, unsigned sensor, unsigned *ret);
	int (*temperature_v)(struct rk_nvml_device *d, struct rk_nvml_temperature *ret);
};

/* A call of one of them: RK_NVML_NO_FUNCTION where the library has none. */
#define RK_NVML_CALL(n, f, ...) ((n)->f ? (n)->f(__VA_ARGS__) : (int)RK_NVML_NO_FUNCTION)

/*
 * Loads libnvidia-ml.so.1 where the loader finds it; under a `root` of tests, from its /usr/lib and
 * nowhere else. May be open several times: both the loader and the library count. Returns 0 or the
 * library's code, RK_NVML_NO_LIBRARY for none; then nothing is open and close is not needed.
 */
int rk_nvml_open(struct rk_nvml *n, const char *root);
void rk_nvml_close(struct rk_nvml *n); /* nothing for one that is not open */

/* The memory of a device in bytes; false, and nothing, when it does not say. */
bool rk_nvml_memory(const struct rk_nvml *n, struct rk_nvml_device *d, double *total, double *used,
		    int *ret_code);

#endif
