/*
 * fuzz_elf.c - any bytes as an ELF file: read, given another RPATH, and read again.
 *
 * An edit that was made must hold: the wanted text and kind, the same names otherwise, no more bytes
 * than promised, and nothing left to do.
 */
#include <stdlib.h>
#include <string.h>

#include "pack/elf/edit.h"
#include "pack/elf/read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void demand(bool holds)
{
	if (!holds)
		abort();
}

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static void compare(const struct rk_elf *old, const struct rk_elf *now)
{
	demand(same(old->soname, now->soname) && old->nneeded == now->nneeded &&
	       old->kind == now->kind && same(old->interpreter, now->interpreter));
	for (size_t i = 0; i < old->nneeded; i++)
		demand(same(old->needed[i], now->needed[i]));
}

/* The new file, an exact block of memory. */
static uint8_t *applied(const uint8_t *data, size_t len, const struct rk_elf_edit *e)
{
	uint8_t *now = malloc((size_t)e->new_size);

	demand(now && e->old_size == len && e->new_size >= len);
	memcpy(now, data, len);
	rk_elf_edit_apply(e, 0, now, (size_t)e->new_size);
	return now;
}

static void try_edit(const uint8_t *data, size_t len, const char *text, enum rk_rpath_tag tag,
		     struct rk_arena *arena)
{
	struct rk_error err = { 0 }, again = { 0 };
	struct rk_elf old, now;
	struct rk_elf_edit e, none;
	uint8_t *bytes;
	bool readable = rk_elf_read(data, len, arena, &old, &err) == 0;
	int rc;

	err = (struct rk_error){ 0 };
	rc = rk_elf_edit(data, len, text, tag, arena, &e, &err);
	demand(rc == err.code);
	if (rc < 0 || !readable || e.new_size > 64 << 20)
		return;
	bytes = applied(data, len, &e);
	demand(rk_elf_read(bytes, (size_t)e.new_size, arena, &now, &again) == 0);
	compare(&old, &now);
	if (!text)
		text = old.runpath ? old.runpath : old.rpath;
	demand(same(tag == RK_RPATH ? now.rpath : now.runpath, text));
	demand(!(tag == RK_RPATH ? now.runpath : now.rpath));
	demand(rk_elf_edit(bytes, (size_t)e.new_size, text, tag, arena, &none, &again) == 0);
	demand(none.way == RK_ELF_SAME && none.npatches == 0);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char *const texts[] = { NULL, "", "/x",
					     "$ORIGIN/../lib:$ORIGIN/../../_rocm_sdk_core/lib:"
					     "$ORIGIN/../../_rocm_sdk_core/lib/rocm_sysdeps/lib" };
	struct rk_error err = { 0 };
	struct rk_arena *arena = NULL;

	if (rk_arena_new(&arena, &err) < 0)
		return 0;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		try_edit(data, len, texts[i], RK_RPATH, arena);
		try_edit(data, len, texts[i], RK_RUNPATH, arena);
	}
	rk_arena_free(arena);
	return 0;
}
