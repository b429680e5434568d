/*
 * kineto.c - traces of PyTorch's profiler (Kineto), AMD and NVIDIA.
 *
 * Framework operators (cat "cpu_op") and Python frames have no table and are skipped. Times are
 * decimal microseconds since baseTimeNanoseconds, which we do not add: the profiler's own viewer
 * shows them without it. Some releases write them since 1970.
 *
 * The pid of a GPU event is its device, not a process, and only newer releases repeat what a
 * communication kernel does in its arguments. Other events of the document know both, and they may
 * come later. So we read the document once for these facts before we read rows that need them.
 *
 * The profiler records one process, and "distributedInfo" has its rank. Tools that merge the traces
 * of many ranks give each event its rank, and numbers of its own for pids.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/text.h"
#include "read/kineto/chrome_json.h"

#define B(f) (UINT64_C(1) << (f))

enum {
	F_PH,
	F_CAT,
	F_PID,
	F_NAME,
	F_TID,
	F_TS,
	F_DUR,
	F_RECORDED,
	F_DEVICE,
	F_STREAM,
	F_CORRELATION,
	F_REGS,
	F_SHARED,
	F_BYTES,
	F_FROM,
	F_TO,
	F_THREAD,
	F_GRID,
	F_BLOCK = F_GRID + 3,
	F_RANK = F_BLOCK + 3,
	F_PID_RAW,
	F_EXTERNAL,
	F_KERNEL,
	F_COLLECTIVE,
	F_GROUP,
	F_GROUP_ID,
	F_GROUP_RANKS,
	F_DTYPE,
	F_IN,
	F_OUT,
	F_SEQ,
	F_NFIELDS
};

static const struct rk_json_field fields[F_NFIELDS] = {
	[F_PH] = { "ph", RK_JSON_AS_TEXT },
	[F_CAT] = { "cat", RK_JSON_AS_TEXT, true },
	[F_PID] = { "pid", RK_JSON_AS_I64 },
	[F_NAME] = { "name", RK_JSON_AS_TEXT },
	[F_TID] = { "tid", RK_JSON_AS_I64 },
	[F_TS] = { "ts", RK_JSON_AS_MICRO },
	[F_DUR] = { "dur", RK_JSON_AS_MICRO },
	[F_RECORDED] = { "args/recorded dur", RK_JSON_AS_MICRO }, /* by rockit: durations < 0 */
	[F_DEVICE] = { "args/device", RK_JSON_AS_I64 },
	[F_STREAM] = { "args/stream", RK_JSON_AS_I64 },
	[F_CORRELATION] = { "args/correlation", RK_JSON_AS_I64 },
	[F_REGS] = { "args/registers per thread", RK_JSON_AS_I64 },
	[F_SHARED] = { "args/shared memory", RK_JSON_AS_I64 },
	[F_BYTES] = { "args/bytes", RK_JSON_AS_I64 },
	[F_FROM] = { "args/fromDevice", RK_JSON_AS_I64 },
	[F_TO] = { "args/toDevice", RK_JSON_AS_I64 },
	[F_THREAD] = { "args/tid", RK_JSON_AS_I64 }, /* written by rockit: calls on an extra lane */
	[F_GRID] = { "args/grid/0", RK_JSON_AS_I64 },
	[F_GRID + 1] = { "args/grid/1", RK_JSON_AS_I64 },
	[F_GRID + 2] = { "args/grid/2", RK_JSON_AS_I64 },
	[F_BLOCK] = { "args/block/0", RK_JSON_AS_I64 },
	[F_BLOCK + 1] = { "args/block/1", RK_JSON_AS_I64 },
	[F_BLOCK + 2] = { "args/block/2", RK_JSON_AS_I64 },
	[F_RANK] = { "args/rank", RK_JSON_AS_I64 },       /* of a merged trace, and ... */
	[F_PID_RAW] = { "args/pid_raw", RK_JSON_AS_I64 }, /* ... pid before the merge */
	[F_EXTERNAL] = { "args/External id", RK_JSON_AS_I64 },
	[F_KERNEL] = { "args/kernel", RK_JSON_AS_TEXT }, /* of a launch */
	[F_COLLECTIVE] = { "args/Collective name", RK_JSON_AS_TEXT },
	[F_GROUP] = { "args/Process Group Name", RK_JSON_AS_TEXT },
	[F_GROUP_ID] = { "args/Process Group ID", RK_JSON_AS_TEXT }, /* PyTorch before 2.3 */
	[F_GROUP_RANKS] = { "args/Process Group Ranks", RK_JSON_AS_TEXT },
	[F_DTYPE] = { "args/dtype", RK_JSON_AS_TEXT },
	[F_IN] = { "args/In msg nelems", RK_JSON_AS_I64 },
	[F_OUT] = { "args/Out msg nelems", RK_JSON_AS_I64 },
	[F_SEQ] = { "args/Seq", RK_JSON_AS_I64 },
};

