/* elf_put.c - the parts of a 64-bit little-endian ELF file, byte by byte. */
#include "pack/elf/elf_put.h"

static void put(struct rk_bytes *out, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		rk_bytes_put_u8(out, (uint8_t)(v >> 8 * i));
}

void rk_elf_put_u32(struct rk_bytes *out, uint32_t v)
{
	put(out, v, 4);
}

void rk_elf_put_u64(struct rk_bytes *out, uint64_t v)
{
	put(out, v, 8);
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
	put(out, h->e_type, 2);
	put(out, h->e_machine, 2);
	put(out, EV_CURRENT, 4);
	put(out, h->e_entry, 8);
	put(out, RK_ELF_HEADER_BYTES, 8);
	put(out, h->e_shoff, 8);
	put(out, h->e_flags, 4);
	put(out, RK_ELF_HEADER_BYTES, 2);
	put(out, RK_ELF_SEGMENT_BYTES, 2);
	put(out, h->e_phnum, 2);
	put(out, RK_ELF_SECTION_BYTES, 2);
	put(out, h->e_shnum, 2);
	put(out, h->e_shstrndx, 2);
}

void rk_elf_put_segments(struct rk_bytes *out, const Elf64_Phdr *p, size_t n)
{
	for (; n; n--, p++) {
		put(out, p->p_type, 4);
		put(out, p->p_flags, 4);
		put(out, p->p_offset, 8);
		put(out, p->p_vaddr, 8);
		put(out, p->p_paddr, 8);
		put(out, p->p_filesz, 8);
		put(out, p->p_memsz, 8);
		put(out, p->p_align, 8);
	}
}

void rk_elf_put_sections(struct rk_bytes *out, const Elf64_Shdr *s, size_t n)
{
	for (; n; n--, s++) {
		put(out, s->sh_name, 4);
		put(out, s->sh_type, 4);
		put(out, s->sh_flags, 8);
		put(out, s->sh_addr, 8);
		put(out, s->sh_offset, 8);
		put(out, s->sh_size, 8);
		put(out, s->sh_link, 4);
		put(out, s->sh_info, 4);
		put(out, s->sh_addralign, 8);
		put(out, s->sh_entsize, 8);
	}
}
