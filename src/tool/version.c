/* version.c - see version.h. */
#include "tool/version.h"

#include <stddef.h>
#include <string.h>

#include "base/text.h"

enum { MAX_NUMBER = 999999 };

/*
 * Which ROCm release a profiler's own number belongs to. Each tool's rows ascend; a number in
 * between belongs to the row below it, one past the last to the last: a newer tool is spoken to
 * like the newest known one.
 */
static const struct own_number {
	const char *tool; /* the program's name, or what it begins with */
	struct rk_version own, rocm;
} own_numbers[] = {
	/* rocprofiler-sdk; 7.2.4 was given the SDK of 7.13 */
	{ "rocprofv3", { 0, 4, 0 }, { 6, 2, 0 } },
	{ "rocprofv3", { 0, 5, 0 }, { 6, 3, 0 } },
	{ "rocprofv3", { 0, 6, 0 }, { 6, 4, 0 } },
	{ "rocprofv3", { 1, 0, 0 }, { 7, 0, 0 } },
	{ "rocprofv3", { 1, 1, 0 }, { 7, 1, 0 } },
	{ "rocprofv3", { 1, 3, 0 }, { 7, 13, 0 } },
	{ "rocprofv3", { 1, 3, 2 }, { 7, 14, 0 } },
	{ "rocprofv3", { 1, 3, 5 }, { 10, 0, 0 } },
	{ "rocprof-compute", { 2, 0, 0 }, { 6, 2, 0 } },
	{ "rocprof-compute", { 3, 0, 0 }, { 6, 3, 0 } },
	{ "rocprof-compute", { 3, 1, 0 }, { 6, 4, 0 } },
	{ "rocprof-compute", { 3, 2, 0 }, { 7, 0, 0 } },
	{ "rocprof-compute", { 3, 3, 0 }, { 7, 1, 0 } },
	{ "rocprof-compute", { 3, 4, 0 }, { 7, 2, 0 } },
	{ "rocprof-compute", { 3, 5, 0 }, { 7, 13, 0 } },
	{ "omniperf", { 2, 0, 0 }, { 6, 2, 0 } },
	{ "rocprof-sys", { 0, 1, 0 }, { 6, 3, 0 } },
	{ "rocprof-sys", { 1, 0, 0 }, { 6, 4, 0 } },
	{ "rocprof-sys", { 1, 1, 0 }, { 7, 0, 0 } },
	{ "rocprof-sys", { 1, 2, 0 }, { 7, 1, 0 } },
	{ "rocprof-sys", { 1, 3, 0 }, { 7, 2, 0 } },
	{ "rocprof-sys", { 1, 4, 0 }, { 7, 13, 0 } },
	{ "omnitrace", { 1, 0, 0 }, { 6, 2, 0 } },
};

/* A number at *p, left behind its digits; -1 when there is none or it is absurd. */
static int number_at(const char **p)
{
	int v = 0;

	if (**p < '0' || **p > '9')
		return -1;
	for (; **p >= '0' && **p <= '9'; (*p)++) {
		v = v * 10 + (**p - '0');
		if (v > MAX_NUMBER)
			return -1;
	}
	return v;
}

/* Words that stand before a version: "rocm-6.2.1", "v7.0", "ROCm 7.0". */
static const char *behind_prefix(const char *text)
{
	static const char *const words[] = { "rocm", "version", "v" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!rk_text_iprefix(text, strlen(text), words[i]))
			continue;
		text += strlen(words[i]);
		return text + strspn(text, "-_ :");
	}
	return text;
}

bool rk_version_parse(const char *text, struct rk_version *ret)
{
	struct rk_version v = { 0, 0, 0 };
	int *const parts[] = { &v.major, &v.minor, &v.patch };
	const char *p = behind_prefix(text);

	for (unsigned i = 0; i < 3; i++) {
		int n = number_at(&p);

		if (n < 0)
			return false;
		*parts[i] = n;
		if (*p != '.' || p[1] < '0' || p[1] > '9')
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
	return a.patch < b.patch ? -1 : a.patch > b.patch;
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

/* rocprofiler 2.0.60204 is of ROCm 6.2.4: packages carry the release in one number. */
static bool packed_release(struct rk_version v, struct rk_version *ret)
{
	if (v.patch < 40000)
		return false;
	*ret = (struct rk_version){ v.patch / 10000, v.patch / 100 % 100, v.patch % 100 };
	return true;
}

/* rocprofv3-avail and rocprof-attach come with rocprofiler-sdk. */
static const char *family(const char *tool)
{
	return !strcmp(tool, "rocprof-attach") ? "rocprofv3" : tool;
}

bool rk_version_of_tool(const char *tool, const char *text, struct rk_version *ret)
{
	const struct own_number *best = NULL;
	struct rk_version v;

	if (!rk_version_parse(text, &v))
		return false;
	if (packed_release(v, ret))
		return true;
	/* No profiler's own number has come near ROCm's yet. */
	for (size_t i = 0; v.major < 5 && i < sizeof(own_numbers) / sizeof(own_numbers[0]); i++) {
		const struct own_number *o = &own_numbers[i];

		if (strncmp(family(tool), o->tool, strlen(o->tool)) != 0)
			continue;
		if (!best || rk_version_compare(v, o->own) >= 0)
			best = o;
	}
	*ret = best ? best->rocm : v;
	return true;
}
