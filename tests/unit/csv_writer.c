/* csv_writer.c - tables as CSV. */
#include "text_rows_world.h"

static const struct rk_field some_fields[] = {
	{ "name", RK_STR },  { "big", RK_I64 },   { "small", RK_I32 },
	{ "value", RK_F64 }, { "flag", RK_BOOL }, { "never", RK_I64 },
};
static const struct rk_schema some = {
	.table = RK_KERNELS, .nfields = 6, .fields = some_fields, .time_field = -1
};

TEST(csv_has_every_column_in_order)
{
	struct text_world w;

	text_world_open(&w, &some, 4);
	text_world_name(&w, 0, 0, "plain");
	text_world_name(&w, 0, 1, "a, \"b\"");
	((int64_t *)rk_builder_column(&w.rows, 1))[0] = INT64_MAX;
	((int64_t *)rk_builder_column(&w.rows, 1))[1] = INT64_MIN;
	((int32_t *)rk_builder_column(&w.rows, 2))[0] = -7;
	rk_builder_null(&w.rows, 2, 1);
	((double *)rk_builder_column(&w.rows, 3))[0] = 0.1;
	((double *)rk_builder_column(&w.rows, 3))[1] = NAN;
	((uint8_t *)rk_builder_column(&w.rows, 4))[0] = 1;
	((uint8_t *)rk_builder_column(&w.rows, 4))[1] = 0;
	w.rows.nrows = 2;
	CHECK_STR(text_world_write(&w, &rk_writer_csv, 1),
		  "name,big,small,value,flag,never\n"
		  "plain,9223372036854775807,-7,0.1,true,\n"
		  "\"a, \"\"b\"\"\",-9223372036854775808,,,false,\n");
	text_world_close(&w);
}

TEST(csv_of_no_rows_is_a_header)
{
	struct text_world w;

	text_world_open(&w, &some, 4);
	CHECK_STR(text_world_write(&w, &rk_writer_csv, 0), "name,big,small,value,flag,never\n");
	text_world_close(&w);
}

TEST(csv_larger_than_the_buffer_is_whole)
{
	struct text_world w;
	const char *text;

	text_world_open(&w, &some, 1024);
	for (size_t i = 0; i < 1024; i++)
		((int64_t *)rk_builder_column(&w.rows, 1))[i] = (int64_t)i;
	w.rows.nrows = 1024;
	text = text_world_write(&w, &rk_writer_csv, 100);
	CHECK_U64(text_world_lines(text), 1024 * 100 + 1);
	text_world_close(&w);
}

TEST(csv_reports_a_full_disk)
{
	struct rk_error err = { 0 };
	struct text_world w;

	text_world_open(&w, &some, 4);
	w.rows.nrows = 1;
	rk_output_fail_after(1, ENOSPC);
	CHECK(text_world_try(&w, &rk_writer_csv, 1, &err) == RK_E_IO);
	rk_output_fail_after(0, 0);
	CHECK(strstr(err.message, "No space left") != NULL);
	text_world_close(&w);
}

TEST(csv_survives_each_failed_allocation)
{
	struct text_world w;

	text_world_open(&w, &some, 4);
	((int64_t *)rk_builder_column(&w.rows, 1))[0] = 1;
	text_world_name(&w, 0, 0, "k");
	w.rows.nrows = 1;
	text_world_fail_each(&w, &rk_writer_csv);
	text_world_close(&w);
}
