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

/* Our descriptors must not be 0, 1 or 2, even if we were started without these. */
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

/* First those that would end us; SIGCHLD wakes us and is not forwarded. */
static const int caught[] = { SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1,
			      SIGUSR2, SIGCHLD, SIGCONT, SIGTSTP, SIGWINCH };
enum { NCAUGHT = sizeof(caught) / sizeof(*caught), NENDING = 6, NSLOTS = 64 };

/* Shared by all threads that wait for a child or have a guard. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned nusers;
static struct sigaction saved[NCAUGHT];

/* Read by the handler. A slot is the write end of a pipe; 0 is free. */
static atomic_int slots[NSLOTS];
static atomic_uint nbusy, nconts, nguards;
static atomic_int pending; /* the last of the first NENDING, for guards */
static atomic_int owner;   /* our process */

/* The state when our program began: children inherit this, whatever changed since. */
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

	/* Another part of the program has forked and not yet called exec: ignore it. */
	if (getpid() != atomic_load(&owner))
		return;
	atomic_fetch_add(&nbusy, 1);
	if (sig == SIGCONT)
		atomic_fetch_add(&nconts, 1);
	for (int i = 0; i < NENDING; i++)
		if (caught[i] == sig)
			atomic_store(&pending, sig);
	for (int i = 0; i < NSLOTS; i++) {
		int fd = atomic_load(&slots[i]);
		/* If the pipe is full, the reader wakes up anyway. */
		ssize_t n = fd ? write(fd, &byte, 1) : 0;

		(void)n;
	}
	atomic_fetch_sub(&nbusy, 1);
	errno = keep;
}

static void close_pipe(const int fd[2])
{
	close(fd[0]);
	close(fd[1]);
}

/* Catches caught[from..to); ignored signals too: the child inherits that, but may have changed it. */
static void catch_signals(int from, int to)
{
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	atomic_store(&owner, getpid());
	sigfillset(&sa.sa_mask);
	for (int i = from; i < to; i++)
		sigaction(caught[i], &sa, &saved[i]);
}

static void restore_signals(int from, int to)
{
	for (int i = from; i < to; i++)
		sigaction(caught[i], &saved[i], NULL);
}

