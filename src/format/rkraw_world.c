/* rkraw_world.c - rows that come from the header and the definitions; the columns of all tables. */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "format/rkraw_reader.h"

/* Columns that a table is given here; what is in none of these lists has no memory at all. */
/* clang-format off */
static const uint8_t kernel_fields[] = {
	RK_K_NAME, RK_K_START, RK_K_DURATION, RK_K_GRID_X, RK_K_GRID_Y, RK_K_GRID_Z, RK_K_BLOCK_X,
	RK_K_BLOCK_Y, RK_K_BLOCK_Z, RK_K_REGS, RK_K_SHARED_MEM, RK_K_STREAM, RK_K_DEVICE, RK_K_QUEUE,
	RK_K_DISPATCH, RK_K_CORRELATION, RK_K_PID, RK_K_TID, RK_K_NODE, RK_K_RANK, RK_K_VGPR,
	RK_K_SCRATCH, RK_K_WAVE_SIZE, RK_K_ITEMS_X, RK_K_ITEMS_Y, RK_K_ITEMS_Z, RK_K_SOURCE,
	RK_K_CLOCK,
};
/* clang-format on */

static int make_columns(struct raw_rows *r, struct rk_error *err)
{
	unsigned n = r->table == RK_KERNELS ? sizeof(kernel_fields) : r->b.schema->nfields;

	_Static_assert((int)RK_K_NFIELDS <= (int)RAW_FIELDS, "room for every column");
	for (unsigned i = 0; i < n; i++) {
		unsigned field = r->table == RK_KERNELS ? kernel_fields[i] : i;

		if (!(r->want >> field & 1))
			continue;
		r->cols[field] = rk_builder_column(&r->b, field);
		if (!r->cols[field])
			return rk_fail_nomem(err);
	}
	return 0;
}

/* The collector in capitals, before "_API" and "_BUILD". */
static int make_domain(struct raw_rows *r, const char *tail, uint32_t *ret, struct rk_error *err)
{
	char name[sizeof(r->h->collector) + 16];
	size_t len = strnlen(r->h->collector, sizeof(r->h->collector));

	for (size_t i = 0; i < len; i++) {
		char c = r->h->collector[i];

		name[i] = (char)(c >= 'a' && c <= 'z' ? c - 32 : c);
	}
	memcpy(name + len, tail, strlen(tail));
	return rk_strtab_add(r->ctx->names, name, len + strlen(tail), ret, err);
}

int rk_raw_rows_init(struct raw_rows *r, struct rk_error *err)
{
	struct {
		const char *text;
		size_t len;
		uint32_t *id;
	} words[] = {
		{ "rkraw", 5, &r->source_id },
		{ "boottime", 8, &r->boot_id },
		{ "device", 6, &r->device_id },
		{ "queue", 5, &r->queue_id },
		{ r->h->host, strnlen(r->h->host, sizeof(r->h->host)), &r->node_id },
	};
	int rc = rk_builder_init(&r->b, rk_table_schema(r->table), RK_BATCH_ROWS, err);

	for (size_t i = 0; rc == 0 && i < sizeof(words) / sizeof(words[0]); i++)
		rc = rk_strtab_add(r->ctx->names, words[i].text, words[i].len, words[i].id, err);
	if (rc == 0)
		rc = make_domain(r, "_API", &r->api_id, err);
	if (rc == 0)
		rc = make_domain(r, "_BUILD", &r->build_id, err);
	return rc ? rc : make_columns(r, err);
}

void rk_raw_rows_release(struct raw_rows *r)
{
	rk_builder_release(&r->b);
}

/* ---- rows ---- */

static int64_t intern(struct raw_rows *r, const char *text, size_t len)
{
	uint32_t id = 0;

	if (!len)
		return RAW_NONE;
	r->nomem |= rk_strtab_add(r->ctx->names, text, len, &id, NULL) < 0;
	return id;
}

