/* html_lanes_pack.c - full buffers of lanes become blocks, several at a time. */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "codec/deflate.h"
#include "html/html_lanes_impl.h"

enum {
	TEXT_MAX = 4 << 20, /* of one block: eight bytes a value and base64 stay below */
	CHUNKS_MAX = 1 << 30,
	LEVEL = 6,
};

int rk_lanes_pack_init(struct rk_lanes *l, struct rk_error *err)
{
	unsigned n = rk_pool_threads(l->ctx->pool);
	int rc = 0;

	l->packers = rk_calloc(n, sizeof(struct rk_html_packer *));
	if (!l->packers)
		return rk_fail_nomem(err);
	for (; rc == 0 && l->npackers < n; l->npackers += rc == 0)
		rc = rk_html_packer_new(&l->packers[l->npackers], err);
	for (unsigned i = 0; i < RK_LANES_PENDING; i++)
		rk_bytes_init(&l->jobs[i].packed.text, TEXT_MAX);
	return rc;
}

void rk_lanes_pack_release(struct rk_lanes *l)
{
	for (unsigned i = 0; i < l->npackers; i++)
		rk_html_packer_free(l->packers[i]);
	rk_free(l->packers);
	for (unsigned i = 0; i < RK_LANES_PENDING; i++) {
		rk_free(l->jobs[i].rows);
		rk_free(l->jobs[i].packed.chunks);
		rk_bytes_release(&l->jobs[i].packed.text);
	}
	rk_free(l->sizes);
}

static void pack_one(void *arg, size_t i, unsigned worker)
{
	struct rk_lanes *l = arg;
	struct rk_lanes_job *j = &l->jobs[i];

	j->rc = rk_html_block_pack(l->packers[worker], j->rows, j->n, &j->packed, &j->err);
}

static int add_chunks(struct rk_lane *lane, const struct rk_html_packed *p, struct rk_error *err)
{
	void *grown = rk_grow(lane->chunks, &lane->cap_chunks, lane->nchunks + p->nchunks,
			      sizeof(*lane->chunks));

	if (!grown)
		return rk_fail_nomem(err);
	lane->chunks = grown;
	memcpy(lane->chunks + lane->nchunks, p->chunks, p->nchunks * sizeof(*p->chunks));
	lane->nchunks += p->nchunks;
	return 0;
}

/* The block gets its number: blocks are in the file in the order they were sent. */
static int add_block(struct rk_lanes *l, struct rk_lanes_job *j, struct rk_error *err)
{
	struct rk_lane *lane = &l->lanes[j->lane];
	void *blocks =
		rk_grow(lane->blocks, &lane->cap_blocks, lane->nblocks + 1, sizeof(*lane->blocks));
	void *sizes;

	if (!blocks)
		return rk_fail_nomem(err);
	lane->blocks = blocks;
	sizes = rk_grow(l->sizes, &l->cap_sizes, l->nblocks + 1, sizeof(*l->sizes));
	if (!sizes)
		return rk_fail_nomem(err);
	l->sizes = sizes;
	l->sizes[l->nblocks] = (uint32_t)j->packed.text.len;
	lane->blocks[lane->nblocks++] = (uint32_t)l->nblocks++;
	return add_chunks(lane, &j->packed, err);
}

static int pack_all(struct rk_lanes *l, struct rk_error *err)
{
	uint64_t at;
	int rc = 0;

	rk_pool_run(l->ctx->pool, l->njobs, pack_one, l);
	for (unsigned i = 0; rc == 0 && i < l->njobs; i++) {
		struct rk_lanes_job *j = &l->jobs[i];

		rc = j->rc < 0 ? rk_fail(err, j->rc, "%s", j->err.message) : 0;
		if (rc == 0)
			rc = rk_spill_append(l->blocks, j->packed.text.data, j->packed.text.len,
					     &at, err);
		if (rc == 0)
			rc = add_block(l, j, err);
	}
	l->njobs = 0;
	return rc;
}

static int job_ready(struct rk_lanes_job *j, struct rk_error *err)
{
	if (!j->rows)
		j->rows = rk_alloc(RK_HTML_BLOCK_ROWS * sizeof(*j->rows));
	if (!j->packed.chunks)
		j->packed.chunks = rk_alloc(RK_HTML_CHUNKS * sizeof(*j->packed.chunks));
	return j->rows && j->packed.chunks ? 0 : rk_fail_nomem(err);
}

int rk_lanes_send(struct rk_lanes *l, uint32_t lane, struct rk_error *err)
{
	struct rk_lane *from = &l->lanes[lane];
	struct rk_lanes_job *j = &l->jobs[l->njobs];
	int rc = job_ready(j, err);

	if (rc < 0)
		return rc;
	memcpy(j->rows, from->buffer, from->held * sizeof(*j->rows));
	j->n = from->held;
	j->lane = lane;
	from->held = 0;
	return ++l->njobs == RK_LANES_PENDING ? pack_all(l, err) : 0;
}

