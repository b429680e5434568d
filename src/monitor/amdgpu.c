/*
 * amdgpu.c - sampling an AMD GPU through sysfs.
 *
 * One read of gpu_metrics gives everything except the memory in use. Readings that a GPU's table
 * lacks come from single files of the driver, which are opened only then. Files stay open and are
 * read again from the start. pcie_bw is not used: reading it takes a second.
 */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/num.h"
#include "monitor/gpu_metrics.h"
#include "monitor/sampler.h"
#include "monitor/sysfs.h"

/* For shorter times the energy counter is too coarse to give a mean power. */
static const uint64_t least_mean_ns = 2000000;
/* Above this, the counter has jumped. No package uses a third of it. */
static const double most_watts = 5000;

/* Tables before v1_3 have 0 in the fields that they do not fill. */
enum { FILLED_CONTENT = 3 };

struct number_file {
	int fd; /* -1: none */
	double scale;
	bool levels; /* lines "1: 1300Mhz *"; the star marks the current one */
};

struct amdgpu {
	struct rk_monitor_source base;
	unsigned want, alive; /* alive: readings that have been above 0 */
	int metrics;          /* gpu_metrics, -1: none, or of an unknown version */
	struct number_file files[RK_NREADINGS];
	double vram_total;
	/* The counters at the start of the time that the next mean power covers. */
	uint64_t energy, clock_ns;
	bool begun;
	uint8_t table[RK_GPU_METRICS_BYTES];
};

static bool amdgpu_takes(const struct rk_gpu *gpu)
{
	return strcmp(gpu->vendor, "AMD") == 0;
}

/* ---- single files ---- */

/* The number in the line with the star. */
static bool level(const char *text, int64_t *ret)
{
	const char *star = strchr(text, '*'), *p = star;
	size_t n = 0;

	while (p && p > text && p[-1] != '\n')
		p--;
	p = p ? strchr(p, ':') : NULL;
	if (!p || p > star)
		return false;
	p += 1 + strspn(p + 1, " ");
	n = strspn(p, "0123456789");
	return rk_num_i64(p, n, ret) == RK_NUM_OK;
}

/* NAN when there is no file, no number in it, or the driver refuses. */
static double read_number(const struct number_file *f)
{
	char text[1024];
	ssize_t n = f->fd < 0 ? -1 : pread(f->fd, text, sizeof(text) - 1, 0);
	int64_t v;

	if (n <= 0)
		return (double)NAN;
	while (n && (text[n - 1] == '\n' || text[n - 1] == ' '))
		n--;
	text[n] = '\0';
	if (f->levels ? !level(text, &v) : rk_num_i64(text, (size_t)n, &v) != RK_NUM_OK)
		return (double)NAN;
	return (double)v * f->scale;
}

static int open_at(const char *dir, const char *name)
{
	char path[RK_SYSFS_PATH];

	rk_sysfs_path(path, dir, "/%s", name);
	return dir[0] && path[0] ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
}

/* Opens the file unless one is open already. Keeps it only if it has a number now. */
static void take_file(struct number_file *f, const char *dir, const char *name, double scale,
		      bool levels)
{
	struct number_file fresh = { .scale = scale, .levels = levels };

	if (f->fd >= 0)
		return;
	fresh.fd = open_at(dir, name);
	if (!isnan(read_number(&fresh)))
		*f = fresh;
	else if (fresh.fd >= 0)
		close(fresh.fd);
}

/* ---- hwmon ---- */

/* The directory of the GPU's sensors, or "". */
static int find_hwmon(const char *device, char hwmon[RK_SYSFS_PATH], struct rk_error *err)
{
	char dir[RK_SYSFS_PATH], name[32];
	struct rk_list all = { 0 };
	int rc;

	rk_sysfs_path(dir, device, "/hwmon");
	rc = rk_sysfs_list(dir, &all, err);
	for (size_t i = 0; rc == 0 && i < all.n; i++) {
		rk_sysfs_path(hwmon, dir, "/%s", all.v[i]);
		if (rk_sysfs_read_at(hwmon, "name", name, sizeof(name)) &&
		    strcmp(name, "amdgpu") == 0)
			goto out;
	}
	hwmon[0] = '\0';
out:
	rk_list_release(&all);
	return rc;
}

