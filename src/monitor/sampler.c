/* sampler.c - a thread that samples the GPUs at even moments and appends what it saw to files. */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/handle.h"
#include "monitor/monitor_files.h"
#include "rockit/gpus.h"

const struct rk_monitor_ops *const rk_monitor_kinds[] = { &rk_monitor_amdgpu, &rk_monitor_nvml,
							  NULL };

struct rk_monitor {
	struct rk_monitor_source **sources;
	struct rk_readings *readings; /* of each source, from the last sample */
	int *gpus;                    /* and its number in the list of GPUs */
	size_t n;
	unsigned asked;
	int64_t interval_ns;
	struct rk_monitor_files files;
	struct rk_monitor_result result; /* the thread's, until it is joined */
	struct rk_error err;
	int rc;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool stop, ended; /* under lock */
};

/* ---- the thread ---- */

/* The time of day is read between two readings of the trace's clock, and belongs to their middle. */
static struct rk_monitor_when read_clocks(struct rk_monitor_result *r)
{
	int64_t before = rk_clock_ns(CLOCK_BOOTTIME), real = rk_clock_ns(CLOCK_REALTIME);
	int64_t after = rk_clock_ns(CLOCK_BOOTTIME);

	if (after - before > r->clock_error_ns)
		r->clock_error_ns = after - before;
	return (struct rk_monitor_when){ .boot_ns = before + (after - before) / 2,
					 .real_ns = real };
}

static void take_sample(struct rk_monitor *m)
{
	struct rk_monitor_when when = read_clocks(&m->result);

	for (size_t i = 0; i < m->n; i++) {
		m->sources[i]->ops->read(m->sources[i], &m->readings[i]);
		m->result.metrics |= rk_monitor_metrics_of(&m->readings[i]) & m->asked;
	}
	m->rc = rk_monitor_files_put(&m->files, &when, m->readings, &m->err);
	m->result.samples += m->rc == 0;
}

/* Until `deadline` on the steady clock; true when it is time to end. */
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

