/*
 * cut.c - the times of the records of a copied file, and the copy without those that are too old.
 *
 * Fields are differences from earlier records of their block: where a record is removed, those of
 * the next are written again. That never needs more room than both had before.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/num.h"
#include "read/rkraw/copy.h"
#include "read/rkraw/raw.h"

/* ---- the fields of a record ---- */

/* The values that differences refer to. */
enum base { TID, CORR, QUEUED, HOST, ID, CALL_CORR, CALL_TID, CALL_HOST, STARTED, NBASES };

/* The letters of these differences in a layout, in the same order. */
static const char base_letters[] = "TCQHILUGS";

/*
 * The fields of each record: a letter of a difference; 'p' a plain number, 'q' the queue, 'd' the
 * difference from the time before it, 'D' a duration, 'A' a time, 'k' a correlation (base L) of
 * which 0 means none. Fields that follow these are kept as they are.
 */
static const char *const layouts[32] = {
	[RK_RAW_KERNEL] = "pqTCQddd", [RK_RAW_COPY] = "pqpTCQddd", [RK_RAW_SYNC] = "pqTCQddd",
	[RK_RAW_API] = "ppHD",        [RK_RAW_BUILD] = "ppHD",     [RK_RAW_ALLOC] = "ppppHD",
	[RK_RAW_MARKER] = "ppppAD",   [RK_RAW_LAUNCH] = "ILpqUG",  [RK_RAW_RAN] = "ISD",
	[RK_RAW_CALL] = "pkGD",
};
static const char ran_without_times[] = "Ipp"; /* does not move the base of times */

enum { FIELDS_BYTES = 9 * 10 }; /* nine fields of ten bytes */

struct history {
	uint64_t v[NBASES];
};

static struct history begun_by(uint64_t tid)
{
	return (struct history){ .v = { [TID] = tid, [CALL_TID] = tid } };
}

struct event {
	uint64_t queue, id;
	int64_t queued, end; /* end 0: a RAN without times */
};

static uint8_t *put_varint(uint8_t *p, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*p++ = (uint8_t)(v | 0x80);
	*p++ = (uint8_t)v;
	return p;
}

static uint64_t folded(uint64_t difference)
{
	return difference << 1 ^ (0 - (difference >> 63));
}

static uint64_t unfolded(uint64_t v)
{
	return v >> 1 ^ (0 - (v & 1));
}

/* The optional last field of a RAN. */
static uint64_t ran_flags(struct rk_cursor c)
{
	for (int i = 0; i < 3; i++)
		rk_cursor_varint(&c);
	return rk_cursor_varint(&c);
}

/*
 * Reads a record and moves `past` on; writes its fields to `out` as differences from `next`, which
 * moves on too. `out` has room for FIELDS_BYTES and the record. Returns the number of bytes, 0 if
 * the record is damaged.
 */
static size_t rewrite(const char *layout, struct rk_cursor c, struct history *past,
		      struct history *next, uint8_t *out, struct event *ret)
{
	uint8_t *p = out;
	uint64_t time = 0;
	size_t rest;

	*ret = (struct event){ .queue = 0 };
	for (; *layout; layout++) {
		uint64_t v = rk_cursor_varint(&c), none = *layout == 'k';
		const char *letter = strchr(base_letters, none ? 'L' : *layout);
		ptrdiff_t base = letter ? letter - base_letters : -1;

		if (c.bad)
			return 0;
		if (letter && v >= none) {
			past->v[base] += unfolded(v - none);
			v = folded(past->v[base] - next->v[base]) + none;
			next->v[base] = past->v[base];
		} else if (*layout == 'd' || *layout == 'D') {
			time += unfolded(v);
		} else if (*layout == 'A') {
			time = unfolded(v);
		} else if (*layout == 'q') {
			ret->queue = v;
		}
		if (*layout == 'Q' || *layout == 'H' || *layout == 'G' || *layout == 'S')
			time = past->v[base];
		if (*layout == 'Q')
			ret->queued = (int64_t)time;
		else if (*layout == 'I')
			ret->id = past->v[base];
		p = put_varint(p, v);
	}
	ret->end = (int64_t)time;
	rest = rk_cursor_left(&c);
	if (rest)
		memcpy(p, c.pos, rest);
	return (size_t)(p - out) + rest;
}

/* ---- the copy ---- */

/*
 * What is known of operations whose launch and times are separate records: the clock of the device
 * (its index + 1), or that it ended too early. Ids before the first are too old to be of interest.
 */
enum { UNKNOWN_ID, TOO_OLD = 255, MAX_IDS = 1 << 26 };

