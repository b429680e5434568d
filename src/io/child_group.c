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
