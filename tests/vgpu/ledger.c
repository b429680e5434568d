/*
 * ledger.c - what the device did, one line each, written by the device. Each line is one write: what
 * happened before a kill is there.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vgpu.h"

static int fd = -1;

__attribute__((constructor)) static void start(void)
{
	const char *path = getenv("VGPU_LEDGER");

	if (path && *path)
		fd = (int)syscall(SYS_openat, AT_FDCWD, path,
				  O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

void vgpu_ledger(const char *format, ...)
{
	char line[VGPU_NAME + 512];
	va_list args;
	int n;

	if (fd < 0)
		return;
	va_start(args, format);
	n = vsnprintf(line, sizeof(line) - 1, format, args);
	va_end(args);
	if (n < 0)
		return;
	if (n > (int)sizeof(line) - 2)
		n = (int)sizeof(line) - 2;
	line[n++] = '\n';
	if (syscall(SYS_write, fd, line, n) != n)
		fd = -1; /* a full disk must not change the program */
}

uint64_t vgpu_number(const char *text)
{
	unsigned base = strncmp(text, "0x", 2) == 0 ? 16 : 10;
	uint64_t v = 0;

	for (text += base == 16 ? 2 : 0;; text++) {
		unsigned digit = 99;

		if (*text >= '0' && *text <= '9')
			digit = (unsigned)(*text - '0');
		else if ((*text | 32) >= 'a' && (*text | 32) <= 'f')
			digit = (unsigned)((*text | 32) - 'a' + 10);
		if (digit >= base)
			return v;
		if (__builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, digit, &v))
			return UINT64_MAX;
	}
}

bool vgpu_fault(const char *kind, const char **value)
{
	static const char *list;
	size_t len = strlen(kind);

	if (!list)
		list = getenv("VGPU_FAULT") ? getenv("VGPU_FAULT") : "";
	for (const char *s = list; *s; s += strcspn(s, ",") + (s[strcspn(s, ",")] == ',')) {
		if (strncmp(s, kind, len) != 0 || (s[len] && s[len] != ',' && s[len] != '='))
			continue;
		*value = s + len + (s[len] == '=');
		return true;
	}
	return false;
}
