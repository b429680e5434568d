/* fuzz_parquet.c - any bytes as a Parquet file, every row of it. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

extern const struct rk_reader_ops rk_reader_parquet;

enum { MOST_BATCHES = 64 }; /* a run of a million nulls takes a dozen bytes and is no damage */

static void drain(struct rk_reader *r)
{
	struct rk_error err = { 0 };
	struct rk_source *s = NULL;
	const struct rk_batch *b;

	for (unsigned t = 0; t < RK_NTABLES; t++) {
		if (!(r->tables & RK_TABLE_BIT(t)) ||
		    rk_reader_parquet.scan(r, (enum rk_table)t, RK_WANT_ALL, &s, &err) < 0)
			continue;
		for (int i = 0; i < MOST_BATCHES && rk_source_next(s, &b, &err) == 1; i++)
			;
		rk_source_close(s);
	}
}

static void read_file(const char *path, struct rk_context *ctx)
{
	struct rk_error err = { 0 };
	struct rk_instream *in = NULL;
	struct rk_reader *r = NULL;

	if (rk_instream_open(path, &in, &err) < 0)
		return;
	if (rk_reader_parquet.open(in, ctx, &r, &err) < 0) {
		rk_instream_close(in);
		return;
	}
	drain(r);
	rk_reader_parquet.close(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct rk_context ctx = { 0 };
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	char path[64];

	if (fd < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, data, len) == (ssize_t)len && rk_strtab_new(1 << 20, &ctx.names, NULL) == 0 &&
	    rk_diag_new(&ctx.diag, NULL) == 0)
		read_file(path, &ctx);
	rk_diag_free(ctx.diag);
	rk_strtab_free(ctx.names);
	close(fd);
	return 0;
}
