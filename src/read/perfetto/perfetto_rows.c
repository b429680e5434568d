/* perfetto_rows.c - slices as rows of the standard tables. */
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "read/perfetto/perfetto_reader.h"

/* Categories of rocprofiler-systems have "rocm_" in front. */
enum rk_table rk_pf_table_of(const char *category, size_t len)
{
	if (rk_text_iprefix(category, len, "rocm_")) {
		category += 5;
		len -= 5;
	}
	if (rk_text_ieq(category, len, "kernel_dispatch"))
		return RK_KERNELS;
	if (rk_text_ieq(category, len, "memory_copy"))
		return RK_MEMCPY;
	if (rk_text_ieq(category, len, "memory_allocation"))
		return RK_MEMALLOC;
	if (rk_text_ieq(category, len, "marker_api"))
		return RK_MARKERS;
	return rk_text_ends(category, len, "_api") || rk_text_ends(category, len, "_api_ext") ?
		       RK_API :
		       RK_MARKERS;
}

static void put(struct pf_rows *r, unsigned field, int64_t v)
{
	enum rk_type type = r->b.schema->fields[field].type;
	size_t row = r->b.nrows;
	void *col;

	if (!(r->want >> field & 1))
		return;
	col = rk_builder_column(&r->b, field);
	if (type == RK_I32 && v != RK_NONE && v != (int32_t)v) {
		r->range++;
		v = RK_NONE;
	}
	if (!col || (v == RK_NONE && !rk_builder_null(&r->b, field, row)))
		rk_fail_nomem(&r->error);
	else if (v != RK_NONE && type == RK_I64)
		((int64_t *)col)[row] = v;
	else if (v != RK_NONE)
		((uint32_t *)col)[row] = (uint32_t)v;
}

static int64_t either(int64_t a, int64_t b)
{
	return a == RK_NONE ? b : a;
}

/* The annotations' times where both are there: the slice's edges may have been moved. */
static void put_times(struct pf_rows *r, const struct pf_slice *s, int64_t end, unsigned start,
		      unsigned duration)
{
	int64_t from = s->start, to = end, dur = RK_NONE;

	if (s->values[PF_BEGIN] != RK_NONE && s->values[PF_END] != RK_NONE) {
		from = s->values[PF_BEGIN];
		to = s->values[PF_END];
	}
	put(r, start, from);
	if (from != RK_NONE && to != RK_NONE && !rk_sub_i64(to, from, &dur)) {
		r->range++;
		dur = RK_NONE;
	}
	put(r, duration, dur);
}

/* Workgroups, as rockit writes them; work-items are as many times their size. */
static bool put_grid(struct pf_rows *r, const struct pf_slice *s)
{
	if (s->values[PF_GRID] == RK_NONE)
		return false;
	for (unsigned i = 0; i < 3; i++) {
		int64_t block = s->values[PF_BLOCK + i], grid = s->values[PF_GRID + i];
		int64_t items = s->values[PF_ITEMS + i];

		if (items == RK_NONE && grid != RK_NONE && block != RK_NONE &&
		    __builtin_mul_overflow(grid, block, &items))
			items = RK_NONE;
		put(r, RK_K_BLOCK_X + i, block);
		put(r, RK_K_ITEMS_X + i, items);
		put(r, RK_K_GRID_X + i, grid);
	}
	return true;
}

/* Work-items and a workgroup, as three numbers or as one, the product. */
static void put_geometry(struct pf_rows *r, const struct pf_slice *s)
{
	if (put_grid(r, s))
		return;
	for (unsigned i = 0; i < 3; i++) {
		int64_t block = s->values[PF_BLOCK + i], items = s->values[PF_ITEMS + i];
		bool known;

		if (i && block == RK_NONE && s->values[PF_BLOCK] != RK_NONE)
			block = 1;
		if (i && items == RK_NONE && s->values[PF_ITEMS] != RK_NONE)
			items = 1;
		known = block > 0 && items >= 0;
		put(r, RK_K_BLOCK_X + i, block);
		put(r, RK_K_ITEMS_X + i, items);
		put(r, RK_K_GRID_X + i, known ? items / block + (items % block != 0) : RK_NONE);
	}
}

static void put_registers(struct pf_rows *r, const struct pf_slice *s)
{
	int64_t vgpr = s->values[PF_VGPR], accum = s->values[PF_ACCUM], regs = vgpr;

	if (vgpr != RK_NONE && accum != RK_NONE && !rk_add_i64(vgpr, accum, &regs))
		regs = INT64_MAX;
	put(r, RK_K_REGS, either(s->values[PF_REGS], regs));
	put(r, RK_K_VGPR, vgpr);
	put(r, RK_K_ACCUM_VGPR, accum);
	put(r, RK_K_SGPR, s->values[PF_SGPR]);
}

