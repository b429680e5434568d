/*
 * slices.c - the Perfetto writer: places slices on lanes, writes ends in order of time, one table
 * after another.
 */
#include "write/perfetto/perfetto.h"

#include "base/alloc.h"
#include "base/num.h"

enum { OPEN_MAX = 1 << 16 };

/* ---- ends ---- */

/* If two slices end at the same time, the inner one ends first. */
static bool before(const struct pf_open *a, const struct pf_open *b)
{
	if (a->end != b->end)
		return a->end < b->end;
	return a->order > b->order;
}

static bool push(struct pf_writer *w, struct pf_open o)
{
	struct pf_open *h = rk_grow(w->heap, &w->cap_heap, w->nheap + 1, sizeof(*h));
	size_t i = w->nheap;

	if (!h)
		return false;
	w->heap = h;
	for (; i && before(&o, &h[(i - 1) / 2]); i = (i - 1) / 2)
		h[i] = h[(i - 1) / 2];
	h[i] = o;
	w->nheap++;
	return true;
}

static struct pf_open pop(struct pf_writer *w)
{
	struct pf_open top = w->heap[0], last = w->heap[--w->nheap], *h = w->heap;
	size_t i = 0;

	for (size_t child; (child = 2 * i + 1) < w->nheap; i = child) {
		if (child + 1 < w->nheap && before(&h[child + 1], &h[child]))
			child++;
		if (!before(&h[child], &last))
			break;
		h[i] = h[child];
	}
	h[i] = last;
	return top;
}

/* Writes the ends of slices up to `time`. */
static void pfw_end_until(struct pf_writer *w, int64_t time)
{
	struct pf_event e;

	while (w->nheap && w->heap[0].end <= time && !w->buf.bad) {
		struct pf_open o = pop(w);

		if (!rk_pfw_open(w, &e, RK_PF_END, o.track, 0, 0, 0))
			return;
		rk_pfw_close(w, &e, o.end);
		/* A device's counters drop to zero when the last kernel that set them ends. */
		if (!o.device || w->tracks.v[o.device].owner != o.order)
			continue;
		for (unsigned field = RK_K_NFIELDS; field < w->nfields; field++) {
			int64_t track = rk_map_get(&w->counters, 1 + (uint64_t)o.device, field);

			if (track > 0)
				rk_pfw_count(w, (uint32_t)track, o.end, 0);
		}
	}
}

/* ---- places ---- */

int rk_pfw_place(struct pf_writer *w, int64_t start, int64_t duration, bool nest,
		 struct pf_slice_at *s, struct rk_error *err)
{
	uint32_t lane = RK_TRACK_FULL;
	int64_t end;

	if (!s->track)
		return rk_fail_nomem(err);
	if (start == RK_NONE) {
		w->no_time++;
		return 0;
	}
	if (duration == RK_NONE)
		duration = 0;
	if (start < 0 || !rk_add_i64(start, duration, &s->end)) {
		w->out_of_range++;
		return 0;
	}
	s->start = start;
	s->odd = duration < 0;
	if (w->ticking && start < w->clock)
		return rk_fail(err, RK_E_FORMAT, "rows are not in order of their times");
	if (rk_pfw_sequence(w, start, err) < 0)
		return RK_E_NOMEM;
	pfw_end_until(w, start);

	/* Use a lane or, if none is left, an instant with its times as annotations. */
	if (!s->instant) {
		end = s->odd ? start : s->end;
		if (w->nheap < OPEN_MAX)
			lane = rk_tracks_lane(&w->tracks, s->track, start, end, nest);
		w->order++;
		if (lane == RK_TRACK_FULL) {
			w->crowded++;
			s->instant = s->odd = true;
		} else if (!lane || !push(w, (struct pf_open){ end, w->order, lane, s->device })) {
			return rk_fail_nomem(err);
		} else {
			s->track = lane;
		}
	}
	return rk_pfw_describe(w, s->track) ? 1 : rk_fail_nomem(err);
}

/* ---- the writer ---- */

