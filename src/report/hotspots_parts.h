/* hotspots_parts.h - hotspots as text, JSON and CSV. */
#ifndef RK_HOTSPOTS_PARTS_H
#define RK_HOTSPOTS_PARTS_H

#include "base/bytes.h"
#include "rockit/hotspots.h"

/* "pc_samples", "thread_trace" */
const char *rk_hotspot_from_name(enum rk_hotspot_from from);

/* Each appends to `out`; whoever calls looks at out->bad. */
void rk_hotspots_json(struct rk_bytes *out, const struct rk_hotspots *h);
/* The array alone, its members one line further in; NULL: an empty one. */
void rk_hotspots_json_array(struct rk_bytes *out, const struct rk_hotspots *h);
void rk_hotspots_csv(struct rk_bytes *out, const struct rk_hotspots *h);
void rk_hotspots_text(struct rk_bytes *out, const struct rk_hotspots *h,
		      const struct rk_render_options *look);

#endif
