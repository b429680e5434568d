/* pack_table.c - the table of packages and its patterns. */
#include "pack/pack_table.h"

#include <string.h>

#include "base/alloc.h"
#include "pack/artifacts.h"
#include "pack/paths.h"
#include "tap.h"

static const struct rk_pack_table *load(struct rk_arena **a, const char *profiler)
{
	const struct rk_pack_table *t = NULL;
	struct rk_error err = { 0 };

	CHECK(!rk_arena_new(a, &err));
	CHECK(!rk_pack_table_load(*a, profiler, &t, &err));
	CHECK_STR(err.message, "");
	return t;
}

static bool takes(const struct rk_pack_kind *k, const char *name, enum rk_component c)
{
	for (size_t i = 0; i < k->ntakes; i++)
		for (size_t j = 0; k->takes[i].names[j]; j++)
			if (strcmp(k->takes[i].names[j], name) == 0 &&
			    k->takes[i].components >> c & 1)
				return true;
	return false;
}

static const struct rk_pack_script *script(const struct rk_pack_kind *k, const char *name)
{
	for (size_t i = 0; i < k->nscripts; i++)
		if (strcmp(k->scripts[i].name, name) == 0)
			return &k->scripts[i];
	return NULL;
}

TEST(a_pattern_of_paths_knows_folders)
{
	CHECK(rk_pack_glob("bin/rocprof-sys-*", "bin/rocprof-sys-run"));
	CHECK(!rk_pack_glob("bin/rocprof-sys-*", "bin/rocprof-sys-x/y"));
	CHECK(!rk_pack_glob("bin/rocprof-sys-*", "x/bin/rocprof-sys-run"));
	CHECK(rk_pack_glob("**/cmake/**", "cmake"));
	CHECK(rk_pack_glob("**/cmake/**", "lib/cmake/hip/a.cmake"));
	CHECK(rk_pack_glob("**/cmake/**", "lib/cmake"));
	CHECK(!rk_pack_glob("**/cmake/**", "lib/cmake2/x"));
	CHECK(rk_pack_glob("share/**/r/**", "share/r"));
	CHECK(rk_pack_glob("share/**/r/**", "share/doc/x/r/y/z"));
	CHECK(!rk_pack_glob("share/**/r/**", "shared/r"));
	CHECK(rk_pack_glob("lib/*.so.*", "lib/libx.so.1.2"));
	CHECK(!rk_pack_glob("lib/*.so.*", "lib/libx.so"));
	CHECK(rk_pack_glob("a?c", "abc"));
	CHECK(!rk_pack_glob("a?c", "a/c"));
	CHECK(!rk_pack_glob("a", ""));
	CHECK(rk_pack_glob("*a*b*", "xxaxxaxbb"));
	CHECK(!rk_pack_glob("*a*b*c", "xxaxxaxbb"));
}

TEST(the_table_says_what_core_takes_and_leaves)
{
	struct rk_arena *a = NULL;
	const struct rk_pack_table *t = load(&a, NULL);
	const struct rk_pack_kind *core = rk_pack_table_find(t, "core");

	CHECK_U64(t->n, 6);
	CHECK(core->required && !core->per_family && core->role == RK_PACK_RUNTIME);
	CHECK(takes(core, "core-hip", RK_COMPONENT_DEV));
	CHECK(takes(core, "base", RK_COMPONENT_RUN) && !takes(core, "base", RK_COMPONENT_DEV));
	CHECK(takes(core, "rocjitsu-hotswap", RK_COMPONENT_LIB));
	CHECK(!takes(core, "rocjitsu-hotswap", RK_COMPONENT_RUN));
	CHECK(!rk_pack_glob_any(core->exclude, "bin/rocprof-attach"));
	CHECK(!rk_pack_glob_any(core->exclude, "bin/rocprofv3"));
	CHECK(rk_pack_glob_any(core->exclude, "bin/rocprof-sys-run"));
	CHECK(rk_pack_glob_any(core->exclude, "bin/rocprof-compute"));
	CHECK_U64(core->nrpaths, 2);
	CHECK_STR(core->rpaths[0].dir, "lib/llvm/lib");
	CHECK(script(core, "rocminfo")->plain && !script(core, "hipcc")->plain);
	CHECK_STR(script(core, "amdclang++")->path, "lib/llvm/bin/amdclang++");
	CHECK(!rk_pack_table_find(t, "nothing"));
	rk_arena_free(a);
}

