/* metric_device.c (test) - what is known of a chip. */
#include "metrics/metric_device.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "tap.h"

static const char *arch_of(const char *text)
{
	static char arch[16];

	return rk_metric_arch_parse(text, arch) ? arch : "none";
}

TEST(a_target_is_known_by_many_names)
{
	CHECK_STR(arch_of("gfx942"), "gfx942");
	CHECK_STR(arch_of("gfx942:sramecc+:xnack-"), "gfx942");
	CHECK_STR(arch_of("GFX90A"), "gfx90a");
	CHECK_STR(arch_of("90a"), "gfx90a");
	CHECK_STR(arch_of("1100"), "gfx1100");
	CHECK_STR(arch_of("MI300X"), "gfx942");
	CHECK_STR(arch_of("mi300a_a1"), "gfx942");
	CHECK_STR(arch_of("AMD Instinct MI300X OAM"), "gfx942");
	CHECK_STR(arch_of("MI250X (one GCD)"), "gfx90a");
	CHECK_STR(arch_of("MI200"), "gfx90a");
	CHECK_STR(arch_of("MI350"), "gfx950");
	CHECK_STR(arch_of("AMD Radeon RX 7900 XTX"), "gfx1100");
	/* a target may be well formed and new */
	CHECK_STR(arch_of("gfx1250"), "gfx1250");
}

TEST(an_unknown_target_is_reported)
{
	CHECK_STR(arch_of(""), "none");
	CHECK_STR(arch_of("gfx"), "none");
	CHECK_STR(arch_of("gfx9"), "none");
	CHECK_STR(arch_of("gfx94z"), "none");
	CHECK_STR(arch_of("gfxa42"), "none");
	CHECK_STR(arch_of("gfx942000"), "none");
	CHECK_STR(arch_of("777"), "none");
	CHECK_STR(arch_of("MI3000X"), "none");
	CHECK_STR(arch_of("xMI300X"), "none");
	CHECK_STR(arch_of("NVIDIA H100"), "none");
}

/* "name=number" of what is known; two texts live side by side. */
static const char *show(const struct rk_metric_device *d)
{
	static const char *const names[] = { "cus",    "simds", "ses",  "sqcs", "banks",
					     "wslots", "sclk",  "mclk", "l2ch", "hbmch",
					     "xcds",   "pipes", "wave" };
	static char texts[2][400];
	static unsigned turn;
	char *text = texts[turn ^= 1];
	size_t size = sizeof(texts[0]), len = (size_t)snprintf(text, size, "%s", d->arch);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		double v = 0;

		CHECK(rk_metric_device_constant(d, names[i], &v));
		if (!isnan(v))
			len += (size_t)snprintf(text + len, size - len, " %s=%g", names[i], v);
	}
	return text;
}

static const char *completed(const char *arch, const char *product, double cus, double xcds)
{
	struct rk_error err = { 0 };
	struct rk_device_notes notes;
	struct rk_metric_device d;

	rk_metric_device_clear(&d);
	snprintf(d.arch, sizeof(d.arch), "%s", arch);
	snprintf(d.product, sizeof(d.product), "%s", product);
	d.cus = cus;
	d.xcds = xcds;
	CHECK_I64(rk_metric_device_complete(&d, &notes, &err), 0);
	return show(&d);
}

