/*
 * counters.c - counters through AMD's aqlprofile: start, kernels, stop, read. Prints one JSON line with
 * the sum and the number of instances of each event. The values are the virtual GPU's.
 *
 * usage: counters KERNELS BLOCK:EVENT...      numbers as in hsa_ven_amd_aqlprofile.h
 */
#include "hsa.h"

#include <dlfcn.h>
#include <hsa/hsa_ven_amd_aqlprofile.h>

enum { MAX_EVENTS = 16 };

static struct {
	unsigned long long sum;
	unsigned instances;
} results[MAX_EVENTS];

static hsa_ven_amd_aqlprofile_event_t events[MAX_EVENTS];
static uint32_t nevents;

static hsa_status_t see_value(hsa_ven_amd_aqlprofile_info_type_t type,
			      hsa_ven_amd_aqlprofile_info_data_t *data, void *arg)
{
	(void)arg;
	if (type != HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA)
		return HSA_STATUS_SUCCESS;
	for (uint32_t i = 0; i < nevents; i++) {
		if (memcmp(&events[i], &data->pmc_data.event, sizeof(events[i])) != 0)
			continue;
		results[i].sum += data->pmc_data.result;
		results[i].instances++;
	}
	return HSA_STATUS_SUCCESS;
}

static void run_and_wait(hsa_queue_t *queue, void *packet, uint16_t header, unsigned signal_at)
{
	hsa_signal_t done;

	MUST(hsa_signal_create(1, 0, NULL, &done));
	memcpy((uint8_t *)packet + signal_at, &done, sizeof(done));
	submit(queue, packet, header);
	hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_EQ, 0, UINT64_MAX,
				  HSA_WAIT_STATE_BLOCKED);
	MUST(hsa_signal_destroy(done));
}

#define FUNCTION(name) __typeof__(&name) name##_ = (__typeof__(&name))dlsym(library, #name)

int main(int argc, char **argv)
{
	void *library = dlopen("libhsa-amd-aqlprofile64.so.1", RTLD_NOW), *kernarg;
	hsa_ven_amd_aqlprofile_profile_t profile = { 0 };
	hsa_ext_amd_aql_pm4_packet_t start = { 0 }, read = { 0 }, stop = { 0 };
	unsigned n = number(argc, argv, 1, 1);
	hsa_queue_t *queue;
	uint64_t object;

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return 77;
	}
	FUNCTION(hsa_ven_amd_aqlprofile_start);
	FUNCTION(hsa_ven_amd_aqlprofile_read);
	FUNCTION(hsa_ven_amd_aqlprofile_stop);
	FUNCTION(hsa_ven_amd_aqlprofile_iterate_data);
	for (int i = 2; i < argc && nevents < MAX_EVENTS; i++, nevents++) {
		unsigned block, event;

		if (sscanf(argv[i], "%u:%u", &block, &event) != 2)
			return 2;
		events[nevents].block_name = block;
		events[nevents].counter_id = event;
	}
	MUST(hsa_init());
	MUST(hsa_iterate_agents(see_agent, NULL));
	object = load("reduce.kd");
	MUST(hsa_queue_create(gpu, 1024, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX,
			      &queue));
	profile.agent = gpu;
	profile.events = events;
	profile.event_count = nevents;
	MUST(hsa_ven_amd_aqlprofile_start_(&profile, NULL)); /* how much memory it needs */
	MUST(hsa_amd_memory_pool_allocate(kernarg_pool, profile.command_buffer.size, 0,
					  &profile.command_buffer.ptr));
	MUST(hsa_amd_memory_pool_allocate(kernarg_pool, profile.output_buffer.size, 0,
					  &profile.output_buffer.ptr));
	MUST(hsa_amd_agents_allow_access(1, &gpu, NULL, profile.command_buffer.ptr));
	MUST(hsa_amd_agents_allow_access(1, &gpu, NULL, profile.output_buffer.ptr));
	MUST(hsa_amd_memory_pool_allocate(kernarg_pool, 256, 0, &kernarg));
	MUST(hsa_amd_agents_allow_access(1, &gpu, NULL, kernarg));
	memset(profile.output_buffer.ptr, 0, profile.output_buffer.size);
	MUST(hsa_ven_amd_aqlprofile_start_(&profile, &start));
	MUST(hsa_ven_amd_aqlprofile_read_(&profile, &read));
	MUST(hsa_ven_amd_aqlprofile_stop_(&profile, &stop));
	run_and_wait(queue, &start, HSA_PACKET_TYPE_VENDOR_SPECIFIC | 1 << 8, 56);
	for (unsigned i = 0; i < n; i++) {
		hsa_kernel_dispatch_packet_t p = { .setup = 1,
						   .workgroup_size_x = 256,
						   .workgroup_size_y = 1,
						   .workgroup_size_z = 1,
						   .grid_size_x = 256 * 100,
						   .grid_size_y = 1,
						   .grid_size_z = 1,
						   .kernel_object = object,
						   .kernarg_address = kernarg };

		run_and_wait(queue, &p, HSA_PACKET_TYPE_KERNEL_DISPATCH | 1 << 8, 56);
	}
	run_and_wait(queue, &read, HSA_PACKET_TYPE_VENDOR_SPECIFIC | 1 << 8, 56);
	run_and_wait(queue, &stop, HSA_PACKET_TYPE_VENDOR_SPECIFIC | 1 << 8, 56);
	MUST(hsa_ven_amd_aqlprofile_iterate_data_(&profile, see_value, NULL));
	printf("{\"kernels\":%u,\"values\":[", n);
	for (uint32_t i = 0; i < nevents; i++)
		printf("%s[%llu,%u]", i ? "," : "", results[i].sum, results[i].instances);
	puts("]}");
	MUST(hsa_queue_destroy(queue));
	MUST(hsa_shut_down());
	return 0;
}
