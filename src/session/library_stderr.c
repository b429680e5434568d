/* library_stderr.c - see library_stderr.h. */
#include "session/library_stderr.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "session/library_impl.h"

enum { CHUNK_BYTES = 1 << 16, LINE_BYTES = 1 << 16, POLL_MS = 100, QUIET_MS = 200 };

/* Every line of the log begins so; bytes are held back no longer than they could be one. */
static const char begins[] = "MIOpen";

struct rk_stderr_split {
	int read_fd, write_fd, log, out;
	_Atomic bool stopping;
	pthread_t thread;
	int log_errno; /* the first failure to write the log */
	char chunk[CHUNK_BYTES];
	/* A line that may be one of the log, as far as it has come. */
	char line[LINE_BYTES];
	size_t held;
	bool passing; /* the line under way is none: its bytes are handed on at once */
	struct rk_bytes config;
};

/* All of it, waiting as long as the reader takes; 0, or the errno. */
static int write_all(int fd, const char *p, size_t len)
{
	while (len) {
		ssize_t n = write(fd, p, len);
		struct pollfd room = { fd, POLLOUT, 0 };

		if (n >= 0) {
			p += n;
			len -= (size_t)n;
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			poll(&room, 1, POLL_MS);
		} else if (errno != EINTR) {
			return errno;
		}
	}
	return 0;
}

/* What nobody can read any more is lost, as it would have been without us. */
static void hand_on(struct rk_stderr_split *s, const char *p, size_t len)
{
	(void)write_all(s->out, p, len);
}

/* The whole held line, line end included, goes where it belongs. */
static void settle_line(struct rk_stderr_split *s)
{
	struct rk_library_call call;
	int failed = 0;

	if (rk_library_line(s->line, s->held, &call, &s->config) &&
	    call.library == RK_LIBRARY_MIOPEN)
		failed = write_all(s->log, s->line, s->held);
	else
		hand_on(s, s->line, s->held);
	if (failed && !s->log_errno)
		s->log_errno = failed;
	s->held = 0;
}

/* Whether what is held can still become a line of the log. */
static bool may_be_log(const struct rk_stderr_split *s)
{
	size_t n = s->held < sizeof(begins) - 1 ? s->held : sizeof(begins) - 1;

	return s->held < LINE_BYTES && memcmp(s->line, begins, n) == 0;
}

/* As many bytes at p as can be dealt with in one go: of the line under way, or all that pass. */
static size_t take(struct rk_stderr_split *s, const char *p, size_t len)
{
	const char *end = memchr(p, '\n', len);
	size_t n = end ? (size_t)(end - p) + 1 : len;

	if (s->passing) {
		hand_on(s, p, n);
		s->passing = !end;
		return n;
	}
	if (n > LINE_BYTES - s->held)
		n = LINE_BYTES - s->held;
	memcpy(s->line + s->held, p, n);
	s->held += n;
	if (s->line[s->held - 1] == '\n') {
		settle_line(s);
	} else if (!may_be_log(s)) {
		hand_on(s, s->line, s->held);
		s->held = 0;
		s->passing = true;
	}
	return n;
}

/* Until the end, or until nothing has come for a while after the program's end. */
static void *copy(void *arg)
{
	struct rk_stderr_split *s = arg;
	int quiet_ms = 0;

	while (!s->stopping || quiet_ms < QUIET_MS) {
		struct pollfd in = { s->read_fd, POLLIN, 0 };
		int ready = poll(&in, 1, POLL_MS);
		ssize_t n = ready > 0 ? read(s->read_fd, s->chunk, sizeof(s->chunk)) : -1;

		if (ready > 0 && n == 0)
			break;
		quiet_ms = ready == 0 && s->stopping ? quiet_ms + POLL_MS : 0;
		for (size_t at = 0; n > 0 && at < (size_t)n;)
			at += take(s, s->chunk + at, (size_t)n - at);
	}
	hand_on(s, s->line, s->held); /* a line without an end */
	return NULL;
}

static void drop(struct rk_stderr_split *s)
{
	const int fds[] = { s->read_fd, s->write_fd, s->log };

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	rk_bytes_release(&s->config);
	rk_free(s);
}

/* Signals are for the thread that waits for the program. */
static int start_thread(struct rk_stderr_split *s)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&s->thread, NULL, copy, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

int rk_stderr_split_start(const char *log, int out, struct rk_stderr_split **ret,
			  struct rk_error *err)
{
	struct rk_stderr_split *s = rk_calloc(1, sizeof(*s));
	int fds[2] = { -1, -1 }, rc;

	if (!s)
		return rk_fail_nomem(err);
	s->read_fd = s->write_fd = -1;
	s->out = out;
	rk_bytes_init(&s->config, 1 << 20);
	s->log = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (s->log < 0) {
		rc = rk_fail_errno(err, errno, "cannot create '%s'", log);
	} else if (pipe2(fds, O_CLOEXEC) < 0) {
		rc = rk_fail_errno(err, errno, "cannot make a pipe");
	} else {
		s->read_fd = fds[0];
		s->write_fd = fds[1];
		rc = start_thread(s);
		rc = rc ? rk_fail_errno(err, rc, "cannot start a thread") : 0;
	}
	if (rc < 0) {
		drop(s);
		return rc;
	}
	*ret = s;
	return 0;
}

int rk_stderr_split_fd(const struct rk_stderr_split *s)
{
	return s->write_fd;
}

int rk_stderr_split_stop(struct rk_stderr_split *s, struct rk_error *err)
{
	int failed;

	if (!s)
		return 0;
	close(s->write_fd);
	s->write_fd = -1;
	s->stopping = true;
	pthread_join(s->thread, NULL);
	failed = s->log_errno;
	drop(s);
	return failed ? rk_fail_errno(err, failed, "cannot write the log of MIOpen") : 0;
}
