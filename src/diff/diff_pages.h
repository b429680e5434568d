/* diff_pages.h - a comparison as text, JSON and Markdown. */
#ifndef RK_DIFF_PAGES_H
#define RK_DIFF_PAGES_H

#include "base/bytes.h"
#include "rockit/diff.h"

/* Each appends to `out`; the caller checks out->bad. */
void rk_diff_json(struct rk_bytes *out, const struct rk_diff *d);
void rk_diff_text(struct rk_bytes *out, const struct rk_diff *d,
		  const struct rk_render_options *look); /* diff_text.c */
void rk_diff_markdown(struct rk_bytes *out, const struct rk_diff *d,
		      const struct rk_render_options *look);

/* ---- shared ---- */

/* "+1.234 ms", "-12 ns", "0 ns". */
void rk_put_change(struct rk_bytes *out, int64_t ns);
/* "1,234 → 2,345", or one number if they are equal. */
void rk_put_pair(struct rk_bytes *out, uint64_t a, uint64_t b, const char *arrow);
/* "B is 12.3 % slower: +1.230 ms of 10.00 ms GPU time, beyond the noise (0.05 ms)" */
void rk_put_diff_verdict(struct rk_bytes *out, const struct rk_diff *d);
/* "wall time +1.2 %: ..." or why it is unknown. */
void rk_put_diff_wall(struct rk_bytes *out, const struct rk_diff *d);
/* Describes a part in a few words. */
const char *rk_diff_part_words(const char *part);
/* '*' beyond the noise, '~' within the noise, '?' noise unknown, ' ' no change. */
char rk_diff_mark(const struct rk_diff_kernel *k);
/* "same", "renamed", "appeared", "vanished" */
const char *rk_diff_match_word(enum rk_diff_match m);
/* "(no name)" for "". */
const char *rk_diff_shown_name(const char *name);
/* The name to show: B's name if B has the kernel. */
const char *rk_diff_kernel_name(const struct rk_diff_kernel *k);
/* The number of kernels that changed; they come first in the list. */
size_t rk_diff_changed(const struct rk_diff *d);

#endif
