/* doctor.c - see rockit/doctor.h: looks at everything and gives a verdict. */
#include "rockit/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "base/text.h"
#include "doctor/doctor_impl.h"

/* ---- reading the machine, writing down checks ---- */

enum { TEXT_MAX_BYTES = 64 << 10, VERDICT_BYTES = 1024, KIND_BYTES = 160 };

/* Owned text, or NULL with l->bad. A text past the limit counts as out of memory. */
static char *format(struct rk_look *l, const char *fmt, va_list ap)
{
	va_list again;
	char *text = NULL;
	int len;

	va_copy(again, ap);
	len = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (len >= 0 && len < TEXT_MAX_BYTES)
		text = rk_alloc((size_t)len + 1);
	if (text)
		vsnprintf(text, (size_t)len + 1, fmt, ap);
	l->bad |= !text;
	return text;
}

void rk_look_say(struct rk_look *l, const char *id, enum rk_doctor_status status,
		 const char *subject, const char *fmt, ...)
{
	struct rk_doctor_check *c;
	va_list ap;

	if (l->bad)
		return;
	c = rk_grow(l->d->checks, &l->cap, l->d->nchecks + 1, sizeof(*c));
	if (!c) {
		l->bad = true;
		return;
	}
	l->d->checks = c;
	c += l->d->nchecks++;
	*c = (struct rk_doctor_check){ .id = id, .status = status };
	va_start(ap, fmt);
	c->text = format(l, fmt, ap);
	va_end(ap);
	c->subject = rk_strdup(subject);
	c->advice = rk_strdup("");
	l->bad |= !c->subject || !c->advice;
}

void rk_look_advise(struct rk_look *l, const char *fmt, ...)
{
	struct rk_doctor_check *c;
	va_list ap;

	if (l->bad)
		return;
	c = &l->d->checks[l->d->nchecks - 1];
	rk_free(c->advice);
	va_start(ap, fmt);
	c->advice = format(l, fmt, ap);
	va_end(ap);
}

bool rk_look_exists(const struct rk_look *l, const char *path)
{
	char full[RK_SYSFS_PATH];

	rk_sysfs_path(full, l->root, "%s", path);
	return access(full, F_OK) == 0;
}

const char *rk_look_read(struct rk_look *l, const char *path, struct rk_bytes *out)
{
	char full[RK_SYSFS_PATH], block[4096];
	const char *text;
	ssize_t n;
	int fd;

	rk_bytes_init(out, 2 * (size_t)RK_LOOK_FILE_MAX_BYTES);
	rk_sysfs_path(full, l->root, "%s", path);
	/* Without blocking: it may be a pipe. */
	fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return NULL;
	/* A file of /proc may refuse to be read; then this is all of its text. */
	while (out->len < RK_LOOK_FILE_MAX_BYTES) {
		n = read(fd, block, sizeof(block));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		rk_bytes_put(out, block, (size_t)n);
	}
	close(fd);
	text = rk_bytes_str(out);
	l->bad |= !text;
	return text;
}

bool rk_look_line(const struct rk_look *l, const char *path, char *out, size_t size)
{
	char full[RK_SYSFS_PATH];

	rk_sysfs_path(full, l->root, "%s", path);
	rk_sysfs_read(full, out, size);
	out[strcspn(out, "\n")] = '\0';
	return out[0] != '\0';
}

const char *rk_look_env(const struct rk_look *l, const char *name)
{
	return rk_env_value(l->env, name);
}

bool rk_look_program(const struct rk_look *l, const char *name)
{
	char full[RK_SYSFS_PATH];
	struct stat st;

	for (const char *p = l->path; *p; p += strspn(p, ":")) {
		size_t len = strcspn(p, ":");
		int n = snprintf(full, sizeof(full), "%.*s/%s", (int)len, p, name);

		p += len;
		if (n > 0 && (size_t)n < sizeof(full) && stat(full, &st) == 0 &&
		    S_ISREG(st.st_mode) && access(full, X_OK) == 0)
			return true;
	}
	return false;
}

