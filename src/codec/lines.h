/* lines.h - a text file line by line, in bounded memory. */
#ifndef RK_LINES_H
#define RK_LINES_H

#include <stdint.h>

#include "codec/instream.h"

enum { RK_LINES_MAX = 1 << 20 }; /* bytes of one line; a longer one is passed over */

struct rk_lines {
	struct rk_instream *in; /* borrowed */
	char *buf;
	size_t from, to; /* what is read and not yet given */
	bool eof;
	bool ended;               /* the line last given had a line end behind it */
	uint64_t number;          /* of the line last given, from 1 */
	uint64_t huge, huge_line; /* lines passed over, and the first of them */
};

/* From the beginning of the content; a byte order mark is no part of the first line. */
int rk_lines_begin(struct rk_lines *l, struct rk_instream *in, struct rk_error *err);
/* 1: a line without its line end, borrowed until the next call; 0: there are no more. */
int rk_lines_next(struct rk_lines *l, const char **ret, size_t *ret_len, struct rk_error *err);
void rk_lines_release(struct rk_lines *l); /* all zero is fine */

/* The same over bytes in memory: the line at *pos, and *pos moved behind it. */
bool rk_lines_take(const char **pos, const char *end, const char **ret, size_t *ret_len);

#endif
