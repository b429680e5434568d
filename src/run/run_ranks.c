/* run_ranks.c - see run_ranks.h. */
#include "run/run_ranks.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/text.h"
#include "run/ranks.h"

/* ---- the run.json of a run ---- */

/* Length of a path up to and including its last slash. */
static size_t dir_len(const char *path)
{
	return (size_t)(rk_base_name(path) - path);
}

size_t rk_rank_prefix(const char *path)
{
	size_t found = 0;

	for (const char *p = path, *slash; (slash = strchr(p, '/')); p = slash + 1)
		if (rk_rank_of_any_folder(p, (size_t)(slash - p)) >= 0)
			found = (size_t)(slash + 1 - path);
	return found;
}

int rk_records_add(struct rk_run *run, const char *path, struct rk_error *err)
{
	struct rk_run_record *v =
		rk_grow(run->records.v, &run->records.cap, run->records.n + 1, sizeof(*v));

	if (!v)
		return rk_fail_nomem(err);
	run->records.v = v;
	v += run->records.n++;
	*v = (struct rk_run_record){ .dir = rk_strndup(path, dir_len(path)) };
	if (!v->dir)
		return rk_fail_nomem(err);
	return rk_record_load(path, v, err);
}

static int add_if_there(struct rk_run *run, const char *path, size_t dir, struct rk_error *err)
{
	char *record = rk_strf("%.*s" RK_RUN_JSON, (int)dir, path);
	struct stat st;
	int rc = 0;

	if (!record)
		return rk_fail_nomem(err);
	if (!stat(record, &st) && S_ISREG(st.st_mode))
		rc = rk_records_add(run, record, err);
	rk_free(record);
	return rc;
}

int rk_records_near(struct rk_run *run, const char *path, struct rk_error *err)
{
	size_t dir = dir_len(path), rank = rk_rank_prefix(path);
	int rc = add_if_there(run, path, dir, err);

	if (rc < 0 || !rank || rank == dir)
		return rc;
	return add_if_there(run, path, rank, err);
}

static int by_dir(const void *a, const void *b)
{
	return strcmp(((const struct rk_run_record *)a)->dir,
		      ((const struct rk_run_record *)b)->dir);
}

static const struct rk_run_record *find(const struct rk_run *run, const char *dir, size_t len)
{
	size_t from = 0, to = run->records.n;

	while (from < to) {
		size_t mid = from + (to - from) / 2;
		const struct rk_run_record *r = &run->records.v[mid];
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
 * Searches from the file's folder outwards. A record above a rank folder belongs to the launcher or
 * the whole job, so it does not describe one rank.
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
		const struct rk_run_record *r = NULL;

		if (!len || path[len - 1] == '/')
			r = find(run, path, len);
		if (r && r->ours && r->above)
			return r;
		if (!len)
			return NULL;
	}
}

void rk_records_settle(struct rk_run *run)
{
	struct rk_run_records *v = &run->records;
	size_t n = 0;

	if (!v->n)
		return;
	/* folders may be given twice, or several of their files */
	qsort(v->v, v->n, sizeof(*v->v), by_dir);
	for (size_t i = 0; i < v->n; i++) {
		if (n && !by_dir(&v->v[n - 1], &v->v[i]))
			rk_record_clear(&v->v[i]);
		else
			v->v[n++] = v->v[i];
	}
	v->n = n;
	for (size_t i = 0; i < run->nfound; i++) {
		struct rk_found *f = &run->found[i];
		const struct rk_run_record *r = nearest(run, f->path);

		if (!r || !r->ours || r->above)
			continue;
		f->record = r;
		if (f->rank < 0)
			f->rank = r->rank;
	}
}

enum { JOBS_MAX = 64 };

static const char *const fates[] = {
	[RK_PLACE_USED] = NULL,
	[RK_PLACE_OTHER_JOB] = "its rank is from another job than most",
	[RK_PLACE_DUPLICATE] = "another folder of its rank is used",
};

/* ---- finding the folders ---- */

/*
 * Finds the part of `path` that identifies its place, and its length: up to the rank folder, or the
 * node folder of a data set. If the path names no rank, it is the folder of the record that does.
 */
