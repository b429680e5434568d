/* api_tools.c - the profilers that are installed. */
#include <string.h>

#include "base/bytes.h"
#include "base/handle.h"
#include "base/json_out.h"
#include "base/text.h"
#include "rockit/tools.h"
#include "tool/detect.h"

enum { TEXT_MAX_BYTES = 16 << 20 };

int rk_tools_find(const struct rk_tools_options *opt, struct rk_tools_found *ret,
		  struct rk_error *err)
{
	struct rk_detect_options where = { 0 };

	if (!ret)
		return rk_misuse(__func__, err);
	if (RK_CHECK_OPTIONS(opt, __func__, err) < 0)
		return RK_E_USAGE;
	if (opt)
		where = (struct rk_detect_options){ .root = opt->root, .path = opt->path };
	return rk_detect(&where, ret, err);
}

const struct rk_tool_found *rk_tools_best(const struct rk_tools_found *t, const char *tool)
{
	return t && tool ? rk_detect_best(t, tool) : NULL;
}

static void put_text(struct rk_bytes *out, const struct rk_tools_found *t)
{
	if (!t->n)
		rk_bytes_puts(out, "no profiler is installed here\n");
	for (size_t i = 0; i < t->n; i++) {
		const struct rk_tool_found *f = &t->tools[i];

		rk_bytes_printf(out, "%-16s %-10s %s%s%s\n", f->name,
				f->version[0] ? f->version : "-", f->path,
				f->first ? "" : " (another one comes first)",
				f->usable ? "" : " (cannot be executed)");
	}
}

static void put_json(struct rk_bytes *out, const struct rk_tools_found *t)
{
	struct rk_json_out j;

	rk_json_begin(&j, out);
	rk_json_int(&j, "schema", 1);
	rk_json_array(&j, "tools");
	for (size_t i = 0; i < t->n; i++) {
		const struct rk_tool_found *f = &t->tools[i];

		rk_json_object(&j, NULL);
		rk_json_text(&j, "name", f->name);
		rk_json_text(&j, "path", f->path);
		rk_json_text(&j, "version", f->version);
		rk_json_text(&j, "rocm", f->rocm);
		rk_json_text(&j, "place", f->place);
		rk_json_text(&j, "options", f->options);
		rk_json_bool(&j, "first", f->first);
		rk_json_bool(&j, "usable", f->usable);
		rk_json_close(&j);
	}
	rk_json_close(&j);
	rk_json_end(&j);
}

static void put_cell(struct rk_bytes *out, const char *text, char after)
{
	rk_csv_cell(out, text, strlen(text));
	rk_bytes_put_u8(out, (uint8_t)after);
}

static void put_csv(struct rk_bytes *out, const struct rk_tools_found *t)
{
	rk_bytes_puts(out, "name,path,version,rocm,first,usable\n");
	for (size_t i = 0; i < t->n; i++) {
		const struct rk_tool_found *f = &t->tools[i];

		put_cell(out, f->name, ',');
		put_cell(out, f->path, ',');
		put_cell(out, f->version, ',');
		put_cell(out, f->rocm, ',');
		put_cell(out, f->first ? "true" : "false", ',');
		put_cell(out, f->usable ? "true" : "false", '\n');
	}
}

int rk_tools_render(const struct rk_tools_found *t, enum rk_report_format format, char **ret_text,
		    size_t *ret_len, struct rk_error *err)
{
	struct rk_bytes out;

	if (!t || !ret_text)
		return rk_misuse(__func__, err);
	if (rk_check_enum((unsigned)format, RK_REPORT_CSV, __func__, err) < 0)
		return RK_E_USAGE;
	rk_bytes_init(&out, TEXT_MAX_BYTES);
	if (format == RK_REPORT_JSON)
		put_json(&out, t);
	else if (format == RK_REPORT_CSV)
		put_csv(&out, t);
	else
		put_text(&out, t);
	return rk_bytes_give(&out, ret_text, ret_len, err);
}
