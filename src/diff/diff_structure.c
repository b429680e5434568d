/* diff_structure.c - compare what two runs did, independent of speed; see diff_parts.h. */
#include "diff/diff_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/num.h"
#include "base/text.h"

enum { SENTENCE = 256 };

/* As rk_diff_finding; strings are copied. */
struct finding {
	const char *kind, *subject, *text, *around_a, *around_b; /* around: NULL means "" */
	uint64_t a, b, at;
};

static void finding_free(struct rk_diff_finding *f)
{
	rk_free(f->subject);
	rk_free(f->text);
	rk_free(f->around_a);
	rk_free(f->around_b);
}

void rk_structure_release(struct rk_diff_structure *s)
{
	for (size_t i = 0; i < s->nfindings; i++)
		finding_free(&s->findings[i]);
	rk_free(s->findings);
	rk_free(s->queues);
	*s = (struct rk_diff_structure){ .asked = false };
}

/* Beyond the limit findings are only counted. */
static int add_finding(struct rk_diff_structure *s, const struct finding *f, struct rk_error *err)
{
	struct rk_diff_finding copy = { .kind = f->kind, .a = f->a, .b = f->b, .at = f->at };
	struct rk_diff_finding *grown;

	if (s->nfindings >= RK_DIFF_FINDINGS) {
		s->left_out++;
		return 0;
	}
	copy.subject = rk_strdup(f->subject);
	copy.text = rk_strdup(f->text);
	copy.around_a = rk_strdup(rk_text_or_empty(f->around_a));
	copy.around_b = rk_strdup(rk_text_or_empty(f->around_b));
	grown = rk_reallocn(s->findings, s->nfindings + 1, sizeof(*grown)); /* few */
	if (grown)
		s->findings = grown;
	if (!grown || !copy.subject || !copy.text || !copy.around_a || !copy.around_b) {
		finding_free(&copy);
		return rk_fail_nomem(err);
	}
	s->findings[s->nfindings++] = copy;
	return 0;
}

static int find_count(struct rk_diff_structure *s, const char *kind, const char *subject,
		      const char *what, uint64_t a, uint64_t b, struct rk_error *err)
{
	char text[SENTENCE];
	struct finding f = { .kind = kind, .subject = subject, .a = a, .b = b, .text = text };

	snprintf(text, sizeof(text), "%" PRIu64 " in A, %" PRIu64 " in B%s%s", a, b,
		 what[0] ? ", " : "", what);
	return add_finding(s, &f, err);
}

/* ---- launches and grids ---- */

static int compare_grids(struct rk_diff_structure *s, const struct rk_profile *a,
			 const struct rk_profile_name *na, const struct rk_profile *b,
			 const struct rk_profile_name *nb, struct rk_error *err)
{
	struct rk_shape_count *v = NULL;
	size_t n = 0;
	int rc = rk_shape_counts(a, na, b, nb, &v, &n, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < n; i++) {
		char shape[112];

		if (v[i].a == v[i].b)
			continue;
		rk_shape_text(&v[i].shape, shape, sizeof(shape));
		rc = find_count(s, "grids", na->text, shape[0] ? shape : "unknown grid", v[i].a,
				v[i].b, err);
		if (rc < 0)
			break;
	}
	rk_free(v);
	return rc;
}

/* Compares kernels by name: first how often, then (`grids`) how they were launched. */
static int compare_names(struct rk_diff_structure *s, const struct rk_profile *a,
			 const struct rk_profile *b, bool grids, struct rk_error *err)
{
	static const struct rk_profile_name none;
	struct rk_merge m = RK_MERGE(a->names, a->nnames, b->names, b->nnames, &none);
	int rc = 0;

	while (rc >= 0 && rk_merge_next(&m)) {
		const struct rk_profile_name *x = m.x, *y = m.y;

		if (grids && x != &none && y != &none)
			rc = compare_grids(s, a, x, b, y, err);
		else if (!grids && x->calls != y->calls)
			rc = find_count(s, "launches", m.name, "", x->calls, y->calls, err);
	}
	return rc;
}

/* ---- copies, synchronisation ---- */

/* The number of polling calls (queries) depends on speed; the number of waiting calls does not. */
static bool is_sync(const char *function)
{
	size_t len = strlen(function);

	if (rk_text_ends(function, len, "_ptsz"))
		len -= 5;
	if (rk_text_ends(function, len, "_spt"))
		len -= 4;
	return rk_text_ends(function, len, "Synchronize") ||
	       rk_text_ends(function, len, "StreamWaitEvent") ||
	       rk_text_ends(function, len, "clFinish") ||
	       rk_text_ends(function, len, "clWaitForEvents");
}

