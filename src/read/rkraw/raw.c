/*
 * raw.c - flight recorder files: header, blocks, definitions, clocks, and the reader around them.
 * Assumes that every byte of a file may be wrong.
 */
#include "read/rkraw/raw.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "io/file.h"

__extension__ typedef __int128 i128;

enum { MAX_TURNS = 1 << 18 }; /* max blocks to sort */

/*
 * Sequence number and position of a block, and how much of it was there when the file was opened:
 * all tables are read up to the same record, even if the program still runs.
 */
struct turn {
	uint64_t sequence, index;
	uint32_t len;
};

struct raw_file {
	struct rk_file *file;
	struct rk_raw_header h;
	bool sum_wrong, cut;
	uint64_t nblocks; /* includes the header; the last may be incomplete */
	/* about all blocks; set by survey */
	struct turn *turns; /* data blocks sorted by sequence; NULL: use file order */
	uint64_t nturns;
	uint64_t open, damaged; /* data blocks */
	uint64_t records;       /* records that data blocks claim to have */
	uint32_t types;
};

/* ---- header ---- */

static void release_file(struct raw_file *f)
{
	rk_file_close(f->file);
	f->file = NULL;
	rk_free(f->turns);
	f->turns = NULL;
}

/* Call release_file even if it fails. */
static int open_file(const char *path, struct raw_file *f, struct rk_error *err)
{
	size_t len = 0;
	uint32_t size;
	int rc;

	rc = rk_file_open(path, &f->file, err);
	if (rc < 0)
		return rc;
	rc = rk_file_pread(f->file, &f->h, sizeof(f->h), 0, &len, err);
	if (rc < 0)
		return rc;
	if (len < sizeof(f->h))
		return rk_fail(err, RK_E_FORMAT, "the file ends inside its header");
	if (memcmp(f->h.magic, RK_RAW_MAGIC, sizeof(f->h.magic)) != 0)
		return rk_fail(err, RK_E_FORMAT, "not a recorder file");
	if (f->h.order != RK_RAW_ORDER)
		return rk_fail(err, RK_E_UNSUPPORTED,
			       "written on a machine with a different byte order");
	if (f->h.format != RK_RAW_FORMAT)
		return rk_fail(err, RK_E_UNSUPPORTED,
			       "recorder format %" PRIu32 "; this rockit reads format %d",
			       f->h.format, RK_RAW_FORMAT);
	size = f->h.block_bytes;
	if (size < RK_RAW_BLOCK_MIN || size > RK_RAW_BLOCK_MAX || size & (size - 1))
		return rk_fail(err, RK_E_FORMAT, "invalid block size: %" PRIu32 " bytes", size);
	f->sum_wrong = rk_raw_sum(0, &f->h, offsetof(struct rk_raw_header, sum)) != f->h.sum;
	f->nblocks = f->file->size / size;
	if (f->file->size % size) {
		f->cut = true;
		f->nblocks++;
	}
	return 0;
}

/* Operations that were submitted to a device but did not finish. */
static uint64_t pending_of(const struct rk_raw_header *h)
{
	uint64_t begun = 0, ended = 0;

	for (unsigned i = 0; i < RK_RAW_STRIPES; i++) {
		begun += h->stripes[i].begun;
		ended += h->stripes[i].ended;
	}
	return begun > ended ? begun - ended : 0;
}

/* Blocks that the program took for other records while `rockit snap` copied them. */
static uint64_t copied_over_of(const struct rk_raw_header *h)
{
	return h->flags & RK_RAW_SNAP ? h->copied_over : 0;
}

static void skipped_of(const struct rk_raw_header *h, uint64_t ret[RK_RAW_SKIPS])
{
	memset(ret, 0, RK_RAW_SKIPS * sizeof(*ret));
	for (unsigned i = 0; i < RK_RAW_STRIPES; i++)
		for (unsigned k = 0; k < RK_RAW_SKIPS; k++)
			ret[k] += rk_min(h->stripes[i].skipped[k], UINT64_MAX - ret[k]);
}

static uint64_t dropped_of(const struct rk_raw_header *h)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < RK_RAW_REASONS; i++)
		if (__builtin_add_overflow(sum, h->dropped[i], &sum))
			return UINT64_MAX;
	return sum;
}

