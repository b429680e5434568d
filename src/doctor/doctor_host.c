/* doctor_host.c - the machine and this user: kernel, container, limits, access, environment. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/num.h"
#include "base/text.h"
#include "doctor/doctor_impl.h"

/* ---- the machine ---- */

#define GIB (UINT64_C(1) << 30)

enum {
	LINE_BYTES = 256,
	NAME_BYTES = 64,
	FEW_FILES = 1024,
	NOBODY = 65534,
	MOST_VARIABLES = 32, /* how many are reported: an environment may be huge */
};

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
	.devices = "request the resource amd.com/gpu in the pod's limits (AMD's device plugin "
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

/* The first match wins: Kubernetes runs its containers by one of the others. */
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

/* The driver matters only if there is a GPU for it; otherwise no advice is needed. */
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
				    "amdgpu is loaded (the kernel's own version)");
		return;
	}
	if (!amd) {
		rk_look_say(l, "driver", RK_DOCTOR_INFO, "kernel driver",
			    "amdgpu is not loaded, and there is no AMD GPU");
		return;
	}
	rk_look_say(l, "driver", RK_DOCTOR_BAD, "kernel driver",
		    "amdgpu is not loaded, but there %s %zu AMD GPU%s", amd == 1 ? "is" : "are",
		    amd, rk_plural(amd));
	rk_look_advise(l, "sudo modprobe amdgpu; if the module is not found, install the package "
			  "amdgpu-dkms or the kernel's extra modules");
}

