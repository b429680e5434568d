/* nvml.c (tests) - NVIDIA's GPUs found and sampled through a fake NVML. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "every_alloc.h"
#include "monitor/nvml.h"
#include "monitor/sampler.h"
#include "rockit/gpus.h"
#include "rockit/monitor.h"
#include "tap.h"
#include "world.h"

/* A root whose library is the one of that release, in that mode. */
static void begin(struct world *w, const char *release, const char *mode)
{
	char library[512];

	world_open(w, 1);
	world_text(w, "usr/lib/note", "");
	snprintf(library, sizeof(library), "%s/nvml-%s/libnvidia-ml.so.1", ROCKIT_SIM_DIR, release);
	snprintf(w->path, sizeof(w->path), "%s/usr/lib/libnvidia-ml.so.1", w->dir);
	CHECK(symlink(library, w->path) == 0);
	setenv("FAKE_NVML", mode, 1);
}

static void end(struct world *w)
{
	unsetenv("FAKE_NVML");
	world_close(w);
}

TEST(gpus_are_found_by_nvml_where_sysfs_shows_none)
{
	struct rk_gpus g = { 0 };
	struct world w;

	begin(&w, "new", "");
	CHECK_I64(rk_gpus_find(w.dir, &g, &w.err), 0);
	if (CHECK_U64(g.n, 2)) {
		CHECK_STR(g.gpus[0].vendor, "NVIDIA");
		CHECK_STR(g.gpus[0].name, "NVIDIA H200");
		CHECK_STR(g.gpus[0].pci, "0000:1b:00.0");
		CHECK_STR(g.gpus[0].driver, "nvidia");
		CHECK_STR(g.gpus[0].uuid, "GPU-00000000-1111-2222-3333-444444444440");
		CHECK_STR(g.gpus[0].compute, "9.0");
		CHECK_STR(g.gpus[0].partition, "");
		CHECK_STR(g.gpus[0].gfx, "");
		CHECK_U64(g.gpus[0].memory_bytes, UINT64_C(143771) << 20);
		CHECK_U64(g.gpus[0].pci_device, 0x2335);
		CHECK_I64(g.gpus[0].card, -1);
		CHECK_STR(g.gpus[1].pci, "0001:9c:00.0");
		CHECK_I64(g.gpus[1].index, 1);
	}
	CHECK_STR(rk_gpus_arch(&g), "");
	rk_gpus_release(&g);
	end(&w);
}

TEST(gpus_of_sysfs_and_nvml_are_one)
{
	struct rk_gpus g = { 0 };
	struct world w;

	begin(&w, "new", "mig,far");
	world_text(&w, "sys/bus/pci/devices/10001:9c:00.0/class", "0x030200\n");
	world_text(&w, "sys/bus/pci/devices/10001:9c:00.0/vendor", "0x10de\n");
	world_text(&w, "sys/bus/pci/devices/10001:9c:00.0/device", "0x2335\n");
	world_text(&w, "sys/bus/pci/devices/0000:05:00.0/class", "0x030000\n");
	world_text(&w, "sys/bus/pci/devices/0000:05:00.0/vendor", "0x1002\n");
	world_text(&w, "sys/bus/pci/devices/0000:05:00.0/device", "0x744c\n");
	CHECK_I64(rk_gpus_find(w.dir, &g, &w.err), 0);
	if (CHECK_U64(g.n, 3)) {
		CHECK_STR(g.gpus[0].vendor, "AMD");
		CHECK_STR(g.gpus[0].uuid, "");
		CHECK_STR(g.gpus[1].pci, "10000:1b:00.0");
		CHECK_STR(g.gpus[2].pci, "10001:9c:00.0");
		CHECK_STR(g.gpus[2].compute, "9.0");
		CHECK_STR(g.gpus[2].partition, "MIG");
	}
	rk_gpus_release(&g);
	end(&w);
}

TEST(an_nvml_that_cannot_begin_finds_nothing)
{
	static const char *const modes[] = { "no-driver", "mismatch", "gpus=0" };

	for (size_t i = 0; i < 3; i++) {
		struct rk_gpus g = { .n = 7 };
		struct world w;

		begin(&w, "new", modes[i]);
		CHECK_I64(rk_gpus_find(w.dir, &g, &w.err), 0);
		CHECK_U64(g.n, 0);
		end(&w);
	}
}

TEST(a_file_that_is_not_a_library_is_not_nvml)
{
	struct rk_nvml n;
	struct world w;

	world_open(&w, 1);
	CHECK_I64(rk_nvml_open(&n, w.dir), RK_NVML_NO_LIBRARY);
	world_text(&w, "usr/lib/libnvidia-ml.so.1", "not a library\n");
	CHECK_I64(rk_nvml_open(&n, w.dir), RK_NVML_NO_LIBRARY);
	rk_nvml_close(&n);
	world_close(&w);
}

static struct rk_monitor_source *source(struct world *w, const char *pci, unsigned want)
{
	const struct rk_gpu g = { .vendor = "NVIDIA", .pci = pci, .card = -1 };
	struct rk_monitor_source *s = NULL;

	CHECK(rk_monitor_nvml.takes(&g));
	CHECK_I64(rk_monitor_nvml.open(w->dir, &g, want, &s, &w->err), 0);
	return s;
}

enum { ALL = (1 << RK_NREADINGS) - 1 };

static struct rk_readings read_one(struct world *w, const char *pci, unsigned want)
{
	struct rk_monitor_source *s = source(w, pci, want);
	struct rk_readings r = { 0 };

	rk_monitor_nvml.read(s, &r);
	CHECK(!rk_monitor_nvml.lost(s));
	rk_monitor_nvml.close(s);
	return r;
}

