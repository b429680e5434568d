/* fuzz_counter_live.c - what rocprofv3-avail prints. */
#include <stdint.h>
#include <stdlib.h>

#include "counters/counter_live.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Small, because the table is written and read again for each input. */
static const char base_text[] = "target gfx942 gfx9 MI300X\ntarget gfx1153 gfx11\n"
				"limit gfx9 SQ=8 TCC=4\nconstant cu_count | units\n"
				"SQ_WAVES | SQ + | gfx942 gfx1153 | waves\n"
				"Occ | = SQ_WAVES@HIGH | gfx1153 | occupancy\n";

/* A table in which every counter of the target has a block or inputs that exist, or an error. */
static void read_for(const struct rk_counter_table *base, const uint8_t *data, size_t size,
		     const char *arch)
{
	struct rk_counter_table *t = NULL;
	const struct rk_counter_target *target;
	const struct rk_counter_entry *e;
	struct rk_error err = { 0 };
	int rc = rk_counter_live_parse(base, (const char *)data, size, arch, &t, &err);

	if (rc < 0 ? t || err.code != rc || !err.message[0] : 0)
		abort();
	if (!t)
		return;
	target = rk_counter_table_target_find(t, arch);
	if (!target || target->ncounters > 2 * RK_COUNTER_LIVE_MAX)
		abort();
	for (size_t i = 0; i < target->ncounters; i++) {
		e = rk_counter_table_at(t, target->counters[i]);
		if (!e || !e->pub.derived != (e->pub.block[0] != '\0'))
			abort();
		for (const char *const *n = e->pub.needs; n && *n; n++)
			if (!rk_counter_table_find(t, target, rk_piece_of(*n)))
				abort();
	}
	rk_counter_table_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct rk_counter_table *base;

	if (!base && rk_counter_table_parse(base_text, sizeof(base_text) - 1, &base, NULL) < 0)
		abort();
	read_for(base, data, size, "gfx942");
	read_for(base, data, size, "gfx1170");
	return 0;
}