/* Lines of /proc/self/limits: "Max open files   1024   1048576   files". */
static void look_at_limits(struct rk_look *l)
{
	static const struct {
		const char *line, *before, *after, *advice;
		uint64_t enough;
	} known[] = {
		{ "Max file size", "files are limited to", "bytes: a trace may be larger",
		  "ulimit -f unlimited", UINT64_MAX },
		{ "Max address space", "a process may map",
		  "bytes: ROCm reserves far more than it uses", "ulimit -v unlimited", UINT64_MAX },
		{ "Max open files", "a process may open",
		  "files: too few for a program with many threads", "ulimit -n 65536", FEW_FILES },
	};
	struct rk_bytes bytes;
	const char *limits = rk_look_read(l, "/proc/self/limits", &bytes);

	for (size_t i = 0; limits && i < sizeof(known) / sizeof(known[0]); i++) {
		char rest[LINE_BYTES];
		uint64_t v;

		/* "unlimited" is not a number. */
		if (!rk_sysfs_value(limits, known[i].line, ' ', rest, sizeof(rest)) ||
		    rk_num_u64(rest, strcspn(rest, " \t"), &v) != RK_NUM_OK || v >= known[i].enough)
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

	if (statvfs(dir, &fs) < 0 || access(dir, W_OK) < 0) {
		rk_look_say(l, "space", RK_DOCTOR_WARN, subject, "'%s' is not writable", dir);
		rk_look_advise(l, "%s", advice);
		return;
	}
	free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	rk_look_say(l, "space", free_bytes < GIB ? RK_DOCTOR_WARN : RK_DOCTOR_OK, subject,
		    "%.1f GiB free in '%s'", (double)free_bytes / (double)GIB, dir);
	if (free_bytes < GIB)
		rk_look_advise(l, "%s", advice);
}

/* ---- the user, and which devices the user may access ---- */

static uint64_t number(const char *s, size_t len, uint64_t otherwise)
{
	uint64_t v;

	return rk_num_u64(s, len, &v) == RK_NUM_OK ? v : otherwise;
}

static void add_group(struct rk_look_user *u, uint64_t gid)
{
	if (u->ngroups < RK_LOOK_MAX_GROUPS)
		u->groups[u->ngroups++] = gid;
}

/* The second number of "Uid:" and "Gid:" is the effective one. */
static uint64_t effective(const char *status, const char *key, uint64_t otherwise)
{
	char line[LINE_BYTES];
	const char *p = line;

	rk_sysfs_value(status, key, ':', line, sizeof(line));
	p += strcspn(p, " \t");
	p += strspn(p, " \t");
	return number(p, strcspn(p, " \t"), otherwise);
}

/*
 * A field of a line of /etc/passwd or /etc/group, "a:b:c:d", whose third field is `id`, into
 * `out`; false when no line has that id.
 */
static bool field_by_id(struct rk_look *l, const char *file, uint64_t id, unsigned field, char *out,
			size_t size)
{
	struct rk_bytes bytes;
	const char *text = rk_look_read(l, file, &bytes);
	bool found = false;

	for (const char *line = text; line && *line && !found;) {
		const char *f[4] = { line, "", "", "" };
		size_t end = strcspn(line, "\n"), len;

		for (unsigned i = 1; i < 4; i++) {
			const char *colon = memchr(f[i - 1], ':', (size_t)(line + end - f[i - 1]));

			if (!colon)
				break;
			f[i] = colon + 1;
		}
		found = f[3][0] && number(f[2], strcspn(f[2], ":\n"), UINT64_MAX) == id;
		if (found) {
			len = strcspn(f[field], field < 3 ? ":\n" : "\n");
			snprintf(out, size, "%.*s", (int)rk_min(len, size), f[field]);
		}
		line += end + (line[end] == '\n');
	}
	rk_bytes_release(&bytes);
	return found;
}

/* From files rather than from the C library: the same answer in a test, and no network. */
static void identify(struct rk_look *l)
{
	struct rk_look_user *u = &l->user;
	struct rk_bytes bytes;
	const char *status = rk_text_or_empty(rk_look_read(l, "/proc/self/status", &bytes));
	const char *name = rk_look_env(l, "USER"), *p;

	u->uid = effective(status, "Uid", geteuid());
	add_group(u, effective(status, "Gid", getegid()));
	/* All numbers of the line "Groups:", however long it is. */
	p = strstr(status, "\nGroups:");
	if (p)
		p += strlen("\nGroups:");
	while (p && *p && *p != '\n') {
		size_t len;

		p += strspn(p, " \t");
		len = strcspn(p, " \t\n");
		if (len)
			add_group(u, number(p, len, UINT64_MAX));
		p += len;
	}
	rk_bytes_release(&bytes);
	if (!field_by_id(l, "/etc/passwd", u->uid, 0, u->name, sizeof(u->name)) && name)
		snprintf(u->name, sizeof(u->name), "%s", name);
}

struct device {
	char shown[NAME_BYTES]; /* "/dev/kfd" */
	enum rk_look_access access;
	uint64_t gid;
	unsigned mode;
	bool in_group; /* of this session */
};

/*
 * Under a test root, checks only owner, group and mode. On a real machine asks the kernel, which
 * also knows access lists. Opens nothing: that would wake a sleeping GPU.
 */
static void inspect(const struct rk_look *l, struct device *dev)
{
	char full[RK_SYSFS_PATH];
	unsigned need = 0006;
	struct stat st;
	bool allowed;

	dev->access = RK_LOOK_MISSING;
	rk_sysfs_path(full, l->root, "%s", dev->shown);
	if (stat(full, &st) < 0)
		return;
	dev->gid = st.st_gid;
	dev->mode = st.st_mode & 0777;
	dev->in_group = false;
	for (size_t i = 0; i < l->user.ngroups; i++)
		dev->in_group |= l->user.groups[i] == st.st_gid;
	if (l->user.uid == st.st_uid)
		need = 0600;
	else if (dev->in_group)
		need = 0060;
	if (!l->root[0])
		allowed = faccessat(AT_FDCWD, full, R_OK | W_OK, AT_EACCESS) == 0;
	else
		allowed = l->user.uid == 0 || (dev->mode & need) == need;
	dev->access = allowed ? RK_LOOK_ALLOWED : RK_LOOK_DENIED;
}

enum rk_look_access rk_look_device(const struct rk_look *l, const char *path)
{
	struct device dev;

	snprintf(dev.shown, sizeof(dev.shown), "%s", path);
	inspect(l, &dev);
	return dev.access;
}

/* Whether a word is in a list with commas. */
static bool lists(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = list; len && *p; p += strspn(p, ",")) {
		size_t n = strcspn(p, ",");

		if (n == len && memcmp(p, word, len) == 0)
			return true;
		p += n;
	}
	return false;
}

/* Reports the device and chooses the advice that gives access to it. */
static void say_denied(struct rk_look *l, const char *id, const struct device *dev)
{
	const char *user = l->user.name[0] ? l->user.name : "$USER";
	const char *way = l->container ? l->container->group : NULL;
	char group[NAME_BYTES], who[NAME_BYTES + 16] = "this user", members[4096] = "";

	if (!field_by_id(l, "/etc/group", dev->gid, 0, group, sizeof(group)))
		snprintf(group, sizeof(group), "%" PRIu64, dev->gid);
	if (l->user.name[0])
		snprintf(who, sizeof(who), "user '%s'", l->user.name);
	rk_look_say(l, id, RK_DOCTOR_BAD, dev->shown,
		    "%s cannot read and write %s: it belongs to group '%s' with mode %04o", who,
		    dev->shown, group, dev->mode);

	field_by_id(l, "/etc/group", dev->gid, 3, members, sizeof(members));
	if ((dev->mode & 0060) != 0060 || dev->in_group)
		rk_look_advise(l,
			       "ask the administrator for a udev rule that gives the device to a "
			       "group, with mode 0660 (ROCm's packages bring one)");
	else if (way && dev->gid == NOBODY)
		rk_look_advise(l, "%s of the group that owns the device on the host", way);
	else if (way)
		rk_look_advise(l, "%s %" PRIu64, way, dev->gid);
	else if (lists(members, user))
		rk_look_advise(l,
			       "log in again: '%s' was added to group '%s' after this session "
			       "started",
			       user, group);
	else
		rk_look_advise(l, "sudo usermod -aG %s %s, then log in again", group, user);
}

