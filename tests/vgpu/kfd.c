/* kfd.c - the ioctls of /dev/kfd. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "kfd.h"
#include "vgpu.h"

/* ---- events ---- */

enum { MAX_EVENTS = KFD_MAX_EVENTS + 1 };

static struct event {
	bool used, set, auto_reset;
	uint32_t type;
	uint64_t age;
} events[MAX_EVENTS];

static uint32_t lost_gpu; /* its id, 0 if none is lost */
static pthread_mutex_t event_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t event_set; /* on CLOCK_MONOTONIC */

__attribute__((constructor)) static void start(void)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&event_set, &attr);
	pthread_condattr_destroy(&attr);
}

void vgpu_set_event(uint32_t id)
{
	pthread_mutex_lock(&event_lock);
	if (id < MAX_EVENTS && events[id].used) {
		events[id].set = true;
		events[id].age++;
		pthread_cond_broadcast(&event_set);
	}
	pthread_mutex_unlock(&event_lock);
}

void vgpu_lose(struct vgpu *gpu)
{
	pthread_mutex_lock(&event_lock);
	lost_gpu = gpu->id;
	for (uint32_t id = 1; id < MAX_EVENTS; id++)
		if (events[id].used && events[id].type == KFD_EVENT_HW_EXCEPTION)
			events[id].set = true;
	pthread_cond_broadcast(&event_set);
	pthread_mutex_unlock(&event_lock);
}

static int create_event(struct kfd_create_event *a)
{
	uint32_t id = 1;

	pthread_mutex_lock(&event_lock);
	while (id < MAX_EVENTS && events[id].used)
		id++;
	if (id < MAX_EVENTS)
		events[id] = (struct event){
			.used = true, .auto_reset = a->auto_reset, .type = a->type, .age = 1
		};
	pthread_mutex_unlock(&event_lock);
	if (id == MAX_EVENTS)
		return ENOSPC;
	a->id = a->slot = a->trigger_data = id;
	if (!a->page_offset)
		a->page_offset = 1;
	return 0;
}

static int change_event(uint32_t id, bool used, bool set)
{
	int rc = EINVAL;

	if (id >= MAX_EVENTS)
		return EINVAL;
	pthread_mutex_lock(&event_lock);
	if (events[id].used) {
		events[id].used = used;
		events[id].set = set;
		rc = 0;
	}
	pthread_mutex_unlock(&event_lock);
	return rc;
}

/* Whether the wait is over. Only then are events reset and ages given back. */
static bool events_ready(struct kfd_event_data *data, uint32_t n, bool all)
{
	uint32_t ready = 0;

	for (int finish = 0; finish < 2; finish++) {
		for (uint32_t i = 0; i < n; i++) {
			uint64_t *seen = &data[i].age;
			struct event *e;
			bool is;

			if (data[i].id >= MAX_EVENTS || !events[data[i].id].used)
				continue;
			e = &events[data[i].id];
			is = e->set || (e->type == KFD_EVENT_SIGNAL && *seen && *seen != e->age);
			if (!is)
				continue;
			if (!finish) {
				ready++;
				continue;
			}
			if (e->type == KFD_EVENT_SIGNAL)
				*seen = e->age;
			else if (e->type == KFD_EVENT_HW_EXCEPTION)
				data[i].exception.gpu_id = lost_gpu,
				data[i].exception.memory_lost = 1;
			if (e->auto_reset)
				e->set = false;
		}
		if (!ready || (all && ready < n))
			return false;
	}
	return true;
}

