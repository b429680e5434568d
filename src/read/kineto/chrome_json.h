/*
 * chrome_json.h - shared by the readers of Chrome trace events (Kineto, rocprof v1).
 *
 * A document is an array of events, or an object with that array under "traceEvents" and other
 * members before and after it.
 */
#ifndef RK_CHROME_JSON_H
#define RK_CHROME_JSON_H

#include "read/json_rows.h"

struct chrome_scan;

struct chrome_format {
	const char *source, *clock; /* values of the columns with these names */
	bool documents;             /* the file may have several, one after another */
	bool loose;                 /* names are not escaped */
	bool count; /* find the tables by reading the whole document; otherwise all of `gives` */
	const struct rk_json_field *fields;
	unsigned nfields;
	uint64_t gives[RK_NTABLES]; /* fields of each table; 0: the format does not have it */
	/* Called by the record's `keep`: the table an event belongs to, or RK_NTABLES. */
	enum rk_table (*table_of)(struct chrome_scan *s);
	/* Handles an event that is not a row but describes others; may be NULL. */
	int (*note)(struct chrome_scan *s, struct rk_error *err);
	/* Turns the event in s->record into a row. Returns 1, or 0 if it gives no row. */
	int (*row)(struct chrome_scan *s, struct rk_error *err);
	/*
	 * Reads the value of another member of the document. Returns 1, or 0 to skip it. Rows of
	 * the table `agents` come from here. May be NULL.
	 */
	int (*member)(struct chrome_scan *s, const struct rk_json_token *key, struct rk_error *err);
};

struct chrome_reader {
	struct rk_reader base;
	const struct chrome_format *format;
	struct rk_instream *in;
	struct rk_context *ctx;
	bool known;                 /* the whole document has been read once */
	uint64_t rows[RK_NTABLES];  /* number of events of each table, if `known` */
	struct kineto_facts *facts; /* Kineto: what one event says about others; NULL: not read */
	bool late_rank;             /* Kineto: the rank may be behind the events */
};

struct chrome_scan {
	struct rk_json_scan rows;
	struct chrome_reader *r;
	enum rk_table table; /* RK_NTABLES: only count */
	struct rk_json_record record;
	unsigned level; /* 0: outside, 1: document, 2: events */
	uint64_t seen[RK_NTABLES];
	uint32_t source_id, clock_id;
	struct rk_json_pairs lanes; /* rocprof v1: what a pid means */
};

/* Implement the reader's open, scan and close; ops->format is a struct chrome_format. */
int rk_chrome_open(const struct rk_reader_ops *ops, struct rk_instream *in, struct rk_context *ctx,
		   struct rk_reader **ret, struct rk_error *err);
int rk_chrome_scan(struct rk_reader *base, enum rk_table t, uint64_t want, struct rk_source **ret,
		   struct rk_error *err);
void rk_chrome_close(struct rk_reader *base);

bool rk_chrome_has(const char *head, size_t len, const char *text);

/* Copies a text field of the record to a column; null if missing. */
int rk_chrome_put_text(struct chrome_scan *s, unsigned field, unsigned from, struct rk_error *err);
/* Is the field present and equal to `word`? */
bool rk_chrome_is(const struct chrome_scan *s, unsigned from, const char *word);

#endif
