/*
 * rpd.c - databases of rocmProfileData (rpd_tracer, schemas 2 and 3) and of rocm-trace-lite.
 *
 * rocpd_op has what ran on a GPU, rocpd_api the calls, and rocpd_api_ops which call started which
 * operation. Grids and copy sizes belong to the call: rocpd_kernelapi and rocpd_copyapi, whose key is
 * api_ptr_id, or api_id in rocm-trace-lite. The nodes of a HIP graph are operations of the type Task
 * without such a row. rocm-trace-lite writes grids as text next to the operation, and marks as
 * operations. All times are nanoseconds, whatever the tool's manual says.
 */
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "read/sql/sql.h"

enum { STRINGS, ARGS, APIS, OPS, KERNELS, LITE_KERNELS, COPIES, LITE_COPIES, NDIMS };
enum { API_PID, API_TID, API_NAME };
enum { OP_NAME, OP_DEVICE };
enum {
	KERNEL_NAME,
	KERNEL_GRID,
	KERNEL_BLOCK = KERNEL_GRID + 3,
	KERNEL_LDS = KERNEL_BLOCK + 3,
	KERNEL_SCRATCH
};
enum { COPY_SIZE, COPY_WIDTH, COPY_HEIGHT, COPY_KIND };

struct link {
	int64_t op, api; /* RK_NONE: no more */
};

struct rpd_scan {
	struct sql_scan sql;
	bool entered;
	struct rk_sqlite_cursor *links; /* rocpd_api_ops by op_id */
	struct link last, now, next;
	int64_t pid;      /* from the metadata; RK_NONE: calls have it */
	bool items;       /* all grids are work-items */
	uint64_t skipped; /* operations of unknown types */
	char skipped_type[64];
	uint64_t split; /* copies that are a part of a call's copy */
};

static const char *name_text(const struct sql_scan *s, int64_t id)
{
	return id == RK_NONE ? "" : rk_strtab_borrow(s->r->ctx->names, (uint32_t)id, NULL);
}

/* ---- the call of an operation ---- */

/* rocm-trace-lite writes the process only here. */
static int read_pid(struct rpd_scan *rs, struct rk_error *err)
{
	static const struct rk_sqlite_column columns[] = { { "tag", RK_SQLITE_TEXT },
							   { "value", RK_SQLITE_INT } };
	struct sql_reader *r = rs->sql.r;
	const struct rk_sqlite_table *t = rk_sql_table(r, "rocpd_metadata", "");
	struct rk_sqlite_cursor *c = NULL;
	struct rk_error cause = { 0 };
	int rc;

	if (!t)
		return 0;
	rc = rk_sqlite_cursor_open(r->db, t, columns, 2, RK_SQLITE_STORED, &c, &cause);
	while (rc == 0 && (rc = rk_sqlite_cursor_step(c, &cause)) > 0) {
		size_t len;
		const char *tag = rk_sqlite_text(c, 0, &len);

		rc = 0;
		if (tag && rk_text_ieq(tag, len, "pid"))
			rk_sqlite_i64(c, 1, &rs->pid);
	}
	rk_sqlite_cursor_close(c);
	return rk_sql_damage(r, &cause, rc, err);
}

/*
 * With rocprofiler-sdk below it, the tracer writes what the packet has: work-items. Such files have
 * words in their strings that the tracer uses only then.
 */
static int find_source(struct rpd_scan *rs, struct rk_error *err)
{
	static const char *const words[] = { "kfd_queue", "RocprofDataSource::", "MEMORY_COPY_" };
	static const struct rk_sqlite_column column = { "string", RK_SQLITE_TEXT };
	struct sql_reader *r = rs->sql.r;
	const struct rk_sqlite_table *t = rk_sql_table(r, "rocpd_string", "");
	struct rk_sqlite_cursor *c = NULL;
	struct rk_error cause = { 0 };
	int rc;

	if (!t)
		return 0;
	rc = rk_sqlite_cursor_open(r->db, t, &column, 1, RK_SQLITE_STORED, &c, &cause);
	while (rc == 0 && !rs->items && (rc = rk_sqlite_cursor_step(c, &cause)) > 0) {
		size_t len;
		const char *text = rk_sqlite_text(c, 0, &len);

		rc = 0;
		for (size_t i = 0; text && i < sizeof(words) / sizeof(words[0]); i++)
			rs->items |= len >= strlen(words[i]) &&
				     !memcmp(text, words[i], strlen(words[i]));
	}
	rk_sqlite_cursor_close(c);
	return rk_sql_damage(r, &cause, rc, err);
}

