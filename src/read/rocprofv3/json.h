/*
 * json.h - shared by the parts of the rocprofv3 JSON reader.
 *
 * Layout: {"rocprofiler-sdk-tool": [{metadata, agents, counters, strings, kernel_symbols, ...,
 * callback_records: {counter_collection}, buffer_records: {kernel_dispatch, hip_api, ...}}]}. Names
 * come before the records that use them, so a table needs only one reading of the file.
 */
#ifndef RK_ROCPROFV3_JSON_H
#define RK_ROCPROFV3_JSON_H

#include <string.h>

#include "read/json_rows.h"

/* Members of a process and of its records. */
enum v3j_part {
	V3J_PROCESS, /* a process begins */
	V3J_METADATA,
	V3J_AGENTS,
	V3J_COUNTERS,
	V3J_STRINGS,
	V3J_SYMBOLS,
	V3J_COUNTER_COLLECTION,
	V3J_DISPATCHES,
	V3J_COPIES,
	V3J_ALLOCATIONS,
	V3J_SCRATCH,
	V3J_API,
	V3J_MARKERS,
	V3J_PC_SAMPLES,
	V3J_OTHER,
	V3J_NPARTS
};

#define V3J_BIT(part) (1u << (part))

/* Position in the document. The value of the current part is read next. */
struct v3j_walk {
	struct rk_json *json;
	unsigned level; /* 0: outside, 1: document, 2: list of processes, 3: process, 4: records */
	size_t nth;     /* number of parts seen so far */
};

/* ---- json_names.c: what the numbers mean ---- */

struct v3j_symbol {
	uint32_t at, len; /* position of the name in `text` */
	uint32_t id;      /* id of the name in the run's table; UINT32_MAX: not used yet */
	int32_t vgpr, accum_vgpr, sgpr;
};

/* The operations of one kind of record. */
struct v3j_kind {
	uint32_t name;     /* "HIP_RUNTIME_API" */
	uint32_t first, n; /* range in `operations` */
};

/* Names of one process. */
struct v3j_names {
	struct rk_context *ctx;
	int64_t pid;
	uint32_t node; /* host name */
	bool has_pid, has_node;
	struct rk_json_pairs agents;   /* handle -> node id */
	struct rk_json_pairs counters; /* handle -> name */
	struct rk_json_pairs kernels;  /* kernel id -> index in symbols */
	struct rk_json_pairs markers;  /* correlation id -> text */
	struct rk_json_pairs renamed;  /* external correlation id -> kernel name */
	struct rk_json_pairs *pairs;   /* target of the list being read */
	struct v3j_symbol *symbols;
	size_t nsymbols, symbols_cap;
	struct rk_bytes text; /* kernel names; most kernels are never launched */
	struct v3j_kind *kinds;
	size_t nkinds, kinds_cap;
	uint32_t *operations;
	size_t noperations, operations_cap;
	uint32_t *instructions, *comments; /* for PC samples, by index */
	size_t ninstructions, instructions_cap, ncomments, comments_cap;
	uint64_t lost; /* entries beyond the limits */
};

static inline bool v3j_is(const struct rk_json_token *tok, const char *word)
{
	return tok->len == strlen(word) && !memcmp(tok->text, word, tok->len);
}

/* Which names a table needs; for V3J_STRINGS, which lists. */
enum {
	V3J_NEED_OPERATIONS = 1,
	V3J_NEED_MARKERS = 2,
	V3J_NEED_RENAMED = 4,
	V3J_NEED_PC = 8,
};

void rk_v3j_names_clear(struct v3j_names *n);
/* Reads the value of `part`; `needs` selects the strings. */
int rk_v3j_names_read(struct v3j_names *n, struct rk_json *j, enum v3j_part part, unsigned needs,
		      struct rk_error *err);
/* Reports dropped names as the warning "lookup-limit". */
void rk_v3j_names_tell(struct v3j_names *n, const char *file);
/* 0 ("") if there is no name. */
uint32_t rk_v3j_kind_name(const struct v3j_names *n, const struct rk_json_value *kind);
uint32_t rk_v3j_operation(const struct v3j_names *n, const struct rk_json_value *kind,
			  const struct rk_json_value *operation);
/* NULL if the kernel is unknown; id UINT32_MAX if out of memory. */
const struct v3j_symbol *rk_v3j_symbol(struct v3j_names *n, const struct rk_json_value *kernel_id,
				       struct rk_error *err);

/* ---- json_records.c: one record, one row (counters: several) ---- */

enum { V3J_SUMS_MAX = 4096 };

struct v3j_sum {
	uint64_t counter;
	double value;
	bool any;
};

struct v3j_scan {
	struct rk_json_scan rows;
	struct v3j_reader *r; /* json.c */
	const struct v3j_table *table;
	struct v3j_walk walk;
	struct v3j_names names;
	struct rk_json_record record;
	bool names_ready; /* names were read before the first record */
	bool in_records;  /* a list of records of this process has started */
	bool in_part;     /* between the records of `part` */
	enum v3j_part part;
	uint32_t source_id, clock_id;
	struct v3j_sum *sums; /* of the current dispatch, one per counter */
	size_t nsums, sums_given;
};

/* How to build one standard table. */
struct v3j_table {
	enum rk_table table;
	uint64_t gives;   /* fields that the file can have */
	uint32_t parts;   /* parts whose records become rows */
	uint32_t names;   /* parts to read first */
	unsigned strings; /* V3J_NEED_... */
	const struct rk_json_field *fields;
	unsigned nfields;
	/* Makes a row from s->record. Returns 1, or 0 if there is none. */
	int (*row)(struct v3j_scan *s, struct rk_error *err);
};

/* By table; ends with .row NULL. For kernels, dispatches come first, counter records last. */
extern const struct v3j_table rk_v3j_tables[];

/* Reads records[] of a dispatch's counters into the sums of `scan`. */
int rk_v3j_read_sums(void *scan, struct rk_json *j, struct rk_error *err);
/* Makes a row from the next sum. */
int rk_v3j_counter_row(struct v3j_scan *s, struct rk_error *err);

#endif
