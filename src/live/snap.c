/*
 * snap.c - the recorder files of running or killed programs as a new run directory.
 *
 * Everything is made in a hidden folder beside the target, which is renamed at the end.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "base/json_out.h"
#include "base/num.h"
#include "base/secrets.h"
#include "base/text.h"
#include "io/dirs.h"
#include "io/output.h"
#include "live/live_files.h"
#include "read/rkraw/copy.h"
#include "rockit/live.h"
#include "rockit/rockit.h"
#include "run/run_dir.h"
#include "run/run_json.h"

#define RAW_FOLDER "rocprof_raw"

enum { JSON_MAX = 16 << 20, NAME_TRIES = 1000 };

struct copy {
	char *path; /* in the new folder */
	bool running;
	struct rk_raw_copied c;
};

struct snap {
	const struct rk_snap_options *opt;
	struct rk_raw_copy_hooks hooks;
	struct rk_live_files files;
	struct copy *copies;
	size_t n;
	char *target, *dir; /* dir: where it is made */
	struct rk_snap_result r;
};

/* ---- places ---- */

static bool is_empty(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;
	bool empty = d != NULL;

	while (empty && (e = readdir(d)) != NULL)
		empty = !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..");
	if (d)
		closedir(d);
	return empty;
}

static int make_place(struct snap *s, struct rk_error *err)
{
	struct rk_bytes name;
	char *parent = NULL, *raw = NULL;
	size_t len;
	int rc;

	rk_bytes_init(&name, PATH_MAX);
	rc = rk_run_dir_name(s->opt->out, -1, &name, err);
	if (rc < 0)
		goto out;
	s->target = rk_strdup(rk_bytes_str(&name));
	if (!s->target) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	if (!access(s->target, F_OK) && !is_empty(s->target)) {
		rc = rk_fail(err, RK_E_IO, "'%s' exists already; choose another directory",
			     s->target);
		goto out;
	}
	len = (size_t)(rk_base_name(s->target) - s->target);
	parent = rk_strndup(s->target, len);
	s->dir = rk_strf("%s" RK_OWN_PREFIX "snap-%ld-%s", parent ? parent : "", (long)getpid(),
			 rk_base_name(s->target));
	if (!parent || !s->dir) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	rc = rk_make_dirs(parent, err);
	if (rc < 0)
		goto out;
	if (mkdir(s->dir, 0777)) {
		rc = rk_fail_errno(err, errno, "cannot create '%s'", s->dir);
		rk_free(s->dir); /* not ours to remove */
		s->dir = NULL;
		goto out;
	}
	raw = rk_strf("%s/" RAW_FOLDER, s->dir);
	if (!raw)
		rc = rk_fail_nomem(err);
	else if (mkdir(raw, 0777))
		rc = rk_fail_errno(err, errno, "cannot create '%s'", raw);
out:
	rk_bytes_release(&name);
	rk_free(parent);
	rk_free(raw);
	return rc;
}

/* Creates the file for a copy: the name of the original, with a number if that is taken. */
static int create(const struct snap *s, const char *path, char **ret_path, int *ret_fd,
		  struct rk_error *err)
{
	const char *name = rk_base_name(path);
	int stem = (int)(strlen(name) - strlen(".rkraw")), fd = -1;
	char *to = NULL;

