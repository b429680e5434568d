/* diff_pages.h - a comparison as text, JSON and Markdown. */
#ifndef RK_DIFF_PAGES_H
#define RK_DIFF_PAGES_H

#include "base/bytes.h"
#include "rockit/diff.h"

/* Each appends to `out`; whoever calls looks at out->bad. */
void rk_diff_json(struct rk_bytes *out, const struct rk_diff *d);
void rk_diff_text(struct rk_bytes *out, const struct rk_diff *d,
		  const struct rk_render_options *look); /* diff_text.c */
void rk_diff_markdown(struct rk_bytes *out, const struct rk_diff *d,
		      const struct rk_render_options *look);

/* ---- in common ---- */

/* "+1.234 ms", "-12 ns", "0 ns". */
void rk_put_change(struct rk_bytes *out, int64_t ns);
/* "B is 12.3 % slower: +1.230 ms of 10.00 ms GPU time, beyond the noise (0.05 ms)" */
void rk_put_diff_verdict(struct rk_bytes *out, const struct rk_diff *d);
/* "wall time +1.2 %: ..." or why there is none. */
void rk_put_diff_wall(struct rk_bytes *out, const struct rk_diff *d);
/* What a part is, in a few words. */
const char *rk_diff_part_words(const char *part);
/* '*' beyond the noise, '~' within it, '?' not known, ' ' no change. */
char rk_diff_mark(const struct rk_diff_kernel *k);
/* "same", "renamed", "appeared", "vanished" */
const char *rk_diff_match_word(enum rk_diff_match m);
/* The name that it is shown under: that of B where it has one. */
const char *rk_diff_kernel_name(const struct rk_diff_kernel *k);
/* The kernels that changed at all: those after them did not. */
size_t rk_diff_changed(const struct rk_diff *d);

#endif
