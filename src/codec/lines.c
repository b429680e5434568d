/* lines.c - a text file line by line. */
#include "codec/lines.h"

#include <string.h>

#include "base/alloc.h"

enum { BLOCK = 64 << 10 };

int rk_lines_begin(struct rk_lines *l, struct rk_instream *in, struct rk_error *err)
{
	char *buf = l->buf;
	int rc = rk_instream_rewind(in, err);

	if (rc < 0)
		return rc;
	if (!buf)
		buf = rk_alloc(RK_LINES_MAX + BLOCK);
	if (!buf)
		return rk_fail_nomem(err);
	*l = (struct rk_lines){ .in = in, .buf = buf };
	return 0;
}

void rk_lines_release(struct rk_lines *l)
{
	rk_free(l->buf);
	*l = (struct rk_lines){ 0 };
}

/* More text behind what is left, which is moved to the front. */
static int refill(struct rk_lines *l, struct rk_error *err)
{
	size_t left = l->to - l->from, n = 0;
	int rc;

	memmove(l->buf, l->buf + l->from, left);
	l->from = 0;
	l->to = left;
	rc = rk_instream_read(l->in, l->buf + left, BLOCK, &n, err);
	if (rc < 0)
		return rc;
	l->to += n;
	l->eof = !n; /* a packed file that is cut says so only behind its last byte */
	return 0;
}

/* Passes over the rest of a line that is too long. */
static int skip_huge(struct rk_lines *l, struct rk_error *err)
{
	if (!l->huge++)
		l->huge_line = l->number + 1;
	l->number++;
	for (;;) {
		char *nl = memchr(l->buf + l->from, '\n', l->to - l->from);
		int rc;

		if (nl) {
			l->from = (size_t)(nl + 1 - l->buf);
			return 0;
		}
		l->from = l->to;
		if (l->eof)
			return 0;
		rc = refill(l, err);
		if (rc < 0)
			return rc;
	}
}

static void give(struct rk_lines *l, size_t len, bool ended, const char **ret, size_t *ret_len)
{
	const char *p = l->buf + l->from;

	l->from += len + ended;
	l->ended = ended;
	if (!l->number++ && len >= 3 && !memcmp(p, "\xef\xbb\xbf", 3)) {
		p += 3;
		len -= 3;
	}
	if (len && p[len - 1] == '\r')
		len--;
	*ret = p;
	*ret_len = len;
}

int rk_lines_next(struct rk_lines *l, const char **ret, size_t *ret_len, struct rk_error *err)
{
	size_t seen = 0;

	for (;;) {
		size_t left = l->to - l->from;
		char *nl = memchr(l->buf + l->from + seen, '\n', left - seen);
		int rc = 0;

		if (nl) {
			give(l, (size_t)(nl - l->buf) - l->from, true, ret, ret_len);
			return 1;
		}
		if (l->eof && left <= RK_LINES_MAX) {
			if (left)
				give(l, left, false, ret, ret_len);
			return left != 0;
		}
		seen = left;
		if (left > RK_LINES_MAX) {
			rc = skip_huge(l, err);
			seen = 0;
		} else {
			rc = refill(l, err);
		}
		if (rc < 0)
			return rc;
	}
}

bool rk_lines_take(const char **pos, const char *end, const char **ret, size_t *ret_len)
{
	const char *p = *pos, *nl = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
	size_t len = (size_t)((nl ? nl : end) - p);

	if (p >= end)
		return false;
	*pos = nl ? nl + 1 : end;
	if (len && p[len - 1] == '\r')
		len--;
	*ret = p;
	*ret_len = len;
	return true;
}
