/* host.c - API calls, markers, agents and processes of a rocpd database. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "read/rocpd/rocpd.h"
#include "read/rocprofv3/csv.h"

/*
 * Regions have a beginning and an end. A call without duration was stored as a sample, whose name
 * is its track's, or its own in schema 4. The event's category says what a row is: MARKER_... is a
 * marker, KFD_... an event of the driver, which is a marker here, PC_SAMPLING... not supported; all
 * others (and rows without an event) are API calls. Samples of a track "SPM" are only the times of
 * streamed counters.
 */
enum { R_NAME = COL_OWN, R_NCOLUMNS };
enum { S_NAME = COL_OWN, S_NCOLUMNS };
enum { REGIONS, SAMPLED, LAUNCHES, HIP_EVENTS }; /* parts */

#define WHO (SQL_BIT(RK_A_NODE) | SQL_BIT(RK_A_PID) | SQL_BIT(RK_A_TID))

static const struct sql_column api_region[R_NCOLUMNS] = {
	[COL_NID] = SQL_INT("nid", SQL_BIT(RK_A_NODE)),
	[COL_PID] = SQL_INT("pid", SQL_BIT(RK_A_PID)),
	[COL_TID] = SQL_INT("tid", SQL_BIT(RK_A_TID)),
	[COL_TRACK] = SQL_INT("track_id", WHO),
	[COL_START] = SQL_INT("start", SQL_BIT(RK_A_START) | SQL_BIT(RK_A_DURATION)),
	[COL_END] = SQL_INT("end", SQL_BIT(RK_A_DURATION)),
	[COL_EVENT] = SQL_INT("event_id", SQL_ALWAYS),
	[R_NAME] = SQL_INT("name_id", SQL_BIT(RK_A_FUNCTION)),
};
static const struct sql_column api_sample[S_NCOLUMNS] = {
	[COL_TRACK] = SQL_INT("track_id", SQL_ALWAYS),
	[COL_START] = SQL_INT("timestamp", SQL_BIT(RK_A_START) | SQL_BIT(RK_A_DURATION)),
	[COL_EVENT] = SQL_INT("event_id", SQL_ALWAYS),
	[S_NAME] = SQL_INT("name_id", SQL_BIT(RK_A_FUNCTION)),
};
static const struct sql_column marker_region[R_NCOLUMNS] = {
	[COL_NID] = SQL_INT("nid", SQL_BIT(RK_R_NODE)),
	[COL_PID] = SQL_INT("pid", SQL_BIT(RK_R_PID)),
	[COL_TID] = SQL_INT("tid", SQL_BIT(RK_R_TID)),
	[COL_TRACK] =
		SQL_INT("track_id", SQL_BIT(RK_R_NODE) | SQL_BIT(RK_R_PID) | SQL_BIT(RK_R_TID)),
	[COL_START] =
		SQL_INT("start", SQL_BIT(RK_R_START) | SQL_BIT(RK_R_DURATION) | SQL_BIT(RK_R_KIND)),
	[COL_END] = SQL_INT("end", SQL_BIT(RK_R_DURATION) | SQL_BIT(RK_R_KIND)),
	[COL_EVENT] = SQL_INT("event_id", SQL_ALWAYS),
	[R_NAME] = SQL_INT("name_id", SQL_BIT(RK_R_NAME)),
};
static const struct sql_column marker_sample[S_NCOLUMNS] = {
	[COL_TRACK] = SQL_INT("track_id", SQL_BIT(RK_R_NODE) | SQL_BIT(RK_R_PID) |
						  SQL_BIT(RK_R_TID) | SQL_BIT(RK_R_NAME)),
	[COL_START] = SQL_INT("timestamp",
			      SQL_BIT(RK_R_START) | SQL_BIT(RK_R_DURATION) | SQL_BIT(RK_R_KIND)),
	[COL_EVENT] = SQL_INT("event_id", SQL_ALWAYS),
	[S_NAME] = SQL_INT("name_id", SQL_BIT(RK_R_NAME)),
};

