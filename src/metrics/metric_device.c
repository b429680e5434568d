/* metric_device.c - facts about a chip, from the run and from its data sheet. */
#include "metrics/metric_device.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/data.h"
#include "base/num.h"
#include "base/text.h"

/* ---- the table of targets and products, and which product a device is ---- */

int rk_products_load(struct rk_tree **ret, struct rk_error *err)
{
	const struct rk_data_file *f = rk_data_find("metrics/devices.json");

	if (!f)
		return rk_fail(err, RK_E_UNSUPPORTED, "this build has no device table");
	return rk_tree_parse_json(f->text, f->len, f->name, ret, err);
}

double rk_products_number(const struct rk_tree *t, const char *key)
{
	const char *text = rk_tree_text(rk_tree_get(t, key), "");
	double v;

	if (rk_num_f64(text, strlen(text), &v) != RK_NUM_OK)
		return NAN;
	return v;
}

const struct rk_tree *rk_products_target(const struct rk_tree *table, const char *arch)
{
	return rk_tree_get(rk_tree_get(table, "targets"), arch);
}

/* Is `name` in `text` as a word? "MI300X" is in "MI300X_A1", "MI300" is not. */
static bool has_word(const char *text, const char *name)
{
	size_t len = strlen(text), n = strlen(name);

	for (size_t i = 0; n && i + n <= len; i++) {
		char before = i ? text[i - 1] : ' ', after = text[i + n];

		if (rk_text_iprefix(text + i, len - i, name) && !rk_is_letter(before) &&
		    !rk_is_digit(before) && !rk_is_letter(after) && !rk_is_digit(after))
			return true;
	}
	return false;
}

/* The target of a product or family ("MI300", "AMD Instinct MI300X OAM"), or NULL. */
static const char *target_of(const struct rk_tree *table, const char *product)
{
	RK_TREE_EACH(p, rk_tree_get(table, "products"))
	if (has_word(product, rk_tree_text(rk_tree_get(p, "name"), "")))
		return rk_tree_text(rk_tree_get(p, "target"), "");
	RK_TREE_EACH(t, rk_tree_get(table, "targets"))
	RK_TREE_EACH(n, rk_tree_get(t, "names"))
	if (has_word(product, rk_tree_text(n, "")))
		return t->key;
	return NULL;
}

/* From the data sheet, for the partition of the chip in use. NaN: unknown. */
struct product {
	double cus, xcds, sclk, mclk, hbmch;
	double share; /* of the chip's dies */
};

/*
 * The dies of a partition if the device does not report them: 38 of MI300X's 304 CUs are one of its
 * eight dies. NaN: no partition mode has this many CUs.
 */
static double dies(const struct rk_tree *p, const struct rk_metric_device *d)
{
	double cus = rk_products_number(p, "cus"), xcds = rk_products_number(p, "xcds");

	if (!isnan(d->xcds))
		return d->xcds;
	if (isnan(d->cus) || isnan(cus) || d->cus == cus)
		return xcds;
	RK_TREE_EACH(mode, rk_tree_get(p, "partitions"))
	{
		int64_t n;

		if (rk_tree_int(mode, &n) && d->cus * xcds == cus * (double)n)
			return (double)n;
	}
	return NAN;
}

static struct product facts_of(const struct rk_tree *p, const struct rk_metric_device *d)
{
	double share = dies(p, d) / rk_products_number(p, "xcds");

	return (struct product){
		.cus = rk_products_number(p, "cus") * share,
		.xcds = dies(p, d),
		.sclk = rk_products_number(p, "sclk"),
		.mclk = rk_products_number(p, "mclk"),
		/* the number of dies does not show how memory is divided: assume all of it */
		.hbmch = rk_products_number(p, "hbmch"),
		.share = share,
	};
}

/*
 * How well a product matches: the name counts most, then the CUs, then the clocks; of two names the
 * longer one, since "RX 9070" is in "RX 9070 XT".
 */
