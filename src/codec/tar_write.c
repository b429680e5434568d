/* tar_write.c - headers of 512 bytes, content padded to as much, two empty blocks at the end. */
#include "codec/tar_write.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

enum { BLOCK = 512, COPY_BYTES = 256 << 10 };

/* Fields of a header, by offset and length. */
enum {
	MODE = 100,
	UID = 108,
	GID = 116,
	SIZE = 124,
	MTIME = 136,
	CHECKSUM = 148,
	TYPE = 156,
	MAGIC = 257,
	SHORT = 8, /* of mode, uid, gid */
	LONG = 12, /* of size, mtime */
};

static void put_octal(char *to, size_t len, uint64_t v)
{
	to[len - 1] = '\0';
	for (size_t i = len - 1; i--; v >>= 3)
		to[i] = (char)('0' + (v & 7));
}

/* What does not fit into octal digits is binary, its first bit set. */
static void put_size(char *to, uint64_t v)
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

static void put_checksum(char *h)
{
	unsigned sum = 0;

	memset(h + CHECKSUM, ' ', SHORT);
	for (unsigned i = 0; i < BLOCK; i++)
		sum += (unsigned char)h[i];
	put_octal(h + CHECKSUM, SHORT - 1, sum);
}

int rk_tar_header(struct rk_output *out, const char *name, uint64_t size, unsigned mode,
		  struct rk_error *err)
{
	char h[BLOCK] = { 0 };
	size_t len = strlen(name);

	if (!len || len > RK_TAR_NAME_MAX)
		return rk_fail(err, RK_E_LIMIT, "the name '%s' is too long for an archive", name);
	memcpy(h, name, len);
	put_octal(h + MODE, SHORT, mode);
	put_octal(h + UID, SHORT, 0);
	put_octal(h + GID, SHORT, 0);
	put_size(h + SIZE, size);
	put_octal(h + MTIME, LONG, 0);
	h[TYPE] = '0';
	memcpy(h + MAGIC,
	       "ustar\0"
	       "00",
	       8);
	put_checksum(h);
	return rk_output_write(out, h, sizeof(h), err);
}

int rk_tar_pad(struct rk_output *out, uint64_t size, struct rk_error *err)
{
	static const char zeros[BLOCK];
	size_t rest = (size_t)(size % BLOCK);

	return rest ? rk_output_write(out, zeros, BLOCK - rest, err) : 0;
}

int rk_tar_file(struct rk_output *out, const char *name, const void *data, size_t len,
		struct rk_error *err)
{
	int rc = rk_tar_header(out, name, len, 0644, err);

	if (rc == 0 && len)
		rc = rk_output_write(out, data, len, err);
	return rc < 0 ? rc : rk_tar_pad(out, len, err);
}

int rk_tar_spill(struct rk_output *out, const char *name, struct rk_spill *spill,
		 struct rk_error *err)
{
	uint64_t size = rk_spill_size(spill), at = 0;
	char *buf = rk_alloc(COPY_BYTES);
	int rc = buf ? rk_tar_header(out, name, size, 0644, err) : rk_fail_nomem(err);

	while (rc == 0 && at < size) {
		size_t n = size - at < COPY_BYTES ? (size_t)(size - at) : COPY_BYTES;

		rc = rk_spill_read(spill, at, buf, n, err);
		if (rc == 0)
			rc = rk_output_write(out, buf, n, err);
		at += n;
	}
	rk_free(buf);
	return rc < 0 ? rc : rk_tar_pad(out, size, err);
}

int rk_tar_end(struct rk_output *out, struct rk_error *err)
{
	static const char zeros[2 * BLOCK];

	return rk_output_write(out, zeros, sizeof(zeros), err);
}
