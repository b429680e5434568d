/*
 * align_world.h - ranks with clocks of their own in an invented job, and the truth about them.
 *
 * Steps of some collectives. Each rank computes for a while that varies, arrives, waits for the last,
 * and all end together but for jitter with a heavy tail. What was recorded may miss the beginning, the
 * end and some between, and have calls of its own.
 */
#ifndef RK_ALIGN_WORLD_H
#define RK_ALIGN_WORLD_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ranks/align.h"

struct align_job {
	size_t ranks, per_node, steps, per_step;
	double offset_s, drift_ppm; /* largest, either way */
	double step_ns, vary;       /* compute between two collectives; share of it that varies */
	double wire_ns, jitter_ns;
	double lag_ns;      /* a rank always ends later than it could, by at most so much */
	double straggle;    /* how often a rank is late by milliseconds */
	double miss, extra; /* how often a call is not recorded, or one of another kind is */
	size_t miss_first, miss_last; /* at most so many calls */
	int64_t snapshot_error_ns;    /* -1: no snapshots */
	int64_t stamp_error_ns;
	size_t jump_rank; /* whose clock jumps, by jump_ns in the middle; 0: nobody's */
	double jump_ns;
	double bend_ppm; /* of all clocks but the first, from the middle on */
	uint64_t seed;
};

struct align_clock {
	double offset, drift;
};

struct align_world {
	struct align_job job;
	uint64_t x;
	size_t n;
	struct rk_align_input *in;
	struct rk_align_rank *out;
	struct align_clock *clocks; /* by rank; those of a node are equal */
	double *ready, *arrive, *lag;
	double middle; /* when clocks jump and bend */
};

#define ALIGN_EPOCH INT64_C(1700000000000000000)

static inline double align_random(struct align_world *w)
{
	w->x ^= w->x << 13;
	w->x ^= w->x >> 7;
	w->x ^= w->x << 17;
	return (double)(w->x >> 11) / 9007199254740992.0;
}

static inline double align_either(struct align_world *w, double most)
{
	return most * (2 * align_random(w) - 1);
}

/* Most are near `usual`, one in a hundred is twenty times that and more. */
static inline double align_tail(struct align_world *w, double usual)
{
	double u = align_random(w);
	double v = -usual * log(1 - 0.999999 * u);

	return align_random(w) < 0.01 ? v + 20 * usual / (0.02 + align_random(w)) : v;
}

/* What the clock of a rank says at true time t, without error. */
static inline double align_ahead(const struct align_world *w, size_t rank, double t)
{
	const struct align_clock *c = &w->clocks[rank];
	double ahead = c->offset + c->drift * t;

	if (t > w->middle && rank && rank == w->job.jump_rank)
		ahead += w->job.jump_ns;
	if (t > w->middle && rank >= w->job.per_node)
		ahead += w->job.bend_ppm * 1e-6 * (t - w->middle);
	return ahead;
}

static inline int64_t align_clock(const struct align_world *w, size_t rank, double t)
{
	return ALIGN_EPOCH + (int64_t)llround(t) + (int64_t)llround(align_ahead(w, rank, t));
}

static inline void align_record(struct align_world *w, size_t rank, double start, double end,
				uint64_t sig)
{
	struct rk_align_call *c = (struct rk_align_call *)(void *)(uintptr_t)w->in[rank].calls;
	size_t n = w->in[rank].ncalls++;
	double e = (double)w->job.stamp_error_ns;

	c[n].start_ns = align_clock(w, rank, start) + (int64_t)align_either(w, e);
	c[n].end_ns = align_clock(w, rank, end) + (int64_t)align_either(w, e);
	if (c[n].end_ns < c[n].start_ns)
		c[n].end_ns = c[n].start_ns;
	if (n && c[n].end_ns < c[n - 1].end_ns)
		c[n].end_ns = c[n - 1].end_ns;
	c[n].sig = sig;
}

static inline void align_collective(struct align_world *w, size_t k, uint64_t sig)
{
	const struct align_job *j = &w->job;
	double last = 0, common = j->step_ns * (1 + align_either(w, j->vary));

	for (size_t i = 0; i < w->n; i++) {
		w->arrive[i] = w->ready[i] + common + align_tail(w, j->step_ns / 50);
		if (align_random(w) < j->straggle)
			w->arrive[i] += 5e6 * align_random(w);
		last = fmax(last, w->arrive[i]);
	}
	last += j->wire_ns * (1 + 0.2 * align_random(w));
	for (size_t i = 0; i < w->n; i++) {
		size_t all = j->steps * j->per_step;
		size_t skip = j->miss_first ? i * 7919 % (j->miss_first + 1) : 0;
		size_t stop = all - (j->miss_last ? i * 104729 % (j->miss_last + 1) : 0);

		w->ready[i] = last + w->lag[i] + align_tail(w, j->jitter_ns);
		if (k >= skip && k < stop && align_random(w) >= j->miss)
			align_record(w, i, w->arrive[i], w->ready[i], sig);
		if (align_random(w) < j->extra) {
			double from = w->ready[i];

			w->ready[i] += j->wire_ns;
			align_record(w, i, from + j->wire_ns / 4, w->ready[i],
				     align_random(w) < 0.5 ? sig :
							     rk_align_sig(RK_ALIGN_ALL, 9, 9, 9));
		}
	}
}

