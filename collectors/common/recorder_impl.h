/*
 * recorder_impl.h - shared by recorder*.c only.
 *
 * A thread writes the block it holds. Everything else that changes is atomic or changes under
 * rec.lock. The lock is taken when a file is created or grows and for new definitions, never to
 * write a record.
 */
#ifndef RK_RECORDER_IMPL_H
#define RK_RECORDER_IMPL_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "recorder.h"

#include "base/rkraw.h"

#define REC_NO_BLOCK UINT32_MAX /* never the generation of a file */

enum {
	REC_SPARE = 64, /* open blocks of ended threads that are kept for others */
	REC_PATH = 4096,
	REC_SETTINGS = 8192,
	REC_SEGMENTS = 4, /* of the definitions in a window; see recorder_names.c */
	REC_STAMP_WAYS = 4,
	REC_STAMPS = 1 << 17,
};

/* Per-thread state. The thread owns the block while `generation` is the file's. */
struct rec_thread {
	uint32_t generation;
	uint32_t tid;
	uint32_t busy;   /* inside a call; checked by calls from a signal handler */
	uint32_t inside; /* rk_rec_enter */
	struct rk_raw_block *block;
	uint8_t *pos, *end;
	uint64_t published;
	uint32_t epoch; /* the block uses definitions that were written since then */
	/* base values for the next record's differences */
	uint64_t queued, host, correlation;
	uint32_t prev_tid, types;
	struct { /* the same for LAUNCH, RAN and CALL */
		uint64_t id, correlation, at, start;
		uint32_t tid;
	} last;
	uint32_t sample_in; /* this many calls until the next one that is recorded; 0: not drawn */
	uint64_t random;
	uint64_t lost; /* records lost since the last one that was written */
	bool keyed;    /* a destructor is registered for the thread's end */
};

extern _Thread_local struct rec_thread rk_rec_self;

/*
 * In a library that was loaded late, getting this address costs a call, and compilers repeat the
 * call for each use: here it is made once. (Static TLS would avoid it, but a running process does
 * not always have room for more.)
 */
static inline struct rec_thread *rk_rec_me(void)
{
	struct rec_thread *t = &rk_rec_self;

	__asm__("" : "+r"(t));
	return t;
}

enum rec_gate { REC_GATE_UNKNOWN, REC_GATE_SHUT, REC_GATE_OPEN };

struct recorder {
	/*
	 * The file's generation while it is open. The word is in a page that the kernel clears in
	 * every child, however it was created: then no thread's generation matches any more.
	 */
	_Atomic uint32_t *alive;
	_Atomic uint32_t *gate; /* in the same page: enum rec_gate */
	atomic_uint started;    /* 0: no, 1: starting, 2: done */
	atomic_bool off;        /* permanently off */
	_Atomic uint32_t lock;  /* see above; 1: held, 2: and others wait */
	uint32_t generation;    /* of the open file, or of the next one */
	pid_t pid;              /* the process that `generation` belongs to */
	char collector[32];

	/* the file */
	char path[REC_PATH];
	dev_t dev;
	ino_t ino;
	uint8_t *base;
	size_t map_bytes, block_bytes;
	struct rk_raw_header *_Atomic header; /* NULL: not open */
	/* nblocks is the limit; before first_data: the header and, in a window, definitions */
	uint64_t nblocks, first_data;
	bool window;
	_Atomic uint64_t next;                     /* block to take next; window: turns */
	_Atomic uint64_t sequence;                 /* window: of the last data block */
	_Atomic uint64_t reserved;                 /* blocks with reserved disk space */
	_Atomic uint64_t *sealed;                  /* window: see recorder_block.c */
	uint32_t *born;                            /* window: epochs of the blocks */
	_Atomic uint64_t sealed_first, sealed_end; /* numbers */
	atomic_int full;                           /* 1 + enum rk_raw_reason: no more blocks */
	_Atomic uint32_t spare[REC_SPARE];
	atomic_uint nspare;
	atomic_flag clocks; /* set while a thread writes header->last */
	/* definitions: see recorder_names.c */
	_Atomic uint32_t epoch;
	uint32_t lag;             /* a block of an epoch so long ago is left */
	_Atomic uint64_t *stamps; /* id << 32 | epoch, in sets of REC_STAMP_WAYS */

	/* numbers of operations; not beside what every record reads */
	_Alignas(64) _Atomic uint64_t ids;
	_Atomic uint64_t lost;
};

extern struct recorder rk_rec;

/* A size with K, M or G; `otherwise` if it is not set or invalid. */
uint64_t rk_rec_bytes(const char *key, uint64_t otherwise);

/* ---- recorder_file.c: call with the lock held, unless stated otherwise ---- */

