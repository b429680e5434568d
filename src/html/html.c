/* html.c - writes a run as one HTML page. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "base/list.h"
#include "base/num.h"
#include "base/secrets.h"
#include "base/text.h"
#include "html/html_page.h"
#include "ranks/gather.h"
#include "report/report_parts.h"
#include "run/run_json.h"
#include "run/run_ranks.h"

/*
 * The parts of run.json that go into the page. People share the page, so only what is listed here
 * goes into it. The environment, the directories and the profiler's command lines do not.
 */
enum { RUN_MAX = 8 << 20 };

struct keys {
	const enum rk_run_key *v;
	size_t n;
};

static const enum rk_run_key run_keys[] = {
	RK_RUN_ROCKIT,   RK_RUN_STATE,   RK_RUN_COMMAND,  RK_RUN_EXIT_STATUS, RK_RUN_TOOL,
	RK_RUN_PRESET,   RK_RUN_ARCH,    RK_RUN_HOST,     RK_RUN_GPUS,        RK_RUN_START_TIME,
	RK_RUN_END_TIME, RK_RUN_RANK,    RK_RUN_PASSES,   RK_RUN_BASELINE,    RK_RUN_LEDGER,
	RK_RUN_NOTES,    RK_RUN_HAZARDS, RK_RUN_WARNINGS,
};
static const enum rk_run_key pass_keys[] = {
	RK_RUN_PASS_WHAT,   RK_RUN_PASS_COUNTERS,  RK_RUN_PASS_RAN,     RK_RUN_PASS_STATUS,
	RK_RUN_PASS_SIGNAL, RK_RUN_PASS_TIMED_OUT, RK_RUN_PASS_SECONDS, RK_RUN_PASS_FILES,
	RK_RUN_PASS_BYTES,  RK_RUN_PASS_MAX_RSS,
};
static const enum rk_run_key tool_keys[] = { RK_RUN_TOOL_NAME, RK_RUN_TOOL_VERSION };

static const struct keys of_run = { run_keys, sizeof(run_keys) / sizeof(run_keys[0]) };
static const struct keys of_pass = { pass_keys, sizeof(pass_keys) / sizeof(pass_keys[0]) };
static const struct keys of_tool = { tool_keys, sizeof(tool_keys) / sizeof(tool_keys[0]) };

/* NULL: all. */
static bool listed(const struct keys *list, const char *key)
{
	for (size_t i = 0; list && i < list->n; i++)
		if (strcmp(rk_run_key(list->v[i]), key) == 0)
			return true;
	return !list;
}

/* The members of the object at `key` that go into the page; NULL: all. */
static const struct keys *list_below(const struct keys *list, const char *key)
{
	if (list != &of_run)
		return list;
	if (strcmp(key, rk_run_key(RK_RUN_PASSES)) == 0 ||
	    strcmp(key, rk_run_key(RK_RUN_BASELINE)) == 0)
		return &of_pass;
	return strcmp(key, rk_run_key(RK_RUN_TOOL)) == 0 ? &of_tool : NULL;
}

static void put_node(struct rk_bytes *out, const struct rk_tree *t, const struct keys *list)
{
	bool object = t->kind == RK_TREE_OBJECT;
	const char *comma = "";

	if (t->kind == RK_TREE_TEXT) {
		rk_json_string(out, t->text, strlen(t->text));
		return;
	}
	if (t->kind != RK_TREE_OBJECT && t->kind != RK_TREE_ARRAY) {
		rk_bytes_puts(out, t->kind == RK_TREE_NULL ? "null" : t->text);
		return;
	}
	rk_bytes_put_u8(out, object ? '{' : '[');
	RK_TREE_EACH(c, t)
	{
		if (object && !listed(list, c->key))
			continue;
		rk_bytes_puts(out, comma);
		comma = ",";
		if (object) {
			rk_json_string(out, c->key, strlen(c->key));
			rk_bytes_put_u8(out, ':');
		}
		put_node(out, c, object ? list_below(list, c->key) : list);
	}
	rk_bytes_put_u8(out, object ? '}' : ']');
}