/* The event's category as a name; RK_NONE if there is none. */
static int64_t category_of(struct sql_scan *s, const struct rk_sqlite_cursor *event)
{
	int64_t id = RK_NONE;

	if (!event || rk_sqlite_i64(event, EVENT_CATEGORY, &id) != RK_CELL_VALUE)
		return RK_NONE;
	if (s->dims[CATEGORIES].c || s->dims[CATEGORIES].n) {
		int64_t name = rk_sql_resolve(s, CATEGORIES, id, CATEGORY_NAME);

		if (name == RK_NONE)
			name = rk_sql_resolve(s, CATEGORIES, id, CATEGORY_STRING);
		if (name != RK_NONE)
			return name;
		id = rk_sql_resolve(s, CATEGORIES, id, CATEGORY_NAME_ID);
	}
	return rk_sql_resolve(s, STRINGS, id, 0);
}

static bool category_begins(struct sql_scan *s, int64_t category, const char *prefix)
{
	size_t len;
	const char *text;

	if (category == RK_NONE)
		return false;
	text = rk_strtab_borrow(s->r->ctx->names, (uint32_t)category, &len);
	return rk_text_iprefix(text, len, prefix);
}

static bool is_sample(const struct sql_scan *s)
{
	return s->part == SAMPLED;
}

static int64_t track_name(struct sql_scan *s)
{
	return rk_sql_resolve(s, TRACKS, rk_sql_cell(s, COL_TRACK), TRACK_NAME);
}

static int64_t name_of(struct sql_scan *s)
{
	int64_t id;

	if (is_sample(s)) {
		id = rk_sql_cell(s, S_NAME);
		if (id == RK_NONE)
			id = track_name(s);
	} else {
		id = rk_sql_cell(s, R_NAME);
	}
	return rk_sql_resolve(s, STRINGS, id, 0);
}

/* Is it the time of streamed counters? */
static bool is_streamed(struct sql_scan *s)
{
	int64_t name = is_sample(s) ? rk_sql_resolve(s, STRINGS, track_name(s), 0) : RK_NONE;

	return name != RK_NONE &&
	       !strcmp(rk_strtab_borrow(s->r->ctx->names, (uint32_t)name, NULL), "SPM");
}

static int api_row(struct sql_scan *s, size_t row)
{
	const struct rk_sqlite_cursor *event = rk_rocpd_event(s);
	int64_t category = category_of(s, event), stack = RK_NONE;

	if (category_begins(s, category, "PC_SAMPLING")) {
		((struct rocpd_scan *)s)->pc_samples++;
		return 0;
	}
	if (category_begins(s, category, "MARKER_") || category_begins(s, category, "KFD_") ||
	    is_streamed(s))
		return 0;
	rk_sql_put(s, RK_A_DOMAIN, row, category);
	if (event && rk_sqlite_i64(event, EVENT_STACK, &stack) == RK_CELL_WRONG)
		s->wrong++;
	rk_sql_put(s, RK_A_CORRELATION, row, stack);
	if (rk_sql_wants(s, RK_A_FUNCTION))
		rk_sql_put(s, RK_A_FUNCTION, row, name_of(s));
	rk_sql_put_times(s, row, RK_A_START, RK_A_DURATION, COL_START,
			 is_sample(s) ? COL_START : COL_END);
	rk_rocpd_put_who(s, row, RK_A_NODE, RK_A_PID, RK_A_TID);
	return 1;
}

const struct sql_part rk_rocpd_calls[2] = {
	[REGIONS] = { "rocpd_region", api_region, R_NCOLUMNS, api_row, NULL, NULL },
	[SAMPLED] = { "rocpd_sample", api_sample, S_NCOLUMNS, api_row, NULL, NULL },
};

