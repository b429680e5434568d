/* counter_render.c - counters, checks and plans as text, JSON and CSV. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/handle.h"
#include "base/json_out.h"
#include "base/num.h"
#include "base/page.h"
#include "base/text.h"
#include "rockit/counters.h"

enum { PAD_MAX = 64, SPEC_MAX_BYTES = 1 << 16 };

static const char *const status_words[] = { "ok", "renamed", "missing" };

static size_t count_of(const char *arch)
{
	size_t n = 0;

	while (rk_counters_at(arch, n))
		n++;
	return n;
}

/* ---- helpers for all formats ---- */

static void put_padded(struct rk_bytes *out, const char *s, size_t width)
{
	rk_bytes_printf(out, "%-*s", (int)rk_min(width, PAD_MAX), s);
}

static void put_words(struct rk_bytes *out, const char *const *words)
{
	for (; *words; words++)
		rk_bytes_printf(out, " %s", *words);
}

/* Writes words as a flat array; NULL is an empty one. */
static void json_words(struct rk_json_out *j, const char *key, const char *const *words)
{
	rk_json_array_flat(j, key);
	for (; words && *words; words++)
		rk_json_text(j, NULL, *words);
	rk_json_close(j);
}

static void json_begin(struct rk_json_out *j, struct rk_bytes *out, const char *arch)
{
	rk_json_begin(j, out);
	rk_json_int(j, "schema", 1);
	rk_json_text(j, "arch", arch);
}

/* Writes words as one cell, separated by blanks, which names do not contain. */
static void csv_words(struct rk_bytes *out, const char *const *words)
{
	for (; words && *words; words++)
		rk_bytes_printf(out, "%s%s", *words, words[1] ? " " : "");
	rk_bytes_put_u8(out, ',');
}

/* ---- counters of a target ---- */

struct shown {
	const char *arch;
	const struct rk_counter **counters;
	size_t n;
};

static void counters_text(struct rk_bytes *out, const void *what,
			  const struct rk_render_options *look)
{
	const struct shown *s = what;
	size_t width = 0;

	(void)look;
	for (size_t i = 0; i < s->n; i++)
		width = rk_max(width, strlen(s->counters[i]->name));
	for (size_t i = 0; i < s->n; i++) {
		const struct rk_counter *c = s->counters[i];
		const char *kind = c->block;

		if (c->derived)
			kind = c->needs[0] ? "derived" : "agent";
		put_padded(out, c->name, width + 2);
		put_padded(out, kind, strlen("derived") + 2);
		rk_bytes_printf(out, "%s\n", c->description);
	}
}

static void counters_json(struct rk_bytes *out, const void *what,
			  const struct rk_render_options *look)
{
	const struct shown *s = what;
	struct rk_json_out j;

	(void)look;
	json_begin(&j, out, s->arch);
	rk_json_array(&j, "counters");
	for (size_t i = 0; i < s->n; i++) {
		const struct rk_counter *c = s->counters[i];

		rk_json_object_flat(&j, NULL);
		rk_json_text(&j, "name", c->name);
		rk_json_text(&j, "block", rk_text_or_null(c->block));
		rk_json_bool(&j, "derived", c->derived);
		json_words(&j, "needs", c->needs);
		rk_json_text(&j, "description", c->description);
		rk_json_close(&j);
	}
	rk_json_close(&j);
	rk_json_end(&j);
}

static void counters_csv(struct rk_bytes *out, const void *what,
			 const struct rk_render_options *look)
{
	const struct shown *s = what;

	(void)look;
	rk_bytes_puts(out, "name,block,derived,needs,description\n");
	for (size_t i = 0; i < s->n; i++) {
		const struct rk_counter *c = s->counters[i];

		rk_csv_text(out, c->name, ',');
		rk_csv_text(out, c->block, ',');
		rk_csv_text(out, c->derived ? "true" : "false", ',');
		csv_words(out, c->needs);
		rk_csv_text(out, c->description, '\n');
	}
}

/*
 * Does `text` contain `word`? `whole`: only at the beginning of a word, so that "lds" is not in
 * "holds".
 */
