/* rank_calls.c - see rank_clocks.h. */
#include "ranks/rank_clocks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/num.h"
#include "ranks/comm_name.h"

/* Meaning of a name: 0: not looked up yet; then these; NAME_OPS and above: an operation. */
enum { NAME_NOTHING = 1, NAME_WAIT, NAME_OPS };

/* `sig` of a call before finish: the number of its operation from 1, or SIG_WAIT. */
#define SIG_WAIT UINT64_MAX

struct op {
	struct rk_calls_op pub;
	enum rk_comm_kind kind;
	bool host, queued;
	int64_t grid;  /* if operations are distinguished by grid size; -1: any */
	uint32_t next; /* the next operation with the same name and another grid; 0: none */
	uint64_t used; /* calls that are kept */
	/* what the trace says about its calls, as name ids; 0: nothing, then only the kernel's name */
	uint32_t collective, group;
	uint32_t plain; /* the operation of the same kernel without that; itself if `collective` is 0 */
	bool unnumbered; /* a call has no number */
};

struct rk_rank_calls {
	struct rk_context *ctx;
	struct rk_calls_rank *ranks;
	size_t nranks, share;
	size_t at; /* rank of the previous row */
	struct rk_idmap names, labels;
	struct rk_map described; /* collective and group, operation of the kernel -> operation */
	struct op *ops;
	size_t nops, cap_ops;
	struct rk_era era; /* its origin is subtracted from all times */
	/* operations beyond the limit; calls that were not kept; calls far from the first */
	uint64_t names_left, dropped, far;
	bool assumed;
};

static const struct fields {
	int name, start, duration, rank;
} fields[RK_NTABLES] = {
	[RK_KERNELS] = { RK_K_NAME, RK_K_START, RK_K_DURATION, RK_K_RANK },
	[RK_API] = { RK_A_FUNCTION, RK_A_START, RK_A_DURATION, RK_A_RANK },
	[RK_MARKERS] = { RK_R_NAME, RK_R_START, RK_R_DURATION, RK_R_RANK },
};

uint64_t rk_rank_calls_wants(enum rk_table t)
{
	const struct fields *f = &fields[t];
	uint64_t want = UINT64_C(1) << f->name | UINT64_C(1) << f->start |
			UINT64_C(1) << f->duration | UINT64_C(1) << f->rank;

	if (!f->duration)
		return 0;
	if (t == RK_KERNELS)
		want |= UINT64_C(1) << RK_K_GRID_X | UINT64_C(1) << RK_K_COLLECTIVE |
			UINT64_C(1) << RK_K_COMM_GROUP | UINT64_C(1) << RK_K_COMM_SIZE |
			UINT64_C(1) << RK_K_COMM_SEQ;
	return want;
}

void rk_rank_calls_limit(struct rk_rank_calls *c, size_t calls)
{
	c->share = rk_max(calls, 2) & ~(size_t)1;
}

int rk_rank_calls_new(struct rk_context *ctx, const int64_t *ranks, size_t n,
		      struct rk_rank_calls **ret, struct rk_error *err)
{
	struct rk_rank_calls *c = rk_calloc(1, sizeof(*c));

	if (!c)
		return rk_fail_nomem(err);
	c->ctx = ctx;
	c->nranks = n;
	rk_rank_calls_limit(c, rk_max(RK_CALLS_MAX / rk_max(n, 1), 64));
	c->ranks = rk_calloc(n + 1, sizeof(*c->ranks));
	if (!c->ranks) {
		rk_free(c);
		return rk_fail_nomem(err);
	}
	for (size_t i = 0; i < n; i++)
		c->ranks[i].rank = ranks[i];
	*ret = c;
	return 0;
}

/* ---- names ---- */

static int add_op(struct rk_rank_calls *c, uint32_t label, struct rk_comm comm, uint32_t *ret,
		  struct rk_error *err)
{
	struct op *v;

