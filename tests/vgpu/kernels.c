/* kernels.c - names, times and effects of kernels. */
#include <elf.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "vgpu.h"

/* ---- names ---- */

static const void *dynamic_value(const uint8_t *image, const Elf64_Phdr *ph, int64_t tag)
{
	const Elf64_Dyn *d = (const void *)(image + ph->p_vaddr);

	for (size_t i = 0; i < ph->p_memsz / sizeof(*d) && d[i].d_tag != DT_NULL; i++)
		if (d[i].d_tag == tag)
			return image + (uint64_t)d[i].d_un.d_ptr % (1ull << 47);
	return NULL;
}

/* The loader places the whole image, headers included: the symbol table is in the memory too. */
static bool find_symbol(const uint8_t *image, uint64_t value, char *room)
{
	const Elf64_Ehdr *eh = (const void *)image;
	const Elf64_Phdr *ph = (const void *)(image + eh->e_phoff);

	for (unsigned i = 0; i < eh->e_phnum; i++) {
		const Elf64_Sym *sym;
		const uint32_t *hash;
		const char *strings;

		if (ph[i].p_type != PT_DYNAMIC)
			continue;
		sym = dynamic_value(image, &ph[i], DT_SYMTAB);
		strings = dynamic_value(image, &ph[i], DT_STRTAB);
		hash = dynamic_value(image, &ph[i], DT_HASH);
		if (!sym || !strings || !hash)
			return false;
		for (uint32_t k = 0; k < hash[1]; k++) {
			const char *name = strings + sym[k].st_name;
			size_t len = strlen(name);

			if (sym[k].st_value != value || len < 3 ||
			    strcmp(name + len - 3, ".kd") != 0)
				continue;
			snprintf(room, VGPU_NAME, "%.*s", (int)(len - 3), name);
			return true;
		}
	}
	return false;
}

static void look_up_name(uint64_t object, char *room)
{
	uint64_t start, end;

	room[0] = '\0';
	if (!vgpu_find(object, &start, &end))
		return;
	for (uint64_t page = object & ~4095ull; page >= start && page <= object; page -= 4096) {
		const uint8_t *image = vgpu_host(page);

		if (memcmp(image, ELFMAG, SELFMAG) != 0)
			continue;
		if (find_symbol(image, object - page, room))
			return;
	}
}

/* Names that were found, until memory is freed: modules come and go at the same addresses. */
void vgpu_kernel_name(uint64_t object, char *room)
{
	enum { SLOTS = 1024 };
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct {
		uint64_t object;
		char *name;
	} found[SLOTS];
	static unsigned changes;
	size_t slot = (object >> 6) % SLOTS;

	pthread_mutex_lock(&lock);
	if (changes != vgpu_memory_changes) {
		changes = vgpu_memory_changes;
		for (size_t i = 0; i < SLOTS; i++)
			found[i].object = 0;
	}
	if (found[slot].object == object && found[slot].name) {
		snprintf(room, VGPU_NAME, "%s", found[slot].name);
	} else {
		look_up_name(object, room);
		free(found[slot].name);
		found[slot].name = strdup(room);
		found[slot].object = object;
	}
	pthread_mutex_unlock(&lock);
}

/* ---- times ---- */

uint64_t vgpu_groups(const struct vgpu_dispatch *d)
{
	uint64_t groups = 1;

	for (unsigned i = 0; i < 3; i++) {
		uint64_t block = d->block[i] ? d->block[i] : 1;

		groups *= d->grid[i] ? (d->grid[i] + block - 1) / block : 1;
	}
	return groups;
}

/*
 * VGPU_TIME is a list: "fixed=NS", or "base=NS" and "group=NS" (2000 and 20 if not given), and
 * "NAME=NS" for kernels whose name begins with NAME.
 */
