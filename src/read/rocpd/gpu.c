/* gpu.c - kernels, copies and allocations of a rocpd database. */
#include "base/text.h"
#include "read/rocpd/rocpd.h"

enum {
	D_KERNEL = COL_OWN,
	D_DISPATCH,
	D_PRIVATE,
	D_GROUP,
	D_BLOCK, /* three columns */
	D_ITEMS = D_BLOCK + 3,
	D_REPLAY = D_ITEMS + 3,
	D_GRAPH,
	D_GRAPH_NODE,
	D_NCOLUMNS
};

#define SYMBOL_FIELDS                                                                              \
	(SQL_BIT(RK_K_NAME) | SQL_BIT(RK_K_REGS) | SQL_BIT(RK_K_VGPR) | SQL_BIT(RK_K_ACCUM_VGPR) | \
	 SQL_BIT(RK_K_SGPR))
#define PLACE_FIELDS                                                                         \
	(SQL_BIT(RK_K_NODE) | SQL_BIT(RK_K_PID) | SQL_BIT(RK_K_TID) | SQL_BIT(RK_K_DEVICE) | \
	 SQL_BIT(RK_K_QUEUE) | SQL_BIT(RK_K_STREAM))
#define GEOMETRY_FIELDS                                                          \
	(SQL_BIT(RK_K_GRID_X) | SQL_BIT(RK_K_GRID_Y) | SQL_BIT(RK_K_GRID_Z) |    \
	 SQL_BIT(RK_K_BLOCK_X) | SQL_BIT(RK_K_BLOCK_Y) | SQL_BIT(RK_K_BLOCK_Z) | \
	 SQL_BIT(RK_K_ITEMS_X) | SQL_BIT(RK_K_ITEMS_Y) | SQL_BIT(RK_K_ITEMS_Z))
#define TIME_FIELDS (SQL_BIT(RK_K_START) | SQL_BIT(RK_K_DURATION))

static const struct sql_column kernel_columns[D_NCOLUMNS] = {
	[COL_NID] = SQL_INT("nid", SQL_BIT(RK_K_NODE)),
	[COL_PID] = SQL_INT("pid", SQL_BIT(RK_K_PID)),
	[COL_TID] = SQL_INT("tid", SQL_BIT(RK_K_TID)),
	[COL_AGENT] = SQL_INT("agent_id", SQL_BIT(RK_K_DEVICE)),
	[COL_QUEUE] = SQL_INT("queue_id", SQL_BIT(RK_K_QUEUE)),
	[COL_STREAM] = SQL_INT("stream_id", SQL_BIT(RK_K_STREAM)),
	[COL_TRACK] = SQL_INT("track_id", PLACE_FIELDS),
	[COL_START] = SQL_INT("start", TIME_FIELDS),
	[COL_END] = SQL_INT("end", SQL_BIT(RK_K_DURATION)),
	[COL_EVENT] = SQL_INT("event_id", SQL_BIT(RK_K_CORRELATION)),
	[D_KERNEL] = SQL_INT("kernel_id", SYMBOL_FIELDS),
	[D_DISPATCH] = SQL_INT("dispatch_id", SQL_BIT(RK_K_DISPATCH)),
	[D_PRIVATE] = SQL_INT("private_segment_size", SQL_BIT(RK_K_SCRATCH)),
	[D_GROUP] = SQL_INT("group_segment_size", SQL_BIT(RK_K_SHARED_MEM)),
	[D_BLOCK] = SQL_INT("workgroup_size_x", SQL_BIT(RK_K_BLOCK_X) | SQL_BIT(RK_K_GRID_X)),
	[D_BLOCK + 1] = SQL_INT("workgroup_size_y", SQL_BIT(RK_K_BLOCK_Y) | SQL_BIT(RK_K_GRID_Y)),
	[D_BLOCK + 2] = SQL_INT("workgroup_size_z", SQL_BIT(RK_K_BLOCK_Z) | SQL_BIT(RK_K_GRID_Z)),
	[D_ITEMS] = SQL_INT("grid_size_x", SQL_BIT(RK_K_ITEMS_X) | SQL_BIT(RK_K_GRID_X)),
	[D_ITEMS + 1] = SQL_INT("grid_size_y", SQL_BIT(RK_K_ITEMS_Y) | SQL_BIT(RK_K_GRID_Y)),
	[D_ITEMS + 2] = SQL_INT("grid_size_z", SQL_BIT(RK_K_ITEMS_Z) | SQL_BIT(RK_K_GRID_Z)),
	[D_REPLAY] = SQL_INT("replay_pass", UINT64_MAX),
	[D_GRAPH] = SQL_INT("graph_exec_id", SQL_BIT(RK_K_GRAPH) | SQL_BIT(RK_K_GRAPH_NODE)),
	[D_GRAPH_NODE] = SQL_INT("graph_node_id", SQL_BIT(RK_K_GRAPH_NODE)),
};

