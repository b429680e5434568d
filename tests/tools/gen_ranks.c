/*
 * gen_ranks.c - folders of ranks of an invented job, with clocks of their own, and the truth about them.
 *
 *	gen-ranks -o DIR [--ranks N] [--nodes M] [--kernels K] [--collectives C] [--copies P]
 *	          [--groups G] [--global E] [--skew-ms S] [--drift-ppm D] [--jitter-ns J] [--step-ns T]
 *	          [--wire-ns W] [--slow RANK] [--slow-count N] [--slow-ns L] [--miss PERMILLE]
 *	          [--overlap PERCENT] [--ntp-ns E] [--generic] [--same-names] [--seed S] [--truth FILE]
 *
 * Each of N ranks computes for a while that varies, comes to a collective, waits for the last, and all
 * leave together but for jitter. Ranks of a node share a clock: node 1's is S ms ahead of node 0's, those
 * of others are anywhere within that. With G groups, collectives are of a group but for every E-th, which
 * is of another operation unless all have the same names.
 * DIR/rank-NNNNN gets rocprof_kernels.parquet (K rows, C of them collectives), memcpy.parquet, run.json.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json_out.h"
#include "base/num.h"
#include "write/writer.h"

extern const struct rk_writer_ops rk_writer_parquet;

enum { COMPUTE_NAMES = 20, COMM_NAMES = 3, BASE_S = 1000000 };

#define WALL_NS INT64_C(1790000000000000000)

struct settings {
	uint64_t ranks, nodes, kernels, collectives, copies, groups, global;
	uint64_t skew_ms, drift_ppm, jitter_ns, step_ns, wire_ns, slow_ns, slow_count, miss,
		overlap, seed;
	int64_t slow, ntp_ns;
	bool generic, same_names;
	const char *out, *truth;
};

struct clock {
	int64_t offset;
	double drift;
};

/* What is true of a rank. */
struct truth {
	uint64_t last, collectives;
	int64_t wait_ns, caused_ns, compute_ns, comm_ns, both_ns;
};

struct world {
	struct settings s;
	struct clock *clocks;  /* by node */
	int64_t *last, *ready; /* last to come: by collective and group; by rank */
	struct truth *truth;
	struct rk_context ctx;
	uint32_t compute[COMPUTE_NAMES], comm[COMM_NAMES], directions[2];
};

static _Noreturn void die(const struct rk_error *err)
{
	fprintf(stderr, "gen-ranks: %s\n", err->message);
	exit(EXIT_FAILURE);
}

static _Noreturn void misuse(void)
{
	fputs("usage: gen-ranks -o DIR [options]; see the top of gen_ranks.c\n", stderr);
	exit(2);
}

static int64_t number(const char *text)
{
	int64_t v;

	if (rk_num_i64(text, strlen(text), &v) != RK_NUM_OK)
		misuse();
	return v;
}

/* ---- settings ---- */

static bool set_number(struct settings *s, const char *name, int64_t v)
{
	const struct {
		const char *name;
		uint64_t *to;
	} numbers[] = {
		{ "ranks", &s->ranks },         { "nodes", &s->nodes },
		{ "kernels", &s->kernels },     { "collectives", &s->collectives },
		{ "copies", &s->copies },       { "groups", &s->groups },
		{ "global", &s->global },       { "skew-ms", &s->skew_ms },
		{ "drift-ppm", &s->drift_ppm }, { "jitter-ns", &s->jitter_ns },
		{ "step-ns", &s->step_ns },     { "wire-ns", &s->wire_ns },
		{ "slow-ns", &s->slow_ns },     { "slow-count", &s->slow_count },
		{ "miss", &s->miss },           { "overlap", &s->overlap },
		{ "seed", &s->seed },
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (strcmp(name, numbers[i].name) == 0) {
			*numbers[i].to = (uint64_t)v;
			return true;
		}
	}
	return false;
}

