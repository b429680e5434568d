/* perfetto_writer.c - runs as Perfetto traces: what the format asks for, and what is read back. */
#include <errno.h>
#include <stdlib.h>

#include "codec/protobuf.h"
#include "trace_world.h"
#include "write/trace.h"

extern const struct rk_writer_ops rk_writer_perfetto;

/* ---- a strict look at a trace ---- */

enum { MAX_TRACKS = 1 << 16, MAX_IIDS = 1 << 16 };

/* What a trace holds, counted while everything that could be wrong with it is checked. */
struct facts {
	uint64_t packets, begins, ends, instants, counts, flows, descriptors, wrong;
	uint64_t last; /* the clock of the sequence */
	unsigned sequences, deepest;
	uint16_t *depth;  /* of each track */
	uint8_t *known;   /* tracks that were described */
	uint8_t *iids[3]; /* categories, names, annotations of the sequence */
};

static void note_iids(struct facts *f, struct rk_cursor c)
{
	struct rk_pb_field e, g;

	while (rk_pb_next(&c, &e)) {
		struct rk_cursor entry = rk_pb_message(&e);

		while (e.number <= 3 && rk_pb_next(&entry, &g))
			if (g.number == 1 && g.value < MAX_IIDS)
				f->iids[e.number - 1][g.value] = 1;
	}
}

static void check_iid(struct facts *f, unsigned kind, uint64_t iid)
{
	f->wrong += iid >= MAX_IIDS || !f->iids[kind][iid];
}

static void look_at_annotation(struct facts *f, struct rk_cursor c)
{
	struct rk_pb_field g;

	while (rk_pb_next(&c, &g))
		if (g.number == 1)
			check_iid(f, 2, g.value);
	f->wrong += c.bad;
}

static void look_at_event(struct facts *f, struct rk_cursor c)
{
	uint64_t type = 0, track = 0;
	struct rk_pb_field g;

	while (rk_pb_next(&c, &g)) {
		if (g.number == 9)
			type = g.value;
		else if (g.number == 11)
			track = g.value;
		else if (g.number == 3)
			check_iid(f, 0, g.value);
		else if (g.number == 10)
			check_iid(f, 1, g.value);
		else if (g.number == 4)
			look_at_annotation(f, rk_pb_message(&g));
		f->flows += g.number == 47;
	}
	f->wrong += c.bad || track >= MAX_TRACKS || !f->known[track];
	f->begins += type == 1;
	f->ends += type == 2;
	f->instants += type == 3;
	f->counts += type == 4;
	if (track >= MAX_TRACKS)
		return;
	if (type == 2)
		f->wrong += f->depth[track]-- == 0;
	if (type == 1 && ++f->depth[track] > f->deepest)
		f->deepest = f->depth[track];
}

static void look_at_descriptor(struct facts *f, struct rk_cursor c)
{
	struct rk_pb_field g;
	uint64_t uuid = 0, parent = 0;

	while (rk_pb_next(&c, &g)) {
		uuid = g.number == 1 ? g.value : uuid;
		parent = g.number == 5 ? g.value : parent;
	}
	f->descriptors++;
	f->wrong += c.bad || !uuid || uuid >= MAX_TRACKS || f->known[uuid] ||
		    (parent && (parent >= MAX_TRACKS || !f->known[parent]));
	if (uuid < MAX_TRACKS)
		f->known[uuid] = 1;
}

static void begin_sequence(struct facts *f)
{
	f->sequences++;
	for (unsigned i = 0; i < 3; i++)
		memset(f->iids[i], 0, MAX_IIDS);
}

static void look_at_packet(struct facts *f, struct rk_cursor packet)
{
	struct rk_cursor c = packet;
	struct rk_pb_field g;
	bool event = false, time = false;

	f->packets++;
	while (rk_pb_next(&c, &g))
		if (g.number == 13 && g.value == 1)
			begin_sequence(f);
	f->wrong += c.bad;
	for (c = packet; rk_pb_next(&c, &g);) {
		if (g.number == 12)
			note_iids(f, rk_pb_message(&g));
		else if (g.number == 60)
			look_at_descriptor(f, rk_pb_message(&g));
		else if (g.number == 11)
			look_at_event(f, rk_pb_message(&g));
		event = event || g.number == 11;
		time = time || g.number == 8;
		f->wrong += g.number == 8 && g.value > INT64_MAX; /* a step back */
	}
	f->wrong += event != time;
}