/* Categories of PyTorch since 1.12, and those of earlier releases. */
static const struct {
	const char *cat;
	enum rk_table table;
} categories[] = {
	{ "kernel", RK_KERNELS },
	{ "gpu_memcpy", RK_MEMCPY },
	{ "gpu_memset", RK_MEMCPY },
	{ "cuda_runtime", RK_API },
	{ "cuda_driver", RK_API },
	{ "hip_runtime", RK_API },
	{ "hip_driver", RK_API },
	{ "user_annotation", RK_MARKERS },
	{ "gpu_user_annotation", RK_MARKERS },
	{ "memcpy", RK_MEMCPY },
	{ "memset", RK_MEMCPY },
	{ "runtime", RK_API },
};

static enum rk_table table_of(struct chrome_scan *s)
{
	const struct rk_json_value *v = &s->record.values[F_CAT];
	const char *cat = rk_json_record_text(&s->record, F_CAT);

	if (v->has != RK_JSON_HAS)
		return RK_NTABLES;
	if (s->record.values[F_PH].has == RK_JSON_HAS && !rk_chrome_is(s, F_PH, "X"))
		return RK_NTABLES; /* skip flows and instants */
	for (size_t i = 0; i < sizeof(categories) / sizeof(categories[0]); i++)
		if (rk_text_ieq(cat, v->len, categories[i].cat))
			return categories[i].table;
	/* rockit's own traces also have domains of other APIs */
	if (rk_text_ends(cat, v->len, "_api") || rk_text_ends(cat, v->len, "_API") ||
	    rk_text_ends(cat, v->len, "_API_EXT"))
		return RK_API;
	return RK_NTABLES;
}

static bool has_text(const struct chrome_scan *s, unsigned from, const char *word)
{
	const struct rk_json_value *v = &s->record.values[from];

	return v->has == RK_JSON_HAS &&
	       memmem(rk_json_record_text(&s->record, from), v->len, word, strlen(word));
}

/* ---- what events say about others ---- */

/* What a communication kernel does. Name ids; 0: unknown. */
struct collective {
	uint32_t name, group, size;
	int64_t seq; /* -1: unknown */
};

/* A rank of the document, or all events without one. */
struct origin {
	int64_t process; /* the first; 0: none */
	bool several;    /* it has others */
};

struct kineto_facts {
	bool has_rank; /* of the document */
	int64_t rank;
	struct rk_map by_rank; /* origins by rank; those without rank: -1 */
	struct origin *origins;
	size_t norigins, cap_origins;
	bool several;        /* some origin has several processes */
	struct rk_map calls; /* correlation and rank -> process of the call; 0: calls of several */
	struct rk_map launches;    /* correlation and rank of a launch -> External id */
	struct rk_map by_external; /* External id and rank -> index of a collective */
	struct collective *collectives;
	size_t ncollectives, cap_collectives;
	uint64_t lost;     /* facts beyond the limit */
	uint64_t counters; /* values of hardware counters: no table has them */
};

enum { FACTS_MAX = 1 << 20, ORIGINS_MAX = 1 << 16 };

static void facts_free(struct kineto_facts *f)
{
	if (!f)
		return;
	rk_map_release(&f->by_rank);
	rk_map_release(&f->calls);
	rk_map_release(&f->launches);
	rk_map_release(&f->by_external);
	rk_free(f->origins);
	rk_free(f->collectives);
	rk_free(f);
}

/* The rank of an event, or -1. */
static int64_t rank_of(const struct chrome_scan *s)
{
	const struct rk_json_value *rank = &s->record.values[F_RANK];

	return rank->has == RK_JSON_HAS && rank->i >= 0 && rank->i <= INT32_MAX ? rank->i : -1;
}

/* Numbers beyond 32 bits are not used as facts. */
static bool is_small(const struct rk_json_value *v)
{
	return v->has == RK_JSON_HAS && v->i > 0 && v->i < UINT32_MAX;
}

static int remember(struct kineto_facts *f, struct rk_map *m, int64_t key, int64_t rank,
		    uint32_t value, struct rk_error *err)
{
	if (m->n >= FACTS_MAX) {
		f->lost++;
		return 0;
	}
	return rk_map_put(m, (uint64_t)key, (uint64_t)rank, value) ? 0 : rk_fail_nomem(err);
}

static int intern(struct chrome_scan *s, const char *text, uint32_t *ret, struct rk_error *err)
{
	*ret = 0;
	return text[0] ? rk_strtab_add(s->rows.ctx->names, text, strlen(text), ret, err) : 0;
}

