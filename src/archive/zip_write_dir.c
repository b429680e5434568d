/*
 * zip_write_dir.c - headers of members and the directory of a zip archive.
 *
 * Numbers are little endian. One that does not fit its 32 bits is all ones there, and stands in a
 * Zip64 field (APPNOTE.TXT, 4.5.3). A member never grows by packing, so that its size tells whether
 * it needs one.
 */
#include <string.h>

#include "archive/zip_write_impl.h"

enum {
	LOCAL = 0x04034b50,
	CENTRAL = 0x02014b50,
	END = 0x06054b50,
	END_64 = 0x06064b50,
	LOCATOR_64 = 0x07064b50,
};
enum { VERSION = 20, VERSION_64 = 45, UNIX = 3, UTF8 = 1 << 11, STORED = 0, DEFLATED = 8 };
enum { END_64_REST = 44 }; /* bytes of the record behind its length */
#define MAX_16 UINT64_C(0xffff)
#define MAX_32 UINT64_C(0xffffffff)

/* -- numbers ------------------------------------------------------------------------------ */

static uint8_t *put(uint8_t *to, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		*to++ = (uint8_t)(v >> 8 * i);
	return to;
}

static uint8_t *put32_or_ones(uint8_t *to, uint64_t v)
{
	return put(to, v < MAX_32 ? v : MAX_32, 4);
}

/* -- time --------------------------------------------------------------------------------- */

/* Days since 1970 as a date (UTC): years begin in March, so that a leap day is their last. */
static void date_of(int64_t days, unsigned *year, unsigned *month, unsigned *day)
{
	int64_t since = days + 719468; /* from the first of March of year 0 */
	int64_t era = since / 146097, in_era = since % 146097;
	int64_t y = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
	int64_t in_year = in_era - (365 * y + y / 4 - y / 100);
	int64_t m = (5 * in_year + 2) / 153; /* 0 is March */

	*day = (unsigned)(in_year - (153 * m + 2) / 5 + 1);
	*month = (unsigned)(m < 10 ? m + 3 : m - 9);
	*year = (unsigned)(y + 400 * era + (m >= 10));
}

/* Time in the low 16 bits, in steps of two seconds, and date above: from 1980 to 2107. */
static uint32_t dos_time(int64_t epoch)
{
	const int64_t first = INT64_C(315532800), last = INT64_C(4354819199);
	int64_t t = epoch < first ? first : epoch > last ? last : epoch;
	uint32_t s = (uint32_t)(t % 86400);
	unsigned year, month, day;

	date_of(t / 86400, &year, &month, &day);
	return (year - 1980) << 25 | month << 21 | day << 16 | s / 3600 << 11 | s / 60 % 60 << 5 |
	       s % 60 / 2;
}

/* -- headers ------------------------------------------------------------------------------ */

static unsigned flags_of(const char *name)
{
	for (; *name; name++)
		if ((unsigned char)*name >= 0x80)
			return UTF8;
	return 0;
}

/* What both headers of a member have: from the version needed to the length of the name. */
static uint8_t *common(uint8_t *to, const struct rk_zip_member *m, int64_t epoch, bool big,
		       unsigned version)
{
	to = put(to, version, 2);
	to = put(to, flags_of(m->name), 2);
	to = put(to, m->packed < m->size ? DEFLATED : STORED, 2);
	to = put(to, dos_time(epoch), 4);
	to = put(to, m->crc, 4);
	to = put(to, big ? MAX_32 : m->packed, 4);
	to = put(to, big ? MAX_32 : m->size, 4);
	return put(to, strlen(m->name), 2);
}

static bool is_big(const struct rk_zip_member *m)
{
	return m->size >= MAX_32;
}

size_t rk_zip_local_bytes(const struct rk_zip_member *m)
{
	return RK_ZIP_HEADER + strlen(m->name) + (is_big(m) ? RK_ZIP_HEADER_64 : 0);
}

size_t rk_zip_local_header(const struct rk_zip_member *m, int64_t epoch, uint8_t *to)
{
	bool big = is_big(m);
	size_t name = strlen(m->name);
	uint8_t *at = put(to, LOCAL, 4);

	at = common(at, m, epoch, big, big ? VERSION_64 : VERSION);
	at = put(at, big ? RK_ZIP_HEADER_64 : 0, 2);
	memcpy(at, m->name, name);
	at += name;
	if (big) {
		at = put(at, 1, 2);
		at = put(at, 16, 2);
		at = put(at, m->size, 8);
		at = put(at, m->packed, 8);
	}
	return (size_t)(at - to);
}

void rk_zip_directory_add(struct rk_zip *z, const struct rk_zip_member *m, uint64_t offset)
{
	bool big = is_big(m), far = offset >= MAX_32;
	unsigned version = big || far ? VERSION_64 : VERSION;
	unsigned extra = (big ? 16u : 0u) + (far ? 8u : 0u);
	uint8_t fixed[46], more[28], *at = put(fixed, CENTRAL, 4);

	at = put(at, UNIX << 8 | version, 2);
	at = common(at, m, z->o.epoch, big, version);
	at = put(at, extra ? extra + 4 : 0, 2);
	at = put(at, 0, 2 + 2 + 2); /* no comment, first volume, no attributes of its own */
	at = put(at, (uint64_t)m->mode << 16, 4);
	put32_or_ones(at, offset);
	rk_bytes_put(&z->directory, fixed, sizeof(fixed));
	rk_bytes_puts(&z->directory, m->name);
	if (extra) {
		at = put(put(more, 1, 2), extra, 2);
		at = big ? put(put(at, m->size, 8), m->packed, 8) : at;
		at = far ? put(at, offset, 8) : at;
		rk_bytes_put(&z->directory, more, (size_t)(at - more));
	}
	z->nmembers++;
}

/* -- the end ------------------------------------------------------------------------------ */

static void end_64(struct rk_zip *z, uint64_t at, uint64_t size)
{
	uint8_t record[76], *to = put(record, END_64, 4);

	to = put(to, END_64_REST, 8);
	to = put(to, UNIX << 8 | VERSION_64, 2);
	to = put(to, VERSION_64, 2);
	to = put(to, 0, 4 + 4); /* one volume */
	to = put(put(to, z->nmembers, 8), z->nmembers, 8);
	to = put(put(to, size, 8), at, 8);
	to = put(put(to, LOCATOR_64, 4), 0, 4);
	to = put(to, at + size, 8);
	to = put(to, 1, 4);
	rk_bytes_put(&z->directory, record, (size_t)(to - record));
}

void rk_zip_directory_end(struct rk_zip *z, uint64_t at)
{
	uint64_t size = z->directory.len, n = z->nmembers < MAX_16 ? z->nmembers : MAX_16;
	uint8_t end[22], *to = put(end, END, 4);

	if (n == MAX_16 || size >= MAX_32 || at >= MAX_32)
		end_64(z, at, size);
	to = put(to, 0, 4);
	to = put(put(to, n, 2), n, 2);
	to = put32_or_ones(to, size);
	to = put32_or_ones(to, at);
	put(to, 0, 2);
	rk_bytes_put(&z->directory, end, sizeof(end));
}
