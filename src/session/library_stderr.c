/* library_stderr.c - see library_trace.h: extracts MIOpen's log lines from a program's stderr. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "session/library_trace.h"

enum { CHUNK_BYTES = 1 << 16, LINE_BYTES = 1 << 16, POLL_MS = 100, FOLLOW_MS = 10 };

/* At most this much forwarded data stays on disk. */
enum { KEPT_BYTES = 1 << 20 };

/* Every log line begins like this; we hold bytes back only while they may be a log line. */
static const char begins[] = "MIOpen";

struct rk_stderr_split {
	int read_fd, write_fd, log, out;
	off_t read, freed; /* of the program's file */
	_Atomic bool stopping;
	pthread_t thread;
	int log_errno; /* the first failure to write the log */
	char chunk[CHUNK_BYTES];
	/* The part received so far of a line that may be a log line. */
	char line[LINE_BYTES];
	size_t held;
	bool passing; /* the current line is not a log line: its bytes are forwarded at once */
	struct rk_bytes config;
};

/* Writes everything, waiting for the reader if needed; returns 0 or the errno. */
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

/* Without a reader the data is lost, as it would be without rockit. */
static void forward(struct rk_stderr_split *s, const char *p, size_t len)
{
	(void)write_all(s->out, p, len);
}

/* Handles as many bytes at p as possible at once and returns how many. */
static size_t take(struct rk_stderr_split *s, const char *p, size_t len)
{
	const char *end = memchr(p, '\n', len);
	size_t n = end ? (size_t)(end - p) + 1 : len, compared = sizeof(begins) - 1;
	struct rk_library_call call;
	int failed;

	if (s->passing) {
		forward(s, p, n);
		s->passing = !end;
		return n;
	}
	if (n > LINE_BYTES - s->held)
		n = LINE_BYTES - s->held;
	memcpy(s->line + s->held, p, n);
	s->held += n;

	/* a whole line, with its end, goes to the log or to the output */
	if (s->line[s->held - 1] == '\n') {
		if (rk_library_line(s->line, s->held, &call, &s->config) &&
		    call.library == RK_LIBRARY_MIOPEN) {
			failed = write_all(s->log, s->line, s->held);
			if (failed && !s->log_errno)
				s->log_errno = failed;
		} else {
			forward(s, s->line, s->held);
		}
		s->held = 0;
		return n;
	}
	/* the rest is held while it can still become a log line */
	if (compared > s->held)
		compared = s->held;
	if (s->held == LINE_BYTES || memcmp(s->line, begins, compared) != 0) {
		forward(s, s->line, s->held);
		s->held = 0;
		s->passing = true;
	}
	return n;
}

/* Follows the file until the program has ended and everything is read. */
static void *copy(void *arg)
{
	const struct timespec nap = { 0, FOLLOW_MS * 1000000L };
	struct rk_stderr_split *s = arg;

	for (;;) {
		bool last = s->stopping;
		ssize_t n = pread(s->read_fd, s->chunk, sizeof(s->chunk), s->read);

		if (n <= 0 && last)
			break;
		if (n <= 0) {
			nanosleep(&nap, NULL);
			continue;
		}
		s->read += n;
		for (size_t at = 0; at < (size_t)n;)
			at += take(s, s->chunk + at, (size_t)n - at);
		/* free the disk space of forwarded data, if the file system supports it */
		if (s->read - s->freed >= KEPT_BYTES) {
			(void)fallocate(s->write_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
					s->freed, s->read - s->freed);
			s->freed = s->read;
		}
	}
	forward(s, s->line, s->held); /* a line without an end */
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

int rk_stderr_split_start(const char *log, int out, struct rk_stderr_split **ret,
			  struct rk_error *err)
{
	struct rk_stderr_split *s = rk_calloc(1, sizeof(*s));
	char *part = rk_strf("%s.part", log);
	sigset_t all, before;
	int rc;

	if (!s || !part) {
		rk_free(s);
		rk_free(part);
		return rk_fail_nomem(err);
	}
	s->read_fd = s->write_fd = -1;
	s->out = out;
	rk_bytes_init(&s->config, 1 << 20);
	s->log = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (s->log < 0) {
		rc = rk_fail_errno(err, errno, "cannot create '%s'", log);
		goto fail;
	}
	/* a file without a name, open for us to read and for the program to append to */
	s->write_fd = open(part, O_WRONLY | O_APPEND | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (s->write_fd >= 0)
		s->read_fd = open(part, O_RDONLY | O_CLOEXEC);
	rc = s->read_fd < 0 ? rk_fail_errno(err, errno, "cannot create '%s'", part) : 0;
	if (s->write_fd >= 0)
		unlink(part);
	if (rc < 0)
		goto fail;
	/* signals must go to the thread that waits for the program */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&s->thread, NULL, copy, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc) {
		rc = rk_fail_errno(err, rc, "cannot start a thread");
		goto fail;
	}
	rk_free(part);
	*ret = s;
	return 0;
fail:
	rk_free(part);
	drop(s);
	return rc;
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
	s->stopping = true;
	pthread_join(s->thread, NULL);
	failed = s->log_errno;
	drop(s);
	if (failed)
		return rk_fail_errno(err, failed, "cannot write the log of MIOpen");
	return 0;
}
