/* artifacts.c - folders and archives of artifacts, whole ones and damaged ones. */
#include "pack/artifacts.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "artifact_world.h"
#include "base/alloc.h"
#include "tap.h"

static struct rk_artifacts *open_all(struct world *w)
{
	struct rk_artifacts *a = NULL;
	char dir[512];

	rk_error_clear(&w->err);
	rk_diag_reset(w->ctx.diag, 0);
	rk_artifacts_open(artifacts_dir(w, dir), w->dir, 3, NULL, w->ctx.diag, &a, &w->err);
	return a;
}

/* Of all artifacts: "label/path=text or >link" */
static const char *listing(struct world *w, const struct rk_artifacts *a, const char *label)
{
	rk_bytes_clear(&w->text);
	for (size_t i = 0; a && i < a->n; i++) {
		const struct rk_artifact *x = &a->v[i];

		if (label && strcmp(x->label, label) != 0)
			continue;
		for (size_t j = 0; j < x->nentries; j++) {
			const struct rk_entry *e = &x->entries[j];
			char text[64] = "";
			size_t n = 0;

			if (e->origin)
				CHECK(!rk_origin_head(e->origin, text, sizeof(text) - 1, &n, NULL));
			rk_bytes_printf(&w->text, "%s%s%s%s %03o\n", e->path,
					e->kind == RK_ENTRY_DIR ? "/" : "",
					e->link   ? ">" :
					e->origin ? "=" :
						    "",
					e->link ? e->link : text, e->mode);
		}
	}
	return rk_bytes_str(&w->text);
}

/* ---- archives ---- */

struct member {
	const char *name, *text, *link, *hard; /* text NULL and no link: a folder */
	unsigned type;                         /* 0: told by the others */
};

static void put_member(struct archive *a, const struct member *m)
{
	struct archive_entry *e = archive_entry_new();
	unsigned type = m->type;

	if (!type)
		type = m->link ? AE_IFLNK : m->text || m->hard ? AE_IFREG : AE_IFDIR;

	archive_entry_set_pathname(e, m->name);
	archive_entry_set_filetype(e, type);
	archive_entry_set_perm(e, type == AE_IFDIR ? 0755 : 0640);
	if (m->link)
		archive_entry_set_symlink(e, m->link);
	if (m->hard)
		archive_entry_set_hardlink(e, m->hard);
	if (m->text)
		archive_entry_set_size(e, (int64_t)strlen(m->text));
	archive_write_header(a, e);
	if (m->text)
		archive_write_data(a, m->text, strlen(m->text));
	archive_entry_free(e);
}

static const char *make_archive(struct world *w, const char *name, const struct member *m, size_t n)
{
	struct archive *a = archive_write_new();
	char path[512];

	snprintf(path, sizeof(path), "a/%s", name);
	world_text(w, path, "");
	if (strstr(name, ".xz"))
		archive_write_add_filter_xz(a);
	else if (strstr(name, ".zst"))
		archive_write_add_filter_zstd(a);
	else if (strstr(name, ".gz"))
		archive_write_add_filter_gzip(a);
	archive_write_set_format_pax_restricted(a);
	snprintf(path, sizeof(path), "%s/a/%s", w->dir, name);
	CHECK(archive_write_open_filename(a, path) == ARCHIVE_OK);
	for (size_t i = 0; i < n; i++)
		put_member(a, &m[i]);
	CHECK(archive_write_close(a) == ARCHIVE_OK);
	archive_write_free(a);
	snprintf(w->path, sizeof(w->path), "%s", path);
	return w->path;
}

#define ARCHIVE(w, name, ...)                                             \
	make_archive((w), (name), (const struct member[]){ __VA_ARGS__ }, \
		     sizeof((const struct member[]){ __VA_ARGS__ }) / sizeof(struct member))
#define MANIFEST                                                   \
	{                                                          \
		"artifact_manifest.txt", STAGE "\n", NULL, NULL, 0 \
	}

static void world_begin(struct world *w)
{
	world_open(w, 1);
	artifacts_begin(w, false);
}

