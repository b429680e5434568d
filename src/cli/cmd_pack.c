/* cmd_pack.c - rockit pack: build, verify, index, rocm-init. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options.h"
#include "print.h"
#include "rockit/pack.h"
#include "say.h"

static const struct rk_command cmd_pack_build, cmd_pack_index, cmd_pack_rocm_init, cmd_pack_verify;

/* ---- build ---- */

enum { LEVEL_DEFAULT = 6, LEVEL_MAX = 12 };

struct settings {
	struct rk_common common;
	const char *artifacts, *dest, *version, *suffix, *profiler, *families, *tag;
	uint64_t level, jobs;
	int devel, rpath, format;
	bool dry_run;
};

static const char *const devel_words[] = { "none", "xz", NULL };
static const char *const rpath_words[] = { "rpath", "runpath", NULL };

static const struct rk_opt build_options[] = {
	{ "artifact-dir", 0, "DIR", "folders or archives NAME_COMPONENT_FAMILY of a ROCm build",
	  RK_OPT_TEXT, AT(artifacts) },
	{ "dest-dir", 0, "DIR", "write the packages to DIR/dist", RK_OPT_TEXT, AT(dest) },
	{ "version", 0, "V", "version of the packages (default: that of the artifacts plus .dev0)",
	  RK_OPT_TEXT, AT(version) },
	{ "version-suffix", 0, "S", "appended to the names of the platform folders", RK_OPT_TEXT,
	  AT(suffix) },
	{ "profiler-name", 0, "NAME", "name of the profiler package (default: rocm-sdk-profiler)",
	  RK_OPT_TEXT, AT(profiler) },
	{ "target-families", 0, "F,...", "only these GPU families (default: all)", RK_OPT_TEXT,
	  AT(families) },
	{ "level", 0, "N", "compression level: 1 fast, 12 small, 0 none (default: 6)",
	  RK_OPT_NUMBER, AT(level) },
	{ "devel-compression", 0, "HOW", "compression inside the devel package: none or xz",
	  RK_OPT_CHOICE, AT(devel), devel_words },
	{ "platform-tag", 0, "TAG",
	  "platform tag of the wheels (default: linux_ plus the files' machine)", RK_OPT_TEXT,
	  AT(tag) },
	{ "rpath-tag", 0, "KIND", "rpath or runpath in ELF files (default: rpath)", RK_OPT_CHOICE,
	  AT(rpath), rpath_words },
	{ "jobs", 'j', "N", "threads (default: one per CPU)", RK_OPT_NUMBER, AT(jobs) },
	{ "tmpdir", 0, "DIR", "directory for temporary files (default: $TMPDIR or /tmp)",
	  RK_OPT_TEXT, AT(common.tmpdir) },
	{ "dry-run", 'n', NULL, "print each file with its package, edit and reason; write nothing",
	  RK_OPT_FLAG, AT(dry_run) },
	RK_OPT_FORMAT(struct settings),
	{ NULL },
};

/* Reproducible builds set this variable, so that all files get the same time. -1 to go on. */
static int source_date(int64_t *ret)
{
	const char *text = getenv("SOURCE_DATE_EPOCH"), *at = text;
	int64_t v = 0;

	if (!text || !*text)
		return -1;
	for (; *at >= '0' && *at <= '9' && v < INT64_C(1) << 40; at++)
		v = 10 * v + (*at - '0');
	if (*at)
		return say_misuse("pack build", "SOURCE_DATE_EPOCH is '%s', not a time in seconds",
				  text);
	*ret = v;
	return -1;
}

/* Files that are not in any package, one line each; `whole`: artifacts, too. */
static void print_left_files(const struct rk_pack *pack, bool whole)
{
	size_t n = 0;
	const struct rk_pack_left *l = rk_pack_left_out(pack, &n);

	for (size_t i = 0; i < n; i++) {
		if (!*l[i].path && !whole)
			continue;
		printf("left out: ");
		say_safely(stdout, l[i].artifact);
		if (*l[i].path) {
			printf(": ");
			say_safely(stdout, l[i].path);
		}
		printf("; ");
		say_safely(stdout, l[i].reason);
		printf("\n");
	}
}

