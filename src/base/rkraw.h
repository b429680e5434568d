/*
 * rkraw.h - the layout of .rkraw files, for the recorder that writes them and the reader.
 *
 * A file consists of blocks of equal size; block 0 is the header. Numbers have the byte order of
 * the machine that wrote them; only little-endian files are accepted. One thread at a time writes
 * to a block. A block holds records one after another: tag byte, length (varint), fields (varints;
 * differences are in zigzag form). A reader skips tags it does not know, and extra fields at the
 * end of a record.
 *
 * Differences start from scratch in each data block: previous time 0, previous correlation 0, and
 * the thread of the block's header. A THREAD record resets them in the middle of a block and names
 * the thread that continues. Definitions have their own blocks; a definition is in the file before
 * the first record that uses it. Ids are never used twice, and the same definition may be there
 * more than once. In a window, blocks are taken again, those for definitions too: `live_from` in
 * the header says from which data block on all definitions are there.
 *
 * Who copies the window of a running process reads the data blocks first, then the definitions,
 * then the header: what `live_from` promises then is in the copy. A block is copied with its header
 * before and after; it is whole if both have the same sequence and it is not TAKEN. Its records are
 * those that were published before.
 *
 * A block is valid up to `published` at any moment. A sealed block also has a checksum.
 */
#ifndef RK_RKRAW_H
#define RK_RKRAW_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define RK_RAW_MAGIC "rkraw\r\n\x1a" /* 8 bytes, without the NUL */

enum {
	RK_RAW_FORMAT = 1,
	RK_RAW_ORDER = 0x01020304,
	RK_RAW_BLOCK_MAGIC = 0x4c424b52, /* "RKBL" */
	RK_RAW_BLOCK_MIN = 16 << 10,
	RK_RAW_BLOCK_MAX = 1 << 20,
	RK_RAW_TEXT_MAX = 8000, /* bytes of one string definition */
	RK_RAW_STRIPES = 32,
	RK_RAW_RECORD_MAX = 128, /* bytes of one record in a data block */
};

enum rk_raw_flag {
	RK_RAW_WINDOW = 1,
	RK_RAW_SWITCHED = 2,   /* the header has the fields from `wanted` on; older files do not */
	RK_RAW_SNAP = 4,       /* a copy, made while the program was running */
	RK_RAW_SWITCHABLE = 8, /* a thread of the collector waits for `wanted` */
	RK_RAW_COPY_OF = 16,   /* a copy, of a program that was running or not */
};

/* Why records were lost. */
enum rk_raw_reason {
	RK_RAW_FULL,    /* the file has reached its limit */
	RK_RAW_DISK,    /* the file could not be created or grown */
	RK_RAW_REENTRY, /* called from a signal handler during another call */
	RK_RAW_NAMES,   /* definitions: no room left */
	RK_RAW_BUSY,    /* window: all blocks are being written */
	RK_RAW_SOURCE,  /* the vendor's runtime reported that it lost them */
	RK_RAW_REASONS = 8,
};

/* Why records were left out on purpose. */
enum rk_raw_skip {
	RK_RAW_ASLEEP, /* recording was switched off from outside */
	RK_RAW_SAMPLE, /* sample=N: not one of the calls that were chosen */
	RK_RAW_EVERY,  /* every=N:M: in a range that was not chosen */
	RK_RAW_RANGE,  /* range=NAME: outside of such a range */
	RK_RAW_SKIPS,
};

struct rk_raw_clocks {
	int64_t boot_ns, mono_ns, raw_ns, real_ns, error_ns;
};

/* Operations submitted to devices and finished; one cache line per stripe to avoid contention. */
struct rk_raw_stripe {
	uint64_t begun, ended, skipped[RK_RAW_SKIPS], unused[2];
};

/* Block 0. Texts are NUL-terminated unless they fill their array. */
struct rk_raw_header {
	char magic[8];
	uint32_t format, order, block_bytes, flags;
	uint32_t pid, ppid;
	int32_t rank, local_rank;   /* -1: none */
	uint64_t limit_blocks;      /* max blocks of the file, this one included */
	uint64_t definition_blocks; /* window: blocks reserved for definitions, from 1 on */
	struct rk_raw_clocks start;
	char collector[32], host[256], exe[1024], command[4096]; /* words end with NUL */
	uint32_t command_len, unused;
	uint64_t sum; /* of all fields before it */

	/* The fields below change while recording. */
	uint64_t dropped[RK_RAW_REASONS]; /* records */
	uint64_t overwritten;             /* window: records that were overwritten */
	_Alignas(64) struct rk_raw_stripe stripes[RK_RAW_STRIPES];
	uint32_t clean;     /* 1: rk_rec_end() was called */
	uint32_t last_slot; /* index of the valid entry in `last` */
	struct rk_raw_clocks last[2], end;

	/* Only with RK_RAW_SWITCHED. Others than the collector write `wanted` and nothing else. */
	uint32_t wanted; /* 1: record, 0: sleep; a futex word shared between processes */
	uint32_t awake;  /* what the collector does: follows `wanted`, and is woken as a futex */
	uint64_t proc_start; /* field 22 of /proc/PID/stat; 0: unknown */
	uint64_t live_from; /* window: definitions of data blocks with a lower sequence may be gone */
	uint64_t copied_over; /* in a copy: blocks that the program overwrote meanwhile */
};