TEST(artifacts_come_in_an_order_of_their_own)
{
	struct rk_artifacts *a;
	struct world w;

	world_begin(&w);
	artifact_text(&w, "b_run_generic", "x", "");
	artifact_text(&w, "b_lib_generic", "x", "");
	artifact_text(&w, "b_dev_gfx9", "x", "");
	artifact_text(&w, "a-z_test_generic", "x", "");
	world_text(&w, "a/README.txt", "");
	world_text(&w, "a/b_lib_generic.sha256sum", "");
	a = open_all(&w);
	if (CHECK(a != NULL)) {
		CHECK_U64(a->n, 6);
		CHECK_STR(a->v[0].label, "a-z_test_generic");
		CHECK_STR(a->v[1].label, "b_lib_generic");
		CHECK_STR(a->v[2].label, "b_run_generic");
		CHECK_STR(a->v[3].label, "b_dev_gfx9");
		CHECK_STR(a->v[3].family, "gfx9");
		CHECK_I64(a->v[3].component, RK_COMPONENT_DEV);
		CHECK_STR(a->version, "10.1.0");
		CHECK(!a->kpack && !a->spill);
	}
	CHECK_STR(world_warnings(&w), "");
	rk_artifacts_free(a);
	world_close(&w);
}

TEST(a_folder_has_hidden_files_odd_names_and_links_that_are_not_followed)
{
	struct rk_artifacts *a;
	struct world w;

	world_begin(&w);
	artifact_text(&w, "z_lib_generic", ".info/.x", "hidden");
	artifact_text(&w, "z_lib_generic", "a b,\"c\".txt", "odd");
	artifact_text(&w, "z_lib_generic", "\xc3\xa9.txt", "u");
	artifact_link(&w, "z_lib_generic", "dir", ".info");
	artifact_link(&w, "z_lib_generic", "out", "../../etc");
	artifact_link(&w, "z_lib_generic", "abs", "/etc/hostname");
	a = open_all(&w);
	CHECK_STR(listing(&w, a, "z_lib_generic"), ".info/ 755\n"
						   ".info/.x=hidden 644\n"
						   "a b,\"c\".txt=odd 644\n"
						   "abs>/etc/hostname 777\n"
						   "dir>.info 777\n"
						   "out>../../etc 777\n"
						   "\xc3\xa9.txt=u 644\n");
	CHECK_U64(world_warned(&w, "absolute-link"), 1);
	CHECK_U64(world_warned(&w, "escaping-link"), 1);
	rk_artifacts_free(a);
	world_close(&w);
}

TEST(a_folder_that_is_not_an_artifact_is_skipped_with_a_warning)
{
	struct rk_artifacts *a;
	struct world w;
	size_t n;

	world_begin(&w);
	world_text(&w, "a/two_parts/x", "");
	world_text(&w, "a/a_lib_generic_more/x", "");
	world_text(&w, "a/my_old_things/x", "");
	world_text(&w, "a/plain_lib_generic/x", "");
	world_text(&w, "a/bad_lib_gfx 9/x", "");
	world_text(&w, "a/gone_lib_generic/artifact_manifest.txt", "no/such/stage\n\n");
	a = open_all(&w);
	if (CHECK(a != NULL))
		CHECK_U64(a->n, 4);
	CHECK_U64(world_warned(&w, "artifact-name"), 4);
	CHECK_STR(rk_diag_list(w.ctx.diag, &n)[0].file, "a_lib_generic_more");
	CHECK_STR(rk_diag_list(w.ctx.diag, &n)[1].file, "bad_lib_gfx 9");
	CHECK(strstr(rk_diag_list(w.ctx.diag, &n)[1].message, "'gfx 9'") != NULL);
	CHECK_STR(rk_diag_list(w.ctx.diag, &n)[2].file, "my_old_things");
	CHECK(strstr(rk_diag_list(w.ctx.diag, &n)[2].message, "unknown component 'old'") != NULL);
	CHECK_STR(rk_diag_list(w.ctx.diag, &n)[3].file, "two_parts");
	CHECK_U64(world_warned(&w, "no-manifest"), 1);
	CHECK_U64(world_warned(&w, "no-stage"), 1);
	rk_artifacts_free(a);
	world_close(&w);
}

