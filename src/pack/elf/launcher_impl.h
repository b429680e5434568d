/* launcher_impl.h - shared by the generators of small ELF files: machine code, parts of a file. */
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

/* ---- a 64-bit little-endian ELF file, byte by byte, on a machine of any kind ---- */

enum { RK_ELF_HEADER_BYTES = 64, RK_ELF_SEGMENT_BYTES = 56, RK_ELF_SECTION_BYTES = 64 };

/* The low bytes of a number. */
void rk_elf_put(struct rk_bytes *out, uint64_t v, unsigned bytes);
/* e_ident, sizes and e_version are filled here; segments follow the header. */
void rk_elf_put_header(struct rk_bytes *out, const Elf64_Ehdr *h);
void rk_elf_put_segments(struct rk_bytes *out, const Elf64_Phdr *p, size_t n);
void rk_elf_put_sections(struct rk_bytes *out, const Elf64_Shdr *s, size_t n);
/* Zeros up to a length. */
void rk_elf_put_pad(struct rk_bytes *out, size_t len);
/* The largest page a kernel of this machine may have. */
uint64_t rk_elf_page(uint16_t machine);

#endif
