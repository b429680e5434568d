/* child_group.c - whether anything of a process group still runs. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "io/child_impl.h"

/* The n-th word of text, counted from 0; NULL when there are fewer. */
static const char *word(const char *text, unsigned n, size_t *ret_len)
{
	while (n-- && text)
		text = strchr(text, ' ') ? strchr(text, ' ') + 1 : NULL;
	*ret_len = text ? strcspn(text, " \n") : 0;
	return text;
}

/* Of /proc/PID/stat, after the name in parentheses: state, parent, group. */
static bool runs_in(int proc, const char *pid, pid_t group)
{
	char name[32], text[512] = "";
	const char *state, *id;
	int64_t got = 0;
	size_t len;
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
	id = word(state, 2, &len);
	return id && rk_num_i64(id, len, &got) == RK_NUM_OK && got == group && *state != 'Z' &&
	       *state != 'X';
}

bool rk_child_group_runs(pid_t group)
{
	bool found = false;
	struct dirent *e;
	DIR *dir;

	if (kill(-group, 0) < 0 && errno == ESRCH)
		return false;
	/* Where init does not reap, the ended stay for ever; the kernel counts them as there. */
	dir = opendir("/proc");
	if (!dir)
		return true;
	while (!found && (e = readdir(dir)))
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
			found = runs_in(dirfd(dir), e->d_name, group);
	closedir(dir);
	return found;
}
