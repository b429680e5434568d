/* fuzz_perfetto.c - any bytes as a Perfetto trace, every table drained. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/perfetto_reader.h"

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
	struct rk_error err = { 0 };
	struct rk_instream *in = NULL;
	struct rk_reader *r = NULL;

	if (rk_strtab_new(1 << 20, &ctx.names, &err) || rk_diag_new(&ctx.diag, &err) ||
	    rk_instream_open(path, &in, &err))
		goto out;
	if (rk_reader_perfetto.open(in, &ctx, &r, &err)) {
		rk_instream_close(in);
		goto out;
	}
	drain(r);
	r->ops->close(r);
out:
	rk_diag_free(ctx.diag);
	rk_strtab_free(ctx.names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char path[64];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0)
		return 0;
	rk_reader_perfetto.probe(data, len, true, "x");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, data, len) == (ssize_t)len)
		read_file(path);
	close(fd);
	return 0;
}
