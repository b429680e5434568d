/* output.c - files appear whole or not at all. */
#include "io/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "io/file.h"
#include "tap.h"
#include "world.h"

static const char *path_in(struct world *w, const char *name)
{
	snprintf(w->path, sizeof(w->path), "%s/%s", w->dir, name);
	return w->path;
}

static const char *content(struct world *w, const char *name)
{
	static char text[100];
	FILE *f = fopen(path_in(w, name), "rb");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	if (f)
		fclose(f);
	text[n] = '\0';
	return f ? text : NULL;
}

TEST(a_file_appears_when_it_is_committed)
{
	struct rk_output *o = NULL;
	struct stat st;
	mode_t mask = umask(022);
	struct world w;

	world_open(&w, 1);
	CHECK_I64(rk_output_open(path_in(&w, "out"), &o, NULL), 0);
	CHECK_I64(rk_output_write(o, "hello ", 6, NULL), 0);
	CHECK_I64(rk_output_write(o, "", 0, NULL), 0);
	CHECK_I64(rk_output_write(o, "world", 5, NULL), 0);
	CHECK_U64(rk_output_offset(o), 11);
	CHECK(!world_has(&w, "out"));
	CHECK_I64(rk_output_commit(o, NULL), 0);
	CHECK_STR(content(&w, "out"), "hello world");
	CHECK_U64(world_entries(&w, "."), 1);
	CHECK(!stat(path_in(&w, "out"), &st) && (st.st_mode & 0777) == 0644);
	umask(mask);
	world_close(&w);
}

TEST(an_aborted_file_leaves_nothing_and_keeps_the_old_one)
{
	struct rk_output *o = NULL;
	struct world w;

	world_open(&w, 1);
	CHECK_I64(rk_output_open(path_in(&w, "new"), &o, NULL), 0);
	CHECK_I64(rk_output_write(o, "x", 1, NULL), 0);
	rk_output_abort(o);
	rk_output_abort(NULL);
	CHECK_U64(world_entries(&w, "."), 0);
	world_text(&w, "old", "old");
	CHECK_I64(rk_output_open(path_in(&w, "old"), &o, NULL), 0);
	CHECK_I64(rk_output_write(o, "new", 3, NULL), 0);
	CHECK_STR(content(&w, "old"), "old");
	rk_output_abort(o);
	CHECK_STR(content(&w, "old"), "old");
	CHECK_U64(world_entries(&w, "."), 1);
	world_close(&w);
}

TEST(an_existing_file_is_replaced_in_one_step)
{
	struct rk_output *o = NULL;
	struct world w;

	world_open(&w, 1);
	world_text(&w, "out", "something longer than the new content");
	CHECK_I64(rk_output_open(path_in(&w, "out"), &o, NULL), 0);
	CHECK_I64(rk_output_write(o, "new", 3, NULL), 0);
	CHECK_I64(rk_output_commit(o, NULL), 0);
	CHECK_STR(content(&w, "out"), "new");
	CHECK_U64(world_entries(&w, "."), 1);
	world_close(&w);
}

TEST(every_failing_write_leaves_nothing)
{
	for (uint64_t n = 1; n < 20; n++) {
		struct rk_output *o = NULL;
		struct rk_error err = { 0 };
		struct world w;
		int rc;

		world_open(&w, 1);
		rk_output_fail_after(n, ENOSPC);
		rc = rk_output_open(path_in(&w, "out"), &o, &err);
		for (int i = 0; rc == 0 && i < 5; i++)
			rc = rk_output_write(o, "data", 4, &err);
		if (rc == 0)
			rc = rk_output_commit(o, &err);
		else
			rk_output_abort(o);
		rk_output_fail_after(0, 0);
		if (rc == 0) {
			CHECK_U64(n, 7); /* five writes and the commit can fail */
			world_close(&w);
			break;
		}
		CHECK_I64(rc, RK_E_IO);
		CHECK_I64(err.code, RK_E_IO);
		CHECK(strstr(err.message, "out'") && strstr(err.message, "No space left"));
		CHECK_U64(world_entries(&w, "."), 0);
		world_close(&w);
	}
}

TEST(places_that_cannot_be_written_are_reported)
{
	struct rk_output *o = NULL;
	struct rk_error err = { 0 };
	struct world w;

	world_open(&w, 1);
	CHECK_I64(rk_output_open(path_in(&w, "missing/out"), &o, &err), RK_E_IO);
	CHECK(strstr(err.message, "missing/out': No such file or directory") != NULL);
	rk_error_clear(&err);
	CHECK_I64(rk_output_open(w.dir, &o, &err), RK_E_IO);
	CHECK(strstr(err.message, "Is a directory") != NULL);
	if (geteuid()) {
		rk_error_clear(&err);
		chmod(w.dir, 0500);
		CHECK_I64(rk_output_open(path_in(&w, "out"), &o, &err), RK_E_IO);
		CHECK(strstr(err.message, "Permission denied") != NULL);
		chmod(w.dir, 0700);
	}
	world_close(&w);
}

