/* gpus.c - the GPUs of this machine, from sysfs, KFD and NVIDIA's library, joined by PCI address. */
#include "rockit/gpus.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "base/list.h"
#include "base/num.h"
#include "monitor/nvml.h"
#include "monitor/sysfs.h"

/* ---- names of products ---- */

enum {
	PCI_AMD = 0x1002,
	PCI_NVIDIA = 0x10de,
	PCI_INTEL = 0x8086,
	GPUS_MAX = 1024,
	ANY = 0x100, /* no revision has this number */
};

#define PCI "/sys/bus/pci/devices"
#define DRM "/sys/class/drm"
#define NODES "/sys/class/kfd/kfd/topology/nodes"

/* The texts of a GPU; its rk_gpu points here once all GPUs are found. */
struct gpu_text {
	char name[128], gfx[24], pci[24], driver[32], partition[64], uuid[96], compute[16];
};

/* A GPU while we collect facts about it. */
struct found {
	struct rk_gpu gpu;
	struct gpu_text text;
	uint64_t at; /* PCI address: domain << 16 | bus << 8 | device << 3 | function */
	unsigned vendor, revision;
};

struct all {
	const char *root;
	struct found *v;
	size_t n, cap;
};

/*
 * For boards whose product_name is empty. Only GPUs that ROCm supports. Products that share an id
 * differ in revision; a line with a revision comes before one without.
 */
static const struct product {
	unsigned device, revision;
	const char *name;
} products[] = {
	{ 0x66af, ANY, "AMD Radeon VII" },
	{ 0x738c, ANY, "AMD Instinct MI100" },
	{ 0x73a1, ANY, "AMD Radeon Pro V620" },
	{ 0x73a3, ANY, "AMD Radeon Pro W6800" },
	{ 0x73a5, ANY, "AMD Radeon RX 6950 XT" },
	{ 0x73bf, 0xc0, "AMD Radeon RX 6900 XT" },
	{ 0x73bf, 0xc1, "AMD Radeon RX 6800 XT" },
	{ 0x73bf, 0xc3, "AMD Radeon RX 6800" },
	{ 0x7408, ANY, "AMD Instinct MI250X" },
	{ 0x740c, ANY, "AMD Instinct MI250X / MI250" },
	{ 0x740f, ANY, "AMD Instinct MI210" },
	{ 0x7448, ANY, "AMD Radeon Pro W7900" },
	{ 0x7449, ANY, "AMD Radeon Pro W7800 48GB" },
	{ 0x744a, ANY, "AMD Radeon Pro W7900 Dual Slot" },
	{ 0x744c, 0xc8, "AMD Radeon RX 7900 XTX" },
	{ 0x744c, 0xcc, "AMD Radeon RX 7900 XT" },
	{ 0x744c, 0xce, "AMD Radeon RX 7900 GRE" },
	{ 0x744c, 0xcf, "AMD Radeon RX 7900M" },
	{ 0x744c, ANY, "AMD Radeon RX 7900 Series" },
	{ 0x745e, ANY, "AMD Radeon Pro W7800" },
	{ 0x7460, ANY, "AMD Radeon Pro V710" },
	{ 0x7470, ANY, "AMD Radeon Pro W7700" },
	{ 0x747e, 0xc8, "AMD Radeon RX 7800 XT" },
	{ 0x747e, 0xff, "AMD Radeon RX 7700 XT" },
	{ 0x74a0, ANY, "AMD Instinct MI300A" },
	{ 0x74a1, ANY, "AMD Instinct MI300X" },
	{ 0x74a2, ANY, "AMD Instinct MI308X" },
	{ 0x74a5, ANY, "AMD Instinct MI325X" },
	{ 0x74a8, ANY, "AMD Instinct MI308X HF" },
	{ 0x74a9, ANY, "AMD Instinct MI300X HF" },
	{ 0x74b5, ANY, "AMD Instinct MI300X VF" },
	{ 0x7550, 0xc0, "AMD Radeon RX 9070 XT" },
	{ 0x7550, 0xc2, "AMD Radeon RX 9070 GRE" },
	{ 0x7550, 0xc3, "AMD Radeon RX 9070" },
	{ 0x7551, 0xc0, "AMD Radeon AI PRO R9700" },
	{ 0x7590, 0xc0, "AMD Radeon RX 9060 XT" },
	{ 0x75a0, ANY, "AMD Instinct MI350X" },
	{ 0x75a3, ANY, "AMD Instinct MI355X" },
	{ 0x75b0, ANY, "AMD Instinct MI350X VF" },
	{ 0x75b3, ANY, "AMD Instinct MI355X VF" },
};

