/* dataset_parts.c - the columns of a data set's files: what the folders say is not in them. */
#include <string.h>

#include "base/alloc.h"
#include "convert/dataset.h"

static int field_named(const struct rk_schema *s, const char *name, enum rk_type type)
{
	for (unsigned i = 0; i < s->nfields; i++)
		if (!strcmp(s->fields[i].name, name) && s->fields[i].type == type)
			return (int)i;
	return -1;
}

int rk_part_schema_make(struct rk_part_schema *s, const struct rk_schema *rows,
			struct rk_error *err)
{
	unsigned n = 0;

	*s = (struct rk_part_schema){ .node = field_named(rows, "node", RK_STR),
				      .rank = field_named(rows, "rank", RK_I32) };
	s->fields = rk_calloc(rows->nfields, sizeof(*s->fields));
	s->from = rk_calloc(rows->nfields, sizeof(*s->from));
	if (!s->fields || !s->from) {
		rk_part_schema_release(s);
		return rk_fail_nomem(err);
	}
	s->schema = (struct rk_schema){ rows->table, 0, s->fields, -1 };
	for (unsigned i = 0; i < rows->nfields; i++) {
		if ((int)i == s->node || (int)i == s->rank)
			continue;
		if ((int)i == rows->time_field)
			s->schema.time_field = (int)n;
		s->fields[n] = rows->fields[i];
		s->from[n++] = i;
	}
	s->schema.nfields = n;
	return 0;
}

void rk_part_schema_release(struct rk_part_schema *s)
{
	rk_free(s->fields);
	rk_free(s->from);
	s->fields = NULL;
	s->from = NULL;
}
