/* perfetto_reader.c (test) - traces as rocprofv3 writes them, made here field by field. */
#include "read/perfetto/perfetto.h"

#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "every_alloc.h"
#include "pb_world.h"

enum { BEGIN = 1, END = 2, INSTANT = 3, COUNTER = 4 };

/* Packets under way: one track event with its annotations. */
struct writer {
	struct rk_bytes trace, event;
	uint64_t time, clock;
};

static void note_int(struct writer *w, const char *name, uint64_t v)
{
	struct rk_bytes a = message();

	put_str(&a, 10, name);
	put_int(&a, 3, v);
	put_message(&w->event, 4, &a);
}

static void note_str(struct writer *w, const char *name, const char *v)
{
	struct rk_bytes a = message();

	put_str(&a, 10, name);
	put_str(&a, 6, v);
	put_message(&w->event, 4, &a);
}

static void note_double(struct writer *w, const char *name, double v)
{
	struct rk_bytes a = message();

	put_str(&a, 10, name);
	put_double(&a, 5, v);
	put_message(&w->event, 4, &a);
}

static void event(struct writer *w, uint64_t time, int type, uint64_t track)
{
	w->event = message();
	w->time = time;
	put_int(&w->event, 9, (uint64_t)type);
	put_int(&w->event, 11, track);
}

static void named(struct writer *w, const char *category, const char *name)
{
	put_str(&w->event, 22, category);
	put_str(&w->event, 23, name);
}

static void done(struct writer *w)
{
	struct rk_bytes p = message();

	put_int(&p, 8, w->time);
	if (w->clock)
		put_int(&p, 58, w->clock);
	put_int(&p, 10, 1);
	put_message(&p, 11, &w->event);
	put_message(&w->trace, 1, &p);
}

static void end(struct writer *w, uint64_t time, uint64_t track)
{
	event(w, time, END, track);
	done(w);
}

static void slice(struct writer *w, uint64_t from, uint64_t to, uint64_t track,
		  const char *category, const char *name)
{
	event(w, from, BEGIN, track);
	named(w, category, name);
	done(w);
	end(w, to, track);
}

static void track(struct writer *w, uint64_t uuid, uint64_t parent, const char *name, int pid,
		  int tid)
{
	struct rk_bytes p = message(), d = message(), ids = message();

	put_int(&d, 1, uuid);
	if (name)
		put_str(&d, 2, name);
	if (parent)
		put_int(&d, 5, parent);
	if (pid)
		put_int(&ids, 1, (uint64_t)pid);
	if (tid)
		put_int(&ids, 2, (uint64_t)tid);
	if (pid)
		put_message(&d, tid ? 4 : 3, &ids);
	rk_bytes_release(&ids);
	put_int(&p, 10, 1);
	put_message(&p, 60, &d);
	put_message(&w->trace, 1, &p);
}

static void begin(struct writer *w)
{
	*w = (struct writer){ .trace = message() };
}

/* One table of the trace so far. */
static void reads_as(struct writer *w, enum rk_table t, const char *rows, const char *warnings)
{
	struct world wd;
	const char *got, *path;

	world_open(&wd, 1);
	path = world_file(&wd, "t.pftrace", w->trace.data, w->trace.len);
	got = world_dump(&wd, path, t, RK_WANT_ALL);
	CHECK_STR(got ? got : wd.err.message, rows);
	CHECK_STR(world_warnings(&wd), warnings);
	world_close(&wd);
}

static void finish(struct writer *w)
{
	rk_bytes_release(&w->trace);
}

/* ---- tests ---- */