static int fit(const struct rk_tree *p, const struct rk_metric_device *d)
{
	struct product f = facts_of(p, d);
	const char *name = rk_tree_text(rk_tree_get(p, "name"), "");
	bool named = has_word(d->product, name);

	if (strcmp(rk_tree_text(rk_tree_get(p, "target"), ""), d->arch) != 0)
		return 0;
	if (!named && (isnan(f.cus) || (!isnan(d->cus) && d->cus != f.cus)))
		return 0;
	return 100 + 800 * named + 400 * (d->cus == f.cus) + 200 * (d->sclk == f.sclk) +
	       100 * (d->mclk == f.mclk) + (named ? (int)strlen(name) : 0);
}

static void keep_equal(double *v, double other)
{
	if (*v != other)
		*v = NAN;
}

/*
 * The products that `d` may be: those with its name, else those of its target with as many CUs;
 * clocks decide between several. Keeps only the facts on which all of them agree. False: none
 * matches.
 */
static bool find_product(const struct rk_tree *table, const struct rk_metric_device *d,
			 struct product *ret)
{
	const struct rk_tree *products = rk_tree_get(table, "products");
	int best = 0;
	bool any = false;

	RK_TREE_EACH(p, products)
	if (fit(p, d) > best)
		best = fit(p, d);
	RK_TREE_EACH(p, products)
	{
		struct product f = facts_of(p, d);

		if (!best || fit(p, d) != best)
			continue;
		if (!any)
			*ret = f;
		any = true;
		keep_equal(&ret->cus, f.cus);
		keep_equal(&ret->xcds, f.xcds);
		keep_equal(&ret->sclk, f.sclk);
		keep_equal(&ret->mclk, f.mclk);
		keep_equal(&ret->hbmch, f.hbmch);
		keep_equal(&ret->share, f.share);
	}
	return any;
}

/* ---- numbers of a run that its chip cannot have ---- */

/* Adds to the list of what was wrong and what is used instead. */
static void note_wrong(struct rk_device_notes *n, const char *what, double wrong, double right)
{
	size_t len = strlen(n->wrong);

	snprintf(n->wrong + len, sizeof(n->wrong) - len, "%s%s %.4g (%.4g)", len ? ", " : "", what,
		 wrong, right);
}

/*
 * The dies that the CUs prove: 304 CUs of a gfx942 are eight dies, whatever the run says. NaN: the
 * CUs are of no product of the table, or the run says the same.
 */
static double other_dies(const struct rk_tree *table, const struct rk_metric_device *d)
{
	struct rk_metric_device by_cus = *d;
	struct product f;

	by_cus.xcds = NAN;
	if (isnan(d->cus) || isnan(d->xcds) || !find_product(table, &by_cus, &f) ||
	    f.cus != d->cus || f.xcds == d->xcds)
		return NAN;
	return f.xcds;
}

/*
 * Clocks may be lowered and differ a little between boards, and a partition has at least its dies'
 * share of the channels.
 */
static void check_numbers(const struct product *f, double l2ch, bool partition,
			  struct rk_metric_device *d, struct rk_device_notes *n)
{
	const struct {
		const char *what;
		double *told, sheet, least, most;
	} all[] = {
		{ "L2 channels", &d->l2ch, l2ch, 1, 1 },
		{ "engine clock in MHz", &d->sclk, f->sclk, 0.5, 1.5 },
		{ "memory clock in MHz", &d->mclk, f->mclk, 0.5, 1.1 },
		{ "memory channels", &d->hbmch, f->hbmch, partition ? f->share : 0, 1 },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		double told = *all[i].told, sheet = all[i].sheet;

		if (!(told < all[i].least * sheet || told > all[i].most * sheet))
			continue;
		note_wrong(n, all[i].what, told, sheet);
		*all[i].told = sheet;
	}
}

/* ---- devices ---- */

/* The numbers of a device and their names in formulas. */
static const struct {
	const char *name;
	size_t at;
} numbers[] = {
#define NUMBER(name)                                           \
	{                                                      \
#name, offsetof(struct rk_metric_device, name) \
	}
	NUMBER(cus),    NUMBER(simds), NUMBER(ses),  NUMBER(sqcs), NUMBER(banks),
	NUMBER(wslots), NUMBER(sclk),  NUMBER(mclk), NUMBER(l2ch), NUMBER(hbmch),
	NUMBER(xcds),   NUMBER(pipes), NUMBER(wave),
#undef NUMBER
};
enum { NNUMBERS = sizeof(numbers) / sizeof(numbers[0]) };

