/*
 * proton.c - profiles of Triton's Proton: trees (.hatchet) and Chrome traces.
 *
 * A tree is a JSON array of two: the root of the calling contexts, and the devices. A node has a frame
 * with its name, metrics, and children, in any order. Times are those of the node itself, not of its
 * children; there are no single rows, so each node with a time is a row of statistics. Names repeat,
 * once per context, and reports add them up.
 *
 * A trace has events of the categories kernel, scope and metric (a scope with values of the user). The
 * thread tells the lane: CPU threads, graph scopes above each stream, streams. Proton up to 3.5
 * wrote one document for each stream, with the stream as thread.
 *
 * Warnings besides those of JSON: "no-time".
 */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "read/kineto/chrome_json.h"

#define B(f) (UINT64_C(1) << (f))

/* ---- trees ---- */

enum { M_TIME, M_COUNT, M_CYCLES, M_NFIELDS };
static const struct rk_json_field metric_fields[M_NFIELDS] = {
	[M_TIME] = { "time (ns)", RK_JSON_AS_F64 },
	[M_COUNT] = { "count", RK_JSON_AS_F64 },
	[M_CYCLES] = { "cycles", RK_JSON_AS_F64 },
};
static const struct rk_json_field frame_fields[] = { { "name", RK_JSON_AS_TEXT } };

enum { D_ARCH, D_CORES, D_CLOCK, D_MEMORY_CLOCK, D_NFIELDS };
static const struct rk_json_field device_fields[D_NFIELDS] = {
	[D_ARCH] = { "arch", RK_JSON_AS_TEXT },
	[D_CORES] = { "num_sms", RK_JSON_AS_I64 },
	[D_CLOCK] = { "clock_rate", RK_JSON_AS_I64 }, /* kHz */
	[D_MEMORY_CLOCK] = { "memory_clock_rate", RK_JSON_AS_I64 },
};

struct node {
	uint32_t name;
	bool named;
	double time, count; /* NAN: unknown */
	bool cycles;
};

/* Each level of the tree is two of JSON. */
enum { MAX_DEPTH = RK_JSON_DEPTH_MAX / 2 };

struct tree_scan {
	struct rk_json_scan rows;
	enum rk_table table;
	bool open;          /* the array of the document */
	unsigned elements;  /* of it that were begun */
	struct node *nodes; /* from the root to the current one; MAX_DEPTH of them */
	unsigned depth;
	uint32_t kernel_id;
	uint64_t untimed; /* nodes with cycles and no time */
	struct rk_json_record frame, metrics, device;
	const char *id; /* of the device that is read */
	size_t id_len;
};

static int on_frame(void *arg, struct rk_json_record *r, struct rk_error *err)
{
	struct tree_scan *s = arg;
	struct node *n = &s->nodes[s->depth - 1];

	n->named = r->values[0].has == RK_JSON_HAS;
	return rk_strtab_add(s->rows.ctx->names, rk_json_record_text(r, 0),
			     n->named ? r->values[0].len : 0, &n->name, err);
}

static int on_metrics(void *arg, struct rk_json_record *r, struct rk_error *err)
{
	struct tree_scan *s = arg;
	struct node *n = &s->nodes[s->depth - 1];
	const struct rk_json_value *v = r->values;

	(void)err;
	for (unsigned i = M_TIME; i <= M_COUNT; i++)
		if (v[i].has != RK_JSON_HAS && v[i].has != RK_JSON_ABSENT)
			rk_json_count_wrong(&s->rows, i == M_TIME ? RK_T_TOTAL : RK_T_CALLS,
					    v[i].has);
	n->time = v[M_TIME].has == RK_JSON_HAS ? v[M_TIME].f : NAN;
	n->count = v[M_COUNT].has == RK_JSON_HAS ? v[M_COUNT].f : NAN;
	n->cycles = v[M_CYCLES].has == RK_JSON_HAS && v[M_CYCLES].f > 0;
	return 0;
}

static void put_rounded(struct tree_scan *s, unsigned field, double v)
{
	if (isnan(v))
		rk_json_put_null(&s->rows, field);
	else if (v >= 0 && v < 9e18)
		rk_json_put(&s->rows, field, llround(v));
	else
		rk_json_put_large(&s->rows, field);
}

