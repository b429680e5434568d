/* sim_v1.h - the parts of rocprof v1. */
#ifndef SIM_V1_H
#define SIM_V1_H

#include "sim.h"

/* One run of the application, its counters in order of their appearance. */
struct v1_run {
	const char *name; /* input1, or input without an input file */
	struct words counters;
};
struct v1 {
	const char *input, *output, *data, *temporary;
	bool basenames, timestamp, stats, hip, hsa, sys, roctx;
	struct v1_run *runs;
	size_t nruns;
	/* of the input file; the last of each counts for every run */
	long range_from, range_to; /* -1: no limit */
	struct words kernels;
	const char *base; /* of the output files, without .csv */
};

/* sim_v1_input.c: fills `runs` from -i, or with one run without counters. */
void v1_read_input(struct v1 *v);

/* A row of results.csv, after the dispatches of all runs were put together by their index. */
struct v1_row {
	const struct dispatch *d;
	struct words values; /* as text, one per counter */
};
struct v1_table {
	struct words counters; /* columns */
	struct v1_row *rows;
	size_t n;
};

/* sim_v1_files.c */
void v1_files(const struct v1 *v, const struct work *w, const struct v1_table *t);
void v1_raw_files(const struct v1 *v, const struct v1_run *run, const struct work *w,
		  const char *folder);
/* sim_v1_db.c */
void v1_database(const struct v1 *v, const struct work *w, const struct v1_table *t);

const char *v1_kernel_name(const struct v1 *v, const struct kernel *k);
bool v1_traced(const struct v1 *v, const struct call *c);     /* HIP, HSA or rocTX as asked for */
bool v1_wanted(const struct v1 *v, const struct dispatch *d); /* passes range and kernel */
/* Which of the files of the table in the documentation appear. */
bool v1_has_results(const struct v1 *v);
bool v1_has_ops(const struct v1 *v); /* GPU activity of HIP */
bool v1_by_database(const struct v1 *v);

#endif
