/* csv_header.c - the first line of a CSV file. */
#include "codec/csv/csv_header.h"

#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

/* Reading position: `pos` is at the beginning of a cell or behind the header's end. */
struct scan {
	const char *pos, *end;
	unsigned lines;
	bool done; /* the line end was met */
};

static bool drop(char c)
{
	return (unsigned char)c <= ' ' || c == '"' || c == 0x7f;
}

/* The end of the cell at s->pos; quotes hide commas and line ends. NULL: it never ends. */
static const char *cell_end(struct scan *s, bool whole)
{
	bool quoted = false;
	const char *p = s->pos;

	for (; p < s->end; p++) {
		if (*p == '"')
			quoted = !quoted;
		else if (*p == '\n' && quoted)
			s->lines++;
		else if (!quoted && (*p == ',' || *p == '\n'))
			return p;
	}
	return whole && !quoted ? p : NULL;
}

static int add_name(struct rk_csv_header *h, const char *from, const char *to, struct rk_error *err)
{
	size_t n = 0;
	char *name;

	if (h->ncols == RK_CSV_MAX_COLUMNS)
		return rk_fail(err, RK_E_LIMIT, "header has more than %d columns",
			       RK_CSV_MAX_COLUMNS);
	name = rk_alloc((size_t)(to - from) + 1);
	if (!name)
		return rk_fail_nomem(err);
	for (; from < to; from++)
		if (!drop(*from))
			name[n++] = *from;
	name[n] = '\0';
	h->names[h->ncols++] = name;
	return 0;
}

static void pass_blank(struct scan *s)
{
	if (s->end - s->pos >= 3 && !memcmp(s->pos, "\xef\xbb\xbf", 3))
		s->pos += 3;
	while (s->pos < s->end && (*s->pos == '\n' || *s->pos == '\r')) {
		s->lines += *s->pos == '\n';
		s->pos++;
	}
}

static int next_cell(struct scan *s, struct rk_csv_header *h, bool whole, struct rk_error *err)
{
	const char *to = cell_end(s, whole);
	int rc;

	if (!to)
		return rk_fail(err, RK_E_FORMAT, "the header line does not end");
	rc = add_name(h, s->pos, to, err);
	if (rc < 0)
		return rc;
	s->done = to == s->end || *to == '\n';
	s->pos = to == s->end ? to : to + 1;
	return 0;
}

int rk_csv_header_parse(const char *text, size_t len, bool whole, struct rk_csv_header *ret,
			struct rk_error *err)
{
	struct scan s = { .pos = text, .end = text + len, .lines = 1 };
	struct rk_csv_header h = { 0 };
	int rc = 0;

	h.names = rk_calloc(RK_CSV_MAX_COLUMNS, sizeof(*h.names));
	if (!h.names)
		return rk_fail_nomem(err);
	pass_blank(&s);
	if (s.pos == s.end)
		rc = rk_fail(err, RK_E_FORMAT, "the file is empty");
	while (rc == 0 && !s.done)
		rc = next_cell(&s, &h, whole, err);
	if (rc < 0) {
		rk_csv_header_release(&h);
		return rc;
	}
	h.bytes = (size_t)(s.pos - text);
	h.lines = s.lines;
	*ret = h;
	return 0;
}

void rk_csv_header_release(struct rk_csv_header *h)
{
	for (unsigned i = 0; i < h->ncols; i++)
		rk_free(h->names[i]);
	rk_free(h->names);
	*h = (struct rk_csv_header){ 0 };
}

int rk_csv_header_find(const struct rk_csv_header *h, const char *name)
{
	/* most differ in their first letter already */
	for (unsigned i = 0; i < h->ncols; i++)
		if ((h->names[i][0] | 0x20) == (name[0] | 0x20) &&
		    rk_text_ieq(h->names[i], strlen(h->names[i]), name))
			return (int)i;
	return -1;
}
