/*
 * fuzz_ranks.c - any bytes as the run.json of several ranks, parted by 0x1e: which count, and what is
 * wrong with them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "ranks/gather.h"
#include "run/run_ranks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Two jobs side by side, folders of other names, the folder above. */
static const struct {
	const char *dir;
	int64_t rank;
} places[] = {
	{ "a/rank-0/", 0 },  { "a/rank-1/", 1 }, { "a/rank-2/", 2 }, { "b/rank-1/", 1 },
	{ "b/rank-01/", 1 }, { "c/", -1 },       { "a/", -1 },
};
enum { NPLACES = sizeof(places) / sizeof(places[0]) };

static void add_record(struct rk_run *run, const uint8_t *text, size_t len, size_t at)
{
	struct rk_run_record *r = &run->records.v[run->records.n++];
	struct rk_error err = { 0 };

	r->dir = rk_strdup(places[at].dir);
	r->above = !strcmp(places[at].dir, "a/");
	if (!r->dir || rk_record_parse((const char *)text, len, r, &err) < 0)
		abort();
	for (unsigned i = 0; i < RK_REC_NTEXTS; i++)
		if (strlen(r->text[i]) > 255 || strpbrk(r->text[i], "\033\n\r"))
			abort();
}

static void add_file(struct rk_run *run, size_t at)
{
	struct rk_found *f = &run->found[run->nfound++];

	f->path = rk_strf("%strace.csv", places[at].dir);
	f->rank = places[at].rank;
	f->tables = at % 3 ? RK_TABLE_BIT(RK_KERNELS) : 0;
	if (!f->path)
		abort();
}

static void fill(struct rk_run *run, const uint8_t *data, size_t len)
{
	for (size_t at = 0; at < NPLACES && data; at++) {
		const uint8_t *end = len ? memchr(data, 0x1e, len) : NULL;
		size_t n = end ? (size_t)(end - data) : len;

		add_record(run, data, n, at);
		add_file(run, at);
		data = end ? end + 1 : NULL;
		len -= end ? n + 1 : n;
	}
}

/* Each rank once, in order; every problem is a line. */
static void look(struct rk_run *run)
{
	struct rk_members m = { .job = "" };
	struct rk_error err = { 0 };

	rk_records_settle(run);
	if (rk_run_places(run, &err) < 0 || rk_members_by_folder(run, &m, &err) < 0)
		abort();
	for (size_t i = 1; i < m.n; i++)
		if (m.v[i].rank <= m.v[i - 1].rank)
			abort();
	for (size_t i = 0; i < m.nproblems; i++)
		if (!m.problems[i].text[0] || strpbrk(m.problems[i].text, "\033\n"))
			abort();
	rk_members_release(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct rk_found found[NPLACES] = { 0 };
	struct rk_run run = { .found = found };

	run.records.v = rk_calloc(NPLACES, sizeof(*run.records.v));
	if (!run.records.v || rk_strtab_new(1 << 20, &run.ctx.names, NULL) < 0 ||
	    rk_diag_new(&run.ctx.diag, NULL) < 0)
		abort();
	fill(&run, data, len);
	look(&run);
	for (size_t i = 0; i < run.records.n; i++)
		rk_record_clear(&run.records.v[i]);
	for (size_t i = 0; i < run.nfound; i++)
		rk_free(found[i].path);
	rk_free(run.records.v);
	rk_run_places_free(&run);
	rk_diag_free(run.ctx.diag);
	rk_strtab_free(run.ctx.names);
	return 0;
}
