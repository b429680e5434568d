/* instream.c - one stream over plain and packed files. */
#include "codec/instream.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "codec/compress.h"
#include "io/dirs.h"

enum { IN_BYTES = 128 << 10, HEAD_BYTES = 64 << 10, COPY_BYTES = 256 << 10 };

/*
 * Bytes go file -> in -> unpacker -> caller. The first HEAD_BYTES of content always pass through
 * `head`, so that they can be inspected before or after they are read. An error after good bytes
 * waits in `pending` until these are delivered; then every read returns it.
 */
struct rk_instream {
	struct rk_file *file;
	char *path;
	enum rk_packing packing;
	const struct rk_unpack_ops *ops; /* NULL: plain */
	void *state;
	uint8_t *in;
	size_t in_pos, in_len;
	uint64_t file_pos; /* bytes of the file read into `in` or straight to the caller */
	bool in_last;      /* the file has no more bytes */
	bool ended;        /* the content has no more bytes */
	uint8_t *head;
	size_t head_pos, head_len;
	bool head_filled;
	struct rk_error pending; /* code 0: none */
	struct rk_tempdir *tmp;
	char *plain_path;
};

static enum rk_packing packing_of(const uint8_t *p, size_t len)
{
	static const uint8_t gzip[] = { 0x1f, 0x8b, 0x08 };
	static const uint8_t xz[] = { 0xfd, '7', 'z', 'X', 'Z', 0 };
	static const uint8_t zstd[] = { 0x28, 0xb5, 0x2f, 0xfd };
	static const uint8_t skippable[] = { 0x2a, 0x4d, 0x18 }; /* after one byte 0x50..0x5f */

	if (len >= sizeof(gzip) && memcmp(p, gzip, sizeof(gzip)) == 0)
		return RK_GZIP;
	if (len >= sizeof(xz) && memcmp(p, xz, sizeof(xz)) == 0)
		return RK_XZ;
	if (len >= sizeof(zstd) && memcmp(p, zstd, sizeof(zstd)) == 0)
		return RK_ZSTD;
	if (len > sizeof(skippable) && (p[0] & 0xf0) == 0x50 &&
	    memcmp(p + 1, skippable, sizeof(skippable)) == 0)
		return RK_ZSTD;
	return RK_PLAIN;
}

static int refill(struct rk_instream *s, struct rk_error *err)
{
	size_t n = 0;
	int rc = rk_file_read(s->file, s->in, IN_BYTES, &n, err);

	if (rc < 0)
		return rc;
	s->in_pos = 0;
	s->in_len = n;
	s->file_pos += n;
	s->in_last = n < IN_BYTES;
	return 0;
}

int rk_instream_open(const char *path, struct rk_instream **ret, struct rk_error *err)
{
	static const struct rk_unpack_ops *const ops[] = {
		[RK_GZIP] = &rk_unpack_gzip,
		[RK_XZ] = &rk_unpack_xz,
		[RK_ZSTD] = &rk_unpack_zstd,
	};
	struct rk_instream *s = rk_calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return rk_fail_nomem(err);
	s->path = rk_strdup(path);
	s->in = rk_alloc(IN_BYTES);
	s->head = rk_alloc(HEAD_BYTES);
	if (!s->path || !s->in || !s->head) {
		rc = rk_fail_nomem(err);
		goto fail;
	}
	rc = rk_file_open(path, &s->file, err);
	if (rc < 0 || (rc = refill(s, err)) < 0)
		goto fail;
	s->packing = packing_of(s->in, s->in_len);
	s->ops = ops[s->packing];
	if (s->ops && (rc = s->ops->open(&s->state, err)) < 0)
		goto fail;
	*ret = s;
	return 0;
fail:
	rk_error_at(err, path, 0, 0);
	rk_instream_close(s);
	return rc;
}

const char *rk_instream_path(const struct rk_instream *s)
{
	return s->path;
}

enum rk_packing rk_instream_packing(const struct rk_instream *s)
{
	return s->packing;
}

bool rk_instream_rewindable(const struct rk_instream *s)
{
	return s->file->seekable;
}

/* Large reads of a plain file go straight to the caller's memory once `in` is used up. */
static int pull_plain(struct rk_instream *s, uint8_t *buf, size_t len, size_t *ret_n,
		      struct rk_error *err)
{
	size_t n = s->in_len - s->in_pos;
	int rc = 0;

	if (!n && !s->in_last) {
		rc = rk_file_read(s->file, buf, len, &n, err);
		s->file_pos += n;
		s->in_last = n < len;
	} else {
		n = n < len ? n : len;
		memcpy(buf, s->in + s->in_pos, n);
		s->in_pos += n;
	}
	s->ended = s->in_last && s->in_pos == s->in_len;
	*ret_n = n;
	return rc;
}

static int pull_packed(struct rk_instream *s, uint8_t *buf, size_t len, size_t *ret_n,
		       struct rk_error *err)
{
	struct rk_unpack_io io = { .out = buf, .out_len = len };
	int rc;

