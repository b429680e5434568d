/* gpus.c - the GPUs of this machine, from sysfs and NVIDIA's library. */
#include "rockit/gpus.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "base/list.h"
#include "base/num.h"
#include "monitor/gpu_names.h"
#include "monitor/gpus_found.h"
#include "monitor/sysfs.h"

#define PCI "/sys/bus/pci/devices"
#define DRM "/sys/class/drm"

int rk_gpus_add(struct rk_gpus_found *f, const struct rk_gpu_found *like, struct rk_gpu_found **ret,
		struct rk_error *err)
{
	struct rk_gpu_found fresh = { .gpu = { .kfd_node = -1, .card = -1, .render = -1 } };

	/* `like` may be one of those that move. */
	if (like)
		fresh = *like;
	if (f->n == RK_GPUS_MAX)
		return rk_fail(err, RK_E_LIMIT, "more than %d GPUs in '%s/sys'", RK_GPUS_MAX,
			       f->root);
	if (f->n == f->cap) {
		size_t cap = f->cap ? f->cap * 2 : 8;
		struct rk_gpu_found *v = rk_reallocn(f->v, cap, sizeof(*v));

		if (!v)
			return rk_fail_nomem(err);
		f->v = v;
		f->cap = cap;
	}
	f->v[f->n] = fresh;
	*ret = &f->v[f->n++];
	return 0;
}

static struct rk_gpu_found *look(const struct rk_gpus_found *f, uint64_t at)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->v[i].at == at)
			return &f->v[i];
	return NULL;
}

int rk_gpus_at(struct rk_gpus_found *f, uint64_t at, struct rk_gpu_found **ret,
	       struct rk_error *err)
{
	struct rk_gpu_found *g = look(f, at);
	int rc = g ? 0 : rk_gpus_add(f, NULL, &g, err);

