/*
 * memory.c - memory of the virtual GPUs. Device memory is a part of the GPU's memfd, which the runtime
 * maps at the address it chose, so an address of the GPU is an address of the process. Only memory of
 * the user that was registered may have two.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kfd.h"
#include "vgpu.h"

enum { MAX_RANGES = 1 << 16 };

/* Sorted by address; `alloc` is NULL for imported memory. */
struct range {
	uint64_t va, size;
	struct vgpu_alloc *alloc;
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct range ranges[MAX_RANGES];
static size_t nranges;
static _Atomic unsigned elsewhere; /* ranges whose host address is another */

_Atomic unsigned vgpu_memory_changes;

/* The first range that ends after va. */
static size_t place_of(uint64_t va)
{
	size_t low = 0, high = nranges;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (ranges[mid].va + ranges[mid].size <= va)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool add_range(uint64_t va, uint64_t size, struct vgpu_alloc *alloc)
{
	size_t at;

	pthread_rwlock_wrlock(&lock);
	if (nranges == MAX_RANGES) {
		pthread_rwlock_unlock(&lock);
		return false;
	}
	at = place_of(va);
	for (size_t i = nranges++; i > at; i--)
		ranges[i] = ranges[i - 1];
	ranges[at] = (struct range){ va, size, alloc };
	pthread_rwlock_unlock(&lock);
	return true;
}

static void remove_range(uint64_t va, const struct vgpu_alloc *alloc)
{
	pthread_rwlock_wrlock(&lock);
	for (size_t at = place_of(va); at < nranges && ranges[at].va <= va; at++) {
		if (ranges[at].va != va || ranges[at].alloc != alloc)
			continue;
		for (nranges--; at < nranges; at++)
			ranges[at] = ranges[at + 1];
		break;
	}
	vgpu_memory_changes++;
	pthread_rwlock_unlock(&lock);
}

static bool is_elsewhere(const struct vgpu_alloc *a)
{
	return (uint64_t)(uintptr_t)a->host != a->va;
}

/* Whether the GPU has so much left, and then it is taken. */
static bool take_vram(struct vgpu *gpu, uint64_t size)
{
	uint64_t most = gpu->vram, used = gpu->vram_used;
	const char *limit;

	if (vgpu_fault("nomem", &limit) && vgpu_number(limit) < most)
		most = vgpu_number(limit);
	do {
		if (size > most || used > most - size)
			return false;
	} while (!atomic_compare_exchange_weak(&gpu->vram_used, &used, used + size));
	return true;
}

int vgpu_alloc(struct vgpu *gpu, uint64_t va, uint64_t size, uint32_t flags, uint64_t *offset,
	       uint64_t *handle)
{
	struct vgpu_alloc *a = calloc(1, sizeof(*a));

	if (!a)
		return ENOMEM;
	if ((flags & KFD_MEM_VRAM) && !take_vram(gpu, size)) {
		free(a);
		return ENOMEM;
	}
	*a = (struct vgpu_alloc){ .va = va, .size = size, .gpu = gpu, .flags = flags };
	a->host = (uint8_t *)(uintptr_t)va;
	if (flags & KFD_MEM_USERPTR) {
		a->host = (uint8_t *)(uintptr_t)*offset;
	} else if (flags & KFD_MEM_DOORBELL) {
		*offset = (gpu->index + 1) * 8192;
	} else {
		a->offset = atomic_fetch_add(&gpu->next_offset,
					     (size + VGPU_STEP - 1) / VGPU_STEP * VGPU_STEP);
		*offset = a->offset;
	}
	if (!add_range(va, size, a)) {
		if (flags & KFD_MEM_VRAM)
			gpu->vram_used -= size;
		free(a);
		return ENOMEM;
	}
	elsewhere += is_elsewhere(a);
	*handle = (uint64_t)(uintptr_t)a;
	vgpu_ledger("alloc gpu=%u va=0x%llx bytes=%llu flags=0x%x", gpu->index,
		    (unsigned long long)va, (unsigned long long)size, flags);
	return 0;
}

static struct vgpu_alloc *alloc_of(uint64_t handle)
{
	struct vgpu_alloc *found = NULL;

	pthread_rwlock_rdlock(&lock);
	for (size_t i = 0; i < nranges && !found; i++)
		if (ranges[i].alloc && (uint64_t)(uintptr_t)ranges[i].alloc == handle)
			found = ranges[i].alloc;
	pthread_rwlock_unlock(&lock);
	return found;
}

int vgpu_free(uint64_t handle)
{
	struct vgpu_alloc *a = alloc_of(handle);

	if (!a)
		return EINVAL;
	remove_range(a->va, a);
	if (a->flags & KFD_MEM_VRAM)
		a->gpu->vram_used -= a->size;
	if (a->flags & (KFD_MEM_VRAM | KFD_MEM_GTT))
		syscall(SYS_fallocate, a->gpu->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			a->offset, a->size);
	elsewhere -= is_elsewhere(a);
	vgpu_ledger("free gpu=%u va=0x%llx bytes=%llu", a->gpu->index, (unsigned long long)a->va,
		    (unsigned long long)a->size);
	free(a);
	return 0;
}

int vgpu_export(uint64_t handle, struct vgpu_export *ret)
{
	struct vgpu_alloc *a = alloc_of(handle);

	if (!a || !(a->flags & (KFD_MEM_VRAM | KFD_MEM_GTT)))
		return EINVAL;
	*ret = (struct vgpu_export){ .pid = (uint32_t)getpid(),
				     .fd = (uint16_t)a->gpu->fd,
				     .gpu = (uint16_t)a->gpu->index,
				     .offset = (uint32_t)(a->offset / VGPU_STEP),
				     .pages = (uint32_t)((a->size + 4095) / 4096) };
	return 0;
}

int vgpu_export_open(const struct vgpu_export *at)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/fd/%u", at->pid, at->fd);
	return (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
}

int vgpu_import(const struct vgpu_export *at, uint64_t va, uint64_t *handle)
{
	struct vgpu_alloc *a = calloc(1, sizeof(*a));
	int fd = vgpu_export_open(at);
	uint64_t size = at->pages * 4096ull;
	long to = -1;

	if (fd >= 0 && at->gpu < vgpu_ngpus)
		to = syscall(SYS_mmap, va, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
			     at->offset * VGPU_STEP);
	if (fd >= 0)
		syscall(SYS_close, fd);
	if (a && to != -1) {
		*a = (struct vgpu_alloc){ .va = va, .size = size, .gpu = &vgpu_gpus[at->gpu] };
		a->host = (uint8_t *)(uintptr_t)va;
	}
	if (!a || to == -1 || !add_range(va, size, a)) {
		free(a);
		return EINVAL;
	}
	*handle = (uint64_t)(uintptr_t)a;
	return 0;
}

void vgpu_note_mapping(uint64_t va, uint64_t size, bool mapped)
{
	if (mapped)
		add_range(va, size, NULL);
	else
		remove_range(va, NULL);
}

void *vgpu_host(uint64_t va)
{
	uint8_t *host = (uint8_t *)(uintptr_t)va;
	size_t at;

	if (!elsewhere)
		return host;
	pthread_rwlock_rdlock(&lock);
	at = place_of(va);
	if (at < nranges && ranges[at].va <= va && ranges[at].alloc)
		host = ranges[at].alloc->host + (va - ranges[at].va);
	pthread_rwlock_unlock(&lock);
	return host;
}

bool vgpu_find(uint64_t va, uint64_t *start, uint64_t *end)
{
	size_t at;
	bool found;

	pthread_rwlock_rdlock(&lock);
	at = place_of(va);
	found = at < nranges && ranges[at].va <= va;
	if (found) {
		*start = ranges[at].va;
		*end = ranges[at].va + ranges[at].size;
	}
	pthread_rwlock_unlock(&lock);
	return found;
}
