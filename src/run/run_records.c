/* run_records.c - see run_records.h. */
#include "run/run_records.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/text.h"
#include "run/run.h"

/* Length of a path up to and with its last slash. */
static size_t dir_len(const char *path)
{
	return (size_t)(rk_base_name(path) - path);
}

size_t rk_rank_prefix(const char *path)
{
	size_t found = 0;
	int64_t v;

	for (const char *p = path, *slash; (slash = strchr(p, '/')); p = slash + 1) {
		bool named = !strncmp(p, "rank-", 5) || !strncmp(p, "rank=", 5);

		if (named && slash - p > 5 &&
		    rk_num_i64(p + 5, (size_t)(slash - p) - 5, &v) == RK_NUM_OK && v >= 0 &&
		    v <= INT32_MAX)
			found = (size_t)(slash + 1 - path);
	}
	return found;
}

int rk_records_add(struct rk_run *run, const char *path, struct rk_error *err)
{
	struct rk_run_record *v =
		rk_grow(run->records, &run->cap_records, run->nrecords + 1, sizeof(*v));

	if (!v)
		return rk_fail_nomem(err);
	run->records = v;
	v += run->nrecords++;
	*v = (struct rk_run_record){ .dir = rk_strndup(path, dir_len(path)) };
	return v->dir ? rk_record_load(path, v, err) : rk_fail_nomem(err);
}

static int add_if_there(struct rk_run *run, const char *path, size_t dir, struct rk_error *err)
{
	char *record = rk_strf("%.*s" RK_RUN_JSON, (int)dir, path);
	struct stat st;
	int rc = record ? 0 : rk_fail_nomem(err);

	if (record && !stat(record, &st) && S_ISREG(st.st_mode))
		rc = rk_records_add(run, record, err);
	rk_free(record);
	return rc;
}

int rk_records_near(struct rk_run *run, const char *path, struct rk_error *err)
{
	size_t dir = dir_len(path), rank = rk_rank_prefix(path);
	int rc = add_if_there(run, path, dir, err);

	return rc == 0 && rank && rank != dir ? add_if_there(run, path, rank, err) : rc;
}

static int by_dir(const void *a, const void *b)
{
	return strcmp(((const struct rk_run_record *)a)->dir,
		      ((const struct rk_run_record *)b)->dir);
}

/* The same folder may have been named twice, or several of its files. */
static void drop_doubles(struct rk_run *run)
{
	size_t n = 0;

	if (run->nrecords)
		qsort(run->records, run->nrecords, sizeof(*run->records), by_dir);
	for (size_t i = 0; i < run->nrecords; i++) {
		if (n && !by_dir(&run->records[n - 1], &run->records[i]))
			rk_record_clear(&run->records[i]);
		else
			run->records[n++] = run->records[i];
	}
	run->nrecords = n;
}

static const struct rk_run_record *find(const struct rk_run *run, const char *dir, size_t len)
{
	size_t from = 0, to = run->nrecords;

	while (from < to) {
		size_t mid = from + (to - from) / 2;
		const struct rk_run_record *r = &run->records[mid];
		int order = strncmp(r->dir, dir, len);

		if (!order && !r->dir[len])
			return r;
		if (order < 0)
			from = mid + 1;
		else
			to = mid;
	}
	return NULL;
}

/*
 * From the file outwards. What lies above the folder of a rank is of the launcher, or of the whole
 * job, and says nothing of one rank.
 */
static const struct rk_run_record *nearest(const struct rk_run *run, const char *path)
{
	size_t least = rk_rank_prefix(path), len = dir_len(path);

	for (;;) {
		const struct rk_run_record *r = find(run, path, len);

		if (r || len <= least)
			return r;
		do
			len--;
		while (len && path[len - 1] != '/');
	}
}

const struct rk_run_record *rk_record_above(const struct rk_run *run, const char *path)
{
	for (size_t len = dir_len(path);; len--) {
		const struct rk_run_record *r =
			!len || path[len - 1] == '/' ? find(run, path, len) : NULL;

		if ((r && r->ours && r->above) || !len)
			return r && r->ours && r->above ? r : NULL;
	}
}

void rk_records_settle(struct rk_run *run)
{
	drop_doubles(run);
	for (size_t i = 0; run->nrecords && i < run->nfound; i++) {
		struct rk_found *f = &run->found[i];
		const struct rk_run_record *r = nearest(run, f->path);

		if (!r || !r->ours || r->above)
			continue;
		f->record = r;
		if (f->rank < 0)
			f->rank = r->rank;
	}
}
