/* csv_row.c - one row, the fast way and the slow way. */
#include "codec/csv/scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "world.h"

enum { F_NAME, F_I64, F_I32, F_U32, F_TIME, F_U64, F_F64, F_AGENT, F_T0, F_NFIELDS = F_T0 + 5 };

static const struct rk_field fields[F_NFIELDS] = {
	{ "name", RK_STR }, { "i64", RK_I64 }, { "i32", RK_I32 }, { "u32", RK_I32 },
	{ "time", RK_I64 }, { "u64", RK_I64 }, { "f64", RK_F64 }, { "agent", RK_I64 },
	{ "t0", RK_I32 },   { "t1", RK_I32 },  { "t2", RK_I32 },  { "t3", RK_I32 },
	{ "t4", RK_I32 },
};
static const struct rk_schema schema = { RK_KERNELS, F_NFIELDS, fields, F_TIME };
static const struct rk_csv_bind binds[] = {
	{ "Kind", RK_CELL_SKIP, 0 },         { "Name", RK_CELL_STR, F_NAME },
	{ "I64", RK_CELL_I64, F_I64 },       { "I32", RK_CELL_I32, F_I32 },
	{ "U32", RK_CELL_U32, F_U32 },       { "Time", RK_CELL_TIME, F_TIME },
	{ "U64", RK_CELL_U64, F_U64 },       { "F64", RK_CELL_F64, F_F64 },
	{ "Agent", RK_CELL_AGENT, F_AGENT }, { "T0", RK_CELL_I32, F_T0 },
	{ "T1", RK_CELL_U32, F_T0 + 1 },     { "T2", RK_CELL_I32, F_T0 + 2 },
	{ "T3", RK_CELL_I32, F_T0 + 3 },     { "T4", RK_CELL_I32, F_T0 + 4 },
	{ NULL, RK_CELL_SKIP, 0 },
};
static const char wide[] = "Kind,Name,I64,I32,U32,Time,U64,F64,Agent,T0,T1,T2,T3,T4\n";

enum { PAD = 128 };

struct rows {
	struct world w;
	struct rk_csv_header h;
	struct rk_csv_plan plan;
	struct rk_builder fast, slow;
	struct rk_csv_memory *memory;
	char *fast_text, *slow_text; /* what each way made of the last row, "" when refused */
	int slow_rc;
	uint32_t notes;
	const char *next;
};

static void rows_open(struct rows *r, const char *header, const char *free_header, uint64_t want)
{
	*r = (struct rows){ 0 };
	world_open(&r->w, 1);
	CHECK_I64(rk_csv_header_parse(header, strlen(header), true, &r->h, NULL), 0);
	CHECK_I64(rk_csv_plan_make(&r->h, binds, free_header, want, &r->plan, NULL), 0);
	CHECK_I64(rk_builder_init(&r->fast, &schema, 1, NULL), 0);
	CHECK_I64(rk_builder_init(&r->slow, &schema, 1, NULL), 0);
	r->memory = calloc(1, sizeof(*r->memory));
}

static void rows_close(struct rows *r)
{
	free(r->fast_text);
	free(r->slow_text);
	free(r->memory);
	rk_builder_release(&r->fast);
	rk_builder_release(&r->slow);
	rk_csv_plan_release(&r->plan);
	rk_csv_header_release(&r->h);
	world_close(&r->w);
}

static char *text_of(struct rows *r, struct rk_builder *b)
{
	rk_bytes_clear(&r->w.text);
	b->nrows = 1;
	world_put(&r->w, rk_builder_batch(b));
	return strdup(rk_bytes_str(&r->w.text));
}

static char *go_fast(struct rows *r, const char *p, const char *end)
{
	struct rk_csv_sink sink;

	rk_builder_reset(&r->fast);
	CHECK_I64(rk_csv_sink_init(&sink, &r->plan, &r->fast, r->w.ctx.names, r->memory, NULL), 0);
	r->next = rk_csv_row_fast(&r->plan, p, end, &sink);
	if (!r->next)
		return strdup("");
	rk_csv_commit(&sink);
	CHECK(!sink.failed);
	return text_of(r, &r->fast);
}