static void look(const char *path, struct facts *f)
{
	FILE *in = fopen(path, "rb");
	struct rk_pb_field g;
	struct rk_cursor c;
	uint8_t *data;
	long len;

	*f = (struct facts){ .depth = calloc(MAX_TRACKS, sizeof(*f->depth)),
			     .known = calloc(MAX_TRACKS, 1) };
	for (unsigned i = 0; i < 3; i++)
		f->iids[i] = calloc(MAX_IIDS, 1);
	if (!CHECK(in != NULL))
		return;
	fseek(in, 0, SEEK_END);
	len = ftell(in);
	rewind(in);
	data = malloc((size_t)len + 1);
	CHECK(fread(data, 1, (size_t)len, in) == (size_t)len);
	fclose(in);
	for (c = rk_cursor_over(data, (size_t)len); rk_pb_next(&c, &g);) {
		f->wrong += g.number != 1;
		look_at_packet(f, rk_pb_message(&g));
	}
	CHECK(!c.bad);
	for (unsigned i = 0; i < MAX_TRACKS; i++)
		f->wrong += f->depth[i] != 0;
	CHECK_U64(f->wrong, 0);
	CHECK_U64(f->begins, f->ends);
	for (unsigned i = 0; i < 3; i++)
		free(f->iids[i]);
	free(f->depth);
	free(f->known);
	free(data);
}

static const char *read_back(struct trace_world *t, enum rk_table table)
{
	return world_dump(&t->w, t->file, table, RK_WANT_ALL);
}

/* ---- kernels ---- */

static void fill_kernel(struct trace_world *t, struct rk_builder *b)
{
	static const unsigned numbers[] = {
		RK_K_GRID_X,   RK_K_GRID_Y,      RK_K_GRID_Z,     RK_K_BLOCK_X, RK_K_BLOCK_Y,
		RK_K_BLOCK_Z,  RK_K_REGS,        RK_K_SHARED_MEM, RK_K_VGPR,    RK_K_ACCUM_VGPR,
		RK_K_SGPR,     RK_K_SCRATCH,     RK_K_WAVE_SIZE,  RK_K_RANK,    RK_K_TID,
		RK_K_DISPATCH, RK_K_CORRELATION,
	};

	trace_kernel(t, b, 0, "k<int>(float*)", INT64_C(1392205578819696), 6300, 3);
	for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		trace_int(b, 0, numbers[i], 10 + i);
	trace_int(b, 0, RK_K_STREAM, 1);
	trace_name(t, b, 0, RK_K_NODE, "node-17, rank 9");
	for (unsigned i = 0; i < 3; i++)
		trace_int(b, 0, RK_K_ITEMS_X + i, (10 + i) * (13 + i));
}

TEST(a_kernel_in_a_perfetto_trace_is_read_back_with_all_that_is_known_of_it)
{
	struct trace_world t;
	struct facts f;

	trace_open(&t, "t.pftrace");
	fill_kernel(&t, trace_rows(&t, rk_table_schema(RK_KERNELS), 1));
	trace_write(&t, &rk_writer_perfetto);
	look(t.file, &f);
	CHECK_U64(f.begins, 1);
	CHECK_STR(read_back(&t, RK_KERNELS),
		  "kernel_name=k<int>(float*)|start_ns=1392205578819696|duration_ns=6300|"
		  "grid_x=10|grid_y=11|grid_z=12|block_x=13|block_y=14|block_z=15|regs=16|"
		  "shared_mem=17|stream_id=1|device_id=0|queue_id=3|dispatch_id=25|"
		  "correlation_id=26|pid=7|tid=24|node=node-17, rank 9|rank=23|vgpr=18|"
		  "accum_vgpr=19|sgpr=20|scratch_bytes=21|wave_size=22|grid_items_x=130|"
		  "grid_items_y=154|grid_items_z=180|source=perfetto|clock=boottime\n");
	trace_close(&t);
}

