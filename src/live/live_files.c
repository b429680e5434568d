/* live_files.c - see live_files.h. Names and numbers in /proc are chosen by other users. */
#include "live/live_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/text.h"
#include "io/dirs.h"
#include "monitor/sysfs.h"
#include "read/rkraw/copy.h"

enum {
	MAX_PROCESSES = 1 << 16,
	MAPS_MAX = 64 << 20,
	LINE_MAX_BYTES = 4 * PATH_MAX + 256, /* a character of a path may be written as four */
	NAME_TRIES = 100,
};

/* ---- processes ---- */

/* Field n (from 3) of a stat file; 0 if there is none. The second may contain anything. */
static uint64_t stat_field(const char *stat, unsigned n)
{
	const char *p = strrchr(stat, ')');
	uint64_t v = 0;

	for (unsigned i = 2; p && i < n; i++) {
		p = strchr(p, ' ');
		p += p != NULL;
	}
	if (!p || rk_num_u64(p, strcspn(p, " \n"), &v) != RK_NUM_OK)
		return 0;
	return v;
}

/* The n-th number of a line "KEY: 1 2 3", the last for n 0. */
static bool status_number(const char *status, const char *key, unsigned n, uint64_t *ret)
{
	struct rk_list words = { 0 };
	char line[512];
	bool ok = rk_sysfs_value(status, key, ':', line, sizeof(line));
	const char *word;

	if (ok)
		rk_list_split(&words, line, " \t");
	ok = ok && !words.bad && words.n >= (n ? n : 1);
	if (ok) {
		word = words.v[n ? n - 1 : words.n - 1];
		ok = rk_num_u64(word, strlen(word), ret) == RK_NUM_OK;
	}
	rk_list_release(&words);
	return ok;
}

/* Has it ended, and only its parent does not know yet? */
static bool is_dead(const char *stat)
{
	const char *p = strrchr(stat, ')');

	return !p || !strncmp(p, ") Z", 3) || !strncmp(p, ") X", 3);
}

/* False if there is no such process. */
static bool look_at(int64_t pid, struct rk_live_process *ret)
{
	char path[RK_SYSFS_PATH], text[RK_SYSFS_TEXT];
	uint64_t own = 0, uid = 0;

	snprintf(path, sizeof(path), "/proc/%" PRId64 "/stat", pid);
	if (pid <= 0 || !rk_sysfs_read(path, text, sizeof(text)) || is_dead(text))
		return false;
	*ret = (struct rk_live_process){ .pid = pid,
					 .own = pid,
					 .parent = (int64_t)stat_field(text, 4),
					 .start = stat_field(text, 22) };
	snprintf(path, sizeof(path), "/proc/%" PRId64 "/status", pid);
	if (!rk_sysfs_read(path, text, sizeof(text)) || !status_number(text, "Uid", 2, &uid))
		return false;
	ret->uid = (uid_t)uid;
	if (status_number(text, "NSpid", 0, &own))
		ret->own = (int64_t)own;
	return true;
}

bool rk_live_owns(const struct rk_live_process *p, const struct rk_raw_header *h)
{
	return h->flags & RK_RAW_SWITCHED && h->proc_start && h->proc_start == p->start &&
	       h->pid == (uint64_t)p->own;
}

/* ---- files ---- */

int rk_live_open(const char *path, int flags, int *ret_fd, struct rk_raw_header *ret,
		 struct rk_error *err)
{
	int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY), rc;

	if (fd < 0 && errno == ELOOP)
		return rk_fail(err, RK_E_FORMAT, "'%s' is a link", path);
	if (fd < 0)
		return rk_fail_errno(err, errno, "cannot open '%s'", path);
	rc = rk_raw_copy_header(fd, path, ret, err);
	if (rc < 0)
		close(fd);
	else
		*ret_fd = fd;
	return rc;
}

static int add(struct rk_live_files *f, const char *path, const struct rk_live_process *p,
	       struct rk_error *err)
{
	struct rk_live_file one = { .running = p != NULL };

	for (size_t i = 0; i < f->n; i++)
		if (!strcmp(f->v[i].path, path))
			return 0;
	if (f->n == f->cap) {
		struct rk_live_file *grown = rk_grow(f->v, &f->cap, f->n + 1, sizeof(*grown));

		if (!grown)
			return rk_fail_nomem(err);
		f->v = grown;
	}
	one.path = rk_strdup(path);
	if (!one.path)
		return rk_fail_nomem(err);
	if (p)
		one.process = *p;
	f->v[f->n++] = one;
	return 0;
}

void rk_live_files_release(struct rk_live_files *f)
{
	for (size_t i = 0; i < f->n; i++)
		rk_free(f->v[i].path);
	rk_free(f->v);
	rk_list_release(&f->notes);
	*f = (struct rk_live_files){ .v = NULL };
}

/* Is it the file that is mapped? A name may refer to another one by now. */
static bool is_mapped_file(const char *path, uint64_t inode, const struct rk_live_process *p)
{
	struct rk_raw_header h;
	struct stat st;
	bool ok;
	int fd;

	if (rk_live_open(path, O_RDONLY, &fd, &h, NULL) < 0)
		return false;
	ok = !fstat(fd, &st) && (uint64_t)st.st_ino == inode && rk_live_owns(p, &h);
	close(fd);
	return ok;
}

