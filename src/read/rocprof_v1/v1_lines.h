/*
 * v1_lines.h - a line of the raw text traces: files that roctracer leaves in rocprof's data
 * directory (results.txt, hip_api_trace.txt, hsa_api_trace.txt, hcc_ops_trace.txt,
 * async_copy_trace.txt, roctx_trace.txt) and lines that rocprofv2 prints when no directory is
 * given.
 */
#ifndef RK_V1_LINES_H
#define RK_V1_LINES_H

#include "codec/csv/scan.h"
#include "table/table.h"

enum rk_txt_kind {
	RK_TXT_UNKNOWN,
	RK_TXT_PREAMBLE, /* known, but without data */
	RK_TXT_API,
	RK_TXT_KERNEL,
	RK_TXT_COPY,
	RK_TXT_MARK,     /* op says which: mark, push, pop, start, stop */
	RK_TXT_V2_MARK,  /* rocprofv2 does not say which */
	RK_TXT_DISPATCH, /* in results.txt; counters may follow */
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

/* One parsed line. Strings point into it. */
struct rk_txt_line {
	enum rk_txt_kind kind;
	uint32_t has; /* one bit per field */
	int64_t num[RK_TXT_NFIELDS];
	struct rk_csv_span name; /* p NULL: none */
	struct rk_csv_span domain;
	double value; /* counter value */
};

static inline bool rk_txt_has(const struct rk_txt_line *l, enum rk_txt_field f)
{
	return l->has >> f & 1;
}

/* A blank line counts as a preamble. */
void rk_txt_parse(const char *p, size_t len, struct rk_txt_line *ret);
/* The tables that a line has rows for. */
uint32_t rk_txt_tables(const struct rk_txt_line *l);

#endif
