/*
 * dataset_plan.c - which files are of which rank, and which shard writes them.
 *
 * Nothing here reads a row: paths, sizes and kinds of files are known when a run is open, and the
 * columns of counters are settled once for all ranks, so each of many shards comes to the same plan.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sha256/sha256.h"
#include "convert/dataset.h"

enum { UNITS_MAX = 1 << 16 };

static bool is_of(const struct rk_found *f, const struct rk_unit *u)
{
	if (u->rank >= 0 || f->rank >= 0)
		return f->rank == u->rank;
	return !strcmp(f->program, u->program);
}

/* ---- units ---- */

/* Files of a rank lie together as a rule: the unit before is looked at first. */
static struct rk_unit *unit_of(struct rk_dataset *d, const struct rk_found *f, struct rk_unit *last)
{
	if (last && is_of(f, last))
		return last;
	for (size_t i = d->nunits; i-- > 0;)
		if (is_of(f, &d->units[i]))
			return &d->units[i];
	return NULL;
}

static int add_unit(struct rk_dataset *d, const struct rk_found *f, struct rk_error *err)
{
	struct rk_unit *v;

	if (d->nunits == UNITS_MAX)
		return rk_fail(err, RK_E_LIMIT, "more than %d ranks; convert them in parts",
			       UNITS_MAX);
	v = rk_grow(d->units, &d->cap_units, d->nunits + 1, sizeof(*v));
	if (!v)
		return rk_fail_nomem(err);
	d->units = v;
	v[d->nunits++] =
		(struct rk_unit){ .rank = f->rank, .program = f->program, .path = f->path };
	return 0;
}

/* A file that cannot be read makes its rank known, so that it is missed. */
static bool counts(const struct rk_found *f)
{
	return f->used || f->rank >= 0;
}

static int find_units(struct rk_dataset *d, struct rk_error *err)
{
	struct rk_unit *u = NULL;

	for (size_t i = 0; i < d->run->nfound; i++) {
		const struct rk_found *f = &d->run->found[i];

		if (!counts(f))
			continue;
		u = unit_of(d, f, u);
		if (!u) {
			int rc = add_unit(d, f, err);

			if (rc < 0)
				return rc;
			u = &d->units[d->nunits - 1];
		}
		u->bytes += f->used ? f->bytes : 0;
	}
	return 0;
}

static int by_rank(const void *a, const void *b)
{
	const struct rk_unit *u = a, *v = b;
	uint64_t x = (uint64_t)u->rank, y = (uint64_t)v->rank; /* -1 is the last */

	return x != y ? (x < y ? -1 : 1) : strcmp(u->path, v->path);
}

/* Files of a rank are part 0; those that name none may have rows of any rank: parts of their own. */
static void number_parts(struct rk_dataset *d)
{
	unsigned part;

	if (d->nunits)
		qsort(d->units, d->nunits, sizeof(*d->units), by_rank);
	part = d->nunits && d->units[0].rank >= 0;
	for (size_t i = 0; i < d->nunits; i++)
		d->units[i].part = d->units[i].rank >= 0 ? 0 : part++;
}

/* ---- shards ---- */

static int by_bytes(const void *a, const void *b)
{
	const struct rk_unit *u = *(struct rk_unit *const *)a, *v = *(struct rk_unit *const *)b;

	if (u->bytes != v->bytes)
		return u->bytes > v->bytes ? -1 : 1;
	return u < v ? -1 : 1;
}

/* The largest first, each to the shard that has least. */
static void deal(struct rk_unit **order, size_t n, uint64_t *load, unsigned nshards)
{
	for (size_t i = 0; i < n; i++) {
		unsigned least = 0;

		for (unsigned s = 1; s < nshards; s++)
			if (load[s] < load[least])
				least = s;
		order[i]->shard = least + 1;
		load[least] += order[i]->bytes + 1;
	}
}

static int share_out(struct rk_dataset *d, struct rk_error *err)
{
	struct rk_unit **order = rk_calloc(d->nunits + 1, sizeof(struct rk_unit *));
	uint64_t *load = rk_calloc(d->nshards, sizeof(*load));
	int rc = order && load ? 0 : rk_fail_nomem(err);

	for (size_t i = 0; rc == 0 && i < d->nunits; i++)
		order[i] = &d->units[i];
	if (rc == 0 && d->nunits) {
		qsort(order, d->nunits, sizeof(*order), by_bytes);
		deal(order, d->nunits, load, d->nshards);
	}
	rk_free(order);
	rk_free(load);
	return rc;
}

/* ---- fingerprint ---- */

static void digest_file(struct rk_bytes *b, const struct rk_found *f)
{
	const char *slash = strrchr(f->path, '/');

	rk_bytes_printf(b, "%" PRId64 " %" PRIu32 " %" PRIu64 " %s %s\n", f->rank, f->used,
			f->bytes, slash ? slash + 1 : f->path,
			f->record ? f->record->text[RK_REC_NODE] : "");
}

/* All that decides what the files hold; the same wherever the input is mounted. */
static int fingerprint(struct rk_dataset *d, struct rk_error *err)
{
	const struct rk_run *run = d->run;
	uint8_t digest[RK_SHA256_BYTES];
	struct rk_sha256 sum;
	struct rk_bytes b;
	bool bad = false;

	rk_sha256_begin(&sum);
	rk_bytes_init(&b, 1 << 16);
	rk_bytes_printf(&b, "rockit %s %d %u %d %d %d\n", ROCKIT_VERSION, d->table, d->nshards,
			run->opt.mangled, run->opt.truncate, run->energy != NULL);
	for (unsigned i = 0; run->counters && i < run->counters->schema.nfields; i++)
		rk_bytes_printf(&b, "%.512s\n", run->counters->schema.fields[i].name);
	for (size_t i = 0; i < run->nfound && !bad; i++) {
		rk_sha256_add(&sum, b.data, b.len);
		bad = b.bad;
		rk_bytes_clear(&b);
		if (run->found[i].used)
			digest_file(&b, &run->found[i]);
	}
	rk_sha256_add(&sum, b.data, b.len);
	rk_sha256_end(&sum, digest);
	bad |= b.bad;
	rk_bytes_release(&b);
	for (unsigned i = 0; i < RK_SHA256_BYTES; i++)
		snprintf(d->fingerprint + 2 * i, 3, "%02x", (unsigned)digest[i]);
	return bad ? rk_fail_nomem(err) : 0;
}

int rk_dataset_plan(struct rk_dataset *d, struct rk_error *err)
{
	int rc = rk_run_counters(d->run, err);

	if (rc == 0)
		rc = find_units(d, err);
	if (rc < 0)
		return rc;
	number_parts(d);
	rc = share_out(d, err);
	if (rc == 0)
		rc = fingerprint(d, err);
	d->used = rc == 0 ? rk_calloc(d->run->nfound + 1, sizeof(*d->used)) : NULL;
	if (rc == 0 && !d->used)
		rc = rk_fail_nomem(err);
	return rc;
}

void rk_dataset_mask(struct rk_dataset *d, const struct rk_unit *u)
{
	for (size_t i = 0; i < d->run->nfound; i++) {
		struct rk_found *f = &d->run->found[i];

		d->used[i] = f->used;
		if (!is_of(f, u))
			f->used = 0;
	}
}

void rk_dataset_unmask(struct rk_dataset *d)
{
	for (size_t i = 0; i < d->run->nfound; i++)
		d->run->found[i].used = d->used[i];
}

void rk_dataset_release(struct rk_dataset *d)
{
	rk_free(d->units);
	rk_free(d->used);
}
