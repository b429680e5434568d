/*
 * diff_match.h - which kernel of one side is which of the other.
 *
 * By name first. Of those left over, two are the same kernel under another name when their
 * functions have the same name without template arguments and generated suffixes, half of the whole
 * name is the same, their launches are similar in number (at most twice) and size (at most sixteen
 * times), and no better pair is there for either. The result does not depend on which side is A.
 */
#ifndef RK_DIFF_MATCH_H
#define RK_DIFF_MATCH_H

#include "base/bytes.h"
#include "diff/diff_side.h"

/* Of one base name and side, at most so many of those left over are tried, the longest first. */
enum { RK_MATCH_TRIED = 64 };

struct rk_pair {
	const struct rk_side_name *a, *b; /* NULL: appeared, vanished */
	bool renamed;
};

/* *ret is owned by the caller: rk_free. By name (of A where it has one). */
int rk_match(const struct rk_side *a, const struct rk_side *b, struct rk_pair **ret, size_t *ret_n,
	     struct rk_error *err);

/* Appends the part of a kernel's name that stays when it is generated anew. False: no memory. */
bool rk_match_base(const char *name, struct rk_bytes *out);

#endif
