/* pack_plan.c - which file goes where, and what becomes of it. */
#include "pack/pack_plan.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "artifact_world.h"
#include "base/alloc.h"
#include "pack/elf/launcher.h"
#include "pack/elf/read.h"
#include "tap.h"

#define CORE_RPATHS(up)                                         \
	"$ORIGIN/" up "_rocm_sdk_core/lib/llvm/lib:$ORIGIN/" up \
	"_rocm_sdk_core/lib/rocm_sysdeps/lib"

static void world_begin(struct world *w, bool kpack)
{
	world_open(w, 1);
	artifacts_begin(w, kpack);
}

/* All bytes of an item, as they will be in the package. */
static void item_bytes(const struct rk_pack_item *item, struct rk_bytes *out)
{
	rk_bytes_init(out, 1 << 20);
	if (!CHECK(item && item->content) || !CHECK(rk_bytes_reserve(out, item->content->size + 1)))
		return;
	CHECK(!rk_content_read(item->content, 0, out->data, item->content->size, NULL));
	out->len = item->content->size;
}

static const char *rpath_of(struct world *w, const struct rk_pack_item *item)
{
	struct rk_arena *a = NULL;
	struct rk_elf elf = { 0 };
	struct rk_bytes b;

	item_bytes(item, &b);
	CHECK(!rk_arena_new(&a, NULL));
	CHECK(!rk_elf_read(b.data, b.len, a, &elf, NULL));
	rk_bytes_clear(&w->text);
	rk_bytes_printf(&w->text, "%s%s", elf.runpath ? "runpath " : "",
			elf.runpath ? elf.runpath :
			elf.rpath   ? elf.rpath :
				      "none");
	rk_arena_free(a);
	rk_bytes_release(&b);
	return rk_bytes_str(&w->text);
}

TEST(a_library_is_there_once_under_its_soname)
{
	struct rk_pack_plan *p;
	struct world w;

	world_begin(&w, false);
	artifact_library(&w, "core-hip_lib_generic", "lib/libx.so.1.2", "libx.so.1");
	artifact_link(&w, "core-hip_lib_generic", "lib/libx.so.1", "libx.so.1.2");
	artifact_link(&w, "core-hip_lib_generic", "lib/libx.so", "libx.so.1");
	artifact_library(&w, "core-hip_lib_generic", "lib/plugin.so", NULL);
	artifact_link(&w, "core-hip_lib_generic", "lib/plugin_too.so", "plugin.so");
	artifact_library(&w, "core-hip_lib_generic", "lib/odd.so", "another.so");
	p = artifacts_plan(&w, NULL);
	if (CHECK(p != NULL)) {
		CHECK_STR(plan_item(&w, p, "core", "lib/libx.so.1.2"), "alias|libx.so.1");
		CHECK_STR(plan_item(&w, p, "core", "lib/libx.so"), "alias|libx.so.1");
		CHECK_I64(plan_find(p, "core", "lib/libx.so.1")->action, RK_PACK_RESOLVED);
		CHECK_STR(rpath_of(&w, plan_find(p, "core", "lib/libx.so.1")),
			  "$ORIGIN:" CORE_RPATHS("../../"));
		CHECK_I64(plan_find(p, "core", "lib/plugin.so")->action, RK_PACK_EDIT);
		CHECK_I64(plan_find(p, "core", "lib/plugin_too.so")->action, RK_PACK_RESOLVED);
		/* nothing has the name of its SONAME: it would be lost */
		CHECK_I64(plan_find(p, "core", "lib/odd.so")->action, RK_PACK_EDIT);
		CHECK_STR(plan_item(&w, p, "devel", "lib/libx.so"), "link|libx.so.1");
		CHECK_STR(plan_item(&w, p, "devel", "lib/libx.so.1.2"), "link|libx.so.1");
		CHECK_STR(plan_item(&w, p, "devel", "lib/libx.so.1"),
			  "link|../../_rocm_sdk_core/lib/libx.so.1");
		CHECK_STR(plan_warnings(&w, p), "");
	}
	rk_pack_plan_free(p);
	world_close(&w);
}

