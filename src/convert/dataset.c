/*
 * dataset.c - convert --dataset: write ranks one by one, each table into folders by node and rank.
 *
 * Making the plan reads no rows: paths, sizes and kinds of files are known once a run is open, and
 * the counter columns are determined once for all ranks. So every shard computes the same plan.
 *
 * OUT/_rockit describes the data set in a folder. Each shard has its own file there, written at the
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

static int find_units(struct rk_dataset *d, struct rk_error *err)
{
	struct rk_unit *u = NULL;

	for (size_t i = 0; i < d->run->nfound; i++) {
		const struct rk_found *f = &d->run->found[i];

		/* an unreadable file still names its rank, so that it is reported */
		if (!f->used && f->rank < 0)
			continue;
		/* files of a rank are usually adjacent: try the previous unit first */
		if (u && !is_of(f, u))
			u = NULL;
		for (size_t k = d->nunits; !u && k-- > 0;)
			if (is_of(f, &d->units[k]))
				u = &d->units[k];
		if (!u) {
			if (d->nunits == UNITS_MAX)
				return rk_fail(err, RK_E_LIMIT,
					       "more than %d ranks; convert them in parts",
					       UNITS_MAX);
			u = rk_grow(d->units, &d->cap_units, d->nunits + 1, sizeof(*u));
			if (!u)
				return rk_fail_nomem(err);
			d->units = u;
			u += d->nunits++;
			*u = (struct rk_unit){ .rank = f->rank,
					       .program = f->program,
					       .path = f->path };
		}
		if (f->used)
			u->bytes += f->bytes;
	}
	return 0;
}

static int by_rank(const void *a, const void *b)
{
	const struct rk_unit *u = a, *v = b;
	uint64_t x = (uint64_t)u->rank, y = (uint64_t)v->rank; /* -1 sorts last */

	if (x != y)
		return x < y ? -1 : 1;
	return strcmp(u->path, v->path);
}

/* ---- shards ---- */

static int by_bytes(const void *a, const void *b)
{
	const struct rk_unit *u = *(struct rk_unit *const *)a, *v = *(struct rk_unit *const *)b;

	if (u->bytes != v->bytes)
		return u->bytes > v->bytes ? -1 : 1;
	return u < v ? -1 : 1;
}

