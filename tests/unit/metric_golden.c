/*
 * metric_golden.c - every shipped metric on every target, against numbers computed apart.
 *
 * tests/golden/metrics has, for five targets, synthetic counters of one dispatch (primes, so that no
 * two sums meet) and the results of an evaluator in another language that follows the written
 * specification of the formulas, without our terms. Checked by hand, on round numbers: the
 * table `by_hand` below.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/num.h"
#include "metrics/formula/defs.h"
#include "metrics/formula/names.h"
#include "metrics/formula/program.h"
#include "rockit/metrics.h"
#include "tap.h"

enum { NAMES_MAX = 400, LINE_MAX_BYTES = 512 };

struct number {
	char name[64];
	double value;
};

/* One dispatch on one chip. */
struct dispatch {
	const char *arch;
	enum rk_normal normal;
	struct rk_metric_set *set;
	struct rk_formula_names *names;
	const struct rk_expr *normals[4];
	struct number given[64]; /* the chip, times, launch facts */
	size_t ngiven;
	double values[NAMES_MAX]; /* of counters, by id */
	const double *columns[NAMES_MAX];
	size_t n;
};

static bool open_dispatch(struct dispatch *d, const char *arch)
{
	static const char *const normals[] = { "1", "SQ_WAVES", "G", "T/1e9" };
	struct rk_error err = { 0 };

	memset(d, 0, sizeof(*d));
	d->arch = arch;
	if (rk_metric_set_load(NULL, NULL, &d->set, &err) < 0 ||
	    rk_formula_names_new(&d->names, &err) < 0)
		return CHECK_STR(err.message, "");
	for (int i = 0; i < 4; i++)
		if (rk_expr_parse(d->set->arena, normals[i], strlen(normals[i]), &d->normals[i],
				  &err) < 0)
			return CHECK_STR(err.message, "");
	return true;
}

static void close_dispatch(struct dispatch *d)
{
	rk_formula_names_free(d->names);
	rk_metric_set_free(d->set);
}

static void give(struct dispatch *d, const char *name, double value)
{
	struct number *g = &d->given[d->ngiven];

	if (!CHECK(d->ngiven < 64))
		return;
	d->ngiven++;
	snprintf(g->name, sizeof(g->name), "%.*s", (int)sizeof(g->name) - 1, name);
	g->value = value;
}

static void count(struct dispatch *d, const char *name, double value)
{
	struct rk_error err = { 0 };

	if (!CHECK(d->n < NAMES_MAX))
		return;
	d->values[d->n] = value;
	d->columns[d->n] = &d->values[d->n];
	CHECK_I64(rk_formula_names_add(d->names, name, "", (uint32_t)d->n, &err), 0);
	d->n++;
}

static bool look_up_given(const struct dispatch *d, const char *name, struct rk_name *ret)
{
	for (size_t i = 0; i < d->ngiven; i++)
		if (strcmp(d->given[i].name, name) == 0) {
			ret->kind = RK_NAME_NUMBER;
			ret->number = d->given[i].value;
			return true;
		}
	return false;
}

static int look_up(void *arg, const char *name, enum rk_name_use use, int64_t index,
		   struct rk_name *ret, struct rk_error *err)
{
	struct dispatch *d = arg;
	struct rk_counter_match m;

	(void)index, (void)err;
	memset(ret, 0, sizeof(*ret));
	if (look_up_given(d, name, ret))
		return 0;
	ret->kind = RK_NAME_TERM;
	ret->term = strcmp(name, "D") == 0 ? d->normals[d->normal] :
					     rk_metric_term_for(d->set, name, d->arch);
	if (ret->term)
		return 0;
	if (use != RK_USE_LEVEL)
		use = RK_USE_VALUE;
	rk_formula_names_find(d->names, d->arch, name, use, 0, "", &m);
	ret->kind = m.n == 1 ? RK_NAME_COLUMN : RK_NAME_MISSING;
	if (m.n == 1)
		ret->column = m.ids[0];
	else
		snprintf(ret->why, sizeof(ret->why), "%s was not collected", name);
	return 0;
}

