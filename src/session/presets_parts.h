/* presets_parts.h - the ways to write presets down; each appends to `out`. */
#ifndef RK_PRESETS_PARTS_H
#define RK_PRESETS_PARTS_H

#include "base/bytes.h"
#include "rockit/preset.h"

/* One line a preset. */
void rk_presets_text(struct rk_bytes *out, const struct rk_preset *const *presets, size_t n);
/* One preset in full. */
void rk_preset_text(struct rk_bytes *out, const struct rk_preset *p);
/* {"schema", "presets": [...]}, or {"schema", "preset": {...}} of the only one. */
void rk_presets_json(struct rk_bytes *out, const struct rk_preset *const *presets, size_t n,
		     bool full);
void rk_presets_csv(struct rk_bytes *out, const struct rk_preset *const *presets, size_t n);

#endif
