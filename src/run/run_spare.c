/* run_spare.c - what a run was read from is not written over. */
#include <string.h>
#include <sys/stat.h>

#include "base/handle.h"
#include "run/run.h"

int rk_run_spare(const struct rk_run *run, const char *out, bool tables, struct rk_error *err)
{
	struct stat st;

	if (!out || !strcmp(out, "-") || stat(out, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	for (size_t i = 0; i < run->nfound; i++) {
		const struct rk_found *f = &run->found[i];

		if (f->ino != (uint64_t)st.st_ino || f->dev != (uint64_t)st.st_dev)
			continue;
		/* tables that rockit wrote hold the same rows when they are written again */
		if (f->made_here || (tables && f->ops && f->ops->own_tables))
			continue;
		return rk_fail(err, RK_E_USAGE,
			       "'%s' is an input and would be lost; write to another file", out);
	}
	return 0;
}

int rk_run_check_output(const struct rk_run *run, const char *out, struct rk_error *err)
{
	int rc = rk_run_enter(run, __func__, err);

	if (rc < 0)
		return rc;
	rc = rk_run_spare(run, out, false, err);
	rk_run_leave(run);
	return rc;
}