TEST(a_link_to_a_program_is_a_launcher_to_the_end_of_the_chain)
{
	struct rk_pack_plan *p;
	struct rk_bytes b;
	struct world w;

	world_begin(&w, false);
	artifact_program(&w, "core-hip_run_generic", "lib/llvm/bin/clang-20");
	artifact_link(&w, "core-hip_run_generic", "lib/llvm/bin/clang", "clang-20");
	artifact_link(&w, "core-hip_run_generic", "bin/amdclang", "../lib/llvm/bin/clang");
	artifact_text(&w, "core-hip_run_generic", "bin/script", "#!/bin/sh\n");
	artifact_link(&w, "core-hip_run_generic", "bin/script_too", "script");
	artifact_static_program(&w, "core-hip_run_generic", "bin/static");
	artifact_link(&w, "core-hip_run_generic", "bin/static_too", "static");
	p = artifacts_plan(&w, NULL);
	if (CHECK(p != NULL)) {
		CHECK_STR(plan_item(&w, p, "core", "bin/amdclang"),
			  "launcher|runs '../lib/llvm/bin/clang-20'");
		CHECK_STR(plan_item(&w, p, "core", "lib/llvm/bin/clang"),
			  "launcher|runs 'clang-20'");
		item_bytes(plan_find(p, "core", "bin/amdclang"), &b);
		CHECK_STR(rk_launcher_target(b.data, b.len), "../lib/llvm/bin/clang-20");
		rk_bytes_release(&b);
		CHECK_U64(plan_find(p, "core", "bin/amdclang")->mode, 0755);
		CHECK_STR(plan_item(&w, p, "core", "bin/script_too"), "resolved|");
		CHECK_STR(plan_item(&w, p, "core", "bin/static"), "copy|");
		CHECK_STR(plan_find(p, "core", "bin/static")->reason,
			  "static program, no run path");
		CHECK_STR(plan_item(&w, p, "core", "bin/static_too"), "launcher|runs 'static'");
		CHECK_STR(rpath_of(&w, plan_find(p, "core", "lib/llvm/bin/clang-20")),
			  "$ORIGIN:" CORE_RPATHS("../../../../"));
		CHECK_STR(plan_item(&w, p, "devel", "bin/amdclang"),
			  "link|../../_rocm_sdk_core/bin/amdclang");
		CHECK_U64(plan_dist(p, "core", "")->machine, EM_X86_64);
		CHECK_U64(p->machine, EM_X86_64);
	}
	rk_pack_plan_free(p);
	world_close(&w);
}

TEST(links_that_lead_nowhere_or_out_are_dropped_with_the_reason)
{
	struct rk_pack_plan *p;
	struct world w;

	world_begin(&w, false);
	artifact_text(&w, "core-hip_lib_generic", "share/x/file", "x");
	artifact_link(&w, "core-hip_lib_generic", "share/dir", "x");
	artifact_link(&w, "core-hip_lib_generic", "share/gone", "nowhere");
	artifact_link(&w, "core-hip_lib_generic", "share/later", "../include/hip.h");
	artifact_link(&w, "core-hip_lib_generic", "share/loop", "loop");
	artifact_link(&w, "core-hip_lib_generic", "share/abs", "/etc/hostname");
	artifact_link(&w, "core-hip_lib_generic", "share/out", "../../x");
	artifact_text(&w, "core-hip_dev_generic", "include/hip.h", "x");
	p = artifacts_plan(&w, NULL);
	if (CHECK(p != NULL)) {
		static const struct {
			const char *path, *reason, *devel;
		} links[] = {
			{ "share/dir", "link 'x': a folder", "link|x" },
			{ "share/gone", "link 'nowhere': dangles", "link|nowhere" },
			{ "share/later", "link '../include/hip.h': dangles",
			  "link|../include/hip.h" },
			{ "share/loop", "link 'loop': is part of a link loop", "drop|" },
			{ "share/abs", "link '/etc/hostname': absolute", "drop|" },
			{ "share/out", "link '../../x': leaves the tree", "drop|" },
		};

		for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
			CHECK_STR(plan_item(&w, p, "core", links[i].path), "drop|");
			CHECK_STR(plan_find(p, "core", links[i].path)->reason, links[i].reason);
			CHECK_STR(plan_item(&w, p, "devel", links[i].path), links[i].devel);
		}
		CHECK_STR(plan_warnings(&w, p),
			  "absolute-link:1 escaping-link:1 looping-link:1 dangling-link:1 ");
	}
	rk_pack_plan_free(p);
	world_close(&w);
}

TEST(devel_links_that_only_the_merged_tree_shows_to_lead_out_are_dropped)
{
	struct rk_pack_plan *p;
	struct world w;

	world_begin(&w, false);
	/* `a/b` is a link up in another artifact: through it the text climbs out */
	artifact_link(&w, "core-hip_lib_generic", "l", "a/b/../../x");
	artifact_link(&w, "core-hip_dev_generic", "a/b", "..");
	p = artifacts_plan(&w, NULL);
	if (CHECK(p != NULL)) {
		CHECK_STR(plan_item(&w, p, "devel", "l"), "drop|");
		CHECK(strstr(plan_warnings(&w, p), "escaping-link:1") != NULL);
	}
	rk_pack_plan_free(p);
	world_close(&w);
}