/* The sensor of a kind ("temp", "freq") by its label: "edge", "sclk". */
static void take_sensor(struct number_file *f, const char *hwmon, const char *kind,
			const char *want, double scale)
{
	char name[32], label[32];

	for (int i = 1; i <= 8; i++) {
		snprintf(name, sizeof(name), "%s%d_label", kind, i);
		if (!rk_sysfs_read_at(hwmon, name, label, sizeof(label)) ||
		    strcmp(label, want) != 0)
			continue;
		snprintf(name, sizeof(name), "%s%d_input", kind, i);
		take_file(f, hwmon, name, scale, false);
	}
}

/* Opens the file for a reading that gpu_metrics lacks: the first one that has a number. */
static void open_instead(struct amdgpu *g, unsigned reading, const char *device, const char *hwmon)
{
	struct number_file *f = &g->files[reading];

	switch (reading) {
	case RK_READ_POWER:
		take_file(f, hwmon, "power1_average", 1e-6, false);
		take_file(f, hwmon, "power1_input", 1e-6, false);
		break;
	case RK_READ_BUSY:
		take_file(f, device, "gpu_busy_percent", 1, false);
		break;
	case RK_READ_SCLK:
		take_sensor(f, hwmon, "freq", "sclk", 1e-6);
		take_file(f, device, "pp_dpm_sclk", 1, true);
		break;
	case RK_READ_MCLK:
		take_sensor(f, hwmon, "freq", "mclk", 1e-6);
		take_file(f, device, "pp_dpm_mclk", 1, true);
		break;
	case RK_READ_TEMP:
		take_sensor(f, hwmon, "temp", "edge", 1e-3);
		take_sensor(f, hwmon, "temp", "junction", 1e-3);
		break;
	}
}

/* ---- gpu_metrics ---- */

/* The mean since the last call, also across long pauses; NAN when unknown. */
static double mean_power(struct amdgpu *g, const struct rk_gpu_metrics *m)
{
	uint64_t energy = g->energy, clock_ns = g->clock_ns;
	bool begun = g->begun;
	double watts;

	if (!m->has_energy || !m->has_clock || !m->energy)
		return (double)NAN;
	if (begun && m->clock_ns > clock_ns && m->energy >= energy &&
	    (m->clock_ns - clock_ns < least_mean_ns || m->energy == energy))
		return (double)NAN; /* too soon: the next mean covers this time, too */
	g->energy = m->energy;
	g->clock_ns = m->clock_ns;
	g->begun = true;
	/* Counters that went back were reset. */
	if (!begun || m->clock_ns <= clock_ns || m->energy < energy)
		return (double)NAN;
	watts = (double)(m->energy - energy) * RK_GPU_METRICS_JOULE * 1e9 /
		(double)(m->clock_ns - clock_ns);
	return watts <= most_watts ? watts : (double)NAN;
}

static double unless_zero(double v)
{
	return v > 0 ? v : (double)NAN;
}

/*
 * False if the table is of an unknown version. The second die of a package reports 0 W; the first
 * one reports the power of both. An energy counter at 0 does not count (RDNA), and a temperature of
 * 0 was not measured.
 */
static bool read_metrics(struct amdgpu *g, struct rk_readings *ret, unsigned *ret_content)
{
	ssize_t n = g->metrics < 0 ? -1 : pread(g->metrics, g->table, sizeof(g->table), 0);
	struct rk_gpu_metrics m;
	double watts, edge;

	if (n <= 0 || rk_gpu_metrics_decode(g->table, (size_t)n, &m, NULL) < 0)
		return false;
	watts = mean_power(g, &m);
	edge = unless_zero(m.edge_c);
	ret->v[RK_READ_POWER] = !isnan(watts) ? watts : unless_zero(m.power_w);
	if (m.busy_percent <= 100)
		ret->v[RK_READ_BUSY] = m.busy_percent;
	ret->v[RK_READ_SCLK] = m.sclk_mhz;
	ret->v[RK_READ_MCLK] = m.mclk_mhz;
	ret->v[RK_READ_TEMP] = !isnan(edge) ? edge : unless_zero(m.hotspot_c);
	if (m.has_energy && m.energy)
		ret->v[RK_READ_ENERGY] = (double)m.energy * RK_GPU_METRICS_JOULE;
	for (unsigned i = 0; i < RK_NREADINGS; i++) {
		if (ret->v[i] > 0)
			g->alive |= 1u << i;
		else if (m.content < FILLED_CONTENT && !(g->alive >> i & 1))
			ret->v[i] = (double)NAN;
	}
	*ret_content = m.content;
	return true;
}

