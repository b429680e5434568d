/* rocpd_memory.c - rocpd_memory_copy and rocpd_memory_allocate. */
#include <string.h>

#include "base/text.h"
#include "read/rocpd/rocpd_scan.h"

enum { C_NAME = COL_OWN, C_DST, C_SRC, C_SIZE, C_NCOLUMNS };

static const struct rocpd_column copy_columns[C_NCOLUMNS] = {
	[COL_NID] = ROCPD_INT("nid", ROCPD_BIT(RK_C_NODE)),
	[COL_PID] = ROCPD_INT("pid", ROCPD_BIT(RK_C_PID)),
	[COL_TID] = ROCPD_INT("tid", ROCPD_BIT(RK_C_TID)),
	[COL_STREAM] = ROCPD_INT("stream_id", ROCPD_BIT(RK_C_STREAM)),
	[COL_TRACK] = ROCPD_INT("track_id", ROCPD_BIT(RK_C_NODE) | ROCPD_BIT(RK_C_PID) |
						    ROCPD_BIT(RK_C_TID) | ROCPD_BIT(RK_C_STREAM)),
	[COL_START] = ROCPD_INT("start", ROCPD_BIT(RK_C_START) | ROCPD_BIT(RK_C_DURATION)),
	[COL_END] = ROCPD_INT("end", ROCPD_BIT(RK_C_DURATION)),
	[COL_EVENT] = ROCPD_INT("event_id", ROCPD_BIT(RK_C_CORRELATION)),
	[C_NAME] = ROCPD_INT("name_id", ROCPD_BIT(RK_C_DIRECTION)),
	[C_DST] = ROCPD_INT("dst_agent_id", ROCPD_BIT(RK_C_DST)),
	[C_SRC] = ROCPD_INT("src_agent_id", ROCPD_BIT(RK_C_SRC)),
	[C_SIZE] = ROCPD_INT("size", ROCPD_BIT(RK_C_BYTES)),
};

static void put_direction(struct rocpd_scan *s, size_t row)
{
	int64_t id = rk_rocpd_resolve(s, ROCPD_STRING, rk_rocpd_cell(s, C_NAME), DIM_STRING_TEXT);

	if (id == RK_NONE)
		rk_rocpd_put_null(s, RK_C_DIRECTION, row);
	else
		rk_rocpd_put(s, RK_C_DIRECTION, row, id);
}

static void put_agent(struct rocpd_scan *s, unsigned field, size_t row, unsigned col)
{
	if (rk_rocpd_wants(s, field))
		rk_rocpd_put(s, field, row,
			     rk_rocpd_resolve_or_id(s, ROCPD_AGENT, rk_rocpd_cell(s, col)));
}

static int copy_row(struct rocpd_scan *s, size_t row)
{
	rk_rocpd_put_times(s, row, RK_C_START, RK_C_DURATION, COL_END);
	if (rk_rocpd_wants(s, RK_C_DIRECTION))
		put_direction(s, row);
	rk_rocpd_put(s, RK_C_BYTES, row, rk_rocpd_cell(s, C_SIZE));
	put_agent(s, RK_C_SRC, row, C_SRC);
	put_agent(s, RK_C_DST, row, C_DST);
	if (rk_rocpd_wants(s, RK_C_STREAM))
		rk_rocpd_put(s, RK_C_STREAM, row, rk_rocpd_place(s, COL_STREAM));
	rk_rocpd_put_who(s, row, RK_C_NODE, RK_C_PID, RK_C_TID);
	rk_rocpd_put_correlation(s, RK_C_CORRELATION, row);
	return 1;
}

static const struct rocpd_part copy_parts[] = {
	{ ROCPD_COPY, copy_columns, C_NCOLUMNS, copy_row },
};

const struct rocpd_plan rk_rocpd_memcpy = {
	.table = RK_MEMCPY,
	.gives = ~ROCPD_BIT(RK_C_RANK),
	.parts = copy_parts,
	.nparts = 1,
	.events_for = { [EVENT_STACK] = ROCPD_BIT(RK_C_CORRELATION) },
};

enum { A_TYPE = COL_OWN, A_LEVEL, A_ADDRESS, A_SIZE, A_EXTDATA, A_NCOLUMNS };

static const struct rocpd_column alloc_columns[A_NCOLUMNS] = {
	[COL_NID] = ROCPD_INT("nid", ROCPD_BIT(RK_M_NODE)),
	[COL_PID] = ROCPD_INT("pid", ROCPD_BIT(RK_M_PID)),
	[COL_TID] = ROCPD_INT("tid", ROCPD_BIT(RK_M_TID)),
	[COL_AGENT] = ROCPD_INT("agent_id", ROCPD_BIT(RK_M_DEVICE)),
	[COL_TRACK] = ROCPD_INT("track_id", ROCPD_BIT(RK_M_NODE) | ROCPD_BIT(RK_M_PID) |
						    ROCPD_BIT(RK_M_TID) | ROCPD_BIT(RK_M_DEVICE)),
	[COL_START] = ROCPD_INT("start", ROCPD_BIT(RK_M_START) | ROCPD_BIT(RK_M_DURATION)),
	[COL_END] = ROCPD_INT("end", ROCPD_BIT(RK_M_DURATION)),
	[COL_EVENT] = ROCPD_INT("event_id", ROCPD_BIT(RK_M_CORRELATION)),
	[A_TYPE] = ROCPD_TEXT("type", ROCPD_BIT(RK_M_OPERATION)),
	[A_LEVEL] = ROCPD_TEXT("level", ROCPD_BIT(RK_M_OPERATION)),
	[A_ADDRESS] = ROCPD_INT("address", ROCPD_BIT(RK_M_ADDRESS)),
	[A_SIZE] = ROCPD_INT("size", ROCPD_BIT(RK_M_BYTES)),
	[A_EXTDATA] = ROCPD_TEXT("extdata", ROCPD_BIT(RK_M_FLAGS)),
};

