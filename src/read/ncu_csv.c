/*
 * ncu_csv.c - `ncu --csv` of Nsight Compute: kernels, and their metrics as counters.
 *
 * The details page has a row per metric, the raw page a row per kernel, a column per metric and the
 * units in the line below the header. The program's own output and ncu's messages ("==PROF== ...")
 * may be anywhere before, between and after. ncu chooses a unit for each value (Kbyte, usecond): we
 * store bytes, hertz and nanoseconds. Values have thousands separators.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/text.h"
#include "codec/csv/scan.h"
#include "codec/instream.h"
#include "read/oddities.h"
#include "read/reader.h"

enum { MAX_COLUMNS = 16384, UNIT_MAX = 64 };

enum column {
	ID,
	PID,
	NAME,
	STREAM,
	BLOCK,
	GRID,
	DEVICE,
	METRIC, /* details page */
	UNIT,
	VALUE,
	NCOLUMNS
};

static const char *const column_names[NCOLUMNS] = {
	[ID] = "ID",
	[PID] = "Process ID",
	[NAME] = "Kernel Name",
	[STREAM] = "Stream",
	[BLOCK] = "Block Size",
	[GRID] = "Grid Size",
	[DEVICE] = "Device",
	[METRIC] = "Metric Name",
	[UNIT] = "Metric Unit",
	[VALUE] = "Metric Value",
};

/* Other columns of the raw page, which are not metrics. */
static const char *const other_names[] = {
	"Process Name", "Host Name",        "Context",     "CC",
	"Section Name", "Kernel Time",      "Device Name", "Rule Name",
	"Rule Type",    "Rule Description", NULL
};

/* Where our columns are in the file, -1: it has no such column. */
struct layout {
	int at[NCOLUMNS];
	unsigned ncols;
	bool details;
};

/* A kernel whose rows are being read. */
struct launch {
	bool open;
	int64_t id, pid, stream, device, block[3], grid[3], duration, regs; /* RK_NONE: unknown */
	uint32_t name;
};

struct ncu_source {
	struct rk_source base;
	struct rk_context *ctx;
	const char *path;
	struct rk_lines lines;
	struct rk_oddities odd;
	struct rk_builder b;
	enum rk_table table;
	uint64_t want;
	uint32_t source_id, clock_id;
	struct layout l;
	bool found; /* a header */
	struct rk_csv_span *cells;
	uint32_t *metrics;       /* raw page: the name of each column; 0: not a metric */
	char (*units)[UNIT_MAX]; /* raw page */
	struct launch launch;    /* of the rows so far */
	unsigned col;            /* raw page: next column of this row, for counters */
	bool in_row;
	struct rk_error error;
};

static bool is_name(struct rk_csv_span c, const char *name)
{
	return c.len == strlen(name) && !memcmp(c.p, name, c.len);
}

static bool may_be_header(const char *line, size_t len)
{
	return rk_text_iprefix(line, len, "\"ID\",") || rk_text_iprefix(line, len, "ID,");
}

/* Is it a header? Every header has ID and Kernel Name, and metrics. */
static bool read_header(const char *line, size_t len, struct rk_csv_span *cells, struct layout *ret)
{
	bool metrics = false;

	if (!may_be_header(line, len))
		return false;
	ret->ncols = rk_csv_split(line, len, cells, MAX_COLUMNS);
	if (ret->ncols > MAX_COLUMNS)
		return false;
	for (unsigned k = 0; k < NCOLUMNS; k++) {
		ret->at[k] = -1;
		for (unsigned i = 0; i < ret->ncols && ret->at[k] < 0; i++)
			if (is_name(cells[i], column_names[k]))
				ret->at[k] = (int)i;
	}
	for (unsigned i = 0; i < ret->ncols; i++) /* "gpu__time_duration.sum", "sm__cycles.avg" */
		metrics |= memmem(cells[i].p, cells[i].len, "__", 2) != NULL;
	ret->details = ret->at[METRIC] >= 0 && ret->at[VALUE] >= 0;
	return ret->at[ID] >= 0 && ret->at[NAME] >= 0 && (ret->details || metrics);
}

