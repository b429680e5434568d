/* child_group.c - the processes of a child's group, as /proc lists them. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "io/child_impl.h"

/* Reads /proc/PID/stat: after the name in parentheses come state, parent and group. */
static bool runs_in(int proc, const char *pid, pid_t group)
{
	char name[32], text[512] = "";
	const char *state, *id;
	int64_t got = 0;
	int fd;

	snprintf(name, sizeof(name), "%.20s/stat", pid);
	fd = openat(proc, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	state = strrchr(text, ')');
	if (!state || state[1] != ' ')
		return false;
	state += 2;
	id = strchr(state, ' ');
	id = id ? strchr(id + 1, ' ') : NULL;
	if (!id)
		return false;
	id++;
	return rk_num_i64(id, strcspn(id, " \n"), &got) == RK_NUM_OK && got == group &&
	       *state != 'Z' && *state != 'X';
}

bool rk_child_group_runs(pid_t group)
{
	bool found = false;
	struct dirent *e;
	DIR *dir;

	if (kill(-group, 0) < 0 && errno == ESRCH)
		return false;
	/* If init does not reap, zombies stay forever, and the kernel still counts them. */
	dir = opendir("/proc");
	if (!dir)
		return true;
	while (!found && (e = readdir(dir)))
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
			found = runs_in(dirfd(dir), e->d_name, group);
	closedir(dir);
	return found;
}

/* ---- a process that crashed and does not end ---- */

/*
 * A handler's mask has its own signal and few others; threads that block signals block many. Those of
 * Julia block six, SIGABRT among them, because one thread waits for them: then SIGINT is one, too.
 */
enum { HANDLER_SIGNALS = 8, THREADS_MAX = 4096 };

int rk_child_in_handler(const char *task)
{
	static const int fatal[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };
	char path[RK_CHILD_TASK_BYTES + 16], text[4096];
	uint64_t blocked = 0;
	const char *mask;
	char hex[24] = "";
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/status", task);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	mask = strstr(text, "\nSigBlk:\t");
	if (mask)
		snprintf(hex, sizeof(hex), "0x%.16s", mask + 9);
	if (rk_num_u64(hex, strlen(hex), &blocked) != RK_NUM_OK ||
	    __builtin_popcountll(blocked) > HANDLER_SIGNALS || blocked >> (SIGINT - 1) & 1)
		return 0;
	for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
		if (blocked >> (fatal[i] - 1) & 1)
			return fatal[i];
	return 0;
}

int rk_child_find_crash(pid_t group, char task[RK_CHILD_TASK_BYTES])
{
	DIR *dir = opendir("/proc"), *tasks;
	struct dirent *e, *t;
	unsigned looked = 0;
	char path[64];
	int sig = 0;

	while (dir && !sig && (e = readdir(dir))) {
		if (e->d_name[0] < '1' || e->d_name[0] > '9' ||
		    !runs_in(dirfd(dir), e->d_name, group))
			continue;
		snprintf(path, sizeof(path), "/proc/%.20s/task", e->d_name);
		tasks = opendir(path);
		while (tasks && !sig && looked < THREADS_MAX && (t = readdir(tasks))) {
			if (t->d_name[0] == '.')
				continue;
			looked++;
			snprintf(task, RK_CHILD_TASK_BYTES, "/proc/%.20s/task/%.20s", e->d_name,
				 t->d_name);
			sig = rk_child_in_handler(task);
		}
		if (tasks)
			closedir(tasks);
	}
	if (dir)
		closedir(dir);
	return sig;
}
