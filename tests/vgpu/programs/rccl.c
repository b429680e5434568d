/*
 * rccl.c - collectives of librccl between all GPUs of the process, as data parallel training does them.
 *
 * usage: rccl [ROUNDS]   prints how many calls of RCCL it made
 */
#include "hip.h"

/* as in rccl.h, which is in no package that the tests fetch */
int ncclCommInitAll(void **comms, int n, const int *devices);
int ncclCommDestroy(void *comm);
int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclAllReduce(const void *, void *, size_t, int type, int op, void *comm, hipStream_t);
int ncclBroadcast(const void *, void *, size_t, int type, int root, void *comm, hipStream_t);
int ncclSend(const void *, size_t, int type, int peer, void *comm, hipStream_t);
int ncclRecv(void *, size_t, int type, int peer, void *comm, hipStream_t);

enum { FLOAT32 = 7, FLOAT64 = 8, UINT8 = 1, GPUS = 8 };

static unsigned calls;

#define GOOD(call)                                                     \
	do {                                                           \
		int rc_ = (call);                                      \
                                                                       \
		calls++;                                               \
		if (rc_) {                                             \
			fprintf(stderr, "%s: error %d\n", #call, rc_); \
			exit(3);                                       \
		}                                                      \
	} while (0)

int main(int argc, char **argv)
{
	unsigned rounds = number(argc, argv, 1, 2);
	hipStream_t stream[GPUS];
	void *comm[GPUS], *p[GPUS];
	int gpus;

	MUST(hipGetDeviceCount(&gpus));
	if (gpus > GPUS)
		return 2;
	GOOD(ncclCommInitAll(comm, gpus, NULL));
	for (int i = 0; i < gpus; i++) {
		MUST(hipSetDevice(i));
		MUST(hipMalloc(&p[i], 1 << 20));
		MUST(hipStreamCreate(&stream[i]));
	}
	for (unsigned round = 0; round < rounds; round++) {
		GOOD(ncclGroupStart());
		for (int i = 0; i < gpus; i++)
			GOOD(ncclAllReduce(p[i], p[i], 1000 + round, FLOAT32, 0, comm[i],
					   stream[i]));
		GOOD(ncclGroupEnd());
		GOOD(ncclGroupStart());
		for (int i = 0; i < gpus; i++) {
			GOOD(ncclBroadcast(p[i], p[i], 77, UINT8, gpus - 1, comm[i], stream[i]));
			GOOD(ncclSend(p[i], 10, FLOAT64, (i + 1) % gpus, comm[i], stream[i]));
			GOOD(ncclRecv(p[i], 10, FLOAT64, (i + gpus - 1) % gpus, comm[i],
				      stream[i]));
		}
		GOOD(ncclGroupEnd());
	}
	for (int i = 0; i < gpus; i++) {
		MUST(hipStreamSynchronize(stream[i]));
		GOOD(ncclCommDestroy(comm[i]));
	}
	printf("{\"gpus\":%d,\"calls\":%u}\n", gpus, calls);
	return 0;
}
