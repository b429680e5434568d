/* run_records.c - see run_records.h. */
#include "run/run_records.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/text.h"
#include "codec/json/tree.h"
#include "run/run.h"

enum { TEXT_MAX = 255, WARNING_MAX = 1000, RANKS_MAX = 8192 };

/* ---- one of them ---- */

static const struct {
	const char *object, *key; /* object: NULL for the root; key: NULL for the first of a list */
} texts[RK_REC_NTEXTS] = {
	[RK_REC_NODE] = { NULL, "node" },        [RK_REC_BOOT] = { NULL, "boot_id" },
	[RK_REC_JOB] = { NULL, "job" },          [RK_REC_STEP] = { NULL, "step" },
	[RK_REC_RANKS] = { NULL, "ranks" },      [RK_REC_STATE] = { NULL, "state" },
	[RK_REC_TOOL] = { "tool", "name" },      [RK_REC_TOOL_VERSION] = { "tool", "version" },
	[RK_REC_ROCKIT] = { NULL, "rockit" },    [RK_REC_SCRATCH] = { NULL, "scratch" },
	[RK_REC_WARNING] = { "warnings", NULL },
};

/* Whole characters of it, and nothing that a terminal would obey. */
static char *plain(const char *text, size_t most)
{
	size_t len = strlen(text);
	char *ret;

	len = rk_utf8_valid(text, len > most ? most : len);
	ret = rk_strndup(text, len);
	for (size_t i = 0; ret && i < len; i++)
		if ((unsigned char)ret[i] < ' ' || ret[i] == 0x7f)
			ret[i] = '?';
	return ret;
}

/* Half a number would be another rank. */
static void cut_at_comma(char *list, size_t most)
{
	char *comma = list && strlen(list) == most ? strrchr(list, ',') : NULL;

	if (comma)
		*comma = '\0';
}

/* A name that `run --redact` took away is none: all nodes would be one. */
static char *text_of(const struct rk_tree *t, size_t most)
{
	bool fits = t && (t->kind == RK_TREE_TEXT || t->kind == RK_TREE_NUMBER);

	return plain(fits && strcmp(t->text, "[host]") != 0 ? t->text : "", most);
}

static int64_t number_of(const struct rk_tree *t, int64_t most)
{
	int64_t v;

	return t && t->kind == RK_TREE_NUMBER && rk_tree_int(t, &v) && v >= 0 && v <= most ? v : -1;
}

/*
 * A pair counts with both its clocks. How far the wall's clock was from the true time is known only
 * where it was asked for; how well the two were read together adds to it.
 */
static void read_snapshot(const struct rk_tree *t, struct rk_run_record *r)
{
	struct rk_align_snapshot s = {
		.clock_ns = number_of(rk_tree_get(t, "boottime_ns"), INT64_MAX / 2),
		.real_ns = number_of(rk_tree_get(t, "realtime_ns"), INT64_MAX / 2),
	};
	int64_t read_ns = number_of(rk_tree_get(t, "error_ns"), INT64_MAX / 4);
	int64_t wall_ns = number_of(rk_tree_get(t, "realtime_error_ns"), INT64_MAX / 4);

	if (s.clock_ns < 0 || s.real_ns <= 0)
		return;
	s.error_ns = read_ns >= 0 && wall_ns >= 0 ? read_ns + wall_ns : -1;
	r->snapshots[r->nsnapshots++] = s;
}

static void read_numbers(const struct rk_tree *t, struct rk_run_record *r)
{
	const struct rk_tree *ledger = rk_tree_get(t, "ledger"), *clocks = rk_tree_get(t, "clocks");
	const struct rk_tree *tables = rk_tree_get(rk_tree_get(ledger, "delivered"), "tables");
	const struct rk_tree *repaired = rk_tree_get(rk_tree_get(ledger, "repaired"), "rows");

	r->rank = number_of(rk_tree_get(t, "rank"), INT32_MAX);
	r->local_rank = number_of(rk_tree_get(t, "local_rank"), INT32_MAX);
	r->size = number_of(rk_tree_get(t, "size"), INT32_MAX);
	r->status = number_of(rk_tree_get(t, "exit_status"), INT32_MAX);
	r->kernels = number_of(rk_tree_get(tables, "kernels"), INT64_MAX);
	r->mismatches = number_of(rk_tree_get(repaired, "pass-mismatch"), INT64_MAX);
	r->clock_error_ns = number_of(rk_tree_get(ledger, "clock_error_ns"), INT64_MAX / 4);
	r->nsnapshots = 0;
	read_snapshot(rk_tree_get(clocks, "start"), r);
	read_snapshot(rk_tree_get(clocks, "end"), r);
}

static bool is_ours(const struct rk_tree *t)
{
	return rk_tree_get(t, "rockit") || rk_tree_get(t, "ledger") || rk_tree_get(t, "rank");
}

static int read_texts(const struct rk_tree *t, struct rk_run_record *r, struct rk_error *err)
{
	for (unsigned i = 0; i < RK_REC_NTEXTS; i++) {
		const struct rk_tree *in = texts[i].object ? rk_tree_get(t, texts[i].object) : t;
		const struct rk_tree *at = texts[i].key ? rk_tree_get(in, texts[i].key) :
					   in           ? in->first :
							  NULL;

		r->text[i] = text_of(at, i == RK_REC_RANKS   ? RANKS_MAX :
					 i == RK_REC_WARNING ? WARNING_MAX :
							       TEXT_MAX);
		if (!r->text[i])
			return rk_fail_nomem(err);
	}
	cut_at_comma(r->text[RK_REC_RANKS], RANKS_MAX);
	return 0;
}

/* `rc`, `why` and `t` are what became of reading it; `t` is taken over. */
static int read_tree(int rc, const struct rk_error *why, struct rk_tree *t,
		     struct rk_run_record *ret, struct rk_error *err)
{
	const char *fault = rc < 0                    ? why->message :
			    t->kind != RK_TREE_OBJECT ? "not a JSON object" :
							NULL;
	const struct rk_tree *root = fault || !is_ours(t) ? NULL : t;

	ret->fault = fault ? plain(fault, TEXT_MAX) : NULL;
	ret->ours = root != NULL;
	read_numbers(root, ret);
	rc = rc == RK_E_NOMEM || (fault && !ret->fault) ? rk_fail_nomem(err) : 0;
	if (rc == 0)
		rc = read_texts(root, ret, err);
	rk_tree_free(t);
	return rc;
}

int rk_record_parse(const char *text, size_t len, struct rk_run_record *ret, struct rk_error *err)
{
	struct rk_error why = { 0 };
	struct rk_tree *t = NULL;
	int rc = rk_tree_parse_json(text, len, "run.json", &t, &why);

	return read_tree(rc, &why, t, ret, err);
}

static int load(const char *path, struct rk_run_record *ret, struct rk_error *err)
{
	struct rk_error why = { 0 };
	struct rk_tree *t = NULL;
	int rc = rk_tree_load(path, &t, &why);

	return read_tree(rc, &why, t, ret, err);
}

void rk_record_clear(struct rk_run_record *r)
{
	for (unsigned i = 0; i < RK_REC_NTEXTS; i++)
		rk_free(r->text[i]);
	rk_free(r->dir);
	rk_free(r->fault);
	*r = (struct rk_run_record){ .dir = NULL };
}

/* ---- all of a run ---- */

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
	return v->dir ? load(path, v, err) : rk_fail_nomem(err);
}

static int add_if_there(struct rk_run *run, const char *path, size_t dir, struct rk_error *err)
{
	char *record = rk_strf("%.*srun.json", (int)dir, path);
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
