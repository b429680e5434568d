/* counter_file.c - counters from users' files, good and bad. */
#include "counters/counter_ask.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "tap.h"
#include "world.h"

/* The names, a blank between; or "CODE@LINE message". */
static const char *read_as(const char *name, const char *text)
{
	static char out[1024];
	struct rk_list names = { 0 };
	struct rk_error err = { 0 };
	size_t len = 0;
	int rc = rk_counter_file_parse(text, strlen(text), name, &names, &err);

	out[0] = '\0';
	if (rc < 0)
		snprintf(out, sizeof(out), "%d@%d %s", rc, (int)err.line, err.message);
	for (size_t i = 0; rc == 0 && i < names.n; i++)
		len += (size_t)snprintf(out + len, sizeof(out) - len, "%s%s", i ? " " : "",
					names.v[i]);
	rk_list_release(&names);
	return out;
}

TEST(pmc_lines_are_read_as_rocprof_and_rocprofv3_write_them)
{
	CHECK_STR(read_as("a.txt", "pmc: A B\npmc: C\n"), "A B C");
	CHECK_STR(read_as("a.txt", "pmc : A, B,C\n"), "A B C");
	CHECK_STR(read_as("a.txt", "\t pmc:A\tB\r\n\r\n"), "A B");
	CHECK_STR(read_as("a.txt", "# pmc: A\npmc: B # C\n"), "B");
	CHECK_STR(read_as("a.txt", "range: 3:9\ngpu: 0 1\nkernel: add\nhip : f\nhsa: g\npmc: A"),
		  "A");
	CHECK_STR(read_as("a.txt", "pmc: TCC_HIT[0] SQ_WAVES:device=0 @lds"),
		  "TCC_HIT[0] SQ_WAVES:device=0 @lds");
	CHECK_STR(read_as("a", "\xef\xbb\xbfpmc: A\n"), "A");
	CHECK_STR(read_as("a.txt", "pmc: A\npmc: A B"), "A A B");
}

TEST(job_files_give_the_counters_of_all_jobs)
{
	CHECK_STR(read_as("a.json", "{\"jobs\":[{\"pmc\":[\"A\",\"B\"]},{\"pmc\":[\"C\"]}]}"),
		  "A B C");
	CHECK_STR(read_as("a", "{\"jobs\":[{\"pmc\":\"A B,C\",\"pmc_groups\":[[\"D\"],[\"E\"]]}]}"),
		  "A B C D E");
	CHECK_STR(read_as("a.json",
			  "{\"jobs\":[{\"pmc-groups\":[[\"D\"]],\"kernel_trace\":true}]}"),
		  "D");
	CHECK_STR(read_as("a.json", "{\"pmc\":[\"A\"]}"), "A");
}

TEST(yaml_job_files_are_read)
{
	const char *got = read_as("a.yml", "jobs:\n  - pmc: [A, B]\n  - pmc:\n    - C\n");

	if (strncmp(got, "-6@", 3) == 0)
		SKIP("built without libyaml");
	CHECK_STR(got, "A B C");
	CHECK_STR(read_as("a.yaml", "jobs:\n - pmc_groups: [[A], [B, C]]\n"), "A B C");
	CHECK_STR(read_as("a.yaml", "jobs:\n - kernel_trace: true\n"),
		  "-3@0 no counters; write lines such as 'pmc: NAMES'");
}