enum { NPRODUCTS = sizeof(products) / sizeof(products[0]) };

/* ---- PCI and DRM ---- */

/* A new entry; `like` (may be NULL) is copied. */
static int add_gpu(struct all *f, const struct found *like, struct found **ret,
		   struct rk_error *err)
{
	struct found fresh = { .gpu = { .kfd_node = -1, .card = -1, .render = -1 } }, *v;

	/* Copy it first: rk_grow may move `like`. */
	if (like)
		fresh = *like;
	if (f->n == GPUS_MAX)
		return rk_fail(err, RK_E_LIMIT, "more than %d GPUs in '%s/sys'", GPUS_MAX, f->root);
	v = rk_grow(f->v, &f->cap, f->n + 1, sizeof(*v));
	if (!v)
		return rk_fail_nomem(err);
	f->v = v;
	v[f->n] = fresh;
	*ret = &f->v[f->n++];
	return 0;
}

static struct found *look(const struct all *f, uint64_t at)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->v[i].at == at)
			return &f->v[i];
	return NULL;
}

/* The GPU at a PCI address, added if it is new. Valid until the next one is added. */
static int gpu_at(struct all *f, uint64_t at, struct found **ret, struct rk_error *err)
{
	struct found *g = look(f, at);

	if (!g) {
		int rc = add_gpu(f, NULL, &g, err);

		if (rc < 0)
			return rc;
	}
	g->at = at;
	snprintf(g->text.pci, sizeof(g->text.pci), "%04" PRIx64 ":%02x:%02x.%x", at >> 16,
		 (unsigned)(at >> 8 & 0xff), (unsigned)(at >> 3 & 0x1f), (unsigned)(at & 7));
	*ret = g;
	return 0;
}

/* A hexadecimal number of at most eight digits, and `stop`. Returns what follows, or NULL. */
static const char *hex(const char *s, char stop, uint64_t *ret)
{
	static const char digits[] = "0123456789abcdef";
	const char *at;
	uint64_t v = 0;
	size_t n = 0;

	for (; n < 8 && s[n] && (at = strchr(digits, s[n])) != NULL; n++)
		v = v << 4 | (uint64_t)(at - digits);
	*ret = v;
	return n && s[n] == stop ? s + n + 1 : NULL;
}

/* "0000:c1:00.0" */
static bool parse_pci(const char *s, uint64_t *ret)
{
	uint64_t domain, bus, dev, fn;

	if (!(s = hex(s, ':', &domain)) || !(s = hex(s, ':', &bus)) || !(s = hex(s, '.', &dev)) ||
	    !hex(s, '\0', &fn) || bus > 0xff || dev > 0x1f || fn > 7)
		return false;
	*ret = domain << 16 | bus << 8 | dev << 3 | fn;
	return true;
}

static unsigned number(const char *dir, const char *name, uint64_t max)
{
	uint64_t v = 0;

	return rk_sysfs_u64(dir, name, &v) && v <= max ? (unsigned)v : 0;
}

/* Class 0x03 is for displays, 0x12 for accelerators; Intel's accelerators are not GPUs. */
static bool is_gpu(const char *dir)
{
	unsigned vendor = number(dir, "vendor", 0xffff), class = number(dir, "class", 0xffffff);

	if (vendor != PCI_AMD && vendor != PCI_NVIDIA && vendor != PCI_INTEL)
		return false;
	return class >> 16 == 0x03 || (class >> 8 == 0x1200 && vendor != PCI_INTEL);
}

/* Takes the facts in the directory of the PCI device. */
static void put_device(struct found *g, const char *dir)
{
	char uevent[RK_SYSFS_TEXT], compute[24], memory[24];
	bool c, m;

	g->vendor = number(dir, "vendor", 0xffff);
	g->gpu.pci_device = number(dir, "device", 0xffff);
	g->revision = number(dir, "revision", 0xff);
	if (rk_sysfs_read_at(dir, "uevent", uevent, sizeof(uevent)))
		rk_sysfs_value(uevent, "DRIVER", '=', g->text.driver, sizeof(g->text.driver));
	rk_sysfs_read_at(dir, "product_name", g->text.name, sizeof(g->text.name));
	rk_sysfs_u64(dir, "mem_info_vram_total", &g->gpu.memory_bytes);
	c = rk_sysfs_read_at(dir, "current_compute_partition", compute, sizeof(compute));
	m = rk_sysfs_read_at(dir, "current_memory_partition", memory, sizeof(memory));
	snprintf(g->text.partition, sizeof(g->text.partition), "%s%s%s", compute, c && m ? "/" : "",
		 memory);
}