static int print_plan(const struct settings *s, const struct rk_pack *pack)
{
	struct rk_error err = { 0 };
	char *text = NULL;
	size_t len = 0;
	int status;

	if (rk_pack_render(pack, (enum rk_report_format)s->format, &text, &len, &err) < 0)
		return say_error("pack build", &err);
	status = rk_print_text("pack build", NULL, text, len);
	if (!status && s->common.verbose && s->format == RK_REPORT_TEXT)
		print_left_files(pack, false); /* the plan has the others */
	return status;
}

/* The packages, one line each, and how much is not in any of them. */
static void print_result(const struct settings *s, const struct rk_pack *pack)
{
	size_t n = 0, whole = 0, files;
	const struct rk_pack_package *p = rk_pack_packages(pack, &n);
	const struct rk_pack_left *left;

	for (size_t i = 0; i < n; i++) {
		double bytes = 0;
		struct stat st;
		char path[4096];
		int len = snprintf(path, sizeof(path), "%s/%s", s->dest, p[i].file);

		if (len < (int)sizeof(path) && stat(path, &st) == 0)
			bytes = (double)st.st_size;
		say_safely(stdout, p[i].file);
		printf("  %.1f MB of %.1f\n", bytes / 1e6, (double)p[i].bytes / 1e6);
	}
	if (s->common.verbose) {
		print_left_files(pack, true);
		return;
	}

	left = rk_pack_left_out(pack, &n);
	for (size_t i = 0; i < n; i++)
		whole += !*left[i].path;
	files = n - whole;
	if (!n)
		return;
	printf("left out: ");
	if (whole)
		printf("%zu artifact%s", whole, say_plural(whole));
	if (whole && files)
		printf(", %zu file%s of others", files, say_plural(files));
	else if (files)
		printf("%zu file%s", files, say_plural(files));
	printf(" ('-v' names them)\n");
}

static int build_run(int argc, char **argv)
{
	struct settings s = { .level = LEVEL_DEFAULT };
	struct rk_pack_options o = { .progress = rk_progress_step };
	const struct rk_warning *w;
	struct rk_progress progress;
	struct rk_pack *pack = NULL;
	struct rk_error err = { 0 };
	size_t nwarnings = 0;
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	int n, status = EXIT_DONE, rc = rk_options_parse(&cmd_pack_build, &s, argc, argv, &n);

	if (rc >= 0)
		return rc;
	if (n)
		return say_misuse("pack build", "unexpected argument '%s'", argv[0]);
	if (!s.artifacts)
		return say_misuse("pack build", "no artifacts: add '--artifact-dir DIR'");
	if (!s.dest && !s.dry_run)
		return say_misuse("pack build",
				  "no destination: add '--dest-dir DIR' (or '--dry-run')");
	if (s.level > LEVEL_MAX)
		return say_misuse("pack build", "'--level' must be 0 to %d", LEVEL_MAX);
	if (s.jobs > 1024)
		return say_misuse("pack build", "'--jobs' must be at most 1024");
	rc = source_date(&o.epoch);
	if (rc >= 0)
		return rc;

	o.artifact_dir = s.artifacts;
	o.dest_dir = s.dest;
	o.version = s.version;
	o.version_suffix = s.suffix;
	o.profiler_name = s.profiler;
	o.target_families = s.families;
	o.platform_tag = s.tag;
	o.level = s.level ? (int)s.level : RK_PACK_STORED;
	o.devel_xz = s.devel == 1;
	o.runpath = s.rpath == 1;
	o.tmpdir = s.common.tmpdir;
	o.jobs = (unsigned)s.jobs;
	if (!o.jobs && cores > 32)
		o.jobs = 32;
	else if (!o.jobs)
		o.jobs = cores < 1 ? 1 : (unsigned)cores;
	o.progress_arg = &progress;

	rk_progress_begin(&progress, "pack build", s.common.quiet);
	rc = rk_pack_new(&o, &pack, &err);
	if (rc == 0 && !s.dry_run)
		rc = rk_pack_build(pack, &err);
	rk_progress_end(&progress);
	if (pack && !s.common.quiet) {
		w = rk_pack_warnings(pack, &nwarnings);
		say_warning_list("pack build", w, nwarnings);
	}
	if (rc < 0)
		status = say_error("pack build", &err);
	else if (s.dry_run)
		status = print_plan(&s, pack);
	else if (!s.common.quiet)
		print_result(&s, pack);
	rk_pack_free(pack);
	return status;
}