static char *go_slow(struct rows *r, const char *p, size_t len)
{
	struct rk_csv_sink sink;

	rk_builder_reset(&r->slow);
	CHECK_I64(rk_csv_sink_init(&sink, &r->plan, &r->slow, r->w.ctx.names, NULL, NULL), 0);
	r->slow_rc = rk_csv_row_slow(&r->plan, p, len, &sink);
	r->notes = sink.notes;
	if (r->slow_rc != 1)
		return strdup("");
	rk_csv_commit(&sink);
	CHECK(!sink.failed);
	return text_of(r, &r->slow);
}

/* Both ways; where the fast one takes the row they must agree, and the slow one sees nothing odd. */
static bool try_row(struct rows *r, const char *text, size_t len)
{
	char *mem = calloc(1, len + 2 * PAD);
	char *p = mem + PAD;
	size_t bare = len;
	bool good = true;

	memcpy(p, text, len);
	free(r->fast_text);
	free(r->slow_text);
	bare -= bare && p[bare - 1] == '\n';
	bare -= bare && p[bare - 1] == '\r';
	r->fast_text = go_fast(r, p, p + len);
	r->slow_text = go_slow(r, p, bare);
	if (r->next) {
		good = CHECK(r->next == p + len) & CHECK_STR(r->fast_text, r->slow_text) &
		       CHECK_U64(r->notes, 0);
		if (!good)
			printf("# row: %.*s", (int)len, text);
	}
	free(mem);
	return good;
}

static bool try_text(struct rows *r, const char *text)
{
	return try_row(r, text, strlen(text));
}

TEST(a_plain_row_is_taken_the_fast_way)
{
	struct rows r;

	rows_open(&r, wide, "Name", RK_WANT_ALL);
	try_text(&r, "\"K\",\"f<int, 4>\",1,-0,3,4,0x10,5.000000,\"Agent 6\",1,2,3,4,5\n");
	CHECK_STR(r.fast_text, ""); /* a sign is odd enough */
	CHECK_STR(r.slow_text, "name=f<int, 4>|i64=1|i32=0|u32=3|time=4|u64=16|f64=5|agent=6|t0=1|"
			       "t1=2|t2=3|t3=4|t4=5\n");
	try_text(&r, "\"K\",\"f<int, 4>\",1,2,3,4,0x10,5.000000,\"Agent 6\",1,2,3,4,5\n");
	CHECK_STR(r.fast_text, "name=f<int, 4>|i64=1|i32=2|u32=3|time=4|u64=16|f64=5|agent=6|t0=1|"
			       "t1=2|t2=3|t3=4|t4=5\n");
	try_text(&r, "K,bare name,1,2,3,4,0x10,5,6,1,2,3,4,5\r\n");
	CHECK_STR(r.fast_text, "name=bare name|i64=1|i32=2|u32=3|time=4|u64=16|f64=5|agent=6|t0=1|"
			       "t1=2|t2=3|t3=4|t4=5\n");
	rows_close(&r);
}

TEST(empty_cells_are_null_and_empty_names_are_names)
{
	struct rows r;

	rows_open(&r, wide, "Name", RK_WANT_ALL);
	try_text(&r, "\"\",\"\",,,,,,,\"\",,,,,\n");
	CHECK_STR(r.slow_text, "name=\n");
	CHECK_U64(r.notes, 0);
	try_text(&r, ",,1,,,,,,,,,,,7\n");
	CHECK_STR(r.slow_text, "name=|i64=1|t4=7\n");
	try_text(&r, ",,1,,,,,,,,,,,"); /* the text ends in an empty cell */
	CHECK_STR(r.slow_text, "name=|i64=1\n");
	rows_close(&r);
}