TEST(a_product_has_the_numbers_of_its_data_sheet)
{
	CHECK_STR(completed("", "MI210", NAN, NAN),
		  "gfx90a cus=104 simds=416 ses=8 sqcs=56 banks=32 wslots=32 sclk=1700 mclk=1600 "
		  "l2ch=32 hbmch=32 xcds=1 pipes=4 wave=64");
	CHECK_STR(completed("gfx90a", "MI250X (one GCD)", NAN, NAN),
		  "gfx90a cus=110 simds=440 ses=8 sqcs=56 banks=32 wslots=32 sclk=1700 mclk=1600 "
		  "l2ch=32 hbmch=32 xcds=1 pipes=4 wave=64");
	CHECK_STR(completed("gfx942", "AMD Instinct MI300A", NAN, NAN),
		  "gfx942 cus=228 simds=912 ses=24 sqcs=120 banks=32 wslots=32 sclk=2100 mclk=1300 "
		  "l2ch=96 hbmch=128 xcds=6 pipes=4 wave=64");
	CHECK_STR(
		completed("", "MI300X_A1", NAN, NAN),
		"gfx942 cus=304 simds=1216 ses=32 sqcs=160 banks=32 wslots=32 sclk=2100 mclk=1300 "
		"l2ch=128 hbmch=128 xcds=8 pipes=4 wave=64");
	CHECK_STR(completed("", "MI100", NAN, NAN),
		  "gfx908 cus=120 simds=480 ses=8 sqcs=40 banks=32 wslots=40 sclk=1502 mclk=1200 "
		  "l2ch=32 hbmch=32 xcds=1 pipes=4 wave=64");
	CHECK_STR(completed("", "AMD Radeon RX 7900 XTX", NAN, NAN),
		  "gfx1100 cus=96 simds=192 ses=6 banks=32 wslots=32 sclk=2500 mclk=1250 hbmch=24 "
		  "xcds=1 wave=32");
}

TEST(one_name_for_two_products_is_settled_by_their_cus)
{
	CHECK_STR(completed("gfx90a", "AMD Instinct MI250X / MI250", 104, NAN),
		  completed("gfx90a", "MI250", NAN, NAN));
	CHECK(strstr(completed("gfx90a", "AMD Instinct MI250X / MI250", 110, NAN), "cus=110 ") !=
	      NULL);
	/* a family's name and its CUs; the two boards with 104 are alike */
	CHECK_STR(completed("gfx90a", "MI200", 104, 1), completed("gfx90a", "MI210", NAN, NAN));
}

TEST(an_unknown_product_is_known_by_target_and_cus)
{
	CHECK_STR(completed("gfx942", "engineering sample", 228, NAN),
		  completed("gfx942", "MI300A", NAN, NAN));
	/* MI300X or MI325X: their memory clocks differ, so it stays unknown */
	CHECK_STR(completed("gfx942", "", 304, NAN),
		  "gfx942 cus=304 simds=1216 ses=32 sqcs=160 banks=32 wslots=32 sclk=2100 "
		  "l2ch=128 hbmch=128 xcds=8 pipes=4 wave=64");
	/* CUs of no product: what the target has, no clocks */
	CHECK_STR(completed("gfx942", "", 200, NAN),
		  "gfx942 cus=200 simds=800 banks=32 wslots=32 pipes=4 wave=64");
	CHECK_STR(
		completed("gfx942", "MI300X", 300, 8),
		"gfx942 cus=300 simds=1200 ses=32 sqcs=160 banks=32 wslots=32 sclk=2100 mclk=1300 "
		"l2ch=128 hbmch=128 xcds=8 pipes=4 wave=64");
	CHECK_STR(completed("gfx1250", "", 10, NAN), "gfx1250 cus=10");
	CHECK_STR(completed("", "", NAN, NAN), "");
}

TEST(a_clock_settles_what_cus_leave_open)
{
	struct rk_error err = { 0 };
	struct rk_device_notes notes;
	struct rk_metric_device d;

	rk_metric_device_clear(&d);
	snprintf(d.arch, sizeof(d.arch), "gfx950");
	snprintf(d.product, sizeof(d.product), "MI350");
	d.cus = 256;
	CHECK_I64(rk_metric_device_complete(&d, &notes, &err), 0);
	CHECK(isnan(d.sclk) && d.mclk == 1950);
	rk_metric_device_clear(&d);
	snprintf(d.arch, sizeof(d.arch), "gfx942");
	d.cus = 304;
	d.mclk = 1500;
	CHECK_I64(rk_metric_device_complete(&d, &notes, &err), 0);
	CHECK(d.mclk == 1500 && d.hbmch == 128);
}

