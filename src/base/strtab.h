/* strtab.h - interned strings: equal text, equal id. */
#ifndef RK_STRTAB_H
#define RK_STRTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"

/*
 * Ids count from 0 in order of first appearance; id 0 is always "". Any number of threads may add
 * and borrow at the same time: look-ups take no lock, adding a new text does.
 */
struct rk_strtab;

/* `max_bytes` limits text and bookkeeping together. */
int rk_strtab_new(size_t max_bytes, struct rk_strtab **ret, struct rk_error *err);

/*
 * The text is copied. When the table is full, a new text is replaced by one of 4096 placeholders
 * "(name table full) #xyz", chosen by its hash, and rk_strtab_overflowed() becomes true. Fails only
 * when out of memory.
 */
int rk_strtab_add(struct rk_strtab *t, const char *text, size_t len, uint32_t *ret_id,
		  struct rk_error *err);
/* The same for a terminated text. */
static inline int rk_strtab_adds(struct rk_strtab *t, const char *text, uint32_t *ret_id,
				 struct rk_error *err)
{
	return rk_strtab_add(t, text, strlen(text), ret_id, err);
}

/* Borrowed; valid until the table is freed. Terminated by a NUL that len does not count. */
const char *rk_strtab_borrow(const struct rk_strtab *t, uint32_t id, size_t *ret_len);

uint32_t rk_strtab_count(const struct rk_strtab *t);
bool rk_strtab_overflowed(const struct rk_strtab *t);
void rk_strtab_free(struct rk_strtab *t); /* NULL is fine */

#endif
