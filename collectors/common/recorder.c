/* recorder.c - settings, start, end, forks, and the clocks. */
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "recorder.h"
#include "recorder_impl.h"

/* ---- ROCKIT_COLLECT, read once ---- */

/* A copy, because the program may change its environment. */
static char settings[REC_SETTINGS];

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* The text after "key=", or NULL. */
static const char *find(const char *key)
{
	size_t len = strlen(key);

	for (const char *p = settings; *p;) {
		if (!strncmp(p, key, len) && p[len] == '=')
			return p + len + 1;
		p = strchr(p, ',');
		if (!p)
			break;
		p++;
	}
	return NULL;
}

bool rk_rec_setting(const char *key, char *buf, size_t cap)
{
	const char *p = find(key);
	size_t n = 0;

	if (!p)
		return false;
	for (; *p && *p != ','; p++) {
		char c = *p;

		if (c == '%') {
			int high = hex(p[1]), low = high < 0 ? -1 : hex(p[2]);

			if (low < 0)
				return false;
			c = (char)(high << 4 | low);
			p += 2;
		}
		if (n + 1 >= cap || !c)
			return false;
		buf[n++] = c;
	}
	buf[n] = '\0';
	return true;
}

bool rk_rec_flag(const char *key, bool otherwise)
{
	char word[4];

	if (!rk_rec_setting(key, word, sizeof(word)) || word[1] || (word[0] | 1) != '1')
		return otherwise;
	return word[0] == '1';
}

uint64_t rk_rec_bytes(const char *key, uint64_t otherwise)
{
	static const char units[] = "KMGT";
	char word[24];
	const char *p = word, *unit;
	uint64_t v = 0;
	int shift = 0;

	if (!rk_rec_setting(key, word, sizeof(word)) || *p < '0' || *p > '9')
		return otherwise;
	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return otherwise;
	if (*p) {
		unit = strchr(units, *p & ~0x20);
		if (!unit || p[1])
			return otherwise;
		shift = 10 * (int)(unit - units + 1);
	}
	return v > UINT64_MAX >> shift ? otherwise : v << shift;
}

/* ---- the state ---- */

_Thread_local struct rec_thread rk_rec_self = { .generation = REC_NO_BLOCK };

/* Used before the start, and if no page is cleared on fork. */
static _Atomic uint32_t plain_words[2];

struct recorder rk_rec = { .alive = plain_words,
			   .gate = plain_words + 1,
			   .clocks = ATOMIC_FLAG_INIT };

/* ---- clocks ---- */

static int64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

int64_t rk_rec_now(void)
{
	return clock_ns(CLOCK_BOOTTIME);
}

/* Reads the other clocks between two readings of one clock and uses their midpoint. */
static void bracket(struct rk_raw_clocks *c)
{
	int64_t before = clock_ns(CLOCK_MONOTONIC_RAW), after;

	c->mono_ns = clock_ns(CLOCK_MONOTONIC);
	c->boot_ns = clock_ns(CLOCK_BOOTTIME);
	c->real_ns = clock_ns(CLOCK_REALTIME);
	after = clock_ns(CLOCK_MONOTONIC_RAW);
	c->raw_ns = before + (after - before) / 2;
	c->error_ns = after - before;
}

void rk_rec_clocks_fill(struct rk_raw_clocks *ret, unsigned tries)
{
	struct rk_raw_clocks c;

	bracket(ret);
	while (--tries) {
		bracket(&c);
		if (c.error_ns < ret->error_ns)
			*ret = c;
	}
}

void rk_rec_clocks(struct rk_rec_clocks *ret)
{
	struct rk_raw_clocks c;

	rk_rec_clocks_fill(&c, 16);
	*ret = (struct rk_rec_clocks){ c.boot_ns, c.mono_ns, c.raw_ns, c.real_ns, c.error_ns };
}

/* Two slots, used in turn: the one in last_slot is always complete. */
void rk_rec_clocks_last(void)
{
	struct rk_raw_header *h = atomic_load(&rk_rec.header);
	uint32_t slot;

	if (!h || atomic_flag_test_and_set(&rk_rec.clocks))
		return;
	slot = !h->last_slot;
	rk_rec_clocks_fill(&h->last[slot], 1);
	__atomic_store_n(&h->last_slot, slot, __ATOMIC_RELEASE);
	atomic_flag_clear(&rk_rec.clocks);
}

uint32_t rk_rec_tid(void)
{
	struct rec_thread *t = rk_rec_me();

	if (!t->tid)
		t->tid = (uint32_t)syscall(SYS_gettid);
	return t->tid;
}

/* ---- forks ---- */

/*
 * Runs in a new child: detaches it from the parent's file. in_call: a signal handler forked in the
 * middle of a call, and that call continues here: stop recording, and do not unmap.
 */
static void become_child(bool in_call)
{
	struct rec_thread *t = rk_rec_me();

	rk_rec.generation++;
	atomic_store(rk_rec.alive, 0);
	atomic_store(rk_rec.gate, REC_GATE_UNKNOWN);
	rk_rec_file_forget(!in_call);
	rk_rec_names_forget();
	atomic_store(&rk_rec.lost, 0);
	atomic_flag_clear(&rk_rec.clocks);
	if (in_call)
		atomic_store(&rk_rec.off, true);
	t->tid = 0;
	t->lost = 0;
	t->generation = REC_NO_BLOCK;
}

