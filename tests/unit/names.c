/* names.c - kernel names as people read them. */
#include "table/stages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/demangle.h"
#include "tap.h"
#include "world.h"

static char *clean(const char *name, size_t len, bool mangled, bool truncate)
{
	const struct rk_name_style style = { mangled, truncate };
	struct rk_bytes out;
	char *text;

	rk_bytes_init(&out, 1 << 20);
	CHECK(rk_name_clean(name, len, &style, &out));
	text = strdup(rk_bytes_str(&out));
	rk_bytes_release(&out);
	return text;
}

static void becomes(const char *name, const char *want, bool mangled, bool truncate)
{
	char *got = clean(name, strlen(name), mangled, truncate);

	CHECK_STR(got, want);
	free(got);
}

TEST(suffixes_of_every_tool_are_cut_off)
{
	becomes("k", "k", false, false);
	becomes("", "", false, false);
	becomes("k.kd", "k", false, false);
	becomes("k [clone .kd]", "k", false, false);
	becomes("k (.kd)", "k", false, false);
	becomes("void k<int>(int*) [clone .kd]", "void k<int>(int*)", false, false);
	becomes(".kd", ".kd", false, false); /* nothing would be left */
	becomes("a.kdb", "a.kdb", false, false);
	becomes("a.kd.kd", "a", false, false);
}

TEST(mangled_names_are_made_readable_unless_asked_not_to)
{
	becomes("_Z15addition_kernelIfEvPT_PKfS3_ii.kd",
		"void addition_kernel<float>(float*, float const*, float const*, int, int)", false,
		false);
	becomes("_Z15addition_kernelIfEvPT_PKfS3_ii.kd", "_Z15addition_kernelIfEvPT_PKfS3_ii", true,
		false);
	becomes("_ZN2ns1kEv", "ns::k()", false, false);
	becomes("_Z", "_Z", false, false);
	becomes("_Zebra crossing", "_Zebra crossing", false, false);
	becomes("_ZN", "_ZN", false, false);
	becomes("i", "i", false, false); /* a type's code, not a name */
	becomes("Cijk_Ailk_Bljk_SB_MT64x64x8", "Cijk_Ailk_Bljk_SB_MT64x64x8", false, false);
}

TEST(truncated_names_are_those_of_rocprofv3)
{
	becomes("void ns::kernel<float, 4>(float*)", "kernel", false, true);
	becomes("_Z15addition_kernelIfEvPT_PKfS3_ii.kd", "addition_kernel", false, true);
	becomes("kernel", "kernel", false, true);
	becomes("ns::kernel", "kernel", false, true);
	becomes("void (anonymous namespace)::k(int)", "k", false, true);
	becomes("a::b<c::d<e>>::f(g::h) const", "f", false, true);
	becomes("k(int) [clone .kd]", "k", false, true);
	becomes("k[abi:cxx11](int)", "k", false, true);
	becomes("(int)", "(int)", false, true);
	becomes("", "", false, true);
	becomes("x)", "x)", false, true);
	becomes("Memset (D)", "Memset", false, true);
}

TEST(bytes_that_are_not_text_are_replaced)
{
	char *got = clean("a\xff\xfe"
			  "b",
			  4, false, false);

	CHECK_STR(got, "a\xef\xbf\xbd\xef\xbf\xbd"
		       "b");
	free(got);
	becomes("\xc3\xa4\xe2\x82\xac", "\xc3\xa4\xe2\x82\xac", false, false);
}

TEST(a_name_with_a_nul_byte_is_not_cut_there)
{
	const struct rk_name_style style = { false, false };
	struct rk_bytes out;

	rk_bytes_init(&out, 1000);
	CHECK(rk_name_clean("_Z1f\0v", 6, &style, &out));
	CHECK_U64(out.len, 6);
	CHECK_MEM(out.data, "_Z1f\0v", 6);
	rk_bytes_release(&out);
}

/* f(pair<pair<...>>): each substitution doubles the text of the one before. */
static char *bomb(unsigned levels)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	struct rk_bytes b;
	char *text;

	rk_bytes_init(&b, 1 << 20);
	rk_bytes_puts(&b, "_Z1fSt4pairIiiE");
	for (unsigned i = 0; i < levels; i++)
		rk_bytes_printf(&b, "S_IS%c_S%c_E", digits[i], digits[i]);
	text = strdup(rk_bytes_str(&b));
	rk_bytes_release(&b);
	return text;
}

