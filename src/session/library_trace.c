/*
 * library_trace.c - see library_trace.h: variables that switch logging on, lines of the logs, and
 * calls counted into library_trace.csv.
 */
#include "session/library_trace.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/num.h"
#include "base/text.h"
#include "base/words.h"
#include "codec/instream.h"
#include "io/dirs.h"
#include "io/output.h"

/* ---- names and variables ---- */

enum { COUNTS_BYTES_MAX = 64 << 20, CONFIG_BYTES_MAX = 4 << 20, TEXT_BYTES = 1 << 16 };

static const char *const names[] = { "rocblas", "hipblaslt", "miopen", "rccl", NULL };

/* Has no log, but people ask for it. */
static const struct rk_word_hint hints[] = {
	{ "tensile",
	  "it does not log its calls: trace rocblas or hipblaslt, and its kernels with '-t "
	  "kernel'" },
	{ NULL, NULL },
};

static const struct rk_words libraries_known = {
	.what = "library", .names = names, .n = RK_NLIBRARIES, .hints = hints
};

const char *rk_library_name(unsigned i)
{
	return rk_words_at(&libraries_known, i);
}

int rk_library_parse(const char *words, unsigned *ret, struct rk_error *err)
{
	return rk_words_parse(&libraries_known, words, ret, err);
}

/* A variable of one library. */
static const struct setting {
	unsigned library;
	const char *name, *value;
	bool file; /* the value is a file below the folder of the logs */
} settings[] = {
	/* 2: a line for each call, at once; 4: counts, at exit. The better one is used. */
	{ RK_LIBRARY_ROCBLAS, "ROCBLAS_LAYER", "6", false },
	{ RK_LIBRARY_ROCBLAS, "ROCBLAS_LOG_BENCH_PATH", "rocblas-bench.log", true },
	{ RK_LIBRARY_ROCBLAS, "ROCBLAS_LOG_PROFILE_PATH", "rocblas-profile.log", true },
	{ RK_LIBRARY_HIPBLASLT, "HIPBLASLT_LOG_MASK", "32", false },
	{ RK_LIBRARY_HIPBLASLT, "HIPBLASLT_LOG_FILE", "hipblaslt-%i.log", true },
	{ RK_LIBRARY_MIOPEN, "MIOPEN_ENABLE_LOGGING_CMD", "1", false },
	{ RK_LIBRARY_RCCL, "NCCL_DEBUG", "INFO", false },
	{ RK_LIBRARY_RCCL, "NCCL_DEBUG_SUBSYS", "INIT,COLL", false },
	{ RK_LIBRARY_RCCL, "NCCL_DEBUG_FILE", "rccl-%h-%p.log", true },
};

enum { NSETTINGS = sizeof(settings) / sizeof(settings[0]) };

/* Surprising facts about a library's log. */
static const struct {
	unsigned library;
	const char *text;
} remarks[] = {
	{ RK_LIBRARY_ROCBLAS, "rocBLAS uses one log for all processes, and each new process "
			      "empties it: with several processes, calls may be missing" },
	{ RK_LIBRARY_MIOPEN,
	  "MIOpen logs only to stderr, so stderr is captured and its log lines are extracted" },
};

int rk_library_env(unsigned libraries, const char *dir, char *const *inherited, struct rk_list *env,
		   struct rk_list *notes, struct rk_error *err)
{
	for (unsigned i = 0; i < NSETTINGS; i++) {
		const struct setting *s = &settings[i];
		const char *had;

		if (!(libraries >> s->library & 1))
			continue;
		had = rk_list_value(env, s->name);
		if (!had)
			had = rk_env_value(inherited, s->name);
		/* Variables set by the user are reported, not changed. */
		if (had && (s->file || strcmp(had, s->value) != 0))
			rk_list_addf(notes,
				     "%s is already set and keeps its value: calls of %s may be "
				     "missing",
				     s->name, names[s->library]);
		else if (!s->file)
			rk_list_set(env, s->name, s->value);
		else if (strchr(s->value, '%') && strchr(dir, '%'))
			rk_list_addf(notes,
				     "no log of %s: it does not accept '%%' in the name of the "
				     "directory",
				     names[s->library]);
		else
			rk_list_addf(env, "%s=%s/%s", s->name, dir, s->value);
	}
	for (unsigned i = 0; i < sizeof(remarks) / sizeof(remarks[0]); i++)
		if (libraries >> remarks[i].library & 1)
			rk_list_add(notes, remarks[i].text);
	if (libraries >> RK_LIBRARY_HIPBLASLT & 1 && rk_env_value(inherited, "HIPBLASLT_LOG_LEVEL"))
		rk_list_add(notes, "HIPBLASLT_LOG_LEVEL is set, so hipBLASLt ignores "
				   "HIPBLASLT_LOG_MASK: its calls will be missing");
	return env->bad || notes->bad ? rk_fail_nomem(err) : 0;
}