/* The node is complete. Roots and scopes have no time of their own. */
static int add_node(struct tree_scan *s, const struct node *n, struct rk_error *err)
{
	bool mean = n->time >= 0 && n->count > 0;

	s->untimed += n->cycles && isnan(n->time);
	if (s->table != RK_STATS || isnan(n->time) || (n->time == 0 && !(n->count > 0)))
		return 0;
	rk_json_put_id(&s->rows, RK_T_OF, s->kernel_id);
	rk_json_put_id(&s->rows, RK_T_NAME, n->name);
	if (!n->named)
		rk_json_put_null(&s->rows, RK_T_NAME);
	put_rounded(s, RK_T_CALLS, n->count);
	put_rounded(s, RK_T_TOTAL, n->time);
	if (!mean)
		rk_json_put_null(&s->rows, RK_T_MEAN);
	else if (rk_json_wants(&s->rows, RK_T_MEAN))
		((double *)s->rows.col[RK_T_MEAN])[s->rows.b.nrows] = n->time / n->count;
	s->rows.b.nrows++;
	return s->rows.nomem ? rk_fail_nomem(err) : 0;
}

/* A key of a node was read. */
static int node_member(struct tree_scan *s, const struct rk_json_token *key, struct rk_error *err)
{
	struct rk_json_token tok;
	int kind;

	if (rk_text_ieq(key->text, key->len, "frame"))
		return rk_json_record_each(&s->frame, s->rows.json, on_frame, s, err);
	if (rk_text_ieq(key->text, key->len, "metrics"))
		return rk_json_record_each(&s->metrics, s->rows.json, on_metrics, s, err);
	if (!rk_text_ieq(key->text, key->len, "children"))
		return rk_json_skip_value(s->rows.json, err);
	kind = rk_json_next(s->rows.json, &tok, err);
	return kind == RK_JSON_OBJECT ? rk_json_skip_rest(s->rows.json, err) : kind;
}

static int on_device(void *arg, struct rk_json_record *r, struct rk_error *err)
{
	struct tree_scan *s = arg;
	const struct rk_json_value *v = r->values;
	const char *arch = rk_json_record_text(r, D_ARCH);
	size_t len = v[D_ARCH].has == RK_JSON_HAS ? v[D_ARCH].len : 0;
	int64_t id;
	int rc;

	if (s->table != RK_AGENTS || s->rows.b.nrows == s->rows.b.cap)
		return 0;
	if (rk_num_i64(s->id, s->id_len, &id) == RK_NUM_OK)
		rk_json_put(&s->rows, RK_G_DEVICE, id);
	else
		rk_json_put_null(&s->rows, RK_G_DEVICE);
	rk_json_put_value(&s->rows, RK_G_CU_COUNT, &v[D_CORES]);
	for (unsigned i = 0; i < 2; i++) {
		struct rk_json_value mhz = v[D_CLOCK + i];

		mhz.i /= 1000;
		rk_json_put_value(&s->rows, RK_G_MAX_SCLK + i, &mhz);
	}
	if ((rc = rk_json_put_word(&s->rows, RK_G_TYPE, "GPU", err)) < 0)
		return rc;
	if (rk_text_iprefix(arch, len, "gfx"))
		rc = rk_json_put_text(&s->rows, RK_G_GFX, arch, len, err);
	else
		rk_json_put_null(&s->rows, RK_G_GFX);
	s->rows.b.nrows++;
	return rc;
}

/* {"HIP": {"0": {...}}}; the outer object is open. */
static int read_devices(struct tree_scan *s, struct rk_error *err)
{
	struct rk_json *json = s->rows.json;
	struct rk_json_token tok;
	int kind, rc;

	while ((kind = rk_json_next(json, &tok, err)) == RK_JSON_KEY) {
		kind = rk_json_next(json, &tok, err);
		if (kind == RK_JSON_ARRAY)
			kind = rk_json_skip_rest(json, err);
		if (kind < 0)
			return kind;
		if (kind != RK_JSON_OBJECT)
			continue;
		while ((kind = rk_json_next(json, &tok, err)) == RK_JSON_KEY) {
			char id[24];

			s->id_len = tok.len < sizeof(id) ? tok.len : 0;
			memcpy(id, tok.text, s->id_len);
			s->id = id;
			rc = rk_json_record_each(&s->device, json, on_device, s, err);
			s->id = NULL;
			if (rc < 0)
				return rc;
		}
		if (kind < 0)
			return kind;
	}
	return kind;
}

/* Returns 1 to continue, 0 at the end of the document. */
static int tree_step(struct tree_scan *s, struct rk_error *err)
{
	struct rk_json *json = s->rows.json;
	struct rk_json_token tok;
	int rc = 0, kind = rk_json_next(json, &tok, err);

	switch (kind) {
	case RK_JSON_KEY:
		rc = node_member(s, &tok, err);
		break;
	case RK_JSON_OBJECT_END:
		if (s->depth)
			rc = add_node(s, &s->nodes[--s->depth], err);
		break;
	case RK_JSON_ARRAY:
		/* the first one is the document; a node or a device is never one */
		if (s->open)
			rc = rk_json_skip_rest(json, err);
		s->open = true;
		break;
	case RK_JSON_OBJECT:
		if (!s->depth && s->elements++) {
			rc = read_devices(s, err);
		} else if (s->depth == MAX_DEPTH) {
			rc = rk_json_skip_rest(json, err);
		} else {
			s->nodes[s->depth++] = (struct node){ .time = NAN, .count = NAN };
		}
		break;
	default:
		if (kind <= RK_JSON_END)
			return kind;
	}
	return rc < 0 ? rc : 1;
}