int rk_html_run_json(const char *path, char **ret, struct rk_error *err)
{
	struct rk_error why = { 0 };
	struct rk_tree *t = NULL;
	struct rk_bytes out;
	int rc = rk_run_json_load(path, &t, &why);

	*ret = NULL;
	if (rc < 0) /* the file is missing or not ours: make the page without it */
		return rc == RK_E_NOMEM ? rk_fail_nomem(err) : 0;
	rk_bytes_init(&out, RUN_MAX);
	rc = 0;
	if (rk_run_json_recorded(t)) {
		put_node(&out, t, &of_run);
		rc = rk_bytes_give(&out, ret, NULL, err);
	}
	rk_bytes_release(&out);
	rk_tree_free(t);
	return rc;
}

/* ---- the recordings of a job ---- */

/* Texts of recordings, each with the ranks that have it. */
enum { SAID_MAX = 1000 };

struct said {
	struct {
		char *key, *text; /* key "": a note without one */
		int64_t rank;     /* the first */
		size_t ranks;
	} v[SAID_MAX];
	size_t n;
	uint64_t left_out;
	bool bad;
};

static void said_add(struct said *s, const char *key, const char *text, int64_t rank)
{
	size_t i = 0;

	while (i < s->n && (strcmp(s->v[i].key, key) != 0 || strcmp(s->v[i].text, text) != 0))
		i++;
	if (i < s->n) {
		s->v[i].ranks++;
		return;
	}
	if (s->n == SAID_MAX) {
		s->left_out++;
		return;
	}
	s->v[i].key = rk_strdup(key);
	s->v[i].text = rk_strdup(text);
	s->v[i].rank = rank;
	s->v[i].ranks = 1;
	s->bad |= !s->v[i].key || !s->v[i].text;
	s->n++;
}

static void said_release(struct said *s)
{
	for (size_t i = 0; i < s->n; i++) {
		rk_free(s->v[i].key);
		rk_free(s->v[i].text);
	}
	rk_free(s);
}

/* Shown if it is the same for all ranks. */
static const enum rk_run_key common_keys[] = { RK_RUN_ROCKIT, RK_RUN_COMMAND, RK_RUN_TOOL,
					       RK_RUN_PRESET, RK_RUN_ARCH };
enum { COMMON = sizeof(common_keys) / sizeof(common_keys[0]), DELIVERED_MAX = 64 };

struct job {
	size_t ranks;
	struct rk_bytes common[COMMON]; /* JSON of what all ranks have in common; empty: nothing */
	struct {
		char name[64];
		int64_t rows;
	} tables[DELIVERED_MAX];
	size_t ntables;
	struct said *states, *dropped, *warnings;
};

static void add_common(struct job *j, const struct rk_tree *t, bool first)
{
	for (size_t i = 0; i < COMMON; i++) {
		enum rk_run_key key = common_keys[i];
		struct rk_bytes *had = &j->common[i], text;
		const struct rk_tree *node = rk_run_json_at(t, key);

		rk_bytes_init(&text, RUN_MAX);
		if (node)
			put_node(&text, node, list_below(&of_run, rk_run_key(key)));
		if (first)
			rk_bytes_put(had, text.data, text.len);
		else if (had->len != text.len ||
			 (had->len && memcmp(had->data, text.data, had->len)))
			rk_bytes_clear(had);
		had->bad |= text.bad;
		rk_bytes_release(&text);
	}
}

static void add_tables(struct job *j, const struct rk_tree *tables)
{
	RK_TREE_EACH(c, tables)
	{
		int64_t rows = 0;
		size_t i = 0;

		if (!rk_tree_int(c, &rows) || rows < 0 ||
		    strlen(c->key) >= sizeof(j->tables[0].name))
			continue;
		while (i < j->ntables && strcmp(j->tables[i].name, c->key) != 0)
			i++;
		if (i == DELIVERED_MAX)
			continue;
		if (i == j->ntables)
			snprintf(j->tables[j->ntables++].name, sizeof(j->tables[0].name), "%s",
				 c->key);
		j->tables[i].rows = rk_add_saturated(j->tables[i].rows, rows);
	}
}

