/* legacy.c - see legacy.h. */
#include "tool/legacy.h"

#include <stdio.h>
#include <string.h>

int rk_legacy_check(const char *tool, const struct rk_want *want, struct rk_error *err)
{
	const char *first = want->app->n ? want->app->v[0] : "";

	if (*first == '-')
		return rk_fail(err, RK_E_USAGE,
			       "%s cannot run a program whose name begins with a dash: '%s'", tool,
			       first);
	if (strpbrk(want->dir, " \t\n*?["))
		return rk_fail(err, RK_E_USAGE,
			       "%s cannot write to '%s': it does not quote blanks and wildcards; "
			       "choose another directory",
			       tool, want->dir);
	if (!strcmp(tool, "rocprof") && strstr(want->dir, ".csv"))
		return rk_fail(err, RK_E_USAGE,
			       "rocprof cannot write to '%s': it takes '.csv' for the end of the "
			       "name; choose another directory",
			       want->dir);
	return 0;
}

void rk_legacy_counters(const char *tool, const struct rk_want *want, struct rk_tool_command *c)
{
	const char *regex = want->kernel_regex;
	char filter[256] = "";

	if (regex && rk_tool_is_plain(regex) && strlen(regex) < 200)
		snprintf(filter, sizeof(filter), "kernel: %s\n", regex);
	else if (regex)
		rk_list_addf(&c->notes,
			     "all kernels: %s filters by parts of names, not by regular "
			     "expressions",
			     tool);
	rk_tool_counter_file(c, want, filter);
	rk_list_add(&c->argv, "-i");
	rk_list_addf(&c->argv, "%s/counters.txt", want->dir);
	c->counters = true;
}
