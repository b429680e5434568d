/*
 * devel.c - write the devel tree as one archive: generated headers, files by reference; optionally
 * compressed with xz.
 *
 * Order: __init__.py, all folders (parents first), files, links. Code that unpacks it may turn a
 * link into a hard link once its target exists, so a link comes after all links it leads through.
 * Only link loops have no such order.
 */
#include "pack/wheel/meta.h"

#include <inttypes.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>

#include "archive/tar_write.h"
#include "base/alloc.h"
#include "base/list.h"
#include "base/num.h"
#include "base/text.h"

/*
 * ---- xz compression in blocks of a fixed size ----
 *
 * Always uses the multi-threaded encoder: its blocks are the same for any number of threads. A dictionary of
 * 2 MiB (preset 6 has 8) and small blocks keep a thread below 48 MB, so that two fit into the memory limit.
 */

enum {
	DICT_BYTES = 2 << 20,
	BLOCK_BYTES = 8 << 20,
	MEMORY_BYTES = 100 << 20, /* liblzma's estimate, which is higher than the actual use */
	CHUNK_BYTES = 256 << 10,
};

struct packer {
	lzma_stream s;
	lzma_allocator alloc;
	uint8_t *in, *out; /* CHUNK_BYTES each */
	struct rk_spill *spill;
	struct rk_error *err;
};

static void *take(void *opaque, size_t n, size_t size)
{
	(void)opaque;
	return rk_reallocn(NULL, n, size);
}

static void give(void *opaque, void *p)
{
	(void)opaque;
	rk_free(p);
}

static int fail(struct packer *x, lzma_ret r)
{
	if (r == LZMA_MEM_ERROR)
		return rk_fail_nomem(x->err);
	return rk_fail(x->err, RK_E_UNSUPPORTED,
		       "cannot compress the devel archive with xz (liblzma error %d)", (int)r);
}

static int begin(struct packer *x, unsigned threads)
{
	lzma_options_lzma lzma;
	lzma_filter filters[] = { { LZMA_FILTER_LZMA2, &lzma }, { LZMA_VLI_UNKNOWN, NULL } };
	lzma_mt mt = { .block_size = BLOCK_BYTES, .filters = filters, .check = LZMA_CHECK_CRC64 };
	lzma_ret r;

	if (lzma_lzma_preset(&lzma, 6))
		return fail(x, LZMA_OPTIONS_ERROR);
	lzma.dict_size = DICT_BYTES;
	mt.threads = threads < 1 ? 1 : threads;
	while (mt.threads > 1 && lzma_stream_encoder_mt_memusage(&mt) > MEMORY_BYTES)
		mt.threads--;
	r = lzma_stream_encoder_mt(&x->s, &mt);
	return r == LZMA_OK ? 0 : fail(x, r);
}

/* Encodes the bytes in x->in; with LZMA_FINISH until everything is written. */
static int feed(struct packer *x, lzma_action action)
{
	for (;;) {
		lzma_ret r = lzma_code(&x->s, action);

		if (r != LZMA_OK && r != LZMA_STREAM_END)
			return fail(x, r);
		if (!x->s.avail_out || r == LZMA_STREAM_END) {
			uint64_t at;
			int rc = rk_spill_append(x->spill, x->out, CHUNK_BYTES - x->s.avail_out,
						 &at, x->err);

			if (rc < 0)
				return rc;
			x->s.next_out = x->out;
			x->s.avail_out = CHUNK_BYTES;
		}
		if (r == LZMA_STREAM_END || (action == LZMA_RUN && !x->s.avail_in))
			return 0;
	}
}

/* Compresses to a spill, which becomes the content. */
static int pack_xz(struct rk_arena *a, const struct rk_content *from, unsigned threads,
		   const char *tmpdir, const struct rk_content **ret, struct rk_spill **ret_spill,
		   struct rk_error *err)
{
	static const lzma_stream fresh = LZMA_STREAM_INIT;
	struct packer x = { .s = fresh, .alloc = { .alloc = take, .free = give }, .err = err };
	struct rk_origin *o = rk_arena_alloc(a, sizeof(*o));
	struct rk_content *c;
	int rc;

