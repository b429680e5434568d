/*
 * nvprof_csv.c - `nvprof --print-gpu-trace --csv`: kernels and copies.
 *
 * nvprof's own messages ("==4711== Profiling result:") may be anywhere. The line below the header
 * has the unit of each column, which nvprof chooses per file. Size units are powers of 1024. A
 * kernel's name may end with its correlation id: "add(int*) [107]".
 */
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/text.h"
#include "codec/csv/scan.h"
#include "codec/instream.h"
#include "read/oddities.h"
#include "read/reader.h"

enum { MAX_CELLS = 256, PREAMBLE_LINES = 1000 };

enum column {
	START,
	DURATION,
	GRID_X,
	GRID_Y,
	GRID_Z,
	BLOCK_X,
	BLOCK_Y,
	BLOCK_Z,
	REGS,
	STATIC_SMEM,
	DYNAMIC_SMEM,
	SIZE,
	DEVICE,
	STREAM,
	NAME,
	CORRELATION,
	NCOLUMNS
};

static const char *const column_names[NCOLUMNS] = {
	[START] = "Start",
	[DURATION] = "Duration",
	[GRID_X] = "Grid X",
	[GRID_Y] = "Grid Y",
	[GRID_Z] = "Grid Z",
	[BLOCK_X] = "Block X",
	[BLOCK_Y] = "Block Y",
	[BLOCK_Z] = "Block Z",
	[REGS] = "Registers Per Thread",
	[STATIC_SMEM] = "Static SMem",
	[DYNAMIC_SMEM] = "Dynamic SMem",
	[SIZE] = "Size",
	[DEVICE] = "Device",
	[STREAM] = "Stream",
	[NAME] = "Name",
	[CORRELATION] = "Correlation_ID",
};

struct cell {
	const char *s;
	size_t len;
};

struct nvprof_source {
	struct rk_source base;
	struct rk_context *ctx;
	const char *path;
	struct rk_lines lines;
	struct rk_oddities odd; /* odd lines, found again each time a table is read */
	struct rk_builder b;
	enum rk_table table;
	uint64_t want;
	uint32_t source_id, clock_id;
	int64_t pid; /* from the last "==PID==" line, 0: none */
	enum { FIND_HEADER, FIND_UNITS, ROWS } state;
	unsigned ncols;
	int at[NCOLUMNS];        /* index in the row, -1: not in the file */
	uint64_t unit[NCOLUMNS]; /* size of one unit in ns or bytes */
	struct cell cells[MAX_CELLS];
	struct rk_error error;
};

/* ---- text ---- */

static struct cell trimmed(struct cell c)
{
	while (c.len && (c.s[0] == ' ' || c.s[0] == '\t')) {
		c.s++;
		c.len--;
	}
	while (c.len && (c.s[c.len - 1] == ' ' || c.s[c.len - 1] == '\r'))
		c.len--;
	if (c.len >= 2 && c.s[0] == '"' && c.s[c.len - 1] == '"') {
		c.s++;
		c.len -= 2;
	}
	return c;
}

/*
 * Splits a line into cells; quoted commas do not count. Cells past MAX_CELLS are counted but not
 * kept.
 */
static unsigned split(const char *line, size_t len, struct cell *cells)
{
	unsigned n = 0;
	size_t from = 0;
	bool quoted = false;

	for (size_t i = 0; i <= len; i++) {
		if (i < len && line[i] == '"')
			quoted = !quoted;
		if (i < len && (line[i] != ',' || quoted))
			continue;
		if (n < MAX_CELLS)
			cells[n] = (struct cell){ line + from, i - from };
		n++;
		from = i + 1;
	}
	return n;
}

/*
 * Parses digits with at most one point, times `unit`, rounded to nearest. Exact, without doubles.
 */
