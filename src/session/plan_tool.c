/* plan_tool.c - which profiler, of which release, for which chip. */
#include <string.h>

#include "base/alloc.h"
#include "base/words.h"
#include "rockit/gpus.h"
#include "rockit/rockit.h"
#include "rockit/tools.h"
#include "session/plan.h"

/* When no GPU is to be seen the counters have to be of some chip: the one most people have. */
#define ARCH_ASSUMED "gfx942"

static bool is_auto(const char *tool)
{
	return !tool || strcmp(tool, "auto") == 0;
}

static int keep(char **at, const char *text, struct rk_error *err)
{
	*at = rk_strdup(text);
	return *at ? 0 : rk_fail_nomem(err);
}

/* A GPU of AMD, whether or not KFD says its gfx target: in a container there may be no KFD. */
static bool has_amd(const struct rk_gpus *gpus)
{
	for (size_t i = 0; i < gpus->n; i++)
		if (!strcmp(gpus->gpus[i].vendor, "AMD"))
			return true;
	return false;
}

/* A GPU of NVIDIA with NVIDIA's driver: under nouveau there is no CUDA. */
static bool has_cuda(const struct rk_gpus *gpus)
{
	for (size_t i = 0; i < gpus->n; i++)
		if (!strcmp(gpus->gpus[i].vendor, "NVIDIA") &&
		    !strcmp(gpus->gpus[i].driver, "nvidia"))
			return true;
	return false;
}

static bool is_cupti(const char *tool)
{
	return tool && !strcmp(tool, "cupti");
}

int rk_plan_arch(const struct rk_session_options *opt, struct rk_plan *p, struct rk_error *err)
{
	const char *known, *name = opt->arch;
	struct rk_gpus gpus = { 0 };
	int rc = 0;

	if (!name || is_cupti(opt->tool))
		rc = rk_gpus_find(opt->root, &gpus, err);
	p->amd = has_amd(&gpus);
	p->cuda = has_cuda(&gpus);
	if (!name)
		name = rc == 0 ? rk_gpus_arch(&gpus) : "";
	if (rc == 0 && !name[0]) {
		p->arch_assumed = true;
		name = ARCH_ASSUMED;
	}
	known = rk_counters_arch_find(name);
	if (rc == 0)
		rc = keep(&p->arch, known ? known : name, err);
	rk_gpus_release(&gpus);
	return rc;
}

static int tool_unknown(const char *name, struct rk_error *err)
{
	const char *names[16] = { NULL };

	for (size_t i = 0; i < 15; i++)
		names[i] = rk_tool_word(i);
	return rk_fail_unknown(err, "tool", name, names);
}

/* Where a tool is: its program among `found`, or the library of a collector of ours. */
static bool find_tool(const struct rk_tool_ops *t, const struct rk_tools_found *found,
		      struct rk_bytes *path)
{
	const struct rk_tool_found *best = t->library ? NULL : rk_tools_best(found, t->name);

	rk_bytes_clear(path);
	if (t->library)
		return rk_collector_find(t->programs[0], path);
	if (best)
		rk_bytes_puts(path, best->path);
	return best != NULL;
}

/* "rocprofv3 is not installed, but rocprof is: add '--tool rocprof'". */
static int tool_missing(const char *name, const struct rk_tools_found *found, struct rk_error *err)
{
	for (const struct rk_tool_ops *const *t = rk_tools; *t; t++)
		if (!(*t)->library && rk_tools_best(found, (*t)->name))
			return rk_fail(err, RK_E_UNSUPPORTED,
				       "%s is not installed, but %s is: add '--tool %s', or see "
				       "'rockit doctor' for what to install",
				       name, (*t)->name, (*t)->name);
	return rk_fail(err, RK_E_UNSUPPORTED,
		       "no profiler found: install rocprofiler-sdk (ROCm) or the rocm[profiler] "
		       "wheels, or set ROCM_PATH; 'rockit doctor' says where it looked");
}

/* The version that counts: as told, else as found. */
static int set_version(struct rk_plan *p, const char *told, const struct rk_tool_found *found,
		       struct rk_error *err)
{
	const char *text = told ? told : found ? found->rocm[0] ? found->rocm : found->version : "";

	if (text[0] && !rk_version_of_tool(p->tool->name, text, &p->version)) {
		if (told)
			return rk_fail(err, RK_E_USAGE, "'%s' is not a version of %s", told,
				       p->tool->name);
		rk_list_addf(&p->notes,
			     "the version of %s ('%s') cannot be read: taken for the newest",
			     p->tool_path, text);
	}
	return keep(&p->tool_version, text, err);
}

/* The first that is found among AMD's profilers, or among our own collectors. */
static const struct rk_tool_ops *choose_among(bool library, const struct rk_tools_found *found,
					      struct rk_bytes *path)
{
	for (const struct rk_tool_ops *const *t = rk_tools; *t; t++)
		if ((*t)->library == library && !is_cupti((*t)->name) && find_tool(*t, found, path))
			return *t;
	return NULL;
}

