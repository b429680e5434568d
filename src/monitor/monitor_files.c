/* monitor_files.c - samples on disk: CSV files that grow by a line at a time. */
#include "monitor/monitor_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/num.h"

/* madengine's names for the first two, which scripts know. */
const char *const rk_monitor_file_names[RK_MONITOR_FILES] = {
	"gpu_info_power_profiler_output.csv",
	"gpu_info_vram_profiler_output.csv",
	"gpu_info_samples.csv",
};

enum { POWER_FILE, VRAM_FILE, OTHER_FILE };

enum { PER_CENT = RK_NREADINGS }; /* of the memory, made of two readings */

/* A column for each GPU, in this order. MB are 2^20 bytes, as amd-smi's are. */
static const struct column {
	unsigned metric, file, reading;
	const char *name;
	double scale, step; /* step: what is written is a multiple of this; 0: exact */
} columns[] = {
	{ RK_MONITOR_POWER, POWER_FILE, RK_READ_POWER, "Power(Watt)", 1, 1e3 },
	{ RK_MONITOR_VRAM, VRAM_FILE, PER_CENT, "vram(%)", 1, 1e4 },
	{ RK_MONITOR_VRAM, VRAM_FILE, RK_READ_VRAM_USED, "vram_used(MB)", 1 / 1048576.0, 0 },
	{ RK_MONITOR_VRAM, OTHER_FILE, RK_READ_VRAM_TOTAL, "vram_total(MB)", 1 / 1048576.0, 0 },
	{ RK_MONITOR_BUSY, OTHER_FILE, RK_READ_BUSY, "busy(%)", 1, 1e3 },
	{ RK_MONITOR_CLOCK, OTHER_FILE, RK_READ_SCLK, "sclk(MHz)", 1, 1e3 },
	{ RK_MONITOR_CLOCK, OTHER_FILE, RK_READ_MCLK, "mclk(MHz)", 1, 1e3 },
	{ RK_MONITOR_TEMP, OTHER_FILE, RK_READ_TEMP, "temp(C)", 1, 1e3 },
	{ RK_MONITOR_ENERGY, OTHER_FILE, RK_READ_ENERGY, "energy(J)", 1, 1e6 },
};

enum { NCOLUMNS = sizeof(columns) / sizeof(columns[0]), MAX_LINE = 1 << 20 };

unsigned rk_monitor_readings(unsigned metrics)
{
	unsigned want = 0;

	for (unsigned c = 0; c < NCOLUMNS; c++)
		if (columns[c].metric & metrics && columns[c].reading < RK_NREADINGS)
			want |= 1u << columns[c].reading;
	return want;
}

unsigned rk_monitor_metrics_of(const struct rk_readings *r)
{
	unsigned gives = 0;

	for (unsigned c = 0; c < NCOLUMNS; c++)
		if (columns[c].reading < RK_NREADINGS && !isnan(r->v[columns[c].reading]))
			gives |= columns[c].metric;
	return gives;
}

