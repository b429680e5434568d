/* metrics_render.c - metrics as text, JSON or CSV. */
#include "base/error.h"
#include "base/handle.h"
#include "base/list.h"
#include "metrics/metrics_parts.h"

enum { TEXT_MAX_BYTES = 1 << 30 };

int rk_metrics_render(const struct rk_metrics *m, const struct rk_metrics_look *how,
		      char **ret_text, size_t *ret_len, struct rk_error *err)
{
	static const struct rk_metrics_look plain;
	struct rk_list groups = { 0 };
	struct rk_bytes out;

	if (!m || !ret_text)
		return rk_misuse(__func__, err);
	how = how ? how : &plain;
	if (rk_check_enum((unsigned)how->look.format, RK_REPORT_CSV, __func__, err) < 0)
		return RK_E_USAGE;
	rk_bytes_init(&out, TEXT_MAX_BYTES);
	if (how->groups)
		rk_list_split(&groups, how->groups, ", ");
	if (how->look.format == RK_REPORT_JSON)
		rk_metrics_json(&out, m, &groups);
	else if (how->look.format == RK_REPORT_CSV)
		rk_metrics_csv(&out, m, &groups);
	else
		rk_metrics_text(&out, m, how, &groups);
	out.bad |= groups.bad;
	rk_list_release(&groups);
	return rk_bytes_give(&out, ret_text, ret_len, err);
}
