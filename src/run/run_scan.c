/* run_scan.c - one table of a run, over all its files. */
#include <string.h>

#include "base/alloc.h"
#include "base/secrets.h"
#include "run/energy.h"
#include "run/hive.h"
#include "run/run.h"
#include "table/stages.h"

/* ---- removing secrets from command lines ---- */

enum { COMMAND_BYTES_MAX = 16 << 20 };

struct hide {
	struct rk_source base;
	struct rk_source *rows;
	struct rk_context *ctx;
	bool redact;
	struct rk_redaction_self self;
	uint32_t *ids; /* the replacement for the recorded column */
	size_t cap;
	struct rk_column cols[RK_O_NFIELDS];
	struct rk_batch batch;
};

/* Removes secrets from a command line and, if requested, names and places. */
static int hide_one(const struct hide *h, uint32_t id, uint32_t *ret, struct rk_error *err)
{
	struct rk_bytes hidden, redacted, *out = &hidden;
	int rc;

	rk_bytes_init(&hidden, COMMAND_BYTES_MAX);
	rk_bytes_init(&redacted, COMMAND_BYTES_MAX);
	rk_hide_argument(&hidden, NULL, rk_strtab_borrow(h->ctx->names, id, NULL));
	if (h->redact && rk_bytes_str(&hidden)) {
		rk_redact_text(&redacted, rk_bytes_str(&hidden), &h->self.who);
		out = &redacted;
	}
	if (rk_bytes_str(out))
		rc = rk_strtab_add(h->ctx->names, (const char *)out->data, out->len, ret, err);
	else
		rc = rk_fail_nomem(err);
	rk_bytes_release(&hidden);
	rk_bytes_release(&redacted);
	return rc;
}

static int hide_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct hide *h = (struct hide *)base;
	const struct rk_batch *b;
	const uint32_t *from;
	void *grown;
	int rc = rk_source_next(h->rows, &b, err);

	if (rc <= 0)
		return rc;
	from = b->cols[RK_O_COMMAND].data;
	if (!from) {
		*batch = b;
		return 1;
	}
	grown = rk_grow(h->ids, &h->cap, b->nrows, sizeof(*h->ids));
	if (!grown)
		return rk_fail_nomem(err);
	h->ids = grown;
	for (size_t i = 0; i < b->nrows; i++) {
		rc = hide_one(h, from[i], &h->ids[i], err);
		if (rc < 0)
			return rc;
	}
	memcpy(h->cols, b->cols, sizeof(h->cols));
	h->cols[RK_O_COMMAND].data = h->ids;
	h->batch = (struct rk_batch){ b->schema, b->nrows, h->cols };
	*batch = &h->batch;
	return 1;
}

static void hide_close(struct rk_source *base)
{
	struct hide *h = (struct hide *)base;

	rk_source_close(h->rows);
	rk_free(h->ids);
	rk_free(h);
}

static const struct rk_source_ops hide_ops = { .next = hide_next, .close = hide_close };

static int hide_open(struct rk_source *rows, struct rk_run *run, struct rk_source **ret,
		     struct rk_error *err)
{
	struct hide *h = rk_calloc(1, sizeof(*h));

	if (!h) {
		rk_source_close(rows);
		return rk_fail_nomem(err);
	}
	h->base = (struct rk_source){ &hide_ops, rows->schema };
	h->rows = rows;
	h->ctx = &run->ctx;
	h->redact = run->opt.redact;
	if (h->redact)
		rk_redaction_self(&h->self);
	*ret = &h->base;
	return 0;
}

/* ---- the scan ---- */

struct scan {
	struct rk_source base;
	struct rk_run *run;
	enum rk_table table;
	uint64_t want;
	size_t at; /* next file */
	struct rk_reader *reader;
	struct rk_source *rows;
	const struct rk_counter_set *counters; /* to be joined to kernels; NULL: none */
	struct rk_batch batch;
	bool several; /* several files have kernels, so compare their clocks */
	bool timed;   /* see rk_run_scan_timed */
};

