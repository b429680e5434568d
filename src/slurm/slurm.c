/* slurm.c - a job planned, submitted by sbatch, and watched until it has ended. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "base/json_out.h"
#include "base/num.h"
#include "base/text.h"
#include "io/child.h"
#include "io/output.h"
#include "rockit/session.h"
#include "rockit/slurm.h"
#include "run/run_dir.h"
#include "session/plan.h"
#include "slurm/slurm_script.h"

enum { SCRIPT_MAX = 4 << 20, ANSWER_MAX = 64 << 10 };

struct rk_slurm_job {
	struct rk_bytes script;
	char *dir, *ranks, *id;
	uint64_t size;
	bool force;
};

/* ---- plan ---- */

static int fill_job(struct rk_slurm_job *j, struct rk_slurm_options *o, struct rk_error *err)
{
	struct rk_bytes dir;
	char self[4096];
	ssize_t n;
	int rc;

	if (!o->dir || !o->dir[0])
		return rk_fail(err, RK_E_USAGE, "no directory for the run: add '-d DIR'");
	j->size = rk_slurm_size(o);
	j->force = o->force;
	rk_bytes_init(&dir, 1 << 16);
	rc = rk_run_dir_name(o->dir, -1, &dir, err);
	if (rc < 0)
		goto out;
	if (!o->rockit) {
		n = readlink("/proc/self/exe", self, sizeof(self) - 1);
		if (n < 0) {
			rc = rk_fail_errno(err, errno,
					   "cannot find the path of rockit; give it with --rockit");
			goto out;
		}
		self[n] = '\0';
		o->rockit = self;
	}
	j->dir = rk_strdup(rk_bytes_str(&dir));
	if (o->ranks)
		j->ranks = rk_strdup(o->ranks);
	o->dir = j->dir;
	if (!j->dir || (o->ranks && !j->ranks)) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	rc = rk_slurm_write(o, &j->script, err);
out:
	rk_bytes_release(&dir);
	return rc;
}

static void destroy_job(void *p)
{
	struct rk_slurm_job *j = p;

	if (!j)
		return;
	rk_bytes_release(&j->script);
	rk_free(j->dir);
	rk_free(j->ranks);
	rk_free(j->id);
	rk_free(j);
}

int rk_slurm_plan(const struct rk_slurm_options *opt, struct rk_slurm_job **ret,
		  struct rk_error *err)
{
	struct rk_session_options what = { 0 };
	struct rk_preset *preset = NULL;
	struct rk_slurm_options o;
	struct rk_slurm_job *j;
	bool chosen;
	int rc;

	if (!opt || !ret)
		return rk_misuse(__func__, err);
	if (RK_CHECK_OPTIONS(opt, __func__, err) < 0)
		return RK_E_USAGE;
	rc = rk_rank_chosen(opt->ranks, 0, &chosen, err);
	if (rc < 0)
		return rc;
	if (!opt->argv || !opt->argv[0] || !opt->argv[0][0])
		return rk_fail(err, RK_E_USAGE, "no program to run; put it after '--'");
	j = rk_calloc(1, sizeof(*j));
	if (!j)
		return rk_fail_nomem(err);
	rk_bytes_init(&j->script, SCRIPT_MAX);
	o = *opt;
	what.preset = opt->preset;
	what.context = opt->context;
	what.context_file = opt->context_file;
	if ((rc = rk_plan_preset(&what, &preset, err)) < 0 ||
	    (rc = rk_slurm_merge(&o, preset, err)) < 0 || (rc = fill_job(j, &o, err)) < 0 ||
	    (rc = rk_handle_open(RK_HANDLE_SLURM_JOB, j, destroy_job, err)) < 0)
		goto out;
	*ret = j;
	j = NULL;
out:
	rk_preset_free(preset);
	destroy_job(j);
	return rc;
}

void rk_slurm_job_free(struct rk_slurm_job *j)
{
	rk_handle_close(RK_HANDLE_SLURM_JOB, j);
}

const char *rk_slurm_script(const struct rk_slurm_job *j, size_t *ret_len)
{
	const char *text;

	if (!ret_len)
		return NULL;
	*ret_len = 0;
	if (!rk_handle_hold(RK_HANDLE_SLURM_JOB, j))
		return NULL;
	*ret_len = j->script.len;
	text = (const char *)j->script.data;
	rk_handle_drop(j);
	return text;
}

const char *rk_slurm_dir(const struct rk_slurm_job *j)
{
	const char *dir;

	if (!rk_handle_hold(RK_HANDLE_SLURM_JOB, j))
		return NULL;
	dir = j->dir;
	rk_handle_drop(j);
	return dir;
}

/* ---- asking Slurm ---- */

struct answer {
	char text[4096]; /* the beginning of what it printed */
	struct rk_child_result did;
};

