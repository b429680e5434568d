/* wheel_meta.c - names of wheels and of what is in them; scripts, lines of RECORD. */
#include <string.h>

#include "base/text.h"
#include "pack/meta_parts.h"

/* ---- members ---- */

static int made_room(struct rk_arena *a, struct rk_made_list *l, struct rk_error *err)
{
	size_t cap = l->cap ? l->cap * 2 : 16;
	struct rk_made *v;

	if (l->n < l->cap)
		return 0;
	v = rk_arena_alloc(a, cap * sizeof(*v));
	if (!v)
		return rk_fail_nomem(err);
	if (l->n)
		memcpy(v, l->v, l->n * sizeof(*v));
	l->v = v;
	l->cap = cap;
	return 0;
}

int rk_made_text(struct rk_arena *a, struct rk_made_list *out, const char *path,
		 struct rk_bytes *text, struct rk_error *err)
{
	const char *bytes = NULL;
	struct rk_content *c;
	int rc = made_room(a, out, err);

	if (!text->bad)
		bytes = rk_arena_text(a, text->data ? (const char *)text->data : "", text->len);
	if (rc == 0 && (!path || !bytes))
		rc = rk_fail_nomem(err);
	if (rc == 0)
		rc = rk_content_new(a, &c, err);
	if (rc == 0 && text->len)
		rc = rk_content_bytes(a, c, bytes, text->len, err);
	if (rc == 0)
		out->v[out->n++] = (struct rk_made){ path, c, 0644 };
	rk_bytes_release(text);
	return rc;
}

/* ---- names ---- */

bool rk_kind_of_family(const struct rk_pack_plan *p, const struct rk_pack_kind *k)
{
	return strstr(p->kpack ? k->dist_kpack : k->dist, "{family}") != NULL;
}

const char *rk_kind_dist(const struct rk_pack_plan *p, const struct rk_pack_kind *k,
			 const char *family)
{
	const char *base = rk_arena_text(p->arena, family, rk_family_base(family));

	return base ? rk_pack_dist_name(p->arena, k, p->kpack, base) : NULL;
}

size_t rk_dist_families(const struct rk_pack_plan *p, const struct rk_dist *d,
			const char *const **ret)
{
	if (d->kind->role == RK_PACK_META && *d->family) {
		*ret = &d->family;
		return 1;
	}
	*ret = (const char *const *)p->families;
	return p->nfamilies;
}

const char *rk_wheel_name(struct rk_arena *a, const struct rk_dist *d, const char *version,
			  const char *tag)
{
	const char *name = rk_pep503_name(a, d->dist, '_');

	return name ? rk_arena_textf(a, "%s-%s-py3-none-%s.whl", name, version, tag) : NULL;
}

const char *rk_dist_info_dir(struct rk_arena *a, const struct rk_dist *d, const char *version)
{
	const char *name = rk_pep503_name(a, d->dist, '_');

	return name ? rk_arena_textf(a, "%s-%s.dist-info", name, version) : NULL;
}

/* ---- console scripts ---- */

bool rk_script_works(const struct rk_dist *d, const struct rk_pack_script *s)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->items[i].action <= RK_PACK_MADE && !strcmp(d->items[i].path, s->path))
			return true;
	return false;
}

/* ---- RECORD ---- */

void rk_record_line(struct rk_bytes *out, const char *path, const uint8_t sha256[RK_SHA256_BYTES],
		    uint64_t size)
{
	size_t from;

	rk_csv_cell(out, path, strlen(path));
	if (!sha256) {
		rk_bytes_puts(out, ",,\n");
		return;
	}
	rk_bytes_puts(out, ",sha256=");
	from = out->len;
	rk_base64_put(out, sha256, RK_SHA256_BYTES);
	if (out->bad)
		return;
	/* the alphabet for URLs, without padding: 32 bytes end with one '=' */
	for (size_t i = from; i < out->len; i++)
		out->data[i] = out->data[i] == '+' ? '-' : out->data[i] == '/' ? '_' : out->data[i];
	out->len--;
	rk_bytes_printf(out, ",%llu\n", (unsigned long long)size);
}