/*
 * Handles a child for which no fork handler ran (clone, _Fork): the word is cleared but the file is
 * still mapped. The lock may be held by a thread that does not exist here, with a definition half
 * written.
 */
static void notice_child(void)
{
	if (!atomic_load(&rk_rec.header) || atomic_load(rk_rec.alive))
		return;
	become_child(false);
	if (atomic_exchange(&rk_rec.lock, 0))
		atomic_store(&rk_rec.off, true);
}

/* Not a pthread_mutex_t: a child must be able to open it, whoever held it in the parent. */
void rk_rec_lock(void)
{
	uint32_t was = 0;

	notice_child();
	if (atomic_compare_exchange_strong(&rk_rec.lock, &was, 1))
		return;
	while (atomic_exchange(&rk_rec.lock, 2))
		syscall(SYS_futex, &rk_rec.lock, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

void rk_rec_unlock(void)
{
	if (atomic_exchange(&rk_rec.lock, 0) == 2)
		syscall(SYS_futex, &rk_rec.lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Hold the lock during a fork so that the child's copy of the definitions is complete. */
static void before_fork(void)
{
	if (!rk_rec_self.busy)
		rk_rec_lock();
}

static void after_fork_parent(void)
{
	if (!rk_rec_self.busy)
		rk_rec_unlock();
}

static void after_fork_child(void)
{
	become_child(rk_rec_self.busy);
	rk_rec_unlock();
}

/* ---- start and end ---- */

/* Call with the lock held. */
static bool open_file(void)
{
	if (!rk_rec_file_open())
		return false;
	rk_rec_names_open();
	return true;
}

bool rk_rec_open_late(void)
{
	notice_child();
	if (atomic_load_explicit(&rk_rec.header, memory_order_acquire))
		return true;
	rk_rec_lock();
	if (!atomic_load(&rk_rec.off) && !atomic_load(&rk_rec.header) && !open_file())
		atomic_store(&rk_rec.off, true);
	rk_rec_unlock();
	if (atomic_load(&rk_rec.off))
		return false;
	rk_rec_switch_open();
	return true;
}

static bool start(const char *collector)
{
	const char *text = secure_getenv("ROCKIT_COLLECT");
	size_t len = text ? strlen(text) : 0, page = (size_t)sysconf(_SC_PAGESIZE);
	void *p;

	if (len && len < sizeof(settings))
		memcpy(settings, text, len + 1);
	if (!find("dir"))
		return false;
	len = strlen(collector);
	memcpy(rk_rec.collector, collector,
	       len < sizeof(rk_rec.collector) ? len : sizeof(rk_rec.collector) - 1);
	rk_rec.generation = 1;

	p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p != MAP_FAILED && madvise(p, page, MADV_WIPEONFORK) == 0) {
		rk_rec.alive = p;
		rk_rec.gate = rk_rec.alive + 1;
	} else if (p != MAP_FAILED) {
		munmap(p, page); /* an old kernel: rely on the fork() handlers */
	}
	rk_rec_switch_init();
	if (!rk_rec_names_init() ||
	    pthread_atfork(before_fork, after_fork_parent, after_fork_child) || !open_file())
		return false;
	rk_rec_switch_open();
	return true;
}

bool rk_rec_start(const char *collector)
{
	struct rec_slow slow;
	unsigned state = 0;

	if (atomic_compare_exchange_strong(&rk_rec.started, &state, 1)) {
		slow = rk_rec_slow_begin();
		if (!start(collector))
			atomic_store(&rk_rec.off, true);
		rk_rec_slow_end(slow);
		atomic_store_explicit(&rk_rec.started, 2, memory_order_release);
	}
	while (atomic_load_explicit(&rk_rec.started, memory_order_acquire) == 1)
		sched_yield();
	return rk_rec_on();
}

bool rk_rec_on(void)
{
	return atomic_load_explicit(&rk_rec.started, memory_order_acquire) == 2 &&
	       !atomic_load_explicit(&rk_rec.off, memory_order_relaxed);
}

void rk_rec_end(void)
{
	struct rec_thread *t = rk_rec_me();
	struct rk_raw_header *h;
	struct rec_slow slow;

	if (!rk_rec_on() || t->busy)
		return;
	t->busy = 1;
	slow = rk_rec_slow_begin();
	notice_child();
	if (atomic_load(&rk_rec.header)) {
		rk_rec_block_leave(t, true);
		rk_rec_spares_seal();
		rk_rec_lock(); /* so that nothing grows meanwhile */
		h = atomic_load(&rk_rec.header);
		rk_rec_file_shrink();
		rk_rec_clocks_fill(&h->end, 16);
		__atomic_store_n(&h->clean, 1, __ATOMIC_RELEASE);
		rk_rec_unlock();
	}
	rk_rec_slow_end(slow);
	t->busy = 0;
}

__attribute__((destructor)) static void at_exit(void)
{
	rk_rec_end();
}

uint64_t rk_rec_lost(void)
{
	return atomic_load(&rk_rec.lost);
}

bool rk_rec_enter(void)
{
	struct rec_thread *t = rk_rec_me();

	if (t->inside)
		return false;
	t->inside = 1;
	return true;
}

void rk_rec_leave(void)
{
	rk_rec_self.inside = 0;
}
