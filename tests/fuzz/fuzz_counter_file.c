/* fuzz_counter_file.c - lists of counters: pmc: lines, YAML and JSON job files. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "counters/counter_ask.h"
#include "rockit/counters.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CHECKED_MAX = 8 };

/* Every name has an answer: it exists, or there is a reason. */
static void check_names(const struct rk_list *names)
{
	for (size_t i = 0; i < names->n && i < CHECKED_MAX; i++) {
		const char *name = names->v[i];
		struct rk_counter_plan *p = NULL;
		struct rk_error err = { 0 };

		if (rk_counters_check("gfx942", &name, 1, &p, &err) < 0) {
			if (!err.message[0])
				abort();
			continue;
		}
		for (size_t k = 0; k < p->nchecks; k++)
			if ((p->checks[k].status == RK_COUNTER_OK) != !p->checks[k].reason[0])
				abort();
		rk_counter_plan_free(p);
	}
}

/* Whatever the bytes are: names that can be names, or an error that says something. */
static void read_as(const uint8_t *data, size_t size, const char *name)
{
	struct rk_list names = { 0 };
	struct rk_error err = { 0 };
	int rc = rk_counter_file_parse((const char *)data, size, name, &names, &err);

	if (rc == 0 ? names.n == 0 || names.n > RK_COUNTER_NAMES_MAX :
		      err.code != rc || !err.message[0])
		abort();
	for (size_t i = 0; i < names.n; i++)
		if (!names.v[i][0] || strlen(names.v[i]) > RK_COUNTER_NAME_BYTES_MAX)
			abort();
	if (rc == 0)
		check_names(&names);
	rk_list_release(&names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_as(data, size, "a.txt");
	read_as(data, size, "a.yaml");
	read_as(data, size, "a.json");
	return 0;
}
