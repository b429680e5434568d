/* rocpd_kernels.c - rocpd_kernel_dispatch as the kernels table. */
#include "read/rocpd/rocpd_scan.h"

enum {
	D_KERNEL = COL_OWN,
	D_DISPATCH,
	D_PRIVATE,
	D_GROUP,
	D_BLOCK, /* three */
	D_ITEMS = D_BLOCK + 3,
	D_NCOLUMNS = D_ITEMS + 3
};

#define SYMBOL_FIELDS                                                         \
	(ROCPD_BIT(RK_K_NAME) | ROCPD_BIT(RK_K_REGS) | ROCPD_BIT(RK_K_VGPR) | \
	 ROCPD_BIT(RK_K_ACCUM_VGPR) | ROCPD_BIT(RK_K_SGPR))
#define PLACE_FIELDS                                                        \
	(ROCPD_BIT(RK_K_NODE) | ROCPD_BIT(RK_K_PID) | ROCPD_BIT(RK_K_TID) | \
	 ROCPD_BIT(RK_K_DEVICE) | ROCPD_BIT(RK_K_QUEUE) | ROCPD_BIT(RK_K_STREAM))
#define GEOMETRY_FIELDS                                                                \
	(ROCPD_BIT(RK_K_GRID_X) | ROCPD_BIT(RK_K_GRID_Y) | ROCPD_BIT(RK_K_GRID_Z) |    \
	 ROCPD_BIT(RK_K_BLOCK_X) | ROCPD_BIT(RK_K_BLOCK_Y) | ROCPD_BIT(RK_K_BLOCK_Z) | \
	 ROCPD_BIT(RK_K_ITEMS_X) | ROCPD_BIT(RK_K_ITEMS_Y) | ROCPD_BIT(RK_K_ITEMS_Z))
#define TIME_FIELDS (ROCPD_BIT(RK_K_START) | ROCPD_BIT(RK_K_DURATION))

static const struct rocpd_column columns[D_NCOLUMNS] = {
	[COL_NID] = ROCPD_INT("nid", ROCPD_BIT(RK_K_NODE)),
	[COL_PID] = ROCPD_INT("pid", ROCPD_BIT(RK_K_PID)),
	[COL_TID] = ROCPD_INT("tid", ROCPD_BIT(RK_K_TID)),
	[COL_AGENT] = ROCPD_INT("agent_id", ROCPD_BIT(RK_K_DEVICE)),
	[COL_QUEUE] = ROCPD_INT("queue_id", ROCPD_BIT(RK_K_QUEUE)),
	[COL_STREAM] = ROCPD_INT("stream_id", ROCPD_BIT(RK_K_STREAM)),
	[COL_TRACK] = ROCPD_INT("track_id", PLACE_FIELDS),
	[COL_START] = ROCPD_INT("start", TIME_FIELDS),
	[COL_END] = ROCPD_INT("end", ROCPD_BIT(RK_K_DURATION)),
	[COL_EVENT] = ROCPD_INT("event_id", ROCPD_BIT(RK_K_CORRELATION)),
	[D_KERNEL] = ROCPD_INT("kernel_id", SYMBOL_FIELDS),
	[D_DISPATCH] = ROCPD_INT("dispatch_id", ROCPD_BIT(RK_K_DISPATCH)),
	[D_PRIVATE] = ROCPD_INT("private_segment_size", ROCPD_BIT(RK_K_SCRATCH)),
	[D_GROUP] = ROCPD_INT("group_segment_size", ROCPD_BIT(RK_K_SHARED_MEM)),
	[D_BLOCK] = ROCPD_INT("workgroup_size_x", ROCPD_BIT(RK_K_BLOCK_X) | ROCPD_BIT(RK_K_GRID_X)),
	[D_BLOCK + 1] =
		ROCPD_INT("workgroup_size_y", ROCPD_BIT(RK_K_BLOCK_Y) | ROCPD_BIT(RK_K_GRID_Y)),
	[D_BLOCK + 2] =
		ROCPD_INT("workgroup_size_z", ROCPD_BIT(RK_K_BLOCK_Z) | ROCPD_BIT(RK_K_GRID_Z)),
	[D_ITEMS] = ROCPD_INT("grid_size_x", ROCPD_BIT(RK_K_ITEMS_X) | ROCPD_BIT(RK_K_GRID_X)),
	[D_ITEMS + 1] = ROCPD_INT("grid_size_y", ROCPD_BIT(RK_K_ITEMS_Y) | ROCPD_BIT(RK_K_GRID_Y)),
	[D_ITEMS + 2] = ROCPD_INT("grid_size_z", ROCPD_BIT(RK_K_ITEMS_Z) | ROCPD_BIT(RK_K_GRID_Z)),
};

