/*
 * alias_library.c - generate an empty shared object that only depends on another one next to it.
 *
 * It has two segments: read-only tables, and the dynamic section, which loaders before glibc 2.35
 * write addresses into. The segments share a page in the file but not in memory. Both kinds of hash
 * table exist and are empty: musl needs one, and a lookup stops at the first word of the GNU one.
 */
#include <string.h>

#include "pack/elf/launcher.h"
#include "pack/elf/launcher_impl.h"

enum {
	NSEGMENTS = 4,
	NAME_MAX_BYTES = 255,
	GNU_HASH_AT = RK_ELF_HEADER_BYTES + NSEGMENTS * RK_ELF_SEGMENT_BYTES,
	GNU_HASH_BYTES = 4 * 4 + 8 + 4, /* header, one filter word, one bucket */
	HASH_AT = GNU_HASH_AT + 32,
	HASH_BYTES = 4 * 4, /* nbucket, nchain, one of each */
	DYNSYM_AT = HASH_AT + HASH_BYTES,
	SYM_BYTES = 24,
	DYNSTR_AT = DYNSYM_AT + SYM_BYTES,
	NDYNAMIC = 10,
	DYN_BYTES = 16,
	NSECTIONS = 7,
	ALIGN = 8,
};

static const char origin[] = "$ORIGIN";
static const char section_names[] = "\0.gnu.hash\0.hash\0.dynsym\0.dynstr\0.dynamic\0.shstrtab";

enum {
	NAME_GNU_HASH = 1,
	NAME_HASH = 11,
	NAME_DYNSYM = 17,
	NAME_DYNSTR = 25,
	NAME_DYNAMIC = 33,
	NAME_SHSTRTAB = 42
};

/* Offsets in the file. Names are offsets in the string table. */
struct layout {
	uint16_t machine;
	size_t own_name, soname, strings_bytes;
	size_t dynamic, names, sections;
	uint64_t address; /* address of the dynamic section */
};

static size_t up(size_t n)
{
	return (n + ALIGN - 1) / ALIGN * ALIGN;
}

static void put_head(struct rk_bytes *out, const struct layout *l)
{
	const size_t size = NDYNAMIC * DYN_BYTES;
	const Elf64_Ehdr header = { .e_type = ET_DYN,
				    .e_machine = l->machine,
				    .e_phnum = NSEGMENTS,
				    .e_shoff = l->sections,
				    .e_shnum = NSECTIONS,
				    .e_shstrndx = NSECTIONS - 1 };
	Elf64_Phdr dynamic = { .p_type = PT_LOAD,
			       .p_flags = PF_R | PF_W,
			       .p_offset = l->dynamic,
			       .p_vaddr = l->address,
			       .p_paddr = l->address,
			       .p_filesz = size,
			       .p_memsz = size,
			       .p_align = rk_elf_page(l->machine) };
	Elf64_Phdr segments[NSEGMENTS] = {
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R,
		  .p_filesz = DYNSTR_AT + l->strings_bytes,
		  .p_memsz = DYNSTR_AT + l->strings_bytes,
		  .p_align = rk_elf_page(l->machine) },
		dynamic,
		dynamic,
		{ .p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W, .p_align = 16 },
	};

	segments[2].p_type = PT_DYNAMIC;
	segments[2].p_align = ALIGN;
	rk_elf_put_header(out, &header);
	rk_elf_put_segments(out, segments, NSEGMENTS);
}

static Elf64_Shdr table(uint32_t name, uint32_t type, size_t at, size_t size, uint64_t entry)
{
	return (Elf64_Shdr){ .sh_name = name,
			     .sh_type = type,
			     .sh_flags = SHF_ALLOC,
			     .sh_addr = at,
			     .sh_offset = at,
			     .sh_size = size,
			     .sh_addralign = ALIGN,
			     .sh_entsize = entry };
}