static int ncu_probe(const struct rk_head *head)
{
	const char *pos = head->data, *end = pos + head->len, *line;
	struct rk_csv_span *cells;
	struct layout l;
	bool yes = false;
	size_t n;

	while (!yes && rk_lines_take(&pos, end, &line, &n)) {
		if (!may_be_header(line, n))
			continue;
		cells = rk_alloc((MAX_COLUMNS + 1) * sizeof(*cells));
		if (!cells)
			return RK_E_NOMEM;
		yes = read_header(line, n, cells, &l);
		rk_free(cells);
	}
	return yes ? 90 : 0;
}

/* ---- values ---- */

/*
 * "1,234,567.8". Where the language uses a decimal comma, ncu writes "9,00": one comma that is not
 * followed by exactly three digits.
 */
static bool read_value(struct rk_csv_span c, double *ret)
{
	const char *comma = memchr(c.p, ',', c.len);
	char text[64];
	size_t n = 0;
	bool decimal;

	if (!c.len || c.len >= sizeof(text))
		return false;
	decimal = comma && !memchr(comma + 1, ',', (size_t)(c.p + c.len - comma - 1)) &&
		  !memchr(c.p, '.', c.len) && c.p + c.len - comma != 4;
	for (size_t i = 0; i < c.len; i++)
		if (c.p[i] != ',')
			text[n++] = c.p[i];
		else if (decimal)
			text[n++] = '.';
	return rk_num_f64(text, n, ret) == RK_NUM_OK;
}

/* How many bytes, hertz or nanoseconds a unit is; 1 for all other units. */
static double scale_of(struct rk_csv_span unit)
{
	static const struct {
		const char *name;
		double scale;
	} times[] = {
		{ "s", 1e9 },  { "second", 1e9 },  { "ms", 1e6 }, { "msecond", 1e6 },
		{ "us", 1e3 }, { "usecond", 1e3 }, { "ns", 1 },   { "nsecond", 1 },
	};
	static const struct {
		char letter;
		double scale;
	} prefixes[] = { { 'K', 1e3 }, { 'M', 1e6 }, { 'G', 1e9 }, { 'T', 1e12 } };

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		if (is_name(unit, times[i].name))
			return times[i].scale;
	if (unit.len > 2 && (rk_text_iprefix(unit.p + 1, unit.len - 1, "byte") ||
			     rk_text_iprefix(unit.p + 1, unit.len - 1, "hz")))
		for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
			if (unit.p[0] == prefixes[i].letter)
				return prefixes[i].scale;
	return 1;
}

static int64_t read_int(struct rk_csv_span c)
{
	int64_t v;

	return rk_num_i64(c.p, c.len, &v) == RK_NUM_OK && v >= 0 ? v : RK_NONE;
}

/* "(256, 1, 1)" or "256, 1, 1" */
static void read_size(struct rk_csv_span c, int64_t *ret)
{
	const char *p = c.p, *end = p + c.len;

	for (unsigned i = 0; i < 3; i++) {
		const char *from;

		while (p < end && (*p < '0' || *p > '9'))
			p++;
		for (from = p; p < end && *p >= '0' && *p <= '9'; p++)
			;
		ret[i] = read_int((struct rk_csv_span){ from, (size_t)(p - from) });
	}
}

/* ---- rows ---- */

static struct rk_csv_span cell_of(const struct ncu_source *s, enum column k)
{
	return s->l.at[k] < 0 ? (struct rk_csv_span){ "", 0 } : s->cells[s->l.at[k]];
}

