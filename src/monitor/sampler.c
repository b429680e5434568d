/* sampler.c - a thread that samples the GPUs at a fixed interval and appends lines to CSV files. */
#include "monitor/sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/handle.h"
#include "base/json_out.h"
#include "base/num.h"
#include "base/words.h"
#include "rockit/gpus.h"
#include "rockit/monitor.h"

/* ---- the names of what is sampled ---- */

static const char *const metric_names[] = {
	"power", "vram", "busy", "clock", "temp", "energy", "all", NULL,
};

static const struct rk_words metric_words = { .what = "metric", .names = metric_names, .n = 6 };

_Static_assert(RK_MONITOR_ALL == (1u << 6) - 1, "a word for each bit");

const char *rk_monitor_word(unsigned i)
{
	return rk_words_at(&metric_words, i);
}

int rk_monitor_parse(const char *text, unsigned *ret, struct rk_error *err)
{
	if (!text || !ret)
		return rk_misuse(__func__, err);
	return rk_words_parse(&metric_words, text, ret, err);
}

/* ---- the files ---- */

/* The first two names are madengine's: scripts expect them. */
const char *const rk_monitor_file_names[RK_MONITOR_FILES] = {
	"gpu_info_power_profiler_output.csv",
	"gpu_info_vram_profiler_output.csv",
	"gpu_info_samples.csv",
};

enum { POWER_FILE, VRAM_FILE, OTHER_FILE };

enum { PER_CENT = RK_NREADINGS }; /* of the memory, computed from two readings */

