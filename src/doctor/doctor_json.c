/* doctor_json.c - what the doctor found as JSON, schema 1, and its checks as CSV. */
#include <string.h>

#include "base/json_out.h"
#include "base/text.h"
#include "doctor/doctor_parts.h"

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

static void put_tool(struct rk_json_out *j, const struct rk_tool_found *t)
{
	rk_json_object_flat(j, NULL);
	rk_json_text(j, "name", t->name);
	rk_json_text(j, "path", t->path);
	text_or_null(j, "version", t->version);
	text_or_null(j, "rocm", t->rocm);
	text_or_null(j, "place", t->place);
	text_or_null(j, "options", t->options);
	rk_json_bool(j, "first", t->first);
	rk_json_bool(j, "usable", t->usable);
	rk_json_close(j);
}

static void put_gpu(struct rk_json_out *j, const struct rk_gpu *g)
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

static void put_check(struct rk_json_out *j, const struct rk_doctor_check *c)
{
	rk_json_object_flat(j, NULL);
	rk_json_text(j, "id", c->id);
	rk_json_text(j, "status", rk_doctor_status_word(c->status));
	rk_json_text(j, "subject", c->subject);
	rk_json_text(j, "text", c->text);
	rk_json_text(j, "advice", c->advice);
	rk_json_close(j);
}

void rk_doctor_json(struct rk_bytes *out, const struct rk_doctor *d)
{
	struct rk_json_out j;

	rk_json_begin(&j, out);
	rk_json_int(&j, "schema", 1);
	rk_json_object_flat(&j, "verdict");
	rk_json_bool(&j, "ready", d->ready);
	rk_json_text(&j, "text", d->verdict);
	rk_json_close(&j);
	rk_json_array(&j, "tools");
	for (size_t i = 0; i < d->tools.n; i++)
		put_tool(&j, &d->tools.tools[i]);
	rk_json_close(&j);
	rk_json_array(&j, "gpus");
	for (size_t i = 0; i < d->gpus.n; i++)
		put_gpu(&j, &d->gpus.gpus[i]);
	rk_json_close(&j);
	rk_json_array(&j, "checks");
	for (size_t i = 0; i < d->nchecks; i++)
		put_check(&j, &d->checks[i]);
	rk_json_close(&j);
	rk_json_end(&j);
}

static void put_cell(struct rk_bytes *out, const char *s, const char *end)
{
	rk_csv_cell(out, s, strlen(s));
	rk_bytes_puts(out, end);
}

void rk_doctor_csv(struct rk_bytes *out, const struct rk_doctor *d)
{
	rk_bytes_puts(out, "id,status,subject,text,advice\n");
	for (size_t i = 0; i < d->nchecks; i++) {
		const struct rk_doctor_check *c = &d->checks[i];

		put_cell(out, c->id, ",");
		put_cell(out, rk_doctor_status_word(c->status), ",");
		put_cell(out, c->subject, ",");
		put_cell(out, c->text, ",");
		put_cell(out, c->advice, "\n");
	}
}
