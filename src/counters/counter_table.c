/* counter_table.c - read data/counters/table.txt, and find targets and counters. */
#include "counters/counter_table.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/data.h"
#include "base/num.h"
#include "base/text.h"

enum { GENERATIONS_MAX = 8, GROUPS_MAX = 32 };

struct group {
	const char *name;
	uint64_t targets;
};

struct generation {
	const char *name;
	const char *blocks[RK_BLOCKS_MAX];
	unsigned limits[RK_BLOCKS_MAX];
	size_t nblocks;
};

/* Names, texts and lists of inputs are in three pools whose sizes are computed from the text. */
struct rk_counter_table {
	struct rk_counter_target targets[RK_TARGETS_MAX];
	struct group groups[GROUPS_MAX];
	struct generation generations[GENERATIONS_MAX];
	size_t ntargets, ngroups, ngenerations;
	struct rk_counter_entry *entries;
	size_t nentries, entries_max;
	char *text;
	size_t text_len, text_max;
	const char **inputs;
	uint8_t *accumulate; /* parallel to inputs */
	size_t ninputs, inputs_max;
	uint16_t *index; /* entries of all targets, one target after the other */
};

struct rk_piece rk_piece_of(const char *s)
{
	return (struct rk_piece){ .s = s, .len = strlen(s) };
}

bool rk_piece_is(struct rk_piece p, const char *word)
{
	return p.len == strlen(word) && memcmp(p.s, word, p.len) == 0;
}

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

struct rk_piece rk_piece_trim(struct rk_piece p)
{
	while (p.len && blank(p.s[0])) {
		p.s++;
		p.len--;
	}
	while (p.len && blank(p.s[p.len - 1]))
		p.len--;
	return p;
}

bool rk_piece_split(struct rk_piece p, char c, struct rk_piece *before, struct rk_piece *after)
{
	const char *at = p.len ? memchr(p.s, c, p.len) : NULL;
	size_t len = at ? (size_t)(at - p.s) : p.len;

	*before = (struct rk_piece){ .s = p.s, .len = len };
	*after = (struct rk_piece){ .s = p.s + len + !!at, .len = p.len - len - !!at };
	return at != NULL;
}

bool rk_piece_line(struct rk_piece *text, struct rk_piece *ret)
{
	struct rk_piece comment;

	if (!text->len)
		return false;
	rk_piece_split(*text, '\n', ret, text);
	rk_piece_split(*ret, '#', ret, &comment);
	*ret = rk_piece_trim(*ret);
	return true;
}

bool rk_piece_word(struct rk_piece *p, const char *separators, struct rk_piece *ret)
{
	size_t at = 0, end;

	/* A NUL in a file is a normal character here, not the end of the text as for strchr. */
	while (at < p->len && p->s[at] && strchr(separators, p->s[at]))
		at++;
	for (end = at; end < p->len && !(p->s[end] && strchr(separators, p->s[end]));)
		end++;
	*ret = (struct rk_piece){ .s = p->s + at, .len = end - at };
	*p = (struct rk_piece){ .s = p->s + end, .len = p->len - end };
	return ret->len > 0;
}

/* Keeps a copy; NULL if the pool is full, which only a wrong size estimate can cause. */
static const char *keep2(struct rk_counter_table *t, struct rk_piece p, const char *more)
{
	size_t extra = strlen(more);
	char *at = t->text + t->text_len;

	if (p.len + extra + 1 > t->text_max - t->text_len)
		return NULL;
	memcpy(at, p.s, p.len);
	memcpy(at + p.len, more, extra + 1);
	t->text_len += p.len + extra + 1;
	return at;
}

static const char *keep(struct rk_counter_table *t, struct rk_piece p)
{
	return keep2(t, p, "");
}