/* NaN when it cannot be computed. */
static double value_of(struct dispatch *d, const struct rk_expr *e)
{
	struct rk_names names = { d, look_up };
	struct rk_program *p = NULL;
	struct rk_program_state *state = NULL;
	struct rk_error err = { 0 };
	double v = NAN;
	unsigned at;

	if (e && rk_program_new(&p, &err) == 0 && rk_program_add(p, e, &names, &at, &err) == 0 &&
	    rk_program_state_new(p, &state, &err) == 0) {
		rk_program_run(state, d->columns, 1);
		v = rk_program_result(state, at)[0];
	}
	rk_program_state_free(state);
	rk_program_free(p);
	return v;
}

static const struct rk_expr *defined(const struct rk_metric_def *m, const char *arch)
{
	return m && rk_metric_archs_has(m->archs, arch) ? rk_metric_case_for(m->expr, arch) : NULL;
}

static double metric_of(struct dispatch *d, const char *id)
{
	return value_of(d, defined(rk_metric_def_find(d->set, id), d->arch));
}

static bool close_to(double got, double want)
{
	return got == want || fabs(got - want) <= 1e-12 * fabs(want);
}

static void check_value(const char *arch, const char *id, double got, double want)
{
	if (close_to(got, want))
		return;
	printf("# %s on %s is %.17g, not %.17g\n", id, arch, got, want);
	CHECK(close_to(got, want));
}

/* A line of a golden file: words parted by tabs. */
struct line {
	char text[LINE_MAX_BYTES];
	char *word[8];
	size_t n;
};

static bool next_line(FILE *f, struct line *l)
{
	do {
		if (!fgets(l->text, sizeof(l->text), f))
			return false;
	} while (l->text[0] == '#');
	l->text[strcspn(l->text, "\n")] = '\0';
	l->n = 0;
	for (char *p = l->text; p && l->n < 8; l->n++) {
		l->word[l->n] = p;
		p = strchr(p, '\t');
		if (p)
			*p++ = '\0';
	}
	return true;
}

static double number(const struct line *l, size_t i)
{
	double v = NAN;

	CHECK(i < l->n && rk_num_f64(l->word[i], strlen(l->word[i]), &v) == RK_NUM_OK);
	return v;
}

/* How many numbers of the line were compared. */
static size_t take_line(struct dispatch *d, const struct line *l, struct rk_list *seen)
{
	const struct rk_metric_def *m;

	if (strcmp(l->word[0], "device") == 0 || strcmp(l->word[0], "column") == 0)
		return give(d, l->word[1], number(l, 2)), 0;
	if (strcmp(l->word[0], "counter") == 0)
		return count(d, l->word[1], number(l, 2)), 0;
	m = rk_metric_def_find(d->set, l->word[1]);
	if (strcmp(l->word[0], "peak") == 0) {
		check_value(d->arch, l->word[1],
			    m ? value_of(d, rk_metric_case_for(m->peak, d->arch)) : NAN,
			    number(l, 2));
		return 1;
	}
	CHECK_STR(l->word[0], "value");
	rk_list_add(seen, l->word[1]);
	for (int i = 0; i < 4; i++) {
		d->normal = (enum rk_normal)i;
		check_value(d->arch, l->word[1], metric_of(d, l->word[1]),
			    number(l, 2 + (size_t)i));
	}
	return 4;
}

/* Ours alone, of which the written formulas know nothing; computed by hand below. */
static bool is_extra(const char *id)
{
	static const char *const extra[] = { "lds_conflict_share_pct", "inst_flat", "inst_gds" };

	for (size_t i = 0; i < sizeof(extra) / sizeof(extra[0]); i++)
		if (strcmp(extra[i], id) == 0)
			return true;
	return false;
}

static size_t check_golden(const char *arch)
{
	struct dispatch d;
	struct rk_list seen = { 0 };
	struct line l;
	char path[512];
	size_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/golden/metrics/%s.tsv", ROCKIT_TESTS_DIR, arch);
	f = fopen(path, "r");
	if (!CHECK(f != NULL))
		return 0;
	if (open_dispatch(&d, arch))
		while (next_line(f, &l))
			n += take_line(&d, &l, &seen);
	for (size_t i = 0; d.set && i < d.set->ndefs; i++)
		if (defined(&d.set->defs[i], arch) && !is_extra(d.set->defs[i].id) &&
		    !rk_list_has(&seen, d.set->defs[i].id))
			CHECK_STR(d.set->defs[i].id, "in the golden file");
	rk_list_release(&seen);
	close_dispatch(&d);
	fclose(f);
	return n;
}

