/* doctor_nvidia.c - NVIDIA's driver: loaded, its devices, what it lets this user do. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "doctor/doctor_impl.h"
#include "monitor/nvml_lib.h"

enum { LINE_BYTES = 256, CAP_SYS_ADMIN = 21, MOST_DEVICES = 64 };

#define GPU_CONTAINER \
	"start the container with the GPUs (docker run --gpus all, apptainer exec --nv)"

/* Beside an AMD GPU, which is profiled first, nothing about NVIDIA's is in the way. */
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

static void say_loaded(struct rk_look *l, const char *version)
{
	rk_look_say(l, "nvidia-driver", RK_DOCTOR_OK, "NVIDIA driver", "%s%s is loaded",
		    version[0] ? "version " : "it", version);
	if (l->cuda)
		rk_look_say(l, "cuda-driver", RK_DOCTOR_OK, "CUDA",
			    "the driver is for programs of CUDA %d.%d and older", l->cuda / 1000,
			    l->cuda % 1000 / 10);
}

static void say_not_loaded(struct rk_look *l)
{
	rk_look_say(l, "nvidia-driver", RK_DOCTOR_WARN, "NVIDIA driver",
		    "the driver is not loaded");
	rk_look_advise(l, "%s",
		       l->container ? GPU_CONTAINER :
				      "install NVIDIA's driver, or load it: sudo modprobe nvidia");
}

/* The kernel's part and the library come in one package, but a container may have one of them. */
static void say_no_nvml(struct rk_look *l, int code)
{
	if (code == RK_NVML_NO_LIBRARY) {
		rk_look_say(l, "nvml", RK_DOCTOR_WARN, "libnvidia-ml.so.1",
			    "not found: power, memory and clocks cannot be sampled");
		rk_look_advise(l, "%s",
			       l->container ? "give the container the driver's tools as well: "
					      "NVIDIA_DRIVER_CAPABILITIES=compute,utility" :
					      "install the libraries of the driver's own release");
	} else if (code == RK_NVML_VERSION_MISMATCH) {
		rk_look_say(l, "nvml", worst(l), "libnvidia-ml.so.1",
			    "the driver's libraries are of another release than its kernel "
			    "module: no CUDA program runs");
		rk_look_advise(l, "restart, or load the module anew: the driver was updated while "
				  "it was in use");
	} else {
		rk_look_say(l, "nvml", RK_DOCTOR_WARN, "libnvidia-ml.so.1",
			    "NVML refuses to begin (error %d): power, memory and clocks cannot be "
			    "sampled",
			    code);
		rk_look_advise(l, "see what nvidia-smi says");
	}
}

/* ---- what the library says of each GPU ---- */

struct seen {
	unsigned gpus, lost, sleeping, mig;
};

static void look_at_gpu(const struct rk_nvml *n, unsigned i, struct seen *s)
{
	struct rk_nvml_device *d = NULL;
	unsigned on = 1, mig = 0, pending;
	int code = RK_NVML_CALL(n, by_index, i, &d);

	if (code == RK_NVML_SUCCESS)
		code = RK_NVML_CALL(n, persistence, d, &on);
	s->gpus++;
	s->lost += code == RK_NVML_GPU_IS_LOST;
	s->sleeping += code == RK_NVML_SUCCESS && !on;
	if (d && RK_NVML_CALL(n, mig, d, &mig, &pending) == RK_NVML_SUCCESS)
		s->mig += mig != 0;
}

