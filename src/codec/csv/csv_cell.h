/*
 * csv_cell.h - single cells of a CSV row, read fast.
 *
 * All of it works on readable bytes around the text (the scanner's buffers have them), so numbers
 * are taken eight digits at a time and delimiters found sixteen bytes at a time without a test for
 * the end at each step. Each cell reader returns the byte behind the cell, or NULL when the cell is
 * odd in any way.
 */
#ifndef RK_CSV_CELL_H
#define RK_CSV_CELL_H

#include <string.h>

#include "codec/csv/csv_row.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/* Bit i set where byte i of the 16 at p equals a or b. */
static inline uint32_t match2(const char *p, char a, char b)
{
#if defined(__x86_64__)
	__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i m = _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8(a)),
				 _mm_cmpeq_epi8(v, _mm_set1_epi8(b)));

	return (uint32_t)_mm_movemask_epi8(m);
#elif defined(__aarch64__)
	static const uint8_t weight[16] = {
		1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128
	};
	uint8x16_t v = vld1q_u8((const uint8_t *)p);
	uint8x16_t m =
		vorrq_u8(vceqq_u8(v, vdupq_n_u8((uint8_t)a)), vceqq_u8(v, vdupq_n_u8((uint8_t)b)));

	m = vandq_u8(m, vld1q_u8(weight));
	return (uint32_t)vaddv_u8(vget_low_u8(m)) | (uint32_t)vaddv_u8(vget_high_u8(m)) << 8;
#else
	uint32_t m = 0;

	for (int i = 0; i < 16; i++)
		m |= (uint32_t)(p[i] == a || p[i] == b) << i;
	return m;
#endif
}

/* As match2, the two apart. */
static inline uint32_t match1(const char *p, char a)
{
	return match2(p, a, a);
}

/* The first a or b at or behind p; `end` when there is none before it. */
static inline const char *find2(const char *p, const char *end, char a, char b)
{
	for (; p < end; p += 16) {
		uint32_t m = match2(p, a, b);

		if (m) {
			p += __builtin_ctz(m);
			return p < end ? p : end;
		}
	}
	return end;
}

/*
 * Leading decimal digits of eight bytes, as a number. `x` holds the bytes in memory order (the
 * first is the lowest); a byte is a digit when its high nibble is 3 and adding 6 to the low one
 * does not carry. The digits are moved to the top so that what is missing counts as leading
 * zeros, then pairs, fours and eights are joined by three multiplications.
 */
static inline unsigned digits8(const char *p, uint64_t *ret)
{
	uint64_t x, odd;
	unsigned n;

	memcpy(&x, p, 8);
	odd = ((x & 0xf0f0f0f0f0f0f0f0u) | ((x + 0x0606060606060606u) & 0xf0f0f0f0f0f0f0f0u) >> 4) ^
	      0x3333333333333333u;
	n = odd ? (unsigned)__builtin_ctzll(odd) / 8 : 8;
	if (!n)
		return 0;
	x <<= (8 - n) * 8;
	x = (x & 0x0f0f0f0f0f0f0f0fu) * 2561 >> 8;
	x = (x & 0x00ff00ff00ff00ffu) * 6553601 >> 16;
	*ret = (x & 0x0000ffff0000ffffu) * 42949672960001u >> 32;
	return n;
}

static const uint64_t ten[9] = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000 };

/* Up to 18 digits, which always fit; NULL when there are none or more. */
static inline const char *number(const char *p, int64_t *ret)
{
	uint64_t v, part;
	unsigned n = digits8(p, &v), total = n;

	if (!n)
		return NULL;
	p += n;
	while (n == 8) {
		n = digits8(p, &part);
		if (!n)
			break;
		total += n;
		if (total > 18)
			return NULL;
		v = v * ten[n] + part;
		p += n;
	}
	*ret = (int64_t)v;
	return p;
}

/* A number, in quotes or not; an empty cell is null. */
static inline const char *number_cell(const char *p, unsigned field, struct rk_csv_sink *s,
				      int64_t *ret)
{
	bool quoted = *p == '"';
	const char *q = number(p + quoted, ret);

	if (!q) {
		q = p + quoted;
		if (*q != ',' && *q != '"' && *q != '\n' && *q != '\r')
			return NULL;
		if (s->nnulls == 64)
			return NULL;
		s->nulls[s->nnulls++] = (uint16_t)field;
		*ret = 0;
	}
	if (quoted && *q++ != '"')
		return NULL;
	return q;
}

