/* html_feed.c - see html_page.h. */
#include "html/html_page.h"

#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/num.h"
#include "ranks/ranks_parts.h"
#include "run/sorted.h"
#include "table/stages.h"

#define BIT(f) (UINT64_C(1) << (f))

enum { UNKNOWN = -1, NONE = -1 };

/* The columns of a table that the timeline needs; NONE: no such column. */
struct plan {
	enum rk_table table;
	int name, start, duration, node, rank, device, pid, queue, stream;
};

static const struct plan plans[RK_NLANE_KINDS] = {
	[RK_LANE_KERNELS] = { RK_KERNELS, RK_K_NAME, RK_K_START, RK_K_DURATION, RK_K_NODE,
			      RK_K_RANK, RK_K_DEVICE, RK_K_PID, RK_K_QUEUE, RK_K_STREAM },
	/* the direction decides which device it is */
	[RK_LANE_COPIES] = { RK_MEMCPY, RK_C_DIRECTION, RK_C_START, RK_C_DURATION, RK_C_NODE,
			     RK_C_RANK, RK_C_DST, NONE, NONE, NONE },
	[RK_LANE_MARKERS] = { RK_MARKERS, RK_R_NAME, RK_R_START, RK_R_DURATION, RK_R_NODE,
			      RK_R_RANK, NONE, RK_R_PID, RK_R_TID, NONE },
};

/* ---- names ---- */

static const struct rk_report_section *section_of(const struct rk_report *r, unsigned kind)
{
	const struct rk_report_section *const sections[RK_NLANE_KINDS] = {
		[RK_LANE_KERNELS] = &r->kernels,
		[RK_LANE_COPIES] = &r->copies,
		[RK_LANE_MARKERS] = &r->markers,
	};

	return sections[kind];
}

/* The slot for the number of a row's name; NULL: out of memory. */
static uint32_t *number_of(struct rk_run *run, struct rk_idmap *numbers,
			   const struct rk_report_row *row)
{
	uint32_t id = 0;

	/* the name exists already, so this looks it up */
	if (rk_strtab_add(run->ctx.names, row->name, strlen(row->name), &id, NULL) < 0)
		return NULL;
	return rk_idmap_at(numbers, id);
}

int rk_html_names_make(struct rk_run *run, const struct rk_report *r, struct rk_html_names *ret,
		       struct rk_error *err)
{
	for (unsigned k = 0; k < RK_NLANE_KINDS; k++) {
		const struct rk_report_section *s = section_of(r, k);
		struct rk_idmap known = { 0 }; /* equal names of one table share a number */
		size_t i = 0;

		ret->n[k] = rk_min(s->nrows, RK_HTML_TABLE_ROWS);
		ret->of[k] = rk_calloc(ret->n[k] + 1, sizeof(uint32_t));
		if (!ret->of[k])
			return rk_fail_nomem(err);
		for (; i < ret->n[k]; i++) {
			uint32_t *number = number_of(run, &known, &s->rows[i]);

			if (!number)
				break;
			if (!*number)
				*number = (uint32_t)++ret->count;
			ret->of[k][i] = *number - 1;
		}
		rk_idmap_release(&known);
		if (i < ret->n[k])
			return rk_fail_nomem(err);
	}
	return 0;
}

void rk_html_names_release(struct rk_html_names *n)
{
	for (unsigned k = 0; k < RK_NLANE_KINDS; k++)
		rk_free(n->of[k]);
}

/* ---- lanes ---- */

/* Ranks whose rows are shown, ascending. v NULL: all. */
struct shown {
	int64_t *v;
	size_t n;
};

struct feed {
	struct rk_run *run;
	const struct plan *plan;
	enum rk_html_kind kind;
	struct rk_lanes *lanes;
	struct rk_idmap numbers; /* number + 1 by string id */
	uint32_t others;         /* the number for all other names */
};