/* Reads the arguments of a communication kernel or of the operator that launched it. */
static int read_collective(struct chrome_scan *s, struct collective *ret, struct rk_error *err)
{
	const struct rk_json_record *r = &s->record;
	const struct rk_json_value *v = r->values;
	unsigned group = v[F_GROUP].has == RK_JSON_HAS ? F_GROUP : F_GROUP_ID;
	int n[F_NFIELDS];
	char text[1024];
	int rc;

	for (unsigned i = F_COLLECTIVE; i <= F_DTYPE; i++) /* lengths of texts */
		n[i] = v[i].has == RK_JSON_HAS && v[i].len < 512 ? (int)v[i].len : 0;
	snprintf(text, sizeof(text), "%.*s", n[F_COLLECTIVE], rk_json_record_text(r, F_COLLECTIVE));
	rc = intern(s, text, &ret->name, err);
	if (rc < 0)
		return rc;
	snprintf(text, sizeof(text), "%.*s%s%.*s", n[group], rk_json_record_text(r, group),
		 n[group] && n[F_GROUP_RANKS] ? " " : "", n[F_GROUP_RANKS],
		 rk_json_record_text(r, F_GROUP_RANKS));
	rc = intern(s, text, &ret->group, err);
	if (rc < 0)
		return rc;
	text[0] = '\0';
	if (v[F_IN].has == RK_JSON_HAS && v[F_OUT].has == RK_JSON_HAS && v[F_IN].i == v[F_OUT].i)
		snprintf(text, sizeof(text), "%.*s %" PRId64, n[F_DTYPE],
			 rk_json_record_text(r, F_DTYPE), v[F_IN].i);
	else if (v[F_IN].has == RK_JSON_HAS && v[F_OUT].has == RK_JSON_HAS)
		snprintf(text, sizeof(text), "%.*s %" PRId64 " to %" PRId64, n[F_DTYPE],
			 rk_json_record_text(r, F_DTYPE), v[F_IN].i, v[F_OUT].i);
	ret->seq = v[F_SEQ].has == RK_JSON_HAS && v[F_SEQ].i >= 0 ? v[F_SEQ].i : -1;
	return intern(s, text, &ret->size, err);
}

/* Ignores Python frames: some have no process. */
static enum rk_table tells_facts(struct chrome_scan *s)
{
	const struct rk_json_value *v = &s->record.values[F_CAT];
	const char *cat = rk_json_record_text(&s->record, F_CAT);

	if (v->has != RK_JSON_HAS) {
		/* their pid is "GPU 0 Counters" */
		s->r->facts->counters += rk_chrome_is(s, F_PH, "C") &&
					 s->record.values[F_PID].has == RK_JSON_WRONG;
		return RK_NTABLES;
	}
	if (table_of(s) == RK_API || rk_text_ieq(cat, v->len, "user_annotation") ||
	    rk_text_ieq(cat, v->len, "cpu_op") || rk_text_ieq(cat, v->len, "operator"))
		return RK_PROCESSES;
	return RK_NTABLES;
}

static int note_process(struct kineto_facts *f, int64_t rank, int64_t pid, struct rk_error *err)
{
	int64_t at = rk_map_get(&f->by_rank, (uint64_t)rank, 0);
	struct origin *o;

	if (pid <= 0)
		return 0;
	if (at < 0) {
		if (f->norigins == ORIGINS_MAX) {
			f->lost++;
			return 0;
		}
		o = rk_grow(f->origins, &f->cap_origins, f->norigins + 1, sizeof(*o));
		if (!o)
			return rk_fail_nomem(err);
		f->origins = o;
		at = (int64_t)f->norigins;
		if (!rk_map_put(&f->by_rank, (uint64_t)rank, 0, (uint32_t)at))
			return rk_fail_nomem(err);
		f->origins[f->norigins++] = (struct origin){ .process = pid };
	}
	o = &f->origins[at];
	o->several |= o->process != pid;
	f->several |= o->several;
	return 0;
}

static int note_facts(struct chrome_scan *s, struct rk_error *err)
{
	struct kineto_facts *f = s->r->facts;
	const struct rk_json_value *v = s->record.values;
	const struct rk_json_value *pid = rk_json_either(&v[F_PID_RAW], &v[F_PID]);
	int64_t rank = rank_of(s);
	struct collective *c;
	int rc = note_process(f, rank, pid->has == RK_JSON_HAS ? pid->i : 0, err);

	if (rc < 0 || !is_small(&v[F_EXTERNAL]))
		return rc;
	if (is_small(&v[F_CORRELATION]) && has_text(s, F_KERNEL, "nccl"))
		return remember(f, &f->launches, v[F_CORRELATION].i, rank,
				(uint32_t)v[F_EXTERNAL].i, err);
	if (v[F_COLLECTIVE].has != RK_JSON_HAS)
		return 0;
	if (f->ncollectives == FACTS_MAX) {
		f->lost++;
		return 0;
	}
	c = rk_grow(f->collectives, &f->cap_collectives, f->ncollectives + 1, sizeof(*c));
	if (!c)
		return rk_fail_nomem(err);
	f->collectives = c;
	rc = read_collective(s, &c[f->ncollectives], err);
	if (rc < 0)
		return rc;
	return remember(f, &f->by_external, v[F_EXTERNAL].i, rank, (uint32_t)f->ncollectives++,
			err);
}

