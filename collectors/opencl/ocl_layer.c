/*
 * ocl_layer.c - see ocl.h: entry points for the loader, start and end, our thread, and records of
 * every call.
 *
 * On request every call is recorded, with its start and duration: each entry of ocl_entries.h has a
 * function, made by macros, that takes the time before and after the call to the layer below.
 */
#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ocl.h"

typedef void(CL_CALLBACK *rk_cl_context_fn)(const char *, const void *, size_t, void *);
typedef void(CL_CALLBACK *rk_cl_context_end_fn)(cl_context, void *);
typedef void(CL_CALLBACK *rk_cl_program_fn)(cl_program, void *);
typedef void(CL_CALLBACK *rk_cl_event_fn)(cl_event, cl_int, void *);
typedef void(CL_CALLBACK *rk_cl_mem_fn)(cl_mem, void *);
typedef void(CL_CALLBACK *rk_cl_native_fn)(void *);
typedef void(CL_CALLBACK *rk_cl_svm_fn)(cl_command_queue, cl_uint, void **, void *);

/* The command that the current call has enqueued; calls made in a callback are nested in another call. */
static _Thread_local uint64_t enqueued;

void rk_ocl_api_note(uint64_t correlation)
{
	enqueued = correlation;
}

struct call {
	int64_t start_ns;
	uint64_t outer;
};

static struct call begin(void)
{
	struct call c = { rk_rec_now(), enqueued };

	enqueued = 0;
	return c;
}

/* The name's id is looked up once: each call site has its own `id`. */
static void end(const struct call *c, _Atomic uint32_t *id, const char *name, size_t len)
{
	int64_t duration_ns = rk_rec_now() - c->start_ns;
	uint32_t known = atomic_load_explicit(id, memory_order_relaxed);

	if (!known) {
		known = rk_rec_string(name, len);
		atomic_store_explicit(id, known, memory_order_relaxed);
	}
	rk_rec_api(known, c->start_ns, duration_ns, enqueued);
	enqueued = c->outer;
}

