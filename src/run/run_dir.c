/*
 * run_dir.c - see run_dir.h. A claim is one line, "NODE HOST PID START", created with open(O_EXCL):
 * the one operation that network file systems guarantee.
 */
#include "run/run_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/list.h"
#include "base/num.h"
#include "io/dirs.h"
#include "io/output.h"
#include "monitor/sampler.h"
#include "run/ranks.h"
#include "run/run_json.h"
#include "table/table.h"

/* ---- claims ---- */

enum { LINE_MAX_BYTES = 1024, WORD_MAX = 200, SCRATCH_LEAST_BYTES = 64 << 20 };

struct claim {
	char node[WORD_MAX], host[WORD_MAX], start[2 * WORD_MAX];
	int64_t pid;
};

/* Names of machines and jobs as one word of a line or of a file name. */
static void put_word(char *to, size_t size, const char *word)
{
	size_t n = 0;

	for (; *word && n + 1 < size; word++) {
		to[n] = *word;
		if ((unsigned char)*word <= ' ' || *word == '/' || *word == 0x7f)
			to[n] = '_';
		n++;
	}
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

/* 1: created. 0: somebody else's claim exists. */
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
		return rk_fail_errno(err, errno, "cannot create '%s'", path);
	ok = write(fd, line, (size_t)len) == len;
	if (close(fd) || !ok) {
		rk_fail_errno(err, errno ? errno : ENOSPC, "cannot write '%s'", path);
		unlink(path);
		return RK_E_IO;
	}
	return 1;
}

/* False: it is gone, or is not a claim. */
static bool read_once(const char *path, struct claim *ret)
{
	char line[LINE_MAX_BYTES];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct rk_list words = { 0 };
	ssize_t n;
	bool ok;

	if (fd < 0)
		return false;
	n = read(fd, line, sizeof(line) - 1);
	close(fd);
	if (n <= 0 || line[n - 1] != '\n')
		return false;
	line[n] = '\0';
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

/* Another process creates the claim and then writes it: wait a little if it is empty. */
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
			       "two processes of this job have rank %" PRId64 ": process %" PRId64
			       " on %s uses '%s', this is process %" PRId64
			       " on %s; set ROCKIT_RANK for each",
			       who->rank, c->pid, c->node, dir, us->pid, us->node);
	if (lives(c, us))
		return rk_fail(err, RK_E_IO,
			       "process %" PRId64
			       " on %s already uses '%s' (this is process %" PRId64
			       " on %s); choose another directory",
			       c->pid, c->node, dir, us->pid, us->node);
	return rk_fail(err, RK_E_IO,
		       "the directory '%s' contains rank %" PRId64 " of another run (on %s, this "
		       "is %s); choose another or add --force",
		       dir, who->rank, c->node, us->node);
}

/*
 * Moves a stale claim aside under our own name: if several processes try, one succeeds. If the
 * claim has changed meanwhile, it is moved back.
 */
static bool take_stale(const char *path, const struct claim *stale, const struct claim *us)
{
	struct claim now;
	char *aside = rk_strf("%s-%s-%" PRId64, path, us->host, us->pid);
	bool ok = aside && rename(path, aside) == 0;

	if (ok && stale &&
	    (!read_once(aside, &now) || now.pid != stale->pid || strcmp(now.start, stale->start))) {
		(void)!link(aside, path); /* fails where there is a third one */
		ok = false;
	}
	if (aside)
		unlink(aside);
	rk_free(aside);
	return ok;
}