static int generation_index(struct rk_counter_table *t, struct rk_piece name, unsigned *ret,
			    struct rk_error *err)
{
	for (unsigned i = 0; i < t->ngenerations; i++) {
		if (rk_piece_is(name, t->generations[i].name)) {
			*ret = i;
			return 0;
		}
	}
	if (t->ngenerations == GENERATIONS_MAX)
		return rk_fail(err, RK_E_FORMAT, "too many generations");
	*ret = (unsigned)t->ngenerations;
	t->generations[t->ngenerations].name = keep(t, name);
	t->ngenerations += t->generations[t->ngenerations].name != NULL;
	return 0;
}

static int read_target(struct rk_counter_table *t, struct rk_piece rest, struct rk_error *err)
{
	struct rk_counter_target *target = &t->targets[t->ntargets];
	struct rk_piece name, generation, product;
	size_t n = 0;

	if (t->ntargets == RK_TARGETS_MAX)
		return rk_fail(err, RK_E_FORMAT, "too many targets");
	if (!rk_piece_word(&rest, " ", &name) || !rk_piece_word(&rest, " ", &generation))
		return rk_fail(err, RK_E_FORMAT, "a target needs a name and a generation");
	if (name.len < 4 || memcmp(name.s, "gfx", 3) != 0)
		return rk_fail(err, RK_E_FORMAT, "a target name must start with gfx");
	target->name = keep(t, name);
	while (n < RK_PRODUCTS_MAX && rk_piece_word(&rest, " ", &product))
		target->products[n++] = keep(t, product);
	t->ntargets += target->name != NULL;
	return generation_index(t, generation, &target->generation, err);
}

/* Converts names of targets and groups to bits; 0 if there are none or one is unknown. */
static uint64_t read_targets(const struct rk_counter_table *t, struct rk_piece names)
{
	struct rk_piece word;
	uint64_t all = 0;

	while (rk_piece_word(&names, " ", &word)) {
		uint64_t bits = 0;

		for (size_t i = 0; i < t->ntargets; i++)
			if (rk_piece_is(word, t->targets[i].name))
				bits |= UINT64_C(1) << i;
		for (size_t i = 0; i < t->ngroups; i++)
			if (rk_piece_is(word, t->groups[i].name))
				bits |= t->groups[i].targets;
		if (!bits)
			return 0;
		all |= bits;
	}
	return all;
}

static int read_group(struct rk_counter_table *t, struct rk_piece rest, struct rk_error *err)
{
	struct group *g = &t->groups[t->ngroups];
	struct rk_piece name;

	if (t->ngroups == GROUPS_MAX)
		return rk_fail(err, RK_E_FORMAT, "too many groups");
	if (!rk_piece_word(&rest, " ", &name))
		return rk_fail(err, RK_E_FORMAT, "a group needs a name");
	g->name = keep(t, name);
	g->targets = read_targets(t, rest);
	if (!g->targets)
		return rk_fail(err, RK_E_FORMAT, "a group of unknown targets");
	t->ngroups += g->name != NULL;
	return 0;
}

static int read_limit(struct rk_counter_table *t, struct rk_piece rest, struct rk_error *err)
{
	struct generation *g;
	struct rk_piece name, block, number;
	unsigned i = 0;
	uint64_t v;
	int rc;

	if (!rk_piece_word(&rest, " ", &name))
		return rk_fail(err, RK_E_FORMAT, "limits without a generation");
	rc = generation_index(t, name, &i, err);
	if (rc < 0)
		return rc;
	g = &t->generations[i];
	while (rk_piece_word(&rest, " ", &block)) {
		if (!rk_piece_split(block, '=', &block, &number) || g->nblocks == RK_BLOCKS_MAX ||
		    rk_num_u64(number.s, number.len, &v) != RK_NUM_OK || v == 0 || v > 64)
			return rk_fail(err, RK_E_FORMAT, "a limit must be BLOCK=N, N from 1 to 64");
		g->blocks[g->nblocks] = keep(t, block);
		g->limits[g->nblocks] = (unsigned)v;
		g->nblocks += g->blocks[g->nblocks] != NULL;
	}
	return 0;
}

static struct rk_counter_entry *new_entry(struct rk_counter_table *t)
{
	return t->nentries < t->entries_max ? &t->entries[t->nentries++] : NULL;
}

