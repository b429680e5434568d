/*
 * fuzz_pack_wheel.c - any texts as the files of a wheel, through the closure prover.
 *
 * The input is cut at lines of "%%": RECORD, METADATA, WHEEL, entry_points.txt, a Python file, a library,
 * devel's archive. They are packed here, so that the fuzzer need not find sums.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "rockit/pack.h"

#include "base/bytes.h"
#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { PARTS = 7 };

static const char *const names[PARTS] = {
	"rocm_sdk_devel-1.0.dist-info/RECORD",
	"rocm_sdk_devel-1.0.dist-info/METADATA",
	"rocm_sdk_devel-1.0.dist-info/WHEEL",
	"rocm_sdk_devel-1.0.dist-info/entry_points.txt",
	"rocm_sdk_devel/m.py",
	"_rocm_sdk_devel/lib/l.so",
	"rocm_sdk_devel/_devel.tar",
};

static void put(struct rk_bytes *b, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		rk_bytes_put_u8(b, (uint8_t)(v >> 8 * i));
}

static void put_common(struct rk_bytes *b, const char *name, const uint8_t *data, size_t len)
{
	put(b, 0, 2 + 2 + 4);
	put(b, crc32(0, data, (uInt)len), 4);
	put(b, len, 4);
	put(b, len, 4);
	put(b, strlen(name), 2);
	put(b, 0, 2);
}

static void add(struct rk_bytes *body, struct rk_bytes *directory, const char *name,
		const uint8_t *data, size_t len)
{
	size_t at = body->len;

	put(body, 0x04034b50, 4);
	put(body, 20, 2);
	put_common(body, name, data, len);
	rk_bytes_puts(body, name);
	rk_bytes_put(body, data, len);
	put(directory, 0x02014b50, 4);
	put(directory, 3 << 8, 2);
	put(directory, 20, 2);
	put_common(directory, name, data, len);
	put(directory, 0, 2 + 2 + 2);
	put(directory, (uint64_t)0100755 << 16, 4);
	put(directory, at, 4);
	rk_bytes_puts(directory, name);
}

static void end(struct rk_bytes *body, const struct rk_bytes *directory, unsigned n)
{
	size_t at = body->len;

	rk_bytes_put(body, directory->data, directory->len);
	put(body, 0x06054b50, 4);
	put(body, 0, 4);
	put(body, n, 2);
	put(body, n, 2);
	put(body, directory->len, 4);
	put(body, at, 4);
	put(body, 0, 2);
}

static void pack(struct rk_bytes *body, const uint8_t *data, size_t len)
{
	struct rk_bytes directory;
	unsigned n = 0;

	rk_bytes_init(&directory, 1 << 20);
	while (n < PARTS) {
		const uint8_t *cut = len ? memmem(data, len, "%%\n", 3) : NULL;
		size_t part = cut ? (size_t)(cut - data) : len;

		add(body, &directory, names[n++], data, part);
		if (!cut)
			break;
		data += part + 3;
		len -= part + 3;
	}
	end(body, &directory, n);
	rk_bytes_release(&directory);
}

/* The prover goes by the name of a file. */
static const char *save(const struct rk_bytes *body)
{
	static char path[128];
	int fd;

	snprintf(path, sizeof(path), "/dev/shm/rockit-%d-rocm_sdk_devel-1.0-py3-none-any.whl",
		 (int)getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, body->data, body->len) != (ssize_t)body->len)
		return NULL;
	close(fd);
	return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct rk_pack_proof *proof = NULL;
	struct rk_error err = { 0 };
	struct rk_bytes body;
	const char *path;
	char *text = NULL;
	size_t n;

	rk_bytes_init(&body, 64 << 20);
	pack(&body, data, len);
	path = save(&body);
	rk_bytes_release(&body);
	if (!path)
		return 0;
	if (rk_pack_verify(
		    &(struct rk_pack_verify_options){ .paths = &path, .npaths = 1, .jobs = 1 },
		    &proof, &err) < 0 ||
	    rk_pack_proof_render(proof, RK_REPORT_JSON, &text, &n, &err) < 0)
		abort();
	rk_text_free(text);
	rk_pack_proof_free(proof);
	unlink(path);
	return 0;
}
