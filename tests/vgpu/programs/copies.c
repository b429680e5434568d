/*
 * copies.c - every way that HIP moves memory, each checked byte by byte: plain, rectangular, filled,
 * registered, managed, between GPUs, and values that streams write and wait for.
 *
 * usage: copies
 */
#include "hip.h"

enum { PITCH = 1024, WIDTH = 700, ROWS = 300, BYTES = PITCH * ROWS };

static unsigned wrong;
static unsigned char from[BYTES], to[BYTES];

static void check(size_t bad, const char *what)
{
	if (bad) {
		fprintf(stderr, "%s: %zu wrong bytes\n", what, bad);
		wrong++;
	}
}

static size_t differ(const unsigned char *a, size_t pitch_a, const unsigned char *b, size_t pitch_b,
		     size_t width, size_t rows)
{
	size_t bad = 0;

	for (size_t r = 0; r < rows; r++)
		for (size_t i = 0; i < width; i++)
			bad += a[r * pitch_a + i] != b[r * pitch_b + i];
	return bad;
}

static void rectangles(void)
{
	size_t pitch = 768;
	void *a, *b;

	MUST(hipMalloc(&a, pitch * ROWS));
	MUST(hipMalloc(&b, BYTES));
	MUST(hipMemcpy2D(a, pitch, from, PITCH, WIDTH, ROWS, hipMemcpyHostToDevice));
	MUST(hipMemcpy2D(to, PITCH, a, pitch, WIDTH, ROWS, hipMemcpyDeviceToHost));
	check(differ(to, PITCH, from, PITCH, WIDTH, ROWS), "rectangle there and back");
	MUST(hipMemset(b, 0, BYTES));
	MUST(hipMemcpy2D(b, PITCH, a, pitch, WIDTH, ROWS, hipMemcpyDeviceToDevice));
	MUST(hipMemcpy(to, b, BYTES, hipMemcpyDeviceToHost));
	check(differ(to, PITCH, from, PITCH, WIDTH, ROWS), "rectangle on the device");
	for (size_t r = 0, bad = 0; r < ROWS; r++) {
		for (size_t i = WIDTH; i < PITCH; i++)
			bad += to[r * PITCH + i] != 0;
		if (r == ROWS - 1)
			check(bad, "beside the rectangle");
	}
	MUST(hipMemset2D(b, PITCH, 0x33, 64, 10));
	MUST(hipMemcpy(to, b, BYTES, hipMemcpyDeviceToHost));
	for (size_t r = 0, bad = 0; r < 10; r++) {
		for (size_t i = 0; i < 64; i++)
			bad += to[r * PITCH + i] != 0x33;
		bad += to[r * PITCH + 64] == 0x33;
		if (r == 9)
			check(bad, "filled rectangle");
	}
	MUST(hipFree(a));
	MUST(hipFree(b));
}

static void fills(void)
{
	unsigned *words = (unsigned *)(void *)to;
	size_t bad = 0;
	void *a;

	MUST(hipMalloc(&a, BYTES));
	MUST(hipMemset(a, 1, BYTES));
	MUST(hipMemsetD32(a, (int)0xcafe1234, 5001));
	MUST(hipMemsetD16((char *)a + 40000, 0x1122, 33));
	MUST(hipMemcpy(to, a, BYTES, hipMemcpyDeviceToHost));
	for (size_t i = 0; i < 5001; i++)
		bad += words[i] != 0xcafe1234;
	for (size_t i = 5001 * 4; i < 40000; i++)
		bad += to[i] != 1;
	for (size_t i = 0; i < 33; i++)
		bad += to[40000 + 2 * i] != 0x22 || to[40001 + 2 * i] != 0x11;
	check(bad + (to[40066] != 1), "fills of words");
	MUST(hipFree(a));
}

