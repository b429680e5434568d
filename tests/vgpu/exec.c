/*
 * exec.c - programs of a suite are started with the suite's own loader.
 *
 * A ROCm of another Debian needs that Debian's C library, so its programs do not start by themselves.
 * Where VGPU_ROOT names the suite's folder, every way to execute a program looks whether it belongs
 * there: it is in the folder, or it needs AMD's runtime. Then the loader is executed in its place.
 * Everything else starts as always, and finds this library in LD_PRELOAD again.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vgpu.h"

extern char **environ;

enum { MAX_ARGS = 4096, LOADER_ARGS = 3 };

/* Whether an ELF program needs a library of AMD's runtime: its strings are searched, not its tables. */
static bool needs_runtime(const char *path)
{
	static const char *const names[] = { "libamdhip64.so", "libhsa-runtime64.so",
					     "libOpenCL.so" };
	char *head = malloc(1 << 20);
	bool found = false;
	long fd, n;

	fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 || !head ? 0 : syscall(SYS_read, fd, head, 1 << 20);
	if (fd >= 0)
		syscall(SYS_close, fd);
	if (n > SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0)
		for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !found; i++)
			found = memmem(head, (size_t)n, names[i], strlen(names[i])) != NULL;
	free(head);
	return found;
}

/* The arguments with the loader in front, or NULL when the program starts by itself. */
static char **with_loader(const char *path, char *const argv[], char *loader, char *libraries)
{
	const char *root = getenv("VGPU_ROOT");
	char **args, real[PATH_MAX];
	size_t n = 0;

	if (!root || !*root || !path || !realpath(path, real))
		return NULL;
	snprintf(loader, PATH_MAX, "%s/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2", root);
	if (strcmp(real, loader) == 0 ||
	    (strncmp(real, root, strlen(root)) != 0 && !needs_runtime(real)))
		return NULL;
	while (argv[n] && n < MAX_ARGS)
		n++;
	args = calloc(n + LOADER_ARGS + 3, sizeof(*args));
	if (!args)
		return NULL;
	snprintf(libraries, PATH_MAX, "%s/usr/lib/x86_64-linux-gnu%s%s", root,
		 getenv("VGPU_LIBRARIES") ? ":" : "",
		 getenv("VGPU_LIBRARIES") ? getenv("VGPU_LIBRARIES") : "");
	args[0] = loader;
	args[1] = "--library-path";
	args[2] = libraries;
	args[LOADER_ARGS] = (char *)path;
	for (size_t i = 1; i < n; i++)
		args[LOADER_ARGS + i] = argv[i];
	return args;
}

static int exec_path(const char *path, char *const argv[], char *const env[])
{
	char loader[PATH_MAX], libraries[PATH_MAX];
	char **args = with_loader(path, argv, loader, libraries);

	if (args)
		syscall(SYS_execve, loader, args, env);
	else
		syscall(SYS_execve, path, argv, env);
	free(args);
	return -1;
}

/* The file that a name means, as execvp finds it; the name itself if there is none. */
static const char *find(const char *name, char *room)
{
	const char *list = getenv("PATH");

	if (strchr(name, '/') || !*name)
		return name;
	for (const char *s = list ? list : "/bin:/usr/bin"; *s;) {
		size_t len = strcspn(s, ":");

		snprintf(room, PATH_MAX, "%.*s/%s", (int)len, s, name);
		if (len && syscall(SYS_faccessat, AT_FDCWD, room, X_OK) == 0)
			return room;
		s += len + (s[len] == ':');
	}
	return name;
}

int execve(const char *path, char *const argv[], char *const env[])
{
	return exec_path(path, argv, env);
}

int execv(const char *path, char *const argv[])
{
	return exec_path(path, argv, environ);
}

int execvpe(const char *name, char *const argv[], char *const env[])
{
	char room[PATH_MAX], loader[PATH_MAX], libraries[PATH_MAX];
	const char *path = find(name, room);
	char **args = with_loader(path, argv, loader, libraries);

	if (!args) /* scripts without a first line and other niceties are the C library's */
		return (__extension__(__typeof__(&execvpe)) dlsym(RTLD_NEXT, "execvpe"))(name, argv,
											 env);
	syscall(SYS_execve, loader, args, env);
	free(args);
	return -1;
}

int execvp(const char *name, char *const argv[])
{
	return execvpe(name, argv, environ);
}

/* The arguments of the forms with a list; an environment may follow the NULL. */
#define LIST(first, args, env)                    \
	char *args[MAX_ARGS] = { (char *)first }; \
	size_t n = 0;                             \
	va_list list;                             \
                                                  \
	va_start(list, first);                    \
	while (args[n] && n + 1 < MAX_ARGS)       \
		args[++n] = va_arg(list, char *); \
	env = env ? env : va_arg(list, char **);  \
	va_end(list)

int execl(const char *path, const char *first, ...)
{
	char **env = environ;
	LIST(first, args, env);

	return exec_path(path, args, env);
}

int execlp(const char *name, const char *first, ...)
{
	char **env = environ;
	LIST(first, args, env);

	return execvpe(name, args, env);
}

int execle(const char *path, const char *first, ...)
{
	char **env = NULL;
	LIST(first, args, env);

	return exec_path(path, args, env);
}

static int spawn(const char *symbol, pid_t *pid, const char *path,
		 const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
		 char *const argv[], char *const env[])
{
	__typeof__(&posix_spawn) next = __extension__(__typeof__(&posix_spawn))
		dlsym(RTLD_NEXT, symbol);
	char room[PATH_MAX], loader[PATH_MAX], libraries[PATH_MAX];
	const char *found = strcmp(symbol, "posix_spawnp") == 0 ? find(path, room) : path;
	char **args = with_loader(found, argv, loader, libraries);
	int rc;

	if (!args)
		return next(pid, path, actions, attributes, argv, env);
	rc = next(pid, loader, actions, attributes, args, env);
	free(args);
	return rc;
}

int posix_spawn(pid_t *restrict pid, const char *restrict path,
		const posix_spawn_file_actions_t *restrict actions,
		const posix_spawnattr_t *restrict attributes, char *const argv[restrict],
		char *const env[restrict])
{
	return spawn("posix_spawn", pid, path, actions, attributes, argv, env);
}

int posix_spawnp(pid_t *pid, const char *name, const posix_spawn_file_actions_t *actions,
		 const posix_spawnattr_t *attributes, char *const argv[], char *const env[])
{
	return spawn("posix_spawnp", pid, name, actions, attributes, argv, env);
}
