/*
 * run_place.c - what the path of a file says about it.
 */
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/text.h"
#include "run/run.h"

/* Endings behind a process's prefix, longest first where one ends another. */
static const char *const endings[] = {
	"_counter_collection.csv", "_kernel_trace.csv", "_memory_copy_trace.csv",
	"_memory_allocation_trace.csv", "_scratch_memory_trace.csv", "_hip_api_trace.csv",
	"_hsa_api_trace.csv", "_marker_api_trace.csv", "_rccl_api_trace.csv",
	"_rocdecode_api_trace.csv", "_rocjpeg_api_trace.csv", "_hipfile_api_trace.csv",
	"_counter_collection_trace.csv", "_regions_trace.csv", "_agent_info.csv",
	"_pc_sampling_host_trap.csv", "_pc_sampling_stochastic.csv",
	"_streaming_performance_monitor.csv", "_hip_api_stats.csv", "_hsa_api_stats.csv",
	"_marker_api_stats.csv", "_rccl_api_stats.csv", "_rocdecode_api_stats.csv",
	"_rocjpeg_api_stats.csv", "_kernel_stats.csv", "_memory_copy_stats.csv",
	"_memory_allocation_stats.csv", "_scratch_memory_stats.csv", "_domain_stats.csv",
	"_results.db", "_results.json", "_results.pftrace",
	/* rocprof v1: results.csv, results.stats.csv, ... */
	".hip_stats.csv", ".hsa_stats.csv", ".copy_stats.csv", ".stats.csv", ".csv", ".json", ".db",
	".rkraw", /* our own collectors': the process's number alone */
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

/* rocprof-compute and omniperf: a directory of files for one program, run once per file. */
static bool is_compute_file(const char *name, size_t len)
{
	static const char *const names[] = { "timestamps.csv",     "sysinfo.csv",
					     "roofline.csv",       "pmc_dispatch_info.csv",
					     "pmc_kernel_top.csv", "pmc_perf.csv" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == len && !memcmp(name, names[i], len))
			return true;
	return rk_text_ends(name, len, ".csv") &&
	       (!strncmp(name, "pmc_perf_", 9) || !strncmp(name, "SQ_", 3));
}

/* The raw files rocprof v1 leaves in its data directory, once per process and once joined. */
static bool is_raw_text(const char *name, size_t len)
{
	static const char *const names[] = { "hip_api_trace.txt", "hsa_api_trace.txt",
					     "hcc_ops_trace.txt", "async_copy_trace.txt",
					     "roctx_trace.txt",   "results.txt" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (rk_text_ends(name, len, names[i]))
			return true;
	return false;
}

/*
 * Names in which the process comes last: "6992" of rocprofv2's "hip_api_trace_6992.csv" (or the
 * word of its -o) and of rocprof-sys's "perfetto-trace-6992.proto". NULL for other names; *ret_len
 * is its length.
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

static char *joined(const char *path, size_t dir, const char *behind, size_t len)
{
	char *ret = rk_alloc(dir + len + 1);

	if (!ret)
		return NULL;
	memcpy(ret, path, dir);
	memcpy(ret + dir, behind, len);
	ret[dir + len] = '\0';
	return ret;
}

/* The part of the path that files of one process share; files named otherwise stand alone. */
static char *group_of(const char *path)
{
	const char *name = rk_base_name(path), *behind;
	size_t len = without_packing(path), behind_len, dir = (size_t)(name - path);

	if (is_compute_file(name, len - dir) || is_raw_text(name, len - dir))
		return rk_strndup(path, dir);
	behind = behind_table(name, len - dir, &behind_len);
	if (behind)
		return joined(path, dir, behind, behind_len);
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		if (!rk_text_ends(path, len, endings[i]))
			continue;
		len -= strlen(endings[i]);
		/* x_results.csv of rocprof v1 and its x_results.db are one process too */
		if (endings[i][0] == '.' && rk_text_ends(path, len, "_results"))
			len -= strlen("_results");
		return rk_strndup(path, len);
	}
	return rk_strdup(path);
}

/*
 * The number behind `word` at the beginning of some directory in the path, or -1. Of several
 * passes the outer one counts: ours may hold the tool's own, which is always its first.
 */
static int64_t number_in_path(const char *path, const char *const *words, bool outer)
{
	int64_t found = -1, v;

	for (const char *p = path, *slash; (slash = strchr(p, '/')); p = slash + 1) {
		for (const char *const *w = words; *w; w++) {
			size_t n = strlen(*w);

			if ((found < 0 || !outer) && (size_t)(slash - p) > n &&
			    !strncmp(p, *w, n) &&
			    rk_num_i64(p + n, (size_t)(slash - p) - n, &v) == RK_NUM_OK && v >= 0)
				found = v;
		}
	}
	return found;
}

/* The process's number in the name of a file, or -1. */
static int64_t pid_of(const char *path, const char *group)
{
	const char *name = rk_base_name(path), *behind;
	size_t n = strspn(name, "0123456789"), len;
	int64_t v;

	behind = behind_table(name, without_packing(path) - (size_t)(name - path), &len);
	if (behind)
		return rk_num_i64(behind, len, &v) == RK_NUM_OK && v > 0 ? v : -1;

	if (path[strlen(group)] != '_' || !n || name[n] != '_' ||
	    rk_num_i64(name, n, &v) != RK_NUM_OK)
		return -1;
	return v;
}

static const char *const passes[] = { "pmc_", "pass_", NULL };
static const char *const ranks[] = { "rank-", "rank=", NULL };

static bool is_pass_dir(const char *p, size_t len)
{
	int64_t v;

	for (const char *const *w = passes; *w; w++) {
		size_t n = strlen(*w);

		if (len > n && !strncmp(p, *w, n) && rk_num_i64(p + n, len - n, &v) == RK_NUM_OK)
			return true;
	}
	return false;
}

/* The group without the directory of the pass and without the process's number. */
static char *program_of(const char *group)
{
	const char *name = rk_base_name(group);
	size_t digits = strspn(name, "0123456789");
	struct rk_bytes b;
	char *ret = NULL;

	rk_bytes_init(&b, strlen(group) + 2);
	for (const char *p = group, *slash; p < name; p = slash + 1) {
		slash = strchr(p, '/');
		if (!is_pass_dir(p, (size_t)(slash - p)))
			rk_bytes_put(&b, p, (size_t)(slash + 1 - p));
	}
	rk_bytes_puts(&b, digits && !name[digits] ? "#" : name);
	if (rk_bytes_str(&b))
		ret = rk_strdup(rk_bytes_str(&b));
	rk_bytes_release(&b);
	return ret;
}

int rk_run_place(struct rk_found *f, const char *path, struct rk_error *err)
{
	int64_t pass = number_in_path(path, passes, true);
	int64_t rank = number_in_path(path, ranks, false);
	struct stat st;

	f->path = rk_strdup(path);
	f->group = group_of(path);
	f->program = f->group ? program_of(f->group) : NULL;
	if (!f->path || !f->program)
		return rk_fail_nomem(err);
	f->stem = without_packing(path);
	f->pass = pass > INT32_MAX ? -1 : (int)pass;
	f->rank = rank > INT32_MAX ? -1 : rank;
	f->pid = pid_of(path, f->group);
	if (!stat(path, &st) && S_ISREG(st.st_mode)) {
		f->bytes = (uint64_t)st.st_size;
		f->dev = (uint64_t)st.st_dev;
		f->ino = (uint64_t)st.st_ino;
		f->mtime = st.st_mtim;
	}
	return 0;
}
