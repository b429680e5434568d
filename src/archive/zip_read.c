/*
 * zip_read.c - reads the directory of a zip archive (PKWARE's APPNOTE, sections 4.3 and 4.4) and
 * its members.
 *
 * The directory is found from the end of the file. The last part is the end record; before it, if
 * numbers do not fit into 16 or 32 bits, a locator and the Zip64 end record; before these the
 * directory. There must be no gaps: programs disagree about archives with anything in between.
 */
#include "archive/zip_read.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "archive/deflate_pack.h"
#include "base/alloc.h"
#include "base/cursor.h"
#include "base/num.h"

enum {
	END_BYTES = 22,
	END_MAX_BYTES = END_BYTES + 0xffff,
	LOCATOR_BYTES = 20,
	END64_BYTES = 56,
	ENTRY_BYTES = 46,
	LOCAL_BYTES = 30,
	DIRECTORY_MAX_BYTES = 1 << 28,
	FLAG_ENCRYPTED = 1 << 0 | 1 << 6 | 1 << 13,
	FLAG_PATCH = 1 << 5,
	FLAG_UTF8 = 1 << 11,
	MADE_ON_UNIX = 3,
	EXTRA_ZIP64 = 1,
	DEFLATE_MOST = 1032, /* max expansion of a byte by deflate */
	STORED = 0,          /* methods */
	DEFLATED = 8,
	IN_BYTES = 64 << 10,
	OUT_BYTES = 128 << 10,
};

static const uint32_t sign_end = 0x06054b50, sign_locator = 0x07064b50, sign_end64 = 0x06064b50,
		      sign_entry = 0x02014b50, sign_local = 0x04034b50;

struct rk_zip_file {
	struct rk_file *file;
	struct rk_zip_entry *entries;
	size_t n;
	char *names; /* of all entries, each with its NUL */
};

/* Where the directory is. */
struct place {
	uint64_t offset, size, count;
	uint64_t end; /* where the directory must end */
};

static uint16_t u16(struct rk_cursor *c)
{
	uint16_t lo = rk_cursor_u8(c);

	return (uint16_t)(lo | rk_cursor_u8(c) << 8);
}

static int read_exactly(struct rk_zip_file *z, void *to, size_t len, uint64_t offset,
			struct rk_error *err)
{
	size_t got = 0;
	int rc = rk_file_pread(z->file, to, len, offset, &got, err);

	if (rc == 0 && got < len)
		rc = rk_fail(err, RK_E_FORMAT, "the archive is cut short");
	return rc;
}

static int damaged(struct rk_error *err, const char *what)
{
	return rk_fail(err, RK_E_FORMAT, "invalid zip archive: %s", what);
}

/* Numbers with all bits set are in the Zip64 record instead. */
static int read_end64(struct rk_zip_file *z, uint64_t end_at, struct place *p, struct rk_error *err)
{
	uint8_t locator[LOCATOR_BYTES], end64[END64_BYTES];
	struct rk_cursor c = rk_cursor_over(locator, sizeof(locator));
	uint64_t at;
	int rc;

	if (end_at < LOCATOR_BYTES)
		return damaged(err, "it needs a Zip64 record but has none");
	rc = read_exactly(z, locator, sizeof(locator), end_at - LOCATOR_BYTES, err);
	if (rc < 0)
		return rc;
	if (rk_cursor_u32le(&c) != sign_locator || rk_cursor_u32le(&c) != 0)
		return damaged(err, "it needs a Zip64 record but has none");
	at = rk_cursor_u64le(&c);
	if (rk_cursor_u32le(&c) != 1 || end_at - LOCATOR_BYTES < END64_BYTES ||
	    at != end_at - LOCATOR_BYTES - END64_BYTES)
		return damaged(err, "its Zip64 record is in the wrong place");
	rc = read_exactly(z, end64, sizeof(end64), at, err);
	if (rc < 0)
		return rc;
	c = rk_cursor_over(end64, sizeof(end64));
	if (rk_cursor_u32le(&c) != sign_end64 || rk_cursor_u64le(&c) != END64_BYTES - 12)
		return damaged(err, "its Zip64 record is invalid");
	rk_cursor_take(&c, 4);
	if (rk_cursor_u64le(&c) != 0) /* number of this disk and of the disk with the directory */
		return damaged(err, "it is part of a multi-part archive");
	p->count = rk_cursor_u64le(&c);
	if (rk_cursor_u64le(&c) != p->count)
		return damaged(err, "it is part of a multi-part archive");
	p->size = rk_cursor_u64le(&c);
	p->offset = rk_cursor_u64le(&c);
	p->end = at;
	return 0;
}

