/* monitor.c (tests) - sampling GPUs in synthetic trees of /sys. */
#include "rockit/monitor.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "monitor/sampler.h"
#include "tap.h"
#include "world.h"

/* ---- a GPU made of files ---- */

static void put(struct world *w, int gpu, const char *name, const char *text)
{
	char path[160];

	snprintf(path, sizeof(path), "sys/class/drm/card%d/device/%s", gpu, name);
	world_text(w, path, text);
}

static void put_le(uint8_t *p, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

/* A table v1_`content` in which `fill` has put values into what was not available. */
static void metrics(struct world *w, int gpu, unsigned size, unsigned content,
		    const uint64_t (*fields)[3])
{
	uint8_t table[4096];
	char path[160];

	memset(table, 0xff, sizeof(table));
	put_le(table, size, 2);
	put_le(table + 2, 1, 1);
	put_le(table + 3, content, 1);
	for (; (*fields)[1]; fields++)
		put_le(table + (*fields)[0], (*fields)[2], (unsigned)(*fields)[1]);
	snprintf(path, sizeof(path), "sys/class/drm/card%d/device/gpu_metrics", gpu);
	world_file(w, path, table, size);
}

/* MI300X: one table with everything. Fields are offset, bytes, value. */
static void mi300x(struct world *w, int gpu, uint64_t energy, uint64_t clock_ns)
{
	const uint64_t fields[][3] = {
		{ 4, 2, 61 },      { 10, 2, 551 },      { 12, 2, 97 },
		{ 24, 8, energy }, { 32, 8, clock_ns }, { 296, 2, 2100 },
		{ 298, 2, 2000 },  { 336, 2, 1300 },    { 0, 0, 0 },
	};

	metrics(w, gpu, 2208, 7, fields);
}

static void card(struct world *w, int gpu)
{
	char text[128];

	snprintf(text, sizeof(text), "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:%02x:00.0\n", gpu + 1);
	put(w, gpu, "uevent", text);
	put(w, gpu, "vendor", "0x1002\n");
	put(w, gpu, "device", "0x74a1\n");
	put(w, gpu, "class", "0x120000\n");
	put(w, gpu, "mem_info_vram_total", "206141652992\n");
	put(w, gpu, "mem_info_vram_used", "51535413248\n");
}

static struct rk_readings read_once(struct world *w, int gpu, struct rk_monitor_source **keep)
{
	const struct rk_gpu g = { .vendor = "AMD", .pci = "", .card = gpu };
	struct rk_monitor_source *s = NULL;
	struct rk_readings r = { 0 };

	CHECK_I64(rk_monitor_amdgpu.open(w->dir, &g, (1u << RK_NREADINGS) - 1, &s, &w->err), 0);
	rk_monitor_amdgpu.read(s, &r);
	if (keep)
		*keep = s;
	else
		rk_monitor_amdgpu.close(s);
	return r;
}

/* ---- one GPU ---- */

TEST(a_gpu_with_a_full_table_is_read_from_it)
{
	struct rk_readings r;
	struct world w;

	world_open(&w, 1);
	card(&w, 0);
	mi300x(&w, 0, 65536 * 1000, 5000000000);
	r = read_once(&w, 0, NULL);
	CHECK(r.v[RK_READ_POWER] == 551);
	CHECK(r.v[RK_READ_BUSY] == 97);
	CHECK(r.v[RK_READ_SCLK] == 2050);
	CHECK(r.v[RK_READ_MCLK] == 1300);
	CHECK(r.v[RK_READ_TEMP] == 61);
	CHECK(r.v[RK_READ_ENERGY] == 1000);
	CHECK(r.v[RK_READ_VRAM_USED] == 51535413248.0);
	CHECK(r.v[RK_READ_VRAM_TOTAL] == 206141652992.0);
	world_close(&w);
}

TEST(power_is_the_mean_since_the_last_reading)
{
	struct rk_monitor_source *s;
	struct rk_readings r;
	struct world w;

	world_open(&w, 1);
	card(&w, 0);
	mi300x(&w, 0, 65536 * 1000, 5000000000);
	r = read_once(&w, 0, &s);
	CHECK(r.v[RK_READ_POWER] == 551);
	/* 70 J in 0.1 s, then 5 J in 10 ms and 6 J in 12 ms */
	mi300x(&w, 0, 65536 * 1070, 5100000000);
	rk_monitor_amdgpu.read(s, &r);
	CHECK(fabs(r.v[RK_READ_POWER] - 700) < 1e-9);
	mi300x(&w, 0, 65536 * 1075, 5110000000);
	rk_monitor_amdgpu.read(s, &r);
	CHECK(fabs(r.v[RK_READ_POWER] - 500) < 1e-9);
	/* Too soon, and a counter that stands still: what the table says, and none of it is lost. */
	mi300x(&w, 0, 65536 * 1076, 5111000000);
	rk_monitor_amdgpu.read(s, &r);
	CHECK(r.v[RK_READ_POWER] == 551);
	mi300x(&w, 0, 65536 * 1075, 5115000000);
	rk_monitor_amdgpu.read(s, &r);
	CHECK(r.v[RK_READ_POWER] == 551);
	mi300x(&w, 0, 65536 * 1081, 5122000000);
	rk_monitor_amdgpu.read(s, &r);
	CHECK(fabs(r.v[RK_READ_POWER] - 500) < 1e-9);
	/* A reset, and a jump that no package could take. */
	mi300x(&w, 0, 65536, 5200000000);
	rk_monitor_amdgpu.read(s, &r);
	CHECK(r.v[RK_READ_POWER] == 551);
	mi300x(&w, 0, UINT64_C(65536) * 2000000, 5300000000);
	rk_monitor_amdgpu.read(s, &r);
	CHECK(r.v[RK_READ_POWER] == 551);
	rk_monitor_amdgpu.close(s);
	world_close(&w);
}

TEST(the_second_die_of_a_package_has_no_power_rather_than_none)
{
	const uint64_t fields[][3] = {
		{ 4, 2, 40 }, { 16, 2, 0 },    { 22, 2, 0 },    { 24, 8, 0 },
		{ 32, 8, 1 }, { 54, 2, 1700 }, { 58, 2, 1600 }, { 0, 0, 0 },
	};
	struct rk_readings r;
	struct world w;

	world_open(&w, 1);
	card(&w, 1);
	metrics(&w, 1, 120, 3, fields);
	put(&w, 1, "hwmon/hwmon5/name", "amdgpu\n");
	put(&w, 1, "hwmon/hwmon5/power1_average", "0\n");
	r = read_once(&w, 1, NULL);
	CHECK(isnan(r.v[RK_READ_POWER]));
	CHECK(isnan(r.v[RK_READ_ENERGY]));
	CHECK(r.v[RK_READ_BUSY] == 0);
	CHECK(r.v[RK_READ_TEMP] == 40);
	CHECK(r.v[RK_READ_SCLK] == 1700);
	world_close(&w);
}

static void hwmon(struct world *w, int gpu)
{
	put(w, gpu, "hwmon/hwmon2/name", "acpitz\n");
	put(w, gpu, "hwmon/hwmon2/power1_average", "1\n");
	put(w, gpu, "hwmon/hwmon10/name", "amdgpu\n");
	put(w, gpu, "hwmon/hwmon10/power1_average", "");
	put(w, gpu, "hwmon/hwmon10/power1_input", "215000000\n");
	put(w, gpu, "hwmon/hwmon10/temp1_label", "junction\n");
	put(w, gpu, "hwmon/hwmon10/temp1_input", "71000\n");
	put(w, gpu, "hwmon/hwmon10/temp2_label", "edge\n");
	put(w, gpu, "hwmon/hwmon10/temp2_input", "52500\n");
	put(w, gpu, "hwmon/hwmon10/freq1_label", "sclk\n");
	put(w, gpu, "hwmon/hwmon10/freq1_input", "1725000000\n");
	put(w, gpu, "gpu_busy_percent", "33\n");
	put(w, gpu, "pp_dpm_mclk", "0: 96Mhz \n1: 456Mhz *\n2: 1000Mhz \n");
	put(w, gpu, "pp_dpm_sclk", "0: 500Mhz *\n1: 2000Mhz \n");
}

static void check_hwmon(const struct rk_readings *r)
{
	CHECK(r->v[RK_READ_POWER] == 215);
	CHECK(r->v[RK_READ_BUSY] == 33);
	CHECK(r->v[RK_READ_SCLK] == 1725);
	CHECK(r->v[RK_READ_MCLK] == 456);
	CHECK(r->v[RK_READ_TEMP] == 52.5);
	CHECK(isnan(r->v[RK_READ_ENERGY]));
}

TEST(a_gpu_whose_table_is_not_known_is_read_from_hwmon)
{
	const uint64_t none[][3] = { { 0, 0, 0 } };
	struct rk_readings r;
	struct world w;

	world_open(&w, 1);
	for (int i = 0; i < 4; i++) {
		card(&w, i);
		hwmon(&w, i);
	}
	/* no table, one of an unknown version, one cut off, one with nothing in it */
	metrics(&w, 1, 200, 3, none);
	put(&w, 2, "gpu_metrics", "\x78");
	metrics(&w, 3, 120, 3, none);
	for (int i = 0; i < 4; i++) {
		r = read_once(&w, i, NULL);
		check_hwmon(&r);
	}
	world_close(&w);
}

TEST(zeros_of_an_old_table_are_not_believed)
{
	const uint64_t zeros[][3] = { { 4, 8, 0 },  { 12, 8, 0 }, { 20, 8, 0 }, { 28, 8, 0 },
				      { 36, 8, 0 }, { 44, 8, 0 }, { 52, 8, 0 }, { 0, 0, 0 } };
	const uint64_t load[][3] = { { 16, 2, 5 }, { 0, 0, 0 } };
	const uint64_t idle[][3] = { { 16, 2, 0 }, { 0, 0, 0 } };
	struct rk_monitor_source *s;
	struct rk_readings r;
	struct world w;

	world_open(&w, 1);
	card(&w, 0);
	hwmon(&w, 0);
	metrics(&w, 0, 96, 1, zeros);
	r = read_once(&w, 0, NULL);
	check_hwmon(&r);
	/* Without a file that knows better, a load of 0 is believed after one that was not. */
	card(&w, 1);
	metrics(&w, 1, 104, 2, idle);
	r = read_once(&w, 1, &s);
	CHECK(isnan(r.v[RK_READ_BUSY]));
	metrics(&w, 1, 104, 2, load);
	rk_monitor_amdgpu.read(s, &r);
	CHECK(r.v[RK_READ_BUSY] == 5);
	metrics(&w, 1, 104, 2, idle);
	rk_monitor_amdgpu.read(s, &r);
	CHECK(r.v[RK_READ_BUSY] == 0);
	rk_monitor_amdgpu.close(s);
	world_close(&w);
}

TEST(damaged_files_of_a_gpu_give_nothing)
{
	static const char *const levels[] = { "*", "1300Mhz *\n", "0: Mhz *", "1: 5Mhz\n", "" };
	const uint64_t load[][3] = { { 16, 2, 101 }, { 22, 2, 0 }, { 0, 0, 0 } };
	struct rk_readings r;
	struct world w;

	world_open(&w, 1);
	for (int i = 0; i < 5; i++) {
		card(&w, i);
		put(&w, i, "pp_dpm_sclk", levels[i]);
		put(&w, i, "mem_info_vram_used", "many\n");
		put(&w, i, "mem_info_vram_total", "0\n");
		put(&w, i, "gpu_busy_percent", "\n");
		metrics(&w, i, 120, 3, load);
		r = read_once(&w, i, NULL);
		for (int k = 0; k < RK_NREADINGS; k++)
			CHECK(isnan(r.v[k]));
	}
	world_close(&w);
}

/* ---- the sampler ---- */

static char *slurp(struct world *w, const char *name)
{
	static char text[1 << 16];
	char path[160];
	FILE *f;
	size_t n = 0;

	snprintf(path, sizeof(path), "%s/%s", w->dir, name);
	f = fopen(path, "rb");
	if (f) {
		n = fread(text, 1, sizeof(text) - 1, f);
		fclose(f);
	}
	text[n] = '\0';
	return f ? text : NULL;
}

static size_t lines(const char *text)
{
	size_t n = 0;

	for (; text && *text; text++)
		n += *text == '\n';
	return n;
}

static void nap(unsigned ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };

	while (nanosleep(&t, &t) < 0 && errno == EINTR)
		;
}

