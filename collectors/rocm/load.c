/*
 * load.c - see rocm.h: the entry points that ROCr calls, start and end.
 *
 * Whatever goes wrong here, ROCr starts as usual, and what is not recorded is a message in the file.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rocm.h"

struct rk_rocm rk_rocm;
_Thread_local struct rk_rocm_call rk_rocm_call;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* OnLoad and shut_down */
static unsigned inits; /* calls of hsa_init() without their hsa_shut_down() */
static atomic_bool child, off;
static atomic_bool too_new, too_old, not_first;

RK_ROCM_SHOWN bool OnLoad(struct hsa_tables *tables, uint64_t version, uint64_t nfailed,
			  const char *const *failed);
RK_ROCM_SHOWN void OnUnload(void);
/* Preloaded tools are loaded in the order of this number. */
RK_ROCM_SHOWN extern const uint32_t HSA_AMD_TOOL_PRIORITY;
const uint32_t HSA_AMD_TOOL_PRIORITY = 1;

bool rk_rocm_off(void)
{
	return atomic_load_explicit(&off, memory_order_relaxed) ||
	       atomic_load_explicit(&child, memory_order_relaxed);
}

void rk_rocm_say(atomic_bool *said, const char *format, ...)
{
	char line[512];
	va_list args;

	if (atomic_exchange(said, true))
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	rk_rec_note(line, strlen(line));
}

/* ---- end ---- */

static void at_end(void)
{
	int before = errno;

	if (!rk_rocm_off() && rk_rocm_live()) {
		rk_rocm_flight_stop();
		rk_rocm_device_calibrate();
	}
	if (!rk_rocm_off()) {
		rk_rocm_hip_close();
		rk_rec_end();
	}
	errno = before;
}

/* ROCr that was initialised before a fork does not work in the child: there is nothing to record. */
static void forked(void)
{
	atomic_store(&child, true);
	atomic_store(&rk_rocm.live, false);
}

static hsa_status init(void)
{
	hsa_status rc = rk_rocm.core.init();

	if (!rc && !rk_rocm_off()) {
		pthread_mutex_lock(&lock);
		inits++;
		pthread_mutex_unlock(&lock);
	}
	return rc;
}

static void close_all(void)
{
	rk_rocm_flight_stop();
	rk_rocm_device_calibrate();
	atomic_store(&rk_rocm.live, false);
	rk_rocm_flight_close();
	rk_rocm_relay_close();
	rk_rocm_queue_close();
	rk_rocm_code_forget();
	rk_rocm_device_forget();
}

static hsa_status shut_down(void)
{
	int before = errno;

	if (!rk_rocm_off()) {
		pthread_mutex_lock(&lock);
		if (inits && --inits == 0 && rk_rocm_live())
			close_all();
		pthread_mutex_unlock(&lock);
	}
	errno = before;
	return rk_rocm.core.shut_down();
}

RK_ROCM_SHOWN void OnUnload(void)
{
	/* inside the last hsa_shut_down(): signals are not destroyed any more */
	atomic_store(&rk_rocm.live, false);
}

/* ---- start ---- */

/* Whether the function that a table has there is ROCr's own. */
static bool is_original(const void *entry)
{
	const char *name;
	Dl_info info;
	void *f;

	memcpy(&f, entry, sizeof(f));
	if (!dladdr(f, &info) || !info.dli_fname)
		return true;
	name = strrchr(info.dli_fname, '/');
	return strstr(name ? name : info.dli_fname, "libhsa-runtime64") != NULL;
}

static bool fits(const struct hsa_tables *t)
{
	if (t->version.major > HSA_TABLES_MAJOR || t->core->version.major > HSA_MAJOR ||
	    t->amd->version.major > HSA_MAJOR) {
		rk_rocm_say(&too_new,
			    "this ROCr's tables have version %u.%u.%u, known is %d.%d.%d: "
			    "nothing is recorded",
			    t->version.major, t->core->version.major, t->amd->version.major,
			    HSA_TABLES_MAJOR, HSA_MAJOR, HSA_MAJOR);
		return false;
	}
	if (t->version.major < HSA_TABLES_MAJOR || t->core->version.major < HSA_MAJOR ||
	    t->amd->version.major < HSA_MAJOR ||
	    !HSA_HAS(t->core, executable_iterate_agent_symbols) ||
	    !HSA_HAS(t->amd, memory_async_copy_rect)) {
		rk_rocm_say(&too_old,
			    "this ROCr is too old (tables of %u and %u bytes): nothing is "
			    "recorded",
			    t->core->version.minor, t->amd->version.minor);
		return false;
	}
	return true;
}

static void copy_table(void *to, size_t bytes, const void *from, uint32_t has)
{
	memset(to, 0, bytes);
	memcpy(to, from, has < bytes ? has : bytes);
}

static void start(struct hsa_tables *t)
{
	static bool once;

	if (!rk_rec_start("rocm") || !fits(t) ||
	    (!once && (pthread_atfork(NULL, NULL, forked) || atexit(at_end)))) {
		atomic_store(&off, true);
		return;
	}
	once = true;
	copy_table(&rk_rocm.core, sizeof(rk_rocm.core), t->core, t->core->version.minor);
	copy_table(&rk_rocm.amd, sizeof(rk_rocm.amd), t->amd, t->amd->version.minor);
	rk_rocm.kernels = rk_rec_flag("kernels", true);
	rk_rocm.allocations = rk_rec_flag("alloc", false);
	rk_rocm.guest = !is_original(&t->core->queue_create) ||
			!is_original(&t->amd->queue_intercept_create);
	if (rk_rocm.guest)
		rk_rocm_say(
			&not_first,
			"another tool was loaded before rockit: times of kernels "
			"come through its signals and may be wrong; put librockit-rocm.so first "
			"in HSA_TOOLS_LIB");
	inits = 1;
	atomic_store_explicit(&rk_rocm.live, true, memory_order_release);
	t->core->init = init;
	t->core->shut_down = shut_down;
	rk_rocm_flight_open();
	rk_rocm_queue_hook(t->core, t->amd);
	rk_rocm_code_hook(t->core);
	rk_rocm_copy_hook(t->amd);
	rk_rocm_hip_open();
}

RK_ROCM_SHOWN bool OnLoad(struct hsa_tables *tables, uint64_t version, uint64_t nfailed,
			  const char *const *failed)
{
	int before = errno;

	(void)version;
	(void)nfailed;
	(void)failed;
	/* after hsa_shut_down() ROCr may be started again; a second copy of ROCr is left alone */
	if (!rk_rocm_off() && !rk_rocm_live() && tables && tables->core && tables->amd)
		start(tables);
	errno = before;
	return true;
}

__attribute__((constructor)) static void loaded(void)
{
	rk_rocm_hip_open();
}
