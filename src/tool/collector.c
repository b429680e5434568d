/* collector.c - see collector.h. */
#include "tool/collector.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
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

/*
 * The file that this code is in: the shared library, or the program where the library is part of
 * it. The loader knows a program by no name but argv[0], which need not be a path.
 */
static bool own_file(char path[PATH_MAX])
{
	struct link_map *map = NULL;
	Dl_info info;

	if (!dladdr1((void *)(uintptr_t)rk_collector_find, &info, (void **)&map, RTLD_DL_LINKMAP) ||
	    !map || !map->l_name || !map->l_name[0])
		return false;
	return realpath(map->l_name, path) != NULL;
}

static bool own_program(char path[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);

	if (n <= 0)
		return false;
	path[n] = '\0';
	return true;
}

static bool find_near(char *file, const char *library, struct rk_bytes *ret)
{
	static const char *const below[] = {
		"",
		"rockit/",
		"../lib/rockit/",
		"../lib64/rockit/",
#if defined(__x86_64__)
		"../lib/x86_64-linux-gnu/rockit/"
	};
#elif defined(__aarch64__)
		"../lib/aarch64-linux-gnu/rockit/"
	};
#endif
	char *slash = strrchr(file, '/');

	if (!slash)
		return false;
	*slash = '\0';
	for (size_t i = 0; i < sizeof(below) / sizeof(below[0]) && !ret->bad; i++)
		if (is_there(file, below[i], library, ret))
			return true;
	return false;
}

bool rk_collector_find(const char *library, struct rk_bytes *ret)
{
	const char *named = getenv("ROCKIT_COLLECTORS");
	char path[PATH_MAX];

	if (named && named[0])
		return is_there(named, "", library, ret);
	/* The library first: its collectors are of its version, whoever loaded it. */
	if (own_file(path) && find_near(path, library, ret))
		return true;
	return own_program(path) && find_near(path, library, ret);
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
