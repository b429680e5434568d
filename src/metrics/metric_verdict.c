/* metric_verdict.c - see metric_verdict.h. */
#include "metrics/metric_verdict.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "metrics/metric_limits.h"

/* ---- the numbers shown with a verdict ---- */

/* The subject of a verdict: numbers about it come first. */
enum about {
	ABOUT_TIME,
	ABOUT_WAVES,
	ABOUT_LINKS,
	ABOUT_MEMORY,
	ABOUT_COMPUTE,
	ABOUT_WAITS,
	ABOUT_ROOF,
};

/* All numbers of the facts, most useful first within each subject. */
static const struct entry {
	const char *name, *unit;
	size_t at;
	enum about about;
	const char *other; /* the name if the memory is not HBM, or NULL */
} entries[] = {
#define AT(f) offsetof(struct rk_verdict_facts, f)
	{ "hbm_pct", "%", AT(level_pct[RK_LEVEL_HBM]), ABOUT_MEMORY, "dram_pct" },
	{ "hbm_side_pct", "%", AT(side_pct), ABOUT_MEMORY, "dram_side_pct" },
	{ "dep_wait_pct", "%", AT(dep_wait_pct), ABOUT_WAITS },
	{ "mean_ns", "ns", AT(mean_ns), ABOUT_TIME },
	{ "occupancy_pct", "%", AT(occupancy_pct), ABOUT_WAITS },
	{ "l2_pct", "%", AT(level_pct[RK_LEVEL_L2]), ABOUT_MEMORY },
	{ "l1_pct", "%", AT(level_pct[RK_LEVEL_L1]), ABOUT_MEMORY },
	{ "lds_pct", "%", AT(level_pct[RK_LEVEL_LDS]), ABOUT_MEMORY },
	{ "flop_pct", "%", AT(flop_pct), ABOUT_COMPUTE },
	{ "valu_busy_pct", "%", AT(valu_busy_pct), ABOUT_COMPUTE },
	{ "mfma_busy_pct", "%", AT(mfma_busy_pct), ABOUT_COMPUTE },
	{ "window_ratio", "", AT(window_ratio), ABOUT_COMPUTE },
	{ "gap_share", "", AT(gap_share), ABOUT_TIME },
	{ "median_ns", "ns", AT(median_ns), ABOUT_TIME },
	{ "remote_pct", "%", AT(remote_pct), ABOUT_LINKS },
	{ "link_stall_pct", "%", AT(link_stall_pct), ABOUT_LINKS },
	{ "issue_wait_pct", "%", AT(issue_wait_pct), ABOUT_WAITS },
	{ "lanes_on", "lanes", AT(lanes_on), ABOUT_WAITS },
	{ "vmem_latency", "cycles", AT(vmem_latency), ABOUT_WAITS },
	{ "intensity", "FLOP/B", AT(intensity), ABOUT_ROOF },
	{ "ridge", "FLOP/B", AT(ridge), ABOUT_ROOF },
	{ "no_waveslot_pct", "%", AT(no_waveslot_pct), ABOUT_WAITS },
	{ "no_vgpr_pct", "%", AT(no_vgpr_pct), ABOUT_WAITS },
	{ "no_sgpr_pct", "%", AT(no_sgpr_pct), ABOUT_WAITS },
	{ "no_lds_pct", "%", AT(no_lds_pct), ABOUT_WAITS },
	{ "no_barrier_pct", "%", AT(no_barrier_pct), ABOUT_WAITS },
	{ "waves", "waves", AT(waves), ABOUT_WAVES },
	{ "cus", "CUs", AT(cus), ABOUT_WAVES },
	{ "cycles", "cycles", AT(cycles), ABOUT_WAVES },
	{ "sclk", "MHz", AT(sclk), ABOUT_WAVES },
#undef AT
};

enum { NENTRIES = sizeof(entries) / sizeof(entries[0]) };

static double *number_of(struct rk_verdict_facts *f, const struct entry *e)
{
	return (double *)(void *)((char *)f + e->at);
}

/* Unknown numbers are left out. */
static void add_number(struct rk_verdict *v, const char *name, double value, const char *unit)
{
	if (isnan(value) || v->nnumbers == RK_VERDICT_NUMBERS)
		return;
	v->numbers[v->nnumbers++] = (struct rk_verdict_number){ name, value, unit };
}

/* ---- the rules ---- */

/* Kinds of missing inputs, in the mask of a rule. */
enum { NEEDS_MEMORY = 1, NEEDS_COMPUTE = 2, NEEDS_WAIT = 4 };