static const struct rk_command cmd_pack_build = {
	.name = "pack build",
	.summary = "build wheels and an sdist from the artifacts of a ROCm build",
	.usage = "--artifact-dir DIR --dest-dir DIR",
	.options = build_options,
	.light = true,
	.examples = "  rockit pack build --artifact-dir build/artifacts --dest-dir out\n"
		    "  rockit pack build --artifact-dir build/artifacts --dry-run | less\n"
		    "  pip install 'rocm[libraries,devel,profiler]' --find-links out/dist\n",
	.run = build_run,
};

/* ---- verify ---- */

struct verify {
	struct rk_common common;
	const char *system, *out;
	uint64_t jobs;
	int format;
};

static const struct rk_opt verify_options[] = {
	{ "system", 0, "LIB,...", "libraries that may come from the system, besides glibc and gcc",
	  RK_OPT_TEXT, offsetof(struct verify, system) },
	{ "jobs", 'j', "N", "threads (default: one per CPU)", RK_OPT_NUMBER,
	  offsetof(struct verify, jobs) },
	RK_OPT_FORMAT(struct verify),
	RK_OPT_OUTPUT(struct verify),
	{ NULL },
};

enum { MOST_SYSTEM = 63 };

static int verify_run(int argc, char **argv)
{
	const char *names[MOST_SYSTEM + 1] = { NULL };
	struct rk_pack_verify_options o = { .system = names };
	struct verify s = { .out = NULL };
	struct rk_pack_proof *proof = NULL;
	struct rk_error err = { 0 };
	char *system, *text = NULL;
	size_t nnames = 0, len = 0;
	int n, rc = rk_options_parse(&cmd_pack_verify, &s, argc, argv, &n);

	if (rc >= 0)
		return rc;
	if (!n)
		return say_misuse("pack verify", "no packages given: name wheels or a folder "
						 "with wheels");
	system = strdup(s.system ? s.system : "");
	if (!system)
		return say_failure("pack verify", "out of memory");
	for (char *at = system + strspn(system, ", "); *at; at += strspn(at, ", ")) {
		if (nnames == MOST_SYSTEM) {
			rc = say_misuse("pack verify", "'--system' takes at most %d names",
					MOST_SYSTEM);
			goto out;
		}
		names[nnames++] = at;
		at += strcspn(at, ", ");
		if (*at)
			*at++ = '\0';
	}

	o.paths = (const char *const *)argv;
	o.npaths = (size_t)n;
	o.jobs = s.jobs > 1024 ? 1024 : (unsigned)s.jobs;
	if (rk_pack_verify(&o, &proof, &err) < 0 ||
	    rk_pack_proof_render(proof, (enum rk_report_format)s.format, &text, &len, &err) < 0)
		rc = say_error("pack verify", &err);
	else
		rc = rk_print_text("pack verify", s.out, text, len);
	if (!rc && proof->faults)
		rc = EXIT_FAILED;
out:
	rk_pack_proof_free(proof);
	free(system);
	return rc;
}

