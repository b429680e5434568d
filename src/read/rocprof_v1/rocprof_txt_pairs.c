/* rocprof_txt_pairs.c - lines made of key(value) pairs. */
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "read/rocprof_v1/rocprof_txt.h"

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

static void set_number(struct rk_txt_line *l, struct rk_csv_span key, struct rk_csv_span value)
{
	for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		enum rk_txt_field f = numbers[i].field;

		if (is(key, numbers[i].key) &&
		    rk_num_i64(value.p, value.len, &l->num[f]) == RK_NUM_OK)
			l->has |= 1u << f;
	}
}

/* time(dispatched,begun,ended,completed) */
static void set_times(struct rk_txt_line *l, struct rk_csv_span value)
{
	struct rk_csv_span part[4];

	if (rk_csv_split(value.p, value.len, part, 4) != 4 ||
	    rk_num_i64(part[1].p, part[1].len, &l->num[RK_TXT_BEGIN]) != RK_NUM_OK ||
	    rk_num_i64(part[2].p, part[2].len, &l->num[RK_TXT_END]) != RK_NUM_OK)
		return;
	l->has |= 1u << RK_TXT_BEGIN | 1u << RK_TXT_END;
}

static void set_pair(struct rk_txt_line *l, struct rk_csv_span key, struct rk_csv_span value,
		     bool *kernel)
{
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
	} else if (is(key, "time")) {
		set_times(l, value);
	} else {
		set_number(l, key, value);
	}
}

/* The bracket that closes a value: a comma and a blank, or the end, stand behind it. */
static const char *closing(const char *p, const char *end, char c)
{
	bool quoted = p < end && *p == '"';

	for (; p < end; p++)
		if (*p == c && (!quoted || p[-1] == '"') && (p + 1 == end || p[1] == ','))
			return p;
	return NULL;
}

/* The next pair at *p, which is moved behind its comma; false at the end or where it is none. */
static bool next_pair(const char **p, const char *end, struct rk_csv_span *key,
		      struct rk_csv_span *value)
{
	const char *k = *p, *open, *close;

	while (k < end && (*k == ' ' || *k == ','))
		k++;
	for (open = k; open < end && *open != '(' && *open != '[' && *open != ','; open++)
		;
	if (open == end || open == k || *open == ',')
		return false;
	close = closing(open + 1, end, *open == '(' ? ')' : ']');
	if (!close)
		return false;
	*key = rk_csv_trim(k, (size_t)(open - k));
	*value = (struct rk_csv_span){ open + 1, (size_t)(close - open - 1) };
	*p = close + 1;
	return true;
}

static bool ends_with(struct rk_csv_span s, const char *word)
{
	return s.p && rk_text_ends(s.p, s.len, word);
}

static enum rk_txt_kind kind_of(const struct rk_txt_line *l, bool kernel)
{
	if (!l->domain.p)
		return kernel && rk_txt_has(l, RK_TXT_INDEX) ? RK_TXT_DISPATCH : RK_TXT_UNKNOWN;
	if (!rk_txt_has(l, RK_TXT_BEGIN))
		return RK_TXT_UNKNOWN;
	if (is(l->domain, "ROCTX_DOMAIN"))
		return rk_txt_has(l, RK_TXT_ID) ? RK_TXT_V2_MARK : RK_TXT_UNKNOWN;
	if (!l->name.p || !rk_txt_has(l, RK_TXT_END))
		return RK_TXT_UNKNOWN;
	if (ends_with(l->domain, "_OPS_DOMAIN"))
		return kernel ? RK_TXT_KERNEL : RK_TXT_COPY;
	return ends_with(l->domain, "_API_DOMAIN") ? RK_TXT_API : RK_TXT_UNKNOWN;
}

void rk_txt_parse_pairs(const char *p, size_t len, struct rk_txt_line *ret)
{
	const char *end = p + len;
	struct rk_csv_span key, value;
	bool kernel = false;

	while (next_pair(&p, end, &key, &value))
		set_pair(ret, key, value, &kernel);
	ret->kind = kind_of(ret, kernel);
}
