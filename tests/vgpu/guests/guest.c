/*
 * guest.c - another tool in the same process, in four ways that such tools work. Built without AMD's
 * headers, with the ABI that the collector declares. When the program ends it writes one JSON line with
 * what it saw to the file GUEST_OUT.
 *
 * GUEST names the way:
 *   replace     its own queue_create in the table, which calls the one before it; sees queues only
 *   intercept   queues become intercept queues; packets are counted and passed on
 *   signal      like that, and each dispatch gets a signal of its own, which is later relayed
 *   barrier     like that, but the program's signal goes into a barrier packet that is added
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hsa_abi.h"

enum way { REPLACE, INTERCEPT, SIGNAL, BARRIER };
enum { BARRIER_AND = 3, BARRIER_BIT = 1 << 8 };

#define SHOWN __attribute__((visibility("default")))

static enum way way;
static struct hsa_core core; /* as it was before us */
static struct hsa_amd amd;
static atomic_uint queues, kernels, timed, wrong, pending;
static atomic_ullong nanoseconds;

struct queue {
	uint64_t agent;
};

struct relay {
	uint64_t agent, signal, original;
};

/* On ROCr's thread for signals, when a dispatch has ended. */
static bool ended(int64_t value, void *arg)
{
	struct relay *r = arg;
	struct hsa_signal *from = (struct hsa_signal *)(uintptr_t)r->signal;
	struct hsa_time t = { 0 };

	(void)value;
	if (amd.get_dispatch_time(r->agent, r->signal, &t) == 0 && t.start && t.end > t.start) {
		nanoseconds += t.end - t.start;
		timed++;
	} else {
		wrong++;
	}
	if (r->original) {
		struct hsa_signal *to = (struct hsa_signal *)(uintptr_t)r->original;

		to->start = from->start;
		to->end = from->end;
		core.signal_subtract_screlease(r->original, 1);
	}
	core.signal_destroy(r->signal);
	free(r);
	pending--;
	return false;
}

/* Gives a dispatch our signal; false if there is none. */
static bool take(struct hsa_packet *p, uint64_t agent, uint64_t original)
{
	struct relay *r = malloc(sizeof(*r));

	if (!r || amd.signal_create(1, 0, NULL, 0, &r->signal) != 0) {
		free(r);
		return false;
	}
	r->agent = agent;
	r->original = original;
	p->signal = r->signal;
	pending++;
	amd.signal_async_handler(r->signal, HSA_CONDITION_LT, 1, ended, r);
	return true;
}

static void see(const void *packets, uint64_t count, uint64_t user_index, void *data,
		hsa_packet_writer writer)
{
	const struct hsa_packet *from = packets;
	struct queue *q = data;

	(void)user_index;
	for (uint64_t i = 0; i < count; i++) {
		struct hsa_packet out[2] = { from[i] };
		uint64_t original = from[i].signal;
		unsigned n = 1;

		if ((from[i].header & 0xff) == HSA_PACKET_DISPATCH) {
			kernels++;
			if (way == SIGNAL) {
				take(&out[0], q->agent, original);
			} else if (way == BARRIER && take(&out[0], q->agent, 0) && original) {
				out[1] = (struct hsa_packet){ .header = BARRIER_AND | BARRIER_BIT,
							      .signal = original };
				n = 2;
			}
		}
		writer(out, n);
	}
}

static hsa_status create(uint64_t agent, uint32_t size, uint32_t type, hsa_queue_error error,
			 void *data, uint32_t private_bytes, uint32_t group_bytes,
			 struct hsa_queue **ret)
{
	struct queue *q;
	hsa_status rc;

	queues++;
	if (way == REPLACE)
		return core.queue_create(agent, size, type, error, data, private_bytes, group_bytes,
					 ret);
	rc = amd.queue_intercept_create(agent, size, type, error, data, private_bytes, group_bytes,
					ret);
	q = calloc(1, sizeof(*q)); /* kept: the queue may call us until the end */
	if (rc != 0 || !q)
		return rc;
	q->agent = agent;
	amd.set_profiler_enabled(*ret, 1);
	amd.queue_intercept_register(*ret, see, q);
	return 0;
}

static void write_what_was_seen(void)
{
	const char *path = getenv("GUEST_OUT");
	FILE *f = path ? fopen(path, "w") : NULL;

	for (int i = 0; i < 200 && pending; i++)
		nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
	if (!f)
		return;
	fprintf(f, "{\"queues\":%u,\"kernels\":%u,\"timed\":%u,\"wrong\":%u,\"ns\":%llu}\n", queues,
		kernels, timed, wrong, nanoseconds);
	fclose(f);
}

SHOWN bool OnLoad(struct hsa_tables *tables, uint64_t version, uint64_t nfailed,
		  const char *const *failed);
SHOWN void OnUnload(void);

SHOWN bool OnLoad(struct hsa_tables *tables, uint64_t version, uint64_t nfailed,
		  const char *const *failed)
{
	static const char *const names[] = { "replace", "intercept", "signal", "barrier" };
	const char *name = getenv("GUEST");

	(void)version, (void)nfailed, (void)failed;
	for (unsigned i = 0; i < 4; i++)
		if (name && strcmp(name, names[i]) == 0)
			way = i;
	core = *tables->core;
	amd = *tables->amd;
	tables->core->queue_create = create;
	atexit(write_what_was_seen);
	return true;
}

SHOWN void OnUnload(void)
{
}
