/*
 * queue.c - queues and the packets of compute queues.
 *
 * Each queue has a thread, so queues are concurrent. A thread that has nothing to do looks for new
 * packets a few times, then parks; one thread looks after all parked queues every millisecond. An
 * idle device costs next to nothing, and nothing spins.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "kfd.h"
#include "vgpu.h"

enum { PACKET = 64, INVALID = 1, DISPATCH = 2, BARRIER_AND = 3, BARRIER_OR = 5, VENDOR = 0 };
enum { VENDOR_PM4 = 1, VENDOR_BARRIER_VALUE = 2 };
enum { PROFILING = 1 << 3 }; /* in the queue's properties */
enum { BAD_KERNEL = 32 };    /* why a queue stopped: a kernel that the chip cannot run */
enum { SHORT_WAIT_US = 20, BUSY_ROUNDS = 100 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* the list, parking */
static pthread_cond_t unparked = PTHREAD_COND_INITIALIZER, some_parked = PTHREAD_COND_INITIALIZER;
static struct vgpu_queue *queues;
static uint32_t last_id;
static bool watching;

static bool has_work(const struct vgpu_queue *q)
{
	if (atomic_load(q->write) == q->seen)
		return false;
	return q->type != KFD_QUEUE_AQL ||
	       (__atomic_load_n(
			(uint16_t *)(void *)(q->ring + q->seen % (q->ring_size / PACKET) * PACKET),
			__ATOMIC_ACQUIRE) &
		0xff) != INVALID;
}

static void nap(unsigned us)
{
	const struct timespec t = { 0, us * 1000 };

	nanosleep(&t, NULL);
}

/* Looks the more seldom the longer nothing happens. */
static void *watch(void *arg)
{
	unsigned us = 500;

	(void)arg;
	prctl(PR_SET_NAME, "vgpu-watch");
	pthread_mutex_lock(&lock);
	for (;;) {
		bool any = false, wake = false;

		for (struct vgpu_queue *q = queues; q; q = q->next) {
			any |= q->parked;
			if (q->parked && (q->stop || has_work(q))) {
				q->parked = 0;
				wake = true;
			}
		}
		if (wake)
			pthread_cond_broadcast(&unparked);
		us = wake ? 500 : us + us / 16;
		if (us > 5000)
			us = 5000;
		if (!any) {
			pthread_cond_wait(&some_parked, &lock);
			continue;
		}
		pthread_mutex_unlock(&lock);
		nap(us);
		pthread_mutex_lock(&lock);
	}
	return NULL;
}

bool vgpu_queue_wait(struct vgpu_queue *q, unsigned *rounds)
{
	if (q->stop)
		return false;
	nap(++*rounds < BUSY_ROUNDS ? SHORT_WAIT_US : 500);
	return !q->stop;
}

static void park(struct vgpu_queue *q)
{
	pthread_mutex_lock(&lock);
	q->parked = 1;
	pthread_cond_signal(&some_parked);
	while (q->parked && !q->stop)
		pthread_cond_wait(&unparked, &lock);
	q->parked = 0;
	pthread_mutex_unlock(&lock);
}

void vgpu_queue_take(struct vgpu_queue *q, uint64_t ns, uint64_t *start, uint64_t *end)
{
	uint64_t now = vgpu_now();

	*start = now > q->last_end ? now :
				     q->last_end + 10; /* one tick: times of a queue only grow */
	*end = *start + ns;
	q->last_end = *end;
	if (*end > now)
		vgpu_sleep_until(*end);
}

/* ---- compute queues ---- */

/* The part of a queue that the runtime and the device share; the write index is a part of it. */
struct shared_queue {
	uint8_t before[56];
	uint64_t write;
	uint8_t more[116];
	uint32_t properties;
	uint32_t reserved[2];
	uint64_t inactive; /* signal by which the device says why it stopped */
};

static const struct shared_queue *shared(const struct vgpu_queue *q)
{
	return (const void *)((uint8_t *)q->write - offsetof(struct shared_queue, write));
}

static bool is_profiled(const struct vgpu_queue *q)
{
	return __atomic_load_n(&shared(q)->properties, __ATOMIC_ACQUIRE) & PROFILING;
}

static void set_signal(struct signal *s, int64_t value, bool add)
{
	if (add)
		atomic_fetch_add(&s->value, value);
	else
		atomic_store(&s->value, value);
	if (s->mailbox) {
		*(_Atomic uint64_t *)vgpu_host(s->mailbox) = s->event;
		vgpu_set_event(s->event);
	}
}

static void complete(struct vgpu_queue *q, uint64_t handle, uint64_t start, uint64_t end)
{
	struct signal *s = vgpu_host(handle);
	const char *nth;
	static _Atomic unsigned completed;

	if (!handle)
		return;
	if (vgpu_fault("lost", &nth) && ++completed == vgpu_number(nth)) {
		vgpu_ledger("lost gpu=%u queue=%u signal=0x%llx", q->gpu->index, q->id,
			    (unsigned long long)handle);
		return;
	}
	if (is_profiled(q)) {
		s->start = vgpu_ticks(start);
		s->end = vgpu_ticks(end);
	}
	set_signal(s, -1, true);
}

static uint64_t word(const uint8_t *packet, unsigned at)
{
	uint64_t v;

	memcpy(&v, packet + at, sizeof(v));
	return v;
}

static bool wait_signal(struct vgpu_queue *q, uint64_t handle, int64_t want, int64_t mask,
			unsigned how)
{
	struct signal *s = vgpu_host(handle);
	unsigned rounds = 0;

	while (handle) {
		int64_t v = atomic_load(&s->value) & mask;

		if ((how == 0 && v == want) || (how == 1 && v != want) || (how == 2 && v < want) ||
		    (how == 3 && v >= want))
			break;
		if (!vgpu_queue_wait(q, &rounds))
			return false;
	}
	return true;
}

static bool wait_signals(struct vgpu_queue *q, const uint8_t *packet, bool all)
{
	unsigned rounds = 0;

	for (;;) {
		unsigned there = 0, done = 0;

		for (unsigned i = 0; i < 5; i++) {
			uint64_t handle = word(packet, 8 + 8 * i);

			if (!handle)
				continue;
			there++;
			done += atomic_load(&((struct signal *)vgpu_host(handle))->value) == 0;
		}
		if (!there || done == there || (!all && done))
			return true;
		if (!vgpu_queue_wait(q, &rounds))
			return false;
	}
}

/* Whether a fault of this kind is asked for kernels of this name. */
static bool is_asked(const char *kind, const char *name)
{
	const char *which;
	size_t len;

	if (!vgpu_fault(kind, &which))
		return false;
	len = strcspn(which, ",");
	return len == strlen(name) && strncmp(which, name, len) == 0;
}

static bool run_kernel(struct vgpu_queue *q, const uint8_t *packet, uint64_t *start, uint64_t *end)
{
	struct vgpu_dispatch d = { .object = word(packet, 32), .kernarg = word(packet, 40) };
	uint64_t arg[2] = { 0 }, first, last;
	char name[VGPU_NAME];
	unsigned rounds = 0;
	bool hang, abort, lost;

	memcpy(d.block, packet + 4, sizeof(d.block));
	memcpy(d.grid, packet + 12, sizeof(d.grid));
	memcpy(&d.private_bytes, packet + 24, sizeof(d.private_bytes));
	memcpy(&d.group_bytes, packet + 28, sizeof(d.group_bytes));
	vgpu_kernel_name(d.object, name);
	if (d.kernarg && vgpu_find(d.kernarg, &first, &last) && last - d.kernarg >= sizeof(arg))
		memcpy(arg, vgpu_host(d.kernarg), sizeof(arg));
	hang = is_asked("hang", name);
	abort = is_asked("abort", name);
	lost = is_asked("lose", name);
	if (lost)
		vgpu_lose(q->gpu);
	if (hang || abort || lost) {
		vgpu_ledger("fault gpu=%u queue=%u name=%s", q->gpu->index, q->id, name);
		if (abort && shared(q)->inactive)
			set_signal(vgpu_host(shared(q)->inactive), BAD_KERNEL, false);
		while (vgpu_queue_wait(q, &rounds))
			;
		return false;
	}
	if (!vgpu_kernel_effect(q, &d, name))
		return false;
	vgpu_queue_take(q, vgpu_kernel_ns(&d, name), start, end);
	vgpu_count(q->gpu, &d, *end - *start);
	vgpu_ledger("dispatch gpu=%u queue=%u packet=%llu start=%llu end=%llu grid=%u,%u,%u "
		    "block=%u,%u,%u private=%u lds=%u profiled=%d arg=%016llx%016llx name=%s",
		    q->gpu->index, q->id, (unsigned long long)q->seen, (unsigned long long)*start,
		    (unsigned long long)*end, d.grid[0], d.grid[1], d.grid[2], d.block[0],
		    d.block[1], d.block[2], d.private_bytes, d.group_bytes, is_profiled(q),
		    (unsigned long long)arg[0], (unsigned long long)arg[1], name);
	return true;
}

/* What is not a kernel: waits and commands. False if the queue ends first. */
static bool run_other(struct vgpu_queue *q, const uint8_t *packet, uint64_t *start, uint64_t *end)
{
	unsigned type = packet[0];
	const char *what = "unknown";

	if (type == BARRIER_AND || type == BARRIER_OR) {
		what = type == BARRIER_AND ? "and" : "or";
		if (!wait_signals(q, packet, type == BARRIER_AND))
			return false;
	} else if (type == VENDOR && packet[2] == VENDOR_PM4) {
		what = "commands";
		vgpu_pm4(q->gpu, word(packet, 8) & ((1ull << 48) - 1),
			 (uint32_t)(word(packet, 16) & 0xfffff));
	} else if (type == VENDOR && packet[2] == VENDOR_BARRIER_VALUE) {
		what = "value";
		if (!wait_signal(q, word(packet, 8), (int64_t)word(packet, 16),
				 (int64_t)word(packet, 24),
				 (unsigned)(word(packet, 32) & 0xffffffff)))
			return false;
	}
	vgpu_queue_take(q, 0, start, end);
	vgpu_ledger("packet gpu=%u queue=%u packet=%llu end=%llu type=%u kind=%s", q->gpu->index,
		    q->id, (unsigned long long)q->seen, (unsigned long long)*end, type, what);
	return true;
}

/* One packet; false if there is none, or if the queue ends before its work is done. */
static bool aql_step(struct vgpu_queue *q)
{
	uint8_t *packet = q->ring + q->seen % (q->ring_size / PACKET) * PACKET;
	uint64_t start, end, signal;

	if (!has_work(q))
		return false;
	signal = word(packet, 56);
	if (!(packet[0] == DISPATCH ? run_kernel : run_other)(q, packet, &start, &end))
		return false;
	__atomic_store_n((uint16_t *)(void *)packet, INVALID, __ATOMIC_RELEASE);
	q->seen++;
	atomic_store(q->read, q->seen);
	complete(q, signal, start, end);
	return true;
}

static void *queue_main(void *arg)
{
	struct vgpu_queue *q = arg;
	bool (*step)(struct vgpu_queue *) = q->type == KFD_QUEUE_AQL ? aql_step : vgpu_sdma_step;
	unsigned rounds = 0;

	prctl(PR_SET_NAME, "vgpu-queue");
	prctl(PR_SET_TIMERSLACK, 1000);
	while (!q->stop) {
		if (step(q))
			rounds = 0;
		else if (++rounds < BUSY_ROUNDS)
			nap(SHORT_WAIT_US);
		else
			park(q);
	}
	return NULL;
}

/* Threads of a device take no signals of the program. */
static int start_thread(pthread_t *thread, void *(*main)(void *), void *arg)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(thread, NULL, main, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

int vgpu_queue_create(struct vgpu *gpu, uint32_t type, uint64_t ring, uint32_t size, uint64_t write,
		      uint64_t read, uint32_t *ret_id)
{
	struct vgpu_queue *q = calloc(1, sizeof(*q));
	pthread_t thread;
	int rc = 0;

	if (!q)
		return ENOMEM;
	*q = (struct vgpu_queue){
		.gpu = gpu, .type = type, .ring = vgpu_host(ring), .ring_size = size
	};
	q->write = vgpu_host(write);
	q->read = vgpu_host(read);
	q->seen = atomic_load(q->read);
	pthread_mutex_lock(&lock);
	q->id = ++last_id;
	if (!watching)
		rc = start_thread(&thread, watch, NULL);
	if (rc == 0) {
		watching = true;
		rc = start_thread(&thread, queue_main, q);
	}
	if (rc == 0) {
		q->thread = thread;
		q->next = queues;
		queues = q;
	}
	pthread_mutex_unlock(&lock);
	if (rc != 0) {
		free(q);
		return rc;
	}
	*ret_id = q->id;
	vgpu_ledger("queue gpu=%u queue=%u kind=%s bytes=%u", gpu->index, q->id,
		    type == KFD_QUEUE_AQL ? "compute" : "copy", size);
	return 0;
}

int vgpu_queue_destroy(uint32_t id)
{
	struct vgpu_queue *q, **link;

	pthread_mutex_lock(&lock);
	for (link = &queues; (q = *link) && q->id != id; link = &q->next)
		;
	if (q) {
		*link = q->next;
		q->stop = 1;
		pthread_cond_broadcast(&unparked);
	}
	pthread_mutex_unlock(&lock);
	if (!q)
		return EINVAL;
	pthread_join(q->thread, NULL);
	free(q);
	return 0;
}
