/*
 * cupti_nvtx.c - see cup.h: NVTX ranges and marks as markers, in host times.
 *
 * Push and pop are matched by thread and domain; open pushes are in a small per-thread stack.
 * Ranges that any thread can start and end are in a per-process table. Domains and registered
 * strings need no table: their handles are string ids of the recorder.
 */
#include <string.h>

#include "cup.h"
#include "nvtx_abi.h"

enum {
	DEPTH = 64,
	RANGES = 4096,
	TRIES = 16,
	WIDE_BYTES = 1024,
	SLOT_BITS = 12,
};

_Static_assert(RANGES == 1 << SLOT_BITS, "a slot's number fits into the bits for it");

RK_CUP_SHOWN int InitializeInjectionNvtx2(nvtx_get_table *get_table);

/* ---- texts ---- */

static uint32_t narrow(const char *s)
{
	return s ? rk_rec_string(s, strnlen(s, 8000)) : 0;
}

static size_t put_utf8(char *to, uint32_t c)
{
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 0x3f));
		to[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | c >> 18);
	to[1] = (char)(0x80 | (c >> 12 & 0x3f));
	to[2] = (char)(0x80 | (c >> 6 & 0x3f));
	to[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

static uint32_t wide(const wchar_t *s)
{
	char text[WIDE_BYTES];
	size_t len = 0;

	if (!s)
		return 0;
	for (; *s && len + 4 <= sizeof(text); s++) {
		uint32_t c = (uint32_t)*s;
		bool bad = c > 0x10ffff || (c >= 0xd800 && c < 0xe000);

		len += put_utf8(text + len, bad ? 0xfffd : c);
	}
	return rk_rec_string(text, len);
}

static uint32_t id_of(const void *handle)
{
	return (uint32_t)(uintptr_t)handle;
}

static void *handle_of(uint32_t id)
{
	return (void *)(uintptr_t)id;
}

static uint32_t message(const struct nvtx_attributes *a)
{
	if (!a || a->size < sizeof(*a))
		return 0;
	switch (a->message_type) {
	case NVTX_MESSAGE_ASCII:
		return narrow(a->message.ascii);
	case NVTX_MESSAGE_UNICODE:
		return wide(a->message.unicode);
	case NVTX_MESSAGE_REGISTERED:
		return id_of(a->message.registered);
	default:
		return 0;
	}
}

/* ---- marks ---- */

static void mark(uint32_t name, uint32_t domain)
{
	struct rk_rec_marker m = {
		.kind = RK_REC_MARK, .name = name, .domain = domain, .start_ns = rk_rec_now()
	};

	rk_rec_marker(&m);
}

/* ---- push and pop ---- */

struct pushed {
	int64_t start_ns;
	uint32_t name, domain;
};

static _Thread_local struct {
	uint32_t n, over; /* over: pushes that did not fit */
	struct pushed at[DEPTH];
} stack;

static int push(uint32_t name, uint32_t domain)
{
	int level = 0;

	if (stack.n == DEPTH) {
		stack.over++;
		rk_rec_source_lost(1);
		return DEPTH - 1 + (int)stack.over;
	}
	for (uint32_t i = 0; i < stack.n; i++)
		level += stack.at[i].domain == domain;
	stack.at[stack.n++] = (struct pushed){ rk_rec_now(), name, domain };
	return level;
}

static int pop(uint32_t domain)
{
	struct rk_rec_marker m = { .kind = RK_REC_RANGE, .domain = domain };
	uint32_t i = stack.n;
	int level = 0;

	if (stack.over)
		return DEPTH - 1 + (int)stack.over--;
	while (i && stack.at[i - 1].domain != domain)
		i--;
	if (!i)
		return NVTX_NO_TRACKING;
	i--;
	m.name = stack.at[i].name;
	m.start_ns = stack.at[i].start_ns;
	m.duration_ns = rk_rec_now() - m.start_ns;
	memmove(&stack.at[i], &stack.at[i + 1], (stack.n - i - 1) * sizeof(stack.at[0]));
	stack.n--;
	for (uint32_t k = 0; k < i; k++)
		level += stack.at[k].domain == domain;
	rk_rec_marker(&m);
	return level;
}

/* ---- start and end ---- */

enum { NO_RANGE = 0, TAKEN = 1 };

static struct range {
	_Atomic uint64_t id; /* NO_RANGE, TAKEN, or the number that the program got */
	int64_t start_ns;
	uint32_t name, domain, tid;
} ranges[RANGES];

static _Atomic uint64_t numbers;

/* A range that gets no slot still gets a number, but is not recorded. */
static uint64_t range_start(uint32_t name, uint32_t domain)
{
	uint64_t n = atomic_fetch_add(&numbers, 1) + 1;

	for (uint64_t i = 0; i < TRIES; i++) {
		uint64_t slot = (n + i) % RANGES, expected = NO_RANGE;
		struct range *r = &ranges[slot];

		if (!atomic_compare_exchange_strong(&r->id, &expected, TAKEN))
			continue;
		r->start_ns = rk_rec_now();
		r->name = name;
		r->domain = domain;
		r->tid = rk_rec_tid();
		atomic_store(&r->id, n << SLOT_BITS | slot);
		return n << SLOT_BITS | slot;
	}
	rk_rec_source_lost(1);
	return n << SLOT_BITS;
}

static void range_end(uint64_t id)
{
	struct range *r = &ranges[id % RANGES];
	struct rk_rec_marker m = { .kind = RK_REC_RANGE };
	uint64_t expected = id;

	if (id <= TAKEN || !atomic_compare_exchange_strong(&r->id, &expected, TAKEN))
		return;
	m.name = r->name;
	m.domain = r->domain;
	m.tid = r->tid;
	m.start_ns = r->start_ns;
	m.duration_ns = rk_rec_now() - m.start_ns;
	atomic_store(&r->id, NO_RANGE);
	rk_rec_marker(&m);
}

/* ---- the functions of NVTX ---- */

static void mark_ex(const struct nvtx_attributes *a)
{
	mark(message(a), 0);
}

static void mark_a(const char *s)
{
	mark(narrow(s), 0);
}

static void mark_w(const wchar_t *s)
{
	mark(wide(s), 0);
}

static uint64_t start_ex(const struct nvtx_attributes *a)
{
	return range_start(message(a), 0);
}

static uint64_t start_a(const char *s)
{
	return range_start(narrow(s), 0);
}

static uint64_t start_w(const wchar_t *s)
{
	return range_start(wide(s), 0);
}

static int push_ex(const struct nvtx_attributes *a)
{
	return push(message(a), 0);
}

static int push_a(const char *s)
{
	return push(narrow(s), 0);
}

static int push_w(const wchar_t *s)
{
	return push(wide(s), 0);
}

static int pop_plain(void)
{
	return pop(0);
}

static void domain_mark_ex(const void *domain, const struct nvtx_attributes *a)
{
	mark(message(a), id_of(domain));
}

static uint64_t domain_start_ex(const void *domain, const struct nvtx_attributes *a)
{
	return range_start(message(a), id_of(domain));
}

static void domain_end(const void *domain, uint64_t id)
{
	(void)domain;
	range_end(id);
}

static int domain_push_ex(const void *domain, const struct nvtx_attributes *a)
{
	return push(message(a), id_of(domain));
}

static int domain_pop(const void *domain)
{
	return pop(id_of(domain));
}

static void *register_a(const void *domain, const char *s)
{
	(void)domain;
	return handle_of(narrow(s));
}

static void *register_w(const void *domain, const wchar_t *s)
{
	(void)domain;
	return handle_of(wide(s));
}

static void *domain_create_a(const char *s)
{
	return handle_of(narrow(s));
}

static void *domain_create_w(const wchar_t *s)
{
	return handle_of(wide(s));
}

static void domain_destroy(const void *domain)
{
	(void)domain;
}

/* ---- installing them ---- */

#define F(f) ((nvtx_function *)(f))

static const struct entry {
	int module;
	unsigned number;
	nvtx_function *f;
} entries[] = {
	{ NVTX_MODULE_CORE, NVTX_MARK_EX, F(mark_ex) },
	{ NVTX_MODULE_CORE, NVTX_MARK_A, F(mark_a) },
	{ NVTX_MODULE_CORE, NVTX_MARK_W, F(mark_w) },
	{ NVTX_MODULE_CORE, NVTX_START_EX, F(start_ex) },
	{ NVTX_MODULE_CORE, NVTX_START_A, F(start_a) },
	{ NVTX_MODULE_CORE, NVTX_START_W, F(start_w) },
	{ NVTX_MODULE_CORE, NVTX_END, F(range_end) },
	{ NVTX_MODULE_CORE, NVTX_PUSH_EX, F(push_ex) },
	{ NVTX_MODULE_CORE, NVTX_PUSH_A, F(push_a) },
	{ NVTX_MODULE_CORE, NVTX_PUSH_W, F(push_w) },
	{ NVTX_MODULE_CORE, NVTX_POP, F(pop_plain) },
	{ NVTX_MODULE_CORE2, NVTX_DOMAIN_MARK_EX, F(domain_mark_ex) },
	{ NVTX_MODULE_CORE2, NVTX_DOMAIN_START_EX, F(domain_start_ex) },
	{ NVTX_MODULE_CORE2, NVTX_DOMAIN_END, F(domain_end) },
	{ NVTX_MODULE_CORE2, NVTX_DOMAIN_PUSH_EX, F(domain_push_ex) },
	{ NVTX_MODULE_CORE2, NVTX_DOMAIN_POP, F(domain_pop) },
	{ NVTX_MODULE_CORE2, NVTX_REGISTER_STRING_A, F(register_a) },
	{ NVTX_MODULE_CORE2, NVTX_REGISTER_STRING_W, F(register_w) },
	{ NVTX_MODULE_CORE2, NVTX_DOMAIN_CREATE_A, F(domain_create_a) },
	{ NVTX_MODULE_CORE2, NVTX_DOMAIN_CREATE_W, F(domain_create_w) },
	{ NVTX_MODULE_CORE2, NVTX_DOMAIN_DESTROY, F(domain_destroy) },
};

static bool fill(const struct nvtx_callbacks *c, int module)
{
	nvtx_function ***table = NULL;
	unsigned size = 0;

	if (!c->module_table(module, &table, &size) || !table)
		return false;
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (entries[i].module == module && entries[i].number < size &&
		    table[entries[i].number])
			*table[entries[i].number] = entries[i].f;
	return true;
}

/* Returning 0 makes NVTX continue as if there were no tool. */
RK_CUP_SHOWN int InitializeInjectionNvtx2(nvtx_get_table *get_table)
{
	const struct nvtx_callbacks *c = get_table ? get_table(NVTX_TABLE_CALLBACKS) : NULL;

	if (!c || c->bytes < sizeof(*c) || !c->module_table || !rk_cup_begin() ||
	    !rk_rec_flag("nvtx", true))
		return 0;
	return fill(c, NVTX_MODULE_CORE) + fill(c, NVTX_MODULE_CORE2) > 0;
}
