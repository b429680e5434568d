/* sha256.c - sums in parts: any cut, any length, by the machine's instructions and in plain C. */
#include "base/sha256/sha256.h"

#include <stdio.h>
#include <string.h>

#include "tap.h"
#include "world.h"

enum { MANY = 70000, SHORT = 700 };

static uint8_t data[MANY];

static const uint8_t *pattern(void)
{
	for (unsigned i = 0; i < MANY; i++)
		data[i] = (uint8_t)(i * i * 7 + i * 13 + (i >> 8) * 29);
	return data;
}

static const char *hex(const uint8_t sum[RK_SHA256_BYTES])
{
	static char text[2 * RK_SHA256_BYTES + 1];

	for (unsigned i = 0; i < RK_SHA256_BYTES; i++)
		snprintf(text + 2 * i, 3, "%02x", sum[i]);
	return text;
}

/* The sum of the sums of all messages of 0 to SHORT - 1 bytes. */
static void sum_of_sums(uint8_t ret[RK_SHA256_BYTES])
{
	struct rk_sha256 all;
	uint8_t one[RK_SHA256_BYTES];

	rk_sha256_begin(&all);
	for (size_t n = 0; n < SHORT; n++) {
		rk_sha256(data, n, one);
		rk_sha256_add(&all, one, sizeof(one));
	}
	rk_sha256_end(&all, ret);
}

/* What another implementation (Python's hashlib) says of the same bytes. */
static void check_lengths(void)
{
	uint8_t sum[RK_SHA256_BYTES];

	pattern();
	sum_of_sums(sum);
	CHECK_STR(hex(sum), "3960957c439e825963fb7504756c850ac9e1e319a09e705b2e7a4597e6bb4121");
	rk_sha256(data, MANY, sum);
	CHECK_STR(hex(sum), "2496136e4dd3c281e1d852efd351fe7582c577bcba931a0a17cc1e031367966b");
}

static void check_cuts(void)
{
	uint8_t whole[RK_SHA256_BYTES], sum[RK_SHA256_BYTES];
	uint64_t random = 88172645463325252;
	bool same = true;

	pattern();
	rk_sha256(data, 200, whole);
	for (size_t a = 0; a <= 200; a++) {
		for (size_t b = a; b <= 200; b++) {
			struct rk_sha256 s;

			rk_sha256_begin(&s);
			rk_sha256_add(&s, data, a);
			rk_sha256_add(&s, data + a, b - a);
			rk_sha256_add(&s, data + b, 200 - b);
			rk_sha256_end(&s, sum);
			same &= !memcmp(sum, whole, sizeof(sum));
		}
	}
	CHECK(same);
	rk_sha256(data, MANY, whole);
	for (int round = 0; round < 50; round++) {
		struct rk_sha256 s;

		rk_sha256_begin(&s);
		for (size_t at = 0, n; at < MANY; at += n) {
			n = world_random(&random) % 1500;
			n = n < MANY - at ? n : MANY - at;
			rk_sha256_add(&s, data + at, n);
		}
		rk_sha256_end(&s, sum);
		CHECK_MEM(sum, whole, sizeof(sum));
	}
}

TEST(sha256_of_many_lengths_is_what_others_say)
{
	check_lengths();
}

TEST(sha256_of_many_lengths_in_plain_c)
{
	rk_sha256_force_plain(true);
	CHECK_STR(rk_sha256_by(), "plain");
	check_lengths();
	rk_sha256_force_plain(false);
}

TEST(sha256_does_not_care_where_parts_are_cut)
{
	check_cuts();
	rk_sha256_force_plain(true);
	check_cuts();
	rk_sha256_force_plain(false);
}

TEST(sha256_uses_what_the_processor_has)
{
#ifdef __x86_64__
	bool has = __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("sse4.1");
	char line[8192] = "";
	FILE *f = fopen("/proc/cpuinfo", "r");

	while (f && fgets(line, sizeof(line), f) && strncmp(line, "flags", 5) != 0)
		;
	if (f)
		fclose(f);
	has = has && strstr(line, " sha_ni") != NULL;
	CHECK_STR(rk_sha256_by(), has ? "sha-ni" : "plain");
#else
	SKIP("what /proc/cpuinfo says is compared on x86-64 alone");
#endif
}
