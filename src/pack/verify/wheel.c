/*
 * wheel.c - check the metadata of a wheel: its file name, METADATA, WHEEL, RECORD and platform
 * tags.
 */
#include "pack/verify/verify.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/text.h"
#include "pack/wheel/meta.h"

/* ---- file name ---- */

/* The distribution name, normalised as in PEP 503, for comparison. */
static const char *normal(struct rk_proving *p, const char *name, size_t len)
{
	const char *copy = rk_proof_text(p, name, len);
	const char *found = copy ? rk_pep503_name(p->arena, copy, '-') : NULL;

	if (!found)
		rk_proof_nomem(p);
	return found;
}

/* NAME-VERSION-PYTHON-ABI-PLATFORM, perhaps with a build number before PYTHON. */
static bool split_wheel(struct rk_proving *p, struct rk_proof_package *w, size_t len)
{
	const char *at[7] = { w->file };
	size_t n = 1;

	for (const char *c = w->file; c < w->file + len; c++) {
		if (*c == '-' && n == 6)
			return false;
		if (*c == '-')
			at[n++] = c + 1;
	}
	if (n != 5 && n != 6)
		return false;
	at[n] = w->file + len + 1;
	for (size_t i = 0; i < n; i++)
		if (at[i + 1] - at[i] < 2)
			return false;
	w->name = normal(p, at[0], (size_t)(at[1] - at[0]) - 1);
	w->version = rk_proof_text(p, at[1], (size_t)(at[2] - at[1]) - 1);
	w->tags = rk_proof_text(p, at[n - 3], (size_t)(w->file + len - at[n - 3]));
	w->platforms = rk_proof_text(p, at[n - 1], (size_t)(w->file + len - at[n - 1]));
	return true;
}

void rk_proof_file_name(struct rk_proving *p, struct rk_proof_package *w)
{
	size_t len = strlen(w->file);

	if (w->sdist) {
		const char *end = w->file + len - strlen(".tar.gz");
		const char *dash = memrchr(w->file, '-', (size_t)(end - w->file));

		if (!dash || dash == w->file || dash + 1 == end) {
			rk_proof_fault(p, "file-name", w, "",
				       "the file name is not NAME-VERSION.tar.gz");
		} else {
			w->name = normal(p, w->file, (size_t)(dash - w->file));
			w->version = rk_proof_text(p, dash + 1, (size_t)(end - dash) - 1);
		}
	} else if (!split_wheel(p, w, len - strlen(".whl"))) {
		rk_proof_fault(p, "file-name", w, "",
			       "the file name is not NAME-VERSION-PYTHON-ABI-PLATFORM.whl");
	}
	/* NULL after an error that stopped everything */
	w->name = rk_text_or_empty(w->name);
	w->version = rk_text_or_empty(w->version);
	w->tags = rk_text_or_empty(w->tags);
	w->platforms = rk_text_or_empty(w->platforms);
}

/* ---- texts ---- */

char *rk_proof_load(struct rk_proving *p, struct rk_proof_package *w, const char *name,
		    size_t *ret_len)
{
	const struct rk_zip_entry *e = w->zip ? rk_zip_find(w->zip, name) : NULL;
	struct rk_error err = { 0 };
	char *text = NULL;
	int rc;

	if (!e)
		return NULL;
	rc = rk_zip_load(w->zip, e, RK_PROOF_TEXT_MAX, &text, ret_len, &err);
	if (rc == RK_E_NOMEM)
		rk_proof_stop(p, &err);
	else if (rc == RK_E_LIMIT)
		rk_proof_fault(p, "member-damaged", w, name, "%s", err.message);
	return rc < 0 ? NULL : text; /* other damage was reported when we computed its hash */
}

/* The value of a header line at `line`, or NULL. */
static const char *value_of(const char *line, const char *name, size_t *ret_len)
{
	size_t n = strlen(name), len = strcspn(line, "\r\n");

	if (len <= n || !rk_text_iprefix(line, len, name) || line[n] != ':')
		return NULL;
	for (n++; n < len && line[n] == ' '; n++)
		;
	while (len > n && line[len - 1] == ' ')
		len--;
	*ret_len = len - n;
	return line + n;
}

