/* tool_rocprofv3.c - the options of rocprofv3, release by release. */
#include "base/alloc.h"
#include "tool_world.h"

static const char *const releases[] = { "6.2", "6.3", "6.4", "7.0", "7.1", "7.13", "10.0", "" };
enum { NRELEASES = sizeof(releases) / sizeof(releases[0]) };

#define HOST " -o %hostname%/%pid% -- ./app -n 4 2"

TEST(rocprofv3_traces_in_each_release)
{
	struct wish w;

	wish_open(&w, RK_TRACE_HIP | RK_TRACE_KERNEL | RK_TRACE_MEMCPY);
	CHECK_STR(wish_told(&w, "rocprofv3", "6.2"),
		  "rocprofv3 --hip-trace --kernel-trace --memory-copy-trace --output-format csv "
		  "-d /out -o %pid% -- ./app -n 4 2");
	CHECK_STR(wish_told(&w, "rocprofv3", "6.3"),
		  "rocprofv3 --hip-trace --kernel-trace --memory-copy-trace --output-format csv "
		  "-d /out -o %pid% -- ./app -n 4 2");
	CHECK_STR(wish_told(&w, "rocprofv3", "6.4"),
		  "rocprofv3 --hip-trace --kernel-trace --memory-copy-trace --output-format csv "
		  "-d /out/%hostname% -o %pid% -- ./app -n 4 2");
	for (size_t i = 3; i < NRELEASES; i++)
		CHECK_STR(wish_told(&w, "rocprofv3", releases[i]),
			  "rocprofv3 --hip-trace --kernel-trace --memory-copy-trace "
			  "--output-format rocpd -d /out" HOST);
	CHECK_U64(w.cmd.delivers, RK_TRACE_HIP | RK_TRACE_KERNEL | RK_TRACE_MEMCPY);
	CHECK_STR(wish_notes(&w), "");
	wish_close(&w);
}

TEST(rocprofv3_of_6_2_has_neither_rccl_nor_allocations)
{
	struct wish w;

	wish_open(&w, RK_TRACE_SYS);
	CHECK_STR(wish_told(&w, "rocprofv3", "6.2"),
		  "rocprofv3 --hip-trace --hsa-trace --kernel-trace --memory-copy-trace "
		  "--marker-trace --scratch-memory-trace --output-format csv -d /out -o %pid% "
		  "-- ./app -n 4 2");
	CHECK_U64(w.cmd.delivers, RK_TRACE_SYS & ~(RK_TRACE_RCCL | RK_TRACE_ALLOC));
	CHECK_STR(w.cmd.notes.v[0],
		  "no rccl trace: rocprofv3 has --rccl-trace since ROCm 6.3, this is 6.2");
	CHECK(strstr(w.cmd.notes.v[1], "no alloc trace") != NULL);
	CHECK(strstr(w.cmd.notes.v[2], "no copy sizes") != NULL);
	wish_close(&w);
}

TEST(the_traces_of_later_releases_are_left_out_before_them)
{
	const unsigned later = RK_TRACE_KFD | RK_TRACE_OMPT | RK_TRACE_GRAPH | RK_TRACE_ROCSHMEM |
			       RK_TRACE_HIPFILE | RK_TRACE_ROCDECODE;
	struct wish w;

	wish_open(&w, later);
	CHECK_STR(wish_told(&w, "rocprofv3", "6.4"),
		  "rocprofv3 --rocdecode-trace --output-format csv -d /out/%hostname% -o %pid% "
		  "-- ./app -n 4 2");
	CHECK_U64(w.cmd.notes.n, 5);
	CHECK_STR(w.cmd.notes.v[0],
		  "no kfd trace: rocprofv3 has --kfd-trace since ROCm 7.13, this is 6.4");
	CHECK_STR(wish_told(&w, "rocprofv3", "7.13"),
		  "rocprofv3 --kfd-trace --hip-graph-trace --rocshmem-trace --rocdecode-trace "
		  "--output-format rocpd -d /out" HOST);
	CHECK_STR(w.cmd.notes.v[0],
		  "no ompt trace: rocprofv3 has --ompt-trace since ROCm 10.0, this is 7.13");
	CHECK_STR(wish_told(&w, "rocprofv3", "10.0"),
		  "rocprofv3 --kfd-trace --ompt-trace --hip-graph-trace --rocshmem-trace "
		  "--hipfile-trace --rocdecode-trace --output-format rocpd -d /out" HOST);
	CHECK_U64(w.cmd.delivers, later);
	CHECK_STR(wish_notes(&w), "");
	wish_close(&w);
}

