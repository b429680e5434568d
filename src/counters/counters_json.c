/* counters_json.c - counters for programs: JSON and CSV. */
#include <string.h>

#include "base/json_out.h"
#include "base/text.h"
#include "counters/counters_parts.h"

/* Words as a flat array; NULL is an empty one. */
static void put_words(struct rk_json_out *j, const char *key, const char *const *words)
{
	rk_json_array_flat(j, key);
	for (; words && *words; words++)
		rk_json_text(j, NULL, *words);
	rk_json_close(j);
}

static void begin(struct rk_json_out *j, struct rk_bytes *out, const char *arch)
{
	rk_json_begin(j, out);
	rk_json_int(j, "schema", 1);
	rk_json_text(j, "arch", arch);
}

void rk_counters_json(struct rk_bytes *out, const struct rk_counters_shown *s)
{
	struct rk_json_out j;

	begin(&j, out, s->arch);
	rk_json_array(&j, "counters");
	for (size_t i = 0; i < s->n; i++) {
		const struct rk_counter *c = s->counters[i];

		rk_json_object_flat(&j, NULL);
		rk_json_text(&j, "name", c->name);
		rk_json_text(&j, "block", c->block[0] ? c->block : NULL);
		rk_json_bool(&j, "derived", c->derived);
		put_words(&j, "needs", c->needs);
		rk_json_text(&j, "description", c->description);
		rk_json_close(&j);
	}
	rk_json_close(&j);
	rk_json_end(&j);
}

void rk_counters_targets_json(struct rk_bytes *out)
{
	struct rk_json_out j;
	const char *arch;

	begin(&j, out, NULL);
	rk_json_array(&j, "targets");
	for (size_t i = 0; (arch = rk_counters_arch(i)) != NULL; i++) {
		rk_json_object_flat(&j, NULL);
		rk_json_text(&j, "arch", arch);
		rk_json_uint(&j, "counters", rk_counters_count(arch));
		rk_json_close(&j);
	}
	rk_json_close(&j);
	rk_json_end(&j);
}

static void put_renamed(struct rk_json_out *j, const struct rk_counter_plan *p)
{
	rk_json_object(j, "renamed");
	for (size_t i = 0; i < p->nchecks; i++)
		if (p->checks[i].status == RK_COUNTER_RENAMED)
			put_words(j, p->checks[i].asked, p->checks[i].use);
	rk_json_close(j);
}

static void put_missing(struct rk_json_out *j, const struct rk_counter_plan *p)
{
	rk_json_object(j, "missing");
	for (size_t i = 0; i < p->nchecks; i++)
		if (p->checks[i].status == RK_COUNTER_MISSING)
			rk_json_text(j, p->checks[i].asked, p->checks[i].reason);
	rk_json_close(j);
}

void rk_counters_plan_json(struct rk_bytes *out, const struct rk_counter_plan *p)
{
	struct rk_json_out j;

	begin(&j, out, p->arch);
	rk_json_array(&j, "passes");
	for (size_t i = 0; i < p->npasses; i++) {
		rk_json_object_flat(&j, NULL);
		put_words(&j, "counters", p->passes[i].counters);
		rk_json_close(&j);
	}
	rk_json_close(&j);
	rk_json_uint(&j, "lower_bound", p->lower_bound);
	rk_json_bool(&j, "optimal", p->optimal);
	put_renamed(&j, p);
	put_missing(&j, p);
	rk_json_end(&j);
}

void rk_counters_checks_json(struct rk_bytes *out, const struct rk_counter_plan *p)
{
	struct rk_json_out j;

	begin(&j, out, p->arch);
	rk_json_array(&j, "checks");
	for (size_t i = 0; i < p->nchecks; i++) {
		const struct rk_counter_check *c = &p->checks[i];

		rk_json_object_flat(&j, NULL);
		rk_json_text(&j, "name", c->asked);
		rk_json_text(&j, "status", rk_counter_status_word(c->status));
		put_words(&j, "use", c->use);
		rk_json_text(&j, "reason", c->reason);
		rk_json_close(&j);
	}
	rk_json_close(&j);
	rk_json_end(&j);
}

static void put_cell(struct rk_bytes *out, const char *s, char end)
{
	rk_csv_cell(out, s, strlen(s));
	rk_bytes_put_u8(out, (uint8_t)end);
}

/* Words as one cell with blanks between: no name has one. */
static void put_cells(struct rk_bytes *out, const char *const *words)
{
	for (; words && *words; words++)
		rk_bytes_printf(out, "%s%s", *words, words[1] ? " " : "");
	rk_bytes_put_u8(out, ',');
}

void rk_counters_csv(struct rk_bytes *out, const struct rk_counters_shown *s)
{
	rk_bytes_puts(out, "name,block,derived,needs,description\n");
	for (size_t i = 0; i < s->n; i++) {
		const struct rk_counter *c = s->counters[i];

		put_cell(out, c->name, ',');
		put_cell(out, c->block, ',');
		put_cell(out, c->derived ? "true" : "false", ',');
		put_cells(out, c->needs);
		put_cell(out, c->description, '\n');
	}
}

void rk_counters_targets_csv(struct rk_bytes *out)
{
	const char *arch;

	rk_bytes_puts(out, "arch,counters\n");
	for (size_t i = 0; (arch = rk_counters_arch(i)) != NULL; i++)
		rk_bytes_printf(out, "%s,%zu\n", arch, rk_counters_count(arch));
}

void rk_counters_plan_csv(struct rk_bytes *out, const struct rk_counter_plan *p)
{
	rk_bytes_puts(out, "pass,counter\n");
	for (size_t i = 0; i < p->npasses; i++) {
		for (size_t k = 0; k < p->passes[i].n; k++) {
			rk_bytes_printf(out, "%zu,", i + 1);
			put_cell(out, p->passes[i].counters[k], '\n');
		}
	}
}

void rk_counters_checks_csv(struct rk_bytes *out, const struct rk_counter_plan *p)
{
	rk_bytes_puts(out, "name,status,use,reason\n");
	for (size_t i = 0; i < p->nchecks; i++) {
		const struct rk_counter_check *c = &p->checks[i];

		put_cell(out, c->asked, ',');
		put_cell(out, rk_counter_status_word(c->status), ',');
		put_cells(out, c->use);
		put_cell(out, c->reason, '\n');
	}
}
