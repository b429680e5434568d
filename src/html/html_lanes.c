/* html_lanes.c - see html_lanes.h. */
#include "html/html_lanes.h"

#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/text.h"
#include "codec/compress.h"
#include "io/file.h"

enum {
	LANES_MAX = RK_LANES_KERNELS + 2 * RK_LANES_OTHER + RK_NLANE_KINDS,
	PENDING = 16, /* blocks packed at once, by all threads */
};

/* A block to be packed and written. */
struct job {
	struct rk_html_row *rows;
	size_t n;
	uint32_t lane;
	struct rk_html_packed packed;
	struct rk_error err;
	int rc;
};

struct rk_lanes {
	struct rk_context *ctx;
	size_t nnames;
	struct rk_era era;
	/* node, rank, device; the result with pid, queue; that with stream */
	struct rk_keys places, processes, keys[RK_NLANE_KINDS];
	uint32_t index[RK_NLANE_KINDS][RK_LANES_KERNELS + 1]; /* lane + 1 by key */
	struct rk_lane lanes[LANES_MAX];
	size_t n;
	struct rk_lane_longest *longest;
	uint64_t folded, left_out;
	/* packing: */
	struct rk_spill *blocks; /* all texts */
	uint32_t *sizes;         /* of each */
	size_t nblocks, cap_sizes;
	struct rk_html_packer **packers; /* per thread */
	unsigned npackers;
	struct job jobs[PENDING];
	unsigned njobs;
};

/* ---- full buffers of lanes become blocks, several at a time ---- */

enum {
	TEXT_MAX = 4 << 20, /* of one block: enough for eight bytes a value, encoded */
	CHUNKS_MAX = 1 << 30,
	LEVEL = 6,
};

static void pack_one(void *arg, size_t i, unsigned worker)
{
	struct rk_lanes *l = arg;
	struct job *j = &l->jobs[i];

	j->rc = rk_html_block_pack(l->packers[worker], j->rows, j->n, &j->packed, &j->err);
}

/* Packs the pending blocks and numbers them; they are in the file in this order. */
static int pack_all(struct rk_lanes *l, struct rk_error *err)
{
	unsigned n = l->njobs;

	l->njobs = 0;
	rk_pool_run(l->ctx->pool, n, pack_one, l);
	for (struct job *j = l->jobs; j < l->jobs + n; j++) {
		struct rk_lane *lane = &l->lanes[j->lane];
		const struct rk_html_packed *p = &j->packed;
		uint64_t at;
		void *grown;
		int rc;

		if (j->rc < 0)
			return rk_fail(err, j->rc, "%s", j->err.message);
		rc = rk_spill_append(l->blocks, p->text.data, p->text.len, &at, err);
		if (rc < 0)
			return rc;

		grown = rk_grow(lane->blocks, &lane->cap_blocks, lane->nblocks + 1,
				sizeof(*lane->blocks));
		if (!grown)
			return rk_fail_nomem(err);
		lane->blocks = grown;
		grown = rk_grow(l->sizes, &l->cap_sizes, l->nblocks + 1, sizeof(*l->sizes));
		if (!grown)
			return rk_fail_nomem(err);
		l->sizes = grown;
		l->sizes[l->nblocks] = (uint32_t)p->text.len;
		lane->blocks[lane->nblocks++] = (uint32_t)l->nblocks++;

		grown = rk_grow(lane->chunks, &lane->cap_chunks, lane->nchunks + p->nchunks,
				sizeof(*lane->chunks));
		if (!grown)
			return rk_fail_nomem(err);
		lane->chunks = grown;
		memcpy(lane->chunks + lane->nchunks, p->chunks, p->nchunks * sizeof(*p->chunks));
		lane->nchunks += p->nchunks;
	}
	return 0;
}

/* Queues the buffered rows of a lane for packing. */
static int send(struct rk_lanes *l, uint32_t lane, struct rk_error *err)
{
	struct rk_lane *from = &l->lanes[lane];
	struct job *j = &l->jobs[l->njobs];

	if (!j->rows)
		j->rows = rk_alloc(RK_HTML_BLOCK_ROWS * sizeof(*j->rows));
	if (!j->packed.chunks)
		j->packed.chunks = rk_alloc(RK_HTML_CHUNKS * sizeof(*j->packed.chunks));
	if (!j->rows || !j->packed.chunks)
		return rk_fail_nomem(err);
	memcpy(j->rows, from->buffer, from->held * sizeof(*j->rows));
	j->n = from->held;
	j->lane = lane;
	from->held = 0;
	return ++l->njobs == PENDING ? pack_all(l, err) : 0;
}