static int write_line(struct rk_monitor_files *f, unsigned file, struct rk_error *err)
{
	const uint8_t *p = f->line.data;
	size_t left = f->line.len;

	if (f->line.bad)
		return rk_fail_nomem(err);
	while (left) {
		ssize_t n = write(f->fd[file], p, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return rk_fail_errno(err, errno, "cannot write '%s'", f->path[file]);
		p += n;
		left -= (size_t)n;
	}
	return 0;
}

static int put_header(struct rk_monitor_files *f, unsigned file, struct rk_error *err)
{
	rk_bytes_clear(&f->line);
	rk_bytes_puts(&f->line, "timestamp_ns,time");
	for (size_t g = 0; g < f->ngpus; g++)
		for (unsigned c = 0; c < NCOLUMNS; c++)
			if (f->columns[file] >> c & 1)
				rk_bytes_printf(&f->line, ",%s GPU%d", columns[c].name, f->gpus[g]);
	rk_bytes_puts(&f->line, "\n");
	return write_line(f, file, err);
}

static int make_file(struct rk_monitor_files *f, unsigned file, const char *dir, bool overwrite,
		     struct rk_error *err)
{
	int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_EXCL;
	int n = snprintf(f->path[file], sizeof(f->path[file]), "%s/%s", dir,
			 rk_monitor_file_names[file]);

	if (n < 0 || (size_t)n >= sizeof(f->path[file]))
		return rk_fail(err, RK_E_LIMIT, "the path of '%s' is too long",
			       rk_monitor_file_names[file]);
	/* Taken away and not emptied: a link in the directory leads to something of others. */
	if (overwrite && unlink(f->path[file]) && errno != ENOENT)
		return rk_fail_errno(err, errno, "cannot replace '%s'", f->path[file]);
	f->fd[file] = open(f->path[file], flags, 0666);
	if (f->fd[file] < 0 && errno == EEXIST)
		return rk_fail(err, RK_E_IO, "'%s' exists; take another directory or add '--force'",
			       f->path[file]);
	if (f->fd[file] < 0)
		return rk_fail_errno(err, errno, "cannot create '%s'", f->path[file]);
	return 0;
}

static void drop(struct rk_monitor_files *f)
{
	for (unsigned i = 0; i < RK_MONITOR_FILES; i++)
		if (f->columns[i])
			unlink(f->path[i]);
	rk_monitor_files_close(f);
}

int rk_monitor_files_open(struct rk_monitor_files *f, const char *dir, bool overwrite,
			  unsigned metrics, const int *gpus, size_t ngpus, struct rk_error *err)
{
	struct rk_monitor_files fresh = { .gpus = gpus, .ngpus = ngpus, .second = INT64_MIN };
	int rc = 0;

	rk_bytes_init(&fresh.line, MAX_LINE);
	for (unsigned i = 0; rc == 0 && i < RK_MONITOR_FILES; i++) {
		unsigned mine = 0;

		for (unsigned c = 0; c < NCOLUMNS; c++)
			if (columns[c].file == i && columns[c].metric & metrics)
				mine |= 1u << c;
		if (mine)
			rc = make_file(&fresh, i, dir, overwrite, err);
		if (rc == 0 && mine) {
			fresh.columns[i] = mine;
			rc = put_header(&fresh, i, err);
		}
	}
	if (rc < 0)
		drop(&fresh);
	else
		*f = fresh;
	return rc;
}

/* 2026-11-15T03:51:06.123456Z; the date is made once a second. */
static void put_time(struct rk_monitor_files *f, const struct rk_monitor_when *when)
{
	int64_t second = when->real_ns / 1000000000;
	struct tm tm;
	time_t t = (time_t)second;

	if (second != f->second && gmtime_r(&t, &tm)) {
		strftime(f->date, sizeof(f->date), "%Y-%m-%dT%H:%M:%S", &tm);
		f->second = second;
	}
	rk_bytes_printf(&f->line, "%" PRId64 ",%s.%06" PRId64 "Z", when->boot_ns, f->date,
			when->real_ns % 1000000000 / 1000);
}

static double value_of(const struct column *c, const struct rk_readings *r)
{
	if (c->reading == PER_CENT)
		return 100 * r->v[RK_READ_VRAM_USED] / r->v[RK_READ_VRAM_TOTAL];
	return r->v[c->reading] * c->scale;
}

/* An empty cell for what was not given: 0 would be a measurement. */
static void put_value(struct rk_monitor_files *f, const struct column *c,
		      const struct rk_readings *r)
{
	double v = value_of(c, r);
	char text[32];

	rk_bytes_put_u8(&f->line, ',');
	if (!isfinite(v))
		return;
	if (c->step > 0)
		v = round(v * c->step) / c->step;
	rk_bytes_put(&f->line, text, rk_num_put_f64(text, v));
}

int rk_monitor_files_put(struct rk_monitor_files *f, const struct rk_monitor_when *when,
			 const struct rk_readings *all, struct rk_error *err)
{
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < RK_MONITOR_FILES; i++) {
		if (!f->columns[i])
			continue;
		rk_bytes_clear(&f->line);
		put_time(f, when);
		for (size_t g = 0; g < f->ngpus; g++)
			for (unsigned c = 0; c < NCOLUMNS; c++)
				if (f->columns[i] >> c & 1)
					put_value(f, &columns[c], &all[g]);
		rk_bytes_puts(&f->line, "\n");
		rc = write_line(f, i, err);
	}
	return rc;
}

void rk_monitor_files_close(struct rk_monitor_files *f)
{
	for (unsigned i = 0; i < RK_MONITOR_FILES; i++)
		if (f->columns[i])
			close(f->fd[i]);
	rk_bytes_release(&f->line);
	memset(f->columns, 0, sizeof(f->columns));
}
