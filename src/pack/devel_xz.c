/*
 * devel_xz.c - a content packed by xz, in blocks of a fixed size.
 *
 * Always by the encoder for several threads: its blocks are the same whether one or many of them work.
 * A dictionary of 2 MiB instead of preset 6's 8, and small blocks, keep a thread below 48 MB, so that two
 * of them fit into the memory a packer may take.
 */
#include <inttypes.h>
#include <lzma.h>

#include "base/alloc.h"
#include "pack/meta_parts.h"

enum {
	DICT_BYTES = 2 << 20,
	BLOCK_BYTES = 8 << 20,
	MEMORY_BYTES = 100 << 20, /* as liblzma counts, which is more than is used */
	CHUNK_BYTES = 256 << 10,
};

struct packer {
	lzma_stream s;
	lzma_allocator alloc;
	uint8_t *in, *out; /* CHUNK_BYTES each */
	struct rk_spill *spill;
	struct rk_error *err;
};

static void *take(void *opaque, size_t n, size_t size)
{
	(void)opaque;
	return rk_reallocn(NULL, n, size);
}

static void give(void *opaque, void *p)
{
	(void)opaque;
	rk_free(p);
}

static int fail(struct packer *x, lzma_ret r)
{
	if (r == LZMA_MEM_ERROR)
		return rk_fail_nomem(x->err);
	return rk_fail(x->err, RK_E_UNSUPPORTED, "xz cannot pack the devel archive (liblzma: %d)",
		       (int)r);
}

static int begin(struct packer *x, unsigned threads)
{
	lzma_options_lzma lzma;
	lzma_filter filters[] = { { LZMA_FILTER_LZMA2, &lzma }, { LZMA_VLI_UNKNOWN, NULL } };
	lzma_mt mt = { .block_size = BLOCK_BYTES, .filters = filters, .check = LZMA_CHECK_CRC64 };
	lzma_ret r;

	if (lzma_lzma_preset(&lzma, 6))
		return fail(x, LZMA_OPTIONS_ERROR);
	lzma.dict_size = DICT_BYTES;
	mt.threads = threads < 1 ? 1 : threads;
	while (mt.threads > 1 && lzma_stream_encoder_mt_memusage(&mt) > MEMORY_BYTES)
		mt.threads--;
	r = lzma_stream_encoder_mt(&x->s, &mt);
	return r == LZMA_OK ? 0 : fail(x, r);
}

/* What is packed so far goes to the spill. */
static int drain(struct packer *x)
{
	uint64_t at;
	int rc = rk_spill_append(x->spill, x->out, CHUNK_BYTES - x->s.avail_out, &at, x->err);

	x->s.next_out = x->out;
	x->s.avail_out = CHUNK_BYTES;
	return rc;
}

/* Gives the encoder what is in x->in; at the end, until all is out. */
static int feed(struct packer *x, lzma_action action)
{
	int rc = 0;

	while (rc == 0) {
		lzma_ret r = lzma_code(&x->s, action);

		if (r != LZMA_OK && r != LZMA_STREAM_END)
			return fail(x, r);
		if (!x->s.avail_out || r == LZMA_STREAM_END)
			rc = drain(x);
		if (r == LZMA_STREAM_END || (action == LZMA_RUN && !x->s.avail_in))
			break;
	}
	return rc;
}

static int pack(struct packer *x, const struct rk_content *from)
{
	uint64_t at = 0;
	int rc = 0;

	x->s.next_out = x->out;
	x->s.avail_out = CHUNK_BYTES;
	while (rc == 0 && at < from->size) {
		size_t n = from->size - at < CHUNK_BYTES ? (size_t)(from->size - at) : CHUNK_BYTES;

		rc = rk_content_read(from, at, x->in, n, x->err);
		x->s.next_in = x->in;
		x->s.avail_in = n;
		if (rc == 0)
			rc = feed(x, LZMA_RUN);
		at += n;
	}
	return rc < 0 ? rc : feed(x, LZMA_FINISH);
}

/* The spill as a content. */
static int refer(struct rk_arena *a, struct rk_spill *spill, const struct rk_content **ret,
		 struct rk_error *err)
{
	struct rk_origin *o = rk_arena_alloc(a, sizeof(*o));
	struct rk_content *c;
	int rc = o ? rk_content_new(a, &c, err) : rk_fail_nomem(err);

	if (rc < 0)
		return rc;
	*o = (struct rk_origin){ .spill = spill,
				 .size = rk_spill_size(spill),
				 .name = "_devel.tar.xz" };
	rc = rk_content_origin(a, c, o, NULL, err);
	if (rc == 0)
		*ret = c;
	return rc;
}

int rk_content_xz(struct rk_arena *a, const struct rk_content *from, unsigned threads,
		  const char *tmpdir, const struct rk_content **ret, struct rk_spill **ret_spill,
		  struct rk_error *err)
{
	static const lzma_stream fresh = LZMA_STREAM_INIT;
	struct packer x = { .s = fresh, .alloc = { .alloc = take, .free = give }, .err = err };
	int rc = rk_spill_new(tmpdir, &x.spill, err);

	x.s.allocator = &x.alloc;
	x.in = rk_alloc(CHUNK_BYTES);
	x.out = rk_alloc(CHUNK_BYTES);
	if (rc == 0 && (!x.in || !x.out))
		rc = rk_fail_nomem(err);
	if (rc == 0)
		rc = begin(&x, threads);
	if (rc == 0)
		rc = pack(&x, from);
	lzma_end(&x.s);
	rk_free(x.in);
	rk_free(x.out);
	if (rc == 0)
		rc = refer(a, x.spill, ret, err);
	if (rc < 0)
		rk_spill_free(x.spill);
	else
		*ret_spill = x.spill;
	return rc;
}
