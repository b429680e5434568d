/* run.h - internals of a run: its files, and its tables as sources. */
#ifndef RK_RUN_H
#define RK_RUN_H

#include <pthread.h>
#include <time.h>

#include "io/dirs.h"
#include "read/reader.h"
#include "rockit/rockit.h"
#include "run/run_json.h"
#include "table/join.h"
#include "table/stages.h"

/* A file that was examined. */
/* The first line of statistics that a session writes; profilers put names into quotes. */
#define RK_STATS_HEADER "Name,Calls,TotalDurationNs,AverageNs,Percentage\n"

struct rk_found {
	char *path;
	size_t stem;                     /* length of the path without .gz, .xz or .zst */
	const struct rk_reader_ops *ops; /* NULL: no format matches */
	const char *stats_of;
	uint32_t tables; /* tables it has */
	uint32_t used;   /* tables that we read from it */
	char *group;     /* files of one process: directory and name without the known ending */
	char *program;   /* the same for all passes of one program */
	uint64_t group_hash, program_hash, stem_hash; /* to compare many files quickly */
	unsigned ordinal; /* index of the process among those of its program and pass */
	int pass;         /* from pmc_N or pass_N in its path, -1: none */
	int64_t rank;     /* from the file, else from rank-N or similar in its path; -1: none */
	bool many_ranks;  /* its rows may be of many ranks */
	int64_t pid;      /* at the start of its name, -1: none */
	uint64_t bytes;
	uint64_t dev, ino;      /* for a regular file, else 0 */
	struct timespec mtime;  /* for a regular file */
	bool unreadable;        /* known format, but damaged */
	bool damaged;           /* the same, but found only when reading rows */
	bool made_here;         /* a trace or statistics that rockit wrote, found in a directory */
	bool in_dir;            /* found in a directory, not named by the user */
	bool untimed;           /* its kernels have no times */
	bool summed;            /* so its process has statistics of them, which are used */
	unsigned analysis;      /* computed from other files: see rk_reader_ops */
	int release;            /* as in rk_reader */
	int table_here;         /* a table that `convert` wrote into a directory; -1: no */
	struct rk_reader *kept; /* for a pipe, which cannot be opened again */
	/* counters, set by rk_run_counter_names: */
	uint32_t *counters, *keys; /* names as recorded, and their keys for the join */
	int *passes;               /* the pass of each counter, -1: unknown */
	bool *again;               /* was each counter measured before, in another pass? */
	size_t ncounters;
	bool keyed;                         /* some keys are not the names */
	const char *level;                  /* the level counter of this pass, or "" */
	const struct rk_run_record *record; /* describes the file, or NULL; owned by the run */
	const char *left_out;               /* why it is not used (static); NULL: it may be used */
	bool clocked;   /* kernels are read from several files, so `clock` is set */
	uint32_t clock; /* name of their clock, 0: unknown */
};

struct rk_energy;     /* run/energy.h */
struct rk_rank_times; /* ranks/gather.h */

/* The run.json of its folders, sorted by folder after all files are found (run_ranks.c). */
struct rk_run_records {
	struct rk_run_record *v;
	size_t n, cap;
};

/* The folders of ranks, sorted by rank; the one that is used comes first (run_ranks.c). */
struct rk_run_places {
	struct rk_rank_place *v;
	size_t n, cap;
};

/* Locks that control who uses the run (run.c). */
struct rk_run_guard {
	pthread_mutex_t lock;          /* held by the thread that uses the run */
	pthread_mutex_t progress_lock; /* held while opt.progress is called or changed */
	struct rk_run_late *late;      /* protected by a lock that is only held briefly */
	pthread_mutex_t late_lock;
	bool made; /* locks are initialized */
};

/* Counters as columns of kernels (run_counters.c, run_join.c). */
struct rk_run_counters {
	/*
	 * joined to kernels; has their schema and lives as long as the run. NULL: none, or not
	 * settled
	 */
	struct rk_counter_set *set;
	bool settled; /* `set` was determined */
	bool named;   /* the counters of each file are known */
};