TEST(calls_of_rocjpeg_are_only_in_csv)
{
	struct wish w;

	wish_open(&w, RK_TRACE_MEMCPY | RK_TRACE_ROCJPEG);
	CHECK_STR(wish_told(&w, "rocprofv3", "10.1"),
		  "rocprofv3 --memory-copy-trace --rocjpeg-trace --output-format csv -d /out" HOST);
	CHECK(strstr(wish_notes(&w), "which alone has calls of rocJPEG") != NULL);
	w.want.traces = RK_TRACE_KFD | RK_TRACE_ROCJPEG;
	CHECK_STR(wish_told(&w, "rocprofv3", "10.1"),
		  "rocprofv3 --kfd-trace --output-format rocpd -d /out" HOST);
	CHECK_U64(w.cmd.delivers, RK_TRACE_KFD);
	CHECK(strstr(wish_notes(&w), "no rocjpeg trace: its calls are only in CSV") != NULL);
	wish_close(&w);
}

TEST(markers_before_7_13_go_to_csv)
{
	struct wish w;

	wish_open(&w, RK_TRACE_KERNEL | RK_TRACE_MARKER);
	CHECK_STR(wish_told(&w, "rocprofv3", "7.0"),
		  "rocprofv3 --kernel-trace --marker-trace --output-format csv -d /out" HOST);
	CHECK_STR(wish_told(&w, "rocprofv3", "7.13"),
		  "rocprofv3 --kernel-trace --marker-trace --output-format rocpd -d /out" HOST);
	wish_close(&w);
}

TEST(counters_are_a_file_in_6_2_and_words_after)
{
	struct wish w;

	wish_open(&w, RK_TRACE_KERNEL);
	rk_list_add(&w.counters, "SQ_WAVES");
	rk_list_add(&w.counters, "GRBM_COUNT");
	CHECK_STR(wish_told(&w, "rocprofv3", "6.2"),
		  "rocprofv3 --kernel-trace -i /out/counters.txt --output-format csv -d /out "
		  "-o %pid% -- ./app -n 4 2");
	CHECK_STR(w.cmd.file.path, "/out/counters.txt");
	CHECK_STR(w.cmd.file.text, "pmc: SQ_WAVES GRBM_COUNT\n");
	CHECK_STR(wish_told(&w, "rocprofv3", "6.3"),
		  "rocprofv3 --kernel-trace --pmc SQ_WAVES GRBM_COUNT --output-format csv "
		  "-d /out -o %pid% -- ./app -n 4 2");
	CHECK_STR(wish_told(&w, "rocprofv3", "6.4"),
		  "rocprofv3 --kernel-trace --pmc SQ_WAVES GRBM_COUNT --output-format csv "
		  "-d /out/%hostname% -o %pid% -- ./app -n 4 2");
	CHECK(w.cmd.counters && !w.cmd.file.path);
	CHECK_STR(wish_told(&w, "rocprofv3", "7.0.2"),
		  "rocprofv3 --kernel-trace --pmc SQ_WAVES GRBM_COUNT --output-format rocpd "
		  "-d /out" HOST);
	w.want.traces = 0;
	w.want.kernel_regex = "-gemm.*";
	CHECK_STR(wish_told(&w, "rocprofv3", "10.0"),
		  "rocprofv3 --pmc SQ_WAVES GRBM_COUNT --kernel-include-regex=-gemm.* "
		  "--output-format rocpd -d /out" HOST);
	CHECK_STR(wish_notes(&w), "");
	wish_close(&w);
}

TEST(a_trace_is_not_filtered_and_says_so)
{
	struct wish w;

	wish_open(&w, RK_TRACE_KERNEL);
	w.want.kernel_regex = "gemm";
	CHECK_STR(wish_told(&w, "rocprofv3", "7.13"),
		  "rocprofv3 --kernel-trace --output-format rocpd -d /out" HOST);
	CHECK(strstr(wish_notes(&w), "the trace has all kernels") != NULL);
	wish_close(&w);
}

TEST(statistics_come_with_csv_and_a_trace_only)
{
	struct wish w;

	wish_open(&w, RK_TRACE_KERNEL);
	w.want.stats = true;
	CHECK_STR(wish_told(&w, "rocprofv3", "6.3"),
		  "rocprofv3 --kernel-trace --stats --output-format csv -d /out -o %pid% "
		  "-- ./app -n 4 2");
	CHECK_STR(wish_told(&w, "rocprofv3", "7.1"),
		  "rocprofv3 --kernel-trace --output-format rocpd -d /out" HOST);
	CHECK_STR(wish_notes(&w), ""); /* rockit writes its own */
	w.want.traces = 0;
	rk_list_add(&w.counters, "SQ_WAVES");
	CHECK(!strstr(wish_told(&w, "rocprofv3", "6.4"), "--stats"));
	wish_close(&w);
}

#define PC " --pc-sampling-beta-enabled --pc-sampling-method "

