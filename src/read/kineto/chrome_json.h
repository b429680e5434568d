/*
 * chrome_json.h - what the readers of Chrome's trace events share (Kineto, rocprof v1).
 *
 * A document is an array of events, or an object with that array under "traceEvents" and other
 * members before and after it.
 */
#ifndef RK_CHROME_JSON_H
#define RK_CHROME_JSON_H

#include "read/json_rows.h"

struct chrome_scan;

struct chrome_format {
	const char *source, *clock; /* words for the columns of these names */
	bool count; /* its tables are those found by reading the whole document; else all of `gives` */
	const struct rk_json_field *fields;
	unsigned nfields;
	uint64_t gives[RK_NTABLES]; /* fields of each table; 0: the format has no such table */
	/* Used by the record's `keep`: which table an event belongs to, RK_NTABLES for none. */
	enum rk_table (*table_of)(struct chrome_scan *s);
	/* An event that is not a row but describes others; NULL: there are none. */
	int (*note)(struct chrome_scan *s, struct rk_error *err);
	/* Makes a row from the event in s->record: 1, or 0 when it gives none. */
	int (*row)(struct chrome_scan *s, struct rk_error *err);
	/*
	 * Reads the value of another member of the document: 1, or 0 to skip it. Rows of
	 * the table `agents` come from here. NULL: none are wanted.
	 */
	int (*member)(struct chrome_scan *s, const struct rk_json_token *key, struct rk_error *err);
};

struct chrome_reader {
	struct rk_reader base;
	const struct chrome_format *format;
	struct rk_instream *in;
	struct rk_context *ctx;
	bool known;                /* the whole document was read once */
	uint64_t rows[RK_NTABLES]; /* events of each table, once known */
	/* Kineto: the first process of the document (0: none), and whether it has others. */
	bool asked, several;
	int64_t process;
};

struct chrome_scan {
	struct rk_json_scan rows;
	struct chrome_reader *r;
	enum rk_table table; /* RK_NTABLES: only counts */
	struct rk_json_record record;
	unsigned level; /* 0: outside, 1: document, 2: events */
	uint64_t seen[RK_NTABLES];
	uint32_t source_id, clock_id;
	bool has_rank;
	int64_t rank;
	struct rk_json_pairs lanes; /* rocprof v1: what a pid means */
};

/* Behind the reader's open, scan and close; ops->format is a struct chrome_format. */
int rk_chrome_open(const struct rk_reader_ops *ops, struct rk_instream *in, struct rk_context *ctx,
		   struct rk_reader **ret, struct rk_error *err);
int rk_chrome_scan(struct rk_reader *base, enum rk_table t, uint64_t want, struct rk_source **ret,
		   struct rk_error *err);
void rk_chrome_close(struct rk_reader *base);

bool rk_chrome_has(const char *head, size_t len, const char *text);

/* Copies a text field of the record to a column; null when absent. */
int rk_chrome_put_text(struct chrome_scan *s, unsigned field, unsigned from, struct rk_error *err);
/* Whether the field is present and equals `word`. */
bool rk_chrome_is(const struct chrome_scan *s, unsigned from, const char *word);

#endif