static const struct rk_tool_ops *choose_collector(const struct rk_plan *p,
						  const struct rk_tools_found *found,
						  struct rk_bytes *path)
{
	const struct rk_tool_ops *cupti = rk_tool_find("cupti");

	if (p->cuda && cupti && find_tool(cupti, found, path))
		return cupti;
	return choose_among(true, found, path);
}

/*
 * With an AMD GPU (or a target that was named) an AMD profiler is first; without, our own
 * collectors are: CUPTI's where there is NVIDIA's driver, else OpenCL's, which works everywhere.
 * An AMD GPU without a target beside NVIDIA's driver is one for the screen.
 */
static const struct rk_tool_ops *choose(const struct rk_session_options *opt, struct rk_plan *p,
					const struct rk_tools_found *found, struct rk_bytes *path)
{
	const struct rk_tool_ops *tool = NULL;

	if (!p->arch_assumed || (p->amd && !p->cuda))
		tool = choose_among(false, found, path);
	if (!tool && !opt->arch)
		tool = choose_collector(p, found, path);
	if (!tool && p->arch_assumed)
		tool = choose_among(false, found, path);
	return tool;
}

/* Where there are NVIDIA's GPUs alone, CUPTI is what everybody expects. */
static void note_choice(struct rk_plan *p)
{
	bool cupti = is_cupti(p->tool->name);

	if (p->tool->library && !(cupti && p->arch_assumed))
		rk_list_addf(&p->notes, "%s; %s ('rockit doctor' says more)",
			     p->arch_assumed && !p->amd ? "no AMD GPU here" :
							  "no AMD profiler here",
			     cupti ? "CUDA programs are traced" : "OpenCL calls are traced");
}

/* A plan for another machine names a version. */
static void note_no_cuda(const struct rk_session_options *opt, struct rk_plan *p)
{
	if (is_cupti(p->tool->name) && !p->cuda && !opt->tool_version)
		rk_list_add(&p->notes, "no NVIDIA GPU with NVIDIA's driver here: the program runs, "
				       "but nothing will be recorded of it");
}

/* Fills tool, path and version. */
static int from_found(const struct rk_session_options *opt, struct rk_plan *p,
		      const struct rk_tools_found *found, struct rk_bytes *path,
		      struct rk_error *err)
{
	bool there;
	int rc;

	p->tool = is_auto(opt->tool) ? choose(opt, p, found, path) : rk_tool_find(opt->tool);
	if (!p->tool)
		return tool_missing("a profiler", found, err);
	there = find_tool(p->tool, found, path);
	if (is_auto(opt->tool))
		note_choice(p);
	note_no_cuda(opt, p);
	/* A plan for a version that is told needs nothing installed; running it will. */
	if (!there && p->tool->library && !opt->tool_version)
		return rk_fail(
			err, RK_E_UNSUPPORTED,
			"%s is not beside the command and not in its lib folder: this rockit "
			"was built without it",
			p->tool->programs[0]);
	if (!there && !opt->tool_version)
		return tool_missing(p->tool->name, found, err);
	if (!there)
		rk_bytes_puts(path, p->tool->programs[0]);
	rc = rk_bytes_str(path) ? keep(&p->tool_path, rk_bytes_str(path), err) : rk_fail_nomem(err);
	if (rc == 0 && p->tool->library)
		return keep(&p->tool_version,
			    opt->tool_version ? opt->tool_version : ROCKIT_VERSION, err);
	return rc < 0 ? rc :
			set_version(p, opt->tool_version, rk_tools_best(found, p->tool->name), err);
}

static void find_hazards(struct rk_plan *p)
{
	const char *arch = p->arch_assumed ? "" : p->arch;
	const struct rk_hazard *h;
	size_t at = 0;

	while ((h = rk_hazards_next(p->tool->name, p->version, arch, &at)) != NULL)
		rk_list_add(&p->hazards, h->text);
}

int rk_plan_tool(const struct rk_session_options *opt, struct rk_plan *p, struct rk_error *err)
{
	const struct rk_tools_options where = { .root = opt->root };
	struct rk_tools_found found = { 0 };
	struct rk_bytes path;
	int rc = 0;

	rk_bytes_init(&path, 1 << 16);
	if (!is_auto(opt->tool) && !rk_tool_find(opt->tool))
		rc = tool_unknown(opt->tool, err);
	if (rc == 0)
		rc = rk_tools_find(&where, &found, err);
	if (rc == 0)
		rc = from_found(opt, p, &found, &path, err);
	rk_tools_release(&found);
	rk_bytes_release(&path);
	if (rc == 0)
		find_hazards(p);
	return rc;
}
