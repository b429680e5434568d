/* detect.c - profilers that are installed, in trees made for the test. */
#include "rockit/tools.h"

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "tap.h"

static const char *const variables[] = { "HOME",     "ROCM_PATH",   "ROCM_HOME",
					 "HIP_PATH", "VIRTUAL_ENV", "CONDA_PREFIX" };
enum { NVARIABLES = sizeof(variables) / sizeof(variables[0]) };

/* A tree of its own, and an environment that says nothing. */
struct tree {
	char root[64], path[PATH_MAX];
	char *saved[NVARIABLES];
	struct rk_tools_found found;
	struct rk_error err;
};

static void tree_open(struct tree *t)
{
	*t = (struct tree){ .root = "/tmp/rockit-detect-XXXXXX" };
	CHECK(mkdtemp(t->root) != NULL);
	for (unsigned i = 0; i < NVARIABLES; i++) {
		t->saved[i] = getenv(variables[i]) ? rk_strdup(getenv(variables[i])) : NULL;
		unsetenv(variables[i]);
	}
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

static void tree_close(struct tree *t)
{
	for (unsigned i = 0; i < NVARIABLES; i++) {
		if (t->saved[i])
			setenv(variables[i], t->saved[i], 1);
		else
			unsetenv(variables[i]);
		rk_free(t->saved[i]);
	}
	rk_tools_release(&t->found);
	nftw(t->root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static const char *below(struct tree *t, const char *name)
{
	snprintf(t->path, sizeof(t->path), "%s/%s", t->root, name);
	return t->path;
}

static void make_folders(struct tree *t, const char *name)
{
	below(t, name);
	for (char *p = t->path + strlen(t->root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(t->path, 0777);
		*p = '/';
	}
}

static void put(struct tree *t, const char *name, const char *text)
{
	FILE *f;

	make_folders(t, name);
	f = fopen(below(t, name), "w");
	if (!CHECK(f != NULL))
		return;
	fwrite(text, 1, strlen(text), f);
	fclose(f);
	chmod(t->path, 0755);
}

static void put_link(struct tree *t, const char *name, const char *target)
{
	make_folders(t, name);
	CHECK(symlink(target, below(t, name)) == 0);
}

/* "name version rocm place" of each, a line each, with * for the one to use. */
static const char *detect(struct tree *t, const char *path)
{
	static char text[8192];
	struct rk_tools_options opt = { .root = t->root, .path = path };
	size_t at = 0;

	rk_tools_release(&t->found);
	CHECK(rk_tools_find(&opt, &t->found, &t->err) == 0);
	text[0] = '\0';
	for (size_t i = 0; i < t->found.n && at < sizeof(text); i++) {
		const struct rk_tool_found *f = &t->found.tools[i];

		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s|%s|%s|%s\n", f->name,
				       f->first ? "*" : "", f->version, f->rocm, f->place);
	}
	return text;
}

static void put_rocm(struct tree *t, const char *prefix, const char *version)
{
	char name[256];

	snprintf(name, sizeof(name), "%s/bin/rocprofv3", prefix);
	put(t, name, "#!/usr/bin/env python3\n");
	snprintf(name, sizeof(name), "%s/.info/version", prefix);
	put(t, name, version);
}

TEST(nothing_installed_is_an_answer)
{
	struct tree t;

	tree_open(&t);
	CHECK_STR(detect(&t, ""), "");
	CHECK(rk_tools_best(&t.found, "rocprofv3") == NULL);
	CHECK_STR(detect(&t, "/no/such/place::relative"), "");
	tree_close(&t);
}

TEST(releases_below_opt_are_found_newest_first_and_once)
{
	const struct rk_tool_found *best;
	struct tree t;

	tree_open(&t);
	put_rocm(&t, "opt/rocm-6.2.4", "6.2.4-147\n");
	put_rocm(&t, "opt/rocm-7.13.0", "7.13.0-5\n");
	put_rocm(&t, "opt/rocm-7.0.2", "7.0.2-56");
	put_link(&t, "opt/rocm", "rocm-7.0.2");
	put_link(&t, "opt/rocm-7.0.2/lib/librocprofiler-sdk.so.1", "librocprofiler-sdk.so.1.0.0");
	CHECK_STR(detect(&t, ""), "rocprofv3*|1.0.0|7.0.2|/opt/rocm\n"
				  "rocprofv3||7.13.0|/opt/rocm-7.13.0\n"
				  "rocprofv3||6.2.4|/opt/rocm-6.2.4\n");
	best = rk_tools_best(&t.found, "rocprofv3");
	CHECK(best && strstr(best->path, "/opt/rocm/bin/rocprofv3"));
	CHECK_STR(
		best->options,
		"has rccl trace, --pmc, alloc trace, PC sampling by host_trap, "
		"stochastic, rocpd, thread trace; lacks attach, several --pmc, SPM, kernel replay");
	CHECK_STR(t.found.tools[2].options,
		  "lacks rccl trace, --pmc, alloc trace, PC sampling by host_trap, stochastic, "
		  "rocpd, thread trace, attach, several --pmc, SPM, kernel replay");
	tree_close(&t);
}

TEST(the_path_comes_first_and_names_the_way_it_is_run)
{
	char path[PATH_MAX];
	struct tree t;

	tree_open(&t);
	put_rocm(&t, "opt/rocm-7.0.0", "7.0.0");
	put_rocm(&t, "home/rocm-6.4.1", "no version at all");
	snprintf(path, sizeof(path), "/nowhere:%s/home/rocm-6.4.1/bin", t.root);
	CHECK_STR(detect(&t, path), "rocprofv3*||6.4.1|PATH\n"
				    "rocprofv3||7.0.0|/opt/rocm-7.0.0\n");
	setenv("ROCM_PATH", below(&t, "opt/rocm-7.0.0"), 1);
	CHECK_STR(detect(&t, path), "rocprofv3*||6.4.1|PATH\n"
				    "rocprofv3||7.0.0|ROCM_PATH\n");
	tree_close(&t);
}

TEST(what_may_not_be_run_is_not_used)
{
	struct tree t;

	tree_open(&t);
	put_rocm(&t, "opt/rocm-7.0.0", "7.0.0");
	put_rocm(&t, "opt/rocm-6.4.0", "6.4.0");
	chmod(below(&t, "opt/rocm-7.0.0/bin/rocprofv3"), 0644);
	put(&t, "opt/rocm-6.4.0/bin/rocprofv2/not-a-program", "");
	CHECK_STR(detect(&t, ""), "rocprofv3||7.0.0|/opt/rocm-7.0.0\n"
				  "rocprofv3*||6.4.0|/opt/rocm-6.4.0\n");
	CHECK(!t.found.tools[0].usable && t.found.tools[1].usable);
	tree_close(&t);
}

TEST(wheels_are_found_in_site_packages)
{
	struct tree t;

	tree_open(&t);
	put(&t, "venv/lib/python3.12/site-packages/_rocm_sdk_core/bin/rocprofv3", "");
	put(&t, "venv/lib/python3.12/site-packages/_rocm_sdk_core/bin/rocprof-attach", "");
	put(&t, "venv/lib/python3.12/site-packages/rocm_sdk_core-7.10.0.dist-info/METADATA", "");
	put(&t, "venv/lib/python3.12/site-packages/_rocm_profiler/bin/rocprof-compute", "");
	put(&t,
	    "venv/lib/python3.12/site-packages/_rocm_profiler/libexec/rocprofiler-compute/VERSION",
	    "3.3.0\n");
	setenv("VIRTUAL_ENV", below(&t, "venv"), 1);
	CHECK_STR(detect(&t, ""), "rocprofv3*||7.10.0|wheel rocm-sdk-core 7.10.0\n"
				  "rocprof-attach*||7.10.0|wheel rocm-sdk-core 7.10.0\n"
				  "rocprof-compute*|3.3.0|7.10.0|wheel rocm-profiler\n");
	tree_close(&t);
}

TEST(a_script_of_an_environment_has_its_wheels_version)
{
	char path[PATH_MAX];
	struct tree t;

	tree_open(&t);
	put(&t, "venv/bin/rocprofv3", "#!/bin/python\n");
	put(&t, "venv/lib/python3.10/site-packages/rocm_sdk_core-7.9.0rc1.dist-info/METADATA", "");
	snprintf(path, sizeof(path), "%s/venv/bin", t.root);
	CHECK_STR(detect(&t, path), "rocprofv3*||7.9.0|PATH\n");
	tree_close(&t);
}

TEST(the_larger_tools_tell_their_own_versions)
{
	const struct rk_tool_found *best;
	struct tree t;

	tree_open(&t);
	put(&t, "opt/rocm-6.4.3/.info/version", "6.4.3");
	put(&t, "opt/rocm-6.4.3/libexec/rocprofiler-compute/rocprof-compute", "");
	put(&t, "opt/rocm-6.4.3/libexec/rocprofiler-compute/VERSION", "3.1.1\n");
	put_link(&t, "opt/rocm-6.4.3/bin/rocprof-compute",
		 "../libexec/rocprofiler-compute/rocprof-compute");
	put(&t, "opt/rocm-6.4.3/bin/rocprof-sys-sample", "");
	put_link(&t, "opt/rocm-6.4.3/lib/librocprof-sys.so.1", "librocprof-sys.so.1.0.2");
	put(&t, "opt/rocm-6.4.3/bin/rocprof", "");
	put_link(&t, "opt/rocm-6.4.3/lib/librocprofiler64.so.2", "librocprofiler64.so.2.0.60403");
	CHECK_STR(detect(&t, ""), "rocprof*|2.0.60403|6.4.3|/opt/rocm-6.4.3\n"
				  "rocprof-compute*|3.1.1|6.4.3|/opt/rocm-6.4.3\n"
				  "rocprof-sys-sample*|1.0.2|6.4.3|/opt/rocm-6.4.3\n");
	best = rk_tools_best(&t.found, "rocprof-sys");
	CHECK(best && !strcmp(best->name, "rocprof-sys-sample"));
	tree_close(&t);
}

TEST(an_own_number_alone_tells_the_release)
{
	struct tree t;

	tree_open(&t);
	put(&t, "usr/local/rocm/bin/rocprofv3", "");
	put_link(&t, "usr/local/rocm/lib/librocprofiler-sdk.so.0", "librocprofiler-sdk.so.0.6.0");
	put(&t, "usr/local/rocm/share/therock/dist_info.json", "{}");
	CHECK_STR(detect(&t, ""), "rocprofv3*|0.6.0|6.4.0|/usr/local/rocm (TheRock)\n");
	tree_close(&t);
}

TEST(tools_of_nvidia_have_their_version_in_the_path)
{
	char path[PATH_MAX];
	struct tree t;

	tree_open(&t);
	put(&t, "opt/nvidia/nsight-systems/2024.5.1/bin/nsys", "");
	put(&t, "opt/nvidia/nsight-compute/2024.3.0/ncu", "");
	put(&t, "usr/local/cuda-12.6/bin/ncu", "");
	put(&t, "usr/local/cuda-12.6/nsight-compute-2024.3.2/ncu", "");
	CHECK_STR(detect(&t, ""), "nsys*|2024.5.1||/opt/nvidia/nsight-systems/2024.5.1\n"
				  "ncu*|2024.3.0||/opt/nvidia/nsight-compute/2024.3.0\n"
				  "ncu|2024.3.2||/usr/local/cuda-12.6\n");
	put_link(&t, "usr/local/bin/nsys", "../../../opt/nvidia/nsight-systems/2024.5.1/bin/nsys");
	snprintf(path, sizeof(path), "%s/usr/local/bin", t.root);
	CHECK(strstr(detect(&t, path), "nsys*|2024.5.1||PATH\nncu*"));
	tree_close(&t);
}

TEST(a_newer_rocprof_is_named_and_not_guessed_at)
{
	struct tree t;

	tree_open(&t);
	put(&t, "opt/rocm-12.0.0/bin/rocprofv4", "");
	CHECK_STR(detect(&t, ""), "rocprofv4*||12.0.0|/opt/rocm-12.0.0\n");
	CHECK_STR(t.found.tools[0].options, "newer than this rockit");
	CHECK(rk_tools_best(&t.found, "rocprofv3") == NULL);
	tree_close(&t);
}

TEST(omniperf_is_used_as_rocprof_compute)
{
	const struct rk_tool_found *best;
	struct tree t;

	tree_open(&t);
	put(&t, "opt/rocm-6.2.0/bin/omniperf", "");
	put(&t, "opt/rocm-6.2.0/libexec/omniperf/VERSION", "2.0.1");
	detect(&t, "");
	best = rk_tools_best(&t.found, "rocprof-compute");
	CHECK(best && !strcmp(best->name, "omniperf") && !strcmp(best->version, "2.0.1"));
	CHECK(rk_tools_best(&t.found, "no such tool") == NULL);
	tree_close(&t);
}

TEST(each_failed_allocation_of_a_search_is_an_error)
{
	bool failed = true;
	struct tree t;

	tree_open(&t);
	put_rocm(&t, "opt/rocm-7.0.0", "7.0.0");
	for (uint64_t n = 1; failed && n < 1000; n++) {
		struct rk_tools_options opt = { .root = t.root, .path = "/bin" };
		struct rk_tools_found found = { 0 };
		struct rk_error err = { 0 };
		int rc;

		rk_alloc_fail_after(n);
		rc = rk_tools_find(&opt, &found, &err);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK(failed ? rc == RK_E_NOMEM && err.code == RK_E_NOMEM : rc == 0);
		CHECK_U64(found.n, failed ? 0 : 1);
		rk_tools_release(&found);
	}
	CHECK(!failed);
	tree_close(&t);
}

/* Reads by this process so far, or -1. */
static int64_t reads_so_far(void)
{
	FILE *f = fopen("/proc/self/io", "r");
	long long n = -1;
	char line[80];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "syscr: %lld", &n) == 1)
			break;
	if (f)
		fclose(f);
	return n;
}

TEST(a_search_reads_little)
{
	int64_t before = reads_so_far(), after;
	struct rk_tools_found found = { 0 };

	if (before < 0)
		SKIP("the kernel does not count reads");
	CHECK(rk_tools_find(NULL, &found, NULL) == 0);
	after = reads_so_far();
	CHECK(after - before < 1000);
	rk_tools_release(&found);
}
