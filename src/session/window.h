/*
 * window.h - what rockit does while a program with one of our own collectors runs: switches recording
 * on and off (--delay, --duration, --every), and copies the window (--snap-on). From outside, through
 * the files of the recorder.
 */
#ifndef RK_WINDOW_H
#define RK_WINDOW_H

#include "session/session_impl.h"

struct rk_window;

/* *ret is NULL if there is nothing to do. `pass` is borrowed. */
int rk_window_open(struct rk_session *s, const struct rk_plan_pass *pass, struct rk_window **ret,
		   struct rk_error *err);
/* Sets the callbacks and their argument. */
void rk_window_attend(struct rk_window *w, struct rk_child_options *opt);
/* After the program has ended; makes the snapshot of a crash and waits for one that is being made. */
void rk_window_close(struct rk_window *w, const struct rk_child_result *did);

#endif
