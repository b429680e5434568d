/* doctor.c (tests) - the doctor on synthetic machines. */
#include "rockit/doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "tap.h"
#include "world.h"

/* A user whom no file belongs to, whoever runs the tests. */
enum { ALICE = 4242 };

struct patient {
	struct world w;
	const char *env[8]; /* NAME=VALUE, NULL at the end */
	const char *path;
	struct rk_doctor *d;
};

static void put(struct patient *p, const char *name, const char *text)
{
	world_text(&p->w, name, text);
}

/* `more` are further groups of the session; the test's own group is called render. */
static void user(struct patient *p, const char *more, const char *members)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "Name:\trockit\nUid:\t0\t%d\t0\t0\nGid:\t%d\t%d\t0\t0\nGroups:\t7 %s\n", ALICE,
		 ALICE, ALICE, more);
	put(p, "proc/self/status", text);
	snprintf(text, sizeof(text), "root:x:0:0::/root:/bin/sh\nalice:x:%d:%d::/:/bin/sh\n", ALICE,
		 ALICE);
	put(p, "etc/passwd", text);
	snprintf(text, sizeof(text), "nonsense\nalice:x:%d:\nrender:x:%u:%s\n", ALICE,
		 (unsigned)getegid(), members);
	put(p, "etc/group", text);
}

static void begin(struct patient *p)
{
	static const char *const leads[] = { "ROCM_PATH", "ROCM_HOME",   "HIP_PATH",
					     "HOME",      "VIRTUAL_ENV", "CONDA_PREFIX" };

	/* Whoever runs the tests may have profilers. */
	for (size_t i = 0; i < sizeof(leads) / sizeof(leads[0]); i++)
		unsetenv(leads[i]);
	*p = (struct patient){ .path = "/nowhere" };
	world_open(&p->w, 1);
	setenv("ROCKIT_COLLECTORS", p->w.dir, 1); /* the same, whatever was built */
	user(p, "", "");
	put(p, "proc/sys/kernel/osrelease", "6.8.0-51-generic\n");
	put(p, "etc/os-release", "NAME=\"Ubuntu\"\nID=ubuntu\nID_LIKE=debian\n");
}