static void step_link(struct rpd_scan *rs)
{
	struct rk_error *cause = &rs->sql.cause;
	int rc;

	rs->last = rs->now;
	rs->now = rs->next;
	rs->next = (struct link){ RK_NONE, RK_NONE };
	if (!rs->links)
		return;
	rc = rk_sqlite_cursor_step(rs->links, cause);
	if (rc > 0) {
		if (rk_sqlite_i64(rs->links, 0, &rs->next.op) == RK_CELL_WRONG ||
		    rk_sqlite_i64(rs->links, 1, &rs->next.api) == RK_CELL_WRONG)
			rs->sql.wrong++;
		return;
	}
	rk_sqlite_cursor_close(rs->links);
	rs->links = NULL;
	rk_sql_damage(rs->sql.r, cause, rc, &rs->sql.error);
}

static void enter(struct rpd_scan *rs)
{
	static const struct rk_sqlite_column columns[] = { { "op_id", RK_SQLITE_INT },
							   { "api_id", RK_SQLITE_INT } };
	struct sql_reader *r = rs->sql.r;
	const struct rk_sqlite_table *t = rk_sql_table(r, "rocpd_api_ops", "");
	struct rk_error *err = &rs->sql.error;

	rs->entered = true;
	rs->pid = RK_NONE;
	rs->items = false;
	rs->last = rs->now = rs->next = (struct link){ RK_NONE, RK_NONE };
	if (read_pid(rs, err) < 0 || find_source(rs, err) < 0 || !t ||
	    rk_sql_open_in_order(r, t, columns, 2, 0, &rs->links, err) < 0)
		return;
	step_link(rs);
	step_link(rs);
}

/* The call that started operation `op`; RK_NONE: unknown. Operations come in ascending order. */
static int64_t call_of(struct sql_scan *s, int64_t op)
{
	struct rpd_scan *rs = (struct rpd_scan *)s;

	if (!rs->entered)
		enter(rs);
	while (!s->error.code && rs->now.op < op && (rs->links || rs->next.op != RK_NONE))
		step_link(rs);
	return op != RK_NONE && rs->now.op == op ? rs->now.api : RK_NONE;
}

/* Did the call start several operations? Valid after call_of. */
static bool is_shared(const struct rpd_scan *rs, int64_t api)
{
	return api != RK_NONE && (rs->last.api == api || rs->next.api == api);
}

static int64_t pid_of_call(struct sql_scan *s, int64_t api)
{
	int64_t pid = rk_sql_resolve(s, APIS, api, API_PID);

	return pid == RK_NONE ? ((struct rpd_scan *)s)->pid : pid;
}

/* ---- operations: kernels, copies, marks ---- */

enum { O_ID, O_DEVICE, O_QUEUE, O_START, O_END, O_NAME, O_TYPE, O_LAUNCH, O_NCOLUMNS };
enum op_kind { OP_OTHER, OP_KERNEL, OP_COPY, OP_MARK };

static enum op_kind op_kind(struct sql_scan *s)
{
	struct rpd_scan *rs = (struct rpd_scan *)s;
	const char *type = name_text(s, rk_sql_resolve(s, STRINGS, rk_sql_cell(s, O_TYPE), 0));

	if (!strcmp(type, "KernelExecution") || !strcmp(type, "Task"))
		return OP_KERNEL;
	if (!strcmp(type, "UserMarker"))
		return OP_MARK;
	if (rk_is_copy_word(type))
		return OP_COPY;
	if (!rs->skipped++)
		snprintf(rs->skipped_type, sizeof(rs->skipped_type), "%s", type);
	return OP_OTHER;
}

#define ALL_DIMS(x) (SQL_BIT(RK_K_##x##_X) | SQL_BIT(RK_K_##x##_Y) | SQL_BIT(RK_K_##x##_Z))
#define LAUNCH                                                                           \
	(ALL_DIMS(GRID) | ALL_DIMS(BLOCK) | ALL_DIMS(ITEMS) | SQL_BIT(RK_K_SHARED_MEM) | \
	 SQL_BIT(RK_K_SCRATCH))
#define CALL_FIELDS (SQL_BIT(RK_K_CORRELATION) | SQL_BIT(RK_K_PID) | SQL_BIT(RK_K_TID) | LAUNCH)