#define DEFINE(ret, name, params, args)                     \
	static ret CL_API_CALL api_##name params            \
	{                                                   \
		static _Atomic uint32_t id;                 \
		struct call call_ = begin();                \
		ret ret_ = rk_ocl.inner.name args;          \
                                                            \
		end(&call_, &id, #name, sizeof(#name) - 1); \
		return ret_;                                \
	}

/* clang-format off */
#define F(n, ...) F##n(__VA_ARGS__)
#define F0(r, f) DEFINE(r, f, (void), ())
#define F1(r, f, A) DEFINE(r, f, (A a), (a))
#define F2(r, f, A, B) DEFINE(r, f, (A a, B b), (a, b))
#define F3(r, f, A, B, C) DEFINE(r, f, (A a, B b, C c), (a, b, c))
#define F4(r, f, A, B, C, D) DEFINE(r, f, (A a, B b, C c, D d), (a, b, c, d))
#define F5(r, f, A, B, C, D, E) DEFINE(r, f, (A a, B b, C c, D d, E e), (a, b, c, d, e))
#define F6(r, f, A, B, C, D, E, G) \
	DEFINE(r, f, (A a, B b, C c, D d, E e, G g), (a, b, c, d, e, g))
#define F7(r, f, A, B, C, D, E, G, H) \
	DEFINE(r, f, (A a, B b, C c, D d, E e, G g, H h), (a, b, c, d, e, g, h))
#define F8(r, f, A, B, C, D, E, G, H, I) \
	DEFINE(r, f, (A a, B b, C c, D d, E e, G g, H h, I i), (a, b, c, d, e, g, h, i))
#define F9(r, f, A, B, C, D, E, G, H, I, J) \
	DEFINE(r, f, (A a, B b, C c, D d, E e, G g, H h, I i, J j), (a, b, c, d, e, g, h, i, j))
#define F10(r, f, A, B, C, D, E, G, H, I, J, K) \
	DEFINE(r, f, (A a, B b, C c, D d, E e, G g, H h, I i, J j, K k), \
	       (a, b, c, d, e, g, h, i, j, k))
#define F11(r, f, A, B, C, D, E, G, H, I, J, K, L) \
	DEFINE(r, f, (A a, B b, C c, D d, E e, G g, H h, I i, J j, K k, L l), \
	       (a, b, c, d, e, g, h, i, j, k, l))
#define F12(r, f, A, B, C, D, E, G, H, I, J, K, L, M) \
	DEFINE(r, f, (A a, B b, C c, D d, E e, G g, H h, I i, J j, K k, L l, M m), \
	       (a, b, c, d, e, g, h, i, j, k, l, m))
#define F13(r, f, A, B, C, D, E, G, H, I, J, K, L, M, N) \
	DEFINE(r, f, (A a, B b, C c, D d, E e, G g, H h, I i, J j, K k, L l, M m, N n), \
	       (a, b, c, d, e, g, h, i, j, k, l, m, n))
#define F14(r, f, A, B, C, D, E, G, H, I, J, K, L, M, N, O) \
	DEFINE(r, f, (A a, B b, C c, D d, E e, G g, H h, I i, J j, K k, L l, M m, N n, O o), \
	       (a, b, c, d, e, g, h, i, j, k, l, m, n, o))
/* clang-format on */
#include "ocl_entries.h"
#undef F

static void CL_API_CALL api_clSVMFree(cl_context context, void *pointer)
{
	static _Atomic uint32_t id;
	struct call c = begin();

	rk_ocl.inner.clSVMFree(context, pointer);
	end(&c, &id, "clSVMFree", sizeof("clSVMFree") - 1);
}

static void ocl_api_wrap(cl_icd_dispatch *d)
{
#define SET(name, ...) d->name = api_##name;
#define F(n, ret, ...) SET(__VA_ARGS__, 0)
#include "ocl_entries.h"
#undef F
	d->clSVMFree = api_clSVMFree;
}

/*
 * A thread that records for programs that never wait, so that ended commands are in the file soon,
 * however the program ends.
 */

#define NS_PER_MS 1000000L
#define PERIOD_MS 10 /* while commands are running, */
#define IDLE_MS 100  /* and otherwise */
#define STACK_BYTES (512u << 10)

enum { NOT_STARTED, STARTED, STOPPING };

static _Atomic uint32_t state;
static _Atomic bool at_work;

static void *helper(void *unused)
{
	bool more;

	(void)unused;
	while (atomic_load(&state) == STARTED) {
		long ms = rk_ocl_under_way() ? PERIOD_MS : IDLE_MS;
		struct timespec t = { .tv_nsec = ms * NS_PER_MS };

		/* Sleeps, but wakes up when the state changes. */
		syscall(SYS_futex, &state, FUTEX_WAIT_PRIVATE, STARTED, &t, NULL, 0);
		do {
			more = false;
			atomic_store(&at_work, true);
			/* Checked again: the program does not start to end while we work. */
			if (atomic_load(&state) == STARTED) {
				more = rk_ocl_harvest_piece();
				rk_ocl_device_calibrate_all(false);
			}
			atomic_store(&at_work, false);
		} while (more);
	}
	return NULL;
}

void rk_ocl_helper_start(void)
{
	uint32_t expected = NOT_STARTED;
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, before;

	if (rk_ocl.count_only || rk_ocl.alone ||
	    !atomic_compare_exchange_strong(&state, &expected, STARTED) || pthread_attr_init(&attr))
		return;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	/* Signals must go to the application's threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&thread, &attr, helper, NULL) == 0)
		pthread_setname_np(thread, "rockit");
	else
		atomic_store(&state, NOT_STARTED);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
}

/* ---- entry points for the loader, start and end ---- */
/*
 * The two functions that a loader looks up are the only exported symbols. If recording is
 * impossible, the loader gets an empty table and the program runs as if the layer were not there.
 */

#define SHOWN __attribute__((visibility("default")))
#define ENTRIES (sizeof(cl_icd_dispatch) / sizeof(void *))

struct rk_ocl rk_ocl;

/* The table for the loader: our functions where we have one, else the function below. */
static cl_icd_dispatch given, nothing;
static _Atomic bool in_use;

SHOWN cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t cap, void *to, size_t *ret_bytes)
{
	static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
	static const char name[] = "rockit";
	const void *value = what == CL_LAYER_NAME ? (const void *)name : (const void *)&version;
	size_t bytes = what == CL_LAYER_NAME ? sizeof(name) : sizeof(version);

	if ((what != CL_LAYER_NAME && what != CL_LAYER_API_VERSION) || (to && cap < bytes))
		return CL_INVALID_VALUE;
	if (to)
		memcpy(to, value, bytes);
	if (ret_bytes)
		*ret_bytes = bytes;
	return CL_SUCCESS;
}

/* ---- the table ---- */

static void *entry(const cl_icd_dispatch *d, size_t i)
{
	void *f;

	memcpy(&f, (const char *)d + i * sizeof(f), sizeof(f));
	return f;
}

/* Installs our functions, except where the target has none: there would be nothing to forward to. */
static void lay_over(cl_icd_dispatch *d, const cl_icd_dispatch *ours)
{
	for (size_t i = 0; i < ENTRIES; i++) {
		void *f = entry(ours, i);

		if (f && entry(&rk_ocl.target, i))
			memcpy((char *)d + i * sizeof(f), &f, sizeof(f));
	}
}

/* ---- beginning and end ---- */

static void at_end(void)
{
	struct timespec t = { .tv_nsec = NS_PER_MS };

	atomic_store(&state, STOPPING);
	syscall(SYS_futex, &state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	/* The thread's work is short; if it hangs in the runtime, the program ends without it. */
	for (int i = 0; i < 1000 && atomic_load(&at_work); i++)
		nanosleep(&t, NULL);
	rk_ocl_harvest_queues();
	rk_ocl_device_calibrate_all(true);
	rk_rec_end();
}

static void forked(void)
{
	rk_ocl_pending_forked();
	rk_ocl_device_forked();
	atomic_store(&at_work, false);
	atomic_store(&state, NOT_STARTED);
}

static bool start(const cl_icd_dispatch *target, size_t n)
{
	cl_icd_dispatch ours = { 0 }, calls = { 0 };
	void *f = entry(target, 0);
	Dl_info info;

	memcpy(&rk_ocl.target, target, n * sizeof(void *));
	if (!rk_rec_start("opencl") || !rk_ocl_pending_init())
		return false;
	rk_ocl.api = rk_rec_flag("api", false);
	rk_ocl.count_only = rk_rec_flag("count", false);
	rk_ocl.alone = !rk_rec_flag("thread", true);
	/*
	 * Our thread and the exit handler may call the loader's functions at any time: the loader
	 * must stay loaded, even when the application unloads it.
	 */
	if (f && dladdr(f, &info) && info.dli_fname)
		dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);

	rk_ocl_queue_wrap(&ours);
	rk_ocl_kernel_wrap(&ours);
	rk_ocl_command_wrap(&ours);
	rk_ocl_copy_wrap(&ours);
	rk_ocl_build_wrap(&ours);
	rk_ocl.inner = rk_ocl.target;
	lay_over(&rk_ocl.inner, &ours);
	lay_over(&given, &ours);
	if (rk_ocl.api) {
		ocl_api_wrap(&calls);
		lay_over(&given, &calls);
	}
	return pthread_atfork(NULL, NULL, forked) == 0 && atexit(at_end) == 0;
}

SHOWN cl_int CL_API_CALL clInitLayer(cl_uint n, const cl_icd_dispatch *target, cl_uint *ret_n,
				     const cl_icd_dispatch **ret)
{
	if (!target || !ret_n || !ret || n == 0)
		return CL_INVALID_VALUE;
	/* Listed twice, or by a second loader in the process: only the first counts. */
	if (atomic_exchange(&in_use, true) || !start(target, n < ENTRIES ? n : ENTRIES))
		*ret = &nothing;
	else
		*ret = &given;
	*ret_n = (cl_uint)(n < ENTRIES ? n : ENTRIES);
	return CL_SUCCESS;
}
