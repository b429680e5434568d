/* metric_verdict.c - see metric_verdict.h. */
#include "metrics/metric_verdict.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "metrics/metric_limits.h"

/* ---- the numbers that are shown beside a verdict ---- */

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
} entries[] = {
#define AT(f) offsetof(struct rk_verdict_facts, f)
	{ "hbm_pct", "%", AT(level_pct[RK_LEVEL_HBM]), ABOUT_MEMORY },
	{ "hbm_side_pct", "%", AT(side_pct), ABOUT_MEMORY },
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

static void add_number(struct rk_verdict *v, const char *name, double value, const char *unit)
{
	if (isnan(value) || v->nnumbers == RK_VERDICT_NUMBERS)
		return;
	v->numbers[v->nnumbers++] = (struct rk_verdict_number){ name, value, unit };
}

/*
 * Writes the known numbers to ret->numbers. comp and fill are computed by the rules: the largest
 * share of a compute pipe in the kernel's own time, and waves per SIMD.
 */
static void add_numbers(struct rk_verdict_facts *f, double comp, double fill, enum about about,
			struct rk_verdict *ret)
{
	ret->nnumbers = 0;
	if (about == ABOUT_WAVES)
		add_number(ret, "fill", fill, "waves per SIMD");
	if (about == ABOUT_COMPUTE)
		add_number(ret, "compute_pct", comp, "%");
	for (size_t i = 0; i < NENTRIES; i++)
		if (entries[i].about == about)
			add_number(ret, entries[i].name, *number_of(f, &entries[i]),
				   entries[i].unit);
	if (about != ABOUT_COMPUTE)
		add_number(ret, "compute_pct", comp, "%");
	for (size_t i = 0; i < NENTRIES; i++)
		if (entries[i].about != about)
			add_number(ret, entries[i].name, *number_of(f, &entries[i]),
				   entries[i].unit);
}

/* ---- the rules ---- */

/* Kinds of missing inputs, in the mask of a rule. */
enum { NEEDS_MEMORY = 1, NEEDS_COMPUTE = 2, NEEDS_WAIT = 4 };

/* The kernel that the rules judge. */
struct trial {
	struct rk_verdict_facts f; /* infinite values replaced by NaN */
	const struct rk_limits *l;
	struct rk_verdict *v;
	double mem; /* of the level that is nearest to its peak */
	enum rk_level level;
	double comp, fill, simds;
	char pipe[48];  /* the unit of comp, in words */
	bool matrix;    /* comp is about the matrix units */
	bool resources; /* counters of exhausted resources should be collected */
};

static const char *const level_words[RK_NLEVELS] = { "LDS", "L1", "L2", "HBM" };
static const char *const memory_names[RK_NLEVELS] = { "memory:lds", "memory:l1", "memory:l2",
						      "memory:hbm" };

/* A number in a sentence: enough digits to compare it, no more. */
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

static struct phrase put_share(const char *what, double pct, const char *of)
{
	struct phrase p;

	if (isnan(pct))
		snprintf(p.text, sizeof(p.text), "%s unknown", what);
	else
		snprintf(p.text, sizeof(p.text), "%s at %s %%%s", what, put(pct).text, of);
	return p;
}

static struct phrase put_memory(const struct trial *t, const char *of)
{
	return put_share(isnan(t->mem) ? "memory" : level_words[t->level], t->mem, of);
}

static struct phrase put_compute(const struct trial *t, const char *of)
{
	return put_share(isnan(t->comp) ? "compute" : t->pipe, t->comp, of);
}

static bool says(struct trial *t, const char *name)
{
	t->v->name = name;
	return true;
}

__attribute__((format(printf, 2, 3))) static void say(struct trial *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(t->v->reason, sizeof(t->v->reason), fmt, ap);
	va_end(ap);
}

static bool untimed(struct trial *t)
{
	if (t->f.timed)
		return false;
	say(t, "no dispatch has a time above 0");
	return says(t, "unusable");
}

/* The user may know what the run did not record. */
static const char *put_hint(const struct trial *t)
{
	return t->f.unnamed ? "; name the chip with --arch" : "";
}

static bool uncounted(struct trial *t)
{
	if (!t->f.counters)
		return false;
	if (t->f.waves == 0)
		say(t, "SQ_WAVES is 0: the counters could not be read; run 'rockit doctor'");
	else if (isnan(t->f.cycles) && isnan(t->f.sclk))
		say(t, "cycles (GRBM_GUI_ACTIVE) and chip clock are unknown%s", put_hint(t));
	else
		return false;
	return says(t, "unusable");
}

static bool too_few_waves(struct trial *t)
{
	if (!(t->fill < t->l->fill))
		return false;
	say(t, "fewer waves than SIMDs (%s for %s): most of the chip is idle", put(t->f.waves).text,
	    put(t->simds).text);
	return says(t, "launch");
}

static bool communicates(struct trial *t)
{
	double hbm = t->f.level_pct[RK_LEVEL_HBM];

	if (rk_limits_communication(t->l, t->f.name))
		say(t, "named like a collective or a transfer between GPUs");
	else if (t->f.remote_pct >= t->l->remote_pct && hbm >= t->l->remote_hbm_pct)
		say(t, "%s %% of its reads or writes leave the chip, HBM at %s %% of peak",
		    put(t->f.remote_pct).text, put(hbm).text);
	else if (t->f.link_stall_pct >= t->l->link_stall_pct)
		say(t, "L2 waits for PCIe and xGMI %s %% of its busy time",
		    put(t->f.link_stall_pct).text);
	else
		return false;
	return says(t, "communication");
}

static bool is_balanced(struct trial *t)
{
	if (!(t->mem >= t->l->high_pct && t->comp >= t->l->high_pct))
		return false;
	say(t, "both are high: %s, %s", put_memory(t, " of peak").text, put_compute(t, "").text);
	return says(t, "balanced");
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
	say(t, "%s, %s", put_memory(t, " of peak").text, put_compute(t, "").text);
	return says(t, memory_names[t->level]);
}

/* The other side can only add to it. */
static bool one_side_limits(struct trial *t)
{
	if (!leads(t, t->f.side_pct, t->comp))
		return false;
	say(t, "its %s alone take HBM to %s %% of peak, %s", t->f.side, put(t->f.side_pct).text,
	    put_compute(t, "").text);
	return says(t, memory_names[RK_LEVEL_HBM]);
}

static bool says_compute(struct trial *t)
{
	return says(t, t->matrix ? "compute:mfma" : "compute:valu");
}

static bool compute_limits(struct trial *t)
{
	if (!leads(t, t->comp, t->mem))
		return false;
	say(t, "%s, %s", put_compute(t, "").text, put_memory(t, " of peak").text);
	return says_compute(t);
}

static bool launch_limits(struct trial *t)
{
	if (t->f.mean_ns < t->l->short_ns)
		say(t, "takes %s us on average, hardly more than a launch",
		    put(t->f.mean_ns / 1000).text);
	else if (t->f.gap_share > t->l->gap_share && t->f.median_ns < t->l->gap_median_ns)
		say(t, "launch gaps are %s %% of its queue's time, and its median time is %s us",
		    put(t->f.gap_share * 100).text, put(t->f.median_ns / 1000).text);
	else
		return false;
	return says(t, "launch");
}

/* Why there are few waves: the resource that is exhausted most often. */
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
		snprintf(to, size, "occupancy is %s %%", put(t->f.occupancy_pct).text);
	} else if (all[most].pct > 0) {
		snprintf(to, size, "occupancy is %s %%, limited by %s (%s %%)",
			 put(t->f.occupancy_pct).text, all[most].word, put(all[most].pct).text);
	} else {
		snprintf(to, size,
			 "occupancy is %s %% but no resource is used up: few waves are started",
			 put(t->f.occupancy_pct).text);
	}
}