/* Columns that the path can fill if the rows do not have them. */
static const struct {
	int pid, rank, pass, node;
} place[RK_NTABLES] = {
	[RK_KERNELS] = { RK_K_PID, RK_K_RANK, -1, RK_K_NODE },
	[RK_MEMCPY] = { RK_C_PID, RK_C_RANK, -1, RK_C_NODE },
	[RK_MEMALLOC] = { RK_M_PID, RK_M_RANK, -1, RK_M_NODE },
	[RK_API] = { RK_A_PID, RK_A_RANK, -1, RK_A_NODE },
	[RK_MARKERS] = { RK_R_PID, RK_R_RANK, -1, RK_R_NODE },
	[RK_COUNTERS] = { RK_N_PID, RK_N_RANK, RK_N_PASS, RK_N_NODE },
	[RK_SAMPLES] = { -1, -1, -1, RK_S_NODE },
	[RK_PC_SAMPLES] = { RK_P_PID, RK_P_RANK, -1, RK_P_NODE },
	[RK_LIBRARY_CALLS] = { RK_L_PID, RK_L_RANK, -1, RK_L_NODE },
	[RK_AGENTS] = { -1, -1, -1, RK_G_NODE },
	[RK_PROCESSES] = { -1, RK_O_RANK, -1, RK_O_NODE },
	[RK_STATS] = { RK_T_PID, RK_T_RANK, -1, RK_T_NODE },
	[RK_INSTRUCTIONS] = { -1, -1, -1, -1 },
};

/* Values for the columns above, per file. */
struct stamps {
	struct rk_stamp v[RK_STAMPS_MAX];
	unsigned n;
	uint64_t want;
};

static void stamp(struct stamps *s, int field, int64_t value, bool over)
{
	if (field < 0 || value < 0 || !(s->want >> field & 1))
		return;
	s->v[s->n++] = (struct rk_stamp){ (unsigned)field, value, over };
}

/* Opens one table of a file, with values from its path and the run.json next to it. */
static int open_file(struct scan *s, struct rk_found *f, struct rk_error *err)
{
	const char *name = f->record ? f->record->text[RK_REC_NODE] : "";
	struct stamps stamps = { .want = s->want };
	struct rk_context *ctx = &s->run->ctx;
	uint32_t node;
	int rc;

	if (!f->kept && (rc = rk_reader_open_as(f->path, f->ops, ctx, &s->reader, err)) < 0)
		goto fail;
	/*
	 * use the launcher's name for the node of a rank in all tables: profilers may use another
	 * name for the machine
	 */
	rc = rk_hive_node(ctx, f->path, &node, err);
	if (rc == 0 && !node && name[0])
		rc = rk_strtab_add(ctx->names, name, strlen(name), &node, err);
	if (rc < 0)
		goto fail;
	if (node)
		stamp(&stamps, place[s->table].node, (int64_t)node,
		      f->record && f->record->rank >= 0);
	stamp(&stamps, place[s->table].pid, f->pid, false);
	stamp(&stamps, place[s->table].rank, f->rank, false);
	stamp(&stamps, place[s->table].pass, f->pass, false);
	if (s->table == RK_PROCESSES && f->record)
		stamp(&stamps, RK_O_LOCAL_RANK, f->record->local_rank, false);

	rc = f->ops->scan(f->kept ? f->kept : s->reader, s->table, s->want, &s->rows, err);
	if (rc < 0 || (f->ops->serial && (rc = rk_ahead_open(s->rows, ctx, &s->rows, err)) < 0) ||
	    (rc = rk_stamp_open(s->rows, stamps.v, stamps.n, &s->rows, err)) < 0 ||
	    (s->counters && (rc = rk_run_join(s->run, f, s->counters, &s->rows, err)) < 0))
		goto fail;
	return 0;
fail:
	s->rows = NULL;
	rk_error_at(err, f->path, 0, 0);
	return rc;
}

static void close_file(struct scan *s)
{
	rk_source_close(s->rows);
	rk_reader_close(s->reader);
	s->rows = NULL;
	s->reader = NULL;
}

void rk_run_tolerate(struct rk_run *run)
{
	run->tolerant = run->places.n > 1;
}

/* True: the file is damaged, a warning was added, and the caller continues with the next file. */
static bool tolerated(struct scan *s, int rc, struct rk_error *err)
{
	struct rk_found *f = &s->run->found[s->at - 1];

	if (rc != RK_E_FORMAT || !s->run->tolerant || f->rank < 0)
		return false;
	f->damaged = true;
	rk_diag_most(s->run->ctx.diag, "damaged-file", f->path, err ? err->line : 0, 1,
		     err ? err->message : "damaged");
	rk_error_clear(err);
	return true;
}

/* Returns 1 if s->rows is open for the next file, 0 if there is none. */
static int next_file(struct scan *s, struct rk_error *err)
{
	struct rk_run *run = s->run;

	while (s->at < run->nfound) {
		struct rk_found *f = &run->found[s->at++];
		int rc;

		if (!(f->used >> s->table & 1) || (s->timed && s->table == RK_KERNELS && f->summed))
			continue;
		rc = open_file(s, f, err);
		if (rc == 0)
			return 1;
		if (!tolerated(s, rc, err))
			return rc;
		close_file(s);
	}
	return 0;
}

