/* xplane.c (test) - profiles of JAX, made here field by field. */
#include <stdio.h>

#include "every_alloc.h"
#include "pb_world.h"

#define BIT(f) (UINT64_C(1) << (f))

/* Adds an entry to a map of names: events (4) or statistics (5). */
static void name(struct rk_bytes *plane, uint32_t field, uint64_t id, const char *text)
{
	struct rk_bytes value = message(), entry = message();

	put_int(&value, 1, id);
	put_str(&value, 2, text);
	put_int(&entry, 1, id);
	put_message(&entry, 2, &value);
	put_message(plane, field, &entry);
}

/* A statistic of an event (4) or a plane (6): a number, or the name of another statistic. */
static void stat_int(struct rk_bytes *to, uint32_t field, uint64_t id, uint64_t v)
{
	struct rk_bytes s = message();

	put_int(&s, 1, id);
	put_int(&s, 3, v);
	put_message(to, field, &s);
}

static void stat_ref(struct rk_bytes *to, uint32_t field, uint64_t id, uint64_t ref)
{
	struct rk_bytes s = message();

	put_int(&s, 1, id);
	put_int(&s, 7, ref);
	put_message(to, field, &s);
}

static void stat_text(struct rk_bytes *to, uint32_t field, uint64_t id, const char *text)
{
	struct rk_bytes s = message();

	put_int(&s, 1, id);
	put_str(&s, 5, text);
	put_message(to, field, &s);
}

static struct rk_bytes event(uint64_t id, uint64_t offset_ps, uint64_t duration_ps)
{
	struct rk_bytes e = message();

	put_int(&e, 1, id);
	put_int(&e, 2, offset_ps);
	put_int(&e, 3, duration_ps);
	return e;
}

static struct rk_bytes line(uint64_t id, const char *text, uint64_t time_ns)
{
	struct rk_bytes l = message();

	put_int(&l, 1, id);
	put_str(&l, 2, text);
	put_int(&l, 3, time_ns);
	return l;
}

static struct rk_bytes plane(const char *text)
{
	struct rk_bytes p = message();

	put_int(&p, 1, 1);
	put_str(&p, 2, text);
	return p;
}

enum { CORRELATION = 1, DETAILS, COPY, OP, MODULE, STEP, VENDOR, CORES, CLOCK, REFS = 100 };

static void stat_names(struct rk_bytes *p)
{
	name(p, 5, CORRELATION, "correlation_id");
	name(p, 5, DETAILS, "kernel_details");
	name(p, 5, COPY, "memcpy_details");
	name(p, 5, OP, "hlo_op");
	name(p, 5, MODULE, "hlo_module");
	name(p, 5, STEP, "step_num");
	name(p, 5, VENDOR, "device_vendor");
	name(p, 5, CORES, "core_count");
	name(p, 5, CLOCK, "clock_rate");
	name(p, 5, REFS, " grid:4,2,1 block:64,1,1 private_mem:8 group_mem:16 occ_pct:0");
	name(p, 5, REFS + 1, "fusion.1");
	name(p, 5, REFS + 2, "jit_step");
	name(p, 5, REFS + 3, "kind:Unknown size:4096 dest:2 async:1");
}

/* A kernel, a copy, a line that repeats them, a call, a step and a Python function. */
static struct rk_bytes usual(const char *vendor, const char *details)
{
	struct rk_bytes space = message(), p, l, e;

	p = plane("/host:metadata");
	name(&p, 4, 15, "jit_step(15)");
	put_message(&space, 1, &p);

	p = plane("/device:GPU:3");
	l = line(17, "Stream #17(Kernel)", 1000);
	e = event(1, 2000499, 3000001); /* 3000.499 to 6000.5 */
	stat_int(&e, 4, CORRELATION, 9);
	if (details)
		stat_text(&e, 4, DETAILS, details);
	else
		stat_ref(&e, 4, DETAILS, REFS);
	stat_ref(&e, 4, OP, REFS + 1);
	stat_ref(&e, 4, MODULE, REFS + 2);
	put_message(&l, 4, &e);
	e = event(2, 9000000, 1000000);
	stat_ref(&e, 4, COPY, REFS + 3);
	put_message(&l, 4, &e);
	put_message(&p, 3, &l);
	l = line(99, "XLA Ops", 1000);
	e = event(1, 2000499, 3000001);
	put_message(&l, 4, &e);
	put_message(&p, 3, &l);
	name(&p, 4, 1, "add.kd");
	name(&p, 4, 2, "CopyDeviceToDevice");
	stat_names(&p);
	stat_text(&p, 6, VENDOR, vendor);
	stat_int(&p, 6, CORES, 304);
	stat_int(&p, 6, CLOCK, 2100000);
	put_message(&space, 1, &p);