TEST(the_manifest_of_all_artifacts_must_be_there)
{
	struct world w;

	world_open(&w, 1);
	artifact_text(&w, "b_lib_generic", "x", "");
	CHECK(!open_all(&w));
	CHECK_I64(w.err.code, RK_E_FORMAT);
	CHECK(strstr(w.err.message, "/a/base_lib_generic/base/aux-overlay/stage/share/therock/"
				    "therock_manifest.json' is missing") != NULL);
	artifact_text(&w, "base_lib_generic", "share/therock/therock_manifest.json", "{\"flags\"");
	CHECK(!open_all(&w));
	CHECK_I64(w.err.code, RK_E_FORMAT);
	CHECK(strstr(w.err.file, "therock_manifest.json") != NULL);
	world_close(&w);
}

/* Each of these is an error, and its message has a part of this text. */
static void check_refused(struct world *w, int code, const char *text)
{
	struct rk_artifacts *a = open_all(w);

	CHECK(!a);
	CHECK_I64(w->err.code, code);
	if (!CHECK(strstr(w->err.message, text) != NULL))
		CHECK_STR(w->err.message, text);
	rk_artifacts_free(a);
}

TEST(names_that_a_wheel_cannot_hold_are_refused)
{
	static const char *const bad[] = { "new\nline", "tab\t", "del\x7f", "latin\xe9.txt",
					   "over\xc0\xafx" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct world w;

		world_begin(&w);
		artifact_text(&w, "z_lib_generic", bad[i], "");
		check_refused(&w, RK_E_FORMAT, "z_lib_generic");
		for (const char *s = w.err.message; *s; s++)
			CHECK((unsigned char)*s >= 32 && (unsigned char)*s < 127);
		world_close(&w);
	}
}

TEST(files_of_another_kind_and_unknown_components_are_refused)
{
	char path[600];
	struct world w;

	world_begin(&w);
	artifact_text(&w, "z_lib_generic", "d/x", "");
	snprintf(path, sizeof(path), "%s/a/z_lib_generic/" STAGE "/d/pipe", w.dir);
	CHECK(!mkfifo(path, 0600));
	check_refused(&w, RK_E_FORMAT, "d/pipe' is not a file, folder or link");
	world_close(&w);

	world_begin(&w);
	artifact_text(&w, "z_libs_generic", "x", "");
	check_refused(&w, RK_E_FORMAT, "unknown component 'libs'; did you mean 'lib'?");
	CHECK_STR(w.err.file, "z_libs_generic");
	world_close(&w);

	world_begin(&w);
	artifact_text(&w, "z_lib_generic", "x", "");
	ARCHIVE(&w, "z_lib_generic.tar.xz", MANIFEST);
	check_refused(&w, RK_E_FORMAT, "'z_lib_generic' and 'z_lib_generic.tar.xz'");
	world_close(&w);
}

TEST(a_stage_that_leads_elsewhere_is_refused)
{
	static const char *const bad[] = {
		"../other/stage\n",          "/etc\n",       "a/../../b\n", "a//b\n",
		"x/stage\nx/stage/deeper\n", "x\x01/stage\n"
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct world w;

		world_begin(&w);
		artifact_text(&w, "z_lib_generic", "x", "");
		world_text(&w, "a/z_lib_generic/artifact_manifest.txt", bad[i]);
		check_refused(&w, RK_E_FORMAT, "z_lib_generic");
		world_close(&w);
	}
}

TEST(a_stage_that_is_a_link_is_not_entered)
{
	struct world w;
	char link[600];

	world_begin(&w);
	world_text(&w, "a/z_lib_generic/artifact_manifest.txt", "sub/stage\n");
	world_text(&w, "elsewhere/stage/secret", "x");
	snprintf(link, sizeof(link), "%s/a/z_lib_generic/sub", w.dir);
	CHECK(!symlink("../../elsewhere", link));
	check_refused(&w, RK_E_IO, "z_lib_generic/sub/stage");
	world_close(&w);
}

