/* run_files.c - the files of a run: what they contain, and what their paths say. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "base/num.h"
#include "base/text.h"
#include "io/file.h"
#include "run/ranks.h"
#include "run/run.h"
#include "run/run_dir.h"
#include "run/run_json.h"
#include "run/run_ranks.h"
#include "write/writer.h"

/* ---- information in the path of a file ---- */

/* File name endings after the prefix of a process. An ending must come before its own suffixes. */
static const char *const endings[] = {
	"_counter_collection.csv", "_kernel_trace.csv", "_memory_copy_trace.csv",
	"_memory_allocation_trace.csv", "_scratch_memory_trace.csv", "_hip_api_trace.csv",
	"_hsa_api_trace.csv", "_marker_api_trace.csv", "_rccl_api_trace.csv",
	"_rocdecode_api_trace.csv", "_rocjpeg_api_trace.csv", "_hipfile_api_trace.csv",
	"_spm_counter_collection_trace.csv", "_graph_launch_trace.csv", "_hip_event_trace.csv",
	"_counter_collection_trace.csv", "_regions_trace.csv", "_agent_info.csv",
	"_pc_sampling_host_trap.csv", "_pc_sampling_stochastic.csv",
	"_streaming_performance_monitor.csv", "_hip_api_stats.csv", "_hsa_api_stats.csv",
	"_marker_api_stats.csv", "_rccl_api_stats.csv", "_rocdecode_api_stats.csv",
	"_rocjpeg_api_stats.csv", "_kernel_stats.csv", "_memory_copy_stats.csv",
	"_memory_allocation_stats.csv", "_scratch_memory_stats.csv", "_domain_stats.csv",
	"_results.db", "_results.json", "_results.pftrace",
	/* rocprof v1: results.csv, results.stats.csv, ... */
	".hip_stats.csv", ".hsa_stats.csv", ".copy_stats.csv", ".stats.csv", ".csv", ".json", ".db",
	".rkraw", /* our collectors: only the process number */
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

/* Do all files in the folder belong to the same process? */
static bool shares_folder(const char *name, size_t len)
{
	/* rocprof-compute and omniperf: files of one program, which was executed once per file */
	static const char *const compute[] = { "timestamps.csv",     "sysinfo.csv",
					       "roofline.csv",       "pmc_dispatch_info.csv",
					       "pmc_kernel_top.csv", "pmc_perf.csv" };
	/* raw files of rocprof v1 in its data directory, one per process and one merged */
	static const char *const raw[] = { "hip_api_trace.txt", "hsa_api_trace.txt",
					   "hcc_ops_trace.txt", "async_copy_trace.txt",
					   "roctx_trace.txt",   "results.txt" };

	for (size_t i = 0; i < sizeof(compute) / sizeof(compute[0]); i++)
		if (strlen(compute[i]) == len && !memcmp(name, compute[i], len))
			return true;
	for (size_t i = 0; i < sizeof(raw) / sizeof(raw[0]); i++)
		if (rk_text_ends(name, len, raw[i]))
			return true;
	if (!rk_text_ends(name, len, ".csv"))
		return false;
	/* one file per replay; rocprof-compute 3.5 and later may write "results_pmc_perf_0.csv" */
	if (!strncmp(name, "results_", 8))
		name += 8;
	return !strncmp(name, "pmc_perf_", 9) || !strncmp(name, "SQ_", 3) ||
	       !strncmp(name, "SQC_", 4);
}

/*
 * File names that end with the process: "6992" in rocprofv2's "hip_api_trace_6992.csv" (or the word
 * given with -o) and in rocprof-sys's "perfetto-trace-6992.proto". NULL for other names; *ret_len
 * is the length.
 */
static const char *behind_table(const char *name, size_t len, size_t *ret_len)
{
	static const struct {
		const char *begin, *end;
	} tables[] = {
		{ "results_", ".csv" },       { "hip_api_trace_", ".csv" },
		{ "hsa_api_trace_", ".csv" }, { "hcc_ops_trace_", ".csv" },
		{ "roctx_trace_", ".csv" },   { "async_copy_trace_", ".csv" },
		{ "pcs_trace_", ".csv" },     { "perfetto-trace-", ".proto" },
		{ "rocpd-", ".db" },
	};

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		size_t n = strlen(tables[i].begin), m = strlen(tables[i].end);

		if (len <= n + m || strncmp(name, tables[i].begin, n) != 0 ||
		    !rk_text_ends(name, len, tables[i].end))
			continue;
		*ret_len = len - n - m;
		return name + n;
	}
	return NULL;
}

