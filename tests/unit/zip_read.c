/* zip_read.c - zip archives: members, Zip64, and every way to lie about them. */
#include "archive/zip_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "tap.h"
#include "world.h"

enum { LOCAL = 30, ENTRY = 46, END = 22 };

/* An archive under construction: members first, then the directory and the end. */
struct zip {
	struct rk_bytes body, directory;
	unsigned n;
};

static void zip_init(struct zip *z)
{
	rk_bytes_init(&z->body, 64 << 20);
	rk_bytes_init(&z->directory, 1 << 20);
	z->n = 0;
}

static void zip_release(struct zip *z)
{
	rk_bytes_release(&z->body);
	rk_bytes_release(&z->directory);
}

static void put(struct rk_bytes *b, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		rk_bytes_put_u8(b, (uint8_t)(v >> 8 * i));
}

struct member {
	const char *name;
	size_t name_len; /* 0: strlen */
	const void *data;
	size_t len;
	bool deflated;
	unsigned flags, made;
	uint32_t mode;
};

static size_t pack(const struct member *m, uint8_t *to, size_t room)
{
	z_stream s = { 0 };

	if (!m->deflated) {
		if (m->len)
			memcpy(to, m->data, m->len);
		return m->len;
	}
	CHECK(deflateInit2(&s, 6, Z_DEFLATED, -15, 8, 0) == Z_OK);
	s.next_in = (Bytef *)(uintptr_t)m->data;
	s.avail_in = (uInt)m->len;
	s.next_out = to;
	s.avail_out = (uInt)room;
	CHECK(deflate(&s, Z_FINISH) == Z_STREAM_END);
	deflateEnd(&s);
	return room - s.avail_out;
}

static void put_common(struct rk_bytes *b, const struct member *m, size_t packed, size_t name_len)
{
	put(b, m->flags, 2);
	put(b, m->deflated ? 8 : 0, 2);
	put(b, 0x210000, 4);
	put(b, crc32(0, m->data, (uInt)m->len), 4);
	put(b, packed, 4);
	put(b, m->len, 4);
	put(b, name_len, 2);
	put(b, 0, 2);
}

static void zip_add(struct zip *z, const struct member *m)
{
	size_t room = m->len + 1024, at = z->body.len;
	size_t name_len = m->name_len ? m->name_len : strlen(m->name);
	uint8_t *packed = malloc(room);
	size_t n = pack(m, packed, room);

	put(&z->body, 0x04034b50, 4);
	put(&z->body, 20, 2);
	put_common(&z->body, m, n, name_len);
	rk_bytes_put(&z->body, m->name, name_len);
	rk_bytes_put(&z->body, packed, n);
	put(&z->directory, 0x02014b50, 4);
	put(&z->directory, m->made ? m->made << 8 : 3 << 8, 2);
	put(&z->directory, 20, 2);
	put_common(&z->directory, m, n, name_len);
	put(&z->directory, 0, 2 + 2 + 2); /* comment, disk, inner attributes */
	put(&z->directory, (uint64_t)m->mode << 16, 4);
	put(&z->directory, at, 4);
	rk_bytes_put(&z->directory, m->name, name_len);
	z->n++;
	free(packed);
}

/* The end record; everything is in body then. */
static void zip_end(struct zip *z)
{
	size_t at = z->body.len;

	rk_bytes_put(&z->body, z->directory.data, z->directory.len);
	put(&z->body, 0x06054b50, 4);
	put(&z->body, 0, 4);
	put(&z->body, z->n, 2);
	put(&z->body, z->n, 2);
	put(&z->body, z->directory.len, 4);
	put(&z->body, at, 4);
	put(&z->body, 0, 2);
}

static int zip_try(struct world *w, struct zip *z, struct rk_zip_file **ret)
{
	w->err = (struct rk_error){ 0 };
	return rk_zip_open(world_file(w, "a.zip", z->body.data, z->body.len), ret, &w->err);
}

/* a.txt stored, b.txt deflated; where things are: LOCAL + 5 + 5 is the second member. */
static void two(struct zip *z)
{
	zip_init(z);
	zip_add(z, &(struct member){ "a.txt", 0, "hello", 5, false, 0, 0, 0100644 });
	zip_add(z, &(struct member){ "b.txt", 0, "wwwwwwwwwwwwwwwwwwwwwwwwwwwwww", 30, true, 0x800,
				     0, 0100755 });
	zip_end(z);
}

