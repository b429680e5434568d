/*
 * dataset_meta.c - OUT/_rockit: whose data set a folder is.
 *
 * Each shard has a file of its own there, written when it begins and again at the end, so shards on
 * many machines never write the same file. Spark and others pass over names that begin with "_".
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/json_out.h"
#include "codec/json/tree.h"
#include "convert/dataset.h"
#include "io/output.h"

static bool is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

/*
 * Something else than a data set. The order matters: a shard makes the folder of notes before any
 * other, so who sees another one finds that too.
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
		some |= !is_dots(e->d_name);
	closedir(dir);
	if (!some || !stat(meta, &st))
		return 0;
	return rk_fail(err, RK_E_USAGE,
		       "'%s' has files in it and is no data set; name an empty folder", out);
}

static int check_part(const struct rk_dataset *d, const char *path, struct rk_error *err)
{
	struct rk_tree *root = NULL;
	struct rk_error why = { 0 };
	int rc = rk_tree_load_found(path, &root, &why);
	bool same = false;

	if (rc == RK_E_NOMEM)
		return rk_fail_nomem(err);
	/* one that cannot be read is no reason to mix two data sets */
	if (rc == 0)
		same = !strcmp(rk_tree_text(rk_tree_get(root, "plan"), ""), d->fingerprint);
	rk_tree_free(root);
	if (same)
		return 0;
	return rk_fail(
		err, RK_E_USAGE,
		"'%s' holds a data set of other input, options or shards; remove it, or name "
		"another folder",
		d->out);
}

/* Hidden files are those that another shard is writing right now. */
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

int rk_dataset_claim(const struct rk_dataset *d, struct rk_error *err)
{
	char *meta = rk_strf("%s/" RK_DATASET_META, d->out);
	int rc = meta ? check_foreign(d->out, meta, err) : rk_fail_nomem(err);

	if (rc == 0)
		rc = rk_make_dirs(meta, err);
	if (rc == 0)
		rc = check_parts(d, meta, err);
	rk_free(meta);
	return rc < 0 ? rc : rk_dataset_meta(d, "writing", err);
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

int rk_dataset_meta(const struct rk_dataset *d, const char *state, struct rk_error *err)
{
	char *path =
		rk_strf("%s/" RK_DATASET_META "/part-%u-of-%u.json", d->out, d->shard, d->nshards);
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
