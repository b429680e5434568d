/* html_lanes.c - rows of a timeline packed for a page, and read back. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "html/html_curves.h"
#include "html/html_lanes.h"
#include "tap.h"
#include "world.h"

/* ---- a decoder of its own ---- */

static uint8_t *from_base85(const struct rk_bytes *text, size_t *ret_len)
{
	static const char digits[] = "!#$%()*+,./0123456789:;?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_"
				     "abcdefghijklmnopqrstuvwxyz{|}~";
	uint8_t *out = rk_alloc(text->len + 5);
	size_t n = 0;

	for (size_t i = 0; i < text->len; i += 5) {
		size_t left = text->len - i < 5 ? text->len - i : 5;
		uint64_t v = 0;

		for (size_t k = 0; k < 5; k++)
			v = v * 85 +
			    (k < left ? (uint64_t)(strchr(digits, text->data[i + k]) - digits) :
					84);
		for (size_t k = 0; k + 1 < left; k++)
			out[n++] = (uint8_t)(v >> (24 - 8 * k));
	}
	*ret_len = n;
	return out;
}

struct input {
	uint8_t raw[1 << 20];
	size_t len, at;
};

static void unpack(const struct rk_bytes *text, struct input *in)
{
	size_t len;
	uint8_t *packed = from_base85(text, &len);
	z_stream z = { .next_in = packed,
		       .avail_in = (uInt)len,
		       .next_out = in->raw,
		       .avail_out = sizeof(in->raw) };

	CHECK(inflateInit2(&z, -15) == Z_OK);
	CHECK(inflate(&z, Z_FINISH) == Z_STREAM_END);
	in->len = sizeof(in->raw) - z.avail_out;
	in->at = 0;
	inflateEnd(&z);
	rk_free(packed);
}

static uint64_t number(struct input *in, unsigned bytes)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < bytes; i++)
		v |= (uint64_t)in->raw[in->at++] << 8 * i;
	return v;
}

static void column(struct input *in, size_t n, uint64_t *v)
{
	uint64_t planes = number(in, 1);

	memset(v, 0, n * sizeof(*v));
	for (unsigned p = 0; p < planes; p++)
		for (size_t i = 0; i < n; i++)
			v[i] |= (uint64_t)in->raw[in->at++] << 8 * p;
}

static int64_t undo(uint64_t v)
{
	return v & 1 ? -(int64_t)(v >> 1) - 1 : (int64_t)(v >> 1);
}

/* Rows as they were, the first one at `start`. */
static size_t decode(struct input *in, int64_t start, struct rk_html_row *rows)
{
	static uint64_t gaps[RK_HTML_BLOCK_ROWS], lengths[RK_HTML_BLOCK_ROWS],
		names[RK_HTML_BLOCK_ROWS], depths[RK_HTML_BLOCK_ROWS];
	static int64_t guess[RK_HTML_GUESSES];
	size_t n = (size_t)number(in, 4);
	int64_t gap_tick = (int64_t)number(in, 8), tick = (int64_t)number(in, 8), end = start;

	column(in, n, gaps);
	column(in, n, lengths);
	column(in, n, names);
	column(in, n, depths);
	memset(guess, 0, sizeof(guess));
	for (size_t i = 0; i < n; i++) {
		int64_t *g = &guess[names[i] % RK_HTML_GUESSES], d = *g + undo(lengths[i]);

		rows[i] = (struct rk_html_row){ end + undo(gaps[i]) * gap_tick, d * tick,
						(uint32_t)names[i], (uint32_t)depths[i] };
		end = rows[i].start + rows[i].duration;
		*g = *g ? *g + (int64_t)floor((double)(d - *g) / 4) : d;
	}
	CHECK_U64(in->at, in->len);
	return n;
}

/* ---- blocks ---- */