/* Since schema 3.0.2; graph 0 means that no graph launched it. */
static void put_graph(struct sql_scan *s, size_t row, unsigned graph, unsigned node, unsigned col)
{
	int64_t id = rk_sql_cell(s, col);

	rk_sql_put(s, graph, row, id ? id : RK_NONE);
	rk_sql_put(s, node, row, id && id != RK_NONE ? rk_sql_cell(s, col + 1) : RK_NONE);
}

static int kernel_row(struct sql_scan *s, size_t row)
{
	/* kernel replay: a row for each repetition of the dispatch, from 0; their counters are joined */
	if (rk_sql_cell(s, D_REPLAY) > 0)
		return 0;
	rk_sql_put_times(s, row, RK_K_START, RK_K_DURATION, COL_START, COL_END);
	if (s->want & SYMBOL_FIELDS) {
		int64_t id = rk_sql_cell(s, D_KERNEL), vgpr, accum;

		rk_sql_put(s, RK_K_NAME, row, rk_rocpd_symbol_name(s, id));
		if (s->want & SYMBOL_FIELDS & ~SQL_BIT(RK_K_NAME)) {
			vgpr = rk_sql_resolve(s, SYMBOLS, id, SYMBOL_VGPR);
			accum = rk_sql_resolve(s, SYMBOLS, id, SYMBOL_ACCUM);
			rk_sql_put(s, RK_K_REGS, row, rk_regs_of(vgpr, accum));
			rk_sql_put(s, RK_K_VGPR, row, vgpr);
			rk_sql_put(s, RK_K_ACCUM_VGPR, row, accum);
			rk_sql_put(s, RK_K_SGPR, row, rk_sql_resolve(s, SYMBOLS, id, SYMBOL_SGPR));
		}
	}
	/* the file has work-items; our grid is in workgroups, and the last one may be partial */
	for (unsigned i = 0; s->want & GEOMETRY_FIELDS && i < 3; i++) {
		int64_t block = rk_sql_cell(s, D_BLOCK + i), items = rk_sql_cell(s, D_ITEMS + i);

		rk_sql_put(s, RK_K_BLOCK_X + i, row, block);
		rk_sql_put(s, RK_K_ITEMS_X + i, row, items);
		rk_sql_put(s, RK_K_GRID_X + i, row, rk_grid_of(items, block));
	}
	if (s->want & PLACE_FIELDS) {
		rk_rocpd_put_who(s, row, RK_K_NODE, RK_K_PID, RK_K_TID);
		if (rk_sql_wants(s, RK_K_DEVICE))
			rk_sql_put(s, RK_K_DEVICE, row,
				   rk_rocpd_resolve_or_id(s, AGENTS, rk_rocpd_place(s, COL_AGENT)));
		if (rk_sql_wants(s, RK_K_QUEUE))
			rk_sql_put(s, RK_K_QUEUE, row, rk_rocpd_place(s, COL_QUEUE));
		if (rk_sql_wants(s, RK_K_STREAM))
			rk_sql_put(s, RK_K_STREAM, row, rk_rocpd_place(s, COL_STREAM));
	}
	rk_sql_put(s, RK_K_DISPATCH, row, rk_sql_cell(s, D_DISPATCH));
	rk_sql_put(s, RK_K_SCRATCH, row, rk_sql_cell(s, D_PRIVATE));
	rk_sql_put(s, RK_K_SHARED_MEM, row, rk_sql_cell(s, D_GROUP));
	put_graph(s, row, RK_K_GRAPH, RK_K_GRAPH_NODE, D_GRAPH);
	rk_rocpd_put_correlation(s, RK_K_CORRELATION, row);
	return 1;
}

