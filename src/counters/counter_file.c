/* counter_file.c - see counter_file.h. */
#include "counters/counter_file.h"

#include <string.h>

#include "base/bytes.h"
#include "base/text.h"
#include "codec/json/tree.h"
#include "counters/counter_text.h"
#include "io/file.h"

static const char separators[] = " \t\r,";

/* What may stand in "NAME", "NAME[3]", "NAME:device=0" and "@category". */
static bool name_letter(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
	       (c && strchr("_[]:=@", c));
}

static int add_name(struct rk_list *names, struct rk_piece word, struct rk_error *err)
{
	char text[RK_COUNTER_NAME_BYTES_MAX + 1];
	size_t ok = 0;

	while (ok < word.len && name_letter(word.s[ok]))
		ok++;
	if (ok < word.len || word.len > RK_COUNTER_NAME_BYTES_MAX)
		return rk_fail(err, RK_E_FORMAT, "this is no name of a counter");
	memcpy(text, word.s, word.len);
	text[word.len] = '\0';
	if (names->n == RK_COUNTER_NAMES_MAX)
		return rk_fail(err, RK_E_LIMIT, "more than %d counters", RK_COUNTER_NAMES_MAX);
	rk_list_add(names, text);
	return names->bad ? rk_fail_nomem(err) : 0;
}

static int add_words(struct rk_list *names, struct rk_piece words, struct rk_error *err)
{
	struct rk_piece word;
	int rc = 0;

	while (rc == 0 && rk_piece_word(&words, separators, &word))
		rc = add_name(names, word, err);
	return rc;
}

static int read_line(struct rk_list *names, struct rk_piece line, struct rk_error *err)
{
	static const char *const others[] = { "range", "gpu", "kernel", "hip", "hsa" };
	struct rk_piece key, rest;

	if (!line.len)
		return 0;
	if (rk_piece_split(line, ':', &key, &rest)) {
		key = rk_piece_trim(key);
		if (rk_piece_is(key, "pmc"))
			return add_words(names, rest, err);
		for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
			if (rk_piece_is(key, others[i]))
				return 0;
	}
	return rk_fail(err, RK_E_FORMAT, "not a 'pmc: NAMES' line");
}

static int read_text(const char *text, size_t len, const char *name, struct rk_list *names,
		     struct rk_error *err)
{
	struct rk_piece rest = { .s = text, .len = len }, line;
	uint64_t number = 0;

	while (rk_piece_line(&rest, &line)) {
		int rc = read_line(names, line, err);

		number++;
		if (rc < 0) {
			rk_error_at(err, name, number, 0);
			return rc;
		}
	}
	return 0;
}

/* A list of names, a list of such lists, or names in one string. */
static int read_pmc(const struct rk_tree *t, const char *name, struct rk_list *names,
		    struct rk_error *err)
{
	int rc = 0;

	if (t->kind == RK_TREE_ARRAY) {
		RK_TREE_EACH(c, t)
		{
			rc = read_pmc(c, name, names, err);
			if (rc < 0)
				return rc;
		}
		return 0;
	}
	if (t->kind == RK_TREE_TEXT)
		rc = add_words(names, rk_piece_of(t->text), err);
	else if (t->kind != RK_TREE_NULL)
		rc = rk_fail(err, RK_E_FORMAT, "'pmc' is a list of names");
	if (rc < 0)
		rk_error_at(err, name, t->line, 0);
	return rc;
}

static int read_job(const struct rk_tree *job, const char *name, struct rk_list *names,
		    struct rk_error *err)
{
	static const char *const keys[] = { "pmc", "pmc_groups", "pmc-groups" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const struct rk_tree *pmc = rk_tree_get(job, keys[i]);
		int rc = pmc ? read_pmc(pmc, name, names, err) : 0;

		if (rc < 0)
			return rc;
	}
	return 0;
}

static int read_jobs(const struct rk_tree *root, const char *name, struct rk_list *names,
		     struct rk_error *err)
{
	const struct rk_tree *jobs = rk_tree_get(root, "jobs");
	int rc = read_job(root, name, names, err);

	RK_TREE_EACH(job, jobs)
	{
		if (rc == 0)
			rc = read_job(job, name, names, err);
	}
	return rc;
}

static int read_tree(const char *text, size_t len, bool yaml, const char *name,
		     struct rk_list *names, struct rk_error *err)
{
	struct rk_tree *root = NULL;
	int rc = yaml ? rk_tree_parse_yaml(text, len, name, &root, err) :
			rk_tree_parse_json(text, len, name, &root, err);

	if (rc == 0)
		rc = read_jobs(root, name, names, err);
	rk_tree_free(root);
	return rc;
}

/* The first byte that says something, or NUL. */
static char first_letter(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!strchr(" \t\r\n", text[i]))
			return text[i];
	return '\0';
}

static int read_any(const char *text, size_t len, const char *name, struct rk_list *names,
		    struct rk_error *err)
{
	size_t nlen = strlen(name);

	if (rk_text_ends(name, nlen, ".yaml") || rk_text_ends(name, nlen, ".yml"))
		return read_tree(text, len, true, name, names, err);
	if (rk_text_ends(name, nlen, ".json") || first_letter(text, len) == '{')
		return read_tree(text, len, false, name, names, err);
	if (first_letter(text, len) == '<')
		return rk_fail(err, RK_E_UNSUPPORTED,
			       "XML of rocprof is not read; write its counters as 'pmc: NAMES'");
	return read_text(text, len, name, names, err);
}

int rk_counter_file_parse(const char *text, size_t len, const char *name, struct rk_list *names,
			  struct rk_error *err)
{
	size_t before = names->n;
	int rc;

	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		text += 3;
		len -= 3;
	}
	rc = read_any(text, len, name, names, err);
	if (rc == 0 && names->n == before)
		rc = rk_fail(err, RK_E_FORMAT, "no counters in it; a line is 'pmc: NAMES'");
	if (rc < 0)
		rk_error_at(err, name, 0, 0);
	return rc;
}

static int read_bytes(struct rk_file *f, struct rk_bytes *b, struct rk_error *err)
{
	size_t got = 1;

	while (got && b->len <= RK_COUNTER_FILE_BYTES_MAX) {
		int rc;

		if (!rk_bytes_reserve(b, 1 << 16))
			return rk_fail_nomem(err);
		rc = rk_file_read(f, b->data + b->len, 1 << 16, &got, err);
		if (rc < 0)
			return rc;
		b->len += got;
	}
	if (b->len > RK_COUNTER_FILE_BYTES_MAX)
		return rk_fail(err, RK_E_LIMIT, "larger than 1 MiB: not a list of counters");
	return 0;
}

int rk_counter_file_read(const char *path, struct rk_list *names, struct rk_error *err)
{
	struct rk_file *f = NULL;
	struct rk_bytes b;
	int rc = rk_file_open(path, &f, err);

	if (rc < 0)
		return rc;
	rk_bytes_init(&b, RK_COUNTER_FILE_BYTES_MAX + (2 << 16));
	rc = read_bytes(f, &b, err);
	if (rc < 0)
		rk_error_at(err, path, 0, 0);
	else
		rc = rk_counter_file_parse((const char *)b.data, b.len, path, names, err);
	rk_bytes_release(&b);
	rk_file_close(f);
	return rc;
}
