/* doctor_page.c - the result as text, JSON and CSV. */
#include <stdio.h>
#include <string.h>

#include "base/json_out.h"
#include "base/num.h"
#include "base/page.h"
#include "base/text.h"
#include "rockit/doctor.h"

/* ---- text ---- */

enum {
	MOST_COLUMNS = 100,
	LEAST_COLUMNS = 50,
	SUBJECT_COLUMNS = 24,     /* a longer subject has its text on the next line */
	CELL_MAX_BYTES = 1 << 20, /* a check has 64 KiB of text, escaped four times that */
};

/* p->cell = s, safe to print; its width. */
static size_t load(struct rk_page *p, const char *s)
{
	rk_bytes_clear(&p->cell);
	rk_put_printable(&p->cell, s, strlen(s), p->look->utf8);
	p->out->bad |= p->cell.bad;
	return rk_utf8_columns((const char *)p->cell.data, p->cell.len);
}

/* s, filled up to `width` and two blanks. Nothing where the column is empty. */
static void put_cell(struct rk_page *p, const char *s, size_t width)
{
	size_t n = load(p, s);

	if (!width)
		return;
	rk_bytes_put(p->out, p->cell.data, p->cell.len);
	rk_page_spaces(p, rk_max(n, width) - n + 2);
}

static void widen(struct rk_page *p, size_t *width, const char *s)
{
	size_t n = load(p, s);

	if (n > *width)
		*width = n;
}

/* The words of s, wrapped; we are at column `indent`, where further lines begin too. */
static void put_words(struct rk_page *p, const char *s, size_t indent)
{
	const char *text, *end;
	size_t at = indent;
	bool first = true;

	load(p, s);
	text = (const char *)p->cell.data;
	end = text + p->cell.len;
	while (text < end) {
		const char *blank = memchr(text, ' ', (size_t)(end - text));
		size_t len = blank ? (size_t)(blank - text) : (size_t)(end - text);
		size_t n = rk_utf8_columns(text, len);

		if (!first && at + 1 + n > p->look->columns) {
			rk_bytes_put_u8(p->out, '\n');
			rk_page_spaces(p, indent);
			at = indent;
		} else if (!first) {
			rk_bytes_put_u8(p->out, ' ');
			at++;
		}
		rk_bytes_put(p->out, text, len);
		at += n;
		text += len + (blank != NULL);
		first = false;
	}
	rk_bytes_put_u8(p->out, '\n');
}

static void put_title(struct rk_page *p, const char *title)
{
	rk_page_paint(p, RK_BOLD);
	rk_bytes_puts(p->out, title);
	rk_page_paint(p, RK_NORMAL);
	rk_bytes_put_u8(p->out, '\n');
}

static void put_tools(struct rk_page *p, const struct rk_tools_found *tools, bool detail)
{
	size_t name = 0, version = 0, rocm = 0, at;

	put_title(p, "Tools");
	for (size_t i = 0; i < tools->n; i++) {
		widen(p, &name, tools->tools[i].name);
		widen(p, &version, tools->tools[i].version);
		widen(p, &rocm, tools->tools[i].rocm);
	}
	at = 2 + name + 2;
	if (version)
		at += version + 2;
	if (rocm)
		at += strlen("ROCm ") + rocm + 2;
	for (size_t i = 0; i < tools->n; i++) {
		const struct rk_tool_found *t = &tools->tools[i];
		const char *remark = "";

		if (!t->usable)
			remark = " (not executable)";
		else if (!t->first)
			remark = " (not used)";
		if (remark[0])
			rk_page_paint(p, RK_DIM);
		rk_bytes_puts(p->out, "  ");
		put_cell(p, t->name, name);
		put_cell(p, t->version, version);
		if (rocm)
			rk_bytes_puts(p->out, t->rocm[0] ? "ROCm " : "     ");
		put_cell(p, t->rocm, rocm);
		if (at + load(p, t->path) + strlen(remark) > p->look->columns) {
			while (p->out->len && p->out->data[p->out->len - 1] == ' ')
				p->out->len--;
			rk_bytes_puts(p->out, "\n      ");
		}
		rk_bytes_put(p->out, p->cell.data, p->cell.len);
		rk_bytes_puts(p->out, remark);
		if (remark[0])
			rk_page_paint(p, RK_NORMAL);
		rk_bytes_put_u8(p->out, '\n');
		if (detail && t->options[0]) {
			rk_page_spaces(p, 6);
			put_words(p, t->options, 6);
		}
	}
	if (!tools->n)
		rk_bytes_puts(p->out, "  none found\n");
}

enum { GPU_INDEX, GPU_NAME, GPU_GFX, GPU_CUS, GPU_MEMORY, GPU_PARTITION, GPU_PCI, GPU_CELLS };

