/* stats_kind.c - what a statistics file describes, from the names in it. */
#include "read/stats_kind.h"

#include <string.h>

#include "base/text.h"

enum { MAX_LINES = 64 };

static const struct {
	const char *prefix, *kind;
	bool whole; /* the name must be just this */
} words[] = {
	{ "HSA_API", "domain", true },
	{ "HIP_API", "domain", true },
	{ "MARKER_API", "domain", true },
	{ "KERNEL_DISPATCH", "domain", true },
	{ "MEMORY_COPY", "domain", true },
	{ "SCRATCH_MEMORY", "domain", true },
	{ "RCCL_API", "domain", true },
	{ "MEMORY_ALLOCATION", "domain", true },
	{ "ROCDECODE_API", "domain", true },
	{ "ROCJPEG_API", "domain", true },
	{ "MEMORY_COPY_", "copy", false },
	{ "Copy", "copy", false },
	{ "MEMORY_ALLOCATION_", "memory", false },
	{ "SCRATCH_MEMORY_", "memory", false },
	{ "hsa_", "api", false },
	{ "__hip", "api", false },
	{ "ncclDev", "kernel", false },
	{ "ncclKernel", "kernel", false },
	{ "nccl", "api", false },
	{ "rocDec", "api", false },
	{ "rocJpeg", "api", false },
	{ "roctx", "api", false },
};

/* hipMalloc is a call; hip_kernel or hipfft::detail::k is not. */
static bool is_hip_call(const char *s, size_t len)
{
	size_t i = 3;

	if (len < 4 || memcmp(s, "hip", 3) || s[3] < 'A' || s[3] > 'Z')
		return false;
	while (i < len && (s[i] == '_' || (s[i] >= '0' && s[i] <= '9') ||
			   ((s[i] | 0x20) >= 'a' && (s[i] | 0x20) <= 'z')))
		i++;
	return i == len;
}

static const char *kind_of_name(const char *s, size_t len)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t n = strlen(words[i].prefix);

		if (len >= n && !memcmp(s, words[i].prefix, n) && (!words[i].whole || len == n))
			return words[i].kind;
	}
	return is_hip_call(s, len) ? "api" : NULL;
}

/* The file's name only breaks a tie: markers and kernels can both be called anything. */
static const char *kind_of_path(const char *path)
{
	static const char *const parts[][2] = {
		{ "kernel", "kernel" }, { "marker", "marker" }, { "domain", "domain" },
		{ "copy", "copy" },     { "hip_", "api" },      { "hsa_", "api" },
		{ "rccl_", "api" },     { "alloc", "memory" },  { "scratch", "memory" },
		{ "rocdecode", "api" }, { "rocjpeg", "api" },
	};
	const char *name = rk_base_name(path);

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strstr(name, parts[i][0]))
			return parts[i][1];
	return "kernel";
}

const char *rk_stats_kind(const char *text, size_t len, const char *path)
{
	const char *kind = NULL, *end = text + len;

	for (unsigned lines = 0; text < end && lines < MAX_LINES; lines++) {
		const char *nl = memchr(text, '\n', (size_t)(end - text));
		const char *name = text + (*text == '"'), *stop = name, *found;

		while (stop < end && *stop != ',' && *stop != '"' && *stop != '\n')
			stop++;
		found = kind_of_name(name, (size_t)(stop - name));
		/* one name that fits nothing known: kernels or markers */
		if (!found || (kind && strcmp(kind, found)))
			return kind_of_path(path);
		kind = found;
		if (!nl)
			break;
		text = nl + 1;
	}
	return kind ? kind : kind_of_path(path);
}