TEST(a_partition_has_its_dies_and_their_channels)
{
	/* CPX: one die of eight is a device */
	CHECK_STR(completed("gfx942", "MI300X", NAN, 1),
		  "gfx942 cus=38 simds=152 ses=4 sqcs=20 banks=32 wslots=32 sclk=2100 mclk=1300 "
		  "l2ch=16 hbmch=128 xcds=1 pipes=4 wave=64");
	/* the same, told by its CUs */
	CHECK_STR(completed("gfx942", "MI300X", 38, NAN), completed("gfx942", "MI300X", 38, 1));
	/* TPX of MI300A */
	CHECK_STR(completed("gfx942", "MI300A", 76, 2),
		  "gfx942 cus=76 simds=304 ses=8 sqcs=40 banks=32 wslots=32 sclk=2100 mclk=1300 "
		  "l2ch=32 hbmch=128 xcds=2 pipes=4 wave=64");
	/* a die of an unknown product: two have dies of 38 CUs */
	CHECK_STR(completed("gfx942", "", 38, NAN),
		  "gfx942 cus=38 simds=152 ses=4 sqcs=20 banks=32 wslots=32 sclk=2100 l2ch=16 "
		  "hbmch=128 xcds=1 pipes=4 wave=64");
	CHECK(strstr(completed("gfx942", "MI308X", 80, NAN), "l2ch=64 xcds=4 ") != NULL);
}

TEST(what_the_run_tells_is_not_replaced_if_it_is_possible)
{
	struct rk_error err = { 0 };
	struct rk_device_notes notes;
	struct rk_metric_device d;

	rk_metric_device_clear(&d);
	snprintf(d.product, sizeof(d.product), "MI300X");
	d.source = "from the run";
	d.sclk = 1900;
	d.hbmch = 32; /* NPS4 */
	d.sqcs = 64;
	d.wave = 32;
	CHECK_I64(rk_metric_device_complete(&d, &notes, &err), 0);
	CHECK_STR(show(&d),
		  "gfx942 cus=304 simds=1216 ses=32 sqcs=64 banks=32 wslots=32 sclk=1900 mclk=1300 "
		  "l2ch=128 hbmch=32 xcds=8 pipes=4 wave=32");
	CHECK_STR(d.source, "from the run, the rest from data sheets");
	CHECK_STR(notes.wrong, "");
}

/* A device that a run describes with these numbers; NaN: not at all. */
static const char *told(const char *product, double cus, double xcds, double mclk, double hbmch,
			struct rk_device_notes *notes)
{
	struct rk_error err = { 0 };
	struct rk_metric_device d;

	rk_metric_device_clear(&d);
	snprintf(d.arch, sizeof(d.arch), "gfx942");
	snprintf(d.product, sizeof(d.product), "%s", product);
	d.source = "from the run";
	d.cus = cus;
	d.xcds = xcds;
	d.l2ch = 16 * xcds;
	d.mclk = mclk;
	d.hbmch = hbmch;
	CHECK_I64(rk_metric_device_complete(&d, notes, &err), 0);
	CHECK_STR(d.source, *notes->wrong ? "from the run, corrected from data sheets" :
					    "from the run, the rest from data sheets");
	return show(&d);
}

