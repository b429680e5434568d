/* pack_verify.c - the closure prover and the index of packages, where memory or files fail. */
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rockit/pack.h"

#include "archive/zip_write.h"
#include "base/alloc.h"
#include "pack/elf/launcher.h"
#include "pack/wheel/meta.h"
#include "tap.h"
#include "world.h"

enum { MOST = 12 };

/* A wheel under construction; RECORD comes last. */
struct wheel {
	struct rk_zip_member v[MOST];
	size_t n;
	struct rk_bytes blobs[3];
};

static const char record_name[] = "x-1.0.dist-info/RECORD";

static void add(struct wheel *w, const char *name, const void *data, size_t len, uint32_t mode)
{
	w->v[w->n++] = (struct rk_zip_member){ .name = name,
					       .mode = S_IFREG | mode,
					       .size = len,
					       .read = rk_zip_read_memory,
					       .arg = data };
}

static void add_text(struct wheel *w, const char *name, const char *text)
{
	add(w, name, text, strlen(text), 0644);
}

static void fill(struct wheel *w)
{
	memset(w, 0, sizeof(*w));
	for (unsigned i = 0; i < 3; i++)
		rk_bytes_init(&w->blobs[i], 1 << 16);
	CHECK(rk_alias_library_make(EM_X86_64, "liba.so", "libc.so.6", &w->blobs[0], NULL) == 0);
	CHECK(rk_alias_library_make(EM_X86_64, "libb.so", "libgone.so", &w->blobs[1], NULL) == 0);
	CHECK(rk_launcher_make(EM_X86_64, "gone", &w->blobs[2], NULL) == 0);
	add(w, "_x/liba.so", w->blobs[0].data, w->blobs[0].len, 0755);
	add(w, "_x/libb.so", w->blobs[1].data, w->blobs[1].len, 0755);
	add(w, "_x/bin/l", w->blobs[2].data, w->blobs[2].len, 0755);
	add_text(w, "x/__init__.py", "def main():\n    pass\n");
	add_text(w, "x-1.0.dist-info/METADATA",
		 "Metadata-Version: 2.1\nName: X\nVersion: 1.0\nRequires-Python: >=3.8\n");
	add_text(w, "x-1.0.dist-info/WHEEL",
		 "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-linux_x86_64\n");
	add_text(w, "x-1.0.dist-info/entry_points.txt",
		 "[console_scripts]\nx = x:main\ny = x:no\n");
	add_text(w, "x-1.0.dist-info/top_level.txt", "x\n_x\n");
}

static const char *write_wheel(struct world *world, struct wheel *w)
{
	static char path[256];
	struct rk_output *out = NULL;
	struct rk_pool *pool = NULL;
	struct rk_zip *z = NULL;
	struct rk_bytes record;
	struct rk_zip_options o = { .level = 6 };

	snprintf(path, sizeof(path), "%s/x-1.0-py3-none-linux_x86_64.whl", world->dir);
	rk_bytes_init(&record, 1 << 16);
	CHECK(rk_output_open(path, &out, NULL) == 0 && rk_pool_new(1, &pool, NULL) == 0);
	CHECK(rk_zip_new(out, pool, &o, &z, NULL) == 0);
	CHECK(rk_zip_add(z, w->v, w->n, NULL) == 0);
	for (size_t i = 0; i < w->n; i++)
		rk_record_line(&record, w->v[i].name, w->v[i].sha256, w->v[i].size);
	rk_record_line(&record, record_name, NULL, 0);
	add(w, record_name, record.data, record.len, 0644);
	CHECK(rk_zip_add(z, &w->v[w->n - 1], 1, NULL) == 0);
	CHECK(rk_zip_finish(z, NULL) == 0 && rk_output_commit(out, NULL) == 0);
	rk_zip_free(z);
	rk_pool_free(pool);
	rk_bytes_release(&record);
	for (unsigned i = 0; i < 3; i++)
		rk_bytes_release(&w->blobs[i]);
	return path;
}

static const char *make(struct world *world)
{
	struct wheel w;

	fill(&w);
	return write_wheel(world, &w);
}

/* "kind@path " of all findings. */
static const char *said(struct world *w, const struct rk_pack_proof *p)
{
	rk_bytes_clear(&w->text);
	for (size_t i = 0; i < p->nfindings; i++)
		rk_bytes_printf(&w->text, "%s@%s ", p->findings[i].kind, p->findings[i].path);
	return rk_bytes_str(&w->text);
}

static const char want[] = "launcher-target@_x/bin/l needed-unresolved@_x/libb.so "
			   "script-function@x-1.0.dist-info/entry_points.txt ";

