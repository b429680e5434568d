/* hotspots_json.c - hotspots as JSON: an object per kernel, a line per instruction. */
#include <string.h>

#include "base/text.h"
#include "report/hotspots_parts.h"
#include "report/report_parts.h"

const char *rk_hotspot_from_name(enum rk_hotspot_from from)
{
	return from == RK_FROM_PC_SAMPLES ? "pc_samples" : "thread_trace";
}

/* What a weight is. */
static const char *weight_name(enum rk_hotspot_from from)
{
	return from == RK_FROM_PC_SAMPLES ? "samples" : "cycles";
}

static void put_text(struct rk_bytes *out, const char *s)
{
	if (s && *s)
		rk_json_string(out, s, strlen(s));
	else
		rk_bytes_puts(out, "null");
}

static void put_count(struct rk_bytes *out, const char *key, uint64_t v)
{
	rk_bytes_printf(out, ",\"%s\":%" PRIu64, key, v);
}

static void put_percent(struct rk_bytes *out, double v)
{
	rk_bytes_puts(out, ",\"percent\":");
	rk_put_number(out, v, "null");
}

static void put_stalls(struct rk_bytes *out, const struct rk_hotspot *s)
{
	rk_bytes_puts(out, ",\"stalls\":{");
	for (size_t i = 0; i < s->nstalls; i++) {
		if (i)
			rk_bytes_put_u8(out, ',');
		rk_json_string(out, s->stalls[i].reason, strlen(s->stalls[i].reason));
		rk_bytes_printf(out, ":%" PRIu64, s->stalls[i].samples);
	}
	rk_bytes_put_u8(out, '}');
}

/* What all have: weight, percent, stalls. */
static void put_numbers(struct rk_bytes *out, const struct rk_hotspot *s, enum rk_hotspot_from from,
			double percent)
{
	put_count(out, weight_name(from), s->weight);
	put_percent(out, percent);
	put_count(out, "stalled", s->stalled);
	if (from == RK_FROM_PC_SAMPLES) {
		put_stalls(out, s);
	} else {
		put_count(out, "hits", s->hits);
		put_count(out, "idle", s->idle);
	}
}

static void put_spots(struct rk_bytes *out, const char *key, const struct rk_hotspot *s, size_t n,
		      enum rk_hotspot_from from)
{
	rk_bytes_printf(out, ",\n   \"%s\":[", key);
	for (size_t i = 0; i < n; i++, s++) {
		rk_bytes_puts(out, i ? ",\n    {" : "\n    {");
		if (s->instruction) {
			rk_bytes_puts(out, "\"instruction\":");
			put_text(out, s->instruction);
			rk_bytes_put_u8(out, ',');
		}
		rk_bytes_puts(out, "\"source\":");
		put_text(out, s->source);
		if (s->instruction && from == RK_FROM_THREAD_TRACE) {
			put_count(out, "vaddr", (uint64_t)s->vaddr);
		}
		put_numbers(out, s, from, s->percent);
		rk_bytes_put_u8(out, '}');
	}
	rk_bytes_put_u8(out, ']');
}

static void put_kernel(struct rk_bytes *out, const struct rk_hotspot_kernel *k)
{
	rk_bytes_puts(out, "{\"kernel\":");
	put_text(out, k->name);
	rk_bytes_printf(out, ",\"from\":\"%s\",\"calls\":", rk_hotspot_from_name(k->from));
	if (k->calls)
		rk_bytes_printf(out, "%" PRIu64 ",\"total_ns\":%" PRId64, k->calls, k->total_ns);
	else
		rk_bytes_puts(out, "null,\"total_ns\":null");
	put_numbers(out, &k->sum, k->from, k->percent);
	put_spots(out, "instructions", k->instructions, k->ninstructions, k->from);
	put_spots(out, "lines", k->lines, k->nlines, k->from);
	rk_bytes_put_u8(out, '}');
}

void rk_hotspots_json_array(struct rk_bytes *out, const struct rk_hotspots *h)
{
	rk_bytes_put_u8(out, '[');
	for (size_t i = 0; h && i < h->nkernels; i++) {
		rk_bytes_puts(out, i ? ",\n  " : "\n  ");
		put_kernel(out, &h->kernels[i]);
	}
	rk_bytes_put_u8(out, ']');
}

void rk_hotspots_json(struct rk_bytes *out, const struct rk_hotspots *h)
{
	rk_bytes_printf(out, "{\"schema\":1,\n \"samples\":%" PRIu64 ",\"cycles\":%" PRIu64,
			h->samples, h->cycles);
	rk_bytes_puts(out, ",\n \"hotspots\":");
	rk_hotspots_json_array(out, h);
	rk_bytes_puts(out, ",\n \"unsampled\":[");
	for (size_t i = 0; i < h->nsilent; i++) {
		rk_bytes_puts(out, i ? ",\n  {\"name\":" : "\n  {\"name\":");
		put_text(out, h->silent[i].name);
		rk_bytes_printf(out, ",\"calls\":%" PRIu64 ",\"total_ns\":%" PRId64 "}",
				h->silent[i].calls, h->silent[i].total_ns);
	}
	rk_bytes_put_u8(out, ']');
	rk_warnings_json(out, h->warnings, h->nwarnings);
	rk_bytes_puts(out, "\n}\n");
}
