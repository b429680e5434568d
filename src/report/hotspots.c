/* hotspots.c - see hotspots.h. */
#include "report/hotspots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/num.h"
#include "codec/json/tree.h"
#include "table/matrix.h"

#define BIT(f) (UINT64_C(1) << (f))

enum { MAX_PROCESSES = 1024, CLEAN_MAX_BYTES = 1 << 20 };

struct rk_hot {
	struct rk_context *ctx;
	const struct rk_name_style *style;
	struct rk_hot_cell *cells;
	size_t n, cap, max;
	struct rk_index by_key; /* indexes the cells */
	uint64_t turned_away, unnamed;
	struct rk_keys processes; /* node, rank, pid */
	struct rk_matrix *names;  /* kernel names by process and dispatch */
	/* kernel of the current thread trace rows, and the previous row */
	uint32_t kernel;
	int64_t object, vaddr;
};

int rk_hot_new(struct rk_context *ctx, const struct rk_name_style *style, struct rk_hot **ret,
	       struct rk_error *err)
{
	struct rk_hot *h = rk_calloc(1, sizeof(*h));

	if (!h)
		return rk_fail_nomem(err);
	h->ctx = ctx;
	h->style = style;
	h->max = RK_HOT_CELLS;
	h->processes.max = MAX_PROCESSES;
	h->object = h->vaddr = -1;
	*ret = h;
	return 0;
}

void rk_hot_limit(struct rk_hot *h, size_t cells)
{
	h->max = cells;
}

void rk_hot_free(struct rk_hot *h)
{
	if (!h)
		return;
	rk_keys_release(&h->processes);
	rk_matrix_free(h->names);
	rk_index_release(&h->by_key);
	rk_free(h->cells);
	rk_free(h);
}

uint64_t rk_hot_wants(enum rk_table t)
{
	switch (t) {
	case RK_KERNELS:
		return BIT(RK_K_NAME) | BIT(RK_K_DISPATCH) | BIT(RK_K_PID) | BIT(RK_K_NODE) |
		       BIT(RK_K_RANK);
	case RK_PC_SAMPLES:
		return ~UINT64_C(0) >> (64 - RK_P_NFIELDS);
	case RK_INSTRUCTIONS:
		return ~UINT64_C(0) >> (64 - RK_I_NFIELDS);
	default:
		return 0;
	}
}

static uint64_t count(const struct rk_batch *b, unsigned f, size_t i)
{
	return (uint64_t)rk_max_i64(rk_batch_int(b, f, i, 0), 0);
}

/* ---- cells ---- */

static bool same_cell(const struct rk_hot_cell *a, const struct rk_hot_cell *b)
{
	return a->from == b->from && a->kernel == b->kernel && a->instruction == b->instruction &&
	       a->source == b->source && a->stall == b->stall && a->vaddr == b->vaddr &&
	       a->rest == b->rest;
}

/*
 * Finds the cell. Beyond the limit it is the kernel's rest cell, beyond twice the limit the rest
 * cell of all kernels.
 */
static int cell_at(struct rk_hot *h, struct rk_hot_cell key, struct rk_hot_cell **ret,
		   struct rk_error *err)
{
	struct rk_hot_cell *cells;
	uint64_t hash;
	size_t at;

	for (int full = 0;; full++) {
		hash = rk_hash_u64((uint64_t)key.kernel << 32 | key.instruction);
		hash = rk_hash_u64(hash ^ ((uint64_t)key.source << 32 | key.stall));
		hash = rk_hash_u64(hash ^
				   ((uint64_t)key.vaddr << 2 | (uint64_t)key.from << 1 | key.rest));
		for (uint32_t i = rk_index_first(&h->by_key, hash, &at); i != RK_INDEX_NONE;
		     i = rk_index_next(&h->by_key, hash, &at)) {
			if (same_cell(&h->cells[i], &key)) {
				*ret = &h->cells[i];
				return 0;
			}
		}
		if (h->n < h->max || (full == 1 && h->n < 2 * h->max) || full == 2)
			break;
		key = (struct rk_hot_cell){
			.from = key.from, .kernel = full ? 0 : key.kernel, .vaddr = -1, .rest = true
		};
		h->turned_away += !full;
	}
	cells = rk_grow(h->cells, &h->cap, h->n + 1, sizeof(*cells));
	if (!cells)
		return rk_fail_nomem(err);
	h->cells = cells;
	if (!rk_index_add(&h->by_key, hash, (uint32_t)h->n))
		return rk_fail_nomem(err);
	h->cells[h->n] = key;
	*ret = &h->cells[h->n++];
	return 0;
}

/* ---- which kernel a dispatch was ---- */

bool rk_hot_needs_kernels(const struct rk_batch *b)
{
	const struct rk_column *name = &b->cols[RK_P_NAME], *id = &b->cols[RK_P_DISPATCH];

	for (size_t i = 0; i < b->nrows; i++)
		if (!rk_column_has(name, i) && rk_column_has(id, i))
			return true;
	return false;
}

