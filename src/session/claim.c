/*
 * claim.c - see claim.h. A claim is one line, "NODE HOST PID START", made by open(O_EXCL): the one
 * thing that network file systems promise.
 */
#include "session/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/list.h"
#include "base/num.h"
#include "io/output.h"

enum { LINE_MAX_BYTES = 1024, WORD_MAX = 200 };

struct claim {
	char node[WORD_MAX], host[WORD_MAX], start[2 * WORD_MAX];
	int64_t pid;
};

/* Names of machines and jobs as one word of a line or of a file name. */
static void put_word(char *to, size_t size, const char *word)
{
	size_t n = 0;

	for (; *word && n + 1 < size; word++)
		to[n++] = (unsigned char)*word <= ' ' || *word == '/' || *word == 0x7f ? '_' :
											 *word;
	if (!n && size > 1)
		to[n++] = '-';
	to[n] = '\0';
}

static void our_claim(const struct rk_rank *who, struct claim *ret)
{
	struct utsname u;
	char start[2 * WORD_MAX] = "";

	if (uname(&u))
		u.nodename[0] = '\0';
	put_word(ret->host, sizeof(ret->host), u.nodename);
	put_word(ret->node, sizeof(ret->node), who->node[0] ? who->node : u.nodename);
	if (who->job[0])
		snprintf(start, sizeof(start), "%s.%s", who->job, who->step);
	put_word(ret->start, sizeof(ret->start), start);
	ret->pid = getpid();
}

static bool same_start(const struct claim *a, const struct claim *b)
{
	return strcmp(a->start, "-") != 0 && strcmp(a->start, b->start) == 0;
}

/* 1: made. 0: somebody else's is there. */
static int make_claim(const char *path, const struct claim *c, struct rk_error *err)
{
	char line[LINE_MAX_BYTES];
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	int len = snprintf(line, sizeof(line), "%s %s %" PRId64 " %s\n", c->node, c->host, c->pid,
			   c->start);
	bool ok;

	if (fd < 0 && errno == EEXIST)
		return 0;
	if (fd < 0)
		return rk_fail_errno(err, errno, "cannot make '%s'", path);
	ok = write(fd, line, (size_t)len) == len;
	if (close(fd) || !ok) {
		rk_fail_errno(err, errno ? errno : ENOSPC, "cannot write '%s'", path);
		unlink(path);
		return RK_E_IO;
	}
	return 1;
}

static bool parse_claim(const char *line, struct claim *ret)
{
	struct rk_list words = { 0 };
	bool ok;

	rk_list_split(&words, line, " \n");
	ok = !words.bad && words.n == 4 &&
	     rk_num_i64(words.v[2], strlen(words.v[2]), &ret->pid) == RK_NUM_OK;
	if (ok) {
		put_word(ret->node, sizeof(ret->node), words.v[0]);
		put_word(ret->host, sizeof(ret->host), words.v[1]);
		put_word(ret->start, sizeof(ret->start), words.v[3]);
	}
	rk_list_release(&words);
	return ok;
}

/* False: it is gone, or holds no line of ours. */
static bool read_once(const char *path, struct claim *ret)
{
	char line[LINE_MAX_BYTES];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0 || line[n - 1] != '\n')
		return false;
	line[n] = '\0';
	return parse_claim(line, ret);
}

/* It is made and written in two steps: one that is empty gets a little time. */
static bool read_claim(const char *path, struct claim *ret)
{
	const struct timespec pause = { .tv_nsec = 20000000 };

	for (int i = 0; i < 10; i++) {
		if (read_once(path, ret))
			return true;
		if (access(path, F_OK))
			return false;
		nanosleep(&pause, NULL);
	}
	return false;
}

static bool lives(const struct claim *c, const struct claim *us)
{
	return strcmp(c->host, us->host) == 0 && c->pid > 0 && c->pid <= INT32_MAX &&
	       c->pid != us->pid && (kill((pid_t)c->pid, 0) == 0 || errno == EPERM);
}

