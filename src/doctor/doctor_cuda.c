/*
 * doctor_cuda.c - what tracing CUDA programs needs: our collector, a CUPTI that fits the driver, and
 * nobody else who holds it.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "doctor/doctor_impl.h"
#include "tool/collector.h"

enum { MOST = 16, NAME_BYTES = 64 };

#define RELEASES "CUDA 11.8 to 13"

/* Releases of CUPTI that were found: "13 (/usr/local/cuda/extras/CUPTI/lib64)". */
struct found {
	struct rk_list dirs;
	int majors[MOST];
	size_t n;
};

/* "libcupti.so.13" is 13, "libcupti.so.11.8" is 11; 0 for all others, "libcupti.so.2025.3.1" too. */
static int major_of(const char *name)
{
	static const char start[] = "libcupti.so.";
	const char *number = name + sizeof(start) - 1;
	uint64_t v;

	if (strncmp(name, start, sizeof(start) - 1) != 0 ||
	    rk_num_u64(number, strcspn(number, "."), &v) != RK_NUM_OK || v < 9 || v > 99)
		return 0;
	return (int)v;
}

static void look_in(struct rk_look *l, const char *dir, struct found *f)
{
	struct rk_list names = { 0 };
	char full[RK_SYSFS_PATH];

	rk_sysfs_path(full, l->root, "%s", dir);
	if (rk_sysfs_list(full, &names, NULL) < 0)
		l->bad = true;
	for (size_t i = 0; i < names.n; i++) {
		int major = major_of(names.v[i]);

		if (!major || f->n == MOST || f->dirs.n != f->n)
			continue;
		rk_list_add(&f->dirs, dir);
		f->majors[f->n++] = major;
		break;
	}
	l->bad |= names.bad || f->dirs.bad;
	rk_list_release(&names);
}

/* The places below one folder of a toolkit. */
static void look_in_toolkit(struct rk_look *l, const char *dir, struct found *f)
{
	static const char *const below[] = { "extras/CUPTI/lib64", "lib64", "lib" };
	char path[RK_SYSFS_PATH];
	size_t before = f->n;

	for (size_t i = 0; i < sizeof(below) / sizeof(below[0]) && f->n == before; i++) {
		rk_sysfs_path(path, "", "%s/%s", dir, below[i]);
		if (path[0])
			look_in(l, path, f);
	}
}

/* pip's packages bring CUPTI along, under one name up to CUDA 12 and under another since. */
static void look_in_python(struct rk_look *l, const char *prefix, struct found *f)
{
	static const char *const packages[] = { "site-packages", "dist-packages" };
	static const char *const below[] = { "cuda_cupti", "cu13" };
	struct rk_list names = { 0 };
	char path[RK_SYSFS_PATH];

	rk_sysfs_path(path, l->root, "%s/lib", prefix);
	if (path[0] && rk_sysfs_list(path, &names, NULL) < 0)
		l->bad = true;
	for (size_t i = 0; i < names.n; i++)
		for (unsigned k = 0; k < 4 && !strncmp(names.v[i], "python3", 7); k++) {
			rk_sysfs_path(path, "", "%s/lib/%s/%s/nvidia/%s/lib", prefix, names.v[i],
				      packages[k / 2], below[k % 2]);
			if (path[0])
				look_in(l, path, f);
		}
	l->bad |= names.bad;
	rk_list_release(&names);
}

/* "/opt/torch/.venv/bin" among the folders of programs: where its Python has its packages. */
static void look_beside_programs(struct rk_look *l, struct found *f)
{
	char prefix[RK_SYSFS_PATH];

	for (const char *p = l->path; *p; p += strspn(p, ":")) {
		size_t len = strcspn(p, ":");

		if (rk_text_ends(p, len, "/bin") && len < sizeof(prefix)) {
			memcpy(prefix, p, len - 4);
			prefix[len - 4] = '\0';
			look_in_python(l, prefix, f);
		}
		p += len;
	}
}

static void look_for_toolkits(struct rk_look *l, struct found *f)
{
	static const char *const variables[] = { "CUDA_HOME", "CUDA_PATH" };
	struct rk_list names = { 0 };
	char path[RK_SYSFS_PATH];

	for (size_t i = 0; i < 2; i++)
		if (rk_look_env(l, variables[i]))
			look_in_toolkit(l, rk_look_env(l, variables[i]), f);
	rk_sysfs_path(path, l->root, "/usr/local");
	if (rk_sysfs_list(path, &names, NULL) < 0)
		l->bad = true;
	for (size_t i = 0; i < names.n; i++) {
		if (strncmp(names.v[i], "cuda", 4) != 0)
			continue;
		rk_sysfs_path(path, "", "/usr/local/%s", names.v[i]);
		if (path[0])
			look_in_toolkit(l, path, f);
	}
	look_in_toolkit(l, "/opt/cuda", f);
	l->bad |= names.bad;
	rk_list_release(&names);
}