const char *rk_proof_header(struct rk_proving *p, const char *text, const char *name)
{
	size_t len;

	for (const char *line = text; *line && *line != '\n' && *line != '\r';
	     line = rk_proof_next_line(line)) {
		const char *value = value_of(line, name, &len);

		if (value)
			return rk_proof_text(p, value, len);
	}
	return NULL;
}

/* ---- metadata ---- */

/* Loads a mandatory member of the metadata folder; the caller frees it. */
static char *load_info(struct rk_proving *p, struct rk_proof_package *w, const char *name,
		       const char **ret_path)
{
	char path[RK_PROOF_PATH_MAX];
	size_t len;
	char *text;

	snprintf(path, sizeof(path), "%s%s", w->dist_info, name);
	*ret_path = rk_proof_text(p, path, strlen(path));
	text = rk_proof_load(p, w, path, &len);
	if (!text && !rk_zip_find(w->zip, path))
		rk_proof_fault(p, "metadata-missing", w, path, "%s is missing", name);
	return text;
}

static bool same_version(const char *a, const char *b)
{
	for (; *a && *b; a++, b++)
		if (*a != *b && !(*a == '-' && *b == '_') && !(*a == '_' && *b == '-'))
			return false;
	return *a == *b;
}

static void check_metadata(struct rk_proving *p, struct rk_proof_package *w)
{
	const char *path, *name, *normalised, *version, *form;
	char *text = load_info(p, w, "METADATA", &path);

	if (!text || !path) {
		rk_free(text);
		return;
	}
	name = rk_proof_header(p, text, "Name");
	version = rk_proof_header(p, text, "Version");
	form = rk_proof_header(p, text, "Metadata-Version");
	if (!form)
		rk_proof_fault(p, "metadata-wrong", w, path, "Metadata-Version is missing");
	else if (!name)
		rk_proof_fault(p, "metadata-wrong", w, path, "Name is missing");
	else if (!version)
		rk_proof_fault(p, "metadata-wrong", w, path, "Version is missing");
	normalised = name ? normal(p, name, strlen(name)) : NULL;
	if (normalised && strcmp(normalised, w->name))
		rk_proof_fault(p, "metadata-wrong", w, path, "name '%s' differs from the file name",
			       name);
	if (version && !same_version(version, w->version))
		rk_proof_fault(p, "metadata-wrong", w, path,
			       "version '%s' differs from the file name", version);
	rk_free(text);
}

/* WHEEL lists tags one by one: "py3-none-a.b" is py3-none-a and py3-none-b. */
static bool has_tag(const struct rk_proof_package *w, const char *tag, size_t len)
{
	const char *have = w->tags, *dash = memrchr(tag, '-', len);
	size_t head = dash ? (size_t)(dash - tag) + 1 : 0;

	if (!head || strncmp(have, tag, head))
		return false;
	for (have += head; *have; have += strcspn(have, ".") + (have[strcspn(have, ".")] == '.'))
		if (strcspn(have, ".") == len - head && !strncmp(have, tag + head, len - head))
			return true;
	return false;
}

static void check_wheel_file(struct rk_proving *p, struct rk_proof_package *w)
{
	const char *path, *version, *pure;
	char *text = load_info(p, w, "WHEEL", &path);
	bool found = false;

	if (!text || !path) {
		rk_free(text);
		return;
	}
	version = rk_proof_header(p, text, "Wheel-Version");
	pure = rk_proof_header(p, text, "Root-Is-Purelib");
	if (!version || strncmp(version, "1.", 2))
		rk_proof_fault(p, "wheel-wrong", w, path, "Wheel-Version is not 1.x");
	if (!pure || (strcmp(pure, "true") && strcmp(pure, "false")))
		rk_proof_fault(p, "wheel-wrong", w, path,
			       "Root-Is-Purelib is neither true nor false");
	for (const char *line = text; *line; line = rk_proof_next_line(line)) {
		size_t len;
		const char *tag = value_of(line, "Tag", &len);

		if (!tag)
			continue;
		found = true;
		/* do not split tags with several Pythons */
		if (!memchr(w->tags, '.', strcspn(w->tags, "-")) && !has_tag(w, tag, len))
			rk_proof_fault(p, "wheel-wrong", w, path,
				       "tag '%.*s' is not in the file name", (int)len, tag);
	}
	if (!found)
		rk_proof_fault(p, "wheel-wrong", w, path, "Tag is missing");
	rk_free(text);
}

