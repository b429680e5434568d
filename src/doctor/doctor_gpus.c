/* doctor_gpus.c - the GPUs, what drives them, and our collectors: AMD, NVIDIA, CUDA, OpenCL. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "doctor/doctor_impl.h"
#include "monitor/nvml.h"
#include "tool/tool.h"

/* ---- AMD's GPUs ---- */

enum {
	LINE_BYTES = 256,
	PATH_BYTES = 128,
	NAME_BYTES = 64,
	CAP_SYS_ADMIN = 21,
	MOST_DEVICES = 64,
	MOST_CUPTIS = 16,
};

/* amdgpu drives more chips than ROCm computes on. */
static void look_at_topology(struct rk_look *l)
{
	enum rk_doctor_status status = RK_DOCTOR_BAD;
	const struct rk_gpu *gpu;

	if (!rk_look_exists(l, "/sys/module/amdgpu"))
		return;
	for (size_t i = 0; (gpu = rk_look_amd(l, i)) != NULL; i++)
		if (gpu->kfd_node >= 0)
			status = RK_DOCTOR_INFO;
	for (size_t i = 0; (gpu = rk_look_amd(l, i)) != NULL; i++)
		if (gpu->kfd_node < 0)
			rk_look_say(l, "not-compute", status, gpu->pci[0] ? gpu->pci : "GPU",
				    "GPU %d (%s) is not among the driver's compute devices: ROCm "
				    "does not see it",
				    gpu->index, gpu->name);
}

static void look_at_power_levels(struct rk_look *l)
{
	size_t gated = 0, forced = 0; /* counters may read 0; other fixed clocks */
	char gated_level[LINE_BYTES], forced_level[LINE_BYTES]; /* of the first of each */
	char path[PATH_BYTES], level[LINE_BYTES];
	const struct rk_gpu *gpu;
	bool rdna;

	for (size_t i = 0; (gpu = rk_look_amd(l, i)) != NULL; i++) {
		snprintf(path, sizeof(path),
			 "/sys/class/drm/card%d/device/power_dpm_force_performance_level",
			 gpu->card);
		if (gpu->card < 0 || !rk_look_line(l, path, level, sizeof(level)))
			continue;
		/* gfx10, gfx11 and gfx12 are RDNA, but gfx125x is not. */
		rdna = strncmp(gpu->gfx, "gfx1", 4) == 0 && strlen(gpu->gfx) == 7 &&
		       strncmp(gpu->gfx, "gfx125", 6) != 0;
		/* "profile_standard" and its like keep the clocks on; amd-smi: STABLE_STD. */
		if (rdna && strncmp(level, "profile_", 8) != 0) {
			if (gated++ == 0)
				memcpy(gated_level, level, sizeof(level));
		} else if (strcmp(level, "auto") != 0 && forced++ == 0) {
			memcpy(forced_level, level, sizeof(level));
		}
	}
	if (gated) {
		rk_look_say(l, "power-level", RK_DOCTOR_WARN, "power level",
			    "hardware counters of %zu RDNA GPU%s may read 0 while the power level "
			    "is '%s'",
			    gated, rk_plural(gated), gated_level);
		rk_look_advise(l, "for counters: sudo amd-smi set --gpu all --perf-level "
				  "STABLE_STD; afterwards the same with AUTO");
	}
	if (forced)
		rk_look_say(l, "power-level", RK_DOCTOR_INFO, "power level",
			    "clocks of %zu GPU%s are fixed ('%s'): times differ from normal "
			    "operation",
			    forced, rk_plural(forced), forced_level);
}

/* ---- NVIDIA's driver ---- */

static void advise_by_place(struct rk_look *l, const char *in_container, const char *elsewhere)
{
	rk_look_advise(l, "%s", l->container ? in_container : elsewhere);
}

#define GPU_CONTAINER \
	"start the container with the GPUs (docker run --gpus all, apptainer exec --nv)"

/* AMD GPUs have priority: with one, problems of NVIDIA's driver do not prevent a run. */
static enum rk_doctor_status worst(const struct rk_look *l)
{
	return rk_look_count(l, "AMD") ? RK_DOCTOR_WARN : RK_DOCTOR_BAD;
}

