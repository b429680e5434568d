/* elf_edit.c - another RPATH: each way of giving it, and files that must stay as they are. */
#include "pack/elf/edit.h"

#include "base/alloc.h"
#include "elf_world.h"

#define LONGER "$ORIGIN/../../a:$ORIGIN/../../b/c/d/e/f:$ORIGIN/../lib/x/y/z/with/a/long/name"

static const struct elf_plan with_rpath = { .soname = "libx.so.1",
					    .needed = "liby.so.2",
					    .version = "Y_2.0",
					    .runpath = "$ORIGIN/old/place",
					    .symbol = "function" };

/* Names as they were, one run path of the kind, the program headers in order. */
static void check_changed(struct elf_world *w, const char *rpath, enum rk_rpath_tag tag)
{
	struct rk_elf e;
	uint64_t end = 0;
	Elf64_Ehdr head;
	Elf64_Phdr p;

	if (!CHECK_I64(elf_read(w, &e), 0))
		return;
	CHECK_STR(e.rpath, tag == RK_RPATH ? rpath : NULL);
	CHECK_STR(e.runpath, tag == RK_RPATH ? NULL : rpath);
	CHECK_STR(e.soname, "libx.so.1");
	CHECK_U64(e.nneeded, 1);
	CHECK_STR(e.needed[0], "liby.so.2");
	if (e.nversions)
		CHECK_STR(e.versions[0].name, "Y_2.0");
	memcpy(&head, w->data, sizeof(head));
	for (size_t i = 0; i < head.e_phnum; i++) {
		memcpy(&p, w->data + head.e_phoff + i * sizeof(p), sizeof(p));
		if (p.p_type != PT_LOAD)
			continue;
		CHECK(p.p_vaddr >= end);
		CHECK_U64(p.p_vaddr % p.p_align, p.p_offset % p.p_align);
		CHECK(p.p_offset + p.p_filesz <= w->len);
		end = p.p_vaddr + p.p_memsz;
	}
}

static void change(struct elf_plan p, const char *rpath, enum rk_rpath_tag tag, enum rk_elf_way way)
{
	struct elf_world w;
	struct rk_elf_edit e;

	elf_make(&w, &p);
	if (CHECK_I64(elf_change(&w, rpath, tag, &e), 0)) {
		CHECK_I64(e.way, way);
		check_changed(&w, rpath, tag);
		/* once more, and nothing is left to do */
		CHECK(elf_change(&w, rpath, tag, &e) == 0 && e.way == RK_ELF_SAME);
		CHECK_U64(e.npatches, 0);
		CHECK_U64(e.new_size, e.old_size);
	}
	elf_done(&w);
}

TEST(the_kind_alone_is_another_tag)
{
	change(with_rpath, "$ORIGIN/old/place", RK_RPATH, RK_ELF_TAG);
	change(with_rpath, "$ORIGIN/old/place", RK_RUNPATH, RK_ELF_SAME);
}

TEST(no_text_keeps_the_text_in_force)
{
	struct elf_plan p = with_rpath;
	struct rk_elf_edit e;
	struct elf_world w;

	p.rpath = "/not/in/force";
	elf_make(&w, &p);
	CHECK(elf_change(&w, NULL, RK_RPATH, &e) == 0 && e.way == RK_ELF_TAG);
	check_changed(&w, "$ORIGIN/old/place", RK_RPATH);
	elf_done(&w);
	p.rpath = p.runpath = NULL;
	elf_make(&w, &p);
	CHECK(elf_change(&w, NULL, RK_RPATH, &e) == 0 && e.way == RK_ELF_SAME);
	CHECK_U64(e.npatches, 0);
	elf_done(&w);
}

TEST(of_two_run_paths_one_is_left)
{
	struct elf_plan p = with_rpath;

	p.rpath = "/an/old/one";
	change(p, "$ORIGIN/old/place", RK_RPATH, RK_ELF_TAG);
	change(p, "/an/old/one", RK_RUNPATH, RK_ELF_IN_PLACE);
	change(p, "/x", RK_RUNPATH, RK_ELF_IN_PLACE);
}

TEST(a_shorter_text_goes_over_the_old_one)
{
	change(with_rpath, "/short", RK_RPATH, RK_ELF_IN_PLACE);
	change(with_rpath, "$ORIGIN/new/place", RK_RPATH, RK_ELF_IN_PLACE);
	change(with_rpath, "", RK_RPATH, RK_ELF_IN_PLACE);
}