/* The words that the CSV files have for the same operations. */
static const struct {
	const char *level, *type, *word;
} operations[] = {
	{ "REAL", "ALLOC", "MEMORY_ALLOCATION_ALLOCATE" },
	{ "REAL", "FREE", "MEMORY_ALLOCATION_FREE" },
	{ "VIRTUAL", "ALLOC", "MEMORY_ALLOCATION_VMEM_ALLOCATE" },
	{ "VIRTUAL", "FREE", "MEMORY_ALLOCATION_VMEM_FREE" },
	{ "SCRATCH", "ALLOC", "SCRATCH_MEMORY_ALLOC" },
	{ "SCRATCH", "FREE", "SCRATCH_MEMORY_FREE" },
	{ "SCRATCH", "RECLAIM", "SCRATCH_MEMORY_ASYNC_RECLAIM" },
};

static const char *operation_word(const char *level, size_t level_len, const char *type,
				  size_t type_len)
{
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		if (rk_text_ieq(level, level_len, operations[i].level) &&
		    rk_text_ieq(type, type_len, operations[i].type))
			return operations[i].word;
	return NULL;
}

/* A pair without a word of its own is written out: REAL_REALLOC. */
static void put_operation(struct rocpd_scan *s, size_t row)
{
	size_t level_len = 0, type_len = 0;
	const char *text = rk_sqlite_text(s->c, A_LEVEL, &level_len), *type, *word;

	rk_bytes_clear(&s->text);
	rk_bytes_put(&s->text, text, text ? level_len : 0); /* the next call may move it */
	level_len = s->text.len;
	type = rk_sqlite_text(s->c, A_TYPE, &type_len);
	if (!type) {
		rk_rocpd_put_null(s, RK_M_OPERATION, row);
		return;
	}
	word = operation_word((const char *)s->text.data, level_len, type, type_len);
	if (!word) {
		rk_bytes_puts(&s->text, level_len ? "_" : "");
		rk_bytes_put(&s->text, type, type_len);
	}
	if (s->text.bad)
		rk_fail_nomem(&s->error);
	else if (word)
		rk_rocpd_put_text(s, RK_M_OPERATION, row, word, strlen(word));
	else
		rk_rocpd_put_text(s, RK_M_OPERATION, row, (const char *)s->text.data, s->text.len);
}

static void put_flags(struct rocpd_scan *s, size_t row)
{
	struct rocpd_span json, value;
	int64_t v;

	json.s = rk_sqlite_text(s->c, A_EXTDATA, &json.len);
	if (!json.s || !rk_rocpd_json_field(json, "flags", &value) || !rk_rocpd_json_i64(value, &v))
		v = RK_NONE;
	rk_rocpd_put(s, RK_M_FLAGS, row, v);
}

static int alloc_row(struct rocpd_scan *s, size_t row)
{
	rk_rocpd_put_times(s, row, RK_M_START, RK_M_DURATION, COL_END);
	if (rk_rocpd_wants(s, RK_M_OPERATION))
		put_operation(s, row);
	rk_rocpd_put(s, RK_M_BYTES, row, rk_rocpd_cell(s, A_SIZE));
	rk_rocpd_put(s, RK_M_ADDRESS, row, rk_rocpd_cell(s, A_ADDRESS));
	if (rk_rocpd_wants(s, RK_M_DEVICE))
		rk_rocpd_put(s, RK_M_DEVICE, row,
			     rk_rocpd_resolve_or_id(s, ROCPD_AGENT, rk_rocpd_place(s, COL_AGENT)));
	if (rk_rocpd_wants(s, RK_M_FLAGS))
		put_flags(s, row);
	rk_rocpd_put_who(s, row, RK_M_NODE, RK_M_PID, RK_M_TID);
	rk_rocpd_put_correlation(s, RK_M_CORRELATION, row);
	return 1;
}

static const struct rocpd_part alloc_parts[] = {
	{ ROCPD_ALLOC, alloc_columns, A_NCOLUMNS, alloc_row },
};

const struct rocpd_plan rk_rocpd_memalloc = {
	.table = RK_MEMALLOC,
	.gives = ~ROCPD_BIT(RK_M_RANK),
	.parts = alloc_parts,
	.nparts = 1,
	.events_for = { [EVENT_STACK] = ROCPD_BIT(RK_M_CORRELATION) },
};
