/* sim_v3_pftrace.c - a small Perfetto trace: kernels and API calls as slices. */
#include <string.h>

#include "sim_v3.h"

static void varint(struct text *t, uint64_t v)
{
	unsigned char b;

	do {
		b = (unsigned char)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
		text_bytes(t, &b, 1);
		v >>= 7;
	} while (v);
}

static void field(struct text *t, unsigned number, uint64_t v)
{
	varint(t, number << 3);
	varint(t, v);
}

static void bytes(struct text *t, unsigned number, const void *data, size_t len)
{
	varint(t, number << 3 | 2);
	varint(t, len);
	text_bytes(t, data, len);
}

static void string(struct text *t, unsigned number, const char *text)
{
	bytes(t, number, text, strlen(text));
}

/* Field numbers: Trace.packet 1; TracePacket timestamp 8, sequence 10, track_event 11, track 60. */
static void track(struct text *out, uint64_t uuid, const char *name)
{
	struct text descriptor = { 0 }, packet = { 0 };

	field(&descriptor, 1, uuid);
	string(&descriptor, 2, name);
	field(&packet, 10, 1);
	bytes(&packet, 60, descriptor.at, descriptor.len);
	bytes(out, 1, packet.at, packet.len);
}

static void event(struct text *out, uint64_t ts, uint64_t uuid, unsigned type, const char *category,
		  const char *name)
{
	struct text e = { 0 }, packet = { 0 };

	field(&e, 9, type);
	field(&e, 11, uuid);
	if (type == 1) {
		string(&e, 22, category);
		string(&e, 23, name);
	}
	field(&packet, 8, ts);
	field(&packet, 10, 1);
	field(&packet, 58, 6); /* BOOTTIME */
	bytes(&packet, 11, e.at, e.len);
	bytes(out, 1, packet.at, packet.len);
}

static const char *category_of(const struct call *c)
{
	return begins(c->domain, "HIP")    ? "hip_api" :
	       begins(c->domain, "HSA")    ? "hsa_api" :
	       begins(c->domain, "MARKER") ? "marker_api" :
					     "rccl_api";
}

void pftrace_named(struct text *out, const struct tool *t, const struct work *w)
{
	track(out, 1, print_text("THREAD 1 (%d)", (int)w->pid));
	track(out, 2, "STREAM [\" 1 \"] ");
	for (size_t i = 0; i < w->ncalls; i++) {
		const struct call *c = &w->calls[i];

		if (!tool_wants_call(t, c))
			continue;
		event(out, c->start, 1, 1, category_of(c), c->message ? c->message : c->function);
		event(out, c->end, 1, 2, NULL, NULL);
	}
	for (size_t i = 0; t->kernel && i < w->ndispatches; i++) {
		event(out, w->dispatches[i].start, 2, 1, "kernel_dispatch",
		      w->dispatches[i].kernel->name);
		event(out, w->dispatches[i].end, 2, 2, NULL, NULL);
	}
}

void pftrace_file(const struct tool *t, const struct work *w)
{
	pftrace_named(file_new(print_text("%s_results.pftrace", t->base)), t, w);
}
