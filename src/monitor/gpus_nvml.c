/*
 * gpus_nvml.c - NVIDIA's GPUs as its management library knows them: also where a container shows
 * nothing of them in /sys.
 */
#include <stdio.h>
#include <string.h>

#include "monitor/gpus_found.h"
#include "monitor/nvml_lib.h"

static void fill(struct rk_gpu_found *g, const struct rk_nvml *n, struct rk_nvml_device *d,
		 const struct rk_nvml_pci *pci)
{
	struct rk_gpu_text *t = &g->text;
	int major, minor, code;
	unsigned mig = 0, pending;
	double total, used;

	g->vendor = RK_PCI_NVIDIA;
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

/* A GPU that is lost or that others may use alone is passed over: PCI knows it anyway. */
static int add_device(struct rk_gpus_found *f, const struct rk_nvml *n, unsigned i,
		      struct rk_error *err)
{
	struct rk_nvml_device *d = NULL;
	struct rk_nvml_pci pci = { .bus_id = "" };
	struct rk_gpu_found *g;
	int rc;

	if (RK_NVML_CALL(n, by_index, i, &d) || RK_NVML_CALL(n, pci, d, &pci) || pci.bus > 0xff ||
	    pci.device > 0x1f)
		return 0;
	rc = rk_gpus_at(f, (uint64_t)pci.domain << 16 | pci.bus << 8 | pci.device << 3, &g, err);
	if (rc == 0)
		fill(g, n, d, &pci);
	return rc;
}

int rk_gpus_find_nvml(struct rk_gpus_found *f, struct rk_error *err)
{
	struct rk_nvml n;
	unsigned count = 0;
	int rc = 0;

	if (rk_nvml_open(&n, f->root))
		return 0;
	if (RK_NVML_CALL(&n, count, &count))
		count = 0;
	for (unsigned i = 0; rc == 0 && i < count && i < RK_GPUS_MAX; i++)
		rc = add_device(f, &n, i, err);
	rk_nvml_close(&n);
	return rc;
}
