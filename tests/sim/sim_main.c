/* sim_main.c - which tool of which release this process plays. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim.h"

extern char **environ;

struct sim sim;

static const struct {
	const char *name;
	int (*main)(int argc, char **argv);
} tools[] = {
	{ "rocprofv3", v3_main },
	{ "rocprofv3-avail", v3_avail_main },
	{ "rocprofv3_avail", v3_avail_main },
	{ "rocprof", v1_main },
	{ "rocprofv2", v2_main },
	{ "rocprof-compute", compute_main },
	{ "omniperf", compute_main },
	{ "rocprof-sys-run", sys_main },
	{ "rocprof-sys-sample", sys_main },
	{ "amd-smi", smi_main },
	{ "rocm-smi", smi_main },
	{ "rocm_agent_enumerator", smi_main },
};

/* The path of a command: found in PATH if it has no slash. */
static char *path_of(const char *argv0)
{
	const char *path = getenv("PATH");
	struct words folders = { 0 };

	if (strchr(argv0, '/'))
		return copy_text(argv0);
	words_split(&folders, path ? path : "", ":");
	for (size_t i = 0; i < folders.n; i++) {
		char *candidate = print_text("%s/%s", folders.at[i], argv0);

		if (access(candidate, X_OK) == 0)
			return candidate;
	}
	return copy_text(argv0);
}

/* TREE/bin/tool -> TREE, links not followed; TREE is where .info/version stands. */
static const char *root_of(const char *path)
{
	char *folder = copy_text(path), *slash = strrchr(folder, '/');

	if (!slash)
		return "";
	*slash = '\0';
	if (!ends(folder, "/bin"))
		return print_text("%s/..", folder);
	folder[strlen(folder) - 4] = '\0';
	return folder;
}

static const char *version_text(void)
{
	const char *v = getenv("ROCKIT_SIM_VERSION");

	if (!v)
		v = read_whole(print_text("%s/.info/version", sim.root), NULL);
	if (!v)
		v = "7.0.0";
	return print_text("%.*s", (int)strcspn(v, "-\n "), v);
}

/* The newest release known that is not newer than the version. */
static enum release release_of(const char *version)
{
	static const unsigned known[RELEASES] = { 602, 603, 604, 700, 713, 1001 };
	unsigned major = 0, minor = 0;
	int r = RELEASES - 1;

	if (sscanf(version, "%u.%u", &major, &minor) < 1)
		return REL_70;
	while (r > 0 && known[r] > major * 100 + minor)
		r--;
	return (enum release)r;
}

static unsigned setting(const char *name, unsigned otherwise)
{
	const char *text = getenv(name);
	unsigned long long v;

	return text && read_number(text, &v) && v < 10000000 ? (unsigned)v : otherwise;
}

static bool logged(const char *variable)
{
	static const char *const prefixes[] = {
		"ROC",    "RCCL_",   "NCCL_",    "LD_PRELOAD", "LD_LIBRARY_PATH", "HSA_",   "HIP",
		"AMD_",   "MIOPEN_", "TENSILE_", "KOKKOS_",    "RANK=",           "LOCAL_", "WORLD",
		"SLURM_", "OMPI_",   "OMP_",     "OMNI",
	};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (begins(variable, prefixes[i]))
			return !begins(variable, "ROCKIT_SIM_");
	return false;
}

static void log_environment(struct text *t)
{
	bool first = true;

	for (char **e = environ; *e; e++) {
		size_t len = strcspn(*e, "=");

		if (!logged(*e))
			continue;
		text_add(t, first ? "" : ",");
		text_json(t, print_text("%.*s", (int)len, *e));
		text_add(t, ":");
		text_json(t, (*e)[len] ? *e + len + 1 : "");
		first = false;
	}
}

static void log_invocation(char **argv)
{
	const char *path = getenv("ROCKIT_SIM_LOG");
	struct text t = { 0 };
	char cwd[4096];
	FILE *f;

	if (!path)
		return;
	text_add(&t, "{\"tool\":\"%s\",\"version\":\"%s\",\"pid\":%d,\"cwd\":", sim.tool,
		 sim.version, (int)getpid());
	text_json(&t, getcwd(cwd, sizeof(cwd)) ? cwd : "");
	text_add(&t, ",\"argv\":[");
	for (size_t i = 0; argv[i]; i++) {
		text_add(&t, i ? "," : "");
		text_json(&t, argv[i]);
	}
	text_add(&t, "],\"env\":{");
	log_environment(&t);
	text_add(&t, "}}\n");
	f = fopen(path, "a");
	if (!f)
		return;
	fwrite(t.at, 1, t.len, f);
	fclose(f);
}

int main(int argc, char **argv)
{
	char *path;

	if (argc < 1)
		return 120;
	path = path_of(argv[0]);
	sim.tool = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	sim.root = root_of(path);
	sim.version = version_text();
	sim.release = release_of(sim.version);
	sim.arch = getenv("ROCKIT_SIM_ARCH") ? getenv("ROCKIT_SIM_ARCH") : "gfx942";
	sim.kernels = setting("ROCKIT_SIM_KERNELS", 6);
	sim.ranks = setting("ROCKIT_SIM_RANKS", 0);
	sim.gpus = setting("ROCKIT_SIM_GPUS", 2);
	if (sim.gpus == 0)
		sim.gpus = 1;
	log_invocation(argv);
	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++)
		if (strcmp(tools[i].name, sim.tool) == 0)
			return tools[i].main(argc, argv);
	fprintf(stderr, "rockit-sim: unknown tool '%s'\n", sim.tool);
	return 120;
}
