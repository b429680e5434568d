/*
 * cup_launch.c - see cup.h: counters instead of times. Each context is counted from its creation
 * on; launches are listed in order, which is the order of the profiler's ranges.
 *
 * A launch holds the lock of its context from beginning to end: the profiler serialises kernels
 * anyway, and this makes the order certain. The lock of the context table is never held while
 * waiting, because a thread that creates a context may hold locks of the driver. Values are fetched
 * when there is no room for the next launch, around graphs, and when a context or the program ends.
 */
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cup.h"
#include "cup_launch_abi.h"
#include "cup_range.h"

enum { MOST_METRICS = 64, MOST_CONTEXTS = 32, MOST_LAUNCHES = 64, LIST_BYTES = 8192 };

struct session {
	_Atomic(void *) context; /* changed under the table's lock */
	pthread_mutex_t lock;    /* protects everything below */
	struct rk_range *range;
	uint32_t device;
	uint32_t names[MOST_LAUNCHES]; /* string ids of the launches since the last drain */
	size_t n;
};

static struct {
	struct cupti_range f;
	char list[LIST_BYTES]; /* names of the metrics, each NUL-terminated */
	const char *metrics[MOST_METRICS];
	uint32_t ids[MOST_METRICS]; /* string ids */
	size_t n;
	struct session sessions[MOST_CONTEXTS];
	pthread_mutex_t lock; /* protects the table */
	atomic_ullong dispatch, unnamed, dropped;
	atomic_bool refused; /* already printed why counters are missing */
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

static _Thread_local unsigned inside;
static _Thread_local struct session *held; /* session of the launch that this thread is in */

/* ---- settings ---- */

bool rk_cup_counters_wanted(void)
{
	return rk_rec_setting("counters", all.list, sizeof(all.list)) && all.list[0];
}

/* ---- values ---- */

static void put_row(void *user, size_t range, const double *values)
{
	struct session *s = user;
	/* A graph may have any number of ranges; we can only match a name to a single range. */
	uint32_t name = range < s->n ? s->names[range] : 0;
	uint64_t dispatch = atomic_fetch_add(&all.dispatch, 1) + 1;

	if (!name)
		atomic_fetch_add(&all.unnamed, 1);
	for (size_t i = 0; i < all.n; i++) {
		const struct rk_rec_counter c = { .counter = all.ids[i],
						  .kernel = name,
						  .device = s->device,
						  .dispatch = dispatch,
						  .value = values[i] };

		if (!isnan(values[i]))
			rk_rec_counter(&c);
	}
}

static void say_trouble(const char *what, const struct rk_range_trouble *t)
{
	const char *advice = rk_range_advice(t->code);
	char buf[32];

	if (atomic_exchange(&all.refused, true))
		return;
	rk_cup_say("%s (%s: %s)%s%s%s%s", what, t->step, rk_cup_error(t->code, buf),
		   t->what[0] ? ": " : "", t->what, advice[0] ? "; " : "", advice);
}

/* Frees everything the lock protects; the slot in the table stays taken. */
static void end_counting(struct session *s)
{
	rk_range_close(s->range);
	s->range = NULL;
	s->n = 0;
}

static void drain(struct session *s)
{
	struct rk_range_trouble t;
	size_t ranges, dropped;
	bool good;

	if (!s->range)
		return;
	good = rk_range_drain(s->range, put_row, s, &ranges, &dropped, &t);
	atomic_fetch_add(&all.dropped, good ? dropped : s->n);
	s->n = 0;
	if (good)
		return;
	say_trouble("CUPTI stopped counting: later kernels have no counters", &t);
	end_counting(s);
}

/* ---- contexts ---- */

static struct session *session_of(const void *context)
{
	for (size_t i = 0; context && i < MOST_CONTEXTS; i++)
		if (atomic_load(&all.sessions[i].context) == context)
			return &all.sessions[i];
	return NULL;
}

/* Claims a slot for a context; NULL if the table is full or the context already has one. */
static struct session *claim(void *context)
{
	struct session *s = NULL;

