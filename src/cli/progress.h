/* progress.h - one line on a terminal while the work takes long; also where ^C is noticed. */
#ifndef RK_PROGRESS_H
#define RK_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct rk_progress {
	const char *verb;
	bool wanted; /* stderr is a terminal and -q was not given */
	bool shown;  /* a line is on the screen */
	int64_t start_ns, last_ns;
};

/* From here on SIGINT and SIGTERM end the work at the next call of rk_progress_step, cleanly. */
void rk_progress_begin(struct rk_progress *p, const char *verb, bool quiet);
/* For rk_run_options.progress; nonzero when the work shall end. */
int rk_progress_step(void *arg, uint64_t done, uint64_t total);
/* Erases the line. */
void rk_progress_end(struct rk_progress *p);
/* The signal that came, or 0. */
int rk_progress_signal(void);

#endif
