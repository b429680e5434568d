/*
 * device_test.c - the virtual GPU without AMD's runtime: a small driver of our own uses it through
 * open, ioctl and mmap, from several threads. Built with the device's own sources, so sanitizers see
 * both sides.
 *
 * usage: vgpu-test       VGPU_DEVICE names the folder that vgpu-device made
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kfd.h"

#ifdef __SANITIZE_THREAD__ /* its own open and ioctl cannot be replaced: what ours call is called */
#include "vgpu.h"
#define open(path, flags) vgpu_open_device(path)
#define ioctl(fd, request, arg) vgpu_ioctl(request, arg)
#endif

enum { GPU_ID = 40001, THREADS = 4, PACKETS = 200, RING = 64, COPIES = 50 };

static int kfd, render;
static _Atomic unsigned failed;

static void check(int holds, const char *what)
{
	if (!holds) {
		fprintf(stderr, "not ok: %s\n", what);
		failed++;
	}
}

static int call(unsigned nr, void *arg, size_t size)
{
	return ioctl(kfd, _IOC(_IOC_READ | _IOC_WRITE, 'K', nr, size), arg);
}

/* Memory that the device and we share, at one address. */
static void *allocate(size_t size, uint64_t *handle)
{
	void *at = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct kfd_alloc_memory a = {
		.va = (uint64_t)(uintptr_t)at, .size = size, .gpu_id = GPU_ID, .flags = KFD_MEM_VRAM
	};

	check(call(KFD_ALLOC_MEMORY, &a, sizeof(a)) == 0, "allocate memory");
	*handle = a.handle;
	return mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, render,
		    (off_t)a.mmap_offset);
}

static void release(void *at, size_t size, uint64_t handle)
{
	munmap(at, size);
	check(call(KFD_FREE_MEMORY, &handle, sizeof(handle)) == 0, "free memory");
}

/* A page that a queue and its signals are in. */
struct shared {
	uint8_t queue[256]; /* write index at 56, read index at 128, properties at 180 */
	_Atomic uint64_t mailbox;
	struct signal done[PACKETS];
};

static void wait_event(uint32_t id, _Atomic int64_t *value, const char *what)
{
	struct kfd_event_data data = { .id = id };
	struct kfd_wait_events w = { (uint64_t)(uintptr_t)&data, 1, 1, 10000, 0 };

	while (atomic_load(value) > 0 && w.result == KFD_WAIT_DONE)
		check(call(KFD_WAIT_EVENTS, &w, sizeof(w)) == 0, "wait for an event");
	check(w.result == KFD_WAIT_DONE, what);
}

/* Kernels and barriers on a compute queue, profiled if `arg` is given; each waits for the one before. */
static void *compute(void *arg)
{
	uint64_t ring_handle, shared_handle;
	uint8_t *ring = allocate(RING * 64, &ring_handle);
	struct shared *s = allocate(sizeof(*s), &shared_handle);
	_Atomic uint64_t *write = (void *)(s->queue + 56), *read = (void *)(s->queue + 128);
	struct kfd_create_event e = { .auto_reset = 1 };
	struct kfd_create_queue q = { .ring = (uint64_t)(uintptr_t)ring,
				      .ring_size = RING * 64,
				      .gpu_id = GPU_ID,
				      .type = KFD_QUEUE_AQL,
				      .write = (uint64_t)(uintptr_t)write,
				      .read = (uint64_t)(uintptr_t)read };
	const bool profiled = arg != NULL;
	uint64_t last = 0;

	for (unsigned i = 0; i < RING; i++)
		ring[i * 64] = 1; /* invalid */
	s->queue[180] = profiled ? 1 << 3 : 0;
	check(call(KFD_CREATE_EVENT, &e, sizeof(e)) == 0, "create an event");
	check(call(KFD_CREATE_QUEUE, &q, sizeof(q)) == 0, "create a queue");
	for (unsigned i = 0; i < PACKETS; i++) {
		uint8_t *packet = ring + i % RING * 64;
		uint64_t dependency = i ? (uint64_t)(uintptr_t)&s->done[i - 1] : 0,
			 done = (uint64_t)(uintptr_t)&s->done[i];
		const uint16_t block[3] = { 64, 1, 1 };
		const uint32_t grid[3] = { 640, 1, 1 };

		while (i - atomic_load(read) >= RING)
			usleep(50);
		atomic_store(&s->done[i].value, 1);
		s->done[i].mailbox = (uint64_t)(uintptr_t)&s->mailbox;
		s->done[i].event = e.id;
		memset(packet + 2, 0, 62);
		memcpy(packet + 56, &done, 8);
		if (i % 5 == 4) {
			memcpy(packet + 8, &dependency, 8);
		} else {
			memcpy(packet + 4, block, sizeof(block));
			memcpy(packet + 12, grid, sizeof(grid));
		}
		__atomic_store_n((uint16_t *)(void *)packet, i % 5 == 4 ? 3 : 2, __ATOMIC_RELEASE);
		atomic_store(write, i + 1);
	}
	wait_event(e.id, &s->done[PACKETS - 1].value, "the last packet is done");
	for (unsigned i = 0; i < PACKETS; i++) {
		check(atomic_load(&s->done[i].value) == 0, "every packet is done");
		if (profiled)
			check(s->done[i].start > last && s->done[i].end >= s->done[i].start,
			      "times of a queue only grow");
		else
			check(!s->done[i].start && !s->done[i].end,
			      "a queue without the profiling bit gives no times");
		last = s->done[i].end;
	}
	check(call(KFD_DESTROY_QUEUE, &q.id, 8) == 0, "destroy a queue");
	check(call(KFD_DESTROY_EVENT, &e.id, 8) == 0, "destroy an event");
	release(ring, RING * 64, ring_handle);
	release(s, sizeof(*s), shared_handle);
	return NULL;
}