/* Correlation ids are unique within a process only; two processes may have the same. */
static int note_call(struct chrome_scan *s, struct rk_error *err)
{
	struct kineto_facts *f = s->r->facts;
	const struct rk_json_value *v = s->record.values;
	const struct rk_json_value *pid = rk_json_either(&v[F_PID_RAW], &v[F_PID]);
	int64_t rank = rank_of(s), had;

	if (!is_small(pid) || v[F_CORRELATION].has != RK_JSON_HAS)
		return 0;
	had = rk_map_get(&f->calls, (uint64_t)v[F_CORRELATION].i, (uint64_t)rank);
	if (had == pid->i)
		return 0;
	return remember(f, &f->calls, v[F_CORRELATION].i, rank, had < 0 ? (uint32_t)pid->i : 0,
			err);
}

static enum rk_table tells_calls(struct chrome_scan *s)
{
	return table_of(s) == RK_API ? RK_PROCESSES : RK_NTABLES;
}

static int on_distributed(void *arg, struct rk_json_record *r, struct rk_error *err)
{
	struct kineto_facts *f = arg;

	(void)err;
	f->has_rank = r->values[0].has == RK_JSON_HAS && r->values[0].i >= 0 &&
		      r->values[0].i <= INT32_MAX;
	f->rank = r->values[0].i;
	return 0;
}

static int facts_member(struct chrome_scan *s, const struct rk_json_token *key,
			struct rk_error *err)
{
	static const struct rk_json_field rank_field[] = { { "rank", RK_JSON_AS_I64 } };
	static const char distributed[] = "distributedInfo";
	struct rk_json_record r;
	int rc;

	if (key->len != sizeof(distributed) - 1 || memcmp(key->text, distributed, key->len) != 0)
		return 0;
	rk_json_record_init(&r, rank_field, 1, UINT64_MAX);
	rc = rk_json_record_each(&r, s->rows.json, on_distributed, s->r->facts, err);
	rk_json_record_release(&r);
	return rc < 0 ? rc : 1;
}

static const struct chrome_format facts_format = {
	.source = "",
	.clock = "",
	.fields = fields,
	.nfields = F_NFIELDS,
	.table_of = tells_facts,
	.row = note_facts,
	.member = facts_member,
};

static const struct chrome_format calls_format = {
	.source = "",
	.clock = "",
	.fields = fields,
	.nfields = F_NFIELDS,
	.table_of = tells_calls,
	.row = note_call,
};

/* Reads the whole document, without rows. */
static int read_facts(const struct chrome_reader *r, struct kineto_facts *f,
		      const struct chrome_format *format, struct rk_error *err)
{
	struct chrome_reader ask = { .format = format, .in = r->in, .ctx = r->ctx, .facts = f };
	const struct rk_batch *batch;
	struct rk_source *s;
	int rc = rk_chrome_scan(&ask.base, RK_PROCESSES, 0, &s, err);

	if (rc < 0)
		return rc;
	rc = rk_source_next(s, &batch, err);
	rk_source_close(s);
	return rc;
}

static int set_facts(struct chrome_reader *r, struct rk_error *err)
{
	struct kineto_facts *f = rk_calloc(1, sizeof(*f));
	int rc;

	if (!f)
		return rk_fail_nomem(err);
	rc = read_facts(r, f, &facts_format, err);
	if (rc >= 0 && f->several)
		rc = read_facts(r, f, &calls_format, err);
	if (rc < 0) {
		facts_free(f);
		return rc;
	}
	if (f->lost)
		rk_diag_add(r->ctx->diag, "events-left-out", rk_instream_path(r->in), 0, f->lost,
			    "events of more than %d collectives, calls or ranks: some kernels have "
			    "no process or collective",
			    FACTS_MAX);
	if (f->counters)
		rk_diag_most(r->ctx->diag, "counters-not-read", rk_instream_path(r->in), 0,
			     f->counters,
			     "values of hardware counters in a Kineto trace are not read");
	r->facts = f;
	return 0;
}

/*
 * The process of a GPU event. Its pid is a process if it differs from the device in the event: that
 * is so in rockit's own traces, even for processes that only have kernels. In other traces it is the
 * only process of its rank, or that of the call with its correlation id.
 */
