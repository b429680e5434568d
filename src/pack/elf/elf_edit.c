/* elf_edit.c - another RPATH for an ELF file: which way, and its one entry. */
#include "pack/elf/elf_edit.h"

#include <string.h>

#include "pack/elf/elf_edit_impl.h"
#include "pack/elf/elf_file.h"

enum { MAX_RUN_PATHS = 16 };

/* What is wanted, and where the text was found or put: counted from the table's beginning. */
struct wish {
	const char *text;
	size_t len;
	int64_t tag;
	uint64_t at;
	enum rk_elf_way way;
};

static const char *text_at(const struct elf_image *m, uint64_t offset)
{
	return (const char *)m->data + m->strings_at + offset;
}

/* The entry in force: RUNPATH makes a loader forget RPATH. NULL: none. */
static const Elf64_Dyn *entry_in_force(const struct elf_image *m)
{
	const Elf64_Dyn *found = NULL;

	for (size_t i = 0; i < m->nentries; i++)
		if (elf_is_run_path(&m->entries[i]) &&
		    (!found || found->d_tag == DT_RPATH || m->entries[i].d_tag == DT_RUNPATH))
			found = &m->entries[i];
	return found;
}

static int check_entries(const struct elf_image *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->nentries; i++) {
		uint64_t at = m->entries[i].d_un.d_val;

		if (elf_is_run_path(&m->entries[i]) && (n++ >= MAX_RUN_PATHS || at >= m->nstrings ||
							strlen(text_at(m, at)) >= RK_ELF_TEXT_MAX))
			return rk_fail(
				m->err, RK_E_FORMAT,
				"broken ELF file: too many run paths, or one that is not in the string table");
	}
	return 0;
}

/* The whole text with its end, anywhere in the table: tails of other texts are as good. */
static bool find_text(const struct elf_image *m, struct wish *w)
{
	const char *table = text_at(m, 0);
	const Elf64_Dyn *now = entry_in_force(m);
	const char *found;

	if (now && strcmp(text_at(m, now->d_un.d_val), w->text) == 0) {
		w->at = now->d_un.d_val;
		w->way = RK_ELF_TAG;
		return true;
	}
	found = memmem(table, (size_t)m->nstrings, w->text, w->len + 1);
	if (!found)
		return false;
	w->at = (uint64_t)(found - table);
	w->way = RK_ELF_IN_PLACE;
	return true;
}

/* Bytes of a text, with the zeros behind its end but one that an earlier, longer one has left. */
static size_t capacity(const struct elf_image *m, uint64_t offset)
{
	size_t n = strlen(text_at(m, offset));

	while (offset + n + 1 < m->nstrings && text_at(m, offset)[n + 1] == '\0')
		n++;
	return n;
}

/* 1: over a text that only the run path used. */
static int overwrite(struct elf_image *m, struct wish *w)
{
	for (size_t i = 0; i < m->nentries; i++) {
		uint64_t at = m->entries[i].d_un.d_val;
		size_t old;
		uint8_t *bytes;
		int rc;

		if (!elf_is_run_path(&m->entries[i]))
			continue;
		old = capacity(m, at);
		if (old < w->len || !rk_elf_text_is_alone(m, at, old))
			continue;
		bytes = rk_arena_alloc(m->arena, old);
		if (!bytes)
			return rk_fail_nomem(m->err);
		memcpy(bytes, w->text, w->len);
		w->at = at;
		w->way = RK_ELF_IN_PLACE;
		rc = rk_elf_image_patch(m, m->strings_at + at, bytes, old);
		return rc < 0 ? rc : 1;
	}
	return 0;
}

/* A new text takes the place of an old one at the table's end, or follows it. */
static uint64_t new_text_at(const struct elf_image *m)
{
	for (size_t i = 0; i < m->nentries; i++) {
		uint64_t at = m->entries[i].d_un.d_val, len;

		if (!elf_is_run_path(&m->entries[i]))
			continue;
		len = capacity(m, at);
		if (at + len + 1 == m->nstrings && rk_elf_text_is_alone(m, at, len))
			return at;
	}
	return m->nstrings;
}

static int put_text(struct elf_image *m, struct wish *w)
{
	struct elf_strings s = { .text = w->text, .text_size = w->len + 1 };
	int rc;

	if (find_text(m, w))
		return 0;
	rc = overwrite(m, w);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	s.keep = w->at = new_text_at(m);
	rc = rk_elf_edit_room(m, &s);
	w->way = RK_ELF_ROOM;
	if (rc != 0)
		return rc < 0 ? rc : 0;
	w->way = RK_ELF_SEGMENT;
	return rk_elf_edit_segment(m, &s);
}

