/*
 * nvml.h - the part of NVIDIA's management library (NVML, libnvidia-ml.so.1) that we call.
 *
 * The library comes with the driver and is loaded at run time, so the build does not need CUDA. A
 * function with a version (_v2) replaces the one without, which older drivers have.
 * tests/sim/nvml/nvml_layout.py compares this file with NVIDIA's header.
 */
#ifndef RK_NVML_H
#define RK_NVML_H

#include <stdbool.h>

/* What a call returns (nvmlReturn_t); all others are also errors. */
enum rk_nvml_code {
	RK_NVML_SUCCESS = 0,
	RK_NVML_NOT_SUPPORTED = 3,
	RK_NVML_NO_PERMISSION = 4,
	RK_NVML_DRIVER_NOT_LOADED = 9,
	RK_NVML_NO_LIBRARY = 12,
	RK_NVML_NO_FUNCTION = 13,
	RK_NVML_GPU_IS_LOST = 15,
	RK_NVML_RESET_REQUIRED = 16,
	RK_NVML_VERSION_MISMATCH = 18, /* the library and the kernel module differ in release */
};

enum { RK_NVML_CLOCK_SM = 1, RK_NVML_CLOCK_MEM = 2 }; /* nvmlClockType_t */
enum { RK_NVML_TEMPERATURE_GPU = 0 };                 /* nvmlTemperatureSensors_t */

/* Buffers for names; the library refuses a buffer that is too small. */
enum { RK_NVML_NAME_BYTES = 96, RK_NVML_UUID_BYTES = 96, RK_NVML_VERSION_BYTES = 80 };

struct rk_nvml_device; /* opaque */

/* nvmlPciInfo_t; versions 1 and 2 of the call do not fill the last member. */
struct rk_nvml_pci {
	char bus_id_legacy[16];
	unsigned domain, bus, device;
	unsigned ids; /* device << 16 | vendor */
	unsigned subsystem;
	char bus_id[32];
};

/* nvmlMemory_t: bytes; `used` includes what the driver reserves. */
struct rk_nvml_memory {
	unsigned long long total, free, used;
};

/* nvmlMemory_v2_t: `used` is what programs use. */
struct rk_nvml_memory2 {
	unsigned version;
	unsigned long long total, reserved, free, used;
};

/* nvmlUtilization_t: percent of the driver's last sampling period. */
struct rk_nvml_utilization {
	unsigned gpu, memory;
};

/* nvmlTemperature_v1_t */
struct rk_nvml_temperature {
	unsigned version, sensor;
	int temperature;
};

/* The first member of a versioned struct. */
#define RK_NVML_STRUCT_VERSION(type, n) ((unsigned)(sizeof(type) | (unsigned)(n) << 24))

/* The loaded library; functions that it lacks are NULL. */
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

/* Calls a function; RK_NVML_NO_FUNCTION if the library lacks it. */
#define RK_NVML_CALL(n, f, ...) ((n)->f ? (n)->f(__VA_ARGS__) : (int)RK_NVML_NO_FUNCTION)

/*
 * Loads libnvidia-ml.so.1 and starts it; with a `root` (for tests) only from its /usr/lib. May be
 * open several times. Returns 0 or the library's code, RK_NVML_NO_LIBRARY if there is no library; on
 * failure nothing needs closing.
 */
int rk_nvml_open(struct rk_nvml *n, const char *root);
void rk_nvml_close(struct rk_nvml *n); /* does nothing if it is not open */

/* The memory of a device in bytes; false if the device does not report it. */
bool rk_nvml_memory(const struct rk_nvml *n, struct rk_nvml_device *d, double *total, double *used,
		    int *ret_code);

#endif