const struct sql_part rk_rocpd_kernels[1] = {
	{ "rocpd_kernel_dispatch", kernel_columns, D_NCOLUMNS, kernel_row, NULL, NULL },
};

enum { C_NAME = COL_OWN, C_DST, C_SRC, C_SIZE, C_GRAPH, C_GRAPH_NODE, C_NCOLUMNS };

static const struct sql_column copy_columns[C_NCOLUMNS] = {
	[COL_NID] = SQL_INT("nid", SQL_BIT(RK_C_NODE)),
	[COL_PID] = SQL_INT("pid", SQL_BIT(RK_C_PID)),
	[COL_TID] = SQL_INT("tid", SQL_BIT(RK_C_TID)),
	[COL_STREAM] = SQL_INT("stream_id", SQL_BIT(RK_C_STREAM)),
	[COL_TRACK] = SQL_INT("track_id", SQL_BIT(RK_C_NODE) | SQL_BIT(RK_C_PID) |
						  SQL_BIT(RK_C_TID) | SQL_BIT(RK_C_STREAM)),
	[COL_START] = SQL_INT("start", SQL_BIT(RK_C_START) | SQL_BIT(RK_C_DURATION)),
	[COL_END] = SQL_INT("end", SQL_BIT(RK_C_DURATION)),
	[COL_EVENT] = SQL_INT("event_id", SQL_BIT(RK_C_CORRELATION)),
	[C_NAME] = SQL_INT("name_id", SQL_BIT(RK_C_DIRECTION)),
	[C_DST] = SQL_INT("dst_agent_id", SQL_BIT(RK_C_DST)),
	[C_SRC] = SQL_INT("src_agent_id", SQL_BIT(RK_C_SRC)),
	[C_SIZE] = SQL_INT("size", SQL_BIT(RK_C_BYTES)),
	[C_GRAPH] = SQL_INT("graph_exec_id", SQL_BIT(RK_C_GRAPH) | SQL_BIT(RK_C_GRAPH_NODE)),
	[C_GRAPH_NODE] = SQL_INT("graph_node_id", SQL_BIT(RK_C_GRAPH_NODE)),
};

static void put_agent(struct sql_scan *s, unsigned field, size_t row, unsigned col)
{
	if (rk_sql_wants(s, field))
		rk_sql_put(s, field, row, rk_rocpd_resolve_or_id(s, AGENTS, rk_sql_cell(s, col)));
}

static int copy_row(struct sql_scan *s, size_t row)
{
	rk_sql_put_times(s, row, RK_C_START, RK_C_DURATION, COL_START, COL_END);
	if (rk_sql_wants(s, RK_C_DIRECTION))
		rk_sql_put(s, RK_C_DIRECTION, row,
			   rk_sql_resolve(s, STRINGS, rk_sql_cell(s, C_NAME), 0));
	rk_sql_put(s, RK_C_BYTES, row, rk_sql_cell(s, C_SIZE));
	put_agent(s, RK_C_SRC, row, C_SRC);
	put_agent(s, RK_C_DST, row, C_DST);
	if (rk_sql_wants(s, RK_C_STREAM))
		rk_sql_put(s, RK_C_STREAM, row, rk_rocpd_place(s, COL_STREAM));
	rk_rocpd_put_who(s, row, RK_C_NODE, RK_C_PID, RK_C_TID);
	put_graph(s, row, RK_C_GRAPH, RK_C_GRAPH_NODE, C_GRAPH);
	rk_rocpd_put_correlation(s, RK_C_CORRELATION, row);
	return 1;
}

const struct sql_part rk_rocpd_copies[1] = {
	{ "rocpd_memory_copy", copy_columns, C_NCOLUMNS, copy_row, NULL, NULL },
};

enum { A_TYPE = COL_OWN, A_LEVEL, A_ADDRESS, A_SIZE, A_EXTDATA, A_NAME, A_NCOLUMNS };

