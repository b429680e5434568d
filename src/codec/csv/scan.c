/*
 * scan.c - reads the rows of a CSV file as batches.
 *
 * The text is read in blocks. A block is cut into pieces at line beginnings. One round on the
 * thread pool parses all pieces of a block, each into its own builder, while one task of the same
 * round reads (and unpacks) the next block. The builders of a round are delivered in order while
 * the next round is running.
 *
 * Where may a piece begin? A name may contain a line end, so not every line begins a row. But a
 * line that is a complete row by itself always does, because a row never continues over such a
 * line. Pieces begin at such lines. So do blocks, unless there is no such line near their end; then
 * the last piece leaves its unfinished row to the next block. So the result does not depend on how
 * the text is cut.
 */
#include "codec/csv/scan.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

enum {
	PIECE_BYTES = 96 << 10,
	PIECES_PER_THREAD = 4,
	PADDING = 128, /* on both sides of the text: the fast path reads past its ends */
	HEADROOM = RK_CSV_MAX_ROW + PADDING, /* before a block: an unfinished row */
	MAX_TRIES = 32,                      /* lines to check for one that begins a row */
	MAX_JOINED_LINES = 64,               /* max lines of one name */
};

struct note {
	uint64_t count;
	uint64_t line; /* of the first problem, relative to the piece */
};

struct piece {
	const char *from, *to; /* from: the next row to parse */
	bool last;             /* the text ends with this piece */
	bool open;             /* its last row may continue in the next block */
	bool stopped;          /* stopped before such a row, which begins at `from` */
	bool again;            /* has more rows than fit into its builder */
	bool handed;           /* its builder was delivered */
	struct rk_builder b;
	uint64_t lines;
	struct note notes[RK_NNOTES];
	int rc;
	struct rk_error err;
};

/* mem: HEADROOM, then up to the block's size, then PADDING. [from, to) is text. */
struct block {
	char *mem;
	size_t from, to;
};

/* The pieces of one block. */
struct round {
	struct piece *pieces;
	unsigned npieces, at;  /* at: the piece to deliver next */
	uint64_t lines_before; /* lines skipped before its first piece */
	bool huge;             /* a row that is too long follows its last piece */
};

struct csv_source {
	struct rk_source base;
	struct rk_csv_scan scan;
	struct rk_csv_plan plan;
	struct rk_context *ctx;
	size_t block_bytes, piece_rows;
	struct round rounds[2];
	struct round *front; /* being delivered */
	struct round *back;  /* being parsed; NULL: none */
	struct rk_job job;
	struct rk_csv_memory *memory; /* one for each thread */
	unsigned max_pieces;
	struct block cur, next;
	const char *limit;               /* text from here on belongs to the next block */
	bool begun, eof, done, skipping; /* skipping: inside a row that is too long */
	struct note notes[RK_NNOTES];    /* of all delivered pieces; lines of the file */
	uint64_t line;                   /* of the first line not yet delivered */
	struct rk_builder probe;         /* for testing whether a line is a plain row */
	int read_rc;
	struct rk_error read_err;
};

static const char *const warning_names[RK_NNOTES] = { RK_CSV_WARNINGS };
static const char *const warning_texts[RK_NNOTES] = {
	"row has fewer cells than the header; skipped",
	"row has more cells than the header; skipped",
	"row is longer than 1 MiB; skipped",
	"the file ends inside this row; skipped",
	"repeated header line; skipped",
	"cell is not a number; treated as missing",
	"number does not fit its column; treated as missing",
	"fraction of an integer dropped",
	"time has lost digits (saved by a spreadsheet?); not used for timing",
	"name contains a line end; lines joined",
};

static void note(struct piece *p, enum rk_csv_note n)
{
	if (!p->notes[n].count++)
		p->notes[n].line = p->lines;
}

static void note_bits(struct piece *p, uint32_t bits)
{
	for (; bits; bits &= bits - 1)
		note(p, (enum rk_csv_note)__builtin_ctz(bits));
}

static size_t quotes_in(const char *p, size_t len)
{
	size_t n = 0;
	const char *q, *end = p + len;

	while ((q = memchr(p, '"', (size_t)(end - p)))) {
		n++;
		p = q + 1;
	}
	return n;
}

static bool is_header(const struct rk_csv_header *h, const char *p, size_t len)
{
	struct rk_csv_header other;
	bool same;

	if (!h->ncols || len < strlen(h->names[0]) ||
	    !rk_text_iprefix(p + (*p == '"'), len - (*p == '"'), h->names[0]))
		return false;
	if (rk_csv_header_parse(p, len, true, &other, NULL) < 0)
		return false;
	same = other.ncols == h->ncols;
	for (unsigned i = 0; same && i < h->ncols; i++)
		same = !strcmp(h->names[i], other.names[i]);
	rk_csv_header_release(&other);
	return same;
}

