/* doctor.c - see rockit/doctor.h: a look at everything, and what comes of it. */
#include "rockit/doctor.h"

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "doctor/doctor_impl.h"
#include "tool/detect.h"

static const char *first_set(const char *a, const char *b, const char *otherwise)
{
	return a && a[0] ? a : b && b[0] ? b : otherwise;
}

static void prepare(struct rk_look *l, const struct rk_doctor_options *opt)
{
	l->root = first_set(opt->root, NULL, "");
	l->env = opt->env ? opt->env : environ;
	l->path = opt->path ? opt->path : first_set(rk_look_env(l, "PATH"), NULL, "");
	l->tmpdir = first_set(opt->tmpdir, rk_look_env(l, "TMPDIR"), "/tmp");
}

/* The order is that of the checks: what a later one needs was found by an earlier one. */
static void look_around(struct rk_look *l)
{
	rk_look_identify(l);
	rk_look_host(l);
	rk_look_access(l);
	rk_look_gpus(l);
	rk_look_nvidia(l);
	rk_look_cuda(l);
	rk_look_opencl(l);
	rk_look_environment(l);
	rk_look_tools(l);
	rk_look_hazards(l);
	rk_look_verdict(l);
}

static int fill(struct rk_look *l, struct rk_error *err)
{
	const struct rk_detect_options where = { .root = l->root, .path = l->path };
	int rc = rk_gpus_find(l->root, &l->d->gpus, err);

	if (rc == 0)
		rc = rk_detect(&where, &l->d->tools, err);
	if (rc < 0)
		return rc;
	look_around(l);
	return l->bad ? rk_fail_nomem(err) : 0;
}

static void destroy_doctor(void *p)
{
	struct rk_doctor *d = p;

	for (size_t i = 0; i < d->nchecks; i++) {
		rk_free(d->checks[i].subject);
		rk_free(d->checks[i].text);
		rk_free(d->checks[i].advice);
	}
	rk_free(d->checks);
	rk_free(d->verdict);
	rk_tools_release(&d->tools);
	rk_gpus_release(&d->gpus);
	rk_free(d);
}

int rk_doctor_new(const struct rk_doctor_options *opt, struct rk_doctor **ret, struct rk_error *err)
{
	static const struct rk_doctor_options plain;
	struct rk_look *l;
	struct rk_doctor *d;
	int rc;

	if (!ret)
		return rk_misuse(__func__, err);
	if (RK_CHECK_OPTIONS(opt, __func__, err) < 0)
		return RK_E_USAGE;
	l = rk_calloc(1, sizeof(*l));
	d = rk_calloc(1, sizeof(*d));
	if (!l || !d) {
		rk_free(l);
		rk_free(d);
		return rk_fail_nomem(err);
	}
	l->d = d;
	prepare(l, opt ? opt : &plain);
	rc = fill(l, err);
	rk_free(l);
	if (rc == 0)
		rc = rk_handle_open(RK_HANDLE_DOCTOR, d, destroy_doctor, err);
	if (rc < 0)
		destroy_doctor(d);
	else
		*ret = d;
	return rc;
}

void rk_doctor_free(struct rk_doctor *d)
{
	rk_handle_close(RK_HANDLE_DOCTOR, d);
}

const char *rk_doctor_status_word(enum rk_doctor_status s)
{
	static const char *const words[] = { "ok", "info", "warn", "bad" };

	return (unsigned)s <= RK_DOCTOR_BAD ? words[s] : "";
}