static void put(struct ncu_source *s, unsigned field, int64_t v)
{
	enum rk_type type = s->base.schema->fields[field].type;
	void *col;

	if (!(s->want >> field & 1))
		return;
	col = rk_builder_column(&s->b, field);
	if (type == RK_I32 && v != RK_NONE && v != (int32_t)v) {
		rk_oddities_count(&s->odd, "number-out-of-range", s->lines.number, 1,
				  "a number does not fit its column; left empty");
		v = RK_NONE;
	}
	if (!col || (v == RK_NONE && !rk_builder_null(&s->b, field, s->b.nrows)))
		rk_fail_nomem(&s->error);
	else if (v != RK_NONE && type == RK_I64)
		((int64_t *)col)[s->b.nrows] = v;
	else if (v != RK_NONE)
		((int32_t *)col)[s->b.nrows] = (int32_t)v;
}

static void put_kernel(struct ncu_source *s)
{
	const struct launch *k = &s->launch;

	put(s, RK_K_NAME, (int32_t)k->name);
	put(s, RK_K_DURATION, k->duration);
	for (unsigned i = 0; i < 3; i++) {
		int64_t items;

		put(s, RK_K_GRID_X + i, k->grid[i]);
		put(s, RK_K_BLOCK_X + i, k->block[i]);
		if (k->grid[i] == RK_NONE || k->block[i] == RK_NONE ||
		    __builtin_mul_overflow(k->grid[i], k->block[i], &items))
			items = RK_NONE;
		put(s, RK_K_ITEMS_X + i, items);
	}
	put(s, RK_K_REGS, k->regs);
	put(s, RK_K_STREAM, k->stream);
	put(s, RK_K_DEVICE, k->device);
	put(s, RK_K_DISPATCH, k->id);
	put(s, RK_K_PID, k->pid);
	put(s, RK_K_SOURCE, (int32_t)s->source_id);
	put(s, RK_K_CLOCK, (int32_t)s->clock_id);
	s->b.nrows++;
}

static void put_counter(struct ncu_source *s, uint32_t metric, double v)
{
	double *values = rk_builder_column(&s->b, RK_N_VALUE);

	if (!values) {
		rk_fail_nomem(&s->error);
		return;
	}
	values[s->b.nrows] = v;
	put(s, RK_N_DISPATCH, s->launch.id);
	put(s, RK_N_NAME, (int32_t)s->launch.name);
	put(s, RK_N_COUNTER, (int32_t)metric);
	put(s, RK_N_DEVICE, s->launch.device);
	put(s, RK_N_PID, s->launch.pid);
	s->b.nrows++;
}

/* A value of the current kernel; the counters table gets a row of it. */
static void take_value(struct ncu_source *s, struct rk_csv_span name, uint32_t id,
		       struct rk_csv_span unit, struct rk_csv_span value)
{
	double v;

	if (!read_value(value, &v)) {
		rk_oddities_count(&s->odd, "no-value", s->lines.number, 1,
				  "a metric has no value, or a text; left out");
		return;
	}
	v *= scale_of(unit);
	if (s->table == RK_COUNTERS) {
		put_counter(s, id, v);
		return;
	}
	if (is_name(name, "gpu__time_duration.sum") || is_name(name, "Duration")) {
		if (v >= 0 && v < 9e18)
			s->launch.duration = (int64_t)(v + 0.5);
	} else if ((is_name(name, "launch__registers_per_thread") ||
		    is_name(name, "Registers Per Thread")) &&
		   v >= 0 && v < INT32_MAX) {
		s->launch.regs = (int64_t)v;
	}
}

/* Begins the kernel of this row; the one before it is complete. */
static void begin_launch(struct ncu_source *s, int64_t id, int64_t pid)
{
	struct rk_csv_span name = cell_of(s, NAME);

	if (s->launch.open && s->table == RK_KERNELS)
		put_kernel(s);
	s->launch = (struct launch){ .open = true,
				     .id = id,
				     .pid = pid,
				     .stream = read_int(cell_of(s, STREAM)),
				     .device = read_int(cell_of(s, DEVICE)),
				     .duration = RK_NONE,
				     .regs = RK_NONE };
	read_size(cell_of(s, BLOCK), s->launch.block);
	read_size(cell_of(s, GRID), s->launch.grid);
	rk_strtab_add(s->ctx->names, name.p, name.len, &s->launch.name, &s->error);
}

