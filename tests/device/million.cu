/* million.cu [N] - launches a kernel N times (a million) and says how long it took and when it was over. */
#include <cstdio>
#include <cstdlib>
#include <ctime>

__global__ void scale(float *x)
{
	x[threadIdx.x] *= 2;
}

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

int main(int argc, char **argv)
{
	const int n = argc > 1 ? atoi(argv[1]) : 1000000;
	double begin;
	float *x;

	cudaMalloc(&x, 64 * sizeof(*x));
	scale<<<1, 64>>>(x);
	cudaDeviceSynchronize();
	begin = now(CLOCK_MONOTONIC);
	for (int i = 1; i < n; i++)
		scale<<<1, 64>>>(x);
	cudaDeviceSynchronize();
	printf("%.6f %.6f\n", now(CLOCK_MONOTONIC) - begin, now(CLOCK_REALTIME));
	return cudaGetLastError() != cudaSuccess;
}
