/*
 * rows.c - writes the rows of each table as events: kernels with their counters, copies, calls,
 * samples.
 */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/text.h"
#include "write/perfetto/perfetto.h"

enum {
	COUNTER_ROOM = 32, /* max bytes of a counter's annotation */
	PAGE_BITS = 12,    /* correlation ids per page of struct pf_writer, as a power of two */
	PAGES_MAX = 1 << 14,
	RUN_MAX = 64,
	ALLOCS_MAX = 1 << 18,
};

/* ---- common to all tables ---- */

/* The process of a row; 0: unknown, or no memory (buf.bad). */
static uint32_t process_of(struct pf_writer *w, const struct rk_batch *b, unsigned pid,
			   unsigned rank, unsigned node, size_t row)
{
	int64_t p = rk_tracks_process(&w->tracks, rk_trace_i64(b, pid, row),
				      rk_trace_i32(b, rank, row), rk_batch_id(b, node, row));

	if (p < 0) {
		w->buf.bad = true;
		return 0;
	}
	return (uint32_t)p;
}

/* Writes a number as an annotation, unless it is unknown. */
static uint8_t *put_note(uint8_t *p, enum pf_note note, int64_t v)
{
	uint8_t *a;

	if (v == RK_NONE)
		return p;
	a = rk_pb_open(p, 4); /* TrackEvent.debug_annotations */
	p = rk_pb_put_uint(a, 1, note + 1u);
	p = rk_pb_put_uint(p, v < 0 ? 4 : 3, (uint64_t)v); /* int_value, uint_value */
	return rk_pb_close(a, p);
}

/* Writes the row's times as annotations if the slice cannot show them. */
static uint8_t *put_odd_times(uint8_t *p, const struct pf_slice_at *s)
{
	if (!s->odd)
		return p;
	p = put_note(p, PF_NOTE_BEGIN, s->start);
	return put_note(p, PF_NOTE_END, s->end);
}

/* Both ends of an arrow from a call to its work carry the same flow id. */
static uint8_t *put_flow(const struct pf_writer *w, uint8_t *p, uint32_t process,
			 int64_t correlation)
{
	/* flow_ids */
	return rk_pb_put_fixed64(p, 47, rk_tracks_flow(&w->tracks, process, correlation));
}

/*
 * Returns tid if it is not the thread of the track, else RK_NONE. The first slice sets the track's
 * thread.
 */
static int64_t other_thread(struct pf_writer *w, uint32_t track, int64_t tid)
{
	struct rk_track *t = &w->tracks.v[track];

	if (!t->told && !t->rest)
		t->tid = tid;
	return t->tid == tid ? RK_NONE : tid;
}

static bool open_slice(struct pf_writer *w, struct pf_event *e, const struct pf_slice_at *s,
		       uint32_t category, uint32_t name, size_t extra)
{
	enum rk_pf_type type = s->instant ? RK_PF_INSTANT : RK_PF_BEGIN;

	return rk_pfw_open(w, e, type, s->track, category, name, extra);
}

/* Writes the flow from the causing call, and marks its id so that the call writes the flow too. */
static uint8_t *put_cause(struct pf_writer *w, uint8_t *p, uint32_t process, int64_t correlation)
{
	uint64_t at = (uint64_t)correlation >> PAGE_BITS;
	unsigned bit = (unsigned)correlation & ((1u << PAGE_BITS) - 1);
	uint64_t(*pages)[64];
	int64_t page;

	if (correlation <= 0 || !(w->tracks.scope.tables >> RK_API & 1))
		return p;
	page = rk_map_get(&w->page_at, process, at);
	if (page < 0 && w->npages < PAGES_MAX) {
		pages = rk_grow(w->pages, &w->cap_pages, w->npages + 1, sizeof(*pages));
		if (pages) {
			w->pages = pages;
			memset(pages[w->npages], 0, sizeof(*pages));
			if (rk_map_put(&w->page_at, process, at, (uint32_t)w->npages))
				page = (int64_t)w->npages++;
		}
	}
	if (page < 0)
		w->pages_full = true;
	else
		w->pages[page][bit / 64] |= UINT64_C(1) << bit % 64;
	return put_flow(w, p, process, correlation);
}