static const struct rk_command cmd_pack_verify = {
	.name = "pack verify",
	.summary = "verify packages: RECORD, links, libraries, scripts",
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
	printf("%zu package%s in ", packages, say_plural(packages));
	say_safely(stdout, tree);
	if (apart)
		printf(", without %zu that differ between folders; point pip at one of:", apart);
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
		return say_misuse("pack index", n ? "give only one DIR" : "no DIR given");
	if (rk_pack_index_trees(argv[0], print_tree, &common, &err) < 0)
		return say_error("pack index", &err);
	return EXIT_DONE;
}

static const struct rk_command cmd_pack_index = {
	.name = "pack index",
	.summary = "write a package index (PEP 503, hashes, PEP 658) for a folder of packages",
	.usage = "DIR",
	.light = true,
	.operands = RK_OPERANDS_DIRS,
	.examples = "  rockit pack index out/dist\n"
		    "  pip install rocm --index-url file://$PWD/out/dist/simple\n",
	.run = index_run,
};

/* ---- rocm-init ---- */

struct init {
	struct rk_common common;
	const char *preload, *version, *out;
	bool minor, fail;
};

static const struct rk_opt init_options[] = {
	{ "preload", 0, "NAME,...", "libraries to load first (default: what PyTorch needs)",
	  RK_OPT_TEXT, offsetof(struct init, preload) },
	{ "check-version", 0, "V", "required ROCm version; may contain *", RK_OPT_TEXT,
	  offsetof(struct init, version) },
	{ "minor", 0, NULL, "require only major.minor of V (for releases)", RK_OPT_FLAG,
	  offsetof(struct init, minor) },
	{ "fail", 0, NULL, "treat a different version as an error, not a warning", RK_OPT_FLAG,
	  offsetof(struct init, fail) },
	RK_OPT_OUTPUT(struct init),
	{ NULL },
};

static int init_run(int argc, char **argv)
{
	struct rk_rocm_init_options o = { 0 };
	struct init s = { .out = NULL };
	struct rk_error err = { 0 };
	char *text = NULL;
	size_t len = 0;
	int n, rc = rk_options_parse(&cmd_pack_rocm_init, &s, argc, argv, &n);

	if (rc >= 0)
		return rc;
	if (n)
		return say_misuse("pack rocm-init", "unexpected argument '%s'", argv[0]);
	if ((s.minor || s.fail) && !s.version)
		return say_misuse("pack rocm-init", "'--%s' needs '--check-version V'",
				  s.minor ? "minor" : "fail");
	o = (struct rk_rocm_init_options){ s.preload, s.version, s.minor, s.fail };
	if (rk_rocm_init(&o, &text, &len, &err) < 0)
		return say_error("pack rocm-init", &err);
	return rk_print_text("pack rocm-init", s.out, text, len);
}

static const struct rk_command cmd_pack_rocm_init = {
	.name = "pack rocm-init",
	.summary = "print the _rocm_init.py that lets a framework find its ROCm packages",
	.usage = "[-o torch/_rocm_init.py]",
	.options = init_options,
	.light = true,
	.examples =
		"  rockit pack rocm-init --check-version 7.0.0 -o torch/_rocm_init.py\n"
		"  rockit pack rocm-init --preload amdhip64,rccl --check-version 7.0.0 --minor\n",
	.run = init_run,
};

/* ---- the group ---- */

static const struct rk_command *const verbs[] = { &cmd_pack_build, &cmd_pack_verify,
						  &cmd_pack_index, &cmd_pack_rocm_init, NULL };

const struct rk_command cmd_pack = {
	.name = "pack",
	.summary = "build Python packages from a ROCm build, index and verify them",
	.usage = "VERB [options]",
	.plain = true,
	.examples = "  rockit pack build --artifact-dir build/artifacts --dest-dir out\n"
		    "  rockit pack verify out/dist\n"
		    "  rockit pack index out/dist\n",
	.verbs = verbs,
};
