/*
 * dataset.c - convert --dataset: writes ranks one by one, each table into folders by node and rank.
 *
 * The plan reads no rows: paths, sizes and kinds of files are known once a run is open, and the
 * counter columns are settled once for all ranks. So every shard computes the same plan.
 *
 * OUT/_rockit says what data set a folder is. Each shard has its own file there, written at the
 * start and again at the end, so shards on many machines never write the same file. Spark and
 * others ignore names that begin with "_".
 */
#include "convert/dataset.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/json_out.h"
#include "base/sha256/sha256.h"
#include "base/text.h"
#include "codec/json/tree.h"
#include "convert/convert.h"
#include "io/output.h"

#define META "_rockit"

enum { UNITS_MAX = 1 << 16 };

static bool is_of(const struct rk_found *f, const struct rk_unit *u)
{
	if (u->rank >= 0 || f->rank >= 0)
		return f->rank == u->rank;
	return !strcmp(f->program, u->program);
}

/* ---- units ---- */

/* Files of a rank are usually adjacent: try the previous unit first. */
static struct rk_unit *unit_of(struct rk_dataset *d, const struct rk_found *f, struct rk_unit *last)
{
	if (last && is_of(f, last))
		return last;
	for (size_t i = d->nunits; i-- > 0;)
		if (is_of(f, &d->units[i]))
			return &d->units[i];
	return NULL;
}

static int add_unit(struct rk_dataset *d, const struct rk_found *f, struct rk_error *err)
{
	struct rk_unit *v;

	if (d->nunits == UNITS_MAX)
		return rk_fail(err, RK_E_LIMIT, "more than %d ranks; convert them in parts",
			       UNITS_MAX);
	v = rk_grow(d->units, &d->cap_units, d->nunits + 1, sizeof(*v));
	if (!v)
		return rk_fail_nomem(err);
	d->units = v;
	v[d->nunits++] =
		(struct rk_unit){ .rank = f->rank, .program = f->program, .path = f->path };
	return 0;
}

static int find_units(struct rk_dataset *d, struct rk_error *err)
{
	struct rk_unit *u = NULL;

	for (size_t i = 0; i < d->run->nfound; i++) {
		const struct rk_found *f = &d->run->found[i];

		/* an unreadable file still makes its rank known, so that it is reported */
		if (!f->used && f->rank < 0)
			continue;
		u = unit_of(d, f, u);
		if (!u) {
			int rc = add_unit(d, f, err);

			if (rc < 0)
				return rc;
			u = &d->units[d->nunits - 1];
		}
		u->bytes += f->used ? f->bytes : 0;
	}
	return 0;
}

static int by_rank(const void *a, const void *b)
{
	const struct rk_unit *u = a, *v = b;
	uint64_t x = (uint64_t)u->rank, y = (uint64_t)v->rank; /* -1 is the last */

	return x != y ? (x < y ? -1 : 1) : strcmp(u->path, v->path);
}

/*
 * Files of a rank are part 0. Files that name no rank may have rows of any rank: they get their own
 * parts.
 */
static void number_parts(struct rk_dataset *d)
{
	unsigned part;

	if (d->nunits)
		qsort(d->units, d->nunits, sizeof(*d->units), by_rank);
	part = d->nunits && d->units[0].rank >= 0;
	for (size_t i = 0; i < d->nunits; i++)
		d->units[i].part = d->units[i].rank >= 0 ? 0 : part++;
}

/* ---- shards ---- */

static int by_bytes(const void *a, const void *b)
{
	const struct rk_unit *u = *(struct rk_unit *const *)a, *v = *(struct rk_unit *const *)b;

	if (u->bytes != v->bytes)
		return u->bytes > v->bytes ? -1 : 1;
	return u < v ? -1 : 1;
}

/* Largest first, each to the shard with the least work. */
static int share_out(struct rk_dataset *d, struct rk_error *err)
{
	struct rk_unit **order = rk_calloc(d->nunits + 1, sizeof(struct rk_unit *));
	uint64_t *load = rk_calloc(d->nshards, sizeof(*load));
	int rc = order && load ? 0 : rk_fail_nomem(err);

	if (rc < 0)
		goto out;
	for (size_t i = 0; i < d->nunits; i++)
		order[i] = &d->units[i];
	if (d->nunits)
		qsort(order, d->nunits, sizeof(*order), by_bytes);
	for (size_t i = 0; i < d->nunits; i++) {
		unsigned least = 0;

		for (unsigned s = 1; s < d->nshards; s++)
			if (load[s] < load[least])
				least = s;
		order[i]->shard = least + 1;
		load[least] += order[i]->bytes + 1;
	}
out:
	rk_free(order);
	rk_free(load);
	return rc;
}