/* Whether something ran under the id. True also if there was no room to record that. */
static bool did_run(const struct pf_writer *w, uint32_t process, int64_t correlation)
{
	int64_t page = rk_map_get(&w->page_at, process, (uint64_t)correlation >> PAGE_BITS);
	unsigned bit = (unsigned)correlation & ((1u << PAGE_BITS) - 1);

	if (page < 0)
		return w->pages_full;
	return w->pages[page][bit / 64] >> bit % 64 & 1;
}

/* ---- kernels ---- */

/*
 * Texts made of a kernel's numbers. They rarely change, so they are interned before the event
 * begins.
 */
struct texts {
	uint32_t grid, block, resources, items;
	bool apart; /* write resources one by one: not all are known */
};

/* Fills v up to the first unknown value; returns the number of values. */
static unsigned three(const struct rk_batch *b, unsigned field, size_t row, int64_t *v)
{
	unsigned n = 0;

	while (n < 3 && (v[n] = rk_trace_i32(b, field + n, row)) != RK_NONE)
		n++;
	return n;
}

static uint32_t text_of(struct pf_writer *w, enum pf_note note, const int64_t *v, unsigned n)
{
	return n ? rk_pfw_value(w, note, v, n) : 0;
}

static void intern_texts(struct pf_writer *w, const struct rk_batch *b, size_t row, struct texts *t)
{
	int64_t grid[3], block[3], items[3], r[5];
	unsigned ngrid = three(b, RK_K_GRID_X, row, grid);
	unsigned nblock = three(b, RK_K_BLOCK_X, row, block);
	unsigned nitems = three(b, RK_K_ITEMS_X, row, items);
	bool usual = ngrid == 3 && nblock == 3 && nitems == 3;

	/* Normally work-items are workgroups times their size; write them only if they are not. */
	for (unsigned i = 0; usual && i < 3; i++)
		usual = grid[i] * block[i] == items[i];
	*t = (struct texts){ .grid = text_of(w, PF_NOTE_GRID, grid, ngrid),
			     .block = text_of(w, PF_NOTE_BLOCK, block, nblock) };
	if (!usual)
		t->items = text_of(w, PF_NOTE_ITEMS, items, nitems);
	r[0] = rk_trace_i32(b, RK_K_VGPR, row);
	r[1] = rk_trace_i32(b, RK_K_ACCUM_VGPR, row);
	r[2] = rk_trace_i32(b, RK_K_SGPR, row);
	r[3] = rk_trace_i32(b, RK_K_SCRATCH, row);
	r[4] = rk_trace_i32(b, RK_K_SHARED_MEM, row);
	for (unsigned i = 0; i < 5; i++)
		t->apart = t->apart || r[i] < 0;
	if (!t->apart)
		t->resources = rk_pfw_value(w, PF_NOTE_RESOURCES, r, 5);
	t->apart = !t->resources;
}

static uint8_t *put_text(uint8_t *p, enum pf_note note, uint32_t value)
{
	uint8_t *a;

	if (!value)
		return p;
	a = rk_pb_open(p, 4);
	p = rk_pb_put_uint(a, 1, note + 1);
	p = rk_pb_put_uint(p, 17, value); /* string_value_iid */
	return rk_pb_close(a, p);
}

/*
 * Annotations that are equal for most launches of a kernel. The resources text includes zeros, so
 * shared memory and scratch get their own annotation only if they are not 0 (or if there is no
 * text).
 */
