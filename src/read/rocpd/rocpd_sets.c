/* rocpd_sets.c - which tables of a file belong together. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "read/rocpd/rocpd_impl.h"

static const char *const base_names[ROCPD_NWHAT] = {
	[ROCPD_METADATA] = "rocpd_metadata",   [ROCPD_STRING] = "rocpd_string",
	[ROCPD_NODE] = "rocpd_info_node",      [ROCPD_PROCESS] = "rocpd_info_process",
	[ROCPD_THREAD] = "rocpd_info_thread",  [ROCPD_AGENT] = "rocpd_info_agent",
	[ROCPD_PMC] = "rocpd_info_pmc",        [ROCPD_SYMBOL] = "rocpd_info_kernel_symbol",
	[ROCPD_TRACK] = "rocpd_track",         [ROCPD_EVENT] = "rocpd_event",
	[ROCPD_PMC_EVENT] = "rocpd_pmc_event", [ROCPD_REGION] = "rocpd_region",
	[ROCPD_SAMPLE] = "rocpd_sample",       [ROCPD_DISPATCH] = "rocpd_kernel_dispatch",
	[ROCPD_COPY] = "rocpd_memory_copy",    [ROCPD_ALLOC] = "rocpd_memory_allocate",
};

/*
 * The suffix may be glued on without a mark ("rocpd_stringcc38..."), and other tables begin with
 * some of our names ("rocpd_event_operation_..."). These begin no other table's name, so what
 * follows them is a suffix.
 */
static const enum rocpd_what anchors[] = { ROCPD_METADATA, ROCPD_STRING, ROCPD_DISPATCH,
					   ROCPD_PROCESS };

static const char *suffix_of(const char *table)
{
	for (size_t i = 0; i < sizeof(anchors) / sizeof(anchors[0]); i++) {
		const char *base = base_names[anchors[i]];

		if (rk_text_iprefix(table, strlen(table), base))
			return table + strlen(base);
	}
	return NULL;
}

/* Order of names as SQLite compares them: ASCII case aside. */
static int compare_text(const char *a, const char *b)
{
	for (;; a++, b++) {
		int x = *a >= 'A' && *a <= 'Z' ? *a + 32 : *a;
		int y = *b >= 'A' && *b <= 'Z' ? *b + 32 : *b;

		if (x != y || !x)
			return x - y;
	}
}

static int compare_sets(const void *a, const void *b)
{
	return compare_text(((const struct rocpd_set *)a)->suffix,
			    ((const struct rocpd_set *)b)->suffix);
}

static int add_set(struct rocpd_set **sets, size_t *n, const char *suffix, struct rk_error *err)
{
	struct rocpd_set *grown;

	if ((*n & (*n - 1)) == 0) {
		grown = rk_reallocn(*sets, *n ? *n * 2 : 1, sizeof(*grown));
		if (!grown)
			return rk_fail_nomem(err);
		*sets = grown;
	}
	(*sets)[(*n)++] = (struct rocpd_set){ .suffix = suffix };
	return 0;
}

/* Sorts by suffix and leaves each once. */
static size_t unite(struct rocpd_set *sets, size_t n)
{
	size_t kept = 0;

	if (n)
		qsort(sets, n, sizeof(*sets), compare_sets);
	for (size_t i = 0; i < n; i++)
		if (!kept || compare_sets(&sets[kept - 1], &sets[i]) != 0)
			sets[kept++] = sets[i];
	return kept;
}

/* What follows the base name must be the suffix of a set. */
static void place_table(struct rocpd_set *sets, size_t nsets, const struct rk_sqlite_table *t)
{
	for (size_t w = 0; w < ROCPD_NWHAT; w++) {
		struct rocpd_set key, *set;

		if (!rk_text_iprefix(t->name, strlen(t->name), base_names[w]))
			continue;
		key.suffix = t->name + strlen(base_names[w]);
		set = bsearch(&key, sets, nsets, sizeof(*sets), compare_sets);
		if (set)
			set->tables[w] = t;
	}
}

int rk_rocpd_find_sets(const struct rk_sqlite_table *tables, size_t ntables,
		       struct rocpd_set **ret_sets, size_t *ret_n, struct rk_error *err)
{
	struct rocpd_set *sets = NULL;
	size_t n = 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < ntables; i++) {
		const char *suffix = suffix_of(tables[i].name);

		if (suffix)
			rc = add_set(&sets, &n, suffix, err);
	}
	if (rc < 0) {
		rk_free(sets);
		return rc;
	}
	n = unite(sets, n);
	for (size_t i = 0; n && i < ntables; i++)
		place_table(sets, n, &tables[i]);
	*ret_sets = sets;
	*ret_n = n;
	return 0;
}