static const char *line_after(const char *p, const char *end)
{
	const char *nl = memchr(p, '\n', (size_t)(end - p));

	return nl ? nl + 1 : end;
}

/* Length of the line [p, next) without its line end. */
static size_t line_len(const char *p, const char *next)
{
	size_t len = (size_t)(next - p);

	if (len && p[len - 1] == '\n')
		len--;
	if (len && p[len - 1] == '\r')
		len--;
	return len;
}

/*
 * Whether the line [p, next) is an ordinary row by itself. A line with an unpaired quote may be the
 * end of a row whose name contains a line end, even if it looks like a row.
 */
static bool whole_row(struct csv_source *src, const char *p, const char *next,
		      struct rk_csv_sink *sink)
{
	if (quotes_in(p, (size_t)(next - p)) % 2)
		return false;
	if (rk_csv_row_fast(&src->plan, p, next, sink))
		return true;
	sink->notes = 0;
	return next - p <= RK_CSV_MAX_ROW &&
	       rk_csv_row_slow(&src->plan, p, line_len(p, next), sink) == 1 && !sink->notes;
}

/*
 * The row at p is incomplete, perhaps because a name in it contains a line end. Appends lines that
 * are not rows themselves until the quotes are paired, and tries once. Returns the next line, or
 * NULL.
 */
static const char *join_lines(struct csv_source *src, struct piece *p, struct rk_csv_sink *sink,
			      const char *from, const char *next)
{
	size_t quotes = quotes_in(from, (size_t)(next - from));
	unsigned lines = 1;

	if (quotes % 2 == 0)
		return NULL;
	while (quotes % 2 && next < p->to && lines < MAX_JOINED_LINES) {
		const char *more = line_after(next, p->to);

		if (more - from > RK_CSV_MAX_ROW || whole_row(src, next, more, sink))
			return NULL;
		quotes += quotes_in(next, (size_t)(more - next));
		next = more;
		lines++;
	}
	/* leave it to the next block, which has room for it in front */
	if (quotes % 2 && next == p->to && p->open &&
	    src->cur.mem + src->cur.to - from <= RK_CSV_MAX_ROW) {
		p->stopped = true;
		return NULL;
	}
	sink->notes = 0;
	if (rk_csv_row_slow(&src->plan, from, line_len(from, next), sink) != 1 ||
	    sink->notes >> RK_NOTE_BAD_NUMBER & 1)
		return NULL;
	note(p, RK_NOTE_LINE_BREAK);
	note_bits(p, sink->notes);
	rk_csv_commit(sink);
	p->lines += lines - 1;
	return next;
}

static const char *odd_row(struct csv_source *src, struct piece *p, struct rk_csv_sink *sink,
			   const char *from)
{
	const char *next = line_after(from, p->to), *joined;
	size_t len = line_len(from, next);
	int cells = 2;

	if (!rk_csv_trim(from, len).len)
		return next;
	if (is_header(src->scan.header, from, len)) {
		note(p, RK_NOTE_REPEATED_HEADER);
		return next;
	}
	sink->notes = 0;
	if (len <= RK_CSV_MAX_ROW)
		cells = rk_csv_row_slow(&src->plan, from, len, sink);
	/* the first line of a name with a line end may have enough commas to look like a row */
	if ((cells != 1 || sink->notes >> RK_NOTE_BAD_NUMBER & 1) && quotes_in(from, len) % 2) {
		joined = join_lines(src, p, sink, from, next);
		if (joined || p->stopped)
			return joined;
		sink->notes = 0;
		if (cells == 1)
			cells = rk_csv_row_slow(&src->plan, from, len, sink);
	}
	if (cells == 1) {
		note_bits(p, sink->notes);
		rk_csv_commit(sink);
		return next;
	}
	if (cells == 0 && p->last && next == p->to && next[-1] != '\n')
		note(p, RK_NOTE_CUT_ROW);
	else if (len > RK_CSV_MAX_ROW)
		note(p, RK_NOTE_HUGE_ROW);
	else if (cells)
		note(p, RK_NOTE_LONG_ROW);
	else
		note(p, RK_NOTE_SHORT_ROW);
	return next;
}

