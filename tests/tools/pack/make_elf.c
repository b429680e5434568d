/*
 * make_elf.c - `make-elf launcher MACHINE RELPATH FILE`, `make-elf alias MACHINE NAME SONAME FILE`,
 * `make-elf target FILE`: what the library makes, for scripts.
 */
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "io/file.h"
#include "io/output.h"
#include "pack/elf/launcher.h"

static uint16_t machine_of(const char *name)
{
	return !strcmp(name, "x86_64") ? EM_X86_64 : !strcmp(name, "aarch64") ? EM_AARCH64 : 0;
}

static int save(const char *path, const struct rk_bytes *b, struct rk_error *err)
{
	int rc = rk_write_file(path, (const char *)b->data, b->len, err);

	if (rc == 0)
		chmod(path, 0755);
	return rc;
}

static int target(const char *path, struct rk_error *err)
{
	unsigned char head[RK_LAUNCHER_BYTES_MAX + 1];
	struct rk_file *f = NULL;
	const char *found = NULL;
	size_t len = 0;
	int rc = rk_file_open(path, &f, err);

	if (rc == 0)
		rc = rk_file_pread(f, head, sizeof(head), 0, &len, err);
	if (rc == 0)
		found = rk_launcher_target(head, len);
	rk_file_close(f);
	if (found)
		puts(found);
	return rc < 0 ? rc : !found;
}

int main(int argc, char **argv)
{
	struct rk_error err = { 0 };
	struct rk_bytes out;
	int rc = 2;

	rk_bytes_init(&out, 1 << 20);
	if (argc == 5 && !strcmp(argv[1], "launcher")) {
		rc = rk_launcher_make(machine_of(argv[2]), argv[3], &out, &err);
		rc = rc < 0 ? rc : save(argv[4], &out, &err);
	} else if (argc == 6 && !strcmp(argv[1], "alias")) {
		rc = rk_alias_library_make(machine_of(argv[2]), argv[3], argv[4], &out, &err);
		rc = rc < 0 ? rc : save(argv[5], &out, &err);
	} else if (argc == 3 && !strcmp(argv[1], "target")) {
		rc = target(argv[2], &err);
	}
	if (rc < 0)
		fprintf(stderr, "make-elf: %s\n", err.message);
	rk_bytes_release(&out);
	return rc < 0 ? 1 : rc;
}