/* Text, the I64 and TIME cells, and the notes. */
static const struct {
	const char *cell, *i64, *time;
	uint32_t note_i64, note_time;
} numbers[] = {
	{ "0", "0", "0", 0, 0 },
	{ "007", "7", "7", 0, 0 },
	{ "+7", "7", "7", 0, 0 },
	{ "-7", "-7", "-7", 0, 0 },
	{ "\"42\"", "42", "42", 0, 0 },
	{ " 42\t", "42", "42", 0, 0 },
	{ "9007199254740993", "9007199254740993", "9007199254740993", 0, 0 },
	{ "999999999999999999", "999999999999999999", "999999999999999999", 0, 0 },
	{ "1000000000000000000", "1000000000000000000", "1000000000000000000", 0, 0 },
	{ "9223372036854775807", "9223372036854775807", "9223372036854775807", 0, 0 },
	{ "-9223372036854775808", "-9223372036854775808", "-9223372036854775808", 0, 0 },
	{ "0000000000000000000000000000005", "5", "5", 0, 0 },
	{ "9223372036854775808", NULL, NULL, 1u << RK_NOTE_RANGE, 1u << RK_NOTE_RANGE },
	{ "18446744073709551615", NULL, NULL, 1u << RK_NOTE_RANGE, 1u << RK_NOTE_RANGE },
	{ "99999999999999999999999", NULL, NULL, 1u << RK_NOTE_RANGE, 1u << RK_NOTE_RANGE },
	{ "1248227257271964.0", "1248227257271964", "1248227257271964", 0, 0 },
	{ "1248227257271964.000", "1248227257271964", "1248227257271964", 0, 0 },
	{ "12.75", "12", "12", 1u << RK_NOTE_FRACTION, 1u << RK_NOTE_FRACTION },
	{ "8.1097E+14", NULL, NULL, 1u << RK_NOTE_BAD_NUMBER, 1u << RK_NOTE_DAMAGED_TIME },
	{ "1e3", NULL, NULL, 1u << RK_NOTE_BAD_NUMBER, 1u << RK_NOTE_DAMAGED_TIME },
	{ "12x", NULL, NULL, 1u << RK_NOTE_BAD_NUMBER, 1u << RK_NOTE_BAD_NUMBER },
	{ "-", NULL, NULL, 1u << RK_NOTE_BAD_NUMBER, 1u << RK_NOTE_BAD_NUMBER },
	{ "nan", NULL, NULL, 1u << RK_NOTE_BAD_NUMBER, 1u << RK_NOTE_BAD_NUMBER },
	{ "1.2.3", NULL, NULL, 1u << RK_NOTE_BAD_NUMBER, 1u << RK_NOTE_BAD_NUMBER },
	{ "0x10", NULL, NULL, 1u << RK_NOTE_BAD_NUMBER, 1u << RK_NOTE_BAD_NUMBER },
};

static void check_cell(struct rows *r, const char *column, const char *cell, const char *want,
		       uint32_t note)
{
	char text[256], expected[128] = "\n";

	/* in front, in the middle and at the end of a row */
	snprintf(text, sizeof(text), "%s\n", cell);
	if (want)
		snprintf(expected, sizeof(expected), "%s=%s\n", column, want);
	try_text(r, text);
	if (!CHECK_STR(r->slow_text, expected) || !CHECK_U64(r->notes, note))
		printf("# cell %s\n", cell);
	text[strlen(text) - 1] = '\0';
	try_text(r, text);
	CHECK_STR(r->slow_text, expected);
}

TEST(numbers_are_exact_or_missing_and_noted)
{
	struct rows r;

	rows_open(&r, "I64\n", NULL, RK_WANT_ALL);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		check_cell(&r, "i64", numbers[i].cell, numbers[i].i64, numbers[i].note_i64);
	rows_close(&r);
	rows_open(&r, "Time\n", NULL, RK_WANT_ALL);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		check_cell(&r, "time", numbers[i].cell, numbers[i].time, numbers[i].note_time);
	rows_close(&r);
}

TEST(numbers_of_one_to_twenty_digits_are_the_same_both_ways)
{
	char text[128], want[128];
	struct rows r;

	rows_open(&r, "Time,I64,I32\n", NULL, RK_WANT_ALL);
	for (int digits = 1; digits <= 20; digits++) {
		for (int lead = 1; lead <= 9; lead += 4) {
			char n[32];

			memset(n, '0' + lead, (size_t)digits);
			n[digits] = '\0';
			snprintf(text, sizeof(text), "%s,%s,1\n", n, n);
			try_text(&r, text);
			if (digits < 19 || (digits == 19 && lead < 9)) {
				snprintf(want, sizeof(want), "i64=%s|i32=1|time=%s\n", n, n);
				CHECK_STR(r.slow_text, want);
				CHECK(digits > 18 || r.fast_text[0]);
			} else {
				CHECK_STR(r.slow_text, "i32=1\n");
			}
		}
	}
	rows_close(&r);
}

