/*
 * demangle.c - C++ symbol names to readable text.
 *
 * __cxa_demangle builds its text in memory without a limit. libstdc++'s archive also has a form
 * with a callback, which delivers the text in pieces and allocates nothing. So we can leave it by
 * longjmp at our limit without a leak.
 */
#include "base/demangle.h"

#include <setjmp.h>
#include <string.h>

enum { MAX_NAME = 32 << 10, MAX_TEXT = 64 << 10 };

int __gcclibcxx_demangle_callback(const char *name,
				  void (*callback)(const char *text, size_t len, void *arg),
				  void *arg);

struct sink {
	struct rk_bytes *out;
	size_t before;
	jmp_buf enough;
};

static void piece(const char *text, size_t len, void *arg)
{
	struct sink *s = arg;

	rk_bytes_put(s->out, text, len);
	if (s->out->bad || s->out->len - s->before > MAX_TEXT)
		longjmp(s->enough, 1);
}

bool rk_demangle(const char *name, struct rk_bytes *out)
{
	struct sink s = { .out = out, .before = out->len };

	if (strncmp(name, "_Z", 2) || strnlen(name, MAX_NAME + 1) > MAX_NAME || out->bad)
		return false;
	if (!setjmp(s.enough) && !__gcclibcxx_demangle_callback(name, piece, &s))
		return true;
	out->len = s.before;
	out->bad = false;
	return false;
}
