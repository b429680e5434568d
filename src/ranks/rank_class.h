/* rank_class.h - whether a kernel communicates: asked once for each name. */
#ifndef RK_RANK_CLASS_H
#define RK_RANK_CLASS_H

#include <stdbool.h>

#include "base/strtab.h"
#include "ranks/comm_name.h"
#include "table/aggregate_map.h"

enum rk_rank_kind { RK_KIND_NOMEM, RK_KIND_COMPUTE, RK_KIND_COMM };

/* Zero `seen` before use; rk_idmap_release it at the end. */
struct rk_rank_class {
	struct rk_idmap seen; /* enum rk_rank_kind by name, 0: not asked yet */
	const struct rk_strtab *names;
	bool (*communicates)(const char *name, size_t len); /* NULL: as comm_name.h says */
};

static inline enum rk_rank_kind rk_rank_class_of(struct rk_rank_class *c, uint32_t name)
{
	uint32_t *at = rk_idmap_at(&c->seen, name);
	const char *text;
	size_t len;

	if (!at)
		return RK_KIND_NOMEM;
	if (!*at) {
		text = rk_strtab_borrow(c->names, name, &len);
		*at = (c->communicates ? c->communicates(text, len) :
					 rk_comm_of(text, len).kind != RK_COMM_NOT) ?
			      RK_KIND_COMM :
			      RK_KIND_COMPUTE;
	}
	return (enum rk_rank_kind) * at;
}

#endif
