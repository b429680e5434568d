/*
 * child_signals.c - signals that reach us while a child runs become bytes in a pipe.
 *
 * Handlers and not a blocked mask with signalfd: other threads of the program may have the signals
 * unblocked, and one of them would die of what is meant for the child. A handler works in whatever
 * thread it is run. All it does is write.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "io/child_impl.h"

/* SIGCHLD wakes us and is not passed on. */
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

/* What our program found when it began: it is what children get, whatever was changed since. */
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

	/* Somebody else's fork that has not yet called exec: not meant for us. */
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
	/* Ignored ones as well: the child inherits them as ignored, and may have changed its mind. */
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
	/* A handler in another thread may hold the number still; then the pipe may not go yet. */
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
	int rc = rk_child_pipe(fd);

	if (rc)
		return rk_fail_errno(err, rc, "cannot make a pipe");
	for (int i = 0; i < 2; i++)
		if (fcntl(fd[i], F_SETFL, O_NONBLOCK) < 0)
			rc = errno;
	if (rc) {
		close_pipe(fd);
		return rk_fail_errno(err, rc, "cannot make a pipe that does not block");
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
	/* Blocked, it neither stops us when we print nor when we hand the terminal over. */
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

	/* What comes from here on waits for the dispositions of before. */
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
	raise(sig); /* here we are stopped, unless nobody is there to continue us */
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	sigaction(sig, &old, NULL);
	return atomic_load(&nconts) != before;
}

void rk_child_signals_inherit(void)
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