static int read_end(struct rk_zip_file *z, const uint8_t *end, uint64_t at, struct place *p,
		    struct rk_error *err)
{
	struct rk_cursor c = rk_cursor_over(end, END_BYTES);
	uint64_t here;

	rk_cursor_take(&c, 4);
	if (rk_cursor_u32le(&c) != 0)
		return damaged(err, "it is part of a multi-part archive");
	here = u16(&c);
	p->count = u16(&c);
	if (here != p->count)
		return damaged(err, "it is part of a multi-part archive");
	p->size = rk_cursor_u32le(&c);
	p->offset = rk_cursor_u32le(&c);
	p->end = at;
	if (p->count == 0xffff || p->size == 0xffffffff || p->offset == 0xffffffff)
		return read_end64(z, at, p, err);
	return 0;
}

/* Finds the end record: the last one whose comment ends with the file. */
static int find_end(struct rk_zip_file *z, struct place *p, struct rk_error *err)
{
	uint64_t size = z->file->size;
	size_t len = rk_min(size, END_MAX_BYTES);
	uint8_t *tail = rk_alloc(len + 1);
	int rc;

	if (!tail)
		return rk_fail_nomem(err);
	rc = read_exactly(z, tail, len, size - len, err);
	if (rc < 0)
		goto out;
	for (size_t back = END_BYTES; back <= len; back++) {
		const uint8_t *end = tail + len - back;
		struct rk_cursor c = rk_cursor_over(end, END_BYTES);

		if (rk_cursor_u32le(&c) != sign_end)
			continue;
		c = rk_cursor_over(end + END_BYTES - 2, 2);
		if (u16(&c) != back - END_BYTES)
			continue;
		rc = read_end(z, end, size - back, p, err);
		goto out;
	}
	rc = damaged(err, "it has no directory at its end");
out:
	rk_free(tail);
	return rc;
}

/*
 * Reads 64-bit numbers from the extra field: in this order, and only those whose 32 bits are all
 * ones.
 */
static int read_wide(struct rk_cursor extra, struct rk_zip_entry *e, struct rk_error *err)
{
	uint64_t *const fields[] = { &e->size, &e->packed, &e->offset };
	struct rk_cursor wide = { 0 };
	bool found = false;

	while (rk_cursor_left(&extra) >= 4 && !found) {
		uint16_t id = u16(&extra), len = u16(&extra);
		const uint8_t *p = rk_cursor_take(&extra, len);

		if (!p)
			break;
		found = id == EXTRA_ZIP64;
		wide = rk_cursor_over(p, len);
	}
	for (unsigned i = 0; i < 3; i++) {
		if (*fields[i] != 0xffffffff)
			continue;
		if (!found)
			return damaged(err, "a member's size is missing");
		*fields[i] = rk_cursor_u64le(&wide);
		if (wide.bad)
			return damaged(err, "a member's size is missing");
	}
	return 0;
}

/* Reads one entry; its name is stored at *names, which is advanced. */
static int read_entry(struct rk_cursor *c, char **names, struct rk_zip_entry *e,
		      struct rk_error *err)
{
	uint16_t made, flags, name_len, extra_len, comment_len, disk;
	const uint8_t *name, *extra;
	uint32_t attributes;
	int rc;

