/* run.h - a run from the inside: its files, and its tables as sources. */
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

/* One file that was looked at. */
struct rk_found {
	char *path;
	size_t stem;                     /* length of the path without .gz, .xz or .zst */
	const struct rk_reader_ops *ops; /* NULL: no format fits */
	const char *stats_of;
	uint32_t tables; /* it can give */
	uint32_t used;   /* it is asked for */
	char *group;     /* files of one process: directory and name without the known ending */
	char *program;   /* the same for every pass that the program was run for */
	uint64_t group_hash, program_hash, stem_hash; /* of many files few are looked at closer */
	unsigned ordinal; /* of the process among those of its program and pass */
	int pass;         /* of pmc_N or pass_N in its path, -1 without */
	int64_t rank;     /* of rank-N or rank=N in its path, -1 without */
	int64_t pid;      /* its name begins with, -1 without */
	uint64_t bytes;
	uint64_t dev, ino;      /* of a regular file, else 0 */
	struct timespec mtime;  /* the same */
	bool unreadable;        /* of a format that is known, and damaged */
	bool damaged;           /* the same, but seen only when its rows were read */
	bool made_here;         /* a trace that rockit wrote, found in a directory */
	bool in_dir;            /* nobody named this very file */
	int table_here;         /* in a directory, a table as `convert` writes it there; -1: not */
	struct rk_reader *kept; /* a pipe: cannot be opened again */
	/* of its counters, once rk_run_counter_names has looked: */
	uint32_t *counters, *keys; /* names as recorded, and what they are joined under */
	size_t ncounters;
	const char *level;                  /* the level counter whose pass it is, "" for none */
	const struct rk_run_record *record; /* that speaks of it, or NULL; the run's */
	const char *left_out;               /* it gives nothing, and why: static; NULL: it may */
	bool clocked;                       /* kernels were read, and there were several files: */
	uint32_t clock;                     /* what they call their clock, 0: nothing */
};

struct rk_energy;     /* run/energy.h */
struct rk_fuse_times; /* ranks/gather.h */

/* The run.json of its folders, by folder once all files were found (run_ranks.c). */
struct rk_run_records {
	struct rk_run_record *v;
	size_t n, cap;
};

/* The folders of ranks, by rank, the one that is used first (run_ranks.c). */
struct rk_run_places {
	struct rk_rank_place *v;
	size_t n, cap;
};

/* Who uses the run (run.c). */
struct rk_run_guard {
	pthread_mutex_t lock;          /* held by whoever uses the run */
	pthread_mutex_t progress_lock; /* held while opt.progress is called or changed */
	struct rk_run_late *late;      /* under a lock that nobody holds for long */
	pthread_mutex_t late_lock;
	bool made; /* the locks were */
};

/* Counters as columns of kernels (run_counters.c, run_join.c). */
struct rk_run_counters {
	/* joined to kernels, whose schema it holds: as long as the run. NULL: none, or not asked */
	struct rk_counter_set *set;
	bool settled; /* `set` is */
	bool named;   /* each file's counters are known */
};

/* Energy as a column of kernels (run_energy.c). */
struct rk_run_energy {
	struct rk_energy *split; /* of its kernels, once that was settled; NULL: none */
	/* kernels with energy_j: passes look at it when what they read is closed */
	struct rk_schema schema;
	struct rk_field *fields;
};

struct rk_run {
	struct rk_context ctx;
	struct rk_name_style style;
	struct rk_run_options opt;
	char *tmpdir; /* of opt, own */
	struct rk_found *found;
	size_t nfound, cap_found;
	struct rk_run_file *files; /* the public view, made when asked */
	char **reasons;
	struct rk_run_records records;
	struct rk_run_places places;
	struct rk_run_guard guard;
	struct rk_run_counters counters;
	struct rk_run_energy energy;
	struct {
		uint64_t before, total; /* bytes of the files before this one; of all */
	} progress;
	/* sorted rows are put on one clock by rk_fuse_times_use; NULL: as recorded */
	const struct rk_fuse_times *times;
	int (*retime)(const struct rk_fuse_times *t, struct rk_source **rows, struct rk_error *err);
	bool some_ranks; /* the user named ranks himself: none is missing */
	bool tolerant;   /* see rk_run_tolerate */
	size_t scanned;  /* the file that the batch a scan gave last is from */
};

/* Around each call of the API. RK_E_USAGE: not an open run, or someone else is using it. */
int rk_run_enter(const struct rk_run *run, const char *fn, struct rk_error *err);
void rk_run_leave(const struct rk_run *run);
/* The warnings so far as an array of its own, whose texts are the run's. */
int rk_run_copy_warnings(const struct rk_run *run, const struct rk_warning **ret, size_t *ret_n,
			 struct rk_error *err);
/*
 * Between the two a callback of the user's may be called on this thread: it cannot enter the run, nor
 * can those that it calls.
 */