static double get(const struct rk_metric_device *d, size_t at)
{
	double v;

	memcpy(&v, (const char *)d + at, sizeof(v));
	return v;
}

/* The first one if the chip is unknown. */
static const char *const memories[] = { "HBM", "GDDR", "LPDDR" };

void rk_metric_device_clear(struct rk_metric_device *d)
{
	const double unknown = NAN;

	*d = (struct rk_metric_device){ .source = "", .memory = memories[0] };
	for (size_t i = 0; i < NNUMBERS; i++)
		memcpy((char *)d + numbers[i].at, &unknown, sizeof(unknown));
}

/* Parses "gfx" and three to five digits, the last two hexadecimal; drops ':' and the rest. */
static bool parse_gfx(const char *text, char ret[16])
{
	size_t len = strcspn(text, ":"), i;
	char lower[16];

	if (!rk_text_iprefix(text, len, "gfx") || len < 6 || len > 8)
		return false;
	snprintf(lower, sizeof(lower), "gfx");
	for (i = 3; i < len; i++) {
		char c = (char)(text[i] >= 'A' && text[i] <= 'F' ? text[i] + 32 : text[i]);

		if (!rk_is_digit(c) && !(i + 2 >= len && c >= 'a' && c <= 'f'))
			return false;
		lower[i] = c;
	}
	lower[i] = '\0';
	snprintf(ret, 16, "%s", lower);
	return true;
}

static bool parse_target(const char *text, char ret[16])
{
	size_t n;

	if (parse_gfx(text, ret))
		return true;
	/* NVIDIA targets, as its compilers name them: "sm_90", "sm_120" */
	if (strncmp(text, "sm_", 3) != 0)
		return false;
	n = strspn(text + 3, "0123456789");
	if (n < 2 || n > 4 || text[3 + n])
		return false;
	snprintf(ret, 16, "%s", text);
	return true;
}

bool rk_metric_arch_parse(const char *text, char ret[16])
{
	struct rk_tree *table = NULL;
	const char *target;
	char bare[20];
	bool found = false;

	if (parse_target(text, ret))
		return true;
	if (rk_products_load(&table, NULL) < 0)
		return false;
	snprintf(bare, sizeof(bare), "gfx%.10s", text);
	if (parse_gfx(bare, ret)) {
		found = rk_products_target(table, ret) != NULL;
	} else if ((target = target_of(table, text))) {
		snprintf(ret, 16, "%s", target);
		found = true;
	}
	rk_tree_free(table);
	return found;
}

/* Tools write 0 for unknown values. */
static double number(const struct rk_batch *b, unsigned field, size_t row)
{
	int64_t v = 0;

	if (field < b->schema->nfields)
		v = rk_batch_int(b, field, row, 0);
	if (v <= 0 || v > 1000000000)
		return NAN;
	return (double)v;
}

void rk_metric_device_of_agent(const struct rk_batch *agents, size_t row,
			       const struct rk_strtab *names, struct rk_metric_device *ret)
{
	uint32_t product_id = rk_batch_id(agents, RK_G_PRODUCT, row);
	const char *product = rk_strtab_borrow(names, product_id, NULL);
	const char *gfx = rk_strtab_borrow(names, rk_batch_id(agents, RK_G_GFX, row), NULL);

	rk_metric_device_clear(ret);
	if (!*product)
		product = rk_strtab_borrow(names, rk_batch_id(agents, RK_G_NAME, row), NULL);
	snprintf(ret->product, sizeof(ret->product), "%s", product);
	if (!parse_target(gfx, ret->arch) && !rk_metric_arch_parse(product, ret->arch))
		ret->arch[0] = '\0';
	ret->source = "from the run";
	ret->cus = number(agents, RK_G_CU_COUNT, row);
	ret->simds = number(agents, RK_G_SIMD_PER_CU, row) * ret->cus;
	ret->ses = number(agents, RK_G_SE_COUNT, row);
	ret->sqcs = number(agents, RK_G_SQC_COUNT, row);
	ret->banks = number(agents, RK_G_LDS_BANKS, row);
	ret->wslots = number(agents, RK_G_WAVES_PER_CU, row);
	ret->sclk = number(agents, RK_G_MAX_SCLK, row);
	ret->mclk = number(agents, RK_G_MAX_MCLK, row);
	ret->l2ch = number(agents, RK_G_L2_CHANNELS, row);
	ret->hbmch = number(agents, RK_G_HBM_CHANNELS, row);
	ret->xcds = number(agents, RK_G_XCC, row);
	ret->pipes = number(agents, RK_G_PIPES, row);
	ret->wave = number(agents, RK_G_WAVE_SIZE, row);
}

