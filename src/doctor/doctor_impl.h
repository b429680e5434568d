/* doctor_impl.h - what the parts of the doctor share: reading the machine, reporting checks. */
#ifndef RK_DOCTOR_IMPL_H
#define RK_DOCTOR_IMPL_H

#include <stdint.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "monitor/sysfs.h"
#include "rockit/doctor.h"

enum {
	RK_LOOK_FILE_MAX_BYTES = 1 << 20, /* of /etc/group and the like, no more is read */
	RK_LOOK_MAX_GROUPS = 1024,
};

/* The user and groups, for access to devices. */
struct rk_look_user {
	uint64_t uid;
	uint64_t groups[RK_LOOK_MAX_GROUPS]; /* of this session, the primary one first */
	size_t ngroups;
	char name[64]; /* "" when not known */
};

/* A kind of container, and how devices get into it. */
struct rk_look_container {
	const char *name;
	const char *devices; /* advice: how to give it the GPUs */
	const char *group;   /* advice: how to give it a group; NULL: as for a user */
};

struct rk_look {
	const char *root; /* "" on a real machine */
	const char *path; /* of programs, "dir:dir" */
	const char *tmpdir;
	char *const *env;
	struct rk_look_user user;
	const struct rk_look_container *container; /* NULL: none */
	struct rk_doctor *d;
	size_t cap;  /* of d->checks */
	bool opencl; /* OpenCL programs can be traced by our own collector */
	bool nvidia; /* NVIDIA's driver is loaded */
	int cuda;    /* the release of CUDA that it is for, 13000; 0: not known */
	bool cupti;  /* CUDA programs can be traced by our own collector */
	bool rocm;   /* HIP programs can be traced by our own collector */
	bool bad;    /* out of memory: from then on nothing is added */
};

/* A check of its own; the advice is added to the last one. Formats are printf's. */
void rk_look_say(struct rk_look *l, const char *id, enum rk_doctor_status status,
		 const char *subject, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void rk_look_advise(struct rk_look *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

bool rk_look_exists(const struct rk_look *l, const char *path);
/*
 * The file root + path, its first RK_LOOK_FILE_MAX_BYTES at most, into `out` (initialised here;
 * always released by the caller). Terminated text, or NULL when it cannot be read.
 */
const char *rk_look_read(struct rk_look *l, const char *path, struct rk_bytes *out);
/* The first line of the file root + path into `out`; false, and "", when there is none. */
bool rk_look_line(const struct rk_look *l, const char *path, char *out, size_t size);
/* The value of a variable, NULL when it is not set. */
const char *rk_look_env(const struct rk_look *l, const char *name);
/* True when an executable file of that name is in l->path. */
bool rk_look_program(const struct rk_look *l, const char *name);

/* AMD's GPUs of d->gpus; NULL past the end. */
const struct rk_gpu *rk_look_amd(const struct rk_look *l, size_t i);
size_t rk_look_count(const struct rk_look *l, const char *vendor);

/* The program that `rockit run` would use, NULL when there is none. */
const struct rk_tool_found *rk_look_best(const struct rk_look *l);

/* What this user may do with a device: by owner, group and mode, nothing is opened. */
enum rk_look_access { RK_LOOK_ALLOWED, RK_LOOK_DENIED, RK_LOOK_MISSING };
enum rk_look_access rk_look_device(const struct rk_look *l, const char *path);

/* The groups of checks, in their order. */
void rk_look_host(struct rk_look *l);
void rk_look_gpus(struct rk_look *l);
void rk_look_environment(struct rk_look *l);
void rk_look_tools(struct rk_look *l);

#endif
