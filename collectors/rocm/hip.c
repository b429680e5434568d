/*
 * hip.c - see rocm.h: HIP calls of the program, and which call a thread is in.
 *
 * HIP has one place for a function that it asks before each call. Ours takes the time, leaves its two
 * functions in the structure that HIP passes (hip_abi.h), and HIP calls these when the arguments are
 * there and when the call returns. There is no lock, no allocation and no table of open calls: what
 * belongs to a call is kept in the tool's words of that structure.
 *
 * The structure is on the stack of the program, and its size depends on the release. A wrong size would
 * overwrite the program's stack or make HIP call a random address. So nothing is written before the
 * size has been tried out where that does no harm, see try_out(). If anything is not as expected, HIP
 * calls are off for good, with a note; the rest of the collector is not affected.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "hip_abi.h"
#include "rocm.h"

enum {
	OPS = 1024,    /* ids of calls; 7.2 has 449 */
	GRAPHS = 1024, /* executable graphs at a time that have a number */
	ENDED = 4096,
	GRAPH_MS = 200,
	ROWS = sizeof(hip_arguments) / sizeof(hip_arguments[0]),
	LOOK_NS = 100000000,
	TRY_MS = 2000,
	TRY_STACK_BYTES = 1 << 20,
};

/* ---- what is known of HIP here ---- */

enum { UNKNOWN, TRYING, KNOWN, OFF };

static struct {
	_Atomic int state;
	void (*set_callback)(void *);
	const char *(*name_of)(uint32_t op);
	int (*version)(int *);
	unsigned major;
	uint32_t bytes;   /* of hip_api_data_t; this and the next are set before KNOWN */
	bool reads_graph; /* see hip_abi.h */
	bool all;         /* api=1 */
	struct rk_rocm_place place;
	void *library;
	_Atomic int64_t looked_ns;
} hip;

static atomic_bool said_off, said_second;

static hip_tracer call_begins;
static hip_phase call_enters, call_exits;

static void give_up(const char *why)
{
	if (atomic_exchange(&hip.state, OFF) == OFF)
		return;
	if (hip.place.at && rk_rocm_has_place(&hip.place))
		hip.set_callback(NULL);
	rk_rocm_say(&said_off, "HIP calls are not recorded: %s", why);
}

static uint64_t word_at(const void *data, size_t at)
{
	uint64_t v;

	memcpy(&v, (const char *)data + at, sizeof(v));
	return v;
}

static void set_word(void *data, size_t at, uint64_t v)
{
	memcpy((char *)data + at, &v, sizeof(v));
}

static void set_phases(void *data, hip_phase *enter, hip_phase *exit)
{
	memcpy((char *)data + hip.bytes + HIP_ENTER, &enter, sizeof(enter));
	memcpy((char *)data + hip.bytes + HIP_EXIT, &exit, sizeof(exit));
}

/* ---- trying the structure out ---- */

/*
 * A thread of ours makes a harmless HIP call on a stack that it has painted. HIP does not initialise
 * the structure, so all of it still has the paint when HIP asks, and what is behind it has not. That
 * shows whether it is at least as large as we think, and nothing is written. Then the same with zeros,
 * and with our functions in place. HIP calls no null function: if the structure is larger or smaller,
 * HIP finds a zero or the wrong one of our functions.
 */
enum { PAINT = 0x5a, PAINTED_BYTES = 48 << 10, ABOVE_BYTES = 8 << 10 };

static _Thread_local enum { NOT_TRYING, ASK_VERSION, MEASURE, CALL } trying;

static struct {
	int version;
	void *data;
	uint32_t op;
	bool whole;                    /* MEASURE: all of the structure is painted */
	unsigned asked, entered, left; /* CALL */
	bool wrong;
} trial;

static void trial_enter(uint32_t op, void *data)
{
	trial.wrong |= trial.entered++ || trial.left || op != trial.op || data != trial.data;
}

static void trial_exit(uint32_t op, void *data)
{
	trial.wrong |= trial.left++ || !trial.entered || op != trial.op || data != trial.data;
}

static int trial_asked(uint32_t op, void *data)
{
	const unsigned char *p = data;

	if (trying == MEASURE) {
		trial.asked++;
		trial.whole = true;
		for (uint32_t i = 0; i < hip.bytes + HIP_BEHIND_BYTES; i++)
			trial.whole &= p[i] == PAINT;
	}
	if (trying != CALL)
		return 1;
	trial.asked++;
	trial.data = data;
	trial.op = op;
	set_word(data, 0, 0);
	set_phases(data, trial_enter, trial_exit);
	return 0;
}

