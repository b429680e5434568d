/*
 * sim.h - a stand-in for the ROCm tools, for tests.
 *
 * One program; the base name of argv[0] says which tool it plays. It shares nothing with the
 * library under test. What it allocates lives until it exits. From the environment:
 *
 *	ROCKIT_SIM_VERSION   release, "7.0"; else .info/version of the tree of argv[0], else 7.0
 *	ROCKIT_SIM_ARCH      gfx90a, gfx942 (default), gfx1100
 *	ROCKIT_SIM_KERNELS   dispatches of the application, default 6
 *	ROCKIT_SIM_GPUS      default 2
 *	ROCKIT_SIM_RANKS     the application is a launcher of N workers: N sets of files, none of its own
 *	ROCKIT_SIM_MESSAGE   text of the application's ROCTx range
 *	ROCKIT_SIM_FAULT     comma list, see sim_fault.c
 *	ROCKIT_SIM_LOG       file that gets one JSON line per invocation
 */
#ifndef SIM_H
#define SIM_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum release { REL_62, REL_63, REL_64, REL_70, REL_713, REL_101, RELEASES };

struct sim {
	const char *tool;    /* base name of argv[0] */
	const char *root;    /* the ROCm tree of argv[0], "" if none */
	const char *version; /* "7.0.0" */
	enum release release;
	const char *arch;
	unsigned kernels, ranks, gpus;
};
extern struct sim sim;

/* sim_util.c: memory that is never freed, text, numbers. */
void *take(size_t bytes);
char *copy_text(const char *text);
char *print_text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

struct text {
	char *at; /* always terminated */
	size_t len, room;
};
void text_add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void text_bytes(struct text *t, const void *data, size_t len);
void text_json(struct text *t, const char *string); /* quoted and escaped */

struct words {
	char **at; /* NULL after the last */
	size_t n;
};
void words_add(struct words *w, const char *word);
/* Splits at any byte of `separators`, empty words left out. */
void words_split(struct words *w, const char *text, const char *separators);
bool words_have(const struct words *w, const char *word);
char *words_join(const struct words *w, const char *between);

bool read_number(const char *text, unsigned long long *ret); /* decimal or 0x, whole text */
bool begins(const char *text, const char *with);
bool ends(const char *text, const char *with);
bool env_on(const char *name);                       /* set and neither empty nor 0 */
char *read_whole(const char *path, size_t *ret_len); /* NULL if it cannot be read */
bool make_folders(const char *path);                 /* all of it */
uint64_t boot_ns(void);                              /* CLOCK_BOOTTIME */
/* `E20260115 05:29:51.123456 1234 where] text` on stderr, as glog writes it. */
void glog(char level, const char *where, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* sim_fault.c */
bool fault(const char *name);
void fault_start(const char *script); /* before the application: may not return */
void fault_end(int *status);          /* after the files: may not return */
void fault_noise(void);

/* sim_file.c: files are kept in memory and written in one go, in the order they were made. */
struct text *file_new(const char *path);
/* `log` is NULL or called with each path before it is written. The list is empty afterwards. */
void files_write(void (*log)(const char *path));
size_t files_bytes(void);

/* sim_app.c: the application. */
struct app_end {
	int status; /* as exit() takes it, when signal is 0 */
	int signal;
	int exec_errno; /* not 0: it could not be started */
	int passed;     /* the last signal passed on to it, 0 if none */
	pid_t pid;
	uint64_t start_ns, end_ns;
};
/* Runs it and waits; SIGINT, SIGTERM, SIGQUIT and SIGHUP are passed on to it meanwhile. */
struct app_end app_run(char *const *argv);
/* Ends this process as the application ended. */
_Noreturn void app_leave(const struct app_end *end);
/* For scripts that are not the application: a signal to them ends them once it has ended. */
void app_script_end(const struct app_end *end);
/* Did it end in a way that lets a library inside it write its files? */
bool app_could_write(const struct app_end *end);

/* sim_keys.c: %pid%, {hostname}, %env{RANK}% and their like, for this process. */
char *expand_keys(const char *pattern, char *const *argv);
int rank_of_process(void); /* as %rank% finds it; 0 */
const char *host_name(void);

/* sim_work.c: what the application did. */
struct kernel {
	const char *mangled, *name, *brief;
	unsigned vgpr, accum, sgpr, lds, scratch;
	unsigned block[3], grid[3]; /* work-items */
};
struct dispatch {
	const struct kernel *kernel;
	unsigned id, kernel_id, agent, queue, stream, correlation;
	uint64_t start, end;
};
struct call {
	const char *domain; /* HIP_RUNTIME, HIP_COMPILER, HSA_CORE, HSA_AMD_EXT, MARKER, RCCL */
	const char *function;
	const char *message; /* of a marker */
	unsigned correlation;
	uint64_t start, end;
};
struct copy {
	const char *direction; /* HOST_TO_DEVICE ... */
	unsigned src, dst, correlation, stream;
	uint64_t start, end, bytes;
};
struct allocation {
	const char *operation; /* ALLOCATE, FREE */
	bool scratch;
	unsigned agent, correlation;
	uint64_t start, end, bytes, address;
};
struct work {
	pid_t pid, ppid;
	char *const *argv;
	uint64_t start, end; /* of the process */
	struct dispatch *dispatches;
	struct call *calls;
	struct copy *copies;
	struct allocation *allocations;
	size_t ndispatches, ncalls, ncopies, nallocations;
	size_t nkernels; /* ids 1..nkernels */
};
extern const struct kernel kernel_list[];
struct work work_make(const struct app_end *end, char *const *argv, bool counting);
/* Of worker `rank` of a launcher, without a process of its own: only its variables are set. */
struct work work_of_worker(const struct app_end *end, char *const *argv, bool counting,
			   unsigned rank);

/* sim_counter.c */
struct counter_row {
	const char *name, *block, *archs, *needs;
};
extern const struct counter_row counter_rows[];           /* generated; ends with a NULL name */
const struct counter_row *counter_find(const char *name); /* on this GPU, or NULL */
/* The fixed value: dispatch * 1000 + length of the name; 0 with the fault counters-zero. */
double counter_value(const char *name, unsigned dispatch_id);
/* NULL if they fit in one pass, else the block that has too few registers. */
const char *counters_overflow(const struct words *names);

/* One function per tool; argv as main() has it. */
int v3_main(int argc, char **argv);
int v3_avail_main(int argc, char **argv);
int v1_main(int argc, char **argv);
int v2_main(int argc, char **argv);
int compute_main(int argc, char **argv);
int sys_main(int argc, char **argv);
int smi_main(int argc, char **argv);

#endif
