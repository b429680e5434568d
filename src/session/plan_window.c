/*
 * plan_window.c - options of our own collectors: which parts of the execution are recorded, whether
 * only the newest records are kept, and when rockit makes a copy of them.
 */
#include <string.h>

#include "base/list.h"
#include "base/num.h"
#include "session/plan.h"

enum {
	WINDOW_BYTES = 512 << 20,
	LEAST_BYTES = 1 << 20,
	KEEP = 10,
	MOST_KEPT = 999, /* snap-999 */
	MOST_PERCENT = 1000000,
	MOST_GAP_MS = 3600 * 1000,
};

bool rk_plan_switches(const struct rk_plan *p)
{
	return p->tool->library &&
	       (p->delay_s || p->duration_s || (p->window.every_of && !p->range));
}

/* "N:M", N of M; false: something else. */
static bool read_every(const char *text, struct rk_plan_window *w)
{
	const char *colon = strchr(text, ':');

	return colon && rk_num_u64(text, (size_t)(colon - text), &w->every_on) == RK_NUM_OK &&
	       rk_num_u64(colon + 1, strlen(colon + 1), &w->every_of) == RK_NUM_OK && w->every_on &&
	       w->every_on < w->every_of && w->every_of <= UINT32_MAX;
}

/* A number from 1 to `most` and its unit. */
static bool read_amount(const char *text, const char *unit, uint64_t most, uint64_t *ret)
{
	size_t len = strlen(text), n = strlen(unit);

	return len > n && !strcmp(text + len - n, unit) &&
	       rk_num_u64(text, len - n, ret) == RK_NUM_OK && *ret && *ret <= most;
}

static int read_trigger(const char *word, struct rk_plan_window *w, struct rk_error *err)
{
	const char *colon = strchr(word, ':');
	size_t len = colon ? (size_t)(colon - word) : strlen(word);

	if (!strcmp(word, "signal"))
		w->on_signal = true;
	else if (!strcmp(word, "crash"))
		w->on_crash = true;
	else if (len == strlen("slow-step") && !strncmp(word, "slow-step", len)) {
		if (!colon || !read_amount(colon + 1, "%", MOST_PERCENT, &w->slow_percent))
			return rk_fail(err, RK_E_USAGE,
				       "--snap-on slow-step takes a percentage: slow-step:20%%");
	} else if (len == strlen("gap") && !strncmp(word, "gap", len)) {
		uint64_t s;

		if (colon && read_amount(colon + 1, "ms", MOST_GAP_MS, &w->gap_ms))
			return 0;
		if (!colon || !read_amount(colon + 1, "s", MOST_GAP_MS / 1000, &s))
			return rk_fail(err, RK_E_USAGE,
				       "--snap-on gap takes a time: gap:100ms or gap:2s");
		w->gap_ms = s * 1000;
	} else {
		return rk_fail(err, RK_E_USAGE,
			       "unknown trigger '%s' in --snap-on; known: signal, crash, "
			       "slow-step:20%%, gap:100ms",
			       word);
	}
	return 0;
}

static int read_triggers(const char *text, struct rk_plan_window *w, struct rk_error *err)
{
	struct rk_list words = { 0 };
	int rc = 0;

	rk_list_split(&words, text, ", ");
	for (size_t i = 0; rc == 0 && i < words.n; i++)
		rc = read_trigger(words.v[i], w, err);
	if (rc == 0 && words.bad)
		rc = rk_fail_nomem(err);
	else if (rc == 0 && !words.n)
		rc = rk_fail(err, RK_E_USAGE,
			     "--snap-on needs a trigger: signal, crash, slow-step:20%%, gap:100ms");
	rk_list_release(&words);
	return rc;
}

/* What only a window has. */
static int check_no_window(const struct rk_session_options *opt, struct rk_error *err)
{
	const struct {
		bool given;
		const char *option;
	} options[] = {
		{ opt->max_size, "--max-size" },
		{ opt->last_s, "--last" },
		{ opt->snap_on, "--snap-on" },
		{ opt->keep, "--keep" },
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (options[i].given)
			return rk_fail(err, RK_E_USAGE, "%s needs --window", options[i].option);
	return 0;
}

static int plan_ring(const struct rk_session_options *opt, struct rk_plan *p, struct rk_error *err)
{
	struct rk_plan_window *w = &p->window;
	int rc;

	if (opt->max_size && opt->max_size < LEAST_BYTES)
		return rk_fail(err, RK_E_USAGE, "--max-size must be at least 1M");
	if (opt->keep > MOST_KEPT)
		return rk_fail(err, RK_E_USAGE, "--keep can be at most %d", MOST_KEPT);
	/* counters come from other executions of the program, which nothing relates to this one */
	if (p->want.counters[0] && !p->tool->one_run)
		return rk_fail(err, RK_E_USAGE,
			       "--window cannot be combined with counters (-c, -i or the "
			       "preset's); use two runs");
	w->bytes = opt->max_size ? opt->max_size : WINDOW_BYTES;
	w->record = opt->record;
	w->last_s = opt->last_s;
	w->keep = opt->keep ? opt->keep : KEEP;
	if (!opt->snap_on)
		return 0;
	rc = read_triggers(opt->snap_on, w, err);
	if (rc < 0)
		return rc;
	if (w->slow_percent && !p->range)
		return rk_fail(err, RK_E_USAGE,
			       "--snap-on slow-step needs --range NAME, the range that is a step");
	if (w->slow_percent && opt->every)
		return rk_fail(err, RK_E_USAGE,
			       "--snap-on slow-step compares all steps, so it cannot be combined "
			       "with --every");
	/* what is between the ranges is not recorded, and would look like a gap */
	if (w->gap_ms && p->range && !w->slow_percent)
		return rk_fail(err, RK_E_USAGE,
			       "--snap-on gap needs all kernels, so it cannot be combined with "
			       "--range");
	/* steps are markers, and what happens between them is wanted too */
	if (w->slow_percent)
		p->want.traces |= RK_TRACE_MARKER;
	return 0;
}

int rk_plan_window(const struct rk_session_options *opt, struct rk_plan *p, struct rk_error *err)
{
	if (opt->every && !read_every(opt->every, &p->window))
		return rk_fail(err, RK_E_USAGE,
			       "--every takes N:M with N less than M, such as 5:60, not '%s'",
			       opt->every);
	p->window.sample = opt->sample;
	if (opt->window || opt->record)
		return plan_ring(opt, p, err);
	return check_no_window(opt, err);
}
