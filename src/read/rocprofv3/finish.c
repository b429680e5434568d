/*
 * finish.c - what the files do not say outright: durations, grids in workgroups, kinds.
 * Each function is called with the rows of one piece of a file, on any thread.
 */
#include "read/rocprofv3/csv.h"

#include <string.h>

#include "base/num.h"
#include "base/text.h"

static int make_null(struct rk_builder *b, unsigned field, size_t row, struct rk_error *err)
{
	return rk_builder_null(b, field, row) ? 0 : rk_fail_nomem(err);
}

/* The duration column holds the end so far. A row without both times has no duration. */
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
			    "times over 292 years apart; no duration");
	return rc;
}

/* Work-items (unsigned so far) to workgroups, rounded up. */
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

/* Work-items past 2^31 have no place in an int32 column; the workgroups above are right. */
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
		rk_diag_add(s->ctx->diag, "grid-out-of-range", s->file, 0, lost,
			    "grid of over 2147483647 work-items; grid_items left empty, grid kept");
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

/* Where the tool knows no stream, the queue stands for it. */
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

static int constant(struct rk_v3_scan *s, struct rk_builder *b, unsigned field, uint32_t id,
		    struct rk_error *err)
{
	uint32_t *p;

	if (!(s->want >> field & 1))
		return 0;
	p = rk_builder_column(b, field);
	if (!p)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < b->nrows; i++)
		p[i] = id;
	return 0;
}

/* Where the source has one number, x has it and y = z = 1. */
static int ones(struct rk_v3_scan *s, struct rk_builder *b, unsigned field, struct rk_error *err)
{
	int32_t *p;

	if (!(s->want >> field & 1))
		return 0;
	p = rk_builder_column(b, field);
	if (!p)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < b->nrows; i++)
		p[i] = 1;
	return 0;
}

static int kernels_common(struct rk_v3_scan *s, struct rk_builder *b, struct rk_error *err)
{
	int rc = durations(s, b, RK_K_START, RK_K_DURATION, err);

	for (unsigned i = 0; rc == 0 && i < 3; i++)
		if (s->want >> (RK_K_GRID_X + i) & 1)
			rc = grid(b, RK_K_GRID_X + i, RK_K_ITEMS_X + i, RK_K_BLOCK_X + i, err);
	for (unsigned i = 0; rc == 0 && i < 3; i++)
		rc = large_items(s, b, RK_K_ITEMS_X + i, err);
	if (rc == 0 && s->want >> RK_K_REGS & 1)
		rc = registers(b, err);
	if (rc == 0 && !s->has_stream)
		rc = queue_as_stream(s, b, err);
	if (rc == 0)
		rc = constant(s, b, RK_K_SOURCE, s->source_id, err);
	if (rc == 0)
		rc = constant(s, b, RK_K_CLOCK, s->clock_id, err);
	return rc;
}

int rk_v3_finish_kernels(void *scan, struct rk_builder *b, struct rk_error *err)
{
	return kernels_common(scan, b, err);
}

/* From a counter file: sizes are products. */
int rk_v3_finish_dispatches(void *scan, struct rk_builder *b, struct rk_error *err)
{
	static const unsigned one[] = { RK_K_GRID_Y,  RK_K_GRID_Z,  RK_K_BLOCK_Y,
					RK_K_BLOCK_Z, RK_K_ITEMS_Y, RK_K_ITEMS_Z };
	int rc = kernels_common(scan, b, err);

	for (unsigned i = 0; rc == 0 && i < sizeof(one) / sizeof(one[0]); i++)
		rc = ones(scan, b, one[i], err);
	return rc;
}

static bool is_marker(const struct rk_v3_scan *s, uint32_t domain)
{
	size_t len;
	const char *text = rk_strtab_borrow(s->ctx->names, domain, &len);

	return rk_text_iprefix(text, len, "MARKER_");
}

/* Keeps the rows whose domain is (or is not) a marker's, and counts the others. */
static void keep_domain(struct rk_v3_scan *s, struct rk_builder *b, unsigned field, bool markers)
{
	const uint32_t *domain = b->data[field];
	uint32_t last = UINT32_MAX;
	bool keep = true;
	size_t n = 0;

	for (size_t i = 0; domain && i < b->nrows; i++) {
		if (domain[i] != last)
			keep = is_marker(s, last = domain[i]) == markers;
		if (keep && n != i)
			rk_builder_move(b, n, i);
		n += keep;
	}
	if (!domain)
		return;
	__atomic_fetch_add(&s->other_rows, b->nrows - n, __ATOMIC_RELAXED);
	b->nrows = n;
}

int rk_v3_finish_api(void *scan, struct rk_builder *b, struct rk_error *err)
{
	keep_domain(scan, b, RK_A_DOMAIN, false);
	return durations(scan, b, RK_A_START, RK_A_DURATION, err);
}

/* MARKER_CORE_RANGE_API and the older MARKER_CORE_API hold ranges and marks: a mark has no length. */
static const char *marker_kind(const char *domain, size_t len, const int64_t *duration)
{
	if (rk_text_iprefix(domain, len, "MARKER_CONTROL"))
		return "control";
	if (rk_text_iprefix(domain, len, "MARKER_NAME"))
		return "name";
	return duration && *duration ? "range" : "mark";
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
		const char *word = marker_kind(text, len, duration ? &duration[i] : NULL);

		rc = rk_strtab_add(s->ctx->names, word, strlen(word), &kind[i], err);
	}
	return rc;
}

