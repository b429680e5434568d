/* fuzz_rkraw.c - any bytes as a file of the flight recorder, every table drained. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "read/rkraw/raw.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void drain(struct rk_reader *r)
{
	for (int t = 0; t < RK_NTABLES; t++) {
		struct rk_error err = { 0 };
		const struct rk_batch *b;
		struct rk_source *s = NULL;

		if (!(r->tables >> t & 1) ||
		    r->ops->scan(r, (enum rk_table)t, RK_WANT_ALL, &s, &err))
			continue;
		while (rk_source_next(s, &b, &err) > 0)
			;
		rk_source_close(s);
	}
}

static void read_file(const char *path)
{
	struct rk_context ctx = { 0 };
	struct rk_rkraw_info info;
	struct rk_error err = { 0 };
	struct rk_instream *in = NULL;
	const struct rk_reader_ops *ops = rk_reader_by_name("rkraw");
	struct rk_reader *r = NULL;

	rk_rkraw_info(path, &info, &err);
	err = (struct rk_error){ 0 };
	if (rk_strtab_new(1 << 20, &ctx.names, &err) || rk_diag_new(&ctx.diag, &err) ||
	    rk_instream_open(path, &in, &err))
		goto out;
	if (ops->open(ops, in, &ctx, &r, &err)) {
		rk_instream_close(in);
		goto out;
	}
	drain(r);
	r->ops->close(r);
out:
	rk_diag_free(ctx.diag);
	rk_strtab_free(ctx.names);
}

/* Sums that are right let changes through to what is behind them. */
static void mend(uint8_t *data, size_t len)
{
	struct rk_raw_header h;
	struct rk_raw_block b;
	size_t size = RK_RAW_BLOCK_MIN;

	if (len < sizeof(h))
		return;
	memcpy(&h, data, sizeof(h));
	if (h.block_bytes >= RK_RAW_BLOCK_MIN && h.block_bytes <= RK_RAW_BLOCK_MAX)
		size = h.block_bytes;
	for (size_t at = size; at + sizeof(b) <= len; at += size) {
		memcpy(&b, data + at, sizeof(b));
		if ((uint32_t)b.published > len - at - sizeof(b))
			continue;
		b.sum = rk_raw_block_sum(&b, data + at + sizeof(b), (uint32_t)b.published);
		memcpy(data + at, &b, sizeof(b));
	}
}

static void give(const uint8_t *data, size_t len)
{
	char path[64];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, data, len) == (ssize_t)len)
		read_file(path);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t *copy = rk_alloc(len + 1);

	rk_reader_probe(rk_reader_by_name("rkraw"), data, len, true);
	give(data, len);
	if (copy) {
		memcpy(copy, data, len);
		mend(copy, len);
		give(copy, len);
	}
	rk_free(copy);
	return 0;
}
