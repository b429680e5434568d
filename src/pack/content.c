/* content.c - see content.h. */
#include "pack/content.h"

#include <string.h>
#include <sys/stat.h>

#include "base/num.h"

/* ---- building ---- */

int rk_content_new(struct rk_arena *a, struct rk_content **ret, struct rk_error *err)
{
	*ret = rk_arena_alloc(a, sizeof(**ret));
	return *ret ? 0 : rk_fail_nomem(err);
}

static int add(struct rk_arena *a, struct rk_content *c, struct rk_piece piece,
	       struct rk_error *err)
{
	struct rk_piece *v;
	uint64_t size;

	if (!piece.size)
		return 0;
	if (!rk_add(c->size, piece.size, &size))
		return rk_fail(err, RK_E_LIMIT, "a file of the package would be too large");
	v = rk_arena_grow(a, c->pieces, c->n, &c->cap, sizeof(*v));
	if (!v)
		return rk_fail_nomem(err);
	c->pieces = v;
	piece.at = c->size;
	c->pieces[c->n++] = piece;
	c->size = size;
	return 0;
}

int rk_content_bytes(struct rk_arena *a, struct rk_content *c, const void *p, size_t len,
		     struct rk_error *err)
{
	return add(a, c, (struct rk_piece){ .kind = RK_PIECE_BYTES, .size = len, .bytes = p }, err);
}

int rk_content_origin(struct rk_arena *a, struct rk_content *c, const struct rk_origin *o,
		      const struct rk_elf_edit *edit, struct rk_error *err)
{
	struct rk_piece piece = { .kind = RK_PIECE_ORIGIN,
				  .size = edit ? edit->new_size : o->size,
				  .origin = o,
				  .edit = edit };

	return add(a, c, piece, err);
}

int rk_content_zeros(struct rk_arena *a, struct rk_content *c, uint64_t n, struct rk_error *err)
{
	return add(a, c, (struct rk_piece){ .kind = RK_PIECE_ZEROS, .size = n }, err);
}

int rk_content_append(struct rk_arena *a, struct rk_content *c, const struct rk_content *more,
		      struct rk_error *err)
{
	for (size_t i = 0; i < more->n; i++) {
		int rc = add(a, c, more->pieces[i], err);

		if (rc < 0)
			return rc;
	}
	return 0;
}

/* ---- reading ---- */

int64_t rk_origin_time(const struct stat *st)
{
	return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

static int changed(const struct rk_origin *o, struct rk_error *err)
{
	return rk_fail(err, RK_E_IO, "'%s' changed while it was being packed", o->name);
}

/*
 * The file must be the one that was found, unchanged: the path could be a link to another file by
 * now.
 */
static int open_same(const struct rk_origin *o, struct rk_file **ret, struct rk_error *err)
{
	struct rk_file *f = NULL;
	struct stat st;
	int rc = rk_file_open(o->path, &f, err);

	if (rc < 0)
		return rc;
	if (!f->seekable || f->size != o->size ||
	    (o->ino && (fstat(f->fd, &st) != 0 || (uint64_t)st.st_dev != o->dev ||
			(uint64_t)st.st_ino != o->ino || rk_origin_time(&st) != o->mtime_ns))) {
		rk_file_close(f);
		return changed(o, err);
	}
	*ret = f;
	return 0;
}

int rk_origin_read(const struct rk_origin *o, uint64_t offset, void *to, size_t len,
		   struct rk_error *err)
{
	struct rk_file *f = NULL;
	size_t n = 0;
	int rc;

	if (!o->path)
		return rk_spill_read(o->spill, o->offset + offset, to, len, err);
	rc = open_same(o, &f, err);
	if (rc < 0)
		return rc;
	rc = rk_file_pread(f, to, len, offset, &n, err);
	if (rc == 0 && n != len)
		rc = changed(o, err);
	rk_file_close(f);
	return rc;
}

static int read_piece(const struct rk_piece *p, uint64_t offset, void *to, size_t len,
		      struct rk_error *err)
{
	size_t old = 0;
	int rc;

	switch (p->kind) {
	case RK_PIECE_BYTES:
		memcpy(to, (const char *)p->bytes + offset, len);
		return 0;
	case RK_PIECE_ZEROS:
		memset(to, 0, len);
		return 0;
	case RK_PIECE_ORIGIN:
		break;
	}
	if (!p->edit)
		return rk_origin_read(p->origin, offset, to, len, err);
	/* original bytes first, where there are any, then the edit on top */
	if (offset < p->origin->size) {
		old = rk_min(p->origin->size - offset, len);
		rc = rk_origin_read(p->origin, offset, to, old, err);
		if (rc < 0)
			return rc;
	}
	memset((char *)to + old, 0, len - old);
	rk_elf_edit_apply(p->edit, offset, to, len);
	return 0;
}

int rk_content_read(const void *content, uint64_t offset, void *to, size_t len,
		    struct rk_error *err)
{
	const struct rk_content *c = content;
	size_t low = 0, high = c->n, n;

	if (offset > c->size || len > c->size - offset)
		return rk_fail(err, RK_E_USAGE, "read past the end of a file");
	while (high - low > 1) { /* find the piece with the byte at `offset` */
		size_t mid = low + (high - low) / 2;

		if (c->pieces[mid].at <= offset)
			low = mid;
		else
			high = mid;
	}
	for (size_t done = 0; done < len; low++, done += n) {
		const struct rk_piece *p = &c->pieces[low];
		uint64_t from = offset + done - p->at;
		int rc;

		n = rk_min(p->size - from, len - done);
		rc = read_piece(p, from, (char *)to + done, n, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int rk_origin_head(const struct rk_origin *o, void *to, size_t len, size_t *ret_len,
		   struct rk_error *err)
{
	*ret_len = rk_min(o->size, len);
	return *ret_len ? rk_origin_read(o, 0, to, *ret_len, err) : 0;
}

int rk_origin_view(const struct rk_origin *o, struct rk_view *ret, struct rk_error *err)
{
	struct rk_file *f = NULL;
	int rc;

	if (!o->path)
		return rk_view_spill(o->spill, o->offset, (size_t)o->size, ret, err);
	rc = open_same(o, &f, err);
	if (rc < 0)
		return rc;
	rc = rk_view_file(f, ret, err);
	if (rc < 0)
		rk_file_close(f);
	return rc;
}
