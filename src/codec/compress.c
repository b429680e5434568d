/* compress.c - see compress.h. */
#include "codec/compress.h"

#include <inttypes.h>
#include <limits.h>
#include <lzma.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/alloc.h"
#include "base/cursor.h"
#include "base/num.h"

/* ---- gzip (RFC 1952) through zlib; the end of the file is handled as in gzip(1) ---- */

/*
 * A gzip file is one or more members. After a member gzip(1) looks at what follows: the magic of
 * another member starts that member; anything else (zero padding, a signature, junk) is skipped to
 * the end of the file.
 */
enum gzip_state { IN_MEMBER, AFTER_MEMBER, AFTER_1F, PAST_END };

struct gzip {
	z_stream z;
	enum gzip_state state;
};

static voidpf zlib_alloc(voidpf opaque, uInt n, uInt size)
{
	(void)opaque;
	return rk_calloc(n, size);
}

static void zlib_free(voidpf opaque, voidpf p)
{
	(void)opaque;
	rk_free(p);
}

static int inflate_open(int window_bits, void **ret, struct rk_error *err)
{
	struct gzip *g = rk_calloc(1, sizeof(*g));

	if (!g)
		return rk_fail_nomem(err);
	g->z.zalloc = zlib_alloc;
	g->z.zfree = zlib_free;
	if (inflateInit2(&g->z, window_bits) != Z_OK) {
		rk_free(g);
		return rk_fail_nomem(err);
	}
	*ret = g;
	return 0;
}

static int gzip_open(void **ret, struct rk_error *err)
{
	return inflate_open(15 + 16, ret, err);
}

static int zlib_open(void **ret, struct rk_error *err)
{
	return inflate_open(15 + 32, ret, err); /* either header */
}

static int gzip_rewind(void *state, struct rk_error *err)
{
	struct gzip *g = state;

	(void)err;
	inflateReset(&g->z);
	g->state = IN_MEMBER;
	return 0;
}

static void gzip_close(void *state)
{
	struct gzip *g = state;

	if (!g)
		return;
	inflateEnd(&g->z);
	rk_free(g);
}

static int gzip_inflate(struct gzip *g, struct rk_unpack_io *io, struct rk_error *err)
{
	const size_t most = 1u << 30; /* zlib counts in 32 bits */
	uInt in_len = (uInt)(io->in_len < most ? io->in_len : most);
	uInt out_len = (uInt)(io->out_len < most ? io->out_len : most);
	int z;

	g->z.next_in = (Bytef *)(uintptr_t)io->in; /* zlib does not write there */
	g->z.avail_in = in_len;
	g->z.next_out = io->out;
	g->z.avail_out = out_len;
	z = inflate(&g->z, Z_NO_FLUSH);
	io->in += in_len - g->z.avail_in;
	io->in_len -= in_len - g->z.avail_in;
	io->out += out_len - g->z.avail_out;
	io->out_len -= out_len - g->z.avail_out;
	if (z == Z_STREAM_END)
		g->state = AFTER_MEMBER;
	else if (z == Z_MEM_ERROR)
		return rk_fail_nomem(err);
	else if (z != Z_OK && z != Z_BUF_ERROR)
		return rk_fail(err, RK_E_FORMAT, "damaged gzip data: %s",
			       g->z.msg ? g->z.msg : "it needs a preset dictionary");
	return 1;
}

static int gzip_step(void *state, struct rk_unpack_io *io, struct rk_error *err)
{
	static const uint8_t magic[2] = { 0x1f, 0x8b };
	struct gzip *g = state;
	struct rk_unpack_io head;

	while (g->state != IN_MEMBER) {
		uint8_t b;

		if (g->state == PAST_END) {
			io->in += io->in_len;
			io->in_len = 0;
		}
		if (!io->in_len)
			return !io->in_last;
		b = *io->in++;
		io->in_len--;
		if (g->state == AFTER_1F && b == 0x8b) {
			/*
			 * the magic was consumed byte by byte: pass it to inflate before the bytes
			 * that follow
			 */
			inflateReset(&g->z);
			g->state = IN_MEMBER;
			head = *io;
			head.in = magic;
			head.in_len = sizeof(magic);
			return gzip_inflate(g, &head, err);
		}
		g->state = g->state == AFTER_MEMBER && b == 0x1f ? AFTER_1F : PAST_END;
	}
	return gzip_inflate(g, io, err);
}

