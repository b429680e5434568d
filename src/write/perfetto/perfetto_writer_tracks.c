/*
 * perfetto_writer_tracks.c - TrackDescriptors: processes, threads, devices, queues, counters.
 *
 * A descriptor's text says in plain words what the reader of these files takes from it again:
 * "pid 7, rank 3, node n1" of a process, "thread 8" of what a thread caused.
 */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "write/perfetto/perfetto_writer.h"

enum { EXPLICIT = 3, DESCRIPTION_MAX = 1 << 16, AGENTS_MAX = 1 << 14 };

/* A TrackDescriptor being written. */
struct descriptor {
	uint8_t *packet, *track, *p;
};

static bool open_descriptor(struct pf_writer *w, struct descriptor *d, uint32_t track, size_t texts)
{
	const struct rk_track *t = &w->tracks.v[track];
	uint8_t *p;

	if (!rk_bytes_reserve(&w->buf, PF_EVENT_ROOM + texts))
		return false;
	d->packet = rk_pb_open(w->buf.data + w->buf.len, 1);
	p = rk_pb_put_uint(d->packet, 10, w->sequence ? w->sequence : 1);
	d->track = rk_pb_open(p, 60);
	d->p = rk_pb_put_uint(d->track, 1, track); /* uuid */
	if (t->parent)
		d->p = rk_pb_put_uint(d->p, 5, t->parent);
	return true;
}

static bool close_descriptor(struct pf_writer *w, struct descriptor *d)
{
	uint8_t *p = rk_pb_close(d->track, d->p);

	w->buf.len = (size_t)(rk_pb_close(d->packet, p) - w->buf.data);
	return true;
}

static void put_text(struct descriptor *d, uint32_t field, const struct rk_bytes *text, size_t from,
		     size_t to)
{
	d->p = rk_pb_put_bytes(d->p, field, text->data + from, to - from);
}

/* ---- processes ---- */

static uint64_t agent_key(uint32_t node)
{
	return node;
}

/* "rank 3 on n1: 4711 ./a.out", as much of it as is known. */
static void process_name(struct pf_writer *w, const struct rk_track_process *p)
{
	int64_t command = rk_map_get(&w->commands, (uint64_t)p->node << 32 | (uint32_t)p->rank,
				     (uint64_t)p->pid);
	struct rk_bytes *out = &w->text;
	const char *text;
	size_t len;

	if (p->rank != RK_NONE)
		rk_bytes_printf(out, "rank %" PRId64 " ", p->rank);
	if (p->node)
		rk_bytes_printf(out, "on %s ", rk_strtab_borrow(w->ctx->names, p->node, NULL));
	if (p->pid != RK_NONE)
		rk_bytes_printf(out, "process %" PRId64 " ", p->pid);
	if (command > 0) {
		text = rk_strtab_borrow(w->ctx->names, (uint32_t)command, &len);
		rk_bytes_put(out, text, len < DESCRIPTION_MAX ? len : DESCRIPTION_MAX);
		rk_bytes_put_u8(out, ' ');
	}
	if (!out->bad && out->len)
		out->len--;
}

static bool describe_process(struct pf_writer *w, uint32_t track)
{
	const struct rk_track_process *p = &w->tracks.processes[w->tracks.v[track].process];
	struct descriptor d;
	uint8_t *process;
	size_t name;

	rk_bytes_clear(&w->text);
	process_name(w, p);
	name = w->text.len;
	rk_tracks_place(&w->tracks, w->tracks.v[track].process, &w->text);
	if (w->text.bad || !open_descriptor(w, &d, track, w->text.len))
		return false;
	if (p->shown_pid) {
		process = rk_pb_open(d.p, 3);
		d.p = rk_pb_put_uint(process, 1, (uint64_t)p->shown_pid);
		put_text(&d, 6, &w->text, 0, name); /* process_name */
		d.p = rk_pb_close(process, d.p);
	} else {
		put_text(&d, 2, &w->text, 0, name);
	}
	put_text(&d, 14, &w->text, name, w->text.len); /* description */
	return close_descriptor(w, &d);
}

/* ---- the others ---- */

/* ThreadDescriptor, for what viewers can take for one. */
static bool is_thread(const struct pf_writer *w, const struct rk_track *t)
{
	return t->kind == RK_TRACK_THREAD && !t->lane && !t->rest && t->key > 0 &&
	       t->key <= INT32_MAX && w->tracks.processes[t->process].shown_pid;
}

static void put_thread(struct pf_writer *w, struct descriptor *d, const struct rk_track *t,
		       size_t name)
{
	uint8_t *thread = rk_pb_open(d->p, 4);

	d->p = rk_pb_put_uint(thread, 1, (uint64_t)w->tracks.processes[t->process].shown_pid);
	d->p = rk_pb_put_uint(d->p, 2, (uint64_t)t->key);
	put_text(d, 5, &w->text, 0, name); /* thread_name */
	d->p = rk_pb_close(thread, d->p);
}

/* What the device is, where the table of agents says so. */
static void put_agent(struct pf_writer *w, const struct rk_track *t)
{
	uint32_t node = w->tracks.processes[t->process].node;
	int64_t agent = rk_map_get(&w->agents, agent_key(node), (uint64_t)t->key);

	if (agent < 0)
		agent = rk_map_get(&w->agents, agent_key(0), (uint64_t)t->key);
	if (agent > 0)
		rk_bytes_printf(&w->text, " %s",
				rk_strtab_borrow(w->ctx->names, (uint32_t)agent, NULL));
}