static void put_process(struct chrome_scan *s, unsigned field)
{
	static const unsigned char devices[] = { F_DEVICE, F_FROM, F_TO };
	const struct rk_json_value *v = s->record.values, *pid = &v[F_PID];
	const struct kineto_facts *f = s->r->facts;
	bool some = false, same = false;
	int64_t rank = rank_of(s), at, process = 0;

	if (!rk_json_wants(&s->rows, field))
		return;
	for (size_t i = 0; i < sizeof(devices); i++) {
		some |= v[devices[i]].has == RK_JSON_HAS;
		same |= v[devices[i]].has == RK_JSON_HAS && v[devices[i]].i == pid->i;
	}
	at = rk_map_get(&f->by_rank, (uint64_t)rank, 0);
	if (pid->has == RK_JSON_HAS && pid->i > 0 && some && !same &&
	    v[F_PID_RAW].has == RK_JSON_ABSENT)
		process = pid->i;
	else if (at >= 0 && !f->origins[at].several)
		process = f->origins[at].process;
	else if (at >= 0 && v[F_CORRELATION].has == RK_JSON_HAS)
		process = rk_map_get(&f->calls, (uint64_t)v[F_CORRELATION].i, (uint64_t)rank);
	if (process > 0)
		rk_json_put(&s->rows, field, process);
	else
		rk_json_put_null(&s->rows, field);
}

static void put_rank(struct chrome_scan *s, unsigned field)
{
	const struct kineto_facts *f = s->r->facts;
	int64_t rank = rank_of(s);

	if (rank < 0 && f && f->has_rank)
		rank = f->rank;
	else if (rank < 0 && !f && s->r->base.has_rank)
		rank = s->r->base.rank;
	if (rank >= 0)
		rk_json_put(&s->rows, field, rank);
	else
		rk_json_put_null(&s->rows, field);
}

static void put_name(struct chrome_scan *s, unsigned field, uint32_t id)
{
	if (id)
		rk_json_put_id(&s->rows, field, id);
	else
		rk_json_put_null(&s->rows, field);
}

static int put_collective(struct chrome_scan *s, struct rk_error *err)
{
	const struct rk_json_value *v = s->record.values;
	const struct kineto_facts *f = s->r->facts;
	struct collective c = { .seq = -1 };
	int64_t rank = rank_of(s), external = -1, at = -1;
	int rc;

	if (v[F_COLLECTIVE].has == RK_JSON_HAS) {
		rc = read_collective(s, &c, err);
		if (rc < 0)
			return rc;
	} else if (f && f->ncollectives && has_text(s, F_NAME, "nccl")) {
		if (is_small(&v[F_EXTERNAL]))
			external = v[F_EXTERNAL].i;
		else if (v[F_CORRELATION].has == RK_JSON_HAS)
			external = rk_map_get(&f->launches, (uint64_t)v[F_CORRELATION].i,
					      (uint64_t)rank);
		if (external > 0)
			at = rk_map_get(&f->by_external, (uint64_t)external, (uint64_t)rank);
		if (at >= 0)
			c = f->collectives[at];
	}
	put_name(s, RK_K_COLLECTIVE, c.name);
	put_name(s, RK_K_COMM_GROUP, c.group);
	put_name(s, RK_K_COMM_SIZE, c.size);
	if (c.seq >= 0)
		rk_json_put(&s->rows, RK_K_COMM_SEQ, c.seq);
	else
		rk_json_put_null(&s->rows, RK_K_COMM_SEQ);
	return 0;
}

/* ---- rows ---- */

/* The pid of a GPU event is its device; the arguments of releases before 1.12 do not have it. */
static const struct rk_json_value *device_of(const struct chrome_scan *s)
{
	const struct rk_json_value *v = s->record.values;

	return rk_json_either(&v[F_DEVICE], rk_json_either(&v[F_PID_RAW], &v[F_PID]));
}

static int kernel_row(struct chrome_scan *s, struct rk_error *err)
{
	const struct rk_json_value *v = s->record.values;
	int rc;

	for (unsigned i = 0; i < 3; i++) { /* the grid is in blocks */
		const struct rk_json_value *grid = &v[F_GRID + i], *block = &v[F_BLOCK + i];
		int64_t items;

		rk_json_put_value(&s->rows, RK_K_GRID_X + i, grid);
		rk_json_put_value(&s->rows, RK_K_BLOCK_X + i, block);
		if (grid->has == RK_JSON_HAS && block->has == RK_JSON_HAS &&
		    !__builtin_mul_overflow(grid->i, block->i, &items))
			rk_json_put(&s->rows, RK_K_ITEMS_X + i, items);
		else
			rk_json_put_null(&s->rows, RK_K_ITEMS_X + i);
	}
	rk_json_put_value(&s->rows, RK_K_REGS, &v[F_REGS]);
	rk_json_put_value(&s->rows, RK_K_SHARED_MEM, &v[F_SHARED]);
	rk_json_put_value(&s->rows, RK_K_STREAM, rk_json_either(&v[F_STREAM], &v[F_TID]));
	rk_json_put_value(&s->rows, RK_K_DEVICE, device_of(s));
	rk_json_put_value(&s->rows, RK_K_CORRELATION, &v[F_CORRELATION]);
	put_process(s, RK_K_PID);
	rk_json_put_id(&s->rows, RK_K_SOURCE, s->source_id);
	rk_json_put_id(&s->rows, RK_K_CLOCK, s->clock_id);
	rc = put_collective(s, err);
	return rc < 0 ? rc : rk_chrome_put_text(s, RK_K_NAME, F_NAME, err);
}