static int add_recording(struct job *j, const struct rk_run_record *r, struct rk_error *err)
{
	char *path = rk_strf("%s" RK_RUN_JSON, r->dir);
	struct rk_error why = { 0 };
	struct rk_tree *t = NULL;
	int rc;

	if (!path)
		return rk_fail_nomem(err);
	rc = rk_run_json_load(path, &t, &why);
	rk_free(path);
	if (rc < 0) /* it was readable when the run was opened */
		return rc == RK_E_NOMEM ? rk_fail_nomem(err) : 0;
	if (rk_run_json_recorded(t)) {
		add_common(j, t, !j->ranks);
		add_tables(j, rk_run_json_at(t, RK_RUN_DELIVERED_TABLES));
		said_add(j->states, "", rk_tree_text(rk_run_json_at(t, RK_RUN_STATE), "unknown"),
			 r->rank);
		RK_TREE_EACH(c, rk_run_json_at(t, RK_RUN_DROPPED))
		{
			said_add(j->dropped, c->key, rk_tree_text(c, ""), r->rank);
		}
		RK_TREE_EACH(c, rk_run_json_at(t, RK_RUN_WARNINGS))
		{
			said_add(j->warnings, "", rk_tree_text(c, ""), r->rank);
		}
		j->ranks++;
	}
	rk_tree_free(t);
	return 0;
}

/* "text", "text (rank 3)" or "text (3 ranks)". */
static void put_said(struct rk_json_out *o, const struct said *s, size_t i, const struct job *j,
		     const char *key)
{
	char text[4096];

	if (s->v[i].ranks == j->ranks)
		snprintf(text, sizeof(text), "%.4000s", s->v[i].text);
	else if (s->v[i].ranks == 1)
		snprintf(text, sizeof(text), "%.4000s (rank %" PRId64 ")", s->v[i].text,
			 s->v[i].rank);
	else
		snprintf(text, sizeof(text), "%.4000s (%zu ranks, the first is %" PRId64 ")",
			 s->v[i].text, s->v[i].ranks, s->v[i].rank);
	text[rk_utf8_valid(text, strlen(text))] = '\0';
	rk_json_text(o, key, text);
}

static void put_job(struct rk_bytes *out, const struct job *j)
{
	struct rk_json_out o;

	rk_json_begin(&o, out);
	rk_json_uint(&o, "ranks", j->ranks);
	for (size_t i = 0; i < COMMON; i++)
		if (j->common[i].len)
			rk_json_raw(&o, rk_run_key(common_keys[i]), j->common[i].data,
				    j->common[i].len);
	if (j->states->n == 1) {
		put_said(&o, j->states, 0, j, rk_run_key(RK_RUN_STATE));
	} else {
		rk_json_array(&o, rk_run_key(RK_RUN_STATE));
		for (size_t i = 0; i < j->states->n; i++)
			put_said(&o, j->states, i, j, NULL);
		rk_json_close(&o);
	}
	rk_json_object(&o, rk_run_key(RK_RUN_LEDGER));
	rk_json_object(&o, rk_run_key(RK_RUN_DELIVERED));
	rk_json_object(&o, rk_run_key(RK_RUN_DELIVERED_TABLES));
	for (size_t i = 0; i < j->ntables; i++)
		rk_json_int(&o, j->tables[i].name, j->tables[i].rows);
	rk_json_close(&o);
	rk_json_close(&o);
	/* equal keys with other texts get a number, because the page reads them as one object */
	rk_json_object(&o, rk_run_key(RK_RUN_DROPPED));
	for (size_t i = 0; i < j->dropped->n; i++) {
		char key[300];
		size_t same = 1;

		for (size_t k = 0; k < i; k++)
			same += strcmp(j->dropped->v[k].key, j->dropped->v[i].key) == 0;
		if (same > 1)
			snprintf(key, sizeof(key), "%.200s (%zu)", j->dropped->v[i].key, same);
		else
			snprintf(key, sizeof(key), "%.200s", j->dropped->v[i].key);
		key[rk_utf8_valid(key, strlen(key))] = '\0';
		put_said(&o, j->dropped, i, j, key);
	}
	if (j->dropped->left_out)
		rk_json_uint(&o, "more", j->dropped->left_out);
	rk_json_close(&o);
	rk_json_close(&o);
	rk_json_array(&o, rk_run_key(RK_RUN_WARNINGS));
	for (size_t i = 0; i < j->warnings->n; i++)
		put_said(&o, j->warnings, i, j, NULL);
	if (j->warnings->left_out)
		rk_json_text(&o, NULL, "more warnings of ranks are left out");
	rk_json_close(&o);
	rk_json_end(&o);
}

