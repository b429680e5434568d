/*
 * hotspots.h - where a kernel spends its time: PC samples and statistics of thread traces, added up
 * by instruction, source line and stall reason.
 *
 * Samples name a dispatch; its kernel is looked up in the kernels table, which must be added first.
 * Memory is bounded: beyond a number of distinct cells the rest of a kernel is one cell.
 */
#ifndef RK_HOTSPOTS_H
#define RK_HOTSPOTS_H

#include "table/source.h"
#include "table/stages.h"

enum { RK_HOT_CELLS = 1 << 17 };

enum rk_hot_from { RK_HOT_SAMPLES, RK_HOT_TRACE };

/*
 * Strings are ids in ctx->names, 0: unknown. A thread trace has one cell per address, and weight is
 * latency. For samples vaddr is -1; stall 0: the wave was not stalled, or the tool does not say.
 */
struct rk_hot_cell {
	enum rk_hot_from from;
	uint32_t kernel, instruction, source, stall;
	int64_t vaddr;
	bool rest;       /* contains cells beyond the limit */
	uint64_t weight; /* samples, or cycles */
	uint64_t hits, stalled, idle;
};

struct rk_hot;

/* Both are borrowed; warnings go to ctx. `style` is for kernels that a thread trace names. */
int rk_hot_new(struct rk_context *ctx, const struct rk_name_style *style, struct rk_hot **ret,
	       struct rk_error *err);
void rk_hot_limit(struct rk_hot *h, size_t cells); /* for tests; call before the first row */

/* The columns that we read of RK_KERNELS, RK_PC_SAMPLES or RK_INSTRUCTIONS. */
uint64_t rk_hot_wants(enum rk_table t);
/*
 * Do rows of pc_samples have dispatches that must be looked up? If so, pass all kernels twice: to
 * rk_hot_note, then, after rk_hot_layout, to rk_hot_name. RK_E_LIMIT: ids are too far apart.
 */
bool rk_hot_needs_kernels(const struct rk_batch *b);
int rk_hot_note(struct rk_hot *h, const struct rk_batch *kernels, struct rk_error *err);
int rk_hot_layout(struct rk_hot *h, struct rk_error *err);
int rk_hot_name(struct rk_hot *h, const struct rk_batch *kernels, struct rk_error *err);

/* Adds a batch of pc_samples or instructions. */
int rk_hot_add(struct rk_hot *h, const struct rk_batch *b, struct rk_error *err);
/* Call once. Sorted by `from`, kernel, source, address, instruction. `h` owns *ret. */
void rk_hot_finish(struct rk_hot *h, const struct rk_hot_cell **ret, size_t *ret_n);
void rk_hot_free(struct rk_hot *h); /* NULL is fine */

#endif
