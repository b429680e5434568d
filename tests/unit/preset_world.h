/* preset_world.h - lists of a preset, to look at. */
#ifndef RK_PRESET_WORLD_H
#define RK_PRESET_WORLD_H

#include <stdbool.h>
#include <string.h>

#include "rockit/preset.h"
#include "tap.h"
#include "tool/tool.h"

static inline bool has(const char *const *list, const char *word)
{
	for (; *list; list++)
		if (strcmp(*list, word) == 0)
			return true;
	return false;
}

static inline size_t count(const char *const *list)
{
	size_t n = 0;

	while (list[n])
		n++;
	return n;
}

/* The traces of a preset as bits; each word once. */
static inline unsigned traces_of(const struct rk_preset *p)
{
	unsigned all = 0, bit;

	for (const char *const *w = p->traces; *w; w++) {
		CHECK(rk_trace_parse(*w, &bit, NULL) == 0);
		CHECK(!(all & bit));
		all |= bit;
	}
	return all;
}

#endif
