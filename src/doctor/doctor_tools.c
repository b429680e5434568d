/* doctor_tools.c - the profilers: which is used, whether it can work, its known faults. */
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/num.h"
#include "base/text.h"
#include "doctor/doctor_impl.h"
#include "tool/hazards.h"
#include "tool/tool.h"

/* ---- installed profilers ---- */

enum { LINE_BYTES = 256 };

/* Any program whose name begins so: "rocprof-sys-". */
static bool has_any(const struct rk_look *l, const char *prefix)
{
	for (size_t i = 0; i < l->d->tools.n; i++)
		if (strncmp(l->d->tools.tools[i].name, prefix, strlen(prefix)) == 0)
			return true;
	return false;
}

const struct rk_tool_found *rk_look_best(const struct rk_look *l)
{
	for (const struct rk_tool_ops *const *t = rk_tools; *t; t++) {
		const struct rk_tool_found *found = rk_tools_best(&l->d->tools, (*t)->name);

		if (found && found->usable)
			return found;
	}
	return NULL;
}

/* "sudo apt install", as this distribution spells it. */
static const char *installer(struct rk_look *l)
{
	static const struct {
		const char *word, *command;
	} known[] = {
		{ "debian", "sudo apt install" },     { "ubuntu", "sudo apt install" },
		{ "fedora", "sudo dnf install" },     { "rhel", "sudo dnf install" },
		{ "azurelinux", "sudo dnf install" }, { "suse", "sudo zypper install" },
	};
	struct rk_bytes bytes;
	const char *text = rk_text_or_empty(rk_look_read(l, "/etc/os-release", &bytes));
	const char *found = "install";
	char ids[LINE_BYTES], like[LINE_BYTES];

	rk_sysfs_value(text, "ID", '=', ids, sizeof(ids));
	rk_sysfs_value(text, "ID_LIKE", '=', like, sizeof(like));
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!strstr(ids, known[i].word) && !strstr(like, known[i].word))
			continue;
		found = known[i].command;
		break;
	}
	rk_bytes_release(&bytes);
	return found;
}

/* Tools for deep analysis are in separate packages, which few people install. */
static void look_for_others(struct rk_look *l, const struct rk_tool_found *best)
{
	bool compute = has_any(l, "rocprof-compute") || has_any(l, "omniperf");
	bool systems = has_any(l, "rocprof-sys-") || has_any(l, "omnitrace");
	const char *package = "rocprofiler-compute rocprofiler-systems";
	const char *missing = "rocprof-compute and rocprof-sys are";
	struct rk_version v = { 0 };

	if (compute && systems)
		return;
	if (compute) {
		package = "rocprofiler-systems";
		missing = "rocprof-sys is";
	} else if (systems) {
		package = "rocprofiler-compute";
		missing = "rocprof-compute is";
	}
	if (rk_version_parse(best->rocm, &v) && rk_version_since(v, 7, 13))
		package = "amdrocm-profiler";
	rk_look_say(l, "other-profilers", RK_DOCTOR_INFO, "profilers", "%s not installed", missing);
	rk_look_advise(l, "%s %s, or: pip install 'rocm[profiler]'", installer(l), package);
}

/* Several releases, or a $ROCM_PATH that differs from the release in PATH. */
static void look_at_releases(struct rk_look *l, const struct rk_tool_found *best)
{
	const char *dir = rk_text_or_empty(rk_look_env(l, "ROCM_PATH")), *other = "", *text;
	struct rk_list all = { 0 };
	size_t len = strlen(dir);
	struct rk_bytes names;

	while (len && dir[len - 1] == '/')
		len--;
	for (size_t i = 0; i < l->d->tools.n; i++) {
		const struct rk_tool_found *t = &l->d->tools.tools[i];

		if (!t->rocm[0])
			continue;
		rk_list_add_once(&all, t->rocm);
		if (len && !other[0] && strncmp(t->path, dir, len) == 0 && t->path[len] == '/')
			other = t->rocm;
	}
	l->bad |= all.bad;

	rk_bytes_init(&names, LINE_BYTES);
	for (size_t i = 0; i < all.n; i++)
		rk_bytes_printf(&names, "%s%s", i ? ", " : "", all.v[i]);
	text = rk_bytes_str(&names);
	if (all.n > 1 && other[0] && best->rocm[0] && strcmp(other, best->rocm) != 0) {
		rk_look_say(l, "releases", RK_DOCTOR_WARN, "ROCm releases",
			    "PATH finds %s of ROCm %s, but ROCM_PATH is ROCm %s: a program and "
			    "its profiler may not match",
			    best->name, best->rocm, other);
		rk_look_advise(l, "put $ROCM_PATH/bin first in PATH, or unset ROCM_PATH");
	} else if (all.n > 1) {
		rk_look_say(l, "releases", RK_DOCTOR_INFO, "ROCm releases",
			    "several releases have profilers (%s); rockit run uses %s of ROCm %s",
			    text ? text : "a long list", best->name,
			    best->rocm[0] ? best->rocm : "(unknown)");
	}
	rk_bytes_release(&names);
	rk_list_release(&all);
}

