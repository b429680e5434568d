/* unpack_zstd.c - RFC 8878 frames, ordinary and skippable, through libzstd. */
#include "codec/unpack.h"

#include <zstd.h>
#include <zstd_errors.h>

#include "base/alloc.h"

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

static int zstd_error(size_t r, struct rk_error *err)
{
	switch (ZSTD_getErrorCode(r)) {
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

static int zstd_step(void *state, struct rk_unpack_io *io, struct rk_error *err)
{
	struct zstd *z = state;
	ZSTD_inBuffer in = { .src = io->in, .size = io->in_len };
	ZSTD_outBuffer out = { .dst = io->out, .size = io->out_len };
	size_t r;

	if (z->between && !io->in_len)
		return io->in_last ? 0 : 1;
	r = ZSTD_decompressStream(z->d, &out, &in);
	io->in += in.pos;
	io->in_len -= in.pos;
	io->out += out.pos;
	io->out_len -= out.pos;
	if (ZSTD_isError(r))
		return zstd_error(r, err);
	z->between = r == 0;
	return 1;
}

const struct rk_unpack_ops rk_unpack_zstd = {
	.name = "zstd",
	.open = zstd_open,
	.step = zstd_step,
	.rewind = zstd_rewind,
	.close = zstd_close,
};
