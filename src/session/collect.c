/* collect.c - the files of a launcher's workers, each rank into a folder of its own. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "io/walk.h"
#include "session/record.h"
#include "session/run_dir.h"

/* "rank-12" to 12, -1 for other names. */
static int64_t rank_of(const char *name)
{
	int64_t v;

	if (strncmp(name, "rank-", 5) != 0 ||
	    rk_num_i64(name + 5, strlen(name + 5), &v) != RK_NUM_OK || v < 0 || v > INT32_MAX)
		return -1;
	return v;
}

/* <from>/rank-K becomes <dir>/rank-KKKKK/rocprof_raw[/pass_N]. */
static int move_rank(const struct rk_plan *p, const char *from, const char *name, int64_t rank,
		     struct rk_error *err)
{
	const char *pass = from + strlen(p->raw_dir); /* "" or "/pass_N" */
	struct rk_bytes old, new;
	int rc;

	rk_bytes_init(&old, 1 << 16);
	rk_bytes_init(&new, 1 << 16);
	rk_bytes_printf(&old, "%s/%s", from, name);
	rk_bytes_printf(&new, "%s/rank-%05" PRId64 "/rocprof_raw%s", p->dir, rank, pass);
	rc = rk_bytes_str(&old) && rk_bytes_str(&new) ? 0 : rk_fail_nomem(err);
	if (rc == 0)
		rc = rk_make_dirs(rk_bytes_str(&new), err);
	/* an empty directory may be renamed over */
	if (rc == 0 && rename(rk_bytes_str(&old), rk_bytes_str(&new)))
		rc = rk_fail_errno(err, errno, "cannot move '%s' to '%s'", rk_bytes_str(&old),
				   rk_bytes_str(&new));
	rk_bytes_release(&old);
	rk_bytes_release(&new);
	return rc;
}

static int collect_in(const struct rk_plan *p, const char *dir, size_t *ranks, struct rk_error *err)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	struct rk_list names = { 0 };
	int rc = 0;

	while (d && (e = readdir(d)) != NULL)
		if (rank_of(e->d_name) >= 0)
			rk_list_add(&names, e->d_name);
	if (d)
		closedir(d);
	for (size_t i = 0; rc == 0 && i < names.n; i++)
		rc = move_rank(p, dir, names.v[i], rank_of(names.v[i]), err);
	*ranks = names.n > *ranks ? names.n : *ranks;
	rk_list_release(&names);
	return rc;
}

int rk_collect_ranks(const struct rk_plan *p, size_t *ret_ranks, struct rk_error *err)
{
	int rc = 0;

	*ret_ranks = 0;
	for (size_t i = 0; rc == 0 && p->rank_key && i < p->npasses; i++)
		rc = collect_in(p, p->passes[i].dir, ret_ranks, err);
	return rc;
}
