/* hotspots_csv.c - hotspots as CSV: a row per instruction. */
#include <string.h>

#include "base/text.h"
#include "report/hotspots_parts.h"
#include "report/report_parts.h"

static void put_text(struct rk_bytes *out, const char *s)
{
	rk_csv_cell(out, s, strlen(s));
	rk_bytes_put_u8(out, ',');
}

/* "WAITCNT=12 ALU_DEPENDENCY=3" */
static void put_stalls(struct rk_bytes *out, const struct rk_hotspot *s)
{
	struct rk_bytes cell;

	rk_bytes_init(&cell, 1 << 20);
	for (size_t i = 0; i < s->nstalls; i++)
		rk_bytes_printf(&cell, "%s%s=%" PRIu64, i ? " " : "", s->stalls[i].reason,
				s->stalls[i].samples);
	rk_csv_cell(out, (const char *)cell.data, cell.len);
	out->bad |= cell.bad;
	rk_bytes_release(&cell);
}

static void put_row(struct rk_bytes *out, const struct rk_hotspot_kernel *k,
		    const struct rk_hotspot *s)
{
	bool samples = k->from == RK_FROM_PC_SAMPLES;

	put_text(out, k->name);
	put_text(out, rk_hotspot_from_name(k->from));
	put_text(out, s->instruction);
	put_text(out, s->source);
	if (s->vaddr != -1)
		rk_bytes_printf(out, "%" PRIu64, (uint64_t)s->vaddr);
	rk_bytes_printf(out, samples ? ",%" PRIu64 ",," : ",,%" PRIu64 ",", s->weight);
	rk_put_number(out, s->percent, "");
	rk_bytes_printf(out, ",%" PRIu64 ",", s->stalled);
	if (samples)
		rk_bytes_puts(out, ",,");
	else
		rk_bytes_printf(out, "%" PRIu64 ",%" PRIu64 ",", s->hits, s->idle);
	put_stalls(out, s);
	rk_bytes_put_u8(out, '\n');
}

void rk_hotspots_csv(struct rk_bytes *out, const struct rk_hotspots *h)
{
	rk_bytes_puts(out,
		      "kernel,from,instruction,source,vaddr,samples,cycles,percent,stalled,hits,"
		      "idle,stalls\n");
	for (size_t i = 0; i < h->nkernels; i++)
		for (size_t k = 0; k < h->kernels[i].ninstructions; k++)
			put_row(out, &h->kernels[i], &h->kernels[i].instructions[k]);
}
