/*
 * gpu_metrics.c - the table of measurements in amdgpu's sysfs file `gpu_metrics`.
 *
 * Little endian and naturally aligned: u16 size, u8 format revision, u8 content revision, then
 * fields whose offsets depend on the content revision. A field of all ones is not available.
 */
#include "monitor/gpu_metrics.h"

#include <math.h>
#include <string.h>

enum { HEADER = 4, XCC = 8, XCP = 8 };

/* Offsets in bytes; 0: not in this table. Fields have two bytes, energy and clock eight. */
struct layout {
	uint16_t content, size;
	uint16_t edge, hotspot, mem, power, busy, energy, clock;
	uint16_t gfxclk, ngfxclk, uclk;
	uint16_t mean_gfxclk, mean_uclk;
	/* Partitions: how many, and eight u32 loads of each, `stride` bytes apart. */
	uint16_t nxcp, xcp, stride;
};

static const struct layout layouts[] = {
	/* content size | edge hotspot mem | power busy energy clock | gfxclk n uclk means | xcp */
	{ 1, 96, 4, 6, 8, 22, 16, 24, 32, 54, 1, 58, 40, 44, 0, 0, 0 },
	{ 2, 104, 4, 6, 8, 22, 16, 24, 32, 54, 1, 58, 40, 44, 0, 0, 0 },
	{ 3, 120, 4, 6, 8, 22, 16, 24, 32, 54, 1, 58, 40, 44, 0, 0, 0 },
	{ 4, 288, 0, 4, 6, 10, 12, 24, 32, 240, XCC, 280, 0, 0, 0, 0, 0 },
	{ 5, 360, 0, 4, 6, 10, 12, 88, 96, 312, XCC, 352, 0, 0, 0, 0, 0 },
	{ 6, 1664, 0, 4, 6, 10, 12, 16, 24, 264, XCC, 304, 0, 0, 306, 312, 168 },
	/* Revision 6 of some drivers: v1_5 with six counters of throttling inserted. */
	{ 6, 384, 0, 4, 6, 10, 12, 88, 96, 336, XCC, 376, 0, 0, 0, 0, 0 },
	{ 7, 2208, 0, 4, 6, 10, 12, 24, 32, 296, XCC, 336, 0, 0, 338, 344, 232 },
	{ 8, 3872, 0, 4, 6, 10, 12, 24, 32, 296, XCC, 336, 0, 0, 338, 344, 440 },
};

enum { NLAYOUTS = sizeof(layouts) / sizeof(layouts[0]) };

static uint64_t little(const uint8_t *p, unsigned bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | p[bytes];
	return v;
}

/* NAN for a field that is not there or not available. */
static double field(const uint8_t *table, unsigned offset)
{
	uint64_t v = little(table + offset, 2);

	return offset && v != UINT16_MAX ? (double)v : (double)NAN;
}

static bool long_field(const uint8_t *table, unsigned offset, uint64_t *ret)
{
	*ret = little(table + offset, 8);
	return *ret != UINT64_MAX;
}

/* The mean of the values that are available, NAN if none is. */
static double mean(const uint8_t *p, unsigned bytes, unsigned n)
{
	uint64_t none = UINT64_MAX >> (64 - 8 * bytes), sum = 0, v;
	unsigned count = 0;

	for (unsigned i = 0; i < n; i++) {
		v = little(p + i * bytes, bytes);
		if (v == none || v > UINT32_MAX)
			continue;
		sum += v;
		count++;
	}
	return count ? (double)sum / count : (double)NAN;
}

/* The load of the whole GPU: the mean of its partitions, each of which has some of the dies. */
static double mean_load(const uint8_t *table, const struct layout *l)
{
	unsigned n = l->nxcp ? (unsigned)little(table + l->nxcp, 2) : 0, count = 0;
	double sum = 0, one;

	for (unsigned i = 0; n <= XCP && i < n; i++) {
		one = mean(table + l->xcp + i * l->stride, 4, XCC);
		if (!isnan(one)) {
			sum += one;
			count++;
		}
	}
	return count ? sum / count : (double)NAN;
}

static void or_else(double *v, double other)
{
	if (isnan(*v))
		*v = other;
}

static void decode_table(const uint8_t *t, const struct layout *l, struct rk_gpu_metrics *ret)
{
	ret->power_w = field(t, l->power);
	ret->busy_percent = field(t, l->busy);
	or_else(&ret->busy_percent, mean_load(t, l));
	ret->sclk_mhz = mean(t + l->gfxclk, 2, l->ngfxclk);
	or_else(&ret->sclk_mhz, field(t, l->mean_gfxclk));
	ret->mclk_mhz = field(t, l->uclk);
	or_else(&ret->mclk_mhz, field(t, l->mean_uclk));
	ret->edge_c = field(t, l->edge);
	ret->hotspot_c = field(t, l->hotspot);
	ret->mem_c = field(t, l->mem);
	ret->has_energy = long_field(t, l->energy, &ret->energy);
	ret->has_clock = long_field(t, l->clock, &ret->clock_ns);
}

