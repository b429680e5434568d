/*
 * cupti_nvtx.c - see cup.h: NVTX ranges and marks as markers, in host times.
 *
 * Push and pop are matched by thread and domain; open pushes are in a small per-thread stack.
 * Ranges that any thread can start and end are in a per-process table. Texts that the program
 * registers are kept, because the recorder may forget its ids of them.
 *
 * Ranges also open and shut the recorder's gate; when they did so is kept for kernels, whose records
 * come later.
 */
#include <stdlib.h>
#include <string.h>

#include "cup.h"
#include "nvtx_abi.h"

#include "base/rkraw.h"

enum {
	DEPTH = 64,
	RANGES = 4096,
	TRIES = 16,
	WIDE_BYTES = 1024,
	SLOT_BITS = 12,
	TEXTS = 1024,
	SHORT = 120,
};

_Static_assert(RANGES == 1 << SLOT_BITS, "a slot's number fits into the bits for it");

RK_CUP_SHOWN int InitializeInjectionNvtx2(nvtx_get_table *get_table);

/* ---- ranges that were asked for ---- */

enum { CHANGES = 1 << 16 };

/* When the recorder's gate was opened (even numbers) and shut (odd ones). */
static struct {
	bool used;
	atomic_bool busy;
	_Atomic uint64_t n;
	_Atomic int64_t at[CHANGES];
	char name[1024]; /* of the ranges that open it */
	size_t len;
} gate;

void rk_cup_gate_start(void)
{
	char every[32];

	if (rk_rec_setting("range", gate.name, sizeof(gate.name)))
		gate.len = strlen(gate.name);
	gate.used = gate.len || rk_rec_setting("every", every, sizeof(every));
	rk_cup_gate_look();
}

void rk_cup_gate_times(void)
{
	if (gate.used && rk_cup.f.cuptiActivityEnableLatencyTimestamps)
		rk_cup.f.cuptiActivityEnableLatencyTimestamps(1);
}

void rk_cup_gate_look(void)
{
	/* If another thread is at it, that one looks again when it has finished. */
	while (gate.used && rk_rec_awake() != (atomic_load(&gate.n) & 1) &&
	       !atomic_exchange(&gate.busy, true)) {
		uint64_t n = atomic_load(&gate.n);

		if (rk_rec_awake() != (n & 1)) {
			atomic_store(&gate.at[n % CHANGES], rk_rec_now());
			atomic_store(&gate.n, n + 1);
		}
		atomic_store(&gate.busy, false);
	}
}

