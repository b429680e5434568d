/* pack_wheel_meta.c - metadata and Python files of wheels, byte by byte. */
#include "meta_world.h"
#include "rockit/rockit.h"

/* ---- names and lines ---- */

TEST(wheels_and_their_metadata_are_named_in_lower_case_with_underscores)
{
	struct meta_world w;

	meta_open(&w, false);
	CHECK_STR(rk_wheel_name(w.plan.arena, &w.dists[LIBRARIES], "7.0.dev0", "linux_x86_64"),
		  "rocm_sdk_libraries_gfx94x_dcgpu-7.0.dev0-py3-none-linux_x86_64.whl");
	CHECK_STR(rk_dist_info_dir(w.plan.arena, &w.dists[LIBRARIES], "7.0.dev0"),
		  "rocm_sdk_libraries_gfx94x_dcgpu-7.0.dev0.dist-info");
	CHECK_STR(rk_wheel_name(w.plan.arena, &w.dists[CORE], "1!7.0rc1+abc.1", "any"),
		  "rocm_sdk_core-1!7.0rc1+abc.1-py3-none-any.whl");
	meta_close(&w);
}

TEST(record_lines_are_csv_with_the_sum_in_the_alphabet_of_urls)
{
	uint8_t sum[RK_SHA256_BYTES];
	struct rk_bytes out;

	rk_bytes_init(&out, 4096);
	rk_sha256("abc", 3, sum);
	rk_record_line(&out, "f", sum, 3);
	CHECK_STR(rk_bytes_str(&out), "f,sha256=ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0,3\n");
	rk_bytes_clear(&out);
	rk_record_line(&out, "a,\"b\"\r\n", sum, UINT64_C(5000000000));
	CHECK_STR(rk_bytes_str(&out),
		  "\"a,\"\"b\"\"\r\n\",sha256=ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0,"
		  "5000000000\n");
	rk_bytes_clear(&out);
	rk_record_line(&out, "a b \xc3\xa4", NULL, 0);
	CHECK_STR(rk_bytes_str(&out), "a b \xc3\xa4,,\n");
	rk_bytes_release(&out);
}

TEST(python_literals_are_ascii_and_closed)
{
	static const struct {
		const char *text, *literal;
	} texts[] = {
		{ "", "''" },
		{ "gfx94X-dcgpu", "'gfx94X-dcgpu'" },
		{ "it's", "\"it's\"" },
		{ "say \"x\"", "'say \"x\"'" },
		{ "'\"", "'\\'\"'" },
		{ "a\\b", "'a\\\\b'" },
		{ "\t\n\r\x01\x7f", "'\\t\\n\\r\\x01\\x7f'" },
		{ "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "'\\xe4\\u20ac\\U0001f600'" },
		{ "\xff\xc3", "'\\udcff\\udcc3'" },
		{ "\xc3\xa4\xe2\x82", "'\\xe4\\udce2\\udc82'" },
	};
	struct rk_bytes out;

	rk_bytes_init(&out, 4096);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		rk_bytes_clear(&out);
		rk_python_repr(&out, texts[i].text);
		CHECK_STR(rk_bytes_str(&out), texts[i].literal);
	}
	rk_bytes_release(&out);
}

/* ---- dist-info ---- */

static void dist_info(struct meta_world *w, int which, struct rk_made_list *out)
{
	CHECK_I64(rk_meta_dist_info(&w->plan, &w->dists[which], "linux_x86_64", out, &w->err), 0);
	CHECK_STR(w->err.message, "");
	for (size_t i = 0; i < out->n; i++)
		CHECK_U64(out->v[i].mode, 0644);
}

/* `text` begins with `head`, and nothing of a template is left in it. */
static void check_filled(const char *text, const char *head)
{
	CHECK(text != NULL);
	if (!text)
		return;
	CHECK_MEM(text, head, strlen(text) < strlen(head) ? strlen(text) : strlen(head));
	CHECK(strlen(text) > strlen(head));
	for (const char *at = text; (at = strchr(at, '@')); at++)
		CHECK(!(at[1] >= 'A' && at[1] <= 'Z'));
}

#define CORE_INFO "rocm_sdk_core-7.0.dist-info/"