	if (rk_cursor_u32le(c) != sign_entry)
		return damaged(err, "its directory has an invalid entry");
	made = u16(c);
	rk_cursor_take(c, 2);
	flags = u16(c);
	e->method = u16(c);
	rk_cursor_take(c, 4); /* time */
	e->crc = rk_cursor_u32le(c);
	e->packed = rk_cursor_u32le(c);
	e->size = rk_cursor_u32le(c);
	name_len = u16(c);
	extra_len = u16(c);
	comment_len = u16(c);
	disk = u16(c);
	rk_cursor_take(c, 2);
	attributes = rk_cursor_u32le(c);
	e->offset = rk_cursor_u32le(c);
	name = rk_cursor_take(c, name_len);
	extra = rk_cursor_take(c, extra_len);
	rk_cursor_take(c, comment_len);
	if (c->bad || disk != 0)
		return damaged(err, "a directory entry is cut short or on another disk");
	memcpy(*names, name, name_len);
	(*names)[name_len] = '\0';
	e->name = *names;
	e->name_len = name_len;
	*names += name_len + 1;
	e->utf8 = flags & FLAG_UTF8;
	e->mode = made >> 8 == MADE_ON_UNIX ? attributes >> 16 : 0;
	rc = read_wide(rk_cursor_over(extra, extra_len), e, err);
	if (rc < 0)
		return rc;
	if (flags & (FLAG_ENCRYPTED | FLAG_PATCH))
		return rk_fail(err, RK_E_UNSUPPORTED, "'%s' is encrypted or patched data", e->name);
	if (e->method == STORED && e->size != e->packed)
		return rk_fail(err, RK_E_FORMAT, "'%s' is stored but has two different sizes",
			       e->name);
	if (e->method == DEFLATED && e->size / DEFLATE_MOST > e->packed)
		return rk_fail(err, RK_E_FORMAT, "'%s' has an impossible size", e->name);
	return 0;
}

/* The local header before the member's bytes must agree with the directory. */
static int check_local(struct rk_zip_file *z, const struct place *p, struct rk_zip_entry *e,
		       char *name, struct rk_error *err)
{
	uint8_t head[LOCAL_BYTES];
	struct rk_cursor c = rk_cursor_over(head, sizeof(head));
	uint16_t flags, method, name_len, extra_len;
	int rc;

	if (e->offset > p->offset || p->offset - e->offset < LOCAL_BYTES + e->name_len)
		return rk_fail(err, RK_E_FORMAT, "'%s' is outside the archive", e->name);
	rc = read_exactly(z, head, sizeof(head), e->offset, err);
	if (rc < 0 || (rc = read_exactly(z, name, e->name_len, e->offset + LOCAL_BYTES, err)) < 0)
		return rc;
	if (rk_cursor_u32le(&c) != sign_local)
		return rk_fail(err, RK_E_FORMAT, "'%s' has no header", e->name);
	rk_cursor_take(&c, 2);
	flags = u16(&c);
	method = u16(&c);
	rk_cursor_take(&c, 16);
	name_len = u16(&c);
	extra_len = u16(&c);
	if (name_len != e->name_len || memcmp(name, e->name, name_len) != 0 ||
	    method != e->method || flags & FLAG_ENCRYPTED)
		return rk_fail(err, RK_E_FORMAT, "'%s' does not match its own header", e->name);
	e->data = e->offset + LOCAL_BYTES + name_len + extra_len;
	if (e->data > p->offset || e->packed > p->offset - e->data)
		return rk_fail(err, RK_E_FORMAT, "'%s' is outside the archive", e->name);
	return 0;
}

static int by_offset(const void *a, const void *b)
{
	const struct rk_zip_entry *x = *(const struct rk_zip_entry *const *)a;
	const struct rk_zip_entry *y = *(const struct rk_zip_entry *const *)b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

static int check_overlap(const struct rk_zip_file *z, struct rk_error *err)
{
	const struct rk_zip_entry **sorted = rk_reallocn(NULL, z->n + 1, sizeof(*sorted));
	int rc = 0;

	if (!sorted)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < z->n; i++)
		sorted[i] = &z->entries[i];
	if (z->n)
		qsort(sorted, z->n, sizeof(*sorted), by_offset);
	for (size_t i = 1; rc == 0 && i < z->n; i++) {
		const struct rk_zip_entry *before = sorted[i - 1];

		if (before->data + before->packed > sorted[i]->offset)
			rc = rk_fail(err, RK_E_FORMAT, "'%s' and '%s' overlap in the archive",
				     before->name, sorted[i]->name);
	}
	rk_free(sorted);
	return rc;
}

