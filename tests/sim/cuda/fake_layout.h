/*
 * fake_layout.h - where the stand-in for CUPTI puts what, in bytes from a record's beginning.
 *
 * Written down from the layouts that NVIDIA documents and shared with nothing of the collector:
 * each is checked against NVIDIA's headers by itself (cupti_layout.py).
 */
#ifndef FAKE_LAYOUT_H
#define FAKE_LAYOUT_H

enum {
	FAKE_KERNEL_REGISTERS = 6, /* 16 bits */
	FAKE_KERNEL_START = 16,
	FAKE_KERNEL_END = 24,
	FAKE_KERNEL_DEVICE = 40,
	FAKE_KERNEL_CONTEXT = 44,
	FAKE_KERNEL_STREAM = 48,
	FAKE_KERNEL_GRID = 52,
	FAKE_KERNEL_BLOCK = 64,
	FAKE_KERNEL_STATIC = 76,
	FAKE_KERNEL_DYNAMIC = 80,
	FAKE_KERNEL_LOCAL = 84,
	FAKE_KERNEL_CORRELATION = 92,
	FAKE_KERNEL_NAME = 104,
	FAKE_KERNEL_NODE = 144,
	FAKE_KERNEL_GRAPH = 156,
};

enum {
	FAKE_COPY_KIND = 4, /* 8 bits; of fills: the value */
	FAKE_COPY_BYTES = 8,
	FAKE_COPY_START = 16,
	FAKE_COPY_END = 24,
	FAKE_COPY_DEVICE = 32,
	FAKE_COPY_CONTEXT = 36,
	FAKE_COPY_STREAM = 40,
	FAKE_COPY_CORRELATION = 44,
	/* between devices */
	FAKE_COPY_FROM = 44,
	FAKE_COPY_TO = 52,
	FAKE_COPY2_CORRELATION = 60,
};

enum {
	FAKE_SYNC_TYPE = 4,
	FAKE_SYNC_START = 8,
	FAKE_SYNC_END = 16,
	FAKE_SYNC_CORRELATION = 24,
	FAKE_SYNC_CONTEXT = 28,
	FAKE_SYNC_STREAM = 32,
};

enum {
	FAKE_API_CBID = 4,
	FAKE_API_START = 8,
	FAKE_API_END = 16,
	FAKE_API_THREAD = 28,
	FAKE_API_CORRELATION = 32,
	FAKE_API_BYTES = 40,
};

enum {
	FAKE_MEMORY_OPERATION = 4,
	FAKE_MEMORY_CORRELATION = 12,
	FAKE_MEMORY_ADDRESS = 16,
	FAKE_MEMORY_BYTES = 24,
	FAKE_MEMORY_TIME = 32,
	FAKE_MEMORY_DEVICE = 52,
};

/*
 * X(word, name, number of the interface, bytes of: kernels, copies, copies between devices, fills,
 * synchronisations, allocations)
 */
#define FAKE_RELEASES(X)                                  \
	X(11_8, "11.8", 18, 200, 88, 96, 88, 40, 120)     \
	X(12_0, "12.0", 18, 208, 88, 96, 88, 40, 120)     \
	X(12_4, "12.4", 22, 208, 88, 96, 88, 40, 120)     \
	X(12_9, "12.9", 28, 208, 96, 96, 88, 56, 128)     \
	X(13_0, "13.0", 130001, 216, 96, 96, 88, 56, 128) \
	X(13_4, "13.4", 130401, 248, 112, 96, 104, 56, 128)

#endif