/* The number in "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  560.35.03  Release". */
static void version_in(const char *line, char *out, size_t size)
{
	out[0] = '\0';
	for (const char *p = line; *p; p += strspn(p, " \t")) {
		size_t len = strcspn(p, " \t");

		if (strspn(p, "0123456789.") == len && memchr(p, '.', len) && len < size) {
			memcpy(out, p, len);
			out[len] = '\0';
			return;
		}
		p += len;
	}
}

/* The kernel module and the library come in one package, but a container may have only one. */
static void say_no_nvml(struct rk_look *l, int code)
{
	if (code == RK_NVML_NO_LIBRARY) {
		rk_look_say(l, "nvml", RK_DOCTOR_WARN, "libnvidia-ml.so.1",
			    "not found: power, memory and clocks cannot be sampled");
		advise_by_place(l,
				"also give the container the driver's tools: "
				"NVIDIA_DRIVER_CAPABILITIES=compute,utility",
				"install the libraries of the driver's release");
	} else if (code == RK_NVML_VERSION_MISMATCH) {
		rk_look_say(l, "nvml", worst(l), "libnvidia-ml.so.1",
			    "the driver's libraries and its kernel module are from different "
			    "releases: CUDA programs cannot run");
		rk_look_advise(l, "reboot, or reload the module: the driver was updated while it "
				  "was in use");
	} else {
		rk_look_say(l, "nvml", RK_DOCTOR_WARN, "libnvidia-ml.so.1",
			    "NVML fails to start (error %d): power, memory and clocks cannot be "
			    "sampled",
			    code);
		rk_look_advise(l, "run nvidia-smi and read its message");
	}
}

struct seen {
	unsigned gpus, lost, sleeping, mig;
};

static void say_seen(struct rk_look *l, const struct seen *s)
{
	if (s->lost) {
		rk_look_say(l, "nvidia-lost", s->lost == s->gpus ? worst(l) : RK_DOCTOR_WARN,
			    "NVIDIA GPUs", "%u of %u are lost: they have fallen off the bus",
			    s->lost, s->gpus);
		rk_look_advise(l, "look for 'Xid' in dmesg, and reboot the machine");
	}
	if (s->mig)
		rk_look_say(l, "mig", RK_DOCTOR_INFO, "MIG",
			    "on %u of %u GPUs: programs run on parts of a GPU; power, energy, "
			    "memory, clocks and temperature are sampled for whole GPUs, load is "
			    "not sampled",
			    s->mig, s->gpus);
	if (s->sleeping) {
		rk_look_say(l, "nvidia-persistence", RK_DOCTOR_INFO, "persistence mode",
			    "off on %u of %u GPUs: the first use after an idle time takes "
			    "seconds longer",
			    s->sleeping, s->gpus);
		rk_look_advise(l, "sudo nvidia-smi -pm 1, or run nvidia-persistenced");
	}
}

/* The driver by its library; its code when that cannot be had. */
static int ask_nvml(struct rk_look *l, char *version, size_t size, struct seen *s)
{
	struct rk_nvml n;
	unsigned count = 0;
	int code = rk_nvml_open(&n, l->root), cuda = 0;

	if (code)
		return code;
	if (RK_NVML_CALL(&n, driver_version, version, (unsigned)size))
		version[0] = '\0';
	if (RK_NVML_CALL(&n, cuda_version, &cuda) == RK_NVML_SUCCESS && cuda > 0)
		l->cuda = cuda;
	if (RK_NVML_CALL(&n, count, &count))
		count = 0;
	for (unsigned i = 0; i < count && i < MOST_DEVICES; i++) {
		struct rk_nvml_device *d = NULL;
		unsigned on = 1, mig = 0, pending;

		code = RK_NVML_CALL(&n, by_index, i, &d);
		if (code == RK_NVML_SUCCESS)
			code = RK_NVML_CALL(&n, persistence, d, &on);
		s->gpus++;
		s->lost += code == RK_NVML_GPU_IS_LOST;
		s->sleeping += code == RK_NVML_SUCCESS && !on;
		if (d && RK_NVML_CALL(&n, mig, d, &mig, &pending) == RK_NVML_SUCCESS)
			s->mig += mig != 0;
	}
	rk_nvml_close(&n);
	return 0;
}

