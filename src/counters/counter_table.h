/*
 * counter_table.h - the table of counters (data/counters/table.txt) in memory.
 *
 * It is read once, at first use, and kept until the process ends. Thread-safe.
 */
#ifndef RK_COUNTER_TABLE_H
#define RK_COUNTER_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"
#include "rockit/counters.h"

/* A borrowed substring; not NUL-terminated. */
struct rk_piece {
	const char *s;
	size_t len;
};

struct rk_piece rk_piece_of(const char *s);
bool rk_piece_is(struct rk_piece p, const char *word);
/* Removes blanks and carriage returns at both ends. */
struct rk_piece rk_piece_trim(struct rk_piece p);

/*
 * Removes the first line from *text and returns it without comments (from '#') and blanks at the
 * ends, so it may be empty. False at the end of the text.
 */
bool rk_piece_line(struct rk_piece *text, struct rk_piece *ret);
/* Removes the first word from *p; words are separated by any of `separators`. False: none left. */
bool rk_piece_word(struct rk_piece *p, const char *separators, struct rk_piece *ret);
/* Splits p at the first `c`. If there is none, *after is empty and it returns false. */
bool rk_piece_split(struct rk_piece p, char c, struct rk_piece *before, struct rk_piece *after);

enum {
	RK_TARGETS_MAX = 64, /* one bit each */
	RK_PRODUCTS_MAX = 8,
	RK_BLOCKS_MAX = 48,
	/* limit of a block that the table does not list */
	RK_BLOCK_LIMIT_UNKNOWN = 2,
};

/* How an input of a derived counter is read: plain, or summed up per clock. */
enum rk_accumulate { RK_ACCUMULATE_NO, RK_ACCUMULATE_LOW, RK_ACCUMULATE_HIGH };

struct rk_counter_entry {
	struct rk_counter pub;
	const uint8_t *accumulate; /* by input: enum rk_accumulate; NULL if needs is */
	uint64_t targets;          /* one bit per target that has this definition */
};

struct rk_counter_target {
	const char *name;
	const char *products[RK_PRODUCTS_MAX + 1]; /* "MI300X"; ends with NULL */
	unsigned generation;
	uint16_t *counters; /* its entries, sorted by name */
	size_t ncounters;
};

struct rk_counter_table;

/* The shipped table; NULL with `err` set. */
const struct rk_counter_table *rk_counter_table_get(struct rk_error *err);

/* Parses a table; free with rk_counter_table_free. For the shipped table and for tests. */
int rk_counter_table_parse(const char *text, size_t len, struct rk_counter_table **ret,
			   struct rk_error *err);
void rk_counter_table_free(struct rk_counter_table *t); /* NULL is fine */
/*
 * Writes the table as text, without the counters of target `arch`. A target that the table does not
 * have is added, in the family of the known target with the most similar name.
 */
void rk_counter_table_put(const struct rk_counter_table *t, const char *arch, struct rk_bytes *out);

const struct rk_counter_target *rk_counter_table_target(const struct rk_counter_table *t, size_t i);
/*
 * Accepts any common spelling: "GFX942", "gfx942:sramecc+:xnack-", "942", "MI300X". NULL: unknown.
 */
const struct rk_counter_target *rk_counter_table_target_find(const struct rk_counter_table *t,
							     const char *name);
/* How many counters of a block fit in one pass. */
unsigned rk_counter_table_limit(const struct rk_counter_table *t,
				const struct rk_counter_target *target, const char *block);

/* All entries, sorted by name; a name that targets define differently has several. */
const struct rk_counter_entry *rk_counter_table_at(const struct rk_counter_table *t, size_t i);
/* The first entry with that name, for any target. */
const struct rk_counter_entry *rk_counter_table_any(const struct rk_counter_table *t,
						    struct rk_piece name);
const struct rk_counter_entry *rk_counter_table_find(const struct rk_counter_table *t,
						     const struct rk_counter_target *target,
						     struct rk_piece name);

#endif
