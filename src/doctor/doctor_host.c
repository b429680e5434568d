/* doctor_host.c - the machine itself: kernel, driver, container, limits, room for files. */
#include <inttypes.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/num.h"
#include "doctor/doctor_impl.h"

#define GIB (UINT64_C(1) << 30)

enum { LINE_BYTES = 256, FEW_FILES = 1024 };

static const struct rk_look_container docker = {
	.name = "Docker",
	.devices = "start the container with --device=/dev/kfd --device=/dev/dri "
		   "--group-add video --group-add render",
	.group = "start the container with --group-add",
};
static const struct rk_look_container podman = {
	.name = "Podman",
	.devices = "start the container with --device=/dev/kfd --device=/dev/dri "
		   "--group-add keep-groups",
	.group = "start the container with --group-add keep-groups, or --group-add",
};
static const struct rk_look_container kubernetes = {
	.name = "Kubernetes",
	.devices = "ask for the resource amd.com/gpu in the pod's limits (AMD's device plugin "
		   "must run on the node)",
	.group = "add to the pod's securityContext.supplementalGroups the group",
};
static const struct rk_look_container apptainer = {
	.name = "Apptainer",
	.devices = "start the container with 'apptainer exec --rocm'",
};
static const struct rk_look_container other_container = {
	.name = "a container",
	.devices = "give the container the devices /dev/kfd and /dev/dri",
};

/* The first that holds decides; Kubernetes runs its containers by one of the others. */
static const struct rk_look_container *find_container(struct rk_look *l)
{
	static const struct {
		const char *file;     /* exists, or */
		const char *variable; /* is set, or */
		const char *cgroup;   /* is part of /proc/1/cgroup */
		const struct rk_look_container *is;
	} marks[] = {
		{ "/var/run/secrets/kubernetes.io", "KUBERNETES_SERVICE_HOST", "kubepods",
		  &kubernetes },
		{ "/.singularity.d", "APPTAINER_CONTAINER", NULL, &apptainer },
		{ NULL, "SINGULARITY_CONTAINER", NULL, &apptainer },
		{ "/run/.containerenv", NULL, "libpod", &podman },
		{ "/.dockerenv", NULL, "docker", &docker },
		{ NULL, "container", "lxc", &other_container },
		{ NULL, NULL, "containerd", &other_container },
	};
	const struct rk_look_container *found = NULL;
	struct rk_bytes bytes;
	const char *cgroup = rk_look_read(l, "/proc/1/cgroup", &bytes);

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]) && !found; i++) {
		bool there = marks[i].file && rk_look_exists(l, marks[i].file);

		there = there || (marks[i].variable && rk_look_env(l, marks[i].variable));
		there = there || (marks[i].cgroup && cgroup && strstr(cgroup, marks[i].cgroup));
		if (there)
			found = marks[i].is;
	}
	rk_bytes_release(&bytes);
	return found;
}

static void look_at_container(struct rk_look *l)
{
	l->container = find_container(l);
	if (l->container)
		rk_look_say(l, "container", RK_DOCTOR_INFO, "container",
			    "this is %s: only the devices and groups that it was given are here",
			    l->container->name);
}

static void look_at_kernel(struct rk_look *l)
{
	char release[LINE_BYTES];

	if (rk_look_line(l, "/proc/sys/kernel/osrelease", release, sizeof(release)))
		rk_look_say(l, "kernel", RK_DOCTOR_INFO, "kernel", "Linux %s", release);
}

/* The driver matters where there is a GPU for it; elsewhere its absence needs no advice. */
static void look_at_driver(struct rk_look *l)
{
	char version[LINE_BYTES];
	size_t amd = rk_look_count(l, "AMD");

	if (rk_look_exists(l, "/sys/module/amdgpu")) {
		if (rk_look_line(l, "/sys/module/amdgpu/version", version, sizeof(version)))
			rk_look_say(l, "driver", RK_DOCTOR_OK, "kernel driver",
				    "amdgpu %s is loaded", version);
		else
			rk_look_say(l, "driver", RK_DOCTOR_OK, "kernel driver",
				    "amdgpu is loaded, the kernel's own");
		return;
	}
	if (!amd) {
		rk_look_say(l, "driver", RK_DOCTOR_INFO, "kernel driver",
			    "amdgpu is not loaded, and there is no AMD GPU");
		return;
	}
	rk_look_say(l, "driver", RK_DOCTOR_BAD, "kernel driver",
		    "amdgpu is not loaded, but there %s %zu AMD GPU%s", amd == 1 ? "is" : "are",
		    amd, amd == 1 ? "" : "s");
	rk_look_advise(l, "sudo modprobe amdgpu; where that finds nothing, install the package "
			  "amdgpu-dkms, or the kernel's extra modules");
}

/* A line of /proc/self/limits: "Max open files   1024   1048576   files"; UINT64_MAX: none. */
static uint64_t soft_limit(const char *limits, const char *name)
{
	char rest[LINE_BYTES];
	uint64_t v;

	if (!rk_sysfs_value(limits, name, ' ', rest, sizeof(rest)))
		return UINT64_MAX;
	return rk_num_u64(rest, strcspn(rest, " \t"), &v) == RK_NUM_OK ? v : UINT64_MAX;
}

static void look_at_limits(struct rk_look *l)
{
	static const struct {
		const char *line, *before, *after, *advice;
		uint64_t enough;
	} known[] = {
		{ "Max file size", "files are cut at", "bytes: a trace may be larger",
		  "ulimit -f unlimited", UINT64_MAX },
		{ "Max address space", "a process may map",
		  "bytes: ROCm reserves far more than it uses", "ulimit -v unlimited", UINT64_MAX },
		{ "Max open files", "a process may open",
		  "files: few, for a program of many threads", "ulimit -n 65536", FEW_FILES },
	};
	struct rk_bytes bytes;
	const char *limits = rk_look_read(l, "/proc/self/limits", &bytes);

	for (size_t i = 0; limits && i < sizeof(known) / sizeof(known[0]); i++) {
		uint64_t v = soft_limit(limits, known[i].line);

		if (v >= known[i].enough)
			continue;
		rk_look_say(l, "limit", RK_DOCTOR_WARN, "ulimit", "%s %" PRIu64 " %s",
			    known[i].before, v, known[i].after);
		rk_look_advise(l, "%s", known[i].advice);
	}
	rk_bytes_release(&bytes);
}

static void look_at_space(struct rk_look *l, const char *subject, const char *dir,
			  const char *advice)
{
	struct statvfs fs;
	uint64_t free_bytes;
	bool few;

	if (statvfs(dir, &fs) < 0 || access(dir, W_OK) < 0) {
		rk_look_say(l, "space", RK_DOCTOR_WARN, subject, "'%s' cannot be written to", dir);
		rk_look_advise(l, "%s", advice);
		return;
	}
	free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	few = free_bytes < GIB;
	rk_look_say(l, "space", few ? RK_DOCTOR_WARN : RK_DOCTOR_OK, subject,
		    "%.1f GiB are free in '%s'", (double)free_bytes / (double)GIB, dir);
	if (few)
		rk_look_advise(l, "%s", advice);
}

void rk_look_host(struct rk_look *l)
{
	look_at_kernel(l);
	look_at_container(l);
	look_at_driver(l);
	look_at_limits(l);
	look_at_space(l, "this directory", ".",
		      "run where there is room, or name another place: rockit run -d DIR");
	look_at_space(l, "temporary files", l->tmpdir,
		      "make room there, or set TMPDIR to another place");
}