TEST(stored_and_deflated_members_of_a_zip_are_read)
{
	const struct rk_zip_entry *e;
	struct rk_zip_file *f = NULL;
	struct world w;
	struct zip z;
	char *text = NULL;
	size_t n = 0;

	world_open(&w, 1);
	two(&z);
	CHECK(zip_try(&w, &z, &f) == 0);
	e = rk_zip_entries(f, &n);
	CHECK_U64(n, 2);
	CHECK_STR(e[0].name, "a.txt");
	CHECK_U64(e[0].mode, 0100644);
	CHECK(!e[0].utf8 && e[1].utf8);
	CHECK(rk_zip_load(f, &e[0], 5, &text, &n, NULL) == 0);
	CHECK_STR(text, "hello");
	rk_free(text);
	CHECK(rk_zip_find(f, "b.txt") == &e[1] && !rk_zip_find(f, "b.tx"));
	CHECK(rk_zip_load(f, &e[1], 100, &text, &n, NULL) == 0);
	CHECK_U64(n, 30);
	CHECK_STR(text, "wwwwwwwwwwwwwwwwwwwwwwwwwwwwww");
	rk_free(text);
	CHECK(rk_zip_load(f, &e[1], 29, &text, &n, &w.err) == RK_E_LIMIT);
	rk_zip_close(f);
	zip_release(&z);
	world_close(&w);
}

static int check_pattern(void *arg, const void *p, size_t len, struct rk_error *err)
{
	uint64_t *at = arg;
	const uint8_t *b = p;

	for (size_t i = 0; i < len; i++, ++*at)
		if (b[i] != (uint8_t)(*at * *at >> 7))
			return rk_fail(err, RK_E_FORMAT, "byte %zu", (size_t)*at);
	return 0;
}

TEST(a_member_larger_than_the_buffers_of_a_zip_comes_in_pieces)
{
	enum { LEN = 1 << 20 };
	uint8_t *data = malloc(LEN);
	struct rk_zip_file *f = NULL;
	struct world w;
	struct zip z;

	world_open(&w, 1);
	for (uint64_t i = 0; i < LEN; i++)
		data[i] = (uint8_t)(i * i >> 7);
	zip_init(&z);
	for (int packed = 0; packed < 2; packed++)
		zip_add(&z, &(struct member){ packed ? "p" : "s", 0, data, LEN, packed, 0, 0, 0 });
	zip_end(&z);
	CHECK(zip_try(&w, &z, &f) == 0);
	for (int packed = 0; packed < 2; packed++) {
		uint64_t at = 0;
		const struct rk_zip_entry *e = rk_zip_find(f, packed ? "p" : "s");

		CHECK(rk_zip_each_bytes(f, e, check_pattern, &at, &w.err) == 0);
		CHECK_U64(at, LEN);
		at = 1; /* the caller stops it */
		CHECK(rk_zip_each_bytes(f, e, check_pattern, &at, &w.err) == RK_E_FORMAT);
	}
	rk_zip_close(f);
	zip_release(&z);
	world_close(&w);
	free(data);
}

/* One byte of a good archive that makes it a bad one. `from_end`: counted back from its end. */
struct damage {
	const char *what;
	size_t at;
	bool from_end;
	uint8_t value;
	int code;
	const char *says;
};

static const struct damage damages[] = {
	{ "signature of the end", END, true, 'X', RK_E_FORMAT, "no directory" },
	{ "disk", END - 4, true, 1, RK_E_FORMAT, "multi-part" },
	{ "count here", END - 8, true, 1, RK_E_FORMAT, "multi-part" },
	{ "size of the directory", END - 12, true, 7, RK_E_FORMAT, "before its end" },
	{ "offset of the directory", END - 16, true, 1, RK_E_FORMAT, "before its end" },
	{ "signature of an entry", END + 2 * (ENTRY + 5), true, 'X', RK_E_FORMAT, "invalid entry" },
	{ "encrypted", END + ENTRY + 5 - 8, true, 1, RK_E_UNSUPPORTED, "encrypted" },
	{ "stored size", END + 2 * (ENTRY + 5) - 24, true, 9, RK_E_FORMAT, "two different sizes" },
	{ "deflated size", END + ENTRY + 5 - 26, true, 1, RK_E_FORMAT, "impossible size" },
	{ "length of a name", END + 2 * (ENTRY + 5) - 28, true, 6, RK_E_FORMAT,
	  "does not match its own header" },
	{ "extra field", END + ENTRY + 5 - 31, true, 1, RK_E_FORMAT,
	  "cut short or on another disk" },
	{ "disk of an entry", END + ENTRY + 5 - 34, true, 1, RK_E_FORMAT,
	  "cut short or on another disk" },
	{ "offset far away", END + ENTRY + 5 - 44, true, 9, RK_E_FORMAT, "outside" },
	{ "offset elsewhere", END + ENTRY + 5 - 42, true, 1, RK_E_FORMAT, "no header" },
	{ "local signature", 0, false, 'X', RK_E_FORMAT, "no header" },
	{ "local method", 8, false, 8, RK_E_FORMAT, "does not match its own header" },
	{ "local name", LOCAL, false, 'X', RK_E_FORMAT, "does not match its own header" },
	{ "local extra field", 29, false, 1, RK_E_FORMAT, "outside" },
	{ "local extra field, a little", 28, false, 1, RK_E_FORMAT, "overlap" },
};

