/* view.c - see view.h. */
#include "io/file.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A mapping begins with a page: `offset` may lie inside one. */
static int map(int fd, uint64_t offset, size_t len, const char *name, struct rk_view *ret,
	       struct rk_error *err)
{
	size_t before = (size_t)(offset % (uint64_t)sysconf(_SC_PAGESIZE));

	*ret = (struct rk_view){ .data = "" };
	if (!len)
		return 0;
	ret->map = mmap(NULL, before + len, PROT_READ, MAP_PRIVATE, fd, (off_t)(offset - before));
	if (ret->map == MAP_FAILED) {
		ret->map = NULL;
		return rk_fail_errno(err, errno, "cannot map '%s'", name);
	}
	ret->map_len = before + len;
	ret->data = (const char *)ret->map + before;
	ret->len = len;
	return 0;
}

int rk_view_file(struct rk_file *f, struct rk_view *ret, struct rk_error *err)
{
	if (f->size > SIZE_MAX / 2)
		return rk_fail(err, RK_E_LIMIT, "'%s' is too large to be mapped", f->path);
	return map(f->fd, 0, (size_t)f->size, f->path, ret, err);
}

int rk_view_spill(struct rk_spill *s, uint64_t offset, size_t len, struct rk_view *ret,
		  struct rk_error *err)
{
	if (offset > rk_spill_size(s) || len > rk_spill_size(s) - offset)
		return rk_fail(err, RK_E_IO, "temporary data end early");
	return map(rk_spill_fd(s), offset, len, "temporary data", ret, err);
}

void rk_view_close(struct rk_view *v)
{
	if (v->map)
		munmap(v->map, v->map_len);
	memset(v, 0, sizeof(*v));
}
