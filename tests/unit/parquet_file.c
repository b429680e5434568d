/* parquet_file.c - tables into Parquet files and back, whole, damaged, and in want of memory. */
#include <errno.h>
#include <math.h>

#include "codec/parquet/meta.h"
#include "codec/thrift.h"
#include "parquet_world.h"

static uint64_t mixed(uint64_t a, uint64_t b)
{
	uint64_t x = (a + 1) * 0x9e3779b97f4a7c15u + (b + 1) * 0xc2b2ae3d27d4eb4fu;

	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9u;
	return x ^ x >> 32;
}

static double some_double(unsigned kind, size_t row, unsigned field)
{
	switch (kind % 4) {
	case 0:
		return 0.1 * (double)(row % 9);
	case 1:
		return row % 4 ? -0.0 : (double)INFINITY;
	case 2:
		return row % 50 ? (double)row : (double)NAN;
	default:
		return (double)(int64_t)mixed(row, field);
	}
}

static int64_t some_integer(unsigned kind, size_t row, unsigned field, bool wide)
{
	switch (kind % 8) {
	case 0:
		return -3;
	case 1:
		return (int64_t)(mixed(row, field) % 200);
	case 2:
		return (int64_t)row * 1000 + (int64_t)(mixed(row, field) % 999);
	case 3:
		return wide ? (int64_t)mixed(row, field) : (int32_t)mixed(row, field);
	case 4:
		return row % 2 ? (wide ? INT64_MAX : INT32_MAX) : (wide ? INT64_MIN : INT32_MIN);
	case 5:
		return -(int64_t)row;
	case 6:
		return (int64_t)(row / 777);
	default:
		return (int64_t)(mixed(row, field) % 3000) * 1001;
	}
}

static uint64_t some_value(const struct parquet_world *w, enum rk_type type, unsigned kind,
			   size_t row, unsigned field)
{
	uint64_t word;
	double v;

	switch (type) {
	case RK_STR:
		return w->ids[kind % 3 == 0 ? 7 : mixed(row, field) % 64];
	case RK_BOOL:
		return kind % 2 ? mixed(row, field) & 1 : row / 500 & 1;
	case RK_F64:
		v = some_double(kind, row, field);
		memcpy(&word, &v, 8);
		return word;
	default:
		return (uint64_t)some_integer(kind, row, field, type == RK_I64);
	}
}

static bool some_null(unsigned kind, size_t row, unsigned field)
{
	switch (kind % 7) {
	case 1:
		return true;
	case 2:
		return row % 2;
	case 3:
		return mixed(row, field + 99) % 10 == 0;
	case 4:
		return row < 9000;
	case 5:
		return row >= 9000;
	case 6:
		return row != 16999;
	default:
		return false;
	}
}

static unsigned shift; /* moves the patterns from field to field */

static bool any_value(const struct parquet_world *w, const struct rk_schema *s, unsigned field,
		      size_t row, uint64_t *ret)
{
	if (some_null((field + shift) / 2, row, field))
		return false;
	*ret = some_value(w, s->fields[field].type, field + shift, row, field);
	return true;
}

static void check_round_trip(const struct rk_schema *schema, size_t rows, size_t batch,
			     parquet_value *value)
{
	struct rk_error err = { 0 };
	struct parquet_world w;
	size_t got = 0, wrong = 1;

	parquet_world_open(&w);
	CHECK_I64(parquet_world_write(&w, schema, rows, batch, value, &err), 0);
	CHECK_STR(err.message, "");
	CHECK_I64(parquet_world_read(&w, RK_WANT_ALL, value, &got, &wrong, &err), 0);
	CHECK_STR(err.message, "");
	CHECK_U64(got, rows);
	CHECK_U64(wrong, 0);
	parquet_world_close(&w);
}

TEST(parquet_values_and_nulls_of_every_pattern_come_back)
{
	for (shift = 0; shift < 14; shift++)
		check_round_trip(rk_table_schema(RK_KERNELS), 17001, 8192, any_value);
	for (shift = 0; shift < 4; shift++)
		check_round_trip(rk_table_schema(RK_COUNTERS), 17001, 5000, any_value);
	shift = 0;
}

