/* doctor_tools.c - the profilers: which is used, whether it can work, what to install. */
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/num.h"
#include "doctor/doctor_impl.h"
#include "tool/detect.h"
#include "tool/tool.h"

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
		const struct rk_tool_found *found = rk_detect_best(&l->d->tools, (*t)->name);

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
	const char *text = rk_look_read(l, "/etc/os-release", &bytes), *found = "install";
	char ids[LINE_BYTES], like[LINE_BYTES];

	rk_sysfs_value(text ? text : "", "ID", '=', ids, sizeof(ids));
	rk_sysfs_value(text ? text : "", "ID_LIKE", '=', like, sizeof(like));
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!strstr(ids, known[i].word) && !strstr(like, known[i].word))
			continue;
		found = known[i].command;
		break;
	}
	rk_bytes_release(&bytes);
	return found;
}

/* Where there are NVIDIA's GPUs alone, ROCm is of no use. */
static void look_for_nsys(struct rk_look *l)
{
	if (l->cupti || has_any(l, "nsys"))
		return;
	rk_look_say(l, "no-profiler", RK_DOCTOR_INFO, "profilers",
		    "Nsight Systems (nsys) was not found in PATH");
	rk_look_advise(l, "install it from NVIDIA's repository (package nsight-systems); rockit "
			  "reads files without it");
}

static void look_for_none(struct rk_look *l)
{
	bool amd = rk_look_count(l, "AMD") > 0;

	rk_look_say(l, "no-profiler", amd ? RK_DOCTOR_BAD : RK_DOCTOR_INFO, "profilers",
		    "no profiler of ROCm was found in PATH, $ROCM_PATH, /opt/rocm* or Python's "
		    "packages");
	rk_look_advise(l,
		       "%s rocprofiler-sdk rocprofiler-compute rocprofiler-systems (from ROCm 7.13 "
		       "on one package, amdrocm-profiler) from AMD's repository, or: pip install "
		       "'rocm[profiler]'; rockit reads files without any of them",
		       installer(l));
}

static bool has_first(const struct rk_look *l, const char *name)
{
	for (size_t i = 0; i < l->d->tools.n; i++)
		if (l->d->tools.tools[i].first && strcmp(l->d->tools.tools[i].name, name) == 0)
			return true;
	return false;
}

/* Present but not to be run, and no other of that name in its place. */
static void look_at_unusable(struct rk_look *l)
{
	for (size_t i = 0; i < l->d->tools.n; i++) {
		const struct rk_tool_found *t = &l->d->tools.tools[i];

		if (t->usable || has_first(l, t->name))
			continue;
		rk_look_say(l, "not-executable", RK_DOCTOR_WARN, t->name,
			    "'%s' may not be executed by this user", t->path);
		rk_look_advise(l, "check its mode, and whether its file system is mounted noexec");
	}
}

/* Deep analysis comes in packages of its own, which few install. */
static void look_for_others(struct rk_look *l, const struct rk_tool_found *best)
{
	bool compute = has_any(l, "rocprof-compute") || has_any(l, "omniperf");
	bool systems = has_any(l, "rocprof-sys-") || has_any(l, "omnitrace");
	const char *package = compute ? "rocprofiler-systems" :
			      systems ? "rocprofiler-compute" :
					"rocprofiler-compute rocprofiler-systems";
	struct rk_version v = { 0 };

	if (compute && systems)
		return;
	if (rk_version_parse(best->rocm, &v) && rk_version_since(v, 7, 13))
		package = "amdrocm-profiler";
	rk_look_say(l, "other-profilers", RK_DOCTOR_INFO, "profilers", "%s not installed",
		    compute ? "rocprof-sys is" :
		    systems ? "rocprof-compute is" :
			      "rocprof-compute and rocprof-sys are");
	rk_look_advise(l, "%s %s, or: pip install 'rocm[profiler]'", installer(l), package);
}

static void list_releases(const struct rk_look *l, struct rk_list *ret)
{
	for (size_t i = 0; i < l->d->tools.n; i++)
		if (l->d->tools.tools[i].rocm[0])
			rk_list_add_once(ret, l->d->tools.tools[i].rocm);
}