void rk_child_guard_begin(void)
{
	sigset_t all, mask;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	pthread_mutex_lock(&lock);
	if (atomic_fetch_add(&nguards, 1) == 0) {
		atomic_store(&pending, 0);
		if (nusers == 0)
			catch_signals(0, NENDING);
	}
	pthread_mutex_unlock(&lock);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

int rk_child_guard_signal(void)
{
	int sig = atomic_load(&nguards) ? atomic_load(&pending) : 0;

	return sig && rk_child_signals_meant_us(sig) ? sig : 0;
}

void rk_child_guard_clear(void)
{
	atomic_store(&pending, 0);
}

void rk_child_guard_end(void)
{
	sigset_t all, mask;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	pthread_mutex_lock(&lock);
	if (atomic_fetch_sub(&nguards, 1) == 1 && nusers == 0)
		restore_signals(0, NENDING);
	pthread_mutex_unlock(&lock);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

int rk_child_signals_open(struct rk_child_signals *s, struct rk_error *err)
{
	sigset_t all;
	int rc;

	rc = make_pipe(s->fd);
	if (rc)
		return rk_fail_errno(err, rc, "cannot create a pipe");
	for (int i = 0; i < 2; i++)
		if (fcntl(s->fd[i], F_SETFL, O_NONBLOCK) < 0)
			rc = errno;
	if (rc) {
		close_pipe(s->fd);
		return rk_fail_errno(err, rc, "cannot make a pipe non-blocking");
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &s->mask);

	pthread_mutex_lock(&lock);
	s->slot = 0;
	while (s->slot < NSLOTS && atomic_load(&slots[s->slot]))
		s->slot++;
	if (s->slot < NSLOTS) {
		atomic_store(&slots[s->slot], s->fd[1]);
		if (nusers++ == 0)
			catch_signals(atomic_load(&nguards) ? NENDING : 0, NCAUGHT);
	}
	pthread_mutex_unlock(&lock);
	if (s->slot == NSLOTS) {
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
	/* While it is blocked, printing or giving away the terminal does not stop us. */
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
	pthread_mutex_lock(&lock);
	if (--nusers == 0)
		restore_signals(atomic_load(&nguards) ? NENDING : 0, NCAUGHT);
	atomic_store(&slots[s->slot], 0);
	pthread_mutex_unlock(&lock);
	/*
	 * A handler in another thread may still use the descriptor: wait before closing the pipe.
	 */
	while (atomic_load(&nbusy))
		sched_yield();
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
	raise(sig); /* stops us, unless nobody could continue us */
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	sigaction(sig, &old, NULL);
	return atomic_load(&nconts) != before;
}

/* In the forked child: restores the dispositions and mask that our program started with. */
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
	/* Last: pending signals are delivered here, with the dispositions above. */
	pthread_sigmask(SIG_SETMASK, &first_mask, NULL);
}

/* ---- the foreground of our terminal ---- */

/*
 * In "rockit run x | less" the pager reads the terminal, and ^C in a script must reach the shell
 * that runs it: there the foreground stays with our group until the child asks for it. If we lead
 * our group and no pipe is involved, we assume that we are alone in it.
 */
void rk_child_tty_open(struct rk_child_tty *t)
{
	struct stat st;

	*t = (struct rk_child_tty){ .own = getpgrp() };
	t->fd = high_fd(open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
	/* A container may lack /dev/tty; a terminal that is not ours reports no group. */
	for (int i = 0; t->fd < 0 && i < 3; i++)
		if (tcgetpgrp(i) >= 0)
			t->fd = fcntl(i, F_DUPFD_CLOEXEC, 3);
	if (t->fd < 0)
		return;
	t->wanted = t->own == getpid();
	for (int i = 0; i < 3; i++)
		if (!fstat(i, &st) && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
			t->wanted = false;
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
	 * Do not take it from a shell that got it in the meantime, only from a group that is gone.
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

/* ---- from fork to exec. In the child, only calls that are safe after a fork with threads ---- */

/* A source may be 0, 1 or 2, or the target of the other: copy all before replacing one. */
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
	ssize_t n = -1;

	if (fd >= 0) {
		n = read(fd, head, sizeof(head));
		close(fd);
	}
	for (ssize_t i = 0; i < n && head[i] != '\n'; i++)
		if (!head[i])
			return false;
	return n >= 0;
}

__attribute__((noreturn)) static void become(const struct rk_child_start *s, int tell)
{
	int rc;

	setpgid(0, 0);
	/* In the child, not in the parent, because it must happen before exec. */
	if (s->tty->early)
		tcsetpgrp(s->tty->fd, getpid());
	rc = place(s);
	inherit_signals();
	if (!rc) {
		execve(s->path, s->argv, s->envp);
		rc = errno;
		if (rc == ENOEXEC && looks_like_script(s->path))
			execve("/bin/sh", s->sh_argv, s->envp);
	}
	while (write(tell, &rc, sizeof(rc)) < 0 && errno == EINTR)
		;
	_exit(127);
}

int rk_child_fork(const struct rk_child_start *s, pid_t *ret, int *ret_exec)
{
	int fd[2], rc = make_pipe(fd), why = 0;
	ssize_t n;
	pid_t pid;

	if (rc)
		return rc;
	pid = fork();
	if (pid < 0) {
		rc = errno;
		close_pipe(fd);
		return rc;
	}
	if (pid == 0)
		become(s, fd[1]);
	close(fd[1]);
	/*
	 * Parent and child both do it, so that the group exists for both. Fails here if exec came
	 * first.
	 */
	setpgid(pid, pid);
	/* Wait until exec closes the other end, or the child reports an error. */
	do {
		n = read(fd[0], &why, sizeof(why));
	} while (n < 0 && errno == EINTR);
	close(fd[0]);
	*ret_exec = n == (ssize_t)sizeof(why) ? why : 0;
	*ret = pid;
	return 0;
}
