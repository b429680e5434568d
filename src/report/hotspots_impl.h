/* hotspots_impl.h - hotspots of a run on their way from cells to what the library gives out. */
#ifndef RK_HOTSPOTS_IMPL_H
#define RK_HOTSPOTS_IMPL_H

#include "base/strtab.h"
#include "report/hotspots.h"
#include "rockit/hotspots.h"

/* Fills *ret (zeroed) except for what the trace says. On failure rk_hotspots_free still fits. */
int rk_hotspots_make(const struct rk_hot_cell *cells, size_t n, const struct rk_strtab *names,
		     struct rk_hotspots *ret, struct rk_error *err);

#endif
