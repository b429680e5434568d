/* counters_text.c - counters for people. */
#include <string.h>

#include "base/page.h"
#include "counters/counters_parts.h"

enum { PAD_MAX = 64 };

static void put_padded(struct rk_bytes *out, const char *s, size_t width)
{
	rk_bytes_printf(out, "%-*s", (int)(width < PAD_MAX ? width : PAD_MAX), s);
}

static void put_words(struct rk_bytes *out, const char *const *words)
{
	for (; *words; words++)
		rk_bytes_printf(out, " %s", *words);
}

/* What was asked for may be anything. */
static void put_asked(struct rk_bytes *out, const char *s)
{
	rk_put_printable(out, s, strlen(s), true);
}

static const char *kind(const struct rk_counter *c)
{
	if (!c->derived)
		return c->block;
	return c->needs[0] ? "derived" : "agent";
}

void rk_counters_text(struct rk_bytes *out, const struct rk_counters_shown *s)
{
	size_t width = 0;

	for (size_t i = 0; i < s->n; i++) {
		size_t len = strlen(s->counters[i]->name);

		width = len > width ? len : width;
	}
	for (size_t i = 0; i < s->n; i++) {
		put_padded(out, s->counters[i]->name, width + 2);
		put_padded(out, kind(s->counters[i]), strlen("derived") + 2);
		rk_bytes_printf(out, "%s\n", s->counters[i]->description);
	}
}

void rk_counters_targets_text(struct rk_bytes *out)
{
	const char *arch;

	for (size_t i = 0; (arch = rk_counters_arch(i)) != NULL; i++) {
		put_padded(out, arch, 9);
		rk_bytes_printf(out, "%4zu counters\n", rk_counters_count(arch));
	}
}

/* "# L2CacheHit -> TCC_HIT_sum TCC_MISS_sum: why" */
static void put_remark(struct rk_bytes *out, const struct rk_counter_check *c)
{
	rk_bytes_puts(out, "# ");
	put_asked(out, c->asked);
	if (c->status == RK_COUNTER_RENAMED) {
		rk_bytes_puts(out, " ->");
		put_words(out, c->use);
		rk_bytes_printf(out, ": %s\n", c->reason);
		return;
	}
	rk_bytes_printf(out, " left out: %s", c->reason);
	if (c->use[0]) {
		rk_bytes_puts(out, "; nearest:");
		put_words(out, c->use);
	}
	rk_bytes_put_u8(out, '\n');
}

/* The remarks never hold "pmc:", which old releases of rocprofv3 look for in comments as well. */
void rk_counters_plan_text(struct rk_bytes *out, const struct rk_counter_plan *p)
{
	rk_bytes_printf(out, "# %s: %zu %s of the program; the lower bound is %zu%s\n", p->arch,
			p->npasses, p->npasses == 1 ? "run" : "runs", p->lower_bound,
			p->npasses == p->lower_bound ? "" :
			p->optimal                   ? ", but fewer runs are not possible" :
						       ", fewer runs may be possible");
	for (size_t i = 0; i < p->nchecks; i++)
		if (p->checks[i].status != RK_COUNTER_OK)
			put_remark(out, &p->checks[i]);
	for (size_t i = 0; i < p->npasses; i++) {
		rk_bytes_puts(out, "pmc:");
		put_words(out, p->passes[i].counters);
		rk_bytes_put_u8(out, '\n');
	}
}

void rk_counters_checks_text(struct rk_bytes *out, const struct rk_counter_plan *p)
{
	for (size_t i = 0; i < p->nchecks; i++) {
		const struct rk_counter_check *c = &p->checks[i];

		put_padded(out, rk_counter_status_word(c->status), 9);
		put_asked(out, c->asked);
		if (c->status != RK_COUNTER_OK && c->use[0]) {
			rk_bytes_puts(out, c->status == RK_COUNTER_RENAMED ? " ->" : ", nearest:");
			put_words(out, c->use);
		}
		if (c->reason[0])
			rk_bytes_printf(out, " (%s)", c->reason);
		rk_bytes_put_u8(out, '\n');
	}
}
