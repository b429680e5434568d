/* json.c - the JSON file of rocprofv3: the walk, the first reading, the scans. */
#include "read/rocprofv3/json.h"

#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

extern const struct rk_reader_ops rk_reader_rocprofv3_json;

enum { ENDS_MAX = 1 << 16 };

struct v3j_reader {
	struct rk_reader base;
	struct rk_instream *in;
	struct rk_context *ctx;
	uint64_t *ends; /* where the value of each part ends, from the first reading */
	size_t nends, cap;
	bool counters_only; /* kernels are known from counter records alone */
	size_t nprocesses;
	bool late_names; /* some names come after the records that need them (keys were sorted) */
};

static const char top_key[] = "rocprofiler-sdk-tool";

static const struct {
	const char *key;
	enum v3j_part part;
} part_keys[] = {
	{ "metadata", V3J_METADATA },
	{ "agents", V3J_AGENTS },
	{ "counters", V3J_COUNTERS },
	{ "strings", V3J_STRINGS },
	{ "kernel_symbols", V3J_SYMBOLS },
	{ "counter_collection", V3J_COUNTER_COLLECTION },
	{ "kernel_dispatch", V3J_DISPATCHES },
	{ "memory_copy", V3J_COPIES },
	{ "memory_allocation", V3J_ALLOCATIONS },
	{ "scratch_memory", V3J_SCRATCH },
	{ "marker_api", V3J_MARKERS },
	{ "pc_sample_host_trap", V3J_PC_SAMPLES },
	{ "pc_sample_stochastic", V3J_PC_SAMPLES },
};

static enum v3j_part part_of(const struct rk_json_token *key, bool record)
{
	for (size_t i = 0; i < sizeof(part_keys) / sizeof(part_keys[0]); i++)
		if (record == (part_keys[i].part >= V3J_COUNTER_COLLECTION) &&
		    v3j_is(key, part_keys[i].key))
			return part_keys[i].part;
	/* hip_api, hsa_api, rccl_api, rocdecode_api, rocjpeg_api and later ones */
	if (record && rk_text_ends(key->text, key->len, "_api"))
		return V3J_API;
	return V3J_OTHER;
}

/* The next value must begin like this to be entered; else it is skipped. */
static int enter(struct v3j_walk *w, int want, unsigned level, struct rk_error *err)
{
	struct rk_json_token tok;
	int kind = rk_json_next(w->json, &tok, err);

	if (kind == want)
		w->level = level;
	else if (kind == RK_JSON_OBJECT || kind == RK_JSON_ARRAY)
		kind = rk_json_skip_rest(w->json, err);
	return kind < 0 ? kind : 0;
}

static int on_key(struct v3j_walk *w, const struct rk_json_token *key, enum v3j_part *part,
		  struct rk_error *err)
{
	if (w->level == 1 && v3j_is(key, top_key))
		return enter(w, RK_JSON_ARRAY, 2, err);
	if (w->level == 1)
		return rk_json_skip_value(w->json, err);
	if (w->level == 3 && (v3j_is(key, "buffer_records") || v3j_is(key, "callback_records")))
		return enter(w, RK_JSON_OBJECT, 4, err);
	*part = part_of(key, w->level == 4);
	w->nth++;
	return 1;
}

/* 1: *part; 0: the document has ended; < 0: error. The caller reads the value before the next call. */
static int walk(struct v3j_walk *w, enum v3j_part *part, struct rk_error *err)
{
	struct rk_json_token tok;
	int rc = 0;

	while (rc == 0) {
		int kind = rk_json_next(w->json, &tok, err);

		if (kind <= RK_JSON_END)
			return kind;
		if (kind == RK_JSON_KEY) {
			rc = on_key(w, &tok, part, err);
		} else if (kind == RK_JSON_OBJECT_END || kind == RK_JSON_ARRAY_END) {
			w->level--;
		} else if (kind == RK_JSON_OBJECT && (w->level == 0 || w->level == 2)) {
			w->level++;
			*part = V3J_PROCESS;
			rc = w->level == 3;
		} else if (kind == RK_JSON_OBJECT || kind == RK_JSON_ARRAY) {
			rc = rk_json_skip_rest(w->json, err);
		}
	}
	return rc;
}