static __attribute__((noinline)) void paint(int with)
{
	char stack[PAINTED_BYTES];

	memset(stack, with, sizeof(stack));
	__asm__ volatile(""
			 :
			 : "r"(stack)
			 : "memory"); /* it is read by nobody that the compiler sees */
}

static void *try_out(void *arg)
{
	char above[ABOVE_BYTES]; /* so that MEASURE cannot read beyond the stack */
	int again;

	(void)arg;
	__asm__ volatile("" : : "r"(above) : "memory");
	trying = ASK_VERSION;
	if (hip.version(&trial.version) != 0)
		trial.version = 0;
	for (size_t i = 0; i < sizeof(hip_releases) / sizeof(hip_releases[0]); i++)
		if (trial.version / 100000 == hip_releases[i].major * 100 + hip_releases[i].minor) {
			hip.major = hip_releases[i].major;
			hip.bytes = hip_releases[i].bytes;
			hip.reads_graph = hip_releases[i].reads_graph;
		}
	if (!hip.bytes)
		return NULL;
	trying = MEASURE;
	paint(PAINT);
	hip.version(&again);
	if (!trial.whole)
		return NULL;
	trying = CALL;
	paint(0);
	hip.version(&again);
	return NULL;
}

static void judge(void)
{
	char why[160];

	if (!hip.bytes) {
		snprintf(why, sizeof(why), "HIP %d.%d is not one of the releases that rockit knows",
			 trial.version / 10000000, trial.version / 100000 % 100);
		give_up(why);
	} else if (!trial.whole || trial.asked != 2 || trial.entered != 1 || trial.left != 1 ||
		   trial.wrong) {
		snprintf(why, sizeof(why),
			 "HIP %d.%d does not pass the structure that its headers declare",
			 trial.version / 10000000, trial.version / 100000 % 100);
		give_up(why);
	} else {
		atomic_store(&hip.state, KNOWN);
	}
}

/* Signals are blocked in the thread: the program's handlers run on the program's threads. */
static void start_trial(void)
{
	struct timespec until;
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t thread;
	int rc = pthread_attr_init(&attr);

	if (!rc) {
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		rc = pthread_attr_setstacksize(&attr, TRY_STACK_BYTES);
		if (!rc)
			rc = pthread_create(&thread, &attr, try_out, NULL);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		pthread_attr_destroy(&attr);
	}
	if (rc) {
		give_up("no thread to try HIP's structure out");
		return;
	}
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += TRY_MS / 1000;
	if (pthread_timedjoin_np(thread, NULL, &until)) {
		pthread_detach(thread);
		give_up("HIP did not answer in time");
		return;
	}
	judge();
}

/* At the first call, when HIP has just initialised itself. Other threads wait for the first. */
static __attribute__((noinline)) bool is_known(void)
{
	struct timespec moment = { .tv_nsec = 100000 };
	int state = UNKNOWN, saved = errno;

	if (atomic_compare_exchange_strong(&hip.state, &state, TRYING))
		start_trial();
	for (int i = 0; i < 10 * TRY_MS && atomic_load(&hip.state) == TRYING; i++)
		nanosleep(&moment, NULL);
	errno = saved;
	return atomic_load(&hip.state) == KNOWN;
}

/* ---- kinds of calls ---- */

enum {
	KIND_WHAT = 0xff, /* enum rk_rocm_what */
	KIND_SEEN = 1 << 8,
	KIND_NEVER = 1 << 9, /* not recorded with these settings */
	KIND_SAMPLED = 1 << 10,
	KIND_STREAM_ENDS = 1 << 11,
	KIND_GRAPH_ENDS = 1 << 12,
	KIND_GRAPH = 1 << 13, /* launches one */
	/* seen by us even if they are not recorded */
	KIND_FOLLOWED = KIND_STREAM_ENDS | KIND_GRAPH_ENDS | KIND_GRAPH,
	KIND_ROW = 16, /* from this bit: 1 + row of hip_arguments */
};

static _Atomic uint32_t kinds[OPS];

