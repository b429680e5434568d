/* json_names.c - agents, kernels, operations and texts that records refer to by number. */
#include <string.h>

#include "base/alloc.h"
#include "read/rocprofv3/json.h"

enum {
	SYMBOLS_MAX = 1 << 18,
	OPERATIONS_MAX = 1 << 18,
	TEXT_BYTES_MAX = 16 << 20,
};

void rk_v3j_names_clear(struct v3j_names *n)
{
	struct rk_context *ctx = n->ctx;

	rk_json_pairs_release(&n->agents);
	rk_json_pairs_release(&n->counters);
	rk_json_pairs_release(&n->kernels);
	rk_json_pairs_release(&n->markers);
	rk_json_pairs_release(&n->renamed);
	rk_bytes_release(&n->text);
	rk_free(n->symbols);
	rk_free(n->kinds);
	rk_free(n->operations);
	rk_free(n->instructions);
	rk_free(n->comments);
	*n = (struct v3j_names){ .ctx = ctx };
	rk_bytes_init(&n->text, TEXT_BYTES_MAX);
}

static int intern(struct v3j_names *n, const struct rk_json_record *r, unsigned field, uint32_t *id,
		  struct rk_error *err)
{
	*id = 0;
	if (r->values[field].has != RK_JSON_HAS)
		return 0;
	return rk_strtab_add(n->ctx->names, rk_json_record_text(r, field), r->values[field].len, id,
			     err);
}

static int on_metadata(void *arg, struct rk_json_record *r, struct rk_error *err)
{
	struct v3j_names *n = arg;

	n->has_pid = r->values[0].has == RK_JSON_HAS;
	n->pid = r->values[0].i;
	n->has_node = r->values[1].has == RK_JSON_HAS && r->values[1].len;
	return intern(n, r, 1, &n->node, err);
}

static int on_agent(void *arg, struct rk_json_record *r, struct rk_error *err)
{
	struct v3j_names *n = arg;

	if (r->values[0].has != RK_JSON_HAS || r->values[1].has != RK_JSON_HAS)
		return 0;
	return rk_json_pairs_add(&n->agents, (uint64_t)r->values[0].i, r->values[1].i, err);
}

static int on_pair(void *arg, struct rk_json_record *r, struct rk_error *err)
{
	struct v3j_names *n = arg;
	uint32_t id;
	int rc = intern(n, r, 1, &id, err);

	if (rc < 0 || r->values[0].has != RK_JSON_HAS || r->values[1].has != RK_JSON_HAS)
		return rc;
	return rk_json_pairs_add(n->pairs, (uint64_t)r->values[0].i, id, err);
}

enum { SYM_ID, SYM_NAME, SYM_PLAIN, SYM_VGPR, SYM_ACCUM, SYM_SGPR, SYM_NFIELDS };

static int32_t small(const struct rk_json_value *v)
{
	return v->has == RK_JSON_HAS && v->i >= 0 && v->i <= INT32_MAX ? (int32_t)v->i : -1;
}

static int on_symbol(void *arg, struct rk_json_record *r, struct rk_error *err)
{
	struct v3j_names *n = arg;
	struct v3j_symbol s = { .vgpr = small(&r->values[SYM_VGPR]),
				.accum_vgpr = small(&r->values[SYM_ACCUM]),
				.sgpr = small(&r->values[SYM_SGPR]) };
	unsigned field = r->values[SYM_NAME].has == RK_JSON_HAS ? SYM_NAME : SYM_PLAIN;
	size_t len = r->values[field].has == RK_JSON_HAS ? r->values[field].len : 0;
	struct v3j_symbol *list;
	int rc;

	if (r->values[SYM_ID].has != RK_JSON_HAS || !r->values[SYM_ID].i)
		return 0; /* kernel 0 is a placeholder */
	if (n->nsymbols >= SYMBOLS_MAX) {
		n->lost++;
		return 0;
	}
	list = rk_grow(n->symbols, &n->symbols_cap, n->nsymbols + 1, sizeof(*list));
	if (!list)
		return rk_fail_nomem(err);
	n->symbols = list;

	/* files list every kernel of every library, but few are launched: intern on first use */
	if (len > TEXT_BYTES_MAX - n->text.len) {
		rc = intern(n, r, field, &s.id, err);
		if (rc < 0)
			return rc;
	} else {
		s.at = (uint32_t)n->text.len;
		s.len = (uint32_t)len;
		s.id = UINT32_MAX;
		if (len)
			rk_bytes_put(&n->text, rk_json_record_text(r, field), len);
		if (n->text.bad)
			return rk_fail_nomem(err);
	}
	rc = rk_json_pairs_add(&n->kernels, (uint64_t)r->values[SYM_ID].i, (int64_t)n->nsymbols,
			       err);
	if (rc < 0)
		return rc;
	n->symbols[n->nsymbols++] = s;
	return 0;
}

