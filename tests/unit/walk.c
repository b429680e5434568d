/* walk.c - the files below a directory, in order. */
#include "io/dirs.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "tap.h"
#include "world.h"

static const char *listing(struct world *w, const char *dir)
{
	struct rk_walk found = { 0 };

	rk_error_clear(&w->err);
	rk_bytes_clear(&w->text);
	if (rk_walk_dir(dir, &found, &w->err) < 0)
		return NULL;
	for (size_t i = 0; i < found.n; i++)
		rk_bytes_printf(&w->text, "%s\n", found.paths[i] + strlen(w->dir) + 1);
	rk_walk_release(&found);
	return rk_bytes_str(&w->text);
}

TEST(files_come_sorted_and_hidden_ones_not_at_all)
{
	char link[128], dir[128];
	struct world w;

	world_open(&w, 1);
	world_text(&w, "b.csv", "");
	world_text(&w, "a/z.csv", "");
	world_text(&w, "a/y/x.csv", "");
	world_text(&w, "a.csv", "");
	world_text(&w, ".hidden", "");
	world_text(&w, ".spool/1.dat", "");
	snprintf(link, sizeof(link), "%s/link.csv", w.dir);
	CHECK(!symlink("b.csv", link));
	snprintf(link, sizeof(link), "%s/circle", w.dir);
	CHECK(!symlink(".", link));
	snprintf(link, sizeof(link), "%s/dangling", w.dir);
	CHECK(!symlink("nothing", link));
	snprintf(link, sizeof(link), "%s/pipe", w.dir);
	CHECK(!mkfifo(link, 0600));
	CHECK_STR(listing(&w, w.dir), "a.csv\na/y/x.csv\na/z.csv\nb.csv\nlink.csv\n");
	snprintf(dir, sizeof(dir), "%s///", w.dir);
	CHECK_STR(listing(&w, dir), "a.csv\na/y/x.csv\na/z.csv\nb.csv\nlink.csv\n");
	CHECK(rk_is_dir(w.dir));
	CHECK(!rk_is_dir("/dev/null"));
	CHECK(!rk_is_dir("/no/such/place"));
	world_close(&w);
}

TEST(an_empty_directory_has_no_files)
{
	struct world w;

	world_open(&w, 1);
	CHECK_STR(listing(&w, w.dir), "");
	world_close(&w);
}

TEST(directories_that_cannot_be_read_are_reported)
{
	struct world w;

	world_open(&w, 1);
	CHECK(listing(&w, "/no/such/place") == NULL);
	CHECK_STR(w.err.message,
		  "cannot read directory '/no/such/place': No such file or directory");
	world_close(&w);
}

TEST(directories_nested_too_deep_are_refused)
{
	char path[600] = "";
	struct world w;

	world_open(&w, 1);
	for (int i = 0; i < RK_WALK_MAX_DEPTH + 2; i++)
		snprintf(path + strlen(path), sizeof(path) - strlen(path), "d/");
	snprintf(path + strlen(path), sizeof(path) - strlen(path), "f");
	world_text(&w, path, "");
	CHECK(listing(&w, w.dir) == NULL);
	CHECK_I64(w.err.code, RK_E_LIMIT);
	world_close(&w);
}

TEST(a_walk_survives_every_failed_allocation)
{
	struct world w;

	world_open(&w, 1);
	for (int i = 0; i < 70; i++) {
		char name[32];

		snprintf(name, sizeof(name), "d%d/f%d", i % 3, i);
		world_text(&w, name, "");
	}
	for (uint64_t n = 1; n < 1000; n++) {
		struct rk_walk found = { 0 };
		struct rk_error err = { 0 };
		int rc;

		rk_alloc_fail_after(n);
		rc = rk_walk_dir(w.dir, &found, &err);
		if (rc == 0)
			rk_walk_release(&found);
		if (!rk_alloc_failed()) {
			CHECK_I64(rc, 0);
			break;
		}
		CHECK_I64(rc, RK_E_NOMEM);
	}
	rk_alloc_fail_after(0);
	world_close(&w);
}