/* Adds the file `path` of the process if it is the one with this inode; *ret says so. */
static int add_mapped(const struct rk_live_process *p, const char *path, uint64_t inode,
		      struct rk_live_files *f, bool *ret, struct rk_error *err)
{
	/* in a container the name means something else than here */
	char *inside = rk_strf("/proc/%" PRId64 "/root%s", p->pid, path);
	int rc = 0;

	*ret = false;
	if (!inside)
		return rk_fail_nomem(err);
	if ((*ret = is_mapped_file(path, inode, p)))
		rc = add(f, path, p, err);
	else if ((*ret = is_mapped_file(inside, inode, p)))
		rc = add(f, inside, p, err);
	rk_free(inside);
	return rc;
}

/*
 * "7f00-7f10 rw-s 00000000 08:01 1234   /path"; line ends in a path are written as \012. The kernel
 * shows a file that got its name after it was opened as "/folder/#1234 (deleted)": the recorder calls
 * it <pid>.rkraw, or <pid>-<n>.rkraw.
 */
static int add_mapping(const struct rk_live_process *p, char *line, const char *below,
		       struct rk_live_files *f, struct rk_error *err)
{
	char *path = strchr(line, '/'), *word = line, *name;
	uint64_t inode = 0;
	size_t kept = 0;
	bool found = false;
	int rc = 0;

	if (!path || !strstr(line, " rw-s "))
		return 0;
	for (int i = 0; i < 4 && word; i++) {
		word = strchr(word, ' ');
		word += word != NULL;
	}
	if (!word || rk_num_u64(word, strspn(word, "0123456789"), &inode) != RK_NUM_OK)
		return 0;
	for (const char *c = path; *c; c++) {
		bool end = !strncmp(c, "\\012", 4);

		path[kept++] = end ? '\n' : *c;
		c += end ? 3 : 0;
	}
	path[kept] = '\0';
	if (below && (strncmp(path, below, strlen(below)) != 0 || path[strlen(below)] != '/'))
		return 0;
	name = strrchr(path, '/') + 1;
	if (rk_text_ends(path, kept, ".rkraw"))
		return add_mapped(p, path, inode, f, &found, err);
	if (*name != '#')
		return 0;
	for (int n = 0; rc == 0 && !found && n < NAME_TRIES; n++) {
		int len = (int)(name - path);
		char *try = n ? rk_strf("%.*s%" PRId64 "-%d.rkraw", len, path, p->own, n) :
				rk_strf("%.*s%" PRId64 ".rkraw", len, path, p->own);

		rc = try ? add_mapped(p, try, inode, f, &found, err) : rk_fail_nomem(err);
		rk_free(try);
	}
	return rc;
}

/* The recorder files that a process has mapped, only those below a folder unless that is NULL. */
static int add_process(const struct rk_live_process *p, const char *below, struct rk_live_files *f,
		       struct rk_error *err)
{
	char path[64], line[LINE_MAX_BYTES];
	size_t total = 0;
	FILE *maps;
	int rc = 0;

	snprintf(path, sizeof(path), "/proc/%" PRId64 "/maps", p->pid);
	maps = fopen(path, "re");
	if (maps)
		errno = 0;
	while (maps && rc == 0 && total < MAPS_MAX && fgets(line, sizeof(line), maps)) {
		size_t n = strcspn(line, "\n");

		total += n + 1;
		line[n] = '\0';
		rc = add_mapping(p, line, below, f, err);
		errno = 0;
	}
	/* the kernel refuses to open or to read it */
	if (errno == EACCES || errno == EPERM)
		f->foreign = true;
	if (maps)
		fclose(maps);
	return rc;
}

/* ---- descendants ---- */

static int list_processes(struct rk_live_process **ret, size_t *ret_n, struct rk_error *err)
{
	struct rk_live_process *v = NULL;
	size_t n = 0, cap = 0;
	struct dirent *e;
	DIR *d = opendir("/proc");

	if (!d)
		return rk_fail_errno(err, errno, "cannot list the processes");
	while (n < MAX_PROCESSES && (e = readdir(d)) != NULL) {
		int64_t pid;

		if (rk_num_i64(e->d_name, strlen(e->d_name), &pid) != RK_NUM_OK)
			continue;
		if (n == cap) {
			struct rk_live_process *grown = rk_grow(v, &cap, n + 1, sizeof(*grown));

			if (!grown) {
				closedir(d);
				rk_free(v);
				return rk_fail_nomem(err);
			}
			v = grown;
		}
		n += look_at(pid, &v[n]);
	}
	closedir(d);
	*ret = v;
	*ret_n = n;
	return 0;
}

