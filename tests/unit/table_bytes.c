/* table_bytes.c (test) - how many bytes a kernel takes, from the recorder to Parquet. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "recorder_world.h"
#include "rockit/rockit.h"

/*
 * A program whose threads each run a loop of 97 launches out of fifty kernels. As in real programs a
 * kernel is the rarer the longer it takes (the n-th is launched 1/n as often as the first), and
 * local memory and a second dimension are exceptions. Calls, gaps and kernels take their usual time
 * plus or minus 10 %. Several threads are not in step and share queues, so nothing repeats from row
 * to row: a Parquet file has a column for each value and cannot use that the kernel's name decides
 * most of them. The seed is constant.
 */
enum { KERNELS = 1000000, THREADS = 8, QUEUES = 4, NAMES = 50, STEP = 97, HELD = 64 };

static const struct load {
	unsigned threads, queues;
	double kernels, both; /* most bytes of a kernel, and with its call */
} loads[] = {
	{ 1, 1, 7, 14 },
	{ 8, 4, 9, 14 },
};

static uint64_t seed = 88172645463325252;

static int64_t jitter(int64_t ns)
{
	return ns * 9 / 10 + (int64_t)(world_random(&seed) % ((uint64_t)ns / 5 + 1));
}

struct program {
	const struct load *load;
	uint32_t shapes[NAMES], queues[THREADS], calls[2];
	int64_t usual[NAMES], at[THREADS], free[QUEUES];
	unsigned loop[THREADS][STEP], step[THREADS];
	struct {
		uint64_t id;
		int64_t start, end;
	} held[QUEUES][HELD]; /* kernels that are not over yet */
	uint64_t first[QUEUES], last[QUEUES];
};

static void define(struct program *p)
{
	uint32_t gpu = rk_rec_device(&(struct rk_rec_device){
		.type = RK_REC_GPU, .name = rk_rec_string("gfx942", 6), .wave_size = 64 });
	double total = 0;
	char text[64];

	rk_rec_calibration(gpu, 1000000000, 1000000000, 1000000000, 10);
	for (unsigned i = 0; i < p->load->threads; i++)
		p->queues[i] = rk_rec_queue(gpu, i % p->load->queues, 0);
	for (unsigned i = 0; i < NAMES; i++) {
		int len = snprintf(text, sizeof(text), "void gemm<float, %u>(float *)", i);
		uint32_t f = rk_rec_function(
			&(struct rk_rec_function){ .name = rk_rec_string(text, (size_t)len),
						   .device = gpu,
						   .regs = 32u << i % 3,
						   .agprs = 8,
						   .sgprs = 32 });

		total += 1. / (i + 1);
		p->usual[i] = 2000 + 500 * (int64_t)i;
		p->shapes[i] = rk_rec_shape(&(struct rk_rec_shape){
			.function = f,
			.local_bytes = i % 5 == 4 ? 16384 : 0,
			.items = { 65536u << i % 4, i % 10 == 9 ? 16 : 1, 1 },
			.group = { 256, 1, 1 } });
	}
	for (unsigned t = 0; t < p->load->threads; t++)
		for (unsigned k = 0; k < STEP; k++) {
			double dice = (double)(world_random(&seed) % 1000000) / 1e6 * total;

			while (p->loop[t][k] < NAMES - 1 && (dice -= 1. / (p->loop[t][k] + 1)) > 0)
				p->loop[t][k]++;
		}
	p->calls[0] = rk_rec_string("hipLaunchKernel", 15);
	p->calls[1] = rk_rec_string("hipModuleLaunchKernel", 21);
}

/* Records the times of kernels that ended before `now`. */
static void harvest(struct program *p, int64_t now)
{
	for (unsigned q = 0; q < p->load->queues; q++)
		while (p->first[q] < p->last[q] && p->held[q][p->first[q] % HELD].end < now) {
			unsigned i = p->first[q]++ % HELD;

			MUST(rk_rec_ran(p->held[q][i].id, p->held[q][i].start, p->held[q][i].end,
					0));
		}
}

