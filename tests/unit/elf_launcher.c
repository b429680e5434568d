/* elf_launcher.c - launchers and alias libraries: what is refused, and how failures end. */
#include <elf.h>
#include <string.h>

#include "base/alloc.h"
#include "pack/elf/launcher.h"
#include "tap.h"

TEST(a_launcher_is_known_again_with_its_path)
{
	static const uint16_t machines[] = { EM_X86_64, EM_AARCH64 };
	struct rk_bytes b;

	rk_bytes_init(&b, 1 << 16);
	for (unsigned i = 0; i < 2; i++) {
		CHECK(rk_launcher_make(machines[i], "../lib/llvm/bin/clang", &b, NULL) == 0);
		CHECK_STR(rk_launcher_target(b.data, b.len), "../lib/llvm/bin/clang");
		CHECK(!rk_launcher_target(b.data, b.len - 1));
		b.data[200] ^= 1; /* another program */
		CHECK(!rk_launcher_target(b.data, b.len));
	}
	CHECK(!rk_launcher_target("", 0));
	rk_bytes_release(&b);
}

TEST(a_launcher_of_any_length_is_cut_nowhere_and_damaged_ones_are_not_known)
{
	char path[RK_LAUNCHER_PATH_MAX + 2];
	struct rk_bytes b;

	rk_bytes_init(&b, 1 << 16);
	memset(path, 'x', sizeof(path));
	for (size_t n = 1; n <= RK_LAUNCHER_PATH_MAX; n++) {
		path[n] = '\0';
		CHECK(rk_launcher_make(EM_AARCH64, path, &b, NULL) == 0);
		CHECK_STR(rk_launcher_target(b.data, b.len), path);
		CHECK(b.len <= RK_LAUNCHER_BYTES_MAX);
		path[n] = 'x';
	}
	for (size_t n = 0; n < b.len; n++)
		CHECK(!rk_launcher_target(b.data, n));
	rk_bytes_release(&b);
}

TEST(a_launcher_that_cannot_be_is_refused)
{
	char path[RK_LAUNCHER_PATH_MAX + 2] = "";
	struct rk_error err = { 0 };
	struct rk_bytes b;

	rk_bytes_init(&b, 1 << 16);
	CHECK(rk_launcher_make(EM_PPC64, "x", &b, &err) == RK_E_UNSUPPORTED);
	CHECK(rk_launcher_make(EM_X86_64, "", &b, NULL) == RK_E_USAGE);
	CHECK(rk_launcher_make(EM_X86_64, "/bin/sh", &b, NULL) == RK_E_USAGE);
	memset(path, 'x', sizeof(path) - 1);
	CHECK(rk_launcher_make(EM_X86_64, path, &b, NULL) == RK_E_LIMIT);
	CHECK(rk_alias_library_make(EM_386, "a", "b", &b, NULL) == RK_E_UNSUPPORTED);
	CHECK(rk_alias_library_make(EM_X86_64, "a", "a", &b, NULL) == RK_E_USAGE);
	CHECK(rk_alias_library_make(EM_X86_64, "a", "../b", &b, NULL) == RK_E_USAGE);
	rk_bytes_release(&b);
}

TEST(without_memory_no_launcher_and_no_alias_is_made)
{
	struct rk_bytes b;

	for (int alias = 0; alias < 2; alias++) {
		struct rk_error err = { 0 };
		int rc;

		rk_bytes_init(&b, 1 << 16);
		rk_alloc_fail_after(1);
		rc = alias ? rk_alias_library_make(EM_X86_64, "a", "b", &b, &err) :
			     rk_launcher_make(EM_X86_64, "a", &b, &err);
		rk_alloc_fail_after(0);
		CHECK(rc == RK_E_NOMEM && err.code == RK_E_NOMEM);
		rk_bytes_release(&b);
	}
}
