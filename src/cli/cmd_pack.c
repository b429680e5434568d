/* cmd_pack.c - rockit pack, and rockit pack build. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options.h"
#include "pack_verbs.h"
#include "print.h"
#include "progress.h"
#include "rockit/pack.h"
#include "say.h"

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

#define AT(member) offsetof(struct settings, member)

static const struct rk_opt build_options[] = {
	{ "artifact-dir", 0, "DIR", "folders or archives NAME_COMPONENT_FAMILY of a ROCm build",
	  RK_OPT_TEXT, AT(artifacts), NULL },
	{ "dest-dir", 0, "DIR", "packages go to DIR/dist", RK_OPT_TEXT, AT(dest), NULL },
	{ "version", 0, "V", "of the packages (default: that of the artifacts and .dev0)",
	  RK_OPT_TEXT, AT(version), NULL },
	{ "version-suffix", 0, "S", "appended to the names of the platform folders", RK_OPT_TEXT,
	  AT(suffix), NULL },
	{ "profiler-name", 0, "NAME", "of the profiler's package (default: rocm-sdk-profiler)",
	  RK_OPT_TEXT, AT(profiler), NULL },
	{ "target-families", 0, "F,...", "only these GPU families (default: all there are)",
	  RK_OPT_TEXT, AT(families), NULL },
	{ "level", 0, "N", "how hard to pack: 1 fast, 12 small, 0 not at all (default: 6)",
	  RK_OPT_NUMBER, AT(level), NULL },
	{ "devel-compression", 0, "HOW", "none or xz: the archive inside the devel package",
	  RK_OPT_CHOICE, AT(devel), devel_words },
	{ "platform-tag", 0, "TAG", "of the wheels (default: linux_ and the machine of the files)",
	  RK_OPT_TEXT, AT(tag), NULL },
	{ "rpath-tag", 0, "KIND", "rpath or runpath in ELF files (default: rpath)", RK_OPT_CHOICE,
	  AT(rpath), rpath_words },
	{ "jobs", 'j', "N", "threads (default: one per CPU)", RK_OPT_NUMBER, AT(jobs), NULL },
	{ "tmpdir", 0, "DIR", "for temporary files (default: $TMPDIR or /tmp)", RK_OPT_TEXT,
	  AT(common.tmpdir), NULL },
	{ "dry-run", 'n', NULL, "print each file, its package, its edit and why; write nothing",
	  RK_OPT_FLAG, AT(dry_run), NULL },
	RK_OPT_FORMAT(struct settings),
	{ NULL, 0, NULL, NULL, RK_OPT_FLAG, 0, NULL },
};

static int check(const struct settings *s, int operands, char **argv)
{
	if (operands)
		return say_misuse("pack build", "takes no operand, got '%s'", argv[0]);
	if (!s->artifacts)
		return say_misuse("pack build", "no artifacts: add '--artifact-dir DIR'");
	if (!s->dest && !s->dry_run)
		return say_misuse("pack build",
				  "no destination: add '--dest-dir DIR' (or '--dry-run')");
	if (s->level > LEVEL_MAX)
		return say_misuse("pack build", "'--level' goes from 0 to %d", LEVEL_MAX);
	if (s->jobs > 1024)
		return say_misuse("pack build", "'--jobs' goes up to 1024");
	return -1;
}

/* Builds that are to be the same bytes everywhere agree on a time by this variable. */
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

static unsigned cores(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1 ? 1 : n > 32 ? 32 : (unsigned)n;
}

/* Files that are in no package, one line each; `whole`: artifacts, too. */
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

static uint64_t size_of(const char *dest, const char *file)
{
	struct stat st;
	char path[4096];

	if (snprintf(path, sizeof(path), "%s/%s", dest, file) >= (int)sizeof(path) ||
	    stat(path, &st))
		return 0;
	return (uint64_t)st.st_size;
}

