/* pack_page.c - see pack_page.h. */
#include "pack/pack_page.h"

#include <inttypes.h>
#include <string.h>

#include "base/json_out.h"
#include "base/page.h"
#include "base/text.h"

/* ---- for people ---- */

/* "edit  lib/libx.so.1 <- core-hip_lib_generic: lib/libx.so.1.2; SONAME; rpath '...'" */
static void put_file(struct rk_bytes *out, const struct rk_pack_file *f)
{
	rk_bytes_printf(out, "  %-8s ", f->action);
	rk_put_printable(out, f->path, strlen(f->path), true);
	if (*f->source) {
		rk_bytes_puts(out, " <- ");
		rk_put_printable(out, f->source, strlen(f->source), true);
	}
	if (*f->reason)
		rk_bytes_printf(out, "; %s", f->reason);
	if (*f->edit) {
		rk_bytes_puts(out, "; ");
		rk_put_printable(out, f->edit, strlen(f->edit), true);
	}
	rk_bytes_put_u8(out, '\n');
}

/* One line for each artifact and reason. */
static void put_left(struct rk_bytes *out, const struct rk_pack_left *v, size_t n)
{
	size_t same = 0;

	for (size_t i = 0; i < n; i += same) {
		for (same = 1; i + same < n && !strcmp(v[i].artifact, v[i + same].artifact) &&
			       !strcmp(v[i].reason, v[i + same].reason);)
			same++;
		rk_bytes_puts(out, "  ");
		rk_put_printable(out, v[i].artifact, strlen(v[i].artifact), true);
		if (*v[i].path)
			rk_bytes_printf(out, ": %zu file%s; ", same, same == 1 ? "" : "s");
		else
			rk_bytes_puts(out, ": all of it; ");
		rk_put_printable(out, v[i].reason, strlen(v[i].reason), true);
		rk_bytes_put_u8(out, '\n');
	}
}

void rk_pack_page_text(struct rk_bytes *out, const struct rk_pack_page *p)
{
	for (size_t i = 0; i < p->npackages; i++) {
		const struct rk_pack_package *k = &p->packages[i];

		rk_bytes_printf(out, "%s%s: %zu files, %.1f MB\n", i ? "\n" : "", k->file,
				k->nfiles, (double)k->bytes / 1e6);
		for (size_t f = 0; f < k->nfiles; f++)
			put_file(out, &k->files[f]);
	}
	if (p->nleft)
		rk_bytes_puts(out, "\nleft out:\n");
	put_left(out, p->left, p->nleft);
}

/* ---- for programs ---- */

static void file_json(struct rk_json_out *j, const struct rk_pack_file *f)
{
	char mode[16];
	size_t n = 0;

	for (unsigned shift = 9; shift; shift -= 3)
		mode[n++] = (char)('0' + (f->mode >> (shift - 3) & 7));
	mode[n] = 0;
	rk_json_object_flat(j, NULL);
	rk_json_text(j, "path", f->path);
	rk_json_text(j, "action", f->action);
	rk_json_text(j, "mode", mode);
	rk_json_uint(j, "size", f->size);
	rk_json_text(j, "source", f->source);
	rk_json_text(j, "reason", f->reason);
	rk_json_text(j, "edit", f->edit);
	rk_json_close(j);
}

static void package_json(struct rk_json_out *j, const struct rk_pack_package *k)
{
	rk_json_object(j, NULL);
	rk_json_text(j, "package", k->logical);
	rk_json_text(j, "dist", k->dist);
	rk_json_text(j, "family", *k->family ? k->family : NULL);
	rk_json_text(j, "file", k->file);
	rk_json_uint(j, "bytes", k->bytes);
	rk_json_array(j, "files");
	for (size_t i = 0; i < k->nfiles; i++)
		file_json(j, &k->files[i]);
	rk_json_close(j);
	rk_json_close(j);
}

static void left_json(struct rk_json_out *j, const struct rk_pack_left *l)
{
	rk_json_object_flat(j, NULL);
	rk_json_text(j, "artifact", l->artifact);
	rk_json_text(j, "path", *l->path ? l->path : NULL);
	rk_json_text(j, "reason", l->reason);
	rk_json_close(j);
}

static void warning_json(struct rk_json_out *j, const struct rk_warning *w)
{
	rk_json_object_flat(j, NULL);
	rk_json_text(j, "kind", w->kind);
	rk_json_text(j, "file", w->file);
	rk_json_uint(j, "count", w->count);
	rk_json_text(j, "message", w->message);
	rk_json_close(j);
}

void rk_pack_page_json(struct rk_bytes *out, const struct rk_pack_page *p)
{
	struct rk_json_out j;

	rk_json_begin(&j, out);
	rk_json_int(&j, "schema", 1);
	rk_json_text(&j, "version", p->version);
	rk_json_array(&j, "packages");
	for (size_t i = 0; i < p->npackages; i++)
		package_json(&j, &p->packages[i]);
	rk_json_close(&j);
	rk_json_array(&j, "left_out");
	for (size_t i = 0; i < p->nleft; i++)
		left_json(&j, &p->left[i]);
	rk_json_close(&j);
	rk_json_array(&j, "warnings");
	for (size_t i = 0; i < p->nwarnings; i++)
		warning_json(&j, &p->warnings[i]);
	rk_json_close(&j);
	rk_json_end(&j);
}

static void cell(struct rk_bytes *out, const char *text, char end)
{
	rk_csv_cell(out, text, strlen(text));
	rk_bytes_put_u8(out, (uint8_t)end);
}

void rk_pack_page_csv(struct rk_bytes *out, const struct rk_pack_page *p)
{
	rk_bytes_puts(out, "package,file,path,action,size,source,reason,edit\n");
	for (size_t i = 0; i < p->npackages; i++) {
		const struct rk_pack_package *k = &p->packages[i];

		for (size_t f = 0; f < k->nfiles; f++) {
			cell(out, k->logical, ',');
			cell(out, k->file, ',');
			cell(out, k->files[f].path, ',');
			cell(out, k->files[f].action, ',');
			rk_bytes_printf(out, "%" PRIu64 ",", k->files[f].size);
			cell(out, k->files[f].source, ',');
			cell(out, k->files[f].reason, ',');
			cell(out, k->files[f].edit, '\n');
		}
	}
}
