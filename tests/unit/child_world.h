/* child_world.h - child-probe beside this program, run and watched. */
#ifndef RK_CHILD_WORLD_H
#define RK_CHILD_WORLD_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "io/child.h"

enum { PROBE_WORDS = 24 };

struct probe {
	char *argv[PROBE_WORDS + 2];
	struct rk_child_options opt;
	struct rk_child_result got;
	struct rk_error err;
	char text[8192]; /* what it wrote to stdout */
};

/* The path of child-probe; borrowed. */
const char *probe_path(void);
/* Options to run child-probe with these words, separated by blanks. */
void probe_init(struct probe *p, const char *words);
/* Runs it with stdout in p->text; what rk_child_run returned. */
int probe_run(struct probe *p);
/* probe_init and probe_run with a timeout of 30 s, which no test should need. */
int probe_words(struct probe *p, const char *words);
void probe_release(struct probe *p);

/*
 * child-probe in the background as a program of its own, its stdout and stderr in a pipe, or with
 * a terminal for all three when `tty`. `set_up` runs in the new process before exec; may be NULL.
 */
struct probe_process {
	int pid;
	int fd; /* what it writes; with a terminal also what it reads */
	char text[8192];
	size_t len;
};

void probe_start(struct probe_process *p, const char *words, int tty, void (*set_up)(void));
/* Reads until `text` was seen; 0 when it did not come within ten seconds. */
int probe_expect(struct probe_process *p, const char *text);
/* Reads to the end; its exit status as a shell sees it. */
int probe_finish(struct probe_process *p);

#endif