TEST(what_programs_dlopen_or_preload_has_a_name_without_version)
{
	struct rk_pack_plan *p;
	struct world w;

	world_begin(&w, false);
	artifact_library(&w, "core-hip_lib_generic", "lib/libamdhip64.so.7.1", "libamdhip64.so.7");
	artifact_link(&w, "core-hip_lib_generic", "lib/libamdhip64.so.7", "libamdhip64.so.7.1");
	artifact_link(&w, "core-hip_lib_generic", "lib/libamdhip64.so", "libamdhip64.so.7");
	artifact_library(&w, "aqlprofile_lib_generic", "lib/libhsa-amd-aqlprofile64.so.1",
			 "libhsa-amd-aqlprofile64.so.1");
	artifact_library(&w, "rocprofiler-sdk_lib_generic", "lib/rocprofiler-sdk/libtool.so.1",
			 "libtool.so.1");
	artifact_library(&w, "rocprofiler-systems_lib_generic", "lib/librocprof-sys-rt.so.11.0",
			 "librocprof-sys-rt.so.11.0");
	artifact_library(&w, "core-hip_lib_generic", "lib/libother.so.1", "libother.so.1");
	p = artifacts_plan(&w, NULL);
	if (CHECK(p != NULL)) {
		const struct rk_pack_item *stub = plan_find(p, "core", "lib/libamdhip64.so");

		CHECK_STR(plan_item(&w, p, "core", "lib/libamdhip64.so"), "stub|libamdhip64.so.7");
		CHECK_STR(stub->edit, "loads 'libamdhip64.so.7'");
		CHECK_STR(rpath_of(&w, stub), "$ORIGIN");
		CHECK_STR(plan_item(&w, p, "core", "lib/libhsa-amd-aqlprofile64.so"),
			  "stub|libhsa-amd-aqlprofile64.so.1");
		CHECK_STR(plan_item(&w, p, "core", "lib/rocprofiler-sdk/libtool.so"),
			  "copy|libtool.so.1");
		CHECK_STR(plan_item(&w, p, "profiler", "lib/librocprof-sys-rt.so"),
			  "copy|librocprof-sys-rt.so.11.0");
		CHECK(plan_find(p, "profiler", "lib/librocprof-sys-rt.so")->content ==
		      plan_find(p, "profiler", "lib/librocprof-sys-rt.so.11.0")->content);
		CHECK_STR(plan_item(&w, p, "core", "lib/libother.so"), "none");
		/* who links against it in devel wants the library */
		CHECK_STR(plan_item(&w, p, "devel", "lib/libamdhip64.so"), "link|libamdhip64.so.7");
	}
	rk_pack_plan_free(p);
	world_close(&w);
}

TEST(core_and_profiler_share_the_programs_as_the_table_says)
{
	struct rk_pack_options o = { .profiler_name = "rocm-profiler" };
	struct rk_pack_plan *p;
	struct world w;

	world_begin(&w, false);
	artifact_text(&w, "rocprofiler-sdk_run_generic", "bin/rocprofv3", "#!");
	artifact_text(&w, "rocprofiler-sdk_run_generic", "bin/rocprof-attach", "#!");
	artifact_text(&w, "rocprofiler-sdk_run_generic", "bin/rocprof-sys-run", "#!");
	artifact_program(&w, "rocprofiler-systems_run_generic", "bin/rocprof-sys-run");
	artifact_text(&w, "rocprofiler-systems_run_generic", "share/other/x", "");
	artifact_text(&w, "rocprofiler-compute_lib_generic",
		      "libexec/rocprofiler-compute/rocprof-compute", "#!/usr/bin/env python3\n");
	artifact_link(&w, "rocprofiler-compute_run_generic", "bin/rocprof-compute",
		      "../libexec/rocprofiler-compute/rocprof-compute");
	artifact_text(&w, "core-hip_dev_generic", "lib/cmake/hip/x.cmake", "");
	p = artifacts_plan(&w, &o);
	if (CHECK(p != NULL)) {
		CHECK_STR(plan_item(&w, p, "core", "bin/rocprofv3"), "copy|");
		CHECK_STR(plan_item(&w, p, "core", "bin/rocprof-attach"), "copy|");
		CHECK_STR(plan_item(&w, p, "core", "bin/rocprof-sys-run"), "none");
		CHECK_STR(plan_item(&w, p, "core", "lib/cmake/hip/x.cmake"), "none");
		CHECK_STR(plan_item(&w, p, "devel", "lib/cmake/hip/x.cmake"), "copy|");
		CHECK_STR(plan_dist(p, "profiler", "")->dist, "rocm-profiler");
		CHECK_STR(plan_dist(p, "profiler", "")->platform, "_rocm_profiler");
		CHECK_STR(plan_item(&w, p, "profiler", "share/other/x"), "none");
		CHECK_STR(plan_item(&w, p, "profiler", "bin/rocprof-compute"), "resolved|");
		CHECK_STR(rpath_of(&w, plan_find(p, "profiler", "bin/rocprof-sys-run")),
			  "$ORIGIN:$ORIGIN/../../_rocm_sdk_core/lib:" CORE_RPATHS("../../"));
		/* the profilers are not part of devel */
		CHECK_STR(plan_item(&w, p, "devel", "bin/rocprof-compute"), "none");
	}
	rk_pack_plan_free(p);
	world_close(&w);
}