/* Raw page: values until the batch is full. True: the row is done. */
static bool take_columns(struct ncu_source *s)
{
	for (; s->col < s->l.ncols && s->b.nrows < s->b.cap && !s->error.code; s->col++) {
		const char *unit = s->units[s->col];
		size_t len;
		const char *name;

		if (!s->metrics[s->col] || !s->cells[s->col].len)
			continue;
		name = rk_strtab_borrow(s->ctx->names, s->metrics[s->col], &len);
		take_value(s, (struct rk_csv_span){ name, len }, s->metrics[s->col],
			   (struct rk_csv_span){ unit, strlen(unit) }, s->cells[s->col]);
	}
	return s->col == s->l.ncols;
}

/* Raw page: the line below the header has units and no ID. */
static void take_units(struct ncu_source *s)
{
	for (unsigned i = 0; i < s->l.ncols; i++) {
		size_t n = rk_min(s->cells[i].len, UNIT_MAX - 1);

		memcpy(s->units[i], s->cells[i].p, n);
		s->units[i][n] = '\0';
	}
}

static bool is_metric(struct rk_csv_span name)
{
	for (unsigned k = 0; k < NCOLUMNS; k++)
		if (is_name(name, column_names[k]))
			return false;
	for (unsigned k = 0; other_names[k]; k++)
		if (is_name(name, other_names[k]))
			return false;
	return name.len != 0;
}

static void take_header(struct ncu_source *s)
{
	rk_free(s->metrics);
	rk_free(s->units);
	s->metrics = rk_calloc(s->l.ncols, sizeof(*s->metrics));
	s->units = rk_calloc(s->l.ncols, sizeof(*s->units));
	if (!s->metrics || !s->units) {
		rk_fail_nomem(&s->error);
		return;
	}
	s->found = true;
	for (unsigned i = 0; i < s->l.ncols; i++) {
		if (!s->l.details && is_metric(s->cells[i]))
			rk_strtab_add(s->ctx->names, s->cells[i].p, s->cells[i].len, &s->metrics[i],
				      &s->error);
	}
}

static void take_line(struct ncu_source *s, const char *line, size_t len)
{
	struct layout l;
	struct rk_csv_span metric;
	uint32_t name = 0;
	int64_t id, pid;
	size_t needed = 0;
	unsigned n;

	if (read_header(line, len, s->cells, &l)) {
		s->l = l;
		take_header(s);
		return;
	}
	if (!s->found || !len || !memcmp(line, "==", rk_min(len, 2)))
		return;
	n = rk_csv_split(line, len, s->cells, MAX_COLUMNS);
	for (unsigned k = 0; k < NCOLUMNS; k++)
		needed = rk_max(needed, (size_t)(s->l.at[k] + 1));
	id = n > (unsigned)s->l.at[ID] && n <= MAX_COLUMNS ? read_int(s->cells[s->l.at[ID]]) :
							     RK_NONE;
	/* rows of the details page end after the value, without the cells of rules */
	if (id == RK_NONE || n < (s->l.details ? needed : s->l.ncols)) {
		if (n == s->l.ncols && !s->cells[s->l.at[ID]].len && !s->l.details)
			take_units(s);
		else
			rk_oddities_count(&s->odd, "stray-line", s->lines.number, 1,
					  "a line is not a row of the table; skipped");
		return;
	}
	pid = read_int(cell_of(s, PID));
	if (!s->launch.open || s->launch.id != id || s->launch.pid != pid || !s->l.details)
		begin_launch(s, id, pid);
	if (!s->l.details) {
		s->col = 0;
		s->in_row = true;
		return;
	}
	metric = cell_of(s, METRIC);
	if (!metric.len) /* a row with the text of a rule */
		return;
	if (s->table == RK_COUNTERS)
		rk_strtab_add(s->ctx->names, metric.p, metric.len, &name, &s->error);
	take_value(s, metric, name, cell_of(s, UNIT), cell_of(s, VALUE));
}

