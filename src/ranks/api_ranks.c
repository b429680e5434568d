/* api_ranks.c - the ranks of a job, written down without the rest of a report. */
#include <string.h>

#include "base/bytes.h"
#include "base/handle.h"
#include "ranks/ranks_parts.h"
#include "rockit/ranks.h"

enum { TEXT_MAX_BYTES = 1 << 30 };

int rk_ranks_render(const struct rk_ranks *k, const struct rk_render_options *opt, char **ret_text,
		    size_t *ret_len, struct rk_error *err)
{
	static const struct rk_render_options plain;
	struct rk_bytes out;
	struct rk_page page;

	if (!k || !ret_text)
		return rk_misuse(__func__, err);
	opt = opt ? opt : &plain;
	if (rk_check_enum((unsigned)opt->format, RK_REPORT_CSV, __func__, err) < 0)
		return RK_E_USAGE;
	rk_bytes_init(&out, TEXT_MAX_BYTES);
	if (opt->format == RK_REPORT_JSON) {
		rk_bytes_puts(&out, "{\"schema\":1,\n \"ranks\":");
		rk_ranks_json(&out, k);
		rk_bytes_puts(&out, "}\n");
	} else if (opt->format == RK_REPORT_CSV) {
		rk_ranks_csv(&out, k);
	} else {
		rk_page_begin(&page, &out, opt);
		rk_ranks_text(&page, k);
		rk_page_end(&page);
		/* the empty line before the first title */
		if (out.len)
			memmove(out.data, out.data + 1, --out.len);
	}
	return rk_bytes_give(&out, ret_text, ret_len, err);
}