TEST(pc_sampling_is_what_chip_and_release_can_do)
{
	const struct rk_pc_sampling any = { 0 };
	struct wish w;

	wish_open(&w, RK_TRACE_KERNEL);
	w.want.pc = &any;
	w.want.arch = "gfx942";
	CHECK_STR(wish_told(&w, "rocprofv3", "7.0"),
		  "rocprofv3 --kernel-trace" PC "stochastic --pc-sampling-unit cycles "
		  "--pc-sampling-interval 1048576 --output-format csv rocpd -d /out" HOST);
	CHECK(w.cmd.pc);
	CHECK_STR(wish_told(&w, "rocprofv3", "6.4"),
		  "rocprofv3 --kernel-trace" PC "host_trap --pc-sampling-unit time "
		  "--pc-sampling-interval 1000 --output-format csv -d /out/%hostname% -o %pid% "
		  "-- ./app -n 4 2");
	w.want.arch = "gfx90a";
	CHECK(strstr(wish_told(&w, "rocprofv3", "7.13"), PC "host_trap --pc-sampling-unit time"));
	w.want.arch = ""; /* traps work wherever samples do */
	CHECK(strstr(wish_told(&w, "rocprofv3", "7.13"), PC "host_trap"));
	w.want.arch = "gfx1100";
	CHECK(!strstr(wish_told(&w, "rocprofv3", "7.13"), "--pc-"));
	CHECK(!w.cmd.pc && strstr(wish_notes(&w), "gfx1100 does not"));
	w.want.arch = "gfx942";
	CHECK(!strstr(wish_told(&w, "rocprofv3", "6.3"), "--pc-"));
	CHECK(!w.cmd.pc && strstr(wish_notes(&w), "since ROCm 6.4"));
	wish_close(&w);
}

TEST(a_wrong_wish_for_pc_sampling_is_set_right)
{
	const struct rk_pc_sampling old = { "stochastic", "time", 1000 };
	const struct rk_pc_sampling odd = { "stochastic", "cycles", 1000000 };
	const struct rk_pc_sampling trap = { NULL, "time", 50 };
	struct wish w;

	wish_open(&w, RK_TRACE_KERNEL);
	w.want.arch = "gfx950";
	w.want.pc = &old;
	CHECK(strstr(wish_told(&w, "rocprofv3", "7.0"), "cycles --pc-sampling-interval 1048576"));
	CHECK(strstr(wish_notes(&w), "counts cycles, not time"));
	w.want.pc = &odd;
	CHECK(strstr(wish_told(&w, "rocprofv3", "7.0"), "--pc-sampling-interval 1048576"));
	CHECK(strstr(wish_notes(&w), "powers of two"));
	w.want.pc = &trap;
	CHECK(strstr(wish_told(&w, "rocprofv3", "7.0"),
		     "host_trap --pc-sampling-unit time --pc-sampling-interval 50"));
	CHECK_STR(wish_notes(&w), "");
	w.want.pc = &old;
	w.want.arch = "gfx90a";
	CHECK(strstr(wish_told(&w, "rocprofv3", "7.0"), "time --pc-sampling-interval 1000"));
	CHECK(strstr(wish_notes(&w), "stochastic needs"));
	wish_close(&w);
}

TEST(ranks_have_folders_of_their_own)
{
	struct wish w;

	wish_open(&w, RK_TRACE_KERNEL);
	w.want.rank_key = "RANK";
	CHECK(strstr(wish_told(&w, "rocprofv3", "7.0"),
		     " -d /out -o rank-%env{RANK}%/%hostname%/%pid% -- "));
	CHECK(strstr(wish_told(&w, "rocprofv3", "6.4"),
		     " -d /out/rank-%env{RANK}%/%hostname% -o %pid% -- "));
	CHECK(strstr(wish_told(&w, "rocprofv3", "6.2"), " -d /out/rank-%env{RANK}% -o %pid% -- "));
	w.want.rank_key = "mpi";
	CHECK(strstr(wish_told(&w, "rocprofv3", "7.0"), " -o rank-%rank%/%hostname%/%pid% -- "));
	CHECK(strstr(wish_told(&w, "rocprofv3", "6.2"), " -d /out/rank-%rank% -o %pid% -- "));
	w.want.rank_key = "my rank}";
	CHECK(strstr(wish_told(&w, "rocprofv3", "7.0"), " -o %hostname%/%pid% -- "));
	CHECK(strstr(wish_notes(&w), "cannot expand 'my rank}'"));
	wish_close(&w);
}

TEST(a_directory_with_keys_in_its_name_is_warned_of)
{
	struct wish w;

	wish_open(&w, RK_TRACE_KERNEL);
	w.want.dir = "/out/50%pid%";
	wish_told(&w, "rocprofv3", "7.0");
	CHECK(strstr(wish_notes(&w), "/out/50%pid%"));
	wish_close(&w);
}