TEST(written_bytes_can_be_changed_and_forgotten)
{
	struct rk_output *o = NULL;
	struct rk_error err = { 0 };
	struct world w;

	world_open(&w, 1);
	CHECK_I64(rk_output_open(path_in(&w, "out"), &o, NULL), 0);
	CHECK_I64(rk_output_write(o, "hello world", 11, NULL), 0);
	CHECK_I64(rk_output_patch(o, 6, "there", 5, NULL), 0);
	CHECK_I64(rk_output_patch(o, 11, "", 0, NULL), 0);
	CHECK_I64(rk_output_patch(o, 7, "there", 5, &err), RK_E_USAGE);
	CHECK_I64(rk_output_patch(o, 12, "", 0, NULL), RK_E_USAGE);
	CHECK_I64(rk_output_rewind(o, 12, NULL), RK_E_USAGE);
	CHECK_U64(rk_output_offset(o), 11);
	CHECK_I64(rk_output_rewind(o, 8, NULL), 0);
	CHECK_U64(rk_output_offset(o), 8);
	CHECK_I64(rk_output_write(o, "x!", 2, NULL), 0);
	CHECK_I64(rk_output_commit(o, NULL), 0);
	CHECK_STR(content(&w, "out"), "hello thx!");
	world_close(&w);
}

TEST(a_spill_can_be_changed_through_its_output)
{
	struct rk_spill *s = NULL;
	struct rk_output *o = NULL;
	char text[7] = "";

	CHECK(rk_spill_new(NULL, &s, NULL) == 0 && rk_output_open_spill(s, &o, NULL) == 0);
	CHECK_I64(rk_output_write(o, "abcdefgh", 8, NULL), 0);
	CHECK_I64(rk_output_patch(o, 1, "BC", 2, NULL), 0);
	CHECK_I64(rk_output_rewind(o, 5, NULL), 0);
	CHECK_I64(rk_output_write(o, "!", 1, NULL), 0);
	CHECK_U64(rk_spill_size(s), 6);
	CHECK_I64(rk_spill_read(s, 0, text, 6, NULL), 0);
	CHECK_STR(text, "aBCde!");
	CHECK_I64(rk_output_commit(o, NULL), 0);
	rk_spill_free(s);
}

TEST(changes_that_fail_are_reported)
{
	struct rk_output *o = NULL;
	struct rk_error err = { 0 };
	struct world w;

	world_open(&w, 1);
	CHECK_I64(rk_output_open("/dev/null", &o, NULL), 0);
	CHECK_I64(rk_output_write(o, "x", 1, NULL), 0);
	CHECK_I64(rk_output_patch(o, 0, "y", 1, &err), RK_E_UNSUPPORTED);
	CHECK_STR(err.message, "cannot seek in '/dev/null', which is not a file");
	CHECK_I64(rk_output_rewind(o, 0, NULL), RK_E_UNSUPPORTED);
	rk_output_abort(o);
	CHECK_I64(rk_output_open(path_in(&w, "out"), &o, NULL), 0);
	CHECK_I64(rk_output_write(o, "x", 1, NULL), 0);
	rk_output_fail_after(1, ENOSPC);
	CHECK_I64(rk_output_patch(o, 0, "y", 1, NULL), RK_E_IO);
	rk_output_fail_after(1, EIO);
	CHECK_I64(rk_output_rewind(o, 0, NULL), RK_E_IO);
	rk_output_fail_after(0, 0);
	rk_output_abort(o);
	CHECK_U64(world_entries(&w, "."), 0);
	world_close(&w);
}

TEST(a_full_device_is_reported)
{
	struct rk_output *o = NULL;
	struct rk_error err = { 0 };

	CHECK_I64(rk_output_open("/dev/full", &o, &err), 0);
	CHECK_I64(rk_output_write(o, "x", 1, &err), RK_E_IO);
	CHECK_STR(err.message, "cannot write '/dev/full': No space left on device");
	rk_output_abort(o);
	CHECK(!access("/dev/full", F_OK));
}

TEST(an_output_survives_every_failed_allocation)
{
	for (uint64_t n = 1; n < 20; n++) {
		struct rk_output *o = NULL;
		struct rk_error err = { 0 };
		struct world w;
		int rc;

		world_open(&w, 1);
		rk_alloc_fail_after(n);
		rc = rk_output_open(path_in(&w, "out"), &o, &err);
		if (rc == 0)
			rc = rk_output_commit(o, &err);
		if (!rk_alloc_failed()) {
			CHECK_I64(rc, 0);
			world_close(&w);
			break;
		}
		CHECK(rc == 0 || rc == err.code);
		CHECK_U64(world_entries(&w, "."), rc == 0);
		world_close(&w);
	}
	rk_alloc_fail_after(0);
}

TEST(a_temporary_name_without_memory_is_not_a_failed_write)
{
	struct rk_output *o = NULL;
	struct rk_error err = { 0 };

	/* the fourth allocation: after the output, its path and the folder's, which cannot be opened */
	rk_alloc_fail_after(4);
	CHECK_I64(rk_output_open("/no/such/folder/out", &o, &err), RK_E_NOMEM);
	CHECK(rk_alloc_failed());
	CHECK_I64(err.code, RK_E_NOMEM);
	rk_alloc_fail_after(0);
}