TEST(what_is_not_known_of_a_kernel_stays_unknown_in_a_perfetto_trace)
{
	struct trace_world t;
	struct rk_builder *b;

	trace_open(&t, "t.pftrace");
	b = trace_rows(&t, rk_table_schema(RK_KERNELS), 1);
	trace_name(&t, b, 0, RK_K_NAME, "k");
	trace_int(b, 0, RK_K_START, 5);
	trace_int(b, 0, RK_K_DURATION, 6);
	trace_int(b, 0, RK_K_SHARED_MEM, 0);
	trace_int(b, 0, RK_K_DISPATCH, 4);
	trace_write(&t, &rk_writer_perfetto);
	CHECK_STR(read_back(&t, RK_KERNELS),
		  "kernel_name=k|start_ns=5|duration_ns=6|shared_mem=0|dispatch_id=4|"
		  "source=perfetto|clock=boottime\n");
	trace_close(&t);
}

TEST(kernels_that_overlap_on_a_queue_get_lanes_beside_it)
{
	struct trace_world t;
	struct rk_builder *b;
	struct facts f;

	trace_open(&t, "t.pftrace");
	b = trace_rows(&t, rk_table_schema(RK_KERNELS), 4);
	trace_kernel(&t, b, 0, "a", 100, 100, 1); /* 100..200 */
	trace_kernel(&t, b, 1, "b", 120, 10, 1);  /* inside a */
	trace_kernel(&t, b, 2, "c", 125, 100, 1); /* across the end of a */
	trace_kernel(&t, b, 3, "d", 200, 10, 1);  /* behind a */
	trace_write(&t, &rk_writer_perfetto);
	look(t.file, &f);
	CHECK_U64(f.begins, 4);
	CHECK_U64(f.deepest, 1);
	CHECK_U64(f.descriptors, 5); /* process, device, three lanes */
	CHECK_STR(world_dump(&t.w, t.file, RK_KERNELS, 7),
		  "kernel_name=b|start_ns=120|duration_ns=10\n"
		  "kernel_name=a|start_ns=100|duration_ns=100\n"
		  "kernel_name=d|start_ns=200|duration_ns=10\n"
		  "kernel_name=c|start_ns=125|duration_ns=100\n");
	trace_close(&t);
}

TEST(odd_times_of_kernels_are_read_back_from_a_perfetto_trace)
{
	struct trace_world t;
	struct rk_builder *b;
	struct facts f;

	trace_open(&t, "t.pftrace");
	b = trace_rows(&t, rk_table_schema(RK_KERNELS), 8);
	trace_kernel(&t, b, 0, "before", -5, 10, 1);
	trace_kernel(&t, b, 1, "zero", 10, 0, 1);
	trace_kernel(&t, b, 2, "same", 10, 0, 1);
	trace_kernel(&t, b, 3, "negative", 10, -7, 1);
	trace_kernel(&t, b, 4, "day", 10, INT64_C(86400000000000), 2);
	trace_kernel(&t, b, 5, "late", INT64_MAX - 10, 10, 1);
	trace_kernel(&t, b, 6, "past", INT64_MAX - 5, 10, 1);
	trace_name(&t, b, 7, RK_K_NAME, "no time");
	trace_write(&t, &rk_writer_perfetto);
	look(t.file, &f);
	CHECK_U64(f.begins, 5);
	CHECK_STR(world_dump(&t.w, t.file, RK_KERNELS, 7),
		  "kernel_name=zero|start_ns=10|duration_ns=0\n"
		  "kernel_name=same|start_ns=10|duration_ns=0\n"
		  "kernel_name=negative|start_ns=10|duration_ns=-7\n"
		  "kernel_name=day|start_ns=10|duration_ns=86400000000000\n"
		  "kernel_name=late|start_ns=9223372036854775797|duration_ns=10\n");
	CHECK_U64(world_warned(&t.w, "time-out-of-range"), 2);
	CHECK_U64(world_warned(&t.w, "no-time"), 1);
	trace_close(&t);
}

TEST(rows_out_of_order_are_refused_by_the_perfetto_writer)
{
	struct rk_error err = { 0 };
	struct trace_world t;
	struct rk_builder *b;

	trace_open(&t, "t.pftrace");
	b = trace_rows(&t, rk_table_schema(RK_KERNELS), 2);
	trace_kernel(&t, b, 0, "a", 100, 1, 1);
	trace_kernel(&t, b, 1, "b", 99, 1, 1);
	CHECK_I64(trace_try(&t, &rk_writer_perfetto, &err), RK_E_FORMAT);
	trace_close(&t);
}

