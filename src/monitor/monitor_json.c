/* monitor_json.c - what the sampler did, as JSON. */
#include "base/error.h"
#include "base/handle.h"
#include "base/json_out.h"
#include "rockit/monitor.h"

enum { TEXT_MAX = 1 << 16 };

int rk_monitor_json(const struct rk_monitor_end *end, const char *dir, bool program,
		    char **ret_text, struct rk_error *err)
{
	const struct rk_monitor_result *r;
	struct rk_json_out j;
	struct rk_bytes out;

	if (!end || !ret_text)
		return rk_misuse(__func__, err);
	r = &end->samples;
	rk_bytes_init(&out, TEXT_MAX);
	rk_json_begin(&j, &out);
	rk_json_int(&j, "schema", 1);
	rk_json_text(&j, "dir", dir);
	rk_json_uint(&j, "samples", r->samples);
	rk_json_uint(&j, "missed", r->missed);
	rk_json_uint(&j, "gpus", r->gpus);
	rk_json_array_flat(&j, "metrics");
	for (unsigned i = 0; rk_monitor_word(i); i++)
		if (r->metrics >> i & 1)
			rk_json_text(&j, NULL, rk_monitor_word(i));
	rk_json_close(&j);
	rk_json_real(&j, "cpu_percent", r->cpu_percent);
	rk_json_int(&j, "clock_error_ns", r->clock_error_ns);
	rk_json_text(&j, "note", r->note);
	rk_json_text(&j, "error", end->trouble.message);
	if (program)
		rk_json_int(&j, "status", end->status);
	else
		rk_json_null(&j, "status");
	rk_json_end(&j);
	return rk_bytes_give(&out, ret_text, NULL, err);
}
