/*
 * cup_buffer.c - see cup.h: the buffers that CUPTI fills.
 *
 * A buffer is free, with CUPTI, full, or being read. Each change is one compare-and-exchange of its
 * state, so callbacks never wait for anybody. There are as many as are in use at a time, up to a
 * limit: beyond it CUPTI gets none and counts what it drops.
 */
#include <errno.h>
#include <sys/mman.h>

#include "cup.h"

enum {
	BUFFERS = 64,
	BYTES = 1 << 20, /* some 5000 kernels */
	BYTES_MIN = 16 << 10,
	BYTES_MAX = 64 << 20,
};

enum state { UNUSED, MAKING, FREE, OUT, FULL, READING };

static struct buffer {
	_Atomic uint32_t state;
	uint8_t *data;
	size_t valid;
	uint64_t turn; /* full ones are read in the order of their coming */
} buffers[BUFFERS];

static size_t buffer_bytes = BYTES;
static _Atomic uint64_t turns, calls;
static _Atomic int64_t last_ns;
static atomic_bool reading;

static bool change(struct buffer *b, uint32_t from, uint32_t to)
{
	return atomic_compare_exchange_strong(&b->state, &from, to);
}

/* ---- callbacks ---- */

static bool make(struct buffer *b)
{
	int before = errno;
	void *p = mmap(NULL, buffer_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);

	errno = before;
	if (p == MAP_FAILED) {
		atomic_store(&b->state, UNUSED);
		return false;
	}
	b->data = p;
	atomic_store(&b->state, OUT);
	return true;
}

static struct buffer *take(void)
{
	for (struct buffer *b = buffers; b < buffers + BUFFERS; b++)
		if (change(b, FREE, OUT))
			return b;
	for (struct buffer *b = buffers; b < buffers + BUFFERS; b++)
		if (change(b, UNUSED, MAKING))
			return make(b) ? b : NULL;
	return NULL;
}

static void noted(void)
{
	atomic_fetch_add(&calls, 1);
	atomic_store(&last_ns, rk_rec_now());
}

static void requested(uint8_t **data, size_t *size, size_t *max_records)
{
	struct buffer *b = rk_cup_is_child() ? NULL : take();

	noted();
	*data = b ? b->data : NULL;
	*size = b ? buffer_bytes : 0;
	*max_records = 0;
}

static void completed(void *context, uint32_t stream, uint8_t *data, size_t size, size_t valid)
{
	struct buffer *b = buffers;

	(void)context;
	(void)stream;
	(void)size;
	noted();
	while (b < buffers + BUFFERS && (atomic_load(&b->state) != OUT || b->data != data))
		b++;
	if (b == buffers + BUFFERS)
		return; /* not ours: somebody had other callbacks before */
	b->valid = valid < buffer_bytes ? valid : buffer_bytes;
	b->turn = atomic_fetch_add(&turns, 1);
	atomic_store(&b->state, FULL);
	if (rk_cup_is_child())
		return;
	if (rk_cup_thread_runs())
		rk_cup_thread_wake();
	else
		rk_cup_buffer_read(false);
}

static void requested2(uint8_t **data, size_t *size, size_t *max_records, void *info)
{
	(void)info;
	requested(data, size, max_records);
}

static void completed2(uint8_t *data, size_t size, size_t valid, void *info)
{
	(void)info;
	completed(NULL, 0, data, size, valid);
}

/* ---- reading ---- */

static cupti_result next_record(struct buffer *b, struct cupti_record **r)
{
	if (rk_cup.subscriber)
		return rk_cup.f.cuptiActivityGetNextRecord_v2(rk_cup.subscriber, b->data, b->valid,
							      r);
	return rk_cup.f.cuptiActivityGetNextRecord(b->data, b->valid, r);
}

/* What CUPTI itself had no room for since it was asked last. */
static void count_dropped(void)
{
	size_t n = 0;
	cupti_result rc;

	if (rk_cup.subscriber && rk_cup.f.cuptiActivityGetNumDroppedRecords_v2)
		rc = rk_cup.f.cuptiActivityGetNumDroppedRecords_v2(rk_cup.subscriber, NULL, 0, &n);
	else
		rc = rk_cup.f.cuptiActivityGetNumDroppedRecords(NULL, 0, &n);
	if (rc == CUPTI_OK && n)
		rk_rec_source_lost(n);
}

static void read_buffer(struct buffer *b)
{
	struct cupti_record *r = NULL, *before = NULL;
	cupti_result rc = CUPTI_OK;
	bool good = true;

	while (good && b->valid && (rc = next_record(b, &r)) == CUPTI_OK) {
		uintptr_t at = (uintptr_t)r, begin = (uintptr_t)b->data;

		/* never back, never outside: what CUPTI says is not believed either */
		good = at >= begin && at < begin + b->valid && (!before || r > before) &&
		       at % sizeof(uint64_t) == 0 && rk_cup_record(r, begin + b->valid - at);
		before = r;
	}
	if (!good || (rc != CUPTI_OK && rc != CUPTI_MAX_LIMIT_REACHED)) {
		rk_rec_source_lost(1);
		rk_cup_say("CUPTI gave a buffer that cannot be read: kernels in it are not "
			   "recorded");
	}
	count_dropped();
}

static struct buffer *oldest(void)
{
	struct buffer *first = NULL;

	for (struct buffer *b = buffers; b < buffers + BUFFERS; b++)
		if (atomic_load(&b->state) == FULL && (!first || b->turn < first->turn))
			first = b;
	return first;
}

bool rk_cup_buffer_waiting(void)
{
	return oldest() != NULL;
}

void rk_cup_buffer_read(bool last)
{
	struct buffer *b;

	if (atomic_exchange(&reading, true))
		return;
	while ((b = oldest()) && change(b, FULL, READING)) {
		read_buffer(b);
		atomic_store(&b->state, FREE);
	}
	if (last)
		count_dropped();
	rk_cup_clock_calibrate(last);
	atomic_store(&reading, false);
}

/* ---- the rest ---- */

void rk_cup_buffer_traffic(struct rk_cup_traffic *ret)
{
	*ret = (struct rk_cup_traffic){ .calls = atomic_load(&calls),
					.last_ns = atomic_load(&last_ns) };
	for (struct buffer *b = buffers; b < buffers + BUFFERS; b++)
		ret->out += atomic_load(&b->state) == OUT;
}

/* A number with K or M. */
static size_t bytes_setting(void)
{
	char text[16];
	size_t n = 0;
	const char *p = text;

	if (!rk_rec_setting("buffer", text, sizeof(text)))
		return BYTES;
	for (; *p >= '0' && *p <= '9' && n <= BYTES_MAX; p++)
		n = n * 10 + (size_t)(*p - '0');
	if (*p == 'K' || *p == 'M')
		n <<= *p == 'K' ? 10 : 20;
	return n < BYTES_MIN || n > BYTES_MAX ? BYTES : n & ~(size_t)4095;
}

bool rk_cup_buffer_register(void)
{
	cupti_result rc;
	char buf[32];

	buffer_bytes = bytes_setting();
	if (rk_cup.subscriber)
		rc = rk_cup.f.cuptiActivityRegisterCallbacks_v2(rk_cup.subscriber, requested2,
								completed2);
	else
		rc = rk_cup.f.cuptiActivityRegisterCallbacks(requested, completed);
	if (rc != CUPTI_OK)
		rk_cup_say("CUPTI takes no buffers (%s): kernels are not recorded",
			   rk_cup_error(rc, buf));
	return rc == CUPTI_OK;
}