/*
 * The part of the path that files of one process share; a file with any other name is its own
 * group.
 */
static char *group_of(const char *path)
{
	const char *name = rk_base_name(path), *behind;
	size_t len = without_packing(path), behind_len, dir = (size_t)(name - path);

	if (shares_folder(name, len - dir))
		return rk_strndup(path, dir);
	behind = behind_table(name, len - dir, &behind_len);
	if (behind)
		return rk_strf("%.*s%.*s", (int)dir, path, (int)behind_len, behind);
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		if (!rk_text_ends(path, len, endings[i]))
			continue;
		len -= strlen(endings[i]);
		/* x_results.csv of rocprof v1 and its x_results.db are also one process */
		if (endings[i][0] == '.' && rk_text_ends(path, len, "_results"))
			len -= strlen("_results");
		return rk_strndup(path, len);
	}
	return rk_strdup(path);
}

static const char *const passes[] = { "pmc_", "pass_", NULL };

/* Is the directory name one of `words` followed by a number? */
static bool numbered(const char *dir, size_t len, const char *const *words, int64_t *ret)
{
	for (; *words; words++) {
		size_t n = strlen(*words);

		if (len > n && !strncmp(dir, *words, n) &&
		    rk_num_i64(dir + n, len - n, ret) == RK_NUM_OK)
			return true;
	}
	return false;
}

/*
 * The number of a pass directory in the path, or -1. With several the outermost counts: ours may
 * contain the tool's own, which is always its first.
 */
static int64_t pass_of(const char *path)
{
	int64_t v;

	for (const char *p = path, *slash; (slash = strchr(p, '/')); p = slash + 1)
		if (numbered(p, (size_t)(slash - p), passes, &v) && v >= 0)
			return v;
	return -1;
}

/* The process number in the name of a file, or -1. */
static int64_t pid_of(const char *path, const char *group)
{
	const char *name = rk_base_name(path), *behind;
	size_t n = strspn(name, "0123456789"), len;
	int64_t v;

	behind = behind_table(name, without_packing(path) - (size_t)(name - path), &len);
	if (behind) {
		if (rk_num_i64(behind, len, &v) != RK_NUM_OK || v <= 0)
			return -1;
		return v;
	}
	if (path[strlen(group)] != '_' || !n || name[n] != '_' ||
	    rk_num_i64(name, n, &v) != RK_NUM_OK)
		return -1;
	return v;
}

/* The group without the pass directory and the process number. */
static char *program_of(const char *group)
{
	const char *name = rk_base_name(group);
	size_t digits = strspn(name, "0123456789");
	struct rk_bytes b;
	char *ret = NULL;
	int64_t v;

	rk_bytes_init(&b, strlen(group) + 2);
	for (const char *p = group, *slash; p < name; p = slash + 1) {
		slash = strchr(p, '/');
		if (!numbered(p, (size_t)(slash - p), passes, &v))
			rk_bytes_put(&b, p, (size_t)(slash + 1 - p));
	}
	rk_bytes_puts(&b, digits && !name[digits] ? "#" : name);
	rk_bytes_give(&b, &ret, NULL, NULL);
	return ret;
}

