/* session_recorder.c - what the flight recorders of a session say about themselves. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "io/walk.h"
#include "read/rkraw/rkraw_reader.h"
#include "session/session_impl.h"

static void drop(struct rk_session *s, const char *what, uint64_t n, const char *why)
{
	char text[160];

	snprintf(text, sizeof(text), "%" PRIu64 ": %s", n, why);
	rk_list_set(&s->record.dropped, what, text);
}

static void add_lost(struct rk_session *s, const struct rk_rkraw_info *info)
{
	static const char *const reasons[RK_RAW_REASONS] = {
		[RK_RAW_FULL] = "the file had reached its limit (--tool-args limit=SIZE)",
		[RK_RAW_DISK] = "the disk was full or could not be written",
		[RK_RAW_REENTRY] = "a signal handler called during a call",
		[RK_RAW_NAMES] = "there were too many names",
		[RK_RAW_BUSY] = "every block was being written",
		[RK_RAW_SOURCE] = "the vendor's runtime lost them itself",
	};

	for (unsigned i = 0; i < RK_RAW_REASONS; i++)
		if (info->dropped_for[i])
			drop(s, "records", info->dropped_for[i],
			     reasons[i] ? reasons[i] : "reason not known");
	if (info->pending)
		drop(s, "operations", info->pending, "they were under way at the end");
	if (info->note[0])
		rk_list_set(&s->record.dropped, info->collector, info->note);
	/* CUPTI has its records until it is flushed, and does not say how many there are. */
	if (!info->clean && !strcmp(info->collector, "cupti"))
		rk_list_set(&s->record.dropped, "end",
			    "a process did not end in order: what CUPTI had not handed over "
			    "(--tool-args flush=MS) is not there");
}

/* Kernels that a program launched and that are in no file are told, and so is the clocks' error. */
void rk_session_recorders(struct rk_session *s)
{
	struct rk_error err = { 0 };
	struct rk_rkraw_info info;
	struct rk_walk w = { 0 };

	if (!s->plan->tool->library || !rk_is_dir(s->plan->raw_dir) ||
	    rk_walk_dir(s->plan->raw_dir, &w, &err) < 0)
		return;
	for (size_t i = 0; i < w.n; i++) {
		if (!rk_text_ends(w.paths[i], strlen(w.paths[i]), ".rkraw") ||
		    rk_rkraw_info(w.paths[i], &info, NULL) < 0)
			continue;
		if (info.clock_error_ns > s->record.clock_error_ns)
			s->record.clock_error_ns = info.clock_error_ns;
		add_lost(s, &info);
	}
	rk_walk_release(&w);
}