TEST(a_text_that_others_share_is_not_written_over)
{
	struct elf_plan p = with_rpath;

	p.symbol = "a_function_with$ORIGIN/old/place"; /* the run path is its end */
	change(p, "/short", RK_RPATH, RK_ELF_SEGMENT);
	p.symbol = "place"; /* it is the run path's end */
	p.soname = "libx.so.1";
	change(p, "/short", RK_RPATH, RK_ELF_SEGMENT);
	p = with_rpath;
	p.runpath = "/with/a/name/liby.so.2"; /* so is what is needed */
	change(p, "/short", RK_RPATH, RK_ELF_SEGMENT);
	p = with_rpath;
	p.runpath = "/with/a/version/Y_2.0";
	change(p, "/short", RK_RPATH, RK_ELF_SEGMENT);
}

TEST(of_two_entries_with_one_tag_the_last_counts)
{
	struct elf_plan p = with_rpath;
	struct rk_elf_edit e;
	struct elf_world w;
	Elf64_Dyn d;

	p.runpath = "/with/a/version/Y_2.0";
	p.spare = 1;
	elf_make(&w, &p);
	/* the first says that there are no versions: a loader sees the second */
	for (size_t at = w.dynamic_at;; at += sizeof(d)) {
		memcpy(&d, w.data + at, sizeof(d));
		if (d.d_tag == DT_VERNEEDNUM)
			memset(w.data + at + offsetof(Elf64_Dyn, d_un), 0, sizeof(d.d_un));
		if (d.d_tag != DT_NULL)
			continue;
		d = (Elf64_Dyn){ .d_tag = DT_VERNEEDNUM, .d_un.d_val = 1 };
		memcpy(w.data + at, &d, sizeof(d));
		break;
	}
	CHECK(elf_change(&w, "/short", RK_RPATH, &e) == 0 && e.way == RK_ELF_SEGMENT);
	check_changed(&w, "/short", RK_RPATH);
	elf_done(&w);
}

TEST(a_text_that_is_there_is_used_again)
{
	struct elf_plan p = with_rpath;

	p.symbol = "its_end_is/x/y";
	change(p, "/x/y", RK_RPATH, RK_ELF_IN_PLACE);
}

TEST(a_longer_text_goes_to_the_rest_of_a_page)
{
	struct elf_plan p = with_rpath;
	struct rk_elf_edit e;
	struct elf_world w;
	char text[4000];

	p.room = true;
	change(p, LONGER, RK_RPATH, RK_ELF_ROOM);
	elf_make(&w, &p);
	CHECK(elf_change(&w, LONGER, RK_RPATH, &e) == 0);
	CHECK_U64(e.new_size, e.old_size);
	/* the table is the segment's last thing now: the next text takes the place of this one */
	CHECK(elf_change(&w, LONGER "/and/more", RK_RPATH, &e) == 0 && e.way == RK_ELF_ROOM);
	CHECK_U64(e.new_size, e.old_size);
	check_changed(&w, LONGER "/and/more", RK_RPATH);
	elf_done(&w);
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	change(p, text, RK_RPATH, RK_ELF_SEGMENT);
}

TEST(room_that_is_not_empty_is_not_taken)
{
	struct elf_plan p = with_rpath;
	struct rk_elf_edit e;
	struct elf_world w;

	p.room = true;
	elf_make(&w, &p);
	w.data[w.segments[0].p_filesz + 20] = 'x';
	CHECK(elf_change(&w, LONGER, RK_RPATH, &e) == 0 && e.way == RK_ELF_SEGMENT);
	check_changed(&w, LONGER, RK_RPATH);
	elf_done(&w);
}

TEST(a_longer_text_makes_one_segment)
{
	struct elf_plan p = with_rpath;

	change(p, LONGER, RK_RPATH, RK_ELF_SEGMENT);
	change(p, LONGER, RK_RUNPATH, RK_ELF_SEGMENT);
	p.program = true;
	change(p, LONGER, RK_RPATH, RK_ELF_SEGMENT);
	p.own_header = true;
	change(p, LONGER, RK_RPATH, RK_ELF_SEGMENT);
	p.no_sections = true;
	change(p, LONGER, RK_RPATH, RK_ELF_SEGMENT);
	p = with_rpath;
	p.null_slot = true;
	change(p, LONGER, RK_RPATH, RK_ELF_SEGMENT);
}

