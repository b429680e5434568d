/* cup_say.c - see cup.h: the one line that the user sees. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cup.h"

static atomic_bool said;

void rk_cup_say(const char *fmt, ...)
{
	char line[512] = "rockit: ";
	size_t head = strlen(line), len;
	va_list args;

	if (atomic_exchange(&said, true))
		return;
	va_start(args, fmt);
	vsnprintf(line + head, sizeof(line) - head - 1, fmt, args);
	va_end(args);
	len = strlen(line);
	rk_rec_note(line + head, len - head);
	line[len] = '\n';
	/* one call, so that lines of processes do not mix; whether it worked changes nothing */
	if (write(STDERR_FILENO, line, len + 1) < 0)
		return;
}

const char *rk_cup_error(cupti_result rc, char buf[32])
{
	const char *text = NULL;

	if (rk_cup.f.cuptiGetResultString && !rk_cup.f.cuptiGetResultString(rc, &text) && text)
		return text;
	snprintf(buf, 32, "error %d", rc);
	return buf;
}
