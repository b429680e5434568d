/* rocpd_regions.c - rocpd_region and rocpd_sample: API calls and markers. */
#include <string.h>

#include "base/text.h"
#include "read/rocpd/rocpd_scan.h"

/*
 * Regions have a beginning and an end; a call that took no time was stored as a sample, whose
 * name is its track's. The event's category says what a row is: MARKER_... is a marker, all
 * others (and rows without an event) are API calls.
 */
enum { R_NAME = COL_OWN, R_NCOLUMNS };
enum { S_NCOLUMNS = COL_OWN };

#define WHO (ROCPD_BIT(RK_A_NODE) | ROCPD_BIT(RK_A_PID) | ROCPD_BIT(RK_A_TID))

static const struct rocpd_column api_region[R_NCOLUMNS] = {
	[COL_NID] = ROCPD_INT("nid", ROCPD_BIT(RK_A_NODE)),
	[COL_PID] = ROCPD_INT("pid", ROCPD_BIT(RK_A_PID)),
	[COL_TID] = ROCPD_INT("tid", ROCPD_BIT(RK_A_TID)),
	[COL_TRACK] = ROCPD_INT("track_id", WHO),
	[COL_START] = ROCPD_INT("start", ROCPD_BIT(RK_A_START) | ROCPD_BIT(RK_A_DURATION)),
	[COL_END] = ROCPD_INT("end", ROCPD_BIT(RK_A_DURATION)),
	[COL_EVENT] = ROCPD_INT("event_id", ROCPD_ALWAYS),
	[R_NAME] = ROCPD_INT("name_id", ROCPD_BIT(RK_A_FUNCTION)),
};
static const struct rocpd_column api_sample[S_NCOLUMNS] = {
	[COL_TRACK] = ROCPD_INT("track_id", WHO | ROCPD_BIT(RK_A_FUNCTION)),
	[COL_START] = ROCPD_INT("timestamp", ROCPD_BIT(RK_A_START) | ROCPD_BIT(RK_A_DURATION)),
	[COL_EVENT] = ROCPD_INT("event_id", ROCPD_ALWAYS),
};
static const struct rocpd_column marker_region[R_NCOLUMNS] = {
	[COL_NID] = ROCPD_INT("nid", ROCPD_BIT(RK_R_NODE)),
	[COL_PID] = ROCPD_INT("pid", ROCPD_BIT(RK_R_PID)),
	[COL_TID] = ROCPD_INT("tid", ROCPD_BIT(RK_R_TID)),
	[COL_TRACK] = ROCPD_INT("track_id",
				ROCPD_BIT(RK_R_NODE) | ROCPD_BIT(RK_R_PID) | ROCPD_BIT(RK_R_TID)),
	[COL_START] = ROCPD_INT("start", ROCPD_BIT(RK_R_START) | ROCPD_BIT(RK_R_DURATION) |
						 ROCPD_BIT(RK_R_KIND)),
	[COL_END] = ROCPD_INT("end", ROCPD_BIT(RK_R_DURATION) | ROCPD_BIT(RK_R_KIND)),
	[COL_EVENT] = ROCPD_INT("event_id", ROCPD_ALWAYS),
	[R_NAME] = ROCPD_INT("name_id", ROCPD_BIT(RK_R_NAME)),
};
static const struct rocpd_column marker_sample[S_NCOLUMNS] = {
	[COL_TRACK] = ROCPD_INT("track_id", ROCPD_BIT(RK_R_NODE) | ROCPD_BIT(RK_R_PID) |
						    ROCPD_BIT(RK_R_TID) | ROCPD_BIT(RK_R_NAME)),
	[COL_START] = ROCPD_INT("timestamp", ROCPD_BIT(RK_R_START) | ROCPD_BIT(RK_R_DURATION) |
						     ROCPD_BIT(RK_R_KIND)),
	[COL_EVENT] = ROCPD_INT("event_id", ROCPD_ALWAYS),
};

/* The event's category as a name; RK_NONE without. */
static int64_t category_of(struct rocpd_scan *s, const struct rk_sqlite_cursor *event)
{
	int64_t id = RK_NONE;

	if (!event || rk_sqlite_i64(event, EVENT_CATEGORY, &id) != RK_CELL_VALUE)
		return RK_NONE;
	return rk_rocpd_resolve(s, ROCPD_STRING, id, DIM_STRING_TEXT);
}

static bool category_begins(struct rocpd_scan *s, int64_t category, const char *prefix)
{
	size_t len;
	const char *text;

	if (category == RK_NONE)
		return false;
	text = rk_strtab_borrow(s->r->ctx->names, (uint32_t)category, &len);
	return rk_text_iprefix(text, len, prefix);
}

static bool is_sample(const struct rocpd_scan *s)
{
	return s->plan->parts[s->part].what == ROCPD_SAMPLE;
}

