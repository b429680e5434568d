/*
 * finish.c - derive values that CSV files do not have: durations, grids in workgroups, kinds; and
 * find rows of the same dispatch. Finishers are called with the rows of one piece of a file, on any
 * thread.
 */
#include "read/rocprofv3/csv.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/num.h"
#include "base/text.h"

static int make_null(struct rk_builder *b, unsigned field, size_t row, struct rk_error *err)
{
	return rk_builder_null(b, field, row) ? 0 : rk_fail_nomem(err);
}

/* The duration column still holds the end. A row needs both times to have a duration. */
static int durations(struct rk_v3_scan *s, struct rk_builder *b, unsigned start_field,
		     unsigned field, struct rk_error *err)
{
	const int64_t *start = b->data[start_field];
	int64_t *end = b->data[field];
	bool nulls = b->nulls[start_field] || b->nulls[field];
	uint64_t lost = 0;
	int rc = 0;

	if (!end)
		return 0;
	for (size_t i = 0; rc == 0 && i < b->nrows; i++) {
		if (!start || (nulls && (rk_builder_is_null(b, start_field, i) ||
					 rk_builder_is_null(b, field, i)))) {
			rc = make_null(b, field, i, err);
		} else if (!rk_sub_i64(end[i], start[i], &end[i])) {
			rc = make_null(b, field, i, err);
			lost++;
		}
	}
	if (lost)
		rk_diag_add(s->ctx->diag, "duration-out-of-range", s->file, 0, lost,
			    "start and end are over 292 years apart; no duration");
	return rc;
}

/* Converts work-items (still unsigned) to workgroups, rounded up. */
static int grid(struct rk_builder *b, unsigned field, unsigned items_field, unsigned block_field,
		struct rk_error *err)
{
	const uint32_t *items = b->data[items_field];
	const int32_t *block = b->data[block_field];
	bool nulls = b->nulls[items_field] || b->nulls[block_field];
	int32_t *out;
	int rc = 0;

	if (!items || !block)
		return 0;
	out = rk_builder_column(b, field);
	if (!out)
		return rk_fail_nomem(err);
	for (size_t i = 0; rc == 0 && i < b->nrows; i++) {
		uint32_t n;

		if (block[i] <= 0 || (nulls && (rk_builder_is_null(b, items_field, i) ||
						rk_builder_is_null(b, block_field, i)))) {
			rc = make_null(b, field, i, err);
			continue;
		}
		n = items[i] / (uint32_t)block[i] + (items[i] % (uint32_t)block[i] != 0);
		out[i] = (int32_t)n;
		if (n > INT32_MAX)
			rc = make_null(b, field, i, err);
	}
	return rc;
}

/* Work-items above 2^31 do not fit an int32 column; the workgroups computed before are right. */
static int large_items(struct rk_v3_scan *s, struct rk_builder *b, unsigned field,
		       struct rk_error *err)
{
	const uint32_t *items = b->data[field];
	uint64_t lost = 0;
	int rc = 0;

	for (size_t i = 0; items && rc == 0 && i < b->nrows; i++) {
		if (items[i] <= INT32_MAX)
			continue;
		rc = make_null(b, field, i, err);
		lost++;
	}
	if (lost)
		rk_diag_add(
			s->ctx->diag, "grid-out-of-range", s->file, 0, lost,
			"grid has over 2147483647 work-items; grid_items left empty, grid kept");
	return rc;
}

static int registers(struct rk_builder *b, struct rk_error *err)
{
	const int32_t *vgpr = b->data[RK_K_VGPR], *accum = b->data[RK_K_ACCUM_VGPR];
	int32_t *regs;
	int rc = 0;

	if (!vgpr)
		return 0;
	regs = rk_builder_column(b, RK_K_REGS);
	if (!regs)
		return rk_fail_nomem(err);
	for (size_t i = 0; rc == 0 && i < b->nrows; i++) {
		bool has_accum = accum && !rk_builder_is_null(b, RK_K_ACCUM_VGPR, i);

		if (rk_builder_is_null(b, RK_K_VGPR, i) ||
		    __builtin_add_overflow(vgpr[i], has_accum ? accum[i] : 0, &regs[i]))
			rc = make_null(b, RK_K_REGS, i, err);
	}
	return rc;
}