/* ---- blocks ---- */

enum block_fate { EMPTY, GOOD, DAMAGED, CHANGED };

/* Checks only the 64-byte block header. `room`: bytes of payload in the file. */
static enum block_fate judge(const struct rk_raw_block *b, size_t room)
{
	if ((!b->magic && !b->state) || b->state == RK_RAW_TAKEN)
		return EMPTY;
	if (b->magic != RK_RAW_BLOCK_MAGIC)
		return DAMAGED;
	if (b->state == RK_RAW_FREE)
		return EMPTY;
	if (b->state != RK_RAW_OPEN && b->state != RK_RAW_SEALED)
		return DAMAGED;
	if (b->kind != RK_RAW_DATA && b->kind != RK_RAW_DEFINITIONS)
		return DAMAGED;
	return (uint32_t)b->published > room ? DAMAGED : GOOD;
}

/* Reads the 64-byte header of a block, not its payload. */
static int peek_block(struct raw_file *f, uint64_t index, struct rk_raw_block *ret,
		      enum block_fate *fate, struct rk_error *err)
{
	uint64_t at = index * f->h.block_bytes, left = f->file->size - at;
	size_t len = 0;
	int rc = rk_file_pread(f->file, ret, sizeof(*ret), at, &len, err);

	if (rc < 0)
		return rc;
	if (left > f->h.block_bytes)
		left = f->h.block_bytes;
	*fate = EMPTY;
	if (len == sizeof(*ret))
		*fate = judge(ret, (size_t)left - sizeof(*ret));
	return 0;
}

/*
 * Reads block `index` into buf (block_bytes). If it is good, *ret and the payload after it are
 * valid. In a window the program may take a block for other records meanwhile; an open block has no
 * checksum, so its header is read again.
 */
static int read_block(struct raw_file *f, uint64_t index, uint8_t *buf, struct rk_raw_block *ret,
		      enum block_fate *fate, struct rk_error *err)
{
	size_t len = 0;
	int rc = rk_file_pread(f->file, buf, f->h.block_bytes, index * f->h.block_bytes, &len, err);

	if (rc < 0)
		return rc;
	*fate = EMPTY;
	if (len < sizeof(*ret))
		return 0;
	memcpy(ret, buf, sizeof(*ret));
	*fate = judge(ret, len - sizeof(*ret));
	if (*fate == GOOD && ret->state == RK_RAW_SEALED &&
	    rk_raw_block_sum(ret, buf + sizeof(*ret), (uint32_t)ret->published) != ret->sum)
		*fate = DAMAGED;
	if (*fate == GOOD && ret->state == RK_RAW_OPEN && f->h.flags & RK_RAW_WINDOW) {
		struct rk_raw_block now;
		enum block_fate then;

		rc = peek_block(f, index, &now, &then, err);
		if (rc < 0)
			return rc;
		if (then != GOOD || now.sequence != ret->sequence)
			*fate = CHANGED;
	}
	return 0;
}

/* ---- definitions ---- */

/* Number of fields after the id, by tag: those that must be there, and those that may. */
static const struct {
	uint8_t must, may;
} fields_of[] = {
	[RK_RAW_STRING] = { 1, 0 },   [RK_RAW_DEVICE] = { 9, 3 }, [RK_RAW_QUEUE] = { 3, 1 },
	[RK_RAW_FUNCTION] = { 5, 2 }, [RK_RAW_SHAPE] = { 8, 0 },  [RK_RAW_NOTE] = { 1, 0 },
};
enum { MOST_FIELDS = 12 };

static bool is_definition(uint8_t tag)
{
	return tag < sizeof(fields_of) / sizeof(fields_of[0]) && fields_of[tag].must;
}

static int keep_definition(struct raw_names *n, struct raw_definition d, const uint64_t *v,
			   struct rk_error *err)
{
	unsigned nv = fields_of[d.tag].must + fields_of[d.tag].may;
	struct raw_definition *defs = rk_grow(n->defs, &n->cap, n->n + 1, sizeof(*defs));
	uint64_t *fields = rk_grow(n->fields, &n->cap_fields, n->nfields + nv, sizeof(*fields));

