/* pack_rocm_init.c - the _rocm_init.py of a framework. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "rockit/pack.h"
#include "tap.h"

/* What was made; borrowed until the next call. */
static const char *made(struct rk_rocm_init_options o)
{
	static char text[4096];
	struct rk_error err = { 0 };
	size_t len = 0;
	char *ret = NULL;

	CHECK_I64(rk_rocm_init(&o, &ret, &len, &err), 0);
	CHECK_STR(err.message, "");
	if (!ret || len >= sizeof(text))
		return "";
	CHECK_U64(strlen(ret), len);
	memcpy(text, ret, len + 1);
	rk_free(ret);
	return text;
}

static const char *refused(struct rk_rocm_init_options o)
{
	static struct rk_error err;
	size_t len = 7;
	char *ret = NULL;

	err = (struct rk_error){ 0 };
	CHECK_I64(rk_rocm_init(&o, &ret, &len, &err), RK_E_USAGE);
	CHECK(!ret && len == 7);
	return err.message;
}

#define HEAD                  \
	"def initialize():\n" \
	"  import rocm_sdk\n" \
	"  rocm_sdk.initialize_process(preload_shortnames=[\n"

TEST(without_names_pytorchs_libraries_are_loaded)
{
	CHECK_STR(made((struct rk_rocm_init_options){ .check_version = "7.0.0rc1" }),
		  HEAD "    'amd_comgr',\n"
		       "    'amdhip64',\n"
		       "    'roctx64',\n"
		       "    'hiprtc',\n"
		       "    'hipblas',\n"
		       "    'hipfft',\n"
		       "    'hiprand',\n"
		       "    'hipsparse',\n"
		       "    'hipsparselt',\n"
		       "    'hipsolver',\n"
		       "    'rccl',\n"
		       "    'hipblaslt',\n"
		       "    'miopen',\n"
		       "  ],\n"
		       "  check_version='7.0.0rc1')\n");
}

TEST(a_framework_names_its_libraries_and_its_lock)
{
	CHECK_STR(made((struct rk_rocm_init_options){ .preload = "amdhip64, rocm-openblas" }),
		  HEAD "    'amdhip64',\n    'rocm-openblas',\n  ])\n");
	CHECK_STR(made((struct rk_rocm_init_options){
			  .preload = "", .check_version = "7.0.0-RC1", .fail = true }),
		  HEAD "  ],\n  check_version='7.0.0rc1',\n  fail_on_version_mismatch=True)\n");
	CHECK_STR(made((struct rk_rocm_init_options){ .preload = "", .check_version = "7.*" }),
		  HEAD "  ],\n  check_version='7.*')\n");
}

TEST(a_lock_to_major_and_minor_has_a_wildcard)
{
	static const char *const locks[][2] = { { "7.0.0rc1", "7.0.*" },
						{ "10.1.0a20260822+bkc.1", "10.1.*" },
						{ "7.0.dev0", "7.0.*" },
						{ "1!7.12.3", "1!7.12.*" } };
	char want[200];

	for (size_t i = 0; i < sizeof(locks) / sizeof(locks[0]); i++) {
		struct rk_rocm_init_options o = { .preload = "",
						  .check_version = locks[i][0],
						  .minor = true };

		snprintf(want, sizeof(want), HEAD "  ],\n  check_version='%s')\n", locks[i][1]);
		CHECK_STR(made(o), want);
	}
	CHECK_STR(
		refused((struct rk_rocm_init_options){ .check_version = "7.0rc1", .minor = true }),
		"'7.0rc1' has no third number, so a pattern MAJOR.MINOR.* would not match it");
	refused((struct rk_rocm_init_options){ .check_version = "7", .minor = true });
}

TEST(what_makes_no_sense_in_rocm_init_is_refused)
{
	CHECK_STR(refused((struct rk_rocm_init_options){ .preload = "amdhip46" }),
		  "unknown library 'amdhip46'; did you mean 'amdhip64'?");
	CHECK(strstr(refused((struct rk_rocm_init_options){ .preload = "x'],os.system('y')" }),
		     "unknown library 'x']'"));
	CHECK(strstr(refused((struct rk_rocm_init_options){ .check_version = "seven" }),
		     "'seven' is not a version"));
	CHECK(strstr(refused((struct rk_rocm_init_options){ .check_version = "7.*')#" }),
		     "matches no version"));
	CHECK(strstr(refused((struct rk_rocm_init_options){ .check_version = "7.*", .minor = true }),
		     "is already a pattern"));
	CHECK_STR(refused((struct rk_rocm_init_options){ .fail = true }), "no version to check");
}

TEST(rocm_init_needs_memory)
{
	struct rk_rocm_init_options o = { .check_version = "7.0.0rc1", .minor = true };
	bool failed = true;

	for (uint64_t n = 1; failed && n < 200; n++) {
		struct rk_error err = { 0 };
		size_t len = 0;
		char *ret = NULL;
		int rc;

		rk_alloc_fail_after(n);
		rc = rk_rocm_init(&o, &ret, &len, &err);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK_I64(rc, failed ? RK_E_NOMEM : 0);
		rk_free(ret);
	}
	CHECK(!failed);
}
