/* counter_resolve.c - see counter_resolve.h; the rules are in data/counters/renames.txt. */
#include "counters/counter_resolve.h"

#include <stdio.h>
#include <string.h>

#include "base/data.h"
#include "base/text.h"
#include "base/words.h"

enum { NAME_MAX_BYTES = 128 };

struct rk_counter_word rk_counter_word_of(const char *text)
{
	static const char device[] = ":device=";
	size_t klen = sizeof(device) - 1, len = strlen(text), end = len;
	struct rk_counter_word w = { .instance = false };

	/* ":device=N" at the end */
	while (end && rk_is_digit(text[end - 1]))
		end--;
	if (end < len && end >= klen && memcmp(text + end - klen, device, klen) == 0)
		len = end - klen;
	/* "[N]" at the end */
	end = len;
	if (end && text[end - 1] == ']') {
		for (end--; end && rk_is_digit(text[end - 1]);)
			end--;
		if (end && end < len - 1 && text[end - 1] == '[') {
			w.instance = true;
			len = end - 1;
		}
	}
	w.name = (struct rk_piece){ .s = text, .len = len };
	w.suffix = rk_piece_of(text + len);
	return w;
}

struct question {
	const struct rk_counter_table *table;
	const struct rk_counter_target *target;
	struct rk_counter_word word;
	struct rk_counter_answer *answer;
};

static const struct rk_counter_entry *here(const struct question *q, struct rk_piece name)
{
	return rk_counter_table_find(q->table, q->target, name);
}

/* Adds the name with the requested suffix. */
static void use(const struct question *q, struct rk_piece name)
{
	rk_list_addf(&q->answer->use, "%.*s%.*s", (int)name.len, name.s, (int)q->word.suffix.len,
		     q->word.suffix.s);
}

static void answer(const struct question *q, enum rk_counter_status status, struct rk_piece why)
{
	static const char nowhere[] = "no GPU has it";
	bool plain = why.len >= sizeof(nowhere) - 1 &&
		     memcmp(why.s, nowhere, sizeof(nowhere) - 1) == 0;

	q->answer->status = status;
	if (plain)
		snprintf(q->answer->reason, sizeof(q->answer->reason), "%.*s", (int)why.len, why.s);
	else
		snprintf(q->answer->reason, sizeof(q->answer->reason), "not on %s: %.*s",
			 q->target->name, (int)why.len, why.s);
}

/* Accepts NAME_sum if only NAME is defined: profilers add up instances when they write. */
static bool try_without_sum(const struct question *q)
{
	struct rk_piece name = q->word.name;
	const struct rk_counter_entry *e;

	if (name.len <= 4 || memcmp(name.s + name.len - 4, "_sum", 4) != 0)
		return false;
	name.len -= 4;
	e = here(q, name);
	if (!e || e->pub.derived)
		return false;
	use(q, name);
	answer(q, RK_COUNTER_RENAMED, rk_piece_of("profilers add up its instances anyway"));
	return true;
}

/* Does `name` match `pattern`? *rest is the part that '*' matched. */
static bool matches(struct rk_piece pattern, struct rk_piece name, struct rk_piece *rest)
{
	bool star = pattern.len && pattern.s[pattern.len - 1] == '*';
	size_t len = pattern.len - star;

	*rest = (struct rk_piece){ .s = name.s + len, .len = name.len - len };
	return name.len >= len && memcmp(pattern.s, name.s, len) == 0 && (star || !rest->len);
}

/* The replacement with its '*' filled in, stored in `text`. */
static struct rk_piece replaced(struct rk_piece word, struct rk_piece rest,
				char text[NAME_MAX_BYTES])
{
	bool star = word.s[word.len - 1] == '*';

	snprintf(text, NAME_MAX_BYTES, "%.*s%.*s", (int)(word.len - star), word.s,
		 star ? (int)rest.len : 0, rest.s);
	return rk_piece_of(text);
}

/*
 * Rules are "OLD -> NEW... | WHY". Uses the replacement of the first rule that matches and whose
 * counters the target has. *ret_known: a rule names it, so it is not a typo.
 */
static bool try_rules(const struct question *q, bool *ret_known)
{
	const struct rk_data_file *f = rk_data_find("counters/renames.txt");
	struct rk_piece text = { .s = f ? f->text : "", .len = f ? f->len : 0 };
	struct rk_piece line, why, old, arrow, rest, words, word;
	char name[NAME_MAX_BYTES];

	*ret_known = false;
	while (rk_piece_line(&text, &line)) {
		bool all = true;

		rk_piece_split(line, '|', &line, &why);
		if (!rk_piece_word(&line, " ", &old) || !rk_piece_word(&line, " ", &arrow) ||
		    !matches(old, q->word.name, &rest))
			continue;
		for (words = line; all && rk_piece_word(&words, " ", &word);)
			all = here(q, replaced(word, rest, name)) != NULL;
		if (all) {
			for (words = line; rk_piece_word(&words, " ", &word);)
				use(q, replaced(word, rest, name));
			answer(q,
			       rk_piece_is(arrow, "?>") ? RK_COUNTER_MISSING : RK_COUNTER_RENAMED,
			       rk_piece_trim(why));
			return true;
		}
		*ret_known |= old.s[old.len - 1] != '*';
	}
	return false;
}

