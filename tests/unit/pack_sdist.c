/* pack_sdist.c - the source package of `rocm`: its files, what it asks for, the archive. */
#include <stdio.h>
#include <unistd.h>
#include <zlib.h>

#include "meta_world.h"
#include "world.h"

static void sdist(struct meta_world *w, struct rk_made_list *out)
{
	CHECK_I64(rk_meta_sdist(&w->plan, &w->dists[META], out, &w->err), 0);
	CHECK_STR(w->err.message, "");
}

#define META_HEAD                  \
	"Metadata-Version: 2.1\n"  \
	"Name: rocm\n"             \
	"Version: 7.0\n"           \
	"Summary: Selects ROCm\n"  \
	"Requires-Python: >=3.8\n" \
	"Requires-Dist: rocm-sdk-core==7.0\n"
#define META_END "Description-Content-Type: text/markdown\n\n# ROCm for Python\n"

/* The beginning of PKG-INFO, and that the copy in the egg-info folder is the same. */
static void check_info(struct meta_world *w, const struct rk_made_list *l, const char *head)
{
	const char *text = meta_find(w, l, "rocm-7.0/PKG-INFO");
	char *copy = calloc(1, strlen(text ? text : "") + 1);

	CHECK(text && strlen(text) > strlen(head));
	if (text && copy) {
		CHECK_MEM(text, head, strlen(head));
		memcpy(copy, text, strlen(text));
		CHECK_STR(meta_find(w, l, "rocm-7.0/src/rocm.egg-info/PKG-INFO"), copy);
	}
	free(copy);
}

TEST(the_members_of_the_sdist_are_in_order)
{
	struct rk_made_list l = { 0 };
	struct meta_world w;

	meta_open(&w, false);
	sdist(&w, &l);
	CHECK_STR(meta_paths(&w, &l), "rocm-7.0/MANIFEST.in\n"
				      "rocm-7.0/PKG-INFO\n"
				      "rocm-7.0/README.md\n"
				      "rocm-7.0/pyproject.toml\n"
				      "rocm-7.0/setup.cfg\n"
				      "rocm-7.0/setup.py\n"
				      "rocm-7.0/src/rocm.egg-info/PKG-INFO\n"
				      "rocm-7.0/src/rocm.egg-info/SOURCES.txt\n"
				      "rocm-7.0/src/rocm.egg-info/dependency_links.txt\n"
				      "rocm-7.0/src/rocm.egg-info/entry_points.txt\n"
				      "rocm-7.0/src/rocm.egg-info/requires.txt\n"
				      "rocm-7.0/src/rocm.egg-info/top_level.txt\n"
				      "rocm-7.0/src/rocm_sdk/__init__.py\n"
				      "rocm-7.0/src/rocm_sdk/__main__.py\n"
				      "rocm-7.0/src/rocm_sdk/_devel.py\n"
				      "rocm-7.0/src/rocm_sdk/_dist_info.py\n"
				      "rocm-7.0/src/rocm_sdk/tests/__init__.py\n"
				      "rocm-7.0/src/rocm_sdk/tests/base_test.py\n"
				      "rocm-7.0/src/rocm_sdk/tests/core_test.py\n"
				      "rocm-7.0/src/rocm_sdk/tests/devel_test.py\n"
				      "rocm-7.0/src/rocm_sdk/tests/libraries_test.py\n"
				      "rocm-7.0/src/rocm_sdk/tests/profiler_test.py\n"
				      "rocm-7.0/src/rocm_sdk/tests/utils.py\n");
	CHECK_STR(meta_find(&w, &l, "rocm-7.0/src/rocm.egg-info/SOURCES.txt"),
		  "MANIFEST.in\n"
		  "README.md\n"
		  "pyproject.toml\n"
		  "setup.py\n"
		  "src/rocm.egg-info/PKG-INFO\n"
		  "src/rocm.egg-info/SOURCES.txt\n"
		  "src/rocm.egg-info/dependency_links.txt\n"
		  "src/rocm.egg-info/entry_points.txt\n"
		  "src/rocm.egg-info/requires.txt\n"
		  "src/rocm.egg-info/top_level.txt\n"
		  "src/rocm_sdk/__init__.py\n"
		  "src/rocm_sdk/__main__.py\n"
		  "src/rocm_sdk/_devel.py\n"
		  "src/rocm_sdk/_dist_info.py\n"
		  "src/rocm_sdk/tests/__init__.py\n"
		  "src/rocm_sdk/tests/base_test.py\n"
		  "src/rocm_sdk/tests/core_test.py\n"
		  "src/rocm_sdk/tests/devel_test.py\n"
		  "src/rocm_sdk/tests/libraries_test.py\n"
		  "src/rocm_sdk/tests/profiler_test.py\n"
		  "src/rocm_sdk/tests/utils.py\n");
	meta_close(&w);
}

