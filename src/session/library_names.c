/* library_names.c - the libraries whose calls can be logged, and the variables that do it. */
#include <stdbool.h>
#include <string.h>

#include "base/words.h"
#include "session/library_impl.h"

const char *const rk_library_names[] = { "rocblas", "hipblaslt", "miopen", "rccl", NULL };

/* It has no log of its own, but people ask for it. */
static const struct rk_word_hint hints[] = {
	{ "tensile",
	  "it logs no calls of its own: trace rocblas or hipblaslt, and its kernels with "
	  "'-t kernel'" },
	{ NULL, NULL },
};

static const struct rk_words libraries_known = {
	.what = "library", .names = rk_library_names, .n = RK_NLIBRARIES, .hints = hints
};

const char *rk_library_name(unsigned i)
{
	return rk_words_at(&libraries_known, i);
}

int rk_library_parse(const char *words, unsigned *ret, struct rk_error *err)
{
	return rk_words_parse(&libraries_known, words, ret, err);
}

/* A variable of one library. */
static const struct setting {
	unsigned library;
	const char *name, *value;
	bool file; /* the value is a file below the folder of the logs */
} settings[] = {
	/* 2: a line for each call, at once; 4: counts, at exit. library_collect.c takes the better. */
	{ RK_LIBRARY_ROCBLAS, "ROCBLAS_LAYER", "6", false },
	{ RK_LIBRARY_ROCBLAS, "ROCBLAS_LOG_BENCH_PATH", "rocblas-bench.log", true },
	{ RK_LIBRARY_ROCBLAS, "ROCBLAS_LOG_PROFILE_PATH", "rocblas-profile.log", true },
	{ RK_LIBRARY_HIPBLASLT, "HIPBLASLT_LOG_MASK", "32", false },
	{ RK_LIBRARY_HIPBLASLT, "HIPBLASLT_LOG_FILE", "hipblaslt-%i.log", true },
	{ RK_LIBRARY_MIOPEN, "MIOPEN_ENABLE_LOGGING_CMD", "1", false },
	{ RK_LIBRARY_RCCL, "NCCL_DEBUG", "INFO", false },
	{ RK_LIBRARY_RCCL, "NCCL_DEBUG_SUBSYS", "INIT,COLL", false },
	{ RK_LIBRARY_RCCL, "NCCL_DEBUG_FILE", "rccl-%h-%p.log", true },
};

enum { NSETTINGS = sizeof(settings) / sizeof(settings[0]) };

/* What the user has set is the user's: said, not changed. */
static bool left_alone(const struct setting *s, const char *had, struct rk_list *notes)
{
	if (!had || (!s->file && strcmp(had, s->value) == 0))
		return false;
	rk_list_addf(notes, "%s is set already and left as it is: calls of %s may be missing",
		     s->name, rk_library_names[s->library]);
	return true;
}

static void set(const struct setting *s, const char *dir, char *const *inherited,
		struct rk_list *env, struct rk_list *notes)
{
	const char *own = rk_list_value(env, s->name);

	if (left_alone(s, own ? own : rk_env_value(inherited, s->name), notes))
		return;
	if (!s->file)
		rk_list_set(env, s->name, s->value);
	else if (strchr(s->value, '%') && strchr(dir, '%'))
		rk_list_addf(notes,
			     "no log of %s: it takes the '%%' in the folder's name for its own",
			     rk_library_names[s->library]);
	else
		rk_list_addf(env, "%s=%s/%s", s->name, dir, s->value);
}

/* What nobody would guess about a library's log. */
static const struct {
	unsigned library;
	const char *text;
} remarks[] = {
	{ RK_LIBRARY_ROCBLAS, "rocBLAS has one log for all processes, and each that starts later "
			      "empties it: with several, calls may be missing" },
	{ RK_LIBRARY_MIOPEN,
	  "MIOpen logs to standard error alone: for the program that is a file, out of "
	  "which the log is taken" },
};

static void remark(unsigned libraries, char *const *inherited, struct rk_list *notes)
{
	for (unsigned i = 0; i < sizeof(remarks) / sizeof(remarks[0]); i++)
		if (libraries >> remarks[i].library & 1)
			rk_list_add(notes, remarks[i].text);
	if (libraries >> RK_LIBRARY_HIPBLASLT & 1 && rk_env_value(inherited, "HIPBLASLT_LOG_LEVEL"))
		rk_list_add(notes,
			    "HIPBLASLT_LOG_LEVEL is set, and hipBLASLt then does not look at "
			    "HIPBLASLT_LOG_MASK: its calls will be missing");
}

int rk_library_env(unsigned libraries, const char *dir, char *const *inherited, struct rk_list *env,
		   struct rk_list *notes, struct rk_error *err)
{
	for (unsigned i = 0; i < NSETTINGS; i++)
		if (libraries >> settings[i].library & 1)
			set(&settings[i], dir, inherited, env, notes);
	remark(libraries, inherited, notes);
	return env->bad || notes->bad ? rk_fail_nomem(err) : 0;
}

const char *rk_library_stderr_copy(unsigned libraries)
{
	return libraries >> RK_LIBRARY_MIOPEN & 1 ? "miopen-stderr.log" : NULL;
}
