/* perfetto_writer.c - the writer: one table after another, and what is told at the end. */
#include "write/perfetto/perfetto_writer.h"

#include "base/alloc.h"

enum { FLUSH_BYTES = 256 << 10, BUFFER_MAX = 128 << 20, TEXT_MAX = 64 << 20 };

int rk_pfw_flush(struct pf_writer *w, bool all, struct rk_error *err)
{
	int rc = 0;

	if (w->buf.bad || w->text.bad)
		return rk_fail_nomem(err);
	if (w->buf.len < (all ? 1 : FLUSH_BYTES))
		return 0;
	rc = rk_output_write(w->out, w->buf.data, w->buf.len, err);
	rk_bytes_clear(&w->buf);
	return rc;
}

/* Ends what is open; the next table is a sequence of its own. */
static int end_table(struct pf_writer *w, struct rk_error *err)
{
	while (w->nheap && !w->buf.bad) {
		rk_pfw_end_until(w, w->heap[0].end);
		if (rk_pfw_flush(w, false, err) < 0)
			return err ? err->code : RK_E_IO;
	}
	rk_tracks_settle(&w->tracks);
	w->ticking = false;
	return rk_pfw_flush(w, false, err);
}

static int perfetto_batch(struct rk_writer *base, const struct rk_batch *b, struct rk_error *err)
{
	static int (*const rows[RK_NTABLES])(struct pf_writer *, const struct rk_batch *,
					     struct rk_error *) = {
		[RK_AGENTS] = rk_pfw_agents,   [RK_PROCESSES] = rk_pfw_processes,
		[RK_KERNELS] = rk_pfw_kernels, [RK_MEMCPY] = rk_pfw_copies,
		[RK_MEMALLOC] = rk_pfw_memory, [RK_API] = rk_pfw_calls,
		[RK_MARKERS] = rk_pfw_markers, [RK_SAMPLES] = rk_pfw_samples,
	};
	struct pf_writer *w = (struct pf_writer *)base;
	enum rk_table t = b->schema->table;
	int rc = 0;

	w->tracks.others = base->pids;
	w->tracks.member = base->member;
	if (t != w->table)
		rc = end_table(w, err);
	w->table = t;
	if (rc < 0 || !rows[t])
		return rc;
	rc = rows[t](w, b, err);
	return rc < 0 ? rc : rk_pfw_flush(w, false, err);
}

static void tell(struct pf_writer *w)
{
	struct rk_diag *d = w->ctx->diag;

	if (!d)
		return;
	if (w->no_time)
		rk_diag_add(d, "no-time", "", 0, w->no_time,
			    "a row has no time; it is not in the trace");
	if (w->out_of_range)
		rk_diag_add(d, "time-out-of-range", "", 0, w->out_of_range,
			    "a time before 0 or past 2^63 ns; the row is not in the trace");
	if (w->tracks.shared)
		rk_diag_add(d, "track-limit", "", 0, w->tracks.shared,
			    "more than %d tracks; rows of further ones share a track",
			    RK_TRACKS_MAX);
	if (w->crowded)
		rk_diag_add(d, "lane-limit", "", 0, w->crowded,
			    "a slice overlaps %d others of its track; it is shown as an instant",
			    RK_LANES_MAX);
	if (w->allocs_full)
		rk_diag_add(d, "allocation-limit", "", 0, 1,
			    "too many allocations at a time; the curve of memory ends early");
}

/* A file without packets is no trace: an empty run has the head of a sequence. */
static int perfetto_finish(struct rk_writer *base, struct rk_error *err)
{
	struct pf_writer *w = (struct pf_writer *)base;
	int rc = end_table(w, err);

	if (rc == 0 && !w->sequence)
		rc = rk_pfw_sequence(w, 0, err);
	tell(w);
	return rc < 0 ? rc : rk_pfw_flush(w, true, err);
}

static void perfetto_close(struct rk_writer *base)
{
	struct pf_writer *w = (struct pf_writer *)base;
	struct rk_map *maps[] = { &w->values,   &w->counters, &w->page_at,
				  &w->alloc_at, &w->agents,   &w->commands };

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		rk_map_release(maps[i]);
	rk_tracks_release(&w->tracks);
	rk_bytes_release(&w->buf);
	rk_bytes_release(&w->text);
	rk_free(w->names.v);
	rk_free(w->domains.v);
	rk_free(w->heap);
	rk_free(w->rows);
	rk_free(w->pages);
	rk_free(w->alloc_bytes);
	rk_free(w);
}

static int perfetto_open(struct rk_output *out, const struct rk_schema *schema,
			 struct rk_context *ctx, struct rk_writer **ret, struct rk_error *err)
{
	struct pf_writer *w = rk_calloc(1, sizeof(*w));
	int rc;

	(void)schema;
	if (!w)
		return rk_fail_nomem(err);
	w->base.ops = &rk_writer_perfetto;
	w->out = out;
	w->ctx = ctx;
	w->table = RK_NTABLES;
	rk_bytes_init(&w->buf, BUFFER_MAX);
	rk_bytes_init(&w->text, TEXT_MAX);
	rc = rk_tracks_init(&w->tracks, ctx->names, err);
	if (rc == 0 && !rk_bytes_reserve(&w->buf, FLUSH_BYTES + FLUSH_BYTES / 8))
		rc = rk_fail_nomem(err);
	if (rc < 0) {
		perfetto_close(&w->base);
		return rc;
	}
	*ret = &w->base;
	return 0;
}

/*
 * The first sequence as rk_pfw_sequence begins it: its number, flags, first packet, and the clock
 * of our own as the default.
 */
static const char mark[] = "\x50\x01\x68\x01\xb8\x05\x01\xda\x03\x03\xd0\x03\x40";

const struct rk_writer_ops rk_writer_perfetto = {
	.name = "perfetto",
	.help = "Perfetto trace, all tables that have times",
	.suffix = ".pftrace",
	.trace = true,
	.open = perfetto_open,
	.batch = perfetto_batch,
	.finish = perfetto_finish,
	.close = perfetto_close,
	.mark = mark,
	.mark_len = sizeof(mark) - 1,
};
