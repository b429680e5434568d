/* samples.c - sampler files: each value of a row becomes a row of the samples table. */
#include "read/samples/samples.h"

#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/text.h"
#include "codec/instream.h"

/* Kinds of warnings; the messages are in `oddities`. */
enum odd {
	SHORT_ROW,
	LONG_ROW,
	HUGE_ROW,
	CUT_ROW,
	REPEATED_HEADER,
	BAD_NUMBER,
	BAD_TIME,
	DAMAGED_TIME,
	BAD_DEVICE,
	NO_ZONE,
	SMALL_POWER,
	NODD
};

static const struct {
	const char *kind, *text;
} oddities[NODD] = {
	{ "short-row", "row has fewer cells than the header; the others are treated as missing" },
	{ "long-row", "row has more cells than the header; skipped" },
	{ "huge-row", "row is longer than 1 MiB; skipped" },
	{ "cut-row", "the file ends inside this row; skipped" },
	{ "repeated-header", "repeated header line; skipped" },
	{ "bad-number", "cell is not a number; treated as missing" },
	{ "bad-time", "time cannot be read; treated as missing" },
	{ "damaged-time", "time has lost digits (saved by a spreadsheet?); not used for timing" },
	{ "bad-device", "device cannot be read; treated as missing" },
	{ "time-without-zone", "wall-clock times without a time zone; treated as UTC" },
	{ "small-power", "power is always below 5 W: madengine divides amd-smi's watts by 1000; "
			 "values kept as written" },
};

/* A column with its strings interned. */
struct column {
	struct rk_sample_column c;
	uint32_t metric, own, unit; /* ids; unit 0: none */
};

struct reader {
	struct rk_reader base;
	struct rk_instream *in;
	struct rk_context *ctx;
	struct column *cols;
	unsigned ncols;
	char *first; /* the header line, to recognise repeats of it */
	bool dmon;   /* nvidia-smi dmon: repeats its header regularly */
};

struct note {
	uint64_t count, line;
};

/* Between two calls its position is one value of one row. */
struct source {
	struct rk_source base;
	struct reader *r;
	struct rk_lines lines;
	struct rk_builder b;
	struct rk_csv_span *cells; /* cells of the row; room for one more than there are columns */
	bool *gave;                /* by column: it had a value in this row */
	unsigned ncells, col;      /* col: next column to read */
	bool begun;                /* the header was skipped */
	bool has_time, has_device;
	int64_t time, device;
	struct rk_csv_span list; /* rest of a cell that holds a list */
	unsigned index;          /* index of its next element */
	double most_watts;
	struct note notes[NODD];
};

static void note(struct source *s, enum odd what)
{
	if (!s->notes[what].count++)
		s->notes[what].line = s->lines.number;
}

/* ---- parsing times, devices and values as samplers write them ---- */

#define NS INT64_C(1000000000)

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Converts digits after a decimal point to nanoseconds; truncates finer digits. */
static int64_t fraction_ns(const char *p, size_t len)
{
	int64_t v = 0;

	for (size_t i = 0; i < 9; i++)
		v = v * 10 + (i < len ? p[i] - '0' : 0);
	return v;
}

static size_t count_digits(const char *p, size_t len)
{
	size_t n = 0;

	while (n < len && digit(p[n]))
		n++;
	return n;
}

static enum rk_when seconds(struct rk_csv_span c, int64_t *ret)
{
	size_t whole = count_digits(c.p, c.len), part = 0;
	int64_t s;

	if (whole < c.len && c.p[whole] == '.')
		part = count_digits(c.p + whole + 1, c.len - whole - 1);
	if (!whole || whole + (part ? part + 1 : 0) != c.len)
		return rk_num_i64(c.p, c.len, &s) == RK_NUM_SCIENCE ? RK_WHEN_LOST : RK_WHEN_BAD;
	if (rk_num_i64(c.p, whole, &s) != RK_NUM_OK || __builtin_mul_overflow(s, NS, ret) ||
	    __builtin_add_overflow(*ret, fraction_ns(c.p + whole + 1, part), ret))
		return RK_WHEN_BAD;
	return RK_WHEN_UTC;
}

/* Parses two digits in [from, to]; -1 if invalid. */
static int two(const char *p, int from, int to)
{
	int v = (p[0] - '0') * 10 + (p[1] - '0');

	return digit(p[0]) && digit(p[1]) && v >= from && v <= to ? v : -1;
}

