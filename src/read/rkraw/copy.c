/* copy.c - see copy.h: the copy itself. Every byte of the file may be wrong, and may change. */
#include "read/rkraw/copy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cursor.h"
#include "base/num.h"

enum {
	MAX_BLOCKS = 1 << 24, /* in use */
	TRIES = 4,
	MAX_ROUNDS = 16, /* of definitions, while the program rewrites them */
};

/* Sequence number and position of a block; NOT_YET: a thread is about to use it again. */
#define NOT_YET UINT64_MAX

struct turn {
	uint64_t sequence, index;
};

struct copier {
	int from, to;
	const char *name;
	const struct rk_raw_copy_hooks *hooks;
	size_t block_bytes;
	uint8_t *buf;
	struct turn *turns; /* of one kind, in order */
	size_t nturns, turns_cap;
	uint64_t written; /* blocks in the copy, the header included */
	struct rk_raw_copied *c;
};

/* ---- bytes ---- */

/* Less than `len` only at the end of the file, which may come earlier than a moment ago. */
static int get(const struct copier *p, uint64_t at, void *buf, size_t len, size_t *ret_len,
	       struct rk_error *err)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = pread(p->from, (uint8_t *)buf + done, len - done, (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return rk_fail_errno(err, errno, "cannot read '%s'", p->name);
		if (n == 0)
			break;
		done += (size_t)n;
	}
	/* what is read next must not be older than this */
	atomic_thread_fence(memory_order_seq_cst);
	*ret_len = done;
	return 0;
}

static int put(const struct copier *p, uint64_t at, const void *buf, size_t len,
	       struct rk_error *err)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n =
			pwrite(p->to, (const uint8_t *)buf + done, len - done, (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return rk_fail_errno(err, n ? errno : ENOSPC,
					     "cannot write the copy of '%s'", p->name);
		done += (size_t)n;
	}
	return 0;
}

static int size_of(int fd, const char *name, uint64_t *ret, struct rk_error *err)
{
	struct stat st;

	if (fstat(fd, &st))
		return rk_fail_errno(err, errno, "cannot read '%s'", name);
	if (!S_ISREG(st.st_mode))
		return rk_fail(err, RK_E_FORMAT, "'%s' is not a regular file", name);
	*ret = (uint64_t)st.st_size;
	return 0;
}

static int stopped(const struct copier *p, struct rk_error *err)
{
	if (p->hooks && p->hooks->stop && p->hooks->stop(p->hooks->arg))
		return rk_fail(err, RK_E_CANCELLED, "cancelled");
	return 0;
}

/* ---- header ---- */

/*
 * The program changes its clocks while we read: the slot in use is whole if nothing was written to
 * it between two readings.
 */
static int get_header(const struct copier *p, struct rk_raw_header *ret, struct rk_error *err)
{
	struct rk_raw_header again;
	size_t len = 0;
	int rc = get(p, 0, ret, sizeof(*ret), &len, err);

	for (unsigned i = 0; rc == 0 && i < TRIES; i++) {
		if (len < sizeof(*ret))
			return rk_fail(err, RK_E_FORMAT, "'%s' ends inside its header", p->name);
		rc = get(p, 0, &again, sizeof(again), &len, err);
		if (rc < 0 || (again.last_slot == ret->last_slot &&
			       !memcmp(again.last, ret->last, sizeof(again.last))))
			break;
		*ret = again;
	}
	return rc;
}

int rk_raw_copy_header(int fd, const char *name, struct rk_raw_header *ret, struct rk_error *err)
{
	const struct copier p = { .from = fd, .name = name };
	struct rk_raw_header h;
	uint64_t size;
	int rc = size_of(fd, name, &size, err);

	if (rc < 0 || (rc = get_header(&p, &h, err)) < 0)
		return rc;
	if (memcmp(h.magic, RK_RAW_MAGIC, sizeof(h.magic)) != 0)
		return rk_fail(err, RK_E_FORMAT, "'%s' is not a recorder file", name);
	if (h.order != RK_RAW_ORDER || h.format != RK_RAW_FORMAT)
		return rk_fail(
			err, RK_E_UNSUPPORTED,
			"'%s' was written by another release of rockit, or on a machine with "
			"a different byte order",
			name);
	if (h.block_bytes < RK_RAW_BLOCK_MIN || h.block_bytes > RK_RAW_BLOCK_MAX ||
	    h.block_bytes & (h.block_bytes - 1))
		return rk_fail(err, RK_E_FORMAT,
			       "'%s' has an invalid block size: %" PRIu32 " bytes", name,
			       h.block_bytes);
	*ret = h;
	return 0;
}

