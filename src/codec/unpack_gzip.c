/* unpack_gzip.c - RFC 1952 members through zlib, with the end-of-file manners of gzip(1). */
#include "codec/unpack.h"

#include <zlib.h>

#include "base/alloc.h"

/*
 * A gzip file is one or more members. Where a member ends, gzip(1) looks at what follows:
 * another member's magic goes on with that; anything else (padding of zeros, a signature, junk)
 * is passed over to the end of the file.
 */
enum gzip_state { IN_MEMBER, AFTER_MEMBER, AFTER_1F, PAST_END };

struct gzip {
	z_stream z;
	enum gzip_state state;
};

static voidpf gzip_alloc(voidpf opaque, uInt n, uInt size)
{
	(void)opaque;
	return rk_calloc(n, size);
}

static void gzip_free(voidpf opaque, voidpf p)
{
	(void)opaque;
	rk_free(p);
}

static int gzip_open(void **ret, struct rk_error *err)
{
	struct gzip *g = rk_calloc(1, sizeof(*g));

	if (!g)
		return rk_fail_nomem(err);
	g->z.zalloc = gzip_alloc;
	g->z.zfree = gzip_free;
	if (inflateInit2(&g->z, 15 + 16) != Z_OK) {
		rk_free(g);
		return rk_fail_nomem(err);
	}
	*ret = g;
	return 0;
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
			       g->z.msg ? g->z.msg : "it asks for a preset dictionary");
	return 1;
}

/* The magic was taken off byte by byte: hand it to inflate before the bytes that follow it. */
static int gzip_begin_member(struct gzip *g, struct rk_unpack_io *io, struct rk_error *err)
{
	static const uint8_t magic[2] = { 0x1f, 0x8b };
	struct rk_unpack_io head = *io;

	inflateReset(&g->z);
	g->state = IN_MEMBER;
	head.in = magic;
	head.in_len = sizeof(magic);
	return gzip_inflate(g, &head, err);
}

static int gzip_step(void *state, struct rk_unpack_io *io, struct rk_error *err)
{
	struct gzip *g = state;

	while (g->state != IN_MEMBER) {
		uint8_t b;

		if (g->state == PAST_END) {
			io->in += io->in_len;
			io->in_len = 0;
		}
		if (!io->in_len)
			return io->in_last ? 0 : 1;
		b = *io->in++;
		io->in_len--;
		if (g->state == AFTER_1F && b == 0x8b)
			return gzip_begin_member(g, io, err);
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