TEST(parquet_files_of_every_table_come_back)
{
	for (int t = 0; t < RK_NTABLES; t++)
		check_round_trip(rk_table_schema((enum rk_table)t), 100, 33, any_value);
}

TEST(parquet_files_without_rows_or_with_one_come_back)
{
	check_round_trip(rk_table_schema(RK_KERNELS), 0, 100, any_value);
	check_round_trip(rk_table_schema(RK_KERNELS), 1, 100, any_value);
}

static bool few_columns(const struct parquet_world *w, const struct rk_schema *s, unsigned field,
			size_t row, uint64_t *ret)
{
	if (field != RK_K_NAME && field != RK_K_START && field != RK_K_GRID_X)
		return false;
	if (field == RK_K_GRID_X && row / 20000 % 2)
		return false;
	*ret = some_value(w, s->fields[field].type, field + 1, row, field);
	return true;
}

TEST(parquet_files_of_several_row_groups_come_back)
{
	check_round_trip(rk_table_schema(RK_KERNELS), 300000, 8192, few_columns);
}

/* Texts of their own in nearly every row: a dictionary would not pay. */
static bool own_texts(const struct parquet_world *w, const struct rk_schema *s, unsigned field,
		      size_t row, uint64_t *ret)
{
	char text[64];
	uint32_t id;
	int len;

	(void)s;
	if (field != RK_R_NAME)
		return false;
	len = snprintf(text, sizeof(text), "marker %zu", row < 5000 ? row % 10 : row);
	if (rk_strtab_add(w->ctx.names, text, (size_t)len, &id, NULL) < 0)
		return false;
	*ret = id;
	return true;
}

TEST(parquet_strings_that_never_repeat_come_back)
{
	check_round_trip(rk_table_schema(RK_MARKERS), 40000, 5000, own_texts);
}

TEST(parquet_counters_behind_the_kernels_come_back)
{
	const struct rk_schema *std = rk_table_schema(RK_KERNELS);
	struct rk_field fields[RK_K_NFIELDS + 100];
	char names[100][16];
	struct rk_schema wide = *std;

	memcpy(fields, std->fields, sizeof(*fields) * RK_K_NFIELDS);
	for (unsigned i = 0; i < 100; i++) {
		snprintf(names[i], sizeof(names[i]), "SQ_%u", i);
		fields[RK_K_NFIELDS + i] = (struct rk_field){ .name = names[i], .type = RK_F64 };
	}
	wide.fields = fields;
	wide.nfields = RK_K_NFIELDS + 100;
	check_round_trip(&wide, 6000, 2000, any_value);
}

static bool older_agents(const struct parquet_world *w, const struct rk_schema *s, unsigned field,
			 size_t row, uint64_t *ret)
{
	return field <= RK_G_NODE && any_value(w, s, field, row, ret);
}

TEST(parquet_files_of_before_a_table_grew_are_read)
{
	struct rk_schema older = *rk_table_schema(RK_AGENTS);

	older.nfields = RK_G_NODE + 1;
	check_round_trip(&older, 20, 20, older_agents);
}

static double odd_real = 1; /* what row 9000 of the column `rank` has */

/* Integers, or what pandas makes of them where some are null: NaN for those. */
static bool reals(const struct parquet_world *w, const struct rk_schema *s, unsigned field,
		  size_t row, uint64_t *ret)
{
	const bool real = s->fields[field].type == RK_F64;
	double v = field == RK_K_RANK ? (double)(row % 1000) - 7 : -0x1p53;

	(void)w;
	if (field != RK_K_RANK && field != RK_K_PID && field != RK_K_TID)
		return false;
	v = field == RK_K_RANK && row == 9000 ? odd_real : v;
	if (row % 5 == 3 || (field == RK_K_TID && row < 9000))
		v = (double)NAN;
	if (isnan(v) && (!real || row % 2))
		return false;
	if (real)
		memcpy(ret, &v, 8);
	else
		*ret = (uint64_t)(int64_t)v;
	return true;
}