/* If the tool has no stream, uses the queue instead. */
static int queue_as_stream(struct rk_v3_scan *s, struct rk_builder *b, struct rk_error *err)
{
	const int64_t *queue = b->data[RK_K_QUEUE];
	int32_t *stream;
	int rc = 0;

	if (!(s->want >> RK_K_STREAM & 1) || !queue)
		return 0;
	stream = rk_builder_column(b, RK_K_STREAM);
	if (!stream)
		return rk_fail_nomem(err);
	for (size_t i = 0; rc == 0 && i < b->nrows; i++) {
		stream[i] = (int32_t)queue[i];
		if (rk_builder_is_null(b, RK_K_QUEUE, i) || queue[i] != stream[i])
			rc = make_null(b, RK_K_STREAM, i, err);
	}
	return rc;
}

/* Sets the same 32 bits in every row: the id of a name, or a number. */
static int constant(struct rk_v3_scan *s, struct rk_builder *b, unsigned field, uint32_t value,
		    struct rk_error *err)
{
	uint32_t *p;

	if (!(s->want >> field & 1))
		return 0;
	p = rk_builder_column(b, field);
	if (!p)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < b->nrows; i++)
		p[i] = value;
	return 0;
}

/* Replaces "GPU 0" and "CPU 0" (~0) by the numbers of the same agents in the agents table. */
static void number_agents(const struct rk_v3_scan *s, struct rk_builder *b, unsigned field)
{
	int64_t *v = b->data[field];

	for (size_t i = 0; v && (s->gpus.n || s->cpus.n) && i < b->nrows; i++) {
		const struct rk_v3_agents *a = v[i] < 0 ? &s->cpus : &s->gpus;
		uint64_t at = (uint64_t)(v[i] < 0 ? ~v[i] : v[i]);

		if (at < a->n)
			v[i] = a->v[at];
	}
}

int rk_v3_finish_counters(void *scan, struct rk_builder *b, struct rk_error *err)
{
	(void)err;
	number_agents(scan, b, RK_N_DEVICE);
	return 0;
}

int rk_v3_finish_streamed(void *scan, struct rk_builder *b, struct rk_error *err)
{
	(void)err;
	number_agents(scan, b, RK_S_DEVICE);
	return 0;
}

/* Graph 0 means that no graph launched it. */
static int no_graph(struct rk_builder *b, unsigned graph, unsigned node, struct rk_error *err)
{
	const int64_t *id = b->data[graph];
	int rc = 0;

	for (size_t i = 0; id && rc == 0 && i < b->nrows; i++) {
		if (id[i])
			continue;
		rc = make_null(b, graph, i, err);
		if (rc == 0 && b->data[node])
			rc = make_null(b, node, i, err);
	}
	return rc;
}

int rk_v3_finish_kernels(void *scan, struct rk_builder *b, struct rk_error *err)
{
	struct rk_v3_scan *s = scan;
	int rc = durations(s, b, RK_K_START, RK_K_DURATION, err);

	number_agents(s, b, RK_K_DEVICE);
	if (rc == 0)
		rc = no_graph(b, RK_K_GRAPH, RK_K_GRAPH_NODE, err);
	for (unsigned i = 0; rc == 0 && i < 3; i++)
		if (s->want >> (RK_K_GRID_X + i) & 1)
			rc = grid(b, RK_K_GRID_X + i, RK_K_ITEMS_X + i, RK_K_BLOCK_X + i, err);
	for (unsigned i = 0; rc == 0 && i < 3; i++)
		rc = large_items(s, b, RK_K_ITEMS_X + i, err);
	if (rc < 0)
		return rc;
	if (s->want >> RK_K_REGS & 1 && (rc = registers(b, err)) < 0)
		return rc;
	if (!s->has_stream && (rc = queue_as_stream(s, b, err)) < 0)
		return rc;
	rc = constant(s, b, RK_K_SOURCE, s->source_id, err);
	if (rc < 0)
		return rc;
	return constant(s, b, RK_K_CLOCK, s->clock_id, err);
}

/* For a counter file: sizes are products, so x has the number and y = z = 1. */
int rk_v3_finish_dispatches(void *scan, struct rk_builder *b, struct rk_error *err)
{
	static const unsigned one[] = { RK_K_GRID_Y,  RK_K_GRID_Z,  RK_K_BLOCK_Y,
					RK_K_BLOCK_Z, RK_K_ITEMS_Y, RK_K_ITEMS_Z };
	int rc = rk_v3_finish_kernels(scan, b, err);

	for (unsigned i = 0; rc == 0 && i < sizeof(one) / sizeof(one[0]); i++)
		rc = constant(scan, b, one[i], 1, err);
	return rc;
}

