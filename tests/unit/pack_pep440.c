/* pack_pep440.c - versions in their normal spelling, what is none, and names. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "pack/wheel/meta.h"
#include "tap.h"

/* What PyPA's `packaging` makes of each. */
static const struct {
	const char *given, *normal;
} versions[] = {
	{ "7.0", "7.0" },
	{ "7.0.0", "7.0.0" },
	{ "10.1.0", "10.1.0" },
	{ "10.1.0.dev0", "10.1.0.dev0" },
	{ "10.1.0.dev0+0123abc", "10.1.0.dev0+0123abc" },
	{ "10.1.0a20260822", "10.1.0a20260822" },
	{ "10.1.0a20260822+bkc.20260901", "10.1.0a20260822+bkc.20260901" },
	{ "10.1.0rc1", "10.1.0rc1" },
	{ "1.0-RC1", "1.0rc1" },
	{ "v1.0", "1.0" },
	{ "V1.0", "1.0" },
	{ "1.0.0-alpha.1", "1.0.0a1" },
	{ "1.0ALPHA", "1.0a0" },
	{ "1.0_beta2", "1.0b2" },
	{ "1.0.b.3", "1.0b3" },
	{ "1.0b", "1.0b0" },
	{ "1.0c1", "1.0rc1" },
	{ "1.0-c2", "1.0rc2" },
	{ "1.0pre4", "1.0rc4" },
	{ "1.0preview-5", "1.0rc5" },
	{ "1.0rc", "1.0rc0" },
	{ "1.0-rc-1", "1.0rc1" },
	{ "1.0.rc.1", "1.0rc1" },
	{ "1.0_rc_01", "1.0rc1" },
	{ "1.0a.", "1.0a0" },
	{ "1.0a..dev1", "1.0a0.dev1" },
	{ "1.0a--1", "1.0a0.post1" },
	{ "1.0a-1-1", "1.0a1.post1" },
	{ "1.0-1", "1.0.post1" },
	{ "1.0-01", "1.0.post1" },
	{ "1.0post", "1.0.post0" },
	{ "1.0.post", "1.0.post0" },
	{ "1.0-post2", "1.0.post2" },
	{ "1.0_post_3", "1.0.post3" },
	{ "1.0rev4", "1.0.post4" },
	{ "1.0-rev.5", "1.0.post5" },
	{ "1.0r6", "1.0.post6" },
	{ "1.0.r", "1.0.post0" },
	{ "1.0post-1", "1.0.post1" },
	{ "1.0dev", "1.0.dev0" },
	{ "1.0.dev", "1.0.dev0" },
	{ "1.0-dev3", "1.0.dev3" },
	{ "1.0_dev.4", "1.0.dev4" },
	{ "1.0DEV05", "1.0.dev5" },
	{ "1.0rc1.post2.dev3", "1.0rc1.post2.dev3" },
	{ "1.0-rc-1-2-dev-3", "1.0rc1.post2.dev3" },
	{ "0!1.0", "1.0" },
	{ "00!1.0", "1.0" },
	{ "1!2.0", "1!2.0" },
	{ "01!02.03", "1!2.3" },
	{ "2024!1", "2024!1" },
	{ "007", "7" },
	{ "1.00.010", "1.0.10" },
	{ "1.0+ABC", "1.0+abc" },
	{ "1.0+abc.7", "1.0+abc.7" },
	{ "1.0+a-b_c.D", "1.0+a.b.c.d" },
	{ "1.0+001.0a1", "1.0+1.0a1" },
	{ "1.0+0", "1.0+0" },
	{ "1.0+00", "1.0+0" },
	{ "1.0.0.0.0", "1.0.0.0.0" },
	{ "20260822.1", "20260822.1" },
	{ "99999999999999999999999999.1", "99999999999999999999999999.1" },
	{ "1.0.dev0+G1234567", "1.0.dev0+g1234567" },
	{ "1.0.post1.dev1+x", "1.0.post1.dev1+x" },
	{ "1.0a1.r2", "1.0a1.post2" },
	{ "1.0.a1-3", "1.0a1.post3" },
	{ "7.0.0rc20250401", "7.0.0rc20250401" },
	{ " 1.0 ", "1.0" },
	{ "\t1.0\r\n", "1.0" },
	{ "1.0-a-", "1.0a0" },
	{ "1.0.dev-", "1.0.dev0" },
};