TEST(an_archive_gives_the_same_entries_as_a_folder)
{
	static const char *const names[] = { "z_lib_generic.tar.xz", "z_lib_generic.tar.zst",
					     "z_lib_generic.tar.gz", "z_lib_generic.tar" };
	static const char long_name[] = STAGE
		"/deep/0123456789012345678901234567890123456789012345678901234567890123456789/"
		"0123456789012345678901234567890123456789012345678901234567890123456789/end";

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct rk_artifacts *a;
		struct world w;

		world_begin(&w);
		ARCHIVE(&w, names[i], MANIFEST, { "x", NULL, NULL, NULL, 0 },
			{ STAGE "/lib/libx.so.1", "bytes", NULL, NULL, 0 },
			{ STAGE "/lib/libx.so", NULL, "libx.so.1", NULL, 0 },
			{ STAGE "/lib/hard", NULL, NULL, STAGE "/lib/libx.so.1", 0 },
			{ "./" STAGE "/\xc3\xa9,.txt", "", NULL, NULL, 0 },
			{ STAGE "/empty/", NULL, NULL, NULL, 0 },
			{ long_name, "end", NULL, NULL, 0 });
		a = open_all(&w);
		CHECK_STR(w.err.message, "");
		CHECK_STR(
			listing(&w, a, names[i]),
			"deep/ 755\n"
			"deep/0123456789012345678901234567890123456789012345678901234567890123456789/ "
			"755\n"
			"deep/0123456789012345678901234567890123456789012345678901234567890123456789/"
			"0123456789012345678901234567890123456789012345678901234567890123456789/ 755\n"
			"deep/0123456789012345678901234567890123456789012345678901234567890123456789/"
			"0123456789012345678901234567890123456789012345678901234567890123456789/"
			"end=end 640\n"
			"empty/ 755\n"
			"lib/ 755\n"
			"lib/hard=bytes 640\n"
			"lib/libx.so>libx.so.1 777\n"
			"lib/libx.so.1=bytes 640\n"
			"\xc3\xa9,.txt= 640\n");
		rk_artifacts_free(a);
		world_close(&w);
	}
}

static void refused_archive(const struct member *m, size_t n, int code, const char *text)
{
	struct world w;

	world_begin(&w);
	make_archive(&w, "z_lib_generic.tar.zst", m, n);
	check_refused(&w, code, text);
	world_close(&w);
}

#define REFUSED(code, text, ...)                                                                \
	refused_archive((const struct member[]){ __VA_ARGS__ },                                 \
			sizeof((const struct member[]){ __VA_ARGS__ }) / sizeof(struct member), \
			(code), (text))

TEST(archives_that_reach_out_of_their_stages_are_refused)
{
	REFUSED(RK_E_FORMAT, "first member", { STAGE "/x", "", NULL, NULL, 0 });
	REFUSED(RK_E_FORMAT, "in no stage", MANIFEST, { "elsewhere/x", "", NULL, NULL, 0 });
	REFUSED(RK_E_FORMAT, "in no stage", MANIFEST, { "x/stages", "", NULL, NULL, 0 });
	REFUSED(RK_E_FORMAT, "leads out of it", MANIFEST, { STAGE "/../../x", "", NULL, NULL, 0 });
	REFUSED(RK_E_FORMAT, "leads out of it", MANIFEST, { "/" STAGE "/x", "", NULL, NULL, 0 });
	REFUSED(RK_E_FORMAT, "control", MANIFEST, { STAGE "/a\nb", "", NULL, NULL, 0 });
	REFUSED(RK_E_FORMAT, "control", MANIFEST, { STAGE "/a\xc2\x85", "", NULL, NULL, 0 });
	REFUSED(RK_E_FORMAT, "control", MANIFEST, { STAGE "/a\xe2\x80\xa8", "", NULL, NULL, 0 });
	REFUSED(RK_E_FORMAT, "backslash", MANIFEST, { STAGE "/a\\b", "", NULL, NULL, 0 });
	REFUSED(RK_E_FORMAT, "UTF-8", MANIFEST, { STAGE "/a\xff", "", NULL, NULL, 0 });
	REFUSED(RK_E_FORMAT, "is not a folder", MANIFEST, { STAGE, "", NULL, NULL, 0 });
	REFUSED(RK_E_FORMAT, "not a file, folder or link", MANIFEST,
		{ STAGE "/pipe", NULL, NULL, NULL, AE_IFIFO });
	REFUSED(RK_E_FORMAT, "not a file, folder or link", MANIFEST,
		{ STAGE "/dev", NULL, NULL, NULL, AE_IFCHR });
}

