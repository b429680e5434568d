/* writers.c - the list of output formats. */
#include "write/writer.h"

#include <string.h>

#include "base/text.h"

const struct rk_writer_ops *const rk_writers[] = {
	&rk_writer_parquet,  &rk_writer_csv,    &rk_writer_jsonl,
	&rk_writer_perfetto, &rk_writer_chrome, NULL,
};

/* Names first. API calls after kernels and copies, so that we know whether a call caused any. */
const enum rk_table rk_trace_tables[] = {
	RK_AGENTS, RK_PROCESSES, RK_KERNELS, RK_MEMCPY,  RK_MEMALLOC,
	RK_API,    RK_MARKERS,   RK_SAMPLES, RK_NTABLES,
};

const struct rk_writer_ops *rk_writer_by_name(const char *name)
{
	for (const struct rk_writer_ops *const *w = rk_writers; *w; w++)
		if (!strcmp((*w)->name, name))
			return *w;
	return NULL;
}

const struct rk_writer_ops *rk_writer_by_path(const char *path)
{
	for (const struct rk_writer_ops *const *w = rk_writers; *w; w++)
		if (rk_text_ends(path, strlen(path), (*w)->suffix))
			return *w;
	return NULL;
}

bool rk_writer_made(const void *head, size_t len)
{
	for (const struct rk_writer_ops *const *w = rk_writers; *w; w++)
		if ((*w)->mark && memmem(head, len, (*w)->mark, (*w)->mark_len))
			return true;
	return false;
}