static int no_room(struct rk_error *err)
{
	return rk_fail(err, RK_E_LIMIT, "the table of counters is too large");
}

/* Adds one input to the current list; a NULL `name` ends it. */
static bool put_input(struct rk_counter_table *t, const char *name, enum rk_accumulate how)
{
	if (t->ninputs == t->inputs_max)
		return false;
	t->inputs[t->ninputs] = name;
	t->accumulate[t->ninputs++] = (uint8_t)how;
	return true;
}

/* Reads the words after "=": inputs of a derived counter, possibly none. */
static int read_inputs(struct rk_counter_table *t, struct rk_counter_entry *e,
		       struct rk_piece words, struct rk_error *err)
{
	struct rk_piece word, name, suffix;

	e->pub.derived = true;
	e->pub.block = "";
	e->pub.needs = t->inputs + t->ninputs;
	e->accumulate = t->accumulate + t->ninputs;
	while (rk_piece_word(&words, " ", &word)) {
		enum rk_accumulate how = RK_ACCUMULATE_NO;
		const char *kept;

		if (rk_piece_split(word, '@', &name, &suffix))
			how = rk_piece_is(suffix, "HIGH") ? RK_ACCUMULATE_HIGH : RK_ACCUMULATE_LOW;
		kept = keep(t, name);
		if (!kept || !put_input(t, kept, how))
			return no_room(err);
	}
	if (!put_input(t, NULL, RK_ACCUMULATE_NO))
		return no_room(err);
	return 0;
}

static int read_constant(struct rk_counter_table *t, struct rk_piece rest, struct rk_error *err)
{
	struct rk_counter_entry *e = new_entry(t);
	struct rk_piece name, text;

	if (!e)
		return no_room(err);
	if (!rk_piece_split(rest, '|', &name, &text))
		return rk_fail(err, RK_E_FORMAT, "a constant needs a text");
	*e = (struct rk_counter_entry){ .targets = UINT64_MAX };
	e->pub.name = keep(t, rk_piece_trim(name));
	e->pub.description = keep(t, rk_piece_trim(text));
	if (!e->pub.name || !e->pub.description)
		return no_room(err);
	return read_inputs(t, e, rk_piece_of(""), err);
}

/* NAME | BLOCK [+] or = INPUTS | TARGETS | TEXT; with '+' there is also NAME_sum. */
static int read_counter(struct rk_counter_table *t, struct rk_piece line, struct rk_error *err)
{
	struct rk_counter_entry *e = new_entry(t), *sum;
	struct rk_piece name, kind, targets, text, block, plus;

	if (!e)
		return no_room(err);
	if (!rk_piece_split(line, '|', &name, &kind) ||
	    !rk_piece_split(kind, '|', &kind, &targets) ||
	    !rk_piece_split(targets, '|', &targets, &text))
		return rk_fail(err, RK_E_FORMAT, "a counter must be NAME | BLOCK | TARGETS | TEXT");
	kind = rk_piece_trim(kind);
	*e = (struct rk_counter_entry){ .targets = read_targets(t, targets) };
	if (!e->targets)
		return rk_fail(err, RK_E_FORMAT, "a counter of unknown targets");
	e->pub.name = keep(t, rk_piece_trim(name));
	e->pub.description = keep(t, rk_piece_trim(text));
	if (!e->pub.name || !e->pub.description)
		return no_room(err);
	if (kind.len && kind.s[0] == '=')
		return read_inputs(t, e, (struct rk_piece){ kind.s + 1, kind.len - 1 }, err);
	if (!rk_piece_word(&kind, " ", &block))
		return rk_fail(err, RK_E_FORMAT, "a counter needs a block");
	e->pub.block = keep(t, block);
	if (!e->pub.block)
		return no_room(err);
	if (!rk_piece_word(&kind, " ", &plus))
		return 0;

	sum = new_entry(t);
	if (!sum)
		return no_room(err);
	*sum = (struct rk_counter_entry){ .targets = e->targets };
	sum->pub.name = keep2(t, rk_piece_of(e->pub.name), "_sum");
	sum->pub.description = keep2(t, rk_piece_of(e->pub.description), ", all instances");
	if (!sum->pub.name || !sum->pub.description)
		return no_room(err);
	return read_inputs(t, sum, rk_piece_of(e->pub.name), err);
}

