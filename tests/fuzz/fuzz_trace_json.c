/* fuzz_trace_json.c - any bytes as each of the JSON traces, every table drained. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

extern const struct rk_reader_ops rk_reader_rocprofv3_json, rk_reader_kineto_json,
	rk_reader_rocprof_v1_json;

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

static void read_as(const struct rk_reader_ops *ops, const char *path)
{
	struct rk_context ctx = { 0 };
	struct rk_error err = { 0 };
	struct rk_instream *in = NULL;
	struct rk_reader *r = NULL;
	const void *head;
	size_t n;

	if (rk_strtab_new(1 << 20, &ctx.names, &err) || rk_diag_new(&ctx.diag, &err) ||
	    rk_instream_open(path, &in, &err))
		goto out;
	if (!rk_instream_head(in, &head, &n, &err))
		ops->probe(head, n, n < (64 << 10), "fuzz.json");
	if (ops->open(in, &ctx, &r, &err)) {
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
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	char path[64];

	if (fd < 0 || write(fd, data, len) != (ssize_t)len) {
		close(fd);
		return 0;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	read_as(&rk_reader_rocprofv3_json, path);
	read_as(&rk_reader_kineto_json, path);
	read_as(&rk_reader_rocprof_v1_json, path);
	close(fd);
	return 0;
}
