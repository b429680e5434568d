/* gpu_metrics.c (tests) - tables of amdgpu, version by version, and damaged ones. */
#include "monitor/gpu_metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

static uint8_t table[RK_GPU_METRICS_BYTES];

static void put(size_t at, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		table[at + i] = (uint8_t)(v >> 8 * i);
}

/* A table in which nothing is available. */
static void start(unsigned size, unsigned format, unsigned content)
{
	memset(table, 0xff, sizeof(table));
	put(0, size, 2);
	put(2, format, 1);
	put(3, content, 1);
}

static int decode(size_t len, struct rk_gpu_metrics *m)
{
	struct rk_error err = { 0 };
	uint8_t *copy = malloc(len + 1);
	int rc;

	if (!CHECK(copy != NULL))
		return RK_E_NOMEM;
	memcpy(copy, table, len);
	rc = rk_gpu_metrics_decode(copy, len, m, &err);
	CHECK_I64(err.code, rc);
	CHECK((rc < 0) == (err.message[0] != '\0'));
	free(copy);
	return rc;
}

/* Where the fields stand, written down from the driver's structures and not from our table. */
static const struct {
	const char *name;
	unsigned content, size, hotspot, power, busy, energy, clock, gfxclk, uclk;
} versions[] = {
	{ "v1_1", 1, 96, 6, 22, 16, 24, 32, 54, 58 },
	{ "v1_2", 2, 104, 6, 22, 16, 24, 32, 54, 58 },
	{ "v1_3", 3, 120, 6, 22, 16, 24, 32, 54, 58 },
	{ "v1_4", 4, 288, 4, 10, 12, 24, 32, 240, 280 },
	{ "v1_5", 5, 360, 4, 10, 12, 88, 96, 312, 352 },
	{ "v1_6", 6, 1664, 4, 10, 12, 16, 24, 264, 304 },
	{ "v1_6 without partitions", 6, 384, 4, 10, 12, 88, 96, 336, 376 },
	{ "v1_7", 7, 2208, 4, 10, 12, 24, 32, 296, 336 },
	{ "v1_8", 8, 3872, 4, 10, 12, 24, 32, 296, 336 },
};

enum { NVERSIONS = sizeof(versions) / sizeof(versions[0]) };

TEST(every_version_of_gpu_metrics_has_its_fields_where_the_driver_puts_them)
{
	for (unsigned i = 0; i < NVERSIONS; i++) {
		struct rk_gpu_metrics m = { 0 };

		start(versions[i].size, 1, versions[i].content);
		put(versions[i].hotspot, 61, 2);
		put(versions[i].power, 551, 2);
		put(versions[i].busy, 97, 2);
		put(versions[i].energy, 0x123456789abc, 8);
		put(versions[i].clock, 0xfedcba987654321, 8);
		put(versions[i].gfxclk, 2101, 2);
		put(versions[i].uclk, 1300, 2);
		CHECK_I64(decode(versions[i].size, &m), 0);
		CHECK_U64(m.content, versions[i].content);
		CHECK(m.hotspot_c == 61);
		CHECK(m.power_w == 551);
		CHECK(m.busy_percent == 97);
		CHECK(m.has_energy && m.has_clock);
		CHECK_U64(m.energy, 0x123456789abc);
		CHECK_U64(m.clock_ns, 0xfedcba987654321);
		CHECK(m.sclk_mhz == 2101);
		CHECK(m.mclk_mhz == 1300);
		CHECK(isnan(m.edge_c));
		CHECK(isnan(m.mem_c));
	}
}

TEST(a_field_of_all_ones_in_gpu_metrics_is_not_available)
{
	for (unsigned i = 0; i < NVERSIONS; i++) {
		struct rk_gpu_metrics m = { 0 };

		start(versions[i].size, 1, versions[i].content);
		CHECK_I64(decode(versions[i].size, &m), 0);
		CHECK(isnan(m.power_w) && isnan(m.busy_percent) && isnan(m.sclk_mhz));
		CHECK(isnan(m.mclk_mhz) && isnan(m.edge_c) && isnan(m.hotspot_c) && isnan(m.mem_c));
		CHECK(!m.has_energy && !m.has_clock);
	}
}

TEST(clocks_of_several_dies_give_their_mean)
{
	struct rk_gpu_metrics m = { 0 };

	start(288, 1, 4);
	put(240, 2100, 2);
	put(244, 2000, 2);
	CHECK_I64(decode(288, &m), 0);
	CHECK(m.sclk_mhz == 2050);
}

TEST(a_mean_clock_replaces_one_that_is_not_available)
{
	struct rk_gpu_metrics m = { 0 };

	start(120, 1, 3);
	put(40, 1700, 2);
	put(44, 1600, 2);
	put(4, 50, 2);
	CHECK_I64(decode(120, &m), 0);
	CHECK(m.sclk_mhz == 1700);
	CHECK(m.mclk_mhz == 1600);
	CHECK(m.edge_c == 50);
}

TEST(the_load_of_partitions_replaces_that_of_the_package)
{
	struct rk_gpu_metrics m = { 0 };

	start(2208, 1, 7);
	put(338, 2, 2);
	put(344, 100, 4);
	put(348, 50, 4);
	put(344 + 232, 25, 4);
	CHECK_I64(decode(2208, &m), 0);
	CHECK(m.busy_percent == 50); /* of 75 and 25 */
	put(338, 9, 2);              /* more than there is room for */
	CHECK_I64(decode(2208, &m), 0);
	CHECK(isnan(m.busy_percent));
	put(338, 2, 2);
	put(12, 7, 2);
	CHECK_I64(decode(2208, &m), 0);
	CHECK(m.busy_percent == 7);
}

