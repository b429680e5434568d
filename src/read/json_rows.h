/*
 * json_rows.h - shared by the readers of JSON traces: rows from records, lookups, warnings.
 *
 * A reader's scan is a struct that begins with rk_json_scan. Unwanted fields cost almost nothing:
 * their column pointer is NULL, and a put only tests that.
 */
#ifndef RK_JSON_ROWS_H
#define RK_JSON_ROWS_H

#include "codec/json/record.h"
#include "read/reader.h"

/* Where the JSON begins, after a byte order mark and blanks; NULL if there is none. */
const char *rk_json_start(const char *head, size_t len);

struct rk_json_scan {
	struct rk_source base;
	struct rk_instream *in;
	struct rk_context *ctx;
	struct rk_json *json;
	struct rk_builder b;
	void *col[64]; /* values of each wanted field, NULL for the others */
	bool nomem;    /* a null could not be marked */
	bool ended;
	uint64_t wrong, range, wrong_at, range_at; /* not a number; too large */
	const char *wrong_field, *range_field;
};

/* Rewinds `in`. `gives`: the fields that the rows can have. */
int rk_json_scan_init(struct rk_json_scan *s, struct rk_instream *in, struct rk_context *ctx,
		      enum rk_table t, uint64_t fields, struct rk_error *err);
void rk_json_scan_release(struct rk_json_scan *s);

/*
 * Call at the end with `rc`, the result of reading. A truncated document and tolerated values
 * become warnings, and it returns 0. Any other error is returned with the file's name.
 */
int rk_json_scan_end(struct rk_json_scan *s, int rc, struct rk_error *err);
/* The same for a reader that only has a stream. */
int rk_json_stream_end(struct rk_json *j, struct rk_instream *in, struct rk_context *ctx, int rc,
		       struct rk_error *err);
/* Returns the rows so far: 1 and *batch, or 0 if there are none. */
int rk_json_scan_batch(struct rk_json_scan *s, const struct rk_batch **batch);

void rk_json_put_null(struct rk_json_scan *s, unsigned field);
/* For a number that does not fit the field: sets null and counts it. */
void rk_json_put_large(struct rk_json_scan *s, unsigned field);
void rk_json_count_wrong(struct rk_json_scan *s, unsigned field, enum rk_json_has has);
/* Interns the text; an empty text is a valid name. */
int rk_json_put_text(struct rk_json_scan *s, unsigned field, const char *text, size_t len,
		     struct rk_error *err);

int rk_json_put_word(struct rk_json_scan *s, unsigned field, const char *word,
		     struct rk_error *err);
/* The same for a text field of a record; null if it is missing. */
int rk_json_put_field(struct rk_json_scan *s, unsigned field, const struct rk_json_record *r,
		      unsigned from, struct rk_error *err);

static inline bool rk_json_wants(const struct rk_json_scan *s, unsigned field)
{
	return s->col[field] != NULL;
}

/* These set a value in the row being filled, row b.nrows. */
static inline void rk_json_put(struct rk_json_scan *s, unsigned field, int64_t v)
{
	void *col = s->col[field];

	if (!col)
		return;
	if (s->b.schema->fields[field].type == RK_I64)
		((int64_t *)col)[s->b.nrows] = v;
	else if (v >= INT32_MIN && v <= INT32_MAX)
		((int32_t *)col)[s->b.nrows] = (int32_t)v;
	else
		rk_json_put_large(s, field);
}

static inline void rk_json_put_id(struct rk_json_scan *s, unsigned field, uint32_t id)
{
	if (s->col[field])
		((uint32_t *)s->col[field])[s->b.nrows] = id;
}

/* A number of a record; null if it is missing or unreadable. */
static inline void rk_json_put_value(struct rk_json_scan *s, unsigned field,
				     const struct rk_json_value *v)
{
	if (!s->col[field])
		return;
	if (v->has == RK_JSON_HAS) {
		rk_json_put(s, field, v->i);
		return;
	}
	if (v->has != RK_JSON_ABSENT)
		rk_json_count_wrong(s, field, v->has);
	rk_json_put_null(s, field);
}

static inline const struct rk_json_value *rk_json_either(const struct rk_json_value *a,
							 const struct rk_json_value *b)
{
	return a->has == RK_JSON_HAS ? a : b;
}

/* Converts start and end to start and duration; null if unknown. */
void rk_json_put_times(struct rk_json_scan *s, unsigned start, unsigned duration,
		       const struct rk_json_value *from, const struct rk_json_value *to);
/* Converts work-items and workgroup size to workgroups, rounded up. */
void rk_json_put_grid(struct rk_json_scan *s, unsigned field, const struct rk_json_value *items,
		      const struct rk_json_value *block);

/* ---- maps from number to number: agents, kernels, correlation ids ---- */

struct rk_json_pair {
	uint64_t key;
	int64_t value;
};

struct rk_json_pairs {
	struct rk_json_pair *p;
	size_t n, cap;
	bool unsorted;
	uint64_t lost; /* not added because the limit of a million pairs was reached */
};

int rk_json_pairs_add(struct rk_json_pairs *p, uint64_t key, int64_t value, struct rk_error *err);
/* NULL if missing. Of equal keys one is kept. The pointer is valid until the next add. */
int64_t *rk_json_pairs_find(struct rk_json_pairs *p, uint64_t key);
void rk_json_pairs_release(struct rk_json_pairs *p);

#endif