static void parse_piece(struct csv_source *src, struct piece *p, struct rk_csv_memory *memory)
{
	struct rk_csv_sink sink;
	const char *next;

	rk_builder_reset(&p->b);
	p->lines = 0;
	memset(p->notes, 0, sizeof(p->notes));
	p->rc = rk_csv_sink_init(&sink, &src->plan, &p->b, src->ctx->names, memory, &p->err);
	while (p->rc == 0 && p->from < p->to && sink.row < p->b.cap) {
		next = rk_csv_row_fast(&src->plan, p->from, p->to, &sink);
		if (next && next - p->from <= RK_CSV_MAX_ROW)
			rk_csv_commit(&sink);
		else if (!sink.failed)
			next = odd_row(src, p, &sink, p->from);
		if (sink.failed)
			p->rc = rk_fail_nomem(&p->err);
		if (sink.failed || p->stopped)
			break;
		p->from = next;
		p->lines++;
	}
	p->again = p->from < p->to && !p->stopped;
	p->b.nrows = sink.row;
	if (p->rc == 0 && src->scan.finish && p->b.nrows)
		p->rc = src->scan.finish(src->scan.arg, &p->b, &p->err);
}

static int read_block(struct csv_source *src, struct block *b, struct rk_error *err)
{
	char message[600];
	size_t len = 0, more = 0;
	int rc = rk_instream_read(src->scan.in, b->mem + HEADROOM, src->block_bytes, &len, err);

	if (rc == 0 && len < src->block_bytes)
		rc = rk_instream_read(src->scan.in, b->mem + HEADROOM + len, 1, &more, err);
	b->from = HEADROOM;
	b->to = HEADROOM + len;
	/* a hash reads some bytes past either end of a row, only to choose a slot */
	memset(b->mem + b->from - PADDING, 0, PADDING);
	memset(b->mem + b->to, 0, PADDING);
	if (rc == 0 && len == src->block_bytes)
		return 0;
	src->eof = true;
	if (rc != RK_E_FORMAT)
		return rc;
	/* a damaged or truncated compressed file ends here: its good rows are kept */
	snprintf(message, sizeof(message), "%s; rows before that are kept", err->message);
	rk_diag_most(src->ctx->diag, "damaged-file", rk_instream_path(src->scan.in), 0, 1, message);
	rk_error_clear(err);
	return 0;
}

/* Task 0 of a round reads the next block, the others parse. */
static void round_task(void *arg, size_t i, unsigned worker)
{
	struct csv_source *src = arg;

	if (i)
		parse_piece(src, &src->back->pieces[i - 1], &src->memory[worker]);
	else if (!src->eof)
		src->read_rc = read_block(src, &src->next, &src->read_err);
}

/* Whether a piece may begin with the line at p. */
static bool begins_row(struct csv_source *src, const char *p, const char *end)
{
	struct rk_csv_sink sink;

	return rk_csv_sink_init(&sink, &src->plan, &src->probe, src->ctx->names, NULL, NULL) == 0 &&
	       whole_row(src, p, line_after(p, end), &sink);
}

/* The position after the last line end, or `from`. */
static const char *last_line(const char *from, const char *to)
{
	const char *nl = memrchr(from, '\n', (size_t)(to - from));

	return nl ? nl + 1 : from;
}

/*
 * Where this block's text may end: at the last line that begins a row; the rest goes to the next
 * block. False if there is no such line nearby: then it ends after the last line end.
 */
static bool block_limit(struct csv_source *src, const char *from, const char *to, const char **ret)
{
	const char *end = last_line(from, to), *begin;

	*ret = end;
	for (unsigned tries = 0; tries < MAX_TRIES && end > from; tries++, end = begin) {
		begin = last_line(from, end - 1);
		if (begin > from && to - begin <= RK_CSV_MAX_ROW && begins_row(src, begin, end)) {
			*ret = begin;
			return true;
		}
	}
	return false;
}

static void add_piece(struct round *r, const char *from, const char *to, bool last)
{
	struct piece *p = &r->pieces[r->npieces++];

	p->from = from;
	p->to = to;
	p->last = last;
	p->open = p->stopped = p->handed = false;
}

/* If no line begins a row, the text stays one piece, which is parsed in several steps. */
static void cut_pieces(struct csv_source *src, struct round *r, const char *from, const char *to,
		       bool last)
{
	r->npieces = r->at = 0;
	while (to - from > PIECE_BYTES + PIECE_BYTES / 2 && r->npieces + 1 < src->max_pieces) {
		const char *cut = line_after(from + PIECE_BYTES, to);

		while (cut < to && !begins_row(src, cut, to))
			cut = line_after(cut, to);
		if (cut == to)
			break;
		add_piece(r, from, cut, false);
		from = cut;
	}
	if (from < to)
		add_piece(r, from, to, last);
}