	x.s.allocator = &x.alloc;
	x.in = rk_alloc(CHUNK_BYTES);
	x.out = rk_alloc(CHUNK_BYTES);
	rc = o && x.in && x.out ? rk_spill_new(tmpdir, &x.spill, err) : rk_fail_nomem(err);
	if (rc < 0 || (rc = begin(&x, threads)) < 0)
		goto out;
	x.s.next_out = x.out;
	x.s.avail_out = CHUNK_BYTES;
	for (uint64_t at = 0; at < from->size; at += CHUNK_BYTES) {
		size_t n = rk_min(from->size - at, CHUNK_BYTES);

		rc = rk_content_read(from, at, x.in, n, err);
		if (rc < 0)
			goto out;
		x.s.next_in = x.in;
		x.s.avail_in = n;
		rc = feed(&x, LZMA_RUN);
		if (rc < 0)
			goto out;
	}
	if ((rc = feed(&x, LZMA_FINISH)) < 0 || (rc = rk_content_new(a, &c, err)) < 0)
		goto out;
	*o = (struct rk_origin){ .spill = x.spill,
				 .size = rk_spill_size(x.spill),
				 .name = "_devel.tar.xz" };
	rc = rk_content_origin(a, c, o, NULL, err);
	if (rc < 0)
		goto out;
	*ret = c;
	*ret_spill = x.spill;
	x.spill = NULL;
out:
	lzma_end(&x.s);
	rk_free(x.in);
	rk_free(x.out);
	rk_spill_free(x.spill);
	return rc;
}

/* ---- the tree ---- */

#define INIT "__init__.py"

enum { HEADERS_BYTES = 256 << 20, MAX_HOPS = 40 };

struct devel {
	struct rk_pack_plan *p;
	const struct rk_dist *d;
	int64_t epoch;
	struct rk_content *out;
	struct rk_bytes run;                /* consecutive headers, not yet in `out` */
	const struct rk_pack_item **sorted; /* by path */
	bool *done;                         /* links already written, indexed as d->items */
	struct rk_error *err;
};

static bool is_file(const struct rk_pack_item *it)
{
	return it->action <= RK_PACK_MADE && it->content;
}

static bool is_written(const struct rk_pack_item *it)
{
	return is_file(it) || it->action == RK_PACK_DIR || it->action == RK_PACK_LINK;
}

static int by_path(const void *a, const void *b)
{
	return strcmp((*(const struct rk_pack_item *const *)a)->path,
		      (*(const struct rk_pack_item *const *)b)->path);
}

/* Items that are not written (aliases of a library) may share a path with a written one. */
static const struct rk_pack_item *find(const struct devel *v, const char *path)
{
	size_t lo = 0, hi = v->d->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(v->sorted[mid]->path, path) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < v->d->n && !strcmp(v->sorted[lo]->path, path); lo++)
		if (is_written(v->sorted[lo]))
			return v->sorted[lo];
	return NULL;
}

/* ---- members ---- */

/* Appends the collected headers to the content. */
static int flush(struct devel *v)
{
	const char *bytes;
	int rc;

	if (v->run.bad)
		return rk_fail_nomem(v->err);
	if (!v->run.len)
		return 0;
	bytes = rk_arena_text(v->p->arena, (const char *)v->run.data, v->run.len);
	if (!bytes)
		return rk_fail_nomem(v->err);
	rc = rk_content_bytes(v->p->arena, v->out, bytes, v->run.len, v->err);
	rk_bytes_clear(&v->run);
	return rc;
}