static void usual(struct writer *w)
{
	begin(w);
	track(w, 1, 0, NULL, 500, 0);
	track(w, 2, 1, "main", 500, 501);
	track(w, 3, 1, "STREAM [\" 5 \"] ", 0, 0);
	event(w, 900, BEGIN, 2);
	named(w, "hip_api", "hipLaunchKernel");
	note_int(w, "begin_ns", 901);
	note_int(w, "end_ns", 951);
	note_int(w, "corr_id", 7);
	done(w);
	end(w, 950, 2);
	event(w, 1000, BEGIN, 3);
	named(w, "kernel_dispatch", "add(int*, int)");
	note_int(w, "begin_ns", 1001);
	note_int(w, "end_ns", 1501);
	note_int(w, "delta_ns", 500);
	note_int(w, "kind", 11);
	note_int(w, "agent", 4);
	note_str(w, "agent_type", "GPU");
	note_int(w, "corr_id", 7);
	note_int(w, "tid", 501);
	note_int(w, "queue", 2);
	note_int(w, "Scratch_Size", 16);
	note_int(w, "LDS_Block_Size", 512);
	note_int(w, "VGPR_Count", 32);
	note_int(w, "Accum_VGPR_Count", 4);
	note_int(w, "SGPR_Count", 48);
	note_int(w, "workgroup_size", 64);
	note_int(w, "grid_size", 1000);
	note_double(w, "SQ_WAVES", 16);
	note_double(w, "GRBM_COUNT", 0.5);
	done(w);
	end(w, 1480, 3);
	event(w, 2000, BEGIN, 3);
	named(w, "memory_copy", "HOST_TO_DEVICE");
	note_int(w, "src_agent", 0);
	note_str(w, "dst_agent", "Agent 4");
	note_int(w, "copy_bytes", 4096);
	note_int(w, "stream_ID", 6);
	done(w);
	end(w, 2100, 3);
	slice(w, 10, 90, 2, "marker_api", "step 1");
	event(w, 95, INSTANT, 2);
	named(w, "marker_api", "here");
	done(w);
}

TEST(perfetto_kernels_have_the_times_and_values_of_annotations)
{
	struct writer w;

	usual(&w);
	reads_as(&w, RK_KERNELS,
		 "kernel_name=add(int*, int)|start_ns=1001|duration_ns=500|regs=36|shared_mem=512|"
		 "stream_id=5|device_id=4|queue_id=2|correlation_id=7|pid=500|tid=501|vgpr=32|"
		 "accum_vgpr=4|sgpr=48|scratch_bytes=16|source=perfetto|clock=boottime\n",
		 "");
	finish(&w);
}

TEST(perfetto_counters_are_double_annotations_of_kernels)
{
	struct writer w;

	usual(&w);
	reads_as(&w, RK_COUNTERS,
		 "kernel_name=add(int*, int)|counter=SQ_WAVES|value=16|device_id=4|"
		 "pid=500\n"
		 "kernel_name=add(int*, int)|counter=GRBM_COUNT|value=0.5|"
		 "device_id=4|pid=500\n",
		 "");
	finish(&w);
}

TEST(perfetto_copies_calls_and_markers)
{
	struct writer w;

	usual(&w);
	reads_as(&w, RK_MEMCPY,
		 "direction=MEMORY_COPY_HOST_TO_DEVICE|start_ns=2000|duration_ns=100|bytes=4096|"
		 "src_device=0|dst_device=4|stream_id=6|pid=500\n",
		 "");
	reads_as(&w, RK_API,
		 "domain=HIP_API|function=hipLaunchKernel|start_ns=901|duration_ns=50|"
		 "correlation_id=7|pid=500|tid=501\n",
		 "");
	reads_as(&w, RK_MARKERS,
		 "name=step 1|kind=range|start_ns=10|duration_ns=80|pid=500|tid=501\n"
		 "name=here|kind=mark|start_ns=95|duration_ns=0|pid=500|tid=501\n",
		 "");
	finish(&w);
}

