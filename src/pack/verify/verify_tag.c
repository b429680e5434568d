/* verify_tag.c - platform tags, machines and the glibc that is wanted. */
#include <elf.h>
#include <string.h>

#include "pack/verify/verify_impl.h"

static bool ends_with_machine(const char *tag, size_t len, const char *machine)
{
	size_t m = strlen(machine);

	return len > m && !strncmp(tag + len - m, machine, m) && tag[len - m - 1] == '_';
}

static bool runs_here(const struct rk_proof_elf *e)
{
	return e && (e->kind == RK_ELF_EXE || e->kind == RK_ELF_SHARED);
}

/* One of the platforms the wheel is tagged for, against one file. */
static void check_file(struct rk_proving *p, struct rk_proof_package *w,
		       const struct rk_proof_file *f, const char *tag, size_t len)
{
	const char *machine = rk_machine_word(f->elf->machine);
	struct rk_glibc floor;

	if (!machine || !ends_with_machine(tag, len, machine))
		rk_proof_fault(p, "tag-machine", w, f->path,
			       "is for %s, and the wheel is for '%.*s'",
			       machine ? machine : "a machine of another kind", (int)len, tag);
	else if (rk_glibc_promised(tag, &floor) && rk_glibc_newer(f->elf->glibc, floor))
		rk_proof_fault(p, "tag-glibc", w, f->path,
			       "wants glibc %u.%u, and the wheel promises to need %u.%u ('%.*s')",
			       f->elf->glibc.major, f->elf->glibc.minor, floor.major, floor.minor,
			       (int)len, tag);
}

void rk_proof_tag(struct rk_proving *p, struct rk_proof_package *w)
{
	for (size_t i = 0; i < w->n; i++) {
		const char *tag = w->platforms;

		if (!runs_here(w->files[i].elf))
			continue;
		while (*tag) {
			size_t n = strcspn(tag, ".");

			check_file(p, w, &w->files[i], tag, n);
			tag += n + (tag[n] == '.');
		}
	}
}

/* ---- all packages ---- */

struct most {
	struct rk_glibc glibc;
	uint16_t machine;
	bool mixed;
};

static void weigh(const struct rk_proof_package *w, struct most *m)
{
	for (size_t i = 0; i < w->n; i++) {
		const struct rk_proof_elf *e = w->files[i].elf;

		if (!runs_here(e))
			continue;
		if (rk_glibc_newer(e->glibc, m->glibc))
			m->glibc = e->glibc;
		m->mixed |= m->machine && m->machine != e->machine;
		m->machine = e->machine;
	}
}

void rk_proof_floor(struct rk_proving *p, struct rk_pack_proof *ret)
{
	struct most m = { 0 };
	struct rk_glibc floor;

	for (size_t i = 0; i < p->npackages; i++)
		weigh(&p->packages[i], &m);
	ret->glibc = ret->platform_tag = "";
	if (m.glibc.major)
		ret->glibc = rk_arena_textf(p->arena, "%u.%u", m.glibc.major, m.glibc.minor);
	/* no tag is older than these */
	floor = m.machine == EM_AARCH64 ? (struct rk_glibc){ 2, 17 } : (struct rk_glibc){ 2, 5 };
	floor = rk_glibc_newer(m.glibc, floor) ? m.glibc : floor;
	if (m.glibc.major && !m.mixed && rk_machine_word(m.machine))
		ret->platform_tag = rk_arena_textf(p->arena, "manylinux_%u_%u_%s", floor.major,
						   floor.minor, rk_machine_word(m.machine));
	if (!ret->glibc || !ret->platform_tag)
		rk_proof_nomem(p);
}
