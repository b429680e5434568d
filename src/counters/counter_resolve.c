/* counter_resolve.c - see counter_resolve.h; the rules are in data/counters/renames.txt. */
#include "counters/counter_resolve.h"

#include <stdio.h>
#include <string.h>

#include "base/data.h"
#include "base/words.h"

enum { NAME_MAX_BYTES = 128 };

static size_t digits(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && s[n] >= '0' && s[n] <= '9')
		n++;
	return n;
}

/* ":device=N" at the end. */
static bool cut_device(struct rk_piece *p)
{
	static const char key[] = ":device=";
	size_t klen = sizeof(key) - 1, n = 0;

	while (n < p->len && digits(p->s + p->len - n - 1, 1))
		n++;
	if (!n || n + klen > p->len || memcmp(p->s + p->len - n - klen, key, klen) != 0)
		return false;
	p->len -= n + klen;
	return true;
}

/* "[N]" at the end. */
static bool cut_instance(struct rk_piece *p)
{
	size_t n = 0;

	if (p->len < 3 || p->s[p->len - 1] != ']')
		return false;
	while (n + 2 < p->len && digits(p->s + p->len - n - 2, 1))
		n++;
	if (!n || p->s[p->len - n - 2] != '[')
		return false;
	p->len -= n + 2;
	return true;
}

struct rk_counter_word rk_counter_word_of(const char *text)
{
	struct rk_counter_word w = { .name = rk_piece_of(text) };

	cut_device(&w.name);
	w.instance = cut_instance(&w.name);
	w.suffix = rk_piece_of(text + w.name.len);
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

/* Adds NAME and the requested suffix. */
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

/* NAME_sum where only NAME is defined: profilers add up instances when they write. */
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

struct rule {
	struct rk_piece old, new, why;
	bool suggested;
};

/* "OLD -> NEW... | WHY" */
static bool next_rule(struct rk_piece *text, struct rule *ret)
{
	struct rk_piece line, arrow;

	while (rk_piece_line(text, &line)) {
		rk_piece_split(line, '|', &line, &ret->why);
		ret->why = rk_piece_trim(ret->why);
		if (!rk_piece_word(&line, " ", &ret->old) || !rk_piece_word(&line, " ", &arrow))
			continue;
		ret->new = line;
		ret->suggested = rk_piece_is(arrow, "?>");
		return true;
	}
	return false;
}

/* Whether `name` matches `pattern`; *rest is what its '*' matched. */
static bool matches(struct rk_piece pattern, struct rk_piece name, struct rk_piece *rest)
{
	bool star = pattern.len && pattern.s[pattern.len - 1] == '*';
	size_t len = pattern.len - star;

	*rest = (struct rk_piece){ .s = name.s + len, .len = name.len - len };
	return name.len >= len && memcmp(pattern.s, name.s, len) == 0 && (star || !rest->len);
}

/* The replacement with its '*' filled in, in `text`. */
static struct rk_piece replaced(struct rk_piece word, struct rk_piece rest,
				char text[NAME_MAX_BYTES])
{
	bool star = word.s[word.len - 1] == '*';

	snprintf(text, NAME_MAX_BYTES, "%.*s%.*s", (int)(word.len - star), word.s,
		 star ? (int)rest.len : 0, rest.s);
	return rk_piece_of(text);
}

/* Uses the replacement of the rule if the target has all of it. */
static bool try_rule(const struct question *q, const struct rule *r)
{
	struct rk_piece rest, words = r->new, word;
	char text[NAME_MAX_BYTES];

	if (!matches(r->old, q->word.name, &rest))
		return false;
	while (rk_piece_word(&words, " ", &word))
		if (!here(q, replaced(word, rest, text)))
			return false;
	for (words = r->new; rk_piece_word(&words, " ", &word);)
		use(q, replaced(word, rest, text));
	answer(q, r->suggested ? RK_COUNTER_MISSING : RK_COUNTER_RENAMED, r->why);
	return true;
}

/* *ret_known: a rule names it, so it is not a typo. */
static bool try_rules(const struct question *q, bool *ret_known)
{
	const struct rk_data_file *f = rk_data_find("counters/renames.txt");
	struct rk_piece text = { .s = f ? f->text : "", .len = f ? f->len : 0 }, rest;
	struct rule r;

	*ret_known = false;
	while (next_rule(&text, &r)) {
		if (try_rule(q, &r))
			return true;
		*ret_known |= r.old.s[r.old.len - 1] != '*' && matches(r.old, q->word.name, &rest);
	}
	return false;
}

/* A derived counter of other targets whose inputs are all here. */
static bool try_inputs(const struct question *q, const struct rk_counter_entry *elsewhere)
{
	if (!elsewhere->pub.needs || !elsewhere->pub.needs[0])
		return false;
	for (const char *const *n = elsewhere->pub.needs; *n; n++)
		if (!here(q, rk_piece_of(*n)))
			return false;
	for (const char *const *n = elsewhere->pub.needs; *n; n++) {
		char sum[NAME_MAX_BYTES];

		/* NAME_sum of an input if there is one, since ratios are ratios of sums. */
		snprintf(sum, sizeof(sum), "%s_sum", *n);
		use(q, rk_piece_of(here(q, rk_piece_of(sum)) ? sum : *n));
	}
	answer(q, RK_COUNTER_RENAMED, rk_piece_of("compute it from its inputs"));
	return true;
}

/* The counter with the most similar name, of the target or of all, or NULL. */
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

/* "only on gfx908, gfx90a" */
static void only_on(const struct question *q, const struct rk_counter_entry *e)
{
	char *out = q->answer->reason;
	size_t size = sizeof(q->answer->reason);
	const struct rk_counter_target *target;
	size_t len = (size_t)snprintf(out, size, "not on %s, only on", q->target->name);
	const char *comma = "";

	for (size_t i = 0; (target = rk_counter_table_target(q->table, i)) != NULL; i++) {
		if (!rk_counter_table_find(q->table, target, rk_piece_of(e->pub.name)))
			continue;
		if (len + 24 > size) {
			snprintf(out + len, size - len, " and others");
			return;
		}
		len += (size_t)snprintf(out + len, size - len, "%s %s", comma, target->name);
		comma = ",";
	}
}

static void answer_missing(const struct question *q, const struct rk_counter_entry *elsewhere,
			   bool known)
{
	const char *near;

	q->answer->status = RK_COUNTER_MISSING;
	if (elsewhere) {
		only_on(q, elsewhere);
		return;
	}
	q->answer->unknown = !known;
	if (known) {
		snprintf(q->answer->reason, sizeof(q->answer->reason),
			 "no GPU has it, and %s has nothing similar", q->target->name);
		return;
	}
	near = nearest(q, false);
	near = near ? near : nearest(q, true);
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
	return ret->use.bad ? rk_fail_nomem(err) : 0;
}
