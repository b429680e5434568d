/*
 * handle.h - the open handles of the API, and errors for invalid calls.
 *
 * Every API call looks its handle up here before it touches it. A closed or invalid handle thus
 * gives an error instead of undefined behaviour. If the memory of a closed handle was reused for a
 * new handle of the same kind, the new one is used: possibly wrong, but memory-safe. Thread-safe.
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
 * Once per handle, before the caller gets it. `destroy` is called when it is closed and nobody
 * holds it any more. Fails only when out of memory.
 */
int rk_handle_open(enum rk_handle_kind kind, void *h, void (*destroy)(void *h),
		   struct rk_error *err);
/* Keeps h alive until rk_handle_drop. False: it is not open. */
bool rk_handle_hold(enum rk_handle_kind kind, const void *h);
/* As rk_handle_hold; RK_E_USAGE if `fn` was called with something that is not an open handle. */
int rk_handle_use(enum rk_handle_kind kind, const void *h, const char *fn, struct rk_error *err);
/* Holds it once more; for callers that hold it already, even if it has been closed. */
void rk_handle_keep(const void *h);
void rk_handle_drop(const void *h);
/* Closing twice, or closing something that is not a handle, does nothing. */
void rk_handle_close(enum rk_handle_kind kind, const void *h);
/*
 * As close, but the caller destroys the handle itself. Waits until nobody holds it. False: not
 * open.
 */
bool rk_handle_take(enum rk_handle_kind kind, const void *h);

/* RK_E_USAGE: `fn` was called with NULL for a required argument. */
int rk_misuse(const char *fn, struct rk_error *err);
/* Whether none of the n texts is NULL; the list may be NULL only if n is 0. */
bool rk_texts_there(const char *const *texts, size_t n);
/* RK_E_USAGE if a reserved word is not 0: the caller did not zero the options. */
int rk_check_reserved(const uint64_t *v, size_t n, const char *fn, struct rk_error *err);
/* RK_E_USAGE if the value is above `last`, the largest one that this release knows. */
int rk_check_enum(unsigned value, unsigned last, const char *fn, struct rk_error *err);
/* 0 or RK_E_USAGE for options that may be NULL. */
#define RK_CHECK_OPTIONS(o, fn, err)                                                              \
	((o) ? rk_check_reserved((o)->reserved, sizeof((o)->reserved) / sizeof((o)->reserved[0]), \
				 fn, err) :                                                       \
	       0)

#endif
