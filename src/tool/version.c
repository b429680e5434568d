/* version.c - releases of ROCm and of its profilers. */
#include "tool/version.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/text.h"

enum { MAX_NUMBER = 999999 };

/*
 * The ROCm release of a profiler's own version. Each tool's rows ascend; a version between two rows
 * belongs to the lower one, a version after the last row to the last: a newer tool is called like the
 * newest known one, see rk_version_newer().
 */
static const struct own_number {
	const char *tool; /* the program's name, or the beginning of it */
	struct rk_version own, rocm;
} own_numbers[] = {
	/*
	 * rocprofiler-sdk: 7.2 has the SDK of 7.1, and 7.2.4 that of 7.13. That 1.2 is of 7.11 is not
	 * confirmed: no option differs between 7.2 and 7.12.
	 */
	{ "rocprofv3", { 0, 4, 0 }, { 6, 2, 0 } },
	{ "rocprofv3", { 0, 5, 0 }, { 6, 3, 0 } },
	{ "rocprofv3", { 0, 6, 0 }, { 6, 4, 0 } },
	{ "rocprofv3", { 1, 0, 0 }, { 7, 0, 0 } },
	{ "rocprofv3", { 1, 1, 0 }, { 7, 1, 0 } },
	{ "rocprofv3", { 1, 2, 0 }, { 7, 11, 0 } },
	{ "rocprofv3", { 1, 3, 0 }, { 7, 13, 0 } },
	{ "rocprofv3", { 1, 3, 2 }, { 7, 14, 0 } },
	{ "rocprofv3", { 1, 3, 5 }, { 10, 0, 0 } },
	{ "rocprofv3", { 1, 4, 1 }, { 10, 1, 0 } },
	{ "rocprof-compute", { 2, 0, 0 }, { 6, 2, 0 } },
	{ "rocprof-compute", { 3, 0, 0 }, { 6, 3, 0 } },
	{ "rocprof-compute", { 3, 1, 0 }, { 6, 4, 0 } },
	{ "rocprof-compute", { 3, 2, 0 }, { 7, 0, 0 } },
	{ "rocprof-compute", { 3, 3, 0 }, { 7, 1, 0 } },
	{ "rocprof-compute", { 3, 3, 1 }, { 7, 1, 1 } },
	{ "rocprof-compute", { 3, 4, 0 }, { 7, 2, 0 } },
	{ "rocprof-compute", { 3, 5, 0 }, { 7, 12, 0 } },
	{ "rocprof-compute", { 3, 6, 0 }, { 7, 13, 0 } },
	{ "rocprof-compute", { 3, 7, 0 }, { 7, 14, 0 } },
	{ "rocprof-compute", { 3, 8, 0 }, { 10, 0, 0 } },
	{ "rocprof-compute", { 3, 9, 0 }, { 10, 1, 0 } },
	{ "omniperf", { 2, 0, 0 }, { 6, 2, 0 } },
	{ "rocprof-sys", { 0, 1, 0 }, { 6, 3, 0 } },
	{ "rocprof-sys", { 1, 0, 0 }, { 6, 4, 0 } },
	{ "rocprof-sys", { 1, 1, 0 }, { 7, 0, 0 } },
	{ "rocprof-sys", { 1, 1, 1 }, { 7, 0, 2 } },
	{ "rocprof-sys", { 1, 2, 0 }, { 7, 1, 0 } },
	{ "rocprof-sys", { 1, 2, 1 }, { 7, 1, 1 } },
	{ "rocprof-sys", { 1, 3, 0 }, { 7, 2, 0 } },
	{ "rocprof-sys", { 1, 4, 0 }, { 7, 11, 0 } },
	{ "rocprof-sys", { 1, 5, 0 }, { 7, 12, 0 } },
	{ "rocprof-sys", { 1, 6, 0 }, { 7, 13, 0 } },
	{ "rocprof-sys", { 1, 7, 0 }, { 7, 14, 0 } },
	{ "rocprof-sys", { 1, 8, 0 }, { 10, 0, 0 } }, /* not confirmed */
	{ "rocprof-sys", { 1, 9, 0 }, { 10, 1, 0 } },
	{ "omnitrace", { 1, 0, 0 }, { 6, 2, 0 } },
};