TEST(more_kernels_at_a_time_than_there_are_lanes_are_instants_with_their_times)
{
	struct trace_world t;
	struct rk_builder *b;
	struct facts f;
	const char *text;
	size_t lines = 0;

	trace_open(&t, "t.pftrace");
	b = trace_rows(&t, rk_table_schema(RK_KERNELS), 1000);
	for (size_t i = 0; i < 1000; i++)
		trace_kernel(&t, b, i, "k", 1000, 1000 + (int64_t)i, 1);
	trace_write(&t, &rk_writer_perfetto);
	look(t.file, &f);
	CHECK_U64(f.begins, 256);
	CHECK_U64(f.instants, 744);
	CHECK_U64(world_warned(&t.w, "lane-limit"), 744);
	text = world_dump(&t.w, t.file, RK_KERNELS, 6);
	CHECK(strstr(text, "start_ns=1000|duration_ns=1999\n") != NULL);
	for (; (text = strchr(text, '\n')) != NULL; text++)
		lines++;
	CHECK_U64(lines, 1000);
	trace_close(&t);
}

TEST(a_million_streams_share_a_track_once_there_are_too_many)
{
	struct trace_world t;
	struct facts f;

	trace_open(&t, "t.pftrace");
	for (size_t k = 0; k < TRACE_BATCHES; k++) {
		struct rk_builder *b = trace_rows(&t, rk_table_schema(RK_KERNELS), 8192);

		for (size_t i = 0; i < 8192; i++)
			trace_kernel(&t, b, i, "k", (int64_t)(k * 8192 + i), 1,
				     (int64_t)(k * 8192 + i));
	}
	trace_write(&t, &rk_writer_perfetto);
	look(t.file, &f);
	CHECK_U64(f.begins, 65536);
	CHECK(f.descriptors <= 32770);
	CHECK(world_warned(&t.w, "track-limit") >= 32000);
	trace_close(&t);
}

TEST(names_of_any_kind_pass_through_a_perfetto_trace)
{
	char name[10001], want[10400];
	struct trace_world t;
	struct rk_builder *b;
	struct facts f;

	memset(name, 'n', 10000);
	name[10000] = '\0';
	trace_open(&t, "t.pftrace");
	b = trace_rows(&t, rk_table_schema(RK_KERNELS), 3);
	trace_kernel(&t, b, 0, name, 1, 1, 1);
	trace_kernel(&t, b, 1, "\x01\x1b[31m\"<script>\xe2\x80\xae", 2, 1, 1);
	trace_kernel(&t, b, 2, "", 3, 1, 1);
	trace_write(&t, &rk_writer_perfetto);
	look(t.file, &f);
	snprintf(want, sizeof(want),
		 "kernel_name=%s|start_ns=1|duration_ns=1\n"
		 "kernel_name=\x01\x1b[31m\"<script>\xe2\x80\xae|start_ns=2|duration_ns=1\n"
		 "kernel_name=|start_ns=3|duration_ns=1\n",
		 name);
	CHECK_STR(world_dump(&t.w, t.file, RK_KERNELS, 7), want);
	trace_close(&t);
}

TEST(counters_of_kernels_are_annotations_and_curves)
{
	struct rk_field fields[RK_K_NFIELDS + 1];
	struct rk_schema schema = *rk_table_schema(RK_KERNELS);
	struct trace_world t;
	struct rk_builder *b;
	struct facts f;

	memcpy(fields, schema.fields, RK_K_NFIELDS * sizeof(*fields));
	fields[RK_K_NFIELDS] = (struct rk_field){ "SQ_WAVES", RK_F64 };
	schema.nfields = RK_K_NFIELDS + 1;
	schema.fields = fields;
	trace_open(&t, "t.pftrace");
	b = trace_rows(&t, &schema, 3);
	trace_kernel(&t, b, 0, "a", 10, 10, 1);
	trace_kernel(&t, b, 1, "b", 15, 10, 2); /* takes the curve over from a */
	trace_kernel(&t, b, 2, "c", 40, 10, 1);
	trace_real(b, 0, RK_K_NFIELDS, 64.5);
	trace_real(b, 1, RK_K_NFIELDS, -0.25);
	trace_write(&t, &rk_writer_perfetto);
	look(t.file, &f);
	CHECK_U64(f.counts, 4); /* a, b, the end of b, the end of c */
	CHECK_STR(world_dump(&t.w, t.file, RK_COUNTERS, 1 << RK_N_COUNTER | 1 << RK_N_VALUE),
		  "counter=SQ_WAVES|value=64.5\ncounter=SQ_WAVES|value=-0.25\n");
	trace_close(&t);
}

