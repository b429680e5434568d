/* html_page.c - see html_page.h. */
#include "html/html_page.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/secrets.h"
#include "base/sha256/sha256.h"
#include "base/text.h"
#include "metrics/metrics_parts.h"
#include "report/report_parts.h"
#include "rockit/ranks.h"
#include "rockit/rockit.h"

/* A module must come after those that it imports. */
static const char *const modules[] = {
	"format.js",   "codec.js",   "colors.js",   "view.js",   "pyramid.js",  "blocks.js",
	"table.js",    "plot.js",    "lanes.js",    "curves.js", "timeline.js", "roofline.js",
	"sections.js", "metrics.js", "hotspots.js", "ranks.js",  "report.js",
};

/* A file of web/, or NULL. */
static const struct rk_data_file *find_file(const char *name)
{
	for (const struct rk_data_file *f = rk_web_files; f->name; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	return NULL;
}

static bool begins(const char *line, size_t len, const char *word)
{
	size_t n = strlen(word);

	return len >= n && memcmp(line, word, n) == 0;
}

/*
 * Assumes that each import is on a line of its own, nothing is exported by default or under another
 * name, and no string spans two lines.
 */
void rk_html_script(struct rk_bytes *out)
{
	rk_bytes_puts(out, "(() => {\n\"use strict\";\n");
	for (size_t i = 0; i < sizeof(modules) / sizeof(*modules); i++) {
		const struct rk_data_file *f = find_file(modules[i]);

		for (const char *line = f ? f->text : NULL; f && line < f->text + f->len;) {
			size_t left = (size_t)(f->text + f->len - line);
			const char *stop = memchr(line, '\n', left);
			size_t len = stop ? (size_t)(stop - line) + 1 : left;
			const char *next = line + len;

			for (; len && *line == '\t'; len--)
				line++;
			if (begins(line, len, "export "))
				rk_bytes_put(out, line + 7, len - 7);
			else if (!begins(line, len, "import "))
				rk_bytes_put(out, line, len);
			line = next;
		}
	}
	rk_bytes_puts(out, "})();\n");
}

void rk_html_hash(struct rk_bytes *out, const void *p, size_t len)
{
	uint8_t sum[RK_SHA256_BYTES];

	rk_sha256(p, len, sum);
	rk_bytes_puts(out, "sha256-");
	rk_base64_put(out, sum, sizeof(sum));
}

/* ---- escaping, and the summary for browsers without JavaScript ---- */

enum { SHOWN = 20, NAME_MAX_BYTES = 400 };

void rk_html_text(struct rk_bytes *out, const char *s)
{
	static const char *const entities[128] = {
		['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;",
	};
	struct rk_bytes plain;

	/* escape control and direction characters, as for a terminal */
	rk_bytes_init(&plain, out->max);
	rk_put_printable(&plain, s, strlen(s), true);
	out->bad = out->bad || plain.bad;
	for (size_t i = 0; i < plain.len; i++) {
		uint8_t c = plain.data[i];

		if (c < 128 && entities[c])
			rk_bytes_puts(out, entities[c]);
		else
			rk_bytes_put_u8(out, c);
	}
	rk_bytes_release(&plain);
}

static void put_summary(struct rk_bytes *out, const struct rk_report *r)
{
	size_t n = rk_min(r->kernels.nrows, SHOWN);

	rk_bytes_puts(out, "<noscript>\n<p>This page needs JavaScript, which is disabled. "
			   "Kernels by time:</p>\n<table>\n"
			   "<tr><th>Time%</th><th>Total</th><th>Calls</th><th>Kernel</th></tr>\n");
	for (size_t i = 0; i < n; i++) {
		const struct rk_report_row *row = &r->kernels.rows[i];
		bool cut = strlen(row->name) > NAME_MAX_BYTES;
		char name[NAME_MAX_BYTES + 1];

		rk_bytes_puts(out, "<tr><td>");
		if (row->timed && !row->barrier)
			rk_bytes_printf(out, "%.2f", row->percent);
		rk_bytes_puts(out, "</td><td>");
		if (row->timed)
			rk_put_duration(out, (double)row->total_ns);
		rk_bytes_puts(out, "</td><td>");
		rk_put_grouped(out, row->calls);
		rk_bytes_puts(out, "</td><td>");
		if (cut)
			snprintf(name, sizeof(name), "%.*s",
				 (int)rk_utf8_valid(row->name, NAME_MAX_BYTES), row->name);
		rk_html_text(out, cut ? name : row->name);
		rk_bytes_puts(out, cut ? "\xe2\x80\xa6</td></tr>\n" : "</td></tr>\n");
	}
	rk_bytes_printf(out, "</table>\n<p>%zu of %zu names.</p>\n</noscript>\n", n,
			r->kernels.nrows);
}

/* ---- the timeline as JSON: lanes, names, curves ---- */

static const char *const kind_words[RK_NLANE_KINDS] = { "kernels", "copies", "markers" };

/* ---- order ---- */

struct place {
	uint32_t index;
	const char *node;
	const struct rk_lane *lane;
};

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int by_place(const void *pa, const void *pb)
{
	const struct place *x = pa, *y = pb;
	const struct rk_lane_key *a = &x->lane->key, *b = &y->lane->key;
	int order;

	if ((order = compare(x->lane->folded, y->lane->folded)) != 0 ||
	    (order = strcmp(x->node, y->node)) != 0 || (order = compare(a->rank, b->rank)) != 0 ||
	    (order = compare(x->lane->kind != RK_LANE_MARKERS, y->lane->kind != RK_LANE_MARKERS)) !=
		    0 ||
	    (order = compare(a->device, b->device)) != 0 ||
	    (order = compare(x->lane->kind, y->lane->kind)) != 0 ||
	    (order = compare(a->pid, b->pid)) != 0 || (order = compare(a->queue, b->queue)) != 0)
		return order;
	return compare(a->stream, b->stream);
}

/* Lanes in the order of the page; freed by rk_free. */
static int order_lanes(const struct rk_html_page *p, uint32_t **ret, struct rk_error *err)
{
	const struct rk_lanes_result lanes = rk_lanes_result(p->lanes);
	size_t n = lanes.n;
	struct place *places = rk_calloc(n + 1, sizeof(*places));
	uint32_t *order = rk_calloc(n + 1, sizeof(*order));

	if (!places || !order) {
		rk_free(places);
		rk_free(order);
		return rk_fail_nomem(err);
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct rk_lane *lane = &lanes.v[i];

		places[i] = (struct place){ i, rk_strtab_borrow(p->strings, lane->key.node, NULL),
					    lane };
	}
	qsort(places, n, sizeof(*places), by_place);
	for (size_t i = 0; i < n; i++)
		order[i] = places[i].index;
	rk_free(places);
	*ret = order;
	return 0;
}

/* ---- JSON ---- */

static void known(struct rk_json_out *j, const char *key, int64_t v)
{
	if (v >= 0)
		rk_json_int(j, key, v);
}

static void put_lane(struct rk_json_out *j, const struct rk_html_page *p,
		     const struct rk_lane *lane)
{
	const char *node = rk_strtab_borrow(p->strings, lane->key.node, NULL);

	rk_json_object_flat(j, NULL);
	rk_json_text(j, "kind", kind_words[lane->kind]);
	rk_json_bool(j, "folded", lane->folded);
	if (node[0])
		rk_json_text(j, "node", node);
	if (!lane->folded) {
		known(j, "rank", lane->key.rank);
		known(j, "device", lane->key.device);
		known(j, "pid", lane->key.pid);
		known(j, lane->kind == RK_LANE_MARKERS ? "thread" : "queue", lane->key.queue);
		known(j, "stream", lane->key.stream);
	}
	rk_json_uint(j, "rows", lane->rows);
	rk_json_uint(j, "depth", lane->depth);
	rk_json_close(j);
}

/* [lane, start, duration] by name; lane is an index in `order`. */
static void put_longest(struct rk_json_out *j, const struct rk_html_page *p, const uint32_t *place,
			int64_t origin)
{
	rk_json_array_flat(j, "longest");
	for (uint32_t i = 0; i < p->names->count; i++) {
		const struct rk_lane_longest *l = rk_lanes_longest(p->lanes, i);

		if (l->duration < 0) {
			rk_json_null(j, NULL);
			continue;
		}
		rk_json_array(j, NULL);
		rk_json_uint(j, NULL, place[l->lane]);
		rk_json_int(j, NULL, l->start - origin);
		rk_json_int(j, NULL, l->duration);
		rk_json_close(j);
	}
	rk_json_close(j);
}

static int timeline_json(const struct rk_html_page *p, const uint32_t *order, int64_t origin,
			 int64_t end, struct rk_bytes *out, struct rk_error *err)
{
	const struct rk_html_names *names = p->names;
	const struct rk_lanes_result lanes = rk_lanes_result(p->lanes);
	uint32_t *place = rk_calloc(lanes.n + 1, sizeof(*place));
	struct rk_json_out j;
	char text[32];

	if (!place)
		return rk_fail_nomem(err);
	rk_json_begin(&j, out);
	rk_json_int(&j, "schema", 1);
	rk_json_text(&j, "rockit", ROCKIT_VERSION);
	rk_json_text(&j, "title", p->title);
	/* as text, because JavaScript would round it */
	snprintf(text, sizeof(text), "%lld", (long long)origin);
	rk_json_text(&j, "origin_ns", text);
	rk_json_int(&j, "span_ns", end - origin);
	if (p->report->timed)
		rk_json_int(&j, "kernel_span_ns", (int64_t)rk_report_span_ns(p->report));
	rk_json_uint(&j, "blocks", lanes.nblocks);
	rk_json_uint(&j, "folded_rows", lanes.folded);
	rk_json_uint(&j, "left_out_rows", lanes.left_out);
	rk_json_uint(&j, "left_out_samples", p->curves->left_out);
	rk_json_uint(&j, "left_out_ranks", p->left_out_ranks);

	rk_json_array(&j, "lanes");
	for (uint32_t i = 0; i < lanes.n; i++) {
		put_lane(&j, p, &lanes.v[order[i]]);
		place[order[i]] = i;
	}
	rk_json_close(&j);
	rk_json_object(&j, "names");
	for (unsigned k = 0; k < RK_NLANE_KINDS; k++) {
		rk_json_array_flat(&j, kind_words[k]);
		for (size_t i = 0; i < names->n[k]; i++)
			rk_json_uint(&j, NULL, names->of[k][i]);
		rk_json_close(&j);
	}
	rk_json_uint(&j, "count", names->count);
	rk_json_close(&j);
	put_longest(&j, p, place, origin);
	rk_curves_json(&j, p->curves, p->strings, origin);
	rk_json_end(&j);
	rk_free(place);
	return 0;
}

/* ---- the page ---- */

enum { PART_MAX = 1 << 30 };

struct page {
	const struct rk_html_page *p;
	struct rk_output *out;
	struct rk_bytes style, script;
	struct rk_bytes part, json, plain; /* scratch */
};

static int flush(struct page *g, struct rk_error *err)
{
	int rc;

	if (g->part.bad)
		rc = rk_fail_nomem(err);
	else
		rc = rk_output_write(g->out, g->part.data, g->part.len, err);
	rk_bytes_clear(&g->part);
	return rc;
}

static int put_document(struct page *g, const char *id, const char *json, size_t len,
			struct rk_error *err)
{
	struct rk_bytes *plain = &g->plain;

	rk_bytes_clear(plain);
	if (g->p->hide) {
		rk_redact_json(plain, json, len, json == g->p->run, g->p->hide);
		if (plain->bad)
			return rk_fail_nomem(err);
		json = (const char *)plain->data;
		len = plain->len;
	}
	rk_bytes_printf(&g->part, "<script type=\"application/json\" id=\"%s\">", id);
	for (size_t i = 0; i < len; i++) {
		if (json[i] == '<') /* it occurs only in strings */
			rk_bytes_puts(&g->part, "\\u003c");
		else
			rk_bytes_put_u8(&g->part, (uint8_t)json[i]);
	}
	rk_bytes_puts(&g->part, "</script>\n");
	return flush(g, err);
}

static int put_json(struct page *g, const char *id, struct rk_error *err)
{
	int rc;

	if (g->json.bad)
		rc = rk_fail_nomem(err);
	else
		rc = put_document(g, id, (const char *)g->json.data, g->json.len, err);
	rk_bytes_clear(&g->json);
	return rc;
}

/* The document of `rockit report --format json`, with a limited number of names. */
static int put_report(struct page *g, struct rk_error *err)
{
	struct rk_report r = *g->p->report;
	struct rk_ranks job;

	for (unsigned s = 0; s < RK_NSECTIONS; s++) {
		struct rk_report_section *sec = rk_report_section(&r, (enum rk_section)s);

		sec->nrows = rk_min(sec->nrows, RK_HTML_TABLE_ROWS);
	}
	if (r.ranks) {
		job = *r.ranks;
		job.nspreads = rk_min(job.nspreads, RK_HTML_TABLE_ROWS);
		r.ranks = &job;
	}
	rk_report_json(&g->json, &r, NULL);
	return put_json(g, "report", err);
}

static int put_timeline(struct page *g, struct rk_error *err)
{
	int64_t start = 0, end = 0, from, to;
	bool rows = rk_lanes_span(g->p->lanes, &start, &end);
	uint32_t *order = NULL;
	int rc = order_lanes(g->p, &order, err);

	if (rc < 0)
		return rc;
	/* Curves extend the axis only if they overlap with the rows (same clock). */
	if (rk_curves_span(g->p->curves, &from, &to) && (!rows || (from <= end && to >= start))) {
		start = rows ? rk_min_i64(start, from) : from;
		end = rows ? rk_max_i64(end, to) : to;
	}
	rc = timeline_json(g->p, order, start, end, &g->json, err);
	if (rc < 0)
		goto out;
	rc = put_json(g, "timeline-data", err);
	if (rc < 0)
		goto out;
	rk_bytes_puts(&g->part, "<script type=\"application/octet-stream\" id=\"chunks\">");
	rc = rk_lanes_put_chunks(g->p->lanes, order, start, &g->part, err);
	rk_bytes_puts(&g->part, "</script>\n");
	if (rc == 0)
		rc = flush(g, err);
out:
	rk_free(order);
	return rc;
}

static int put_data(struct page *g, struct rk_error *err)
{
	struct rk_metrics m;
	int rc = put_report(g, err);

	if (rc < 0)
		return rc;
	rc = put_timeline(g, err);
	if (rc < 0)
		return rc;
	if (g->p->metrics) {
		m = *g->p->metrics;
		m.nkernels = rk_min(m.nkernels, RK_HTML_METRIC_KERNELS);
		m.nwarnings = 0; /* the report has them all */
		rk_metrics_json(&g->json, &m, NULL);
		rc = put_json(g, "metrics-data", err);
	}
	if (rc < 0 || !g->p->run)
		return rc;
	return put_document(g, "run", g->p->run, strlen(g->p->run), err);
}

enum { TITLE, POLICY, STYLE, SCRIPT, DATA, BLOCKS, SUMMARY, NFIELDS };

static const char *const fields[NFIELDS] = {
	[TITLE] = "{{title}}",     [POLICY] = "{{policy}}", [STYLE] = "{{style}}",
	[SCRIPT] = "{{script}}",   [DATA] = "{{data}}",     [BLOCKS] = "{{blocks}}",
	[SUMMARY] = "{{summary}}",
};

/* The text that replaces {{...}} of web/report.html; *at moves past it. */
static int put_field(struct page *g, const char **at, struct rk_error *err)
{
	unsigned field = 0;

	while (field < NFIELDS && strncmp(*at, fields[field], strlen(fields[field])) != 0)
		field++;
	*at += field < NFIELDS ? strlen(fields[field]) : 2;
	switch (field) {
	case TITLE:
		rk_html_text(&g->part, g->p->title);
		break;
	case POLICY:
		rk_bytes_puts(&g->part, "default-src 'none'; script-src '");
		rk_html_hash(&g->part, g->script.data, g->script.len);
		rk_bytes_puts(&g->part, "'; style-src '");
		rk_html_hash(&g->part, g->style.data, g->style.len);
		rk_bytes_puts(&g->part, "'; img-src data:; base-uri 'none'; form-action 'none'");
		break;
	case STYLE:
		return rk_output_write(g->out, g->style.data, g->style.len, err);
	case SCRIPT:
		return rk_output_write(g->out, g->script.data, g->script.len, err);
	case DATA:
		return put_data(g, err);
	case BLOCKS:
		return rk_lanes_write_blocks(g->p->lanes, g->out, err);
	case SUMMARY:
		put_summary(&g->part, g->p->report);
		break;
	default:
		rk_bytes_puts(&g->part, "{{");
	}
	return flush(g, err);
}

int rk_html_write(const struct rk_html_page *p, struct rk_output *out, struct rk_error *err)
{
	const struct rk_data_file *frame = find_file("report.html");
	const struct rk_data_file *style = find_file("report.css");
	struct page g = { .p = p, .out = out };
	int rc = 0;

	if (!frame || !style)
		return rk_fail(err, RK_E_UNSUPPORTED, "this build does not include the HTML page");
	rk_bytes_init(&g.style, PART_MAX);
	rk_bytes_init(&g.script, PART_MAX);
	rk_bytes_init(&g.part, PART_MAX);
	rk_bytes_init(&g.json, PART_MAX);
	rk_bytes_init(&g.plain, PART_MAX);
	rk_bytes_put(&g.style, style->text, style->len);
	rk_html_script(&g.script);
	if (g.style.bad || g.script.bad) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	for (const char *at = frame->text; *at;) {
		const char *field = strstr(at, "{{");
		size_t len = field ? (size_t)(field - at) : strlen(at);

		rc = rk_output_write(g.out, at, len, err);
		if (rc < 0)
			goto out;
		at += len;
		if (field)
			rc = put_field(&g, &at, err);
		if (rc < 0)
			goto out;
	}
out:
	rk_bytes_release(&g.style);
	rk_bytes_release(&g.script);
	rk_bytes_release(&g.part);
	rk_bytes_release(&g.json);
	rk_bytes_release(&g.plain);
	return rc;
}