/* The release under $ROCM_PATH, "" when it is not set or has no tool. */
static const char *release_of_rocm_path(const struct rk_look *l)
{
	const char *dir = rk_look_env(l, "ROCM_PATH");
	size_t len = dir ? strlen(dir) : 0;

	while (len && dir[len - 1] == '/')
		len--;
	for (size_t i = 0; len && i < l->d->tools.n; i++) {
		const struct rk_tool_found *t = &l->d->tools.tools[i];

		if (strncmp(t->path, dir, len) == 0 && t->path[len] == '/' && t->rocm[0])
			return t->rocm;
	}
	return "";
}

static void say_releases(struct rk_look *l, const struct rk_list *all,
			 const struct rk_tool_found *best)
{
	const char *other = release_of_rocm_path(l);
	struct rk_bytes names;

	rk_bytes_init(&names, LINE_BYTES);
	for (size_t i = 0; i < all->n; i++)
		rk_bytes_printf(&names, "%s%s", i ? ", " : "", all->v[i]);
	if (other[0] && best->rocm[0] && strcmp(other, best->rocm) != 0) {
		rk_look_say(l, "releases", RK_DOCTOR_WARN, "ROCm releases",
			    "PATH leads to %s of ROCm %s, but ROCM_PATH is a ROCm %s: a program "
			    "and its profiler may not fit",
			    best->name, best->rocm, other);
		rk_look_advise(l, "put $ROCM_PATH/bin first in PATH, or unset ROCM_PATH");
	} else {
		const char *text = rk_bytes_str(&names);

		rk_look_say(l, "releases", RK_DOCTOR_INFO, "ROCm releases",
			    "several have profilers here (%s); rockit run takes %s of ROCm %s",
			    text ? text : "a long list", best->name,
			    best->rocm[0] ? best->rocm : "(unknown)");
	}
	rk_bytes_release(&names);
}

static void look_at_releases(struct rk_look *l, const struct rk_tool_found *best)
{
	struct rk_list all = { 0 };

	list_releases(l, &all);
	l->bad |= all.bad;
	if (all.n > 1)
		say_releases(l, &all, best);
	rk_list_release(&all);
}

/* Both are Python scripts that begin with "#!/usr/bin/env python3". */
static void look_at_python(struct rk_look *l, const struct rk_tool_found *best)
{
	bool used = strcmp(best->name, "rocprofv3") == 0;

	if (!used && !has_any(l, "rocprof-compute"))
		return;
	if (rk_look_program(l, "python3"))
		return;
	rk_look_say(l, "python", used ? RK_DOCTOR_BAD : RK_DOCTOR_WARN, "python3",
		    "%s is a Python script, but there is no python3 in PATH",
		    used ? "rocprofv3" : "rocprof-compute");
	rk_look_advise(l, "%s python3, or add its directory to PATH", installer(l));
}

static bool setting(struct rk_look *l, const char *path, int64_t *ret)
{
	char line[32];

	return rk_look_line(l, path, line, sizeof(line)) &&
	       rk_num_i64(line, strlen(line), ret) == RK_NUM_OK;
}

/* Settings of the kernel that only some tools care about. */
static void look_at_settings(struct rk_look *l)
{
	int64_t v;
	bool samples = has_any(l, "rocprof-sys-") || has_any(l, "nsys");

	if (samples && setting(l, "/proc/sys/kernel/perf_event_paranoid", &v) && v > 2) {
		rk_look_say(l, "perf-events", RK_DOCTOR_WARN, "perf_event_paranoid",
			    "at %lld, rocprof-sys and nsys cannot count on the CPU", (long long)v);
		rk_look_advise(l, "sudo sysctl kernel.perf_event_paranoid=2");
	}
	if (has_any(l, "rocprof-attach") && l->user.uid != 0 &&
	    setting(l, "/proc/sys/kernel/yama/ptrace_scope", &v) && v > 0) {
		rk_look_say(l, "ptrace", RK_DOCTOR_INFO, "ptrace_scope",
			    "at %lld, no profiler can be attached to a program that runs already",
			    (long long)v);
		rk_look_advise(l, "to attach: sudo sysctl kernel.yama.ptrace_scope=0");
	}
}

void rk_look_tools(struct rk_look *l)
{
	const struct rk_tool_found *best = rk_look_best(l);

	look_at_unusable(l);
	if (best) {
		look_for_others(l, best);
		look_at_releases(l, best);
		look_at_python(l, best);
		look_at_settings(l);
	} else if ((l->nvidia || rk_look_count(l, "NVIDIA")) && !rk_look_count(l, "AMD")) {
		look_for_nsys(l);
	} else {
		look_for_none(l);
	}
}
