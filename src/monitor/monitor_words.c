/* monitor_words.c - the names of what is sampled. */
#include "base/handle.h"
#include "base/words.h"
#include "rockit/monitor.h"

static const char *const names[] = {
	"power", "vram", "busy", "clock", "temp", "energy", "all", NULL,
};

static const struct rk_words metrics = { .what = "metric", .names = names, .n = 6 };

_Static_assert(RK_MONITOR_ALL == (1u << 6) - 1, "a word for each bit");

const char *rk_monitor_word(unsigned i)
{
	return rk_words_at(&metrics, i);
}

int rk_monitor_parse(const char *text, unsigned *ret, struct rk_error *err)
{
	if (!text || !ret)
		return rk_misuse(__func__, err);
	return rk_words_parse(&metrics, text, ret, err);
}