static int64_t region_name(struct rocpd_scan *s)
{
	return rk_rocpd_resolve(s, ROCPD_STRING, rk_rocpd_cell(s, R_NAME), DIM_STRING_TEXT);
}

static int64_t sample_name(struct rocpd_scan *s)
{
	int64_t track = rk_rocpd_cell(s, COL_TRACK);
	int64_t name = rk_rocpd_resolve(s, ROCPD_TRACK, track, DIM_TRACK_NAME);

	return rk_rocpd_resolve(s, ROCPD_STRING, name, DIM_STRING_TEXT);
}

static int api_row(struct rocpd_scan *s, size_t row)
{
	const struct rk_sqlite_cursor *event = rk_rocpd_event(s);
	int64_t category = category_of(s, event), stack = RK_NONE;
	bool sample = is_sample(s);

	if (category_begins(s, category, "MARKER_"))
		return 0;
	rk_rocpd_put(s, RK_A_DOMAIN, row, category);
	if (event && rk_sqlite_i64(event, EVENT_STACK, &stack) == RK_CELL_WRONG)
		s->wrong++;
	rk_rocpd_put(s, RK_A_CORRELATION, row, stack);
	if (rk_rocpd_wants(s, RK_A_FUNCTION))
		rk_rocpd_put(s, RK_A_FUNCTION, row, sample ? sample_name(s) : region_name(s));
	rk_rocpd_put_times(s, row, RK_A_START, RK_A_DURATION, sample ? COL_START : COL_END);
	rk_rocpd_put_who(s, row, RK_A_NODE, RK_A_PID, RK_A_TID);
	return 1;
}

static const struct rocpd_part api_parts[] = {
	{ ROCPD_REGION, api_region, R_NCOLUMNS, api_row },
	{ ROCPD_SAMPLE, api_sample, S_NCOLUMNS, api_row },
};

const struct rocpd_plan rk_rocpd_api = {
	.table = RK_API,
	.gives = ~ROCPD_BIT(RK_A_RANK),
	.parts = api_parts,
	.nparts = 2,
	.events_for = { [EVENT_CATEGORY] = ROCPD_ALWAYS, [EVENT_STACK] = ROCPD_BIT(RK_A_CORRELATION) },
};

/* The text the program gave is "message" in the event's JSON; the region's name is the function's. */
static bool put_message(struct rocpd_scan *s, size_t row, const struct rk_sqlite_cursor *event)
{
	struct rocpd_span json, value;

	json.s = rk_sqlite_text(event, EVENT_EXTDATA, &json.len);
	if (!json.s || !rk_rocpd_json_field(json, "message", &value))
		return false;
	rk_bytes_clear(&s->text);
	if (!rk_rocpd_json_text(value, &s->text))
		return false;
	if (s->text.bad)
		rk_fail_nomem(&s->error);
	else
		rk_rocpd_put_text(s, RK_R_NAME, row, s->text.len ? (const char *)s->text.data : "",
				  s->text.len);
	return true;
}

static const char *marker_kind(struct rocpd_scan *s, int64_t category, bool sample)
{
	if (category_begins(s, category, "MARKER_CONTROL_API"))
		return "control";
	if (category_begins(s, category, "MARKER_CORE_RANGE_API"))
		return "range";
	if (!sample && rk_rocpd_cell(s, COL_START) < rk_rocpd_cell(s, COL_END))
		return "range";
	return "mark";
}

static int marker_row(struct rocpd_scan *s, size_t row)
{
	const struct rk_sqlite_cursor *event = rk_rocpd_event(s);
	int64_t category = category_of(s, event);
	bool sample = is_sample(s);
	const char *kind;

	if (!category_begins(s, category, "MARKER_"))
		return 0;
	if (rk_rocpd_wants(s, RK_R_NAME) && !put_message(s, row, event))
		rk_rocpd_put(s, RK_R_NAME, row, sample ? sample_name(s) : region_name(s));
	if (rk_rocpd_wants(s, RK_R_KIND)) {
		kind = marker_kind(s, category, sample);
		rk_rocpd_put_text(s, RK_R_KIND, row, kind, strlen(kind));
	}
	rk_rocpd_put_times(s, row, RK_R_START, RK_R_DURATION, sample ? COL_START : COL_END);
	rk_rocpd_put_who(s, row, RK_R_NODE, RK_R_PID, RK_R_TID);
	return 1;
}

static const struct rocpd_part marker_parts[] = {
	{ ROCPD_REGION, marker_region, R_NCOLUMNS, marker_row },
	{ ROCPD_SAMPLE, marker_sample, S_NCOLUMNS, marker_row },
};

const struct rocpd_plan rk_rocpd_markers = {
	.table = RK_MARKERS,
	.gives = ~ROCPD_BIT(RK_R_RANK),
	.parts = marker_parts,
	.nparts = 2,
	.events_for = { [EVENT_CATEGORY] = ROCPD_ALWAYS, [EVENT_EXTDATA] = ROCPD_BIT(RK_R_NAME) },
};