TEST(archives_that_contradict_themselves_are_refused)
{
	REFUSED(RK_E_FORMAT, "'x' twice", MANIFEST, { STAGE "/x", "1", NULL, NULL, 0 },
		{ STAGE "/x", "2", NULL, NULL, 0 });
	REFUSED(RK_E_FORMAT, "which is not a folder", MANIFEST,
		{ STAGE "/x", NULL, "/etc", NULL, 0 }, { STAGE "/x/passwd", "2", NULL, NULL, 0 });
	REFUSED(RK_E_FORMAT, "not an earlier file", MANIFEST,
		{ STAGE "/x", NULL, NULL, STAGE "/y", 0 }, { STAGE "/y", "2", NULL, NULL, 0 });
	REFUSED(RK_E_FORMAT, "not an earlier file", MANIFEST,
		{ STAGE "/x", NULL, NULL, "/etc/passwd", 0 });
}

TEST(an_archive_that_is_cut_anywhere_is_an_error)
{
	struct rk_artifacts *a;
	struct world w;
	char path[512];
	struct stat st;
	off_t size;

	world_begin(&w);
	snprintf(path, sizeof(path), "%s",
		 ARCHIVE(&w, "z_lib_generic.tar", MANIFEST,
			 { STAGE "/x", "some bytes of a file", NULL, NULL, 0 }));
	CHECK(!stat(path, &st));
	/* both ends of a tar are zeros: up to them all bytes count */
	for (size = 0; size < 2000; size += 97) {
		CHECK(!truncate(path, size));
		a = open_all(&w);
		CHECK(!a);
		CHECK(strstr(w.err.message, "z_lib_generic.tar") != NULL);
		rk_artifacts_free(a);
		ARCHIVE(&w, "z_lib_generic.tar", MANIFEST,
			{ STAGE "/x", "some bytes of a file", NULL, NULL, 0 });
	}
	world_text(&w, "a/z_lib_generic.tar", "not an archive");
	check_refused(&w, RK_E_FORMAT, "z_lib_generic.tar");
	world_close(&w);
}

TEST(a_packed_archive_that_is_cut_is_an_error)
{
	static const char *const names[] = { "z_lib_generic.tar.xz", "z_lib_generic.tar.zst",
					     "z_lib_generic.tar.gz" };
	static char noise[20000];
	uint64_t state = 7;

	for (size_t i = 0; i < sizeof(noise) - 1; i++)
		noise[i] = (char)('a' + world_random(&state) % 26);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct stat st;
		struct world w;

		world_begin(&w);
		ARCHIVE(&w, names[i], MANIFEST, { STAGE "/x", noise, NULL, NULL, 0 });
		CHECK(!stat(w.path, &st) && st.st_size > 8000);
		CHECK(!truncate(w.path, st.st_size / 2));
		check_refused(&w, RK_E_FORMAT, names[i]);
		world_close(&w);
	}
}

TEST(a_path_without_end_is_a_limit)
{
	char path[1200] = STAGE;
	struct world w;

	for (int i = 0; i < 200; i++)
		memcpy(path + strlen(path), "/dd", 4);
	world_begin(&w);
	ARCHIVE(&w, "z_lib_generic.tar", MANIFEST, { path, "", NULL, NULL, 0 });
	check_refused(&w, RK_E_LIMIT, "deeper than 128 folders");
	world_close(&w);
}

static bool want_none(const void *arg, const struct rk_artifact *a, bool kpack)
{
	(void)arg;
	(void)a;
	return kpack;
}

TEST(artifacts_that_nobody_wants_are_not_read)
{
	const struct rk_artifact_filter filter = { .want = want_none };
	struct rk_artifacts *a = NULL;
	struct world w;
	char dir[512];

	world_begin(&w);
	world_text(&w, "a/z_lib_gfx9.tar.xz", "not even looked at");
	CHECK(!rk_artifacts_open(artifacts_dir(&w, dir), NULL, 1, &filter, w.ctx.diag, &a, &w.err));
	if (CHECK(a != NULL)) {
		CHECK_U64(a->n, 3);
		CHECK(a->v[0].read && !a->v[1].read && !a->v[2].read);
	}
	rk_artifacts_free(a);
	world_close(&w);
}

