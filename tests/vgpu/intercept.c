/*
 * intercept.c - the functions of the C library and of libdrm that AMD's runtime reaches its driver
 * through. A preloaded definition wins over the library's own; the originals are called as system
 * calls or looked up with dlsym.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vgpu.h"

#define NEXT(name) (__extension__(__typeof__(&name)) dlsym(RTLD_NEXT, #name))

static int open_path(int dir, const char *path, int flags, mode_t mode)
{
	char room[PATH_MAX];
	int fd = vgpu_open_device(path);

	if (fd != -2)
		return fd;
	return (int)syscall(SYS_openat, dir, vgpu_path(path, room), flags, mode);
}

/* The mode is there only with flags that create a file; reading it otherwise does no harm here. */
int open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = va_arg(args, mode_t);
	va_end(args);
	return open_path(AT_FDCWD, path, flags, mode);
}

int openat(int dir, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = va_arg(args, mode_t);
	va_end(args);
	return open_path(dir, path, flags, mode);
}

int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);

int __open_2(const char *path, int flags)
{
	return open_path(AT_FDCWD, path, flags, 0);
}

/* Offsets have 64 bits either way. */
int open64(const char *path, int flags, ...) __attribute__((alias("open")));
int openat64(int dir, const char *path, int flags, ...) __attribute__((alias("openat")));
int __open64_2(const char *path, int flags) __attribute__((alias("__open_2")));

FILE *fopen(const char *path, const char *mode)
{
	char room[PATH_MAX];

	return NEXT(fopen)(vgpu_path(path, room), mode);
}

FILE *fopen64(const char *path, const char *mode) __attribute__((alias("fopen")));

DIR *opendir(const char *path)
{
	char room[PATH_MAX];

	return NEXT(opendir)(vgpu_path(path, room));
}

static int access_path(int dir, const char *path, int mode, int flags)
{
	char room[PATH_MAX];
	int fd = vgpu_open_device(path);

	if (fd == -2)
		return NEXT(faccessat)(dir, vgpu_path(path, room), mode, flags);
	if (fd >= 0)
		syscall(SYS_close, fd);
	return fd < 0 ? -1 : 0;
}

int access(const char *path, int mode)
{
	return access_path(AT_FDCWD, path, mode, 0);
}

int faccessat(int dir, const char *path, int mode, int flags)
{
	return access_path(dir, path, mode, flags);
}

int eaccess(const char *path, int mode)
{
	return access_path(AT_FDCWD, path, mode, AT_EACCESS);
}

static int stat_path(const char *path, struct stat *st, int flags)
{
	char room[PATH_MAX];
	int fd = vgpu_open_device(path), rc;

	if (fd == -2)
		return (int)syscall(SYS_newfstatat, AT_FDCWD, vgpu_path(path, room), st, flags);
	if (fd < 0)
		return -1;
	rc = (int)syscall(SYS_fstat, fd, st);
	st->st_mode = S_IFCHR | 0666;
	syscall(SYS_close, fd);
	return rc;
}

int stat(const char *restrict path, struct stat *restrict st)
{
	return stat_path(path, st, 0);
}

int lstat(const char *restrict path, struct stat *restrict st)
{
	return stat_path(path, st, AT_SYMLINK_NOFOLLOW);
}

ssize_t readlink(const char *restrict path, char *restrict text, size_t size)
{
	char room[PATH_MAX];

	return syscall(SYS_readlinkat, AT_FDCWD, vgpu_path(path, room), text, size);
}

char *realpath(const char *restrict path, char *restrict text)
{
	char room[PATH_MAX];

	return NEXT(realpath)(vgpu_path(path, room), text);
}

/* Memory "without host access" must be writable all the same: our threads are the device. */
void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	if (prot == PROT_NONE && (flags & MAP_SHARED) && fd >= 0 && vgpu_by_fd(fd))
		prot = PROT_READ | PROT_WRITE;
	return (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, offset);
}

void *mmap64(void *addr, size_t len, int prot, int flags, int fd, off64_t offset)
	__attribute__((alias("mmap")));

int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (_IOC_TYPE(request) == 'K' && vgpu_is(fd, vgpu_kfd))
		return vgpu_ioctl(request, arg);
	return (int)syscall(SYS_ioctl, fd, request, arg);
}

/* ---- libdrm ---- */

enum { PAGE_BITS = 12 };

struct metadata {
	uint64_t flags, tiling;
	uint32_t size, words[64];
};

struct bo { /* an imported buffer */
	struct vgpu *gpu;
	int fd; /* of the memory, which may be another process's */
	uint64_t offset, size;
};

struct bo_info {
	uint64_t size, alignment;
	uint32_t heap;
	uint64_t flags;
	struct metadata metadata;
};

struct bo_import {
	struct bo *bo;
	uint64_t size;
};

int drmOpenRender(int minor);
int drmClose(int fd);
int drmCommandWriteRead(int fd, unsigned long index, void *data, unsigned long size);
int amdgpu_device_initialize(int fd, uint32_t *major, uint32_t *minor, struct vgpu **ret);
int amdgpu_device_deinitialize(struct vgpu *gpu);
int amdgpu_device_get_fd(struct vgpu *gpu);
const char *amdgpu_get_marketing_name(struct vgpu *gpu);
int amdgpu_query_gpu_info(struct vgpu *gpu, uint32_t *info);
int amdgpu_query_info(struct vgpu *gpu, unsigned id, unsigned size, void *value);
int amdgpu_bo_import(struct vgpu *gpu, int type, uint32_t fd, struct bo_import *ret);
int amdgpu_bo_query_info(struct bo *bo, struct bo_info *info);
int amdgpu_bo_set_metadata(struct bo *bo, struct metadata *metadata);
int amdgpu_bo_export(struct bo *bo, int type, uint32_t *ret_fd);
int amdgpu_bo_free(struct bo *bo);
int amdgpu_bo_cpu_map(struct bo *bo, void **ret);
int amdgpu_bo_va_op(struct bo *bo, uint64_t offset, uint64_t size, uint64_t addr, uint64_t flags,
		    uint32_t op);

