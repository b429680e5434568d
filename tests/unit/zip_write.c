/* zip_write.c - archives byte by byte, the same with any number of threads, and every failure. */
#include "archive/zip_write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "archive/deflate_pack.h"
#include "base/alloc.h"
#include "io/file.h"
#include "tap.h"
#include "world.h"

enum { MB = 1 << 20, MOST = 4 * MB };

/* -- content ------------------------------------------------------------------------------ */

static uint8_t noise[MOST], text[MOST];

static void make_content(void)
{
	uint64_t random = 42;

	if (text[0])
		return;
	for (size_t i = 0; i < MOST; i++) {
		uint64_t r = world_random(&random);

		noise[i] = (uint8_t)(r >> 24);
		text[i] = i > 32 && r % 16 ? text[i - 1 - r / 16 % 32] : (uint8_t)(r >> 24 | 1);
	}
}

static struct rk_zip_member member(const char *name, const void *data, uint64_t size)
{
	return (struct rk_zip_member){
		.name = name, .mode = 0100644, .size = size, .read = rk_zip_read_memory, .arg = data
	};
}

/* -- writing ------------------------------------------------------------------------------ */

struct written {
	uint8_t *data;
	size_t len;
};

static int write_to(struct rk_output *out, unsigned threads, const struct rk_zip_options *o,
		    struct rk_zip_member *m, size_t n, struct rk_error *err)
{
	struct rk_pool *pool = NULL;
	struct rk_zip *z = NULL;
	int rc = rk_pool_new(threads, &pool, err);

	if (rc == 0)
		rc = rk_zip_new(out, pool, o, &z, err);
	if (rc == 0)
		rc = rk_zip_add(z, m, n, err);
	if (rc == 0)
		rc = rk_zip_finish(z, err);
	rk_zip_free(z);
	rk_pool_free(pool);
	return rc;
}

static int write_zip(unsigned threads, const struct rk_zip_options *o, struct rk_zip_member *m,
		     size_t n, struct written *ret, struct rk_error *err)
{
	struct rk_spill *s = NULL;
	struct rk_output *out = NULL;
	int rc = rk_spill_new(NULL, &s, err);

	if (rc == 0)
		rc = rk_output_open_spill(s, &out, err);
	if (rc == 0)
		rc = write_to(out, threads, o, m, n, err);
	if (rc == 0 && ret) {
		ret->len = (size_t)rk_spill_size(s);
		ret->data = malloc(ret->len);
		CHECK_I64(rk_spill_read(s, 0, ret->data, ret->len, NULL), 0);
	}
	rk_output_abort(out);
	rk_spill_free(s);
	return rc;
}

/* -- reading ------------------------------------------------------------------------------ */

static uint64_t number(const uint8_t *p, unsigned n)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < n; i++)
		v |= (uint64_t)p[i] << 8 * i;
	return v;
}

/* Whether `packed` bytes at p are those of the member. */
static bool holds(const uint8_t *p, unsigned method, const struct rk_zip_member *m)
{
	static uint8_t back[MOST + 1];
	z_stream z = { 0 };
	bool ok;

	if (method == 0)
		return m->packed == m->size && !memcmp(p, m->arg, (size_t)m->size);
	inflateInit2(&z, -15);
	z.next_in = (z_const Bytef *)p, z.avail_in = (uInt)m->packed;
	z.next_out = back, z.avail_out = sizeof(back);
	ok = inflate(&z, Z_FINISH) == Z_STREAM_END && !z.avail_in && z.total_out == m->size;
	inflateEnd(&z);
	return ok && !memcmp(back, m->arg, (size_t)m->size);
}