static const struct sql_column kernel_columns[O_NCOLUMNS] = {
	[O_ID] = SQL_INT("id", SQL_BIT(RK_K_DISPATCH) | CALL_FIELDS),
	[O_DEVICE] = SQL_INT("gpuId", SQL_BIT(RK_K_DEVICE)),
	[O_QUEUE] = SQL_INT("queueId", SQL_BIT(RK_K_QUEUE) | SQL_BIT(RK_K_STREAM)),
	[O_START] = SQL_INT("start", SQL_BIT(RK_K_START) | SQL_BIT(RK_K_DURATION)),
	[O_END] = SQL_INT("end", SQL_BIT(RK_K_DURATION)),
	[O_NAME] = SQL_INT("description_id", SQL_BIT(RK_K_NAME) | LAUNCH),
	[O_TYPE] = SQL_INT("opType_id", SQL_ALWAYS),
	[O_LAUNCH] = SQL_TEXT("completionSignal", LAUNCH),
};

struct launch {
	int64_t grid[3], items[3], block[3], lds, scratch;
};

/* Three numbers after `key` in "hwq=0x260000 wg=64,1,1 grid=640,1,1"; `ret` is unchanged if not. */
static void take_three(const char *text, size_t len, const char *key, int64_t ret[3])
{
	const char *p = memmem(text, len, key, strlen(key)), *end = text + len;
	int64_t v[3];

	if (!p)
		return;
	p += strlen(key);
	for (unsigned i = 0; i < 3; i++) {
		const char *from = p;

		while (p < end && *p >= '0' && *p <= '9')
			p++;
		if (rk_num_i64(from, (size_t)(p - from), &v[i]) != RK_NUM_OK)
			return;
		if (i < 2 && (p == end || *p++ != ','))
			return;
	}
	memcpy(ret, v, sizeof(v));
}

/*
 * Calls of the <<<>>> family count the grid in blocks, the module calls of HIP's extensions in
 * work-items. Other calls are not known.
 */
static bool counts_blocks(const char *call)
{
	static const char *const words[] = { "hipLaunchKernel", "hipExtLaunchKernel",
					     "hipModuleLaunchKernel", "hipLaunchCooperativeKernel",
					     "hipModuleLaunchCooperativeKernel" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strncmp(call, words[i], strlen(words[i])))
			return true;
	return false;
}

static bool counts_items(const char *call)
{
	return !strcmp(call, "hipExtModuleLaunchKernel") ||
	       !strcmp(call, "hipHccModuleLaunchKernel");
}

static void find_launch(struct sql_scan *s, int64_t api, struct launch *ret)
{
	const struct rpd_scan *rs = (struct rpd_scan *)s;
	unsigned dim = rk_sql_resolve(s, KERNELS, api, KERNEL_BLOCK) != RK_NONE ? KERNELS :
										  LITE_KERNELS;
	const char *call =
		name_text(s, rk_sql_resolve(s, STRINGS, rk_sql_resolve(s, APIS, api, API_NAME), 0));
	bool items = rs->items || counts_items(call), blocks = !items && counts_blocks(call);
	size_t len = 0;
	const char *text = rk_sqlite_text(s->c, O_LAUNCH, &len);

	/* of several kernels of a call, such as a graph's, only one has its launch recorded */
	if (is_shared(rs, api) &&
	    rk_sql_resolve(s, STRINGS, rk_sql_cell(s, O_NAME), 0) !=
		    rk_sql_resolve(s, STRINGS, rk_sql_resolve(s, dim, api, KERNEL_NAME), 0))
		api = RK_NONE;
	for (unsigned i = 0; i < 3; i++) {
		int64_t grid = rk_sql_resolve(s, dim, api, KERNEL_GRID + i);

		ret->block[i] = rk_sql_resolve(s, dim, api, KERNEL_BLOCK + i);
		ret->grid[i] = blocks ? grid : RK_NONE;
		ret->items[i] = items ? grid : RK_NONE;
	}
	ret->lds = rk_sql_resolve(s, dim, api, KERNEL_LDS);
	ret->scratch = rk_sql_resolve(s, dim, api, KERNEL_SCRATCH);
	if (text) {
		take_three(text, len, "wg=", ret->block);
		take_three(text, len, "grid=", ret->items);
	}
	for (unsigned i = 0; i < 3; i++) {
		int64_t *grid = &ret->grid[i], *item = &ret->items[i], block = ret->block[i];

		if (*item != RK_NONE)
			*grid = rk_grid_of(*item, block);
		else if (*grid >= 0 && block >= 0 && __builtin_mul_overflow(*grid, block, item))
			*item = INT64_MAX;
	}
}

