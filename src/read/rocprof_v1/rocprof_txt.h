/*
 * rocprof_txt.h - between the parts of the reader for raw text traces: what roctracer leaves in
 * rocprof's data directory (results.txt, hip_api_trace.txt, hsa_api_trace.txt, hcc_ops_trace.txt,
 * async_copy_trace.txt, roctx_trace.txt) and what rocprofv2 prints when it is given no directory.
 */
#ifndef RK_ROCPROF_TXT_H
#define RK_ROCPROF_TXT_H

#include "codec/csv/csv_split.h"
#include "codec/lines.h"
#include "read/reader.h"

enum rk_txt_kind {
	RK_TXT_UNKNOWN,
	RK_TXT_PREAMBLE, /* known, and no record */
	RK_TXT_API,
	RK_TXT_KERNEL,
	RK_TXT_COPY,
	RK_TXT_MARK,     /* op says what: mark, push, pop, start, stop */
	RK_TXT_V2_MARK,  /* rocprofv2 does not say what */
	RK_TXT_DISPATCH, /* of results.txt; counters may follow */
	RK_TXT_COUNTER,
};

enum rk_txt_field {
	RK_TXT_BEGIN,
	RK_TXT_END,
	RK_TXT_PID,
	RK_TXT_TID,
	RK_TXT_DEVICE,
	RK_TXT_QUEUE,
	RK_TXT_CORRELATION,
	RK_TXT_OP,
	RK_TXT_ID,
	RK_TXT_INDEX,
	RK_TXT_GRID,
	RK_TXT_BLOCK,
	RK_TXT_LDS,
	RK_TXT_SCRATCH,
	RK_TXT_VGPR,
	RK_TXT_ACCUM,
	RK_TXT_SGPR,
	RK_TXT_WAVE,
	RK_TXT_NFIELDS
};

/* One line. Texts are borrowed from it. */
struct rk_txt_line {
	enum rk_txt_kind kind;
	uint32_t has; /* bit by field */
	int64_t num[RK_TXT_NFIELDS];
	struct rk_csv_span name; /* p NULL: none */
	struct rk_csv_span domain;
	double value; /* of a counter */
};

static inline bool rk_txt_has(const struct rk_txt_line *l, enum rk_txt_field f)
{
	return l->has >> f & 1;
}

/* rocprof_txt_line.c. A blank line is a preamble. */
void rk_txt_parse(const char *p, size_t len, struct rk_txt_line *ret);
/* `key(value), key[value], ...`, of results.txt and rocprofv2; into ret->kind too. */
void rk_txt_parse_pairs(const char *p, size_t len, struct rk_txt_line *ret);

/* Tables a line gives rows for. */
uint32_t rk_txt_tables(const struct rk_txt_line *l);

/* A range that has begun. */
struct rk_txt_range {
	struct rk_txt_line line; /* its texts are gone */
	uint32_t name;
};

/* Rows of one table (rocprof_txt_rows.c). */
struct rk_txt_rows {
	struct rk_context *ctx;
	struct rk_builder b;
	struct rk_txt_line dispatch; /* the last, for the counters behind it */
	uint32_t dispatch_name;
	struct rk_txt_range *open;
	size_t nopen, cap_open;
	uint64_t lost_ends, unmatched, unclosed, dropped, out_of_range;
};

/* Adds a row if the line gives one. */
int rk_txt_put(struct rk_txt_rows *r, const struct rk_txt_line *l, struct rk_error *err);
/* A row for the next range that never ended; 0 when there is none. */
int rk_txt_put_open(struct rk_txt_rows *r, struct rk_error *err);
void rk_txt_rows_release(struct rk_txt_rows *r);

#endif
