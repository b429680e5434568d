/* collector.c - see collector.h. */
#include "tool/collector.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_there(const char *dir, const char *below, const char *library, struct rk_bytes *ret)
{
	const char *path;

	rk_bytes_clear(ret);
	rk_bytes_printf(ret, "%s/%s%s", dir, below, library);
	path = rk_bytes_str(ret);
	return path && path[0] == '/' && access(path, R_OK) == 0;
}

bool rk_collector_find(const char *library, struct rk_bytes *ret)
{
	static const char *const below[] = {
		"",
		"../lib/rockit/",
		"../lib64/rockit/",
#if defined(__x86_64__)
		"../lib/x86_64-linux-gnu/rockit/"
	};
#elif defined(__aarch64__)
		"../lib/aarch64-linux-gnu/rockit/"
	};
#endif
	const char *named = getenv("ROCKIT_COLLECTORS");
	char dir[PATH_MAX], *slash;
	ssize_t n;

	if (named && named[0])
		return is_there(named, "", library, ret);
	n = readlink("/proc/self/exe", dir, sizeof(dir) - 1);
	if (n <= 0)
		return false;
	dir[n] = '\0';
	slash = strrchr(dir, '/');
	if (!slash)
		return false;
	*slash = '\0';
	for (size_t i = 0; i < sizeof(below) / sizeof(below[0]) && !ret->bad; i++)
		if (is_there(dir, below[i], library, ret))
			return true;
	return false;
}

void rk_collector_put_value(struct rk_bytes *b, const char *s)
{
	for (; *s; s++) {
		if (strchr(",%= \t\n", *s))
			rk_bytes_printf(b, "%%%02X", (unsigned)(unsigned char)*s);
		else
			rk_bytes_put_u8(b, (uint8_t)*s);
	}
}
