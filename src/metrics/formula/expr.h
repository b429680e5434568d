/*
 * expr.h - expressions over counters, parsed.
 *
 * One grammar for our own definitions and for the derived counters of rocprofiler-sdk:
 *
 *   expr   := term { ("+"|"-") term }
 *   term   := factor { ("*"|"/") factor }
 *   factor := NUMBER | NAME [ "[" INTEGER "]" ] | "-" factor | "(" expr ")"
 *           | "MAX0" "(" expr ")" | ("min"|"max"|"or") "(" expr "," expr ")" | "LVL" "(" NAME ")"
 *           | "reduce" "(" expr "," OP [ "," "[" DIM { "," DIM } "]" ] ")"
 *           | "select" "(" expr "," "[" DIM "=" "[" SEL { "," SEL } "]" { "," ... } "]" ")"
 *           | "accumulate" "(" NAME "," ("NONE"|"LOW_RES"|"HIGH_RES") ")"
 *
 * NUMBER is a decimal with fraction and exponent. NAME is [A-Za-z_][A-Za-z0-9_.]*. "// ..." and
 * white space are skipped. OP is sum, min, max or avr. SEL is an index or a range "a:b". Words of
 * functions are names where no "(" follows. or(a, b) is a wherever all of its names are known, and b
 * elsewhere: what was recorded decides, not the values.
 */
#ifndef RK_METRIC_EXPR_H
#define RK_METRIC_EXPR_H

#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/error.h"

enum rk_expr_op {
	RK_EXPR_NUMBER,
	RK_EXPR_NAME, /* with `index` >= 0: only that instance */
	RK_EXPR_ADD,
	RK_EXPR_SUB,
	RK_EXPR_MUL,
	RK_EXPR_DIV,
	RK_EXPR_MIN,
	RK_EXPR_MAX,
	RK_EXPR_MAX0,       /* max(x, 0) */
	RK_EXPR_LEVEL,      /* the time integral of level counter `name` */
	RK_EXPR_REDUCE,     /* `reduce` over `dims`, 0: all */
	RK_EXPR_SELECT,     /* instances of `a` whose indices match `picks` in every dimension */
	RK_EXPR_ACCUMULATE, /* integral of `name`, see `reduce` */
	RK_EXPR_OR,         /* `a`, or `b` if a name in `a` is missing */
};

enum rk_expr_dim {
	RK_DIM_XCC,
	RK_DIM_AID,
	RK_DIM_SHADER_ENGINE,
	RK_DIM_AGENT,
	RK_DIM_SHADER_ARRAY,
	RK_DIM_WGP,
	RK_DIM_INSTANCE,
	RK_NDIMS
};

enum rk_expr_how {
	RK_HOW_SUM,
	RK_HOW_MIN,
	RK_HOW_MAX,
	RK_HOW_AVR,
	RK_HOW_NONE,
	RK_HOW_LOW,
	RK_HOW_HIGH
};

struct rk_expr_pick {
	uint8_t dim;          /* enum rk_expr_dim */
	uint32_t first, last; /* inclusive */
	const struct rk_expr_pick *next;
};

struct rk_expr {
	enum rk_expr_op op;
	double number;
	const char *name;
	int64_t index; /* for NAME[i], else -1 */
	const struct rk_expr *a, *b;
	enum rk_expr_how how;
	uint8_t dims; /* one bit per enum rk_expr_dim */
	const struct rk_expr_pick *picks;
};

/*
 * Depth counts brackets, signs and functions. A chain such as a+b+c+... leans to the left and may
 * be as long as there are nodes: code that walks the tree must follow `a` in a loop.
 */
enum {
	RK_EXPR_BYTES_MAX = 1 << 16,
	RK_EXPR_NODES_MAX = 1 << 14,
	RK_EXPR_DEPTH_MAX = 128,
	RK_EXPR_NAME_MAX = 255
};

/*
 * Errors give the position in `text`: "column 12: expected ')', found 'x'"; columns count bytes.
 * The text may contain anything and is not kept. *ret is valid as long as the arena.
 */
int rk_expr_parse(struct rk_arena *arena, const char *text, size_t len, const struct rk_expr **ret,
		  struct rk_error *err);

#endif
