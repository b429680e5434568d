/* sdist.c - the source package `rocm`, laid out as setuptools does; tar in gzip. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "archive/tar_write.h"
#include "base/alloc.h"
#include "base/data.h"
#include "codec/compress.h"
#include "pack/wheel/meta.h"

enum { SDIST_BYTES = 64 << 20, GZIP_LEVEL = 9 };

#define TEMPLATES "pack/templates/meta/"
#define EGG_INFO "src/rocm.egg-info/"

/* ---- files ---- */

struct sdist {
	struct rk_pack_plan *p;
	const struct rk_dist *d;
	const char *dir; /* "rocm-7.0" */
	struct rk_made_list *out;
	struct rk_error *err;
};

/* Adds `text` as a file if rc is 0; releases it in any case. */
static int add(struct sdist *s, const char *name, struct rk_bytes *text, int rc)
{
	const char *path;

	if (rc < 0) {
		rk_bytes_release(text);
		return rc;
	}
	path = rk_arena_textf(s->p->arena, "%s/%s", s->dir, name);
	return rk_made_text(s->p->arena, s->out, path, text, s->err);
}

/* Files that are the same in every sdist. */
static int add_fixed(struct sdist *s)
{
	static const struct {
		const char *name, *text;
	} files[] = {
		{ "setup.cfg", "[egg_info]\ntag_build = \ntag_date = 0\n\n" },
		{ EGG_INFO "dependency_links.txt", "\n" },
		{ EGG_INFO "entry_points.txt",
		  "[console_scripts]\nrocm-sdk = rocm_sdk.__main__:main\n" },
		{ EGG_INFO "top_level.txt", "rocm_sdk\n" },
	};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(files) / sizeof(*files); i++) {
		struct rk_bytes text;

		rk_bytes_init(&text, RK_META_BYTES);
		rk_bytes_puts(&text, files[i].text);
		rc = add(s, files[i].name, &text, 0);
	}
	return rc;
}

static int add_templates(struct sdist *s)
{
	const size_t skip = strlen(TEMPLATES);
	struct rk_bytes text;
	int rc = 0;

	rk_bytes_init(&text, RK_META_BYTES);
	for (const struct rk_data_file *f = rk_data_files; rc == 0 && f->name; f++) {
		if (strncmp(f->name, TEMPLATES, skip))
			continue;
		rc = rk_template_fill(&text, s->p, s->d, f->text, f->len, s->err);
		rc = add(s, f->name + skip, &text, rc);
	}
	return rc;
}

static int add_metadata(struct sdist *s, const char *name)
{
	struct rk_bytes text;

	rk_bytes_init(&text, RK_META_BYTES);
	return add(s, name, &text, rk_metadata_put(&text, s->p, s->d, s->err));
}

static int add_dist_info(struct sdist *s)
{
	struct rk_bytes text;

	rk_bytes_init(&text, RK_META_BYTES);
	return add(s, "src/rocm_sdk/_dist_info.py", &text,
		   rk_dist_info_put(&text, s->p, s->d, s->err));
}

/* The packages that are always required, then a section for each extra. */
static int add_requires(struct sdist *s)
{
	struct rk_extras e = { 0 };
	struct rk_bytes text;
	const char *last = "";
	int rc = rk_extras_make(s->p, s->d, &e, s->err);

	rk_bytes_init(&text, RK_META_BYTES);
	for (size_t i = 0; rc == 0 && i < e.n; i++) {
		if (strcmp(e.v[i].extra, last))
			rk_bytes_printf(&text, "\n[%s]\n", e.v[i].extra);
		last = e.v[i].extra;
		rk_bytes_printf(&text, "%s==%s\n", e.v[i].dist, s->p->version);
	}
	return add(s, EGG_INFO "requires.txt", &text, rc);
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct rk_made *)a)->path, ((const struct rk_made *)b)->path);
}

/* The list of source files and egg-info files; `out` has all members but this one, sorted. */
static int add_sources(struct sdist *s)
{
	static const char own[] = EGG_INFO "SOURCES.txt";
	const size_t skip = strlen(s->dir) + 1;
	struct rk_bytes text;
	bool said = false;

	rk_bytes_init(&text, RK_META_BYTES);
	for (size_t i = 0; i < s->out->n; i++) {
		const char *name = s->out->v[i].path + skip;

		if (!strcmp(name, "PKG-INFO") || !strcmp(name, "setup.cfg"))
			continue;
		if (!said && strcmp(name, own) > 0) {
			rk_bytes_printf(&text, "%s\n", own);
			said = true;
		}
		rk_bytes_printf(&text, "%s\n", name);
	}
	return add(s, own, &text, 0);
}