TEST(the_sdist_has_what_setuptools_would_write_beside_it)
{
	struct rk_made_list l = { 0 };
	struct meta_world w;

	meta_open(&w, false);
	sdist(&w, &l);
	CHECK_STR(meta_find(&w, &l, "rocm-7.0/setup.cfg"),
		  "[egg_info]\ntag_build = \ntag_date = 0\n\n");
	CHECK_STR(meta_find(&w, &l, "rocm-7.0/src/rocm.egg-info/dependency_links.txt"), "\n");
	CHECK_STR(meta_find(&w, &l, "rocm-7.0/src/rocm.egg-info/entry_points.txt"),
		  "[console_scripts]\nrocm-sdk = rocm_sdk.__main__:main\n");
	CHECK_STR(meta_find(&w, &l, "rocm-7.0/src/rocm.egg-info/top_level.txt"), "rocm_sdk\n");
	CHECK_STR(meta_tail(meta_find(&w, &l, "rocm-7.0/src/rocm_sdk/_dist_info.py"),
			    "\nDEFAULT_TARGET_FAMILY = "),
		  "\nDEFAULT_TARGET_FAMILY = 'gfx110X-all'\n"
		  "AVAILABLE_TARGET_FAMILIES.append('gfx110X-all')\n"
		  "AVAILABLE_TARGET_FAMILIES.append('gfx94X-dcgpu')\n"
		  "THIS_TARGET_FAMILY = None\n"
		  "THIS_PACKAGE_ENTRY = ALL_PACKAGES['meta']\n");
	meta_close(&w);
}

TEST(the_sdist_of_several_families_has_extras_for_each_and_for_all)
{
	struct rk_made_list l = { 0 };
	struct meta_world w;

	meta_open(&w, false);
	sdist(&w, &l);
	CHECK_STR(meta_find(&w, &l, "rocm-7.0/src/rocm.egg-info/requires.txt"),
		  "rocm-sdk-core==7.0\n"
		  "\n[devel]\nrocm-sdk-devel==7.0\n"
		  "\n[libraries]\nrocm-sdk-libraries-gfx110X-all==7.0\n"
		  "\n[libraries-all]\nrocm-sdk-libraries-gfx110X-all==7.0\n"
		  "rocm-sdk-libraries-gfx94X-dcgpu==7.0\n"
		  "\n[libraries-gfx110x-all]\nrocm-sdk-libraries-gfx110X-all==7.0\n"
		  "\n[libraries-gfx94x-dcgpu]\nrocm-sdk-libraries-gfx94X-dcgpu==7.0\n"
		  "\n[profiler]\nrocm-sdk-profiler==7.0\n");
	check_info(&w, &l,
		   META_HEAD "Provides-Extra: devel\n"
			     "Requires-Dist: rocm-sdk-devel==7.0; extra == \"devel\"\n"
			     "Provides-Extra: libraries\n"
			     "Requires-Dist: rocm-sdk-libraries-gfx110X-all==7.0; "
			     "extra == \"libraries\"\n"
			     "Provides-Extra: libraries-all\n"
			     "Requires-Dist: rocm-sdk-libraries-gfx110X-all==7.0; "
			     "extra == \"libraries-all\"\n"
			     "Requires-Dist: rocm-sdk-libraries-gfx94X-dcgpu==7.0; "
			     "extra == \"libraries-all\"\n");
	meta_close(&w);
}

TEST(the_sdist_of_one_family_knows_only_that)
{
	struct rk_made_list l = { 0 };
	struct meta_world w;

	meta_open(&w, false);
	w.dists[META].family = "gfx94X-dcgpu";
	sdist(&w, &l);
	check_info(&w, &l,
		   META_HEAD
		   "Provides-Extra: devel\n"
		   "Requires-Dist: rocm-sdk-devel==7.0; extra == \"devel\"\n"
		   "Provides-Extra: libraries\n"
		   "Requires-Dist: rocm-sdk-libraries-gfx94X-dcgpu==7.0; "
		   "extra == \"libraries\"\n"
		   "Provides-Extra: profiler\n"
		   "Requires-Dist: rocm-sdk-profiler==7.0; extra == \"profiler\"\n" META_END);
	CHECK_STR(meta_tail(meta_find(&w, &l, "rocm-7.0/src/rocm_sdk/_dist_info.py"),
			    "\nDEFAULT_TARGET_FAMILY = "),
		  "\nDEFAULT_TARGET_FAMILY = 'gfx94X-dcgpu'\n"
		  "AVAILABLE_TARGET_FAMILIES.append('gfx94X-dcgpu')\n"
		  "THIS_TARGET_FAMILY = 'gfx94X-dcgpu'\n"
		  "THIS_PACKAGE_ENTRY = ALL_PACKAGES['meta']\n");
	meta_close(&w);
}

TEST(in_kpack_mode_only_device_packages_differ)
{
	struct rk_made_list l = { 0 };
	struct meta_world w;

	/* gfx942 and gfx942:xnack+ share a package */
	meta_open(&w, true);
	sdist(&w, &l);
	CHECK_STR(meta_find(&w, &l, "rocm-7.0/src/rocm.egg-info/requires.txt"),
		  "rocm-sdk-core==7.0\n"
		  "\n[devel]\nrocm-sdk-devel==7.0\n"
		  "\n[device]\nrocm-sdk-device-gfx1100==7.0\n"
		  "\n[device-all]\nrocm-sdk-device-gfx1100==7.0\nrocm-sdk-device-gfx942==7.0\n"
		  "\n[device-gfx1100]\nrocm-sdk-device-gfx1100==7.0\n"
		  "\n[device-gfx942]\nrocm-sdk-device-gfx942==7.0\n"
		  "\n[libraries]\nrocm-sdk-libraries==7.0\n"
		  "\n[profiler]\nrocm-sdk-profiler==7.0\n");
	meta_close(&w);
}