/* ---- fingerprint ---- */

/*
 * Covers everything that determines the files' content; does not depend on where the input is
 * mounted.
 */
static int fingerprint(struct rk_dataset *d, struct rk_error *err)
{
	const struct rk_run *run = d->run;
	uint8_t digest[RK_SHA256_BYTES];
	struct rk_sha256 sum;
	struct rk_bytes b;
	bool bad = false;

	rk_sha256_begin(&sum);
	rk_bytes_init(&b, 1 << 16);
	rk_bytes_printf(&b, "rockit %s %d %u %d %d %d\n", ROCKIT_VERSION, d->table, d->nshards,
			run->opt.mangled, run->opt.truncate, run->energy.split != NULL);
	for (unsigned i = 0; run->counters.set && i < run->counters.set->schema.nfields; i++)
		rk_bytes_printf(&b, "%.512s\n", run->counters.set->schema.fields[i].name);
	for (size_t i = 0; i < run->nfound && !bad; i++) {
		const struct rk_found *f = &run->found[i];

		rk_sha256_add(&sum, b.data, b.len);
		bad = b.bad;
		rk_bytes_clear(&b);
		if (f->used)
			rk_bytes_printf(&b, "%" PRId64 " %" PRIu32 " %" PRIu64 " %s %s\n", f->rank,
					f->used, f->bytes, rk_base_name(f->path),
					f->record ? f->record->text[RK_REC_NODE] : "");
	}
	rk_sha256_add(&sum, b.data, b.len);
	rk_sha256_end(&sum, digest);
	bad |= b.bad;
	rk_bytes_release(&b);
	for (unsigned i = 0; i < RK_SHA256_BYTES; i++)
		snprintf(d->fingerprint + 2 * i, 3, "%02x", (unsigned)digest[i]);
	return bad ? rk_fail_nomem(err) : 0;
}

static int make_plan(struct rk_dataset *d, struct rk_error *err)
{
	int rc = rk_run_counters(d->run, err);

	if (rc < 0)
		return rc;
	rc = find_units(d, err);
	if (rc < 0)
		return rc;
	number_parts(d);
	rc = share_out(d, err);
	if (rc < 0)
		return rc;
	rc = fingerprint(d, err);
	if (rc < 0)
		return rc;
	d->used = rk_calloc(d->run->nfound + 1, sizeof(*d->used));
	return d->used ? 0 : rk_fail_nomem(err);
}

static void mask(struct rk_dataset *d, const struct rk_unit *u)
{
	for (size_t i = 0; i < d->run->nfound; i++) {
		struct rk_found *f = &d->run->found[i];

		d->used[i] = f->used;
		if (!is_of(f, u))
			f->used = 0;
	}
}

static void unmask(struct rk_dataset *d)
{
	for (size_t i = 0; i < d->run->nfound; i++)
		d->run->found[i].used = d->used[i];
}

/* ---- whose folder it is ---- */

/*
 * Refuses a folder that is not a data set. The order matters: a shard creates the folder of notes
 * before any other, so whoever sees another folder also finds that one.
 */
static int check_foreign(const char *out, const char *meta, struct rk_error *err)
{
	DIR *dir = opendir(out);
	const struct dirent *e;
	bool some = false;
	struct stat st;

	if (!dir)
		return errno == ENOENT ?
			       0 :
			       rk_fail(err, RK_E_IO, "cannot open '%s': %s", out, strerror(errno));
	while ((e = readdir(dir)))
		some |= strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	closedir(dir);
	if (!some || !stat(meta, &st))
		return 0;
	return rk_fail(err, RK_E_USAGE, "'%s' is not empty and not a data set; use an empty folder",
		       out);
}

static int check_part(const struct rk_dataset *d, const char *path, struct rk_error *err)
{
	struct rk_tree *root = NULL;
	struct rk_error why = { 0 };
	int rc = rk_tree_load_found(path, &root, &why);
	bool same = false;

	if (rc == RK_E_NOMEM)
		return rk_fail_nomem(err);
	/* an unreadable note is not ours: never mix two data sets */
	if (rc == 0)
		same = !strcmp(rk_tree_text(rk_tree_get(root, "plan"), ""), d->fingerprint);
	rk_tree_free(root);
	if (same)
		return 0;
	return rk_fail(
		err, RK_E_USAGE,
		"'%s' is a data set made from other input, options or shards; remove it or use "
		"another folder",
		d->out);
}