/* The entry of the directory at p, and its member; the length of the entry. */
static size_t check_entry(const struct written *w, const uint8_t *p, const struct rk_zip_member *m)
{
	size_t name = strlen(m->name);
	uint64_t at = number(p + 42, 4);
	const uint8_t *local = w->data + at;

	CHECK_U64(number(p, 4), 0x02014b50);
	CHECK_U64(number(p + 4, 2), 3 << 8 | 20);
	CHECK_U64(number(p + 6, 2), 20);
	CHECK_U64(number(p + 16, 4), crc32_z(0, m->arg ? m->arg : noise, (size_t)m->size));
	CHECK_U64(number(p + 16, 4), m->crc);
	CHECK_U64(number(p + 20, 4), m->packed);
	CHECK_U64(number(p + 24, 4), m->size);
	CHECK_U64(number(p + 28, 2), name);
	CHECK_U64(number(p + 30, 4), 0);
	CHECK_U64(number(p + 38, 4), m->mode << 16);
	CHECK_MEM(p + 46, m->name, name);
	/* the two headers say the same */
	CHECK_U64(number(local, 4), 0x04034b50);
	CHECK_MEM(local + 4, p + 6, 24);
	CHECK_U64(number(local + 28, 2), 0);
	CHECK_MEM(local + 30, m->name, name);
	CHECK_U64(number(p + 10, 2), m->packed < m->size ? 8 : 0);
	CHECK(holds(local + 30 + name, (unsigned)number(p + 10, 2), m));
	return 46 + name;
}

static void check_archive(const struct written *w, const struct rk_zip_member *m, size_t n)
{
	const uint8_t *end = w->data + w->len - 22;
	uint64_t at = number(end + 16, 4), begin = at;
	uint8_t sum[RK_SHA256_BYTES];

	CHECK_U64(number(end, 4), 0x06054b50);
	CHECK_U64(number(end + 8, 2), n);
	CHECK_U64(number(end + 10, 2), n);
	for (size_t i = 0; i < n; i++) {
		at += check_entry(w, w->data + at, &m[i]);
		rk_sha256(m[i].arg, (size_t)m[i].size, sum);
		CHECK_MEM(m[i].sha256, sum, sizeof(sum));
	}
	CHECK_U64(at - begin, number(end + 12, 4));
	CHECK_U64(at, w->len - 22);
}

/* -- tests -------------------------------------------------------------------------------- */

TEST(a_small_archive_byte_by_byte)
{
	/* 2020-02-29 23:59:58, and a name that is not ASCII */
	static const uint8_t want[] =
		"PK\3\4\24\0\0\10\0\0\x7d\xbf\x5d\x50\x84\x9f\x3f\xc4\2\0\0\0\2\0\0\0\3\0\0\0\xc3\xa4!hi"
		"PK\1\2\24\3\24\0\0\10\0\0\x7d\xbf\x5d\x50\x84\x9f\x3f\xc4\2\0\0\0\2\0\0\0\3\0\0\0\0\0\0\0\0\0"
		"\0\0\xed\x81\0\0\0\0\xc3\xa4!"
		"PK\5\6\0\0\0\0\1\0\1\0\x31\0\0\0\x23\0\0\0\0\0";
	struct rk_zip_options o = { .level = 6, .epoch = 1583020798 };
	struct rk_zip_member m = member("\xc3\xa4!", "hi", 2);
	struct written w = { 0 };
	uint32_t crc = rk_crc32("hi", 2);
	uint8_t expected[sizeof(want) - 1];

	m.mode = 0100755;
	memcpy(expected, want, sizeof(expected));
	for (unsigned i = 0; i < 4; i++)
		expected[14 + i] = expected[35 + 16 + i] = (uint8_t)(crc >> 8 * i);
	CHECK_I64(write_zip(1, &o, &m, 1, &w, NULL), 0);
	CHECK_U64(w.len, sizeof(expected));
	CHECK_MEM(w.data, expected, w.len < sizeof(expected) ? w.len : sizeof(expected));
	free(w.data);
}

static uint64_t time_of(int64_t epoch)
{
	struct rk_zip_options o = { .epoch = epoch };
	struct rk_zip_member m = member("a", "", 0);
	struct written w = { 0 };
	uint64_t t;

	CHECK_I64(write_zip(1, &o, &m, 1, &w, NULL), 0);
	t = number(w.data + 10, 4);
	free(w.data);
	return t;
}