/* One cell of a GPU's line; numbers are made in `number`. */
static const char *gpu_cell(const struct rk_gpu *g, unsigned column, char number[32])
{
	const double gib = 1024.0 * 1024.0 * 1024.0;
	const char *dot = strchr(g->compute, '.');

	number[0] = '\0';
	switch (column) {
	case GPU_INDEX:
		snprintf(number, 32, "%d", g->index);
		return number;
	case GPU_NAME:
		return g->name;
	case GPU_GFX: /* as compilers name it: 9.0 is sm_90 */
		if (!g->compute[0])
			return g->gfx;
		snprintf(number, 32, "sm_%.*s%s", (int)strcspn(g->compute, "."), g->compute,
			 dot ? dot + 1 : "");
		return number;
	case GPU_CUS:
		if (g->cu_count)
			snprintf(number, 32, "%u CUs", g->cu_count);
		return number;
	case GPU_MEMORY:
		if (g->memory_bytes)
			snprintf(number, 32, "%.0f GiB", (double)g->memory_bytes / gib);
		return number;
	case GPU_PARTITION:
		return g->partition;
	default:
		return g->pci;
	}
}

static void put_gpus(struct rk_page *p, const struct rk_gpus *gpus)
{
	size_t widths[GPU_CELLS] = { 0 };
	char number[32];

	rk_bytes_put_u8(p->out, '\n');
	put_title(p, "GPUs");
	for (size_t i = 0; i < gpus->n; i++)
		for (unsigned c = 0; c < GPU_CELLS; c++)
			widen(p, &widths[c], gpu_cell(&gpus->gpus[i], c, number));
	for (size_t i = 0; i < gpus->n; i++) {
		rk_bytes_puts(p->out, "  ");
		for (unsigned c = 0; c + 1 < GPU_CELLS; c++)
			put_cell(p, gpu_cell(&gpus->gpus[i], c, number), widths[c]);
		load(p, gpus->gpus[i].pci);
		rk_bytes_put(p->out, p->cell.data, p->cell.len);
		rk_bytes_put_u8(p->out, '\n');
	}
	if (!gpus->n)
		rk_bytes_puts(p->out, "  none found\n");
}

static void put_checks(struct rk_page *p, const struct rk_doctor *d)
{
	static const char *const colors[] = { RK_GREEN, "", RK_YELLOW, RK_RED };
	size_t width = 0, indent;

	rk_bytes_put_u8(p->out, '\n');
	put_title(p, "Checks");
	for (size_t i = 0; i < d->nchecks; i++) {
		size_t n = load(p, d->checks[i].subject);

		if (n > width && n <= SUBJECT_COLUMNS)
			width = n;
	}
	indent = 2 + 4 + 2 + width + 2;
	for (size_t i = 0; i < d->nchecks; i++) {
		const struct rk_doctor_check *c = &d->checks[i];

		rk_bytes_puts(p->out, "  ");
		rk_page_paint(p, colors[c->status]);
		rk_bytes_printf(p->out, "%-4s", rk_doctor_status_word(c->status));
		if (colors[c->status][0])
			rk_page_paint(p, RK_NORMAL);
		rk_bytes_puts(p->out, "  ");
		if (load(p, c->subject) > width) {
			rk_bytes_put(p->out, p->cell.data, p->cell.len);
			rk_bytes_put_u8(p->out, '\n');
			rk_page_spaces(p, indent);
		} else {
			put_cell(p, c->subject, width);
		}
		put_words(p, c->text, indent);
		if (c->advice[0]) {
			rk_page_spaces(p, indent);
			rk_bytes_puts(p->out, "-> ");
			put_words(p, c->advice, indent + 3);
		}
	}
}

/* What the forms are given. */
struct shown {
	const struct rk_doctor *d;
	bool detail;
};

static void put_text(struct rk_bytes *out, const void *what, const struct rk_render_options *look)
{
	const struct shown *s = what;
	const struct rk_doctor *d = s->d;
	struct rk_render_options own = *look;
	struct rk_page p = { .out = out, .look = &own };

	if (!look->columns || look->columns > MOST_COLUMNS)
		own.columns = MOST_COLUMNS;
	else if (look->columns < LEAST_COLUMNS)
		own.columns = LEAST_COLUMNS;
	rk_bytes_init(&p.cell, CELL_MAX_BYTES);
	put_tools(&p, &d->tools, s->detail);
	put_gpus(&p, &d->gpus);
	put_checks(&p, d);
	rk_bytes_put_u8(out, '\n');
	put_title(&p, "Verdict");
	rk_bytes_puts(out, "  ");
	rk_page_paint(&p, d->ready ? RK_GREEN : RK_YELLOW);
	put_words(&p, d->verdict, 2);
	rk_page_paint(&p, RK_NORMAL);
	rk_bytes_release(&p.cell);
}

