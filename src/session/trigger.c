/*
 * trigger.c - see trigger.h.
 *
 * Each look reads the 64 bytes at the beginning of every block, and the payload of those that have
 * new records of a kind that matters. Because differences start at the beginning of a block, an open
 * block is decoded from there again; records that were seen before are passed over by their number.
 * A large file is looked at less often.
 */
#include "session/trigger.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cursor.h"
#include "base/num.h"
#include "base/rkraw.h"

enum {
	MOST_BLOCKS = 1 << 21,
	MOST_NAMES = 16,      /* ids of the step's name; a compacted window gives it new ones */
	STEPS = 50,           /* the median is of the last so many */
	LEAST_STEPS = 5,      /* before that no step is slow */
	MOST_SPANS = 1 << 20, /* kernels of one look */
	BLOCKS_A_TICK = 1024, /* a file of so many blocks is looked at each 100 ms */
	MOST_WAIT_MS = 1000,
};

struct seen {
	uint64_t sequence;
	uint32_t records;
};

/* A kernel on the device's clock. */
struct span {
	int64_t start, end;
};

struct rk_trigger {
	struct rk_trigger_options opt;
	int fd;
	uint32_t block_bytes;
	uint64_t nblocks;
	struct seen *seen; /* of each block */
	uint8_t *payload;  /* of one block */
	uint64_t due_ms;

	uint32_t names[MOST_NAMES];
	unsigned nnames;
	uint64_t steps[STEPS], nsteps;

	/* Sorted by start and judged one look later, when those of other threads are there. */
	struct span *spans;
	size_t nspans, cap;
	bool any, told; /* a kernel ran; the present gap was reported */
	int64_t busy_until;
	uint64_t fresh_ms; /* when kernels were last found */
	char why[RK_TRIGGER_WHY];
};

static bool read_at(int fd, void *to, size_t len, uint64_t at)
{
	ssize_t n;

	do
		n = pread(fd, to, len, (off_t)at);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)len;
}

int rk_trigger_open(const char *path, const struct rk_trigger_options *opt, struct rk_trigger **ret,
		    struct rk_error *err)
{
	struct rk_raw_header *h = rk_alloc(sizeof(*h));
	struct rk_trigger *t = rk_calloc(1, sizeof(*t));
	bool good;
	int rc = 0;

	*ret = NULL;
	if (!h || !t) {
		rk_free(h);
		rk_free(t);
		return rk_fail_nomem(err);
	}
	t->opt = *opt;
	t->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	good = t->fd >= 0 && read_at(t->fd, h, sizeof(*h), 0) &&
	       !memcmp(h->magic, RK_RAW_MAGIC, sizeof(h->magic)) && h->order == RK_RAW_ORDER &&
	       h->format == RK_RAW_FORMAT && h->flags & RK_RAW_WINDOW &&
	       h->block_bytes >= RK_RAW_BLOCK_MIN && h->block_bytes <= RK_RAW_BLOCK_MAX &&
	       h->limit_blocks > 1 && h->limit_blocks <= MOST_BLOCKS;
	if (good) {
		t->block_bytes = h->block_bytes;
		t->nblocks = h->limit_blocks;
		t->seen = rk_calloc((size_t)t->nblocks, sizeof(*t->seen));
		t->payload = rk_alloc(t->block_bytes);
		if (!t->seen || !t->payload)
			rc = rk_fail_nomem(err);
	}
	rk_free(h);
	if (good && rc == 0)
		*ret = t;
	else
		rk_trigger_close(t);
	return rc;
}

void rk_trigger_close(struct rk_trigger *t)
{
	if (!t)
		return;
	if (t->fd >= 0)
		close(t->fd);
	rk_free(t->seen);
	rk_free(t->payload);
	rk_free(t->spans);
	rk_free(t);
}

void rk_trigger_forget(struct rk_trigger *t)
{
	t->any = false;
	t->nspans = 0;
}

/* ---- steps ---- */

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void add_step(struct rk_trigger *t, uint64_t ns)
{
	size_t n = (size_t)rk_min(t->nsteps, STEPS);
	uint64_t sorted[STEPS], median;

	if (n >= LEAST_STEPS) {
		memcpy(sorted, t->steps, n * sizeof(*sorted));
		qsort(sorted, n, sizeof(*sorted), by_size);
		median = sorted[n / 2];
		/* as doubles: the numbers come from a file */
		if ((double)ns > (double)median * (1 + (double)t->opt.slow_percent / 100))
			snprintf(t->why, sizeof(t->why),
				 "a step took %.3f ms, the median of the last %zu is %.3f ms",
				 (double)ns / 1e6, n, (double)median / 1e6);
	}
	t->steps[t->nsteps++ % STEPS] = ns;
}

