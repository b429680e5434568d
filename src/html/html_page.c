/* html_page.c - see html_page.h. */
#include "html/html_page.h"

#include <string.h>

#include "base/alloc.h"
#include "metrics/metrics_parts.h"
#include "report/report_parts.h"
#include "rockit/ranks.h"

enum { PART_MAX = 1 << 30 };

struct page {
	const struct rk_html_page *p;
	struct rk_output *out;
	struct rk_bytes style, script;
	struct rk_bytes part, json, plain; /* scratch */
};

static int flush(struct page *g, struct rk_error *err)
{
	int rc = g->part.bad ? rk_fail_nomem(err) :
			       rk_output_write(g->out, g->part.data, g->part.len, err);

	rk_bytes_clear(&g->part);
	return rc;
}

/* ---- what stands for {{...}} in web/report.html ---- */

static int put_title(struct page *g, struct rk_error *err)
{
	rk_html_text(&g->part, g->p->title);
	return flush(g, err);
}

static int put_policy(struct page *g, struct rk_error *err)
{
	rk_bytes_puts(&g->part, "default-src 'none'; script-src '");
	rk_html_hash(&g->part, g->script.data, g->script.len);
	rk_bytes_puts(&g->part, "'; style-src '");
	rk_html_hash(&g->part, g->style.data, g->style.len);
	rk_bytes_puts(&g->part, "'; img-src data:; base-uri 'none'; form-action 'none'");
	return flush(g, err);
}

static int put_style(struct page *g, struct rk_error *err)
{
	return rk_output_write(g->out, g->style.data, g->style.len, err);
}

static int put_script(struct page *g, struct rk_error *err)
{
	return rk_output_write(g->out, g->script.data, g->script.len, err);
}

static int put_summary(struct page *g, struct rk_error *err)
{
	rk_html_summary(&g->part, g->p->report);
	return flush(g, err);
}

static int put_blocks(struct page *g, struct rk_error *err)
{
	return rk_lanes_write_blocks(g->p->lanes, g->out, err);
}

/* ---- data ---- */

static int put_document(struct page *g, const char *id, const char *json, size_t len,
			struct rk_error *err)
{
	struct rk_bytes *plain = &g->plain;

	rk_bytes_clear(plain);
	if (g->p->hide.put) {
		rk_html_hide_json(plain, json, len, json == g->p->run, g->p->hide);
		if (plain->bad)
			return rk_fail_nomem(err);
		json = (const char *)plain->data;
		len = plain->len;
	}
	rk_bytes_printf(&g->part, "<script type=\"application/json\" id=\"%s\">", id);
	rk_html_json(&g->part, json, len);
	rk_bytes_puts(&g->part, "</script>\n");
	return flush(g, err);
}

static int put_json(struct page *g, const char *id, struct rk_error *err)
{
	int rc = g->json.bad ? rk_fail_nomem(err) :
			       put_document(g, id, (const char *)g->json.data, g->json.len, err);

	rk_bytes_clear(&g->json);
	return rc;
}

static size_t at_most(size_t n, size_t most)
{
	return n < most ? n : most;
}

/* The document of `rockit report --format json`; of very many names the first. */
static int put_report(struct page *g, struct rk_error *err)
{
	struct rk_report r = *g->p->report;
	struct rk_ranks job;

	for (unsigned s = 0; s < RK_NSECTIONS; s++) {
		struct rk_report_section *sec = rk_report_section(&r, (enum rk_section)s);

		sec->nrows = at_most(sec->nrows, RK_HTML_TABLE_ROWS);
	}
	if (r.ranks) {
		job = *r.ranks;
		job.nspreads = at_most(job.nspreads, RK_HTML_TABLE_ROWS);
		r.ranks = &job;
	}
	rk_report_json(&g->json, &r, NULL);
	return put_json(g, "report", err);
}

