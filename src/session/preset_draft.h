/* preset_draft.h - a preset while it is built; shared by presets and contexts. */
#ifndef RK_PRESET_DRAFT_H
#define RK_PRESET_DRAFT_H

#include "base/error.h"
#include "base/list.h"
#include "codec/json/tree.h"
#include "rockit/preset.h"

/* Strings of struct rk_preset, and lists; preset_draft.c has their offsets. */
enum rk_draft_text {
	RK_DRAFT_NAME,
	RK_DRAFT_EXTENDS,
	RK_DRAFT_DESCRIPTION,
	RK_DRAFT_USE_CASE,
	RK_DRAFT_OVERHEAD,
	RK_DRAFT_SOURCE,
	RK_DRAFT_COUNTERS,
	RK_DRAFT_PC_METHOD,
	RK_DRAFT_PC_UNIT,
	RK_DRAFT_TIMELINE,
	RK_NDRAFT_TEXTS
};

enum rk_draft_list {
	RK_DRAFT_TRACES,
	RK_DRAFT_MONITORS,
	RK_DRAFT_LIBRARIES,
	RK_DRAFT_ENV,
	RK_DRAFT_TOOL_ARGS,
	RK_DRAFT_DELIVERS,
	RK_DRAFT_DISTRIBUTED,
	RK_DRAFT_SLURM,
	RK_DRAFT_IGNORED,
	RK_DRAFT_NOTES,
	RK_NDRAFT_LISTS
};

/* Numbers are written in `preset` itself; its strings and lists are set by rk_draft_seal. */
struct rk_draft {
	struct rk_preset preset; /* the first member: rk_preset_free frees the whole */
	char *text[RK_NDRAFT_TEXTS];
	struct rk_list list[RK_NDRAFT_LISTS];
};

/* A copy of `base`, or an empty one for NULL. */
int rk_draft_new(const struct rk_preset *base, struct rk_draft **ret, struct rk_error *err);
int rk_draft_set(struct rk_draft *d, enum rk_draft_text t, const char *value, struct rk_error *err);
/* Everything `from` collects on top of what is there: traces, monitors, environment, ... */
int rk_draft_add(struct rk_draft *d, const struct rk_preset *from, struct rk_error *err);
/* Takes ownership of the draft, also on failure. */
int rk_draft_seal(struct rk_draft *d, struct rk_preset **ret, struct rk_error *err);
void rk_draft_free(struct rk_draft *d); /* NULL is fine */

/*
 * "rocblas,rccl" for RK_DRAFT_LIBRARIES, "power" for RK_DRAFT_MONITORS, or RK_DRAFT_TRACES: words
 * checked and added, once each.
 */
int rk_draft_words(struct rk_draft *d, enum rk_draft_list list, const char *words,
		   struct rk_error *err);
/* An object of scalars as KEY=VALUE entries, over those of the same key. */
int rk_draft_pairs(struct rk_draft *d, enum rk_draft_list l, const struct rk_tree *object,
		   const char *file, struct rk_error *err);

/* RK_E_FORMAT at a place of a file. */
int rk_draft_wrong(const struct rk_tree *at, const char *file, struct rk_error *err,
		   const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/*
 * The keys of a preset into the draft. An unknown key, a wrong type or an unknown word is an error
 * that names file, line and the nearest right one.
 */
int rk_draft_parse(struct rk_draft *d, const struct rk_tree *root, const char *file,
		   struct rk_error *err);
/* A context into the draft (context.c). */
int rk_draft_context(struct rk_draft *d, const struct rk_tree *root, const char *file,
		     struct rk_error *err);
/* The file of a timeline, "pftrace" or "json"; NULL: there is no such timeline (session_files.c). */
const char *rk_timeline_file(const char *word);
/* A built-in preset, even if the user has a preset of that name (preset_find.c). */
int rk_preset_builtin(const char *name, struct rk_preset **ret, struct rk_error *err);

#endif