	*ret_n = 0;
	if (s->in_pos == s->in_len && !s->in_last) {
		rc = refill(s, err);
		if (rc < 0)
			return rc;
	}
	io.in = s->in + s->in_pos;
	io.in_len = s->in_len - s->in_pos;
	io.in_last = s->in_last;
	rc = s->ops->step(s->state, &io, err);
	*ret_n = len - io.out_len;
	if (rc > 0 && !*ret_n && io.in == s->in + s->in_pos && (io.in_len || s->in_last))
		rc = rk_fail(err, RK_E_FORMAT, "the file ends in the middle of its %s data",
			     s->ops->name);
	s->in_pos = s->in_len - io.in_len;
	s->ended = rc == 0;
	return rc < 0 ? rc : 0;
}

/*
 * Fills buf up to the end of the content. An error is kept until the bytes before it are delivered.
 */
static size_t fill(struct rk_instream *s, uint8_t *buf, size_t len)
{
	size_t done = 0;

	while (done < len && !s->ended && !s->pending.code) {
		size_t n = 0;
		int rc = s->ops ? pull_packed(s, buf + done, len - done, &n, &s->pending) :
				  pull_plain(s, buf + done, len - done, &n, &s->pending);

		done += n;
		if (rc < 0)
			rk_error_at(&s->pending, s->path, 0, s->file_pos - (s->in_len - s->in_pos));
	}
	return done;
}

static void fill_head(struct rk_instream *s)
{
	if (s->head_filled)
		return;
	s->head_len = fill(s, s->head, HEAD_BYTES);
	s->head_pos = 0;
	s->head_filled = true;
}

static int fail_pending(const struct rk_instream *s, struct rk_error *err)
{
	if (err && !err->code)
		*err = s->pending;
	return s->pending.code;
}

int rk_instream_head(struct rk_instream *s, const void **ret, size_t *ret_len, struct rk_error *err)
{
	fill_head(s);
	if (!s->head_len && s->pending.code)
		return fail_pending(s, err);
	*ret = s->head;
	*ret_len = s->head_len;
	return 0;
}

int rk_instream_read(struct rk_instream *s, void *buf, size_t len, size_t *ret_len,
		     struct rk_error *err)
{
	size_t n;

	fill_head(s);
	n = s->head_len - s->head_pos;
	n = n < len ? n : len;
	if (n) {
		memcpy(buf, s->head + s->head_pos, n);
		s->head_pos += n;
	}
	if (n < len)
		n += fill(s, (uint8_t *)buf + n, len - n);
	if (!n && len && s->pending.code)
		return fail_pending(s, err);
	*ret_len = n;
	return 0;
}

int rk_instream_rewind(struct rk_instream *s, struct rk_error *err)
{
	int rc;

	if (!s->file->seekable && !s->head_pos)
		return 0; /* a pipe of which only the head was read */
	if (!s->file->seekable)
		rc = rk_fail(err, RK_E_IO, "a pipe cannot be read twice");
	else if ((rc = rk_file_rewind(s->file, err)) == 0 && s->ops)
		rc = s->ops->rewind(s->state, err);
	if (rc < 0) {
		rk_error_at(err, s->path, 0, 0);
		return rc;
	}
	s->in_pos = s->in_len = s->head_pos = s->head_len = 0;
	s->file_pos = 0;
	s->in_last = s->ended = s->head_filled = false;
	rk_error_clear(&s->pending);
	return 0;
}

void rk_instream_progress(const struct rk_instream *s, uint64_t *ret_done, uint64_t *ret_total)
{
	*ret_done = s->file_pos - (s->in_len - s->in_pos);
	*ret_total = s->file->size;
}

int rk_instream_plain_path(struct rk_instream *s, const char *tmpdir, const char **ret,
			   struct rk_error *err)
{
	size_t n = COPY_BYTES;
	const char *path;
	uint8_t *buf = NULL;
	int fd, rc;

	if (!s->ops && s->file->seekable) {
		*ret = s->path;
		return 0;
	}
	if (s->plain_path) {
		*ret = s->plain_path;
		return 0;
	}
	rk_tempdir_free(s->tmp); /* of an attempt that failed */
	s->tmp = NULL;
	rc = rk_instream_rewind(s, err);
	if (rc < 0 || (rc = rk_tempdir_new(tmpdir, &s->tmp, err)) < 0 ||
	    (rc = rk_tempdir_create(s->tmp, "plain", &path, &fd, err)) < 0)
		goto out;
	buf = rk_alloc(COPY_BYTES);
	if (!buf)
		rc = rk_fail_nomem(err);
	while (rc == 0 && n) {
		rc = rk_instream_read(s, buf, COPY_BYTES, &n, err);
		if (rc == 0)
			rc = rk_tempdir_write(fd, buf, n, err);
	}
	if (close(fd) < 0 && rc == 0)
		rc = rk_fail_errno(err, errno, "cannot write '%s'", path);
	if (rc < 0)
		goto out;
	s->plain_path = rk_strdup(path);
	if (!s->plain_path)
		rc = rk_fail_nomem(err);
	else
		*ret = s->plain_path;
out:
	rk_free(buf);
	if (rc < 0)
		rk_error_at(err, s->path, 0, 0);
	return rc;
}