	if (defs)
		n->defs = defs;
	if (fields)
		n->fields = fields;
	if (!defs || !fields || !rk_index_add(&n->by_id, rk_hash_u64(d.id), (uint32_t)n->n))
		return rk_fail_nomem(err);
	d.at = (uint32_t)n->nfields;
	memcpy(fields + n->nfields, v, nv * sizeof(*v));
	n->nfields += nv;
	defs[n->n++] = d;
	return 0;
}

static const struct raw_definition *find_definition(const struct raw_names *n, uint64_t id)
{
	uint64_t hash = rk_hash_u64(id);
	size_t at;

	for (uint32_t i = rk_index_first(&n->by_id, hash, &at); i != RK_INDEX_NONE;
	     i = rk_index_next(&n->by_id, hash, &at))
		if (n->defs[i].id == id)
			return &n->defs[i];
	return NULL;
}

const uint64_t *rk_raw_name(const struct raw_names *n, uint64_t id, uint32_t tag)
{
	const struct raw_definition *d = find_definition(n, id);

	return d && d->tag == tag ? &n->fields[d->at] : NULL;
}

static void release_names(struct raw_names *n)
{
	rk_free(n->defs);
	rk_free(n->fields);
	rk_index_release(&n->by_id);
}

/* A window may have a definition twice: the first one is kept. */
static int add_definition(struct raw_names *n, uint8_t tag, struct rk_cursor *c,
			  struct rk_error *err)
{
	uint64_t id = rk_cursor_varint(c), v[MOST_FIELDS] = { 0 };
	const uint64_t *words;
	const char *text;
	uint32_t name;
	size_t len;
	int rc;

	if (tag != RK_RAW_STRING) {
		unsigned nv = fields_of[tag].must;

		for (unsigned i = 0; i < nv; i++)
			v[i] = rk_cursor_varint(c);
		for (unsigned i = nv; i < nv + fields_of[tag].may && rk_cursor_left(c); i++)
			v[i] = rk_cursor_varint(c);
	}
	if (c->bad) {
		rk_oddities_count(n->odd, "damaged-record", 0, 1, "a definition is too short");
		return 0;
	}
	if (!id || id > UINT32_MAX) {
		rk_oddities_count(n->odd, "definition-limit", 0, 1,
				  "a definition has the invalid number %" PRIu64 "; skipped", id);
		return 0;
	}
	if (find_definition(n, id))
		return 0;
	if (n->n == RAW_MAX_DEFINITIONS || n->nfields + MOST_FIELDS > RAW_MAX_FIELDS) {
		rk_oddities_count(n->odd, "definition-limit", 0, 1,
				  "more than %zu definitions; the rest is skipped", n->n);
		return 0;
	}
	if (tag == RK_RAW_STRING) {
		len = rk_cursor_left(c);
		rc = rk_strtab_add(n->ctx->names, (const char *)rk_cursor_take(c, len), len, &name,
				   err);
		if (rc < 0)
			return rc;
		v[0] = name;
	}
	/* the collector's message is reported with the warnings about the file */
	if (tag == RK_RAW_NOTE && (words = rk_raw_name(n, v[0], RK_RAW_STRING))) {
		text = rk_strtab_borrow(n->ctx->names, (uint32_t)words[0], &len);
		rk_oddities_count(n->odd, "collector", 0, 1, "%.*s", (int)len, text);
	}
	return keep_definition(n, (struct raw_definition){ .id = (uint32_t)id, .tag = tag }, v,
			       err);
}

static void add_calibration(struct raw_names *n, struct rk_cursor *c)
{
	struct raw_calibration k;
	struct raw_clock *clock = n->clocks;
	uint64_t device = rk_cursor_varint(c);

	k.device_ns = (int64_t)raw_zigzag(c);
	k.boot_ns = (int64_t)raw_zigzag(c);
	raw_zigzag(c); /* CLOCK_MONOTONIC_RAW, only for people */
	k.error_ns = (int64_t)raw_zigzag(c);
	if (c->bad || k.error_ns < 0) {
		rk_oddities_count(n->odd, "damaged-record", 0, 1, "a calibration is damaged");
		return;
	}
	while (clock < n->clocks + n->nclocks && clock->device != device)
		clock++;
	if (clock == n->clocks + RAW_MAX_CLOCKS)
		return;
	if (clock == n->clocks + n->nclocks) {
		clock->device = device;
		clock->first = clock->best = clock->last = k;
		n->nclocks++;
	}
	/* in a window they are repeated, and their blocks are not in order */
	if (k.error_ns < clock->best.error_ns)
		clock->best = k;
	if (k.device_ns < clock->first.device_ns)
		clock->first = k;
	if (k.device_ns >= clock->last.device_ns)
		clock->last = k;
}