TEST(gpu_metrics_of_other_revisions_or_sizes_are_left_to_hwmon)
{
	static const struct {
		unsigned size, format, content;
	} others[] = {
		{ 80, 1, 0 },   { 120, 2, 1 },  { 152, 2, 4 },  { 264, 3, 0 },
		{ 120, 1, 10 }, { 104, 1, 3 },  { 288, 1, 3 },  { 120, 0, 3 },
		{ 383, 1, 6 },  { 1656, 1, 6 }, { 3360, 1, 7 }, { 3872, 1, 7 },
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct rk_gpu_metrics m = { .content = 77 };

		start(others[i].size, others[i].format, others[i].content);
		CHECK_I64(decode(others[i].size, &m), RK_E_UNSUPPORTED);
		CHECK_U64(m.content, 77);
	}
}

TEST(gpu_metrics_that_are_cut_are_refused)
{
	for (unsigned i = 0; i < NVERSIONS; i++) {
		struct rk_gpu_metrics m = { .content = 77 };

		start(versions[i].size, 1, versions[i].content);
		for (size_t len = 0; len < versions[i].size; len += 1 + len / 8)
			CHECK_I64(decode(len, &m), RK_E_FORMAT);
		CHECK_I64(decode(versions[i].size - 1, &m), RK_E_FORMAT);
		CHECK_I64(decode(versions[i].size + 1, &m), 0);
		CHECK_U64(m.content, versions[i].content);
	}
}

/* ---- v1_9 ---- */

/* An attribute at `at`; the place behind it. */
static size_t attribute(size_t at, unsigned unit, unsigned type, unsigned id, unsigned n,
			uint64_t value)
{
	unsigned bytes = 1u << type / 2;

	put(at, (uint64_t)unit << 24 | type << 20 | id << 10 | n, 8);
	for (unsigned i = 0; i < n; i++)
		put(at + 8 + i * bytes, value, bytes);
	return at + 8 + (size_t)n * bytes;
}

enum { U8 = 0, U16 = 2, S16 = 3, U32 = 4, U64 = 6 };

static size_t self_describing(void)
{
	size_t at = 8;

	start(0, 1, 9);
	put(4, 8, 4);
	at = attribute(at, 2, U16, 0, 1, 61);
	at = attribute(at, 0, U8, 999, 3, 1); /* of a later driver */
	at = attribute(at, 3, U32, 3, 1, 551);
	at = attribute(at, 10, U16, 4, 1, 97);
	at = attribute(at, 0, U64, 7, 1, 123456789);
	at = attribute(at, 4, U64, 8, 1, 987654321);
	at = attribute(at, 1, U16, 33, 8, 2100);
	at = attribute(at, 1, U16, 37, 1, 1300);
	put(0, at, 2);
	return at;
}

TEST(gpu_metrics_that_describe_themselves_are_read_by_id_and_unit)
{
	struct rk_gpu_metrics m = { 0 };
	size_t len = self_describing();

	CHECK_I64(decode(len, &m), 0);
	CHECK_U64(m.content, 9);
	CHECK(m.hotspot_c == 61);
	CHECK(m.power_w == 551);
	CHECK(m.busy_percent == 97);
	CHECK(m.sclk_mhz == 2100);
	CHECK(m.mclk_mhz == 1300);
	CHECK(isnan(m.edge_c) && isnan(m.mem_c));
	CHECK(m.has_energy && m.has_clock);
	CHECK_U64(m.energy, 123456789);
	CHECK_U64(m.clock_ns, 987654321);
}

TEST(values_of_another_unit_or_sign_than_expected_are_not_taken)
{
	struct rk_gpu_metrics m = { 0 };
	size_t at = 8;

	start(0, 1, 9);
	put(4, 4, 4);
	at = attribute(at, 1, U16, 3, 1, 551);
	at = attribute(at, 2, S16, 0, 1, 61);
	at = attribute(at, 5, U64, 8, 1, 987654321);
	at = attribute(at, 0, U64, 7, 2, 5);
	put(0, at, 2);
	CHECK_I64(decode(at, &m), 0);
	CHECK(isnan(m.power_w) && isnan(m.hotspot_c));
	CHECK(!m.has_clock && !m.has_energy);
}

TEST(gpu_metrics_that_describe_themselves_wrongly_are_refused)
{
	struct rk_gpu_metrics m = { .content = 77 };
	size_t len = self_describing();

	for (size_t size = 4; size < len; size++) {
		put(0, size, 2);
		CHECK_I64(decode(len, &m), RK_E_FORMAT);
	}
	put(0, len, 2);
	put(4, 0xffffffff, 4);
	CHECK_I64(decode(len, &m), RK_E_FORMAT);
	put(4, 9, 4);
	CHECK_I64(decode(len, &m), RK_E_FORMAT);
	put(4, 8, 4);
	put(8, (uint64_t)9 << 20 | 1, 8); /* no such type */
	CHECK_I64(decode(len, &m), RK_E_FORMAT);
	CHECK_U64(m.content, 77);
}
