/*
 * diff_sequence.c - queues of two runs, compared by what is in them.
 *
 * Queues with the same launches in the same order belong together. Of those left over, two belong
 * together that go the same way for longest; where they part is told.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "diff/diff_structure.h"

/* Launches shown before and behind the first difference; queues that are compared one by one. */
enum { AROUND = 2, TRIED = 64, NAME_SHOWN = 80, LINE_MAX_BYTES = 4096 };

struct odd {
	const struct rk_profile_queue *q;
	bool taken;
};

struct queues {
	const struct rk_profile *a, *b;
	struct odd *odd_a, *odd_b; /* without an equal on the other side */
	size_t na, nb;
};

static int compare(const struct rk_profile_queue *a, const struct rk_profile_queue *b)
{
	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	return a->length < b->length ? -1 : a->length > b->length;
}

/* Both lists are in order of their content. */
static void pair_equals(struct queues *s, struct rk_diff_structure *ret)
{
	size_t i = 0, k = 0;

	while (i < s->a->nqueues || k < s->b->nqueues) {
		const struct rk_profile_queue *x = i < s->a->nqueues ? &s->a->queues[i] : NULL;
		const struct rk_profile_queue *y = k < s->b->nqueues ? &s->b->queues[k] : NULL;
		int order = !x ? 1 : !y ? -1 : compare(x, y);
		const struct rk_profile_queue *any = order <= 0 ? x : y;

		if (order < 0)
			s->odd_a[s->na++].q = x;
		if (order > 0)
			s->odd_b[s->nb++].q = y;
		ret->queues[ret->nqueues++] =
			(struct rk_diff_queue){ any->hash, any->length, order <= 0, order >= 0 };
		i += order <= 0;
		k += order >= 0;
	}
}