static void clear(struct rk_readings *r)
{
	for (unsigned i = 0; i < RK_NREADINGS; i++)
		r->v[i] = (double)NAN;
}

static void amdgpu_read(struct rk_monitor_source *s, struct rk_readings *ret)
{
	struct amdgpu *g = (struct amdgpu *)s;
	unsigned content;

	clear(ret);
	read_metrics(g, ret, &content);
	for (unsigned i = 0; i < RK_NREADINGS; i++)
		if (isnan(ret->v[i]) && g->files[i].fd >= 0)
			ret->v[i] = read_number(&g->files[i]);
	ret->v[RK_READ_POWER] = unless_zero(ret->v[RK_READ_POWER]);
	ret->v[RK_READ_VRAM_TOTAL] = g->vram_total;
	for (unsigned i = 0; i < RK_NREADINGS; i++)
		if (!(g->want >> i & 1))
			ret->v[i] = (double)NAN;
}

/* ---- open and close ---- */

static void amdgpu_close(struct rk_monitor_source *s)
{
	struct amdgpu *g = (struct amdgpu *)s;

	if (g->metrics >= 0)
		close(g->metrics);
	for (unsigned i = 0; i < RK_NREADINGS; i++)
		if (g->files[i].fd >= 0)
			close(g->files[i].fd);
	rk_free(g);
}

static int open_files(struct amdgpu *g, const char *device, struct rk_error *err)
{
	const unsigned in_table = ~(1u << RK_READ_VRAM_USED | 1u << RK_READ_VRAM_TOTAL);
	char hwmon[RK_SYSFS_PATH];
	struct rk_readings r;
	unsigned content = 0;
	uint64_t total;
	int rc = find_hwmon(device, hwmon, err);

	if (rc < 0)
		return rc;
	clear(&r);
	if (g->want >> RK_READ_VRAM_USED & 1) {
		take_file(&g->files[RK_READ_VRAM_USED], device, "mem_info_vram_used", 1, false);
		if (rk_sysfs_u64(device, "mem_info_vram_total", &total) && total)
			g->vram_total = (double)total;
	}
	if (g->want & in_table)
		g->metrics = open_at(device, "gpu_metrics");
	if (g->metrics >= 0 && !read_metrics(g, &r, &content)) {
		close(g->metrics);
		g->metrics = -1;
	}
	for (unsigned i = 0; i < RK_NREADINGS; i++)
		if ((g->want & in_table) >> i & 1 && (isnan(r.v[i]) || content < FILLED_CONTENT))
			open_instead(g, i, device, hwmon);
	return 0;
}

static int amdgpu_open(const char *root, const struct rk_gpu *gpu, unsigned want,
		       struct rk_monitor_source **ret, struct rk_error *err)
{
	struct amdgpu *g = rk_calloc(1, sizeof(*g));
	char device[RK_SYSFS_PATH];
	int rc = 0;

	if (!g)
		return rk_fail_nomem(err);
	g->base.ops = &rk_monitor_amdgpu;
	g->want = want;
	g->metrics = -1;
	g->vram_total = (double)NAN;
	for (unsigned i = 0; i < RK_NREADINGS; i++)
		g->files[i].fd = -1;
	if (gpu->card >= 0)
		rk_sysfs_path(device, root, "/sys/class/drm/card%d/device", gpu->card);
	else
		rk_sysfs_path(device, root, "/sys/bus/pci/devices/%s", gpu->pci);
	if (device[0])
		rc = open_files(g, device, err);
	if (rc < 0) {
		amdgpu_close(&g->base);
		return rc;
	}
	*ret = &g->base;
	return 0;
}

const struct rk_monitor_ops rk_monitor_amdgpu = {
	.name = "amdgpu",
	.takes = amdgpu_takes,
	.open = amdgpu_open,
	.read = amdgpu_read,
	.close = amdgpu_close,
};
