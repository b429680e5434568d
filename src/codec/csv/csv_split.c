/* csv_split.c - the cells of a single row. */
#include "codec/csv/csv_split.h"

#include <stdbool.h>
#include <string.h>

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

struct rk_csv_span rk_csv_trim(const char *p, size_t len)
{
	for (; len && blank(*p); len--)
		p++;
	while (len && blank(p[len - 1]))
		len--;
	return (struct rk_csv_span){ p, len };
}

/* The comma behind the cell at p, or `end`; a quoted cell may hold commas. */
static const char *cell_end(const char *p, const char *end)
{
	const char *q = p;

	while (q < end && blank(*q))
		q++;
	if (q < end && *q == '"')
		for (q++; q < end && (*q != '"' || (q + 1 < end && q[1] == '"')); q++)
			q += *q == '"';
	if (q >= end || *q != '"')
		q = p; /* no quotes, or an open one: commas count */
	q = memchr(q, ',', (size_t)(end - q));
	return q ? q : end;
}

static struct rk_csv_span bare(struct rk_csv_span c)
{
	if (c.len >= 2 && c.p[0] == '"' && c.p[c.len - 1] == '"')
		return rk_csv_trim(c.p + 1, c.len - 2);
	return c;
}

unsigned rk_csv_split(const char *row, size_t len, struct rk_csv_span *cells, unsigned max)
{
	const char *end = row + len;

	for (unsigned n = 0; n < max;) {
		const char *q = cell_end(row, end);

		cells[n++] = bare(rk_csv_trim(row, (size_t)(q - row)));
		if (q == end)
			return n;
		row = q + 1;
	}
	return max + 1;
}
