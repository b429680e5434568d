/*
 * roctx.c - see rocm.h: ROCTx ranges and marks of the program as markers, in host times.
 *
 * libroctx64 calls a function that a tool registers. AMD's librocprofiler-sdk-roctx has no such call:
 * there our own functions of the same names are between the program and the library, if we are
 * preloaded. They pass everything on and record what the callback does not see.
 *
 * Push and pop are matched by thread, in a small stack; ranges that any thread starts and stops are
 * in a table of the process, by the library's id.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "rocm.h"

enum { DEPTH = 64, RANGES = 4096, TRIES = 16, TEXT = 96, NAME_MAX_BYTES = 8000 };

enum { MARK, PUSH, POP, START, STOP }; /* operations of the callback */
struct message {
	const char *text;
	uint64_t id; /* START, STOP */
};

static struct {
	atomic_bool registered; /* by libroctx64's callback, which sees all of its own calls */
	struct rk_rocm_place place;
	void (*set_callback)(void *);
	char gate[1024]; /* the setting range= */
	size_t gate_len;
	_Atomic unsigned long long libraries; /* loaded when we last looked */
} roctx;
static atomic_bool said;

/* ---- open ranges ---- */

/* Ids of names may be forgotten while a range is open; its beginning is kept for that. */
struct open_range {
	int64_t start_ns;
	uint32_t name, epoch, tid;
	uint16_t len;
	bool record, is_gate;
	char text[TEXT];
};

static void open_range(struct open_range *r, const char *text)
{
	size_t len = text ? strnlen(text, NAME_MAX_BYTES) : 0;

	*r = (struct open_range){ .tid = rk_rec_tid() };
	r->len = (uint16_t)(len < TEXT ? len : TEXT);
	memcpy(r->text, text ? text : "", r->len);
	r->is_gate = roctx.gate_len && len == roctx.gate_len && memcmp(text, roctx.gate, len) == 0;
	rk_rec_range(text ? text : "", len, true);
	r->record = rk_rec_awake();
	if (!r->record) {
		rk_rec_skip();
		return;
	}
	r->epoch = rk_rec_epoch();
	r->name = rk_rec_string(text ? text : "", len);
	r->start_ns = rk_rec_now();
}

static void close_range(const struct open_range *r)
{
	struct rk_rec_marker m = { .kind = RK_REC_RANGE, .tid = r->tid };

	if (r->record) {
		m.start_ns = r->start_ns;
		m.duration_ns = rk_rec_now() - r->start_ns;
		m.name = r->epoch == rk_rec_epoch() ? r->name : rk_rec_string(r->text, r->len);
		rk_rec_marker(&m);
	}
	if (r->is_gate)
		rk_rec_range(roctx.gate, roctx.gate_len, false);
	else
		rk_rec_range("", 0, false);
}

static void mark(const char *text)
{
	struct rk_rec_marker m = { .kind = RK_REC_MARK };

	if (!rk_rec_awake()) {
		rk_rec_skip();
		return;
	}
	m.start_ns = rk_rec_now();
	m.name = rk_rec_string(text ? text : "", text ? strnlen(text, NAME_MAX_BYTES) : 0);
	rk_rec_marker(&m);
}

static _Thread_local struct {
	uint32_t n, over; /* over: pushes that did not fit */
	struct open_range at[DEPTH];
} stack;

static void push(const char *text)
{
	if (stack.n < DEPTH) {
		open_range(&stack.at[stack.n++], text);
		return;
	}
	stack.over++;
	rk_rec_source_lost(1);
}

static void pop(void)
{
	if (stack.over)
		stack.over--;
	else if (stack.n)
		close_range(&stack.at[--stack.n]);
}

static struct {
	_Atomic uint64_t id; /* 0: free, 1: taken, else 2 + the library's */
	struct open_range range;
} started[RANGES];

static void start(const char *text, uint64_t id)
{
	for (uint32_t i = 0; i < TRIES; i++) {
		uint64_t slot = (id + i) % RANGES, none = 0;

		if (!atomic_compare_exchange_strong(&started[slot].id, &none, 1))
			continue;
		open_range(&started[slot].range, text);
		atomic_store(&started[slot].id, id + 2);
		return;
	}
	rk_rec_source_lost(1);
}

static void stop(uint64_t id)
{
	for (uint32_t i = 0; i < TRIES; i++) {
		uint64_t slot = (id + i) % RANGES, mine = id + 2;

		if (!atomic_compare_exchange_strong(&started[slot].id, &mine, 1))
			continue;
		close_range(&started[slot].range);
		atomic_store(&started[slot].id, 0);
		return;
	}
}

/* ---- libroctx64's callback ---- */