	if (c->nops == RK_CALLS_OPS) {
		c->names_left++;
		*ret = NAME_NOTHING;
		return 0;
	}
	v = rk_grow(c->ops, &c->cap_ops, c->nops + 1, sizeof(*v));
	if (!v)
		return rk_fail_nomem(err);
	c->ops = v;
	v[c->nops] = (struct op){
		.kind = comm.kind, .host = comm.host, .queued = comm.queued, .grid = -1
	};
	v[c->nops].pub = (struct rk_calls_op){ .label = label,
					       .any = comm.kind == RK_COMM_ANY,
					       .waits = !comm.queued };
	v[c->nops].plain = NAME_OPS + (uint32_t)c->nops;
	*ret = NAME_OPS + (uint32_t)c->nops++;
	return 0;
}

/* Kernels with the same label are one operation, whatever the rest of their names. */
static int look_up(struct rk_rank_calls *c, uint32_t name, uint32_t *ret, struct rk_error *err)
{
	size_t len;
	const char *text = rk_strtab_borrow(c->ctx->names, name, &len);
	struct rk_comm comm = rk_comm_of(text, len);
	uint32_t label, *known;
	char words[256];
	int rc;

	*ret = rk_comm_is_wait(text, len) ? NAME_WAIT : NAME_NOTHING;
	if (comm.kind == RK_COMM_NOT)
		return 0;
	rk_comm_label(text, len, words, sizeof(words));
	rc = rk_strtab_add(c->ctx->names, words, strlen(words), &label, err);
	if (rc < 0)
		return rc;
	known = rk_idmap_at(&c->labels, label);
	if (!known)
		return rk_fail_nomem(err);
	/* a function and a kernel may have the same label, but are different operations */
	if (!*known || c->ops[*known - NAME_OPS].host != comm.host)
		rc = add_op(c, label, comm, known, err);
	*ret = *known;
	if (*known == NAME_NOTHING)
		*known = 0;
	return rc;
}

/*
 * For a kernel whose name does not identify the operation: all ranks of a communicator launch it
 * with the same number of workgroups, while other communicators and operations mostly use another
 * number.
 */
static int by_grid(struct rk_rank_calls *c, uint32_t *what, int64_t grid, struct rk_error *err)
{
	uint32_t at = *what, first = *what, label;
	struct rk_comm comm = { .kind = RK_COMM_ANY };
	char words[320];
	int rc;

	while (at && c->ops[at - NAME_OPS].grid != grid)
		at = c->ops[at - NAME_OPS].next;
	if (at)
		*what = at;
	if (at || grid <= 0)
		return 0;
	if (c->nops == RK_CALLS_OPS) { /* it is not kept, so it needs no label */
		c->names_left++;
		*what = NAME_NOTHING;
		return 0;
	}
	snprintf(words, sizeof(words), "%s, %" PRId64 " workgroups",
		 rk_strtab_borrow(c->ctx->names, c->ops[first - NAME_OPS].pub.label, NULL), grid);
	rc = rk_strtab_add(c->ctx->names, words, strlen(words), &label, err);
	if (rc < 0)
		return rc;
	rc = add_op(c, label, comm, what, err);
	if (rc < 0 || *what == NAME_NOTHING)
		return rc;
	c->ops[*what - NAME_OPS].grid = grid;
	c->ops[*what - NAME_OPS].next = c->ops[first - NAME_OPS].next;
	c->ops[first - NAME_OPS].next = *what;
	return 0;
}

/* "AllReduce, group 0 of 8 ranks"; a group is its name and "[0, 1, 2]". */
static void describe(char *words, size_t size, const char *op, const char *group)
{
	const char *list = strchr(group, '[');
	size_t len = list ? (size_t)(list - group) : strlen(group), ranks = 1;

	if (len && group[len - 1] == ' ')
		len--;
	for (const char *p = list; p && (p = strchr(p, ',')); p++)
		ranks++;
	if (list && len && !strstr(list, "..."))
		snprintf(words, size, "%s, group %.*s of %zu ranks", op, (int)rk_min(len, 100),
			 group, ranks);
	else if (len)
		snprintf(words, size, "%s, group %.*s", op, (int)rk_min(len, 100), group);
	else
		snprintf(words, size, "%s", op);
}