static int64_t boot_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int monitor(struct world *w, unsigned what, unsigned interval_ms, unsigned ms,
		   struct rk_monitor_result *ret)
{
	const struct rk_monitor_options opt = {
		.dir = w->dir, .root = w->dir, .metrics = what, .interval_ms = interval_ms
	};
	struct rk_monitor *m = NULL;
	int rc = rk_monitor_start(&opt, &m, &w->err);

	if (rc < 0)
		return rc;
	nap(ms);
	return rk_monitor_stop(m, ret, &w->err);
}

TEST(samples_are_on_the_clock_of_traces)
{
	int64_t before = boot_ns(), after, t = 0;
	struct rk_monitor_result r = { 0 };
	struct tm tm = { 0 };
	struct world w;
	char *text, *line, zone = 0;
	unsigned us = 0;
	time_t wall;

	world_open(&w, 1);
	card(&w, 0);
	mi300x(&w, 0, 65536, 1);
	/* Some nine intervals would do; a busy machine starts the thread late. */
	CHECK_I64(monitor(&w, RK_MONITOR_POWER, 5, 250, &r), 0);
	after = boot_ns();
	text = slurp(&w, "gpu_info_power_profiler_output.csv");
	CHECK_U64(lines(text), r.samples + 1);
	CHECK(r.samples >= 2); /* the first and the last are certain on a busy machine */
	CHECK_U64(r.gpus, 1);
	CHECK_U64(r.metrics, RK_MONITOR_POWER);
	CHECK_STR(r.note, "");
	CHECK(r.clock_error_ns > 0 && r.clock_error_ns < 1000000000);
	CHECK(r.cpu_percent >= 0 && r.cpu_percent <= 100);
	line = text ? strchr(text, '\n') : NULL;
	if (CHECK(line != NULL)) {
		*line++ = '\0';
		CHECK_STR(text, "timestamp_ns,time,Power(Watt) GPU0");
		CHECK_I64(sscanf(line, "%" SCNd64 ",%d-%d-%dT%d:%d:%d.%6u%c,551\n", &t, &tm.tm_year,
				 &tm.tm_mon, &tm.tm_mday, &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &us,
				 &zone),
			  9);
		CHECK(t >= before && t <= after);
		CHECK(zone == 'Z');
		tm.tm_year -= 1900;
		tm.tm_mon--;
		wall = time(NULL);
		CHECK(wall - timegm(&tm) >= 0 && wall - timegm(&tm) < 60);
	}
	CHECK(!world_has(&w, "gpu_info_samples.csv"));
	world_close(&w);
}