	p = plane("/host:CPU");
	l = line(5, "Host Threads/583", 1000);
	e = event(7, 1000, 500);
	stat_int(&e, 4, CORRELATION, 9);
	put_message(&l, 4, &e);
	e = event(8, 1000, 500);
	put_message(&l, 4, &e);
	e = event(9, 0, 20000000);
	stat_int(&e, 4, STEP, 4);
	put_message(&l, 4, &e);
	put_message(&p, 3, &l);
	name(&p, 4, 7, "hipModuleLaunchKernel");
	name(&p, 4, 8, "$profiler.py:101 start_trace");
	name(&p, 4, 9, "train");
	stat_names(&p);
	put_message(&space, 1, &p);

	put_str(&space, 4, "node7");
	return space;
}

static void reads_as(const struct rk_bytes *space, enum rk_table t, const char *rows,
		     const char *warnings)
{
	struct world w;
	const char *got;

	world_open(&w, 1);
	got = world_dump(&w, world_file(&w, "a.xplane.pb", space->data, space->len), t,
			 RK_WANT_ALL);
	CHECK_STR(got ? got : w.err.message, rows);
	CHECK_STR(world_warnings(&w), warnings);
	world_close(&w);
}

TEST(xplane_kernels_are_the_events_of_streams)
{
	struct rk_bytes s = usual("AMD", NULL);

	reads_as(&s, RK_KERNELS,
		 "kernel_name=add.kd|start_ns=3000|duration_ns=3001|grid_x=4|grid_y=2|grid_z=1|"
		 "block_x=64|block_y=1|block_z=1|shared_mem=16|stream_id=17|device_id=3|"
		 "correlation_id=9|node=node7|scratch_bytes=8|grid_items_x=256|grid_items_y=2|"
		 "grid_items_z=1|source=xplane|clock=unknown\n",
		 "");
	reads_as(
		&s, RK_MEMCPY,
		"direction=MEMORY_COPY_DEVICE_TO_DEVICE|start_ns=10000|duration_ns=1000|bytes=4096|"
		"src_device=3|dst_device=3|stream_id=17|node=node7\n",
		"");
	rk_bytes_release(&s);
}

TEST(xplane_calls_operations_steps_and_gpus)
{
	struct rk_bytes s = usual("AMD", NULL);

	reads_as(
		&s, RK_API,
		"domain=HIP_RUNTIME_API|function=hipModuleLaunchKernel|start_ns=1001|duration_ns=1|"
		"correlation_id=9|tid=583|node=node7\n",
		"");
	reads_as(&s, RK_MARKERS,
		 "name=jit_step/fusion.1|kind=gpu_range|start_ns=3000|duration_ns=3001|node=node7\n"
		 "name=train|kind=range|start_ns=1000|duration_ns=20000|tid=583|node=node7\n",
		 "");
	reads_as(&s, RK_AGENTS, "device_id=3|type=GPU|cu_count=304|max_sclk_mhz=2100|node=node7\n",
		 "");
	rk_bytes_release(&s);
}

TEST(xplane_registers_of_the_older_amd_collector_are_not_used)
{
	static const char details[] = "regs:2191487992 static_shared:32462 dynamic_shared:8 "
				      "grid:219,40,1 block:256,1,1 occ_pct:0";
	struct rk_bytes s = usual("AMD", details);

	reads_as(&s, RK_KERNELS,
		 "kernel_name=add.kd|start_ns=3000|duration_ns=3001|grid_x=219|grid_y=40|grid_z=1|"
		 "block_x=256|block_y=1|block_z=1|stream_id=17|device_id=3|correlation_id=9|"
		 "node=node7|grid_items_x=56064|grid_items_y=40|grid_items_z=1|source=xplane|"
		 "clock=unknown\n",
		 "");
	rk_bytes_release(&s);
	s = usual("Nvidia", "regs:32 static_shared:100 dynamic_shared:8 grid:2,x block:256");
	reads_as(
		&s, RK_KERNELS,
		"kernel_name=add.kd|start_ns=3000|duration_ns=3001|regs=32|shared_mem=108|"
		"stream_id=17|device_id=3|correlation_id=9|node=node7|source=xplane|clock=unknown\n",
		"");
	rk_bytes_release(&s);
}

