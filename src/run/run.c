/*
 * run.c - open, describe and close a run; control who may use it.
 *
 * Each API call holds its run and its lock from beginning to end. A call from another thread, or
 * from a progress callback, fails because the run is in use. Streams wait instead, because their
 * users do not know of each other. Calls that the library makes within a call are on the same
 * thread and succeed.
 */
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "rockit/kernels.h"
#include "run/energy.h"
#include "run/run.h"
#include "run/run_ranks.h"
#include "write/writer.h"

/* ---- locks ---- */

/* The callbacks that this thread is in, innermost first. */
static _Thread_local const struct rk_run_callback *callbacks;

void rk_run_call_back(struct rk_run_callback *c, const struct rk_run *run)
{
	*c = (struct rk_run_callback){ run, callbacks };
	callbacks = c;
}

void rk_run_called_back(const struct rk_run_callback *c)
{
	callbacks = c->outer;
}

static bool calls_back(const struct rk_run *run)
{
	const struct rk_run_callback *c = callbacks;

	while (c && c->run != run)
		c = c->outer;
	return c != NULL;
}

static int progress(void *arg, uint64_t done, uint64_t total)
{
	struct rk_run *run = arg;
	struct rk_run_callback c;
	int stop = 0;

	(void)total;
	pthread_mutex_lock(&run->guard.progress_lock);
	if (run->opt.progress) {
		rk_run_call_back(&c, run);
		/* progress of one file as a part of the whole */
		stop = run->opt.progress(run->opt.progress_arg, run->progress.before + done,
					 run->progress.total);
		rk_run_called_back(&c);
	}
	pthread_mutex_unlock(&run->guard.progress_lock);
	return stop;
}

static int make_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attr;
	int rc;

	if (pthread_mutexattr_init(&attr))
		return -1;
	rc = pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	if (!rc)
		rc = pthread_mutex_init(lock, &attr);
	pthread_mutexattr_destroy(&attr);
	return rc ? -1 : 0;
}

static int fail_callback(struct rk_error *err)
{
	return rk_fail(err, RK_E_USAGE, "a callback cannot use its own run");
}

int rk_run_enter(const struct rk_run *run, const char *fn, struct rk_error *err)
{
	struct rk_run *r = (struct rk_run *)run;
	int rc = 0;

	if (rk_handle_use(RK_HANDLE_RUN, run, fn, err) < 0)
		return RK_E_USAGE;
	if (calls_back(run))
		rc = fail_callback(err);
	else if (pthread_mutex_trylock(&r->guard.lock))
		rc = rk_fail(err, RK_E_USAGE, "%s: the run is in use by another thread", fn);
	if (rc < 0)
		rk_handle_drop(r);
	return rc;
}

/*
 * Runs the pending `late` work and unlocks. A caller that finds the lock held leaves its work to
 * the holder, so the holder checks again after unlocking.
 */
void rk_run_unlock(struct rk_run *run)
{
	struct rk_run_guard *g = &run->guard;
	struct rk_run_late *list, *next;
	bool more;

	rk_handle_keep(run);
	do {
		pthread_mutex_lock(&g->late_lock);
		list = g->late;
		g->late = NULL;
		pthread_mutex_unlock(&g->late_lock);
		for (struct rk_run_late *l = list; l; l = l->next)
			l->end(l->arg);
		pthread_mutex_unlock(&g->lock);
		for (; list; list = next) {
			next = list->next;
			list->done(list->arg);
		}
		pthread_mutex_lock(&g->late_lock);
		more = g->late != NULL;
		pthread_mutex_unlock(&g->late_lock);
	} while (more && !pthread_mutex_trylock(&g->lock));
	rk_handle_drop(run);
}

void rk_run_later(struct rk_run *run, struct rk_run_late *l)
{
	rk_handle_keep(run);
	pthread_mutex_lock(&run->guard.late_lock);
	l->next = run->guard.late;
	run->guard.late = l;
	pthread_mutex_unlock(&run->guard.late_lock);
	if (!calls_back(run) && !pthread_mutex_trylock(&run->guard.lock))
		rk_run_unlock(run);
	rk_handle_drop(run);
}

