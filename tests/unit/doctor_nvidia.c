/* doctor_nvidia.c (tests) - the doctor on synthetic machines with NVIDIA GPUs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "rockit/doctor.h"
#include "tap.h"
#include "world.h"

struct patient {
	struct world w;
	const char *env[8]; /* NAME=VALUE, NULL at the end */
	const char *path;
	struct rk_doctor *d;
};

static void put(struct patient *p, const char *name, const char *text, unsigned mode)
{
	world_text(&p->w, name, text);
	CHECK(chmod(p->w.path, mode) == 0);
}

static void link_nvml(struct patient *p, const char *release)
{
	char library[512];

	put(p, "usr/lib/note", "", 0644);
	snprintf(library, sizeof(library), "%s/nvml-%s/libnvidia-ml.so.1", ROCKIT_SIM_DIR, release);
	snprintf(p->w.path, sizeof(p->w.path), "%s/usr/lib/libnvidia-ml.so.1", p->w.dir);
	CHECK(symlink(library, p->w.path) == 0);
}

/* Two GPUs with driver, devices, toolkit and collector; `mode` is what the library plays. */
static void begin(struct patient *p, const char *mode)
{
	*p = (struct patient){ .path = "/nowhere" };
	world_open(&p->w, 1);
	setenv("FAKE_NVML", mode, 1);
	put(p, "proc/self/status", "Uid:\t4242\t4242\t0\t0\nGid:\t4242\t4242\t0\t0\n", 0644);
	put(p, "proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX  580.1.2  Release\n", 0644);
	put(p, "dev/nvidiactl", "", 0666);
	put(p, "dev/nvidia-uvm", "", 0666);
	put(p, "dev/nvidia0", "", 0666);
	put(p, "dev/nvidia1", "", 0666);
	put(p, "usr/local/cuda-13.0/extras/CUPTI/lib64/libcupti.so.13", "", 0644);
	put(p, "collectors/librockit-cupti.so", "", 0644);
	snprintf(p->w.path, sizeof(p->w.path), "%s/collectors", p->w.dir);
	setenv("ROCKIT_COLLECTORS", p->w.path, 1);
	link_nvml(p, "new");
}

static void end(struct patient *p)
{
	unsetenv("FAKE_NVML");
	unsetenv("ROCKIT_COLLECTORS");
	rk_doctor_free(p->d);
	world_close(&p->w);
}

static const struct rk_doctor *examine(struct patient *p)
{
	const struct rk_doctor_options opt = { .root = p->w.dir,
					       .path = p->path,
					       .env = (char *const *)p->env };

	rk_doctor_free(p->d);
	p->d = NULL;
	CHECK_I64(rk_doctor_new(&opt, &p->d, &p->w.err), 0);
	return p->d;
}

/* "status: text" of the check, "none" where there is none. */
static const char *said(const struct rk_doctor *d, const char *id)
{
	static char text[512];

	snprintf(text, sizeof(text), "none");
	for (size_t i = 0; i < d->nchecks; i++)
		if (strcmp(d->checks[i].id, id) == 0)
			snprintf(text, sizeof(text), "%s: %s",
				 rk_doctor_status_word(d->checks[i].status), d->checks[i].text);
	return text;
}

static bool holds(const char *text, const char *part)
{
	return strstr(text, part) != NULL;
}

TEST(a_machine_with_cuda_is_ready)
{
	struct patient p;
	const struct rk_doctor *d;

	begin(&p, "persistent");
	d = examine(&p);
	CHECK_U64(d->gpus.n, 2);
	CHECK_STR(said(d, "nvidia-driver"), "ok: version 580.159.04 is loaded");
	CHECK_STR(said(d, "cuda-driver"),
		  "ok: the driver supports programs of CUDA 13.0 and older");
	CHECK_STR(said(d, "nvidia-devices"), "ok: 2 GPUs readable and writable");
	CHECK_STR(said(d, "cuda"), "ok: rockit can trace them");
	CHECK_STR(said(d, "cupti"),
		  "ok: found for CUDA 13 in '/usr/local/cuda-13.0/extras/CUPTI/lib64'");
	CHECK_STR(said(d, "nvml"), "none");
	CHECK_STR(said(d, "nvidia-persistence"), "none");
	CHECK_STR(said(d, "mig"), "none");
	CHECK_STR(said(d, "cupti-user"), "none");
	CHECK_STR(said(d, "no-profiler"), "none");
	CHECK(d->ready);
	CHECK_STR(d->verdict, "ready: rockit run traces CUDA programs on 2 x NVIDIA H200");
	end(&p);
}

TEST(faults_of_nvidias_driver_are_distinguished)
{
	struct patient p;
	const struct rk_doctor *d;

	begin(&p, "mismatch");
	d = examine(&p);
	CHECK(holds(said(d, "nvml"), "bad: the driver's libraries and its kernel module"));
	CHECK_STR(said(d, "nvidia-driver"), "ok: version 580.1.2 is loaded");
	CHECK(!d->ready && holds(d->verdict, "not ready: the driver's libraries"));
	setenv("FAKE_NVML", "no-driver", 1);
	CHECK_STR(said(examine(&p), "nvidia-driver"), "warn: the driver is not loaded");
	CHECK_STR(said(p.d, "cupti"), "none");
	snprintf(p.w.path, sizeof(p.w.path), "%s/usr/lib/libnvidia-ml.so.1", p.w.dir);
	CHECK(unlink(p.w.path) == 0);
	CHECK(holds(said(examine(&p), "nvml"), "warn: not found"));
	CHECK(p.d->ready);
	end(&p);
}