static int by_name(const void *a, const void *b)
{
	const struct rk_counter_entry *x = a, *y = b;

	return strcmp(x->pub.name, y->pub.name);
}

/*
 * Checks that no target has a name twice, and that every input is a hardware counter where it is
 * needed.
 */
static int check_entries(const struct rk_counter_table *t, struct rk_error *err)
{
	for (size_t i = 0; i < t->nentries; i++) {
		const struct rk_counter_entry *e = &t->entries[i];

		for (size_t j = i + 1; j < t->nentries && by_name(e, e + (j - i)) == 0; j++)
			if (e->targets & t->entries[j].targets)
				return rk_fail(err, RK_E_FORMAT, "duplicate '%s'", e->pub.name);
		for (const char *const *n = e->pub.needs; n && *n; n++) {
			const struct rk_counter_entry *in =
				rk_counter_table_any(t, rk_piece_of(*n));
			const struct rk_counter_entry *end = t->entries + t->nentries;
			uint64_t have = 0;

			/* targets may define it in several entries */
			for (; in && in < end && strcmp(in->pub.name, *n) == 0; in++)
				have |= in->pub.derived ? 0 : in->targets;
			if (e->targets & ~have)
				return rk_fail(err, RK_E_FORMAT,
					       "'%s' needs '%s', which is not a hardware counter",
					       e->pub.name, *n);
		}
	}
	return 0;
}

/* Computes the sizes of the pools: each line may become two counters, each word two inputs. */
static int make_pools(struct rk_counter_table *t, const char *text, size_t len,
		      struct rk_error *err)
{
	size_t lines = 1, blanks = 0;

	for (size_t i = 0; i < len; i++) {
		lines += text[i] == '\n';
		blanks += text[i] == ' ';
	}
	if (len > 1 << 20 || lines > INT16_MAX)
		return no_room(err);
	t->entries_max = 2 * lines;
	t->text_max = 3 * len + 32 * lines;
	t->inputs_max = blanks + 4 * lines;
	t->entries = rk_calloc(t->entries_max, sizeof(*t->entries));
	t->text = rk_alloc(t->text_max);
	t->inputs = rk_calloc(t->inputs_max, sizeof(*t->inputs));
	t->accumulate = rk_calloc(t->inputs_max, 1);
	if (!t->entries || !t->text || !t->inputs || !t->accumulate)
		return rk_fail_nomem(err);
	return 0;
}

int rk_counter_table_parse(const char *text, size_t len, struct rk_counter_table **ret,
			   struct rk_error *err)
{
	struct rk_piece all = { .s = text, .len = len }, line, rest, word;
	struct rk_counter_table *t = rk_calloc(1, sizeof(*t));
	uint16_t *at;
	int rc;

	if (!t)
		return rk_fail_nomem(err);
	rc = make_pools(t, text, len, err);
	if (rc < 0)
		goto out;
	for (uint64_t number = 1; rk_piece_line(&all, &line); number++) {
		rest = line;
		if (!rk_piece_word(&rest, " ", &word))
			continue;
		if (rk_piece_is(word, "target"))
			rc = read_target(t, rest, err);
		else if (rk_piece_is(word, "group"))
			rc = read_group(t, rest, err);
		else if (rk_piece_is(word, "limit"))
			rc = read_limit(t, rest, err);
		else if (rk_piece_is(word, "constant"))
			rc = read_constant(t, rest, err);
		else
			rc = read_counter(t, line, err);
		if (rc < 0) {
			rk_error_at(err, "counters/table.txt", number, 0);
			goto out;
		}
	}
	qsort(t->entries, t->nentries, sizeof(*t->entries), by_name);
	rc = check_entries(t, err);
	if (rc < 0)
		goto out;