static uint8_t *put_launch(uint8_t *p, const struct rk_batch *b, size_t row, const struct texts *t)
{
	const struct rk_column *barrier = &b->cols[RK_K_BARRIER];
	int64_t queue = rk_trace_i64(b, RK_K_QUEUE, row);
	int64_t stream = rk_trace_i32(b, RK_K_STREAM, row);
	int64_t shared = rk_trace_i32(b, RK_K_SHARED_MEM, row);
	int64_t scratch = rk_trace_i32(b, RK_K_SCRATCH, row);

	p = put_text(p, PF_NOTE_GRID, t->grid);
	p = put_text(p, PF_NOTE_BLOCK, t->block);
	p = put_text(p, PF_NOTE_ITEMS, t->items);
	p = put_note(p, PF_NOTE_REGS, rk_trace_i32(b, RK_K_REGS, row));
	if (t->apart || shared)
		p = put_note(p, PF_NOTE_SHARED_MEM, shared);
	if (t->apart || scratch)
		p = put_note(p, PF_NOTE_SCRATCH, scratch);
	if (t->apart) {
		p = put_note(p, PF_NOTE_VGPR, rk_trace_i32(b, RK_K_VGPR, row));
		p = put_note(p, PF_NOTE_ACCUM, rk_trace_i32(b, RK_K_ACCUM_VGPR, row));
		p = put_note(p, PF_NOTE_SGPR, rk_trace_i32(b, RK_K_SGPR, row));
	} else {
		p = put_text(p, PF_NOTE_RESOURCES, t->resources);
	}
	if (rk_column_has(barrier, row) && ((const uint8_t *)barrier->data)[row])
		p = put_note(p, PF_NOTE_BARRIER, 1);
	p = put_note(p, PF_NOTE_WAVE_SIZE, rk_trace_i32(b, RK_K_WAVE_SIZE, row));
	p = put_note(p, PF_NOTE_DEVICE, rk_trace_i64(b, RK_K_DEVICE, row));
	p = put_note(p, PF_NOTE_QUEUE, queue);
	if (stream != queue)
		p = put_note(p, PF_NOTE_STREAM, stream);
	return p;
}

static double counter_at(const struct rk_batch *b, unsigned field, size_t row)
{
	const struct rk_column *c = &b->cols[field];

	return rk_column_has(c, row) ? ((const double *)c->data)[row] : NAN;
}

/* Writes the counters as curves of the device. */
static void count_kernel(struct pf_writer *w, const struct rk_batch *b, size_t row,
			 const struct pf_slice_at *s)
{
	uint32_t process = w->tracks.v[s->device].process;

	w->tracks.v[s->device].owner = w->order;
	for (unsigned f = RK_K_NFIELDS; f < b->schema->nfields; f++) {
		double v = counter_at(b, f, row);
		uint32_t track;

		if (!isfinite(v))
			continue;
		track = rk_pfw_counter(w, s->device, process, f, b->schema->fields[f].name, "");
		if (!track || !rk_map_put(&w->counters, 1 + (uint64_t)s->device, f, track)) {
			w->buf.bad = true;
			return;
		}
		rk_pfw_count(w, track, s->start, v);
	}
}

static void put_kernel(struct pf_writer *w, const struct rk_batch *b, size_t row, uint32_t process,
		       const struct pf_slice_at *s, int64_t tid)
{
	size_t ncounters = b->schema->nfields - RK_K_NFIELDS;
	int64_t correlation = rk_trace_i64(b, RK_K_CORRELATION, row);
	uint32_t name = rk_pfw_name(w, rk_batch_id(b, RK_K_NAME, row));
	struct pf_event e;
	struct texts t;

	intern_texts(w, b, row, &t);
	for (unsigned f = RK_K_NFIELDS; f < b->schema->nfields; f++)
		rk_pfw_counter_name(w, f, b->schema->fields[f].name);
	if (!open_slice(w, &e, s, PF_CAT_KERNEL, name, ncounters * COUNTER_ROOM))
		return;
	e.p = put_launch(e.p, b, row, &t);
	e.p = put_note(e.p, PF_NOTE_TID, tid);
	e.p = put_odd_times(e.p, s);
	/* Doubles keep the exact values, and our reader treats double annotations as counters. */
	for (unsigned f = RK_K_NFIELDS; f < b->schema->nfields; f++) {
		double v = counter_at(b, f, row);
		uint8_t *a;

		if (!isfinite(v))
			continue;
		a = rk_pb_open(e.p, 4);
		e.p = rk_pb_put_uint(a, 1, (uint64_t)rk_map_get(&w->counters, 0, f));
		e.p = rk_pb_close(a, rk_pb_put_double(e.p, 5, v)); /* double_value */
	}
	e.p = put_note(e.p, PF_NOTE_DISPATCH, rk_trace_i64(b, RK_K_DISPATCH, row));
	e.p = put_note(e.p, PF_NOTE_CORRELATION, correlation);
	e.p = put_cause(w, e.p, process, correlation);
	rk_pfw_close(w, &e, s->start);
}