const struct rk_gpu *rk_look_amd(const struct rk_look *l, size_t i)
{
	for (size_t k = 0; k < l->d->gpus.n; k++)
		if (strcmp(l->d->gpus.gpus[k].vendor, "AMD") == 0 && i-- == 0)
			return &l->d->gpus.gpus[k];
	return NULL;
}

size_t rk_look_count(const struct rk_look *l, const char *vendor)
{
	size_t n = 0;

	for (size_t k = 0; k < l->d->gpus.n; k++)
		n += strcmp(l->d->gpus.gpus[k].vendor, vendor) == 0;
	return n;
}

/* ---- the verdict ---- */

/* GPUs are distinguished by target, or by name if no driver reports a target. */
static const char *kind_of(const struct rk_gpu *gpu)
{
	return gpu->gfx[0] ? gpu->gfx : gpu->name;
}

/* "8 x gfx942", "gfx1100 and 2 x gfx90a"; three kinds at most, then "and others". */
static void name_gpus(const struct rk_look *l, const char *vendor, char *out, size_t size)
{
	const struct rk_gpus *g = &l->d->gpus;
	const char *joint = "";
	unsigned kinds = 0;
	size_t len = 0;

	out[0] = '\0';
	for (size_t i = 0; i < g->n && len < size; i++) {
		size_t first = i, n = 0;

		if (strcmp(g->gpus[i].vendor, vendor) != 0)
			continue;
		for (size_t k = g->n; k-- > 0;) {
			if (strcmp(g->gpus[k].vendor, vendor) != 0 ||
			    strcmp(kind_of(&g->gpus[k]), kind_of(&g->gpus[i])) != 0)
				continue;
			first = k;
			n++;
		}
		if (first < i) /* this kind is already named */
			continue;
		if (++kinds > 3) {
			snprintf(out + len, size - len, " and others");
			return;
		}
		len += (size_t)snprintf(out + len, size - len, "%s%zu x %s", joint, n,
					kind_of(&g->gpus[i]));
		joint = " and ";
	}
}

/* The verdict without an AMD GPU; `bad` is the first check that failed, or NULL. */
static bool judge_others(const struct rk_look *l, const char *tool,
			 const struct rk_doctor_check *bad, char *out, size_t size)
{
	char gpus[KIND_BYTES];

	name_gpus(l, "NVIDIA", gpus, sizeof(gpus));
	if (l->cupti && bad)
		snprintf(out, size, "not ready: %s", bad->text);
	else if (l->cupti)
		snprintf(out, size, "ready: rockit run traces CUDA programs on %s",
			 gpus[0] ? gpus : "NVIDIA GPUs");
	else if (l->opencl)
		snprintf(out, size,
			 "ready for OpenCL programs: no AMD GPU found, so rockit run traces "
			 "OpenCL; it can also plan runs for other machines (rockit run --dry-run)");
	else if (tool[0])
		snprintf(out, size,
			 "not ready: %s is installed, but there is no AMD GPU; rockit can read "
			 "and convert files and plan runs (rockit run --dry-run)",
			 tool);
	else if (gpus[0])
		snprintf(out, size,
			 "no AMD GPU found: profile NVIDIA GPUs with nsys; rockit reads the "
			 "output of 'nsys export --type sqlite'");
	else
		snprintf(out, size,
			 "no AMD GPU and no profiler found: rockit can read and convert files "
			 "and plan runs for other machines (rockit run --dry-run)");
	return l->cupti ? !bad : l->opencl;
}