enum { FLUSH_BYTES = 256 << 10, BUFFER_MAX = 128 << 20, TEXT_MAX = 64 << 20 };

int rk_pfw_flush(struct pf_writer *w, bool all, struct rk_error *err)
{
	int rc;

	if (w->buf.bad || w->text.bad)
		return rk_fail_nomem(err);
	if (w->buf.len < (all ? 1 : FLUSH_BYTES))
		return 0;
	rc = rk_output_write(w->out, w->buf.data, w->buf.len, err);
	rk_bytes_clear(&w->buf);
	return rc;
}

/* Ends all open slices; the next table begins a new sequence. */
static int end_table(struct pf_writer *w, struct rk_error *err)
{
	while (w->nheap && !w->buf.bad) {
		pfw_end_until(w, w->heap[0].end);
		if (rk_pfw_flush(w, false, err) < 0)
			return err ? err->code : RK_E_IO;
	}
	rk_tracks_settle(&w->tracks);
	w->ticking = false;
	return rk_pfw_flush(w, false, err);
}

static void perfetto_scope(struct rk_writer *base, const struct rk_trace_scope *scope)
{
	((struct pf_writer *)base)->tracks.scope = *scope;
}

static int perfetto_batch(struct rk_writer *base, const struct rk_batch *b, struct rk_error *err)
{
	struct pf_writer *w = (struct pf_writer *)base;
	enum rk_table t = b->schema->table;
	int rc = 0;

	if (t != w->table)
		rc = end_table(w, err);
	w->table = t;
	if (rc < 0)
		return rc;
	if (t == RK_AGENTS)
		rc = rk_pfw_agents(w, b, err);
	else if (t == RK_PROCESSES)
		rc = rk_pfw_processes(w, b, err);
	else
		rc = rk_pfw_rows(w, b, err);
	if (rc < 0)
		return rc;
	return rk_pfw_flush(w, false, err);
}

/* A file without packets is not a trace, so an empty run gets the head of a sequence. */
static int perfetto_finish(struct rk_writer *base, struct rk_error *err)
{
	struct pf_writer *w = (struct pf_writer *)base;
	struct rk_diag *d = w->ctx->diag;
	int rc;

	if (d && w->no_time)
		rk_diag_add(d, "no-time", "", 0, w->no_time,
			    "a row has no time; it is not in the trace");
	if (d && w->out_of_range)
		rk_diag_add(d, "time-out-of-range", "", 0, w->out_of_range,
			    "a time before 0 or past 2^63 ns; the row is not in the trace");
	if (d && w->tracks.shared)
		rk_diag_add(d, "track-limit", "", 0, w->tracks.shared,
			    "more than %d tracks; rows of further ones share a track",
			    RK_TRACKS_MAX);
	if (d && w->crowded)
		rk_diag_add(d, "lane-limit", "", 0, w->crowded,
			    "a slice overlaps %d others of its track; it is shown as an instant",
			    RK_LANES_MAX);
	if (d && w->allocs_full)
		rk_diag_add(d, "allocation-limit", "", 0, 1,
			    "too many allocations at a time; the curve of memory ends early");
	rc = end_table(w, err);
	if (rc < 0)
		return rc;
	if (!w->sequence && (rc = rk_pfw_sequence(w, 0, err)) < 0)
		return rc;
	return rk_pfw_flush(w, true, err);
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
 * The start of the first sequence as written by rk_pfw_sequence: sequence number, flags, first
 * packet, and our own clock as the default.
 */
static const char mark[] = "\x50\x01\x68\x01\xb8\x05\x01\xda\x03\x03\xd0\x03\x40";

const struct rk_writer_ops rk_writer_perfetto = {
	.name = "perfetto",
	.help = "Perfetto trace, all tables that have times",
	.suffix = ".pftrace",
	.trace = true,
	.open = perfetto_open,
	.scope = perfetto_scope,
	.batch = perfetto_batch,
	.finish = perfetto_finish,
	.close = perfetto_close,
	.mark = mark,
	.mark_len = sizeof(mark) - 1,
};