static struct rk_html_row rows[RK_HTML_BLOCK_ROWS], back[RK_HTML_BLOCK_ROWS];
static struct rk_html_chunk chunks[RK_HTML_CHUNKS];
static struct input input;

static size_t pack(size_t n, struct rk_bytes *text)
{
	struct rk_html_packed packed = { .chunks = chunks };
	struct rk_html_packer *p = NULL;

	rk_bytes_init(&packed.text, 4 << 20);
	CHECK(rk_html_packer_new(&p, NULL) == 0);
	CHECK(rk_html_block_pack(p, rows, n, &packed, NULL) == 0);
	rk_html_packer_free(p);
	*text = packed.text;
	return packed.nchunks;
}

static size_t pack_and_compare(size_t n)
{
	struct rk_bytes text;
	size_t nchunks = pack(n, &text), all = 0;

	unpack(&text, &input);
	CHECK_U64(decode(&input, rows[0].start, back), n);
	for (size_t i = 0; i < n; i++)
		if (rows[i].start != back[i].start || rows[i].duration != back[i].duration ||
		    rows[i].name != back[i].name || rows[i].depth != back[i].depth)
			CHECK_U64(i, n);
	for (size_t i = 0; i < nchunks; i++)
		all += chunks[i].rows;
	CHECK_U64(all, n);
	CHECK(chunks[nchunks - 1].last);
	rk_bytes_release(&text);
	return nchunks;
}

TEST(rows_of_a_page_come_back_as_they_were)
{
	uint64_t state = 7;
	int64_t at = INT64_C(1392205578819696);

	for (size_t i = 0; i < RK_HTML_BLOCK_ROWS; i++) {
		int64_t d = 10 * (int64_t)(world_random(&state) % 100000);

		rows[i] = (struct rk_html_row){ at, d, (uint32_t)(world_random(&state) % 9000),
						(uint32_t)(i % 3) };
		at += (int64_t)(world_random(&state) % 200000);
	}
	CHECK_U64(pack_and_compare(RK_HTML_BLOCK_ROWS), RK_HTML_BLOCK_ROWS / RK_HTML_CHUNK_ROWS);
}

TEST(a_single_row_of_no_length_is_packed)
{
	rows[0] = (struct rk_html_row){ -5, 0, 0, 0 };
	CHECK_U64(pack_and_compare(1), 1);
	CHECK_U64(chunks[0].busy, 255);
}

TEST(rows_of_one_start_and_of_the_longest_times_are_packed)
{
	for (size_t i = 0; i < 300; i++)
		rows[i] = (struct rk_html_row){ 77, i % 2 ? RK_HTML_TIME_MAX : 1, 131071, 7 };
	rows[300] = (struct rk_html_row){ 77 + 2 * RK_HTML_TIME_MAX, 3, 1, 0 };
	pack_and_compare(301);
}

TEST(chunks_tell_what_ran_and_how_much)
{
	for (size_t i = 0; i < 100; i++)
		rows[i] = (struct rk_html_row){ (int64_t)i * 100, 50, i < 60 ? 3 : 4, 0 };
	CHECK_U64(pack_and_compare(100), 1);
	CHECK_I64(chunks[0].start, 0);
	CHECK_I64(chunks[0].span, 9950);
	CHECK_U64(chunks[0].name, 3);
	CHECK(chunks[0].busy >= 127 && chunks[0].busy <= 129);
}

/* Two hours without a kernel are not a faint kernel of two hours. */
TEST(a_long_gap_ends_a_chunk)
{
	for (size_t i = 0; i < 100; i++)
		rows[i] = (struct rk_html_row){ (int64_t)i * 100 + (i < 50 ? 0 : 7200000000000),
						100, 1, 0 };
	CHECK_U64(pack_and_compare(100), 2);
	CHECK_I64(chunks[0].span, 5000);
	CHECK_U64(chunks[0].busy, 255);
	CHECK_U64(chunks[1].rows, 50);
}

/* ---- lanes ---- */

