/* child_find.c - which file a command name means, and why it could not be executed. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/list.h"
#include "io/child_impl.h"

/* What a shell takes when PATH is not set. */
#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

static const char *path_of(char *const *envp)
{
	const char *path = rk_env_value(envp, "PATH");

	return path ? path : DEFAULT_PATH;
}

static bool may_execute(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) &&
	       !faccessat(AT_FDCWD, path, X_OK, AT_EACCESS);
}

static void say(struct rk_child_result *ret, enum rk_child_end end, int errnum)
{
	ret->end = end;
	ret->status = end == RK_CHILD_NOT_FOUND ? 127 : 126;
	ret->exec_errno = errnum;
}

/* The one after "#!" in a script, "" when the file is no script. */
static void interpreter_of(const char *path, char *name, size_t size)
{
	char line[256] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);
	const char *p = line + 2;
	size_t len;
	bool cr;

	if (fd >= 0)
		close(fd);
	name[0] = '\0';
	if (n < 2 || line[0] != '#' || line[1] != '!')
		return;
	p += strspn(p, " \t");
	len = strcspn(p, " \t\n");
	/* A carriage return is a usual reason why it is not there. */
	cr = len && p[len - 1] == '\r';
	snprintf(name, size, "%.*s%s", (int)(len - cr), p, cr ? "\\r" : "");
}

static void explain_file(const char *path, int errnum, struct rk_child_result *ret)
{
	char why[128], name[200];
	struct stat st;

	if (!stat(path, &st) && S_ISDIR(st.st_mode)) {
		snprintf(ret->why, sizeof(ret->why), "cannot run '%.200s': it is a directory",
			 path);
		return;
	}
	if (errnum == EACCES && faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0) {
		snprintf(ret->why, sizeof(ret->why),
			 "cannot run '%.200s': no permission to execute it (chmod +x?)", path);
		return;
	}
	interpreter_of(path, name, sizeof(name));
	if (errnum == ENOENT)
		snprintf(ret->why, sizeof(ret->why),
			 "cannot run '%.200s': its %s%s%s does not exist", path,
			 *name ? "interpreter '" : "loader", name, *name ? "'" : "");
	else
		snprintf(ret->why, sizeof(ret->why), "cannot run '%.200s': %s", path,
			 strerror_r(errnum, why, sizeof(why)));
}

void rk_child_explain(const char *path, int errnum, struct rk_child_result *ret)
{
	struct stat st;

	/* ENOENT of a file that is there speaks of what it needs. */
	if ((errnum == ENOENT || errnum == ENOTDIR) && stat(path, &st) < 0) {
		say(ret, RK_CHILD_NOT_FOUND, errnum);
		snprintf(ret->why, sizeof(ret->why), "'%.200s' does not exist", path);
		return;
	}
	say(ret, RK_CHILD_NOT_EXECUTABLE, errnum);
	explain_file(path, errnum, ret);
}

/* An empty part means the working directory. */
static char *join(const char *dir, size_t len, const char *name)
{
	size_t size = len + strlen(name) + 3;
	char *path = rk_alloc(size);

	if (path)
		snprintf(path, size, "%.*s/%s", len ? (int)len : 1, len ? dir : ".", name);
	return path;
}

/* The first file that may be executed; else *ret is the first that is there at all, or NULL. */
static int search(const char *name, const char *dirs, char **ret, bool *ret_good)
{
	char *there = NULL;
	bool more = true;
	struct stat st;

	*ret_good = false;
	while (more) {
		size_t len = strcspn(dirs, ":");
		char *path = len > 4096 ? NULL : join(dirs, len, name);

		if (!path && len <= 4096) {
			rk_free(there);
			return RK_E_NOMEM;
		}
		*ret_good = path && may_execute(path);
		if (*ret_good || (path && !there && !stat(path, &st))) {
			rk_free(there);
			there = path;
			path = NULL;
		}
		rk_free(path);
		more = dirs[len] == ':' && !*ret_good;
		dirs += len + more;
	}
	*ret = there;
	return 0;
}

int rk_child_find(const char *name, char *const *envp, char **ret, struct rk_child_result *ret_why,
		  struct rk_error *err)
{
	char *path = NULL;
	bool good = true;
	int rc = 0;

	if (strchr(name, '/')) {
		/* Exec itself knows best what is wrong with it. */
		path = rk_strdup(name);
		rc = path ? 0 : RK_E_NOMEM;
	} else if (*name) {
		rc = search(name, path_of(envp), &path, &good);
	}
	if (rc < 0)
		return rk_fail_nomem(err);
	if (!path) {
		say(ret_why, RK_CHILD_NOT_FOUND, ENOENT);
		snprintf(ret_why->why, sizeof(ret_why->why), "'%.200s' was not found in PATH",
			 name);
	} else if (!good) {
		rk_child_explain(path, EACCES, ret_why);
		rk_free(path);
		path = NULL;
	}
	*ret = path;
	return 0;
}

int rk_child_check(const char *name, char *const *envp, struct rk_child_result *ret,
		   struct rk_error *err)
{
	struct rk_child_result got = { .end = RK_CHILD_EXITED };
	struct stat st;
	char *path = NULL;
	int rc = rk_child_find(name, envp ? envp : environ, &path, &got, err);

	if (rc < 0)
		return rc;
	if (path && !may_execute(path))
		rk_child_explain(path, stat(path, &st) < 0 ? errno : EACCES, &got);
	rk_free(path);
	*ret = got;
	return 0;
}