static bool starts(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

static bool ends(const char *name, const char *with)
{
	size_t n = strlen(name), m = strlen(with);

	return n >= m && strcmp(name + n - m, with) == 0;
}

static enum rk_rocm_what what_of(const char *name)
{
	if (strcmp(name, "hipGraphLaunch") == 0)
		return RK_ROCM_GRAPH;
	if (starts(name, "hipMemcpy") || starts(name, "hipDrvMemcpy") ||
	    starts(name, "hipMemPrefetch"))
		return RK_ROCM_COPY;
	if (starts(name, "hipMemset"))
		return RK_ROCM_FILL;
	if (ends(name, "Synchronize"))
		return RK_ROCM_SYNC;
	if (strstr(name, "Launch") && !starts(name, "hipGraph"))
		return RK_ROCM_LAUNCH;
	return RK_ROCM_OTHER;
}

static bool is_for(const struct hip_arguments *a, unsigned major)
{
	return (!a->first || major >= a->first) && (!a->last || major <= a->last);
}

/* Call only when the release is known. */
static __attribute__((noinline)) uint32_t find_kind(uint32_t op)
{
	const char *name = hip.name_of(op);
	uint32_t kind = KIND_SEEN;

	if (!name || !*name || starts(name, "__hip") || strcmp(name, "unknown") == 0) {
		kind |= KIND_NEVER; /* two of these are part of each <<<>>> */
	} else {
		enum rk_rocm_what what = what_of(name);

		kind |= what;
		if (what == RK_ROCM_OTHER)
			kind |= hip.all ? KIND_SAMPLED : KIND_NEVER;
		if (what == RK_ROCM_GRAPH)
			kind |= KIND_GRAPH;
		if (strcmp(name, HIP_STREAM_ENDS) == 0)
			kind |= KIND_STREAM_ENDS;
		if (strcmp(name, HIP_GRAPH_ENDS) == 0)
			kind |= KIND_GRAPH_ENDS;
		for (uint32_t i = 0; i < ROWS; i++)
			if (strcmp(name, hip_arguments[i].name) == 0 &&
			    is_for(&hip_arguments[i], hip.major))
				kind |= (i + 1) << KIND_ROW;
	}
	atomic_store(&kinds[op], kind);
	return kind;
}

/* The recorder's id of a call's name, and the epoch it is from. */
static _Atomic uint64_t names[OPS];

static uint32_t name_id(uint32_t op)
{
	uint32_t epoch = rk_rec_epoch();
	uint64_t known = atomic_load_explicit(&names[op], memory_order_relaxed);

	if (__builtin_expect(!(uint32_t)known || known >> 32 != epoch, 0)) {
		const char *name = hip.name_of(op);

		known = (uint64_t)epoch << 32 | rk_rec_string(name, strlen(name));
		atomic_store_explicit(&names[op], known, memory_order_relaxed);
	}
	return (uint32_t)known;
}

/* ---- executable graphs ---- */

enum { GONE = 1 }; /* a handle's place that can be used again */

static struct {
	_Atomic uint64_t handle; /* 0: never used */
	_Atomic uint64_t number;
	_Atomic uint64_t launch; /* the correlation of the last one */
} graphs[GRAPHS];
static _Atomic uint64_t graph_numbers;

/* By correlation: launches that HIP has reported as ended. */
static _Atomic uint64_t ended[ENDED];

/* The place of a graph; -1: there is none. */
static int find_graph(uint64_t handle)
{
	for (uint32_t i = 0; i < GRAPHS; i++) {
		uint32_t at = (uint32_t)((handle >> 4) + i) % GRAPHS;
		uint64_t there = atomic_load(&graphs[at].handle);

		if (there == handle)
			return (int)at;
		if (!there)
			break;
	}
	return -1;
}

/* A graph is launched by one thread at a time. Returns its number; 0: no room. */
static uint64_t graph_launched(uint64_t handle, uint64_t correlation)
{
	int at = find_graph(handle);

	for (uint32_t i = 0; at < 0 && i < GRAPHS; i++) {
		uint32_t next = (uint32_t)((handle >> 4) + i) % GRAPHS;
		uint64_t there = atomic_load(&graphs[next].handle);

		if (there > GONE ||
		    !atomic_compare_exchange_strong(&graphs[next].handle, &there, handle))
			continue;
		at = (int)next;
		atomic_store(&graphs[at].number, atomic_fetch_add(&graph_numbers, 1) + 1);
	}
	if (at < 0)
		return 0;
	atomic_store(&graphs[at].launch, correlation);
	return atomic_load(&graphs[at].number);
}

/*
 * Before a graph is destroyed that HIP's thread may still read because of us: waits for the report of
 * its last launch and for the end of what that thread is doing. A program that destroys graphs
 * which run for long, or whose end HIP does not report, is better off without us.
 */
static void wait_for_graph(uint64_t launch)
{
	struct timespec moment = { .tv_nsec = 20000 };
	int64_t until = rk_rec_now() + GRAPH_MS * INT64_C(1000000);
	int saved = errno;

	while (launch && atomic_load(&ended[launch % ENDED]) < launch && rk_rec_now() < until)
		nanosleep(&moment, NULL);
	/* it may have begun to look at its signals before: the second time is whole */
	if ((launch && atomic_load(&ended[launch % ENDED]) < launch) ||
	    !rk_rocm_signals_pass(GRAPH_MS) || !rk_rocm_signals_pass(GRAPH_MS)) {
		give_up("the program destroys graphs while they run, and HIP would use them "
			"afterwards because of us");
		rk_rocm_signals_pass(GRAPH_MS);
		rk_rocm_signals_pass(GRAPH_MS);
	}
	errno = saved;
}

static void graph_ends(uint64_t handle)
{
	int at = find_graph(handle);

	if (hip.reads_graph)
		wait_for_graph(at < 0 ? 0 : atomic_load(&graphs[at].launch));
	if (at >= 0)
		atomic_store(&graphs[at].handle, GONE);
}

/* ---- a call ---- */

/* the tool's word */
enum { RECORD = 1, FOLLOW = 2 };

/*
 * The outermost call that this thread is in, by its structure. Calls that HIP makes inside another one
 * are not the program's. The stack grows down, so a call whose structure is not below this one has
 * replaced it: the program jumped out of that one.
 */
static _Thread_local const char *inside;

static uint64_t argument(const void *data, uint16_t at)
{
	uint64_t p;

	if (!(at & AT(0)))
		return word_at(data, at);
	p = word_at(data, HIP_FIRST_ARGUMENT);
	/* HIP reads what it points at, too, unless it is null */
	return p ? word_at((const void *)(uintptr_t)p, at & 0x7fffu) : 0;
}

static uint32_t direction(const void *data, uint16_t at)
{
	static const uint8_t of_kind[] = { RK_REC_HOST_TO_HOST, RK_REC_HOST_TO_DEVICE,
					   RK_REC_DEVICE_TO_HOST, RK_REC_DEVICE_TO_DEVICE };
	uint32_t kind = at < HIP_FIRST_ARGUMENT ? at - 1u : (uint32_t)argument(data, at);

	return at && kind < sizeof(of_kind) ? of_kind[kind] : 0;
}

static void set_call(const struct hip_arguments *a, const void *data)
{
	struct rk_rocm_call *c = &rk_rocm_call;
	uint64_t bytes = 0;

	c->tid = rk_rec_tid();
	c->direction = 0;
	c->stream = RK_ROCM_NO_STREAM;
	if (a) {
		c->stream = a->stream ? argument(data, a->stream) : 0;
		if (a->bytes)
			bytes = argument(data, a->bytes) * (a->unit ? a->unit : 1);
		if (a->rows)
			bytes *= argument(data, a->rows);
		if (a->layers)
			bytes *= argument(data, a->layers);
		c->direction = direction(data, a->kind);
	}
	c->bytes = bytes;
}

static void look_again(int64_t now);

static int call_begins(uint32_t domain, uint32_t op, void *data)
{
	uint32_t kind, todo;
	int64_t now;

	/* questions have no data, or small numbers instead */
	if ((uintptr_t)data < 4096)
		return 1;
	if (domain == HIP_DOMAIN_OPS && hip.reads_graph) {
		uint64_t correlation = word_at(data, HIP_OPS_CORRELATION);

		atomic_store(&ended[correlation % ENDED], correlation);
	}
	if (domain != HIP_DOMAIN_API || op >= OPS)
		return 1;
	if (__builtin_expect(trying != NOT_TRYING, 0))
		return trial_asked(op, data);
	if (inside && (const char *)data < inside)
		return 1;
	kind = atomic_load_explicit(&kinds[op], memory_order_relaxed);
	if (__builtin_expect(atomic_load_explicit(&hip.state, memory_order_acquire) != KNOWN, 0) &&
	    !is_known())
		return 1;
	if (!kind)
		kind = find_kind(op);
	todo = kind & KIND_FOLLOWED ? FOLLOW : 0;
	if (!(kind & KIND_NEVER) && !rk_rocm_off()) {
		if (!rk_rec_awake())
			rk_rec_skip();
		else if (!(kind & KIND_SAMPLED) || rk_rec_sampled())
			todo |= RECORD;
	}
	if (!todo)
		return 1;
	inside = data;
	now = rk_rec_now();
	if (now - atomic_load_explicit(&hip.looked_ns, memory_order_relaxed) > LOOK_NS)
		look_again(now);
	set_word(data, 0, rk_rec_next_id());
	set_word(data, hip.bytes + HIP_BEGAN, (uint64_t)now);
	set_word(data, hip.bytes + HIP_TOOL_WORD, todo);
	set_phases(data, call_enters, call_exits);
	return 0;
}

static void call_enters(uint32_t op, void *data)
{
	uint32_t kind = atomic_load_explicit(&kinds[op], memory_order_relaxed);
	uint64_t todo = word_at(data, hip.bytes + HIP_TOOL_WORD);

	uint64_t graph = 0;

	if (kind & KIND_STREAM_ENDS)
		rk_rocm_stream_gone(word_at(data, HIP_FIRST_ARGUMENT));
	else if (kind & KIND_GRAPH_ENDS)
		graph_ends(word_at(data, HIP_FIRST_ARGUMENT));
	else if (kind & KIND_GRAPH)
		graph = graph_launched(word_at(data, HIP_FIRST_ARGUMENT), word_at(data, 0));
	if (!(todo & RECORD))
		return;
	rk_rocm_call.graph = graph;
	rk_rocm_call.what = kind & KIND_WHAT;
	set_call(kind >> KIND_ROW ? &hip_arguments[(kind >> KIND_ROW) - 1] : NULL, data);
	rk_rocm_call.correlation = word_at(data, 0);
}

static void call_exits(uint32_t op, void *data)
{
	uint64_t todo = word_at(data, hip.bytes + HIP_TOOL_WORD);
	int64_t began = (int64_t)word_at(data, hip.bytes + HIP_BEGAN);

	rk_rocm_call.correlation = 0;
	inside = NULL;
	if (todo & RECORD)
		rk_rec_api(name_id(op), began, rk_rec_now() - began, word_at(data, 0));
}

/* ---- the beginning and the end ---- */

/* Libraries that came later, and tools that took our place. Not on every call. */
static __attribute__((noinline)) void look_again(int64_t now)
{
	int64_t before = atomic_load(&hip.looked_ns);
	int saved = errno;

	if (!atomic_compare_exchange_strong(&hip.looked_ns, &before, now))
		return;
	rk_rocm_roctx_open();
	errno = saved;
}

static bool is_wanted(void)
{
	char api[16] = "launches";

	rk_rec_setting("api", api, sizeof(api));
	hip.all = strcmp(api, "1") == 0;
	return hip.all || strcmp(api, "launches") == 0;
}

void rk_rocm_hip_open(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	void *library;
	int saved = errno;

	if (pthread_mutex_trylock(&lock))
		return;
	rk_rocm_roctx_open();
	library = rk_rocm_library("libamdhip64.so");
	if (library && hip.library && library != hip.library)
		rk_rocm_say(&said_second, "the program has two copies of HIP: calls of the second "
					  "one are not recorded");
	if (!library || hip.library || !rk_rec_start("rocm") || !is_wanted())
		goto out;
	hip.library = library;
	if (!rk_rocm_symbol(library, "hipRegisterTracerCallback", &hip.set_callback) ||
	    !rk_rocm_symbol(library, "hipApiName", &hip.name_of) ||
	    !rk_rocm_symbol(library, "hipRuntimeGetVersion", &hip.version)) {
		give_up("this HIP has no hipRegisterTracerCallback");
		goto out;
	}
	rk_rocm_take_place(&hip.place, hip.set_callback, (void *)(uintptr_t)call_begins);
	if (hip.place.before) {
		hip.set_callback(hip.place.before);
		atomic_store(&hip.state, OFF);
		rk_rocm_say(&said_off,
			    "HIP calls are not recorded: '%s' records them already, and "
			    "HIP has one place for a tool",
			    rk_rocm_file(hip.place.before));
	}
out:
	pthread_mutex_unlock(&lock);
	errno = saved;
}

/* At exit HIP destroys what the program left, graphs too. */
void rk_rocm_hip_close(void)
{
	if (atomic_load(&hip.state) != OFF && !rk_rocm_has_place(&hip.place)) {
		void *other = *hip.place.at;

		atomic_store(&hip.state, OFF);
		rk_rocm_say(&said_off,
			    "HIP calls were recorded until '%s' took HIP's only place "
			    "for a tool",
			    other ? rk_rocm_file(other) : "the program");
	}
	if (hip.reads_graph && atomic_load(&hip.state) == KNOWN)
		hip.set_callback(NULL);
	rk_rocm_roctx_close();
}
