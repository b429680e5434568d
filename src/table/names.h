/* names.h - kernel names as people read them. */
#ifndef RK_NAMES_H
#define RK_NAMES_H

#include "base/bytes.h"
#include "table/context.h"
#include "table/source.h"

struct rk_name_style {
	bool mangled;  /* leave _Z names as they are */
	bool truncate; /* the bare function name: no arguments, templates, namespaces, return type */
};

/*
 * Appends the clean form of a recorded name: without .kd, [clone .kd] and (.kd), demangled
 * unless style says no, invalid UTF-8 replaced. False when out of memory.
 */
bool rk_name_clean(const char *name, size_t len, const struct rk_name_style *style,
		   struct rk_bytes *out);

/* Replaces the string column `field`, each distinct name worked on once. Takes over `rows`. */
int rk_names_open(struct rk_source *rows, struct rk_context *ctx, unsigned field,
		  const struct rk_name_style *style, struct rk_source **ret, struct rk_error *err);

#endif