static void say_device(struct rk_look *l, const char *path, enum rk_look_access access)
{
	if (access == RK_LOOK_DENIED) {
		rk_look_say(l, "nvidia-devices", worst(l), path,
			    "this user cannot read and write %s", path);
		rk_look_advise(l, "ask the administrator: the driver's default is mode 0666 "
				  "(NVreg_DeviceFileMode); under Slurm, ask for a GPU (--gpus)");
	} else {
		rk_look_say(l, "nvidia-devices", RK_DOCTOR_WARN, path,
			    "%s does not exist: programs cannot compute on the GPU", path);
		advise_by_place(l, GPU_CONTAINER, "sudo nvidia-modprobe -c 0 -u");
	}
}

/* Created at first use, but not in a container. Reports only the first problem. */
static void look_at_nvidia_devices(struct rk_look *l)
{
	static const char *const shared[] = { "/dev/nvidiactl", "/dev/nvidia-uvm" };
	char path[32];
	unsigned gpus = 0;
	enum rk_look_access access;

	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++) {
		access = rk_look_device(l, shared[i]);
		if (access != RK_LOOK_ALLOWED) {
			say_device(l, shared[i], access);
			return;
		}
	}
	for (unsigned i = 0; i < MOST_DEVICES; i++) {
		snprintf(path, sizeof(path), "/dev/nvidia%u", i);
		access = rk_look_device(l, path);
		if (access == RK_LOOK_DENIED) {
			say_device(l, path, access);
			return;
		}
		gpus += access == RK_LOOK_ALLOWED;
	}
	if (gpus)
		rk_look_say(l, "nvidia-devices", RK_DOCTOR_OK, "/dev/nvidia*",
			    "%u GPU%s readable and writable", gpus, rk_plural(gpus));
	else
		say_device(l, "/dev/nvidia0", RK_LOOK_MISSING);
}

/* Bit 21 of "CapEff:\t000001ffffffffff"; root outside of a container has them all. */
static bool is_admin(struct rk_look *l)
{
	static const char digits[] = "0123456789abcdef";
	struct rk_bytes bytes;
	const char *status = rk_look_read(l, "/proc/self/status", &bytes), *at;
	char text[32];
	uint64_t caps = 0;
	bool known = status && rk_sysfs_value(status, "CapEff", ':', text, sizeof(text));

	for (const char *p = text; known && *p; p++) {
		at = strchr(digits, *p);
		if (at)
			caps = caps << 4 | (uint64_t)(at - digits);
		else
			known = false;
	}
	rk_bytes_release(&bytes);
	return known ? caps >> CAP_SYS_ADMIN & 1 : l->user.uid == 0;
}

#define OPEN_COUNTERS                                                      \
	"write 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' to " \
	"/etc/modprobe.d/nvidia-profiling.conf and reboot"

static void look_at_counters(struct rk_look *l)
{
	struct rk_bytes bytes;
	const char *params = rk_look_read(l, "/proc/driver/nvidia/params", &bytes);
	bool admin = is_admin(l);
	char only[8];

	if (params && rk_sysfs_value(params, "RmProfilingAdminOnly", ':', only, sizeof(only))) {
		if (strcmp(only, "1") != 0 || admin) {
			rk_look_say(l, "nvidia-counters", RK_DOCTOR_OK, "NVIDIA counters",
				    "this user can read hardware counters");
		} else {
			rk_look_say(l, "nvidia-counters", RK_DOCTOR_WARN, "NVIDIA counters",
				    "hardware counters are restricted to administrators");
			advise_by_place(l,
					"start the container with --cap-add=SYS_ADMIN, or on the "
					"host " OPEN_COUNTERS,
					OPEN_COUNTERS);
		}
	}
	rk_bytes_release(&bytes);
}