enum rk_raw_state { RK_RAW_FREE, RK_RAW_OPEN, RK_RAW_SEALED, RK_RAW_TAKEN };
enum rk_raw_kind { RK_RAW_DATA = 1, RK_RAW_DEFINITIONS = 2 };

struct rk_raw_block {
	uint32_t magic, state;
	uint64_t published; /* payload bytes; number of records in the upper 32 bits */
	uint64_t sequence;  /* counts all blocks used; higher is later, at any offset */
	uint32_t kind, tid;
	uint32_t types;    /* one bit per tag in the block (tags below 32) */
	uint32_t was_open; /* 1: in a copy, a block that the program had not sealed */
	uint64_t unused2[2];
	uint64_t sum; /* sealed: see rk_raw_block_sum() */
};

_Static_assert(sizeof(struct rk_raw_block) == 64, "blocks begin with 64 bytes");
_Static_assert(sizeof(struct rk_raw_header) < RK_RAW_BLOCK_MIN, "the header is in one block");

/*
 * Records in data blocks. TIMES is queued minus the queued time of the previous record, then
 * submit, start and end, each minus the one before it; if queued of a copy or marker is 0, its
 * times are on the host's clock. HOST is a start on the host's clock minus the previous such start,
 * then the duration. CORR and TID are differences too; NODE is the difference from graph << 32. A
 * resulting TID of 0, or a tid of 0, means unknown. Fields in brackets are optional.
 *
 * LAUNCH, RAN and CALL have base values of their own, so that readers that skip them can read the
 * rest. Each field is the difference from the same field of the previous record in this block: ID
 * of a LAUNCH or RAN; TID of a LAUNCH; START of a RAN, on the device's clock; CORR of a LAUNCH or
 * CALL; AT, a time on the host's clock, of a LAUNCH or CALL. CORR of a CALL is 0 if it has none,
 * else the difference in zigzag form plus 1.
 */
enum rk_raw_tag {
	RK_RAW_THREAD = 1, /* tid */
	RK_RAW_KERNEL,     /* shape, queue, TID, CORR, TIMES [, graph, NODE] */
	RK_RAW_COPY,       /* direction, queue, bytes, TID, CORR, TIMES [, from, to (devices)] */
	RK_RAW_SYNC,       /* name, queue, TID, CORR, TIMES */
	RK_RAW_API,        /* name, correlation, HOST [, tid, domain (string)] */
	RK_RAW_BUILD,      /* name, device, HOST */
	RK_RAW_ALLOC,      /* kind, device, address, bytes, HOST [, tid, correlation] */
	RK_RAW_DROP,       /* number of records of this thread lost before the next one */
	RK_RAW_MARKER,     /* kind, name, domain (string), tid, zigzag: start, duration */
	RK_RAW_COUNTER, /* counter, kernel (strings), device, dispatch, value (a double's bits) */
	/*
	 * A kernel is a LAUNCH, written before the device gets it, and a RAN with the same id later,
	 * in any block. Without times (flag) START and DURATION are 0 and the base stays.
	 */
	RK_RAW_LAUNCH, /* ID, CORR, shape, queue, TID, AT [, graph, NODE] */
	RK_RAW_RAN,    /* ID, START, duration (zigzag) [, flags: enum rk_raw_ran] */
	RK_RAW_CALL,   /* name, CORR, AT, duration (zigzag) [, tid, domain (string)] */

	/* In definition blocks; all but CALIBRATION begin with their id. */
	RK_RAW_STRING = 16, /* bytes to the end of the record */
	/*
	 * number, type, name, vendor, driver, CUs, MHz, wave size, memory bytes [, arch string
	 * [, PCI address + 1 (domain << 16 | bus << 8 | device << 3 | function), unique id]]
	 */
	RK_RAW_DEVICE,
	RK_RAW_QUEUE, /* device, number, flags [, context + 1] */
	/* name, device, regs, private, local [, AGPRs, SGPRs]; each + 1, 0: not known */
	RK_RAW_FUNCTION,
	RK_RAW_SHAPE,       /* function, local bytes + 1, items x y z, group x y z */
	RK_RAW_CALIBRATION, /* device, then zigzag: device ns, boot ns, raw ns, error ns */
	RK_RAW_NOTE,        /* string: a message of the collector */
};

enum rk_raw_ran {
	RK_RAW_DOUBTFUL = 1, /* the times came through the signal of another tool */
	RK_RAW_NO_TIMES = 2,
};

/* Not cryptographic: detects damage by disks and crashes. Eight bytes at a time. */
static inline uint64_t rk_raw_sum(uint64_t h, const void *data, size_t len)
{
	const uint8_t *p = data;
	uint64_t word;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&word, p, 8);
		h = (h ^ word) * 0x9fb21c651e98df25u;
		h ^= h >> 29;
	}
	word = len;
	for (; len; len--)
		word = word << 8 | *p++;
	h = (h ^ word) * 0x9fb21c651e98df25u;
	return h ^ h >> 32;
}

/* Checksum of a block and its payload. */
static inline uint64_t rk_raw_block_sum(const struct rk_raw_block *b, const void *payload,
					size_t len)
{
	const uint64_t fixed[] = { b->published, b->sequence, (uint64_t)b->kind << 32 | b->tid,
				   b->types };

	return rk_raw_sum(rk_raw_sum(RK_RAW_BLOCK_MAGIC, fixed, sizeof(fixed)), payload, len);
}

#endif
