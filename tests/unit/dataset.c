/* dataset.c - data sets through the library: names of folders, ranks, shards, failures on the way. */
#include "convert/dataset.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "io/output.h"
#include "tap.h"
#include "world.h"

#define HEADER                                                                                 \
	"Kind,Agent_Id,Queue_Id,Stream_Id,Thread_Id,Dispatch_Id,Kernel_Id,Kernel_Name,"        \
	"Correlation_Id,Start_Timestamp,End_Timestamp,LDS_Block_Size,Scratch_Size,VGPR_Count," \
	"Accum_VGPR_Count,SGPR_Count,Workgroup_Size_X,Workgroup_Size_Y,Workgroup_Size_Z,"      \
	"Grid_Size_X,Grid_Size_Y,Grid_Size_Z\n"
#define KERNEL(name, start, end) \
	"KERNEL_DISPATCH,Agent 4,1,1,8,1,1," name ",1," start "," end ",0,0,8,0,8,64,1,1,64,1,1\n"
#define NO_NODE "node=" RK_HIVE_NULL

static void make_job(struct world *w)
{
	world_text(w, "job/rank-0/7_kernel_trace.csv", HEADER KERNEL("a", "100", "200"));
	world_text(w, "job/rank-2/7_kernel_trace.csv",
		   HEADER KERNEL("b", "300", "400") KERNEL("c", "150", "160"));
}

/* "in" and "out" in the world's folder. */
static int convert(struct world *w, const char *in, const char *out, unsigned shard,
		   unsigned nshards, struct rk_convert_result *ret, struct rk_error *err)
{
	struct rk_run_options how = { .threads = 1 };
	char from[128], to[128];
	const char *paths[] = { from };
	struct rk_convert_options what = { .out = to,
					   .dataset = true,
					   .shard = shard,
					   .nshards = nshards,
					   .inputs = paths,
					   .ninputs = 1 };
	struct rk_run *run = NULL;
	int rc;

	snprintf(from, sizeof(from), "%s/%s", w->dir, in);
	snprintf(to, sizeof(to), "%s/%s", w->dir, out);
	rc = rk_run_open(paths, 1, &how, &run, err);
	if (rc == 0)
		rc = rk_run_convert(run, &what, ret, err);
	rk_run_close(run);
	return rc;
}

static const char *kernels_of(struct world *w, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", w->dir, name);
	return world_dump(w, path, RK_KERNELS, 7 | UINT64_C(1) << RK_K_RANK);
}

/* What a value becomes; borrowed until the next call. */
static const char *folder_of(struct rk_bytes *b, const char *value)
{
	rk_bytes_clear(b);
	rk_hive_put(b, value, strlen(value));
	return rk_bytes_str(b);
}

/* And what is read from that again. */
static const char *node_of(struct world *w, const char *folder)
{
	char path[512];
	uint32_t id = 0;

	snprintf(path, sizeof(path), "set/kernels/node=%s/rank=1/part-0.parquet", folder);
	CHECK_I64(rk_hive_node(&w->ctx, path, &id, &w->err), 0);
	return rk_strtab_borrow(w->ctx.names, id, NULL);
}

TEST(names_of_nodes_become_names_of_folders_and_back)
{
	static const char *const pairs[][2] = {
		{ "gpu-017.site", "gpu-017.site" },
		{ "a/b", "a%2Fb" },
		{ "..", ".." },
		{ "100%", "100%25" },
		{ "a=b c", "a%3Db%20c" },
		{ "%41", "%2541" },
		{ "\xc3\xa9", "%C3%A9" },
	};
	struct rk_bytes b;
	struct world w;

	world_open(&w, 1);
	rk_bytes_init(&b, 4096);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		CHECK_STR(folder_of(&b, pairs[i][0]), pairs[i][1]);
		CHECK_STR(node_of(&w, pairs[i][1]), pairs[i][0]);
	}
	CHECK_STR(folder_of(&b, ""), RK_HIVE_NULL);
	CHECK_STR(node_of(&w, RK_HIVE_NULL), "");
	CHECK(strcmp(folder_of(&b, RK_HIVE_NULL), RK_HIVE_NULL) != 0);
	CHECK_STR(node_of(&w, folder_of(&b, RK_HIVE_NULL)), RK_HIVE_NULL);
	CHECK_STR(node_of(&w, "50%"), "50%");
	CHECK_STR(node_of(&w, "x%4"), "x%4");
	CHECK_STR(node_of(&w, "x%4g"), "x%4g");
	rk_bytes_release(&b);
	world_close(&w);
}

TEST(long_names_of_nodes_are_cut_and_stay_apart)
{
	char one[1001], two[1001], first[512];
	struct rk_bytes b;

	memset(one, '/', 1000);
	memset(two, '/', 1000);
	one[1000] = two[1000] = '\0';
	two[999] = 'x';
	rk_bytes_init(&b, 4096);
	snprintf(first, sizeof(first), "%s", folder_of(&b, one));
	CHECK(strlen(first) < 250);
	CHECK(strcmp(first, folder_of(&b, two)) != 0);
	rk_bytes_release(&b);
}

TEST(each_rank_of_a_job_has_its_own_file)
{
	struct rk_convert_result result = { 0 };
	struct rk_error err = { 0 };
	struct world w;

	world_open(&w, 1);
	make_job(&w);
	CHECK_I64(convert(&w, "job", "set", 0, 0, &result, &err), 0);
	CHECK_U64(result.rows, 3);
	CHECK_U64(result.files, 2);
	/* the rank is in the folder's name: a reader of one file does not see it */
	CHECK_STR(kernels_of(&w, "set/kernels/" NO_NODE "/rank=2/part-0.parquet"),
		  "kernel_name=c|start_ns=150|duration_ns=10\n"
		  "kernel_name=b|start_ns=300|duration_ns=100\n");
	world_close(&w);
}