TEST(small_columns_refuse_large_numbers)
{
	struct rows r;

	rows_open(&r, "I32\n", NULL, RK_WANT_ALL);
	check_cell(&r, "i32", "2147483647", "2147483647", 0);
	check_cell(&r, "i32", "2147483648", NULL, 1u << RK_NOTE_RANGE);
	check_cell(&r, "i32", "-2147483648", "-2147483648", 0);
	check_cell(&r, "i32", "-2147483649", NULL, 1u << RK_NOTE_RANGE);
	check_cell(&r, "i32", "4294967296", NULL, 1u << RK_NOTE_RANGE);
	rows_close(&r);
	rows_open(&r, "U32\n", NULL, RK_WANT_ALL);
	check_cell(&r, "u32", "2147483648", "-2147483648", 0);
	check_cell(&r, "u32", "4294967295", "-1", 0);
	check_cell(&r, "u32", "4294967296", NULL, 1u << RK_NOTE_RANGE);
	check_cell(&r, "u32", "-1", NULL, 1u << RK_NOTE_RANGE);
	rows_close(&r);
}

TEST(addresses_keep_all_64_bits)
{
	struct rows r;

	rows_open(&r, "U64\n", NULL, RK_WANT_ALL);
	check_cell(&r, "u64", "\"0x00007f12cafe0000\"", "139718691782656", 0);
	check_cell(&r, "u64", "0xFfFfFfFfFfFfFfFf", "-1", 0);
	check_cell(&r, "u64", "0x0", "0", 0);
	check_cell(&r, "u64", "18446744073709551615", "-1", 0);
	check_cell(&r, "u64", "18446744073709551616", NULL, 1u << RK_NOTE_RANGE);
	check_cell(&r, "u64", "0x10000000000000000", NULL, 1u << RK_NOTE_RANGE);
	check_cell(&r, "u64", "0x", NULL, 1u << RK_NOTE_BAD_NUMBER);
	check_cell(&r, "u64", "0xg", NULL, 1u << RK_NOTE_BAD_NUMBER);
	check_cell(&r, "u64", "-1", NULL, 1u << RK_NOTE_BAD_NUMBER);
	check_cell(&r, "u64", "\"\"", NULL, 0);
	rows_close(&r);
}

TEST(decimals_of_counters_are_read_exactly)
{
	struct rows r;

	rows_open(&r, "F64\n", NULL, RK_WANT_ALL);
	check_cell(&r, "f64", "0.00000000e+00", "0", 0);
	check_cell(&r, "f64", "16384.000000", "16384", 0);
	check_cell(&r, "f64", "\"16384\"", "16384", 0);
	check_cell(&r, "f64", "0.5", "0.5", 0);
	check_cell(&r, "f64", ".5", "0.5", 0);
	check_cell(&r, "f64", "5.", "5", 0);
	check_cell(&r, "f64", "-1.5e3", "-1500", 0);
	check_cell(&r, "f64", "9007199254740993", "9007199254740992", 0);
	check_cell(&r, "f64", "18446744073709551615", "1.8446744073709552e+19", 0);
	check_cell(&r, "f64", "1e999", NULL, 1u << RK_NOTE_RANGE);
	check_cell(&r, "f64", "inf", NULL, 1u << RK_NOTE_BAD_NUMBER);
	check_cell(&r, "f64", "nan", NULL, 1u << RK_NOTE_BAD_NUMBER);
	check_cell(&r, "f64", "", NULL, 0);
	rows_close(&r);
}