/* ---- the first reading: which tables have rows, and where parts end ---- */

/* Skips the part's value; returns whether it is not empty. */
static int look_inside(struct rk_json *j, bool *rows, struct rk_error *err)
{
	struct rk_json_token tok;
	int kind = rk_json_next(j, &tok, err);

	*rows = kind == RK_JSON_OBJECT;
	if (kind == RK_JSON_OBJECT)
		return rk_json_skip_rest(j, err);
	if (kind != RK_JSON_ARRAY)
		return kind < 0 ? kind : 0;
	kind = rk_json_next(j, &tok, err);
	*rows = kind > 0 && kind != RK_JSON_ARRAY_END;
	if (kind == RK_JSON_OBJECT || kind == RK_JSON_ARRAY)
		kind = rk_json_skip_rest(j, err);
	if (kind < 0 || !*rows)
		return kind < 0 ? kind : 0;
	return rk_json_skip_rest(j, err);
}

#define NAMES                                                                  \
	(V3J_BIT(V3J_METADATA) | V3J_BIT(V3J_AGENTS) | V3J_BIT(V3J_COUNTERS) | \
	 V3J_BIT(V3J_STRINGS) | V3J_BIT(V3J_SYMBOLS))

static bool is_records(enum v3j_part part)
{
	return part >= V3J_COUNTER_COLLECTION && part < V3J_OTHER;
}

static int look_through(struct v3j_reader *r, struct rk_json *j, uint32_t *parts,
			struct rk_error *err)
{
	struct v3j_walk w = { .json = j };
	enum v3j_part part;
	uint64_t *ends;
	bool records = false;
	int rc;

	while ((rc = walk(&w, &part, err)) > 0) {
		bool rows = false;

		if (part == V3J_PROCESS) {
			r->nprocesses++;
			records = false;
			continue;
		}
		rc = look_inside(j, &rows, err);
		if (rows)
			*parts |= V3J_BIT(part);
		if (records && NAMES & V3J_BIT(part))
			r->late_names = true;
		records |= rows && is_records(part);
		if (rc < 0)
			return rc;
		/* parts past the limit are skipped by reading them */
		if (r->nends < ENDS_MAX) {
			ends = rk_grow(r->ends, &r->cap, r->nends + 1, sizeof(*ends));
			if (!ends)
				return rk_fail_nomem(err);
			r->ends = ends;
			r->ends[r->nends++] = rk_json_offset(j);
		}
	}
	return rc;
}

static int first_look(struct v3j_reader *r, struct rk_error *err)
{
	struct rk_json *j = NULL;
	uint32_t parts = 0;
	int rc = rk_instream_rewind(r->in, err);

	if (rc == 0)
		rc = rk_json_new(r->in, &j, err);
	if (rc == 0)
		rc = look_through(r, j, &parts, err);
	if (j)
		rc = rk_json_stream_end(j, r->in, r->ctx, rc, err);
	rk_json_free(j);
	for (const struct v3j_table *t = rk_v3j_tables; t->row; t++)
		if (parts & t->parts)
			r->base.tables |= RK_TABLE_BIT(t->table);
	if (!r->base.tables)
		r->base.tables = RK_TABLE_BIT(RK_KERNELS);
	r->counters_only = !(parts & V3J_BIT(V3J_DISPATCHES));
	if (rc == 0 && r->late_names && r->nprocesses > 1)
		rk_diag_most(r->ctx->diag, "late-names", rk_instream_path(r->in), 0, 1,
			     "names come after the records of several processes; left empty");
	return rc;
}

/* ---- the reader ---- */

static int v3j_probe(const void *head, size_t len, bool whole, const char *file_name)
{
	const char *p = head, *end = p + len;

	(void)whole;
	(void)file_name;
	if (len >= 3 && !memcmp(p, "\xef\xbb\xbf", 3))
		p += 3;
	while (p < end && strchr(" \t\r\n", *p) && *p)
		p++;
	if (p == end || *p != '{')
		return 0;
	if (!memmem(p, (size_t)(end - p), "\"rocprofiler-sdk-tool\"", sizeof(top_key) + 1))
		return 0;
	return 95;
}