static int kernel(struct pf_writer *w, const struct rk_batch *b, size_t row, struct rk_error *err)
{
	uint32_t process = process_of(w, b, RK_K_PID, RK_K_RANK, RK_K_NODE, row);
	uint32_t device = rk_tracks_child(&w->tracks, rk_tracks_of(&w->tracks, process), process,
					  RK_TRACK_DEVICE, rk_trace_i64(b, RK_K_DEVICE, row));
	struct pf_slice_at s = { 0 };
	int64_t queue = rk_trace_i64(b, RK_K_QUEUE, row), tid;
	int rc;

	if (!device)
		return rk_fail_nomem(err);
	if (queue != RK_NONE)
		s.track = rk_tracks_child(&w->tracks, device, process, RK_TRACK_QUEUE, queue);
	else
		s.track = rk_tracks_child(&w->tracks, device, process, RK_TRACK_STREAM,
					  rk_trace_i32(b, RK_K_STREAM, row));
	if (!s.track)
		return rk_fail_nomem(err);
	if (b->schema->nfields > RK_K_NFIELDS)
		s.device = device;
	tid = other_thread(w, s.track, rk_trace_i64(b, RK_K_TID, row));
	rc = rk_pfw_place(w, rk_trace_i64(b, RK_K_START, row), rk_trace_i64(b, RK_K_DURATION, row),
			  false, &s, err);
	if (rc <= 0)
		return rc;
	put_kernel(w, b, row, process, &s, tid);
	if (s.device)
		count_kernel(w, b, row, &s);
	return 0;
}

/* ---- copies ---- */

static int copy(struct pf_writer *w, const struct rk_batch *b, size_t row, struct rk_error *err)
{
	uint32_t process = process_of(w, b, RK_C_PID, RK_C_RANK, RK_C_NODE, row);
	uint32_t direction = rk_batch_id(b, RK_C_DIRECTION, row), device;
	int64_t src = rk_trace_i64(b, RK_C_SRC, row), dst = rk_trace_i64(b, RK_C_DST, row);
	int64_t stream = rk_trace_i64(b, RK_C_STREAM, row);
	int64_t correlation = rk_trace_i64(b, RK_C_CORRELATION, row), tid;
	struct pf_slice_at s = { 0 };
	struct pf_event e;
	int rc;

	device = rk_tracks_child(
		&w->tracks, rk_tracks_of(&w->tracks, process), process, RK_TRACK_DEVICE,
		rk_copy_device(rk_strtab_borrow(w->ctx->names, direction, NULL), src, dst));
	if (device)
		s.track = rk_tracks_child(&w->tracks, device, process, RK_TRACK_COPIES, stream);
	if (!s.track)
		return rk_fail_nomem(err);
	tid = other_thread(w, s.track, rk_trace_i64(b, RK_C_TID, row));
	rc = rk_pfw_place(w, rk_trace_i64(b, RK_C_START, row), rk_trace_i64(b, RK_C_DURATION, row),
			  false, &s, err);
	if (rc <= 0)
		return rc;

	if (!open_slice(w, &e, &s, PF_CAT_COPY, rk_pfw_name(w, direction), 0))
		return rk_fail_nomem(err);
	e.p = put_note(e.p, PF_NOTE_SRC, src);
	e.p = put_note(e.p, PF_NOTE_DST, dst);
	e.p = put_note(e.p, PF_NOTE_STREAM, stream);
	e.p = put_note(e.p, PF_NOTE_TID, tid);
	e.p = put_odd_times(e.p, &s);
	e.p = put_note(e.p, PF_NOTE_BYTES, rk_trace_i64(b, RK_C_BYTES, row));
	e.p = put_note(e.p, PF_NOTE_CORRELATION, correlation);
	e.p = put_cause(w, e.p, process, correlation);
	rk_pfw_close(w, &e, s.start);
	return 0;
}

/* ---- what threads did: API calls, markers, allocations; and samples ---- */

static uint32_t thread_of(struct pf_writer *w, uint32_t process, int64_t tid)
{
	return rk_tracks_child(&w->tracks, rk_tracks_of(&w->tracks, process), process,
			       RK_TRACK_THREAD, tid);
}

/* A track below the thread, so that its slices may overlap the thread's API calls. */
static uint32_t beside_calls(struct pf_writer *w, uint32_t process, int64_t tid,
			     enum rk_track_kind kind)
{
	uint32_t thread = thread_of(w, process, tid);

	return thread ? rk_tracks_child(&w->tracks, thread, process, kind, RK_NONE) : 0;
}

