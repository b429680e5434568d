/* report_span.c - from the first start of a kernel to the last end. */
#include "report/report_parts.h"
#include "rockit/ranks.h"

static double on_reference(const struct rk_ranks *r, const struct rk_ranks_rank *k,
			   int64_t local_ns)
{
	double since = (double)local_ns - (double)k->offset_ns - (double)r->base_ns;

	return since / (1 + k->drift_ppm * 1e-6);
}

/* Over ranks whose clocks are known against each other; of a single one it is exact. */
double rk_report_span_ns(const struct rk_report *r)
{
	double first = 0, last = 0, span = (double)r->max_end_ns - (double)r->min_start_ns;
	bool moved = false, any = false;

	for (size_t i = 0; r->ranks && i < r->ranks->nranks; i++) {
		const struct rk_ranks_rank *k = &r->ranks->ranks[i];
		double from = on_reference(r->ranks, k, k->first_ns);
		double to = on_reference(r->ranks, k, k->last_ns);

		moved |= k->clock != RK_CLOCK_SAME;
		if (!k->kernels || k->clock == RK_CLOCK_ALONE)
			continue;
		first = !any || from < first ? from : first;
		last = !any || to > last ? to : last;
		any = true;
	}
	return moved && any ? last - first : span;
}