	if (rc < 0)
		return rc;
	g->at = at;
	snprintf(g->text.pci, sizeof(g->text.pci), "%04" PRIx64 ":%02x:%02x.%x", at >> 16,
		 (unsigned)(at >> 8 & 0xff), (unsigned)(at >> 3 & 0x1f), (unsigned)(at & 7));
	*ret = g;
	return 0;
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* One hexadecimal number of at most eight digits, ended by `stop`; what follows it, or NULL. */
static const char *hex(const char *s, char stop, uint64_t *ret)
{
	uint64_t v = 0;
	size_t n = 0;

	for (; n < 8 && digit(s[n]) >= 0; n++)
		v = v << 4 | (uint64_t)digit(s[n]);
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

/*
 * Is the device a GPU? Class 0x03 is for displays, 0x12 for accelerators without any; Intel's of
 * that class are no GPUs.
 */
static bool is_gpu(const char *dir)
{
	unsigned vendor = number(dir, "vendor", 0xffff), class = number(dir, "class", 0xffffff);

	if (vendor != RK_PCI_AMD && vendor != RK_PCI_NVIDIA && vendor != RK_PCI_INTEL)
		return false;
	return class >> 16 == 0x03 || (class >> 8 == 0x1200 && vendor != RK_PCI_INTEL);
}

static void put_partition(struct rk_gpu_found *g, const char *dir)
{
	char compute[24], memory[24];
	bool c = rk_sysfs_read_at(dir, "current_compute_partition", compute, sizeof(compute));
	bool m = rk_sysfs_read_at(dir, "current_memory_partition", memory, sizeof(memory));

	snprintf(g->text.partition, sizeof(g->text.partition), "%s%s%s", compute, c && m ? "/" : "",
		 memory);
}

static void put_nvidia(struct rk_gpu_found *g, const char *root)
{
	char path[RK_SYSFS_PATH], text[RK_SYSFS_TEXT];

	rk_sysfs_path(path, root, "/proc/driver/nvidia/gpus/%s/information", g->text.pci);
	if (rk_sysfs_read(path, text, sizeof(text)))
		rk_sysfs_value(text, "Model", ':', g->text.name, sizeof(g->text.name));
}

/* What the directory of the PCI device says. */
static void put_device(struct rk_gpu_found *g, const char *dir)
{
	char uevent[RK_SYSFS_TEXT];

	g->vendor = number(dir, "vendor", 0xffff);
	g->gpu.pci_device = number(dir, "device", 0xffff);
	g->revision = number(dir, "revision", 0xff);
	if (rk_sysfs_read_at(dir, "uevent", uevent, sizeof(uevent)))
		rk_sysfs_value(uevent, "DRIVER", '=', g->text.driver, sizeof(g->text.driver));
	rk_sysfs_read_at(dir, "product_name", g->text.name, sizeof(g->text.name));
	rk_sysfs_u64(dir, "mem_info_vram_total", &g->gpu.memory_bytes);
	put_partition(g, dir);
}

static int find_pci(struct rk_gpus_found *f, struct rk_error *err)
{
	char dir[RK_SYSFS_PATH];
	struct rk_list names = { 0 };
	struct rk_gpu_found *g;
	uint64_t at;
	int rc;

	rk_sysfs_path(dir, f->root, PCI);
	rc = rk_sysfs_list(dir, &names, err);
	for (size_t i = 0; rc == 0 && i < names.n; i++) {
		rk_sysfs_path(dir, f->root, PCI "/%s", names.v[i]);
		if (!parse_pci(names.v[i], &at) || !is_gpu(dir))
			continue;
		rc = rk_gpus_at(f, at, &g, err);
		if (rc == 0)
			put_device(g, dir);
	}
	rk_list_release(&names);
	return rc;
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

/* A device of the DRM class with a PCI address; partitions of a package have none of their own. */
static int add_drm(struct rk_gpus_found *f, const char *name, struct rk_error *err)
{
	int card = minor_of(name, "card"), render = minor_of(name, "renderD");
	char dir[RK_SYSFS_PATH], uevent[RK_SYSFS_TEXT], slot[32];
	struct rk_gpu_found *g;
	uint64_t at;
	int rc;

	rk_sysfs_path(dir, f->root, DRM "/%s/device", name);
	if ((card < 0 && render < 0) || !rk_sysfs_read_at(dir, "uevent", uevent, sizeof(uevent)) ||
	    !rk_sysfs_value(uevent, "PCI_SLOT_NAME", '=', slot, sizeof(slot)) ||
	    !parse_pci(slot, &at) || (!look(f, at) && !is_gpu(dir)))
		return 0;
	rc = rk_gpus_at(f, at, &g, err);
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

static int find_drm(struct rk_gpus_found *f, struct rk_error *err)
{
	char dir[RK_SYSFS_PATH];
	struct rk_list names = { 0 };
	int rc;

	rk_sysfs_path(dir, f->root, DRM);
	rc = rk_sysfs_list(dir, &names, err);
	for (size_t i = 0; rc == 0 && i < names.n; i++)
		rc = add_drm(f, names.v[i], err);
	rk_list_release(&names);
	return rc;
}

static const char *vendor_name(unsigned vendor)
{
	switch (vendor) {
	case RK_PCI_AMD:
		return "AMD";
	case RK_PCI_NVIDIA:
		return "NVIDIA";
	case RK_PCI_INTEL:
		return "Intel";
	}
	return "";
}

static void put_name(struct rk_gpu_found *g, const char *root)
{
	const char *known = NULL;

	if (g->vendor == RK_PCI_NVIDIA)
		put_nvidia(g, root);
	if (g->vendor == RK_PCI_AMD)
		known = rk_gpu_amd_product(g->gpu.pci_device, g->revision);
	if (g->text.name[0])
		return;
	if (known)
		snprintf(g->text.name, sizeof(g->text.name), "%s", known);
	else
		snprintf(g->text.name, sizeof(g->text.name), "%s%sGPU 0x%04x",
			 vendor_name(g->vendor), g->vendor ? " " : "", g->gpu.pci_device);
}

static int by_place(const void *a, const void *b)
{
	const struct rk_gpu_found *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->gpu.kfd_node - y->gpu.kfd_node;
}

/* One block: the GPUs, then their texts. */
static int pack(struct rk_gpus_found *f, struct rk_gpus *ret, struct rk_error *err)
{
	struct rk_gpu *gpus = rk_calloc(f->n, sizeof(*gpus) + sizeof(struct rk_gpu_text));
	struct rk_gpu_text *texts;

	if (!gpus)
		return rk_fail_nomem(err);
	texts = (struct rk_gpu_text *)(void *)(gpus + f->n);
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

int rk_gpus_find(const char *root, struct rk_gpus *ret, struct rk_error *err)
{
	struct rk_gpus_found f = { .root = root ? root : "" };
	struct rk_gpus none = { 0 };
	int rc = ret ? find_pci(&f, err) : rk_misuse("rk_gpus_find", err);

	if (rc == 0)
		rc = find_drm(&f, err);
	if (rc == 0)
		rc = rk_gpus_find_kfd(&f, err);
	if (rc == 0)
		rc = rk_gpus_find_nvml(&f, err);
	if (rc == 0 && f.n)
		rc = pack(&f, ret, err);
	else if (rc == 0)
		*ret = none;
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
