/* gpu_metrics.h - the table of measurements in amdgpu's sysfs file `gpu_metrics`. */
#ifndef RK_GPU_METRICS_H
#define RK_GPU_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { RK_GPU_METRICS_BYTES = 8192 }; /* more than any table has */

/* One unit of energy is 2^-16 J. */
#define RK_GPU_METRICS_JOULE (1.0 / 65536)

/* Values that are not available are NAN or false. */
struct rk_gpu_metrics {
	unsigned content;    /* 3 for v1_3 */
	double power_w;      /* of the package; mean or instant, depending on the version */
	double busy_percent; /* of the shader engines */
	double sclk_mhz;     /* mean of the dies if each has its own clock */
	double mclk_mhz;
	double edge_c, hotspot_c, mem_c;
	uint64_t energy; /* since the driver was loaded, in units of 2^-16 J */
	uint64_t clock_ns;
	bool has_energy, has_clock;
};

/*
 * v1_1 to v1_9, by revision and size together, because different drivers have different tables with
 * the same revision. RK_E_UNSUPPORTED for all others (v1_0 has another layout, APUs have other
 * units); their hwmon files have the same values. RK_E_FORMAT if the bytes are not such a table.
 */
int rk_gpu_metrics_decode(const void *data, size_t len, struct rk_gpu_metrics *ret,
			  struct rk_error *err);

#endif