void rk_run_leave(const struct rk_run *run)
{
	struct rk_run *r = (struct rk_run *)run;

	rk_run_unlock(r);
	rk_handle_drop(r);
}

int rk_run_wait(struct rk_run *run, struct rk_error *err)
{
	if (calls_back(run))
		return fail_callback(err);
	pthread_mutex_lock(&run->guard.lock);
	return 0;
}

void rk_run_close(struct rk_run *run)
{
	if (!rk_handle_hold(RK_HANDLE_RUN, run))
		return;
	/* the owner may free data that the callback uses: wait for a callback that is running */
	pthread_mutex_lock(&run->guard.progress_lock);
	run->opt.progress = NULL;
	pthread_mutex_unlock(&run->guard.progress_lock);
	rk_handle_close(RK_HANDLE_RUN, run);
	rk_handle_drop(run);
}

/* ---- opening and closing ---- */

/* Memory grows with the number of threads: more would exceed the promised 64 MB. */
enum { MAX_DEFAULT_THREADS = 16 };

static unsigned cpus(void)
{
	cpu_set_t set;
	int n = 1;

	if (!sched_getaffinity(0, sizeof(set), &set))
		n = CPU_COUNT(&set);
	if (n > MAX_DEFAULT_THREADS)
		n = MAX_DEFAULT_THREADS;
	return n < 1 ? 1 : (unsigned)n;
}

static int make_context(struct rk_run *run, struct rk_error *err)
{
	struct rk_context *ctx = &run->ctx;
	int rc;

	if (run->opt.tmpdir) {
		run->tmpdir = rk_strdup(run->opt.tmpdir);
		if (!run->tmpdir)
			return rk_fail_nomem(err);
	}
	ctx->tmpdir = run->opt.tmpdir = run->tmpdir;
	ctx->mangled = run->opt.mangled;
	if ((rc = rk_strtab_new(RK_NAMES_MAX_BYTES, &ctx->names, err)) < 0 ||
	    (rc = rk_diag_new(&ctx->diag, err)) < 0 ||
	    (rc = rk_pool_new(run->opt.threads ? run->opt.threads : cpus(), &ctx->pool, err)) < 0)
		return rc;
	if (make_lock(&run->guard.lock))
		return rk_fail_nomem(err);
	if (make_lock(&run->guard.progress_lock)) {
		pthread_mutex_destroy(&run->guard.lock);
		return rk_fail_nomem(err);
	}
	pthread_mutex_init(&run->guard.late_lock, NULL);
	run->guard.made = true;
	if (run->opt.progress) {
		ctx->progress = progress;
		ctx->progress_arg = run;
	}
	return 0;
}

/* Called when nobody holds the run any more. */
static void destroy_run(void *p)
{
	struct rk_run *run = p;

	for (size_t i = 0; i < run->nfound; i++) {
		rk_reader_close(run->found[i].kept);
		rk_free(run->found[i].path);
		rk_free(run->found[i].group);
		rk_run_counters_forget(&run->found[i]);
		rk_free(run->found[i].program);
	}
	for (size_t i = 0; i < run->records.n; i++)
		rk_record_clear(&run->records.v[i]);
	rk_free(run->records.v);
	rk_run_places_free(run);
	for (size_t i = 0; run->reasons && i < run->nfound; i++)
		rk_free(run->reasons[i]);
	rk_free(run->reasons);
	rk_free(run->files);
	rk_free(run->found);
	if (run->counters.set)
		rk_counter_set_release(run->counters.set);
	rk_free(run->counters.set);
	rk_energy_free(run->energy.split);
	rk_free(run->energy.fields);
	rk_pool_free(run->ctx.pool);
	rk_diag_free(run->ctx.diag);
	rk_strtab_free(run->ctx.names);
	if (run->guard.made) {
		pthread_mutex_destroy(&run->guard.lock);
		pthread_mutex_destroy(&run->guard.progress_lock);
		pthread_mutex_destroy(&run->guard.late_lock);
	}
	rk_free(run->tmpdir);
	rk_free(run);
}

