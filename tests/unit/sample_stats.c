/* sample_stats.c - mean, least and most of sampled quantities. */
#include "report/report_parts.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "table/table.h"
#include "tap.h"

struct sample {
	int64_t time; /* -1: none */
	int device;   /* -1: none */
	uint32_t metric, unit, node;
	double value;
};

static int add(struct rk_sample_stats *s, const struct sample *v, size_t n, struct rk_error *err)
{
	struct rk_builder b;
	int rc = rk_builder_init(&b, rk_table_schema(RK_SAMPLES), n, err);

	for (size_t i = 0; rc == 0 && i < n; i++) {
		int64_t *time = rk_builder_column(&b, RK_S_TIME);
		int64_t *device = rk_builder_column(&b, RK_S_DEVICE);
		uint32_t *metric = rk_builder_column(&b, RK_S_METRIC);
		uint32_t *unit = rk_builder_column(&b, RK_S_UNIT);
		uint32_t *node = rk_builder_column(&b, RK_S_NODE);
		double *value = rk_builder_column(&b, RK_S_VALUE);

		if (!time || !device || !metric || !unit || !node || !value) {
			rc = rk_fail_nomem(err);
			break;
		}
		time[i] = v[i].time;
		device[i] = v[i].device;
		metric[i] = v[i].metric;
		unit[i] = v[i].unit;
		node[i] = v[i].node;
		value[i] = v[i].value;
		if ((v[i].time < 0 && !rk_builder_null(&b, RK_S_TIME, i)) ||
		    (v[i].device < 0 && !rk_builder_null(&b, RK_S_DEVICE, i)))
			rc = rk_fail_nomem(err);
		b.nrows = i + 1;
	}
	if (rc == 0)
		rc = rk_sample_stats_add(s, rk_builder_batch(&b), err);
	rk_builder_release(&b);
	return rc;
}

static const struct sample few[] = {
	{ 1, 0, 5, 7, 0, 100 }, { 1, 1, 5, 7, 0, 50 },  { 2, 0, 5, 7, 0, 300 },
	{ 2, 1, 5, 7, 0, -50 }, { 3, 0, 5, 7, 3, 1 },   { 3, 0, 5, 8, 0, 2 },
	{ 3, 0, 6, 7, 0, 3 },   { 3, -1, 5, 7, 0, 4 },  { -1, 0, 5, 7, 0, 9000 },
	{ 4, 0, 5, 7, 0, NAN }, { 5, 0, 5, 7, 0, 200 },
};

TEST(samples_are_added_up_by_gpu_and_quantity)
{
	static const struct rk_sample_stat want[] = {
		{ 5, 7, 0, 0, 3, 100, 300, 600 }, { 5, 7, 0, 1, 2, -50, 50, 0 },
		{ 5, 7, 3, 0, 1, 1, 1, 1 },       { 5, 8, 0, 0, 1, 2, 2, 2 },
		{ 6, 7, 0, 0, 1, 3, 3, 3 },       { 5, 7, 0, -1, 1, 4, 4, 4 },
	};
	struct rk_sample_stats s = { 0 };

	CHECK_I64(add(&s, few, sizeof(few) / sizeof(few[0]), NULL), 0);
	CHECK_U64(s.n, sizeof(want) / sizeof(want[0]));
	for (size_t i = 0; i < s.n && i < sizeof(want) / sizeof(want[0]); i++) {
		CHECK_U64(s.v[i].metric, want[i].metric);
		CHECK_U64(s.v[i].unit, want[i].unit);
		CHECK_U64(s.v[i].node, want[i].node);
		CHECK_I64(s.v[i].device, want[i].device);
		CHECK_U64(s.v[i].n, want[i].n);
		CHECK(s.v[i].min == want[i].min && s.v[i].max == want[i].max &&
		      s.v[i].sum == want[i].sum);
	}
	CHECK_U64(s.left_out, 0);
	rk_sample_stats_release(&s);
}

TEST(quantities_beyond_the_limit_are_counted_and_left_out)
{
	struct rk_sample_stats s = { 0 };
	int more = 10;

	for (int i = 0; i < RK_SAMPLE_STATS_MAX + more; i++) {
		struct sample one = { 1, i, 5, 7, 0, i };

		CHECK_I64(add(&s, &one, 1, NULL), 0);
	}
	CHECK_U64(s.n, RK_SAMPLE_STATS_MAX);
	CHECK_U64(s.left_out, (uint64_t)more);
	rk_sample_stats_release(&s);
}