static void v3j_close(struct rk_reader *base)
{
	struct v3j_reader *r = (struct v3j_reader *)base;

	rk_instream_close(r->in);
	rk_free(r->ends);
	rk_free(r);
}

static int v3j_open(struct rk_instream *in, struct rk_context *ctx, struct rk_reader **ret,
		    struct rk_error *err)
{
	struct v3j_reader *r = rk_calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return rk_fail_nomem(err);
	r->base.ops = &rk_reader_rocprofv3_json;
	r->in = in;
	r->ctx = ctx;
	rc = rk_instream_keep(in, ctx->tmpdir, err); /* a pipe: it will be read again */
	if (rc == 0)
		rc = first_look(r, err);
	if (rc < 0) {
		r->in = NULL; /* the caller's on failure */
		v3j_close(&r->base);
		return rc;
	}
	*ret = &r->base;
	return 0;
}

static int read_row(struct v3j_scan *s, struct rk_error *err)
{
	int rc = rk_json_record_read(&s->record, s->walk.json, err);

	if (rc == 0)
		rc = s->table->row(s, err);
	if (rc > 0)
		s->rows.b.nrows++;
	if (rc >= 0 && s->rows.nomem)
		rc = rk_fail_nomem(err);
	return rc < 0 ? rc : 0;
}

/* A part begins: with a list of records, or as one record. Or in the list: the next one, or its end. */
static int next_record(struct v3j_scan *s, struct rk_error *err)
{
	struct rk_json_token tok;
	int kind = rk_json_next(s->walk.json, &tok, err);

	if (kind == RK_JSON_OBJECT)
		return read_row(s, err);
	if (!s->in_part)
		s->in_part = kind == RK_JSON_ARRAY;
	else if (kind == RK_JSON_ARRAY)
		return rk_json_skip_rest(s->walk.json, err);
	else
		s->in_part = kind != RK_JSON_ARRAY_END;
	return kind < 0 ? kind : 0;
}

static int skip_part(struct v3j_scan *s, struct rk_error *err)
{
	size_t i = s->walk.nth - 1;

	if (i < s->r->nends)
		return rk_json_jump(s->walk.json, s->r->ends[i], err);
	return rk_json_skip_value(s->walk.json, err);
}

/* Moves to the next part; 0 at the end of the document. */
static int next_part(struct v3j_scan *s, struct rk_error *err)
{
	int rc = walk(&s->walk, &s->part, err);

	if (rc <= 0)
		return rc;
	if (s->part == V3J_PROCESS) {
		if (!s->names_ready)
			rk_v3j_names_clear(&s->names);
		s->in_records = false;
		return 1;
	}
	if (s->table->parts & V3J_BIT(s->part)) {
		s->in_records |= is_records(s->part);
		rc = next_record(s, err);
	} else if (s->table->names & V3J_BIT(s->part) && !s->names_ready && !s->in_records) {
		rc = rk_v3j_names_read(&s->names, s->walk.json, s->part, s->table->strings, err);
	} else {
		rc = skip_part(s, err);
	}
	return rc < 0 ? rc : 1;
}

/* 1: continue, 0: end of the document. */
static int step(struct v3j_scan *s, struct rk_error *err)
{
	int rc;

	if (s->sums_given < s->nsums)
		rc = rk_v3j_counter_row(s, err);
	else if (s->in_part)
		rc = next_record(s, err);
	else
		return next_part(s, err);
	return rc < 0 ? rc : 1;
}

static int v3j_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct v3j_scan *s = (struct v3j_scan *)base;
	int rc = s->rows.ended ? 0 : rk_reader_progress(s->rows.in, s->rows.ctx, err);

	rk_builder_reset(&s->rows.b);
	while (rc >= 0 && !s->rows.ended && s->rows.b.nrows < s->rows.b.cap) {
		rc = step(s, err);
		if (rc <= 0)
			rc = rk_json_scan_end(&s->rows, rc, err);
	}
	if (rc < 0)
		return rc;
	if (s->rows.ended)
		rk_v3j_names_tell(&s->names, rk_instream_path(s->rows.in));
	return rk_json_scan_batch(&s->rows, batch);
}

