/*
 * run_passes.c - join counters of other executions of the program than that of the kernels.
 *
 * Hardware can only count a few things at a time, so a program is executed once per pass. Dispatch
 * numbers follow the order of launches, which differs between executions of a program with several
 * threads; thread ids differ always. So the n-th launch of a kernel with the same grid on the same
 * device is treated as the same, counted within what the two executions agree on:
 *
 *	1. thread and queue, both by their order
 *	2. thread
 *	3. nothing more; these are counted as "joined_by_order"
 *
 * At each step, only kinds of launches are joined of which both executions have equally many left.
 * If one execution has fewer launches (it was filtered or ended early), but all of them under the
 * same number in the other, the rest is joined by number. Dispatches without a partner are left out
 * and counted: a row must never mix values of different kernels.
 */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "run/run.h"

#define BIT(f) (UINT64_C(1) << (f))

enum {
	MAX_DISTINCT = 4096,  /* devices, queues or threads of one execution */
	MAX_KINDS = 1 << 18,  /* kinds of launches at one step */
	MAX_WAITING = 1 << 21 /* launches whose partners come much later in the other execution */
};

/* Columns that describe a dispatch. */
enum { NAME, ITEMS, DEVICE, THREAD, QUEUE, PARTNER, NCOLUMNS, NKEY = PARTNER };

/* Sorted values of a column of one execution; INT64_MIN means null. */
struct distinct {
	int64_t *v;
	size_t n, cap;
	bool more; /* there are too many */
};

/* The dispatches of one execution, in a matrix by number. */
struct execution {
	struct rk_matrix *m;
	int64_t first, last; /* numbers; first > last: none */
	uint64_t n;
	bool by_order;   /* the file has no numbers (ROCm 6.2): use the order of its rows, from 1 */
	int64_t ordinal; /* of the current row */
	bool no_grid;    /* unknown for some dispatch */
	struct distinct devices, threads, queues;
	const struct distinct *like; /* devices of the other execution, to be compared by number */
};

struct join {
	struct rk_run *run;
	const struct rk_counter_set *set;
	struct rk_matrix *m; /* the result: counters by number of `kernels` */
	struct execution kernels;
	struct execution other; /* of the current file; without rows: numbers are those of kernels */
	double file;            /* its number, from 1 */
};

/* Total work-items in 32 bits, as in counter files; 0 if unknown. */
static uint32_t items_at(const struct rk_batch *b, size_t row)
{
	uint32_t x = (uint32_t)rk_batch_int(b, RK_K_ITEMS_X, row, 0);
	uint32_t y = (uint32_t)rk_batch_int(b, RK_K_ITEMS_Y, row, 1);

	return x * y * (uint32_t)rk_batch_int(b, RK_K_ITEMS_Z, row, 1);
}

