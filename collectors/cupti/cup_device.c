/* cup_device.c - see cup.h: what GPUs there are, and the streams of their contexts. */
#include <stdio.h>
#include <string.h>

#include "cup.h"

enum { DEVICES = 64, CONTEXTS = 256, STREAMS = 1024, NONE = DEVICES };

static uint32_t devices[DEVICES];   /* ids of the recorder by ordinal */
static uint8_t device_of[CONTEXTS]; /* ordinal + 1, by number of the context */

static struct {
	uint32_t device, context, stream, id;
} streams[STREAMS]; /* the last that fell on the place; id 0: none */

static uint32_t attribute(int device, int which)
{
	int v = 0;

	if (!rk_cup.driver.cuDeviceGetAttribute ||
	    rk_cup.driver.cuDeviceGetAttribute(&v, which, device) || v < 0)
		return 0;
	return (uint32_t)v;
}

static uint32_t string(const char *text)
{
	return rk_rec_string(text, strlen(text));
}

/* "sm_90". */
static uint32_t arch(int device)
{
	uint32_t major = attribute(device, CUDA_ATTR_MAJOR);
	char text[32];

	if (!major)
		return 0;
	snprintf(text, sizeof(text), "sm_%u%u", major, attribute(device, CUDA_ATTR_MINOR));
	return string(text);
}

static uint32_t driver_version(void)
{
	char text[48];
	int v = 0;

	if (!rk_cup.driver.cuDriverGetVersion || rk_cup.driver.cuDriverGetVersion(&v) || v <= 0)
		return 0;
	snprintf(text, sizeof(text), "CUDA %d.%d", v / 1000, v % 1000 / 10);
	return string(text);
}

static uint32_t describe(uint32_t ordinal)
{
	struct rk_rec_device d = { .number = ordinal, .type = RK_REC_GPU };
	size_t memory = 0;
	char name[256];
	int handle;

	d.vendor = RK_CUP_STRING("NVIDIA");
	d.driver = driver_version();
	if (!rk_cup.driver.cuDeviceGet || rk_cup.driver.cuDeviceGet(&handle, (int)ordinal))
		return rk_rec_device(&d);
	if (rk_cup.driver.cuDeviceGetName &&
	    !rk_cup.driver.cuDeviceGetName(name, (int)sizeof(name), handle)) {
		name[sizeof(name) - 1] = '\0';
		d.name = string(name);
	}
	if (rk_cup.driver.cuDeviceTotalMem_v2 &&
	    !rk_cup.driver.cuDeviceTotalMem_v2(&memory, handle))
		d.memory_bytes = memory;
	d.arch = arch(handle);
	d.compute_units = attribute(handle, CUDA_ATTR_MULTIPROCESSORS);
	d.clock_mhz = attribute(handle, CUDA_ATTR_CLOCK_KHZ) / 1000;
	d.wave_size = attribute(handle, CUDA_ATTR_WARP_SIZE);
	return rk_rec_device(&d);
}

uint32_t rk_cup_device(uint32_t ordinal)
{
	if (ordinal >= DEVICES)
		return 0;
	if (!devices[ordinal]) {
		devices[ordinal] = describe(ordinal);
		rk_cup_clock_calibrate(true);
	}
	return devices[ordinal];
}

void rk_cup_device_each(void (*f)(uint32_t id, void *user), void *user)
{
	for (unsigned i = 0; i < DEVICES; i++)
		if (devices[i])
			f(devices[i], user);
}

uint32_t rk_cup_stream(uint32_t device, uint32_t context, uint32_t stream)
{
	uint32_t place = (stream * 31 + context * 7 + device) % STREAMS, id;

	if (streams[place].id && streams[place].stream == stream &&
	    streams[place].context == context && streams[place].device == device)
		return streams[place].id;
	id = rk_rec_stream(rk_cup_device(device), stream, context);
	streams[place].device = device;
	streams[place].context = context;
	streams[place].stream = stream;
	streams[place].id = id;
	if (context < CONTEXTS && device < DEVICES)
		device_of[context] = (uint8_t)(device + 1);
	return id;
}

uint32_t rk_cup_stream_of(uint32_t context, uint32_t stream)
{
	if (context >= CONTEXTS || !device_of[context] || stream == CUPTI_NO_STREAM)
		return 0;
	return rk_cup_stream(device_of[context] - 1u, context, stream);
}
