/*
 * nvtx_abi.h - our declarations of the parts of NVTX that we use.
 *
 * NVTX is a header, so a process may have several copies of it. Each copy loads
 * NVTX_INJECTION64_PATH at its first use and calls InitializeInjectionNvtx2() with a function that
 * returns its tables of function pointers, where an injected library puts its own functions.
 * tests/sim/cupti_layout.py compares all of it with NVIDIA's headers.
 */
#ifndef RK_NVTX_ABI_H
#define RK_NVTX_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

enum { NVTX_TABLE_CALLBACKS = 1 };
enum { NVTX_MODULE_CORE = 1, NVTX_MODULE_CORE2 = 5 };

enum {
	NVTX_MARK_EX = 1,
	NVTX_MARK_A,
	NVTX_MARK_W,
	NVTX_START_EX,
	NVTX_START_A,
	NVTX_START_W,
	NVTX_END,
	NVTX_PUSH_EX,
	NVTX_PUSH_A,
	NVTX_PUSH_W,
	NVTX_POP,
};

enum {
	NVTX_DOMAIN_MARK_EX = 1,
	NVTX_DOMAIN_START_EX,
	NVTX_DOMAIN_END,
	NVTX_DOMAIN_PUSH_EX,
	NVTX_DOMAIN_POP,
	NVTX_REGISTER_STRING_A = 10,
	NVTX_REGISTER_STRING_W,
	NVTX_DOMAIN_CREATE_A,
	NVTX_DOMAIN_CREATE_W,
	NVTX_DOMAIN_DESTROY,
};

enum { NVTX_MESSAGE_ASCII = 1, NVTX_MESSAGE_UNICODE = 2, NVTX_MESSAGE_REGISTERED = 3 };
#define NVTX_NO_TRACKING (-2) /* returned by push and pop if there is no level */

struct nvtx_attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type;
	union {
		const char *ascii;
		const wchar_t *unicode;
		const void *registered;
	} message;
};

typedef void nvtx_function(void);

struct nvtx_callbacks {
	size_t bytes;
	/* *table[i] is the slot for function i */
	int (*module_table)(int module, nvtx_function ****table, unsigned *size);
};

typedef const void *nvtx_get_table(uint32_t id);

#endif
