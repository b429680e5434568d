/* doctor_render.c - what the doctor found, in the form that was asked for. */
#include "base/error.h"
#include "base/handle.h"
#include "doctor/doctor_parts.h"

enum { TEXT_MAX_BYTES = 64 << 20 };

int rk_doctor_render(const struct rk_doctor *d, const struct rk_render_options *how, bool detail,
		     char **ret_text, size_t *ret_len, struct rk_error *err)
{
	static const struct rk_render_options plain;
	struct rk_bytes out;

	if (!d || !ret_text)
		return rk_misuse(__func__, err);
	how = how ? how : &plain;
	if (rk_check_enum((unsigned)how->format, RK_REPORT_CSV, __func__, err) < 0)
		return RK_E_USAGE;
	rk_bytes_init(&out, TEXT_MAX_BYTES);
	if (how->format == RK_REPORT_JSON)
		rk_doctor_json(&out, d);
	else if (how->format == RK_REPORT_CSV)
		rk_doctor_csv(&out, d);
	else
		rk_doctor_text(&out, d, how, detail);
	return rk_bytes_give(&out, ret_text, ret_len, err);
}
