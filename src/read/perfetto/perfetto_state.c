/* perfetto_state.c - sequences, tracks, open slices and interned names of a trace being read. */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "read/perfetto/perfetto_reader.h"

void rk_pf_warn(struct pf_state *s, const char *kind, const char *message)
{
	rk_oddities_count(&s->odd, kind, 0, 1, "%s", message);
}

/* Room for one more in an array that doubles. */
static bool room(void **array, size_t n, size_t size)
{
	void *grown;

	if (n & (n - 1))
		return true;
	grown = rk_reallocn(*array, n ? n * 2 : 1, size);
	if (!grown)
		return false;
	*array = grown;
	return true;
}

struct pf_sequence *rk_pf_sequence(struct pf_state *s, uint32_t id, bool *ret_new,
				   struct rk_error *err)
{
	int64_t at = rk_map_get(&s->sequence_at, 0, id);
	void *array = s->sequences;

	*ret_new = at < 0;
	if (at >= 0)
		return &s->sequences[at];
	if (s->nsequences == PF_MAX_SEQUENCES) {
		rk_pf_warn(s, "track-limit", "too many packet sequences; some are left out");
		return NULL;
	}
	if (!room(&array, s->nsequences, sizeof(*s->sequences))) {
		rk_fail_nomem(err);
		return NULL;
	}
	s->sequences = array;
	if (!rk_map_put(&s->sequence_at, 0, id, (uint32_t)s->nsequences)) {
		rk_fail_nomem(err);
		return NULL;
	}
	s->sequences[s->nsequences] = (struct pf_sequence){ 0 };
	return &s->sequences[s->nsequences++];
}

struct pf_track *rk_pf_track(struct pf_state *s, uint64_t uuid, struct rk_error *err)
{
	int64_t at = rk_map_get(&s->track_at, 0, uuid);
	void *array = s->tracks;

	if (at >= 0)
		return &s->tracks[at];
	if (s->ntracks == PF_MAX_TRACKS) {
		rk_pf_warn(s, "track-limit", "too many tracks; some are left out");
		return NULL;
	}
	if (!room(&array, s->ntracks, sizeof(*s->tracks))) {
		rk_fail_nomem(err);
		return NULL;
	}
	s->tracks = array;
	if (!rk_map_put(&s->track_at, 0, uuid, (uint32_t)s->ntracks)) {
		rk_fail_nomem(err);
		return NULL;
	}
	s->tracks[s->ntracks] = (struct pf_track){ .pid = RK_NONE,
						   .tid = RK_NONE,
						   .stream = RK_NONE,
						   .agent = RK_NONE,
						   .queue = RK_NONE,
						   .rank = RK_NONE,
						   .node = RK_NONE };
	return &s->tracks[s->ntracks++];
}

struct pf_slice *rk_pf_slice(struct pf_state *s, struct pf_track *t, struct rk_error *err)
{
	struct pf_slice *slice = s->spare;

	if (s->nslices == PF_MAX_SLICES) {
		rk_pf_warn(s, "slice-limit", "too many slices open at a time; some are lost");
		return NULL;
	}
	if (slice)
		s->spare = slice->outer;
	else
		slice = rk_alloc(sizeof(*slice));
	if (!slice) {
		rk_fail_nomem(err);
		return NULL;
	}
	*slice = (struct pf_slice){ .outer = t->open, .start = RK_NONE, .name = RK_NONE };
	for (unsigned i = 0; i < PF_NVALUES; i++)
		slice->values[i] = RK_NONE;
	t->open = slice;
	s->nslices++;
	return slice;
}

int rk_pf_slice_end(struct pf_state *s, struct pf_track *t, int64_t end, struct rk_error *err)
{
	struct pf_slice *slice = t->open;
	int rc = slice->wanted ? s->emit(s->arg, slice, t, end, err) : 0;

	t->open = slice->outer;
	rk_free(slice->counters);
	slice->counters = NULL;
	slice->outer = s->spare;
	s->spare = slice;
	s->nslices--;
	return rc;
}

static void free_slices(struct pf_slice *slice)
{
	while (slice) {
		struct pf_slice *outer = slice->outer;

		rk_free(slice->counters);
		rk_free(slice);
		slice = outer;
	}
}

void rk_pf_state_release(struct pf_state *s)
{
	rk_oddities_tell(&s->odd, s->ctx->diag, s->path);
	for (size_t i = 0; i < s->ntracks; i++)
		free_slices(s->tracks[i].open);
	free_slices(s->spare);
	rk_free(s->tracks);
	rk_free(s->sequences);
	rk_map_release(&s->sequence_at);
	rk_map_release(&s->track_at);
	rk_map_release(&s->names);
}