/*
 * For a kernel whose trace says what it does: RCCL runs all operations in kernels of one name.
 * NAME_NOTHING: it is not a collective.
 */
static int by_description(struct rk_rank_calls *c, uint32_t *what, const struct rk_batch *b,
			  size_t i, struct rk_error *err)
{
	uint32_t name = rk_batch_id(b, RK_K_COLLECTIVE, i), group = 0, plain = *what, label;
	uint64_t key;
	struct rk_comm comm;
	const char *text;
	char words[256];
	size_t len;
	int64_t known;
	int rc;

	if (rk_column_has(&b->cols[RK_K_COMM_GROUP], i))
		group = rk_batch_id(b, RK_K_COMM_GROUP, i);
	key = (uint64_t)name << 32 | group;
	known = rk_map_get(&c->described, key, plain);
	if (known >= 0) {
		*what = (uint32_t)known;
		return 0;
	}
	text = rk_strtab_borrow(c->ctx->names, name, &len);
	comm = rk_comm_of_collective(text, len);
	if (comm.kind == RK_COMM_NOT) {
		*what = NAME_NOTHING;
	} else {
		describe(words, sizeof(words), comm.kind == RK_COMM_ANY ? text : comm.op,
			 group ? rk_strtab_borrow(c->ctx->names, group, NULL) : "");
		rc = rk_strtab_add(c->ctx->names, words, strlen(words), &label, err);
		if (rc < 0)
			return rc;
		rc = add_op(c, label, comm, what, err);
		if (rc < 0)
			return rc;
	}
	if (*what != NAME_NOTHING) {
		c->ops[*what - NAME_OPS].collective = name;
		c->ops[*what - NAME_OPS].group = group;
		c->ops[*what - NAME_OPS].plain = plain;
	}
	/* beyond the limit of operations, each call counts */
	if (c->nops < RK_CALLS_OPS && !rk_map_put(&c->described, key, plain, *what))
		return rk_fail_nomem(err);
	return 0;
}

/* ---- rows ---- */

/* NULL: unknown rank. */
static struct rk_calls_rank *rank_of(struct rk_rank_calls *c, int64_t rank)
{
	size_t from = 0, to = c->nranks;

	if (c->at < c->nranks && c->ranks[c->at].rank == rank)
		return &c->ranks[c->at];
	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (c->ranks[mid].rank < rank)
			from = mid + 1;
		else
			to = mid;
	}
	if (from == c->nranks || c->ranks[from].rank != rank)
		return NULL;
	c->at = from;
	return &c->ranks[from];
}

/* Keeps the first half of the share; the second half is a ring buffer. */
static int keep(struct rk_rank_calls *c, struct rk_calls_rank *r, const struct rk_align_call *call,
		struct rk_error *err)
{
	size_t half = c->share / 2;

	r->seen++;
	if (r->n == c->share) {
		r->v[half + r->ring] = *call;
		r->ring = (r->ring + 1) % half;
		c->dropped++;
		return 0;
	}
	if (r->n == r->cap) {
		size_t cap = rk_min(rk_max(2 * r->cap, 64), c->share);
		struct rk_align_call *v = rk_reallocn(r->v, cap, sizeof(*v));

		if (!v)
			return rk_fail_nomem(err);
		r->v = v;
		r->cap = cap;
	}
	r->v[r->n++] = *call;
	return 0;
}

/* Of a call in its group, from 1; 0: unknown. */
static uint32_t number_of(int64_t seq)
{
	return seq >= 0 && seq < UINT32_MAX ? (uint32_t)seq + 1 : 0;
}

