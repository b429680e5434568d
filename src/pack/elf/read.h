/* read.h - what a packager needs to know about an ELF file. */
#ifndef RK_ELF_READ_H
#define RK_ELF_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/error.h"
#include "io/file.h"

enum rk_elf_kind {
	RK_ELF_NONE,   /* not ELF at all */
	RK_ELF_EXE,    /* ET_EXEC; ET_DYN with DF_1_PIE, or with an interpreter and no SONAME */
	RK_ELF_SHARED, /* any other ET_DYN */
	RK_ELF_OTHER,  /* relocatable, core, device code (EM_AMDGPU) */
};

enum { RK_ELF_TEXT_MAX = 1 << 16 }; /* max bytes of a name, including its NUL */

/* Is [at, at + size) inside [0, len)? Safe if the sum overflows. */
static inline bool elf_fits(uint64_t at, uint64_t size, uint64_t len)
{
	return at <= len && size <= len - at;
}

/* Bytes of the view, which must be inside it. */
static inline const uint8_t *elf_bytes(struct rk_view *v, uint64_t at, uint64_t size)
{
	rk_view_load(v, at, size);
	return (const uint8_t *)v->data + at;
}

struct rk_elf_version {
	const char *file, *name; /* "libc.so.6", "GLIBC_2.34" */
};

/* Strings are in the arena or point into the file's bytes; missing ones are NULL. */
struct rk_elf {
	enum rk_elf_kind kind;
	uint16_t machine;  /* EM_X86_64, EM_AARCH64, ... */
	bool wide, little; /* 64 bits; byte order */
	bool dynamic;      /* has a dynamic section, so it can have an RPATH */
	const char *soname, *interpreter;
	const char *rpath, *runpath; /* DT_RPATH, DT_RUNPATH */
	const char **needed;
	size_t nneeded;
	const struct rk_elf_version *versions; /* needed from other files */
	size_t nversions;
};

/* Is it ELF? Only needs the first 64 bytes. */
bool rk_elf_is(const void *head, size_t len);

/*
 * Every offset is checked. A file that is not ELF is not an error. A broken ELF file is RK_E_FORMAT
 * with the offset; one that cannot be read, or was truncated meanwhile, is RK_E_IO. Texts of *ret
 * point into the view.
 */
int rk_elf_read_view(struct rk_view *v, struct rk_arena *arena, struct rk_elf *ret,
		     struct rk_error *err);
/* The same for a file in memory. */
int rk_elf_read(const void *data, size_t len, struct rk_arena *arena, struct rk_elf *ret,
		struct rk_error *err);

#endif