static int kernel_row(struct sql_scan *s, size_t row)
{
	int64_t api, queue = rk_sql_cell(s, O_QUEUE);
	struct launch launch;

	if (op_kind(s) != OP_KERNEL)
		return 0;
	api = s->want & CALL_FIELDS ? call_of(s, rk_sql_cell(s, O_ID)) : RK_NONE;
	rk_sql_put_times(s, row, RK_K_START, RK_K_DURATION, O_START, O_END);
	if (rk_sql_wants(s, RK_K_NAME))
		rk_sql_put(s, RK_K_NAME, row,
			   rk_sql_resolve(s, STRINGS, rk_sql_cell(s, O_NAME), 0));
	rk_sql_put(s, RK_K_DEVICE, row, rk_sql_cell(s, O_DEVICE));
	rk_sql_put(s, RK_K_QUEUE, row, queue);
	/* streams are addresses here; a queue number that large is an address too */
	rk_sql_put(s, RK_K_STREAM, row, queue == (int32_t)queue ? queue : RK_NONE);
	rk_sql_put(s, RK_K_DISPATCH, row, rk_sql_cell(s, O_ID));
	rk_sql_put(s, RK_K_CORRELATION, row, api);
	rk_sql_put(s, RK_K_PID, row, pid_of_call(s, api));
	rk_sql_put(s, RK_K_TID, row, rk_sql_resolve(s, APIS, api, API_TID));
	if (s->want & LAUNCH) {
		find_launch(s, api, &launch);
		for (unsigned i = 0; i < 3; i++) {
			rk_sql_put(s, RK_K_GRID_X + i, row, launch.grid[i]);
			rk_sql_put(s, RK_K_ITEMS_X + i, row, launch.items[i]);
			rk_sql_put(s, RK_K_BLOCK_X + i, row, launch.block[i]);
		}
		rk_sql_put(s, RK_K_SHARED_MEM, row, launch.lds);
		rk_sql_put(s, RK_K_SCRATCH, row, launch.scratch);
	}
	return 1;
}

static const struct sql_part kernel_parts[] = {
	{ "rocpd_op", kernel_columns, O_NCOLUMNS, kernel_row, NULL, NULL },
};

#define COPY_ENDS (SQL_BIT(RK_C_SRC) | SQL_BIT(RK_C_DST))

static const struct sql_column copy_columns[O_NCOLUMNS] = {
	[O_ID] = SQL_INT("id", SQL_BIT(RK_C_BYTES) | SQL_BIT(RK_C_CORRELATION) | SQL_BIT(RK_C_PID) |
				       SQL_BIT(RK_C_TID) | SQL_BIT(RK_C_DIRECTION) | COPY_ENDS),
	[O_DEVICE] = SQL_INT("gpuId", COPY_ENDS),
	[O_QUEUE] = SQL_INT("queueId", SQL_BIT(RK_C_STREAM)),
	[O_START] = SQL_INT("start", SQL_BIT(RK_C_START) | SQL_BIT(RK_C_DURATION)),
	[O_END] = SQL_INT("end", SQL_BIT(RK_C_DURATION)),
	[O_TYPE] = SQL_INT("opType_id", SQL_ALWAYS),
};

/* An empty text is an unknown number here, so these columns are read as text. */
static int64_t copy_number(struct sql_scan *s, unsigned dim, int64_t api, unsigned i)
{
	const char *text = name_text(s, rk_sql_resolve(s, dim, api, i));
	int64_t v;

	if (!*text)
		return RK_NONE;
	if (rk_num_i64(text, strlen(text), &v) == RK_NUM_OK && v >= 0)
		return v;
	s->wrong++;
	return RK_NONE;
}

/*
 * The size of the whole copy is known for the call. The size of a part is not, if several operations
 * did it.
 */
static int64_t copy_bytes(struct sql_scan *s, int64_t api)
{
	struct rpd_scan *rs = (struct rpd_scan *)s;
	unsigned dim = rk_sql_resolve(s, COPIES, api, COPY_KIND) != RK_NONE ? COPIES : LITE_COPIES;
	int64_t bytes, width, height;

	if (api == RK_NONE)
		return RK_NONE;
	bytes = copy_number(s, dim, api, COPY_SIZE);
	width = copy_number(s, dim, api, COPY_WIDTH);
	height = copy_number(s, dim, api, COPY_HEIGHT);
	if (bytes == RK_NONE && width > 0 && height > 0 &&
	    __builtin_mul_overflow(width, height, &bytes))
		bytes = RK_NONE;
	if (bytes != RK_NONE && is_shared(rs, api)) {
		rs->split++;
		return RK_NONE;
	}
	return bytes;
}

