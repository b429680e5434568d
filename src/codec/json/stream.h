/*
 * stream.h - JSON as a stream of tokens, in bounded memory for any input size.
 *
 * Numbers are delivered as text, so that 64-bit integers stay exact. Strings are unescaped; invalid
 * UTF-8 is passed through. Accepted and counted: NaN and Infinity (null), strings over 1 MiB (cut),
 * invalid escapes (kept as written). A byte order mark is skipped.
 */
#ifndef RK_JSON_STREAM_H
#define RK_JSON_STREAM_H

#include "codec/instream.h"

enum rk_json_kind {
	RK_JSON_END, /* of the document; the rest is not read, see rk_json_more */
	RK_JSON_OBJECT,
	RK_JSON_OBJECT_END,
	RK_JSON_ARRAY,
	RK_JSON_ARRAY_END,
	RK_JSON_KEY,
	RK_JSON_STRING,
	RK_JSON_NUMBER,
	RK_JSON_TRUE,
	RK_JSON_FALSE,
	RK_JSON_NULL,
};

enum {
	RK_JSON_DEPTH_MAX = 512,
	RK_JSON_TEXT_MAX = 1 << 20, /* max bytes kept of a string */
	RK_JSON_WORD_MAX = 1024,    /* max digits kept of a number */
};

/* text is borrowed until the next call on the stream; set for KEY, STRING and NUMBER. */
struct rk_json_token {
	const char *text;
	size_t len;
};

/* Counts of accepted irregularities, and the offset of the first of each kind. */
struct rk_json_notes {
	uint64_t cut, nonfinite, escapes;
	uint64_t cut_at, nonfinite_at, escapes_at;
};

struct rk_json;

/* `in` is borrowed and read from its current position, which is offset 0 here. */
int rk_json_new(struct rk_instream *in, struct rk_json **ret, struct rk_error *err);
/* For text in memory. The text and `name` (for errors) are borrowed. */
int rk_json_new_text(const char *text, size_t len, const char *name, struct rk_json **ret,
		     struct rk_error *err);
void rk_json_free(struct rk_json *j); /* NULL is fine */

/*
 * From now on a quote ends a string only where one can end: before ':', '}' or ']', or a comma and
 * the next value. For writers that do not escape names. Skipping is slower then. Quotes that are
 * text are counted as notes.escapes.
 */
void rk_json_set_loose(struct rk_json *j);

/*
 * The next token's enum rk_json_kind, or a negative code; err->offset is the offset of the error.
 */
int rk_json_next(struct rk_json *j, struct rk_json_token *tok, struct rk_error *err);

/*
 * Skips the next value (after a KEY, or at the beginning) at memory speed. Only quotes and depth
 * are checked.
 */
int rk_json_skip_value(struct rk_json *j, struct rk_error *err);
/* Skips the rest of the innermost open object or array, including its end. */
int rk_json_skip_rest(struct rk_json *j, struct rk_error *err);
/* As skip_value, for a value whose end is known to be at `offset`. */
int rk_json_jump(struct rk_json *j, uint64_t offset, struct rk_error *err);

uint64_t rk_json_offset(const struct rk_json *j); /* of the next byte to be read */
unsigned rk_json_depth(const struct rk_json *j);  /* open objects and arrays */
const struct rk_json_notes *rk_json_notes(const struct rk_json *j);
/* The last error was a truncated document (or truncated compressed data). */
bool rk_json_truncated(const struct rk_json *j);
/* After RK_JSON_END: 1 if more than white space follows (at rk_json_offset), else 0; < 0: error. */
int rk_json_more(struct rk_json *j, struct rk_error *err);

/*
 * After RK_JSON_END: 1 if another object or array follows, which is read next, else 0; < 0: error.
 */
int rk_json_again(struct rk_json *j, struct rk_error *err);

#endif