TEST(the_files_of_the_sampler_become_rows_of_samples)
{
	struct rk_monitor_result r = { 0 };
	struct world w;
	char *text;
	char path[160];
	const char *rows;

	world_open(&w, 1);
	card(&w, 0);
	mi300x(&w, 0, 65536 * 1000, 5000000000);
	card(&w, 1);
	put(&w, 1, "mem_info_vram_used", "4096\n");
	CHECK_I64(monitor(&w, RK_MONITOR_ALL, 60000, 0, &r), 0);
	CHECK_U64(r.samples, 2);
	CHECK_U64(r.gpus, 2);
	CHECK_U64(r.metrics, RK_MONITOR_ALL);
	text = slurp(&w, "gpu_info_samples.csv");
	if (text && strchr(text, '\n'))
		*strchr(text, '\n') = '\0';
	CHECK_STR(text, "timestamp_ns,time,vram_total(MB) GPU0,busy(%) GPU0,sclk(MHz) GPU0,"
			"mclk(MHz) GPU0,temp(C) GPU0,energy(J) GPU0,vram_total(MB) GPU1,"
			"busy(%) GPU1,sclk(MHz) GPU1,mclk(MHz) GPU1,temp(C) GPU1,energy(J) GPU1");
	snprintf(path, sizeof(path), "%s/gpu_info_samples.csv", w.dir);
	rows = world_dump(&w, path, RK_SAMPLES, RK_WANT_ALL);
	if (CHECK(rows != NULL)) {
		CHECK(strstr(rows,
			     "|device_id=0|metric=vram_total_bytes|value=206141652992|unit=B\n"));
		CHECK(strstr(rows, "|device_id=0|metric=busy_percent|value=97|unit=%\n"));
		CHECK(strstr(rows, "|device_id=0|metric=sclk_mhz|value=2050|unit=MHz\n"));
		CHECK(strstr(rows, "|device_id=0|metric=mclk_mhz|value=1300|unit=MHz\n"));
		CHECK(strstr(rows, "|device_id=0|metric=temp_c|value=61|unit=C\n"));
		CHECK(strstr(rows, "|device_id=0|metric=energy_j|value=1000|unit=J\n"));
		CHECK(!strstr(rows, "device_id=1|metric=busy_percent"));
	}
	snprintf(path, sizeof(path), "%s/gpu_info_vram_profiler_output.csv", w.dir);
	rows = world_dump(&w, path, RK_SAMPLES, RK_WANT_ALL);
	if (CHECK(rows != NULL)) {
		CHECK(strstr(rows, "|device_id=0|metric=vram_percent|value=25|unit=%\n"));
		CHECK(strstr(rows,
			     "|device_id=0|metric=vram_used_bytes|value=51535413248|unit=B\n"));
		CHECK(strstr(rows, "|device_id=1|metric=vram_used_bytes|value=4096|unit=B\n"));
	}
	snprintf(path, sizeof(path), "%s/gpu_info_power_profiler_output.csv", w.dir);
	rows = world_dump(&w, path, RK_SAMPLES, RK_WANT_ALL);
	if (CHECK(rows != NULL))
		CHECK(strstr(rows, "|device_id=0|metric=power_w|value=551|unit=W\n") &&
		      !strstr(rows, "device_id=1"));
	CHECK_STR(world_warnings(&w), "");
	world_close(&w);
}

