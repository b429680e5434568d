/* diff_structure.c - see diff_structure.h. */
#include "diff/diff_structure.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "diff/diff_parts.h"

enum { SENTENCE = 256 };

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

int rk_structure_find(struct rk_diff_structure *s, const struct rk_finding *f, struct rk_error *err)
{
	struct rk_diff_finding copy = { .kind = f->kind, .a = f->a, .b = f->b, .at = f->at },
			       *grown;

	if (s->nfindings >= RK_DIFF_FINDINGS) {
		s->left_out++;
		return 0;
	}
	copy.subject = rk_strdup(f->subject ? f->subject : "");
	copy.text = rk_strdup(f->text ? f->text : "");
	copy.around_a = rk_strdup(f->around_a ? f->around_a : "");
	copy.around_b = rk_strdup(f->around_b ? f->around_b : "");
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

	snprintf(text, sizeof(text), "%" PRIu64 " in A, %" PRIu64 " in B%s%s", a, b,
		 what[0] ? ", " : "", what);
	return rk_structure_find(
		s,
		&(struct rk_finding){
			.kind = kind, .subject = subject, .a = a, .b = b, .text = text },
		err);
}

/* ---- launches and grids ---- */

static int compare_grids(struct rk_diff_structure *s, const struct rk_profile *a,
			 const struct rk_profile_name *na, const struct rk_profile *b,
			 const struct rk_profile_name *nb, struct rk_error *err)
{
	struct rk_shape_count *v = NULL;
	size_t n = 0;
	int rc = rk_shape_counts(a, na, b, nb, &v, &n, err);

	for (size_t i = 0; rc == 0 && i < n; i++) {
		char shape[112], what[160];

		if (v[i].a == v[i].b)
			continue;
		rk_shape_text(&v[i].shape, shape, sizeof(shape));
		snprintf(what, sizeof(what), "%s", shape[0] ? shape : "no known grid");
		rc = find_count(s, "grids", na->text, what, v[i].a, v[i].b, err);
	}
	rk_free(v);
	return rc;
}

/* Kernels by name: first how often, then (`grids`) how they were launched. */
static int compare_names(struct rk_diff_structure *s, const struct rk_profile *a,
			 const struct rk_profile *b, bool grids, struct rk_error *err)
{
	size_t i = 0, k = 0;
	int rc = 0;

	while (rc == 0 && (i < a->nnames || k < b->nnames)) {
		int order = i == a->nnames ? 1 :
			    k == b->nnames ? -1 :
					     strcmp(a->names[i].text, b->names[k].text);
		const struct rk_profile_name *x = order <= 0 ? &a->names[i++] : NULL;
		const struct rk_profile_name *y = order >= 0 ? &b->names[k++] : NULL;
		uint64_t ca = x ? x->calls : 0, cb = y ? y->calls : 0;

		if (grids && x && y)
			rc = compare_grids(s, a, x, b, y, err);
		else if (!grids && ca != cb)
			rc = find_count(s, "launches", x ? x->text : y->text, "", ca, cb, err);
	}
	return rc;
}

/* ---- copies, synchronisation ---- */

/* How often it is asked whether something is over depends on speed; waiting for it does not. */
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

static int compare_line(struct rk_diff_structure *s, const char *kind,
			const struct rk_profile_line *x, const struct rk_profile_line *y,
			struct rk_error *err)
{
	const char *name = x ? x->name : y->name;
	uint64_t ca = x ? x->calls : 0, cb = y ? y->calls : 0;
	int64_t ba = x ? x->bytes : 0, bb = y ? y->bytes : 0;
	int rc = 0;

	if (ca != cb)
		rc = find_count(s, kind, name, "", ca, cb, err);
	if (rc == 0 && ba != bb)
		rc = find_count(s, "bytes", name, "", (uint64_t)ba, (uint64_t)bb, err);
	return rc;
}

static int compare_lines(struct rk_diff_structure *s, const char *kind,
			 const struct rk_profile_lines *a, const struct rk_profile_lines *b,
			 bool (*counts)(const char *), struct rk_error *err)
{
	size_t i = 0, k = 0;
	int rc = 0;

	while (rc == 0 && (i < a->n || k < b->n)) {
		int order = i == a->n ? 1 : k == b->n ? -1 : strcmp(a->v[i].name, b->v[k].name);
		const struct rk_profile_line *x = order <= 0 ? &a->v[i++] : NULL;
		const struct rk_profile_line *y = order >= 0 ? &b->v[k++] : NULL;

		if (!counts || counts(x ? x->name : y->name))
			rc = compare_line(s, kind, x, y, err);
	}
	return rc;
}

int rk_structure_compare(const struct rk_profile *a, const struct rk_profile *b,
			 struct rk_diff_structure *ret, struct rk_error *err)
{
	int rc = compare_names(ret, a, b, false, err);

	ret->launches_a = a->calls;
	ret->launches_b = b->calls;
	if (rc == 0)
		rc = rk_structure_queues(a, b, ret, err);
	if (rc == 0)
		rc = compare_lines(ret, "copies", &a->copies, &b->copies, NULL, err);
	if (rc == 0)
		rc = compare_lines(ret, "syncs", &a->markers, &b->markers, NULL, err);
	/* calls are recorded only when somebody asks for them */
	if (rc == 0 && a->api.known && b->api.known)
		rc = compare_lines(ret, "syncs", &a->api, &b->api, is_sync, err);
	if (rc == 0)
		rc = compare_names(ret, a, b, true, err);
	ret->equal = rc == 0 && !ret->nfindings;
	return rc;
}