/* Hidden files are being written by another shard. */
static int check_parts(const struct rk_dataset *d, const char *meta, struct rk_error *err)
{
	DIR *dir = opendir(meta);
	const struct dirent *e;
	int rc = 0;

	if (!dir)
		return rk_fail(err, RK_E_IO, "cannot open '%s': %s", meta, strerror(errno));
	while (rc == 0 && (e = readdir(dir))) {
		char *path;

		if (strncmp(e->d_name, "part-", 5) != 0 || !strstr(e->d_name, ".json"))
			continue;
		path = rk_strf("%s/%s", meta, e->d_name);
		rc = path ? check_part(d, path, err) : rk_fail_nomem(err);
		rk_free(path);
	}
	closedir(dir);
	return rc;
}

/* ---- the note ---- */

static void put_ranks(struct rk_json_out *j, const struct rk_dataset *d, const char *key,
		      bool (*which)(const struct rk_unit *u))
{
	rk_json_array_flat(j, key);
	for (size_t i = 0; i < d->nunits; i++) {
		const struct rk_unit *u = &d->units[i];

		if (u->shard != d->shard || !which(u))
			continue;
		if (u->rank >= 0)
			rk_json_int(j, NULL, u->rank);
		else
			rk_json_null(j, NULL);
	}
	rk_json_close(j);
}

static bool any(const struct rk_unit *u)
{
	return u != NULL;
}

static bool has_failed(const struct rk_unit *u)
{
	return u->failed;
}

static bool is_empty(const struct rk_unit *u)
{
	return !u->failed && !u->rows;
}

static void put_tables(struct rk_json_out *j, const struct rk_dataset *d)
{
	rk_json_object(j, "tables");
	for (unsigned t = 0; t < RK_NTABLES; t++) {
		if (!d->files[t])
			continue;
		rk_json_object_flat(j, rk_table_name(t));
		rk_json_uint(j, "rows", d->rows[t]);
		rk_json_uint(j, "files", d->files[t]);
		rk_json_close(j);
	}
	rk_json_close(j);
}

static void put_note(struct rk_bytes *text, const struct rk_dataset *d, const char *state)
{
	bool over = strcmp(state, "writing") != 0;
	struct rk_json_out j;

	rk_json_begin(&j, text);
	rk_json_int(&j, "schema", 1);
	rk_json_text(&j, "rockit", ROCKIT_VERSION);
	rk_json_text(&j, "state", state);
	rk_json_uint(&j, "shard", d->shard);
	rk_json_uint(&j, "shards", d->nshards);
	rk_json_text(&j, "plan", d->fingerprint);
	put_ranks(&j, d, "ranks", any);
	if (over) {
		put_ranks(&j, d, "empty", is_empty);
		put_ranks(&j, d, "failed", has_failed);
		put_tables(&j, d);
	}
	rk_json_end(&j);
}

static int write_note(const struct rk_dataset *d, const char *state, struct rk_error *err)
{
	char *path = rk_strf("%s/" META "/part-%u-of-%u.json", d->out, d->shard, d->nshards);
	struct rk_bytes text;
	int rc = path ? 0 : rk_fail_nomem(err);

	rk_bytes_init(&text, 16 << 20);
	put_note(&text, d, state);
	if (rc == 0 && text.bad)
		rc = rk_fail_nomem(err);
	if (rc == 0)
		rc = rk_write_file(path, (const char *)text.data, text.len, err);
	rk_bytes_release(&text);
	rk_free(path);
	return rc;
}

static int claim(const struct rk_dataset *d, struct rk_error *err)
{
	char *meta = rk_strf("%s/" META, d->out);
	int rc = meta ? check_foreign(d->out, meta, err) : rk_fail_nomem(err);

	if (rc == 0)
		rc = rk_make_dirs(meta, err);
	if (rc == 0)
		rc = check_parts(d, meta, err);
	rk_free(meta);
	return rc < 0 ? rc : write_note(d, "writing", err);
}

/* ---- invalid arguments ---- */

/* The real path of `path`, or of its innermost folder that exists. */
static bool real_path(const char *path, char real[PATH_MAX])
{
	char part[PATH_MAX], *slash;

	if ((size_t)snprintf(part, sizeof(part), "%s", path) >= sizeof(part))
		return false;
	while (!realpath(part, real)) {
		slash = strrchr(part, '/');
		if (!slash || slash == part)
			return realpath(slash ? "/" : ".", real) != NULL;
		*slash = '\0';
	}
	return true;
}

