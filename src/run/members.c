/*
 * members.c - the ranks of a run, and what is known about each.
 *
 * If a rank has a folder, its rows are not read, except the first ones for the node name if neither
 * run.json nor the path has it. Files that name no rank may have rows of many ranks (a table made
 * from all of them): we read their rank column.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "run/hive.h"
#include "run/members.h"
#include "run/run_ranks.h"

enum { MEMBERS_MAX = 1 << 16 };

/*
 * On one machine, the boot clock and the wall clock do not drift apart or step by more than this.
 */
static const int64_t same_boot_ns = INT64_C(2000000000);

/* ---- members ---- */

static struct rk_member *new_member(struct rk_members *m, int64_t rank, struct rk_error *err)
{
	struct rk_member *v = rk_grow(m->v, &m->cap, m->n + 1, sizeof(*v));

	if (!v) {
		rk_fail_nomem(err);
		return NULL;
	}
	m->v = v;
	v += m->n++;
	*v = (struct rk_member){
		.rank = rank, .local_rank = -1, .size = -1, .status = -1, .clock_error_ns = -1
	};
	return v;
}

/* Copies all strings from `r`, which may be NULL. */
static int set_texts(struct rk_member *v, const struct rk_run_record *r, const char *node,
		     const char *folder, struct rk_error *err)
{
	const struct {
		char **to;
		unsigned which;
	} texts[] = {
		{ &v->node, RK_REC_NODE },
		{ &v->job, RK_REC_JOB },
		{ &v->step, RK_REC_STEP },
		{ &v->tool, RK_REC_TOOL },
		{ &v->tool_version, RK_REC_TOOL_VERSION },
		{ &v->state, RK_REC_STATE },
	};

	v->folder = rk_strdup(folder);
	if (!v->folder)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const char *text = r ? r->text[texts[i].which] : "";

		if (texts[i].which == RK_REC_NODE && !text[0])
			text = node;
		*texts[i].to = rk_strdup(text);
		if (!*texts[i].to)
			return rk_fail_nomem(err);
	}
	return 0;
}

static int add_place(struct rk_run *run, struct rk_members *m, const struct rk_rank_place *p,
		     struct rk_error *err)
{
	struct rk_member *v = new_member(m, p->rank, err);
	const struct rk_run_record *r = NULL;
	const char *node = "", *folder = p->folder;
	uint32_t id = 0;
	char *path;
	int rc;

	if (!v)
		return RK_E_NOMEM;
	if (p->hive) {
		/* a folder in a data set: its path has the node */
		path = rk_strf("%s/", p->folder);
		rc = path ? rk_hive_node(&run->ctx, path, &id, err) : rk_fail_nomem(err);
		rk_free(path);
		if (rc < 0)
			return rc;
		node = rk_strtab_borrow(run->ctx.names, id, NULL);
		folder = "";
	}
	if (p->record && p->record->ours) {
		r = p->record;
		v->local_rank = r->local_rank;
		v->size = r->size;
		v->status = r->status;
		v->clock_error_ns = r->clock_error_ns;
		memcpy(v->snapshots, r->snapshots, sizeof(v->snapshots));
		v->nsnapshots = r->nsnapshots;
	}
	return set_texts(v, r, node, folder, err);
}

/* ---- rows ---- */

static const struct look {
	enum rk_table table;
	unsigned rank, node, start;
} looks[] = {
	{ RK_KERNELS, RK_K_RANK, RK_K_NODE, RK_K_START },
	{ RK_MEMCPY, RK_C_RANK, RK_C_NODE, RK_C_START },
	{ RK_API, RK_A_RANK, RK_A_NODE, RK_A_START },
};
enum { NLOOKS = sizeof(looks) / sizeof(looks[0]) };

static struct rk_member *find(const struct rk_members *m, int64_t rank)
{
	size_t from = 0, to = m->n;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (m->v[mid].rank < rank)
			from = mid + 1;
		else
			to = mid;
	}
	return from < m->n && m->v[from].rank == rank ? &m->v[from] : NULL;
}

/* Inserts in order. Rows come rank by rank, so there is rarely anything to move. */
static int add_rank(struct rk_members *m, int64_t rank, struct rk_error *err)
{
	struct rk_member v;
	size_t at;
	int rc;

	if (rank < 0 || m->n == MEMBERS_MAX || find(m, rank))
		return 0;
	if (!new_member(m, rank, err))
		return RK_E_NOMEM;
	rc = set_texts(&m->v[m->n - 1], NULL, "", "", err);
	v = m->v[m->n - 1];
	for (at = m->n - 1; at && m->v[at - 1].rank > rank; at--)
		m->v[at] = m->v[at - 1];
	m->v[at] = v;
	return rc;
}