/* "Memcpy HtoD (Pageable -> Device)"; other names are kept unchanged. */
static const struct {
	const char *name, *direction;
	bool from_device, to_device;
} directions[] = {
	{ "Memcpy HtoD", "MEMORY_COPY_HOST_TO_DEVICE", false, true },
	{ "Memcpy DtoH", "MEMORY_COPY_DEVICE_TO_HOST", true, false },
	{ "Memcpy DtoD", "MEMORY_COPY_DEVICE_TO_DEVICE", true, true },
	{ "Memcpy HtoH", "MEMORY_COPY_HOST_TO_HOST", false, false },
	{ "Memcpy PtoP", "MEMORY_COPY_PEER_TO_PEER", true, true },
	{ "Memset", NULL, false, true },
};

static int copy_row(struct chrome_scan *s, struct rk_error *err)
{
	static const struct rk_json_value none = { .has = RK_JSON_ABSENT };
	const struct rk_json_value *v = s->record.values;
	const struct rk_json_value *device = device_of(s);
	const size_t n = sizeof(directions) / sizeof(directions[0]);
	const char *name = rk_json_record_text(&s->record, F_NAME);
	size_t i = 0, len = v[F_NAME].has == RK_JSON_HAS ? v[F_NAME].len : 0;
	bool from, to;

	while (i < n && !rk_text_iprefix(name, len, directions[i].name))
		i++;
	from = i < n && directions[i].from_device;
	to = i < n && directions[i].to_device;
	rk_json_put_value(&s->rows, RK_C_BYTES, &v[F_BYTES]);
	rk_json_put_value(&s->rows, RK_C_SRC, rk_json_either(&v[F_FROM], from ? device : &none));
	rk_json_put_value(&s->rows, RK_C_DST, rk_json_either(&v[F_TO], to ? device : &none));
	rk_json_put_value(&s->rows, RK_C_STREAM, rk_json_either(&v[F_STREAM], &v[F_TID]));
	rk_json_put_value(&s->rows, RK_C_CORRELATION, &v[F_CORRELATION]);
	put_process(s, RK_C_PID);
	if (i < n && directions[i].direction)
		return rk_json_put_word(&s->rows, RK_C_DIRECTION, directions[i].direction, err);
	return rk_chrome_put_text(s, RK_C_DIRECTION, F_NAME, err);
}

static int row(struct chrome_scan *s, struct rk_error *err)
{
	static const struct {
		uint8_t start, duration, rank;
	} common[] = {
		[RK_KERNELS] = { RK_K_START, RK_K_DURATION, RK_K_RANK },
		[RK_MEMCPY] = { RK_C_START, RK_C_DURATION, RK_C_RANK },
		[RK_API] = { RK_A_START, RK_A_DURATION, RK_A_RANK },
		[RK_MARKERS] = { RK_R_START, RK_R_DURATION, RK_R_RANK },
	};
	const struct rk_json_value *v = s->record.values;
	bool gpu;
	int rc;

	if (!rk_chrome_is(s, F_PH, "X"))
		return 0;
	rk_json_put_value(&s->rows, common[s->table].start, &v[F_TS]);
	rk_json_put_value(&s->rows, common[s->table].duration,
			  rk_json_either(&v[F_RECORDED], &v[F_DUR]));
	put_rank(s, common[s->table].rank);

	switch (s->table) {
	case RK_KERNELS:
		rc = kernel_row(s, err);
		break;
	case RK_MEMCPY:
		rc = copy_row(s, err);
		break;
	case RK_API:
		rk_json_put_value(&s->rows, RK_A_CORRELATION, &v[F_CORRELATION]);
		rk_json_put_value(&s->rows, RK_A_PID, rk_json_either(&v[F_PID_RAW], &v[F_PID]));
		rk_json_put_value(&s->rows, RK_A_TID, rk_json_either(&v[F_THREAD], &v[F_TID]));
		if ((rc = rk_chrome_put_text(s, RK_A_DOMAIN, F_CAT, err)) >= 0)
			rc = rk_chrome_put_text(s, RK_A_FUNCTION, F_NAME, err);
		break;
	default:
		/* an annotation appears twice: on the thread that ran it, and above its kernels */
		gpu = rk_chrome_is(s, F_CAT, "gpu_user_annotation");
		if (gpu) {
			put_process(s, RK_R_PID);
			rk_json_put_null(&s->rows, RK_R_TID);
		} else {
			rk_json_put_value(&s->rows, RK_R_PID,
					  rk_json_either(&v[F_PID_RAW], &v[F_PID]));
			rk_json_put_value(&s->rows, RK_R_TID,
					  rk_json_either(&v[F_THREAD], &v[F_TID]));
		}
		rc = rk_json_put_word(&s->rows, RK_R_KIND, gpu ? "gpu_range" : "range", err);
		if (rc >= 0)
			rc = rk_chrome_put_text(s, RK_R_NAME, F_NAME, err);
		break;
	}
	return rc < 0 ? rc : 1;
}

