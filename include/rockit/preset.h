/* preset.h - named configurations for profiling. */
#ifndef ROCKIT_PRESET_H
#define ROCKIT_PRESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rockit/decls.h"
#include "rockit/error.h"
#include "rockit/report.h"

RK_BEGIN_DECLS

/* Lists of strings end with NULL and are never NULL; strings are "" when there is nothing. */
struct rk_preset {
	const char *name;
	const char *extends;     /* the preset that this one extends; "" for none */
	const char *description; /* one line */
	const char *use_case;
	const char *overhead;      /* "low: about 6 us a kernel ..." */
	const char *source;        /* "built in", or the file */
	const char *const *traces; /* "hip", "kernel", ... */
	bool stats;
	const char *counters;            /* counter spec, see counters.h; "" for none */
	const char *pc_method, *pc_unit; /* PC sampling: "auto" for the chip's best; "" for none */
	uint64_t pc_interval;            /* in pc_unit; 0: a sane one */
	const char *const *monitors;     /* "power", "vram", ... */
	unsigned monitor_interval_ms;    /* 0: the monitor's own */
	const char *const *libraries;    /* "rocblas", "miopen", "hipblaslt", "rccl" */
	const char *const *env;          /* NAME=VALUE */
	const char *const *tool_args;    /* raw options of the profiler */
	const char *const *delivers;     /* "rocprofv3: ...", one line per tool */
	const char *const *distributed;  /* key=value of distributed{}, the next three included */
	const char *launcher;            /* "torchrun", ...; "" for none */
	uint64_t nproc_per_node, nnodes; /* 0: not said */
	const char *const *slurm;        /* key=value of slurm{} */
	const char *const *ignored;      /* keys and tools of a context that are ignored */
	const char *const *notes;        /* one sentence each: what differs from what was asked */
};

/*
 * A preset by name, or a file of one: `name` with a '/' in it, or the name of a file in this folder
 * that no preset has. The prefix "rocprofv3_", the suffix ".json" and "multi_node" are accepted.
 * The user's presets ($ROCKIT_PRESET_DIR, else rockit/presets below $XDG_CONFIG_HOME or ~/.config)
 * override built-in ones of the same name. A file with "tools" is read as a madengine context.
 * RK_E_USAGE names the nearest preset when there is none of that name.
 */
int rk_preset_load(const char *name, struct rk_preset **ret, struct rk_error *err);
void rk_preset_free(struct rk_preset *p); /* NULL is fine */

/* Names in the order of the documentation, the user's own behind them. Owned by the caller. */
struct rk_preset_names {
	char **names; /* ended by NULL */
	size_t n;
	uint64_t reserved[2]; /* 0 */
};
int rk_preset_list(struct rk_preset_names *ret, struct rk_error *err);
void rk_preset_names_release(struct rk_preset_names *n);

/*
 * A madengine context on top of `base` (NULL: nothing): tools[] by name, cmd and env_vars,
 * distributed{}, slurm{}, env_vars{}; docker, registry and manifest keys land in `ignored`. `text`
 * is JSON; `name` is what errors call it. Its commands are never executed: the options of a `cmd`
 * are translated, and a `cmd` with more than profiler options is refused (RK_E_USAGE).
 */
int rk_preset_from_context(const struct rk_preset *base, const char *text, size_t len,
			   const char *name, struct rk_preset **ret, struct rk_error *err);

/* As text, JSON or CSV: `n` presets as a list, or the only one in full. rk_text_free frees. */
int rk_presets_render(const struct rk_preset *const *presets, size_t n, bool full,
		      enum rk_report_format format, char **ret_text, size_t *ret_len,
		      struct rk_error *err);

RK_END_DECLS

#endif