static uint16_t header_count(const struct elf_world *w)
{
	uint16_t n;

	memcpy(&n, w->data + offsetof(Elf64_Ehdr, e_phnum), sizeof(n));
	return n;
}

static uint64_t header_place(const struct elf_world *w)
{
	uint64_t at;

	memcpy(&at, w->data + offsetof(Elf64_Ehdr, e_phoff), sizeof(at));
	return at;
}

TEST(a_program_keeps_the_place_of_its_headers)
{
	struct elf_plan p = with_rpath;
	struct rk_elf_edit e;
	struct elf_world w;
	struct rk_elf read;
	Elf64_Phdr first;

	p.program = true;
	p.own_header = true;
	elf_make(&w, &p);
	CHECK(elf_change(&w, LONGER, RK_RPATH, &e) == 0);
	CHECK_U64(header_place(&w), sizeof(Elf64_Ehdr));
	CHECK_U64(header_count(&w), w.nsegments + 1);
	memcpy(&first, w.data + sizeof(Elf64_Ehdr), sizeof(first));
	CHECK_U64(first.p_type, PT_PHDR);
	CHECK_U64(first.p_filesz, (w.nsegments + 1) * sizeof(first));
	CHECK(elf_read(&w, &read) == 0);
	CHECK_STR(read.interpreter, "/lib64/ld-linux-x86-64.so.2");
	elf_done(&w);
}

TEST(a_header_of_no_use_is_used)
{
	struct elf_plan p = with_rpath;
	struct rk_elf_edit e;
	struct elf_world w;

	p.null_slot = true;
	elf_make(&w, &p);
	CHECK(elf_change(&w, LONGER, RK_RPATH, &e) == 0);
	CHECK_U64(header_count(&w), w.nsegments);
	elf_done(&w);
}

/* Without section headers nobody knows where the hash table ends. */
TEST(a_library_whose_headers_cannot_grow_moves_them)
{
	struct elf_plan p = with_rpath;
	struct rk_elf_edit e;
	struct elf_world w;

	p.no_sections = true;
	p.no_note = true;
	change(p, LONGER, RK_RPATH, RK_ELF_SEGMENT);
	elf_make(&w, &p);
	CHECK(elf_change(&w, LONGER, RK_RPATH, &e) == 0);
	CHECK(header_place(&w) >= e.tail_at);
	elf_done(&w);
	p.own_header = true; /* a library can do without that one */
	elf_make(&w, &p);
	CHECK(elf_change(&w, LONGER, RK_RPATH, &e) == 0);
	CHECK_U64(header_place(&w), sizeof(Elf64_Ehdr));
	CHECK_U64(header_count(&w), w.nsegments);
	elf_done(&w);
}

static Elf64_Phdr header_at(const struct elf_world *w, size_t i)
{
	Elf64_Phdr p;

	memcpy(&p, w->data + header_place(w) + i * sizeof(p), sizeof(p));
	return p;
}

/* strip would keep the segment without bytes, at an offset that no loader accepts */
TEST(a_segment_that_loses_the_string_table_and_has_nothing_else_is_removed)
{
	struct elf_plan p = with_rpath;
	struct rk_elf_edit e;
	struct elf_world w;

	p.apart = true;
	p.room = true;
	p.own_header = true;
	change(p, LONGER, RK_RPATH, RK_ELF_ROOM);
	elf_make(&w, &p);
	CHECK(elf_change(&w, LONGER, RK_RPATH, &e) == 0);
	CHECK_U64(header_count(&w), w.nsegments - 1);
	CHECK_U64(header_at(&w, 0).p_filesz, (w.nsegments - 1) * sizeof(Elf64_Phdr));
	CHECK_U64(header_at(&w, w.nsegments - 1).p_type, PT_NULL); /* space for a later edit */
	for (size_t i = 0; i < header_count(&w); i++)
		CHECK(header_at(&w, i).p_offset < ELF_WORLD_APART);
	elf_done(&w);

	p.room = false; /* its header is used for the new segment */
	change(p, LONGER, RK_RPATH, RK_ELF_SEGMENT);
	elf_make(&w, &p);
	CHECK(elf_change(&w, LONGER, RK_RPATH, &e) == 0);
	CHECK_U64(header_count(&w), w.nsegments);
	elf_done(&w);
}