static void kinds_of_memory(void)
{
	unsigned char *managed, *host = aligned_alloc(4096, BYTES);
	void *a, *on_device;

	MUST(hipMalloc(&a, BYTES));
	MUST(hipMallocManaged((void **)&managed, BYTES, hipMemAttachGlobal));
	memcpy(managed, from, BYTES);
	MUST(hipMemcpy(a, managed, BYTES, hipMemcpyDefault));
	memset(host, 0, BYTES);
	MUST(hipHostRegister(host, BYTES, hipHostRegisterMapped));
	MUST(hipHostGetDevicePointer(&on_device, host, 0));
	MUST(hipMemcpy(on_device, a, BYTES, hipMemcpyDeviceToDevice));
	MUST(hipDeviceSynchronize());
	check(differ(host, BYTES, from, BYTES, BYTES, 1), "registered memory");
	MUST(hipMemset(managed, 7, BYTES));
	MUST(hipDeviceSynchronize());
	for (size_t i = 0, bad = 0; i < BYTES; i++) {
		bad += managed[i] != 7;
		if (i == BYTES - 1)
			check(bad, "managed memory");
	}
	MUST(hipHostUnregister(host));
	free(host);
	MUST(hipFree(managed));
	MUST(hipFree(a));
}

static _Atomic unsigned answered;

static void count_call(void *arg)
{
	(void)arg;
	answered++;
}

static void streams(hipFunction_t scale)
{
	hipStream_t one, two;
	hipEvent_t event;
	uint32_t *flag;
	void *p;

	MUST(hipMalloc(&p, BYTES));
	MUST(hipStreamCreate(&one));
	MUST(hipStreamCreateWithFlags(&two, hipStreamNonBlocking));
	MUST(hipEventCreate(&event));
	MUST(hipExtMallocWithFlags((void **)&flag, 8, hipMallocSignalMemory));
	*(volatile uint64_t *)flag = 0;
	MUST(hipStreamWaitValue32(two, flag, 7, hipStreamWaitValueEq, 0xffffffff));
	launch(scale, (struct who){ 1, 1, 2, 5 }, p, 3, two);
	launch(scale, (struct who){ 1, 0, 1, 5 }, p, 3, one);
	MUST(hipEventRecord(event, one));
	MUST(hipStreamWriteValue32(one, flag, 7, 0));
	MUST(hipStreamWaitEvent(two, event, 0));
	MUST(hipLaunchHostFunc(two, count_call, NULL));
	MUST(hipMemcpyAsync(to, p, 4096, hipMemcpyDeviceToHost, two));
	MUST(hipStreamSynchronize(two));
	MUST(hipStreamSynchronize(one));
	check(answered != 1, "call of a host function");
	MUST(hipEventDestroy(event));
	MUST(hipStreamDestroy(one));
	MUST(hipStreamDestroy(two));
	MUST(hipFree(flag));
	MUST(hipFree(p));
}

static void peers(int gpus)
{
	for (int i = 1; i < gpus; i++) {
		void *near, *far;
		int can;

		MUST(hipDeviceCanAccessPeer(&can, 0, i));
		check(!can, "access to a peer");
		MUST(hipSetDevice(0));
		MUST(hipMalloc(&near, BYTES));
		MUST(hipMemcpy(near, from, BYTES, hipMemcpyHostToDevice));
		MUST(hipSetDevice(i));
		MUST(hipMalloc(&far, BYTES));
		MUST(hipMemcpyPeer(far, i, near, 0, BYTES));
		memset(to, 0, BYTES);
		MUST(hipMemcpy(to, far, BYTES, hipMemcpyDeviceToHost));
		check(differ(to, BYTES, from, BYTES, BYTES, 1), "copy to a peer");
		MUST(hipFree(far));
		MUST(hipSetDevice(0));
		MUST(hipFree(near));
	}
}

int main(void)
{
	size_t before, after, total;
	hipModule_t module;
	int gpus;
	void *p;

	for (size_t i = 0; i < BYTES; i++)
		from[i] = (unsigned char)(i * 13 + (i >> 7) + 1);
	MUST(hipInit(0));
	MUST(hipGetDeviceCount(&gpus));
	module = load_module();
	MUST(hipMemGetInfo(&before, &total));
	MUST(hipMalloc(&p, 64 << 20));
	MUST(hipMemGetInfo(&after, &total));
	check(before - after < 64 << 20 || after > total, "free memory");
	MUST(hipFree(p));
	rectangles();
	fills();
	kinds_of_memory();
	streams(function(module, "scale"));
	peers(gpus);
	printf("{\"gpus\":%d,\"kernels\":%u,\"calls\":%u,\"wrong\":%u}\n", gpus, launched, called,
	       wrong);
	return wrong ? 1 : 0;
}
