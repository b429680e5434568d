/*
 * queue.c - queues: every dispatch from its submission to its times.
 *
 * ROCr calls on_packets() with new packets of a queue, on the thread that rang the doorbell and under
 * a lock of the queue. Each dispatch is recorded, gets a signal of ours and a place in the queue's
 * list; the packets are passed on. A thread of ours looks at the oldest places of all lists: where the
 * signal is set, it records the times, and the place with its signal is used again. The list is a
 * ring of pages, which grows when the queue has more in flight than ever before. One thread at a time
 * appends (ROCr's lock) and one takes out (`lock` below), so neither waits for the other.
 *
 * Threads share hardware queues, and the one that rings the doorbell submits packets of others. So the
 * thread that takes a write index leaves its tag there: the HIP call that it is in.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "rocm.h"

#include "base/rkraw.h"

#define NS_PER_MS 1000000
#define DRAIN_NS (50 * (int64_t)NS_PER_MS)  /* how long a program's end may wait for its kernels */
#define LINGER_NS (5 * (int64_t)NS_PER_MS)  /* after the last kernel our thread sleeps for good */
#define OVERDUE_NS (2 * (int64_t)NS_PER_MS) /* how long one dispatch may hold up those after it */
#define OVERDUE_LOOK_NS (50 * NS_PER_MS)
#define STACK_BYTES (256u << 10)

enum {
	PAGE = 4096,
	PLACES = 128,        /* of a page */
	MAX_PAGES = 1 << 13, /* of all queues: one million dispatches in flight */
	QUEUE_SLOTS = 1 << 13,
	STREAM_SLOTS = 1 << 14,
	CACHED_SHAPES = 128,
	CACHED_STREAMS = 16,
	MAX_OVERDUE = 4096,
	BATCH = 32,     /* packets passed on together */
	PIECE = 512,    /* places looked at before another queue's turn */
	SHORT_US = 100, /* between two looks at the lists */
	LONG_US = 1000, /* when nothing has ended for a while */
	KEY = 38,       /* bytes of a packet that make a shape: from `setup` to `kernel` */
};

struct place {
	uint64_t signal; /* made when the place is first used */
	uint64_t id;
	int64_t submit_ns;
};

struct page {
	struct page *next;
	struct place places[PLACES];
};
_Static_assert(sizeof(struct page) <= PAGE, "a page of places is a page");

/* A dispatch whose signal is not set although those of later ones are. */
struct overdue {
	struct overdue *next;
	struct place place;
};

struct tag {
	uint64_t index; /* the packet's, plus 1: others did not take their index from us */
	uint64_t correlation, stream, graph, node;
	uint32_t tid;
};

struct queue {
	struct queue *next;
	struct hsa_queue *handle;
	const struct rk_rocm_device *device;
	uint32_t number, flags; /* flags of RAN */
	struct rk_rocm_order *order;
	bool guests; /* other tools add packets before they come to us */
	hsa_queue_error error;
	void *error_data;
	struct tag *tags;
	uint32_t mask;

	/* the thread that submits */
	struct page *last;
	uint32_t last_at, npages;
	uint64_t appended;
	_Atomic uint64_t head; /* published: appended */
	/* caches of the recorder's ids, for the values of these three counters */
	uint32_t epoch, code, streams;
	struct {
		uint8_t key[KEY];
		uint32_t shape;
	} shapes[CACHED_SHAPES];
	struct {
		uint64_t stream;
		uint32_t queue; /* 0: empty */
	} cached[CACHED_STREAMS];
	uint32_t plain; /* without a stream */