static int copy_row(struct sql_scan *s, size_t row)
{
	static const char *const kinds[] = { "MEMORY_COPY_HOST_TO_HOST",
					     "MEMORY_COPY_HOST_TO_DEVICE",
					     "MEMORY_COPY_DEVICE_TO_HOST",
					     "MEMORY_COPY_DEVICE_TO_DEVICE" }; /* hipMemcpyKind */
	int64_t api, kind, device = rk_sql_cell(s, O_DEVICE);
	const char *type, *direction;
	bool long_word, from;

	if (op_kind(s) != OP_COPY)
		return 0;
	type = name_text(s, rk_sql_resolve(s, STRINGS, rk_sql_cell(s, O_TYPE), 0));
	api = call_of(s, rk_sql_cell(s, O_ID));
	direction = rk_copy_direction(type);
	kind = rk_sql_resolve(s, COPIES, api, COPY_KIND);
	if (!strcmp(direction, "Memcpy") && kind >= 0 && kind < 4)
		direction = kinds[kind];
	rk_sql_put_times(s, row, RK_C_START, RK_C_DURATION, O_START, O_END);
	rk_sql_put_word(s, RK_C_DIRECTION, row, direction);
	/* a tracer that uses the long words knows one device: 0 before schema 3, later the target */
	long_word = direction == type && !strncmp(type, "MEMORY_COPY_", 12);
	if (long_word && !rk_sql_table(s->r, "rocpd_ustring", ""))
		device = RK_NONE;
	from = strstr(direction, "_DEVICE_TO_") && !(long_word && strstr(direction, "_TO_DEVICE"));
	rk_sql_put(s, RK_C_SRC, row, from ? device : RK_NONE);
	rk_sql_put(s, RK_C_DST, row,
		   strstr(direction, "_TO_DEVICE") || !strncmp(type, "Fill", 4) ? device : RK_NONE);
	rk_sql_put(s, RK_C_STREAM, row, rk_sql_cell(s, O_QUEUE));
	rk_sql_put(s, RK_C_CORRELATION, row, api);
	rk_sql_put(s, RK_C_PID, row, pid_of_call(s, api));
	rk_sql_put(s, RK_C_TID, row, rk_sql_resolve(s, APIS, api, API_TID));
	if (rk_sql_wants(s, RK_C_BYTES))
		rk_sql_put(s, RK_C_BYTES, row, copy_bytes(s, api));
	return 1;
}

static const struct sql_part copy_parts[] = {
	{ "rocpd_op", copy_columns, O_NCOLUMNS, copy_row, NULL, NULL },
};

/* ---- calls and marks ---- */

enum { A_ID, A_PID, A_TID, A_START, A_END, A_NAME, A_ARGS, A_DOMAIN, A_NCOLUMNS };

static const struct sql_column call_columns[A_NCOLUMNS] = {
	[A_ID] = SQL_INT("id", SQL_BIT(RK_A_CORRELATION)),
	[A_PID] = SQL_INT("pid", SQL_BIT(RK_A_PID)),
	[A_TID] = SQL_INT("tid", SQL_BIT(RK_A_TID)),
	[A_START] = SQL_INT("start", SQL_BIT(RK_A_START) | SQL_BIT(RK_A_DURATION)),
	[A_END] = SQL_INT("end", SQL_BIT(RK_A_DURATION)),
	[A_NAME] = SQL_INT("apiName_id", SQL_ALWAYS),
	[A_DOMAIN] = SQL_INT("domain_id", SQL_ALWAYS),
};

/*
 * A range of the user: text of roctx is in the arguments of UserMarker, and since schema 3 the
 * domain says whose a row is ("hip", "roctx", "torch"; "rpd_tracer" and "scratch" are the tracer's).
 */
static bool is_mark(struct sql_scan *s, const char **name, const char **domain)
{
	*name = name_text(s, rk_sql_resolve(s, STRINGS, rk_sql_cell(s, A_NAME), 0));
	*domain = name_text(s, rk_sql_resolve(s, STRINGS, rk_sql_cell(s, A_DOMAIN), 0));
	if (!strcmp(*name, "UserMarker"))
		return true;
	return **domain && !rk_runtime_domain(*domain) && strcmp(*domain, "rpd_tracer") &&
	       strcmp(*domain, "scratch");
}

