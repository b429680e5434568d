/* wide_columns.c - which columns of a wide CSV file are counters. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "read/wide/wide.h"

/* The header's names in order, to find one among thousands. */
struct place {
	const char *name;
	unsigned col;
};

static int by_name(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int c = strcmp(x->name, y->name);

	return c ? c : (x->col > y->col) - (x->col < y->col);
}

/* The first column whose name is [name, name + len), or n. */
static unsigned first_col(const struct place *places, unsigned n, const char *name, size_t len)
{
	unsigned lo = 0, hi = n;

	while (lo < hi) {
		unsigned mid = lo + (hi - lo) / 2;
		int c = strncmp(places[mid].name, name, len);

		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < n && !strncmp(places[lo].name, name, len) && !places[lo].name[len])
		return places[lo].col;
	return n;
}

static const struct rk_csv_bind *fixed_of(const struct rk_csv_bind *binds, const char *name,
					  size_t len)
{
	for (; binds; binds = binds->more)
		for (; binds->header; binds++)
			if ((*name | 0x20) == (*binds->header | 0x20) &&
			    rk_text_ieq(name, len, binds->header))
				return binds;
	return NULL;
}

/* Length of the name without _1, _2 ... behind it. */
static size_t base_len(const char *name, size_t len)
{
	size_t n = len;

	while (n && name[n - 1] >= '0' && name[n - 1] <= '9')
		n--;
	return n < len && n > 1 && name[n - 1] == '_' ? n - 1 : len;
}

/* SQ_WAVES_1 is a copy where there is a SQ_WAVES; SQ_WAVES_LT_16 is a counter of that name. */
static bool is_copy(const struct rk_csv_bind *fixed, const struct place *places, unsigned n,
		    unsigned col, const char *name)
{
	size_t len = strlen(name), base = base_len(name, len);

	if (first_col(places, n, name, len) < col)
		return true;
	if (base == len)
		return false;
	return fixed_of(fixed, name, base) || first_col(places, n, name, base) < n;
}

/* Fixed columns that rows of counters keep. */
static struct rk_csv_bind kept(const struct rk_csv_bind *b, const char *name)
{
	static const struct {
		unsigned kernels, wide;
	} map[] = {
		{ RK_K_DISPATCH, RK_W_DISPATCH },
		{ RK_K_NAME, RK_W_NAME },
		{ RK_K_DEVICE, RK_W_DEVICE },
		{ RK_K_PID, RK_W_PID },
	};
	struct rk_csv_bind ret = { name, RK_CELL_SKIP, 0, NULL };

	if (rk_text_ieq(name, strlen(name), "XCC_Index"))
		return (struct rk_csv_bind){ name, RK_CELL_I64, RK_W_XCC, NULL };
	for (size_t i = 0; b->cell != RK_CELL_SKIP && i < sizeof(map) / sizeof(map[0]); i++)
		if (b->field == map[i].kernels)
			ret = (struct rk_csv_bind){ name, b->cell, map[i].wide, NULL };
	return ret;
}

static void add_counter(struct rk_wide_columns *c, unsigned col, const char *name)
{
	unsigned field = RK_W_NFIELDS + c->ncounters++;

	c->fields[field] = (struct rk_field){ name, RK_F64 };
	c->counters[col] = (struct rk_csv_bind){ name, RK_CELL_F64, field, NULL };
}

static void settle(const struct rk_csv_header *h, const struct rk_csv_bind *fixed,
		   const struct place *places, struct rk_wide_columns *c)
{
	for (unsigned i = 0; i < h->ncols; i++) {
		const char *name = h->names[i];
		const struct rk_csv_bind *b = fixed_of(fixed, name, strlen(name));

		c->kernels[i] = (struct rk_csv_bind){ name, RK_CELL_SKIP, 0, NULL };
		c->counters[i] = c->kernels[i];
		if (b) {
			c->kernels[i].cell = b->cell;
			c->kernels[i].field = b->field;
			c->counters[i] = kept(b, name);
			c->per_xcc |= c->counters[i].cell != RK_CELL_SKIP &&
				      c->counters[i].field == RK_W_XCC;
		} else if (*name && !is_copy(fixed, places, h->ncols, i, name)) {
			add_counter(c, i, name);
		}
	}
}

int rk_wide_columns_make(const struct rk_csv_header *h, const struct rk_csv_bind *fixed,
			 struct rk_wide_columns *ret, struct rk_error *err)
{
	static const struct rk_field first[RK_W_NFIELDS] = {
		{ "dispatch_id", RK_I64 }, { "kernel_name", RK_STR }, { "device_id", RK_I64 },
		{ "pid", RK_I64 },         { "xcc", RK_I64 },
	};
	struct rk_wide_columns c = { 0 };
	struct place *places = rk_calloc(h->ncols, sizeof(*places));

	c.kernels = rk_calloc((size_t)h->ncols + 1, sizeof(*c.kernels));
	c.counters = rk_calloc((size_t)h->ncols + 1, sizeof(*c.counters));
	c.fields = rk_calloc((size_t)h->ncols + RK_W_NFIELDS, sizeof(*c.fields));
	if (!places || !c.kernels || !c.counters || !c.fields) {
		rk_free(places);
		rk_wide_columns_release(&c);
		return rk_fail_nomem(err);
	}
	for (unsigned i = 0; i < h->ncols; i++)
		places[i] = (struct place){ h->names[i], i };
	qsort(places, h->ncols, sizeof(*places), by_name);
	memcpy(c.fields, first, sizeof(first));
	settle(h, fixed, places, &c);
	rk_free(places);
	c.schema = (struct rk_schema){ RK_COUNTERS, RK_W_NFIELDS + c.ncounters, c.fields, -1 };
	*ret = c;
	return 0;
}

void rk_wide_columns_release(struct rk_wide_columns *c)
{
	rk_free(c->kernels);
	rk_free(c->counters);
	rk_free(c->fields);
	*c = (struct rk_wide_columns){ 0 };
}
