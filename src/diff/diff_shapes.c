/* diff_shapes.c - grids and blocks of launches, told apart by kernel. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "diff/diff_profile_impl.h"

struct rk_shape_columns rk_shape_columns(const struct rk_batch *b)
{
	struct rk_shape_columns c = { .whole = true };

	for (unsigned i = 0; i < 3; i++) {
		c.grid[i] = b->cols[RK_K_GRID_X + i];
		c.block[i] = b->cols[RK_K_BLOCK_X + i];
		c.items[i] = b->cols[RK_K_ITEMS_X + i];
		c.whole &= c.grid[i].data && !c.grid[i].valid && c.block[i].data &&
			   !c.block[i].valid;
	}
	return c;
}

static int32_t cell(const struct rk_column *c, size_t row)
{
	return rk_column_has(c, row) ? ((const int32_t *)c->data)[row] : -1;
}

static struct rk_shape odd_shape(const struct rk_shape_columns *c, size_t row)
{
	struct rk_shape s = { .items = 0 };

	for (unsigned i = 0; i < 3; i++) {
		s.n[i] = cell(&c->grid[i], row);
		s.n[3 + i] = cell(&c->block[i], row);
	}
	if (s.n[3] >= 0 || !rk_column_has(&c->items[0], row))
		return s;
	/* Which block was taken depends on the runtime's mood: only the items are the program's. */
	s.items = 1;
	for (unsigned i = 0; i < 3; i++)
		s.n[i] = cell(&c->items[i], row);
	return s;
}

struct rk_shape rk_shape_at(const struct rk_shape_columns *c, size_t row)
{
	struct rk_shape s = { .items = 0 };

	if (!c->whole)
		return odd_shape(c, row);
	for (unsigned i = 0; i < 3; i++) {
		s.n[i] = ((const int32_t *)c->grid[i].data)[row];
		s.n[3 + i] = ((const int32_t *)c->block[i].data)[row];
	}
	return s;
}

static uint32_t *slot_of(const struct rk_profiler *p, uint32_t name, const struct rk_shape *s)
{
	size_t i = rk_hash_u64(rk_hash_bytes(s, sizeof(*s)) ^ name);

	for (i &= p->nslots - 1; p->slots[i]; i = (i + 1) & (p->nslots - 1)) {
		const struct rk_profile_shape *o = &p->shapes[p->slots[i] - 1];

		if (o->name == name && memcmp(&o->shape, s, sizeof(*s)) == 0)
			break;
	}
	return &p->slots[i];
}

/* Keeps the table at most half full. */
static int slots_grow(struct rk_profiler *p, struct rk_error *err)
{
	size_t n = p->nslots ? p->nslots * 2 : 256;
	uint32_t *slots = rk_calloc(n, sizeof(*slots));

	if (!slots)
		return rk_fail_nomem(err);
	rk_free(p->slots);
	p->slots = slots;
	p->nslots = n;
	for (size_t i = 0; i < p->nshapes; i++)
		*slot_of(p, p->shapes[i].name, &p->shapes[i].shape) = (uint32_t)i + 1;
	return 0;
}

static int append(struct rk_profiler *p, uint32_t name, const struct rk_shape *s,
		  struct rk_error *err)
{
	struct rk_profile_shape *grown =
		rk_grow(p->shapes, &p->cap_shapes, p->nshapes + 1, sizeof(*grown));

	if (!grown)
		return rk_fail_nomem(err);
	p->shapes = grown;
	p->shapes[p->nshapes++] = (struct rk_profile_shape){ .shape = *s,
							     .name = name,
							     .next = p->names[name].shapes };
	p->names[name].shapes = (uint32_t)p->nshapes;
	return 0;
}

int rk_profiler_shape(struct rk_profiler *p, uint32_t name, const struct rk_shape *s, uint32_t *ret,
		      struct rk_error *err)
{
	uint32_t *slot;
	int rc = p->nshapes * 2 >= p->nslots ? slots_grow(p, err) : 0;

	if (rc < 0)
		return rc;
	slot = slot_of(p, name, s);
	if (!*slot && p->nshapes >= RK_PROFILE_SHAPES) {
		p->lost_shapes++;
		*ret = RK_SHAPE_NONE;
		return 0;
	}
	if (!*slot) {
		rc = append(p, name, s, err);
		if (rc < 0)
			return rc;
		*slot = (uint32_t)p->nshapes;
	}
	*ret = *slot - 1;
	return 0;
}

double rk_profile_shape_squares(const struct rk_profile_shape *s)
{
	double squares = s->timed ? s->squares - s->sum * s->sum / (double)s->timed : 0;

	return squares > 0 ? squares : 0;
}

void rk_shape_text(const struct rk_shape *s, char *ret, size_t size)
{
	const int32_t *n = s->n;

	if (n[0] < 0 && n[3] < 0)
		snprintf(ret, size, "%s", "");
	else if (s->items)
		snprintf(ret, size, "items %dx%dx%d", n[0], n[1], n[2]);
	else
		snprintf(ret, size, "grid %dx%dx%d block %dx%dx%d", n[0], n[1], n[2], n[3], n[4],
			 n[5]);
}
