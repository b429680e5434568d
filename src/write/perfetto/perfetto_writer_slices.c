/* perfetto_writer_slices.c - where a slice goes, ends in their order, and who caused what. */
#include "base/alloc.h"
#include "base/num.h"
#include "write/perfetto/perfetto_writer.h"

enum {
	OPEN_MAX = 1 << 16,
	PAGE_BITS = 12, /* ids on a page of struct pf_writer */
	PAGES_MAX = 1 << 14,
};

/* ---- ends ---- */

/* Of ends at one time the inner slice's comes first. */
static bool before(const struct pf_open *a, const struct pf_open *b)
{
	return a->end != b->end ? a->end < b->end : a->order > b->order;
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

/* A device's counters fall to zero with the last kernel that set them. */
static void end_counters(struct pf_writer *w, const struct pf_open *o)
{
	if (!o->device || w->tracks.v[o->device].owner != o->order)
		return;
	for (unsigned field = RK_K_NFIELDS; field < w->nfields; field++) {
		int64_t track = rk_map_get(&w->counters, 1 + (uint64_t)o->device, field);

		if (track > 0)
			rk_pfw_count(w, (uint32_t)track, o->end, 0);
	}
}

void rk_pfw_end_until(struct pf_writer *w, int64_t time)
{
	struct pf_event e;

	while (w->nheap && w->heap[0].end <= time && !w->buf.bad) {
		struct pf_open o = pop(w);

		if (!rk_pfw_open(w, &e, PF_EVENT_END, o.track, 0, 0, 0))
			return;
		rk_pfw_close(w, &e, o.end);
		end_counters(w, &o);
	}
}

/* ---- places ---- */

/* The times as they can be shown; false: they cannot. */
static bool take_times(struct pf_writer *w, int64_t start, int64_t duration, struct pf_slice_at *s)
{
	if (start == RK_NONE) {
		w->no_time++;
		return false;
	}
	duration = duration == RK_NONE ? 0 : duration;
	if (start < 0 || !rk_add_i64(start, duration, &s->end)) {
		w->out_of_range++;
		return false;
	}
	s->start = start;
	s->odd = duration < 0;
	return true;
}

/* A lane, or, where none is left, an instant with its times written out. */
static bool take_lane(struct pf_writer *w, bool nest, struct pf_slice_at *s)
{
	int64_t end = s->odd ? s->start : s->end;
	uint32_t lane = w->nheap < OPEN_MAX ?
				rk_tracks_lane(&w->tracks, s->track, s->start, end, nest) :
				RK_TRACK_FULL;

	w->order++;
	if (lane == RK_TRACK_FULL) {
		w->crowded++;
		s->instant = s->odd = true;
		return true;
	}
	if (!lane || !push(w, (struct pf_open){ end, w->order, lane, s->device }))
		return false;
	s->track = lane;
	return true;
}

int rk_pfw_place(struct pf_writer *w, int64_t start, int64_t duration, bool nest,
		 struct pf_slice_at *s, struct rk_error *err)
{
	if (!s->track)
		return rk_fail_nomem(err);
	if (!take_times(w, start, duration, s))
		return 0;
	if (w->ticking && start < w->clock)
		return rk_fail(err, RK_E_FORMAT, "rows are not in order of their times");
	if (rk_pfw_sequence(w, start, err) < 0)
		return RK_E_NOMEM;
	rk_pfw_end_until(w, start);
	if ((!s->instant && !take_lane(w, nest, s)) || !rk_pfw_describe(w, s->track))
		return rk_fail_nomem(err);
	return 1;
}

/* ---- correlation ids ---- */

void rk_pfw_ran(struct pf_writer *w, uint32_t process, int64_t correlation)
{
	uint64_t at = (uint64_t)correlation >> PAGE_BITS;
	int64_t page = rk_map_get(&w->page_at, process, at);
	unsigned bit = (unsigned)correlation & ((1u << PAGE_BITS) - 1);
	uint64_t(*pages)[64];

	if (page < 0 && w->npages < PAGES_MAX) {
		pages = rk_grow(w->pages, &w->cap_pages, w->npages + 1, sizeof(*pages));
		if (pages) {
			w->pages = pages;
			page = (int64_t)w->npages;
			for (unsigned i = 0; i < 64; i++)
				pages[page][i] = 0;
		}
		if (page >= 0 && rk_map_put(&w->page_at, process, at, (uint32_t)page))
			w->npages++;
		else
			page = -1;
	}
	if (page < 0)
		w->pages_full = true;
	else
		w->pages[page][bit / 64] |= UINT64_C(1) << bit % 64;
}

bool rk_pfw_did_run(const struct pf_writer *w, uint32_t process, int64_t correlation)
{
	int64_t page = rk_map_get(&w->page_at, process, (uint64_t)correlation >> PAGE_BITS);
	unsigned bit = (unsigned)correlation & ((1u << PAGE_BITS) - 1);

	if (page < 0)
		return w->pages_full;
	return w->pages[page][bit / 64] >> bit % 64 & 1;
}

/* ---- what all slices may have ---- */

uint32_t rk_pfw_process(struct pf_writer *w, const struct rk_batch *b, unsigned pid, unsigned rank,
			unsigned node, size_t row)
{
	int64_t p = rk_tracks_process(&w->tracks, rk_pfw_i64(b, pid, row), rk_pfw_i32(b, rank, row),
				      rk_pfw_id(b, node, row));

	if (p < 0)
		w->buf.bad = true;
	return p < 0 ? 0 : (uint32_t)p;
}

uint8_t *rk_pfw_odd_times(uint8_t *p, const struct pf_slice_at *s)
{
	if (!s->odd)
		return p;
	p = rk_pfw_note(p, PF_NOTE_BEGIN + 1, s->start);
	return rk_pfw_note(p, PF_NOTE_END + 1, s->end);
}

uint8_t *rk_pfw_flow(const struct pf_writer *w, uint8_t *p, uint32_t process, int64_t correlation)
{
	uint64_t flow = w->tracks.processes[process].flow;

	return rk_pb_put_fixed64(p, 47, flow + (uint64_t)correlation); /* flow_ids */
}