static void parse(int argc, char **argv, struct settings *s)
{
	for (int i = 1; i < argc; i++) {
		const char *o = argv[i], *v = i + 1 < argc ? argv[i + 1] : NULL;

		if (strcmp(o, "--generic") == 0 || strcmp(o, "--same-names") == 0) {
			*(o[2] == 'g' ? &s->generic : &s->same_names) = true;
			continue;
		}
		if (!v)
			misuse();
		i++;
		if (strcmp(o, "-o") == 0)
			s->out = v;
		else if (strcmp(o, "--truth") == 0)
			s->truth = v;
		else if (strcmp(o, "--slow") == 0)
			s->slow = number(v);
		else if (strcmp(o, "--ntp-ns") == 0)
			s->ntp_ns = number(v);
		else if (strncmp(o, "--", 2) != 0 || number(v) < 0 ||
			 !set_number(s, o + 2, number(v)))
			misuse();
	}
	if (!s->out || !s->ranks || !s->nodes || s->nodes > s->ranks || !s->groups || !s->global ||
	    s->kernels < s->collectives * (s->overlap ? 2 : 1))
		misuse();
}

/* ---- chance ---- */

static double chance(const struct world *w, uint64_t what, uint64_t a, uint64_t b)
{
	uint64_t x = (w->s.seed + what * 0x9e3779b97f4a7c15u) ^ (a + 1) * 0xc2b2ae3d27d4eb4fu ^
		     (b + 1) * 0x165667b19e3779f9u;

	for (int i = 0; i < 2; i++) {
		x ^= x >> 31;
		x *= 0xbf58476d1ce4e5b9u;
		x ^= x >> 29;
	}
	return (double)(x >> 11) / 9007199254740992.0;
}

/* Most are near `usual`, few are far more. */
static int64_t tail(double u, double usual)
{
	return (int64_t)(-usual * log(1 - 0.9999 * u));
}

enum { CH_STEP = 1, CH_ARRIVE, CH_WIRE, CH_LEAVE, CH_MISS, CH_OFFSET, CH_DRIFT, CH_NTP };

/* ---- time ---- */

static uint64_t node_of(const struct world *w, uint64_t rank)
{
	return rank * w->s.nodes / w->s.ranks;
}

static uint64_t first_rank_of(const struct world *w, uint64_t node)
{
	return (node * w->s.ranks + w->s.nodes - 1) / w->s.nodes;
}

static uint64_t group_of(const struct world *w, uint64_t rank, uint64_t k)
{
	return k % w->s.global == 0 ? 0 : rank * w->s.groups / w->s.ranks;
}

static bool is_slow(const struct settings *s, int64_t rank)
{
	return s->slow >= 0 && rank >= s->slow && rank - s->slow < (int64_t)s->slow_count;
}

static int64_t arrive(const struct world *w, uint64_t rank, uint64_t k, int64_t ready)
{
	const struct settings *s = &w->s;
	double step = (double)s->step_ns;

	return ready + (int64_t)(step * (0.9 + 0.2 * chance(w, CH_STEP, k, 0))) +
	       tail(chance(w, CH_ARRIVE, rank, k), step / 50) +
	       (is_slow(s, (int64_t)rank) ? (int64_t)s->slow_ns : 0);
}

static int64_t leave(const struct world *w, uint64_t rank, uint64_t k)
{
	return w->last[k * w->s.groups + group_of(w, rank, k)] +
	       (int64_t)((double)w->s.wire_ns * (1 + 0.2 * chance(w, CH_WIRE, k, 0))) +
	       tail(chance(w, CH_LEAVE, rank, k), (double)w->s.jitter_ns);
}

static int64_t on_clock(const struct world *w, uint64_t rank, int64_t t)
{
	const struct clock *c = &w->clocks[node_of(w, rank)];

	return BASE_S * INT64_C(1000000000) + t + c->offset +
	       (int64_t)llround(c->drift * (double)t);
}

static bool is_recorded(const struct world *w, uint64_t rank, uint64_t k)
{
	return chance(w, CH_MISS, rank, k) * 1000 >= (double)w->s.miss;
}