static int read_path(struct rk_found *f, const char *path, struct rk_error *err)
{
	int64_t pass = pass_of(path);
	size_t prefix = rk_rank_prefix(path), name = prefix;
	struct stat st;

	f->path = rk_strdup(path);
	f->group = group_of(path);
	f->program = f->group ? program_of(f->group) : NULL;
	if (!f->path || !f->program)
		return rk_fail_nomem(err);
	f->stem = without_packing(path);
	f->pass = pass > INT32_MAX ? -1 : (int)pass;
	/* the innermost folder that names a rank, without its slash */
	while (name > 0 && (name == prefix || path[name - 1] != '/'))
		name--;
	f->rank = prefix ? rk_rank_of_any_folder(path + name, prefix - 1 - name) :
			   rk_rank_of_file(rk_base_name(path));
	f->pid = pid_of(path, f->group);
	if (!stat(path, &st) && S_ISREG(st.st_mode)) {
		f->bytes = (uint64_t)st.st_size;
		f->dev = (uint64_t)st.st_dev;
		f->ino = (uint64_t)st.st_ino;
		f->mtime = st.st_mtim;
	}
	return 0;
}

/* ---- the contents of files ---- */

/* Is it an uncompressed trace or statistics that rockit wrote, a view of the files next to it? */
static bool made_here(const char *path)
{
	struct rk_file *f = NULL;
	char head[4096];
	size_t len = 0;
	bool ret = rk_file_open(path, &f, NULL) == 0 && f->seekable &&
		   rk_file_pread(f, head, sizeof(head), 0, &len, NULL) == 0 &&
		   (rk_writer_made(head, len) ||
		    (len >= strlen(RK_STATS_HEADER) &&
		     !memcmp(head, RK_STATS_HEADER, strlen(RK_STATS_HEADER))));

	rk_file_close(f);
	return ret;
}

/* api.parquet and so on: the table made from everything in this folder and below. */
static int table_here(const struct rk_found *f)
{
	const char *name = rk_base_name(f->path);

	for (int t = 0; f->ops->own_tables && t < RK_NTABLES; t++) {
		size_t len = strlen(rk_table_name((enum rk_table)t));

		if (!strncmp(name, rk_table_name((enum rk_table)t), len) &&
		    !strcmp(name + len, ".parquet"))
			return t;
	}
	return -1;
}

/* `must`: the user named this file, so an unknown format is an error. */
static int look_at(struct rk_run *run, const char *path, bool must, struct rk_error *err)
{
	struct rk_found *f =
		rk_grow(run->found, &run->cap_found, run->nfound + 1, sizeof(*run->found));
	struct rk_reader *r = NULL;
	struct rk_error why = { 0 };
	struct stat st;
	int rc;

	if (!f)
		return rk_fail_nomem(err);
	run->found = f;
	f += run->nfound++;
	*f = (struct rk_found){ .pass = -1, .rank = -1, .pid = -1, .table_here = -1 };
	rc = read_path(f, path, err);
	if (rc < 0)
		return rc;
	rc = rk_reader_open(path, &run->ctx, &r, &why);
	if (rc < 0 && (must || rc == RK_E_NOMEM)) {
		if (err)
			*err = why;
		return rc;
	}
	/* tables and databases are never empty, so an empty one is truncated */
	if (rc == RK_E_UNSUPPORTED &&
	    (rk_text_ends(path, strlen(path), ".parquet") ||
	     rk_text_ends(path, strlen(path), ".db")) &&
	    !stat(path, &st) && S_ISREG(st.st_mode) && !st.st_size) {
		rk_error_clear(&why);
		rc = rk_fail(&why, RK_E_FORMAT, "the file is empty (truncated)");
	}
	if (rc < 0) {
		f->unreadable = rc != RK_E_UNSUPPORTED;
		if (f->unreadable)
			rk_diag_add(run->ctx.diag, "unreadable-file", path, why.line, 1, "%s",
				    why.message);
		return 0;
	}
	f->ops = r->ops;
	f->tables = r->tables;
	f->stats_of = r->stats_of;
	f->untimed = r->untimed;
	f->release = r->release;
	f->analysis = r->analysis ? r->analysis : r->ops->analysis;
	f->many_ranks = r->many_ranks || f->ops->rows_rank == RK_ROWS_MANY_RANKS;
	if (r->has_rank) /* it knows better than its name */
		f->rank = r->rank;
	else if (f->many_ranks && !rk_rank_prefix(path))
		f->rank = -1;
	f->in_dir = !must;
	if (!must)
		f->table_here = table_here(f);
	/* standard input, a pipe: cannot be opened again */
	if (!strcmp(path, "-") || (!stat(path, &st) && !S_ISREG(st.st_mode))) {
		f->kept = r;
		return 0;
	}
	f->made_here = !must && made_here(path);
	rk_reader_close(r);
	return 0;
}

