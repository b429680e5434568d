/* pack_names.c - names of components, distributions, modules, folders and functions. */
#include <string.h>

#include "pack/artifacts.h"
#include "pack/pack_table.h"

const char *const rk_component_names[] = { "lib", "run", "dbg", "dev", "doc", "test", NULL };

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* What Python takes for a name. */
static void to_identifier(char *s)
{
	for (; *s; s++)
		if (!is_word(*s))
			*s = '_';
}

const char *rk_pack_script_function(struct rk_arena *a, const char *script)
{
	char *s = rk_arena_alloc(a, strlen(script) + 1);

	if (!s)
		return NULL;
	memcpy(s, script, strlen(script));
	for (char *c = s; *c; c++)
		if (*c == '+')
			*c = 'p';
	to_identifier(s);
	return s;
}

const char *rk_pack_dist_name(struct rk_arena *a, const struct rk_pack_kind *k, bool kpack,
			      const char *family)
{
	const char *form = kpack ? k->dist_kpack : k->dist;
	const char *at = strstr(form, "{family}");

	if (!at)
		return form;
	return rk_arena_textf(a, "%.*s%s%s", (int)(at - form), form, family,
			      at + strlen("{family}"));
}

static const char *identifier(struct rk_arena *a, const char *before, const char *name,
			      const char *behind)
{
	const char *text = name ? rk_arena_textf(a, "%s%s%s", before, name, behind) : NULL;
	char *copy = text ? rk_arena_alloc(a, strlen(text) + 1) : NULL;

	if (!copy)
		return NULL;
	memcpy(copy, text, strlen(text));
	to_identifier(copy);
	return copy;
}

const char *rk_pack_module_name(struct rk_arena *a, const struct rk_pack_kind *k, bool kpack,
				const char *family)
{
	return k->module ? k->module :
			   identifier(a, "", rk_pack_dist_name(a, k, kpack, family), "");
}

const char *rk_pack_platform_name(struct rk_arena *a, const struct rk_pack_table *t,
				  const struct rk_pack_kind *k, bool kpack, const char *family,
				  const char *nonce)
{
	const struct rk_pack_kind *whose = k->overlays ? rk_pack_table_find(t, k->overlays) : k;

	if (k->role == RK_PACK_META)
		return "";
	return identifier(a, "_", rk_pack_dist_name(a, whose ? whose : k, kpack, family), nonce);
}