TEST(states_of_nvidias_gpus_are_counted)
{
	struct patient p;
	const struct rk_doctor *d;

	begin(&p, "mig");
	d = examine(&p);
	CHECK(holds(said(d, "mig"), "info: on 2 of 2 GPUs"));
	CHECK(holds(said(d, "nvidia-persistence"), "info: off on 2 of 2 GPUs"));
	end(&p);
}

TEST(devices_of_nvidia_that_are_closed_or_missing_are_named)
{
	struct patient p;
	const struct rk_doctor *d;

	begin(&p, "");
	put(&p, "dev/nvidia1", "", 0600);
	d = examine(&p);
	CHECK_STR(said(d, "nvidia-devices"), "bad: this user cannot read and write /dev/nvidia1");
	CHECK(!d->ready);
	snprintf(p.w.path, sizeof(p.w.path), "%s/dev/nvidia-uvm", p.w.dir);
	CHECK(unlink(p.w.path) == 0);
	d = examine(&p);
	CHECK(holds(said(d, "nvidia-devices"), "warn: /dev/nvidia-uvm does not exist"));
	CHECK(d->ready);
	end(&p);
}

TEST(the_cupti_that_fits_the_driver_is_named)
{
	static const char pip[] = "opt/venv/lib/python3.12/site-packages/nvidia/cu13/lib/";
	struct patient p;
	char name[128];

	begin(&p, "");
	snprintf(name, sizeof(name), "%s/usr/local/cuda-13.0/extras/CUPTI/lib64/libcupti.so.13",
		 p.w.dir);
	CHECK(unlink(name) == 0);
	CHECK(holds(said(examine(&p), "cupti"), "warn: not found"));
	CHECK(p.d->ready); /* programs may have it */
	put(&p, "usr/local/cuda-14/lib64/libcupti.so.14", "", 0644);
	CHECK_STR(
		said(examine(&p), "cupti"),
		"warn: found for CUDA 14 in '/usr/local/cuda-14/lib64', but the driver supports only CUDA 13.0");
	snprintf(name, sizeof(name), "%slibcupti.so.13", pip);
	put(&p, name, "", 0644);
	p.path = "/opt/venv/bin:/bin";
	CHECK_STR(
		said(examine(&p), "cupti"),
		"ok: found for CUDA 13 in '/opt/venv/lib/python3.12/site-packages/nvidia/cu13/lib', and elsewhere; a program's own copy comes first");
	end(&p);
}

TEST(counters_need_the_right_of_an_administrator)
{
	static const struct {
		const char *status, *said;
	} users[] = {
		{ "Uid:\t4242\t4242\t0\t0\nCapEff:\t0000000000000000\n", "warn" },
		{ "Uid:\t0\t0\t0\t0\nCapEff:\t00000000a80425fb\n", "warn" }, /* Docker's root */
		{ "Uid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\n", "ok" },
		{ "Uid:\t4242\t4242\t0\t0\nCapEff:\t0000000000200000\n", "ok" },
		{ "Uid:\t0\t0\t0\t0\nCapEff:\tnonsense\n", "ok" },
	};
	struct patient p;

	begin(&p, "");
	put(&p, "proc/driver/nvidia/params", "RmProfilingAdminOnly: 1\n", 0644);
	for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++) {
		const char *answer;

		put(&p, "proc/self/status", users[i].status, 0644);
		answer = said(examine(&p), "nvidia-counters");
		CHECK(strncmp(answer, users[i].said, strlen(users[i].said)) == 0);
	}
	end(&p);
}

TEST(whoever_holds_the_counters_is_named)
{
	struct patient p;

	begin(&p, "");
	put(&p, "proc/77/comm", "nv-hostengine\n", 0644);
	put(&p, "proc/78/comm", "nv-hostengine\n", 0644);
	put(&p, "proc/79/comm", "bash\n", 0644);
	CHECK(holds(said(examine(&p), "cupti-user"), "warn: DCGM is running"));
	CHECK(holds(said(p.d, "cupti-user"), "(process 77)"));
	end(&p);
}

static bool with_failure(struct patient *p, uint64_t n)
{
	const struct rk_doctor_options opt = { .root = p->w.dir,
					       .path = "/opt/venv/bin",
					       .env = (char *const *)p->env };
	struct rk_doctor *d = NULL;
	struct rk_error err = { 0 };
	bool failed;
	int rc;

	rk_alloc_fail_after(n);
	rc = rk_doctor_new(&opt, &d, &err);
	failed = rk_alloc_failed();
	rk_alloc_fail_after(0);
	CHECK(failed ? rc == RK_E_NOMEM : rc == 0);
	rk_doctor_free(d);
	return failed;
}

TEST(every_allocation_of_a_look_at_nvidia_may_fail)
{
	struct patient p;
	uint64_t n = 1;

	begin(&p, "mig");
	put(&p, "opt/venv/lib/python3.12/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12", "",
	    0644);
	put(&p, "proc/77/comm", "nv-hostengine\n", 0644);
	while (n < 20000 && with_failure(&p, n))
		n++;
	CHECK(n > 20 && n < 20000);
	end(&p);
}