static int on_marker(uint32_t domain, uint32_t op, void *data)
{
	const struct message *m = data;
	int saved = errno;

	(void)domain;
	if (!m || rk_rocm_off())
		return 0;
	switch (op) {
	case MARK:
		mark(m->text);
		break;
	case PUSH:
		push(m->text);
		break;
	case POP:
		pop();
		break;
	case START:
		start(m->text, m->id);
		break;
	case STOP:
		stop(m->id);
		break;
	}
	errno = saved;
	return 0;
}

static bool is_wanted(void)
{
	if (!rk_rec_start("rocm") || !rk_rec_flag("roctx", true))
		return false;
	if (rk_rec_setting("range", roctx.gate, sizeof(roctx.gate)))
		roctx.gate_len = strlen(roctx.gate);
	return true;
}

static int count_libraries(struct dl_phdr_info *info, size_t size, void *user)
{
	(void)size;
	*(unsigned long long *)user = info->dlpi_adds;
	return 1;
}

/* Registers with libroctx64 if it is there by now. Costs little if no library was loaded since. */
void rk_rocm_roctx_open(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	unsigned long long loaded = 0;
	void *library;

	if (atomic_load(&roctx.registered))
		return;
	dl_iterate_phdr(count_libraries, &loaded);
	if (atomic_exchange(&roctx.libraries, loaded) == loaded || pthread_mutex_trylock(&lock))
		return;
	library = rk_rocm_library("libroctx64.so");
	if (library && is_wanted() &&
	    rk_rocm_symbol(library, "roctxRegisterTracerCallback", &roctx.set_callback) &&
	    !atomic_load(&roctx.registered)) {
		rk_rocm_take_place(&roctx.place, roctx.set_callback, (void *)(uintptr_t)on_marker);
		atomic_store(&roctx.registered, true);
		if (roctx.place.before) {
			roctx.set_callback(roctx.place.before);
			rk_rocm_say(&said,
				    "ROCTx ranges are not recorded: '%s' records them already, "
				    "and libroctx64 has one place for a tool",
				    rk_rocm_file(roctx.place.before));
		}
	}
	pthread_mutex_unlock(&lock);
}

void rk_rocm_roctx_close(void)
{
	if (atomic_load(&roctx.registered) && !roctx.place.before &&
	    !rk_rocm_has_place(&roctx.place))
		rk_rocm_say(&said,
			    "ROCTx ranges were recorded until another tool took libroctx64's only "
			    "place for a tool");
}

/* ---- between the program and a library without that callback ---- */

RK_ROCM_SHOWN void roctxMarkA(const char *text);
RK_ROCM_SHOWN int roctxRangePushA(const char *text);
RK_ROCM_SHOWN int roctxRangePop(void);
RK_ROCM_SHOWN uint64_t roctxRangeStartA(const char *text);
RK_ROCM_SHOWN void roctxRangeStop(uint64_t id);

static struct {
	void (*mark)(const char *);
	int (*push)(const char *);
	int (*pop)(void);
	uint64_t (*start)(const char *);
	void (*stop)(uint64_t);
	bool record;
} next;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A library that was loaded for somebody else alone is not among those that RTLD_NEXT looks at. */
static void find_next(void)
{
	static const char *const known[] = { "librocprofiler-sdk-roctx.so", "libroctx64.so" };
	void *from = dlsym(RTLD_NEXT, "roctxRangePushA") ? RTLD_NEXT : NULL;
	void *has_callback;

	for (size_t i = 0; !from && i < sizeof(known) / sizeof(known[0]); i++)
		from = rk_rocm_library(known[i]);
	if (!from)
		return;
	rk_rocm_symbol(from, "roctxMarkA", &next.mark);
	rk_rocm_symbol(from, "roctxRangePushA", &next.push);
	rk_rocm_symbol(from, "roctxRangePop", &next.pop);
	rk_rocm_symbol(from, "roctxRangeStartA", &next.start);
	rk_rocm_symbol(from, "roctxRangeStop", &next.stop);
	rk_rocm_roctx_open();
	next.record = !rk_rocm_symbol(from, "roctxRegisterTracerCallback", &has_callback) &&
		      is_wanted();
}

static bool records(void)
{
	int saved = errno;

	pthread_once(&once, find_next);
	errno = saved;
	return next.record && !rk_rocm_off();
}

void roctxMarkA(const char *text)
{
	if (records())
		mark(text);
	if (next.mark)
		next.mark(text);
}

int roctxRangePushA(const char *text)
{
	if (records())
		push(text);
	return next.push ? next.push(text) : -1;
}

int roctxRangePop(void)
{
	if (records())
		pop();
	return next.pop ? next.pop() : -1;
}

uint64_t roctxRangeStartA(const char *text)
{
	bool record = records();
	uint64_t id = next.start ? next.start(text) : 0;

	if (record && next.start)
		start(text, id);
	return id;
}

void roctxRangeStop(uint64_t id)
{
	if (records())
		stop(id);
	if (next.stop)
		next.stop(id);
}
