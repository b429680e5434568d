/*
 * wide_finish.c - what wide files do not say outright, or say in another table's words.
 * Each function is called with the rows of one piece of a file, on any thread.
 */
#include <string.h>

#include "base/bytes.h"
#include "read/wide/wide.h"

#define BIT(f) (UINT64_C(1) << (f))

uint64_t rk_wide_kernel_needs(uint64_t want)
{
	if (want & BIT(RK_K_DURATION))
		want |= BIT(RK_K_START);
	if (want & BIT(RK_K_GRID_X))
		want |= BIT(RK_K_BLOCK_X) | BIT(RK_K_ITEMS_X);
	if (want & BIT(RK_K_REGS))
		want |= BIT(RK_K_VGPR) | BIT(RK_K_ACCUM_VGPR);
	if (want & BIT(RK_K_STREAM))
		want |= BIT(RK_K_QUEUE);
	if (want & BIT(RK_K_BARRIER))
		want |= BIT(RK_K_NAME);
	return want;
}

static int mark_barriers(const struct rk_wide_scan *s, struct rk_builder *b, struct rk_error *err)
{
	const uint32_t *name = b->data[RK_K_NAME];
	uint8_t *barrier;

	if (!s->barriers || !name || !(s->v3.want & BIT(RK_K_BARRIER)))
		return 0;
	barrier = rk_builder_column(b, RK_K_BARRIER);
	if (!barrier)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < b->nrows; i++)
		barrier[i] = name[i] == s->barrier_id;
	return 0;
}

static int unwrap(struct rk_context *ctx, uint32_t *id, struct rk_error *err)
{
	size_t len;
	const char *text = rk_strtab_borrow(ctx->names, *id, &len);
	struct rk_bytes line;
	int rc;

	if (!memchr(text, '\n', len))
		return 0;
	rk_bytes_init(&line, len + 1);
	for (size_t i = 0; i < len; i++)
		if (text[i] != '\n' && text[i] != '\r')
			rk_bytes_put(&line, text + i, 1);
	rc = line.bad ? rk_fail_nomem(err) :
			rk_strtab_add(ctx->names, (const char *)line.data, line.len, id, err);
	rk_bytes_release(&line);
	return rc;
}

/* Names in one line again. */
static int unwrap_all(const struct rk_wide_scan *s, struct rk_builder *b, unsigned field,
		      struct rk_error *err)
{
	uint32_t *name = s->wrapped ? b->data[field] : NULL;
	int rc = 0;

	for (size_t i = 0; name && rc == 0 && i < b->nrows; i++)
		rc = unwrap(s->v3.ctx, &name[i], err);
	return rc;
}

int rk_wide_finish_kernels(void *scan, struct rk_builder *b, struct rk_error *err)
{
	struct rk_wide_scan *s = scan;
	int rc = rk_v3_finish_dispatches(&s->v3, b, err);

	if (rc == 0)
		rc = mark_barriers(s, b, err);
	return rc == 0 ? unwrap_all(s, b, RK_K_NAME, err) : rc;
}

int rk_wide_finish_stats(void *scan, struct rk_builder *b, struct rk_error *err)
{
	struct rk_wide_scan *s = scan;
	int rc = rk_v3_finish_stats(&s->v3, b, err);

	return rc == 0 ? unwrap_all(s, b, RK_T_NAME, err) : rc;
}

/* Id 0 is the empty name: an operation that is no kernel. */
int rk_wide_finish_op_kernels(void *scan, struct rk_builder *b, struct rk_error *err)
{
	struct rk_wide_scan *s = scan;
	const uint32_t *name = b->data[RK_K_NAME];
	size_t n = 0;

	for (size_t i = 0; name && i < b->nrows; i++)
		if (name[i])
			rk_builder_move(b, n++, i);
	b->nrows = n;
	return rk_v3_finish_kernels(&s->v3, b, err);
}

/* The tool's words for what rocprofv3 calls by longer names; others stay as they are. */
static int rename_copy(struct rk_context *ctx, uint32_t *id, struct rk_error *err)
{
	static const char *const words[][2] = {
		{ "CopyHostToDevice", "MEMORY_COPY_HOST_TO_DEVICE" },
		{ "CopyDeviceToHost", "MEMORY_COPY_DEVICE_TO_HOST" },
		{ "CopyDeviceToDevice", "MEMORY_COPY_DEVICE_TO_DEVICE" },
	};
	const char *text = rk_strtab_borrow(ctx->names, *id, NULL);

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(text, words[i][0]))
			return rk_strtab_add(ctx->names, words[i][1], strlen(words[i][1]), id, err);
	return 0;
}

int rk_wide_finish_copies(void *scan, struct rk_builder *b, struct rk_error *err)
{
	struct rk_wide_scan *s = scan;
	uint32_t *direction = b->data[RK_C_DIRECTION];
	int rc = 0;

	_Static_assert((int)RK_C_START == RK_M_START && (int)RK_C_DURATION == RK_M_DURATION,
		       "times of copies and of allocations stand in the same columns");
	for (size_t i = 0; direction && rc == 0 && i < b->nrows; i++)
		rc = rename_copy(s->v3.ctx, &direction[i], err);
	return rc == 0 ? rk_v3_finish_memalloc(&s->v3, b, err) : rc;
}

static bool is_copy(const struct rk_wide_scan *s, uint32_t operation)
{
	static const char *const words[] = { "Copy", "Fill", "Memcpy", "Memset" };
	const char *text = rk_strtab_borrow(s->v3.ctx->names, operation, NULL);

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(text, words[i]))
			return true;
	return false;
}

int rk_wide_finish_op_copies(void *scan, struct rk_builder *b, struct rk_error *err)
{
	struct rk_wide_scan *s = scan;
	const uint32_t *operation = b->data[RK_C_DIRECTION];
	size_t n = 0;

	for (size_t i = 0; operation && i < b->nrows; i++)
		if (is_copy(s, operation[i]))
			rk_builder_move(b, n++, i);
	b->nrows = n;
	return rk_wide_finish_copies(scan, b, err);
}
