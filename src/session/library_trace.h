/* library_trace.h - what rocBLAS, hipBLASLt, MIOpen and RCCL log about their calls. */
#ifndef RK_LIBRARY_TRACE_H
#define RK_LIBRARY_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/list.h"
#include "base/map.h"

enum rk_library {
	RK_LIBRARY_ROCBLAS,
	RK_LIBRARY_HIPBLASLT,
	RK_LIBRARY_MIOPEN,
	RK_LIBRARY_RCCL,
	RK_NLIBRARIES
};

/* "rocblas,miopen" to bits, a bit per library; RK_E_USAGE names the nearest right word. */
int rk_library_parse(const char *words, unsigned *ret, struct rk_error *err);
const char *rk_library_name(unsigned i); /* NULL past the end */

/*
 * Adds the variables to `env` that switch logging on. Each library gets its own files below `dir`,
 * one per process if the library supports that. A variable that `env` or `inherited` (ended by NULL;
 * NULL is fine) has with another value keeps it and is named in `notes`. `dir` must exist when the
 * program starts, and should be absolute: programs change their folder.
 */
int rk_library_env(unsigned libraries, const char *dir, char *const *inherited, struct rk_list *env,
		   struct rk_list *notes, struct rk_error *err);

/*
 * MIOpen logs only to standard error. Returns the name of the file below `dir` for its log lines;
 * NULL: none of these libraries needs one.
 */
const char *rk_library_stderr_copy(unsigned libraries);

/*
 * Counts the calls in the logs below `dir` and writes `csv` (library,function,config,calls,
 * total_ns; total_ns empty where the log has no times, and none has today). *ret_rows is 0 if no
 * log had any calls; then no file is written. Logs and lines that cannot be read are skipped. Memory
 * is bounded: past RK_LIBRARY_CONFIGS_MAX distinct calls, new ones are
 * counted together as "(other)".
 */
enum { RK_LIBRARY_CONFIGS_MAX = 100000 };
int rk_library_collect(unsigned libraries, const char *dir, const char *csv, uint64_t *ret_rows,
		       struct rk_error *err);

/* ---- the parts of rk_library_collect ---- */

/* Longer configurations are cut, with "..." at the end. */
enum { RK_LIBRARY_FUNCTION_MAX = 96, RK_LIBRARY_CONFIG_MAX = 2048 };

/* What a line of a log says. */
struct rk_library_call {
	enum rk_library library;
	bool summary; /* counted by the library itself, when it ends */
	char function[RK_LIBRARY_FUNCTION_MAX + 1];
	uint64_t calls;
};

/*
 * A line of any log. True: `ret` and `config`, which is cleared first, hold a call;
 * config is one line of valid UTF-8, or bad when out of memory.
 */
bool rk_library_line(const char *line, size_t len, struct rk_library_call *ret,
		     struct rk_bytes *config);

/* Calls counted by library, function and configuration. Zero it before use. */
struct rk_library_row {
	enum rk_library library;
	bool summary;
	uint64_t calls, hash;
	char *text; /* function, NUL, config, NUL, and a byte for library and kind */
	size_t len;
};

struct rk_library_counts {
	struct rk_library_row *rows;
	size_t nrows, cap, bytes;
	struct rk_index index; /* of rows, by hash */
	size_t max_rows;       /* distinct calls; 0: RK_LIBRARY_CONFIGS_MAX */
};

int rk_library_count(struct rk_library_counts *c, const struct rk_library_call *call,
		     const struct rk_bytes *config, struct rk_error *err);
/* Drops what two logs of one library both counted, and puts the most frequent call first. */
void rk_library_counts_settle(struct rk_library_counts *c);
void rk_library_counts_release(struct rk_library_counts *c);

/*
 * ---- extracts MIOpen's log lines from a program's standard error (library_stderr.c) ----
 *
 * MIOpen logs its calls to standard error and nowhere else. The program gets a file without a name
 * for its standard error; a thread follows it and forwards every byte, but for whole lines of
 * MIOpen's command log, which go to their own file. So a reader of standard error sees the same
 * text as without the log. We use a file, not a pipe, so that the program can continue to write if
 * we die. The cost: standard error is not a terminal for the program, and its output is some
 * milliseconds late.
 */

struct rk_stderr_split;

/* Lines go to the file `log`, which is replaced; all else to the descriptor `out`, which stays open. */
int rk_stderr_split_start(const char *log, int out, struct rk_stderr_split **ret,
			  struct rk_error *err);
/* For the program's standard error (err_fd of io/child.h). Closed by stop; closed on exec. */
int rk_stderr_split_fd(const struct rk_stderr_split *s);
/*
 * When the program has ended: forwards the rest and frees `s` (NULL is fine). Later output of
 * processes that outlive the program is lost. Fails if lines could not be written to the log.
 */
int rk_stderr_split_stop(struct rk_stderr_split *s, struct rk_error *err);

#endif