static bool scaled(struct cell c, uint64_t unit, int64_t *ret)
{
	__extension__ typedef unsigned __int128 u128;
	uint64_t digits = 0, below = 1;
	bool point = false, any = false;
	u128 v;

	for (size_t i = 0; i < c.len; i++) {
		unsigned d = (unsigned)(c.s[i] - '0');

		if (c.s[i] == '.' && !point) {
			point = true;
			continue;
		}
		if (d > 9 || digits > (UINT64_MAX - 9) / 10 || below > UINT64_MAX / 10)
			return false;
		any = true;
		digits = digits * 10 + d;
		below *= point ? 10 : 1;
	}
	v = ((u128)digits * unit + below / 2) / below;
	if (!any || v > INT64_MAX)
		return false;
	*ret = (int64_t)v;
	return true;
}

static uint64_t unit_of(struct cell c)
{
	static const struct {
		const char *name;
		uint64_t unit;
	} units[] = {
		{ "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 },    { "ns", 1 },
		{ "B", 1 },          { "KB", 1 << 10 }, { "MB", 1 << 20 }, { "GB", 1 << 30 },
	};

	c = trimmed(c);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (c.len == strlen(units[i].name) && !memcmp(c.s, units[i].name, c.len))
			return units[i].unit;
	return 0;
}

/* Is it a "==4711== ..." line? *pid gets the process. */
static bool is_remark(const char *line, size_t len, int64_t *pid)
{
	const char *end = NULL;
	int64_t v;

	if (len > 4 && !memcmp(line, "==", 2))
		end = memmem(line + 2, len - 2, "==", 2);
	if (!end || rk_num_i64(line + 2, (size_t)(end - line) - 2, &v) != RK_NUM_OK)
		return false;
	*pid = v;
	return true;
}

/* Finds our columns in a header line; false if it is not a known header. */
static bool read_header(const char *line, size_t len, struct cell *cells, int *at, unsigned *ncols)
{
	unsigned n = split(line, len, cells);

	for (unsigned k = 0; k < NCOLUMNS; k++)
		at[k] = -1;
	for (unsigned i = 0; i < n && i < MAX_CELLS; i++) {
		struct cell c = trimmed(cells[i]);

		for (unsigned k = 0; k < NCOLUMNS; k++)
			if (rk_text_ieq(c.s, c.len, column_names[k]))
				at[k] = (int)i;
	}
	*ncols = n;
	return n <= MAX_CELLS && at[START] >= 0 && at[DURATION] >= 0 && at[NAME] >= 0 &&
	       at[DEVICE] >= 0;
}

static int nvprof_probe(const struct rk_head *head)
{
	const char *pos = head->data, *end = pos + head->len, *line;
	struct cell cells[MAX_CELLS];
	int at[NCOLUMNS];
	unsigned ncols;
	int64_t pid;
	size_t n;

	for (int i = 0; i < PREAMBLE_LINES && rk_lines_take(&pos, end, &line, &n); i++) {
		if (n >= 3 && !memcmp(line, "\xef\xbb\xbf", 3)) {
			line += 3;
			n -= 3;
		}
		if (n && !is_remark(line, n, &pid))
			return read_header(line, n, cells, at, &ncols) ? 90 : 0;
	}
	return 0;
}

/* ---- rows ---- */

static void warn(struct nvprof_source *s, const char *kind, const char *message)
{
	rk_diag_add(s->ctx->diag, kind, s->path, s->lines.number, 1, "%s", message);
}

static void odd_line(struct nvprof_source *s, const char *kind, const char *message)
{
	rk_oddities_count(&s->odd, kind, s->lines.number, 1, "%s", message);
}

static void put(struct nvprof_source *s, unsigned field, int64_t v, bool has)
{
	enum rk_type type = s->base.schema->fields[field].type;
	size_t row = s->b.nrows;
	void *col;

	if (!(s->want >> field & 1))
		return;
	col = rk_builder_column(&s->b, field);
	if (has && type == RK_I32 && v != (int32_t)v) {
		warn(s, "number-out-of-range", "a number does not fit its column; left empty");
		has = false;
	}
	if (!col || (!has && !rk_builder_null(&s->b, field, row)))
		rk_fail_nomem(&s->error);
	else if (has && type == RK_I64)
		((int64_t *)col)[row] = v;
	else if (has)
		((int32_t *)col)[row] = (int32_t)v;
}

static void put_text(struct nvprof_source *s, unsigned field, const char *text, size_t len)
{
	uint32_t id = 0;

	if (s->want >> field & 1 && !rk_strtab_add(s->ctx->names, text, len, &id, &s->error))
		put(s, field, (int32_t)id, true);
}

static struct cell cell_of(const struct nvprof_source *s, enum column k)
{
	if (s->at[k] < 0)
		return (struct cell){ "", 0 };
	return trimmed(s->cells[s->at[k]]);
}

/*
 * Reads a number in the column's unit; false if the cell is empty or not a number (which is
 * counted).
 */
static bool number(struct nvprof_source *s, enum column k, int64_t *ret)
{
	struct cell c = cell_of(s, k);
	bool has = c.len && scaled(c, s->unit[k], ret);

	if (c.len && !has) {
		if (k == START || k == DURATION)
			warn(s, "damaged-time", "a time is not a decimal number; left empty");
		else
			warn(s, "bad-number", "a cell is not a number; left empty");
	}
	return has;
}

static int64_t put_number(struct nvprof_source *s, unsigned field, enum column k)
{
	int64_t v = 0;
	bool has = number(s, k, &v);

	put(s, field, v, has);
	return has ? v : -1;
}

/* Parses "Tesla V100-SXM2-16GB (0)", or just the number. */
static bool device(struct nvprof_source *s, int64_t *ret)
{
	struct cell c = cell_of(s, DEVICE);
	const char *open = NULL;

	if (c.len && c.s[c.len - 1] == ')')
		open = memrchr(c.s, '(', c.len);
	if (open)
		c = (struct cell){ open + 1, c.len - (size_t)(open + 1 - c.s) - 1 };
	return c.len && scaled(c, 1, ret);
}

/* Removes " [107]" from a kernel name. */
static bool take_id(struct cell *name, int64_t *ret)
{
	const char *open = NULL;
	struct cell id;

	if (name->len && name->s[name->len - 1] == ']')
		open = memrchr(name->s, '[', name->len);
	if (!open || open - name->s < 2 || open[-1] != ' ')
		return false;
	id = (struct cell){ open + 1, name->len - (size_t)(open + 1 - name->s) - 1 };
	if (!id.len || memchr(id.s, '.', id.len) || !scaled(id, 1, ret))
		return false;
	name->len = (size_t)(open - name->s) - 1;
	return true;
}

static void put_kernel(struct nvprof_source *s, struct cell name)
{
	int64_t id = 0, dev = 0, fixed = 0, dynamic = 0;
	bool has_id = take_id(&name, &id), has_device = device(s, &dev), has;

	put_text(s, RK_K_NAME, name.s, name.len);
	put_number(s, RK_K_START, START);
	put_number(s, RK_K_DURATION, DURATION);
	for (unsigned i = 0; i < 3; i++) { /* grids are in blocks already */
		int64_t grid = put_number(s, RK_K_GRID_X + i, GRID_X + i);
		int64_t block = put_number(s, RK_K_BLOCK_X + i, BLOCK_X + i), items = 0;

		has = grid >= 0 && block >= 0;
		if (has && __builtin_mul_overflow(grid, block, &items))
			items = INT64_MAX;
		put(s, RK_K_ITEMS_X + i, items, has);
	}
	put_number(s, RK_K_REGS, REGS);
	has = number(s, STATIC_SMEM, &fixed);
	has = number(s, DYNAMIC_SMEM, &dynamic) || has;
	put(s, RK_K_SHARED_MEM, rk_add_saturated(fixed, dynamic), has);
	put_number(s, RK_K_STREAM, STREAM);
	put(s, RK_K_DEVICE, dev, has_device);
	if (s->at[CORRELATION] >= 0)
		put_number(s, RK_K_CORRELATION, CORRELATION);
	else
		put(s, RK_K_CORRELATION, id, has_id);
	put(s, RK_K_PID, s->pid, s->pid > 0);
	put(s, RK_K_SOURCE, (int32_t)s->source_id, true);
	put(s, RK_K_CLOCK, (int32_t)s->clock_id, true);
}

static const struct {
	const char *end, *word;
	bool from_device, to_device;
} directions[] = {
	{ "HtoD]", "MEMORY_COPY_HOST_TO_DEVICE", false, true },
	{ "DtoH]", "MEMORY_COPY_DEVICE_TO_HOST", true, false },
	{ "DtoD]", "MEMORY_COPY_DEVICE_TO_DEVICE", true, true },
	{ "HtoH]", "MEMORY_COPY_HOST_TO_HOST", false, false },
	{ "PtoP]", "MEMORY_COPY_PEER_TO_PEER", true, true },
	{ "HtoA]", "MEMORY_COPY_HOST_TO_DEVICE", false, true },
	{ "AtoH]", "MEMORY_COPY_DEVICE_TO_HOST", true, false },
	{ "memset]", "MEMORY_SET", false, true },
	{ "", "MEMORY_COPY_UNKNOWN", false, false },
};

static void put_copy(struct nvprof_source *s, struct cell name)
{
	int64_t id = 0, dev = 0;
	bool has_id = take_id(&name, &id), has_device = device(s, &dev);
	size_t i = 0;

	while (!rk_text_ends(name.s, name.len, directions[i].end))
		i++;
	put_text(s, RK_C_DIRECTION, directions[i].word, strlen(directions[i].word));
	put_number(s, RK_C_START, START);
	put_number(s, RK_C_DURATION, DURATION);
	put_number(s, RK_C_BYTES, SIZE);
	put(s, RK_C_SRC, dev, has_device && directions[i].from_device);
	put(s, RK_C_DST, dev, has_device && directions[i].to_device);
	put_number(s, RK_C_STREAM, STREAM);
	if (s->at[CORRELATION] >= 0)
		put_number(s, RK_C_CORRELATION, CORRELATION);
	else
		put(s, RK_C_CORRELATION, id, has_id);
	put(s, RK_C_PID, s->pid, s->pid > 0);
}

static void take_row(struct nvprof_source *s, const char *line, size_t len)
{
	unsigned n = split(line, len, s->cells), at = (unsigned)s->at[NAME], extra;
	struct cell name;
	bool copy;

	if (n < s->ncols) {
		odd_line(s, s->lines.ended ? "short-row" : "cut-row",
			 "a row has too few cells; skipped");
		return;
	}
	if (n > MAX_CELLS) {
		odd_line(s, "long-row", "a row has too many cells; skipped");
		return;
	}
	if (n > s->ncols) { /* an unquoted name with commas: rejoin its cells */
		extra = n - s->ncols;
		name = s->cells[at + extra];
		s->cells[at].len = (size_t)(name.s + name.len - s->cells[at].s);
		for (unsigned i = at + 1; i < s->ncols; i++)
			s->cells[i] = s->cells[i + extra];
	}
	name = cell_of(s, NAME);
	copy = rk_text_iprefix(name.s, name.len, "[CUDA mem") ||
	       rk_text_iprefix(name.s, name.len, "[Unified Memory Memcpy");
	if (copy != (s->table == RK_MEMCPY))
		return;
	if (!copy && name.len && name.s[0] == '[') {
		warn(s, "not-a-kernel", "a unified-memory row is not a copy; skipped");
		return;
	}
	if (s->table == RK_MEMCPY)
		put_copy(s, name);
	else
		put_kernel(s, name);
	s->b.nrows++;
}

/* Does the line below the header have units (every cell a unit or empty)? If not, it is a row. */
static bool take_units(struct nvprof_source *s, const char *line, size_t len)
{
	unsigned n = split(line, len, s->cells);
	uint64_t start, duration;

	for (unsigned k = 0; k < NCOLUMNS; k++)
		s->unit[k] = 1;
	if (n != s->ncols)
		return false;
	start = unit_of(s->cells[s->at[START]]);
	duration = unit_of(s->cells[s->at[DURATION]]);
	if (!start || !duration)
		return false;
	for (unsigned k = 0; k < NCOLUMNS; k++) {
		uint64_t unit = 0;

		if (s->at[k] >= 0)
			unit = unit_of(s->cells[s->at[k]]);
		if (unit)
			s->unit[k] = unit;
	}
	return true;
}

static int nvprof_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct nvprof_source *s = (struct nvprof_source *)base;
	const char *line;
	size_t len;
	int rc = 1;

	rk_builder_reset(&s->b);
	while (s->b.nrows < s->b.cap && (rc = rk_lines_next(&s->lines, &line, &len, err)) > 0) {
		if (len && line[len - 1] == '\r')
			len--;
		if (!len)
			continue;
		if (is_remark(line, len, &s->pid)) {
			s->state = FIND_HEADER;
			continue;
		}
		if (s->state == FIND_HEADER) {
			if (read_header(line, len, s->cells, s->at, &s->ncols))
				s->state = FIND_UNITS;
			else
				odd_line(s, "stray-line", "a line outside the GPU trace; skipped");
			continue;
		}
		if (s->state == FIND_UNITS) {
			s->state = ROWS;
			if (take_units(s, line, len))
				continue;
			odd_line(s, "no-units",
				 "no line with units below the header; times are read as ns");
		}
		take_row(s, line, len);
		if (s->error.code) {
			if (err && !err->code)
				*err = s->error;
			return s->error.code;
		}
	}
	if (rc < 0)
		return rc;
	if (rc == 0) /* end of file */
		rk_oddities_tell_lines(&s->odd, &s->lines, s->ctx->diag, s->path);
	*batch = rk_builder_batch(&s->b);
	return s->b.nrows > 0;
}