int rk_instream_keep(struct rk_instream *s, const char *tmpdir, struct rk_error *err)
{
	struct rk_file *copy;
	const char *path;
	int rc;

	if (s->file->seekable)
		return 0;
	rc = rk_instream_plain_path(s, tmpdir, &path, err);
	if (rc < 0 || (rc = rk_file_open(path, &copy, err)) < 0)
		return rc;
	rk_file_close(s->file);
	s->file = copy;
	if (s->ops)
		s->ops->close(s->state);
	s->ops = NULL; /* the copy holds the content unpacked */
	s->state = NULL;
	s->packing = RK_PLAIN;
	return rk_instream_rewind(s, err);
}

void rk_instream_close(struct rk_instream *s)
{
	if (!s)
		return;
	if (s->ops)
		s->ops->close(s->state);
	rk_file_close(s->file);
	rk_tempdir_free(s->tmp);
	rk_free(s->plain_path);
	rk_free(s->head);
	rk_free(s->in);
	rk_free(s->path);
	rk_free(s);
}

/* ---- a text file line by line ---- */

enum { BLOCK = 64 << 10 };

int rk_lines_begin(struct rk_lines *l, struct rk_instream *in, struct rk_error *err)
{
	char *buf = l->buf;
	int rc = rk_instream_rewind(in, err);

	if (rc < 0)
		return rc;
	if (!buf)
		buf = rk_alloc(RK_LINES_MAX + BLOCK);
	if (!buf)
		return rk_fail_nomem(err);
	*l = (struct rk_lines){ .in = in, .buf = buf };
	return 0;
}

void rk_lines_release(struct rk_lines *l)
{
	rk_free(l->buf);
	*l = (struct rk_lines){ 0 };
}

/* Moves the rest to the front and reads more text after it. */
static int refill_lines(struct rk_lines *l, struct rk_error *err)
{
	size_t left = l->to - l->from, n = 0;
	int rc;

	memmove(l->buf, l->buf + l->from, left);
	l->from = 0;
	l->to = left;
	rc = rk_instream_read(l->in, l->buf + left, BLOCK, &n, err);
	if (rc < 0)
		return rc;
	l->to += n;
	l->eof = !n; /* a truncated compressed file reports the error only after its last byte */
	return 0;
}

/* Skips the rest of a line that is too long. */
static int skip_huge(struct rk_lines *l, struct rk_error *err)
{
	if (!l->huge++)
		l->huge_line = l->number + 1;
	l->number++;
	for (;;) {
		char *nl = memchr(l->buf + l->from, '\n', l->to - l->from);
		int rc;

		if (nl) {
			l->from = (size_t)(nl + 1 - l->buf);
			return 0;
		}
		l->from = l->to;
		if (l->eof)
			return 0;
		rc = refill_lines(l, err);
		if (rc < 0)
			return rc;
	}
}

static void give(struct rk_lines *l, size_t len, bool ended, const char **ret, size_t *ret_len)
{
	const char *p = l->buf + l->from;

	l->from += len + ended;
	l->ended = ended;
	if (!l->number++ && len >= 3 && !memcmp(p, "\xef\xbb\xbf", 3)) {
		p += 3;
		len -= 3;
	}
	if (len && p[len - 1] == '\r')
		len--;
	*ret = p;
	*ret_len = len;
}

int rk_lines_next(struct rk_lines *l, const char **ret, size_t *ret_len, struct rk_error *err)
{
	size_t seen = 0;

	for (;;) {
		size_t left = l->to - l->from;
		char *nl = memchr(l->buf + l->from + seen, '\n', left - seen);
		int rc = 0;

		if (nl) {
			give(l, (size_t)(nl - l->buf) - l->from, true, ret, ret_len);
			return 1;
		}
		if (l->eof && left <= RK_LINES_MAX) {
			if (left)
				give(l, left, false, ret, ret_len);
			return left != 0;
		}
		seen = left;
		if (left > RK_LINES_MAX) {
			rc = skip_huge(l, err);
			seen = 0;
		} else {
			rc = refill_lines(l, err);
		}
		if (rc < 0)
			return rc;
	}
}

bool rk_lines_take(const char **pos, const char *end, const char **ret, size_t *ret_len)
{
	const char *p = *pos, *nl = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
	size_t len = (size_t)((nl ? nl : end) - p);

	if (p >= end)
		return false;
	*pos = nl ? nl + 1 : end;
	if (len && p[len - 1] == '\r')
		len--;
	*ret = p;
	*ret_len = len;
	return true;
}