	/* who holds `lock` */
	struct page *first;
	uint32_t first_at;
	_Atomic uint64_t tail; /* taken out */
	int64_t blocked_ns;    /* since when the oldest one is overdue; 0: it is not */
	struct overdue *overdue;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* `queues`, and the old ends of lists */
static struct queue *queues;
static _Atomic uint32_t numbers, npages;
static _Atomic uint32_t noverdue;
static atomic_bool stuck;   /* waiting was in vain: do not wait again */
static atomic_bool closing; /* the program ends: our thread makes no more calls */

static atomic_bool cannot_intercept;

uint32_t rk_rocm_queue_number(void)
{
	return atomic_fetch_add(&numbers, 1);
}

/* ---- which of our queues a handle is ---- */

static struct {
	_Atomic uintptr_t handle; /* 0: never used; 1: was removed */
	struct queue *_Atomic queue;
} slots[QUEUE_SLOTS];

static size_t slot_of(const struct hsa_queue *handle)
{
	return ((uintptr_t)handle >> 6) * 0x9e3779b97f4a7c15u >> 32;
}

static inline struct queue *find(const struct hsa_queue *handle)
{
	for (size_t i = slot_of(handle), n = 0; n < QUEUE_SLOTS; i++, n++) {
		size_t at = i & (QUEUE_SLOTS - 1);
		uintptr_t h = atomic_load_explicit(&slots[at].handle, memory_order_acquire);

		if (h == (uintptr_t)handle)
			return atomic_load_explicit(&slots[at].queue, memory_order_acquire);
		if (!h)
			break;
	}
	return NULL;
}

/* Call with the lock held. */
static void add_handle(struct queue *q)
{
	for (size_t i = slot_of(q->handle), n = 0; n < QUEUE_SLOTS; i++, n++) {
		size_t at = i & (QUEUE_SLOTS - 1);

		if (atomic_load(&slots[at].handle) <= 1) {
			atomic_store(&slots[at].queue, q);
			atomic_store(&slots[at].handle, (uintptr_t)q->handle);
			return;
		}
	}
}

static void remove_handle(const struct hsa_queue *handle)
{
	for (size_t i = 0; i < QUEUE_SLOTS; i++)
		if (atomic_load(&slots[i].handle) == (uintptr_t)handle)
			atomic_store(&slots[i].handle, 1);
}

/* ---- streams ---- */

static struct {
	_Atomic uint64_t handle;
	_Atomic uint32_t number; /* 0: not yet, or the handle's stream was destroyed */
} streams[STREAM_SLOTS];
static _Atomic uint32_t nstreams, stream_generation;

static _Atomic uint32_t *stream_place(uint64_t stream)
{
	size_t i = (stream >> 4) * 0x9e3779b97f4a7c15u >> 32;

	for (size_t n = 0; n < STREAM_SLOTS; i++, n++) {
		size_t at = i & (STREAM_SLOTS - 1);
		uint64_t h = atomic_load(&streams[at].handle);

		if (h == stream ||
		    (!h && atomic_compare_exchange_strong(&streams[at].handle, &h, stream)) ||
		    h == stream)
			return &streams[at].number;
	}
	return NULL;
}

void rk_rocm_stream_gone(uint64_t stream)
{
	_Atomic uint32_t *number = stream ? stream_place(stream) : NULL;

	if (!number)
		return;
	atomic_store(number, 0);
	atomic_fetch_add(&stream_generation, 1);
}

uint32_t rk_rocm_stream(const struct rk_rocm_device *device, uint32_t number, uint64_t correlation,
			uint64_t stream)
{
	bool known = stream && stream != RK_ROCM_NO_STREAM;
	_Atomic uint32_t *place = known ? stream_place(stream) : NULL;
	uint32_t n = place ? atomic_load(place) : 0;

	if (!correlation || stream == RK_ROCM_NO_STREAM)
		return rk_rec_queue(device->id, number, 0);
	if (place && !n) {
		uint32_t fresh = atomic_fetch_add(&nstreams, 1) + 1;

		n = atomic_compare_exchange_strong(place, &n, fresh) ? fresh : n;
	}
	return rk_rec_stream(device->id, n, number);
}

/* ---- the list of what is in flight ---- */

static struct page *new_page(void)
{
	void *p = MAP_FAILED;

	if (atomic_fetch_add(&npages, 1) < MAX_PAGES)
		p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) {
		atomic_fetch_sub(&npages, 1);
		return NULL;
	}
	return p;
}

/* The next free place with its signal, or NULL. It is in the list once `appended` is raised. */
static struct place *next_place(struct queue *q)
{
	struct place *p;