/* ---- JSON and CSV ---- */

/* What is not known is null. */
static void text_or_null(struct rk_json_out *j, const char *key, const char *s)
{
	rk_json_text(j, key, s[0] ? s : NULL);
}

static void count_or_null(struct rk_json_out *j, const char *key, uint64_t v)
{
	if (v)
		rk_json_uint(j, key, v);
	else
		rk_json_null(j, key);
}

static void index_or_null(struct rk_json_out *j, const char *key, int v)
{
	if (v >= 0)
		rk_json_int(j, key, v);
	else
		rk_json_null(j, key);
}

static void gpu_json(struct rk_json_out *j, const struct rk_gpu *g)
{
	rk_json_object_flat(j, NULL);
	rk_json_int(j, "index", g->index);
	text_or_null(j, "vendor", g->vendor);
	text_or_null(j, "name", g->name);
	text_or_null(j, "gfx", g->gfx);
	text_or_null(j, "pci", g->pci);
	text_or_null(j, "driver", g->driver);
	text_or_null(j, "partition", g->partition);
	text_or_null(j, "compute", g->compute);
	text_or_null(j, "uuid", g->uuid);
	index_or_null(j, "kfd_node", g->kfd_node);
	index_or_null(j, "card", g->card);
	index_or_null(j, "render", g->render);
	count_or_null(j, "cu_count", g->cu_count);
	count_or_null(j, "simd_count", g->simd_count);
	count_or_null(j, "xcc", g->xcc);
	count_or_null(j, "wave_size", g->wave_size);
	count_or_null(j, "max_sclk_mhz", g->max_sclk_mhz);
	count_or_null(j, "memory_bytes", g->memory_bytes);
	rk_json_close(j);
}

static void put_json(struct rk_bytes *out, const void *what, const struct rk_render_options *look)
{
	const struct rk_doctor *d = ((const struct shown *)what)->d;
	struct rk_json_out j;

	(void)look;
	rk_json_begin(&j, out);
	rk_json_int(&j, "schema", 1);
	rk_json_object_flat(&j, "verdict");
	rk_json_bool(&j, "ready", d->ready);
	rk_json_text(&j, "text", d->verdict);
	rk_json_close(&j);
	rk_json_array(&j, "tools");
	for (size_t i = 0; i < d->tools.n; i++) {
		const struct rk_tool_found *t = &d->tools.tools[i];

		rk_json_object_flat(&j, NULL);
		rk_json_text(&j, "name", t->name);
		rk_json_text(&j, "path", t->path);
		text_or_null(&j, "version", t->version);
		text_or_null(&j, "rocm", t->rocm);
		text_or_null(&j, "place", t->place);
		text_or_null(&j, "options", t->options);
		rk_json_bool(&j, "first", t->first);
		rk_json_bool(&j, "usable", t->usable);
		rk_json_close(&j);
	}
	rk_json_close(&j);
	rk_json_array(&j, "gpus");
	for (size_t i = 0; i < d->gpus.n; i++)
		gpu_json(&j, &d->gpus.gpus[i]);
	rk_json_close(&j);
	rk_json_array(&j, "checks");
	for (size_t i = 0; i < d->nchecks; i++) {
		const struct rk_doctor_check *c = &d->checks[i];

		rk_json_object_flat(&j, NULL);
		rk_json_text(&j, "id", c->id);
		rk_json_text(&j, "status", rk_doctor_status_word(c->status));
		rk_json_text(&j, "subject", c->subject);
		rk_json_text(&j, "text", c->text);
		rk_json_text(&j, "advice", c->advice);
		rk_json_close(&j);
	}
	rk_json_close(&j);
	rk_json_end(&j);
}

static void put_csv(struct rk_bytes *out, const void *what, const struct rk_render_options *look)
{
	const struct rk_doctor *d = ((const struct shown *)what)->d;

	(void)look;
	rk_bytes_puts(out, "id,status,subject,text,advice\n");
	for (size_t i = 0; i < d->nchecks; i++) {
		const struct rk_doctor_check *c = &d->checks[i];

		rk_csv_text(out, c->id, ',');
		rk_csv_text(out, rk_doctor_status_word(c->status), ',');
		rk_csv_text(out, c->subject, ',');
		rk_csv_text(out, c->text, ',');
		rk_csv_text(out, c->advice, '\n');
	}
}

int rk_doctor_render(const struct rk_doctor *d, const struct rk_render_options *how, bool detail,
		     char **ret_text, size_t *ret_len, struct rk_error *err)
{
	static rk_form *const forms[RK_NFORMS] = { put_text, put_json, put_csv };
	const struct shown s = { .d = d, .detail = detail };

	return rk_render(forms, d ? &s : NULL, how, ret_text, ret_len, __func__, err);
}