static int add_pci(struct all *f, const char *name, struct rk_error *err)
{
	char dir[RK_SYSFS_PATH];
	struct found *g;
	uint64_t at;
	int rc;

	rk_sysfs_path(dir, f->root, PCI "/%s", name);
	if (!parse_pci(name, &at) || !is_gpu(dir))
		return 0;
	rc = gpu_at(f, at, &g, err);
	if (rc < 0)
		return rc;
	put_device(g, dir);
	return 0;
}

/* "card12" with the prefix "card" is 12; -1 for "card12-DP-1" and all others. */
static int minor_of(const char *name, const char *prefix)
{
	size_t len = strlen(prefix);
	uint64_t v;

	if (strncmp(name, prefix, len) != 0 || name[len] < '0' || name[len] > '9' ||
	    rk_num_u64(name + len, strlen(name + len), &v) != RK_NUM_OK || v > 1 << 20)
		return -1;
	return (int)v;
}

/* A DRM device with a PCI address; the partitions of a package do not have their own. */
static int add_drm(struct all *f, const char *name, struct rk_error *err)
{
	int card = minor_of(name, "card"), render = minor_of(name, "renderD");
	char dir[RK_SYSFS_PATH], uevent[RK_SYSFS_TEXT], slot[32];
	struct found *g;
	uint64_t at;
	int rc;

	rk_sysfs_path(dir, f->root, DRM "/%s/device", name);
	if ((card < 0 && render < 0) || !rk_sysfs_read_at(dir, "uevent", uevent, sizeof(uevent)) ||
	    !rk_sysfs_value(uevent, "PCI_SLOT_NAME", '=', slot, sizeof(slot)) ||
	    !parse_pci(slot, &at) || (!look(f, at) && !is_gpu(dir)))
		return 0;
	rc = gpu_at(f, at, &g, err);
	if (rc < 0)
		return rc;
	if (!g->vendor)
		put_device(g, dir);
	if (card >= 0)
		g->gpu.card = card;
	else
		g->gpu.render = render;
	return 0;
}

/* ---- KFD: the compute part of AMD's driver ---- */

/* 0 if the key is missing or its number is too large for a count of parts. */
static unsigned small(const char *properties, const char *key)
{
	uint64_t v = 0;

	if (!rk_sysfs_value_u64(properties, key, ' ', &v) || v > 1u << 24)
		return 0;
	return (unsigned)v;
}

/* The device's memory: banks of KFD's heap types 1 and 2 (visible to the host, and hidden). */
static int sum_banks(const char *node, uint64_t *ret, struct rk_error *err)
{
	char dir[RK_SYSFS_PATH], path[RK_SYSFS_PATH], text[RK_SYSFS_TEXT];
	struct rk_list banks = { 0 };
	uint64_t sum = 0, heap, bytes;
	int rc;

	rk_sysfs_path(dir, node, "/mem_banks");
	rc = rk_sysfs_list(dir, &banks, err);
	if (rc < 0)
		goto out;
	for (size_t i = 0; i < banks.n; i++) {
		rk_sysfs_path(path, dir, "/%s/properties", banks.v[i]);
		if (rk_sysfs_read(path, text, sizeof(text)) &&
		    rk_sysfs_value_u64(text, "heap_type", ' ', &heap) && (heap == 1 || heap == 2) &&
		    rk_sysfs_value_u64(text, "size_in_bytes", ' ', &bytes) &&
		    bytes < UINT64_MAX - sum)
			sum += bytes;
	}
	if (sum)
		*ret = sum;
out:
	rk_list_release(&banks);
	return rc;
}

