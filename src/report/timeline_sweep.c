/* timeline_sweep.c - see timeline_sweep.h. */
#include "report/timeline_sweep.h"

#include <math.h>

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* What [from, to) adds. */
static void extend(int64_t *sum, int64_t from, int64_t to)
{
	if (to > from)
		*sum += to - from;
}

static void add_gap(struct rk_sweep_device *d, int64_t from, int64_t to)
{
	if (to <= from)
		return;
	d->facts.gaps++;
	d->facts.idle_ns += to - from;
	if (to - from > d->facts.longest_gap_ns) {
		d->facts.longest_gap_ns = to - from;
		d->facts.longest_gap_at_ns = from;
	}
}

static void begin(struct rk_sweep_device *d, int64_t start)
{
	d->begun = true;
	d->first = d->last = d->kernels_until = d->copies_until = start;
}

/*
 * New for kernels is what lies behind kernels_until; of that a copy covers what lies before
 * copies_until. What a later copy covers as well is found when that copy comes.
 */
static void cover(struct rk_sweep_device *d, const struct rk_stretch *s, int64_t *until,
		  int64_t other_until, int64_t *sum)
{
	int64_t from = later(s->start, *until);

	extend(sum, from, s->end);
	extend(&d->facts.overlap_ns, from, earlier(s->end, other_until));
	*until = later(*until, s->end);
}

/* Kernels that overlap by the thousand may take longer together than there is time. */
static void add_kernel_time(struct rk_sweep_device *d, int64_t duration)
{
	if (__builtin_add_overflow(d->facts.kernel_ns, duration, &d->facts.kernel_ns))
		d->facts.kernel_ns = INT64_MAX;
}

static bool fold(struct rk_sweep *w)
{
	if (w->store.folded || ++w->held <= RK_MEDIAN_EXACT_MAX)
		return true;
	w->store.folded = true;
	for (size_t i = 0; i < w->ndevices; i++)
		if (!rk_durations_fold(&w->store, &w->devices[i].gaps))
			return false;
	return true;
}

static bool follow_queue(struct rk_sweep *w, struct rk_sweep_device *d, const struct rk_stretch *s)
{
	struct rk_sweep_queue *q = &w->queues[s->queue];
	int64_t gap = q->begun ? s->start - q->until : 0;

	q->until = q->begun ? later(q->until, s->end) : s->end;
	q->begun = true;
	if (gap <= 0 || gap >= RK_LAUNCH_GAP_NS)
		return true;
	d->facts.launch_gaps++;
	d->facts.launch_gap_ns += gap;
	return rk_durations_add(&w->store, &d->gaps, gap) && fold(w);
}

bool rk_sweep_add(struct rk_sweep *w, const struct rk_stretch *s)
{
	struct rk_sweep_device *d = &w->devices[s->device];
	bool copy = s->queue == RK_QUEUE_COPY;

	/* what starts and ends at 0 has no known time: the span begins with the first that has one */
	if (!d->begun || (!d->first && !d->last))
		begin(d, s->start);
	d->last = later(d->last, s->end);
	d->facts.copies += copy;
	d->facts.kernels += !copy;
	if (s->end == s->start) /* takes no time: parts no gap either */
		return true;
	add_gap(d, later(d->kernels_until, d->copies_until), s->start);
	if (copy) {
		cover(d, s, &d->copies_until, d->kernels_until, &d->facts.copy_ns);
		return true;
	}
	add_kernel_time(d, s->end - s->start);
	cover(d, s, &d->kernels_until, d->copies_until, &d->facts.busy_ns);
	return s->queue == RK_QUEUE_NONE || follow_queue(w, d, s);
}

bool rk_sweep_finish(struct rk_sweep *w)
{
	for (size_t i = 0; i < w->ndevices; i++) {
		struct rk_sweep_device *d = &w->devices[i];

		d->facts.median_launch_gap_ns = NAN;
		if (!d->begun)
			continue;
		add_gap(d, later(d->kernels_until, d->copies_until), d->last);
		d->facts.span_ns = d->last - d->first;
		if (!rk_durations_settle(&w->store, &d->gaps))
			return false;
		rk_durations_median(&d->gaps, &d->facts.median_launch_gap_ns);
	}
	return true;
}
