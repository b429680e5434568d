/* tools.c - the profilers that are installed, the presets, and the counters of a chip by subject. */
#include <stdio.h>

#include <rockit/counters.h>
#include <rockit/preset.h>
#include <rockit/rockit.h>
#include <rockit/tools.h>

static int show_tools(struct rk_error *err)
{
	struct rk_tools_found found = { 0 };
	char *text = NULL;
	int rc = rk_tools_find(NULL, &found, err);

	if (rc == 0)
		rc = rk_tools_render(&found, RK_REPORT_TEXT, &text, NULL, err);
	if (rc == 0)
		fputs(text, stdout);
	rk_text_free(text);
	rk_tools_release(&found);
	return rc;
}

static int show_presets(struct rk_error *err)
{
	struct rk_preset_names names = { 0 };
	int rc = rk_preset_list(&names, err);

	for (size_t i = 0; rc == 0 && i < names.n; i++)
		printf("%s%s", i ? ", " : "presets: ", names.names[i]);
	printf("\n");
	rk_preset_names_release(&names);
	return rc;
}

static int show_counters(const char *arch, struct rk_error *err)
{
	struct rk_counter_names categories = { 0 };
	int rc = rk_counters_categories(&categories, err);

	for (size_t i = 0; rc == 0 && i < categories.n; i++) {
		struct rk_counter_names counters = { 0 };

		rc = rk_counters_of_category(arch, categories.names[i], &counters, err);
		if (rc == 0)
			printf("@%s has %zu counters on %s\n", categories.names[i], counters.n,
			       arch);
		rk_counter_names_release(&counters);
	}
	rk_counter_names_release(&categories);
	return rc;
}

int main(int argc, char **argv)
{
	struct rk_error err = { 0 };
	int rc;

	printf("rockit %s\n", rk_version());
	rc = show_tools(&err);
	if (rc == 0)
		rc = show_presets(&err);
	if (rc == 0)
		rc = show_counters(argc > 1 ? argv[1] : "gfx942", &err);
	if (rc < 0)
		fprintf(stderr, "tools: %s\n", err.message);
	return rc < 0 ? 1 : 0;
}
