/*
 * run_rule.c - make sure that nothing counts twice.
 *
 * A process may have written the same rows to several files: a database, a trace as CSV,
 * statistics. For each process, each table is read from the best kind of file that has it, and from
 * all files of that kind (HIP and HSA calls). If the program was executed once per counter pass,
 * kernels are read from one execution only: the one without counters if there is one, else the
 * first. So are agents and processes.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/text.h"
#include "run/run.h"

static enum rk_precedence precedence_of(const struct rk_found *f, enum rk_table t)
{
	enum rk_precedence p = f->ops->precedence;

	if (f->ops->precedence_of)
		p = f->ops->precedence_of(rk_base_name(f->path), t);
	if (p != RK_PRECEDENCE_BY_TABLES)
		return p;
	if (f->tables & RK_TABLE_BIT(RK_STATS))
		return RK_PRECEDENCE_STATS;
	if (t == RK_KERNELS && f->tables & RK_TABLE_BIT(RK_COUNTERS))
		return RK_PRECEDENCE_COUNTERS;
	return RK_PRECEDENCE_TRACE;
}

/* For Parquet files, only the rows say what they describe. */
static bool is_about(const struct rk_found *f, const char *word)
{
	return f->stats_of && !strcmp(f->stats_of, word);
}

/* The tables whose rows these statistics duplicate; domain statistics duplicate all tables. */
static uint32_t described(const struct rk_found *f)
{
	static const struct {
		const char *of;
		uint32_t tables;
	} what[] = {
		{ "kernel", RK_TABLE_BIT(RK_KERNELS) },
		{ "copy", RK_TABLE_BIT(RK_MEMCPY) },
		{ "api", RK_TABLE_BIT(RK_API) },
		{ "marker", RK_TABLE_BIT(RK_MARKERS) | RK_TABLE_BIT(RK_API) },
		{ "memory", RK_TABLE_BIT(RK_MEMALLOC) },
	};

	for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++)
		if (is_about(f, what[i].of))
			return what[i].tables;
	return UINT32_MAX & ~RK_TABLE_BIT(RK_STATS);
}

static bool same_process(const struct rk_found *a, const struct rk_found *b)
{
	return a->group_hash == b->group_hash && !strcmp(a->group, b->group);
}

/*
 * Is `o` the table that was made from the files in f's folder? It does not include newer files.
 * Called for each pair of files.
 */
static bool is_table_of(const struct rk_found *o, const struct rk_found *f, enum rk_table t)
{
	bool newer = f->mtime.tv_sec > o->mtime.tv_sec ||
		     (f->mtime.tv_sec == o->mtime.tv_sec && f->mtime.tv_nsec > o->mtime.tv_nsec);

	return o->table_here == (int)t && o->tables & RK_TABLE_BIT(t) && f->in_dir &&
	       f->table_here < 0 && !newer && !f->ops->own_tables &&
	       !strncmp(o->path, f->path, (size_t)(rk_base_name(o->path) - o->path));
}

/*
 * Is `o` what the saved analysis `f` was made from? It is in the same folder or below, in the one
 * above, or, if the folder is called "analyze" or the like, anywhere below the one above.
 */
static bool is_analysed_by(const struct rk_found *o, const struct rk_found *f)
{
	size_t dir = (size_t)(rk_base_name(f->path) - f->path), above = dir;
	bool named;

	if (!f->in_dir || o->analysis >= f->analysis || o->left_out ||
	    !(o->tables & RK_TABLE_BIT(RK_KERNELS)))
		return false;
	if (!strncmp(o->path, f->path, dir))
		return true;
	while (above && f->path[above - 1] == '/')
		above--;
	while (above && f->path[above - 1] != '/')
		above--;
	if (!above || strncmp(o->path, f->path, above) != 0)
		return false;
	named = rk_text_iprefix(f->path + above, dir - above, "analy") ||
		rk_text_iprefix(f->path + above, dir - above, "saved");
	return named || !strchr(o->path + above, '/');
}

