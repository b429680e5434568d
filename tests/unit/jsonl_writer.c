/* jsonl_writer.c - tables as JSON lines. */
#include "text_rows_world.h"

static const struct rk_field some_fields[] = {
	{ "name", RK_STR },  { "never", RK_I64 }, { "big", RK_I64 },
	{ "value", RK_F64 }, { "flag", RK_BOOL },
};
static const struct rk_schema some = {
	.table = RK_KERNELS, .nfields = 5, .fields = some_fields, .time_field = -1
};

TEST(json_lines_have_every_key)
{
	struct text_world w;

	text_world_open(&w, &some, 4);
	text_world_name(&w, 0, 0, "a\"\n\x01");
	rk_builder_null(&w.rows, 0, 1);
	((int64_t *)rk_builder_column(&w.rows, 2))[0] = INT64_C(9007199254740993);
	((int64_t *)rk_builder_column(&w.rows, 2))[1] = 0;
	((double *)rk_builder_column(&w.rows, 3))[0] = 1e300;
	((double *)rk_builder_column(&w.rows, 3))[1] = INFINITY;
	((uint8_t *)rk_builder_column(&w.rows, 4))[0] = 0;
	((uint8_t *)rk_builder_column(&w.rows, 4))[1] = 1;
	w.rows.nrows = 2;
	CHECK_STR(text_world_write(&w, &rk_writer_jsonl, 1),
		  "{\"name\":\"a\\\"\\n\\u0001\",\"never\":null,\"big\":9007199254740993,"
		  "\"value\":1e+300,\"flag\":false}\n"
		  "{\"name\":null,\"never\":null,\"big\":0,\"value\":null,\"flag\":true}\n");
	text_world_close(&w);
}

TEST(json_lines_of_no_rows_are_nothing)
{
	struct text_world w;

	text_world_open(&w, &some, 4);
	CHECK_STR(text_world_write(&w, &rk_writer_jsonl, 0), "");
	text_world_close(&w);
}

TEST(json_lines_survive_each_failed_allocation)
{
	struct text_world w;

	text_world_open(&w, &some, 4);
	((int64_t *)rk_builder_column(&w.rows, 2))[0] = 1;
	w.rows.nrows = 1;
	text_world_fail_each(&w, &rk_writer_jsonl);
	text_world_close(&w);
}
