/* ranks_text.c - a job of several ranks, written down. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "codec/json/tree.h"
#include "ranks/ranks_parts.h"
#include "report/report_parts.h"
#include "tap.h"

#define MS INT64_C(1000000)

/* A rank that waits for rank 2, which computes longer; nodes have four each. */
static struct rk_ranks_rank rank_of(int64_t i)
{
	bool slow = i == 2;

	return (struct rk_ranks_rank){
		.rank = i,
		.local_rank = i % 4,
		.node = i < 4 ? "node-a" : "node-b",
		.tool = "rocprofv3",
		.tool_version = "1.1.0",
		.state = "done",
		.kernels = 1000 + (uint64_t)i,
		.kernel_ns = 100 * MS,
		.first_ns = 5 * MS,
		.last_ns = 125 * MS,
		.compute_ns = slow ? 90 * MS : 60 * MS,
		.comm_ns = slow ? 20 * MS : 50 * MS,
		.both_ns = slow ? 2 * MS : 10 * MS,
		.idle_ns = slow ? 12 * MS : 20 * MS,
		.collectives = 100,
		.last = slow ? 93 : 1,
		.wait_ns = slow ? MS : 28 * MS,
		.caused_ns = slow ? 190 * MS : MS,
		.clock = i < 4 ? RK_CLOCK_SAME : RK_CLOCK_ALIGNED,
		.offset_ns = i < 4 ? 0 : -2999 * MS,
		.drift_ppm = i < 4 ? 0 : 1.25,
		.error_ns = i < 4 ? 0 : 812,
		.clock_by = i < 4 ? "node" : "collectives, snapshots",
		.clock_note = "",
	};
}

static struct rk_ranks_collective collectives[] = {
	{ .name = "AllReduce Sum f32 RING LL",
	  .calls = 100,
	  .unmatched = 3,
	  .ranks = 8,
	  .inter_node = true,
	  .total_ns = 50 * MS,
	  .late_ns = 40 * MS,
	  .wire_ns = 10 * MS,
	  .wait_ns = 197 * MS,
	  .wire_median_ns = 99000,
	  .wire_max_ns = 250000,
	  .straggler = 2,
	  .straggler_calls = 93,
	  .error_ns = 812,
	  .verdict = "late" },
	{ .name = "AllGather",
	  .calls = 2,
	  .ranks = 4,
	  .total_ns = 2 * MS,
	  .wire_ns = 2 * MS,
	  .wire_median_ns = NAN,
	  .wire_max_ns = NAN,
	  .straggler = -1,
	  .error_ns = -1,
	  .verdict = "wire" },
};
static struct rk_ranks_spread spreads[] = {
	{ "gemm", 8, 50 * MS, 80 * MS, 0, 2, 54e6, 80.0 / 54 - 1 },
	{ "hostile\033[31m<b>", 8, 10 * MS, 10 * MS + 50000, 7, 0, 10e6, 0.005 },
};
static struct rk_ranks_copy copies[] = {
	{ "node-a", "MEMORY_COPY_DEVICE_TO_DEVICE", 0, 1, 1200, 5000000000, 100 * MS, 50 },
	{ "", "MEMORY_COPY_HOST_TO_DEVICE", -1, 1, 1, -1, 7000, NAN },
};
static struct rk_ranks_problem problems[] = {
	{ "missing", 9, 2, "2 of 10 ranks left nothing: 8-9" },
	{ "versions", -1, 8, "ranks were recorded by different versions: \033[2J" },
};

static struct rk_ranks job_of(struct rk_ranks_rank *ranks, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ranks[i] = rank_of((int64_t)i);
	return (struct rk_ranks){ .size = 10,
				  .nodes = 2,
				  .job = "4711",
				  .reference = 0,
				  .base_ns = 5 * MS,
				  .ranks = ranks,
				  .nranks = n,
				  .collectives = collectives,
				  .ncollectives = 2,
				  .spreads = spreads,
				  .nspreads = 2,
				  .copies = copies,
				  .ncopies = 2,
				  .problems = problems,
				  .nproblems = 2,
				  .intra_ns = 16 * MS,
				  .inter_ns = 400 * MS,
				  .imbalance = 90.0 / 63.75 - 1 };
}