TEST(perfetto_traces_of_hips_own_profiler)
{
	const uint64_t call = (UINT64_C(0x1000) << 20) | 1, lane = (UINT64_C(0x2003) << 20) | 2,
		       memory = UINT64_C(0x3000) << 20;
	struct writer w;

	begin(&w);
	track(&w, 0x1000, 0, "CPU HIP [app]", 1024, 0);
	track(&w, call, 0x1000, "HIP Thread 1", 0, 0);
	track(&w, 0x2003, 0, "gfx942 [Device 3]", 3, 0);
	track(&w, lane, 0x2003, "Stream 0x10", 0, 0);
	slice(&w, 100, 150, call, "hip", "hipLaunchKernel");
	event(&w, 200, BEGIN, lane);
	named(&w, "gpu", "add(float*)");
	note_str(&w, "grid", "16x2x1");
	note_str(&w, "block", "256x1x1");
	note_str(&w, "stream", "0x10");
	done(&w);
	end(&w, 260, lane);
	slice(&w, 270, 280, lane, "gpu", "Barrier");
	event(&w, 300, BEGIN, lane);
	named(&w, "gpu", "H2D_Rect");
	note_str(&w, "bytes", "4096");
	done(&w);
	end(&w, 340, lane);
	event(&w, 50, BEGIN, memory);
	named(&w, "memory", "hipMalloc");
	note_str(&w, "ptr", "0x7f00");
	note_str(&w, "size", "8192");
	done(&w);
	end(&w, 900, memory);
	reads_as(&w, RK_KERNELS,
		 "kernel_name=add(float*)|start_ns=200|duration_ns=60|grid_x=16|grid_y=2|grid_z=1|"
		 "block_x=256|block_y=1|block_z=1|stream_id=16|device_id=3|"
		 "grid_items_x=4096|grid_items_y=2|grid_items_z=1|source=perfetto|clock=boottime\n",
		 "");
	reads_as(&w, RK_MEMCPY,
		 "direction=MEMORY_COPY_HOST_TO_DEVICE|start_ns=300|duration_ns=40|bytes=4096\n",
		 "");
	reads_as(&w, RK_API,
		 "domain=HIP_API|function=hipLaunchKernel|start_ns=100|duration_ns=50\n", "");
	reads_as(&w, RK_MEMALLOC, "operation=hipMalloc|start_ns=50|bytes=8192|address=32512\n", "");
	reads_as(&w, RK_MARKERS, "", "");
	finish(&w);
}

TEST(perfetto_sizes_may_be_text_with_three_numbers)
{
	struct writer w;

	begin(&w);
	track(&w, 3, 0, "COMPUTE Agent [4] QUEUE [2] GPU", 0, 0);
	event(&w, 1, BEGIN, 3);
	named(&w, "kernel_dispatch", "k");
	note_str(&w, "workgroup_size", "64,2,1");
	note_str(&w, "grid_size", "(x=65, y=7, z=1)");
	done(&w);
	end(&w, 3, 3);
	reads_as(&w, RK_KERNELS,
		 "kernel_name=k|start_ns=1|duration_ns=2|grid_x=2|grid_y=4|grid_z=1|block_x=64|"
		 "block_y=2|block_z=1|stream_id=2|device_id=4|queue_id=2|"
		 "grid_items_x=65|grid_items_y=7|grid_items_z=1|source=perfetto|clock=boottime\n",
		 "");
	finish(&w);
}

/* InternedData entry {iid, text}. */
static void intern(struct rk_bytes *data, uint32_t kind, uint64_t iid, const char *text)
{
	struct rk_bytes e = message();

	put_int(&e, 1, iid);
	put_str(&e, 2, text);
	put_message(data, kind, &e);
}

/* A packet with interned names and, in front of them, the event that uses them. */
static void interned_slice(struct writer *w, uint32_t sequence, uint32_t flags, uint64_t iid,
			   const char *name, uint64_t time)
{
	struct rk_bytes p = message(), e = message(), data = message(), a = message();

	put_int(&e, 9, BEGIN);
	put_int(&e, 11, sequence);
	put_int(&e, 3, 1);
	put_int(&e, 10, iid);
	put_int(&a, 1, 4); /* name_iid */
	put_int(&a, 17, 9);
	put_message(&e, 4, &a);
	put_int(&p, 8, time);
	put_int(&p, 10, sequence);
	put_message(&p, 11, &e);
	if (name) {
		intern(&data, 1, 1, "hsa_api");
		intern(&data, 2, iid, name);
		intern(&data, 3, 4, "tid");
		intern(&data, 29, 9, "77");
		put_message(&p, 12, &data);
	}
	rk_bytes_release(&data);
	if (flags)
		put_int(&p, 13, flags);
	put_message(&w->trace, 1, &p);
	end(w, time + 5, sequence);
}