TEST(numbers_that_the_chip_cannot_have_are_corrected_and_named)
{
	struct rk_device_notes notes;

	/* 304 CUs are eight dies, and no MI300X has a seventh of its bandwidth */
	CHECK_STR(told("MI300X_A1", 304, 1, 1500, 16, &notes), completed("", "MI300X", NAN, NAN));
	CHECK_STR(notes.wrong,
		  "XCDs 1 (8), L2 channels 16 (128), memory clock in MHz 1500 (1300), memory "
		  "channels 16 (128)");
	/* the same without a name: MI325X has another memory clock, so that stays unknown */
	CHECK(strstr(told("", 304, 1, NAN, NAN, &notes), "l2ch=128 hbmch=128 xcds=8 ") != NULL);
	CHECK_STR(notes.wrong, "XCDs 1 (8), L2 channels 16 (128)");
	/* MI300A: rocprof-compute counts 96 channels */
	CHECK(strstr(told("MI300A", 228, 6, 1300, 96, &notes), "hbmch=128") != NULL);
	CHECK_STR(notes.wrong, "memory channels 96 (128)");
	CHECK(strstr(told("MI300X", 304, 8, 1300, 256, &notes), "hbmch=128") != NULL);
	CHECK_STR(notes.wrong, "memory channels 256 (128)");
}

TEST(partitions_and_boards_that_differ_a_little_are_possible)
{
	struct rk_device_notes notes;

	CHECK(strstr(told("MI300X", 38, 1, 1300, 16, &notes), "hbmch=16") != NULL); /* NPS8 */
	CHECK_STR(notes.wrong, "");
	CHECK(strstr(told("MI300X", 304, 8, 1250, 128, &notes), "mclk=1250") != NULL);
	CHECK_STR(notes.wrong, "");
	CHECK(strstr(told("MI300X", 300, 8, 1300, 128, &notes), "cus=300") != NULL);
	CHECK_STR(notes.wrong, "");
}

TEST(a_bare_target_is_its_usual_product_and_says_so)
{
	struct rk_error err = { 0 };
	struct rk_device_notes notes;
	struct rk_metric_device d;

	rk_metric_device_clear(&d);
	snprintf(d.arch, sizeof(d.arch), "gfx942");
	CHECK_I64(rk_metric_device_complete(&d, &notes, &err), 0);
	CHECK_STR(show(&d), completed("", "MI300X", NAN, NAN));
	CHECK_STR(d.product, "MI300X");
	CHECK_STR(d.source, "assumed, from data sheets");
	CHECK_STR(
		notes.assumed,
		"the run does not say which gfx942 it ran on; assuming a whole MI300X: name it "
		"with --arch PRODUCT, or use --sysinfo; products: MI300A, MI300X, MI308X, MI325X");
	/* the name of a family says no more */
	rk_metric_device_clear(&d);
	snprintf(d.product, sizeof(d.product), "mi300");
	CHECK_I64(rk_metric_device_complete(&d, &notes, &err), 0);
	CHECK_STR(d.product, "MI300X");
	CHECK(*notes.assumed != '\0');
	/* a target with one product is that product */
	rk_metric_device_clear(&d);
	snprintf(d.arch, sizeof(d.arch), "gfx908");
	CHECK_I64(rk_metric_device_complete(&d, &notes, &err), 0);
	CHECK_STR(show(&d), completed("", "MI100", NAN, NAN));
	CHECK_STR(notes.assumed, "");
	/* a product that the table does not have is not another one */
	rk_metric_device_clear(&d);
	snprintf(d.arch, sizeof(d.arch), "gfx942");
	snprintf(d.product, sizeof(d.product), "engineering sample");
	CHECK_I64(rk_metric_device_complete(&d, &notes, &err), 0);
	CHECK_STR(notes.assumed, "");
	CHECK(isnan(d.cus));
}

/* Ceilings are made from these numbers. */
TEST(every_target_and_product_of_the_table_names_its_source)
{
	struct rk_error err = { 0 };
	struct rk_tree *table = NULL;
	size_t n = 0;

	if (!CHECK_I64(rk_products_load(&table, &err), 0))
		return;
	RK_TREE_EACH(t, rk_tree_get(table, "targets"))
	{
		const char *usual = rk_tree_text(rk_tree_get(t, "usual"), "");
		bool found = !*usual;

		n++;
		CHECK(*rk_tree_text(rk_tree_get(t, "source"), ""));
		RK_TREE_EACH(p, rk_tree_get(table, "products"))
		found |= !strcmp(rk_tree_text(rk_tree_get(p, "name"), ""), usual) &&
			 !strcmp(rk_tree_text(rk_tree_get(p, "target"), ""), t->key);
		if (!CHECK(found))
			printf("# %s: %s\n", t->key, usual);
	}
	RK_TREE_EACH(p, rk_tree_get(table, "products"))
	{
		const char *target = rk_tree_text(rk_tree_get(p, "target"), "");

		n++;
		CHECK(*rk_tree_text(rk_tree_get(p, "source"), ""));
		CHECK(rk_products_target(table, target) != NULL);
	}
	CHECK(n > 40);
	rk_tree_free(table);
}

