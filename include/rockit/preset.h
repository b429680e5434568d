/* preset.h - named ways to profile. */
#ifndef ROCKIT_PRESET_H
#define ROCKIT_PRESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rockit/error.h"

/* Lists of strings end with NULL and are never NULL; strings are "" when there is nothing. */
struct rk_preset {
	const char *name;
	const char *description; /* one line */
	const char *use_case;
	const char *overhead;           /* "low (about 5 %)" */
	const char *source;             /* "built in", or the file */
	unsigned traces;                /* bits as in traces_words */
	const char *const *trace_words; /* "hip", "kernel", ... */
	bool stats;
	const char *counters;            /* counter spec, see counters.h; "" for none */
	const char *pc_method, *pc_unit; /* PC sampling: "auto" for the chip's best; "" for none */
	uint64_t pc_interval;
	const char *const *monitors;  /* "power", "vram", ... */
	const char *const *libraries; /* "rocblas", "miopen", "hipblaslt", "rccl" */
	const char *const *env;       /* NAME=VALUE */
	const char *const *tool_args; /* raw options of the profiler */
	const char *const *delivers;  /* "rocprofv3: ...", one line per tool */
	const char *launcher;         /* "torchrun", ... of distributed{}; "" for none */
	uint64_t nproc_per_node, nnodes;
	const char *const *slurm;   /* key=value of slurm{} */
	const char *const *ignored; /* keys of a context that mean nothing here */
};

/* The built-in and the user's presets by name, NULL past the end. Thread-safe after the first call. */
int rk_preset_load(const char *name, struct rk_preset **ret, struct rk_error *err);
void rk_preset_free(struct rk_preset *p); /* NULL is fine */

/* Names in the order of the documentation, the user's own behind them. Owned by the caller. */
struct rk_preset_names {
	char **names; /* ended by NULL */
	size_t n;
};
int rk_preset_list(struct rk_preset_names *ret, struct rk_error *err);
void rk_preset_names_release(struct rk_preset_names *n);

/*
 * A madengine context on top of `base` (NULL: nothing): tools[] by name, cmd and env_vars,
 * distributed{}, slurm{}, env_vars{}; docker, registry and manifest keys land in `ignored`.
 * `text` is JSON; `name` is what errors call it.
 */
int rk_preset_from_context(const struct rk_preset *base, const char *text, size_t len,
			   const char *name, struct rk_preset **ret, struct rk_error *err);

#endif