static int put_metrics(struct page *g, struct rk_error *err)
{
	struct rk_metrics m;

	if (!g->p->metrics)
		return 0;
	m = *g->p->metrics;
	m.nkernels = at_most(m.nkernels, RK_HTML_METRIC_KERNELS);
	m.nwarnings = 0; /* the report has them all */
	rk_metrics_json(&g->json, &m, NULL);
	return put_json(g, "metrics-data", err);
}

static int put_chunks(struct page *g, const uint32_t *order, int64_t origin, struct rk_error *err)
{
	int rc;

	rk_bytes_puts(&g->part, "<script type=\"application/octet-stream\" id=\"chunks\">");
	rc = rk_lanes_put_chunks(g->p->lanes, order, origin, &g->part, err);
	rk_bytes_puts(&g->part, "</script>\n");
	return rc < 0 ? rc : flush(g, err);
}

static int put_timeline(struct page *g, struct rk_error *err)
{
	uint32_t *order = NULL;
	int64_t end, origin = rk_html_origin(g->p, &end);
	int rc = rk_html_order(g->p, &order, err);

	if (rc == 0)
		rc = rk_html_timeline_json(g->p, order, origin, &g->json, err);
	if (rc == 0)
		rc = put_json(g, "timeline-data", err);
	if (rc == 0)
		rc = put_chunks(g, order, origin, err);
	rk_free(order);
	return rc;
}

static int put_text(struct page *g, const char *id, const char *json, struct rk_error *err)
{
	return json ? put_document(g, id, json, strlen(json), err) : 0;
}

static int put_data(struct page *g, struct rk_error *err)
{
	int rc = put_report(g, err);

	if (rc == 0)
		rc = put_timeline(g, err);
	if (rc == 0)
		rc = put_metrics(g, err);
	return rc < 0 ? rc : put_text(g, "run", g->p->run, err);
}

/* ---- the page ---- */

static const struct {
	const char *name;
	int (*put)(struct page *g, struct rk_error *err);
} fields[] = {
	{ "{{title}}", put_title },     { "{{policy}}", put_policy }, { "{{style}}", put_style },
	{ "{{script}}", put_script },   { "{{data}}", put_data },     { "{{blocks}}", put_blocks },
	{ "{{summary}}", put_summary },
};

static int put_field(struct page *g, const char **at, struct rk_error *err)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		size_t len = strlen(fields[i].name);

		if (strncmp(*at, fields[i].name, len) == 0) {
			*at += len;
			return fields[i].put(g, err);
		}
	}
	*at += 2;
	return rk_output_write(g->out, "{{", 2, err);
}

static int put_template(struct page *g, const char *text, struct rk_error *err)
{
	const char *at = text;
	int rc = 0;

	while (rc == 0 && *at) {
		const char *field = strstr(at, "{{");
		size_t len = field ? (size_t)(field - at) : strlen(at);

		rc = rk_output_write(g->out, at, len, err);
		at += len;
		if (rc == 0 && field)
			rc = put_field(g, &at, err);
	}
	return rc;
}

int rk_html_write(const struct rk_html_page *p, struct rk_output *out, struct rk_error *err)
{
	const struct rk_data_file *frame = rk_web_find("report.html");
	const struct rk_data_file *style = rk_web_find("report.css");
	struct page g = { .p = p, .out = out };
	int rc;

	if (!frame || !style)
		return rk_fail(err, RK_E_UNSUPPORTED, "this build has no page for reports");
	rk_bytes_init(&g.style, PART_MAX);
	rk_bytes_init(&g.script, PART_MAX);
	rk_bytes_init(&g.part, PART_MAX);
	rk_bytes_init(&g.json, PART_MAX);
	rk_bytes_init(&g.plain, PART_MAX);
	rk_bytes_put(&g.style, style->text, style->len);
	rk_html_script(&g.script);
	rc = g.style.bad || g.script.bad ? rk_fail_nomem(err) : put_template(&g, frame->text, err);
	rk_bytes_release(&g.style);
	rk_bytes_release(&g.script);
	rk_bytes_release(&g.part);
	rk_bytes_release(&g.json);
	rk_bytes_release(&g.plain);
	return rc;
}