TEST(a_metric_that_no_gpu_gives_is_named_and_has_no_file)
{
	struct rk_monitor_result r = { 0 };
	struct world w;

	world_open(&w, 1);
	card(&w, 3);
	put(&w, 3, "gpu_busy_percent", "12\n");
	CHECK_I64(monitor(&w, RK_MONITOR_POWER | RK_MONITOR_BUSY | RK_MONITOR_ENERGY, 60000, 0, &r),
		  0);
	CHECK_STR(r.note, "no GPU reports power, energy");
	CHECK_U64(r.metrics, RK_MONITOR_BUSY);
	CHECK(!world_has(&w, "gpu_info_power_profiler_output.csv"));
	CHECK(strstr(slurp(&w, "gpu_info_samples.csv"), "timestamp_ns,time,busy(%) GPU0\n"));
	world_close(&w);
}

TEST(without_gpus_nothing_is_sampled_and_no_file_is_made)
{
	struct world w;

	world_open(&w, 1);
	CHECK_I64(monitor(&w, RK_MONITOR_ALL, 0, 0, NULL), RK_E_UNSUPPORTED);
	CHECK_STR(w.err.message, "no GPU found; see 'rockit doctor'");
	CHECK_U64(world_entries(&w, "."), 0);
	w.err = (struct rk_error){ 0 };
	card(&w, 0);
	CHECK_I64(monitor(&w, RK_MONITOR_ENERGY, 0, 0, NULL), RK_E_UNSUPPORTED);
	CHECK(strncmp(w.err.message, "no GPU reports energy (1 found;", 29) == 0);
	CHECK_U64(world_entries(&w, "."), 1);
	world_close(&w);
}

