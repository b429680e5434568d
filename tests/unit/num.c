/* num.c - numbers from text and back, exactly. */
#include "base/num.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tap.h"
#include "world.h"

static void i64_is(const char *text, enum rk_num kind, int64_t want)
{
	int64_t v = 4242;

	if (!CHECK_I64(rk_num_i64(text, strlen(text), &v), kind) || !CHECK_I64(v, want))
		printf("# %s\n", text);
}

TEST(integers_are_exact_to_the_last_digit)
{
	i64_is("0", RK_NUM_OK, 0);
	i64_is("-0", RK_NUM_OK, 0);
	i64_is("+1", RK_NUM_OK, 1);
	i64_is("9007199254740993", RK_NUM_OK, 9007199254740993);
	i64_is("9223372036854775807", RK_NUM_OK, INT64_MAX);
	i64_is("-9223372036854775808", RK_NUM_OK, INT64_MIN);
	i64_is("9223372036854775807.000", RK_NUM_OK, INT64_MAX);
	i64_is("9223372036854775808", RK_NUM_RANGE, 4242);
	i64_is("-9223372036854775809", RK_NUM_RANGE, 4242);
	i64_is("18446744073709551616", RK_NUM_RANGE, 4242);
	i64_is("5.", RK_NUM_OK, 5);
	i64_is("5.25", RK_NUM_FRACTION, 5);
	i64_is("-5.25", RK_NUM_FRACTION, -5);
	i64_is("8.1097E+14", RK_NUM_SCIENCE, 810970000000000);
	i64_is("1e99", RK_NUM_RANGE, 4242);
	i64_is("", RK_NUM_EMPTY, 4242);
	for (const char *const *bad =
		     (const char *const[]){ "-", "+", ".5", "x", "1x", "1 ", " 1", "--1", "1e",
					    "1e+", "1.2.3", "0x10", "1,5", "nan", NULL };
	     *bad; bad++)
		i64_is(*bad, RK_NUM_BAD, 4242);
}

TEST(unsigned_numbers_may_be_hexadecimal)
{
	uint64_t v = 0;

	CHECK_I64(rk_num_u64("18446744073709551615", 20, &v), RK_NUM_OK);
	CHECK_U64(v, UINT64_MAX);
	CHECK_I64(rk_num_u64("18446744073709551616", 20, &v), RK_NUM_RANGE);
	CHECK_I64(rk_num_u64("0xFFFFffffFFFFffff", 18, &v), RK_NUM_OK);
	CHECK_U64(v, UINT64_MAX);
	CHECK_I64(rk_num_u64("0X00000000000000000000000000000001f", 35, &v), RK_NUM_OK);
	CHECK_U64(v, 31);
	CHECK_I64(rk_num_u64("0x10000000000000000", 19, &v), RK_NUM_RANGE);
	CHECK_I64(rk_num_u64("0x", 2, &v), RK_NUM_BAD);
	CHECK_I64(rk_num_u64("0xg", 3, &v), RK_NUM_BAD);
	CHECK_I64(rk_num_u64("-1", 2, &v), RK_NUM_BAD);
	CHECK_I64(rk_num_u64("", 0, &v), RK_NUM_EMPTY);
	/* never past the end: the text goes on */
	CHECK_I64(rk_num_u64("123456", 3, &v), RK_NUM_OK);
	CHECK_U64(v, 123);
}

TEST(doubles_are_decimal_and_finite)
{
	static const struct {
		const char *text;
		enum rk_num kind;
		double value;
	} all[] = {
		{ "1.5", RK_NUM_OK, 1.5 },     { "-0.25e2", RK_NUM_OK, -25 },
		{ ".5", RK_NUM_OK, 0.5 },      { "0.00000000e+00", RK_NUM_OK, 0 },
		{ "1e308", RK_NUM_OK, 1e308 }, { "1e309", RK_NUM_RANGE, 7 },
		{ "1e-400", RK_NUM_OK, 0 },    { "nan", RK_NUM_BAD, 7 },
		{ "inf", RK_NUM_BAD, 7 },      { "0x1p3", RK_NUM_BAD, 7 },
		{ "1,5", RK_NUM_BAD, 7 },      { "", RK_NUM_EMPTY, 7 },
		{ "e", RK_NUM_BAD, 7 },        { "1e", RK_NUM_BAD, 7 },
		{ "1 ", RK_NUM_BAD, 7 },       { "+-1", RK_NUM_BAD, 7 },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		double v = 7;

		if (!CHECK_I64(rk_num_f64(all[i].text, strlen(all[i].text), &v), all[i].kind) ||
		    !CHECK(v == all[i].value))
			printf("# %s\n", all[i].text);
	}
}

TEST(integers_are_written_as_printf_does)
{
	uint64_t seed = 3;

	for (int i = 0; i < 20000; i++) {
		int64_t v = (int64_t)(world_random(&seed) >> world_random(&seed) % 64);
		char want[32], got[32] = { 0 };

		v = i == 0 ? INT64_MIN : i == 1 ? INT64_MAX : i % 2 ? -v : v;
		snprintf(want, sizeof(want), "%" PRId64, v);
		got[rk_num_put_i64(got, v)] = '\0';
		if (!CHECK_STR(got, want))
			break;
	}
}

TEST(doubles_are_written_so_that_they_read_back)
{
	static const double some[] = { 0,     1,      -1, 0.1, 1e23, 5e-324, 1.7976931348623157e308,
				       16384, 1.0 / 3 };
	uint64_t seed = 3;

	for (int i = 0; i < 20000; i++) {
		char text[64] = { 0 };
		double v, back = 0;
		uint64_t bits = world_random(&seed);

		memcpy(&v, &bits, 8);
		if (i < 9)
			v = some[i];
		if (!isfinite(v))
			continue;
		CHECK(rk_num_put_f64(text, v) < 32);
		if (!CHECK_I64(rk_num_f64(text, strlen(text), &back), RK_NUM_OK) ||
		    !CHECK(back == v))
			break;
	}
}