const struct rk_unpack_ops rk_unpack_gzip = {
	.name = "gzip",
	.open = gzip_open,
	.step = gzip_step,
	.rewind = gzip_rewind,
	.close = gzip_close,
};

static int zlib_step(void *state, struct rk_unpack_io *io, struct rk_error *err)
{
	struct gzip *g = state;

	return g->state == IN_MEMBER ? gzip_inflate(g, io, err) : 0;
}

const struct rk_unpack_ops rk_unpack_zlib = {
	.name = "zlib",
	.open = zlib_open,
	.step = zlib_step,
	.rewind = gzip_rewind,
	.close = gzip_close,
};

/* ---- .xz streams, one after another, through liblzma ---- */

struct xz {
	lzma_stream s;
	lzma_allocator alloc;
};

static void *xz_alloc(void *opaque, size_t n, size_t size)
{
	(void)opaque;
	return rk_reallocn(NULL, n, size);
}

static void xz_free(void *opaque, void *p)
{
	(void)opaque;
	rk_free(p);
}

static int xz_rewind(void *state, struct rk_error *err)
{
	struct xz *x = state;

	if (lzma_stream_decoder(&x->s, RK_XZ_MAX_BYTES, LZMA_CONCATENATED) != LZMA_OK)
		return rk_fail_nomem(err);
	return 0;
}

static void xz_close(void *state)
{
	struct xz *x = state;

	if (!x)
		return;
	lzma_end(&x->s);
	rk_free(x);
}

static int xz_open(void **ret, struct rk_error *err)
{
	static const lzma_stream fresh = LZMA_STREAM_INIT;
	struct xz *x = rk_calloc(1, sizeof(*x));
	int rc;

	if (!x)
		return rk_fail_nomem(err);
	x->s = fresh;
	x->alloc = (lzma_allocator){ .alloc = xz_alloc, .free = xz_free };
	x->s.allocator = &x->alloc;
	rc = xz_rewind(x, err);
	if (rc < 0) {
		xz_close(x);
		return rc;
	}
	*ret = x;
	return 0;
}

static int xz_step(void *state, struct rk_unpack_io *io, struct rk_error *err)
{
	struct xz *x = state;
	lzma_ret r;

	x->s.next_in = io->in;
	x->s.avail_in = io->in_len;
	x->s.next_out = io->out;
	x->s.avail_out = io->out_len;
	r = lzma_code(&x->s, io->in_last ? LZMA_FINISH : LZMA_RUN);
	io->in = x->s.next_in;
	io->in_len = x->s.avail_in;
	io->out = x->s.next_out;
	io->out_len = x->s.avail_out;
	switch (r) {
	case LZMA_STREAM_END:
		return 0;
	case LZMA_OK:
	case LZMA_BUF_ERROR:
		return 1;
	case LZMA_MEM_ERROR:
		return rk_fail_nomem(err);
	case LZMA_MEMLIMIT_ERROR:
		return rk_fail(err, RK_E_LIMIT,
			       "its xz dictionary needs %" PRIu64 " MiB, more than %d MiB",
			       lzma_memusage(&x->s) >> 20, RK_XZ_MAX_BYTES >> 20);
	case LZMA_OPTIONS_ERROR:
		return rk_fail(err, RK_E_UNSUPPORTED, "its xz filters are not supported");
	default:
		return rk_fail(err, RK_E_FORMAT, "damaged xz data");
	}
}

const struct rk_unpack_ops rk_unpack_xz = {
	.name = "xz",
	.open = xz_open,
	.step = xz_step,
	.rewind = xz_rewind,
	.close = xz_close,
};

/* ---- RFC 8878 frames, ordinary and skippable, through libzstd ---- */

struct zstd {
	ZSTD_DStream *d;
	bool between; /* the last frame is complete: the file may end here */
};

