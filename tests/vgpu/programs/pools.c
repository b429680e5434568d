/*
 * pools.c - memory that streams allocate and free, and memory of another process. Prints one JSON line;
 * "shared" is what the other process found there, or what HIP said instead.
 *
 * usage: pools
 */
#include <sys/wait.h>
#include <unistd.h>

#include "hip.h"

enum { BYTES = 1 << 20 };

static unsigned wrong;
static unsigned char bytes[BYTES];

static void stream_memory(hipFunction_t scale)
{
	hipStream_t stream;

	MUST(hipStreamCreate(&stream));
	for (uint32_t i = 0; i < 5; i++) {
		void *p;

		MUST(hipMallocAsync(&p, BYTES, stream));
		MUST(hipMemsetAsync(p, (int)i + 1, BYTES, stream));
		launch(scale, (struct who){ 0, i, 0, 6 }, p, 3, stream);
		MUST(hipMemcpyAsync(bytes, p, BYTES, hipMemcpyDeviceToHost, stream));
		MUST(hipFreeAsync(p, stream));
		MUST(hipStreamSynchronize(stream));
		wrong += bytes[0] != i + 1 || bytes[BYTES - 1] != i + 1;
	}
	MUST(hipStreamDestroy(stream));
}

/* The other process: the handle comes through a pipe, what it finds goes back by its exit status. */
static int look(int from)
{
	hipIpcMemHandle_t handle;
	hipError_t rc;
	void *p;

	if (read(from, &handle, sizeof(handle)) != sizeof(handle))
		return 2;
	MUST(hipInit(0));
	rc = hipIpcOpenMemHandle(&p, handle, hipIpcMemLazyEnablePeerAccess);
	if (rc != hipSuccess) {
		fprintf(stderr, "hipIpcOpenMemHandle: %s\n", hipGetErrorName(rc));
		return 4;
	}
	MUST(hipMemcpy(bytes, p, BYTES, hipMemcpyDeviceToHost));
	MUST(hipIpcCloseMemHandle(p));
	return bytes[0] == 0x77 && bytes[BYTES - 1] == 0x77 ? 0 : 5;
}

static const char *share(int to, pid_t child)
{
	hipIpcMemHandle_t handle;
	hipError_t rc;
	int status;
	void *p;

	MUST(hipMalloc(&p, BYTES));
	MUST(hipMemset(p, 0x77, BYTES));
	MUST(hipDeviceSynchronize());
	rc = hipIpcGetMemHandle(&handle, p);
	if (rc == hipSuccess && write(to, &handle, sizeof(handle)) != sizeof(handle))
		exit(2);
	close(to);
	if (waitpid(child, &status, 0) != child)
		exit(2);
	MUST(hipFree(p));
	if (rc != hipSuccess)
		return hipGetErrorName(rc);
	return status == 0 ? "right" : "wrong";
}

int main(void)
{
	const char *shared;
	int ends[2];
	pid_t child;

	if (pipe(ends) != 0 || (child = fork()) < 0) /* before HIP is used */
		return 2;
	if (child == 0) {
		close(ends[1]);
		_exit(look(ends[0]));
	}
	close(ends[0]);
	MUST(hipInit(0));
	stream_memory(function(load_module(), "scale"));
	shared = share(ends[1], child);
	printf("{\"kernels\":%u,\"wrong\":%u,\"shared\":\"%s\"}\n", launched, wrong, shared);
	return 0;
}
