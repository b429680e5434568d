/*
 * tool.h - the profilers we drive: the request for one pass, and the command line for it.
 *
 * Everything here is text in, text out: no process is started, no file is written, nothing has to
 * be installed. A tool is one const struct rk_tool_ops, listed in tools.c.
 */
#ifndef RK_TOOL_H
#define RK_TOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/list.h"
#include "tool/version.h"

/* What can be traced, a bit each. */
enum rk_trace {
	RK_TRACE_HIP = 1u << 0, /* HIP API calls */
	RK_TRACE_HSA = 1u << 1, /* HSA API calls */
	RK_TRACE_KERNEL = 1u << 2,
	RK_TRACE_MEMCPY = 1u << 3,
	RK_TRACE_MARKER = 1u << 4,
	RK_TRACE_RCCL = 1u << 5,
	RK_TRACE_SCRATCH = 1u << 6,
	RK_TRACE_ALLOC = 1u << 7,
	RK_TRACE_KFD = 1u << 8,  /* events of the kernel driver: page faults, migrations, queues */
	RK_TRACE_OMPT = 1u << 9, /* OpenMP */
	RK_TRACE_GRAPH = 1u << 10, /* launches of HIP graphs */
	RK_TRACE_ROCSHMEM = 1u << 11,
	RK_TRACE_HIPFILE = 1u << 12,
	RK_TRACE_ROCDECODE = 1u << 13,
	RK_TRACE_ROCJPEG = 1u << 14,
};
/* "sys" is what every program has; those after it must be named. */
enum { RK_NTRACES = 15, RK_TRACE_SYS = RK_TRACE_KFD - 1 };

/* The word for bit i on the command line and in ledgers ("hip", "memcpy"); NULL past the last. */
const char *rk_trace_name(unsigned i);
/* "hip,kernel" or "sys"; RK_E_USAGE names the nearest known word. */
int rk_trace_parse(const char *words, unsigned *ret, struct rk_error *err);

/* What is requested beside traces, a bit each: what rules and known faults depend on. */
enum rk_ask {
	RK_ASK_COUNTERS = 1u << 0,
	RK_ASK_PC = 1u << 1,     /* PC sampling */
	RK_ASK_ATTACH = 1u << 2, /* a running process instead of a program */
	RK_ASK_ATT = 1u << 3,    /* thread trace */
	RK_ASK_SPM = 1u << 4,    /* streamed counters */
	RK_ASK_REPLAY = 1u << 5, /* kernels are repeated for counters */
	RK_ASK_DELAY = 1u << 6,
	RK_ASK_DURATION = 1u << 7,
	RK_ASK_RANGE = 1u << 8,   /* only in ranges of one name */
	RK_ASK_WINDOW = 1u << 9,  /* only the newest records are kept */
	RK_ASK_EVERY = 1u << 10,  /* N seconds of every M, or N ranges of every M */
	RK_ASK_SAMPLE = 1u << 11, /* only some of the calls */
};

struct rk_pc_sampling {
	const char *method; /* "host_trap" or "stochastic"; NULL: by arch */
	const char *unit;   /* "time" or "cycles"; NULL: by method */
	uint64_t interval;  /* 0: the default */
};

/* One pass: one execution of the program under the tool. Everything is borrowed. */
struct rk_want {
	unsigned traces;                 /* RK_TRACE_ bits */
	bool stats;                      /* the tool's own statistics files beside the trace */
	const struct rk_list *counters;  /* NULL or empty: none in this pass */
	const struct rk_pc_sampling *pc; /* NULL: none */
	const char *kernel_regex;        /* NULL: all kernels */
	const char *arch;                /* "gfx942", "" when not known */
	const char *dir;                 /* absolute; for all files of the pass */
	/*
	 * Distinguishes ranks in file names: a variable that a launcher inside the command sets
	 * ("RANK"), or "mpi" if the tool knows the rank itself; NULL: no launcher.
	 */
	const char *rank_key;
	const struct rk_list *extra; /* --tool-args, split; NULL: none */
	const struct rk_list *app;   /* the program and its arguments; empty with attach_pid */
	/*
	 * For tools that `check` these. `groups` is for kernel replay: `counters` in sets that fit
	 * into the hardware; NULL: one set.
	 */
	const struct rk_list *groups, *spm; /* spm may be NULL or empty */
	size_t ngroups;
	uint64_t attach_pid;          /* 0: start the program */
	uint64_t delay_s, duration_s; /* 0: from the start, to the end */
	bool thread_trace;
	const char *range;         /* only in ROCTx ranges of this name; NULL: always */
	const char *range_library; /* the collector that switches recording on and off */
	/* ---- for our own collectors ---- */
	uint64_t window_bytes; /* keep the newest records in a file of this size; 0: keep all */
	bool switched, asleep; /* rockit starts and stops recording; it begins stopped */
	uint64_t every_on, every_of; /* of so many ranges, the first ones; 0: all */
	uint64_t sample;             /* one call of so many; 0: all */
};