struct cutter {
	int fd;
	const char *path;
	const struct rk_raw_copy_hooks *hooks;
	struct rk_raw_header h;
	struct raw_names *names;
	struct rk_context ctx;
	struct rk_oddities odd;
	uint8_t *buf, *out;
	uint64_t nblocks;
	/* ids */
	uint64_t least_id, most_id;
	uint8_t *ids;
	size_t nids;
	/* result */
	int64_t newest_ns, complete_ns, from_ns;
	uint64_t cut;
};

static uint8_t *about(const struct cutter *x, uint64_t id)
{
	if (!x->ids || id < x->least_id || id - x->least_id >= x->nids)
		return NULL;
	return &x->ids[id - x->least_id];
}

static int read_all(const struct cutter *x, uint64_t at, void *buf, size_t len,
		    struct rk_error *err)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = pread(x->fd, (uint8_t *)buf + done, len - done, (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return rk_fail_errno(err, n ? errno : EIO, "cannot read '%s'", x->path);
		done += (size_t)n;
	}
	return 0;
}

static int write_all(const struct cutter *x, uint64_t at, const void *buf, size_t len,
		     struct rk_error *err)
{
	for (size_t done = 0; done < len;) {
		ssize_t n =
			pwrite(x->fd, (const uint8_t *)buf + done, len - done, (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return rk_fail_errno(err, n ? errno : ENOSPC, "cannot write '%s'", x->path);
		done += (size_t)n;
	}
	return 0;
}

static void close_copy(struct cutter *x)
{
	if (x->fd >= 0)
		close(x->fd);
	rk_raw_names_free(x->names);
	rk_strtab_free(x->ctx.names);
	rk_free(x->buf);
	rk_free(x->out);
	rk_free(x->ids);
}

/* Call close_copy() even if it fails. */
static int open_copy(struct cutter *x, const char *path, const struct rk_raw_copy_hooks *hooks,
		     struct rk_error *err)
{
	int rc;

	*x = (struct cutter){ .path = path, .hooks = hooks, .least_id = UINT64_MAX };
	x->fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (x->fd < 0)
		return rk_fail_errno(err, errno, "cannot open '%s'", path);
	rc = rk_raw_copy_header(x->fd, path, &x->h, err);
	if (rc < 0 || (rc = rk_strtab_new(RK_NAMES_MAX_BYTES, &x->ctx.names, err)) < 0 ||
	    (rc = rk_raw_names_load(path, &x->ctx, &x->odd, &x->names, err)) < 0)
		return rc;
	x->nblocks = x->h.limit_blocks;
	x->buf = rk_alloc(x->h.block_bytes);
	x->out = rk_alloc(2 * (size_t)x->h.block_bytes + FIELDS_BYTES + 16);
	return x->buf && x->out ? 0 : rk_fail_nomem(err);
}

/* ---- passes over all records ---- */

/* When the operation ended, on the host's clock; false: not known. */
static bool end_of(const struct cutter *x, uint8_t tag, const struct event *e, int64_t *ret)
{
	const uint64_t *queue;
	const struct raw_clock *clock = NULL;
	const uint8_t *known;

	switch (tag) {
	case RK_RAW_KERNEL:
	case RK_RAW_COPY:
	case RK_RAW_SYNC:
		/* without a queued time, copies and markers are on the host's clock */
		if (tag != RK_RAW_KERNEL && !e->queued)
			break;
		queue = rk_raw_name(x->names, e->queue, RK_RAW_QUEUE);
		clock = queue ? rk_raw_clock(x->names, queue[0]) : NULL;
		return clock && rk_raw_time(clock, e->end, ret);
	case RK_RAW_RAN:
		known = about(x, e->id);
		if (!e->end || !known || *known == UNKNOWN_ID || *known == TOO_OLD)
			return false;
		return rk_raw_time(&x->names->clocks[*known - 1], e->end, ret);
	default:
		break;
	}
	*ret = e->end;
	return true;
}

/* Called for each record with a layout; true: keep it. */
typedef bool visit(struct cutter *x, uint8_t tag, const struct event *e);

/*
 * Visits the records of a block in x->buf. The records that are kept are in x->out afterwards, as
 * *ret_len bytes with *ret_records records.
 */
static void visit_block(struct cutter *x, visit *f, size_t *ret_len, uint64_t *ret_records)
{
	struct rk_raw_block b;
	struct rk_cursor c;
	struct history past, next;
	size_t used = 0;
	uint64_t kept = 0;

	memcpy(&b, x->buf, sizeof(b));
	c = rk_cursor_over(x->buf + sizeof(b), (uint32_t)b.published);
	past = next = begun_by(b.tid);
	while (rk_cursor_left(&c)) {
		const uint8_t *at = c.pos;
		uint8_t tag = rk_cursor_u8(&c), fields[FIELDS_BYTES + RK_RAW_RECORD_MAX], *p;
		uint64_t size = rk_cursor_varint(&c);
		struct rk_cursor record;
		struct history then = next;
		const char *layout = tag < 32 ? layouts[tag] : NULL;
		struct event e;
		size_t len;

		if (c.bad || size > rk_cursor_left(&c))
			break;
		record = rk_cursor_over(rk_cursor_take(&c, (size_t)size), (size_t)size);
		if (!layout) {
			len = (size_t)(c.pos - at);
			memcpy(x->out + used, at, len);
			used += len;
			kept++;
			if (tag == RK_RAW_THREAD)
				past = next = begun_by((uint32_t)rk_cursor_varint(&record));
			continue;
		}
		if (size > RK_RAW_RECORD_MAX)
			break; /* damaged: readers skip the rest of the block too */
		if (tag == RK_RAW_RAN && ran_flags(record) & RK_RAW_NO_TIMES)
			layout = ran_without_times;
		len = rewrite(layout, record, &past, &then, fields, &e);
		if (!len)
			break;
		if (!f(x, tag, &e))
			continue;
		next = then;
		p = x->out + used;
		*p++ = tag;
		p = put_varint(p, len);
		memcpy(p, fields, len);
		used = (size_t)(p - x->out) + len;
		kept++;
	}
	*ret_len = used;
	*ret_records = kept;
}

/*
 * Visits all data blocks. `done` is called after each block and may be NULL; it gets the length and
 * the number of the records that were kept.
 */
static int visit_all(struct cutter *x, visit *f,
		     int (*done)(struct cutter *x, size_t len, uint64_t records,
				 struct rk_error *err),
		     struct rk_error *err)
{
	const struct rk_raw_copy_hooks *hooks = x->hooks;
	int rc = 0;

	for (uint64_t i = 1; rc == 0 && i < x->nblocks; i++) {
		struct rk_raw_block b;
		uint64_t records;
		size_t len;

		if (hooks && hooks->stop && hooks->stop(hooks->arg))
			return rk_fail(err, RK_E_CANCELLED, "cancelled");
		rc = read_all(x, i * x->h.block_bytes, x->buf, x->h.block_bytes, err);
		if (rc < 0)
			break;
		memcpy(&b, x->buf, sizeof(b));
		if ((uint32_t)b.published > x->h.block_bytes - sizeof(b))
			return rk_fail(err, RK_E_FORMAT, "'%s' changed while it was read", x->path);
		len = (uint32_t)b.published;
		records = b.published >> 32;
		if (b.kind == RK_RAW_DATA)
			visit_block(x, f, &len, &records);
		if (done)
			rc = done(x, len, records, err);
	}
	return rc;
}

static bool see_ids(struct cutter *x, uint8_t tag, const struct event *e)
{
	if (tag == RK_RAW_LAUNCH) {
		x->least_id = rk_min(x->least_id, e->id);
		x->most_id = rk_max(x->most_id, e->id);
	}
	return false;
}

static bool see_clocks(struct cutter *x, uint8_t tag, const struct event *e)
{
	const uint64_t *queue;
	const struct raw_clock *clock;
	uint8_t *known;

	if (tag != RK_RAW_LAUNCH || !(known = about(x, e->id)))
		return false;
	queue = rk_raw_name(x->names, e->queue, RK_RAW_QUEUE);
	clock = queue ? rk_raw_clock(x->names, queue[0]) : NULL;
	if (clock && clock - x->names->clocks < TOO_OLD - 1)
		*known = (uint8_t)(clock - x->names->clocks + 1);
	return false;
}

/* Learns from launches which clock the times of their kernels are on. */
static int learn_ids(struct cutter *x, struct rk_error *err)
{
	int rc = visit_all(x, see_ids, NULL, err);

	if (rc < 0 || x->least_id > x->most_id)
		return rc;
	if (x->most_id - x->least_id >= MAX_IDS)
		x->least_id = x->most_id - MAX_IDS + 1;
	x->nids = (size_t)(x->most_id - x->least_id + 1);
	x->ids = rk_calloc(x->nids, 1);
	if (!x->ids)
		return rk_fail_nomem(err);
	return visit_all(x, see_clocks, NULL, err);
}

/* ---- the span ---- */

static bool see_time(struct cutter *x, uint8_t tag, const struct event *e)
{
	int64_t end;

	if (end_of(x, tag, e, &end) && end > x->from_ns)
		x->from_ns = end; /* here: the latest of this block */
	return false;
}

/*
 * Blocks are overwritten in the order in which they were sealed: what was recorded after the first
 * of those that are left is complete.
 */
static int end_block(struct cutter *x, size_t len, uint64_t records, struct rk_error *err)
{
	struct rk_raw_block b;

	(void)len;
	(void)records;
	(void)err;
	memcpy(&b, x->buf, sizeof(b));
	if (b.kind == RK_RAW_DATA && x->from_ns > INT64_MIN) {
		x->newest_ns = rk_max_i64(x->newest_ns, x->from_ns);
		if (!b.was_open)
			x->complete_ns = rk_min_i64(x->complete_ns, x->from_ns);
	}
	x->from_ns = INT64_MIN;
	return 0;
}

int rk_raw_copy_span(const char *path, const struct rk_raw_copy_hooks *hooks,
		     struct rk_raw_copied *c, struct rk_error *err)
{
	struct cutter x;
	int rc = open_copy(&x, path, hooks, err);

	if (rc < 0 || (rc = learn_ids(&x, err)) < 0)
		goto out;
	x.newest_ns = c->h.last[c->h.last_slot & 1].boot_ns;
	x.complete_ns = INT64_MAX;
	x.from_ns = INT64_MIN;
	rc = visit_all(&x, see_time, end_block, err);
	if (rc < 0)
		goto out;
	c->newest_ns = x.newest_ns;
	c->complete_ns = c->h.start.boot_ns;
	if ((c->h.overwritten || c->copied_over) && x.complete_ns < x.newest_ns)
		c->complete_ns = rk_max_i64(x.complete_ns, c->h.start.boot_ns);
out:
	close_copy(&x);
	return rc;
}

/* ---- the cut ---- */

static bool see_old(struct cutter *x, uint8_t tag, const struct event *e)
{
	uint8_t *known = about(x, e->id);
	int64_t end;

	if (tag == RK_RAW_RAN && known && end_of(x, tag, e, &end) && end < x->from_ns)
		*known = TOO_OLD;
	return false;
}

static bool is_new(struct cutter *x, uint8_t tag, const struct event *e)
{
	const uint8_t *known = about(x, e->id);
	int64_t end;
	bool old;

	if (tag == RK_RAW_LAUNCH || tag == RK_RAW_RAN)
		old = known ? *known == TOO_OLD : e->id < x->least_id;
	else
		old = end_of(x, tag, e, &end) && end < x->from_ns;
	x->cut += old;
	return !old;
}

/* Puts the block at the end of what is kept so far. */
static int keep_block(struct cutter *x, size_t len, uint64_t records, struct rk_error *err)
{
	struct rk_raw_block b;
	uint64_t at = x->h.limit_blocks * x->h.block_bytes;

	memcpy(&b, x->buf, sizeof(b));
	if (b.kind == RK_RAW_DATA) {
		if (!records)
			return 0;
		if (len < (uint32_t)b.published) {
			memcpy(x->buf + sizeof(b), x->out, len);
			memset(x->buf + sizeof(b) + len, 0, x->h.block_bytes - sizeof(b) - len);
			b.published = records << 32 | len;
			b.sum = rk_raw_block_sum(&b, x->buf + sizeof(b), len);
			memcpy(x->buf, &b, sizeof(b));
		}
	}
	x->h.limit_blocks++;
	return write_all(x, at, x->buf, x->h.block_bytes, err);
}

int rk_raw_copy_cut(const char *path, int64_t from_ns, const struct rk_raw_copy_hooks *hooks,
		    struct rk_raw_copied *c, struct rk_error *err)
{
	struct cutter x;
	bool right;
	int rc = open_copy(&x, path, hooks, err);

	if (rc < 0 || (rc = learn_ids(&x, err)) < 0)
		goto out;
	x.from_ns = from_ns;
	rc = visit_all(&x, see_old, NULL, err);
	if (rc < 0)
		goto out;
	right = rk_raw_sum(0, &x.h, offsetof(struct rk_raw_header, sum)) == x.h.sum;
	x.h.limit_blocks = 1;
	rc = visit_all(&x, is_new, keep_block, err);
	if (rc < 0)
		goto out;
	if (right)
		x.h.sum = rk_raw_sum(0, &x.h, offsetof(struct rk_raw_header, sum));
	rc = write_all(&x, 0, &x.h, sizeof(x.h), err);
	if (rc == 0 && ftruncate(x.fd, (off_t)(x.h.limit_blocks * x.h.block_bytes)))
		rc = rk_fail_errno(err, errno, "cannot write '%s'", path);
	if (rc < 0)
		goto out;
	c->cut += x.cut;
	c->records -= x.cut;
	c->bytes = x.h.limit_blocks * x.h.block_bytes;
out:
	close_copy(&x);
	return rc;
}
