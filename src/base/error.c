/* error.c - fills a struct rk_error. */
#include "base/error.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool take(struct rk_error *err, int code)
{
	if (!err || err->code)
		return false;
	err->code = code;
	return true;
}

int rk_fail(struct rk_error *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (take(err, code)) {
		va_start(ap, fmt);
		vsnprintf(err->message, sizeof(err->message), fmt, ap);
		va_end(ap);
	}
	return code;
}

int rk_fail_errno(struct rk_error *err, int errnum, const char *fmt, ...)
{
	char why[128];
	va_list ap;
	size_t len;

	if (!take(err, RK_E_IO))
		return RK_E_IO;
	va_start(ap, fmt);
	vsnprintf(err->message, sizeof(err->message), fmt, ap);
	va_end(ap);
	len = strlen(err->message);
	snprintf(err->message + len, sizeof(err->message) - len, ": %s",
		 strerror_r(errnum, why, sizeof(why)));
	return RK_E_IO;
}

int rk_fail_nomem(struct rk_error *err)
{
	return rk_fail(err, RK_E_NOMEM, "out of memory");
}

void rk_error_at(struct rk_error *err, const char *file, uint64_t line, uint64_t offset)
{
	size_t len;

	if (!err || !err->code || err->file[0])
		return;
	len = strlen(file);
	if (len >= sizeof(err->file))
		file += len - sizeof(err->file) + 1;
	snprintf(err->file, sizeof(err->file), "%s", file);
	err->line = line;
	err->offset = offset;
}

void rk_error_clear(struct rk_error *err)
{
	if (err)
		memset(err, 0, sizeof(*err));
}

const char *rk_error_text(const struct rk_error *err, char *buf, size_t size)
{
	if (!buf || !size)
		return "";
	if (!err || !err->code)
		buf[0] = '\0';
	else if (err->file[0] && err->line)
		snprintf(buf, size, "%s:%" PRIu64 ": %s", err->file, err->line, err->message);
	else if (err->file[0] && err->offset)
		snprintf(buf, size, "%s: byte %" PRIu64 ": %s", err->file, err->offset,
			 err->message);
	else if (err->file[0] && !strstr(err->message, err->file))
		snprintf(buf, size, "%s: %s", err->file, err->message);
	else
		snprintf(buf, size, "%s", err->message);
	return buf;
}

const char *rk_code_word(int code)
{
	static const char *const words[] = { "ok",    "nomem",       "io",      "format",   "limit",
					     "usage", "unsupported", "unknown", "cancelled" };
	size_t n = sizeof(words) / sizeof(words[0]);

	return code <= 0 && (size_t)-code < n ? words[-code] : "unknown";
}