	/* the entries of each target */
	t->index = rk_calloc(t->ntargets * t->nentries + 1, sizeof(*t->index));
	if (!t->index) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	at = t->index;
	for (size_t i = 0; i < t->ntargets; i++) {
		t->targets[i].counters = at;
		for (size_t j = 0; j < t->nentries; j++)
			if (t->entries[j].targets >> i & 1)
				*at++ = (uint16_t)j;
		t->targets[i].ncounters = (size_t)(at - t->targets[i].counters);
	}
	*ret = t;
	t = NULL;
out:
	rk_counter_table_free(t);
	return rc;
}

void rk_counter_table_free(struct rk_counter_table *t)
{
	if (!t)
		return;
	rk_free(t->entries);
	rk_free(t->text);
	rk_free(t->inputs);
	rk_free(t->accumulate);
	rk_free(t->index);
	rk_free(t);
}

/* The generation for a new target: gfx1170 is like gfx1153, with which it shares "gfx11". */
static const char *family(const struct rk_counter_table *t, const char *arch)
{
	const char *best = arch; /* a new one, without limits */
	size_t most = strlen(arch) > 5 ? strlen(arch) - 3 : SIZE_MAX; /* all but two letters */

	for (size_t i = 0; i < t->ntargets; i++) {
		const char *name = t->targets[i].name;
		size_t same = 0;

		while (arch[same] && arch[same] == name[same])
			same++;
		if (same > most) {
			most = same;
			best = t->generations[t->targets[i].generation].name;
		}
	}
	return best;
}

void rk_counter_table_put(const struct rk_counter_table *t, const char *arch, struct rk_bytes *out)
{
	static const char *const how[] = { "", "@LOW", "@HIGH" };
	uint64_t but = 0;

	for (size_t i = 0; i < t->ntargets; i++) {
		const struct rk_counter_target *target = &t->targets[i];

		if (strcmp(target->name, arch) == 0)
			but = UINT64_C(1) << i;
		rk_bytes_printf(out, "target %s %s", target->name,
				t->generations[target->generation].name);
		for (const char *const *p = target->products; *p; p++)
			rk_bytes_printf(out, " %s", *p);
		rk_bytes_put_u8(out, '\n');
	}
	if (!but)
		rk_bytes_printf(out, "target %s %s\n", arch, family(t, arch));
	for (size_t i = 0; i < t->ngenerations; i++) {
		const struct generation *g = &t->generations[i];

		rk_bytes_printf(out, "limit %s", g->name);
		for (size_t k = 0; k < g->nblocks; k++)
			rk_bytes_printf(out, " %s=%u", g->blocks[k], g->limits[k]);
		rk_bytes_put_u8(out, '\n');
	}
	for (size_t i = 0; i < t->nentries; i++) {
		const struct rk_counter_entry *e = &t->entries[i];

		if (e->targets == UINT64_MAX) {
			rk_bytes_printf(out, "constant %s | %s\n", e->pub.name, e->pub.description);
			continue;
		}
		if (!(e->targets & ~but))
			continue;
		rk_bytes_printf(out, "%s | %s", e->pub.name, e->pub.derived ? "=" : e->pub.block);
		for (size_t k = 0; e->pub.needs && e->pub.needs[k]; k++)
			rk_bytes_printf(out, " %s%s", e->pub.needs[k], how[e->accumulate[k]]);
		rk_bytes_puts(out, " |");
		for (size_t k = 0; k < t->ntargets; k++)
			if ((e->targets & ~but) >> k & 1)
				rk_bytes_printf(out, " %s", t->targets[k].name);
		rk_bytes_printf(out, " | %s\n", e->pub.description);
	}
}

const struct rk_counter_table *rk_counter_table_get(struct rk_error *err)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct rk_counter_table *shipped; /* kept until the process ends */
	const struct rk_data_file *f = rk_data_find("counters/table.txt");
	const struct rk_counter_table *t;

	pthread_mutex_lock(&lock);
	if (!shipped && !f)
		(void)rk_fail(err, RK_E_FORMAT, "this build has no table of counters");
	else if (!shipped) /* tries again next time if out of memory */
		(void)rk_counter_table_parse(f->text, f->len, &shipped, err);
	t = shipped;
	pthread_mutex_unlock(&lock);
	return t;
}

