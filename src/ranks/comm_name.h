/*
 * comm_name.h - recognise kernels and calls that communicate by their names.
 *
 * Known are kernels of NCCL and RCCL (all releases), MSCCL, the symmetric-memory kernels of NCCL
 * and PyTorch, the all-reduces of vLLM, SGLang, aiter and TensorRT-LLM; functions of NCCL, RCCL and
 * MPI. Doubtful names do not count as communication. A library may run other operations in the
 * kernel it names (grouped calls do), so check times against each other before you draw
 * conclusions.
 */
#ifndef RK_COMM_NAME_H
#define RK_COMM_NAME_H

#include <stdbool.h>
#include <stddef.h>

enum rk_comm_kind {
	RK_COMM_NOT,    /* no communication */
	RK_COMM_ALL,    /* no rank leaves before all arrive */
	RK_COMM_ROOTED, /* needs all ranks, but some may leave before others arrive */
	RK_COMM_PAIR,   /* send, receive */
	RK_COMM_ANY,    /* the name does not say which of these */
};

struct rk_comm {
	enum rk_comm_kind kind;
	bool host;      /* a function, not a kernel */
	bool queued;    /* a function that returns before the operation is done */
	const char *op; /* "AllReduce", as the library spells it; static; "" if NOT */
};

/*
 * Classifies the name of a kernel or function: demangled or not, with or without parameters. Any
 * bytes are fine.
 */
struct rk_comm rk_comm_of(const char *name, size_t len);

/*
 * The operation and the details in the name: "AllReduce Sum f32 RING LL". NUL-terminated, truncated
 * if it does not fit; "" if it is not communication.
 */
void rk_comm_label(const char *name, size_t len, char *text, size_t size);

/*
 * Classifies a collective by the name that the framework gives it: "allreduce", "_allgather_base",
 * "all_to_allv", "wait". An unknown name is RK_COMM_ANY, with `op` "Collective".
 */
struct rk_comm rk_comm_of_collective(const char *name, size_t len);

/* Is it a function that waits for all work on its device (hipDeviceSynchronize, ...)? */
bool rk_comm_is_wait(const char *name, size_t len);

#endif