const char *rk_library_stderr_copy(unsigned libraries)
{
	return libraries >> RK_LIBRARY_MIOPEN & 1 ? "miopen-stderr.log" : NULL;
}

/*
 * ---- one line of a log ----
 *
 *	rocBLAS    ./rocblas-bench -f gemm_ex --transposeA N -m 64 ...
 *	           - { rocblas_function: "rocblas_gemm_ex", a_type: "f16_r", M: 64, ..., call_count: 3 }
 *	hipBLASLt  hipblaslt-bench --api_method c -m 64 ...
 *	MIOpen     MIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOpenDriver conv -n 1 ...
 *	RCCL       host:1:2 [0] NCCL INFO AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x2 count 8
 *	           datatype 7 op 0 root 0 comm 0x3 [nranks=8] stream 0x4
 *
 * Addresses and counters that differ from call to call are left out of the configuration, so that
 * equal calls are equal.
 */

/* A part of a line. */
struct span {
	const char *p, *end;
};

static bool is_blank(char c)
{
	return (unsigned char)c <= ' ' || c == 0x7f;
}

/* The next word, or false at the end. */
static bool next_word(struct span *s, struct span *word)
{
	while (s->p < s->end && is_blank(*s->p))
		s->p++;
	word->p = s->p;
	while (s->p < s->end && !is_blank(*s->p))
		s->p++;
	word->end = s->p;
	return word->p < word->end;
}

static bool is(struct span w, const char *text)
{
	size_t len = strlen(text);

	return (size_t)(w.end - w.p) == len && memcmp(w.p, text, len) == 0;
}

/* Where `text` begins in the span, at the beginning of a word or after a '/'; NULL: nowhere. */
static const char *find_program(struct span s, const char *text)
{
	const char *from = s.p, *at;
	size_t len = strlen(text);

	while ((at = memmem(from, (size_t)(s.end - from), text, len)) != NULL) {
		bool begins = at == s.p || is_blank(at[-1]) || at[-1] == '/';

		if (begins && at + len < s.end && is_blank(at[len]))
			return at;
		from = at + len;
	}
	return NULL;
}

static void set_function(struct rk_library_call *ret, const char *before, struct span w)
{
	size_t len = (size_t)(w.end - w.p), had = strlen(before);

	snprintf(ret->function, sizeof(ret->function), "%s", before);
	if (len > RK_LIBRARY_FUNCTION_MAX - had)
		len = RK_LIBRARY_FUNCTION_MAX - had;
	len = rk_utf8_valid(w.p, len);
	memcpy(ret->function + had, w.p, len);
	ret->function[had + len] = '\0';
}

static void put(struct rk_bytes *config, struct span w)
{
	if (config->len)
		rk_bytes_put_u8(config, ' ');
	rk_utf8_repair(config, w.p, (size_t)(w.end - w.p));
}

/* "key=value"; of a value with blanks in it, all words. */
static void put_pair(struct rk_bytes *config, struct span key, struct span value)
{
	struct span w;

	if (!next_word(&key, &w))
		return;
	put(config, w);
	rk_bytes_put_u8(config, '=');
	if (next_word(&value, &w))
		rk_utf8_repair(config, w.p, (size_t)(w.end - w.p));
	while (next_word(&value, &w))
		put(config, w);
}

/* A command line of a benchmark: its -f or --function names the function, the rest is config. */
static bool bench_line(struct span s, const char *program, const char *unnamed,
		       struct rk_library_call *ret, struct rk_bytes *config)
{
	const char *at = find_program(s, program);
	struct span w;

	if (!at)
		return false;
	s.p = at + strlen(program);
	set_function(ret, "", (struct span){ unnamed, unnamed + strlen(unnamed) });
	while (next_word(&s, &w)) {
		if ((is(w, "-f") || is(w, "--function")) && next_word(&s, &w))
			set_function(ret, "", w);
		else
			put(config, w);
	}
	return true;
}

static bool rocblas_bench(struct span s, struct rk_library_call *ret, struct rk_bytes *config)
{
	ret->library = RK_LIBRARY_ROCBLAS;
	return bench_line(s, "rocblas-bench", "", ret, config);
}

static bool hipblaslt_bench(struct span s, struct rk_library_call *ret, struct rk_bytes *config)
{
	ret->library = RK_LIBRARY_HIPBLASLT;
	return bench_line(s, "hipblaslt-bench", "matmul", ret, config);
}