static int refuse(const char *dir, const struct rk_rank *who, const struct claim *c,
		  const struct claim *us, struct rk_error *err)
{
	if (same_start(c, us))
		return rk_fail(err, RK_E_IO,
			       "two processes of this job are rank %" PRId64 ": %" PRId64
			       " on %s has '%s', this is %" PRId64
			       " on %s; ROCKIT_RANK gives each its own",
			       who->rank, c->pid, c->node, dir, us->pid, us->node);
	if (lives(c, us))
		return rk_fail(err, RK_E_IO,
			       "process %" PRId64 " on %s works in '%s', this is %" PRId64
			       " on %s; name another directory",
			       c->pid, c->node, dir, us->pid, us->node);
	return rk_fail(err, RK_E_IO,
		       "the directory '%s' holds rank %" PRId64
		       " of another run (on %s, this is %s); name another or add --force",
		       dir, who->rank, c->node, us->node);
}

/*
 * A claim that is no longer anybody's is moved aside under a name of our own: of several that try,
 * one succeeds. Should it be another one by now, it goes back.
 */
static bool take_stale(const char *path, const struct claim *stale, const struct claim *us)
{
	struct claim now;
	char *aside = rk_strf("%s-%s-%" PRId64, path, us->host, us->pid);
	bool ok = aside && rename(path, aside) == 0;

	if (ok && stale &&
	    (!read_once(aside, &now) || now.pid != stale->pid || strcmp(now.start, stale->start))) {
		(void)!link(aside, path); /* fails where a third one stands already */
		ok = false;
	}
	if (aside)
		unlink(aside);
	rk_free(aside);
	return ok;
}

static int claim_at(const char *path, const char *dir, const struct rk_rank *who, bool force,
		    struct rk_error *err)
{
	struct claim us = { .pid = 0 }, other = { .node = "?", .host = "?" };
	int rc;

	our_claim(who, &us);
	for (int tries = 0; tries < 8; tries++) {
		bool known;

		rc = make_claim(path, &us, err);
		if (rc)
			return rc < 0 ? rc : 0;
		known = read_claim(path, &other);
		if (!known && access(path, F_OK))
			continue;
		if (!force || (known && (same_start(&other, &us) || lives(&other, &us))))
			return refuse(dir, who, &other, &us, err);
		take_stale(path, known ? &other : NULL, &us);
	}
	return rk_fail(err, RK_E_IO, "several processes want '%s'; this one, on %s, gives up", dir,
		       us.node);
}

int rk_claim_rank(const char *dir, const struct rk_rank *who, bool force, struct rk_error *err)
{
	char *path = rk_strf("%s/" RK_CLAIM_NAME, dir);
	int rc = path ? rk_make_dirs(dir, err) : rk_fail_nomem(err);

	if (rc == 0)
		rc = claim_at(path, dir, who, force, err);
	rk_free(path);
	return rc;
}

void rk_claim_drop(const char *dir)
{
	char *path = rk_strf("%s/" RK_CLAIM_NAME, dir);

	if (path)
		unlink(path);
	rk_free(path);
}

bool rk_claim_node(const char *top, const struct rk_rank *who, char **ret_path)
{
	struct claim us = { .pid = 0 }, other = { .pid = 0 };
	char *path;
	bool ours;

	our_claim(who, &us);
	*ret_path = NULL;
	path = rk_strf("%s/" RK_OWN_PREFIX "monitor-%s-%s", top, us.node, us.start);
	if (!path)
		return false;
	ours = make_claim(path, &us, NULL) == 1;
	if (!ours && read_claim(path, &other) && strcmp(other.host, us.host) == 0 &&
	    !lives(&other, &us) && take_stale(path, &other, &us))
		ours = make_claim(path, &us, NULL) == 1;
	if (ours)
		*ret_path = path;
	else
		rk_free(path);
	return ours;
}

void rk_claim_node_end(char *path)
{
	if (path)
		unlink(path);
	rk_free(path);
}