static char *text_of(const struct rk_ranks *k, struct rk_render_options look)
{
	struct rk_bytes out;
	struct rk_page p;
	char *text = NULL;

	rk_bytes_init(&out, 1 << 20);
	rk_page_begin(&p, &out, &look);
	rk_ranks_text(&p, k);
	rk_page_end(&p);
	CHECK_I64(rk_bytes_give(&out, &text, NULL, NULL), 0);
	return text ? text : rk_strdup("");
}

static void in_trouble(struct rk_ranks_rank *ranks)
{
	ranks[7].state = "stopped";
	ranks[7].status = 137;
	ranks[6].kernels = 0;
	ranks[6].compute_ns = ranks[6].comm_ns = ranks[6].both_ns = ranks[6].idle_ns = -1;
	ranks[6].collectives = 0;
}

TEST(ranks_as_text_say_first_what_matters)
{
	struct rk_ranks_rank ranks[8];
	struct rk_ranks k = job_of(ranks, 8);
	char *text;

	in_trouble(ranks);
	text = text_of(&k, (struct rk_render_options){ .top = 20 });
	/* clang-format off */
	CHECK_STR(text,
"\n"
"Ranks: 8 of 10 on 2 nodes, job 4711\n"
"  missing: 2 of 10 ranks left nothing: 8-9\n"
"  versions: ranks were recorded by different versions: \\x1b[2J\n"
"  not balanced: rank 2 computes 41.2 % longer than the mean\n"
"  straggler: rank 2, last in 93 of 100 collectives; ranks wait 23.5 % of their time, 96.4 % of it for this one\n"
"  communication takes 38.1 % of rank time; 19.4 % of it is hidden behind compute\n"
"  not the network: 76.9 % of collective time is spent waiting for the last rank\n"
"  collectives between nodes 400.0 ms, within a node 16.00 ms, summed over ranks\n"
"  Rank Node    Kernels   Compute                 Comm Hidden%   Idle%     Waits    Caused  Last\n"
"     0 node-a    1,000  60.00 ms #######     50.00 ms    20.0    16.7  28.00 ms  1.000 ms     1\n"
"     1 node-a    1,001  60.00 ms #######     50.00 ms    20.0    16.7  28.00 ms  1.000 ms     1\n"
"     2 node-a    1,002  90.00 ms ##########  20.00 ms    10.0    10.0  1.000 ms  190.0 ms    93\n"
"     3 node-a    1,003  60.00 ms #######     50.00 ms    20.0    16.7  28.00 ms  1.000 ms     1\n"
"     4 node-b    1,004  60.00 ms #######     50.00 ms    20.0    16.7  28.00 ms  1.000 ms     1\n"
"     5 node-b    1,005  60.00 ms #######     50.00 ms    20.0    16.7  28.00 ms  1.000 ms     1\n"
"     6 node-b        0         -                    -       -       -         -         -     1  no kernels\n"
"     7 node-b    1,007  60.00 ms #######     50.00 ms    20.0    16.7  28.00 ms  1.000 ms     1  stopped  exit 137\n"
"\n"
"Clocks: relative to rank 0\n"
"         Rank       Offset           +-     ppm  Aligned by\n"
"          0-3         0 ns         0 ns   0.000  reference\n"
"          4-7     -2.999 s       812 ns   1.250  collectives, snapshots\n"
"\n"
"Collectives: 102 matched across ranks, 3 calls not matched\n"
"  Cause  Calls   Ranks   Over     Total  Late%     Waits Wire med.  Wire max    Straggler  Operation\n"
"   late    100       8  nodes  50.00 ms   80.0  197.0 ms  99.00 us  250.0 us      2 (93%)  AllReduce Sum f32 RING LL\n"
"   wire      2       4   node  2.000 ms    0.0      0 ns         -         -            -  AllGather\n"
"\n"
"Imbalance: kernels by how far the slowest rank is above the mean\n"
"  Imb.%     Above      Mean       Max    rank       Min    rank   Ranks  Name\n"
"   48.1  26.00 ms  54.00 ms  80.00 ms       2  50.00 ms       0       8  gemm\n"
"\n"
"Copies by device\n"
" Node      From      To  Calls     Bytes      Time     GB/s  Direction\n"
" node-a       0       1  1,200  5.000 GB  100.0 ms       50  DEVICE_TO_DEVICE\n"
" -            -       1      1         -  7.000 us        -  HOST_TO_DEVICE\n"
"");
	/* clang-format on */
	rk_free(text);
}

