/* times.c - counts implausible durations. */
#include "table/stages.h"

#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/num.h"
#include "table/sort.h"

enum { HELD = 16384, MAX_QUEUES = 2048 };

/* A kernel that waits to be compared with the previous one on its queue. */
struct held {
	int64_t start, end;
	uint32_t queue;
};

struct queue {
	int64_t busy_until;
	bool begun;
};

struct times {
	struct rk_source base;
	struct rk_source *rows;
	struct rk_context *ctx;
	int start, duration;
	uint64_t negative, zero, nowhere, timeless, overlapping, late;
	/* kernels only: */
	struct held *held, *sorted;
	struct rk_sort_key *keys; /* 2 * HELD entries: sorting needs a second half */
	size_t nheld;
	bool in_order;
	int64_t mark;           /* rows that start before this are too late to compare */
	struct rk_keys numbers; /* of queues, by (device, process and rank) and queue */
	struct queue *queues;   /* by number */
};

#define BIT(f) (UINT64_C(1) << (f))

static const struct {
	int start, duration;
} fields[RK_NTABLES] = {
	[RK_KERNELS] = { RK_K_START, RK_K_DURATION },  [RK_MEMCPY] = { RK_C_START, RK_C_DURATION },
	[RK_MEMALLOC] = { RK_M_START, RK_M_DURATION }, [RK_API] = { RK_A_START, RK_A_DURATION },
	[RK_MARKERS] = { RK_R_START, RK_R_DURATION },
};

uint64_t rk_times_needs(enum rk_table table)
{
	uint64_t needs;

	if (!fields[table].duration)
		return 0;
	needs = BIT(fields[table].start) | BIT(fields[table].duration);
	if (table == RK_KERNELS)
		needs |= BIT(RK_K_DEVICE) | BIT(RK_K_QUEUE) | BIT(RK_K_PID) | BIT(RK_K_RANK) |
			 BIT(RK_K_SUBMIT);
	return needs;
}

/* Sorts the held kernels by start, and compares and removes the first n. */
static void let_go(struct times *t, size_t n)
{
	struct held *swap = t->held;
	struct rk_sort_key *order;

	if (!t->in_order) {
		for (size_t i = 0; i < t->nheld; i++)
			t->keys[i] = (struct rk_sort_key){ t->held[i].start, (uint32_t)i };
		order = rk_sort_keys(t->keys, t->keys + HELD, t->nheld);
		for (size_t i = 0; i < t->nheld; i++)
			t->sorted[i] = t->held[order[i].at];
		t->held = t->sorted;
		t->sorted = swap;
		t->in_order = true;
	}
	for (size_t i = 0; i < n; i++) {
		const struct held *h = &t->held[i];
		struct queue *q = &t->queues[h->queue];

		if (q->begun && h->start < q->busy_until)
			t->overlapping++;
		if (!q->begun || h->end > q->busy_until)
			q->busy_until = h->end;
		q->begun = true;
	}
	if (n)
		t->mark = t->held[n - 1].start;
	t->nheld -= n;
	memmove(t->held, t->held + n, t->nheld * sizeof(*t->held));
}

/* For a kernel with a positive duration on a known queue. */
static inline int look_at_kernel(struct times *t, int64_t start, int64_t duration, int64_t device,
				 int64_t queue, struct rk_error *err)
{
	uint32_t number;
	int64_t end;

	if (!rk_add_i64(start, duration, &end))
		return 0;
	if (rk_keys_number(&t->numbers, (struct rk_key3){ device, 0, queue }, &number, err) < 0)
		return RK_E_NOMEM;
	if (number >= MAX_QUEUES)
		return 0;
	if (start < t->mark) {
		t->late++;
		return 0;
	}
	if (t->nheld == HELD)
		let_go(t, HELD / 2);
	if (t->nheld && start < t->held[t->nheld - 1].start)
		t->in_order = false;
	t->held[t->nheld++] = (struct held){ start, end, number };
	return 0;
}

static bool full(const struct rk_column *c)
{
	return c->data && !c->valid;
}

/*
 * A number for device, process and rank. Process ids have at most 22 bits; ranks on different hosts
 * may have equal ones.
 */
static inline int64_t place(const struct rk_batch *b, size_t i, int64_t device)
{
	const int64_t *pid = b->cols[RK_K_PID].data;
	const int32_t *rank = b->cols[RK_K_RANK].data;

	return device ^ (int64_t)((pid ? (uint64_t)pid[i] : 0) << 20 ^
				  (rank ? (uint64_t)(uint32_t)rank[i] : 0) << 44);
}

/* No value is missing: no need to check each row. */
static int look_at_full(struct times *t, const struct rk_batch *b, struct rk_error *err)
{
	const int64_t *start = b->cols[RK_K_START].data, *duration = b->cols[RK_K_DURATION].data;
	const int64_t *device = b->cols[RK_K_DEVICE].data, *queue = b->cols[RK_K_QUEUE].data;

	for (size_t i = 0; i < b->nrows; i++) {
		if (duration[i] > 0) {
			if (look_at_kernel(t, start[i], duration[i], place(b, i, device[i]),
					   queue[i], err) < 0)
				return RK_E_NOMEM;
			continue;
		}
		t->negative += duration[i] < 0;
		t->zero += duration[i] == 0 && start[i];
		t->nowhere += duration[i] == 0 && !start[i];
	}
	return 0;
}