TEST(run_paths_are_of_the_kind_that_was_asked_for_and_never_doubled)
{
	struct rk_pack_options o = { .runpath = true, .version_suffix = "_n1" };
	struct rk_pack_plan *p;
	struct world w;

	world_begin(&w, false);
	artifact_library(&w, "blas_lib_gfx9", "lib/libb.so", "libb.so");
	artifact_library(&w, "blas_test_gfx9", "share/t/libt.so", "libt.so");
	p = artifacts_plan(&w, &o);
	if (CHECK(p != NULL)) {
		CHECK_STR(rpath_of(&w, plan_find(p, "libraries", "lib/libb.so")),
			  "runpath $ORIGIN:$ORIGIN/../../_rocm_sdk_core_n1/lib:"
			  "$ORIGIN/../../_rocm_sdk_core_n1/lib/rocm_sysdeps/lib:"
			  "$ORIGIN/../../_rocm_sdk_core_n1/lib/host-math/lib:"
			  "$ORIGIN/../../_rocm_sdk_core_n1/lib/llvm/lib");
		/* a file of devel alone keeps its own, only its kind changes */
		CHECK_STR(rpath_of(&w, plan_find(p, "devel", "share/t/libt.so")),
			  "runpath $ORIGIN");
		CHECK_STR(plan_dist(p, "libraries", "gfx9")->platform,
			  "_rocm_sdk_libraries_gfx9_n1");
	}
	rk_pack_plan_free(p);
	world_close(&w);
}

TEST(of_files_that_overlap_the_later_artifact_has_its_own)
{
	struct rk_pack_plan *p;
	struct rk_bytes b;
	struct world w;

	world_begin(&w, false);
	artifact_text(&w, "amd-llvm_lib_generic", "share/same", "equal");
	artifact_text(&w, "hipify_lib_generic", "share/same", "equal");
	artifact_text(&w, "amd-llvm_lib_generic", "share/differs", "first");
	artifact_text(&w, "hipify_lib_generic", "share/differs", "other");
	artifact_text(&w, "amd-llvm_lib_generic", "share/thing", "a file");
	artifact_text(&w, "hipify_lib_generic", "share/thing/x", "in a folder");
	p = artifacts_plan(&w, NULL);
	if (CHECK(p != NULL)) {
		item_bytes(plan_find(p, "core", "share/differs"), &b);
		CHECK(b.len == 5 && memcmp(b.data, "other", 5) == 0);
		rk_bytes_release(&b);
		CHECK_STR(plan_item(&w, p, "core", "share/thing"), "none");
		CHECK_STR(plan_item(&w, p, "core", "share/thing/x"), "copy|");
		CHECK_STR(plan_item(&w, p, "devel", "share/thing"), "dir|");
		CHECK_STR(plan_warnings(&w, p), "overlap:2 ");
	}
	rk_pack_plan_free(p);
	world_close(&w);
}

TEST(files_that_packages_have_themselves_are_left_out)
{
	struct rk_pack_plan *p;
	struct world w;

	world_begin(&w, false);
	artifact_text(&w, "hipify_lib_generic", "__init__.py", "import os");
	artifact_text(&w, "hipify_lib_generic", ".devel_links/gfx9.json", "{}");
	artifact_text(&w, "hipify_lib_generic", "share/__init__.py", "");
	p = artifacts_plan(&w, NULL);
	if (CHECK(p != NULL)) {
		CHECK_STR(plan_item(&w, p, "core", "__init__.py"), "none");
		CHECK_STR(plan_item(&w, p, "devel", "__init__.py"), "none");
		CHECK_STR(plan_item(&w, p, "core", ".devel_links/gfx9.json"), "none");
		CHECK_STR(plan_item(&w, p, "core", "share/__init__.py"), "copy|");
		CHECK_STR(plan_warnings(&w, p), "reserved-name:2 ");
	}
	rk_pack_plan_free(p);
	world_close(&w);
}

TEST(items_are_in_the_order_of_wheels)
{
	static const char *const want[] = {
		".info/version", "share/a",     "share/z",
		"share/m/x",     "share/m-n/x", "share/therock/therock_manifest.json"
	};
	const struct rk_dist *d;
	struct rk_pack_plan *p;
	struct world w;

	world_begin(&w, false);
	artifact_text(&w, "core-hip_lib_generic", "share/z", "");
	artifact_text(&w, "core-hip_lib_generic", "share/m/x", "");
	artifact_text(&w, "core-hip_lib_generic", "share/m-n/x", "");
	artifact_text(&w, "amd-llvm_lib_generic", "share/a", "");
	p = artifacts_plan(&w, NULL);
	d = p ? plan_dist(p, "core", "") : NULL;
	if (CHECK(d && d->n == sizeof(want) / sizeof(*want)))
		for (size_t i = 0; i < d->n; i++)
			CHECK_STR(d->items[i].path, want[i]);
	rk_pack_plan_free(p);
	world_close(&w);
}

