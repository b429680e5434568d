/* diff.c - compares two runs; exits with 3 when the second takes more than 5 % longer on the GPU. */
#include <stdio.h>

#include <rockit/diff.h>
#include <rockit/rockit.h>

/* A profile does not need its run: close it at once. */
static int profile(const char *path, struct rk_profile **ret, struct rk_error *err)
{
	struct rk_run *run = NULL;
	int rc = rk_run_open(&path, 1, NULL, &run, err);

	if (rc == 0)
		rc = rk_run_profile(run, NULL, false, ret, err);
	rk_run_close(run);
	return rc;
}

static void show(const struct rk_diff *d)
{
	printf("GPU time %+.3f ms (%+.1f %%)\n", (double)d->gpu.delta_ns / 1e6, d->gpu.percent);
	for (size_t i = 0; i < d->nkernels && i < 5; i++) {
		const struct rk_diff_kernel *k = &d->kernels[i];

		printf("%+12.3f ms  %s%s\n", (double)k->delta_ns / 1e6,
		       k->b.name[0] ? k->b.name : k->a.name, k->significant ? "" : " (noise)");
	}
	printf("%s\n", d->reason);
}

int main(int argc, char **argv)
{
	const struct rk_diff_options opt = { .gated = true, .gate_percent = 5 };
	struct rk_profile *a = NULL, *b = NULL;
	const struct rk_profile *before, *after;
	struct rk_error err = { 0 };
	struct rk_diff *d = NULL;
	int rc, verdict = 1;

	if (argc != 3) {
		fprintf(stderr, "usage: diff BEFORE AFTER\n");
		return 2;
	}
	rc = profile(argv[1], &a, &err);
	if (rc == 0)
		rc = profile(argv[2], &b, &err);
	before = a;
	after = b;
	if (rc == 0)
		rc = rk_diff_make(&before, 1, &after, 1, &opt, &d, &err);
	if (rc == 0) {
		show(d);
		verdict = (int)d->verdict;
	} else {
		fprintf(stderr, "diff: %s\n", err.message);
	}
	rk_diff_free(d);
	rk_profile_free(a);
	rk_profile_free(b);
	return verdict;
}