TEST(ranks_on_a_narrow_terminal_have_fewer_columns)
{
	struct rk_ranks_rank ranks[8];
	struct rk_ranks k = job_of(ranks, 8);
	char *text;

	in_trouble(ranks);
	ranks[5].node = "a-very-long-name-of-a-node-ü.example.org";
	ranks[5].clock = RK_CLOCK_ALONE;
	ranks[5].clock_note = "it has no collective in common with rank 0";
	k.spreads++;
	k.nspreads = 1;
	k.ncopies = 0;
	k.ncollectives = 1;
	k.nproblems = 0;
	text = text_of(&k, (struct rk_render_options){ .top = 20, .columns = 80, .utf8 = true });
	/* clang-format off */
	CHECK_STR(text,
"\n"
"Ranks: 8 of 10 on 2 nodes, job 4711\n"
"  not balanced: rank 2 computes 41.2 % longer than the mean\n"
"  straggler: rank 2, last in 93 of 100 collectives; ranks wait 23.5 % of their time, 96.4 % of it for this one\n"
"  communication takes 38.1 % of rank time; 19.4 % of it is hidden behind compute\n"
"  not the network: 80.0 % of collective time is spent waiting for the last rank\n"
"  collectives between nodes 400.0 ms, within a node 16.00 ms, summed over ranks\n"
"  Rank Node          Kernels   Compute      Comm Hidden%   Idle%     Waits    Caused\n"
"     0 node-a          1,000  60.00 ms  50.00 ms    20.0    16.7  28.00 ms  1.000 ms\n"
"     1 node-a          1,001  60.00 ms  50.00 ms    20.0    16.7  28.00 ms  1.000 ms\n"
"     2 node-a          1,002  90.00 ms  20.00 ms    10.0    10.0  1.000 ms  190.0 ms\n"
"     3 node-a          1,003  60.00 ms  50.00 ms    20.0    16.7  28.00 ms  1.000 ms\n"
"     4 node-b          1,004  60.00 ms  50.00 ms    20.0    16.7  28.00 ms  1.000 ms\n"
"     5 a-very-long…    1,005  60.00 ms  50.00 ms    20.0    16.7  28.00 ms  1.000 ms\n"
"     6 node-b              0         -         -       -       -         -         -  no kernels\n"
"     7 node-b          1,007  60.00 ms  50.00 ms    20.0    16.7  28.00 ms  1.000 ms  stopped  exit 137\n"
"\n"
"Clocks: relative to rank 0\n"
"         Rank       Offset            ±     ppm  Aligned by\n"
"          0-3         0 ns         0 ns   0.000  reference\n"
"            4     -2.999 s       812 ns   1.250  collectives, snapshots\n"
"            5                     not alignable  it has no collective in common…\n"
"          6-7     -2.999 s       812 ns   1.250  collectives, snapshots\n"
"\n"
"Collectives: 100 matched across ranks, 3 calls not matched\n"
"  Cause  Calls   Ranks   Over     Total  Late%     Waits Wire med.    Straggler  Operation\n"
"   late    100       8  nodes  50.00 ms   80.0  197.0 ms  99.00 us      2 (93%)  AllReduce Sum f32 RING …\n"
"\n"
"Imbalance: no kernel takes 1 % longer on any rank than the mean\n"
"");
	/* clang-format on */
	rk_free(text);
}

static size_t lines_with(const char *text, const char *word)
{
	size_t n = 0;

	for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
		n++;
	return n;
}