TEST(a_segment_with_something_else_besides_the_string_table_stays)
{
	struct elf_plan p = with_rpath;
	struct rk_elf_edit e;
	struct elf_world w;
	Elf64_Ehdr head;

	p.apart = true;
	p.room = true;
	elf_make(&w, &p);
	memcpy(&head, w.data, sizeof(head));
	head.e_entry = ELF_WORLD_APART + 1;
	memcpy(w.data, &head, sizeof(head));
	CHECK(elf_change(&w, LONGER, RK_RPATH, &e) == 0);
	CHECK_U64(header_count(&w), w.nsegments);
	elf_done(&w);
}

TEST(a_longer_text_goes_to_the_unused_end_of_its_segment)
{
	struct elf_plan p = with_rpath;
	struct rk_elf_edit e;
	struct elf_world w;

	p.slack = true;
	p.program = true;
	change(p, LONGER, RK_RPATH, RK_ELF_ROOM);
	elf_make(&w, &p);
	CHECK(elf_change(&w, LONGER, RK_RPATH, &e) == 0 && e.new_size == e.old_size);
	CHECK_U64(header_count(&w), w.nsegments);
	elf_done(&w);
	elf_make(&w, &p); /* bytes that are not zero belong to somebody */
	memset(w.data + w.segments[1].p_filesz - 8, 1, 8);
	CHECK(elf_change(&w, LONGER, RK_RPATH, &e) == 0 && e.way == RK_ELF_SEGMENT);
	elf_done(&w);
}

/* The program headers cannot grow: what follows them is written to. */
static void make_fixed_program(struct elf_world *w)
{
	struct elf_plan p = with_rpath;

	p.program = true;
	p.null_slot = true;
	elf_make(w, &p);
	w->sections[1].sh_flags |= SHF_WRITE;
	memcpy(w->data + w->head.e_shoff, w->sections, w->nsections * sizeof(w->sections[0]));
}

static void write_segments(struct elf_world *w)
{
	memcpy(w->data + sizeof(w->head), w->segments, w->nsegments * sizeof(w->segments[0]));
}

TEST(two_notes_that_follow_each_other_get_one_header)
{
	Elf64_Phdr *note, *other;
	struct rk_elf_edit e;
	struct elf_world w;
	size_t notes = 0;

	make_fixed_program(&w);
	note = &w.segments[2];
	other = &w.segments[w.nsegments - 1];
	CHECK(note->p_type == PT_NOTE && other->p_type == PT_NULL);
	note->p_align = 4;
	*other = *note;
	note->p_filesz = note->p_memsz = 20;
	other->p_offset += 20;
	other->p_vaddr += 20;
	other->p_filesz = other->p_memsz = 16;
	write_segments(&w);
	CHECK(elf_change(&w, LONGER, RK_RPATH, &e) == 0 && e.way == RK_ELF_SEGMENT);
	check_changed(&w, LONGER, RK_RPATH);
	CHECK_U64(header_count(&w), w.nsegments);
	for (size_t i = 0; i < w.nsegments; i++)
		if (header_at(&w, i).p_type == PT_NOTE) {
			CHECK_U64(header_at(&w, i).p_filesz, 36);
			notes++;
		}
	CHECK_U64(notes, 1);
	elf_done(&w);
}

TEST(a_string_table_may_continue_in_the_segment_that_follows)
{
	uint64_t middle = 0;
	struct rk_elf_edit e;
	struct elf_world w;
	Elf64_Phdr *load;

	make_fixed_program(&w);
	for (size_t i = 1; i < w.nsections; i++)
		if (w.sections[i].sh_type == SHT_STRTAB)
			middle = w.sections[i].sh_offset + w.sections[i].sh_size / 2;
	load = &w.segments[1];
	memmove(load + 2, load + 1, (w.nsegments - 3) * sizeof(*load)); /* over PT_NULL */
	load[1] = load[0];
	load[0].p_filesz = load[0].p_memsz = middle;
	load[1].p_offset = load[1].p_vaddr = middle;
	load[1].p_filesz = load[1].p_memsz = load[1].p_filesz - middle;
	load[1].p_align = 1;
	write_segments(&w);
	CHECK(elf_change(&w, "/short", RK_RPATH, &e) == 0 && e.way == RK_ELF_IN_PLACE);
	check_changed(&w, "/short", RK_RPATH);
	elf_done(&w);
}