int rk_html_job_json(const struct rk_run *run, char **ret, struct rk_error *err)
{
	struct job *j = rk_calloc(1, sizeof(*j));
	struct rk_bytes out;
	int rc = 0;

	*ret = NULL;
	rk_bytes_init(&out, RUN_MAX);
	if (!j)
		return rk_fail_nomem(err);
	j->states = rk_calloc(1, sizeof(*j->states));
	j->dropped = rk_calloc(1, sizeof(*j->dropped));
	j->warnings = rk_calloc(1, sizeof(*j->warnings));
	for (size_t i = 0; i < COMMON; i++)
		rk_bytes_init(&j->common[i], RUN_MAX);
	if (!j->states || !j->dropped || !j->warnings) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	for (size_t i = 0; i < run->places.n; i++) {
		const struct rk_rank_place *p = &run->places.v[i];

		if (p->fate != RK_PLACE_USED || !p->record || !p->record->ours)
			continue;
		rc = add_recording(j, p->record, err);
		if (rc < 0)
			goto out;
	}
	if (j->states->bad || j->dropped->bad || j->warnings->bad) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	if (j->ranks) {
		put_job(&out, j);
		rc = rk_bytes_give(&out, ret, NULL, err);
	}
out:
	for (size_t i = 0; i < COMMON; i++)
		rk_bytes_release(&j->common[i]);
	if (j->states)
		said_release(j->states);
	if (j->dropped)
		said_release(j->dropped);
	if (j->warnings)
		said_release(j->warnings);
	rk_bytes_release(&out);
	rk_free(j);
	return rc;
}

/* ---- the page of a run ---- */

/* Everything that goes into a page. */
struct work {
	struct rk_run *run;
	const struct rk_html_options *opt;
	struct rk_report *made;
	struct rk_report report; /* the report made or given, with all warnings */
	struct rk_metrics *metrics;
	struct rk_lanes *lanes;
	struct rk_curves *curves;
	struct rk_html_names names;
	char *title, *recording;
	/* with opt->redact: */
	struct rk_redaction_self self;
	struct rk_list nodes;
};

/* The first file that was used. */
static const char *first_file(const struct rk_run *run)
{
	for (size_t i = 0; i < run->nfound; i++)
		if (run->found[i].used)
			return run->found[i].path;
	return run->nfound ? run->found[0].path : "empty run";
}

/*
 * Names of machines to hide with opt->redact: first the host that recorded the run (often not this
 * one), then the nodes of a job. The host comes first, as its name may start with that of a node.
 */
static int hide_nodes(struct work *w, struct rk_error *err)
{
	struct rk_tree *t = NULL;
	const char *host;
	int rc;

	if (!w->opt->redact)
		return 0;
	if (w->recording) {
		rc = rk_tree_parse_json(w->recording, strlen(w->recording), RK_RUN_JSON, &t, err);
		if (rc < 0)
			return rc;
		host = rk_tree_text(rk_run_json_at(t, RK_RUN_HOST), "");
		if (host[0])
			rk_list_add(&w->nodes, host);
		rk_tree_free(t);
	}
	rc = rk_report_machines(&w->report, &w->nodes, err);
	if (rc < 0)
		return rc;
	w->self.who.nodes = w->nodes.v;
	w->self.who.nnodes = w->nodes.n;
	return w->nodes.bad ? rk_fail_nomem(err) : 0;
}