TEST(perfetto_names_are_interned_per_sequence_until_cleared)
{
	struct writer w;

	begin(&w);
	interned_slice(&w, 1, 1, 8, "hsa_init", 10);
	interned_slice(&w, 2, 1, 8, "hsa_shut_down", 20);
	interned_slice(&w, 1, 2, 8, NULL, 30);
	reads_as(&w, RK_API,
		 "domain=HSA_API|function=hsa_init|start_ns=10|duration_ns=5|tid=77\n"
		 "domain=HSA_API|function=hsa_shut_down|start_ns=20|duration_ns=5|tid=77\n"
		 "domain=HSA_API|function=hsa_init|start_ns=30|duration_ns=5|tid=77\n",
		 "");
	interned_slice(&w, 1, 1, 8, NULL, 40);
	reads_as(&w, RK_MARKERS, "kind=range|start_ns=40|duration_ns=5\n", "unknown-name:1 ");
	finish(&w);
}

TEST(perfetto_slices_nest_on_a_track)
{
	struct writer w;

	begin(&w);
	event(&w, 10, BEGIN, 2);
	named(&w, "hip_api", "outer");
	done(&w);
	slice(&w, 20, 30, 2, "hip_api", "inner");
	slice(&w, 22, 90, 3, "hip_api", "elsewhere");
	end(&w, 40, 2);
	reads_as(&w, RK_API,
		 "domain=HIP_API|function=inner|start_ns=20|duration_ns=10\n"
		 "domain=HIP_API|function=elsewhere|start_ns=22|duration_ns=68\n"
		 "domain=HIP_API|function=outer|start_ns=10|duration_ns=30\n",
		 "");
	finish(&w);
}

/* The SDK's way: times count from the event before, the track is a default. */
TEST(perfetto_times_of_an_incremental_clock)
{
	struct rk_bytes p = message(), snap = message(), c = message(), d = message(),
			t = message();
	struct writer w;

	begin(&w);
	put_int(&c, 1, 6);
	put_int(&c, 2, 1000000);
	put_message(&snap, 1, &c);
	c = message();
	put_int(&c, 1, 64);
	put_int(&c, 2, 2);
	put_int(&c, 3, 1);
	put_int(&c, 4, 1000);
	put_message(&snap, 1, &c);
	put_int(&t, 11, 9);
	put_int(&d, 58, 64);
	put_message(&d, 11, &t);
	put_int(&p, 10, 1);
	put_message(&p, 6, &snap);
	put_message(&p, 59, &d);
	put_message(&w.trace, 1, &p);
	slice(&w, 3, 4, 2, "hip_api", "a"); /* 3 us on, 4 us long */
	w.clock = 6;
	slice(&w, 50, 60, 2, "hip_api", "b");
	w.clock = 0;
	slice(&w, 1, 1, 2, "hip_api", "c");
	reads_as(&w, RK_API,
		 "domain=HIP_API|function=a|start_ns=1003000|duration_ns=4000\n"
		 "domain=HIP_API|function=b|start_ns=50|duration_ns=10\n"
		 "domain=HIP_API|function=c|start_ns=1008000|duration_ns=1000\n",
		 "");
	finish(&w);
}

TEST(perfetto_slices_without_a_beginning_or_an_end_are_reported)
{
	struct writer w;

	begin(&w);
	end(&w, 5, 2);
	event(&w, 10, BEGIN, 2);
	named(&w, "hip_api", "killed");
	done(&w);
	event(&w, 11, BEGIN, 2);
	named(&w, "hip_api", "known");
	note_int(&w, "begin_ns", 11);
	note_int(&w, "end_ns", 15);
	done(&w);
	reads_as(&w, RK_API,
		 "domain=HIP_API|function=known|start_ns=11|duration_ns=4\n"
		 "domain=HIP_API|function=killed|start_ns=10\n",
		 "unclosed-slice:2 unmatched-end:1 ");
	finish(&w);
}