static void look_at_nvidia(struct rk_look *l)
{
	char line[LINE_BYTES], version[RK_NVML_VERSION_BYTES] = "";
	struct seen seen = { 0 };
	bool module = rk_look_line(l, "/proc/driver/nvidia/version", line, sizeof(line));
	int code = ask_nvml(l, version, sizeof(version), &seen);

	if (!module && code && !rk_look_count(l, "NVIDIA"))
		return;
	/* gVisor and WSL have the library and nothing in /proc. */
	l->nvidia = code == 0 || (module && code != RK_NVML_DRIVER_NOT_LOADED);
	if (!l->nvidia) {
		rk_look_say(l, "nvidia-driver", RK_DOCTOR_WARN, "NVIDIA driver",
			    "the driver is not loaded");
		advise_by_place(l, GPU_CONTAINER,
				"install NVIDIA's driver, or load it: sudo modprobe nvidia");
		return;
	}
	if (!version[0] && module)
		version_in(line, version, sizeof(version));
	if (version[0])
		rk_look_say(l, "nvidia-driver", RK_DOCTOR_OK, "NVIDIA driver",
			    "version %s is loaded", version);
	else
		rk_look_say(l, "nvidia-driver", RK_DOCTOR_OK, "NVIDIA driver", "it is loaded");
	if (l->cuda)
		rk_look_say(l, "cuda-driver", RK_DOCTOR_OK, "CUDA",
			    "the driver supports programs of CUDA %d.%d and older", l->cuda / 1000,
			    l->cuda % 1000 / 10);
	if (code)
		say_no_nvml(l, code);
	say_seen(l, &seen);
	if (!rk_look_exists(l, "/dev/dxg")) /* of WSL */
		look_at_nvidia_devices(l);
	look_at_counters(l);
}

/* ---- CUDA programs ---- */

#define RELEASES "CUDA 11.8 to 13"

/* Releases of CUPTI that were found: "13 (/usr/local/cuda/extras/CUPTI/lib64)". */
struct found {
	struct rk_list dirs;
	int majors[MOST_CUPTIS];
	size_t n;
};

/* The entries of a folder below the root. */
static void list_folder(struct rk_look *l, const char *dir, struct rk_list *ret)
{
	char full[RK_SYSFS_PATH];

	rk_sysfs_path(full, l->root, "%s", dir);
	if (rk_sysfs_list(full, ret, NULL) < 0)
		l->bad = true;
}

/*
 * Adds a folder with "libcupti.so.13" or "libcupti.so.11.8", for CUDA 13 and 11. Other names, such
 * as "libcupti.so.2025.3.1", do not have CUDA's number.
 */
static void look_in(struct rk_look *l, const char *dir, struct found *f)
{
	static const char start[] = "libcupti.so.";
	const size_t len = sizeof(start) - 1;
	struct rk_list names = { 0 };

	list_folder(l, dir, &names);
	for (size_t i = 0; i < names.n; i++) {
		const char *number = names.v[i] + len;
		uint64_t major;

		if (strncmp(names.v[i], start, len) != 0 ||
		    rk_num_u64(number, strcspn(number, "."), &major) != RK_NUM_OK || major < 9 ||
		    major > 99 || f->n == MOST_CUPTIS || f->dirs.n != f->n)
			continue;
		rk_list_add(&f->dirs, dir);
		f->majors[f->n++] = (int)major;
		break;
	}
	l->bad |= f->dirs.bad;
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
	static const char *const below[] = { "site-packages/nvidia/cuda_cupti",
					     "site-packages/nvidia/cu13",
					     "dist-packages/nvidia/cuda_cupti",
					     "dist-packages/nvidia/cu13" };
	struct rk_list names = { 0 };
	char path[RK_SYSFS_PATH];

	rk_sysfs_path(path, "", "%s/lib", prefix);
	if (path[0])
		list_folder(l, path, &names);
	for (size_t i = 0; i < names.n; i++)
		for (unsigned k = 0; k < 4 && !strncmp(names.v[i], "python3", 7); k++) {
			rk_sysfs_path(path, "", "%s/lib/%s/%s/lib", prefix, names.v[i], below[k]);
			if (path[0])
				look_in(l, path, f);
		}
	rk_list_release(&names);
}