struct rk_run_callback {
	const struct rk_run *run;
	const struct rk_run_callback *outer;
};
void rk_run_call_back(struct rk_run_callback *c, const struct rk_run *run);
void rk_run_called_back(const struct rk_run_callback *c);
/* The lock alone, of a run that is held (base/handle.h); waits. RK_E_USAGE within a progress callback. */
int rk_run_wait(struct rk_run *run, struct rk_error *err);
void rk_run_unlock(struct rk_run *run);

/* Something that uses the run and is to be ended as soon as nobody else does. */
struct rk_run_late {
	void (*end)(void *arg);  /* with the lock */
	void (*done)(void *arg); /* without; frees what `l` is part of, and may drop the run */
	void *arg;
	struct rk_run_late *next;
};
/* At once, or by whoever has the lock: never waits. */
void rk_run_later(struct rk_run *run, struct rk_run_late *l);

int rk_unknown_table(const char *name, struct rk_error *err);

/* Looks at every file (run_files.c) and settles which gives what (run_rule.c). */
int rk_run_find(struct rk_run *run, const char *const *paths, size_t npaths, struct rk_error *err);
int rk_run_settle(struct rk_run *run, struct rk_error *err);

/*
 * Fails when `out` is a file that the run was read from (run_files.c). With `tables` the output is
 * Parquet, and Parquet may be written again in its place.
 */
int rk_run_spare(const struct rk_run *run, const char *out, bool tables, struct rk_error *err);

/*
 * From now on, damage that is found while rows of one of several ranks are read ends that file and is
 * reported as a warning; the other ranks are read.
 */
void rk_run_tolerate(struct rk_run *run);

/* Tables that some file gives. */
uint32_t rk_run_tables(const struct rk_run *run);
/* All rows of one table over all files: names cleaned, what the path says filled in. */
int rk_run_scan(struct rk_run *run, enum rk_table t, uint64_t want, struct rk_source **ret,
		struct rk_error *err);
/* The same of kernels, all fields, with a column for each counter that can be joined. */
int rk_run_scan_kernels(struct rk_run *run, struct rk_source **ret, struct rk_error *err);
/* Kernels with the columns of `set`, which must outlive the source. */
int rk_run_scan_joined(struct rk_run *run, const struct rk_counter_set *set, uint64_t want,
		       struct rk_source **ret, struct rk_error *err);
/* Warns when rows come from several nodes, each with a clock of its own (run_clocks.c). */
int rk_run_check_clocks(struct rk_run *run, struct rk_error *err);
/* The same of files, once their kernels were read, where nobody has related their clocks. */
void rk_run_tell_clocks(struct rk_run *run);
/* Whether one of both has warned. */
bool rk_run_has_several_clocks(const struct rk_run *run);
/*
 * Warns of ranks that are missing, left out, broken and so on (members.c), for commands whose
 * result has no place for it.
 */
int rk_run_warn_ranks(struct rk_run *run, struct rk_error *err);
/* Warns when there were more distinct names than are kept: some rows have a placeholder. */
void rk_run_tell_names(struct rk_run *run);
/* False when some file of the table can be read only once. */
bool rk_run_rescannable(const struct rk_run *run, enum rk_table t);
struct rk_context *rk_run_context(struct rk_run *run);
/* What the statistics describe when there is nothing but one kind of them, else NULL. */
const char *rk_run_stats_of(const struct rk_run *run);

#define RK_LEVEL_ACCUMULATOR "SQ_ACCUM_PREV_HIRES"
/* The level counter of a pass, given the names of all counters in it; NULL: it is none. */
const char *rk_level_of_pass(const char *const *names, size_t n);

/* The columns of a Parquet file behind those of kernels are counters (run_counters.c). */
bool rk_run_has_columns(const struct rk_found *f);
/* Looks into each file that has counters of some kernels: f->counters, f->keys, f->level. */
int rk_run_counter_names(struct rk_run *run, struct rk_error *err);
/* Replaces *rows, counters of f, by the same under their keys. Takes it over, also on failure. */
int rk_run_keyed_open(const struct rk_found *f, struct rk_source **rows, struct rk_error *err);

/*
 * Replaces *rows, kernels of a file that has counters as columns, by the same with those of `set`
 *. Takes it over, also on failure.
 */
int rk_run_columns_open(struct rk_run *run, const struct rk_found *f,
			const struct rk_counter_set *set, struct rk_source **rows,
			struct rk_error *err);

/* Settles run->counters.set (run_join.c). */
int rk_run_counters(struct rk_run *run, struct rk_error *err);
/* Replaces *rows, kernels of file f, by the same with counters. Takes it over, also on failure. */
int rk_run_join(struct rk_run *run, struct rk_found *f, const struct rk_counter_set *set,
		struct rk_source **rows, struct rk_error *err);

/* Whether f has counters that can be looked at more than once (run_join.c): a pipe's cannot. */
bool rk_run_has_counters(const struct rk_found *f);
/* Whether o has counters of the program, and of the process in it, that wrote f. */
bool rk_run_counts_for(const struct rk_found *o, const struct rk_found *f);
#endif
