/* top_kernels.c - opens profiler output and prints the kernels that take the most time. */
#include <stdio.h>

#include <rockit/rockit.h>

static int fail(const struct rk_error *err)
{
	char line[1024];

	fprintf(stderr, "top_kernels: %s\n", rk_error_text(err, line, sizeof(line)));
	return 1;
}

int main(int argc, char **argv)
{
	const char *const *paths = (const char *const *)argv + 1;
	struct rk_error err = { 0 };
	struct rk_report *r = NULL;
	struct rk_run *run = NULL;

	if (argc < 2) {
		fprintf(stderr, "usage: top_kernels TRACE...\n");
		return 2;
	}
	if (rk_run_open(paths, (size_t)argc - 1, NULL, &run, &err) < 0)
		return fail(&err);
	if (rk_run_report(run, NULL, &r, &err) < 0) {
		rk_run_close(run);
		return fail(&err);
	}
	/* the report keeps what it needs */
	rk_run_close(run);
	for (size_t i = 0; i < r->kernels.nrows && i < 10; i++) {
		const struct rk_report_row *k = &r->kernels.rows[i];

		printf("%6.2f %%  %8llu calls  %12.3f ms  %s\n", k->percent,
		       (unsigned long long)k->calls, (double)k->total_ns / 1e6, k->name);
	}
	rk_report_free(r);
	return 0;
}
