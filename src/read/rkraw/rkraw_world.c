/* rkraw_world.c - rows that come from the header and the definitions; the columns of all tables. */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "read/rkraw/rkraw_reader.h"

enum { RAW_KIND = 256 };

#define BIT(field) (UINT64_C(1) << (field))

/* Columns that no record says anything about: they get no memory at all. */
static uint64_t never(const struct raw_rows *r)
{
	static const uint64_t unknown[RK_NTABLES] = {
		[RK_KERNELS] = BIT(RK_K_ACCUM_VGPR) | BIT(RK_K_SGPR) | BIT(RK_K_BARRIER),
		[RK_MEMALLOC] = BIT(RK_M_FLAGS),
		[RK_COUNTERS] = BIT(RK_N_INSTANCE) | BIT(RK_N_PASS),
		[RK_AGENTS] = BIT(RK_G_MAX_MCLK) | BIT(RK_G_XCC) | BIT(RK_G_SE_COUNT) |
			      BIT(RK_G_SIMD_PER_CU) | BIT(RK_G_WAVES_PER_CU) |
			      BIT(RK_G_L2_CHANNELS) | BIT(RK_G_HBM_CHANNELS) | BIT(RK_G_LDS_BANKS) |
			      BIT(RK_G_SQC_COUNT) | BIT(RK_G_PIPES),
	};
	static const uint64_t rank[RK_NTABLES] = {
		[RK_KERNELS] = BIT(RK_K_RANK),  [RK_MEMCPY] = BIT(RK_C_RANK),
		[RK_MEMALLOC] = BIT(RK_M_RANK), [RK_API] = BIT(RK_A_RANK),
		[RK_MARKERS] = BIT(RK_R_RANK),  [RK_COUNTERS] = BIT(RK_N_RANK),
	};

	return unknown[r->table] | (r->h->rank < 0 ? rank[r->table] : 0);
}

static int make_columns(struct raw_rows *r, struct rk_error *err)
{
	uint64_t want = r->want & ~never(r);

	_Static_assert((int)RK_K_NFIELDS <= (int)RAW_FIELDS, "room for every column");
	for (unsigned field = 0; field < r->b.schema->nfields; field++) {
		if (!(want >> field & 1))
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
		{ r->nvidia ? "sync" : "queue", r->nvidia ? 4 : 5, &r->queue_id },
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
		return RK_NONE;
	r->nomem |= rk_strtab_add(r->ctx->names, text, len, &id, NULL) < 0;
	return id;
}

int64_t rk_raw_marker_kind(struct raw_rows *r, uint64_t kind, uint64_t domain)
{
	const struct raw_definition *d = rk_raw_name(r->names, domain, RK_RAW_STRING);
	const char *word = kind == 2 ? "NVTX_MARK" : "NVTX_RANGE", *name;
	char buf[RAW_KIND];
	size_t len;
	int n;

	if (!d)
		return intern(r, word, strlen(word));
	name = rk_strtab_borrow(r->ctx->names, (uint32_t)d->v[0], &len);
	n = snprintf(buf, sizeof(buf), "%s:%.*s", word, (int)len, name);
	return intern(r, buf, n < (int)sizeof(buf) ? (size_t)n : sizeof(buf) - 1);
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
	rk_raw_put(r, RK_O_RANK, h->rank < 0 ? RK_NONE : h->rank);
	rk_raw_put(r, RK_O_LOCAL_RANK, h->local_rank < 0 ? RK_NONE : h->local_rank);
	rk_raw_put(r, RK_O_NODE, r->node_id ? (int64_t)r->node_id : RK_NONE);
	rk_raw_put(r, RK_O_START, h->start.boot_ns);
	rk_raw_put(r, RK_O_END, end);
	r->b.nrows++;
}

static int64_t text(const struct raw_rows *r, uint64_t id)
{
	const struct raw_definition *d = rk_raw_name(r->names, id, RK_RAW_STRING);

	return d ? (int64_t)d->v[0] : RK_NONE;
}

static int64_t positive(uint64_t v)
{
	return v && v <= INT64_MAX ? (int64_t)v : RK_NONE;
}

/* "gfx90a:sramecc+" is gfx90a; other names say nothing. */
static int64_t gfx(struct raw_rows *r, int64_t name)
{
	const char *s;
	size_t len;

	if (name == RK_NONE)
		return RK_NONE;
	s = rk_strtab_borrow(r->ctx->names, (uint32_t)name, &len);
	return len > 3 && !memcmp(s, "gfx", 3) ? intern(r, s, strcspn(s, ":")) : RK_NONE;
}

static void agent(struct raw_rows *r, const struct raw_definition *d)
{
	static const char *const types[] = { "OTHER", "GPU", "CPU", "OTHER" };
	const char *type = types[d->v[1] < 4 ? d->v[1] : 0];
	int64_t name = text(r, d->v[2]), code = gfx(r, name);
	int64_t arch = code == RK_NONE ? text(r, d->v[9]) : code;

	rk_raw_put(r, RK_G_DEVICE, d->v[0] <= INT64_MAX ? (int64_t)d->v[0] : RK_NONE);
	rk_raw_put(r, RK_G_TYPE, intern(r, type, strlen(type)));
	rk_raw_put(r, RK_G_NAME, name);
	rk_raw_put(r, RK_G_GFX, arch);
	rk_raw_put(r, RK_G_PRODUCT, code == RK_NONE ? name : RK_NONE);
	rk_raw_put(r, RK_G_CU_COUNT, positive(d->v[5]));
	rk_raw_put(r, RK_G_MAX_SCLK, positive(d->v[6]));
	rk_raw_put(r, RK_G_WAVE_SIZE, positive(d->v[7]));
	rk_raw_put(r, RK_G_MEMORY, positive(d->v[8]));
	rk_raw_put(r, RK_G_NODE, r->node_id ? (int64_t)r->node_id : RK_NONE);
	r->b.nrows++;
}

void rk_raw_agents(struct raw_rows *r, size_t *next)
{
	for (; *next < r->names->n && r->b.nrows < r->b.cap; ++*next)
		if (r->names->defs[*next].tag == RK_RAW_DEVICE)
			agent(r, &r->names->defs[*next]);
}