static inline int64_t number_at(const struct rk_batch *b, int f, size_t i)
{
	return f < 0 ? UNKNOWN : rk_batch_int(b, (unsigned)f, i, UNKNOWN);
}

static inline uint32_t text_at(const struct rk_batch *b, int f, size_t i)
{
	return rk_batch_id(b, (unsigned)f, i);
}

static int add_row(struct feed *f, const struct rk_batch *b, size_t i, struct rk_error *err)
{
	const struct plan *p = f->plan;
	uint32_t name = text_at(b, p->name, i), *number = rk_idmap_at(&f->numbers, name);
	struct rk_lane_key key = {
		text_at(b, p->node, i),  number_at(b, p->rank, i),  number_at(b, p->device, i),
		number_at(b, p->pid, i), number_at(b, p->queue, i), number_at(b, p->stream, i),
	};

	if (!number)
		return rk_fail_nomem(err);
	if (!rk_column_has(&b->cols[p->start], i) || number_at(b, p->duration, i) < 0)
		return 0;
	if (!number_at(b, p->start, i) && !number_at(b, p->duration, i))
		return 0; /* start and duration 0: time unknown */
	if (f->kind == RK_LANE_COPIES) {
		key.device = rk_copy_device(rk_strtab_borrow(f->run->ctx.names, name, NULL),
					    number_at(b, RK_C_SRC, i), number_at(b, RK_C_DST, i));
	}
	return rk_lanes_add(f->lanes, f->kind, &key, number_at(b, p->start, i),
			    number_at(b, p->duration, i), *number ? *number - 1 : f->others, err);
}

/* Rows of a table sorted by time; `rank` is the column that `shown` filters. */
static int open_sorted(struct rk_sorted *sorted, enum rk_table t, uint64_t want,
		       const struct shown *shown, unsigned rank, struct rk_source **ret,
		       struct rk_error *err)
{
	struct rk_source *rows;
	int rc = rk_run_scan(sorted->run, t, want, &rows, err);

	if (rc < 0)
		return rc;
	if (shown && shown->v) {
		rc = rk_keep_some_open(rows, rank, shown->v, shown->n, true, &rows, err);
		if (rc < 0)
			return rc;
	}
	rc = rk_sorted_rows(sorted, &rows, err);
	if (rc < 0)
		return rc;
	*ret = rows;
	return 0;
}

/* The tables that lanes are made from. */
struct lanes_job {
	struct rk_run *run;
	const struct rk_html_names *names;
	const struct rk_report *r;
	struct shown shown;
	struct rk_sorted sorted;
	struct rk_lanes *ret;
};

static int feed_table(struct lanes_job *j, enum rk_html_kind kind, struct rk_lanes *lanes,
		      struct rk_error *err)
{
	const struct rk_report_section *s = section_of(j->r, kind);
	const struct plan *p = &plans[kind];
	const int fields[] = { p->name,   p->start, p->duration, p->node,  p->rank,
			       p->device, p->pid,   p->queue,    p->stream };
	struct feed f = { .run = j->run,
			  .plan = p,
			  .kind = kind,
			  .lanes = lanes,
			  .others = (uint32_t)j->names->count };
	struct rk_source *rows = NULL;
	const struct rk_batch *b;
	uint64_t want = 0;
	int rc;

	if (!(rk_run_tables(j->run) >> p->table & 1))
		return 0;
	for (size_t i = 0; i < j->names->n[kind]; i++) {
		uint32_t *number = number_of(j->run, &f.numbers, &s->rows[i]);

		if (!number) {
			rc = rk_fail_nomem(err);
			goto out;
		}
		*number = j->names->of[kind][i] + 1;
	}

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (fields[i] >= 0)
			want |= BIT(fields[i]);
	if (p->table == RK_MEMCPY)
		want |= BIT(RK_C_SRC);
	rc = open_sorted(&j->sorted, p->table, want, &j->shown, (unsigned)p->rank, &rows, err);
	if (rc < 0)
		goto out;
	while ((rc = rk_source_next(rows, &b, err)) > 0) {
		for (size_t i = 0; rc >= 0 && i < b->nrows; i++)
			rc = add_row(&f, b, i, err);
		if (rc < 0)
			break;
	}
	rk_source_close(rows);
out:
	rk_idmap_release(&f.numbers);
	return rc;
}

