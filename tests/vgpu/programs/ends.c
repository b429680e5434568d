/*
 * ends.c - launches without waiting, and ends in every way that a program can. What a launch call has
 * returned for is counted in a file that outlives the program.
 *
 * usage: ends MODE LAUNCHES FILE
 *   exit, _exit, abort     with work under way
 *   flood                  four threads launch until they are killed
 *   threads                200 threads launch, and return, exit or are cancelled
 *   fork, exec             a child while work is under way, which ends or becomes another program
 *   wait                   waits for all of it
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hip.h"

enum { FLOODERS = 4, SHORT_LIVED = 200 };

static hipFunction_t scale;
static void *memory;
static unsigned launches;
static _Atomic uint64_t *returned; /* one for each thread, in the file */

static void launch_some(unsigned thread, unsigned n, hipStream_t stream)
{
	for (unsigned i = 0; i < n; i++) {
		launch(scale, (struct who){ thread, i, 0, 4 }, memory, 1 + i % 3, stream);
		returned[thread]++;
	}
}

static void *flood(void *arg)
{
	hipStream_t stream;

	MUST(hipStreamCreate(&stream));
	for (;;)
		launch_some((unsigned)(uintptr_t)arg, 1000, stream);
	return NULL;
}

static void *live_shortly(void *arg)
{
	unsigned n = (unsigned)(uintptr_t)arg;

	launch_some(n, launches, NULL);
	if (n % 3 == 1)
		pthread_exit(NULL);
	while (n % 3 == 2)
		usleep(1000); /* until it is cancelled */
	return NULL;
}

static void threads(void)
{
	pthread_t t[SHORT_LIVED];

	for (uintptr_t i = 0; i < SHORT_LIVED; i++)
		pthread_create(&t[i], NULL, live_shortly, (void *)i);
	for (unsigned i = 0; i < SHORT_LIVED; i++) {
		if (i % 3 == 2) {
			while (returned[i] < launches)
				usleep(100);
			pthread_cancel(t[i]);
		}
		pthread_join(t[i], NULL);
	}
}

static void child(int execs)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (execs)
			execl("/bin/true", "true", (char *)NULL);
		exit(execs ? 9 : 7);
	}
	waitpid(pid, &status, 0);
	printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int fd = argc > 3 ? open(argv[3], O_RDWR | O_CREAT | O_TRUNC, 0644) : -1;
	hipModule_t module;

	launches = number(argc, argv, 2, 40);
	if (fd < 0 || ftruncate(fd, SHORT_LIVED * 8))
		return 2;
	returned = mmap(NULL, SHORT_LIVED * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	MUST(hipInit(0));
	module = load_module();
	scale = function(module, "scale");
	MUST(hipMalloc(&memory, 1 << 20));
	if (!strcmp(mode, "flood")) {
		pthread_t t;

		for (uintptr_t i = 0; i < FLOODERS; i++)
			pthread_create(&t, NULL, flood, (void *)i);
		puts("flooding");
		fflush(stdout);
		pause();
	}
	if (!strcmp(mode, "threads"))
		threads();
	else
		launch_some(0, launches, NULL);
	if (!strcmp(mode, "fork") || !strcmp(mode, "exec")) {
		child(!strcmp(mode, "exec"));
		launch_some(0, launches, NULL);
	}
	printf("{\"kernels\":%u}\n", launched);
	fflush(stdout);
	if (!strcmp(mode, "_exit"))
		_exit(3);
	if (!strcmp(mode, "abort"))
		abort();
	if (strcmp(mode, "exit") != 0)
		MUST(hipDeviceSynchronize());
	exit(5);
}
