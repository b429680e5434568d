/*
 * cl_endless.c - `cl-endless [wait|never]`: launches until it is killed. With "wait" it says after
 * each clFinish, as a line on standard output, how many launches are over; with "never" it makes
 * 1000, waits for none, says "launched", and sleeps.
 */
#include "cl_world.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char source[] = "__kernel void nothing(void) { }\n"
			     "__kernel void other(void) { }\n";

static void say(uint64_t n)
{
	char line[32];
	int len = snprintf(line, sizeof(line), "%llu\n", (unsigned long long)n);

	if (write(1, line, (size_t)len) != len)
		_exit(1);
}

int main(int argc, char **argv)
{
	struct cl_world w;
	uint64_t n = 0;

	cl_world_init(&w, source);
	cl_command_queue q = cl_world_queue(&w, 0);
	cl_kernel k[2] = { cl_world_kernel(&w, "nothing"), cl_world_kernel(&w, "other") };
	if (argc > 1 && !strcmp(argv[1], "never")) {
		for (; n < 1000; n++)
			cl_launch(q, k[n % 2], 2, 1, NULL);
		cl_must(clFlush(q), "clFlush");
		puts("launched");
		fflush(stdout);
		for (;;)
			pause();
	}
	for (;;) {
		for (int i = 0; i < 7; i++, n++)
			cl_launch(q, k[n % 2], 2, 1, NULL);
		cl_must(clFinish(q), "clFinish");
		say(n);
	}
}
