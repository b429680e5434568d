/*
 * launcher.c - generate an executable that starts another one: header, machine code, path.
 *
 * One segment holds everything, readable and executable. Its address is fixed; that is safe because
 * the stack and mappings are still randomized and 1 KB of code has nothing useful for an attacker.
 * It has section headers because strip damages a file without them.
 */
#include "pack/elf/launcher.h"

#include <string.h>

#include "pack/elf/launcher_impl.h"

/* ---- the parts of an ELF file ---- */

void rk_elf_put(struct rk_bytes *out, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		rk_bytes_put_u8(out, (uint8_t)(v >> 8 * i));
}

void rk_elf_put_pad(struct rk_bytes *out, size_t len)
{
	while (out->len < len && !out->bad)
		rk_bytes_put_u8(out, 0);
}

uint64_t rk_elf_page(uint16_t machine)
{
	return machine == EM_AARCH64 ? 0x10000 : 0x1000;
}

void rk_elf_put_header(struct rk_bytes *out, const Elf64_Ehdr *h)
{
	static const uint8_t ident[EI_NIDENT] = { 0x7f,       'E',         'L',       'F',
						  ELFCLASS64, ELFDATA2LSB, EV_CURRENT };

	rk_bytes_put(out, ident, sizeof(ident));
	rk_elf_put(out, h->e_type, 2);
	rk_elf_put(out, h->e_machine, 2);
	rk_elf_put(out, EV_CURRENT, 4);
	rk_elf_put(out, h->e_entry, 8);
	rk_elf_put(out, RK_ELF_HEADER_BYTES, 8);
	rk_elf_put(out, h->e_shoff, 8);
	rk_elf_put(out, h->e_flags, 4);
	rk_elf_put(out, RK_ELF_HEADER_BYTES, 2);
	rk_elf_put(out, RK_ELF_SEGMENT_BYTES, 2);
	rk_elf_put(out, h->e_phnum, 2);
	rk_elf_put(out, RK_ELF_SECTION_BYTES, 2);
	rk_elf_put(out, h->e_shnum, 2);
	rk_elf_put(out, h->e_shstrndx, 2);
}

void rk_elf_put_segments(struct rk_bytes *out, const Elf64_Phdr *p, size_t n)
{
	for (; n; n--, p++) {
		rk_elf_put(out, p->p_type, 4);
		rk_elf_put(out, p->p_flags, 4);
		rk_elf_put(out, p->p_offset, 8);
		rk_elf_put(out, p->p_vaddr, 8);
		rk_elf_put(out, p->p_paddr, 8);
		rk_elf_put(out, p->p_filesz, 8);
		rk_elf_put(out, p->p_memsz, 8);
		rk_elf_put(out, p->p_align, 8);
	}
}

void rk_elf_put_sections(struct rk_bytes *out, const Elf64_Shdr *s, size_t n)
{
	for (; n; n--, s++) {
		rk_elf_put(out, s->sh_name, 4);
		rk_elf_put(out, s->sh_type, 4);
		rk_elf_put(out, s->sh_flags, 8);
		rk_elf_put(out, s->sh_addr, 8);
		rk_elf_put(out, s->sh_offset, 8);
		rk_elf_put(out, s->sh_size, 8);
		rk_elf_put(out, s->sh_link, 4);
		rk_elf_put(out, s->sh_info, 4);
		rk_elf_put(out, s->sh_addralign, 8);
		rk_elf_put(out, s->sh_entsize, 8);
	}
}

/* ---- the launcher ---- */

enum {
	BASE = 0x400000, /* a multiple of every page size */
	NSEGMENTS = 2,
	CODE_AT = RK_ELF_HEADER_BYTES + NSEGMENTS * RK_ELF_SEGMENT_BYTES,
	NSECTIONS = 4,
	SHSTRTAB = NSECTIONS - 1,
	ALIGN = 8,
};

static const char section_names[] = "\0.text\0.rodata\0.shstrtab";

enum { NAME_TEXT = 1, NAME_RODATA = 7, NAME_SHSTRTAB = 15 };

/* Offsets in the file. */
struct layout {
	size_t texts, path, names, sections;
};

static const struct rk_launcher_code *code_of(uint16_t machine)
{
	switch (machine) {
	case EM_X86_64:
		return &rk_launcher_x86_64;
	case EM_AARCH64:
		return &rk_launcher_aarch64;
	default:
		return NULL;
	}
}

