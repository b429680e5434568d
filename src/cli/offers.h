/* offers.h - what shells offer for options that take a list; the options take more than this. */
#ifndef RK_OFFERS_H
#define RK_OFFERS_H

#include <stddef.h>

#include "command.h"

/* Each ended by NULL. tests/docs holds them against what the library and data/ have. */
extern const char *const rk_offer_traces[];    /* run -t */
extern const char *const rk_offer_libraries[]; /* run --library-trace */
extern const char *const rk_offer_counters[];  /* run -c, counters --plan: sets and @categories */
extern const char *const rk_offer_groups[];    /* metrics --group */

/* rk_offer_counters for people who ask for help. */
#define RK_COUNTER_WORDS_HELP                                                                   \
	"categories:  @instructions @waves @memory @cache @compute_unit @lds @stalls @limits\n" \
	"             @resources; 'rockit counters @cache' lists one\n"                         \
	"sets:        compute_bound memory_bound communication_bound full_profile\n"            \
	"             instruction_mix\n"

/* Options of rocprof, rocprofv2 and rocprofv3 as 'rockit run' has them. */
extern const struct rk_foreign rk_rocprof_options[];

/* The i-th thing that monitors sample, NULL past the end. */
const char *rk_sensor_word(size_t i);

#endif