/* The first of the front ends that has each option, as they were run: 0 July 2024 (6.2), 1 October
 * 2024 (6.3), 2 February 2025 (6.4), 3 August 2025 (7.0), 4 2026. */
static const struct {
	const char *option;
	unsigned since;
} known[] = {
	{ "--hip-trace", 0 },
	{ "--hsa-trace", 0 },
	{ "--kernel-trace", 0 },
	{ "--memory-copy-trace", 0 },
	{ "--marker-trace", 0 },
	{ "--scratch-memory-trace", 0 },
	{ "--stats", 0 },
	{ "-i", 0 },
	{ "-o", 0 },
	{ "-d", 0 },
	{ "--output-format", 0 },
	{ "--kernel-include-regex", 0 },
	{ "--rccl-trace", 1 },
	{ "--memory-allocation-trace", 2 },
	{ "--pmc", 1 }, /* from the last weeks before 6.3 */
	{ "--pc-sampling-unit", 2 },
	{ "--pc-sampling-method", 2 },
	{ "--pc-sampling-interval", 2 },
	{ "--pc-sampling-beta-enabled", 2 },
};

static const unsigned front_end[NRELEASES] = { 0, 1, 2, 3, 3, 4, 4, 4 };

static bool has_option(const char *word, unsigned when)
{
	size_t len = strcspn(word, "=");

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strlen(known[i].option) == len && !strncmp(known[i].option, word, len))
			return known[i].since <= when;
	return false;
}

/* Options before "--" exist; -o has the process; rocpd is not asked of 6.x; the program is whole. */
static bool sound(const struct wish *w, unsigned when)
{
	const struct rk_list *a = &w->cmd.argv;
	bool pid = false, ok = true;
	size_t i;

	for (i = 1; ok && i < a->n && strcmp(a->v[i], "--") != 0; i++) {
		if (a->v[i][0] == '-')
			ok = has_option(a->v[i], when);
		pid = pid || (!strcmp(a->v[i - 1], "-o") && strstr(a->v[i], "%pid%"));
		ok = ok && (when >= 3 || strcmp(a->v[i], "rocpd") != 0);
	}
	return ok && pid && a->n - i == w->app.n + 1 && !strcmp(a->v[a->n - 1], "4 2");
}

TEST(every_option_exists_in_its_release)
{
	static const char *const chips[] = { "", "gfx908", "gfx90a", "gfx942", "gfx1201" };
	static const struct rk_pc_sampling pc = { 0 };
	unsigned bad = 0;
	struct wish w;

	wish_open(&w, 0);
	rk_list_add(&w.counters, "SQ_WAVES");
	for (unsigned n = 0; n < 256 * 16 * 5; n++) {
		w.want.traces = n & 255;
		w.want.counters = n >> 8 & 1 ? &w.counters : NULL;
		w.want.pc = n >> 9 & 1 ? &pc : NULL;
		w.want.stats = n >> 10 & 1;
		w.want.kernel_regex = n >> 11 & 1 ? "a|b" : NULL;
		w.want.arch = chips[n >> 12];
		for (size_t r = 0; r < NRELEASES; r++) {
			wish_told(&w, "rocprofv3", releases[r]);
			bad += !sound(&w, front_end[r]);
			bad += (w.cmd.delivers & ~w.want.traces) != 0;
		}
	}
	CHECK_U64(bad, 0);
	wish_close(&w);
}

TEST(raw_options_come_right_before_the_program)
{
	struct wish w;

	wish_open(&w, RK_TRACE_KERNEL);
	rk_list_add(&w.extra, "--output-format");
	rk_list_add(&w.extra, "json");
	CHECK_STR(wish_told(&w, "rocprofv3", "7.1"),
		  "rocprofv3 --kernel-trace --output-format rocpd -d /out -o %hostname%/%pid% "
		  "--output-format json -- ./app -n 4 2");
	wish_close(&w);
}

TEST(each_failed_allocation_of_a_command_is_an_error)
{
	bool failed = true;

	for (uint64_t n = 1; failed && n < 1000; n++) {
		struct wish w;
		int rc;

		wish_open(&w, RK_TRACE_SYS);
		rk_list_add(&w.counters, "SQ_WAVES");
		w.want.rank_key = "RANK";
		rk_alloc_fail_after(n);
		rc = rk_tool_find("rocprofv3")
			     ->command("rocprofv3", (struct rk_version){ 6, 2, 0 }, &w.want, &w.cmd,
				       &w.err);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK(failed ? rc == RK_E_NOMEM && !w.cmd.argv.v : rc == 0);
		wish_close(&w);
	}
	CHECK(!failed);
}
