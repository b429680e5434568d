/*
 * queues.c - hundreds of queues on ROCr alone, with packets one by one and in batches, with a signal of
 * the program on some, and queues that are destroyed while others are made.
 *
 * usage: queues [QUEUES [ROUNDS]]
 */
#include "hsa.h"

enum { PACKETS = 20 }; /* of a queue */

static uint64_t object;
static unsigned launched;

static void dispatch(hsa_queue_t *q, uint64_t index, void *args, hsa_signal_t done)
{
	hsa_kernel_dispatch_packet_t p = { .setup = 1,
					   .workgroup_size_x = 64,
					   .workgroup_size_y = 1,
					   .workgroup_size_z = 1,
					   .grid_size_x = (uint32_t)(64 * (1 + index % 5)),
					   .grid_size_y = 1,
					   .grid_size_z = 1,
					   .group_segment_size = 1024 + 16 * (uint32_t)(index % 3),
					   .kernel_object = object,
					   .kernarg_address = args,
					   .completion_signal = done };
	uint8_t *slot = (uint8_t *)q->base_address + index % q->size * 64;

	memcpy(slot + 4, (uint8_t *)&p + 4, 60);
	__atomic_store_n((uint32_t *)(void *)slot,
			 HSA_PACKET_TYPE_KERNEL_DISPATCH | 1 << 8 | 2 << 9 | 2 << 11 | 1 << 16,
			 __ATOMIC_RELEASE);
	launched++;
}

int main(int argc, char **argv)
{
	unsigned n = number(argc, argv, 1, 100), rounds = number(argc, argv, 2, 2);
	hsa_queue_t **queues = calloc(n, sizeof(*queues));
	hsa_signal_t *last = calloc(n, sizeof(*last)), none = { 0 };
	uint64_t *args;

	MUST(hsa_init());
	MUST(hsa_iterate_agents(see_agent, NULL));
	object = load("reduce.kd");
	MUST(hsa_amd_memory_pool_allocate(kernarg_pool, 4096, 0, (void **)&args));
	MUST(hsa_amd_agents_allow_access(1, &gpu, NULL, args));
	for (unsigned r = 0; r < rounds; r++) {
		for (unsigned i = 0; i < n; i++)
			MUST(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX,
					      UINT32_MAX, &queues[i]));
		for (unsigned i = 0; i < n; i++) {
			/* all places at once, one doorbell */
			uint64_t first = hsa_queue_add_write_index_screlease(queues[i], PACKETS);

			MUST(hsa_signal_create(1, 0, NULL, &last[i]));
			for (uint64_t k = first; k < first + PACKETS; k++)
				dispatch(queues[i], k, args,
					 k == first + PACKETS - 1 ? last[i] : none);
			hsa_signal_store_screlease(queues[i]->doorbell_signal,
						   (hsa_signal_value_t)(first + PACKETS - 1));
		}
		for (unsigned i = 0; i < n; i++) {
			hsa_signal_wait_scacquire(last[i], HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX,
						  HSA_WAIT_STATE_BLOCKED);
			MUST(hsa_signal_destroy(last[i]));
			MUST(hsa_queue_destroy(queues[i]));
		}
	}
	printf("{\"kernels\":%u}\n", launched);
	MUST(hsa_shut_down());
	/* and once more from the beginning, where ROCr can */
	if (hsa_init() != HSA_STATUS_SUCCESS)
		return 0;
	gpu.handle = 0;
	MUST(hsa_iterate_agents(see_agent, NULL));
	MUST(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX,
			      &queues[0]));
	MUST(hsa_queue_destroy(queues[0]));
	MUST(hsa_shut_down());
	return 0;
}