static int call_row(struct sql_scan *s, size_t row)
{
	const char *name, *domain;

	if (is_mark(s, &name, &domain))
		return 0;
	rk_sql_put_times(s, row, RK_A_START, RK_A_DURATION, A_START, A_END);
	rk_sql_put(s, RK_A_FUNCTION, row, rk_sql_resolve(s, STRINGS, rk_sql_cell(s, A_NAME), 0));
	rk_sql_put_word(s, RK_A_DOMAIN, row, rk_runtime_domain(*domain ? domain : name));
	rk_sql_put(s, RK_A_CORRELATION, row, rk_sql_cell(s, A_ID));
	rk_sql_put(s, RK_A_PID, row, rk_sql_cell(s, A_PID));
	rk_sql_put(s, RK_A_TID, row, rk_sql_cell(s, A_TID));
	return 1;
}

static const struct sql_part call_parts[] = {
	{ "rocpd_api", call_columns, A_NCOLUMNS, call_row, NULL, NULL },
};

#define MARK_TIMES (SQL_BIT(RK_R_START) | SQL_BIT(RK_R_DURATION) | SQL_BIT(RK_R_KIND))

static const struct sql_column mark_columns[A_NCOLUMNS] = {
	[A_PID] = SQL_INT("pid", SQL_BIT(RK_R_PID)),
	[A_TID] = SQL_INT("tid", SQL_BIT(RK_R_TID)),
	[A_START] = SQL_INT("start", MARK_TIMES),
	[A_END] = SQL_INT("end", MARK_TIMES),
	[A_NAME] = SQL_INT("apiName_id", SQL_ALWAYS),
	[A_ARGS] = SQL_INT("args_id", SQL_BIT(RK_R_NAME)),
	[A_DOMAIN] = SQL_INT("domain_id", SQL_ALWAYS),
};

static void put_mark(struct sql_scan *s, size_t row, unsigned start, unsigned end)
{
	bool mark = rk_sql_cell(s, start) == rk_sql_cell(s, end);

	rk_sql_put_times(s, row, RK_R_START, RK_R_DURATION, start, end);
	rk_sql_put_word(s, RK_R_KIND, row, mark ? "mark" : "range");
}

static int mark_row(struct sql_scan *s, size_t row)
{
	bool texts = rk_sql_table(s->r, "rocpd_ustring", "") != NULL;
	const char *name, *domain;
	int64_t text = RK_NONE;

	if (!is_mark(s, &name, &domain))
		return 0;
	if (!strcmp(name, "UserMarker") && rk_sql_wants(s, RK_R_NAME))
		text = rk_sql_resolve(s, texts ? ARGS : STRINGS, rk_sql_cell(s, A_ARGS), 0);
	if (text == RK_NONE)
		text = rk_sql_resolve(s, STRINGS, rk_sql_cell(s, A_NAME), 0);
	put_mark(s, row, A_START, A_END);
	rk_sql_put(s, RK_R_NAME, row, text);
	rk_sql_put(s, RK_R_PID, row, rk_sql_cell(s, A_PID));
	rk_sql_put(s, RK_R_TID, row, rk_sql_cell(s, A_TID));
	return 1;
}

static const struct sql_column op_mark_columns[O_NCOLUMNS] = {
	[O_ID] = SQL_INT("id", SQL_BIT(RK_R_PID)),
	[O_START] = SQL_INT("start", MARK_TIMES),
	[O_END] = SQL_INT("end", MARK_TIMES),
	[O_NAME] = SQL_INT("description_id", SQL_BIT(RK_R_NAME)),
	[O_TYPE] = SQL_INT("opType_id", SQL_ALWAYS),
};

static int op_mark_row(struct sql_scan *s, size_t row)
{
	if (op_kind(s) != OP_MARK)
		return 0;
	put_mark(s, row, O_START, O_END);
	rk_sql_put(s, RK_R_NAME, row, rk_sql_resolve(s, STRINGS, rk_sql_cell(s, O_NAME), 0));
	rk_sql_put(s, RK_R_PID, row, pid_of_call(s, call_of(s, rk_sql_cell(s, O_ID))));
	rk_sql_put(s, RK_R_TID, row, RK_NONE);
	return 1;
}

static const struct sql_part mark_parts[] = {
	{ "rocpd_api", mark_columns, A_NCOLUMNS, mark_row, NULL, NULL },
	{ "rocpd_op", op_mark_columns, O_NCOLUMNS, op_mark_row, NULL, NULL },
};

