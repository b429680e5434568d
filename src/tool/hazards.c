/* hazards.c - see hazards.h. */
#include "tool/hazards.h"

#include <string.h>

#include "base/alloc.h"
#include "base/data.h"
#include "base/num.h"
#include "base/text.h"
#include "codec/json/tree.h"
#include "tool/tool.h"

/* Words of "when" beside the names of traces. */
static const struct known_word {
	const char *word;
	unsigned bit;
} known_words[] = {
	{ "counters", RK_ASK_COUNTERS }, { "pc", RK_ASK_PC },       { "attach", RK_ASK_ATTACH },
	{ "att", RK_ASK_ATT },           { "spm", RK_ASK_SPM },     { "replay", RK_ASK_REPLAY },
	{ "delay", RK_ASK_DELAY },       { "range", RK_ASK_RANGE }, { "duration", RK_ASK_DURATION },
	{ "python", RK_CASE_PYTHON },    { "job", RK_CASE_JOB },    { "torch", RK_CASE_TORCH },
	{ "wsl", RK_CASE_WSL },
};

/* Whether one word of "when" is met. What nobody knows is not the case. */
static bool is_met(const struct rk_hazard_case *c, const char *word)
{
	for (size_t i = 0; i < sizeof(known_words) / sizeof(known_words[0]); i++) {
		const struct known_word *k = &known_words[i];

		if (strcmp(k->word, word) != 0)
			continue;
		/* the machine is known, whatever is requested */
		return c->asks & k->bit || (c->any && k->bit != RK_CASE_WSL);
	}
	for (unsigned i = 0; rk_trace_name(i); i++)
		if (!strcmp(rk_trace_name(i), word))
			return c->any || c->traces >> i & 1;
	return false;
}

/* Compares "6.19.14.31400000" number by number; a missing one is 0. */
static int compare_dotted(const char *a, const char *b)
{
	while (*a || *b) {
		size_t la = strspn(a, "0123456789"), lb = strspn(b, "0123456789");
		uint64_t x = 0, y = 0;

		(void)rk_num_u64(a, la, &x);
		(void)rk_num_u64(b, lb, &y);
		if (x != y)
			return x < y ? -1 : 1;
		a += la;
		b += lb;
		/* what follows the numbers ("-1234.el9") does not count */
		a = *a == '.' ? a + 1 : "";
		b = *b == '.' ? b + 1 : "";
	}
	return 0;
}

/* Is the machine's driver or firmware older than the row demands, if it demands one? */
static bool is_old(const struct rk_hazard_case *c, const struct rk_tree *row)
{
	const char *driver = rk_tree_text(rk_tree_get(row, "driver_before"), "");
	int64_t firmware = 0;

	if (driver[0] && compare_dotted(rk_text_or_empty(c->driver), driver) >= 0)
		return false;
	return !rk_tree_int(rk_tree_get(row, "firmware_before"), &firmware) ||
	       (c->firmware && c->firmware < (uint64_t)firmware);
}

static bool applies(const struct rk_hazard_case *c, const struct rk_tree *row)
{
	const char *arch = rk_tree_text(rk_tree_get(row, "arch"), "");
	const struct rk_tree *run = rk_tree_get(row, "run");
	struct rk_version from = { 0 }, until = { 0 };

	if (strcmp(rk_tree_text(rk_tree_get(row, "tool"), ""), c->tool) != 0 ||
	    strncmp(rk_text_or_empty(c->arch), arch, strlen(arch)) != 0 ||
	    (run && !c->any && !rk_tree_true(run)) || !is_old(c, row))
		return false;
	rk_version_parse(rk_tree_text(rk_tree_get(row, "from"), ""), &from);
	rk_version_parse(rk_tree_text(rk_tree_get(row, "until"), ""), &until);
	if (rk_version_known(until) &&
	    (!rk_version_known(c->version) || rk_version_compare(c->version, until) >= 0))
		return false;
	if (rk_version_known(c->version) && rk_version_compare(c->version, from) < 0)
		return false;
	RK_TREE_EACH(word, rk_tree_get(row, "when"))
	if (!is_met(c, word->text))
		return false;
	return true;
}

static int add(struct rk_hazards *ret, const struct rk_tree *row, struct rk_error *err)
{
	static const char *const special[] = { "from", "until", "arch", "driver_before",
					       "firmware_before" };
	const char *advice = rk_tree_text(rk_tree_get(row, "advice"), "");
	const struct rk_tree *confirmed = rk_tree_get(row, "confirmed");
	struct rk_hazard *v = rk_grow(ret->v, &ret->cap, ret->n + 1, sizeof(*ret->v)), *h;

	if (!v)
		return rk_fail_nomem(err);
	ret->v = v;
	h = &v[ret->n];
	*h = (struct rk_hazard){ 0 };
	h->text = rk_strf("%s%s%s%s", rk_tree_text(rk_tree_get(row, "symptom"), ""),
			  advice[0] ? ": " : "", advice,
			  confirmed && !rk_tree_true(confirmed) ? " (not confirmed)" : "");
	if (!h->text)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++)
		h->special |= rk_tree_get(row, special[i]) != NULL;
	ret->n++;
	return 0;
}

int rk_hazards_find(const struct rk_hazard_case *c, struct rk_hazards *ret, struct rk_error *err)
{
	const struct rk_data_file *f = rk_data_find("tools/hazards.json");
	struct rk_tree *root = NULL;
	int rc = f ? rk_tree_parse_json(f->text, f->len, f->name, &root, err) : 0;

	RK_TREE_EACH(row, rk_tree_get(root, "hazards"))
	if (rc == 0 && applies(c, row))
		rc = add(ret, row, err);
	rk_tree_free(root);
	if (rc < 0)
		rk_hazards_release(ret);
	return rc;
}

void rk_hazards_release(struct rk_hazards *h)
{
	for (size_t i = 0; i < h->n; i++)
		rk_free(h->v[i].text);
	rk_free(h->v);
	*h = (struct rk_hazards){ 0 };
}