TEST(a_zip_directory_that_lies_is_refused)
{
	for (size_t i = 0; i < sizeof(damages) / sizeof(*damages); i++) {
		const struct damage *d = &damages[i];
		struct rk_zip_file *f = NULL;
		struct world w;
		struct zip z;
		int rc;

		world_open(&w, 1);
		two(&z);
		z.body.data[d->from_end ? z.body.len - d->at : d->at] = d->value;
		rc = zip_try(&w, &z, &f);
		if (!CHECK(rc == d->code && !f && strstr(w.err.message, d->says)))
			printf("# %s: %d %s\n", d->what, rc, w.err.message);
		CHECK(w.err.file[0]);
		rk_zip_close(f);
		zip_release(&z);
		world_close(&w);
	}
}

TEST(a_zip_cut_anywhere_is_refused_and_never_read_past)
{
	struct world w;
	struct zip z;

	world_open(&w, 1);
	two(&z);
	for (size_t len = z.body.len; len--;) {
		struct rk_zip_file *f = NULL;
		int rc = rk_zip_open(world_file(&w, "a.zip", z.body.data, len), &f, NULL);

		CHECK(rc == RK_E_FORMAT && !f);
	}
	zip_release(&z);
	world_close(&w);
}

TEST(a_zip_with_any_byte_changed_gives_its_bytes_or_an_error)
{
	struct world w;
	struct zip z;
	unsigned refused = 0;

	world_open(&w, 1);
	two(&z);
	for (size_t i = 0; i < z.body.len; i++) {
		struct rk_zip_file *f = NULL;
		const struct rk_zip_entry *e;
		size_t n = 0;

		z.body.data[i] ^= 0x41;
		if (zip_try(&w, &z, &f) < 0)
			refused++;
		e = f ? rk_zip_entries(f, &n) : NULL;
		for (size_t k = 0; k < n; k++) {
			char *text = NULL;
			size_t len = 0;
			int rc = rk_zip_load(f, &e[k], 100, &text, &len, NULL);

			CHECK(rc < 0 ? !text : len == e[k].size && strspn(text, "helow") == len);
			rk_free(text);
		}
		rk_zip_close(f);
		z.body.data[i] ^= 0x41;
	}
	CHECK(refused > 100);
	zip_release(&z);
	world_close(&w);
}

static int read_first(struct world *w, struct zip *z)
{
	struct rk_zip_file *f = NULL;
	char *text = NULL;
	size_t n;
	int rc = zip_try(w, z, &f);

	if (rc == 0)
		rc = rk_zip_load(f, rk_zip_entries(f, &n), 1 << 20, &text, &n, &w->err);
	rk_free(text);
	rk_zip_close(f);
	return rc;
}

TEST(members_of_a_zip_with_wrong_bytes_are_refused)
{
	struct world w;
	struct zip z;

	world_open(&w, 1);
	two(&z);
	z.body.data[LOCAL + 5] ^= 1; /* "hello" */
	CHECK(read_first(&w, &z) == RK_E_FORMAT && strstr(w.err.message, "CRC"));
	zip_release(&z);
	zip_init(&z); /* deflated bytes that are none */
	zip_add(&z, &(struct member){ "x", 0, "0123456789", 10, true, 0, 0, 0 });
	zip_end(&z);
	z.body.data[LOCAL + 1] = 0xff;
	CHECK(read_first(&w, &z) == RK_E_FORMAT && strstr(w.err.message, "damaged"));
	zip_release(&z);
	zip_init(&z); /* a size below the real one */
	zip_add(&z, &(struct member){ "x", 0, "0123456789", 10, true, 0, 0, 0 });
	z.directory.data[24] = 9;
	zip_end(&z);
	CHECK(read_first(&w, &z) == RK_E_FORMAT &&
	      strstr(w.err.message, "longer than its header says"));
	z.body.data[z.body.len - END - ENTRY - 1 + 24] = 11;
	CHECK(read_first(&w, &z) == RK_E_FORMAT &&
	      strstr(w.err.message, "shorter than its header says"));
	zip_release(&z);
	world_close(&w);
}

