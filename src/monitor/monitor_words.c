/* monitor_words.c - the names of what is sampled. */
#include <string.h>

#include "base/error.h"
#include "base/list.h"
#include "base/nearest.h"
#include "rockit/monitor.h"

/* By bit; "all" is one more word that may be written. */
static const char *const words[] = {
	"power", "vram", "busy", "clock", "temp", "energy", "all", NULL,
};

enum { ALL = 6 };

const char *rk_monitor_word(unsigned i)
{
	return i < ALL ? words[i] : NULL;
}

static int parse_word(const char *word, unsigned *bits, struct rk_error *err)
{
	const char *near = rk_nearest(word, words);

	for (unsigned i = 0; words[i]; i++) {
		if (strcmp(word, words[i]) == 0) {
			*bits |= i == ALL ? (unsigned)RK_MONITOR_ALL : 1u << i;
			return 0;
		}
	}
	if (near)
		return rk_fail(err, RK_E_USAGE, "unknown metric '%s'; did you mean '%s'?", word,
			       near);
	return rk_fail(err, RK_E_USAGE,
		       "unknown metric '%s'; known: power, vram, busy, clock, temp, energy, all",
		       word);
}

int rk_monitor_parse(const char *text, unsigned *ret, struct rk_error *err)
{
	struct rk_list parts = { 0 };
	unsigned bits = 0;
	int rc = 0;

	rk_list_split(&parts, text, ", ");
	if (parts.bad)
		rc = rk_fail_nomem(err);
	else if (!parts.n)
		rc = rk_fail(err, RK_E_USAGE,
			     "no metric is named; known: power, vram, busy, clock, "
			     "temp, energy, all");
	for (size_t i = 0; rc == 0 && i < parts.n; i++)
		rc = parse_word(parts.v[i], &bits, err);
	rk_list_release(&parts);
	if (rc == 0)
		*ret = bits;
	return rc;
}
