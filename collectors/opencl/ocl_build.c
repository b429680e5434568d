/*
 * ocl_build.c - see ocl.h: how long programs are compiled. What a runtime compiles later, at the
 * first launch (PoCL does), lies between a launch's submission and its start and needs no record.
 */
#include <stdlib.h>
#include <string.h>

#include "ocl.h"

#define NAME_BYTES 512

typedef void(CL_CALLBACK *notify_fn)(cl_program, void *);

/* A build that goes on when the call has returned: ends by a call of the application's function. */
struct build {
	notify_fn notify;
	void *user;
	int64_t start_ns;
};

/* What was built: the names of its kernels, as far as there is room, or just "program". */
static uint32_t name_of(cl_program program)
{
	char text[NAME_BYTES] = "program ";
	size_t have = strlen(text), len = 0;

	if (!program ||
	    rk_ocl.target.clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, 0, NULL, &len) !=
		    CL_SUCCESS ||
	    len < 2 || len > NAME_BYTES - have ||
	    rk_ocl.target.clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, len, text + have,
					   NULL) != CL_SUCCESS)
		return RK_OCL_STRING("program");
	return rk_rec_string(text, have + len - 1);
}

static void record(cl_program program, int64_t start_ns)
{
	int64_t duration_ns = rk_rec_now() - start_ns;

	rk_rec_build(name_of(program), 0, start_ns, duration_ns);
}

static void CL_CALLBACK notified(cl_program program, void *user)
{
	struct build *b = user;
	struct build copy = *b;

	free(b);
	record(program, copy.start_ns);
	copy.notify(program, copy.user);
}

/*
 * Puts our function in front of the application's. Without memory for it the application's stays,
 * and the build is recorded as long as the call took.
 */
static struct build *begin(notify_fn *notify, void **user)
{
	struct build *b = *notify ? malloc(sizeof(*b)) : NULL;

	if (!b)
		return NULL;
	*b = (struct build){ *notify, *user, rk_rec_now() };
	*notify = notified;
	*user = b;
	return b;
}

static cl_int CL_API_CALL build_program(cl_program program, cl_uint n, const cl_device_id *devices,
					const char *options, notify_fn notify, void *user)
{
	int64_t start_ns = rk_rec_now();
	struct build *b = begin(&notify, &user);
	cl_int rc = rk_ocl.target.clBuildProgram(program, n, devices, options, notify, user);

	if (!b)
		record(program, start_ns);
	/* After a refusal `b` is left alone: whether the function is still called nobody says. */
	return rc;
}

static cl_int CL_API_CALL compile_program(cl_program program, cl_uint n,
					  const cl_device_id *devices, const char *options,
					  cl_uint nheaders, const cl_program *headers,
					  const char **names, notify_fn notify, void *user)
{
	int64_t start_ns = rk_rec_now();
	struct build *b = begin(&notify, &user);
	cl_int rc = rk_ocl.target.clCompileProgram(program, n, devices, options, nheaders, headers,
						   names, notify, user);

	if (!b)
		record(program, start_ns);
	return rc;
}

static cl_program CL_API_CALL link_program(cl_context context, cl_uint n,
					   const cl_device_id *devices, const char *options,
					   cl_uint nprograms, const cl_program *programs,
					   notify_fn notify, void *user, cl_int *ret)
{
	int64_t start_ns = rk_rec_now();
	struct build *b = begin(&notify, &user);
	cl_program program = rk_ocl.target.clLinkProgram(context, n, devices, options, nprograms,
							 programs, notify, user, ret);

	if (!b)
		record(program, start_ns);
	return program;
}

void rk_ocl_build_wrap(cl_icd_dispatch *d)
{
	d->clBuildProgram = build_program;
	d->clCompileProgram = compile_program;
	d->clLinkProgram = link_program;
}
