/*
 * gen_workload.h - an invented program on two GPUs: which kernels and copies run when.
 *
 * The same seed gives the same events on every machine. Kernel starts never go back, kernels of
 * one stream never overlap, dispatch and correlation ids only grow.
 */
#ifndef GEN_WORKLOAD_H
#define GEN_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

enum {
	GEN_KERNELS = 59,
	GEN_GPUS = 2,
	GEN_STREAMS = 8, /* of all GPUs together */
	GEN_MODEL = 600, /* kernels of one training step */
	GEN_PHASES = 3,  /* of a step */
	GEN_PID = 1955595,
	GEN_PPID = 1955571,
};

#define GEN_HOST "gpu-node-017"
#define GEN_FIRST_GPU 4 /* node id of the first GPU; those below are CPUs */
#define GEN_START_NS INT64_C(1392205578813553)

struct gen_kernel {
	const char *name;
	uint32_t mean_ns, weight;
	uint32_t block[3], grid[3]; /* grid in work-items */
	uint32_t vgpr, accum_vgpr, sgpr, lds, scratch;
};

extern const struct gen_kernel gen_kernels[GEN_KERNELS];

struct gen_event {
	bool is_copy;
	unsigned kernel; /* index into gen_kernels */
	unsigned agent;  /* node id of the GPU */
	unsigned queue, stream;
	unsigned tid;
	uint64_t dispatch_id, correlation_id; /* dispatch_id 0 for a copy */
	int64_t start_ns, end_ns;
	int64_t call_start_ns, call_end_ns; /* the API call that caused it */
	uint32_t grid[3];
	uint64_t bytes; /* copies */
	bool to_device;
	uint64_t phase; /* forward, backward, optimizer, forward, ...: from 0 */
};

struct gen_workload {
	uint64_t state, rows, done, correlation_id;
	unsigned model[GEN_MODEL];
	int64_t free_ns[GEN_STREAMS]; /* when the stream takes its next kernel */
};

void gen_start(struct gen_workload *w, uint64_t seed, uint64_t rows);
/* False after `rows` kernels. */
bool gen_next(struct gen_workload *w, struct gen_event *ret);
uint64_t gen_random(uint64_t *state);

#endif