int rk_meta_sdist(struct rk_pack_plan *p, const struct rk_dist *d, struct rk_made_list *out,
		  struct rk_error *err)
{
	const char *name = rk_pep503_name(p->arena, d->dist, '_');
	struct rk_made_list list = { 0 };
	struct sdist s = { p, d, NULL, &list, err };
	int rc;

	s.dir = name ? rk_arena_textf(p->arena, "%s-%s", name, p->version) : NULL;
	if (!s.dir)
		return rk_fail_nomem(err);
	if ((rc = add_templates(&s)) < 0 || (rc = add_metadata(&s, "PKG-INFO")) < 0 ||
	    (rc = add_metadata(&s, EGG_INFO "PKG-INFO")) < 0 || (rc = add_dist_info(&s)) < 0 ||
	    (rc = add_requires(&s)) < 0 || (rc = add_fixed(&s)) < 0)
		return rc;
	qsort(list.v, list.n, sizeof(*list.v), by_path);
	rc = add_sources(&s);
	if (rc < 0)
		return rc;
	qsort(list.v, list.n, sizeof(*list.v), by_path);
	*out = list;
	return 0;
}

/* ---- archive ---- */

static int put_member(struct rk_bytes *tar, const struct rk_made *m, int64_t epoch,
		      struct rk_error *err)
{
	static const char zeros[RK_TAR_BLOCK];
	struct rk_tar_member h = { m->path, RK_TAR_FILE, NULL, m->mode, m->content->size, epoch };
	int rc;

	rk_tar_put(tar, &h);
	if (m->content->size > SDIST_BYTES || !rk_bytes_reserve(tar, (size_t)m->content->size))
		return rk_fail_nomem(err);
	rc = rk_content_read(m->content, 0, tar->data + tar->len, (size_t)m->content->size, err);
	if (rc < 0)
		return rc;
	tar->len += (size_t)m->content->size;
	rk_bytes_put(tar, zeros, rk_tar_padding(m->content->size));
	return 0;
}

static void put_le32(struct rk_bytes *out, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		rk_bytes_put_u8(out, (uint8_t)(v >> (8 * i)));
}

/* RFC 1952: no name, no time, always "Unix". */
static int put_gzip(struct rk_bytes *out, const struct rk_bytes *tar, int level,
		    struct rk_error *err)
{
	static const uint8_t head[] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3 };
	int rc;

	rk_bytes_put(out, head, sizeof(head));
	rc = rk_deflate(out, tar->data, tar->len, NULL, 0, level, err);
	put_le32(out, (uint32_t)crc32(0, tar->data, (uInt)tar->len));
	put_le32(out, (uint32_t)tar->len);
	return rc == 0 && out->bad ? rk_fail_nomem(err) : rc;
}

int rk_sdist_write(const char *path, const struct rk_made_list *members, int64_t epoch, int level,
		   struct rk_error *err)
{
	static const char zeros[2 * RK_TAR_BLOCK];
	struct rk_bytes tar, gz;
	int rc = 0;

	/* the file is small: for "stored" and levels above 9 use zlib's best */
	if (level < 1 || level > GZIP_LEVEL)
		level = GZIP_LEVEL;
	rk_bytes_init(&tar, SDIST_BYTES);
	rk_bytes_init(&gz, SDIST_BYTES);
	for (size_t i = 0; rc == 0 && i < members->n; i++)
		rc = put_member(&tar, &members->v[i], epoch, err);
	rk_bytes_put(&tar, zeros, sizeof(zeros));
	if (rc == 0 && tar.bad)
		rc = rk_fail_nomem(err);
	if (rc == 0)
		rc = put_gzip(&gz, &tar, level, err);
	if (rc == 0)
		rc = rk_write_file(path, (const char *)gz.data, gz.len, err);
	rk_bytes_release(&tar);
	rk_bytes_release(&gz);
	return rc;
}