/* /dev/kfd, and one check for all render nodes, which names the first that is wrong. */
static void look_at_devices(struct rk_look *l)
{
	struct device dev = { .shown = "/dev/kfd" }, missing = dev, denied = dev;
	size_t nodes = 0, nmissing = 0, ndenied = 0;
	const struct rk_gpu *gpu;

	inspect(l, &dev);
	if (dev.access == RK_LOOK_ALLOWED) {
		rk_look_say(l, "kfd", RK_DOCTOR_OK, "/dev/kfd",
			    "/dev/kfd is readable and writable");
	} else if (dev.access == RK_LOOK_DENIED) {
		say_denied(l, "kfd", &dev);
	} else {
		rk_look_say(l, "kfd", RK_DOCTOR_BAD, "/dev/kfd",
			    "/dev/kfd does not exist: programs cannot compute on the GPU");
		rk_look_advise(l, "%s",
			       l->container ? l->container->devices :
					      "load amdgpu with compute support: the kernel needs "
					      "CONFIG_HSA_AMD, or the package amdgpu-dkms");
	}

	for (size_t i = 0; (gpu = rk_look_amd(l, i)) != NULL; i++) {
		if (gpu->render < 0)
			continue;
		nodes++;
		snprintf(dev.shown, sizeof(dev.shown), "/dev/dri/renderD%d", gpu->render);
		inspect(l, &dev);
		if (dev.access == RK_LOOK_MISSING && nmissing++ == 0)
			missing = dev;
		if (dev.access == RK_LOOK_DENIED && ndenied++ == 0)
			denied = dev;
	}
	if (nmissing) {
		rk_look_say(l, "render-nodes", nmissing == nodes ? RK_DOCTOR_BAD : RK_DOCTOR_WARN,
			    "render nodes",
			    "%zu of %zu GPUs have no render node: '%s' does not exist", nmissing,
			    nodes, missing.shown);
		if (l->container)
			rk_look_advise(l, "%s", l->container->devices);
	}
	if (ndenied)
		say_denied(l, "render-nodes", &denied);
	if (nodes && !nmissing && !ndenied)
		rk_look_say(l, "render-nodes", RK_DOCTOR_OK, "render nodes",
			    "%zu of %zu are readable and writable", nodes, nodes);
}

void rk_look_host(struct rk_look *l)
{
	char release[LINE_BYTES];

	identify(l);
	if (rk_look_line(l, "/proc/sys/kernel/osrelease", release, sizeof(release)))
		rk_look_say(l, "kernel", RK_DOCTOR_INFO, "kernel", "Linux %s", release);
	l->container = find_container(l);
	if (l->container)
		rk_look_say(l, "container", RK_DOCTOR_INFO, "container",
			    "this is %s: only the devices and groups passed to it are available",
			    l->container->name);
	look_at_driver(l);
	look_at_limits(l);
	look_at_space(l, "this directory", ".",
		      "run in a directory with more space, or choose one: rockit run -d DIR");
	look_at_space(l, "temporary files", l->tmpdir,
		      "free some space there, or set TMPDIR to another directory");
	/* Without the driver there are no devices: fix the driver first. */
	if (rk_look_exists(l, "/sys/module/amdgpu") && rk_look_count(l, "AMD"))
		look_at_devices(l);
}

/* ---- variables that change what is measured ---- */

static void look_at_visible(struct rk_look *l, const char *name, const char *vendor)
{
	const char *value = rk_look_env(l, name);
	size_t all = rk_look_count(l, vendor), seen = 0;

	if (!value || !all)
		return;
	for (const char *p = value; value[0] != '-' && *p; p += strcspn(p, ",")) {
		p += strspn(p, ",");
		seen += *p != '\0';
	}
	if (seen == 0) {
		rk_look_say(l, "visible-devices", RK_DOCTOR_WARN, name,
			    "%s='%s' hides every GPU from programs", name, value);
		rk_look_advise(l, "unset %s", name);
	} else {
		rk_look_say(l, "visible-devices", RK_DOCTOR_INFO, name,
			    "%s='%s': programs see at most %zu of the %zu GPUs", name, value,
			    rk_min(seen, all), all);
	}
}

