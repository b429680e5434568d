/* run_passes.c - counters of several executions are joined to the launches they belong to. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rockit/rockit.h"
#include "run/run.h"
#include "tap.h"
#include "world.h"

#define HEAD                                                                            \
	"\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\","  \
	"\"Thread_Id\",\"Grid_Size\",\"Kernel_Id\",\"Kernel_Name\",\"Workgroup_Size\"," \
	"\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\","      \
	"\"SGPR_Count\",\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\","        \
	"\"End_Timestamp\"\n"

enum { MAX_LAUNCHES = 160, MAX_THREADS = 6, MAX_PASSES = 3 };

struct launch {
	int thread, device, queue, kernel, grid;
	int skip; /* 1: it has a number but is not recorded */
};

/* A program: the launches of each thread in order; `value` of a launch is its index here. */
struct program {
	struct launch v[MAX_LAUNCHES];
	int n, threads;
};

static void make_program(struct program *p, uint64_t *random, int threads, int devices)
{
	*p = (struct program){ .threads = threads, .n = 20 + (int)(world_random(random) % 100) };
	for (int i = 0; i < p->n; i++) {
		int thread = (int)(world_random(random) % (unsigned)threads);

		p->v[i] = (struct launch){
			.thread = thread,
			.device = thread % devices,
			.queue = (int)(world_random(random) % 2),
			.kernel = (int)(world_random(random) % 3),
			.grid = 64 << world_random(random) % 2,
		};
	}
}

/*
 * Writes one execution: threads take turns in random order, each keeps its own order. `base` is
 * added to dispatch numbers and makes thread ids different.
 */
static void write_pass(struct world *w, const struct program *p, int pass, const char *counter,
		       const int *tids, int base, uint64_t *random)
{
	struct rk_bytes b;
	int at[MAX_THREADS] = { 0 }, number = base;
	char name[64];

	rk_bytes_init(&b, 1 << 20);
	rk_bytes_puts(&b, HEAD);
	for (int left = p->n; left;) {
		int t = (int)(world_random(random) % (unsigned)p->threads);
		const struct launch *l;

		while (at[t] < p->n && p->v[at[t]].thread != t)
			at[t]++;
		if (at[t] == p->n)
			continue;
		l = &p->v[at[t]];
		number++;
		if (!l->skip)
			rk_bytes_printf(&b,
					"%d,%d,\"Agent %d\",%d,%d,%d,%d,5,\"k%d\",64,0,0,12,4,32,"
					"\"%s\",%d,%d000,%d500\n",
					number, number, 4 + l->device, 1 + l->queue, 100 + pass,
					tids[t], l->grid, l->kernel, counter, at[t], number,
					number);
		at[t]++;
		left--;
	}
	snprintf(name, sizeof(name), "pmc_%d/%d_counter_collection.csv", pass, 100 + pass);
	world_file(w, name, b.data, b.len);
	rk_bytes_release(&b);
}

struct outcome {
	int rows, joined, wrong, mixed; /* wrong: of another launch; mixed: of another kind of it */
	uint64_t by_order, not_joined;
};

static double counter_at(const struct rk_batch *b, const char *name, size_t row)
{
	for (unsigned i = RK_K_NFIELDS; i < b->schema->nfields; i++)
		if (!strcmp(b->schema->fields[i].name, name) && rk_column_has(&b->cols[i], row))
			return ((const double *)b->cols[i].data)[row];
	return NAN;
}

static bool alike(const struct launch *a, const struct launch *b)
{
	return a->device == b->device && a->kernel == b->kernel && a->grid == b->grid;
}

/* Compares C1 and C2: each is the index of its launch in its program. */
static struct outcome join(struct world *w, const struct program *p, const struct program *q)
{
	const struct rk_run_options opt = { .threads = 1 };
	const char *paths[] = { w->dir };
	const struct rk_warning *warnings;
	struct rk_source *rows = NULL;
	struct rk_run *run = NULL;
	struct outcome o = { 0 };
	const struct rk_batch *b;
	size_t n;

	if (!CHECK_I64(rk_run_open(paths, 1, &opt, &run, &w->err), 0) ||
	    !CHECK_I64(rk_run_scan_kernels(run, &rows, &w->err), 0)) {
		CHECK_STR(w->err.message, "");
		rk_run_close(run);
		return o;
	}
	while (rk_source_next(rows, &b, &w->err) > 0)
		for (size_t i = 0; i < b->nrows; i++) {
			double c1 = counter_at(b, "C1", i), c2 = counter_at(b, "C2", i);

			o.rows++;
			if (isnan(c1) || isnan(c2))
				continue;
			o.joined++;
			o.wrong += c1 != c2;
			o.mixed += !alike(&p->v[(int)c1], &q->v[(int)c2]);
		}
	warnings = rk_run_warnings(run, &n);
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(warnings[i].kind, "joined_by_order"))
			o.by_order += warnings[i].count;
		if (!strcmp(warnings[i].kind, "pass-mismatch"))
			o.not_joined += warnings[i].count;
	}
	rk_source_close(rows);
	rk_run_close(run);
	return o;
}

static const int tids1[] = { 10, 20, 30, 40, 50, 60 }, tids2[] = { 77, 78, 79, 800, 801, 900 };