	for (int i = 1; fd < 0 && i < NAME_TRIES; i++) {
		rk_free(to);
		if (i == 1)
			to = rk_strf("%s/" RAW_FOLDER "/%s", s->dir, name);
		else
			to = rk_strf("%s/" RAW_FOLDER "/%.*s-%d.rkraw", s->dir, stem, name, i);
		if (!to)
			return rk_fail_nomem(err);
		fd = open(to, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	if (fd < 0) {
		rk_fail_errno(err, errno, "cannot create '%s'", to);
		rk_free(to);
		return RK_E_IO;
	}
	*ret_path = to;
	*ret_fd = fd;
	return 0;
}

/* ---- copies ---- */

static int copy_file(struct snap *s, const struct rk_live_file *f, struct rk_error *err)
{
	struct copy *to = &s->copies[s->n];
	struct rk_raw_header h;
	int from = -1, fd = -1, rc = rk_live_open(f->path, O_RDONLY, &from, &h, err);

	if (rc < 0)
		return rc;
	rc = create(s, f->path, &to->path, &fd, err);
	if (rc < 0)
		goto out;
	to->running = f->running;
	rc = rk_raw_copy(from, f->path, fd, f->running, &s->hooks, &to->c, err);
	if (rc < 0) {
		unlink(to->path);
		rk_free(to->path);
		*to = (struct copy){ .path = NULL };
		goto out;
	}
	s->n++;
out:
	close(from);
	if (fd >= 0)
		close(fd);
	return rc;
}

/* Damage in one file must not cost the others. */
static int copy_files(struct snap *s, struct rk_error *err)
{
	s->copies = rk_calloc(s->files.n, sizeof(*s->copies));
	if (!s->copies)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < s->files.n; i++) {
		struct rk_error why = { 0 };
		int rc = copy_file(s, &s->files.v[i], &why);

		if (rc == 0)
			continue;
		if (s->files.n == 1 || rc == RK_E_NOMEM || rc == RK_E_CANCELLED)
			return rk_fail(err, rc, "%s", why.message);
		rk_list_add(&s->files.notes, why.message);
	}
	if (s->files.notes.bad)
		return rk_fail_nomem(err);
	if (!s->n)
		return rk_fail(err, RK_E_UNSUPPORTED, "no recorder file can be copied: %s",
			       s->files.notes.n ? s->files.notes.v[0] : "all are damaged");
	return 0;
}

/* ---- the last seconds ---- */

/* Files of one machine have one clock, so "the last" is the same moment for all of them. */
static int64_t newest_of(const struct snap *s, const struct rk_raw_header *h)
{
	int64_t newest = INT64_MIN;

	for (size_t i = 0; i < s->n; i++)
		if (!memcmp(s->copies[i].c.h.host, h->host, sizeof(h->host)))
			newest = rk_max_i64(newest, s->copies[i].c.newest_ns);
	return newest;
}

/* Remembers the window that holds least of what was asked for. */
static void compare(struct snap *s, const struct rk_raw_copied *c, int64_t newest)
{
	const uint64_t unit = 1 << 20;
	int64_t wanted = s->opt->last_ns, from, held;
	double bytes;

	if (!rk_sub_i64(newest, wanted, &from) || c->complete_ns <= from ||
	    c->complete_ns <= c->h.start.boot_ns || !rk_sub_i64(newest, c->complete_ns, &held))
		return;
	held = rk_max_i64(held, 1000000);
	if (held >= wanted || (s->r.enough_bytes && held >= s->r.held_ns))
		return;
	/* a tenth more, since programs are not always equally busy */
	bytes = 1.1 * (double)c->h.limit_blocks * c->h.block_bytes * (double)wanted / (double)held;
	s->r.held_ns = held;
	s->r.enough_bytes = bytes < 1e15 ? ((uint64_t)bytes / unit + 1) * unit :
					   UINT64_C(1000000000000000);
}

static int cut_files(struct snap *s, struct rk_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < s->n; i++)
		rc = rk_raw_copy_span(s->copies[i].path, &s->hooks, &s->copies[i].c, err);
	for (size_t i = 0; rc == 0 && i < s->n; i++) {
		struct rk_raw_copied *c = &s->copies[i].c;
		int64_t newest = newest_of(s, &c->h), from;

		compare(s, c, newest);
		if (rk_sub_i64(newest, s->opt->last_ns, &from))
			rc = rk_raw_copy_cut(s->copies[i].path, from, &s->hooks, c, err);
	}
	return rc;
}

/* ---- run.json ---- */

static struct rk_clock_pair pair_of(const struct rk_raw_clocks *c)
{
	return (struct rk_clock_pair){ c->boot_ns, c->real_ns, c->error_ns, -1 };
}

/* The words of the command, which end with NUL; secrets are hidden. */
static void put_command(struct rk_json_out *j, const struct rk_raw_header *h)
{
	size_t len = rk_min(h->command_len, sizeof(h->command));
	struct rk_list words = { 0 }, hidden = { 0 };

	for (size_t at = 0; at < len;) {
		size_t n = strnlen(h->command + at, len - at);

		rk_list_addn(&words, h->command + at, n);
		at += n + 1;
	}
	if (!words.n)
		rk_list_addn(&words, h->exe, strnlen(h->exe, sizeof(h->exe)));
	rk_secrets_args(&words, &hidden);
	hidden.bad = hidden.bad || words.bad;
	rk_json_list(j, rk_run_key(RK_RUN_COMMAND), &hidden);
	rk_list_release(&words);
	rk_list_release(&hidden);
}