/* ---- other members of the document ---- */

enum { D_ID, D_NAME, D_MEMORY, D_WARP, D_SMS, D_NFIELDS };

static const struct rk_json_field device_fields[D_NFIELDS] = {
	[D_ID] = { "id", RK_JSON_AS_I64 },
	[D_NAME] = { "name", RK_JSON_AS_TEXT },
	[D_MEMORY] = { "totalGlobalMem", RK_JSON_AS_I64 },
	[D_WARP] = { "warpSize", RK_JSON_AS_I64 },
	[D_SMS] = { "numSms", RK_JSON_AS_I64 },
};

static int on_device(void *arg, struct rk_json_record *r, struct rk_error *err)
{
	struct chrome_scan *s = arg;
	int rc;

	s->seen[RK_AGENTS]++;
	if (s->table != RK_AGENTS || s->rows.b.nrows == s->rows.b.cap)
		return 0;
	rk_json_put_value(&s->rows, RK_G_DEVICE, &r->values[D_ID]);
	rk_json_put_value(&s->rows, RK_G_CU_COUNT, &r->values[D_SMS]);
	rk_json_put_value(&s->rows, RK_G_WAVE_SIZE, &r->values[D_WARP]);
	rk_json_put_value(&s->rows, RK_G_MEMORY, &r->values[D_MEMORY]);
	if ((rc = rk_json_put_word(&s->rows, RK_G_TYPE, "GPU", err)) < 0 ||
	    (rc = rk_json_put_field(&s->rows, RK_G_NAME, r, D_NAME, err)) < 0 ||
	    (rc = rk_json_put_field(&s->rows, RK_G_PRODUCT, r, D_NAME, err)) < 0)
		return rc;
	s->rows.b.nrows++;
	return s->rows.nomem ? rk_fail_nomem(err) : 0;
}

static int member(struct chrome_scan *s, const struct rk_json_token *key, struct rk_error *err)
{
	static const char devices[] = "deviceProperties";
	struct rk_json_record r;
	int rc;

	if (key->len != sizeof(devices) - 1 || memcmp(key->text, devices, key->len) != 0)
		return 0;
	rk_json_record_init(&r, device_fields, D_NFIELDS, UINT64_MAX);
	rc = rk_json_record_each(&r, s->rows.json, on_device, s, err);
	rk_json_record_release(&r);
	return rc < 0 ? rc : 1;
}

/* ---- the reader ---- */

static const struct chrome_format format = {
	.source = "kineto-json",
	.clock = "unknown",
	.fields = fields,
	.nfields = F_NFIELDS,
	.gives = { [RK_KERNELS] = B(RK_K_NAME) | B(RK_K_START) | B(RK_K_DURATION) | B(RK_K_GRID_X) |
				  B(RK_K_GRID_Y) | B(RK_K_GRID_Z) | B(RK_K_BLOCK_X) |
				  B(RK_K_BLOCK_Y) | B(RK_K_BLOCK_Z) | B(RK_K_REGS) |
				  B(RK_K_SHARED_MEM) | B(RK_K_STREAM) | B(RK_K_DEVICE) |
				  B(RK_K_CORRELATION) | B(RK_K_PID) | B(RK_K_RANK) |
				  B(RK_K_ITEMS_X) | B(RK_K_ITEMS_Y) | B(RK_K_ITEMS_Z) |
				  B(RK_K_SOURCE) | B(RK_K_CLOCK) | B(RK_K_COLLECTIVE) |
				  B(RK_K_COMM_GROUP) | B(RK_K_COMM_SIZE) | B(RK_K_COMM_SEQ),
		   [RK_MEMCPY] = ~(B(RK_C_TID) | B(RK_C_NODE) | B(RK_C_GRAPH) | B(RK_C_GRAPH_NODE)),
		   [RK_API] = ~B(RK_A_NODE),
		   [RK_MARKERS] = ~B(RK_R_NODE),
		   [RK_AGENTS] = B(RK_G_DEVICE) | B(RK_G_TYPE) | B(RK_G_NAME) | B(RK_G_PRODUCT) |
				 B(RK_G_CU_COUNT) | B(RK_G_WAVE_SIZE) | B(RK_G_MEMORY) },
	.table_of = table_of,
	.row = row,
	.member = member,
};

