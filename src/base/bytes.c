/* bytes.c - see bytes.h. */
#include "base/bytes.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/num.h"

void rk_bytes_init(struct rk_bytes *b, size_t max)
{
	*b = (struct rk_bytes){ .max = max };
}

void rk_bytes_release(struct rk_bytes *b)
{
	rk_free(b->data);
	rk_bytes_init(b, b->max);
}

void rk_bytes_clear(struct rk_bytes *b)
{
	b->len = 0;
	b->bad = false;
}

bool rk_bytes_reserve(struct rk_bytes *b, size_t extra)
{
	size_t need, cap;
	uint8_t *data;

	if (b->bad)
		return false;
	if (extra <= b->cap - b->len)
		return true;
	if (extra > b->max || b->len > b->max - extra)
		goto fail;
	need = b->len + extra;
	cap = rk_max(b->cap, 64);
	while (cap < need && cap <= b->max / 2)
		cap *= 2;
	if (cap < need || cap > b->max)
		cap = b->max;
	data = rk_realloc(b->data, cap);
	if (!data)
		goto fail;
	b->data = data;
	b->cap = cap;
	return true;
fail:
	b->bad = true;
	return false;
}

void rk_bytes_put(struct rk_bytes *b, const void *p, size_t len)
{
	if (!len || !rk_bytes_reserve(b, len))
		return;
	memcpy(b->data + b->len, p, len);
	b->len += len;
}

void rk_bytes_puts(struct rk_bytes *b, const char *s)
{
	rk_bytes_put(b, s, strlen(s));
}

void rk_bytes_printf(struct rk_bytes *b, const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (len < 0 || !rk_bytes_reserve(b, (size_t)len + 1)) {
		b->bad = true;
		return;
	}
	va_start(ap, fmt);
	vsnprintf((char *)b->data + b->len, (size_t)len + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)len;
}

const char *rk_bytes_str(struct rk_bytes *b)
{
	if (!rk_bytes_reserve(b, 1))
		return NULL;
	b->data[b->len] = '\0';
	return (const char *)b->data;
}

int rk_bytes_give(struct rk_bytes *b, char **ret, size_t *ret_len, struct rk_error *err)
{
	if (!rk_bytes_str(b)) {
		rk_bytes_release(b);
		return rk_fail_nomem(err);
	}
	*ret = (char *)b->data;
	if (ret_len)
		*ret_len = b->len;
	*b = (struct rk_bytes){ .max = b->max };
	return 0;
}
