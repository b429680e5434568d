/*
 * counter_live.c - see counter_live.h.
 *
 * For each GPU rocprofv3-avail prints "GPU:0" and "Name:gfx942", then its counters, each a group of
 * lines "Key                 :\tvalue": Counter_Name, Description, then Block (a hardware counter),
 * Expression (a derived one) or neither (a constant), Dimensions, and SPM since ROCm 7.14. Other
 * lines are ignored. The list is written as lines of data/counters/table.txt and read like it.
 */
#include "counters/counter_live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/text.h"
#include "counters/counter_ask.h"
#include "io/child.h"

enum {
	TIMEOUT_MS = 30000,
	TABLE_BYTES_MAX = 1 << 20,
	DEPTH_MAX = 16,
	INPUTS_MAX = 64,
	WORDS_MAX = 4096
};

/* One counter as reported; pieces of the text. */
struct live {
	struct rk_piece name, block, expression, text;
	const struct live *seen; /* the counter whose inputs it was last expanded for */
};

struct lives {
	struct live *v; /* sorted by name after reading */
	size_t n, cap;
};

static bool is_word(struct rk_piece p)
{
	if (!p.len || p.len > RK_COUNTER_NAME_BYTES_MAX)
		return false;
	for (size_t i = 0; i < p.len; i++)
		if (p.s[i] != '_' && !rk_is_letter(p.s[i]) && !rk_is_digit(p.s[i]))
			return false;
	return true;
}

static int by_name(const void *a, const void *b)
{
	const struct rk_piece *x = &((const struct live *)a)->name;
	const struct rk_piece *y = &((const struct live *)b)->name;
	int order = memcmp(x->s, y->s, x->len < y->len ? x->len : y->len);

	return order ? order : (x->len > y->len) - (x->len < y->len);
}

static struct live *find(const struct lives *l, struct rk_piece name)
{
	const struct live key = { .name = name };

	return l->n ? bsearch(&key, l->v, l->n, sizeof(key), by_name) : NULL;
}

/* Reads the counters of the first GPU that is called `arch`; *ret_found: there is one. */
static int read_lives(const char *text, size_t len, const char *arch, struct lives *l,
		      bool *ret_found, struct rk_error *err)
{
	struct rk_piece all = { .s = text, .len = len }, line, key, value;
	struct live *one = NULL;
	bool ours = false;

	*ret_found = false;
	while (all.len) {
		rk_piece_split(all, '\n', &line, &all);
		if (!rk_piece_split(line, ':', &key, &value))
			continue;
		key = rk_piece_trim(key);
		value = rk_piece_trim(value);
		if (rk_piece_is(key, "GPU")) {
			if (*ret_found)
				break;
		} else if (rk_piece_is(key, "Name")) {
			struct rk_piece base, features;

			rk_piece_split(value, ':', &base, &features);
			ours = *ret_found = rk_text_ieq(base.s, base.len, arch);
		} else if (ours && rk_piece_is(key, "Counter_Name")) {
			struct live *v = rk_grow(l->v, &l->cap, l->n + 1, sizeof(*v));

			if (!v)
				return rk_fail_nomem(err);
			l->v = v;
			one = NULL;
			if (!is_word(value) || l->n == RK_COUNTER_LIVE_MAX)
				continue;
			one = &v[l->n++];
			*one = (struct live){ value, rk_piece_of(""), rk_piece_of(""),
					      rk_piece_of(""), NULL };
		} else if (one && rk_piece_is(key, "Block")) {
			one->block = value;
		} else if (one && rk_piece_is(key, "Expression")) {
			one->expression = value;
		} else if (one && rk_piece_is(key, "Description")) {
			one->text = value;
		}
	}
	if (l->n)
		qsort(l->v, l->n, sizeof(*l->v), by_name);
	return 0;
}

/* The inputs of a derived counter while they are collected. */
struct inputs {
	struct {
		struct rk_piece name;
		const char *how; /* "", "@LOW", "@HIGH" */
	} v[INPUTS_MAX];
	size_t n,
		words; /* words: those that were looked at, because expressions may name themselves */
};

static void add_input(struct inputs *in, struct rk_piece name, const char *how)
{
	for (size_t i = 0; i < in->n; i++)
		if (in->v[i].name.len == name.len && !memcmp(in->v[i].name.s, name.s, name.len) &&
		    !strcmp(in->v[i].how, how))
			return;
	if (in->n == INPUTS_MAX)
		return;
	in->v[in->n].name = name;
	in->v[in->n++].how = how;
}

/*
 * The hardware counters that an expression of `root` names, through other derived counters, each of
 * which is expanded once.
 */
static void read_inputs(const struct lives *l, const struct live *root, struct rk_piece expression,
			unsigned depth, struct inputs *in)
{
	struct rk_piece word, last = { .s = "", .len = 0 };

	/* accumulate(X, HIGH_RES): the resolution follows its counter */
	while (depth < DEPTH_MAX && in->n < INPUTS_MAX && in->words++ < WORDS_MAX &&
	       rk_piece_word(&expression, " \t,()[]=+-*/:", &word)) {
		struct live *of = find(l, word);

		if (last.len && (rk_piece_is(word, "HIGH_RES") || rk_piece_is(word, "LOW_RES"))) {
			add_input(in, last, word.s[0] == 'H' ? "@HIGH" : "@LOW");
			continue;
		}
		if (!of)
			continue;
		if (of->block.len) {
			add_input(in, of->name, "");
			last = of->name;
		} else if (of->seen != root) {
			of->seen = root;
			read_inputs(l, root, of->expression, depth + 1, in);
		}
	}
}