TEST(of_two_names_in_one_the_longer_one_is_meant)
{
	CHECK(strstr(completed("", "AMD Radeon RX 9070 XT", NAN, NAN), "cus=64 ") != NULL);
	CHECK(strstr(completed("", "AMD Radeon RX 9070", NAN, NAN), "cus=56 ") != NULL);
	CHECK(strstr(completed("", "AMD Radeon RX 7900 XT", NAN, NAN), "cus=84 ") != NULL);
}

/* ---- agents ---- */

static void put(struct rk_builder *b, unsigned field, size_t row, int64_t v)
{
	bool fresh = !b->data[field];
	void *data = rk_builder_column(b, field);

	for (size_t i = 0; fresh && i < b->nrows; i++)
		CHECK(rk_builder_null(b, field, i));
	if (b->nulls[field])
		b->valid[field][row / 64] |= UINT64_C(1) << row % 64;
	if (b->schema->fields[field].type == RK_STR)
		((uint32_t *)data)[row] = (uint32_t)v;
	else
		((int64_t *)data)[row] = v;
}

TEST(an_agent_is_a_device)
{
	static const char *const words[] = { "gfx942", "MI300A_A1", "AMD EPYC", "gfx90a:xnack+" };
	struct rk_error err = { 0 };
	struct rk_strtab *names = NULL;
	struct rk_device_notes notes;
	struct rk_metric_device d;
	struct rk_builder b;
	uint32_t ids[4];

	CHECK_I64(rk_strtab_new(1 << 20, &names, &err), 0);
	for (size_t i = 0; i < 4; i++)
		CHECK_I64(rk_strtab_add(names, words[i], strlen(words[i]), &ids[i], &err), 0);
	CHECK_I64(rk_builder_init(&b, rk_table_schema(RK_AGENTS), 4, &err), 0);
	b.nrows = 4;
	put(&b, RK_G_GFX, 0, ids[0]);
	put(&b, RK_G_PRODUCT, 0, ids[1]);
	put(&b, RK_G_CU_COUNT, 0, 228);
	put(&b, RK_G_MAX_SCLK, 0, 2100);
	put(&b, RK_G_MAX_MCLK, 0, 1300);
	put(&b, RK_G_XCC, 0, 6);
	put(&b, RK_G_SE_COUNT, 0, 24);
	put(&b, RK_G_SIMD_PER_CU, 0, 4);
	put(&b, RK_G_HBM_CHANNELS, 0, 128);
	put(&b, RK_G_L2_CHANNELS, 0, 96);
	put(&b, RK_G_CU_COUNT, 1, 0);  /* a tool's way to say nothing */
	put(&b, RK_G_MAX_SCLK, 1, -5); /* nonsense */
	put(&b, RK_G_MAX_MCLK, 1, INT64_MAX);
	put(&b, RK_G_NAME, 1, ids[2]);
	put(&b, RK_G_NAME, 3, ids[3]);
	rk_metric_device_of_agent(rk_builder_batch(&b), 0, names, &d);
	CHECK_STR(show(&d), "gfx942 cus=228 simds=912 ses=24 sclk=2100 mclk=1300 l2ch=96 hbmch=128 "
			    "xcds=6");
	CHECK_STR(d.product, "MI300A_A1");
	CHECK_I64(rk_metric_device_complete(&d, &notes, &err), 0);
	CHECK_STR(show(&d), completed("", "MI300A", NAN, NAN));
	rk_metric_device_of_agent(rk_builder_batch(&b), 1, names, &d);
	CHECK_STR(show(&d), "");
	CHECK_STR(d.product, "AMD EPYC");
	rk_metric_device_of_agent(rk_builder_batch(&b), 2, names, &d);
	CHECK_STR(show(&d), "");
	rk_metric_device_of_agent(rk_builder_batch(&b), 3, names, &d);
	CHECK_STR(show(&d), "gfx90a");
	rk_builder_release(&b);
	rk_strtab_free(names);
}

