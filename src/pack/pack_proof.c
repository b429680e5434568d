/* pack_proof.c - what the closure prover found, as text, JSON (schema 1) or CSV. */
#include "rockit/pack.h"

#include <string.h>

#include "base/handle.h"
#include "base/json_out.h"
#include "base/text.h"

enum { TEXT_MAX_BYTES = 256 << 20 };

static const char *or_null(const char *s)
{
	return s[0] ? s : NULL;
}

/* Names come from archives: nothing that a terminal would obey. */
static void put_line(struct rk_bytes *out, const char *s)
{
	for (; *s; s++) {
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			rk_bytes_printf(out, "\\x%02x", (unsigned char)*s);
		else
			rk_bytes_put_u8(out, (uint8_t)*s);
	}
}

static void put_finding(struct rk_bytes *out, const struct rk_pack_finding *f)
{
	put_line(out, f->package);
	rk_bytes_puts(out, ": ");
	if (f->path[0]) {
		put_line(out, f->path);
		rk_bytes_puts(out, ": ");
	}
	put_line(out, f->text);
	rk_bytes_printf(out, f->note ? " [%s, note]\n" : " [%s]\n", f->kind);
}

static void put_count(struct rk_bytes *out, size_t n, const char *one, const char *many)
{
	rk_bytes_printf(out, "%zu %s", n, n == 1 ? one : many);
}

static void put_text(struct rk_bytes *out, const struct rk_pack_proof *p)
{
	for (size_t i = 0; i < p->nfindings; i++)
		put_finding(out, &p->findings[i]);
	put_count(out, p->packages, "package", "packages");
	rk_bytes_puts(out, ", ");
	put_count(out, p->files, "file", "files");
	rk_bytes_puts(out, ", ");
	put_count(out, p->libraries, "program or library", "programs and libraries");
	rk_bytes_puts(out, ": ");
	if (p->faults)
		put_count(out, p->faults, "fault", "faults");
	else
		rk_bytes_puts(out, "all holds");
	if (p->nfindings > p->faults) {
		rk_bytes_puts(out, ", ");
		put_count(out, p->nfindings - p->faults, "note", "notes");
	}
	if (p->glibc[0])
		rk_bytes_printf(out, "; glibc %s", p->glibc);
	if (p->platform_tag[0])
		rk_bytes_printf(out, " (%s)", p->platform_tag);
	rk_bytes_puts(out, "\n");
}

static void put_json(struct rk_bytes *out, const struct rk_pack_proof *p)
{
	struct rk_json_out j;

	rk_json_begin(&j, out);
	rk_json_int(&j, "schema", 1);
	rk_json_bool(&j, "holds", !p->faults);
	rk_json_uint(&j, "packages", p->packages);
	rk_json_uint(&j, "files", p->files);
	rk_json_uint(&j, "libraries", p->libraries);
	rk_json_text(&j, "glibc", or_null(p->glibc));
	rk_json_text(&j, "platform_tag", or_null(p->platform_tag));
	rk_json_uint(&j, "faults", p->faults);
	rk_json_array(&j, "findings");
	for (size_t i = 0; i < p->nfindings; i++) {
		rk_json_object_flat(&j, NULL);
		rk_json_text(&j, "kind", p->findings[i].kind);
		rk_json_text(&j, "package", p->findings[i].package);
		rk_json_text(&j, "path", p->findings[i].path);
		rk_json_text(&j, "text", p->findings[i].text);
		rk_json_bool(&j, "note", p->findings[i].note);
		rk_json_close(&j);
	}
	rk_json_close(&j);
	rk_json_end(&j);
}

static void put_csv(struct rk_bytes *out, const struct rk_pack_proof *p)
{
	rk_bytes_puts(out, "kind,note,package,path,text\n");
	for (size_t i = 0; i < p->nfindings; i++) {
		const struct rk_pack_finding *f = &p->findings[i];
		const char *const cells[] = { f->package, f->path, f->text };

		rk_bytes_printf(out, "%s,%d", f->kind, f->note);
		for (unsigned k = 0; k < 3; k++) {
			rk_bytes_puts(out, ",");
			rk_csv_cell(out, cells[k], strlen(cells[k]));
		}
		rk_bytes_puts(out, "\n");
	}
}

int rk_pack_proof_render(const struct rk_pack_proof *p, enum rk_report_format format, char **ret,
			 size_t *ret_len, struct rk_error *err)
{
	struct rk_bytes out;

	if (!p || !ret)
		return rk_misuse(__func__, err);
	if (rk_check_enum((unsigned)format, RK_REPORT_CSV, __func__, err) < 0)
		return RK_E_USAGE;
	rk_bytes_init(&out, TEXT_MAX_BYTES);
	if (format == RK_REPORT_JSON)
		put_json(&out, p);
	else if (format == RK_REPORT_CSV)
		put_csv(&out, p);
	else
		put_text(&out, p);
	return rk_bytes_give(&out, ret, ret_len, err);
}