TEST(existing_files_are_kept_unless_forced)
{
	struct rk_monitor_options opt = { .metrics = RK_MONITOR_ALL };
	struct rk_monitor *m = NULL;
	struct world w;

	world_open(&w, 1);
	opt.dir = opt.root = w.dir;
	card(&w, 0);
	mi300x(&w, 0, 65536, 1);
	world_text(&w, "gpu_info_samples.csv", "mine\n");
	CHECK_I64(rk_monitor_start(&opt, &m, &w.err), RK_E_IO);
	CHECK(strstr(w.err.message, "gpu_info_samples.csv' exists; choose another directory") !=
	      NULL);
	CHECK_STR(slurp(&w, "gpu_info_samples.csv"), "mine\n");
	CHECK(!world_has(&w, "gpu_info_power_profiler_output.csv"));
	opt.overwrite = true;
	CHECK_I64(rk_monitor_start(&opt, &m, NULL), 0);
	CHECK_I64(rk_monitor_stop(m, NULL, NULL), 0);
	CHECK(strncmp(slurp(&w, "gpu_info_samples.csv"), "timestamp_ns,", 13) == 0);
	world_close(&w);
}

TEST(a_link_among_files_to_replace_does_not_lead_out_of_the_directory)
{
	struct rk_monitor_options opt = { .metrics = RK_MONITOR_POWER, .overwrite = true };
	struct rk_monitor *m = NULL;
	struct world w;
	char link[700];

	world_open(&w, 1);
	opt.dir = opt.root = w.dir;
	card(&w, 0);
	mi300x(&w, 0, 65536, 1);
	world_text(&w, "precious.txt", "mine\n");
	snprintf(link, sizeof(link), "%s/gpu_info_power_profiler_output.csv", w.dir);
	CHECK_I64(symlink("precious.txt", link), 0);
	CHECK_I64(rk_monitor_start(&opt, &m, NULL), 0);
	CHECK_I64(rk_monitor_stop(m, NULL, NULL), 0);
	CHECK_STR(slurp(&w, "precious.txt"), "mine\n");
	CHECK(strncmp(slurp(&w, "gpu_info_power_profiler_output.csv"), "timestamp_ns,", 13) == 0);
	world_close(&w);
}

