/* fuzz_samples.c - any bytes as a file of samples, sysinfo, roofline or a raw text trace. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/reader.h"

extern const struct rk_reader_ops rk_reader_samples_csv, rk_reader_roofline_csv,
	rk_reader_sysinfo_csv, rk_reader_rocprof_v1_txt;

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

static void read_as(const struct rk_reader_ops *ops, const char *path, const uint8_t *data,
		    size_t len)
{
	struct rk_context ctx = { 0 };
	struct rk_error err = { 0 };
	struct rk_instream *in = NULL;
	struct rk_reader *r = NULL;

	ops->probe(data, len, true, "fuzz");
	if (rk_strtab_new(1 << 20, &ctx.names, &err) || rk_diag_new(&ctx.diag, &err) ||
	    rk_pool_new(1, &ctx.pool, &err) || rk_instream_open(path, &in, &err))
		goto out;
	if (ops->open(in, &ctx, &r, &err)) {
		rk_instream_close(in);
		goto out;
	}
	drain(r);
	ops->close(r);
out:
	rk_pool_free(ctx.pool);
	rk_diag_free(ctx.diag);
	rk_strtab_free(ctx.names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct rk_reader_ops *const all[] = { &rk_reader_samples_csv,
							   &rk_reader_roofline_csv,
							   &rk_reader_sysinfo_csv,
							   &rk_reader_rocprof_v1_txt };
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	char path[64];

	if (fd < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, data, len) == (ssize_t)len)
		for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
			read_as(all[i], path, data, len);
	close(fd);
	return 0;
}