static int read_directory(struct rk_zip_file *z, struct rk_error *err)
{
	char *names, *local = NULL;
	uint8_t *bytes = NULL;
	struct place p = { 0 };
	struct rk_cursor c;
	int rc = find_end(z, &p, err);

	if (rc < 0)
		return rc;
	if (p.offset > p.end || p.size != p.end - p.offset)
		return damaged(err, "its directory is not before its end record");
	if (p.count > p.size / ENTRY_BYTES)
		return damaged(err, "its directory is too small for its members");
	if (p.size > DIRECTORY_MAX_BYTES)
		return rk_fail(err, RK_E_LIMIT,
			       "the directory of the archive has more than %d bytes",
			       DIRECTORY_MAX_BYTES);
	/* a name with its NUL is shorter than its entry */
	bytes = rk_alloc((size_t)p.size + 1);
	local = rk_alloc(0x10000);
	z->names = names = rk_alloc((size_t)p.size + 1);
	z->entries = rk_reallocn(NULL, (size_t)p.count + 1, sizeof(*z->entries));
	if (!bytes || !local || !z->names || !z->entries) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	rc = read_exactly(z, bytes, (size_t)p.size, p.offset, err);
	if (rc < 0)
		goto out;
	c = rk_cursor_over(bytes, (size_t)p.size);
	for (; z->n < p.count; z->n++) {
		struct rk_zip_entry *e = &z->entries[z->n];

		*e = (struct rk_zip_entry){ 0 };
		if ((rc = read_entry(&c, &names, e, err)) < 0 ||
		    (rc = check_local(z, &p, e, local, err)) < 0)
			goto out;
	}
	rc = rk_cursor_left(&c) ? damaged(err, "its directory is longer than its members") :
				  check_overlap(z, err);
out:
	rk_free(bytes);
	rk_free(local);
	return rc;
}

int rk_zip_open(const char *path, struct rk_zip_file **ret, struct rk_error *err)
{
	struct rk_zip_file *z = rk_calloc(1, sizeof(*z));
	int rc = z ? rk_file_open(path, &z->file, err) : rk_fail_nomem(err);

	if (rc < 0)
		goto fail;
	if (z->file->seekable)
		rc = read_directory(z, err);
	else
		rc = rk_fail(err, RK_E_UNSUPPORTED, "cannot read a zip archive from a pipe");
	if (rc < 0)
		goto fail;
	*ret = z;
	return 0;
fail:
	rk_error_at(err, path, 0, 0);
	rk_zip_close(z);
	return rc;
}

/* A member being read. */
struct reading {
	struct rk_zip_file *z;
	const struct rk_zip_entry *e;
	uint64_t taken; /* packed bytes read */
	uint64_t given; /* unpacked bytes delivered */
	uint32_t crc;
	int (*take)(void *arg, const void *p, size_t len, struct rk_error *err);
	void *arg;
	uint8_t in[IN_BYTES], out[OUT_BYTES];
};

static int bad_member(const struct reading *r, const char *what, struct rk_error *err)
{
	return rk_fail(err, RK_E_FORMAT, "'%s' is damaged: %s", r->e->name, what);
}

static int fetch(struct reading *r, size_t *ret_len, struct rk_error *err)
{
	uint64_t left = r->e->packed - r->taken;
	size_t len = rk_min(left, IN_BYTES);
	int rc = read_exactly(r->z, r->in, len, r->e->data + r->taken, err);

	r->taken += len;
	*ret_len = len;
	return rc;
}

static int give(struct reading *r, const uint8_t *p, size_t len, struct rk_error *err)
{
	uint32_t crc;

	if (len > r->e->size - r->given)
		return bad_member(r, "its content is longer than its header says", err);
	crc = rk_crc32(p, len);
	r->crc = r->given ? rk_crc32_join(r->crc, crc, len) : crc;
	r->given += len;
	return len ? r->take(r->arg, p, len, err) : 0;
}