static bool is_in(const int64_t *pids, size_t n, int64_t pid)
{
	for (size_t i = 0; i < n; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

/* Adds the files of all processes that descend from `pids`, which has room for MAX_PROCESSES. */
static int add_descendants(int64_t *pids, size_t npids, struct rk_live_files *f,
			   struct rk_error *err)
{
	struct rk_live_process *all = NULL;
	size_t n = 0, before;
	int rc = list_processes(&all, &n, err);

	do {
		before = npids;
		for (size_t i = 0; rc == 0 && i < n && npids < MAX_PROCESSES; i++) {
			if (!is_in(pids, npids, all[i].parent) || is_in(pids, npids, all[i].pid))
				continue;
			pids[npids++] = all[i].pid;
			rc = add_process(&all[i], NULL, f, err);
		}
	} while (rc == 0 && npids > before);
	rk_free(all);
	return rc;
}

/* ---- directories ---- */

/* Copies of a run are often kept in its directory; they are used only where there is nothing else. */
static void drop_copies(struct rk_live_files *f)
{
	size_t copies = 0, kept = 0;

	for (size_t i = 0; i < f->n; i++)
		copies += f->v[i].copied;
	if (copies == f->n)
		return;
	for (size_t i = 0; i < f->n; i++) {
		if (f->v[i].copied)
			rk_free(f->v[i].path);
		else
			f->v[kept++] = f->v[i];
	}
	f->n = kept;
}

static int add_dir(const char *dir, struct rk_live_files *f, struct rk_error *err)
{
	struct rk_walk walk = { 0 };
	int rc = rk_walk_dir(dir, &walk, err);

	for (size_t i = 0; rc == 0 && i < walk.n; i++) {
		const char *path = walk.paths[i];
		struct rk_error why = { 0 };
		struct rk_live_process p;
		struct rk_raw_header h;
		bool running;
		int fd;

		if (!rk_text_ends(path, strlen(path), ".rkraw"))
			continue;
		if (rk_live_open(path, O_RDONLY, &fd, &h, &why) < 0) {
			rk_list_add(&f->notes, why.message);
			continue;
		}
		close(fd);
		/* a copy names the process too, but is not its file */
		running = !(h.flags & RK_RAW_COPY_OF) && look_at(h.pid, &p) && rk_live_owns(&p, &h);
		rc = add(f, path, running ? &p : NULL, err);
		if (rc == 0)
			f->v[f->n - 1].copied = h.flags & RK_RAW_COPY_OF;
	}
	drop_copies(f);
	rk_walk_release(&walk);
	return rc;
}

/* ---- all together ---- */

static int find_process(int64_t pid, const char *dir, bool children, struct rk_live_files *f,
			struct rk_error *err)
{
	struct rk_live_process p;
	char below[PATH_MAX];
	int rc;

	if (!look_at(pid, &p))
		return rk_fail(err, RK_E_UNSUPPORTED,
			       "no process %" PRId64
			       " is running; what it recorded is in its run directory",
			       pid);
	if (dir && !realpath(dir, below))
		return rk_fail_errno(err, errno, "cannot open '%s'", dir);
	rc = add_process(&p, dir ? below : NULL, f, err);
	if (rc == 0 && !f->n && f->foreign)
		return rk_fail(err, RK_E_IO,
			       "process %" PRId64
			       " belongs to another user; run rockit as that user",
			       pid);
	if (rc == 0 && !f->n && !children)
		return rk_fail(err, RK_E_UNSUPPORTED,
			       "process %" PRId64
			       " has no recorder file: it was started without a collector of "
			       "rockit, or has not used the GPU yet; see rockit-env(1)",
			       pid);
	return rc;
}

int rk_live_find(int64_t pid, const char *dir, bool children, struct rk_live_files *ret,
		 struct rk_error *err)
{
	struct rk_live_files f = { .v = NULL };
	int64_t *pids = NULL;
	size_t npids = 0;
	int rc;

	if (pid)
		rc = find_process(pid, dir, children, &f, err);
	else if (rk_is_dir(dir))
		rc = add_dir(dir, &f, err);
	else
		rc = rk_fail(err, RK_E_IO, "no directory '%s'", dir);
	if (rc == 0 && children) {
		pids = rk_calloc(MAX_PROCESSES, sizeof(*pids));
		if (pids && pid)
			pids[npids++] = pid;
		for (size_t i = 0; pids && i < f.n && npids < MAX_PROCESSES; i++)
			if (f.v[i].running)
				pids[npids++] = f.v[i].process.pid;
		rc = pids ? add_descendants(pids, npids, &f, err) : rk_fail_nomem(err);
	}
	if (rc == 0 && f.notes.bad)
		rc = rk_fail_nomem(err);
	if (rc == 0 && !f.n && pid)
		rc = rk_fail(err, RK_E_UNSUPPORTED,
			     "neither process %" PRId64
			     " nor one that it started has a recorder file; see rockit-env(1)",
			     pid);
	else if (rc == 0 && !f.n && f.notes.n)
		rc = rk_fail(err, RK_E_UNSUPPORTED, "no recorder file in '%s' can be used: %s", dir,
			     f.notes.v[0]);
	else if (rc == 0 && !f.n)
		rc = rk_fail(err, RK_E_UNSUPPORTED, "no recorder files (.rkraw) in '%s'", dir);
	rk_free(pids);
	if (rc < 0)
		rk_live_files_release(&f);
	else
		*ret = f;
	return rc;
}