static int add_node(struct all *f, const char *name, struct rk_error *err)
{
	char node[RK_SYSFS_PATH], text[RK_SYSFS_TEXT];
	uint64_t gpu_id, number, domain = 0, place = 0;
	unsigned simd_per_cu, render, version;
	struct found *g;
	int rc;

	rk_sysfs_path(node, f->root, NODES "/%s", name);
	/* A CPU node has the id 0; a node that we may not see has no properties. */
	if (!rk_sysfs_u64(node, "gpu_id", &gpu_id) || gpu_id == 0 ||
	    !rk_sysfs_read_at(node, "properties", text, sizeof(text)) ||
	    !small(text, "simd_count") || rk_num_u64(name, strlen(name), &number) != RK_NUM_OK ||
	    number > 1 << 20)
		return 0;
	rk_sysfs_value_u64(text, "domain", ' ', &domain);
	rk_sysfs_value_u64(text, "location_id", ' ', &place);
	/* Bits 28 to 31 of location_id number the partitions of one package. */
	rc = gpu_at(f, (domain & 0xffffffff) << 16 | (place & 0xffff), &g, err);
	/* For a program, the second and later partitions are separate GPUs. */
	if (rc == 0 && g->gpu.kfd_node >= 0)
		rc = add_gpu(f, g, &g, err);
	if (rc < 0)
		return rc;

	g->gpu.kfd_node = (int)number;
	g->gpu.gpu_id = gpu_id;
	g->gpu.simd_count = small(text, "simd_count");
	simd_per_cu = small(text, "simd_per_cu");
	g->gpu.cu_count = simd_per_cu ? g->gpu.simd_count / simd_per_cu : 0;
	g->gpu.xcc = small(text, "num_xcc");
	g->gpu.wave_size = small(text, "wave_front_size");
	g->gpu.max_sclk_mhz = small(text, "max_engine_clk_fcompute");
	render = small(text, "drm_render_minor");
	if (render)
		g->gpu.render = (int)render;
	if (!g->vendor)
		g->vendor = small(text, "vendor_id");
	if (!g->gpu.pci_device)
		g->gpu.pci_device = small(text, "device_id");
	/* 90402 is gfx942 and 90010 is gfx90a: major, minor and step, the last two as hex digits. */
	version = small(text, "gfx_target_version");
	if (version >= 10000)
		snprintf(g->text.gfx, sizeof(g->text.gfx), "gfx%u%x%x", version / 10000,
			 version / 100 % 100, version % 100);
	return sum_banks(node, &g->gpu.memory_bytes, err);
}

/* ---- NVML ---- */

static void put_nvml(struct found *g, const struct rk_nvml *n, struct rk_nvml_device *d,
		     const struct rk_nvml_pci *pci)
{
	struct gpu_text *t = &g->text;
	int major, minor, code;
	unsigned mig = 0, pending;
	double total, used;

	g->vendor = PCI_NVIDIA;
	g->gpu.pci_device = pci->ids >> 16;
	if (!t->driver[0])
		snprintf(t->driver, sizeof(t->driver), "nvidia");
	if (RK_NVML_CALL(n, name, d, t->name, sizeof(t->name)))
		t->name[0] = '\0';
	if (RK_NVML_CALL(n, uuid, d, t->uuid, sizeof(t->uuid)))
		t->uuid[0] = '\0';
	t->name[sizeof(t->name) - 1] = t->uuid[sizeof(t->uuid) - 1] = '\0';
	if (RK_NVML_CALL(n, compute, d, &major, &minor) == 0)
		snprintf(t->compute, sizeof(t->compute), "%d.%d", major, minor);
	if (rk_nvml_memory(n, d, &total, &used, &code))
		g->gpu.memory_bytes = (uint64_t)total;
	if (RK_NVML_CALL(n, mig, d, &mig, &pending) == 0 && mig)
		snprintf(t->partition, sizeof(t->partition), "MIG");
}

/* GPUs that NVIDIA's library reports, also in a container that shows none of them in /sys. */
static int find_nvml(struct all *f, struct rk_error *err)
{
	struct rk_nvml n;
	unsigned count = 0;
	int rc = 0;

	if (rk_nvml_open(&n, f->root))
		return 0;
	if (RK_NVML_CALL(&n, count, &count))
		count = 0;
	for (unsigned i = 0; i < count && i < GPUS_MAX; i++) {
		struct rk_nvml_device *d = NULL;
		struct rk_nvml_pci pci = { .bus_id = "" };
		struct found *g;

		/* Skip a lost GPU, or one that we may not use: PCI lists it anyway. */
		if (RK_NVML_CALL(&n, by_index, i, &d) || RK_NVML_CALL(&n, pci, d, &pci) ||
		    pci.bus > 0xff || pci.device > 0x1f)
			continue;
		rc = gpu_at(f, (uint64_t)pci.domain << 16 | pci.bus << 8 | pci.device << 3, &g,
			    err);
		if (rc < 0)
			break;
		put_nvml(g, &n, d, &pci);
	}
	rk_nvml_close(&n);
	return rc;
}

/* ---- all together ---- */