/* Starts parsing the current block and reading the next one. */
static void start_round(struct csv_source *src)
{
	struct round *r = &src->rounds[src->front == &src->rounds[0]];
	struct block *b = &src->cur;
	const char *from, *to, *nl;
	bool last = src->eof, whole = true;

	/* move the rest of the last round in front of the block that was read in the meantime */
	if (src->limit) {
		const struct round *f = src->front;
		const struct piece *p = f->npieces ? &f->pieces[f->npieces - 1] : NULL;
		struct block done = *b;
		size_t len;

		from = p && p->stopped ? p->from : src->limit;
		len = (size_t)(b->mem + b->to - from);
		src->next.from -= len;
		memcpy(src->next.mem + src->next.from, from, len);
		memset(src->next.mem + src->next.from - PADDING, 0, PADDING);
		*b = src->next;
		src->next = done;
	}

	/* skip the rest of a row that is too long */
	r->lines_before = 0;
	if (src->skipping) {
		nl = memchr(b->mem + b->from, '\n', b->to - b->from);
		b->from = nl ? (size_t)(nl + 1 - b->mem) : b->to;
		src->skipping = !nl;
		r->lines_before = nl != NULL;
	}

	/* find where this block ends */
	from = b->mem + b->from;
	to = b->mem + b->to;
	src->limit = to;
	if (!last)
		whole = block_limit(src, from, to, &src->limit);
	r->huge = to - src->limit > RK_CSV_MAX_ROW;
	if (r->huge) {
		src->skipping = true;
		b->to = (size_t)(src->limit - b->mem);
	}
	cut_pieces(src, r, from, src->limit, last);
	if (r->npieces)
		r->pieces[r->npieces - 1].open = !last && !whole && !src->skipping;
	src->done = last;

	src->read_rc = 0;
	src->back = r;
	src->job = (struct rk_job){ .fn = round_task, .arg = src, .n = r->npieces + 1 };
	rk_pool_start(src->ctx->pool, &src->job);
}

/* The running round becomes the front, and the next one starts. 0: end of the text. */
static int next_round(struct csv_source *src, struct rk_error *err)
{
	bool text_needed = false;

	if (!src->back && !src->done)
		start_round(src);
	if (!src->back)
		return 0;
	rk_pool_finish(src->ctx->pool, &src->job);
	src->front = src->back;
	src->back = NULL;
	src->line += src->front->lines_before;
	if (src->read_rc < 0) {
		if (err)
			*err = src->read_err;
		rk_error_at(err, rk_instream_path(src->scan.in), 0, 0);
		return src->read_rc;
	}
	if (src->ctx->progress) {
		uint64_t done, total;

		rk_instream_progress(src->scan.in, &done, &total);
		if (src->ctx->progress(src->ctx->progress_arg, done, total))
			return rk_fail(err, RK_E_CANCELLED, "cancelled");
	}
	/* an unfinished piece still needs its text: the next block must not overwrite it */
	for (unsigned i = 0; i < src->front->npieces; i++)
		text_needed |= src->front->pieces[i].again;
	if (!src->done && !text_needed)
		start_round(src);
	return 1;
}

/* Reads the first block, after the header, which may be longer than a block. */
static int begin(struct csv_source *src, struct rk_error *err)
{
	size_t left = src->scan.header->bytes, len;
	int rc;

	while (left) {
		size_t want = left < src->block_bytes ? left : src->block_bytes;

		rc = rk_instream_read(src->scan.in, src->cur.mem, want, &len, err);
		if (rc < 0)
			return rc;
		if (len < want)
			return rk_fail(err, RK_E_IO, "'%s' was truncated while it was being read",
				       rk_instream_path(src->scan.in));
		left -= len;
	}
	src->line = src->scan.header->lines + 1;
	src->begun = true;
	rc = read_block(src, &src->cur, &src->read_err);
	if (rc < 0 && err)
		*err = src->read_err;
	return rc;
}