/* ---- duplicate members ---- */

static int by_path(const void *a, const void *b)
{
	return strcmp((*(const struct rk_proof_file *const *)a)->path,
		      (*(const struct rk_proof_file *const *)b)->path);
}

static int by_letters(const void *a, const void *b)
{
	const char *x = (*(const struct rk_proof_file *const *)a)->path;
	const char *y = (*(const struct rk_proof_file *const *)b)->path;
	int c = strcasecmp(x, y);

	return c ? c : strcmp(x, y);
}

static void check_twice(struct rk_proving *p, struct rk_proof_package *w)
{
	const struct rk_proof_file **v = rk_reallocn(NULL, w->n + 1, sizeof(*v));

	if (!v) {
		rk_proof_nomem(p);
		return;
	}
	for (size_t i = 0; i < w->n; i++)
		v[i] = &w->files[i];
	if (w->n)
		qsort(v, w->n, sizeof(*v), by_path);
	for (size_t i = 1; i < w->n; i++)
		if (v[i]->path[0] && !strcmp(v[i]->path, v[i - 1]->path))
			rk_proof_fault(p, "member-twice", w, v[i]->path, "duplicate member");
	if (w->n)
		qsort(v, w->n, sizeof(*v), by_letters);
	for (size_t i = 1; i < w->n; i++)
		if (!strcasecmp(v[i]->path, v[i - 1]->path) && strcmp(v[i]->path, v[i - 1]->path))
			rk_proof_note(p, "name-case", w, v[i]->path,
				      "differs from '%s' only in case", v[i - 1]->path);
	rk_free(v);
}

/* ---- RECORD: every member once, with its hash and size ---- */

enum { CELLS = 3, SUM_TEXT = 43 }; /* 32 bytes in base 64 without padding */

struct record {
	struct rk_proving *p;
	struct rk_proof_package *w;
	const char *path;         /* path of RECORD */
	struct rk_path_map files; /* members: number in w->files */
	bool *listed;             /* indexed by file number */
};

/* The cell at *at, unquoted in place; *ret_end gets the byte that ended it. NULL: not CSV. */
static char *cell(char **at, char *ret_end)
{
	char *from = *at, *start = from, *to = from;

	if (*from == '"') {
		for (from++; *from && (*from != '"' || from[1] == '"'); from++) {
			*to++ = *from;
			from += *from == '"';
		}
		if (*from != '"')
			return NULL;
		from++;
	} else {
		while (*from && !strchr(",\r\n\"", *from))
			*to++ = *from++;
	}
	if (from[0] == '\r' && from[1] == '\n')
		from++;
	if (*from && *from != ',' && *from != '\n')
		return NULL;
	*ret_end = *from;
	*at = from + (*from != '\0');
	*to = '\0';
	return start;
}

/* Splits a line into cells and returns their number; 0: not CSV. Always moves past the line. */
static unsigned row(char **at, char *cells[CELLS])
{
	char end = ',', *line = *at;
	unsigned n = 0;

	while (end == ',') {
		char *c = cell(at, &end);

		if (!c) {
			char *stop = strchr(line, '\n');

			*at = stop ? stop + 1 : line + strlen(line);
			return 0;
		}
		if (n < CELLS)
			cells[n] = c;
		n++;
	}
	return n;
}

