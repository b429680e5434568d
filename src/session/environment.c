/* environment.c - see environment.h. */
#include "session/environment.h"

#include <string.h>

#include "base/alloc.h"

/* What stands between the members of a variable that is a list; 0 for those that are not. */
static char separator_of(const char *name)
{
	static const struct {
		const char *name;
		char separator;
	} lists[] = {
		{ "LD_PRELOAD", ':' },    { "LD_LIBRARY_PATH", ':' },
		{ "PATH", ':' },          { "PYTHONPATH", ':' },
		{ "HSA_TOOLS_LIB", ' ' }, { "ROCP_TOOL_LIBRARIES", ':' },
		{ "OPENCL_LAYERS", ':' }, { "KOKKOS_TOOLS_LIBS", ';' },
	};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		if (!strcmp(name, lists[i].name))
			return lists[i].separator;
	return 0;
}

bool rk_env_leaks(const char *entry)
{
	return strncmp(entry, "ROCPROF_", 8) == 0;
}

/* What rockit tells its own parts is not for others to keep. */
static bool is_ours(const char *name)
{
	return strncmp(name, "ROCKIT_", 7) == 0;
}

static void set_one(struct rk_list *env, const char *entry)
{
	char name[256], separator;
	const char *value = rk_list_entry(entry, name, sizeof(name)), *old;

	if (!value)
		return;
	separator = separator_of(name);
	old = rk_list_value(env, name);
	if (old && old[0] && separator) {
		char *joined = rk_strf("%s%c%s", old, separator, value);

		if (joined)
			rk_list_set(env, name, joined);
		env->bad = env->bad || !joined;
		rk_free(joined);
	} else if (!old || separator || is_ours(name)) {
		rk_list_set(env, name, value);
	}
}

void rk_env_make(char *const *base, const struct rk_list *set, struct rk_list *ret)
{
	for (; base && *base; base++)
		if (!rk_env_leaks(*base))
			rk_list_add(ret, *base);
	for (size_t i = 0; i < set->n; i++)
		set_one(ret, set->v[i]);
	ret->bad = ret->bad || set->bad;
}

void rk_env_kept(char *const *base, const struct rk_list *set, struct rk_list *ret)
{
	for (size_t i = 0; i < set->n; i++) {
		char name[256];
		const char *value = rk_list_entry(set->v[i], name, sizeof(name));
		const char *old = value ? rk_env_value(base, name) : NULL;

		if (old && !separator_of(name) && !is_ours(name) && !rk_env_leaks(set->v[i]) &&
		    strcmp(old, value))
			rk_list_add_once(ret, name);
	}
}