/* Both are Python scripts that begin with "#!/usr/bin/env python3". */
static void look_at_python(struct rk_look *l, const struct rk_tool_found *best)
{
	enum rk_doctor_status status = RK_DOCTOR_WARN;
	const char *script = "rocprof-compute";

	if (strcmp(best->name, "rocprofv3") == 0) {
		status = RK_DOCTOR_BAD;
		script = "rocprofv3";
	}
	if (!has_any(l, script) || rk_look_program(l, "python3"))
		return;
	rk_look_say(l, "python", status, "python3",
		    "%s is a Python script, but python3 is not in PATH", script);
	rk_look_advise(l, "%s python3, or add its directory to PATH", installer(l));
}

static bool setting(struct rk_look *l, const char *path, int64_t *ret)
{
	char line[32];

	return rk_look_line(l, path, line, sizeof(line)) &&
	       rk_num_i64(line, strlen(line), ret) == RK_NUM_OK;
}

/* Kernel settings that affect only some tools. */
static void look_at_settings(struct rk_look *l)
{
	int64_t v;
	bool samples = has_any(l, "rocprof-sys-") || has_any(l, "nsys");

	if (samples && setting(l, "/proc/sys/kernel/perf_event_paranoid", &v) && v > 2) {
		rk_look_say(l, "perf-events", RK_DOCTOR_WARN, "perf_event_paranoid",
			    "at %lld, rocprof-sys and nsys cannot use CPU counters", (long long)v);
		rk_look_advise(l, "sudo sysctl kernel.perf_event_paranoid=2");
	}
	if ((has_any(l, "rocprof-attach") || has_any(l, "rocprofv3-attach")) && l->user.uid != 0 &&
	    setting(l, "/proc/sys/kernel/yama/ptrace_scope", &v) && v > 0) {
		rk_look_say(l, "ptrace", RK_DOCTOR_INFO, "ptrace_scope",
			    "at %lld, profilers cannot attach to running programs", (long long)v);
		rk_look_advise(l, "to attach: sudo sysctl kernel.yama.ptrace_scope=0");
	}
}

static void look_at_installed(struct rk_look *l)
{
	const struct rk_tool_found *best = rk_look_best(l), *all = l->d->tools.tools;
	bool amd = rk_look_count(l, "AMD") > 0;

	/* Present but not executable, and no other program of that name. */
	for (size_t i = 0; i < l->d->tools.n; i++) {
		size_t k = 0;

		while (k < l->d->tools.n && !(all[k].first && !strcmp(all[k].name, all[i].name)))
			k++;
		if (all[i].usable || k < l->d->tools.n)
			continue;
		rk_look_say(l, "not-executable", RK_DOCTOR_WARN, all[i].name,
			    "this user cannot execute '%s'", all[i].path);
		rk_look_advise(l, "check its mode, and whether its file system is mounted noexec");
	}

	if (best) {
		look_for_others(l, best);
		look_at_releases(l, best);
		look_at_python(l, best);
		look_at_settings(l);
	} else if ((l->nvidia || rk_look_count(l, "NVIDIA")) && !amd) {
		/* With only NVIDIA GPUs, ROCm is useless. */
		if (l->cupti || has_any(l, "nsys"))
			return;
		rk_look_say(l, "no-profiler", RK_DOCTOR_INFO, "profilers",
			    "Nsight Systems (nsys) not found in PATH");
		rk_look_advise(l, "install it from NVIDIA's repository (package nsight-systems); "
				  "rockit can read files without it");
	} else {
		enum rk_doctor_status status = amd ? RK_DOCTOR_BAD : RK_DOCTOR_INFO;

		if (l->rocm) /* our own collector traces */
			status = RK_DOCTOR_WARN;
		rk_look_say(l, "no-profiler", status, "profilers",
			    "no ROCm profiler found in PATH, $ROCM_PATH, /opt/rocm* or Python "
			    "packages");
		rk_look_advise(l,
			       "%s rocprofiler-sdk rocprofiler-compute rocprofiler-systems (since "
			       "ROCm 7.13 one package, amdrocm-profiler) from AMD's repository, "
			       "or: pip install 'rocm[profiler]'; rockit can read files without "
			       "them",
			       installer(l));
	}
}