/* Assigns the largest units first, each to the shard with the least work. */
static int share_out(struct rk_dataset *d, struct rk_error *err)
{
	struct rk_unit **order = rk_calloc(d->nunits + 1, sizeof(struct rk_unit *));
	uint64_t *load = rk_calloc(d->nshards, sizeof(*load));
	int rc = 0;

	if (!order || !load) {
		rc = rk_fail_nomem(err);
		goto out;
	}
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

/* Covers everything that determines the files' content, but not where the input is mounted. */
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

/* ---- checking the output folder ---- */

/*
 * Refuses a folder that is not a data set. The order matters: a shard creates the folder of notes
 * before any other, so anyone who sees another folder also finds that one.
 */
static int check_foreign(const char *out, const char *meta, struct rk_error *err)
{
	DIR *dir = opendir(out);
	const struct dirent *e;
	bool some = false;
	struct stat st;

	if (!dir && errno == ENOENT)
		return 0;
	if (!dir)
		return rk_fail(err, RK_E_IO, "cannot open '%s': %s", out, strerror(errno));
	while ((e = readdir(dir)))
		some |= strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	closedir(dir);
	if (!some || !stat(meta, &st))
		return 0;
	return rk_fail(err, RK_E_USAGE, "'%s' is not empty and not a data set; use an empty folder",
		       out);
}

/*
 * An unreadable note counts as foreign: never mix two data sets. Hidden files are being written by
 * other shards.
 */
static int check_parts(const struct rk_dataset *d, const char *meta, struct rk_error *err)
{
	DIR *dir = opendir(meta);
	const struct dirent *e;
	int rc = 0;

	if (!dir)
		return rk_fail(err, RK_E_IO, "cannot open '%s': %s", meta, strerror(errno));
	while (rc == 0 && (e = readdir(dir))) {
		struct rk_tree *root = NULL;
		struct rk_error why = { 0 };
		char *path;

		if (strncmp(e->d_name, "part-", 5) != 0 || !strstr(e->d_name, ".json"))
			continue;
		path = rk_strf("%s/%s", meta, e->d_name);
		rc = path ? rk_tree_load_found(path, &root, &why) : RK_E_NOMEM;
		if (rc == RK_E_NOMEM)
			rk_fail_nomem(err);
		else if (rc != 0 ||
			 strcmp(rk_tree_text(rk_tree_get(root, "plan"), ""), d->fingerprint))
			rc = rk_fail(err, RK_E_USAGE,
				     "'%s' is a data set made from other input, options or shards; "
				     "remove it or use another folder",
				     d->out);
		rk_tree_free(root);
		rk_free(path);
	}
	closedir(dir);
	return rc;
}

/* ---- the shard's note ---- */

enum which { ALL, EMPTY, FAILED };

static void put_ranks(struct rk_json_out *j, const struct rk_dataset *d, const char *key,
		      enum which which)
{
	rk_json_array_flat(j, key);
	for (size_t i = 0; i < d->nunits; i++) {
		const struct rk_unit *u = &d->units[i];

		if (u->shard != d->shard || (which == FAILED && !u->failed) ||
		    (which == EMPTY && (u->failed || u->rows)))
			continue;
		if (u->rank >= 0)
			rk_json_int(j, NULL, u->rank);
		else
			rk_json_null(j, NULL);
	}
	rk_json_close(j);
}

static int write_note(const struct rk_dataset *d, const char *state, struct rk_error *err)
{
	char *path = rk_strf("%s/" META "/part-%u-of-%u.json", d->out, d->shard, d->nshards);
	struct rk_json_out j;
	struct rk_bytes text;
	int rc;

	rk_bytes_init(&text, 16 << 20);
	rk_json_begin(&j, &text);
	rk_json_int(&j, "schema", 1);
	rk_json_text(&j, "rockit", ROCKIT_VERSION);
	rk_json_text(&j, "state", state);
	rk_json_uint(&j, "shard", d->shard);
	rk_json_uint(&j, "shards", d->nshards);
	rk_json_text(&j, "plan", d->fingerprint);
	put_ranks(&j, d, "ranks", ALL);
	if (strcmp(state, "writing") != 0) {
		put_ranks(&j, d, "empty", EMPTY);
		put_ranks(&j, d, "failed", FAILED);
		rk_json_object(&j, "tables");
		for (unsigned t = 0; t < RK_NTABLES; t++) {
			if (!d->files[t])
				continue;
			rk_json_object_flat(&j, rk_table_name(t));
			rk_json_uint(&j, "rows", d->rows[t]);
			rk_json_uint(&j, "files", d->files[t]);
			rk_json_close(&j);
		}
		rk_json_close(&j);
	}
	rk_json_end(&j);
	if (!path || text.bad)
		rc = rk_fail_nomem(err);
	else
		rc = rk_write_file(path, (const char *)text.data, text.len, err);
	rk_bytes_release(&text);
	rk_free(path);
	return rc;
}

static int claim(const struct rk_dataset *d, struct rk_error *err)
{
	char *meta = rk_strf("%s/" META, d->out);
	int rc;

	if (!meta)
		return rk_fail_nomem(err);
	if ((rc = check_foreign(d->out, meta, err)) == 0 && (rc = rk_make_dirs(meta, err)) == 0)
		rc = check_parts(d, meta, err);
	rk_free(meta);
	if (rc < 0)
		return rc;
	return write_note(d, "writing", err);
}

/* ---- invalid arguments ---- */

/* The real path of `path`, or of its deepest existing parent. */
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

/* ---- the work ---- */

/* Only the unit's files are enabled meanwhile. Skips an unreadable table of a rank. */
static int write_unit(struct rk_dataset *d, struct rk_unit *u, struct rk_error *err)
{
	struct rk_run *run = d->run;
	uint32_t tables;
	int rc = 0;

	for (size_t i = 0; i < run->nfound; i++) {
		d->used[i] = run->found[i].used;
		if (!is_of(&run->found[i], u))
			run->found[i].used = 0;
	}
	tables = rk_run_tables(run);
	for (unsigned t = 0; rc == 0 && t < RK_NTABLES; t++) {
		struct rk_error why = { 0 };
		bool input = false;

		if (!(tables >> t & 1) || (d->table >= 0 && (unsigned)d->table != t))
			continue;
		rc = rk_dataset_write(d, u, t, &input, &why);
		if (rc < 0 && !input && err)
			*err = why;
		if (rc < 0 && input) {
			u->failed = true;
			rk_diag_add(run->ctx.diag, "unreadable-rank",
				    why.file[0] ? why.file : u->path, why.line, 1,
				    "%s; its %s are not in the data set", why.message,
				    rk_table_name(t));
			rc = 0;
		}
	}
	for (size_t i = 0; i < run->nfound; i++)
		run->found[i].used = d->used[i];
	if (rc == 0 && !u->rows && !u->failed && u->rank >= 0)
		rk_diag_add(run->ctx.diag, "empty-rank", u->path, 0, 1,
			    "rank %" PRId64 " has no rows", u->rank);
	return rc;
}

static int carry_out(struct rk_dataset *d, struct rk_error *err)
{
	unsigned part;
	size_t failed = 0;
	int rc;

	if ((rc = rk_run_counters(d->run, err)) < 0 || (rc = find_units(d, err)) < 0)
		return rc;
	/*
	 * Files of a rank are part 0. Files that name no rank may have rows of any rank: each gets
	 * its own part.
	 */
	if (d->nunits)
		qsort(d->units, d->nunits, sizeof(*d->units), by_rank);
	part = d->nunits && d->units[0].rank >= 0;
	for (size_t i = 0; i < d->nunits; i++)
		if (d->units[i].rank < 0)
			d->units[i].part = part++;
	if ((rc = share_out(d, err)) < 0 || (rc = fingerprint(d, err)) < 0)
		return rc;
	d->used = rk_calloc(d->run->nfound + 1, sizeof(*d->used));
	if (!d->used)
		return rk_fail_nomem(err);

	rc = claim(d, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < d->nunits; i++) {
		if (d->units[i].shard != d->shard)
			continue;
		rc = write_unit(d, &d->units[i], err);
		if (rc < 0)
			return rc;
		failed += d->units[i].failed;
	}
	rc = write_note(d, failed ? "incomplete" : "done", err);
	if (rc < 0 || !failed)
		return rc;
	return rk_fail(err, RK_E_FORMAT,
		       "%zu rank%s could not be read completely; the others are in '%s'", failed,
		       rk_plural(failed), d->out);
}

int rk_run_convert_dataset(struct rk_run *run, const struct rk_convert_options *opt, int table,
			   struct rk_convert_result *ret, struct rk_error *err)
{
	struct rk_dataset d = { .run = run,
				.out = opt->out,
				.table = table,
				.shard = opt->shard ? opt->shard : 1,
				.nshards = opt->nshards ? opt->nshards : 1 };
	int rc;

	if (!strcmp(opt->out, "-"))
		return rk_fail(err, RK_E_USAGE, "a data set is a directory; use '-o DIR/'");
	/*
	 * otherwise the next conversion would read the data set as input and count everything twice
	 */
	for (size_t i = 0; i < opt->ninputs; i++)
		if (holds_out(opt->inputs[i], opt->out))
			return rk_fail(
				err, RK_E_USAGE,
				"'%s' is inside the input '%s'; write the data set elsewhere",
				opt->out, opt->inputs[i]);
	/* each rank is read separately, so a pipe would be empty for the second one */
	for (unsigned t = 0; t < RK_NTABLES; t++)
		if (!rk_run_rescannable(run, t))
			return rk_fail(err, RK_E_USAGE,
				       "a pipe cannot be read once per rank; name a file");
	rc = carry_out(&d, err);
	for (unsigned t = 0; rc == 0 && t < RK_NTABLES; t++) {
		ret->rows += d.rows[t];
		ret->files += (unsigned)d.files[t];
	}
	rk_free(d.units);
	rk_free(d.used);
	return rc;
}