/* ---- blocks ---- */

static bool in_use(const struct rk_raw_block *b)
{
	return b->magic == RK_RAW_BLOCK_MAGIC &&
	       (b->state == RK_RAW_OPEN || b->state == RK_RAW_SEALED);
}

static bool is_odd(const struct rk_raw_block *b)
{
	if (b->state == RK_RAW_FREE)
		return false;
	return b->state > RK_RAW_TAKEN || b->magic != RK_RAW_BLOCK_MAGIC ||
	       (b->kind != RK_RAW_DATA && b->kind != RK_RAW_DEFINITIONS);
}

/* Are there as many records in the payload as the header says? Otherwise it was read in pieces. */
static bool is_whole(const uint8_t *payload, size_t len, uint64_t records)
{
	struct rk_cursor c = rk_cursor_over(payload, len);
	uint64_t n = 0;

	for (; rk_cursor_left(&c); n++) {
		uint64_t size;

		rk_cursor_u8(&c);
		size = rk_cursor_varint(&c);
		if (c.bad || size > rk_cursor_left(&c))
			return false;
		rk_cursor_take(&c, (size_t)size);
	}
	return n == records;
}

enum fate { KEPT, EMPTY, RETAKEN, DAMAGED };

/*
 * Reads a block with a sequence from `least` to `most` into p->buf, header and payload; if it is
 * kept, it is sealed there.
 */
static int get_block(const struct copier *p, uint64_t index, uint64_t least, uint64_t most,
		     enum fate *ret, struct rk_error *err)
{
	uint64_t at = index * p->block_bytes;
	uint8_t *payload = p->buf + sizeof(struct rk_raw_block);
	struct rk_raw_block b, after;
	size_t len, got;
	int rc;

	for (unsigned i = 0; i < TRIES; i++) {
		rc = get(p, at, &b, sizeof(b), &got, err);
		if (rc < 0)
			return rc;
		*ret = got < sizeof(b) ? EMPTY : RETAKEN;
		if (got < sizeof(b) || !in_use(&b) || b.sequence < least || b.sequence > most)
			return 0;
		*ret = DAMAGED;
		len = (uint32_t)b.published;
		if (len <= p->block_bytes - sizeof(b)) {
			rc = get(p, at + sizeof(b), payload, len, &got, err);
			if (rc < 0)
				return rc;
			*ret = got == len ? KEPT : DAMAGED;
		}
		rc = get(p, at, &after, sizeof(after), &got, err);
		if (rc < 0)
			return rc;
		if (got < sizeof(after) || !in_use(&after) || after.sequence != b.sequence ||
		    after.kind != b.kind) {
			*ret = RETAKEN;
			return 0;
		}
		if (*ret == KEPT && b.state == RK_RAW_SEALED) {
			if (rk_raw_block_sum(&b, payload, len) == b.sum)
				break;
			*ret = DAMAGED;
		} else if (*ret == KEPT) {
			if (is_whole(payload, len, b.published >> 32))
				break;
			*ret = DAMAGED;
		}
	}
	if (*ret != KEPT)
		return 0;
	if (b.state == RK_RAW_OPEN) {
		/* a bit is set before the first such record is published: the later reading has all */
		b.types = after.types;
		b.state = RK_RAW_SEALED;
		b.was_open = 1;
		b.sum = rk_raw_block_sum(&b, payload, len);
	}
	memcpy(p->buf, &b, sizeof(b));
	return 0;
}

