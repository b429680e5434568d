/* content.c - files of packages as pieces. */
#include "pack/content.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pack/elf/read.h"
#include "tap.h"
#include "world.h"

/* "hello " of a file, zeros, " world" of memory, the file again. */
static void make(struct rk_arena *a, const struct rk_origin *o, struct rk_content **ret)
{
	CHECK_I64(rk_content_new(a, ret, NULL), 0);
	CHECK_I64(rk_content_origin(a, *ret, o, NULL, NULL), 0);
	CHECK_I64(rk_content_zeros(a, *ret, 2, NULL), 0);
	CHECK_I64(rk_content_bytes(a, *ret, " world", 6, NULL), 0);
	CHECK_I64(rk_content_bytes(a, *ret, "", 0, NULL), 0);
	CHECK_I64(rk_content_origin(a, *ret, o, NULL, NULL), 0);
}

TEST(every_part_of_a_content_reads_as_the_whole_does)
{
	static const char whole[] = "hello\0\0 worldhello";
	const size_t size = sizeof(whole) - 1;
	struct rk_arena *a = NULL;
	struct rk_content *c = NULL;
	struct rk_origin o = { .size = 5, .name = "greeting" };
	struct world w;
	char buf[32];

	world_open(&w, 1);
	o.path = world_file(&w, "greeting", "hello", 5);
	CHECK_I64(rk_arena_new(&a, NULL), 0);
	make(a, &o, &c);
	CHECK_U64(c->size, size);
	for (size_t from = 0; from <= size; from++) {
		for (size_t len = 0; from + len <= size; len++) {
			CHECK_I64(rk_content_read(c, from, buf, len, NULL), 0);
			CHECK_MEM(buf, whole + from, len);
		}
	}
	CHECK_I64(rk_content_read(c, 1, buf, size, NULL), RK_E_USAGE);
	rk_arena_free(a);
	world_close(&w);
}

TEST(a_file_that_changes_its_size_is_reported)
{
	struct rk_arena *a = NULL;
	struct rk_content *c = NULL;
	struct rk_origin o = { .size = 5, .name = "greeting" };
	struct rk_error err = { 0 };
	struct rk_view view = { 0 };
	struct world w;
	char buf[8];

	world_open(&w, 1);
	o.path = world_file(&w, "greeting", "hell", 4);
	CHECK_I64(rk_arena_new(&a, NULL), 0);
	make(a, &o, &c);
	CHECK_I64(rk_content_read(c, 0, buf, 5, &err), RK_E_IO);
	CHECK_STR(err.message, "'greeting' changed while it was being packed");
	CHECK_I64(rk_origin_view(&o, &view, NULL), RK_E_IO);
	rk_view_close(&view);
	rk_arena_free(a);
	world_close(&w);
}

/* A mapped file would end the process with SIGBUS here. */
TEST(a_file_that_is_truncated_while_it_is_read_is_an_error)
{
	enum { SIZE = 300000 };
	struct rk_arena *a = NULL;
	struct rk_origin o = { .size = SIZE, .name = "library" };
	char *bytes = calloc(1, SIZE);
	struct rk_elf_edit edit;
	struct rk_error err = { 0 };
	struct rk_view view = { 0 };
	struct rk_elf elf;
	struct world w;

	world_open(&w, 1);
	CHECK_I64(rk_arena_new(&a, NULL), 0);
	/* 64 bits, a library, with program headers far behind */
	memcpy(bytes, "\177ELF\2\1\1", 7);
	bytes[16] = 3;
	bytes[18] = 62;
	bytes[32 + 2] = 4; /* e_phoff: 0x40000 */
	bytes[54] = 56;
	bytes[56] = 1;
	o.path = world_file(&w, "library", bytes, SIZE);
	CHECK_I64(rk_origin_view(&o, &view, &err), 0);
	CHECK_I64(rk_elf_read_view(&view, a, &elf, &err), 0);
	CHECK_I64(elf.kind, RK_ELF_SHARED);
	rk_view_close(&view);

	CHECK_I64(rk_origin_view(&o, &view, &err), 0);
	CHECK_I64(truncate(o.path, 100), 0);
	CHECK_I64(rk_elf_read_view(&view, a, &elf, &err), RK_E_IO);
	CHECK(strstr(err.message, "library' was truncated while it was being read"));
	rk_error_clear(&err);
	CHECK_I64(rk_elf_edit_view(&view, "/x", RK_RPATH, a, &edit, &err), RK_E_IO);
	CHECK(strstr(err.message, "library' was truncated while it was being read"));
	rk_view_close(&view);
	rk_error_clear(&err);
	CHECK_I64(rk_origin_view(&o, &view, &err), RK_E_IO);
	CHECK_STR(err.message, "'library' changed while it was being packed");
	free(bytes);
	rk_arena_free(a);
	world_close(&w);
}

TEST(another_file_of_the_same_size_is_reported)
{
	struct rk_arena *a = NULL;
	struct rk_content *c = NULL;
	struct rk_origin o = { .size = 5, .name = "greeting" };
	struct rk_error err = { 0 };
	struct stat st;
	struct world w;
	char buf[8], secret[512];

	world_open(&w, 1);
	snprintf(secret, sizeof(secret), "%s", world_file(&w, "secret", "other", 5));
	o.path = world_file(&w, "greeting", "hello", 5);
	CHECK_I64(stat(o.path, &st), 0);
	o.dev = (uint64_t)st.st_dev;
	o.ino = (uint64_t)st.st_ino;
	o.mtime_ns = rk_origin_time(&st);
	CHECK_I64(rk_arena_new(&a, NULL), 0);
	make(a, &o, &c);
	CHECK_I64(rk_content_read(c, 0, buf, 5, &err), 0);
	CHECK_I64(unlink(o.path), 0);
	CHECK_I64(symlink(secret, o.path), 0);
	CHECK_I64(rk_content_read(c, 0, buf, 5, &err), RK_E_IO);
	CHECK_STR(err.message, "'greeting' changed while it was being packed");
	rk_arena_free(a);
	world_close(&w);
}

TEST(a_part_of_a_spill_is_seen_in_place)
{
	struct rk_origin o = { .size = 3, .offset = 5000 };
	struct rk_view view = { 0 };
	struct world w;
	uint64_t at;
	char head[8];
	size_t n = 0;

	world_open(&w, 1);
	CHECK_I64(rk_spill_new(w.dir, &o.spill, NULL), 0);
	CHECK_I64(rk_spill_resize(o.spill, 5000, NULL), 0);
	CHECK_I64(rk_spill_append(o.spill, "abc", 3, &at, NULL), 0);
	CHECK_I64(rk_origin_view(&o, &view, NULL), 0);
	CHECK_U64(view.len, 3);
	CHECK_MEM(view.data, "abc", 3);
	rk_view_close(&view);
	CHECK_I64(rk_origin_head(&o, head, sizeof(head), &n, NULL), 0);
	CHECK_U64(n, 3);
	o.size = 4;
	CHECK_I64(rk_origin_view(&o, &view, NULL), RK_E_IO);
	rk_spill_free(o.spill);
	world_close(&w);
}