static const char *const none[] = {
	"",       "abc",       "1.0foo",  "1.0+",    "1.0+a..b", "1.0+a+b",     "1.0+.a",
	"1.0+a.", "1.",        "1..0",    ".1",      "1.0-",     "1.0_1",       "1.0.post1.post2",
	"1.0!1",  "!1.0",      "1!",      "1.0a1b1", "1.0 a1",   "1.0,2",       "1.0.dev1.post1",
	"1.0/2",  "-1",        "1.0+a b", "v",       "vv1",      "1.0\xd9\xa0", "1.0post--1",
	"1.0--1", "1.0.dev--", "1,0",     "1e5",     "0x10",     "1.0dev1rc1",  "../1.0",
	"1.0\n2",
};

TEST(versions_become_what_packaging_makes_of_them)
{
	struct rk_arena *a = NULL;
	const char *normal;

	CHECK(rk_arena_new(&a, NULL) == 0);
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		normal = NULL;
		CHECK(rk_pep440_normal(a, versions[i].given, &normal, NULL) == 0);
		CHECK_STR(normal, versions[i].normal);
		/* a normal version is its own */
		CHECK(rk_pep440_normal(a, versions[i].normal, &normal, NULL) == 0);
		CHECK_STR(normal, versions[i].normal);
	}
	rk_arena_free(a);
}

static const char *refused(const char *version)
{
	static struct rk_error err;
	struct rk_arena *a = NULL;
	const char *normal = "untouched";

	err = (struct rk_error){ 0 };
	CHECK(rk_arena_new(&a, NULL) == 0);
	CHECK_I64(rk_pep440_normal(a, version, &normal, &err), RK_E_USAGE);
	CHECK_STR(normal, "untouched");
	rk_arena_free(a);
	return err.message;
}

TEST(an_invalid_version_is_refused_with_the_reason)
{
	char longest[200];

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		refused(none[i]);
	CHECK_STR(refused("release-7"),
		  "'release-7' is not a version (PEP 440): it must begin with a number, as in "
		  "7.0.0rc1");
	CHECK_STR(refused("7.0.0nightly"),
		  "'7.0.0nightly' is not a version (PEP 440): unexpected 'nightly'; "
		  "allowed after the numbers are aN, bN or rcN, .postN, .devN, +local");
	CHECK_STR(refused("7.0+a..b"), "'7.0+a..b' is not a version (PEP 440): after '+' only "
				       "letters and digits are allowed, separated by dots");
	CHECK_STR(refused("7.0\n\x1b[1m"),
		  "'7.0??[1m' is not a version (PEP 440): unexpected '?[1m'; "
		  "allowed after the numbers are aN, bN or rcN, .postN, .devN, +local");
	memset(longest, '1', sizeof(longest));
	longest[129] = '\0';
	CHECK_STR(refused(longest), "a version of 129 bytes is too long for file names (max 128)");
	longest[126] = 'r'; /* .post1 */
	longest[128] = '\0';
	CHECK_STR(refused(longest), "a version of 132 bytes is too long for file names (max 128)");
}

TEST(a_version_of_the_longest_kind_is_kept_whole)
{
	char longest[129];
	struct rk_arena *a = NULL;
	const char *normal = NULL;

	memset(longest, '1', sizeof(longest));
	longest[128] = '\0';
	CHECK(rk_arena_new(&a, NULL) == 0);
	CHECK(rk_pep440_normal(a, longest, &normal, NULL) == 0);
	CHECK_STR(normal, longest);
	rk_arena_free(a);
}

TEST(a_version_without_memory_is_not_a_version)
{
	bool failed = true;

	for (uint64_t n = 1; failed && n < 100; n++) {
		struct rk_arena *a = NULL;
		struct rk_error err = { 0 };
		const char *normal = NULL;
		int rc;

		CHECK(rk_arena_new(&a, NULL) == 0);
		rk_alloc_fail_after(n);
		rc = rk_pep440_normal(a, "1.0-RC1+Local.Build.of.someone.with.a.long.name", &normal,
				      &err);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK_I64(rc, failed ? RK_E_NOMEM : 0);
		rk_arena_free(a);
	}
	CHECK(!failed);
}

TEST(names_have_one_spelling_for_indexes_and_one_for_files)
{
	struct rk_arena *a = NULL;

	CHECK(rk_arena_new(&a, NULL) == 0);
	CHECK_STR(rk_pep503_name(a, "rocm-sdk-libraries-gfx94X-dcgpu", '-'),
		  "rocm-sdk-libraries-gfx94x-dcgpu");
	CHECK_STR(rk_pep503_name(a, "rocm-sdk-libraries-gfx94X-dcgpu", '_'),
		  "rocm_sdk_libraries_gfx94x_dcgpu");
	CHECK_STR(rk_pep503_name(a, "A.-_b__C.d", '-'), "a-b-c-d");
	CHECK_STR(rk_pep503_name(a, "", '-'), "");
	rk_arena_free(a);
}
