/* counters_render.c - counters in the form that was asked for. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/handle.h"
#include "base/text.h"
#include "counters/counters_parts.h"

enum { TEXT_MAX_BYTES = 16 << 20, SPEC_MAX_BYTES = 1 << 16 };

const char *rk_counter_status_word(enum rk_counter_status s)
{
	static const char *const words[] = { "ok", "renamed", "missing" };

	return words[s];
}

size_t rk_counters_count(const char *arch)
{
	size_t n = 0;

	while (rk_counters_at(arch, n))
		n++;
	return n;
}

static bool letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* `text` holds `word`; `whole`: as the beginning of a word, so that "lds" is not in "holds". */
static bool holds(const char *text, const char *word, bool whole)
{
	size_t len = strlen(text);

	for (size_t i = 0; i < len; i++)
		if (!(whole && i && letter(text[i - 1])) &&
		    rk_text_iprefix(text + i, len - i, word))
			return true;
	return word[0] == '\0';
}

/* Those of the "@category" words, planned as for -c; *ret is NULL where there is no such word. */
static int of_categories(const char *arch, const char *const *words, size_t n,
			 struct rk_counter_plan **ret, struct rk_error *err)
{
	struct rk_bytes spec;
	int rc = 0;

	rk_bytes_init(&spec, SPEC_MAX_BYTES);
	for (size_t i = 0; i < n; i++)
		if (words[i][0] == '@')
			rk_bytes_printf(&spec, "%s%s", spec.len ? "," : "", words[i]);
	if (spec.bad || spec.len)
		rc = rk_bytes_str(&spec) ? rk_counters_plan(arch, rk_bytes_str(&spec), ret, err) :
					   rk_fail_nomem(err);
	rk_bytes_release(&spec);
	return rc;
}

static bool planned(const struct rk_counter_plan *p, const char *name)
{
	for (size_t i = 0; p && i < p->npasses; i++)
		for (size_t k = 0; k < p->passes[i].n; k++)
			if (!strcmp(p->passes[i].counters[k], name))
				return true;
	return false;
}

static bool wanted(const struct rk_counter *c, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (holds(c->name, words[i], false) || holds(c->description, words[i], true))
			return true;
	return n == 0;
}

int rk_counters_render(const char *arch, const char *const *words, size_t n,
		       enum rk_report_format format, char **ret_text, size_t *ret_len,
		       size_t *ret_count, struct rk_error *err)
{
	static void (*const forms[])(struct rk_bytes *, const struct rk_counters_shown *) = {
		rk_counters_text, rk_counters_json, rk_counters_csv
	};
	struct rk_counters_shown shown = { .arch = rk_counters_arch_find(arch) };
	struct rk_counter_plan *named = NULL;
	const struct rk_counter *c;
	struct rk_bytes out;
	int rc;

	if (!arch || !rk_texts_there(words, n) || !ret_text)
		return rk_misuse(__func__, err);
	if (rk_check_enum((unsigned)format, RK_REPORT_CSV, __func__, err) < 0)
		return RK_E_USAGE;
	if (!shown.arch)
		return rk_fail(err, RK_E_USAGE, "unknown target '%s'", arch);
	rc = of_categories(arch, words, n, &named, err);
	if (rc < 0)
		return rc;
	shown.counters = rk_calloc(rk_counters_count(arch) + 1, sizeof(struct rk_counter *));
	for (size_t i = 0; shown.counters && (c = rk_counters_at(arch, i)) != NULL; i++)
		if (wanted(c, words, n) || planned(named, c->name))
			shown.counters[shown.n++] = c;
	rk_counter_plan_free(named);
	if (!shown.counters)
		return rk_fail_nomem(err);
	if (ret_count)
		*ret_count = shown.n;
	rk_bytes_init(&out, TEXT_MAX_BYTES);
	forms[format](&out, &shown);
	rk_free((void *)shown.counters);
	return rk_bytes_give(&out, ret_text, ret_len, err);
}

int rk_counters_render_targets(enum rk_report_format format, char **ret_text, size_t *ret_len,
			       struct rk_error *err)
{
	static void (*const forms[])(struct rk_bytes *) = { rk_counters_targets_text,
							    rk_counters_targets_json,
							    rk_counters_targets_csv };
	struct rk_bytes out;

	if (!ret_text)
		return rk_misuse(__func__, err);
	if (rk_check_enum((unsigned)format, RK_REPORT_CSV, __func__, err) < 0)
		return RK_E_USAGE;
	rk_bytes_init(&out, TEXT_MAX_BYTES);
	forms[format](&out);
	return rk_bytes_give(&out, ret_text, ret_len, err);
}

int rk_counter_plan_render(const struct rk_counter_plan *p, enum rk_report_format format,
			   char **ret_text, size_t *ret_len, struct rk_error *err)
{
	static void (*const forms[])(struct rk_bytes *, const struct rk_counter_plan *) = {
		rk_counters_plan_text, rk_counters_plan_json, rk_counters_plan_csv
	};
	struct rk_bytes out;

	if (!p || !ret_text)
		return rk_misuse(__func__, err);
	if (rk_check_enum((unsigned)format, RK_REPORT_CSV, __func__, err) < 0)
		return RK_E_USAGE;
	rk_bytes_init(&out, TEXT_MAX_BYTES);
	forms[format](&out, p);
	return rk_bytes_give(&out, ret_text, ret_len, err);
}

int rk_counter_checks_render(const struct rk_counter_plan *p, enum rk_report_format format,
			     char **ret_text, size_t *ret_len, struct rk_error *err)
{
	static void (*const forms[])(struct rk_bytes *, const struct rk_counter_plan *) = {
		rk_counters_checks_text, rk_counters_checks_json, rk_counters_checks_csv
	};
	struct rk_bytes out;

	if (!p || !ret_text)
		return rk_misuse(__func__, err);
	if (rk_check_enum((unsigned)format, RK_REPORT_CSV, __func__, err) < 0)
		return RK_E_USAGE;
	rk_bytes_init(&out, TEXT_MAX_BYTES);
	forms[format](&out, p);
	return rk_bytes_give(&out, ret_text, ret_len, err);
}
