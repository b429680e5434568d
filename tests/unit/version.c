/* version.c - releases of ROCm and of its profilers. */
#include "tool/version.h"

#include <stdio.h>

#include "tap.h"

static const char *parsed(const char *text)
{
	static char buf[64];
	struct rk_version v;

	if (!rk_version_parse(text, &v))
		return "no";
	snprintf(buf, sizeof(buf), "%d.%d.%d", v.major, v.minor, v.patch);
	return buf;
}

TEST(versions_are_read_as_people_and_packages_write_them)
{
	CHECK_STR(parsed("7.0.2"), "7.0.2");
	CHECK_STR(parsed("7.13"), "7.13.0");
	CHECK_STR(parsed("7"), "7.0.0");
	CHECK_STR(parsed("rocm-6.2.1-66"), "6.2.1");
	CHECK_STR(parsed("ROCm 7.0"), "7.0.0");
	CHECK_STR(parsed("v6.4"), "6.4.0");
	CHECK_STR(parsed("6.4.1-83~22.04"), "6.4.1");
	CHECK_STR(parsed("7.10.0a20251101"), "7.10.0");
	CHECK_STR(parsed("10.0.0.dev0"), "10.0.0");
	CHECK_STR(parsed("6.2."), "6.2.0");
}

TEST(an_invalid_version_is_refused)
{
	static const char *const bad[] = { "",      "latest",  ".6",
					   "rocm",  "-1",      "x",
					   "0.0.0", "9999999", "6.9999999999999999999" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_STR(parsed(bad[i]), "no");
}

static const char *release(const char *tool, const char *text)
{
	static char buf[64];
	struct rk_version v;

	if (!rk_version_of_tool(tool, text, &v))
		return "no";
	snprintf(buf, sizeof(buf), "%d.%d.%d", v.major, v.minor, v.patch);
	return buf;
}

TEST(a_profilers_own_number_names_its_release)
{
	CHECK_STR(release("rocprofv3", "0.4.0"), "6.2.0");
	CHECK_STR(release("rocprofv3", "0.5.0"), "6.3.0");
	CHECK_STR(release("rocprofv3", "0.6.0"), "6.4.0");
	CHECK_STR(release("rocprofv3", "1.0.0"), "7.0.0");
	CHECK_STR(release("rocprofv3", "1.1.0"), "7.1.0");
	CHECK_STR(release("rocprofv3", "1.2.7"), "7.11.0");
	CHECK_STR(release("rocprofv3", "1.3.0"), "7.13.0");
	CHECK_STR(release("rocprofv3", "1.3.2"), "7.14.0");
	CHECK_STR(release("rocprofv3", "1.3.5"), "10.0.0");
	CHECK_STR(release("rocprofv3", "1.4.1"), "10.1.0");
	CHECK_STR(release("rocprofv3", "2.4.0"), "10.1.0");
	CHECK_STR(release("rocprofv3", "0.1.0"), "6.2.0");
	CHECK_STR(release("rocprofv3-avail", "1.0.0"), "7.0.0");
	CHECK_STR(release("rocprof-attach", "1.1.0"), "7.1.0");
	CHECK_STR(release("rocprof-compute", "3.1.1"), "6.4.0");
	CHECK_STR(release("rocprof-compute", "3.2.3"), "7.0.0");
	CHECK_STR(release("omniperf", "2.0.1"), "6.2.0");
	CHECK_STR(release("rocprof-sys-sample", "1.0.1"), "6.4.0");
	CHECK_STR(release("rocprof", "2.0.60204"), "6.2.4");
}

TEST(the_versions_of_compute_and_systems_go_with_the_releases_they_came_with)
{
	CHECK_STR(release("rocprof-compute", "3.3.1"), "7.1.1");
	CHECK_STR(release("rocprof-compute", "3.4.0"), "7.2.0");
	CHECK_STR(release("rocprof-compute", "3.5.0"), "7.12.0");
	CHECK_STR(release("rocprof-compute", "3.6.0"), "7.13.0");
	CHECK_STR(release("rocprof-compute", "3.7.0"), "7.14.0");
	CHECK_STR(release("rocprof-compute", "3.8.0"), "10.0.0");
	CHECK_STR(release("rocprof-compute", "3.9.0"), "10.1.0");
	CHECK_STR(release("rocprof-sys-run", "1.1.1"), "7.0.2");
	CHECK_STR(release("rocprof-sys-run", "1.2.1"), "7.1.1");
	CHECK_STR(release("rocprof-sys-run", "1.3.0"), "7.2.0");
	CHECK_STR(release("rocprof-sys-run", "1.4.0"), "7.11.0");
	CHECK_STR(release("rocprof-sys-run", "1.5.0"), "7.12.0");
	CHECK_STR(release("rocprof-sys-run", "1.6.0"), "7.13.0");
	CHECK_STR(release("rocprof-sys-run", "1.7.0"), "7.14.0");
	CHECK_STR(release("rocprof-sys-run", "1.8.0"), "10.0.0");
	CHECK_STR(release("rocprof-sys-run", "1.9.0"), "10.1.0");
}

TEST(a_version_after_the_last_known_one_is_newer)
{
	static const char *const newer[][2] = {
		{ "rocprofv3", "1.4.2" },        { "rocprofv3", "1.5.0" },
		{ "rocprofv3", "2.0" },          { "rocprofv3", "10.2" },
		{ "rocprofv3", "11.0.1" },       { "rocprof-attach", "1.5.0" },
		{ "rocprof-compute", "3.10.0" }, { "rocprof-sys-run", "1.10" },
		{ "rocprof-sys", "10.2.0" },     { "rocprof", "2.0.100200" },
	};
	static const char *const known[][2] = {
		{ "rocprofv3", "1.4.1" },
		{ "rocprofv3", "1.3.9" },
		{ "rocprofv3", "10.1.3" },
		{ "rocprofv3", "7.14" },
		{ "rocprof-compute", "3.9.0" },
		{ "rocprof-sys-run", "1.9.0" },
		{ "omniperf", "2.0.1" },
		{ "omnitrace", "1.12.0" },
		{ "rocprofv3", "soon" },
		{ "rocprof", "2.0.60204" },
		{ "rocprofv3", "" },
	};

	for (size_t i = 0; i < sizeof(newer) / sizeof(newer[0]); i++)
		CHECK(rk_version_newer(newer[i][0], newer[i][1]));
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		CHECK(!rk_version_newer(known[i][0], known[i][1]));
}

TEST(a_release_stays_what_it_is)
{
	CHECK_STR(release("rocprofv3", "6.2.1"), "6.2.1");
	CHECK_STR(release("rocprofv3", "7.0.2"), "7.0.2");
	CHECK_STR(release("rocprof-compute", "7.13"), "7.13.0");
	CHECK_STR(release("rocprofv3", "11.5"), "11.5.0");
	CHECK_STR(release("rocprofv3", "soon"), "no");
}

TEST(an_unknown_release_counts_as_the_newest)
{
	struct rk_version none = { 0, 0, 0 }, v = { 7, 0, 2 };

	CHECK(!rk_version_known(none) && rk_version_known(v));
	CHECK(rk_version_since(none, 99, 0));
	CHECK(!rk_version_before(none, 6, 2));
	CHECK(rk_version_since(v, 7, 0) && !rk_version_since(v, 7, 1));
	CHECK(rk_version_since(v, 6, 4) && rk_version_before(v, 7, 13));
	CHECK(rk_version_compare(v, v) == 0);
	CHECK(rk_version_compare(v, (struct rk_version){ 7, 0, 10 }) < 0);
	CHECK(rk_version_compare((struct rk_version){ 7, 13, 0 }, (struct rk_version){ 7, 2, 4 }) >
	      0);
}
