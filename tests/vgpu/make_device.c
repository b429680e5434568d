/*
 * make_device.c - writes the files by which programs see virtual GPUs: the driver's topology, the
 * module's and the card's.
 *
 * usage: vgpu-device DIR CHIP [GPUS]
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct chip {
	const char *name, *product;
	unsigned simds, simds_per_cu, arrays, arrays_per_engine, cus_per_array;
	unsigned target, device, waves, wave_size, sdma, sdma_xgmi, xcc, firmware, clock, lds_kb;
	unsigned long long memory;
	unsigned width, memory_clock;
} chips[] = {
	/* clang-format off: a table */
	{ "gfx90a", "AMD Instinct MI210",
	  416,      4,
	  8,        1,
	  16,       90010,
	  0x740f,   8,
	  64,       2,
	  3,        1,
	  72,       1700,
	  64,       68702699520,
	  4096,     1600 },
	{ "gfx942", "AMD Instinct MI300X",
	  1216,     4,
	  32,       1,
	  10,       90402,
	  0x74a1,   8,
	  64,       2,
	  14,       8,
	  166,      2100,
	  64,       206141652992,
	  8192,     1300 },
	{ "gfx950", "AMD Instinct MI350X",
	  1024,     4,
	  32,       1,
	  8,        90500,
	  0x75a0,   8,
	  64,       2,
	  14,       8,
	  30,       2200,
	  160,      309220868096,
	  8192,     2000 },
	{ "gfx1100", "AMD Radeon RX 7900 XTX",
	  192,       2,
	  12,        2,
	  8,         110000,
	  0x744c,    16,
	  32,        2,
	  0,         1,
	  550,       2371,
	  64,        25753026560,
	  384,       1249 },
	{ "gfx1201", "AMD Radeon RX 9070 XT",
	  128,       2,
	  8,         2,
	  8,         120001,
	  0x7550,    16,
	  32,        2,
	  0,         1,
	  100,       2970,
	  64,        17163091968,
	  256,       1258 },
	/* clang-format on */
};

#define UNIQUE_ID 0x5eed0000ull /* of the first GPU */

static char folder[PATH_MAX]; /* that files are put into */
static const char *top;

static void die(const char *what, const char *path)
{
	fprintf(stderr, "vgpu-device: %s %s: %s\n", what, path, strerror(errno));
	exit(1);
}

/* Makes a folder below `top` and those on the way. */
__attribute__((format(printf, 1, 2))) static void enter(const char *format, ...)
{
	va_list args;
	int n = snprintf(folder, sizeof(folder), "%s/", top);

	va_start(args, format);
	vsnprintf(folder + n, sizeof(folder) - (size_t)n, format, args);
	va_end(args);
	for (char *s = folder + n - 1; s; s = strchr(s + 1, '/')) {
		char kept = *s;

		*s = '\0';
		if (mkdir(folder, 0755) < 0 && errno != EEXIST)
			die("cannot make", folder);
		*s = kept;
	}
	if (mkdir(folder, 0755) < 0 && errno != EEXIST)
		die("cannot make", folder);
}

__attribute__((format(printf, 2, 3))) static void put(const char *name, const char *format, ...)
{
	char path[PATH_MAX + 64];
	va_list args;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	if (!f)
		die("cannot write", path);
	va_start(args, format);
	vfprintf(f, format, args);
	va_end(args);
	if (fclose(f) != 0)
		die("cannot write", path);
}

static void put_link(unsigned from, unsigned link, unsigned to, int xgmi)
{
	enter("topology/nodes/%u/io_links/%u", from, link);
	put("properties",
	    "type %d\nversion_major 0\nversion_minor 0\nnode_from %u\nnode_to %u\nweight %d\n"
	    "min_latency 0\nmax_latency 0\nmin_bandwidth 312\nmax_bandwidth %d\n"
	    "recommended_transfer_size 0\nrecommended_sdma_engine_id_mask 0\nflags 1\n",
	    xgmi ? 11 : 2, from, to, xgmi ? 15 : 20, xgmi ? 64000 : 31504);
}

static void put_cpu(unsigned gpus)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES);

	enter("topology/nodes/0");
	put("gpu_id", "0\n");
	put("name", "\n");
	put("properties",
	    "cpu_cores_count %ld\nsimd_count 0\nmem_banks_count 1\ncaches_count 0\nio_links_count %u\n"
	    "p2p_links_count 0\ncpu_core_id_base 0\nsimd_id_base 0\nmax_waves_per_simd 0\nlds_size_in_kb 0\n"
	    "gds_size_in_kb 0\nnum_gws 0\nwave_front_size 0\narray_count 0\nsimd_arrays_per_engine 0\n"
	    "cu_per_simd_array 0\nsimd_per_cu 0\nmax_slots_scratch_cu 0\ngfx_target_version 0\nvendor_id 0\n"
	    "device_id 0\nlocation_id 0\ndomain 0\ndrm_render_minor 0\nhive_id 0\nnum_sdma_engines 0\n"
	    "num_sdma_xgmi_engines 0\nnum_sdma_queues_per_engine 0\nnum_cp_queues 0\n"
	    "max_engine_clk_ccompute 3000\n",
	    cpus > 0 ? cpus : 1, gpus);
	enter("topology/nodes/0/mem_banks/0");
	put("properties", "heap_type 0\nsize_in_bytes %lld\nflags 0\nwidth 64\nmem_clk_max 3200\n",
	    (long long)pages * sysconf(_SC_PAGESIZE));
}

