/* world.c - files and tables for unit tests. */
#include "world.h"

#include <dirent.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

void world_open(struct world *w, unsigned threads)
{
	*w = (struct world){ .dir = "/tmp/rockit-world-XXXXXX" };
	CHECK(mkdtemp(w->dir) != NULL);
	rk_bytes_init(&w->text, (size_t)1 << 30);
	CHECK(rk_strtab_new(RK_NAMES_MAX_BYTES, &w->ctx.names, NULL) == 0);
	CHECK(rk_diag_new(&w->ctx.diag, NULL) == 0);
	CHECK(rk_pool_new(threads, &w->ctx.pool, NULL) == 0);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void world_close(struct world *w)
{
	nftw(w->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	rk_bytes_release(&w->text);
	rk_pool_free(w->ctx.pool);
	rk_diag_free(w->ctx.diag);
	rk_strtab_free(w->ctx.names);
}

static const char *path_of(struct world *w, const char *name)
{
	CHECK(snprintf(w->path, sizeof(w->path), "%s/%s", w->dir, name) < (int)sizeof(w->path));
	return w->path;
}

const char *world_file(struct world *w, const char *name, const void *text, size_t len)
{
	char *slash;
	FILE *f;

	path_of(w, name);
	for (slash = strchr(w->path + strlen(w->dir) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(w->path, 0777);
		*slash = '/';
	}
	f = fopen(w->path, "wb");
	if (CHECK(f != NULL)) {
		CHECK(fwrite(text, 1, len, f) == len);
		fclose(f);
	}
	return w->path;
}

const char *world_text(struct world *w, const char *name, const char *text)
{
	return world_file(w, name, text, strlen(text));
}

bool world_has(struct world *w, const char *name)
{
	return !access(path_of(w, name), F_OK);
}

size_t world_entries(struct world *w, const char *name)
{
	DIR *d = opendir(path_of(w, name));
	size_t n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n >= 2 ? n - 2 : 0;
}

static void put_value(struct world *w, const struct rk_batch *b, unsigned f, size_t row)
{
	const void *data = b->cols[f].data;
	const char *text;
	size_t len;

	switch (b->schema->fields[f].type) {
	case RK_I64:
		rk_bytes_printf(&w->text, "%" PRId64, ((const int64_t *)data)[row]);
		break;
	case RK_I32:
		rk_bytes_printf(&w->text, "%" PRId32, ((const int32_t *)data)[row]);
		break;
	case RK_F64:
		rk_bytes_printf(&w->text, "%.17g", ((const double *)data)[row]);
		break;
	case RK_STR:
		text = rk_strtab_borrow(w->ctx.names, ((const uint32_t *)data)[row], &len);
		rk_bytes_put(&w->text, text, len);
		break;
	case RK_BOOL:
		rk_bytes_printf(&w->text, "%d", ((const uint8_t *)data)[row]);
		break;
	}
}

static void put_row(struct world *w, const struct rk_batch *b, size_t row)
{
	bool any = false;

	for (unsigned f = 0; f < b->schema->nfields; f++) {
		if (!rk_column_has(&b->cols[f], row))
			continue;
		rk_bytes_printf(&w->text, "%s%s=", any ? "|" : "", b->schema->fields[f].name);
		put_value(w, b, f, row);
		any = true;
	}
	rk_bytes_puts(&w->text, "\n");
}

void world_put(struct world *w, const struct rk_batch *b)
{
	for (size_t row = 0; row < b->nrows; row++)
		put_row(w, b, row);
}

const char *world_drain(struct world *w, struct rk_source *rows)
{
	const struct rk_batch *b;
	int rc;

	rk_bytes_clear(&w->text);
	while ((rc = rk_source_next(rows, &b, &w->err)) > 0)
		world_put(w, b);
	rk_source_close(rows);
	return rc < 0 ? NULL : rk_bytes_str(&w->text);
}

const char *world_dump(struct world *w, const char *path, enum rk_table t, uint64_t want)
{
	struct rk_reader *r = NULL;
	struct rk_source *rows = NULL;
	const char *text = NULL;

	rk_error_clear(&w->err);
	if (rk_reader_open(path, &w->ctx, &r, &w->err) < 0)
		return NULL;
	if (CHECK(r->tables >> t & 1) && r->ops->scan(r, t, want, &rows, &w->err) == 0)
		text = world_drain(w, rows);
	rk_reader_close(r);
	return text;
}

const char *world_read(struct world *w, const char *name, const char *text, enum rk_table t)
{
	rk_diag_reset(w->ctx.diag, 0);
	return world_dump(w, world_text(w, name, text), t, RK_WANT_ALL);
}

uint64_t world_warned(const struct world *w, const char *kind)
{
	uint64_t count = 0;
	size_t n;
	const struct rk_warning *list = rk_diag_list(w->ctx.diag, &n);

	for (size_t i = 0; i < n; i++)
		count += strcmp(list[i].kind, kind) ? 0 : list[i].count;
	return count;
}

uint64_t world_warned_line(const struct world *w, const char *kind)
{
	size_t n;
	const struct rk_warning *list = rk_diag_list(w->ctx.diag, &n);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i].kind, kind))
			return list[i].line;
	return 0;
}

const char *world_warnings(struct world *w)
{
	size_t n;
	const struct rk_warning *list = rk_diag_list(w->ctx.diag, &n);

	rk_bytes_clear(&w->text);
	for (size_t i = 0; i < n; i++)
		rk_bytes_printf(&w->text, "%s:%" PRIu64 " ", list[i].kind, list[i].count);
	return rk_bytes_str(&w->text);
}

struct given {
	struct rk_source base;
	const struct rk_batch *(*make)(void *arg);
	void *arg;
};

static int given_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct given *g = (struct given *)base;

	(void)err;
	*batch = g->make(g->arg);
	return *batch != NULL;
}

static void given_close(struct rk_source *base)
{
	free(base);
}

static const struct rk_source_ops given_ops = { .next = given_next, .close = given_close };

struct rk_source *world_source(const struct rk_schema *schema,
			       const struct rk_batch *(*make)(void *arg), void *arg)
{
	struct given *g = calloc(1, sizeof(*g));

	if (!CHECK(g != NULL))
		abort();
	*g = (struct given){ { &given_ops, schema }, make, arg };
	return &g->base;
}