	pthread_mutex_lock(&all.lock);
	for (size_t i = 0; !session_of(context) && i < MOST_CONTEXTS; i++) {
		if (atomic_load(&all.sessions[i].context))
			continue;
		s = &all.sessions[i];
		s->device = rk_cup_device(rk_range_device_of(&all.f, context));
		atomic_store(&s->context, context);
	}
	pthread_mutex_unlock(&all.lock);
	return s;
}

/* Removes a metric that the chip does not have and reports it; the others are counted. */
static bool drop_metric(const char *name)
{
	for (size_t i = 0; i < all.n; i++) {
		if (strcmp(all.metrics[i], name) != 0)
			continue;
		rk_cup_say("this GPU has no counter '%s': skipped", name);
		all.n--;
		memmove(&all.metrics[i], &all.metrics[i + 1], (all.n - i) * sizeof(*all.metrics));
		memmove(&all.ids[i], &all.ids[i + 1], (all.n - i) * sizeof(*all.ids));
		return true;
	}
	return false;
}

/* Is another context counting with this list? Then it cannot change. */
static bool any_other(const struct session *s)
{
	for (size_t i = 0; i < MOST_CONTEXTS; i++)
		if (&all.sessions[i] != s && atomic_load(&all.sessions[i].context))
			return true;
	return false;
}

static void begin_counting(struct session *s, void *context)
{
	struct rk_range_trouble t = { 0 };

	do {
		s->range = rk_range_open(&all.f, context, all.metrics, all.n, MOST_LAUNCHES, &t);
	} while (!s->range && t.what[0] && !any_other(s) && drop_metric(t.what) && all.n);
	if (!s->range)
		say_trouble("no counters", &t);
}

static void on_context(uint32_t cbid, const struct cupti_resource *r)
{
	struct session *s;

	if (cbid == CUPTI_CONTEXT_CREATED && r->context)
		s = claim(r->context);
	else
		s = session_of(r->context);
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	if (cbid == CUPTI_CONTEXT_CREATED) {
		begin_counting(s, r->context);
	} else {
		drain(s);
		end_counting(s);
		atomic_store(&s->context, NULL);
	}
	pthread_mutex_unlock(&s->lock);
}

/* ---- launches ---- */

static bool is_graph(uint32_t cbid)
{
	return cbid == CUPTI_DRIVER_cuGraphLaunch || cbid == CUPTI_DRIVER_cuGraphLaunch_ptsz;
}

/* Also called for the profiler's own calls, which are skipped. */
static void on_launch(uint32_t cbid, const struct cupti_call *c)
{
	struct session *s;
	bool good;

	if (c->site == CUPTI_SITE_ENTER && inside++ == 0) {
		held = session_of(c->context);
		if (!held)
			return;
		pthread_mutex_lock(&held->lock);
		if (held->n && (held->n == MOST_LAUNCHES || is_graph(cbid)))
			drain(held);
	} else if (c->site == CUPTI_SITE_EXIT && inside && --inside == 0) {
		good = !c->result || !*(const int *)c->result;
		s = held;
		held = NULL;
		if (!s)
			return;
		if (good && is_graph(cbid))
			drain(s);
		else if (good && s->range && s->n < MOST_LAUNCHES)
			s->names[s->n++] = c->symbol ? rk_rec_string(c->symbol, strlen(c->symbol)) :
						       0;
		pthread_mutex_unlock(&s->lock);
	}
}

static void on_call(void *user, int domain, uint32_t cbid, const void *data)
{
	int before = errno;

	(void)user;
	if (rk_cup_is_child())
		return;
	if (domain == CUPTI_CALLS_OF_DRIVER) {
		on_launch(cbid, data);
	} else if (domain == CUPTI_CALLS_OF_RESOURCES && !inside) {
		inside++;
		on_context(cbid, data);
		inside--;
	}
	errno = before;
}

/* ---- the beginning and the end ---- */

/* A launch that hangs holds the lock; its values are not fetched then. */
static void at_end(void)
{
	inside++;
	for (size_t i = 0; i < MOST_CONTEXTS && !rk_cup_is_child(); i++) {
		struct session *s = &all.sessions[i];

		if (!atomic_load(&s->context) || pthread_mutex_trylock(&s->lock))
			continue;
		if (s->n)
			drain(s);
		pthread_mutex_unlock(&s->lock);
	}
	inside--;
	if (all.dropped)
		rk_rec_source_lost(all.dropped);
	if (all.unnamed)
		rk_cup_say("%llu ranges belong to kernels launched by graphs: they have no name",
			   (unsigned long long)all.unnamed);
	rk_rec_end();
}

static bool enable(cupti_subscriber s, void *lib)
{
	static const struct {
		int domain;
		uint32_t cbid;
	} wanted[] = {
		{ CUPTI_CALLS_OF_RESOURCES, CUPTI_CONTEXT_CREATED },
		{ CUPTI_CALLS_OF_RESOURCES, CUPTI_CONTEXT_ENDS },
		{ CUPTI_CALLS_OF_DRIVER, CUPTI_DRIVER_cuLaunchKernel },
		{ CUPTI_CALLS_OF_DRIVER, CUPTI_DRIVER_cuLaunchKernel_ptsz },
		{ CUPTI_CALLS_OF_DRIVER, CUPTI_DRIVER_cuLaunchCooperativeKernel },
		{ CUPTI_CALLS_OF_DRIVER, CUPTI_DRIVER_cuLaunchCooperativeKernel_ptsz },
		{ CUPTI_CALLS_OF_DRIVER, CUPTI_DRIVER_cuLaunchKernelEx },
		{ CUPTI_CALLS_OF_DRIVER, CUPTI_DRIVER_cuLaunchKernelEx_ptsz },
		{ CUPTI_CALLS_OF_DRIVER, CUPTI_DRIVER_cuGraphLaunch },
		{ CUPTI_CALLS_OF_DRIVER, CUPTI_DRIVER_cuGraphLaunch_ptsz },
	};
	cupti_result (*enable_one)(uint32_t on, cupti_subscriber, int domain, uint32_t cbid);
	void *at = dlsym(lib, "cuptiEnableCallback");
	bool good = at != NULL;

	memcpy(&enable_one, &at, sizeof(at));
	for (size_t i = 0; good && i < sizeof(wanted) / sizeof(wanted[0]); i++)
		good = enable_one(1, s, wanted[i].domain, wanted[i].cbid) == CUPTI_OK;
	return good;
}

void rk_cup_counters_start(void)
{
	const char *missing = "itself";
	void *lib = NULL, *at = NULL;
	cupti_subscriber s = NULL;
	cupti_result rc;
	Dl_info where;

	/* the library that provides rk_cup.f */
	memcpy(&at, &rk_cup.f.cuptiGetVersion, sizeof(at));
	if (at && dladdr(at, &where) && where.dli_fname)
		lib = dlopen(where.dli_fname, RTLD_NOW | RTLD_NOLOAD);
	if (lib)
		missing = rk_range_load(&all.f, lib);
	if (missing || !rk_cup.f.cuptiSubscribe) {
		rk_cup_say("this CUPTI lacks %s: counters need CUDA 12.6 or later; none are "
			   "recorded",
			   missing ? missing : "cuptiSubscribe");
		return;
	}

	/* "a+b+c": names that do not fit are ignored. */
	for (char *p = all.list; *p && all.n < MOST_METRICS;) {
		size_t len = strcspn(p, "+");
		bool last = !p[len];

		p[len] = '\0';
		if (len) {
			all.ids[all.n] = rk_rec_string(p, len);
			all.metrics[all.n++] = p;
		}
		p += last ? len : len + 1;
	}
	for (size_t i = 0; i < MOST_CONTEXTS; i++)
		pthread_mutex_init(&all.sessions[i].lock, NULL);
	rc = rk_cup.f.cuptiSubscribe(&s, on_call, NULL);
	if (rc != CUPTI_OK) {
		char buf[32];

		rk_cup_say("CUPTI is in use by another profiler (%s): no counters are recorded",
			   rk_cup_error(rc, buf));
		return;
	}
	rk_cup_clock_start();
	if (!enable(s, lib))
		rk_cup_say("CUPTI does not report launches: no counters are recorded");
	else
		atexit(at_end);
}
