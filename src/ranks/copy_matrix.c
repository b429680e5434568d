/* copy_matrix.c - see rank_load.h. */
#include "ranks/rank_load.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/num.h"

#define BIT(f) (UINT64_C(1) << (f))

struct cell {
	uint64_t calls;
	int64_t time_ns;
	bool sized; /* at least one copy has a size */
	int64_t bytes;
	int64_t sized_ns; /* time of the copies with a size */
};

struct rk_copy_matrix {
	struct rk_context *ctx;
	struct rk_keys keys; /* node and direction, source, destination */
	struct cell *cells;  /* by number */
	size_t cap;
	uint64_t turned_away;
	/* which ends are devices, cached for the direction of the previous row */
	uint32_t direction;
	bool from, to;
};

int rk_copy_matrix_new(struct rk_context *ctx, struct rk_copy_matrix **ret, struct rk_error *err)
{
	struct rk_copy_matrix *m = rk_calloc(1, sizeof(*m));

	if (!m)
		return rk_fail_nomem(err);
	m->ctx = ctx;
	m->keys.max = RK_COPY_CELLS;
	m->direction = UINT32_MAX;
	*ret = m;
	return 0;
}

void rk_copy_matrix_free(struct rk_copy_matrix *m)
{
	if (!m)
		return;
	rk_keys_release(&m->keys);
	rk_free(m->cells);
	rk_free(m);
}

uint64_t rk_copy_matrix_wants(void)
{
	return BIT(RK_C_DIRECTION) | BIT(RK_C_DURATION) | BIT(RK_C_BYTES) | BIT(RK_C_SRC) |
	       BIT(RK_C_DST) | BIT(RK_C_NODE);
}

/* *ret is NULL if there are too many. */
static int cell_of(struct rk_copy_matrix *m, const struct rk_batch *b, size_t i, struct cell **ret,
		   struct rk_error *err)
{
	uint32_t direction = rk_batch_id(b, RK_C_DIRECTION, i), number;
	struct cell *cells;
	size_t had;
	struct rk_key3 key = { (int64_t)rk_batch_id(b, RK_C_NODE, i) << 32 | direction, -1, -1 };
	int rc;

	/* A host agent has a number too: only the direction distinguishes it from a device. */
	if (direction != m->direction) {
		const char *word = rk_strtab_borrow(m->ctx->names, direction, NULL);

		m->from = !strstr(word, "HOST_TO");
		m->to = !strstr(word, "TO_HOST");
		m->direction = direction;
	}
	if (m->from)
		key.b = rk_batch_int(b, RK_C_SRC, i, -1);
	if (m->to)
		key.c = rk_batch_int(b, RK_C_DST, i, -1);
	rc = rk_keys_number(&m->keys, key, &number, err);
	*ret = NULL;
	if (rc < 0 || number == RK_COPY_CELLS)
		return rc;
	had = m->cap;
	cells = rk_grow(m->cells, &m->cap, (size_t)number + 1, sizeof(*cells));
	if (!cells)
		return rk_fail_nomem(err);
	memset(cells + had, 0, (m->cap - had) * sizeof(*cells));
	m->cells = cells;
	*ret = &m->cells[number];
	return 0;
}

int rk_copy_matrix_add(struct rk_copy_matrix *m, const struct rk_batch *b, struct rk_error *err)
{
	for (size_t i = 0; i < b->nrows; i++) {
		int64_t dur = rk_max_i64(rk_batch_int(b, RK_C_DURATION, i, 0), 0);
		int64_t bytes = rk_batch_int(b, RK_C_BYTES, i, -1);
		struct cell *c;
		int rc = cell_of(m, b, i, &c, err);

		if (rc < 0)
			return rc;
		if (!c) {
			m->turned_away++;
			continue;
		}
		c->calls++;
		c->time_ns = rk_add_saturated(c->time_ns, dur);
		if (bytes < 0)
			continue;
		c->sized = true;
		c->bytes = rk_add_saturated(c->bytes, bytes);
		c->sized_ns = rk_add_saturated(c->sized_ns, dur);
	}
	return 0;
}

static int by_place(const void *pa, const void *pb)
{
	const struct rk_ranks_copy *a = pa, *b = pb;
	int order = strcmp(a->node, b->node);

	if (!order)
		order = (a->src > b->src) - (a->src < b->src);
	if (!order)
		order = (a->dst > b->dst) - (a->dst < b->dst);
	return order ? order : strcmp(a->direction, b->direction);
}

int rk_copy_matrix_finish(struct rk_copy_matrix *m, struct rk_ranks_copy **ret, size_t *ret_n,
			  struct rk_error *err)
{
	struct rk_ranks_copy *v = rk_calloc(m->keys.n, sizeof(*v));

	if (!v)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < m->keys.n; i++) {
		const struct rk_key3 *k = &m->keys.v[i];
		const struct cell *c = &m->cells[i];

		v[i] = (struct rk_ranks_copy){
			.node = rk_strtab_borrow(m->ctx->names, (uint32_t)(k->a >> 32), NULL),
			.direction = rk_strtab_borrow(m->ctx->names, (uint32_t)k->a, NULL),
			.src = rk_max_i64(k->b, -1),
			.dst = rk_max_i64(k->c, -1),
			.calls = c->calls,
			.bytes = c->sized ? c->bytes : -1,
			.time_ns = c->time_ns,
			/* bytes per ns are GB per s */
			.gb_per_s = c->sized_ns ? (double)c->bytes / (double)c->sized_ns : NAN,
		};
	}
	qsort(v, m->keys.n, sizeof(*v), by_place);
	if (m->turned_away)
		rk_diag_add(m->ctx->diag, "many-copy-places", "", 0, m->turned_away,
			    "copies left out of the copy table: more than %d combinations of "
			    "source and destination",
			    RK_COPY_CELLS);
	*ret = v;
	*ret_n = m->keys.n;
	return 0;
}
