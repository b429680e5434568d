/* gpus.c (tests) - GPUs found in synthetic trees of /sys. */
#include "rockit/gpus.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "tap.h"
#include "world.h"

static void put(struct world *w, const char *dir, const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	world_text(w, path, text);
}

/* A PCI device as far as the bus knows it. */
static void pci(struct world *w, const char *at, const char *class, const char *vendor,
		const char *device)
{
	char dir[128];

	snprintf(dir, sizeof(dir), "sys/bus/pci/devices/%s", at);
	put(w, dir, "class", class);
	put(w, dir, "vendor", vendor);
	put(w, dir, "device", device);
	put(w, dir, "revision", "0x00\n");
}

static void card(struct world *w, int n, const char *at, const char *device)
{
	char dir[128], text[128];

	snprintf(dir, sizeof(dir), "sys/class/drm/card%d/device", n);
	snprintf(text, sizeof(text), "DRIVER=amdgpu\nPCI_CLASS=120000\nPCI_SLOT_NAME=%s\n", at);
	put(w, dir, "uevent", text);
	put(w, dir, "vendor", "0x1002\n");
	put(w, dir, "device", device);
	put(w, dir, "class", "0x120000\n");
	put(w, dir, "mem_info_vram_total", "206141652992\n");
	put(w, dir, "current_compute_partition", "SPX\n");
	put(w, dir, "current_memory_partition", "NPS1\n");
	snprintf(dir, sizeof(dir), "sys/class/drm/renderD%d/device", 128 + n);
	put(w, dir, "uevent", text);
	put(w, dir, "vendor", "0x1002\n");
	put(w, dir, "class", "0x120000\n");
}

static void node(struct world *w, int n, const char *gpu_id, const char *properties)
{
	char dir[128];

	snprintf(dir, sizeof(dir), "sys/class/kfd/kfd/topology/nodes/%d", n);
	put(w, dir, "gpu_id", gpu_id);
	put(w, dir, "name", "ip discovery\n");
	put(w, dir, "properties", properties);
}

#define MI300X                                                       \
	"cpu_cores_count 0\nsimd_count 1216\nmem_banks_count 1\n"    \
	"wave_front_size 64\ngfx_target_version 90402\nsimd_per_cu " \
	"4\nvendor_id 4098\ndevice_id 29857\ndomain 0\nnum_xcc 8\nmax_engine_clk_fcompute 2100\n"

static void find(struct world *w, struct rk_gpus *g)
{
	CHECK_I64(rk_gpus_find(w->dir, g, &w->err), 0);
}

TEST(a_machine_without_gpus_has_none)
{
	struct rk_gpus g = { .n = 9 };
	struct world w;

	world_open(&w, 1);
	find(&w, &g);
	CHECK_U64(g.n, 0);
	CHECK_STR(rk_gpus_arch(&g), "");
	/* One of CPUs only, and a display that is no GPU of ours. */
	node(&w, 0, "0\n", "cpu_cores_count 96\nsimd_count 0\n");
	pci(&w, "0000:03:00.0", "0x030000\n", "0x1a03\n", "0x2000\n");
	pci(&w, "0000:04:00.0", "0x120000\n", "0x8086\n", "0x7d1d\n");
	pci(&w, "0000:05:00.1", "0x040300\n", "0x10de\n", "0x22ba\n");
	find(&w, &g);
	CHECK_U64(g.n, 0);
	rk_gpus_release(&g);
	world_close(&w);
}

/* KFD lists the GPU at c1 first, DRM the one at 05: only the address tells which is which. */
static void two_gpus(struct world *w)
{
	node(w, 0, "0\n", "cpu_cores_count 96\n");
	node(w, 1, "4711\n", MI300X "location_id 49408\ndrm_render_minor 129\n");
	node(w, 10, "815\n",
	     "simd_count 416\nsimd_per_cu 4\ngfx_target_version 90010\nlocation_id 1280\n"
	     "domain 2\nwave_front_size 64\nvendor_id 4098\ndevice_id 29704\n");
	put(w, "sys/class/kfd/kfd/topology/nodes/1/mem_banks/0", "properties",
	    "heap_type 1\nsize_in_bytes 206158430208\nflags 0\n");
	put(w, "sys/class/kfd/kfd/topology/nodes/1/mem_banks/1", "properties",
	    "heap_type 4\nsize_in_bytes 65536\n");
	card(w, 0, "0002:05:00.0", "0x7408\n");
	card(w, 1, "0000:c1:00.0", "0x74a1\n");
	put(w, "sys/class/drm/card1/device", "product_name", "AMD Instinct MI300X OAM\n");
	put(w, "sys/class/drm/card1-DP-1", "status", "connected\n");
}