static int marker_row(struct sql_scan *s, size_t row)
{
	const struct rk_sqlite_cursor *event = rk_rocpd_event(s);
	struct rk_bytes *text = &((struct rocpd_scan *)s)->text;
	int64_t category = category_of(s, event);
	bool sample = is_sample(s), driver;
	struct sql_span value;
	size_t len;

	driver = category_begins(s, category, "KFD_");
	if (!driver && !category_begins(s, category, "MARKER_"))
		return 0;
	/*
	 * the program's text is "message" in the event's JSON, and the region's name the function;
	 * since ROCm 10.1 the text is the name
	 */
	if (rk_sql_wants(s, RK_R_NAME)) {
		rk_bytes_clear(text);
		if (!rk_sql_json_field(rk_sql_json(event, EVENT_EXTDATA), "message", &value) ||
		    !rk_sql_json_text(value, text))
			rk_sql_put(s, RK_R_NAME, row, name_of(s));
		else if (text->bad)
			rk_fail_nomem(&s->error);
		else
			rk_sql_put_text(s, RK_R_NAME, row,
					text->len ? (const char *)text->data : "", text->len);
	}
	/* marks are samples; their category is that of ranges too */
	if (driver) {
		rk_sql_put_word(s, RK_R_KIND, row, "driver");
	} else if (rk_sql_wants(s, RK_R_KIND)) {
		const char *words = rk_strtab_borrow(s->r->ctx->names, (uint32_t)category, &len);
		bool range = !sample && (rk_text_iprefix(words, len, "MARKER_CORE_RANGE_API") ||
					 rk_sql_cell(s, COL_START) < rk_sql_cell(s, COL_END));

		rk_sql_put_word(s, RK_R_KIND, row, rk_v3_marker_kind(words, len, range));
	}
	rk_sql_put_times(s, row, RK_R_START, RK_R_DURATION, COL_START,
			 sample ? COL_START : COL_END);
	rk_rocpd_put_who(s, row, RK_R_NODE, RK_R_PID, RK_R_TID);
	return 1;
}

/* Launches of graphs and events of queues, which are markers of the tool's own. */
enum { L_GRAPH = COL_OWN, L_NCOLUMNS };
enum { E_NAME_ID = COL_OWN, E_NAME, E_TYPE, E_OPERATION, E_NCOLUMNS };

#define MARKER_WHO                                                                               \
	[COL_NID] = SQL_INT("nid", SQL_BIT(RK_R_NODE)),                                          \
	[COL_PID] = SQL_INT("pid", SQL_BIT(RK_R_PID)),                                           \
	[COL_TID] = SQL_INT("tid", SQL_BIT(RK_R_TID)),                                           \
	[COL_TRACK] =                                                                            \
		SQL_INT("track_id", SQL_BIT(RK_R_NODE) | SQL_BIT(RK_R_PID) | SQL_BIT(RK_R_TID)), \
	[COL_START] = SQL_INT("start", SQL_BIT(RK_R_START) | SQL_BIT(RK_R_DURATION)),            \
	[COL_END] = SQL_INT("end", SQL_BIT(RK_R_DURATION))

static const struct sql_column launch_columns[L_NCOLUMNS] = {
	MARKER_WHO,
	[L_GRAPH] = SQL_INT("graph_exec_id", SQL_BIT(RK_R_NAME) | SQL_BIT(RK_R_KIND)),
};
/* No release has this table yet: the name may be in any of these. */
static const struct sql_column event_columns[E_NCOLUMNS] = {
	MARKER_WHO,
	[E_NAME_ID] = SQL_INT("name_id", SQL_BIT(RK_R_NAME) | SQL_BIT(RK_R_KIND)),
	[E_NAME] = SQL_TEXT("name", SQL_BIT(RK_R_NAME)),
	[E_TYPE] = SQL_TEXT("type", SQL_BIT(RK_R_NAME)),
	[E_OPERATION] = SQL_INT("operation", SQL_BIT(RK_R_NAME)),
};

static int launch_row(struct sql_scan *s, size_t row)
{
	if (rk_sql_wants(s, RK_R_NAME)) {
		char name[48];
		int64_t graph = rk_sql_cell(s, L_GRAPH);

		snprintf(name, sizeof(name), "graph %" PRId64, graph == RK_NONE ? 0 : graph);
		rk_sql_put_word(s, RK_R_NAME, row, name);
	}
	rk_sql_put_word(s, RK_R_KIND, row, "graph");
	rk_sql_put_times(s, row, RK_R_START, RK_R_DURATION, COL_START, COL_END);
	rk_rocpd_put_who(s, row, RK_R_NODE, RK_R_PID, RK_R_TID);
	return 1;
}