TEST(rows_that_name_another_rank_than_their_folder_join_that_rank)
{
	struct rk_convert_result result = { 0 };
	struct rk_convert_options all = { .out = NULL };
	struct rk_run *run = NULL;
	struct rk_error err = { 0 };
	char from[128], to[128];
	const char *paths[] = { from };
	struct world w;

	world_open(&w, 1);
	make_job(&w);
	/* a table with ranks 0 and 2 in it, in the folder of rank 2 */
	snprintf(from, sizeof(from), "%s/job", w.dir);
	world_text(&w, "odd/rank-2/note", "");
	snprintf(to, sizeof(to), "%s/odd/rank-2/all.parquet", w.dir);
	all.out = to;
	CHECK_I64(rk_run_open(paths, 1, NULL, &run, &err), 0);
	if (run)
		CHECK_I64(rk_run_convert(run, &all, &result, &err), 0);
	rk_run_close(run);
	world_text(&w, "odd/rank-0/7_kernel_trace.csv", HEADER KERNEL("own", "1", "2"));
	result = (struct rk_convert_result){ 0 };
	CHECK_I64(convert(&w, "odd", "set", 0, 0, &result, &err), 0);
	CHECK_U64(result.rows, 4);
	CHECK_U64(result.files, 3);
	CHECK_STR(kernels_of(&w, "set/kernels/" NO_NODE "/rank=0/part-0.parquet"),
		  "kernel_name=own|start_ns=1|duration_ns=1\n");
	CHECK_STR(kernels_of(&w, "set/kernels/" NO_NODE "/rank=0/part-0-in-rank-2.parquet"),
		  "kernel_name=a|start_ns=100|duration_ns=100\n");
	world_close(&w);
}

TEST(shards_write_their_own_ranks_and_no_others)
{
	struct rk_convert_result result = { 0 };
	struct rk_error err = { 0 };
	struct world w;

	world_open(&w, 1);
	make_job(&w);
	/* rank 2 has more bytes: it is dealt first */
	CHECK_I64(convert(&w, "job", "set", 2, 2, &result, &err), 0);
	CHECK_U64(result.rows, 1);
	CHECK(world_has(&w, "set/kernels/" NO_NODE "/rank=0/part-0.parquet"));
	CHECK(!world_has(&w, "set/kernels/" NO_NODE "/rank=2/part-0.parquet"));
	CHECK(world_has(&w, "set/_rockit/part-2-of-2.json"));
	CHECK(!world_has(&w, "set/_rockit/part-1-of-2.json"));
	result = (struct rk_convert_result){ 0 };
	CHECK_I64(convert(&w, "job", "set", 1, 2, &result, &err), 0);
	CHECK_U64(result.rows, 2);
	world_close(&w);
}

TEST(a_data_set_of_other_input_is_not_mixed_with)
{
	struct rk_convert_result result = { 0 };
	struct rk_error err = { 0 };
	struct world w;

	world_open(&w, 1);
	make_job(&w);
	CHECK_I64(convert(&w, "job", "set", 0, 0, &result, &err), 0);
	CHECK_I64(convert(&w, "job", "set", 0, 0, &result, &err), 0);
	CHECK_I64(convert(&w, "job/rank-0", "set", 0, 0, &result, &err), RK_E_USAGE);
	rk_error_clear(&err);
	world_text(&w, "set/_rockit/part-1-of-1.json", "{\"plan\":");
	CHECK_I64(convert(&w, "job", "set", 0, 0, &result, &err), RK_E_USAGE);
	rk_error_clear(&err);
	CHECK_I64(convert(&w, "job", "job/set", 0, 0, &result, &err), RK_E_USAGE);
	world_close(&w);
}

TEST(a_data_set_survives_each_failed_allocation)
{
	bool failed = true;
	struct world w;

	world_open(&w, 1);
	make_job(&w);
	for (uint64_t n = 1; failed && n < 5000; n++) {
		struct rk_convert_result result = { 0 };
		struct rk_error err = { 0 };
		int rc;

		rk_alloc_fail_after(n);
		rc = convert(&w, "job", "set", 0, 0, &result, &err);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		if (rc < 0)
			CHECK(rc == RK_E_NOMEM && err.code == RK_E_NOMEM);
		else
			CHECK_U64(result.rows, 3);
	}
	CHECK(!failed);
	world_close(&w);
}

TEST(a_full_disk_leaves_no_half_file_of_a_data_set)
{
	bool failed = true;
	struct world w;

	world_open(&w, 1);
	make_job(&w);
	for (unsigned n = 1; failed && n < 2000; n++) {
		struct rk_convert_result result = { 0 };
		struct rk_error err = { 0 };
		char out[32], file[128];

		snprintf(out, sizeof(out), "set-%u", n);
		rk_output_fail_after(n, 28);
		failed = convert(&w, "job", out, 0, 0, &result, &err) < 0;
		rk_output_fail_after(0, 0);
		CHECK_I64(err.code, failed ? RK_E_IO : 0);
		snprintf(file, sizeof(file), "%s/kernels/" NO_NODE "/rank=0/part-0.parquet", out);
		if (!failed || world_has(&w, file))
			CHECK_STR(kernels_of(&w, file),
				  "kernel_name=a|start_ns=100|duration_ns=100\n");
	}
	CHECK(!failed);
	world_close(&w);
}