static int scan_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct scan *s = (struct scan *)base;
	struct rk_found *f;
	int rc;

	for (;;) {
		if (!s->rows) {
			rc = next_file(s, err);
			if (rc <= 0)
				return rc;
		}
		f = &s->run->found[s->at - 1];
		rc = rk_source_next(s->rows, batch, err);
		if (rc < 0)
			rk_error_at(err, f->path, 0, 0);
		if (rc > 0) {
			/* ignore further columns after those of the table */
			s->batch =
				(struct rk_batch){ base->schema, (*batch)->nrows, (*batch)->cols };
			*batch = &s->batch;
			s->run->scanned = s->at - 1;
			if (s->several && s->batch.nrows) {
				f->clocked = true;
				f->clock = rk_batch_id(&s->batch, RK_K_CLOCK, 0);
			}
		}
		if (rc > 0 || (rc < 0 && !tolerated(s, rc, err)))
			return rc;
		s->run->progress.before += f->bytes;
		close_file(s);
	}
}

static void scan_close(struct rk_source *base)
{
	struct scan *s = (struct scan *)base;

	close_file(s);
	rk_free(s);
}

static const struct rk_source_ops scan_ops = { .next = scan_next, .close = scan_close };

/* The column with kernel names; -1: none. */
static int name_field(const struct rk_run *run, enum rk_table t)
{
	const char *of;

	switch (t) {
	case RK_KERNELS:
		return RK_K_NAME;
	case RK_COUNTERS:
		return RK_N_NAME;
	case RK_PC_SAMPLES:
		return RK_P_NAME;
	case RK_STATS:
		of = rk_run_stats_of(run);
		return of && !strcmp(of, "kernel") ? (int)RK_T_NAME : -1;
	default:
		return -1;
	}
}

bool rk_run_rescannable(const struct rk_run *run, enum rk_table t)
{
	for (size_t i = 0; i < run->nfound; i++)
		if (run->found[i].used >> t & 1 && run->found[i].kept && run->found[i].kept->once)
			return false;
	return true;
}

static int open_scan(struct rk_run *run, enum rk_table t, uint64_t want,
		     const struct rk_counter_set *counters, bool timed, struct rk_source **ret,
		     struct rk_error *err)
{
	struct scan *s = rk_calloc(1, sizeof(*s));
	int field = name_field(run, t);
	size_t files = 0;

	if (!s)
		return rk_fail_nomem(err);
	s->base =
		(struct rk_source){ &scan_ops, counters ? &counters->schema : rk_table_schema(t) };
	s->run = run;
	s->table = t;
	s->timed = timed;
	run->progress.before = run->progress.total = 0;
	for (size_t i = 0; i < run->nfound; i++) {
		if (!(run->found[i].used >> t & 1))
			continue;
		run->progress.total += run->found[i].bytes;
		files++;
	}
	s->several = t == RK_KERNELS && files > 1;
	s->want = s->several ? want | UINT64_C(1) << RK_K_CLOCK : want;
	s->counters = counters;
	if (field >= 0)
		return rk_names_open(&s->base, &run->ctx, (unsigned)field, &run->style, ret, err);
	if (t == RK_PROCESSES && run->opt.hide_secrets)
		return hide_open(&s->base, run, ret, err);
	*ret = &s->base;
	return 0;
}

int rk_run_scan(struct rk_run *run, enum rk_table t, uint64_t want, struct rk_source **ret,
		struct rk_error *err)
{
	return open_scan(run, t, want, NULL, false, ret, err);
}

int rk_run_scan_timed(struct rk_run *run, enum rk_table t, uint64_t want, struct rk_source **ret,
		      struct rk_error *err)
{
	return open_scan(run, t, want, NULL, true, ret, err);
}

int rk_run_scan_kernels(struct rk_run *run, struct rk_source **ret, struct rk_error *err)
{
	int rc;

	if ((rc = rk_run_counters(run, err)) < 0 ||
	    (rc = open_scan(run, RK_KERNELS, RK_WANT_ALL, run->counters.set, false, ret, err)) < 0)
		return rc;
	return rk_run_energy_open(run, ret, err);
}

int rk_run_scan_joined(struct rk_run *run, const struct rk_counter_set *set, uint64_t want,
		       struct rk_source **ret, struct rk_error *err)
{
	return open_scan(run, RK_KERNELS, want, set, false, ret, err);
}