static void put_place_of_thread(struct pf_writer *w, const struct rk_track *t)
{
	int64_t tid = t->kind == RK_TRACK_THREAD ? t->key : t->tid;

	if (tid != RK_NONE && !t->rest)
		rk_bytes_printf(&w->text, "thread %" PRId64, tid);
}

static bool describe_other(struct pf_writer *w, uint32_t track)
{
	const struct rk_track *t = &w->tracks.v[track];
	bool group = t->kind == RK_TRACK_DEVICE || t->kind == RK_TRACK_SENSORS;
	struct descriptor d;
	size_t name;

	rk_bytes_clear(&w->text);
	rk_tracks_name(&w->tracks, track, &w->text);
	if (group)
		put_agent(w, t);
	name = w->text.len;
	put_place_of_thread(w, t);
	if (w->text.bad || !open_descriptor(w, &d, track, w->text.len))
		return false;
	if (is_thread(w, t))
		put_thread(w, &d, t, name);
	else
		put_text(&d, 2, &w->text, 0, name);
	if (w->text.len > name)
		put_text(&d, 14, &w->text, name, w->text.len);
	if (group)
		d.p = rk_pb_put_uint(d.p, 11, EXPLICIT); /* child_ordering */
	else
		d.p = rk_pb_put_uint(d.p, 12, /* sibling_order_rank: by number, lanes together */
				     (uint64_t)(t->key & 0xfffff) << 8 | t->lane);
	return close_descriptor(w, &d);
}

bool rk_pfw_describe(struct pf_writer *w, uint32_t track)
{
	uint32_t parent = w->tracks.v[track].parent;

	if (w->tracks.v[track].told)
		return true;
	if (parent && !rk_pfw_describe(w, parent))
		return false;
	w->tracks.v[track].told = true;
	if (w->tracks.v[track].kind == RK_TRACK_PROCESS && !w->tracks.v[track].rest)
		return describe_process(w, track);
	return describe_other(w, track);
}

/* ---- counters ---- */

static const struct {
	const char *unit;
	uint32_t number; /* CounterDescriptor.Unit */
} units[] = { { "bytes", 3 }, { "B", 3 }, { "byte", 3 }, { "ns", 1 }, { "count", 2 } };

static uint32_t unit_number(const char *unit)
{
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(units[i].unit, unit))
			return units[i].number;
	return 0;
}

static bool describe_counter(struct pf_writer *w, uint32_t track, const char *name,
			     const char *unit)
{
	uint32_t number = unit_number(unit);
	struct descriptor d;
	uint8_t *counter;

	if (!open_descriptor(w, &d, track, strlen(name) + strlen(unit)))
		return false;
	d.p = rk_pb_put_bytes(d.p, 2, name, strlen(name));
	counter = rk_pb_open(d.p, 8);
	d.p = counter;
	if (number)
		d.p = rk_pb_put_uint(d.p, 3, number);
	else if (*unit)
		d.p = rk_pb_put_bytes(d.p, 6, unit, strlen(unit)); /* unit_name */
	d.p = rk_pb_close(counter, d.p);
	return close_descriptor(w, &d);
}

uint32_t rk_pfw_counter(struct pf_writer *w, uint32_t parent, uint32_t process, int64_t key,
			const char *name, const char *unit)
{
	uint32_t track = rk_tracks_child(&w->tracks, parent, process, RK_TRACK_COUNTER, key);

	if (!track || w->tracks.v[track].told)
		return track;
	if (parent && !rk_pfw_describe(w, parent))
		return 0;
	w->tracks.v[track].told = true;
	return describe_counter(w, track, w->tracks.v[track].rest ? "more counters" : name, unit) ?
		       track :
		       0;
}

/* ---- what is known of devices and processes ---- */

static uint32_t first_of(const struct rk_batch *b, size_t row, unsigned f, unsigned g, unsigned h)
{
	uint32_t id = rk_pfw_id(b, f, row);

	id = id ? id : rk_pfw_id(b, g, row);
	return id ? id : rk_pfw_id(b, h, row);
}

/* By its node, and by its number alone for rows that name no node. */
int rk_pfw_agents(struct pf_writer *w, const struct rk_batch *b, struct rk_error *err)
{
	for (size_t i = 0; i < b->nrows && w->agents.n < AGENTS_MAX; i++) {
		uint64_t device = (uint64_t)rk_pfw_i64(b, RK_G_DEVICE, i);
		uint32_t node = rk_pfw_id(b, RK_G_NODE, i);
		uint32_t name = first_of(b, i, RK_G_PRODUCT, RK_G_GFX, RK_G_NAME);

		if (name && (!rk_map_put(&w->agents, agent_key(node), device, name) ||
			     !rk_map_put(&w->agents, agent_key(0), device, name)))
			return rk_fail_nomem(err);
	}
	return 0;
}

int rk_pfw_processes(struct pf_writer *w, const struct rk_batch *b, struct rk_error *err)
{
	for (size_t i = 0; i < b->nrows && w->commands.n < AGENTS_MAX; i++) {
		uint64_t pid = (uint64_t)rk_pfw_i64(b, RK_O_PID, i);
		uint32_t rank = (uint32_t)rk_pfw_i32(b, RK_O_RANK, i);
		uint32_t node = rk_pfw_id(b, RK_O_NODE, i);
		uint32_t command = rk_pfw_id(b, RK_O_COMMAND, i);

		if (command && !rk_map_put(&w->commands, (uint64_t)node << 32 | rank, pid, command))
			return rk_fail_nomem(err);
	}
	return 0;
}