static int make_metrics(struct work *w, struct rk_error *err)
{
	const struct rk_metrics_options what = { .arch = w->opt->arch,
						 .kernel_regex = w->opt->kernel_regex };
	struct rk_trace_facts *t;
	struct rk_bytes name;
	int rc;

	if (!(rk_run_tables(w->run) & RK_TABLE_BIT(RK_KERNELS)))
		return 0;
	rc = rk_run_metrics(w->run, &what, &w->metrics, err);
	if (rc < 0 || !w->opt->redact)
		return rc;
	/* with several machines, device names include the machine */
	t = &w->metrics->trace;
	rk_bytes_init(&name, 1000);
	for (size_t i = 0; i < t->ndevices && !name.bad; i++) {
		rk_bytes_clear(&name);
		rk_redact_text(&name, t->devices[i].name, &w->self.who);
		if (rk_bytes_str(&name))
			snprintf(t->devices[i].name, sizeof(t->devices[i].name), "%.47s",
				 rk_bytes_str(&name));
	}
	rc = name.bad ? rk_fail_nomem(err) : 0;
	rk_bytes_release(&name);
	return rc;
}

/* Warns about what the page does not show. */
static void warn_left_out(struct work *w)
{
	struct rk_diag *d = w->run->ctx.diag;
	const struct rk_lanes_result lanes = rk_lanes_result(w->lanes);
	size_t ranks = rk_html_ranks_left_out(w->report.ranks);

	if (lanes.folded)
		rk_diag_add(d, "many-lanes", "", 0, lanes.folded,
			    "rows share one lane of the timeline: too many queues, streams or "
			    "threads");
	if (lanes.left_out)
		rk_diag_add(d, "time-not-shown", "", 0, lanes.left_out,
			    "rows longer than 26 days, or more than 146 years from the others; "
			    "not in the timeline");
	if (ranks)
		rk_diag_add(d, "timeline-ranks", "", 0, ranks,
			    "ranks not in the timeline; it shows %d: those in trouble, those that "
			    "compute longest and shortest, and those that others wait for",
			    RK_HTML_RANKS);
	if (w->report.kernels.nrows > RK_HTML_TABLE_ROWS)
		rk_diag_add(d, "many-names", "", 0, w->report.kernels.nrows,
			    "kernel names; the page lists the first %d by time",
			    RK_HTML_TABLE_ROWS);
}

/* Shows all ranks on one clock; so the metrics have no reason to warn about several. */
static int make_parts(struct work *w, struct rk_error *err)
{
	struct rk_rank_times *times = NULL;
	int rc = rk_rank_times_of(w->run, w->report.ranks, &times, err);

	if (rc < 0)
		return rc;
	rk_rank_times_use(w->run, times);
	rc = rk_html_feed_lanes(w->run, &w->names, &w->report, &w->lanes, err);
	if (rc == 0)
		rc = rk_html_feed_curves(w->run, w->curves, err);
	if (rc == 0)
		rc = make_metrics(w, err);
	rk_rank_times_use(w->run, NULL);
	rk_rank_times_free(times);
	return rc;
}

