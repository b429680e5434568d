/* diff_words.c - what the pages of a comparison have in common. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "diff/diff_pages.h"
#include "report/report_parts.h"

void rk_put_change(struct rk_bytes *out, int64_t ns)
{
	if (ns)
		rk_bytes_put_u8(out, ns < 0 ? '-' : '+');
	rk_put_duration(out, fabs((double)ns));
}

static void put_noise(struct rk_bytes *out, const struct rk_diff_whole *w)
{
	if (isnan(w->noise_ns) || !w->delta_ns)
		return;
	rk_bytes_puts(out, w->significant ? ", beyond the noise (" : ", within the noise (");
	rk_put_duration(out, w->noise_ns);
	rk_bytes_put_u8(out, ')');
}

static void put_of(struct rk_bytes *out, const struct rk_diff_whole *w)
{
	rk_put_change(out, w->delta_ns);
	rk_bytes_puts(out, " of ");
	rk_put_duration(out, (double)w->a_ns);
}

void rk_put_diff_verdict(struct rk_bytes *out, const struct rk_diff *d)
{
	const struct rk_diff_whole *w = &d->gpu;

	if (!w->a_ns && !w->b_ns) {
		rk_bytes_puts(out, "neither A nor B has GPU time");
		return;
	}
	if (isnan(w->percent))
		rk_bytes_puts(out, "A has no GPU time: ");
	else if (fabs(w->percent) < 0.005)
		rk_bytes_puts(out, "B takes as long as A: ");
	else
		rk_bytes_printf(out, "B is %.*f %% %s: ", fabs(w->percent) < 1 ? 2 : 1,
				fabs(w->percent), w->delta_ns > 0 ? "slower" : "faster");
	put_of(out, w);
	rk_bytes_puts(out, " GPU time");
	put_noise(out, w);
}

void rk_put_diff_wall(struct rk_bytes *out, const struct rk_diff *d)
{
	const struct rk_diff_whole *w = &d->wall;

	if (!w->known) {
		rk_bytes_puts(out, "wall time is not known");
		return;
	}
	rk_bytes_puts(out, "wall time ");
	if (!isnan(w->percent))
		rk_bytes_printf(out, "%+.*f %%: ", fabs(w->percent) < 1 ? 2 : 1, w->percent + 0.0);
	put_of(out, w);
	put_noise(out, w);
}

const char *rk_diff_part_words(const char *part)
{
	static const char *const words[][2] = {
		{ "appeared", "kernels that are new" },
		{ "vanished", "kernels that are gone" },
		{ "speed", "kernels faster or slower" },
		{ "calls", "kernels called more or less often" },
		{ "overlap", "kernels at the same time" },
		{ "unplaced", "kernels without a start" },
		{ "copies", "copies beside no kernel" },
		{ "idle", "nothing ran" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i][0], part) == 0)
			return words[i][1];
	return part;
}

char rk_diff_mark(const struct rk_diff_kernel *k)
{
	if (!k->delta_ns && !k->speed_ns)
		return ' ';
	if (k->significant)
		return '*';
	if (k->match == RK_DIFF_SAME || k->match == RK_DIFF_RENAMED)
		return isnan(k->noise_ns) ? '?' : '~';
	return '~';
}

const char *rk_diff_match_word(enum rk_diff_match m)
{
	static const char *const words[] = { "same", "renamed", "appeared", "vanished" };

	return words[m];
}

const char *rk_diff_verdict_word(enum rk_diff_verdict v)
{
	return v == RK_DIFF_WITHIN ? "within" : v == RK_DIFF_BEYOND ? "beyond" : "unknown";
}

const char *rk_diff_kernel_name(const struct rk_diff_kernel *k)
{
	const char *name = k->match == RK_DIFF_VANISHED ? k->a.name : k->b.name;

	return name[0] ? name : "(no name)";
}

size_t rk_diff_changed(const struct rk_diff *d)
{
	size_t n = 0;

	while (n < d->nkernels && (d->kernels[n].delta_ns || d->kernels[n].speed_ns ||
				   d->kernels[n].a.calls != d->kernels[n].b.calls))
		n++;
	return n;
}