static int compare_lines(struct rk_diff_structure *s, const char *kind,
			 const struct rk_profile_lines *a, const struct rk_profile_lines *b,
			 bool (*counts)(const char *), struct rk_error *err)
{
	static const struct rk_profile_line none;
	struct rk_merge m = RK_MERGE(a->v, a->n, b->v, b->n, &none);
	int rc;

	while (rk_merge_next(&m)) {
		const struct rk_profile_line *x = m.x, *y = m.y;

		if (counts && !counts(m.name))
			continue;
		if (x->calls != y->calls) {
			rc = find_count(s, kind, m.name, "", x->calls, y->calls, err);
			if (rc < 0)
				return rc;
		}
		if (x->bytes != y->bytes) {
			rc = find_count(s, "bytes", m.name, "", (uint64_t)x->bytes,
					(uint64_t)y->bytes, err);
			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

/* ---- queues, compared by their contents ---- */

/*
 * Queues with the same launches in the same order match. The remaining queues are paired by the
 * longest common beginning, and the first difference is reported.
 */

/*
 * AROUND: launches shown before and after the first difference; TRIED: queues compared one by one.
 */
enum { AROUND = 2, TRIED = 64, NAME_SHOWN = 80, LINE_MAX_BYTES = 4096 };

struct odd {
	const struct rk_profile_queue *q;
	bool taken;
};

struct queues {
	const struct rk_profile *a, *b;
	struct odd *odd_a, *odd_b; /* queues without an equal one on the other side */
	size_t na, nb;
};

/* The number of equal launches at the beginning of two queues, among those that were kept. */
static size_t common(const struct queues *s, const struct rk_profile_queue *x,
		     const struct rk_profile_queue *y)
{
	size_t n = rk_min(x->kept, y->kept), i = 0;

	while (i < n && s->a->shapes[s->a->symbols[x->first + i]].hash ==
				s->b->shapes[s->b->symbols[y->first + i]].hash)
		i++;
	return i;
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/*
 * The queue of B with the longest beginning in common with x; among equals, the one with the most
 * similar length.
 */
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
		longest = rk_max(longest, n);
	}
	return best;
}

/* "..., gemm grid 1x1x1 block 8x1x1, [gelu], ..." */
static void put_around(struct rk_bytes *out, const struct rk_profile *p,
		       const struct rk_profile_queue *q, size_t at)
{
	size_t from = at > AROUND ? at - AROUND : 0, to = at + AROUND + 1;

	if (from)
		rk_bytes_puts(out, "..., ");
	for (size_t i = from; i < to && i < q->kept; i++) {
		const struct rk_profile_shape *s = &p->shapes[p->symbols[q->first + i]];
		const char *name = p->names[s->name].text;
		char shape[112];

		if (i > from)
			rk_bytes_puts(out, ", ");
		if (i == at)
			rk_bytes_puts(out, "[");
		rk_bytes_printf(out, "%.*s", NAME_SHOWN, name);
		if (strlen(name) > NAME_SHOWN)
			rk_bytes_puts(out, "...");
		rk_shape_text(&s->shape, shape, sizeof(shape));
		if (shape[0])
			rk_bytes_printf(out, " %s", shape);
		if (i == at)
			rk_bytes_puts(out, "]");
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
	char subject[64], text[192];
	struct finding f = { .kind = "sequence",
			     .subject = subject,
			     .text = text,
			     .a = x->length,
			     .b = y->length,
			     .at = at };
	struct rk_bytes around_a, around_b;
	int rc;

	rk_bytes_init(&around_a, LINE_MAX_BYTES);
	rk_bytes_init(&around_b, LINE_MAX_BYTES);
	put_around(&around_a, s->a, x, at);
	put_around(&around_b, s->b, y, at);
	snprintf(subject, sizeof(subject), "queue of %" PRIu64 " launches", x->length);
	if (at < x->kept || at < y->kept)
		snprintf(text, sizeof(text),
			 "equal for the first %zu launches, then different (%" PRIu64
			 " in A, %" PRIu64 " in B)",
			 at, x->length, y->length);
	else
		snprintf(text, sizeof(text),
			 "different somewhere after the first %zu launches (%" PRIu64
			 " in A, %" PRIu64 " in B)",
			 at, x->length, y->length);
	f.around_a = rk_bytes_str(&around_a);
	f.around_b = rk_bytes_str(&around_b);
	if (f.around_a && f.around_b)
		rc = add_finding(ret, &f, err);
	else
		rc = rk_fail_nomem(err);
	rk_bytes_release(&around_a);
	rk_bytes_release(&around_b);
	return rc;
}

static int tell_single(const struct rk_profile_queue *q, char side, struct rk_diff_structure *ret,
		       struct rk_error *err)
{
	char text[96];
	struct finding f = { .kind = "queues", .subject = "queues", .text = text };

	if (side == 'A')
		f.a = q->length;
	else
		f.b = q->length;
	snprintf(text, sizeof(text), "a queue of %" PRIu64 " launches is only in %c", q->length,
		 side);
	return add_finding(ret, &f, err);
}

static int longest_first(const void *pa, const void *pb)
{
	const struct odd *a = pa, *b = pb;

	if (a->q->length != b->q->length)
		return a->q->length > b->q->length ? -1 : 1;
	return rk_profile_queue_order(a->q, b->q);
}

static int tell_odd(struct queues *s, struct rk_diff_structure *ret, struct rk_error *err)
{
	int rc;

	qsort(s->odd_a, s->na, sizeof(*s->odd_a), longest_first);
	qsort(s->odd_b, s->nb, sizeof(*s->odd_b), longest_first);
	for (size_t i = 0; i < s->na; i++) {
		const struct rk_profile_queue *x = s->odd_a[i].q;
		struct odd *o = i < TRIED ? partner(s, x) : NULL;

		if (o) {
			o->taken = true;
			rc = tell_pair(s, x, o->q, ret, err);
		} else {
			rc = tell_single(x, 'A', ret, err);
		}
		if (rc < 0)
			return rc;
	}
	for (size_t k = 0; k < s->nb; k++) {
		if (s->odd_b[k].taken)
			continue;
		rc = tell_single(s->odd_b[k].q, 'B', ret, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int compare_queues(const struct rk_profile *a, const struct rk_profile *b,
			  struct rk_diff_structure *ret, struct rk_error *err)
{
	struct queues s = { .a = a, .b = b };
	size_t i = 0, k = 0;
	int rc;

	s.odd_a = rk_calloc(a->nqueues, sizeof(*s.odd_a));
	s.odd_b = rk_calloc(b->nqueues, sizeof(*s.odd_b));
	ret->queues = rk_calloc(a->nqueues + b->nqueues, sizeof(*ret->queues));
	if (!s.odd_a || !s.odd_b || !ret->queues) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	/* both lists are sorted by content: pair equal queues */
	while (i < a->nqueues || k < b->nqueues) {
		const struct rk_profile_queue *x = i < a->nqueues ? &a->queues[i] : NULL;
		const struct rk_profile_queue *y = k < b->nqueues ? &b->queues[k] : NULL;
		int order = x && y ? rk_profile_queue_order(x, y) : !x - !y;
		const struct rk_profile_queue *any = order <= 0 ? x : y;

		if (order < 0)
			s.odd_a[s.na++].q = x;
		if (order > 0)
			s.odd_b[s.nb++].q = y;
		ret->queues[ret->nqueues++] =
			(struct rk_diff_queue){ any->hash, any->length, order <= 0, order >= 0 };
		i += order <= 0;
		k += order >= 0;
	}
	rc = tell_odd(&s, ret, err);
out:
	rk_free(s.odd_a);
	rk_free(s.odd_b);
	return rc;
}

/* ---- the whole comparison ---- */

int rk_structure_compare(const struct rk_profile *a, const struct rk_profile *b,
			 struct rk_diff_structure *ret, struct rk_error *err)
{
	int rc;

	ret->launches_a = a->calls;
	ret->launches_b = b->calls;
	if ((rc = compare_names(ret, a, b, false, err)) < 0 ||
	    (rc = compare_queues(a, b, ret, err)) < 0 ||
	    (rc = compare_lines(ret, "copies", &a->copies, &b->copies, NULL, err)) < 0 ||
	    (rc = compare_lines(ret, "syncs", &a->markers, &b->markers, NULL, err)) < 0)
		return rc;
	/* API calls are only recorded on request */
	if (a->api.known && b->api.known) {
		rc = compare_lines(ret, "syncs", &a->api, &b->api, is_sync, err);
		if (rc < 0)
			return rc;
	}
	rc = compare_names(ret, a, b, true, err);
	if (rc < 0)
		return rc;
	ret->equal = !ret->nfindings;
	return 0;
}