/* How many launches two queues begin with alike, as far as they are kept. */
static size_t common(const struct queues *s, const struct rk_profile_queue *x,
		     const struct rk_profile_queue *y)
{
	size_t n = x->kept < y->kept ? x->kept : y->kept, i = 0;

	while (i < n && s->a->shapes[s->a->symbols[x->first + i]].hash ==
				s->b->shapes[s->b->symbols[y->first + i]].hash)
		i++;
	return i;
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* The one of B that goes with x for longest; of equals the one most alike in length. */
static struct odd *partner(const struct queues *s, const struct rk_profile_queue *x)
{
	struct odd *best = NULL;
	size_t longest = 0;

	for (size_t k = 0; k < s->nb && k < TRIED; k++) {
		struct odd *o = &s->odd_b[k];
		size_t n;

		if (o->taken)
			continue;
		n = common(s, x, o->q);
		if (!best || n > longest ||
		    (n == longest &&
		     apart(o->q->length, x->length) < apart(best->q->length, x->length)))
			best = o;
		longest = n > longest ? n : longest;
	}
	return best;
}

static void put_launch(struct rk_bytes *out, const struct rk_profile *p, uint32_t symbol)
{
	const struct rk_profile_shape *s = &p->shapes[symbol];
	const char *name = p->names[s->name].text;
	char shape[112];

	rk_shape_text(&s->shape, shape, sizeof(shape));
	rk_bytes_printf(out, "%.*s%s%s%s", NAME_SHOWN, name, strlen(name) > NAME_SHOWN ? "..." : "",
			shape[0] ? " " : "", shape);
}

/* "..., gemm grid 1x1x1 block 8x1x1, [gelu], ..." */
static void put_around(struct rk_bytes *out, const struct rk_profile *p,
		       const struct rk_profile_queue *q, size_t at)
{
	size_t from = at > AROUND ? at - AROUND : 0, to = at + AROUND + 1;

	if (from)
		rk_bytes_puts(out, "..., ");
	for (size_t i = from; i < to && i < q->kept; i++) {
		rk_bytes_puts(out, i > from ? ", " : "");
		rk_bytes_puts(out, i == at ? "[" : "");
		put_launch(out, p, p->symbols[q->first + i]);
		rk_bytes_puts(out, i == at ? "]" : "");
	}
	if (at >= q->length)
		rk_bytes_puts(out, at > from ? ", [end]" : "[end]");
	else if (to < q->length)
		rk_bytes_puts(out, ", ...");
}

static int tell_pair(const struct queues *s, const struct rk_profile_queue *x,
		     const struct rk_profile_queue *y, struct rk_diff_structure *ret,
		     struct rk_error *err)
{
	size_t at = common(s, x, y);
	bool seen = at < x->kept || at < y->kept;
	struct rk_finding f = { .kind = "sequence", .a = x->length, .b = y->length, .at = at };
	struct rk_bytes around_a, around_b;
	char subject[64], text[192];
	int rc;

	rk_bytes_init(&around_a, LINE_MAX_BYTES);
	rk_bytes_init(&around_b, LINE_MAX_BYTES);
	put_around(&around_a, s->a, x, at);
	put_around(&around_b, s->b, y, at);
	snprintf(subject, sizeof(subject), "queue of %" PRIu64 " launches", x->length);
	snprintf(text, sizeof(text),
		 seen ? "alike for %zu launches, then not (%" PRIu64 " in A, %" PRIu64 " in B)" :
			"not alike somewhere behind the first %zu launches (%" PRIu64
			" in A, %" PRIu64 " in B)",
		 at, x->length, y->length);
	f.subject = subject;
	f.text = text;
	f.around_a = rk_bytes_str(&around_a);
	f.around_b = rk_bytes_str(&around_b);
	rc = f.around_a && f.around_b ? rk_structure_find(ret, &f, err) : rk_fail_nomem(err);
	rk_bytes_release(&around_a);
	rk_bytes_release(&around_b);
	return rc;
}

static int tell_single(const struct rk_profile_queue *q, bool b, struct rk_diff_structure *ret,
		       struct rk_error *err)
{
	char text[96];

	snprintf(text, sizeof(text), "a queue of %" PRIu64 " launches is in %s alone", q->length,
		 b ? "B" : "A");
	return rk_structure_find(ret,
				 &(struct rk_finding){ .kind = "queues",
						       .subject = "queues",
						       .text = text,
						       .a = b ? 0 : q->length,
						       .b = b ? q->length : 0 },
				 err);
}

static int longest_first(const void *pa, const void *pb)
{
	const struct odd *a = pa, *b = pb;

	if (a->q->length != b->q->length)
		return a->q->length > b->q->length ? -1 : 1;
	return compare(a->q, b->q);
}

static int tell_odd(struct queues *s, struct rk_diff_structure *ret, struct rk_error *err)
{
	int rc = 0;

	qsort(s->odd_a, s->na, sizeof(*s->odd_a), longest_first);
	qsort(s->odd_b, s->nb, sizeof(*s->odd_b), longest_first);
	for (size_t i = 0; rc == 0 && i < s->na; i++) {
		const struct rk_profile_queue *x = s->odd_a[i].q;
		struct odd *o = i < TRIED ? partner(s, x) : NULL;

		if (o)
			o->taken = true;
		rc = o ? tell_pair(s, x, o->q, ret, err) : tell_single(x, false, ret, err);
	}
	for (size_t k = 0; rc == 0 && k < s->nb; k++)
		if (!s->odd_b[k].taken)
			rc = tell_single(s->odd_b[k].q, true, ret, err);
	return rc;
}

int rk_structure_queues(const struct rk_profile *a, const struct rk_profile *b,
			struct rk_diff_structure *ret, struct rk_error *err)
{
	struct queues s = { .a = a, .b = b };
	int rc = 0;

	s.odd_a = rk_calloc(a->nqueues, sizeof(*s.odd_a));
	s.odd_b = rk_calloc(b->nqueues, sizeof(*s.odd_b));
	ret->queues = rk_calloc(a->nqueues + b->nqueues, sizeof(*ret->queues));
	if (!s.odd_a || !s.odd_b || !ret->queues)
		rc = rk_fail_nomem(err);
	if (rc == 0) {
		pair_equals(&s, ret);
		rc = tell_odd(&s, ret, err);
	}
	rk_free(s.odd_a);
	rk_free(s.odd_b);
	return rc;
}