TEST(edits_that_follow_do_not_grow_without_end)
{
	struct elf_plan p = with_rpath;
	struct rk_elf_edit e;
	struct elf_world w;
	uint64_t size;

	p.program = true;
	elf_make(&w, &p);
	CHECK(elf_change(&w, LONGER, RK_RPATH, &e) == 0 && e.way == RK_ELF_SEGMENT);
	size = e.new_size;
	for (int i = 0; i < 20; i++) {
		const char *text = i % 2 ? LONGER ":/with/some/more" : LONGER;

		CHECK(elf_change(&w, text, i % 3 ? RK_RPATH : RK_RUNPATH, &e) == 0);
		check_changed(&w, text, i % 3 ? RK_RPATH : RK_RUNPATH);
	}
	CHECK_U64(e.new_size, size + strlen(":/with/some/more"));
	elf_done(&w);
}

TEST(a_first_run_path_needs_a_place)
{
	struct elf_plan p = with_rpath;
	struct rk_elf_edit e;
	struct elf_world w;

	p.runpath = NULL;
	elf_make(&w, &p);
	CHECK_I64(elf_change(&w, "/x", RK_RPATH, &e), RK_E_UNSUPPORTED);
	CHECK_STR(w.err.message, "cannot edit this ELF file: no space for another dynamic entry");
	elf_done(&w);
	p.spare = 1;
	change(p, "/x", RK_RPATH, RK_ELF_SEGMENT);
	p.spare = 0;
	p.count_hint = true;
	change(p, "/x", RK_RUNPATH, RK_ELF_SEGMENT);
}

static void refuse(struct elf_world *w, int code, const char *message)
{
	struct rk_elf_edit e = { .way = RK_ELF_ROOM, .npatches = 99 };

	rk_error_clear(&w->err);
	CHECK_I64(rk_elf_edit(w->data, w->len, LONGER, RK_RPATH, w->arena, &e, &w->err), code);
	CHECK_STR(w->err.message, message);
	CHECK_U64(e.npatches, 99);
	elf_done(w);
}

TEST(files_that_cannot_have_a_run_path_are_refused)
{
	struct elf_plan fixed = { .is_static = true }, pie = { .pie = true, .rpath = "/x" };
	struct elf_world w;

	elf_make(&w, &fixed);
	refuse(&w, RK_E_UNSUPPORTED,
	       "cannot edit this ELF file: it has no dynamic section (a static program?)");
	elf_make(&w, &pie);
	refuse(&w, RK_E_UNSUPPORTED, "cannot edit this ELF file: a static program has no run path");
	elf_make(&w, &with_rpath);
	w.data[EI_CLASS] = ELFCLASS32;
	refuse(&w, RK_E_UNSUPPORTED, "cannot edit this ELF file: it is not 64-bit");
	elf_make(&w, &with_rpath);
	w.data[EI_DATA] = ELFDATA2MSB;
	refuse(&w, RK_E_UNSUPPORTED, "cannot edit this ELF file: it has another byte order");
	elf_make(&w, &with_rpath);
	w.data[offsetof(Elf64_Ehdr, e_machine)] = EM_AMDGPU;
	refuse(&w, RK_E_UNSUPPORTED, "cannot edit this ELF file: it is device code");
	elf_make(&w, &with_rpath);
	memset(w.data + offsetof(Elf64_Ehdr, e_phnum), 0xff, 2);
	refuse(&w, RK_E_UNSUPPORTED, "cannot edit this ELF file: it has too many program headers");
	elf_make(&w, &with_rpath);
	memset(w.data + offsetof(Elf64_Ehdr, e_shnum), 0, 2);
	refuse(&w, RK_E_UNSUPPORTED, "cannot edit this ELF file: it has too many sections");
}

