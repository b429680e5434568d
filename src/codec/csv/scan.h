/*
 * scan.h - CSV files: parses the header, parses rows into a builder, reads a file as batches.
 *
 * The profilers' CSV is not RFC 4180: names are in quotes but not escaped, so a name may contain
 * commas, quotes and line ends. A plan made from the header tells the type of each cell. The fast
 * path reads ordinary rows. All other rows take the slow path, which counts cells from both ends
 * around the one column that has free text.
 */
#ifndef RK_CSV_SCAN_H
#define RK_CSV_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strtab.h"
#include "codec/instream.h"
#include "table/source.h"

/* ---- the first line ---- */

enum { RK_CSV_MAX_COLUMNS = 4096 };

struct rk_csv_header {
	char **names; /* cells without quotes, white space and control characters */
	unsigned ncols;
	size_t bytes;   /* offset of the first row: after BOM, header and line end */
	unsigned lines; /* lines of the header: a cell may contain a newline */
};

/*
 * `text` is the beginning of a file; `whole`: it is the whole file. Leading blank lines and a UTF-8
 * byte order mark are skipped. RK_E_FORMAT if there is no complete header line.
 */
int rk_csv_header_parse(const char *text, size_t len, bool whole, struct rk_csv_header *ret,
			struct rk_error *err);
void rk_csv_header_release(struct rk_csv_header *h);

/* The column with that name, ignoring case, or -1. */
int rk_csv_header_find(const struct rk_csv_header *h, const char *name);

/* ---- the cells of a single row, for files too small for rk_csv_scan_open ---- */

struct rk_csv_span {
	const char *p; /* in the row, without outer quotes and blanks; not unescaped */
	size_t len;
};

/* Splits a row into at most `max` cells; returns their number, max + 1 if there are more. */
unsigned rk_csv_split(const char *row, size_t len, struct rk_csv_span *cells, unsigned max);

/* Removes blanks at both ends. */
struct rk_csv_span rk_csv_trim(const char *p, size_t len);

/* ---- the type of each cell ---- */

enum rk_cell {
	RK_CELL_SKIP,      /* not wanted; contains no comma */
	RK_CELL_SKIP_TEXT, /* not wanted; may contain anything */
	RK_CELL_I64,
	RK_CELL_SERIAL, /* int64 that is different in each row; it ends the head */
	RK_CELL_I32,
	RK_CELL_U32,  /* kept as the bits of an int32; the format's finish handles large ones */
	RK_CELL_TIME, /* int64 ns; rejects values that lost digits in a spreadsheet */
	RK_CELL_U64,  /* decimal or 0x, kept as the bits of an int64 */
	RK_CELL_F64,
	RK_CELL_STR,
	/* 4, "Agent 4", "GPU 4": the number; "CPU 4": ~4, because "GPU 4" is another device */
	RK_CELL_AGENT,
};

/*
 * A header name that a format knows. An entry with .header NULL ends the list, which continues in
 * .more, if any.
 */
struct rk_csv_bind {
	const char *header;
	enum rk_cell cell;
	unsigned field; /* of the builder's schema; unused for SKIP */
	const struct rk_csv_bind *more;
};

/*
 * `run`: number of columns from here on that are numbers or skipped; the fast path reads them
 * together.
 */
struct rk_csv_op {
	uint8_t cell;
	uint8_t run;
	uint16_t field; /* for SKIP: number of cells */
	uint16_t col;
};

/*
 * A cache of parsed pieces of rows; a piece with equal text is not parsed again. Most rows consist
 * of the same pieces: the first columns (device, queue, thread), a name, and the last columns
 * (registers and sizes, which belong to the kernel). Each thread has its own cache.
 */
enum {
	RK_CSV_ENDS = 1024, /* slots for heads, and as many for tails; two per index */
	RK_CSV_END_TEXT = 80,
	RK_CSV_END_COLS = 16,
	RK_CSV_WORDS = 512,
	RK_CSV_LENS = 256,
};

/* A head or a tail: its text including the comma or newline after it, and its numbers. */
struct rk_csv_end {
	uint8_t len; /* 0: empty */
	char text[RK_CSV_END_TEXT];
	int64_t values[RK_CSV_END_COLS];
};

struct rk_csv_word {
	const char *text; /* in the strtab */
	size_t len;
	uint32_t id;
};

/* The leading digits of a time, which do not change for seconds. */
struct rk_csv_high {
	uint64_t text, value; /* text 0: none */
};

struct rk_csv_memory {
	uint8_t lens[RK_CSV_LENS]; /* by column: length of its last number */
	struct rk_csv_high highs[RK_CSV_LENS];
	size_t head_len; /* of the first head: the bytes before it distinguish heads */
	struct rk_csv_end heads[RK_CSV_ENDS], tails[RK_CSV_ENDS];
	struct rk_csv_word words[RK_CSV_WORDS];
};

/* A wanted number of a head or tail: its index, and its field. */
struct rk_csv_put {
	uint16_t field;
	uint8_t index;
	bool wide; /* int64, else int32 */
};