/* Returns true if it filled in anything. */
static bool fill(double *v, double with)
{
	if (!isnan(*v) || isnan(with))
		return false;
	*v = with;
	return true;
}

/*
 * Uses the target's most common product for a device of which nothing else is known, since no
 * percentage of a peak can be computed otherwise.
 */
static void assume_product(const struct rk_tree *table, struct rk_metric_device *d,
			   struct rk_device_notes *n)
{
	const struct rk_tree *target = rk_products_target(table, d->arch);
	const char *usual = rk_tree_text(rk_tree_get(target, "usual"), "");
	bool bare = !*d->product;
	size_t len;

	/* "MI300" says no more than its target */
	RK_TREE_EACH(family, rk_tree_get(target, "names"))
	bare |= rk_text_same(d->product, rk_tree_text(family, ""));
	if (!bare || !isnan(d->cus) || !isnan(d->xcds) || !*usual)
		return;
	snprintf(d->product, sizeof(d->product), "%s", usual);
	len = (size_t)snprintf(n->assumed, sizeof(n->assumed),
			       "the run does not say which %s it ran on; assuming a whole %s: "
			       "name it with --arch PRODUCT, or use --sysinfo; products:",
			       d->arch, usual);
	RK_TREE_EACH(p, rk_tree_get(table, "products"))
	if (!strcmp(rk_tree_text(rk_tree_get(p, "target"), ""), d->arch) &&
	    len < sizeof(n->assumed))
		len += (size_t)snprintf(n->assumed + len, sizeof(n->assumed) - len, "%s %s",
					n->assumed[len - 1] == ':' ? "" : ",",
					rk_tree_text(rk_tree_get(p, "name"), ""));
}

int rk_metric_device_complete(struct rk_metric_device *d, struct rk_device_notes *notes,
			      struct rk_error *err)
{
	const struct rk_tree *t;
	struct rk_tree *table = NULL;
	struct product f;
	const char *arch;
	bool told = *d->source != '\0', partition = !isnan(d->cus) || !isnan(d->xcds), any;
	double right;
	int rc = rk_products_load(&table, err);

	if (rc < 0)
		return rc;
	*notes = (struct rk_device_notes){ 0 };
	if (!*d->arch && !parse_gfx(d->product, d->arch) && (arch = target_of(table, d->product)))
		snprintf(d->arch, sizeof(d->arch), "%s", arch);
	t = rk_products_target(table, d->arch);
	for (size_t i = 0; i < sizeof(memories) / sizeof(memories[0]); i++)
		if (!strcmp(rk_tree_text(rk_tree_get(t, "memory"), ""), memories[i]))
			d->memory = memories[i];
	assume_product(table, d, notes);
	right = other_dies(table, d);
	if (!isnan(right)) {
		note_wrong(notes, "XCDs", d->xcds, right);
		d->xcds = right;
	}
	/* all products of a single-die target have one die */
	any = fill(&d->xcds, rk_products_number(t, "xcds"));
	if (find_product(table, d, &f)) {
		any |= fill(&d->xcds, f.xcds);
		any |= fill(&d->cus, f.cus);
		any |= fill(&d->sclk, f.sclk);
		any |= fill(&d->mclk, f.mclk);
		any |= fill(&d->hbmch, f.hbmch);
		check_numbers(&f, rk_products_number(t, "l2ch_per_die") * d->xcds, partition, d,
			      notes);
	}
	any |= fill(&d->simds, rk_products_number(t, "simds_per_cu") * d->cus);
	any |= fill(&d->banks, rk_products_number(t, "banks"));
	any |= fill(&d->wslots, rk_products_number(t, "wslots"));
	any |= fill(&d->wave, rk_products_number(t, "wave"));
	any |= fill(&d->pipes, rk_products_number(t, "pipes"));
	any |= fill(&d->ses, rk_products_number(t, "ses_per_die") * d->xcds);
	any |= fill(&d->l2ch, rk_products_number(t, "l2ch_per_die") * d->xcds);
	/* neighbouring CUs of an engine share an instruction cache; the last one may serve fewer */
	any |= fill(&d->sqcs,
		    d->ses * ceil(d->cus / d->ses / rk_products_number(t, "cus_per_sqc")));
	if (*notes->assumed)
		d->source = "assumed, from data sheets";
	else if (*notes->wrong)
		d->source = "from the run, corrected from data sheets";
	else if (any)
		d->source = told ? "from the run, the rest from data sheets" : "from data sheets";
	rk_tree_free(table);
	return 0;
}

