/*
 * pack_prove.c - `pack-prove [--json] [--jobs N] [--system NAME]... PATH...`: the closure prover, and
 * `pack-prove --index DIR`: pages of packages, for scripts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rockit/pack.h"

#include "base/num.h"

enum { MAX_SYSTEM = 16 };

static int fail(const struct rk_error *err)
{
	fprintf(stderr, "pack-prove: %s%s%s\n", err->file, err->file[0] ? ": " : "", err->message);
	return 2;
}

static int make_index(const char *dir)
{
	struct rk_error err = { 0 };
	size_t n = 0;

	if (rk_pack_index(dir, &n, &err) < 0)
		return fail(&err);
	printf("%zu\n", n);
	return 0;
}

static int prove(const struct rk_pack_verify_options *o, enum rk_report_format format)
{
	struct rk_pack_proof *proof = NULL;
	struct rk_error err = { 0 };
	char *text = NULL;
	size_t len = 0;
	int status;

	if (rk_pack_verify(o, &proof, &err) < 0 ||
	    rk_pack_proof_render(proof, format, &text, &len, &err) < 0) {
		rk_pack_proof_free(proof);
		return fail(&err);
	}
	fwrite(text, 1, len, stdout);
	status = proof->faults ? 1 : 0;
	rk_text_free(text);
	rk_pack_proof_free(proof);
	return status;
}

int main(int argc, char **argv)
{
	struct rk_pack_verify_options o = { .jobs = 2 };
	enum rk_report_format format = RK_REPORT_TEXT;
	const char *system[MAX_SYSTEM + 1] = { NULL };
	uint64_t jobs = 0;
	int i = 1, n = 0;

	if (argc == 3 && !strcmp(argv[1], "--index"))
		return make_index(argv[2]);
	for (; i < argc && !strncmp(argv[i], "--", 2); i++) {
		if (!strcmp(argv[i], "--json"))
			format = RK_REPORT_JSON;
		else if (!strcmp(argv[i], "--system") && i + 1 < argc && n < MAX_SYSTEM)
			system[n++] = argv[++i];
		else if (!strcmp(argv[i], "--jobs") && i + 1 < argc &&
			 rk_num_u64(argv[i + 1], strlen(argv[i + 1]), &jobs) == RK_NUM_OK)
			o.jobs = (unsigned)jobs, i++;
	}
	o.system = system;
	o.paths = (const char *const *)argv + i;
	o.npaths = (size_t)(argc - i);
	return prove(&o, format);
}