static void put_sections(struct rk_bytes *out, const struct layout *l)
{
	enum { GNU_HASH = 1, HASH, DYNSYM, DYNSTR, DYNAMIC, SHSTRTAB };
	Elf64_Shdr s[NSECTIONS] = { { 0 } };

	s[GNU_HASH] = table(NAME_GNU_HASH, SHT_GNU_HASH, GNU_HASH_AT, GNU_HASH_BYTES, 0);
	s[HASH] = table(NAME_HASH, SHT_HASH, HASH_AT, HASH_BYTES, 4);
	s[DYNSYM] = table(NAME_DYNSYM, SHT_DYNSYM, DYNSYM_AT, SYM_BYTES, SYM_BYTES);
	s[DYNSTR] = table(NAME_DYNSTR, SHT_STRTAB, DYNSTR_AT, l->strings_bytes, 0);
	s[DYNAMIC] = table(NAME_DYNAMIC, SHT_DYNAMIC, l->dynamic, NDYNAMIC * DYN_BYTES, DYN_BYTES);
	s[GNU_HASH].sh_link = s[HASH].sh_link = DYNSYM;
	s[DYNSYM].sh_link = s[DYNAMIC].sh_link = DYNSTR;
	s[DYNSYM].sh_info = 1; /* local symbols: only the mandatory first one */
	s[DYNSTR].sh_addralign = 1;
	s[DYNAMIC].sh_flags |= SHF_WRITE;
	s[DYNAMIC].sh_addr = l->address;
	s[SHSTRTAB] = (Elf64_Shdr){ .sh_name = NAME_SHSTRTAB,
				    .sh_type = SHT_STRTAB,
				    .sh_offset = l->names,
				    .sh_size = sizeof(section_names),
				    .sh_addralign = 1 };
	rk_elf_put_sections(out, s, NSECTIONS);
}

/* Must be a plain file name: the loader would not search for a name with a slash. */
static bool good_name(const char *name)
{
	size_t len = strlen(name);

	return len && len <= NAME_MAX_BYTES && !strchr(name, '/') && !strchr(name, '$');
}

int rk_alias_library_make(uint16_t machine, const char *own_name, const char *soname,
			  struct rk_bytes *out, struct rk_error *err)
{
	struct layout l = { .machine = machine };

	if (machine != EM_X86_64 && machine != EM_AARCH64)
		return rk_fail(err, RK_E_UNSUPPORTED,
			       "no alias library for ELF machine %u, only for x86-64 and AArch64",
			       machine);
	if (!good_name(own_name) || !good_name(soname) || !strcmp(own_name, soname))
		return rk_fail(err, RK_E_USAGE, "'%s' cannot be another name of the library '%s'",
			       own_name, soname);
	l.own_name = 1 + sizeof(origin);
	l.soname = l.own_name + strlen(own_name) + 1;
	l.strings_bytes = l.soname + strlen(soname) + 1;
	l.dynamic = up(DYNSTR_AT + l.strings_bytes);
	l.address = rk_elf_page(machine) + l.dynamic;
	l.names = l.dynamic + NDYNAMIC * DYN_BYTES;
	l.sections = up(l.names + sizeof(section_names));
	const uint64_t entries[NDYNAMIC][2] = {
		{ DT_NEEDED, l.soname },  { DT_SONAME, l.own_name },
		{ DT_RPATH, 1 },          { DT_GNU_HASH, GNU_HASH_AT },
		{ DT_HASH, HASH_AT },     { DT_STRTAB, DYNSTR_AT },
		{ DT_SYMTAB, DYNSYM_AT }, { DT_STRSZ, l.strings_bytes },
		{ DT_SYMENT, SYM_BYTES }, { DT_NULL, 0 },
	};

	rk_bytes_clear(out);
	put_head(out, &l);
	/* both hash tables, and the null symbol that starts every symbol table */
	rk_elf_put(out, 1, 4); /* buckets */
	rk_elf_put(out, 1, 4); /* first symbol in the bucket: past the last one */
	rk_elf_put(out, 1, 4); /* filter words; the filter rejects everything */
	rk_elf_put_pad(out, HASH_AT);
	rk_elf_put(out, 1, 4); /* buckets */
	rk_elf_put(out, 1, 4); /* symbols */
	rk_elf_put_pad(out, DYNSTR_AT);
	/* strings */
	rk_bytes_put_u8(out, 0);
	rk_bytes_put(out, origin, sizeof(origin));
	rk_bytes_put(out, own_name, strlen(own_name) + 1);
	rk_bytes_put(out, soname, strlen(soname) + 1);
	rk_elf_put_pad(out, l.dynamic);
	for (unsigned i = 0; i < NDYNAMIC; i++) {
		rk_elf_put(out, entries[i][0], 8);
		rk_elf_put(out, entries[i][1], 8);
	}
	rk_bytes_put(out, section_names, sizeof(section_names));
	rk_elf_put_pad(out, l.sections);
	put_sections(out, &l);
	return out->bad ? rk_fail_nomem(err) : 0;
}