static void end(struct patient *p)
{
	rk_doctor_free(p->d);
	unsetenv("ROCKIT_COLLECTORS");
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

/* A GPU as amdgpu and KFD show it, at bus n, with its devices of the test's own group. */
static void gpu(struct patient *p, int n, const char *target, const char *device, const char *level)
{
	char name[128], text[256];

	snprintf(name, sizeof(name), "sys/class/kfd/kfd/topology/nodes/%d/gpu_id", n);
	put(p, name, "4711\n");
	snprintf(name, sizeof(name), "sys/class/kfd/kfd/topology/nodes/%d/properties", n);
	snprintf(text, sizeof(text),
		 "simd_count 1216\nsimd_per_cu 4\ngfx_target_version %s\nlocation_id %d\n"
		 "vendor_id 4098\ndrm_render_minor %d\n",
		 target, n << 8, 127 + n);
	put(p, name, text);
	snprintf(name, sizeof(name), "sys/class/drm/card%d/device/uevent", n);
	snprintf(text, sizeof(text), "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:%02x:00.0\n", n);
	put(p, name, text);
	snprintf(name, sizeof(name), "sys/class/drm/card%d/device/vendor", n);
	put(p, name, "0x1002\n");
	snprintf(name, sizeof(name), "sys/class/drm/card%d/device/class", n);
	put(p, name, "0x030000\n");
	snprintf(name, sizeof(name), "sys/class/drm/card%d/device/device", n);
	put(p, name, device);
	snprintf(name, sizeof(name),
		 "sys/class/drm/card%d/device/power_dpm_force_performance_level", n);
	put(p, name, level);
	snprintf(name, sizeof(name), "dev/dri/renderD%d", 127 + n);
	put(p, name, "");
	CHECK(chmod(p->w.path, 0660) == 0);
}

static void driver(struct patient *p)
{
	put(p, "sys/module/amdgpu/version", "6.12.12\n");
	put(p, "dev/kfd", "");
	CHECK(chmod(p->w.path, 0660) == 0);
}

static void mi300x(struct patient *p, int n)
{
	driver(p);
	for (int i = 1; i <= n; i++)
		gpu(p, i, "90402", "0x74a1\n", "auto\n");
}

/* The first check of that id, or one of nothing at all. */
static const struct rk_doctor_check *check_of(const struct rk_doctor *d, const char *id)
{
	static char nothing[1];
	static const struct rk_doctor_check none = { "", RK_DOCTOR_OK, nothing, nothing, nothing };

	for (size_t i = 0; d && i < d->nchecks; i++)
		if (strcmp(d->checks[i].id, id) == 0)
			return &d->checks[i];
	return &none;
}

static const char *status_of(const struct rk_doctor *d, const char *id)
{
	const struct rk_doctor_check *c = check_of(d, id);

	return c->id[0] ? rk_doctor_status_word(c->status) : "none";
}

static bool holds(const char *text, const char *part)
{
	return strstr(text, part) != NULL;
}

TEST(a_machine_with_nothing_gets_an_answer)
{
	struct patient p;
	const struct rk_doctor *d;

	begin(&p);
	d = examine(&p);
	CHECK(!d->ready);
	CHECK_U64(d->gpus.n, 0);
	CHECK_U64(d->tools.n, 0);
	CHECK(strncmp(d->verdict, "no AMD GPU and no profiler found", 32) == 0);
	CHECK_STR(check_of(d, "kernel")->text, "Linux 6.8.0-51-generic");
	CHECK_STR(status_of(d, "driver"), "info");
	CHECK_STR(status_of(d, "kfd"), "none");
	CHECK_STR(status_of(d, "no-profiler"), "info");
	CHECK(strncmp(check_of(d, "no-profiler")->advice, "sudo apt install rocprofiler-sdk", 32) ==
	      0);
	end(&p);
}

TEST(a_gpu_without_its_driver_is_not_ready)
{
	struct patient p;
	const struct rk_doctor *d;

	begin(&p);
	put(&p, "sys/bus/pci/devices/0000:01:00.0/class", "0x120000\n");
	put(&p, "sys/bus/pci/devices/0000:01:00.0/vendor", "0x1002\n");
	put(&p, "sys/bus/pci/devices/0000:01:00.0/device", "0x74a1\n");
	d = examine(&p);
	CHECK_U64(d->gpus.n, 1);
	CHECK_STR(status_of(d, "driver"), "bad");
	CHECK(holds(check_of(d, "driver")->advice, "modprobe amdgpu"));
	CHECK_STR(status_of(d, "kfd"), "none");
	CHECK_STR(d->verdict, "not ready: amdgpu is not loaded, but there is 1 AMD GPU");
	end(&p);
}

TEST(a_gpu_that_computes_nothing_is_not_ready)
{
	struct patient p;
	const struct rk_doctor *d;

	begin(&p);
	driver(&p);
	put(&p, "sys/bus/pci/devices/0000:01:00.0/class", "0x030000\n");
	put(&p, "sys/bus/pci/devices/0000:01:00.0/vendor", "0x1002\n");
	put(&p, "sys/bus/pci/devices/0000:01:00.0/device", "0x0666\n");
	d = examine(&p);
	CHECK_STR(status_of(d, "not-compute"), "bad");
	CHECK(!d->ready);
	mi300x(&p, 2);
	CHECK_STR(status_of(examine(&p), "not-compute"), "none");
	end(&p);
}

TEST(devices_of_a_group_of_the_session_can_be_used)
{
	struct patient p;
	const struct rk_doctor *d;
	char gid[32];

	begin(&p);
	mi300x(&p, 8);
	snprintf(gid, sizeof(gid), "%u", (unsigned)getegid());
	user(&p, gid, "alice");
	d = examine(&p);
	CHECK_U64(d->gpus.n, 8);
	CHECK_STR(status_of(d, "kfd"), "ok");
	CHECK_STR(check_of(d, "render-nodes")->text, "8 of 8 are readable and writable");
	CHECK_STR(check_of(d, "driver")->text, "amdgpu 6.12.12 is loaded");
	CHECK_STR(status_of(d, "no-profiler"), "bad");
	CHECK(holds(d->verdict, "not ready: no ROCm profiler"));
	CHECK_STR(check_of(d, "rocm")->text, "librockit-rocm.so is missing");
	end(&p);
}

TEST(an_own_collector_is_enough_to_be_ready_and_its_proof_is_named)
{
	struct patient p;
	const struct rk_doctor *d;
	char gid[32];

	begin(&p);
	mi300x(&p, 2);
	put(&p, "librockit-rocm.so", "");
	snprintf(gid, sizeof(gid), "%u", (unsigned)getegid());
	user(&p, gid, "alice");
	d = examine(&p);
	CHECK_STR(status_of(d, "rocm"), "info");
	CHECK(holds(check_of(d, "rocm")->text, "proven on a virtual GPU only"));
	CHECK_STR(status_of(d, "no-profiler"), "warn");
	CHECK(holds(d->verdict, "ready: rockit run uses rockit's own collector"));
	end(&p);
}

TEST(a_user_outside_the_group_is_asked_to_join_it)
{
	struct patient p;
	const struct rk_doctor *d;

	begin(&p);
	mi300x(&p, 1);
	user(&p, "", "bob,alicent");
	d = examine(&p);
	CHECK_STR(status_of(d, "kfd"), "bad");
	CHECK_STR(check_of(d, "kfd")->text, "user 'alice' cannot read and write /dev/kfd: it "
					    "belongs to group 'render' with mode 0660");
	CHECK_STR(check_of(d, "kfd")->advice, "sudo usermod -aG render alice, then log in again");
	CHECK_STR(check_of(d, "render-nodes")->subject, "/dev/dri/renderD128");
	CHECK(holds(d->verdict, "not ready: user 'alice' cannot"));
	end(&p);
}

TEST(a_member_of_the_group_is_asked_to_log_in_again)
{
	struct patient p;

	begin(&p);
	mi300x(&p, 1);
	user(&p, "", "bob,alice");
	CHECK_STR(check_of(examine(&p), "kfd")->advice,
		  "log in again: 'alice' was added to group 'render' after this session started");
	end(&p);
}

TEST(a_mode_without_the_group_needs_the_administrator)
{
	struct patient p;
	char gid[32];

	begin(&p);
	mi300x(&p, 1);
	snprintf(gid, sizeof(gid), "%u", (unsigned)getegid());
	user(&p, gid, "alice");
	world_text(&p.w, "dev/kfd", "");
	CHECK(chmod(p.w.path, 0600) == 0);
	CHECK(holds(check_of(examine(&p), "kfd")->advice, "udev rule"));
	world_text(&p.w, "dev/kfd", "");
	CHECK(chmod(p.w.path, 0606) == 0);
	CHECK_STR(status_of(examine(&p), "kfd"), "bad");
	user(&p, "", "");
	CHECK_STR(status_of(examine(&p), "kfd"), "ok");
	end(&p);
}

TEST(a_container_without_devices_learns_how_to_get_them)
{
	static const struct {
		const char *file, *env, *cgroup, *name, *advice;
	} kinds[] = {
		{ ".dockerenv", NULL, "", "Docker", "--device=/dev/kfd --device=/dev/dri" },
		{ NULL, NULL, "0::/docker/1234\n", "Docker", "--group-add render" },
		{ "run/.containerenv", NULL, "", "Podman", "keep-groups" },
		{ NULL, "KUBERNETES_SERVICE_HOST=10.0.0.1", "", "Kubernetes", "amd.com/gpu" },
		{ NULL, "APPTAINER_CONTAINER=/a.sif", "", "Apptainer", "--rocm" },
		{ NULL, "container=systemd-nspawn", "", "a container", "/dev/kfd and /dev/dri" },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct patient p;
		const struct rk_doctor *d;

		begin(&p);
		mi300x(&p, 1);
		world_text(&p.w, "dev/kfd", "");
		CHECK(unlink(p.w.path) == 0);
		if (kinds[i].file)
			put(&p, kinds[i].file, "");
		p.env[0] = kinds[i].env;
		put(&p, "proc/1/cgroup", kinds[i].cgroup);
		d = examine(&p);
		CHECK(holds(check_of(d, "container")->text, kinds[i].name));
		CHECK_STR(status_of(d, "kfd"), "bad");
		CHECK(holds(check_of(d, "kfd")->advice, kinds[i].advice));
		end(&p);
	}
}

TEST(a_container_without_the_group_learns_its_number)
{
	struct patient p;
	char want[64];

	if (getegid() == 65534)
		SKIP("the group of this process is nobody's, whose number means nothing");
	begin(&p);
	mi300x(&p, 1);
	put(&p, ".dockerenv", "");
	snprintf(want, sizeof(want), "start the container with --group-add %u",
		 (unsigned)getegid());
	CHECK_STR(check_of(examine(&p), "kfd")->advice, want);
	end(&p);
}

TEST(missing_render_nodes_are_counted)
{
	struct patient p;
	const struct rk_doctor *d;

	begin(&p);
	mi300x(&p, 3);
	world_text(&p.w, "dev/dri/renderD129", "");
	CHECK(unlink(p.w.path) == 0);
	d = examine(&p);
	CHECK_STR(status_of(d, "render-nodes"), "warn");
	CHECK_STR(check_of(d, "render-nodes")->text,
		  "1 of 3 GPUs have no render node: '/dev/dri/renderD129' does not exist");
	end(&p);
}

TEST(rdna_counters_want_a_stable_power_level)
{
	struct patient p;
	const struct rk_doctor *d;

	begin(&p);
	driver(&p);
	gpu(&p, 1, "110000", "0x744c\n", "auto\n");
	d = examine(&p);
	CHECK_STR(rk_gpus_arch(&d->gpus), "gfx1100");
	CHECK_STR(status_of(d, "power-level"), "warn");
	CHECK(holds(check_of(d, "power-level")->advice, "STABLE_STD"));
	gpu(&p, 1, "110000", "0x744c\n", "profile_standard\n");
	CHECK_STR(status_of(examine(&p), "power-level"), "info");
	gpu(&p, 1, "90402", "0x74a1\n", "auto\n");
	CHECK_STR(status_of(examine(&p), "power-level"), "none");
	gpu(&p, 1, "90402", "0x74a1\n", "low\n");
	CHECK_STR(status_of(examine(&p), "power-level"), "info");
	gpu(&p, 1, "120500", "0x74a1\n", "auto\n"); /* gfx1250 is not RDNA */
	CHECK_STR(status_of(examine(&p), "power-level"), "none");
	end(&p);
}

static void nvidia(struct patient *p)
{
	put(p, "sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n");
	put(p, "sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n");
	put(p, "sys/bus/pci/devices/0000:01:00.0/device", "0x2330\n");
}

TEST(nvidia_counters_for_administrators_are_a_warning)
{
	struct patient p;
	const struct rk_doctor *d;

	begin(&p);
	nvidia(&p);
	CHECK_STR(status_of(examine(&p), "nvidia-driver"), "warn");
	put(&p, "proc/driver/nvidia/version",
	    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  560.35.03  Release Build\n"
	    "GCC version:  gcc version 12.3.0\n");
	put(&p, "proc/driver/nvidia/params",
	    "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\n");
	d = examine(&p);
	CHECK_STR(check_of(d, "nvidia-driver")->text, "version 560.35.03 is loaded");
	CHECK_STR(status_of(d, "nvidia-counters"), "warn");
	CHECK(holds(d->verdict, "nsys"));
	put(&p, "proc/driver/nvidia/params", "RmProfilingAdminOnly: 0\n");
	put(&p, "proc/driver/nvidia/version", "no number at all\n");
	d = examine(&p);
	CHECK_STR(status_of(d, "nvidia-counters"), "ok");
	CHECK_STR(check_of(d, "nvidia-driver")->text, "it is loaded");
	end(&p);
}

TEST(variables_that_hide_gpus_are_named)
{
	struct patient p;
	const struct rk_doctor *d;

	begin(&p);
	p.env[0] = "HIP_VISIBLE_DEVICES=0,1";
	CHECK_STR(status_of(examine(&p), "visible-devices"), "none");
	mi300x(&p, 4);
	d = examine(&p);
	CHECK_STR(status_of(d, "visible-devices"), "info");
	CHECK_STR(check_of(d, "visible-devices")->text,
		  "HIP_VISIBLE_DEVICES='0,1': programs see at most 2 of the 4 GPUs");
	p.env[0] = "ROCR_VISIBLE_DEVICES=";
	CHECK_STR(check_of(examine(&p), "visible-devices")->advice, "unset ROCR_VISIBLE_DEVICES");
	p.env[0] = "CUDA_VISIBLE_DEVICES=-1";
	CHECK_STR(status_of(examine(&p), "visible-devices"), "warn");
	p.env[0] = "HIP_VISIBLE_DEVICES=,,7,,8,9,10,11";
	CHECK(holds(check_of(examine(&p), "visible-devices")->text, "see at most 4 of the 4"));
	end(&p);
}

TEST(variables_that_change_a_measurement_are_named)
{
	static const struct {
		const char *entry, *status;
	} known[] = {
		{ "ROCPROF_OUTPUT_PATH=/tmp/x", "info" },
		{ "ROCPROFILER_METRICS_PATH=/x", "warn" },
		{ "HSA_TOOLS_LIB=librocprofiler64.so", "warn" },
		{ "ROCP_TOOL_LIBRARIES=libx.so", "warn" },
		{ "ROCP_METRICS=m.xml", "warn" },
		{ "LD_PRELOAD=/opt/librocprofiler-sdk-tool.so", "warn" },
		{ "LD_PRELOAD=/usr/lib/libjemalloc.so", "info" },
		{ "HSA_OVERRIDE_GFX_VERSION=10.3.0", "warn" },
		{ "HIP_LAUNCH_BLOCKING=1", "warn" },
		{ "HIP_LAUNCH_BLOCKING=0", "none" },
		{ "AMD_LOG_LEVEL=", "none" },
		{ "ROCPROF_", "none" },
		{ "ROCPROF_=1", "none" },
		{ "XROCPROF_A=1", "none" },
		{ "HSA_TOOLS_LIBRARY=x", "none" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct patient p;

		begin(&p);
		p.env[0] = known[i].entry;
		CHECK_STR(status_of(examine(&p), "environment"), known[i].status);
		end(&p);
	}
}

TEST(limits_that_cut_a_trace_are_named)
{
	struct patient p;
	const struct rk_doctor *d;

	begin(&p);
	put(&p, "proc/self/limits",
	    "Limit                     Soft Limit           Hard Limit           Units     \n"
	    "Max file size             unlimited            unlimited            bytes     \n"
	    "Max open files            1024                 1048576              files     \n"
	    "Max address space         unlimited            unlimited            bytes     \n");
	CHECK_STR(status_of(examine(&p), "limit"), "none");
	put(&p, "proc/self/limits",
	    "Max file size             1048576              unlimited            bytes     \n");
	d = examine(&p);
	CHECK_STR(check_of(d, "limit")->text,
		  "files are limited to 1048576 bytes: a trace may be larger");
	CHECK_STR(check_of(d, "limit")->advice, "ulimit -f unlimited");
	put(&p, "proc/self/limits",
	    "Max open files            256                 1048576  files\n");
	CHECK_STR(check_of(examine(&p), "limit")->advice, "ulimit -n 65536");
	end(&p);
}

TEST(a_temporary_directory_that_is_not_there_is_a_warning)
{
	struct patient p;

	begin(&p);
	p.env[0] = "TMPDIR=/nowhere/at/all";
	examine(&p);
	CHECK_STR(p.d->checks[p.d->nchecks - 3].text, "'/nowhere/at/all' is not writable");
	CHECK_STR(p.d->checks[p.d->nchecks - 3].id, "space");
	end(&p);
}

/* Anybody may write these files: no content may do harm. */
TEST(damaged_files_of_the_system_are_taken_as_they_are)
{
	static const char *const files[] = {
		"proc/self/status",
		"proc/self/limits",
		"proc/1/cgroup",
		"etc/passwd",
		"etc/group",
		"etc/os-release",
		"sys/module/amdgpu/version",
		"proc/driver/nvidia/version",
		"proc/driver/nvidia/params",
		"proc/sys/kernel/osrelease",
	};
	uint64_t seed = 88172645463325252;

	for (int round = 0; round < 40; round++) {
		struct patient p;
		char noise[600];

		begin(&p);
		mi300x(&p, 1);
		nvidia(&p);
		for (size_t f = 0; f < sizeof(files) / sizeof(files[0]); f++) {
			size_t len = world_random(&seed) % sizeof(noise);

			for (size_t i = 0; i < len; i++)
				noise[i] = "Ui:d\t \n=,x042\0\xff\033"[world_random(&seed) % 17];
			world_file(&p.w, files[f], noise, len);
		}
		CHECK(examine(&p) != NULL);
		end(&p);
	}
}

static const char *render(struct patient *p, enum rk_report_format format, bool utf8, char **text)
{
	const struct rk_render_options how = { .format = format, .utf8 = utf8 };
	size_t len = 0;

	*text = NULL;
	CHECK_I64(rk_doctor_render(p->d, &how, true, text, &len, &p->w.err), 0);
	CHECK(*text && strlen(*text) == len);
	return *text ? *text : "";
}

TEST(hostile_text_does_not_reach_the_terminal)
{
	struct patient p;
	char *text;

	begin(&p);
	mi300x(&p, 1);
	put(&p, "proc/sys/kernel/osrelease", "6\033[31m\x9b\xe2\x80\xae");
	put(&p, "sys/class/drm/card1/device/product_name", "MI\0333\x07");
	p.env[0] = "ROCPROF_\033]0;x=1";
	examine(&p);
	CHECK(!strchr(render(&p, RK_REPORT_TEXT, true, &text), '\033'));
	CHECK(!strchr(text, '\x07') && !holds(text, "\xe2\x80\xae"));
	rk_text_free(text);
	CHECK(!strpbrk(render(&p, RK_REPORT_TEXT, false, &text), "\033\x9b\xe2"));
	rk_text_free(text);
	CHECK(!strchr(render(&p, RK_REPORT_JSON, true, &text), '\033'));
	rk_text_free(text);
	end(&p);
}

TEST(no_line_of_sentences_is_longer_than_100_columns)
{
	struct patient p;
	const char *line;
	char *text;

	begin(&p);
	mi300x(&p, 8);
	nvidia(&p);
	p.env[0] = "HIP_LAUNCH_BLOCKING=1";
	p.env[1] = "ROCPROF_A_NAME_THAT_IS_LONGER_THAN_ANY_COLUMN_OF_SUBJECTS=1";
	p.env[2] = "ROCR_VISIBLE_DEVICES=0,1";
	p.env[3] = "HIP_VISIBLE_DEVICES=0";
	put(&p, ".dockerenv", "");
	examine(&p);
	line = render(&p, RK_REPORT_TEXT, true, &text);
	while (*line) {
		size_t len = strcspn(line, "\n");

		if (!CHECK(len <= 100))
			CHECK_STR(line, "");
		line += len + 1;
	}
	rk_text_free(text);
	end(&p);
}

TEST(csv_of_the_doctor_has_a_row_for_each_check)
{
	struct patient p;
	size_t lines = 0;
	char *text;

	begin(&p);
	mi300x(&p, 1);
	examine(&p);
	for (const char *c = render(&p, RK_REPORT_CSV, true, &text); *c; c++)
		lines += *c == '\n';
	CHECK_U64(lines, p.d->nchecks + 1);
	CHECK(strncmp(text, "id,status,subject,text,advice\n", 30) == 0);
	CHECK(holds(text, "\nkfd,bad,/dev/kfd,user 'alice' cannot"));
	rk_text_free(text);
	end(&p);
}

/* Examines and renders; true when the armed failure was met. */
static bool with_failure(struct patient *p, uint64_t n)
{
	const struct rk_doctor_options opt = { .root = p->w.dir,
					       .path = p->path,
					       .env = (char *const *)p->env };
	const struct rk_render_options how = { .format = (enum rk_report_format)(n % 3) };
	struct rk_error err = { 0 };
	struct rk_doctor *d = NULL;
	char *text = NULL;
	size_t len;
	bool failed;
	int rc;

	rk_alloc_fail_after(n);
	rc = rk_doctor_new(&opt, &d, &err);
	if (rc == 0)
		rc = rk_doctor_render(d, &how, true, &text, &len, &err);
	failed = rk_alloc_failed();
	rk_alloc_fail_after(0);
	CHECK(rc == 0 ? text != NULL : rc == RK_E_NOMEM && err.code == RK_E_NOMEM);
	CHECK(!failed || rc == RK_E_NOMEM);
	rk_text_free(text);
	rk_doctor_free(d);
	return failed;
}

TEST(every_allocation_of_the_doctor_may_fail)
{
	struct patient p;
	uint64_t n = 1;

	begin(&p);
	mi300x(&p, 2);
	p.env[0] = "HSA_TOOLS_LIB=x";
	while (n < 20000 && with_failure(&p, n))
		n++;
	CHECK(n > 20 && n < 20000);
	end(&p);
}
