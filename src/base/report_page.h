/* report_page.h - what pages for people are made of: cells, bars, colours, names cut to fit. */
#ifndef RK_REPORT_PAGE_H
#define RK_REPORT_PAGE_H

#include "base/bytes.h"
#include "rockit/report.h"

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

struct rk_report_own; /* report_parts.h; may be NULL */

/* What was sampled, a line for each quantity of each GPU. */
void rk_samples_text(struct rk_page *p, const struct rk_report_own *own);

/* What the devices drew, a line each; nothing when nothing is known. */
void rk_energy_text(struct rk_page *p, const struct rk_report_energy *e,
		    const struct rk_report_own *own);

#endif