static void marker(struct rk_trigger *t, struct rk_cursor *c)
{
	uint64_t kind = rk_cursor_varint(c), name = rk_cursor_varint(c);
	int64_t duration;

	rk_cursor_varint(c); /* domain */
	rk_cursor_varint(c); /* tid */
	rk_cursor_zigzag(c); /* start */
	duration = rk_cursor_zigzag(c);
	if (c->bad || kind != 1 || duration < 0)
		return;
	for (unsigned i = 0; i < t->nnames; i++)
		if (t->names[i] == name)
			add_step(t, (uint64_t)duration);
}

/* A definition: whether it is the name of the step. */
static void string(struct rk_trigger *t, struct rk_cursor *c)
{
	uint64_t id = rk_cursor_varint(c);
	size_t len = rk_cursor_left(c);

	if (c->bad || id > UINT32_MAX || len != strlen(t->opt.step) ||
	    memcmp(c->pos, t->opt.step, len) != 0)
		return;
	for (unsigned i = 0; i < t->nnames && i < MOST_NAMES; i++)
		if (t->names[i] == id)
			return;
	/* the oldest goes */
	if (t->nnames == MOST_NAMES)
		memmove(t->names, t->names + 1, --t->nnames * sizeof(*t->names));
	t->names[t->nnames++] = (uint32_t)id;
}

/* ---- gaps ---- */

static void kernel(struct rk_trigger *t, uint64_t start, uint64_t duration)
{
	struct span *more;

	if (t->nspans >= MOST_SPANS || start > INT64_MAX || duration > INT64_MAX - start)
		return;
	more = rk_grow(t->spans, &t->cap, t->nspans + 1, sizeof(*more));
	if (!more)
		return;
	t->spans = more;
	t->spans[t->nspans++] = (struct span){ (int64_t)start, (int64_t)(start + duration) };
}

static int by_start(const void *a, const void *b)
{
	int64_t x = ((const struct span *)a)->start, y = ((const struct span *)b)->start;

	return (x > y) - (x < y);
}

/*
 * Operations that were submitted and have not ended; UINT64_MAX: the collector does not count them.
 */
static uint64_t pending_of(const struct rk_trigger *t)
{
	struct rk_raw_stripe stripes[RK_RAW_STRIPES];
	uint64_t begun = 0, ended = 0;

	if (!read_at(t->fd, stripes, sizeof(stripes), offsetof(struct rk_raw_header, stripes)))
		return UINT64_MAX;
	for (unsigned i = 0; i < RK_RAW_STRIPES; i++) {
		begun += stripes[i].begun;
		ended += stripes[i].ended;
	}
	return begun ? begun - ended : UINT64_MAX;
}

static void tell_gap(struct rk_trigger *t, int64_t ms)
{
	/* a gap that is over was perhaps reported when it began */
	if (!t->told)
		snprintf(t->why, sizeof(t->why), "no kernel ran for %" PRId64 " ms", ms);
}

/* Kernels that begin after the last one of the look before are kept for the next. */
static void judge_gaps(struct rk_trigger *t, size_t nheld, uint64_t now_ms)
{
	int64_t until = INT64_MIN, gap_ns = (int64_t)t->opt.gap_ms * 1000000;
	size_t i = 0;

	if (t->nspans > nheld)
		t->fresh_ms = now_ms;
	for (size_t k = 0; k < nheld; k++)
		until = rk_max_i64(until, t->spans[k].start);
	if (t->nspans)
		qsort(t->spans, t->nspans, sizeof(*t->spans), by_start);
	for (; i < t->nspans && t->spans[i].start <= until; i++) {
		const struct span *s = &t->spans[i];

		if (t->any && s->start - t->busy_until >= gap_ns)
			tell_gap(t, (s->start - t->busy_until) / 1000000);
		t->busy_until = t->any ? rk_max_i64(t->busy_until, s->end) : s->end;
		t->any = true;
		t->told = false;
	}
	if (i)
		memmove(t->spans, t->spans + i, (t->nspans - i) * sizeof(*t->spans));
	t->nspans -= i;
	/* a gap that has not ended */
	if (t->any && !t->nspans && now_ms - t->fresh_ms >= t->opt.gap_ms && !pending_of(t)) {
		tell_gap(t, (int64_t)(now_ms - t->fresh_ms));
		t->told = true;
	}
}

/* ---- blocks ---- */

