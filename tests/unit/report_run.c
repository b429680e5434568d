/* report_run.c - a report of files, through the public API. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "rockit/rockit.h"
#include "tap.h"

static const char kernels[] =
	"\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\","
	"\"Start_Timestamp\",\"End_Timestamp\",\"Private_Segment_Size\",\"Group_Segment_Size\","
	"\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\","
	"\"Grid_Size_Y\",\"Grid_Size_Z\"\n"
	"\"KERNEL_DISPATCH\",4,1,7,\"one\",1,1000,1100,0,0,64,1,1,64,1,1\n"
	"\"KERNEL_DISPATCH\",5,1,7,\"two\",2,2000,2700,0,0,64,1,1,64,1,1\n"
	"\"KERNEL_DISPATCH\",4,1,7,\"one\",3,3000,3200,0,0,64,1,1,64,1,1\n";

static const char stats[] =
	"\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\",\"MinNs\",\"MaxNs\","
	"\"StdDev\"\n"
	"\"gemm(float*)\",3,9000000000,3000000000.0,90.0,2000000000,4000000000,816496580.9\n"
	"\"fill(float*)\",2,1000000000,500000000.0,10.0,400000000,600000000,100000000.0\n";

struct files {
	char dir[32];
	char path[64];
};

static void files_make(struct files *f, const char *text, const char *name)
{
	FILE *out;

	*f = (struct files){ .dir = "/tmp/rockit-report-XXXXXX" };
	CHECK(mkdtemp(f->dir) != NULL);
	snprintf(f->path, sizeof(f->path), "%s/%s", f->dir, name);
	out = fopen(f->path, "w");
	if (!CHECK(out != NULL))
		return;
	fputs(text, out);
	fclose(out);
}

static void files_remove(const struct files *f)
{
	unlink(f->path);
	rmdir(f->dir);
}

static int report(const struct files *f, const char *by, struct rk_run **run, struct rk_report **r,
		  struct rk_error *err)
{
	const struct rk_run_options how = { .threads = 1 };
	const struct rk_report_options what = { .by = by };
	const char *paths[] = { f->path };
	int rc = rk_run_open(paths, 1, &how, run, err);

	return rc < 0 ? rc : rk_run_report(*run, &what, r, err);
}

TEST(report_of_a_trace_adds_up)
{
	struct rk_error err = { 0 };
	struct rk_report *r = NULL;
	struct rk_run *run = NULL;
	struct files f;

	files_make(&f, kernels, "1_kernel_trace.csv");
	if (CHECK(report(&f, NULL, &run, &r, &err) == 0)) {
		CHECK_U64(r->kernel_rows, 3);
		CHECK_I64(r->sum_duration_ns, 1000);
		CHECK_I64(r->min_start_ns, 1000);
		CHECK_I64(r->max_end_ns, 3200);
		CHECK_U64(r->kernels.nrows, 2);
		CHECK_STR(r->kernels.rows[0].name, "two");
		CHECK(r->kernels.rows[0].percent == 70);
		CHECK(r->kernels.rows[1].median_ns == 150);
		CHECK(r->stats_of == NULL);
		CHECK_U64(r->nfiles, 1);
	}
	rk_report_free(r);
	rk_run_close(run);
	files_remove(&f);
}

TEST(report_by_device_splits_names)
{
	struct rk_error err = { 0 };
	struct rk_report *r = NULL;
	struct rk_run *run = NULL;
	struct files f;

	files_make(&f, kernels, "1_kernel_trace.csv");
	if (CHECK(report(&f, "device", &run, &r, &err) == 0)) {
		CHECK_STR(r->by, "device");
		CHECK_STR(r->kernels.rows[0].key, "5");
		CHECK_STR(r->kernels.rows[1].key, "4");
	}
	rk_report_free(r);
	rk_run_close(run);
	files_remove(&f);
}

TEST(report_by_nonsense_is_misuse)
{
	struct rk_error err = { 0 };
	struct rk_report *r = NULL;
	struct rk_run *run = NULL;
	struct files f;

	files_make(&f, kernels, "1_kernel_trace.csv");
	CHECK_I64(report(&f, "moon", &run, &r, &err), RK_E_USAGE);
	CHECK(r == NULL);
	rk_run_close(run);
	files_remove(&f);
}

TEST(report_of_statistics_recomputes_nothing)
{
	struct rk_error err = { 0 };
	struct rk_report *r = NULL;
	struct rk_run *run = NULL;
	struct files f;

	files_make(&f, stats, "1_kernel_stats.csv");
	if (CHECK(report(&f, NULL, &run, &r, &err) == 0)) {
		CHECK_STR(r->stats_of, "kernel");
		CHECK_U64(r->kernel_rows, 5);
		CHECK_I64(r->sum_duration_ns, 10000000000);
		CHECK(!r->timed);
		CHECK(r->kernels.rows[0].mean_ns == 3e9);
		/* Above 2^32 ns rocprofv3's own number is wrong. */
		CHECK(r->kernels.rows[0].stddev_ns != r->kernels.rows[0].stddev_ns);
		CHECK(r->kernels.rows[1].stddev_ns == 1e8);
		CHECK_U64(r->nwarnings, 1);
		CHECK_STR(r->nwarnings ? r->warnings[0].kind : "", "stats-stddev-wrapped");
	}
	rk_report_free(r);
	rk_run_close(run);
	files_remove(&f);
}

static void fail_each(const char *text, const char *name, const char *by)
{
	struct files f;

	files_make(&f, text, name);
	for (uint64_t n = 1; n < 5000; n++) {
		const struct rk_render_options how = { .format = RK_REPORT_JSON };
		struct rk_error err = { 0 };
		struct rk_report *r = NULL;
		struct rk_run *run = NULL;
		char *out = NULL;
		size_t len;
		bool failed;
		int rc;

		rk_alloc_fail_after(n);
		rc = report(&f, by, &run, &r, &err);
		if (rc == 0)
			rc = rk_report_render(r, &how, &out, &len, &err);
		failed = rk_alloc_failed() != 0;
		rk_alloc_fail_after(0);
		/* A probe that lacks memory knows no format: not always RK_E_NOMEM. */
		CHECK(rc == 0 || failed);
		CHECK_I64(err.code, rc);
		rk_text_free(out);
		rk_report_free(r);
		rk_run_close(run);
		if (!failed)
			break;
	}
	files_remove(&f);
}

TEST(report_survives_each_failed_allocation)
{
	fail_each(kernels, "1_kernel_trace.csv", NULL);
	fail_each(kernels, "1_kernel_trace.csv", "process");
	fail_each(stats, "1_kernel_stats.csv", NULL);
}