int rk_run_open(const char *const *paths, size_t npaths, const struct rk_run_options *opt,
		struct rk_run **ret, struct rk_error *err)
{
	struct rk_run *run;
	int rc;

	if (!ret || !rk_texts_there(paths, npaths))
		return rk_misuse(__func__, err);
	if (RK_CHECK_OPTIONS(opt, __func__, err) < 0)
		return RK_E_USAGE;
	run = rk_calloc(1, sizeof(*run));
	if (!run)
		return rk_fail_nomem(err);
	if (opt)
		run->opt = *opt;
	run->style = (struct rk_name_style){ run->opt.mangled, run->opt.truncate };
	if ((rc = make_context(run, err)) < 0 || (rc = rk_run_find(run, paths, npaths, err)) < 0 ||
	    (rc = rk_run_settle(run, err)) < 0 ||
	    (rc = rk_handle_open(RK_HANDLE_RUN, run, destroy_run, err)) < 0) {
		destroy_run(run);
		return rc;
	}
	*ret = run;
	return 0;
}

const char *rk_version(void)
{
	return ROCKIT_VERSION;
}

uint32_t rk_run_tables(const struct rk_run *run)
{
	uint32_t tables = 0;

	for (size_t i = 0; i < run->nfound; i++)
		tables |= run->found[i].used;
	return tables;
}

struct rk_context *rk_run_context(struct rk_run *run)
{
	return &run->ctx;
}

const char *rk_run_stats_of(const struct rk_run *run)
{
	const uint32_t about = RK_TABLE_BIT(RK_AGENTS) | RK_TABLE_BIT(RK_PROCESSES);
	const char *of = NULL;

	if ((rk_run_tables(run) & ~about) != RK_TABLE_BIT(RK_STATS))
		return NULL;
	for (size_t i = 0; i < run->nfound; i++) {
		const char *its = run->found[i].stats_of;

		if (!run->found[i].used)
			continue;
		if (!its || (of && strcmp(of, its)))
			return NULL;
		of = its;
	}
	/* the public API reports statistics of markers and allocations as statistics of calls */
	if (of && (!strcmp(of, "marker") || !strcmp(of, "memory")))
		return "api";
	return of;
}

void rk_run_tell_names(struct rk_run *run)
{
	if (rk_strtab_overflowed(run->ctx.names))
		rk_diag_most(
			run->ctx.diag, "name-table-full", "", 0, 1,
			"too many distinct names; the rest are grouped under '(name table full) "
			"#xyz'");
}

const struct rk_warning *rk_run_warnings(const struct rk_run *run, size_t *ret_n)
{
	const struct rk_warning *list;

	if (!ret_n)
		return NULL;
	*ret_n = 0;
	if (rk_run_enter(run, __func__, NULL) < 0)
		return NULL;
	list = rk_diag_list(run->ctx.diag, ret_n);
	rk_run_leave(run);
	return list;
}

int rk_run_copy_warnings(const struct rk_run *run, const struct rk_warning **ret, size_t *ret_n,
			 struct rk_error *err)
{
	size_t n;
	const struct rk_warning *list = rk_diag_list(run->ctx.diag, &n);
	struct rk_warning *copy = rk_calloc(n + 1, sizeof(*copy));

	if (!copy)
		return rk_fail_nomem(err);
	if (n)
		memcpy(copy, list, n * sizeof(*copy));
	*ret = copy;
	*ret_n = n;
	return 0;
}

const struct rk_run_file *rk_run_files(const struct rk_run *run, size_t *ret_n)
{
	const struct rk_run_file *files;

	if (!ret_n)
		return NULL;
	*ret_n = 0;
	if (rk_run_enter(run, __func__, NULL) < 0)
		return NULL;
	files = run->files;
	if (files)
		*ret_n = run->nfound;
	rk_run_leave(run);
	return files;
}

const char *rk_table_at(size_t i)
{
	return i < RK_NTABLES ? rk_table_name((enum rk_table)i) : NULL;
}