/* A space with one stream that has one event. */
static struct rk_bytes one_event(struct rk_bytes *e, uint64_t time_ns)
{
	struct rk_bytes space = message(), p = plane("/device:GPU:0"), l;

	l = line(1, "Stream #1", time_ns);
	put_message(&l, 4, e);
	put_message(&p, 3, &l);
	name(&p, 4, 1, "k");
	put_message(&space, 1, &p);
	return space;
}

TEST(xplane_events_without_details_are_copies_only_by_their_whole_name)
{
	static const struct {
		const char *name;
		bool copy;
	} cases[] = { { "FillFunctor", false },
		      { "void at::CatArrayBatchedCopy<int>", false },
		      { "MemcpyD2H", true },
		      { "Memset", true },
		      { "CopyHostToDevice", true } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rk_bytes space = message(), p = plane("/device:GPU:0"),
				e = event(1, 0, 1000);
		struct rk_bytes l = line(1, "Stream #1", 0);
		struct world w;

		put_message(&l, 4, &e);
		put_message(&p, 3, &l);
		name(&p, 4, 1, cases[i].name);
		put_message(&space, 1, &p);
		world_open(&w, 1);
		CHECK_STR(world_dump(&w, world_file(&w, "a.pb", space.data, space.len), RK_MEMCPY,
				     BIT(RK_C_START)),
			  cases[i].copy ? "start_ns=0\n" : "");
		world_close(&w);
		rk_bytes_release(&space);
	}
}

TEST(xplane_times_are_rounded_at_both_ends)
{
	static const struct {
		uint64_t line_ns, offset_ps, duration_ps;
		const char *row, *warnings;
	} cases[] = {
		{ 5, 499, 1, "start_ns=5|duration_ns=1", "" },
		{ 5, 500, 499, "start_ns=6|duration_ns=0", "" },
		{ 0, 0, 1499, "start_ns=0|duration_ns=1", "" },
		{ 0, (uint64_t)-1500, 3000, "start_ns=-1|duration_ns=3", "" },
		{ INT64_MAX - 1, 1000, 0, "start_ns=9223372036854775807|duration_ns=0", "" },
		{ INT64_MAX, 1000, 0, "", "time-out-of-range:1 " },
		{ 0, INT64_MAX, INT64_MAX, "", "time-out-of-range:1 " },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rk_bytes e = event(1, cases[i].offset_ps, cases[i].duration_ps), s;
		struct world w;
		char row[80];

		s = one_event(&e, cases[i].line_ns);
		snprintf(row, sizeof(row), "%s\n", cases[i].row);
		world_open(&w, 1);
		CHECK_STR(world_dump(&w, world_file(&w, "a.pb", s.data, s.len), RK_KERNELS,
				     BIT(RK_K_START) | BIT(RK_K_DURATION)),
			  row);
		CHECK_STR(world_warnings(&w), cases[i].warnings);
		world_close(&w);
		rk_bytes_release(&s);
	}
}

TEST(xplane_bad_inputs_are_counted_and_the_rest_is_read)
{
	static const char zeros[1 << 20];
	struct rk_bytes e, s, p, l, huge;
	size_t len;

	e = event(77, 1000, 1000); /* no such name */
	s = one_event(&e, 0);
	reads_as(&s, RK_KERNELS,
		 "start_ns=1|duration_ns=1|stream_id=1|device_id=0|source=xplane|clock=unknown\n",
		 "unknown-name:1 ");
	rk_bytes_release(&s);

	e = event(1, 1000, 1000);
	rk_bytes_puts(&e, "\x0b"); /* a group */
	s = one_event(&e, 0);
	rk_bytes_puts(&s, "\x07"); /* an invalid wire type */
	reads_as(&s, RK_KERNELS,
		 "kernel_name=k|start_ns=1|duration_ns=1|stream_id=1|device_id=0|source=xplane|"
		 "clock=unknown\n",
		 "damaged-trace:2 ");
	rk_bytes_release(&s);

	huge = event(1, 1000, 1000); /* one event of more than 1 MiB */
	put_data(&huge, 6, zeros, sizeof(zeros));
	s = one_event(&huge, 0);
	reads_as(&s, RK_KERNELS, "", "huge-event:1 ");
	rk_bytes_release(&s);

	s = message(); /* a line that is longer than its plane */
	p = plane("/device:GPU:0");
	l = line(1, "Stream #1", 0);
	len = l.len;
	put_message(&p, 3, &l);
	p.data[p.len - len - 1] = 0x7f;
	put_message(&s, 1, &p);
	put_str(&s, 4, "n");
	reads_as(&s, RK_KERNELS, "", "damaged-trace:1 ");
	rk_bytes_release(&s);

	e = event(1, 1000, 1000);
	s = one_event(&e, 0);
	put_str(&s, 2, "buffer full");
	put_str(&s, 3, "7 events lost");
	reads_as(&s, RK_MEMCPY, "", "profiler-says:2 ");
	rk_bytes_release(&s);

	s = message(); /* another kind of device */
	p = plane("/device:TPU:0");
	l = line(1, "XLA Ops", 0);
	put_message(&p, 3, &l);
	put_message(&s, 1, &p);
	reads_as(&s, RK_KERNELS, "", "other-device:1 ");
	rk_bytes_release(&s);
}