/* What a variable does. A name that ends in '_' is a prefix. */
static const struct variable {
	const char *name;
	const char *value; /* only where its value holds this; NULL: always */
	enum rk_doctor_status status;
	const char *text;
	bool unset; /* the advice is to unset it */
} variables[] = {
	{ "ROCPROFILER_METRICS_PATH", NULL, RK_DOCTOR_WARN,
	  "counter definitions come from there, not from ROCm's own file", true },
	{ "ROCPROF_", NULL, RK_DOCTOR_INFO,
	  "configures rocprofv3; rockit run clears it, but it affects rocprofv3 if you run it "
	  "yourself",
	  false },
	{ "HSA_TOOLS_LIB", NULL, RK_DOCTOR_WARN,
	  "loads a tool into every ROCm program: two profilers disturb each other", true },
	{ "ROCP_TOOL_", NULL, RK_DOCTOR_WARN,
	  "loads a tool into every ROCm program: two profilers disturb each other", true },
	{ "ROCP_", NULL, RK_DOCTOR_WARN, "configures rocprof v1 and rocprofv2", true },
	{ "LD_PRELOAD", "prof", RK_DOCTOR_WARN,
	  "loads a profiler into every program: two profilers disturb each other", true },
	{ "LD_PRELOAD", "trace", RK_DOCTOR_WARN,
	  "loads a tracer into every program: two profilers disturb each other", true },
	{ "LD_PRELOAD", NULL, RK_DOCTOR_INFO,
	  "is loaded into every program, before the profiler's own library", false },
	{ "HSA_OVERRIDE_GFX_VERSION", NULL, RK_DOCTOR_WARN,
	  "makes ROCm treat the GPU as a different one: counters do not match", true },
	{ "AMD_SERIALIZE_KERNEL", NULL, RK_DOCTOR_WARN,
	  "makes kernels wait for each other: times differ from a normal run", true },
	{ "HIP_LAUNCH_BLOCKING", NULL, RK_DOCTOR_WARN,
	  "makes every launch wait for its kernel: times differ from a normal run", true },
	{ "CUDA_LAUNCH_BLOCKING", NULL, RK_DOCTOR_WARN,
	  "makes every launch wait for its kernel: times differ from a normal run", true },
	{ "AMD_LOG_LEVEL", NULL, RK_DOCTOR_WARN, "makes HIP write a log: the program runs slower",
	  true },
	{ "CUDA_INJECTION64_PATH", NULL, RK_DOCTOR_WARN,
	  "loads a tool into every CUDA program: two profilers disturb each other", true },
};

static const struct variable *known_variable(const char *entry, size_t len)
{
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		const struct variable *v = &variables[i];
		size_t n = strlen(v->name);
		bool fits = v->name[n - 1] == '_' ? len > n : len == n;

		if (fits && memcmp(entry, v->name, n) == 0 &&
		    (!v->value || strstr(entry + len + 1, v->value)))
			return v;
	}
	return NULL;
}

void rk_look_environment(struct rk_look *l)
{
	unsigned n = 0;
	char name[128];

	look_at_visible(l, "ROCR_VISIBLE_DEVICES", "AMD");
	look_at_visible(l, "HIP_VISIBLE_DEVICES", "AMD");
	look_at_visible(l, "GPU_DEVICE_ORDINAL", "AMD");
	/* HIP also reads CUDA's variable. */
	look_at_visible(l, "CUDA_VISIBLE_DEVICES", rk_look_count(l, "NVIDIA") ? "NVIDIA" : "AMD");
	if (rk_look_env(l, "ROCR_VISIBLE_DEVICES") && rk_look_env(l, "HIP_VISIBLE_DEVICES") &&
	    rk_look_count(l, "AMD"))
		rk_look_say(l, "visible-devices", RK_DOCTOR_INFO, "HIP_VISIBLE_DEVICES",
			    "HIP_VISIBLE_DEVICES selects from the GPUs that ROCR_VISIBLE_DEVICES "
			    "leaves visible");

	for (char *const *e = l->env; *e && n < MOST_VARIABLES; e++) {
		size_t len = strcspn(*e, "=");
		const struct variable *v = (*e)[len] ? known_variable(*e, len) : NULL;

		/* An empty value or "0" turns most of these off; paths have no such value. */
		if (!v || !(*e)[len + 1] || strcmp(*e + len + 1, "0") == 0)
			continue;
		len = rk_min(len, sizeof(name) - 1);
		memcpy(name, *e, len);
		name[len] = '\0';
		rk_look_say(l, "environment", v->status, name, "%s %s", name, v->text);
		if (v->unset)
			rk_look_advise(l, "unset %s", name);
		n++;
	}
}