TEST(agents_are_numbers_however_they_are_written)
{
	struct rows r;

	rows_open(&r, "Agent\n", NULL, RK_WANT_ALL);
	check_cell(&r, "agent", "8", "8", 0);
	check_cell(&r, "agent", "\"8\"", "8", 0);
	check_cell(&r, "agent", "\"Agent 12\"", "12", 0);
	check_cell(&r, "agent", "\"GPU 3\"", "3", 0);
	check_cell(&r, "agent", "\"CPU 0\"", "-1", 0);
	check_cell(&r, "agent", "\"cpu 2\"", "-3", 0);
	check_cell(&r, "agent", "Agent 12", "12", 0);
	check_cell(&r, "agent", "\"agent 12\"", "12", 0);
	check_cell(&r, "agent", "\"\"", NULL, 0);
	check_cell(&r, "agent", "\"Agent \"", NULL, 1u << RK_NOTE_BAD_NUMBER);
	check_cell(&r, "agent", "\"NIC 3\"", NULL, 1u << RK_NOTE_BAD_NUMBER);
	rows_close(&r);
}

/* Names as rocprofv3 writes them: in quotes that hide nothing. */
static const char *const awkward[] = {
	"f",
	"",
	" ",
	"a,b",
	"a, b, c",
	"x\"y",
	"\"",
	"\"\"",
	"a\",\"b",
	"a\",b",
	"a,\"b",
	",",
	",,,",
	"void k<float, 4>(float*, int)",
	"f(\"s\", 1)",
	"1,2,3,4,5",
	"\",1,2,3,",
	"a\rb",
	"ends in a comma,",
	"\xff\xfe",
	"tab\there",
};

TEST(awkward_names_are_counted_from_both_ends)
{
	char text[256], want[256];
	struct rows r;

	rows_open(&r, wide, "Name", RK_WANT_ALL);
	for (size_t i = 0; i < sizeof(awkward) / sizeof(awkward[0]); i++) {
		snprintf(text, sizeof(text),
			 "\"K\",\"%s\",11,12,13,14,15,16.0,\"Agent 17\",1,2,3,4,5\n", awkward[i]);
		snprintf(want, sizeof(want),
			 "name=%s|i64=11|i32=12|u32=13|time=14|u64=15|f64=16|agent=17|t0=1|t1=2|"
			 "t2=3|t3=4|t4=5\n",
			 awkward[i]);
		/* two quotes in quotes are how RFC 4180 writes one */
		if (!strcmp(awkward[i], "\"\""))
			memmove(want + 5, want + 6, strlen(want + 5));
		try_text(&r, text);
		CHECK_STR(r.slow_text, want);
	}
	rows_close(&r);
}

TEST(a_name_with_doubled_quotes_is_undoubled)
{
	struct rows r;

	rows_open(&r, wide, "Name", RK_WANT_ALL);
	try_text(&r, "K,\"say \"\"hi, you\"\"\",1,2,3,4,5,6,7,1,2,3,4,5\n");
	CHECK_STR(r.slow_text, "name=say \"hi, you\"|i64=1|i32=2|u32=3|time=4|u64=5|f64=6|agent=7|"
			       "t0=1|t1=2|t2=3|t3=4|t4=5\n");
	rows_close(&r);
}

TEST(rows_too_short_and_too_long_are_distinguished)
{
	struct rows r;

	rows_open(&r, "Name,I64,I32\n", NULL, RK_WANT_ALL);
	try_text(&r, "a,1\n");
	CHECK_I64(r.slow_rc, 0);
	try_text(&r, "a,1,2,3\n");
	CHECK_I64(r.slow_rc, 2);
	try_text(&r, "a,1,2,\n"); /* an empty cell too many is none */
	CHECK_I64(r.slow_rc, 1);
	CHECK_STR(r.slow_text, "name=a|i64=1|i32=2\n");
	try_text(&r, "a,1,2,,\n");
	CHECK_I64(r.slow_rc, 2);
	try_text(&r, "a\n");
	CHECK_I64(r.slow_rc, 0);
	rows_close(&r);
}

TEST(equal_tails_give_equal_numbers_and_others_do_not_mix_in)
{
	char text[512], want[512];
	uint64_t seed = 77;
	struct rows r;

	rows_open(&r, wide, "Name", RK_WANT_ALL);
	for (int i = 0; i < 20000; i++) {
		unsigned kernel = (unsigned)(world_random(&seed) % 3000);
		unsigned digits = kernel % 3 == 0 ? 2000000000 : kernel % 3 == 1 ? 64 : 7;

		snprintf(text, sizeof(text), "K,n,1,2,3,4,0x5,6,7,%u,%u,%u,%u,%u%s", kernel, digits,
			 digits, digits, kernel / 3, i % 2 ? "\n" : "\r\n");
		snprintf(want, sizeof(want),
			 "name=n|i64=1|i32=2|u32=3|time=4|u64=5|f64=6|agent=7|t0=%u|t1=%u|t2=%u|"
			 "t3=%u|t4=%u\n",
			 kernel, digits, digits, digits, kernel / 3);
		try_text(&r, text);
		if (!CHECK_STR(r.fast_text, want))
			break;
	}
	rows_close(&r);
}