TEST(files_that_contradict_themselves_are_refused)
{
	struct elf_world w;

	elf_make(&w, &with_rpath);
	w.segments[0].p_vaddr += 1 << 20; /* behind the second one */
	memcpy(w.data + sizeof(Elf64_Ehdr), w.segments, sizeof(w.segments[0]));
	refuse(&w, RK_E_FORMAT,
	       "broken ELF file: segments that overlap or are out of order at byte 176");
	elf_make(&w, &with_rpath);
	w.len -= 8;
	refuse(&w, RK_E_FORMAT,
	       rk_arena_textf(w.arena,
			      "broken ELF file: section headers outside the file at byte %u",
			      (unsigned)w.head.e_shoff));
	elf_make(&w, &with_rpath);
	w.head.e_shoff = w.dynamic_at;
	memcpy(w.data, &w.head, sizeof(w.head));
	CHECK(rk_elf_edit(w.data, w.len, LONGER, RK_RPATH, w.arena, &(struct rk_elf_edit){ 0 },
			  &w.err) == RK_E_FORMAT);
	elf_done(&w);
	elf_make(&w, &with_rpath); /* an edit would change the versions */
	for (size_t i = 0; i < w.nentries; i++)
		if (w.entries[i].d_tag == DT_VERNEED)
			w.entries[i].d_un.d_ptr = sizeof(Elf64_Ehdr) + 8;
	memcpy(w.data + w.dynamic_at, w.entries, w.nentries * sizeof(w.entries[0]));
	refuse(&w, RK_E_FORMAT, "broken ELF file: overlapping tables at byte 64");
}

TEST(versions_that_a_new_text_would_overwrite_are_refused)
{
	struct elf_plan p = with_rpath;
	uint64_t needs = 0, end = 0;
	struct elf_world w;
	Elf64_Verneed v;

	p.slack = true;
	elf_make(&w, &p);
	for (size_t i = 0; i < w.nentries; i++)
		if (w.entries[i].d_tag == DT_VERNEED)
			needs = w.entries[i].d_un.d_ptr;
		else if (w.entries[i].d_tag == DT_STRTAB)
			end = w.entries[i].d_un.d_ptr + w.nstrings;
	/* the version is in the zeros after the string table, where no section is */
	memcpy(&v, w.data + needs, sizeof(v));
	v.vn_aux = (Elf64_Word)(end - needs);
	memcpy(w.data + needs, &v, sizeof(v));
	refuse(&w, RK_E_FORMAT,
	       rk_arena_textf(w.arena, "broken ELF file: overlapping tables at byte %u",
			      (unsigned)end));
}

static void put_segments(struct elf_world *w)
{
	memcpy(w->data + sizeof(w->head), w->segments, w->nsegments * sizeof(w->segments[0]));
}

TEST(room_that_another_segment_has_is_not_taken)
{
	struct elf_plan p = with_rpath;
	struct rk_elf_edit e;
	struct elf_world w;
	struct rk_elf now;
	uint64_t end;

	p.room = p.program = p.null_slot = true;
	elf_make(&w, &p);
	/* the interpreter's name begins in the read-only segment, its NUL is the first free byte */
	end = w.segments[1].p_filesz;
	memset(w.data + end, 'x', 4);
	w.segments[0].p_offset = end;
	w.segments[0].p_filesz = 5;
	w.segments[1].p_filesz = w.segments[1].p_memsz = end + 4;
	put_segments(&w);
	CHECK(elf_change(&w, LONGER, RK_RPATH, &e) == 0 && e.way == RK_ELF_SEGMENT);
	check_changed(&w, LONGER, RK_RPATH);
	CHECK(elf_read(&w, &now) == 0);
	CHECK_STR(now.interpreter, "xxxx");
	elf_done(&w);
}

TEST(an_interpreter_in_a_table_is_refused)
{
	struct elf_plan p = with_rpath;
	struct elf_world w;

	p.program = p.null_slot = true;
	elf_make(&w, &p);
	w.segments[0].p_offset = w.dynamic_at;
	put_segments(&w);
	refuse(&w, RK_E_FORMAT,
	       rk_arena_textf(w.arena, "broken ELF file: overlapping tables at byte %u",
			      (unsigned)w.dynamic_at));
}

TEST(a_note_with_an_address_of_its_own_does_not_move)
{
	struct elf_plan p = with_rpath;
	struct rk_elf_edit e;
	struct elf_world w;

	elf_make(&w, &p);
	w.segments[1].p_vaddr += 1 << 20;
	put_segments(&w);
	CHECK(elf_change(&w, LONGER, RK_RPATH, &e) == 0);
	CHECK(memcmp(w.data + w.segments[1].p_offset, "\4\0\0\0\24", 5) == 0);
	memcpy(&w.head, w.data, sizeof(w.head));
	memcpy(w.segments, w.data + w.head.e_phoff, w.head.e_phnum * sizeof(w.segments[0]));
	CHECK_U64(w.segments[1].p_vaddr, w.segments[1].p_offset + (1 << 20));
	check_changed(&w, LONGER, RK_RPATH);
	elf_done(&w);
}