static bool contains(const char *text, const char *word, bool whole)
{
	size_t len = strlen(text);

	for (size_t i = 0; i < len; i++) {
		char before = i ? text[i - 1] : ' ';
		bool inside = (before >= 'a' && before <= 'z') || (before >= 'A' && before <= 'Z');

		if (!(whole && inside) && rk_text_iprefix(text + i, len - i, word))
			return true;
	}
	return word[0] == '\0';
}

int rk_counters_render(const char *arch, const char *const *words, size_t n,
		       enum rk_report_format format, char **ret_text, size_t *ret_len,
		       size_t *ret_count, struct rk_error *err)
{
	static rk_form *const forms[RK_NFORMS] = { counters_text, counters_json, counters_csv };
	const struct rk_render_options look = { .format = format };
	struct shown shown = { .arch = rk_counters_arch_find(arch) };
	struct rk_counter_plan *named = NULL;
	const struct rk_counter *c;
	struct rk_bytes spec;
	int rc = 0;

	if (!arch || !rk_texts_there(words, n) || !ret_text)
		return rk_misuse(__func__, err);
	if (rk_check_enum((unsigned)format, RK_REPORT_CSV, __func__, err) < 0)
		return RK_E_USAGE;
	if (!shown.arch)
		return rk_fail(err, RK_E_USAGE, "unknown target '%s'", arch);

	/* plan the "@category" words, as for -c, to get their counters */
	rk_bytes_init(&spec, SPEC_MAX_BYTES);
	for (size_t i = 0; i < n; i++)
		if (words[i][0] == '@')
			rk_bytes_printf(&spec, "%s%s", spec.len ? "," : "", words[i]);
	if (spec.len && rk_bytes_str(&spec))
		rc = rk_counters_plan(arch, rk_bytes_str(&spec), &named, err);
	else if (spec.bad)
		rc = rk_fail_nomem(err);
	if (rc < 0)
		goto out;

	shown.counters = rk_calloc(count_of(arch) + 1, sizeof(struct rk_counter *));
	if (!shown.counters) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	for (size_t i = 0; (c = rk_counters_at(arch, i)) != NULL; i++) {
		bool wanted = n == 0;

		for (size_t k = 0; k < n && !wanted; k++)
			wanted = contains(c->name, words[k], false) ||
				 contains(c->description, words[k], true);
		for (size_t p = 0; named && p < named->npasses && !wanted; p++)
			for (size_t k = 0; k < named->passes[p].n && !wanted; k++)
				wanted = strcmp(named->passes[p].counters[k], c->name) == 0;
		if (wanted)
			shown.counters[shown.n++] = c;
	}
	if (ret_count)
		*ret_count = shown.n;
	rc = rk_render(forms, &shown, &look, ret_text, ret_len, __func__, err);
out:
	rk_counter_plan_free(named);
	rk_bytes_release(&spec);
	rk_free((void *)shown.counters);
	return rc;
}

/* ---- targets ---- */

static void targets_text(struct rk_bytes *out, const void *what,
			 const struct rk_render_options *look)
{
	const char *arch;

	(void)what;
	(void)look;
	for (size_t i = 0; (arch = rk_counters_arch(i)) != NULL; i++) {
		put_padded(out, arch, 9);
		rk_bytes_printf(out, "%4zu counters\n", count_of(arch));
	}
}

static void targets_json(struct rk_bytes *out, const void *what,
			 const struct rk_render_options *look)
{
	struct rk_json_out j;
	const char *arch;

	(void)what;
	(void)look;
	json_begin(&j, out, NULL);
	rk_json_array(&j, "targets");
	for (size_t i = 0; (arch = rk_counters_arch(i)) != NULL; i++) {
		rk_json_object_flat(&j, NULL);
		rk_json_text(&j, "arch", arch);
		rk_json_uint(&j, "counters", count_of(arch));
		rk_json_close(&j);
	}
	rk_json_close(&j);
	rk_json_end(&j);
}