static int csv_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct csv_source *src = (struct csv_source *)base;
	struct note *notes = src->notes;
	int rc;

	if (!src->begun) {
		rc = begin(src, err);
		if (rc < 0)
			return rc;
	}
	for (;;) {
		struct round *r = src->front;
		struct piece *p = &r->pieces[r->at];

		if (r->at == r->npieces) {
			/* counted after all lines before it */
			if (r->huge && !notes[RK_NOTE_HUGE_ROW].count++)
				notes[RK_NOTE_HUGE_ROW].line = src->line;
			r->huge = false;
			rc = next_round(src, err);
			if (rc < 0)
				return rc;
			if (rc == 0)
				break;
			continue;
		}
		if (p->handed)
			parse_piece(src, p, &src->memory[0]);
		p->handed = true;
		/* its warnings: convert the lines to lines of the file */
		for (unsigned n = 0; n < RK_NNOTES; n++) {
			if (p->notes[n].count && !notes[n].count)
				notes[n].line = src->line + p->notes[n].line;
			notes[n].count += p->notes[n].count;
		}
		src->line += p->lines;
		if (p->rc < 0) {
			if (err)
				*err = p->err;
			return p->rc;
		}
		r->at += !p->again;
		if (p->b.nrows) {
			*batch = rk_builder_batch(&p->b);
			return 1;
		}
	}
	/* each problem is reported once: reading the file again would repeat it */
	for (unsigned n = 0; n < RK_NNOTES; n++)
		if (notes[n].count)
			rk_diag_most(src->ctx->diag, warning_names[n],
				     rk_instream_path(src->scan.in), notes[n].line, notes[n].count,
				     warning_texts[n]);
	return 0;
}

static void csv_close(struct rk_source *base)
{
	struct csv_source *src = (struct csv_source *)base;

	if (src->back)
		rk_pool_finish(src->ctx->pool, &src->job);
	for (unsigned r = 0; r < 2; r++) {
		struct piece *pieces = src->rounds[r].pieces;

		for (unsigned i = 0; pieces && i < src->max_pieces; i++)
			rk_builder_release(&pieces[i].b);
		rk_free(pieces);
	}
	rk_builder_release(&src->probe);
	rk_free(src->memory);
	rk_free(src->cur.mem);
	rk_free(src->next.mem);
	rk_csv_plan_release(&src->plan);
	rk_free(src);
}

static const struct rk_source_ops csv_source_ops = { .next = csv_next, .close = csv_close };

static int make_buffers(struct csv_source *src, struct rk_error *err)
{
	unsigned threads = rk_pool_threads(src->ctx->pool);
	int rc = rk_builder_init(&src->probe, src->scan.schema, 1, err);

	if (rc < 0)
		return rc;
	src->block_bytes = (size_t)threads * PIECES_PER_THREAD * PIECE_BYTES;
	if (src->block_bytes > RK_TEXT_BLOCK_BYTES)
		src->block_bytes = RK_TEXT_BLOCK_BYTES;
	src->max_pieces = (unsigned)((src->block_bytes + HEADROOM) / PIECE_BYTES) + 2;
	/* a row has at least one byte per column; a piece with more rows takes several steps */
	src->piece_rows = 2 * PIECE_BYTES / src->plan.ncols + MAX_TRIES + 2;
	src->memory = rk_calloc(threads, sizeof(*src->memory));
	/* not zeroed: it is large, and small files come in hundreds */
	src->cur.mem = rk_alloc(HEADROOM + src->block_bytes + PADDING);
	src->next.mem = rk_alloc(HEADROOM + src->block_bytes + PADDING);
	if (!src->memory || !src->cur.mem || !src->next.mem)
		return rk_fail_nomem(err);
	src->front = &src->rounds[0];
	for (unsigned i = 0; i < 2; i++) {
		struct round *r = &src->rounds[i];

		r->pieces = rk_calloc(src->max_pieces, sizeof(*r->pieces));
		if (!r->pieces)
			return rk_fail_nomem(err);
		for (unsigned k = 0; k < src->max_pieces; k++) {
			rc = rk_builder_init(&r->pieces[k].b, src->scan.schema, src->piece_rows,
					     err);
			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

int rk_csv_scan_open(const struct rk_csv_scan *scan, struct rk_context *ctx, struct rk_source **ret,
		     struct rk_error *err)
{
	struct csv_source *src = rk_calloc(1, sizeof(*src));
	int rc;

	if (!src)
		return rk_fail_nomem(err);
	src->base = (struct rk_source){ &csv_source_ops, scan->schema };
	src->scan = *scan;
	src->ctx = ctx;
	rc = rk_csv_plan_make(scan->header, scan->binds, scan->free_header, scan->want, &src->plan,
			      err);
	if (rc < 0 || (rc = make_buffers(src, err)) < 0 ||
	    (rc = rk_instream_rewind(scan->in, err)) < 0) {
		csv_close(&src->base);
		return rc;
	}
	*ret = &src->base;
	return 0;
}
