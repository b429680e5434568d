/*
 * fates.cu FATE - ends a CUDA program in the ways that programs end; prints how many kernels it has
 * launched and seen done.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__global__ void step(float *x)
{
	x[threadIdx.x] = x[threadIdx.x] * 0.5f + 1.0f;
}

static void launch(int n)
{
	float *x;

	cudaMalloc(&x, 256 * sizeof(*x));
	for (int i = 0; i < n; i++)
		step<<<1, 256>>>(x);
	cudaDeviceSynchronize();
	printf("%d\n", n);
	fflush(stdout);
}

static void CUDART_CB leave(void *)
{
	exit(3);
}

static void out_of_memory(void)
{
	void *p;
	cudaError_t e = cudaMalloc(&p, (size_t)1 << 46);

	printf("%s\n", cudaGetErrorName(e));
	cudaGetLastError();
	launch(100);
}

static void reset(void)
{
	launch(100);
	printf("%s\n", cudaGetErrorName(cudaDeviceReset()));
	launch(100);
}

static void exit_in_callback(void)
{
	launch(100);
	cudaLaunchHostFunc(0, leave, NULL);
	cudaDeviceSynchronize();
	pause();
}

static void fault(void)
{
	launch(100);
	step<<<1, 256>>>((float *)16);
	printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
	exit(4);
}

static void forks(void)
{
	pid_t child = fork(); /* before CUDA begins */
	int status;

	launch(100);
	if (!child)
		_exit(5);
	waitpid(child, &status, 0);
	exit(WEXITSTATUS(status));
}

int main(int argc, char **argv)
{
	const char *fate = argc > 1 ? argv[1] : "";

	/* records of the kill come by period: give it two */
	if (!strcmp(fate, "kill") || !strcmp(fate, "abort") || !strcmp(fate, "_exit")) {
		launch(1000);
		usleep(1500000);
	}
	if (!strcmp(fate, "kill"))
		raise(SIGKILL);
	if (!strcmp(fate, "abort"))
		abort();
	if (!strcmp(fate, "_exit"))
		_exit(7);
	if (!strcmp(fate, "return"))
		launch(1000);
	if (!strcmp(fate, "memory"))
		out_of_memory();
	if (!strcmp(fate, "reset"))
		reset();
	if (!strcmp(fate, "callback"))
		exit_in_callback();
	if (!strcmp(fate, "fault"))
		fault();
	if (!strcmp(fate, "fork"))
		forks();
	return 0;
}
