/*
 * secrets.h - what may be written down of a command line and an environment.
 *
 * Text is judged by the names in front of values and by the look of well-known tokens. That finds
 * what people usually pass; it cannot prove that nothing secret is left.
 */
#ifndef RK_SECRETS_H
#define RK_SECRETS_H

#include <stdbool.h>

#include "base/bytes.h"
#include "base/list.h"

/* Replaces a secret. */
#define RK_HIDDEN "[hidden]"

/*
 * Appends `arg` with its secrets replaced: values of names like --api-key, HF_TOKEN= or
 * "password": (also inside a command for a shell, JSON, a header, a query), the part before the
 * @ of a URL, well-known tokens. `previous` is the argument before it, NULL for none: after
 * "--token" the whole of arg is hidden.
 */
void rk_hide_argument(struct rk_bytes *out, const char *previous, const char *arg);

/* Each argument by rk_hide_argument, appended to ret, whose `bad` says that memory ran out. */
void rk_secrets_args(const struct rk_list *argv, struct rk_list *ret);

/*
 * The entries of an environment that say something about a GPU run, sorted by name; secrets in
 * them are hidden, and so is the whole value where the name sounds like one. Appended to ret.
 */
void rk_secrets_env(char *const *envp, struct rk_list *ret);

/* NAME=VALUE entries, all of them and in their order, hidden in the same way. Appended to ret. */
void rk_secrets_variables(const struct rk_list *set, struct rk_list *ret);

/* Borrowed; NULL or "" for what is not known. */
struct rk_redaction {
	const char *host, *user, *home;
	/* Other machines of a job; the n-th becomes "[node n]", n from 1. */
	char *const *nodes;
	size_t nnodes;
};

/*
 * Appends `text` with absolute paths as "/.../name", the home directory as "[home]", and the host
 * and the user, where they stand as a word, as "[host]" and "[user]". A path ends at a blank.
 */
void rk_redact_text(struct rk_bytes *out, const char *text, const struct rk_redaction *who);

/* Who we are; `who` points into the rest, so it may not be copied. */
struct rk_redaction_self {
	struct rk_redaction who;
	char host[256], user[256], home[4096];
};

void rk_redaction_self(struct rk_redaction_self *ret);

#endif