/* One block of definitions. */
static int add_names(struct raw_names *n, const uint8_t *payload, size_t len, struct rk_error *err)
{
	struct rk_cursor c = rk_cursor_over(payload, len);
	int rc = 0;

	while (rc == 0 && rk_cursor_left(&c)) {
		uint8_t tag = rk_cursor_u8(&c);
		uint64_t size = rk_cursor_varint(&c);
		struct rk_cursor record;

		if (c.bad || size > rk_cursor_left(&c)) {
			rk_oddities_count(n->odd, "damaged-record", 0, 1,
					  "a definition extends past the end of its block");
			return 0;
		}
		record = rk_cursor_over(rk_cursor_take(&c, (size_t)size), (size_t)size);
		if (tag == RK_RAW_CALIBRATION)
			add_calibration(n, &record);
		else if (is_definition(tag))
			rc = add_definition(n, tag, &record, err);
		else
			rk_oddities_count(n->odd, "unknown-record", 0, 1,
					  "unknown record kind %u (from a newer rockit?); skipped",
					  tag);
	}
	return rc;
}

/* ---- clocks ---- */

enum line { NO_LINE, LINE, JUMPED };

/*
 * The line through the first and the last calibration: slope minus 1 is *more / *run. The two must
 * be a second apart. Clocks are slewed by at most 500 ppm; ten times that means a different clock,
 * or that the machine was suspended.
 */
static enum line line_of(const struct raw_clock *c, i128 *run, i128 *more)
{
	*run = (i128)c->last.device_ns - c->first.device_ns;
	*more = (i128)c->last.boot_ns - c->first.boot_ns - *run;
	if (*run < 1000000000)
		return NO_LINE;
	if (*more > *run / 200 || -*more > *run / 200)
		return JUMPED;
	return LINE;
}

bool rk_raw_time(const struct raw_clock *c, int64_t device_ns, int64_t *ret)
{
	i128 run, more, t = device_ns;

	if (c && line_of(c, &run, &more) == LINE) {
		t -= c->first.device_ns;
		t += t * more / run + c->first.boot_ns;
	} else if (c) {
		t += (i128)c->best.boot_ns - c->best.device_ns;
	}
	if (t < INT64_MIN || t > INT64_MAX)
		return false;
	*ret = (int64_t)t;
	return true;
}

const struct raw_clock *rk_raw_clock(const struct raw_names *n, uint64_t device)
{
	for (unsigned i = 0; i < n->nclocks; i++)
		if (n->clocks[i].device == device)
			return &n->clocks[i];
	return NULL;
}

/* ---- survey ---- */

