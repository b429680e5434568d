/*
 * range.c - records only in ROCTx ranges of one name, for 'rockit run --range NAME'.
 *
 * rocprofv3 --selected-regions records between roctxProfilerResume() and roctxProfilerPause() and
 * knows no names. This library is loaded before ROCTx and replaces its range functions: it resumes
 * at the first open range called $ROCKIT_RANGE, of any thread, and pauses when the last one is
 * closed.
 *
 * rocprofv3 keeps a stack of ranges for each thread and aborts the program at a pop without a push,
 * and at a stop without a start. A push that it could not see, because recording was off, is
 * therefore not passed on, and neither is its pop, even if recording is on by then. Another thread
 * can switch recording in the middle of a push: nobody knows then whether rocprofv3 saw it, and its
 * pop is not passed on either. A range that is open when another thread ends recording has no end
 * in rocprofv3's trace.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY __attribute__((visibility("default")))

enum { DEPTH_MAX = 512, OPEN_MAX = 64, PASSED = 1, OURS = 2 };

/* ids of ranges that were not passed on; ROCTx counts its own from 0 */
#define HIDDEN (UINT64_C(1) << 63)

static const char *name; /* NULL: everything is passed on */
static atomic_uint_fast64_t hidden_ids;
/* How often recording was switched: odd from the end of a resume to the begin of the pause. */
static atomic_uint switches;
/* Held while recording is switched, so that the last switch is the one that counts. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned open_ranges; /* of our name; under the lock */
/* Open start/stop ranges of our name: id + 1, 0 is free. Under the lock. */
static uint64_t started[OPEN_MAX];

/* The pushes of a thread; those from DEPTH_MAX on are only counted. */
static _Thread_local struct {
	unsigned depth;
	unsigned char flags[DEPTH_MAX];
} pushed;

static struct {
	int (*push)(const char *);
	int (*pop)(void);
	uint64_t (*start)(const char *);
	void (*stop)(uint64_t);
	int (*resume)(uint64_t), (*pause)(uint64_t);
} next;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A pointer to a function cannot be assigned from dlsym()'s void pointer in ISO C. */
static void find(void *to, const char *symbol)
{
	void *at = dlsym(RTLD_NEXT, symbol);

	memcpy(to, &at, sizeof(at));
}

static void find_all(void)
{
	find(&next.push, "roctxRangePushA");
	find(&next.pop, "roctxRangePop");
	find(&next.start, "roctxRangeStartA");
	find(&next.stop, "roctxRangeStop");
	find(&next.resume, "roctxProfilerResume");
	find(&next.pause, "roctxProfilerPause");
	name = getenv("ROCKIT_RANGE");
}

static bool is_ours(const char *message)
{
	return name && message && strcmp(message, name) == 0;
}

static void enter(void)
{
	pthread_mutex_lock(&lock);
	if (open_ranges++ == 0) {
		if (next.resume)
			next.resume(0);
		atomic_fetch_add(&switches, 1);
	}
	pthread_mutex_unlock(&lock);
}

static void leave(void)
{
	pthread_mutex_lock(&lock);
	if (--open_ranges == 0) {
		atomic_fetch_add(&switches, 1);
		if (next.pause)
			next.pause(0);
	}
	pthread_mutex_unlock(&lock);
}

static bool is_recording(unsigned at)
{
	return !name || at % 2;
}

ENTRY int roctxRangePushA(const char *message);
ENTRY int roctxRangePop(void);
ENTRY uint64_t roctxRangeStartA(const char *message);
ENTRY void roctxRangeStop(uint64_t id);

/* As ROCTx does, returns the level of the range, from 0. */
int roctxRangePushA(const char *message)
{
	unsigned char flags = 0;
	unsigned level = pushed.depth, before;

	pthread_once(&once, find_all);
	if (level < DEPTH_MAX && is_ours(message)) {
		flags = OURS;
		enter();
	}
	before = atomic_load(&switches);
	if (level < DEPTH_MAX && is_recording(before) && next.push) {
		next.push(message);
		if (atomic_load(&switches) == before)
			flags |= PASSED;
	}
	if (level < DEPTH_MAX)
		pushed.flags[level] = flags;
	pushed.depth++;
	return (int)level;
}

/* The level of the closed range; -1 without an open one, which rocprofv3 must not see either. */
int roctxRangePop(void)
{
	unsigned char flags = 0;

	pthread_once(&once, find_all);
	if (!pushed.depth)
		return -1;
	pushed.depth--;
	if (pushed.depth < DEPTH_MAX)
		flags = pushed.flags[pushed.depth];
	if (flags & PASSED && next.pop)
		next.pop();
	if (flags & OURS)
		leave();
	return (int)pushed.depth;
}

/* Finds `old` among the open ranges and puts `new` there; false if it is not among them. */
static bool replace(uint64_t old, uint64_t new)
{
	bool found = false;

	pthread_mutex_lock(&lock);
	for (unsigned i = 0; !found && i < OPEN_MAX; i++) {
		found = started[i] == old;
		if (found)
			started[i] = new;
	}
	pthread_mutex_unlock(&lock);
	return found;
}

uint64_t roctxRangeStartA(const char *message)
{
	bool ours;
	unsigned before;
	uint64_t id;

	pthread_once(&once, find_all);
	ours = is_ours(message) && next.start;
	if (ours)
		enter();
	before = atomic_load(&switches);
	if (!is_recording(before) || !next.start)
		return HIDDEN | atomic_fetch_add(&hidden_ids, 1);
	id = next.start(message);
	if (atomic_load(&switches) != before) /* never for ours: it keeps recording on */
		return HIDDEN | atomic_fetch_add(&hidden_ids, 1);
	/* too many of our name are open at once: the others keep recording on */
	if (ours && !replace(0, id + 1))
		leave();
	return id;
}

void roctxRangeStop(uint64_t id)
{
	pthread_once(&once, find_all);
	if (id & HIDDEN)
		return;
	if (next.stop)
		next.stop(id);
	if (replace(id + 1, 0))
		leave();
}