TEST(bad_files_say_what_is_wrong_and_where)
{
	static const struct {
		const char *name, *text, *want;
	} bad[] = {
		{ "a.txt", "", "-3@0 no counters; write lines such as 'pmc: NAMES'" },
		{ "a.txt", "# pmc: A\n\n", "-3@0 no counters; write lines such as 'pmc: NAMES'" },
		{ "a.txt", "pmc:\n", "-3@0 no counters; write lines such as 'pmc: NAMES'" },
		{ "a.txt", "pmc: A\nB\n", "-3@2 not a 'pmc: NAMES' line" },
		{ "a.txt", "pmc: A\n\nPMC: B\n", "-3@3 not a 'pmc: NAMES' line" },
		{ "a.txt", "pmc: A;B\n", "-3@1 not a counter name" },
		{ "a.txt", "pmc: \x1b[2J\n", "-3@1 not a counter name" },
		{ "a.xml", " \n<metric name=A>",
		  "-6@0 rocprof XML is not supported; write the counters as 'pmc: NAMES'" },
		{ "a.json", "{\"jobs\":[{\"pmc\":[1]}]}", "-3@1 'pmc' must be a list of names" },
		{ "a.json", "{\"jobs\":[{\"pmc\":\n{}}]}", "-3@2 'pmc' must be a list of names" },
		{ "a.json", "{\"jobs\":1}", "-3@0 no counters; write lines such as 'pmc: NAMES'" },
		{ "a.json", "[]", "-3@0 no counters; write lines such as 'pmc: NAMES'" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_STR(read_as(bad[i].name, bad[i].text), bad[i].want);
}

TEST(a_nul_is_not_part_of_a_name)
{
	struct rk_list names = { 0 };
	struct rk_error err = { 0 };

	CHECK_I64(rk_counter_file_parse("pmc: A\0B", 8, "a.txt", &names, &err), RK_E_FORMAT);
	CHECK_STR(err.file, "a.txt");
	rk_list_release(&names);
}

TEST(a_file_of_counters_has_limits)
{
	struct rk_list names = { 0 };
	struct rk_error err = { 0 };
	static char text[RK_COUNTER_FILE_BYTES_MAX + 10];
	struct world w;

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = i % 2 ? 'A' : ' ';
	for (size_t i = 0; i < 4; i++)
		text[i] = "pmc:"[i];
	CHECK_I64(rk_counter_file_parse(text, 20000, "a.txt", &names, &err), RK_E_LIMIT);
	rk_list_release(&names);
	rk_error_clear(&err);
	for (size_t i = 4; i < 200; i++)
		text[i] = 'A';
	CHECK_I64(rk_counter_file_parse(text, 200, "a.txt", &names, &err), RK_E_FORMAT);
	rk_list_release(&names);
	rk_error_clear(&err);
	world_open(&w, 1);
	CHECK_I64(rk_counter_file_read(world_file(&w, "a.txt", text, sizeof(text)), &names, &err),
		  RK_E_LIMIT);
	rk_error_clear(&err);
	CHECK_I64(rk_counter_file_read(world_text(&w, "b.txt", "pmc: A"), &names, &err), 0);
	CHECK_U64(names.n, 1);
	CHECK_I64(rk_counter_file_read(w.dir, &names, &err), RK_E_IO);
	rk_list_release(&names);
	world_close(&w);
}

TEST(a_file_survives_every_failed_allocation)
{
	static const char *const texts[][2] = {
		{ "a.txt", "pmc: A B\npmc: C\n" },
		{ "a.json", "{\"jobs\":[{\"pmc\":[\"A\",\"B\"]}]}" },
		{ "a.yaml", "jobs:\n - pmc: [A, B]\n" },
	};

	for (size_t i = 0; i < 3; i++) {
		bool failed = true;

		for (uint64_t n = 1; failed && n < 1000; n++) {
			struct rk_list names = { 0 };
			struct rk_error err = { 0 };
			int rc;

			rk_alloc_fail_after(n);
			rc = rk_counter_file_parse(texts[i][1], strlen(texts[i][1]), texts[i][0],
						   &names, &err);
			failed = rk_alloc_failed();
			rk_alloc_fail_after(0);
			CHECK(rc == 0 || rc == RK_E_NOMEM || rc == RK_E_UNSUPPORTED);
			rk_list_release(&names);
		}
		CHECK(!failed);
	}
}