/* Where a first run path is written: over a spare end, or over a hint that a loader can miss. */
static int find_slot(struct elf_image *m, size_t *ret)
{
	if (m->nentries + 1 < m->nslots && m->entries[m->nentries + 1].d_tag == DT_NULL) {
		*ret = m->nentries++;
		return 0;
	}
	for (size_t i = 0; i < m->nentries; i++)
		if (m->entries[i].d_tag == DT_RELACOUNT || m->entries[i].d_tag == DT_RELCOUNT) {
			*ret = i;
			return 0;
		}
	return rk_fail(m->err, RK_E_UNSUPPORTED,
		       "cannot edit this ELF file: no room for another dynamic entry");
}

/* Exactly one entry: the first one's place is kept, others close up. */
static int set_entry(struct elf_image *m, const struct wish *w)
{
	size_t slot = m->nentries, kept = 0;
	int rc = 0;

	for (size_t i = 0; i < m->nentries; i++) {
		bool path = elf_is_run_path(&m->entries[i]);

		if (path && slot != m->nentries)
			continue;
		if (path)
			slot = kept;
		m->entries[kept++] = m->entries[i];
	}
	if (slot == m->nentries)
		rc = find_slot(m, &slot);
	else
		for (; m->nentries > kept; m->nentries--)
			m->entries[m->nentries - 1] = (Elf64_Dyn){ .d_tag = DT_NULL };
	if (rc == 0)
		m->entries[slot] = (Elf64_Dyn){ .d_tag = w->tag, .d_un.d_val = w->at };
	return rc;
}

static void hand_over(const struct elf_image *m, const struct wish *w, struct rk_elf_edit *ret)
{
	*ret = (struct rk_elf_edit){ .way = w->way,
				     .patches = m->patches,
				     .npatches = m->npatches,
				     .old_size = m->len,
				     .new_size = m->len,
				     .tail_at = m->len };
	if (m->npatches == 0)
		ret->way = RK_ELF_SAME;
	if (m->ntail == 0)
		return;
	ret->tail_at = m->tail_at;
	ret->tail = m->tail;
	ret->ntail = m->ntail;
	ret->new_size = m->tail_at + m->ntail;
}

int rk_elf_edit(const void *data, size_t len, const char *rpath, enum rk_rpath_tag tag,
		struct rk_arena *arena, struct rk_elf_edit *ret, struct rk_error *err)
{
	struct elf_image m = { .data = data, .len = len, .arena = arena, .err = err };
	struct wish w = { .text = rpath, .tag = tag == RK_RPATH ? DT_RPATH : DT_RUNPATH };
	const Elf64_Dyn *now;
	int rc = rk_elf_image_read(&m);

	if (rc == 0)
		rc = check_entries(&m);
	if (rc < 0)
		return rc;
	now = entry_in_force(&m);
	if (!rpath && !now) {
		hand_over(&m, &w, ret);
		return 0;
	}
	if (!rpath)
		w.text = text_at(&m, now->d_un.d_val);
	w.len = strlen(w.text);
	if (w.len >= RK_ELF_TEXT_MAX)
		return rk_fail(err, RK_E_LIMIT, "a run path has at most %d bytes",
			       RK_ELF_TEXT_MAX - 1);
	rc = put_text(&m, &w);
	if (rc == 0)
		rc = set_entry(&m, &w);
	if (rc == 0)
		rc = rk_elf_image_finish(&m);
	if (rc == 0)
		hand_over(&m, &w, ret);
	return rc;
}

/* The part of [at, at + n) that is in the window, copied. */
static void overlay(uint64_t offset, uint8_t *buf, size_t len, uint64_t at, const uint8_t *bytes,
		    size_t n)
{
	uint64_t from = at > offset ? at : offset;
	uint64_t to = at + n < offset + len ? at + n : offset + len;

	if (from < to)
		memcpy(buf + (from - offset), bytes + (from - at), (size_t)(to - from));
}

void rk_elf_edit_apply(const struct rk_elf_edit *e, uint64_t offset, void *buf, size_t len)
{
	size_t low = 0, high = e->npatches;

	while (low < high) { /* the first patch that ends behind the window's beginning */
		size_t mid = low + (high - low) / 2;

		if (e->patches[mid].offset + e->patches[mid].len <= offset)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < e->npatches && e->patches[low].offset < offset + len; low++)
		overlay(offset, buf, len, e->patches[low].offset, e->patches[low].bytes,
			e->patches[low].len);
	if (offset + len > e->old_size) {
		uint64_t from = offset > e->old_size ? offset : e->old_size;

		memset((uint8_t *)buf + (from - offset), 0, (size_t)(offset + len - from));
		if (e->ntail)
			overlay(offset, buf, len, e->tail_at, e->tail, e->ntail);
	}
}