/* ---- sensors and counters ---- */

enum { S_DEVICE, S_TYPE, S_TIME, S_VALUE, S_NCOLUMNS };

static const struct sql_column sample_columns[S_NCOLUMNS] = {
	[S_DEVICE] = SQL_INT("deviceId", SQL_BIT(RK_S_DEVICE)),
	[S_TYPE] = SQL_TEXT("monitorType", SQL_BIT(RK_S_METRIC) | SQL_BIT(RK_S_UNIT)),
	[S_TIME] = SQL_INT("start", SQL_BIT(RK_S_TIME)),
	[S_VALUE] = SQL_REAL("value", SQL_BIT(RK_S_VALUE)),
};

/* A row is a time with a constant value: its start is the sample. */
static int sample_row(struct sql_scan *s, size_t row)
{
	static const struct {
		const char *type, *metric, *unit;
	} known[] = { { "sclk", "sclk_mhz", "MHz" }, { "mclk", "mclk_mhz", "MHz" } };
	size_t len = 0, i = 0;
	const char *type = rk_sqlite_text(s->c, S_TYPE, &len);

	while (i < 2 && !(type && rk_text_ieq(type, len, known[i].type)))
		i++;
	if (i < 2)
		rk_sql_put_word(s, RK_S_METRIC, row, known[i].metric);
	else
		rk_sql_put_text(s, RK_S_METRIC, row, type, len);
	rk_sql_put_word(s, RK_S_UNIT, row, i < 2 ? known[i].unit : NULL);
	rk_sql_put(s, RK_S_DEVICE, row, rk_sql_cell(s, S_DEVICE));
	rk_sql_put(s, RK_S_TIME, row, rk_sql_cell(s, S_TIME));
	rk_sql_put_f64(s, RK_S_VALUE, row, S_VALUE);
	return 1;
}

static const struct sql_part sample_parts[] = {
	{ "rocpd_monitor", sample_columns, S_NCOLUMNS, sample_row, NULL, NULL },
};

enum { N_OP, N_NAME, N_VALUE, N_NCOLUMNS };

/* In the order of operations, as their calls are found in that order. */
static int fill_counters(struct sql_scan *s, struct rk_error *err)
{
	static const struct rk_sqlite_column columns[N_NCOLUMNS] = {
		[N_OP] = { "op_id", RK_SQLITE_INT },
		[N_NAME] = { "name_id", RK_SQLITE_INT },
		[N_VALUE] = { "value", RK_SQLITE_REAL },
	};
	int rc;

	if (!s->c) {
		rc = rk_sql_open_in_order(s->r, rk_sql_table(s->r, "rocpd_counter", ""), columns,
					  N_NCOLUMNS, N_OP, &s->c, err);
		if (rc < 0 || !s->c)
			return rc;
	}
	while (s->b.nrows < s->b.cap) {
		size_t row = s->b.nrows;
		int64_t op;

		rc = rk_sqlite_cursor_step(s->c, &s->cause);
		if (rc <= 0)
			return rk_sql_damage(s->r, &s->cause, rc, err);
		op = rk_sql_cell(s, N_OP);
		rk_sql_put(s, RK_N_DISPATCH, row, op);
		rk_sql_put(s, RK_N_NAME, row,
			   rk_sql_resolve(s, STRINGS, rk_sql_resolve(s, OPS, op, OP_NAME), 0));
		rk_sql_put(s, RK_N_COUNTER, row,
			   rk_sql_resolve(s, STRINGS, rk_sql_cell(s, N_NAME), 0));
		rk_sql_put_f64(s, RK_N_VALUE, row, N_VALUE);
		rk_sql_put(s, RK_N_DEVICE, row, rk_sql_resolve(s, OPS, op, OP_DEVICE));
		rk_sql_put(s, RK_N_PID, row, pid_of_call(s, call_of(s, op)));
		if (s->error.code) {
			if (err && !err->code)
				*err = s->error;
			return s->error.code;
		}
		s->b.nrows++;
	}
	return 1;
}

static void leave(struct sql_scan *s)
{
	struct rpd_scan *rs = (struct rpd_scan *)s;
	const char *path = rk_instream_path(s->r->in);
	char message[160];

	rk_sqlite_cursor_close(rs->links);
	rs->links = NULL;
	rs->entered = false;
	if (rs->skipped) {
		snprintf(message, sizeof(message),
			 "operations that are neither kernels nor copies ('%s'); skipped",
			 rs->skipped_type);
		rk_diag_most(s->r->ctx->diag, "skipped-operation", path, 0, rs->skipped, message);
	}
	if (rs->split)
		rk_diag_most(
			s->r->ctx->diag, "split-copy", path, 0, rs->split,
			"copies that are a part of one call: the size of a part is not recorded");
	rs->skipped = rs->split = 0;
}