TEST(perfetto_numbers_out_of_range_are_empty)
{
	struct writer w;

	begin(&w);
	event(&w, UINT64_MAX, BEGIN, 2);
	named(&w, "kernel_dispatch", "k");
	note_int(&w, "VGPR_Count", UINT64_MAX);
	note_int(&w, "LDS_Block_Size", 1u << 31);
	note_str(&w, "agent", "99999999999999999999");
	done(&w);
	end(&w, 3, 2);
	reads_as(&w, RK_KERNELS, "kernel_name=k|source=perfetto|clock=boottime\n",
		 "number-out-of-range:1 time-out-of-range:1 ");
	finish(&w);
}

TEST(perfetto_lost_huge_compressed_and_damaged_packets_are_reported)
{
	struct rk_bytes p;
	struct writer w;

	begin(&w);
	slice(&w, 1, 2, 2, "hip_api", "a");
	p = message();
	put_int(&p, 10, 1);
	put_int(&p, 42, 1);
	put_message(&w.trace, 1, &p);
	p = message();
	put_int(&p, 10, 1);
	put_str(&p, 50, "zlib");
	put_message(&w.trace, 1, &p);
	put_data(&w.trace, 1, "\x08\x01\x0b", 3);
	p = message();
	rk_bytes_reserve(&p, (16 << 20) + 1);
	memset(p.data, 0, (16 << 20) + 1);
	p.len = (16 << 20) + 1;
	put_message(&w.trace, 1, &p);
	slice(&w, 3, 4, 2, "hip_api", "b");
	reads_as(&w, RK_API,
		 "domain=HIP_API|function=a|start_ns=1|duration_ns=1\n"
		 "domain=HIP_API|function=b|start_ns=3|duration_ns=1\n",
		 "lost-packets:1 compressed-packets:1 damaged-packet:1 huge-packet:1 ");
	finish(&w);
}

/* ---- compressed packets ---- */

enum { DEFLATE = 50, ZSTD = 133 };

/* Packs the bytes; `after` more bytes follow the frame. */
static struct rk_bytes packed(int codec, const struct rk_bytes *plain, size_t after)
{
	struct rk_bytes b;
	uLongf zlen;

	rk_bytes_init(&b, 128 << 20);
	CHECK(rk_bytes_reserve(&b, ZSTD_compressBound(plain->len) + after + 64));
	zlen = b.cap;
	if (codec == DEFLATE) {
		CHECK(compress(b.data, &zlen, plain->data, plain->len) == Z_OK);
		b.len = zlen;
	} else {
		b.len = ZSTD_compress(b.data, b.cap, plain->data, plain->len, 3);
	}
	memset(b.data + b.len, 0, after);
	b.len += after;
	return b;
}

/* Adds a packet with the bytes as its bundle; releases them. */
static void add_bundle(struct rk_bytes *trace, int codec, struct rk_bytes *packed)
{
	struct rk_bytes p = message();

	put_message(&p, (uint32_t)codec, packed);
	put_message(trace, 1, &p);
}

/* The trace of `usual` as one bundle. */
static void usual_packed(struct writer *w, int codec)
{
	struct rk_bytes plain, p;

	usual(w);
	plain = w->trace;
	w->trace = message();
	p = packed(codec, &plain, 0);
	add_bundle(&w->trace, codec, &p);
	rk_bytes_release(&plain);
}

TEST(perfetto_compressed_packets_give_the_same_rows)
{
	for (int codec = DEFLATE; codec <= ZSTD; codec += ZSTD - DEFLATE) {
		struct writer plain, w;
		struct world a, b;

		usual(&plain);
		usual_packed(&w, codec);
		world_open(&a, 1);
		world_open(&b, 1);
		world_file(&a, "t.pftrace", plain.trace.data, plain.trace.len);
		world_file(&b, "t.pftrace", w.trace.data, w.trace.len);
		for (int t = RK_KERNELS; t <= RK_COUNTERS; t++) {
			const char *want = world_dump(&a, a.path, (enum rk_table)t, RK_WANT_ALL);

			CHECK_STR(world_dump(&b, b.path, (enum rk_table)t, RK_WANT_ALL), want);
		}
		CHECK_STR(world_warnings(&b), "");
		world_close(&a);
		world_close(&b);
		finish(&plain);
		finish(&w);
	}
}