/* Days since 1970 of a Gregorian date. Years begin in March, so that the leap day comes last. */
static int64_t days(int year, int month, int day)
{
	int y = year, m = month - 3;

	if (m < 0) {
		y--;
		m += 12;
	}
	return 365 * (int64_t)y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

/* Parses "Z", "+02:00" or "-0530" after a date: seconds east of Greenwich. */
static enum rk_when zone(const char *p, size_t len, int64_t *ret)
{
	size_t minutes = len == 6 && p[3] == ':' ? 4 : 3;
	int h, m;

	*ret = 0;
	if (!len)
		return RK_WHEN_LOCAL;
	if (len == 1 && (*p == 'Z' || *p == 'z'))
		return RK_WHEN_UTC;
	if ((*p != '+' && *p != '-') || len != minutes + 2)
		return RK_WHEN_BAD;
	h = two(p + 1, 0, 23);
	m = two(p + minutes, 0, 59);
	*ret = (*p == '-' ? -60 : 60) * (h * 60 + m);
	return h < 0 || m < 0 ? RK_WHEN_BAD : RK_WHEN_UTC;
}

/* At least 19 bytes: 2026-11-15T03:51:06 */
static enum rk_when date(struct rk_csv_span c, int64_t *ret)
{
	const char *p = c.p;
	int cent = two(p, 16, 21), year = two(p + 2, 0, 99), month = two(p + 5, 1, 12),
	    day = two(p + 8, 1, 31), h = two(p + 11, 0, 23), m = two(p + 14, 0, 59),
	    s = two(p + 17, 0, 60);
	size_t part = 0, at = 19;
	int64_t east, t;
	enum rk_when kind;

	if ((cent | year | month | day | h | m | s) < 0 || (p[4] != '-' && p[4] != '/') ||
	    p[7] != p[4] || (p[10] != 'T' && p[10] != ' ') || p[13] != ':' || p[16] != ':')
		return RK_WHEN_BAD;
	if (c.len > at && p[at] == '.') {
		part = count_digits(p + at + 1, c.len - at - 1);
		at += part + 1;
	}
	kind = zone(p + at, c.len - at, &east);
	t = days(cent * 100 + year, month, day) * 86400 + h * 3600 + m * 60 + s - east;
	if (__builtin_mul_overflow(t, NS, ret) ||
	    __builtin_add_overflow(*ret, fraction_ns(p + 20, part), ret))
		return RK_WHEN_BAD;
	return kind;
}

static bool is_one_of(struct rk_csv_span c, const char *const *words)
{
	for (; *words; words++)
		if (rk_text_ieq(c.p, c.len, *words))
			return true;
	return false;
}

static bool absent(struct rk_csv_span c)
{
	static const char *const words[] = { "", "N/A", "NA", "None", "null", "-", NULL };

	return is_one_of(c, words);
}

enum rk_when rk_samples_when(struct rk_csv_span c, int64_t *ret_ns)
{
	if (absent(c))
		return RK_WHEN_NONE;
	if (c.len >= 19 && (c.p[4] == '-' || c.p[4] == '/'))
		return date(c, ret_ns);
	return seconds(c, ret_ns);
}

static bool of_unit(char c)
{
	return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '%' || c == '/' || c == ' ';
}

enum rk_value rk_samples_value(struct rk_csv_span c, double *ret)
{
	/* names of states: not numbers, but not missing either */
	static const char *const states[] = { "ENABLED",
					      "DISABLED",
					      "UNTHROTTLED",
					      "THROTTLED",
					      "True",
					      "False",
					      "Not Supported",
					      "Unknown Error",
					      "Insufficient Permissions",
					      "GPU requires reset",
					      NULL };
	struct rk_csv_span n;

	if (rk_num_f64(c.p, c.len, ret) == RK_NUM_OK)
		return RK_VALUE_OK;
	if (absent(c) || is_one_of(c, states))
		return RK_VALUE_NONE;
	n = c;
	if (n.len >= 2 && n.p[0] == '(' && n.p[n.len - 1] == ')')
		n = rk_csv_trim(n.p + 1, n.len - 2);
	while (n.len && of_unit(n.p[n.len - 1]))
		n.len--;
	n = rk_csv_trim(n.p, n.len);
	/* a unit is a few letters, not a whole sentence */
	if (c.len - n.len > 8 || rk_num_f64(n.p, n.len, ret) != RK_NUM_OK)
		return RK_VALUE_BAD;
	return RK_VALUE_OK;
}

/* The number in "3", "card3" or "GPU 3"; false if there is none. */
static bool read_device(struct rk_csv_span c, int64_t *ret)
{
	static const char *const words[] = { "card", "gpu", "device" };

	for (unsigned i = 0; i < 3; i++) {
		size_t n = strlen(words[i]);

		if (rk_text_iprefix(c.p, c.len, words[i])) {
			c = rk_csv_trim(c.p + n, c.len - n);
			break;
		}
	}
	return count_digits(c.p, c.len) == c.len && rk_num_i64(c.p, c.len, ret) == RK_NUM_OK;
}

/* ---- header ---- */

/* Cells between commas; in the text of nvidia-smi dmon between blanks. As rk_csv_split. */
static unsigned split(const char *p, size_t len, bool dmon, struct rk_csv_span *cells, unsigned max)
{
	const char *end = p + len, *from;
	unsigned n = 0;

	if (!dmon || memchr(p, ',', len))
		return rk_csv_split(p, len, cells, max);
	for (;;) {
		while (p < end && (*p == ' ' || *p == '\t' || *p == '\r'))
			p++;
		if (p == end)
			return n;
		if (n == max)
			return max + 1;
		for (from = p; p < end && *p != ' ' && *p != '\t' && *p != '\r'; p++)
			;
		cells[n++] = (struct rk_csv_span){ from, (size_t)(p - from) };
	}
}

int rk_samples_header_parse(const char *head, size_t len, struct rk_samples_header *ret,
			    struct rk_error *err)
{
	/* each query of nvidia-smi that we know has one of these */
	static const char *const nvidia[] = { "utilization.gpu [", "utilization.memory [",
					      "memory.used [",     "memory.total [",
					      "power.draw",        "temperature.gpu",
					      "clocks.",           NULL };
	const char *end = head + len, *line = head;
	size_t n = 0;
	struct rk_samples_header h = { 0 };

	if (len >= 3 && !memcmp(head, "\xef\xbb\xbf", 3))
		head += 3;
	do {
		if (!rk_lines_take(&head, end, &line, &n))
			break;
	} while (!rk_csv_trim(line, n).len);
	h.names = rk_alloc((RK_SAMPLES_MAX_COLUMNS + 1) * sizeof(*h.names));
	if (!h.names)
		return rk_fail_nomem(err);
	h.dmon = n && *line == '#';
	h.ncols = split(line + h.dmon, n - h.dmon, h.dmon, h.names, RK_SAMPLES_MAX_COLUMNS);
	if (h.ncols > RK_SAMPLES_MAX_COLUMNS ||
	    (h.dmon &&
	     (rk_samples_header_find(&h, "gpu") < 0 || rk_samples_header_find(&h, "pid") >= 0)))
		h.ncols = 0; /* a comment, or processes (nvidia-smi pmon) */
	h.has_ns = rk_samples_header_find(&h, "timestamp_ns") >= 0;
	for (unsigned i = 0; i < h.ncols && !h.nvidia; i++)
		for (unsigned k = 0; nvidia[k]; k++)
			h.nvidia |= rk_text_iprefix(h.names[i].p, h.names[i].len, nvidia[k]);
	*ret = h;
	return 0;
}

void rk_samples_header_release(struct rk_samples_header *h)
{
	rk_free(h->names);
	*h = (struct rk_samples_header){ 0 };
}

int rk_samples_header_find(const struct rk_samples_header *h, const char *name)
{
	for (unsigned i = 0; i < h->ncols; i++)
		if (rk_text_ieq(h->names[i].p, h->names[i].len, name))
			return (int)i;
	return -1;
}

/* ---- open ---- */

static int make_columns(struct reader *r, rk_sample_classify *classify, struct rk_error *err)
{
	struct rk_samples_header h = { 0 };
	const void *head;
	const char *end;
	size_t len;
	int rc = rk_instream_head(r->in, &head, &len, err);

	if (rc < 0)
		return rc;
	rc = rk_samples_header_parse(head, len, &h, err);
	if (rc < 0)
		return rc;
	r->ncols = h.ncols;
	r->dmon = h.dmon;
	r->cols = rk_calloc(h.ncols, sizeof(*r->cols));
	if (h.ncols) {
		end = h.names[h.ncols - 1].p + h.names[h.ncols - 1].len;
		r->first = rk_strndup(h.names[0].p, (size_t)(end - h.names[0].p));
	}
	if (!r->cols || !r->first) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	for (unsigned i = 0; i < h.ncols; i++) {
		struct column *c = &r->cols[i];

		classify(&h, i, &c->c);
		if (c->c.role != RK_SAMPLE_VALUE)
			continue;
		rc = rk_strtab_add(r->ctx->names, c->c.own.p, c->c.own.len, &c->own, err);
		if (rc < 0)
			goto out;
		c->metric = c->own;
		c->c.own.p = NULL; /* the header's text is not kept */
		if (c->c.metric &&
		    (rc = rk_strtab_adds(r->ctx->names, c->c.metric, &c->metric, err)) < 0)
			goto out;
		if (c->c.unit && (rc = rk_strtab_adds(r->ctx->names, c->c.unit, &c->unit, err)) < 0)
			goto out;
	}
out:
	rk_samples_header_release(&h);
	return rc;
}

int rk_samples_probe(const struct rk_head *head)
{
	const struct rk_samples_format *f = head->format;
	struct rk_samples_header h;
	bool yes;
	int rc = rk_samples_header_parse(head->data, head->len, &h, NULL);

	if (rc < 0)
		return rc;
	yes = f->is_format(&h);
	rk_samples_header_release(&h);
	return yes ? 90 : 0;
}

int rk_samples_open(const struct rk_reader_ops *ops, struct rk_instream *in, struct rk_context *ctx,
		    struct rk_reader **ret, struct rk_error *err)
{
	const struct rk_samples_format *f = ops->format;
	struct reader *r = rk_calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return rk_fail_nomem(err);
	r->base.ops = ops;
	r->base.tables = RK_TABLE_BIT(RK_SAMPLES);
	r->in = in;
	r->ctx = ctx;
	rc = make_columns(r, f->classify, err);
	if (rc < 0) {
		r->in = NULL; /* on failure it still belongs to the caller */
		rk_samples_close(&r->base);
		return rc;
	}
	*ret = &r->base;
	return 0;
}

void rk_samples_close(struct rk_reader *base)
{
	struct reader *r = (struct reader *)base;

	rk_instream_close(r->in);
	rk_free(r->cols);
	rk_free(r->first);
	rk_free(r);
}

/* ---- rows ---- */

/* Reads the row's time from one of its cells. */
static void read_time(struct source *s, struct rk_csv_span c, enum rk_sample_role role)
{
	enum rk_when kind = RK_WHEN_BAD;
	enum rk_num num;

	if (role == RK_SAMPLE_WHEN) {
		kind = rk_samples_when(c, &s->time);
	} else {
		num = rk_num_i64(c.p, c.len, &s->time);
		if (num == RK_NUM_OK)
			kind = RK_WHEN_UTC;
		else if (num == RK_NUM_SCIENCE)
			kind = RK_WHEN_LOST;
		else if (num == RK_NUM_EMPTY)
			kind = RK_WHEN_NONE;
	}
	s->has_time = kind == RK_WHEN_UTC || kind == RK_WHEN_LOCAL;
	if (kind == RK_WHEN_BAD || kind == RK_WHEN_LOST)
		note(s, kind == RK_WHEN_BAD ? BAD_TIME : DAMAGED_TIME);
	if (kind == RK_WHEN_LOCAL)
		note(s, NO_ZONE);
}

/* The time in column `clock`, of the day in the column before it: "20261115", "03:51:06". */
static void read_date_time(struct source *s, unsigned clock)
{
	const struct rk_csv_span day = s->cells[clock - 1], time = s->cells[clock];
	char text[20];

	if (s->r->cols[clock - 1].c.role != RK_SAMPLE_DATE)
		return;
	if (day.len != 8 || time.len != 8) {
		note(s, BAD_TIME);
		return;
	}
	memcpy(text, day.p, 4);
	text[4] = text[7] = '-';
	memcpy(text + 5, day.p + 4, 2);
	memcpy(text + 8, day.p + 6, 2);
	text[10] = ' ';
	memcpy(text + 11, time.p, 8);
	read_time(s, (struct rk_csv_span){ text, 19 }, RK_SAMPLE_WHEN);
}

/* Splits a line into cells, s->ncells; none if it is not a row. */
static void take_row(struct source *s, const char *p, size_t len)
{
	struct rk_csv_span line = rk_csv_trim(p, len);
	unsigned n = s->r->ncols, got;
	size_t first = strlen(s->r->first);
	bool quoted;

	if (!line.len)
		return;
	if (s->r->dmon && *line.p == '#')
		return;
	if (!s->begun && !s->r->dmon) {
		s->begun = true; /* the first line that is not blank is the header */
		return;
	}
	/* `first` begins inside the quotes of the first name, if there are any */
	quoted = *line.p == '"';
	if (line.len >= first + quoted && !memcmp(line.p + quoted, s->r->first, first)) {
		note(s, REPEATED_HEADER);
		return;
	}
	got = split(p, len, s->r->dmon, s->cells, n);
	/* an extra trailing comma is an empty cell without a name */
	if (got > n && p[len - 1] == ',')
		got = rk_csv_split(p, len - 1, s->cells, n);
	if (got > n || (got < n && !s->lines.ended)) {
		note(s, got > n ? LONG_ROW : CUT_ROW);
		return;
	}
	if (got < n)
		note(s, SHORT_ROW);
	s->ncells = got;
	s->col = 0;
	memset(s->gave, 0, n * sizeof(*s->gave));

	/* the row's own time and device */
	s->has_time = s->has_device = false;
	for (unsigned i = 0; i < s->ncells; i++) {
		const struct rk_sample_column *c = &s->r->cols[i].c;

		if (c->role == RK_SAMPLE_NS || c->role == RK_SAMPLE_WHEN)
			read_time(s, s->cells[i], c->role);
		else if (c->role == RK_SAMPLE_CLOCK && i)
			read_date_time(s, i);
		if (c->role != RK_SAMPLE_DEVICE || !s->cells[i].len)
			continue;
		s->has_device = read_device(s->cells[i], &s->device);
		if (!s->has_device)
			note(s, BAD_DEVICE);
	}
}

/* Has an earlier column already provided this standard metric? */
static bool given_before(const struct source *s, unsigned col)
{
	const struct column *cols = s->r->cols;

	if (cols[col].metric == cols[col].own)
		return false;
	for (unsigned i = 0; i < col; i++)
		if (s->gave[i] && cols[i].metric == cols[col].metric &&
		    cols[i].c.device == cols[col].c.device)
			return true;
	return false;
}

static int put(struct source *s, unsigned field, const void *v, bool has, struct rk_error *err)
{
	size_t size = rk_type_size(s->b.schema->fields[field].type);
	char *data = rk_builder_column(&s->b, field);

	if (!data)
		return rk_fail_nomem(err);
	if (has)
		memcpy(data + s->b.nrows * size, v, size);
	else if (!rk_builder_null(&s->b, field, s->b.nrows))
		return rk_fail_nomem(err);
	return 0;
}

static int take_value(struct source *s, unsigned col, struct rk_csv_span cell, bool element,
		      struct rk_error *err)
{
	const struct column *c = &s->r->cols[col];
	int64_t device = c->c.device >= 0 ? c->c.device : s->device;
	const char *name;
	char text[256];
	uint32_t metric;
	size_t len;
	double v = 0;
	enum rk_value kind = rk_samples_value(cell, &v);
	int rc;

	if (kind == RK_VALUE_BAD)
		note(s, BAD_NUMBER);
	if (kind != RK_VALUE_OK)
		return 0;
	metric = given_before(s, col) ? c->own : c->metric;
	if (element) { /* "name[3]"; very long names are truncated */
		name = rk_strtab_borrow(s->r->ctx->names, metric, &len);
		len = rk_min(len, sizeof(text) - 24);
		memcpy(text, name, len);
		text[len++] = '[';
		len += rk_num_put_i64(text + len, s->index);
		text[len++] = ']';
		rc = rk_strtab_add(s->r->ctx->names, text, len, &metric, err);
		if (rc < 0)
			return rc;
	}
	if (c->c.watts && v > s->most_watts)
		s->most_watts = v;
	v *= c->c.scale;
	s->gave[col] = true;
	if ((rc = put(s, RK_S_TIME, &s->time, s->has_time, err)) < 0 ||
	    (rc = put(s, RK_S_DEVICE, &device, c->c.device >= 0 || s->has_device, err)) < 0 ||
	    (rc = put(s, RK_S_METRIC, &metric, true, err)) < 0 ||
	    (rc = put(s, RK_S_VALUE, &v, true, err)) < 0 ||
	    (rc = put(s, RK_S_UNIT, &c->unit, c->unit != 0, err)) < 0)
		return rc;
	s->b.nrows++;
	return 0;
}

/* Continues with the rest of a list, else with the next cell. */
static int step(struct source *s, struct rk_error *err)
{
	struct rk_csv_span c;
	const char *comma;
	int rc;

	if (s->list.p) {
		comma = memchr(s->list.p, ',', s->list.len);
		if (comma) {
			c = rk_csv_trim(s->list.p, (size_t)(comma - s->list.p));
			s->list.len -= (size_t)(comma + 1 - s->list.p);
			s->list.p = comma + 1;
		} else {
			c = rk_csv_trim(s->list.p, s->list.len);
			s->list = (struct rk_csv_span){ 0 };
		}
		if (c.len >= 2 && c.p[0] == '\'' && c.p[c.len - 1] == '\'')
			c = rk_csv_trim(c.p + 1, c.len - 2);
		rc = take_value(s, s->col - 1, c, true, err);
		s->index++;
		return rc;
	}
	c = s->cells[s->col++];
	if (s->r->cols[s->col - 1].c.role != RK_SAMPLE_VALUE)
		return 0;
	if (c.len < 2 || c.p[0] != '[' || c.p[c.len - 1] != ']')
		return take_value(s, s->col - 1, c, false, err);
	s->list = (struct rk_csv_span){ c.p + 1, c.len - 2 };
	s->index = 0;
	return 0;
}

/* ---- source ---- */

static int samples_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct source *s = (struct source *)base;
	const char *line;
	size_t len;
	int rc = rk_reader_progress(s->r->in, s->r->ctx, err);

	rk_builder_reset(&s->b);
	while (rc >= 0 && s->b.nrows < s->b.cap) {
		if (s->list.p || s->col < s->ncells) {
			rc = step(s, err);
			continue;
		}
		s->ncells = s->col = 0;
		rc = rk_lines_next(&s->lines, &line, &len, err);
		if (rc == 0)
			break;
		if (rc > 0)
			take_row(s, line, len);
	}
	if (rc < 0) {
		rk_error_at(err, rk_instream_path(s->r->in), s->lines.number, 0);
		return rc;
	}
	*batch = rk_builder_batch(&s->b);
	if (s->b.nrows)
		return 1;

	/* end of file: report the problems */
	s->notes[HUGE_ROW] = (struct note){ s->lines.huge, s->lines.huge_line };
	if (s->most_watts > 0 && s->most_watts < 5)
		s->notes[SMALL_POWER] = (struct note){ 1, 0 };
	for (unsigned i = 0; i < NODD; i++)
		if (s->notes[i].count)
			rk_diag_most(s->r->ctx->diag, oddities[i].kind, rk_instream_path(s->r->in),
				     s->notes[i].line, s->notes[i].count, oddities[i].text);
	return 0;
}