/* A file that must exist before the command runs. */
struct rk_tool_file {
	char *path, *text;
};

/* How to run one pass. Zero it before use. */
struct rk_tool_command {
	struct rk_list argv;      /* argv[0] is the tool's path as given */
	struct rk_list env;       /* NAME=VALUE, added to the inherited environment */
	struct rk_tool_file file; /* an input file for it; path NULL: none */
	char *spool;              /* a folder for its temporary files; NULL: it needs none */
	unsigned delivers;        /* the traces of want->traces that this tool and version have */
	bool counters, pc;        /* whether it delivers counters and PC samples, if wanted */
	struct rk_list instead;   /* counters collected in place of those wanted; empty: the same */
	struct rk_list notes; /* one sentence each: what was requested but is missing, and why */
};
void rk_tool_command_release(struct rk_tool_command *c);

/* The GPUs that a collector needs; it is not chosen where there are none. */
enum rk_tool_gpu {
	RK_TOOL_ANY_GPU,
	RK_TOOL_NVIDIA_GPU, /* with NVIDIA's driver */
	RK_TOOL_AMD_GPU,
};

struct rk_tool_ops {
	const char *name; /* "rocprofv3": the word after --tool */
	/* Names of its program, the best first, ended by NULL: "rocprof-compute", "omniperf". */
	const char *const *programs;
	/* The first release with programs[0]; those before it have programs[1]. 0: never renamed. */
	struct rk_version renamed;
	/* Accepts no counter sets from us: we start it once. */
	bool one_run;
	/* Runs the program again for each of its own counter sets. */
	bool repeats;
	/* Repeats kernels for counters, so one execution of the program collects all of them. */
	bool replays;
	/* Our own collector: `programs` has a library, see rk_collector_find, not a program. */
	bool library;
	/* ---- of our own collectors; 0 and NULL for programs ---- */
	enum rk_tool_gpu gpu;
	const char *api;         /* the interface that it records: "CUDA" */
	unsigned lightest;       /* the traces it records if nothing is requested */
	const char *not_loaded;  /* why a program may not have loaded it */
	const char *lost_at_end; /* what a process loses that does not exit; NULL: nothing */
	/* ---- all ---- */
	/*
	 * Whether release `v` can do all of `asks` (RK_ASK_ bits) together; RK_E_USAGE says what is
	 * missing or forbidden, with the names of rockit's options. NULL: counters and PC sampling
	 * are all that the tool knows of.
	 */
	int (*check)(struct rk_version v, unsigned asks, struct rk_error *err);
	/*
	 * Fills *ret for `path` (the program) of release `v`. RK_E_USAGE if the tool has no way to
	 * express the request; what it merely cannot deliver is put into notes.
	 */
	int (*command)(const char *path, struct rk_version v, const struct rk_want *want,
		       struct rk_tool_command *ret, struct rk_error *err);
};

/* Ended by NULL. The order is the order of choice for --tool auto. */
extern const struct rk_tool_ops *const rk_tools[];
/* By its name or an older one, omniperf or omnitrace; NULL when unknown. */
const struct rk_tool_ops *rk_tool_find(const char *name);

/* Loaded into the program for `range` of struct rk_want; see collectors/range. */
#define RK_RANGE_LIBRARY "librockit-range.so"

/*
 * The absolute path of a collector's library, into *ret; false when it is not found or out of memory
 * (ret->bad). It is in $ROCKIT_COLLECTORS, or near librockit.so, or near the command: beside it, in
 * rockit/ there, or in ../lib/rockit (or lib64, or Debian's lib/<triplet>). So an installed tree may
 * be moved as a whole.
 */
bool rk_collector_find(const char *library, struct rk_bytes *ret);

#endif