static void say_seen(struct rk_look *l, const struct seen *s)
{
	if (s->lost) {
		rk_look_say(l, "nvidia-lost", s->lost == s->gpus ? worst(l) : RK_DOCTOR_WARN,
			    "NVIDIA GPUs", "%u of %u are lost: they have fallen off their bus",
			    s->lost, s->gpus);
		rk_look_advise(l, "look for 'Xid' in dmesg, and restart the machine");
	}
	if (s->mig)
		rk_look_say(l, "mig", RK_DOCTOR_INFO, "MIG",
			    "on %u of %u GPUs: programs run on parts of them; power, energy, "
			    "memory, clocks and temperature are sampled of whole GPUs, load is not",
			    s->mig, s->gpus);
	if (s->sleeping) {
		rk_look_say(l, "nvidia-persistence", RK_DOCTOR_INFO, "persistence mode",
			    "off on %u of %u GPUs: the first use after a rest takes seconds longer",
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
	for (unsigned i = 0; i < count && i < MOST_DEVICES; i++)
		look_at_gpu(&n, i, s);
	rk_nvml_close(&n);
	return 0;
}

/* ---- devices ---- */

static void say_device(struct rk_look *l, const char *path, enum rk_look_access access)
{
	if (access == RK_LOOK_DENIED) {
		rk_look_say(l, "nvidia-devices", worst(l), path,
			    "this user may not read and write %s", path);
		rk_look_advise(l, "ask the administrator: the driver's default is mode 0666 "
				  "(NVreg_DeviceFileMode); under Slurm, ask for a GPU (--gpus)");
	} else {
		rk_look_say(l, "nvidia-devices", RK_DOCTOR_WARN, path,
			    "%s does not exist: no program can compute on the GPU", path);
		rk_look_advise(l, "%s",
			       l->container ? GPU_CONTAINER : "sudo nvidia-modprobe -c 0 -u");
	}
}

/* Made when they are first used, but not in a container. The first that is wrong stands for all. */
static void look_at_devices(struct rk_look *l)
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
			    "%u GPU%s can be read and written", gpus, gpus == 1 ? "" : "s");
	else
		say_device(l, "/dev/nvidia0", RK_LOOK_MISSING);
}

/* ---- counters ---- */

/* Bit 21 of "CapEff:\t000001ffffffffff"; root outside of a container has them all. */
static bool is_admin(struct rk_look *l)
{
	struct rk_bytes bytes;
	const char *status = rk_look_read(l, "/proc/self/status", &bytes);
	char text[32];
	uint64_t caps = 0;
	bool known = status && rk_sysfs_value(status, "CapEff", ':', text, sizeof(text));

	for (const char *p = text; known && *p; p++) {
		const char *digits = "0123456789abcdef", *at = strchr(digits, *p);

		known = at != NULL;
		caps = caps << 4 | (uint64_t)(at ? at - digits : 0);
	}
	rk_bytes_release(&bytes);
	return known ? caps >> CAP_SYS_ADMIN & 1 : l->user.uid == 0;
}

static void look_at_counters(struct rk_look *l)
{
	struct rk_bytes bytes;
	const char *params = rk_look_read(l, "/proc/driver/nvidia/params", &bytes);
	char only[8];
	bool closed, admin = is_admin(l);

	if (params && rk_sysfs_value(params, "RmProfilingAdminOnly", ':', only, sizeof(only))) {
		closed = strcmp(only, "1") == 0 && !admin;
		rk_look_say(l, "nvidia-counters", closed ? RK_DOCTOR_WARN : RK_DOCTOR_OK,
			    "NVIDIA counters",
			    closed ? "hardware counters are for administrators alone" :
				     "hardware counters are open to this user");
		if (closed)
			rk_look_advise(l, "%s%s",
				       l->container ? "start the container with "
						      "--cap-add=SYS_ADMIN, or on the host " :
						      "",
				       "write 'options nvidia "
				       "NVreg_RestrictProfilingToAdminUsers=0' into "
				       "/etc/modprobe.d/nvidia-profiling.conf and restart");
	}
	rk_bytes_release(&bytes);
}

void rk_look_nvidia(struct rk_look *l)
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
		say_not_loaded(l);
		return;
	}
	if (!version[0] && module)
		version_in(line, version, sizeof(version));
	say_loaded(l, version);
	if (code)
		say_no_nvml(l, code);
	say_seen(l, &seen);
	if (!rk_look_exists(l, "/dev/dxg")) /* of WSL */
		look_at_devices(l);
	look_at_counters(l);
}
