/* hsa.h - what the programs on ROCr alone share: a check of every call, agents, code, packets. */
#ifndef HSA_PROGRAM_H
#define HSA_PROGRAM_H

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "common.h"

#define MUST(call)                                                                            \
	do {                                                                                  \
		hsa_status_t rc_ = (call);                                                    \
                                                                                              \
		if (rc_ != HSA_STATUS_SUCCESS) {                                              \
			fprintf(stderr, "%s:%d: %s: 0x%x\n", __FILE__, __LINE__, #call, rc_); \
			exit(3);                                                              \
		}                                                                             \
	} while (0)

static hsa_agent_t gpu;
static hsa_amd_memory_pool_t kernarg_pool;

static hsa_status_t see_pool(hsa_amd_memory_pool_t pool, void *arg)
{
	hsa_amd_segment_t segment;
	uint32_t flags = 0;

	(void)arg;
	MUST(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
	if (segment != HSA_AMD_SEGMENT_GLOBAL)
		return HSA_STATUS_SUCCESS;
	MUST(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
	if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT)
		kernarg_pool = pool;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t see_agent(hsa_agent_t agent, void *arg)
{
	hsa_device_type_t type;

	(void)arg;
	MUST(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
	if (type == HSA_DEVICE_TYPE_GPU && !gpu.handle)
		gpu = agent;
	if (type == HSA_DEVICE_TYPE_CPU)
		MUST(hsa_amd_agent_iterate_memory_pools(agent, see_pool, NULL));
	return HSA_STATUS_SUCCESS;
}

static uint64_t load(const char *name)
{
	hsa_code_object_reader_t reader;
	hsa_executable_symbol_t symbol;
	hsa_executable_t executable;
	uint64_t object;
	size_t size;
	char *image = read_code(&size); /* kept: the executable refers to it */

	MUST(hsa_code_object_reader_create_from_memory(image, size, &reader));
	MUST(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT,
				       NULL, &executable));
	MUST(hsa_executable_load_agent_code_object(executable, gpu, reader, NULL, NULL));
	MUST(hsa_executable_freeze(executable, NULL));
	MUST(hsa_executable_get_symbol_by_name(executable, name, &gpu, &symbol));
	MUST(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
					    &object));
	return object;
}

/* Writes a packet of 64 bytes; its header last. */
static inline void submit(hsa_queue_t *queue, const void *packet, uint16_t header)
{
	uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
	uint8_t *slot = (uint8_t *)queue->base_address + index % queue->size * 64;

	memcpy(slot + 4, (const uint8_t *)packet + 4, 60);
	__atomic_store_n((uint32_t *)(void *)slot,
			 header | (uint32_t)((const uint16_t *)packet)[1] << 16, __ATOMIC_RELEASE);
	hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

#endif