/* Interns the strings of an array whose opening bracket was read. */
static int string_list(struct v3j_names *n, struct rk_json *j, uint32_t **list, size_t *count,
		       size_t *cap, struct rk_error *err)
{
	struct rk_json_token tok;
	uint32_t *grown;
	int kind, rc;

	while ((kind = rk_json_next(j, &tok, err)) != RK_JSON_ARRAY_END) {
		if (kind < 0)
			return kind;
		if ((kind == RK_JSON_OBJECT || kind == RK_JSON_ARRAY) &&
		    (rc = rk_json_skip_rest(j, err)) < 0)
			return rc;
		if (*count >= OPERATIONS_MAX) {
			n->lost++;
			continue;
		}
		grown = rk_grow(*list, cap, *count + 1, sizeof(*grown));
		if (!grown)
			return rk_fail_nomem(err);
		*list = grown;
		grown[*count] = 0;
		if (kind == RK_JSON_STRING &&
		    (rc = rk_strtab_add(n->ctx->names, tok.text, tok.len, &grown[*count], err)) < 0)
			return rc;
		++*count;
	}
	return 0;
}

static int on_operations(void *arg, struct rk_json *j, struct rk_error *err)
{
	struct v3j_names *n = arg;

	return string_list(n, j, &n->operations, &n->noperations, &n->operations_cap, err);
}

/* Reads {kind, operations[]}; the index in the list is the kind's number. */
static int on_kind(void *arg, struct rk_json_record *r, struct rk_error *err)
{
	struct v3j_names *n = arg;
	struct v3j_kind k = { 0 }, *list;
	int rc;

	if (n->nkinds >= OPERATIONS_MAX) {
		n->lost++;
		return 0;
	}
	list = rk_grow(n->kinds, &n->kinds_cap, n->nkinds + 1, sizeof(*list));
	if (!list)
		return rk_fail_nomem(err);
	n->kinds = list;
	rc = intern(n, r, 0, &k.name, err);
	if (n->nkinds)
		k.first = n->kinds[n->nkinds - 1].first + n->kinds[n->nkinds - 1].n;
	k.n = (uint32_t)n->noperations - k.first;
	n->kinds[n->nkinds++] = k;
	return rc;
}

static const struct rk_json_field metadata_fields[] = {
	{ "pid", RK_JSON_AS_I64 },
	{ "node/hostname", RK_JSON_AS_TEXT },
};
static const struct rk_json_field agent_fields[] = {
	{ "id/handle", RK_JSON_AS_U64 },
	{ "node_id", RK_JSON_AS_I64 },
};
static const struct rk_json_field counter_fields[] = {
	{ "id/handle", RK_JSON_AS_U64 },
	{ "name", RK_JSON_AS_TEXT },
};
static const struct rk_json_field symbol_fields[SYM_NFIELDS] = {
	[SYM_ID] = { "kernel_id", RK_JSON_AS_I64 },
	[SYM_NAME] = { "formatted_kernel_name", RK_JSON_AS_TEXT },
	[SYM_PLAIN] = { "kernel_name", RK_JSON_AS_TEXT },
	[SYM_VGPR] = { "arch_vgpr_count", RK_JSON_AS_I64 },
	[SYM_ACCUM] = { "accum_vgpr_count", RK_JSON_AS_I64 },
	[SYM_SGPR] = { "sgpr_count", RK_JSON_AS_I64 },
};
static const struct rk_json_field pair_fields[] = {
	{ "key", RK_JSON_AS_U64 },
	{ "value", RK_JSON_AS_TEXT },
};
static const struct rk_json_field kind_fields[] = {
	{ "kind", RK_JSON_AS_TEXT },
	{ "operations", RK_JSON_AS_LIST },
};

static int read_each(struct v3j_names *n, struct rk_json *j, const struct rk_json_field *fields,
		     unsigned nfields,
		     int (*each)(void *arg, struct rk_json_record *r, struct rk_error *err),
		     struct rk_error *err)
{
	struct rk_json_record r;
	int rc;

	rk_json_record_init(&r, fields, nfields, UINT64_MAX);
	r.list = on_operations;
	r.arg = n;
	rc = rk_json_record_each(&r, j, each, n, err);
	rk_json_record_release(&r);
	return rc;
}

static int read_pairs(struct v3j_names *n, struct rk_json *j, const struct rk_json_field *fields,
		      struct rk_json_pairs *into, struct rk_error *err)
{
	n->pairs = into;
	return read_each(n, j, fields, 2, on_pair, err);
}