uint64_t vgpu_kernel_ns(const struct vgpu_dispatch *d, const char *name)
{
	static const char *list;
	uint64_t base = 2000, group = 20;

	if (!list)
		list = getenv("VGPU_TIME") ? getenv("VGPU_TIME") : "";
	for (const char *s = list; *s;) {
		size_t item = strcspn(s, ","), word = strcspn(s, "=");

		if (word < item) {
			uint64_t ns = vgpu_number(s + word + 1);

			if (word == 5 && strncmp(s, "fixed", 5) == 0)
				return ns;
			if (word == 4 && strncmp(s, "base", 4) == 0)
				base = ns;
			else if (word == 5 && strncmp(s, "group", 5) == 0)
				group = ns;
			else if (strncmp(s, name, word) == 0)
				return ns;
		}
		s += item + (s[item] == ',');
	}
	return base + group * vgpu_groups(d);
}

/* ---- effects ---- */

static uint64_t arg_at(const uint8_t *args, unsigned at)
{
	uint64_t v;

	memcpy(&v, args + at, sizeof(v));
	return v;
}

static void copy(uint64_t dst, uint64_t src, uint64_t bytes)
{
	memmove(vgpu_host(dst), vgpu_host(src), bytes);
}

/*
 * HIP's copies and fills are kernels of its own; their arguments say what they do, and differ between
 * releases.
 */
static void copy_buffer(const uint8_t *args)
{
	uint64_t src = arg_at(args, 0), dst = arg_at(args, 8), third = arg_at(args, 16);
	uint64_t end = arg_at(args, 32), unit = arg_at(args, 40) & 0xffffffff;

	if (end >= dst &&
	    end <= dst + third) { /* 6.x, 7.x: bytes, end of the part with whole words */
		copy(dst, src, third);
		return;
	}
	/* 5.7: origins, then words and one item with the rest; or, with 8, bytes */
	copy(dst + arg_at(args, 24), src + third,
	     unit == 8 ? end : (end ? (end - 1) * 4 : 0) + unit);
}

static void copy_aligned(const uint8_t *args)
{
	uint64_t src = arg_at(args, 0), dst = arg_at(args, 8), third = arg_at(args, 16);
	uint64_t end = arg_at(args, 32), unit = arg_at(args, 40) & 0xffffffff;

	if (end >= dst && end <= dst + third)
		copy(dst, src, third);
	else
		copy(dst + arg_at(args, 24) * unit, src + third * unit, end * unit);
}

static void fill(uint8_t *to, uint64_t bytes, const uint8_t *pattern, uint64_t period)
{
	for (uint64_t i = 0; i < bytes && period; i++)
		to[i] = pattern[i % period];
}

static void fill_buffer(const uint8_t *args)
{
	uint64_t to = arg_at(args, 0), second = arg_at(args, 8), end = arg_at(args, 24);
	uint32_t count, unit;

	memcpy(&count, args + 16, 4);
	memcpy(&unit, args + 20, 4);
	if (to && second && end > to && unit && unit <= 16 && !(unit & (unit - 1))) { /* 6.x, 7.x */
		fill(vgpu_host(to), end - to, vgpu_host(second), (uint64_t)count * unit);
		return;
	}
	for (unsigned i = 0; i < 4; i++) { /* 5.7: bytes, shorts, ints or longs */
		uint64_t period = (arg_at(args, 40) & 0xffffffff) << i;

		to = arg_at(args, 8 * i);
		if (to)
			fill((uint8_t *)vgpu_host(to) + (arg_at(args, 48) << i),
			     arg_at(args, 56) * period, vgpu_host(arg_at(args, 32)), period);
	}
}

/* One byte, or one element, per item: where rows and slices begin, in elements. */
static void copy_rectangle(const uint8_t *args, bool aligned)
{
	uint64_t src[4], dst[4], size[4], unit;
	uint8_t *from = vgpu_host(arg_at(args, 0)), *to = vgpu_host(arg_at(args, 8));

	memcpy(src, args + 32, sizeof(src)); /* row, slice, origin */
	memcpy(dst, args + 64, sizeof(dst));
	memcpy(size, args + 96, sizeof(size));
	unit = aligned ? size[3] : 1;
	for (uint64_t z = 0; z < size[2]; z++)
		for (uint64_t y = 0; y < size[1]; y++)
			memmove(to + (dst[2] + y * dst[0] + z * dst[1]) * unit,
				from + (src[2] + y * src[0] + z * src[1]) * unit, size[0] * unit);
}