struct rk_csv_plan {
	unsigned ncols;
	unsigned head_cols, tail_cols; /* 0: not worth caching */
	struct rk_csv_put head_puts[RK_CSV_END_COLS], tail_puts[RK_CSV_END_COLS];
	unsigned nhead_puts, ntail_puts;
	struct rk_csv_op *cols; /* one per column, for the slow path */
	struct rk_csv_op *ops;  /* the same with neighbours merged, for the fast path */
	unsigned nops;
	int free_col; /* the column with free text, -1: none */
};

/*
 * Binds header names to cells; unknown names become SKIP_TEXT. Fields not in `want` are skipped
 * too. The free column is the first STR or SKIP_TEXT column bound in `free_header`.
 */
int rk_csv_plan_make(const struct rk_csv_header *h, const struct rk_csv_bind *binds,
		     const char *free_header, uint64_t want, struct rk_csv_plan *ret,
		     struct rk_error *err);
void rk_csv_plan_release(struct rk_csv_plan *p);

/* Problems of a row, and what happens to the row or the value. */
enum rk_csv_note {
	RK_NOTE_SHORT_ROW,       /* lost */
	RK_NOTE_LONG_ROW,        /* lost */
	RK_NOTE_HUGE_ROW,        /* lost: over RK_CSV_MAX_ROW */
	RK_NOTE_CUT_ROW,         /* lost: the file ends inside it */
	RK_NOTE_REPEATED_HEADER, /* skipped */
	RK_NOTE_BAD_NUMBER,      /* null */
	RK_NOTE_RANGE,           /* null */
	RK_NOTE_FRACTION,        /* the fraction is dropped */
	RK_NOTE_DAMAGED_TIME,    /* null */
	RK_NOTE_LINE_BREAK,      /* kept: a name contains line ends */
	RK_NNOTES
};

enum { RK_CSV_MAX_ROW = 1 << 20, RK_CSV_MAX_RUN = 64 };

/* Destination of cells. The row at index `row` is not counted until rk_csv_commit. */
struct rk_csv_sink {
	struct rk_builder *b;
	void **data; /* the builder's columns, by field */
	size_t row;
	struct rk_strtab *names;
	struct rk_csv_memory *memory; /* NULL: no cache */
	uint16_t nulls[64];           /* fields that are null in this row */
	unsigned nnulls;
	uint32_t notes; /* bits of enum rk_csv_note found in this row */
	struct rk_error *err;
	bool failed; /* out of memory */
};

/*
 * Creates a column for every field that the plan fills. `memory` (zeroed before first use, or NULL)
 * may be shared by any number of sinks of one plan and strtab, one at a time.
 */
int rk_csv_sink_init(struct rk_csv_sink *s, const struct rk_csv_plan *plan, struct rk_builder *b,
		     struct rk_strtab *names, struct rk_csv_memory *memory, struct rk_error *err);

/*
 * Parses a plain row at p that ends before `end`; 96 bytes after `end` and 32 before p must be
 * readable. Returns the beginning of the next line, or NULL if this is not a plain row (then
 * nothing is counted).
 */
const char *rk_csv_row_fast(const struct rk_csv_plan *plan, const char *p, const char *end,
			    struct rk_csv_sink *s);

/*
 * Parses the row in [p, p + len), without its line end. 1: OK; 0: too few cells; 2: too many.
 * Numbers that cannot be read become null and are noted in s->notes.
 */
int rk_csv_row_slow(const struct rk_csv_plan *plan, const char *p, size_t len,
		    struct rk_csv_sink *s);

/* Marks the null fields of the row; s->failed when out of memory. */
void rk_csv_commit_nulls(struct rk_csv_sink *s);

/* Counts the row. */
static inline void rk_csv_commit(struct rk_csv_sink *s)
{
	if (s->nnulls)
		rk_csv_commit_nulls(s);
	s->row++;
}

/* ---- the rows of a file as batches, parsed in parallel ---- */

struct rk_csv_scan {
	struct rk_instream *in; /* borrowed; rewound when the scan begins */
	const struct rk_csv_header *header;
	const struct rk_csv_bind *binds;
	const char *free_header; /* the column with free text, NULL: none */
	const struct rk_schema *schema;
	uint64_t want; /* fields to fill, including those that `finish` needs */
	/*
	 * Called once for each piece, on any thread, with its rows in `b`. Derives fields from
	 * others and may drop rows (by lowering b->nrows). Negative: the scan fails. May be NULL.
	 */
	int (*finish)(void *arg, struct rk_builder *b, struct rk_error *err);
	void *arg;
};

/* Batches come in the order of the file. Problems go to ctx->diag with these kinds: */
#define RK_CSV_WARNINGS                                                                  \
	"short-row", "long-row", "huge-row", "cut-row", "repeated-header", "bad-number", \
		"number-out-of-range", "fraction-cut", "damaged-time", "line-break-in-name"

/* `scan` is copied; everything it points to must outlive the source. */
int rk_csv_scan_open(const struct rk_csv_scan *scan, struct rk_context *ctx, struct rk_source **ret,
		     struct rk_error *err);

#endif