/* Decodes a block; the first `known` records were seen before. */
static void read_records(struct rk_trigger *t, const struct rk_raw_block *b, uint32_t known)
{
	struct rk_cursor c = rk_cursor_over(t->payload, (uint32_t)b->published);
	uint64_t queued = 0, ran = 0;

	for (uint32_t i = 0; rk_cursor_left(&c) && !c.bad; i++) {
		uint8_t tag = rk_cursor_u8(&c);
		uint64_t len = rk_cursor_varint(&c), submit, start, duration;
		const uint8_t *fields = len <= rk_cursor_left(&c) ? c.pos : NULL;
		struct rk_cursor f = rk_cursor_over(fields, (size_t)len);
		bool fresh = i >= known;

		if (!fields)
			return;
		rk_cursor_take(&c, (size_t)len);
		switch (b->kind == RK_RAW_DATA || tag == RK_RAW_STRING ? tag : 0) {
		case RK_RAW_THREAD:
			queued = ran = 0;
			break;
		case RK_RAW_KERNEL:
		case RK_RAW_SYNC:
		case RK_RAW_COPY:
			for (unsigned k = 0; k < (tag == RK_RAW_COPY ? 3u : 2u); k++)
				rk_cursor_varint(&f);
			rk_cursor_zigzag(&f); /* tid */
			rk_cursor_zigzag(&f); /* correlation */
			queued += (uint64_t)rk_cursor_zigzag(&f);
			submit = queued + (uint64_t)rk_cursor_zigzag(&f);
			start = submit + (uint64_t)rk_cursor_zigzag(&f);
			duration = (uint64_t)rk_cursor_zigzag(&f);
			if (fresh && !f.bad && tag == RK_RAW_KERNEL && t->opt.gap_ms)
				kernel(t, start, duration);
			break;
		case RK_RAW_RAN:
			rk_cursor_zigzag(&f); /* id */
			ran += (uint64_t)rk_cursor_zigzag(&f);
			duration = (uint64_t)rk_cursor_zigzag(&f);
			if (fresh && !f.bad && t->opt.gap_ms &&
			    !(rk_cursor_left(&f) && rk_cursor_varint(&f) & RK_RAW_NO_TIMES))
				kernel(t, ran, duration);
			break;
		case RK_RAW_MARKER:
			if (fresh && t->opt.slow_percent)
				marker(t, &f);
			break;
		case RK_RAW_STRING:
			if (b->kind == RK_RAW_DEFINITIONS && fresh && t->opt.slow_percent)
				string(t, &f);
			break;
		default:
			break;
		}
	}
}

/* Whether a block may have records that matter. */
static bool matters(const struct rk_trigger *t, const struct rk_raw_block *b)
{
	uint32_t kernels = 1u << RK_RAW_KERNEL | 1u << RK_RAW_RAN;

	if (b->kind == RK_RAW_DEFINITIONS)
		return t->opt.slow_percent != 0;
	return (t->opt.slow_percent && b->types & 1u << RK_RAW_MARKER) ||
	       (t->opt.gap_ms && b->types & kernels);
}

static void look_at_block(struct rk_trigger *t, uint64_t i)
{
	struct rk_raw_block b, again;
	struct seen *seen = &t->seen[i];
	uint64_t at = i * t->block_bytes;
	uint32_t len;

	if (!read_at(t->fd, &b, sizeof(b), at) || b.magic != RK_RAW_BLOCK_MAGIC ||
	    (b.state != RK_RAW_OPEN && b.state != RK_RAW_SEALED))
		return;
	if (seen->sequence != b.sequence)
		*seen = (struct seen){ .sequence = b.sequence };
	len = (uint32_t)b.published;
	if (b.published >> 32 <= seen->records || len > t->block_bytes - sizeof(b))
		return;
	if (matters(t, &b)) {
		/* it may be taken again while we read it */
		if (!read_at(t->fd, t->payload, len, at + sizeof(b)) ||
		    !read_at(t->fd, &again, sizeof(again), at) || again.sequence != b.sequence ||
		    (again.state != RK_RAW_OPEN && again.state != RK_RAW_SEALED))
			return;
		read_records(t, &b, seen->records);
	}
	seen->records = (uint32_t)(b.published >> 32);
}

bool rk_trigger_look(struct rk_trigger *t, uint64_t now_ms, char why[RK_TRIGGER_WHY])
{
	size_t nheld = t->nspans;
	uint64_t n = 0;
	struct stat st;

	if (now_ms < t->due_ms || fstat(t->fd, &st) < 0 || st.st_size < 0)
		return false;
	n = rk_min((uint64_t)st.st_size / t->block_bytes, t->nblocks);
	t->due_ms = now_ms + rk_min(n / BLOCKS_A_TICK * 100, MOST_WAIT_MS);
	t->why[0] = '\0';
	/* definitions have the first blocks, so that names are known before their records */
	for (uint64_t i = 1; i < n; i++)
		look_at_block(t, i);
	if (t->opt.gap_ms)
		judge_gaps(t, nheld, now_ms);
	memcpy(why, t->why, RK_TRIGGER_WHY);
	return why[0] != '\0';
}
