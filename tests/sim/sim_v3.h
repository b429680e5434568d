/* sim_v3.h - the parts of rocprofv3: its front end sets variables, its library reads them. */
#ifndef SIM_V3_H
#define SIM_V3_H

#include "sim_args.h"

/* One run of the application. */
struct pass {
	struct args args;
	const char *folder; /* below the output path, or NULL */
};
struct passes {
	struct pass *at;
	size_t n;
};
/* sim_v3_jobs.c: the runs that the command line and its input file ask for. */
struct passes v3_passes(const struct args *cli);
_Noreturn void v3_fatal(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* sim_v3_env.c: checks one pass and puts it into the environment. */
void v3_environment(const struct pass *pass);

/* sim_v3_tool.c: what the library inside the application does, from the environment alone. */
struct tool {
	bool hip_runtime, hip_compiler, hsa_core, hsa_amd, marker, rccl;
	bool kernel, copy, alloc, scratch, stats, summary, counting;
	bool mangled, truncated;
	bool replay;          /* each kernel runs once for each group */
	const char *agents;   /* relative, absolute, type-relative */
	const char *sampling; /* host_trap, stochastic or NULL */
	struct words formats;
	struct words *groups; /* of counters that exist here; more than one: taken in turns */
	size_t ngroups, interval;
	const char *base; /* path and prefix of this process */
};
_Noreturn void tool_run(char *const *argv);
/* sim_v3.c: the application cannot be started; `why` is errno. */
_Noreturn void v3_not_started(char *const *app, int why);

/* A record of a counter: the dispatch counts and the counter is recorded for it. */
bool tool_counts(const struct tool *t, const struct work *w, size_t dispatch,
		 const struct words **ret_counters);
const char *tool_kernel_name(const struct tool *t, const struct kernel *k);
bool tool_wants_call(const struct tool *t, const struct call *c);
char *tool_agent(const struct tool *t, unsigned node); /* as the CSV cell, quoted if text */
char *tool_domain(const struct call *c);               /* HIP_RUNTIME_API_EXT ... */
const char *tool_guid(const struct work *w);

/* The writers, one per format. Each only makes files; see sim_file.c. */
void csv_files(const struct tool *t, const struct work *w);
void csv_stats_files(const struct tool *t, const struct work *w);
void rocpd_file(const struct tool *t, const struct work *w);
bool rocpd_breaks(const struct tool *t, const struct work *w); /* the writer aborts */
void json_file(const struct tool *t, const struct work *w);
void pftrace_file(const struct tool *t, const struct work *w);
void pftrace_named(struct text *out, const struct tool *t, const struct work *w);
void agent_info(struct text *out);
void summary_text(struct text *out, const struct tool *t, const struct work *w);

#endif