static void targets_csv(struct rk_bytes *out, const void *what,
			const struct rk_render_options *look)
{
	const char *arch;

	(void)what;
	(void)look;
	rk_bytes_puts(out, "arch,counters\n");
	for (size_t i = 0; (arch = rk_counters_arch(i)) != NULL; i++)
		rk_bytes_printf(out, "%s,%zu\n", arch, count_of(arch));
}

int rk_counters_render_targets(enum rk_report_format format, char **ret_text, size_t *ret_len,
			       struct rk_error *err)
{
	static rk_form *const forms[RK_NFORMS] = { targets_text, targets_json, targets_csv };
	const struct rk_render_options look = { .format = format };

	/* always the shipped table, so the forms need no argument */
	return rk_render(forms, &look, &look, ret_text, ret_len, __func__, err);
}

/* ---- plans ---- */

/* Comments never contain "pmc:", because old releases of rocprofv3 also look for it in comments. */
static void plan_text(struct rk_bytes *out, const void *what, const struct rk_render_options *look)
{
	const struct rk_counter_plan *p = what;
	const char *more = "";

	(void)look;
	if (p->npasses != p->lower_bound)
		more = p->optimal ? ", but fewer passes are not possible" :
				    ", fewer passes may be possible";
	rk_bytes_printf(out, "# %s: %zu %s; the lower bound is %zu%s\n", p->arch, p->npasses,
			p->npasses == 1 ? "pass" : "passes", p->lower_bound, more);
	for (size_t i = 0; i < p->nchecks; i++) {
		const struct rk_counter_check *c = &p->checks[i];

		if (c->status == RK_COUNTER_OK)
			continue;
		/* "# L2CacheHit -> TCC_HIT_sum TCC_MISS_sum: why" */
		rk_bytes_puts(out, "# ");
		rk_put_printable(out, c->asked, strlen(c->asked), true);
		if (c->status == RK_COUNTER_RENAMED) {
			rk_bytes_puts(out, " ->");
			put_words(out, c->use);
			rk_bytes_printf(out, ": %s\n", c->reason);
			continue;
		}
		rk_bytes_printf(out, " left out: %s", c->reason);
		if (c->use[0]) {
			rk_bytes_puts(out, "; nearest:");
			put_words(out, c->use);
		}
		rk_bytes_put_u8(out, '\n');
	}
	for (size_t i = 0; i < p->nsplits; i++) {
		const struct rk_counter_split *s = &p->splits[i];

		rk_bytes_printf(out, "# metric %s is split over passes", s->metric);
		for (size_t k = 0; k < s->n; k++)
			rk_bytes_printf(out, "%s %" PRIu32, k ? "," : "", s->passes[k]);
		rk_bytes_puts(out, ": one pass cannot count everything it needs\n");
	}
	for (size_t i = 0; i < p->npasses; i++) {
		rk_bytes_puts(out, "pmc:");
		put_words(out, p->passes[i].counters);
		rk_bytes_put_u8(out, '\n');
	}
}

static void plan_json(struct rk_bytes *out, const void *what, const struct rk_render_options *look)
{
	const struct rk_counter_plan *p = what;
	struct rk_json_out j;

	(void)look;
	json_begin(&j, out, p->arch);
	rk_json_array(&j, "passes");
	for (size_t i = 0; i < p->npasses; i++) {
		rk_json_object_flat(&j, NULL);
		json_words(&j, "counters", p->passes[i].counters);
		rk_json_close(&j);
	}
	rk_json_close(&j);
	rk_json_uint(&j, "lower_bound", p->lower_bound);
	rk_json_bool(&j, "optimal", p->optimal);
	rk_json_array(&j, "split");
	for (size_t i = 0; i < p->nsplits; i++) {
		const struct rk_counter_split *s = &p->splits[i];

		rk_json_object_flat(&j, NULL);
		rk_json_text(&j, "metric", s->metric);
		rk_json_array_flat(&j, "passes");
		for (size_t k = 0; k < s->n; k++)
			rk_json_uint(&j, NULL, s->passes[k]);
		rk_json_close(&j);
		rk_json_close(&j);
	}
	rk_json_close(&j);
	rk_json_object(&j, "renamed");
	for (size_t i = 0; i < p->nchecks; i++)
		if (p->checks[i].status == RK_COUNTER_RENAMED)
			json_words(&j, p->checks[i].asked, p->checks[i].use);
	rk_json_close(&j);
	rk_json_object(&j, "missing");
	for (size_t i = 0; i < p->nchecks; i++)
		if (p->checks[i].status == RK_COUNTER_MISSING)
			rk_json_text(&j, p->checks[i].asked, p->checks[i].reason);
	rk_json_close(&j);
	rk_json_end(&j);
}