bool rk_version_parse(const char *text, struct rk_version *ret)
{
	static const char *const words[] = { "rocm", "version", "v" };
	struct rk_version v = { 0, 0, 0 };
	int *const parts[] = { &v.major, &v.minor, &v.patch };
	const char *p = text;

	/* words before a version: "rocm-6.2.1", "v7.0", "ROCm 7.0" */
	for (size_t i = 0; p == text && i < sizeof(words) / sizeof(words[0]); i++)
		if (rk_text_iprefix(text, strlen(text), words[i]))
			p += strlen(words[i]) + strspn(text + strlen(words[i]), "-_ :");
	for (unsigned i = 0; i < 3; i++) {
		if (!rk_is_digit(*p))
			return false;
		for (; rk_is_digit(*p); p++) {
			*parts[i] = *parts[i] * 10 + (*p - '0');
			if (*parts[i] > MAX_NUMBER)
				return false;
		}
		if (*p != '.' || !rk_is_digit(p[1]))
			break;
		p++;
	}
	if (!rk_version_known(v))
		return false;
	*ret = v;
	return true;
}

int rk_version_compare(struct rk_version a, struct rk_version b)
{
	if (a.major != b.major)
		return a.major < b.major ? -1 : 1;
	if (a.minor != b.minor)
		return a.minor < b.minor ? -1 : 1;
	return (a.patch > b.patch) - (a.patch < b.patch);
}

bool rk_version_known(struct rk_version v)
{
	return v.major || v.minor || v.patch;
}

bool rk_version_since(struct rk_version v, int major, int minor)
{
	return !rk_version_known(v) ||
	       rk_version_compare(v, (struct rk_version){ major, minor, 0 }) >= 0;
}

bool rk_version_before(struct rk_version v, int major, int minor)
{
	return !rk_version_since(v, major, minor);
}

/*
 * The row for version `v` of `tool`; NULL if `v` is a release of ROCm, or the tool has no rows.
 * *ret_last: it is the tool's last row.
 */
static const struct own_number *own_number(const char *tool, struct rk_version v, bool *ret_last)
{
	const struct own_number *best = NULL;

	*ret_last = false;
	if (!strcmp(tool, "rocprof-attach")) /* comes with rocprofiler-sdk, as rocprofv3-avail */
		tool = "rocprofv3";
	/* So far every profiler's own version number is far below ROCm's. */
	for (size_t i = 0; v.major < 5 && i < sizeof(own_numbers) / sizeof(own_numbers[0]); i++) {
		const struct own_number *o = &own_numbers[i];

		if (strncmp(tool, o->tool, strlen(o->tool)) != 0)
			continue;
		*ret_last = !best || rk_version_compare(v, o->own) >= 0;
		if (*ret_last)
			best = o;
	}
	return best;
}

bool rk_version_of_tool(const char *tool, const char *text, struct rk_version *ret)
{
	const struct own_number *own;
	struct rk_version v;
	bool last;

	if (!rk_version_parse(text, &v))
		return false;
	/* rocprofiler 2.0.60204 is from ROCm 6.2.4: packages have the release in one number. */
	if (v.patch >= 40000) {
		*ret = (struct rk_version){ v.patch / 10000, v.patch / 100 % 100, v.patch % 100 };
		return true;
	}
	own = own_number(tool, v, &last);
	*ret = own ? own->rocm : v;
	return true;
}

bool rk_version_newer(const char *tool, const char *text)
{
	const struct own_number *own;
	struct rk_version v, rocm;
	bool last;

	if (!rk_version_of_tool(tool, text, &rocm) || !rk_version_parse(text, &v))
		return false;
	own = own_number(tool, v, &last);
	/* omniperf and omnitrace ended: the next version has another name */
	if (own && last && rk_version_compare(own->rocm, RK_ROCM_NEWEST) == 0)
		return rk_version_compare(v, own->own) > 0;
	return !own && rk_version_since(rocm, RK_ROCM_NEWEST.major, RK_ROCM_NEWEST.minor + 1);
}
