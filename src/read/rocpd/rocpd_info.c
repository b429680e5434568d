/* rocpd_info.c - rocpd_info_agent and rocpd_info_process as the agents and processes tables. */
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "read/rocpd/rocpd_scan.h"

enum { G_ID = COL_OWN, G_INDEX, G_TYPE, G_NAME, G_PRODUCT, G_EXTDATA, G_NCOLUMNS };

#define JSON_FIELDS                                                                       \
	(ROCPD_BIT(RK_G_CU_COUNT) | ROCPD_BIT(RK_G_MAX_SCLK) | ROCPD_BIT(RK_G_MAX_MCLK) | \
	 ROCPD_BIT(RK_G_XCC) | ROCPD_BIT(RK_G_WAVE_SIZE) | ROCPD_BIT(RK_G_MEMORY) |       \
	 ROCPD_BIT(RK_G_SE_COUNT) | ROCPD_BIT(RK_G_SIMD_PER_CU) | ROCPD_BIT(RK_G_WAVES_PER_CU))

static const struct rocpd_column agent_columns[G_NCOLUMNS] = {
	[COL_NID] = ROCPD_INT("nid", ROCPD_BIT(RK_G_NODE)),
	[G_ID] = ROCPD_INT("id", ROCPD_BIT(RK_G_DEVICE)),
	[G_INDEX] = ROCPD_INT("absolute_index", ROCPD_BIT(RK_G_DEVICE)),
	[G_TYPE] = ROCPD_TEXT("type", ROCPD_BIT(RK_G_TYPE)),
	[G_NAME] = ROCPD_TEXT("name", ROCPD_BIT(RK_G_NAME) | ROCPD_BIT(RK_G_GFX)),
	[G_PRODUCT] = ROCPD_TEXT("product_name", ROCPD_BIT(RK_G_PRODUCT)),
	[G_EXTDATA] = ROCPD_TEXT("extdata", JSON_FIELDS),
};

static void put_column_text(struct rocpd_scan *s, unsigned field, size_t row, unsigned col)
{
	size_t len;
	const char *text = rk_sqlite_text(s->c, col, &len);

	rk_rocpd_put_text(s, field, row, text, len);
}

static int64_t json_number(struct rocpd_span json, const char *key)
{
	struct rocpd_span value;
	int64_t v;

	if (!rk_rocpd_json_field(json, key, &value) || !rk_rocpd_json_i64(value, &v))
		return RK_NONE;
	return v;
}

/* Memory of an agent: all its banks together, and the fastest of their clocks. */
static void put_banks(struct rocpd_scan *s, size_t row, struct rocpd_span json)
{
	int64_t bytes = RK_NONE, clock = RK_NONE;
	struct rocpd_span banks, bank;

	if (rk_rocpd_json_field(json, "mem_banks", &banks)) {
		while (rk_rocpd_json_element(&banks, &bank)) {
			int64_t size = json_number(bank, "size_in_bytes");
			int64_t mhz = json_number(bank, "mem_clk_max");

			if (size > 0 && !rk_add_i64(bytes < 0 ? 0 : bytes, size, &bytes))
				bytes = INT64_MAX;
			if (mhz > clock)
				clock = mhz;
		}
	}
	rk_rocpd_put(s, RK_G_MEMORY, row, bytes);
	rk_rocpd_put(s, RK_G_MAX_MCLK, row, clock);
}

/* Shader engines: the driver tells their arrays alone. */
static int64_t engines(struct rocpd_span json)
{
	int64_t arrays = json_number(json, "array_count");
	int64_t each = json_number(json, "simd_arrays_per_engine");

	return arrays > 0 && each > 0 ? arrays / each : RK_NONE;
}

static void put_json(struct rocpd_scan *s, size_t row)
{
	struct rocpd_span json;

	json.s = rk_sqlite_text(s->c, G_EXTDATA, &json.len);
	if (!json.s)
		json.len = 0;
	rk_rocpd_put(s, RK_G_CU_COUNT, row, json_number(json, "cu_count"));
	rk_rocpd_put(s, RK_G_MAX_SCLK, row, json_number(json, "max_engine_clk_fcompute"));
	rk_rocpd_put(s, RK_G_XCC, row, json_number(json, "num_xcc"));
	rk_rocpd_put(s, RK_G_WAVE_SIZE, row, json_number(json, "wave_front_size"));
	rk_rocpd_put(s, RK_G_SE_COUNT, row, engines(json));
	rk_rocpd_put(s, RK_G_SIMD_PER_CU, row, json_number(json, "simd_per_cu"));
	rk_rocpd_put(s, RK_G_WAVES_PER_CU, row, json_number(json, "max_waves_per_cu"));
	put_banks(s, row, json);
}

