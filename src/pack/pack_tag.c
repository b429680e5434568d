/* pack_tag.c - platform tags: what a wheel promises of the machines it runs on. */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "elf/elf_file.h"
#include "pack/pack_build.h"

static const char *machine_word(uint16_t machine)
{
	switch (machine) {
	case EM_X86_64:
		return "x86_64";
	case EM_AARCH64:
		return "aarch64";
	}
	return NULL;
}

/* ---- glibc ---- */

struct glibc {
	unsigned major, minor;
};

/* Digits as far as they go; false when there are none. */
static bool digits(const char **at, unsigned *ret)
{
	const char *s = *at;

	for (*ret = 0; *s >= '0' && *s <= '9' && *ret < 100000; s++)
		*ret = 10 * *ret + (unsigned)(*s - '0');
	if (s == *at)
		return false;
	*at = s;
	return true;
}

/* "2.34", "2_34": two numbers and the byte between them. */
static bool two_numbers(const char **at, char between, struct glibc *ret)
{
	if (!digits(at, &ret->major) || **at != between)
		return false;
	++*at;
	return digits(at, &ret->minor);
}

/* What a tag promises; the old names are words for it. */
static bool promised(const char *tag, struct glibc *ret)
{
	static const struct {
		const char *word;
		struct glibc floor;
	} old[] = { { "manylinux1_", { 2, 5 } },
		    { "manylinux2010_", { 2, 12 } },
		    { "manylinux2014_", { 2, 17 } } };

	for (size_t i = 0; i < sizeof(old) / sizeof(*old); i++)
		if (!strncmp(tag, old[i].word, strlen(old[i].word))) {
			*ret = old[i].floor;
			return true;
		}
	if (strncmp(tag, "manylinux_", 10))
		return false;
	tag += 10;
	return two_numbers(&tag, '_', ret) && *tag == '_';
}

static bool newer(const char *version, struct glibc floor)
{
	const char *at = version + 6;
	struct glibc g;

	return !strncmp(version, "GLIBC_", 6) && two_numbers(&at, '.', &g) &&
	       (g.major > floor.major || (g.major == floor.major && g.minor > floor.minor));
}

static int check_item(const struct rk_pack_item *item, struct glibc floor, const char *tag,
		      struct rk_error *err)
{
	struct rk_arena *arena = NULL;
	struct rk_view view = { 0 };
	struct rk_elf elf = { 0 };
	int rc = rk_arena_new(&arena, err);

	if (rc == 0)
		rc = rk_origin_view(item->entry->origin, &view, err);
	if (rc == 0)
		rc = rk_elf_read(view.data, view.len, arena, &elf, err);
	for (size_t i = 0; rc == 0 && i < elf.nversions; i++)
		if (newer(elf.versions[i].name, floor))
			rc = rk_fail(err, RK_E_USAGE,
				     "'%s' wants %s of %s: more than %s promises (leave "
				     "--platform-tag out, or name a newer one)",
				     item->path, elf.versions[i].name, elf.versions[i].file, tag);
	rk_view_close(&view);
	rk_arena_free(arena);
	return rc;
}

static bool is_elf(const struct rk_pack_item *item)
{
	char head[64];
	size_t n = 0;

	return (item->action == RK_PACK_COPY || item->action == RK_PACK_EDIT ||
		item->action == RK_PACK_RESOLVED) &&
	       item->entry && item->entry->origin &&
	       rk_origin_head(item->entry->origin, head, sizeof(head), &n, NULL) == 0 &&
	       rk_elf_is(head, n);
}

static int check_floor(const struct rk_pack_plan *p, struct glibc floor, const char *tag,
		       struct rk_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < p->ndists; i++)
		for (size_t k = 0; k < p->dists[i].n && rc == 0; k++)
			if (is_elf(&p->dists[i].items[k]))
				rc = check_item(&p->dists[i].items[k], floor, tag, err);
	return rc;
}

/* ---- the tag ---- */

static int check_form(const char *tag, const char *machine, struct rk_error *err)
{
	size_t n = strlen(tag), m = machine ? strlen(machine) : 0;

	if (!n || strspn(tag, "abcdefghijklmnopqrstuvwxyz"
			      "0123456789_") != n)
		return rk_fail(err, RK_E_USAGE,
			       "'%s' is no platform tag (linux_x86_64, manylinux_2_28_x86_64)",
			       tag);
	if (m && (n <= m || strcmp(tag + n - m, machine) || tag[n - m - 1] != '_'))
		return rk_fail(err, RK_E_USAGE,
			       "platform tag '%s' does not fit: the files are for %s", tag,
			       machine);
	return 0;
}

int rk_pack_tag(struct rk_pack_plan *p, const char *asked, const char **ret, struct rk_error *err)
{
	const char *machine = machine_word(p->machine);
	struct glibc floor;
	int rc;

	if (!asked) {
		*ret = machine ? rk_arena_textf(p->arena, "linux_%s", machine) :
				 rk_arena_text(p->arena, "any", 3);
		return *ret ? 0 : rk_fail_nomem(err);
	}
	rc = check_form(asked, machine, err);
	if (rc == 0 && promised(asked, &floor))
		rc = check_floor(p, floor, asked, err);
	*ret = rk_arena_text(p->arena, asked, strlen(asked));
	return rc < 0 ? rc : *ret ? 0 : rk_fail_nomem(err);
}