TEST(the_metadata_of_core)
{
	struct rk_made_list l = { 0 };
	struct meta_world w;

	meta_open(&w, false);
	dist_info(&w, CORE, &l);
	CHECK_STR(meta_paths(&w, &l), CORE_INFO "METADATA\n" CORE_INFO "WHEEL\n" CORE_INFO
						"entry_points.txt\n" CORE_INFO "top_level.txt\n");
	check_filled(meta_find(&w, &l, CORE_INFO "METADATA"),
		     "Metadata-Version: 2.1\n"
		     "Name: rocm-sdk-core\n"
		     "Version: 7.0\n"
		     "Summary: The core\n"
		     "Requires-Python: >=3.8\n"
		     "Description-Content-Type: text/markdown\n"
		     "\n"
		     "# rocm-sdk-core\n");
	CHECK_STR(meta_find(&w, &l, CORE_INFO "WHEEL"), "Wheel-Version: 1.0\n"
							"Generator: rockit " ROCKIT_VERSION "\n"
							"Root-Is-Purelib: true\n"
							"Tag: py3-none-linux_x86_64\n");
	/* sorted, and without the script whose program is not there */
	CHECK_STR(meta_find(&w, &l, CORE_INFO "entry_points.txt"),
		  "[console_scripts]\n"
		  "amdclang++ = rocm_sdk_core._cli:amdclangpp\n"
		  "hipcc = rocm_sdk_core._cli:hipcc\n"
		  "rocminfo = rocm_sdk_core._cli:rocminfo\n"
		  "rocprofv3-avail = rocm_sdk_core._cli:rocprofv3_avail\n");
	CHECK_STR(meta_find(&w, &l, CORE_INFO "top_level.txt"), "_rocm_sdk_core\nrocm_sdk_core\n");
	meta_close(&w);
}

TEST(a_wheel_with_several_tags_says_each)
{
	struct rk_made_list l = { 0 };
	struct meta_world w;

	meta_open(&w, false);
	CHECK_I64(rk_meta_dist_info(&w.plan, &w.dists[PROFILER],
				    "manylinux_2_17_x86_64.manylinux2014_x86_64", &l, &w.err),
		  0);
	CHECK_STR(meta_find(&w, &l, "rocm_sdk_profiler-7.0.dist-info/WHEEL"),
		  "Wheel-Version: 1.0\n"
		  "Generator: rockit " ROCKIT_VERSION "\n"
		  "Root-Is-Purelib: true\n"
		  "Tag: py3-none-manylinux_2_17_x86_64\n"
		  "Tag: py3-none-manylinux2014_x86_64\n");
	meta_close(&w);
}

TEST(the_metadata_of_libraries_and_devel_has_no_requirements_and_no_scripts)
{
	struct rk_made_list l = { 0 }, v = { 0 };
	struct meta_world w;

	meta_open(&w, false);
	dist_info(&w, LIBRARIES, &l);
	CHECK_U64(l.n, 3);
	check_filled(meta_text(&w, l.v[0].content), "Metadata-Version: 2.1\n"
						    "Name: rocm-sdk-libraries-gfx94X-dcgpu\n"
						    "Version: 7.0\n"
						    "Requires-Python: >=3.8\n"
						    "Description-Content-Type: text/markdown\n"
						    "\n");
	CHECK_STR(meta_find(&w, &l, "rocm_sdk_libraries_gfx94x_dcgpu-7.0.dist-info/top_level.txt"),
		  "_rocm_sdk_libraries_gfx94X_dcgpu\nrocm_sdk_libraries_gfx94X_dcgpu\n");
	dist_info(&w, DEVEL, &v);
	/* the platform folder is made when it is expanded */
	CHECK_STR(meta_find(&w, &v, "rocm_sdk_devel-7.0.dist-info/top_level.txt"),
		  "rocm_sdk_devel\n");
	CHECK(!meta_find(&w, &v, "rocm_sdk_devel-7.0.dist-info/entry_points.txt"));
	meta_close(&w);
}

TEST(a_device_wheel_asks_for_the_libraries_of_its_version)
{
	struct rk_made_list l = { 0 };
	struct meta_world w;

	meta_open(&w, true);
	dist_info(&w, DEVICE, &l);
	CHECK_U64(l.n, 3);
	check_filled(meta_text(&w, l.v[0].content), "Metadata-Version: 2.1\n"
						    "Name: rocm-sdk-device-gfx942\n"
						    "Version: 7.0\n"
						    "Requires-Dist: rocm-sdk-libraries ==7.0\n"
						    "Description-Content-Type: text/markdown\n"
						    "\n");
	CHECK_STR(meta_find(&w, &l, "rocm_sdk_device_gfx942-7.0.dist-info/top_level.txt"),
		  "_rocm_sdk_libraries\n");
	meta_close(&w);
}