TEST(every_metric_gives_the_golden_number_on_every_target)
{
	static const char *const archs[] = { "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950" };
	size_t n = 0;

	for (size_t i = 0; i < 5; i++)
		n += check_golden(archs[i]);
	printf("# %zu golden values\n", n);
	CHECK_U64(n, 3608);
}

/* Round numbers for sums in the head. */
static void give_chip(struct dispatch *d)
{
	static const struct number given[] = {
		{ "T", 10000 }, { "cus", 104 }, { "sclk", 1700 }, { "wslots", 32 }, { "banks", 32 },
		{ "wave", 64 }, { "l2ch", 32 }, { "ses", 8 },     { "mclk", 1600 }, { "hbmch", 32 },
	};

	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
		give(d, given[i].name, given[i].value);
	give(d, "xcds", strcmp(d->arch, "gfx942") == 0 ? 8 : 1);
}

static void give_round(struct dispatch *d)
{
	static const struct number counters[] = {
		{ "GRBM_GUI_ACTIVE", 16000 },
		{ "GRBM_COUNT", 20000 },
		{ "SQ_WAVES", 64 },
		{ "SQ_WAVE_CYCLES", 32000 },
		{ "SQ_WAIT_ANY", 24000 },
		{ "SQ_ACTIVE_INST_VALU", 832000 },
		{ "SQ_VALU_MFMA_BUSY_CYCLES", 1664000 },
		{ "SQ_LEVEL_WAVES_ACCUM", 3200000 },
		{ "SQ_INSTS_VALU", 900 },
		{ "SQ_INSTS_MFMA", 100 },
		{ "SQ_INSTS_FLAT", 640 },
		{ "SQ_INSTS_GDS", 7 },
		{ "SQ_INSTS_TEX_LOAD", 48 },
		{ "SQ_INSTS_TEX_STORE", 16 },
		{ "SQ_WAVE32_INSTS", 480 },
		{ "SQ_WAVE64_INSTS", 160 },
		{ "SQ_INSTS_VALU_ADD_F32", 10 },
		{ "SQ_INSTS_VALU_MUL_F32", 20 },
		{ "SQ_INSTS_VALU_TRANS_F32", 5 },
		{ "SQ_INSTS_VALU_FMA_F32", 100 },
		{ "SQ_INSTS_VALU_MFMA_MOPS_F32", 2 },
		{ "SQ_LDS_IDX_ACTIVE", 400 },
		{ "SQ_LDS_BANK_CONFLICT", 80 },
		{ "SQC_LDS_IDX_ACTIVE", 400 },
		{ "SQC_LDS_BANK_CONFLICT", 80 },
		{ "TCP_TOTAL_CACHE_ACCESSES_sum", 1000 },
		{ "TCP_TCC_READ_REQ_sum", 100 },
		{ "TCP_TCC_WRITE_REQ_sum", 50 },
		{ "TCP_TCC_ATOMIC_WITH_RET_REQ_sum", 0 },
		{ "TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum", 0 },
		{ "TCC_HIT_sum", 300 },
		{ "TCC_MISS_sum", 100 },
		{ "TCC_REQ_sum", 1000 },
		{ "GL2C_HIT_sum", 300 },
		{ "GL2C_MISS_sum", 100 },
		{ "TCC_EA_RDREQ_sum", 100 },
		{ "TCC_EA_RDREQ_32B_sum", 10 },
		{ "TCC_EA0_RDREQ_64B_sum", 70 },
		{ "TCC_EA0_RDREQ_128B_sum", 20 },
		{ "TCC_EA_RDREQ_DRAM_sum", 110 },
		{ "TCC_BUBBLE_sum", 20 },
		{ "TCC_EA_WRREQ_sum", 50 },
		{ "TCC_EA_WRREQ_64B_sum", 40 },
		{ "TCC_EA1_RDREQ_sum", 5 },
		{ "TCC_EA1_RDREQ_32B_sum", 1 },
		{ "GL2C_EA_RDREQ_32B_sum", 1 },
		{ "GL2C_EA_RDREQ_64B_sum", 2 },
		{ "GL2C_EA_RDREQ_96B_sum", 3 },
		{ "GL2C_EA_RDREQ_128B_sum", 4 },
		{ "GL2C_EA_RDREQ_256B_sum", 5 },
		{ "GL2C_MC_WRREQ_sum", 50 },
		{ "GL2C_EA_WRREQ_sum", 60 },
		{ "GL2C_EA_WRREQ_64B_sum", 40 },
		{ "TA_TA_BUSY", 832000 },
	};

	give_chip(d);
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		count(d, counters[i].name, counters[i].value);
}