	if (q->last_at == PLACES) {
		uint64_t tail = atomic_load_explicit(&q->tail, memory_order_acquire);

		/* the page after the last one may still be in use: then put one between them */
		if (q->appended / PLACES - tail / PLACES >= q->npages) {
			struct page *fresh = new_page();

			if (!fresh)
				return NULL;
			fresh->next = q->last->next;
			q->last->next = fresh;
			q->npages++;
		}
		q->last = q->last->next;
		q->last_at = 0;
	}
	p = &q->last->places[q->last_at];
	if (!p->signal && rk_rocm.amd.signal_create(1, 0, NULL, HSA_SIGNAL_GPU_ONLY, &p->signal)) {
		p->signal = 0;
		return NULL;
	}
	q->last_at++;
	q->appended++;
	return p;
}

static void free_pages(struct queue *q)
{
	struct page *p = q->last;

	for (uint32_t n = q->npages; n; n--) {
		struct page *next = p->next;

		for (unsigned i = 0; i < PLACES; i++)
			if (p->places[i].signal)
				rk_rocm.core.signal_destroy(p->places[i].signal);
		munmap(p, PAGE);
		atomic_fetch_sub(&npages, 1);
		p = next;
	}
	q->last = q->first = NULL;
	q->npages = 0;
}

static void free_overdue(struct queue *q)
{
	struct overdue *o;

	while ((o = q->overdue)) {
		q->overdue = o->next;
		rk_rocm.core.signal_destroy(o->place.signal);
		free(o);
		atomic_fetch_sub(&noverdue, 1);
	}
}

/* ---- times ---- */

static void record_times(const struct queue *q, const struct place *p)
{
	struct hsa_signal *s = (struct hsa_signal *)(uintptr_t)p->signal;
	uint32_t flags = RK_RAW_NO_TIMES;
	struct hsa_time t = { 0 };

	if (s->start && !rk_rocm.amd.get_dispatch_time(q->device->agent, p->signal, &t))
		flags = rk_rocm_time_flags(s, &t, p->submit_ns, q->flags);
	rk_rec_ran(p->id, (int64_t)t.start, (int64_t)t.end, flags);
	s->start = s->end = 0;
	rk_rocm.core.signal_store_relaxed(p->signal, 1);
}

static bool has_ended(const struct place *p)
{
	return rk_rocm.core.signal_load_scacquire(p->signal) <= 0;
}

/* Those that were taken out of the list before they ended. */
static unsigned take_out_overdue(struct queue *q)
{
	unsigned n = 0;

	for (struct overdue **link = &q->overdue, *o; (o = *link);) {
		if (!has_ended(&o->place)) {
			link = &o->next;
			continue;
		}
		*link = o->next;
		record_times(q, &o->place);
		rk_rocm.core.signal_destroy(o->place.signal);
		free(o);
		atomic_fetch_sub(&noverdue, 1);
		n++;
	}
	return n;
}

/*
 * The oldest one in the list has not ended. Kernels may overtake each other, and a signal may be lost:
 * if the next one ended some time ago, the oldest is put aside with its signal.
 */
static bool put_aside(struct queue *q, uint64_t tail, uint64_t head)
{
	struct place *p = &q->first->places[q->first_at];
	const struct place *next = q->first_at + 1 < PLACES ? p + 1 : &q->first->next->places[0];
	struct overdue *o;

	if (tail + 1 >= head || !has_ended(next)) {
		q->blocked_ns = 0;
		return false;
	}
	if (!q->blocked_ns)
		q->blocked_ns = rk_rec_now();
	if (rk_rec_now() - q->blocked_ns < OVERDUE_NS || atomic_load(&noverdue) >= MAX_OVERDUE)
		return false;
	o = calloc(1, sizeof(*o));
	if (!o)
		return false;
	q->blocked_ns = 0;
	o->place = *p;
	o->next = q->overdue;
	q->overdue = o;
	p->signal = 0;
	atomic_fetch_add(&noverdue, 1);
	return true;
}