static void kernel(struct pf_rows *r, const struct pf_slice *s, const struct pf_track *t,
		   int64_t end)
{
	int64_t queue = either(s->values[PF_QUEUE], t->queue);
	int64_t stream = either(s->values[PF_STREAM], t->stream);

	put(r, RK_K_NAME, s->name);
	put_times(r, s, end, RK_K_START, RK_K_DURATION);
	put_geometry(r, s);
	put_registers(r, s);
	put(r, RK_K_SHARED_MEM, s->values[PF_LDS]);
	put(r, RK_K_SCRATCH, s->values[PF_SCRATCH]);
	put(r, RK_K_WAVE_SIZE, s->values[PF_WAVE_SIZE]);
	put(r, RK_K_STREAM, either(stream, queue));
	put(r, RK_K_QUEUE, queue);
	put(r, RK_K_DEVICE, either(s->values[PF_AGENT], t->agent));
	put(r, RK_K_DISPATCH, either(s->values[PF_DISPATCH], r->kernels));
	put(r, RK_K_CORRELATION, s->values[PF_CORRELATION]);
	put(r, RK_K_PID, s->values[PF_PID]);
	put(r, RK_K_TID, s->values[PF_TID]);
	put(r, RK_K_RANK, s->values[PF_RANK]);
	put(r, RK_K_NODE, s->values[PF_NODE]);
	put(r, RK_K_SOURCE, r->source_id);
	put(r, RK_K_CLOCK, r->clock_id);
	r->b.nrows++;
}

static void counters(struct pf_rows *r, const struct pf_slice *s, const struct pf_track *t)
{
	for (unsigned i = 0; i < s->ncounters && !r->error.code; i++) {
		double *values = r->want >> RK_N_VALUE & 1 ? rk_builder_column(&r->b, RK_N_VALUE) :
							     NULL;

		put(r, RK_N_DISPATCH, either(s->values[PF_DISPATCH], r->kernels));
		put(r, RK_N_NAME, s->name);
		put(r, RK_N_COUNTER, s->counters[i].name);
		if (values)
			values[r->b.nrows] = s->counters[i].value;
		else if (r->want >> RK_N_VALUE & 1)
			rk_fail_nomem(&r->error);
		put(r, RK_N_DEVICE, either(s->values[PF_AGENT], t->agent));
		put(r, RK_N_PID, s->values[PF_PID]);
		put(r, RK_N_RANK, s->values[PF_RANK]);
		put(r, RK_N_NODE, s->values[PF_NODE]);
		r->b.nrows++;
	}
}

/* "MEMORY_COPY_" in front of directions that lack it, as in the CSV files. */
static int64_t direction(struct pf_rows *r, int64_t name)
{
	struct rk_bytes full;
	uint32_t id = 0;
	const char *text;
	size_t len;

	if (name == RK_NONE)
		return RK_NONE;
	text = rk_strtab_borrow(r->ctx->names, (uint32_t)name, &len);
	if (!rk_text_ends(text, len, "_TO_HOST") && !rk_text_ends(text, len, "_TO_DEVICE"))
		return name;
	if (rk_text_iprefix(text, len, "MEMORY_COPY_"))
		return name;
	rk_bytes_init(&full, len + 16);
	rk_bytes_puts(&full, "MEMORY_COPY_");
	rk_bytes_put(&full, text, len);
	if (full.bad)
		rk_fail_nomem(&r->error);
	else
		rk_strtab_add(r->ctx->names, (const char *)full.data, full.len, &id, &r->error);
	rk_bytes_release(&full);
	return id;
}

static void copy(struct pf_rows *r, const struct pf_slice *s, const struct pf_track *t, int64_t end)
{
	put(r, RK_C_DIRECTION, direction(r, s->name));
	put_times(r, s, end, RK_C_START, RK_C_DURATION);
	put(r, RK_C_BYTES, s->values[PF_BYTES]);
	put(r, RK_C_SRC, s->values[PF_SRC]);
	put(r, RK_C_DST, s->values[PF_DST]);
	put(r, RK_C_STREAM, either(s->values[PF_STREAM], t->stream));
	put(r, RK_C_CORRELATION, s->values[PF_CORRELATION]);
	put(r, RK_C_PID, s->values[PF_PID]);
	put(r, RK_C_TID, s->values[PF_TID]);
	put(r, RK_C_RANK, s->values[PF_RANK]);
	put(r, RK_C_NODE, s->values[PF_NODE]);
	r->b.nrows++;
}