/* ---- known faults ---- */

/* The later of the installation's release and the tool's own: ROCm 7.2.4 has the SDK of 7.13. */
static struct rk_version release_of(const struct rk_tool_found *t)
{
	struct rk_version v = { 0 }, own = { 0 };

	rk_version_parse(t->rocm, &v);
	if (rk_version_of_tool(t->name, t->version, &own) && rk_version_compare(own, v) > 0)
		v = own;
	return v;
}

/* A successor of rocprofv3 by name, or a release that came out after this rockit. */
static void look_at_newer(struct rk_look *l)
{
	for (size_t i = 0; i < l->d->tools.n; i++) {
		const struct rk_tool_found *t = &l->d->tools.tools[i];
		bool successor = strncmp(t->name, "rocprofv", 8) == 0 && t->name[8] > '3';
		const struct rk_version newest = RK_ROCM_NEWEST;
		const char *new = NULL;

		if (rk_version_newer(t->name, t->version))
			new = t->version;
		else if (rk_version_newer(t->name, t->rocm))
			new = t->rocm;
		/* rocprof-sys has a dozen programs: report one of them */
		if (!t->first || !(rk_tool_find(t->name) || successor ||
				   strcmp(t->name, "rocprof-sys-sample") == 0))
			continue;
		if (successor)
			rk_look_say(l, "newer", RK_DOCTOR_INFO, t->name,
				    "%s is newer than this rockit and not supported", t->name);
		else if (new)
			rk_look_say(l, "newer", RK_DOCTOR_INFO, t->name,
				    "version %s is newer than this rockit: it is called with the "
				    "options of ROCm %d.%d",
				    new, newest.major, newest.minor);
	}
}

static void look_at_chip(struct rk_look *l, const char *tool, struct rk_version v, const char *gfx,
			 const struct rk_machine *m)
{
	const struct rk_hazard_case c = {
		.tool = tool,
		.version = v,
		.arch = gfx,
		.any = true,
		.asks = m->wsl ? RK_CASE_WSL : 0,
		.driver = m->driver,
		.firmware = m->firmware,
	};
	const struct rk_doctor_check *checks;
	struct rk_hazards found = { 0 };
	size_t i;

	l->bad |= rk_hazards_find(&c, &found, NULL) < 0;
	for (const struct rk_hazard *h = found.v; !l->bad && h < found.v + found.n; h++) {
		/* Several chips, or two names of one chip, may match the same rule. */
		checks = l->d->checks;
		for (i = 0; i < l->d->nchecks; i++)
			if (strcmp(checks[i].subject, tool) == 0 &&
			    strcmp(checks[i].text, h->text) == 0)
				break;
		/* The power level itself was checked for RDNA's counters (doctor_gpus.c). */
		if (i < l->d->nchecks || strstr(h->text, "STABLE_STD"))
			continue;
		/* A rule for every release and chip is a note; one for some of them, a warning. */
		rk_look_say(l, "hazard", h->special ? RK_DOCTOR_WARN : RK_DOCTOR_INFO, tool, "%s",
			    h->text);
	}
	rk_hazards_release(&found);
}

void rk_look_tools(struct rk_look *l)
{
	struct rk_machine machine;

	l->bad |= rk_machine_read(l->root, &machine, NULL) < 0;
	look_at_installed(l);
	look_at_newer(l);
	for (const struct rk_tool_ops *const *t = rk_tools; *t; t++) {
		const char *name = (*t)->name;
		const struct rk_tool_found *found = rk_tools_best(&l->d->tools, name);
		bool old = strcmp(name, "rocprofv2") == 0 || strcmp(name, "rocprof") == 0;
		const struct rk_gpu *gpu;

		/* Of the three rocprof versions, only the one in use. */
		if (!found || !found->usable || (old && found != rk_look_best(l)))
			continue;
		/* Rules for every chip come before rules for some chips. */
		look_at_chip(l, name, release_of(found), "", &machine);
		for (size_t i = 0; (gpu = rk_look_amd(l, i)) != NULL; i++)
			look_at_chip(l, name, release_of(found), gpu->gfx, &machine);
	}
}
