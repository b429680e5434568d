/* path_map.c - see path_map.h. Open addressing, at most half full. */
#include "pack/path_map.h"

#include <string.h>

#include "base/alloc.h"
#include "base/map.h"

struct rk_path_slot {
	const char *path; /* NULL: free */
	size_t len, value;
};

/* The slot that has the path, or the free one where it would go. */
static struct rk_path_slot *slot_of(const struct rk_path_map *m, const char *path, size_t len)
{
	size_t at = (size_t)rk_hash_bytes(path, len) & (m->cap - 1);
	struct rk_path_slot *s;

	for (;; at = (at + 1) & (m->cap - 1)) {
		s = &m->slots[at];
		if (!s->path || (s->len == len && memcmp(s->path, path, len) == 0))
			return s;
	}
}

ptrdiff_t rk_path_map_find(const struct rk_path_map *m, const char *path, size_t len)
{
	const struct rk_path_slot *s = m->cap ? slot_of(m, path, len) : NULL;

	return s && s->path ? (ptrdiff_t)s->value : RK_PATH_NONE;
}

static int grow(struct rk_path_map *m, struct rk_error *err)
{
	struct rk_path_map bigger = { .n = m->n, .cap = m->cap ? m->cap * 2 : 256 };

	bigger.slots = rk_calloc(bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < m->cap; i++)
		if (m->slots[i].path)
			*slot_of(&bigger, m->slots[i].path, m->slots[i].len) = m->slots[i];
	rk_free(m->slots);
	*m = bigger;
	return 0;
}

int rk_path_map_put(struct rk_path_map *m, const char *path, size_t value, struct rk_error *err)
{
	size_t len = strlen(path);
	struct rk_path_slot *s;

	if (m->n >= m->cap / 2 && grow(m, err) < 0)
		return RK_E_NOMEM;
	s = slot_of(m, path, len);
	m->n += !s->path;
	*s = (struct rk_path_slot){ .path = path, .len = len, .value = value };
	return 0;
}

void rk_path_map_release(struct rk_path_map *m)
{
	rk_free(m->slots);
	*m = (struct rk_path_map){ 0 };
}
