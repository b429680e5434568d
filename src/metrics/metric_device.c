/* metric_device.c - what is known of a chip, by the run and by its data sheet. */
#include "metrics/metric_device.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "metrics/formula/metric_products.h"

/* The numbers of a device, with the names formulas call them by. */
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

void rk_metric_device_clear(struct rk_metric_device *d)
{
	const double unknown = NAN;

	*d = (struct rk_metric_device){ .source = "" };
	for (size_t i = 0; i < NNUMBERS; i++)
		memcpy((char *)d + numbers[i].at, &unknown, sizeof(unknown));
}

/* "gfx" and three to five digits, of which the last two are hexadecimal; what follows a ':' goes. */
static bool parse_gfx(const char *text, char ret[16])
{
	size_t len = strcspn(text, ":"), i;
	char lower[16];

	if (!rk_text_iprefix(text, len, "gfx") || len < 6 || len > 8)
		return false;
	snprintf(lower, sizeof(lower), "gfx");
	for (i = 3; i < len; i++) {
		char c = (char)(text[i] >= 'A' && text[i] <= 'F' ? text[i] + 32 : text[i]);

		if (!(c >= '0' && c <= '9') && !(i + 2 >= len && c >= 'a' && c <= 'f'))
			return false;
		lower[i] = c;
	}
	lower[i] = '\0';
	snprintf(ret, 16, "%s", lower);
	return true;
}

/* NVIDIA's, as its compilers name them: "sm_90", "sm_120". */
static bool parse_sm(const char *text, char ret[16])
{
	size_t n = strncmp(text, "sm_", 3) == 0 ? strspn(text + 3, "0123456789") : 0;

	if (n < 2 || n > 4 || text[3 + n])
		return false;
	snprintf(ret, 16, "%s", text);
	return true;
}

static bool parse_target(const char *text, char ret[16])
{
	return parse_gfx(text, ret) || parse_sm(text, ret);
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
	} else if ((target = rk_products_target_of(table, text))) {
		snprintf(ret, 16, "%s", target);
		found = true;
	}
	rk_tree_free(table);
	return found;
}

/* Zero is what tools write for what they do not know. */
static double number(const struct rk_batch *b, unsigned field, size_t row)
{
	int64_t v = 0;

	if (field < b->schema->nfields && rk_column_has(&b->cols[field], row))
		v = ((const int64_t *)b->cols[field].data)[row];
	return v > 0 && v <= 1000000000 ? (double)v : NAN;
}

static const char *text(const struct rk_batch *b, unsigned field, size_t row,
			const char *(*text_of)(void *arg, uint32_t id), void *arg)
{
	const char *s = NULL;

	if (rk_column_has(&b->cols[field], row))
		s = text_of(arg, ((const uint32_t *)b->cols[field].data)[row]);
	return s ? s : "";
}

void rk_metric_device_of_agent(const struct rk_batch *agents, size_t row,
			       const char *(*text_of)(void *arg, uint32_t id), void *arg,
			       struct rk_metric_device *ret)
{
	const char *product = text(agents, RK_G_PRODUCT, row, text_of, arg);

	rk_metric_device_clear(ret);
	if (!*product)
		product = text(agents, RK_G_NAME, row, text_of, arg);
	snprintf(ret->product, sizeof(ret->product), "%s", product);
	if (!parse_target(text(agents, RK_G_GFX, row, text_of, arg), ret->arch) &&
	    !rk_metric_arch_parse(product, ret->arch))
		ret->arch[0] = '\0';
	ret->source = "as the run tells";
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

/* Whether something became known by it. */
static bool fill(double *v, double with)
{
	if (!isnan(*v) || isnan(with))
		return false;
	*v = with;
	return true;
}

static bool fill_product(struct rk_metric_device *d, const struct rk_tree *table)
{
	struct rk_product_facts f;
	bool any = false;

	if (!rk_products_facts(table, d, &f))
		return false;
	any |= fill(&d->xcds, f.xcds);
	any |= fill(&d->cus, f.cus);
	any |= fill(&d->sclk, f.sclk);
	any |= fill(&d->mclk, f.mclk);
	any |= fill(&d->hbmch, f.hbmch);
	return any;
}

static bool fill_target(struct rk_metric_device *d, const struct rk_tree *t)
{
	bool any = false;

	any |= fill(&d->simds, rk_products_number(t, "simds_per_cu") * d->cus);
	any |= fill(&d->banks, rk_products_number(t, "banks"));
	any |= fill(&d->wslots, rk_products_number(t, "wslots"));
	any |= fill(&d->wave, rk_products_number(t, "wave"));
	any |= fill(&d->pipes, rk_products_number(t, "pipes"));
	any |= fill(&d->ses, rk_products_number(t, "ses_per_die") * d->xcds);
	any |= fill(&d->l2ch, rk_products_number(t, "l2ch_per_die") * d->xcds);
	/* an instruction cache serves neighbours inside an engine, the last one perhaps fewer */
	any |= fill(&d->sqcs,
		    d->ses * ceil(d->cus / d->ses / rk_products_number(t, "cus_per_sqc")));
	return any;
}

int rk_metric_device_complete(struct rk_metric_device *d, struct rk_error *err)
{
	const struct rk_tree *target;
	struct rk_tree *table = NULL;
	const char *arch;
	bool told = *d->source != '\0', any;
	int rc = rk_products_load(&table, err);

	if (rc < 0)
		return rc;
	if (!*d->arch && !parse_gfx(d->product, d->arch) &&
	    (arch = rk_products_target_of(table, d->product)))
		snprintf(d->arch, sizeof(d->arch), "%s", arch);
	target = rk_products_target(table, d->arch);
	/* a target of one die has one, whatever the product */
	any = fill(&d->xcds, rk_products_number(target, "xcds"));
	any |= fill_product(d, table);
	any |= fill_target(d, target);
	if (any)
		d->source = told ? "as the run tells, the rest from data sheets" :
				   "from data sheets";
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

/* Names of rocprofiler-sdk that are one of the numbers. */
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

/* What the driver tells an agent besides; no run records it for us. */
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

/* RDNA has two arrays in an engine, GCN and CDNA are not divided. */
static double arrays_per_engine(const struct rk_metric_device *d)
{
	size_t len = strlen(d->arch);

	return len < 6 ? NAN : len == 6 ? 1 : 2;
}

/* gfx90a is 90010: major, minor and step, two digits each of the last. */
static double target_version(const struct rk_metric_device *d)
{
	size_t len = strlen(d->arch);
	double major = 0;
	int low[2] = { 0 };

	if (len < 6)
		return NAN;
	for (size_t i = 3; i < len - 2; i++)
		major = major * 10 + (d->arch[i] - '0');
	for (size_t i = 0; i < 2; i++) {
		char c = d->arch[len - 2 + i];

		low[i] = c >= 'a' ? c - 'a' + 10 : c - '0';
	}
	return major * 10000 + low[0] * 100 + low[1];
}

static bool derived(const struct rk_metric_device *d, const char *name, double *ret)
{
	if (!strcmp(name, "simd_per_cu"))
		*ret = d->simds / d->cus;
	else if (!strcmp(name, "max_waves_per_simd"))
		*ret = d->wslots * d->cus / d->simds;
	else if (!strcmp(name, "simd_arrays_per_engine"))
		*ret = arrays_per_engine(d);
	else if (!strcmp(name, "array_count"))
		*ret = d->ses * arrays_per_engine(d);
	else if (!strcmp(name, "gfx_target_version"))
		*ret = target_version(d);
	else
		return false;
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