/* The index of the first value that is not less. */
static size_t place_in(const struct distinct *d, int64_t value)
{
	size_t low = 0, high = d->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (d->v[mid] < value)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool is_in(const struct distinct *d, int64_t value)
{
	size_t at = place_in(d, value);

	return at < d->n && d->v[at] == value;
}

static int add_distinct(struct distinct *d, int64_t value, struct rk_error *err)
{
	size_t at = place_in(d, value);
	int64_t *v;

	if (d->more || (at < d->n && d->v[at] == value))
		return 0;
	if (d->n == MAX_DISTINCT) {
		d->more = true;
		return 0;
	}
	v = rk_grow(d->v, &d->cap, d->n + 1, sizeof(*v));
	if (!v)
		return rk_fail_nomem(err);
	d->v = v;
	memmove(v + at + 1, v + at, (d->n - at) * sizeof(*v));
	v[at] = value;
	d->n++;
	return 0;
}

/* Devices are compared by order, or as those of `like`. */
static double device_of(const struct execution *x, int64_t value)
{
	size_t own = place_in(&x->devices, value);

	if (!x->like)
		return (double)own;
	return (double)(is_in(x->like, value) ? place_in(x->like, value) : x->like->n + own);
}

static int64_t number_of(const struct execution *x, const struct rk_batch *b, size_t row)
{
	return x->by_order ? x->ordinal : rk_batch_int(b, RK_K_DISPATCH, row, 0);
}

static int note_dispatch(struct execution *x, const struct rk_batch *b, size_t row,
			 struct rk_error *err)
{
	int64_t id = number_of(x, b, row);
	int rc;

	if (id < x->first)
		x->first = id;
	if (id > x->last)
		x->last = id;
	if ((rc = add_distinct(&x->devices, rk_batch_int(b, RK_K_DEVICE, row, RK_NONE), err)) < 0 ||
	    (rc = add_distinct(&x->threads, rk_batch_int(b, RK_K_TID, row, RK_NONE), err)) < 0 ||
	    (rc = add_distinct(&x->queues, rk_batch_int(b, RK_K_QUEUE, row, RK_NONE), err)) < 0)
		return rc;
	return rk_matrix_note(x->m, -1, id, err);
}

static int put_dispatch(struct execution *x, const struct rk_batch *b, size_t row,
			struct rk_error *err)
{
	int64_t id = number_of(x, b, row), device = rk_batch_int(b, RK_K_DEVICE, row, RK_NONE);
	const double v[NKEY] = {
		[NAME] = rk_batch_id(b, RK_K_NAME, row),
		[ITEMS] = items_at(b, row),
		[DEVICE] = device_of(x, device),
		[THREAD] = (double)place_in(&x->threads, rk_batch_int(b, RK_K_TID, row, RK_NONE)),
		[QUEUE] = (double)place_in(&x->queues, rk_batch_int(b, RK_K_QUEUE, row, RK_NONE)),
	};

	x->n++;
	x->no_grid |= v[ITEMS] == 0;
	for (unsigned i = 0; i < NKEY; i++) {
		int rc = rk_matrix_put(x->m, -1, id, i, v[i], err);

		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Calls back for each kernel of a file that has a number, with cleaned names. */
static int each_kernel(struct rk_run *run, struct rk_found *f, struct execution *x,
		       int (*use)(struct execution *x, const struct rk_batch *b, size_t row,
				  struct rk_error *err),
		       struct rk_error *err)
{
	const uint64_t want = BIT(RK_K_NAME) | BIT(RK_K_ITEMS_X) | BIT(RK_K_ITEMS_Y) |
			      BIT(RK_K_ITEMS_Z) | BIT(RK_K_DISPATCH) | BIT(RK_K_DEVICE) |
			      BIT(RK_K_TID) | BIT(RK_K_QUEUE);
	struct rk_source *rows = NULL, *named = NULL;
	struct rk_reader *r = NULL;
	const struct rk_batch *b;
	int rc = rk_run_open_table(run, f, RK_KERNELS, want, false, &r, &rows, err);

	if (rc == 0) {
		rc = rk_names_open(rows, &run->ctx, RK_K_NAME, &run->style, &named, err);
		rows = NULL;
	}
	x->ordinal = 0;
	while (rc >= 0 && (rc = rk_source_next(named, &b, err)) > 0)
		for (size_t i = 0; rc >= 0 && i < b->nrows; i++) {
			x->ordinal++;
			if (x->by_order || rk_column_has(&b->cols[RK_K_DISPATCH], i))
				rc = use(x, b, i, err);
		}
	rk_source_close(rows);
	rk_source_close(named);
	rk_reader_close(r);
	return rc;
}

static void release_execution(struct execution *x)
{
	rk_matrix_free(x->m);
	rk_free(x->devices.v);
	rk_free(x->threads.v);
	rk_free(x->queues.v);
	*x = (struct execution){ 0 };
}

/*
 * Reads the dispatches of a file; `like`: devices of the other execution, or NULL. On failure the
 * caller releases *x too.
 */
static int read_execution(struct rk_run *run, struct rk_found *f, struct execution *x,
			  const struct distinct *like, bool may_count, struct rk_error *err)
{
	int rc;

	*x = (struct execution){ .first = INT64_MAX, .last = INT64_MIN };
	rc = rk_matrix_new(&run->ctx, NCOLUMNS, &x->m, err);
	if (rc < 0 || (rc = each_kernel(run, f, x, note_dispatch, err)) < 0)
		return rc;
	if (x->first > x->last && may_count) {
		x->by_order = true;
		rc = each_kernel(run, f, x, note_dispatch, err);
	}
	if (rc < 0 || (rc = rk_matrix_layout(x->m, err)) < 0)
		return rc;
	/* without any common number, they are numbered in another way */
	for (size_t i = 0; like && !x->like && i < x->devices.n; i++)
		if (is_in(like, x->devices.v[i]))
			x->like = like;
	return each_kernel(run, f, x, put_dispatch, err);
}

/* ---- partners ---- */

/* Launches that are alike in the compared columns. */
struct kind {
	double key[NKEY];
	uint64_t n[2]; /* without a partner: of kernels, of the other execution */
	/* launches of one side that wait for their partners, first to last; indexes of waiting */
	uint32_t head, tail;
	unsigned side;
};

struct waiting {
	int64_t id;
	uint32_t next;
};

struct pairing {
	struct execution *side[2]; /* kernels, the other execution */
	double file;
	unsigned fields; /* columns to compare, as bits */
	struct kind *kinds;
	size_t nkinds, cap_kinds;
	struct rk_index by_key;
	struct waiting *waiting;
	size_t nwaiting, cap_waiting;
	uint32_t unused; /* list of elements of `waiting` */
	uint64_t joined;
};

#define NOTHING UINT32_MAX

/* *ret is NULL if there are too many kinds. */
static int kind_of(struct pairing *p, const double *row, struct kind **ret, struct rk_error *err)
{
	double key[NKEY] = { 0 };
	struct kind *kinds;
	uint64_t hash;
	size_t at;

	for (unsigned i = 0; i < NKEY; i++)
		if (p->fields & 1u << i)
			key[i] = row[i];
	hash = rk_hash_bytes(key, sizeof(key));
	*ret = NULL;
	for (uint32_t i = rk_index_first(&p->by_key, hash, &at); i != RK_INDEX_NONE;
	     i = rk_index_next(&p->by_key, hash, &at))
		if (!memcmp(p->kinds[i].key, key, sizeof(key))) {
			*ret = &p->kinds[i];
			return 0;
		}
	if (p->nkinds == MAX_KINDS)
		return 0;
	kinds = rk_grow(p->kinds, &p->cap_kinds, p->nkinds + 1, sizeof(*kinds));
	if (!kinds)
		return rk_fail_nomem(err);
	p->kinds = kinds;
	if (!rk_index_add(&p->by_key, hash, (uint32_t)p->nkinds))
		return rk_fail_nomem(err);
	*ret = &kinds[p->nkinds++];
	**ret = (struct kind){ .head = NOTHING, .tail = NOTHING };
	memcpy((*ret)->key, key, sizeof(key));
	return 0;
}

/* 1: *ret is the row of a dispatch that has no partner yet; 0: there is no such dispatch. */
static int free_row(const struct pairing *p, unsigned side, int64_t id, const double **ret,
		    struct rk_error *err)
{
	int rc = rk_matrix_row(p->side[side]->m, -1, id, ret, err);

	if (rc <= 0 || isnan((*ret)[NAME]))
		return rc < 0 ? rc : 0;
	/* kernels have a partner in each file: its number is noted, to start again with the next */
	return side ? isnan((*ret)[PARTNER]) != 0 : (*ret)[PARTNER] != p->file;
}

static int join_two(struct pairing *p, int64_t kernel, int64_t other, struct rk_error *err)
{
	int rc = rk_matrix_put(p->side[0]->m, -1, kernel, PARTNER, p->file, err);

	p->joined++;
	if (rc < 0)
		return rc;
	return rk_matrix_put(p->side[1]->m, -1, other, PARTNER,
			     (double)(kernel - p->side[0]->first), err);
}

static int count_one(struct pairing *p, unsigned side, int64_t id, struct rk_error *err)
{
	const double *row;
	struct kind *k;
	int rc = free_row(p, side, id, &row, err);

	if (rc <= 0 || (rc = kind_of(p, row, &k, err)) < 0)
		return rc;
	if (k)
		k->n[side]++;
	return 0;
}

/* Joins a dispatch with the first that waits for it on the other side, or lets it wait. */
static int pair_one(struct pairing *p, unsigned side, int64_t id, struct rk_error *err)
{
	struct waiting *w;
	const double *row;
	struct kind *k;
	uint32_t at;
	int rc = free_row(p, side, id, &row, err);

	if (rc <= 0 || (rc = kind_of(p, row, &k, err)) < 0)
		return rc;
	if (!k || k->n[0] != k->n[1])
		return 0;
	if (k->head != NOTHING && k->side != side) {
		int64_t first;

		at = k->head;
		first = p->waiting[at].id;
		k->head = p->waiting[at].next;
		p->waiting[at].next = p->unused;
		p->unused = at;
		return side ? join_two(p, first, id, err) : join_two(p, id, first, err);
	}
	at = p->unused;
	if (at != NOTHING) {
		p->unused = p->waiting[at].next;
	} else {
		if (p->nwaiting == MAX_WAITING)
			return rk_fail(err, RK_E_LIMIT,
				       "the order of launches differs too much between executions");
		w = rk_grow(p->waiting, &p->cap_waiting, p->nwaiting + 1, sizeof(*w));
		if (!w)
			return rk_fail_nomem(err);
		p->waiting = w;
		at = (uint32_t)p->nwaiting++;
	}
	p->waiting[at] = (struct waiting){ id, NOTHING };
	if (k->head == NOTHING)
		k->head = at;
	else
		p->waiting[k->tail].next = at;
	k->tail = at;
	k->side = side;
	return 0;
}

/* Both executions side by side, so that partners are near each other. */
static int over_both(struct pairing *p,
		     int (*use)(struct pairing *p, unsigned side, int64_t id, struct rk_error *err),
		     struct rk_error *err)
{
	const struct execution *x = p->side[0], *y = p->side[1];
	uint64_t nx = (uint64_t)x->last - (uint64_t)x->first + 1;
	uint64_t ny = (uint64_t)y->last - (uint64_t)y->first + 1;
	int rc = 0;

	for (uint64_t i = 0; rc >= 0 && (i < nx || i < ny); i++) {
		if (i < nx)
			rc = use(p, 0, x->first + (int64_t)i, err);
		if (rc >= 0 && i < ny)
			rc = use(p, 1, y->first + (int64_t)i, err);
	}
	return rc < 0 ? rc : 0;
}

static int pair_by_order(struct pairing *p, unsigned fields, struct rk_error *err)
{
	int rc;

	p->fields = fields;
	p->nkinds = p->nwaiting = 0;
	p->unused = NOTHING;
	rk_index_release(&p->by_key);
	rc = over_both(p, count_one, err);
	return rc < 0 ? rc : over_both(p, pair_one, err);
}

/*
 * Joins the rest by number if all dispatches of the shorter execution are the same in the other;
 * `fields` are the columns to compare. Two rounds: look, then join.
 */
static int pair_by_number(struct pairing *p, unsigned fields, struct rk_error *err)
{
	unsigned less = p->side[1]->n <= p->side[0]->n;
	const struct execution *x = p->side[less], *y = p->side[!less];
	uint64_t nx = (uint64_t)x->last - (uint64_t)x->first;
	uint64_t shift = 0; /* add it to a number of x to get that of y */

	if (nx == (uint64_t)y->last - (uint64_t)y->first)
		shift = (uint64_t)y->first - (uint64_t)x->first;
	for (int round = 0; round < 2; round++)
		for (uint64_t i = 0; i <= nx; i++) {
			int64_t id = (int64_t)((uint64_t)x->first + i);
			int64_t same = (int64_t)((uint64_t)id + shift);
			const double *a, *b;
			int rc = rk_matrix_row(x->m, -1, id, &a, err);

			if (rc > 0 && isnan(a[NAME]))
				continue;
			if (rc > 0)
				rc = rk_matrix_row(y->m, -1, same, &b, err);
			if (rc < 0)
				return rc;
			for (unsigned k = 0; rc > 0 && k < NKEY; k++)
				rc = !(fields & 1u << k) || a[k] == b[k];
			if (!rc)
				return 0;
			if (!round)
				continue;
			rc = free_row(p, less, id, &a, err);
			if (rc > 0)
				rc = free_row(p, !less, same, &b, err);
			if (rc > 0)
				rc = less ? join_two(p, same, id, err) : join_two(p, id, same, err);
			if (rc < 0)
				return rc;
		}
	return 0;
}

/* Counts dispatches of the other execution that have no partner; *odd is the kernel of the first. */
static int count_rest(const struct pairing *p, uint64_t *ret, uint32_t *odd, struct rk_error *err)
{
	const struct execution *x = p->side[1];
	const double *row;

	*ret = 0;
	for (uint64_t i = 0; i <= (uint64_t)x->last - (uint64_t)x->first; i++) {
		int rc = free_row(p, 1, x->first + (int64_t)i, &row, err);

		if (rc < 0)
			return rc;
		if (rc && !(*ret)++)
			*odd = (uint32_t)row[NAME];
	}
	return 0;
}

/* Finds the partners of the dispatches of j->other, read from the file at `path`. */
static int find_partners(struct join *j, const char *path, struct rk_error *err)
{
	struct execution *x = &j->kernels, *y = &j->other;
	struct pairing p = { .side = { x, y }, .file = j->file };
	unsigned launch = 1u << NAME | 1u << DEVICE;
	bool threads = x->threads.n == y->threads.n && !x->threads.more && !y->threads.more;
	bool queues = x->queues.n == y->queues.n && !x->queues.more && !y->queues.more;
	uint64_t by_order, rest = 0;
	uint32_t odd = 0;
	int rc = 0;

	if (!x->no_grid && !y->no_grid)
		launch |= 1u << ITEMS;
	if (threads && queues)
		rc = pair_by_order(&p, launch | 1u << THREAD | 1u << QUEUE, err);
	if (rc == 0 && threads && p.joined < y->n)
		rc = pair_by_order(&p, launch | 1u << THREAD, err);
	by_order = p.joined;
	if (rc == 0 && p.joined < y->n)
		rc = pair_by_order(&p, launch, err);
	by_order = p.joined - by_order;
	if (rc == 0 && p.joined < y->n)
		rc = pair_by_number(&p, threads ? launch | 1u << THREAD : launch, err);
	if (rc == 0)
		rc = count_rest(&p, &rest, &odd, err);
	if (rc < 0)
		goto out;
	if (by_order)
		rk_diag_add(j->run->ctx.diag, "joined_by_order", path, 0, by_order,
			    "dispatches differ in thread between passes; their counters were "
			    "joined by order within device, kernel and grid");
	if (rest)
		rk_diag_add(j->run->ctx.diag, "pass-mismatch", path, 0, rest,
			    "dispatches differ in kernel or grid between passes; their "
			    "counters were not joined: first '%.120s'",
			    rk_strtab_borrow(j->run->ctx.names, odd, NULL));
out:
	rk_index_release(&p.by_key);
	rk_free(p.kinds);
	rk_free(p.waiting);
	return rc;
}

/* ---- values ---- */

/* 1: *id becomes the number of the kernel that a counter belongs to; 0: it has no partner. */
static int kernel_of(struct join *j, int64_t *id, struct rk_error *err)
{
	double partner;
	int rc;

	if (!j->other.n)
		return 1;
	rc = rk_matrix_get(j->other.m, -1, *id, PARTNER, &partner, err);
	if (rc <= 0 || isnan(partner))
		return rc < 0 ? rc : 0;
	*id = j->kernels.first + (int64_t)partner;
	return 1;
}

static int put_counters(struct join *j, struct rk_found *o, struct rk_error *err)
{
	const uint64_t want = BIT(RK_N_DISPATCH) | BIT(RK_N_COUNTER) | BIT(RK_N_VALUE);
	struct rk_source *rows = NULL;
	struct rk_reader *r = NULL;
	const struct rk_batch *b;
	int rc = rk_run_open_table(j->run, o, RK_COUNTERS, want, false, &r, &rows, err);

	while (rc >= 0 && (rc = rk_source_next(rows, &b, err)) > 0)
		for (size_t i = 0; rc >= 0 && i < b->nrows; i++) {
			int64_t id = rk_batch_int(b, RK_N_DISPATCH, i, 0);

			if (!rk_column_has(&b->cols[RK_N_DISPATCH], i) ||
			    !rk_column_has(&b->cols[RK_N_VALUE], i))
				continue;
			rc = kernel_of(j, &id, err);
			/* values of an earlier pass take precedence */
			if (rc > 0)
				rc = rk_join_put(j->m, j->set, rk_batch_id(b, RK_N_COUNTER, i), -1,
						 id, ((const double *)b->cols[RK_N_VALUE].data)[i],
						 err);
		}
	rk_source_close(rows);
	rk_reader_close(r);
	return rc;
}

/* Adds the counters of file o; `same`: they are of the execution of the kernels. */
static int add_file(struct join *j, struct rk_found *o, bool same, struct rk_error *err)
{
	int rc = 0;

	j->file++;
	if (!same && o->tables >> RK_KERNELS & 1 && j->kernels.n)
		rc = read_execution(j->run, o, &j->other, &j->kernels.devices, false, err);
	if (rc == 0 && j->other.n)
		rc = find_partners(j, o->path, err);
	if (rc == 0)
		rc = put_counters(j, o, err);
	release_execution(&j->other);
	return rc;
}

int rk_run_pass_matrix(struct rk_run *run, struct rk_found *f, const struct rk_counter_set *set,
		       struct rk_matrix **ret, bool *ret_by_order, struct rk_error *err)
{
	struct join j = { .run = run, .set = set };
	struct execution *x = &j.kernels;
	int rc = rk_matrix_new(&run->ctx, (unsigned)set->width, &j.m, err);

	if (rc < 0 || (rc = read_execution(run, f, x, NULL, true, err)) < 0)
		goto out;
	for (uint64_t i = 0; rc == 0 && x->n && i <= (uint64_t)x->last - (uint64_t)x->first; i++)
		rc = rk_matrix_note(j.m, -1, x->first + (int64_t)i, err);
	if (rc == 0)
		rc = rk_matrix_layout(j.m, err);
	/* values measured together with a level counter are second choice */
	for (size_t i = 0; rc == 0 && i < 2 * run->nfound; i++) {
		struct rk_found *o = &run->found[i % run->nfound];

		if (rk_run_counts_for(o, f) && (o->level && *o->level) == (i >= run->nfound))
			rc = add_file(&j, o, !rk_run_is_separate(o, f), err);
	}
	if (rc < 0)
		goto out;
	*ret_by_order = x->by_order;
	*ret = j.m;
	j.m = NULL;
out:
	release_execution(x);
	rk_matrix_free(j.m);
	return rc;
}