static int tree_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct tree_scan *s = (struct tree_scan *)base;
	struct rk_context *ctx = s->rows.ctx;
	int rc = s->rows.ended ? 0 : rk_reader_progress(s->rows.in, ctx, err);

	rk_builder_reset(&s->rows.b);
	while (rc >= 0 && !s->rows.ended && s->rows.b.nrows < s->rows.b.cap) {
		rc = tree_step(s, err);
		if (rc > 0)
			continue;
		rc = rk_json_scan_end(&s->rows, rc, err);
		if (s->untimed)
			rk_diag_most(ctx->diag, "no-time", rk_instream_path(s->rows.in), 0,
				     s->untimed, "nodes have cycles but no time; skipped");
	}
	if (rc < 0)
		return rc;
	return rk_json_scan_batch(&s->rows, batch);
}

static void tree_close(struct rk_source *base)
{
	struct tree_scan *s = (struct tree_scan *)base;

	rk_json_record_release(&s->frame);
	rk_json_record_release(&s->metrics);
	rk_json_record_release(&s->device);
	rk_json_scan_release(&s->rows);
	rk_free(s->nodes);
	rk_free(s);
}

static int tree_scan(struct rk_reader *base, enum rk_table t, uint64_t want, struct rk_source **ret,
		     struct rk_error *err)
{
	static const struct rk_source_ops ops = { .next = tree_next, .close = tree_close };
	static const uint64_t gives[RK_NTABLES] = {
		[RK_STATS] = B(RK_T_OF) | B(RK_T_NAME) | B(RK_T_CALLS) | B(RK_T_TOTAL) |
			     B(RK_T_MEAN),
		[RK_AGENTS] = B(RK_G_DEVICE) | B(RK_G_TYPE) | B(RK_G_GFX) | B(RK_G_CU_COUNT) |
			      B(RK_G_MAX_SCLK) | B(RK_G_MAX_MCLK),
	};
	struct rk_plain_reader *r = (struct rk_plain_reader *)base;
	struct tree_scan *s = rk_calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return rk_fail_nomem(err);
	s->table = t;
	s->rows.base.ops = &ops;
	rk_json_record_init(&s->frame, frame_fields, 1, UINT64_MAX);
	rk_json_record_init(&s->metrics, metric_fields, M_NFIELDS, UINT64_MAX);
	rk_json_record_init(&s->device, device_fields, D_NFIELDS, UINT64_MAX);
	s->nodes = rk_calloc(MAX_DEPTH, sizeof(*s->nodes));
	rc = s->nodes ? 0 : rk_fail_nomem(err);
	if (rc < 0 ||
	    (rc = rk_json_scan_init(&s->rows, r->in, r->ctx, t, want & gives[t], err)) < 0 ||
	    (rc = rk_strtab_adds(r->ctx->names, "kernel", &s->kernel_id, err)) < 0) {
		tree_close(&s->rows.base);
		return rc;
	}
	*ret = &s->rows.base;
	return 0;
}

/* An array whose first object has the members of a node. */
static int tree_probe(const struct rk_head *head)
{
	static const char *const marks[] = { "\"children\"", "\"frame\"", "\"metrics\"" };
	const char *p = rk_json_start(head->data, head->len), *end = head->data + head->len;

	if (!p || *p != '[')
		return 0;
	p = rk_json_start(p + 1, (size_t)(end - p - 1));
	if (!p || *p != '{')
		return 0;
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (!rk_chrome_has(p, (size_t)(end - p), marks[i]))
			return 0;
	return 93;
}

static int tree_open(const struct rk_reader_ops *ops, struct rk_instream *in,
		     struct rk_context *ctx, struct rk_reader **ret, struct rk_error *err)
{
	int rc = rk_plain_reader_open(ops, RK_TABLE_BIT(RK_STATS) | RK_TABLE_BIT(RK_AGENTS), in,
				      ctx, ret, err);

	if (rc >= 0)
		(*ret)->stats_of = "kernel";
	return rc;
}

const struct rk_reader_ops rk_reader_proton_tree = {
	.name = "proton-tree",
	.help = "trees of Triton's Proton (.hatchet): times by name",
	.probe = tree_probe,
	.open = tree_open,
	.scan = tree_scan,
	.close = rk_plain_reader_close,
	.serial = true,
};

