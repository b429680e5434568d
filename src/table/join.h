/* join.h - adds the hardware counters of each dispatch to kernels, as columns. */
#ifndef RK_JOIN_H
#define RK_JOIN_H

#include "base/map.h"
#include "table/matrix.h"
#include "table/source.h"

enum { RK_JOIN_MAX_COUNTERS = 1024 };

struct rk_counter_column {
	uint32_t name;  /* id in ctx->names */
	bool sum;       /* sum of one value per feeding name; else the first value is kept */
	uint32_t parts; /* names that feed it */
	uint32_t masks; /* of a sum: first matrix column that records which parts are included */
	unsigned pass;  /* as in struct rk_field */
};

struct rk_counter_feed {
	uint32_t id, column, part;
};

/*
 * Counters by name as the extra columns of the kernels table: usually a column for each name, but
 * a name may feed several columns and a column may be fed by several names. Zero it before use.
 */
struct rk_counter_set {
	struct rk_counter_column *columns;
	struct rk_counter_feed *feeds;
	struct rk_index by_id; /* indexes of feeds */
	size_t n, cap, nfeeds, cap_feeds;
	size_t width;            /* columns of a matrix for this set */
	bool more;               /* there were more columns than fit */
	bool times;              /* the last column is for times that were measured several times */
	struct rk_field *fields; /* the fields of kernels, then one double per column */
	struct rk_schema schema;
};

/* Adds a column for a name, unless it exists. */
int rk_counter_set_add(struct rk_counter_set *set, struct rk_context *ctx, uint32_t id,
		       struct rk_error *err);
/* Adds a column without names; adds a name that feeds a column. */
int rk_counter_set_column(struct rk_counter_set *set, uint32_t name, bool sum, unsigned *ret,
			  struct rk_error *err);
int rk_counter_set_feed(struct rk_counter_set *set, uint32_t id, unsigned column,
			struct rk_error *err);
/* Reads counters (RK_N_COUNTER) once and adds their names. */
int rk_counter_set_scan(struct rk_counter_set *set, struct rk_context *ctx,
			struct rk_source *counters, struct rk_error *err);
/* The next column that a name feeds, -1 at the end. Start with *at = 0. */
int rk_counter_set_next(const struct rk_counter_set *set, uint32_t id, size_t *at);
/*
 * Call after the last column: creates set->schema. If there are more than RK_JOIN_MAX_COUNTERS
 * columns, instances ("X[3]") are dropped first, all of one X or none. A counter that is named like
 * a column of kernels has "counter_" before its name there, with the warning "counter-renamed".
 * Names are borrowed from ctx->names.
 */
int rk_counter_set_schema(struct rk_counter_set *set, struct rk_context *ctx, struct rk_error *err);
void rk_counter_set_release(struct rk_counter_set *set);

/*
 * Both read counters once (RK_N_DISPATCH, _COUNTER, _VALUE, _PID). Call note, then
 * rk_matrix_layout, then fill.
 */
int rk_join_note(struct rk_matrix *m, struct rk_source *counters, struct rk_error *err);
int rk_join_fill(struct rk_matrix *m, const struct rk_counter_set *set, struct rk_source *counters,
		 struct rk_error *err);

/*
 * Adds one value to the columns that its name feeds. A sum is missing if its dispatch lacks a part
 * that another dispatch of the matrix has.
 */
int rk_join_put(struct rk_matrix *m, const struct rk_counter_set *set, uint32_t id, int64_t pid,
		int64_t dispatch, double value, struct rk_error *err);

/*
 * Kernels with set->schema. Values come from `m` (NULL: all missing) by dispatch id; with
 * `by_order`, a row without one is found by its order, from 1. Takes ownership of `rows` and `m`,
 * also on failure; `set` must outlive it.
 */
int rk_join_open(struct rk_source *rows, struct rk_matrix *m, const struct rk_counter_set *set,
		 bool by_order, struct rk_source **ret, struct rk_error *err);

#endif
