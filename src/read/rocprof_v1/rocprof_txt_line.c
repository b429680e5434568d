/*
 * rocprof_txt_line.c - one line of a raw text trace. The forms, N being decimal numbers:
 *
 *	N:N pid:tid function(arguments)[ = result][ kernel=name] :N    a call, and its correlation
 *	N:N device:queue name:N:pid                                    a kernel or copy on the GPU
 *	N:N async-copy:N:pid                                           a copy of the HSA runtime
 *	N pid:tid op:id:"message"                                      a mark, or one end of a range
 *	dispatch[N], key(value), ... kernel-name("name")[, time(N,N,N,N)]
 *	  COUNTER (value)                                              of the dispatch before
 *	Domain(name), key(value), ...                                  rocprofv2
 */
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "read/rocprof_v1/rocprof_txt.h"

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The number at *p, which ends with `last`; *p is moved behind that. */
static bool take(const char **p, const char *end, char last, int64_t *ret)
{
	const char *q = *p;

	while (q < end && digit(*q))
		q++;
	if (q == *p || q == end || *q != last || rk_num_i64(*p, (size_t)(q - *p), ret) != RK_NUM_OK)
		return false;
	*p = q + 1;
	return true;
}

/* The number at the end of [p, *end) with `first` before it; *end is moved there. */
static bool take_last(const char *p, const char **end, char first, int64_t *ret)
{
	const char *q = *end;

	while (q > p && digit(q[-1]))
		q--;
	if (q == *end || q == p || q[-1] != first ||
	    rk_num_i64(q, (size_t)(*end - q), ret) != RK_NUM_OK)
		return false;
	*end = q - 1;
	return true;
}

static void set(struct rk_txt_line *l, enum rk_txt_field f, int64_t v)
{
	l->num[f] = v;
	l->has |= 1u << f;
}

static bool letters_only(struct rk_csv_span s)
{
	for (size_t i = 0; i < s.len; i++)
		if ((s.p[i] | 0x20) < 'a' || (s.p[i] | 0x20) > 'z')
			return false;
	return s.len != 0;
}

/* Commands that copy or fill have plain words for names; what has more to it is a kernel. */
static bool is_copy(struct rk_csv_span name)
{
	static const char *const words[] = { "Copy", "Fill", "Memcpy", "hcMemcpy", "hipMemcpy" };

	for (unsigned i = 0; letters_only(name) && i < sizeof(words) / sizeof(words[0]); i++)
		if (rk_text_iprefix(name.p, name.len, words[i]))
			return true;
	return false;
}

/* name:correlation:pid, counted from the right, for a name may hold colons. */
static bool parse_op(const char *p, const char *end, struct rk_txt_line *l)
{
	int64_t pid, corr;

	if (!take_last(p, &end, ':', &pid) || !take_last(p, &end, ':', &corr) || p == end)
		return false;
	set(l, RK_TXT_PID, pid);
	set(l, RK_TXT_CORRELATION, corr);
	l->name = rk_csv_trim(p, (size_t)(end - p));
	return true;
}

/* function(...) ... :correlation; the last part came later and may be missing. */
static bool parse_call(const char *p, const char *end, struct rk_txt_line *l)
{
	const char *paren = memchr(p, '(', (size_t)(end - p));
	int64_t corr;

	if (!paren || paren == p)
		return false;
	for (const char *q = p; q < paren; q++)
		if ((unsigned char)*q <= ' ' || *q == ':')
			return false;
	if (take_last(paren, &end, ':', &corr))
		set(l, RK_TXT_CORRELATION, corr);
	l->name = (struct rk_csv_span){ p, (size_t)(paren - p) };
	l->kind = RK_TXT_API;
	return true;
}

/* Behind the times. */
static void parse_timed(const char *p, const char *end, struct rk_txt_line *l)
{
	const char *q = p;
	int64_t a, b;

	if (!take(&q, end, ':', &a) || !take(&q, end, ' ', &b)) {
		if (parse_op(p, end, l))
			l->kind = RK_TXT_COPY;
		return;
	}
	if (parse_op(q, end, l)) {
		set(l, RK_TXT_DEVICE, a);
		set(l, RK_TXT_QUEUE, b);
		l->kind = is_copy(l->name) ? RK_TXT_COPY : RK_TXT_KERNEL;
	} else if (parse_call(q, end, l)) {
		set(l, RK_TXT_PID, a);
		set(l, RK_TXT_TID, b);
	}
}