static const struct {
	const char *arch, *id;
	double want; /* NaN: not defined there */
} by_hand[] = {
	{ "gfx90a", "effective_sclk_mhz", 1600 },       /* 1000 * 16000 / 10000 */
	{ "gfx90a", "gpu_busy_pct", 80 },               /* 16000 of 20000 */
	{ "gfx90a", "wave_life_cycles", 2000 },         /* 4 * 32000 / 64 */
	{ "gfx90a", "dep_wait_frac", 75 },              /* 24000 of 32000 */
	{ "gfx90a", "occupancy_waves", 200 },           /* 3200000 / 16000 */
	{ "gfx90a", "valu_busy_pct", 50 },              /* 832000 of 16000 * 104 */
	{ "gfx90a", "mfma_busy_pct", 25 },              /* 1664000 of 4 * 16000 * 104 */
	{ "gfx90a", "inst_valu", 800 },                 /* 900 - 100 */
	{ "gfx908", "inst_valu", 900 },                 /* matrix ones stay in */
	{ "gfx90a", "flops_f32", 16064 },               /* 64 * (10+20+5+200) + 512 * 2 */
	{ "gfx90a", "lds_bw", 4.096 },                  /* 4 * 32 * 320 / 10000 */
	{ "gfx90a", "lds_conflicts_per_access", 0.25 }, /* 80 / 320 */
	{ "gfx90a", "lds_conflict_rate_pct", 0.78125 }, /* 100 * 80 / (32 * 320) */
	{ "gfx90a", "lds_conflict_share_pct", 20 },     /* 80 of 400 */
	{ "gfx90a", "l1_hit_pct", 85 },                 /* 100 - 100 * 150 / 1000 */
	{ "gfx90a", "l1_bw", 6.4 },                     /* 64 * 1000 / 10000 */
	{ "gfx942", "l1_bw", 12.8 },                    /* lines of 128 bytes */
	{ "gfx90a", "l1_l2_bw", 0.96 },                 /* 64 * 150 / 10000 */
	{ "gfx942", "l1_l2_bw", 1.6 },                  /* (128 * 100 + 64 * 50) / 10000 */
	{ "gfx90a", "l2_hit_pct", 75 },                 /* 300 of 400 */
	{ "gfx90a", "l2_bw", 12.8 },                    /* 128 * 1000 / 10000 */
	{ "gfx908", "l2_bw", 6.4 },                     /* 64 * 1000 / 10000 */
	{ "gfx906", "fabric_read_bw", 0.6368 },         /* 32 * 11 + 64 * 94 = 6368 */
	{ "gfx90a", "fabric_read_bw", 0.608 },          /* 32 * 10 + 64 * 90 = 6080 */
	{ "gfx942", "fabric_read_bw", 0.736 },          /* 128 * 20 + 64 * 70 + 32 * 10 */
	{ "gfx950", "fabric_read_bw", 0.736 },          /* the same by other counters */
	{ "gfx90a", "fabric_write_bw", 0.288 },         /* 64 * 40 + 32 * 10 = 2880 */
	{ "gfx90a", "fabric_bytes", 8960 },             /* 6080 + 2880 */
	{ "gfx90a", "fabric_bw", 0.896 },               /* 8960 / 10000 */
	{ "gfx90a", "remote_rd_pct", 0 },               /* 110 of 100 are local: not below 0 */
	{ "gfx90a", "hbm_rd_pct", 110 },                /* told as it is */
	{ "gfx942", "kernel_cycles", 2000 },            /* 16000 on 8 dies */
	{ "gfx90a", "inst_flat", 640 },
	{ "gfx90a", "inst_gds", 7 },
	{ "gfx1100", "kernel_cycles", 16000 },
	{ "gfx1100", "gpu_busy_pct", 80 },
	{ "gfx1100", "wavefronts", 64 },
	{ "gfx1100", "inst_valu", 900 },
	{ "gfx1100", "inst_flat", 640 },
	{ "gfx1100", "inst_tex_load", 48 },
	{ "gfx1201", "inst_tex_store", 16 },
	{ "gfx1030", "inst_tex_load", NAN },
	{ "gfx1030", "inst_gds", 7 },
	{ "gfx1201", "inst_gds", NAN },
	{ "gfx1100", "insts_per_wave", 10 },    /* (480 + 160) / 64 */
	{ "gfx1100", "wave32_pct", 75 },        /* 480 of 640 */
	{ "gfx1100", "wave_life_cycles", 500 }, /* 32000 / 64: clocks, not fours */
	{ "gfx1100", "dep_wait_frac", 75 },
	{ "gfx1100", "occupancy_pct_from_wave_cycles", 100.0 * 32000 / (16000.0 * 32 * 104) },
	/* no SQ_LEVEL_WAVES there: OccupancyPercent's expression */
	{ "gfx1100", "occupancy_pct", 100.0 * 32000 / (16000.0 * 32 * 104) },
	{ "gfx1100", "occupancy_waves", 2 }, /* 32000 / 16000 */
	{ "gfx1030", "occupancy_waves", 200 },
	{ "gfx1100", "ta_busy_pct", 50 }, /* 832000 of 16000 * 104 */
	{ "gfx1030", "l2_hit_pct", 75 },
	{ "gfx1100", "l2_hit_pct", 75 },
	{ "gfx1201", "l2_hit_pct", 75 },
	{ "gfx1100", "l2_hits", 300 },
	{ "gfx1100", "l2_misses", 100 },
	{ "gfx1100", "lds_conflict_share_pct", 20 },
	{ "gfx1100", "fabric_read_bw", 0.096 },  /* 32 + 128 + 288 + 512 = 960 */
	{ "gfx1201", "fabric_read_bw", 0.1952 }, /* 32 + 128 + 512 + 1280 = 1952 */
	{ "gfx1201", "fabric_rd_256B", 5 },
	{ "gfx1100", "fabric_rd_96B", 3 },
	{ "gfx1201", "fabric_rd_96B", NAN },
	{ "gfx1100", "fabric_write_bw", 0.288 },
	{ "gfx1201", "fabric_write_bw", 0.32 }, /* 64 * 40 + 32 * 20 = 3200 */
	{ "gfx1100", "valu_busy_pct", NAN },
	{ "gfx1100", "l1_hit_pct", NAN },
	{ "gfx1100", "hbm_rd_pct", NAN },
	{ "", "kernel_time_ns", 10000 },
	{ "", "l2_hit_pct", NAN },
};