TEST(every_reading_of_an_nvidia_gpu_has_its_unit)
{
	struct rk_readings r;
	struct world w;

	begin(&w, "new", "");
	r = read_one(&w, "0001:9c:00.0", ALL);
	CHECK(r.v[RK_READ_POWER] == 301.5);
	CHECK(r.v[RK_READ_VRAM_USED] == 385.0 * 1048576);
	CHECK(r.v[RK_READ_VRAM_TOTAL] == 143771.0 * 1048576);
	CHECK(r.v[RK_READ_BUSY] == 0);
	CHECK(r.v[RK_READ_SCLK] == 1980);
	CHECK(r.v[RK_READ_MCLK] == 3201);
	CHECK(r.v[RK_READ_TEMP] == 42);
	CHECK(r.v[RK_READ_ENERGY] > 0);
	/* What is not wanted is not given. */
	r = read_one(&w, "0001:9c:00.0", 1u << RK_READ_BUSY | 1u << RK_READ_ENERGY);
	for (unsigned i = 0; i < RK_NREADINGS; i++)
		CHECK(isnan(r.v[i]) == (i != RK_READ_BUSY && i != RK_READ_ENERGY));
	end(&w);
}

TEST(an_old_nvml_gives_what_it_has)
{
	struct rk_gpus g = { 0 };
	struct rk_readings r;
	struct world w;

	begin(&w, "old", "");
	CHECK_I64(rk_gpus_find(w.dir, &g, &w.err), 0);
	if (CHECK_U64(g.n, 2)) {
		CHECK_STR(g.gpus[1].pci, "0001:9c:00.0");
		CHECK_STR(g.gpus[1].compute, "");
	}
	rk_gpus_release(&g);
	r = read_one(&w, "0000:1b:00.0", ALL);
	CHECK(r.v[RK_READ_POWER] == 300.5);
	CHECK(r.v[RK_READ_VRAM_USED] == 1000.0 * 1048576);
	CHECK(r.v[RK_READ_TEMP] == 41);
	CHECK(isnan(r.v[RK_READ_ENERGY]));
	end(&w);
}

TEST(what_nvml_refuses_is_missing_and_not_zero)
{
	struct rk_readings r;
	struct world w;

	begin(&w, "new", "unsupported");
	r = read_one(&w, "0000:1b:00.0", ALL);
	for (unsigned i = 0; i < RK_NREADINGS; i++)
		CHECK(isnan(r.v[i]));
	setenv("FAKE_NVML", "mig", 1);
	r = read_one(&w, "0000:1b:00.0", ALL);
	CHECK(isnan(r.v[RK_READ_BUSY]));
	CHECK(r.v[RK_READ_POWER] == 300.5);
	setenv("FAKE_NVML", "no-energy", 1);
	r = read_one(&w, "0000:1b:00.0", ALL);
	CHECK(isnan(r.v[RK_READ_ENERGY]));
	CHECK(r.v[RK_READ_POWER] == 300.5);
	/* A GPU that NVML does not know, and one without NVML. */
	r = read_one(&w, "0000:77:00.0", ALL);
	CHECK(isnan(r.v[RK_READ_POWER]));
	setenv("FAKE_NVML", "no-driver", 1);
	r = read_one(&w, "0000:1b:00.0", ALL);
	CHECK(isnan(r.v[RK_READ_POWER]));
	end(&w);
}

TEST(power_over_a_second_comes_from_the_counter_of_energy)
{
	const struct timespec while_ = { .tv_sec = 1, .tv_nsec = 20000000 };
	struct rk_monitor_source *s;
	struct rk_readings r;
	struct world w;

	begin(&w, "new", "");
	s = source(&w, "0000:1b:00.0", ALL);
	rk_monitor_nvml.read(s, &r);
	CHECK(r.v[RK_READ_POWER] == 300.5);
	rk_monitor_nvml.read(s, &r); /* too soon */
	CHECK(r.v[RK_READ_POWER] == 300.5);
	nanosleep(&while_, NULL);
	rk_monitor_nvml.read(s, &r);
	CHECK(fabs(r.v[RK_READ_POWER] - 350) < 1);
	rk_monitor_nvml.close(s);
	end(&w);
}

TEST(a_gpu_that_is_lost_has_no_readings_from_then_on)
{
	struct rk_monitor_source *s;
	struct rk_readings r;
	struct world w;

	begin(&w, "new", "no-energy");
	s = source(&w, "0001:9c:00.0", ALL);
	setenv("FAKE_NVML", "no-energy,lost=0", 1);
	rk_monitor_nvml.read(s, &r); /* the first call counts, the ones after it fail */
	CHECK(r.v[RK_READ_POWER] == 301.5);
	CHECK(isnan(r.v[RK_READ_TEMP]));
	CHECK(rk_monitor_nvml.lost(s));
	setenv("FAKE_NVML", "", 1);
	rk_monitor_nvml.read(s, &r);
	CHECK(isnan(r.v[RK_READ_POWER]));
	rk_monitor_nvml.close(s);
	end(&w);
}

static bool find_with_failure(struct world *w, uint64_t n)
{
	struct rk_gpus g = { 0 };
	struct rk_error err = { 0 };
	bool failed;
	int rc;

	rk_alloc_fail_after(n);
	rc = rk_gpus_find(w->dir, &g, &err);
	failed = rk_alloc_failed();
	rk_alloc_fail_after(0);
	CHECK(failed ? rc == RK_E_NOMEM : rc == 0 && g.n == 2);
	rk_gpus_release(&g);
	return failed;
}

TEST(every_allocation_on_the_way_to_nvidias_gpus_may_fail)
{
	struct world w;
	uint64_t n = 1;

	begin(&w, "new", "");
	while (n < 100 && find_with_failure(&w, n))
		n++;
	CHECK(n > 1 && n < 100);
	end(&w);
}