/*
 * Is `o` what rocprof-compute joined from the files of single replays, and `f` one of these? Files of
 * level counters ("SQ_LEVEL_WAVES.csv") are not in it.
 */
static bool is_joined_from(const struct rk_found *o, const struct rk_found *f)
{
	const char *all = rk_base_name(o->path), *one = rk_base_name(f->path);

	return (!strcmp(all, "pmc_perf.csv") || !strncmp(all, "pmc_perf.csv.", 13)) &&
	       (!strncmp(one, "pmc_perf_", 9) || !strncmp(one, "results_", 8));
}

/*
 * Is `f` from rocprof-compute's sampling of instructions ("ps_file_results.json",
 * "77_ps_file_results.json"), and `o` from its counters? Both executed the same program: its
 * dispatches count once, and counters belong to those of `o`.
 */
static bool is_sampled_again(const struct rk_found *o, const struct rk_found *f)
{
	const char *name = rk_base_name(f->path), *at = strstr(name, "ps_file_");
	size_t dir = (size_t)(name - f->path);

	return at && (at == name || at[-1] == '_') && strlen(o->group) == dir &&
	       !strncmp(o->group, f->path, dir);
}

/*
 * Is `o` the statistics ("stats_ui_output_agent_1_dispatch_2.csv") of the thread trace whose folder,
 * beside it, has `f`?
 */
static bool is_statistics_of(const struct rk_found *o, const struct rk_found *f)
{
	size_t dir = (size_t)(rk_base_name(o->path) - o->path);
	size_t folder = (size_t)(rk_base_name(f->path) - f->path);
	const char *name = o->path + dir;

	return folder > dir + 1 && !strncmp(o->path, f->path, dir) && !strncmp(name, "stats_", 6) &&
	       !strncmp(name + 6, f->path + dir, folder - dir - 1) &&
	       name[6 + folder - dir - 1] == '.';
}

/*
 * Does `o` make f's rows of table t redundant? A trace or statistics that rockit wrote into the
 * folder, under any name, were made from the other files there.
 */
static bool replaces(const struct rk_found *o, const struct rk_found *f, enum rk_table t)
{
	if (o == f || !o->ops)
		return false;
	if (t == RK_INSTRUCTIONS && o->tables & RK_TABLE_BIT(t) && is_statistics_of(o, f))
		return true;
	if (f->made_here && !o->made_here) {
		size_t len = (size_t)(rk_base_name(o->path) - o->path);
		size_t other = (size_t)(rk_base_name(f->path) - f->path);

		/* one folder is the other, or a parent of it */
		if (!strncmp(o->path, f->path, len < other ? len : other))
			return o->tables & (t == RK_STATS ? described(f) : RK_TABLE_BIT(t));
	}
	if (is_table_of(o, f, t) || is_analysed_by(o, f))
		return true;
	if (t == RK_KERNELS && o->tables & RK_TABLE_BIT(t) && is_sampled_again(o, f))
		return true;
	if (!same_process(o, f))
		return false;
	if (t == RK_STATS && !(o->tables & RK_TABLE_BIT(RK_STATS))) {
		uint32_t tables = o->tables;

		if (o->untimed)
			tables &= ~RK_TABLE_BIT(RK_KERNELS);
		return tables & described(f);
	}
	if (!(o->tables & RK_TABLE_BIT(t)))
		return false;
	if (t == RK_COUNTERS && is_joined_from(o, f))
		return true;
	/* one program, executed once per counter file: each of them has all dispatches */
	if (t == RK_KERNELS && precedence_of(o, t) == RK_PRECEDENCE_COUNTERS &&
	    precedence_of(f, t) == RK_PRECEDENCE_COUNTERS) {
		bool all = strstr(rk_base_name(o->path), "pmc_perf");

		if (all != (strstr(rk_base_name(f->path), "pmc_perf") != NULL))
			return all;
		return o < f;
	}
	return precedence_of(o, t) < precedence_of(f, t);
}