/* ---- the other tables ---- */

TEST(copies_in_a_perfetto_trace_are_read_back)
{
	struct trace_world t;
	struct rk_builder *b;
	struct facts f;

	trace_open(&t, "t.pftrace");
	b = trace_rows(&t, rk_table_schema(RK_MEMCPY), 1);
	trace_name(&t, b, 0, RK_C_DIRECTION, "MEMORY_COPY_DEVICE_TO_HOST");
	for (unsigned i = RK_C_START; i <= RK_C_TID; i++)
		trace_int(b, 0, i, 100 + i);
	trace_write(&t, &rk_writer_perfetto);
	look(t.file, &f);
	CHECK_STR(
		read_back(&t, RK_MEMCPY),
		"direction=MEMORY_COPY_DEVICE_TO_HOST|start_ns=101|duration_ns=102|bytes=103|"
		"src_device=104|dst_device=105|stream_id=106|correlation_id=107|pid=108|tid=109\n");
	trace_close(&t);
}

TEST(calls_nest_on_their_thread_and_those_that_cross_have_a_lane)
{
	struct trace_world t;
	struct rk_builder *b;
	struct facts f;

	trace_open(&t, "t.pftrace");
	b = trace_rows(&t, rk_table_schema(RK_API), 5);
	trace_call(&t, b, 0, "inner", 10, 5, 8); /* begins with outer, and comes first */
	trace_call(&t, b, 1, "outer", 10, 90, 8);
	trace_call(&t, b, 2, "crosses", 50, 90, 8);
	trace_call(&t, b, 3, "last", 60, 40, 8); /* ends with outer */
	trace_call(&t, b, 4, "other", 60, 40, 9);
	trace_name(&t, b, 4, RK_A_DOMAIN, "cuda_runtime");
	trace_write(&t, &rk_writer_perfetto);
	look(t.file, &f);
	CHECK_U64(f.deepest, 2);
	CHECK_U64(f.descriptors, 4); /* process, two threads, a lane */
	CHECK_STR(read_back(&t, RK_API),
		  "domain=HIP_API|function=inner|start_ns=10|duration_ns=5|pid=7|tid=8\n"
		  "domain=cuda_runtime|function=other|start_ns=60|duration_ns=40|pid=7|tid=9\n"
		  "domain=HIP_API|function=last|start_ns=60|duration_ns=40|pid=7|tid=8\n"
		  "domain=HIP_API|function=outer|start_ns=10|duration_ns=90|pid=7|tid=8\n"
		  "domain=HIP_API|function=crosses|start_ns=50|duration_ns=90|pid=7|tid=8\n");
	trace_close(&t);
}

TEST(only_calls_that_caused_something_have_an_arrow)
{
	struct trace_world t;
	struct rk_builder *b;
	struct facts f;

	trace_open(&t, "t.pftrace");
	b = trace_rows(&t, rk_table_schema(RK_KERNELS), 1);
	trace_kernel(&t, b, 0, "k", 100, 10, 1);
	trace_int(b, 0, RK_K_CORRELATION, 4097);
	b = trace_rows(&t, rk_table_schema(RK_API), 3);
	trace_call(&t, b, 0, "launch", 10, 5, 8);
	trace_call(&t, b, 1, "query", 20, 5, 8);
	trace_call(&t, b, 2, "elsewhere", 30, 5, 8);
	trace_int(b, 0, RK_A_CORRELATION, 4097);
	trace_int(b, 1, RK_A_CORRELATION, 4098);
	trace_int(b, 2, RK_A_CORRELATION, 4097);
	trace_int(b, 2, RK_A_PID, 8); /* the same number in another process */
	trace_write(&t, &rk_writer_perfetto);
	look(t.file, &f);
	CHECK_U64(f.flows, 2);
	CHECK_U64(f.sequences, 2);
	trace_close(&t);
}