/* Searches for the best kernel are not calls of the program, but worth knowing. */
static bool miopen_driver(struct span s, struct rk_library_call *ret, struct rk_bytes *config)
{
	static const char command[] = "Command [", find[] = "Find";
	const char *at = find_program(s, "MIOpenDriver"), *word, *bracket;
	struct span w;
	bool finds;

	if (!at)
		return false;
	word = memmem(s.p, (size_t)(at - s.p), command, sizeof(command) - 1);
	if (!word)
		return false;
	bracket = memchr(word, ']', (size_t)(at - word));
	if (!bracket)
		return false;
	finds = memmem(word, (size_t)(bracket - word), find, sizeof(find) - 1) != NULL;
	s.p = at + strlen("MIOpenDriver");
	if (!next_word(&s, &w))
		return false;
	ret->library = RK_LIBRARY_MIOPEN;
	set_function(ret, finds ? "find:" : "", w);
	while (next_word(&s, &w))
		put(config, w);
	return true;
}

static bool rccl_collective(struct span s, struct rk_library_call *ret, struct rk_bytes *config)
{
	static const char mark[] = ": opCount ", ranks[] = "[nranks=";
	const char *at = memmem(s.p, (size_t)(s.end - s.p), mark, sizeof(mark) - 1);
	struct span w, value;

	if (!at)
		return false;
	w.p = w.end = at;
	while (w.p > s.p && !is_blank(w.p[-1]))
		w.p--;
	if (w.p == w.end)
		return false;
	ret->library = RK_LIBRARY_RCCL;
	set_function(ret, "", w);
	s.p = at + sizeof(mark) - 1;
	while (next_word(&s, &w)) {
		size_t len = (size_t)(w.end - w.p);

		/* The arguments of a collective that distinguish calls. */
		bool key = is(w, "count") || is(w, "datatype") || is(w, "op") || is(w, "peer");

		if (key && next_word(&s, &value)) {
			put_pair(config, w, value);
		} else if (len > sizeof(ranks) - 1 && !memcmp(w.p, ranks, sizeof(ranks) - 1)) {
			w.p++; /* "[nranks=8]", or "[nranks=8," with more after it */
			while (w.p < w.end && (w.end[-1] == ']' || w.end[-1] == ','))
				w.end--;
			put(config, w);
		}
	}
	return true;
}

/* A value of the profile without the blanks and quotes around it. */
static struct span bare(struct span v)
{
	while (v.p < v.end && (is_blank(*v.p) || *v.p == '"' || *v.p == '\''))
		v.p++;
	while (v.end > v.p && (is_blank(v.end[-1]) || v.end[-1] == '"' || v.end[-1] == '\''))
		v.end--;
	return v;
}

/* "key: value" up to the next comma; false at the end. */
static bool next_pair(struct span *s, struct span *key, struct span *value)
{
	const char *comma, *colon;

	if (s->p >= s->end)
		return false;
	comma = memchr(s->p, ',', (size_t)(s->end - s->p));
	if (!comma)
		comma = s->end;
	colon = memchr(s->p, ':', (size_t)(comma - s->p));
	if (!colon)
		colon = comma;
	*key = bare((struct span){ s->p, colon });
	*value = bare((struct span){ colon + (colon < comma), comma });
	s->p = comma + (comma < s->end);
	return true;
}

static bool rocblas_profile(struct span s, struct rk_library_call *ret, struct rk_bytes *config)
{
	static const char mark[] = "rocblas_function:", prefix[] = "rocblas_";
	const char *at = memmem(s.p, (size_t)(s.end - s.p), mark, sizeof(mark) - 1), *brace;
	struct span key, value;
	bool counted = false;

	if (!at)
		return false;
	brace = memrchr(at, '}', (size_t)(s.end - at));
	if (!brace)
		return false;
	s = (struct span){ at, brace };
	ret->library = RK_LIBRARY_ROCBLAS;
	ret->summary = true;
	while (next_pair(&s, &key, &value)) {
		size_t len = (size_t)(value.end - value.p);

		if (is(key, "rocblas_function")) {
			if (len > sizeof(prefix) - 1 &&
			    !memcmp(value.p, prefix, sizeof(prefix) - 1))
				value.p += sizeof(prefix) - 1;
			set_function(ret, "", value);
		} else if (is(key, "call_count")) {
			counted = rk_num_u64(value.p, len, &ret->calls) == RK_NUM_OK;
		} else {
			put_pair(config, key, value);
		}
	}
	return counted && ret->calls;
}

