/* scratch.c - see scratch.h. */
#include "session/scratch.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/alloc.h"

enum { LEAST_BYTES = 64 << 20 };

/* Of the nearest folder above `path` that is there. */
static bool device_of(const char *path, dev_t *ret)
{
	char *part = rk_strdup(path), *slash;
	struct stat st;
	bool found = false;

	while (part && !found) {
		found = stat(part[0] ? part : "/", &st) == 0;
		slash = strrchr(part, '/');
		if (found || !slash)
			break;
		*slash = '\0';
	}
	rk_free(part);
	*ret = found ? st.st_dev : 0;
	return found;
}

/* NULL when it can be used. */
static const char *trouble(const char *dir)
{
	struct statvfs fs;

	if (statvfs(dir, &fs))
		return strerror(errno);
	if (fs.f_flag & ST_RDONLY)
		return "it is read-only";
	if (access(dir, W_OK | X_OK))
		return strerror(errno);
	if (!fs.f_blocks)
		return "it does not say how much room it has";
	if (fs.f_bavail < LEAST_BYTES / (fs.f_frsize ? fs.f_frsize : 1))
		return "it is full";
	if (fs.f_files && !fs.f_favail)
		return "it has no room for another file";
	return NULL;
}

/* Another file system than the target's; a folder on the same one would be a detour. */
static bool elsewhere(const char *dir, const char *target)
{
	dev_t theirs;
	struct stat st;

	return stat(dir, &st) == 0 && S_ISDIR(st.st_mode) && device_of(target, &theirs) &&
	       st.st_dev != theirs;
}

static char *folder_in(const char *dir)
{
	uint32_t salt = 0;

	/* without it the pid has to do: what is there already is refused */
	if (getrandom(&salt, sizeof(salt), GRND_NONBLOCK) < 0)
		salt = 0;
	return rk_strf("%s/rockit-%ld-%08x", dir, (long)getpid(), (unsigned)salt);
}

int rk_scratch_pick(char *const *envp, const char *target, struct rk_list *notes, char **ret,
		    struct rk_error *err)
{
	static const char *const names[] = { "SLURM_TMPDIR", "TMPDIR" };

	*ret = NULL;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *dir = rk_env_value(envp, names[i]), *why;

		if (!dir || dir[0] != '/' || !elsewhere(dir, target))
			continue;
		why = trouble(dir);
		if (!why) {
			*ret = folder_in(dir);
			return *ret ? 0 : rk_fail_nomem(err);
		}
		rk_list_addf(notes, "scratch '%s' (%s) is not used: %s", dir, names[i], why);
	}
	return 0;
}

int rk_scratch_make(const char *scratch, struct rk_error *err)
{
	if (mkdir(scratch, 0700))
		return rk_fail_errno(err, errno, "cannot make the scratch directory '%s'", scratch);
	return 0;
}
