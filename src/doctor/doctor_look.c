/* doctor_look.c - reading what a machine says about itself, and writing down what it means. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "doctor/doctor_impl.h"

enum { TEXT_MAX_BYTES = 64 << 10 };

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

/* Room for one more check. */
static bool grow(struct rk_look *l)
{
	size_t cap = l->cap ? 2 * l->cap : 32;
	struct rk_doctor_check *more;

	if (l->d->nchecks < l->cap)
		return true;
	more = rk_reallocn(l->d->checks, cap, sizeof(*more));
	if (!more) {
		l->bad = true;
		return false;
	}
	l->d->checks = more;
	l->cap = cap;
	return true;
}

void rk_look_say(struct rk_look *l, const char *id, enum rk_doctor_status status,
		 const char *subject, const char *fmt, ...)
{
	struct rk_doctor_check *c;
	va_list ap;

	if (l->bad || !grow(l))
		return;
	c = &l->d->checks[l->d->nchecks++];
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

/* Until the end, an error or the limit: what a file of /proc refuses to give is not there. */
static void read_all(int fd, struct rk_bytes *out)
{
	char block[4096];
	ssize_t n;

	while (out->len < RK_LOOK_FILE_MAX_BYTES) {
		n = read(fd, block, sizeof(block));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		rk_bytes_put(out, block, (size_t)n);
	}
}

const char *rk_look_read(struct rk_look *l, const char *path, struct rk_bytes *out)
{
	char full[RK_SYSFS_PATH];
	const char *text;
	int fd;

	rk_bytes_init(out, 2 * (size_t)RK_LOOK_FILE_MAX_BYTES);
	rk_sysfs_path(full, l->root, "%s", path);
	/* Not to hang where someone put a pipe. */
	fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return NULL;
	read_all(fd, out);
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