/* In the order in which a program would find it. */
static void look_for_cupti(struct rk_look *l, struct found *f)
{
	const char *home = rk_look_env(l, "CUDA_HOME"), *cuda = rk_look_env(l, "CUDA_PATH");
	const char *venv = rk_look_env(l, "VIRTUAL_ENV"), *conda = rk_look_env(l, "CONDA_PREFIX");
	struct rk_list names = { 0 };
	char path[RK_SYSFS_PATH];

	if (home)
		look_in_toolkit(l, home, f);
	if (cuda)
		look_in_toolkit(l, cuda, f);
	list_folder(l, "/usr/local", &names);
	for (size_t i = 0; i < names.n; i++) {
		if (strncmp(names.v[i], "cuda", 4) != 0)
			continue;
		rk_sysfs_path(path, "", "/usr/local/%s", names.v[i]);
		if (path[0])
			look_in_toolkit(l, path, f);
	}
	rk_list_release(&names);
	look_in_toolkit(l, "/opt/cuda", f);

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
	/* "/opt/torch/.venv/bin" in PATH: its Python has packages beside it. */
	for (const char *p = l->path; *p; p += strspn(p, ":")) {
		size_t len = strcspn(p, ":");

		if (rk_text_ends(p, len, "/bin") && len < sizeof(path)) {
			memcpy(path, p, len - 4);
			path[len - 4] = '\0';
			look_in_python(l, path, f);
		}
		p += len;
	}
}

static void say_cupti(struct rk_look *l, const struct found *f)
{
	int best = -1; /* the newest that the driver can work with */

	for (size_t i = 0; i < f->n; i++)
		if ((!l->cuda || f->majors[i] <= l->cuda / 1000) &&
		    (best < 0 || f->majors[i] > f->majors[best]))
			best = (int)i;
	if (best >= 0) {
		rk_look_say(l, "cupti", RK_DOCTOR_OK, "CUPTI", "found for CUDA %d in '%s'%s",
			    f->majors[best], f->dirs.v[best],
			    f->n > 1 ? ", and elsewhere; a program's own copy comes first" : "");
	} else if (f->n) {
		rk_look_say(l, "cupti", RK_DOCTOR_WARN, "CUPTI",
			    "found for CUDA %d in '%s', but the driver supports only CUDA %d.%d",
			    f->majors[0], f->dirs.v[0], l->cuda / 1000, l->cuda % 1000 / 10);
		rk_look_advise(l, "update the driver, or install the toolkit of CUDA %d",
			       l->cuda / 1000);
	} else {
		rk_look_say(l, "cupti", RK_DOCTOR_WARN, "CUPTI",
			    "not found in a toolkit or in Python packages: programs without "
			    "their own copy are not traced");
		rk_look_advise(l,
			       "install the toolkit's package (such as cuda-cupti-13-0), or: pip "
			       "install nvidia-cuda-cupti; " RELEASES " are supported");
	}
}

/* Other users of CUPTI. */
static const struct other {
	const char *name;
	const char *text, *advice;
} others[] = {
	{ "nv-hostengine",
	  "DCGM is running: while it measures, no one else can use hardware counters; kernels "
	  "can still be traced",
	  "for counters: dcgmi profile --pause, and --resume afterwards" },
	{ "nsys", "Nsight Systems is running: its programs cannot be traced by other tools", "" },
	{ "ncu", "Nsight Compute is running: it has exclusive use of the hardware counters", "" },
};

enum { NOTHERS = sizeof(others) / sizeof(others[0]) };

static void look_for_cupti_users(struct rk_look *l)
{
	struct rk_list pids = { 0 };
	char path[RK_SYSFS_PATH], comm[NAME_BYTES];
	unsigned said = 0;

	list_folder(l, "/proc", &pids);
	for (size_t i = 0; i < pids.n; i++) {
		size_t k = 0;

		if (pids.v[i][strspn(pids.v[i], "0123456789")])
			continue;
		rk_sysfs_path(path, "", "/proc/%s/comm", pids.v[i]);
		if (!rk_look_line(l, path, comm, sizeof(comm)))
			continue;
		while (k < NOTHERS && strcmp(comm, others[k].name) != 0)
			k++;
		if (k == NOTHERS || said >> k & 1)
			continue;
		said |= 1u << k;
		rk_look_say(l, "cupti-user", RK_DOCTOR_WARN, comm, "%s (process %s)",
			    others[k].text, pids.v[i]);
		if (others[k].advice[0])
			rk_look_advise(l, "%s", others[k].advice);
	}
	rk_list_release(&pids);
}