TEST(of_a_thousand_ranks_the_interesting_ones_are_shown)
{
	static struct rk_ranks_rank ranks[1000];
	struct rk_ranks k = job_of(ranks, 1000);
	char *text;

	for (size_t i = 0; i < 1000; i++)
		ranks[i].compute_ns = ranks[i].rank == 512 ? 99 * MS : 60 * MS;
	ranks[700].compute_ns = 10 * MS;
	ranks[801].status = 1;
	ranks[900].caused_ns = 80 * MS;
	k.nproblems = k.ncopies = 0;
	text = text_of(&k, (struct rk_render_options){ .top = 20 });
	CHECK(strstr(text, "\n   512 node-b") != NULL);
	CHECK(strstr(text, "\n   700 node-b") != NULL);
	CHECK(strstr(text, "\n   801 node-b") != NULL);
	CHECK(strstr(text, "\n   900 node-b") != NULL);
	CHECK(strstr(text, "and 980 more that are not the slowest, fastest") != NULL);
	CHECK_U64(lines_with(text, " node-a ") + lines_with(text, " node-b "), 20);
	rk_free(text);
	text = text_of(&k, (struct rk_render_options){ .top = 0 });
	CHECK_U64(lines_with(text, " node-a ") + lines_with(text, " node-b "), 1000);
	CHECK(strstr(text, " more, neither") == NULL);
	rk_free(text);
	text = text_of(&k, (struct rk_render_options){ .top = 100 });
	CHECK(strstr(text, "and 900 more that are not") != NULL);
	rk_free(text);
}

TEST(where_all_are_in_trouble_half_the_lines_are_theirs)
{
	static struct rk_ranks_rank ranks[100];
	struct rk_ranks k = job_of(ranks, 100);
	bool shown[100];
	size_t n = 0;

	for (size_t i = 0; i < 100; i++) {
		ranks[i].status = 9;
		ranks[i].compute_ns = (int64_t)i;
		ranks[i].caused_ns = 0;
	}
	CHECK(rk_ranks_pick(&k, 32, shown));
	for (size_t i = 0; i < 100; i++)
		n += shown[i];
	CHECK_U64(n, 32);
	CHECK(shown[0] && shown[15] && shown[99] && shown[98]);
}

TEST(ranks_of_a_node_whose_clock_is_all_but_the_same_share_a_line)
{
	struct rk_ranks_rank ranks[8];
	struct rk_ranks k = job_of(ranks, 8);
	char *text;

	ranks[5].offset_ns += 5;
	ranks[6].drift_ppm += 1e-4;
	ranks[6].error_ns += 3;
	text = text_of(&k, (struct rk_render_options){ .top = 20 });
	CHECK(strstr(text, "\n          4-7     -2.999 s") != NULL);
	rk_free(text);
	ranks[6].offset_ns += 900;
	text = text_of(&k, (struct rk_render_options){ .top = 20 });
	CHECK(strstr(text, "\n          4-5     -2.999 s") != NULL);
	rk_free(text);
}

TEST(clocks_that_are_least_certain_are_shown)
{
	static struct rk_ranks_rank ranks[200];
	struct rk_ranks k = job_of(ranks, 200);
	char *text;

	for (int64_t i = 4; i < 200; i++)
		ranks[i].offset_ns = i * MS;
	ranks[150].clock = RK_CLOCK_ALONE;
	ranks[150].clock_note = "no collectives";
	ranks[99].error_ns = 99000;
	text = text_of(&k, (struct rk_render_options){ .top = 20 });
	CHECK(strstr(text, "  150                     not alignable  no collectives\n") != NULL);
	CHECK(strstr(text, "   99     99.00 ms     99.00 us") != NULL);
	CHECK(strstr(text, "and 177 more with a smaller error") != NULL);
	rk_free(text);
}