static struct layout lay_out(const struct rk_launcher_code *c, size_t path_len)
{
	struct layout l;

	l.texts = CODE_AT + c->ncode;
	l.path = l.texts + c->ntexts;
	l.names = l.path + path_len + 1;
	l.sections = (l.names + sizeof(section_names) + ALIGN - 1) / ALIGN * ALIGN;
	return l;
}

static void put_launcher(struct rk_bytes *out, uint16_t machine, const char *relpath, size_t len)
{
	const struct rk_launcher_code *c = code_of(machine);
	const struct layout l = lay_out(c, len);
	const Elf64_Ehdr header = { .e_type = ET_EXEC,
				    .e_machine = machine,
				    .e_entry = BASE + CODE_AT,
				    .e_phnum = NSEGMENTS,
				    .e_shoff = l.sections,
				    .e_shnum = NSECTIONS,
				    .e_shstrndx = SHSTRTAB };
	const Elf64_Phdr segments[NSEGMENTS] = {
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R | PF_X,
		  .p_vaddr = BASE,
		  .p_paddr = BASE,
		  .p_filesz = l.names,
		  .p_memsz = l.names,
		  .p_align = rk_elf_page(machine) },
		{ .p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W, .p_align = 16 },
	};
	const Elf64_Shdr sections[NSECTIONS] = {
		{ 0 },
		{ .sh_name = NAME_TEXT,
		  .sh_type = SHT_PROGBITS,
		  .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		  .sh_addr = BASE + CODE_AT,
		  .sh_offset = CODE_AT,
		  .sh_size = l.texts - CODE_AT,
		  .sh_addralign = 16 },
		{ .sh_name = NAME_RODATA,
		  .sh_type = SHT_PROGBITS,
		  .sh_flags = SHF_ALLOC,
		  .sh_addr = BASE + l.texts,
		  .sh_offset = l.texts,
		  .sh_size = l.names - l.texts,
		  .sh_addralign = 1 },
		{ .sh_name = NAME_SHSTRTAB,
		  .sh_type = SHT_STRTAB,
		  .sh_offset = l.names,
		  .sh_size = sizeof(section_names),
		  .sh_addralign = 1 },
	};

	rk_elf_put_header(out, &header);
	rk_elf_put_segments(out, segments, NSEGMENTS);
	rk_bytes_put(out, c->code, c->ncode);
	rk_bytes_put(out, c->texts, c->ntexts);
	rk_bytes_put(out, relpath, len + 1);
	rk_bytes_put(out, section_names, sizeof(section_names));
	rk_elf_put_pad(out, l.sections);
	rk_elf_put_sections(out, sections, NSECTIONS);
}

int rk_launcher_make(uint16_t machine, const char *relpath, struct rk_bytes *out,
		     struct rk_error *err)
{
	size_t len = strlen(relpath);

	if (!code_of(machine))
		return rk_fail(err, RK_E_UNSUPPORTED,
			       "no launcher for ELF machine %u, only for x86-64 and AArch64",
			       machine);
	if (!len || relpath[0] == '/')
		return rk_fail(err, RK_E_USAGE, "a launcher needs a relative path, not '%s'",
			       relpath);
	if (len > RK_LAUNCHER_PATH_MAX)
		return rk_fail(err, RK_E_LIMIT, "a launcher's path has %zu bytes, more than %d",
			       len, RK_LAUNCHER_PATH_MAX);
	rk_bytes_clear(out);
	put_launcher(out, machine, relpath, len);
	return out->bad ? rk_fail_nomem(err) : 0;
}

const char *rk_launcher_target(const void *data, size_t len)
{
	static const uint16_t machines[] = { EM_X86_64, EM_AARCH64 };
	uint8_t room[RK_LAUNCHER_BYTES_MAX];
	/* the size is known, so this does not allocate */
	struct rk_bytes again = { .data = room, .cap = sizeof(room), .max = sizeof(room) };

	if (len > sizeof(room))
		return NULL;
	for (unsigned i = 0; i < 2; i++) {
		size_t at = lay_out(code_of(machines[i]), 0).path;
		const char *path = (const char *)data + at;

		if (at >= len || !memchr(path, '\0', len - at))
			continue;
		rk_bytes_clear(&again);
		put_launcher(&again, machines[i], path, strlen(path));
		if (!again.bad && again.len == len && !memcmp(again.data, data, len))
			return path;
	}
	return NULL;
}