TEST(a_name_that_expands_to_gigabytes_comes_back_quickly_as_it_is)
{
	clock_t begin = clock();

	for (unsigned levels = 10; levels <= 35; levels++) {
		char *name = bomb(levels), *got = clean(name, strlen(name), false, false);

		CHECK(strlen(got) <= 64 << 10);
		if (levels >= 30)
			CHECK_STR(got, name);
		free(name);
		free(got);
	}
	CHECK((double)(clock() - begin) / CLOCKS_PER_SEC < 5);
}

TEST(deep_and_long_mangled_names_do_no_harm)
{
	static const char *const units[] = { "P",  "K",  "A1_", "N1a", "I", "St",
					     "S_", "T_", "Dp",  "L",   "X" };
	clock_t begin = clock();

	for (size_t u = 0; u < sizeof(units) / sizeof(units[0]); u++) {
		struct rk_bytes b;
		char *got;

		rk_bytes_init(&b, 1 << 20);
		rk_bytes_puts(&b, "_Z1f");
		while (b.len < (31 << 10))
			rk_bytes_puts(&b, units[u]);
		rk_bytes_puts(&b, "i");
		got = clean((char *)b.data, b.len, false, false);
		CHECK(got != NULL);
		free(got);
		rk_bytes_release(&b);
	}
	CHECK((double)(clock() - begin) / CLOCKS_PER_SEC < 5);
}

struct list {
	const char *const *names;
	size_t n;
	struct rk_builder b;
	struct world *w;
	bool given;
};

static const struct rk_batch *next_batch(void *arg)
{
	struct list *l = arg;
	uint32_t *ids;

	if (l->given)
		return NULL;
	l->given = true;
	CHECK_I64(rk_builder_init(&l->b, rk_table_schema(RK_KERNELS), l->n, NULL), 0);
	ids = rk_builder_column(&l->b, RK_K_NAME);
	for (size_t i = 0; i < l->n; i++) {
		if (l->names[i])
			rk_strtab_add(l->w->ctx.names, l->names[i], strlen(l->names[i]), &ids[i],
				      NULL);
		else
			rk_builder_null(&l->b, RK_K_NAME, i);
	}
	l->b.nrows = l->n;
	return rk_builder_batch(&l->b);
}

TEST(the_pass_cleans_each_name_and_keeps_what_is_missing)
{
	static const char *const names[] = { "a.kd", "b\xff", "a.kd", NULL, "_Z1fv", "c", "b\xff" };
	const struct rk_name_style style = { false, false };
	struct rk_source *s = NULL;
	struct world w;
	struct list l = { .names = names, .n = 7, .w = &w };

	world_open(&w, 1);
	CHECK_I64(rk_names_open(world_source(rk_table_schema(RK_KERNELS), next_batch, &l), &w.ctx,
				RK_K_NAME, &style, &s, NULL),
		  0);
	CHECK_STR(world_drain(&w, s),
		  "kernel_name=a\nkernel_name=b\xef\xbf\xbd\nkernel_name=a\n\n"
		  "kernel_name=f()\nkernel_name=c\nkernel_name=b\xef\xbf\xbd\n");
	CHECK_STR(world_warnings(&w), "invalid-utf8:1 ");
	rk_builder_release(&l.b);
	world_close(&w);
}

TEST(cleaning_survives_every_failed_allocation)
{
	const struct rk_name_style style = { false, true };

	for (uint64_t n = 1; n < 100; n++) {
		struct rk_bytes out;
		bool good;

		rk_bytes_init(&out, 1 << 16);
		rk_alloc_fail_after(n);
		good = rk_name_clean("_ZN2ns1kEv.kd", 13, &style, &out);
		if (!rk_alloc_failed()) {
			CHECK(good);
			rk_bytes_release(&out);
			break;
		}
		/* a name that could not be made readable for lack of memory may stay as it is */
		CHECK(!good || out.len);
		rk_bytes_release(&out);
	}
	rk_alloc_fail_after(0);
}