/* Creates the file and its header and sets rk_rec.header; on false nothing is left behind. */
bool rk_rec_file_open(void);
/* Reserves disk space for block `index`; takes the lock unless it is held. */
bool rk_rec_file_grow(uint64_t index, bool locked);
/* Releases the space after the blocks in use. */
void rk_rec_file_shrink(void);
/* Detaches from the parent's file. */
void rk_rec_file_forget(bool unmap);

static inline struct rk_raw_block *rk_rec_block_at(uint64_t index)
{
	return (struct rk_raw_block *)(void *)(rk_rec.base + index * rk_rec.block_bytes);
}

/* ---- recorder_block.c ---- */

/* Gives up the thread's block: seals it, or keeps it for another thread if there is enough room. */
void rk_rec_block_leave(struct rec_thread *t, bool seal);
void rk_rec_spares_seal(void);
/* A fresh block, or NULL and the reason. For definitions: call with the lock held. */
struct rk_raw_block *rk_rec_block_take(enum rk_raw_kind kind, uint32_t tid,
				       enum rk_raw_reason *why);
/* Turns a taken block into an open one. */
void rk_rec_block_begin(struct rk_raw_block *b, enum rk_raw_kind kind, uint32_t tid,
			uint64_t sequence);
void rk_rec_block_seal(struct rk_raw_block *b);
void rk_rec_drop(struct rec_thread *t, enum rk_raw_reason why);
/* The counters of this thread; NULL: no file, or it is the parent's. */
struct rk_raw_stripe *rk_rec_stripe(struct rec_thread *t);

/* ---- recorder_block.c: the sealed blocks of a window ---- */

bool rk_rec_sealed_open(void);
void rk_rec_sealed_close(void);

/* ---- recorder_switch.c ---- */

void rk_rec_switch_init(void); /* reads the settings */
/* Writes the state to a new header, before the file has a name. */
void rk_rec_switch_header(struct rk_raw_header *h);
/* After a file was opened, without the lock: sets the gate and starts the thread if needed. */
void rk_rec_switch_open(void);

/* ---- recorder_names.c ---- */

bool rk_rec_names_init(void);
void rk_rec_names_open(void);   /* call with the lock held after a file was opened */
void rk_rec_names_forget(void); /* forgets the file, keeps the names */
/* Makes sure that the file has a definition not older than epoch `since`. False: it is unknown. */
bool rk_rec_define(uint32_t id, uint32_t since);

static inline _Atomic uint64_t *rk_rec_stamps_of(uint32_t id)
{
	return &rk_rec.stamps[id % (REC_STAMPS / REC_STAMP_WAYS) * REC_STAMP_WAYS];
}

/* ---- recorder.c ---- */

bool rk_rec_open_late(void); /* creates a child's file at its first record; call without the lock */
void rk_rec_lock(void);
void rk_rec_unlock(void);
void rk_rec_clocks_fill(struct rk_raw_clocks *ret, unsigned tries);
void rk_rec_clocks_last(void); /* updates header->last, unless another thread is doing so */

/*
 * Returns true if this call interrupts another one; the record is then dropped. Otherwise marks the
 * thread busy.
 */
static inline bool rk_rec_busy(struct rec_thread *t)
{
	if (t->busy) {
		rk_rec_drop(t, RK_RAW_REENTRY);
		return true;
	}
	t->busy = 1;
	atomic_signal_fence(memory_order_seq_cst);
	return false;
}

static inline void rk_rec_done(struct rec_thread *t)
{
	atomic_signal_fence(memory_order_seq_cst);
	t->busy = 0;
}

/* For code that makes system calls: preserves errno and prevents cancellation. */
struct rec_slow {
	int saved_errno, cancel;
};

static inline struct rec_slow rk_rec_slow_begin(void)
{
	struct rec_slow s = { errno, PTHREAD_CANCEL_ENABLE };

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &s.cancel);
	return s;
}

static inline void rk_rec_slow_end(struct rec_slow s)
{
	pthread_setcancelstate(s.cancel, NULL);
	errno = s.saved_errno;
}

/* ---- encoding ---- */

static inline uint8_t *rk_rec_varint(uint8_t *p, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*p++ = (uint8_t)(v | 0x80);
	*p++ = (uint8_t)v;
	return p;
}

/* A difference with its sign in the lowest bit: small values of either sign are small. */
static inline uint64_t rk_rec_sign_last(uint64_t difference)
{
	return difference << 1 ^ (0 - (difference >> 63));
}

static inline uint8_t *rk_rec_zigzag(uint8_t *p, uint64_t difference)
{
	return rk_rec_varint(p, rk_rec_sign_last(difference));
}

#endif