static void nvprof_source_close(struct rk_source *base)
{
	struct nvprof_source *s = (struct nvprof_source *)base;

	rk_lines_release(&s->lines);
	rk_builder_release(&s->b);
	rk_free(s);
}

static int nvprof_scan(struct rk_reader *base, enum rk_table t, uint64_t want,
		       struct rk_source **ret, struct rk_error *err)
{
	static const struct rk_source_ops ops = { nvprof_next, nvprof_source_close };
	struct rk_plain_reader *r = (struct rk_plain_reader *)base;
	struct nvprof_source *s = rk_calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return rk_fail_nomem(err);
	s->base = (struct rk_source){ &ops, rk_table_schema(t) };
	s->ctx = r->ctx;
	s->path = rk_instream_path(r->in);
	s->table = t;
	s->want = want;
	if ((rc = rk_builder_init(&s->b, s->base.schema, RK_BATCH_ROWS, err)) < 0 ||
	    (rc = rk_strtab_adds(s->ctx->names, "nvprof-csv", &s->source_id, err)) < 0 ||
	    (rc = rk_strtab_adds(s->ctx->names, "unknown", &s->clock_id, err)) < 0 ||
	    (rc = rk_lines_begin(&s->lines, r->in, err)) < 0) {
		nvprof_source_close(&s->base);
		return rc;
	}
	*ret = &s->base;
	return 0;
}

static int nvprof_open(const struct rk_reader_ops *ops, struct rk_instream *in,
		       struct rk_context *ctx, struct rk_reader **ret, struct rk_error *err)
{
	return rk_plain_reader_open(ops, RK_TABLE_BIT(RK_KERNELS) | RK_TABLE_BIT(RK_MEMCPY), in,
				    ctx, ret, err);
}

const struct rk_reader_ops rk_reader_nvprof_csv = {
	.name = "nvprof-csv",
	.help = "GPU trace of nvprof as CSV",
	.probe = nvprof_probe,
	.open = nvprof_open,
	.scan = nvprof_scan,
	.close = rk_plain_reader_close,
	.serial = true,
};