/* A file may not grow past this: what a full disk does, without filling one. */
static void limit_files(rlim_t bytes)
{
	struct rlimit r;

	getrlimit(RLIMIT_FSIZE, &r);
	r.rlim_cur = bytes;
	setrlimit(RLIMIT_FSIZE, &r);
}

TEST(a_sampler_that_cannot_write_gives_up_and_says_so)
{
	struct rk_monitor_options opt = { .metrics = RK_MONITOR_POWER, .interval_ms = 1 };
	struct rk_monitor_result r = { 0 };
	struct rk_monitor *m = NULL;
	struct world w;

	world_open(&w, 1);
	opt.dir = opt.root = w.dir;
	card(&w, 0);
	mi300x(&w, 0, 65536, 1);
	signal(SIGXFSZ, SIG_IGN);
	CHECK_I64(rk_monitor_start(&opt, &m, &w.err), 0);
	limit_files(400);
	for (int i = 0; i < 6000 && rk_monitor_alive(m); i++)
		nap(5);
	CHECK(!rk_monitor_alive(m));
	CHECK_I64(rk_monitor_stop(m, &r, &w.err), RK_E_IO);
	limit_files(RLIM_INFINITY);
	signal(SIGXFSZ, SIG_DFL);
	CHECK(strncmp(w.err.message, "cannot write '", 14) == 0);
	CHECK(strstr(w.err.message, "File too large") != NULL);
	CHECK(r.samples > 2);
	world_close(&w);
}

TEST(what_was_sampled_is_on_disk_before_the_end)
{
	struct rk_monitor_options opt = { .metrics = RK_MONITOR_POWER, .interval_ms = 2 };
	struct rk_monitor *m = NULL;
	struct world w;

	world_open(&w, 1);
	opt.dir = opt.root = w.dir;
	card(&w, 0);
	mi300x(&w, 0, 65536, 1);
	CHECK_I64(rk_monitor_start(&opt, &m, &w.err), 0);
	for (int i = 0; i < 1000 && lines(slurp(&w, "gpu_info_power_profiler_output.csv")) < 4; i++)
		nap(2);
	CHECK(lines(slurp(&w, "gpu_info_power_profiler_output.csv")) >= 4);
	CHECK_I64(rk_monitor_stop(m, NULL, &w.err), 0);
	world_close(&w);
}

