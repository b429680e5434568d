/*
 * library_line.c - one line of a library's log.
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
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "session/library_impl.h"

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

/* Where `text` begins in the span, at the beginning of a word or behind a '/'; NULL: nowhere. */
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

/* Searches for the best kernel are no calls of the program, but worth knowing. */
static bool miopen_driver(struct span s, struct rk_library_call *ret, struct rk_bytes *config)
{
	static const char command[] = "Command [", find[] = "Find";
	const char *at = find_program(s, "MIOpenDriver"), *word, *bracket;
	struct span w;
	bool finds;

	word = at ? memmem(s.p, (size_t)(at - s.p), command, sizeof(command) - 1) : NULL;
	bracket = word ? memchr(word, ']', (size_t)(at - word)) : NULL;
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

/* What of a collective's arguments tells calls apart. */
static bool tells_apart(struct span key)
{
	static const char *const keys[] = { "count", "datatype", "op", "peer", NULL };
	const char *const *k = keys;

	while (*k && !is(key, *k))
		k++;
	return *k != NULL;
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

		if (tells_apart(w) && next_word(&s, &value)) {
			put_pair(config, w, value);
		} else if (len > sizeof(ranks) - 1 && !memcmp(w.p, ranks, sizeof(ranks) - 1)) {
			w.p++; /* "[nranks=8]", or "[nranks=8," with more behind it */
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
	comma = comma ? comma : s->end;
	colon = memchr(s->p, ':', (size_t)(comma - s->p));
	colon = colon ? colon : comma;
	*key = bare((struct span){ s->p, colon });
	*value = bare((struct span){ colon < comma ? colon + 1 : comma, comma });
	s->p = comma < s->end ? comma + 1 : comma;
	return true;
}

static bool rocblas_profile(struct span s, struct rk_library_call *ret, struct rk_bytes *config)
{
	static const char mark[] = "rocblas_function:", prefix[] = "rocblas_";
	const char *at = memmem(s.p, (size_t)(s.end - s.p), mark, sizeof(mark) - 1);
	const char *brace = at ? memrchr(at, '}', (size_t)(s.end - at)) : NULL;
	struct span key, value;
	bool counted = false;

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

/* As much as fits, ended by "..." when that is not all. */
static void cut(struct rk_bytes *config)
{
	if (config->bad || config->len <= RK_LIBRARY_CONFIG_MAX)
		return;
	config->len = rk_utf8_valid((const char *)config->data, RK_LIBRARY_CONFIG_MAX - 3);
	rk_bytes_puts(config, "...");
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
		if (forms[i](s, ret, config) && ret->function[0]) {
			cut(config);
			return true;
		}
	}
	return false;
}