static int zstd_rewind(void *state, struct rk_error *err)
{
	struct zstd *z = state;

	(void)err;
	ZSTD_DCtx_reset(z->d, ZSTD_reset_session_only);
	z->between = false;
	return 0;
}

static void zstd_close(void *state)
{
	struct zstd *z = state;

	if (!z)
		return;
	ZSTD_freeDStream(z->d);
	rk_free(z);
}

static int zstd_open(void **ret, struct rk_error *err)
{
	struct zstd *z = rk_calloc(1, sizeof(*z));

	if (!z)
		return rk_fail_nomem(err);
	z->d = ZSTD_createDStream();
	if (!z->d) {
		rk_free(z);
		return rk_fail_nomem(err);
	}
	ZSTD_DCtx_setParameter(z->d, ZSTD_d_windowLogMax, RK_ZSTD_WINDOW_LOG);
	*ret = z;
	return 0;
}

static int zstd_step(void *state, struct rk_unpack_io *io, struct rk_error *err)
{
	struct zstd *z = state;
	ZSTD_inBuffer in = { .src = io->in, .size = io->in_len };
	ZSTD_outBuffer out = { .dst = io->out, .size = io->out_len };
	size_t r;

	if (z->between && !io->in_len)
		return !io->in_last;
	r = ZSTD_decompressStream(z->d, &out, &in);
	io->in += in.pos;
	io->in_len -= in.pos;
	io->out += out.pos;
	io->out_len -= out.pos;
	switch (ZSTD_getErrorCode(r)) {
	case ZSTD_error_no_error:
		z->between = r == 0;
		return 1;
	case ZSTD_error_memory_allocation:
		return rk_fail_nomem(err);
	case ZSTD_error_frameParameter_windowTooLarge:
		return rk_fail(err, RK_E_LIMIT, "its zstd window is larger than %d MiB",
			       1 << (RK_ZSTD_WINDOW_LOG - 20));
	case ZSTD_error_dictionary_wrong:
		return rk_fail(err, RK_E_UNSUPPORTED, "its zstd data needs a dictionary");
	default:
		return rk_fail(err, RK_E_FORMAT, "damaged zstd data: %s", ZSTD_getErrorName(r));
	}
}

const struct rk_unpack_ops rk_unpack_zstd = {
	.name = "zstd",
	.open = zstd_open,
	.step = zstd_step,
	.rewind = zstd_rewind,
	.close = zstd_close,
};

/* ---- one frame in memory ---- */

int rk_unpack_whole(const struct rk_unpack_ops *ops, const uint8_t *in, size_t len,
		    struct rk_bytes *out, struct rk_error *err)
{
	struct rk_unpack_io io = { .in = in, .in_len = len, .in_last = true };
	size_t frame;
	void *state = NULL;
	int rc;

	if (!len)
		return rk_fail(err, RK_E_FORMAT, "its %s data is truncated", ops->name);
	if (ops == &rk_unpack_zstd) { /* its stream may have several frames */
		frame = ZSTD_findFrameCompressedSize(in, len);
		if (ZSTD_isError(frame) || frame != len)
			return rk_fail(err, RK_E_FORMAT, "it is not one zstd frame");
	}
	rc = ops->open(&state, err);
	if (rc < 0)
		return rc;
	do {
		size_t in_len = io.in_len, room = rk_min(out->max - out->len, 64 << 10);

		if (!room) {
			rc = rk_fail(err, RK_E_LIMIT, "it unpacks to %zu bytes or more", out->max);
			break;
		}
		if (!rk_bytes_reserve(out, room)) {
			rc = rk_fail_nomem(err);
			break;
		}
		io.out = out->data + out->len;
		io.out_len = room;
		rc = ops->step(state, &io, err);
		out->len += room - io.out_len;
		if (rc > 0 && io.in_len == in_len && io.out_len == room)
			rc = rk_fail(err, RK_E_FORMAT, "its %s data is truncated", ops->name);
	} while (rc > 0);
	if (rc == 0 && io.in_len)
		rc = rk_fail(err, RK_E_FORMAT, "bytes follow its %s data", ops->name);
	ops->close(state);
	return rc;
}

