/* library_collect.c - the logs of a run's libraries as library_trace.csv. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "codec/lines.h"
#include "io/output.h"
#include "io/walk.h"
#include "session/library_impl.h"

enum { CONFIG_BYTES_MAX = 4 << 20, TEXT_BYTES = 1 << 16 };

/* A run's logs while they are counted. */
struct collecting {
	unsigned libraries;
	struct rk_library_counts counts;
	struct rk_bytes config;
};

static int count_lines(struct collecting *c, struct rk_lines *lines, struct rk_error *err)
{
	const char *line;
	size_t len;
	int rc;

	while ((rc = rk_lines_next(lines, &line, &len, err)) > 0) {
		struct rk_library_call call;

		/* A line without its end was cut short, and would count as another call. */
		if (!lines->ended || !rk_library_line(line, len, &call, &c->config))
			continue;
		if (!(c->libraries >> call.library & 1))
			continue;
		rc = rk_library_count(&c->counts, &call, &c->config, err);
		if (rc < 0)
			break;
	}
	return rc;
}

/* What cannot be read costs its own calls, not those of the other logs. */
static int count_file(struct collecting *c, const char *path, struct rk_error *err)
{
	struct rk_instream *in = NULL;
	struct rk_lines lines = { 0 };
	struct rk_error own = { 0 };
	int rc = rk_instream_open(path, &in, &own);

	if (rc == 0)
		rc = rk_lines_begin(&lines, in, &own);
	if (rc == 0)
		rc = count_lines(c, &lines, &own);
	rk_lines_release(&lines);
	rk_instream_close(in);
	if (rc != RK_E_NOMEM)
		return 0;
	return rk_fail_nomem(err);
}

static void put_row(struct rk_bytes *text, const struct rk_library_row *r)
{
	const char *name = rk_library_names[r->library], *config = r->text + strlen(r->text) + 1;

	rk_csv_cell(text, name, strlen(name));
	rk_bytes_put_u8(text, ',');
	rk_csv_cell(text, r->text, strlen(r->text));
	rk_bytes_put_u8(text, ',');
	rk_csv_cell(text, config, strlen(config));
	rk_bytes_printf(text, ",%" PRIu64 ",\n", r->calls);
}

static int write_rows(struct rk_output *out, const struct rk_library_counts *c,
		      struct rk_error *err)
{
	struct rk_bytes text;
	int rc = 0;

	rk_bytes_init(&text, TEXT_BYTES * 4);
	rk_bytes_puts(&text, "library,function,config,calls,total_ns\n");
	for (size_t i = 0; rc == 0 && i <= c->nrows; i++) {
		if (i < c->nrows)
			put_row(&text, &c->rows[i]);
		if (text.bad)
			rc = rk_fail_nomem(err);
		else if (text.len >= TEXT_BYTES || i == c->nrows)
			rc = rk_output_write(out, text.data, text.len, err);
		if (text.len >= TEXT_BYTES)
			rk_bytes_clear(&text);
	}
	rk_bytes_release(&text);
	return rc;
}

static int write_csv(const char *csv, const struct rk_library_counts *c, struct rk_error *err)
{
	struct rk_output *out = NULL;
	int rc = rk_output_open(csv, &out, err);

	if (rc < 0)
		return rc;
	rc = write_rows(out, c, err);
	if (rc == 0)
		return rk_output_commit(out, err);
	rk_output_abort(out);
	return rc;
}

int rk_library_collect(unsigned libraries, const char *dir, const char *csv, uint64_t *ret_rows,
		       struct rk_error *err)
{
	struct collecting c = { .libraries = libraries };
	struct rk_walk walk = { 0 };
	int rc = rk_is_dir(dir) ? rk_walk_dir(dir, &walk, err) : 0;

	rk_bytes_init(&c.config, CONFIG_BYTES_MAX);
	for (size_t i = 0; rc == 0 && i < walk.n; i++)
		if (rk_text_ends(walk.paths[i], strlen(walk.paths[i]), ".log"))
			rc = count_file(&c, walk.paths[i], err);
	rk_library_counts_settle(&c.counts);
	if (rc == 0 && c.counts.nrows)
		rc = write_csv(csv, &c.counts, err);
	if (rc == 0)
		*ret_rows = c.counts.nrows;
	rk_library_counts_release(&c.counts);
	rk_bytes_release(&c.config);
	rk_walk_release(&walk);
	return rc;
}