/* The kernels table in a directory. */
#define KERNELS_FILE "rocprof_kernels.parquet"

/* Length of the directory part of a path, without the slash. */
static size_t dir_len(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) : 0;
}

static bool is_below(const char *path, const char *dir, size_t len)
{
	return !strncmp(path, dir, len) && path[len] == '/';
}

/*
 * In a directory that rockit created or wrote tables to, we read the tables, not their raw files.
 * An aborted run has no tables yet, so we read its raw files. Paths are sorted, so the files of a
 * directory are adjacent; sets `skip` for each file to skip. *ret_above: there are rank folders
 * below the directory.
 */
static void pass_over_raw(const struct rk_walk *w, size_t at, bool *skip, bool *ret_above)
{
	const char *dir = w->paths[at];
	size_t len = dir_len(dir), first = at, last = at;
	bool tables = false;

	while (first > 0 && is_below(w->paths[first - 1], dir, len))
		first--;
	while (last + 1 < w->n && is_below(w->paths[last + 1], dir, len))
		last++;
	*ret_above = false;
	for (size_t i = first; i <= last && !*ret_above; i++)
		*ret_above = rk_rank_prefix(w->paths[i]) > len + 1;
	for (size_t i = first; i <= last; i++)
		tables |= dir_len(w->paths[i]) == len &&
			  rk_text_ends(w->paths[i], strlen(w->paths[i]), ".parquet");
	for (size_t i = first; tables && i <= last; i++)
		skip[i] |= !rk_text_ends(w->paths[i], strlen(w->paths[i]), ".parquet");
}

/*
 * Whether a file is in a copy of a window, in a run directory that is read as a whole: the run itself
 * has the same records. `dir` is what is being read.
 */
static bool is_copy(const char *path, const char *dir)
{
	size_t at = strlen(dir);

	while (path[at]) {
		size_t from = at + strspn(path + at, "/"), len = strcspn(path + from, "/");
		char *record;
		bool copy;

		at = from + len;
		if (!path[at] || !rk_is_snap(path + from, len))
			continue;
		record = rk_strf("%.*s" RK_RUN_JSON, (int)from, path);
		copy = record && access(record, F_OK) == 0;
		rk_free(record);
		if (copy)
			return true;
	}
	return false;
}

static int look_at_all(struct rk_run *run, const char *dir, const struct rk_walk *w,
		       struct rk_error *err)
{
	bool *skip = rk_calloc(w->n ? w->n : 1, sizeof(*skip)), above;
	int rc = 0;

	if (!skip)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < w->n; i++) {
		size_t len = strlen(w->paths[i]);

		if (is_copy(w->paths[i], dir)) {
			skip[i] = true;
		} else if (rk_text_ends(w->paths[i], len, "/run.json")) {
			skip[i] = true;
			rc = rk_records_add(run, w->paths[i], err);
			if (rc < 0)
				goto out;
			pass_over_raw(w, i, skip, &above);
			run->records.v[run->records.n - 1].above = above;
		} else if (rk_text_ends(w->paths[i], len, "/" KERNELS_FILE)) {
			pass_over_raw(w, i, skip, &above);
		}
	}
	for (size_t i = 0; i < w->n; i++) {
		if (skip[i])
			continue;
		rc = look_at(run, w->paths[i], false, err);
		if (rc < 0)
			goto out;
	}
out:
	rk_free(skip);
	return rc;
}