/* Copies, fills and fences on a copy queue. */
static void *copy(void *arg)
{
	enum { BYTES = 8192, RING_BYTES = 4096 };
	uint64_t ring_handle, shared_handle, from_handle, to_handle;
	uint8_t *ring = allocate(RING_BYTES, &ring_handle), *from = allocate(BYTES, &from_handle),
		*to = allocate(BYTES, &to_handle);
	struct shared *s = allocate(sizeof(*s), &shared_handle);
	_Atomic uint64_t *write = (void *)(s->queue + 56), *read = (void *)(s->queue + 128);
	struct kfd_create_queue q = { .ring = (uint64_t)(uintptr_t)ring,
				      .ring_size = RING_BYTES,
				      .gpu_id = GPU_ID,
				      .type = 1,
				      .write = (uint64_t)(uintptr_t)write,
				      .read = (uint64_t)(uintptr_t)read };
	uint64_t src = (uint64_t)(uintptr_t)from, dst = (uint64_t)(uintptr_t)to,
		 fence = (uint64_t)(uintptr_t)&s->mailbox;
	uint64_t at = 0;

	(void)arg;
	check(call(KFD_CREATE_QUEUE, &q, sizeof(q)) == 0, "create a copy queue");
	for (uint32_t i = 1; i <= COPIES; i++) {
		const uint32_t words[] = { 1,
					   BYTES - 1,
					   0,
					   (uint32_t)src,
					   (uint32_t)(src >> 32),
					   (uint32_t)dst,
					   (uint32_t)(dst >> 32),
					   5,
					   (uint32_t)fence,
					   (uint32_t)(fence >> 32),
					   i };

		memset(from, (int)i, BYTES);
		for (size_t k = 0; k < sizeof(words) / 4; k++, at += 4)
			memcpy(ring + at % RING_BYTES, &words[k], 4);
		atomic_store(write, at);
		for (unsigned turns = 0; (uint32_t)atomic_load(&s->mailbox) != i && turns < 100000;
		     turns++)
			usleep(50);
		check((uint32_t)atomic_load(&s->mailbox) == i && to[0] == (uint8_t)i &&
			      to[BYTES - 1] == (uint8_t)i,
		      "a copy");
	}
	check(call(KFD_DESTROY_QUEUE, &q.id, 8) == 0, "destroy a copy queue");
	release(ring, RING_BYTES, ring_handle);
	release(from, BYTES, from_handle);
	release(to, BYTES, to_handle);
	release(s, sizeof(*s), shared_handle);
	return NULL;
}

static void refusals(void)
{
	struct kfd_version v = { 0 };
	struct kfd_alloc_memory a = { .size = 1ull << 60, .gpu_id = GPU_ID, .flags = KFD_MEM_VRAM };
	struct kfd_wait_events w = { .timeout_ms = 20 };
	struct kfd_available_memory before = { .gpu_id = GPU_ID }, after = before;
	uint64_t word = 12345;

	check(call(KFD_GET_VERSION, &v, sizeof(v)) == 0 && v.major == 1 && v.minor == 17,
	      "version");
	check(call(KFD_AVAILABLE_MEMORY, &before, sizeof(before)) == 0, "how much memory is left");
	check(call(KFD_ALLOC_MEMORY, &a, sizeof(a)) < 0 && errno == ENOMEM,
	      "more memory than there is");
	check(call(KFD_AVAILABLE_MEMORY, &after, sizeof(after)) == 0 &&
		      before.bytes == after.bytes && before.bytes,
	      "a refused allocation takes nothing");
	a.gpu_id = 1;
	check(call(KFD_ALLOC_MEMORY, &a, sizeof(a)) < 0 && errno == EINVAL,
	      "memory of an unknown GPU");
	check(call(KFD_FREE_MEMORY, &word, sizeof(word)) < 0 && errno == EINVAL,
	      "memory that was never allocated");
	check(call(KFD_DESTROY_QUEUE, &word, sizeof(word)) < 0 && errno == EINVAL,
	      "an unknown queue");
	check(call(0x7f, &word, sizeof(word)) < 0 && errno == EINVAL, "an unknown call");
	check(call(KFD_WAIT_EVENTS, &w, sizeof(w)) == 0 && w.result == KFD_WAIT_TIMEOUT,
	      "a wait for nothing ends");
	check(open("/dev/dri/renderD200", O_RDWR) < 0 && errno == ENOENT, "an unknown device");
}

int main(void)
{
	pthread_t threads[2 * THREADS];

	kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
	render = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	if (kfd < 0 || render < 0) {
		fprintf(stderr, "no virtual GPU here: VGPU_DEVICE\n");
		return 2;
	}
	refusals();
	for (unsigned i = 0; i < 2 * THREADS; i++)
		pthread_create(&threads[i], NULL, i % 2 ? copy : compute, i % 4 ? &kfd : NULL);
	for (unsigned i = 0; i < 2 * THREADS; i++)
		pthread_join(threads[i], NULL);
	close(kfd);
	close(render);
	printf("%s\n", failed ? "failed" : "passed");
	return failed ? 1 : 0;
}