/* ---- the reader ---- */

#define INT(name)                   \
	{                           \
		name, RK_SQLITE_INT \
	}
#define TEXT(name)                   \
	{                            \
		name, RK_SQLITE_TEXT \
	}
#define KERNEL_COLUMNS                                                                     \
	INT("kernelName_id"), INT("gridX"), INT("gridY"), INT("gridZ"), INT("workgroupX"), \
		INT("workgroupY"), INT("workgroupZ"), INT("groupSegmentSize"),             \
		INT("privateSegmentSize")
#define COPY_COLUMNS TEXT("size"), TEXT("width"), TEXT("height"), INT("kind")

static const struct sql_dim_def dims[NDIMS] = {
	[STRINGS] = { "rocpd_string", 1, { INT("id"), TEXT("string") } },
	[ARGS] = { "rocpd_ustring", 1, { INT("id"), TEXT("string") } },
	[APIS] = { "rocpd_api", 3, { INT("id"), INT("pid"), INT("tid"), INT("apiName_id") } },
	[OPS] = { "rocpd_op", 2, { INT("id"), INT("description_id"), INT("gpuId") } },
	[KERNELS] = { "rocpd_kernelapi", 9, { INT("api_ptr_id"), KERNEL_COLUMNS } },
	[LITE_KERNELS] = { "rocpd_kernelapi", 9, { INT("api_id"), KERNEL_COLUMNS } },
	[COPIES] = { "rocpd_copyapi", 4, { INT("api_ptr_id"), COPY_COLUMNS } },
	[LITE_COPIES] = { "rocpd_copyapi", 4, { INT("api_id"), COPY_COLUMNS } },
};

_Static_assert((int)NDIMS <= (int)SQL_MAX_DIMS, "room for every dim");

static const struct sql_plan plans[] = {
	{ .table = RK_KERNELS, .parts = kernel_parts, .nparts = 1 },
	{ .table = RK_MEMCPY, .parts = copy_parts, .nparts = 1, .gives = SQL_BIT(RK_C_DIRECTION) },
	{ .table = RK_API,
	  .parts = call_parts,
	  .nparts = 1,
	  .gives = SQL_BIT(RK_A_FUNCTION) | SQL_BIT(RK_A_DOMAIN) },
	{ .table = RK_MARKERS, .parts = mark_parts, .nparts = 2 },
	{ .table = RK_COUNTERS,
	  .gives = SQL_BIT(RK_N_DISPATCH) | SQL_BIT(RK_N_NAME) | SQL_BIT(RK_N_COUNTER) |
		   SQL_BIT(RK_N_VALUE) | SQL_BIT(RK_N_DEVICE) | SQL_BIT(RK_N_PID),
	  .needs = { "rocpd_counter" },
	  .fill = fill_counters },
	{ .table = RK_SAMPLES, .parts = sample_parts, .nparts = 1 },
};

static const struct sql_format format = {
	.source = "rpd",
	.clock = "unknown",
	.what = "rocmProfileData",
	.prefix = "rocpd_",
	.plans = plans,
	.nplans = sizeof(plans) / sizeof(plans[0]),
	.dims = dims,
	.ndims = NDIMS,
	.scan_bytes = sizeof(struct rpd_scan),
	.leave = leave,
};

/* rocprofv3's databases begin with the same prefix, but have neither of these tables. */
static int rpd_probe(const struct rk_head *head)
{
	if (!rk_sql_has_magic(head) || !memmem(head->data, head->len, "rocpd_api", 9) ||
	    memmem(head->data, head->len, "rocpd_kernel_dispatch", 21))
		return 0;
	return 97;
}

static const struct rk_db_sign signs[] = { { "rocpd_api_ops", 101 }, { 0 } };

const struct rk_reader_ops rk_reader_rpd = {
	.name = "rpd",
	.help = "SQLite database of rocmProfileData (.rpd) and rocm-trace-lite",
	.probe = rpd_probe,
	.open = rk_sql_open,
	.scan = rk_sql_scan,
	.close = rk_sql_close,
	.format = &format,
	.serial = true,
	.db_signs = signs,
};
