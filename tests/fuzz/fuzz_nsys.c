/* fuzz_nsys.c - any bytes as a database of Nsight Systems, rocprof v1 or rocprof-compute. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "format/reader.h"

extern const struct rk_reader_ops rk_reader_nsys_sqlite, rk_reader_rocprof_v1_db,
	rk_reader_compute_db;

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

static void read_file(const struct rk_reader_ops *ops, const char *path)
{
	struct rk_context ctx = { 0 };
	struct rk_error err = { 0 };
	struct rk_instream *in = NULL;
	struct rk_reader *r = NULL;

	if (rk_strtab_new(1 << 20, &ctx.names, &err) || rk_diag_new(&ctx.diag, &err) ||
	    rk_instream_open(path, &in, &err))
		goto out;
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

/* A file with a name: SQLite resolves links, and a memory file has nothing to resolve to. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct rk_reader_ops *const readers[] = { &rk_reader_nsys_sqlite,
							       &rk_reader_rocprof_v1_db,
							       &rk_reader_compute_db };
	static char path[64];
	int fd;

	snprintf(path, sizeof(path), "/dev/shm/fuzz-nsys-%d", (int)getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return 0;
	for (unsigned i = 0; write(fd, data, len) == (ssize_t)len && i < 3; i++) {
		if (readers[i]->probe(data, len, true, "x"))
			read_file(readers[i], path);
		if (lseek(fd, 0, SEEK_SET) < 0)
			break;
	}
	close(fd);
	unlink(path);
	return 0;
}
