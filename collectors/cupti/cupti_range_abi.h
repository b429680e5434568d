/*
 * cupti_range_abi.h - our declarations of CUPTI's range profiler (CUDA 12.6 and later).
 *
 * Every call takes one struct that begins with its size, which tells the library how much of it we
 * know: later releases append members. The size ends with the last member, without the padding
 * after it. tests/sim/cuda/range_layout.py compares everything with NVIDIA's headers.
 */
#ifndef RK_CUPTI_RANGE_ABI_H
#define RK_CUPTI_RANGE_ABI_H

#include <stddef.h>
#include <stdint.h>

enum { CUPTI_RANGE_AUTO = 1, CUPTI_REPLAY_KERNEL = 2, CUPTI_HOST_RANGE_PROFILER = 0 };

/* Results of the calls that we treat specially. */
enum {
	CUPTI_RANGE_OK = 0,
	CUPTI_RANGE_INVALID_METRIC = 17,
	CUPTI_RANGE_NOT_SUPPORTED = 27,
	CUPTI_RANGE_VIRTUALIZED = 33,
	CUPTI_RANGE_NO_PRIVILEGE = 35,
	CUPTI_RANGE_VIRTUAL_NO_PRIVILEGE = 40,
	CUPTI_RANGE_CONFIDENTIAL = 41,
	CUPTI_RANGE_MIG = 43,
	CUPTI_RANGE_WSL = 45,
};

struct cupti_init_params {
	size_t bytes;
	void *priv;
};

struct cupti_chip_params {
	size_t bytes;
	void *priv;
	size_t device;
	const char *name; /* out */
};

struct cupti_availability_params {
	size_t bytes;
	void *priv;
	void *context;
	size_t image_bytes; /* in and out: without an image, the call returns the required size */
	uint8_t *image;
};

struct cupti_host_init_params {
	size_t bytes;
	void *priv;
	int type;
	const char *chip;
	const uint8_t *availability;
	void *host; /* out */
};

struct cupti_host_end_params {
	size_t bytes;
	void *priv;
	void *host;
};

struct cupti_add_params {
	size_t bytes;
	void *priv;
	void *host;
	const char **names;
	size_t n;
};

struct cupti_config_size_params {
	size_t bytes;
	void *priv;
	void *host;
	size_t config_bytes; /* out */
};

struct cupti_config_params {
	size_t bytes;
	void *priv;
	void *host;
	size_t config_bytes;
	uint8_t *config;
};

struct cupti_passes_params {
	size_t bytes;
	void *priv;
	size_t config_bytes;
	uint8_t *config;
	size_t passes; /* out */
};

struct cupti_evaluate_params {
	size_t bytes;
	void *priv;
	void *host;
	const uint8_t *image;
	size_t image_bytes;
	size_t range;
	const char **names;
	size_t n;
	double *values; /* filled */
};

struct cupti_enable_params {
	size_t bytes;
	void *priv;
	void *context;
	void *profiler; /* out */
};

/* For the calls that take only the profiler: disable and start. */
struct cupti_profiler_params {
	size_t bytes;
	void *priv;
	void *profiler;
};

struct cupti_set_params {
	size_t bytes;
	void *priv;
	void *profiler;
	size_t config_bytes;
	const uint8_t *config;
	size_t image_bytes;
	uint8_t *image;
	int range, replay;
	size_t ranges_per_pass;
	uint16_t levels, least_level;
	size_t pass;
	uint16_t target_level;
};

struct cupti_stop_params {
	size_t bytes;
	void *priv;
	void *profiler;
	size_t pass, level; /* out */
	uint8_t all;        /* out */
};

struct cupti_decode_params {
	size_t bytes;
	void *priv;
	void *profiler;
	size_t dropped; /* out */
};

struct cupti_image_size_params {
	size_t bytes;
	void *priv;
	void *profiler;
	const char **names;
	size_t n;
	size_t ranges;
	uint32_t nodes;
	size_t image_bytes; /* out */
};

struct cupti_image_params {
	size_t bytes;
	void *priv;
	void *profiler;
	size_t image_bytes;
	uint8_t *image;
};

struct cupti_info_params {
	size_t bytes;
	void *priv;
	const uint8_t *image;
	size_t image_bytes;
	size_t ranges; /* out */
};

/* Our name, CUPTI's name, and the parameter struct. */
#define CUPTI_RANGE_FUNCTIONS(X)                                                                 \
	X(initialize, "cuptiProfilerInitialize", struct cupti_init_params)                       \
	X(chip, "cuptiDeviceGetChipName", struct cupti_chip_params)                              \
	X(availability, "cuptiProfilerGetCounterAvailability", struct cupti_availability_params) \
	X(host_init, "cuptiProfilerHostInitialize", struct cupti_host_init_params)               \
	X(host_end, "cuptiProfilerHostDeinitialize", struct cupti_host_end_params)               \
	X(add, "cuptiProfilerHostConfigAddMetrics", struct cupti_add_params)                     \
	X(config_size, "cuptiProfilerHostGetConfigImageSize", struct cupti_config_size_params)   \
	X(config, "cuptiProfilerHostGetConfigImage", struct cupti_config_params)                 \
	X(passes, "cuptiProfilerHostGetNumOfPasses", struct cupti_passes_params)                 \
	X(evaluate, "cuptiProfilerHostEvaluateToGpuValues", struct cupti_evaluate_params)        \
	X(enable, "cuptiRangeProfilerEnable", struct cupti_enable_params)                        \
	X(disable, "cuptiRangeProfilerDisable", struct cupti_profiler_params)                    \
	X(start, "cuptiRangeProfilerStart", struct cupti_profiler_params)                        \
	X(stop, "cuptiRangeProfilerStop", struct cupti_stop_params)                              \
	X(set, "cuptiRangeProfilerSetConfig", struct cupti_set_params)                           \
	X(decode, "cuptiRangeProfilerDecodeData", struct cupti_decode_params)                    \
	X(image_size, "cuptiRangeProfilerGetCounterDataSize", struct cupti_image_size_params)    \
	X(image, "cuptiRangeProfilerCounterDataImageInitialize", struct cupti_image_params)      \
	X(info, "cuptiRangeProfilerGetCounterDataInfo", struct cupti_info_params)

/* The size up to the end of the last member that we know. */
#define CUPTI_RANGE_BYTES(type, last) (offsetof(type, last) + sizeof(((type *)0)->last))

struct cupti_range {
#define CUPTI_RANGE_MEMBER(name, symbol, type) int (*name)(type *);
	CUPTI_RANGE_FUNCTIONS(CUPTI_RANGE_MEMBER)
#undef CUPTI_RANGE_MEMBER
	int (*device)(void *context, uint32_t *ret); /* cuptiGetDeviceId */
};

#endif
