/* arrow_stream.c - adds up the durations of each queue from an Arrow stream of two columns. */
#include <stdio.h>
#include <string.h>

#include <rockit/rockit.h>
#include <rockit/stream.h>

enum { MAX_QUEUES = 64 };

static bool has(const struct ArrowArray *a, int64_t i)
{
	const unsigned char *valid = a->buffers[0];

	return !valid || valid[i / 8] >> i % 8 & 1;
}

/* Rows without a duration count as 0, rows without a queue are left out. */
static void add(const struct ArrowArray *batch, int64_t sums[MAX_QUEUES])
{
	const struct ArrowArray *queue = batch->children[0], *duration = batch->children[1];
	const int64_t *q = queue->buffers[1], *ns = duration->buffers[1];

	for (int64_t i = 0; i < batch->length; i++)
		if (has(queue, i) && has(duration, i) && q[i] >= 0 && q[i] < MAX_QUEUES)
			sums[q[i]] += ns[i];
}

/* All batches; 0 or an errno. */
static int drain(struct ArrowArrayStream *stream, int64_t sums[MAX_QUEUES])
{
	struct ArrowArray batch;
	int rc;

	while ((rc = stream->get_next(stream, &batch)) == 0 && batch.release) {
		add(&batch, sums);
		batch.release(&batch);
	}
	if (rc)
		fprintf(stderr, "arrow_stream: %s\n", stream->get_last_error(stream));
	return rc;
}

int main(int argc, char **argv)
{
	static const char *const columns[] = { "queue_id", "duration_ns", NULL };
	const struct rk_stream_options opt = { .table = "kernels", .columns = columns };
	const char *const *paths = (const char *const *)argv + 1;
	int64_t sums[MAX_QUEUES] = { 0 };
	struct ArrowArrayStream stream;
	struct rk_error err = { 0 };
	struct rk_run *run = NULL;
	int rc;

	if (argc < 2) {
		fprintf(stderr, "usage: arrow_stream TRACE...\n");
		return 2;
	}
	rc = rk_run_open(paths, (size_t)argc - 1, NULL, &run, &err);
	if (rc == 0)
		rc = rk_run_stream(run, &opt, &stream, &err);
	if (rc < 0) {
		fprintf(stderr, "arrow_stream: %s\n", err.message);
		rk_run_close(run);
		return 1;
	}
	/* streams keep what they need from the run */
	rk_run_close(run);
	rc = drain(&stream, sums);
	stream.release(&stream);
	for (int q = 0; q < MAX_QUEUES && !rc; q++)
		if (sums[q])
			printf("queue %d: %.3f ms\n", q, (double)sums[q] / 1e6);
	return rc ? 1 : 0;
}
