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

/* Lists of strings end with NULL and are never NULL; missing strings are "". */
struct rk_preset {
	const char *name;
	const char *extends;     /* the preset that this one extends, or "" */
	const char *description; /* one line */
	const char *use_case;
	const char *overhead;      /* "low: about 6 us a kernel ..." */
	const char *source;        /* "built in", or the file */
	const char *const *traces; /* "hip", "kernel", ... */
	bool stats;
	const char *counters;            /* counter spec, see counters.h, or "" */
	const char *pc_method, *pc_unit; /* PC sampling: "auto" for the chip's best, or "" */
	uint64_t pc_interval;            /* in pc_unit; 0: a reasonable default */
	const char *const *monitors;     /* "power", "vram", ... */
	unsigned monitor_interval_ms;    /* 0: the monitor's default */
	const char *const *libraries;    /* "rocblas", "miopen", "hipblaslt", "rccl" */
	const char *const *env;          /* NAME=VALUE */
	const char *const *tool_args;    /* raw options of the profiler */
	const char *const *delivers;     /* "rocprofv3: ...", one line per tool */
	const char *const *distributed;  /* key=value of distributed{}, including the next three */
	const char *launcher;            /* "torchrun", ..., or "" */
	uint64_t nproc_per_node, nnodes; /* 0: not set */
	const char *const *slurm;        /* key=value pairs of slurm{} */
	const char *const *ignored;      /* keys and tools of a context that are ignored */
	const char *const *notes;        /* one sentence each: differences from the request */
	const char *timeline; /* "pftrace": model_trace.pftrace, "json": trace.json, or "" */
};

/*
 * Loads a preset by name, or from a file: `name` contains a '/', or is the name of a file in the
 * current folder but not of a preset. The prefix "rocprofv3_", the suffix ".json" and "multi_node"
 * are accepted. The user's presets ($ROCKIT_PRESET_DIR, else rockit/presets below $XDG_CONFIG_HOME
 * or ~/.config) override built-in ones of the same name. A file with "tools" is read as a madengine
 * context. RK_E_USAGE suggests the nearest preset if there is none of that name.
 */
int rk_preset_load(const char *name, struct rk_preset **ret, struct rk_error *err);
void rk_preset_free(struct rk_preset *p); /* NULL is fine */

/* Names in the order of the documentation, then the user's own. Owned by the caller. */
struct rk_preset_names {
	char **names; /* ends with NULL */
	size_t n;
	uint64_t reserved[2]; /* 0 */
};
int rk_preset_list(struct rk_preset_names *ret, struct rk_error *err);
void rk_preset_names_release(struct rk_preset_names *n);

/*
 * Applies a madengine context on top of `base` (NULL: nothing): tools[] by name, cmd and env_vars,
 * distributed{}, slurm{}, env_vars{}; docker, registry and manifest keys go to `ignored`. `text` is
 * JSON; `name` is used in errors. Commands are never executed: the options of a `cmd` are
 * translated, and a `cmd` with more than profiler options is refused (RK_E_USAGE).
 */
int rk_preset_from_context(const struct rk_preset *base, const char *text, size_t len,
			   const char *name, struct rk_preset **ret, struct rk_error *err);

/*
 * Renders text, JSON or CSV: `n` presets as a list, or a single one with all details. Free with
 * rk_text_free.
 */
int rk_presets_render(const struct rk_preset *const *presets, size_t n, bool full,
		      enum rk_report_format format, char **ret_text, size_t *ret_len,
		      struct rk_error *err);

RK_END_DECLS

#endif