/* ---- v1_9: each value has an id, a type and a unit ---- */

enum { MAX_ATTRIBUTES = 512 };

enum { MHZ = 1, CELSIUS = 2, WATT = 3, NANOSECOND = 4, PERCENT = 10 };

/* The attributes that we use, with the unit that they must have. */
static const struct {
	unsigned id, unit;
	size_t offset; /* of a double in struct rk_gpu_metrics */
} wanted[] = {
	{ 0, CELSIUS, offsetof(struct rk_gpu_metrics, hotspot_c) },
	{ 1, CELSIUS, offsetof(struct rk_gpu_metrics, mem_c) },
	{ 3, WATT, offsetof(struct rk_gpu_metrics, power_w) },
	{ 4, PERCENT, offsetof(struct rk_gpu_metrics, busy_percent) },
	{ 33, MHZ, offsetof(struct rk_gpu_metrics, sclk_mhz) },
	{ 37, MHZ, offsetof(struct rk_gpu_metrics, mclk_mhz) },
};

enum { ID_ENERGY = 7, ID_CLOCK = 8, TYPE_U64 = 6 };

/*
 * i32 count, then the attributes without padding: a u64 and its values. The u64 has the number of
 * values in bits 0 to 9, the id in 10 to 19, the type in 20 to 23 and the unit in 24 to 31. Types 0
 * to 7 are integers of 1, 2, 4 and 8 bytes, even ones unsigned.
 */
static int decode_attributes(const uint8_t *t, size_t size, struct rk_gpu_metrics *ret,
			     struct rk_error *err)
{
	const uint8_t *p = t + HEADER + 4, *end = t + size;
	uint64_t count = size < HEADER + 4 ? UINT64_MAX : little(t + HEADER, 4);

	if (count > MAX_ATTRIBUTES)
		return rk_fail(err, RK_E_FORMAT, "gpu_metrics v1_9 has a bad count");
	for (; count; count--) {
		uint64_t code = end - p >= 8 ? little(p, 8) : UINT64_MAX;
		unsigned n = (unsigned)(code & 0x3ff), id = (unsigned)(code >> 10 & 0x3ff);
		unsigned type = (unsigned)(code >> 20 & 15), unit = (unsigned)(code >> 24 & 0xff);
		unsigned bytes = 1u << type / 2;

		if (type > 7 || (size_t)(end - p - 8) < (size_t)bytes * n)
			return rk_fail(err, RK_E_FORMAT, "gpu_metrics v1_9 ends inside a value");
		p += 8;
		for (size_t i = 0; !(type & 1) && i < sizeof(wanted) / sizeof(wanted[0]); i++) {
			double v = mean(p, bytes, n);

			if (wanted[i].id == id && wanted[i].unit == unit)
				memcpy((char *)ret + wanted[i].offset, &v, sizeof(v));
		}
		if (n == 1 && type == TYPE_U64 && id == ID_ENERGY)
			ret->has_energy = long_field(p, 0, &ret->energy);
		if (n == 1 && type == TYPE_U64 && id == ID_CLOCK && unit == NANOSECOND)
			ret->has_clock = long_field(p, 0, &ret->clock_ns);
		p += (size_t)bytes * n;
	}
	return 0;
}

int rk_gpu_metrics_decode(const void *data, size_t len, struct rk_gpu_metrics *ret,
			  struct rk_error *err)
{
	const double none = (double)NAN;
	struct rk_gpu_metrics m = { .power_w = none,
				    .busy_percent = none,
				    .sclk_mhz = none,
				    .mclk_mhz = none,
				    .edge_c = none,
				    .hotspot_c = none,
				    .mem_c = none };
	const uint8_t *t = data;
	size_t size = len < HEADER ? 0 : (size_t)little(t, 2), i = 0;

	if (size < HEADER || size > len)
		return rk_fail(err, RK_E_FORMAT,
			       "gpu_metrics has %zu bytes, but its header says %zu", len, size);
	m.content = t[3];
	if (t[2] == 1 && t[3] == 9) {
		int rc = decode_attributes(t, size, &m, err);

		if (rc < 0)
			return rc;
		*ret = m;
		return 0;
	}
	while (i < NLAYOUTS && (layouts[i].content != t[3] || layouts[i].size != size))
		i++;
	if (t[2] != 1 || i == NLAYOUTS)
		return rk_fail(err, RK_E_UNSUPPORTED, "unknown gpu_metrics v%u_%u of %zu bytes",
			       (unsigned)t[2], (unsigned)t[3], size);
	decode_table(t, &layouts[i], &m);
	*ret = m;
	return 0;
}