static bool holds_out(const char *input, const char *out)
{
	char dir[PATH_MAX], place[PATH_MAX];
	size_t len;

	if (!realpath(input, dir) || !rk_is_dir(dir) || !real_path(out, place))
		return false;
	len = strlen(dir);
	while (len && dir[len - 1] == '/')
		len--;
	return !strncmp(place, dir, len) && (!place[len] || place[len] == '/');
}

/* Otherwise the next conversion would read the data set as input and count everything twice. */
static int check_place(const struct rk_convert_options *opt, struct rk_error *err)
{
	if (!strcmp(opt->out, "-"))
		return rk_fail(err, RK_E_USAGE, "a data set is a directory; use '-o DIR/'");
	for (size_t i = 0; i < opt->ninputs; i++)
		if (holds_out(opt->inputs[i], opt->out))
			return rk_fail(
				err, RK_E_USAGE,
				"'%s' is inside the input '%s'; write the data set elsewhere",
				opt->out, opt->inputs[i]);
	return 0;
}

/* Each rank is read separately, so a pipe would be empty for the second. */
static int check_pipes(struct rk_run *run, struct rk_error *err)
{
	for (unsigned t = 0; t < RK_NTABLES; t++)
		if (!rk_run_rescannable(run, t))
			return rk_fail(err, RK_E_USAGE,
				       "a pipe cannot be read once per rank; name a file");
	return 0;
}

/* ---- the work ---- */

/* An unreadable table of a rank is skipped. */
static void note_failure(struct rk_dataset *d, struct rk_unit *u, const struct rk_error *why,
			 enum rk_table t)
{
	u->failed = true;
	rk_diag_add(d->run->ctx.diag, "unreadable-rank", why->file[0] ? why->file : u->path,
		    why->line, 1, "%s; its %s are not in the data set", why->message,
		    rk_table_name(t));
}

static int write_unit(struct rk_dataset *d, struct rk_unit *u, struct rk_error *err)
{
	uint32_t tables;
	int rc = 0;

	mask(d, u);
	tables = rk_run_tables(d->run);
	for (unsigned t = 0; rc == 0 && t < RK_NTABLES; t++) {
		struct rk_error why = { 0 };
		bool input = false;

		if (!(tables >> t & 1) || (d->table >= 0 && (unsigned)d->table != t))
			continue;
		rc = rk_dataset_write(d, u, t, &input, &why);
		if (rc < 0 && !input && err)
			*err = why;
		if (rc < 0 && input) {
			note_failure(d, u, &why, t);
			rc = 0;
		}
	}
	unmask(d);
	if (rc == 0 && !u->rows && !u->failed && u->rank >= 0)
		rk_diag_add(d->run->ctx.diag, "empty-rank", u->path, 0, 1,
			    "rank %" PRId64 " has no rows", u->rank);
	return rc;
}

static int carry_out(struct rk_dataset *d, struct rk_error *err)
{
	size_t failed = 0;
	int rc = make_plan(d, err);

	if (rc < 0)
		return rc;
	rc = claim(d, err);
	for (size_t i = 0; rc == 0 && i < d->nunits; i++) {
		if (d->units[i].shard != d->shard)
			continue;
		rc = write_unit(d, &d->units[i], err);
		failed += d->units[i].failed;
	}
	if (rc < 0)
		return rc;
	rc = write_note(d, failed ? "incomplete" : "done", err);
	if (rc < 0 || !failed)
		return rc;
	return rk_fail(err, RK_E_FORMAT,
		       "%zu rank%s could not be read completely; the others are in '%s'", failed,
		       failed == 1 ? "" : "s", d->out);
}

int rk_run_convert_dataset(struct rk_run *run, const struct rk_convert_options *opt, int table,
			   struct rk_convert_result *ret, struct rk_error *err)
{
	struct rk_dataset d = { .run = run,
				.out = opt->out,
				.table = table,
				.shard = opt->shard ? opt->shard : 1,
				.nshards = opt->nshards ? opt->nshards : 1 };
	int rc = check_place(opt, err);

	if (rc == 0)
		rc = check_pipes(run, err);
	if (rc == 0)
		rc = carry_out(&d, err);
	for (unsigned t = 0; rc == 0 && t < RK_NTABLES; t++) {
		ret->rows += d.rows[t];
		ret->files += (unsigned)d.files[t];
	}
	rk_free(d.units);
	rk_free(d.used);
	return rc;
}
