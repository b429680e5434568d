/* nvml_layout.c - our declarations of NVML against NVIDIA's header; compiling it is the test. */
#include <nvml.h>
#include <stddef.h>

#include "monitor/nvml.h"

#define SAME(ours, a, theirs, b)                                      \
	_Static_assert(offsetof(ours, a) == offsetof(theirs, b), #a); \
	_Static_assert(sizeof(((ours *)0)->a) == sizeof(((theirs *)0)->b), #a " is of another size")
#define EQUAL(a, b) _Static_assert((long)(a) == (long)(b), #a)

SAME(struct rk_nvml_pci, bus_id_legacy, nvmlPciInfo_t, busIdLegacy);
SAME(struct rk_nvml_pci, domain, nvmlPciInfo_t, domain);
SAME(struct rk_nvml_pci, bus, nvmlPciInfo_t, bus);
SAME(struct rk_nvml_pci, device, nvmlPciInfo_t, device);
SAME(struct rk_nvml_pci, ids, nvmlPciInfo_t, pciDeviceId);
SAME(struct rk_nvml_pci, bus_id, nvmlPciInfo_t, busId);
EQUAL(sizeof(struct rk_nvml_pci), sizeof(nvmlPciInfo_t));
SAME(struct rk_nvml_memory, total, nvmlMemory_t, total);
SAME(struct rk_nvml_memory, used, nvmlMemory_t, used);
EQUAL(sizeof(struct rk_nvml_memory), sizeof(nvmlMemory_t));
SAME(struct rk_nvml_memory2, version, nvmlMemory_v2_t, version);
SAME(struct rk_nvml_memory2, total, nvmlMemory_v2_t, total);
SAME(struct rk_nvml_memory2, reserved, nvmlMemory_v2_t, reserved);
SAME(struct rk_nvml_memory2, used, nvmlMemory_v2_t, used);
EQUAL(RK_NVML_STRUCT_VERSION(struct rk_nvml_memory2, 2), nvmlMemory_v2);
SAME(struct rk_nvml_utilization, gpu, nvmlUtilization_t, gpu);
EQUAL(sizeof(struct rk_nvml_utilization), sizeof(nvmlUtilization_t));
SAME(struct rk_nvml_temperature, sensor, nvmlTemperature_t, sensorType);
SAME(struct rk_nvml_temperature, temperature, nvmlTemperature_t, temperature);
EQUAL(RK_NVML_STRUCT_VERSION(struct rk_nvml_temperature, 1), nvmlTemperature_v1);
EQUAL(RK_NVML_NOT_SUPPORTED, NVML_ERROR_NOT_SUPPORTED);
EQUAL(RK_NVML_NO_PERMISSION, NVML_ERROR_NO_PERMISSION);
EQUAL(RK_NVML_DRIVER_NOT_LOADED, NVML_ERROR_DRIVER_NOT_LOADED);
EQUAL(RK_NVML_NO_LIBRARY, NVML_ERROR_LIBRARY_NOT_FOUND);
EQUAL(RK_NVML_NO_FUNCTION, NVML_ERROR_FUNCTION_NOT_FOUND);
EQUAL(RK_NVML_GPU_IS_LOST, NVML_ERROR_GPU_IS_LOST);
EQUAL(RK_NVML_RESET_REQUIRED, NVML_ERROR_RESET_REQUIRED);
EQUAL(RK_NVML_VERSION_MISMATCH, NVML_ERROR_LIB_RM_VERSION_MISMATCH);
EQUAL(RK_NVML_CLOCK_SM, NVML_CLOCK_SM);
EQUAL(RK_NVML_CLOCK_MEM, NVML_CLOCK_MEM);
EQUAL(RK_NVML_TEMPERATURE_GPU, NVML_TEMPERATURE_GPU);
_Static_assert((int)RK_NVML_UUID_BYTES >= NVML_DEVICE_UUID_V2_BUFFER_SIZE, "uuid");
_Static_assert((int)RK_NVML_NAME_BYTES >= NVML_DEVICE_NAME_V2_BUFFER_SIZE, "name");
_Static_assert((int)RK_NVML_VERSION_BYTES >= NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE, "version");
