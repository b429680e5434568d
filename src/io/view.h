/* view.h - bytes of a file seen in place, for those who jump about in them. */
#ifndef RK_VIEW_H
#define RK_VIEW_H

#include "io/file.h"

/*
 * Mapped, so that a library of gigabytes costs the pages that are looked at. Nobody may shorten the
 * file meanwhile: reading behind its end would be a SIGBUS.
 */
struct rk_view {
	const void *data; /* "" when len is 0 */
	size_t len;
	void *map;
	size_t map_len;
};

int rk_view_file(struct rk_file *f, struct rk_view *ret, struct rk_error *err);
/* A part of a spill. */
int rk_view_spill(struct rk_spill *s, uint64_t offset, size_t len, struct rk_view *ret,
		  struct rk_error *err);
void rk_view_close(struct rk_view *v); /* and zeroes it; a zeroed one is fine */

/* For view.c. */
int rk_spill_fd(const struct rk_spill *s);

#endif
