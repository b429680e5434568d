/*
 * handle.h - which handles of the API are open, and calls that make no sense.
 *
 * A handle that was closed, or never was one, is found out by asking here before it is looked at,
 * and becomes an error instead of undefined behaviour. Where the memory of a closed handle has
 * become another of the same kind, that one is meant: wrong perhaps, but sound. Any thread.
 */
#ifndef RK_HANDLE_H
#define RK_HANDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum rk_handle_kind {
	RK_HANDLE_RUN,
	RK_HANDLE_PROFILE,
	RK_HANDLE_DIFF,
	RK_HANDLE_REPORT,
	RK_HANDLE_METRICS,
	RK_HANDLE_HOTSPOTS,
	RK_HANDLE_SESSION,
	RK_HANDLE_COUNTER_PLAN,
	RK_HANDLE_DOCTOR,
	RK_HANDLE_PRESET,
	RK_HANDLE_MONITOR,
	RK_HANDLE_PACK,
	RK_HANDLE_PROOF,
	RK_HANDLE_SLURM_JOB,
	RK_HANDLE_SLURM_PARTS,
	RK_NHANDLES
};

/*
 * Once per handle, before it is given away; `destroy` is called when it is closed and nobody holds
 * it. Fails only when out of memory.
 */
int rk_handle_open(enum rk_handle_kind kind, void *h, void (*destroy)(void *h),
		   struct rk_error *err);
/* From here to rk_handle_drop h stays. False: it is not open. */
bool rk_handle_hold(enum rk_handle_kind kind, const void *h);
/* The same; RK_E_USAGE when `fn` was called with something that is not an open handle. */
int rk_handle_use(enum rk_handle_kind kind, const void *h, const char *fn, struct rk_error *err);
/* Once more, by someone who holds it; closed or not. */
void rk_handle_keep(const void *h);
void rk_handle_drop(const void *h);
/* Ignores anything that is not an open handle: closing twice does nothing. */
void rk_handle_close(enum rk_handle_kind kind, const void *h);
/*
 * As close, of a handle that its caller ends himself: it is not destroyed. Waits for those who hold it;
 * nobody does any more when it returns. False: not open.
 */
bool rk_handle_take(enum rk_handle_kind kind, const void *h);

/* RK_E_USAGE: `fn` was called with NULL where something is needed. */
int rk_misuse(const char *fn, struct rk_error *err);
/* All of n texts are there: neither the list is NULL, where n > 0, nor one of them. */
bool rk_texts_there(const char *const *texts, size_t n);
/* RK_E_USAGE: the words that later releases may use are not 0, so the options were not zeroed. */
int rk_check_reserved(const uint64_t *v, size_t n, const char *fn, struct rk_error *err);
/* RK_E_USAGE: a value of an enum past the `last` that this release knows. */
int rk_check_enum(unsigned value, unsigned last, const char *fn, struct rk_error *err);
/* 0 or RK_E_USAGE for options that may be NULL. */
#define RK_CHECK_OPTIONS(o, fn, err)                                                              \
	((o) ? rk_check_reserved((o)->reserved, sizeof((o)->reserved) / sizeof((o)->reserved[0]), \
				 fn, err) :                                                       \
	       0)

#endif
