/* program.h - whether a program can be started, before anything is done for it. */
#ifndef RK_PROGRAM_H
#define RK_PROGRAM_H

/* 0 when `name` (looked up in $PATH unless it holds a slash) can be started; else 126 or 127. */
int rk_program_check(const char *name);

#endif
