/*
 * fuzz_comm_name.c - any bytes as the name of a kernel: nothing beyond them is read, what communicates
 * has an operation and a label that begins with it, and arguments change nothing.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ranks/comm_name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void must(int holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	/* a block of just that size: one byte more is an error that sanitizers see */
	char *name = malloc(len ? len : 1), text[64], small[5];
	struct rk_comm c;

	if (!name)
		return 0;
	memcpy(name, data, len);
	c = rk_comm_of(name, len);
	rk_comm_label(name, len, text, sizeof(text));
	rk_comm_label(name, len, small, sizeof(small));
	must((c.kind == RK_COMM_NOT) == (c.op[0] == '\0'));
	must(strncmp(text, c.op, strlen(c.op)) == 0 && (c.kind != RK_COMM_NOT || !text[0]));
	must(strlen(small) < sizeof(small) && strncmp(small, text, strlen(small)) == 0);
	must(!c.queued || c.host);
	must(!rk_comm_is_wait(name, len) || c.kind == RK_COMM_NOT);
	c = rk_comm_of_collective(name, len);
	must((c.kind == RK_COMM_NOT) == (c.op[0] == '\0') && !c.host);
	free(name);
	return 0;
}