/* ---- links ---- */

static const char *ends_at(struct rk_artifacts *a, const char *label, const char *path)
{
	const char *why = "";

	for (size_t i = 0; a && i < a->n; i++)
		for (size_t j = 0; j < a->v[i].nentries; j++) {
			const struct rk_entry *e = &a->v[i].entries[j];

			if (strcmp(a->v[i].label, label) == 0 && strcmp(e->path, path) == 0) {
				const struct rk_entry *end = rk_artifacts_resolve(e, &why);

				return end ? end->path : why;
			}
		}
	return "no such link";
}

TEST(links_are_followed_inside_their_stage)
{
	static const struct {
		const char *path, *link, *end;
	} links[] = {
		{ "lib/libx.so", "libx.so.1", "lib/real" },
		{ "lib/libx.so.1", "real", "lib/real" },
		{ "bin/tool", "../lib/./real", "lib/real" },
		{ "bin/through", "../short/real", "lib/real" },
		{ "bin/twice", "../short/../short/libx.so", "lib/real" },
		{ "short", "lib", "lib" },
		{ "self", ".", "" },
		{ "up", "bin/..", "" },
		{ "bin/dangles", "nothing", "dangles" },
		{ "bin/other", "../lib/real/x", "dangles" },
		{ "bin/dots", "../lib/real/..", "dangles" },
		{ "a1", "a2", "is part of a link loop" },
		{ "a2", "a1", "is part of a link loop" },
		{ "me", "me", "is part of a link loop" },
		{ "out", "../x", "leaves the tree" },
		{ "bin/sly", "root/../x", "leaves the tree" },
		{ "bin/root", "..", "" },
		{ "abs", "/lib/real", "absolute" },
		{ "to_abs", "abs", "absolute" },
		{ "slash", "lib//real/", "lib/real" },
	};
	struct rk_artifacts *a;
	struct world w;

	world_begin(&w);
	artifact_text(&w, "z_lib_generic", "lib/real", "x");
	artifact_text(&w, "z_run_generic", "bin/nothing", "in another artifact");
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++)
		artifact_link(&w, "z_lib_generic", links[i].path, links[i].link);
	a = open_all(&w);
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++)
		CHECK_STR(ends_at(a, "z_lib_generic", links[i].path), links[i].end);
	rk_artifacts_free(a);
	world_close(&w);
}

TEST(a_chain_of_links_has_an_end)
{
	struct rk_artifacts *a;
	char name[32], to[32];
	struct world w;

	world_begin(&w);
	artifact_text(&w, "z_lib_generic", "l0", "x");
	for (int i = 1; i < 60; i++) {
		snprintf(name, sizeof(name), "l%d", i);
		snprintf(to, sizeof(to), "l%d", i - 1);
		artifact_link(&w, "z_lib_generic", name, to);
	}
	a = open_all(&w);
	CHECK_STR(ends_at(a, "z_lib_generic", "l40"), "l0");
	CHECK_STR(ends_at(a, "z_lib_generic", "l59"), "is part of a link loop");
	rk_artifacts_free(a);
	world_close(&w);
}

TEST(artifacts_survive_the_loss_of_every_allocation)
{
	bool failed = true;
	struct world w;

	world_begin(&w);
	ARCHIVE(&w, "z_lib_generic.tar", MANIFEST, { STAGE "/d/x", "1", NULL, NULL, 0 },
		{ STAGE "/d/y", NULL, NULL, STAGE "/d/x", 0 },
		{ STAGE "/l", NULL, "d/x", NULL, 0 });
	artifact_text(&w, "z_run_generic", "a/b/c", "x");
	for (uint64_t n = 1; failed && n < 5000; n++) {
		struct rk_artifacts *a;

		rk_diag_reset(w.ctx.diag, 0);
		rk_alloc_fail_after(n);
		a = open_all(&w);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK(a || w.err.code == RK_E_NOMEM);
		rk_artifacts_free(a);
	}
	CHECK(!failed);
	world_close(&w);
}