/* Writes an interned name as an annotation, in full. */
static uint8_t *put_string(const struct pf_writer *w, uint8_t *p, enum pf_note note, uint32_t id)
{
	size_t len;
	const char *text = rk_strtab_borrow(w->ctx->names, id, &len);
	uint8_t *a = rk_pb_open(p, 4);

	p = rk_pb_put_uint(a, 1, note + 1u);
	p = rk_pb_put_bytes(p, 6, text, len); /* string_value */
	return rk_pb_close(a, p);
}

static size_t text_len(const struct pf_writer *w, uint32_t id)
{
	size_t len;

	rk_strtab_borrow(w->ctx->names, id, &len);
	return len;
}

/*
 * The tid to annotate: only slices on a shared track need one, as other tracks name their thread.
 */
static int64_t tid_of(const struct pf_writer *w, uint32_t track, int64_t tid)
{
	return w->tracks.v[track].rest ? tid : RK_NONE;
}

/* ---- calls ---- */

static int call(struct pf_writer *w, const struct rk_batch *b, size_t row, struct rk_error *err)
{
	uint32_t process = process_of(w, b, RK_A_PID, RK_A_RANK, RK_A_NODE, row);
	int64_t tid = rk_trace_i64(b, RK_A_TID, row);
	int64_t correlation = rk_trace_i64(b, RK_A_CORRELATION, row);
	uint32_t domain = rk_batch_id(b, RK_A_DOMAIN, row), name, category;
	struct pf_slice_at s = { .track = thread_of(w, process, tid) };
	struct pf_event e;
	bool exact = true;
	int rc;

	rc = rk_pfw_place(w, rk_trace_i64(b, RK_A_START, row), rk_trace_i64(b, RK_A_DURATION, row),
			  true, &s, err);
	if (rc <= 0)
		return rc;
	name = rk_pfw_name(w, rk_batch_id(b, RK_A_FUNCTION, row));
	category = rk_pfw_domain(w, domain, &exact);
	if (!open_slice(w, &e, &s, category, name, exact ? 0 : text_len(w, domain)))
		return rk_fail_nomem(err);
	if (!exact && domain)
		e.p = put_string(w, e.p, PF_NOTE_DOMAIN, domain);
	e.p = put_note(e.p, PF_NOTE_TID, tid_of(w, s.track, tid));
	e.p = put_odd_times(e.p, &s);
	e.p = put_note(e.p, PF_NOTE_CORRELATION, correlation);
	if (correlation > 0 && did_run(w, process, correlation))
		e.p = put_flow(w, e.p, process, correlation);
	rk_pfw_close(w, &e, s.start);
	return 0;
}

/* ---- markers ---- */

static bool is_word(const struct pf_writer *w, uint32_t id, const char *word)
{
	return !strcmp(rk_strtab_borrow(w->ctx->names, id, NULL), word);
}

static int marker(struct pf_writer *w, const struct rk_batch *b, size_t row, struct rk_error *err)
{
	uint32_t process = process_of(w, b, RK_R_PID, RK_R_RANK, RK_R_NODE, row);
	int64_t tid = rk_trace_i64(b, RK_R_TID, row),
		duration = rk_trace_i64(b, RK_R_DURATION, row);
	uint32_t kind = rk_batch_id(b, RK_R_KIND, row), name;
	bool mark = is_word(w, kind, "mark") && duration <= 0;
	struct pf_slice_at s = { .track = beside_calls(w, process, tid, RK_TRACK_MARKERS),
				 .instant = mark };
	struct pf_event e;
	int rc = rk_pfw_place(w, rk_trace_i64(b, RK_R_START, row), duration, true, &s, err);

	if (rc <= 0)
		return rc;
	name = rk_pfw_name(w, rk_batch_id(b, RK_R_NAME, row));
	if (!open_slice(w, &e, &s, PF_CAT_MARKER, name, text_len(w, kind)))
		return rk_fail_nomem(err);
	if (kind && !mark && !is_word(w, kind, "range"))
		e.p = put_string(w, e.p, PF_NOTE_KIND, kind);
	e.p = put_note(e.p, PF_NOTE_TID, tid_of(w, s.track, tid));
	e.p = put_odd_times(e.p, &s);
	rk_pfw_close(w, &e, s.start);
	return 0;
}

/* ---- allocations: one slice each, and a curve of allocated bytes per device ---- */

