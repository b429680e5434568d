/* launches.cu - a small CUDA program that says what it launched: streams, shared memory, a graph. */
#include <cstdio>

__global__ void scale(float *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] *= 2;
}

__global__ void sum(const float *x, float *out, int n)
{
	extern __shared__ float part[];
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	part[threadIdx.x] = i < n ? x[i] : 0;
	__syncthreads();
	if (!threadIdx.x)
		atomicAdd(out, part[0]);
}

int main()
{
	const int n = 1 << 16, times = 300, replays = 50;
	float *x, *out, host = 0;
	cudaStream_t stream;
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	cudaMalloc(&x, n * sizeof(*x));
	cudaMalloc(&out, sizeof(*out));
	cudaMemset(x, 0, n * sizeof(*x));
	cudaStreamCreate(&stream);
	for (int i = 0; i < times; i++) {
		scale<<<n / 256, 256>>>(x, n);
		sum<<<n / 128, 128, 128 * sizeof(float), stream>>>(x, out, n);
	}
	cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
	for (int i = 0; i < 4; i++)
		scale<<<n / 256, 256, 0, stream>>>(x, n);
	cudaStreamEndCapture(stream, &graph);
	cudaGraphInstantiate(&exec, graph, 0);
	for (int i = 0; i < replays; i++)
		cudaGraphLaunch(exec, stream);
	cudaMemcpy(&host, out, sizeof(host), cudaMemcpyDeviceToHost);
	cudaDeviceSynchronize();
	printf("{\"kernels\": {\"scale\": %d, \"sum\": %d}, \"copies\": 2}\n", times + 4 * replays, times);
	return cudaGetLastError() != cudaSuccess;
}