static int wait_events(struct kfd_wait_events *a)
{
	struct kfd_event_data *data = (struct kfd_event_data *)(uintptr_t)a->list;
	bool forever = a->timeout_ms >= 0xfffffffe;
	struct timespec until;
	int rc = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += a->timeout_ms / 1000;
	until.tv_nsec += (long)(a->timeout_ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	a->result = KFD_WAIT_DONE;
	pthread_mutex_lock(&event_lock);
	while (!events_ready(data, a->n, a->all)) {
		if (rc == ETIMEDOUT || (!forever && !a->timeout_ms)) {
			a->result = KFD_WAIT_TIMEOUT;
			break;
		}
		rc = forever ? pthread_cond_wait(&event_set, &event_lock) :
			       pthread_cond_timedwait(&event_set, &event_lock, &until);
	}
	pthread_mutex_unlock(&event_lock);
	return 0;
}

/* ---- the rest ---- */

static int get_apertures(struct kfd_get_apertures *a)
{
	struct kfd_apertures *to = (struct kfd_apertures *)(uintptr_t)a->list;

	if (a->n > vgpu_ngpus || !a->n)
		a->n = vgpu_ngpus;
	for (unsigned i = 0; to && i < a->n; i++)
		to[i] = (struct kfd_apertures){
			.lds_base = 1ull << 48,
			.lds_limit = (1ull << 48) + 0xffffffff,
			.scratch_base = 2ull << 48,
			.scratch_limit = (2ull << 48) + 0xffffffff,
			.gpuvm_base = 1 << 24,
			/* as large as the process: then the runtime maps memory at its own addresses */
			.gpuvm_limit = (1ull << 47) - 1,
			.gpu_id = vgpu_gpus[i].id,
		};
	return 0;
}

static int get_clocks(struct kfd_clocks *a)
{
	struct timespec raw;
	uint64_t now = vgpu_now();

	clock_gettime(CLOCK_MONOTONIC_RAW, &raw);
	a->gpu = vgpu_ticks(now);
	a->system = now;
	a->system_freq = 1000000000;
	a->cpu = (uint64_t)raw.tv_sec * 1000000000 + (uint64_t)raw.tv_nsec;
	return 0;
}

static int create_queue(struct kfd_create_queue *a)
{
	struct vgpu *gpu = vgpu_by_id(a->gpu_id);
	int rc;

	if (!gpu)
		return EINVAL;
	rc = vgpu_queue_create(gpu, a->type, a->ring, a->ring_size, a->write, a->read, &a->id);
	a->doorbell = (gpu->index + 1) * 8192 + 8 * a->id % 8192;
	return rc;
}

static int export_dmabuf(struct kfd_export_dmabuf *a)
{
	struct vgpu_export at;
	int rc = vgpu_export(a->handle, &at);
	long fd;

	if (rc != 0)
		return rc;
	fd = syscall(SYS_memfd_create, "vgpu-dmabuf", MFD_CLOEXEC);
	if (fd < 0 || syscall(SYS_write, fd, &at, sizeof(at)) != sizeof(at))
		return ENOMEM;
	a->fd = (uint32_t)fd;
	return 0;
}

static bool read_dmabuf(uint32_t fd, struct vgpu_export *at)
{
	return syscall(SYS_pread64, fd, at, sizeof(*at), 0) == sizeof(*at) && at->gpu < vgpu_ngpus;
}

static int get_dmabuf_info(struct kfd_dmabuf_info *a)
{
	struct vgpu_export at;

	if (!read_dmabuf(a->fd, &at))
		return EINVAL;
	a->size = at.pages * 4096ull;
	a->metadata_size = 0;
	a->gpu_id = vgpu_gpus[at.gpu].id;
	a->flags = KFD_MEM_VRAM;
	return 0;
}

static int import_dmabuf(struct kfd_import_dmabuf *a)
{
	struct vgpu_export at;

	return read_dmabuf(a->fd, &at) ? vgpu_import(&at, a->va, &a->handle) : EINVAL;
}

static int ipc_export(struct kfd_ipc_export *a)
{
	struct vgpu_export at;
	int rc = vgpu_export(a->handle, &at);

	if (rc == 0)
		memcpy(a->share, &at, sizeof(at));
	return rc;
}

static int ipc_import(struct kfd_ipc_import *a)
{
	struct vgpu_export at;

	memcpy(&at, a->share, sizeof(at));
	a->mmap_offset = 0;
	a->flags = KFD_MEM_VRAM;
	return vgpu_import(&at, a->va, &a->handle);
}

static int dispatch(unsigned nr, void *arg)
{
	uint32_t id = *(uint32_t *)arg; /* of a queue or an event */

	switch (nr) {
	case KFD_GET_VERSION:
		*(struct kfd_version *)arg = (struct kfd_version){ 1, 17 };
		return 0;
	case KFD_CREATE_QUEUE:
		return create_queue(arg);
	case KFD_DESTROY_QUEUE:
		return vgpu_queue_destroy(id);
	case KFD_GET_CLOCK_COUNTERS:
		return get_clocks(arg);
	case KFD_CREATE_EVENT:
		return create_event(arg);
	case KFD_DESTROY_EVENT:
		return change_event(id, false, false);
	case KFD_SET_EVENT:
		vgpu_set_event(id);
		return 0;
	case KFD_RESET_EVENT:
		return change_event(id, true, false);
	case KFD_WAIT_EVENTS:
		return wait_events(arg);
	case KFD_GET_TILE_CONFIG: {
		struct kfd_tile_config *a = arg;

		a->ntiles = a->nmacro_tiles = a->nbanks = a->nranks = 0;
		a->gb_addr_config = 0x22010042;
		return 0;
	}
	case KFD_GET_APERTURES:
		return get_apertures(arg);
	case KFD_ALLOC_MEMORY: {
		struct kfd_alloc_memory *a = arg;
		struct vgpu *gpu = vgpu_by_id(a->gpu_id);
		uint64_t offset = a->mmap_offset, handle = 0;
		int rc = gpu ? vgpu_alloc(gpu, a->va, a->size, a->flags, &offset, &handle) : EINVAL;

		if (rc == 0) {
			a->mmap_offset = offset;
			a->handle = handle;
		}
		return rc;
	}
	case KFD_FREE_MEMORY:
		return vgpu_free(*(uint64_t *)arg);
	case KFD_MAP_MEMORY:
	case KFD_UNMAP_MEMORY: {
		struct kfd_map_memory *a = arg;

		a->nmapped = a->n;
		return 0;
	}
	case KFD_SMI_EVENTS: {
		struct kfd_smi_events *a = arg;

		a->fd = (uint32_t)syscall(SYS_memfd_create, "vgpu-smi", MFD_CLOEXEC);
		return 0;
	}
	case KFD_SET_XNACK_MODE:
		*(int32_t *)arg = 0;
		return 0;
	case KFD_AVAILABLE_MEMORY: {
		struct kfd_available_memory *a = arg;
		struct vgpu *gpu = vgpu_by_id(a->gpu_id);

		if (!gpu)
			return EINVAL;
		a->bytes = gpu->vram - gpu->vram_used;
		return 0;
	}
	case KFD_EXPORT_DMABUF:
		return export_dmabuf(arg);
	case KFD_GET_DMABUF_INFO:
		return get_dmabuf_info(arg);
	case KFD_IMPORT_DMABUF:
		return import_dmabuf(arg);
	case KFD_IPC_EXPORT:
		return ipc_export(arg);
	case KFD_IPC_IMPORT:
		return ipc_import(arg);
	case KFD_SET_MEMORY_POLICY:
	case KFD_UPDATE_QUEUE:
	case KFD_DEBUG_REGISTER:
	case KFD_SET_SCRATCH:
	case KFD_SET_TRAP_HANDLER:
	case KFD_ACQUIRE_VM:
	case KFD_SET_CU_MASK:
	case KFD_ALLOC_GWS:
	case KFD_RUNTIME_ENABLE:
		return 0;
	default:
		vgpu_ledger("ioctl nr=0x%02x refused", nr);
		return EINVAL;
	}
}

int vgpu_ioctl(unsigned long request, void *arg)
{
	int rc;

	vgpu_used = true;
	/* the driver refuses the descriptor of another process */
	rc = vgpu_forked ? EBADF : dispatch(_IOC_NR(request), arg);
	if (rc == 0)
		return 0;
	errno = rc;
	return -1;
}