/* Points to the size of the allocation at an address; NULL: no room for another one. */
static int64_t *size_at(struct pf_writer *w, uint32_t process, int64_t address)
{
	int64_t at = rk_map_get(&w->alloc_at, process, (uint64_t)address);
	int64_t *sizes;

	if (at >= 0)
		return &w->alloc_bytes[at];
	if (w->nallocs >= ALLOCS_MAX) {
		w->allocs_full = true;
		return NULL;
	}
	sizes = rk_grow(w->alloc_bytes, &w->cap_allocs, w->nallocs + 1, sizeof(*sizes));
	if (sizes)
		w->alloc_bytes = sizes;
	if (!sizes || !rk_map_put(&w->alloc_at, process, (uint64_t)address, (uint32_t)w->nallocs)) {
		w->buf.bad = true;
		return NULL;
	}
	sizes[w->nallocs] = 0;
	return &sizes[w->nallocs++];
}

/* Updates the curve of allocated bytes. */
static int count_memory(struct pf_writer *w, const struct rk_batch *b, size_t row, uint32_t process,
			int64_t time, struct rk_error *err)
{
	uint32_t device = rk_tracks_child(&w->tracks, rk_tracks_of(&w->tracks, process), process,
					  RK_TRACK_DEVICE, rk_trace_i64(b, RK_M_DEVICE, row));
	int64_t bytes = rk_max_i64(rk_trace_i64(b, RK_M_BYTES, row), 0);
	int64_t address = rk_trace_i64(b, RK_M_ADDRESS, row), *size = NULL;
	uint32_t track = 0;
	const char *text;
	uint64_t *sum;
	size_t len;

	if (device)
		track = rk_pfw_counter(w, device, process, -1, "allocated", "bytes");
	if (!track)
		return rk_fail_nomem(err);
	text = rk_strtab_borrow(w->ctx->names, rk_batch_id(b, RK_M_OPERATION, row), &len);
	if (address != RK_NONE)
		size = size_at(w, process, address);
	sum = &w->tracks.v[track].owner; /* counters of memory keep their sum in `owner` */
	if (memmem(text, len, "FREE", 4) || memmem(text, len, "Free", 4) ||
	    memmem(text, len, "free", 4)) {
		if (size && *size)
			bytes = *size;
		if (size)
			*size = 0;
		*sum -= (uint64_t)bytes;
	} else {
		if (size)
			*size = bytes;
		*sum += (uint64_t)bytes;
	}
	if (!w->allocs_full)
		rk_pfw_count(w, track, time, (double)(int64_t)*sum);
	return 0;
}

static int allocation(struct pf_writer *w, const struct rk_batch *b, size_t row,
		      struct rk_error *err)
{
	uint32_t process = process_of(w, b, RK_M_PID, RK_M_RANK, RK_M_NODE, row), name;
	int64_t tid = rk_trace_i64(b, RK_M_TID, row);
	struct pf_slice_at s = { .track = beside_calls(w, process, tid, RK_TRACK_MEMORY) };
	struct pf_event e;
	int rc = rk_pfw_place(w, rk_trace_i64(b, RK_M_START, row),
			      rk_trace_i64(b, RK_M_DURATION, row), true, &s, err);

	if (rc <= 0)
		return rc;
	name = rk_pfw_name(w, rk_batch_id(b, RK_M_OPERATION, row));
	if (!open_slice(w, &e, &s, PF_CAT_MEMORY, name, 0))
		return rk_fail_nomem(err);
	e.p = put_note(e.p, PF_NOTE_DEVICE, rk_trace_i64(b, RK_M_DEVICE, row));
	e.p = put_note(e.p, PF_NOTE_FLAGS, rk_trace_i64(b, RK_M_FLAGS, row));
	e.p = put_note(e.p, PF_NOTE_BYTES, rk_trace_i64(b, RK_M_BYTES, row));
	e.p = put_note(e.p, PF_NOTE_ADDRESS, rk_trace_i64(b, RK_M_ADDRESS, row));
	e.p = put_note(e.p, PF_NOTE_TID, tid_of(w, s.track, tid));
	e.p = put_odd_times(e.p, &s);
	e.p = put_note(e.p, PF_NOTE_CORRELATION, rk_trace_i64(b, RK_M_CORRELATION, row));
	rk_pfw_close(w, &e, s.start);
	return count_memory(w, b, row, process, s.start, err);
}