static void write_reals(struct parquet_world *w)
{
	struct rk_field fields[RK_K_NFIELDS];
	struct rk_schema schema = *rk_table_schema(RK_KERNELS);
	struct rk_error err = { 0 };

	memcpy(fields, schema.fields, sizeof(fields));
	fields[RK_K_RANK].type = fields[RK_K_PID].type = fields[RK_K_TID].type = RK_F64;
	schema.fields = fields;
	CHECK_I64(parquet_world_write(w, &schema, 20000, 8192, reals, &err), 0);
}

TEST(parquet_doubles_are_read_where_integers_are_due_and_no_digit_is_lost)
{
	static const struct {
		double v;
		const char *says;
	} bad[] = { { 0.5, "column 'rank', row 9001: 0.5 is not an integer" },
		    { 0x1p54, "column 'rank', row 9001: 18014398509481984 is above 2^53, where "
			      "floating-point numbers skip integers; write the column as "
			      "integers" },
		    { (double)-INFINITY, "column 'rank', row 9001: -inf is not an integer" },
		    { 0x1p31, "column 'rank': 2147483648 (2147483648) is out of range" } };
	struct parquet_world w;
	struct rk_error err = { 0 };
	size_t got = 0, wrong = 1;

	parquet_world_open(&w);
	write_reals(&w);
	CHECK_I64(parquet_world_read(&w, RK_WANT_ALL, reals, &got, &wrong, &err), 0);
	CHECK_STR(err.message, "");
	CHECK_U64(got, 20000);
	CHECK_U64(wrong, 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		odd_real = bad[i].v;
		write_reals(&w);
		odd_real = 1;
		err = (struct rk_error){ 0 };
		CHECK_I64(parquet_world_read(&w, RK_WANT_ALL, reals, &got, &wrong, &err),
			  RK_E_FORMAT);
		CHECK_STR(err.message, bad[i].says);
	}
	parquet_world_close(&w);
}

TEST(parquet_scan_leaves_out_what_is_not_wanted)
{
	const uint64_t want = 1u << RK_K_START | 1u << RK_K_GRID_X;
	struct rk_error err = { 0 };
	struct parquet_world w;
	size_t rows = 0, wrong = 1;

	parquet_world_open(&w);
	CHECK(parquet_world_write(&w, rk_table_schema(RK_KERNELS), 1000, 300, few_columns, &err) ==
	      0);
	CHECK(parquet_world_read(&w, want, few_columns, &rows, &wrong, &err) == 0);
	CHECK_U64(rows, 1000);
	CHECK_U64(wrong, 0);
	CHECK(parquet_world_read(&w, 0, few_columns, &rows, &wrong, &err) == 0);
	CHECK_U64(rows, 1000);
	CHECK_U64(wrong, 0);
	parquet_world_close(&w);
}

static char big[100000];

static bool odd_texts(const struct parquet_world *w, const struct rk_schema *s, unsigned field,
		      size_t row, uint64_t *ret)
{
	static const struct {
		const char *text;
		size_t len;
	} odd[] = { { "", 0 }, { "nul\0in", 6 }, { "\xc3\xa4", 2 }, { big, sizeof(big) } };
	uint32_t id;

	(void)s;
	memset(big, 'y', sizeof(big));
	if (field != RK_K_NAME ||
	    rk_strtab_add(w->ctx.names, odd[row % 4].text, odd[row % 4].len, &id, NULL) < 0)
		return false;
	*ret = id;
	return true;
}

TEST(parquet_empty_long_and_odd_strings_come_back)
{
	check_round_trip(rk_table_schema(RK_KERNELS), 100, 33, odd_texts);
}

static bool bad_text(const struct parquet_world *w, const struct rk_schema *s, unsigned field,
		     size_t row, uint64_t *ret)
{
	uint32_t id;

	(void)s;
	(void)row;
	if (field != RK_K_NAME || rk_strtab_add(w->ctx.names,
						"a\xff"
						"b",
						3, &id, NULL) < 0)
		return false;
	*ret = id;
	return true;
}

