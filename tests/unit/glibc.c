/* glibc.c - what files want of glibc, and what tags promise. */
#include "pack/tag.h"

#include <elf.h>

#include "tap.h"

TEST(versions_of_symbols_are_versions_of_glibc)
{
	struct rk_glibc g = { 0 };

	CHECK(rk_glibc_of("GLIBC_2.34", &g) && g.major == 2 && g.minor == 34);
	CHECK(rk_glibc_of("GLIBC_2.2.5", &g) && g.major == 2 && g.minor == 2);
	/* packed relocations: a name without a number, since 2.36 */
	CHECK(rk_glibc_of("GLIBC_ABI_DT_RELR", &g) && g.major == 2 && g.minor == 36);
	CHECK(!rk_glibc_of("GLIBC_PRIVATE", &g));
	CHECK(!rk_glibc_of("GLIBCXX_3.4", &g));
	CHECK(!rk_glibc_of("", &g));
}

TEST(tags_promise_a_version_of_glibc_or_none)
{
	struct rk_glibc g = { 0 };

	CHECK(rk_glibc_promised("manylinux_2_28_x86_64", &g) && g.major == 2 && g.minor == 28);
	CHECK(rk_glibc_promised("manylinux2014_aarch64", &g) && g.minor == 17);
	CHECK(rk_glibc_promised("manylinux2010_x86_64", &g) && g.minor == 12);
	CHECK(rk_glibc_promised("manylinux1_x86_64", &g) && g.minor == 5);
	CHECK(!rk_glibc_promised("linux_x86_64", &g));
	CHECK(!rk_glibc_promised("manylinux_2", &g));
	CHECK(!rk_glibc_promised("manylinux_2_28", &g));
}

TEST(a_greater_number_is_newer)
{
	CHECK(rk_glibc_newer((struct rk_glibc){ 2, 34 }, (struct rk_glibc){ 2, 9 }));
	CHECK(rk_glibc_newer((struct rk_glibc){ 3, 0 }, (struct rk_glibc){ 2, 99 }));
	CHECK(!rk_glibc_newer((struct rk_glibc){ 2, 34 }, (struct rk_glibc){ 2, 34 }));
	CHECK_STR(rk_machine_word(EM_X86_64), "x86_64");
	CHECK_STR(rk_machine_word(EM_AARCH64), "aarch64");
	CHECK(rk_machine_word(EM_386) == NULL);
}