static int agent_row(struct rocpd_scan *s, size_t row)
{
	int64_t index = rk_rocpd_cell(s, G_INDEX);
	const char *name;
	size_t len;

	rk_rocpd_put(s, RK_G_DEVICE, row, index == RK_NONE ? rk_rocpd_cell(s, G_ID) : index);
	put_column_text(s, RK_G_TYPE, row, G_TYPE);
	put_column_text(s, RK_G_NAME, row, G_NAME);
	put_column_text(s, RK_G_PRODUCT, row, G_PRODUCT);
	name = rk_sqlite_text(s->c, G_NAME, &len);
	rk_rocpd_put_text(s, RK_G_GFX, row, name && rk_text_iprefix(name, len, "gfx") ? name : NULL,
			  len);
	put_json(s, row);
	if (rk_rocpd_wants(s, RK_G_NODE))
		rk_rocpd_put(s, RK_G_NODE, row,
			     rk_rocpd_resolve(s, ROCPD_NODE, rk_rocpd_cell(s, COL_NID), 0));
	return 1;
}

static const struct rocpd_part agent_parts[] = {
	{ ROCPD_AGENT, agent_columns, G_NCOLUMNS, agent_row },
};

const struct rocpd_plan rk_rocpd_agents = {
	.table = RK_AGENTS,
	.gives = ~(ROCPD_BIT(RK_G_L2_CHANNELS) | ROCPD_BIT(RK_G_HBM_CHANNELS) |
		   ROCPD_BIT(RK_G_LDS_BANKS) | ROCPD_BIT(RK_G_SQC_COUNT) | ROCPD_BIT(RK_G_PIPES)),
	.parts = agent_parts,
	.nparts = 1,
};

enum { O_ID = COL_OWN, O_PPID, O_COMMAND, O_NCOLUMNS };

static const struct rocpd_column process_columns[O_NCOLUMNS] = {
	[COL_NID] = ROCPD_INT("nid", ROCPD_BIT(RK_O_NODE)),
	[COL_PID] = ROCPD_INT("pid", ROCPD_BIT(RK_O_PID)),
	[COL_START] = ROCPD_INT("start", ROCPD_BIT(RK_O_START)),
	[COL_END] = ROCPD_INT("end", ROCPD_BIT(RK_O_END)),
	[O_ID] = ROCPD_INT("id", ROCPD_BIT(RK_O_PID)),
	[O_PPID] = ROCPD_INT("ppid", ROCPD_BIT(RK_O_PPID)),
	[O_COMMAND] = ROCPD_TEXT("command", ROCPD_BIT(RK_O_COMMAND)),
};

static int process_row(struct rocpd_scan *s, size_t row)
{
	int64_t pid = rk_rocpd_cell(s, COL_PID);

	rk_rocpd_put(s, RK_O_PID, row, pid == RK_NONE ? rk_rocpd_cell(s, O_ID) : pid);
	rk_rocpd_put(s, RK_O_PPID, row, rk_rocpd_cell(s, O_PPID));
	put_column_text(s, RK_O_COMMAND, row, O_COMMAND);
	rk_rocpd_put(s, RK_O_START, row, rk_rocpd_cell(s, COL_START));
	rk_rocpd_put(s, RK_O_END, row, rk_rocpd_cell(s, COL_END));
	if (rk_rocpd_wants(s, RK_O_NODE))
		rk_rocpd_put(s, RK_O_NODE, row,
			     rk_rocpd_resolve(s, ROCPD_NODE, rk_rocpd_cell(s, COL_NID), 0));
	return 1;
}

static const struct rocpd_part process_parts[] = {
	{ ROCPD_PROCESS, process_columns, O_NCOLUMNS, process_row },
};

const struct rocpd_plan rk_rocpd_processes = {
	.table = RK_PROCESSES,
	.gives = ROCPD_BIT(RK_O_PID) | ROCPD_BIT(RK_O_PPID) | ROCPD_BIT(RK_O_COMMAND) |
		 ROCPD_BIT(RK_O_NODE) | ROCPD_BIT(RK_O_START) | ROCPD_BIT(RK_O_END),
	.parts = process_parts,
	.nparts = 1,
};
