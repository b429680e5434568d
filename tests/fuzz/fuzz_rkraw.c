/* fuzz_rkraw.c - any bytes as a file of the flight recorder, every table drained. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "fuzz_raw.h"
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
		raw_mend(copy, len);
		give(copy, len);
	}
	rk_free(copy);
	return 0;
}
