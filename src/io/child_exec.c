/* child_exec.c - from fork to exec. In the child only what is safe after a fork of threads. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "io/child_impl.h"

int rk_child_high(int fd)
{
	int high = fd;

	if (fd >= 0 && fd < 3) {
		high = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		close(fd);
	}
	return high;
}

int rk_child_pipe(int fd[2])
{
	int rc = 0;

	if (pipe2(fd, O_CLOEXEC) < 0)
		return errno;
	for (int i = 0; i < 2; i++) {
		fd[i] = rk_child_high(fd[i]);
		if (fd[i] < 0)
			rc = errno;
	}
	for (int i = 0; rc && i < 2; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	return rc;
}

/* `from` may be one of 0, 1, 2, and the other one's target: so none is replaced before all are
 * copied. */
static int place(const struct rk_child_start *s)
{
	int from[2] = { s->out, s->err };

	for (int i = 0; i < 2; i++)
		if (from[i] >= 0 && (from[i] = fcntl(from[i], F_DUPFD_CLOEXEC, 3)) < 0)
			return errno;
	for (int i = 0; i < 2; i++)
		if (from[i] >= 0 && dup2(from[i], STDOUT_FILENO + i) < 0)
			return errno;
	return 0;
}

/* Text as far as the first line goes: what a shell would take for a script. */
static bool looks_like_script(const char *path)
{
	char head[128];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof(head));

	for (ssize_t i = 0; i < n && head[i] != '\n'; i++)
		if (!head[i])
			return false;
	return n >= 0;
}

static int execute(const struct rk_child_start *s)
{
	execve(s->path, s->argv, s->envp);
	if (errno == ENOEXEC && looks_like_script(s->path)) {
		execve("/bin/sh", s->sh_argv, s->envp);
		errno = ENOEXEC;
	}
	return errno;
}

__attribute__((noreturn)) static void become(const struct rk_child_start *s, int tell)
{
	int rc;

	setpgid(0, 0);
	/* Here and not in the parent: exec must not come first. */
	if (s->tty->early)
		tcsetpgrp(s->tty->fd, getpid());
	rc = place(s);
	rk_child_signals_inherit();
	if (!rc)
		rc = execute(s);
	while (write(tell, &rc, sizeof(rc)) < 0 && errno == EINTR)
		;
	_exit(127);
}

/* Until exec has closed the other end, or the child tells why not. */
static int hear(int fd)
{
	int rc = 0;
	ssize_t n;

	do {
		n = read(fd, &rc, sizeof(rc));
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(rc) ? rc : 0;
}

int rk_child_fork(const struct rk_child_start *s, pid_t *ret, int *ret_exec)
{
	pid_t pid;
	int fd[2], rc = rk_child_pipe(fd);

	if (rc)
		return rc;
	pid = fork();
	rc = pid < 0 ? errno : 0;
	if (pid == 0)
		become(s, fd[1]);
	close(fd[1]);
	if (!rc) {
		/* Both do it: neither may find the group missing. Fails when exec was faster. */
		setpgid(pid, pid);
		*ret_exec = hear(fd[0]);
		*ret = pid;
	}
	close(fd[0]);
	return rc;
}