/* The columns of each GPU, in this order. MB are 2^20 bytes, as in amd-smi. */
static const struct column {
	unsigned metric, file, reading;
	const char *name;
	double scale, step; /* values are rounded to 1 / step; 0: exact */
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

/* The CSV files; each grows by one line at a time. */
struct files {
	int fd[RK_MONITOR_FILES]; /* valid if `columns` is not 0 */
	unsigned columns[RK_MONITOR_FILES];
	char path[RK_MONITOR_FILES][1024];
	const int *gpus; /* the number of each GPU, borrowed */
	size_t ngpus;
	struct rk_bytes line;
	int64_t second; /* whose text is in `date` */
	char date[24];
};

/* The metrics that the readings provide. */
static unsigned metrics_of(const struct rk_readings *r)
{
	unsigned gives = 0;

	for (unsigned c = 0; c < NCOLUMNS; c++)
		if (columns[c].reading < RK_NREADINGS && !isnan(r->v[columns[c].reading]))
			gives |= columns[c].metric;
	return gives;
}

static int write_line(struct files *f, unsigned file, struct rk_error *err)
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

static int make_file(struct files *f, unsigned file, const char *dir, bool overwrite,
		     struct rk_error *err)
{
	int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_EXCL;
	int n = snprintf(f->path[file], sizeof(f->path[file]), "%s/%s", dir,
			 rk_monitor_file_names[file]);

	if (n < 0 || (size_t)n >= sizeof(f->path[file]))
		return rk_fail(err, RK_E_LIMIT, "the path of '%s' is too long",
			       rk_monitor_file_names[file]);
	/* Remove it, do not truncate it: it may be a link to another file. */
	if (overwrite && unlink(f->path[file]) && errno != ENOENT)
		return rk_fail_errno(err, errno, "cannot replace '%s'", f->path[file]);
	f->fd[file] = open(f->path[file], flags, 0666);
	if (f->fd[file] < 0 && errno == EEXIST)
		return rk_fail(err, RK_E_IO,
			       "'%s' exists; choose another directory or add '--force'",
			       f->path[file]);
	if (f->fd[file] < 0)
		return rk_fail_errno(err, errno, "cannot create '%s'", f->path[file]);
	return 0;
}

static void close_files(struct files *f)
{
	for (unsigned i = 0; i < RK_MONITOR_FILES; i++)
		if (f->columns[i])
			close(f->fd[i]);
	rk_bytes_release(&f->line);
	memset(f->columns, 0, sizeof(f->columns));
}

/*
 * Makes the files that have a column for one of the metrics, with their headers. A file that exists
 * is refused unless `overwrite`. On failure we remove those that we made.
 */
static int open_files(struct files *f, const char *dir, bool overwrite, unsigned metrics,
		      const int *gpus, size_t ngpus, struct rk_error *err)
{
	struct files fresh = { .gpus = gpus, .ngpus = ngpus, .second = INT64_MIN };
	int rc;

	rk_bytes_init(&fresh.line, MAX_LINE);
	for (unsigned i = 0; i < RK_MONITOR_FILES; i++) {
		unsigned mine = 0;

		for (unsigned c = 0; c < NCOLUMNS; c++)
			if (columns[c].file == i && columns[c].metric & metrics)
				mine |= 1u << c;
		if (!mine)
			continue;
		rc = make_file(&fresh, i, dir, overwrite, err);
		if (rc < 0)
			goto fail;
		fresh.columns[i] = mine;
		rk_bytes_clear(&fresh.line);
		rk_bytes_puts(&fresh.line, "timestamp_ns,time");
		for (size_t g = 0; g < ngpus; g++)
			for (unsigned c = 0; c < NCOLUMNS; c++)
				if (mine >> c & 1)
					rk_bytes_printf(&fresh.line, ",%s GPU%d", columns[c].name,
							gpus[g]);
		rk_bytes_puts(&fresh.line, "\n");
		rc = write_line(&fresh, i, err);
		if (rc < 0)
			goto fail;
	}
	*f = fresh;
	return 0;
fail:
	for (unsigned i = 0; i < RK_MONITOR_FILES; i++)
		if (fresh.columns[i])
			unlink(fresh.path[i]);
	close_files(&fresh);
	return rc;
}

/* Leaves the cell empty if the value is unknown: 0 would be a measurement. */
static void put_value(struct files *f, const struct column *c, const struct rk_readings *r)
{
	char text[32];
	double v;

	if (c->reading == PER_CENT)
		v = 100 * r->v[RK_READ_VRAM_USED] / r->v[RK_READ_VRAM_TOTAL];
	else
		v = r->v[c->reading] * c->scale;
	rk_bytes_put_u8(&f->line, ',');
	if (!isfinite(v))
		return;
	if (c->step > 0)
		v = round(v * c->step) / c->step;
	rk_bytes_put(&f->line, text, rk_num_put_f64(text, v));
}

/*
 * Appends a line to each file, in one write each: a sample at `boot_ns` (CLOCK_BOOTTIME), which is
 * `real_ns` of the time of day. `all` has the readings of each GPU.
 */
static int put_samples(struct files *f, int64_t boot_ns, int64_t real_ns,
		       const struct rk_readings *all, struct rk_error *err)
{
	time_t second = (time_t)(real_ns / 1000000000);
	struct tm tm;

	/* The date is made once a second. */
	if (second != f->second && gmtime_r(&second, &tm)) {
		strftime(f->date, sizeof(f->date), "%Y-%m-%dT%H:%M:%S", &tm);
		f->second = second;
	}
	for (unsigned i = 0; i < RK_MONITOR_FILES; i++) {
		int rc;

		if (!f->columns[i])
			continue;
		rk_bytes_clear(&f->line);
		rk_bytes_printf(&f->line, "%" PRId64 ",%s.%06" PRId64 "Z", boot_ns, f->date,
				real_ns % 1000000000 / 1000);
		for (size_t g = 0; g < f->ngpus; g++)
			for (unsigned c = 0; c < NCOLUMNS; c++)
				if (f->columns[i] >> c & 1)
					put_value(f, &columns[c], &all[g]);
		rk_bytes_puts(&f->line, "\n");
		rc = write_line(f, i, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static const struct rk_monitor_ops *const kinds[] = { &rk_monitor_amdgpu, &rk_monitor_nvml, NULL };

struct rk_monitor {
	struct rk_monitor_source **sources;
	struct rk_readings *readings; /* of each source, from the last sample */
	int *gpus;                    /* the number of each in the list of GPUs */
	size_t n;
	unsigned asked;
	int64_t interval_ns;
	struct files files;
	struct rk_monitor_result result; /* belongs to the thread until it is joined */
	struct rk_error err;
	int rc;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool stop, ended; /* under lock */
};

/* ---- the thread ---- */

static void take_sample(struct rk_monitor *m)
{
	/* The time of day is read between two readings of the trace's clock: in their middle. */
	int64_t before = rk_clock_ns(CLOCK_BOOTTIME), real = rk_clock_ns(CLOCK_REALTIME);
	int64_t took = rk_clock_ns(CLOCK_BOOTTIME) - before;

	m->result.clock_error_ns = rk_max_i64(m->result.clock_error_ns, took);
	for (size_t i = 0; i < m->n; i++) {
		m->sources[i]->ops->read(m->sources[i], &m->readings[i]);
		m->result.metrics |= metrics_of(&m->readings[i]) & m->asked;
	}
	m->rc = put_samples(&m->files, before + took / 2, real, m->readings, &m->err);
	m->result.samples += m->rc == 0;
}

/* Waits until `deadline` on the steady clock. True if the monitor was stopped. */
static bool wait_until(struct rk_monitor *m, int64_t deadline)
{
	struct timespec t = { .tv_sec = (time_t)(deadline / 1000000000),
			      .tv_nsec = (long)(deadline % 1000000000) };
	bool stop;

	pthread_mutex_lock(&m->lock);
	while (!m->stop && pthread_cond_timedwait(&m->wake, &m->lock, &t) == 0)
		;
	stop = m->stop;
	pthread_mutex_unlock(&m->lock);
	return stop;
}

/* Deadlines are multiples of the interval from the first, so delays do not add up. */
static void *sample(void *arg)
{
	struct rk_monitor *m = arg;
	int64_t cpu = rk_clock_ns(CLOCK_THREAD_CPUTIME_ID), start = rk_clock_steady_ns();
	int64_t deadline = start, late, wall;
	bool stop = false;

	/* The last sample is taken at the end, so that even a short program has two. */
	for (;;) {
		take_sample(m);
		if (stop || m->rc < 0)
			break;
		deadline += m->interval_ns;
		late = rk_clock_steady_ns() - deadline;
		if (late > 0) {
			m->result.missed += 1 + (uint64_t)(late / m->interval_ns);
			deadline += (1 + late / m->interval_ns) * m->interval_ns;
		}
		stop = wait_until(m, deadline);
	}
	cpu = rk_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	wall = rk_clock_steady_ns() - start;
	m->result.cpu_percent = wall > 0 ? 100.0 * (double)cpu / (double)wall : 0;
	pthread_mutex_lock(&m->lock);
	m->ended = true;
	pthread_mutex_unlock(&m->lock);
	return NULL;
}

/* ---- start ---- */

/* "no GPU reports power, energy" for bits; "" for none. */
static void put_lack(char *out, size_t size, unsigned lacking)
{
	const char *word, *before = "no GPU reports ";
	size_t len = 0;

	out[0] = '\0';
	for (unsigned i = 0; (word = rk_monitor_word(i)) != NULL; i++) {
		if (!(lacking >> i & 1))
			continue;
		len += (size_t)snprintf(out + len, size - len, "%s%s", before, word);
		before = ", ";
	}
}

/* Adds the GPU if it reports any of the requested metrics. */
static int add_gpu(struct rk_monitor *m, const char *root, const struct rk_gpu *gpu,
		   struct rk_error *err)
{
	const struct rk_monitor_ops *const *k = kinds, *kind;
	struct rk_monitor_source *s = NULL;
	unsigned want = 0, gives;
	int rc;

	while (*k && !(*k)->takes(gpu))
		k++;
	kind = *k;
	if (!kind)
		return 0;
	for (unsigned c = 0; c < NCOLUMNS; c++)
		if (columns[c].metric & m->asked && columns[c].reading < RK_NREADINGS)
			want |= 1u << columns[c].reading;
	rc = kind->open(root, gpu, want, &s, err);
	if (rc < 0)
		return rc;
	kind->read(s, &m->readings[m->n]);
	gives = metrics_of(&m->readings[m->n]) & m->asked;
	if (!gives) {
		kind->close(s);
		return 0;
	}
	m->result.metrics |= gives;
	m->sources[m->n] = s;
	m->gpus[m->n++] = gpu->index;
	return 0;
}

static int find_gpus(struct rk_monitor *m, const char *root, struct rk_error *err)
{
	struct rk_gpus gpus = { 0 };
	int rc = rk_gpus_find(root, &gpus, err);

	if (rc < 0)
		return rc;
	if (!gpus.n)
		return rk_fail(err, RK_E_UNSUPPORTED, "no GPU found; see 'rockit doctor'");
	m->sources = rk_calloc(gpus.n, sizeof(struct rk_monitor_source *));
	m->readings = rk_calloc(gpus.n, sizeof(*m->readings));
	m->gpus = rk_calloc(gpus.n, sizeof(*m->gpus));
	if (!m->sources || !m->readings || !m->gpus) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	for (size_t i = 0; i < gpus.n; i++) {
		/* The partitions of a package are measured as one. */
		if (i > 0 && strcmp(gpus.gpus[i].pci, gpus.gpus[i - 1].pci) == 0)
			continue;
		rc = add_gpu(m, root, &gpus.gpus[i], err);
		if (rc < 0)
			goto out;
	}
	if (!m->n) {
		put_lack(m->result.note, sizeof(m->result.note), m->asked);
		rc = rk_fail(err, RK_E_UNSUPPORTED,
			     "%s (%zu found; AMD GPUs are sampled through their driver amdgpu, "
			     "NVIDIA's through NVML)",
			     m->result.note, gpus.n);
	}
out:
	rk_gpus_release(&gpus);
	return rc;
}

static void free_monitor(struct rk_monitor *m)
{
	for (size_t i = 0; i < m->n; i++)
		m->sources[i]->ops->close(m->sources[i]);
	close_files(&m->files);
	rk_free(m->sources);
	rk_free(m->readings);
	rk_free(m->gpus);
	rk_free(m);
}

/* Our thread blocks all signals: a handler that ran in it could end a write early. */
static int start_thread(struct rk_monitor *m, struct rk_error *err)
{
	pthread_condattr_t steady;
	sigset_t all, old;
	int rc;

	pthread_mutex_init(&m->lock, NULL);
	pthread_condattr_init(&steady);
	pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
	pthread_cond_init(&m->wake, &steady);
	pthread_condattr_destroy(&steady);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&m->thread, NULL, sample, m);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc == 0)
		return 0;
	pthread_cond_destroy(&m->wake);
	pthread_mutex_destroy(&m->lock);
	return rk_fail_errno(err, rc, "cannot start a thread");
}

int rk_monitor_start(const struct rk_monitor_options *opt, struct rk_monitor **ret,
		     struct rk_error *err)
{
	struct rk_monitor *m;
	unsigned interval;
	int rc;

	if (!opt || !opt->dir || !ret)
		return rk_misuse(__func__, err);
	if (RK_CHECK_OPTIONS(opt, __func__, err) < 0)
		return RK_E_USAGE;
	m = rk_calloc(1, sizeof(*m));
	if (!m)
		return rk_fail_nomem(err);
	interval = opt->interval_ms ? opt->interval_ms : RK_MONITOR_INTERVAL_MS;
	m->interval_ns = (int64_t)interval * 1000000;
	m->asked = opt->metrics & RK_MONITOR_ALL;
	/* only rk_monitor_stop ends it */
	rc = rk_handle_open(RK_HANDLE_MONITOR, m, NULL, err);
	if (rc < 0)
		goto out;
	rc = find_gpus(m, opt->root, err);
	if (rc < 0)
		goto out;
	m->result.gpus = (unsigned)m->n;
	rc = open_files(&m->files, opt->dir, opt->overwrite, m->result.metrics, m->gpus, m->n, err);
	if (rc < 0)
		goto out;
	rc = start_thread(m, err);
	if (rc < 0)
		goto out;
	*ret = m;
	return 0;
out:
	rk_handle_take(RK_HANDLE_MONITOR, m);
	free_monitor(m);
	return rc;
}

/* ---- stop ---- */

bool rk_monitor_alive(struct rk_monitor *m)
{
	bool ended;

	if (!rk_handle_hold(RK_HANDLE_MONITOR, m))
		return false;
	pthread_mutex_lock(&m->lock);
	ended = m->ended;
	pthread_mutex_unlock(&m->lock);
	rk_handle_drop(m);
	return !ended;
}

int rk_monitor_stop(struct rk_monitor *m, struct rk_monitor_result *ret, struct rk_error *err)
{
	const size_t size = sizeof(m->result.note);
	size_t len;
	char *note;
	int rc;

	if (!rk_handle_take(RK_HANDLE_MONITOR, m))
		return rk_fail(err, RK_E_USAGE, "%s: the monitor is NULL or already stopped",
			       __func__);
	pthread_mutex_lock(&m->lock);
	m->stop = true;
	pthread_cond_signal(&m->wake);
	pthread_mutex_unlock(&m->lock);
	pthread_join(m->thread, NULL);
	pthread_cond_destroy(&m->wake);
	pthread_mutex_destroy(&m->lock);

	note = m->result.note;
	put_lack(note, size, m->asked & ~m->result.metrics);
	len = strlen(note);
	for (size_t i = 0; i < m->n && len < size; i++) {
		const struct rk_monitor_source *s = m->sources[i];

		if (s->ops->lost && s->ops->lost(s))
			len += (size_t)snprintf(note + len, size - len,
						"%sGPU %d was lost (see 'dmesg' for Xid): its "
						"later readings are missing",
						len ? "; " : "", m->gpus[i]);
	}
	if (ret)
		*ret = m->result;
	rc = m->rc;
	if (rc < 0 && err && !err->code)
		*err = m->err;
	free_monitor(m);
	return rc;
}

/* ---- the result as JSON ---- */

int rk_monitor_json(const struct rk_monitor_end *end, const char *dir, bool program,
		    char **ret_text, struct rk_error *err)
{
	const struct rk_monitor_result *r;
	struct rk_json_out j;
	struct rk_bytes out;

	if (!end || !ret_text)
		return rk_misuse(__func__, err);
	r = &end->samples;
	rk_bytes_init(&out, 1 << 16);
	rk_json_begin(&j, &out);
	rk_json_int(&j, "schema", 1);
	rk_json_text(&j, "dir", dir);
	rk_json_uint(&j, "samples", r->samples);
	rk_json_uint(&j, "missed", r->missed);
	rk_json_uint(&j, "gpus", r->gpus);
	rk_json_array_flat(&j, "metrics");
	for (unsigned i = 0; rk_monitor_word(i); i++)
		if (r->metrics >> i & 1)
			rk_json_text(&j, NULL, rk_monitor_word(i));
	rk_json_close(&j);
	rk_json_real(&j, "cpu_percent", r->cpu_percent);
	rk_json_int(&j, "clock_error_ns", r->clock_error_ns);
	rk_json_text(&j, "note", r->note);
	rk_json_text(&j, "error", end->trouble.message);
	if (program)
		rk_json_int(&j, "status", end->status);
	else
		rk_json_null(&j, "status");
	rk_json_end(&j);
	return rk_bytes_give(&out, ret_text, NULL, err);
}