const struct rk_counter_target *rk_counter_table_target(const struct rk_counter_table *t, size_t i)
{
	return i < t->ntargets ? &t->targets[i] : NULL;
}

const struct rk_counter_target *rk_counter_table_target_find(const struct rk_counter_table *t,
							     const char *name)
{
	struct rk_piece base, features;

	rk_piece_split(rk_piece_trim(rk_piece_of(name)), ':', &base, &features);
	for (size_t i = 0; i < t->ntargets; i++) {
		const struct rk_counter_target *target = &t->targets[i];

		if (rk_text_ieq(base.s, base.len, target->name) ||
		    rk_text_ieq(base.s, base.len, target->name + strlen("gfx")))
			return target;
		for (const char *const *p = target->products; *p; p++)
			if (rk_text_ieq(base.s, base.len, *p))
				return target;
	}
	return NULL;
}

unsigned rk_counter_table_limit(const struct rk_counter_table *t,
				const struct rk_counter_target *target, const char *block)
{
	const struct generation *g = &t->generations[target->generation];

	for (size_t i = 0; i < g->nblocks; i++)
		if (strcmp(g->blocks[i], block) == 0)
			return g->limits[i];
	return RK_BLOCK_LIMIT_UNKNOWN;
}

const struct rk_counter_entry *rk_counter_table_at(const struct rk_counter_table *t, size_t i)
{
	return i < t->nentries ? &t->entries[i] : NULL;
}

/* Like strcmp(e's name, name). */
static int compare(const struct rk_counter_entry *e, struct rk_piece name)
{
	int order = strncmp(e->pub.name, name.s, name.len);

	return order ? order : e->pub.name[name.len] != '\0';
}

const struct rk_counter_entry *rk_counter_table_any(const struct rk_counter_table *t,
						    struct rk_piece name)
{
	size_t low = 0, high = t->nentries;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(&t->entries[middle], name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == t->nentries || compare(&t->entries[low], name) != 0)
		return NULL;
	return &t->entries[low];
}

const struct rk_counter_entry *rk_counter_table_find(const struct rk_counter_table *t,
						     const struct rk_counter_target *target,
						     struct rk_piece name)
{
	const struct rk_counter_entry *e = rk_counter_table_any(t, name);
	const struct rk_counter_entry *end = t->entries + t->nentries;
	size_t bit = (size_t)(target - t->targets);

	for (; e && e < end && compare(e, name) == 0; e++)
		if (e->targets >> bit & 1)
			return e;
	return NULL;
}

const char *rk_counters_arch(size_t i)
{
	const struct rk_counter_table *t = rk_counter_table_get(NULL);
	const struct rk_counter_target *target = t ? rk_counter_table_target(t, i) : NULL;

	return target ? target->name : NULL;
}

/* The shipped table, and a target in it by any common spelling, or NULL. */
static const struct rk_counter_target *shipped_target(const char *arch,
						      const struct rk_counter_table **ret)
{
	*ret = rk_counter_table_get(NULL);
	return *ret && arch ? rk_counter_table_target_find(*ret, arch) : NULL;
}

const char *rk_counters_arch_find(const char *name)
{
	const struct rk_counter_table *t;
	const struct rk_counter_target *target = shipped_target(name, &t);

	return target ? target->name : NULL;
}

const struct rk_counter *rk_counters_at(const char *arch, size_t i)
{
	const struct rk_counter_table *t;
	const struct rk_counter_target *target = shipped_target(arch, &t);

	if (!target || i >= target->ncounters)
		return NULL;
	return &t->entries[target->counters[i]].pub;
}

const struct rk_counter *rk_counters_find(const char *arch, const char *name)
{
	const struct rk_counter_table *t;
	const struct rk_counter_target *target = shipped_target(arch, &t);
	const struct rk_counter_entry *e = NULL;

	if (target && name)
		e = rk_counter_table_find(t, target, rk_piece_of(name));
	return e ? &e->pub : NULL;
}
