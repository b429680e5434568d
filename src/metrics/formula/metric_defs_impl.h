/* metric_defs_impl.h - what the readers of definitions share. */
#ifndef RK_METRIC_DEFS_IMPL_H
#define RK_METRIC_DEFS_IMPL_H

#include "codec/json/tree.h"
#include "metrics/formula/metric_defs.h"

/* A document being read. */
struct rk_metric_doc {
	struct rk_metric_set *set;
	const char *file; /* the set's */
	struct rk_error *err;
};

/* What an expression belongs to, for errors: "metric 'x', peak". */
struct rk_metric_owner {
	const char *what, *id, *key;
};

/* The error of a place in the document. */
int rk_metric_fault(const struct rk_metric_doc *d, const struct rk_tree *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* A copy that lives as long as the set; NULL when out of memory, and err says so. */
const char *rk_metric_text(const struct rk_metric_doc *d, const char *s);

bool rk_metric_is_name(const char *s); /* a C identifier of bounded length */

int rk_metric_expr_read(const struct rk_metric_doc *d, const struct rk_metric_owner *o,
			const struct rk_tree *t, const struct rk_expr **ret);
/* Puts a case where it belongs by closeness. `once`: a second for the same target is an error. */
int rk_metric_case_add(const struct rk_metric_doc *d, const struct rk_metric_owner *o,
		       const struct rk_tree *at, const char *target, size_t len,
		       const struct rk_expr *e, bool once, struct rk_metric_case **list);

/*
 * Over what is there under the same name; with `once`, not over what the same document said.
 */
int rk_metric_put_def(const struct rk_metric_doc *d, const struct rk_tree *at,
		      const struct rk_metric_def *def, bool once);
int rk_metric_put_term(const struct rk_metric_doc *d, const struct rk_tree *at,
		       const struct rk_metric_term *term, bool once);
int rk_metric_put_check(const struct rk_metric_doc *d, const struct rk_tree *at,
			const struct rk_metric_check *check, bool once);

/* The two kinds of documents. */
int rk_metric_read_own(const struct rk_metric_doc *d, const struct rk_tree *root);
int rk_metric_read_sdk(const struct rk_metric_doc *d, const struct rk_tree *sdk);

#endif