int rk_claim_rank(const char *dir, const struct rk_rank *who, bool force, struct rk_error *err)
{
	struct claim us = { .pid = 0 }, other = { .node = "?", .host = "?" };
	char *path = rk_strf("%s/" RK_CLAIM_NAME, dir);
	int rc;

	if (!path)
		return rk_fail_nomem(err);
	rc = rk_make_dirs(dir, err);
	if (rc < 0)
		goto out;
	our_claim(who, &us);
	for (int tries = 0; tries < 8; tries++) {
		bool known;

		rc = make_claim(path, &us, err);
		if (rc) {
			if (rc > 0)
				rc = 0;
			goto out;
		}
		known = read_claim(path, &other);
		if (!known && access(path, F_OK))
			continue;
		if (!force || (known && (same_start(&other, &us) || lives(&other, &us)))) {
			rc = refuse(dir, who, &other, &us, err);
			goto out;
		}
		take_stale(path, known ? &other : NULL, &us);
	}
	rc = rk_fail(err, RK_E_IO,
		     "several processes compete for '%s'; this one, on %s, gives "
		     "up",
		     dir, us.node);
out:
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

/* ---- scratch ---- */

/* Why the directory cannot be used; NULL: it can. */
static const char *trouble(const char *dir)
{
	struct statvfs fs;

	if (statvfs(dir, &fs))
		return strerror(errno);
	if (fs.f_flag & ST_RDONLY)
		return "it is read-only";
	if (access(dir, W_OK | X_OK))
		return strerror(errno);
	if (!fs.f_blocks)
		return "its free space is unknown";
	if (fs.f_bavail < SCRATCH_LEAST_BYTES / (fs.f_frsize ? fs.f_frsize : 1))
		return "it is full";
	if (fs.f_files && !fs.f_favail)
		return "it has no free inodes";
	return NULL;
}

/* It must be on another file system than the target, or the nearest folder above it that exists. */
static bool elsewhere(const char *dir, const char *target)
{
	char *part = rk_strdup(target), *slash;
	struct stat st, theirs;
	bool found = false;

	while (part && !found) {
		found = stat(part[0] ? part : "/", &theirs) == 0;
		slash = strrchr(part, '/');
		if (!slash)
			break;
		*slash = '\0';
	}
	rk_free(part);
	return found && stat(dir, &st) == 0 && S_ISDIR(st.st_mode) && st.st_dev != theirs.st_dev;
}

int rk_scratch_pick(char *const *envp, const char *target, struct rk_list *notes, char **ret,
		    struct rk_error *err)
{
	static const char *const names[] = { "SLURM_TMPDIR", "TMPDIR" };

	*ret = NULL;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *dir = rk_env_value(envp, names[i]), *why;
		uint32_t salt = 0;

		if (!dir || dir[0] != '/' || !elsewhere(dir, target))
			continue;
		why = trouble(dir);
		if (!why) {
			/* without it the pid must do: an existing folder is refused */
			if (getrandom(&salt, sizeof(salt), GRND_NONBLOCK) < 0)
				salt = 0;
			*ret = rk_strf("%s/rockit-%ld-%08x", dir, (long)getpid(), (unsigned)salt);
			return *ret ? 0 : rk_fail_nomem(err);
		}
		rk_list_addf(notes, "scratch directory '%s' (%s) is not used: %s", dir, names[i],
			     why);
	}
	return 0;
}

int rk_scratch_make(const char *scratch, struct rk_error *err)
{
	if (mkdir(scratch, 0700))
		return rk_fail_errno(err, errno, "cannot create the scratch directory '%s'",
				     scratch);
	return 0;
}

/* ---- the run directory ---- */

int rk_run_dir_name(const char *dir, int64_t rank, struct rk_bytes *ret, struct rk_error *err)
{
	char cwd[PATH_MAX], stamp[32] = "";
	time_t now = time(NULL);
	struct tm tm;

	/* The profiler's paths below it must fit, too. */
	if (dir && strlen(dir) > PATH_MAX - 512)
		return rk_fail(err, RK_E_USAGE, "the name of the run directory is too long");
	if (!dir || dir[0] != '/') {
		if (!getcwd(cwd, sizeof(cwd)))
			return rk_fail_errno(err, errno, "cannot get the working directory");
		rk_bytes_puts(ret, cwd);
		if (cwd[1])
			rk_bytes_put_u8(ret, '/');
	}
	if (dir) {
		rk_bytes_puts(ret, dir);
	} else {
		if (localtime_r(&now, &tm))
			strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &tm);
		rk_bytes_printf(ret, "rockit_output/%s-%ld", stamp, (long)getpid());
	}
	while (ret->len > 1 && ret->data[ret->len - 1] == '/')
		ret->len--;
	if (rank >= 0)
		rk_bytes_printf(ret, "/rank-%05" PRId64, rank);
	return rk_bytes_str(ret) ? 0 : rk_fail_nomem(err);
}