static void allocation(struct pf_rows *r, const struct pf_slice *s, int64_t end)
{
	put(r, RK_M_OPERATION, s->name);
	put_times(r, s, end, RK_M_START, RK_M_DURATION);
	put(r, RK_M_BYTES, s->values[PF_BYTES]);
	put(r, RK_M_ADDRESS, s->values[PF_ADDRESS]);
	put(r, RK_M_DEVICE, s->values[PF_AGENT]);
	put(r, RK_M_FLAGS, s->values[PF_FLAGS]);
	put(r, RK_M_CORRELATION, s->values[PF_CORRELATION]);
	put(r, RK_M_PID, s->values[PF_PID]);
	put(r, RK_M_TID, s->values[PF_TID]);
	put(r, RK_M_RANK, s->values[PF_RANK]);
	put(r, RK_M_NODE, s->values[PF_NODE]);
	r->b.nrows++;
}

/* The category in capitals, as other readers name domains: HIP_API. */
static int64_t domain(struct pf_rows *r, uint32_t category)
{
	char name[64];
	size_t len;
	const char *text = rk_strtab_borrow(r->ctx->names, category, &len);
	uint32_t id = 0;

	if (len > sizeof(name))
		return category;
	for (size_t i = 0; i < len; i++)
		name[i] = (char)(text[i] >= 'a' && text[i] <= 'z' ? text[i] - 32 : text[i]);
	rk_strtab_add(r->ctx->names, name, len, &id, &r->error);
	return id;
}

static void call(struct pf_rows *r, const struct pf_slice *s, const struct pf_track *t, int64_t end)
{
	if (s->values[PF_DOMAIN] != RK_NONE)
		put(r, RK_A_DOMAIN, s->values[PF_DOMAIN]);
	else if (r->want >> RK_A_DOMAIN & 1)
		put(r, RK_A_DOMAIN, domain(r, s->category));
	put(r, RK_A_FUNCTION, s->name);
	put_times(r, s, end, RK_A_START, RK_A_DURATION);
	put(r, RK_A_CORRELATION, s->values[PF_CORRELATION]);
	put(r, RK_A_PID, s->values[PF_PID]);
	put(r, RK_A_TID, either(s->values[PF_TID], t->tid));
	put(r, RK_A_RANK, s->values[PF_RANK]);
	put(r, RK_A_NODE, s->values[PF_NODE]);
	r->b.nrows++;
}

static void marker(struct pf_rows *r, const struct pf_slice *s, const struct pf_track *t,
		   int64_t end)
{
	put(r, RK_R_NAME, s->name);
	put(r, RK_R_KIND, either(s->values[PF_KIND], s->instant ? r->mark_id : r->range_id));
	put_times(r, s, end, RK_R_START, RK_R_DURATION);
	put(r, RK_R_PID, s->values[PF_PID]);
	put(r, RK_R_TID, either(s->values[PF_TID], t->tid));
	put(r, RK_R_RANK, s->values[PF_RANK]);
	put(r, RK_R_NODE, s->values[PF_NODE]);
	r->b.nrows++;
}

int rk_pf_rows_add(void *arg, const struct pf_slice *s, const struct pf_track *t, int64_t end,
		   struct rk_error *err)
{
	struct pf_rows *r = arg;

	r->kernels++; /* of use in the two tables of kernels only */
	if (r->table == RK_KERNELS)
		kernel(r, s, t, end);
	else if (r->table == RK_COUNTERS)
		counters(r, s, t);
	else if (r->table == RK_MEMCPY)
		copy(r, s, t, end);
	else if (r->table == RK_MEMALLOC)
		allocation(r, s, end);
	else if (r->table == RK_API)
		call(r, s, t, end);
	else
		marker(r, s, t, end);
	if (r->error.code && err && !err->code)
		*err = r->error;
	return r->error.code;
}

int rk_pf_rows_init(struct pf_rows *r, struct rk_context *ctx, enum rk_table t, uint64_t want,
		    struct rk_error *err)
{
	struct {
		const char *text;
		uint32_t *id;
	} words[] = {
		{ "perfetto", &r->source_id },
		{ "boottime", &r->clock_id },
		{ "range", &r->range_id },
		{ "mark", &r->mark_id },
	};
	int rc = 0;

	*r = (struct pf_rows){ .ctx = ctx, .table = t, .want = want };
	for (unsigned i = 0; rc == 0 && i < 4; i++)
		rc = rk_strtab_add(ctx->names, words[i].text, strlen(words[i].text), words[i].id,
				   err);
	if (rc == 0)
		rc = rk_builder_init(&r->b, rk_table_schema(t), RK_BATCH_ROWS, err);
	return rc;
}

void rk_pf_rows_release(struct pf_rows *r)
{
	rk_builder_release(&r->b);
}