static size_t name_place(const char *path, const struct rk_run_record *record, const char **ret,
			 bool *ret_hive)
{
	size_t end = rk_rank_prefix(path), from;

	*ret = path;
	*ret_hive = false;
	if (!end && record) {
		*ret = record->dir;
		return strlen(record->dir) - (record->dir[0] != '\0');
	}
	if (!end) /* the file or its name tells */
		return dir_len(path) ? dir_len(path) - 1 : 0;
	from = --end; /* the slash after the rank's folder */
	while (from && path[from - 1] != '/')
		from--;
	*ret_hive = !strncmp(path + from, "rank=", 5);
	if (!*ret_hive)
		return end;
	end = from ? from - 1 : 0; /* the slash before it */
	from = end;
	while (from && path[from - 1] != '/')
		from--;
	*ret = path + from;
	return strncmp(path + from, "node=", 5) ? 0 : end - from;
}

static int add_place(struct rk_run *run, int64_t rank, const char *path,
		     const struct rk_run_record *record, const struct rk_found *f,
		     struct rk_error *err)
{
	struct rk_rank_place *v =
		rk_grow(run->places.v, &run->places.cap, run->places.n + 1, sizeof(*v));
	const char *name;
	bool hive;
	size_t len = name_place(path, record, &name, &hive);

	if (!v)
		return rk_fail_nomem(err);
	run->places.v = v;
	v += run->places.n;
	*v = (struct rk_rank_place){ .rank = rank,
				     .folder = rk_strndup(name, len),
				     .record = record,
				     .order = run->places.n++,
				     .hive = hive };
	if (f) {
		v->tables = f->tables;
		v->unreadable = f->unreadable;
	}
	return v->folder ? 0 : rk_fail_nomem(err);
}

/* The rank of a record: from its folder, else from the record itself; -1: none. */
static int64_t rank_of(const struct rk_run_record *r)
{
	size_t len = rk_rank_prefix(r->dir);
	const char *name;

	if (!len)
		return r->above ? -1 : r->rank;
	if (r->dir[len])
		return -1; /* some folder inside the rank's folder */
	name = r->dir + len - 1;
	while (name > r->dir && name[-1] != '/')
		name--;
	return rk_rank_of_any_folder(name, (size_t)(r->dir + len - 1 - name));
}

static int by_rank(const void *a, const void *b)
{
	const struct rk_rank_place *x = a, *y = b;
	int order;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	order = strcmp(x->folder, y->folder);
	return order ? order : (x->order > y->order) - (x->order < y->order);
}

/* All rank folders, each once. */
static int gather(struct rk_run *run, struct rk_error *err)
{
	struct rk_run_places *v = &run->places;
	size_t n = 0;
	int rc;

	for (size_t i = 0; i < run->records.n; i++) {
		const struct rk_run_record *r = &run->records.v[i];
		int64_t rank = r->ours || r->fault ? rank_of(r) : -1;

		if (rank >= 0 && (rc = add_place(run, rank, r->dir, r, NULL, err)) < 0)
			return rc;
	}
	for (size_t i = 0; i < run->nfound; i++) {
		const struct rk_found *f = &run->found[i];

		if (f->rank >= 0 && (rc = add_place(run, f->rank, f->path, f->record, f, err)) < 0)
			return rc;
	}
	if (!v->n)
		return 0;

	qsort(v->v, v->n, sizeof(*v->v), by_rank);
	for (size_t i = 0; i < v->n; i++) {
		struct rk_rank_place *p = &v->v[i], *last = n ? &v->v[n - 1] : NULL;

		if (!last || last->rank != p->rank || strcmp(last->folder, p->folder) != 0) {
			v->v[n++] = *p;
			continue;
		}
		last->tables |= p->tables;
		last->unreadable += p->unreadable;
		if (!last->record)
			last->record = p->record;
		rk_free(p->folder);
	}
	v->n = n;
	return 0;
}

/* ---- choosing the folders ---- */

bool rk_place_tells_job(const struct rk_rank_place *p)
{
	return p->record && p->record->ours &&
	       (p->record->text[RK_REC_JOB][0] || p->record->size > 0);
}

