/*
 * cup_library.c - see cup.h: finding CUPTI.
 *
 * The one that the program has loaded itself, else one beside the program's CUDA libraries, else
 * one that the loader finds, else the toolkit's; of each place the newest that the driver can have
 * to do with. A CUPTI of a newer major release than the driver does not work; an older one does.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cup.h"

enum {
	OLDEST_API = 18, /* 11.8 */
	FIRST_DATED_API = 130000,
	NEWEST_MAJOR = 13,
	OLDEST_MAJOR = 11,
	PATH_BYTES = PATH_MAX,
};

static struct {
	int driver; /* 12040; 0: not known */
	char why[320];
} search;

/* ---- one library ---- */

static const char *fill_cupti(void *lib, struct cupti *f)
{
	const char *missing = NULL;

#define LOOK_UP(required, returns, name, parameters) \
	*(void **)&f->name = dlsym(lib, #name);      \
	if (required && !f->name)                    \
		missing = #name;
	CUPTI_FUNCTIONS(LOOK_UP)
	return missing;
}

/* All of these may be missing. */
static void fill_driver(struct cuda *f)
{
	void *lib = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);

	lib = lib ? lib : RTLD_DEFAULT;
#define LOOK_UP_DRIVER(required, returns, name, parameters) *(void **)&f->name = dlsym(lib, #name);
	CUDA_FUNCTIONS(LOOK_UP_DRIVER)
}

/* Of CUPTI's numbers: 18 is 11.8, and 12.0 too; then one for each release up to 12.9. */
static int major_of(uint32_t api)
{
	return api >= FIRST_DATED_API ? (int)(api / 10000) : api > OLDEST_API ? 12 : 11;
}

static bool fits(const char *path, uint32_t api)
{
	int major = major_of(api), driver = search.driver / 1000;

	if (api < OLDEST_API || major > NEWEST_MAJOR) {
		snprintf(search.why, sizeof(search.why),
			 "'%.200s' is of a release that is not known here (API %u)", path, api);
		return false;
	}
	if (driver && major > driver) {
		snprintf(search.why, sizeof(search.why),
			 "'%.200s' is for CUDA %d, the driver for CUDA %d.%d", path, major, driver,
			 search.driver % 1000 / 10);
		return false;
	}
	return true;
}

static bool use(const char *path, int flags)
{
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);
	const char *missing;
	uint32_t api = 0;

	if (!lib)
		return false;
	missing = fill_cupti(lib, &rk_cup.f);
	if (missing)
		snprintf(search.why, sizeof(search.why), "'%.200s' lacks %s", path, missing);
	else if (rk_cup.f.cuptiGetVersion(&api) == CUPTI_OK && fits(path, api)) {
		rk_cup.version = api;
		return true;
	}
	memset(&rk_cup.f, 0, sizeof(rk_cup.f));
	dlclose(lib);
	return false;
}

/* ---- places ---- */

static const char *name_of(int major)
{
	return major == 13 ? "libcupti.so.13" : major == 12 ? "libcupti.so.12" : "libcupti.so.11.8";
}

static int newest(void)
{
	int driver = search.driver / 1000;

	return driver && driver < NEWEST_MAJOR ? driver : NEWEST_MAJOR;
}

/* All releases that may do, in `dir` and in what is `below` it; "" for where the loader looks. */
static bool use_in(const char *dir, const char *below, int flags)
{
	char path[PATH_BYTES];

	for (int major = newest(); major >= OLDEST_MAJOR; major--) {
		int n = snprintf(path, sizeof(path), "%s%s%s%s", dir, dir[0] ? "/" : "", below,
				 name_of(major));

		if (n < (int)sizeof(path) && use(path, flags))
			return true;
	}
	return false;
}

/* From a folder of CUDA's libraries: pip's packages, a toolkit with or without targets. */
static bool use_beside(const char *dir)
{
	static const char *const below[] = {
		"",
		"../../cuda_cupti/lib/",
		"../extras/CUPTI/lib64/",
		"../../../extras/CUPTI/lib64/",
	};

	for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++)
		if (use_in(dir, below[i], 0))
			return true;
	return false;
}

static bool is_cudas(const char *file)
{
	static const char *const starts[] = { "libcudart", "libcublas", "libnvrtc", "libcudnn" };

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (!strncmp(file, starts[i], strlen(starts[i])))
			return true;
	return false;
}

/* Beside each of CUDA's libraries that the program has loaded. */
static bool use_programs(void)
{
	char line[PATH_BYTES + 128], before[PATH_BYTES] = "";
	FILE *maps = fopen("/proc/self/maps", "re");
	bool found = false;

	while (maps && !found && fgets(line, sizeof(line), maps)) {
		char *path = strchr(line, '/'), *slash = path ? strrchr(path, '/') : NULL;

		if (!slash || !is_cudas(slash + 1))
			continue;
		*slash = '\0';
		if (!strcmp(path, before))
			continue;
		snprintf(before, sizeof(before), "%s", path);
		found = use_beside(path);
	}
	if (maps)
		fclose(maps);
	return found;
}

static bool use_toolkit(const char *root)
{
	return root && root[0] &&
	       (use_in(root, "lib64/", 0) || use_in(root, "extras/CUPTI/lib64/", 0) ||
		use_in(root, "lib/", 0));
}

static bool use_any(void)
{
	return use_in("", "", RTLD_NOLOAD) || use_programs() || use_in("", "", 0) ||
	       use_toolkit(getenv("CUDA_HOME")) || use_toolkit(getenv("CUDA_PATH")) ||
	       use_toolkit("/usr/local/cuda");
}

bool rk_cup_library_open(void)
{
	char named[PATH_BYTES];
	bool found, is_named = rk_rec_setting("cupti", named, sizeof(named));

	fill_driver(&rk_cup.driver);
	if (rk_cup.driver.cuDriverGetVersion &&
	    rk_cup.driver.cuDriverGetVersion(&search.driver) != 0)
		search.driver = 0;
	found = is_named ? use(named, 0) : use_any();
	if (!found && !search.why[0])
		snprintf(search.why, sizeof(search.why),
			 is_named ? "no CUPTI is '%.200s'" :
				    "no CUPTI for CUDA 11.8 to 13 is found%.0s",
			 named);
	if (!found)
		rk_cup_say("%s: kernels are not recorded", search.why);
	return found;
}
