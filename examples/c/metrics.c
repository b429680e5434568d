/* metrics.c - what limits each kernel of a run, and its known metrics. */
#include <stdio.h>

#include <rockit/metrics.h>
#include <rockit/rockit.h>

static void show(const struct rk_metrics *m)
{
	for (size_t i = 0; i < m->nkernels && i < 5; i++) {
		const struct rk_metric_kernel *k = &m->kernels[i];

		printf("%s: %s, %s\n", k->name, k->verdict.name, k->verdict.reason);
		for (size_t j = 0; j < k->nmetrics && j < 5; j++)
			printf("\t%s = %g %s\n", k->metrics[j].id, k->metrics[j].avg,
			       k->metrics[j].unit);
	}
	printf("%zu metrics are known, %zu are not\n", m->nmetrics, m->nabsent);
}

int main(int argc, char **argv)
{
	struct rk_metrics_options opt = { 0 };
	struct rk_metrics *m = NULL;
	struct rk_error err = { 0 };
	struct rk_run *run = NULL;
	const char *path = argv[1];
	int rc;

	if (argc < 2) {
		fprintf(stderr, "usage: metrics RUN [GFX]\n");
		return 2;
	}
	opt.arch = argc > 2 ? argv[2] : NULL;
	rc = rk_run_open(&path, 1, NULL, &run, &err);
	if (rc == 0)
		rc = rk_run_metrics(run, &opt, &m, &err);
	rk_run_close(run);
	if (rc < 0)
		fprintf(stderr, "metrics: %s\n", err.message);
	else
		show(m);
	rk_metrics_free(m);
	return rc < 0 ? 1 : 0;
}
