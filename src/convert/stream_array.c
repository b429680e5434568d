/* stream_array.c - filled columns as Arrow arrays that own their buffers. */
#include "convert/stream_array.h"

#include <string.h>

#include "base/alloc.h"
#include "convert/stream_bits.h"

enum { MAX_BUFFERS = 3 }; /* validity, offsets, text */

/* What an array owns besides itself. */
struct owned {
	struct rk_buffer *held[MAX_BUFFERS];
	const void *buffers[MAX_BUFFERS];
	struct ArrowArray *children, **pointers; /* one allocation each */
	struct ArrowArray *dictionary;
};

static void release_array(struct ArrowArray *a)
{
	struct owned *o = a->private_data;

	for (int64_t i = 0; i < a->n_children; i++)
		if (o->children[i].release)
			o->children[i].release(&o->children[i]);
	if (o->dictionary && o->dictionary->release)
		o->dictionary->release(o->dictionary);
	for (unsigned i = 0; i < MAX_BUFFERS; i++)
		rk_buffer_unref(o->held[i]);
	rk_free(o->children);
	rk_free(o->pointers);
	rk_free(o->dictionary);
	rk_free(o);
	a->release = NULL;
}

/* An array without children and buffers, ready to be released. */
static struct owned *make(struct ArrowArray *a, size_t n, int64_t nbuffers)
{
	struct owned *o = rk_calloc(1, sizeof(*o));

	if (o)
		*a = (struct ArrowArray){ .length = (int64_t)n,
					  .n_buffers = nbuffers,
					  .buffers = o->buffers,
					  .release = release_array,
					  .private_data = o };
	return o;
}

static void share(struct owned *o, unsigned i, struct rk_buffer *b)
{
	o->held[i] = rk_buffer_ref(b);
	o->buffers[i] = b ? b->data : NULL;
}

static bool make_dictionary(struct ArrowArray *a, const struct rk_stream_dict *d)
{
	struct owned *o = a->private_data, *texts;

	o->dictionary = rk_calloc(1, sizeof(*o->dictionary));
	texts = o->dictionary ? make(o->dictionary, d->frozen, 3) : NULL;
	if (!texts)
		return false;
	a->dictionary = o->dictionary;
	share(texts, 1, d->offsets);
	share(texts, 2, d->text);
	return true;
}

/* `zeros` is what a column without any value consists of: no bit set, all offsets 0. */
static bool make_column(struct ArrowArray *a, const struct rk_stream_column *col, size_t n,
			struct rk_buffer *zeros)
{
	bool plain = col->type == RK_STR && col->plain;
	struct owned *o = make(a, n, plain ? 3 : 2);
	size_t valid = n;

	if (!o)
		return false;
	if (!col->values)
		valid = 0;
	else if (col->valid)
		valid = rk_bits_count((const uint64_t *)(const void *)col->valid->data, n);
	a->null_count = (int64_t)(n - valid);
	if (valid < n)
		share(o, 0, col->values ? col->valid : zeros);
	share(o, 1, col->values ? col->values : zeros);
	if (plain)
		share(o, 2, col->values ? col->text : zeros);
	return col->type != RK_STR || plain || make_dictionary(a, &col->dict);
}

static bool make_children(struct ArrowArray *a, const struct rk_stream_column *cols, size_t ncols,
			  struct rk_buffer *zeros)
{
	struct owned *o = a->private_data;

	o->children = rk_calloc(ncols, sizeof(*o->children));
	o->pointers = rk_calloc(ncols, sizeof(struct ArrowArray *));
	if (!o->children || !o->pointers)
		return false;
	a->children = o->pointers;
	a->n_children = (int64_t)ncols;
	for (size_t i = 0; i < ncols; i++) {
		o->pointers[i] = &o->children[i];
		if (!make_column(&o->children[i], &cols[i], (size_t)a->length, zeros))
			return false;
	}
	return true;
}

int rk_stream_array(const struct rk_stream_column *cols, size_t ncols, size_t n,
		    struct ArrowArray *ret, struct rk_error *err)
{
	/* untouched pages of a large zeroed block cost nothing */
	struct rk_buffer *zeros = rk_buffer_new((n + 1) * sizeof(uint64_t), true);
	struct ArrowArray a;
	bool ok = false;

	if (zeros && make(&a, n, 1)) {
		ok = make_children(&a, cols, ncols, zeros);
		if (!ok)
			a.release(&a);
	}
	rk_buffer_unref(zeros);
	if (!ok)
		return rk_fail_nomem(err);
	*ret = a;
	return 0;
}
