/* json.c - the JSON file of rocprofv3: walking the document, the first reading, the scans. */
#include "read/rocprofv3/json.h"

#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

enum { ENDS_MAX = 1 << 16 };

struct v3j_reader {
	struct rk_reader base;
	struct rk_instream *in;
	struct rk_context *ctx;
	uint64_t *ends; /* end of each part's value, from the first reading */
	size_t nends, cap;
	bool counters_only; /* kernels are only known from counter records */
	size_t nprocesses;
	bool late_names; /* some names come after the records that need them (sorted keys) */
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
	/* hip_api, hsa_api, rccl_api, rocdecode_api, rocjpeg_api and future ones */
	if (record && rk_text_ends(key->text, key->len, "_api"))
		return V3J_API;
	return V3J_OTHER;
}

/* Enters the next value if it is of this kind; otherwise skips it. */
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

/*
 * Returns 1 and *part, 0 at the end of the document, < 0 on error. The caller must read the value
 * before the next call.
 */
static int walk(struct v3j_walk *w, enum v3j_part *part, struct rk_error *err)
{
	struct rk_json_token tok;
	int rc = 0;

	while (rc == 0) {
		int kind = rk_json_next(w->json, &tok, err);

		if (kind <= RK_JSON_END)
			return kind;
		if (kind == RK_JSON_KEY && w->level == 1) {
			if (v3j_is(&tok, top_key))
				rc = enter(w, RK_JSON_ARRAY, 2, err);
			else
				rc = rk_json_skip_value(w->json, err);
		} else if (kind == RK_JSON_KEY && w->level == 3 &&
			   (v3j_is(&tok, "buffer_records") || v3j_is(&tok, "callback_records"))) {
			rc = enter(w, RK_JSON_OBJECT, 4, err);
		} else if (kind == RK_JSON_KEY) {
			*part = part_of(&tok, w->level == 4);
			w->nth++;
			rc = 1;
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

/* ---- the first reading: which tables have rows, and where the parts end ---- */

/* Skips the part's value; *rows: it is not empty. */
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

static int first_look(struct v3j_reader *r, struct rk_error *err)
{
	struct v3j_walk w = { 0 };
	enum v3j_part part;
	uint32_t parts = 0;
	uint64_t *ends;
	bool records = false;
	int rc;

	rc = rk_instream_rewind(r->in, err);
	if (rc < 0)
		return rc;
	rc = rk_json_new(r->in, &w.json, err);
	if (rc < 0)
		return rc;
	while ((rc = walk(&w, &part, err)) > 0) {
		bool rows = false;

		if (part == V3J_PROCESS) {
			r->nprocesses++;
			records = false;
			continue;
		}
		rc = look_inside(w.json, &rows, err);
		if (rows)
			parts |= V3J_BIT(part);
		if (records && NAMES & V3J_BIT(part))
			r->late_names = true;
		records |= rows && is_records(part);
		if (rc < 0)
			break;
		if (r->nends == ENDS_MAX)
			continue; /* parts beyond the limit are skipped by reading them */
		ends = rk_grow(r->ends, &r->cap, r->nends + 1, sizeof(*ends));
		if (!ends) {
			rc = rk_fail_nomem(err);
			break;
		}
		r->ends = ends;
		r->ends[r->nends++] = rk_json_offset(w.json);
	}
	rc = rk_json_stream_end(w.json, r->in, r->ctx, rc, err);
	rk_json_free(w.json);
	if (rc < 0)
		return rc;

	for (const struct v3j_table *t = rk_v3j_tables; t->row; t++)
		if (parts & t->parts)
			r->base.tables |= RK_TABLE_BIT(t->table);
	if (!r->base.tables)
		r->base.tables = RK_TABLE_BIT(RK_KERNELS);
	r->counters_only = !(parts & V3J_BIT(V3J_DISPATCHES));
	if (r->late_names && r->nprocesses > 1)
		rk_diag_most(r->ctx->diag, "late-names", rk_instream_path(r->in), 0, 1,
			     "names come after the records of several processes; left empty");
	return 0;
}

/* ---- the reader ---- */

static int v3j_probe(const struct rk_head *head)
{
	const char *p = rk_json_start(head->data, head->len), *end = head->data + head->len;

	if (!p || *p != '{' ||
	    !memmem(p, (size_t)(end - p), "\"rocprofiler-sdk-tool\"", sizeof(top_key) + 1))
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

static int v3j_open(const struct rk_reader_ops *ops, struct rk_instream *in, struct rk_context *ctx,
		    struct rk_reader **ret, struct rk_error *err)
{
	struct v3j_reader *r = rk_calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return rk_fail_nomem(err);
	r->base.ops = ops;
	r->in = in;
	r->ctx = ctx;
	/* a pipe is buffered, because we read it again */
	if ((rc = rk_instream_keep(in, ctx->tmpdir, err)) < 0 || (rc = first_look(r, err)) < 0) {
		r->in = NULL; /* on failure it still belongs to the caller */
		v3j_close(&r->base);
		return rc;
	}
	*ret = &r->base;
	return 0;
}

/*
 * At the beginning of a part: a list of records, or one record. Inside the list: the next record,
 * or the end.
 */
static int next_record(struct v3j_scan *s, struct rk_error *err)
{
	struct rk_json_token tok;
	int rc, kind = rk_json_next(s->walk.json, &tok, err);

	if (kind == RK_JSON_OBJECT) {
		rc = rk_json_record_read(&s->record, s->walk.json, err);
		if (rc < 0)
			return rc;
		rc = s->table->row(s, err);
		if (rc < 0)
			return rc;
		s->rows.b.nrows += (size_t)rc;
		return s->rows.nomem ? rk_fail_nomem(err) : 0;
	}
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

/*
 * Handles a row of counters, a record, or the beginning of a part. Returns 1 to continue, 0 at the
 * end of the document.
 */
static int step(struct v3j_scan *s, struct rk_error *err)
{
	int rc;

	if (s->sums_given < s->nsums) {
		rc = rk_v3j_counter_row(s, err);
		return rc < 0 ? rc : 1;
	}
	if (s->in_part) {
		rc = next_record(s, err);
		return rc < 0 ? rc : 1;
	}
	rc = walk(&s->walk, &s->part, err);
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

/* For a file with sorted keys: reads the names first, separately. */
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
	if (rc < 0)
		rc = rk_json_stream_end(j, s->rows.in, s->rows.ctx, rc, err);
	rk_json_free(j);
	s->rows.json = NULL;
	if (rc < 0 || (rc = rk_instream_rewind(s->rows.in, err)) < 0 ||
	    (rc = rk_json_new(s->rows.in, &s->rows.json, err)) < 0)
		return rc;
	s->walk = (struct v3j_walk){ .json = s->rows.json };
	s->names_ready = true;
	return 0;
}

static int v3j_scan_open(struct rk_reader *base, enum rk_table t, uint64_t want,
			 struct rk_source **ret, struct rk_error *err)
{
	struct v3j_reader *r = (struct v3j_reader *)base;
	struct v3j_scan *s = rk_calloc(1, sizeof(*s));
	const struct v3j_table *table = rk_v3j_tables;
	uint32_t without = r->counters_only ? V3J_BIT(V3J_DISPATCHES) : 0;
	uint64_t fields = 0;
	int rc;

	if (!s)
		return rk_fail_nomem(err);
	while (table->table != t || table->parts & without)
		table++;
	for (unsigned i = 0; i < table->nfields; i++)
		if (table->fields[i].serves & want)
			fields |= UINT64_C(1) << i;
	s->r = r;
	s->rows.base.ops = &v3j_source_ops;
	s->names.ctx = r->ctx;
	rk_v3j_names_clear(&s->names);
	s->table = table;
	rk_json_record_init(&s->record, table->fields, table->nfields, fields);
	s->record.arg = s;
	s->record.list = rk_v3j_read_sums;

	rc = rk_json_scan_init(&s->rows, r->in, r->ctx, t, want & table->gives, err);
	if (rc < 0)
		goto out;
	s->walk.json = s->rows.json;
	if ((rc = rk_strtab_adds(r->ctx->names, "rocprofv3-json", &s->source_id, err)) < 0 ||
	    (rc = rk_strtab_adds(r->ctx->names, "boottime", &s->clock_id, err)) < 0)
		goto out;
	if (r->late_names && r->nprocesses == 1)
		rc = read_names(s, err);
out:
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