static int by_sequence(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;

	if (x->sequence != y->sequence)
		return x->sequence < y->sequence ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

/* Checks all blocks and reads the definitions. */
static int survey(struct raw_file *f, struct raw_names *names, struct rk_error *err)
{
	uint8_t *buf = rk_alloc(f->h.block_bytes);
	int rc = 0;

	if (!buf)
		return rk_fail_nomem(err);
	/*
	 * In a window blocks are not in order, so we sort them. If there are too many, we use file
	 * order.
	 */
	if (f->nblocks <= MAX_TURNS) {
		f->turns = rk_alloc((size_t)f->nblocks * sizeof(*f->turns));
		if (!f->turns) {
			rc = rk_fail_nomem(err);
			goto out;
		}
	}
	for (uint64_t i = 1; i < f->nblocks; i++) {
		struct rk_raw_block b;
		enum block_fate fate;

		rc = peek_block(f, i, &b, &fate, err);
		if (rc < 0)
			goto out;
		if (fate == GOOD && b.kind != RK_RAW_DEFINITIONS) {
			f->open += b.state == RK_RAW_OPEN;
			f->records += b.published >> 32;
			f->types |= b.types;
			if (f->turns)
				f->turns[f->nturns++] =
					(struct turn){ b.sequence, i, (uint32_t)b.published };
		} else if (fate == GOOD) {
			rc = read_block(f, i, buf, &b, &fate, err);
			if (rc < 0)
				goto out;
			/* the file may still be growing */
			if (fate == GOOD && b.kind == RK_RAW_DEFINITIONS &&
			    (rc = add_names(names, buf + sizeof(b), (uint32_t)b.published, err)) <
				    0)
				goto out;
		}
		f->damaged += fate == DAMAGED;
	}
	if (f->nturns)
		qsort(f->turns, f->nturns, sizeof(*f->turns), by_sequence);
out:
	rk_free(buf);
	return rc;
}

/* ---- records in blocks ---- */

struct rkraw {
	struct rk_reader base;
	struct rk_instream *in;
	struct rk_context *ctx;
	struct raw_file f;
	struct raw_names names;
	struct rk_oddities odd; /* problems with definitions: reported with every table */
};

struct rkraw_source {
	struct rk_source base;
	struct rkraw *r;
	struct raw_rows rows;
	struct rk_oddities odd;
	uint8_t *buf;
	uint64_t done; /* blocks processed so far */
	struct rk_cursor c;
	size_t len; /* of the block below the cursor */
	struct raw_history past;
	size_t next_agent;
	bool over;
};

/* Finds the next block with rows for the table. Returns 1, or 0 if there are no more. */
static int next_block(struct rkraw_source *s, struct rk_error *err)
{
	uint32_t tags = rk_raw_tags_of(s->rows.table);
	struct raw_file *f = &s->r->f;
	uint64_t nblocks = f->turns ? f->nturns : f->nblocks - 1;

	while (s->done < nblocks) {
		uint64_t n = s->done++, index = f->turns ? f->turns[n].index : 1 + n;
		enum block_fate fate;
		struct rk_raw_block b;
		int rc = peek_block(f, index, &b, &fate, err);

		if (rc < 0)
			return rc;
		if (fate != GOOD || b.kind != RK_RAW_DATA || !(b.types & tags))
			continue;
		rc = read_block(f, index, s->buf, &b, &fate, err);
		if (rc < 0)
			return rc;
		if (fate == GOOD && f->turns && b.sequence != f->turns[n].sequence)
			fate = CHANGED;
		if (fate == GOOD) {
			uint32_t len = (uint32_t)b.published;

			if (f->turns && len > f->turns[n].len)
				len = f->turns[n].len;
			s->c = rk_cursor_over(s->buf + sizeof(b), len);
			s->len = len;
			rk_raw_begin(&s->past, b.tid);
			s->past.old = f->h.flags & RK_RAW_SWITCHED && b.sequence < f->h.live_from;
			return 1;
		}
		if (s->rows.again)
			continue;
		if (fate == DAMAGED)
			rk_oddities_count(&s->odd, "damaged-block", index, 1,
					  "a block has a wrong checksum; skipped");
		else
			rk_oddities_count(&s->odd, "changed-block", index, 1,
					  "blocks that the program overwrote while they were read; "
					  "skipped (rockit snap copies a window first)");
	}
	return 0;
}

/* Reads up to a full batch or the end of the block. */
static void read_records(struct rkraw_source *s)
{
	while (rk_cursor_left(&s->c) && s->rows.b.nrows < s->rows.b.cap) {
		uint64_t where = s->done << 32 | (s->len - rk_cursor_left(&s->c));
		uint8_t tag = rk_cursor_u8(&s->c);
		uint64_t len = rk_cursor_varint(&s->c);
		struct rk_cursor record = { 0 };

		if (!s->c.bad && len <= rk_cursor_left(&s->c)) {
			record = rk_cursor_over(rk_cursor_take(&s->c, (size_t)len), (size_t)len);
			s->past.where = where;
			if (rk_raw_rows_add(&s->rows, &s->past, tag, record))
				continue;
		}
		if (!s->rows.again)
			rk_oddities_count(&s->odd, "damaged-record", 0, 1,
					  "a record is damaged; the rest of its block is skipped");
		s->c = rk_cursor_over(NULL, 0);
	}
}

/* ---- source ---- */

/* Reports warnings about the file, its clocks and its records, once. */
static void tell(struct rkraw_source *s)
{
	const char *path = rk_instream_path(s->r->in);
	const struct raw_names *n = &s->r->names;
	const struct raw_file *f = &s->r->f;
	const struct rk_raw_header *h = &f->h;
	uint64_t pending = pending_of(h), dropped = dropped_of(h);
	struct rk_oddities names = s->r->odd, *odd = &s->odd;
	uint64_t skipped[RK_RAW_SKIPS], left_out = 0;
	i128 run, more;

	if (s->over)
		return;
	s->over = true;
	if (h->clean != 1 && !(h->flags & RK_RAW_SNAP))
		rk_oddities_count(
			odd, "unclean-end", 0, pending ? pending : 1,
			"the process did not exit normally (killed, _exit, exec?): %" PRIu64
			" operations were still running, %" PRIu64 " blocks were not sealed",
			pending, f->open);
	else if (h->clean == 1 && pending)
		rk_oddities_count(odd, "unfinished-operations", 0, pending,
				  "operations were submitted to a device but never seen to finish");
	if (f->sum_wrong)
		rk_oddities_count(odd, "damaged-header", 0, 1,
				  "the header has a wrong checksum: its names may be wrong");
	if (f->cut)
		rk_oddities_count(odd, "cut-file", 0, 1, "the file ends inside a block");
	if (f->damaged)
		rk_oddities_count(odd, "damaged-block", 0, f->damaged,
				  "unreadable blocks; skipped");
	if (dropped)
		rk_oddities_count(odd, "dropped-records", 0, dropped,
				  "records dropped: %" PRIu64 " at the size limit, %" PRIu64
				  " disk errors, %" PRIu64 " in signal handlers, %" PRIu64
				  " names, %" PRIu64 " all blocks busy, %" PRIu64 " by the runtime",
				  h->dropped[RK_RAW_FULL], h->dropped[RK_RAW_DISK],
				  h->dropped[RK_RAW_REENTRY], h->dropped[RK_RAW_NAMES],
				  h->dropped[RK_RAW_BUSY], h->dropped[RK_RAW_SOURCE]);
	skipped_of(h, skipped);
	for (unsigned i = 0; i < RK_RAW_SKIPS; i++)
		left_out += rk_min(skipped[i], UINT64_MAX - left_out);
	if (left_out)
		rk_oddities_count(odd, "skipped-records", 0, left_out,
				  "records left out on purpose: %" PRIu64
				  " while recording was off, "
				  "%" PRIu64 " by sample, %" PRIu64 " by every, %" PRIu64
				  " outside of the range",
				  skipped[RK_RAW_ASLEEP], skipped[RK_RAW_SAMPLE],
				  skipped[RK_RAW_EVERY], skipped[RK_RAW_RANGE]);
	if (copied_over_of(h))
		rk_oddities_count(odd, "overwritten-in-copy", 0, copied_over_of(h),
				  "blocks that the program overwrote while they were copied");
	if (h->overwritten)
		rk_oddities_count(odd, "overwritten-records", 0, h->overwritten,
				  "the oldest records were overwritten: only the newest are kept");
	for (unsigned i = 0; i < n->nclocks; i++)
		if (line_of(&n->clocks[i], &run, &more) == JUMPED)
			rk_oddities_count(odd, "clock-drift", 0, 1,
					  "a device clock and the host clock drifted apart by over "
					  "0.5 %%: one fixed offset is used");
	if (s->rows.join)
		rk_raw_join_tell(s->rows.join, odd);
	rk_oddities_tell(odd, s->r->ctx->diag, path);
	rk_oddities_tell(&names, s->r->ctx->diag, path);
}

static int rkraw_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct rkraw_source *s = (struct rkraw_source *)base;
	const struct rk_context *ctx = s->r->ctx;
	enum rk_table table = s->rows.table;
	int rc = 1;

	if (ctx->progress &&
	    ctx->progress(ctx->progress_arg, s->done * s->r->f.h.block_bytes, s->r->f.file->size))
		return rk_fail(err, RK_E_CANCELLED, "cancelled");
	rk_raw_rows_reset(&s->rows);
	if (table == RK_AGENTS)
		rk_raw_agents(&s->rows, &s->next_agent);
	else if (table == RK_PROCESSES && !s->over)
		rk_raw_process(&s->rows);
	while (table != RK_AGENTS && table != RK_PROCESSES && s->rows.b.nrows < s->rows.b.cap) {
		if (!rk_cursor_left(&s->c))
			rc = next_block(s, err);
		if (rc < 0)
			return rc;
		if (rc > 0) {
			read_records(s);
			continue;
		}
		if (!s->rows.join || rk_raw_rows_left(&s->rows) || !rk_raw_join_again(s->rows.join))
			break;
		s->rows.again = true;
		s->done = 0;
	}
	if (s->rows.nomem)
		return rk_fail_nomem(err);
	*batch = rk_raw_rows_batch(&s->rows);
	if (!s->rows.b.nrows || table == RK_PROCESSES)
		tell(s);
	return s->rows.b.nrows > 0;
}