/* Keeps the rows whose domain is (or is not) a marker domain, and counts the others. */
static void keep_domain(struct rk_v3_scan *s, struct rk_builder *b, unsigned field, bool markers)
{
	const uint32_t *domain = b->data[field];
	uint32_t last = UINT32_MAX;
	bool keep = true;
	size_t n = 0;

	if (!domain)
		return;
	for (size_t i = 0; i < b->nrows; i++) {
		if (domain[i] != last) {
			size_t len;
			const char *text = rk_strtab_borrow(s->ctx->names, domain[i], &len);

			last = domain[i];
			keep = rk_text_iprefix(text, len, "MARKER_") == markers;
		}
		if (keep && n != i)
			rk_builder_move(b, n, i);
		n += keep;
	}
	__atomic_fetch_add(&s->other_rows, b->nrows - n, __ATOMIC_RELAXED);
	b->nrows = n;
}

int rk_v3_finish_api(void *scan, struct rk_builder *b, struct rk_error *err)
{
	keep_domain(scan, b, RK_A_DOMAIN, false);
	return durations(scan, b, RK_A_START, RK_A_DURATION, err);
}

const char *rk_v3_marker_kind(const char *domain, size_t len, bool has_length)
{
	if (rk_text_iprefix(domain, len, "MARKER_CONTROL"))
		return "control";
	if (rk_text_iprefix(domain, len, "MARKER_NAME"))
		return "name";
	return has_length ? "range" : "mark";
}

int rk_v3_finish_markers(void *scan, struct rk_builder *b, struct rk_error *err)
{
	struct rk_v3_scan *s = scan;
	uint32_t *kind = b->data[RK_R_KIND];
	const int64_t *duration = b->data[RK_R_DURATION];
	int rc;

	keep_domain(s, b, RK_R_KIND, true);
	rc = durations(s, b, RK_R_START, RK_R_DURATION, err);
	for (size_t i = 0; kind && rc == 0 && i < b->nrows; i++) {
		size_t len;
		const char *text = rk_strtab_borrow(s->ctx->names, kind[i], &len);
		const char *word = rk_v3_marker_kind(text, len, duration && duration[i]);

		rc = rk_strtab_adds(s->ctx->names, word, &kind[i], err);
	}
	return rc;
}

/* All rows are of one kind; the column still has that of the file. */
static int one_kind(struct rk_v3_scan *s, struct rk_builder *b, const char *word,
		    struct rk_error *err)
{
	uint32_t id;
	int rc = rk_strtab_adds(s->ctx->names, word, &id, err);

	if (rc < 0 || (rc = durations(s, b, RK_R_START, RK_R_DURATION, err)) < 0)
		return rc;
	return constant(s, b, RK_R_KIND, id, err);
}

int rk_v3_finish_launches(void *scan, struct rk_builder *b, struct rk_error *err)
{
	struct rk_v3_scan *s = scan;
	uint32_t *name = b->data[RK_R_NAME];
	int rc = one_kind(s, b, "graph", err);

	for (size_t i = 0; name && rc == 0 && i < b->nrows; i++) {
		char text[64];

		snprintf(text, sizeof(text), "graph %.40s",
			 rk_strtab_borrow(s->ctx->names, name[i], NULL));
		rc = rk_strtab_adds(s->ctx->names, text, &name[i], err);
	}
	return rc;
}

int rk_v3_finish_events(void *scan, struct rk_builder *b, struct rk_error *err)
{
	return one_kind(scan, b, "queue", err);
}

int rk_v3_full_direction(struct rk_context *ctx, uint32_t *id, struct rk_error *err)
{
	struct rk_bytes name;
	size_t len;
	const char *text = rk_strtab_borrow(ctx->names, *id, &len);
	int rc;

	if (!len || rk_text_iprefix(text, len, "MEMORY_COPY_"))
		return 0;
	rk_bytes_init(&name, len + 16);
	rk_bytes_puts(&name, "MEMORY_COPY_");
	rk_bytes_put(&name, text, len);
	if (name.bad)
		rc = rk_fail_nomem(err);
	else
		rc = rk_strtab_add(ctx->names, (char *)name.data, name.len, id, err);
	rk_bytes_release(&name);
	return rc;
}

