/*
 * child_exec.c - the signals, the terminal and the start of a child process.
 *
 * Signals that reach us while a child runs become bytes in a pipe.
 *
 * We use handlers, not a blocked mask with signalfd: other threads of the program may have the
 * signals unblocked, and a signal meant for the child would kill one of them. A handler works in
 * any thread. It only writes.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/child_impl.h"

/* Our descriptors are never 0, 1 or 2, even if we were started without these. */
static int high_fd(int fd)
{
	int high = fd;

	if (fd >= 0 && fd < 3) {
		high = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		close(fd);
	}
	return high;
}

/* Close-on-exec; 0 or an errno. */
static int make_pipe(int fd[2])
{
	int rc = 0;

	if (pipe2(fd, O_CLOEXEC) < 0)
		return errno;
	for (int i = 0; i < 2; i++) {
		fd[i] = high_fd(fd[i]);
		if (fd[i] < 0)
			rc = errno;
	}
	for (int i = 0; rc && i < 2; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	return rc;
}

/* SIGCHLD wakes us and is not forwarded. */
static const int caught[] = { SIGCHLD, SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
			      SIGUSR1, SIGUSR2, SIGCONT, SIGTSTP, SIGWINCH };
enum { NCAUGHT = sizeof(caught) / sizeof(*caught), NSLOTS = 64 };

/* Shared by all that wait for a child at the same time. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned nusers;
static struct sigaction saved[NCAUGHT];

/* Read by the handler. A slot is the write end of a pipe; 0 is free. */
static atomic_int slots[NSLOTS];
static atomic_uint nbusy, nconts;
static atomic_int owner; /* our process */

/* The state when our program began: children get it, whatever has changed since. */
static sigset_t first_mask, first_ignored;

__attribute__((constructor)) static void remember_first(void)
{
	struct sigaction sa;

	pthread_sigmask(SIG_SETMASK, NULL, &first_mask);
	sigemptyset(&first_ignored);
	for (int sig = 1; sig < NSIG; sig++)
		if (!sigaction(sig, NULL, &sa) && sa.sa_handler == SIG_IGN)
			sigaddset(&first_ignored, sig);
}

static void on_signal(int sig)
{
	unsigned char byte = (unsigned char)sig;
	int keep = errno;

	/* A fork by other code that has not yet called exec: not for us. */
	if (getpid() != atomic_load(&owner))
		return;
	atomic_fetch_add(&nbusy, 1);
	if (sig == SIGCONT)
		atomic_fetch_add(&nconts, 1);
	for (int i = 0; i < NSLOTS; i++) {
		int fd = atomic_load(&slots[i]);
		/* A full pipe holds enough to wake the reader. */
		ssize_t n = fd ? write(fd, &byte, 1) : 0;

		(void)n;
	}
	atomic_fetch_sub(&nbusy, 1);
	errno = keep;
}

static void catch_all(void)
{
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	atomic_store(&owner, getpid());
	sigfillset(&sa.sa_mask);
	/* Also ignored signals: the child inherits them as ignored, but may have changed that. */
	for (int i = 0; i < NCAUGHT; i++)
		sigaction(caught[i], &sa, &saved[i]);
}

static void release_all(void)
{
	for (int i = 0; i < NCAUGHT; i++)
		sigaction(caught[i], &saved[i], NULL);
}

/* -1 when all are taken. */
static int take_slot(int fd)
{
	int i = 0;

	pthread_mutex_lock(&lock);
	while (i < NSLOTS && atomic_load(&slots[i]))
		i++;
	if (i < NSLOTS) {
		atomic_store(&slots[i], fd);
		if (nusers++ == 0)
			catch_all();
	}
	pthread_mutex_unlock(&lock);
	return i < NSLOTS ? i : -1;
}

static void drop_slot(int slot)
{
	pthread_mutex_lock(&lock);
	if (--nusers == 0)
		release_all();
	atomic_store(&slots[slot], 0);
	pthread_mutex_unlock(&lock);
	/* A handler in another thread may still use the descriptor; do not close the pipe yet. */
	while (atomic_load(&nbusy))
		sched_yield();
}

static void close_pipe(const int fd[2])
{
	close(fd[0]);
	close(fd[1]);
}

static int open_pipe(int fd[2], struct rk_error *err)
{
	int rc = make_pipe(fd);

	if (rc)
		return rk_fail_errno(err, rc, "cannot create a pipe");
	for (int i = 0; i < 2; i++)
		if (fcntl(fd[i], F_SETFL, O_NONBLOCK) < 0)
			rc = errno;
	if (rc) {
		close_pipe(fd);
		return rk_fail_errno(err, rc, "cannot make a pipe non-blocking");
	}
	return 0;
}

int rk_child_signals_open(struct rk_child_signals *s, struct rk_error *err)
{
	sigset_t all;
	int rc = open_pipe(s->fd, err);

	if (rc < 0)
		return rc;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &s->mask);
	s->slot = take_slot(s->fd[1]);
	if (s->slot < 0) {
		pthread_sigmask(SIG_SETMASK, &s->mask, NULL);
		close_pipe(s->fd);
		return rk_fail(err, RK_E_LIMIT, "more than %d programs at the same time", NSLOTS);
	}
	return 0;
}