TEST(perfetto_bundle_may_have_more_rows_than_a_batch)
{
	struct writer w;
	struct world wd;
	struct rk_bytes plain, p;

	begin(&w);
	for (unsigned i = 0; i < 3 * RK_BATCH_ROWS; i++)
		slice(&w, i, i + 1, 2, "hip_api", "a");
	plain = w.trace;
	w.trace = message();
	p = packed(ZSTD, &plain, 0);
	add_bundle(&w.trace, ZSTD, &p);
	rk_bytes_release(&plain);
	world_open(&wd, 1);
	CHECK_I64(every_row(&wd, world_file(&wd, "t.pftrace", w.trace.data, w.trace.len)),
		  3 * RK_BATCH_ROWS);
	world_close(&wd);
	finish(&w);
}

TEST(perfetto_bundles_that_nest_or_are_damaged_are_skipped)
{
	static const struct {
		const char *what;
		int how;
		bool kept; /* the slice in the bundle is read */
	} cases[] = {
		{ "bytes follow the frame", 1, false },
		{ "cut", 2, false },
		{ "a byte is wrong", 3, false },
		{ "it has another bundle", 4, false },
		{ "the packets end in junk", 5, true },
		{ "a packet is longer than the rest", 6, true },
		{ "it has no packets", 7, false },
		{ "two frames", 8, false },
		{ "it unpacks to 64 MiB", 9, false },
		{ "it is empty", 10, false },
	};

	for (int codec = DEFLATE; codec <= ZSTD; codec += ZSTD - DEFLATE) {
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			struct rk_bytes plain, p, q;
			struct writer w;

			begin(&w);
			slice(&w, 1, 2, 2, "hip_api", "in");
			plain = w.trace;
			w.trace = message();
			if (cases[i].how == 4) {
				q = message();
				p = packed(codec, &plain, 0);
				add_bundle(&q, codec, &p);
				rk_bytes_release(&plain);
				plain = q;
			}
			if (cases[i].how == 5)
				rk_bytes_puts(&plain, "\x12\x01 ");
			if (cases[i].how == 6)
				rk_bytes_puts(&plain, "\x0a\x7f ");
			if (cases[i].how == 7)
				rk_bytes_clear(&plain);
			if (cases[i].how == 9) {
				rk_bytes_clear(&plain);
				CHECK(rk_bytes_reserve(&plain, PF_MAX_BUNDLE));
				plain.len = PF_MAX_BUNDLE;
				memset(plain.data, 0, plain.len);
			}
			p = packed(codec, &plain, cases[i].how == 1 ? 3 : 0);
			if (cases[i].how == 2)
				p.len -= 5;
			if (cases[i].how == 10)
				p.len = 0;
			if (cases[i].how == 3)
				p.data[codec == DEFLATE ? p.len / 2 : 1] ^= 0x55;
			if (cases[i].how == 8) {
				q = packed(codec, &plain, 0);
				rk_bytes_put(&p, q.data, q.len);
				rk_bytes_release(&q);
			}
			rk_bytes_release(&plain);
			slice(&w, 5, 6, 2, "hip_api", "before");
			add_bundle(&w.trace, codec, &p);
			slice(&w, 7, 8, 2, "hip_api", "after");
			reads_as(
				&w, RK_API,
				cases[i].kept ?
					"domain=HIP_API|function=before|start_ns=5|duration_ns=1\n"
					"domain=HIP_API|function=in|start_ns=1|duration_ns=1\n"
					"domain=HIP_API|function=after|start_ns=7|duration_ns=1\n" :
					"domain=HIP_API|function=before|start_ns=5|duration_ns=1\n"
					"domain=HIP_API|function=after|start_ns=7|duration_ns=1\n",
				cases[i].how == 7 ? "" : "compressed-packets:1 ");
			finish(&w);
		}
	}
}

