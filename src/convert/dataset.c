/* dataset.c - convert --dataset: ranks one by one, each table into folders by node and rank. */
#include "convert/dataset.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what cannot be ---- */

static bool is_within(const char *inner, const char *outer)
{
	size_t len = strlen(outer);

	while (len && outer[len - 1] == '/')
		len--;
	return !strncmp(inner, outer, len) && (!inner[len] || inner[len] == '/');
}

/* Where `path` is, or the innermost of its folders that is there. */
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

	return realpath(input, dir) && rk_is_dir(dir) && real_path(out, place) &&
	       is_within(place, dir);
}

/* The next conversion would read the data set as input, and count all twice. */
static int check_place(const struct rk_convert_options *opt, struct rk_error *err)
{
	if (!strcmp(opt->out, "-"))
		return rk_fail(err, RK_E_USAGE, "a data set is a folder; add '-o DIR/'");
	for (size_t i = 0; i < opt->ninputs; i++)
		if (holds_out(opt->inputs[i], opt->out))
			return rk_fail(
				err, RK_E_USAGE,
				"'%s' is within the input '%s'; write the data set elsewhere",
				opt->out, opt->inputs[i]);
	return 0;
}

/* Each rank is read for itself, so a pipe that holds several would be empty for the second. */
static int check_pipes(struct rk_run *run, struct rk_error *err)
{
	for (unsigned t = 0; t < RK_NTABLES; t++)
		if (!rk_run_rescannable(run, t))
			return rk_fail(err, RK_E_USAGE,
				       "a pipe cannot be read once for each rank; name a file");
	return 0;
}

/* ---- the work ---- */

/* A rank that cannot be read costs itself, not the others. */
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

	rk_dataset_mask(d, u);
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
	rk_dataset_unmask(d);
	if (rc == 0 && !u->rows && !u->failed && u->rank >= 0)
		rk_diag_add(d->run->ctx.diag, "empty-rank", u->path, 0, 1,
			    "rank %" PRId64 " has no rows", u->rank);
	return rc;
}

static int write_units(struct rk_dataset *d, size_t *ret_failed, struct rk_error *err)
{
	int rc = 0;

	*ret_failed = 0;
	for (size_t i = 0; rc == 0 && i < d->nunits; i++) {
		if (d->units[i].shard != d->shard)
			continue;
		rc = write_unit(d, &d->units[i], err);
		*ret_failed += d->units[i].failed;
	}
	return rc;
}

static int carry_out(struct rk_dataset *d, struct rk_error *err)
{
	size_t failed = 0;
	int rc = rk_dataset_plan(d, err);

	if (rc == 0)
		rc = rk_dataset_claim(d, err);
	if (rc == 0)
		rc = write_units(d, &failed, err);
	if (rc == 0)
		rc = rk_dataset_meta(d, failed ? "incomplete" : "done", err);
	if (rc == 0 && failed)
		rc = rk_fail(err, RK_E_FORMAT,
			     "%zu rank%s could not be read whole; the others are in '%s'", failed,
			     failed == 1 ? "" : "s", d->out);
	return rc;
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
	rk_dataset_release(&d);
	return rc;
}