/* What the page says in its first lines, joined. */
static void says(const struct rk_ranks *k, const char *want)
{
	struct rk_list l = { 0 };
	char text[1000] = "";

	rk_ranks_say(&l, k);
	for (size_t i = 0; i < l.n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s\n", l.v[i]);
	CHECK_STR(text, want);
	rk_list_release(&l);
}

TEST(a_balanced_job_is_reported_as_balanced)
{
	struct rk_ranks_rank ranks[4];
	struct rk_ranks k = job_of(ranks, 4);

	for (size_t i = 0; i < 4; i++) {
		ranks[i].compute_ns = 60 * MS + (int64_t)i * MS / 10;
		ranks[i].wait_ns = MS / 10;
		ranks[i].caused_ns = MS / 10;
	}
	k.size = 4;
	k.imbalance = 0.0025;
	k.ncollectives = 1;
	k.collectives = &collectives[1];
	k.intra_ns = 0;
	says(&k, "balanced: rank 3, the busiest, computes 0.2 % longer than the mean\n"
		 "ranks hardly wait for each other: 0.1 % of their time\n"
		 "communication takes 35.4 % of rank time; 18.8 % of it is hidden behind compute\n"
		 "the network: 100 % of collective time is spent after the last rank arrived\n");
}

TEST(waiting_for_many_names_no_straggler)
{
	struct rk_ranks_rank ranks[4];
	struct rk_ranks k = job_of(ranks, 4);

	for (size_t i = 0; i < 4; i++) {
		ranks[i].wait_ns = 10 * MS;
		ranks[i].caused_ns = (int64_t)(9 + i) * MS;
		ranks[i].comm_ns = ranks[i].both_ns = 0;
	}
	k.imbalance = NAN;
	k.ncollectives = 0;
	k.intra_ns = 0;
	says(&k,
	     "no single straggler: ranks wait 8.3 % of their time, 30.0 % of it for rank 3, the "
	     "most\n");
}

/* Ranks wait 10 ms each: for some of them 18 ms in all, for the others 1 ms. */
static struct rk_ranks waiting_for(struct rk_ranks_rank *ranks, size_t n, uint64_t late)
{
	struct rk_ranks k = job_of(ranks, n);

	for (size_t i = 0; i < n; i++) {
		ranks[i].wait_ns = 10 * MS;
		ranks[i].caused_ns = late >> i & 1 ? 18 * MS : MS;
		ranks[i].comm_ns = ranks[i].both_ns = 0;
	}
	k.imbalance = NAN;
	k.ncollectives = 0;
	k.intra_ns = 0;
	return k;
}

TEST(some_slow_ranks_are_named_together)
{
	struct rk_ranks_rank ranks[16];
	struct rk_ranks k = waiting_for(ranks, 8, 1 << 1 | 1 << 6);

	ranks[1].caused_ns = ranks[6].caused_ns = 36 * MS;
	says(&k,
	     "stragglers: ranks 1 and 6; ranks wait 8.3 % of their time, 90.0 % of it for these\n");
	CHECK_I64(rk_ranks_straggler(&k), -1);
	/* half of a node: its ranks, not the node */
	ranks[6].caused_ns = MS;
	ranks[2].caused_ns = 36 * MS;
	says(&k, "stragglers: ranks 1-2; ranks wait 8.3 % of their time, 90.0 % of it for these\n");
	/* every third is not some of them */
	k = waiting_for(ranks, 6, 1 << 1 | 1 << 5);
	says(&k,
	     "no single straggler: ranks wait 8.3 % of their time, 30.0 % of it for rank 1, the "
	     "most; 33.3 % cannot be attributed (clock uncertainty)\n");
}

TEST(a_slow_node_is_named_by_its_ranks)
{
	struct rk_ranks_rank ranks[8];
	struct rk_ranks k = waiting_for(ranks, 8, 0xf0);

	says(&k,
	     "stragglers: the ranks of one node, 4-7; ranks wait 8.3 % of their time, 90.0 % of "
	     "it for these\n");
	/* a node with nearly all ranks is waited for most in any job */
	for (size_t i = 0; i < 8; i++)
		ranks[i].node = i ? "node-b" : "node-a";
	says(&k,
	     "no single straggler: ranks wait 8.3 % of their time, 22.5 % of it for rank 4, the "
	     "most\n");
	for (size_t i = 0; i < 8; i++)
		ranks[i].node = "";
	says(&k,
	     "no single straggler: ranks wait 8.3 % of their time, 22.5 % of it for rank 4, the "
	     "most\n");
}

/* Clocks that are known within more than ranks are late by still tell who hardly ever waits. */
TEST(where_clocks_tell_little_those_who_never_wait_are_likely_stragglers)
{
	struct rk_ranks_rank ranks[8];
	struct rk_ranks k = waiting_for(ranks, 8, 0);

	for (size_t i = 0; i < 8; i++)
		ranks[i].caused_ns = i == 5 ? 3 * MS : 2 * MS;
	ranks[5].wait_ns = 2 * MS;
	says(&k, "likely straggler: rank 5, waiting less than half as long as the mean; ranks wait "
		 "7.5 % of their time; 76.4 % cannot be attributed (clock uncertainty)\n");
	ranks[4].wait_ns = 2 * MS;
	says(&k, "likely stragglers: ranks 4-5, waiting less than half as long as the mean; ranks "
		 "wait 6.7 % of their time; 73.4 % cannot be attributed (clock uncertainty)\n");
	/* or nothing */
	for (size_t i = 0; i < 8; i++)
		ranks[i].caused_ns = 0;
	says(&k, "likely stragglers: ranks 4-5, waiting less than half as long as the mean; ranks "
		 "wait 6.7 % of their time; 100 % cannot be attributed (clock uncertainty)\n");
	ranks[3].wait_ns = ranks[4].wait_ns = ranks[5].wait_ns = 8 * MS;
	says(&k,
	     "ranks wait 7.7 % of their time; 100 % cannot be attributed (clock uncertainty)\n");
	/* what is known is of another one */
	ranks[3].wait_ns = 10 * MS;
	ranks[4].wait_ns = ranks[5].wait_ns = 2 * MS;
	for (size_t i = 0; i < 8; i++)
		ranks[i].caused_ns = i == 5 ? 3 * MS : 2 * MS;
	ranks[3].caused_ns = 4 * MS;
	says(&k, "no single straggler: ranks wait 6.7 % of their time, 6.2 % of it for rank 3, the "
		 "most; 70.3 % cannot be attributed (clock uncertainty)\n");
}

/* Waiting for one that left no records looks like a slow wire. */
TEST(the_wire_is_not_blamed_alone_where_ranks_are_missing)
{
	struct rk_ranks k = { .size = 8, .job = "", .reference = -1, .imbalance = NAN };

	k.collectives = &collectives[1];
	k.ncollectives = 1;
	says(&k,
	     "the network, or missing ranks: 100 % of collective time is spent after the last of "
	     "the other ranks arrived\n");
}

/* Those that cannot be compared are as good as missing. */
TEST(the_wire_is_not_blamed_alone_where_clocks_are_not_related)
{
	struct rk_ranks_rank ranks[4];
	struct rk_ranks k = waiting_for(ranks, 4, 0);

	for (size_t i = 0; i < 4; i++)
		ranks[i].wait_ns = ranks[i].caused_ns = 0;
	k.size = 4;
	k.collectives = &collectives[1];
	k.ncollectives = 1;
	ranks[3].clock = RK_CLOCK_ALONE;
	says(&k,
	     "the network, or ranks on other clocks: 100 % of collective time is spent after the "
	     "last of the other ranks arrived\n");
}

TEST(of_two_ranks_that_wait_for_each_other_none_is_a_straggler)
{
	struct rk_ranks_rank ranks[2];
	struct rk_ranks k = waiting_for(ranks, 2, 0);

	ranks[1].caused_ns = 12 * MS;
	ranks[0].caused_ns = 8 * MS;
	CHECK_I64(rk_ranks_straggler(&k), -1);
	ranks[1].caused_ns = 16 * MS;
	ranks[0].caused_ns = 4 * MS;
	CHECK_I64(rk_ranks_straggler(&k), 1);
}

TEST(neither_late_ranks_nor_the_network_is_blamed_where_it_is_not_clear)
{
	struct rk_ranks_collective even = collectives[0];
	struct rk_ranks k = { .job = "", .reference = -1, .collectives = &even, .ncollectives = 1 };

	k.imbalance = NAN;
	even.verdict = "even";
	even.late_ns = 28 * MS;
	says(&k, "both late ranks and the network: 56.0 % of collective time is spent waiting for "
		 "the last rank, as far as the clocks show\n");
	even.late_ns = 40 * MS;
	says(&k,
	     "probably not the network: 80.0 % of collective time is spent waiting for the last "
	     "rank, but the clocks are too uncertain to be sure\n");
	even.late_ns = 0;
	says(&k, "probably the network: 100 % of collective time is spent after the last rank "
		 "arrived, but the clocks are too uncertain to be sure\n");
	k.size = 4;
	says(&k, "probably the network, or missing ranks: 100 % of collective time is spent after "
		 "the last rank arrived, but the clocks are too uncertain to be sure\n");
}

TEST(whom_the_clocks_cannot_blame_is_not_blamed)
{
	struct rk_ranks_rank ranks[4];
	struct rk_ranks k = job_of(ranks, 4);

	for (size_t i = 0; i < 4; i++) {
		ranks[i].wait_ns = 10 * MS;
		ranks[i].caused_ns = i == 2 ? 16 * MS : MS / 10;
		ranks[i].last = i == 2 ? 40 : 1;
		ranks[i].comm_ns = ranks[i].both_ns = 0;
	}
	k.imbalance = NAN;
	k.ncollectives = 0;
	k.intra_ns = 0;
	says(&k,
	     "straggler: rank 2, last in 40 of 100 collectives; ranks wait 8.3 % of their time, "
	     "40.0 % of it for this one; 59.2 % cannot be attributed (clock uncertainty)\n");
	CHECK_I64(rk_ranks_straggler(&k), 2);
	ranks[2].caused_ns = 3 * MS;
	CHECK_I64(rk_ranks_straggler(&k), -1);
}

TEST(ranks_of_which_nothing_is_known_are_not_judged)
{
	struct rk_ranks_rank ranks[2] = {
		{ .rank = 0, .node = "", .state = "", .clock_note = "", .compute_ns = -1 },
		{ .rank = 1, .node = "", .state = "", .clock_note = "", .compute_ns = -1 }
	};
	struct rk_ranks k = { .job = "", .reference = -1, .ranks = ranks, .nranks = 2 };
	char *text;

	k.imbalance = NAN;
	says(&k, "");
	text = text_of(&k, (struct rk_render_options){ .top = 20 });
	CHECK(strstr(text, "\nRanks: 2\n") == text);
	CHECK_U64(lines_with(text, "no kernels"), 2);
	rk_free(text);
}

static struct rk_tree *parsed(const struct rk_ranks *k)
{
	struct rk_report r = { .ranks = NULL };
	struct rk_tree *t = NULL;
	struct rk_error err = { 0 };
	struct rk_bytes out;

	r.ranks = memcpy(rk_alloc(sizeof(*k)), k, sizeof(*k));
	rk_bytes_init(&out, 1 << 24);
	rk_report_json(&out, &r, NULL);
	CHECK(!out.bad);
	CHECK_I64(rk_tree_parse_json((const char *)out.data, out.len, "report", &t, &err), 0);
	rk_bytes_release(&out);
	rk_free(r.ranks);
	return t;
}

static const char *at(const struct rk_tree *t, const char *list, size_t i, const char *key)
{
	const struct rk_tree *row = rk_tree_get(rk_tree_get(t, "ranks"), list);

	row = row ? row->first : NULL;
	for (; row && i; i--)
		row = row->next;
	row = row ? rk_tree_get(row, key) : NULL;
	return !row ? "absent" : row->kind == RK_TREE_NULL ? "null" : row->text;
}

TEST(ranks_as_json_hold_everything_and_null_for_what_is_not_known)
{
	struct rk_ranks_rank ranks[8];
	struct rk_ranks k = job_of(ranks, 8);
	struct rk_tree *t;

	in_trouble(ranks);
	ranks[5].clock = RK_CLOCK_ALONE;
	ranks[5].clock_note = "no \"collectives\"";
	ranks[1].local_rank = ranks[1].status = -1;
	ranks[1].node = ranks[1].tool = "";
	t = parsed(&k);
	CHECK_STR(at(t, "ranks", 7, "rank"), "7");
	CHECK_STR(at(t, "ranks", 7, "status"), "137");
	CHECK_STR(at(t, "ranks", 7, "wait_ns"), "28000000");
	CHECK_STR(at(t, "ranks", 7, "offset_ns"), "-2999000000");
	CHECK_STR(at(t, "ranks", 7, "error_ns"), "812");
	CHECK_STR(at(t, "ranks", 7, "drift_ppm"), "1.25");
	CHECK_STR(at(t, "ranks", 6, "compute_ns"), "null");
	CHECK_STR(at(t, "ranks", 6, "first_ns"), "null");
	CHECK_STR(at(t, "ranks", 5, "offset_ns"), "null");
	CHECK_STR(at(t, "ranks", 5, "clock"), "alone");
	CHECK_STR(at(t, "ranks", 5, "clock_note"), "no \"collectives\"");
	CHECK_STR(at(t, "ranks", 1, "local_rank"), "null");
	CHECK_STR(at(t, "ranks", 1, "node"), "null");
	CHECK_STR(at(t, "collectives", 0, "straggler"), "2");
	CHECK_STR(at(t, "collectives", 1, "straggler"), "null");
	CHECK_STR(at(t, "collectives", 1, "wire_median_ns"), "null");
	CHECK_STR(at(t, "spreads", 1, "name"), "hostile\033[31m<b>");
	CHECK_STR(at(t, "copies", 1, "bytes"), "null");
	CHECK_STR(at(t, "copies", 1, "gb_per_s"), "null");
	CHECK_STR(at(t, "copies", 0, "bytes"), "5000000000");
	CHECK_STR(at(t, "problems", 1, "rank"), "null");
	CHECK_STR(at(t, "problems", 0, "kind"), "missing");
	CHECK_U64(rk_tree_get(rk_tree_get(t, "ranks"), "summary")->n, 5);
	rk_tree_free(t);
}

TEST(ranks_alone_are_written_in_three_ways)
{
	struct rk_ranks_rank ranks[8];
	struct rk_ranks k = job_of(ranks, 8);
	struct rk_render_options how = { .format = RK_REPORT_CSV, .top = 20 };
	char *text = NULL;
	size_t len = 0;

	in_trouble(ranks);
	ranks[5].clock = RK_CLOCK_ALONE;
	ranks[5].clock_note = "no, none";
	CHECK_I64(rk_ranks_render(&k, &how, &text, &len, NULL), 0);
	CHECK(strstr(text, "\n4,0,node-b,done,0,1004,100000000,5000000,125000000,60000000,50000000,"
			   "10000000,20000000,100,1,28000000,1000000,aligned,-2999000000,1.25,812,"
			   "\n") != NULL);
	CHECK(strstr(text, ",alone,,,,\"no, none\"\n") != NULL);
	CHECK(strstr(text, "\n6,2,node-b,done,0,0,100000000,,,,,,,0,1,") != NULL);
	CHECK_U64(lines_with(text, "\n"), 9);
	rk_text_free(text);
	how.format = RK_REPORT_JSON;
	CHECK_I64(rk_ranks_render(&k, &how, &text, &len, NULL), 0);
	CHECK(strncmp(text, "{\"schema\":1,\n \"ranks\":{", 23) == 0);
	CHECK_STR(text + len - 3, "}}\n");
	rk_text_free(text);
	how.format = RK_REPORT_TEXT;
	CHECK_I64(rk_ranks_render(&k, &how, &text, &len, NULL), 0);
	CHECK(strncmp(text, "Ranks: 8 of 10 on 2 nodes, job 4711\n", 36) == 0);
	rk_text_free(text);
}

TEST(a_report_without_ranks_has_no_such_key)
{
	struct rk_report r = { 0 };
	struct rk_bytes out;

	rk_bytes_init(&out, 1 << 20);
	rk_report_json(&out, &r, NULL);
	CHECK(strstr(rk_bytes_str(&out), "\"ranks\"") == NULL);
	rk_bytes_release(&out);
}

TEST(ranks_without_memory_make_a_bad_page_and_no_crash)
{
	static struct rk_ranks_rank ranks[100];
	struct rk_ranks k = job_of(ranks, 100);
	struct rk_render_options look = { .top = 20, .color = true };
	bool failed = true;

	for (uint64_t n = 1; failed && n < 2000; n++) {
		struct rk_bytes out;
		struct rk_page p;

		rk_bytes_init(&out, 1 << 20);
		rk_alloc_fail_after(n);
		rk_page_begin(&p, &out, &look);
		rk_ranks_text(&p, &k);
		rk_page_end(&p);
		rk_ranks_json(&out, &k);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK(out.bad == failed);
		rk_bytes_release(&out);
	}
	CHECK(!failed);
}
