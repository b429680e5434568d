/* elf_file.c - what is read of ELF files, whole and damaged. */
#include "pack/elf/read.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "elf_world.h"

static const struct elf_plan library = { .soname = "libx.so.1",
					 .needed = "liby.so.2",
					 .version = "Y_2.0",
					 .rpath = "$ORIGIN/a",
					 .runpath = "$ORIGIN/b",
					 .symbol = "f" };

TEST(a_library_says_its_names)
{
	struct elf_world w;
	struct rk_elf e;

	elf_make(&w, &library);
	CHECK(elf_read(&w, &e) == 0);
	CHECK(e.kind == RK_ELF_SHARED && e.wide && e.little && e.dynamic);
	CHECK_U64(e.machine, EM_X86_64);
	CHECK_STR(e.soname, "libx.so.1");
	CHECK_STR(e.rpath, "$ORIGIN/a");
	CHECK_STR(e.runpath, "$ORIGIN/b");
	CHECK_STR(e.interpreter, NULL);
	if (CHECK_U64(e.nneeded, 1))
		CHECK_STR(e.needed[0], "liby.so.2");
	if (CHECK_U64(e.nversions, 1)) {
		CHECK_STR(e.versions[0].file, "liby.so.2");
		CHECK_STR(e.versions[0].name, "Y_2.0");
	}
	elf_done(&w);
}

TEST(programs_are_distinguished_from_libraries)
{
	const struct elf_plan interpreted = { .program = true }, pie = { .pie = true },
			      fixed = { .is_static = true };
	struct elf_world w;
	struct rk_elf e;

	elf_make(&w, &interpreted);
	CHECK(elf_read(&w, &e) == 0 && e.kind == RK_ELF_EXE && e.dynamic);
	CHECK_STR(e.interpreter, "/lib64/ld-linux-x86-64.so.2");
	elf_done(&w);
	elf_make(&w, &pie);
	CHECK(elf_read(&w, &e) == 0 && e.kind == RK_ELF_EXE);
	elf_done(&w);
	elf_make(&w, &fixed);
	CHECK(elf_read(&w, &e) == 0 && e.kind == RK_ELF_EXE && !e.dynamic);
	elf_done(&w);
}

TEST(a_library_that_can_be_started_is_a_library)
{
	struct elf_plan p = library;
	struct elf_world w;
	struct rk_elf e;

	p.program = true;
	elf_make(&w, &p);
	CHECK(elf_read(&w, &e) == 0 && e.kind == RK_ELF_SHARED && e.dynamic);
	CHECK_STR(e.soname, "libx.so.1");
	CHECK_STR(e.interpreter, "/lib64/ld-linux-x86-64.so.2");
	elf_done(&w);

	/* a program may have a SONAME too */
	p.pie = true;
	elf_make(&w, &p);
	CHECK(elf_read(&w, &e) == 0 && e.kind == RK_ELF_EXE);
	elf_done(&w);
	p.pie = false;
	elf_make(&w, &p);
	w.data[offsetof(Elf64_Ehdr, e_type)] = ET_EXEC;
	CHECK(elf_read(&w, &e) == 0 && e.kind == RK_ELF_EXE);
	elf_done(&w);
}

TEST(section_headers_are_not_needed_to_read)
{
	struct elf_plan p = library;
	struct elf_world w;
	struct rk_elf e;

	p.no_sections = true;
	elf_make(&w, &p);
	CHECK(elf_read(&w, &e) == 0);
	CHECK_STR(e.soname, "libx.so.1");
	elf_done(&w);
}

TEST(relocatable_files_and_device_code_are_something_else)
{
	struct elf_world w;
	struct rk_elf e;

	elf_make(&w, &library);
	w.data[offsetof(Elf64_Ehdr, e_type)] = ET_REL;
	CHECK(elf_read(&w, &e) == 0 && e.kind == RK_ELF_OTHER);
	w.data[offsetof(Elf64_Ehdr, e_type)] = ET_DYN;
	w.data[offsetof(Elf64_Ehdr, e_machine)] = EM_AMDGPU;
	CHECK(elf_read(&w, &e) == 0 && e.kind == RK_ELF_OTHER && !e.dynamic);
	elf_done(&w);
}

TEST(a_file_of_debug_information_has_no_dynamic_section)
{
	struct elf_world w;
	struct rk_elf e;

	elf_make(&w, &library);
	for (size_t i = 1; i < w.nsections; i++)
		if (w.sections[i].sh_type == SHT_DYNAMIC)
			w.sections[i].sh_type = SHT_NOBITS;
	memcpy(w.data + w.head.e_shoff, w.sections, w.nsections * sizeof(w.sections[0]));
	CHECK(elf_read(&w, &e) == 0);
	CHECK(e.kind == RK_ELF_SHARED && !e.dynamic);
	CHECK_STR(e.soname, NULL);
	elf_done(&w);
}

TEST(other_files_are_not_an_error)
{
	struct rk_error err = { 0 };
	struct rk_elf e = { .kind = RK_ELF_EXE };

	CHECK(rk_elf_read("#!/bin/sh\n", 10, NULL, &e, &err) == 0 && e.kind == RK_ELF_NONE);
	e.kind = RK_ELF_EXE;
	CHECK(rk_elf_read("", 0, NULL, &e, &err) == 0 && e.kind == RK_ELF_NONE);
	CHECK(rk_elf_is("\177ELF", 4) && !rk_elf_is("\177EL", 3) && !rk_elf_is("\177ELG", 4));
}

