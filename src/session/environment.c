/* environment.c - see environment.h. */
#include "session/environment.h"

#include <string.h>

/* What stands between the members of a variable that is a list; 0 for those that are not. */
static char separator_of(const char *name, size_t len)
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
		if (strlen(lists[i].name) == len && !strncmp(name, lists[i].name, len))
			return lists[i].separator;
	return 0;
}

bool rk_env_leaks(const char *entry)
{
	return strncmp(entry, "ROCPROF_", 8) == 0;
}

static void set_one(struct rk_list *env, const char *entry, struct rk_list *kept)
{
	size_t len = strcspn(entry, "=");
	char name[256], separator = separator_of(entry, len);
	const char *value = entry[len] ? entry + len + 1 : "", *old;

	if (len >= sizeof(name))
		return;
	memcpy(name, entry, len);
	name[len] = '\0';
	old = rk_list_value(env, name);
	if (old && old[0] && separator) {
		struct rk_list joined = { 0 };

		rk_list_addf(&joined, "%s%c%s", old, separator, value);
		if (joined.n)
			rk_list_set(env, name, joined.v[0]);
		env->bad = env->bad || joined.bad;
		rk_list_release(&joined);
	} else if (!old || separator) {
		rk_list_set(env, name, value);
	} else if (strcmp(old, value) != 0 && kept) {
		rk_list_add_once(kept, name);
	}
}

void rk_env_make(char *const *base, const struct rk_list *set, struct rk_list *ret,
		 struct rk_list *kept)
{
	for (; base && *base; base++)
		if (!rk_env_leaks(*base))
			rk_list_add(ret, *base);
	for (size_t i = 0; i < set->n; i++)
		set_one(ret, set->v[i], kept);
}