/* Deadlines are multiples of the interval from the first: the time a sample takes adds nothing. */
static void *sample(void *arg)
{
	struct rk_monitor *m = arg;
	int64_t cpu = rk_clock_ns(CLOCK_THREAD_CPUTIME_ID), start = rk_clock_steady_ns();
	int64_t deadline = start, late, wall;
	bool stop = false;

	/* The last sample is taken at the end, so that a short program has two at least. */
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

static const struct rk_monitor_ops *kind_of(const struct rk_gpu *gpu)
{
	for (const struct rk_monitor_ops *const *k = rk_monitor_kinds; *k; k++)
		if ((*k)->takes(gpu))
			return *k;
	return NULL;
}

/* "no GPU gives power, energy", of bits; "" for none. */
static void put_lack(char *out, size_t size, unsigned lacking)
{
	static const char before[] = "no GPU gives ";
	size_t len = sizeof(before) - 1;
	const char *word;

	snprintf(out, size, "%s", lacking ? before : "");
	for (unsigned i = 0; (word = rk_monitor_word(i)) != NULL; i++)
		if (lacking >> i & 1)
			len += (size_t)snprintf(out + len, size - len, "%s%s",
						len >= sizeof(before) ? ", " : "", word);
}

/* Adds the GPU if it gives any of what was asked. */
static int add_gpu(struct rk_monitor *m, const char *root, const struct rk_gpu *gpu,
		   struct rk_error *err)
{
	const struct rk_monitor_ops *kind = kind_of(gpu);
	struct rk_monitor_source *s = NULL;
	unsigned gives;
	int rc = kind ? kind->open(root, gpu, rk_monitor_readings(m->asked), &s, err) : 0;

	if (rc < 0 || !kind)
		return rc;
	kind->read(s, &m->readings[m->n]);
	gives = rk_monitor_metrics_of(&m->readings[m->n]) & m->asked;
	if (!gives) {
		kind->close(s);
		return 0;
	}
	m->result.metrics |= gives;
	m->sources[m->n] = s;
	m->gpus[m->n++] = gpu->index;
	return 0;
}

static int add_gpus(struct rk_monitor *m, const char *root, const struct rk_gpus *gpus,
		    struct rk_error *err)
{
	int rc = 0;

	m->sources = rk_calloc(gpus->n, sizeof(struct rk_monitor_source *));
	m->readings = rk_calloc(gpus->n, sizeof(*m->readings));
	m->gpus = rk_calloc(gpus->n, sizeof(*m->gpus));
	if (!m->sources || !m->readings || !m->gpus)
		return rk_fail_nomem(err);
	for (size_t i = 0; rc == 0 && i < gpus->n; i++)
		/* The partitions of a package are measured as one. */
		if (i == 0 || strcmp(gpus->gpus[i].pci, gpus->gpus[i - 1].pci) != 0)
			rc = add_gpu(m, root, &gpus->gpus[i], err);
	if (rc < 0 || m->n)
		return rc;
	put_lack(m->result.note, sizeof(m->result.note), m->asked);
	return rk_fail(err, RK_E_UNSUPPORTED,
		       "%s (%zu found; AMD GPUs are sampled through their driver amdgpu, NVIDIA's "
		       "through NVML)",
		       m->result.note, gpus->n);
}

static int find_gpus(struct rk_monitor *m, const char *root, struct rk_error *err)
{
	struct rk_gpus gpus = { 0 };
	int rc = rk_gpus_find(root, &gpus, err);

	if (rc == 0 && !gpus.n)
		rc = rk_fail(err, RK_E_UNSUPPORTED, "no GPU found; see 'rockit doctor'");
	if (rc == 0)
		rc = add_gpus(m, root, &gpus, err);
	rk_gpus_release(&gpus);
	return rc;
}

static void free_monitor(struct rk_monitor *m)
{
	for (size_t i = 0; i < m->n; i++)
		m->sources[i]->ops->close(m->sources[i]);
	rk_monitor_files_close(&m->files);
	rk_free(m->sources);
	rk_free(m->readings);
	rk_free(m->gpus);
	rk_free(m);
}

/* Signals are for the threads of the program: one that ran in ours could end a write early. */
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
	if (rc == 0)
		rc = find_gpus(m, opt->root, err);
	if (rc == 0) {
		m->result.gpus = (unsigned)m->n;
		rc = rk_monitor_files_open(&m->files, opt->dir, opt->overwrite, m->result.metrics,
					   m->gpus, m->n, err);
	}
	if (rc == 0)
		rc = start_thread(m, err);
	if (rc < 0) {
		rk_handle_take(RK_HANDLE_MONITOR, m);
		free_monitor(m);
		return rc;
	}
	*ret = m;
	return 0;
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

/* "; GPU 1 was lost: ...", behind what else is to be noted. */
static void put_lost(struct rk_monitor *m)
{
	char *note = m->result.note;
	size_t size = sizeof(m->result.note), len = strlen(note);

	for (size_t i = 0; i < m->n && len < size; i++) {
		const struct rk_monitor_source *s = m->sources[i];

		if (s->ops->lost && s->ops->lost(s))
			len += (size_t)snprintf(
				note + len, size - len,
				"%sGPU %d was lost (see 'dmesg' for Xid): its later "
				"readings are missing",
				len ? "; " : "", m->gpus[i]);
	}
}

int rk_monitor_stop(struct rk_monitor *m, struct rk_monitor_result *ret, struct rk_error *err)
{
	int rc;

	if (!rk_handle_take(RK_HANDLE_MONITOR, m))
		return rk_fail(err, RK_E_USAGE, "%s: no monitor: it is NULL or was stopped",
			       __func__);
	pthread_mutex_lock(&m->lock);
	m->stop = true;
	pthread_cond_signal(&m->wake);
	pthread_mutex_unlock(&m->lock);
	pthread_join(m->thread, NULL);
	pthread_cond_destroy(&m->wake);
	pthread_mutex_destroy(&m->lock);
	put_lack(m->result.note, sizeof(m->result.note), m->asked & ~m->result.metrics);
	put_lost(m);
	if (ret)
		*ret = m->result;
	rc = m->rc;
	if (rc < 0 && err && !err->code)
		*err = m->err;
	free_monitor(m);
	return rc;
}
