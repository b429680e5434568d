/* world.h - a run's context, a private directory of files, and tables as text to compare. */
#ifndef RK_WORLD_H
#define RK_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "read/reader.h"

struct world {
	struct rk_context ctx;
	char dir[64]; /* removed with all that is in it by world_close */
	char path[512];
	struct rk_error err;
	struct rk_bytes text;
};

void world_open(struct world *w, unsigned threads);
void world_close(struct world *w);

/* Writes dir/name, making folders on the way; the path is borrowed until the next call. */
const char *world_file(struct world *w, const char *name, const void *text, size_t len);
const char *world_text(struct world *w, const char *name, const char *text);
bool world_has(struct world *w, const char *name);
/* How many entries the directory has, hidden ones too. */
size_t world_entries(struct world *w, const char *name);

/* Rows of one table of a file, a line each: "name=value|..." of what is not null. NULL: w->err. */
const char *world_dump(struct world *w, const char *path, enum rk_table t, uint64_t want);
/* The same for a text that is written to dir/name first. */
const char *world_read(struct world *w, const char *name, const char *text, enum rk_table t);
/* Adds the rows of a batch to w->text. */
void world_put(struct world *w, const struct rk_batch *b);
/* Drains and closes a source. */
const char *world_drain(struct world *w, struct rk_source *rows);

/* How often a warning was given, and the line of the first. */
uint64_t world_warned(const struct world *w, const char *kind);
uint64_t world_warned_line(const struct world *w, const char *kind);
/* "kind:count " of all warnings. */
const char *world_warnings(struct world *w);

/* A source that gives the batches of `make` (NULL at the end), for tests of passes. */
struct rk_source *world_source(const struct rk_schema *schema,
			       const struct rk_batch *(*make)(void *arg), void *arg);

static inline uint64_t world_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

#endif