/* The kernel that the rules evaluate. */
struct trial {
	struct rk_verdict_facts f; /* infinite values replaced by NaN */
	const struct rk_limits *l;
	struct rk_verdict *v;
	bool hbm;   /* the memory is HBM */
	double mem; /* of the level that is closest to its peak */
	enum rk_level level;
	double dram, side;    /* as in the facts, if they are possible */
	double above;         /* the largest share of a peak that is impossible, or NaN */
	const char *above_of; /* its name */
	double comp, fill, simds;
	char pipe[48];  /* name of the unit of comp */
	bool matrix;    /* comp is about the matrix units */
	bool resources; /* suggest collecting counters of exhausted resources */
};

static const char *level_word(const struct trial *t, enum rk_level level)
{
	static const char *const words[RK_NLEVELS] = { "LDS", "L1", "L2", "HBM" };

	return level == RK_LEVEL_HBM && !t->hbm ? t->f.memory : words[level];
}

static const char *memory_name(const struct trial *t, enum rk_level level)
{
	static const char *const names[RK_NLEVELS] = { "memory:lds", "memory:l1", "memory:l2",
						       "memory:hbm" };

	return level == RK_LEVEL_HBM && !t->hbm ? "memory:dram" : names[level];
}

static const char *const compute_names[] = { "compute:valu", "compute:mfma" }; /* by matrix */

/* A number in a sentence: enough digits to compare it, not more. */
struct word {
	char text[16];
};

static struct word put(double v)
{
	struct word w;

	if (fabs(v) < 9.95)
		snprintf(w.text, sizeof(w.text), "%.2g", v);
	else if (fabs(v) < 1e6)
		snprintf(w.text, sizeof(w.text), "%.0f", v);
	else
		snprintf(w.text, sizeof(w.text), "%.3g", v);
	return w;
}

/* "HBM at 53 % of peak" or "memory unknown". */
struct phrase {
	char text[80];
};

static struct phrase put_memory(const struct trial *t)
{
	struct phrase p = { "memory unknown" };

	if (!isnan(t->mem))
		snprintf(p.text, sizeof(p.text), "%s at %s %% of peak", level_word(t, t->level),
			 put(t->mem).text);
	return p;
}

static struct phrase put_compute(const struct trial *t)
{
	struct phrase p = { "compute unknown" };

	if (!isnan(t->comp))
		snprintf(p.text, sizeof(p.text), "%s at %s %%", t->pipe, put(t->comp).text);
	return p;
}

/* Called when the rule fires: returns true. */
__attribute__((format(printf, 3, 4))) static bool say(struct trial *t, const char *name,
						      const char *fmt, ...)
{
	size_t size = sizeof(t->v->reason), len;
	va_list ap;

	t->v->name = name;
	va_start(ap, fmt);
	vsnprintf(t->v->reason, size, fmt, ap);
	va_end(ap);
	len = strlen(t->v->reason);
	if (!isnan(t->above))
		snprintf(t->v->reason + len, size - len, "; %s at %s %% of peak is impossible",
			 t->above_of, put(t->above).text);
	return true;
}

static bool untimed(struct trial *t)
{
	return !t->f.timed && say(t, "unusable", "no dispatch has a time above 0");
}

/* The user may know things that the run did not record. */
static const char *put_hint(const struct trial *t)
{
	return t->f.unnamed ? "; name the chip with --arch" : "";
}

static bool uncounted(struct trial *t)
{
	if (!t->f.counters)
		return false;
	if (t->f.waves == 0)
		return say(t, "unusable",
			   "SQ_WAVES is 0: the counters could not be read; run 'rockit doctor'");
	if (isnan(t->f.cycles) && isnan(t->f.sclk))
		return say(t, "unusable", "cycles (GRBM_GUI_ACTIVE) and chip clock are unknown%s",
			   put_hint(t));
	return false;
}

static bool too_few_waves(struct trial *t)
{
	if (!(t->fill < t->l->fill))
		return false;
	return say(t, "launch", "fewer waves than SIMDs (%s for %s): most of the chip is idle",
		   put(t->f.waves).text, put(t->simds).text);
}

static bool communicates(struct trial *t)
{
	if (rk_limits_communication(t->l, t->f.name))
		return say(t, "communication",
			   "named like a collective or a transfer between GPUs");
	if (t->f.remote_pct >= t->l->remote_pct && t->dram >= t->l->remote_hbm_pct)
		return say(t, "communication",
			   "%s %% of its reads or writes leave the chip, %s at %s %% of peak",
			   put(t->f.remote_pct).text, level_word(t, RK_LEVEL_HBM),
			   put(t->dram).text);
	if (t->f.link_stall_pct >= t->l->link_stall_pct)
		return say(t, "communication", "L2 waits for PCIe and xGMI %s %% of its busy time",
			   put(t->f.link_stall_pct).text);
	return false;
}

