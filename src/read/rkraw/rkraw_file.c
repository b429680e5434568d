/* rkraw_file.c - header and blocks of a recorder's file; every byte of it may be wrong. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "read/rkraw/rkraw_reader.h"

/* ---- header ---- */

static int check_header(const struct rk_raw_header *h, struct rk_error *err)
{
	uint32_t size = h->block_bytes;

	if (memcmp(h->magic, RK_RAW_MAGIC, sizeof(h->magic)) != 0)
		return rk_fail(err, RK_E_FORMAT, "not a file of the recorder");
	if (h->order != RK_RAW_ORDER)
		return rk_fail(err, RK_E_UNSUPPORTED,
			       "written on a machine with another byte order");
	if (h->format != RK_RAW_FORMAT)
		return rk_fail(err, RK_E_UNSUPPORTED,
			       "format %" PRIu32 " of the recorder; this rockit reads %d",
			       h->format, RK_RAW_FORMAT);
	if (size < RK_RAW_BLOCK_MIN || size > RK_RAW_BLOCK_MAX || size & (size - 1))
		return rk_fail(err, RK_E_FORMAT, "blocks of %" PRIu32 " bytes cannot be", size);
	return 0;
}

int rk_raw_file_open(const char *path, struct raw_file *f, struct rk_error *err)
{
	size_t len = 0;
	int rc;

	*f = (struct raw_file){ 0 };
	rc = rk_file_open(path, &f->file, err);
	if (rc == 0)
		rc = rk_file_pread(f->file, &f->h, sizeof(f->h), 0, &len, err);
	if (rc == 0 && len < sizeof(f->h))
		rc = rk_fail(err, RK_E_FORMAT, "the file ends inside its header");
	if (rc == 0)
		rc = check_header(&f->h, err);
	if (rc < 0) {
		rk_raw_file_release(f);
		return rc;
	}
	f->sum_wrong = rk_raw_sum(0, &f->h, offsetof(struct rk_raw_header, sum)) != f->h.sum;
	f->nblocks = f->file->size / f->h.block_bytes;
	if (f->file->size % f->h.block_bytes) {
		f->cut = true;
		f->nblocks++;
	}
	return 0;
}

void rk_raw_file_release(struct raw_file *f)
{
	rk_file_close(f->file);
	f->file = NULL;
	rk_free(f->turns);
	f->turns = NULL;
}

uint64_t rk_raw_pending(const struct rk_raw_header *h)
{
	uint64_t begun = 0, ended = 0;

	for (unsigned i = 0; i < RK_RAW_STRIPES; i++) {
		begun += h->stripes[i].begun;
		ended += h->stripes[i].ended;
	}
	return begun > ended ? begun - ended : 0;
}

uint64_t rk_raw_dropped(const struct rk_raw_header *h)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < RK_RAW_REASONS; i++)
		if (__builtin_add_overflow(sum, h->dropped[i], &sum))
			return UINT64_MAX;
	return sum;
}

/* ---- blocks ---- */

/* From the 64 bytes alone. `room`: bytes of payload that the file has. */
static enum raw_block_fate judge(const struct rk_raw_block *b, size_t room)
{
	if ((!b->magic && !b->state) || b->state == RK_RAW_TAKEN)
		return RAW_EMPTY;
	if (b->magic != RK_RAW_BLOCK_MAGIC)
		return RAW_DAMAGED;
	if (b->state == RK_RAW_FREE)
		return RAW_EMPTY;
	if (b->state != RK_RAW_OPEN && b->state != RK_RAW_SEALED)
		return RAW_DAMAGED;
	if (b->kind != RK_RAW_DATA && b->kind != RK_RAW_DEFINITIONS)
		return RAW_DAMAGED;
	return (uint32_t)b->published > room ? RAW_DAMAGED : RAW_GOOD;
}

int rk_raw_block_read(struct raw_file *f, uint64_t index, uint8_t *buf, struct rk_raw_block *ret,
		      enum raw_block_fate *fate, struct rk_error *err)
{
	size_t len = 0;
	int rc = rk_file_pread(f->file, buf, f->h.block_bytes, index * f->h.block_bytes, &len, err);

	if (rc < 0)
		return rc;
	*fate = RAW_EMPTY;
	if (len < sizeof(*ret))
		return 0;
	memcpy(ret, buf, sizeof(*ret));
	*fate = judge(ret, len - sizeof(*ret));
	if (*fate == RAW_GOOD && ret->state == RK_RAW_SEALED &&
	    rk_raw_block_sum(ret, buf + sizeof(*ret), (uint32_t)ret->published) != ret->sum)
		*fate = RAW_DAMAGED;
	return 0;
}

/* ---- survey ---- */

