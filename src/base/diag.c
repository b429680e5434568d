/* diag.c - see diag.h. */
#include "base/diag.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

/* A run over 100 000 damaged files must not keep 100 000 messages. */
enum { MAX_WARNINGS = 1000 };

struct rk_diag {
	pthread_mutex_t lock;
	struct rk_warning *list;
	size_t n, cap;
	size_t counted; /* entries before this one are already counted */
};

int rk_diag_new(struct rk_diag **ret, struct rk_error *err)
{
	struct rk_diag *d = rk_calloc(1, sizeof(*d));

	if (!d)
		return rk_fail_nomem(err);
	pthread_mutex_init(&d->lock, NULL);
	*ret = d;
	return 0;
}

static void release(struct rk_warning *w)
{
	rk_free((char *)w->kind);
	rk_free((char *)w->file);
	rk_free((char *)w->message);
}

/* The entry to count in, NULL when out of memory. Call with the lock held. */
static struct rk_warning *entry(struct rk_diag *d, const char *kind, const char *file,
				uint64_t line, const char *message)
{
	struct rk_warning *w = NULL;

	for (size_t i = 0; !w && i < d->n; i++)
		if (!strcmp(d->list[i].kind, kind) && !strcmp(d->list[i].file, file))
			w = &d->list[i];
	if (!w && d->n >= MAX_WARNINGS)
		return &d->list[d->n - 1]; /* counts everything that no longer fits */
	if (!w) {
		w = rk_grow(d->list, &d->cap, d->n + 1, sizeof(*w));
		if (!w)
			return NULL;
		d->list = w;
		w += d->n;
		*w = (struct rk_warning){ .kind = rk_strdup(kind),
					  .file = rk_strdup(file),
					  .message = rk_strdup(message) };
		if (!w->kind || !w->file || !w->message) {
			release(w);
			return NULL;
		}
		d->n++;
	}
	if (line && (!w->line || line < w->line))
		w->line = line;
	return w;
}

void rk_diag_add(struct rk_diag *d, const char *kind, const char *file, uint64_t line,
		 uint64_t count, const char *fmt, ...)
{
	struct rk_warning *w;
	char message[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	pthread_mutex_lock(&d->lock);
	w = entry(d, kind, file, line, message);
	if (w && (size_t)(w - d->list) >= d->counted)
		w->count += count;
	pthread_mutex_unlock(&d->lock);
}

void rk_diag_most(struct rk_diag *d, const char *kind, const char *file, uint64_t line,
		  uint64_t count, const char *message)
{
	struct rk_warning *w;

	pthread_mutex_lock(&d->lock);
	w = entry(d, kind, file, line, message);
	if (w && w->count < count)
		w->count = count;
	pthread_mutex_unlock(&d->lock);
}

void rk_diag_again(struct rk_diag *d)
{
	d->counted = d->n;
}

const struct rk_warning *rk_diag_list(const struct rk_diag *d, size_t *ret_n)
{
	*ret_n = d->n;
	return d->list;
}

void rk_diag_reset(struct rk_diag *d, size_t keep)
{
	if (d->counted > keep)
		d->counted = keep;
	while (d->n > keep)
		release(&d->list[--d->n]);
}

void rk_diag_free(struct rk_diag *d)
{
	if (!d)
		return;
	rk_diag_reset(d, 0);
	rk_free(d->list);
	pthread_mutex_destroy(&d->lock);
	rk_free(d);
}
