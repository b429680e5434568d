/*
 * cup_buffer.c - see cup.h: CUPTI's clock, and the buffers that it fills.
 *
 * We ask CUPTI to use our host clock (CLOCK_BOOTTIME): it then converts device times itself. The
 * first record shows whether it does: only then is its time between the start of the program and
 * now, because CUPTI's own clock counts from another year. If it does not, we compare its clock
 * with ours from time to time, as for any other device.
 */
#include <errno.h>
#include <sys/mman.h>

#include "cup.h"

#define NS_PER_S 1000000000LL
#define AGAIN_NS (60 * NS_PER_S)
#define TRIES 8

static struct {
	atomic_int kind; /* unknown yet, host clock, or CUPTI's clock */
	_Atomic int64_t offset;
	int64_t start_ns, last_ns;
	bool asked;
} clock_state;

enum { NOT_SEEN, HOSTS, CUPTIS };

static uint64_t now(void)
{
	return (uint64_t)rk_rec_now();
}

void rk_cup_clock_start(void)
{
	cupti_timestamp *f = now;
	size_t bytes = sizeof(f);
	cupti_result rc = -1;

	clock_state.start_ns = rk_rec_now();
	if (rk_cup.subscriber && rk_cup.f.cuptiActivitySetAttribute_v2)
		rc = rk_cup.f.cuptiActivitySetAttribute_v2(rk_cup.subscriber, CUPTI_ATTR_TIMESTAMP,
							   &bytes, (void *)&f);
	else if (!rk_cup.subscriber && rk_cup.f.cuptiActivityRegisterTimestampCallback)
		rc = rk_cup.f.cuptiActivityRegisterTimestampCallback(f);
	clock_state.asked = rc == CUPTI_OK;
}

/* The best of several readings, each taken between two readings of the host clock. */
struct reading {
	int64_t cupti_ns, boot_ns, error_ns;
};

static bool compare(struct reading *best)
{
	best->error_ns = INT64_MAX;
	for (int i = 0; i < TRIES; i++) {
		int64_t before = rk_rec_now(), width;
		cupti_result rc;
		uint64_t t = 0;

		if (rk_cup.subscriber && rk_cup.f.cuptiGetTimestamp_v2)
			rc = rk_cup.f.cuptiGetTimestamp_v2(rk_cup.subscriber, &t);
		else
			rc = rk_cup.f.cuptiGetTimestamp(&t);
		if (rc != CUPTI_OK || t > INT64_MAX)
			return false;
		width = rk_rec_now() - before;
		if (width < best->error_ns)
			*best = (struct reading){ (int64_t)t, before + width / 2, width };
	}
	best->error_ns = best->error_ns / 2 + 1;
	return true;
}

static void write_reading(uint32_t device, void *user)
{
	const struct reading *r = user;
	struct rk_rec_clocks c;

	rk_rec_clocks(&c);
	rk_rec_calibration(device, r->cupti_ns, r->boot_ns, c.raw_ns - (c.boot_ns - r->boot_ns),
			   r->error_ns);
}

void rk_cup_clock_calibrate(bool last)
{
	int64_t t = rk_rec_now();
	struct reading r = { t, t, 0 };

	if (atomic_load(&clock_state.kind) == NOT_SEEN ||
	    (!last && clock_state.last_ns && t - clock_state.last_ns < AGAIN_NS))
		return;
	if (atomic_load(&clock_state.kind) == CUPTIS && !compare(&r))
		return;
	clock_state.last_ns = t;
	atomic_store(&clock_state.offset, r.boot_ns - r.cupti_ns);
	rk_cup_device_each(write_reading, &r);
}

void rk_cup_clock_seen(uint64_t cupti_ns)
{
	int64_t t = (int64_t)cupti_ns;
	bool hosts;

	if (atomic_load(&clock_state.kind) != NOT_SEEN)
		return;
	hosts = t >= clock_state.start_ns - NS_PER_S && t <= rk_rec_now() + NS_PER_S;
	atomic_store(&clock_state.kind, clock_state.asked && hosts ? HOSTS : CUPTIS);
	rk_cup_clock_calibrate(true);
}

int64_t rk_cup_clock_host(uint64_t cupti_ns)
{
	return (int64_t)cupti_ns + atomic_load(&clock_state.offset);
}

/* ---- the buffers that CUPTI fills ---- */
/*
 * A buffer is free, with CUPTI, full, or being read. Each change is one compare-and-exchange of its
 * state, so callbacks never wait. Buffers are allocated as needed, up to a limit: beyond it CUPTI
 * gets none and counts the records it drops.
 */

enum {
	BUFFERS = 64,
	BYTES = 1 << 20, /* about 5000 kernels */
	BYTES_MIN = 16 << 10,
	BYTES_MAX = 64 << 20,
};

enum state { UNUSED, MAKING, FREE, OUT, FULL, READING };

static struct buffer {
	_Atomic uint32_t state;
	uint8_t *data;
	size_t valid;
	uint64_t turn; /* to read full buffers in order of arrival */
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

/* Gets a buffer for CUPTI; NULL: all are in use, or there is no memory. */
static struct buffer *take(void)
{
	int before = errno;
	struct buffer *b;
	void *p;

	for (b = buffers; b < buffers + BUFFERS; b++)
		if (change(b, FREE, OUT))
			return b;
	b = buffers;
	while (b < buffers + BUFFERS && !change(b, UNUSED, MAKING))
		b++;
	if (b == buffers + BUFFERS)
		return NULL;
	p = mmap(NULL, buffer_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	errno = before;
	if (p == MAP_FAILED) {
		atomic_store(&b->state, UNUSED);
		return NULL;
	}
	b->data = p;
	atomic_store(&b->state, OUT);
	return b;
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
		return; /* not our buffer: other callbacks were registered before */
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

/* Counts records that CUPTI dropped since the last call. */
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

		/* never go backwards or out of bounds: do not trust CUPTI */
		good = at >= begin && at < begin + b->valid && (!before || r > before) &&
		       at % sizeof(uint64_t) == 0 && rk_cup_record(r, begin + b->valid - at);
		before = r;
	}
	if (!good || (rc != CUPTI_OK && rc != CUPTI_MAX_LIMIT_REACHED)) {
		rk_rec_source_lost(1);
		rk_cup_say("CUPTI returned an unreadable buffer: its kernels are not recorded");
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

bool rk_cup_buffer_register(void)
{
	char text[16], buf[32];
	const char *p = text;
	cupti_result rc;
	size_t n = 0;

	/* A number with K or M. */
	if (rk_rec_setting("buffer", text, sizeof(text))) {
		for (; *p >= '0' && *p <= '9' && n <= BYTES_MAX; p++)
			n = n * 10 + (size_t)(*p - '0');
		if (*p == 'K')
			n <<= 10;
		else if (*p == 'M')
			n <<= 20;
		if (n >= BYTES_MIN && n <= BYTES_MAX)
			buffer_bytes = n & ~(size_t)4095;
	}
	if (rk_cup.subscriber)
		rc = rk_cup.f.cuptiActivityRegisterCallbacks_v2(rk_cup.subscriber, requested2,
								completed2);
	else
		rc = rk_cup.f.cuptiActivityRegisterCallbacks(requested, completed);
	if (rc != CUPTI_OK)
		rk_cup_say("CUPTI does not accept buffers (%s): kernels are not recorded",
			   rk_cup_error(rc, buf));
	return rc == CUPTI_OK;
}
