/* child_tty.c - who has the foreground of our terminal. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/child_impl.h"

static int open_terminal(void)
{
	int fd = rk_child_high(open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));

	/* A container may have no /dev/tty; a terminal that is not ours has no group for us. */
	for (int i = 0; fd < 0 && i < 3; i++)
		if (tcgetpgrp(i) >= 0)
			fd = fcntl(i, F_DUPFD_CLOEXEC, 3);
	return fd;
}

static bool in_pipeline(void)
{
	struct stat st;

	for (int i = 0; i < 3; i++)
		if (!fstat(i, &st) && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
			return true;
	return false;
}

/*
 * In "rockit run x | less" the pager reads the terminal, and ^C in a script must reach the shell
 * that runs it: there the foreground stays with our group until the child asks for it. A group
 * that we lead with no pipe around us is taken to be ours alone.
 */
void rk_child_tty_open(struct rk_child_tty *t)
{
	*t = (struct rk_child_tty){ .fd = open_terminal(), .own = getpgrp() };
	if (t->fd < 0)
		return;
	t->wanted = t->own == getpid() && !in_pipeline();
	t->early = t->wanted && tcgetpgrp(t->fd) == t->own;
}

bool rk_child_tty_give(struct rk_child_tty *t, pid_t group)
{
	if (t->fd < 0 || tcgetpgrp(t->fd) != t->own || tcsetpgrp(t->fd, group) < 0)
		return false;
	t->child = group;
	t->wanted = true;
	return true;
}

void rk_child_tty_take(struct rk_child_tty *t)
{
	pid_t now = t->child ? tcgetpgrp(t->fd) : -1;

	/* Not from a shell that has taken it meanwhile; from a group that is gone, yes. */
	if (now == t->child || (now > 0 && kill(-now, 0) < 0 && errno == ESRCH))
		tcsetpgrp(t->fd, t->own);
	t->child = 0;
}

void rk_child_tty_close(struct rk_child_tty *t)
{
	if (t->fd >= 0) {
		rk_child_tty_take(t);
		close(t->fd);
	}
	t->fd = -1;
}