static int hip_event_row(struct sql_scan *s, size_t row)
{
	if (rk_sql_wants(s, RK_R_NAME)) {
		int64_t name = rk_sql_resolve(s, STRINGS, rk_sql_cell(s, E_NAME_ID), 0);
		size_t len = 0;
		const char *text = rk_sqlite_text(s->c, E_NAME, &len);

		if (!text)
			text = rk_sqlite_text(s->c, E_TYPE, &len);
		if (name != RK_NONE)
			rk_sql_put(s, RK_R_NAME, row, name);
		else if (text)
			rk_sql_put_text(s, RK_R_NAME, row, text, len);
		else
			rk_sql_put_word(s, RK_R_NAME, row,
					rk_sql_cell(s, E_OPERATION) == 2 ? "HIP_EVENT_WAIT" :
									   "HIP_EVENT_RECORD");
	}
	rk_sql_put_word(s, RK_R_KIND, row, "queue");
	rk_sql_put_times(s, row, RK_R_START, RK_R_DURATION, COL_START, COL_END);
	rk_rocpd_put_who(s, row, RK_R_NODE, RK_R_PID, RK_R_TID);
	return 1;
}

const struct sql_part rk_rocpd_markers[4] = {
	[REGIONS] = { "rocpd_region", marker_region, R_NCOLUMNS, marker_row, NULL, NULL },
	[SAMPLED] = { "rocpd_sample", marker_sample, S_NCOLUMNS, marker_row, NULL, NULL },
	[LAUNCHES] = { "rocpd_graph_launch", launch_columns, L_NCOLUMNS, launch_row, NULL, NULL },
	[HIP_EVENTS] = { "rocpd_hip_event", event_columns, E_NCOLUMNS, hip_event_row, NULL, NULL },
};

enum { G_ID = COL_OWN, G_INDEX, G_TYPE, G_NAME, G_PRODUCT, G_EXTDATA, G_NCOLUMNS };

#define JSON_FIELDS                                                                 \
	(SQL_BIT(RK_G_CU_COUNT) | SQL_BIT(RK_G_MAX_SCLK) | SQL_BIT(RK_G_MAX_MCLK) | \
	 SQL_BIT(RK_G_XCC) | SQL_BIT(RK_G_WAVE_SIZE) | SQL_BIT(RK_G_MEMORY) |       \
	 SQL_BIT(RK_G_SE_COUNT) | SQL_BIT(RK_G_SIMD_PER_CU) | SQL_BIT(RK_G_WAVES_PER_CU))

static const struct sql_column agent_columns[G_NCOLUMNS] = {
	[COL_NID] = SQL_INT("nid", SQL_BIT(RK_G_NODE)),
	[G_ID] = SQL_INT("id", SQL_BIT(RK_G_DEVICE)),
	[G_INDEX] = SQL_INT("absolute_index", SQL_BIT(RK_G_DEVICE)),
	[G_TYPE] = SQL_TEXT("type", SQL_BIT(RK_G_TYPE)),
	[G_NAME] = SQL_TEXT("name", SQL_BIT(RK_G_NAME) | SQL_BIT(RK_G_GFX)),
	[G_PRODUCT] = SQL_TEXT("product_name", SQL_BIT(RK_G_PRODUCT)),
	[G_EXTDATA] = SQL_TEXT("extdata", JSON_FIELDS),
};

