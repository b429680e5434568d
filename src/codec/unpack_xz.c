/* unpack_xz.c - .xz streams, one after another, through liblzma. */
#include "codec/unpack.h"

#include <inttypes.h>
#include <lzma.h>

#include "base/alloc.h"

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

static int xz_error(struct xz *x, lzma_ret r, struct rk_error *err)
{
	switch (r) {
	case LZMA_MEM_ERROR:
		return rk_fail_nomem(err);
	case LZMA_MEMLIMIT_ERROR:
		return rk_fail(err, RK_E_LIMIT,
			       "its xz dictionary asks for %" PRIu64 " MiB, more than %d MiB",
			       lzma_memusage(&x->s) >> 20, RK_XZ_MAX_BYTES >> 20);
	case LZMA_OPTIONS_ERROR:
		return rk_fail(err, RK_E_UNSUPPORTED, "its xz filters are not known here");
	default:
		return rk_fail(err, RK_E_FORMAT, "damaged xz data");
	}
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
	if (r == LZMA_STREAM_END)
		return 0;
	return r == LZMA_OK || r == LZMA_BUF_ERROR ? 1 : xz_error(x, r, err);
}

const struct rk_unpack_ops rk_unpack_xz = {
	.name = "xz",
	.open = xz_open,
	.step = xz_step,
	.rewind = xz_rewind,
	.close = xz_close,
};