TEST(names_of_a_zip_are_kept_as_they_are)
{
	const struct rk_zip_entry *e;
	struct rk_zip_file *f = NULL;
	struct world w;
	struct zip z;
	size_t n = 0;

	world_open(&w, 1);
	zip_init(&z);
	zip_add(&z, &(struct member){ "a\0b", 3, "", 0, false, 0, 0, 0 });
	zip_add(&z, &(struct member){ "../x", 0, "", 0, false, 0, 0, 0 });
	zip_add(&z, &(struct member){ "../x", 0, "", 0, false, 0, 0, 0 });
	zip_add(&z, &(struct member){ "dos", 0, "", 0, false, 0, 1, 0100644 });
	zip_end(&z);
	CHECK(zip_try(&w, &z, &f) == 0);
	e = rk_zip_entries(f, &n);
	CHECK_U64(n, 4);
	CHECK_U64(e[0].name_len, 3);
	CHECK_MEM(e[0].name, "a\0b", 4);
	CHECK_STR(e[2].name, "../x");
	CHECK_U64(e[3].mode, 0);
	CHECK(!rk_zip_find(f, "a"));
	rk_zip_close(f);
	zip_release(&z);
	world_close(&w);
}

/* The end of `two` rewritten as Zip64: what does not fit 32 bits is all ones. */
static void widen(struct zip *z)
{
	size_t at = z->body.len - END - z->directory.len, end64;

	z->body.len -= END;
	end64 = z->body.len;
	put(&z->body, 0x06064b50, 4);
	put(&z->body, 44, 8);
	put(&z->body, 45 | 45 << 16, 4);
	put(&z->body, 0, 8);
	put(&z->body, z->n, 8);
	put(&z->body, z->n, 8);
	put(&z->body, z->directory.len, 8);
	put(&z->body, at, 8);
	put(&z->body, 0x07064b50, 4);
	put(&z->body, 0, 4);
	put(&z->body, end64, 8);
	put(&z->body, 1, 4);
	put(&z->body, 0x06054b50, 4);
	put(&z->body, 0, 4);
	for (unsigned i = 0; i < 12; i++)
		put(&z->body, 0xff, 1);
	put(&z->body, 0, 2);
}

TEST(a_zip64_end_is_read_and_a_wrong_one_refused)
{
	static const struct {
		size_t back; /* from the end */
		const char *says;
	} wrong[] = {
		{ END + 20, "needs a Zip64 record" },   { END + 16, "needs a Zip64 record" },
		{ END + 12, "in the wrong place" },     { END + 4, "in the wrong place" },
		{ END + 20 + 56, "record is invalid" }, { END + 20 + 52, "record is invalid" },
		{ END + 20 + 40, "multi-part" },        { END + 20 + 32, "multi-part" },
		{ END + 20 + 16, "before its end" },    { END + 20 + 8, "before its end" },
	};
	struct rk_zip_file *f = NULL;
	struct world w;
	struct zip z;
	size_t n = 0;

	world_open(&w, 1);
	two(&z);
	widen(&z);
	CHECK(zip_try(&w, &z, &f) == 0);
	rk_zip_entries(f, &n);
	CHECK_U64(n, 2);
	rk_zip_close(f);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		uint8_t *p = &z.body.data[z.body.len - wrong[i].back];

		*p ^= 5;
		f = NULL;
		if (!CHECK(zip_try(&w, &z, &f) == RK_E_FORMAT &&
			   strstr(w.err.message, wrong[i].says)))
			printf("# %zu: %s\n", i, w.err.message);
		rk_zip_close(f);
		*p ^= 5;
	}
	zip_release(&z);
	world_close(&w);
}

TEST(overlapping_members_of_a_zip_are_refused)
{
	struct rk_zip_file *f = NULL;
	struct world w;
	struct zip z;

	world_open(&w, 1);
	two(&z);
	/* the second entry is the first again: a bomb's way to be small */
	memcpy(z.body.data + z.body.len - END - (ENTRY + 5),
	       z.body.data + z.body.len - END - 2 * (ENTRY + 5), ENTRY + 5);
	CHECK(zip_try(&w, &z, &f) == RK_E_FORMAT && strstr(w.err.message, "overlap"));
	zip_release(&z);
	world_close(&w);
}

TEST(each_allocation_of_a_zip_reader_may_fail)
{
	bool failed = true;
	struct world w;
	struct zip z;

	world_open(&w, 1);
	two(&z);
	world_file(&w, "a.zip", z.body.data, z.body.len);
	for (uint64_t n = 1; failed && n < 1000; n++) {
		struct rk_error err = { 0 };
		struct rk_zip_file *f = NULL;
		char *text = NULL;
		size_t len;
		int rc;

		rk_alloc_fail_after(n);
		rc = rk_zip_open(w.path, &f, &err);
		if (rc == 0)
			rc = rk_zip_load(f, rk_zip_find(f, "b.txt"), 100, &text, &len, &err);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK(failed ? rc == RK_E_NOMEM && err.code == rc : rc == 0);
		rk_free(text);
		rk_zip_close(f);
	}
	CHECK(!failed);
	zip_release(&z);
	world_close(&w);
}
