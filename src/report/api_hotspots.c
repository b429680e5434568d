/* api_hotspots.c - samples and thread traces of a run as hotspots, and those as text. */
#include <string.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "report/hotspots_impl.h"
#include "report/hotspots_parts.h"
#include "run/run.h"
#include "table/aggregate.h"
#include "table/aggregate_map.h"

enum { TEXT_MAX_BYTES = 1 << 30 };

#define BIT(f) (UINT64_C(1) << (f))

/* Each batch of a table to `use`, until it gives something other than 0. */
static int each_batch(struct rk_run *run, enum rk_table t, uint64_t want,
		      int (*use)(struct rk_hot *h, const struct rk_batch *b, struct rk_error *err),
		      struct rk_hot *h, struct rk_error *err)
{
	const struct rk_batch *b;
	struct rk_source *rows = NULL;
	int rc = rk_run_scan(run, t, want, &rows, err);

	if (rc < 0)
		return rc;
	while ((rc = rk_source_next(rows, &b, err)) > 0) {
		rc = use(h, b, err);
		if (rc)
			break;
	}
	rk_source_close(rows);
	return rc;
}

static int needs_kernels(struct rk_hot *h, const struct rk_batch *b, struct rk_error *err)
{
	(void)h;
	(void)err;
	return rk_hot_needs_kernels(b);
}

static bool has(const struct rk_run *run, enum rk_table t)
{
	return rk_run_tables(run) >> t & 1;
}

/* Names for samples that say a dispatch only. What is odd about the rows others tell. */
static int name_dispatches(struct rk_run *run, struct rk_hot *h, struct rk_error *err)
{
	uint64_t want = rk_hot_wants(RK_KERNELS);
	int rc = each_batch(run, RK_PC_SAMPLES, BIT(RK_P_NAME) | BIT(RK_P_DISPATCH), needs_kernels,
			    h, err);

	if (rc <= 0)
		return rc;
	rc = each_batch(run, RK_KERNELS, want, rk_hot_note, h, err);
	if (rc == 0)
		rc = rk_hot_layout(h, err);
	return rc < 0 ? rc : each_batch(run, RK_KERNELS, want, rk_hot_name, h, err);
}

static int find_names(struct rk_run *run, struct rk_hot *h, struct rk_error *err)
{
	struct rk_error why = { 0 };
	size_t warnings;
	int rc;

	if (!has(run, RK_PC_SAMPLES) || !has(run, RK_KERNELS) ||
	    !rk_run_rescannable(run, RK_PC_SAMPLES) || !rk_run_rescannable(run, RK_KERNELS))
		return 0;
	rk_diag_list(run->ctx.diag, &warnings);
	rc = name_dispatches(run, h, &why);
	rk_diag_reset(run->ctx.diag, warnings);
	if (rc == RK_E_LIMIT) {
		rk_diag_add(run->ctx.diag, "hotspot-names", "", 0, 1,
			    "%s; samples are not told apart by kernel", why.message);
		return 0;
	}
	if (rc < 0 && err)
		*err = why;
	return rc;
}

static int add_table(struct rk_run *run, enum rk_table t, struct rk_hot *h, struct rk_error *err)
{
	return has(run, t) ? each_batch(run, t, rk_hot_wants(t), rk_hot_add, h, err) : 0;
}

static int fill(struct rk_run *run, struct rk_hotspots *ret, struct rk_error *err)
{
	const struct rk_hot_cell *cells = NULL;
	struct rk_hot *h = NULL;
	size_t n = 0;
	int rc = rk_hot_new(&run->ctx, &run->style, &h, err);

	if (rc == 0)
		rc = find_names(run, h, err);
	if (rc == 0)
		rc = add_table(run, RK_PC_SAMPLES, h, err);
	if (rc == 0)
		rc = add_table(run, RK_INSTRUCTIONS, h, err);
	if (rc == 0) {
		rk_hot_finish(h, &cells, &n);
		rc = rk_hotspots_make(cells, n, run->ctx.names, ret, err);
	}
	rk_hot_free(h);
	return rc;
}

/* ---- what the trace says of the same kernels ---- */

static int kernels_of(struct rk_run *run, struct rk_agg_row **ret, size_t *ret_n,
		      struct rk_error *err)
{
	static const struct rk_agg_fields fields = { RK_K_NAME, -1, RK_K_DURATION, RK_AGG_NO_KEY,
						     RK_K_BARRIER };
	struct rk_source *rows = NULL;
	struct rk_agg *agg = NULL;
	int rc = rk_agg_new(&fields, &run->ctx, &agg, err);

	if (rc < 0)
		return rc;
	rk_agg_limit(agg, 0, RK_AGG_MAX_GROUPS); /* medians are not wanted */
	rc = rk_run_scan(run, RK_KERNELS, BIT(RK_K_NAME) | BIT(RK_K_DURATION) | BIT(RK_K_BARRIER),
			 &rows, err);
	if (rc == 0)
		rc = rk_agg_drain(agg, rows, err);
	if (rc == 0)
		rc = rk_agg_finish(agg, ret, ret_n, err);
	rk_source_close(rows);
	rk_agg_free(agg);
	return rc;
}