/* Builds of 2024 wrote HOST_TO_DEVICE for what is MEMORY_COPY_HOST_TO_DEVICE before and after. */
static int full_direction(struct rk_v3_scan *s, uint32_t *id, struct rk_error *err)
{
	struct rk_bytes name;
	size_t len;
	const char *text = rk_strtab_borrow(s->ctx->names, *id, &len);
	int rc;

	if (!len || rk_text_iprefix(text, len, "MEMORY_COPY_"))
		return 0;
	rk_bytes_init(&name, len + 16);
	rk_bytes_puts(&name, "MEMORY_COPY_");
	rk_bytes_put(&name, text, len);
	rc = name.bad ? rk_fail_nomem(err) :
			rk_strtab_add(s->ctx->names, (char *)name.data, name.len, id, err);
	rk_bytes_release(&name);
	return rc;
}

int rk_v3_finish_memcpy(void *scan, struct rk_builder *b, struct rk_error *err)
{
	uint32_t *direction = b->data[RK_C_DIRECTION];
	int rc = durations(scan, b, RK_C_START, RK_C_DURATION, err);

	for (size_t i = 0; direction && rc == 0 && i < b->nrows; i++)
		rc = full_direction(scan, &direction[i], err);
	return rc;
}

int rk_v3_finish_memalloc(void *scan, struct rk_builder *b, struct rk_error *err)
{
	return durations(scan, b, RK_M_START, RK_M_DURATION, err);
}

/* Shader engines: arrays so far, with the arrays of each in the column of pipes, which goes. */
static int engines(struct rk_builder *b, struct rk_error *err)
{
	int64_t *arrays = b->data[RK_G_SE_COUNT];
	const int64_t *each = b->data[RK_G_PIPES];
	int rc = 0;

	for (size_t i = 0; arrays && rc == 0 && i < b->nrows; i++) {
		if (each && !rk_builder_is_null(b, RK_G_PIPES, i) &&
		    !rk_builder_is_null(b, RK_G_SE_COUNT, i) && each[i] > 0 && arrays[i] > 0)
			arrays[i] /= each[i];
		else
			rc = make_null(b, RK_G_SE_COUNT, i, err);
	}
	for (size_t i = 0; each && rc == 0 && i < b->nrows; i++)
		rc = make_null(b, RK_G_PIPES, i, err);
	return rc;
}

/* A GPU's name is its gfx target; a CPU has none. */
int rk_v3_finish_agents(void *scan, struct rk_builder *b, struct rk_error *err)
{
	struct rk_v3_scan *s = scan;
	const uint32_t *name = b->data[RK_G_NAME];
	uint32_t *gfx = name ? rk_builder_column(b, RK_G_GFX) : NULL;
	int rc = name && !gfx ? rk_fail_nomem(err) : engines(b, err);

	for (size_t i = 0; gfx && rc == 0 && i < b->nrows; i++) {
		size_t len;
		const char *text = rk_strtab_borrow(s->ctx->names, name[i], &len);

		gfx[i] = name[i];
		if (!rk_text_iprefix(text, len, "gfx"))
			rc = make_null(b, RK_G_GFX, i, err);
	}
	return rc;
}

/*
 * The reason of a wave that did issue its instruction is about nothing: it was not stalled. That it
 * did stands where the node will not.
 */
static int without_issued(struct rk_v3_scan *s, struct rk_builder *b, struct rk_error *err)
{
	const uint32_t *issued = b->data[RK_P_NODE];
	int rc = 0;

	for (size_t i = 0; issued && rc == 0 && i < b->nrows; i++) {
		bool yes = !rk_builder_is_null(b, RK_P_NODE, i) &&
			   !strcmp(rk_strtab_borrow(s->ctx->names, issued[i], NULL), "1");

		if (yes && b->data[RK_P_STALL])
			rc = make_null(b, RK_P_STALL, i, err);
		if (rc == 0)
			rc = make_null(b, RK_P_NODE, i, err);
	}
	return rc;
}

/* The enumerators carry 58 letters of C name that say nothing. */
int rk_v3_finish_pc(void *scan, struct rk_builder *b, struct rk_error *err)
{
	static const char prefix[] = "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_";
	struct rk_v3_scan *s = scan;
	uint32_t *stall = b->data[RK_P_STALL];
	int rc = 0;

	for (size_t i = 0; stall && rc == 0 && i < b->nrows; i++) {
		size_t len, n = sizeof(prefix) - 1;
		const char *text = rk_strtab_borrow(s->ctx->names, stall[i], &len);

		if (rk_text_iprefix(text, len, prefix))
			rc = rk_strtab_add(s->ctx->names, text + n, len - n, &stall[i], err);
	}
	return rc < 0 ? rc : without_issued(s, b, err);
}

int rk_v3_finish_stats(void *scan, struct rk_builder *b, struct rk_error *err)
{
	struct rk_v3_scan *s = scan;

	return constant(s, b, RK_T_OF, s->stats_of_id, err);
}
