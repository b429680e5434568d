/* session_say.c - what a session says while it runs. */
#include <stdarg.h>
#include <stdio.h>

#include "session/session_impl.h"

enum { LINE_BYTES = 1024 };

void rk_session_say(struct rk_session *s, const char *fmt, ...)
{
	char line[LINE_BYTES];
	va_list ap;

	if (!s->hooks.say)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	s->hooks.say(s->hooks.arg, line);
}

void rk_session_warn(struct rk_session *s, const char *fmt, ...)
{
	char line[LINE_BYTES];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	rk_list_add_once(&s->record.warnings, line);
	if (s->hooks.warn)
		s->hooks.warn(s->hooks.arg, line);
}
