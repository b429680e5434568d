/* gen_workload.c - the invented program's schedule. */
#include <string.h>

#include "gen_workload.h"

/* splitmix64 */
uint64_t gen_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static unsigned draw_kernel(uint64_t *state)
{
	uint64_t total = 0, at;
	unsigned k = 0;

	for (unsigned i = 0; i < GEN_KERNELS; i++)
		total += gen_kernels[i].weight;
	at = gen_random(state) % total;
	while (at >= gen_kernels[k].weight)
		at -= gen_kernels[k++].weight;
	return k;
}

void gen_start(struct gen_workload *w, uint64_t seed, uint64_t rows)
{
	memset(w, 0, sizeof(*w));
	w->state = seed * 0x2545f4914f6cdd1du + 1;
	w->rows = rows;
	w->correlation_id = 1000;
	/* Every kernel is in the model at least once. */
	for (unsigned i = 0; i < GEN_MODEL; i++)
		w->model[i] = i < GEN_KERNELS ? i : draw_kernel(&w->state);
	for (unsigned i = GEN_MODEL - 1; i > 0; i--) {
		unsigned j = (unsigned)(gen_random(&w->state) % (i + 1)), t = w->model[i];

		w->model[i] = w->model[j];
		w->model[j] = t;
	}
	for (unsigned s = 0; s < GEN_STREAMS; s++)
		w->free_ns[s] = GEN_START_NS + (int64_t)(gen_random(&w->state) % 50000);
}

static unsigned first_free(const struct gen_workload *w)
{
	unsigned best = 0;

	for (unsigned s = 1; s < GEN_STREAMS; s++)
		if (w->free_ns[s] < w->free_ns[best])
			best = s;
	return best;
}

/* The mean, 13 % up or down, and one in a hundred two to four times as long; GPU ticks of 10 ns. */
static int64_t draw_duration(uint64_t *state, uint32_t mean_ns)
{
	uint64_t r = gen_random(state);
	uint64_t ns = (uint64_t)mean_ns * (870 + r % 261) / 1000;

	if ((r >> 32) % 100 == 0)
		ns *= 2 + (r >> 40) % 3;
	return (int64_t)(ns / 10 * 10 + 10);
}

static void fill_call(struct gen_event *e, uint64_t r)
{
	e->call_start_ns = e->start_ns - 4000 - (int64_t)(r % 9000);
	e->call_end_ns = e->call_start_ns + 1500 + (int64_t)((r >> 16) % 2400);
}

static void fill_copy(struct gen_workload *w, struct gen_event *e, unsigned s, uint64_t r)
{
	e->is_copy = true;
	e->to_device = r & 1;
	e->bytes = UINT64_C(4096) << (r >> 8) % 14;
	e->start_ns = w->free_ns[s];
	e->end_ns = e->start_ns + 2000 + (int64_t)(e->bytes / 48);
}

static void fill_kernel(struct gen_workload *w, struct gen_event *e, unsigned s, uint64_t r)
{
	unsigned slot = (unsigned)(w->done % GEN_MODEL);
	const struct gen_kernel *k;

	e->kernel = r % 16 == 0 ? draw_kernel(&w->state) : w->model[slot];
	k = &gen_kernels[e->kernel];
	memcpy(e->grid, k->grid, sizeof(e->grid));
	if (k->grid[0] > k->block[0])
		e->grid[0] = k->grid[0] * (uint32_t)(1 + (r >> 4) % 4);
	e->start_ns = w->free_ns[s];
	e->end_ns = e->start_ns + draw_duration(&w->state, k->mean_ns);
	e->dispatch_id = ++w->done;
}

bool gen_next(struct gen_workload *w, struct gen_event *e)
{
	unsigned s = first_free(w);
	uint64_t r = gen_random(&w->state);

	if (w->done == w->rows)
		return false;
	memset(e, 0, sizeof(*e));
	e->agent = GEN_FIRST_GPU + s % GEN_GPUS;
	e->stream = s / GEN_GPUS;
	e->queue = 1 + s;
	e->tid = GEN_PID + s % GEN_GPUS * 14;
	e->phase = w->done / (GEN_MODEL / GEN_PHASES);
	/* Between two launches there are other calls: ids have gaps. */
	w->correlation_id += 1 + (r >> 20) % 3;
	e->correlation_id = w->correlation_id;
	if ((r >> 56) % 29 == 0)
		fill_copy(w, e, s, r);
	else
		fill_kernel(w, e, s, r);
	fill_call(e, gen_random(&w->state));
	w->free_ns[s] = e->end_ns + 10 * (int64_t)(40 + (r >> 44) % 400);
	return true;
}