static void look_for_cupti(struct rk_look *l, struct found *f)
{
	const char *venv = rk_look_env(l, "VIRTUAL_ENV"), *conda = rk_look_env(l, "CONDA_PREFIX");

	look_for_toolkits(l, f);
#if defined(__x86_64__)
	look_in(l, "/usr/lib/x86_64-linux-gnu", f);
#elif defined(__aarch64__)
	look_in(l, "/usr/lib/aarch64-linux-gnu", f);
#endif
	look_in(l, "/usr/lib64", f);
	if (venv)
		look_in_python(l, venv, f);
	if (conda) {
		look_in_python(l, conda, f);
		look_in_toolkit(l, conda, f);
	}
	look_beside_programs(l, f);
}

/* The newest that the driver can work with; -1 for none. */
static int best_of(const struct rk_look *l, const struct found *f)
{
	int best = -1;

	for (size_t i = 0; i < f->n; i++)
		if ((!l->cuda || f->majors[i] <= l->cuda / 1000) &&
		    (best < 0 || f->majors[i] > f->majors[best]))
			best = (int)i;
	return best;
}

static void say_cupti(struct rk_look *l, const struct found *f)
{
	int best = best_of(l, f);

	if (best >= 0) {
		rk_look_say(l, "cupti", RK_DOCTOR_OK, "CUPTI", "of CUDA %d in '%s'%s",
			    f->majors[best], f->dirs.v[best],
			    f->n > 1 ? ", and elsewhere; a program's own comes first" : "");
	} else if (f->n) {
		rk_look_say(l, "cupti", RK_DOCTOR_WARN, "CUPTI",
			    "of CUDA %d in '%s', which the driver, of CUDA %d.%d, cannot work with",
			    f->majors[0], f->dirs.v[0], l->cuda / 1000, l->cuda % 1000 / 10);
		rk_look_advise(l, "update the driver, or install the toolkit of CUDA %d",
			       l->cuda / 1000);
	} else {
		rk_look_say(l, "cupti", RK_DOCTOR_WARN, "CUPTI",
			    "not found in a toolkit or in Python's packages: programs that do not "
			    "bring it along are not traced");
		rk_look_advise(l,
			       "install the toolkit's package (cuda-cupti-13-0 or its like), or: "
			       "pip install nvidia-cuda-cupti; " RELEASES " are known");
	}
}

/* ---- who else is at it ---- */

static const struct other {
	const char *name;
	const char *text, *advice;
} others[] = {
	{ "nv-hostengine",
	  "DCGM is running: while it measures, nobody else can have hardware counters; kernels can "
	  "be traced",
	  "for counters: dcgmi profile --pause, and --resume afterwards" },
	{ "nsys", "Nsight Systems is running: programs under it cannot be traced by others", "" },
	{ "ncu", "Nsight Compute is running: it has the hardware counters for itself", "" },
};

static void say_other(struct rk_look *l, const char *comm, const char *pid, unsigned *said)
{
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (strcmp(comm, others[i].name) != 0 || *said >> i & 1)
			continue;
		*said |= 1u << i;
		rk_look_say(l, "cupti-user", RK_DOCTOR_WARN, comm, "%s (process %s)",
			    others[i].text, pid);
		if (others[i].advice[0])
			rk_look_advise(l, "%s", others[i].advice);
	}
}

static void look_for_others(struct rk_look *l)
{
	struct rk_list pids = { 0 };
	char path[RK_SYSFS_PATH], comm[NAME_BYTES];
	unsigned said = 0;

	rk_sysfs_path(path, l->root, "/proc");
	if (rk_sysfs_list(path, &pids, NULL) < 0)
		l->bad = true;
	for (size_t i = 0; i < pids.n; i++) {
		if (pids.v[i][strspn(pids.v[i], "0123456789")])
			continue;
		rk_sysfs_path(path, "", "/proc/%s/comm", pids.v[i]);
		if (rk_look_line(l, path, comm, sizeof(comm)))
			say_other(l, comm, pids.v[i], &said);
	}
	l->bad |= pids.bad;
	rk_list_release(&pids);
}

static void say_collector(struct rk_look *l)
{
	struct rk_bytes path;

	rk_bytes_init(&path, PATH_MAX);
	l->cupti = rk_collector_find("librockit-cupti.so", &path);
	l->bad |= path.bad;
	rk_bytes_release(&path);
	if (l->cupti) {
		rk_look_say(l, "cuda", RK_DOCTOR_OK, "CUDA programs", "rockit traces them itself");
		return;
	}
	rk_look_say(l, "cuda", RK_DOCTOR_INFO, "CUDA programs",
		    "this rockit has no librockit-cupti.so");
	rk_look_advise(l, "build it again: it needs nothing of CUDA");
}

void rk_look_cuda(struct rk_look *l)
{
	struct found f = { .n = 0 };

	if (!l->nvidia)
		return;
	say_collector(l);
	look_for_cupti(l, &f);
	if (!l->bad)
		say_cupti(l, &f);
	look_for_others(l);
	rk_list_release(&f.dirs);
}