int drmOpenRender(int minor)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/dev/dri/renderD%d", minor);
	fd = vgpu_open_device(path);
	return fd < 0 ? -1 : fd;
}

int drmClose(int fd)
{
	return close(fd);
}

int drmCommandWriteRead(int fd, unsigned long index, void *data, unsigned long size)
{
	enum { GEM_MMAP = 1 };
	uint64_t *offset = data; /* a handle goes in, where to map its memory comes out */

	(void)fd;
	if (index == GEM_MMAP && size >= sizeof(*offset))
		*offset = (*offset & 0xffffffff) << PAGE_BITS;
	return 0;
}

int amdgpu_device_initialize(int fd, uint32_t *major, uint32_t *minor, struct vgpu **ret)
{
	*ret = vgpu_by_fd(fd);
	*major = 3;
	*minor = 60;
	return *ret ? 0 : -ENODEV;
}

int amdgpu_device_deinitialize(struct vgpu *gpu)
{
	(void)gpu;
	return 0;
}

int amdgpu_device_get_fd(struct vgpu *gpu)
{
	return fcntl(gpu->fd, F_DUPFD_CLOEXEC, 3); /* a new one: the caller closes the old */
}

const char *amdgpu_get_marketing_name(struct vgpu *gpu)
{
	static char names[VGPU_MAX_GPUS][32];

	snprintf(names[gpu->index], sizeof(names[0]), "Virtual %s", gpu->chip);
	return names[gpu->index];
}

int amdgpu_query_gpu_info(struct vgpu *gpu, uint32_t *info)
{
	info[0] = gpu->device_id;
	info[3] = gpu->family;
	return 0;
}

int amdgpu_query_info(struct vgpu *gpu, unsigned id, unsigned size, void *value)
{
	(void)gpu, (void)id;
	memset(value, 0, size);
	return 0;
}

/* The descriptor is what EXPORT_DMABUF gave, here or in another process. */
int amdgpu_bo_import(struct vgpu *gpu, int type, uint32_t fd, struct bo_import *ret)
{
	struct bo *bo = calloc(1, sizeof(*bo));
	struct vgpu_export at;

	(void)gpu, (void)type;
	if (!bo || pread((int)fd, &at, sizeof(at), 0) != sizeof(at) || at.gpu >= vgpu_ngpus ||
	    (bo->fd = vgpu_export_open(&at)) < 0) {
		free(bo);
		return -EINVAL;
	}
	bo->gpu = &vgpu_gpus[at.gpu];
	bo->offset = at.offset * VGPU_STEP;
	bo->size = at.pages * 4096ull;
	*ret = (struct bo_import){ bo, bo->size };
	return 0;
}

/* Metadata belong to the memory, whoever imports it: they are in the memfd, above all memory. */
static off_t metadata_at(const struct bo *bo)
{
	return (off_t)((1ull << 43) + bo->offset / VGPU_STEP * 4096);
}

int amdgpu_bo_query_info(struct bo *bo, struct bo_info *info)
{
	*info = (struct bo_info){ .size = bo->size, .alignment = 4096, .heap = 4 };
	return pread(bo->fd, &info->metadata, sizeof(info->metadata), metadata_at(bo)) < 0 ?
		       -EINVAL :
		       0;
}

int amdgpu_bo_set_metadata(struct bo *bo, struct metadata *metadata)
{
	return pwrite(bo->fd, metadata, sizeof(*metadata), metadata_at(bo)) < 0 ? -EINVAL : 0;
}

int amdgpu_bo_export(struct bo *bo, int type, uint32_t *ret_fd)
{
	(void)type;
	*ret_fd = (uint32_t)(bo->offset >>
			     PAGE_BITS); /* the handle: which page of the GPU's memory */
	return 0;
}

int amdgpu_bo_free(struct bo *bo)
{
	syscall(SYS_close, bo->fd);
	free(bo);
	return 0;
}

int amdgpu_bo_cpu_map(struct bo *bo, void **ret)
{
	*ret = (void *)syscall(SYS_mmap, NULL, bo->size, PROT_READ | PROT_WRITE, MAP_SHARED, bo->fd,
			       bo->offset);
	return *ret == MAP_FAILED ? -ENOMEM : 0;
}

int amdgpu_bo_va_op(struct bo *bo, uint64_t offset, uint64_t size, uint64_t addr, uint64_t flags,
		    uint32_t op)
{
	int prot = PROT_READ | PROT_WRITE;
	long at;

	(void)flags;
	if (op == 1 || op == 3) { /* map, replace */
		at = syscall(SYS_mmap, addr, size, prot, MAP_SHARED | MAP_FIXED, bo->fd,
			     bo->offset + offset);
		if (at < 0)
			return -ENOMEM;
	} else if (op == 2) { /* the range stays reserved by the runtime */
		syscall(SYS_mmap, addr, size, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	}
	vgpu_note_mapping(addr, size, op != 2);
	return 0;
}