/* The words of the command with blanks between them; without any, the program's file. */
static int64_t command(struct raw_rows *r)
{
	const struct rk_raw_header *h = r->h;
	char line[sizeof(h->command)];
	size_t len = h->command_len < sizeof(line) ? h->command_len : sizeof(line);

	for (size_t i = 0; i < len; i++)
		line[i] = h->command[i] ? h->command[i] : ' ';
	while (len && line[len - 1] == ' ')
		len--;
	if (!len)
		return intern(r, h->exe, strnlen(h->exe, sizeof(h->exe)));
	return intern(r, line, len);
}

void rk_raw_process(struct raw_rows *r)
{
	const struct rk_raw_header *h = r->h;
	int64_t end = h->clean == 1 ? h->end.boot_ns : h->last[h->last_slot & 1].boot_ns;

	rk_raw_put(r, RK_O_PID, h->pid);
	rk_raw_put(r, RK_O_PPID, h->ppid);
	rk_raw_put(r, RK_O_COMMAND, command(r));
	rk_raw_put(r, RK_O_RANK, h->rank < 0 ? RAW_NONE : h->rank);
	rk_raw_put(r, RK_O_LOCAL_RANK, h->local_rank < 0 ? RAW_NONE : h->local_rank);
	rk_raw_put(r, RK_O_NODE, r->node_id ? (int64_t)r->node_id : RAW_NONE);
	rk_raw_put(r, RK_O_START, h->start.boot_ns);
	rk_raw_put(r, RK_O_END, end);
	r->b.nrows++;
}

static int64_t text(const struct raw_rows *r, uint64_t id)
{
	const struct raw_definition *d = rk_raw_name(r->names, id, RK_RAW_STRING);

	return d ? (int64_t)d->v[0] : RAW_NONE;
}

static int64_t positive(uint64_t v)
{
	return v && v <= INT64_MAX ? (int64_t)v : RAW_NONE;
}

/* "gfx90a:sramecc+" is gfx90a; other names say nothing. */
static int64_t gfx(struct raw_rows *r, int64_t name)
{
	const char *s;
	size_t len;

	if (name == RAW_NONE)
		return RAW_NONE;
	s = rk_strtab_borrow(r->ctx->names, (uint32_t)name, &len);
	return len > 3 && !memcmp(s, "gfx", 3) ? intern(r, s, strcspn(s, ":")) : RAW_NONE;
}

static void agent(struct raw_rows *r, const struct raw_definition *d)
{
	static const char *const types[] = { "OTHER", "GPU", "CPU", "OTHER" };
	const char *type = types[d->v[1] < 4 ? d->v[1] : 0];
	int64_t name = text(r, d->v[2]), code = gfx(r, name);

	rk_raw_put(r, RK_G_DEVICE, d->v[0] <= INT64_MAX ? (int64_t)d->v[0] : RAW_NONE);
	rk_raw_put(r, RK_G_TYPE, intern(r, type, strlen(type)));
	rk_raw_put(r, RK_G_NAME, name);
	rk_raw_put(r, RK_G_GFX, code);
	rk_raw_put(r, RK_G_PRODUCT, code == RAW_NONE ? name : RAW_NONE);
	rk_raw_put(r, RK_G_CU_COUNT, positive(d->v[5]));
	rk_raw_put(r, RK_G_MAX_SCLK, positive(d->v[6]));
	rk_raw_put(r, RK_G_MAX_MCLK, RAW_NONE);
	rk_raw_put(r, RK_G_XCC, RAW_NONE);
	rk_raw_put(r, RK_G_WAVE_SIZE, positive(d->v[7]));
	rk_raw_put(r, RK_G_MEMORY, positive(d->v[8]));
	rk_raw_put(r, RK_G_NODE, r->node_id ? (int64_t)r->node_id : RAW_NONE);
	r->b.nrows++;
}

void rk_raw_agents(struct raw_rows *r, size_t *next)
{
	for (; *next < r->names->n && r->b.nrows < r->b.cap; ++*next)
		if (r->names->defs[*next].tag == RK_RAW_DEVICE)
			agent(r, &r->names->defs[*next]);
}