static int kineto_probe(const struct rk_head *head)
{
	static const char *const marks[] = { "\"deviceProperties\"", "\"baseTimeNanoseconds\"",
					     "\"schemaVersion\"",    "\"cpu_op\"",
					     "\"python_function\"",  "\"cuda_runtime\"",
					     "\"user_annotation\"" };
	static const char kwargs[] = "\"torch_profiler_kwargs\"";
	const char *p = rk_json_start(head->data, head->len);
	size_t left;
	bool events;

	if (!p || (*p != '{' && *p != '['))
		return 0;
	left = (size_t)(head->data + head->len - p);
	events = rk_chrome_has(p, left, "\"traceEvents\"") ||
		 (rk_chrome_has(p, left, "\"ph\"") && rk_chrome_has(p, left, "\"ts\""));
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (rk_chrome_has(p, left, marks[i]))
			return events ? 90 : 0;
	if (rk_chrome_has(p, left, kwargs))
		return events ? 90 : 60;
	return events ? 50 : 0;
}

/*
 * Finds the rank in the head of the document, so that a run knows it before it reads rows. Kineto
 * writes it before the events, where a document begins with schemaVersion; other tools may move it.
 */
static void look_for_rank(struct chrome_reader *r, const char *head, size_t len)
{
	const char *events = memmem(head, len, "\"traceEvents\"", strlen("\"traceEvents\""));
	size_t before = events ? (size_t)(events - head) : len;
	const char *p = memmem(head, before, "\"distributedInfo\"", strlen("\"distributedInfo\""));
	const char *end = head + before;
	int64_t rank = 0;

	r->late_rank = !rk_chrome_has(head, before, "\"schemaVersion\"");
	r->base.many_ranks = events && rk_chrome_has(events, len - before, "\"rank\"");
	if (p)
		p = memmem(p, (size_t)(end - p), "\"rank\"", strlen("\"rank\""));
	if (!p) {
		r->late_rank |= !events;
		return;
	}
	p += strlen("\"rank\"");
	while (p < end && (*p == ':' || *p == ' '))
		p++;
	for (; p < end && *p >= '0' && *p <= '9' && rank <= INT32_MAX; p++) {
		rank = rank * 10 + (*p - '0');
		r->base.has_rank = true;
	}
	r->base.has_rank = r->base.has_rank && p < end && rank <= INT32_MAX;
	r->base.rank = rank;
}

static int kineto_open(const struct rk_reader_ops *ops, struct rk_instream *in,
		       struct rk_context *ctx, struct rk_reader **ret, struct rk_error *err)
{
	const void *head;
	size_t len;
	int rc = rk_instream_head(in, &head, &len, err);

	if (rc < 0)
		return rc;
	rc = rk_chrome_open(ops, in, ctx, ret, err);
	if (rc < 0)
		return rc;
	look_for_rank((struct chrome_reader *)*ret, head, len);
	return 0;
}

static int kineto_scan(struct rk_reader *base, enum rk_table t, uint64_t want,
		       struct rk_source **ret, struct rk_error *err)
{
	static const struct {
		uint64_t facts, rank; /* columns that need the facts; the rank, which may */
	} needs[RK_NTABLES] = {
		[RK_KERNELS] = { B(RK_K_PID) | B(RK_K_COLLECTIVE) | B(RK_K_COMM_GROUP) |
					 B(RK_K_COMM_SIZE) | B(RK_K_COMM_SEQ),
				 B(RK_K_RANK) },
		[RK_MEMCPY] = { B(RK_C_PID), B(RK_C_RANK) },
		[RK_API] = { 0, B(RK_A_RANK) },
		[RK_MARKERS] = { B(RK_R_PID), B(RK_R_RANK) },
	};
	struct chrome_reader *r = (struct chrome_reader *)base;
	bool late = r->late_rank && !base->has_rank;
	int rc;

	if (!r->facts && (want & needs[t].facts || (late && want & needs[t].rank))) {
		rc = set_facts(r, err);
		if (rc < 0)
			return rc;
	}
	return rk_chrome_scan(base, t, want, ret, err);
}

static void kineto_close(struct rk_reader *base)
{
	facts_free(((struct chrome_reader *)base)->facts);
	rk_chrome_close(base);
}

const struct rk_reader_ops rk_reader_kineto_json = {
	.name = "kineto-json",
	.help = "traces of PyTorch's profiler (Chrome JSON of Kineto), AMD and NVIDIA",
	.probe = kineto_probe,
	.open = kineto_open,
	.scan = kineto_scan,
	.close = kineto_close,
	.format = &format,
	.serial = true,
	.precedence = RK_PRECEDENCE_JSON,
	.rows_rank = RK_ROWS_ONE_RANK,
};