TEST(perfetto_file_that_is_one_large_bundle_is_recognised)
{
	for (int codec = DEFLATE; codec <= ZSTD; codec += ZSTD - DEFLATE) {
		const struct rk_reader_ops *ops = rk_reader_by_name("perfetto");
		struct writer w;
		char head[25];

		usual_packed(&w, codec);
		CHECK_I64(rk_reader_probe(ops, w.trace.data, 20, false), 85);
		CHECK_I64(rk_reader_probe(ops, w.trace.data, 6, false), 0);
		/* only this bundle is whole */
		CHECK_I64(rk_reader_probe(ops, w.trace.data, w.trace.len, false), 85);
		/* an ordinary packet is before it */
		memcpy(head, "\x0a\x03\xf8\x04\x01", 5);
		memcpy(head + 5, w.trace.data, 20);
		CHECK_I64(rk_reader_probe(ops, head, sizeof(head), false), 85);
		CHECK_I64(rk_reader_probe(ops, head, 6, false), 0);
		w.trace.data[w.trace.data[1] & 0x80 ? 3 : 2] ^= 1; /* another field */
		CHECK_I64(rk_reader_probe(ops, w.trace.data, 20, false), 0);
		finish(&w);
	}
}

TEST(perfetto_bundle_survives_every_failed_allocation)
{
	struct writer w;
	struct world wd;

	usual_packed(&w, DEFLATE);
	world_open(&wd, 1);
	world_file(&wd, "t.pftrace", w.trace.data, w.trace.len);
	every_alloc_may_fail(wd.path, 7);
	world_close(&wd);
	finish(&w);
}

TEST(perfetto_trace_cut_at_any_byte_gives_what_is_there)
{
	struct writer w;
	size_t len, least = 0;

	usual(&w);
	len = w.trace.len;
	for (size_t n = 200; n < len; n++) {
		struct world wd;
		int64_t rows;

		world_open(&wd, 1);
		rows = every_row(&wd, world_file(&wd, "t.pftrace", w.trace.data, n));
		CHECK(rows >= (int64_t)least);
		least = rows > 0 ? (size_t)rows : least;
		world_close(&wd);
	}
	CHECK_U64(least, 6); /* all but the mark at the very end */
	w.trace.len = 300;
	reads_as(&w, RK_MARKERS, "", "cut-trace:1 ");
	w.trace.len = len;
	rk_bytes_puts(&w.trace, "plain text behind it");
	reads_as(&w, RK_MEMCPY,
		 "direction=MEMORY_COPY_HOST_TO_DEVICE|start_ns=2000|duration_ns=100|bytes=4096|"
		 "src_device=0|dst_device=4|stream_id=6|pid=500\n",
		 "damaged-trace:1 ");
	finish(&w);
}

TEST(perfetto_open_slices_have_a_limit)
{
	struct writer w;
	struct world wd;
	struct rk_bytes p, e;

	begin(&w);
	for (int i = 0; i < PF_MAX_SLICES + 10; i++) {
		p = message();
		e = message();
		put_int(&e, 9, BEGIN);
		put_int(&e, 11, 5);
		put_message(&p, 11, &e);
		put_message(&w.trace, 1, &p);
	}
	for (int i = 0; i < PF_MAX_SLICES + 10; i++)
		end(&w, 1, 5);
	world_open(&wd, 1);
	CHECK_I64(every_row(&wd, world_file(&wd, "t.pftrace", w.trace.data, w.trace.len)),
		  PF_MAX_SLICES);
	CHECK_U64(world_warned(&wd, "slice-limit"), 10);
	CHECK_U64(world_warned(&wd, "unmatched-end"), 0);
	world_close(&wd);
	finish(&w);
}

TEST(perfetto_survives_every_failed_allocation)
{
	struct writer w;
	struct world wd;

	usual(&w);
	world_open(&wd, 1);
	world_file(&wd, "t.pftrace", w.trace.data, w.trace.len);
	every_alloc_may_fail(wd.path, 7);
	world_close(&wd);
	finish(&w);
}

TEST(perfetto_text_and_other_bytes_are_not_a_trace)
{
	static const char *const others[] = { "\nKind,Agent_Id\n1,2\n", "\n\n\n", "\n\x05hello",
					      "\n\xff\xff\xff\xff" };

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		CHECK_I64(rk_reader_probe(rk_reader_by_name("perfetto"), others[i],
					  strlen(others[i]), true),
			  0);
}