TEST(markers_in_a_perfetto_trace_keep_their_kind)
{
	static const char *const kinds[] = { "range", "mark", "gpu_range" };
	struct trace_world t;
	struct rk_builder *b;
	struct facts f;

	trace_open(&t, "t.pftrace");
	b = trace_rows(&t, rk_table_schema(RK_MARKERS), 3);
	for (size_t i = 0; i < 3; i++) {
		trace_name(&t, b, i, RK_R_NAME, "m");
		trace_name(&t, b, i, RK_R_KIND, kinds[i]);
		trace_int(b, i, RK_R_START, 10 * (int64_t)i);
		trace_int(b, i, RK_R_DURATION, i == 1 ? 0 : 5);
		trace_int(b, i, RK_R_TID, 3);
	}
	trace_write(&t, &rk_writer_perfetto);
	look(t.file, &f);
	CHECK_U64(f.instants, 1);
	CHECK_STR(read_back(&t, RK_MARKERS),
		  "name=m|kind=range|start_ns=0|duration_ns=5|tid=3\n"
		  "name=m|kind=mark|start_ns=10|duration_ns=0|tid=3\n"
		  "name=m|kind=gpu_range|start_ns=20|duration_ns=5|tid=3\n");
	trace_close(&t);
}

static void put_allocation(struct trace_world *t, struct rk_builder *b, size_t row,
			   const char *operation, int64_t bytes, int64_t address)
{
	trace_name(t, b, row, RK_M_OPERATION, operation);
	trace_int(b, row, RK_M_START, 10 * (int64_t)row);
	trace_int(b, row, RK_M_DURATION, 2);
	trace_int(b, row, RK_M_BYTES, bytes);
	trace_int(b, row, RK_M_ADDRESS, address);
	trace_int(b, row, RK_M_DEVICE, 4);
}

TEST(allocations_are_slices_and_a_curve)
{
	struct trace_world t;
	struct rk_builder *b;
	struct facts f;

	trace_open(&t, "t.pftrace");
	b = trace_rows(&t, rk_table_schema(RK_MEMALLOC), 2);
	put_allocation(&t, b, 0, "MEMORY_ALLOCATION_ALLOCATE", 4096, 77);
	put_allocation(&t, b, 1, "MEMORY_ALLOCATION_FREE", 0, 77);
	trace_write(&t, &rk_writer_perfetto);
	look(t.file, &f);
	CHECK_U64(f.counts, 2);
	CHECK_STR(read_back(&t, RK_MEMALLOC),
		  "operation=MEMORY_ALLOCATION_ALLOCATE|start_ns=0|duration_ns=2|bytes=4096|"
		  "address=77|device_id=4\n"
		  "operation=MEMORY_ALLOCATION_FREE|start_ns=10|duration_ns=2|bytes=0|"
		  "address=77|device_id=4\n");
	trace_close(&t);
}

TEST(samples_are_curves_of_their_device)
{
	struct trace_world t;
	struct rk_builder *b;
	struct facts f;

	trace_open(&t, "t.pftrace");
	b = trace_rows(&t, rk_table_schema(RK_SAMPLES), 4);
	for (size_t i = 0; i < 4; i++) {
		trace_int(b, i, RK_S_TIME, 100 + (int64_t)i / 2);
		trace_int(b, i, RK_S_DEVICE, 0);
		trace_name(&t, b, i, RK_S_METRIC, i % 2 ? "vram" : "power");
		trace_name(&t, b, i, RK_S_UNIT, i % 2 ? "bytes" : "W");
		trace_name(&t, b, i, RK_S_NODE, "n1");
		trace_real(b, i, RK_S_VALUE, (double)i);
	}
	trace_write(&t, &rk_writer_perfetto);
	look(t.file, &f);
	CHECK_U64(f.counts, 4);
	CHECK_U64(f.descriptors, 4); /* node, device, two curves */
	trace_close(&t);
}

/* ---- failures ---- */

TEST(an_empty_run_is_a_perfetto_trace_too)
{
	struct trace_world t;
	struct facts f;

	trace_open(&t, "t.pftrace");
	trace_rows(&t, rk_table_schema(RK_KERNELS), 0);
	trace_write(&t, &rk_writer_perfetto);
	look(t.file, &f);
	CHECK_U64(f.packets, 1);
	CHECK_STR(read_back(&t, RK_KERNELS), "");
	trace_close(&t);
}

TEST(a_full_disk_ends_a_perfetto_trace_with_an_error)
{
	struct rk_error err = { 0 };
	struct trace_world t;

	trace_open(&t, "t.pftrace");
	fill_kernel(&t, trace_rows(&t, rk_table_schema(RK_KERNELS), 1));
	rk_output_fail_after(1, ENOSPC);
	CHECK_I64(trace_try(&t, &rk_writer_perfetto, &err), RK_E_IO);
	rk_output_fail_after(0, 0);
	CHECK(strstr(err.message, "No space left") != NULL);
	CHECK(access(t.file, F_OK) != 0);
	trace_close(&t);
}