static const struct {
	const char *name;
	enum pf_value value;
} annotations[] = {
	{ "begin_ns", PF_BEGIN },
	{ "end_ns", PF_END },
	{ "corr_id", PF_CORRELATION },
	{ "correlation_id", PF_CORRELATION },
	{ "stack_id", PF_CORRELATION },
	{ "pid", PF_PID },
	{ "tid", PF_TID },
	{ "stream_id", PF_STREAM },
	{ "agent", PF_AGENT },
	{ "queue", PF_QUEUE },
	{ "dispatch_id", PF_DISPATCH },
	{ "Scratch_Size", PF_SCRATCH },
	{ "private_segment_size", PF_SCRATCH },
	{ "LDS_Block_Size", PF_LDS },
	{ "group_segment_size", PF_LDS },
	{ "VGPR_Count", PF_VGPR_ALONE },
	{ "Accum_VGPR_Count", PF_ACCUM },
	{ "SGPR_Count", PF_SGPR },
	{ "workgroup_size", PF_BLOCK },
	{ "grid_size", PF_ITEMS },
	{ "src_agent", PF_SRC },
	{ "dst_agent", PF_DST },
	{ "copy_bytes", PF_BYTES },
	{ "size", PF_BYTES },
	{ "grid", PF_GRID },
	{ "block", PF_BLOCK },
	{ "regs", PF_REGS },
	{ "shared_mem", PF_LDS },
	{ "scratch", PF_SCRATCH },
	{ "resources", PF_RESOURCES },
	{ "device", PF_AGENT },
	{ "vgpr", PF_VGPR_ALONE },
	{ "accum_vgpr", PF_ACCUM },
	{ "sgpr", PF_SGPR },
	{ "wave_size", PF_WAVE_SIZE },
	{ "barrier", PF_BARRIER },
	{ "bytes", PF_BYTES },
	{ "src_device", PF_SRC },
	{ "dst_device", PF_DST },
	{ "address", PF_ADDRESS },
	{ "flags", PF_FLAGS },
	{ "domain", PF_DOMAIN },
	{ "marker_kind", PF_KIND },
	{ "delta_ns", PF_IGNORED },
	{ "kind", PF_IGNORED },
	{ "operation", PF_IGNORED },
	{ "agent_type", PF_IGNORED },
	{ "kernel_id", PF_IGNORED },
	{ "ancestor_id", PF_IGNORED },
};

int rk_pf_annotation(struct pf_state *s, const uint8_t *text, size_t len, uint32_t *ret,
		     struct rk_error *err)
{
	uint32_t id = 0;
	int rc;

	for (size_t i = 0; i < sizeof(annotations) / sizeof(annotations[0]); i++) {
		if (rk_text_ieq((const char *)text, len, annotations[i].name)) {
			*ret = annotations[i].value;
			return 0;
		}
	}
	rc = rk_strtab_add(s->ctx->names, (const char *)text, len, &id, err);
	if (rc == 0)
		*ret = PF_NVALUES + id;
	return rc;
}

/* The sequence, how often it dropped its names, and the kind of name. */
static uint64_t names_key(const struct pf_state *s, const struct pf_sequence *q,
			  enum pf_intern kind)
{
	return (uint64_t)(q - s->sequences) << 40 | (uint64_t)q->generation << 8 | kind;
}

/* Forgets the names that sequences dropped; where that does not help, it is not tried again. */
static bool forget_names(struct pf_state *s)
{
	struct rk_map kept = { 0 };
	bool ok = true;

	for (size_t i = 0; ok && i <= s->names.mask; i++) {
		const struct rk_map_slot *p = &s->names.slots[i];

		if (p->value && (uint32_t)(p->a >> 8) == s->sequences[p->a >> 40].generation)
			ok = rk_map_put(&kept, p->a, p->b, p->value - 1);
	}
	if (!ok) {
		rk_map_release(&kept);
		return false;
	}
	rk_map_release(&s->names);
	s->names = kept;
	s->names_full = kept.n > PF_MAX_NAMES / 2;
	return true;
}

int rk_pf_intern(struct pf_state *s, const struct pf_sequence *q, enum pf_intern kind, uint64_t iid,
		 const uint8_t *text, size_t len, struct rk_error *err)
{
	uint32_t id = 0;
	int rc;

	if (s->names.n >= PF_MAX_NAMES && !s->names_full && !forget_names(s))
		return rk_fail_nomem(err);
	if (s->names.n >= PF_MAX_NAMES) {
		rk_pf_warn(s, "name-limit", "too many interned names; some are left out");
		return 0;
	}
	if (kind == PF_ANNOTATION)
		rc = rk_pf_annotation(s, text, len, &id, err);
	else
		rc = rk_strtab_add(s->ctx->names, (const char *)text, len, &id, err);
	if (rc == 0 && !rk_map_put(&s->names, names_key(s, q, kind), iid, id))
		rc = rk_fail_nomem(err);
	return rc;
}

int64_t rk_pf_interned(const struct pf_state *s, const struct pf_sequence *q, enum pf_intern kind,
		       uint64_t iid)
{
	return rk_map_get(&s->names, names_key(s, q, kind), iid);
}