static void v3j_source_close(struct rk_source *base)
{
	struct v3j_scan *s = (struct v3j_scan *)base;

	rk_v3j_names_clear(&s->names);
	rk_json_record_release(&s->record);
	rk_json_scan_release(&s->rows);
	rk_free(s->sums);
	rk_free(s);
}

static const struct rk_source_ops v3j_source_ops = { .next = v3j_next, .close = v3j_source_close };

static const struct v3j_table *table_of(const struct v3j_reader *r, enum rk_table t)
{
	const struct v3j_table *made = rk_v3j_tables;
	uint32_t without = r->counters_only ? V3J_BIT(V3J_DISPATCHES) : 0;

	while (made->table != t || made->parts & without)
		made++;
	return made;
}

static uint64_t record_fields(const struct v3j_table *t, uint64_t want)
{
	uint64_t fields = 0;

	for (unsigned i = 0; i < t->nfields; i++)
		if (t->serves[i] & want)
			fields |= UINT64_C(1) << i;
	return fields;
}

/* A file with sorted keys: its names are read first, separately. */
static int read_names(struct v3j_scan *s, struct rk_error *err)
{
	struct rk_json *j = s->walk.json;
	int rc;

	while ((rc = walk(&s->walk, &s->part, err)) > 0) {
		if (s->part == V3J_PROCESS)
			continue;
		if (s->table->names & V3J_BIT(s->part))
			rc = rk_v3j_names_read(&s->names, j, s->part, s->table->strings, err);
		else
			rc = skip_part(s, err);
		if (rc < 0)
			break;
	}
	rc = rc < 0 ? rk_json_stream_end(j, s->rows.in, s->rows.ctx, rc, err) : 0;
	rk_json_free(j);
	s->rows.json = NULL;
	if (rc == 0)
		rc = rk_instream_rewind(s->rows.in, err);
	if (rc == 0)
		rc = rk_json_new(s->rows.in, &s->rows.json, err);
	s->walk = (struct v3j_walk){ .json = s->rows.json };
	s->names_ready = true;
	return rc;
}

static int open_scan(struct v3j_scan *s, enum rk_table t, uint64_t want, struct rk_error *err)
{
	static const char source[] = "rocprofv3-json", clock[] = "boottime";
	struct rk_strtab *names = s->r->ctx->names;
	int rc = rk_json_scan_init(&s->rows, s->r->in, s->r->ctx, t, want & s->table->gives, err);

	s->walk.json = s->rows.json;
	rk_json_record_init(&s->record, s->table->fields, s->table->nfields,
			    record_fields(s->table, want));
	s->record.arg = s;
	s->record.list = rk_v3j_read_sums;
	if (rc == 0)
		rc = rk_strtab_add(names, source, sizeof(source) - 1, &s->source_id, err);
	if (rc == 0)
		rc = rk_strtab_add(names, clock, sizeof(clock) - 1, &s->clock_id, err);
	if (rc == 0 && s->r->late_names && s->r->nprocesses == 1)
		rc = read_names(s, err);
	return rc;
}

static int v3j_scan_open(struct rk_reader *base, enum rk_table t, uint64_t want,
			 struct rk_source **ret, struct rk_error *err)
{
	struct v3j_reader *r = (struct v3j_reader *)base;
	struct v3j_scan *s = rk_calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return rk_fail_nomem(err);
	s->r = r;
	s->rows.base.ops = &v3j_source_ops;
	s->names.ctx = r->ctx;
	rk_v3j_names_clear(&s->names);
	s->table = table_of(r, t);
	rc = open_scan(s, t, want, err);
	if (rc < 0) {
		v3j_source_close(&s->rows.base);
		return rc;
	}
	*ret = &s->rows.base;
	return 0;
}

const struct rk_reader_ops rk_reader_rocprofv3_json = {
	.name = "rocprofv3-json",
	.help = "JSON file of rocprofv3 (_results.json), ROCm 6.2 to 10.0",
	.probe = v3j_probe,
	.open = v3j_open,
	.scan = v3j_scan_open,
	.close = v3j_close,
	.serial = true,
	.precedence = RK_PRECEDENCE_JSON,
};