bool rk_is_snap(const char *folder, size_t len)
{
	static const char stem[] = "snap-";
	size_t n = strlen(stem);

	return len > n && !strncmp(folder, stem, n) && strspn(folder + n, "0123456789") == len - n;
}

/* Whether a run creates files or folders of that name. */
static bool is_ours(const char *name)
{
	static const char *const names[] = { RK_RUN_JSON,    "rocprof_raw",
					     "library_logs", "library_trace.csv",
					     "report.html",  "model_trace.pftrace",
					     "trace.json" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	for (size_t i = 0; i < RK_MONITOR_FILES; i++)
		if (!strcmp(name, rk_monitor_file_names[i]))
			return true;
	for (int t = 0; t < RK_NTABLES; t++) {
		const char *stem = rk_table_file((enum rk_table)t);
		size_t len = strlen(stem);

		if (!strncmp(name, stem, len) && !strcmp(name + len, ".parquet"))
			return true;
	}
	return rk_rank_of_folder(name) >= 0 || rk_is_snap(name, strlen(name)) ||
	       strncmp(name, RK_OWN_PREFIX, strlen(RK_OWN_PREFIX)) == 0;
}

static int take_over(const char *path, const struct rk_list *names, bool force,
		     struct rk_error *err)
{
	bool ours = true;

	if (!force)
		return rk_fail(err, RK_E_IO,
			       "the directory '%s' is not empty; choose another or add --force",
			       path);
	/* a run leaves a run.json; a folder of ranks, or of samples alone, has only our names */
	for (size_t i = 0; i < names->n; i++)
		ours = ours && is_ours(names->v[i]);
	if (!ours && !rk_list_has(names, RK_RUN_JSON))
		return rk_fail(err, RK_E_IO,
			       "the directory '%s' is not empty and not a rockit run, so --force "
			       "does not remove it; choose another",
			       path);
	for (size_t i = 0; i < names->n; i++) {
		char *old;
		int rc;

		if (!is_ours(names->v[i]) || strcmp(names->v[i], RK_CLAIM_NAME) == 0)
			continue;
		old = rk_strf("%s/%s", path, names->v[i]);
		if (!old)
			return rk_fail_nomem(err);
		rc = rk_remove_tree(old, err);
		rk_free(old);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int rk_run_dir_make(const char *path, bool force, struct rk_error *err)
{
	struct rk_list names = { 0 };
	struct dirent *e;
	DIR *d;
	int rc = rk_make_dirs(path, err);

	if (rc < 0)
		return rc;
	d = opendir(path);
	if (!d)
		return rk_fail_errno(err, errno, "cannot read the directory '%s'", path);
	while ((e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			rk_list_add(&names, e->d_name);
	closedir(d);
	if (names.bad)
		rc = rk_fail_nomem(err);
	else if (names.n > rk_list_has(&names, RK_CLAIM_NAME))
		rc = take_over(path, &names, force, err);
	rk_list_release(&names);
	return rc;
}

int rk_run_dir_claim(const char *raw_dir, struct rk_error *err)
{
	if (mkdir(raw_dir, 0777) == 0)
		return 0;
	if (errno != EEXIST)
		return rk_fail_errno(err, errno, "cannot create the directory '%s'", raw_dir);
	return rk_fail(err, RK_E_IO,
		       "another run has just started to use '%.*s'; choose another directory",
		       (int)(strrchr(raw_dir, '/') - raw_dir), raw_dir);
}

int rk_count_files(const char *path, bool hidden, uint64_t *ret_files, uint64_t *ret_bytes,
		   struct rk_error *err)
{
	struct rk_walk w = { 0 };
	struct stat st;
	int rc;

	*ret_files = *ret_bytes = 0;
	if (!rk_is_dir(path))
		return 0;
	rc = hidden ? rk_walk_all(path, &w, err) : rk_walk_dir(path, &w, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < w.n; i++) {
		if (stat(w.paths[i], &st) || !S_ISREG(st.st_mode))
			continue;
		++*ret_files;
		*ret_bytes += (uint64_t)st.st_size;
	}
	rk_walk_release(&w);
	return 0;
}