TEST(a_script_has_a_function_that_python_can_have)
{
	struct rk_arena *a = NULL;
	const struct rk_pack_table *t = load(&a, NULL);

	CHECK_STR(rk_pack_script_function(a, "amdclang++"), "amdclangpp");
	CHECK_STR(rk_pack_script_function(a, "roc-obj-ls"), "roc_obj_ls");
	CHECK_STR(rk_pack_script_function(a, "rocm_agent_enumerator"), "rocm_agent_enumerator");
	/* and no two scripts of a package share one */
	for (size_t k = 0; k < t->n; k++)
		for (size_t i = 0; i < t->kinds[k].nscripts; i++)
			for (size_t j = 0; j < i; j++)
				CHECK(strcmp(rk_pack_script_function(a,
								     t->kinds[k].scripts[i].name),
					     rk_pack_script_function(
						     a, t->kinds[k].scripts[j].name)) != 0);
	rk_arena_free(a);
}

TEST(names_of_packages_follow_from_kind_and_family)
{
	struct rk_arena *a = NULL;
	const struct rk_pack_table *t = load(&a, NULL);
	const struct rk_pack_kind *lib = rk_pack_table_find(t, "libraries");
	const struct rk_pack_kind *device = rk_pack_table_find(t, "device");
	const struct rk_pack_kind *meta = rk_pack_table_find(t, "meta");
	const char *f = "gfx94X-dcgpu";

	CHECK_STR(rk_pack_dist_name(a, lib, false, f), "rocm-sdk-libraries-gfx94X-dcgpu");
	CHECK_STR(rk_pack_module_name(a, lib, false, f), "rocm_sdk_libraries_gfx94X_dcgpu");
	CHECK_STR(rk_pack_platform_name(a, t, lib, false, f, ""),
		  "_rocm_sdk_libraries_gfx94X_dcgpu");
	CHECK_STR(rk_pack_dist_name(a, lib, true, ""), "rocm-sdk-libraries");
	CHECK_STR(rk_pack_dist_name(a, device, true, "gfx942"), "rocm-sdk-device-gfx942");
	CHECK_STR(rk_pack_platform_name(a, t, device, true, "gfx942", "_n1"),
		  "_rocm_sdk_libraries_n1");
	CHECK_STR(rk_pack_module_name(a, device, true, "gfx942"), "");
	CHECK_STR(rk_pack_module_name(a, meta, false, ""), "rocm_sdk");
	CHECK_STR(rk_pack_platform_name(a, t, meta, false, "", ""), "");
	rk_arena_free(a);
}

TEST(the_profiler_package_can_have_another_name)
{
	struct rk_arena *a = NULL;
	const struct rk_pack_table *t = load(&a, "rocm-profiler");
	const struct rk_pack_kind *k = rk_pack_table_find(t, "profiler");

	CHECK_STR(k->dist, "rocm-profiler");
	CHECK_STR(rk_pack_module_name(a, k, true, ""), "rocm_profiler");
	CHECK_STR(rk_pack_platform_name(a, t, k, false, "", ""), "_rocm_profiler");
	rk_arena_free(a);
	t = load(&a, NULL);
	CHECK_STR(rk_pack_table_find(t, "profiler")->dist, "rocm-sdk-profiler");
	rk_arena_free(a);
}

TEST(a_name_that_no_package_can_have_is_refused)
{
	static const char *const bad[] = { "",    "-x",  "a b",           "../x",
					   "a/b", "x\n", "rocm-sdk-core", "ROCM_SDK.core",
					   "rocm" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		const struct rk_pack_table *t = NULL;
		struct rk_error err = { 0 };
		struct rk_arena *a = NULL;

		CHECK(!rk_arena_new(&a, &err));
		CHECK_I64(rk_pack_table_load(a, bad[i], &t, &err), RK_E_USAGE);
		CHECK(!t);
		rk_arena_free(a);
	}
}

TEST(the_table_survives_the_loss_of_every_allocation)
{
	bool failed = true;

	for (uint64_t n = 1; failed && n < 20000; n++) {
		const struct rk_pack_table *t = NULL;
		struct rk_error err = { 0 };
		struct rk_arena *a = NULL;
		int rc;

		rk_alloc_fail_after(n);
		rc = rk_arena_new(&a, &err);
		if (rc == 0)
			rc = rk_pack_table_load(a, "x", &t, &err);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK(rc == (failed ? RK_E_NOMEM : 0));
		rk_arena_free(a);
	}
	CHECK(!failed);
}