static bool is_balanced(struct trial *t)
{
	if (!(t->mem >= t->l->high_pct && t->comp >= t->l->high_pct))
		return false;
	return say(t, "balanced", "both are high: %s, %s", put_memory(t).text, put_compute(t).text);
}

/* High by itself, or at least medium and clearly ahead of the other. */
static bool leads(const struct trial *t, double own, double other)
{
	return own >= t->l->high_pct || (own >= t->l->lead_pct && own >= t->l->lead_factor * other);
}

static bool memory_limits(struct trial *t)
{
	if (!leads(t, t->mem, t->comp))
		return false;
	return say(t, memory_name(t, t->level), "%s, %s", put_memory(t).text, put_compute(t).text);
}

/* The unknown side can only add to it. */
static bool one_side_limits(struct trial *t)
{
	if (!leads(t, t->side, t->comp))
		return false;
	return say(t, memory_name(t, RK_LEVEL_HBM), "its %s alone take %s to %s %% of peak, %s",
		   t->f.side, level_word(t, RK_LEVEL_HBM), put(t->side).text, put_compute(t).text);
}

static bool compute_limits(struct trial *t)
{
	if (!leads(t, t->comp, t->mem))
		return false;
	return say(t, compute_names[t->matrix], "%s, %s", put_compute(t).text, put_memory(t).text);
}

static bool launch_limits(struct trial *t)
{
	if (t->f.mean_ns < t->l->short_ns)
		return say(t, "launch", "takes %s us on average, hardly more than a launch",
			   put(t->f.mean_ns / 1000).text);
	if (t->f.gap_share > t->l->gap_share && t->f.median_ns < t->l->gap_median_ns)
		return say(
			t, "launch",
			"launch gaps are %s %% of its queue's time, and its median time is %s us",
			put(t->f.gap_share * 100).text, put(t->f.median_ns / 1000).text);
	return false;
}

/* Why there are few waves: the resource that is most often exhausted. */
static void put_resource(struct trial *t, char *to, size_t size)
{
	const struct {
		const char *word;
		double pct;
	} all[] = {
		{ "wave slots", t->f.no_waveslot_pct },   { "vector registers", t->f.no_vgpr_pct },
		{ "scalar registers", t->f.no_sgpr_pct }, { "LDS", t->f.no_lds_pct },
		{ "barriers", t->f.no_barrier_pct },
	};
	size_t most = 0;

	for (size_t i = 1; i < sizeof(all) / sizeof(all[0]); i++)
		if (!(all[i].pct <= all[most].pct) && !isnan(all[i].pct))
			most = i;
	if (isnan(all[most].pct)) {
		t->resources = true;
		snprintf(to, size, ": occupancy is %s %%", put(t->f.occupancy_pct).text);
	} else if (all[most].pct > 0) {
		snprintf(to, size, ": occupancy is %s %%, limited by %s (%s %%)",
			 put(t->f.occupancy_pct).text, all[most].word, put(all[most].pct).text);
	} else {
		snprintf(to, size,
			 ": occupancy is %s %% but no resource is used up: few waves are started",
			 put(t->f.occupancy_pct).text);
	}
}

static bool latency_limits(struct trial *t)
{
	char why[128] = "";

	if (!(t->f.dep_wait_pct >= t->l->dep_wait_pct))
		return false;
	/* why waves wait, as far as that is known */
	if (t->f.occupancy_pct < t->l->occupancy_pct)
		put_resource(t, why, sizeof(why));
	else if (t->f.issue_wait_pct >= t->l->issue_wait_pct)
		snprintf(why, sizeof(why), ": %s %% is waiting to issue",
			 put(t->f.issue_wait_pct).text);
	else if (t->f.lanes_on < t->l->lanes_on)
		snprintf(why, sizeof(why), ": lanes diverge, %s of 64 are active",
			 put(t->f.lanes_on).text);
	else if (!isnan(t->f.vmem_latency))
		snprintf(why, sizeof(why), ": a memory instruction takes %s clocks",
			 put(t->f.vmem_latency).text);
	return say(t, "latency", "waves wait %s %% of their time for results%s; %s",
		   put(t->f.dep_wait_pct).text, why, put_memory(t).text);
}

