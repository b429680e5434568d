/*
 * elf_tool.c - what rockit reads of an ELF file, and what it makes of it.
 *
 *	elf-tool print FILE...
 *	elf-tool edit FILE OUT RPATH rpath|runpath     RPATH "-" keeps the text
 *
 * Prints a line per fact, or how the file was edited and by how many bytes it has grown; exit
 * status 3 when the file must stay as it is, 1 when it is broken.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pack/elf/edit.h"
#include "pack/elf/read.h"

enum { PIECE_BYTES = 1 << 20 };

struct input {
	const uint8_t *data;
	size_t len;
	mode_t mode;
};

static int view(const char *path, struct input *in)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *map;

	if (fd < 0 || fstat(fd, &st) != 0 || st.st_size == 0)
		return -1;
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	*in = (struct input){ map, (size_t)st.st_size, st.st_mode };
	return map == MAP_FAILED ? -1 : 0;
}

static void print_text(const char *name, const char *value)
{
	if (value)
		printf("%s %s\n", name, value);
}

static void print_elf(const struct rk_elf *e)
{
	static const char *const kinds[] = { "none", "program", "library", "other" };

	printf("kind %s\nmachine %u\nbits %d\n", kinds[e->kind], e->machine, e->wide ? 64 : 32);
	printf("dynamic %d\n", e->dynamic);
	print_text("interpreter", e->interpreter);
	print_text("soname", e->soname);
	print_text("rpath", e->rpath);
	print_text("runpath", e->runpath);
	for (size_t i = 0; i < e->nneeded; i++)
		print_text("needed", e->needed[i]);
	for (size_t i = 0; i < e->nversions; i++)
		printf("version %s %s\n", e->versions[i].file, e->versions[i].name);
}

static int print_file(const char *path, struct rk_arena *arena, struct rk_error *err)
{
	struct input in;
	struct rk_elf e;

	if (view(path, &in) != 0 || rk_elf_read(in.data, in.len, arena, &e, err) < 0)
		return 1;
	printf("file %s\n", path);
	print_elf(&e);
	munmap((void *)in.data, in.len);
	return 0;
}

/* One piece of the new file; holes stay holes. */
static int copy_piece(int from, int to, const struct rk_elf_edit *e, uint64_t at)
{
	static uint8_t piece[PIECE_BYTES];
	uint64_t left = e->new_size - at;
	size_t len = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES, zeros = 0;

	if (pread(from, piece, len, (off_t)at) < 0)
		return 1;
	rk_elf_edit_apply(e, at, piece, len);
	while (zeros < len && piece[zeros] == 0)
		zeros++;
	return zeros < len && pwrite(to, piece, len, (off_t)at) != (ssize_t)len;
}

/* As the packager does: a piece of the old file at a time. */
static int write_new(const char *old, const struct rk_elf_edit *e, const char *path, mode_t mode)
{
	int from = open(old, O_RDONLY | O_CLOEXEC);
	int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode & 0777);
	int rc = from < 0 || to < 0 || ftruncate(to, (off_t)e->new_size) != 0;

	for (uint64_t at = 0; at < e->new_size && rc == 0; at += PIECE_BYTES)
		rc = copy_piece(from, to, e, at);
	if (from >= 0)
		close(from);
	if (to >= 0)
		rc |= close(to) != 0;
	return rc;
}

/* Reading only what is needed must give the same edit as the whole file in memory. */
static bool same_in_pieces(const char *path, const char *text, enum rk_rpath_tag tag,
			   struct rk_arena *arena, int rc, const struct rk_elf_edit *e)
{
	struct rk_elf_edit other = { 0 };
	struct rk_view v = { 0 };
	struct rk_file *f = NULL;
	bool same;

	if (rk_file_open(path, &f, NULL) < 0)
		return false;
	if (rk_view_file(f, &v, NULL) < 0) {
		rk_file_close(f);
		return false;
	}
	same = rk_elf_edit_view(&v, text, tag, arena, &other, NULL) == rc;
	if (same && rc == 0) {
		same = other.way == e->way && other.npatches == e->npatches &&
		       other.new_size == e->new_size && other.tail_at == e->tail_at &&
		       other.ntail == e->ntail &&
		       (!e->ntail || memcmp(other.tail, e->tail, e->ntail) == 0);
		for (size_t i = 0; same && i < e->npatches; i++)
			same = other.patches[i].offset == e->patches[i].offset &&
			       other.patches[i].len == e->patches[i].len &&
			       memcmp(other.patches[i].bytes, e->patches[i].bytes,
				      e->patches[i].len) == 0;
	}
	rk_view_close(&v);
	return same;
}

static int edit_file(char **argv, struct rk_arena *arena, struct rk_error *err)
{
	static const char *const ways[] = { "same", "tag", "in-place", "room", "segment" };
	const char *text = strcmp(argv[4], "-") == 0 ? NULL : argv[4];
	enum rk_rpath_tag tag = strcmp(argv[5], "rpath") == 0 ? RK_RPATH : RK_RUNPATH;
	struct rk_elf_edit e;
	struct input in;
	int rc;

	if (view(argv[2], &in) != 0)
		return 1;
	rc = rk_elf_edit(in.data, in.len, text, tag, arena, &e, err);
	if (!same_in_pieces(argv[2], text, tag, arena, rc, &e)) {
		fputs("elf-tool: another edit when only the parts that are needed are read\n",
		      stderr);
		return 1;
	}
	if (rc < 0)
		return rc == RK_E_UNSUPPORTED ? 3 : 1;
	munmap((void *)in.data, in.len);
	printf("%s %" PRIu64 "\n", ways[e.way], e.new_size - e.old_size);
	return write_new(argv[2], &e, argv[3], in.mode);
}

int main(int argc, char **argv)
{
	struct rk_error err = { 0 };
	struct rk_arena *arena = NULL;
	int rc = 2;

	if (rk_arena_new(&arena, &err) < 0)
		return 1;
	if (argc >= 3 && strcmp(argv[1], "print") == 0)
		for (int i = rc = 0; 2 + i < argc && rc == 0; i++)
			rc = print_file(argv[2 + i], arena, &err);
	else if (argc == 6 && strcmp(argv[1], "edit") == 0)
		rc = edit_file(argv, arena, &err);
	else
		fputs("usage: elf-tool print FILE... | edit FILE OUT RPATH rpath|runpath\n",
		      stderr);
	if (err.code)
		fprintf(stderr, "elf-tool: %s\n", err.message);
	rk_arena_free(arena);
	return rc;
}
