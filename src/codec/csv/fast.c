/*
 * fast.c - parses ordinary rows: cell by cell, or in larger pieces that were seen before (see
 * struct rk_csv_memory).
 *
 * The scanner's buffers guarantee that the bytes around the text are readable. So numbers are read
 * eight digits at a time and delimiters are found sixteen bytes at a time, without testing for the
 * end at each step. Each cell reader returns the byte after the cell, or NULL if the cell is
 * unusual in any way.
 */
#include "codec/csv/scan.h"

#include <string.h>

#if defined(__x86_64__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/* Bit i is set if byte i of the 16 at p equals a or b. */
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

/* The first a or b at or after p; `end` if there is none before it. */
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
 * does not carry. The digits are moved to the top so that missing ones count as leading zeros, then
 * pairs, fours and eights are joined by three multiplications.
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

/* Up to 18 digits, which always fit; NULL if there are none or more. */
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

/* An address: 0x and up to 16 digits, usually in quotes. */
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

/* "Agent 4", "GPU 4" or 4; "CPU 0" is ~0. */
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
	if (q && p[1] == 'C')
		*ret = ~*ret;
	return q && *q == '"' ? q + 1 : NULL;
}

static bool cell_over(char c)
{
	return c == ',' || c == '\n' || c == '\r';
}

/* Text in quotes without a quote inside, or bare text without a comma; the text is [*from, *to). */
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

/* Skips n cells without commas; returns the comma or line end after the last. */
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
 * Stores the delimiters after each of n cells from p on in d. All must be commas, except that the
 * last may be a line end (or `end`) if `last` is set; then d[n - 1] is before any carriage return.
 */
