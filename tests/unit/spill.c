/* spill.c - temporary bytes on disk. */
#include "io/file.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "tap.h"
#include "world.h"

TEST(what_is_appended_is_read_back_from_anywhere)
{
	struct rk_spill *s = NULL;
	uint64_t offset = 9;
	char text[16] = { 0 };
	struct rk_error err = { 0 };
	struct world w;

	world_open(&w, 1);
	CHECK_I64(rk_spill_new(w.dir, &s, NULL), 0);
	CHECK_U64(world_entries(&w, "."), 0); /* it has no name */
	CHECK_I64(rk_spill_append(s, "hello", 5, &offset, NULL), 0);
	CHECK_U64(offset, 0);
	CHECK_I64(rk_spill_append(s, " world", 6, &offset, NULL), 0);
	CHECK_U64(offset, 5);
	CHECK_U64(rk_spill_size(s), 11);
	CHECK_I64(rk_spill_read(s, 3, text, 5, NULL), 0);
	CHECK_STR(text, "lo wo");
	CHECK_I64(rk_spill_read(s, 8, text, 5, &err), RK_E_IO);
	CHECK(strstr(err.message, "cannot read temporary data back") != NULL);
	rk_spill_free(s);
	rk_spill_free(NULL);
	world_close(&w);
}

TEST(an_unusable_directory_for_temporary_files_is_reported)
{
	struct rk_spill *s = NULL;
	struct rk_error err = { 0 };

	CHECK_I64(rk_spill_new("/no/such/place", &s, &err), RK_E_IO);
	CHECK(strstr(err.message, "/no/such/place") && strstr(err.message, "No such file"));
	CHECK_I64(rk_spill_new("/dev/null", &s, NULL), RK_E_IO);
}

TEST(the_environment_names_the_place_for_temporary_files)
{
	char *old = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL;
	struct rk_spill *s = NULL;

	setenv("TMPDIR", "/no/such/place", 1);
	CHECK_I64(rk_spill_new(NULL, &s, NULL), RK_E_IO);
	setenv("TMPDIR", "", 1);
	CHECK_I64(rk_spill_new(NULL, &s, NULL), 0);
	rk_spill_free(s);
	if (old)
		setenv("TMPDIR", old, 1);
	else
		unsetenv("TMPDIR");
	free(old);
}