static bool judge(const struct rk_look *l, char *out, size_t size)
{
	const struct rk_doctor_check *bad = NULL;
	const struct rk_tool_found *best = rk_look_best(l);
	char gpus[KIND_BYTES], tool[KIND_BYTES] = "";

	for (size_t i = 0; i < l->d->nchecks && !bad; i++)
		if (l->d->checks[i].status == RK_DOCTOR_BAD)
			bad = &l->d->checks[i];
	name_gpus(l, "AMD", gpus, sizeof(gpus));
	if (best) {
		/* "rocprofv3 7.0.2": its ROCm release where that is known, else its own. */
		const char *version = best->rocm[0] ? best->rocm : best->version;

		snprintf(tool, sizeof(tool), "%s%s%s", best->name, version[0] ? " " : "", version);
	} else if (l->rocm) {
		snprintf(tool, sizeof(tool), "rockit's own collector, without counters,");
	}
	if (!gpus[0])
		return judge_others(l, tool, bad, out, size);
	if (bad)
		snprintf(out, size, "not ready: %s", bad->text);
	else
		snprintf(out, size, "ready: rockit run uses %s on %s", tool, gpus);
	return !bad;
}

/* ---- all of it ---- */

static void destroy_doctor(void *p)
{
	struct rk_doctor *d = p;

	for (size_t i = 0; i < d->nchecks; i++) {
		rk_free(d->checks[i].subject);
		rk_free(d->checks[i].text);
		rk_free(d->checks[i].advice);
	}
	rk_free(d->checks);
	rk_free(d->verdict);
	rk_tools_release(&d->tools);
	rk_gpus_release(&d->gpus);
	rk_free(d);
}

int rk_doctor_new(const struct rk_doctor_options *opt, struct rk_doctor **ret, struct rk_error *err)
{
	static const struct rk_doctor_options plain;
	struct rk_tools_options where = { 0 };
	char verdict[VERDICT_BYTES];
	struct rk_look *l;
	struct rk_doctor *d;
	int rc;

	if (!ret)
		return rk_misuse(__func__, err);
	if (RK_CHECK_OPTIONS(opt, __func__, err) < 0)
		return RK_E_USAGE;
	if (!opt)
		opt = &plain;
	l = rk_calloc(1, sizeof(*l));
	d = rk_calloc(1, sizeof(*d));
	if (!l || !d) {
		rk_free(l);
		rk_free(d);
		return rk_fail_nomem(err);
	}
	l->d = d;
	l->root = rk_text_or_empty(opt->root);
	l->env = opt->env ? opt->env : environ;
	l->path = rk_text_or_empty(opt->path ? opt->path : rk_look_env(l, "PATH"));
	l->tmpdir = opt->tmpdir;
	if (!l->tmpdir || !l->tmpdir[0])
		l->tmpdir = rk_look_env(l, "TMPDIR");
	if (!l->tmpdir || !l->tmpdir[0])
		l->tmpdir = "/tmp";

	rc = rk_gpus_find(l->root, &d->gpus, err);
	if (rc < 0)
		goto fail;
	where.root = l->root;
	where.path = l->path;
	rc = rk_tools_find(&where, &d->tools, err);
	if (rc < 0)
		goto fail;
	/* In the order of the checks; later ones use what earlier ones found. */
	rk_look_host(l);
	rk_look_gpus(l);
	rk_look_environment(l);
	rk_look_tools(l);
	d->ready = judge(l, verdict, sizeof(verdict));
	d->verdict = rk_strdup(verdict);
	if (l->bad || !d->verdict) {
		rc = rk_fail_nomem(err);
		goto fail;
	}
	rc = rk_handle_open(RK_HANDLE_DOCTOR, d, destroy_doctor, err);
	if (rc < 0)
		goto fail;
	rk_free(l);
	*ret = d;
	return 0;
fail:
	rk_free(l);
	destroy_doctor(d);
	return rc;
}

void rk_doctor_free(struct rk_doctor *d)
{
	rk_handle_close(RK_HANDLE_DOCTOR, d);
}

const char *rk_doctor_status_word(enum rk_doctor_status s)
{
	static const char *const words[] = { "ok", "info", "warn", "bad" };

	return (unsigned)s <= RK_DOCTOR_BAD ? words[s] : "";
}
