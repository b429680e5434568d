/* instream.h - the bytes of a file, unpacked if it is gzip, xz or zstd (detected by content). */
#ifndef RK_INSTREAM_H
#define RK_INSTREAM_H

#include "io/file.h"

enum rk_packing { RK_PLAIN, RK_GZIP, RK_XZ, RK_ZSTD };

struct rk_instream;

int rk_instream_open(const char *path, struct rk_instream **ret, struct rk_error *err);
const char *rk_instream_path(const struct rk_instream *s); /* as given */
enum rk_packing rk_instream_packing(const struct rk_instream *s);
/* True if rk_instream_rewind works at any time: always, except for pipes. */
bool rk_instream_rewindable(const struct rk_instream *s);
/* Makes a pipe rewindable with a temporary copy. Call it before reading more than the head. */
int rk_instream_keep(struct rk_instream *s, const char *tmpdir, struct rk_error *err);
/* The first bytes (up to 64 KiB of unpacked content), borrowed; reading is not affected. */
int rk_instream_head(struct rk_instream *s, const void **ret, size_t *ret_len,
		     struct rk_error *err);
/*
 * Fills buf as far as the content goes; *ret_len < len only at the end. A truncated or damaged
 * compressed file first gives the bytes that could be unpacked, then RK_E_FORMAT on the next call.
 */
int rk_instream_read(struct rk_instream *s, void *buf, size_t len, size_t *ret_len,
		     struct rk_error *err);
int rk_instream_rewind(struct rk_instream *s, struct rk_error *err);
/* Bytes of the packed file consumed, and its size (0 unknown): for progress. */
void rk_instream_progress(const struct rk_instream *s, uint64_t *ret_done, uint64_t *ret_total);
/*
 * A real file with the plain content, for libraries that need a path: the file itself if it is
 * plain, else an unpacked temporary copy that lives until close. Borrowed.
 */
int rk_instream_plain_path(struct rk_instream *s, const char *tmpdir, const char **ret,
			   struct rk_error *err);
void rk_instream_close(struct rk_instream *s); /* NULL is fine */

/* ---- a text file line by line, in bounded memory ---- */

enum { RK_LINES_MAX = 1 << 20 }; /* bytes of one line; longer lines are skipped */

struct rk_lines {
	struct rk_instream *in; /* borrowed */
	char *buf;
	size_t from, to; /* read but not yet delivered */
	bool eof;
	bool ended;               /* the last line had a line end */
	uint64_t number;          /* of the last line, from 1 */
	uint64_t huge, huge_line; /* skipped lines, and the first of them */
};

/* Starts at the beginning of the content; a byte order mark is skipped. */
int rk_lines_begin(struct rk_lines *l, struct rk_instream *in, struct rk_error *err);
/* 1: a line without its line end, borrowed until the next call; 0: there are no more. */
int rk_lines_next(struct rk_lines *l, const char **ret, size_t *ret_len, struct rk_error *err);
void rk_lines_release(struct rk_lines *l); /* all zero is fine */

/* The same for bytes in memory: returns the line at *pos and moves *pos past it. */
bool rk_lines_take(const char **pos, const char *end, const char **ret, size_t *ret_len);

#endif