/* ---- Chrome traces ---- */

enum { F_PH, F_CAT, F_NAME, F_TID, F_TS, F_DUR, F_NFIELDS };
static const struct rk_json_field fields[F_NFIELDS] = {
	[F_PH] = { "ph", RK_JSON_AS_TEXT },     [F_CAT] = { "cat", RK_JSON_AS_TEXT, true },
	[F_NAME] = { "name", RK_JSON_AS_TEXT }, [F_TID] = { "tid", RK_JSON_AS_I64 },
	[F_TS] = { "ts", RK_JSON_AS_MICRO },    [F_DUR] = { "dur", RK_JSON_AS_MICRO },
};

enum { GRAPH_LANES = 100000, STREAM_LANES = 200000 };

static enum rk_table trace_table(struct chrome_scan *s)
{
	if (rk_chrome_is(s, F_CAT, "kernel"))
		return RK_KERNELS;
	if (rk_chrome_is(s, F_CAT, "scope") || rk_chrome_is(s, F_CAT, "metric"))
		return RK_MARKERS;
	return RK_NTABLES;
}

static int trace_row(struct chrome_scan *s, struct rk_error *err)
{
	const struct rk_json_value *v = s->record.values;
	struct rk_json_value lane = v[F_TID];
	bool kernels = s->table == RK_KERNELS, graph;
	int rc;

	if (!rk_chrome_is(s, F_PH, "X"))
		return 0;
	rk_json_put_value(&s->rows, kernels ? RK_K_START : RK_R_START, &v[F_TS]);
	rk_json_put_value(&s->rows, kernels ? RK_K_DURATION : RK_R_DURATION, &v[F_DUR]);
	if (kernels) {
		if (lane.has == RK_JSON_HAS && lane.i >= STREAM_LANES)
			lane.i -= STREAM_LANES;
		rk_json_put_value(&s->rows, RK_K_STREAM, &lane);
		rk_json_put_id(&s->rows, RK_K_SOURCE, s->source_id);
		rk_json_put_id(&s->rows, RK_K_CLOCK, s->clock_id);
		rc = rk_chrome_put_text(s, RK_K_NAME, F_NAME, err);
	} else {
		graph = lane.has == RK_JSON_HAS && lane.i >= GRAPH_LANES && lane.i < STREAM_LANES;
		if (graph)
			lane.has = RK_JSON_ABSENT; /* it is above a stream, not on a thread */
		rk_json_put_value(&s->rows, RK_R_TID, &lane);
		rc = rk_json_put_word(&s->rows, RK_R_KIND, graph ? "gpu_range" : "range", err);
		if (rc >= 0)
			rc = rk_chrome_put_text(s, RK_R_NAME, F_NAME, err);
	}
	return rc < 0 ? rc : 1;
}

static const struct chrome_format format = {
	.source = "proton-trace",
	.clock = "unknown",
	.documents = true,
	.fields = fields,
	.nfields = F_NFIELDS,
	.gives = { [RK_KERNELS] = B(RK_K_NAME) | B(RK_K_START) | B(RK_K_DURATION) | B(RK_K_STREAM) |
				  B(RK_K_SOURCE) | B(RK_K_CLOCK),
		   [RK_MARKERS] = B(RK_R_NAME) | B(RK_R_KIND) | B(RK_R_START) | B(RK_R_DURATION) |
				  B(RK_R_TID) },
	.table_of = trace_table,
	.row = trace_row,
};

/* Its writer sorts keys and uses no blanks; other programs may format the file again. */
static int trace_probe(const struct rk_head *head)
{
	const char *p = rk_json_start(head->data, head->len);
	size_t left = p ? (size_t)(head->data + head->len - p) : 0;

	if (!p || *p != '{' || !rk_chrome_has(p, left, "\"traceEvents\""))
		return 0;
	if (!rk_chrome_has(p, left, "\"displayTimeUnit\":\"us\"") &&
	    !rk_chrome_has(p, left, "\"displayTimeUnit\": \"us\""))
		return 0;
	return rk_chrome_has(p, left, "\"call_stack\"") || rk_chrome_has(p, left, "\"GPU Stream ") ?
		       94 :
		       0;
}

const struct rk_reader_ops rk_reader_proton_trace = {
	.name = "proton-trace",
	.help = "Chrome traces of Triton's Proton",
	.probe = trace_probe,
	.open = rk_chrome_open,
	.scan = rk_chrome_scan,
	.close = rk_chrome_close,
	.format = &format,
	.serial = true,
	.precedence = RK_PRECEDENCE_JSON,
};