/* A text of a header; rk_json_text() repairs what is not UTF-8. */
static void put_word(struct rk_json_out *j, const char *key, const char *s, size_t size)
{
	char word[sizeof(((struct rk_raw_header *)0)->host) + 1];
	size_t len = strnlen(s, rk_min(size, sizeof(word) - 1));

	memcpy(word, s, len);
	word[len] = '\0';
	rk_json_text(j, key, len ? word : NULL);
}

/* The earliest start and the latest end of all processes on the first one's machine. */
static void find_ends(const struct snap *s, struct rk_clock_pair *start, struct rk_clock_pair *end)
{
	const struct rk_raw_header *first = &s->copies[0].c.h;

	*start = pair_of(&first->start);
	*end = pair_of(&first->last[first->last_slot & 1]);
	for (size_t i = 1; i < s->n; i++) {
		const struct rk_raw_header *h = &s->copies[i].c.h;
		struct rk_clock_pair a = pair_of(&h->start),
				     b = pair_of(&h->last[h->last_slot & 1]);

		if (memcmp(h->host, first->host, sizeof(h->host)) != 0)
			continue;
		if (a.boottime_ns < start->boottime_ns)
			*start = a;
		if (b.boottime_ns > end->boottime_ns)
			*end = b;
	}
}

static void put_snap(struct rk_json_out *j, const struct snap *s)
{
	rk_json_object(j, "snap");
	if (s->opt->pid)
		rk_json_int(j, "pid", s->opt->pid);
	else
		rk_json_text(j, "dir", s->opt->dir);
	rk_json_uint(j, "files", s->n);
	rk_json_uint(j, "running", s->r.running);
	rk_json_uint(j, "records", s->r.records);
	if (s->opt->last_ns) {
		rk_json_int(j, "last_ns", s->opt->last_ns);
		rk_json_int(j, "held_ns", s->r.enough_bytes ? s->r.held_ns : s->opt->last_ns);
		rk_json_uint(j, "enough_bytes", s->r.enough_bytes);
	}
	rk_json_close(j);
}

static void put_ledger(struct rk_json_out *j, const struct snap *s)
{
	struct rk_list dropped = { 0 };

	if (s->r.copied_over)
		rk_list_addf(&dropped,
			     "copied_over=%" PRIu64 " blocks were overwritten while they "
			     "were copied",
			     s->r.copied_over);
	if (s->r.damaged)
		rk_list_addf(&dropped, "damaged=%" PRIu64 " blocks could not be read",
			     s->r.damaged);
	if (s->r.cut)
		rk_list_addf(&dropped, "cut=%" PRIu64 " records are older than what was asked for",
			     s->r.cut);
	rk_json_object(j, rk_run_key(RK_RUN_LEDGER));
	rk_json_object(j, rk_run_key(RK_RUN_DELIVERED));
	rk_json_uint(j, "records", s->r.records);
	rk_json_close(j);
	rk_json_pairs(j, rk_run_key(RK_RUN_DROPPED), &dropped);
	rk_json_close(j);
	rk_list_release(&dropped);
}

