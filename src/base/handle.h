/*
 * handle.h - which handles of the API are open.
 *
 * A handle that was closed, or never was one, is found out by asking here before it is looked at,
 * and becomes an error instead of undefined behaviour. Where the memory of a closed handle has
 * become another of the same kind, that one is meant: wrong perhaps, but sound. Any thread.
 */
#ifndef RK_HANDLE_H
#define RK_HANDLE_H

#include <stdbool.h>

#include "base/error.h"

enum rk_handle_kind {
	RK_HANDLE_RUN,
	RK_HANDLE_PROFILE,
	RK_HANDLE_DIFF,
	RK_HANDLE_REPORT,
	RK_HANDLE_METRICS,
	RK_HANDLE_SESSION,
	RK_HANDLE_COUNTER_PLAN,
	RK_HANDLE_DOCTOR,
	RK_HANDLE_PRESETS,
	RK_HANDLE_MONITOR,
	RK_HANDLE_PACK,
	RK_HANDLE_PROOF,
	RK_HANDLE_SLURM_JOB,
	RK_HANDLE_SLURM_PARTS,
};

/* Once per handle, before it is given away. Fails only when out of memory. */
int rk_handle_open(enum rk_handle_kind kind, const void *h, struct rk_error *err);
/* From here to rk_handle_drop h stays. False: it is not open. */
bool rk_handle_hold(enum rk_handle_kind kind, const void *h);
/* Once more, by someone who holds it; closed or not. */
void rk_handle_keep(const void *h);
/* True: it was closed meanwhile and nobody else holds it, so that the caller frees it. */
bool rk_handle_drop(const void *h);
/* True: the caller frees it. False: somebody holds it and will, or it is not open. */
bool rk_handle_close(enum rk_handle_kind kind, const void *h);
/* Whether it is open now. */
bool rk_handle_is(enum rk_handle_kind kind, const void *h);

#endif