static void judge(struct world *w, uint64_t k, const int64_t *came)
{
	const struct settings *s = &w->s;
	uint64_t latest[64] = { 0 };
	int64_t caused[64] = { 0 };

	for (uint64_t i = 0; i < s->ranks; i++) {
		uint64_t g = group_of(w, i, k);
		int64_t wait = w->last[k * s->groups + g] - came[i];

		w->truth[i].collectives++;
		w->truth[i].wait_ns += wait;
		if (g < 64) {
			caused[g] += wait;
			latest[g] = wait ? latest[g] : i;
		}
	}
	for (uint64_t g = 0; g < s->groups && g < 64; g++) {
		if (g && k % s->global == 0)
			break;
		w->truth[latest[g]].last++;
		w->truth[latest[g]].caused_ns += caused[g];
	}
}

/* When the last one comes to each collective. */
static void play(struct world *w)
{
	const struct settings *s = &w->s;
	int64_t *came = calloc(s->ranks, sizeof(*came));

	for (uint64_t k = 0; came && k < s->collectives; k++) {
		for (uint64_t i = 0; i < s->ranks; i++) {
			int64_t *last = &w->last[k * s->groups + group_of(w, i, k)];

			came[i] = arrive(w, i, k, w->ready[i]);
			*last = came[i] > *last ? came[i] : *last;
		}
		for (uint64_t i = 0; i < s->ranks; i++)
			w->ready[i] = leave(w, i, k);
		judge(w, k, came);
	}
	free(came);
}

static void open_world(struct world *w)
{
	const struct settings *s = &w->s;
	struct rk_error err = { 0 };

	w->clocks = calloc(s->nodes, sizeof(*w->clocks));
	w->last = calloc(s->collectives * s->groups + 1, sizeof(*w->last));
	w->ready = calloc(s->ranks, sizeof(*w->ready));
	w->truth = calloc(s->ranks, sizeof(*w->truth));
	if (!w->clocks || !w->last || !w->ready || !w->truth ||
	    rk_strtab_new(RK_NAMES_MAX_BYTES, &w->ctx.names, &err) < 0 ||
	    rk_diag_new(&w->ctx.diag, &err) < 0 || rk_pool_new(1, &w->ctx.pool, &err) < 0)
		die(&err);
	for (uint64_t n = 1; n < s->nodes; n++) {
		double most = (double)s->skew_ms * 1e6;

		w->clocks[n].offset =
			(int64_t)(n == 1 ? most : most * (2 * chance(w, CH_OFFSET, n, 0) - 1));
		w->clocks[n].drift =
			(double)s->drift_ppm * 1e-6 * (2 * chance(w, CH_DRIFT, n, 0) - 1);
	}
}

/* ---- rows ---- */

struct rows {
	struct rk_builder b;
	struct rk_writer *w;
	struct rk_output *out;
	uint64_t n;
};

static void rows_open(struct rows *r, struct world *w, enum rk_table t, uint64_t rank)
{
	struct rk_error err = { 0 };
	char *path = rk_strf("%s/rank-%05" PRIu64 "/%s.parquet", w->s.out, rank, rk_table_file(t));

	*r = (struct rows){ .n = 0 };
	if (!path || rk_output_open(path, &r->out, &err) < 0 ||
	    rk_writer_parquet.open(r->out, rk_table_schema(t), &w->ctx, &r->w, &err) < 0 ||
	    rk_builder_init(&r->b, rk_table_schema(t), RK_BATCH_ROWS, &err) < 0)
		die(&err);
	rk_free(path);
}

static void rows_flush(struct rows *r)
{
	struct rk_error err = { 0 };

	if (r->b.nrows && rk_writer_parquet.batch(r->w, rk_builder_batch(&r->b), &err) < 0)
		die(&err);
	rk_builder_reset(&r->b);
}

static void rows_close(struct rows *r)
{
	struct rk_error err = { 0 };

	rows_flush(r);
	if (rk_writer_parquet.finish(r->w, &err) < 0)
		die(&err);
	rk_writer_parquet.close(r->w);
	if (rk_output_commit(r->out, &err) < 0)
		die(&err);
	rk_builder_release(&r->b);
}

