/* fuzz_metric_defs.c - files of metric definitions, ours and rocprofiler-sdk's, JSON and YAML. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/formula/defs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was accepted is whole: every metric has its texts and can be found. */
static void check_set(const struct rk_metric_set *s)
{
	for (size_t i = 0; i < s->ndefs; i++) {
		const struct rk_metric_def *m = &s->defs[i];

		if (!m->id[0] || !m->group || !m->unit || !m->help || !m->pass || !m->expr)
			abort();
		if (rk_metric_def_find(s, m->id) != m)
			abort();
		(void)rk_metric_case_for(m->expr, "gfx942");
		(void)rk_metric_case_for(m->peak, "gfx1100");
		(void)rk_metric_archs_has(m->archs, "gfx90a");
		(void)rk_metric_reason_for(s, m, "gfx1100");
	}
	for (size_t i = 0; i < s->nterms; i++)
		if (rk_metric_term_for(s, s->terms[i].name, "gfx942") !=
		    rk_metric_case_for(s->terms[i].expr, "gfx942"))
			abort();
	for (size_t i = 0; i < s->nchecks; i++)
		if (!s->checks[i].over || !s->checks[i].under || !s->checks[i].text ||
		    s->checks[i].slack < 0)
			abort();
}

static void read_as(const uint8_t *data, size_t size, const char *name)
{
	struct rk_metric_set *s = NULL;
	struct rk_error err = { 0 };
	int rc = rk_metric_set_parse((const char *)data, size, name, &s, &err);

	if (rc == 0 ? !s : s || err.code != rc || !err.message[0])
		abort();
	if (s)
		check_set(s);
	rk_metric_set_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_as(data, size, "a.json");
	read_as(data, size, "a.yaml");
	return 0;
}
