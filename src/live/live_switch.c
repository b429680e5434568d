/* live_switch.c - switches recording on and off by one word in the recorder file of a process. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/handle.h"
#include "live/live_files.h"
#include "rockit/live.h"

enum { WAIT_MS = 1000, STEP_MS = 2 };

/*
 * The process created the file for itself alone. Anything else may have been put there by somebody
 * else, to make us write to it.
 */
static int check(const struct rk_live_file *f, int fd, const struct rk_raw_header *h,
		 struct rk_error *err)
{
	struct stat st;

	if (fstat(fd, &st))
		return rk_fail_errno(err, errno, "cannot read '%s'", f->path);
	if (!rk_live_owns(&f->process, h))
		return rk_fail(err, RK_E_IO, "'%s' is not the file of process %" PRId64 " any more",
			       f->path, f->process.pid);
	if (st.st_uid != f->process.uid)
		return rk_fail(err, RK_E_IO,
			       "'%s' does not belong to the user of process %" PRId64
			       ": it is not used",
			       f->path, f->process.pid);
	if (st.st_mode & 077)
		return rk_fail(err, RK_E_IO,
			       "'%s' can be used by other users: its mode must be 0600", f->path);
	return 0;
}

/*
 * The word is written with pwrite and the page is mapped only for the address that the kernel needs:
 * if somebody truncates the file meanwhile, the system calls fail, and nothing raises a signal.
 */
static int write_word(const struct rk_live_file *f, int fd, uint32_t on, struct rk_error *err)
{
	const size_t at = offsetof(struct rk_raw_header, wanted);
	size_t page = (size_t)sysconf(_SC_PAGESIZE), offset = at % page;
	uint8_t *map;

	_Static_assert(offsetof(struct rk_raw_header, wanted) % sizeof(uint32_t) == 0,
		       "the kernel wants an aligned word");
	if (pwrite(fd, &on, sizeof(on), (off_t)at) != sizeof(on))
		return rk_fail_errno(err, errno ? errno : EIO, "cannot write '%s'", f->path);
	map = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, (off_t)(at - offset));
	if (map == MAP_FAILED)
		return rk_fail_errno(err, errno, "cannot map '%s'", f->path);
	syscall(SYS_futex, map + offset, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	munmap(map, page);
	return 0;
}

static bool follows(int fd, uint32_t on)
{
	uint32_t awake;

	return pread(fd, &awake, sizeof(awake), offsetof(struct rk_raw_header, awake)) ==
		       sizeof(awake) &&
	       awake == on;
}

/* One file that is being switched. */
struct waiting {
	int fd; /* -1: it follows */
	int64_t pid;
};

static int flip(const struct rk_live_file *f, bool on, struct waiting *w,
		struct rk_switch_result *r, struct rk_error *err)
{
	struct rk_raw_header h;
	int fd, rc = rk_live_open(f->path, O_RDWR, &fd, &h, err);

	if (rc < 0)
		return rc;
	rc = check(f, fd, &h, err);
	if (rc == 0 && !(h.flags & RK_RAW_SWITCHABLE)) {
		r->fixed++;
		close(fd);
		return 0;
	}
	if (rc == 0)
		rc = write_word(f, fd, on, err);
	if (rc < 0) {
		close(fd);
		return rc;
	}
	*w = (struct waiting){ fd, f->process.pid };
	return 0;
}

static void wait_for_all(struct waiting *v, size_t n, const struct rk_switch_options *o,
			 struct rk_switch_result *r)
{
	const struct timespec step = { .tv_nsec = STEP_MS * 1000000 };
	int64_t end = rk_clock_ns(CLOCK_MONOTONIC) +
		      (int64_t)(o->wait_ms ? o->wait_ms : WAIT_MS) * 1000000;
	size_t left = 0;

	do {
		if (left)
			nanosleep(&step, NULL);
		left = 0;
		for (size_t i = 0; i < n; i++) {
			if (v[i].fd < 0)
				continue;
			if (!follows(v[i].fd, o->on)) {
				left++;
				continue;
			}
			r->switched++;
			close(v[i].fd);
			v[i].fd = -1;
		}
	} while (left && rk_clock_ns(CLOCK_MONOTONIC) < end);
	for (size_t i = 0; i < n; i++) {
		if (v[i].fd < 0)
			continue;
		r->silent++;
		r->silent_pid = v[i].pid;
		close(v[i].fd);
	}
}

int rk_live_switch(const struct rk_switch_options *opt, struct rk_switch_result *ret,
		   struct rk_error *err)
{
	struct rk_live_files f = { .v = NULL };
	struct rk_switch_result r = { .switched = 0 };
	struct waiting *waiting = NULL;
	size_t running = 0;
	int rc;

	if (!opt || !ret || opt->pid < 0 || (!opt->pid && !opt->dir))
		return rk_misuse(__func__, err);
	if (RK_CHECK_OPTIONS(opt, __func__, err) < 0)
		return RK_E_USAGE;
	rc = rk_live_find(opt->pid, opt->dir, opt->children, &f, err);
	if (rc < 0)
		return rc;
	waiting = rk_calloc(f.n, sizeof(*waiting));
	if (!waiting) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	for (size_t i = 0; i < f.n; i++)
		waiting[i].fd = -1;
	for (size_t i = 0; rc == 0 && i < f.n; i++) {
		running += f.v[i].running;
		if (f.v[i].running)
			rc = flip(&f.v[i], opt->on, &waiting[i], &r, err);
	}
	wait_for_all(waiting, f.n, opt, &r);
	if (rc == 0 && !running)
		rc = rk_fail(err, RK_E_UNSUPPORTED, "no process of '%s' is running", opt->dir);
	else if (rc == 0 && r.silent)
		rc = rk_fail(err, RK_E_IO,
			     "the collector in process %" PRId64
			     " does not answer; it follows when its thread runs again",
			     r.silent_pid);
	else if (rc == 0 && !r.switched)
		rc = rk_fail(err, RK_E_UNSUPPORTED,
			     "the collector was not started so that it can be switched: use "
			     "'rockit env' or 'rockit record', or the setting switch=1");
	if (rc == 0 || r.silent)
		*ret = r;
out:
	rk_free(waiting);
	rk_live_files_release(&f);
	return rc;
}
