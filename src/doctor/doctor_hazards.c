/* doctor_hazards.c - known faults of the profilers that are here, on the GPUs that are here. */
#include <string.h>

#include "doctor/doctor_impl.h"
#include "tool/detect.h"
#include "tool/hazards.h"
#include "tool/tool.h"

/* The newest release whose options and files are known; later ones are spoken to like it. */
enum { NEWEST_MAJOR = 10, NEWEST_MINOR = 0 };

static struct rk_version release_of(const struct rk_tool_found *t)
{
	struct rk_version v = { 0 };

	rk_version_parse(t->rocm, &v);
	return v;
}

/* A successor of rocprofv3 by name, or a release that came out after this rockit. */
static void look_at_newer(struct rk_look *l)
{
	for (size_t i = 0; i < l->d->tools.n; i++) {
		const struct rk_tool_found *t = &l->d->tools.tools[i];
		bool successor = strncmp(t->name, "rocprofv", 8) == 0 && t->name[8] > '3';
		struct rk_version v = release_of(t);

		if (!t->first)
			continue;
		if (successor)
			rk_look_say(l, "newer", RK_DOCTOR_INFO, t->name,
				    "%s is newer than this rockit, which cannot drive it", t->name);
		else if (strcmp(t->name, "rocprofv3") == 0 && rk_version_known(v) &&
			 rk_version_since(v, NEWEST_MAJOR, NEWEST_MINOR + 1))
			rk_look_say(
				l, "newer", RK_DOCTOR_INFO, t->name,
				"ROCm %s is newer than this rockit: rocprofv3 is told what that "
				"of ROCm %d.%d understood",
				t->rocm, NEWEST_MAJOR, NEWEST_MINOR);
	}
}

/* What holds for every release and chip is a rule; what holds here and not elsewhere, a warning. */
static bool is_special(const struct rk_hazard *h)
{
	return h->arch[0] || rk_version_known(h->from) || rk_version_known(h->until);
}

/*
 * The power level was looked at itself, for RDNA's counters (doctor_gpus.c): what holds for the
 * chip whatever its level would only repeat it, or be wrong.
 */
static bool is_seen_to(const struct rk_hazard *h)
{
	return strstr(h->text, "STABLE_STD") != NULL;
}

/* Several chips, or two names of one, may meet the same. */
static bool is_said(const struct rk_look *l, const char *tool, const char *text)
{
	for (size_t i = 0; i < l->d->nchecks; i++)
		if (strcmp(l->d->checks[i].subject, tool) == 0 &&
		    strcmp(l->d->checks[i].text, text) == 0)
			return true;
	return false;
}

static void look_at_chip(struct rk_look *l, const char *tool, struct rk_version v, const char *gfx)
{
	const struct rk_hazard *h;
	size_t at = 0;

	while (!l->bad && (h = rk_hazards_next(tool, v, gfx, &at)) != NULL)
		if (!is_seen_to(h) && !is_said(l, tool, h->text))
			rk_look_say(l, "hazard", is_special(h) ? RK_DOCTOR_WARN : RK_DOCTOR_INFO,
				    tool, "%s", h->text);
}

static void look_at_tool(struct rk_look *l, const char *tool, struct rk_version v)
{
	const struct rk_gpu *gpu;

	/* What holds for every chip, before what holds for some. */
	look_at_chip(l, tool, v, "");
	for (size_t i = 0; (gpu = rk_look_amd(l, i)) != NULL; i++)
		look_at_chip(l, tool, v, gpu->gfx);
}

/* Of the three rocprofs only the one that is used; the two others answer other questions. */
static bool is_passed_over(const struct rk_look *l, const char *tool,
			   const struct rk_tool_found *found)
{
	bool old = strcmp(tool, "rocprofv2") == 0 || strcmp(tool, "rocprof") == 0;

	return old && found != rk_look_best(l);
}

void rk_look_hazards(struct rk_look *l)
{
	look_at_newer(l);
	for (const struct rk_tool_ops *const *t = rk_tools; *t; t++) {
		const struct rk_tool_found *found = rk_detect_best(&l->d->tools, (*t)->name);

		if (found && found->usable && !is_passed_over(l, (*t)->name, found))
			look_at_tool(l, (*t)->name, release_of(found));
	}
}
