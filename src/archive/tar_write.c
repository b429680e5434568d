/*
 * tar_write.c - see tar_write.h. A tar file has headers of 512 bytes, content padded to multiples
 * of that, and two empty blocks at the end.
 */
#include "archive/tar_write.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"

enum { BLOCK = RK_TAR_BLOCK, COPY_BYTES = 256 << 10 };

/* Fields of a header, by offset and length. */
enum {
	MODE = 100,
	UID = 108,
	GID = 116,
	SIZE = 124,
	MTIME = 136,
	CHECKSUM = 148,
	TYPE = 156,
	LINK = 157,
	MAGIC = 257,
	PREFIX = 345,
	SHORT = 8, /* of mode, uid, gid */
	LONG = 12, /* of size, mtime */
	NAME_BYTES = 100,
	PREFIX_BYTES = 155,
};

static void put_octal(char *to, size_t len, uint64_t v)
{
	to[len - 1] = '\0';
	for (size_t i = len - 1; i--; v >>= 3)
		to[i] = (char)('0' + (v & 7));
}

/* A number that does not fit into octal digits is written in binary with the first bit set. */
static void put_long(char *to, uint64_t v)
{
	if (v < UINT64_C(1) << 33) {
		put_octal(to, LONG, v);
		return;
	}
	memset(to, 0, LONG);
	for (unsigned i = 0; i < 8; i++)
		to[LONG - 1 - i] = (char)(v >> (8 * i));
	to[0] = (char)0x80;
}

/* Fills all fields except the names, which are already set. */
static void fill(char h[BLOCK], char type, unsigned mode, uint64_t size, int64_t mtime)
{
	unsigned sum = 0;

	put_octal(h + MODE, SHORT, mode);
	put_octal(h + UID, SHORT, 0);
	put_octal(h + GID, SHORT, 0);
	put_long(h + SIZE, size);
	put_long(h + MTIME, mtime < 0 ? 0 : (uint64_t)mtime);
	h[TYPE] = type;
	memcpy(h + MAGIC,
	       "ustar\0"
	       "00",
	       8);
	memset(h + CHECKSUM, ' ', SHORT); /* the checksum counts its own field as spaces */
	for (unsigned i = 0; i < BLOCK; i++)
		sum += (unsigned char)h[i];
	put_octal(h + CHECKSUM, SHORT - 1, sum);
}

/*
 * Writes a name of `len` bytes to its field or, split at a slash, to two fields. If it does not
 * fit, writes its beginning for readers that do not know pax, and returns false.
 */
static bool put_name(char h[BLOCK], const char *name, size_t len)
{
	size_t cut;

	if (len <= NAME_BYTES) {
		memcpy(h, name, len);
		return true;
	}
	/* the first slash after which the rest fits into a field and is not empty */
	cut = len - NAME_BYTES - 1;
	while (cut < len && name[cut] != '/')
		cut++;
	if (cut == 0 || cut > PREFIX_BYTES || cut + 1 >= len) {
		memcpy(h, name, NAME_BYTES);
		return false;
	}
	memcpy(h + PREFIX, name, cut);
	memcpy(h, name + cut + 1, len - cut - 1);
	return true;
}

/* "LEN key=value\n", where LEN counts its own digits. */
static void put_record(struct rk_bytes *out, const char *key, const char *value, size_t len)
{
	size_t rest = strlen(key) + len + 3, total = rest + 1;
	char digits[24];

	while ((size_t)snprintf(digits, sizeof(digits), "%zu", total) + rest != total)
		total++;
	rk_bytes_puts(out, digits);
	rk_bytes_printf(out, " %s=", key);
	rk_bytes_put(out, value, len);
	rk_bytes_put_u8(out, '\n');
}