TEST(of_two_dynamic_sections_the_last_with_bytes_counts)
{
	struct elf_plan p = with_rpath;
	struct rk_elf_edit e;
	struct elf_world w;

	p.runpath = NULL;
	p.spare = 1;
	elf_make(&w, &p);
	w.segments[1] = w.segments[3]; /* in place of the note */
	w.segments[1].p_filesz = 0;
	put_segments(&w);
	CHECK(elf_change(&w, LONGER, RK_RPATH, &e) == 0);
	check_changed(&w, LONGER, RK_RPATH);
	elf_done(&w);
	elf_make(&w, &p);
	w.segments[1] = w.segments[3];
	w.segments[1].p_offset = 0; /* the header is not a dynamic section */
	put_segments(&w);
	CHECK(elf_change(&w, LONGER, RK_RPATH, &e) == 0);
	check_changed(&w, LONGER, RK_RPATH);
	elf_done(&w);
}

TEST(a_segment_above_the_highest_address_is_refused)
{
	struct elf_plan p = with_rpath;
	struct elf_world w;

	elf_make(&w, &p);
	w.segments[2].p_vaddr = ((uint64_t)1 << 62) - ELF_WORLD_PAGE + w.segments[2].p_offset;
	put_segments(&w);
	refuse(&w, RK_E_UNSUPPORTED, "cannot edit this ELF file: its addresses are too high");
}

TEST(a_program_without_place_for_a_header_is_refused)
{
	struct elf_plan p = with_rpath;
	struct elf_world w;

	p.program = true;
	p.no_note = true;
	p.no_sections = true; /* .interp alone is too short, and what follows is not known */
	elf_make(&w, &p);
	refuse(&w, RK_E_UNSUPPORTED,
	       "cannot edit this ELF file: no space for another program header");
}

TEST(pieces_of_any_size_make_the_same_file)
{
	static uint8_t whole[ELF_WORLD_BYTES], parts[ELF_WORLD_BYTES];
	struct rk_elf_edit e;
	struct elf_world w;

	elf_make(&w, &with_rpath);
	CHECK(rk_elf_edit(w.data, w.len, LONGER, RK_RPATH, w.arena, &e, &w.err) == 0);
	memset(whole, 0xee, sizeof(whole));
	memcpy(whole, w.data, w.len);
	rk_elf_edit_apply(&e, 0, whole, (size_t)e.new_size);
	for (size_t step = 1; step < 200; step += 13) {
		memset(parts, 0xdd, sizeof(parts));
		memcpy(parts, w.data, w.len);
		for (size_t at = 0; at < e.new_size; at += step) {
			size_t left = (size_t)e.new_size - at;

			rk_elf_edit_apply(&e, at, parts + at, left < step ? left : step);
		}
		CHECK(memcmp(whole, parts, (size_t)e.new_size) == 0);
	}
	elf_done(&w);
}

TEST(a_text_has_a_limit)
{
	static char text[RK_ELF_TEXT_MAX + 1];
	struct rk_elf_edit e;
	struct elf_world w;

	memset(text, '/', sizeof(text) - 1);
	elf_make(&w, &with_rpath);
	CHECK_I64(rk_elf_edit(w.data, w.len, text, RK_RPATH, w.arena, &e, &w.err), RK_E_LIMIT);
	elf_done(&w);
}

TEST(editing_survives_every_lost_allocation)
{
	bool failed = true;

	for (uint64_t n = 1; failed && n < 100; n++) {
		struct elf_plan p = with_rpath;
		struct rk_elf_edit e;
		struct elf_world w;
		int rc;

		p.program = true;
		elf_make(&w, &p);
		rk_alloc_fail_after(n);
		rc = rk_elf_edit(w.data, w.len, LONGER, RK_RPATH, w.arena, &e, &w.err);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK_I64(rc, failed ? RK_E_NOMEM : 0);
		elf_done(&w);
	}
	CHECK(!failed);
}
