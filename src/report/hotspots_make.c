/* hotspots_make.c - cells of instructions, folded into kernels, instructions and lines. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "report/hotspots_impl.h"

static const char rest[] = "(past the limit)";

struct make {
	const struct rk_hot_cell *cells;
	size_t n;
	const struct rk_strtab *names;
	struct rk_hotspots *h;
	struct rk_hotspot *spots; /* room for two per cell */
	size_t nspots;
	struct rk_hotspot_stall *stalls; /* room for three per cell */
	size_t nstalls;
	uint32_t *reasons; /* per entry of stalls, while a group is made */
};

static bool same_kernel(const struct rk_hot_cell *a, const struct rk_hot_cell *b)
{
	return a->from == b->from && a->kernel == b->kernel;
}

static bool same_line(const struct rk_hot_cell *a, const struct rk_hot_cell *b)
{
	return same_kernel(a, b) && a->rest == b->rest && a->source == b->source;
}

static bool same_instruction(const struct rk_hot_cell *a, const struct rk_hot_cell *b)
{
	return same_line(a, b) && a->vaddr == b->vaddr && a->instruction == b->instruction;
}

/* The end of the group that begins at i. */
static size_t group_end(const struct make *m, size_t i,
			bool (*same)(const struct rk_hot_cell *, const struct rk_hot_cell *))
{
	size_t k = i + 1;

	while (k < m->n && same(&m->cells[i], &m->cells[k]))
		k++;
	return k;
}

static int by_samples(const void *pa, const void *pb)
{
	const struct rk_hotspot_stall *a = pa, *b = pb;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return strcmp(a->reason, b->reason);
}

/* There are about ten reasons: looking through them is quick. A hostile file has its limit, too. */
enum { MAX_REASONS = 64 };

static void add_stall(struct make *m, struct rk_hotspot *s, const struct rk_hot_cell *c)
{
	uint32_t *reasons = &m->reasons[m->nstalls];
	size_t k = 0;

	while (k < s->nstalls && reasons[k] != c->stall)
		k++;
	if (k == s->nstalls && k == MAX_REASONS) {
		s->stalls[k - 1].reason = "(others)";
		k--;
	} else if (k == s->nstalls) {
		s->stalls[s->nstalls++] =
			(struct rk_hotspot_stall){ rk_strtab_borrow(m->names, c->stall, NULL), 0 };
		reasons[k] = c->stall;
	}
	s->stalls[k].samples += c->weight;
}

/* What the cells from i to end have together. */
static struct rk_hotspot fold(struct make *m, size_t i, size_t end)
{
	struct rk_hotspot s = { .vaddr = -1, .source = "", .stalls = &m->stalls[m->nstalls] };

	for (; i < end; i++) {
		const struct rk_hot_cell *c = &m->cells[i];

		s.weight += c->weight;
		s.hits += c->hits;
		s.idle += c->idle;
		s.stalled += c->stall ? c->weight : c->stalled;
		if (c->stall)
			add_stall(m, &s, c);
	}
	qsort(s.stalls, s.nstalls, sizeof(*s.stalls), by_samples);
	m->nstalls += s.nstalls;
	return s;
}

static int by_weight(const void *pa, const void *pb)
{
	const struct rk_hotspot *a = pa, *b = pb;
	int c;

	if ((a->instruction == rest) != (b->instruction == rest)) /* it is no instruction */
		return a->instruction == rest ? 1 : -1;
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	if (a->hits != b->hits)
		return a->hits > b->hits ? -1 : 1;
	c = strcmp(a->source, b->source);
	if (c)
		return c;
	if (a->vaddr != b->vaddr)
		return a->vaddr < b->vaddr ? -1 : 1;
	return a->instruction && b->instruction ? strcmp(a->instruction, b->instruction) : 0;
}

static void settle(struct rk_hotspot *spots, size_t n, uint64_t whole)
{
	for (size_t i = 0; i < n; i++)
		spots[i].percent = whole ? 100 * (double)spots[i].weight / (double)whole : 0;
	qsort(spots, n, sizeof(*spots), by_weight);
}

