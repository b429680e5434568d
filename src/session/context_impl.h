/* context_impl.h - shared by the files that read madengine's contexts. */
#ifndef RK_CONTEXT_IMPL_H
#define RK_CONTEXT_IMPL_H

#include "session/preset_draft.h"

/* What rocprofv3's --runtime-trace records. */
#define RK_RUNTIME_TRACES "hip,marker,kernel,memcpy,alloc,scratch,rccl"

/* A context while it is read. */
struct rk_madengine {
	struct rk_draft *d;
	const char *file;
	struct rk_error *err;
	bool nccl_debug; /* the context itself sets NCCL_DEBUG */
};

void rk_madengine_note(struct rk_madengine *m, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Remembers a key that means nothing here, by its path: "tools[0].pre_scripts". */
void rk_madengine_ignore(struct rk_madengine *m, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* env_vars{} of the context or of a tool. */
int rk_madengine_env(struct rk_madengine *m, const struct rk_tree *object);
/* The i-th of tools[] (context_tools.c). */
int rk_madengine_tool(struct rk_madengine *m, const struct rk_tree *tool, size_t i);
/* A tool's cmd, taken apart and never run (context_cmd.c). */
int rk_madengine_cmd(struct rk_madengine *m, const struct rk_tree *cmd);

#endif
