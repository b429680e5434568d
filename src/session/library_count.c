/* library_count.c - calls counted by library, function and configuration, in bounded memory. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "session/library_impl.h"

enum { BYTES_MAX = 64 << 20, SLOTS_FIRST = 1024 };

static const char other[] = "(other)";

void rk_library_counts_release(struct rk_library_counts *c)
{
	for (size_t i = 0; i < c->nrows; i++)
		rk_free(c->rows[i].text);
	rk_free(c->rows);
	rk_free(c->slots);
	*c = (struct rk_library_counts){ 0 };
}

/* The slot of the row that hash and text belong to: free, or the row's own. */
static size_t slot_of(const struct rk_library_counts *c, uint64_t hash, const char *text,
		      size_t len)
{
	size_t i = (size_t)hash & (c->nslots - 1);

	while (c->slots[i]) {
		const struct rk_library_row *r = &c->rows[c->slots[i] - 1];

		if (r->hash == hash && r->len == len && memcmp(r->text, text, len) == 0)
			break;
		i = (i + 1) & (c->nslots - 1);
	}
	return i;
}

/* At most half of the slots are in use. */
static int grow_slots(struct rk_library_counts *c, struct rk_error *err)
{
	size_t n = c->nslots ? c->nslots * 2 : SLOTS_FIRST;
	uint32_t *old = c->slots;

	if (c->nrows + 1 <= c->nslots / 2)
		return 0;
	c->slots = rk_calloc(n, sizeof(*c->slots));
	if (!c->slots) {
		c->slots = old;
		return rk_fail_nomem(err);
	}
	c->nslots = n;
	rk_free(old);
	for (size_t i = 0; i < c->nrows; i++) {
		size_t at = (size_t)c->rows[i].hash & (n - 1);

		while (c->slots[at])
			at = (at + 1) & (n - 1);
		c->slots[at] = (uint32_t)i + 1;
	}
	return 0;
}

static int grow_rows(struct rk_library_counts *c, struct rk_error *err)
{
	size_t cap = c->cap ? c->cap * 2 : 256;
	struct rk_library_row *rows;

	if (c->nrows < c->cap)
		return 0;
	rows = rk_reallocn(c->rows, cap, sizeof(*rows));
	if (!rows)
		return rk_fail_nomem(err);
	c->rows = rows;
	c->cap = cap;
	return 0;
}

static int add_row(struct rk_library_counts *c, const struct rk_library_call *call, uint64_t hash,
		   const char *text, size_t len, size_t slot, struct rk_error *err)
{
	int rc = grow_rows(c, err);
	char *copy = rc == 0 ? rk_alloc(len) : NULL;

	if (!copy)
		return rc < 0 ? rc : rk_fail_nomem(err);
	memcpy(copy, text, len);
	c->rows[c->nrows] = (struct rk_library_row){ call->library, call->summary, call->calls,
						     hash,          copy,          len };
	c->slots[slot] = (uint32_t)++c->nrows;
	c->bytes += len;
	return 0;
}

/* Library and kind, function, configuration: what makes calls equal; each ends with a NUL. */
static void put_key(struct rk_bytes *key, const struct rk_library_call *call, const char *config,
		    size_t len)
{
	rk_bytes_put(key, call->function, strlen(call->function) + 1);
	rk_bytes_put(key, config, len);
	rk_bytes_put_u8(key, 0);
	rk_bytes_put_u8(key, (uint8_t)(call->library << 1 | call->summary));
}

static int count_key(struct rk_library_counts *c, const struct rk_library_call *call,
		     const struct rk_bytes *key, bool may_add, bool *found, struct rk_error *err)
{
	const char *text = (const char *)key->data;
	uint64_t hash = rk_hash_bytes(text, key->len);
	size_t slot = slot_of(c, hash, text, key->len);

	*found = c->slots[slot] != 0;
	if (!*found)
		return may_add ? add_row(c, call, hash, text, key->len, slot, err) : 0;
	if (__builtin_add_overflow(c->rows[c->slots[slot] - 1].calls, call->calls,
				   &c->rows[c->slots[slot] - 1].calls))
		c->rows[c->slots[slot] - 1].calls = UINT64_MAX;
	return 0;
}

int rk_library_count(struct rk_library_counts *c, const struct rk_library_call *call,
		     const struct rk_bytes *config, struct rk_error *err)
{
	size_t max = c->max_rows ? c->max_rows : (size_t)RK_LIBRARY_CONFIGS_MAX;
	bool room = c->nrows < max && c->bytes < BYTES_MAX, found = false;
	struct rk_library_call rest = *call;
	struct rk_bytes key;
	int rc = grow_slots(c, err);

	rk_bytes_init(&key, 1 << 16);
	put_key(&key, call, config->len ? (const char *)config->data : "", config->len);
	if (rc == 0 && (key.bad || config->bad))
		rc = rk_fail_nomem(err);
	if (rc == 0)
		rc = count_key(c, call, &key, room, &found, err);
	if (rc == 0 && !room && !found) {
		memcpy(rest.function, other, sizeof(other));
		rk_bytes_clear(&key);
		put_key(&key, &rest, "", 0);
		rc = key.bad ? rk_fail_nomem(err) : count_key(c, &rest, &key, true, &found, err);
	}
	rk_bytes_release(&key);
	return rc;
}

static int more_calls_first(const void *a, const void *b)
{
	const struct rk_library_row *x = a, *y = b;
	int order;

	if (x->calls != y->calls)
		return x->calls < y->calls ? 1 : -1;
	if (x->library != y->library)
		return x->library < y->library ? -1 : 1;
	order = strcmp(x->text, y->text);
	return order ? order : strcmp(x->text + strlen(x->text) + 1, y->text + strlen(y->text) + 1);
}

/*
 * rocBLAS logs each call as it happens and counts of all calls at its end. A process that is killed
 * has no counts, and one that starts later empties both logs: the one with more calls is nearer to
 * the truth.
 */
void rk_library_counts_settle(struct rk_library_counts *c)
{
	double calls[RK_NLIBRARIES][2] = { { 0 } };
	size_t kept = 0;

	for (size_t i = 0; i < c->nrows; i++)
		calls[c->rows[i].library][c->rows[i].summary] += (double)c->rows[i].calls;
	for (size_t i = 0; i < c->nrows; i++) {
		const struct rk_library_row *r = &c->rows[i];
		bool summary = calls[r->library][1] > calls[r->library][0];

		if (r->summary == summary)
			c->rows[kept++] = *r;
		else
			rk_free(r->text);
	}
	c->nrows = kept;
	if (kept)
		qsort(c->rows, kept, sizeof(*c->rows), more_calls_first);
}