/* Energy as a column of kernels (run_energy.c). */
struct rk_run_energy {
	struct rk_energy *split; /* energy of the kernels, after settling; NULL: none */
	/* kernels with energy_j; sources use it until they are closed */
	struct rk_schema schema;
	struct rk_field *fields;
};

struct rk_run {
	struct rk_context ctx;
	struct rk_name_style style;
	struct rk_run_options opt;
	char *tmpdir; /* copy of opt.tmpdir */
	struct rk_found *found;
	size_t nfound, cap_found;
	struct rk_run_file *files; /* the public view, made on demand */
	char **reasons;
	struct rk_run_records records;
	struct rk_run_places places;
	struct rk_run_guard guard;
	struct rk_run_counters counters;
	struct rk_run_energy energy;
	struct {
		uint64_t before, total; /* bytes of the files before this one; of all files */
	} progress;
	/* set by rk_rank_times_use to put sorted rows on one clock; NULL: as recorded */
	const struct rk_rank_times *times;
	int (*retime)(const struct rk_rank_times *t, struct rk_source **rows, struct rk_error *err);
	bool some_ranks; /* the user selected ranks, so none is missing */
	bool tolerant;   /* see rk_run_tolerate */
	size_t scanned;  /* file of the last batch that a scan returned */
};

/* Called around each API call. RK_E_USAGE: not an open run, or it is in use. */
int rk_run_enter(const struct rk_run *run, const char *fn, struct rk_error *err);
void rk_run_leave(const struct rk_run *run);
/* A new array of the warnings so far; the run owns the strings. */
int rk_run_copy_warnings(const struct rk_run *run, const struct rk_warning **ret, size_t *ret_n,
			 struct rk_error *err);
/*
 * Between begin and end, a user callback may run on this thread: neither it nor anything it calls
 * may enter the run.
 */
struct rk_run_callback {
	const struct rk_run *run;
	const struct rk_run_callback *outer;
};
void rk_run_call_back(struct rk_run_callback *c, const struct rk_run *run);
void rk_run_called_back(const struct rk_run_callback *c);
/*
 * Takes only the lock of a run that is held (base/handle.h); waits. RK_E_USAGE inside a progress
 * callback.
 */
int rk_run_wait(struct rk_run *run, struct rk_error *err);
void rk_run_unlock(struct rk_run *run);

/* Work that uses the run and must be done as soon as nobody else does. */
struct rk_run_late {
	void (*end)(void *arg);  /* called with the lock held */
	void (*done)(void *arg); /* called unlocked; frees the owner of `l`, may release the run */
	void *arg;
	struct rk_run_late *next;
};
/* Does it now, or leaves it to the holder of the lock; never waits. */
void rk_run_later(struct rk_run *run, struct rk_run_late *l);

int rk_unknown_table(const char *name, struct rk_error *err);

/* Examines every file (run_files.c) and decides which tables are read from it (run_rule.c). */
int rk_run_find(struct rk_run *run, const char *const *paths, size_t npaths, struct rk_error *err);
int rk_run_settle(struct rk_run *run, struct rk_error *err);

/*
 * Fails if `out` is an input of the run (run_files.c). With `tables` the output is Parquet, which
 * may replace Parquet files that rockit wrote.
 */
int rk_run_spare(const struct rk_run *run, const char *out, bool tables, struct rk_error *err);

/*
 * From now on, damage found while reading the rows of one of several ranks only ends that file,
 * with a warning; the other ranks are still read.
 */
void rk_run_tolerate(struct rk_run *run);

/* The tables that any file has. */
uint32_t rk_run_tables(const struct rk_run *run);
/* All rows of one table from all files, with cleaned names and the values known from paths. */
int rk_run_scan(struct rk_run *run, enum rk_table t, uint64_t want, struct rk_source **ret,
		struct rk_error *err);
/*
 * The same for sums over time: without kernels that have no times where statistics of the same
 * process have them.
 */
int rk_run_scan_timed(struct rk_run *run, enum rk_table t, uint64_t want, struct rk_source **ret,
		      struct rk_error *err);
/* The same for kernels: all fields, and a column for each counter that can be joined. */
int rk_run_scan_kernels(struct rk_run *run, struct rk_source **ret, struct rk_error *err);
/* Kernels with the columns of `set`, which must outlive the source. */
int rk_run_scan_joined(struct rk_run *run, const struct rk_counter_set *set, uint64_t want,
		       struct rk_source **ret, struct rk_error *err);