static bool good_text(const struct parquet_world *w, const struct rk_schema *s, unsigned field,
		      size_t row, uint64_t *ret)
{
	uint32_t id;

	(void)s;
	(void)row;
	if (field != RK_K_NAME || rk_strtab_add(w->ctx.names,
						"a\xef\xbf\xbd"
						"b",
						5, &id, NULL) < 0)
		return false;
	*ret = id;
	return true;
}

TEST(parquet_strings_are_made_valid_utf8)
{
	struct rk_error err = { 0 };
	struct parquet_world w;
	size_t wrong = 1;

	parquet_world_open(&w);
	CHECK(parquet_world_write(&w, rk_table_schema(RK_KERNELS), 10, 10, bad_text, &err) == 0);
	CHECK(parquet_world_read(&w, RK_WANT_ALL, good_text, NULL, &wrong, &err) == 0);
	CHECK_U64(wrong, 0);
	parquet_world_close(&w);
}

static void put_file(const struct parquet_world *w, const uint8_t *bytes, size_t len)
{
	FILE *f = fopen(w->path, "wb");

	CHECK(f && fwrite(bytes, 1, len, f) == len);
	if (f)
		fclose(f);
}

/* A file of one column `pid` of 32-bit reals; parquet.thrift has the numbers of the fields. */
static void float_footer(struct rk_bytes *out, int64_t rows, int64_t bytes)
{
	struct rk_thrift_writer t;

	rk_thrift_begin(&t, out);
	rk_thrift_put_list(&t, 2, RK_THRIFT_STRUCT, 2);
	rk_thrift_elem_struct(&t);
	rk_thrift_put_text(&t, 4, "schema");
	rk_thrift_put_i32(&t, 5, 1);
	rk_thrift_end(&t);
	rk_thrift_elem_struct(&t);
	rk_thrift_put_i32(&t, 1, RK_PQ_FLOAT);
	rk_thrift_put_text(&t, 4, "pid");
	rk_thrift_end(&t);
	rk_thrift_put_i64(&t, 3, rows);
	rk_thrift_put_list(&t, 4, RK_THRIFT_STRUCT, 1);
	rk_thrift_elem_struct(&t);
	rk_thrift_put_list(&t, 1, RK_THRIFT_STRUCT, 1);
	rk_thrift_elem_struct(&t);
	rk_thrift_put_struct(&t, 3);
	rk_thrift_put_i32(&t, 1, RK_PQ_FLOAT);
	rk_thrift_put_i32(&t, 4, 0); /* not compressed */
	rk_thrift_put_i64(&t, 5, rows);
	rk_thrift_put_i64(&t, 7, bytes);
	rk_thrift_put_i64(&t, 9, 4);
	rk_thrift_end(&t);
	rk_thrift_end(&t);
	rk_thrift_put_i64(&t, 3, rows);
	rk_thrift_end(&t);
	rk_thrift_put_list(&t, 5, RK_THRIFT_STRUCT, 1);
	rk_thrift_elem_struct(&t);
	rk_thrift_put_text(&t, 1, "rockit.table");
	rk_thrift_put_text(&t, 2, "kernels");
	rk_thrift_end(&t);
	rk_thrift_end(&t);
}

static void put_floats(const struct parquet_world *w, const float *v, size_t n)
{
	struct rk_thrift_writer t;
	struct rk_bytes out;
	uint32_t len;
	size_t from;

	rk_bytes_init(&out, 1 << 20);
	rk_bytes_puts(&out, "PAR1");
	rk_thrift_begin(&t, &out);
	rk_thrift_put_i32(&t, 1, RK_PQ_DATA_PAGE);
	rk_thrift_put_i32(&t, 2, (int32_t)(n * sizeof(*v)));
	rk_thrift_put_i32(&t, 3, (int32_t)(n * sizeof(*v)));
	rk_thrift_put_struct(&t, 5);
	rk_thrift_put_i32(&t, 1, (int32_t)n);
	rk_thrift_put_i32(&t, 2, RK_PQ_PLAIN);
	rk_thrift_end(&t);
	rk_thrift_end(&t);
	rk_bytes_put(&out, v, n * sizeof(*v));
	from = out.len;
	float_footer(&out, (int64_t)n, (int64_t)from - 4);
	len = (uint32_t)(out.len - from);
	rk_bytes_put(&out, &len, sizeof(len));
	rk_bytes_puts(&out, "PAR1");
	CHECK(!out.bad);
	put_file(w, out.data, out.len);
	rk_bytes_release(&out);
}