/* Why waves wait, as far as that is known: "" or ": ...". */
static void put_why(struct trial *t, char *to, size_t size)
{
	char why[120];

	if (t->f.occupancy_pct < t->l->occupancy_pct)
		put_resource(t, why, sizeof(why));
	else if (t->f.issue_wait_pct >= t->l->issue_wait_pct)
		snprintf(why, sizeof(why), "%s %% is waiting to issue",
			 put(t->f.issue_wait_pct).text);
	else if (t->f.lanes_on < t->l->lanes_on)
		snprintf(why, sizeof(why), "lanes diverge, %s of 64 are active",
			 put(t->f.lanes_on).text);
	else if (!isnan(t->f.vmem_latency))
		snprintf(why, sizeof(why), "a memory instruction takes %s clocks",
			 put(t->f.vmem_latency).text);
	else
		why[0] = '\0';
	snprintf(to, size, "%s%s", *why ? ": " : "", why);
}

static bool latency_limits(struct trial *t)
{
	char why[128];

	if (!(t->f.dep_wait_pct >= t->l->dep_wait_pct))
		return false;
	put_why(t, why, sizeof(why));
	say(t, "waves wait %s %% of their time for results%s; %s", put(t->f.dep_wait_pct).text, why,
	    put_memory(t, " of peak").text);
	return says(t, "latency");
}

/* Only operations and bytes were counted: on which side of the ridge? */
static bool intensity_decides(struct trial *t)
{
	double x = t->f.intensity, ridge = t->f.ridge, factor = t->l->ridge_factor;
	struct word ix = put(x), ir = put(ridge);

	if (!(x >= 0 && ridge > 0) || !isnan(t->f.dep_wait_pct) || !isnan(t->f.valu_busy_pct) ||
	    !isnan(t->f.mfma_busy_pct))
		return false;
	if (x < ridge / factor) {
		say(t, "%s FLOP per byte of HBM, far below the ridge at %s", ix.text, ir.text);
		return says(t, memory_names[RK_LEVEL_HBM]);
	}
	if (x > ridge * factor) {
		say(t, "%s FLOP per byte of HBM, far above the ridge at %s", ix.text, ir.text);
		t->matrix = !strncmp(t->f.flop_pipe, "matrix", 6);
		return says_compute(t);
	}
	say(t, "%s FLOP per byte of HBM, near the ridge at %s", ix.text, ir.text);
	return says(t, "balanced");
}

