/* doctor_tools.c (tests) - the doctor on machines with profilers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rockit/doctor.h"
#include "tap.h"
#include "world.h"

struct patient {
	struct world w;
	const char *env[4];
	char path[256];
	struct rk_doctor *d;
};

static void put(struct patient *p, const char *name, const char *text, mode_t mode)
{
	world_text(&p->w, name, text);
	CHECK(chmod(p->w.path, mode) == 0);
}

/* A GPU that everybody may use. */
static void gpu(struct patient *p, int n, const char *target)
{
	char name[128], text[256];

	snprintf(name, sizeof(name), "sys/class/kfd/kfd/topology/nodes/%d/gpu_id", n);
	put(p, name, "4711\n", 0644);
	snprintf(name, sizeof(name), "sys/class/kfd/kfd/topology/nodes/%d/properties", n);
	snprintf(text, sizeof(text),
		 "simd_count 416\nsimd_per_cu 4\ngfx_target_version %s\nlocation_id %d\n"
		 "vendor_id 4098\n",
		 target, n << 8);
	put(p, name, text, 0644);
}

static void begin(struct patient *p)
{
	static const char *const leads[] = { "ROCM_PATH", "ROCM_HOME",   "HIP_PATH",
					     "HOME",      "VIRTUAL_ENV", "CONDA_PREFIX" };

	for (size_t i = 0; i < sizeof(leads) / sizeof(leads[0]); i++)
		unsetenv(leads[i]);
	memset(p, 0, sizeof(*p));
	world_open(&p->w, 1);
	setenv("ROCKIT_COLLECTORS", "/nonexistent", 1); /* the same, whatever was built */
	snprintf(p->path, sizeof(p->path), "%s/bin", p->w.dir);
	put(p, "proc/self/status", "Name:\tx\nUid:\t1\t4242\nGid:\t1\t4242\nGroups:\t\n", 0644);
	put(p, "bin/python3", "", 0755);
	put(p, "sys/module/amdgpu/version", "6.12.12\n", 0644);
	put(p, "dev/kfd", "", 0666);
	gpu(p, 1, "90402");
}

static void end(struct patient *p)
{
	rk_doctor_free(p->d);
	unsetenv("ROCKIT_COLLECTORS");
	world_close(&p->w);
}