int rk_v3_finish_memcpy(void *scan, struct rk_builder *b, struct rk_error *err)
{
	struct rk_v3_scan *s = scan;
	uint32_t *direction = b->data[RK_C_DIRECTION];
	int rc = durations(s, b, RK_C_START, RK_C_DURATION, err);

	number_agents(s, b, RK_C_SRC);
	number_agents(s, b, RK_C_DST);
	if (rc == 0)
		rc = no_graph(b, RK_C_GRAPH, RK_C_GRAPH_NODE, err);
	for (size_t i = 0; direction && rc == 0 && i < b->nrows; i++)
		rc = rk_v3_full_direction(s->ctx, &direction[i], err);
	return rc;
}

int rk_v3_finish_memalloc(void *scan, struct rk_builder *b, struct rk_error *err)
{
	number_agents(scan, b, RK_M_DEVICE);
	return durations(scan, b, RK_M_START, RK_M_DURATION, err);
}

int rk_v3_finish_agents(void *scan, struct rk_builder *b, struct rk_error *err)
{
	struct rk_v3_scan *s = scan;
	const uint32_t *name = b->data[RK_G_NAME];
	int64_t *arrays = b->data[RK_G_SE_COUNT];
	const int64_t *each = b->data[RK_G_PIPES], *memory = b->data[RK_G_MEMORY];
	uint32_t *gfx;
	int rc = 0;

	/* the tool writes 0 where it does not know the size, also for GPUs */
	for (size_t i = 0; memory && rc == 0 && i < b->nrows; i++)
		if (!memory[i])
			rc = make_null(b, RK_G_MEMORY, i, err);

	/*
	 * Shader engines: the column still has arrays, and the pipes column has arrays per engine.
	 * Divide, and clear the pipes.
	 */
	for (size_t i = 0; arrays && rc == 0 && i < b->nrows; i++) {
		if (each && !rk_builder_is_null(b, RK_G_PIPES, i) &&
		    !rk_builder_is_null(b, RK_G_SE_COUNT, i) && each[i] > 0 && arrays[i] > 0)
			arrays[i] /= each[i];
		else
			rc = make_null(b, RK_G_SE_COUNT, i, err);
	}
	for (size_t i = 0; each && rc == 0 && i < b->nrows; i++)
		rc = make_null(b, RK_G_PIPES, i, err);

	if (rc < 0 || !name)
		return rc;
	/* a GPU's name is its gfx target; a CPU has none */
	gfx = rk_builder_column(b, RK_G_GFX);
	if (!gfx)
		return rk_fail_nomem(err);
	for (size_t i = 0; rc == 0 && i < b->nrows; i++) {
		size_t len;
		const char *text = rk_strtab_borrow(s->ctx->names, name[i], &len);

		gfx[i] = name[i];
		if (!rk_text_iprefix(text, len, "gfx"))
			rc = make_null(b, RK_G_GFX, i, err);
	}
	return rc;
}

/*
 * A wave that issued its instruction was not stalled, so its stall reason is dropped. The node
 * column still has the issued flag; clear it. The names of reasons have a prefix of 58 letters.
 */
int rk_v3_finish_pc(void *scan, struct rk_builder *b, struct rk_error *err)
{
	static const char prefix[] = "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_";
	const struct rk_v3_scan *s = scan;
	const uint32_t *issued = b->data[RK_P_NODE];
	uint32_t *stall = b->data[RK_P_STALL];
	int rc = 0;

	for (size_t i = 0; stall && rc == 0 && i < b->nrows; i++) {
		size_t len, n = sizeof(prefix) - 1;
		const char *text = rk_strtab_borrow(s->ctx->names, stall[i], &len);

		if (rk_text_iprefix(text, len, prefix))
			rc = rk_strtab_add(s->ctx->names, text + n, len - n, &stall[i], err);
	}
	for (size_t i = 0; issued && rc == 0 && i < b->nrows; i++) {
		bool yes = !rk_builder_is_null(b, RK_P_NODE, i) &&
			   !strcmp(rk_strtab_borrow(s->ctx->names, issued[i], NULL), "1");

		if (yes && stall && (rc = make_null(b, RK_P_STALL, i, err)) < 0)
			return rc;
		rc = make_null(b, RK_P_NODE, i, err);
	}
	return rc;
}

int rk_v3_finish_stats(void *scan, struct rk_builder *b, struct rk_error *err)
{
	struct rk_v3_scan *s = scan;

	return constant(s, b, RK_T_OF, s->stats_of_id, err);
}

/* ---- each dispatch once ---- */

enum { MAX_DISPATCHES = 1 << 21 };

struct once {
	struct rk_source base;
	struct rk_source *rows;
	struct rk_context *ctx;
	const char *file;
	uint64_t *seen; /* hashes of (pid, dispatch) */
	size_t nseen, cap;
	struct rk_index by_hash; /* over `seen` */
	uint64_t last;
	bool full;
	struct rk_builder out;
};