static int each_deflated(struct reading *r, struct rk_error *err)
{
	z_stream s = { .zalloc = rk_zlib_alloc, .zfree = rk_zlib_free };
	int rc = 0, how = Z_OK;
	size_t len;

	if (inflateInit2(&s, -MAX_WBITS) != Z_OK)
		return rk_fail_nomem(err);
	while (rc == 0 && how != Z_STREAM_END) {
		if (!s.avail_in && r->taken < r->e->packed) {
			rc = fetch(r, &len, err);
			if (rc < 0)
				break;
			s.next_in = r->in;
			s.avail_in = (uInt)len;
		}
		s.next_out = r->out;
		s.avail_out = OUT_BYTES;
		how = inflate(&s, Z_NO_FLUSH);
		if (how == Z_MEM_ERROR)
			rc = rk_fail_nomem(err);
		else if (how != Z_OK && how != Z_STREAM_END && how != Z_BUF_ERROR)
			rc = bad_member(r, s.msg ? s.msg : "invalid deflate data", err);
		else if (how == Z_BUF_ERROR && s.avail_out == OUT_BYTES && r->taken == r->e->packed)
			rc = bad_member(r, "it is cut short", err);
		else
			rc = give(r, r->out, OUT_BYTES - s.avail_out, err);
	}
	if (rc == 0 && (s.avail_in || r->taken < r->e->packed))
		rc = bad_member(r, "extra bytes after its end", err);
	inflateEnd(&s);
	return rc;
}

int rk_zip_each_bytes(struct rk_zip_file *z, const struct rk_zip_entry *e,
		      int (*take)(void *arg, const void *p, size_t len, struct rk_error *err),
		      void *arg, struct rk_error *err)
{
	struct reading *r;
	size_t len;
	int rc = 0;

	if (e->method != STORED && e->method != DEFLATED)
		return rk_fail(err, RK_E_UNSUPPORTED,
			       "'%s' uses the unsupported compression method %u", e->name,
			       e->method);
	r = rk_alloc(sizeof(*r));
	if (!r)
		return rk_fail_nomem(err);
	r->z = z;
	r->e = e;
	r->taken = r->given = 0;
	r->crc = 0;
	r->take = take;
	r->arg = arg;
	if (e->method == DEFLATED) {
		rc = each_deflated(r, err);
	} else {
		while (rc == 0 && r->taken < e->packed)
			if ((rc = fetch(r, &len, err)) == 0)
				rc = give(r, r->in, len, err);
	}
	if (rc == 0 && r->given != e->size)
		rc = bad_member(r, "its content is shorter than its header says", err);
	if (rc == 0 && r->crc != e->crc)
		rc = bad_member(r, "its CRC is wrong", err);
	rk_free(r);
	return rc;
}

struct loading {
	char *to;
	size_t len;
};

static int load_some(void *arg, const void *p, size_t len, struct rk_error *err)
{
	struct loading *l = arg;

	(void)err;
	memcpy(l->to + l->len, p, len);
	l->len += len;
	return 0;
}

int rk_zip_load(struct rk_zip_file *z, const struct rk_zip_entry *e, size_t max, char **ret,
		size_t *ret_len, struct rk_error *err)
{
	struct loading l = { 0 };
	int rc;

	if (e->size > max)
		return rk_fail(err, RK_E_LIMIT, "'%s' has more than %zu bytes", e->name, max);
	l.to = rk_alloc((size_t)e->size + 1);
	if (!l.to)
		return rk_fail_nomem(err);
	rc = rk_zip_each_bytes(z, e, load_some, &l, err);
	if (rc < 0) {
		rk_free(l.to);
		return rc;
	}
	l.to[l.len] = '\0';
	*ret = l.to;
	*ret_len = l.len;
	return 0;
}

const struct rk_zip_entry *rk_zip_entries(const struct rk_zip_file *z, size_t *ret_n)
{
	*ret_n = z->n;
	return z->entries;
}

const struct rk_zip_entry *rk_zip_find(const struct rk_zip_file *z, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < z->n; i++)
		if (z->entries[i].name_len == len && !memcmp(z->entries[i].name, name, len))
			return &z->entries[i];
	return NULL;
}

void rk_zip_close(struct rk_zip_file *z)
{
	if (!z)
		return;
	rk_file_close(z->file);
	rk_free(z->entries);
	rk_free(z->names);
	rk_free(z);
}