static void set(struct rows *r, unsigned field, int64_t v)
{
	void *data = rk_builder_column(&r->b, field);
	enum rk_type t = r->b.schema->fields[field].type;

	if (!data)
		exit(EXIT_FAILURE);
	if (t == RK_I64)
		((int64_t *)data)[r->b.nrows] = v;
	else
		((uint32_t *)data)[r->b.nrows] = (uint32_t)v;
}

static void next_row(struct rows *r)
{
	r->n++;
	if (++r->b.nrows == RK_BATCH_ROWS)
		rows_flush(r);
}

static void put_kernel(struct rows *r, const struct world *w, uint64_t rank, uint32_t name,
		       int64_t from, int64_t to, int64_t grid)
{
	const bool comm = grid > 0;
	int64_t start = on_clock(w, rank, from), end = on_clock(w, rank, to);
	uint64_t device = rank - first_rank_of(w, node_of(w, rank));

	set(r, RK_K_NAME, name);
	set(r, RK_K_START, start);
	set(r, RK_K_DURATION, end - start);
	for (unsigned i = 0; i < 3; i++) {
		set(r, RK_K_GRID_X + i, i ? 1 : comm ? grid : 64);
		set(r, RK_K_BLOCK_X + i, i ? 1 : 256);
	}
	set(r, RK_K_STREAM, comm);
	set(r, RK_K_DEVICE, (int64_t)device);
	set(r, RK_K_QUEUE, comm);
	set(r, RK_K_DISPATCH, (int64_t)r->n + 1);
	set(r, RK_K_PID, 4000 + (int64_t)device);
	next_row(r);
}

static uint64_t operation(const struct world *w, uint64_t k)
{
	if (w->s.groups == 1 || w->s.same_names)
		return k % COMM_NAMES;
	return k % w->s.global == 0 ? COMM_NAMES - 1 : k % (COMM_NAMES - 1);
}

/* A step: kernels until the rank comes, the collective, and a kernel beside it. */
static void put_step(struct rows *r, struct world *w, uint64_t rank, uint64_t k, int64_t *ready)
{
	const struct settings *s = &w->s;
	struct truth *t = &w->truth[rank];
	int64_t came = arrive(w, rank, k, *ready), left = leave(w, rank, k);
	uint64_t all = s->kernels * (k + 1) / s->collectives - s->kernels * k / s->collectives;
	uint64_t n = all - 1 - (s->overlap ? 1 : 0);
	int64_t beside = (left - came) * (int64_t)s->overlap / 100;

	for (uint64_t i = 0; i < n; i++) {
		int64_t slot = (came - *ready) / (int64_t)n, from = *ready + slot * (int64_t)i;

		put_kernel(r, w, rank, w->compute[i % COMPUTE_NAMES], from + slot / 10,
			   from + slot * 9 / 10, 0);
		t->compute_ns += on_clock(w, rank, from + slot * 9 / 10) -
				 on_clock(w, rank, from + slot / 10);
	}
	if (is_recorded(w, rank, k)) {
		put_kernel(r, w, rank, w->comm[operation(w, k)], came, left, 8 << operation(w, k));
		t->comm_ns += on_clock(w, rank, left) - on_clock(w, rank, came);
	}
	if (s->overlap) {
		put_kernel(r, w, rank, w->compute[0], came, came + beside, 0);
		beside = on_clock(w, rank, came + beside) - on_clock(w, rank, came);
		t->compute_ns += beside;
		t->both_ns += is_recorded(w, rank, k) ? beside : 0;
	}
	*ready = left;
}

static int64_t put_kernels(struct world *w, uint64_t rank)
{
	struct rows r;
	int64_t ready = 0;

	rows_open(&r, w, RK_KERNELS, rank);
	for (uint64_t k = 0; k < w->s.collectives; k++)
		put_step(&r, w, rank, k, &ready);
	for (uint64_t i = 0; !w->s.collectives && i < w->s.kernels; i++, ready += 10000)
		put_kernel(&r, w, rank, w->compute[i % COMPUTE_NAMES], ready, ready + 8000, 0);
	rows_close(&r);
	return ready;
}