static void samples_source_close(struct rk_source *base)
{
	struct source *s = (struct source *)base;

	rk_lines_release(&s->lines);
	rk_builder_release(&s->b);
	rk_free(s->cells);
	rk_free(s->gave);
	rk_free(s);
}

static const struct rk_source_ops samples_source_ops = { .next = samples_next,
							 .close = samples_source_close };

int rk_samples_scan(struct rk_reader *base, enum rk_table t, uint64_t want, struct rk_source **ret,
		    struct rk_error *err)
{
	struct reader *r = (struct reader *)base;
	struct source *s = rk_calloc(1, sizeof(*s));
	int rc;

	(void)want; /* only five columns: always read all of them */
	if (!s)
		return rk_fail_nomem(err);
	s->base = (struct rk_source){ &samples_source_ops, rk_table_schema(t) };
	s->r = r;
	s->cells = rk_calloc((size_t)r->ncols + 1, sizeof(*s->cells));
	s->gave = rk_calloc((size_t)r->ncols + 1, sizeof(*s->gave));
	if (!s->cells || !s->gave)
		rc = rk_fail_nomem(err);
	else if ((rc = rk_builder_init(&s->b, s->base.schema, RK_BATCH_ROWS, err)) >= 0)
		rc = rk_lines_begin(&s->lines, r->in, err);
	if (rc < 0) {
		samples_source_close(&s->base);
		return rc;
	}
	*ret = &s->base;
	return 0;
}