static bool floats(const struct parquet_world *w, const struct rk_schema *s, unsigned field,
		   size_t row, uint64_t *ret)
{
	static const int64_t values[] = { 1 << 24, -(1 << 24), 0, 7 };

	(void)w;
	(void)s;
	if (field == RK_K_PID && row != 2)
		*ret = (uint64_t)values[row];
	return field == RK_K_PID && row != 2;
}

TEST(parquet_32_bit_reals_are_integers_up_to_2_to_the_24th)
{
	static const float good[] = { 0x1p24f, -0x1p24f, NAN, 7 };
	static const struct {
		float v;
		const char *says;
	} bad[] = { { 0x1p24f + 2, "column 'pid', row 2: 16777218 is above 2^24, where 32-bit "
				   "floating-point numbers skip integers; write the column as "
				   "integers" },
		    { 0.5f, "column 'pid', row 2: 0.5 is not an integer" },
		    { INFINITY, "column 'pid', row 2: inf is not an integer" } };
	struct parquet_world w;
	struct rk_error err = { 0 };
	size_t rows = 0, wrong = 1;

	parquet_world_open(&w);
	put_floats(&w, good, 4);
	CHECK_I64(parquet_world_read(&w, RK_WANT_ALL, floats, &rows, &wrong, &err), 0);
	CHECK_STR(err.message, "");
	CHECK_U64(rows, 4);
	CHECK_U64(wrong, 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		put_floats(&w, (const float[]){ 1, bad[i].v }, 2);
		err = (struct rk_error){ 0 };
		CHECK_I64(parquet_world_read(&w, RK_WANT_ALL, NULL, NULL, NULL, &err), RK_E_FORMAT);
		CHECK_STR(err.message, bad[i].says);
	}
	parquet_world_close(&w);
}

/* A small file as bytes. */
static uint8_t *small_file(struct parquet_world *w, size_t *ret_len)
{
	struct rk_error err = { 0 };
	uint8_t *bytes = NULL;
	FILE *f;
	long len;

	CHECK(parquet_world_write(w, rk_table_schema(RK_API), 40, 40, any_value, &err) == 0);
	f = fopen(w->path, "rb");
	CHECK(f != NULL);
	if (!f)
		return NULL;
	fseek(f, 0, SEEK_END);
	len = ftell(f);
	rewind(f);
	bytes = malloc((size_t)len);
	*ret_len = fread(bytes, 1, (size_t)len, f);
	fclose(f);
	return bytes;
}

TEST(parquet_files_cut_anywhere_give_a_clean_error)
{
	struct parquet_world w;
	uint8_t *bytes;
	size_t len = 0, clean = 0;

	parquet_world_open(&w);
	bytes = small_file(&w, &len);
	for (size_t cut = 4; cut < len; cut++) {
		struct rk_error err = { 0 };

		put_file(&w, bytes, cut);
		clean += parquet_world_read(&w, RK_WANT_ALL, NULL, NULL, NULL, &err) < 0 &&
			 err.message[0] != '\0';
	}
	CHECK(len > 4);
	CHECK_U64(clean, len - 4);
	free(bytes);
	parquet_world_close(&w);
}

TEST(parquet_files_with_any_byte_changed_never_fault)
{
	static const uint8_t changes[] = { 0xff, 0x80, 0x01 };
	struct parquet_world w;
	uint8_t *bytes;
	size_t len = 0, quiet = 0;

	parquet_world_open(&w);
	bytes = small_file(&w, &len);
	for (size_t i = 0; i < len * 3; i++) {
		struct rk_error err = { 0 };
		int rc;

		bytes[i / 3] ^= changes[i % 3];
		put_file(&w, bytes, len);
		rc = parquet_world_read(&w, RK_WANT_ALL, NULL, NULL, NULL, &err);
		quiet += rc < 0 && !err.message[0];
		bytes[i / 3] ^= changes[i % 3];
	}
	CHECK_U64(quiet, 0);
	free(bytes);
	parquet_world_close(&w);
}

