/*
 * fake_nvml.c - a fake of NVIDIA's management library for machines without a GPU. It declares all by
 * itself: a mistake in our own declarations would not be made here once more.
 *
 * FAKE_NVML, words with commas between: gpus=N (2), no-driver, mismatch, no-energy, unsupported,
 * mig, lost=N (the second GPU is gone after N of its power readings), far (a PCI domain of more than 16
 * bits). Built with OLD it has the functions of a driver from 2016 alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	SUCCESS = 0,
	UNINITIALIZED = 1,
	INVALID_ARGUMENT = 2,
	NOT_SUPPORTED = 3,
	NOT_FOUND = 6,
	INSUFFICIENT_SIZE = 7,
	DRIVER_NOT_LOADED = 9,
	GPU_IS_LOST = 15,
	LIB_RM_VERSION_MISMATCH = 18,
	ARGUMENT_VERSION_MISMATCH = 25,
};

enum { MOST = 8 };

struct device {
	unsigned index;
	unsigned asked; /* for power */
};

static struct device devices[MOST];
static unsigned users;

/* The number behind a word of FAKE_NVML, 1 for a word alone; `otherwise` when it is not there. */
static unsigned mode(const char *word, unsigned otherwise)
{
	const char *p = getenv("FAKE_NVML");
	size_t len = strlen(word);
	unsigned v;

	for (; p && *p; p += strcspn(p, ","), p += *p == ',') {
		if (strncmp(p, word, len) != 0 || (p[len] && !strchr("=,", p[len])))
			continue;
		return sscanf(p + len, "=%u", &v) == 1 ? v : 1;
	}
	return otherwise;
}

static unsigned domain_of(const struct device *d)
{
	return mode("far", 0) ? 0x10000 + d->index : d->index;
}

static unsigned bus_of(const struct device *d)
{
	return d->index ? 0x9c : 0x1b;
}

static int trouble(const struct device *d)
{
	if (!users)
		return UNINITIALIZED;
	if (!d || d < devices || d >= devices + MOST)
		return INVALID_ARGUMENT;
	return d->index == 1 && d->asked > mode("lost", ~0u - 1) ? GPU_IS_LOST : SUCCESS;
}

static int text(char *out, unsigned size, const char *s)
{
	if (strlen(s) >= size)
		return INSUFFICIENT_SIZE;
	memcpy(out, s, strlen(s) + 1);
	return SUCCESS;
}

/* ---- what every release has ---- */

int nvmlInit(void);
int nvmlInit(void)
{
	if (mode("no-driver", 0))
		return DRIVER_NOT_LOADED;
	if (mode("mismatch", 0))
		return LIB_RM_VERSION_MISMATCH;
	for (unsigned i = 0; i < MOST; i++)
		devices[i].index = i;
	users++;
	return SUCCESS;
}

int nvmlShutdown(void);
int nvmlShutdown(void)
{
	if (!users)
		return UNINITIALIZED;
	users--;
	return SUCCESS;
}

int nvmlSystemGetDriverVersion(char *out, unsigned size);
int nvmlSystemGetDriverVersion(char *out, unsigned size)
{
	return users ? text(out, size, "580.159.04") : UNINITIALIZED;
}

int nvmlDeviceGetCount(unsigned *count);
int nvmlDeviceGetCount(unsigned *count)
{
	*count = mode("gpus", 2);
	return users ? SUCCESS : UNINITIALIZED;
}

int nvmlDeviceGetHandleByIndex(unsigned i, struct device **out);
int nvmlDeviceGetHandleByIndex(unsigned i, struct device **out)
{
	if (i >= mode("gpus", 2) || i >= MOST)
		return INVALID_ARGUMENT;
	*out = &devices[i];
	return trouble(*out);
}

