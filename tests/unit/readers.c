/* readers.c - a run asks a reader's fields, never its name. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "rockit/rockit.h"
#include "tap.h"
#include "world.h"

#define TRACE                                                                             \
	"\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\"," \
	"\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\","           \
	"\"End_Timestamp\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\","           \
	"\"Accum_VGPR_Count\",\"SGPR_Count\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\","  \
	"\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\n"          \
	"\"KERNEL_DISPATCH\",\"Agent 4\",1,0,9,1,7,\"k\",5,10,20,0,0,8,0,16,64,1,1,64,1,1\n"

struct json_x {
	struct rk_reader base;
	struct rk_instream *in;
};

static int json_x_probe(const struct rk_head *head)
{
	return head->len >= 6 && !memcmp(head->data, "json-x", 6) ? 100 : 0;
}

static int json_x_open(const struct rk_reader_ops *ops, struct rk_instream *in,
		       struct rk_context *ctx, struct rk_reader **ret, struct rk_error *err)
{
	struct json_x *r = rk_calloc(1, sizeof(*r));

	(void)ctx;
	if (!r)
		return rk_fail_nomem(err);
	r->base.ops = ops;
	r->base.tables = RK_TABLE_BIT(RK_KERNELS);
	r->in = in;
	*ret = &r->base;
	return 0;
}

static const struct rk_batch *no_rows(void *arg)
{
	(void)arg;
	return NULL;
}

static int json_x_scan(struct rk_reader *r, enum rk_table t, uint64_t want, struct rk_source **ret,
		       struct rk_error *err)
{
	(void)r;
	(void)want;
	*ret = world_source(rk_table_schema(t), no_rows, NULL);
	return *ret ? 0 : rk_fail_nomem(err);
}

static void json_x_close(struct rk_reader *base)
{
	struct json_x *r = (struct json_x *)base;

	rk_instream_close(r->in);
	rk_free(r);
}

static struct rk_reader_ops json_x = {
	.name = "json-x",
	.help = "a format of this test",
	.probe = json_x_probe,
	.open = json_x_open,
	.scan = json_x_scan,
	.close = json_x_close,
};

/* The class that the reader declares, or gives for the file's name when `named`. */
static enum rk_precedence declared;

static enum rk_precedence json_x_precedence(const char *file_name, enum rk_table t)
{
	CHECK_STR(file_name, "100_results.json");
	CHECK(t == RK_KERNELS);
	return declared;
}

/* Which of two files of one process gives the kernels: the reader's, or a trace of rocprofv3. */
static void winner_is(enum rk_precedence p, bool named, const char *format)
{
	const struct rk_run_file *f;
	const char *paths[1];
	struct rk_run *run = NULL;
	struct world w;
	size_t n = 0, used = 0;

	declared = p;
	json_x.precedence = named ? RK_PRECEDENCE_JSON : p;
	json_x.precedence_of = named ? json_x_precedence : NULL;
	rk_readers_add_for_test(&json_x);
	world_open(&w, 1);
	world_text(&w, "100_kernel_trace.csv", TRACE);
	world_text(&w, "100_results.json", "json-x\n");
	paths[0] = w.dir;
	if (CHECK_I64(rk_run_open(paths, 1, NULL, &run, &w.err), 0)) {
		f = rk_run_files(run, &n);
		CHECK_U64(n, 2);
		for (size_t i = 0; i < n; i++)
			if (f[i].used) {
				used++;
				CHECK_STR(f[i].format, format);
			}
		CHECK_U64(used, 1);
	}
	rk_run_close(run);
	world_close(&w);
	rk_readers_add_for_test(NULL);
}

TEST(a_reader_called_json_has_the_precedence_it_declares)
{
	winner_is(RK_PRECEDENCE_ROCPD, false, "json-x");
	winner_is(RK_PRECEDENCE_PARQUET, true, "json-x");
	winner_is(RK_PRECEDENCE_JSON, false, "rocprofv3-csv");
	winner_is(RK_PRECEDENCE_STATS, true, "rocprofv3-csv");
}