TEST(devices_are_equal_by_numbers_and_target)
{
	struct rk_metric_device a, b;

	rk_metric_device_clear(&a);
	rk_metric_device_clear(&b);
	CHECK(rk_metric_device_equal(&a, &b));
	a.cus = 4;
	CHECK(!rk_metric_device_equal(&a, &b));
	b.cus = 4;
	snprintf(b.product, sizeof(b.product), "MI300X");
	CHECK(rk_metric_device_equal(&a, &b));
	snprintf(b.arch, sizeof(b.arch), "gfx942");
	CHECK(!rk_metric_device_equal(&a, &b));
}

TEST(constants_of_the_sdk_follow_from_the_device)
{
	static const struct {
		const char *name;
		double value;
	} known[] = {
		{ "CU_NUM", 304 },
		{ "SIMD_NUM", 1216 },
		{ "SE_NUM", 32 },
		{ "MAX_WAVE_SIZE", 64 },
		{ "simd_count", 1216 },
		{ "simd_per_cu", 4 },
		{ "wave_front_size", 64 },
		{ "array_count", 32 },
		{ "cu_count", 304 },
		{ "simd_arrays_per_engine", 1 },
		{ "max_waves_per_simd", 8 },
		{ "max_engine_clk_fcompute", 2100 },
		{ "num_xcc", 8 },
		{ "gfx_target_version", 90402 },
	};
	struct rk_error err = { 0 };
	struct rk_device_notes notes;
	struct rk_metric_device d;
	double v = 0;

	rk_metric_device_clear(&d);
	snprintf(d.product, sizeof(d.product), "MI300X");
	CHECK_I64(rk_metric_device_complete(&d, &notes, &err), 0);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		CHECK(rk_metric_device_constant(&d, known[i].name, &v) && v == known[i].value);
	CHECK(rk_metric_device_constant(&d, "hive_id", &v) && isnan(v));
	CHECK(rk_metric_device_constant(&d, "max_engine_clk_ccompute", &v) && isnan(v));
	CHECK(!rk_metric_device_constant(&d, "SQ_WAVES", &v));
	CHECK(!rk_metric_device_constant(&d, "", &v));
	snprintf(d.arch, sizeof(d.arch), "gfx1100");
	CHECK(rk_metric_device_constant(&d, "gfx_target_version", &v) && v == 110000);
	CHECK(rk_metric_device_constant(&d, "simd_arrays_per_engine", &v) && v == 2);
	rk_metric_device_clear(&d);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		CHECK(rk_metric_device_constant(&d, known[i].name, &v) && isnan(v));
}

TEST(a_device_in_want_of_memory_fails_cleanly)
{
	int rc = RK_E_NOMEM;

	for (uint64_t n = 1; rc < 0 && n < 5000; n++) {
		struct rk_error err = { 0 };
		struct rk_device_notes notes;
		struct rk_metric_device d;

		rk_metric_device_clear(&d);
		snprintf(d.product, sizeof(d.product), "MI300X");
		rk_alloc_fail_after(n);
		rc = rk_metric_device_complete(&d, &notes, &err);
		CHECK(rc == 0 || (rc == RK_E_NOMEM && err.code == RK_E_NOMEM && isnan(d.cus)));
	}
	rk_alloc_fail_after(0);
	CHECK_I64(rc, 0);
}
