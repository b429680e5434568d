/* rkraw_counters.c (tests) - counters of kernels from the recorder to the table. */
#include <math.h>
#include <string.h>

#include "base/rkraw.h"
#include "recorder_world.h"

static uint32_t string(const char *text)
{
	return rk_rec_string(text, strlen(text));
}

static void two_kernels(void *unused)
{
	const struct rk_rec_device gpu = { .number = 3, .type = RK_REC_GPU };
	struct rk_rec_counter c = { .counter = string("lts__t_sector_hit_rate.pct"),
				    .kernel = string("_Z4gemmPf"),
				    .device = rk_rec_device(&gpu),
				    .dispatch = 1,
				    .value = 87.25 };
	const struct rk_rec_marker between = { .kind = RK_REC_MARK, .name = string("x") };

	(void)unused;
	MUST(rk_rec_counter(&c));
	MUST(rk_rec_marker(&between));
	c.kernel = 0;
	c.dispatch = (uint64_t)1 << 40;
	c.value = -0.5;
	MUST(rk_rec_counter(&c));
	c.value = (double)INFINITY;
	MUST(rk_rec_counter(&c));
}

TEST(counters_are_rows_of_their_table)
{
	const char *path, *text;
	struct world w;

	world_open(&w, 1);
	CHECK_I64(record(&w, "", two_kernels, NULL, &path), 0);
	text = world_dump(&w, path, RK_COUNTERS,
			  1u << RK_N_DISPATCH | 1u << RK_N_NAME | 1u << RK_N_COUNTER |
				  1u << RK_N_VALUE | 1u << RK_N_DEVICE | 1u << RK_N_INSTANCE);
	CHECK_STR(text ? text : w.err.message,
		  "dispatch_id=1|kernel_name=_Z4gemmPf|counter=lts__t_sector_hit_rate.pct|"
		  "value=87.25|device_id=3\n"
		  "dispatch_id=1099511627776|counter=lts__t_sector_hit_rate.pct|value=-0.5|"
		  "device_id=3\n"
		  "dispatch_id=1099511627776|counter=lts__t_sector_hit_rate.pct|device_id=3\n");
	CHECK_I64(rows_of(&w, path, RK_MARKERS), 1);
	world_close(&w);
}