/* 32 bits, the other byte order: header, a segment for all, a dynamic section, strings. */
TEST(files_of_32_bits_and_of_another_byte_order_are_read)
{
	static const uint8_t head[52] = {
		0x7f, 'E',           'L',           'F',       1,         2,
		1,    [17] = ET_DYN, [19] = EM_PPC, [31] = 52, [43] = 32, [45] = 2
	};
	static const uint8_t load[32] = { [3] = PT_LOAD, [18] = 1, [22] = 1 };
	static const uint8_t dynamic[32] = { [3] = PT_DYNAMIC, [7] = 128, [11] = 128, [19] = 32 };
	static const uint8_t entries[32] = {
		[3] = DT_STRTAB, [7] = 160, [11] = DT_STRSZ, [15] = 8, [19] = DT_SONAME, [23] = 1
	};
	struct elf_world w = { 0 };
	struct rk_elf e;

	CHECK(rk_arena_new(&w.arena, &w.err) == 0);
	memcpy(w.data, head, sizeof(head));
	memcpy(w.data + 52, load, sizeof(load));
	memcpy(w.data + 84, dynamic, sizeof(dynamic));
	memcpy(w.data + 128, entries, sizeof(entries));
	memcpy(w.data + 160, "\0libz.so", 8);
	w.len = 256;
	CHECK(elf_read(&w, &e) == RK_E_FORMAT); /* the name has no end in the table */
	w.data[128 + 15] = 9;
	CHECK(elf_read(&w, &e) == 0 && !e.wide && !e.little && e.dynamic);
	CHECK_U64(e.machine, EM_PPC);
	CHECK_STR(e.soname, "libz.so");
	elf_done(&w);
}

static void put(struct elf_world *w, size_t at, uint64_t value, size_t size)
{
	memcpy(w->data + at, &value, size);
}

/* Each place gets a value that cannot be; the file must be called broken. */
TEST(impossible_numbers_are_reported)
{
	const size_t phdr = sizeof(Elf64_Ehdr);
	const struct {
		size_t at;
		uint64_t value;
		size_t size;
	} bad[] = {
		{ EI_CLASS, 7, 1 },
		{ EI_DATA, 0, 1 },
		{ offsetof(Elf64_Ehdr, e_phoff), UINT64_MAX - 100, 8 },
		{ offsetof(Elf64_Ehdr, e_phnum), 0xffff, 2 },
		{ offsetof(Elf64_Ehdr, e_phnum), 0xfff0, 2 },
		{ offsetof(Elf64_Ehdr, e_phentsize), 55, 2 },
		{ phdr + offsetof(Elf64_Phdr, p_filesz), UINT64_MAX, 8 },
		{ phdr + offsetof(Elf64_Phdr, p_vaddr), 1 << 30, 8 },
		{ phdr + offsetof(Elf64_Phdr, p_offset), UINT64_MAX, 8 },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct elf_world w;
		struct rk_elf e;

		elf_make(&w, &library);
		put(&w, bad[i].at, bad[i].value, bad[i].size);
		CHECK_I64(elf_read(&w, &e), RK_E_FORMAT);
		CHECK_I64(w.err.code, RK_E_FORMAT);
		elf_done(&w);
	}
}

TEST(entries_that_point_nowhere_are_reported)
{
	const int64_t tags[] = { DT_NEEDED, DT_SONAME, DT_RPATH,  DT_RUNPATH,
				 DT_STRTAB, DT_STRSZ,  DT_VERNEED };

	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
		struct elf_world w;
		struct rk_elf e;

		elf_make(&w, &library);
		for (size_t k = 0; k < w.nentries; k++)
			if (w.entries[k].d_tag == tags[i])
				put(&w, w.dynamic_at + k * sizeof(Elf64_Dyn) + 8, 1 << 28, 8);
		CHECK_I64(elf_read(&w, &e), RK_E_FORMAT);
		elf_done(&w);
	}
}

TEST(a_file_cut_anywhere_is_read_or_refused)
{
	struct elf_world w;
	size_t whole;
	bool told = true;

	elf_make(&w, &library);
	whole = w.len;
	for (w.len = 0; w.len < whole; w.len++) {
		/* exactly so many bytes: a sanitizer sees the first one read beyond them */
		uint8_t *copy = rk_alloc(w.len + 1);
		struct rk_error err = { 0 };
		struct rk_elf e;
		int rc;

		memcpy(copy + 1, w.data, w.len);
		rc = rk_elf_read(copy + 1, w.len, w.arena, &e, &err);
		told &= rc == 0 || (rc == RK_E_FORMAT && err.code == rc && err.message[0]);
		rk_free(copy);
	}
	CHECK(told);
	elf_done(&w);
}

TEST(reading_survives_every_lost_allocation)
{
	bool failed = true;

	for (uint64_t n = 1; failed && n < 100; n++) {
		struct elf_world w;
		struct rk_elf e;
		int rc;

		elf_make(&w, &library);
		rk_alloc_fail_after(n);
		rc = elf_read(&w, &e);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK_I64(rc, failed ? RK_E_NOMEM : 0);
		elf_done(&w);
	}
	CHECK(!failed);
}

TEST(this_program_is_read)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct rk_arena *arena = NULL;
	struct rk_error err = { 0 };
	struct stat st;
	struct rk_elf e;
	bool glibc = false;
	void *map;

	if (!CHECK(fd >= 0 && fstat(fd, &st) == 0))
		return;
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	CHECK(rk_arena_new(&arena, &err) == 0);
	CHECK(rk_elf_read(map, (size_t)st.st_size, arena, &e, &err) == 0);
	CHECK(e.kind == RK_ELF_EXE && e.dynamic && e.interpreter);
	for (size_t i = 0; i < e.nversions; i++)
		glibc |= strcmp(e.versions[i].file, "libc.so.6") == 0 &&
			 strncmp(e.versions[i].name, "GLIBC_2.", 8) == 0;
	CHECK(glibc);
	munmap(map, (size_t)st.st_size);
	rk_arena_free(arena);
}