/* The output of a command; its stderr goes to ours unless `silent`. */
static int ask(char *const *argv, bool silent, struct answer *ret, struct rk_error *err)
{
	struct rk_child_options opt = { .argv = argv, .timeout_ms = 60000, .err_fd = -1 };
	int fd = memfd_create("rockit-answer", MFD_CLOEXEC), sink = -1, rc;
	ssize_t n;

	*ret = (struct answer){ .text = "" };
	if (fd < 0)
		return rk_fail_errno(err, errno, "cannot create a temporary file");
	if (silent)
		sink = memfd_create("rockit-sink", MFD_CLOEXEC);
	opt.out_fd = fd;
	opt.err_fd = sink;
	rc = rk_child_run(&opt, &ret->did, err);
	n = pread(fd, ret->text, sizeof(ret->text) - 1, 0);
	if (n >= 0)
		ret->text[n] = '\0';
	close(fd);
	if (sink >= 0)
		close(sink);
	return rc;
}

/* ---- submit ---- */

static int write_in(const struct rk_slurm_job *j, const char *name, const void *text, size_t len,
		    struct rk_error *err)
{
	char *path = rk_strf("%s/%s", j->dir, name);
	int rc;

	if (!path)
		return rk_fail_nomem(err);
	rc = rk_write_file(path, text, len, err);
	rk_free(path);
	return rc;
}

/* For `collect`, in case no rank writes anything. */
static int write_job(const struct rk_slurm_job *j, struct rk_error *err)
{
	struct rk_json_out out;
	struct rk_bytes b;
	int rc;

	rk_bytes_init(&b, 1 << 16);
	rk_json_begin(&out, &b);
	rk_json_int(&out, "schema", 1);
	rk_json_text(&out, "job", j->id);
	rk_json_uint(&out, "size", j->size);
	if (j->ranks)
		rk_json_text(&out, "ranks", j->ranks);
	rk_json_end(&out);
	if (b.bad)
		rc = rk_fail_nomem(err);
	else
		rc = write_in(j, RK_SLURM_JOB_FILE, b.data, b.len, err);
	rk_bytes_release(&b);
	return rc;
}

/* "123" or "123;cluster". */
static int take_id(struct rk_slurm_job *j, const struct answer *a, struct rk_error *err)
{
	size_t digits = strspn(a->text, "0123456789");

	if (a->did.end == RK_CHILD_NOT_FOUND || a->did.end == RK_CHILD_NOT_EXECUTABLE)
		return rk_fail(err, RK_E_UNSUPPORTED, "no Slurm on this machine: %s", a->did.why);
	if (a->did.status)
		return rk_fail(err, RK_E_IO, "sbatch exited with status %d: nothing was submitted",
			       a->did.status);
	if (!digits)
		return rk_fail(err, RK_E_IO, "sbatch did not print a job number");
	rk_free(j->id); /* of an earlier job */
	j->id = rk_strf("%.*s", (int)digits, a->text);
	if (!j->id)
		return rk_fail_nomem(err);
	return 0;
}

static int submit(struct rk_slurm_job *j, const char **ret_id, struct rk_error *err)
{
	char *path = rk_strf("%s/job.sh", j->dir);
	char *argv[] = { "sbatch", "--parsable", path, NULL };
	DIR *d = NULL;
	struct dirent *e;
	struct rk_error why = { 0 };
	struct answer a;
	bool full = false;
	int rc;

	if (!path)
		return rk_fail_nomem(err);
	d = opendir(j->dir);
	while (d && !full && (e = readdir(d)) != NULL)
		full = rk_rank_of_folder(e->d_name) >= 0;
	if (d)
		closedir(d);
	if (full && !j->force) {
		rc = rk_fail(
			err, RK_E_IO,
			"the directory '%s' already contains ranks; choose another or add --force",
			j->dir);
		goto out;
	}
	if ((rc = rk_make_dirs(j->dir, err)) < 0 ||
	    (rc = write_in(j, "job.sh", j->script.data, j->script.len, err)) < 0 ||
	    (rc = ask(argv, false, &a, err)) < 0 || (rc = take_id(j, &a, err)) < 0)
		goto out;
	if (write_job(j, &why) < 0) {
		rc = rk_fail(err, why.code, "job %s was submitted, but %s", j->id, why.message);
		goto out;
	}
	*ret_id = j->id;
out:
	rk_free(path);
	return rc;
}

int rk_slurm_submit(struct rk_slurm_job *j, const char **ret_id, struct rk_error *err)
{
	int rc;

	if (!ret_id)
		return rk_misuse(__func__, err);
	rc = rk_handle_use(RK_HANDLE_SLURM_JOB, j, __func__, err);
	if (rc < 0)
		return rc;
	rc = submit(j, ret_id, err);
	rk_handle_drop(j);
	return rc;
}