/* pid:tid op:id:"message" */
static void parse_mark(const char *p, const char *end, struct rk_txt_line *l)
{
	int64_t pid, tid, op, id;

	if (!take(&p, end, ':', &pid) || !take(&p, end, ' ', &tid) || !take(&p, end, ':', &op) ||
	    !take(&p, end, ':', &id) || op > 4 || end - p < 2 || *p != '"' || end[-1] != '"')
		return;
	set(l, RK_TXT_PID, pid);
	set(l, RK_TXT_TID, tid);
	set(l, RK_TXT_OP, op);
	set(l, RK_TXT_ID, id);
	l->name = (struct rk_csv_span){ p + 1, (size_t)(end - p - 2) };
	l->kind = RK_TXT_MARK;
}

/* "  SQ_WAVES (256.0000000000)" */
static void parse_counter(const char *p, const char *end, struct rk_txt_line *l)
{
	struct rk_csv_span s = rk_csv_trim(p, (size_t)(end - p));
	const char *paren = memrchr(s.p, '(', s.len);
	size_t n = paren ? (size_t)(paren - s.p) : 0;

	if (!paren || s.p[s.len - 1] != ')' || n < 2 || paren[-1] != ' ' ||
	    rk_num_f64(paren + 1, s.len - n - 2, &l->value) != RK_NUM_OK)
		return;
	l->name = rk_csv_trim(s.p, n);
	l->kind = RK_TXT_COUNTER;
}

/* What stands before the records: who traced, agents, when the program began. */
static bool is_preamble(const char *p, size_t len)
{
	struct rk_csv_span s = rk_csv_trim(p, len);
	size_t n = 0;

	while (n < s.len && digit(s.p[n]))
		n++;
	return n == s.len || rk_text_iprefix(s.p, s.len, "ROCTracer (pid=") ||
	       rk_text_iprefix(s.p, s.len, "ROCProfiler") ||
	       rk_text_iprefix(s.p, s.len, "Enabling ") ||
	       (s.p != p && rk_text_ends(s.p, s.len, "trace()")) ||
	       (rk_text_iprefix(s.p, s.len, "0x") &&
		(rk_text_ends(s.p, s.len, " agent cpu") || rk_text_ends(s.p, s.len, " agent gpu")));
}

void rk_txt_parse(const char *p, size_t len, struct rk_txt_line *ret)
{
	const char *end = p + len, *q = p;
	int64_t a, b;

	*ret = (struct rk_txt_line){ .kind = RK_TXT_UNKNOWN };
	if (is_preamble(p, len)) {
		ret->kind = RK_TXT_PREAMBLE;
	} else if (*p == ' ' || *p == '\t') {
		parse_counter(p, end, ret);
	} else if (take(&q, end, ':', &a) && take(&q, end, ' ', &b)) {
		set(ret, RK_TXT_BEGIN, a);
		set(ret, RK_TXT_END, b);
		parse_timed(q, end, ret);
	} else if (q = p, take(&q, end, ' ', &a)) {
		set(ret, RK_TXT_BEGIN, a);
		parse_mark(q, end, ret);
	} else if (rk_text_iprefix(p, len, "dispatch[") || rk_text_iprefix(p, len, "Domain(")) {
		rk_txt_parse_pairs(p, len, ret);
	}
}

uint32_t rk_txt_tables(const struct rk_txt_line *l)
{
	switch (l->kind) {
	case RK_TXT_API: /* the copies of an HSA trace come behind all its calls */
		return RK_TABLE_BIT(RK_API) |
		       (rk_text_iprefix(l->name.p, l->name.len, "hsa_") ? RK_TABLE_BIT(RK_MEMCPY) :
									  0);
	case RK_TXT_KERNEL:
	case RK_TXT_COPY:
		return rk_txt_has(l, RK_TXT_DEVICE) ?
			       RK_TABLE_BIT(RK_KERNELS) | RK_TABLE_BIT(RK_MEMCPY) :
		       l->kind == RK_TXT_KERNEL ? RK_TABLE_BIT(RK_KERNELS) :
						  RK_TABLE_BIT(RK_MEMCPY);
	case RK_TXT_MARK:
	case RK_TXT_V2_MARK:
		return RK_TABLE_BIT(RK_MARKERS);
	case RK_TXT_DISPATCH:
		return RK_TABLE_BIT(RK_KERNELS);
	case RK_TXT_COUNTER:
		return RK_TABLE_BIT(RK_COUNTERS);
	default:
		return 0;
	}
}