TEST(a_name_that_would_break_its_line_is_refused)
{
	static const char *const names[] = { "",           "rocm-", "-rocm", "rocm\nName: x",
					     "rocm:xnack", "a/b",   "a b",   "rocm-gfx942+" };
	struct meta_world w;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct rk_made_list l = { 0 };

		meta_open(&w, false);
		w.dists[CORE].dist = names[i];
		CHECK_I64(rk_meta_dist_info(&w.plan, &w.dists[CORE], "any", &l, &w.err),
			  RK_E_FORMAT);
		CHECK(strstr(w.err.message, "invalid package name"));
		CHECK_U64(l.n, 0);
		meta_close(&w);
	}
}

/* ---- Python ---- */

static void python(struct meta_world *w, int which, struct rk_made_list *out)
{
	CHECK_I64(rk_meta_python(&w->plan, &w->dists[which], out, &w->err), 0);
	CHECK_STR(w->err.message, "");
}

TEST(templates_have_their_words_filled_in)
{
	static const char text[] = "@DIST@ @MODULE@ @PLATFORM@ @VERSION@ @FAMILY@ @PROFILER_DIST@ "
				   "@PROFILER_MODULE@ @OTHER@ a@b @ @DIST\n# @SCRIPTS@\n#@";
	struct rk_bytes out;
	struct meta_world w;

	meta_open(&w, false);
	rk_bytes_init(&out, 1 << 20);
	CHECK_I64(rk_template_fill(&out, &w.plan, &w.dists[LIBRARIES], text, strlen(text), &w.err),
		  0);
	CHECK_STR(rk_bytes_str(&out),
		  "rocm-sdk-libraries-gfx94X-dcgpu rocm_sdk_libraries_gfx94X_dcgpu "
		  "_rocm_sdk_libraries_gfx94X_dcgpu 7.0 gfx94X-dcgpu rocm-sdk-profiler "
		  "rocm_sdk_profiler @OTHER@ a@b @ @DIST\n\n#@");
	rk_bytes_clear(&out);
	CHECK_I64(rk_template_fill(&out, &w.plan, &w.dists[CORE], "@SUMMARY@\n\n\n# @SCRIPTS@\n",
				   24, &w.err),
		  0);
	CHECK_STR(rk_bytes_str(&out), "The core\n\n\n"
				      "def rocminfo():\n"
				      "    _exec(\"bin/rocminfo\", expand=False)\n"
				      "\n\n"
				      "def amdclangpp():\n"
				      "    _exec(\"lib/llvm/bin/amdclang++\")\n"
				      "\n\n"
				      "def hipcc():\n"
				      "    _exec(\"bin/hipcc\")\n"
				      "\n\n"
				      "def rocprofv3_avail():\n"
				      "    _exec(\"bin/rocprofv3-avail\")\n");
	rk_bytes_release(&out);
	meta_close(&w);
}

TEST(core_has_its_python_files_in_order)
{
	struct rk_made_list l = { 0 };
	struct meta_world w;

	meta_open(&w, false);
	python(&w, CORE, &l);
	CHECK_STR(meta_paths(&w, &l), "_rocm_sdk_core/__init__.py\n"
				      "rocm_sdk_core/__init__.py\n"
				      "rocm_sdk_core/_cli.py\n"
				      "rocm_sdk_core/_dist_info.py\n");
	CHECK_STR(meta_find(&w, &l, "_rocm_sdk_core/__init__.py"), "");
	check_filled(meta_find(&w, &l, "rocm_sdk_core/_cli.py"),
		     "\"\"\"Console scripts of rocm-sdk-core");
	check_filled(meta_find(&w, &l, "rocm_sdk_core/_dist_info.py"), "\"\"\"What this set");
	CHECK_STR(meta_tail(w.text, "\n__version__"),
		  "\n__version__ = '7.0'\n"
		  "PY_PACKAGE_SUFFIX_NONCE = ''\n"
		  "DEFAULT_TARGET_FAMILY = 'gfx110X-all'\n"
		  "AVAILABLE_TARGET_FAMILIES.append('gfx110X-all')\n"
		  "AVAILABLE_TARGET_FAMILIES.append('gfx94X-dcgpu')\n"
		  "THIS_TARGET_FAMILY = None\n"
		  "THIS_PACKAGE_ENTRY = ALL_PACKAGES['core']\n");
	meta_close(&w);
}

