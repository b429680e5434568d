/*
 * ocl_layer.c - see ocl.h: what the loader calls, and the beginning and end of everything.
 *
 * The two functions a loader looks for are the only symbols this library shows. Where there is
 * nothing to record to, the loader gets a table without entries and the program runs as if the
 * layer were not there.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ocl.h"

#define SHOWN __attribute__((visibility("default")))
#define ENTRIES (sizeof(cl_icd_dispatch) / sizeof(void *))

struct rk_ocl rk_ocl;

/* What the loader is given: ours where there is something of ours, else what is below. */
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

static void set_entry(cl_icd_dispatch *d, size_t i, void *f)
{
	memcpy((char *)d + i * sizeof(f), &f, sizeof(f));
}

/* Ours over what is there; but not what the target lacks: it would be called with nothing below. */
static void lay_over(cl_icd_dispatch *d, const cl_icd_dispatch *ours)
{
	for (size_t i = 0; i < ENTRIES; i++) {
		if (entry(ours, i) && entry(&rk_ocl.target, i))
			set_entry(d, i, entry(ours, i));
	}
}

static void make_tables(void)
{
	cl_icd_dispatch ours = { 0 }, calls = { 0 };

	rk_ocl_queue_wrap(&ours);
	rk_ocl_kernel_wrap(&ours);
	rk_ocl_command_wrap(&ours);
	rk_ocl_copy_wrap(&ours);
	rk_ocl_build_wrap(&ours);
	rk_ocl.inner = rk_ocl.target;
	lay_over(&rk_ocl.inner, &ours);
	lay_over(&given, &ours);
	if (rk_ocl.api) {
		rk_ocl_api_wrap(&calls);
		lay_over(&given, &calls);
	}
}

/* ---- beginning and end ---- */

/*
 * Our thread and the end of the program call the loader's functions whenever they like: the loader
 * must stay where it is, even when the application lets go of it.
 */
static void hold_loader(const cl_icd_dispatch *target)
{
	Dl_info info;
	void *f = entry(target, 0);

	if (f && dladdr(f, &info) && info.dli_fname)
		dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

static void at_end(void)
{
	rk_ocl_helper_stop();
	rk_ocl_harvest_queues();
	rk_ocl_device_calibrate_all(true);
	rk_rec_end();
}

static void forked(void)
{
	rk_ocl_pending_forked();
	rk_ocl_device_forked();
	rk_ocl_helper_forked();
}

static bool start(const cl_icd_dispatch *target, size_t n)
{
	memcpy(&rk_ocl.target, target, n * sizeof(void *));
	if (!rk_rec_start("opencl") || !rk_ocl_pending_init())
		return false;
	rk_ocl.api = rk_rec_flag("api", false);
	rk_ocl.count_only = rk_rec_flag("count", false);
	rk_ocl.alone = !rk_rec_flag("thread", true);
	hold_loader(target);
	make_tables();
	return pthread_atfork(NULL, NULL, forked) == 0 && atexit(at_end) == 0;
}

SHOWN cl_int CL_API_CALL clInitLayer(cl_uint n, const cl_icd_dispatch *target, cl_uint *ret_n,
				     const cl_icd_dispatch **ret)
{
	if (!target || !ret_n || !ret || n == 0)
		return CL_INVALID_VALUE;
	/* Named twice, or by a second loader in the process: the first one counts. */
	if (atomic_exchange(&in_use, true) || !start(target, n < ENTRIES ? n : ENTRIES))
		*ret = &nothing;
	else
		*ret = &given;
	*ret_n = (cl_uint)(n < ENTRIES ? n : ENTRIES);
	return CL_SUCCESS;
}
