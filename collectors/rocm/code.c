/*
 * code.c - code objects: which kernel is at which address.
 *
 * An address is used again after its executable was destroyed, so names are looked up when a packet is
 * submitted. Programs load libraries with tens of thousands of kernels and launch few of them: only
 * addresses are kept when an executable is frozen; name and registers are read at the first launch.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rocm.h"

enum { FIRST_CAP = 1024, MAX_KERNELS = 1 << 22, SHORT_NAME = 1024, KERNEL_SYMBOL = 1 };

struct kernel {
	uint64_t object; /* 0: empty; 1: was removed */
	uint64_t symbol, executable;
	uint32_t function, epoch; /* function 0: not yet looked up */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kernel *kernels; /* open addressing; cap is a power of two */
static size_t cap, used;       /* removed ones included */
static _Atomic uint32_t generation = 1;

uint32_t rk_rocm_code_generation(void)
{
	return atomic_load_explicit(&generation, memory_order_acquire);
}

static struct kernel *find(uint64_t object)
{
	size_t i = (object >> 6) * 0x9e3779b97f4a7c15u >> 20;

	if (!cap)
		return NULL;
	for (;; i++) {
		struct kernel *k = &kernels[i & (cap - 1)];

		if (!k->object || k->object == object)
			return k;
	}
}

static bool grow(void)
{
	struct kernel *old = kernels;
	size_t old_cap = cap, live = 0;

	for (size_t i = 0; i < old_cap; i++)
		live += old[i].object > 1;
	if (live >= MAX_KERNELS)
		return false;
	cap = FIRST_CAP;
	while (cap < live * 4)
		cap *= 2;
	kernels = calloc(cap, sizeof(*kernels));
	if (!kernels) {
		kernels = old;
		cap = old_cap;
		return false;
	}
	used = live;
	for (size_t i = 0; i < old_cap; i++)
		if (old[i].object > 1)
			*find(old[i].object) = old[i];
	free(old);
	return true;
}

/* ---- hooks ---- */

static hsa_status see_symbol(uint64_t executable, uint64_t agent, uint64_t symbol, void *arg)
{
	uint64_t object = 0;
	uint32_t type = UINT32_MAX;
	struct kernel *k;

	(void)agent;
	(void)arg;
	if (rk_rocm.core.executable_symbol_get_info(symbol, HSA_SYMBOL_TYPE, &type) ||
	    type != KERNEL_SYMBOL ||
	    rk_rocm.core.executable_symbol_get_info(symbol, HSA_SYMBOL_OBJECT, &object) ||
	    object <= 1)
		return 0;
	pthread_mutex_lock(&lock);
	if (used * 2 < cap || grow()) {
		k = find(object);
		used += !k->object;
		*k = (struct kernel){ object, symbol, executable, 0, 0 };
	}
	pthread_mutex_unlock(&lock);
	return 0;
}

static void see_gpu(const struct rk_rocm_device *d, void *arg)
{
	const uint64_t *executable = arg;

	rk_rocm.core.executable_iterate_agent_symbols(*executable, d->agent, see_symbol, NULL);
}

static hsa_status executable_freeze(uint64_t executable, const char *options)
{
	hsa_status rc = rk_rocm.core.executable_freeze(executable, options);

	if (!rc && rk_rocm_live()) {
		rk_rocm_each_gpu(see_gpu, &executable);
		atomic_fetch_add(&generation, 1);
	}
	return rc;
}

static hsa_status executable_destroy(uint64_t executable)
{
	if (rk_rocm_live()) {
		/* before the call: afterwards another thread may get the same addresses */
		pthread_mutex_lock(&lock);
		for (size_t i = 0; i < cap; i++)
			if (kernels[i].object > 1 && kernels[i].executable == executable)
				kernels[i].object = 1;
		pthread_mutex_unlock(&lock);
		atomic_fetch_add(&generation, 1);
	}
	return rk_rocm.core.executable_destroy(executable);
}

void rk_rocm_code_hook(struct hsa_core *core)
{
	core->executable_freeze = executable_freeze;
	core->executable_destroy = executable_destroy;
}

void rk_rocm_code_forget(void)
{
	pthread_mutex_lock(&lock);
	free(kernels);
	kernels = NULL;
	cap = used = 0;
	pthread_mutex_unlock(&lock);
	atomic_fetch_add(&generation, 1);
}