int rk_lanes_finish(struct rk_lanes *l, struct rk_error *err)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < l->n; i++) {
		if (l->lanes[i].held)
			rc = rk_lanes_send(l, i, err);
		rk_free(l->lanes[i].buffer);
		l->lanes[i].buffer = NULL;
		l->lanes[i].cap = 0;
	}
	return rc < 0 ? rc : pack_all(l, err);
}

/* ---- chunks as columns ---- */

enum column { STARTS, SPANS, ROWS, BUSY, NAMES, LAST, NCOLUMNS };

static uint64_t value_of(const struct rk_html_chunk *c, size_t i, int64_t origin, enum column which)
{
	switch (which) {
	case STARTS:
		return (uint64_t)(c[i].start - (i ? c[i - 1].start : origin));
	case SPANS:
		return (uint64_t)c[i].span;
	case ROWS:
		return c[i].rows;
	case BUSY:
		return c[i].busy;
	case NAMES:
		return c[i].name;
	default:
		return c[i].last;
	}
}

static void put_number(struct rk_bytes *out, size_t v)
{
	for (unsigned i = 0; i < 4; i++)
		rk_bytes_put_u8(out, (uint8_t)(v >> 8 * i));
}

/* u32 chunks, u32 blocks, the columns of the chunks, and the numbers of the blocks. */
static int put_lane(const struct rk_lane *lane, int64_t origin, struct rk_bytes *out,
		    struct rk_error *err)
{
	size_t most = lane->nchunks > lane->nblocks ? lane->nchunks : lane->nblocks;
	uint64_t *v = rk_calloc(most, sizeof(*v));

	if (!v)
		return rk_fail_nomem(err);
	put_number(out, lane->nchunks);
	put_number(out, lane->nblocks);
	for (unsigned c = 0; c < NCOLUMNS; c++) {
		for (size_t i = 0; i < lane->nchunks; i++)
			v[i] = value_of(lane->chunks, i, origin, (enum column)c);
		rk_html_column(out, v, lane->nchunks, NULL, NULL);
	}
	for (size_t i = 0; i < lane->nblocks; i++)
		v[i] = lane->blocks[i];
	rk_html_column(out, v, lane->nblocks, NULL, NULL);
	rk_free(v);
	return 0;
}

int rk_lanes_put_chunks(const struct rk_lanes *l, const uint32_t *order, int64_t origin,
			struct rk_bytes *out, struct rk_error *err)
{
	struct rk_bytes raw, packed;
	int rc = 0;

	rk_bytes_init(&raw, CHUNKS_MAX);
	rk_bytes_init(&packed, CHUNKS_MAX);
	for (size_t i = 0; rc == 0 && i < l->n; i++)
		rc = put_lane(&l->lanes[order[i]], origin, &raw, err);
	if (rc == 0)
		rc = raw.bad ? rk_fail_nomem(err) :
			       rk_deflate(&packed, raw.data, raw.len, NULL, 0, LEVEL, err);
	if (rc == 0)
		rk_base85_put(out, packed.data, packed.len);
	rk_bytes_release(&raw);
	rk_bytes_release(&packed);
	return rc;
}

/* ---- blocks as elements ---- */

static int write_block(const struct rk_lanes *l, size_t i, uint64_t at, struct rk_bytes *text,
		       struct rk_error *err)
{
	rk_bytes_clear(text);
	rk_bytes_printf(text, "<script type=\"application/octet-stream\" id=\"b%zu\">", i);
	if (!rk_bytes_reserve(text, l->sizes[i]))
		return rk_fail_nomem(err);
	text->len += l->sizes[i];
	rk_bytes_puts(text, "</script>\n");
	if (text->bad)
		return rk_fail_nomem(err);
	return rk_spill_read(l->blocks, at, text->data + text->len - l->sizes[i] - 10, l->sizes[i],
			     err);
}

int rk_lanes_write_blocks(const struct rk_lanes *l, struct rk_output *out, struct rk_error *err)
{
	struct rk_bytes text;
	uint64_t at = 0;
	int rc = 0;

	rk_bytes_init(&text, TEXT_MAX + 256);
	for (size_t i = 0; rc == 0 && i < l->nblocks; i++) {
		rc = write_block(l, i, at, &text, err);
		at += l->sizes[i];
		if (rc == 0)
			rc = rk_output_write(out, text.data, text.len, err);
	}
	rk_bytes_release(&text);
	return rc;
}
