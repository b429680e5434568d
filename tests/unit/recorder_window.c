/* recorder_window.c (test) - a window has the last records, whoever wrote them and however slowly. */
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

#include "read/rkraw/raw.h"
#include "recorder_world.h"

/* A record of plain() takes 10 bytes, and a block is left when less than 128 are free. */
enum { BLOCK = ((32 << 10) - 64 - 128) / 10, MOST = 1 << 18 };

static uint32_t queue, shape;
static uint64_t next_number;

static void define(void)
{
	struct rk_rec_device d = { .type = RK_REC_GPU };
	struct rk_rec_function f = { .name = rk_rec_string("f", 1) };
	struct rk_rec_shape s = { .items = { 1, 1, 1 }, .group = { 1, 1, 1 } };

	queue = rk_rec_queue(rk_rec_device(&d), 0, 0);
	s.function = rk_rec_function(&f);
	shape = rk_rec_shape(&s);
}

static bool plain(uint64_t n)
{
	int64_t at = (int64_t)n * 10;
	struct rk_rec_kernel k = { shape, queue, 1, n, { at, at + 1, at + 2, at + 3 }, 0, 0 };

	return rk_rec_kernel(&k);
}

/* The next so many numbers, on the calling thread. */
static void some(uint64_t n)
{
	for (; n; n--)
		MUST(plain(next_number++));
}

/* ---- a thread that follows commands ---- */

struct slow {
	pthread_t thread;
	sem_t go, done;
	uint64_t n; /* 0: end */
};

static void *obey(void *arg)
{
	struct slow *s = arg;

	while (!sem_wait(&s->go) && s->n) {
		some(s->n);
		sem_post(&s->done);
	}
	return NULL;
}

static void slow_start(struct slow *s)
{
	MUST(!sem_init(&s->go, 0, 0) && !sem_init(&s->done, 0, 0));
	MUST(!pthread_create(&s->thread, NULL, obey, s));
}

static void slow_some(struct slow *s, uint64_t n)
{
	s->n = n;
	sem_post(&s->go);
	MUST(!sem_wait(&s->done));
}

static void slow_end(struct slow *s)
{
	s->n = 0;
	sem_post(&s->go);
	MUST(!pthread_join(s->thread, NULL));
}

/* ---- what the file has ---- */

struct kept {
	uint8_t seen[MOST];
	uint64_t rows, highest, tail; /* tail: numbers up to the highest without a gap */
	uint64_t turned;              /* rows with a lower number than the row before */
};

static void keep_row(struct kept *k, uint64_t n, uint64_t before)
{
	if (!CHECK(n < MOST) || !CHECK_U64(k->seen[n]++, 0))
		return;
	k->turned += k->rows++ && n < before;
	k->highest = n > k->highest ? n : k->highest;
}

static void read_kept(struct world *w, const char *path, struct kept *k)
{
	struct rk_reader *r = NULL;
	struct rk_source *s = NULL;
	const struct rk_batch *b;
	uint64_t n = 0, before = 0;

	memset(k, 0, sizeof(*k));
	if (!CHECK_I64(rk_reader_open(path, &w->ctx, &r, &w->err), 0) ||
	    !CHECK_I64(r->ops->scan(r, RK_KERNELS, RK_WANT_ALL, &s, &w->err), 0))
		return;
	while (rk_source_next(s, &b, &w->err) > 0) {
		for (size_t i = 0; i < b->nrows; i++, before = n) {
			n = (uint64_t)((const int64_t *)b->cols[RK_K_CORRELATION].data)[i];
			keep_row(k, n, before);
		}
	}
	for (n = k->highest + 1; n && k->seen[n - 1]; n--)
		k->tail++;
	rk_source_close(s);
	rk_reader_close(r);
}

static struct kept kept;

/* Six blocks for records. What is not there was overwritten: nothing is lost in another way. */
static void keeps(void (*what)(void *), uint64_t written)
{
	struct world w;
	const char *path;

	world_open(&w, 1);
	CHECK_I64(record(&w, "limit=288K,block=32K,window=1", what, NULL, &path), 0);
	read_kept(&w, path, &kept);
	CHECK_U64(kept.highest, written - 1);
	CHECK_U64(world_warned(&w, "overwritten-records"), written - kept.rows);
	CHECK_U64(world_warned(&w, "dropped-records"), 0);
	CHECK_U64(world_warned(&w, "damaged-block"), 0);
	world_close(&w);
}

/* ---- tests ---- */

/* The slow thread has its block first, and fills it when the others have been taken. */
static void fill_late(void *arg)
{
	struct slow s;

	(void)arg;
	define();
	slow_start(&s);
	slow_some(&s, 10);
	some(BLOCK * 9 / 2);
	slow_some(&s, BLOCK * 3 / 2);
	slow_end(&s);
}

TEST(a_block_that_was_taken_first_and_filled_last_is_not_the_oldest)
{
	uint64_t written = 10 + BLOCK * 9 / 2 + BLOCK * 3 / 2;

	keeps(fill_late, written);
	/* only the first block that was full is gone */
	CHECK(kept.tail >= written - 10 - BLOCK - 1 && kept.tail < written - 10);
	CHECK(kept.seen[0] && kept.seen[9] && !kept.seen[10]);
}