int rk_lanes_finish(struct rk_lanes *l, struct rk_error *err)
{
	for (uint32_t i = 0; i < l->n; i++) {
		int rc = l->lanes[i].held ? send(l, i, err) : 0;

		if (rc < 0)
			return rc;
		rk_free(l->lanes[i].buffer);
		l->lanes[i].buffer = NULL;
		l->lanes[i].cap = 0;
	}
	return pack_all(l, err);
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

/* u32 chunks, u32 blocks, the columns of the chunks, and the numbers of the blocks. */
static int put_lane(const struct rk_lane *lane, int64_t origin, struct rk_bytes *out,
		    struct rk_error *err)
{
	uint64_t *v = rk_calloc(rk_max(lane->nchunks, lane->nblocks), sizeof(*v));

	if (!v)
		return rk_fail_nomem(err);
	rk_html_number(out, lane->nchunks, 4);
	rk_html_number(out, lane->nblocks, 4);
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
	for (size_t i = 0; i < l->n; i++) {
		rc = put_lane(&l->lanes[order[i]], origin, &raw, err);
		if (rc < 0)
			goto out;
	}
	if (raw.bad) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	rc = rk_deflate(&packed, raw.data, raw.len, NULL, 0, LEVEL, err);
	if (rc == 0)
		rk_base85_put(out, packed.data, packed.len);
out:
	rk_bytes_release(&raw);
	rk_bytes_release(&packed);
	return rc;
}

/* ---- blocks as elements ---- */

int rk_lanes_write_blocks(const struct rk_lanes *l, struct rk_output *out, struct rk_error *err)
{
	struct rk_bytes text;
	uint64_t at = 0;
	int rc = 0;

	rk_bytes_init(&text, TEXT_MAX + 256);
	for (size_t i = 0; i < l->nblocks; i++) {
		uint32_t size = l->sizes[i];
		size_t head;

		rk_bytes_clear(&text);
		rk_bytes_printf(&text, "<script type=\"application/octet-stream\" id=\"b%zu\">", i);
		head = text.len;
		if (rk_bytes_reserve(&text, size))
			text.len += size;
		rk_bytes_puts(&text, "</script>\n");
		if (text.bad) {
			rc = rk_fail_nomem(err);
			break;
		}
		rc = rk_spill_read(l->blocks, at, text.data + head, size, err);
		if (rc < 0)
			break;
		at += size;
		rc = rk_output_write(out, text.data, text.len, err);
		if (rc < 0)
			break;
	}
	rk_bytes_release(&text);
	return rc;
}

/* ---- lanes ---- */

enum { PLACES_MAX = 1 << 16 };

int rk_lanes_new(struct rk_context *ctx, size_t nnames, struct rk_lanes **ret, struct rk_error *err)
{
	unsigned npackers = rk_pool_threads(ctx->pool);
	struct rk_lanes *l = rk_calloc(1, sizeof(*l));
	int rc;

	if (!l)
		return rk_fail_nomem(err);
	for (unsigned i = 0; i < PENDING; i++)
		rk_bytes_init(&l->jobs[i].packed.text, TEXT_MAX);
	rc = rk_spill_new(ctx->tmpdir, &l->blocks, err);
	if (rc < 0)
		goto fail;
	l->ctx = ctx;
	l->nnames = nnames;
	l->places.max = PLACES_MAX;
	l->processes.max = PLACES_MAX;
	for (unsigned k = 0; k < RK_NLANE_KINDS; k++)
		l->keys[k].max = k == RK_LANE_KERNELS ? RK_LANES_KERNELS : RK_LANES_OTHER;
	l->longest = rk_alloc((nnames + 1) * sizeof(*l->longest));
	l->packers = rk_calloc(npackers, sizeof(struct rk_html_packer *));
	if (!l->longest || !l->packers) {
		rc = rk_fail_nomem(err);
		goto fail;
	}
	for (size_t i = 0; i <= nnames; i++)
		l->longest[i] = (struct rk_lane_longest){ .duration = -1 };
	for (; l->npackers < npackers; l->npackers++) {
		rc = rk_html_packer_new(&l->packers[l->npackers], err);
		if (rc < 0)
			goto fail;
	}
	*ret = l;
	return 0;
fail:
	rk_lanes_free(l);
	return rc;
}

void rk_lanes_free(struct rk_lanes *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->n; i++) {
		rk_free(l->lanes[i].buffer);
		rk_free(l->lanes[i].chunks);
		rk_free(l->lanes[i].blocks);
	}
	for (unsigned i = 0; i < l->npackers; i++)
		rk_html_packer_free(l->packers[i]);
	rk_free(l->packers);
	for (unsigned i = 0; i < PENDING; i++) {
		rk_free(l->jobs[i].rows);
		rk_free(l->jobs[i].packed.chunks);
		rk_bytes_release(&l->jobs[i].packed.text);
	}
	rk_free(l->sizes);
	for (unsigned k = 0; k < RK_NLANE_KINDS; k++)
		rk_keys_release(&l->keys[k]);
	rk_keys_release(&l->places);
	rk_keys_release(&l->processes);
	rk_spill_free(l->blocks);
	rk_free(l->longest);
	rk_free(l);
}

