/*
 * run_clocks.c - check whether all rows are on one clock.
 *
 * rocprofv3 stamps everything with the time since boot of its node. Rows of one node are on one
 * clock, however many processes wrote them. Rows of several nodes are not, and their files do not
 * say how far apart the clocks are: we warn instead of guessing.
 *
 * Other profilers have other clocks. If the zero point is unknown, each file counts as a separate
 * clock.
 */
#include <string.h>

#include "run/members.h"

enum { MAX_NODES = 64 };

struct nodes {
	uint32_t ids[MAX_NODES];
	unsigned n;
};

/* The distinct node names of the processes. */
static int find_nodes(struct rk_run *run, struct nodes *ret, struct rk_error *err)
{
	const struct rk_batch *b;
	struct rk_source *rows;
	int rc = rk_run_scan(run, RK_PROCESSES, UINT64_C(1) << RK_O_NODE, &rows, err);

	if (rc < 0)
		return rc;
	while ((rc = rk_source_next(rows, &b, err)) > 0) {
		for (size_t i = 0; i < b->nrows; i++) {
			uint32_t id = rk_batch_id(b, RK_O_NODE, i);
			unsigned k = 0;

			if (!rk_column_has(&b->cols[RK_O_NODE], i))
				continue;
			while (k < ret->n && ret->ids[k] != id)
				k++;
			if (k == ret->n && k < MAX_NODES)
				ret->ids[ret->n++] = id;
		}
	}
	rk_source_close(rows);
	return rc;
}

static void warn(struct rk_run *run, size_t n, const char *one, const char *other)
{
	rk_diag_add(run->ctx.diag, "several-clocks", "", 0, 1,
		    "%zu nodes (%s, %s%s) have different clocks; their times cannot be compared", n,
		    one, other, n > 2 ? ", ..." : "");
}

/* Counts machines but reports node names. False: the machines of the ranks are unknown. */
static bool machines_known(struct rk_run *run, const struct rk_members *m)
{
	const struct rk_member *other = NULL;
	uint32_t last = 0;

	for (size_t i = 0; i < m->n; i++) {
		if (!m->v[i].node[0])
			return false;
		if (m->v[i].machine > last)
			last = m->v[i].machine;
		if (!other && m->v[i].machine != m->v[0].machine)
			other = &m->v[i];
	}
	if (other)
		warn(run, (size_t)last + 1, m->v[0].node, other->node);
	return m->n > 1;
}

int rk_run_check_clocks(struct rk_run *run, struct rk_error *err)
{
	struct nodes nodes = { .n = 0 };
	struct rk_members members;
	size_t warnings;
	bool known;
	int rc;

	if (run->times) /* all rows are on one clock */
		return 0;
	rc = rk_members_by_folder(run, &members, err);
	if (rc < 0)
		return rc;
	known = machines_known(run, &members);
	rk_members_release(&members);
	if (known || !(rk_run_tables(run) >> RK_PROCESSES & 1) ||
	    !rk_run_rescannable(run, RK_PROCESSES))
		return 0;
	/* the scan that uses the rows reports problems with the files */
	rk_diag_list(run->ctx.diag, &warnings);
	rc = find_nodes(run, &nodes, err);
	rk_diag_reset(run->ctx.diag, warnings);
	if (rc < 0)
		return rc;
	if (nodes.n > 1)
		warn(run, nodes.n, rk_strtab_borrow(run->ctx.names, nodes.ids[0], NULL),
		     rk_strtab_borrow(run->ctx.names, nodes.ids[1], NULL));
	return 0;
}

/* ---- files ---- */

static const char *word_of(const struct rk_run *run, const struct rk_found *f)
{
	return f->clock ? rk_strtab_borrow(run->ctx.names, f->clock, NULL) : "unknown";
}

/* Are the files from different boots or machines? */
static bool other_boot(const struct rk_found *a, const struct rk_found *b)
{
	const char *x = a->record ? a->record->text[RK_REC_BOOT] : "";
	const char *y = b->record ? b->record->text[RK_REC_BOOT] : "";

	return x[0] && y[0] && strcmp(x, y) != 0;
}

bool rk_run_has_several_clocks(const struct rk_run *run)
{
	size_t n = 0;
	const struct rk_warning *w = rk_diag_list(run->ctx.diag, &n);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(w[i].kind, "several-clocks"))
			return true;
	return false;
}

void rk_run_tell_clocks(struct rk_run *run)
{
	const struct rk_found *first = NULL;

	if (rk_run_has_several_clocks(run))
		return;
	for (size_t i = 0; i < run->nfound; i++) {
		const struct rk_found *f = &run->found[i];
		const char *x, *y;
		bool parts;

		if (!f->clocked)
			continue;
		if (!first)
			first = f;
		if (!strcmp(first->group, f->group))
			continue;
		x = word_of(run, first);
		y = word_of(run, f);
		/* Parquet files may be parts of one file */
		parts = rk_run_has_columns(first) && rk_run_has_columns(f);
		if (!strcmp(x, y) && (strcmp(x, "unknown") != 0 || parts) && !other_boot(first, f))
			continue;
		rk_diag_add(run->ctx.diag, "several-clocks", "", 0, 1,
			    "the times of '%s' (clock: %s) and '%s' (clock: %s%s) cannot be "
			    "compared; spans and gaps across files are meaningless",
			    first->path, x, f->path, y,
			    other_boot(first, f) ? ", from another boot" : "");
		return;
	}
}