static void put_symbol(struct rocpd_scan *s, size_t row)
{
	int64_t id = rk_rocpd_cell(s, D_KERNEL), name, vgpr, accum, regs;

	name = rk_rocpd_resolve(s, ROCPD_SYMBOL, id, DIM_SYMBOL_NAME);
	if (name == RK_NONE || name == 0) /* 0 is "" */
		name = rk_rocpd_resolve(s, ROCPD_SYMBOL, id, DIM_SYMBOL_DISPLAY);
	rk_rocpd_put(s, RK_K_NAME, row, name);
	if (!(s->want & SYMBOL_FIELDS & ~ROCPD_BIT(RK_K_NAME)))
		return;
	vgpr = rk_rocpd_resolve(s, ROCPD_SYMBOL, id, DIM_SYMBOL_VGPR);
	accum = rk_rocpd_resolve(s, ROCPD_SYMBOL, id, DIM_SYMBOL_ACCUM);
	regs = vgpr;
	if (vgpr != RK_NONE && accum != RK_NONE && __builtin_add_overflow(vgpr, accum, &regs))
		regs = INT64_MAX;
	rk_rocpd_put(s, RK_K_REGS, row, regs);
	rk_rocpd_put(s, RK_K_VGPR, row, vgpr);
	rk_rocpd_put(s, RK_K_ACCUM_VGPR, row, accum);
	rk_rocpd_put(s, RK_K_SGPR, row, rk_rocpd_resolve(s, ROCPD_SYMBOL, id, DIM_SYMBOL_SGPR));
}

/* The file counts work-items; a grid counts workgroups, the last one perhaps not full. */
static void put_geometry(struct rocpd_scan *s, size_t row)
{
	for (unsigned i = 0; i < 3; i++) {
		int64_t block = rk_rocpd_cell(s, D_BLOCK + i),
			items = rk_rocpd_cell(s, D_ITEMS + i);
		bool known = block > 0 && items >= 0;

		rk_rocpd_put(s, RK_K_BLOCK_X + i, row, block);
		rk_rocpd_put(s, RK_K_ITEMS_X + i, row, items);
		rk_rocpd_put(s, RK_K_GRID_X + i, row,
			     known ? items / block + (items % block != 0) : RK_NONE);
	}
}

static void put_place(struct rocpd_scan *s, size_t row)
{
	rk_rocpd_put_who(s, row, RK_K_NODE, RK_K_PID, RK_K_TID);
	if (rk_rocpd_wants(s, RK_K_DEVICE))
		rk_rocpd_put(s, RK_K_DEVICE, row,
			     rk_rocpd_resolve_or_id(s, ROCPD_AGENT, rk_rocpd_place(s, COL_AGENT)));
	if (rk_rocpd_wants(s, RK_K_QUEUE))
		rk_rocpd_put(s, RK_K_QUEUE, row, rk_rocpd_place(s, COL_QUEUE));
	if (rk_rocpd_wants(s, RK_K_STREAM))
		rk_rocpd_put(s, RK_K_STREAM, row, rk_rocpd_place(s, COL_STREAM));
}

static int kernel_row(struct rocpd_scan *s, size_t row)
{
	rk_rocpd_put_times(s, row, RK_K_START, RK_K_DURATION, COL_END);
	if (s->want & SYMBOL_FIELDS)
		put_symbol(s, row);
	if (s->want & GEOMETRY_FIELDS)
		put_geometry(s, row);
	if (s->want & PLACE_FIELDS)
		put_place(s, row);
	rk_rocpd_put(s, RK_K_DISPATCH, row, rk_rocpd_cell(s, D_DISPATCH));
	rk_rocpd_put(s, RK_K_SCRATCH, row, rk_rocpd_cell(s, D_PRIVATE));
	rk_rocpd_put(s, RK_K_SHARED_MEM, row, rk_rocpd_cell(s, D_GROUP));
	rk_rocpd_put_correlation(s, RK_K_CORRELATION, row);
	return 1;
}

static const struct rocpd_part parts[] = {
	{ ROCPD_DISPATCH, columns, D_NCOLUMNS, kernel_row },
};

const struct rocpd_plan rk_rocpd_kernels = {
	.table = RK_KERNELS,
	.gives = SYMBOL_FIELDS | PLACE_FIELDS | GEOMETRY_FIELDS | TIME_FIELDS |
		 ROCPD_BIT(RK_K_DISPATCH) | ROCPD_BIT(RK_K_SCRATCH) | ROCPD_BIT(RK_K_SHARED_MEM) |
		 ROCPD_BIT(RK_K_CORRELATION),
	.parts = parts,
	.nparts = 1,
	.events_for = { [EVENT_STACK] = ROCPD_BIT(RK_K_CORRELATION) },
	.constants = { { RK_K_SOURCE, "rocpd" }, { RK_K_CLOCK, "boottime" } },
};
