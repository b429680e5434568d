/* error_text.c - an error as one line. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rockit/error.h"

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
