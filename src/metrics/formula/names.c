/*
 * names.c - see names.h.
 *
 * Every counter is known by its name in its pass and by its name anywhere; X[i] is also a member of
 * the group X, in its pass and anywhere. All of these are keys of one index. A key consists of p or
 * P (one counter, or a group, in its pass) or a or A (anywhere: the first one added counts); the
 * pass or nothing; a zero byte; the name. A pass is named by its level counter, or numbered: "#2".
 */
#include "metrics/formula/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/num.h"
#include "base/text.h"
#include "run/run.h"

enum { KEY_MAX = 2 * RK_COUNTER_NAME_MAX + 3, PASS_NAME_MAX = 16 };

struct member {
	int64_t index;
	uint32_t id;
};

struct entry {
	char *key; /* contains a zero byte */
	size_t klen;
	struct member *members; /* one member if it is not a group */
	uint32_t *ids;          /* ids of the members, once sorted; room for all members */
	int64_t *indices;
	size_t n, cap;
	bool sorted;
};

struct rk_formula_names {
	struct entry *entries;
	size_t n, cap;
	struct rk_index by_key; /* indexes the entries */
	int *passes;            /* numbered ones, ascending */
	size_t npasses, cap_passes;
	struct rk_idmap pass_of; /* by id: the numbered pass + 1, 0: none */
};

int rk_formula_names_new(struct rk_formula_names **ret, struct rk_error *err)
{
	*ret = rk_calloc(1, sizeof(**ret));
	if (!*ret)
		return rk_fail_nomem(err);
	return 0;
}

void rk_formula_names_free(struct rk_formula_names *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->n; i++) {
		rk_free(n->entries[i].key);
		rk_free(n->entries[i].members);
		rk_free(n->entries[i].ids);
		rk_free(n->entries[i].indices);
	}
	rk_free(n->entries);
	rk_index_release(&n->by_key);
	rk_free(n->passes);
	rk_idmap_release(&n->pass_of);
	rk_free(n);
}

/* `pass` NULL: anywhere. Returns 0 if it is too long to be a name in a formula. */
static size_t make_key(char key[KEY_MAX], bool group, const char *pass, const char *name,
		       size_t len)
{
	const char *kinds = pass ? "pP" : "aA";
	size_t plen;

	pass = rk_text_or_empty(pass);
	plen = strlen(pass);
	if (plen > RK_COUNTER_NAME_MAX || len > RK_COUNTER_NAME_MAX)
		return 0;
	key[0] = kinds[group];
	memcpy(key + 1, pass, plen + 1);
	memcpy(key + plen + 2, name, len);
	return plen + 2 + len;
}

static struct entry *find_key(const struct rk_formula_names *n, const char *key, size_t klen)
{
	uint64_t hash = rk_hash_bytes(key, klen);
	size_t at;

	for (uint32_t i = rk_index_first(&n->by_key, hash, &at); i != RK_INDEX_NONE;
	     i = rk_index_next(&n->by_key, hash, &at))
		if (n->entries[i].klen == klen && memcmp(n->entries[i].key, key, klen) == 0)
			return &n->entries[i];
	return NULL;
}

/* Adds to the entry with that key; creates it if it is missing. */
static int put(struct rk_formula_names *n, const char *key, size_t klen, int64_t index, uint32_t id)
{
	struct entry *e = find_key(n, key, klen);
	size_t cap;
	void *p;

	if (!e) {
		char *copy;

		if (!(p = rk_grow(n->entries, &n->cap, n->n + 1, sizeof(*e))))
			return -1;
		n->entries = p;
		copy = rk_strndup(key, klen);
		if (!copy || !rk_index_add(&n->by_key, rk_hash_bytes(key, klen), (uint32_t)n->n)) {
			rk_free(copy);
			return -1;
		}
		e = &n->entries[n->n++];
		*e = (struct entry){ .key = copy, .klen = klen };
	}
	if (e->n == e->cap) {
		cap = e->cap ? e->cap * 2 : 1;
		if (!(p = rk_reallocn(e->members, cap, sizeof(*e->members))))
			return -1;
		e->members = p;
		if (!(p = rk_reallocn(e->ids, cap, sizeof(*e->ids))))
			return -1;
		e->ids = p;
		if (!(p = rk_reallocn(e->indices, cap, sizeof(*e->indices))))
			return -1;
		e->indices = p;
		e->cap = cap;
	}
	e->members[e->n++] = (struct member){ index, id };
	e->sorted = false;
	return 0;
}

