/*
 * html_block.h - rows of a lane as text that the browser decodes when they come into view.
 *
 * A block has some thousand rows sorted by start, and is packed on its own:
 *
 *	u32 rows, u64 tick of gaps, u64 tick of durations,
 *	then the columns gap, duration, name, depth
 *
 * Times are multiples of their tick. A gap is the time since the end of the previous row; that of
 * the first row is 0, and its start is the start of the block's first chunk. A duration is stored
 * as the difference from a guess, which follows the durations of the same name. Both are signed: 0,
 * -1, 1, -2, ... are stored as 0, 1, 2, 3. A column is one byte with the number of planes, then the
 * planes, lowest first; a plane has one byte of each value. Everything is compressed with DEFLATE
 * and encoded in base 85.
 *
 * A chunk is the sum of some rows. It is drawn when the rows are too small to see. It ends after
 * RK_HTML_CHUNK_ROWS, or before a gap that is long compared with the chunk.
 */
#ifndef RK_HTML_BLOCK_H
#define RK_HTML_BLOCK_H

#include "base/bytes.h"
#include "base/error.h"

enum {
	RK_HTML_BLOCK_ROWS = 8192,
	RK_HTML_CHUNK_ROWS = 128,
	RK_HTML_CHUNK_MIN = 8,  /* chunks with fewer rows are not split at gaps */
	RK_HTML_GUESSES = 4096, /* names share a guess when their low bits are equal */
	RK_HTML_TALLY = 512,    /* slots for the names of a chunk; a power of two */
	RK_HTML_PLANES = 32,    /* of all columns */
	RK_HTML_CHUNKS = RK_HTML_BLOCK_ROWS / RK_HTML_CHUNK_MIN,
};

/* Limit of durations and gaps in a block: a double holds them exactly, even twice as long. */
#define RK_HTML_TIME_MAX (INT64_C(1) << 51)

struct rk_html_row {
	int64_t start, duration;
	uint32_t name;
	uint32_t depth; /* overlapping rows are drawn below each other */
};

struct rk_html_chunk {
	int64_t start, span;
	uint32_t rows;
	uint32_t name; /* the name with the most time */
	uint8_t busy;  /* share of the span in which a row ran, 0 to 255 */
	bool last;     /* of its block */
};

struct rk_html_tally {
	uint32_t name, chunk;
	int64_t total;
};

/* Memory of one thread. */
struct rk_html_packer {
	uint64_t values[RK_HTML_BLOCK_ROWS];
	int64_t guess[RK_HTML_GUESSES];
	struct rk_html_tally tally[RK_HTML_TALLY];
	uint32_t chunk; /* incremented per chunk, so that tallies need not be cleared */
	struct rk_bytes raw, packed;
	size_t cuts[RK_HTML_PLANES]; /* where planes start in raw */
	size_t ncuts;
};

int rk_html_packer_new(struct rk_html_packer **ret, struct rk_error *err);
void rk_html_packer_free(struct rk_html_packer *p); /* NULL is fine */

/* The lowest `bytes` bytes of v, little-endian. */
void rk_html_number(struct rk_bytes *out, uint64_t v, unsigned bytes);
/* Writes n values as a column. Adds the starts of its planes to `cuts`, which may be NULL. */
void rk_html_column(struct rk_bytes *out, const uint64_t *v, size_t n, size_t *cuts, size_t *ncuts);

/* A packed block; `chunks` has room for RK_HTML_CHUNKS. */
struct rk_html_packed {
	struct rk_bytes text;
	struct rk_html_chunk *chunks;
	size_t nchunks;
};

/* n: 1 to RK_HTML_BLOCK_ROWS rows, sorted by start. Replaces the text. */
int rk_html_block_pack(struct rk_html_packer *p, const struct rk_html_row *rows, size_t n,
		       struct rk_html_packed *ret, struct rk_error *err);

#endif