int nvmlDeviceGetHandleByPciBusId(const char *id, struct device **out);
int nvmlDeviceGetHandleByPciBusId(const char *id, struct device **out)
{
	unsigned domain, bus, dev, function;

	if (sscanf(id, "%x:%x:%x.%x", &domain, &bus, &dev, &function) != 4)
		return INVALID_ARGUMENT;
	for (unsigned i = 0; i < mode("gpus", 2) && i < MOST; i++)
		if (domain_of(&devices[i]) == domain && bus_of(&devices[i]) == bus && !dev) {
			*out = &devices[i];
			return trouble(*out);
		}
	return NOT_FOUND;
}

int nvmlDeviceGetName(struct device *d, char *out, unsigned size);
int nvmlDeviceGetName(struct device *d, char *out, unsigned size)
{
	int rc = trouble(d);

	return rc ? rc : text(out, size, "NVIDIA H200");
}

int nvmlDeviceGetUUID(struct device *d, char *out, unsigned size);
int nvmlDeviceGetUUID(struct device *d, char *out, unsigned size)
{
	char uuid[64];
	int rc = trouble(d);

	if (rc)
		return rc;
	snprintf(uuid, sizeof(uuid), "GPU-00000000-1111-2222-3333-44444444444%u", d->index);
	return text(out, size, uuid);
}

int nvmlDeviceGetPowerUsage(struct device *d, unsigned *mw);
int nvmlDeviceGetPowerUsage(struct device *d, unsigned *mw)
{
	int rc = trouble(d);

	if (rc == SUCCESS)
		d->asked++;
	if (rc == SUCCESS && mode("unsupported", 0))
		return NOT_SUPPORTED;
	*mw = 300500 + (d ? d->index : 0) * 1000;
	return rc;
}

struct memory {
	unsigned long long total, available, used;
};

int nvmlDeviceGetMemoryInfo(struct device *d, struct memory *m);
int nvmlDeviceGetMemoryInfo(struct device *d, struct memory *m)
{
	int rc = trouble(d);

	if (rc == SUCCESS && mode("unsupported", 0))
		return NOT_SUPPORTED;
	*m = (struct memory){ 143771ull << 20, 142771ull << 20, 1000ull << 20 };
	return rc;
}

struct utilization {
	unsigned gpu, memory;
};

int nvmlDeviceGetUtilizationRates(struct device *d, struct utilization *u);
int nvmlDeviceGetUtilizationRates(struct device *d, struct utilization *u)
{
	int rc = trouble(d);

	if (rc == SUCCESS && (mode("unsupported", 0) || mode("mig", 0)))
		return NOT_SUPPORTED;
	*u = (struct utilization){ .gpu = 0, .memory = 7 };
	return rc;
}

int nvmlDeviceGetClockInfo(struct device *d, unsigned kind, unsigned *mhz);
int nvmlDeviceGetClockInfo(struct device *d, unsigned kind, unsigned *mhz)
{
	static const unsigned clocks[] = { 1111, 1980, 3201, 1500 };
	int rc = trouble(d);

	if (rc == SUCCESS && mode("unsupported", 0))
		return NOT_SUPPORTED;
	if (kind >= 4)
		return INVALID_ARGUMENT;
	*mhz = clocks[kind];
	return rc;
}

int nvmlDeviceGetTemperature(struct device *d, unsigned sensor, unsigned *celsius);
int nvmlDeviceGetTemperature(struct device *d, unsigned sensor, unsigned *celsius)
{
	int rc = trouble(d);

	if (rc == SUCCESS && (mode("unsupported", 0) || sensor))
		return NOT_SUPPORTED;
	*celsius = 41;
	return rc;
}

/* The first version of the struct; the later ones grew at its end. */
struct pci {
	char bus_id[16];
	unsigned domain, bus, device, device_vendor, subsystem;
};

int nvmlDeviceGetPciInfo(struct device *d, struct pci *p);
int nvmlDeviceGetPciInfo(struct device *d, struct pci *p)
{
	int rc = trouble(d);

	if (rc)
		return rc;
	memset(p, 0, sizeof(*p));
	p->domain = domain_of(d);
	p->bus = bus_of(d);
	p->device_vendor = 0x233510deu;
	return SUCCESS;
}

#ifndef OLD

/* ---- added later ---- */

