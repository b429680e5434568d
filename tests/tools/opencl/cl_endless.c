/*
 * cl_endless.c - `cl-endless [wait|never|counted FILE]`: launches until it is killed. With "wait" it
 * says after each clFinish, as a line on standard output, how many launches are over; with "never" it
 * makes 1000, waits for none, says "launched", and sleeps. With "counted" four threads launch, two on
 * one queue and two on another, and each keeps in FILE, which is mapped, its thread id and how many of
 * its launches have returned: pairs of 64-bit numbers that no kill can take back.
 */
#include "cl_world.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 4, MANY = 64 };

static const char source[] = "__kernel void nothing(void) { }\n"
			     "__kernel void other(void) { }\n";

static void say(uint64_t n)
{
	char line[32];
	int len = snprintf(line, sizeof(line), "%llu\n", (unsigned long long)n);

	if (write(1, line, (size_t)len) != len)
		_exit(1);
}

struct counted {
	cl_command_queue q;
	cl_kernel k;
	_Atomic uint64_t *tid, *returned;
};

static void *count_launches(void *arg)
{
	struct counted *c = arg;

	atomic_store(c->tid, (uint64_t)syscall(SYS_gettid));
	for (uint64_t n = 1;; n++) {
		cl_launch(c->q, c->k, 2, 1, NULL);
		atomic_store_explicit(c->returned, n, memory_order_release);
		if (n % MANY == 0)
			cl_must(clFinish(c->q), "clFinish");
	}
	return NULL;
}

static void counted(struct cl_world *w, const char *path)
{
	static struct counted all[THREADS];
	cl_command_queue q[2] = { cl_world_queue(w, 0), cl_world_queue(w, 0) };
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	_Atomic uint64_t *words = MAP_FAILED;
	pthread_t thread;

	if (fd >= 0 && ftruncate(fd, 2 * THREADS * sizeof(*words)) == 0)
		words = mmap(NULL, 2 * THREADS * sizeof(*words), PROT_READ | PROT_WRITE, MAP_SHARED,
			     fd, 0);
	if (words == MAP_FAILED)
		_exit(1);
	for (unsigned i = 0; i < THREADS; i++) {
		all[i] = (struct counted){ q[i % 2],
					   cl_world_kernel(w, i % 2 ? "other" : "nothing"),
					   &words[2 * i], &words[2 * i + 1] };
		if (pthread_create(&thread, NULL, count_launches, &all[i]) != 0)
			_exit(1);
	}
	puts("launching");
	fflush(stdout);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	struct cl_world w;
	uint64_t n = 0;

	cl_world_init(&w, source);
	if (argc > 2 && !strcmp(argv[1], "counted"))
		counted(&w, argv[2]);
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
