/* names.c - readable kernel names. */
#include <string.h>

#include "base/alloc.h"
#include "base/demangle.h"
#include "base/text.h"
#include "table/stages.h"

static size_t strip_suffix(const char *s, size_t len)
{
	static const char *const suffixes[] = { " [clone .kd]", " (.kd)", ".kd", " " };
	bool again = true;

	while (again) {
		again = false;
		for (unsigned i = 0; i < 4; i++) {
			size_t n = strlen(suffixes[i]);

			if (len > n && rk_text_ends(s, len, suffixes[i])) {
				len -= n;
				again = true;
			}
		}
	}
	return len;
}

/* The length of s without one trailing (), <> or [] group; len if there is none. */
static size_t without_group(const char *s, size_t len)
{
	char close = len ? s[len - 1] : 0;
	size_t depth = 0;
	char open;

	switch (close) {
	case ')':
		open = '(';
		break;
	case '>':
		open = '<';
		break;
	case ']':
		open = '[';
		break;
	default:
		return len;
	}
	for (size_t i = len; i-- > 0;) {
		depth += s[i] == close;
		if (s[i] == open && !--depth)
			return i ? i : len;
	}
	return len;
}

/* `void ns::kernel<float, 4>(float*)` becomes kernel, as with `rocprofv3 -T`. */
static void truncated(const char **s, size_t *len)
{
	static const char constant[] = " const";
	size_t shorter = *len;

	if (rk_text_ends(*s, *len, constant))
		shorter = *len -= strlen(constant);
	while ((shorter = without_group(*s, *len)) < *len) {
		*len = shorter;
		while (*len && (*s)[*len - 1] == ' ')
			--*len;
	}
	for (size_t i = *len; i-- > 0;) {
		if ((*s)[i] == ' ' || (i && (*s)[i] == ':' && (*s)[i - 1] == ':')) {
			*s += i + 1;
			*len -= i + 1;
			return;
		}
	}
}

bool rk_name_clean(const char *name, size_t len, const struct rk_name_style *style,
		   struct rk_bytes *out)
{
	struct rk_bytes plain, readable;
	const char *s;

	rk_bytes_init(&plain, len + 1);
	rk_bytes_init(&readable, 256 << 10);
	rk_bytes_put(&plain, name, strip_suffix(name, len));
	s = rk_bytes_str(&plain);
	len = plain.len;
	if (s && !style->mangled && !memchr(s, '\0', len) && rk_demangle(s, &readable)) {
		s = (const char *)readable.data;
		len = readable.len;
	}
	if (s && style->truncate)
		truncated(&s, &len);
	if (s)
		rk_utf8_repair(out, s, len);
	rk_bytes_release(&plain);
	rk_bytes_release(&readable);
	return s && !out->bad;
}

/* ---- the stage ---- */

#define UNKNOWN UINT32_MAX

enum { MAX_CLEAN = 1 << 20 };

struct names {
	struct rk_source base;
	struct rk_source *rows;
	struct rk_context *ctx;
	unsigned field;
	struct rk_name_style style;
	uint32_t *clean; /* recorded id to clean id, UNKNOWN if not yet computed */
	size_t nclean;
	uint32_t *ids; /* the column that replaces the recorded one */
	size_t cap;
	struct rk_column *cols;
	struct rk_batch batch;
};

static int clean_one(struct names *n, uint32_t id, struct rk_error *err)
{
	size_t len, cap = n->nclean ? n->nclean : 1024;
	const char *text = rk_strtab_borrow(n->ctx->names, id, &len);
	struct rk_bytes out;
	uint32_t *clean;
	int rc;

	if (id >= n->nclean) {
		while (cap <= id)
			cap *= 2;
		clean = rk_reallocn(n->clean, cap, sizeof(*clean));
		if (!clean)
			return rk_fail_nomem(err);
		memset(clean + n->nclean, 0xff, (cap - n->nclean) * sizeof(*clean));
		n->clean = clean;
		n->nclean = cap;
	}
	if (rk_utf8_valid(text, len) < len)
		rk_diag_add(n->ctx->diag, "invalid-utf8", "", 0, 1,
			    "kernel name is not UTF-8; bad bytes replaced");
	rk_bytes_init(&out, len * 3 + MAX_CLEAN);
	if (rk_name_clean(text, len, &n->style, &out))
		rc = rk_strtab_add(n->ctx->names, (char *)out.data, out.len, &n->clean[id], err);
	else
		rc = rk_fail_nomem(err);
	rk_bytes_release(&out);
	return rc;
}

static int names_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct names *n = (struct names *)base;
	const struct rk_batch *b;
	const uint32_t *from;
	int rc = rk_source_next(n->rows, &b, err);

	if (rc <= 0)
		return rc;
	from = b->cols[n->field].data;
	if (!from) {
		*batch = b;
		return 1;
	}
	if (n->cap < b->nrows) {
		rk_free(n->ids);
		n->ids = rk_alloc(b->nrows * sizeof(*n->ids));
		n->cap = n->ids ? b->nrows : 0;
		if (!n->ids)
			return rk_fail_nomem(err);
	}
	for (size_t i = 0; i < b->nrows; i++) {
		if (from[i] >= n->nclean || n->clean[from[i]] == UNKNOWN) {
			rc = clean_one(n, from[i], err);
			if (rc < 0)
				return rc;
		}
		n->ids[i] = n->clean[from[i]];
	}
	memcpy(n->cols, b->cols, b->schema->nfields * sizeof(*n->cols));
	n->cols[n->field].data = n->ids;
	n->batch = (struct rk_batch){ b->schema, b->nrows, n->cols };
	*batch = &n->batch;
	return 1;
}

static void names_close(struct rk_source *base)
{
	struct names *n = (struct names *)base;

	rk_source_close(n->rows);
	rk_free(n->clean);
	rk_free(n->ids);
	rk_free(n->cols);
	rk_free(n);
}

static const struct rk_source_ops names_ops = { .next = names_next, .close = names_close };

int rk_names_open(struct rk_source *rows, struct rk_context *ctx, unsigned field,
		  const struct rk_name_style *style, struct rk_source **ret, struct rk_error *err)
{
	struct names *n = rk_calloc(1, sizeof(*n));

	if (!n) {
		rk_source_close(rows);
		return rk_fail_nomem(err);
	}
	n->base = (struct rk_source){ &names_ops, rows->schema };
	n->rows = rows;
	n->ctx = ctx;
	n->field = field;
	n->style = *style;
	n->cols = rk_calloc(rows->schema->nfields, sizeof(*n->cols));
	if (!n->cols) {
		names_close(&n->base);
		return rk_fail_nomem(err);
	}
	*ret = &n->base;
	return 0;
}