static void put_copies(struct world *w, uint64_t rank, int64_t end)
{
	uint64_t device = rank - first_rank_of(w, node_of(w, rank));
	struct rows r;

	if (!w->s.copies)
		return;
	rows_open(&r, w, RK_MEMCPY, rank);
	for (uint64_t i = 0; i < w->s.copies; i++) {
		bool peer = i % 2;

		set(&r, RK_C_DIRECTION, w->directions[peer]);
		set(&r, RK_C_START, on_clock(w, rank, end / (int64_t)w->s.copies * (int64_t)i));
		set(&r, RK_C_DURATION, 20000);
		set(&r, RK_C_BYTES, 1 << 20);
		set(&r, RK_C_SRC, peer ? (int64_t)device : -1);
		if (!peer)
			rk_builder_null(&r.b, RK_C_SRC, r.b.nrows);
		set(&r, RK_C_DST, peer ? (int64_t)device + 1 : (int64_t)device);
		next_row(&r);
	}
	rows_close(&r);
}

/* ---- the other files ---- */

static void put_moment(struct rk_json_out *j, const struct world *w, const char *key, uint64_t rank,
		       int64_t t)
{
	double wrong =
		(double)w->s.ntp_ns * (2 * chance(w, CH_NTP, node_of(w, rank), (uint64_t)t) - 1);

	rk_json_object_flat(j, key);
	rk_json_int(j, "boottime_ns", on_clock(w, rank, t));
	rk_json_int(j, "realtime_ns", WALL_NS + t + (w->s.ntp_ns > 0 ? (int64_t)wrong : 0));
	rk_json_int(j, "error_ns", 100);
	rk_json_int(j, "realtime_error_ns", w->s.ntp_ns);
	rk_json_close(j);
}

static void put_facts(struct rk_json_out *j, const struct world *w, uint64_t rank)
{
	uint64_t node = node_of(w, rank);
	char name[32];

	snprintf(name, sizeof(name), "node%03" PRIu64, node);
	rk_json_int(j, "schema", 1);
	rk_json_text(j, "rockit", "0.0.0");
	rk_json_text(j, "state", "done");
	rk_json_int(j, "exit_status", 0);
	rk_json_object_flat(j, "tool");
	rk_json_text(j, "name", "rocprofv3");
	rk_json_text(j, "version", "7.0.0");
	rk_json_close(j);
	rk_json_text(j, "host", name);
	rk_json_text(j, "node", name);
	rk_json_uint(j, "rank", rank);
	rk_json_text(j, "launcher", "slurm");
	rk_json_text(j, "job", "4711");
	rk_json_text(j, "step", "0");
	rk_json_uint(j, "node_id", node);
	rk_json_uint(j, "local_rank", rank - first_rank_of(w, node));
	rk_json_uint(j, "size", w->s.ranks);
}

static void put_run(const struct world *w, uint64_t rank, int64_t end)
{
	char *path = rk_strf("%s/rank-%05" PRIu64 "/run.json", w->s.out, rank);
	struct rk_error err = { 0 };
	struct rk_json_out j;
	struct rk_bytes b;

	rk_bytes_init(&b, 1 << 20);
	rk_json_begin(&j, &b);
	put_facts(&j, w, rank);
	rk_json_object(&j, "clocks");
	rk_json_text(&j, "traces", "CLOCK_BOOTTIME");
	put_moment(&j, w, "start", rank, -1000000);
	put_moment(&j, w, "end", rank, end + 1000000);
	rk_json_close(&j);
	rk_json_object(&j, "ledger");
	rk_json_int(&j, "clock_error_ns", 100);
	rk_json_close(&j);
	rk_json_end(&j);
	if (!path || rk_write_file(path, (const char *)b.data, b.len, &err) < 0)
		die(&err);
	rk_bytes_release(&b);
	rk_free(path);
}

static void make_rank(struct world *w, uint64_t rank)
{
	char *dir = rk_strf("%s/rank-%05" PRIu64, w->s.out, rank);
	struct rk_error err = { 0 };
	int64_t end;

	if (!dir || rk_make_dirs(dir, &err) < 0)
		die(&err);
	rk_free(dir);
	end = put_kernels(w, rank);
	put_copies(w, rank, end);
	put_run(w, rank, end);
}