TEST(gpus_of_kfd_and_drm_are_joined_by_their_address)
{
	struct rk_gpus g = { 0 };
	struct world w;

	world_open(&w, 1);
	two_gpus(&w);
	find(&w, &g);
	if (CHECK_U64(g.n, 2)) {
		const struct rk_gpu *a = &g.gpus[0], *b = &g.gpus[1];

		CHECK_STR(a->pci, "0000:c1:00.0");
		CHECK_STR(a->vendor, "AMD");
		CHECK_STR(a->name, "AMD Instinct MI300X OAM");
		CHECK_STR(a->gfx, "gfx942");
		CHECK_STR(a->driver, "amdgpu");
		CHECK_STR(a->partition, "SPX/NPS1");
		CHECK_I64(a->index, 0);
		CHECK_I64(a->kfd_node, 1);
		CHECK_I64(a->card, 1);
		CHECK_I64(a->render, 129);
		CHECK_U64(a->gpu_id, 4711);
		CHECK_U64(a->cu_count, 304);
		CHECK_U64(a->simd_count, 1216);
		CHECK_U64(a->xcc, 8);
		CHECK_U64(a->wave_size, 64);
		CHECK_U64(a->max_sclk_mhz, 2100);
		CHECK_U64(a->memory_bytes, 206158430208);
		CHECK_U64(a->pci_device, 0x74a1);
		CHECK_STR(b->pci, "0002:05:00.0");
		CHECK_STR(b->name, "AMD Instinct MI250X");
		CHECK_STR(b->gfx, "gfx90a");
		CHECK_I64(b->kfd_node, 10);
		CHECK_I64(b->card, 0);
		CHECK_I64(b->render, 128);
		CHECK_U64(b->cu_count, 104);
		CHECK_U64(b->memory_bytes, 206141652992);
	}
	CHECK_STR(rk_gpus_arch(&g), "gfx942");
	rk_gpus_release(&g);
	world_close(&w);
}

TEST(partitions_of_a_package_are_gpus_of_their_own)
{
	struct rk_gpus g = { 0 };
	struct world w;

	world_open(&w, 1);
	card(&w, 1, "0000:c1:00.0", "0x74a1\n");
	put(&w, "sys/class/drm/card1/device", "current_compute_partition", "DPX\n");
	/* location_id has the number of the partition in its four highest bits. */
	node(&w, 2, "11\n", MI300X "location_id 49408\ndrm_render_minor 128\n");
	node(&w, 3, "12\n", MI300X "location_id 268484864\ndrm_render_minor 129\n");
	find(&w, &g);
	if (CHECK_U64(g.n, 2)) {
		CHECK_STR(g.gpus[0].pci, "0000:c1:00.0");
		CHECK_STR(g.gpus[1].pci, "0000:c1:00.0");
		CHECK_I64(g.gpus[0].kfd_node, 2);
		CHECK_I64(g.gpus[1].kfd_node, 3);
		CHECK_I64(g.gpus[1].render, 129);
		CHECK_STR(g.gpus[1].name, "AMD Instinct MI300X");
		CHECK_STR(g.gpus[1].partition, "DPX/NPS1");
	}
	rk_gpus_release(&g);
	world_close(&w);
}

TEST(gpus_of_other_makers_are_listed_by_pci)
{
	struct rk_gpus g = { 0 };
	struct world w;

	world_open(&w, 1);
	pci(&w, "0000:1b:00.0", "0x030200\n", "0x10de\n", "0x2335\n");
	put(&w, "sys/bus/pci/devices/0000:1b:00.0", "uevent", "DRIVER=nvidia\n");
	put(&w, "proc/driver/nvidia/gpus/0000:1b:00.0", "information",
	    "Model: \t\t NVIDIA H200\nIRQ:   \t\t 0\n");
	pci(&w, "0000:00:02.0", "0x030000\n", "0x8086\n", "0x56c0\n");
	pci(&w, "10000:e1:00.0", "0x120000\n", "0x1002\n", "0x7fff\n");
	find(&w, &g);
	if (CHECK_U64(g.n, 3)) {
		CHECK_STR(g.gpus[0].vendor, "Intel");
		CHECK_STR(g.gpus[0].name, "Intel GPU 0x56c0");
		CHECK_STR(g.gpus[1].vendor, "NVIDIA");
		CHECK_STR(g.gpus[1].name, "NVIDIA H200");
		CHECK_STR(g.gpus[1].driver, "nvidia");
		CHECK_STR(g.gpus[1].gfx, "");
		CHECK_I64(g.gpus[1].card, -1);
		CHECK_I64(g.gpus[1].kfd_node, -1);
		CHECK_STR(g.gpus[2].pci, "10000:e1:00.0");
		CHECK_STR(g.gpus[2].name, "AMD GPU 0x7fff");
		CHECK_STR(g.gpus[2].driver, "");
	}
	CHECK_STR(rk_gpus_arch(&g), "");
	rk_gpus_release(&g);
	world_close(&w);
}