static void plan_csv(struct rk_bytes *out, const void *what, const struct rk_render_options *look)
{
	const struct rk_counter_plan *p = what;

	(void)look;
	rk_bytes_puts(out, "pass,counter\n");
	for (size_t i = 0; i < p->npasses; i++) {
		for (size_t k = 0; k < p->passes[i].n; k++) {
			rk_bytes_printf(out, "%zu,", i + 1);
			rk_csv_text(out, p->passes[i].counters[k], '\n');
		}
	}
}

int rk_counter_plan_render(const struct rk_counter_plan *p, enum rk_report_format format,
			   char **ret_text, size_t *ret_len, struct rk_error *err)
{
	static rk_form *const forms[RK_NFORMS] = { plan_text, plan_json, plan_csv };
	const struct rk_render_options look = { .format = format };

	return rk_render(forms, p, &look, ret_text, ret_len, __func__, err);
}

/* ---- checks ---- */

static void checks_text(struct rk_bytes *out, const void *what,
			const struct rk_render_options *look)
{
	const struct rk_counter_plan *p = what;

	(void)look;
	for (size_t i = 0; i < p->nchecks; i++) {
		const struct rk_counter_check *c = &p->checks[i];

		put_padded(out, status_words[c->status], 9);
		rk_put_printable(out, c->asked, strlen(c->asked), true);
		if (c->status != RK_COUNTER_OK && c->use[0]) {
			rk_bytes_puts(out, c->status == RK_COUNTER_RENAMED ? " ->" : ", nearest:");
			put_words(out, c->use);
		}
		if (c->reason[0])
			rk_bytes_printf(out, " (%s)", c->reason);
		rk_bytes_put_u8(out, '\n');
	}
}

static void checks_json(struct rk_bytes *out, const void *what,
			const struct rk_render_options *look)
{
	const struct rk_counter_plan *p = what;
	struct rk_json_out j;

	(void)look;
	json_begin(&j, out, p->arch);
	rk_json_array(&j, "checks");
	for (size_t i = 0; i < p->nchecks; i++) {
		const struct rk_counter_check *c = &p->checks[i];

		rk_json_object_flat(&j, NULL);
		rk_json_text(&j, "name", c->asked);
		rk_json_text(&j, "status", status_words[c->status]);
		json_words(&j, "use", c->use);
		rk_json_text(&j, "reason", c->reason);
		rk_json_close(&j);
	}
	rk_json_close(&j);
	rk_json_end(&j);
}

static void checks_csv(struct rk_bytes *out, const void *what, const struct rk_render_options *look)
{
	const struct rk_counter_plan *p = what;

	(void)look;
	rk_bytes_puts(out, "name,status,use,reason\n");
	for (size_t i = 0; i < p->nchecks; i++) {
		const struct rk_counter_check *c = &p->checks[i];

		rk_csv_text(out, c->asked, ',');
		rk_csv_text(out, status_words[c->status], ',');
		csv_words(out, c->use);
		rk_csv_text(out, c->reason, '\n');
	}
}

int rk_counter_checks_render(const struct rk_counter_plan *p, enum rk_report_format format,
			     char **ret_text, size_t *ret_len, struct rk_error *err)
{
	static rk_form *const forms[RK_NFORMS] = { checks_text, checks_json, checks_csv };
	const struct rk_render_options look = { .format = format };

	return rk_render(forms, p, &look, ret_text, ret_len, __func__, err);
}