TEST(without_families_there_are_no_extras_that_need_one)
{
	struct rk_made_list l = { 0 };
	struct meta_world w;

	meta_open(&w, false);
	w.plan.nfamilies = 0;
	sdist(&w, &l);
	CHECK_STR(meta_find(&w, &l, "rocm-7.0/src/rocm.egg-info/requires.txt"),
		  "rocm-sdk-core==7.0\n"
		  "\n[devel]\nrocm-sdk-devel==7.0\n"
		  "\n[profiler]\nrocm-sdk-profiler==7.0\n");
	meta_close(&w);
}

/* ---- the archive ---- */

/* A whole file; the caller's to free. */
static unsigned char *slurp(const char *path, size_t *ret_len)
{
	FILE *f = fopen(path, "rb");
	unsigned char *data = calloc(1, 1 << 20);

	*ret_len = f ? fread(data, 1, 1 << 20, f) : 0;
	if (f)
		fclose(f);
	return data;
}

/* What is in a gzip file; the caller's to free. */
static unsigned char *unpack(const unsigned char *gz, size_t len, size_t *ret_len)
{
	unsigned char *out = calloc(1, 4 << 20);
	z_stream z = { .next_in = (Bytef *)gz, .avail_in = (uInt)len };

	z.next_out = out;
	z.avail_out = 4 << 20;
	CHECK(inflateInit2(&z, 31) == Z_OK);
	CHECK(inflate(&z, Z_FINISH) == Z_STREAM_END);
	*ret_len = z.total_out;
	inflateEnd(&z);
	return out;
}

TEST(the_archive_of_the_sdist_has_all_members_and_a_fixed_time)
{
	struct rk_made_list l = { 0 };
	struct meta_world w;
	struct world dir;
	unsigned char *gz, *tar, *again;
	size_t len, tar_len, again_len, at = 0;
	char path[512];

	world_open(&dir, 1);
	meta_open(&w, false);
	sdist(&w, &l);
	snprintf(path, sizeof(path), "%s/rocm-7.0.tar.gz", dir.dir);
	CHECK_I64(rk_sdist_write(path, &l, 315532800, 6, &w.err), 0);
	gz = slurp(path, &len);
	CHECK_MEM(gz, "\x1f\x8b\x08\0\0\0\0\0\0\x03", 10);
	tar = unpack(gz, len, &tar_len);
	for (size_t i = 0; i < l.n && at + 512 < tar_len; i++) {
		size_t size = (size_t)l.v[i].content->size;

		CHECK_STR((char *)tar + at, l.v[i].path);
		CHECK_MEM(tar + at + 100, "0000644\0000000000\0000000000", 24);
		CHECK_MEM(tar + at + 136, "02263523000", 12);
		CHECK_MEM(tar + at + 512, meta_text(&w, l.v[i].content), size);
		at += 512 + (size + 511) / 512 * 512;
	}
	CHECK_U64(tar_len, at + 1024);
	CHECK_I64(rk_sdist_write(path, &l, 315532800, 6, &w.err), 0);
	again = slurp(path, &again_len);
	CHECK_U64(again_len, len);
	CHECK_MEM(again, gz, len);
	free(gz);
	free(again);
	free(tar);
	meta_close(&w);
	world_close(&dir);
}

TEST(an_sdist_that_cannot_be_written_is_an_error)
{
	struct rk_made_list l = { 0 };
	struct meta_world w;

	meta_open(&w, false);
	CHECK_I64(rk_sdist_write("/dev/null/x.tar.gz", &l, 0, 6, &w.err), RK_E_IO);
	CHECK(strstr(w.err.message, "/dev/null"));
	meta_close(&w);
}

TEST(an_sdist_needs_memory)
{
	struct world dir;
	bool failed = true;
	char path[512];

	world_open(&dir, 1);
	snprintf(path, sizeof(path), "%s/x.tar.gz", dir.dir);
	for (uint64_t n = 1; failed && n < 5000; n++) {
		struct rk_made_list l = { 0 };
		struct meta_world w;
		int rc;

		meta_open(&w, false);
		rk_alloc_fail_after(n);
		rc = rk_meta_sdist(&w.plan, &w.dists[META], &l, &w.err);
		if (rc == 0)
			rc = rk_sdist_write(path, &l, 0, 1, &w.err);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		/* a file that cannot do without a name for a while gets one */
		CHECK(rc == 0 || (failed && rc == RK_E_NOMEM && w.err.code == rc));
		CHECK((rc == 0) == world_has(&dir, "x.tar.gz"));
		unlink(path);
		meta_close(&w);
	}
	CHECK(!failed);
	world_close(&dir);
}