static int write_record(const struct snap *s, struct rk_error *err)
{
	const struct rk_raw_header *h = &s->copies[0].c.h;
	char *path = rk_strf("%s/" RK_RUN_JSON, s->dir);
	struct rk_clock_pair start, end;
	struct rk_json_out j;
	struct rk_bytes b;
	int rc;

	if (!path)
		return rk_fail_nomem(err);
	find_ends(s, &start, &end);
	rk_bytes_init(&b, JSON_MAX);
	rk_json_begin(&j, &b);
	rk_json_int(&j, "schema", 1);
	rk_json_text(&j, rk_run_key(RK_RUN_ROCKIT), ROCKIT_VERSION);
	rk_json_text(&j, rk_run_key(RK_RUN_STATE), "done");
	put_command(&j, h);
	rk_json_null(&j, rk_run_key(RK_RUN_EXIT_STATUS));
	rk_json_object_flat(&j, rk_run_key(RK_RUN_TOOL));
	put_word(&j, rk_run_key(RK_RUN_TOOL_NAME), h->collector, sizeof(h->collector));
	rk_json_text(&j, rk_run_key(RK_RUN_TOOL_VERSION), ROCKIT_VERSION);
	rk_json_close(&j);
	put_word(&j, rk_run_key(RK_RUN_HOST), h->host, sizeof(h->host));
	put_word(&j, rk_run_key(RK_RUN_NODE), h->host, sizeof(h->host));
	if (s->r.running) /* otherwise it may have been before the last boot */
		rk_run_put_boot(&j);
	if (s->n == 1 && h->rank >= 0)
		rk_json_int(&j, rk_run_key(RK_RUN_RANK), h->rank);
	if (s->n == 1 && h->local_rank >= 0)
		rk_json_int(&j, rk_run_key(RK_RUN_LOCAL_RANK), h->local_rank);
	rk_run_put_time(&j, rk_run_key(RK_RUN_START_TIME), &start);
	rk_run_put_time(&j, rk_run_key(RK_RUN_END_TIME), &end);
	rk_json_object(&j, rk_run_key(RK_RUN_CLOCKS));
	rk_json_text(&j, "traces", "CLOCK_BOOTTIME");
	rk_run_put_clock(&j, rk_run_key(RK_RUN_CLOCKS_START), &start);
	rk_run_put_clock(&j, rk_run_key(RK_RUN_CLOCKS_END), &end);
	rk_json_close(&j);
	put_snap(&j, s);
	rk_json_array(&j, rk_run_key(RK_RUN_PASSES));
	rk_json_close(&j);
	put_ledger(&j, s);
	rk_json_list(&j, rk_run_key(RK_RUN_NOTES), &s->files.notes);
	rk_json_end(&j);
	if (b.bad)
		rc = rk_fail_nomem(err);
	else
		rc = rk_write_file(path, rk_bytes_str(&b), b.len, err);
	rk_bytes_release(&b);
	rk_free(path);
	return rc;
}

/* ---- all together ---- */

static void sum_up(struct snap *s)
{
	struct rk_snap_result *r = &s->r;

	for (size_t i = 0; i < s->n; i++) {
		const struct rk_raw_copied *c = &s->copies[i].c;

		r->files++;
		r->running += s->copies[i].running;
		r->records += c->records;
		r->bytes += c->bytes;
		r->cut += c->cut;
		r->damaged += c->damaged;
		r->copied_over += c->copied_over;
	}
	if (s->files.notes.n)
		snprintf(r->note, sizeof(r->note), "left out: %s%s", s->files.notes.v[0],
			 s->files.notes.n > 1 ? ", and others" : "");
	snprintf(r->dir, sizeof(r->dir), "%s", s->target);
}

/* The files are on disk before the directory has its name. */
static int publish(const struct snap *s, struct rk_error *err)
{
	for (size_t i = 0; i < s->n; i++) {
		int fd = open(s->copies[i].path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
		bool ok = fd >= 0 && fsync(fd) == 0;

		if (!ok)
			rk_fail_errno(err, errno, "cannot write '%s'", s->copies[i].path);
		if (fd >= 0)
			close(fd);
		if (!ok)
			return RK_E_IO;
	}
	if (rename(s->dir, s->target))
		return rk_fail_errno(err, errno, "cannot create '%s'", s->target);
	return 0;
}

int rk_live_snap(const struct rk_snap_options *opt, struct rk_snap_result *ret,
		 struct rk_error *err)
{
	struct snap s = { .opt = opt };
	int rc;

	if (!opt || !ret || opt->pid < 0 || opt->last_ns < 0 || (!opt->pid && !opt->dir))
		return rk_misuse(__func__, err);
	if (RK_CHECK_OPTIONS(opt, __func__, err) < 0)
		return RK_E_USAGE;
	s.hooks = (struct rk_raw_copy_hooks){ opt->stop, opt->arg };
	if ((rc = rk_live_find(opt->pid, opt->dir, false, &s.files, err)) < 0 ||
	    (rc = make_place(&s, err)) < 0 || (rc = copy_files(&s, err)) < 0 ||
	    (opt->last_ns && (rc = cut_files(&s, err)) < 0))
		goto out;
	sum_up(&s);
	if ((rc = write_record(&s, err)) < 0 || (rc = publish(&s, err)) < 0)
		goto out;
	*ret = s.r;
out:
	if (rc < 0 && s.dir)
		rk_remove_tree(s.dir, NULL);
	for (size_t i = 0; i < s.n; i++)
		rk_free(s.copies[i].path);
	rk_free(s.copies);
	rk_free(s.target);
	rk_free(s.dir);
	rk_live_files_release(&s.files);
	return rc;
}