static inline bool delimiters(const char *p, const char *end, unsigned n, bool last, const char **d)
{
	unsigned k = 0;

	for (; p < end; p += 16) {
		uint32_t commas = match2(p, ',', ','), ends = match2(p, '\n', '\n');

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
 * The number in the last n (1..8) of the eight bytes before `end`. The other bytes are cleared,
 * then as in digits8. A byte that is not a digit sets a bit in *odd.
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

/* The number in [p, end), 1 to 16 digits long; anything else sets a bit in *odd. */
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

/* ---- rows ---- */

enum { MAX_PLACES = 15 };

/*
 * Sums of counters are usually integers: "16384.000000", "65536". Digits after the point are
 * appended to those before it: "1979347.8750000000" is 1979347875 / 10^3. The quotient of two exact
 * numbers is correctly rounded; NULL if there are too many digits for that.
 */
static inline const char *double_cell(const char *p, unsigned field, struct rk_csv_sink *s)
{
	static const double tens[MAX_PLACES + 1] = { 1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
						     1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };
	unsigned places = 0, n = 0;
	int64_t v;
	const char *q = number_cell(p, field, s, &v);

	if (!q || *p == '"')
		return NULL;
	if (*q == '.') {
		for (q++; *q >= '0' && *q <= '9'; q++) {
			n++;
			if (*q == '0')
				continue;
			if (n > MAX_PLACES)
				return NULL;
			for (; places < n; places++) {
				if (v > INT64_C(1) << 53)
					return NULL;
				v *= 10;
			}
			v += *q - '0';
		}
	}
	if (!cell_over(*q) || v > INT64_C(1) << 53)
		return NULL;
	((double *)s->data[field])[s->row] = places ? (double)v / tens[places] : (double)v;
	return q;
}

static const char *new_word(const char *p, const char *end, uint32_t *id, struct rk_csv_sink *s,
			    struct rk_csv_word *w)
{
	const char *from, *to, *q = text_cell(p, end, &from, &to);

	if (!q)
		return NULL;
	if (rk_strtab_add(s->names, from, (size_t)(to - from), id, s->err) < 0) {
		s->failed = true;
		return NULL;
	}
	if (w) {
		w->id = *id;
		w->text = rk_strtab_borrow(s->names, *id, &w->len);
	}
	return q;
}

/*
 * A cached word is found by the first bytes of its text and up to eight bytes of the cell before
 * it, which is a kernel's id.
 */
static inline const char *string_cell(const char *p, const char *end, unsigned field,
				      struct rk_csv_sink *s)
{
	uint32_t *id = &((uint32_t *)s->data[field])[s->row];
	uint64_t a, b, h, before, m, commas;
	struct rk_csv_word *w;

	if (!s->memory || *p != '"')
		return new_word(p, end, id, s, NULL);
	memcpy(&before, p - 9, 8);
	m = before ^ 0x2c2c2c2c2c2c2c2cu;
	commas = (m - 0x0101010101010101u) & ~m & 0x8080808080808080u;
	if (commas) {
		m = 64 - (unsigned)__builtin_clzll(commas);
		before = m < 64 ? before >> m : 0;
	}
	memcpy(&a, p + 1, 8);
	memcpy(&b, p + 9, 8);
	h = (before ^ a * 0x9e3779b97f4a7c15u ^ b * 0xc2b2ae3d27d4eb4fu) * 0xa0761d6478bd642fu;
	w = &s->memory->words[h >> 40 & (RK_CSV_WORDS - 1)];
	if (w->text && w->len + 2 < (size_t)(end - p) && p[w->len + 1] == '"' &&
	    cell_over(p[w->len + 2]) && !memcmp(p + 1, w->text, w->len)) {
		*id = w->id;
		return p + w->len + 2;
	}
	return new_word(p, end, id, s, w);
}

/* Stores a number of a group of cells; sets a bit in *odd if it does not fit. */
static inline void put_number(const struct rk_csv_op *op, int64_t v, const struct rk_csv_sink *s,
			      uint64_t *odd)
{
	void *data = s->data[op->field];

	if (op->cell != RK_CELL_I32 && op->cell != RK_CELL_U32) {
		((int64_t *)data)[s->row] = v;
		return;
	}
	((int32_t *)data)[s->row] = (int32_t)v;
	*odd |= (uint64_t)(v > (op->cell == RK_CELL_I32 ? INT32_MAX : (int64_t)UINT32_MAX));
}

/*
 * Reads a group of cells that are numbers or skipped. Finds the ends of all cells first, so that no
 * number has to wait for the previous one. Problems in any of them are checked at the end.
 */
static const char *run_of_cells(const struct rk_csv_op *cols, unsigned n, const char *p,
				const char *end, bool last, struct rk_csv_sink *s)
{
	const char *d[RK_CSV_MAX_RUN];
	uint64_t odd = 0;

	if (!delimiters(p, end, n, last, d))
		return NULL;
	for (unsigned i = 0; i < n; p = d[i++] + 1) {
		size_t len = (size_t)(d[i] - p);

		if (s->memory && cols[i].col < RK_CSV_LENS)
			s->memory->lens[cols[i].col] = (uint8_t)(len <= 16 ? len : 0);
		if (cols[i].cell != RK_CELL_SKIP)
			put_number(&cols[i], number_before(p, d[i], &odd), s, &odd);
	}
	return odd ? NULL : d[n - 1];
}

/* As number_before, for numbers that usually begin like the previous one in the column. */
static inline int64_t number_like(const char *p, const char *end, struct rk_csv_high *high,
				  uint64_t *odd)
{
	size_t n = (size_t)(end - p);
	uint64_t text;

	if (n - 9 >= 8)
		return number_before(p, end, odd);
	memcpy(&text, end - 16, 8);
	if (text != high->text) {
		uint64_t bad = 0;

		high->value = digits_before(end - 8, (unsigned)n - 8, &bad) * 100000000;
		high->text = bad ? 0 : text;
		*odd |= bad;
	}
	return (int64_t)(high->value + digits_before(end, 8, odd));
}

/* The same if every cell is as long as in the previous row, as times and counts usually are. */
static inline const char *run_as_before(const struct rk_csv_op *cols, unsigned n, const char *p,
					struct rk_csv_sink *s)
{
	const uint8_t *lens = s->memory->lens + cols->col;
	struct rk_csv_high *highs = s->memory->highs + cols->col;
	uint64_t odd = 0;

	for (unsigned i = 0; i < n; i++) {
		const char *d = p + lens[i];
		int64_t v;

		if (*d != ',')
			return NULL;
		v = number_like(p, d, &highs[i], &odd);
		if (cols[i].cell != RK_CELL_SKIP)
			put_number(&cols[i], v, s, &odd);
		p = d + 1;
	}
	return odd ? NULL : p - 1;
}

static inline const char *cell(const struct rk_csv_op *op, const char *p, const char *end,
			       struct rk_csv_sink *s)
{
	const char *from, *to, *q;
	int64_t v;

	switch ((enum rk_cell)op->cell) {
	case RK_CELL_SKIP:
		return skip_cells(p, end, op->field);
	case RK_CELL_SKIP_TEXT:
		return text_cell(p, end, &from, &to);
	case RK_CELL_I64:
	case RK_CELL_SERIAL:
	case RK_CELL_TIME:
		return number_cell(p, op->field, s, &((int64_t *)s->data[op->field])[s->row]);
	case RK_CELL_I32:
	case RK_CELL_U32:
		p = number_cell(p, op->field, s, &v);
		if (!p || v > (op->cell == RK_CELL_I32 ? INT32_MAX : (int64_t)UINT32_MAX))
			return NULL;
		((int32_t *)s->data[op->field])[s->row] = (int32_t)v;
		return p;
	case RK_CELL_AGENT:
		return agent_cell(p, op->field, s, &((int64_t *)s->data[op->field])[s->row]);
	case RK_CELL_F64:
		return double_cell(p, op->field, s);
	case RK_CELL_STR:
		return string_cell(p, end, op->field, s);
	case RK_CELL_U64:
		break;
	}
	q = hex_cell(p, &((int64_t *)s->data[op->field])[s->row]);
	return q ? q : number_cell(p, op->field, s, &((int64_t *)s->data[op->field])[s->row]);
}

/* After the last cell: the line end, or the end of the text. */
static inline const char *line_end(const char *p, const char *end)
{
	if (p >= end)
		return p == end ? end : NULL;
	if (*p == '\r')
		p++;
	if (p == end)
		return end;
	return p < end && *p == '\n' ? p + 1 : NULL;
}

static inline bool same_end(const struct rk_csv_end *e, const char *p)
{
	size_t n = e->len;

#if defined(__x86_64__)
	/* sixteen bytes at a time; the last sixteen may overlap the previous ones */
	if (n >= 16) {
		for (size_t i = 0; i + 16 < n; i += 16) {
			__m128i a = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
			__m128i b = _mm_loadu_si128((const __m128i *)(const void *)(e->text + i));

			if (_mm_movemask_epi8(_mm_cmpeq_epi8(a, b)) != 0xffff)
				return false;
		}
		return !memcmp(p + n - 16, e->text + n - 16, 16);
	}
#endif
	return n && !memcmp(p, e->text, n);
}

static inline void put_end(const struct rk_csv_put *puts, unsigned n, const int64_t *values,
			   const struct rk_csv_sink *s)
{
	for (unsigned i = 0; i < n; i++) {
		void *data = s->data[puts[i].field];

		if (puts[i].wide)
			((int64_t *)data)[s->row] = values[puts[i].index];
		else
			((int32_t *)data)[s->row] = (int32_t)values[puts[i].index];
	}
}

/* Caches the numbers of [p, next). */
static void keep_end(struct rk_csv_end *e, const struct rk_csv_put *puts, unsigned n, const char *p,
		     const char *next, const struct rk_csv_sink *s)
{
	e->len = (uint8_t)(next - p);
	memcpy(e->text, p, e->len);
	for (unsigned i = 0; i < n; i++) {
		const void *data = s->data[puts[i].field];

		e->values[puts[i].index] = puts[i].wide ? ((const int64_t *)data)[s->row] :
							  ((const int32_t *)data)[s->row];
	}
}

/* Heads begin alike, so the hash uses the 24 bytes before the end of the first head. */
static inline struct rk_csv_end *head_slot(struct rk_csv_memory *m, const char *p)
{
	uint64_t w[3], h;

	memcpy(w, p + m->head_len - 24, 24);
	h = (w[0] ^ w[1] * 0x9e3779b97f4a7c15u ^ w[2] * 0xc2b2ae3d27d4eb4fu) * 0xa0761d6478bd642fu;
	return &m->heads[h >> 40 & (RK_CSV_ENDS - 2)];
}

/* The matching slot of the two at an index; if none matches, NULL and *free is the one to fill. */
static inline struct rk_csv_end *find_end(struct rk_csv_end *e, const char *p,
					  struct rk_csv_end **free)
{
	if (same_end(e, p))
		return e;
	if (same_end(e + 1, p))
		return e + 1;
	*free = e->len ? e + 1 : e;
	return NULL;
}

/*
 * Reads the last columns of a row and its line end; returns the next line. Tails are hashed by
 * their first 32 bytes. For a shorter tail this includes the beginning of the next row, which is
 * usually the same.
 */
static inline const char *tail(const struct rk_csv_plan *plan, const char *p, const char *end,
			       struct rk_csv_sink *s)
{
	unsigned n = plan->tail_cols;
	const struct rk_csv_op *cols = &plan->cols[plan->ncols - n];
	struct rk_csv_end *free = NULL, *e = NULL;
	const char *next;

	if (s->memory) {
		uint64_t w[4], h;

		memcpy(w, p, 32);
		h = (w[0] ^ w[2] * 0x9e3779b97f4a7c15u) * 0xa0761d6478bd642fu;
		h ^= (w[1] ^ w[3] * 0xc2b2ae3d27d4eb4fu) * 0xe7037ed1a0b428dbu;
		e = find_end(&s->memory->tails[h >> 40 & (RK_CSV_ENDS - 2)], p, &free);
	}
	if (e) {
		put_end(plan->tail_puts, plan->ntail_puts, e->values, s);
		return p + e->len;
	}
	next = run_of_cells(cols, n, p, end, true, s);
	if (next)
		next = line_end(next, end);
	if (next && free && next - p <= RK_CSV_END_TEXT && next[-1] == '\n')
		keep_end(free, plan->tail_puts, plan->ntail_puts, p, next, s);
	return next;
}

/* Reads the first columns of a row and the comma after them. */
static const char *new_head(const struct rk_csv_plan *plan, const char *from, const char *end,
			    struct rk_csv_sink *s, struct rk_csv_end *free)
{
	const char *p = from;

	for (unsigned i = 0; i < plan->head_cols; i++, p++) {
		struct rk_csv_op op = plan->cols[i];

		if (op.cell == RK_CELL_SKIP)
			op.field = 1; /* one cell */
		p = cell(&op, p, end, s);
		if (!p || *p != ',')
			return NULL;
	}
	if (!s->memory || s->nnulls || p - from > RK_CSV_END_TEXT)
		return p;
	if (!s->memory->head_len) {
		s->memory->head_len = (size_t)(p - from);
		free = head_slot(s->memory, from);
	}
	if (free)
		keep_end(free, plan->head_puts, plan->nhead_puts, from, p, s);
	return p;
}

/* Returns the next line, or NULL for an unusual row. */
static inline const char *row_by_runs(const struct rk_csv_plan *plan, const char *p,
				      const char *end, struct rk_csv_sink *s)
{
	const struct rk_csv_op *op = plan->ops, *last = op + plan->nops - 1;
	bool tailed = plan->tail_cols != 0;

	if (plan->head_cols) {
		struct rk_csv_end *free = NULL, *e = NULL;

		if (s->memory && s->memory->head_len)
			e = find_end(head_slot(s->memory, p), p, &free);
		if (e) {
			put_end(plan->head_puts, plan->nhead_puts, e->values, s);
			p += e->len;
		} else {
			p = new_head(plan, p, end, s, free);
			if (!p)
				return NULL;
		}
	}
	for (;; op++, p++) {
		const struct rk_csv_op *cols = &plan->cols[op->col];
		const char *q = NULL;

		if (!op->run) {
			q = cell(op, p, end, s);
		} else if (tailed || op < last) {
			if (s->memory && op->col + op->run <= RK_CSV_LENS)
				q = run_as_before(cols, op->run, p, s);
			if (!q)
				q = run_of_cells(cols, op->run, p, end, false, s);
		} else {
			q = run_of_cells(cols, op->run, p, end, true, s);
		}
		if (!q)
			return NULL;
		p = q;
		if (op == last && !tailed)
			return line_end(p, end);
		if (*p != ',')
			return NULL;
		if (op == last)
			return tail(plan, p + 1, end, s);
	}
}

const char *rk_csv_row_fast(const struct rk_csv_plan *plan, const char *p, const char *end,
			    struct rk_csv_sink *s)
{
	const struct rk_csv_op *op = plan->cols, *last = op + plan->ncols - 1;
	const char *next;

	s->nnulls = 0;
	next = row_by_runs(plan, p, end, s);
	if (next || s->failed)
		return next;

	/* cell by cell: for rows with empty or quoted numbers, which the run functions reject */
	s->nnulls = 0;
	for (; op < last; op++) {
		p = cell(op, p, end, s);
		if (!p || *p != ',')
			return NULL;
		p++;
	}
	p = cell(op, p, end, s);
	return p ? line_end(p, end) : NULL;
}
