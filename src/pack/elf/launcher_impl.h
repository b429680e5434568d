/* launcher_impl.h - shared by the generators of small ELF files: machine code, ELF parts. */
#ifndef RK_LAUNCHER_IMPL_H
#define RK_LAUNCHER_IMPL_H

#include <elf.h>

#include "base/bytes.h"

/* Code, texts and the path follow each other: the code finds them relative to itself. */
struct rk_launcher_code {
	const uint8_t *code, *texts;
	size_t ncode, ntexts;
};

extern const struct rk_launcher_code rk_launcher_x86_64, rk_launcher_aarch64;

/* ---- writing a 64-bit little-endian ELF file byte by byte, on any machine ---- */

enum { RK_ELF_HEADER_BYTES = 64, RK_ELF_SEGMENT_BYTES = 56, RK_ELF_SECTION_BYTES = 64 };

/* Appends the low `bytes` bytes of a number, little-endian. */
void rk_elf_put(struct rk_bytes *out, uint64_t v, unsigned bytes);
/* Fills e_ident, the sizes and e_version; segments follow the header. */
void rk_elf_put_header(struct rk_bytes *out, const Elf64_Ehdr *h);
void rk_elf_put_segments(struct rk_bytes *out, const Elf64_Phdr *p, size_t n);
void rk_elf_put_sections(struct rk_bytes *out, const Elf64_Shdr *s, size_t n);
/* Appends zeros until `out` has this length. */
void rk_elf_put_pad(struct rk_bytes *out, size_t len);
/* The largest page size that a kernel for this machine may use. */
uint64_t rk_elf_page(uint16_t machine);

#endif