static void look_at_cuda(struct rk_look *l)
{
	struct found f = { .n = 0 };
	struct rk_bytes path;

	if (!l->nvidia)
		return;
	rk_bytes_init(&path, PATH_MAX);
	l->cupti = rk_collector_find("librockit-cupti.so", &path);
	l->bad |= path.bad;
	rk_bytes_release(&path);
	if (l->cupti) {
		rk_look_say(l, "cuda", RK_DOCTOR_OK, "CUDA programs", "rockit can trace them");
	} else {
		rk_look_say(l, "cuda", RK_DOCTOR_INFO, "CUDA programs",
			    "librockit-cupti.so is missing");
		rk_look_advise(l, "build rockit again; the build does not need CUDA");
	}
	look_for_cupti(l, &f);
	if (!l->bad)
		say_cupti(l, &f);
	look_for_cupti_users(l);
	rk_list_release(&f.dirs);
}

/* ---- our own collector for ROCm ---- */

static void look_at_rocm(struct rk_look *l)
{
	const char *file = "librockit-rocm.so", *name;
	struct rk_bytes path;

	if (!rk_look_count(l, "AMD"))
		return;
	rk_bytes_init(&path, PATH_MAX);
	l->rocm = rk_collector_find(file, &path);
	name = l->rocm ? rk_bytes_str(&path) : "";
	l->bad |= path.bad;
	if (name && strpbrk(name, " :")) {
		l->rocm = false;
		rk_look_say(l, "rocm", RK_DOCTOR_WARN, "ROCm collector",
			    "cannot be loaded: AMD's runtime splits '%s' at spaces and colons",
			    name);
		rk_look_advise(l, "install rockit in a place without them");
	} else if (l->rocm) {
		rk_look_say(l, "rocm", RK_DOCTOR_INFO, "ROCm collector",
			    "rockit's own, for --tool rocm and rockit record; proven on a virtual "
			    "GPU only");
	} else {
		rk_look_say(l, "rocm", RK_DOCTOR_INFO, "ROCm collector", "%s is missing", file);
		rk_look_advise(l, "build rockit again; the build does not need ROCm");
	}
	rk_bytes_release(&path);
}

/* ---- OpenCL ---- */

static void look_at_opencl(struct rk_look *l)
{
	struct rk_bytes path, names;
	struct rk_list files = { 0 };
	bool collector;
	size_t drivers = 0;

	rk_bytes_init(&path, 1 << 16);
	rk_bytes_init(&names, 1 << 12);
	collector = rk_collector_find("librockit-opencl.so", &path);
	/* The drivers that the loader knows: "pocl, amdocl64". */
	list_folder(l, "/etc/OpenCL/vendors", &files);
	for (size_t i = 0; i < files.n; i++) {
		size_t len = strlen(files.v[i]);

		if (rk_text_ends(files.v[i], len, ".icd"))
			rk_bytes_printf(&names, "%s%.*s", drivers++ ? ", " : "", (int)len - 4,
					files.v[i]);
	}
	rk_list_release(&files);
	l->opencl = collector && drivers;
	l->bad |= path.bad || names.bad;
	if (l->opencl) {
		rk_look_say(l, "opencl", RK_DOCTOR_OK, "OpenCL",
			    "OpenCL programs can be traced: %s",
			    rk_bytes_str(&names) ? rk_bytes_str(&names) : "any driver");
	} else if (collector) {
		rk_look_say(l, "opencl", RK_DOCTOR_INFO, "OpenCL", "no driver is installed");
		rk_look_advise(l, "sudo apt install pocl-opencl-icd runs it on the CPU");
	} else {
		rk_look_say(l, "opencl", RK_DOCTOR_INFO, "OpenCL",
			    "librockit-opencl.so is missing");
		rk_look_advise(l, "install opencl-headers and build rockit again");
	}
	rk_bytes_release(&path);
	rk_bytes_release(&names);
}

void rk_look_gpus(struct rk_look *l)
{
	look_at_topology(l);
	look_at_power_levels(l);
	look_at_nvidia(l);
	look_at_cuda(l);
	look_at_rocm(l);
	look_at_opencl(l);
}