TEST(modes_are_plain_ones)
{
	struct rk_pack_plan *p;
	struct world w;

	world_begin(&w, false);
	artifact_file(&w, "core-hip_lib_generic", "ro", "x", 1, 0444);
	artifact_file(&w, "core-hip_lib_generic", "group", "x", 1, 0664);
	artifact_file(&w, "core-hip_lib_generic", "setuid", "x", 1, 04755);
	artifact_file(&w, "core-hip_lib_generic", "own", "x", 1, 0700);
	p = artifacts_plan(&w, NULL);
	if (CHECK(p != NULL)) {
		CHECK_U64(plan_find(p, "core", "ro")->mode, 0644);
		CHECK_U64(plan_find(p, "core", "group")->mode, 0644);
		CHECK_U64(plan_find(p, "core", "setuid")->mode, 0755);
		CHECK_U64(plan_find(p, "core", "own")->mode, 0755);
	}
	rk_pack_plan_free(p);
	world_close(&w);
}

static const char *dists(struct world *w, const struct rk_pack_plan *p)
{
	rk_bytes_clear(&w->text);
	for (size_t i = 0; p && i < p->ndists; i++)
		rk_bytes_printf(&w->text, "%s%s%s ", p->dists[i].subdir,
				*p->dists[i].subdir ? "/" : "", p->dists[i].dist);
	return rk_bytes_str(&w->text);
}

static void two_families(struct world *w)
{
	artifact_text(w, "blas_lib_gfx9", "lib/b", "9");
	artifact_text(w, "blas_lib_gfx11", "lib/b", "11");
	artifact_text(w, "rpp_lib_generic", "lib/r", "");
	artifact_text(w, "prim_dev_gfx9", "include/p", "9");
	artifact_text(w, "kfdtest_run_generic", "bin/kfdtest", "");
}

TEST(every_family_has_its_libraries_and_its_devel)
{
	struct rk_pack_options o = { 0 };
	struct rk_pack_plan *p;
	struct world w;

	world_begin(&w, false);
	two_families(&w);
	p = artifacts_plan(&w, &o);
	CHECK_STR(dists(&w, p), "rocm-sdk-core rocm-sdk-profiler rocm-sdk-libraries-gfx11 "
				"rocm-sdk-libraries-gfx9 gfx11/rocm gfx9/rocm "
				"gfx11/rocm-sdk-devel gfx9/rocm-sdk-devel ");
	if (CHECK(p != NULL)) {
		CHECK_STR(plan_item(&w, p, "libraries", "lib/r"), "copy|");
		CHECK_STR(plan_item(&w, p, "devel", "lib/b"),
			  "link|../../_rocm_sdk_libraries_gfx11/lib/b");
		CHECK_STR(plan_item(&w, p, "devel", "include/p"), "none");
		CHECK_STR(plan_item(&w, p, "devel", "bin/kfdtest"), "none");
	}
	rk_pack_plan_free(p);

	o.target_families = "gfx9";
	p = artifacts_plan(&w, &o);
	CHECK_STR(dists(&w, p), "rocm-sdk-core rocm-sdk-profiler rocm-sdk-libraries-gfx9 rocm "
				"rocm-sdk-devel ");
	if (CHECK(p != NULL)) {
		CHECK_STR(plan_item(&w, p, "devel", "include/p"), "copy|");
		CHECK_U64(p->nfamilies, 1);
		CHECK_STR(p->families[0], "gfx9");
	}
	rk_pack_plan_free(p);

	o.target_families = "gfx90";
	CHECK(!artifacts_plan(&w, &o));
	CHECK_I64(w.err.code, RK_E_USAGE);
	CHECK_STR(w.err.message, "unknown GPU family 'gfx90'; did you mean 'gfx9'?");
	world_close(&w);
}

