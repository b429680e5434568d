/*
 * rkraw.h - the layout of .rkraw files, for the recorder that writes them and the reader.
 *
 * A file is blocks of equal size; block 0 is the header. Numbers have the byte order of the
 * machine that wrote them, which is little: another one is refused. A block is written by one
 * thread at a time and has records one after another: tag byte, length (varint), fields (varints,
 * differences in zigzag form). A reader passes over tags it does not know, and over fields after
 * those it knows.
 *
 * Data blocks begin with no history: the time before the first record is 0, the correlation 0, the
 * thread that of the block's header. A THREAD record has the same effect in the middle of a block
 * and names the thread that goes on. Definitions have blocks of their own, which are never
 * overwritten; a definition is in the file before the first record that uses it.
 *
 * A block is valid up to `published`, at any moment. A sealed one has a checksum besides.
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
	RK_RAW_TEXT_MAX = 8000, /* of one string definition */
	RK_RAW_STRIPES = 32,
	RK_RAW_RECORD_MAX = 128, /* of one record in a data block */
};

enum rk_raw_flag { RK_RAW_WINDOW = 1 };

/* Why records were lost. */
enum rk_raw_reason {
	RK_RAW_FULL,    /* the file has reached its limit */
	RK_RAW_DISK,    /* the file could not grow, or not be made */
	RK_RAW_REENTRY, /* a signal handler called during a call */
	RK_RAW_NAMES,   /* definitions: no more room for them */
	RK_RAW_BUSY,    /* window: every block is being written */
	RK_RAW_SOURCE,  /* the vendor's runtime says that it lost them */
	RK_RAW_REASONS = 8,
};

struct rk_raw_clocks {
	int64_t boot_ns, mono_ns, raw_ns, real_ns, error_ns;
};

/* Operations handed to devices and over again; spread over lines of memory against contention. */
struct rk_raw_stripe {
	uint64_t begun, ended, unused[6];
};

/* Block 0. Texts are terminated unless they fill their place. */
struct rk_raw_header {
	char magic[8];
	uint32_t format, order, block_bytes, flags;
	uint32_t pid, ppid;
	int32_t rank, local_rank;   /* -1: none */
	uint64_t limit_blocks;      /* the most the file may have, this one counted */
	uint64_t definition_blocks; /* window: blocks 1.. that are for definitions alone; else 0 */
	struct rk_raw_clocks start;
	char collector[32], host[256], exe[1024], command[4096]; /* command: words end in NUL */
	uint32_t command_len, unused;
	uint64_t sum; /* of all before it */

	/* From here on it changes. */
	uint64_t dropped[RK_RAW_REASONS]; /* records */
	uint64_t overwritten;             /* window: records that were there */
	_Alignas(64) struct rk_raw_stripe stripes[RK_RAW_STRIPES];
	uint32_t clean;     /* 1: rk_rec_end() was called */
	uint32_t last_slot; /* which of `last` is whole */
	struct rk_raw_clocks last[2], end;
};

enum rk_raw_state { RK_RAW_FREE, RK_RAW_OPEN, RK_RAW_SEALED, RK_RAW_TAKEN };
enum rk_raw_kind { RK_RAW_DATA = 1, RK_RAW_DEFINITIONS = 2 };

struct rk_raw_block {
	uint32_t magic, state;
	uint64_t published; /* payload bytes, and records in the upper 32 bits */
	uint64_t sequence;  /* counts all blocks taken: higher is later, wherever it lies */
	uint32_t kind, tid;
	uint32_t types; /* bit per tag that is in it (tags below 32) */
	uint32_t unused;
	uint64_t unused2[2];
	uint64_t sum; /* sealed: see rk_raw_block_sum() */
};

_Static_assert(sizeof(struct rk_raw_block) == 64, "blocks begin with 64 bytes");
_Static_assert(sizeof(struct rk_raw_header) < RK_RAW_BLOCK_MIN, "the header is in one block");

/*
 * Records in data blocks. TIMES is queued minus the queued of the record before it, then submit,
 * start and end, each minus the one before; a copy or marker whose queued is 0 is on the host's
 * clock. HOST is the same for a start on the host's clock, with a history of its own, then the
 * duration. CORR and TID are differences too; NODE is one against the graph's number in the upper
 * 32 bits. A TID that comes to 0, or a tid of 0, is one that nobody knows. What is in brackets is
 * there or not.
 */
enum rk_raw_tag {
	RK_RAW_THREAD = 1, /* tid */
	RK_RAW_KERNEL,     /* shape, queue, TID, CORR, TIMES [, graph, NODE] */
	RK_RAW_COPY,       /* direction, queue, bytes, TID, CORR, TIMES [, from, to (devices)] */
	RK_RAW_SYNC,       /* name, queue, TID, CORR, TIMES */
	RK_RAW_API,        /* name, correlation, HOST [, tid, domain (string)] */
	RK_RAW_BUILD,      /* name, device, HOST */
	RK_RAW_ALLOC,      /* kind, device, address, bytes, HOST [, tid, correlation] */
	RK_RAW_DROP,       /* how many records of this thread were lost before the next */
	RK_RAW_MARKER,     /* kind, name, domain (string), tid, zigzag: start, duration */
	RK_RAW_COUNTER, /* counter, kernel (strings), device, dispatch, value (a double's bits) */

	/* In definition blocks; each but CALIBRATION begins with its id. */
	RK_RAW_STRING = 16, /* bytes up to the record's end */
	/* number, type, name, vendor, driver, CUs, MHz, wave size, memory bytes [, arch (string)] */
	RK_RAW_DEVICE,
	RK_RAW_QUEUE,       /* device, number, flags [, context + 1] */
	RK_RAW_FUNCTION,    /* name, device, regs + 1, private + 1, local + 1; 0: not known */
	RK_RAW_SHAPE,       /* function, local bytes + 1, items x y z, group x y z */
	RK_RAW_CALIBRATION, /* device, then zigzag: device ns, boot ns, raw ns, error ns */
	RK_RAW_NOTE,        /* string: a sentence of the collector */
};

/* Not cryptographic: finds what a disk or a crash does to a block. Eight bytes at a time. */
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

/* Of a block and its payload. */
static inline uint64_t rk_raw_block_sum(const struct rk_raw_block *b, const void *payload,
					size_t len)
{
	const uint64_t fixed[] = { b->published, b->sequence, (uint64_t)b->kind << 32 | b->tid,
				   b->types };

	return rk_raw_sum(rk_raw_sum(RK_RAW_BLOCK_MAGIC, fixed, sizeof(fixed)), payload, len);
}

#endif
