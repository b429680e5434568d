/*
 * hsa.c - a program on ROCr alone: it writes the packets itself, with barriers of both kinds, and asks
 * for the times of each dispatch. Prints one JSON line with the times that ROCr gave.
 *
 * usage: hsa [KERNELS [PROFILE]]   PROFILE 0: the queue is not profiled, so there are no times
 */
#include "hsa.h"

int main(int argc, char **argv)
{
	unsigned n = number(argc, argv, 1, 8);
	hsa_barrier_and_packet_t barrier = { 0 };
	hsa_signal_t *done = calloc(n, sizeof(*done)), all;
	hsa_queue_t *queue, *other;
	struct {
		uint32_t thread, number, stream, tag;
		uint64_t rest[8];
	} * args;
	uint64_t object, frequency;

	MUST(hsa_init());
	MUST(hsa_iterate_agents(see_agent, NULL));
	object = load("reduce.kd");
	MUST(hsa_queue_create(gpu, 1024, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX,
			      &queue));
	MUST(hsa_queue_create(gpu, 1024, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX,
			      &other));
	MUST(hsa_amd_profiling_set_profiler_enabled(queue, (int)number(argc, argv, 2, 1)));
	MUST(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency));
	MUST(hsa_amd_memory_pool_allocate(kernarg_pool, n * sizeof(*args), 0, (void **)&args));
	MUST(hsa_amd_agents_allow_access(1, &gpu, NULL, args));
	for (unsigned i = 0; i < n; i++) {
		hsa_kernel_dispatch_packet_t p = { .setup = 1,
						   .workgroup_size_x = 64,
						   .workgroup_size_y = 1,
						   .workgroup_size_z = 1,
						   .grid_size_x = 64 * (i + 1),
						   .grid_size_y = 1,
						   .grid_size_z = 1,
						   .kernel_object = object };

		args[i].thread = 42;
		args[i].number = i;
		p.kernarg_address = &args[i];
		MUST(hsa_signal_create(1, 0, NULL, &done[i]));
		p.completion_signal = done[i];
		submit(queue, &p, HSA_PACKET_TYPE_KERNEL_DISPATCH | 1 << 8 | 2 << 9 | 2 << 11);
	}
	/* the other queue goes on when all of the first five are done, then when one of two is */
	MUST(hsa_signal_create(2, 0, NULL, &all));
	for (unsigned i = 0; i < 5 && i < n; i++)
		barrier.dep_signal[i] = done[i];
	barrier.completion_signal = all;
	submit(other, &barrier, HSA_PACKET_TYPE_BARRIER_AND | 1 << 8);
	memset(barrier.dep_signal, 0, sizeof(barrier.dep_signal));
	barrier.dep_signal[1] = done[n - 1];
	submit(other, &barrier, HSA_PACKET_TYPE_BARRIER_OR | 1 << 8);
	hsa_signal_wait_scacquire(all, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX,
				  HSA_WAIT_STATE_BLOCKED);
	printf("{\"kernels\":%u,\"frequency\":%llu,\"times\":[", n, (unsigned long long)frequency);
	for (unsigned i = 0; i < n; i++) {
		hsa_amd_profiling_dispatch_time_t t;

		if (hsa_signal_load_scacquire(done[i]) != 0)
			return 4;
		MUST(hsa_amd_profiling_get_dispatch_time(gpu, done[i], &t));
		printf("%s[%llu,%llu]", i ? "," : "", (unsigned long long)t.start,
		       (unsigned long long)t.end);
		MUST(hsa_signal_destroy(done[i]));
	}
	puts("]}");
	MUST(hsa_signal_destroy(all));
	MUST(hsa_queue_destroy(queue));
	MUST(hsa_queue_destroy(other));
	MUST(hsa_amd_memory_pool_free(args));
	MUST(hsa_shut_down());
	return 0;
}