TEST(split_artifacts_have_a_package_for_each_target)
{
	struct rk_pack_options o = { .target_families = "gfx942;gfx950" };
	struct rk_pack_plan *p;
	struct world w;

	world_begin(&w, true);
	artifact_text(&w, "blas_lib_generic", "lib/host", "");
	artifact_text(&w, "blas_lib_gfx942", "lib/a.kpack", "1");
	artifact_text(&w, "blas_lib_gfx942:xnack+", "lib/b.kpack", "2");
	artifact_link(&w, "blas_lib_gfx942", "lib/l.kpack", "a.kpack");
	artifact_library(&w, "miopen_lib_gfx950", "lib/libck.so.1", "libck.so");
	artifact_text(&w, "rpp_lib_gfx950", "lib/not", "");
	artifact_text(&w, "blas_test_generic", "share/test", "");
	artifact_text(&w, "libhipcxx_dev_generic", "include/hipcxx", "");
	p = artifacts_plan(&w, &o);
	CHECK_STR(w.err.message, "");
	CHECK_STR(dists(&w, p),
		  "rocm-sdk-core rocm-sdk-profiler rocm-sdk-libraries "
		  "rocm-sdk-device-gfx942 rocm-sdk-device-gfx950 rocm rocm-sdk-devel ");
	if (CHECK(p != NULL)) {
		const struct rk_dist *d = plan_dist(p, "device", "gfx942");
		const struct rk_dist *e = plan_dist(p, "device", "gfx950");

		CHECK_U64(d->n, 3);
		CHECK_STR(d->platform, "_rocm_sdk_libraries");
		CHECK_STR(d->module, "");
		CHECK_I64(d->items[2].action, RK_PACK_RESOLVED);
		/* no rule of SONAMEs here, and core's folders in the run path */
		if (CHECK(e->n == 1))
			CHECK_STR(rpath_of(&w, &e->items[0]),
				  "$ORIGIN:$ORIGIN/../../_rocm_sdk_core/lib:"
				  "$ORIGIN/../../_rocm_sdk_core/lib/rocm_sysdeps/lib");
		CHECK_STR(plan_item(&w, p, "libraries", "lib/host"), "copy|");
		CHECK_STR(plan_item(&w, p, "libraries", "lib/a.kpack"), "none");
		CHECK_STR(plan_item(&w, p, "devel", "lib/a.kpack"), "none");
		CHECK_STR(plan_item(&w, p, "devel", "share/test"), "none");
		CHECK_STR(plan_item(&w, p, "devel", "include/hipcxx"), "copy|");
	}
	rk_pack_plan_free(p);
	world_close(&w);
}

TEST(a_package_that_must_exist_says_what_it_is_made_of)
{
	struct rk_pack_options o = { .target_families = "gfx9" };
	struct world w;

	world_open(&w, 1);
	artifact_text(&w, "base_lib_generic", "share/therock/therock_manifest.json", "{}");
	CHECK(!artifacts_plan(&w, NULL));
	CHECK_I64(w.err.code, RK_E_FORMAT);
	CHECK(strstr(w.err.message,
		     "has no artifact for the package 'rocm-sdk-profiler': it needs "
		     "lib or run of rocprofiler-compute, rocprofiler-systems") != NULL);
	world_close(&w);

	world_begin(&w, true);
	artifact_text(&w, "rpp_lib_gfx9", "x", "");
	CHECK(!artifacts_plan(&w, &o));
	CHECK(strstr(w.err.message, "no artifact for rocm-sdk-libraries") != NULL);
	artifact_text(&w, "rpp_lib_generic", "x", "");
	CHECK(!artifacts_plan(&w, &o));
	CHECK(strstr(w.err.message, "no artifact for rocm-sdk-device-gfx9") != NULL);
	world_close(&w);
}

TEST(programs_that_a_package_should_have_are_missed)
{
	const struct rk_warning *v;
	struct rk_pack_plan *p;
	struct world w;
	size_t n = 0;

	world_begin(&w, false);
	for (const char *const *s = (const char *const[]){ "avail", "attach", "causal",
							   "instrument", "run", "sample", NULL };
	     *s; s++) {
		char path[64];

		snprintf(path, sizeof(path), "bin/rocprof-sys-%s", *s);
		artifact_program(&w, "rocprofiler-systems_run_generic", path);
	}
	p = artifacts_plan(&w, NULL);
	v = p ? rk_diag_list(p->diag, &n) : NULL;
	if (CHECK_U64(n, 2)) {
		CHECK_STR(v[0].kind, "no-program");
		CHECK_STR(v[0].file, "rocm-sdk-core");
		CHECK(strstr(v[0].message, "made without amd-smi, amdclang, amdclang++, ") != NULL);
		CHECK(strstr(v[0].message, ": no artifact has their programs") != NULL);
		CHECK_STR(v[1].file, "rocm-sdk-profiler");
		CHECK_STR(v[1].message,
			  "made without rocprof-compute: no artifact has its program");
	}
	rk_pack_plan_free(p);
	world_close(&w);
}

