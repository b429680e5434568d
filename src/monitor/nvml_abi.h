/*
 * nvml_abi.h - the part of NVIDIA's management library (NVML, libnvidia-ml.so.1) that we call.
 *
 * The library comes with the driver and is loaded when it is there, so nothing of CUDA is needed to
 * build. Names of functions are those it exports; a function with a version (_v2) replaces the one
 * without, which older drivers have. tests/sim/nvml/nvml_layout.py holds this against NVIDIA's header.
 */
#ifndef RK_NVML_ABI_H
#define RK_NVML_ABI_H

/* What a call returns (nvmlReturn_t); all others are errors, too. */
enum rk_nvml_code {
	RK_NVML_SUCCESS = 0,
	RK_NVML_NOT_SUPPORTED = 3,
	RK_NVML_NO_PERMISSION = 4,
	RK_NVML_DRIVER_NOT_LOADED = 9,
	RK_NVML_NO_LIBRARY = 12,
	RK_NVML_NO_FUNCTION = 13,
	RK_NVML_GPU_IS_LOST = 15,
	RK_NVML_RESET_REQUIRED = 16,
	RK_NVML_VERSION_MISMATCH =
		18, /* the library is of another release than the kernel's part */
};

enum { RK_NVML_CLOCK_SM = 1, RK_NVML_CLOCK_MEM = 2 }; /* nvmlClockType_t */
enum { RK_NVML_TEMPERATURE_GPU = 0 };                 /* nvmlTemperatureSensors_t */

/* Buffers for names; the library cuts nothing off, it refuses those that are too small. */
enum { RK_NVML_NAME_BYTES = 96, RK_NVML_UUID_BYTES = 96, RK_NVML_VERSION_BYTES = 80 };

struct rk_nvml_device; /* opaque */

/* nvmlPciInfo_t; the second and first version of the call fill all but the last member. */
struct rk_nvml_pci {
	char bus_id_legacy[16];
	unsigned domain, bus, device;
	unsigned ids; /* device << 16 | vendor */
	unsigned subsystem;
	char bus_id[32];
};

/* nvmlMemory_t: bytes; `used` has what the driver keeps for itself in it. */
struct rk_nvml_memory {
	unsigned long long total, free, used;
};

/* nvmlMemory_v2_t: `used` is what programs have. */
struct rk_nvml_memory2 {
	unsigned version;
	unsigned long long total, reserved, free, used;
};

/* nvmlUtilization_t: percent of the time since the driver's last look. */
struct rk_nvml_utilization {
	unsigned gpu, memory;
};

/* nvmlTemperature_v1_t */
struct rk_nvml_temperature {
	unsigned version, sensor;
	int temperature;
};

/* What a versioned struct begins with. */
#define RK_NVML_STRUCT_VERSION(type, n) ((unsigned)(sizeof(type) | (unsigned)(n) << 24))

#endif