static int make_lanes(void *arg, struct rk_error *err)
{
	struct lanes_job *j = arg;
	struct rk_lanes *l = NULL;
	int rc = rk_lanes_new(&j->run->ctx, j->names->count, &l, err);

	if (rc < 0)
		return rc;
	for (unsigned k = 0; k < RK_NLANE_KINDS; k++) {
		rc = feed_table(j, (enum rk_html_kind)k, l, err);
		if (rc < 0)
			goto fail;
	}
	rc = rk_lanes_finish(l, err);
	if (rc < 0)
		goto fail;
	j->ret = l;
	return 0;
fail:
	rk_lanes_free(l);
	return rc;
}

size_t rk_html_ranks_left_out(const struct rk_ranks *k)
{
	return k && k->nranks > RK_HTML_RANKS ? k->nranks - RK_HTML_RANKS : 0;
}

int rk_html_feed_lanes(struct rk_run *run, const struct rk_html_names *names,
		       const struct rk_report *r, struct rk_lanes **ret, struct rk_error *err)
{
	struct lanes_job j = { .run = run, .names = names, .r = r, .sorted = { .run = run } };
	const struct rk_ranks *k = r->ranks;
	bool *picked = NULL;
	int rc;

	if (rk_html_ranks_left_out(k)) {
		picked = rk_calloc(k->nranks, sizeof(*picked));
		j.shown.v = rk_calloc(RK_HTML_RANKS, sizeof(*j.shown.v));
		if (!picked || !j.shown.v || !rk_ranks_pick(k, RK_HTML_RANKS, picked)) {
			rc = rk_fail_nomem(err);
			goto out;
		}
		for (size_t i = 0; i < k->nranks && j.shown.n < RK_HTML_RANKS; i++)
			if (picked[i])
				j.shown.v[j.shown.n++] = k->ranks[i].rank;
	}
	rc = rk_run_sorted(&j.sorted, make_lanes, &j, err);
	if (rc == 0)
		*ret = j.ret;
out:
	rk_free(picked);
	rk_free(j.shown.v);
	return rc;
}

/* ---- curves ---- */

int rk_html_feed_curves(struct rk_run *run, struct rk_curves *ret, struct rk_error *err)
{
	struct rk_sorted sorted = { .run = run, .spill = RK_TABLE_BIT(RK_SAMPLES) };
	const struct rk_batch *b;
	struct rk_source *rows = NULL;
	int rc;

	if (!(rk_run_tables(run) & RK_TABLE_BIT(RK_SAMPLES)))
		return 0;
	rc = open_sorted(&sorted, RK_SAMPLES, RK_WANT_ALL, NULL, 0, &rows, err);
	if (rc < 0)
		return rc;
	while ((rc = rk_source_next(rows, &b, err)) > 0) {
		for (size_t i = 0; i < b->nrows; i++) {
			struct rk_curve of = { .metric = text_at(b, RK_S_METRIC, i),
					       .unit = text_at(b, RK_S_UNIT, i),
					       .node = text_at(b, RK_S_NODE, i),
					       .device = number_at(b, RK_S_DEVICE, i) };

			/* without a time it is a measurement of the GPU, not of the run */
			if (!rk_column_has(&b->cols[RK_S_TIME], i) ||
			    !rk_column_has(&b->cols[RK_S_VALUE], i))
				continue;
			rc = rk_curves_add(ret, &of, number_at(b, RK_S_TIME, i),
					   ((const double *)b->cols[RK_S_VALUE].data)[i], err);
			if (rc < 0)
				goto out;
		}
	}
out:
	rk_source_close(rows);
	return rc;
}