TEST(what_is_in_no_package_is_listed_with_the_reason)
{
	static const char *const expected[][3] = {
		{ "blas_lib_gfx942", "", "its GPU family was not requested" },
		{ "core-hip_lib_generic", "share/abs",
		  "link to a folder, dangling, or out of the tree" },
		{ "core-hip_lib_generic", "__init__.py",
		  "packages generate their own file of this name" },
		{ "rdc_lib_generic", "", "no package uses 'rdc'" },
		{ "rocprofiler-compute_run_generic", "bin/rocprof-compute",
		  "another artifact has a different file of this name" },
		{ "rocprofiler-systems_dev_generic", "",
		  "no package uses 'dev' of 'rocprofiler-systems'" },
		{ "rocprofiler-systems_run_generic", "bin/omnitrace",
		  "no package uses files of this name" },
	};
	struct rk_pack_options o = { .target_families = "gfx1100" };
	struct rk_pack_plan *p;
	struct world w;

	world_begin(&w, false);
	artifact_text(&w, "blas_lib_gfx942", "lib/x", "");
	artifact_text(&w, "blas_lib_gfx1100", "lib/x", "");
	artifact_text(&w, "rdc_lib_generic", "lib/x", "");
	artifact_text(&w, "core-hip_lib_generic", "lib/fine", "");
	artifact_text(&w, "core-hip_lib_generic", "__init__.py", "");
	artifact_link(&w, "core-hip_lib_generic", "share/abs", "/etc/hostname");
	artifact_link(&w, "core-hip_lib_generic", "share/only_in_devel", "nowhere");
	artifact_text(&w, "rocprofiler-systems_dev_generic", "include/x.h", "");
	artifact_text(&w, "rocprofiler-compute_run_generic", "bin/rocprof-compute", "1");
	artifact_text(&w, "rocprofiler-compute_run_generic", "bin/rocprof-same", "x");
	artifact_text(&w, "rocprofiler-systems_run_generic", "bin/rocprof-compute", "2");
	artifact_text(&w, "rocprofiler-systems_run_generic", "bin/rocprof-same", "x");
	artifact_text(&w, "rocprofiler-systems_run_generic", "bin/omnitrace", "");
	p = artifacts_plan(&w, &o);
	if (CHECK(p != NULL) && CHECK_U64(p->nleft, sizeof(expected) / sizeof(*expected)))
		for (size_t i = 0; i < p->nleft; i++) {
			CHECK_STR(p->left[i].artifact, expected[i][0]);
			CHECK_STR(p->left[i].path, expected[i][1]);
			CHECK_STR(p->left[i].reason, expected[i][2]);
		}
	rk_pack_plan_free(p);
	world_close(&w);
}

TEST(a_suffix_that_no_module_can_have_is_refused)
{
	struct rk_pack_options o = { .version_suffix = "a/b" };
	struct world w;

	world_begin(&w, false);
	CHECK(!artifacts_plan(&w, &o));
	CHECK_I64(w.err.code, RK_E_USAGE);
	world_close(&w);
}

TEST(the_version_comes_from_the_artifacts_when_none_is_given)
{
	struct rk_pack_options o = { 0 };
	struct rk_pack_plan *p = NULL;
	struct world w;
	char dir[512];

	world_begin(&w, false);
	o.artifact_dir = artifacts_dir(&w, dir);
	CHECK(!rk_pack_plan_make(&o, NULL, &p, &w.err));
	if (p)
		CHECK_STR(p->version, "10.1.0.dev0");
	rk_pack_plan_free(p);
	world_close(&w);
}

TEST(files_for_two_machines_cannot_be_in_one_package)
{
	struct rk_bytes b;
	struct world w;

	world_begin(&w, false);
	artifact_library(&w, "core-hip_lib_generic", "lib/liba.so", "liba.so");
	library_bytes(&b, EM_AARCH64, "libb.so");
	artifact_file(&w, "core-hip_lib_generic", "lib/libb.so", b.data, b.len, 0755);
	CHECK(!artifacts_plan(&w, NULL));
	CHECK_I64(w.err.code, RK_E_FORMAT);
	CHECK(strstr(w.err.message, "lib/liba.so") && strstr(w.err.message, "lib/libb.so"));
	rk_bytes_release(&b);
	world_close(&w);
}

TEST(device_code_and_text_are_never_edited)
{
	struct rk_pack_plan *p;
	struct rk_bytes b;
	struct world w;

	world_begin(&w, false);
	artifact_library(&w, "blas_lib_gfx9", "lib/x.hsaco", "x");
	artifact_library(&w, "blas_lib_gfx9", "lib/x.co", "x");
	artifact_library(&w, "blas_lib_gfx9", "lib/x.txt", "x");
	library_bytes(&b, EM_X86_64, "other");
	b.data[18] = EM_CUDA & 255;
	artifact_file(&w, "blas_lib_gfx9", "lib/other", b.data, b.len, 0644);
	rk_bytes_release(&b);
	artifact_library(&w, "blas_lib_gfx9", "lib/libx.so", "libx.so");
	p = artifacts_plan(&w, NULL);
	if (CHECK(p != NULL)) {
		CHECK_STR(plan_item(&w, p, "libraries", "lib/x.hsaco"), "copy|");
		CHECK_STR(plan_find(p, "libraries", "lib/x.co")->reason, "device code");
		CHECK_STR(plan_item(&w, p, "libraries", "lib/x.txt"), "copy|");
		CHECK_STR(plan_find(p, "libraries", "lib/other")->reason,
			  "code for another kind of processor");
		CHECK_U64(plan_dist(p, "libraries", "gfx9")->machine, EM_X86_64);
	}
	rk_pack_plan_free(p);
	world_close(&w);
}