/* ---- wait ---- */

struct job_state {
	char state[64], where[256];
	int code, signal;
	bool known;
};

/* The value of " Name=" up to the next blank. */
static void field(const char *text, const char *name, char *ret, size_t size)
{
	const char *at = strstr(text, name);

	ret[0] = '\0';
	if (!at)
		return;
	at += strlen(name);
	snprintf(ret, size, "%.*s", (int)strcspn(at, " \n"), at);
}

static int number(const char *text, size_t len)
{
	int64_t v;

	if (rk_num_i64(text, len, &v) != RK_NUM_OK || v < 0 || v >= 65536)
		return 0;
	return (int)v;
}

static void take_code(struct job_state *s, const char *code)
{
	size_t n = strcspn(code, ":");

	s->code = number(code, n);
	s->signal = 0;
	if (code[n])
		s->signal = number(code + n + 1, strcspn(code + n + 1, " |\n"));
}

/* scontrol forgets a job some minutes after its end; sacct keeps it, but may not be installed. */
static int look(const char *id, struct job_state *s, int *ret_signal, struct rk_error *err)
{
	char *control[] = { "scontrol", "show", "job", "-o", (char *)id, NULL };
	char *account[] = { "sacct",          "-n", "-X",       "-P", "-o",
			    "State,ExitCode", "-j", (char *)id, NULL };
	char code[32];
	struct answer a;
	int rc = ask(control, true, &a, err);

	*s = (struct job_state){ .known = false };
	*ret_signal = a.did.forwarded;
	if (rc < 0)
		return rc;
	if (a.did.status == 0) {
		field(a.text, " JobState=", s->state, sizeof(s->state));
		field(a.text, " NodeList=", s->where, sizeof(s->where));
		field(a.text, " ExitCode=", code, sizeof(code));
		take_code(s, code);
	} else {
		rc = ask(account, true, &a, err);
		if (rc < 0)
			return rc;
		snprintf(s->state, sizeof(s->state), "%.*s", (int)strcspn(a.text, " |\n"), a.text);
		take_code(s, a.text + strcspn(a.text, "|") + (strchr(a.text, '|') != NULL));
	}
	s->known = s->state[0] != '\0';
	return 0;
}

static bool has_ended(const char *state)
{
	static const char *const words[] = { "PENDING",   "RUNNING",  "CONFIGURING", "COMPLETING",
					     "SUSPENDED", "REQUEUED", "RESIZING",    "SIGNALING",
					     "STAGE_OUT", "STOPPED",  "SPECIAL_EXIT" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strncmp(state, words[i], strlen(words[i])))
			return false;
	return true;
}

static bool wants_stop(const struct rk_slurm_hooks *h)
{
	return h && h->stop && h->stop(h->arg);
}

int rk_slurm_wait(const char *id, const struct rk_slurm_hooks *h, int *ret_status,
		  struct rk_error *err)
{
	enum { FIRST_MS = 200, LAST_MS = 5000, PIECE_MS = 50, MOST_UNKNOWN = 5 };
	const struct timespec piece = { .tv_nsec = PIECE_MS * 1000000 };
	char last[400] = "";
	unsigned ms = FIRST_MS, unknown = 0;

	if (!id || !ret_status)
		return rk_misuse(__func__, err);
	for (;;) {
		struct job_state s;
		char line[sizeof(last)];
		int signal = 0, rc = look(id, &s, &signal, err);

		if (rc < 0)
			return rc;
		if (signal || wants_stop(h))
			return rk_fail(err, RK_E_CANCELLED, "job %s is still running", id);
		unknown = s.known ? 0 : unknown + 1;
		if (unknown >= MOST_UNKNOWN)
			return rk_fail(err, RK_E_IO, "Slurm no longer knows job %s", id);

		if (s.where[0] && strcmp(s.where, "(null)") != 0)
			snprintf(line, sizeof(line), "job %s: %s on %s", id, s.state, s.where);
		else
			snprintf(line, sizeof(line), "job %s: %s", id, s.state);
		if (s.known && strcmp(line, last) != 0) {
			snprintf(last, sizeof(last), "%s", line);
			if (h && h->say)
				h->say(h->arg, line);
		}
		if (s.known && has_ended(s.state)) {
			*ret_status = s.signal ? 128 + s.signal : s.code;
			if (!*ret_status && strncmp(s.state, "COMPLETED", 9) != 0)
				*ret_status = 1;
			return 0;
		}
		/* sleep in short pieces, so that ^C is seen at once */
		for (unsigned t = 0; t < ms && !wants_stop(h); t += PIECE_MS)
			nanosleep(&piece, NULL);
		ms = (unsigned)rk_min(ms * 3 / 2, LAST_MS);
	}
}