/* Warns if rows come from several nodes, which have different clocks (run_clocks.c). */
int rk_run_check_clocks(struct rk_run *run, struct rk_error *err);
/* The same for files. Call after reading their kernels, if nothing has aligned their clocks. */
void rk_run_tell_clocks(struct rk_run *run);
/* Has one of the two warned? */
bool rk_run_has_several_clocks(const struct rk_run *run);
/*
 * Warns about missing, skipped or broken ranks (members.c), for commands whose output has no place
 * for this.
 */
int rk_run_warn_ranks(struct rk_run *run, struct rk_error *err);
/* Warns if there were too many distinct names, so that some rows have a placeholder. */
void rk_run_tell_names(struct rk_run *run);
/* False if a file of the table can be read only once. */
bool rk_run_rescannable(const struct rk_run *run, enum rk_table t);
struct rk_context *rk_run_context(struct rk_run *run);
/* The table that the statistics describe if there is only one kind of them, else NULL. */
const char *rk_run_stats_of(const struct rk_run *run);

#define RK_LEVEL_ACCUMULATOR "SQ_ACCUM_PREV_HIRES"
/* The level counter of a pass, given the names of all its counters; NULL: none. */
const char *rk_level_of_pass(const char *const *names, size_t n);

/* Are the columns of a Parquet file after those of kernels counters (run_counters.c)? */
bool rk_run_has_columns(const struct rk_found *f);
/* Examines each file that has kernel counters: sets f->counters and what comes with them. */
int rk_run_counter_names(struct rk_run *run, struct rk_error *err);
/* The name of a counter's column for a pass in which it was measured again: "NAME@2". */
int rk_run_again_name(struct rk_run *run, uint32_t name, int pass, uint32_t *ret,
		      struct rk_error *err);
/* Frees what rk_run_counter_names found out about a file. */
void rk_run_counters_forget(struct rk_found *f);
/*
 * Replaces *rows (counters of f) by the same rows under their keys. Takes ownership, also on
 * failure.
 */
int rk_run_keyed_open(const struct rk_found *f, struct rk_source **rows, struct rk_error *err);

/*
 * Replaces *rows (kernels of a file that has counters as columns) by the same rows with the columns
 * of `set`. Takes ownership, also on failure.
 */
int rk_run_columns_open(struct rk_run *run, const struct rk_found *f,
			const struct rk_counter_set *set, struct rk_source **rows,
			struct rk_error *err);

/* Sets run->counters.set (run_join.c). */
int rk_run_counters(struct rk_run *run, struct rk_error *err);
/*
 * Replaces *rows (kernels of file f) by the same rows with counters. Takes ownership, also on
 * failure.
 */
int rk_run_join(struct rk_run *run, struct rk_found *f, const struct rk_counter_set *set,
		struct rk_source **rows, struct rk_error *err);

/* Does f have counters that can be read more than once (run_join.c)? A pipe cannot. */
bool rk_run_has_counters(const struct rk_found *f);
/* Does o have counters of the same program and process as f? */
bool rk_run_counts_for(const struct rk_found *o, const struct rk_found *f);
/* Are they of another execution of the program? */
bool rk_run_is_separate(const struct rk_found *o, const struct rk_found *f);
/*
 * Opens a table of a file, with counters under their keys; `repeats`: every row of a dispatch. The
 * caller closes both, also on failure.
 */
int rk_run_open_table(struct rk_run *run, struct rk_found *f, enum rk_table t, uint64_t want,
		      bool repeats, struct rk_reader **ret, struct rk_source **ret_rows,
		      struct rk_error *err);
/*
 * The counters of all executions by dispatch of f (run_passes.c). *ret_by_order: f has no dispatch
 * ids, the rows are by the order of its kernels, from 1.
 */
int rk_run_pass_matrix(struct rk_run *run, struct rk_found *f, const struct rk_counter_set *set,
		       struct rk_matrix **ret, bool *ret_by_order, struct rk_error *err);
#endif