/* The best file that has f's rows of table t; NULL: read them from f. */
static const char *better_source(const struct rk_run *run, const struct rk_found *f,
				 enum rk_table t)
{
	const struct rk_found *best = NULL;
	enum rk_table of = t == RK_STATS && is_about(f, "kernel") ? RK_KERNELS : t;

	for (size_t i = 0; i < run->nfound; i++) {
		const struct rk_found *o = &run->found[i];

		if (!replaces(o, f, t))
			continue;
		if (!best || o->analysis < best->analysis ||
		    (o->analysis == best->analysis &&
		     precedence_of(o, of) < precedence_of(best, of)))
			best = o;
	}
	return best ? best->path : NULL;
}

static int least_pass(const struct rk_run *run, bool made_here)
{
	int pass = INT32_MAX;

	for (size_t i = 0; i < run->nfound; i++) {
		const struct rk_found *f = &run->found[i];

		if (f->ops && f->made_here == made_here && f->tables & RK_TABLE_BIT(RK_KERNELS) &&
		    f->pass < pass)
			pass = f->pass;
	}
	return pass;
}

/*
 * Does an earlier pass of the same program describe the machine or the process? Each pass would
 * add the same agents again.
 */
static bool described_before(const struct rk_run *run, const struct rk_found *f, enum rk_table t)
{
	for (size_t i = 0; i < run->nfound; i++) {
		const struct rk_found *o = &run->found[i];

		if (o->ops && !o->left_out && o->pass < f->pass && o->tables & RK_TABLE_BIT(t) &&
		    o->ordinal == f->ordinal && o->program_hash == f->program_hash &&
		    !strcmp(o->program, f->program))
			return true;
	}
	return false;
}

/*
 * An earlier file that is the same file (under another name, or given twice), or its uncompressed
 * version.
 */
static const char *copied_before(const struct rk_run *run, size_t i)
{
	const struct rk_found *b = &run->found[i];

	for (const struct rk_found *a = run->found; a < b; a++) {
		bool same_inode = a->ino && a->ino == b->ino && a->dev == b->dev;
		bool same_stem = a->stem_hash == b->stem_hash && a->stem == b->stem &&
				 !strncmp(a->path, b->path, a->stem);

		if (a->ops && (same_inode || same_stem))
			return a->path;
	}
	return NULL;
}

/* Kernels without times are summed up by statistics of the same process, if it has any. */
static void find_sums(struct rk_run *run)
{
	for (size_t i = 0; i < run->nfound; i++) {
		struct rk_found *f = &run->found[i];

		for (size_t k = 0; f->untimed && !f->summed && k < run->nfound; k++) {
			const struct rk_found *o = &run->found[k];

			f->summed = o->used & RK_TABLE_BIT(RK_STATS) && is_about(o, "kernel") &&
				    same_process(o, f);
		}
	}
}

/* Decides which tables are read from the file, or says why none is. */
static void settle_one(struct rk_run *run, size_t i, int pass)
{
	struct rk_found *f = &run->found[i];
	char **reason = &run->reasons[i];
	const char *better;

	if (f->left_out) {
		*reason = rk_strdup(f->left_out);
		return;
	}
	if (!f->ops) {
		*reason = rk_strdup("not a format rockit knows");
		return;
	}
	better = copied_before(run, i);
	if (better) {
		*reason = rk_strf("the same rows are in %s", better);
		return;
	}
	for (unsigned t = 0; t < RK_NTABLES; t++) {
		const char *other;

		if (!(f->tables >> t & 1))
			continue;
		if ((t == RK_KERNELS && f->pass != pass) ||
		    ((t == RK_AGENTS || t == RK_PROCESSES) && described_before(run, f, t))) {
			if (!better)
				better = "another pass";
			continue;
		}
		other = better_source(run, f, t);
		if (other)
			better = other;
		else
			f->used |= RK_TABLE_BIT(t);
	}
	if (!f->used && better)
		*reason = rk_strf("the same rows are in %s", better);
}

/*
 * The depth of the folder of `o`, whose process left raw files, if it is a parent of this one; else
 * 0.
 */
