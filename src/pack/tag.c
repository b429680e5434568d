/* tag.c - platform tags: the machine and glibc that a wheel promises, and what its files need. */
#include "pack/tag.h"

#include <elf.h>
#include <string.h>

#include "pack/elf/read.h"
#include "pack/pack_plan.h"

const char *rk_machine_word(uint16_t machine)
{
	switch (machine) {
	case EM_X86_64:
		return "x86_64";
	case EM_AARCH64:
		return "aarch64";
	default:
		return NULL;
	}
}

/* Parses a run of digits; false if there are none. */
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

/* Parses "2.34" or "2_34": two numbers separated by `between`. */
static bool two_numbers(const char **at, char between, struct rk_glibc *ret)
{
	if (!digits(at, &ret->major) || **at != between)
		return false;
	++*at;
	return digits(at, &ret->minor);
}

bool rk_glibc_of(const char *version, struct rk_glibc *ret)
{
	const char *at;

	/*
	 * the version for packed relocations has no number; glibc 2.36 is the first to support it
	 */
	if (!strcmp(version, "GLIBC_ABI_DT_RELR")) {
		*ret = (struct rk_glibc){ 2, 36 };
		return true;
	}
	if (strncmp(version, "GLIBC_", 6))
		return false;
	at = version + 6;
	return two_numbers(&at, '.', ret);
}

bool rk_glibc_newer(struct rk_glibc a, struct rk_glibc b)
{
	return a.major > b.major || (a.major == b.major && a.minor > b.minor);
}

/* The glibc that a tag promises; old tags such as manylinux2014 are aliases. */
bool rk_glibc_promised(const char *tag, struct rk_glibc *ret)
{
	static const struct {
		const char *word;
		struct rk_glibc floor;
	} old[] = { { "manylinux1_", { 2, 5 } },
		    { "manylinux2010_", { 2, 12 } },
		    { "manylinux2014_", { 2, 17 } } };

	for (unsigned i = 0; i < sizeof(old) / sizeof(*old); i++)
		if (!strncmp(tag, old[i].word, strlen(old[i].word))) {
			*ret = old[i].floor;
			return true;
		}
	if (strncmp(tag, "manylinux_", 10))
		return false;
	tag += 10;
	return two_numbers(&tag, '_', ret) && *tag == '_';
}

/* ---- the tag of a plan ---- */

/* An ELF file of the artifacts must not need a newer glibc than the tag promises. */
static int check_item(const struct rk_pack_item *item, struct rk_glibc floor, const char *tag,
		      struct rk_error *err)
{
	const bool copied = item->action == RK_PACK_COPY || item->action == RK_PACK_EDIT ||
			    item->action == RK_PACK_RESOLVED;
	struct rk_arena *arena = NULL;
	struct rk_view view = { 0 };
	struct rk_elf elf = { 0 };
	struct rk_error broken = { 0 };
	struct rk_glibc wanted;
	char head[64];
	size_t n = 0;
	int rc;

	if (!copied || !item->entry || !item->entry->origin ||
	    rk_origin_head(item->entry->origin, head, sizeof(head), &n, NULL) < 0 ||
	    !rk_elf_is(head, n))
		return 0;
	if ((rc = rk_arena_new(&arena, err)) < 0 ||
	    (rc = rk_origin_view(item->entry->origin, &view, err)) < 0)
		goto out;
	rc = rk_elf_read_view(&view, arena, &elf, &broken);
	if (rc == RK_E_FORMAT) /* already reported, and nothing can load it */
		rc = 0;
	if (rc < 0 && err)
		*err = broken;
	for (size_t i = 0; rc == 0 && i < elf.nversions; i++)
		if (rk_glibc_of(elf.versions[i].name, &wanted) && rk_glibc_newer(wanted, floor))
			rc = rk_fail(err, RK_E_USAGE,
				     "'%s' needs %s of %s, more than %s allows (omit "
				     "--platform-tag or use a newer one)",
				     item->path, elf.versions[i].name, elf.versions[i].file, tag);
out:
	rk_view_close(&view);
	rk_arena_free(arena);
	return rc;
}

int rk_pack_tag(struct rk_pack_plan *p, const char *asked, const char **ret, struct rk_error *err)
{
	const char *machine = rk_machine_word(p->machine);
	size_t m = machine ? strlen(machine) : 0, n;
	struct rk_glibc floor;
	int rc;

	if (!asked) {
		*ret = machine ? rk_arena_textf(p->arena, "linux_%s", machine) :
				 rk_arena_text(p->arena, "any", 3);
		return *ret ? 0 : rk_fail_nomem(err);
	}
	n = strlen(asked);
	if (!n || strspn(asked, "abcdefghijklmnopqrstuvwxyz0123456789_") != n)
		return rk_fail(
			err, RK_E_USAGE,
			"invalid platform tag '%s' (examples: linux_x86_64, manylinux_2_28_x86_64)",
			asked);
	if (m && (n <= m || strcmp(asked + n - m, machine) || asked[n - m - 1] != '_'))
		return rk_fail(err, RK_E_USAGE,
			       "platform tag '%s' does not match: the files are for %s", asked,
			       machine);
	if (rk_glibc_promised(asked, &floor))
		for (size_t i = 0; i < p->ndists; i++)
			for (size_t k = 0; k < p->dists[i].n; k++) {
				rc = check_item(&p->dists[i].items[k], floor, asked, err);
				if (rc < 0)
					return rc;
			}
	*ret = rk_arena_text(p->arena, asked, strlen(asked));
	return *ret ? 0 : rk_fail_nomem(err);
}