static int agent_row(struct sql_scan *s, size_t row)
{
	static const struct {
		unsigned field;
		const char *key;
	} numbers[] = {
		{ RK_G_CU_COUNT, "cu_count" },
		{ RK_G_MAX_SCLK, "max_engine_clk_fcompute" },
		{ RK_G_XCC, "num_xcc" },
		{ RK_G_WAVE_SIZE, "wave_front_size" },
		{ RK_G_SIMD_PER_CU, "simd_per_cu" },
		{ RK_G_WAVES_PER_CU, "max_waves_per_cu" },
	};
	int64_t arrays, each, bytes = RK_NONE, clock = RK_NONE;
	struct sql_span json, banks, bank;
	const char *name;
	size_t len = 0;

	rk_sql_put(s, RK_G_DEVICE, row, rk_sql_cell_or(s, G_INDEX, G_ID));
	rk_sql_put_column(s, RK_G_TYPE, row, G_TYPE);
	rk_sql_put_column(s, RK_G_NAME, row, G_NAME);
	rk_sql_put_column(s, RK_G_PRODUCT, row, G_PRODUCT);
	name = rk_sqlite_text(s->c, G_NAME, &len);
	if (name && !rk_text_iprefix(name, len, "gfx"))
		name = NULL;
	rk_sql_put_text(s, RK_G_GFX, row, name, len);
	if (rk_sql_wants(s, RK_G_NODE))
		rk_sql_put(s, RK_G_NODE, row, rk_sql_resolve(s, NODES, rk_sql_cell(s, COL_NID), 0));

	json = rk_sql_json(s->c, G_EXTDATA);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		rk_sql_put(s, numbers[i].field, row, rk_sql_json_number(json, numbers[i].key));
	/* shader engines: the driver only reports their arrays */
	arrays = rk_sql_json_number(json, "array_count");
	each = rk_sql_json_number(json, "simd_arrays_per_engine");
	rk_sql_put(s, RK_G_SE_COUNT, row, arrays > 0 && each > 0 ? arrays / each : RK_NONE);
	/* memory: the sum of its banks, and their highest clock */
	if (rk_sql_json_field(json, "mem_banks", &banks)) {
		while (rk_sql_json_element(&banks, &bank)) {
			int64_t size = rk_sql_json_number(bank, "size_in_bytes");
			int64_t mhz = rk_sql_json_number(bank, "mem_clk_max");

			if (size > 0)
				bytes = rk_add_saturated(bytes < 0 ? 0 : bytes, size);
			if (mhz > clock)
				clock = mhz;
		}
	}
	rk_sql_put(s, RK_G_MEMORY, row, bytes);
	rk_sql_put(s, RK_G_MAX_MCLK, row, clock);
	return 1;
}

const struct sql_part rk_rocpd_agents[1] = {
	{ "rocpd_info_agent", agent_columns, G_NCOLUMNS, agent_row, NULL, NULL },
};

enum { O_ID = COL_OWN, O_PPID, O_COMMAND, O_NCOLUMNS };

static const struct sql_column process_columns[O_NCOLUMNS] = {
	[COL_NID] = SQL_INT("nid", SQL_BIT(RK_O_NODE)),
	[COL_PID] = SQL_INT("pid", SQL_BIT(RK_O_PID)),
	[COL_START] = SQL_INT("start", SQL_BIT(RK_O_START)),
	[COL_END] = SQL_INT("end", SQL_BIT(RK_O_END)),
	[O_ID] = SQL_INT("id", SQL_BIT(RK_O_PID)),
	[O_PPID] = SQL_INT("ppid", SQL_BIT(RK_O_PPID)),
	[O_COMMAND] = SQL_TEXT("command", SQL_BIT(RK_O_COMMAND)),
};

static int process_row(struct sql_scan *s, size_t row)
{
	rk_sql_put(s, RK_O_PID, row, rk_sql_cell_or(s, COL_PID, O_ID));
	rk_sql_put(s, RK_O_PPID, row, rk_sql_cell(s, O_PPID));
	rk_sql_put_column(s, RK_O_COMMAND, row, O_COMMAND);
	rk_sql_put(s, RK_O_START, row, rk_sql_cell(s, COL_START));
	rk_sql_put(s, RK_O_END, row, rk_sql_cell(s, COL_END));
	if (rk_sql_wants(s, RK_O_NODE))
		rk_sql_put(s, RK_O_NODE, row, rk_sql_resolve(s, NODES, rk_sql_cell(s, COL_NID), 0));
	return 1;
}

const struct sql_part rk_rocpd_processes[1] = {
	{ "rocpd_info_process", process_columns, O_NCOLUMNS, process_row, NULL, NULL },
};