static void put_gpu(const struct chip *c, unsigned i, unsigned gpus)
{
	unsigned links = 0;

	enter("topology/nodes/%u", i + 1);
	put("gpu_id", "%u\n", 40001 + 7 * i);
	put("name", "%s\n", c->name);
	put("properties",
	    "cpu_cores_count 0\nsimd_count %u\nmem_banks_count 1\ncaches_count 2\nio_links_count %u\n"
	    "p2p_links_count 0\ncpu_core_id_base 0\nsimd_id_base %llu\nmax_waves_per_simd %u\n"
	    "lds_size_in_kb %u\ngds_size_in_kb 0\nnum_gws 64\nwave_front_size %u\narray_count %u\n"
	    "simd_arrays_per_engine %u\ncu_per_simd_array %u\nsimd_per_cu %u\nmax_slots_scratch_cu 32\n"
	    "gfx_target_version %u\nvendor_id 4098\ndevice_id %u\nlocation_id %u\ndomain 0\n"
	    "drm_render_minor %u\nhive_id %u\nnum_sdma_engines %u\nnum_sdma_xgmi_engines %u\n"
	    "num_sdma_queues_per_engine 8\nnum_cp_queues 24\nmax_engine_clk_fcompute %u\nlocal_mem_size 0\n"
	    "fw_version %u\ncapability %u\ndebug_prop 1495\nsdma_fw_version 19\nunique_id %llu\nnum_xcc %u\n"
	    "max_engine_clk_ccompute 3000\n",
	    c->simds, gpus, 2147487744ull + 1024 * i, c->waves, c->lds_kb, c->wave_size, c->arrays,
	    c->arrays_per_engine, c->cus_per_array, c->simds_per_cu, c->target, c->device,
	    768 + 256 * i, 128 + i, gpus > 1 && c->sdma_xgmi ? 4711u : 0, c->sdma, c->sdma_xgmi,
	    c->clock, c->firmware,
	    /* doorbells of 64 bits, revision 1, ECC; neither SVM nor a debugger */
	    0x2000u | 1u << 22 | 1u << 26, UNIQUE_ID + i, c->xcc);
	enter("topology/nodes/%u/mem_banks/0", i + 1);
	put("properties", "heap_type 1\nsize_in_bytes %llu\nflags 0\nwidth %u\nmem_clk_max %u\n",
	    c->memory, c->width, c->memory_clock);
	for (unsigned level = 1; level <= 2; level++) {
		enter("topology/nodes/%u/caches/%u", i + 1, level - 1);
		put("properties",
		    "processor_id_low %llu\nlevel %u\nsize %u\ncache_line_size 128\ncache_lines_per_tag 1\n"
		    "association 16\nlatency 0\ntype 9\nsibling_map 1\n",
		    2147487744ull + 1024 * i, level, level == 1 ? 32u : 4096u);
	}
	put_link(0, i, i + 1, 0);
	put_link(i + 1, links++, 0, 0);
	for (unsigned k = 0; k < gpus; k++)
		if (k != i)
			put_link(i + 1, links++, k + 1, c->sdma_xgmi != 0);
}

/* The card's files in /sys/class/drm; readings are those of a GPU that does nothing. */
static void put_card(const struct chip *c, unsigned i, const char *name)
{
	enter("drm/%s/device/drm/card%u", name, i);
	enter("drm/%s/device/drm/renderD%u", name, 128 + i);
	enter("drm/%s/device/hwmon/hwmon%u", name, i);
	put("name", "amdgpu\n");
	put("power1_average", "%u\n", 40000000);
	put("temp1_label", "edge\n");
	put("temp1_input", "%u\n", 35000);
	put("freq1_label", "sclk\n");
	put("freq1_input", "%u\n", 132000000);
	enter("drm/%s/device", name);
	put("vendor", "0x1002\n");
	put("device", "0x%04x\n", c->device);
	put("class", "%s\n", c->sdma_xgmi ? "0x120000" : "0x030000"); /* accelerator, display */
	put("product_name", "%s (virtual)\n", c->product);
	put("mem_info_vram_total", "%llu\n", c->memory);
	put("mem_info_vram_used", "%u\n", 256u << 20);
	put("gpu_busy_percent", "0\n");
	put("unique_id", "%016llx\n", UNIQUE_ID + i);
	put("uevent", "DRIVER=amdgpu\nPCI_ID=1002:%04X\nPCI_SLOT_NAME=0000:%02x:00.0\n", c->device,
	    3 + i);
}

int main(int argc, char **argv)
{
	unsigned gpus = 1;

	if (argc < 3 || argc > 4 || (argc == 4 && sscanf(argv[3], "%u", &gpus) != 1) || gpus < 1 ||
	    gpus > 16) {
		fputs("usage: vgpu-device DIR CHIP [GPUS]\n", stderr);
		return 2;
	}
	top = argv[1];
	for (size_t i = 0; i < sizeof(chips) / sizeof(*chips); i++) {
		if (strcmp(chips[i].name, argv[2]) != 0)
			continue;
		enter("topology");
		put("generation_id", "2\n");
		put("system_properties", "platform_oem 0\nplatform_id 0\nplatform_rev 0\n");
		enter("amdgpu");
		put("initstate", "live\n");
		put("version", "6.16.13\n");
		put_cpu(gpus);
		for (unsigned k = 0; k < gpus; k++) {
			char name[32];

			put_gpu(&chips[i], k, gpus);
			snprintf(name, sizeof(name), "card%u", k);
			put_card(&chips[i], k, name);
			snprintf(name, sizeof(name), "renderD%u", 128 + k);
			put_card(&chips[i], k, name);
		}
		return 0;
	}
	fprintf(stderr, "vgpu-device: unknown chip '%s'; known:", argv[2]);
	for (size_t i = 0; i < sizeof(chips) / sizeof(*chips); i++)
		fprintf(stderr, " %s", chips[i].name);
	fputc('\n', stderr);
	return 2;
}