bool rk_metric_device_equal(const struct rk_metric_device *a, const struct rk_metric_device *b)
{
	for (size_t i = 0; i < NNUMBERS; i++) {
		double x = get(a, numbers[i].at), y = get(b, numbers[i].at);

		if (x != y && !(isnan(x) && isnan(y)))
			return false;
	}
	return !strcmp(a->arch, b->arch);
}

/* ---- constants of formulas ---- */

/* rocprofiler-sdk's names for these numbers. */
static const struct {
	const char *name, *is;
} same[] = {
	{ "CU_NUM", "cus" },
	{ "cu_count", "cus" },
	{ "SIMD_NUM", "simds" },
	{ "simd_count", "simds" },
	{ "SE_NUM", "ses" },
	{ "MAX_WAVE_SIZE", "wave" },
	{ "wave_front_size", "wave" },
	{ "num_xcc", "xcds" },
	{ "max_engine_clk_fcompute", "sclk" },
	{ "max_waves_per_cu", "wslots" },
};

/* The driver also reports these for an agent, but they are never recorded in a run. */
static const char *const unknown[] = {
	"cpu_cores_count",
	"mem_banks_count",
	"caches_count",
	"io_links_count",
	"cpu_core_id_base",
	"simd_id_base",
	"lds_size_in_kb",
	"gds_size_in_kb",
	"num_gws",
	"cu_per_simd_array",
	"max_slots_scratch_cu",
	"vendor_id",
	"device_id",
	"location_id",
	"domain",
	"drm_render_minor",
	"hive_id",
	"num_sdma_engines",
	"num_sdma_xgmi_engines",
	"num_sdma_queues_per_engine",
	"num_cp_queues",
	"max_engine_clk_ccompute",
};

/* Computed constants. False: the name is not one of these. */
static bool derived(const struct rk_metric_device *d, const char *name, double *ret)
{
	size_t len = strlen(d->arch);
	/* RDNA has two arrays per engine; GCN and CDNA engines are not divided */
	double arrays = len == 6 ? 1 : 2, major = 0;
	int low[2] = { 0 };

	if (len < 6)
		arrays = NAN;
	if (!strcmp(name, "simd_per_cu")) {
		*ret = d->simds / d->cus;
	} else if (!strcmp(name, "max_waves_per_simd")) {
		*ret = d->wslots * d->cus / d->simds;
	} else if (!strcmp(name, "simd_arrays_per_engine")) {
		*ret = arrays;
	} else if (!strcmp(name, "array_count")) {
		*ret = d->ses * arrays;
	} else if (!strcmp(name, "gfx_target_version") && len < 6) {
		*ret = NAN;
	} else if (!strcmp(name, "gfx_target_version")) {
		/* gfx90a is 90010: major, then two digits each for minor and step */
		for (size_t i = 3; i < len - 2; i++)
			major = major * 10 + (d->arch[i] - '0');
		for (size_t i = 0; i < 2; i++) {
			char c = d->arch[len - 2 + i];

			low[i] = c >= 'a' ? c - 'a' + 10 : c - '0';
		}
		*ret = major * 10000 + low[0] * 100 + low[1];
	} else {
		return false;
	}
	return true;
}

bool rk_metric_device_constant(const struct rk_metric_device *d, const char *name, double *ret)
{
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if (!strcmp(name, same[i].name))
			name = same[i].is;
	for (size_t i = 0; i < NNUMBERS; i++) {
		if (!strcmp(name, numbers[i].name)) {
			*ret = get(d, numbers[i].at);
			return true;
		}
	}
	if (derived(d, name, ret))
		return true;
	*ret = NAN;
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		if (!strcmp(name, unknown[i]))
			return true;
	return false;
}
