/* stream_schema.c - the columns of a stream as an Arrow schema. */
#include <string.h>

#include "base/alloc.h"
#include "convert/stream_array.h"

/* What a schema owns besides itself. */
struct owned {
	char *name;
	struct ArrowSchema *children, **pointers; /* one allocation each */
	struct ArrowSchema *dictionary;
};

static void release_schema(struct ArrowSchema *s)
{
	struct owned *o = s->private_data;

	for (int64_t i = 0; i < s->n_children; i++)
		if (o->children[i].release)
			o->children[i].release(&o->children[i]);
	if (o->dictionary && o->dictionary->release)
		o->dictionary->release(o->dictionary);
	rk_free(o->children);
	rk_free(o->pointers);
	rk_free(o->dictionary);
	rk_free(o->name);
	rk_free(o);
	s->release = NULL;
}

static const char *format_of(enum rk_type t)
{
	switch (t) {
	case RK_I64:
		return "l";
	case RK_I32:
		return "i";
	case RK_F64:
		return "g";
	case RK_BOOL:
		return "b";
	default:
		return "u";
	}
}

/* A schema without children, ready to be released. */
static bool make(struct ArrowSchema *s, const char *name, const char *format, int64_t flags)
{
	struct owned *o = rk_calloc(1, sizeof(*o));

	if (!o)
		return false;
	o->name = rk_strdup(name);
	if (!o->name) {
		rk_free(o);
		return false;
	}
	*s = (struct ArrowSchema){ .format = format,
				   .name = o->name,
				   .flags = flags,
				   .release = release_schema,
				   .private_data = o };
	return true;
}

static bool make_dictionary(struct ArrowSchema *s)
{
	struct owned *o = s->private_data;

	o->dictionary = rk_calloc(1, sizeof(*o->dictionary));
	s->dictionary = o->dictionary;
	return o->dictionary && make(o->dictionary, "", "u", ARROW_FLAG_NULLABLE);
}

static bool make_column(struct ArrowSchema *s, const struct rk_stream_column *col)
{
	bool dictionary = col->type == RK_STR && !col->plain;

	if (!make(s, col->name, dictionary ? "i" : format_of(col->type), ARROW_FLAG_NULLABLE))
		return false;
	return !dictionary || make_dictionary(s);
}

static bool make_children(struct ArrowSchema *s, const struct rk_stream_column *cols, size_t n)
{
	struct owned *o = s->private_data;

	o->children = rk_calloc(n, sizeof(*o->children));
	o->pointers = rk_calloc(n, sizeof(struct ArrowSchema *));
	if (!o->children || !o->pointers)
		return false;
	s->children = o->pointers;
	s->n_children = (int64_t)n;
	for (size_t i = 0; i < n; i++) {
		o->pointers[i] = &o->children[i];
		if (!make_column(&o->children[i], &cols[i]))
			return false;
	}
	return true;
}

int rk_stream_schema(const struct rk_stream_column *cols, size_t ncols, struct ArrowSchema *ret,
		     struct rk_error *err)
{
	struct ArrowSchema s;

	if (!make(&s, "", "+s", 0))
		return rk_fail_nomem(err);
	if (!make_children(&s, cols, ncols)) {
		s.release(&s);
		return rk_fail_nomem(err);
	}
	*ret = s;
	return 0;
}
