/* pack_prove.c - rockit pack verify and index. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "pack_verbs.h"
#include "print.h"
#include "rockit/pack.h"
#include "say.h"

/* ---- verify ---- */

struct verify {
	struct rk_common common;
	const char *system, *out;
	uint64_t jobs;
	int format;
};

static const struct rk_opt verify_options[] = {
	{ "system", 0, "LIB,...", "libraries that may come from the system, besides glibc and gcc",
	  RK_OPT_TEXT, offsetof(struct verify, system), NULL },
	{ "jobs", 'j', "N", "threads (default: one per CPU)", RK_OPT_NUMBER,
	  offsetof(struct verify, jobs), NULL },
	RK_OPT_FORMAT(struct verify),
	RK_OPT_OUTPUT(struct verify),
	{ NULL, 0, NULL, NULL, RK_OPT_FLAG, 0, NULL },
};

enum { MOST_SYSTEM = 63 };

/* Cuts `text` at its commas and blanks; what does not fit is told. */
static int system_names(char *text, const char **names)
{
	size_t n = 0;

	for (char *at = text + strspn(text, ", "); *at; at += strspn(at, ", ")) {
		if (n == MOST_SYSTEM)
			return say_misuse("pack verify", "'--system' takes at most %d names",
					  MOST_SYSTEM);
		names[n++] = at;
		at += strcspn(at, ", ");
		if (*at)
			*at++ = '\0';
	}
	names[n] = NULL;
	return -1;
}

static int prove(const struct verify *s, const struct rk_pack_verify_options *o)
{
	struct rk_pack_proof *proof = NULL;
	struct rk_error err = { 0 };
	char *text = NULL;
	size_t len = 0;
	int rc = rk_pack_verify(o, &proof, &err), status;

	if (rc == 0)
		rc = rk_pack_proof_render(proof, (enum rk_report_format)s->format, &text, &len,
					  &err);
	status = rc < 0 ? say_error("pack verify", &err) :
			  rk_print_text("pack verify", s->out, text, len);
	if (!status && proof->faults)
		status = EXIT_FAILED;
	rk_pack_proof_free(proof);
	return status;
}

static int verify_run(int argc, char **argv)
{
	const char *names[MOST_SYSTEM + 1] = { NULL };
	struct rk_pack_verify_options o = { .system = names };
	struct verify s = { .out = NULL };
	int n, rc = rk_options_parse(&cmd_pack_verify, &s, argc, argv, &n);
	char *system;

	if (rc >= 0)
		return rc;
	if (!n)
		return say_misuse("pack verify", "no packages: name wheels or a folder of them");
	system = strdup(s.system ? s.system : "");
	if (!system)
		return say_failure("pack verify", "out of memory");
	rc = system_names(system, names);
	o.paths = (const char *const *)argv;
	o.npaths = (size_t)n;
	o.jobs = s.jobs > 1024 ? 1024 : (unsigned)s.jobs;
	if (rc < 0)
		rc = prove(&s, &o);
	free(system);
	return rc;
}

const struct rk_command cmd_pack_verify = {
	.name = "pack verify",
	.summary = "prove that packages hold together: RECORD, links, libraries, scripts",
	.usage = "DIR | WHEEL...",
	.options = verify_options,
	.light = true,
	.operands = RK_OPERANDS_FILES,
	.examples = "  rockit pack verify out/dist\n"
		    "  rockit pack verify out/dist --system libdrm.so.2 --format json\n",
	.run = verify_run,
};

/* ---- index ---- */

static void print_tree(void *arg, const char *tree, size_t packages, size_t apart)
{
	const struct rk_common *common = arg;

	if (common->quiet)
		return;
	printf("%zu package%s in ", packages, packages == 1 ? "" : "s");
	say_safely(stdout, tree);
	if (apart)
		printf(", without %zu that differ from folder to folder; for pip take one of:",
		       apart);
	putchar('\n');
}

static int index_run(int argc, char **argv)
{
	struct rk_common common = { .help = false };
	struct rk_error err = { 0 };
	int n, rc = rk_options_parse(&cmd_pack_index, &common, argc, argv, &n);

	if (rc >= 0)
		return rc;
	if (n != 1)
		return say_misuse("pack index", n ? "takes one DIR" : "no DIR with packages");
	if (rk_pack_index_trees(argv[0], print_tree, &common, &err) < 0)
		return say_error("pack index", &err);
	return EXIT_DONE;
}

const struct rk_command cmd_pack_index = {
	.name = "pack index",
	.summary = "a package index (PEP 503, hashes, PEP 658) for a folder of packages",
	.usage = "DIR",
	.light = true,
	.operands = RK_OPERANDS_DIRS,
	.examples = "  rockit pack index out/dist\n"
		    "  pip install rocm --index-url file://$PWD/out/dist/simple\n",
	.run = index_run,
};