static void rkraw_source_close(struct rk_source *base)
{
	struct rkraw_source *s = (struct rkraw_source *)base;

	rk_builder_release(&s->rows.b);
	rk_raw_join_free(s->rows.join);
	rk_free(s->buf);
	rk_free(s);
}

static int rkraw_scan(struct rk_reader *base, enum rk_table t, uint64_t want,
		      struct rk_source **ret, struct rk_error *err)
{
	static const struct rk_source_ops ops = { rkraw_next, rkraw_source_close };
	struct rkraw *r = (struct rkraw *)base;
	struct rkraw_source *s = rk_calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return rk_fail_nomem(err);
	s->base = (struct rk_source){ &ops, rk_table_schema(t) };
	s->r = r;
	s->rows = (struct raw_rows){
		.ctx = r->ctx,
		.names = &r->names,
		.h = &r->f.h,
		.table = t,
		.want = want,
		.odd = &s->odd,
		.nvidia = !strncmp(r->f.h.collector, "cupti", sizeof(r->f.h.collector)),
		.rocm = !strncmp(r->f.h.collector, "rocm", sizeof(r->f.h.collector))
	};
	s->buf = rk_alloc(r->f.h.block_bytes);
	if (t == RK_KERNELS)
		s->rows.join = rk_raw_join_new(r->f.types, r->f.turns != NULL);
	if (s->buf && (s->rows.join || t != RK_KERNELS))
		rc = rk_raw_rows_init(&s->rows, err);
	else
		rc = rk_fail_nomem(err);
	if (rc < 0) {
		rkraw_source_close(&s->base);
		return rc;
	}
	*ret = &s->base;
	return 0;
}