TEST(sums_done_by_hand_come_out)
{
	for (size_t i = 0; i < sizeof(by_hand) / sizeof(by_hand[0]); i++) {
		struct dispatch d;
		double got;

		if (open_dispatch(&d, by_hand[i].arch)) {
			give_round(&d);
			got = metric_of(&d, by_hand[i].id);
			if (isnan(by_hand[i].want) && !isnan(got))
				check_value(d.arch, by_hand[i].id, got, NAN);
			else if (!isnan(by_hand[i].want))
				check_value(d.arch, by_hand[i].id, got, by_hand[i].want);
		}
		close_dispatch(&d);
	}
}

/* What AMD's tools compute themselves, as they write it. */
static void give_derived(struct dispatch *d)
{
	static const struct number counters[] = {
		{ "FETCH_SIZE", 10 },         { "WRITE_SIZE", 5 },      { "VALUBusy", 41 },
		{ "VALUUtilization", 75 },    { "SALUBusy", 7 },        { "MfmaUtil", 13 },
		{ "L2CacheHit", 62.5 },       { "LDSBankConflict", 3 }, { "Wavefronts", 128 },
		{ "VALUInsts", 20 },          { "SALUInsts", 4 },       { "SFetchInsts", 0.5 },
		{ "OccupancyPercent", 37.5 }, { "GPU_UTIL", 99 },       { "GPUBusy", 98 },
		{ "MeanOccupancyPerCU", 16 },
	};

	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		count(d, counters[i].name, counters[i].value);
}

