/* bytes.h - growable bytes with a fixed maximum. */
#ifndef RK_BYTES_H
#define RK_BYTES_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rk_error;

/*
 * After the first failure (`bad`: out of memory or past `max`) every call does nothing, so a writer
 * may append a whole page and test once. data is not NUL-terminated; use rk_bytes_str for that.
 */
struct rk_bytes {
	uint8_t *data;
	size_t len, cap, max;
	bool bad;
};

void rk_bytes_init(struct rk_bytes *b, size_t max);
void rk_bytes_release(struct rk_bytes *b);
void rk_bytes_clear(struct rk_bytes *b); /* keeps the memory, forgets content and `bad` */

bool rk_bytes_reserve(struct rk_bytes *b, size_t extra); /* room for `extra` more bytes */
void rk_bytes_put(struct rk_bytes *b, const void *p, size_t len);
void rk_bytes_puts(struct rk_bytes *b, const char *s);
void rk_bytes_printf(struct rk_bytes *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * Passes the terminated text to the caller, who frees *ret with rk_free (rk_text_free outside the
 * library). RK_E_NOMEM when bad. `b` is empty afterwards either way. ret_len may be NULL.
 */
int rk_bytes_give(struct rk_bytes *b, char **ret, size_t *ret_len, struct rk_error *err);
/* Terminated text; borrowed, valid until the next call. NULL when bad. */
const char *rk_bytes_str(struct rk_bytes *b);

static inline void rk_bytes_put_u8(struct rk_bytes *b, uint8_t v)
{
	if (b->len < b->cap && !b->bad)
		b->data[b->len++] = v;
	else
		rk_bytes_put(b, &v, 1);
}

#endif