#define DOS(y, mo, d, h, mi, s) \
	((((y)-1980u) << 9 | (mo) << 5 | (d)) << 16 | ((h) << 11 | (mi) << 5 | (s) / 2))

TEST(times_of_members_are_utc_from_1980_to_2107)
{
	CHECK_U64(time_of(0), DOS(1980, 1, 1, 0, 0, 0));
	CHECK_U64(time_of(-1), DOS(1980, 1, 1, 0, 0, 0));
	CHECK_U64(time_of(315532800), DOS(1980, 1, 1, 0, 0, 0));
	CHECK_U64(time_of(315532802), DOS(1980, 1, 1, 0, 0, 2));
	CHECK_U64(time_of(951782399), DOS(2000, 2, 28, 23, 59, 59));
	CHECK_U64(time_of(951782400), DOS(2000, 2, 29, 0, 0, 0));
	CHECK_U64(time_of(1577836799), DOS(2019, 12, 31, 23, 59, 59));
	CHECK_U64(time_of(1709251199), DOS(2024, 2, 29, 23, 59, 59));
	CHECK_U64(time_of(4107542400), DOS(2100, 3, 1, 0, 0, 0));
	CHECK_U64(time_of(INT64_MAX), DOS(2107, 12, 31, 23, 59, 59));
}

/* Every kind of member: small ones in groups, alone, in pieces, with and without packing. */
static size_t every_kind(struct rk_zip_member *m)
{
	static const uint64_t sizes[] = { 0,  1,      2,     100,        256 << 10, 300000, MB - 1,
					  MB, MB + 1, 40000, 2 * MB + 5, 0,         77 };
	static char names[64][24];
	size_t n = 0;

	make_content();
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		for (unsigned kind = 0; kind < 3; kind++, n++) {
			snprintf(names[n], sizeof(names[n]), "d/%zu-%s", i,
				 kind == 0 ? "text" :
				 kind == 1 ? "noise" :
					     "stored");
			m[n] = member(names[n], kind == 1 ? noise : text, sizes[i]);
			m[n].stored = kind == 2;
		}
	}
	return n;
}

static void check_every_kind(int level)
{
	struct rk_zip_options o = { .level = level };
	struct rk_zip_member m[64];
	struct written first = { 0 }, other = { 0 };
	size_t n = every_kind(m);

	CHECK_I64(write_zip(1, &o, m, n, &first, NULL), 0);
	check_archive(&first, m, n);
	for (unsigned threads = 2; threads <= 7; threads += 5) {
		CHECK_I64(write_zip(threads, &o, m, n, &other, NULL), 0);
		CHECK(other.len == first.len && !memcmp(other.data, first.data, first.len));
		free(other.data);
	}
	free(first.data);
}

TEST(an_archive_is_the_same_with_any_number_of_threads)
{
	check_every_kind(1);
	check_every_kind(5);
	check_every_kind(0);
}

TEST(an_archive_packed_by_zlib_is_right_too)
{
	rk_deflater_force_zlib(true);
	check_every_kind(2);
	rk_deflater_force_zlib(false);
}

TEST(what_does_not_shrink_is_stored)
{
	struct rk_zip_options o = { .level = 6 };
	struct rk_zip_member m[3];
	struct written w = { 0 };

	make_content();
	m[0] = member("big", noise, 3 * MB);
	m[1] = member("small", noise + 5, 1000);
	m[2] = member("text", text, 3 * MB);
	CHECK_I64(write_zip(2, &o, m, 3, &w, NULL), 0);
	check_archive(&w, m, 3);
	CHECK_U64(m[0].packed, 3 * MB);
	CHECK_U64(m[1].packed, 1000);
	CHECK(m[2].packed < 2 * MB);
	CHECK_U64(w.len,
		  3 * (30 + 46) + 2 * (3 + 5 + 4) + m[0].packed + m[1].packed + m[2].packed + 22);
	free(w.data);
}