static bool nothing_known(struct trial *t)
{
	if (!isnan(t->mem) || !isnan(t->comp) || !isnan(t->f.dep_wait_pct))
		return false;
	if (!isnan(t->f.side_pct))
		say(t, "its %s alone take HBM to %s %% of peak, and nothing else was collected",
		    t->f.side, put(t->f.side_pct).text);
	else if (t->f.counters || t->f.others)
		say(t, "the collected counters do not show what limits it%s", put_hint(t));
	else
		say(t, RK_NO_COUNTERS);
	return says(t, "unusable");
}

static bool is_mixed(struct trial *t)
{
	char waits[64] = "waits unknown";

	if (!isnan(t->f.dep_wait_pct))
		snprintf(waits, sizeof(waits), "waits %s %% of wave time",
			 put(t->f.dep_wait_pct).text);
	say(t, "nothing stands out: %s, %s, %s", put_memory(t, " of peak").text,
	    put_compute(t, "").text, waits);
	return says(t, "mixed");
}

/* In order. `needs`: inputs with which an earlier rule might fire, or this one could say more. */
static const struct rule {
	bool (*fires)(struct trial *t);
	unsigned needs;
	bool again; /* everything has to be collected again */
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

/* HBM is requested even if other levels are known: it matters most. */
static unsigned missing(const struct trial *t)
{
	unsigned m = 0;

	if (isnan(t->f.level_pct[RK_LEVEL_HBM]) && rk_limits_has(t->l->memory, t->f.arch))
		m |= NEEDS_MEMORY;
	if (isnan(t->comp) && rk_limits_has(t->l->compute, t->f.arch))
		m |= NEEDS_COMPUTE;
	if (isnan(t->f.dep_wait_pct) && rk_limits_has(t->l->wait, t->f.arch))
		m |= NEEDS_WAIT;
	return m;
}

static const char *what_to_collect(const struct trial *t, const struct rule *r)
{
	if (t->resources && rk_limits_has(t->l->used_up, t->f.arch))
		return t->l->collect_resources;
	if (r->again || r->needs & missing(t))
		return t->l->collect_limits;
	if (!t->f.counters && r->needs)
		return t->l->collect_other;
	return "";
}

static void claim(struct trial *t, double pct, const char *words, bool matrix)
{
	if (!isfinite(pct) || pct <= t->comp)
		return;
	t->comp = pct;
	t->matrix = matrix;
	snprintf(t->pipe, sizeof(t->pipe), "%s", words);
}

static void prepare(struct trial *t)
{
	struct rk_verdict_facts *f = &t->f;
	double window;

	f->name = f->name ? f->name : "";
	f->arch = f->arch ? f->arch : "";
	f->flop_pipe = f->flop_pipe ? f->flop_pipe : "";
	f->side = f->side ? f->side : "";
	for (size_t i = 0; i < NENTRIES; i++)
		if (isinf(*number_of(f, &entries[i])))
			*number_of(f, &entries[i]) = NAN;
	window = f->window_ratio > 1 ? f->window_ratio : 1;
	t->mem = t->comp = NAN;
	t->level = RK_LEVEL_HBM;
	for (int i = RK_NLEVELS - 1; i >= 0; i--) {
		if (isnan(f->level_pct[i]) || f->level_pct[i] <= t->mem)
			continue;
		t->mem = f->level_pct[i];
		t->level = (enum rk_level)i;
	}
	/*
	 * Busy shares refer to the cycles between the profiler's packets, which may be many times
	 * the kernel's cycles: the window ratio scales them to the kernel's own time.
	 */
	claim(t, f->flop_pct, *f->flop_pipe ? f->flop_pipe : "operations",
	      !strncmp(f->flop_pipe, "matrix", 6));
	claim(t, f->valu_busy_pct * window, "VALU busy", false);
	claim(t, f->mfma_busy_pct * window, "MFMA busy", true);
	t->simds = f->cus *
		   (strncmp(f->arch, "gfx1", 4) ? t->l->simds_per_cu : t->l->simds_per_cu_rdna);
	t->fill = f->waves >= 0 && t->simds > 0 ? f->waves / t->simds : NAN;
	if (isinf(t->fill))
		t->fill = NAN;
}

void rk_verdict_judge(const struct rk_verdict_facts *f, struct rk_verdict *ret)
{
	struct rk_error err = { 0 };
	struct trial t = { .f = *f, .l = rk_limits_borrow(&err), .v = ret };
	const struct rule *r = rules;

	*ret = (struct rk_verdict){ .name = "unusable" };
	if (!t.l) {
		say(&t, "%s", err.message);
		return;
	}
	prepare(&t);
	while (!r->fires(&t))
		r++; /* the last one always does */
	snprintf(ret->collect, sizeof(ret->collect), "%s", what_to_collect(&t, r));
	add_numbers(&t.f, t.comp, t.fill, r->about, ret);
}