/* Call with the lock held. Returns how many had ended; *left: whether there are more in the list. */
static unsigned take_out(struct queue *q, bool *left)
{
	uint64_t head = atomic_load_explicit(&q->head, memory_order_acquire);
	uint64_t tail = atomic_load_explicit(&q->tail, memory_order_relaxed);
	unsigned n = q->overdue ? take_out_overdue(q) : 0;

	for (; tail < head && n < PIECE; n++, tail++) {
		struct place *p;

		if (q->first_at == PLACES) {
			q->first = q->first->next;
			q->first_at = 0;
		}
		p = &q->first->places[q->first_at];
		if (has_ended(p))
			record_times(q, p);
		else if (!put_aside(q, tail, head))
			break;
		q->first_at++;
	}
	atomic_store_explicit(&q->tail, tail, memory_order_release);
	*left |= tail < head;
	if (n)
		atomic_store_explicit(&stuck, false, memory_order_relaxed);
	return n;
}

/* Call with the lock held. */
static unsigned take_out_all(bool *left)
{
	unsigned n = 0;

	*left = false;
	for (struct queue *q = queues; q; q = q->next)
		n += take_out(q, left);
	return n;
}

static void nap(unsigned us)
{
	const struct timespec t = { 0, us * 1000l };

	nanosleep(&t, NULL);
}

/* Takes out what has ended in `only`, or in all queues, and waits a bounded time for the rest. */
static void drain(struct queue *only)
{
	int64_t until = rk_rec_now() + DRAIN_NS;
	bool left = true;

	while (left) {
		if (pthread_mutex_trylock(&lock) == 0) {
			left = false;
			if (only)
				while (take_out(only, &left) == PIECE)
					left = false;
			else
				while (take_out_all(&left) >= PIECE)
					;
			pthread_mutex_unlock(&lock);
			left |= only ? only->overdue != NULL :
				       rk_rocm_relays() || atomic_load(&noverdue);
			if (left && atomic_load(&stuck))
				return;
		}
		if (left && rk_rec_now() > until) {
			atomic_store(&stuck, true);
			return;
		}
		if (left)
			nap(50);
	}
}

/* ---- our thread ---- */

static atomic_bool runs;
static _Atomic uint32_t asleep; /* futex; 1: it sleeps until a dispatch wakes it */

static void *look_after(void *arg)
{
	static const struct timespec look_again = { 0, OVERDUE_LOOK_NS };
	unsigned us = SHORT_US;
	int64_t idle_ns = 0;
	bool left = true;

	(void)arg;
	while (!atomic_load(&closing)) {
		unsigned n = 0;

		pthread_mutex_lock(&lock);
		if (!atomic_load(&closing))
			n = take_out_all(&left);
		pthread_mutex_unlock(&lock);
		idle_ns = left || n ? 0 : idle_ns + us * 1000l;
		us = n ? SHORT_US : us + us / 4;
		if (us > LONG_US)
			us = LONG_US;
		if (idle_ns < LINGER_NS) {
			nap(us);
			continue;
		}
		atomic_store(&asleep, 1);
		atomic_thread_fence(memory_order_seq_cst);
		pthread_mutex_lock(&lock);
		left = false;
		for (struct queue *q = queues; q; q = q->next)
			left |= atomic_load(&q->head) != atomic_load(&q->tail);
		pthread_mutex_unlock(&lock);
		if (!left && !atomic_load(&closing))
			syscall(SYS_futex, &asleep, FUTEX_WAIT_PRIVATE, 1,
				atomic_load(&noverdue) ? &look_again : NULL, NULL, 0);
		atomic_store(&asleep, 0);
		idle_ns = 0;
		us = SHORT_US;
	}
	atomic_store(&runs, false);
	return NULL;
}