static int ncu_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct ncu_source *s = (struct ncu_source *)base;
	const char *line;
	size_t len;
	int rc = 1;

	rk_builder_reset(&s->b);
	while (s->b.nrows < s->b.cap && !s->error.code) {
		if (s->in_row) {
			s->in_row = !take_columns(s);
			continue;
		}
		rc = rk_lines_next(&s->lines, &line, &len, err);
		if (rc <= 0)
			break;
		if (len && line[len - 1] == '\r')
			len--;
		take_line(s, line, len);
	}
	if (rc == 0 && s->launch.open && !s->error.code) { /* the last kernel */
		s->launch.open = false;
		if (s->table == RK_KERNELS)
			put_kernel(s);
	}
	if (rc < 0 || s->error.code) {
		if (s->error.code && err)
			*err = s->error;
		rk_error_at(err, s->path, s->lines.number, 0);
		return s->error.code ? s->error.code : rc;
	}
	if (rc == 0) /* end of file */
		rk_oddities_tell_lines(&s->odd, &s->lines, s->ctx->diag, s->path);
	*batch = rk_builder_batch(&s->b);
	return s->b.nrows > 0;
}

static void ncu_source_close(struct rk_source *base)
{
	struct ncu_source *s = (struct ncu_source *)base;

	rk_lines_release(&s->lines);
	rk_builder_release(&s->b);
	rk_free(s->cells);
	rk_free(s->metrics);
	rk_free(s->units);
	rk_free(s);
}

static int ncu_scan(struct rk_reader *base, enum rk_table t, uint64_t want, struct rk_source **ret,
		    struct rk_error *err)
{
	static const struct rk_source_ops ops = { ncu_next, ncu_source_close };
	struct rk_plain_reader *r = (struct rk_plain_reader *)base;
	struct ncu_source *s = rk_calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return rk_fail_nomem(err);
	s->base = (struct rk_source){ &ops, rk_table_schema(t) };
	s->ctx = r->ctx;
	s->path = rk_instream_path(r->in);
	s->table = t;
	s->want = want;
	s->cells = rk_calloc(MAX_COLUMNS + 1, sizeof(*s->cells));
	if (!s->cells)
		rc = rk_fail_nomem(err);
	else if ((rc = rk_builder_init(&s->b, s->base.schema, RK_BATCH_ROWS, err)) == 0 &&
		 (rc = rk_strtab_adds(s->ctx->names, "ncu-csv", &s->source_id, err)) == 0 &&
		 (rc = rk_strtab_adds(s->ctx->names, "unknown", &s->clock_id, err)) == 0)
		rc = rk_lines_begin(&s->lines, r->in, err);
	if (rc < 0) {
		ncu_source_close(&s->base);
		return rc;
	}
	*ret = &s->base;
	return 0;
}

static int ncu_open(const struct rk_reader_ops *ops, struct rk_instream *in, struct rk_context *ctx,
		    struct rk_reader **ret, struct rk_error *err)
{
	return rk_plain_reader_open(ops, RK_TABLE_BIT(RK_KERNELS) | RK_TABLE_BIT(RK_COUNTERS), in,
				    ctx, ret, err);
}

const struct rk_reader_ops rk_reader_ncu_csv = {
	.name = "ncu-csv",
	.help = "kernels and metrics of Nsight Compute (ncu --csv, raw and details page)",
	.probe = ncu_probe,
	.open = ncu_open,
	.scan = ncu_scan,
	.close = rk_plain_reader_close,
	.serial = true,
};