/* The slow thread needs as long for a block as the window lasts, now more, now less. */
static void fill_unevenly(void *arg)
{
	struct slow s;

	define();
	slow_start(&s);
	for (uint64_t i = 0; i < *(uint64_t *)arg; i++) {
		some(BLOCK / 4);
		slow_some(&s, 1 + i * 7 % 11 * BLOCK / 100);
	}
	slow_end(&s);
}

TEST(at_any_moment_the_window_has_the_last_records)
{
	for (uint64_t steps = 60; steps < 100; steps++) {
		struct world w;
		const char *path;

		world_open(&w, 1);
		CHECK_I64(record(&w, "limit=288K,block=32K,window=1", fill_unevenly, &steps, &path),
			  0);
		read_kept(&w, path, &kept);
		/* four are full; of two of them a part may be older than what was overwritten */
		if (!CHECK(kept.tail > 2 * BLOCK))
			printf("# %d steps: the last %d of %d\n", (int)steps, (int)kept.tail,
			       (int)kept.rows);
		world_close(&w);
	}
}

static void stay_idle(void *arg)
{
	struct slow s;

	(void)arg;
	define();
	slow_start(&s);
	slow_some(&s, 1);
	some(BLOCK * 20);
	slow_some(&s, 1);
	some(BLOCK * 20);
	slow_end(&s);
}

TEST(an_idle_thread_keeps_its_block_and_delays_nothing)
{
	keeps(stay_idle, BLOCK * 40 + 2);
	CHECK(kept.seen[0] && kept.seen[BLOCK * 20 + 1]);
	CHECK(kept.tail > 4 * BLOCK);
	CHECK_U64(kept.rows, kept.tail + 2);
}

/* One block is that of a thread which goes on much later: the order on the disk is another then. */
static void turn_over(void *arg)
{
	struct slow s;

	(void)arg;
	define();
	slow_start(&s);
	for (unsigned i = 0; i < 5; i++) {
		slow_some(&s, BLOCK / 3);
		some(BLOCK * 3);
	}
	slow_end(&s);
	some(BLOCK * 5);
}

TEST(blocks_of_a_window_are_read_in_the_order_of_their_taking)
{
	keeps(turn_over, 5 * (BLOCK / 3 + BLOCK * 3) + BLOCK * 5);
	CHECK(kept.tail > 4 * BLOCK);
	CHECK_U64(kept.turned, 0);
}

/* ---- more threads than blocks ---- */

static void crowd(void *arg)
{
	struct slow s[2];

	(void)arg;
	define();
	for (unsigned i = 0; i < 2; i++) {
		slow_start(&s[i]);
		slow_some(&s[i], 1);
	}
	for (unsigned i = 0; i < 5; i++)
		MUST(!plain(next_number));
	slow_end(&s[0]); /* its block is free for others */
	some(BLOCK * 5);
	slow_some(&s[1], 1);
	slow_end(&s[1]);
}

TEST(a_thread_for_which_there_is_no_block_waits_for_the_end_of_another)
{
	struct world w;
	const char *path;

	world_open(&w, 1);
	CHECK_I64(record(&w, "limit=160K,block=32K,window=1", crowd, NULL, &path), 0);
	read_kept(&w, path, &kept);
	CHECK_U64(kept.highest, BLOCK * 5 + 2);
	CHECK(kept.seen[1] && kept.tail > 1);
	CHECK_U64(world_warned(&w, "dropped-records"), 5);
	world_close(&w);
}

enum { HASTY = 5, ROUNDS = 40, EACH = BLOCK };

static _Atomic uint64_t lost_number;

static void *hurry(void *arg)
{
	uint64_t first = (uint64_t)(uintptr_t)arg * EACH;

	for (uint64_t n = first; n < first + EACH; n++)
		lost_number += !plain(n);
	return NULL;
}

/* Five blocks, five threads that come and go. */
static void scramble(void *arg)
{
	(void)arg;
	define();
	for (uintptr_t i = 0; i < ROUNDS; i += HASTY) {
		pthread_t threads[HASTY];

		for (uintptr_t j = 0; j < HASTY; j++)
			MUST(!pthread_create(&threads[j], NULL, hurry, (void *)(i + j)));
		for (unsigned j = 0; j < HASTY; j++)
			MUST(!pthread_join(threads[j], NULL));
	}
	MUST(lost_number == rk_rec_lost());
}

TEST(every_record_is_in_the_window_or_counted)
{
	struct world w;
	const char *path;
	uint64_t gone;

	world_open(&w, 1);
	CHECK_I64(record(&w, "limit=256K,block=32K,window=1", scramble, NULL, &path), 0);
	read_kept(&w, path, &kept);
	gone = world_warned(&w, "overwritten-records") + world_warned(&w, "dropped-records");
	CHECK_U64(kept.rows + gone, ROUNDS * EACH);
	CHECK(kept.rows > 3 * BLOCK);
	CHECK_U64(world_warned(&w, "damaged-block"), 0);
	world_close(&w);
}