/* How much is in no package, in one line. */
static void print_left(const struct rk_pack *pack)
{
	size_t n = 0, whole = 0, files;
	const struct rk_pack_left *l = rk_pack_left_out(pack, &n);

	for (size_t i = 0; i < n; i++)
		whole += !*l[i].path;
	files = n - whole;
	if (!n)
		return;
	printf("left out: ");
	if (whole)
		printf("%zu artifact%s%s", whole, whole == 1 ? "" : "s", files ? ", " : "");
	if (files)
		printf("%zu file%s%s", files, files == 1 ? "" : "s", whole ? " of others" : "");
	printf(" ('-v' names them)\n");
}

/* What was made, one line each. */
static void print_result(const struct settings *s, const struct rk_pack *pack)
{
	size_t n = 0;
	const struct rk_pack_package *p = rk_pack_packages(pack, &n);

	for (size_t i = 0; i < n; i++) {
		say_safely(stdout, p[i].file);
		printf("  %.1f MB of %.1f\n", (double)size_of(s->dest, p[i].file) / 1e6,
		       (double)p[i].bytes / 1e6);
	}
	if (s->common.verbose)
		print_left_files(pack, true);
	else
		print_left(pack);
}

static int make(const struct settings *s, const struct rk_pack_options *o)
{
	struct rk_progress progress;
	struct rk_pack_options how = *o;
	struct rk_pack *pack = NULL;
	struct rk_error err = { 0 };
	size_t n = 0;
	int rc, status = EXIT_DONE;

	rk_progress_begin(&progress, "pack build", s->common.quiet);
	how.progress = rk_progress_step;
	how.progress_arg = &progress;
	rc = rk_pack_new(&how, &pack, &err);
	if (rc == 0 && !s->dry_run)
		rc = rk_pack_build(pack, &err);
	rk_progress_end(&progress);
	if (pack && !s->common.quiet) {
		const struct rk_warning *w = rk_pack_warnings(pack, &n);

		say_warning_list("pack build", w, n);
	}
	if (rc < 0)
		status = say_error("pack build", &err);
	else if (s->dry_run)
		status = print_plan(s, pack);
	else if (!s->common.quiet)
		print_result(s, pack);
	rk_pack_free(pack);
	return status;
}

static int build_run(int argc, char **argv)
{
	struct settings s = { .level = LEVEL_DEFAULT };
	struct rk_pack_options o = { 0 };
	int n, rc = rk_options_parse(&cmd_pack_build, &s, argc, argv, &n);

	if (rc < 0)
		rc = check(&s, n, argv);
	if (rc < 0)
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
	o.jobs = s.jobs ? (unsigned)s.jobs : cores();
	return make(&s, &o);
}

const struct rk_command cmd_pack_build = {
	.name = "pack build",
	.summary = "wheels and an sdist from the artifacts of a ROCm build",
	.usage = "--artifact-dir DIR --dest-dir DIR",
	.options = build_options,
	.light = true,
	.examples = "  rockit pack build --artifact-dir build/artifacts --dest-dir out\n"
		    "  rockit pack build --artifact-dir build/artifacts --dry-run | less\n"
		    "  pip install 'rocm[libraries,devel,profiler]' --find-links out/dist\n",
	.run = build_run,
};

static int pack_run(int argc, char **argv)
{
	return rk_group_run(&cmd_pack, argc, argv);
}

static const struct rk_command *const verbs[] = { &cmd_pack_build, &cmd_pack_verify,
						  &cmd_pack_index, &cmd_pack_rocm_init, NULL };

const struct rk_command cmd_pack = {
	.name = "pack",
	.summary = "make Python packages of a ROCm build, index them, prove that they hold",
	.usage = "VERB [options]",
	.plain = true,
	.examples = "  rockit pack build --artifact-dir build/artifacts --dest-dir out\n"
		    "  rockit pack verify out/dist\n"
		    "  rockit pack index out/dist\n",
	.run = pack_run,
	.verbs = verbs,
};