/* ---- which lane ---- */

/* A lane is identified by seven numbers; they are mapped to one, three at a time. */
static int lane_of(struct rk_lanes *l, enum rk_html_kind kind, const struct rk_lane_key *key,
		   uint32_t *ret, struct rk_error *err)
{
	uint32_t place, process, i;
	struct rk_lane *lane;
	int rc = rk_keys_number(&l->places, (struct rk_key3){ key->node, key->rank, key->device },
				&place, err);

	if (rc < 0)
		return rc;
	rc = rk_keys_number(&l->processes, (struct rk_key3){ place, key->pid, key->queue },
			    &process, err);
	if (rc < 0)
		return rc;
	rc = rk_keys_number(&l->keys[kind], (struct rk_key3){ process, key->stream, 0 }, &i, err);
	if (rc < 0)
		return rc;
	if (!l->index[kind][i]) {
		lane = &l->lanes[l->n++];
		/* the last lane of each kind is shared */
		*lane = (struct rk_lane){ .kind = kind, .folded = i == l->keys[kind].max };
		if (!lane->folded)
			lane->key = *key;
		for (unsigned d = 0; d < RK_LANE_DEPTH; d++)
			lane->ends[d] = INT64_MIN;
		l->index[kind][i] = (uint32_t)l->n;
	}
	*ret = l->index[kind][i] - 1;
	return 0;
}

/* ---- rows ---- */

int rk_lanes_add(struct rk_lanes *l, enum rk_html_kind kind, const struct rk_lane_key *key,
		 int64_t start, int64_t duration, uint32_t name, struct rk_error *err)
{
	struct rk_html_row row = { start, duration, name < l->nnames ? name : (uint32_t)l->nnames,
				   0 };
	struct rk_lane_longest *longest = &l->longest[row.name];
	const struct rk_html_row *before;
	struct rk_lane *at;
	int64_t end;
	void *grown;
	uint32_t lane;
	int rc;

	if (duration < 0 || duration > RK_HTML_TIME_MAX || !rk_add_i64(start, duration, &end) ||
	    !rk_era_holds(&l->era, RK_ERA_MOST, start, end)) {
		l->left_out++;
		return 0;
	}
	rc = lane_of(l, kind, key, &lane, err);
	if (rc < 0)
		return rc;
	at = &l->lanes[lane];

	/* The first free depth from the top. */
	while (row.depth + 1 < RK_LANE_DEPTH && at->ends[row.depth] > start)
		row.depth++;
	if (end > at->ends[row.depth])
		at->ends[row.depth] = end;
	if (row.depth >= at->depth)
		at->depth = row.depth + 1;

	if (!at->rows || start < at->first)
		at->first = start;
	if (!at->rows || end > at->last)
		at->last = end;
	if (duration > longest->duration)
		*longest = (struct rk_lane_longest){ start, duration, lane };
	at->rows++;
	l->folded += at->folded;

	before = at->held ? &at->buffer[at->held - 1] : NULL;
	if (before && (at->held == RK_HTML_BLOCK_ROWS ||
		       start - (before->start + before->duration) > RK_HTML_TIME_MAX))
		rc = send(l, lane, err);
	if (rc < 0)
		return rc;
	grown = rk_grow(at->buffer, &at->cap, at->held + 1, sizeof(row));
	if (!grown)
		return rk_fail_nomem(err);
	at->buffer = grown;
	at->buffer[at->held++] = row;
	return 0;
}

/* ---- the result ---- */

struct rk_lanes_result rk_lanes_result(const struct rk_lanes *l)
{
	return (struct rk_lanes_result){ l->lanes, l->n, l->nblocks, l->folded, l->left_out };
}

bool rk_lanes_span(const struct rk_lanes *l, int64_t *ret_start, int64_t *ret_end)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct rk_lane *lane = &l->lanes[i];

		if (!i || lane->first < *ret_start)
			*ret_start = lane->first;
		if (!i || lane->last > *ret_end)
			*ret_end = lane->last;
	}
	return l->n > 0;
}

const struct rk_lane_longest *rk_lanes_longest(const struct rk_lanes *l, uint32_t name)
{
	return &l->longest[name < l->nnames ? name : l->nnames];
}
