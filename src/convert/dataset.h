/*
 * dataset.h - a run as a data set: OUT/TABLE/node=N/rank=R/part-K.parquet.
 *
 * The plan is data and the same in every process that looks at the same input: units (the files of
 * one rank, or of one program where no path names a rank), the shard each belongs to, and a
 * fingerprint of all that decides what the files will hold.
 */
#ifndef RK_DATASET_H
#define RK_DATASET_H

#include "run/hive.h"
#include "run/run.h"

#define RK_DATASET_META "_rockit"

struct rk_unit {
	int64_t rank;        /* of its files' paths, -1: they name none */
	const char *program; /* of its files, when they name none; borrowed */
	const char *path;    /* of its first file, for messages; borrowed */
	uint64_t bytes;
	unsigned part;  /* K of its files' names */
	unsigned shard; /* from 1 */
	uint64_t rows;  /* written */
	bool failed;
};

struct rk_dataset {
	struct rk_run *run;
	const char *out;
	int table; /* < 0: all */
	unsigned shard, nshards;
	struct rk_unit *units; /* by rank, then those without */
	size_t nunits, cap_units;
	uint32_t *used;       /* of each file, while others are masked */
	char fingerprint[65]; /* hexadecimal */
	uint64_t rows[RK_NTABLES], files[RK_NTABLES];
};

/* Units, shards and fingerprint (dataset_plan.c). */
int rk_dataset_plan(struct rk_dataset *d, struct rk_error *err);
/* Only files of `u` give rows until rk_dataset_unmask. */
void rk_dataset_mask(struct rk_dataset *d, const struct rk_unit *u);
void rk_dataset_unmask(struct rk_dataset *d);
void rk_dataset_release(struct rk_dataset *d);

/*
 * Columns of a table's files: those of its rows without node and rank (dataset_parts.c). `from` says
 * which field of the rows each is.
 */
struct rk_part_schema {
	struct rk_schema schema;
	struct rk_field *fields;
	unsigned *from;
	int node, rank; /* fields of the rows, -1: there is none */
};
int rk_part_schema_make(struct rk_part_schema *s, const struct rk_schema *rows,
			struct rk_error *err);
void rk_part_schema_release(struct rk_part_schema *s);

/*
 * One table of one unit, which is masked already (dataset_write.c). *ret_input: the failure is one of
 * the input, and other units can go on.
 */
int rk_dataset_write(struct rk_dataset *d, struct rk_unit *u, enum rk_table t, bool *ret_input,
		     struct rk_error *err);

/* Takes OUT for this plan, or says why not (dataset_meta.c); then what became of it. */
int rk_dataset_claim(const struct rk_dataset *d, struct rk_error *err);
int rk_dataset_meta(const struct rk_dataset *d, const char *state, struct rk_error *err);

/* All of it (dataset.c). */
int rk_run_convert_dataset(struct rk_run *run, const struct rk_convert_options *opt, int table,
			   struct rk_convert_result *ret, struct rk_error *err);

#endif
