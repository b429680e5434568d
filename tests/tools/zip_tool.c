/*
 * zip_tool.c - writes a zip archive of what a list on stdin says, for tests and for measuring.
 *
 *	zip-tool [--threads N] [--level N] [--epoch SECONDS] [--zlib] OUT.zip
 *
 * A line of the list is MODE (octal), "packed" or "stored", a file, and a name, with tabs between.
 * Prints sha256, crc, size, packed size and name of each member; to stderr what it took.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/deflate_pack.h"
#include "archive/zip_write.h"
#include "base/clock.h"

struct list {
	struct rk_zip_member *m;
	size_t n, cap;
};

static int read_file(const void *arg, uint64_t offset, void *to, size_t len, struct rk_error *err)
{
	int fd = open(arg, O_RDONLY | O_CLOEXEC);
	size_t done = 0;
	ssize_t n = 1;

	while (fd >= 0 && done < len && n > 0) {
		n = pread(fd, (char *)to + done, len - done, (off_t)(offset + done));
		done += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		close(fd);
	if (done < len)
		return rk_fail(err, RK_E_IO, "cannot read '%s'", (const char *)arg);
	return 0;
}

static bool add_line(struct list *l, char *line)
{
	char *kind = strchr(line, '\t'), *path = kind ? strchr(kind + 1, '\t') : NULL;
	char *name = path ? strchr(path + 1, '\t') : NULL;
	struct rk_zip_member *m;
	struct stat st;

	if (!name)
		return false;
	*kind++ = *path++ = *name++ = '\0';
	name[strcspn(name, "\n")] = '\0';
	if (stat(path, &st))
		return false;
	if (l->n == l->cap) {
		l->cap = l->cap ? 2 * l->cap : 64;
		l->m = realloc(l->m, l->cap * sizeof(*l->m));
	}
	m = &l->m[l->n++];
	memset(m, 0, sizeof(*m));
	for (; *line >= '0' && *line <= '7'; line++)
		m->mode = m->mode * 8 + (uint32_t)(*line - '0');
	m->size = (uint64_t)st.st_size;
	m->stored = !strcmp(kind, "stored");
	m->read = read_file;
	m->arg = strdup(path);
	m->name = strdup(name);
	return true;
}

static bool read_list(struct list *l)
{
	char *line = NULL;
	size_t cap = 0;
	bool ok = true;

	while (ok && getline(&line, &cap, stdin) > 0)
		ok = add_line(l, line);
	free(line);
	return ok;
}

static void print_list(const struct list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct rk_zip_member *m = &l->m[i];

		for (unsigned k = 0; k < RK_SHA256_BYTES; k++)
			printf("%02x", m->sha256[k]);
		printf(" %08" PRIx32 " %" PRIu64 " %" PRIu64 " %s\n", m->crc, m->size, m->packed,
		       m->name);
	}
}

static void free_list(struct list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free((void *)(uintptr_t)l->m[i].name);
		free((void *)(uintptr_t)l->m[i].arg);
	}
	free(l->m);
}

/* Peak memory in KB. Not by getrusage: there the parent counts, as it was before exec. */
static uint64_t peak_kb(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	unsigned long kb = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %lu", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb;
}

static void say_cost(int64_t start_ns, const struct list *l, uint64_t packed)
{
	double wall = (double)(rk_clock_steady_ns() - start_ns) / 1e9, cpu;
	uint64_t bytes = 0;
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	cpu = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	      (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
	for (size_t i = 0; i < l->n; i++)
		bytes += l->m[i].size;
	fprintf(stderr,
		"wall %.3f s, cpu %.3f s, %.1f MB/s of cpu, %" PRIu64 " -> %" PRIu64
		" bytes (%.4f), rss %.1f MB\n",
		wall, cpu, (double)bytes / 1e6 / cpu, bytes, packed,
		bytes ? (double)packed / (double)bytes : 0, (double)peak_kb() / 1024);
}

static int write_zip(const char *path, struct list *l, unsigned threads,
		     const struct rk_zip_options *o, struct rk_error *err)
{
	struct rk_output *out = NULL;
	struct rk_pool *pool = NULL;
	struct rk_zip *z = NULL;
	int64_t start = rk_clock_steady_ns();
	int rc = rk_pool_new(threads, &pool, err);

	if (rc == 0)
		rc = rk_output_open(path, &out, err);
	if (rc == 0)
		rc = rk_zip_new(out, pool, o, &z, err);
	if (rc == 0)
		rc = rk_zip_add(z, l->m, l->n, err);
	if (rc == 0)
		rc = rk_zip_finish(z, err);
	if (rc == 0)
		say_cost(start, l, rk_output_offset(out));
	rk_zip_free(z);
	rk_pool_free(pool);
	if (rc < 0)
		rk_output_abort(out);
	return rc < 0 ? rc : rk_output_commit(out, err);
}

static uint64_t number(const char *text)
{
	uint64_t v = 0;

	for (; text && *text >= '0' && *text <= '9'; text++)
		v = v * 10 + (uint64_t)(*text - '0');
	return v;
}

int main(int argc, char **argv)
{
	struct rk_zip_options o = { .level = 6 };
	struct rk_error err = { 0 };
	struct list l = { 0 };
	unsigned threads = 1;
	int i, rc;

	for (i = 1; i < argc - 1; i++) {
		if (!strcmp(argv[i], "--threads"))
			threads = (unsigned)number(argv[++i]);
		else if (!strcmp(argv[i], "--level"))
			o.level = (int)number(argv[++i]);
		else if (!strcmp(argv[i], "--epoch"))
			o.epoch = (int64_t)number(argv[++i]);
		else if (!strcmp(argv[i], "--zlib"))
			rk_deflater_force_zlib(true);
	}
	if (i != argc - 1 || !read_list(&l)) {
		fprintf(stderr, "usage: zip-tool [--threads N] [--level N] [--epoch SECONDS] "
				"[--zlib] OUT.zip <LIST\n");
		return 2;
	}
	rc = write_zip(argv[i], &l, threads, &o, &err);
	if (rc < 0)
		fprintf(stderr, "zip-tool: %s\n", err.message);
	else
		print_list(&l);
	free_list(&l);
	return rc < 0;
}
