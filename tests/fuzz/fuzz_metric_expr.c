/* fuzz_metric_expr.c - expressions of metrics: parsed, compiled and run. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/formula/program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NCOLUMNS = 8, ROWS = 3, LINES_MAX = 64 };

/* The lines of an input. Line i is an expression and the term "ti", so that terms meet. */
struct lines {
	const struct rk_expr *exprs[LINES_MAX];
	size_t n;
	struct rk_name_instance instances[6];
};

static int look_up(void *arg, const char *name, enum rk_name_use use, int64_t index,
		   struct rk_name *ret, struct rk_error *err)
{
	struct lines *l = arg;
	size_t line = name[0] == 't' && name[1] >= '0' && name[1] <= '9' ? (size_t)(name[1] - '0') :
									   LINES_MAX;

	(void)use;
	(void)index;
	(void)err;
	if (line < l->n) {
		ret->kind = RK_NAME_TERM;
		ret->term = l->exprs[line];
	} else if (name[0] >= 'A' && name[0] <= 'M') {
		ret->kind = RK_NAME_INSTANCES;
		ret->instances = l->instances;
		ret->ninstances = 1 + (size_t)name[0] % 6;
	} else if (name[0] >= 'N' && name[0] <= 'Z') {
		ret->kind = RK_NAME_COLUMN;
		ret->column = (unsigned)name[0] % NCOLUMNS;
		ret->single = name[0] == 'T';
	} else if (name[0] >= 'a' && name[0] <= 'm') {
		ret->kind = RK_NAME_NUMBER;
		ret->number = name[0] - 'c';
	}
	return 0;
}

static void check_error(int rc, const struct rk_error *err)
{
	if (rc < 0 && (err->code != rc || !err->message[0]))
		abort();
}

/* Nothing that comes out is infinite. */
static void run(const struct rk_program *p, const unsigned *results, size_t n)
{
	static const double values[ROWS] = { 0, 3, (double)INFINITY };
	const double *columns[NCOLUMNS] = { values, NULL, values, values, values, NULL, values };
	struct rk_program_state *s = NULL;
	struct rk_error err = { 0 };
	int rc = rk_program_state_new(p, &s, &err);

	check_error(rc, &err);
	if (rc < 0)
		return;
	rk_program_run(s, columns, ROWS);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < ROWS; k++)
			if (isinf(rk_program_result(s, results[i])[k]))
				abort();
	rk_program_state_free(s);
}

static void compile(struct lines *l, struct rk_program *p)
{
	struct rk_names names = { l, look_up };
	unsigned results[LINES_MAX];
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		struct rk_error err = { 0 };
		size_t before = rk_program_steps(p), columns_before, columns;
		int rc;

		rk_program_columns(p, &columns_before);
		rc = rk_program_add(p, l->exprs[i], &names, &results[n], &err);
		rk_program_columns(p, &columns);
		check_error(rc, &err);
		n += rc == 0;
		if (rc < 0 && (rk_program_steps(p) != before || columns != columns_before))
			abort();
	}
	run(p, results, n);
}

static void parse_lines(struct lines *l, struct rk_arena *a, const char *text, size_t size)
{
	while (size && l->n < LINES_MAX) {
		const char *end = memchr(text, '\n', size);
		size_t len = end ? (size_t)(end - text) : size;
		struct rk_error err = { 0 };
		int rc = rk_expr_parse(a, text, len, &l->exprs[l->n], &err);

		check_error(rc, &err);
		l->n += rc == 0;
		text += len + (end != NULL);
		size -= len + (end != NULL);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rk_arena *a = NULL;
	struct rk_program *p = NULL;
	struct rk_error err = { 0 };
	struct lines l = { 0 };

	for (unsigned i = 0; i < 6; i++) {
		l.instances[i].column = i;
		l.instances[i].dims[RK_DIM_XCC] = i / 3;
		l.instances[i].dims[RK_DIM_INSTANCE] = i % 3;
	}
	if (rk_arena_new(&a, &err) == 0 && rk_program_new(&p, &err) == 0) {
		parse_lines(&l, a, (const char *)data, size);
		compile(&l, p);
	}
	rk_program_free(p);
	rk_arena_free(a);
	return 0;
}
