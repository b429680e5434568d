/*
 * html_page.h - the report as one page: web/ with the data of a run in it.
 *
 * The page is self-contained, and its content security policy allows only its own script and style sheet,
 * by their SHA-256. Data is text that no browser executes: JSON with every '<' escaped, and base 85.
 */
#ifndef RK_HTML_PAGE_H
#define RK_HTML_PAGE_H

#include "base/data.h"
#include "html/html_curves.h"
#include "html/html_lanes.h"
#include "io/output.h"
#include "rockit/metrics.h"
#include "rockit/ranks.h"
#include "rockit/report.h"
#include "run/run.h"

/* Rows of each table of the page; further names share one in the timeline. */
enum { RK_HTML_TABLE_ROWS = 10000, RK_HTML_METRIC_KERNELS = 200 };

/* The timeline's name number of each row of a table. */
struct rk_html_names {
	uint32_t *of[RK_NLANE_KINDS]; /* per row: kernels, copies, markers */
	size_t n[RK_NLANE_KINDS];     /* rows */
	size_t count;                 /* distinct names; `count` itself means all others */
};

/* Redacts text; `put` NULL: leaves it as it is. */
struct rk_html_hide {
	void (*put)(struct rk_bytes *out, const char *text, const void *arg);
	const void *arg;
};

struct rk_html_page {
	const char *title;
	const struct rk_report *report;
	const struct rk_metrics *metrics; /* NULL: none */
	const struct rk_lanes *lanes;     /* finished */
	const struct rk_curves *curves;
	const struct rk_html_names *names;
	const struct rk_strtab *strings;
	struct rk_html_hide hide; /* for texts with hosts, users and paths */
	const char *run;          /* JSON about the recording; NULL: unknown */
	size_t left_out_ranks;    /* of the timeline */
};

int rk_html_write(const struct rk_html_page *p, struct rk_output *out, struct rk_error *err);

/* ---- parts ---- */

/* Text for HTML: markup as entities; control and direction characters as visible escapes. */
void rk_html_text(struct rk_bytes *out, const char *s);

/*
 * JSON with redacted texts: of keys that may contain a path or a host, or all texts. Keys are not
 * changed.
 */
void rk_html_hide_json(struct rk_bytes *out, const char *json, size_t len, bool all,
		       struct rk_html_hide hide);

/* web/. Made by cmake/web.cmake, sorted by name. */
extern const struct rk_data_file rk_web_files[];
/* The modules as one script, without imports and exports, in a scope of its own. */
void rk_html_script(struct rk_bytes *out);
/* "sha256-..." for the content security policy. */
void rk_html_hash(struct rk_bytes *out, const void *p, size_t len);

/* The parts of run.json that go into the page (html.c); *ret is NULL if it is not a run.json. */
int rk_html_run_json(const char *path, char **ret, struct rk_error *err);

/* ---- rows of a run's tables become lanes and curves (html_feed.c) ---- */

/* Numbers for the names of the report's tables. Free with rk_html_names_release. */
int rk_html_names_make(struct rk_run *run, const struct rk_report *r, struct rk_html_names *ret,
		       struct rk_error *err);
void rk_html_names_release(struct rk_html_names *n);

enum { RK_HTML_RANKS = 64 }; /* in a timeline */

/* How many ranks of a job are not in the timeline; k may be NULL. */
size_t rk_html_ranks_left_out(const struct rk_ranks *k);

/*
 * Kernels, copies and markers, each sorted by time, of at most RK_HTML_RANKS ranks, chosen by
 * rk_ranks_pick. *ret is finished.
 */
int rk_html_feed_lanes(struct rk_run *run, const struct rk_html_names *names,
		       const struct rk_report *r, struct rk_lanes **ret, struct rk_error *err);
/* Samples that have a time. */
int rk_html_feed_curves(struct rk_run *run, struct rk_curves *ret, struct rk_error *err);

#endif