static void fill_some(struct trace_world *t)
{
	struct rk_builder *b = trace_rows(t, rk_table_schema(RK_KERNELS), 2);

	fill_kernel(t, b);
	trace_kernel(t, b, 1, "second", INT64_C(1392205578819697), 100, 3);
	trace_int(b, 1, RK_K_CORRELATION, 5);
	b = trace_rows(t, rk_table_schema(RK_API), 2);
	trace_call(t, b, 0, "launch", 10, 5, 8);
	trace_call(t, b, 1, "launch", 12, 9, 8);
	b = trace_rows(t, rk_table_schema(RK_MEMALLOC), 1);
	put_allocation(t, b, 0, "ALLOCATE", 4096, 77);
}

TEST(the_perfetto_writer_survives_each_failed_allocation)
{
	struct trace_world t;

	trace_open(&t, "t.pftrace");
	fill_some(&t);
	trace_fail_each(&t, &rk_writer_perfetto);
	trace_close(&t);
}

TEST(arrows_of_all_processes_have_ids_of_their_own)
{
	enum { PROCESSES = 300, IDS = 200 };
	struct rk_tracks t;
	struct rk_map seen = { 0 };
	struct world w;
	size_t low = 0;

	world_open(&w, 1);
	CHECK_I64(rk_tracks_init(&t, w.ctx.names, NULL), 0);
	for (int64_t p = 1; p <= PROCESSES; p++) {
		int64_t process = rk_tracks_process(&t, p, p % 7, 0);

		CHECK(process > 0);
		for (int64_t c = 0; c < IDS; c++) {
			/* also ids that do not fit in 32 bits */
			uint64_t id = rk_tracks_flow(&t, (uint32_t)process, c << (c % 2 ? 32 : 0));

			CHECK_I64(rk_map_get(&seen, id, 0), -1);
			CHECK(rk_map_put(&seen, id, 0, 1));
		}
		low += (uint32_t)rk_tracks_flow(&t, (uint32_t)process, 1) ==
		       (uint32_t)rk_tracks_flow(&t, 1, 1);
	}
	CHECK(low <= 2); /* both halves of an id depend on the process */
	rk_map_release(&seen);
	rk_tracks_release(&t);
	world_close(&w);
}

/* The Perfetto and the Chrome trace and the page show a copy on the same device. */
TEST(copies_are_shown_on_the_device_that_does_them)
{
	CHECK_I64(rk_copy_device("MEMORY_COPY_HOST_TO_DEVICE", 0, 4), 4);
	CHECK_I64(rk_copy_device("MEMORY_COPY_DEVICE_TO_HOST", 4, 0), 4);
	CHECK_I64(rk_copy_device("MEMORY_COPY_PEER_TO_PEER", 4, 5), 4);
	CHECK_I64(rk_copy_device("MEMORY_COPY_DEVICE_TO_DEVICE", 4, 4), 4);
	CHECK_I64(rk_copy_device("MEMORY_COPY_HOST_TO_DEVICE", 3, RK_NONE), 3);
	CHECK_I64(rk_copy_device("MEMORY_COPY_DEVICE_TO_HOST", RK_NONE, 3), 3);
	CHECK_I64(rk_copy_device("Memset", RK_NONE, 3), 3);
	CHECK_I64(rk_copy_device("", RK_NONE, RK_NONE), RK_NONE);
	CHECK_I64(rk_copy_device("", -1, -1), -1);
}

TEST(the_same_run_gives_the_same_perfetto_trace)
{
	char *data[2] = { NULL, NULL };
	size_t cap = 0;

	for (unsigned i = 0; i < 2; i++) {
		struct trace_world t;
		FILE *f;

		trace_open(&t, "t.pftrace");
		fill_some(&t);
		trace_write(&t, &rk_writer_perfetto);
		f = fopen(t.file, "rb");
		if (CHECK(f != NULL)) {
			data[i] = calloc(1, 1 << 16);
			cap = fread(data[i], 1, 1 << 16, f);
			fclose(f);
		}
		trace_close(&t);
	}
	CHECK_MEM(data[0], data[1], cap);
	free(data[0]);
	free(data[1]);
}
