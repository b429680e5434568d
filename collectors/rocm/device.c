/* device.c - agents: which GPUs there are, their identity, and whose memory a pool is. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "rocm.h"

enum { AGENTS = 256, POOLS = 1024, TEXT = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rk_rocm_device devices[AGENTS];
static struct {
	uint64_t pool;
	unsigned device;
} pools[POOLS];
static unsigned npools, ngpus;
static _Atomic unsigned ndevices; /* 0: not yet looked */

struct memory {
	unsigned device;
	uint64_t bytes;
};

static hsa_status see_pool(uint64_t pool, void *arg)
{
	struct memory *m = arg;
	uint32_t segment = UINT32_MAX;
	size_t bytes = 0;

	if (npools < POOLS) {
		pools[npools].pool = pool;
		pools[npools++].device = m->device;
	}
	if (!rk_rocm.amd.memory_pool_get_info(pool, HSA_POOL_SEGMENT, &segment) &&
	    segment == HSA_SEGMENT_GLOBAL &&
	    !rk_rocm.amd.memory_pool_get_info(pool, HSA_POOL_SIZE, &bytes) && bytes > m->bytes)
		m->bytes = bytes;
	return 0;
}

static uint32_t number_of(uint64_t agent, uint32_t what)
{
	uint32_t v = 0;

	return rk_rocm.core.agent_get_info(agent, what, &v) ? 0 : v;
}

/* ROCr writes up to 64 bytes, not always with a NUL. */
static const char *text_of(uint64_t agent, uint32_t what, char text[TEXT + 1])
{
	memset(text, 0, TEXT + 1);
	if (rk_rocm.core.agent_get_info(agent, what, text))
		text[0] = '\0';
	return text;
}

static uint32_t string_of(const char *text)
{
	return *text ? rk_rec_string(text, strlen(text)) : 0;
}

static void define_gpu(struct rk_rocm_device *d, uint64_t memory_bytes)
{
	char name[TEXT + 1], arch[TEXT + 1], uuid[TEXT + 1];
	unsigned long long unique = 0;
	uint32_t bdf = number_of(d->agent, HSA_AGENT_BDF);
	struct rk_rec_device gpu = {
		.number = ngpus++,
		.type = RK_REC_GPU,
		.name = string_of(text_of(d->agent, HSA_AGENT_PRODUCT, name)),
		.vendor = rk_rec_string("AMD", 3),
		.compute_units = number_of(d->agent, HSA_AGENT_COMPUTE_UNITS),
		.clock_mhz = number_of(d->agent, HSA_AGENT_CLOCK_MHZ),
		.wave_size = number_of(d->agent, HSA_AGENT_WAVE),
		.memory_bytes = memory_bytes,
		.arch = string_of(text_of(d->agent, HSA_AGENT_NAME, arch)),
		.pci = 1 + (number_of(d->agent, HSA_AGENT_DOMAIN) << 16 | (bdf & 0xffff)),
	};

	if (sscanf(text_of(d->agent, HSA_AGENT_UUID, uuid), "GPU-%16llx", &unique) == 1)
		gpu.unique_id = unique;
	memcpy(d->arch, arch, sizeof(d->arch));
	d->arch[sizeof(d->arch) - 1] = '\0';
	d->id = rk_rec_device(&gpu);
	d->copies = rk_rocm_queue_number();
}

static hsa_status see_agent(uint64_t agent, void *arg)
{
	unsigned *n = arg;
	struct memory m = { .device = *n };
	struct rk_rocm_device *d = &devices[*n];
	uint32_t type = UINT32_MAX;

	if (*n == AGENTS)
		return 0;
	*d = (struct rk_rocm_device){ .agent = agent };
	(*n)++;
	rk_rocm.amd.agent_iterate_memory_pools(agent, see_pool, &m);
	if (!rk_rocm.core.agent_get_info(agent, HSA_AGENT_DEVICE, &type) && type == HSA_DEVICE_GPU)
		define_gpu(d, m.bytes);
	return 0;
}

/* Agents do not change while the runtime lives. */
static unsigned look(void)
{
	unsigned n = atomic_load_explicit(&ndevices, memory_order_acquire);

	if (n)
		return n;
	pthread_mutex_lock(&lock);
	n = atomic_load(&ndevices);
	if (!n) {
		npools = ngpus = 0;
		rk_rocm.core.iterate_agents(see_agent, &n);
		atomic_store_explicit(&ndevices, n, memory_order_release);
	}
	pthread_mutex_unlock(&lock);
	if (n)
		rk_rocm_device_calibrate();
	return n;
}

const struct rk_rocm_device *rk_rocm_device(uint64_t agent)
{
	unsigned n = look();

	for (unsigned i = 0; i < n; i++)
		if (devices[i].agent == agent)
			return &devices[i];
	return NULL;
}

const struct rk_rocm_device *rk_rocm_pool_device(uint64_t pool)
{
	look();
	for (unsigned i = 0; i < npools; i++)
		if (pools[i].pool == pool)
			return &devices[pools[i].device];
	return NULL;
}

void rk_rocm_each_gpu(void (*f)(const struct rk_rocm_device *d, void *arg), void *arg)
{
	unsigned n = look();

	for (unsigned i = 0; i < n; i++)
		if (devices[i].id)
			f(&devices[i], arg);
}

/* ROCr converts the device's ticks: what we get is the host's clock already. */
void rk_rocm_device_calibrate(void)
{
	unsigned n = atomic_load(&ndevices);
	struct rk_rec_clocks c;

	rk_rec_clocks(&c);
	for (unsigned i = 0; i < n; i++)
		if (devices[i].id)
			rk_rec_calibration(devices[i].id, c.boot_ns, c.boot_ns, c.raw_ns,
					   c.error_ns);
}

void rk_rocm_device_forget(void)
{
	atomic_store(&ndevices, 0);
}