TEST(launches_of_several_threads_join_in_any_order_of_the_threads)
{
	uint64_t random = 0x5eed;

	for (int i = 0; i < 60; i++) {
		int threads = 1 + i % MAX_THREADS;
		struct program p;
		struct outcome o;
		struct world w;

		world_open(&w, 1);
		make_program(&p, &random, threads, 1 + i % 2);
		write_pass(&w, &p, 1, "C1", tids1, 0, &random);
		write_pass(&w, &p, 2, "C2", tids2, i % 3 ? 0 : 1000, &random);
		o = join(&w, &p, &p);
		CHECK_I64(o.rows, p.n);
		CHECK_I64(o.joined, p.n);
		CHECK_I64(o.wrong, 0);
		CHECK_U64(o.by_order, 0);
		CHECK_U64(o.not_joined, 0);
		world_close(&w);
	}
}

/* Streams get their queues in the order of first use, which differs between executions. */
TEST(launches_join_by_thread_where_queues_have_other_numbers)
{
	uint64_t random = 0xfeed;

	for (int i = 0; i < 20; i++) {
		struct program p, q;
		struct outcome o;
		struct world w;

		world_open(&w, 1);
		make_program(&p, &random, 4, 1);
		for (int k = 0; k < p.n; k++)
			p.v[k].queue = p.v[k].thread;
		q = p;
		for (int k = 0; k < p.n; k++)
			q.v[k].queue = (p.v[k].thread + 1) % 4;
		write_pass(&w, &p, 1, "C1", tids1, 0, &random);
		write_pass(&w, &q, 2, "C2", tids2, 0, &random);
		o = join(&w, &p, &q);
		CHECK_I64(o.joined, p.n);
		CHECK_I64(o.wrong, 0);
		CHECK_U64(o.by_order, 0);
		CHECK_U64(o.not_joined, 0);
		world_close(&w);
	}
}

/* A pool gives work to any thread: only the launches are the same, not who makes them. */
TEST(launches_of_other_threads_join_by_order_and_are_counted)
{
	uint64_t random = 0xbeef;

	for (int i = 0; i < 20; i++) {
		struct program p, q;
		struct outcome o;
		struct world w;

		world_open(&w, 1);
		make_program(&p, &random, 4, 1);
		q = p;
		for (int k = 0; k < q.n; k++)
			q.v[k].thread = (int)(world_random(&random) % 4);
		write_pass(&w, &p, 1, "C1", tids1, 0, &random);
		write_pass(&w, &q, 2, "C2", tids2, 0, &random);
		o = join(&w, &p, &q);
		CHECK_I64(o.joined, p.n);
		CHECK_I64(o.mixed, 0);
		CHECK(o.by_order > 0);
		CHECK_U64(o.not_joined, 0);
		world_close(&w);
	}
}

TEST(launches_that_really_differ_are_counted_and_never_mixed)
{
	uint64_t random = 0xdead;

	for (int i = 0; i < 60; i++) {
		int threads = 1 + i % 4, at;
		struct program p, q;
		struct outcome o;
		struct world w;

		world_open(&w, 1);
		make_program(&p, &random, threads, 1);
		q = p;
		at = (int)(world_random(&random) % (unsigned)q.n);
		if (i % 3 == 0) {
			q.v[at].kernel = 7; /* another kernel */
		} else if (i % 3 == 1) {
			q.v[at].grid = 4096; /* another grid */
		} else {
			q.v[q.n] = q.v[at]; /* one launch more */
			q.v[q.n].kernel = 7;
			q.n++;
		}
		write_pass(&w, &p, 1, "C1", tids1, 0, &random);
		write_pass(&w, &q, 2, "C2", tids2, 0, &random);
		o = join(&w, &p, &q);
		CHECK_I64(o.rows, p.n);
		CHECK_I64(o.mixed, 0);
		CHECK(o.not_joined > 0);
		CHECK_I64(o.joined + (int)o.not_joined, q.n);
		world_close(&w);
	}
}

/* --kernel-iteration-range records some launches only, under their numbers. */
TEST(a_pass_that_recorded_some_launches_only_joins_by_number)
{
	uint64_t random = 0xcafe;

	for (int i = 0; i < 20; i++) {
		struct program p, q;
		struct outcome o;
		struct world w;
		int kept = 0;

		world_open(&w, 1);
		make_program(&p, &random, 1, 1);
		q = p;
		for (int k = 0; k < q.n; k++) {
			q.v[k].skip = world_random(&random) % 4 != 0;
			kept += !q.v[k].skip;
		}
		write_pass(&w, &p, 1, "C1", tids1, 0, &random);
		write_pass(&w, &q, 2, "C2", tids2, 0, &random);
		o = join(&w, &p, &q);
		CHECK_I64(o.joined, kept);
		CHECK_I64(o.mixed, 0);
		CHECK_U64(o.not_joined, 0);
		world_close(&w);
	}
}

TEST(a_counter_of_two_passes_keeps_the_value_of_the_first)
{
	uint64_t random = 1;
	struct program p, q;
	struct outcome o;
	struct world w;

	world_open(&w, 1);
	make_program(&p, &random, 1, 1);
	q = p;
	write_pass(&w, &p, 1, "C1", tids1, 0, &random);
	write_pass(&w, &q, 2, "C2", tids2, 0, &random);
	for (int k = 0; k < q.n; k++)
		q.v[k].queue = 0;
	/* the third pass repeats C1 for other launches: its values would be wrong */
	q.v[3].kernel = 7;
	write_pass(&w, &q, 3, "C1", tids2, 0, &random);
	o = join(&w, &p, &p);
	CHECK_I64(o.joined, p.n);
	CHECK_I64(o.wrong, 0);
	CHECK(o.not_joined > 0);
	world_close(&w);
}