TEST(one_id_for_several_products_is_resolved_by_its_revision)
{
	struct rk_gpus g = { 0 };
	struct world w;

	world_open(&w, 1);
	pci(&w, "0000:03:00.0", "0x030000\n", "0x1002\n", "0x744c\n");
	pci(&w, "0000:04:00.0", "0x030000\n", "0x1002\n", "0x744c\n");
	put(&w, "sys/bus/pci/devices/0000:04:00.0", "revision", "0xcc\n");
	find(&w, &g);
	if (CHECK_U64(g.n, 2)) {
		CHECK_STR(g.gpus[0].name, "AMD Radeon RX 7900 Series");
		CHECK_STR(g.gpus[1].name, "AMD Radeon RX 7900 XT");
	}
	rk_gpus_release(&g);
	world_close(&w);
}

TEST(kfd_alone_is_enough_for_a_gpu)
{
	struct rk_gpus g = { 0 };
	struct world w;

	world_open(&w, 1);
	node(&w, 1, "4711\n", MI300X "location_id 49408\n");
	find(&w, &g);
	if (CHECK_U64(g.n, 1)) {
		CHECK_STR(g.gpus[0].vendor, "AMD");
		CHECK_STR(g.gpus[0].name, "AMD Instinct MI300X");
		CHECK_STR(g.gpus[0].pci, "0000:c1:00.0");
		CHECK_I64(g.gpus[0].card, -1);
		CHECK_U64(g.gpus[0].memory_bytes, 0);
	}
	rk_gpus_release(&g);
	world_close(&w);
}

TEST(damaged_sysfs_files_give_less_and_never_an_error)
{
	static const char nuls[] = "simd_count 4\0simd_per_cu 1\n";
	struct rk_gpus g = { 0 };
	struct world w;
	char name[80];

	world_open(&w, 1);
	node(&w, 1, "7\n", "simd_count 99999999999999999999\n");
	node(&w, 2, "-1\n", MI300X);
	node(&w, 3, "7\n", "");
	node(&w, 4, "7\n", "simd_count 8\nsimd_per_cu 0\ngfx_target_version 7\nlocation_id x\n");
	snprintf(name, sizeof(name), "sys/class/kfd/kfd/topology/nodes/5/properties");
	world_file(&w, name, nuls, sizeof(nuls));
	pci(&w, "0000:zz:00.0", "0x030000\n", "0x1002\n", "0x744c\n");
	pci(&w, "0000:03:20.0", "0x030000\n", "0x1002\n", "0x744c\n");
	pci(&w, "123456789:03:00.0", "0x030000\n", "0x1002\n", "0x744c\n");
	put(&w, "sys/class/drm/card0/device", "uevent", "PCI_SLOT_NAME=\n");
	put(&w, "sys/class/drm/cardx/device", "uevent", "PCI_SLOT_NAME=0000:03:00.0\n");
	find(&w, &g);
	if (CHECK_U64(g.n, 1)) {
		CHECK_I64(g.gpus[0].kfd_node, 4);
		CHECK_STR(g.gpus[0].gfx, "");
		CHECK_U64(g.gpus[0].cu_count, 0);
		CHECK_STR(g.gpus[0].name, "GPU 0x0000");
	}
	rk_gpus_release(&g);
	world_close(&w);
}

TEST(a_root_too_long_for_any_file_has_no_gpus)
{
	struct rk_gpus g = { .n = 9 };
	char root[4000];

	memset(root, '/', sizeof(root));
	root[sizeof(root) - 1] = '\0';
	CHECK_I64(rk_gpus_find(root, &g, NULL), 0);
	CHECK_U64(g.n, 0);
	rk_gpus_release(&g);
}

TEST(finding_gpus_survives_each_failed_allocation)
{
	struct world w;
	bool failed = true;

	world_open(&w, 1);
	two_gpus(&w);
	for (uint64_t n = 1; failed && n < 1000; n++) {
		struct rk_gpus g = { 0 };
		struct rk_error err = { 0 };
		int rc;

		rk_alloc_fail_after(n);
		rc = rk_gpus_find(w.dir, &g, &err);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK_I64(rc, failed ? RK_E_NOMEM : 0);
		CHECK_U64(g.n, failed ? 0 : 2);
		rk_gpus_release(&g);
	}
	CHECK(!failed);
	world_close(&w);
}