/*
 * Returns 1 if the row's dispatch is seen for the first time, 0 if seen before, < 0 if out of
 * memory.
 */
static int first_sight(struct once *o, const struct rk_batch *b, size_t row, struct rk_error *err)
{
	const struct rk_column *pids = &b->cols[RK_K_PID], *ids = &b->cols[RK_K_DISPATCH];
	uint64_t pid = 0, key, *seen;
	size_t at;

	if (rk_column_has(pids, row))
		pid = (uint64_t)((const int64_t *)pids->data)[row];
	/* nest the hashes: xor of the two hashes of small numbers could cancel out */
	key = rk_hash_u64((uint64_t)((const int64_t *)ids->data)[row] ^ rk_hash_u64(~pid));
	if (!key)
		key = 1;
	if (key == o->last)
		return 0;
	o->last = key;
	if (o->full)
		return 1;
	if (o->nseen == MAX_DISPATCHES) {
		o->full = true;
		rk_diag_add(o->ctx->diag, "many-dispatches", o->file, 0, 1,
			    "too many dispatches to remember; only neighbouring rows are "
			    "joined from here on");
		return 1;
	}
	for (uint32_t i = rk_index_first(&o->by_hash, key, &at); i != RK_INDEX_NONE;
	     i = rk_index_next(&o->by_hash, key, &at))
		if (o->seen[i] == key)
			return 0;
	seen = rk_grow(o->seen, &o->cap, o->nseen + 1, sizeof(*seen));
	if (seen)
		o->seen = seen;
	if (!seen || !rk_index_add(&o->by_hash, key, (uint32_t)o->nseen))
		return rk_fail_nomem(err);
	o->seen[o->nseen++] = key;
	return 1;
}

static int take_row(struct once *o, const struct rk_batch *b, size_t row, struct rk_error *err)
{
	size_t to = o->out.nrows++;

	for (unsigned f = 0; f < b->schema->nfields; f++) {
		size_t size = rk_type_size(b->schema->fields[f].type);
		char *data;

		if (!b->cols[f].data)
			continue;
		data = rk_builder_column(&o->out, f);
		if (!data)
			return rk_fail_nomem(err);
		memcpy(data + to * size, (const char *)b->cols[f].data + row * size, size);
		if (!rk_column_has(&b->cols[f], row) && !rk_builder_null(&o->out, f, to))
			return rk_fail_nomem(err);
	}
	return 0;
}

static int once_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct once *o = (struct once *)base;
	const struct rk_batch *b;
	int rc;

	while ((rc = rk_source_next(o->rows, &b, err)) > 0) {
		if (o->out.cap < b->nrows) {
			rk_builder_release(&o->out);
			rc = rk_builder_init(&o->out, b->schema, b->nrows, err);
			if (rc < 0)
				return rc;
		}
		rk_builder_reset(&o->out);
		for (size_t i = 0; i < b->nrows; i++) {
			if (rk_column_has(&b->cols[RK_K_DISPATCH], i)) {
				rc = first_sight(o, b, i, err);
				if (rc < 0)
					return rc;
				if (rc == 0)
					continue;
			}
			rc = take_row(o, b, i, err);
			if (rc < 0)
				return rc;
		}
		if (o->out.nrows) {
			*batch = rk_builder_batch(&o->out);
			return 1;
		}
	}
	return rc;
}

static void once_close(struct rk_source *base)
{
	struct once *o = (struct once *)base;

	rk_source_close(o->rows);
	rk_builder_release(&o->out);
	rk_index_release(&o->by_hash);
	rk_free(o->seen);
	rk_free(o);
}

static const struct rk_source_ops once_ops = { .next = once_next, .close = once_close };

int rk_dispatch_once_open(struct rk_source *rows, struct rk_context *ctx, const char *file,
			  struct rk_source **ret, struct rk_error *err)
{
	struct once *o = rk_calloc(1, sizeof(*o));
	int rc;

	if (!o) {
		rk_source_close(rows);
		return rk_fail_nomem(err);
	}
	o->base = (struct rk_source){ &once_ops, rows->schema };
	o->rows = rows;
	o->ctx = ctx;
	o->file = file;
	rc = rk_builder_init(&o->out, rows->schema, RK_BATCH_ROWS, err);
	if (rc < 0) {
		once_close(&o->base);
		return rc;
	}
	*ret = &o->base;
	return 0;
}