int nvmlInit_v2(void);
int nvmlInit_v2(void)
{
	return nvmlInit();
}

int nvmlSystemGetCudaDriverVersion_v2(int *version);
int nvmlSystemGetCudaDriverVersion_v2(int *version)
{
	*version = 13000;
	return SUCCESS;
}

int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetCount_v2(unsigned *count)
{
	return nvmlDeviceGetCount(count);
}

int nvmlDeviceGetHandleByIndex_v2(unsigned i, struct device **out);
int nvmlDeviceGetHandleByIndex_v2(unsigned i, struct device **out)
{
	return nvmlDeviceGetHandleByIndex(i, out);
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *id, struct device **out);
int nvmlDeviceGetHandleByPciBusId_v2(const char *id, struct device **out)
{
	return nvmlDeviceGetHandleByPciBusId(id, out);
}

struct pci3 {
	struct pci old;
	char bus_id[32];
};

int nvmlDeviceGetPciInfo_v3(struct device *d, struct pci3 *p);
int nvmlDeviceGetPciInfo_v3(struct device *d, struct pci3 *p)
{
	int rc = nvmlDeviceGetPciInfo(d, &p->old);

	if (rc == SUCCESS)
		snprintf(p->bus_id, sizeof(p->bus_id), "%08X:%02X:00.0", domain_of(d), bus_of(d));
	return rc;
}

int nvmlDeviceGetCudaComputeCapability(struct device *d, int *major, int *minor);
int nvmlDeviceGetCudaComputeCapability(struct device *d, int *major, int *minor)
{
	*major = 9;
	*minor = 0;
	return trouble(d);
}

int nvmlDeviceGetMigMode(struct device *d, unsigned *now, unsigned *pending);
int nvmlDeviceGetMigMode(struct device *d, unsigned *now, unsigned *pending)
{
	*now = *pending = mode("mig", 0);
	return trouble(d);
}

int nvmlDeviceGetPersistenceMode(struct device *d, unsigned *on);
int nvmlDeviceGetPersistenceMode(struct device *d, unsigned *on)
{
	*on = mode("persistent", 0);
	return trouble(d);
}

/* 350 W since the machine was started. */
int nvmlDeviceGetTotalEnergyConsumption(struct device *d, unsigned long long *mj);
int nvmlDeviceGetTotalEnergyConsumption(struct device *d, unsigned long long *mj)
{
	struct timespec t;
	int rc = trouble(d);

	if (rc == SUCCESS && (mode("unsupported", 0) || mode("no-energy", 0)))
		return NOT_SUPPORTED;
	clock_gettime(CLOCK_MONOTONIC, &t);
	*mj = (unsigned long long)t.tv_sec * 350000 + (unsigned long long)t.tv_nsec * 35 / 100000;
	return rc;
}

struct memory2 {
	unsigned version;
	unsigned long long total, reserved, available, used;
};

int nvmlDeviceGetMemoryInfo_v2(struct device *d, struct memory2 *m);
int nvmlDeviceGetMemoryInfo_v2(struct device *d, struct memory2 *m)
{
	int rc = trouble(d);

	if (rc == SUCCESS && mode("unsupported", 0))
		return NOT_SUPPORTED;
	if (m->version != 0x02000028)
		return ARGUMENT_VERSION_MISMATCH;
	m->total = 143771ull << 20;
	m->reserved = 615ull << 20;
	m->available = 142771ull << 20;
	m->used = 385ull << 20;
	return rc;
}

struct temperature {
	unsigned version, sensor;
	int celsius;
};

int nvmlDeviceGetTemperatureV(struct device *d, struct temperature *t);
int nvmlDeviceGetTemperatureV(struct device *d, struct temperature *t)
{
	int rc = trouble(d);

	if (rc == SUCCESS && (mode("unsupported", 0) || t->sensor))
		return NOT_SUPPORTED;
	if (t->version != 0x0100000c)
		return ARGUMENT_VERSION_MISMATCH;
	t->celsius = 42;
	return rc;
}

#endif