static int add_row(struct rk_rank_calls *c, const struct rk_batch *b, size_t i, uint32_t what,
		   struct rk_error *err)
{
	bool kernels = b->schema->table == RK_KERNELS;
	const struct fields *f = &fields[b->schema->table];
	int64_t rank = rk_batch_int(b, (unsigned)f->rank, i, -1);
	int64_t duration = rk_batch_int(b, (unsigned)f->duration, i, -1);
	struct rk_align_call call = { .start_ns = rk_batch_int(b, (unsigned)f->start, i, 0) };
	struct rk_calls_rank *r = rank < 0 ? NULL : rank_of(c, rank);
	struct op *op = NULL;
	int rc;

	if (!r || duration < 0 || !rk_column_has(&b->cols[f->start], i))
		return 0;
	if (duration > RK_COMM_LONGEST_NS || !rk_add_i64(call.start_ns, duration, &call.end_ns) ||
	    !rk_era_holds(&c->era, RK_ALIGN_TIME_MAX - 1, call.start_ns, call.end_ns)) {
		c->far++;
		return 0;
	}
	call.start_ns -= c->era.origin;
	call.end_ns -= c->era.origin;
	if (kernels && what >= NAME_OPS && rk_column_has(&b->cols[RK_K_COLLECTIVE], i)) {
		rc = by_description(c, &what, b, i, err);
		if (rc < 0 || what == NAME_NOTHING)
			return rc;
		call.seq = number_of(rk_batch_int(b, RK_K_COMM_SEQ, i, -1));
		if (rk_column_has(&b->cols[RK_K_COMM_SIZE], i))
			call.size = rk_batch_id(b, RK_K_COMM_SIZE, i);
		c->ops[what - NAME_OPS].unnumbered |= !call.seq;
	} else if (kernels && what >= NAME_OPS && c->ops[what - NAME_OPS].kind == RK_COMM_ANY) {
		rc = by_grid(c, &what, rk_batch_int(b, RK_K_GRID_X, i, -1), err);
		if (rc < 0 || what == NAME_NOTHING)
			return rc;
	}
	if (what != NAME_WAIT)
		op = &c->ops[what - NAME_OPS];
	if (!kernels && r->n && !r->host) {
		/* the rank has kernels: functions only show which operations they may be */
		r->others |= op && op->host &&
			     (op->kind == RK_COMM_ROOTED || op->kind == RK_COMM_PAIR);
		return 0;
	}
	if (op && op->host == kernels)
		return 0;
	if (op && op->kind == RK_COMM_PAIR) {
		op->pub.left_out += !op->queued;
		return 0;
	}
	r->host = !kernels;
	call.sig = op ? what - NAME_OPS + 1 : SIG_WAIT;
	if (op)
		op->used++;
	return keep(c, r, &call, err);
}

