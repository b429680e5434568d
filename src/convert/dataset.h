/*
 * dataset.h - a run as a data set: OUT/TABLE/node=N/rank=R/part-K.parquet.
 *
 * The plan is the same in every process that sees the same input: units (the files of one rank, or
 * of one program if no path names a rank), the shard of each unit, and a fingerprint of everything
 * that determines the content of the files.
 */
#ifndef RK_DATASET_H
#define RK_DATASET_H

#include "run/hive.h"
#include "run/run.h"

struct rk_unit {
	int64_t rank;        /* from the paths of its files, -1: none */
	const char *program; /* if the paths name no rank; borrowed */
	const char *path;    /* path of its first file, for messages; borrowed */
	uint64_t bytes;
	unsigned part;  /* K in its file names */
	unsigned shard; /* from 1 */
	uint64_t rows;  /* rows written */
	bool failed;
};

struct rk_dataset {
	struct rk_run *run;
	const char *out;
	int table; /* < 0: all */
	unsigned shard, nshards;
	struct rk_unit *units; /* sorted by rank, those without a rank last */
	size_t nunits, cap_units;
	uint32_t *used;       /* saved rk_found.used of each file, while other files are disabled */
	char fingerprint[65]; /* hexadecimal */
	uint64_t rows[RK_NTABLES], files[RK_NTABLES];
};

/*
 * Writes one table of one unit; only its files are enabled (dataset_write.c). *ret_input: the input
 * is damaged, but other units can continue.
 */
int rk_dataset_write(struct rk_dataset *d, struct rk_unit *u, enum rk_table t, bool *ret_input,
		     struct rk_error *err);

#endif
