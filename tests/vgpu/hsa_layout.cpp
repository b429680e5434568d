// hsa_layout.cpp - collectors/rocm/hsa_abi.h against AMD's headers of one release; compiled, never run.
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <hsa/hsa_api_trace.h>
#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa_ven_amd_loader.h>

namespace ours
{
#define _Static_assert static_assert
#include "hsa_abi.h"
}

// Same number of parameters, each of the same size: handles are numbers on our side.
template <typename F, typename G> struct alike {
	static constexpr bool value = false;
};
template <typename R, typename... A, typename S, typename... B>
struct alike<R (*)(A...), S (*)(B...)> {
	static constexpr bool result()
	{
		if constexpr (sizeof...(A) != sizeof...(B))
			return false;
		else
			return ((sizeof(A) == sizeof(B)) && ... && true);
	}
	static constexpr bool value = result();
};

#define ENTRY(table, theirs, member, name)                                                      \
	static_assert(offsetof(table, theirs) == offsetof(ours::member, name), #theirs);        \
	static_assert(alike<decltype(table::theirs), decltype(ours::member::name)>::value, #theirs)
#define CORE(name) ENTRY(CoreApiTable, hsa_##name##_fn, hsa_core, name)
#define AMD(theirs, name) ENTRY(AmdExtTable, hsa_amd_##theirs##_fn, hsa_amd, name)
#define FIELD(theirs, field, mine, name) \
	static_assert(offsetof(theirs, field) == offsetof(ours::mine, name), #theirs "." #field)
#define VALUE(theirs, mine) static_assert((int)theirs == (int)ours::mine, #theirs)

CORE(init);
CORE(shut_down);
CORE(iterate_agents);
CORE(agent_get_info);
CORE(queue_create);
CORE(queue_destroy);
ENTRY(CoreApiTable, hsa_queue_add_write_index_scacq_screl_fn, hsa_core, add_write_index_scacq_screl);
ENTRY(CoreApiTable, hsa_queue_add_write_index_scacquire_fn, hsa_core, add_write_index_scacquire);
ENTRY(CoreApiTable, hsa_queue_add_write_index_relaxed_fn, hsa_core, add_write_index_relaxed);
ENTRY(CoreApiTable, hsa_queue_add_write_index_screlease_fn, hsa_core, add_write_index_screlease);
CORE(signal_destroy);
CORE(signal_load_scacquire);
CORE(signal_store_relaxed);
CORE(signal_store_screlease);
CORE(signal_subtract_screlease);
CORE(executable_destroy);
CORE(executable_freeze);
CORE(executable_symbol_get_info);
CORE(system_get_major_extension_table);
CORE(executable_iterate_agent_symbols);

AMD(profiling_set_profiler_enabled, set_profiler_enabled);
AMD(profiling_async_copy_enable, async_copy_enable);
AMD(profiling_get_dispatch_time, get_dispatch_time);
AMD(profiling_get_async_copy_time, get_async_copy_time);
AMD(signal_async_handler, signal_async_handler);
AMD(memory_pool_get_info, memory_pool_get_info);
AMD(agent_iterate_memory_pools, agent_iterate_memory_pools);
AMD(memory_pool_allocate, memory_pool_allocate);
AMD(memory_pool_free, memory_pool_free);
AMD(memory_async_copy, memory_async_copy);
AMD(memory_async_copy_on_engine, memory_async_copy_on_engine);
AMD(signal_create, signal_create);
AMD(queue_intercept_create, queue_intercept_create);
AMD(queue_intercept_register, queue_intercept_register);
AMD(memory_async_copy_rect, memory_async_copy_rect);
AMD(vmem_handle_create, vmem_handle_create);
AMD(vmem_handle_release, vmem_handle_release);

FIELD(HsaApiTable, core_, hsa_tables, core);
FIELD(HsaApiTable, amd_ext_, hsa_tables, amd);
FIELD(hsa_queue_t, base_address, hsa_queue, base);
FIELD(hsa_queue_t, doorbell_signal, hsa_queue, doorbell);
FIELD(hsa_queue_t, size, hsa_queue, size);
FIELD(hsa_queue_t, id, hsa_queue, id);
FIELD(amd_signal_t, value, hsa_signal, value);
FIELD(amd_signal_t, start_ts, hsa_signal, start);
FIELD(amd_signal_t, end_ts, hsa_signal, end);
FIELD(hsa_kernel_dispatch_packet_t, setup, hsa_packet, setup);
FIELD(hsa_kernel_dispatch_packet_t, workgroup_size_x, hsa_packet, group);
FIELD(hsa_kernel_dispatch_packet_t, grid_size_x, hsa_packet, items);
FIELD(hsa_kernel_dispatch_packet_t, private_segment_size, hsa_packet, private_bytes);
FIELD(hsa_kernel_dispatch_packet_t, group_segment_size, hsa_packet, group_bytes);
FIELD(hsa_kernel_dispatch_packet_t, kernel_object, hsa_packet, kernel);
FIELD(hsa_kernel_dispatch_packet_t, kernarg_address, hsa_packet, arguments);
FIELD(hsa_kernel_dispatch_packet_t, completion_signal, hsa_packet, signal);
FIELD(hsa_amd_profiling_dispatch_time_t, end, hsa_time, end);
FIELD(hsa_pitched_ptr_t, slice, hsa_pitched, slice);
FIELD(hsa_dim3_t, z, hsa_dim, z);
FIELD(hsa_ven_amd_loader_1_00_pfn_t, hsa_ven_amd_loader_query_host_address, hsa_loader,
      query_host_address);
static_assert(sizeof(hsa_ven_amd_loader_1_00_pfn_t) == sizeof(ours::hsa_loader), "loader");

VALUE(HSA_PACKET_TYPE_VENDOR_SPECIFIC, HSA_PACKET_VENDOR);
VALUE(HSA_PACKET_TYPE_KERNEL_DISPATCH, HSA_PACKET_DISPATCH);
VALUE(HSA_DEVICE_TYPE_GPU, HSA_DEVICE_GPU);
VALUE(HSA_AGENT_INFO_NAME, HSA_AGENT_NAME);
VALUE(HSA_AGENT_INFO_WAVEFRONT_SIZE, HSA_AGENT_WAVE);
VALUE(HSA_AGENT_INFO_DEVICE, HSA_AGENT_DEVICE);
VALUE(HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, HSA_AGENT_COMPUTE_UNITS);
VALUE(HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY, HSA_AGENT_CLOCK_MHZ);
VALUE(HSA_AMD_AGENT_INFO_BDFID, HSA_AGENT_BDF);
VALUE(HSA_AMD_AGENT_INFO_PRODUCT_NAME, HSA_AGENT_PRODUCT);
VALUE(HSA_AMD_AGENT_INFO_DOMAIN, HSA_AGENT_DOMAIN);
VALUE(HSA_AMD_AGENT_INFO_UUID, HSA_AGENT_UUID);
VALUE(HSA_AMD_MEMORY_POOL_INFO_SEGMENT, HSA_POOL_SEGMENT);
VALUE(HSA_AMD_MEMORY_POOL_INFO_SIZE, HSA_POOL_SIZE);
VALUE(HSA_AMD_SEGMENT_GLOBAL, HSA_SEGMENT_GLOBAL);
VALUE(HSA_EXECUTABLE_SYMBOL_INFO_TYPE, HSA_SYMBOL_TYPE);
VALUE(HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, HSA_SYMBOL_NAME_LENGTH);
VALUE(HSA_EXECUTABLE_SYMBOL_INFO_NAME, HSA_SYMBOL_NAME);
VALUE(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, HSA_SYMBOL_GROUP_BYTES);
VALUE(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, HSA_SYMBOL_PRIVATE_BYTES);
VALUE(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, HSA_SYMBOL_OBJECT);
VALUE(HSA_EXTENSION_AMD_LOADER, HSA_EXTENSION_LOADER);
VALUE(HSA_AMD_SIGNAL_AMD_GPU_ONLY, HSA_SIGNAL_GPU_ONLY);
VALUE(HSA_SIGNAL_CONDITION_LT, HSA_CONDITION_LT);
VALUE(hsaHostToDevice, HSA_HOST_TO_DEVICE);
VALUE(hsaDeviceToHost, HSA_DEVICE_TO_HOST);
VALUE(hsaDeviceToDevice, HSA_DEVICE);
VALUE(HSA_API_TABLE_MAJOR_VERSION, HSA_TABLES_MAJOR);
VALUE(HSA_CORE_API_TABLE_MAJOR_VERSION, HSA_MAJOR);
VALUE(HSA_AMD_EXT_API_TABLE_MAJOR_VERSION, HSA_MAJOR);
