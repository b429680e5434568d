/*
 * counter_live.h - the counters that an installed rocprofv3-avail reports.
 *
 * The shipped table describes the releases that we know. The installed profiler knows what it can
 * collect, on chips that came after us, too: for its target, its list replaces the table's.
 */
#ifndef RK_COUNTER_LIVE_H
#define RK_COUNTER_LIVE_H

#include "base/error.h"
#include "counters/counter_table.h"

enum {
	RK_COUNTER_LIVE_BYTES_MAX = 8 << 20,
	RK_COUNTER_LIVE_MAX = 4096, /* counters of a target; the rest is ignored */
};

/*
 * Reads the output of `rocprofv3-avail info --pmc`. *ret is the table `base` with the counters of
 * `arch` ("gfx942") replaced by those of the first GPU with that name; NULL if there is none. A
 * target that is new to us gets the limits of its family, or two counters per block. Free it with
 * rk_counter_table_free.
 */
int rk_counter_live_parse(const struct rk_counter_table *base, const char *text, size_t len,
			  const char *arch, struct rk_counter_table **ret, struct rk_error *err);

/*
 * The same for the shipped table and from the program itself, which is started and has half a minute. RK_E_IO or
 * RK_E_UNSUPPORTED if it cannot be started, fails or prints too much.
 */
int rk_counter_live_ask(const char *program, const char *arch, struct rk_counter_table **ret,
			struct rk_error *err);

#endif