static int gather(struct work *w, struct rk_error *err)
{
	const struct rk_report_options what = { .by = w->opt->by };
	const char *path = first_file(w->run), *name = rk_base_name(path);
	size_t len = (size_t)(name - path);
	const struct rk_run_record *above;
	char *json, *dir;
	int rc = 0;

	for (unsigned t = 0; t < RK_NTABLES; t++)
		if (rk_run_tables(w->run) >> t & 1 && !rk_run_rescannable(w->run, (enum rk_table)t))
			return rk_fail(err, RK_E_UNSUPPORTED,
				       "the page needs to read the input several times; save it to "
				       "a file first");
	if (!w->opt->report)
		rc = rk_run_report(w->run, &what, &w->made, err);
	if (rc < 0)
		return rc;
	w->report = w->made ? *w->made : *w->opt->report;
	/* from here on the tables are read for the second time */
	rk_diag_again(w->run->ctx.diag);
	/* a recording in the folder of a rank is that of the rank, not that of the job */
	above = rk_record_above(w->run, path);
	if (w->report.ranks && !above && rk_rank_prefix(path)) {
		rc = rk_html_job_json(w->run, &w->recording, err);
	} else {
		if (w->report.ranks && above)
			json = rk_strf("%s" RK_RUN_JSON, above->dir);
		else
			json = rk_strf("%.*s" RK_RUN_JSON, (int)len, path);
		if (!json)
			return rk_fail_nomem(err);
		rc = rk_html_run_json(json, &w->recording, err);
		rk_free(json);
	}
	if (rc < 0)
		return rc;
	rc = hide_nodes(w, err);
	if (rc < 0)
		return rc;
	rc = rk_html_names_make(w->run, &w->report, &w->names, err);
	if (rc < 0)
		return rc;
	rc = make_parts(w, err);
	if (rc < 0)
		return rc;

	/* The default title is "DIRECTORY" of a recording, else "FILE". */
	if (w->opt->title) {
		w->title = rk_strdup(w->opt->title);
	} else if (w->recording && len > 1) {
		dir = rk_strndup(path, len - 1);
		w->title = dir ? rk_strdup(rk_base_name(dir)) : NULL;
		rk_free(dir);
	} else {
		w->title = rk_strdup(name);
	}
	return w->title ? 0 : rk_fail_nomem(err);
}

static int write_page(struct work *w, struct rk_html_result *ret, struct rk_error *err)
{
	const struct rk_html_page page = { .title = w->title,
					   .report = &w->report,
					   .metrics = w->metrics,
					   .lanes = w->lanes,
					   .curves = w->curves,
					   .names = &w->names,
					   .strings = w->run->ctx.names,
					   .hide = w->opt->redact ? &w->self.who : NULL,
					   .left_out_ranks =
						   rk_html_ranks_left_out(w->report.ranks),
					   .run = w->recording };
	struct rk_output *out = NULL;
	int rc = rk_output_open(w->opt->path, &out, err);

	if (rc < 0)
		return rc;
	rc = rk_html_write(&page, out, err);
	if (rc < 0) {
		rk_output_abort(out);
		return rc;
	}
	for (size_t i = 0; i < rk_lanes_result(w->lanes).n; i++)
		ret->rows += rk_lanes_result(w->lanes).v[i].rows;
	ret->bytes = rk_output_offset(out);
	return rk_output_commit(out, err);
}

int rk_run_html(struct rk_run *run, const struct rk_html_options *opt, struct rk_html_result *ret,
		struct rk_error *err)
{
	struct work w = { .run = run, .opt = opt };
	struct rk_html_result did = { 0 };
	int rc;

	if (!opt || !opt->path)
		return rk_misuse(__func__, err);
	if (RK_CHECK_OPTIONS(opt, __func__, err) < 0 || rk_run_enter(run, __func__, err) < 0)
		return RK_E_USAGE;
	rk_run_tolerate(run);
	if (opt->redact)
		rk_redaction_self(&w.self);
	w.curves = rk_calloc(1, sizeof(*w.curves));
	if (!w.curves) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	rc = gather(&w, err);
	if (rc < 0)
		goto out;
	warn_left_out(&w);
	w.report.warnings = rk_run_warnings(run, &w.report.nwarnings);
	w.report.files = rk_run_files(run, &w.report.nfiles);
	rc = write_page(&w, &did, err);
	if (rc == 0 && ret)
		*ret = did;
out:
	rk_lanes_free(w.lanes);
	if (w.curves)
		rk_curves_release(w.curves);
	rk_free(w.curves);
	rk_html_names_release(&w.names);
	rk_metrics_free(w.metrics);
	rk_report_free(w.made);
	rk_list_release(&w.nodes);
	rk_free(w.title);
	rk_free(w.recording);
	rk_run_leave(run);
	return rc;
}