/* An address: 0x and up to 16 digits, mostly in quotes. */
static inline const char *hex_cell(const char *p, int64_t *ret)
{
	bool quoted = *p == '"';
	uint64_t v = 0;
	unsigned n = 0;

	p += quoted;
	if (p[0] != '0' || p[1] != 'x')
		return NULL;
	for (p += 2; n < 16; n++, p++) {
		unsigned char c = (unsigned char)*p, l = c | 0x20;

		if (c >= '0' && c <= '9')
			v = v << 4 | (c & 15u);
		else if (l >= 'a' && l <= 'f')
			v = v << 4 | (l - 'a' + 10u);
		else
			break;
	}
	if (!n || (quoted && *p++ != '"'))
		return NULL;
	*ret = (int64_t)v;
	return p;
}

/* "Agent 4", "GPU 4", "CPU 0" or 4. */
static inline const char *agent_cell(const char *p, unsigned field, struct rk_csv_sink *s,
				     int64_t *ret)
{
	const char *q;

	if (*p != '"' || p[1] == '"')
		return number_cell(p, field, s, ret);
	if (!memcmp(p + 1, "Agent ", 6))
		q = number(p + 7, ret);
	else if (!memcmp(p + 1, "GPU ", 4) || !memcmp(p + 1, "CPU ", 4))
		q = number(p + 5, ret);
	else
		return number_cell(p, field, s, ret);
	return q && *q == '"' ? q + 1 : NULL;
}

static bool cell_over(char c)
{
	return c == ',' || c == '\n' || c == '\r';
}

/* Text in quotes without a quote inside, or bare text without a comma; [*from, *to) is it. */
static inline const char *text_cell(const char *p, const char *end, const char **from,
				    const char **to)
{
	const char *q;

	if (*p == '"') {
		q = find2(p + 1, end, '"', '\n');
		if (q == end || *q != '"' || !cell_over(q[1]))
			return NULL;
		*from = p + 1;
		*to = q;
		return q + 1;
	}
	q = find2(p, end, ',', '\n');
	*from = p;
	*to = q > p && q[-1] == '\r' && (q == end || *q == '\n') ? q - 1 : q;
	return *to;
}

/* Passes n cells that hold no comma; stops at the comma or line end behind the last. */
static inline const char *skip_cells(const char *p, const char *end, unsigned n)
{
	for (; p < end; p += 16) {
		uint32_t m = match2(p, ',', '\n');

		for (; m; m &= m - 1) {
			const char *q = p + __builtin_ctz(m);

			if (q >= end)
				return NULL;
			if (!--n)
				return *q == '\n' && q[-1] == '\r' ? q - 1 : q;
			if (*q == '\n')
				return NULL;
		}
	}
	return n == 1 ? end : NULL;
}

/*
 * The delimiters behind each of n cells from p on, into d. All must be commas, but the last may be
 * a line end (or `end`) when `last` says so; d[n - 1] then stands before any carriage return.
 */
static inline bool delimiters(const char *p, const char *end, unsigned n, bool last, const char **d)
{
	unsigned k = 0;

	for (; p < end; p += 16) {
		uint32_t commas = match1(p, ','), ends = match1(p, '\n');

		if (ends)
			commas &= (ends & -ends) - 1;
		for (; commas; commas &= commas - 1) {
			d[k++] = p + __builtin_ctz(commas);
			if (k == n)
				return !last && d[k - 1] < end;
		}
		if (ends) {
			d[k++] = p + __builtin_ctz(ends);
			break;
		}
	}
	if (!last)
		return false;
	if (p >= end && k + 1 == n)
		d[k++] = end;
	if (k != n || d[n - 1] > end)
		return false;
	d[n - 1] -= d[n - 1][-1] == '\r';
	return true;
}

/*
 * The eight bytes before `end`, of which the last n (1..8) are a number: the others are blanked,
 * then as in digits8. A byte that is no digit leaves a bit in *odd.
 */
static inline uint64_t digits_before(const char *end, unsigned n, uint64_t *odd)
{
	unsigned shift = 64 - 8 * n;
	uint64_t x;

	memcpy(&x, end - 8, 8);
	x = ((x ^ 0x3030303030303030u) >> shift) << shift;
	*odd |= ((x + 0x7676767676767676u) | x) & 0x8080808080808080u;
	x = x * 2561 >> 8;
	x = (x & 0x00ff00ff00ff00ffu) * 6553601 >> 16;
	return (x & 0x0000ffff0000ffffu) * 42949672960001u >> 32;
}

/* The number in [p, end), 1 to 16 digits long; anything else leaves a bit in *odd. */
static inline int64_t number_before(const char *p, const char *end, uint64_t *odd)
{
	size_t n = (size_t)(end - p);
	uint64_t v;

	if (n - 1 < 8)
		return (int64_t)digits_before(end, (unsigned)n, odd);
	if (n - 1 >= 16) {
		*odd = 1;
		return 0;
	}
	v = digits_before(end - 8, (unsigned)n - 8, odd);
	return (int64_t)(v * 100000000 + digits_before(end, 8, odd));
}

#endif
