/*
 * secrets.h - removes secrets and private names from command lines and environments before they are
 * stored.
 *
 * Secrets are found by the names in front of values and by the form of well-known tokens. This
 * finds what people usually pass; it cannot prove that no secret is left.
 */
#ifndef RK_SECRETS_H
#define RK_SECRETS_H

#include <stdbool.h>

#include "base/bytes.h"
#include "base/list.h"

/* Replaces a secret. */
#define RK_HIDDEN "[hidden]"

/*
 * Appends `arg` with its secrets replaced: values of names like --api-key, HF_TOKEN= or "password":
 * (also inside a shell command, JSON, a header or a query), the part of a URL before the @, and
 * well-known tokens. `previous` is the argument before it, NULL for none: after "--token" the whole
 * of arg is hidden.
 */
void rk_hide_argument(struct rk_bytes *out, const char *previous, const char *arg);

/* Applies rk_hide_argument to each argument and appends it to ret; ret->bad when out of memory. */
void rk_secrets_args(const struct rk_list *argv, struct rk_list *ret);

/*
 * Appends the environment entries that matter for a GPU run to ret, sorted by name. Secrets in them
 * are hidden; if the name suggests a secret, the whole value is.
 */
void rk_secrets_env(char *const *envp, struct rk_list *ret);

/* Appends all NAME=VALUE entries to ret in their order, with secrets hidden in the same way. */
void rk_secrets_variables(const struct rk_list *set, struct rk_list *ret);

/* Borrowed; NULL or "" if unknown. */
struct rk_redaction {
	const char *host, *user, *home;
	/* Other machines of a job; the n-th is shown as "[node n]", n from 1. */
	char *const *nodes;
	size_t nnodes;
};

/*
 * Appends `text` with absolute paths as "/.../name", the home directory as "[home]", and the names
 * of host and user (whole words only) as "[host]" and "[user]". A path ends at a blank.
 */
void rk_redact_text(struct rk_bytes *out, const char *text, const struct rk_redaction *who);

/*
 * The same for the texts of a JSON document: those of keys that may contain a path or a host, or
 * all. Keys are not changed.
 */
void rk_redact_json(struct rk_bytes *out, const char *json, size_t len, bool all,
		    const struct rk_redaction *who);

/* This machine and user. `who` points into the struct, so do not copy it. */
struct rk_redaction_self {
	struct rk_redaction who;
	char host[256], user[256], home[4096];
};

void rk_redaction_self(struct rk_redaction_self *ret);

#endif
