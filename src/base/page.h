/* page.h - building blocks of reports: numbers, cells, bars, colours, names cut to fit. */
#ifndef RK_PAGE_H
#define RK_PAGE_H

#include <inttypes.h>

#include "base/bytes.h"
#include "rockit/rockit.h"

/* ---- numbers and names ---- */

/* Appends ,"warnings":[...] */
void rk_warnings_json(struct rk_bytes *out, const struct rk_warning *warnings, size_t n);

/* A double for JSON and CSV: shortest form, `missing` if it is not finite. */
void rk_put_number(struct rk_bytes *out, double v, const char *missing);
void rk_put_integer(struct rk_bytes *out, int64_t v);
/* "12.34 us": four significant digits, ns to s. */
void rk_put_duration(struct rk_bytes *out, double ns);
/* "1,234,567" */
void rk_put_grouped(struct rk_bytes *out, uint64_t v);
/*
 * Text that is safe on a terminal: control characters become \xNN; invalid UTF-8 and characters
 * that change the text direction become U+FFFD. Without utf8 everything but ASCII becomes "?".
 */
void rk_put_printable(struct rk_bytes *out, const char *s, size_t len, bool utf8);
/* A JSON string, null for NULL. */
void rk_put_json_text(struct rk_bytes *out, const char *s);

/* ---- one result in several formats ---- */

/* Writes `what` to `out`; the caller checks out->bad. */
typedef void rk_form(struct rk_bytes *out, const void *what, const struct rk_render_options *look);

enum { RK_NFORMS = 3 }; /* by enum rk_report_format: text, JSON, CSV */

/*
 * The body of the rk_*_render functions: checks arguments, picks the format and returns the text.
 * `fn` is the caller's __func__; `look` NULL: plain text.
 */
int rk_render(rk_form *const forms[RK_NFORMS], const void *what,
	      const struct rk_render_options *look, char **ret_text, size_t *ret_len,
	      const char *fn, struct rk_error *err);

/* ---- text tables ---- */

#define RK_BOLD "\033[1m"
#define RK_DIM "\033[2m"
#define RK_RED "\033[31m"
#define RK_GREEN "\033[32m"
#define RK_YELLOW "\033[33m"
#define RK_NORMAL "\033[0m"

enum {
	RK_PAGE_TIME = 9,  /* "999.9 us" and a gap */
	RK_PAGE_NAME = 24, /* a name is never cut shorter than this */
	RK_PAGE_BAR = 10,
};

struct rk_page {
	struct rk_bytes *out;
	const struct rk_render_options *look;
	struct rk_bytes cell; /* fill it first; the functions below align it and append it */
};

void rk_page_begin(struct rk_page *p, struct rk_bytes *out, const struct rk_render_options *look);
void rk_page_end(struct rk_page *p);

void rk_page_paint(struct rk_page *p, const char *code); /* does nothing without colours */
void rk_page_spaces(struct rk_page *p, size_t n);
/* An empty line and the title in bold; does not end the line. */
void rk_page_title(struct rk_page *p, const char *title);

/* Appends a gap and the cell, aligned to the right or left of `columns`. */
void rk_page_right(struct rk_page *p, size_t columns);
void rk_page_left(struct rk_page *p, size_t columns);
/* Right-aligned: a word, a time (NaN: "-"), a count with thousands separators. */
void rk_page_word(struct rk_page *p, const char *word, size_t columns);
void rk_page_time(struct rk_page *p, double ns);
void rk_page_count(struct rk_page *p, uint64_t v, size_t columns);
/* Columns needed for counts up to `most` under `title`. */
size_t rk_page_count_columns(uint64_t most, const char *title);

/* A gap and a bar of RK_PAGE_BAR columns; share is 0 to 1. */
void rk_page_bar(struct rk_page *p, double share);
/* Ends the line with a name, made printable and cut to the rest of the terminal's width. */
void rk_page_rest(struct rk_page *p, const char *name, size_t used);
/* Ends a coloured line with `last` and resets the colour. */
void rk_page_last(struct rk_page *p, const char *last);
/* How many of n rows are shown: all, or look->top. */
size_t rk_page_shown(const struct rk_page *p, size_t n);

#endif