TEST(members_may_be_added_in_parts)
{
	struct rk_zip_options o = { .level = 1 };
	struct rk_zip_member m[64];
	struct rk_spill *s = NULL;
	struct rk_output *out = NULL;
	struct rk_pool *pool = NULL;
	struct rk_zip *z = NULL;
	struct written w;
	size_t n = every_kind(m), k;

	CHECK(rk_spill_new(NULL, &s, NULL) == 0 && rk_output_open_spill(s, &out, NULL) == 0);
	CHECK(rk_pool_new(2, &pool, NULL) == 0 && rk_zip_new(out, pool, &o, &z, NULL) == 0);
	CHECK_I64(rk_zip_add(z, m, 0, NULL), 0);
	for (size_t i = 0; i < n; i += k) {
		k = i % 3 + 1 < n - i ? i % 3 + 1 : n - i;
		CHECK_I64(rk_zip_add(z, m + i, k, NULL), 0);
	}
	CHECK_I64(rk_zip_finish(z, NULL), 0);
	rk_zip_free(z);
	rk_pool_free(pool);
	w.len = (size_t)rk_spill_size(s);
	w.data = malloc(w.len);
	CHECK_I64(rk_spill_read(s, 0, w.data, w.len, NULL), 0);
	check_archive(&w, m, n);
	free(w.data);
	rk_output_abort(out);
	rk_spill_free(s);
}