/* A pax header: a separate member before the one that it describes. */
static void put_pax(struct rk_bytes *out, const char *name, size_t name_len, const char *link,
		    int64_t mtime)
{
	static const char zeros[BLOCK];
	char h[BLOCK] = { 0 };
	struct rk_bytes records;

	rk_bytes_init(&records, out->max);
	if (name)
		put_record(&records, "path", name, name_len);
	if (link)
		put_record(&records, "linkpath", link, strlen(link));
	memcpy(h, "PaxHeaders/member", 17);
	fill(h, 'x', 0644, records.len, mtime);
	rk_bytes_put(out, h, sizeof(h));
	rk_bytes_put(out, records.data, records.len);
	rk_bytes_put(out, zeros, rk_tar_padding(records.len));
	if (records.bad)
		out->bad = true;
	rk_bytes_release(&records);
}

void rk_tar_put(struct rk_bytes *out, const struct rk_tar_member *m)
{
	size_t link_len = m->link ? strlen(m->link) : 0;
	const bool link_fits = link_len <= NAME_BYTES;
	char h[BLOCK] = { 0 };
	struct rk_bytes name;
	bool name_fits;

	rk_bytes_init(&name, out->max);
	rk_bytes_puts(&name, m->name);
	if (m->type == RK_TAR_DIR)
		rk_bytes_put_u8(&name, '/');
	if (name.bad) {
		out->bad = true;
		rk_bytes_release(&name);
		return;
	}
	name_fits = put_name(h, (const char *)name.data, name.len);
	if (link_len)
		memcpy(h + LINK, m->link, rk_min(link_len, NAME_BYTES));
	if (!name_fits || !link_fits)
		put_pax(out, name_fits ? NULL : (const char *)name.data, name.len,
			link_fits ? NULL : m->link, m->mtime);
	fill(h, (char)m->type, m->mode & 07777, m->size, m->mtime);
	rk_bytes_put(out, h, sizeof(h));
	rk_bytes_release(&name);
}

size_t rk_tar_padding(uint64_t size)
{
	return (size_t)((BLOCK - size % BLOCK) % BLOCK);
}

int rk_tar_header(struct rk_output *out, const char *name, uint64_t size, unsigned mode,
		  struct rk_error *err)
{
	char h[BLOCK] = { 0 };
	size_t len = strlen(name);

	if (!len || len > RK_TAR_NAME_MAX)
		return rk_fail(err, RK_E_LIMIT, "the name '%s' is too long for an archive", name);
	memcpy(h, name, len);
	fill(h, RK_TAR_FILE, mode, size, 0);
	return rk_output_write(out, h, sizeof(h), err);
}

static int pad(struct rk_output *out, uint64_t size, struct rk_error *err)
{
	static const char zeros[BLOCK];
	size_t rest = rk_tar_padding(size);

	return rest ? rk_output_write(out, zeros, rest, err) : 0;
}

int rk_tar_file(struct rk_output *out, const char *name, const void *data, size_t len,
		struct rk_error *err)
{
	int rc = rk_tar_header(out, name, len, 0644, err);

	if (rc < 0 || (len && (rc = rk_output_write(out, data, len, err)) < 0))
		return rc;
	return pad(out, len, err);
}

int rk_tar_spill(struct rk_output *out, const char *name, struct rk_spill *spill,
		 struct rk_error *err)
{
	uint64_t size = rk_spill_size(spill);
	char *buf = rk_alloc(COPY_BYTES);
	int rc = buf ? rk_tar_header(out, name, size, 0644, err) : rk_fail_nomem(err);

	for (uint64_t at = 0; rc == 0 && at < size; at += COPY_BYTES) {
		size_t n = rk_min(size - at, COPY_BYTES);

		rc = rk_spill_read(spill, at, buf, n, err);
		if (rc == 0)
			rc = rk_output_write(out, buf, n, err);
	}
	rk_free(buf);
	return rc < 0 ? rc : pad(out, size, err);
}

int rk_tar_end(struct rk_output *out, struct rk_error *err)
{
	static const char zeros[2 * BLOCK];

	return rk_output_write(out, zeros, sizeof(zeros), err);
}