/* ---- Snappy's raw format (format_description.txt) ---- */

static uint32_t le(struct rk_cursor *c, size_t bytes)
{
	const uint8_t *p = rk_cursor_take(c, bytes);
	uint32_t v = 0;

	for (size_t i = 0; p && i < bytes; i++)
		v |= (uint32_t)p[i] << 8 * i;
	return v;
}

/*
 * The unpacked length as a varint, then elements. The low two bits of an element's first byte give
 * its kind: literal bytes, or a copy of the output from `offset` bytes ago, with the offset in 1, 2
 * or 4 bytes.
 */
bool rk_snappy_unpack(const uint8_t *in, size_t len, uint8_t *out, size_t out_len)
{
	struct rk_cursor c = rk_cursor_over(in, len);
	uint8_t *to = out, *end = out + out_len;
	const uint8_t *from;
	size_t offset, n;

	if (rk_cursor_varint(&c) != out_len)
		return false;
	while (!c.bad && rk_cursor_left(&c)) {
		unsigned tag = rk_cursor_u8(&c);

		n = (tag >> 2) + 1;
		switch (tag & 3) {
		case 0: /* literal lengths up to 60 are in the tag, longer ones in 1 to 4 bytes */
			if (n > 60)
				n = (size_t)le(&c, n - 60) + 1;
			from = rk_cursor_take(&c, n);
			if (!from || n > (size_t)(end - to))
				return false;
			memcpy(to, from, n);
			to += n;
			continue;
		case 1:
			n = (tag >> 2 & 7) + 4;
			offset = (tag >> 5) << 8 | le(&c, 1);
			break;
		case 2:
			offset = le(&c, 2);
			break;
		default:
			offset = le(&c, 4);
		}
		if (c.bad || !offset || offset > (size_t)(to - out) || n > (size_t)(end - to))
			return false;
		/* source and target may overlap: then copy byte by byte, so that they repeat */
		from = to - offset;
		if (offset >= n) {
			memcpy(to, from, n);
		} else {
			for (size_t i = 0; i < n; i++)
				to[i] = from[i];
		}
		to += n;
	}
	return !c.bad && to == end;
}

/* ---- DEFLATE ---- */

/* Compresses one part of the input; the output has space for it. */
static bool put(z_stream *z, const uint8_t *p, size_t len, int flush)
{
	int rc;

	z->next_in = (Bytef *)p;
	z->avail_in = (uInt)len;
	rc = deflate(z, flush);
	return rc == (flush == Z_FINISH ? Z_STREAM_END : Z_OK) && !z->avail_in;
}

int rk_deflate(struct rk_bytes *out, const void *p, size_t len, const size_t *cuts, size_t ncuts,
	       int level, struct rk_error *err)
{
	z_stream z = { .zalloc = zlib_alloc, .zfree = zlib_free };
	const uint8_t *from = len ? p : (const void *)"";
	size_t bound, at = 0;
	bool ok;

	if (len > UINT_MAX / 2)
		return rk_fail(err, RK_E_LIMIT, "cannot compress %zu bytes at once", len);
	/* -15: raw DEFLATE, without a header */
	if (deflateInit2(&z, level, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) != Z_OK)
		return rk_fail_nomem(err);
	/* deflateBound gives the maximum size; each code table adds less than 400 bytes */
	bound = deflateBound(&z, (uLong)len) + 400 * ncuts;
	ok = bound <= UINT_MAX && rk_bytes_reserve(out, bound);
	if (ok) {
		z.next_out = out->data + out->len;
		z.avail_out = (uInt)bound;
	}
	for (size_t i = 0; ok && i < ncuts; i++) {
		/* zlib treats a flush without input as an error */
		if (cuts[i] > at)
			ok = put(&z, from + at, cuts[i] - at, Z_BLOCK);
		at = cuts[i];
	}
	ok = ok && put(&z, from + at, len - at, Z_FINISH);
	if (ok)
		out->len += bound - z.avail_out;
	else
		out->bad = true;
	deflateEnd(&z);
	return ok ? 0 : rk_fail_nomem(err);
}
