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

/* Adds `text` as a file and releases it, also on failure. */
static int add(struct sdist *s, const char *name, struct rk_bytes *text)
{
	const char *path = rk_arena_textf(s->p->arena, "%s/%s", s->dir, name);

	return rk_made_text(s->p->arena, s->out, path, text, s->err);
}

/* Required packages first, then a section for each extra. */
static int add_requires(struct sdist *s, struct rk_bytes *text)
{
	struct rk_extras e = { 0 };
	const char *last = "";
	int rc = rk_extras_make(s->p, s->d, &e, s->err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < e.n; i++) {
		if (strcmp(e.v[i].extra, last))
			rk_bytes_printf(text, "\n[%s]\n", e.v[i].extra);
		last = e.v[i].extra;
		rk_bytes_printf(text, "%s==%s\n", e.v[i].dist, s->p->version);
	}
	return add(s, EGG_INFO "requires.txt", text);
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct rk_made *)a)->path, ((const struct rk_made *)b)->path);
}

/* The list of source files and egg-info files. `out` has all other members, sorted. */
static int add_sources(struct sdist *s, struct rk_bytes *text)
{
	static const char own[] = EGG_INFO "SOURCES.txt";
	const size_t skip = strlen(s->dir) + 1;
	bool said = false;

	for (size_t i = 0; i < s->out->n; i++) {
		const char *name = s->out->v[i].path + skip;

		if (!strcmp(name, "PKG-INFO") || !strcmp(name, "setup.cfg"))
			continue;
		if (!said && strcmp(name, own) > 0) {
			rk_bytes_printf(text, "%s\n", own);
			said = true;
		}
		rk_bytes_printf(text, "%s\n", name);
	}
	return add(s, own, text);
}

int rk_meta_sdist(struct rk_pack_plan *p, const struct rk_dist *d, struct rk_made_list *out,
		  struct rk_error *err)
{
	static const char *const metadata[] = { "PKG-INFO", EGG_INFO "PKG-INFO" };
	/* the same in every sdist */
	static const struct {
		const char *name, *text;
	} fixed[] = {
		{ "setup.cfg", "[egg_info]\ntag_build = \ntag_date = 0\n\n" },
		{ EGG_INFO "dependency_links.txt", "\n" },
		{ EGG_INFO "entry_points.txt",
		  "[console_scripts]\nrocm-sdk = rocm_sdk.__main__:main\n" },
		{ EGG_INFO "top_level.txt", "rocm_sdk\n" },
	};
	const char *name = rk_pep503_name(p->arena, d->dist, '_');
	const size_t skip = strlen(TEMPLATES);
	struct rk_made_list list = { 0 };
	struct sdist s = { p, d, NULL, &list, err };
	struct rk_bytes text;
	int rc;

	s.dir = name ? rk_arena_textf(p->arena, "%s-%s", name, p->version) : NULL;
	if (!s.dir)
		return rk_fail_nomem(err);
	rk_bytes_init(&text, RK_META_BYTES);
	for (const struct rk_data_file *f = rk_data_files; f->name; f++)
		if (!strncmp(f->name, TEMPLATES, skip) &&
		    ((rc = rk_template_fill(&text, p, d, f->text, f->len, err)) < 0 ||
		     (rc = add(&s, f->name + skip, &text)) < 0))
			goto out;
	for (size_t i = 0; i < 2; i++)
		if ((rc = rk_metadata_put(&text, p, d, err)) < 0 ||
		    (rc = add(&s, metadata[i], &text)) < 0)
			goto out;
	if ((rc = rk_dist_info_put(&text, p, d, err)) < 0 ||
	    (rc = add(&s, "src/rocm_sdk/_dist_info.py", &text)) < 0 ||
	    (rc = add_requires(&s, &text)) < 0)
		goto out;
	for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++) {
		rk_bytes_puts(&text, fixed[i].text);
		rc = add(&s, fixed[i].name, &text);
		if (rc < 0)
			goto out;
	}
	qsort(list.v, list.n, sizeof(*list.v), by_path);
	rc = add_sources(&s, &text);
	if (rc < 0)
		goto out;
	qsort(list.v, list.n, sizeof(*list.v), by_path);
	*out = list;
out:
	rk_bytes_release(&text);
	return rc;
}

/* ---- archive ---- */

static void put_le32(struct rk_bytes *out, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		rk_bytes_put_u8(out, (uint8_t)(v >> (8 * i)));
}

int rk_sdist_write(const char *path, const struct rk_made_list *members, int64_t epoch, int level,
		   struct rk_error *err)
{
	/* RFC 1952: no name, no time, OS always "Unix" */
	static const uint8_t head[] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3 };
	static const char zeros[2 * RK_TAR_BLOCK];
	struct rk_bytes tar, gz;
	int rc;

	/* the file is small: use zlib's best for "stored" and for levels above 9 */
	if (level < 1 || level > GZIP_LEVEL)
		level = GZIP_LEVEL;
	rk_bytes_init(&tar, SDIST_BYTES);
	rk_bytes_init(&gz, SDIST_BYTES);
	for (size_t i = 0; i < members->n; i++) {
		const struct rk_made *m = &members->v[i];
		struct rk_tar_member h = { m->path, RK_TAR_FILE,      NULL,
					   m->mode, m->content->size, epoch };
		size_t size = (size_t)m->content->size;

		rk_tar_put(&tar, &h);
		if (size > SDIST_BYTES || !rk_bytes_reserve(&tar, size)) {
			rc = rk_fail_nomem(err);
			goto out;
		}
		rc = rk_content_read(m->content, 0, tar.data + tar.len, size, err);
		if (rc < 0)
			goto out;
		tar.len += size;
		rk_bytes_put(&tar, zeros, rk_tar_padding(size));
	}
	rk_bytes_put(&tar, zeros, sizeof(zeros));
	if (tar.bad) {
		rc = rk_fail_nomem(err);
		goto out;
	}

	rk_bytes_put(&gz, head, sizeof(head));
	rc = rk_deflate(&gz, tar.data, tar.len, NULL, 0, level, err);
	if (rc < 0)
		goto out;
	put_le32(&gz, (uint32_t)crc32(0, tar.data, (uInt)tar.len));
	put_le32(&gz, (uint32_t)tar.len);
	rc = gz.bad ? rk_fail_nomem(err) : rk_write_file(path, (const char *)gz.data, gz.len, err);
out:
	rk_bytes_release(&tar);
	rk_bytes_release(&gz);
	return rc;
}
