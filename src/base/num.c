/* num.c - converts text to numbers exactly. */
#include "base/num.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Reads digits from s[*pos] on into *v; false if they exceed 2^64 - 1. */
static bool digits_u64(const char *s, size_t len, size_t *pos, uint64_t *v)
{
	size_t i = *pos;
	uint64_t r = 0;

	for (; i < len && digit(s[i]); i++)
		if (__builtin_mul_overflow(r, 10u, &r) ||
		    __builtin_add_overflow(r, (uint64_t)(s[i] - '0'), &r))
			return false;
	*pos = i;
	*v = r;
	return true;
}

enum rk_num rk_num_i64(const char *s, size_t len, int64_t *ret)
{
	bool negative = len && s[0] == '-';
	size_t pos = len && (s[0] == '-' || s[0] == '+');
	size_t first = pos;
	enum rk_num kind = RK_NUM_OK;
	uint64_t v;
	double d;

	if (!len)
		return RK_NUM_EMPTY;
	if (!digits_u64(s, len, &pos, &v))
		return RK_NUM_RANGE;
	if (pos == first)
		return RK_NUM_BAD;
	/* After the integer part: nothing, ".000", a fraction, an exponent, or garbage. */
	if (pos < len && s[pos] == '.')
		for (pos++; pos < len && digit(s[pos]); pos++)
			if (s[pos] != '0')
				kind = RK_NUM_FRACTION;
	if (pos < len && (s[pos] == 'e' || s[pos] == 'E')) {
		/* The value is only for the warning, not for timing. */
		if (rk_num_f64(s, len, &d) != RK_NUM_OK)
			return RK_NUM_BAD;
		if (!(d > -9.2e18 && d < 9.2e18))
			return RK_NUM_RANGE;
		*ret = (int64_t)d;
		return RK_NUM_SCIENCE;
	}
	if (pos < len)
		return RK_NUM_BAD;
	if (v > (uint64_t)INT64_MAX + negative)
		return RK_NUM_RANGE;
	*ret = negative ? (int64_t)(0 - v) : (int64_t)v;
	return kind;
}

static enum rk_num hex_u64(const char *s, size_t len, uint64_t *ret)
{
	uint64_t v = 0;

	if (!len)
		return RK_NUM_BAD;
	for (size_t i = 0; i < len; i++) {
		char c = s[i] | 0x20;
		unsigned d;

		if (digit(s[i]))
			d = (unsigned)(s[i] - '0');
		else if (c >= 'a' && c <= 'f')
			d = (unsigned)(c - 'a') + 10;
		else
			return RK_NUM_BAD;
		if (v >> 60)
			return RK_NUM_RANGE;
		v = v << 4 | d;
	}
	*ret = v;
	return RK_NUM_OK;
}

enum rk_num rk_num_u64(const char *s, size_t len, uint64_t *ret)
{
	size_t pos = 0;
	uint64_t v;

	if (!len)
		return RK_NUM_EMPTY;
	if (len > 2 && s[0] == '0' && (s[1] | 0x20) == 'x')
		return hex_u64(s + 2, len - 2, ret);
	if (!digits_u64(s, len, &pos, &v))
		return RK_NUM_RANGE;
	if (pos != len)
		return RK_NUM_BAD;
	*ret = v;
	return RK_NUM_OK;
}

/* The C locale, created once: the host program's locale must not change the meaning of "1.5". */
static locale_t c_locale(void)
{
	static locale_t loc;
	locale_t made, none = (locale_t)0;

	if (__atomic_load_n(&loc, __ATOMIC_ACQUIRE))
		return loc;
	made = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!__atomic_compare_exchange_n(&loc, &none, made, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		freelocale(made);
	return loc;
}

enum rk_num rk_num_f64(const char *s, size_t len, double *ret)
{
	char text[128], *end;
	bool any = false;
	double d;

	if (!len)
		return RK_NUM_EMPTY;
	if (len >= sizeof(text))
		return RK_NUM_BAD;
	/*
	 * Only accept characters of a decimal number, so that strtod never sees "nan", "inf" or
	 * hexadecimal.
	 */
	for (size_t i = 0; i < len; i++) {
		if (digit(s[i]))
			any = true;
		else if (!s[i] || !strchr("+-.eE", s[i]))
			return RK_NUM_BAD;
	}
	if (!any)
		return RK_NUM_BAD;
	memcpy(text, s, len);
	text[len] = '\0';
	d = strtod_l(text, &end, c_locale());
	if (end != text + len)
		return RK_NUM_BAD;
	if (!isfinite(d))
		return RK_NUM_RANGE;
	*ret = d;
	return RK_NUM_OK;
}

size_t rk_num_put_i64(char *out, int64_t v)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";
	uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
	char buf[20], *p = buf + sizeof(buf);
	size_t len;

	for (; u >= 100; u /= 100) {
		p -= 2;
		memcpy(p, pairs + u % 100 * 2, 2);
	}
	if (u >= 10) {
		p -= 2;
		memcpy(p, pairs + u * 2, 2);
	} else {
		*--p = (char)('0' + u);
	}
	len = (size_t)(buf + sizeof(buf) - p);
	if (v < 0)
		*out++ = '-';
	memcpy(out, p, len);
	return len + (v < 0);
}

size_t rk_num_put_f64(char *out, double v)
{
	locale_t old = uselocale(c_locale());
	char text[32];
	int len = 0;

	for (int precision = 15; precision <= 17; precision++) {
		len = snprintf(text, sizeof(text), "%.*g", precision, v);
		if (strtod(text, NULL) == v)
			break;
	}
	uselocale(old);
	memcpy(out, text, (size_t)len);
	return (size_t)len;
}
