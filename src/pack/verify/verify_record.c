/* verify_record.c - RECORD: every member once, with its sum and its size. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "pack/verify/verify_impl.h"

enum { CELLS = 3, SUM_TEXT = 43 }; /* 32 bytes in base 64 without padding */

struct record {
	struct rk_proving *p;
	struct rk_proof_package *w;
	const char *path;         /* of RECORD */
	struct rk_path_map files; /* members: number in w->files */
	bool *listed;             /* by number */
	size_t line;
};

/* ---- csv ---- */

/* One cell at *at, unquoted in its place; what ended it goes to *ret_end. NULL: no csv. */
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

/* The cells of a line; how many there are, 0: no csv. The line is passed over in any case. */
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

/* ---- lines ---- */

/* Base 64 with the letters of URLs, without padding. */
static void sum_text(const uint8_t sha256[RK_SHA256_BYTES], char text[SUM_TEXT + 1])
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

	for (unsigned i = 0; i < SUM_TEXT; i++) {
		unsigned bit = 6 * i, at = bit / 8;
		unsigned two = sha256[at] * 256u;

		two |= at + 1 < RK_SHA256_BYTES ? sha256[at + 1] : 0;
		text[i] = letters[two >> (10 - bit % 8) & 63];
	}
	text[SUM_TEXT] = '\0';
}

static void check_sum(struct record *r, const struct rk_proof_file *f, const char *sum,
		      const char *size)
{
	char want[SUM_TEXT + 1];
	uint64_t n;

	if (rk_num_u64(size, strlen(size), &n) != RK_NUM_OK || n != f->size)
		rk_proof_fault(r->p, "record-size", r->w, f->path,
			       "has %" PRIu64 " bytes, and RECORD says '%s'", f->size, size);
	if (strncmp(sum, "sha256=", 7)) {
		rk_proof_fault(r->p, "record-hash", r->w, f->path,
			       "RECORD has no SHA-256 of it, but '%.40s'", sum);
		return;
	}
	sum_text(f->sha256, want);
	if (f->summed && strcmp(sum + 7, want))
		rk_proof_fault(r->p, "record-hash", r->w, f->path,
			       "its SHA-256 is %s, and RECORD says '%.60s'", want, sum + 7);
}

/* RECORD itself and its signatures have no sum. */
static bool may_lack_sum(const struct record *r, const char *path)
{
	size_t n = strlen(r->path);

	return !strncmp(path, r->path, n) &&
	       (!path[n] || !strcmp(path + n, ".jws") || !strcmp(path + n, ".p7s"));
}

static void check_line(struct record *r, char *cells[CELLS])
{
	ptrdiff_t i = rk_path_map_find(&r->files, cells[0], strlen(cells[0]));

	if (i < 0) {
		rk_proof_fault(r->p, "record-extra", r->w, cells[0],
			       "RECORD names it, and it is not there");
		return;
	}
	if (r->listed[i])
		rk_proof_fault(r->p, "record-twice", r->w, cells[0], "RECORD has a second line");
	r->listed[i] = true;
	if (!may_lack_sum(r, cells[0]))
		check_sum(r, &r->w->files[i], cells[1], cells[2]);
	else if (!strcmp(cells[0], r->path) && (cells[1][0] || cells[2][0]))
		rk_proof_fault(r->p, "record-form", r->w, r->path,
			       "it has a sum or a size of itself");
}

static void check_lines(struct record *r, char *text)
{
	char *at = text, *cells[CELLS];

	while (*at) {
		unsigned n = row(&at, cells);

		r->line++;
		if (n == CELLS)
			check_line(r, cells);
		else if (n != 1 || cells[0][0])
			rk_proof_fault(r->p, "record-form", r->w, r->path,
				       "line %zu is not 'path,sum,size'", r->line);
	}
	for (size_t i = 0; i < r->w->n; i++)
		if (!r->listed[i] && !r->w->files[i].inner && r->w->files[i].path[0] &&
		    !may_lack_sum(r, r->w->files[i].path))
			rk_proof_fault(r->p, "record-missing", r->w, r->w->files[i].path,
				       "RECORD does not name it");
}

/* A member that is there twice is looked up once: the last one is installed. */
static bool map_files(struct record *r)
{
	struct rk_error err = { 0 };
	int rc = 0;

	for (size_t i = 0; i < r->w->n && rc == 0; i++)
		if (!r->w->files[i].inner && r->w->files[i].path[0])
			rc = rk_path_map_put(&r->files, r->w->files[i].path, i, &err);
	r->listed = rc == 0 ? rk_calloc(r->w->n + 1, sizeof(*r->listed)) : NULL;
	for (size_t i = 0; r->listed && i < r->w->n; i++) {
		const char *path = r->w->files[i].path;
		ptrdiff_t k = rk_path_map_find(&r->files, path, strlen(path));

		r->listed[i] = k >= 0 && (size_t)k != i;
	}
	if (!r->listed)
		rk_proof_nomem(r->p);
	return r->listed;
}

void rk_proof_record(struct rk_proving *p, struct rk_proof_package *w)
{
	struct record r = { .p = p, .w = w };
	char path[RK_PROOF_PATH_MAX];
	char *text;
	size_t len = 0;

	if (!w->dist_info[0])
		return;
	snprintf(path, sizeof(path), "%sRECORD", w->dist_info);
	r.path = path;
	text = rk_proof_load(p, w, path, &len);
	if (!text && rk_zip_find(w->zip, path))
		return; /* reported when it was read */
	if (!text)
		rk_proof_fault(p, "record-absent", w, path, "there is no RECORD");
	else if (strlen(text) != len)
		rk_proof_fault(p, "record-form", w, path, "it has a NUL in it");
	else if (map_files(&r))
		check_lines(&r, text);
	rk_path_map_release(&r.files);
	rk_free(r.listed);
	rk_free(text);
}