/* Accepts a derived counter of other targets if all its inputs exist here. */
static bool try_inputs(const struct question *q, const struct rk_counter_entry *elsewhere)
{
	if (!elsewhere->pub.needs || !elsewhere->pub.needs[0])
		return false;
	for (const char *const *n = elsewhere->pub.needs; *n; n++)
		if (!here(q, rk_piece_of(*n)))
			return false;
	for (const char *const *n = elsewhere->pub.needs; *n; n++) {
		char sum[NAME_MAX_BYTES];

		/* prefer NAME_sum of an input, because ratios are ratios of sums */
		snprintf(sum, sizeof(sum), "%s_sum", *n);
		use(q, rk_piece_of(here(q, rk_piece_of(sum)) ? sum : *n));
	}
	answer(q, RK_COUNTER_RENAMED, rk_piece_of("compute it from its inputs"));
	return true;
}

/* The counter with the most similar name, on the target or on any, or NULL. */
static const char *nearest(const struct question *q, bool everywhere)
{
	char name[RK_WORD_MAX + 1];
	size_t limit = q->word.name.len / 5 + 1;
	const struct rk_counter_entry *e;
	const char *best = NULL;

	if (q->word.name.len > RK_WORD_MAX)
		return NULL;
	snprintf(name, sizeof(name), "%.*s", (int)q->word.name.len, q->word.name.s);
	for (size_t i = 0; (e = rk_counter_table_at(q->table, i)) != NULL; i++) {
		size_t d;

		if (!everywhere && !here(q, rk_piece_of(e->pub.name)))
			continue;
		d = rk_word_distance(name, e->pub.name, true);
		if (d > limit || (best && d == limit))
			continue;
		best = e->pub.name;
		limit = d;
	}
	return best;
}

static void answer_missing(const struct question *q, const struct rk_counter_entry *elsewhere,
			   bool known)
{
	char *out = q->answer->reason;
	size_t size = sizeof(q->answer->reason), len;
	const struct rk_counter_target *target;
	const char *near, *comma = "";

	q->answer->status = RK_COUNTER_MISSING;
	if (elsewhere) {
		/* "only on gfx908, gfx90a" */
		len = (size_t)snprintf(out, size, "not on %s, only on", q->target->name);
		for (size_t i = 0; (target = rk_counter_table_target(q->table, i)) != NULL; i++) {
			if (!rk_counter_table_find(q->table, target,
						   rk_piece_of(elsewhere->pub.name)))
				continue;
			if (len + 24 > size) {
				snprintf(out + len, size - len, " and others");
				return;
			}
			len += (size_t)snprintf(out + len, size - len, "%s %s", comma,
						target->name);
			comma = ",";
		}
		return;
	}
	if (known) {
		snprintf(out, size, "no GPU has it, and %s has nothing similar", q->target->name);
		return;
	}
	q->answer->unknown = true;
	near = nearest(q, false);
	if (!near)
		near = nearest(q, true);
	if (near)
		use(q, rk_piece_of(near));
	answer(q, RK_COUNTER_MISSING, rk_piece_of("no GPU has it"));
}

int rk_counter_resolve(const struct rk_counter_table *t, const struct rk_counter_target *target,
		       const char *asked, struct rk_counter_answer *ret, struct rk_error *err)
{
	const struct question q = {
		.table = t,
		.target = target,
		.word = rk_counter_word_of(asked),
		.answer = ret,
	};
	const struct rk_counter_entry *e = here(&q, q.word.name);
	bool known;

	if (e && !(q.word.instance && e->pub.derived)) {
		use(&q, q.word.name);
		ret->status = RK_COUNTER_OK;
	} else if (e) {
		ret->status = RK_COUNTER_MISSING;
		snprintf(ret->reason, sizeof(ret->reason), "a derived counter has no instances");
	} else if (!try_without_sum(&q) && !try_rules(&q, &known)) {
		e = rk_counter_table_any(t, q.word.name);
		if (!e || !try_inputs(&q, e))
			answer_missing(&q, e, known);
	}
	if (ret->use.bad)
		return rk_fail_nomem(err);
	return 0;
}