/* A line of the table. Comments begin with '#' there. */
static void put_live(struct rk_bytes *out, const struct lives *l, const struct live *one,
		     const char *arch)
{
	struct inputs in = { .n = 0 };

	rk_bytes_printf(out, "%.*s | ", (int)one->name.len, one->name.s);
	if (one->block.len) {
		rk_bytes_printf(out, "%.*s", (int)one->block.len, one->block.s);
	} else {
		read_inputs(l, one, one->expression, 0, &in);
		rk_bytes_puts(out, "=");
		for (size_t i = 0; i < in.n; i++)
			rk_bytes_printf(out, " %.*s%s", (int)in.v[i].name.len, in.v[i].name.s,
					in.v[i].how);
	}
	rk_bytes_printf(out, " | %s | ", arch);
	for (size_t i = 0; i < one->text.len && i < 200; i++)
		rk_bytes_put_u8(out, one->text.s[i] == '#' ? ' ' : (uint8_t)one->text.s[i]);
	rk_bytes_put_u8(out, '\n');
}

int rk_counter_live_parse(const struct rk_counter_table *base, const char *text, size_t len,
			  const char *arch, struct rk_counter_table **ret, struct rk_error *err)
{
	struct lives l = { 0 };
	struct rk_bytes out;
	bool found;
	int rc;

	*ret = NULL;
	if (!is_word(rk_piece_of(arch)))
		return 0;
	rk_bytes_init(&out, TABLE_BYTES_MAX);
	rc = read_lives(text, len, arch, &l, &found, err);
	if (rc < 0 || !found || !l.n)
		goto out;
	rk_counter_table_put(base, arch, &out);
	for (size_t i = 0; i < l.n; i++) {
		const struct rk_counter_entry *e = rk_counter_table_any(base, l.v[i].name);

		/* equal names are reported once per GPU, and properties of agents are in the table */
		if ((i && !by_name(&l.v[i - 1], &l.v[i])) || (e && e->targets == UINT64_MAX) ||
		    (l.v[i].block.len && !is_word(l.v[i].block)))
			continue;
		put_live(&out, &l, &l.v[i], arch);
	}
	if (out.bad)
		rc = rk_fail(err, RK_E_LIMIT, "rocprofv3-avail lists too many counters");
	else
		rc = rk_counter_table_parse((const char *)out.data, out.len, ret, err);
out:
	rk_bytes_release(&out);
	rk_free(l.v);
	return rc;
}

/* Reads a file from its beginning. */
static int read_all(int fd, struct rk_bytes *ret, struct rk_error *err)
{
	char buf[8192];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, buf, sizeof(buf), at)) > 0 || (n < 0 && errno == EINTR)) {
		if (n < 0)
			continue;
		at += n;
		rk_bytes_put(ret, buf, (size_t)n);
		if (ret->bad)
			return rk_fail(err, RK_E_LIMIT, "rocprofv3-avail prints too much");
	}
	if (n < 0)
		return rk_fail(err, RK_E_IO, "cannot read what rocprofv3-avail printed: %s",
			       strerror(errno));
	return 0;
}

int rk_counter_live_ask(const char *program, const char *arch, struct rk_counter_table **ret,
			struct rk_error *err)
{
	char info[] = "info", pmc[] = "--pmc";
	char *argv[] = { (char *)program, info, pmc, NULL };
	struct rk_child_options opt = { .argv = argv, .timeout_ms = TIMEOUT_MS, .grace_ms = 2000 };
	struct rk_child_result did;
	struct rk_bytes text;
	const struct rk_counter_table *shipped = rk_counter_table_get(err);
	int fd, errors, rc;

	*ret = NULL;
	if (!shipped)
		return err && err->code ? err->code : RK_E_NOMEM;
	fd = memfd_create("rocprofv3-avail", MFD_CLOEXEC);
	errors = memfd_create("rocprofv3-avail errors", MFD_CLOEXEC);
	rk_bytes_init(&text, RK_COUNTER_LIVE_BYTES_MAX);
	if (fd < 0 || errors < 0) {
		rc = rk_fail(err, RK_E_IO, "cannot create a file in memory: %s", strerror(errno));
		goto out;
	}
	opt.out_fd = fd;
	opt.err_fd = errors;
	rc = rk_child_run(&opt, &did, err);
	if (rc < 0)
		goto out;
	if (did.end != RK_CHILD_EXITED || did.status) {
		rc = rk_fail(err, RK_E_UNSUPPORTED, "'%s info --pmc' %s", program,
			     did.end == RK_CHILD_TIMED_OUT ? "did not end" : "failed");
		goto out;
	}
	if ((rc = read_all(fd, &text, err)) == 0)
		rc = rk_counter_live_parse(shipped, (const char *)text.data, text.len, arch, ret,
					   err);
out:
	if (fd >= 0)
		close(fd);
	if (errors >= 0)
		close(errors);
	rk_bytes_release(&text);
	return rc;
}
