/* page.h - the parts of reports: numbers and names, cells, bars, colours, names cut to fit. */
#ifndef RK_PAGE_H
#define RK_PAGE_H

#include <inttypes.h>

#include "base/bytes.h"
#include "rockit/rockit.h"

/* ---- numbers and names ---- */

/* ,"warnings":[...] */
void rk_warnings_json(struct rk_bytes *out, const struct rk_warning *warnings, size_t n);

/* A double as JSON and CSV want it: shortest form, `missing` when it is not finite. */
void rk_put_number(struct rk_bytes *out, double v, const char *missing);
void rk_put_integer(struct rk_bytes *out, int64_t v);
/* "12.34 us": four significant digits, ns to s. */
void rk_put_duration(struct rk_bytes *out, double ns);
/* "1,234,567" */
void rk_put_grouped(struct rk_bytes *out, uint64_t v);
/*
 * Text that is safe on a terminal: control characters as \xNN, bytes that are not UTF-8 as
 * U+FFFD, and what steers the direction of text too; in ASCII only, "?" for all else.
 */
void rk_put_printable(struct rk_bytes *out, const char *s, size_t len, bool utf8);
/* A JSON string, null for NULL. */
void rk_put_json_text(struct rk_bytes *out, const char *s);

/* ---- one result in several forms ---- */

/* Writes `what` down; whoever calls looks at out->bad. */
typedef void rk_form(struct rk_bytes *out, const void *what, const struct rk_render_options *look);

enum { RK_NFORMS = 3 }; /* by enum rk_report_format: text, JSON, CSV */

/*
 * The body of the rk_*_render functions: checks arguments, picks the form and hands out the text.
 * `fn` is the caller's __func__, `look` NULL for plain text.
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
	RK_PAGE_TIME = 9,  /* "999.9 us" and a little air */
	RK_PAGE_NAME = 24, /* a name is never cut shorter than this */
	RK_PAGE_BAR = 10,
};

struct rk_page {
	struct rk_bytes *out;
	const struct rk_render_options *look;
	struct rk_bytes cell; /* written first, then put where it belongs by one of those below */
};

void rk_page_begin(struct rk_page *p, struct rk_bytes *out, const struct rk_render_options *look);
void rk_page_end(struct rk_page *p);

void rk_page_paint(struct rk_page *p, const char *code); /* nothing without colours */
void rk_page_spaces(struct rk_page *p, size_t n);
/* An empty line and the title in bold; the line is not ended. */
void rk_page_title(struct rk_page *p, const char *title);

/* The cell, at the right or left end of `columns`, and a gap before it. */
void rk_page_right(struct rk_page *p, size_t columns);
void rk_page_left(struct rk_page *p, size_t columns);
/* Right-aligned: a word, a time (NaN: "-"), a count with its commas. */
void rk_page_word(struct rk_page *p, const char *word, size_t columns);
void rk_page_time(struct rk_page *p, double ns);
void rk_page_count(struct rk_page *p, uint64_t v, size_t columns);
/* The columns that counts up to `most` take below `title`. */
size_t rk_page_count_columns(uint64_t most, const char *title);

/* RK_PAGE_BAR columns and a gap before them; share from 0 to 1. */
void rk_page_bar(struct rk_page *p, double share);
/* The rest of the line: a name, safe to print, cut to what the terminal has left. */
void rk_page_rest(struct rk_page *p, const char *name, size_t used);
/* The rest of a painted line: `last`, and the colour back to normal. */
void rk_page_last(struct rk_page *p, const char *last);
/* How many of n rows are shown: all, or look->top. */
size_t rk_page_shown(const struct rk_page *p, size_t n);

#endif
