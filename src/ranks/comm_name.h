/*
 * comm_name.h - which kernels and calls communicate, by their names.
 *
 * Kernels of NCCL and RCCL (all releases), MSCCL, the symmetric-memory kernels of NCCL and PyTorch, the
 * all-reduces of vLLM, SGLang, aiter and TensorRT-LLM; functions of NCCL, RCCL and MPI. Doubtful names
 * do not count as communication. A library may run other operations in the kernel it names (grouped calls
 * do), so check times against each other before you draw conclusions.
 */
#ifndef RK_COMM_NAME_H
#define RK_COMM_NAME_H

#include <stdbool.h>
#include <stddef.h>

enum rk_comm_kind {
	RK_COMM_NOT,    /* no communication */
	RK_COMM_ALL,    /* nobody leaves before everybody arrives */
	RK_COMM_ROOTED, /* of all ranks, but some may leave before others arrive */
	RK_COMM_PAIR,   /* send, receive */
	RK_COMM_ANY,    /* the name does not say which of them */
};

struct rk_comm {
	enum rk_comm_kind kind;
	bool host;      /* a function, not a kernel */
	bool queued;    /* a function that returns before it is done */
	const char *op; /* "AllReduce", as the library spells it; static, "" when NOT */
};

/* Of a kernel or function; demangled or not, with or without parameters. Any bytes are fine. */
struct rk_comm rk_comm_of(const char *name, size_t len);

/*
 * The operation and what the name adds: "AllReduce Sum f32 RING LL". Terminated, cut when it does not
 * fit; "" when it is not communication.
 */
void rk_comm_label(const char *name, size_t len, char *text, size_t size);

/* A function that waits for all work on its device: hipDeviceSynchronize, ... */
bool rk_comm_is_wait(const char *name, size_t len);

#endif