static int put_header(struct devel *v, const char *path, enum rk_tar_type type, const char *link,
		      unsigned mode, uint64_t size)
{
	const char *name = rk_arena_textf(v->p->arena, "%s/%s", v->d->platform, path);

	if (!name)
		return rk_fail_nomem(v->err);
	rk_tar_put(&v->run, &(struct rk_tar_member){ name, type, link, mode, size, v->epoch });
	return v->run.bad ? rk_fail_nomem(v->err) : 0;
}

/* ---- folders ---- */

/* Adds all parent folders of a path that `before` does not share. */
static void add_parents(struct rk_list *list, const char *path, const char *before)
{
	const char *slash = strrchr(path, '/');

	if (slash && !strncmp(path, before, (size_t)(slash - path) + 1) &&
	    !strchr(before + (slash - path) + 1, '/'))
		return;
	for (slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/'))
		rk_list_addn(list, path, (size_t)(slash - path));
}

static int put_folders(struct devel *v)
{
	struct rk_list list = { 0 };
	const char *before = "";
	int rc = 0;

	for (size_t i = 0; i < v->d->n; i++) {
		const struct rk_pack_item *it = v->sorted[i];

		if (!is_written(it))
			continue;
		add_parents(&list, it->path, before);
		before = it->path;
		if (it->action == RK_PACK_DIR)
			rk_list_add(&list, it->path);
	}
	if (list.bad) {
		rc = rk_fail_nomem(v->err);
		goto out;
	}
	if (list.n)
		qsort(list.v, list.n, sizeof(*list.v), rk_by_text);
	for (size_t i = 0; i < list.n; i++) {
		const struct rk_pack_item *it = find(v, list.v[i]);

		if (i && !strcmp(list.v[i], list.v[i - 1]))
			continue;
		/* folders without an item also get a header */
		if (it && it->action != RK_PACK_DIR)
			rc = rk_fail(v->err, RK_E_FORMAT,
				     "'%s' is a %s in one artifact and a folder in another",
				     list.v[i], it->action == RK_PACK_LINK ? "link" : "file");
		else
			rc = put_header(v, list.v[i], RK_TAR_DIR, NULL, it ? it->mode : 0755, 0);
		if (rc < 0)
			goto out;
	}
out:
	rk_list_release(&list);
	return rc;
}

/* ---- links ---- */

/* State while following a path: the current position, and the rest of the link texts. */
struct walk {
	struct rk_bytes at; /* position in the tree, no trailing slash */
	const char *rest[MAX_HOPS];
	size_t n;
};

/* Returns the length of the next path component; 0 at the end. */
static size_t next_part(struct walk *w, const char **ret)
{
	while (w->n) {
		const char *s = w->rest[w->n - 1];
		size_t len;

		s += strspn(s, "/");
		len = strcspn(s, "/");
		w->rest[w->n - 1] = s + len;
		*ret = s;
		if (len)
			return len;
		w->n--;
	}
	return 0;
}

static void go_up(struct rk_bytes *at)
{
	while (at->len && at->data[--at->len] != '/')
		;
}

/* The first unwritten link that `it` leads through, or NULL. */
static const struct rk_pack_item *waits_for(const struct devel *v, struct walk *w,
					    const struct rk_pack_item *it)
{
	const struct rk_pack_item *met;
	const char *part, *at;
	size_t len;

	while ((len = next_part(w, &part))) {
		if (len == 2 && !memcmp(part, "..", 2)) {
			if (!w->at.len)
				return NULL; /* leads out of the tree */
			go_up(&w->at);
		} else if (len != 1 || *part != '.') {
			if (w->at.len)
				rk_bytes_put_u8(&w->at, '/');
			rk_bytes_put(&w->at, part, len);
		}
		at = rk_bytes_str(&w->at);
		met = at && *at ? find(v, at) : NULL;
		if (!met || met->action != RK_PACK_LINK)
			continue;
		if (met == it || w->n == MAX_HOPS)
			return NULL;
		if (!v->done[met - v->d->items])
			return met;
		go_up(&w->at);
		w->rest[w->n++] = met->link;
	}
	return NULL;
}

/*
 * Writes links that do not depend on unwritten links; with `all`, also the rest. *any: wrote some.
 */
static int put_ready(struct devel *v, bool all, bool *any)
{
	*any = false;
	for (size_t i = 0; i < v->d->n; i++) {
		const struct rk_pack_item *it = &v->d->items[i];
		const char *slash = strrchr(it->path, '/');
		struct walk w = { .rest = { it->link }, .n = 1 };
		bool ready = true, bad = false;
		int rc;

		if (it->action != RK_PACK_LINK || v->done[i])
			continue;
		if (!all && *it->link != '/') {
			rk_bytes_init(&w.at, HEADERS_BYTES);
			if (slash)
				rk_bytes_put(&w.at, it->path, (size_t)(slash - it->path));
			ready = !waits_for(v, &w, it);
			bad = w.at.bad;
			rk_bytes_release(&w.at);
		}
		if (bad)
			return rk_fail_nomem(v->err);
		if (!ready)
			continue;
		rc = put_header(v, it->path, RK_TAR_LINK, it->link, 0777, 0);
		if (rc < 0)
			return rc;
		v->done[i] = true;
		*any = true;
	}
	return 0;
}

static int put_all(struct devel *v)
{
	bool any = true;
	int rc;

	v->sorted = rk_calloc(v->d->n + 1, sizeof(*v->sorted));
	v->done = rk_calloc(v->d->n + 1, sizeof(*v->done));
	if (!v->sorted || !v->done)
		return rk_fail_nomem(v->err);
	for (size_t i = 0; i < v->d->n; i++)
		v->sorted[i] = &v->d->items[i];
	qsort(v->sorted, v->d->n, sizeof(*v->sorted), by_path);
	if ((rc = rk_content_new(v->p->arena, &v->out, v->err)) < 0 ||
	    (rc = put_header(v, INIT, RK_TAR_FILE, NULL, 0644, 0)) < 0 || (rc = put_folders(v)) < 0)
		return rc;
	for (size_t i = 0; i < v->d->n; i++) {
		const struct rk_pack_item *it = &v->d->items[i];
		uint64_t size;

		if (!is_file(it) || !strcmp(it->path, INIT))
			continue;
		size = it->content->size;
		if ((rc = put_header(v, it->path, RK_TAR_FILE, NULL, it->mode, size)) < 0 ||
		    (rc = flush(v)) < 0 ||
		    (rc = rk_content_append(v->p->arena, v->out, it->content, v->err)) < 0 ||
		    (rc = rk_content_zeros(v->p->arena, v->out, rk_tar_padding(size), v->err)) < 0)
			return rc;
	}
	for (size_t i = 0; any && i < MAX_HOPS; i++)
		if ((rc = put_ready(v, false, &any)) < 0)
			return rc;
	if ((rc = put_ready(v, true, &any)) < 0 || (rc = flush(v)) < 0)
		return rc;
	return rk_content_zeros(v->p->arena, v->out, 2 * RK_TAR_BLOCK, v->err);
}

int rk_devel_tar(struct rk_pack_plan *p, const struct rk_dist *d, int64_t epoch, bool xz,
		 unsigned threads, const char *tmpdir, const struct rk_content **ret,
		 struct rk_spill **ret_spill, struct rk_error *err)
{
	struct devel v = { .p = p, .d = d, .epoch = epoch, .err = err };
	int rc;

	rk_bytes_init(&v.run, HEADERS_BYTES);
	rc = put_all(&v);
	rk_bytes_release(&v.run);
	rk_free(v.sorted);
	rk_free(v.done);
	if (rc < 0)
		return rc;
	if (xz)
		return pack_xz(p->arena, v.out, threads, tmpdir, ret, ret_spill, err);
	*ret = v.out;
	*ret_spill = NULL;
	return 0;
}
