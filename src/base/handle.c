/* handle.c - the handles that are open, by address. */
#include "base/handle.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

enum { BUCKETS = 256 }; /* 8 bits of a product */

struct entry {
	const void *h;
	enum rk_handle_kind kind;
	bool closed;
	size_t holders;
	struct entry *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *buckets[BUCKETS];

/* Where the entry of h is linked, or would be. */
static struct entry **find(const void *h)
{
	/* not base/hash.h: its seed is made up when the first run is opened */
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

/* Takes the entry out when it is of no more use; true: it was. */
static bool settle(struct entry **at)
{
	struct entry *e = *at;

	if (!e->closed || e->holders)
		return false;
	*at = e->next;
	rk_free(e);
	return true;
}

int rk_handle_open(enum rk_handle_kind kind, const void *h, struct rk_error *err)
{
	struct entry *e = rk_alloc(sizeof(*e)), **at;

	if (!e)
		return rk_fail_nomem(err);
	pthread_mutex_lock(&lock);
	at = find(h);
	*e = (struct entry){ .h = h, .kind = kind, .next = *at };
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

void rk_handle_keep(const void *h)
{
	pthread_mutex_lock(&lock);
	(*find(h))->holders++;
	pthread_mutex_unlock(&lock);
}

bool rk_handle_drop(const void *h)
{
	struct entry **at;
	bool last;

	pthread_mutex_lock(&lock);
	at = find(h);
	(*at)->holders--;
	last = settle(at);
	pthread_mutex_unlock(&lock);
	return last;
}

bool rk_handle_close(enum rk_handle_kind kind, const void *h)
{
	struct entry *e;
	bool last = false;

	pthread_mutex_lock(&lock);
	e = find_open(kind, h);
	if (e) {
		e->closed = true;
		last = settle(find(h));
	}
	pthread_mutex_unlock(&lock);
	return last;
}

bool rk_handle_is(enum rk_handle_kind kind, const void *h)
{
	bool is;

	pthread_mutex_lock(&lock);
	is = find_open(kind, h) != NULL;
	pthread_mutex_unlock(&lock);
	return is;
}