static int by_sequence(const void *a, const void *b)
{
	const struct raw_turn *x = a, *y = b;

	if (x->sequence != y->sequence)
		return x->sequence < y->sequence ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* In a window any block may be the next. What has too many is read as it lies: order is for speed. */
static int expect_turns(struct raw_file *f, struct rk_error *err)
{
	if (f->nblocks > RAW_MAX_TURNS)
		return 0;
	f->turns = rk_alloc((size_t)f->nblocks * sizeof(*f->turns));
	return f->turns ? 0 : rk_fail_nomem(err);
}

static void survey_data(struct raw_file *f, const struct rk_raw_block *b, uint64_t index)
{
	f->used++;
	f->open += b->state == RK_RAW_OPEN;
	f->records += b->published >> 32;
	f->types |= b->types;
	if (f->turns)
		f->turns[f->nturns++] = (struct raw_turn){ b->sequence, index };
}

int rk_raw_block_peek(struct raw_file *f, uint64_t index, struct rk_raw_block *ret,
		      enum raw_block_fate *fate, struct rk_error *err)
{
	uint64_t at = index * f->h.block_bytes, left = f->file->size - at;
	size_t len = 0;
	int rc = rk_file_pread(f->file, ret, sizeof(*ret), at, &len, err);

	left = left < f->h.block_bytes ? left : f->h.block_bytes;
	*fate = RAW_EMPTY;
	if (rc == 0 && len == sizeof(*ret))
		*fate = judge(ret, (size_t)left - sizeof(*ret));
	return rc;
}

int rk_raw_survey(struct raw_file *f, uint8_t *buf,
		  int (*definitions)(void *arg, const uint8_t *payload, size_t len,
				     struct rk_error *err),
		  void *arg, struct rk_error *err)
{
	int rc = expect_turns(f, err);

	for (uint64_t i = 1; rc == 0 && i < f->nblocks; i++) {
		struct rk_raw_block b;
		enum raw_block_fate fate;

		rc = rk_raw_block_peek(f, i, &b, &fate, err);
		if (rc == 0 && fate == RAW_GOOD && b.kind == RK_RAW_DEFINITIONS)
			rc = rk_raw_block_read(f, i, buf, &b, &fate, err);
		else if (rc == 0 && fate == RAW_GOOD)
			survey_data(f, &b, i);
		if (rc == 0 && fate == RAW_GOOD && b.kind == RK_RAW_DEFINITIONS)
			rc = definitions(arg, buf + sizeof(b), (uint32_t)b.published, err);
		f->damaged += rc == 0 && fate == RAW_DAMAGED;
	}
	if (f->nturns)
		qsort(f->turns, f->nturns, sizeof(*f->turns), by_sequence);
	return rc;
}

/* ---- what is odd ---- */

static void odd_drops(const struct rk_raw_header *h, struct rk_oddities *odd)
{
	uint64_t all = rk_raw_dropped(h);

	if (all)
		rk_oddities_count(odd, "dropped-records", 0, all,
				  "records lost: %" PRIu64 " at the limit, %" PRIu64
				  " no disk, %" PRIu64 " in handlers, %" PRIu64 " names, %" PRIu64
				  " all blocks busy, %" PRIu64 " by the runtime itself",
				  h->dropped[RK_RAW_FULL], h->dropped[RK_RAW_DISK],
				  h->dropped[RK_RAW_REENTRY], h->dropped[RK_RAW_NAMES],
				  h->dropped[RK_RAW_BUSY], h->dropped[RK_RAW_SOURCE]);
	if (h->overwritten)
		rk_oddities_count(odd, "overwritten-records", 0, h->overwritten,
				  "the oldest records were overwritten: the file is a window");
}

void rk_raw_file_odd(const struct raw_file *f, struct rk_oddities *odd)
{
	uint64_t pending = rk_raw_pending(&f->h);

	if (f->h.clean != 1)
		rk_oddities_count(
			odd, "unclean-end", 0, pending ? pending : 1,
			"the process did not end in order (killed, _exit, exec?): %" PRIu64
			" operations were under way, %" PRIu64 " blocks not sealed",
			pending, f->open);
	else if (pending)
		rk_oddities_count(odd, "unfinished-operations", 0, pending,
				  "operations were handed to a device and not seen to end");
	if (f->sum_wrong)
		rk_oddities_count(odd, "damaged-header", 0, 1,
				  "the header has a wrong checksum: do not trust its names");
	if (f->cut)
		rk_oddities_count(odd, "cut-file", 0, 1, "the file ends inside a block");
	if (f->damaged)
		rk_oddities_count(odd, "damaged-block", 0, f->damaged,
				  "blocks that cannot be read; passed over");
	odd_drops(&f->h, odd);
}
