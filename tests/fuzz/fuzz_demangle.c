/*
 * fuzz_demangle.c - any bytes as a C++ name: nothing beyond them is read, the text has a limit, and a
 * name that is refused leaves the buffer as it was.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	/* a block of just that size: one byte more is an error that sanitizers see */
	char *name = malloc(len + 3);
	struct rk_bytes out;
	bool ok;

	if (!name)
		return 0;
	memcpy(name, "_Z", 2);
	memcpy(name + 2, data, len);
	name[len + 2] = '\0';
	rk_bytes_init(&out, 1 << 20);
	rk_bytes_puts(&out, "x");
	ok = rk_demangle(name, &out);
	if (out.bad || out.len > (64 << 10) + 4096 || (!ok && out.len != 1) || out.data[0] != 'x')
		abort();
	rk_bytes_release(&out);
	free(name);
	return 0;
}