static const struct sql_column alloc_columns[A_NCOLUMNS] = {
	[COL_NID] = SQL_INT("nid", SQL_BIT(RK_M_NODE)),
	[COL_PID] = SQL_INT("pid", SQL_BIT(RK_M_PID)),
	[COL_TID] = SQL_INT("tid", SQL_BIT(RK_M_TID)),
	[COL_AGENT] = SQL_INT("agent_id", SQL_BIT(RK_M_DEVICE)),
	[COL_TRACK] = SQL_INT("track_id", SQL_BIT(RK_M_NODE) | SQL_BIT(RK_M_PID) |
						  SQL_BIT(RK_M_TID) | SQL_BIT(RK_M_DEVICE)),
	[COL_START] = SQL_INT("start", SQL_BIT(RK_M_START) | SQL_BIT(RK_M_DURATION)),
	[COL_END] = SQL_INT("end", SQL_BIT(RK_M_DURATION)),
	[COL_EVENT] = SQL_INT("event_id", SQL_BIT(RK_M_CORRELATION)),
	[A_TYPE] = SQL_TEXT("type", SQL_BIT(RK_M_OPERATION)),
	[A_LEVEL] = SQL_TEXT("level", SQL_BIT(RK_M_OPERATION)),
	[A_ADDRESS] = SQL_INT("address", SQL_BIT(RK_M_ADDRESS)),
	[A_SIZE] = SQL_INT("size", SQL_BIT(RK_M_BYTES)),
	[A_EXTDATA] = SQL_TEXT("extdata", SQL_BIT(RK_M_FLAGS)),
	[A_NAME] = SQL_INT("name_id", SQL_BIT(RK_M_OPERATION)), /* schema 4 */
};

/* The names that rocprofv3's CSV files use for the same operations. */
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

/* A pair that is not in the list is written as REAL_REALLOC. */
static void put_operation(struct sql_scan *s, size_t row)
{
	struct rk_bytes *level = &((struct rocpd_scan *)s)->text;
	size_t len = 0;
	const char *text = rk_sqlite_text(s->c, A_LEVEL, &len);

	rk_bytes_clear(level);
	rk_bytes_put(level, text, text ? len : 0); /* copy it: the next call may move it */
	text = rk_sqlite_text(s->c, A_TYPE, &len);
	if (!text) {
		rk_sql_put(s, RK_M_OPERATION, row,
			   rk_sql_resolve(s, STRINGS, rk_sql_cell(s, A_NAME), 0));
		return;
	}
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		if (rk_text_ieq((const char *)level->data, level->len, operations[i].level) &&
		    rk_text_ieq(text, len, operations[i].type)) {
			rk_sql_put_word(s, RK_M_OPERATION, row, operations[i].word);
			return;
		}
	}
	if (level->len)
		rk_bytes_puts(level, "_");
	rk_bytes_put(level, text, len);
	if (level->bad)
		rk_fail_nomem(&s->error);
	else
		rk_sql_put_text(s, RK_M_OPERATION, row, (const char *)level->data, level->len);
}

static int alloc_row(struct sql_scan *s, size_t row)
{
	rk_sql_put_times(s, row, RK_M_START, RK_M_DURATION, COL_START, COL_END);
	if (rk_sql_wants(s, RK_M_OPERATION))
		put_operation(s, row);
	rk_sql_put(s, RK_M_BYTES, row, rk_sql_cell(s, A_SIZE));
	rk_sql_put(s, RK_M_ADDRESS, row, rk_sql_cell(s, A_ADDRESS));
	if (rk_sql_wants(s, RK_M_DEVICE))
		rk_sql_put(s, RK_M_DEVICE, row,
			   rk_rocpd_resolve_or_id(s, AGENTS, rk_rocpd_place(s, COL_AGENT)));
	if (rk_sql_wants(s, RK_M_FLAGS))
		rk_sql_put(s, RK_M_FLAGS, row,
			   rk_sql_json_number(rk_sql_json(s->c, A_EXTDATA), "flags"));
	rk_rocpd_put_who(s, row, RK_M_NODE, RK_M_PID, RK_M_TID);
	rk_rocpd_put_correlation(s, RK_M_CORRELATION, row);
	return 1;
}

const struct sql_part rk_rocpd_allocs[1] = {
	{ "rocpd_memory_allocate", alloc_columns, A_NCOLUMNS, alloc_row, NULL, NULL },
};
