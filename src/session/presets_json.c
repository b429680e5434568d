/* presets_json.c - presets for programs: JSON and CSV. */
#include <string.h>

#include "base/error.h"
#include "base/handle.h"
#include "base/json_out.h"
#include "base/text.h"
#include "session/presets_parts.h"

enum { TEXT_MAX_BYTES = 16 << 20 };

/* A borrowed list for functions that want to look at one. */
static struct rk_list view(const char *const *list)
{
	struct rk_list l = { .v = (char **)list };

	while (list[l.n])
		l.n++;
	return l;
}

static void put_list(struct rk_json_out *j, const char *key, const char *const *list)
{
	struct rk_list l = view(list);

	rk_json_list(j, key, &l);
}

static void put_pairs(struct rk_json_out *j, const char *key, const char *const *list)
{
	struct rk_list l = view(list);

	rk_json_pairs(j, key, &l);
}

/* "rocprofv3: ..." as a member of its own. */
static void put_delivers(struct rk_json_out *j, const char *const *list)
{
	rk_json_object(j, "delivers");
	for (; *list; list++) {
		const char *colon = strchr(*list, ':');
		char tool[64] = "";
		size_t len = colon ? (size_t)(colon - *list) : 0;

		if (!len || len >= sizeof(tool))
			continue;
		memcpy(tool, *list, len);
		rk_json_text(j, tool, colon + 1 + strspn(colon + 1, " "));
	}
	rk_json_close(j);
}

static void put_pc(struct rk_json_out *j, const struct rk_preset *p)
{
	if (!p->pc_method[0]) {
		rk_json_null(j, "pc_sampling");
		return;
	}
	rk_json_object_flat(j, "pc_sampling");
	rk_json_text(j, "method", p->pc_method);
	rk_json_text(j, "unit", p->pc_unit);
	if (p->pc_interval)
		rk_json_uint(j, "interval", p->pc_interval);
	else
		rk_json_text(j, "interval", "auto");
	rk_json_close(j);
}

static void put_preset(struct rk_json_out *j, const char *key, const struct rk_preset *p)
{
	rk_json_object(j, key);
	rk_json_text(j, "name", p->name);
	rk_json_text(j, "extends", p->extends[0] ? p->extends : NULL);
	rk_json_text(j, "description", p->description);
	rk_json_text(j, "use_case", p->use_case);
	rk_json_text(j, "overhead", p->overhead);
	put_list(j, "traces", p->traces);
	rk_json_bool(j, "stats", p->stats);
	rk_json_text(j, "counters", p->counters[0] ? p->counters : NULL);
	put_pc(j, p);
	put_list(j, "monitors", p->monitors);
	if (p->monitor_interval_ms)
		rk_json_uint(j, "monitor_interval_ms", p->monitor_interval_ms);
	else
		rk_json_null(j, "monitor_interval_ms");
	put_list(j, "libraries", p->libraries);
	put_pairs(j, "env", p->env);
	put_list(j, "tool_args", p->tool_args);
	put_pairs(j, "distributed", p->distributed);
	put_pairs(j, "slurm", p->slurm);
	put_delivers(j, p->delivers);
	rk_json_array(j, "notes");
	for (const char *const *n = p->notes; *n; n++)
		rk_json_text(j, NULL, *n);
	rk_json_close(j);
	put_list(j, "ignored", p->ignored);
	rk_json_text(j, "source", p->source);
	rk_json_close(j);
}

void rk_presets_json(struct rk_bytes *out, const struct rk_preset *const *presets, size_t n,
		     bool full)
{
	struct rk_json_out j;

	rk_json_begin(&j, out);
	rk_json_int(&j, "schema", 1);
	if (full) {
		put_preset(&j, "preset", presets[0]);
	} else {
		rk_json_array(&j, "presets");
		for (size_t i = 0; i < n; i++)
			put_preset(&j, NULL, presets[i]);
		rk_json_close(&j);
	}
	rk_json_end(&j);
}

static void put_cell(struct rk_bytes *out, const char *s, char end)
{
	rk_csv_cell(out, s, strlen(s));
	rk_bytes_put_u8(out, (uint8_t)end);
}

/* A list as one cell, with blanks between: no word of it has one. */
static void put_cells(struct rk_bytes *out, const char *const *list)
{
	for (; *list; list++) {
		rk_csv_cell(out, *list, strlen(*list));
		if (list[1])
			rk_bytes_put_u8(out, ' ');
	}
	rk_bytes_put_u8(out, ',');
}

void rk_presets_csv(struct rk_bytes *out, const struct rk_preset *const *presets, size_t n)
{
	rk_bytes_puts(out, "name,overhead,description,use_case,traces,stats,counters,monitors,"
			   "libraries,source\n");
	for (size_t i = 0; i < n; i++) {
		const struct rk_preset *p = presets[i];

		put_cell(out, p->name, ',');
		put_cell(out, p->overhead, ',');
		put_cell(out, p->description, ',');
		put_cell(out, p->use_case, ',');
		put_cells(out, p->traces);
		put_cell(out, p->stats ? "true" : "false", ',');
		put_cell(out, p->counters, ',');
		put_cells(out, p->monitors);
		put_cells(out, p->libraries);
		put_cell(out, p->source, '\n');
	}
}

int rk_presets_render(const struct rk_preset *const *presets, size_t n, bool full,
		      enum rk_report_format format, char **ret_text, size_t *ret_len,
		      struct rk_error *err)
{
	struct rk_bytes out;

	if ((n && !presets) || (full && !n) || !ret_text)
		return rk_misuse(__func__, err);
	for (size_t i = 0; i < n; i++)
		if (!presets[i])
			return rk_misuse(__func__, err);
	if (rk_check_enum((unsigned)format, RK_REPORT_CSV, __func__, err) < 0)
		return RK_E_USAGE;
	rk_bytes_init(&out, TEXT_MAX_BYTES);
	if (format == RK_REPORT_JSON)
		rk_presets_json(&out, presets, n, full);
	else if (format == RK_REPORT_CSV)
		rk_presets_csv(&out, presets, n);
	else if (full)
		rk_preset_text(&out, presets[0]);
	else
		rk_presets_text(&out, presets, n);
	return rk_bytes_give(&out, ret_text, ret_len, err);
}