TEST(an_archive_of_nothing_is_an_end)
{
	struct rk_zip_options o = { .level = 6 };
	struct written w = { 0 };

	CHECK_I64(write_zip(2, &o, NULL, 0, &w, NULL), 0);
	CHECK_U64(w.len, 22);
	CHECK_MEM(w.data, "PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 22);
	free(w.data);
}

/* Numbers of members around 65535, above which the end has 64-bit numbers. */
static void check_many(size_t n)
{
	struct rk_zip_options o = { .level = 6 };
	struct rk_zip_member *m = calloc(n, sizeof(*m));
	struct written w = { 0 };
	const uint8_t *end;
	bool big = n >= 65535;

	for (size_t i = 0; i < n; i++)
		m[i] = member("x", "", 0);
	CHECK_I64(write_zip(2, &o, m, n, &w, NULL), 0);
	CHECK_U64(w.len, n * (31 + 47) + 22 + (big ? 56 + 20 : 0));
	end = w.data + w.len - 22;
	CHECK_U64(number(end + 10, 2), big ? 65535 : n);
	CHECK_U64(number(end + 12, 4), n * 47);
	if (big) {
		CHECK_U64(number(end - 20, 4), 0x07064b50);
		CHECK_U64(number(end - 12, 8), w.len - 22 - 76);
		CHECK_U64(number(end - 76, 4), 0x06064b50);
		CHECK_U64(number(end - 76 + 4, 8), 44);
		CHECK_U64(number(end - 76 + 24, 8), n);
		CHECK_U64(number(end - 76 + 32, 8), n);
		CHECK_U64(number(end - 76 + 40, 8), n * 47);
		CHECK_U64(number(end - 76 + 48, 8), n * 31);
	}
	free(w.data);
	free(m);
}

TEST(more_than_65534_members_have_a_longer_end)
{
	check_many(65534);
	check_many(65535);
	check_many(65536);
}

TEST(impossible_values_are_reported)
{
	struct rk_zip_options o = { .level = 13 };
	struct rk_zip_member m = member("a", "", 0);
	struct rk_error err = { 0 };
	char *name = malloc(65537);

	CHECK_I64(write_zip(1, &o, &m, 1, NULL, &err), RK_E_USAGE);
	CHECK_STR(err.message, "invalid level 13: must be from 0 to 12");
	o.level = -1;
	CHECK_I64(write_zip(1, &o, &m, 1, NULL, NULL), RK_E_USAGE);
	o.level = 12;
	memset(name, 'n', 65536);
	name[65536] = '\0';
	m.name = name;
	rk_error_clear(&err);
	CHECK_I64(write_zip(1, &o, &m, 1, NULL, &err), RK_E_LIMIT);
	CHECK(strstr(err.message, "nnn...' is too long") != NULL);
	name[65535] = '\0';
	CHECK_I64(write_zip(1, &o, &m, 1, NULL, NULL), 0);
	free(name);
}

/* -- failures ----------------------------------------------------------------------------- */

struct failing {
	const uint8_t *data;
	uint64_t from; /* bytes from here on cannot be read */
	bool silent;
};

static int failing_read(const void *arg, uint64_t offset, void *to, size_t len,
			struct rk_error *err)
{
	const struct failing *f = arg;

	if (offset + len > f->from)
		return f->silent ? RK_E_IO :
				   rk_fail(err, RK_E_IO, "no more than %u", (unsigned)f->from);
	memcpy(to, f->data + offset, len);
	return 0;
}

TEST(a_piece_that_cannot_be_read_stops_the_archive)
{
	struct rk_zip_options o = { .level = 1 };

	make_content();
	for (unsigned threads = 1; threads <= 7; threads += 3) {
		for (uint64_t from = 0; from < 4 * MB; from += MB - 5) {
			struct failing f = { .data = text, .from = from }, g = f;
			struct rk_zip_member m[3] = { member("a", text, 5000) };
			struct rk_error err = { 0 };
			char want[40];

			g.from = 0; /* fails at once, but later in the archive */
			m[1] = member("b", &f, 4 * MB);
			m[2] = member("c", &g, 4 * MB);
			m[1].read = m[2].read = failing_read;
			snprintf(want, sizeof(want), "no more than %u", (unsigned)from);
			CHECK_I64(write_zip(threads, &o, m, 3, NULL, &err), RK_E_IO);
			CHECK_STR(err.message, want);
		}
	}
}

TEST(a_reader_that_says_nothing_is_named)
{
	struct rk_zip_options o = { .level = 6 };
	struct failing f = { .silent = true };
	struct rk_zip_member m = member("lib/x.so", &f, 9);
	struct rk_error err = { 0 };

	m.read = failing_read;
	CHECK_I64(write_zip(1, &o, &m, 1, NULL, &err), RK_E_IO);
	CHECK_STR(err.message, "cannot read the content of 'lib/x.so'");
	CHECK_I64(write_zip(1, &o, &m, 1, NULL, NULL), RK_E_IO);
}

TEST(an_archive_that_has_failed_stays_so)
{
	struct rk_zip_options o = { .level = 6 };
	struct failing f = { 0 };
	struct rk_zip_member bad = member("bad", &f, 9), good = member("good", "x", 1);
	struct rk_output *out = NULL;
	struct rk_error err = { 0 };
	struct rk_pool *pool = NULL;
	struct rk_spill *s = NULL;
	struct rk_zip *z = NULL;

	bad.read = failing_read;
	CHECK(rk_spill_new(NULL, &s, NULL) == 0 && rk_output_open_spill(s, &out, NULL) == 0);
	CHECK(rk_pool_new(2, &pool, NULL) == 0 && rk_zip_new(out, pool, &o, &z, NULL) == 0);
	CHECK_I64(rk_zip_add(z, &good, 1, NULL), 0);
	CHECK_I64(rk_zip_add(z, &bad, 1, NULL), RK_E_IO);
	CHECK_I64(rk_zip_add(z, &good, 1, &err), RK_E_IO);
	CHECK_STR(err.message, "an earlier write to the archive failed");
	CHECK_I64(rk_zip_finish(z, NULL), RK_E_IO);
	rk_zip_free(z);
	rk_zip_free(NULL);
	rk_pool_free(pool);
	rk_output_abort(out);
	rk_spill_free(s);
}

struct watch {
	uint64_t last, calls, stop;
	bool backwards;
};

static int watching(void *arg, uint64_t done)
{
	struct watch *w = arg;

	w->backwards |= done < w->last;
	w->last = done;
	return ++w->calls == w->stop;
}

TEST(progress_is_reported_and_can_stop_it)
{
	struct watch watch = { 0 };
	struct rk_zip_options o = { .level = 0, .progress = watching, .progress_arg = &watch };
	struct rk_zip_member m[64];
	struct rk_error err = { 0 };
	uint64_t bytes = 0, calls;
	size_t n = every_kind(m);

	for (size_t i = 0; i < n; i++)
		bytes += m[i].size;
	CHECK_I64(write_zip(3, &o, m, n, NULL, NULL), 0);
	CHECK_U64(watch.last, bytes);
	CHECK(!watch.backwards && watch.calls > 20);
	calls = watch.calls;
	for (uint64_t stop = 1; stop <= calls; stop += 7) {
		watch = (struct watch){ .stop = stop };
		rk_error_clear(&err);
		CHECK_I64(write_zip(3, &o, m, n, NULL, &err), RK_E_CANCELLED);
		CHECK_I64(err.code, RK_E_CANCELLED);
		CHECK_U64(watch.calls, stop);
	}
}

static size_t few(struct rk_zip_member *m)
{
	make_content();
	m[0] = member("a", text, 3 * MB / 2);
	m[1] = member("b", noise, 3 * MB / 2);
	m[2] = member("c", "abc", 3);
	return 3;
}

TEST(every_failing_write_stops_the_archive)
{
	struct rk_zip_options o = { .level = 1 };
	struct rk_zip_member m[3];
	size_t n = few(m);
	bool failed = true;
	uint64_t i;

	for (i = 1; failed && i < 100; i++) {
		struct rk_output *out = NULL;
		struct rk_error err = { 0 };
		struct world w;
		int rc;

		world_open(&w, 1);
		snprintf(w.path, sizeof(w.path), "%s/x.zip", w.dir);
		CHECK_I64(rk_output_open(w.path, &out, NULL), 0);
		rk_output_fail_after(i, ENOSPC);
		rc = write_to(out, i % 2 ? 1 : 3, &o, m, n, &err);
		failed = rc < 0;
		CHECK(rc == 0 || (rc == RK_E_IO && strstr(err.message, "No space left")));
		rk_output_fail_after(0, 0);
		rk_output_abort(out);
		CHECK_U64(world_entries(&w, "."), 0);
		world_close(&w);
	}
	/* header, pieces and patch of the first; the second twice, and gone back; third; directory */
	CHECK_U64(i - 2, 4 + 3 + 1 + 2 + 1 + 1 + 1);
}

TEST(an_archive_survives_every_failed_allocation)
{
	struct rk_zip_options o = { .level = 1 };
	struct rk_zip_member m[3];
	size_t n = few(m);

	for (unsigned threads = 1; threads <= 2; threads++) {
		bool failed = true;

		for (uint64_t i = 1; failed && i < 200; i++) {
			struct rk_error err = { 0 };
			int rc;

			rk_alloc_fail_after(i);
			rc = write_zip(threads, &o, m, n, NULL, &err);
			failed = rk_alloc_failed();
			rk_alloc_fail_after(0);
			CHECK_I64(rc, failed ? RK_E_NOMEM : 0);
			CHECK_I64(err.code, rc);
		}
		CHECK(!failed);
	}
}

TEST(a_pipe_takes_small_members_alone)
{
	struct rk_zip_options o = { .level = 1 };
	struct rk_zip_member m[3];
	struct rk_output *out = NULL;
	struct rk_error err = { 0 };
	size_t n = few(m);

	CHECK_I64(rk_output_open("/dev/null", &out, NULL), 0);
	CHECK_I64(write_to(out, 1, &o, m + 2, 1, NULL), 0);
	CHECK_I64(write_to(out, 1, &o, m, n, &err), RK_E_UNSUPPORTED);
	CHECK(strstr(err.message, "cannot seek") != NULL);
	rk_output_abort(out);
}