/* ---- reader ---- */

static int rkraw_probe(const struct rk_head *head)
{
	return head->len >= 8 && !memcmp(head->data, RK_RAW_MAGIC, 8) ? 100 : 0;
}

static void rkraw_close(struct rk_reader *base)
{
	struct rkraw *r = (struct rkraw *)base;

	rk_instream_close(r->in);
	release_names(&r->names);
	release_file(&r->f);
	rk_free(r);
}

static int rkraw_open(const struct rk_reader_ops *ops, struct rk_instream *in,
		      struct rk_context *ctx, struct rk_reader **ret, struct rk_error *err)
{
	struct rkraw *r = rk_calloc(1, sizeof(*r));
	const char *path;
	int rc;

	if (!r)
		return rk_fail_nomem(err);
	r->base.ops = ops;
	r->ctx = ctx;
	r->names.ctx = ctx;
	r->names.odd = &r->odd;
	if ((rc = rk_instream_plain_path(in, ctx->tmpdir, &path, err)) < 0 ||
	    (rc = open_file(path, &r->f, err)) < 0 || (rc = survey(&r->f, &r->names, err)) < 0) {
		rkraw_close(&r->base); /* `in` still belongs to the caller */
		return rc;
	}
	/* always has kernels, even if the table is empty */
	r->base.tables = RK_TABLE_BIT(RK_KERNELS) | RK_TABLE_BIT(RK_PROCESSES);
	for (int t = 0; t < RK_NTABLES; t++)
		if (rk_raw_tags_of((enum rk_table)t) & r->f.types)
			r->base.tables |= RK_TABLE_BIT(t);
	for (size_t i = 0; i < r->names.n; i++)
		if (r->names.defs[i].tag == RK_RAW_DEVICE)
			r->base.tables |= RK_TABLE_BIT(RK_AGENTS);
	r->in = in;
	*ret = &r->base;
	return 0;
}