int rk_rank_calls_add(struct rk_rank_calls *c, const struct rk_batch *b, struct rk_error *err)
{
	const struct fields *f = &fields[b->schema->table];
	const struct rk_column *names = &b->cols[f->name];
	int rc;

	if (!f->duration || !names->data)
		return 0;
	for (size_t i = 0; i < b->nrows; i++) {
		uint32_t name = ((const uint32_t *)names->data)[i], *what;

		if (!rk_column_has(names, i))
			continue;
		what = rk_idmap_at(&c->names, name);
		if (!what)
			return rk_fail_nomem(err);
		if (!*what) {
			rc = look_up(c, name, what, err);
			if (rc < 0)
				return rc;
		}
		if (*what == NAME_NOTHING)
			continue;
		rc = add_row(c, b, i, *what, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* ---- after the last row ---- */

static int by_start(const void *a, const void *b)
{
	const struct rk_align_call *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

static int by_end(const void *a, const void *b)
{
	const struct rk_align_call *x = a, *y = b;

	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* Calls are nearly always in order already. */
static void sort_calls(struct rk_calls_rank *r, int (*order)(const void *a, const void *b))
{
	for (size_t i = 1; i < r->n; i++) {
		if (order(&r->v[i - 1], &r->v[i]) > 0) {
			qsort(r->v, r->n, sizeof(*r->v), order);
			return;
		}
	}
}

/*
 * A queued call ends when the next wait that starts after it ends. If there is none, it is dropped.
 */
static void end_queued(struct rk_rank_calls *c, struct rk_calls_rank *r)
{
	size_t wait = r->n, n = 0;

	sort_calls(r, by_start);
	for (size_t i = r->n; i--;) {
		struct rk_align_call *v = &r->v[i];
		size_t w = wait;

		if (v->sig == SIG_WAIT)
			wait = i;
		if (v->sig == SIG_WAIT || !c->ops[v->sig - 1].queued)
			continue;
		while (w < r->n && (r->v[w].sig != SIG_WAIT || r->v[w].start_ns < v->end_ns))
			w++;
		if (w == r->n)
			v->sig = 0;
		else
			v->end_ns = r->v[w].end_ns;
	}
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].sig && r->v[i].sig != SIG_WAIT)
			r->v[n++] = r->v[i];
	r->n = n;
}

/*
 * If the traces of some ranks do not say what their kernels do, we can only compare kernels by
 * name. False: all traces say it, or none.
 */
static bool forget_descriptions(struct rk_rank_calls *c)
{
	size_t with = 0, without = 0;

	for (size_t i = 0; i < c->nranks; i++) {
		const struct rk_calls_rank *r = &c->ranks[i];
		bool some = false;

		for (size_t k = 0; k < r->n && !r->host && !some; k++)
			some = c->ops[r->v[k].sig - 1].collective != 0;
		with += some;
		without += r->n && !r->host && !some;
	}
	if (!with || !without)
		return false;
	for (size_t i = 0; i < c->nranks; i++) {
		struct rk_calls_rank *r = &c->ranks[i];

		for (size_t k = 0; k < r->n && !r->host; k++) {
			struct op *op = &c->ops[r->v[k].sig - 1];

			if (!op->collective)
				continue;
			op->used--;
			r->v[k].sig = op->plain - NAME_OPS + 1;
			r->v[k].seq = r->v[k].size = 0;
			c->ops[op->plain - NAME_OPS].used++;
		}
	}
	rk_diag_add(c->ctx->diag, "collectives-not-described", "", 0, without,
		    "ranks whose trace does not name the collectives of its kernels; all ranks are "
		    "compared by the names of kernels only");
	return true;
}

/* Warns about calls with the same number in their group that are different collectives. */
static void compare_numbers(struct rk_rank_calls *c)
{
	enum { CALLS = 1 << 20 };
	struct rk_map first = { 0 }; /* group and number -> operation */
	const struct op *a = NULL, *b = NULL;
	const struct rk_align_call *call = NULL;
	int64_t rank = 0;
	uint64_t n = 0;

	for (size_t i = 0; i < c->nranks; i++) {
		const struct rk_calls_rank *r = &c->ranks[i];

		for (size_t k = 0; k < r->n && !r->host; k++) {
			const struct op *op = &c->ops[r->v[k].sig - 1];
			int64_t had;

			if (!op->collective || !r->v[k].seq || !op->group)
				continue;
			had = rk_map_get(&first, op->group, r->v[k].seq);
			if (had < 0 && first.n < CALLS) /* without memory we compare fewer */
				rk_map_put(&first, op->group, r->v[k].seq,
					   (uint32_t)r->v[k].sig - 1);
			if (had < 0 || c->ops[had].collective == op->collective)
				continue;
			if (!n++) {
				a = &c->ops[had];
				b = op;
				call = &r->v[k];
				rank = r->rank;
			}
		}
	}
	if (n)
		rk_diag_add(c->ctx->diag, "collectives-differ", "", 0, n,
			    "collectives that are another one on other ranks; the first: number "
			    "%" PRIu32 " of group '%s' is '%s', on rank %" PRId64 " '%s'",
			    call->seq - 1, rk_strtab_borrow(c->ctx->names, a->group, NULL),
			    rk_strtab_borrow(c->ctx->names, a->collective, NULL), rank,
			    rk_strtab_borrow(c->ctx->names, b->collective, NULL));
	rk_map_release(&first);
}

void rk_rank_calls_finish(struct rk_rank_calls *c)
{
	bool others = false;

	if (!forget_descriptions(c))
		compare_numbers(c);

	/*
	 * RCCL runs all operations in kernels whose names do not say which. Treat them as
	 * operations that need all ranks, unless functions were recorded that do not.
	 */
	for (size_t i = 0; i < c->nranks; i++)
		others |= c->ranks[i].others;
	for (size_t i = 0; i < c->nops; i++) {
		struct op *o = &c->ops[i];

		o->pub.all = o->kind == RK_COMM_ALL || (o->kind == RK_COMM_ANY && !others);
		c->assumed |= o->kind == RK_COMM_ANY && !others && o->used;
		o->pub.exact = o->collective && !o->unnumbered;
		/* a collective on parts that may differ is not of the kind ALL */
		o->pub.even = o->collective && o->kind == RK_COMM_ALL;
		if (o->kind != RK_COMM_PAIR && o->used)
			o->pub.sig = rk_align_sig(o->pub.all ? RK_ALIGN_ALL : RK_ALIGN_ROOTED,
						  o->pub.label * 2 + o->host, o->group, -1);
	}
	for (size_t i = 0; i < c->nranks; i++) {
		struct rk_calls_rank *r = &c->ranks[i];

		if (r->host)
			end_queued(c, r);
		for (size_t k = 0; k < r->n; k++)
			r->v[k].sig = c->ops[r->v[k].sig - 1].pub.sig;
		sort_calls(r, by_end);
	}
	if (c->far)
		rk_diag_add(c->ctx->diag, "time-out-of-range", "", 0, c->far,
			    "collectives longer than 100 days or more than 63 years from the "
			    "others; not compared between ranks");
	if (c->dropped)
		rk_diag_add(c->ctx->diag, "collectives-left-out", "", 0, c->dropped,
			    "collectives not compared between ranks: only the first and last %zu "
			    "of a rank are kept",
			    c->share / 2);
	if (c->names_left)
		rk_diag_add(c->ctx->diag, "collectives-left-out", "", 0, c->names_left,
			    "collective names ignored: only the first %d are kept", RK_CALLS_OPS);
}

void rk_rank_calls_by_start(struct rk_rank_calls *c)
{
	for (size_t i = 0; i < c->nranks; i++)
		sort_calls(&c->ranks[i], by_start);
}

const struct rk_calls_rank *rk_rank_calls_ranks(const struct rk_rank_calls *c)
{
	return c->ranks;
}

bool rk_rank_calls_origin(const struct rk_rank_calls *c, int64_t *ret)
{
	if (c->era.begun)
		*ret = c->era.origin;
	return c->era.begun;
}

const struct rk_calls_op *rk_rank_calls_op(const struct rk_rank_calls *c, size_t i)
{
	return i < c->nops ? &c->ops[i].pub : NULL;
}

bool rk_rank_calls_assumed(const struct rk_rank_calls *c)
{
	return c->assumed;
}

void rk_rank_calls_free(struct rk_rank_calls *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->nranks; i++)
		rk_free(c->ranks[i].v);
	rk_idmap_release(&c->names);
	rk_idmap_release(&c->labels);
	rk_map_release(&c->described);
	rk_free(c->ops);
	rk_free(c->ranks);
	rk_free(c);
}