bool rk_place_other_job(const struct rk_rank_place *a, const struct rk_rank_place *b)
{
	const struct rk_run_record *x = a->record, *y = b->record;
	const char *job = x->text[RK_REC_JOB], *other = y->text[RK_REC_JOB];

	if (job[0] && other[0] && strcmp(job, other) != 0)
		return true;
	return x->size > 0 && y->size > 0 && x->size != y->size;
}

/* A rank of the job that more than half of the ranks belong to; NULL: there is none. */
static const struct rk_rank_place *main_job(const struct rk_run *run)
{
	const struct rk_rank_place *jobs[JOBS_MAX];
	size_t count[JOBS_MAX] = { 0 }, n = 0, all = 0;

	for (size_t i = 0; i < run->places.n; i++) {
		const struct rk_rank_place *p = &run->places.v[i];
		size_t at = 0;

		if (!rk_place_tells_job(p))
			continue;
		while (at < n && rk_place_other_job(jobs[at], p))
			at++;
		if (at == JOBS_MAX)
			return NULL;
		if (at == n)
			jobs[n++] = p;
		count[at]++;
		all++;
	}
	for (size_t i = 0; i < n; i++)
		if (count[i] > 1 && count[i] * 2 > all)
			return jobs[i];
	return NULL;
}

static int worth(const struct rk_rank_place *p)
{
	bool ours = p->record && p->record->ours;
	bool done = ours && !strcmp(p->record->text[RK_REC_STATE], "done");
	bool kernels = p->tables & RK_TABLE_BIT(RK_KERNELS);

	return (p->fate == RK_PLACE_USED) * 16 + kernels * 8 + (p->tables != 0) * 4 + done * 2 +
	       ours;
}

/* Sorts by rank; the folder to use comes first, the others in the order found. */
static int by_worth(const void *a, const void *b)
{
	const struct rk_rank_place *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (worth(x) != worth(y))
		return worth(x) > worth(y) ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/*
 * If neither folder has a record, they may be different ranks: other layouts number ranks within
 * each node.
 */
static void choose(struct rk_run *run)
{
	const struct rk_rank_place *most = main_job(run);

	for (size_t i = 0; most && i < run->places.n; i++) {
		struct rk_rank_place *p = &run->places.v[i];

		if (rk_place_tells_job(p) && rk_place_other_job(most, p))
			p->fate = RK_PLACE_OTHER_JOB;
	}
	if (run->places.n)
		qsort(run->places.v, run->places.n, sizeof(*run->places.v), by_worth);
	for (size_t i = 1, first = 0; i < run->places.n; i++) {
		struct rk_rank_place *p = &run->places.v[i], *best = &run->places.v[first];

		if (p->rank != best->rank) {
			first = i;
			continue;
		}
		if (p->fate != RK_PLACE_USED)
			continue;
		if (p->record || best->record)
			p->fate = RK_PLACE_DUPLICATE;
		else
			p->again = true;
	}
}

const struct rk_rank_place *rk_run_place_of(const struct rk_run *run, int64_t rank)
{
	size_t from = 0, to = run->places.n;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (run->places.v[mid].rank < rank)
			from = mid + 1;
		else
			to = mid;
	}
	if (from == run->places.n || run->places.v[from].rank != rank)
		return NULL;
	return &run->places.v[from];
}

int rk_run_places(struct rk_run *run, struct rk_error *err)
{
	int rc = gather(run, err);

	if (rc < 0)
		return rc;
	choose(run);
	/* skip the files of skipped places */
	for (size_t i = 0; i < run->nfound; i++) {
		struct rk_found *f = &run->found[i];
		const struct rk_rank_place *p;
		const char *name;
		bool hive;
		size_t len;

		if (f->rank < 0)
			continue;
		len = name_place(f->path, f->record, &name, &hive);
		p = rk_run_place_of(run, f->rank);
		for (; p && p < run->places.v + run->places.n && p->rank == f->rank; p++) {
			if (strncmp(p->folder, name, len) != 0 || p->folder[len] || !fates[p->fate])
				continue;
			f->left_out = fates[p->fate];
			f->tables = 0;
		}
	}
	return 0;
}

void rk_run_places_free(struct rk_run *run)
{
	for (size_t i = 0; i < run->places.n; i++)
		rk_free(run->places.v[i].folder);
	rk_free(run->places.v);
}
