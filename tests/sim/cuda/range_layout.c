/* range_layout.c - our declarations of CUPTI's range profiler against NVIDIA's; compiling it is the test. */
#include <stdbool.h> /* NVIDIA's of 13.1 rely on it */

#include <cuda.h>
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_target.h>

#include "cup_launch_abi.h"
#include "cupti_range_abi.h"

#define SAME(ours, a, theirs, b)                                                   \
	_Static_assert(offsetof(ours, a) == offsetof(theirs, b), #theirs ": " #b); \
	_Static_assert(sizeof(((ours *)0)->a) == sizeof(((theirs *)0)->b), #theirs ": size of " #b)
#define EQUAL(a, b) _Static_assert((long)(a) == (long)(b), #b)
/* They may know more than we, never less. */
#define SIZED(ours, last, theirs) \
	_Static_assert(CUPTI_RANGE_BYTES(ours, last) <= theirs##_STRUCT_SIZE, #theirs)

SAME(struct cupti_chip_params, device, CUpti_Device_GetChipName_Params, deviceIndex);
SAME(struct cupti_chip_params, name, CUpti_Device_GetChipName_Params, pChipName);
SIZED(struct cupti_init_params, priv, CUpti_Profiler_Initialize_Params);
SAME(struct cupti_availability_params, context, CUpti_Profiler_GetCounterAvailability_Params, ctx);
SAME(struct cupti_availability_params, image_bytes, CUpti_Profiler_GetCounterAvailability_Params,
     counterAvailabilityImageSize);
SAME(struct cupti_availability_params, image, CUpti_Profiler_GetCounterAvailability_Params,
     pCounterAvailabilityImage);
SAME(struct cupti_host_init_params, type, CUpti_Profiler_Host_Initialize_Params, profilerType);
SAME(struct cupti_host_init_params, chip, CUpti_Profiler_Host_Initialize_Params, pChipName);
SAME(struct cupti_host_init_params, availability, CUpti_Profiler_Host_Initialize_Params,
     pCounterAvailabilityImage);
SAME(struct cupti_host_init_params, host, CUpti_Profiler_Host_Initialize_Params, pHostObject);
SAME(struct cupti_host_end_params, host, CUpti_Profiler_Host_Deinitialize_Params, pHostObject);
SAME(struct cupti_add_params, host, CUpti_Profiler_Host_ConfigAddMetrics_Params, pHostObject);
SAME(struct cupti_add_params, names, CUpti_Profiler_Host_ConfigAddMetrics_Params, ppMetricNames);
SAME(struct cupti_add_params, n, CUpti_Profiler_Host_ConfigAddMetrics_Params, numMetrics);
SAME(struct cupti_config_size_params, config_bytes, CUpti_Profiler_Host_GetConfigImageSize_Params,
     configImageSize);
SAME(struct cupti_config_params, config_bytes, CUpti_Profiler_Host_GetConfigImage_Params,
     configImageSize);
SAME(struct cupti_config_params, config, CUpti_Profiler_Host_GetConfigImage_Params, pConfigImage);
SAME(struct cupti_passes_params, config, CUpti_Profiler_Host_GetNumOfPasses_Params, pConfigImage);
SAME(struct cupti_passes_params, passes, CUpti_Profiler_Host_GetNumOfPasses_Params, numOfPasses);
SAME(struct cupti_evaluate_params, host, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
     pHostObject);
SAME(struct cupti_evaluate_params, image, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
     pCounterDataImage);
SAME(struct cupti_evaluate_params, image_bytes, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
     counterDataImageSize);
SAME(struct cupti_evaluate_params, range, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
     rangeIndex);
SAME(struct cupti_evaluate_params, names, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
     ppMetricNames);
SAME(struct cupti_evaluate_params, n, CUpti_Profiler_Host_EvaluateToGpuValues_Params, numMetrics);
SAME(struct cupti_evaluate_params, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
     pMetricValues);
SAME(struct cupti_enable_params, context, CUpti_RangeProfiler_Enable_Params, ctx);
SAME(struct cupti_enable_params, profiler, CUpti_RangeProfiler_Enable_Params, pRangeProfilerObject);
SAME(struct cupti_profiler_params, profiler, CUpti_RangeProfiler_Disable_Params,
     pRangeProfilerObject);
SAME(struct cupti_profiler_params, profiler, CUpti_RangeProfiler_Start_Params,
     pRangeProfilerObject);
SAME(struct cupti_set_params, profiler, CUpti_RangeProfiler_SetConfig_Params, pRangeProfilerObject);
SAME(struct cupti_set_params, config_bytes, CUpti_RangeProfiler_SetConfig_Params, configSize);
SAME(struct cupti_set_params, config, CUpti_RangeProfiler_SetConfig_Params, pConfig);
SAME(struct cupti_set_params, image_bytes, CUpti_RangeProfiler_SetConfig_Params,
     counterDataImageSize);
SAME(struct cupti_set_params, image, CUpti_RangeProfiler_SetConfig_Params, pCounterDataImage);
SAME(struct cupti_set_params, range, CUpti_RangeProfiler_SetConfig_Params, range);
SAME(struct cupti_set_params, replay, CUpti_RangeProfiler_SetConfig_Params, replayMode);
SAME(struct cupti_set_params, ranges_per_pass, CUpti_RangeProfiler_SetConfig_Params,
     maxRangesPerPass);
SAME(struct cupti_set_params, levels, CUpti_RangeProfiler_SetConfig_Params, numNestingLevels);
SAME(struct cupti_set_params, least_level, CUpti_RangeProfiler_SetConfig_Params, minNestingLevel);
SAME(struct cupti_set_params, pass, CUpti_RangeProfiler_SetConfig_Params, passIndex);
SAME(struct cupti_set_params, target_level, CUpti_RangeProfiler_SetConfig_Params,
     targetNestingLevel);
SIZED(struct cupti_set_params, target_level, CUpti_RangeProfiler_SetConfig_Params);
SAME(struct cupti_stop_params, pass, CUpti_RangeProfiler_Stop_Params, passIndex);
SAME(struct cupti_stop_params, level, CUpti_RangeProfiler_Stop_Params, targetNestingLevel);
SAME(struct cupti_stop_params, all, CUpti_RangeProfiler_Stop_Params, isAllPassSubmitted);
SAME(struct cupti_decode_params, dropped, CUpti_RangeProfiler_DecodeData_Params, numOfRangeDropped);
SAME(struct cupti_image_size_params, names, CUpti_RangeProfiler_GetCounterDataSize_Params,
     pMetricNames);
SAME(struct cupti_image_size_params, n, CUpti_RangeProfiler_GetCounterDataSize_Params, numMetrics);
SAME(struct cupti_image_size_params, ranges, CUpti_RangeProfiler_GetCounterDataSize_Params,
     maxNumOfRanges);
SAME(struct cupti_image_size_params, nodes, CUpti_RangeProfiler_GetCounterDataSize_Params,
     maxNumRangeTreeNodes);
SAME(struct cupti_image_size_params, image_bytes, CUpti_RangeProfiler_GetCounterDataSize_Params,
     counterDataSize);
SAME(struct cupti_image_params, image_bytes, CUpti_RangeProfiler_CounterDataImage_Initialize_Params,
     counterDataSize);
SAME(struct cupti_image_params, image, CUpti_RangeProfiler_CounterDataImage_Initialize_Params,
     pCounterData);
SAME(struct cupti_info_params, image, CUpti_RangeProfiler_GetCounterDataInfo_Params,
     pCounterDataImage);
SAME(struct cupti_info_params, image_bytes, CUpti_RangeProfiler_GetCounterDataInfo_Params,
     counterDataImageSize);
SAME(struct cupti_info_params, ranges, CUpti_RangeProfiler_GetCounterDataInfo_Params,
     numTotalRanges);
EQUAL(CUPTI_RANGE_AUTO, CUPTI_AutoRange);
EQUAL(CUPTI_REPLAY_KERNEL, CUPTI_KernelReplay);
EQUAL(CUPTI_HOST_RANGE_PROFILER, CUPTI_PROFILER_TYPE_RANGE_PROFILER);
EQUAL(CUPTI_RANGE_INVALID_METRIC, CUPTI_ERROR_INVALID_METRIC_NAME);
EQUAL(CUPTI_RANGE_NOT_SUPPORTED, CUPTI_ERROR_NOT_SUPPORTED);
EQUAL(CUPTI_RANGE_VIRTUALIZED, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
EQUAL(CUPTI_RANGE_NO_PRIVILEGE, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
EQUAL(CUPTI_RANGE_VIRTUAL_NO_PRIVILEGE, CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
EQUAL(CUPTI_RANGE_CONFIDENTIAL, CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
#ifdef HAS_MIG /* since 12.7 */
EQUAL(CUPTI_RANGE_MIG, CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED);
EQUAL(CUPTI_RANGE_WSL, CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED);
#endif
SAME(struct cupti_call, site, CUpti_CallbackData, callbackSite);
SAME(struct cupti_call, result, CUpti_CallbackData, functionReturnValue);
SAME(struct cupti_call, symbol, CUpti_CallbackData, symbolName);
SAME(struct cupti_call, context, CUpti_CallbackData, context);
SAME(struct cupti_call, context_number, CUpti_CallbackData, contextUid);
SAME(struct cupti_call, correlation, CUpti_CallbackData, correlationId);
SAME(struct cupti_resource, context, CUpti_ResourceData, context);
EQUAL(CUPTI_SITE_ENTER, CUPTI_API_ENTER);
EQUAL(CUPTI_SITE_EXIT, CUPTI_API_EXIT);
EQUAL(CUPTI_CALLS_OF_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API);
EQUAL(CUPTI_CALLS_OF_RESOURCES, CUPTI_CB_DOMAIN_RESOURCE);
EQUAL(CUPTI_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
EQUAL(CUPTI_CONTEXT_ENDS, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
