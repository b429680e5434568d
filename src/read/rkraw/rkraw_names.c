/* rkraw_names.c - definitions of a recorder's file, and its clocks. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "read/rkraw/rkraw_reader.h"

__extension__ typedef __int128 i128;

/* Fields behind the id, by tag. */
static unsigned fields_of(uint8_t tag)
{
	switch (tag) {
	case RK_RAW_DEVICE:
		return 9;
	case RK_RAW_QUEUE:
		return 3;
	case RK_RAW_FUNCTION:
		return 5;
	case RK_RAW_SHAPE:
		return 8;
	case RK_RAW_NOTE:
		return 1;
	default:
		return 0;
	}
}

static int64_t zigzag(struct rk_cursor *c)
{
	uint64_t v = rk_cursor_varint(c);

	return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

/* ---- definitions ---- */

/* The place of an id; NULL: past the limit (err untouched) or out of memory. */
static struct raw_definition *place(struct raw_names *n, uint64_t id, struct rk_error *err)
{
	struct raw_definition *grown;
	size_t cap;

	if (!id || id >= RAW_MAX_DEFINITIONS) {
		rk_oddities_count(n->odd, "definition-limit", 0, 1,
				  "a definition has number %" PRIu64 "; left out", id);
		return NULL;
	}
	if (id < n->n)
		return &n->defs[id];
	for (cap = n->n ? n->n : 64; cap <= id;)
		cap *= 2;
	grown = rk_realloc(n->defs, cap * sizeof(*grown));
	if (!grown) {
		rk_fail_nomem(err);
		return NULL;
	}
	memset(grown + n->n, 0, (cap - n->n) * sizeof(*grown));
	n->defs = grown;
	n->n = cap;
	return &n->defs[id];
}

static int add_string(struct raw_names *n, struct raw_definition *d, struct rk_cursor *c,
		      struct rk_error *err)
{
	size_t len = rk_cursor_left(c);
	uint32_t id;
	int rc = rk_strtab_add(n->ctx->names, (const char *)rk_cursor_take(c, len), len, &id, err);

	if (rc < 0)
		return rc;
	d->tag = RK_RAW_STRING;
	d->v[0] = id;
	return 0;
}

/* What a collector has to say stands with what is odd about the file. */
static void add_note(struct raw_names *n, uint64_t id)
{
	const struct raw_definition *d = rk_raw_name(n, id, RK_RAW_STRING);
	const char *text;
	size_t len;

	if (!d)
		return;
	text = rk_strtab_borrow(n->ctx->names, (uint32_t)d->v[0], &len);
	rk_oddities_count(n->odd, "collector", 0, 1, "%.*s", (int)len, text);
}

static int add_definition(struct raw_names *n, uint8_t tag, struct rk_cursor *c,
			  struct rk_error *err)
{
	struct raw_definition *d, read = { .tag = tag };
	unsigned fields = fields_of(tag);
	uint64_t id = rk_cursor_varint(c);

	for (unsigned i = 0; i < fields; i++)
		read.v[i] = rk_cursor_varint(c);
	if (c->bad) {
		rk_oddities_count(n->odd, "damaged-record", 0, 1, "a definition is too short");
		return 0;
	}
	d = place(n, id, err);
	if (!d)
		return err && err->code ? err->code : 0;
	if (tag == RK_RAW_STRING)
		return add_string(n, d, c, err);
	if ((tag == RK_RAW_QUEUE || tag == RK_RAW_DEVICE) && rk_cursor_left(c))
		read.v[fields] = rk_cursor_varint(c); /* one more than there was at first */
	*d = read;
	if (tag == RK_RAW_NOTE)
		add_note(n, read.v[0]);
	return 0;
}

/* ---- calibrations ---- */

static struct raw_clock *clock_of(struct raw_names *n, uint64_t device)
{
	for (unsigned i = 0; i < n->nclocks; i++)
		if (n->clocks[i].device == device)
			return &n->clocks[i];
	if (n->nclocks == RAW_MAX_CLOCKS)
		return NULL;
	n->clocks[n->nclocks].device = device;
	return &n->clocks[n->nclocks++];
}

static void add_calibration(struct raw_names *n, struct rk_cursor *c)
{
	unsigned before = n->nclocks;
	struct raw_calibration k;
	struct raw_clock *clock;
	uint64_t device = rk_cursor_varint(c);

	k.device_ns = zigzag(c);
	k.boot_ns = zigzag(c);
	zigzag(c); /* CLOCK_MONOTONIC_RAW, for people */
	k.error_ns = zigzag(c);
	if (c->bad || k.error_ns < 0) {
		rk_oddities_count(n->odd, "damaged-record", 0, 1, "a calibration is damaged");
		return;
	}
	clock = clock_of(n, device);
	if (!clock)
		return;
	if (n->nclocks > before)
		clock->first = clock->best = k;
	if (k.error_ns < clock->best.error_ns)
		clock->best = k;
	clock->last = k;
}

/* The line's rise above 1, over its run; false when two points make no line. */
static bool line(const struct raw_clock *c, i128 *run, i128 *more)
{
	*run = (i128)c->last.device_ns - c->first.device_ns;
	*more = (i128)c->last.boot_ns - c->first.boot_ns - *run;
	return *run >= 1000000000;
}

/* Clocks are slewed by 500 ppm at most; ten times that is another clock, or a machine that slept. */
static bool steady(i128 run, i128 more)
{
	return (more < 0 ? -more : more) <= run / 200;
}

bool rk_raw_clock_line(const struct raw_clock *c)
{
	i128 run, more;

	return line(c, &run, &more) && steady(run, more);
}

bool rk_raw_clock_jumped(const struct raw_clock *c)
{
	i128 run, more;

	return line(c, &run, &more) && !steady(run, more);
}

int64_t rk_raw_clock_error(const struct raw_clock *c)
{
	if (!rk_raw_clock_line(c))
		return c->best.error_ns;
	return c->first.error_ns > c->last.error_ns ? c->first.error_ns : c->last.error_ns;
}

bool rk_raw_time(const struct raw_clock *c, int64_t device_ns, int64_t *ret)
{
	i128 run, more, t = device_ns;

	if (c && line(c, &run, &more) && steady(run, more)) {
		t -= c->first.device_ns;
		t += t * more / run + c->first.boot_ns;
	} else if (c) {
		t += (i128)c->best.boot_ns - c->best.device_ns;
	}
	if (t < INT64_MIN || t > INT64_MAX)
		return false;
	*ret = (int64_t)t;
	return true;
}

const struct raw_clock *rk_raw_clock(const struct raw_names *n, uint64_t device)
{
	for (unsigned i = 0; i < n->nclocks; i++)
		if (n->clocks[i].device == device)
			return &n->clocks[i];
	return NULL;
}

/* ---- a block ---- */

int rk_raw_names_add(void *arg, const uint8_t *payload, size_t len, struct rk_error *err)
{
	struct raw_names *n = arg;
	struct rk_cursor c = rk_cursor_over(payload, len);
	int rc = 0;

	while (rc == 0 && rk_cursor_left(&c)) {
		uint8_t tag = rk_cursor_u8(&c);
		uint64_t size = rk_cursor_varint(&c);
		struct rk_cursor record;

		if (c.bad || size > rk_cursor_left(&c)) {
			rk_oddities_count(n->odd, "damaged-record", 0, 1,
					  "a definition goes beyond its block");
			return 0;
		}
		record = rk_cursor_over(rk_cursor_take(&c, (size_t)size), (size_t)size);
		if (tag == RK_RAW_CALIBRATION)
			add_calibration(n, &record);
		else if (tag == RK_RAW_STRING || fields_of(tag))
			rc = add_definition(n, tag, &record, err);
		else
			rk_oddities_count(n->odd, "unknown-record", 0, 1,
					  "a record of kind %u, which this rockit does not know",
					  tag);
	}
	return rc;
}

void rk_raw_names_release(struct raw_names *n)
{
	rk_free(n->defs);
	n->defs = NULL;
	n->n = 0;
}

const struct raw_definition *rk_raw_name(const struct raw_names *n, uint64_t id, uint32_t tag)
{
	return id < n->n && n->defs[id].tag == tag ? &n->defs[id] : NULL;
}
