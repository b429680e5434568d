/* rocprof_txt_rows.c - rows of the tables from the lines of a raw text trace. */
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/text.h"
#include "read/rocprof_v1/rocprof_txt.h"

enum { MAX_OPEN = 1 << 16 }; /* ranges that have begun and not ended */

/* A row being filled: after the first failure every call does nothing. */
struct row {
	struct rk_builder *b;
	struct rk_error *err;
	int rc;
};

static void put(struct row *r, unsigned field, const void *v, bool has)
{
	size_t size = rk_type_size(r->b->schema->fields[field].type), row = r->b->nrows;
	char *data = r->rc == 0 ? rk_builder_column(r->b, field) : NULL;

	if (r->rc < 0)
		return;
	if (data && has)
		memcpy(data + row * size, v, size);
	else if (!data || !rk_builder_null(r->b, field, row))
		r->rc = rk_fail_nomem(r->err);
}

static void put_i64(struct row *r, unsigned field, const struct rk_txt_line *l, enum rk_txt_field f)
{
	put(r, field, &l->num[f], rk_txt_has(l, f));
}

static void put_i32(struct row *r, unsigned field, int64_t v, bool has, struct rk_txt_rows *rows)
{
	int32_t small = (int32_t)v;

	if (has && small != v) {
		rows->out_of_range++;
		has = false;
	}
	put(r, field, &small, has);
}

static void put_text(struct row *r, unsigned field, struct rk_context *ctx, const char *p,
		     size_t len)
{
	uint32_t id = 0;

	if (r->rc == 0)
		r->rc = rk_strtab_add(ctx->names, p, len, &id, r->err);
	put(r, field, &id, true);
}

static void put_word(struct row *r, unsigned field, struct rk_context *ctx, const char *word)
{
	put_text(r, field, ctx, word, strlen(word));
}

static void put_duration(struct row *r, unsigned field, const struct rk_txt_line *l)
{
	int64_t d = 0;
	bool has = rk_txt_has(l, RK_TXT_BEGIN) && rk_txt_has(l, RK_TXT_END) &&
		   rk_sub_i64(l->num[RK_TXT_END], l->num[RK_TXT_BEGIN], &d);

	put(r, field, &d, has);
}

static void put_api(struct rk_txt_rows *r, struct row *row, const struct rk_txt_line *l)
{
	bool hsa = rk_text_iprefix(l->name.p, l->name.len, "hsa_");

	if (l->domain.p)
		put_text(row, RK_A_DOMAIN, r->ctx, l->domain.p, l->domain.len);
	else
		put_word(row, RK_A_DOMAIN, r->ctx, hsa ? "HSA_API" : "HIP_API");
	put_text(row, RK_A_FUNCTION, r->ctx, l->name.p, l->name.len);
	put_i64(row, RK_A_START, l, RK_TXT_BEGIN);
	put_duration(row, RK_A_DURATION, l);
	put_i64(row, RK_A_CORRELATION, l, RK_TXT_CORRELATION);
	put_i64(row, RK_A_PID, l, RK_TXT_PID);
	put_i64(row, RK_A_TID, l, RK_TXT_TID);
}

static void put_copy(struct rk_txt_rows *r, struct row *row, const struct rk_txt_line *l)
{
	put_text(row, RK_C_DIRECTION, r->ctx, l->name.p, l->name.len);
	put_i64(row, RK_C_START, l, RK_TXT_BEGIN);
	put_duration(row, RK_C_DURATION, l);
	put_i64(row, RK_C_STREAM, l, RK_TXT_QUEUE);
	put_i64(row, RK_C_CORRELATION, l, RK_TXT_CORRELATION);
	put_i64(row, RK_C_PID, l, RK_TXT_PID);
}

/* The tracer's own name for a barrier; everywhere else it is called a packet. */
static bool is_barrier(struct rk_csv_span name)
{
	return rk_text_ieq(name.p, name.len, "Marker") ||
	       rk_text_iprefix(name.p, name.len, "<barrier packet>") ||
	       rk_text_iprefix(name.p, name.len, "hcCommandMarker");
}

/* A size is one number: x has it. */
static void put_sizes(struct rk_txt_rows *r, struct row *row, const struct rk_txt_line *l)
{
	int64_t items = l->num[RK_TXT_GRID], block = l->num[RK_TXT_BLOCK], groups = 0;
	bool has_items = rk_txt_has(l, RK_TXT_GRID), has_block = rk_txt_has(l, RK_TXT_BLOCK);
	bool has = has_items && has_block && items >= 0 && block > 0;

	if (has)
		groups = items / block + (items % block != 0);
	put_i32(row, RK_K_GRID_X, groups, has, r);
	put_i32(row, RK_K_BLOCK_X, block, has_block, r);
	put_i32(row, RK_K_ITEMS_X, items, has_items, r);
	for (unsigned i = 1; i < 3; i++) {
		put_i32(row, RK_K_GRID_X + i, 1, has, r);
		put_i32(row, RK_K_BLOCK_X + i, 1, has_block, r);
		put_i32(row, RK_K_ITEMS_X + i, 1, has_items, r);
	}
}

