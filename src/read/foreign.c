/* foreign.c - files that rockit does not read: what they are, and how to get one that it reads. */
#include "read/foreign.h"

#include <string.h>

#include "base/text.h"

static bool begins(const char *head, size_t len, const char *with, size_t n)
{
	return len >= n && !memcmp(head, with, n);
}

static bool named(const char *path, const char *ending)
{
	return rk_text_ends(path, strlen(path), ending);
}

static bool has(const char *head, size_t len, const char *text)
{
	return memmem(head, len, text, strlen(text)) != NULL;
}

int rk_foreign_fail(const char *path, const char *head, size_t len, struct rk_error *err)
{
	const char *base = rk_base_name(path);
	/* the reports have no magic number that all releases share: text is something else */
	bool binary = memchr(head, 0, len) != NULL;

	if (begins(head, len, "version https://git-lfs.github.com/spec/", 40))
		return rk_fail(err, RK_E_FORMAT,
			       "'%s' is a Git LFS pointer, not the file itself: fetch it with "
			       "'git lfs pull --include %s'",
			       path, base);
	if (begins(head, len, "NVR\0", 4) || (binary && named(path, ".ncu-rep")))
		return rk_fail(err, RK_E_UNSUPPORTED,
			       "'%s' is a binary report of Nsight Compute: export it with "
			       "'ncu --import %s --csv --page raw > %s.csv'",
			       path, base, base);
	if (binary && (named(path, ".nsys-rep") || named(path, ".qdrep") || named(path, ".qdstrm")))
		return rk_fail(err, RK_E_UNSUPPORTED,
			       "'%s' is a binary report of Nsight Systems: export it with "
			       "'nsys export --type sqlite %s'",
			       path, base);
	/* of TensorFlow's profiler, and the same file that JAX writes beside its xplane.pb */
	if (has(head, len, "\"highres-ticks\"") && has(head, len, "\"traceEvents\""))
		return rk_fail(err, RK_E_UNSUPPORTED,
			       "'%s' is TensorFlow's trace for a viewer, which lacks kernels: give "
			       "the '.xplane.pb' file beside it",
			       path);
	if (has(base, strlen(base), "tfevents") && binary)
		return rk_fail(err, RK_E_UNSUPPORTED,
			       "'%s' is a log of TensorBoard, not a profile: give the '.xplane.pb' "
			       "file below 'plugins/profile'",
			       path);
	return 0;
}