TEST(a_tail_longer_than_its_slot_is_parsed_each_time)
{
	char text[512];
	struct rows r;

	rows_open(&r, wide, "Name", RK_WANT_ALL);
	for (int i = 0; i < 3; i++) {
		snprintf(text, sizeof(text), "K,n,1,2,3,4,0x5,6,7,%016d,%016d,%016d,%016d,%016d%s",
			 21, 22, 23, 24, 25 + i, i == 2 ? "" : "\n");
		try_text(&r, text);
		CHECK_STR(r.fast_text, i == 0 ? "name=n|i64=1|i32=2|u32=3|time=4|u64=5|f64=6|"
						"agent=7|t0=21|t1=22|t2=23|t3=24|t4=25\n" :
				       i == 1 ? "name=n|i64=1|i32=2|u32=3|time=4|u64=5|f64=6|"
						"agent=7|t0=21|t1=22|t2=23|t3=24|t4=26\n" :
						"name=n|i64=1|i32=2|u32=3|time=4|u64=5|f64=6|"
						"agent=7|t0=21|t1=22|t2=23|t3=24|t4=27\n");
	}
	rows_close(&r);
}

TEST(a_known_tail_does_not_match_the_beginning_of_a_longer_one)
{
	static const char head[] = "K,n,1,2,3,4,0x5,6,7,";
	static const char *const tails[] = { "1,2,3,4,5\n",   "1,2,3,4,5", "1,2,3,4,56\n",
					     "1,2,3,4,5,6\n", "1,2,3,4\n", "1,2,3,4,5\r\n" };
	static const char *const last[] = { "5", "5", "56", NULL, NULL, "5" };
	char text[128], want[256];
	struct rows r;

	rows_open(&r, wide, "Name", RK_WANT_ALL);
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < 6; i++) {
			snprintf(text, sizeof(text), "%s%s", head, tails[i]);
			snprintf(want, sizeof(want),
				 "name=n|i64=1|i32=2|u32=3|time=4|u64=5|f64=6|agent=7|t0=1|t1=2|"
				 "t2=3|t3=4|t4=%s\n",
				 last[i] ? last[i] : "");
			try_text(&r, text);
			CHECK_STR(r.fast_text, last[i] ? want : "");
		}
	}
	rows_close(&r);
}

TEST(remembered_heads_names_and_tails_never_mix_up_rows)
{
	char text[512], want[512];
	uint64_t seed = 99;
	struct rows r;

	rows_open(&r, "I64,I32,Agent,Name,Time,T0,T1,T2,T3\n", "Name", RK_WANT_ALL);
	for (int i = 0; i < 30000; i++) {
		unsigned head = (unsigned)(world_random(&seed) % 40), tail = head % 7 * 1000;
		unsigned long start =
			(unsigned long)(world_random(&seed) >> world_random(&seed) % 60);

		start %= 1000000000000000000ul;
		snprintf(text, sizeof(text),
			 "%u,%u,\"Agent %u\",\"name %u, of %u\",%lu,%u,%u,7,%u%s", head,
			 head / 3 * 100, head % 5, head % 11, head / 11, start, tail, head,
			 tail / 7, i % 3 ? "\n" : "\r\n");
		snprintf(
			want, sizeof(want),
			"name=name %u, of %u|i64=%u|i32=%u|time=%lu|agent=%u|t0=%u|t1=%u|t2=7|t3=%u\n",
			head % 11, head / 11, head, head / 3 * 100, start, head % 5, tail, head,
			tail / 7);
		try_text(&r, text);
		if (!CHECK_STR(r.fast_text, want))
			break;
	}
	rows_close(&r);
}

