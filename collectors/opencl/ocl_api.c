/*
 * ocl_api.c - see ocl.h: on request every call is recorded, with its start and how long it took.
 *
 * A function for each entry of ocl_entries.h, made by macros: the time before, the call of what
 * would be called without this file, the time after.
 */
#include "ocl.h"

typedef void(CL_CALLBACK *rk_cl_context_fn)(const char *, const void *, size_t, void *);
typedef void(CL_CALLBACK *rk_cl_context_end_fn)(cl_context, void *);
typedef void(CL_CALLBACK *rk_cl_program_fn)(cl_program, void *);
typedef void(CL_CALLBACK *rk_cl_event_fn)(cl_event, cl_int, void *);
typedef void(CL_CALLBACK *rk_cl_mem_fn)(cl_mem, void *);
typedef void(CL_CALLBACK *rk_cl_native_fn)(void *);
typedef void(CL_CALLBACK *rk_cl_svm_fn)(cl_command_queue, cl_uint, void **, void *);

/* The command that the call under way has enqueued; a callback's calls lie inside another's. */
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

/* The name's id is asked for once: `id` is the call's own. */
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

void rk_ocl_api_wrap(cl_icd_dispatch *d)
{
#define SET(name, ...) d->name = api_##name;
#define F(n, ret, ...) SET(__VA_ARGS__, 0)
#include "ocl_entries.h"
#undef F
	d->clSVMFree = api_clSVMFree;
}