static void make_instructions(struct make *m, struct rk_hotspot_kernel *k, size_t i, size_t end)
{
	k->instructions = &m->spots[m->nspots];
	for (size_t next; i < end; i = next) {
		const struct rk_hot_cell *c = &m->cells[i];
		struct rk_hotspot s;

		next = group_end(m, i, same_instruction);
		s = fold(m, i, next);
		s.instruction = c->rest ? rest : rk_strtab_borrow(m->names, c->instruction, NULL);
		s.source = rk_strtab_borrow(m->names, c->source, NULL);
		s.vaddr = c->vaddr;
		k->instructions[k->ninstructions++] = s;
	}
	m->nspots += k->ninstructions;
	settle(k->instructions, k->ninstructions, k->sum.weight);
}

static void make_lines(struct make *m, struct rk_hotspot_kernel *k, size_t i, size_t end)
{
	k->lines = &m->spots[m->nspots];
	for (size_t next; i < end; i = next) {
		const struct rk_hot_cell *c = &m->cells[i];

		next = group_end(m, i, same_line);
		if (!c->source || c->rest)
			continue;
		k->lines[k->nlines] = fold(m, i, next);
		k->lines[k->nlines++].source = rk_strtab_borrow(m->names, c->source, NULL);
	}
	m->nspots += k->nlines;
	settle(k->lines, k->nlines, k->sum.weight);
}

static int by_kernel(const void *pa, const void *pb)
{
	const struct rk_hotspot_kernel *a = pa, *b = pb;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->sum.weight != b->sum.weight)
		return a->sum.weight > b->sum.weight ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void make_kernels(struct make *m)
{
	struct rk_hotspots *h = m->h;

	for (size_t i = 0, end; i < m->n; i = end) {
		struct rk_hotspot_kernel *k = &h->kernels[h->nkernels++];

		end = group_end(m, i, same_kernel);
		k->name = rk_strtab_borrow(m->names, m->cells[i].kernel, NULL);
		k->from = m->cells[i].from == RK_HOT_SAMPLES ? RK_FROM_PC_SAMPLES :
							       RK_FROM_THREAD_TRACE;
		k->sum = fold(m, i, end);
		k->sum.percent = 100;
		*(k->from == RK_FROM_PC_SAMPLES ? &h->samples : &h->cycles) += k->sum.weight;
		make_instructions(m, k, i, end);
		make_lines(m, k, i, end);
	}
	for (size_t i = 0; i < h->nkernels; i++) {
		struct rk_hotspot_kernel *k = &h->kernels[i];
		uint64_t whole = k->from == RK_FROM_PC_SAMPLES ? h->samples : h->cycles;

		k->percent = whole ? 100 * (double)k->sum.weight / (double)whole : 0;
	}
	qsort(h->kernels, h->nkernels, sizeof(*h->kernels), by_kernel);
}

static size_t count_kernels(const struct make *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n; i = group_end(m, i, same_kernel))
		n++;
	return n;
}

int rk_hotspots_make(const struct rk_hot_cell *cells, size_t n, const struct rk_strtab *names,
		     struct rk_hotspots *ret, struct rk_error *err)
{
	struct make m = { .cells = cells, .n = n, .names = names, .h = ret };

	m.spots = ret->memory[0] = rk_calloc(2 * n + 1, sizeof(*m.spots));
	m.stalls = ret->memory[1] = rk_calloc(3 * n + 1, sizeof(*m.stalls));
	m.reasons = rk_calloc(3 * n + 1, sizeof(*m.reasons));
	ret->kernels = rk_calloc(count_kernels(&m) + 1, sizeof(*ret->kernels));
	if (!m.spots || !m.stalls || !m.reasons || !ret->kernels) {
		rk_free(m.reasons);
		return rk_fail_nomem(err);
	}
	make_kernels(&m);
	rk_free(m.reasons);
	return 0;
}