TEST(xplane_file_cut_at_any_byte_gives_what_is_there)
{
	struct rk_bytes s = usual("AMD", NULL);
	int64_t most = 0;
	unsigned whole = 0; /* cut between two planes: nothing is missing */

	for (size_t n = 60; n <= s.len; n++) {
		struct world w;
		int64_t rows;

		world_open(&w, 1);
		rows = every_row(&w, world_file(&w, "a.pb", s.data, n));
		CHECK(rows >= 0);
		most = rows > most ? rows : most;
		whole += world_warned(&w, "cut-trace") == 0;
		world_close(&w);
	}
	CHECK_I64(most, 6);
	CHECK_U64(whole, 3);
	rk_bytes_release(&s);
}

TEST(xplane_file_that_grows_after_it_was_opened_is_safe)
{
	struct rk_bytes s = usual("AMD", NULL), more = message(), p = plane("/device:GPU:4"), l;
	struct rk_reader *r = NULL;
	struct rk_source *rows = NULL;
	struct world w;
	const char *path;

	for (int i = 0; i < 100; i++) {
		struct rk_bytes e = event(1, 1000, 1000);

		l = line(1, "Stream #1", 0);
		put_message(&l, 4, &e);
		put_message(&p, 3, &l);
	}
	world_open(&w, 1);
	path = world_file(&w, "a.pb", s.data, s.len);
	CHECK_I64(rk_reader_open(path, &w.ctx, &r, &w.err), 0);
	put_message(&more, 1, &p);
	rk_bytes_put(&s, more.data, more.len);
	rk_bytes_puts(&s, "\x0a\x02\x08\x01\x0a\x02\x08\x01");
	world_file(&w, "a.pb", s.data, s.len);
	CHECK_I64(r->ops->scan(r, RK_KERNELS, BIT(RK_K_START), &rows, &w.err), 0);
	CHECK_STR(world_drain(&w, rows), "start_ns=3000\n");
	rk_reader_close(r);
	world_close(&w);
	rk_bytes_release(&more);
	rk_bytes_release(&s);
}

TEST(xplane_and_other_protobuf_files_are_not_confused)
{
	static const char text[] = "\x0a\x05hello",
			  cut[] = "\x0a\xff\xff\xff\x0f\x08\x01\x12\x20/host:";
	const struct rk_reader_ops *ops = rk_reader_by_name("xplane");
	struct rk_bytes s = usual("AMD", NULL), p;

	CHECK_I64(rk_reader_probe(ops, s.data, s.len, true), 95);
	CHECK_I64(rk_reader_probe(ops, s.data, 40, false), 95);
	CHECK_I64(rk_reader_probe(ops, text, sizeof(text) - 1, true), 0);
	CHECK_I64(rk_reader_probe(ops, cut, sizeof(cut) - 1, false), 0);
	rk_bytes_release(&s);
	s = message(); /* only statistics: the fields are those of a packet too */
	p = plane("Task Environment");
	name(&p, 5, 1, "profile_start_time");
	stat_int(&p, 6, 1, 5);
	put_message(&s, 1, &p);
	CHECK(rk_reader_probe(ops, s.data, s.len, true) >
	      rk_reader_probe(rk_reader_by_name("perfetto"), s.data, s.len, true));
	rk_bytes_release(&s);
}

TEST(xplane_survives_every_failed_allocation)
{
	struct rk_bytes s = usual("AMD", NULL);
	struct world w;

	world_open(&w, 1);
	world_file(&w, "a.pb", s.data, s.len);
	every_alloc_may_fail(w.path, 6);
	world_close(&w);
	rk_bytes_release(&s);
}
