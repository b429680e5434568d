/* run_files.c - which files there are, what they hold, and what their paths say. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "api/run.h"
#include "base/alloc.h"
#include "base/num.h"
#include "base/text.h"

/* Endings behind a process's prefix, longest first where one ends another. */
static const char *const endings[] = {
	"_counter_collection.csv",
	"_kernel_trace.csv",
	"_memory_copy_trace.csv",
	"_memory_allocation_trace.csv",
	"_scratch_memory_trace.csv",
	"_hip_api_trace.csv",
	"_hsa_api_trace.csv",
	"_marker_api_trace.csv",
	"_rccl_api_trace.csv",
	"_rocdecode_api_trace.csv",
	"_rocjpeg_api_trace.csv",
	"_hipfile_api_trace.csv",
	"_counter_collection_trace.csv",
	"_regions_trace.csv",
	"_agent_info.csv",
	"_pc_sampling_host_trap.csv",
	"_pc_sampling_stochastic.csv",
	"_streaming_performance_monitor.csv",
	"_hip_api_stats.csv",
	"_hsa_api_stats.csv",
	"_marker_api_stats.csv",
	"_rccl_api_stats.csv",
	"_rocdecode_api_stats.csv",
	"_rocjpeg_api_stats.csv",
	"_kernel_stats.csv",
	"_memory_copy_stats.csv",
	"_memory_allocation_stats.csv",
	"_scratch_memory_stats.csv",
	"_domain_stats.csv",
	"_results.db",
	"_results.json",
	"_results.pftrace",
};

static size_t without_packing(const char *path)
{
	static const char *const packed[] = { ".gz", ".xz", ".zst" };
	size_t len = strlen(path);

	for (unsigned i = 0; i < 3; i++)
		if (rk_text_ends(path, len, packed[i]))
			return len - strlen(packed[i]);
	return len;
}

/* The part of the path that files of one process share; files named otherwise stand alone. */
static char *group_of(const char *path)
{
	size_t len = without_packing(path);

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (rk_text_ends(path, len, endings[i]))
			return rk_strndup(path, len - strlen(endings[i]));
	return rk_strdup(path);
}

/* The number behind `word` at the beginning of some directory in the path, or -1. */
static int64_t number_in_path(const char *path, const char *const *words)
{
	int64_t found = -1, v;

	for (const char *p = path, *slash; (slash = strchr(p, '/')); p = slash + 1) {
		for (const char *const *w = words; *w; w++) {
			size_t n = strlen(*w);

			if ((size_t)(slash - p) > n && !strncmp(p, *w, n) &&
			    rk_num_i64(p + n, (size_t)(slash - p) - n, &v) == RK_NUM_OK && v >= 0)
				found = v;
		}
	}
	return found;
}

static int64_t pid_in_name(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t n = strspn(name, "0123456789");
	int64_t v;

	if (!n || name[n] != '_' || rk_num_i64(name, n, &v) != RK_NUM_OK)
		return -1;
	return v;
}

static struct rk_found *new_found(struct rk_run *run, struct rk_error *err)
{
	size_t cap = run->cap_found ? run->cap_found * 2 : 16;
	struct rk_found *found;

	if (run->nfound == run->cap_found) {
		found = rk_reallocn(run->found, cap, sizeof(*found));
		if (!found) {
			rk_fail_nomem(err);
			return NULL;
		}
		run->found = found;
		run->cap_found = cap;
	}
	found = &run->found[run->nfound++];
	*found = (struct rk_found){ .pass = -1, .rank = -1, .pid = -1 };
	return found;
}

static int read_path(struct rk_found *f, const char *path, struct rk_error *err)
{
	static const char *const passes[] = { "pmc_", "pass_", NULL };
	static const char *const ranks[] = { "rank-", "rank=", NULL };
	int64_t pass = number_in_path(path, passes);
	struct stat st;

	f->path = rk_strdup(path);
	f->group = group_of(path);
	if (!f->path || !f->group)
		return rk_fail_nomem(err);
	f->stem = without_packing(path);
	f->pass = pass > INT32_MAX ? -1 : (int)pass;
	f->rank = number_in_path(path, ranks);
	f->pid = strcmp(f->path, f->group) ? pid_in_name(path) : -1;
	if (!stat(path, &st) && S_ISREG(st.st_mode)) {
		f->bytes = (uint64_t)st.st_size;
		f->dev = (uint64_t)st.st_dev;
		f->ino = (uint64_t)st.st_ino;
	}
	return 0;
}

static bool read_once(const char *path)
{
	struct stat st;

	return !strcmp(path, "-") || (!stat(path, &st) && !S_ISREG(st.st_mode));
}

/* `must`: the user named this very file, so that it must be one we know. */
static int look_at(struct rk_run *run, const char *path, bool must, struct rk_error *err)
{
	struct rk_found *f = new_found(run, err);
	struct rk_reader *r = NULL;
	struct rk_error why = { 0 };
	int rc = f ? read_path(f, path, err) : RK_E_NOMEM;

	if (rc < 0)
		return rc;
	rc = rk_reader_open(path, &run->ctx, &r, &why);
	if (rc < 0 && (must || rc == RK_E_NOMEM)) {
		if (err)
			*err = why;
		return rc;
	}
	if (rc < 0) {
		if (rc != RK_E_UNSUPPORTED)
			rk_diag_add(run->ctx.diag, "unreadable-file", path, why.line, 1, "%s",
				    why.message);
		return 0;
	}
	f->ops = r->ops;
	f->tables = r->tables;
	f->stats_of = r->stats_of;
	if (read_once(path))
		f->kept = r;
	else
		rk_reader_close(r);
	return 0;
}

/* A directory that rockit made: its Parquet files, not what they were made from. */
static bool is_rockit_dir(const char *dir, struct rk_bytes *path)
{
	struct stat st;

	rk_bytes_clear(path);
	rk_bytes_printf(path, "%s/run.json", dir);
	return rk_bytes_str(path) && !stat(rk_bytes_str(path), &st);
}

static int look_in_dir(struct rk_run *run, const char *dir, struct rk_error *err)
{
	size_t before = run->nfound, known = 0;
	struct rk_bytes path;
	struct rk_walk w = { 0 };
	bool made_here;
	int rc = rk_walk_dir(dir, &w, err);

	rk_bytes_init(&path, 1 << 16);
	made_here = is_rockit_dir(dir, &path);
	rk_bytes_release(&path);
	for (size_t i = 0; rc == 0 && i < w.n; i++)
		if (!made_here || rk_text_ends(w.paths[i], strlen(w.paths[i]), ".parquet"))
			rc = look_at(run, w.paths[i], false, err);
	rk_walk_release(&w);
	for (size_t i = before; i < run->nfound; i++)
		known += run->found[i].ops != NULL;
	if (rc == 0 && !known)
		rc = rk_fail(err, RK_E_UNSUPPORTED,
			     "no profiler output in '%s' (see 'rockit help formats')", dir);
	return rc;
}

int rk_run_find(struct rk_run *run, const char *const *paths, size_t npaths, struct rk_error *err)
{
	int rc = npaths ? 0 : rk_fail(err, RK_E_USAGE, "no input given");

	for (size_t i = 0; rc == 0 && i < npaths; i++)
		rc = rk_is_dir(paths[i]) ? look_in_dir(run, paths[i], err) :
					   look_at(run, paths[i], true, err);
	if (rc < 0)
		return rc;
	run->files = rk_calloc(run->nfound, sizeof(*run->files));
	run->reasons = rk_calloc(run->nfound, sizeof(*run->reasons));
	return run->files && run->reasons ? 0 : rk_fail_nomem(err);
}