/* The next launch of thread t. */
static void launch(struct program *p, unsigned t)
{
	unsigned q = t % p->load->queues, i = p->loop[t][p->step[t]++ % STEP];
	struct rk_rec_launch l = { .shape = p->shapes[i],
				   .queue = p->queues[t],
				   .tid = 4000 + t,
				   .correlation = rk_rec_next_id() };
	int64_t took = jitter(1500), start, end;

	l.id = rk_rec_next_id();
	l.submit_ns = p->at[t] + took / 2;
	MUST(rk_rec_launch(&l));
	start = l.submit_ns + jitter(3000);
	if (start < p->free[q])
		start = p->free[q] + jitter(300);
	end = start + jitter(p->usual[i]);
	p->held[q][p->last[q] % HELD].id = l.id;
	p->held[q][p->last[q] % HELD].start = start;
	p->held[q][p->last[q]++ % HELD].end = end;
	p->free[q] = end;
	MUST(rk_rec_call(&(struct rk_rec_call){ .name = p->calls[i % 2],
						.tid = l.tid,
						.correlation = l.correlation,
						.start_ns = p->at[t],
						.duration_ns = took }));
	p->at[t] += took + jitter(9000 * p->load->threads / p->load->queues);
	/* a thread does not run far ahead of its queue */
	end = p->last[q] < HELD / 2 ? 0 : p->held[q][(p->last[q] - HELD / 2) % HELD].end;
	if (p->at[t] < end)
		p->at[t] = end + jitter(1000);
}

static void play(void *arg)
{
	struct program *p = calloc(1, sizeof(*p));

	MUST(p != NULL);
	p->load = arg;
	define(p);
	for (unsigned t = 0; t < p->load->threads; t++)
		p->at[t] = 2000000000 + (int64_t)t * 1000;
	for (unsigned n = 0; n < KERNELS; n++) {
		unsigned t = 0;

		for (unsigned i = 1; i < p->load->threads; i++)
			if (p->at[i] < p->at[t])
				t = i;
		harvest(p, p->at[t]);
		launch(p, t);
	}
	harvest(p, INT64_MAX);
	MUST(rk_rec_lost() == 0);
	free(p);
}

static double bytes_each(struct world *w, const char *name)
{
	char path[512];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", w->dir, name);
	return CHECK_I64(stat(path, &st), 0) ? (double)st.st_size / KERNELS : 0;
}

static void measure(const struct load *load)
{
	struct rk_convert_options what = { .format = "parquet" };
	struct rk_convert_result done = { 0 };
	struct load copy = *load;
	struct rk_run *run = NULL;
	struct world w;
	double raw, kernels, api;
	const char *path;
	char out[256];

	world_open(&w, 1);
	CHECK_I64(record(&w, "limit=256M", play, &copy, &path), 0);
	snprintf(out, sizeof(out), "%s/", w.dir);
	what.out = out;
	CHECK_I64(rk_run_open(&path, 1, NULL, &run, &w.err), 0);
	CHECK_I64(rk_run_convert(run, &what, &done, &w.err), 0);
	CHECK_U64(done.rows, 2 * KERNELS + 2);
	rk_run_close(run);
	kernels = bytes_each(&w, "rocprof_kernels.parquet");
	api = bytes_each(&w, "api.parquet");
	raw = bytes_each(&w, strrchr(path, '/') + 1);
	printf("# %u threads on %u queues, bytes per kernel: %.2f raw with its call; %.2f in Parquet, "
	       "%.2f with its call\n",
	       load->threads, load->queues, raw, kernels, kernels + api);
	CHECK(kernels <= load->kernels);
	CHECK(kernels + api <= load->both);
	world_close(&w);
}

TEST(a_kernel_of_one_thread_takes_at_most_7_bytes_and_14_with_its_call)
{
	measure(&loads[0]);
}

TEST(a_kernel_of_eight_threads_takes_at_most_9_bytes_and_14_with_its_call)
{
	measure(&loads[1]);
}