static const struct {
	const char *arch, *id;
	double want;
} derived[] = {
	{ "gfx90a", "fabric_read_bw", 1.024 },  /* 10 * 1024 / 10000 */
	{ "gfx90a", "fabric_write_bw", 0.512 }, /* 5 * 1024 / 10000 */
	{ "gfx90a", "fabric_bw", 1.536 },
	{ "gfx90a", "fabric_bytes", 15360 },
	{ "gfx906", "fabric_bw", 1.536 },
	{ "gfx908", "fabric_bw", 1.536 },
	{ "gfx942", "fabric_bw", 1.536 },
	{ "gfx950", "fabric_bw", 1.536 },
	{ "gfx1030", "fabric_bw", 1.536 },
	{ "gfx1100", "fabric_bw", 1.536 },
	{ "gfx1201", "fabric_read_bw", 1.024 },
	{ "gfx90a", "valu_busy_pct", 41 },
	{ "gfx90a", "valu_lane_util_pct", 75 },
	{ "gfx90a", "valu_active_threads", 48 }, /* three quarters of 64 */
	{ "gfx90a", "salu_busy_sdk_pct", 7 },
	{ "gfx90a", "salu_busy_pct", NAN }, /* another thing: scalar memory is in it */
	{ "gfx90a", "mfma_busy_pct", 13 },
	{ "gfx90a", "l2_hit_pct", 62.5 },
	{ "gfx1100", "l2_hit_pct", 62.5 },
	{ "gfx90a", "lds_conflict_time_pct", 3 },
	{ "gfx90a", "lds_conflict_share_pct", NAN },
	{ "gfx1100", "lds_conflict_share_pct", 3 },
	{ "gfx90a", "wavefronts", 128 },
	{ "gfx90a", "inst_valu_all", 2560 }, /* 20 in each of 128 waves */
	{ "gfx90a", "inst_salu", 512 },
	{ "gfx90a", "inst_smem", 64 },
	{ "gfx90a", "occupancy_pct_from_wave_cycles", 37.5 },
	{ "gfx90a", "occupancy_waves", 1664 }, /* 16 on each of 104 */
	{ "gfx90a", "occupancy_pct", 50 },     /* 16 of 32 */
	{ "gfx90a", "gpu_busy_pct", 99 },
	{ "gfx90a", "ta_busy_pct", NAN },
};

TEST(counters_that_amd_derives_give_the_same_metrics)
{
	for (size_t i = 0; i < sizeof(derived) / sizeof(derived[0]); i++) {
		struct dispatch d;
		double got;

		if (open_dispatch(&d, derived[i].arch)) {
			give_chip(&d);
			give_derived(&d);
			got = metric_of(&d, derived[i].id);
			if (isnan(derived[i].want) != isnan(got) || !isnan(got))
				check_value(d.arch, derived[i].id, got, derived[i].want);
		}
		close_dispatch(&d);
	}
}

TEST(raw_counters_win_over_derived_ones)
{
	for (size_t i = 0; i < sizeof(by_hand) / sizeof(by_hand[0]); i++) {
		struct dispatch d;

		if (!isnan(by_hand[i].want) && open_dispatch(&d, by_hand[i].arch)) {
			give_round(&d);
			give_derived(&d);
			check_value(d.arch, by_hand[i].id, metric_of(&d, by_hand[i].id),
				    by_hand[i].want);
			close_dispatch(&d);
		}
	}
}

/* FetchSize and WriteSize are what older tools call them. */
TEST(older_names_of_derived_counters_count)
{
	struct dispatch d;

	if (open_dispatch(&d, "gfx90a")) {
		give_chip(&d);
		count(&d, "FetchSize", 10);
		check_value(d.arch, "fabric_read_bw", metric_of(&d, "fabric_read_bw"), 1.024);
		CHECK(isnan(metric_of(&d, "fabric_bw")));
		count(&d, "WriteSize", 5);
		check_value(d.arch, "fabric_bw", metric_of(&d, "fabric_bw"), 1.536);
	}
	close_dispatch(&d);
}