/* For "X[12]" returns 12 and the length of X; otherwise -1 and the whole length. */
static int64_t split(const char *name, size_t *ret_len)
{
	size_t len = strlen(name), open = len;
	int64_t v;

	*ret_len = len;
	if (len < 4 || name[len - 1] != ']')
		return -1;
	while (open > 0 && name[open - 1] != '[')
		open--;
	if (open < 2 || strspn(name + open, "0123456789") != len - 1 - open || len - 1 - open > 9 ||
	    rk_num_i64(name + open, len - 1 - open, &v) != RK_NUM_OK)
		return -1;
	*ret_len = open - 1;
	return v;
}

/*
 * Adds a counter to one scope (a pass, or NULL): by its name, and to its group if it is an
 * instance.
 */
static int add_to(struct rk_formula_names *n, const char *pass, const char *name, uint32_t id)
{
	char key[KEY_MAX];
	size_t base, klen = make_key(key, false, pass, name, strlen(name));
	int64_t index = split(name, &base);

	if (!klen || find_key(n, key, klen))
		return 0;
	if (put(n, key, klen, index, id) < 0)
		return -1;
	if (index < 0)
		return 0;
	klen = make_key(key, true, pass, name, base);
	return put(n, key, klen, index, id);
}

int rk_formula_names_add(struct rk_formula_names *n, const char *name, const char *pass,
			 uint32_t id, struct rk_error *err)
{
	if (add_to(n, pass, name, id) < 0 || add_to(n, NULL, name, id) < 0)
		return rk_fail_nomem(err);
	return 0;
}

static void name_pass(char ret[PASS_NAME_MAX], int pass)
{
	snprintf(ret, PASS_NAME_MAX, "#%d", pass);
}

int rk_formula_names_in_pass(struct rk_formula_names *n, const char *name, int pass, uint32_t id,
			     struct rk_error *err)
{
	char scope[PASS_NAME_MAX];
	uint32_t *pass_of = rk_idmap_at(&n->pass_of, id);
	size_t at = n->npasses;

	name_pass(scope, pass);
	if (!pass_of || add_to(n, scope, name, id) < 0)
		return rk_fail_nomem(err);
	*pass_of = (uint32_t)pass + 1;
	while (at && n->passes[at - 1] > pass)
		at--;
	if (!at || n->passes[at - 1] != pass) {
		int *v = rk_grow(n->passes, &n->cap_passes, n->npasses + 1, sizeof(*v));

		if (!v)
			return rk_fail_nomem(err);
		n->passes = v;
		memmove(v + at + 1, v + at, (n->npasses++ - at) * sizeof(*v));
		v[at] = pass;
	}
	return 0;
}

int rk_formula_names_pass(const struct rk_formula_names *n, size_t i)
{
	return i < n->npasses ? n->passes[i] : -1;
}

int rk_formula_names_pass_of(const struct rk_formula_names *n, uint32_t id)
{
	return id < n->pass_of.n ? (int)n->pass_of.at[id] - 1 : -1;
}

static int by_index(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return (x->index > y->index) - (x->index < y->index);
}

/* `pass` NULL: anywhere. */
static bool find(const struct rk_formula_names *n, const char *pass, bool group, const char *name,
		 size_t len, struct rk_counter_match *ret)
{
	char key[KEY_MAX];
	size_t klen = make_key(key, group, pass, name, len);
	struct entry *e = klen ? find_key(n, key, klen) : NULL;

	if (!e || e->n == 0)
		return false;
	if (!e->sorted) {
		qsort(e->members, e->n, sizeof(*e->members), by_index);
		for (size_t i = 0; i < e->n; i++) {
			e->ids[i] = e->members[i].id;
			e->indices[i] = e->members[i].index;
		}
		e->sorted = true;
	}
	*ret = (struct rk_counter_match){ e->ids, e->indices, e->n };
	return true;
}

/* Looks up one spelling in one scope. */
static bool in_scope(struct rk_formula_names *n, const char *pass, const char *name,
		     enum rk_name_use use, struct rk_counter_match *ret)
{
	char sum[RK_COUNTER_NAME_MAX + 8];
	size_t len = strlen(name);
	int slen;