static struct rk_key3 process_key(const struct rk_batch *b, unsigned node, unsigned rank,
				  unsigned pid, size_t i)
{
	return (struct rk_key3){ rk_batch_id(b, node, i), rk_batch_int(b, rank, i, -1),
				 rk_batch_int(b, pid, i, -1) };
}

/* First adds each kernel that has a dispatch id; after the layout, sets its name. */
static int each_kernel(struct rk_hot *h, const struct rk_batch *b, bool named, struct rk_error *err)
{
	for (size_t i = 0; i < b->nrows; i++) {
		int64_t dispatch = rk_batch_int(b, RK_K_DISPATCH, i, 0);
		uint32_t process;
		int rc;

		if (!rk_column_has(&b->cols[RK_K_DISPATCH], i))
			continue;
		rc = rk_keys_number(&h->processes,
				    process_key(b, RK_K_NODE, RK_K_RANK, RK_K_PID, i), &process,
				    err);
		if (rc < 0)
			return rc;
		if (named)
			rc = rk_matrix_put(h->names, process, dispatch, 0,
					   (double)rk_batch_id(b, RK_K_NAME, i), err);
		else
			rc = rk_matrix_note(h->names, process, dispatch, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int rk_hot_note(struct rk_hot *h, const struct rk_batch *b, struct rk_error *err)
{
	if (!h->names) {
		int rc = rk_matrix_new(h->ctx, 1, &h->names, err);

		if (rc < 0)
			return rc;
	}
	return each_kernel(h, b, false, err);
}

int rk_hot_layout(struct rk_hot *h, struct rk_error *err)
{
	return h->names ? rk_matrix_layout(h->names, err) : 0;
}

int rk_hot_name(struct rk_hot *h, const struct rk_batch *b, struct rk_error *err)
{
	return h->names ? each_kernel(h, b, true, err) : 0;
}

/* Looks in the process with the same node, rank and pid, or in the only process. */
static int kernel_of(struct rk_hot *h, const struct rk_batch *b, size_t i, uint32_t *ret,
		     struct rk_error *err)
{
	const struct rk_keys *k = &h->processes;
	int64_t process = k->n == 1 ? 0 : -2;
	struct rk_key3 key;
	double name = NAN;
	int rc;

	*ret = rk_batch_id(b, RK_P_NAME, i);
	if (*ret || !h->names || !rk_column_has(&b->cols[RK_P_DISPATCH], i))
		return 0;
	key = process_key(b, RK_P_NODE, RK_P_RANK, RK_P_PID, i);
	for (size_t p = 0; p < k->n; p++) {
		if (rk_keys_equal(&k->v[p], &key)) {
			process = (int64_t)p;
			break;
		}
	}
	rc = rk_matrix_get(h->names, process, rk_batch_int(b, RK_P_DISPATCH, i, 0), 0, &name, err);
	if (rc < 0)
		return rc;
	if (rc > 0 && !isnan(name))
		*ret = (uint32_t)name;
	return 0;
}

/* ---- samples ---- */

static int add_samples(struct rk_hot *h, const struct rk_hot_cell *key, uint64_t n,
		       struct rk_error *err)
{
	struct rk_hot_cell *c;
	int rc;

	if (!n)
		return 0;
	rc = cell_at(h, *key, &c, err);
	if (rc < 0)
		return rc;
	c->weight += n;
	return 0;
}

/* rocprof-compute has {"REASON": samples, ...} for all samples of an instruction. */
static int add_reasons(struct rk_hot *h, struct rk_hot_cell key, const char *json, size_t len,
		       uint64_t n, struct rk_error *err)
{
	struct rk_tree *t = NULL;
	int rc = rk_tree_parse_json(json, len, "stall_reason", &t, NULL);

	if (rc == RK_E_NOMEM)
		return rk_fail_nomem(err);
	if (rc < 0)
		return add_samples(h, &key, n, err);
	RK_TREE_EACH(c, t)
	{
		uint64_t some;
		int64_t v;

		if (!rk_tree_int(c, &v) || v <= 0)
			continue;
		some = rk_min((uint64_t)v, n);
		n -= some;
		rc = rk_strtab_add(h->ctx->names, c->key, strlen(c->key), &key.stall, err);
		if (rc < 0 || (rc = add_samples(h, &key, some, err)) < 0)
			goto out;
	}
	key.stall = 0;
	rc = add_samples(h, &key, n, err);
out:
	rk_tree_free(t);
	return rc;
}

static int add_sample(struct rk_hot *h, const struct rk_batch *b, size_t i, struct rk_error *err)
{
	struct rk_hot_cell key = { .from = RK_HOT_SAMPLES,
				   .instruction = rk_batch_id(b, RK_P_INSTRUCTION, i),
				   .source = rk_batch_id(b, RK_P_SOURCE_LINE, i),
				   .stall = rk_batch_id(b, RK_P_STALL, i),
				   .vaddr = -1 };
	/* a row without a time is the sum of all samples of an instruction */
	bool many = !rk_column_has(&b->cols[RK_P_TIME], i) &&
		    !rk_column_has(&b->cols[RK_P_DISPATCH], i);
	uint64_t n = many ? count(b, RK_P_WAVE_COUNT, i) : 1;
	int rc = kernel_of(h, b, i, &key.kernel, err);
	size_t len;
	const char *stall = rk_strtab_borrow(h->ctx->names, key.stall, &len);

	if (rc < 0)
		return rc;
	h->unnamed += !key.kernel;
	if (many && stall[0] == '{')
		return add_reasons(h, key, stall, len, n, err);
	return add_samples(h, &key, n, err);
}

/* ---- thread traces ---- */

static int add_instruction(struct rk_hot *h, const struct rk_batch *b, size_t i,
			   struct rk_error *err)
{
	struct rk_hot_cell key = { .from = RK_HOT_TRACE,
				   .instruction = rk_batch_id(b, RK_I_INSTRUCTION, i),
				   .source = rk_batch_id(b, RK_I_SOURCE_LINE, i),
				   .vaddr = rk_batch_int(b, RK_I_VADDR, i, -1) };
	int64_t object = rk_batch_int(b, RK_I_CODE_OBJECT, i, -1);
	uint64_t hits = count(b, RK_I_HITS, i), latency = count(b, RK_I_LATENCY, i);
	size_t len, n;
	const char *text = rk_strtab_borrow(h->ctx->names, key.instruction, &len);
	const char *name = rk_strtab_borrow(h->ctx->names, key.source, &n);
	struct rk_hot_cell *c;
	int rc;

	/* a row "; name" without counts begins a kernel; its demangled name is in the source column */
	if (len > 2 && text[0] == ';' && text[1] == ' ' && !hits && !latency) {
		struct rk_bytes clean;

		h->object = object;
		h->vaddr = key.vaddr;
		if (!n) {
			name = text + 2;
			n = len - 2;
		}
		rk_bytes_init(&clean, n * 3 + CLEAN_MAX_BYTES);
		if (rk_name_clean(name, n, h->style, &clean))
			rc = rk_strtab_add(h->ctx->names, (const char *)clean.data, clean.len,
					   &h->kernel, err);
		else
			rc = rk_fail_nomem(err);
		rk_bytes_release(&clean);
		return rc;
	}
	/*
	 * addresses increase within a file, so this row is from another file with an unknown kernel
	 */
	if (object != h->object || key.vaddr < h->vaddr)
		h->kernel = 0;
	h->object = object;
	h->vaddr = key.vaddr;
	key.kernel = h->kernel;
	h->unnamed += !key.kernel;
	rc = cell_at(h, key, &c, err);
	if (rc < 0)
		return rc;
	c->weight += latency;
	c->hits += hits;
	c->stalled += count(b, RK_I_STALL, i);
	c->idle += count(b, RK_I_IDLE, i);
	return 0;
}

int rk_hot_add(struct rk_hot *h, const struct rk_batch *b, struct rk_error *err)
{
	bool samples = b->schema->table == RK_PC_SAMPLES;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < b->nrows; i++)
		rc = samples ? add_sample(h, b, i, err) : add_instruction(h, b, i, err);
	return rc;
}

/* ---- result ---- */

static int by_place(const void *pa, const void *pb)
{
	const struct rk_hot_cell *a = pa, *b = pb;
	const int64_t x[] = { a->from,  a->kernel,      a->rest, a->source,
			      a->vaddr, a->instruction, a->stall };
	const int64_t y[] = { b->from,  b->kernel,      b->rest, b->source,
			      b->vaddr, b->instruction, b->stall };

	for (size_t i = 0; i < sizeof(x) / sizeof(x[0]); i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

void rk_hot_finish(struct rk_hot *h, const struct rk_hot_cell **ret, size_t *ret_n)
{
	rk_index_release(&h->by_key);
	rk_matrix_free(h->names);
	h->names = NULL;
	if (h->n)
		qsort(h->cells, h->n, sizeof(*h->cells), by_place);
	if (h->turned_away)
		rk_diag_add(h->ctx->diag, "hotspot-limit", "", 0, h->turned_away,
			    "more than %zu instructions, lines and stall reasons; the rest is "
			    "only counted per kernel",
			    h->max);
	if (h->unnamed)
		rk_diag_add(h->ctx->diag, "hotspot-no-kernel", "", 0, h->unnamed,
			    "samples or instructions of unknown kernels; record a kernel trace "
			    "too to name them");
	*ret = h->cells;
	*ret_n = h->n;
}