static void rocm(struct patient *p, const char *release, const char *program)
{
	char name[128];

	snprintf(name, sizeof(name), "opt/rocm-%s/.info/version", release);
	put(p, name, release, 0644);
	snprintf(name, sizeof(name), "opt/rocm-%s/bin/%s", release, program);
	put(p, name, "#!/bin/sh\n", 0755);
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

/* "status: text -> advice" of the n-th check of that id (n from 0), "" when there is none. */
static const char *said(const struct rk_doctor *d, const char *id, size_t n)
{
	static char text[1024];

	for (size_t i = 0; i < d->nchecks; i++) {
		const struct rk_doctor_check *c = &d->checks[i];

		if (strcmp(c->id, id) != 0 || n-- != 0)
			continue;
		snprintf(text, sizeof(text), "%s: %s%s%s", rk_doctor_status_word(c->status),
			 c->text, c->advice[0] ? " -> " : "", c->advice);
		return text;
	}
	return "";
}

/* How many hazards hold this text. */
static size_t hazards(const struct rk_doctor *d, const char *part)
{
	size_t n = 0;

	for (size_t i = 0; i < d->nchecks; i++)
		n += strcmp(d->checks[i].id, "hazard") == 0 && strstr(d->checks[i].text, part);
	return n;
}

TEST(a_gpu_and_a_profiler_make_a_machine_ready)
{
	struct patient p;
	const struct rk_doctor *d;

	begin(&p);
	rocm(&p, "7.0.2", "rocprofv3");
	gpu(&p, 2, "90402");
	gpu(&p, 3, "90010");
	d = examine(&p);
	CHECK(d->ready);
	CHECK_STR(d->verdict,
		  "ready: rockit run uses rocprofv3 7.0.2 on 2 x gfx942 and 1 x gfx90a");
	CHECK_STR(said(d, "no-profiler", 0), "");
	CHECK_STR(said(d, "releases", 0), "");
	end(&p);
}

TEST(a_profiler_without_a_gpu_is_not_ready)
{
	struct patient p;

	begin(&p);
	world_text(&p.w, "sys/class/kfd/kfd/topology/nodes/1/gpu_id", "0\n");
	rocm(&p, "7.0.2", "rocprofv3");
	examine(&p);
	CHECK(!p.d->ready);
	CHECK(strncmp(p.d->verdict,
		      "not ready: rocprofv3 7.0.2 is installed, but there is no AMD GPU", 64) == 0);
	end(&p);
}

TEST(rocprofv3_without_python_is_not_ready)
{
	struct patient p;

	begin(&p);
	rocm(&p, "7.0.2", "rocprofv3");
	put(&p, "etc/os-release", "ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", 0644);
	put(&p, "bin/python3", "", 0644);
	CHECK_STR(said(examine(&p), "python", 0),
		  "bad: rocprofv3 is a Python script, but python3 is not in PATH -> sudo dnf "
		  "install python3, or add its directory to PATH");
	CHECK(!p.d->ready);
	p.path[0] = '\0';
	CHECK(said(examine(&p), "python", 0)[0] == 'b');
	end(&p);
}

TEST(a_profiler_that_may_not_be_executed_is_not_used)
{
	struct patient p;

	begin(&p);
	rocm(&p, "7.0.2", "rocprofv3");
	put(&p, "opt/rocm-7.0.2/bin/rocprofv3", "#!/bin/sh\n", 0644);
	examine(&p);
	CHECK(!p.d->ready);
	CHECK(strstr(said(p.d, "not-executable", 0), "this user cannot execute") != NULL);
	CHECK(strncmp(said(p.d, "no-profiler", 0), "bad: ", 5) == 0);
	end(&p);
}

TEST(path_and_rocm_path_of_two_releases_are_a_warning)
{
	struct patient p;
	char older[128], variable[160];

	begin(&p);
	rocm(&p, "6.4.1", "rocprofv3");
	rocm(&p, "7.0.2", "rocprofv3");
	CHECK_STR(
		said(examine(&p), "releases", 0),
		"info: several releases have profilers (7.0.2, 6.4.1); rockit run uses rocprofv3 of ROCm 7.0.2");
	snprintf(older, sizeof(older), "%s/opt/rocm-6.4.1//", p.w.dir);
	snprintf(variable, sizeof(variable), "ROCM_PATH=%s", older);
	snprintf(p.path, sizeof(p.path), "%s/bin:%s/opt/rocm-7.0.2/bin", p.w.dir, p.w.dir);
	p.env[0] = variable;
	examine(&p);
	CHECK(strncmp(said(p.d, "releases", 0),
		      "warn: PATH finds rocprofv3 of ROCm 7.0.2, but ROCM_PATH is ROCm 6.4.1",
		      69) == 0);
	CHECK(p.d->ready);
	end(&p);
}

TEST(profilers_newer_than_this_library_are_a_note)
{
	struct patient p;

	begin(&p);
	rocm(&p, "11.2.0", "rocprofv3");
	rocm(&p, "11.2.0", "rocprofv4");
	examine(&p);
	CHECK(strstr(said(p.d, "newer", 0), "info: ") != NULL);
	CHECK(strstr(said(p.d, "newer", 1), "info: ") != NULL);
	CHECK_STR(said(p.d, "newer", 2), "");
	CHECK(p.d->ready);
	end(&p);
	begin(&p);
	rocm(&p, "10.1.1", "rocprofv3");
	CHECK_STR(said(examine(&p), "newer", 0), "");
	end(&p);
	begin(&p);
	rocm(&p, "10.2.0", "rocprof-compute");
	rocm(&p, "10.2.0", "rocprof-sys-sample");
	rocm(&p, "10.2.0", "rocprof-sys-run");
	examine(&p);
	CHECK_STR(said(p.d, "newer", 0),
		  "info: version 10.2.0 is newer than this rockit: it is called with the options "
		  "of ROCm 10.1");
	CHECK(said(p.d, "newer", 1)[0]);
	CHECK_STR(said(p.d, "newer", 2), "");
	end(&p);
}

TEST(hazards_are_those_of_the_release_and_of_each_chip)
{
	struct patient p;

	begin(&p);
	rocm(&p, "6.3.3", "rocprofv3");
	rocm(&p, "6.3.3", "rocprof");
	examine(&p);
	CHECK_U64(hazards(p.d, "numpy"), 1);
	CHECK_U64(hazards(p.d, "gfx908"), 0);
	CHECK_U64(hazards(p.d, "MI300A"), 1);
	CHECK_U64(hazards(p.d, "no longer maintained"), 0); /* rocprof is not what is used */
	gpu(&p, 2, "90008");
	gpu(&p, 3, "90402");
	examine(&p);
	CHECK_U64(hazards(p.d, "gfx908"), 1);
	CHECK_U64(hazards(p.d, "MI300A"), 1);
	end(&p);
	begin(&p);
	rocm(&p, "7.0.2", "rocprofv3");
	CHECK_U64(hazards(examine(&p), "numpy"), 0);
	end(&p);
}

TEST(rocprof_on_a_chip_it_was_not_made_for_is_a_warning)
{
	struct patient p;

	begin(&p);
	gpu(&p, 1, "110000");
	rocm(&p, "6.0.2", "rocprof");
	examine(&p);
	CHECK_U64(hazards(p.d, "does not support this chip"), 1);
	CHECK_STR(said(p.d, "python", 0), "");
	end(&p);
}

TEST(settings_of_the_kernel_matter_to_some_tools)
{
	struct patient p;

	begin(&p);
	rocm(&p, "7.0.2", "rocprofv3");
	put(&p, "proc/sys/kernel/perf_event_paranoid", "4\n", 0644);
	put(&p, "proc/sys/kernel/yama/ptrace_scope", "1\n", 0644);
	examine(&p);
	CHECK_STR(said(p.d, "perf-events", 0), "");
	CHECK_STR(said(p.d, "ptrace", 0), "");
	rocm(&p, "7.0.2", "rocprof-sys-sample");
	rocm(&p, "7.0.2", "rocprof-attach");
	examine(&p);
	CHECK_STR(said(p.d, "perf-events", 0),
		  "warn: at 4, rocprof-sys and nsys cannot use CPU counters -> sudo sysctl "
		  "kernel.perf_event_paranoid=2");
	CHECK(strncmp(said(p.d, "ptrace", 0), "info: at 1, profilers cannot attach to", 38) == 0);
	put(&p, "proc/sys/kernel/perf_event_paranoid", "2\n", 0644);
	put(&p, "proc/sys/kernel/yama/ptrace_scope", "x\n", 0644);
	examine(&p);
	CHECK_STR(said(p.d, "perf-events", 0), "");
	CHECK_STR(said(p.d, "ptrace", 0), "");
	end(&p);
}

TEST(what_else_to_install_depends_on_what_is_there)
{
	struct patient p;

	begin(&p);
	put(&p, "etc/os-release", "ID=opensuse-leap\nID_LIKE=\"suse opensuse\"\n", 0644);
	rocm(&p, "7.0.2", "rocprofv3");
	rocm(&p, "7.0.2", "rocprof-sys-run");
	CHECK_STR(said(examine(&p), "other-profilers", 0),
		  "info: rocprof-compute is not installed -> sudo zypper install "
		  "rocprofiler-compute, or: pip install 'rocm[profiler]'");
	rocm(&p, "7.0.2", "rocprof-compute");
	CHECK_STR(said(examine(&p), "other-profilers", 0), "");
	end(&p);
	begin(&p);
	rocm(&p, "7.13.0", "rocprofv3");
	CHECK(strstr(said(examine(&p), "other-profilers", 0), "install amdrocm-profiler") != NULL);
	end(&p);
}
