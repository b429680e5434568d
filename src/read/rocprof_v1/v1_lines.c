/*
 * v1_lines.c - one line of a raw text trace. The forms, N being decimal numbers:
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
#include "read/rocprof_v1/v1_lines.h"

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Parses the number at *p, which must be followed by `last`; moves *p past it. */
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

/* Parses the number at the end of [p, *end), which must follow `first`; moves *end before it. */
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

/* Copy and fill commands have fixed names; all other names are kernels. */
static bool is_copy(struct rk_csv_span name)
{
	static const char *const words[] = { "Copy", "Fill", "Memcpy", "hcMemcpy", "hipMemcpy" };

	for (size_t i = 0; i < name.len; i++)
		if ((name.p[i] | 0x20) < 'a' || (name.p[i] | 0x20) > 'z')
			return false;
	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (rk_text_iprefix(name.p, name.len, words[i]))
			return true;
	return false;
}

/* name:correlation:pid, parsed from the right, because a name may contain colons. */
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

/* function(...) ... :correlation; older versions lack the last part. */
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

/* Parses the part after the times. */
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

/* ---- lines of key(value) pairs ---- */

static const struct {
	const char *key;
	enum rk_txt_field field;
} numbers[] = {
	{ "dispatch", RK_TXT_INDEX },
	{ "gpu-id", RK_TXT_DEVICE },
	{ "queue-id", RK_TXT_QUEUE },
	{ "pid", RK_TXT_PID },
	{ "tid", RK_TXT_TID },
	{ "grd", RK_TXT_GRID },
	{ "wgr", RK_TXT_BLOCK },
	{ "lds", RK_TXT_LDS },
	{ "scr", RK_TXT_SCRATCH },
	{ "vgpr", RK_TXT_VGPR },
	{ "arch_vgpr", RK_TXT_VGPR },
	{ "accum_vgpr", RK_TXT_ACCUM },
	{ "sgpr", RK_TXT_SGPR },
	{ "wave_size", RK_TXT_WAVE },
	{ "Start_Timestamp", RK_TXT_BEGIN },
	{ "Begin_Timestamp", RK_TXT_BEGIN },
	{ "Timestamp", RK_TXT_BEGIN },
	{ "End_Timestamp", RK_TXT_END },
	{ "Stop_Timestamp", RK_TXT_END },
	{ "Correlation_ID", RK_TXT_CORRELATION },
	{ "ROCTX_ID", RK_TXT_ID },
};

static bool is(struct rk_csv_span s, const char *word)
{
	return rk_text_ieq(s.p, s.len, word);
}

static void set_pair(struct rk_txt_line *l, struct rk_csv_span key, struct rk_csv_span value,
		     bool *kernel)
{
	struct rk_csv_span part[4];

	if (value.len >= 2 && value.p[0] == '"' && value.p[value.len - 1] == '"')
		value = (struct rk_csv_span){ value.p + 1, value.len - 2 };
	if (is(key, "kernel-name") || is(key, "Kernel_Name")) {
		l->name = value;
		*kernel = true;
	} else if (is(key, "Function") || is(key, "ROCTX_Message") ||
		   (is(key, "Operation") && !*kernel)) {
		l->name = value;
	} else if (is(key, "Domain")) {
		l->domain = value;
	} else if (is(key, "time")) { /* time(dispatched,begun,ended,completed) */
		if (rk_csv_split(value.p, value.len, part, 4) == 4 &&
		    rk_num_i64(part[1].p, part[1].len, &l->num[RK_TXT_BEGIN]) == RK_NUM_OK &&
		    rk_num_i64(part[2].p, part[2].len, &l->num[RK_TXT_END]) == RK_NUM_OK)
			l->has |= 1u << RK_TXT_BEGIN | 1u << RK_TXT_END;
	} else {
		for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
			enum rk_txt_field f = numbers[i].field;

			if (is(key, numbers[i].key) &&
			    rk_num_i64(value.p, value.len, &l->num[f]) == RK_NUM_OK)
				l->has |= 1u << f;
		}
	}
}

/* Parses the next pair at *p and moves past its comma; false at the end or if it is not a pair. */
static bool next_pair(const char **p, const char *end, struct rk_csv_span *key,
		      struct rk_csv_span *value)
{
	const char *k = *p, *open, *close;
	bool quoted;

	while (k < end && (*k == ' ' || *k == ','))
		k++;
	for (open = k; open < end && *open != '(' && *open != '[' && *open != ','; open++)
		;
	if (open == end || open == k || *open == ',')
		return false;
	/* the closing bracket of a value is followed by a comma or the end */
	quoted = open + 1 < end && open[1] == '"';
	for (close = open + 1; close < end; close++)
		if (*close == (*open == '(' ? ')' : ']') && (!quoted || close[-1] == '"') &&
		    (close + 1 == end || close[1] == ','))
			break;
	if (close == end)
		return false;
	*key = rk_csv_trim(k, (size_t)(open - k));
	*value = (struct rk_csv_span){ open + 1, (size_t)(close - open - 1) };
	*p = close + 1;
	return true;
}

static enum rk_txt_kind kind_of(const struct rk_txt_line *l, bool kernel)
{
	if (!l->domain.p && kernel && rk_txt_has(l, RK_TXT_INDEX))
		return RK_TXT_DISPATCH;
	if (!l->domain.p || !rk_txt_has(l, RK_TXT_BEGIN))
		return RK_TXT_UNKNOWN;
	if (is(l->domain, "ROCTX_DOMAIN"))
		return rk_txt_has(l, RK_TXT_ID) ? RK_TXT_V2_MARK : RK_TXT_UNKNOWN;
	if (!l->name.p || !rk_txt_has(l, RK_TXT_END))
		return RK_TXT_UNKNOWN;
	if (rk_text_ends(l->domain.p, l->domain.len, "_OPS_DOMAIN"))
		return kernel ? RK_TXT_KERNEL : RK_TXT_COPY;
	if (rk_text_ends(l->domain.p, l->domain.len, "_API_DOMAIN"))
		return RK_TXT_API;
	return RK_TXT_UNKNOWN;
}

/* ---- any line ---- */

/* Lines before the records: the tracer, agents, when the program started. */
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
	struct rk_csv_span key, value;
	bool kernel = false;
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
		while (next_pair(&p, end, &key, &value))
			set_pair(ret, key, value, &kernel);
		ret->kind = kind_of(ret, kernel);
	}
}

uint32_t rk_txt_tables(const struct rk_txt_line *l)
{
	switch (l->kind) {
	case RK_TXT_API: /* copies of an HSA trace come after all its calls */
		if (rk_text_iprefix(l->name.p, l->name.len, "hsa_"))
			return RK_TABLE_BIT(RK_API) | RK_TABLE_BIT(RK_MEMCPY);
		return RK_TABLE_BIT(RK_API);
	case RK_TXT_KERNEL:
	case RK_TXT_COPY:
		if (rk_txt_has(l, RK_TXT_DEVICE))
			return RK_TABLE_BIT(RK_KERNELS) | RK_TABLE_BIT(RK_MEMCPY);
		return RK_TABLE_BIT(l->kind == RK_TXT_KERNEL ? RK_KERNELS : RK_MEMCPY);
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
