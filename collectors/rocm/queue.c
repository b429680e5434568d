/*
 * queue.c - queues: every dispatch from its submission to its times.
 *
 * ROCr calls on_packets() with new packets of a queue, on the thread that rang the doorbell and under
 * a lock of the queue. Each dispatch is recorded, gets a signal of ours and a place in the queue's
 * list (flight.c); the packets are passed on.
 *
 * Threads share hardware queues, and the one that rings the doorbell submits packets of others. So the
 * thread that takes a write index leaves its tag there: the HIP call that it is in.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "rocm.h"

#include "base/rkraw.h"

enum {
	QUEUE_SLOTS = 1 << 13,
	STREAM_SLOTS = 1 << 14,
	CACHED_SHAPES = 128,
	CACHED_STREAMS = 16,
	BATCH = 32, /* packets passed on together */
	KEY = 38,   /* bytes of a packet that make a shape: from `setup` to `kernel` */
};

struct tag {
	uint64_t index; /* the packet's, plus 1: others did not take their index from us */
	uint64_t correlation, stream, graph, node;
	uint32_t tid;
};

struct queue {
	struct hsa_queue *handle;
	const struct rk_rocm_device *device;
	uint32_t number, flags; /* flags of RAN */
	bool guests;            /* other tools add packets before they come to us */
	hsa_queue_error error;
	void *error_data;
	struct tag *tags;
	uint32_t mask, tag_mask;
	struct rk_rocm_order *order;
	struct rk_rocm_flight flight;

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
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* changes of `slots` */
static _Atomic uint32_t numbers;

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
	const struct tag *tag = &q->tags[index & q->tag_mask];
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
	if (!rk_rec_launch(&l))
		l.id = 0;
	if (p->signal) {
		struct rk_rocm_relay what = { .original = p->signal,
					      .agent = q->device->agent,
					      .submit_ns = now_ns,
					      .flags = q->flags,
					      .order = q->order,
					      .id = l.id };
		struct rk_rocm_relay *r;

		if (rk_rocm_relay_start(&what, &r)) {
			p->signal = r->signal;
			return;
		}
	} else {
		uint64_t signal = rk_rocm_flight_append(&q->flight, l.id, now_ns);

		if (signal) {
			p->signal = signal;
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
		rk_rocm_flight_publish(&q->flight);
		errno = before;
		writer(copy, n);
		from += n;
		count -= n;
	}
	rk_rocm_flight_wake();
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
		struct tag *t = &q->tags[i & q->tag_mask];

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
	if (!q->order || !rk_rocm_flight_init(&q->flight, device->agent)) {
		rk_rocm_order_put(q->order);
		free(q);
		return NULL;
	}
	return q;
}

static void free_queue(struct queue *q)
{
	rk_rocm_flight_free(&q->flight);
	rk_rocm_order_put(q->order);
	if (q->tags)
		munmap(q->tags, ((size_t)q->tag_mask + 1) * sizeof(*q->tags));
	free(q);
}

/* The queue exists: makes us see its packets. */
static bool adopt(struct queue *q, struct hsa_queue *handle)
{
	/* threads take indices before there is room: twice the ring, or they would overwrite tags */
	size_t bytes = 2 * (size_t)handle->size * sizeof(*q->tags);
	void *tags;

	tags = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (tags == MAP_FAILED)
		return false;
	q->tags = tags;
	q->mask = handle->size - 1;
	q->tag_mask = 2 * handle->size - 1;
	q->handle = handle;
	q->number = rk_rocm_queue_number();
	if (rk_rocm.amd.queue_intercept_register(handle, on_packets, q))
		return false;
	rk_rocm.amd.set_profiler_enabled(handle, 1);
	pthread_mutex_lock(&lock);
	add_handle(q);
	pthread_mutex_unlock(&lock);
	q->flight.flags = q->flags;
	rk_rocm_flight_begin(&q->flight);
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
	munmap(q->tags, ((size_t)q->tag_mask + 1) * sizeof(*q->tags));
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

	if (!q)
		return rk_rocm.core.queue_destroy(handle);
	rk_rocm_flight_drain(&q->flight);
	pthread_mutex_lock(&lock);
	remove_handle(handle); /* another thread may get the same address for a new queue */
	pthread_mutex_unlock(&lock);
	rc = rk_rocm.core.queue_destroy(handle);
	rk_rocm_flight_end(&q->flight);
	if (!rc)
		free_queue(q);
	return rc;
}

void rk_rocm_queue_close(void)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < QUEUE_SLOTS; i++)
		atomic_store(&slots[i].handle, 0);
	pthread_mutex_unlock(&lock);
}

void rk_rocm_queue_hook(struct hsa_core *core, struct hsa_amd *amd)
{
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