void rk_child_signals_wait(const struct rk_child_signals *s)
{
	sigset_t mask = s->mask;

	sigdelset(&mask, SIGCHLD);
	/* While blocked, it does not stop us when we print or give away the terminal. */
	sigaddset(&mask, SIGTTOU);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

int rk_child_signals_next(const struct rk_child_signals *s)
{
	unsigned char sig;

	return read(s->fd[0], &sig, 1) == 1 ? sig : 0;
}

bool rk_child_signals_meant_us(int sig)
{
	int i = 0;

	if (sig == SIGCHLD || sig == SIGCONT || sig == SIGTSTP || sig == SIGWINCH)
		return false;
	while (i < NCAUGHT && caught[i] != sig)
		i++;
	return i < NCAUGHT && saved[i].sa_handler != SIG_IGN;
}

void rk_child_signals_close(struct rk_child_signals *s)
{
	sigset_t all;

	/* From here on signals wait until the old dispositions are restored. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	drop_slot(s->slot);
	close_pipe(s->fd);
	pthread_sigmask(SIG_SETMASK, &s->mask, NULL);
}

bool rk_child_signals_stop(int sig)
{
	struct sigaction plain = { .sa_handler = SIG_DFL }, old;
	unsigned before = atomic_load(&nconts);
	sigset_t one, mask;

	sigemptyset(&one);
	sigaddset(&one, sig);
	sigaction(sig, &plain, &old);
	pthread_sigmask(SIG_UNBLOCK, &one, &mask);
	raise(sig); /* this stops us, unless nobody could continue us */
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	sigaction(sig, &old, NULL);
	return atomic_load(&nconts) != before;
}

/* In the forked child: dispositions and mask as our program found them. */
static void inherit_signals(void)
{
	struct sigaction sa, want = { .sa_handler = SIG_DFL };

	for (int sig = 1; sig < NSIG; sig++) {
		if (sigaction(sig, NULL, &sa) < 0)
			continue;
		want.sa_handler = sigismember(&first_ignored, sig) == 1 ? SIG_IGN : SIG_DFL;
		if (sa.sa_handler != want.sa_handler)
			sigaction(sig, &want, NULL);
	}
	/* Last: what is pending is delivered here, by the dispositions above. */
	pthread_sigmask(SIG_SETMASK, &first_mask, NULL);
}

/* ---- who has the foreground of our terminal ---- */

static int open_terminal(void)
{
	int fd = high_fd(open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));

	/* A container may lack /dev/tty; a terminal that is not ours reports no group. */
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
 * that runs it: there the foreground stays with our group until the child asks for it. If we lead
 * our group and no pipe is involved, we assume that we are alone in it.
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

	/*
	 * Do not take it from a shell that has taken it in the meantime, only from a group that is
	 * gone.
	 */
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

/* ---- from fork to exec. In the child only what is safe after a fork of threads ---- */

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

/* Is the first line text? A shell would run such a file as a script. */
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
	inherit_signals();
	if (!rc)
		rc = execute(s);
	while (write(tell, &rc, sizeof(rc)) < 0 && errno == EINTR)
		;
	_exit(127);
}

/* Waits until exec closes the other end, or the child reports an error. */
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
	int fd[2], rc = make_pipe(fd);

	if (rc)
		return rc;
	pid = fork();
	rc = pid < 0 ? errno : 0;
	if (pid == 0)
		become(s, fd[1]);
	close(fd[1]);
	if (!rc) {
		/*
		 * Parent and child both do it, so that the group exists for both. Fails if exec was
		 * faster.
		 */
		setpgid(pid, pid);
		*ret_exec = hear(fd[0]);
		*ret = pid;
	}
	close(fd[0]);
	return rc;
}
