/* fuzz_gpu_metrics.c - any bytes as amdgpu's table of measurements. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/gpu_metrics.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Not available, or a number that no field can exceed. */
static void check(double v)
{
	if (!isnan(v) && !(v >= 0 && v <= UINT32_MAX))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct rk_gpu_metrics m = { .content = 77 };
	struct rk_error err = { 0 };
	/* a block of exactly these bytes: a sanitizer sees the first one read beyond it */
	uint8_t *copy = malloc(len ? len : 1);
	int rc;

	if (!copy)
		return 0;
	memcpy(copy, data, len);
	rc = rk_gpu_metrics_decode(copy, len, &m, &err);
	free(copy);
	if (rc < 0 && (rc != err.code || m.content != 77))
		abort();
	if (rc < 0)
		return 0;
	check(m.power_w);
	check(m.busy_percent);
	check(m.sclk_mhz);
	check(m.mclk_mhz);
	check(m.edge_c);
	check(m.hotspot_c);
	check(m.mem_c);
	return 0;
}