static void wake(void)
{
	if (atomic_exchange(&asleep, 0))
		syscall(SYS_futex, &asleep, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void start_thread(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, before;

	if (atomic_load(&closing) || atomic_exchange(&runs, true) || pthread_attr_init(&attr))
		return;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	/* Signals must go to the application's threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&thread, &attr, look_after, NULL) == 0)
		pthread_setname_np(thread, "rockit");
	else
		atomic_store(&runs, false);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
}

/* ---- packets ---- */

static bool is_dispatch(const struct hsa_packet *p)
{
	uint8_t type = (uint8_t)p->header;

	return type == HSA_PACKET_DISPATCH ||
	       (type == HSA_PACKET_VENDOR && (uint8_t)p->setup == HSA_VENDOR_DISPATCH &&
		rk_rocm.amd.version.step >= HSA_VENDOR_DISPATCH_STEP);
}

static uint32_t define_shape(struct queue *q, const struct hsa_packet *p)
{
	struct rk_rec_shape s = { .function = rk_rocm_function(p->kernel, q->device),
				  .local_bytes = p->group_bytes };
	uint64_t items[3];

	if ((uint8_t)p->header == HSA_PACKET_DISPATCH) {
		for (int i = 0; i < 3; i++)
			items[i] = p->items[i];
	} else {
		items[0] = (uint64_t)p->clusters_x * p->cluster[0] * p->group[0];
		items[1] = (uint64_t)p->clusters_y * p->cluster[1] * p->group[1];
		items[2] = (uint64_t)p->clusters_z * p->cluster[2] * p->group[2];
	}
	for (int i = 0; i < 3; i++) {
		s.items[i] = items[i] ? items[i] : 1;
		s.group[i] = p->group[i];
	}
	return rk_rec_shape(&s);
}

static inline uint32_t shape_of(struct queue *q, const struct hsa_packet *p)
{
	const void *key = &p->setup;
	size_t i = ((p->kernel >> 6) * 31 + p->items[0] * 7 + p->items[1] + p->group_bytes) *
			   0x9e3779b97f4a7c15u >>
		   57;

	_Static_assert(CACHED_SHAPES == 1 << (64 - 57), "the hash has as many values");
	if (!q->shapes[i].shape || memcmp(q->shapes[i].key, key, KEY) != 0) {
		memcpy(q->shapes[i].key, key, KEY);
		q->shapes[i].shape = define_shape(q, p);
	}
	return q->shapes[i].shape;
}

static inline uint32_t queue_of(struct queue *q, uint64_t correlation, uint64_t stream)
{
	size_t i = (stream >> 4 ^ stream >> 12) % CACHED_STREAMS;

	if (!correlation) {
		if (!q->plain)
			q->plain = rk_rocm_stream(q->device, q->number, 0, 0);
		return q->plain;
	}
	if (!q->cached[i].queue || q->cached[i].stream != stream) {
		q->cached[i].stream = stream;
		q->cached[i].queue = rk_rocm_stream(q->device, q->number, correlation, stream);
	}
	return q->cached[i].queue;
}

/* Ids and addresses may mean something else than when they were looked up. */
static inline void check_caches(struct queue *q)
{
	uint32_t epoch = rk_rec_epoch(), code = rk_rocm_code_generation();
	uint32_t s = atomic_load_explicit(&stream_generation, memory_order_acquire);

	if (q->epoch != epoch || q->code != code) {
		for (int i = 0; i < CACHED_SHAPES; i++)
			q->shapes[i].shape = 0;
		q->plain = 0;
	}
	if (q->epoch != epoch || q->streams != s)
		memset(q->cached, 0, sizeof(q->cached));
	q->epoch = epoch;
	q->code = code;
	q->streams = s;
}

/*
 * Finds the program's index of a packet that came through other tools, which may have added some: by
 * what is in the program's own ring, kernel and arguments.
 */
static uint64_t index_in_ring(const struct queue *q, const struct hsa_packet *p, uint64_t from,
			      uint64_t n)
{
	const struct hsa_packet *ring = q->handle->base;

	for (uint64_t i = from; i < from + n; i++)
		if (ring[i & q->mask].kernel == p->kernel &&
		    ring[i & q->mask].arguments == p->arguments)
			return i;
	return from;
}

static void launch(struct queue *q, struct hsa_packet *p, uint64_t index, int64_t now_ns)
{
	struct rk_rec_launch l = { .id = rk_rec_next_id(), .submit_ns = now_ns };
	const struct tag *tag = &q->tags[index & q->mask];
	uint64_t stream;

	if (tag->index == index + 1) {
		l.correlation = tag->correlation;
		l.tid = tag->tid;
		l.graph = tag->graph;
		l.graph_node = tag->node;
		stream = tag->stream;
	} else {
		l.correlation = rk_rocm_call.correlation;
		stream = rk_rocm_call.stream;
	}
	l.shape = shape_of(q, p);
	l.queue = queue_of(q, l.correlation, stream);
	if (p->signal) {
		struct rk_rocm_relay what = { .original = p->signal,
					      .agent = q->device->agent,
					      .submit_ns = now_ns,
					      .flags = q->flags,
					      .order = q->order,
					      .id = l.id };
		struct rk_rocm_relay *r;

		rk_rec_launch(&l);
		if (rk_rocm_relay_start(&what, &r)) {
			p->signal = r->signal;
			return;
		}
	} else {
		struct place *place = next_place(q);

		rk_rec_launch(&l);
		if (place) {
			place->id = l.id;
			place->submit_ns = now_ns;
			p->signal = place->signal;
			return;
		}
	}
	rk_rec_ran(l.id, 0, 0, RK_RAW_NO_TIMES);
}

/*
 * A packet between kernels, with a signal of the program. While signals of earlier kernels are on
 * their way, it must not come before them.
 */
static void keep_order(struct queue *q, struct hsa_packet *p)
{
	const struct rk_rocm_relay what = { .original = p->signal,
					    .silent = true,
					    .order = q->order };
	struct rk_rocm_relay *r;

	if (p->signal && rk_rocm_order_has(q->order) && rk_rocm_relay_start(&what, &r))
		p->signal = r->signal;
}

static void on_packets(const void *packets, uint64_t count, uint64_t index, void *data,
		       hsa_packet_writer writer)
{
	const struct hsa_packet *from = packets;
	struct hsa_packet copy[BATCH];
	struct queue *q = data;
	int before = errno;
	int64_t now_ns;

	if (!rk_rocm_live() || !rk_rec_awake()) {
		if (rk_rocm_live())
			for (uint64_t i = 0; i < count; i++)
				if (is_dispatch(&from[i]))
					rk_rec_skip();
		errno = before;
		writer(packets, count);
		return;
	}
	check_caches(q);
	now_ns = rk_rec_now();
	while (count) {
		uint64_t n = count < BATCH ? count : BATCH;

		memcpy(copy, from, n * sizeof(*copy));
		for (uint64_t i = 0; i < n; i++) {
			if (!is_dispatch(&copy[i])) {
				keep_order(q, &copy[i]);
				index += !q->guests;
				continue;
			}
			if (q->guests)
				index = index_in_ring(q, &copy[i], index, count);
			launch(q, &copy[i], index++, now_ns);
		}
		atomic_store_explicit(&q->head, q->appended, memory_order_release);
		errno = before;
		writer(copy, n);
		from += n;
		count -= n;
	}
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&asleep, memory_order_relaxed))
		wake();
	errno = before;
}

/* ---- tags ---- */

/* The number of a packet in its launch of a graph: the same in each launch. */
static uint64_t graph_node(const struct rk_rocm_call *call)
{
	static _Thread_local struct {
		uint64_t correlation;
		uint32_t n;
	} last;

	if (last.correlation != call->correlation) {
		last.correlation = call->correlation;
		last.n = 0;
	}
	return call->graph << 32 | last.n++;
}

static inline void leave_tags(const struct hsa_queue *handle, uint64_t index, uint64_t n)
{
	const struct rk_rocm_call *call;
	struct queue *q;
	uint32_t tid;

	if (!rk_rocm_live() || !rk_rec_awake())
		return;
	q = find(handle);
	if (!q)
		return;
	call = &rk_rocm_call;
	tid = call->correlation && call->tid ? call->tid : rk_rec_tid();
	for (uint64_t i = index; n; i++, n--) {
		struct tag *t = &q->tags[i & q->mask];

		/* ordered by the packet's header, which is written later */
		*t = (struct tag){ i + 1, call->correlation, call->stream, call->graph, 0, tid };
		if (call->graph)
			t->node = graph_node(call);
	}
}

#define ADD(order)                                                                         \
	static uint64_t add_write_index_##order(const struct hsa_queue *queue, uint64_t n) \
	{                                                                                  \
		uint64_t index = rk_rocm.core.add_write_index_##order(queue, n);           \
                                                                                           \
		leave_tags(queue, index, n);                                               \
		return index;                                                              \
	}
ADD(scacq_screl)
ADD(scacquire)
ADD(relaxed)
ADD(screlease)

/* ---- queues begin and end ---- */

/* ROCr may name its own queue below the one that the program knows. */
static void on_error(hsa_status status, struct hsa_queue *source, void *data)
{
	struct queue *q = data;

	q->error(status, q->handle ? q->handle : source, q->error_data);
}

static struct queue *new_queue(uint64_t agent)
{
	const struct rk_rocm_device *device = rk_rocm_device(agent);
	struct queue *q = NULL;

	if (device && device->id)
		q = calloc(1, sizeof(*q));
	if (!q)
		return NULL;
	q->device = device;
	q->order = rk_rocm_order_new();
	q->last = q->first = new_page();
	if (!q->order || !q->last) {
		rk_rocm_order_put(q->order);
		free(q);
		return NULL;
	}
	q->last->next = q->last;
	q->npages = 1;
	return q;
}

static void free_queue(struct queue *q)
{
	free_overdue(q);
	if (q->last)
		free_pages(q);
	rk_rocm_order_put(q->order);
	if (q->tags)
		munmap(q->tags, ((size_t)q->mask + 1) * sizeof(*q->tags));
	free(q);
}

/* The queue exists: makes us see its packets. */
static bool adopt(struct queue *q, struct hsa_queue *handle)
{
	size_t bytes = (size_t)handle->size * sizeof(*q->tags);
	void *tags;

	tags = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (tags == MAP_FAILED)
		return false;
	q->tags = tags;
	q->mask = handle->size - 1;
	q->handle = handle;
	q->number = rk_rocm_queue_number();
	if (rk_rocm.amd.queue_intercept_register(handle, on_packets, q))
		return false;
	rk_rocm.amd.set_profiler_enabled(handle, 1);
	pthread_mutex_lock(&lock);
	add_handle(q);
	q->next = queues;
	queues = q;
	pthread_mutex_unlock(&lock);
	start_thread();
	return true;
}

static hsa_status make_queue(uint64_t agent, uint32_t size, uint32_t type, hsa_queue_error error,
			     void *data, uint32_t private_bytes, uint32_t group_bytes,
			     struct hsa_queue **ret, bool for_guest)
{
	__typeof__(rk_rocm.core.queue_create) create = rk_rocm.amd.queue_intercept_create;
	struct queue *q = rk_rocm_live() && rk_rocm.kernels ? new_queue(agent) : NULL;
	hsa_status rc;

	if (!q)
		return (for_guest ? create : rk_rocm.core.queue_create)(
			agent, size, type, error, data, private_bytes, group_bytes, ret);
	q->error = error;
	q->error_data = data;
	q->guests = for_guest;
	if (rk_rocm.guest) {
		q->flags = RK_RAW_DOUBTFUL;
		q->guests = true;
		if (!for_guest)
			create = rk_rocm.core.queue_create;
	}
	rc = create(agent, size, type, error ? on_error : NULL, q, private_bytes, group_bytes, ret);
	if (rc) {
		free_queue(q);
		if (for_guest)
			return rc;
		/* the program gets what it would have got without us */
		rc = rk_rocm.core.queue_create(agent, size, type, error, data, private_bytes,
					       group_bytes, ret);
		if (!rc)
			rk_rocm_say(&cannot_intercept,
				    "a queue of %u packets cannot be intercepted: its kernels are "
				    "not recorded",
				    size);
		return rc;
	}
	if (adopt(q, *ret) || for_guest)
		return 0; /* without our handler the record stays: the error function has its address */
	/* another tool's function made a plain queue: replace it */
	if (rk_rocm.core.queue_destroy(*ret))
		return 0;
	munmap(q->tags, ((size_t)q->mask + 1) * sizeof(*q->tags));
	q->tags = NULL;
	q->handle = NULL;
	q->flags = 0;
	rc = rk_rocm.amd.queue_intercept_create(agent, size, type, error ? on_error : NULL, q,
						private_bytes, group_bytes, ret);
	if (!rc && adopt(q, *ret))
		return 0;
	rk_rocm_say(&cannot_intercept,
		    "a queue of %u packets cannot be intercepted: its kernels are "
		    "not recorded",
		    size);
	if (rc)
		rc = rk_rocm.core.queue_create(agent, size, type, error ? on_error : NULL, q,
					       private_bytes, group_bytes, ret);
	return rc;
}

static hsa_status queue_create(uint64_t agent, uint32_t size, uint32_t type, hsa_queue_error error,
			       void *data, uint32_t private_bytes, uint32_t group_bytes,
			       struct hsa_queue **ret)
{
	return make_queue(agent, size, type, error, data, private_bytes, group_bytes, ret, false);
}

/* Tools that come after us make their queues with this: our handler is the nearest to the GPU. */
static hsa_status queue_intercept_create(uint64_t agent, uint32_t size, uint32_t type,
					 hsa_queue_error error, void *data, uint32_t private_bytes,
					 uint32_t group_bytes, struct hsa_queue **ret)
{
	return make_queue(agent, size, type, error, data, private_bytes, group_bytes, ret, true);
}

static hsa_status queue_intercept_register(struct hsa_queue *handle, hsa_packet_handler handler,
					   void *data)
{
	struct queue *q = rk_rocm_live() ? find(handle) : NULL;

	if (q)
		q->guests = true;
	return rk_rocm.amd.queue_intercept_register(handle, handler, data);
}

/* Without it there are no times. */
static hsa_status set_profiler_enabled(struct hsa_queue *handle, int on)
{
	if (!on && rk_rocm_live() && find(handle))
		return 0;
	return rk_rocm.amd.set_profiler_enabled(handle, on);
}

static hsa_status queue_destroy(struct hsa_queue *handle)
{
	struct queue *q = rk_rocm_live() ? find(handle) : NULL;
	hsa_status rc;
	bool left;

	if (!q)
		return rk_rocm.core.queue_destroy(handle);
	drain(q);
	pthread_mutex_lock(&lock);
	remove_handle(handle); /* another thread may get the same address for a new queue */
	pthread_mutex_unlock(&lock);
	rc = rk_rocm.core.queue_destroy(handle);
	pthread_mutex_lock(&lock);
	take_out(q, &left);
	for (struct queue **link = &queues; *link; link = &(*link)->next) {
		if (*link == q) {
			*link = q->next;
			break;
		}
	}
	pthread_mutex_unlock(&lock);
	if (!rc)
		free_queue(q);
	return rc;
}

/* ---- the end ---- */

void rk_rocm_queue_drain(void)
{
	drain(NULL);
	/* whoever holds the lock makes calls; from now on our thread does not */
	atomic_store(&closing, true);
	for (int i = 0; i < 1000; i++) {
		if (!pthread_mutex_trylock(&lock)) {
			pthread_mutex_unlock(&lock);
			break;
		}
		nap(50);
	}
	wake();
}

void rk_rocm_queue_close(void)
{
	pthread_mutex_lock(&lock);
	for (struct queue *q = queues; q; q = q->next) {
		/* what the GPU may still set stays */
		if (atomic_load(&q->head) == atomic_load(&q->tail))
			free_pages(q);
		remove_handle(q->handle);
	}
	queues = NULL; /* their handlers may be called until the runtime is down */
	pthread_mutex_unlock(&lock);
	rk_rocm_relay_close();
}

void rk_rocm_queue_hook(struct hsa_core *core, struct hsa_amd *amd)
{
	atomic_store(&closing, false);
	atomic_store(&stuck, false);
	core->queue_create = queue_create;
	core->queue_destroy = queue_destroy;
	core->add_write_index_scacq_screl = add_write_index_scacq_screl;
	core->add_write_index_scacquire = add_write_index_scacquire;
	core->add_write_index_relaxed = add_write_index_relaxed;
	core->add_write_index_screlease = add_write_index_screlease;
	amd->queue_intercept_create = queue_intercept_create;
	amd->queue_intercept_register = queue_intercept_register;
	amd->set_profiler_enabled = set_profiler_enabled;
}