TEST(readers_are_found_by_name)
{
	const struct rk_reader_ops *ops;
	size_t n = 0;

	for (; (ops = rk_reader_at(n)) != NULL; n++) {
		CHECK(rk_reader_by_name(ops->name) == ops);
		CHECK(ops->help && ops->probe && ops->open);
	}
	CHECK(!rk_reader_by_name("json-x") && !rk_reader_at(n + 1));
	rk_readers_add_for_test(&json_x);
	CHECK(rk_reader_by_name("json-x") == &json_x && rk_reader_at(n) == &json_x);
	CHECK(!rk_reader_at(n + 1));
	rk_readers_add_for_test(NULL);
	CHECK(!rk_reader_at(n));
}

TEST(readers_declare_what_a_run_asks)
{
	static const struct {
		const char *name;
		enum rk_precedence precedence;
	} known[] = {
		{ "parquet", RK_PRECEDENCE_PARQUET },      { "rocpd", RK_PRECEDENCE_ROCPD },
		{ "rocprofv3-json", RK_PRECEDENCE_JSON },  { "kineto-json", RK_PRECEDENCE_JSON },
		{ "rocprof-v1-json", RK_PRECEDENCE_JSON }, { "perfetto", RK_PRECEDENCE_PERFETTO },
		{ "rocprof-v1-db", RK_PRECEDENCE_V1_DB },  { "proton-trace", RK_PRECEDENCE_JSON },
		{ "hip-json", RK_PRECEDENCE_JSON },        { "att-json", RK_PRECEDENCE_JSON },
	};
	const struct rk_reader_ops *ops, *txt = rk_reader_by_name("rocprof-txt");
	unsigned others = 0;

	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		CHECK(rk_reader_by_name(known[i].name)->precedence == known[i].precedence);
	for (size_t i = 0; (ops = rk_reader_at(i)) != NULL; i++) {
		others += ops->precedence != RK_PRECEDENCE_BY_TABLES;
		CHECK(ops->own_tables == !strcmp(ops->name, "parquet"));
		CHECK((ops->raw_folder != NULL) == !strncmp(ops->name, "rocprof-v1", 10));
	}
	CHECK_U64(others, sizeof(known) / sizeof(known[0]));
	CHECK(txt->precedence_of("1_hip_api_trace.txt", RK_API) == RK_PRECEDENCE_TEXT_PART);
	CHECK(txt->precedence_of("hip_api_trace.txt", RK_API) == RK_PRECEDENCE_TEXT);
	CHECK(txt->precedence_of("1_results.txt", RK_API) == RK_PRECEDENCE_TEXT_RESULTS_PART);
	CHECK(txt->precedence_of("results.txt", RK_API) == RK_PRECEDENCE_TEXT_RESULTS);
}

TEST(known_formats_that_are_not_read_are_named_with_the_way_out)
{
	static const struct {
		const char *name, *text;
		size_t len;
		int code;
		const char *says;
	} files[] = {
		{ "t.db", "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 5\n", 0,
		  RK_E_FORMAT,
		  "is a Git LFS pointer, not the file itself: fetch it with 'git lfs" },
		{ "r.ncu-rep", "NVR\0\x10\0\0\0", 8, RK_E_UNSUPPORTED,
		  "export it with 'ncu --import r.ncu-rep --csv --page raw > r.ncu-rep.csv'" },
		{ "r.nsys-rep", "\x01\0\0\0x", 5, RK_E_UNSUPPORTED,
		  "export it with 'nsys export --type sqlite r.nsys-rep'" },
		{ "r.qdrep", "\x01\0\0\0x", 5, RK_E_UNSUPPORTED, "Nsight Systems" },
		{ "host.trace.json",
		  "{\"displayTimeUnit\":\"ns\",\"metadata\":{\"highres-ticks\":true},"
		  "\"traceEvents\":[]}",
		  0, RK_E_UNSUPPORTED, "give the '.xplane.pb' file beside it" },
		{ "events.out.tfevents.1.host", "\x18\0\0\0\0\0\0\0x", 9, RK_E_UNSUPPORTED,
		  "a log of TensorBoard, not a profile" },
		{ "r.nsys-rep", "text", 4, RK_E_UNSUPPORTED, "is not a format rockit knows" },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct rk_reader *r = NULL;
		struct world w;
		size_t len = files[i].len ? files[i].len : strlen(files[i].text);

		world_open(&w, 1);
		CHECK_I64(rk_reader_open(world_file(&w, files[i].name, files[i].text, len), &w.ctx,
					 &r, &w.err),
			  files[i].code);
		CHECK(strstr(w.err.message, files[i].says) != NULL);
		rk_reader_close(r);
		world_close(&w);
	}
}
