/* cup_launch_abi.h - our declarations of CUPTI's callbacks around launches and contexts. */
#ifndef RK_CUP_LAUNCH_ABI_H
#define RK_CUP_LAUNCH_ABI_H

#include <stddef.h>
#include <stdint.h>

enum { CUPTI_SITE_ENTER = 0, CUPTI_SITE_EXIT = 1 };
enum { CUPTI_CALLS_OF_DRIVER = 1, CUPTI_CALLS_OF_RESOURCES = 3 };
enum { CUPTI_CONTEXT_CREATED = 1, CUPTI_CONTEXT_ENDS = 2 };

/* CUpti_CallbackData */
struct cupti_call {
	int site;
	const char *function;
	const void *parameters;
	void *result;       /* CUresult *, at the end of the call */
	const char *symbol; /* of the kernel, mangled */
	void *context;
	uint32_t context_number;
	uint64_t *data;
	uint32_t correlation;
};

/* CUpti_ResourceData */
struct cupti_resource {
	void *context;
	void *handle, *descriptor;
};

#endif