static void put_resources(struct rk_txt_rows *r, struct row *row, const struct rk_txt_line *l)
{
	static const struct {
		unsigned column;
		enum rk_txt_field field;
	} sizes[] = {
		{ RK_K_SHARED_MEM, RK_TXT_LDS }, { RK_K_SCRATCH, RK_TXT_SCRATCH },
		{ RK_K_VGPR, RK_TXT_VGPR },      { RK_K_ACCUM_VGPR, RK_TXT_ACCUM },
		{ RK_K_SGPR, RK_TXT_SGPR },      { RK_K_WAVE_SIZE, RK_TXT_WAVE },
		{ RK_K_STREAM, RK_TXT_QUEUE },
	};
	int64_t regs = l->num[RK_TXT_VGPR];

	if (rk_txt_has(l, RK_TXT_ACCUM) &&
	    __builtin_add_overflow(regs, l->num[RK_TXT_ACCUM], &regs))
		regs = INT64_MAX;
	put_i32(row, RK_K_REGS, regs, rk_txt_has(l, RK_TXT_VGPR), r);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		put_i32(row, sizes[i].column, l->num[sizes[i].field], rk_txt_has(l, sizes[i].field),
			r);
}

static void put_kernel(struct rk_txt_rows *r, struct row *row, const struct rk_txt_line *l)
{
	const uint8_t barrier = is_barrier(l->name);

	if (barrier)
		put_word(row, RK_K_NAME, r->ctx, "<barrier packet>");
	else
		put_text(row, RK_K_NAME, r->ctx, l->name.p, l->name.len);
	put(row, RK_K_BARRIER, &barrier, true);
	put_i64(row, RK_K_START, l, RK_TXT_BEGIN);
	put_duration(row, RK_K_DURATION, l);
	put_sizes(r, row, l);
	put_resources(r, row, l);
	put_i64(row, RK_K_DEVICE, l, RK_TXT_DEVICE);
	put_i64(row, RK_K_QUEUE, l, RK_TXT_QUEUE);
	put_i64(row, RK_K_DISPATCH, l, RK_TXT_INDEX);
	put_i64(row, RK_K_CORRELATION, l, RK_TXT_CORRELATION);
	put_i64(row, RK_K_PID, l, RK_TXT_PID);
	put_i64(row, RK_K_TID, l, RK_TXT_TID);
	put_word(row, RK_K_SOURCE, r->ctx, "rocprof-txt");
	put_word(row, RK_K_CLOCK, r->ctx, "monotonic");
}

static void put_counter(struct rk_txt_rows *r, struct row *row, const struct rk_txt_line *l)
{
	put_i64(row, RK_N_DISPATCH, &r->dispatch, RK_TXT_INDEX);
	put(row, RK_N_NAME, &r->dispatch_name, rk_txt_has(&r->dispatch, RK_TXT_INDEX));
	put_text(row, RK_N_COUNTER, r->ctx, l->name.p, l->name.len);
	put(row, RK_N_VALUE, &l->value, true);
	put_i64(row, RK_N_DEVICE, &r->dispatch, RK_TXT_DEVICE);
	put_i64(row, RK_N_PID, &r->dispatch, RK_TXT_PID);
}

static void put_marker(struct rk_txt_rows *r, struct row *row, const struct rk_txt_line *l,
		       uint32_t name, const char *kind)
{
	put(row, RK_R_NAME, &name, true);
	put_word(row, RK_R_KIND, r->ctx, kind);
	put_i64(row, RK_R_START, l, RK_TXT_BEGIN);
	put_duration(row, RK_R_DURATION, l);
	put_i64(row, RK_R_PID, l, RK_TXT_PID);
	put_i64(row, RK_R_TID, l, RK_TXT_TID);
}

/* ---- ranges ---- */

static int remember(struct rk_txt_rows *r, const struct rk_txt_line *l, uint32_t name,
		    struct rk_error *err)
{
	size_t cap = r->cap_open ? r->cap_open * 2 : 64;

	if (r->nopen == MAX_OPEN) {
		r->dropped++;
		return 0;
	}
	if (r->nopen == r->cap_open) {
		struct rk_txt_range *open = rk_reallocn(r->open, cap, sizeof(*open));

		if (!open)
			return rk_fail_nomem(err);
		r->open = open;
		r->cap_open = cap;
	}
	r->open[r->nopen] = (struct rk_txt_range){ .line = *l, .name = name };
	r->open[r->nopen++].line.name.p = NULL;
	return 0;
}

/* Pushes end on the thread they began on, the last first; started ranges end by their id. */
static bool belongs(const struct rk_txt_line *begin, const struct rk_txt_line *end)
{
	if (begin->num[RK_TXT_OP] != end->num[RK_TXT_OP] - 1 ||
	    begin->num[RK_TXT_PID] != end->num[RK_TXT_PID])
		return false;
	return end->num[RK_TXT_OP] == 2 ? begin->num[RK_TXT_TID] == end->num[RK_TXT_TID] :
					  begin->num[RK_TXT_ID] == end->num[RK_TXT_ID];
}

