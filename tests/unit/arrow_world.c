/* arrow_world.c - a strict reader of Arrow C arrays. */
#include "unit/arrow_world.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "tap.h"

static bool bit(const void *bits, int64_t i)
{
	return ((const uint8_t *)bits)[i / 8] >> i % 8 & 1;
}

static bool has(const struct ArrowArray *a, int64_t i)
{
	return !a->buffers[0] || bit(a->buffers[0], i);
}

static void check_nulls(const struct ArrowArray *a)
{
	int64_t nulls = 0;

	for (int64_t i = 0; i < a->length; i++)
		nulls += !has(a, i);
	CHECK_I64(a->null_count, nulls);
}

static void check_texts(const struct ArrowArray *a)
{
	const int32_t *at = a->buffers[1];
	const char *text = a->buffers[2];

	CHECK_I64(at[0], 0);
	for (int64_t i = 0; i < a->length; i++) {
		size_t len = (size_t)(at[i + 1] - at[i]);

		CHECK(at[i + 1] >= at[i]);
		CHECK(has(a, i) || !len);
		CHECK(rk_utf8_valid(text + at[i], len) == len);
	}
}

static void check_indices(const struct ArrowArray *a)
{
	const int32_t *v = a->buffers[1];

	for (int64_t i = 0; i < a->length; i++) {
		CHECK(v[i] >= 0);
		CHECK(v[i] < a->dictionary->length || (!has(a, i) && !v[i]));
	}
}

static void check_blank_nulls(const struct ArrowArray *a, size_t size)
{
	static const uint8_t zero[8];

	for (int64_t i = 0; i < a->length; i++)
		if (!has(a, i))
			CHECK(!memcmp((const char *)a->buffers[1] + (size_t)i * size, zero, size));
}

static void check_buffers(const struct ArrowArray *a, const char *format)
{
	CHECK_I64(a->n_buffers, format[0] == '+' ? 1 : format[0] == 'u' ? 3 : 2);
	for (int64_t i = 0; i < a->n_buffers; i++) {
		CHECK((uintptr_t)a->buffers[i] % 64 == 0);
		CHECK(a->buffers[i] || !i);
	}
}

void arrow_check(const struct ArrowSchema *s, const struct ArrowArray *a)
{
	CHECK(s->release && a->release);
	CHECK_I64(a->offset, 0);
	CHECK_I64(a->n_children, s->n_children);
	CHECK((s->dictionary != NULL) == (a->dictionary != NULL));
	check_buffers(a, s->format);
	check_nulls(a);
	if (s->dictionary) {
		CHECK_STR(s->format, "i");
		CHECK_STR(s->dictionary->format, "u");
		arrow_check(s->dictionary, a->dictionary);
		check_indices(a);
	} else if (!strcmp(s->format, "u")) {
		check_texts(a);
	}
	if (!strcmp(s->format, "l") || !strcmp(s->format, "i") || !strcmp(s->format, "g"))
		check_blank_nulls(a, !strcmp(s->format, "i") ? 4 : 8);
	for (int64_t i = 0; i < a->n_children; i++) {
		CHECK_I64(a->children[i]->length, a->length);
		CHECK_I64(s->children[i]->flags, ARROW_FLAG_NULLABLE);
		arrow_check(s->children[i], a->children[i]);
	}
}

static void put_text(struct rk_bytes *text, const struct ArrowArray *a, int64_t i)
{
	const int32_t *at = a->buffers[1];

	rk_bytes_printf(text, "%.*s", at[i + 1] - at[i], (const char *)a->buffers[2] + at[i]);
}

static void put_value(struct rk_bytes *text, const struct ArrowSchema *s,
		      const struct ArrowArray *a, int64_t i)
{
	const void *v = a->buffers[1];

	if (s->dictionary)
		put_text(text, a->dictionary, ((const int32_t *)v)[i]);
	else if (!strcmp(s->format, "u"))
		put_text(text, a, i);
	else if (!strcmp(s->format, "l"))
		rk_bytes_printf(text, "%" PRId64, ((const int64_t *)v)[i]);
	else if (!strcmp(s->format, "i"))
		rk_bytes_printf(text, "%" PRId32, ((const int32_t *)v)[i]);
	else if (!strcmp(s->format, "g"))
		rk_bytes_printf(text, "%.17g", ((const double *)v)[i]);
	else
		rk_bytes_puts(text, bit(v, i) ? "true" : "false");
}

void arrow_put(struct rk_bytes *text, const struct ArrowSchema *s, const struct ArrowArray *a)
{
	for (int64_t row = 0; row < a->length; row++) {
		const char *between = "";

		for (int64_t i = 0; i < a->n_children; i++) {
			if (!has(a->children[i], row))
				continue;
			rk_bytes_printf(text, "%s%s=", between, s->children[i]->name);
			put_value(text, s->children[i], a->children[i], row);
			between = "|";
		}
		rk_bytes_puts(text, "\n");
	}
}

static int64_t drain(struct ArrowArrayStream *stream, const struct ArrowSchema *s,
		     struct rk_bytes *text, size_t *arrays)
{
	struct ArrowArray a;
	int64_t rows = 0;
	int rc;

	for (; (rc = stream->get_next(stream, &a)) == 0 && a.release; ++*arrays) {
		CHECK(!stream->get_last_error(stream));
		arrow_check(s, &a);
		if (text)
			arrow_put(text, s, &a);
		rows += a.length;
		a.release(&a);
		CHECK(!a.release);
	}
	if (rc) {
		CHECK(stream->get_last_error(stream));
		CHECK_I64(stream->get_next(stream, &a), rc);
		return -rc;
	}
	CHECK(stream->get_next(stream, &a) == 0 && !a.release);
	return rows;
}

int64_t arrow_drain(struct ArrowArrayStream *stream, struct rk_bytes *text, size_t *ret_arrays)
{
	struct ArrowSchema s = { 0 };
	size_t arrays = 0;
	int64_t rows;
	int rc = stream->get_schema(stream, &s);

	if (rc) {
		stream->release(stream);
		return -rc;
	}
	CHECK_STR(s.format, "+s");
	rows = drain(stream, &s, text, &arrays);
	s.release(&s);
	CHECK(!s.release);
	stream->release(stream);
	CHECK(!stream->release);
	if (ret_arrays)
		*ret_arrays = arrays;
	return rows;
}