static int by_sequence(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;

	if (x->sequence != y->sequence)
		return x->sequence < y->sequence ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

/*
 * Lists the blocks of a kind, in the order in which they were taken. Holes in the file are skipped,
 * so that a file of terabytes without content costs nothing.
 */
static int list_blocks(struct copier *p, uint32_t kind, struct rk_error *err)
{
	uint64_t size = 0, index = 1;
	int rc = size_of(p->from, p->name, &size, err);

	p->nturns = 0;
	for (; rc == 0 && index < size / p->block_bytes + (size % p->block_bytes != 0); index++) {
		struct rk_raw_block b;
		size_t got;
		off_t data;

		rc = get(p, index * p->block_bytes, &b, sizeof(b), &got, err);
		if (rc < 0 || got < sizeof(b))
			break;
		if (!b.magic && !b.state) {
			data = lseek(p->from, (off_t)(index * p->block_bytes), SEEK_DATA);
			if (data < 0 && errno == ENXIO)
				break;
			if (data > 0 && (uint64_t)data / p->block_bytes > index)
				index = (uint64_t)data / p->block_bytes - 1;
			continue;
		}
		if (!(index & 255) && (rc = stopped(p, err)) < 0)
			break;
		if (b.state == RK_RAW_TAKEN) {
			b.sequence = NOT_YET;
		} else if (is_odd(&b)) {
			/* it is perhaps being begun: the header was read in pieces */
			rc = get(p, index * p->block_bytes, &b, sizeof(b), &got, err);
			if (rc < 0)
				break;
			p->c->damaged += kind == RK_RAW_DATA && is_odd(&b);
		}
		if (b.sequence != NOT_YET && (!in_use(&b) || b.kind != kind))
			continue;
		if (p->nturns == MAX_BLOCKS)
			return rk_fail(err, RK_E_LIMIT, "'%s' has more than %d blocks", p->name,
				       MAX_BLOCKS);
		if (p->nturns == p->turns_cap) {
			struct turn *grown =
				rk_grow(p->turns, &p->turns_cap, p->nturns + 1, sizeof(*grown));

			if (!grown)
				return rk_fail_nomem(err);
			p->turns = grown;
		}
		p->turns[p->nturns++] = (struct turn){ b.sequence, index };
	}
	if (rc == 0 && p->nturns)
		qsort(p->turns, p->nturns, sizeof(*p->turns), by_sequence);
	return rc;
}

/* Blocks are written whole: what is behind the payload is of no use, but may be private. */
static int put_block(struct copier *p, struct rk_error *err)
{
	struct rk_raw_block b;
	size_t len;

	memcpy(&b, p->buf, sizeof(b));
	len = sizeof(b) + (uint32_t)b.published;
	memset(p->buf + len, 0, p->block_bytes - len);
	return put(p, p->written++ * p->block_bytes, p->buf, p->block_bytes, err);
}

/*
 * The oldest first: these are overwritten next. A block may be taken again after it was listed. Its
 * new records are copied if others that are newer were listed; all that came later is left out.
 */
static int copy_data(struct copier *p, struct rk_error *err)
{
	int rc = list_blocks(p, RK_RAW_DATA, err);
	uint64_t newest = 0;

	for (size_t i = p->nturns; rc == 0 && !newest && i--;)
		if (p->turns[i].sequence != NOT_YET)
			newest = p->turns[i].sequence;

	for (size_t i = 0; rc == 0 && i < p->nturns; i++) {
		enum fate fate;

		rc = get_block(p, p->turns[i].index, 0, newest, &fate, err);
		if (rc < 0)
			break;
		p->c->copied_over += fate == RETAKEN && p->turns[i].sequence != NOT_YET;
		p->c->damaged += fate == DAMAGED;
		if (fate == KEPT)
			rc = put_block(p, err);
		if (rc == 0)
			rc = stopped(p, err);
	}
	return rc;
}

/*
 * Where the program rewrites its definitions meanwhile, they are copied again, until all are of one
 * moment.
 */
static int copy_definitions(struct copier *p, struct rk_error *err)
{
	const uint64_t first = p->written;
	const uint64_t damaged = p->c->damaged;
	bool again = true;
	int rc = 0;

	for (unsigned round = 0; rc == 0 && again && round < MAX_ROUNDS; round++) {
		again = false;
		p->written = first;
		p->c->damaged = damaged;
		rc = list_blocks(p, RK_RAW_DEFINITIONS, err);
		for (size_t i = 0; rc == 0 && i < p->nturns && !again; i++) {
			enum fate fate;

			/* a thread that died, or is being started: others have what it needs */
			if (p->turns[i].sequence == NOT_YET)
				continue;
			rc = get_block(p, p->turns[i].index, p->turns[i].sequence,
				       p->turns[i].sequence, &fate, err);
			if (rc < 0)
				break;
			again = fate == RETAKEN;
			p->c->damaged += fate == DAMAGED;
			if (fate == KEPT)
				rc = put_block(p, err);
		}
	}
	if (rc == 0 && again)
		rc = rk_fail(err, RK_E_IO,
			     "the program rewrites the names in '%s' faster than they can be "
			     "copied; try again",
			     p->name);
	return rc;
}

/* ---- the copy as a file ---- */

/*
 * Removes data blocks whose definitions may be gone, and counts records. Blocks move towards the
 * beginning of the copy.
 */
static int settle(struct copier *p, uint64_t live_from, struct rk_error *err)
{
	struct copier copy = *p;
	uint64_t kept = 1;
	int rc = 0;

	copy.from = p->to;
	for (uint64_t i = 1; rc == 0 && i < p->written; i++) {
		struct rk_raw_block b;
		size_t got;

		rc = get(&copy, i * p->block_bytes, &b, sizeof(b), &got, err);
		if (rc < 0)
			break;
		if (b.kind == RK_RAW_DATA && b.sequence < live_from) {
			p->c->copied_over++;
			continue;
		}
		if (b.kind == RK_RAW_DATA)
			p->c->records += b.published >> 32;
		if (kept != i) {
			rc = get(&copy, i * p->block_bytes, p->buf, p->block_bytes, &got, err);
			if (rc == 0)
				rc = put(p, kept * p->block_bytes, p->buf, p->block_bytes, err);
		}
		kept++;
	}
	p->written = kept;
	return rc;
}

/* The header of the copy, and the end of the file. */
static int finish(struct copier *p, bool running, struct rk_error *err)
{
	struct rk_raw_header h = p->c->h;
	bool right = rk_raw_sum(0, &h, offsetof(struct rk_raw_header, sum)) == h.sum;
	int rc;

	/* the copy of a copy is as old as that one */
	h.flags |= RK_RAW_COPY_OF | (running ? RK_RAW_SNAP : 0);
	h.limit_blocks = p->written;
	h.definition_blocks = 0;
	h.copied_over = p->c->copied_over;
	h.sum = rk_raw_sum(0, &h, offsetof(struct rk_raw_header, sum));
	if (!right) /* readers warn about it */
		h.sum = ~h.sum;
	memset(p->buf, 0, p->block_bytes);
	memcpy(p->buf, &h, sizeof(h));
	rc = put(p, 0, p->buf, p->block_bytes, err);
	p->c->bytes = p->written * p->block_bytes;
	if (rc == 0 && ftruncate(p->to, (off_t)p->c->bytes))
		rc = rk_fail_errno(err, errno, "cannot write the copy of '%s'", p->name);
	return rc;
}

int rk_raw_copy(int from, const char *name, int to, bool running,
		const struct rk_raw_copy_hooks *hooks, struct rk_raw_copied *ret,
		struct rk_error *err)
{
	struct rk_raw_copied c = { .records = 0 };
	struct copier p = {
		.from = from, .to = to, .name = name, .hooks = hooks, .written = 1, .c = &c
	};
	struct rk_raw_header h;
	int rc = rk_raw_copy_header(from, name, &h, err);

	if (rc < 0)
		return rc;
	p.block_bytes = h.block_bytes;
	p.buf = rk_alloc(p.block_bytes);
	if (!p.buf)
		return rk_fail_nomem(err);
	if ((rc = copy_data(&p, err)) < 0 || (rc = copy_definitions(&p, err)) < 0 ||
	    (rc = rk_raw_copy_header(from, name, &c.h, err)) < 0)
		goto out;
	if (c.h.block_bytes != h.block_bytes) {
		rc = rk_fail(err, RK_E_FORMAT, "the header of '%s' changed while it was read",
			     name);
		goto out;
	}
	if ((rc = settle(&p, c.h.flags & RK_RAW_SWITCHED ? c.h.live_from : 0, err)) < 0 ||
	    (rc = finish(&p, running, err)) < 0)
		goto out;
	*ret = c;
out:
	rk_free(p.buf);
	rk_free(p.turns);
	return rc;
}