/*
 * Ranks of a launcher inside the command ran on rockit's machine or on others. Clocks since boot
 * differ between machines by more than the duration of a run, so a start within the run on the
 * local clock means this machine.
 */
static bool was_here(const struct rk_run_record *r, int64_t start_ns)
{
	const int64_t slack_ns = INT64_C(1000000000);

	return r && r->nsnapshots == 2 && start_ns >= r->snapshots[0].clock_ns - slack_ns &&
	       start_ns <= r->snapshots[1].clock_ns + slack_ns;
}

static int add_rows(struct rk_run *run, struct rk_members *m, const struct look *l,
		    const struct rk_run_record *above, const struct rk_batch *b,
		    struct rk_error *err)
{
	int64_t last = -1;

	for (size_t i = 0; i < b->nrows; i++) {
		int64_t rank = rk_batch_int(b, l->rank, i, -1);
		const char *node = NULL;
		struct rk_member *v;
		char *name;
		int rc;

		if (rank == last || rank < 0)
			continue;
		last = rank;
		rc = add_rank(m, rank, err);
		if (rc < 0)
			return rc;
		if (rk_column_has(&b->cols[l->node], i))
			node = rk_strtab_borrow(run->ctx.names, rk_batch_id(b, l->node, i), NULL);
		else if (was_here(above, rk_batch_int(b, l->start, i, -1)))
			node = above->text[RK_REC_NODE];
		v = find(m, rank);
		if (!node || !v || v->node[0])
			continue;
		name = rk_strdup(node);
		if (!name)
			return rk_fail_nomem(err);
		rk_free(v->node);
		v->node = name;
	}
	return 0;
}

/*
 * Reads the rows of one file, all or only the first ones; the other files are disabled meanwhile.
 */
static int look_into(struct rk_run *run, struct rk_members *m, const struct look *l, size_t at,
		     bool all, struct rk_error *err)
{
	const struct rk_run_record *above = rk_record_above(run, run->found[at].path);
	uint64_t want = UINT64_C(1) << l->rank | UINT64_C(1) << l->node;
	uint32_t *used = rk_calloc(run->nfound, sizeof(*used));
	struct rk_error ignored = { 0 };
	struct rk_source *rows = NULL;
	const struct rk_batch *b;
	int rc = 0;

	if (!used)
		return rk_fail_nomem(err);
	if (above)
		want |= UINT64_C(1) << l->start;
	for (size_t i = 0; i < run->nfound; i++) {
		used[i] = run->found[i].used;
		if (i != at)
			run->found[i].used = 0;
	}
	if (rk_run_scan(run, l->table, want, &rows, &ignored) == 0)
		while (rk_source_next(rows, &b, &ignored) > 0) {
			rc = add_rows(run, m, l, above, b, err);
			if (rc < 0 || !all)
				break;
		}
	rk_source_close(rows);
	for (size_t i = 0; i < run->nfound; i++)
		run->found[i].used = used[i];
	rk_free(used);
	/* the code that needs the rows reports the damage */
	return rc == 0 && ignored.code == RK_E_NOMEM ? rk_fail_nomem(err) : rc;
}

static int from_rows(struct rk_run *run, struct rk_members *m, const struct look *l,
		     bool *ret_found, struct rk_error *err)
{
	for (size_t i = 0; i < run->nfound; i++) {
		const struct rk_found *f = &run->found[i];
		const struct rk_member *v = f->rank >= 0 ? find(m, f->rank) : NULL;
		bool look, all = false;
		int rc;

		if (!(f->used >> l->table & 1) || (f->kept && f->kept->once))
			continue;
		*ret_found = true;
		if (v) {
			look = !v->node[0];
		} else {
			/* may name several ranks; the trace of a process has at most one */
			look = f->ops->rows_rank != RK_ROWS_NO_RANK;
			all = f->many_ranks;
		}
		if (look && (rc = look_into(run, m, l, i, all, err)) < 0)
			return rc;
	}
	return 0;
}

/* ---- machines ---- */

/* A rank and its machine: the boot id, or the node name if the boot id is unknown. */
struct home {
	const char *key;
	bool timed;
	int64_t boot_ns;
	struct rk_member *v;
};

static int by_home(const void *a, const void *b)
{
	const struct home *x = a, *y = b;
	int order = strcmp(x->key, y->key);

	if (order)
		return order;
	if (x->timed != y->timed)
		return y->timed - x->timed;
	return (x->boot_ns > y->boot_ns) - (x->boot_ns < y->boot_ns);
}

/*
 * Two nodes may have the same name, and a rebooted machine has a new clock: ranks with the same key
 * but different boot times are on different machines.
 */