/* x per wave * waves == x per clock * clocks == x per second * seconds == x. */
TEST(normalisations_agree)
{
	struct dispatch d;
	size_t n = 0;

	if (open_dispatch(&d, "gfx90a"))
		give_round(&d);
	for (size_t i = 0; d.set && i < d.set->ndefs; i++) {
		const struct rk_metric_def *m = &d.set->defs[i];
		const double units[] = { 1, 64, 16000, 1e-5 };
		double per_kernel;

		d.normal = RK_PER_KERNEL;
		per_kernel = metric_of(&d, m->id);
		if (isnan(per_kernel))
			continue;
		for (int k = 0; k < 4; k++) {
			bool normal = strstr(m->unit, "/D") != NULL;

			d.normal = (enum rk_normal)k;
			check_value(d.arch, m->id, metric_of(&d, m->id) * (normal ? units[k] : 1),
				    per_kernel);
			n += normal;
		}
	}
	CHECK(n > 50);
	close_dispatch(&d);
}

static double term_of(struct dispatch *d, const char *name)
{
	return value_of(d, rk_metric_term_for(d->set, name, d->arch));
}

TEST(parts_add_up_to_the_whole)
{
	static const char *const archs[] = { "gfx906", "gfx90a", "gfx942", "gfx950", "gfx1100" };

	for (size_t i = 0; i < 5; i++) {
		struct dispatch d;
		double reads;

		if (open_dispatch(&d, archs[i])) {
			give_round(&d);
			reads = 32 * metric_of(&d, "fabric_rd_32B") +
				64 * metric_of(&d, "fabric_rd_64B");
			if (i >= 2)
				reads += 128 * metric_of(&d, "fabric_rd_128B");
			if (i == 4)
				reads += 96 * metric_of(&d, "fabric_rd_96B");
			check_value(d.arch, "fabric_read_bytes", term_of(&d, "fabric_read_bytes"),
				    reads);
		}
		close_dispatch(&d);
	}
}

/* Whether a check fires on the round numbers. */
static bool fires(struct dispatch *d, const char *kind)
{
	for (size_t i = 0; i < d->set->nchecks; i++) {
		const struct rk_metric_check *c = &d->set->checks[i];

		if (strcmp(c->kind, kind) == 0)
			return value_of(d, rk_metric_case_for(c->over, d->arch)) >
			       value_of(d, rk_metric_case_for(c->under, d->arch)) * (1 + c->slack);
	}
	return CHECK_STR(kind, "a check");
}

TEST(checks_tell_contradictions_and_nothing_else)
{
	static const char *const quiet[] = { "no-waves",
					     "no-cycles",
					     "window-ratio",
					     "busy-above-total",
					     "hits-above-requests",
					     "lookups-above-requests",
					     "l1-negative-hits",
					     "lds-conflicts-above-active",
					     "small-reads-above-reads",
					     "large-writes-above-writes",
					     "occupancy-above-slots",
					     "level-above-slots",
					     "matrix-above-vector" };
	struct dispatch d;

	if (open_dispatch(&d, "gfx90a")) {
		give_round(&d);
		for (size_t i = 0; i < sizeof(quiet) / sizeof(quiet[0]); i++)
			if (fires(&d, quiet[i]))
				CHECK_STR(quiet[i], "quiet");
		CHECK(fires(&d, "memory-reads-above-reads")); /* 110 of 100 */
		for (size_t i = 0; i < d.n; i++)
			d.values[i] = i == 0 ? 20000 : d.values[i]; /* GRBM_GUI_ACTIVE */
		CHECK(fires(&d, "window-ratio"));                   /* 2000 MHz of 1700 */
		d.values[2] = 0;
		CHECK(fires(&d, "no-waves"));
	}
	close_dispatch(&d);
	if (open_dispatch(&d, "gfx1100")) {
		count(&d, "SQC_LDS_IDX_ACTIVE", 400);
		count(&d, "SQC_LDS_BANK_CONFLICT", 403);
		CHECK(!fires(&d, "lds-conflicts-above-active")); /* what two runs differ by */
		d.values[1] = 800;
		CHECK(fires(&d, "lds-conflicts-above-active"));
	}
	close_dispatch(&d);
}