static void put_rank_truth(struct rk_json_out *j, const struct world *w, uint64_t rank)
{
	const struct clock *c = &w->clocks[node_of(w, rank)];
	const struct truth *t = &w->truth[rank];

	rk_json_object_flat(j, NULL);
	rk_json_uint(j, "rank", rank);
	rk_json_uint(j, "node", node_of(w, rank));
	rk_json_int(j, "offset_ns", c->offset);
	rk_json_real(j, "drift_ppm", c->drift * 1e6);
	rk_json_uint(j, "collectives", t->collectives);
	rk_json_uint(j, "last", t->last);
	rk_json_int(j, "wait_ns", t->wait_ns);
	rk_json_int(j, "caused_ns", t->caused_ns);
	rk_json_int(j, "compute_ns", t->compute_ns);
	rk_json_int(j, "comm_ns", t->comm_ns);
	rk_json_int(j, "both_ns", t->both_ns);
	rk_json_close(j);
}

/* Offsets hold when the clock of rank 0 says base_ns, and its clock is the true one. */
static void put_truth(const struct world *w)
{
	struct rk_error err = { 0 };
	struct rk_json_out j;
	struct rk_bytes b;

	rk_bytes_init(&b, 1 << 30);
	rk_json_begin(&j, &b);
	rk_json_int(&j, "base_ns", on_clock(w, 0, 0));
	rk_json_array(&j, "ranks");
	for (uint64_t i = 0; i < w->s.ranks; i++)
		put_rank_truth(&j, w, i);
	rk_json_close(&j);
	rk_json_end(&j);
	if (b.bad || rk_write_file(w->s.truth, (const char *)b.data, b.len, &err) < 0)
		die(&err);
	rk_bytes_release(&b);
}

static uint32_t intern(struct world *w, const char *text)
{
	struct rk_error err = { 0 };
	uint32_t id;

	if (rk_strtab_add(w->ctx.names, text, strlen(text), &id, &err) < 0)
		die(&err);
	return id;
}

static void make_names(struct world *w)
{
	static const char *const comm[COMM_NAMES] = {
		"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
		"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
		"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
	};
	char text[64];

	for (unsigned i = 0; i < COMPUTE_NAMES; i++) {
		snprintf(text, sizeof(text), "Cijk_Ailk_Bljk_BBS_MT%ux%ux32", 16u << i % 4, i + 8);
		w->compute[i] = intern(w, text);
	}
	for (unsigned i = 0; i < COMM_NAMES; i++)
		w->comm[i] = intern(
			w, w->s.generic ?
				   "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)" :
				   comm[i]);
	w->directions[0] = intern(w, "MEMORY_COPY_HOST_TO_DEVICE");
	w->directions[1] = intern(w, "MEMORY_COPY_DEVICE_TO_DEVICE");
}

int main(int argc, char **argv)
{
	struct world w = { .s = { .ranks = 8,
				  .nodes = 2,
				  .kernels = 1000,
				  .collectives = 100,
				  .groups = 1,
				  .global = 10,
				  .skew_ms = 3000,
				  .drift_ppm = 20,
				  .jitter_ns = 2000,
				  .step_ns = 2000000,
				  .wire_ns = 50000,
				  .slow = -1,
				  .slow_ns = 300000,
				  .slow_count = 1,
				  .ntp_ns = -1,
				  .seed = 1 } };

	parse(argc, argv, &w.s);
	open_world(&w);
	make_names(&w);
	play(&w);
	for (uint64_t i = 0; i < w.s.ranks; i++)
		make_rank(&w, i);
	if (w.s.truth)
		put_truth(&w);
	free(w.clocks);
	free(w.last);
	free(w.ready);
	free(w.truth);
	rk_pool_free(w.ctx.pool);
	rk_diag_free(w.ctx.diag);
	rk_strtab_free(w.ctx.names);
	return 0;
}
