/* diff_doubts.c - see diff_doubts.h. */
#include "diff/diff_doubts.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "run/run_json.h"

/* Beginnings of warnings that mean lost rows; nobody knows how many. */
static const char *const losses[] = {
	"damaged-",           "cut-",        "truncated-",      "lost-",
	"dropped-",           "unclean-",    "overwritten-",    "unreadable-",
	"unfinished-",        "huge-",       "hot-wal",         "lookup-",
	"track-limit",        "slice-limit", "name-limit",      "late-names",
	"definition-limit",   "group-",      "name-table-full", "many-kernels",
	"compressed-packets",
};

/* The same of single rows, which were counted. */
static const char *const slips_of[] = {
	"short-row",  "long-row",       "bad-",           "not-a-",        "unknown-name",
	"wrong-type", "number-out-of",  "time-out-of",    "out-of-range",  "duration-out-of",
	"range-end-", "unknown-record", "unclosed-slice", "unmatched-end",
};

static const double SLIPS_MAX = 0.001; /* of the rows */

static bool begins(const char *kind, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strncmp(kind, words[i], strlen(words[i])) == 0)
			return true;
	return false;
}

#define BEGINS(kind, words) begins(kind, words, sizeof(words) / sizeof((words)[0]))

static void warned(const struct rk_run *run, uint64_t rows, struct rk_list *doubts,
		   struct rk_list *slips)
{
	size_t n = 0;
	const struct rk_warning *w = rk_diag_list(run->ctx.diag, &n);

	for (size_t i = 0; i < n; i++) {
		bool slip = BEGINS(w[i].kind, slips_of);
		struct rk_list *to = slip && (double)w[i].count < SLIPS_MAX * (double)rows ? slips :
											     doubts;

		if (!slip && !BEGINS(w[i].kind, losses))
			continue;
		if (w[i].file[0])
			rk_list_addf(to, "%s (%s)", w[i].message, rk_base_name(w[i].file));
		else
			rk_list_addf(to, "%s", w[i].message);
	}
}

/* ---- run.json ---- */

static void look_at_record(const struct rk_tree *t, const char *path, struct rk_list *ret)
{
	const char *state = rk_tree_text(rk_run_json_at(t, RK_RUN_STATE), "");
	int64_t status = 0;

	if (!rk_run_json_recorded(t))
		return;
	if (strcmp(state, "done") != 0)
		rk_list_addf(ret, "the run was broken off or is still going on (%s says '%s')",
			     path, state);
	if (rk_tree_int(rk_run_json_at(t, RK_RUN_EXIT_STATUS), &status) && status)
		rk_list_addf(ret, "the program ended with status %" PRId64 " (%s)", status, path);
}

/* The folders of a file, from the inside out: a run's tables lie in it, raw files deeper. */
static int records_above(const char *path, struct rk_list *seen, struct rk_error *err)
{
	size_t len = strlen(path);

	for (unsigned level = 0; level < 3; level++) {
		char *record;

		while (len && path[len - 1] != '/')
			len--;
		record = rk_strf("%.*s" RK_RUN_JSON, (int)len, path);
		if (!record)
			return rk_fail_nomem(err);
		if (access(record, R_OK) == 0)
			rk_list_add_once(seen, record);
		rk_free(record);
		if (!len--)
			break;
	}
	return seen->bad ? rk_fail_nomem(err) : 0;
}

static int recorded(const struct rk_run *run, struct rk_list *ret, struct rk_error *err)
{
	struct rk_list seen = { 0 };
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < run->nfound; i++)
		if (run->found[i].used)
			rc = records_above(run->found[i].path, &seen, err);
	for (size_t i = 0; rc == 0 && i < seen.n; i++) {
		struct rk_error ignored = { 0 };
		struct rk_tree *t = NULL;

		/* a file of that name that is no such record is not ours to judge */
		if (rk_run_json_load(seen.v[i], &t, &ignored) == 0)
			look_at_record(t, seen.v[i], ret);
		else if (ignored.code == RK_E_NOMEM)
			rc = rk_fail_nomem(err);
		rk_tree_free(t);
	}
	rk_list_release(&seen);
	return rc;
}

/* ---- ranks ---- */

/* What is wrong with a job's ranks. Other versions, or names of nodes, change no sum. */
static void ranks(const struct rk_fuse_members *m, struct rk_list *ret)
{
	static const char *const harmless[] = { "versions", "nodes", "empty" };

	for (size_t i = 0; i < m->nproblems; i++)
		if (!BEGINS(m->problems[i].kind, harmless))
			rk_list_addf(ret, "%s", m->problems[i].text);
}

bool rk_run_several_machines(const struct rk_fuse_members *m)
{
	for (size_t i = 1; i < m->n; i++)
		if (m->v[i].machine != m->v[0].machine)
			return true;
	return false;
}

int rk_run_doubts(struct rk_run *run, const struct rk_fuse_members *m, uint64_t rows,
		  struct rk_list *doubts, struct rk_list *slips, struct rk_error *err)
{
	int rc = m->n ? 0 : recorded(run, doubts, err);

	ranks(m, doubts);

	warned(run, rows, doubts, slips);
	return rc == 0 && (doubts->bad || slips->bad) ? rk_fail_nomem(err) : rc;
}