static const struct rk_lane_key some = { 0, -1, 0, 1, 2, 3 };

static struct rk_lanes *lanes_of(struct world *w, size_t names)
{
	struct rk_lanes *l = NULL;

	world_open(w, 2);
	CHECK(rk_lanes_new(&w->ctx, names, &l, &w->err) == 0);
	return l;
}

TEST(kernels_that_overlap_are_drawn_below_each_other)
{
	struct world w;
	struct rk_lanes *l = lanes_of(&w, 1);

	rk_lanes_add(l, RK_LANE_KERNELS, &some, 0, 100, 0, NULL);
	rk_lanes_add(l, RK_LANE_KERNELS, &some, 50, 100, 0, NULL);
	rk_lanes_add(l, RK_LANE_KERNELS, &some, 100, 10, 0, NULL);
	CHECK(rk_lanes_finish(l, &w.err) == 0);
	CHECK_U64(rk_lanes_result(l).n, 1);
	CHECK_U64(rk_lanes_result(l).v[0].depth, 2);
	CHECK_U64(rk_lanes_result(l).v[0].rows, 3);
	rk_lanes_free(l);
	world_close(&w);
}

TEST(a_thousand_streams_share_what_lanes_there_are)
{
	struct world w;
	struct rk_lanes *l = lanes_of(&w, 1);

	for (int64_t i = 0; i < 1000; i++) {
		struct rk_lane_key key = { 0, -1, 0, 1, 2, i };

		CHECK(rk_lanes_add(l, RK_LANE_KERNELS, &key, i, 1, 0, &w.err) == 0);
	}
	CHECK(rk_lanes_finish(l, &w.err) == 0);
	CHECK_U64(rk_lanes_result(l).n, RK_LANES_KERNELS + 1);
	CHECK_U64(rk_lanes_result(l).folded, 1000 - RK_LANES_KERNELS);
	CHECK(rk_lanes_result(l).v[RK_LANES_KERNELS].folded);
	rk_lanes_free(l);
	world_close(&w);
}

TEST(times_that_cannot_be_shown_are_left_out_and_counted)
{
	struct world w;
	struct rk_lanes *l = lanes_of(&w, 1);
	int64_t start, end;

	rk_lanes_add(l, RK_LANE_KERNELS, &some, 0, INT64_MAX, 0, NULL);
	rk_lanes_add(l, RK_LANE_KERNELS, &some, INT64_MAX, 1, 0, NULL);
	CHECK(!rk_lanes_span(l, &start, &end));
	rk_lanes_add(l, RK_LANE_KERNELS, &some, 5, 1, 0, NULL);
	rk_lanes_add(l, RK_LANE_KERNELS, &some, INT64_MIN, 1, 0, NULL);
	CHECK(rk_lanes_finish(l, &w.err) == 0);
	CHECK_U64(rk_lanes_result(l).left_out, 3);
	CHECK_U64(rk_lanes_result(l).n, 1);
	CHECK(rk_lanes_span(l, &start, &end) && start == 5 && end == 6);
	rk_lanes_free(l);
	world_close(&w);
}

TEST(a_jump_of_the_clock_begins_a_block)
{
	struct world w;
	struct rk_lanes *l = lanes_of(&w, 1);
	int64_t start, end, far = INT64_C(1) << 60;

	rk_lanes_add(l, RK_LANE_KERNELS, &some, 0, 1, 0, NULL);
	rk_lanes_add(l, RK_LANE_KERNELS, &some, far, 1, 0, NULL);
	CHECK(rk_lanes_finish(l, &w.err) == 0);
	CHECK_U64(rk_lanes_result(l).nblocks, 2);
	CHECK(rk_lanes_span(l, &start, &end) && start == 0 && end == far + 1);
	rk_lanes_free(l);
	world_close(&w);
}