TEST(a_prover_finds_what_is_missing_in_a_wheel_written_here)
{
	struct rk_pack_proof *p = NULL;
	struct world w;
	const char *path;

	world_open(&w, 1);
	path = make(&w);
	CHECK(rk_pack_verify(&(struct rk_pack_verify_options){ .paths = &path, .npaths = 1 }, &p,
			     &w.err) == 0);
	CHECK_STR(said(&w, p), want);
	CHECK_U64(p->faults, 3);
	CHECK_U64(p->files, 9);
	CHECK_U64(p->libraries, 3);
	rk_pack_proof_free(p);
	world_close(&w);
}

TEST(a_proof_is_text_json_and_csv)
{
	struct rk_pack_finding f[] = {
		{ "needed-unresolved", "x.whl", "lib/a\nb", "needs 'c'", false },
		{ "name-case", "x.whl", "", "differs", true },
	};
	struct rk_pack_proof p = { .findings = f,
				   .nfindings = 2,
				   .faults = 1,
				   .packages = 1,
				   .files = 2,
				   .libraries = 1,
				   .glibc = "2.34",
				   .platform_tag = "manylinux_2_34_x86_64" };
	char *text = NULL;
	size_t len;

	CHECK(rk_pack_proof_render(&p, RK_REPORT_TEXT, &text, &len, NULL) == 0);
	CHECK_STR(text, "x.whl: lib/a\\x0ab: needs 'c' [needed-unresolved]\n"
			"x.whl: differs [name-case, note]\n"
			"1 package, 2 files, 1 program or library: 1 fault, 1 note; glibc 2.34 "
			"(manylinux_2_34_x86_64)\n");
	rk_text_free(text);
	CHECK(rk_pack_proof_render(&p, RK_REPORT_CSV, &text, &len, NULL) == 0);
	CHECK_STR(text, "kind,note,package,path,text\n"
			"needed-unresolved,0,x.whl,\"lib/a\nb\",needs 'c'\n"
			"name-case,1,x.whl,,differs\n");
	rk_text_free(text);
	p.nfindings = p.faults = 0;
	p.glibc = p.platform_tag = "";
	CHECK(rk_pack_proof_render(&p, RK_REPORT_JSON, &text, &len, NULL) == 0);
	CHECK(strstr(text, "\"holds\": true") && strstr(text, "\"glibc\": null"));
	rk_text_free(text);
}

TEST(each_allocation_of_the_prover_may_fail)
{
	bool failed = true;
	struct world w;
	const char *path;
	uint64_t n;

	world_open(&w, 1);
	path = make(&w);
	for (n = 1; failed && n < 5000; n++) {
		struct rk_pack_verify_options o = { .paths = &path, .npaths = 1, .jobs = 1 };
		struct rk_pack_proof *p = NULL;
		struct rk_error err = { 0 };
		int rc;

		rk_alloc_fail_after(n);
		rc = rk_pack_verify(&o, &p, &err);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK(failed ? rc == RK_E_NOMEM && err.code == rc && !p : rc == 0);
		if (p)
			CHECK_STR(said(&w, p), want);
		rk_pack_proof_free(p);
	}
	CHECK(!failed && n > 50);
	world_close(&w);
}

TEST(each_allocation_and_each_write_of_an_index_may_fail)
{
	struct world w;

	for (int writes = 0; writes < 2; writes++) {
		bool failed = true;

		world_open(&w, 1);
		make(&w);
		for (uint64_t n = 1; failed && n < 1000; n++) {
			struct rk_error err = { 0 };
			size_t files = 77;
			int rc;

			if (writes)
				rk_output_fail_after(n, 28);
			else
				rk_alloc_fail_after(n);
			rc = rk_pack_index(w.dir, &files, &err);
			failed = writes ? rc < 0 : rk_alloc_failed();
			rk_alloc_fail_after(0);
			rk_output_fail_after(0, 0);
			/* without memory for a name, an output takes the longer way and succeeds */
			if (rc < 0)
				CHECK(rc == (writes ? RK_E_IO : RK_E_NOMEM) && err.code == rc);
			CHECK_U64(files, rc < 0 ? 77 : 1);
		}
		CHECK(!failed && world_has(&w, "simple/x/index.html"));
		world_close(&w);
	}
}

TEST(folders_without_packages_cannot_be_proved)
{
	struct rk_pack_proof *p = NULL;
	struct world w;
	const char *path;

	world_open(&w, 1);
	path = w.dir;
	CHECK(rk_pack_verify(&(struct rk_pack_verify_options){ .paths = &path, .npaths = 1 }, &p,
			     &w.err) == RK_E_USAGE);
	CHECK(!p && strstr(w.err.message, "no packages"));
	world_close(&w);
}