	if (use == RK_USE_ONE || rk_text_ends(name, len, "_max") ||
	    rk_text_ends(name, len, "_min") || rk_text_ends(name, len, "_avr"))
		return find(n, pass, false, name, len, ret);
	if (rk_text_ends(name, len, "_sum") && len > 4)
		len -= 4;
	slen = snprintf(sum, sizeof(sum), "%.*s_sum", (int)len, name);
	/* prefer X_sum, then the X[i], then X; or the X[i] first */
	if (use == RK_USE_INSTANCES && find(n, pass, true, name, len, ret))
		return true;
	return find(n, pass, false, sum, (size_t)slen, ret) ||
	       find(n, pass, true, name, len, ret) || find(n, pass, false, name, len, ret);
}

/*
 * The possible spellings of a name: "EA.X" is TCC_EA_X or TCC_EA0_X, the target's own spelling
 * first; each of these two can replace the other.
 */
static size_t spell(const char *arch, const char *name, char out[2][RK_COUNTER_NAME_MAX + 1])
{
	static const char *const prefix[2] = { "TCC_EA_", "TCC_EA0_" };
	bool newer = strcmp(arch, "gfx908") == 0 || strncmp(arch, "gfx94", 5) == 0 ||
		     strncmp(arch, "gfx95", 5) == 0;
	const char *rest = NULL;

	if (strlen(name) + strlen(prefix[1]) > RK_COUNTER_NAME_MAX)
		return 0;
	if (strncmp(name, "EA.", 3) == 0)
		rest = name + 3;
	for (int i = 0; i < 2; i++)
		if (strncmp(name, prefix[i], strlen(prefix[i])) == 0) {
			rest = name + strlen(prefix[i]);
			newer = i == 1;
		}
	if (!rest) {
		snprintf(out[0], RK_COUNTER_NAME_MAX + 1, "%s", name);
		return 1;
	}
	snprintf(out[0], RK_COUNTER_NAME_MAX + 1, "%s%s", prefix[newer], rest);
	snprintf(out[1], RK_COUNTER_NAME_MAX + 1, "%s%s", prefix[!newer], rest);
	return 2;
}

void rk_counter_name_spell(const char *arch, const char *name, char ret[RK_COUNTER_NAME_MAX + 1])
{
	char ways[2][RK_COUNTER_NAME_MAX + 1];

	if (spell(arch, name, ways))
		name = ways[0];
	snprintf(ret, RK_COUNTER_NAME_MAX + 1, "%s", name);
}

/* The name with its instance or as an integral, in all spellings. Returns their number. */
static size_t all_ways(const char *arch, const char *name, enum rk_name_use use, int64_t index,
		       char ways[2][RK_COUNTER_NAME_MAX + 1])
{
	char full[RK_COUNTER_NAME_MAX + 1];
	int len;

	if (use == RK_USE_ONE)
		len = snprintf(full, sizeof(full), "%s[%lld]", name, (long long)index);
	else
		len = snprintf(full, sizeof(full), "%s%s", name,
			       use == RK_USE_LEVEL ? "_ACCUM" : "");
	if (len < 0 || (size_t)len >= sizeof(full))
		return 0;
	return spell(arch, full, ways);
}

void rk_formula_names_find(struct rk_formula_names *n, const char *arch, const char *name,
			   enum rk_name_use use, int64_t index, const char *pass,
			   struct rk_counter_match *ret)
{
	const char *const scopes[] = { pass, "", NULL };
	char ways[2][RK_COUNTER_NAME_MAX + 1];
	size_t count = all_ways(arch, name, use, index, ways);

	*ret = (struct rk_counter_match){ 0 };
	if (!count)
		return;
	for (size_t s = pass[0] ? 0 : 1; s < 3; s++)
		for (size_t i = 0; i < count; i++)
			if (in_scope(n, scopes[s], ways[i], use, ret))
				return;
	if (use == RK_USE_LEVEL && name[0])
		(void)in_scope(n, name, RK_LEVEL_ACCUMULATOR, use, ret);
}

void rk_formula_names_find_in(struct rk_formula_names *n, const char *arch, const char *name,
			      enum rk_name_use use, int64_t index, int pass,
			      struct rk_counter_match *ret)
{
	char ways[2][RK_COUNTER_NAME_MAX + 1], scope[PASS_NAME_MAX];
	size_t count = all_ways(arch, name, use, index, ways);

	*ret = (struct rk_counter_match){ 0 };
	name_pass(scope, pass);
	for (size_t i = 0; i < count; i++)
		if (in_scope(n, scope, ways[i], use, ret))
			return;
}