static void check_sum(struct record *r, const struct rk_proof_file *f, const char *sum,
		      const char *size)
{
	/* URL-safe base64 without padding */
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	char want[SUM_TEXT + 1] = "";
	uint64_t n;

	if (rk_num_u64(size, strlen(size), &n) != RK_NUM_OK || n != f->size)
		rk_proof_fault(r->p, "record-size", r->w, f->path,
			       "has %" PRIu64 " bytes, but RECORD says '%s'", f->size, size);
	if (strncmp(sum, "sha256=", 7)) {
		rk_proof_fault(r->p, "record-hash", r->w, f->path,
			       "RECORD has '%.40s' instead of a SHA-256", sum);
		return;
	}
	for (unsigned i = 0; i < SUM_TEXT; i++) {
		unsigned bit = 6 * i, at = bit / 8, two = f->sha256[at] * 256u;

		if (at + 1 < RK_SHA256_BYTES)
			two |= f->sha256[at + 1];
		want[i] = letters[two >> (10 - bit % 8) & 63];
	}
	if (f->summed && strcmp(sum + 7, want))
		rk_proof_fault(r->p, "record-hash", r->w, f->path,
			       "its SHA-256 is %s, but RECORD says '%.60s'", want, sum + 7);
}

/* RECORD itself and its signatures have no hash. */
static bool may_lack_sum(const struct record *r, const char *path)
{
	size_t n = strlen(r->path);

	return !strncmp(path, r->path, n) &&
	       (!path[n] || !strcmp(path + n, ".jws") || !strcmp(path + n, ".p7s"));
}

static void check_lines(struct record *r, char *text)
{
	char *at = text, *cells[CELLS];

	for (size_t line = 1; *at; line++) {
		unsigned n = row(&at, cells);
		ptrdiff_t i;

		if (n != CELLS) {
			if (n != 1 || cells[0][0])
				rk_proof_fault(r->p, "record-form", r->w, r->path,
					       "line %zu is not 'path,hash,size'", line);
			continue;
		}
		i = rk_path_map_find(&r->files, cells[0], strlen(cells[0]));
		if (i < 0) {
			rk_proof_fault(r->p, "record-extra", r->w, cells[0],
				       "RECORD lists it, but it does not exist");
			continue;
		}
		if (r->listed[i])
			rk_proof_fault(r->p, "record-twice", r->w, cells[0],
				       "RECORD lists it twice");
		r->listed[i] = true;
		if (!may_lack_sum(r, cells[0]))
			check_sum(r, &r->w->files[i], cells[1], cells[2]);
		else if (!strcmp(cells[0], r->path) && (cells[1][0] || cells[2][0]))
			rk_proof_fault(r->p, "record-form", r->w, r->path,
				       "it has a hash or size for itself");
	}
	for (size_t i = 0; i < r->w->n; i++) {
		const struct rk_proof_file *f = &r->w->files[i];

		if (!r->listed[i] && !f->inner && f->path[0] && !may_lack_sum(r, f->path))
			rk_proof_fault(r->p, "record-missing", r->w, f->path,
				       "RECORD does not list it");
	}
}

static void check_record(struct rk_proving *p, struct rk_proof_package *w)
{
	struct record r = { .p = p, .w = w };
	struct rk_error err = { 0 };
	char path[RK_PROOF_PATH_MAX];
	char *text;
	size_t len = 0;
	int rc = 0;

	snprintf(path, sizeof(path), "%sRECORD", w->dist_info);
	r.path = path;
	text = rk_proof_load(p, w, path, &len);
	if (!text && !rk_zip_find(w->zip, path)) /* otherwise already reported */
		rk_proof_fault(p, "record-absent", w, path, "RECORD is missing");
	if (!text)
		return;
	if (strlen(text) != len) {
		rk_proof_fault(p, "record-form", w, path, "it contains a NUL byte");
		goto out;
	}

	for (size_t i = 0; i < w->n && rc == 0; i++)
		if (!w->files[i].inner && w->files[i].path[0])
			rc = rk_path_map_put(&r.files, w->files[i].path, i, &err);
	r.listed = rc == 0 ? rk_calloc(w->n + 1, sizeof(*r.listed)) : NULL;
	if (!r.listed) {
		rk_proof_nomem(p);
		goto out;
	}
	/* of duplicate members, check the last: that is the one that gets installed */
	for (size_t i = 0; i < w->n; i++) {
		ptrdiff_t k =
			rk_path_map_find(&r.files, w->files[i].path, strlen(w->files[i].path));

		r.listed[i] = k >= 0 && (size_t)k != i;
	}
	check_lines(&r, text);
out:
	rk_path_map_release(&r.files);
	rk_free(r.listed);
	rk_free(text);
}