/* Moves *ret out of the open ranges. */
static bool recall(struct rk_txt_rows *r, const struct rk_txt_line *end, struct rk_txt_range *ret)
{
	for (size_t i = r->nopen; i-- > 0;) {
		if (!belongs(&r->open[i].line, end))
			continue;
		*ret = r->open[i];
		memmove(&r->open[i], &r->open[i + 1], (r->nopen - i - 1) * sizeof(*r->open));
		r->nopen--;
		return true;
	}
	return false;
}

static void end_range(struct rk_txt_rows *r, struct row *row, const struct rk_txt_line *l)
{
	struct rk_txt_range range;

	if (!recall(r, l, &range)) {
		r->unmatched++;
		return;
	}
	range.line.num[RK_TXT_END] = l->num[RK_TXT_BEGIN];
	range.line.has |= 1u << RK_TXT_END;
	put_marker(r, row, &range.line, range.name, "range");
	r->b.nrows += row->rc == 0;
}

/*
 * rocprofv2 prints marks and pushes alike, so a pop cannot be given to its push: such ranges have
 * no end. Those with an id have one, in a line without a message.
 */
static enum rk_txt_kind v2_op(struct rk_txt_rows *r, struct rk_txt_line *l)
{
	static const int64_t start = 3, stop = 4;

	if (l->num[RK_TXT_ID]) {
		l->num[RK_TXT_OP] = l->name.p ? start : stop;
		return RK_TXT_MARK;
	}
	r->lost_ends += !l->name.p;
	return l->name.p ? RK_TXT_V2_MARK : RK_TXT_PREAMBLE;
}

static int put_mark(struct rk_txt_rows *r, struct row *row, struct rk_txt_line l)
{
	uint32_t name = 0;
	bool v2 = l.kind == RK_TXT_V2_MARK;

	if (v2)
		l.kind = v2_op(r, &l);
	if (l.kind == RK_TXT_PREAMBLE)
		return 0;
	if (l.name.p)
		row->rc = rk_strtab_add(r->ctx->names, l.name.p, l.name.len, &name, row->err);
	if (row->rc < 0)
		return row->rc;
	if (l.kind == RK_TXT_MARK && (l.num[RK_TXT_OP] == 1 || l.num[RK_TXT_OP] == 3))
		return remember(r, &l, name, row->err);
	if (l.kind == RK_TXT_MARK && l.num[RK_TXT_OP]) {
		end_range(r, row, &l);
		return row->rc;
	}
	/* a mark has no length; what rocprofv2 calls one may be a range */
	l.num[RK_TXT_END] = l.num[RK_TXT_BEGIN];
	l.has |= v2 ? 0 : 1u << RK_TXT_END;
	put_marker(r, row, &l, name, "mark");
	r->b.nrows += row->rc == 0;
	return row->rc;
}

int rk_txt_put_open(struct rk_txt_rows *r, struct rk_error *err)
{
	struct row row = { &r->b, err, 0 };

	if (!r->nopen)
		return 0;
	r->unclosed++;
	put_marker(r, &row, &r->open[r->nopen - 1].line, r->open[r->nopen - 1].name, "range");
	r->nopen--;
	r->b.nrows += row.rc == 0;
	return row.rc < 0 ? row.rc : 1;
}

/* ---- lines ---- */

static int keep_dispatch(struct rk_txt_rows *r, const struct rk_txt_line *l, struct rk_error *err)
{
	r->dispatch = *l;
	return rk_strtab_add(r->ctx->names, l->name.p, l->name.len, &r->dispatch_name, err);
}

int rk_txt_put(struct rk_txt_rows *r, const struct rk_txt_line *l, struct rk_error *err)
{
	static const struct {
		enum rk_txt_kind kind;
		enum rk_table table;
		void (*put)(struct rk_txt_rows *r, struct row *row, const struct rk_txt_line *l);
	} what[] = {
		{ RK_TXT_API, RK_API, put_api },
		{ RK_TXT_KERNEL, RK_KERNELS, put_kernel },
		{ RK_TXT_DISPATCH, RK_KERNELS, put_kernel },
		{ RK_TXT_COPY, RK_MEMCPY, put_copy },
		{ RK_TXT_COUNTER, RK_COUNTERS, put_counter },
	};
	enum rk_table table = r->b.schema->table;
	struct row row = { &r->b, err, 0 };

	if (table == RK_MARKERS)
		return l->kind == RK_TXT_MARK || l->kind == RK_TXT_V2_MARK ? put_mark(r, &row, *l) :
									     0;
	if (table == RK_COUNTERS && l->kind == RK_TXT_DISPATCH)
		return keep_dispatch(r, l, err);
	for (unsigned i = 0; i < sizeof(what) / sizeof(what[0]); i++) {
		if (what[i].kind != l->kind || what[i].table != table)
			continue;
		what[i].put(r, &row, l);
		r->b.nrows += row.rc == 0;
	}
	return row.rc;
}

void rk_txt_rows_release(struct rk_txt_rows *r)
{
	rk_builder_release(&r->b);
	rk_free(r->open);
	*r = (struct rk_txt_rows){ 0 };
}