static void check_refused(struct parquet_world *w, const uint8_t *bytes, size_t len, int code,
			  const char *word)
{
	struct rk_error err = { 0 };

	put_file(w, bytes, len);
	CHECK_I64(parquet_world_read(w, RK_WANT_ALL, NULL, NULL, NULL, &err), code);
	CHECK_I64(err.code, code);
	if (!CHECK(strstr(err.message, word) != NULL))
		CHECK_STR(err.message, word);
	CHECK(strstr(err.file, "rockit-parquet") != NULL);
}

TEST(parquet_footers_longer_than_the_file_are_refused)
{
	struct parquet_world w;
	uint8_t *bytes;
	size_t len = 0;

	parquet_world_open(&w);
	bytes = small_file(&w, &len);
	bytes[len - 5] = 0x7f;
	check_refused(&w, bytes, len, RK_E_FORMAT, "does not fit");
	bytes[len - 1] = 'X';
	check_refused(&w, bytes, len, RK_E_FORMAT, "no Parquet footer");
	check_refused(&w, (const uint8_t *)"PAR1PAR1", 8, RK_E_FORMAT, "too short");
	check_refused(&w, (const uint8_t *)"PAR1\0\0\0\0PAR1", 12, RK_E_FORMAT, "damaged footer");
	free(bytes);
	parquet_world_close(&w);
}

TEST(parquet_probe_knows_the_magic)
{
	const struct rk_reader_ops *ops = rk_reader_by_name("parquet");

	CHECK(rk_reader_probe(ops, "PAR1....", 8, true) == 100);
	CHECK(rk_reader_probe(ops, "PAR", 3, true) == 0);
	CHECK(rk_reader_probe(ops, "PARE....", 8, true) == 0);
}

TEST(parquet_writer_in_want_of_memory_fails_cleanly)
{
	struct parquet_world w;
	int rc = -1;

	parquet_world_open(&w);
	for (uint64_t n = 1; n < 5000; n++) {
		struct rk_error err = { 0 };

		rk_alloc_fail_after(n);
		rc = parquet_world_write(&w, rk_table_schema(RK_API), 300, 150, any_value, &err);
		if (!rk_alloc_failed())
			break;
		/* A page that cannot be compressed is written as it is. */
		CHECK(rc == 0 || rc == RK_E_NOMEM);
	}
	rk_alloc_fail_after(0);
	CHECK_I64(rc, 0);
	parquet_world_close(&w);
}

TEST(parquet_reader_in_want_of_memory_fails_cleanly)
{
	struct rk_error err = { 0 };
	struct parquet_world w;
	int rc = -1;

	parquet_world_open(&w);
	CHECK(parquet_world_write(&w, rk_table_schema(RK_API), 300, 150, any_value, &err) == 0);
	for (uint64_t n = 1; n < 5000; n++) {
		err = (struct rk_error){ 0 };
		rk_alloc_fail_after(n);
		rc = parquet_world_read(&w, RK_WANT_ALL, NULL, NULL, NULL, &err);
		if (!rk_alloc_failed())
			break;
		CHECK_I64(rc, RK_E_NOMEM);
	}
	rk_alloc_fail_after(0);
	CHECK_I64(rc, 0);
	parquet_world_close(&w);
}

TEST(parquet_writes_that_fail_are_reported)
{
	struct parquet_world w;
	int rc = -1;

	parquet_world_open(&w);
	for (uint64_t n = 1; rc < 0 && n < 1000; n++) {
		struct rk_error err = { 0 };

		rk_output_fail_after(n, ENOSPC);
		rc = parquet_world_write(&w, rk_table_schema(RK_API), 20000, 5000, any_value, &err);
		CHECK(rc == 0 || err.code == RK_E_IO);
	}
	rk_output_fail_after(0, 0);
	CHECK_I64(rc, 0);
	parquet_world_close(&w);
}