bool rk_library_line(const char *line, size_t len, struct rk_library_call *ret,
		     struct rk_bytes *config)
{
	static bool (*const forms[])(struct span, struct rk_library_call *, struct rk_bytes *) = {
		rocblas_profile, rocblas_bench, hipblaslt_bench, miopen_driver, rccl_collective,
	};
	const struct span s = { line, line + len };

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		*ret = (struct rk_library_call){ .calls = 1 };
		rk_bytes_clear(config);
		if (!forms[i](s, ret, config) || !ret->function[0])
			continue;
		if (!config->bad && config->len > RK_LIBRARY_CONFIG_MAX) {
			config->len = rk_utf8_valid((const char *)config->data,
						    RK_LIBRARY_CONFIG_MAX - 3);
			rk_bytes_puts(config, "...");
		}
		return true;
	}
	return false;
}

/* ---- counting, in bounded memory ---- */

void rk_library_counts_release(struct rk_library_counts *c)
{
	for (size_t i = 0; i < c->nrows; i++)
		rk_free(c->rows[i].text);
	rk_free(c->rows);
	rk_index_release(&c->index);
	*c = (struct rk_library_counts){ 0 };
}

/* Function, configuration, library and kind: calls with the same key are equal. */
static void put_key(struct rk_bytes *key, const struct rk_library_call *call, const char *config,
		    size_t len)
{
	rk_bytes_put(key, call->function, strlen(call->function) + 1);
	rk_bytes_put(key, config, len);
	rk_bytes_put_u8(key, 0);
	rk_bytes_put_u8(key, (uint8_t)(call->library << 1 | call->summary));
}

/* Adds to the row of the key, or a new row if `may_add`. *found: it was there. */
static int count_key(struct rk_library_counts *c, const struct rk_library_call *call,
		     const struct rk_bytes *key, bool may_add, bool *found, struct rk_error *err)
{
	uint64_t hash = rk_hash_bytes(key->data, key->len);
	struct rk_library_row *rows;
	char *copy;
	size_t at;

	for (uint32_t i = rk_index_first(&c->index, hash, &at); i != RK_INDEX_NONE;
	     i = rk_index_next(&c->index, hash, &at)) {
		struct rk_library_row *r = &c->rows[i];

		if (r->hash != hash || r->len != key->len ||
		    memcmp(r->text, key->data, r->len) != 0)
			continue;
		*found = true;
		if (__builtin_add_overflow(r->calls, call->calls, &r->calls))
			r->calls = UINT64_MAX;
		return 0;
	}
	*found = false;
	if (!may_add)
		return 0;
	rows = rk_grow(c->rows, &c->cap, c->nrows + 1, sizeof(*rows));
	if (!rows)
		return rk_fail_nomem(err);
	c->rows = rows;
	copy = rk_alloc(key->len);
	if (!copy || !rk_index_add(&c->index, hash, (uint32_t)c->nrows)) {
		rk_free(copy);
		return rk_fail_nomem(err);
	}
	memcpy(copy, key->data, key->len);
	rows[c->nrows++] = (struct rk_library_row){ call->library, call->summary, call->calls,
						    hash,          copy,          key->len };
	c->bytes += key->len;
	return 0;
}

int rk_library_count(struct rk_library_counts *c, const struct rk_library_call *call,
		     const struct rk_bytes *config, struct rk_error *err)
{
	size_t max = c->max_rows ? c->max_rows : (size_t)RK_LIBRARY_CONFIGS_MAX;
	bool room = c->nrows < max && c->bytes < COUNTS_BYTES_MAX, found = false;
	static const char other[] = "(other)";
	struct rk_library_call rest = *call;
	struct rk_bytes key;
	int rc;

	rk_bytes_init(&key, 1 << 16);
	put_key(&key, call, config->len ? (const char *)config->data : "", config->len);
	if (key.bad || config->bad) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	rc = count_key(c, call, &key, room, &found, err);
	if (rc < 0 || room || found)
		goto out;
	memcpy(rest.function, other, sizeof(other));
	rk_bytes_clear(&key);
	put_key(&key, &rest, "", 0);
	rc = key.bad ? rk_fail_nomem(err) : count_key(c, &rest, &key, true, &found, err);
out:
	rk_bytes_release(&key);
	return rc;
}

static int more_calls_first(const void *a, const void *b)
{
	const struct rk_library_row *x = a, *y = b;
	int order = (x->calls < y->calls) - (x->calls > y->calls);

	if (!order)
		order = (x->library > y->library) - (x->library < y->library);
	if (!order)
		order = strcmp(x->text, y->text);
	if (!order)
		order = strcmp(x->text + strlen(x->text) + 1, y->text + strlen(y->text) + 1);
	return order;
}

