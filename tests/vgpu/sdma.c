/* sdma.c - the packets of copy queues. */
#include <stdatomic.h>
#include <string.h>

#include "vgpu.h"

enum {
	NOP = 0,
	COPY = 1,
	WRITE = 2,
	FENCE = 5,
	TRAP = 6,
	POLL = 8,
	ATOMIC = 10,
	FILL = 11,
	TIMESTAMP = 13,
	GCR = 17
};

static uint32_t word_at(const struct vgpu_queue *q, uint64_t index)
{
	uint32_t v;

	memcpy(&v, q->ring + index % q->ring_size, sizeof(v));
	return v;
}

static uint64_t address(const uint32_t *w)
{
	return w[0] | (uint64_t)w[1] << 32;
}

/* About what PCIe and xGMI do: 25 bytes per ns and a start. */
static uint64_t copy_ns(uint64_t bytes)
{
	return 1500 + bytes / 25;
}

static void linear(struct vgpu_queue *q, const uint32_t *w)
{
	uint64_t bytes = (uint64_t)(w[1] & 0x3fffffff) + 1, src = address(w + 3),
		 dst = address(w + 5);
	uint64_t start, end;

	memmove(vgpu_host(dst), vgpu_host(src), bytes);
	vgpu_queue_take(q, copy_ns(bytes), &start, &end);
	vgpu_ledger("copy gpu=%u queue=%u start=%llu end=%llu bytes=%llu src=0x%llx dst=0x%llx",
		    q->gpu->index, q->id, (unsigned long long)start, (unsigned long long)end,
		    (unsigned long long)bytes, (unsigned long long)src, (unsigned long long)dst);
}

/* One side of a rectangle: where its first element is, and how far rows and slices are apart. */
struct side {
	uint8_t *at;
	uint64_t row, slice;
};

/* `pitch` is the bit at which the distance of rows begins, after the first slice. */
static struct side side_of(const uint32_t *w, unsigned element, unsigned pitch)
{
	struct side s = { vgpu_host(address(w)), ((uint64_t)(w[3] >> pitch) + 1) << element,
			  ((uint64_t)(w[4] & 0xfffffff) + 1) << element };

	s.at += ((uint64_t)(w[2] & 0x3fff) << element) + (w[2] >> 16 & 0x3fff) * s.row +
		(w[3] & 0x7ff) * s.slice;
	return s;
}

static void rectangle(struct vgpu_queue *q, const uint32_t *w)
{
	unsigned element = w[0] >> 29;
	unsigned pitch = q->gpu->family >= VGPU_GFX12 ? 16 : 13;
	struct side src = side_of(w + 1, element, pitch), dst = side_of(w + 6, element, pitch);
	uint64_t x = (uint64_t)(w[11] & 0x3fff) + 1, y = (w[11] >> 16 & 0x3fff) + 1,
		 z = (w[12] & 0x7ff) + 1;
	uint64_t start, end, bytes = (x << element) * y * z;

	for (uint64_t k = 0; k < z; k++)
		for (uint64_t j = 0; j < y; j++)
			memmove(dst.at + k * dst.slice + j * dst.row,
				src.at + k * src.slice + j * src.row, x << element);
	vgpu_queue_take(q, copy_ns(bytes), &start, &end);
	vgpu_ledger("copy gpu=%u queue=%u start=%llu end=%llu bytes=%llu rectangle=%llux%llux%llu",
		    q->gpu->index, q->id, (unsigned long long)start, (unsigned long long)end,
		    (unsigned long long)bytes, (unsigned long long)(x << element),
		    (unsigned long long)y, (unsigned long long)z);
}

static void fill(struct vgpu_queue *q, const uint32_t *w)
{
	uint8_t *to = vgpu_host(address(w + 1));
	uint64_t bytes = (uint64_t)(w[4] & 0x3fffffff) + 1, start, end;
	unsigned unit = 1u << (w[0] >> 30);

	if (unit == 4)
		bytes &= ~3ull;
	for (uint64_t i = 0; i < bytes; i += unit)
		memcpy(to + i, &w[3], unit);
	vgpu_queue_take(q, copy_ns(bytes), &start, &end);
	vgpu_ledger("fill gpu=%u queue=%u start=%llu end=%llu bytes=%llu", q->gpu->index, q->id,
		    (unsigned long long)start, (unsigned long long)end, (unsigned long long)bytes);
}

/* False when the queue must end. */
static bool poll(struct vgpu_queue *q, const uint32_t *w)
{
	unsigned how = w[0] >> 28 & 7, rounds = 0;

	if (!(w[0] >> 31)) /* a register */
		return true;
	for (;;) {
		uint32_t v =
			__atomic_load_n((uint32_t *)vgpu_host(address(w + 1)), __ATOMIC_ACQUIRE) &
			w[4];
		const bool holds[8] = { true,
					v<w[3], v <= w[3], v == w[3], v != w[3], v >= w[3], v> w[3],
					true };

		if (holds[how])
			return true;
		if (!vgpu_queue_wait(q, &rounds))
			return false;
	}
}

bool vgpu_sdma_step(struct vgpu_queue *q)
{
	uint64_t left = atomic_load_explicit(q->write, memory_order_acquire) - q->seen, start, end;
	unsigned op, sub, n = 1;
	uint32_t w[16];

	if (left < 4)
		return false;
	for (unsigned i = 0; i < 16; i++)
		w[i] = i * 4 < left ? word_at(q, q->seen + i * 4) : 0;
	op = w[0] & 0xff;
	sub = w[0] >> 8 & 0xff;
	switch (op) {
	case NOP:
		n = 1 + (w[0] >> 16 & 0x3fff);
		break;
	case COPY:
		n = sub == 4 ? 13 : 7;
		if (sub == 4)
			rectangle(q, w);
		else
			linear(q, w);
		break;
	case WRITE:
		n = 4 + (w[3] & 0xfffff) + 1;
		for (unsigned i = 4; i < n; i++) {
			uint32_t v = word_at(q, q->seen + i * 4);

			memcpy((uint8_t *)vgpu_host(address(w + 1)) + (i - 4) * 4, &v, 4);
		}
		break;
	case FENCE:
		n = 4;
		__atomic_store_n((uint32_t *)vgpu_host(address(w + 1)), w[3], __ATOMIC_RELEASE);
		break;
	case TRAP:
		n = 2;
		vgpu_set_event(w[1] & 0xfffffff);
		break;
	case POLL:
		n = 6;
		if (!poll(q, w))
			return false;
		break;
	case ATOMIC:
		n = 8;
		__atomic_fetch_add((uint64_t *)vgpu_host(address(w + 1)), address(w + 3),
				   __ATOMIC_ACQ_REL);
		break;
	case FILL:
		n = 5;
		fill(q, w);
		break;
	case TIMESTAMP:
		n = 3;
		vgpu_queue_take(q, 0, &start, &end);
		*(uint64_t *)vgpu_host(address(w + 1)) = vgpu_ticks(end);
		break;
	case GCR:
		n = 5;
		break;
	default:
		vgpu_ledger("sdma gpu=%u queue=%u op=%u sub=%u unknown", q->gpu->index, q->id, op,
			    sub);
	}
	q->seen += (uint64_t)n * 4;
	atomic_store_explicit(q->read, q->seen, memory_order_release);
	return true;
}
