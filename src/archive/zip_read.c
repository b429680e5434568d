/* zip_read.c - the bytes of a zip archive's members: stored, or inflated in pieces. */
#include "archive/zip_read.h"

#include <string.h>
#include <zlib.h>

#include "archive/deflate_piece.h"
#include "archive/zip_read_impl.h"
#include "base/alloc.h"

enum { IN_BYTES = 64 << 10, OUT_BYTES = 128 << 10 };

/* A member being read. */
struct reading {
	struct rk_zip_file *z;
	const struct rk_zip_entry *e;
	uint64_t taken; /* of the packed bytes */
	uint64_t given; /* of the unpacked */
	uint32_t crc;
	int (*take)(void *arg, const void *p, size_t len, struct rk_error *err);
	void *arg;
	uint8_t in[IN_BYTES], out[OUT_BYTES];
};

static int bad_member(const struct reading *r, const char *what, struct rk_error *err)
{
	return rk_fail(err, RK_E_FORMAT, "'%s' is damaged: %s", r->e->name, what);
}

static int fetch(struct reading *r, size_t *ret_len, struct rk_error *err)
{
	uint64_t left = r->e->packed - r->taken;
	size_t len = left < IN_BYTES ? (size_t)left : IN_BYTES;
	int rc = rk_zip_pread(r->z, r->in, len, r->e->data + r->taken, err);

	r->taken += len;
	*ret_len = len;
	return rc;
}

static int give(struct reading *r, const uint8_t *p, size_t len, struct rk_error *err)
{
	if (len > r->e->size - r->given)
		return bad_member(r, "it unpacks to more than it says", err);
	r->crc = r->given ? rk_crc32_join(r->crc, rk_crc32(p, len), len) : rk_crc32(p, len);
	r->given += len;
	return len ? r->take(r->arg, p, len, err) : 0;
}

static int each_stored(struct reading *r, struct rk_error *err)
{
	size_t len;
	int rc = 0;

	while (rc == 0 && r->taken < r->e->packed) {
		rc = fetch(r, &len, err);
		if (rc == 0)
			rc = give(r, r->in, len, err);
	}
	return rc;
}

static int inflate_some(struct reading *r, z_stream *s, struct rk_error *err)
{
	int how, rc;

	s->next_out = r->out;
	s->avail_out = OUT_BYTES;
	how = inflate(s, Z_NO_FLUSH);
	if (how == Z_MEM_ERROR)
		return rk_fail_nomem(err);
	if (how != Z_OK && how != Z_STREAM_END && how != Z_BUF_ERROR)
		return bad_member(r, s->msg ? s->msg : "no deflated data", err);
	if (how == Z_BUF_ERROR && s->avail_out == OUT_BYTES && r->taken == r->e->packed)
		return bad_member(r, "it is cut short", err);
	rc = give(r, r->out, OUT_BYTES - s->avail_out, err);
	return rc < 0 ? rc : how == Z_STREAM_END;
}

static int each_deflated(struct reading *r, z_stream *s, struct rk_error *err)
{
	size_t len;
	int rc = 0;

	while (rc == 0) {
		if (!s->avail_in && r->taken < r->e->packed) {
			rc = fetch(r, &len, err);
			s->next_in = r->in;
			s->avail_in = (uInt)len;
		}
		if (rc == 0)
			rc = inflate_some(r, s, err);
	}
	if (rc > 0 && (s->avail_in || r->taken < r->e->packed))
		rc = bad_member(r, "bytes follow its end", err);
	return rc < 0 ? rc : 0;
}

static voidpf z_alloc(voidpf opaque, uInt n, uInt size)
{
	(void)opaque;
	return rk_calloc(n, size);
}

static void z_free(voidpf opaque, voidpf p)
{
	(void)opaque;
	rk_free(p);
}

static int with_inflate(struct reading *r, struct rk_error *err)
{
	z_stream s = { .zalloc = z_alloc, .zfree = z_free };
	int rc;

	if (inflateInit2(&s, -MAX_WBITS) != Z_OK)
		return rk_fail_nomem(err);
	rc = each_deflated(r, &s, err);
	inflateEnd(&s);
	return rc;
}

int rk_zip_each_bytes(struct rk_zip_file *z, const struct rk_zip_entry *e,
		      int (*take)(void *arg, const void *p, size_t len, struct rk_error *err),
		      void *arg, struct rk_error *err)
{
	struct reading *r;
	int rc;

	if (e->method != RK_ZIP_STORED && e->method != RK_ZIP_DEFLATED)
		return rk_fail(err, RK_E_UNSUPPORTED, "'%s' is packed by method %u", e->name,
			       e->method);
	r = rk_alloc(sizeof(*r));
	if (!r)
		return rk_fail_nomem(err);
	r->z = z;
	r->e = e;
	r->taken = r->given = 0;
	r->crc = 0;
	r->take = take;
	r->arg = arg;
	rc = e->method == RK_ZIP_STORED ? each_stored(r, err) : with_inflate(r, err);
	if (rc == 0 && r->given != e->size)
		rc = bad_member(r, "it unpacks to less than it says", err);
	if (rc == 0 && r->crc != e->crc)
		rc = bad_member(r, "its CRC is wrong", err);
	rk_free(r);
	return rc;
}

struct loading {
	char *to;
	size_t len;
};

static int load_some(void *arg, const void *p, size_t len, struct rk_error *err)
{
	struct loading *l = arg;

	(void)err;
	memcpy(l->to + l->len, p, len);
	l->len += len;
	return 0;
}

int rk_zip_load(struct rk_zip_file *z, const struct rk_zip_entry *e, size_t max, char **ret,
		size_t *ret_len, struct rk_error *err)
{
	struct loading l = { 0 };
	int rc;

	if (e->size > max)
		return rk_fail(err, RK_E_LIMIT, "'%s' has more than %zu bytes", e->name, max);
	l.to = rk_alloc((size_t)e->size + 1);
	if (!l.to)
		return rk_fail_nomem(err);
	rc = rk_zip_each_bytes(z, e, load_some, &l, err);
	if (rc < 0) {
		rk_free(l.to);
		return rc;
	}
	l.to[l.len] = '\0';
	*ret = l.to;
	*ret_len = l.len;
	return 0;
}

const struct rk_zip_entry *rk_zip_entries(const struct rk_zip_file *z, size_t *ret_n)
{
	*ret_n = z->n;
	return z->entries;
}

const struct rk_zip_entry *rk_zip_find(const struct rk_zip_file *z, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < z->n; i++)
		if (z->entries[i].name_len == len && !memcmp(z->entries[i].name, name, len))
			return &z->entries[i];
	return NULL;
}

void rk_zip_close(struct rk_zip_file *z)
{
	if (!z)
		return;
	rk_file_close(z->file);
	rk_free(z->entries);
	rk_free(z->names);
	rk_free(z);
}