/* ---- names and registers ---- */

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/*
 * Registers as the AMDGPU usage document has them for each family; not set where it does not say. The
 * descriptor is read from the host's copy: a card's memory need not be visible here.
 */
static void see_registers(uint64_t object, const char *arch, struct rk_rec_function *f)
{
	struct hsa_loader loader = { 0 };
	const struct hsa_kernel *k;
	const void *host = NULL;
	uint32_t vgprs, sgprs;

	if (!HSA_HAS(&rk_rocm.core, system_get_major_extension_table) ||
	    rk_rocm.core.system_get_major_extension_table(HSA_EXTENSION_LOADER, 1, sizeof(loader),
							  &loader) ||
	    !loader.query_host_address ||
	    loader.query_host_address((const void *)(uintptr_t)object, &host) || !host)
		return;
	k = host;
	vgprs = (k->rsrc1 & 63) + 1;
	sgprs = ((k->rsrc1 >> 6 & 15) / 2 + 1) * 16;
	if (begins(arch, "gfx90a") || begins(arch, "gfx94") || begins(arch, "gfx950")) {
		uint32_t ours = ((k->rsrc3 & 63) + 1) * 4;

		f->regs = vgprs * 8;
		f->agprs = f->regs > ours ? f->regs - ours : 0;
		f->sgprs = sgprs;
	} else if (begins(arch, "gfx9")) {
		f->regs = vgprs * 4;
		f->sgprs = sgprs;
	} else if (begins(arch, "gfx10") || begins(arch, "gfx11") || begins(arch, "gfx120")) {
		f->regs = vgprs * (k->properties & HSA_KERNEL_WAVE32 ? 8 : 4);
	}
}

static uint32_t name_of(uint64_t symbol)
{
	char local[SHORT_NAME], *name = local;
	uint32_t len = 0, id = 0;

	if (rk_rocm.core.executable_symbol_get_info(symbol, HSA_SYMBOL_NAME_LENGTH, &len) || !len)
		return 0;
	if (len > sizeof(local))
		name = malloc(len);
	if (name && !rk_rocm.core.executable_symbol_get_info(symbol, HSA_SYMBOL_NAME, name)) {
		if (len > 3 && !memcmp(name + len - 3, ".kd", 3))
			len -= 3;
		id = rk_rec_string(name, len);
	}
	if (name != local)
		free(name);
	return id;
}

static uint32_t define(const struct kernel *k, const struct rk_rocm_device *device)
{
	struct rk_rec_function f = { .name = name_of(k->symbol),
				     .device = device->id,
				     .regs = RK_REC_UNKNOWN,
				     .private_bytes = RK_REC_UNKNOWN,
				     .local_bytes = RK_REC_UNKNOWN,
				     .agprs = RK_REC_UNKNOWN,
				     .sgprs = RK_REC_UNKNOWN };
	uint32_t v;

	if (!rk_rocm.core.executable_symbol_get_info(k->symbol, HSA_SYMBOL_PRIVATE_BYTES, &v))
		f.private_bytes = v;
	if (!rk_rocm.core.executable_symbol_get_info(k->symbol, HSA_SYMBOL_GROUP_BYTES, &v))
		f.local_bytes = v;
	see_registers(k->object, device->arch, &f);
	return rk_rec_function(&f);
}

uint32_t rk_rocm_function(uint64_t object, const struct rk_rocm_device *device)
{
	uint32_t epoch = rk_rec_epoch(), function;
	struct rk_rec_function unknown = { .device = device->id,
					   .regs = RK_REC_UNKNOWN,
					   .private_bytes = RK_REC_UNKNOWN,
					   .local_bytes = RK_REC_UNKNOWN,
					   .agprs = RK_REC_UNKNOWN,
					   .sgprs = RK_REC_UNKNOWN };
	struct kernel *k;
	char text[40];

	pthread_mutex_lock(&lock);
	k = find(object);
	if (k && k->object) {
		if (!k->function || k->epoch != epoch) {
			k->function = define(k, device);
			k->epoch = epoch;
		}
		function = k->function;
		pthread_mutex_unlock(&lock);
		return function;
	}
	pthread_mutex_unlock(&lock);
	/* code that was not loaded through an executable */
	unknown.name = rk_rec_string(text, (size_t)snprintf(text, sizeof(text), "kernel at 0x%llx",
							    (unsigned long long)object));
	return rk_rec_function(&unknown);
}