/*
 * rocBLAS logs each call as it happens and counts of all calls at its end. A killed process writes
 * no counts, and a process that starts later empties both logs, so we use the log with more calls.
 */
void rk_library_counts_settle(struct rk_library_counts *c)
{
	double calls[RK_NLIBRARIES][2] = { { 0 } };
	size_t kept = 0;

	for (size_t i = 0; i < c->nrows; i++)
		calls[c->rows[i].library][c->rows[i].summary] += (double)c->rows[i].calls;
	for (size_t i = 0; i < c->nrows; i++) {
		const struct rk_library_row *r = &c->rows[i];
		bool summary = calls[r->library][1] > calls[r->library][0];

		if (r->summary == summary)
			c->rows[kept++] = *r;
		else
			rk_free(r->text);
	}
	c->nrows = kept;
	if (kept)
		qsort(c->rows, kept, sizeof(*c->rows), more_calls_first);
}

/* ---- the logs of a run as library_trace.csv ---- */

/* A run's logs while they are counted. */
struct collecting {
	unsigned libraries;
	struct rk_library_counts counts;
	struct rk_bytes config;
};

/* If a log cannot be read, only its own calls are lost. */
static int count_file(struct collecting *c, const char *path, struct rk_error *err)
{
	struct rk_instream *in = NULL;
	struct rk_lines lines = { 0 };
	struct rk_error own = { 0 };
	struct rk_library_call call;
	const char *line;
	size_t len;
	int rc = rk_instream_open(path, &in, &own);

	if (rc == 0)
		rc = rk_lines_begin(&lines, in, &own);
	while (rc >= 0 && (rc = rk_lines_next(&lines, &line, &len, &own)) > 0) {
		/* A line without its end is truncated and would count as a different call. */
		if (lines.ended && rk_library_line(line, len, &call, &c->config) &&
		    c->libraries >> call.library & 1)
			rc = rk_library_count(&c->counts, &call, &c->config, &own);
	}
	rk_lines_release(&lines);
	rk_instream_close(in);
	if (rc != RK_E_NOMEM)
		return 0;
	return rk_fail_nomem(err);
}

static int write_csv(const char *csv, const struct rk_library_counts *c, struct rk_error *err)
{
	struct rk_output *out = NULL;
	struct rk_bytes text;
	int rc = rk_output_open(csv, &out, err);

	if (rc < 0)
		return rc;
	rk_bytes_init(&text, TEXT_BYTES * 4);
	rk_bytes_puts(&text, "library,function,config,calls,total_ns\n");
	for (size_t i = 0; rc == 0 && i <= c->nrows; i++) {
		if (i < c->nrows) {
			const struct rk_library_row *r = &c->rows[i];

			rk_csv_text(&text, names[r->library], ',');
			rk_csv_text(&text, r->text, ',');
			rk_csv_text(&text, r->text + strlen(r->text) + 1, ',');
			rk_bytes_printf(&text, "%" PRIu64 ",\n", r->calls);
		}
		if (text.bad)
			rc = rk_fail_nomem(err);
		else if (text.len >= TEXT_BYTES || i == c->nrows)
			rc = rk_output_write(out, text.data, text.len, err);
		if (text.len >= TEXT_BYTES)
			rk_bytes_clear(&text);
	}
	rk_bytes_release(&text);
	if (rc == 0)
		return rk_output_commit(out, err);
	rk_output_abort(out);
	return rc;
}

int rk_library_collect(unsigned libraries, const char *dir, const char *csv, uint64_t *ret_rows,
		       struct rk_error *err)
{
	struct collecting c = { .libraries = libraries };
	struct rk_walk walk = { 0 };
	int rc = 0;

	rk_bytes_init(&c.config, CONFIG_BYTES_MAX);
	if (rk_is_dir(dir) && (rc = rk_walk_dir(dir, &walk, err)) < 0)
		goto out;
	for (size_t i = 0; i < walk.n; i++) {
		if (!rk_text_ends(walk.paths[i], strlen(walk.paths[i]), ".log"))
			continue;
		rc = count_file(&c, walk.paths[i], err);
		if (rc < 0)
			goto out;
	}
	rk_library_counts_settle(&c.counts);
	if (c.counts.nrows && (rc = write_csv(csv, &c.counts, err)) < 0)
		goto out;
	*ret_rows = c.counts.nrows;
out:
	rk_library_counts_release(&c.counts);
	rk_bytes_release(&c.config);
	rk_walk_release(&walk);
	return rc;
}