const char *rk_format_name(bool writer, size_t i, const char **ret_help)
{
	const char *name = NULL, *help = NULL;
	size_t n = 0;

	if (writer) {
		while (n < i && rk_writers[n])
			n++;
		if (rk_writers[n]) {
			name = rk_writers[n]->name;
			help = rk_writers[n]->help;
		}
	} else if (rk_reader_at(i)) {
		name = rk_reader_at(i)->name;
		help = rk_reader_at(i)->help;
	}
	if (name && ret_help)
		*ret_help = help;
	return name;
}

/* ---- iterating over kernels ---- */

static const unsigned wanted[] = {
	RK_K_NAME,        RK_K_START,   RK_K_DURATION, RK_K_GRID_X,  RK_K_GRID_Y,
	RK_K_GRID_Z,      RK_K_BLOCK_X, RK_K_BLOCK_Y,  RK_K_BLOCK_Z, RK_K_REGS,
	RK_K_SHARED_MEM,  RK_K_STREAM,  RK_K_QUEUE,    RK_K_DEVICE,  RK_K_DISPATCH,
	RK_K_CORRELATION, RK_K_PID,     RK_K_TID,      RK_K_RANK,    RK_K_BARRIER,
};

static struct rk_kernel kernel_of(const struct rk_run *run, const struct rk_batch *b, size_t i)
{
	const struct rk_column *barrier = &b->cols[RK_K_BARRIER];

	return (struct rk_kernel){
		.name = rk_strtab_borrow(run->ctx.names, rk_batch_id(b, RK_K_NAME, i), NULL),
		.start_ns = rk_batch_int(b, RK_K_START, i, INT64_MIN),
		.duration_ns = rk_batch_int(b, RK_K_DURATION, i, -1),
		.grid = { rk_batch_int(b, RK_K_GRID_X, i, -1), rk_batch_int(b, RK_K_GRID_Y, i, -1),
			  rk_batch_int(b, RK_K_GRID_Z, i, -1) },
		.block = { rk_batch_int(b, RK_K_BLOCK_X, i, -1),
			   rk_batch_int(b, RK_K_BLOCK_Y, i, -1),
			   rk_batch_int(b, RK_K_BLOCK_Z, i, -1) },
		.regs = rk_batch_int(b, RK_K_REGS, i, -1),
		.shared_mem = rk_batch_int(b, RK_K_SHARED_MEM, i, -1),
		.stream_id = rk_batch_int(b, RK_K_STREAM, i, -1),
		.queue_id = rk_batch_int(b, RK_K_QUEUE, i, -1),
		.device_id = rk_batch_int(b, RK_K_DEVICE, i, -1),
		.dispatch_id = rk_batch_int(b, RK_K_DISPATCH, i, -1),
		.correlation_id = rk_batch_int(b, RK_K_CORRELATION, i, -1),
		.pid = rk_batch_int(b, RK_K_PID, i, -1),
		.tid = rk_batch_int(b, RK_K_TID, i, -1),
		.rank = rk_batch_int(b, RK_K_RANK, i, -1),
		.barrier = rk_column_has(barrier, i) && ((const uint8_t *)barrier->data)[i],
	};
}

int rk_run_each_kernel(struct rk_run *run, int (*fn)(void *arg, const struct rk_kernel *kernel),
		       void *arg, struct rk_error *err)
{
	struct rk_source *rows = NULL;
	struct rk_run_callback c;
	const struct rk_batch *b;
	uint64_t want = 0;
	int rc;

	if (!fn)
		return rk_misuse(__func__, err);
	rc = rk_run_enter(run, __func__, err);
	if (rc < 0)
		return rc;
	rk_run_call_back(&c, run);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		want |= UINT64_C(1) << wanted[i];
	rc = rk_run_scan(run, RK_KERNELS, want, &rows, err);
	while (rc >= 0 && (rc = rk_source_next(rows, &b, err)) > 0) {
		for (size_t i = 0; rc >= 0 && i < b->nrows; i++) {
			struct rk_kernel k = kernel_of(run, b, i);

			if (fn(arg, &k))
				rc = rk_fail(err, RK_E_CANCELLED, "cancelled");
		}
	}
	rk_source_close(rows);
	rk_run_called_back(&c);
	rk_run_leave(run);
	return rc;
}