static int look_at_row(struct times *t, const struct rk_batch *b, size_t i, struct rk_error *err)
{
	const struct rk_column *start = &b->cols[t->start], *duration = &b->cols[t->duration];
	int64_t d, at;

	if (!rk_column_has(duration, i) || !rk_column_has(start, i)) {
		/* others never had times, as in a file of counters */
		t->timeless += t->held && rk_column_has(&b->cols[RK_K_SUBMIT], i);
		return 0;
	}
	d = ((const int64_t *)duration->data)[i];
	at = ((const int64_t *)start->data)[i];
	t->negative += d < 0;
	if (!t->held)
		return 0;
	t->zero += d == 0 && at;
	t->nowhere += d == 0 && !at;
	if (d <= 0 || !rk_column_has(&b->cols[RK_K_QUEUE], i))
		return 0;
	return look_at_kernel(t, at, d, place(b, i, rk_batch_int(b, RK_K_DEVICE, i, -1)),
			      rk_batch_int(b, RK_K_QUEUE, i, 0), err);
}

static void tell(struct times *t)
{
	const char *table = rk_table_name(t->base.schema->table);

	if (t->held)
		let_go(t, t->nheld);
	if (t->negative)
		rk_diag_add(t->ctx->diag, "negative-duration", "", 0, t->negative,
			    "rows of %s that end before they start; kept as recorded", table);
	if (t->zero)
		rk_diag_add(t->ctx->diag, "zero-duration", "", 0, t->zero,
			    "kernels that take no time");
	if (t->nowhere)
		rk_diag_add(
			t->ctx->diag, "no-times", "", 0, t->nowhere,
			"kernels that start and end at time 0: time unknown, left out of spans");
	if (t->timeless)
		rk_diag_add(t->ctx->diag, "launches-without-times", "", 0, t->timeless,
			    "launches without times; left out of sums and spans");
	if (t->overlapping)
		rk_diag_add(t->ctx->diag, "overlapping-kernels", "", 0, t->overlapping,
			    "kernels that start before the previous one on the same queue ends%s",
			    t->late ? " (a minimum: rows are far out of order)" : "");
}

static int times_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct times *t = (struct times *)base;
	const struct rk_column *cols;
	int rc = rk_source_next(t->rows, batch, err);

	if (rc < 0)
		return rc;
	if (rc == 0) {
		tell(t);
		return 0;
	}
	cols = (*batch)->cols;
	if (t->held && full(&cols[RK_K_START]) && full(&cols[RK_K_DURATION]) &&
	    full(&cols[RK_K_DEVICE]) && full(&cols[RK_K_QUEUE]))
		return look_at_full(t, *batch, err) < 0 ? RK_E_NOMEM : 1;
	if (!cols[t->duration].data && !(t->held && cols[RK_K_SUBMIT].data))
		return 1;
	for (size_t i = 0; i < (*batch)->nrows; i++)
		if (look_at_row(t, *batch, i, err) < 0)
			return RK_E_NOMEM;
	return 1;
}

static void times_close(struct rk_source *base)
{
	struct times *t = (struct times *)base;

	rk_source_close(t->rows);
	rk_free(t->held);
	rk_free(t->keys);
	rk_free(t->sorted);
	rk_keys_release(&t->numbers);
	rk_free(t->queues);
	rk_free(t);
}

static const struct rk_source_ops times_ops = { .next = times_next, .close = times_close };

int rk_times_open(struct rk_source *rows, struct rk_context *ctx, struct rk_source **ret,
		  struct rk_error *err)
{
	enum rk_table table = rows->schema->table;
	struct times *t;

	if (!fields[table].duration) {
		*ret = rows;
		return 0;
	}
	t = rk_calloc(1, sizeof(*t));
	if (!t) {
		rk_source_close(rows);
		return rk_fail_nomem(err);
	}
	t->base = (struct rk_source){ &times_ops, rows->schema };
	t->rows = rows;
	t->ctx = ctx;
	t->start = fields[table].start;
	t->duration = fields[table].duration;
	if (table == RK_KERNELS) {
		t->held = rk_alloc(HELD * sizeof(*t->held));
		t->keys = rk_alloc(2 * HELD * sizeof(*t->keys));
		t->sorted = rk_alloc(HELD * sizeof(*t->sorted));
		t->queues = rk_calloc(MAX_QUEUES, sizeof(*t->queues));
		t->numbers.max = MAX_QUEUES;
		t->in_order = true;
		t->mark = INT64_MIN;
		if (!t->held || !t->keys || !t->sorted || !t->queues) {
			times_close(&t->base);
			return rk_fail_nomem(err);
		}
	}
	*ret = &t->base;
	return 0;
}
