/* doctor_environment.c - variables that this shell hands on and that change what is measured. */
#include <string.h>

#include "doctor/doctor_impl.h"

enum { MOST = 32 }; /* variables that are spoken of; a hostile environment has no end */

static size_t count_words(const char *list)
{
	size_t n = 0;

	for (const char *p = list; *p; p += strcspn(p, ",")) {
		p += strspn(p, ",");
		n += *p != '\0';
	}
	return n;
}

static void look_at_visible(struct rk_look *l, const char *name, const char *vendor)
{
	const char *value = rk_look_env(l, name);
	size_t all = rk_look_count(l, vendor), seen;

	if (!value || !all)
		return;
	seen = value[0] == '-' ? 0 : count_words(value);
	if (seen == 0) {
		rk_look_say(l, "visible-devices", RK_DOCTOR_WARN, name,
			    "%s='%s' hides every GPU from programs", name, value);
		rk_look_advise(l, "unset %s", name);
	} else {
		rk_look_say(l, "visible-devices", RK_DOCTOR_INFO, name,
			    "%s='%s': programs see %zu of the %zu GPUs at most", name, value,
			    seen < all ? seen : all, all);
	}
}

static void look_at_all_visible(struct rk_look *l)
{
	static const char *const names[] = { "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
					     "GPU_DEVICE_ORDINAL" };
	/* HIP listens to CUDA's variable as well. */
	const char *vendor = rk_look_count(l, "NVIDIA") ? "NVIDIA" : "AMD";

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		look_at_visible(l, names[i], "AMD");
	look_at_visible(l, "CUDA_VISIBLE_DEVICES", vendor);
	if (rk_look_env(l, names[0]) && rk_look_env(l, names[1]) && rk_look_count(l, "AMD"))
		rk_look_say(l, "visible-devices", RK_DOCTOR_INFO, names[1],
			    "%s counts within what %s leaves over", names[1], names[0]);
}

/* What a variable does. A name that ends in '_' stands for all that begin so. */
static const struct variable {
	const char *name;
	const char *value; /* only where its value holds this; NULL: always */
	enum rk_doctor_status status;
	const char *text;
	bool unset; /* the advice is to unset it */
} variables[] = {
	{ "ROCPROFILER_METRICS_PATH", NULL, RK_DOCTOR_WARN,
	  "the definitions of counters come from there, not from ROCm's own file", true },
	{ "ROCPROF_", NULL, RK_DOCTOR_INFO,
	  "steers rocprofv3; rockit run clears it, a rocprofv3 of your own would heed it", false },
	{ "HSA_TOOLS_LIB", NULL, RK_DOCTOR_WARN,
	  "puts a tool into every ROCm program: two profilers disturb each other", true },
	{ "ROCP_TOOL_", NULL, RK_DOCTOR_WARN,
	  "puts a tool into every ROCm program: two profilers disturb each other", true },
	{ "ROCP_", NULL, RK_DOCTOR_WARN, "steers rocprof v1 and rocprofv2", true },
	{ "LD_PRELOAD", "prof", RK_DOCTOR_WARN,
	  "puts a profiler into every program: two profilers disturb each other", true },
	{ "LD_PRELOAD", "trace", RK_DOCTOR_WARN,
	  "puts a tracer into every program: two profilers disturb each other", true },
	{ "LD_PRELOAD", NULL, RK_DOCTOR_INFO,
	  "is loaded into every program, the profiler's own library after it", false },
	{ "HSA_OVERRIDE_GFX_VERSION", NULL, RK_DOCTOR_WARN,
	  "makes ROCm take the GPU for another one: its counters do not fit", true },
	{ "AMD_SERIALIZE_KERNEL", NULL, RK_DOCTOR_WARN,
	  "makes kernels wait for each other: times are not those of a plain run", true },
	{ "HIP_LAUNCH_BLOCKING", NULL, RK_DOCTOR_WARN,
	  "makes every launch wait for its kernel: times are not those of a plain run", true },
	{ "CUDA_LAUNCH_BLOCKING", NULL, RK_DOCTOR_WARN,
	  "makes every launch wait for its kernel: times are not those of a plain run", true },
	{ "AMD_LOG_LEVEL", NULL, RK_DOCTOR_WARN, "makes HIP write a log: times suffer", true },
	{ "CUDA_INJECTION64_PATH", NULL, RK_DOCTOR_WARN,
	  "puts a tool into every CUDA program: two profilers disturb each other", true },
};

static bool is_named(const struct variable *v, const char *name, size_t len)
{
	size_t n = strlen(v->name);

	if (v->name[n - 1] == '_')
		return len > n && memcmp(name, v->name, n) == 0;
	return len == n && memcmp(name, v->name, n) == 0;
}

static const struct variable *known_variable(const char *entry, size_t len)
{
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		const struct variable *v = &variables[i];

		if (is_named(v, entry, len) && (!v->value || strstr(entry + len + 1, v->value)))
			return v;
	}
	return NULL;
}

/* Empty and "0" switch most of these off; a path is never that. */
static bool is_off(const char *value)
{
	return !value[0] || strcmp(value, "0") == 0;
}

static void look_at_variable(struct rk_look *l, const char *entry, const struct variable *v)
{
	char name[128];
	size_t len = strcspn(entry, "=");

	len = len < sizeof(name) ? len : sizeof(name) - 1;
	memcpy(name, entry, len);
	name[len] = '\0';
	rk_look_say(l, "environment", v->status, name, "%s %s", name, v->text);
	if (v->unset)
		rk_look_advise(l, "unset %s", name);
}

void rk_look_environment(struct rk_look *l)
{
	unsigned n = 0;

	look_at_all_visible(l);
	for (char *const *e = l->env; *e && n < MOST; e++) {
		size_t len = strcspn(*e, "=");
		const struct variable *v = (*e)[len] ? known_variable(*e, len) : NULL;

		if (v && !is_off(*e + len + 1)) {
			look_at_variable(l, *e, v);
			n++;
		}
	}
}