static inline void align_snapshots(struct align_world *w, size_t rank, double end)
{
	struct rk_align_snapshot *s = calloc(2, sizeof(*s));
	double e = (double)w->job.snapshot_error_ns;

	for (int i = 0; i < 2; i++) {
		double t = i ? end : 0;

		s[i].clock_ns = align_clock(w, rank, t);
		s[i].real_ns = ALIGN_EPOCH + (int64_t)(t + align_either(w, e));
		s[i].error_ns = w->job.snapshot_error_ns;
	}
	w->in[rank].snapshots = s;
	w->in[rank].nsnapshots = 2;
}

static inline void align_world_open(struct align_world *w, const struct align_job *job)
{
	size_t all = job->steps * job->per_step;

	*w = (struct align_world){ .job = *job, .x = job->seed * 2654435761u + 88172645463325252u };
	w->n = job->ranks;
	w->in = calloc(w->n, sizeof(*w->in));
	w->out = calloc(w->n, sizeof(*w->out));
	w->clocks = calloc(w->n, sizeof(*w->clocks));
	w->ready = calloc(w->n, sizeof(*w->ready));
	w->arrive = calloc(w->n, sizeof(*w->arrive));
	w->lag = calloc(w->n, sizeof(*w->lag));
	w->middle = (double)all * job->step_ns / 2;
	for (size_t i = 0; i < w->n; i++) {
		w->in[i].rank = (int64_t)i;
		w->in[i].node = (uint32_t)(i / job->per_node);
		w->in[i].stamp_error_ns = job->stamp_error_ns;
		w->in[i].calls = calloc(2 * all + 1, sizeof(struct rk_align_call));
		w->clocks[i].offset = align_either(w, job->offset_s * 1e9);
		w->clocks[i].drift = align_either(w, job->drift_ppm * 1e-6);
		w->lag[i] = job->lag_ns > 0 ? job->lag_ns * align_random(w) : 0;
		if (i % job->per_node)
			w->clocks[i] = w->clocks[i - 1];
	}
	for (size_t k = 0; k < all; k++) {
		size_t kind = k % job->per_step;

		align_collective(w, k,
				 rk_align_sig(RK_ALIGN_ALL, kind % 3, 1, (int64_t)(kind / 2)));
	}
	for (size_t i = 0; i < w->n && job->snapshot_error_ns >= 0; i++)
		align_snapshots(w, i, w->ready[0]);
}

static inline void align_world_close(struct align_world *w)
{
	for (size_t i = 0; i < w->n; i++) {
		free((void *)(uintptr_t)w->in[i].calls);
		free((void *)(uintptr_t)w->in[i].snapshots);
	}
	free(w->in);
	free(w->out);
	free(w->clocks);
	free(w->ready);
	free(w->arrive);
	free(w->lag);
}

static inline int align_world_solve(struct align_world *w, size_t reference, struct rk_error *err)
{
	struct rk_align_options opt = { .reference = reference };

	return rk_align(w->in, w->n, &opt, w->out, err);
}

/* How wrong the alignment of a rank is at true time t. */
static inline double align_wrong(const struct align_world *w, size_t rank, size_t reference,
				 double t)
{
	int64_t got = rk_align_to_reference(&w->out[rank], align_clock(w, rank, t));

	return fabs((double)(got - align_clock(w, reference, t)));
}

/* The largest of it between the rank's first and last record. */
static inline double align_worst(const struct align_world *w, size_t rank, size_t reference)
{
	const struct rk_align_input *in = &w->in[rank];
	double worst = 0;

	for (int i = 0; i <= 16 && in->ncalls; i++) {
		int64_t local = in->calls[0].start_ns +
				(in->calls[in->ncalls - 1].end_ns - in->calls[0].start_ns) / 16 * i;
		double t = (double)(local - ALIGN_EPOCH);

		/* The inverse of align_clock, to far less than a nanosecond. */
		for (int n = 0; n < 4; n++)
			t = (double)(local - ALIGN_EPOCH) - align_ahead(w, rank, t);
		worst = fmax(worst, align_wrong(w, rank, reference, t));
	}
	return worst;
}

#endif