/* There is nothing to read: reports which file could not be read, or what run.json warns about. */
static int fail_nothing(const struct rk_run *run, const char *dir, struct rk_error *err)
{
	size_t n, len = strlen(dir);
	const struct rk_warning *w = rk_diag_list(run->ctx.diag, &n);

	for (size_t i = 0; i < n; i++) {
		if (strcmp(w[i].kind, "unreadable-file") != 0)
			continue;
		rk_fail(err, RK_E_FORMAT, "%s", w[i].message);
		rk_error_at(err, w[i].file, w[i].line, 0);
		return RK_E_FORMAT;
	}
	while (len > 1 && dir[len - 1] == '/')
		len--;
	for (size_t i = 0; i < run->records.n; i++) {
		const struct rk_run_record *r = &run->records.v[i];

		if (!r->ours || !is_below(r->dir, dir, len) || r->dir[len + 1])
			continue;
		if (r->text[RK_REC_WARNING][0])
			return rk_fail(err, RK_E_UNSUPPORTED, "no profiler output in '%s': %s", dir,
				       r->text[RK_REC_WARNING]);
		break;
	}
	return rk_fail(err, RK_E_UNSUPPORTED,
		       "no profiler output in '%s' (see 'rockit help formats')", dir);
}

static int look_in_dir(struct rk_run *run, const char *dir, struct rk_error *err)
{
	size_t before = run->nfound;
	struct rk_walk w = { 0 };
	int rc;

	/* the run.json of raw files is next to their folder */
	if (rk_text_ends(dir, strlen(dir), "/rocprof_raw")) {
		rc = rk_records_near(run, dir, err);
		if (rc < 0)
			return rc;
	}
	rc = rk_walk_dir(dir, &w, err);
	if (rc == 0)
		rc = look_at_all(run, dir, &w, err);
	rk_walk_release(&w);
	if (rc < 0)
		return rc;
	for (size_t i = before; i < run->nfound; i++)
		if (run->found[i].ops)
			return 0;
	return fail_nothing(run, dir, err);
}

int rk_run_find(struct rk_run *run, const char *const *paths, size_t npaths, struct rk_error *err)
{
	int rc;

	if (!npaths)
		return rk_fail(err, RK_E_USAGE, "no input given");
	/* the path is a rank folder, inside one, or in a run that is still being recorded */
	for (size_t i = 0; i < npaths; i++)
		run->some_ranks |= rk_rank_prefix(paths[i]) ||
				   rk_rank_of_folder(rk_base_name(paths[i])) >= 0 ||
				   !strcmp(rk_base_name(paths[i]), "rocprof_raw");
	for (size_t i = 0; i < npaths; i++) {
		if (rk_is_dir(paths[i]))
			rc = look_in_dir(run, paths[i], err);
		else if ((rc = look_at(run, paths[i], true, err)) == 0)
			rc = rk_records_near(run, paths[i], err);
		if (rc < 0)
			return rc;
	}
	rk_records_settle(run);
	rc = rk_run_places(run, err);
	if (rc < 0)
		return rc;
	run->files = rk_calloc(run->nfound, sizeof(*run->files));
	run->reasons = rk_calloc(run->nfound, sizeof(*run->reasons));
	return run->files && run->reasons ? 0 : rk_fail_nomem(err);
}

/* ---- protecting inputs ---- */

int rk_run_spare(const struct rk_run *run, const char *out, bool tables, struct rk_error *err)
{
	struct stat st;

	if (!out || !strcmp(out, "-") || stat(out, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	for (size_t i = 0; i < run->nfound; i++) {
		const struct rk_found *f = &run->found[i];

		if (f->ino != (uint64_t)st.st_ino || f->dev != (uint64_t)st.st_dev)
			continue;
		/* tables that rockit wrote get the same rows when written again */
		if (f->made_here || (tables && f->ops && f->ops->own_tables))
			continue;
		return rk_fail(err, RK_E_USAGE,
			       "'%s' is an input and would be overwritten; write to another file",
			       out);
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