/* Where each name stands among the kernels that have samples, from 1; twice where it has both. */
static int find_kernels(const struct rk_run *run, const struct rk_hotspots *h, struct rk_idmap *at,
			struct rk_error *err)
{
	for (size_t i = h->nkernels; i-- > 0;) {
		const char *name = h->kernels[i].name;
		uint32_t id, *slot = NULL;
		int rc = rk_strtab_add(run->ctx.names, name, strlen(name), &id, err);

		if (rc == 0)
			slot = rk_idmap_at(at, id);
		if (!slot)
			return rk_fail_nomem(err);
		*slot = (uint32_t)i + 1;
	}
	return 0;
}

static void add_kernel(struct rk_run *run, struct rk_hotspots *h, const struct rk_agg_row *row,
		       uint32_t at)
{
	const char *name = rk_strtab_borrow(run->ctx.names, row->name, NULL);

	if (!at && !row->barrier)
		h->silent[h->nsilent++] =
			(struct rk_hotspot_silent){ name, row->calls, row->total_ns };
	for (size_t i = at ? at - 1 : h->nkernels; i < h->nkernels; i++)
		if (h->kernels[i].name == name) {
			h->kernels[i].calls = row->calls;
			h->kernels[i].total_ns = row->total_ns;
		}
}

static int add_trace(struct rk_run *run, struct rk_hotspots *h, struct rk_error *err)
{
	struct rk_agg_row *rows = NULL;
	struct rk_idmap at = { 0 };
	size_t n = 0, warnings;
	int rc;

	if (!has(run, RK_KERNELS) || !rk_run_rescannable(run, RK_KERNELS) || !h->nkernels)
		return 0;
	rk_diag_list(run->ctx.diag, &warnings);
	rc = kernels_of(run, &rows, &n, err);
	rk_diag_reset(run->ctx.diag, warnings);
	if (rc == 0)
		rc = find_kernels(run, h, &at, err);
	h->silent = rc == 0 ? rk_calloc(n + 1, sizeof(*h->silent)) : NULL;
	if (rc == 0 && !h->silent)
		rc = rk_fail_nomem(err);
	for (size_t i = 0; rc == 0 && i < n; i++)
		add_kernel(run, h, &rows[i], rows[i].name < at.n ? at.at[rows[i].name] : 0);
	rk_free(rows);
	rk_idmap_release(&at);
	return rc;
}

static void destroy_hotspots(void *p)
{
	struct rk_hotspots *h = p;

	if (!h)
		return;
	rk_free(h->memory[0]);
	rk_free(h->memory[1]);
	rk_free(h->kernels);
	rk_free(h->silent);
	rk_free((void *)h->warnings);
	if (h->kept)
		rk_handle_drop(h->kept);
	rk_free(h);
}

/* What is the run's stays with it: the result keeps it. */
static int give(struct rk_run *run, struct rk_hotspots *h, struct rk_error *err)
{
	int rc = rk_run_copy_warnings(run, &h->warnings, &h->nwarnings, err);

	if (rc == 0)
		rc = rk_handle_open(RK_HANDLE_HOTSPOTS, h, destroy_hotspots, err);
	if (rc < 0)
		return rc;
	rk_handle_keep(run);
	h->kept = run;
	return 0;
}

static int hotspots_of(struct rk_run *run, struct rk_hotspots **ret, struct rk_error *err)
{
	struct rk_hotspots *h = rk_calloc(1, sizeof(*h));
	int rc = h ? fill(run, h, err) : rk_fail_nomem(err);

	if (rc == 0)
		rc = add_trace(run, h, err);
	if (rc == 0) {
		rk_run_tell_names(run);
		rc = give(run, h, err);
	}
	if (rc < 0) {
		destroy_hotspots(h);
		return rc;
	}
	*ret = h;
	return 0;
}

int rk_run_hotspots(struct rk_run *run, struct rk_hotspots **ret, struct rk_error *err)
{
	int rc;

	if (!ret)
		return rk_misuse(__func__, err);
	if (rk_run_enter(run, __func__, err) < 0)
		return RK_E_USAGE;
	rc = hotspots_of(run, ret, err);
	rk_run_leave(run);
	return rc;
}

void rk_hotspots_free(struct rk_hotspots *h)
{
	rk_handle_close(RK_HANDLE_HOTSPOTS, h);
}

int rk_hotspots_render(const struct rk_hotspots *h, const struct rk_render_options *look,
		       char **ret_text, size_t *ret_len, struct rk_error *err)
{
	static const struct rk_render_options plain;
	struct rk_bytes out;

	if (!h || !ret_text)
		return rk_misuse(__func__, err);
	look = look ? look : &plain;
	if (rk_check_enum((unsigned)look->format, RK_REPORT_CSV, __func__, err) < 0)
		return RK_E_USAGE;
	rk_bytes_init(&out, TEXT_MAX_BYTES);
	if (look->format == RK_REPORT_JSON)
		rk_hotspots_json(&out, h);
	else if (look->format == RK_REPORT_CSV)
		rk_hotspots_csv(&out, h);
	else
		rk_hotspots_text(&out, h, look);
	return rk_bytes_give(&out, ret_text, ret_len, err);
}