static void fill_rectangle(const uint8_t *args)
{
	uint64_t width = arg_at(args, 56), height = arg_at(args, 64), pitch = arg_at(args, 72);

	for (unsigned i = 0; i < 4; i++) { /* bytes, shorts, ints or longs */
		uint64_t period = (arg_at(args, 40) & 0xffffffff) << i, to = arg_at(args, 8 * i);

		for (uint64_t y = 0; to && y < height; y++)
			fill((uint8_t *)vgpu_host(to) + ((arg_at(args, 48) + y * pitch) << i),
			     width * period, vgpu_host(arg_at(args, 32)), period);
	}
}

static void write_value(const uint8_t *args)
{
	uint64_t value = arg_at(args, 16);

	if (arg_at(args, 0))
		__atomic_store_n((uint32_t *)vgpu_host(arg_at(args, 0)), (uint32_t)value,
				 __ATOMIC_RELEASE);
	else if (arg_at(args, 8))
		__atomic_store_n((uint64_t *)vgpu_host(arg_at(args, 8)), value, __ATOMIC_RELEASE);
}

/* False when the queue must end first. */
static bool wait_value(struct vgpu_queue *q, const uint8_t *args)
{
	uint64_t want = arg_at(args, 16), how = arg_at(args, 24), mask = arg_at(args, 32);
	unsigned rounds = 0;

	for (;;) {
		uint64_t v;

		if (arg_at(args, 0))
			v = __atomic_load_n((uint32_t *)vgpu_host(arg_at(args, 0)),
					    __ATOMIC_ACQUIRE);
		else
			v = __atomic_load_n((uint64_t *)vgpu_host(arg_at(args, 8)),
					    __ATOMIC_ACQUIRE);
		v &= mask;
		if ((how == 0 && v >= want) || (how == 1 && v == want) ||
		    (how == 2 && (v & want)) || (how == 3 && ~(v | want)))
			return true;
		if (!vgpu_queue_wait(q, &rounds))
			return false;
	}
}

/*
 * ROCr's own copies and fills have no name. They work in phases: pairs of source and destination that
 * begin where the last one ended (four for aligned memory, else two), then the end of both.
 */
static void blit(const uint8_t *args)
{
	uint64_t w[10], start, end;

	memcpy(w, args, sizeof(w));
	for (unsigned last = 8; last >= 4; last -= 4) {
		uint64_t bytes = w[last] - w[0];
		bool is = bytes && bytes < 1ull << 40 && w[last + 1] - w[1] == bytes;

		for (unsigned i = 2; i <= last && is; i++)
			is = w[i] >= w[i - 2];
		if (!is || !vgpu_find(w[1], &start, &end) || w[1] + bytes > end)
			continue;
		copy(w[1], w[0], bytes);
		return;
	}
	if (w[0] <= w[1] && w[1] <= w[2] && vgpu_find(w[0], &start, &end) && w[2] <= end)
		fill(vgpu_host(w[0]), w[2] - w[0], args + 24, 4);
}

bool vgpu_kernel_effect(struct vgpu_queue *q, const struct vgpu_dispatch *d, const char *name)
{
	static const char hip[] = "__amd_rocclr_";
	const uint8_t *args = d->kernarg ? vgpu_host(d->kernarg) : NULL;

	if (!args)
		return true;
	if (!*name) {
		blit(args);
		return true;
	}
	if (strncmp(name, hip, sizeof(hip) - 1) != 0)
		return true;
	name += sizeof(hip) - 1;
	if (strcmp(name, "copyBuffer") == 0)
		copy_buffer(args);
	else if (strcmp(name, "copyBufferAligned") == 0)
		copy_aligned(args);
	else if (strcmp(name, "copyBufferRect") == 0)
		copy_rectangle(args, false);
	else if (strcmp(name, "copyBufferRectAligned") == 0)
		copy_rectangle(args, true);
	else if (strcmp(name, "fillBufferAligned") == 0)
		fill_buffer(args);
	else if (strcmp(name, "fillBufferAligned2D") == 0)
		fill_rectangle(args);
	else if (strcmp(name, "streamOpsWrite") == 0)
		write_value(args);
	else if (strcmp(name, "streamOpsWait") == 0)
		return wait_value(q, args);
	return true;
}