/* If only operations and bytes were counted: on which side of the ridge is it? */
static bool intensity_decides(struct trial *t)
{
	double x = t->f.intensity, ridge = t->f.ridge, factor = t->l->ridge_factor;
	bool matrix = !strncmp(t->f.flop_pipe, "matrix", 6);
	const char *name = "balanced", *where = "near";

	if (!(x >= 0 && ridge > 0) || !isnan(t->above) || !isnan(t->f.dep_wait_pct) ||
	    !isnan(t->f.valu_busy_pct) || !isnan(t->f.mfma_busy_pct))
		return false;
	if (x < ridge / factor) {
		name = memory_name(t, RK_LEVEL_HBM);
		where = "far below";
	} else if (x > ridge * factor) {
		name = compute_names[matrix];
		where = "far above";
	}
	return say(t, name, "%s FLOP per byte of %s, %s the ridge at %s", put(x).text,
		   level_word(t, RK_LEVEL_HBM), where, put(ridge).text);
}

static bool nothing_known(struct trial *t)
{
	if (!isnan(t->mem) || !isnan(t->comp) || !isnan(t->f.dep_wait_pct))
		return false;
	if (!isnan(t->above))
		return say(t, "unusable", "check the chip (--arch, --sysinfo) and the times");
	if (!isnan(t->side))
		return say(t, "unusable",
			   "its %s alone take %s to %s %% of peak, and nothing else was collected",
			   t->f.side, level_word(t, RK_LEVEL_HBM), put(t->side).text);
	if (t->f.counters || t->f.others)
		return say(t, "unusable", "the collected counters do not show what limits it%s",
			   put_hint(t));
	return say(t, "unusable", RK_NO_COUNTERS);
}

static bool is_mixed(struct trial *t)
{
	char waits[64] = "waits unknown";

	if (!isnan(t->f.dep_wait_pct))
		snprintf(waits, sizeof(waits), "waits %s %% of wave time",
			 put(t->f.dep_wait_pct).text);
	return say(t, "mixed", "nothing stands out: %s, %s, %s", put_memory(t).text,
		   put_compute(t).text, waits);
}

/* In order. `needs`: inputs with which an earlier rule might fire, or this one could say more. */
static const struct rule {
	bool (*fires)(struct trial *t);
	unsigned needs;
	bool again; /* everything must be collected again */
	enum about about;
} rules[] = {
	{ untimed, 0, true, ABOUT_TIME },
	{ uncounted, 0, true, ABOUT_WAVES },
	{ too_few_waves, 0, false, ABOUT_WAVES },
	{ communicates, 0, false, ABOUT_LINKS },
	{ is_balanced, 0, false, ABOUT_MEMORY },
	{ memory_limits, NEEDS_COMPUTE | NEEDS_MEMORY, false, ABOUT_MEMORY },
	{ one_side_limits, NEEDS_COMPUTE | NEEDS_MEMORY, false, ABOUT_MEMORY },
	{ compute_limits, NEEDS_MEMORY, false, ABOUT_COMPUTE },
	{ launch_limits, NEEDS_COMPUTE | NEEDS_MEMORY, false, ABOUT_TIME },
	{ latency_limits, NEEDS_COMPUTE | NEEDS_MEMORY, false, ABOUT_WAITS },
	{ intensity_decides, NEEDS_WAIT, false, ABOUT_ROOF },
	{ nothing_known, NEEDS_COMPUTE | NEEDS_MEMORY | NEEDS_WAIT, false, ABOUT_TIME },
	{ is_mixed, NEEDS_COMPUTE | NEEDS_MEMORY | NEEDS_WAIT, false, ABOUT_MEMORY },
};

/* NaN if the share is above what can be; the largest of these is kept. */
static double possible(struct trial *t, double pct, const char *of)
{
	if (!(pct > t->l->impossible_pct))
		return pct;
	if (!(t->above >= pct)) {
		t->above = pct;
		t->above_of = of;
	}
	return NAN;
}

static void claim(struct trial *t, double pct, const char *words, bool matrix)
{
	pct = possible(t, pct, words);
	if (!isfinite(pct) || pct <= t->comp)
		return;
	t->comp = pct;
	t->matrix = matrix;
	snprintf(t->pipe, sizeof(t->pipe), "%s", words);
}

/*
 * Busy shares refer to the cycles between the profiler's packets, which may be many times the
 * kernel's cycles: the window ratio scales them to the kernel's own time. A ratio just above 1 is a
 * board that runs faster than its nominal clock, which is busy all the time at most.
 */
static double of_kernel_time(double busy_pct, double window)
{
	double pct = busy_pct * window;

	if (window < 1.5 && pct > 100)
		return fmax(busy_pct, 100);
	return pct;
}