/* Every ELF file that is cut is an error in a runtime package; nothing else happens. */
TEST(a_broken_elf_file_is_an_error_that_names_it)
{
	struct rk_bytes b;
	struct world w;

	world_begin(&w, false);
	library_bytes(&b, EM_X86_64, "libx.so");
	for (size_t len = 0; len < b.len; len += 37) {
		struct rk_pack_plan *p;

		artifact_file(&w, "core-hip_lib_generic", "lib/libx.so", b.data, len, 0755);
		p = artifacts_plan(&w, NULL);
		if (!p)
			CHECK(strstr(w.err.message, "core-hip_lib_generic: lib/libx.so") != NULL);
		else
			CHECK(plan_find(p, "core", "lib/libx.so")->content->size >= len);
		rk_pack_plan_free(p);
	}
	rk_bytes_release(&b);
	world_close(&w);
}

TEST(a_broken_elf_file_of_devel_alone_is_copied)
{
	struct rk_pack_plan *p;
	struct rk_bytes b;
	struct world w;

	world_begin(&w, false);
	library_bytes(&b, EM_X86_64, "libx.so");
	artifact_text(&w, "core-hip_lib_generic", "share/x", "");
	artifact_file(&w, "core-hip_test_generic", "share/test/broken", b.data, 100, 0644);
	p = artifacts_plan(&w, NULL);
	if (CHECK(p != NULL)) {
		CHECK_STR(plan_item(&w, p, "devel", "share/test/broken"), "copy|");
		CHECK_STR(plan_warnings(&w, p), "broken-elf:1 ");
	}
	rk_pack_plan_free(p);
	rk_bytes_release(&b);
	world_close(&w);
}

/* All of a plan as text. */
static char *whole_plan(struct world *w)
{
	struct rk_pack_plan *p = artifacts_plan(w, NULL);
	struct rk_bytes out;
	char *text = NULL;

	rk_bytes_init(&out, 1 << 20);
	for (size_t i = 0; p && i < p->ndists; i++)
		for (size_t j = 0; j < p->dists[i].n; j++) {
			const struct rk_pack_item *item = &p->dists[i].items[j];

			rk_bytes_printf(&out, "%s %s %s %s %s %o %s\n", p->dists[i].dist,
					item->path, rk_pack_action_names[item->action], item->edit,
					item->reason, item->mode, item->link ? item->link : "");
		}
	CHECK(!rk_bytes_give(&out, &text, NULL, NULL));
	rk_pack_plan_free(p);
	return text;
}

TEST(the_order_in_which_files_were_made_does_not_matter)
{
	static const char *const names[] = { "amd-llvm_lib_generic", "blas_lib_gfx9",
					     "blas_dev_gfx11", "hipify_run_generic" };
	char *texts[2];

	for (size_t turn = 0; turn < 2; turn++) {
		struct world w;

		world_begin(&w, false);
		for (size_t i = 0; i < 40; i++) {
			size_t k = turn ? 39 - i : i;
			char path[64];

			snprintf(path, sizeof(path), "share/%zu/x%zu", k % 3, k);
			artifact_text(&w, names[k % 4], path, "text");
		}
		texts[turn] = whole_plan(&w);
		world_close(&w);
	}
	CHECK_STR(texts[1], texts[0]);
	CHECK(strlen(texts[0]) > 1000);
	rk_free(texts[0]);
	rk_free(texts[1]);
}

TEST(a_plan_survives_the_loss_of_every_allocation)
{
	bool failed = true;
	struct world w;

	world_begin(&w, false);
	artifact_library(&w, "core-hip_lib_generic", "lib/libamdhip64.so.7", "libamdhip64.so.7");
	artifact_program(&w, "core-hip_run_generic", "bin/p");
	artifact_link(&w, "core-hip_run_generic", "bin/l", "p");
	artifact_text(&w, "blas_dev_gfx9", "include/b", "");
	artifact_text(&w, "blas_lib_gfx9", "lib/b", "");
	artifact_text(&w, "rand_lib_gfx9", "lib/b", "x");
	for (uint64_t n = 1; failed && n < 20000; n++) {
		struct rk_pack_plan *p;

		rk_alloc_fail_after(n);
		p = artifacts_plan(&w, NULL);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK(p || w.err.code == RK_E_NOMEM);
		rk_pack_plan_free(p);
	}
	CHECK(!failed);
	world_close(&w);
}