/* ---- platform tags, machines and the needed glibc ---- */

/* Checks each file against each platform tag of the wheel. */
static void check_platforms(struct rk_proving *p, struct rk_proof_package *w)
{
	for (size_t i = 0; i < w->n; i++) {
		const struct rk_proof_elf *elf = w->files[i].elf;
		const char *path = w->files[i].path, *machine, *tag;
		struct rk_glibc floor;
		size_t n, m;

		if (!rk_proof_is_loadable(elf))
			continue;
		machine = rk_machine_word(elf->machine);
		m = machine ? strlen(machine) : 0;
		for (tag = w->platforms; *tag; tag += n + (tag[n] == '.')) {
			n = strcspn(tag, ".");
			if (!machine || n <= m || strncmp(tag + n - m, machine, m) ||
			    tag[n - m - 1] != '_')
				rk_proof_fault(p, "tag-machine", w, path,
					       "is for %s, but the wheel is for '%.*s'",
					       machine ? machine : "another machine", (int)n, tag);
			else if (rk_glibc_promised(tag, &floor) &&
				 rk_glibc_newer(elf->glibc, floor))
				rk_proof_fault(
					p, "tag-glibc", w, path,
					"needs glibc %u.%u, but the wheel promises %u.%u ('%.*s')",
					elf->glibc.major, elf->glibc.minor, floor.major,
					floor.minor, (int)n, tag);
		}
	}
}

void rk_proof_wheel(struct rk_proving *p, struct rk_proof_package *w)
{
	check_twice(p, w);

	/* the folder NAME-VERSION.dist-info at the top */
	for (size_t i = 0; i < w->n; i++) {
		const char *path = w->files[i].path, *slash = strchr(path, '/');
		size_t len = slash ? (size_t)(slash - path) : 0;

		if (!rk_text_ends(path, len, ".dist-info"))
			continue;
		if (!w->dist_info[0])
			w->dist_info = rk_text_or_empty(rk_proof_text(p, path, len + 1));
		else if (strncmp(w->dist_info, path, len + 1))
			rk_proof_fault(p, "metadata-wrong", w, path,
				       "a second metadata folder in addition to '%s'",
				       w->dist_info);
	}
	if (w->dist_info[0]) {
		check_metadata(p, w);
		check_wheel_file(p, w);
		check_record(p, w);
	} else {
		rk_proof_fault(p, "metadata-missing", w, "", "no .dist-info folder");
	}
	check_platforms(p, w);
}

void rk_proof_floor(struct rk_proving *p, struct rk_pack_proof *ret)
{
	struct rk_glibc most = { 0 }, floor;
	uint16_t machine = 0;
	bool mixed = false;

	for (size_t i = 0; i < p->npackages; i++)
		for (size_t k = 0; k < p->packages[i].n; k++) {
			const struct rk_proof_elf *e = p->packages[i].files[k].elf;

			if (!rk_proof_is_loadable(e))
				continue;
			if (rk_glibc_newer(e->glibc, most))
				most = e->glibc;
			mixed |= machine && machine != e->machine;
			machine = e->machine;
		}
	ret->glibc = ret->platform_tag = "";
	if (most.major)
		ret->glibc = rk_arena_textf(p->arena, "%u.%u", most.major, most.minor);
	/* no tag is older than these */
	floor = (struct rk_glibc){ 2, machine == EM_AARCH64 ? 17 : 5 };
	if (rk_glibc_newer(most, floor))
		floor = most;
	if (most.major && !mixed && rk_machine_word(machine))
		ret->platform_tag = rk_arena_textf(p->arena, "manylinux_%u_%u_%s", floor.major,
						   floor.minor, rk_machine_word(machine));
	if (!ret->glibc || !ret->platform_tag)
		rk_proof_nomem(p);
}
