/*
 * cup_kernel.c - see cup.h: names and shapes of launches.
 *
 * A program launches the same few kernels again and again: what was seen last in a place of either
 * table is taken from there. Names are compared in full, not by their address alone: modules are
 * unloaded, and addresses come again.
 */
#include <string.h>

#include "cup.h"

enum {
	NAMES = 2048,
	SHAPES = 4096,
	TEXT_BYTES = 1 << 20, /* of names that are kept here for comparison */
	NAME_MAX_BYTES = 8000,
};

struct name {
	const char *address, *copy;
	uint32_t id;
};

/* All that makes a shape, without gaps, to be compared as bytes. */
struct key {
	uint32_t name, device, registers, local;
	uint64_t shared;
	int32_t grid[3], block[3];
};

static struct name names[NAMES];
static struct {
	struct key key;
	uint32_t id;
} shapes[SHAPES];
static char text[TEXT_BYTES];
static size_t used;

static const char *keep(const char *s, size_t len)
{
	char *to = text + used;

	if (len >= TEXT_BYTES - used)
		return NULL;
	memcpy(to, s, len);
	to[len] = '\0';
	used += len + 1;
	return to;
}

static uint32_t name_of(const char *s)
{
	struct name *n = &names[((uintptr_t)s >> 4 ^ (uintptr_t)s >> 15) % NAMES];
	size_t len;

	if (!s)
		return 0;
	if (n->address == s && n->copy && !strcmp(s, n->copy))
		return n->id;
	len = strnlen(s, NAME_MAX_BYTES);
	n->address = s;
	n->copy = len < NAME_MAX_BYTES ? keep(s, len) : NULL;
	n->id = rk_rec_string(s, len);
	return n->id;
}

static uint32_t hash(const struct key *k)
{
	const unsigned char *p = (const unsigned char *)k;
	uint64_t h = 0, word;

	_Static_assert(sizeof(*k) % sizeof(word) == 0, "whole words");
	for (size_t i = 0; i < sizeof(*k); i += sizeof(word)) {
		memcpy(&word, p + i, sizeof(word));
		h = (h ^ word) * 0x9fb21c651e98df25u;
		h ^= h >> 29;
	}
	return (uint32_t)(h >> 20) % SHAPES;
}

static uint32_t positive(int32_t v)
{
	return v > 0 ? (uint32_t)v : 0;
}

static uint32_t define(const struct key *k)
{
	struct rk_rec_function f = { k->name, rk_cup_device(k->device), k->registers, k->local,
				     RK_REC_UNKNOWN };
	struct rk_rec_shape s = { .function = rk_rec_function(&f) };

	s.local_bytes = k->shared < RK_REC_UNKNOWN ? (uint32_t)k->shared : RK_REC_UNKNOWN;
	for (unsigned i = 0; i < 3; i++) {
		s.group[i] = positive(k->block[i]);
		s.items[i] = (uint64_t)positive(k->grid[i]) * positive(k->block[i]);
	}
	return rk_rec_shape(&s);
}

uint32_t rk_cup_kernel_shape(const struct cupti_kernel *r)
{
	struct key k = { .name = name_of(r->name),
			 .device = r->device,
			 .registers = r->registers,
			 .local = r->local_per_thread,
			 .shared = (uint64_t)positive(r->static_shared) +
				   positive(r->dynamic_shared) };
	uint32_t place;

	memcpy(k.grid, r->grid, sizeof(k.grid));
	memcpy(k.block, r->block, sizeof(k.block));
	place = hash(&k);
	if (!shapes[place].id || memcmp(&shapes[place].key, &k, sizeof(k)) != 0) {
		shapes[place].key = k;
		shapes[place].id = define(&k);
	}
	return shapes[place].id;
}