static int read_list(struct v3j_names *n, struct rk_json *j, bool comments, struct rk_error *err)
{
	struct rk_json_token tok;
	int kind = rk_json_next(j, &tok, err);

	if (kind == RK_JSON_OBJECT)
		return rk_json_skip_rest(j, err);
	if (kind != RK_JSON_ARRAY)
		return kind < 0 ? kind : 0;
	if (comments)
		return string_list(n, j, &n->comments, &n->ncomments, &n->comments_cap, err);
	return string_list(n, j, &n->instructions, &n->ninstructions, &n->instructions_cap, err);
}

/* Reads the lists in {"strings": {...}} and in its {"correlation_id": {...}}. */
static int read_strings(struct v3j_names *n, struct rk_json *j, unsigned needs,
			struct rk_error *err)
{
	unsigned depth = rk_json_depth(j);
	struct rk_json_token key;
	int kind, rc = 0;

	do {
		kind = rk_json_next(j, &key, err);
		if (kind < 0)
			return kind;
		if (kind == RK_JSON_ARRAY)
			rc = rk_json_skip_rest(j, err);
		/* correlation_id is an object: enter it */
		if (kind != RK_JSON_KEY || v3j_is(&key, "correlation_id"))
			continue;
		if (needs & V3J_NEED_OPERATIONS && v3j_is(&key, "buffer_records"))
			rc = read_each(n, j, kind_fields, 2, on_kind, err);
		else if (needs & V3J_NEED_MARKERS && v3j_is(&key, "marker_api"))
			rc = read_pairs(n, j, pair_fields, &n->markers, err);
		else if (needs & V3J_NEED_RENAMED && v3j_is(&key, "external"))
			rc = read_pairs(n, j, pair_fields, &n->renamed, err);
		else if (needs & V3J_NEED_PC && v3j_is(&key, "pc_sample_instructions"))
			rc = read_list(n, j, false, err);
		else if (needs & V3J_NEED_PC && v3j_is(&key, "pc_sample_comments"))
			rc = read_list(n, j, true, err);
		else
			rc = rk_json_skip_value(j, err);
	} while (rc == 0 && rk_json_depth(j) > depth);
	return rc;
}

int rk_v3j_names_read(struct v3j_names *n, struct rk_json *j, enum v3j_part part, unsigned needs,
		      struct rk_error *err)
{
	switch (part) {
	case V3J_METADATA:
		return read_each(n, j, metadata_fields, 2, on_metadata, err);
	case V3J_AGENTS:
		return read_each(n, j, agent_fields, 2, on_agent, err);
	case V3J_COUNTERS:
		return read_pairs(n, j, counter_fields, &n->counters, err);
	case V3J_SYMBOLS:
		return read_each(n, j, symbol_fields, SYM_NFIELDS, on_symbol, err);
	case V3J_STRINGS:
		return read_strings(n, j, needs, err);
	default:
		return rk_json_skip_value(j, err);
	}
}

void rk_v3j_names_tell(struct v3j_names *n, const char *file)
{
	uint64_t lost = n->lost + n->agents.lost + n->counters.lost + n->kernels.lost +
			n->markers.lost + n->renamed.lost;

	if (lost)
		rk_diag_most(n->ctx->diag, "lookup-limit", file, 0, lost,
			     "too many names to keep in memory; the rest are left empty");
}

static const struct v3j_kind *kind_of(const struct v3j_names *n, const struct rk_json_value *kind)
{
	if (kind->has != RK_JSON_HAS || kind->i < 0 || (uint64_t)kind->i >= n->nkinds)
		return NULL;
	return &n->kinds[kind->i];
}

uint32_t rk_v3j_kind_name(const struct v3j_names *n, const struct rk_json_value *kind)
{
	const struct v3j_kind *k = kind_of(n, kind);

	return k ? k->name : 0;
}

uint32_t rk_v3j_operation(const struct v3j_names *n, const struct rk_json_value *kind,
			  const struct rk_json_value *operation)
{
	const struct v3j_kind *k = kind_of(n, kind);

	if (!k || operation->has != RK_JSON_HAS || operation->i < 0 || operation->i >= k->n)
		return 0;
	return n->operations[k->first + (uint64_t)operation->i];
}

const struct v3j_symbol *rk_v3j_symbol(struct v3j_names *n, const struct rk_json_value *kernel_id,
				       struct rk_error *err)
{
	const int64_t *at = NULL;
	struct v3j_symbol *s;

	if (kernel_id->has == RK_JSON_HAS)
		at = rk_json_pairs_find(&n->kernels, (uint64_t)kernel_id->i);
	if (!at)
		return NULL;
	s = &n->symbols[*at];
	if (s->id == UINT32_MAX) {
		const char *text = s->len ? (const char *)n->text.data + s->at : "";

		if (rk_strtab_add(n->ctx->names, text, s->len, &s->id, err) < 0)
			s->id = UINT32_MAX;
	}
	return s;
}