TEST(columns_nobody_wants_are_passed_over)
{
	struct rows r;

	rows_open(&r, wide, "Name", 1u << F_NAME | 1u << F_TIME);
	try_text(&r, "K,n,1,2,3,4,0x5,6,7,1,2,3,4,5\n");
	CHECK_STR(r.fast_text, "name=n|time=4\n");
	try_text(&r, "K,\"a\",\"b\",1,2,3,4,0x5,6,\"Agent 1\",1,2,3,4,5\n");
	CHECK_STR(r.slow_text, "name=a\",\"b|time=4\n");
	rows_close(&r);
	rows_open(&r, "Name,Time,Unknown,Also\n", NULL, 1u << F_TIME);
	try_text(&r, "\"a, b\",12,\"x, y\",\n");
	CHECK_STR(r.fast_text, "time=12\n");
	rows_close(&r);
}

TEST(of_two_columns_of_one_name_the_first_counts)
{
	struct rows r;

	rows_open(&r, "I64,I64,Name\n", NULL, RK_WANT_ALL);
	try_text(&r, "1,2,n\n");
	CHECK_STR(r.fast_text, "name=n|i64=1\n");
	rows_close(&r);
}

/* A cell of some kind, mostly good. */
static void put_cell(struct rk_bytes *out, enum rk_cell cell, uint64_t *seed)
{
	static const char *const odd[] = { "",
					   "\"\"",
					   "-5",
					   "+5",
					   "5.0",
					   "5.5",
					   "1e3",
					   "x",
					   "\"7\"",
					   "99999999999",
					   "18446744073709551615",
					   "0x1F",
					   "\"0xfe\"",
					   "\"Agent 3\"",
					   "Agent 3",
					   "\"GPU 1\"",
					   " 4",
					   "4 ",
					   "00000000000000000001",
					   "123456789012345678",
					   "\"",
					   "\"5",
					   "9223372036854775808",
					   "1234567",
					   "12345678",
					   "123456789",
					   "1234567890123456",
					   "12345678901234567" };

	if (cell == RK_CELL_STR) {
		rk_bytes_printf(
			out, "\"%s\"",
			awkward[world_random(seed) % (sizeof(awkward) / sizeof(awkward[0]))]);
		return;
	}
	if (cell == RK_CELL_SKIP)
		rk_bytes_puts(out, world_random(seed) % 2 ? "\"KIND\"" : "KIND");
	else if (world_random(seed) % 16 == 0)
		rk_bytes_puts(out, odd[world_random(seed) % (sizeof(odd) / sizeof(odd[0]))]);
	else if (cell == RK_CELL_U64)
		rk_bytes_printf(out, "\"0x%016" PRIx64 "\"", world_random(seed));
	else
		rk_bytes_printf(out, "%" PRIu64, world_random(seed) >> world_random(seed) % 63);
}

TEST(generated_rows_are_the_same_both_ways)
{
	static const char *const headers[] = {
		wide,
		"Name,I64,Time\n",
		"I64,I32,U32,Time,Name\n",
		"Time,Name,F64,U64,Agent,I64\n",
		"Agent,T0,T1,T2,T3,T4\n",
		"Kind,Kind,Time,I64,I32,Kind,Name,Kind,F64\n",
	};
	uint64_t seed = 4711, taken = 0;

	for (size_t h = 0; h < sizeof(headers) / sizeof(headers[0]); h++) {
		struct rk_bytes text;
		struct rows r;

		rk_bytes_init(&text, 1 << 16);
		rows_open(&r, headers[h], "Name", RK_WANT_ALL);
		for (int i = 0; i < 4000; i++) {
			rk_bytes_clear(&text);
			for (unsigned c = 0; c < r.plan.ncols; c++) {
				if (c)
					rk_bytes_puts(&text, ",");
				put_cell(&text, r.plan.cols[c].cell, &seed);
			}
			rk_bytes_puts(&text, i % 7 == 0 ? "" : i % 5 == 0 ? "\r\n" : "\n");
			if (!try_row(&r, (char *)text.data, text.len))
				break;
			taken += r.next != NULL;
		}
		rows_close(&r);
		rk_bytes_release(&text);
	}
	CHECK(taken > 1000);
}