TEST(the_longest_row_of_each_name_is_known)
{
	struct world w;
	struct rk_lanes *l = lanes_of(&w, 2);

	rk_lanes_add(l, RK_LANE_KERNELS, &some, 0, 5, 0, NULL);
	rk_lanes_add(l, RK_LANE_KERNELS, &some, 10, 9, 0, NULL);
	rk_lanes_add(l, RK_LANE_KERNELS, &some, 20, 7, 99, NULL); /* a name past the last */
	CHECK(rk_lanes_finish(l, &w.err) == 0);
	CHECK_I64(rk_lanes_longest(l, 0)->start, 10);
	CHECK_I64(rk_lanes_longest(l, 1)->duration, -1);
	CHECK_I64(rk_lanes_longest(l, 77)->duration, 7);
	rk_lanes_free(l);
	world_close(&w);
}

/* Rows of two lanes, all into text; the number of allocations that fail is counted up. */
static int fill(struct world *w, struct rk_bytes *out)
{
	const uint32_t order[] = { 1, 0 };
	struct rk_lane_key other = { 0, -1, 1, 1, 2, 3 };
	struct rk_lanes *l = NULL;
	int rc = rk_lanes_new(&w->ctx, 2, &l, &w->err);

	for (int64_t i = 0; rc == 0 && i < 9000; i++)
		rc = rk_lanes_add(l, RK_LANE_KERNELS, i % 7 ? &some : &other, i * 10, 5, i & 1,
				  &w->err);
	if (rc == 0)
		rc = rk_lanes_finish(l, &w->err);
	if (rc == 0)
		rc = rk_lanes_put_chunks(l, order, 0, out, &w->err);
	if (rc == 0 && out->bad)
		rc = RK_E_NOMEM;
	rk_lanes_free(l);
	return rc;
}

TEST(lanes_end_cleanly_when_any_allocation_fails)
{
	bool failed = true;

	for (uint64_t n = 1; failed && n < 2000; n++) {
		struct rk_bytes out;
		struct world w;
		int rc;

		world_open(&w, 1);
		rk_bytes_init(&out, 1 << 20);
		rk_alloc_fail_after(n);
		rc = fill(&w, &out);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK(rc == (failed ? RK_E_NOMEM : 0));
		rk_bytes_release(&out);
		world_close(&w);
	}
	CHECK(!failed);
}

/* ---- curves ---- */

TEST(a_curve_of_many_samples_keeps_its_peaks)
{
	static struct rk_curves c;
	const struct rk_curve of = { .metric = 1, .device = 0 };
	double most = 0, sum = 0;
	uint64_t samples = 0;
	int64_t start, end;

	for (int64_t i = 0; i < 100000; i++)
		CHECK(rk_curves_add(&c, &of, i * 1000, i == 54321 ? 700 : 100, NULL) == 0);
	CHECK(rk_curves_add(&c, &of, 0, NAN, NULL) == 0);
	for (size_t i = 0; i < c.v[0].n; i++) {
		most = fmax(most, c.v[0].points[i].max);
		sum += c.v[0].points[i].sum;
		samples += c.v[0].points[i].samples;
	}
	CHECK(c.v[0].n <= RK_CURVE_POINTS && c.v[0].n > RK_CURVE_POINTS / 3);
	CHECK(most == 700 && sum == 100.0 * 99999 + 700);
	CHECK_U64(samples, 100000);
	CHECK_U64(c.left_out, 1);
	CHECK(rk_curves_span(&c, &start, &end) && start == 0 && end == 99999000);
	rk_curves_release(&c);
}

TEST(curves_past_the_limit_are_counted)
{
	static struct rk_curves c;

	for (int64_t i = 0; i < RK_CURVES_MAX + 5; i++)
		CHECK(rk_curves_add(&c, &(struct rk_curve){ .device = i }, 1, 1, NULL) == 0);
	CHECK_U64(c.n, RK_CURVES_MAX);
	CHECK_U64(c.left_out, 5);
	rk_curves_release(&c);
}