static const char *vendor_name(unsigned vendor)
{
	switch (vendor) {
	case PCI_AMD:
		return "AMD";
	case PCI_NVIDIA:
		return "NVIDIA";
	case PCI_INTEL:
		return "Intel";
	}
	return "";
}

/* Finds a name for a GPU whose driver has given none. */
static void put_name(struct found *g, const char *root)
{
	char path[RK_SYSFS_PATH], text[RK_SYSFS_TEXT], *name = g->text.name;
	const char *vendor = vendor_name(g->vendor);

	if (g->vendor == PCI_NVIDIA) {
		rk_sysfs_path(path, root, "/proc/driver/nvidia/gpus/%s/information", g->text.pci);
		if (rk_sysfs_read(path, text, sizeof(text)))
			rk_sysfs_value(text, "Model", ':', name, sizeof(g->text.name));
	}
	for (size_t i = 0; i < NPRODUCTS && g->vendor == PCI_AMD && !name[0]; i++)
		if (products[i].device == g->gpu.pci_device &&
		    (products[i].revision == g->revision || products[i].revision == ANY))
			snprintf(name, sizeof(g->text.name), "%s", products[i].name);
	if (!name[0])
		snprintf(name, sizeof(g->text.name), "%s%sGPU 0x%04x", vendor, g->vendor ? " " : "",
			 g->gpu.pci_device);
}

static int by_place(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->gpu.kfd_node - y->gpu.kfd_node;
}

/* Makes one block of memory: the GPUs, then their texts. */
static int pack(struct all *f, struct rk_gpus *ret, struct rk_error *err)
{
	struct rk_gpu *gpus = rk_calloc(f->n, sizeof(*gpus) + sizeof(struct gpu_text));
	struct gpu_text *texts;

	if (!gpus)
		return rk_fail_nomem(err);
	texts = (struct gpu_text *)(void *)(gpus + f->n);
	qsort(f->v, f->n, sizeof(*f->v), by_place);
	for (size_t i = 0; i < f->n; i++) {
		put_name(&f->v[i], f->root);
		texts[i] = f->v[i].text;
		gpus[i] = f->v[i].gpu;
		gpus[i].index = (int)i;
		gpus[i].vendor = vendor_name(f->v[i].vendor);
		gpus[i].name = texts[i].name;
		gpus[i].gfx = texts[i].gfx;
		gpus[i].pci = texts[i].pci;
		gpus[i].driver = texts[i].driver;
		gpus[i].partition = texts[i].partition;
		gpus[i].uuid = texts[i].uuid;
		gpus[i].compute = texts[i].compute;
	}
	*ret = (struct rk_gpus){ .gpus = gpus, .n = f->n };
	return 0;
}

/* Calls `add` for each name in a directory. */
static int add_each(struct all *f, const char *path,
		    int (*add)(struct all *f, const char *name, struct rk_error *err),
		    struct rk_error *err)
{
	char dir[RK_SYSFS_PATH];
	struct rk_list names = { 0 };
	int rc;

	rk_sysfs_path(dir, f->root, "%s", path);
	rc = rk_sysfs_list(dir, &names, err);
	for (size_t i = 0; rc == 0 && i < names.n; i++)
		rc = add(f, names.v[i], err);
	rk_list_release(&names);
	return rc;
}

int rk_gpus_find(const char *root, struct rk_gpus *ret, struct rk_error *err)
{
	struct all f = { .root = root ? root : "" };
	int rc;

	if (!ret)
		return rk_misuse("rk_gpus_find", err);
	rc = add_each(&f, PCI, add_pci, err);
	if (rc < 0)
		goto out;
	rc = add_each(&f, DRM, add_drm, err);
	if (rc < 0)
		goto out;
	/* A partition of a package is a GPU. */
	rc = add_each(&f, NODES, add_node, err);
	if (rc < 0)
		goto out;
	rc = find_nvml(&f, err);
	if (rc < 0)
		goto out;
	if (f.n)
		rc = pack(&f, ret, err);
	else
		*ret = (struct rk_gpus){ 0 };
out:
	rk_free(f.v);
	return rc;
}

void rk_gpus_release(struct rk_gpus *g)
{
	if (!g)
		return;
	rk_free(g->gpus);
	*g = (struct rk_gpus){ 0 };
}

const char *rk_gpus_arch(const struct rk_gpus *g)
{
	for (size_t i = 0; g && i < g->n; i++)
		if (g->gpus[i].gfx[0])
			return g->gpus[i].gfx;
	return "";
}
