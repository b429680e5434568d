/* doctor.h - what a machine has for profiling, what blocks it, and how to fix it. */
#ifndef ROCKIT_DOCTOR_H
#define ROCKIT_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rockit/decls.h"
#include "rockit/error.h"
#include "rockit/gpus.h"
#include "rockit/report.h"
#include "rockit/tools.h"

RK_BEGIN_DECLS

enum rk_doctor_status {
	RK_DOCTOR_OK,
	RK_DOCTOR_INFO, /* for information */
	RK_DOCTOR_WARN, /* profiling works, but something will be missing, wrong or slow */
	RK_DOCTOR_BAD,  /* profiling does not work until this is fixed */
};

/* "ok", "info", "warn", "bad". */
const char *rk_doctor_status_word(enum rk_doctor_status s);

/* The doctor owns the strings; they may contain any bytes from files and variables. */
struct rk_doctor_check {
	const char *id; /* stable id with dashes: "kfd", "render-nodes" */
	enum rk_doctor_status status;
	char *subject;        /* what was checked: "/dev/kfd" */
	char *text;           /* one sentence about it */
	char *advice;         /* what to do, or "" */
	uint64_t reserved[4]; /* 0 */
};

struct rk_doctor {
	struct rk_tools_found tools;
	struct rk_gpus gpus;
	struct rk_doctor_check *checks; /* the machine, access, GPUs, tools, hazards */
	size_t nchecks;
	bool ready;    /* `rockit run` can profile here */
	char *verdict; /* one sentence that begins with "ready: ", "not ready: " or "no " */
};

struct rk_doctor_options {
	const char *root; /* for tests: prefix of /sys, /dev, /proc, /opt and /etc; NULL or "" */
	const char *path; /* replaces $PATH; NULL: $PATH */
	char *const *env; /* environment to check, except for where profilers are; NULL: our own */
	const char *tmpdir;   /* folder for temporary files; NULL: $TMPDIR or /tmp */
	uint64_t reserved[8]; /* 0 */
};

/*
 * Reads files and calls NVIDIA's library; starts no process. Finding nothing is not an error: it
 * fails only if out of memory. The caller owns *ret.
 */
int rk_doctor_new(const struct rk_doctor_options *opt, struct rk_doctor **ret,
		  struct rk_error *err);
void rk_doctor_free(struct rk_doctor *d); /* NULL is fine */

/*
 * Renders text, JSON or CSV (of the checks). `detail` adds the options of each profiler to the
 * text. `how->top` is ignored; text is wrapped to 100 columns, or to how->columns if that is less.
 * *ret_text is NUL-terminated; free it with rk_text_free.
 */
int rk_doctor_render(const struct rk_doctor *d, const struct rk_render_options *how, bool detail,
		     char **ret_text, size_t *ret_len, struct rk_error *err);

RK_END_DECLS

#endif