static bool one_machine(const struct home *a, const struct home *b)
{
	if (!a->key[0] || strcmp(a->key, b->key) != 0)
		return false;
	return !a->timed || !b->timed || b->boot_ns - a->boot_ns <= same_boot_ns;
}

/* Numbers machines from 0 in the order of their first ranks. */
static int number_machines(struct rk_run *run, struct rk_members *m, struct rk_error *err)
{
	struct home *homes = rk_calloc(m->n + 1, sizeof(*homes));
	uint32_t *number = rk_calloc(m->n + 1, sizeof(*number)), machine = 0, n = 0;
	int rc = 0;

	if (!homes || !number) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	for (size_t i = 0; i < m->n; i++) {
		const struct rk_rank_place *p = rk_run_place_of(run, m->v[i].rank);
		struct home *h = &homes[i];

		*h = (struct home){ .key = m->v[i].node, .v = &m->v[i] };
		if (p && p->record && p->record->ours && p->record->text[RK_REC_BOOT][0])
			h->key = p->record->text[RK_REC_BOOT];
		h->timed = h->v->nsnapshots > 0;
		if (h->timed)
			h->boot_ns = h->v->snapshots[0].real_ns - h->v->snapshots[0].clock_ns;
	}
	if (m->n)
		qsort(homes, m->n, sizeof(*homes), by_home);
	for (size_t i = 0; i < m->n; i++) {
		machine += i && !one_machine(&homes[i - 1], &homes[i]);
		homes[i].v->machine = machine;
	}
	for (size_t i = 0; i < m->n; i++) {
		uint32_t *at = &number[m->v[i].machine];

		if (!*at)
			*at = ++n;
		m->v[i].machine = *at - 1;
	}
out:
	rk_free(homes);
	rk_free(number);
	return rc;
}

/* ---- entry points ---- */

static int make(struct rk_run *run, bool rows, struct rk_members *ret, struct rk_error *err)
{
	struct rk_members m = { .job = "" };
	bool found = !rows;
	size_t warnings;
	int rc = 0;

	for (size_t i = 0; i < run->places.n; i++) {
		const struct rk_rank_place *p = &run->places.v[i];

		if (p->fate != RK_PLACE_USED || p->again)
			continue;
		rc = add_place(run, &m, p, err);
		if (rc < 0)
			goto fail;
	}
	/* the scan that uses the rows reports problems with the files */
	rk_diag_list(run->ctx.diag, &warnings);
	for (unsigned i = 0; rc == 0 && i < NLOOKS && !found; i++)
		rc = from_rows(run, &m, &looks[i], &found, err);
	rk_diag_reset(run->ctx.diag, warnings);
	if (rc < 0 || (rc = number_machines(run, &m, err)) < 0)
		goto fail;
	for (size_t i = 0; i < m.n; i++) {
		if (!m.job[0])
			m.job = m.v[i].job;
		if (m.v[i].size > 0 && (uint64_t)m.v[i].size > m.size)
			m.size = (uint64_t)m.v[i].size;
	}
	rc = rk_problems_find(run, &m, err);
	if (rc < 0)
		goto fail;
	*ret = m;
	return 0;
fail:
	rk_members_release(&m);
	return rc;
}

int rk_members_find(struct rk_run *run, struct rk_members *ret, struct rk_error *err)
{
	return make(run, true, ret, err);
}

int rk_members_by_folder(struct rk_run *run, struct rk_members *ret, struct rk_error *err)
{
	return make(run, false, ret, err);
}

int rk_run_warn_ranks(struct rk_run *run, struct rk_error *err)
{
	struct rk_members m;
	int rc = rk_members_by_folder(run, &m, err);

	if (rc < 0)
		return rc;
	/* other code reports problems of a single run, except that it was one of many ranks */
	for (size_t i = 0; i < m.nproblems; i++)
		if (run->places.n > 1 || !strcmp(m.problems[i].kind, "missing"))
			rk_diag_add(run->ctx.diag, m.warnings[i], "", 0, 1, "%s",
				    m.problems[i].text);
	rk_members_release(&m);
	return 0;
}

void rk_members_release(struct rk_members *m)
{
	for (size_t i = 0; i < m->n; i++) {
		struct rk_member *v = &m->v[i];

		rk_free(v->node);
		rk_free(v->job);
		rk_free(v->step);
		rk_free(v->folder);
		rk_free(v->tool);
		rk_free(v->tool_version);
		rk_free(v->state);
	}
	for (size_t i = 0; i < m->nproblems; i++)
		rk_free((char *)m->problems[i].text);
	rk_free(m->v);
	rk_free(m->problems);
	rk_free(m->warnings);
	*m = (struct rk_members){ .job = "" };
}