const struct rk_reader_ops rk_reader_rkraw = {
	.name = "rkraw",
	.help = "raw files of rockit's own collectors (.rkraw)",
	.probe = rkraw_probe,
	.open = rkraw_open,
	.scan = rkraw_scan,
	.close = rkraw_close,
	.serial = true,
};

/* ---- a file as a whole ---- */

int rk_rkraw_info(const char *path, struct rk_rkraw_info *ret, struct rk_error *err)
{
	struct rk_context ctx = { 0 };
	struct rk_oddities odd = { 0 };
	struct raw_names *n = rk_calloc(1, sizeof(*n));
	struct raw_file f = { 0 };
	const struct rk_raw_header *h = &f.h;
	i128 run, more;
	int rc;

	if (!n)
		return rk_fail_nomem(err);
	n->ctx = &ctx;
	n->odd = &odd;
	if ((rc = rk_strtab_new(RK_NAMES_MAX_BYTES, &ctx.names, err)) < 0 ||
	    (rc = open_file(path, &f, err)) < 0 || (rc = survey(&f, n, err)) < 0)
		goto out;

	*ret = (struct rk_rkraw_info){
		.pid = h->pid,
		.ppid = h->ppid,
		.clean = h->clean == 1,
		.window = h->flags & RK_RAW_WINDOW,
		.records = f.records,
		.dropped = dropped_of(h),
		.overwritten = h->overwritten,
		.pending = pending_of(h),
		.damaged_blocks = f.damaged,
		.start_ns = h->start.boot_ns,
		.end_ns = h->last[h->last_slot & 1].boot_ns,
		.clock_error_ns = -1,
	};
	memcpy(ret->collector, h->collector, sizeof(h->collector));
	memcpy(ret->dropped_for, h->dropped, sizeof(ret->dropped_for));
	skipped_of(h, ret->skipped);
	ret->copied_over = copied_over_of(h);
	if (ret->clean)
		ret->end_ns = h->end.boot_ns;
	for (unsigned i = 0; i < n->nclocks; i++) {
		const struct raw_clock *c = &n->clocks[i];
		int64_t error = c->best.error_ns;

		if (line_of(c, &run, &more) == LINE) {
			error = c->first.error_ns;
			if (c->last.error_ns > error)
				error = c->last.error_ns;
		}
		if (error > ret->clock_error_ns)
			ret->clock_error_ns = error;
	}
	_Static_assert(sizeof(ret->note) >= sizeof(odd.list[0].message), "room for the words");
	for (unsigned i = 0; i < RK_ODDITIES; i++)
		if (odd.list[i].kind && !strcmp(odd.list[i].kind, "collector"))
			memcpy(ret->note, odd.list[i].message, sizeof(odd.list[i].message));
out:
	release_file(&f);
	release_names(n);
	rk_free(n);
	rk_strtab_free(ctx.names);
	return rc;
}

void rk_raw_names_free(struct raw_names *n)
{
	if (n)
		release_names(n);
	rk_free(n);
}

int rk_raw_names_load(const char *path, struct rk_context *ctx, struct rk_oddities *odd,
		      struct raw_names **ret, struct rk_error *err)
{
	struct raw_names *n = rk_calloc(1, sizeof(*n));
	struct raw_file f = { 0 };
	int rc;

	if (!n)
		return rk_fail_nomem(err);
	n->ctx = ctx;
	n->odd = odd;
	if ((rc = open_file(path, &f, err)) == 0 && (rc = survey(&f, n, err)) == 0) {
		*ret = n;
		n = NULL;
	}
	release_file(&f);
	rk_raw_names_free(n);
	return rc;
}
