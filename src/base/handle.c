/* handle.c - the open handles, by address. */
#include "base/handle.h"

#include <pthread.h>

#include "base/alloc.h"

enum { BUCKETS = 256 }; /* index: the top 8 bits of a product */

struct entry {
	void *h;
	void (*destroy)(void *h);
	enum rk_handle_kind kind;
	bool closed;
	bool taken; /* the thread that took it waits for the holders, then removes it */
	size_t holders;
	struct entry *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t dropped = PTHREAD_COND_INITIALIZER;
static struct entry *buckets[BUCKETS];

/* Points to the link to the entry of h, or to where it would be. */
static struct entry **find(const void *h)
{
	/* not base/map.h, which cannot remove entries */
	struct entry **at = &buckets[(uint64_t)(uintptr_t)h * 0x9e3779b97f4a7c15u >> 56];

	while (*at && (*at)->h != h)
		at = &(*at)->next;
	return at;
}

static struct entry *find_open(enum rk_handle_kind kind, const void *h)
{
	struct entry *e = h ? *find(h) : NULL;

	return e && e->kind == kind && !e->closed ? e : NULL;
}

/* Unlinks and returns the entry if it is closed and nobody holds it. */
static struct entry *settle(struct entry **at)
{
	struct entry *e = *at;

	if (!e->closed || e->taken || e->holders)
		return NULL;
	*at = e->next;
	return e;
}

static void destroy(struct entry *e)
{
	if (e && e->destroy)
		e->destroy(e->h);
	rk_free(e);
}

/* Without this, a fork while another thread holds the lock would leave it locked in the child. */
static void before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&lock);
}

static void watch_forks(void)
{
	pthread_atfork(before_fork, after_fork, after_fork);
}

int rk_handle_open(enum rk_handle_kind kind, void *h, void (*how)(void *h), struct rk_error *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct entry *e = rk_alloc(sizeof(*e)), **at;

	if (!e)
		return rk_fail_nomem(err);
	pthread_once(&once, watch_forks);
	pthread_mutex_lock(&lock);
	at = find(h);
	*e = (struct entry){ .h = h, .destroy = how, .kind = kind, .next = *at };
	*at = e;
	pthread_mutex_unlock(&lock);
	return 0;
}

bool rk_handle_hold(enum rk_handle_kind kind, const void *h)
{
	struct entry *e;

	pthread_mutex_lock(&lock);
	e = find_open(kind, h);
	if (e)
		e->holders++;
	pthread_mutex_unlock(&lock);
	return e != NULL;
}

int rk_handle_use(enum rk_handle_kind kind, const void *h, const char *fn, struct rk_error *err)
{
	static const char *const names[RK_NHANDLES] = {
		"run",      "profile", "diff",         "report", "metrics",
		"hotspots", "session", "counter plan", "doctor", "preset",
		"monitor",  "pack",    "proof",        "job",    "job's parts",
	};

	if (rk_handle_hold(kind, h))
		return 0;
	return rk_fail(err, RK_E_USAGE, "%s: the %s is NULL or was closed", fn, names[kind]);
}

void rk_handle_keep(const void *h)
{
	pthread_mutex_lock(&lock);
	(*find(h))->holders++;
	pthread_mutex_unlock(&lock);
}

void rk_handle_drop(const void *h)
{
	struct entry **at, *e;

	pthread_mutex_lock(&lock);
	at = find(h);
	(*at)->holders--;
	if ((*at)->taken)
		pthread_cond_broadcast(&dropped);
	e = settle(at);
	pthread_mutex_unlock(&lock);
	destroy(e);
}

void rk_handle_close(enum rk_handle_kind kind, const void *h)
{
	struct entry *e;

	pthread_mutex_lock(&lock);
	e = find_open(kind, h);
	if (e) {
		e->closed = true;
		e = settle(find(h));
	}
	pthread_mutex_unlock(&lock);
	destroy(e);
}

bool rk_handle_take(enum rk_handle_kind kind, const void *h)
{
	struct entry *e;

	pthread_mutex_lock(&lock);
	e = find_open(kind, h);
	if (e)
		e->closed = e->taken = true;
	while (e && e->holders)
		pthread_cond_wait(&dropped, &lock);
	if (e)
		*find(h) = e->next;
	pthread_mutex_unlock(&lock);
	rk_free(e);
	return e != NULL;
}

int rk_misuse(const char *fn, struct rk_error *err)
{
	return rk_fail(err, RK_E_USAGE, "%s: unexpected NULL argument", fn);
}

bool rk_texts_there(const char *const *texts, size_t n)
{
	size_t i = 0;

	while (texts && i < n && texts[i])
		i++;
	return i == n;
}

int rk_check_enum(unsigned value, unsigned last, const char *fn, struct rk_error *err)
{
	if (value <= last)
		return 0;
	return rk_fail(err, RK_E_USAGE, "%s: value %u is unknown to this release", fn, value);
}

int rk_check_reserved(const uint64_t *v, size_t n, const char *fn, struct rk_error *err)
{
	for (size_t i = 0; i < n; i++)
		if (v[i])
			return rk_fail(
				err, RK_E_USAGE,
				"%s: reserved words of the options are not 0: zero the struct "
				"before use; options of a later release are not supported",
				fn);
	return 0;
}
