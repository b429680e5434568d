/* samples_values.c - times, devices and values as samplers write them. */
#include "read/samples/samples.h"

#include <string.h>

#include "base/num.h"
#include "base/text.h"

#define NS INT64_C(1000000000)

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Digits behind a decimal point as nanoseconds; what is finer is cut off. */
static int64_t fraction_ns(const char *p, size_t len)
{
	int64_t v = 0;

	for (size_t i = 0; i < 9; i++)
		v = v * 10 + (i < len ? p[i] - '0' : 0);
	return v;
}

static size_t count_digits(const char *p, size_t len)
{
	size_t n = 0;

	while (n < len && digit(p[n]))
		n++;
	return n;
}

static enum rk_when seconds(struct rk_csv_span c, int64_t *ret)
{
	size_t whole = count_digits(c.p, c.len), part = 0;
	int64_t s;

	if (whole < c.len && c.p[whole] == '.')
		part = count_digits(c.p + whole + 1, c.len - whole - 1);
	if (!whole || whole + (part ? part + 1 : 0) != c.len)
		return rk_num_i64(c.p, c.len, &s) == RK_NUM_SCIENCE ? RK_WHEN_LOST : RK_WHEN_BAD;
	if (rk_num_i64(c.p, whole, &s) != RK_NUM_OK || __builtin_mul_overflow(s, NS, ret) ||
	    __builtin_add_overflow(*ret, fraction_ns(c.p + whole + 1, part), ret))
		return RK_WHEN_BAD;
	return RK_WHEN_UTC;
}

/* Two digits in [from, to], -1 otherwise. */
static int two(const char *p, int from, int to)
{
	int v = digit(p[0]) && digit(p[1]) ? (p[0] - '0') * 10 + (p[1] - '0') : -1;

	return v >= from && v <= to ? v : -1;
}

/* Days since 1970 of a Gregorian date: years begin in March, so that a leap day is the last. */
static int64_t days(int year, int month, int day)
{
	int y = month <= 2 ? year - 1 : year, m = month <= 2 ? month + 9 : month - 3;

	return 365 * (int64_t)y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

/* "Z", "+02:00" or "-0530" behind a date: seconds east of Greenwich. */
static enum rk_when zone(const char *p, size_t len, int64_t *ret)
{
	size_t minutes = len == 6 && p[3] == ':' ? 4 : 3;
	int h, m;

	*ret = 0;
	if (!len)
		return RK_WHEN_LOCAL;
	if (len == 1 && (*p == 'Z' || *p == 'z'))
		return RK_WHEN_UTC;
	if ((*p != '+' && *p != '-') || len != minutes + 2)
		return RK_WHEN_BAD;
	h = two(p + 1, 0, 23);
	m = two(p + minutes, 0, 59);
	*ret = (*p == '-' ? -60 : 60) * (h * 60 + m);
	return h < 0 || m < 0 ? RK_WHEN_BAD : RK_WHEN_UTC;
}

/* At least 19 bytes: 2026-11-15T03:51:06 */
static enum rk_when date(struct rk_csv_span c, int64_t *ret)
{
	const char *p = c.p;
	int cent = two(p, 16, 21), year = two(p + 2, 0, 99), month = two(p + 5, 1, 12),
	    day = two(p + 8, 1, 31), h = two(p + 11, 0, 23), m = two(p + 14, 0, 59),
	    s = two(p + 17, 0, 60);
	size_t part = 0, at = 19;
	int64_t east, t;
	enum rk_when kind;

	if ((cent | year | month | day | h | m | s) < 0 || p[4] != '-' || p[7] != '-' ||
	    (p[10] != 'T' && p[10] != ' ') || p[13] != ':' || p[16] != ':')
		return RK_WHEN_BAD;
	if (c.len > at && p[at] == '.') {
		part = count_digits(p + at + 1, c.len - at - 1);
		at += part + 1;
	}
	kind = zone(p + at, c.len - at, &east);
	t = days(cent * 100 + year, month, day) * 86400 + h * 3600 + m * 60 + s - east;
	if (__builtin_mul_overflow(t, NS, ret) ||
	    __builtin_add_overflow(*ret, fraction_ns(p + 20, part), ret))
		return RK_WHEN_BAD;
	return kind;
}

static bool is_one_of(struct rk_csv_span c, const char *const *words)
{
	for (; *words; words++)
		if (rk_text_ieq(c.p, c.len, *words))
			return true;
	return false;
}

static bool absent(struct rk_csv_span c)
{
	static const char *const words[] = { "", "N/A", "NA", "None", "null", NULL };

	return is_one_of(c, words);
}

enum rk_when rk_samples_when(struct rk_csv_span c, int64_t *ret_ns)
{
	if (absent(c))
		return RK_WHEN_NONE;
	return c.len >= 19 && c.p[4] == '-' ? date(c, ret_ns) : seconds(c, ret_ns);
}

/* Words that switches show; they are no numbers and none is missed. */
static bool state(struct rk_csv_span c)
{
	static const char *const words[] = { "ENABLED", "DISABLED", "UNTHROTTLED", "THROTTLED",
					     "True",    "False",    NULL };

	return is_one_of(c, words);
}

static bool of_unit(char c)
{
	return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '%' || c == '/' || c == ' ';
}

static struct rk_csv_span without_unit(struct rk_csv_span c)
{
	if (c.len >= 2 && c.p[0] == '(' && c.p[c.len - 1] == ')')
		c = rk_csv_trim(c.p + 1, c.len - 2);
	while (c.len && of_unit(c.p[c.len - 1]))
		c.len--;
	return rk_csv_trim(c.p, c.len);
}

enum rk_value rk_samples_value(struct rk_csv_span c, double *ret)
{
	struct rk_csv_span n;

	if (rk_num_f64(c.p, c.len, ret) == RK_NUM_OK)
		return RK_VALUE_OK;
	if (absent(c) || state(c))
		return RK_VALUE_NONE;
	n = without_unit(c);
	/* a unit is a few letters, not a sentence that ends in a number */
	if (c.len - n.len > 8 || rk_num_f64(n.p, n.len, ret) != RK_NUM_OK)
		return RK_VALUE_BAD;
	return RK_VALUE_OK;
}

bool rk_samples_device(struct rk_csv_span c, int64_t *ret)
{
	static const char *const words[] = { "card", "gpu", "device" };

	for (unsigned i = 0; i < 3; i++) {
		size_t n = strlen(words[i]);

		if (rk_text_iprefix(c.p, c.len, words[i])) {
			c = rk_csv_trim(c.p + n, c.len - n);
			break;
		}
	}
	return count_digits(c.p, c.len) == c.len && rk_num_i64(c.p, c.len, ret) == RK_NUM_OK;
}