static size_t lies_above(const struct rk_found *o, const struct rk_found *raw)
{
	size_t dir = (size_t)(rk_base_name(o->path) - o->path);

	if (!o->ops || !o->ops->raw_folder || !strstr(raw->path, o->ops->raw_folder))
		return 0;
	return strncmp(o->path, raw->path, dir) == 0 ? dir : 0;
}

/*
 * Raw files that rocprof v1 keeps with -d belong to the process whose results are next to their
 * folder or above it.
 */
static int adopt_raw(struct rk_run *run, struct rk_found *raw, struct rk_error *err)
{
	const struct rk_found *owner = NULL;
	size_t depth = 0;
	char *group;

	for (size_t i = 0; i < run->nfound; i++)
		if (lies_above(&run->found[i], raw) > depth) {
			owner = &run->found[i];
			depth = lies_above(owner, raw);
		}
	if (!owner)
		return 0;
	group = rk_strdup(owner->group);
	if (!group)
		return rk_fail_nomem(err);
	rk_free(raw->group);
	raw->group = group;
	return 0;
}

/* Are the kernels read from the tables of a session? */
static bool recalls(const struct rk_found *f)
{
	return f->used & RK_TABLE_BIT(RK_KERNELS) && f->record && f->ops->own_tables;
}

/*
 * The tables of a session do not show which counters could not be joined, or by order only, but
 * its record does. Reported once.
 */
static void recall_join(struct rk_run *run, const struct rk_found *f)
{
	if (!recalls(f))
		return;
	for (const struct rk_found *o = run->found; o < f; o++)
		if (recalls(o) && o->record == f->record)
			return;
	if (f->record->by_order > 0)
		rk_diag_add(run->ctx.diag, "joined_by_order", "", 0, (uint64_t)f->record->by_order,
			    "dispatches differ in thread between passes; their counters were "
			    "joined by order within device, kernel and grid");
	if (f->record->mismatches > 0)
		rk_diag_add(run->ctx.diag, "pass-mismatch", "", 0, (uint64_t)f->record->mismatches,
			    "dispatches differ in kernel or grid between passes; their counters "
			    "were not joined; 'warnings' in run.json names the first");
}

int rk_run_settle(struct rk_run *run, struct rk_error *err)
{
	int pass = least_pass(run, false), rc;

	/* the pass to read kernels from; -1 if a file outside of all passes has them */
	if (pass == INT32_MAX)
		pass = least_pass(run, true);
	for (size_t i = 0; i < run->nfound; i++) {
		rc = adopt_raw(run, &run->found[i], err);
		if (rc < 0)
			return rc;
	}
	for (size_t i = 0; i < run->nfound; i++) {
		struct rk_found *f = &run->found[i];

		f->group_hash = rk_hash_bytes(f->group, strlen(f->group));
		f->program_hash = rk_hash_bytes(f->program, strlen(f->program));
		f->stem_hash = rk_hash_bytes(f->path, f->stem);
	}
	/*
	 * number the processes of one program and pass in order, because pids differ between
	 * executions
	 */
	for (size_t i = 0; i < run->nfound; i++) {
		struct rk_found *f = &run->found[i];

		for (size_t j = 0; j < i; j++) {
			const struct rk_found *o = &run->found[j];

			if (o->program_hash != f->program_hash || o->pass != f->pass ||
			    strcmp(o->program, f->program))
				continue;
			f->ordinal = o->ordinal;
			if (same_process(o, f))
				break;
			f->ordinal++;
		}
	}

	for (size_t i = 0; i < run->nfound; i++) {
		struct rk_found *f = &run->found[i];

		settle_one(run, i, pass);
		recall_join(run, f);
		run->files[i] = (struct rk_run_file){
			.path = f->path,
			.format = f->ops ? f->ops->name : "",
			.used = f->used != 0,
			.reason = run->reasons[i] ? run->reasons[i] : "",
		};
	}
	find_sums(run);
	return 0;
}