/* ---- samples ---- */

static int sample(struct pf_writer *w, const struct rk_batch *b, size_t row, struct rk_error *err)
{
	const struct rk_column *value = &b->cols[RK_S_VALUE];
	int64_t time = rk_trace_i64(b, RK_S_TIME, row);
	uint32_t metric = rk_batch_id(b, RK_S_METRIC, row), unit = rk_batch_id(b, RK_S_UNIT, row);
	int64_t process =
		rk_tracks_process(&w->tracks, RK_NONE, RK_NONE, rk_batch_id(b, RK_S_NODE, row));
	uint32_t device, track;

	if (time < 0 || !rk_column_has(value, row) ||
	    !isfinite(((const double *)value->data)[row])) {
		w->no_time += time == RK_NONE;
		w->out_of_range += time < 0 && time != RK_NONE;
		return 0;
	}
	if (w->ticking && time < w->clock)
		return rk_fail(err, RK_E_FORMAT, "rows are not in order of their times");
	if (process < 0 || rk_pfw_sequence(w, time, err) < 0)
		return rk_fail_nomem(err);
	device = rk_tracks_child(&w->tracks, rk_tracks_of(&w->tracks, (uint32_t)process),
				 (uint32_t)process, RK_TRACK_SENSORS,
				 rk_trace_i64(b, RK_S_DEVICE, row));
	if (!device)
		return rk_fail_nomem(err);
	track = rk_pfw_counter(w, device, (uint32_t)process,
			       (int64_t)((uint64_t)metric << 32 | unit),
			       rk_strtab_borrow(w->ctx->names, metric, NULL),
			       rk_strtab_borrow(w->ctx->names, unit, NULL));
	if (!track)
		return rk_fail_nomem(err);
	rk_pfw_count(w, track, time, ((const double *)value->data)[row]);
	return 0;
}

/* ---- all tables ---- */

/* Sorts rows with equal start by duration, longest first: an enclosing slice must begin first. */
static void longest_first(const struct rk_batch *b, unsigned duration, uint32_t *rows, size_t n)
{
	for (size_t i = 1; i < n && n <= RUN_MAX; i++) {
		uint32_t row = rows[i];
		int64_t d = rk_trace_i64(b, duration, row);
		size_t at = i;

		for (; at && rk_trace_i64(b, duration, rows[at - 1]) < d; at--)
			rows[at] = rows[at - 1];
		rows[at] = row;
	}
}

int rk_pfw_rows(struct pf_writer *w, const struct rk_batch *b, struct rk_error *err)
{
	static const struct {
		int (*put)(struct pf_writer *w, const struct rk_batch *b, size_t row,
			   struct rk_error *err);
		bool nests; /* rows may be nested */
		unsigned start, duration;
	} tables[RK_NTABLES] = {
		[RK_KERNELS] = { kernel },
		[RK_MEMCPY] = { copy },
		[RK_MEMALLOC] = { allocation, true, RK_M_START, RK_M_DURATION },
		[RK_API] = { call, true, RK_A_START, RK_A_DURATION },
		[RK_MARKERS] = { marker, true, RK_R_START, RK_R_DURATION },
		[RK_SAMPLES] = { sample },
	};
	enum rk_table t = b->schema->table;
	unsigned start = tables[t].start, duration = tables[t].duration;
	size_t from = 0;
	uint32_t *rows;
	int rc;

	if (!tables[t].put)
		return 0;
	rows = rk_grow(w->rows, &w->cap_rows, b->nrows, sizeof(*rows));
	if (!rows)
		return rk_fail_nomem(err);
	w->rows = rows;
	for (size_t i = 0; i < b->nrows; i++) {
		rows[i] = (uint32_t)i;
		if (tables[t].nests && i &&
		    rk_trace_i64(b, start, i) != rk_trace_i64(b, start, from)) {
			longest_first(b, duration, rows + from, i - from);
			from = i;
		}
	}
	if (tables[t].nests)
		longest_first(b, duration, rows + from, b->nrows - from);
	if (t == RK_KERNELS)
		w->nfields = b->schema->nfields;
	for (size_t i = 0; i < b->nrows; i++) {
		if ((rc = tables[t].put(w, b, rows[i], err)) < 0 ||
		    (rc = rk_pfw_flush(w, false, err)) < 0)
			return rc;
	}
	return 0;
}