TEST(a_long_interval_does_not_keep_the_sampler_from_ending)
{
	int64_t before = boot_ns();
	struct rk_monitor_result r = { 0 };
	struct world w;

	world_open(&w, 1);
	card(&w, 0);
	mi300x(&w, 0, 65536, 1);
	CHECK_I64(monitor(&w, RK_MONITOR_TEMP, 3600000, 10, &r), 0);
	CHECK(boot_ns() - before < 5000000000);
	CHECK_U64(r.samples, 2);
	CHECK_U64(r.missed, 0);
	world_close(&w);
}

TEST(partitions_of_a_package_are_sampled_once)
{
	struct rk_monitor_result r = { 0 };
	struct world w;

	world_open(&w, 1);
	card(&w, 0);
	mi300x(&w, 0, 65536, 1);
	for (int i = 1; i <= 2; i++) {
		char path[96];

		snprintf(path, sizeof(path), "sys/class/kfd/kfd/topology/nodes/%d/gpu_id", i);
		world_text(&w, path, "7\n");
		snprintf(path, sizeof(path), "sys/class/kfd/kfd/topology/nodes/%d/properties", i);
		world_text(&w, path, "simd_count 4\ndomain 0\nlocation_id 256\n");
	}
	CHECK_I64(monitor(&w, RK_MONITOR_POWER, 0, 0, &r), 0);
	CHECK_U64(r.gpus, 1);
	world_close(&w);
}

TEST(starting_the_sampler_survives_each_failed_allocation)
{
	struct world w;
	bool failed = true;

	world_open(&w, 1);
	card(&w, 0);
	hwmon(&w, 0);
	card(&w, 1);
	mi300x(&w, 1, 65536, 1);
	for (uint64_t n = 1; failed && n < 1000; n++) {
		const struct rk_monitor_options opt = {
			.dir = w.dir, .root = w.dir, .metrics = RK_MONITOR_ALL, .overwrite = true
		};
		struct rk_error err = { 0 };
		struct rk_monitor *m = NULL;
		int rc;

		rk_alloc_fail_after(n);
		rc = rk_monitor_start(&opt, &m, &err);
		if (rc == 0)
			rc = rk_monitor_stop(m, NULL, &err);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK_I64(rc, failed ? RK_E_NOMEM : 0);
	}
	CHECK(!failed);
	world_close(&w);
}

/* ---- words ---- */

TEST(metrics_are_named_by_words)
{
	struct rk_error err = { 0 };
	unsigned bits = 77;

	CHECK_I64(rk_monitor_parse("power,vram", &bits, &err), 0);
	CHECK_U64(bits, RK_MONITOR_POWER | RK_MONITOR_VRAM);
	CHECK_I64(rk_monitor_parse("energy, busy,,clock,temp", &bits, &err), 0);
	CHECK_U64(bits, RK_MONITOR_ALL & ~(unsigned)(RK_MONITOR_POWER | RK_MONITOR_VRAM));
	CHECK_I64(rk_monitor_parse("all", &bits, &err), 0);
	CHECK_U64(bits, RK_MONITOR_ALL);
	CHECK_I64(rk_monitor_parse("pwoer", &bits, &err), RK_E_USAGE);
	CHECK_STR(err.message, "unknown metric 'pwoer'; did you mean 'power'?");
	err = (struct rk_error){ 0 };
	CHECK_I64(rk_monitor_parse("power,fans", &bits, &err), RK_E_USAGE);
	CHECK_STR(err.message, "unknown metric 'fans'; known: power, vram, busy, clock, temp, "
			       "energy, all");
	err = (struct rk_error){ 0 };
	CHECK_I64(rk_monitor_parse("", &bits, &err), RK_E_USAGE);
	CHECK_U64(bits, RK_MONITOR_ALL);
	for (unsigned i = 0; rk_monitor_word(i); i++) {
		CHECK_I64(rk_monitor_parse(rk_monitor_word(i), &bits, NULL), 0);
		CHECK_U64(bits, 1u << i);
	}
}