TEST(libraries_know_their_family_and_kpack_the_name_without_one)
{
	struct rk_made_list l = { 0 }, v = { 0 };
	struct meta_world w;

	meta_open(&w, false);
	w.plan.nonce = "_it's";
	python(&w, LIBRARIES, &l);
	CHECK_STR(meta_paths(&w, &l), "_rocm_sdk_libraries_gfx94X_dcgpu/__init__.py\n"
				      "rocm_sdk_libraries_gfx94X_dcgpu/__init__.py\n"
				      "rocm_sdk_libraries_gfx94X_dcgpu/_dist_info.py\n");
	CHECK_STR(meta_tail(meta_text(&w, l.v[2].content), "\n__version__"),
		  "\n__version__ = '7.0'\n"
		  "PY_PACKAGE_SUFFIX_NONCE = \"_it's\"\n"
		  "DEFAULT_TARGET_FAMILY = 'gfx110X-all'\n"
		  "AVAILABLE_TARGET_FAMILIES.append('gfx110X-all')\n"
		  "AVAILABLE_TARGET_FAMILIES.append('gfx94X-dcgpu')\n"
		  "THIS_TARGET_FAMILY = 'gfx94X-dcgpu'\n"
		  "THIS_PACKAGE_ENTRY = ALL_PACKAGES['libraries']\n");
	meta_close(&w);
	meta_open(&w, true);
	w.plan.nfamilies = 0;
	python(&w, DEVEL, &v);
	CHECK_STR(meta_paths(&w, &v), "rocm_sdk_devel/__init__.py\n"
				      "rocm_sdk_devel/_cli.py\n"
				      "rocm_sdk_devel/_dist_info.py\n");
	CHECK_STR(meta_tail(meta_text(&w, v.v[2].content), "\n__version__"),
		  "\n__version__ = '7.0'\n"
		  "PY_PACKAGE_SUFFIX_NONCE = ''\n"
		  "ALL_PACKAGES['libraries'].dist_package_template = 'rocm-sdk-libraries'\n"
		  "THIS_TARGET_FAMILY = None\n"
		  "THIS_PACKAGE_ENTRY = ALL_PACKAGES['devel']\n");
	meta_close(&w);
}

TEST(a_device_wheel_lists_its_files_for_the_devel_tree)
{
	struct rk_made_list l = { 0 }, none = { 0 };
	struct meta_world w;

	meta_open(&w, true);
	python(&w, DEVICE, &l);
	CHECK_STR(meta_paths(&w, &l), "_rocm_sdk_libraries/.device-gfx942\n"
				      "_rocm_sdk_libraries/.devel_links/gfx942.json\n");
	CHECK_STR(meta_text(&w, l.v[1].content),
		  "{\n"
		  "  \"version\": \"7.0\",\n"
		  "  \"links\": [\n"
		  "    {\n"
		  "      \"relpath\": \".device-gfx942\",\n"
		  "      \"target\": \"../_rocm_sdk_libraries/.device-gfx942\"\n"
		  "    },\n"
		  "    {\n"
		  "      \"relpath\": \"lib/rocblas/library/a \\\"b\\\".co\",\n"
		  "      \"target\": \"../../../../_rocm_sdk_libraries/lib/rocblas/library/"
		  "a \\\"b\\\".co\"\n"
		  "    },\n"
		  "    {\n"
		  "      \"relpath\": \"top.dat\",\n"
		  "      \"target\": \"../_rocm_sdk_libraries/top.dat\"\n"
		  "    }\n"
		  "  ]\n"
		  "}");
	w.dists[DEVICE].n = 0;
	python(&w, DEVICE, &none);
	CHECK_STR(meta_tail(meta_text(&w, none.v[1].content), "/.device"),
		  "/.device-gfx942\"\n    }\n  ]\n}");
	meta_close(&w);
}

/* ---- without memory ---- */

TEST(metadata_needs_memory)
{
	static const int which[] = { CORE, LIBRARIES, DEVICE, DEVEL, PROFILER };

	for (size_t i = 0; i < sizeof(which) / sizeof(which[0]); i++) {
		bool failed = true;

		for (uint64_t n = 1; failed && n < 2000; n++) {
			struct rk_made_list l = { 0 };
			struct meta_world w;
			int rc;

			meta_open(&w, true);
			rk_alloc_fail_after(n);
			rc = rk_meta_python(&w.plan, &w.dists[which[i]], &l, &w.err);
			if (rc == 0)
				rc = rk_meta_dist_info(&w.plan, &w.dists[which[i]], "any", &l,
						       &w.err);
			failed = rk_alloc_failed();
			rk_alloc_fail_after(0);
			CHECK_I64(rc, failed ? RK_E_NOMEM : 0);
			meta_close(&w);
		}
		CHECK(!failed);
	}
}