static void prepare(struct trial *t)
{
	struct rk_verdict_facts *f = &t->f;
	double window;

	f->name = rk_text_or_empty(f->name);
	f->arch = rk_text_or_empty(f->arch);
	f->flop_pipe = rk_text_or_empty(f->flop_pipe);
	f->side = rk_text_or_empty(f->side);
	for (size_t i = 0; i < NENTRIES; i++)
		if (isinf(*number_of(f, &entries[i])))
			*number_of(f, &entries[i]) = NAN;
	window = fmax(f->window_ratio, 1);
	t->hbm = !f->memory || !strcmp(f->memory, "HBM");
	t->mem = t->comp = t->above = NAN;
	t->level = RK_LEVEL_HBM;
	for (int i = RK_NLEVELS - 1; i >= 0; i--) {
		double pct = possible(t, f->level_pct[i], level_word(t, (enum rk_level)i));

		if (i == RK_LEVEL_HBM)
			t->dram = pct;
		if (isnan(pct) || pct <= t->mem)
			continue;
		t->mem = pct;
		t->level = (enum rk_level)i;
	}
	t->side = possible(t, f->side_pct, level_word(t, RK_LEVEL_HBM));
	claim(t, f->flop_pct, *f->flop_pipe ? f->flop_pipe : "operations",
	      !strncmp(f->flop_pipe, "matrix", 6));
	claim(t, of_kernel_time(f->valu_busy_pct, window), "VALU busy", false);
	claim(t, of_kernel_time(f->mfma_busy_pct, window), "MFMA busy", true);
	t->simds = f->cus * t->l->simds_per_cu;
	if (!strncmp(f->arch, "gfx1", 4))
		t->simds = f->cus * t->l->simds_per_cu_rdna;
	t->fill = NAN;
	if (f->waves >= 0 && t->simds > 0 && !isinf(f->waves / t->simds))
		t->fill = f->waves / t->simds;
}

static const char *name_of(const struct trial *t, const struct entry *e)
{
	return e->other && !t->hbm ? e->other : e->name;
}

void rk_verdict_judge(const struct rk_verdict_facts *f, struct rk_verdict *ret)
{
	struct rk_error err = { 0 };
	struct trial t = { .f = *f, .l = rk_limits_borrow(&err), .v = ret };
	const struct rule *r = rules;
	const char *collect = "";
	unsigned missing = 0;

	*ret = (struct rk_verdict){ 0 };
	if (!t.l) {
		say(&t, "unusable", "%s", err.message);
		return;
	}
	prepare(&t);
	while (!r->fires(&t))
		r++; /* the last one always fires */

	/* HBM is requested even if other levels are known: it matters most */
	if (isnan(t.f.level_pct[RK_LEVEL_HBM]) && rk_limits_has(t.l->memory, t.f.arch))
		missing |= NEEDS_MEMORY;
	if (isnan(t.comp) && rk_limits_has(t.l->compute, t.f.arch))
		missing |= NEEDS_COMPUTE;
	if (isnan(t.f.dep_wait_pct) && rk_limits_has(t.l->wait, t.f.arch))
		missing |= NEEDS_WAIT;
	if (t.resources && rk_limits_has(t.l->used_up, t.f.arch))
		collect = t.l->collect_resources;
	else if (r->again || r->needs & missing)
		collect = t.l->collect_limits;
	else if (!t.f.counters && r->needs)
		collect = t.l->collect_other;
	snprintf(ret->collect, sizeof(ret->collect), "%s", collect);

	/* numbers about the verdict's subject come first */
	if (r->about == ABOUT_WAVES)
		add_number(ret, "fill", t.fill, "waves per SIMD");
	if (r->about == ABOUT_COMPUTE)
		add_number(ret, "compute_pct", t.comp, "%");
	for (const struct entry *e = entries; e < entries + NENTRIES; e++)
		if (e->about == r->about)
			add_number(ret, name_of(&t, e), *number_of(&t.f, e), e->unit);
	if (r->about != ABOUT_COMPUTE)
		add_number(ret, "compute_pct", t.comp, "%");
	for (const struct entry *e = entries; e < entries + NENTRIES; e++)
		if (e->about != r->about)
			add_number(ret, name_of(&t, e), *number_of(&t.f, e), e->unit);
}

double rk_verdict_impossible(const struct rk_verdict_facts *f)
{
	struct trial t = { .f = *f, .l = rk_limits_borrow(NULL) };

	if (!t.l)
		return NAN;
	prepare(&t);
	return t.above;
}
