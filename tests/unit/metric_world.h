/* metric_world.h - names for expressions under test, and what programs make of them. */
#ifndef RK_METRIC_WORLD_H
#define RK_METRIC_WORLD_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "metrics/formula/program.h"
#include "tap.h"

enum { NCOLUMNS = 64, NTERMS = 80 };

/* Names: a..h are columns 0..7; X, Y and others have instances; terms are set by tests. */
struct fixture {
	struct rk_arena *arena;
	struct rk_program *program;
	struct rk_error err;
	struct rk_names names;
	struct {
		const char *name;
		const struct rk_expr *expr;
	} terms[NTERMS];
	size_t nterms;
	unsigned look_ups;
	struct rk_name_instance instances[RK_PROGRAM_INSTANCES_MAX + 1];
};

/* X: 2 XCDs x 3 instances in columns 10..15; Y: the same places in 20..25. */
static inline void six(struct fixture *f, unsigned first, struct rk_name *ret)
{
	for (unsigned i = 0; i < 6; i++) {
		f->instances[i] = (struct rk_name_instance){ .column = first + i };
		f->instances[i].dims[RK_DIM_XCC] = i / 3;
		f->instances[i].dims[RK_DIM_INSTANCE] = i % 3;
	}
	ret->kind = RK_NAME_INSTANCES;
	ret->instances = f->instances;
	ret->ninstances = 6;
}

/* `n` in a row of dimension `dim`, from column `first` on. */
static inline void row_of(struct fixture *f, unsigned first, unsigned n, enum rk_expr_dim dim,
			  struct rk_name *ret)
{
	for (unsigned i = 0; i < n; i++) {
		f->instances[i] = (struct rk_name_instance){ .column = first + i % 16 };
		f->instances[i].dims[dim] = i;
	}
	ret->kind = RK_NAME_INSTANCES;
	ret->instances = f->instances;
	ret->ninstances = n;
}

static inline bool find_term(struct fixture *f, const char *name, struct rk_name *ret)
{
	for (size_t i = 0; i < f->nterms; i++)
		if (strcmp(f->terms[i].name, name) == 0) {
			ret->kind = RK_NAME_TERM;
			ret->term = f->terms[i].expr;
			return true;
		}
	return false;
}

static inline void find_column(const char *name, enum rk_name_use use, int64_t index,
			       struct rk_name *ret)
{
	ret->kind = RK_NAME_COLUMN;
	ret->column = (unsigned)(name[0] - 'a');
	if (use == RK_USE_ONE)
		ret->column += 10 + (unsigned)index;
	if (use == RK_USE_LEVEL)
		ret->column += 30;
}

static inline int look_up(void *arg, const char *name, enum rk_name_use use, int64_t index,
			  struct rk_name *ret, struct rk_error *err)
{
	struct fixture *f = arg;
	char c = name[1] ? '\0' : name[0];

	f->look_ups++;
	if (strcmp(name, "broken") == 0)
		return rk_fail(err, RK_E_IO, "cannot look");
	if (find_term(f, name, ret))
		return 0;
	if (c >= 'a' && c <= 'h')
		find_column(name, use, index, ret);
	else if (c == 'X' || c == 'Y')
		six(f, c == 'X' ? 10 : 20, ret);
	else if (c == 'L') /* level counter with instances */
		row_of(f, 40, 2, RK_DIM_XCC, ret);
	else if (c == 'P' || c == 'Q') /* one dimension each, but not the same */
		row_of(f, 10, 3, c == 'P' ? RK_DIM_XCC : RK_DIM_INSTANCE, ret);
	else if (c == 'O') /* one instance alone */
		row_of(f, 10, 1, RK_DIM_XCC, ret);
	else if (c == 'W' || c == 'E') /* too many; none */
		row_of(f, 0, c == 'W' ? RK_PROGRAM_INSTANCES_MAX + 1 : 0, RK_DIM_WGP, ret);
	else if (c == 'B') /* as many as there may be */
		row_of(f, 0, RK_PROGRAM_INSTANCES_MAX, RK_DIM_WGP, ret);
	else if (c == 'T') {
		find_column("c", RK_USE_VALUE, -1, ret);
		ret->single = true;
	} else if (strcmp(name, "cus") == 0 || strcmp(name, "unknown") == 0) {
		ret->kind = RK_NAME_NUMBER;
		ret->number = name[0] == 'c' ? 4 : (double)NAN;
	} else if (c != '?')
		snprintf(ret->why, sizeof(ret->why), "%s was not collected", name);
	return 0;
}

static inline void setup(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	f->names = (struct rk_names){ f, look_up };
	CHECK_I64(rk_arena_new(&f->arena, &f->err), 0);
	CHECK_I64(rk_program_new(&f->program, &f->err), 0);
}

static inline void teardown(struct fixture *f)
{
	rk_program_free(f->program);
	rk_arena_free(f->arena);
}

static inline const struct rk_expr *parse(struct fixture *f, const char *text)
{
	const struct rk_expr *e = NULL;
	struct rk_error err = { 0 };

	if (!CHECK_I64(rk_expr_parse(f->arena, text, strlen(text), &e, &err), 0))
		printf("# %s: %s\n", text, err.message);
	return e;
}

static inline void add_term(struct fixture *f, const char *name, const char *text)
{
	f->terms[f->nterms].name = name;
	f->terms[f->nterms++].expr = parse(f, text);
}

static inline int add(struct fixture *f, const char *text, unsigned *ret)
{
	rk_error_clear(&f->err);
	return rk_program_add(f->program, parse(f, text), &f->names, ret, &f->err);
}

/* Column c has c + 1 in row 0, 10 (c + 1) in row 1, and so on. */
static inline double cell(unsigned column, size_t row)
{
	return (column + 1) * pow(10, (double)row);
}

static inline double one_value(struct fixture *f, unsigned result, size_t row)
{
	double data[NCOLUMNS][3], got;
	const double *columns[NCOLUMNS];
	struct rk_program_state *s = NULL;

	for (unsigned c = 0; c < NCOLUMNS; c++) {
		columns[c] = data[c];
		for (size_t r = 0; r < 3; r++)
			data[c][r] = cell(c, r);
	}
	if (!CHECK_I64(rk_program_state_new(f->program, &s, &f->err), 0))
		return 0;
	rk_program_run(s, columns, 3);
	got = rk_program_result(s, result)[row];
	rk_program_state_free(s);
	return got;
}

static inline bool same(double a, double b)
{
	return isnan(a) ? isnan(b) : a == b;
}

/* The value in the first row, where a..h are 1..8, X is 11..16 and Y is 21..26. */
static inline void gives(const char *text, double want)
{
	struct fixture f;
	unsigned r = 0;
	double got;

	setup(&f);
	if (!CHECK_I64(add(&f, text, &r), 0)) {
		printf("# %s: %s\n", text, f.err.message);
	} else {
		got = one_value(&f, r, 0);
		if (!CHECK(same(got, want)))
			printf("# %s gives %.17g, not %.17g\n", text, got, want);
	}
	teardown(&f);
}

static inline void refused(const char *text, const char *reason)
{
	struct fixture f;
	unsigned r = 77;

	setup(&f);
	CHECK_I64(add(&f, text, &r), RK_E_UNSUPPORTED);
	CHECK_STR(f.err.message, reason);
	CHECK_U64(r, 77);
	CHECK_I64(rk_program_add(f.program, parse(&f, text), &f.names, &r, NULL), RK_E_UNSUPPORTED);
	teardown(&f);
}

#endif
