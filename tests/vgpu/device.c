/* device.c - which virtual GPUs there are, the files that describe them, and their clock. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "vgpu.h"

struct vgpu vgpu_gpus[VGPU_MAX_GPUS];
unsigned vgpu_ngpus;
int vgpu_kfd = -1;
_Atomic bool vgpu_used;
bool vgpu_forked;

static const char *folder; /* VGPU_DEVICE: topology, drm and module files */
static int64_t clock_ppm;  /* VGPU_CLOCK: how much faster the GPU's clock runs; negative: slower */

/* Whole small file through system calls: the wrappers of the C library are ours. */
static bool read_file(const char *path, char *text, size_t size)
{
	long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC), n;

	if (fd < 0)
		return false;
	n = syscall(SYS_read, fd, text, size - 1);
	syscall(SYS_close, fd);
	text[n > 0 ? n : 0] = '\0';
	return n >= 0;
}

/* The value of a line "key value", 0 if it is not there. */
static uint64_t value_of(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (const char *s = text; (s = strstr(s, key)); s += len)
		if ((s == text || s[-1] == '\n') && s[len] == ' ')
			return vgpu_number(s + len + 1);
	return 0;
}

static uint64_t one_or(uint64_t v)
{
	return v ? v : 1;
}

static int new_memfd(const char *name, uint64_t size)
{
	int fd = (int)syscall(SYS_memfd_create, name, MFD_CLOEXEC);

	if (fd >= 0 && syscall(SYS_ftruncate, fd, size) < 0) {
		syscall(SYS_close, fd);
		return -1;
	}
	return fd;
}

static void read_gpu(unsigned node)
{
	char path[PATH_MAX], text[8192];
	struct vgpu *g = &vgpu_gpus[vgpu_ngpus];
	uint64_t target;

	snprintf(path, sizeof(path), "%s/topology/nodes/%u/gpu_id", folder, node);
	if (!read_file(path, text, sizeof(text)) || !(g->id = (uint32_t)vgpu_number(text)))
		return;
	snprintf(path, sizeof(path), "%s/topology/nodes/%u/properties", folder, node);
	if (!read_file(path, text, sizeof(text)))
		return;
	target = value_of(text, "gfx_target_version");
	snprintf(g->chip, sizeof(g->chip), "gfx%u%x%x", (unsigned)(target / 10000 % 100),
		 (unsigned)(target / 100 % 100), (unsigned)(target % 100));
	g->index = vgpu_ngpus;
	g->minor = (unsigned)value_of(text, "drm_render_minor");
	g->device_id = (uint32_t)value_of(text, "device_id");
	g->family = VGPU_GFX9;
	if (target >= 110000)
		g->family = target >= 120000 ? VGPU_GFX12 : VGPU_GFX11;
	g->compute_units =
		(uint32_t)(value_of(text, "simd_count") / one_or(value_of(text, "simd_per_cu")));
	g->engines = (uint32_t)one_or(value_of(text, "array_count") /
				      one_or(value_of(text, "simd_arrays_per_engine")));
	g->wave_size = (uint32_t)one_or(value_of(text, "wave_front_size"));
	g->clock_mhz = (uint32_t)value_of(text, "max_engine_clk_fcompute");
	snprintf(path, sizeof(path), "%s/topology/nodes/%u/mem_banks/0/properties", folder, node);
	if (read_file(path, text, sizeof(text)))
		g->vram = value_of(text, "size_in_bytes");
	vgpu_ngpus++;
}

static void make_memory(void)
{
	for (unsigned i = 0; i < vgpu_ngpus; i++)
		vgpu_gpus[i].fd = new_memfd("vgpu-memory", 1ull << 44);
	vgpu_kfd = new_memfd("vgpu-doorbells", 1 << 20);
}

/* A child has a device of its own, unless its parent has used one: our threads are not in the child. */
static void after_fork(void)
{
	vgpu_forked = vgpu_used;
	if (vgpu_forked)
		return;
	for (unsigned i = 0; i < vgpu_ngpus; i++)
		syscall(SYS_close, vgpu_gpus[i].fd);
	syscall(SYS_close, vgpu_kfd);
	make_memory();
}

__attribute__((constructor)) static void start(void)
{
	const char *clock = getenv("VGPU_CLOCK");

	folder = getenv("VGPU_DEVICE");
	if (!folder || !*folder)
		return;
	if (clock)
		clock_ppm = *clock == '-' ? -(int64_t)vgpu_number(clock + 1) :
					    (int64_t)vgpu_number(clock);
	for (unsigned node = 1; node <= VGPU_MAX_GPUS; node++)
		read_gpu(node);
	make_memory();
	pthread_atfork(NULL, NULL, after_fork);
}

static const char *below(const char *path, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(path, prefix, len) == 0 && (path[len] == '/' || !path[len]) ? path + len :
										     NULL;
}

const char *vgpu_path(const char *path, char *room)
{
	static const struct {
		const char *prefix, *folder;
	} places[] = {
		{ "/sys/devices/virtual/kfd/kfd/topology", "topology" },
		{ "/sys/class/kfd/kfd/topology", "topology" },
		{ "/sys/module/amdgpu", "amdgpu" },
		{ "/sys/class/drm", "drm" },
	};

	if (!path || !folder || strncmp(path, "/sys/", 5) != 0)
		return path;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		const char *rest = below(path, places[i].prefix);

		if (!rest)
			continue;
		snprintf(room, PATH_MAX, "%s/%s%s", folder, places[i].folder, rest);
		return room;
	}
	return path;
}

bool vgpu_is(int fd, int memfd)
{
	struct stat a, b;

	return memfd >= 0 && fstat(fd, &a) == 0 && fstat(memfd, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

struct vgpu *vgpu_by_id(uint32_t id)
{
	for (unsigned i = 0; i < vgpu_ngpus; i++)
		if (vgpu_gpus[i].id == id)
			return &vgpu_gpus[i];
	return NULL;
}

struct vgpu *vgpu_by_fd(int fd)
{
	for (unsigned i = 0; i < vgpu_ngpus; i++)
		if (vgpu_is(fd, vgpu_gpus[i].fd))
			return &vgpu_gpus[i];
	return NULL;
}

int vgpu_open_device(const char *path)
{
	static const char render[] = "/dev/dri/renderD";
	const char *ignored;

	if (!path || !folder || vgpu_kfd < 0)
		return -2;
	if (strcmp(path, "/dev/kfd") == 0) {
		if (vgpu_fault("gone", &ignored)) {
			errno = ENODEV;
			return -1;
		}
		return fcntl(vgpu_kfd, F_DUPFD_CLOEXEC, 3);
	}
	if (strncmp(path, render, sizeof(render) - 1) != 0)
		return -2;
	for (unsigned i = 0; i < vgpu_ngpus; i++)
		if (vgpu_gpus[i].minor == vgpu_number(path + sizeof(render) - 1))
			return fcntl(vgpu_gpus[i].fd, F_DUPFD_CLOEXEC, 3);
	errno = ENOENT;
	return -1;
}

uint64_t vgpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* 100 MHz, and drift against the system's clock if that is asked for. */
uint64_t vgpu_ticks(uint64_t ns)
{
	int64_t ticks = (int64_t)(ns / 10);

	return (uint64_t)(ticks + ticks / 1000000 * clock_ppm +
			  ticks % 1000000 * clock_ppm / 1000000);
}

void vgpu_sleep_until(uint64_t ns)
{
	struct timespec t = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	while (clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}
