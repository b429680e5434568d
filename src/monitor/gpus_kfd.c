/* gpus_kfd.c - GPUs in the topology of KFD, the driver that ROCm computes through. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/num.h"
#include "monitor/gpus_found.h"
#include "monitor/sysfs.h"

#define NODES "/sys/class/kfd/kfd/topology/nodes"

/* 0 where the file does not say, and for what no counter of parts can be. */
static unsigned small(const char *properties, const char *key)
{
	uint64_t v = 0;

	if (!rk_sysfs_value_u64(properties, key, ' ', &v) || v > 1u << 24)
		return 0;
	return (unsigned)v;
}

/* 90402 is gfx942 and 90010 is gfx90a: major, minor and step, the last two as hex digits. */
static void put_gfx(struct rk_gpu_text *text, unsigned version)
{
	if (version >= 10000)
		snprintf(text->gfx, sizeof(text->gfx), "gfx%u%x%x", version / 10000,
			 version / 100 % 100, version % 100);
}

/* Memory of the device: the banks of KFD's heap types 1 and 2, visible and hidden from the host. */
static int sum_banks(const char *node, uint64_t *ret, struct rk_error *err)
{
	char dir[RK_SYSFS_PATH], text[RK_SYSFS_TEXT];
	struct rk_list banks = { 0 };
	uint64_t sum = 0, heap, bytes;
	int rc;

	rk_sysfs_path(dir, node, "/mem_banks");
	rc = rk_sysfs_list(dir, &banks, err);
	for (size_t i = 0; rc == 0 && i < banks.n; i++) {
		char path[RK_SYSFS_PATH];

		rk_sysfs_path(path, dir, "/%s/properties", banks.v[i]);
		if (rk_sysfs_read(path, text, sizeof(text)) &&
		    rk_sysfs_value_u64(text, "heap_type", ' ', &heap) && (heap == 1 || heap == 2) &&
		    rk_sysfs_value_u64(text, "size_in_bytes", ' ', &bytes) &&
		    bytes < UINT64_MAX - sum)
			sum += bytes;
	}
	rk_list_release(&banks);
	if (rc == 0 && sum)
		*ret = sum;
	return rc;
}

static void fill(struct rk_gpu_found *g, const char *properties)
{
	unsigned simd_per_cu = small(properties, "simd_per_cu");
	unsigned render = small(properties, "drm_render_minor");

	g->gpu.simd_count = small(properties, "simd_count");
	g->gpu.cu_count = simd_per_cu ? g->gpu.simd_count / simd_per_cu : 0;
	g->gpu.xcc = small(properties, "num_xcc");
	g->gpu.wave_size = small(properties, "wave_front_size");
	g->gpu.max_sclk_mhz = small(properties, "max_engine_clk_fcompute");
	if (render)
		g->gpu.render = (int)render;
	if (!g->vendor)
		g->vendor = small(properties, "vendor_id");
	if (!g->gpu.pci_device)
		g->gpu.pci_device = small(properties, "device_id");
	put_gfx(&g->text, small(properties, "gfx_target_version"));
}

static int add_node(struct rk_gpus_found *f, const char *name, struct rk_error *err)
{
	char node[RK_SYSFS_PATH], text[RK_SYSFS_TEXT];
	uint64_t gpu_id, number, domain = 0, place = 0;
	struct rk_gpu_found *g;
	int rc;

	rk_sysfs_path(node, f->root, NODES "/%s", name);
	/* A node of CPUs alone has the id 0; one we may not look at gives no properties. */
	if (!rk_sysfs_u64(node, "gpu_id", &gpu_id) || gpu_id == 0 ||
	    !rk_sysfs_read_at(node, "properties", text, sizeof(text)) ||
	    !small(text, "simd_count") || rk_num_u64(name, strlen(name), &number) != RK_NUM_OK ||
	    number > 1 << 20)
		return 0;
	rk_sysfs_value_u64(text, "domain", ' ', &domain);
	rk_sysfs_value_u64(text, "location_id", ' ', &place);
	/* Bits 28 to 31 of location_id number the partitions of one package. */
	rc = rk_gpus_at(f, (domain & 0xffffffff) << 16 | (place & 0xffff), &g, err);
	/* Its second partition and the following are GPUs of their own for a program. */
	if (rc == 0 && g->gpu.kfd_node >= 0)
		rc = rk_gpus_add(f, g, &g, err);
	if (rc < 0)
		return rc;
	g->gpu.kfd_node = (int)number;
	g->gpu.gpu_id = gpu_id;
	fill(g, text);
	return sum_banks(node, &g->gpu.memory_bytes, err);
}

int rk_gpus_find_kfd(struct rk_gpus_found *f, struct rk_error *err)
{
	char dir[RK_SYSFS_PATH];
	struct rk_list nodes = { 0 };
	int rc;

	rk_sysfs_path(dir, f->root, NODES);
	rc = rk_sysfs_list(dir, &nodes, err);
	for (size_t i = 0; rc == 0 && i < nodes.n; i++)
		rc = add_node(f, nodes.v[i], err);
	rk_list_release(&nodes);
	return rc;
}
