/*
 * library_stderr.h - MIOpen's log lines taken out of a program's standard error.
 *
 * MIOpen logs its calls to standard error and nowhere else. The program gets a file without a name
 * for its standard error; a thread follows it and hands on every byte, but for whole lines of
 * MIOpen's command log, which go to a file of their own. What a reader of standard error sees is
 * then what the program would have written without the log. A file and no pipe: whatever becomes of
 * us, the program can write on. The price: standard error is no terminal for the program, and comes
 * some milliseconds later.
 */
#ifndef RK_LIBRARY_STDERR_H
#define RK_LIBRARY_STDERR_H

#include "base/error.h"

struct rk_stderr_split;

/* Lines go to the file `log`, made anew; all else to the descriptor `out`, which stays open. */
int rk_stderr_split_start(const char *log, int out, struct rk_stderr_split **ret,
			  struct rk_error *err);
/* For the program's standard error (err_fd of io/child.h). Closed by stop; closed on exec. */
int rk_stderr_split_fd(const struct rk_stderr_split *s);
/*
 * When the program has ended: hands on what is left and frees `s` (NULL is fine). What processes
 * that outlive the program write after that is lost. An error says that lines could not be written
 * to the log.
 */
int rk_stderr_split_stop(struct rk_stderr_split *s, struct rk_error *err);

#endif