bool rk_cup_gate_shut(int64_t host_ns)
{
	uint64_t n, low, high;

	if (!gate.used)
		return false;
	/* the last change before that time; of those that are not kept any more we know nothing */
	high = n = atomic_load(&gate.n);
	low = n > CHANGES / 2 ? n - CHANGES / 2 : 0;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (atomic_load(&gate.at[middle % CHANGES]) <= host_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low % 2 == 0;
}

/* Returns whether the range counts; then its end counts too. */
static bool gate_enter(const char *name, size_t len)
{
	if (!gate.used || (gate.len && (len != gate.len || memcmp(name, gate.name, len) != 0)))
		return false;
	rk_rec_range(name, len, true);
	rk_cup_gate_look();
	return true;
}

static void gate_leave(bool counted)
{
	if (!counted)
		return;
	rk_rec_range(gate.name, gate.len, false);
	rk_cup_gate_look();
}

/* ---- texts ---- */

/* A text of the program; kept: it was registered. */
struct words {
	const char *text;
	size_t len;
	struct kept *kept;
	char wide[WIDE_BYTES];
};

/*
 * A registered string or a domain: its address is the handle. It is never freed, and there is one
 * for each text.
 */
struct kept {
	struct kept *next;
	_Atomic uint64_t id; /* of the recorder, with the epoch in the upper half */
	size_t len;
	char text[];
};

static _Atomic(struct kept *) kept_texts[TEXTS];

static uint32_t kept_id(struct kept *k)
{
	uint64_t id = k ? atomic_load_explicit(&k->id, memory_order_relaxed) : 0;
	uint64_t epoch = rk_rec_epoch();

	if (k && id >> 32 != epoch) {
		id = epoch << 32 | rk_rec_string(k->text, k->len);
		atomic_store_explicit(&k->id, id, memory_order_relaxed);
	}
	return (uint32_t)id;
}

static struct kept *find(struct kept *k, const struct words *w)
{
	while (k && (k->len != w->len || memcmp(k->text, w->text, w->len) != 0))
		k = k->next;
	return k;
}

/* NULL without text or memory: a marker then has no name or domain. */
static struct kept *keep(const struct words *w)
{
	_Atomic(struct kept *) *place;
	struct kept *first, *k;

	if (!w->text)
		return NULL;
	place = &kept_texts[rk_raw_sum(0, w->text, w->len) % TEXTS];
	first = atomic_load(place);
	k = find(first, w);
	if (k)
		return k;
	k = calloc(1, sizeof(*k) + w->len);
	if (!k)
		return NULL;
	k->len = w->len;
	memcpy(k->text, w->text, w->len);
	do
		k->next = first;
	while (!atomic_compare_exchange_weak(place, &first, k));
	return k;
}

static void narrow(struct words *w, const char *s)
{
	w->text = s;
	w->len = s ? strnlen(s, RK_RAW_TEXT_MAX) : 0;
	w->kept = NULL;
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

static void wide(struct words *w, const wchar_t *s)
{
	w->text = s ? w->wide : NULL;
	w->len = 0;
	w->kept = NULL;
	for (; s && *s && w->len + 4 <= sizeof(w->wide); s++) {
		uint32_t c = (uint32_t)*s;
		bool bad = c > 0x10ffff || (c >= 0xd800 && c < 0xe000);

		w->len += put_utf8(w->wide + w->len, bad ? 0xfffd : c);
	}
}

static void message(struct words *w, const struct nvtx_attributes *a)
{
	struct kept *k;

	narrow(w, NULL);
	if (!a || a->size < sizeof(*a))
		return;
	if (a->message_type == NVTX_MESSAGE_ASCII)
		narrow(w, a->message.ascii);
	else if (a->message_type == NVTX_MESSAGE_UNICODE)
		wide(w, a->message.unicode);
	k = (struct kept *)(uintptr_t)a->message.registered;
	if (a->message_type != NVTX_MESSAGE_REGISTERED || !k)
		return;
	w->text = k->text;
	w->len = k->len;
	w->kept = k;
}

static uint32_t words_id(const struct words *w)
{
	if (w->kept)
		return kept_id(w->kept);
	return w->text ? rk_rec_string(w->text, w->len) : 0;
}

/* ---- a range that is open ---- */

struct opened {
	int64_t start_ns; /* 0: not recorded */
	struct kept *domain, *kept;
	uint32_t name, epoch, tid;
	uint8_t len;
	bool counted;     /* by the gate */
	char text[SHORT]; /* of the name, for an end in another epoch; cut if it is longer */
};

static void open_range(struct opened *o, const struct words *w, struct kept *domain)
{
	o->counted = gate_enter(w->text ? w->text : "", w->len);
	o->domain = domain;
	o->start_ns = 0;
	if (!rk_rec_awake()) {
		rk_rec_skip();
		return;
	}
	o->epoch = rk_rec_epoch();
	o->name = words_id(w);
	o->kept = w->kept;
	o->len = (uint8_t)(w->len < SHORT ? w->len : SHORT);
	if (w->text && !w->kept)
		memcpy(o->text, w->text, o->len);
	o->tid = rk_rec_tid();
	o->start_ns = rk_rec_now();
}

static void close_range(const struct opened *o)
{
	struct rk_rec_marker m = { .kind = RK_REC_RANGE, .tid = o->tid, .start_ns = o->start_ns };

	if (o->start_ns) {
		m.duration_ns = rk_rec_now() - o->start_ns;
		m.name = o->name;
		if (o->kept)
			m.name = kept_id(o->kept);
		else if (o->name && o->epoch != rk_rec_epoch())
			m.name = rk_rec_string(o->text, o->len);
		m.domain = kept_id(o->domain);
		rk_rec_marker(&m);
	}
	gate_leave(o->counted);
}

/* ---- marks ---- */

static void mark(const struct words *w, struct kept *domain)
{
	struct rk_rec_marker m = { .kind = RK_REC_MARK };

	if (!rk_rec_awake()) {
		rk_rec_skip();
		return;
	}
	m.name = words_id(w);
	m.domain = kept_id(domain);
	m.start_ns = rk_rec_now();
	rk_rec_marker(&m);
}

/* ---- push and pop ---- */

static _Thread_local struct {
	uint32_t n, over; /* over: pushes that did not fit */
	struct opened at[DEPTH];
} stack;

static int push(const struct words *w, struct kept *domain)
{
	int level = 0;

	if (stack.n == DEPTH) {
		stack.over++;
		rk_rec_source_lost(1);
		return DEPTH - 1 + (int)stack.over;
	}
	for (uint32_t i = 0; i < stack.n; i++)
		level += stack.at[i].domain == domain;
	open_range(&stack.at[stack.n++], w, domain);
	return level;
}

static int pop(struct kept *domain)
{
	uint32_t i = stack.n;
	int level = 0;

	if (stack.over)
		return DEPTH - 1 + (int)stack.over--;
	while (i && stack.at[i - 1].domain != domain)
		i--;
	if (!i)
		return NVTX_NO_TRACKING;
	i--;
	close_range(&stack.at[i]);
	memmove(&stack.at[i], &stack.at[i + 1], (stack.n - i - 1) * sizeof(stack.at[0]));
	stack.n--;
	for (uint32_t k = 0; k < i; k++)
		level += stack.at[k].domain == domain;
	return level;
}

/* ---- start and end ---- */

enum { NO_RANGE = 0, TAKEN = 1 };

static struct range {
	_Atomic uint64_t id; /* NO_RANGE, TAKEN, or the number that the program got */
	struct opened o;
} ranges[RANGES];

static _Atomic uint64_t numbers;

/* A range that gets no slot still gets a number, but is not recorded. */
static uint64_t range_start(const struct words *w, struct kept *domain)
{
	uint64_t n = atomic_fetch_add(&numbers, 1) + 1;

	for (uint64_t i = 0; i < TRIES; i++) {
		uint64_t slot = (n + i) % RANGES, expected = NO_RANGE;
		struct range *r = &ranges[slot];

		if (!atomic_compare_exchange_strong(&r->id, &expected, TAKEN))
			continue;
		open_range(&r->o, w, domain);
		atomic_store(&r->id, n << SLOT_BITS | slot);
		return n << SLOT_BITS | slot;
	}
	rk_rec_source_lost(1);
	return n << SLOT_BITS;
}

static void range_end(uint64_t id)
{
	struct range *r = &ranges[id % RANGES];
	uint64_t expected = id;

	if (id <= TAKEN || !atomic_compare_exchange_strong(&r->id, &expected, TAKEN))
		return;
	close_range(&r->o);
	atomic_store(&r->id, NO_RANGE);
}

/* ---- the functions of NVTX ---- */

static struct kept *domain_of(const void *handle)
{
	return (struct kept *)(uintptr_t)handle;
}

/* The three forms of a function of NVTX: f_ex(attributes), f_a(text), f_w(wide text). */
#define FORMS(type, returns, f, call)                                                    \
	static type f##_ex(const struct nvtx_attributes *a)                              \
	{                                                                                \
		struct words w;                                                          \
                                                                                         \
		message(&w, a);                                                          \
		returns call(&w, NULL);                                                  \
	}                                                                                \
	static type f##_a(const char *s)                                                 \
	{                                                                                \
		struct words w;                                                          \
                                                                                         \
		narrow(&w, s);                                                           \
		returns call(&w, NULL);                                                  \
	}                                                                                \
	static type f##_w(const wchar_t *s)                                              \
	{                                                                                \
		struct words w;                                                          \
                                                                                         \
		wide(&w, s);                                                             \
		returns call(&w, NULL);                                                  \
	}                                                                                \
	static type domain_##f##_ex(const void *domain, const struct nvtx_attributes *a) \
	{                                                                                \
		struct words w;                                                          \
                                                                                         \
		message(&w, a);                                                          \
		returns call(&w, domain_of(domain));                                     \
	}

FORMS(void, , mark, mark)
FORMS(uint64_t, return, start, range_start)
FORMS(int, return, push, push)

static int pop_plain(void)
{
	return pop(NULL);
}

static void domain_end(const void *domain, uint64_t id)
{
	(void)domain;
	range_end(id);
}

static int domain_pop(const void *domain)
{
	return pop(domain_of(domain));
}

static void *domain_create_a(const char *s)
{
	struct words w;

	narrow(&w, s);
	return keep(&w);
}

static void *domain_create_w(const wchar_t *s)
{
	struct words w;

	wide(&w, s);
	return keep(&w);
}

static void *register_a(const void *domain, const char *s)
{
	(void)domain;
	return domain_create_a(s);
}

static void *register_w(const void *domain, const wchar_t *s)
{
	(void)domain;
	return domain_create_w(s);
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
