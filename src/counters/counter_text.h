/* counter_text.h - lines and words of the small text files about counters. */
#ifndef RK_COUNTER_TEXT_H
#define RK_COUNTER_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of a text that somebody else owns; not terminated. */
struct rk_piece {
	const char *s;
	size_t len;
};

struct rk_piece rk_piece_of(const char *s);
bool rk_piece_is(struct rk_piece p, const char *word);
/* Blanks and carriage returns at both ends taken off. */
struct rk_piece rk_piece_trim(struct rk_piece p);

/* To tell names apart quickly; equal names have equal hashes, now and later. */
uint64_t rk_name_hash(const char *name);

/*
 * Takes the first line off *text. Comments (from '#') and blanks at the ends are gone from it, so
 * it may be empty. False at the end of the text.
 */
bool rk_piece_line(struct rk_piece *text, struct rk_piece *ret);
/* Takes the first word off *p; words stand between any of `separators`. False when none is left. */
bool rk_piece_word(struct rk_piece *p, const char *separators, struct rk_piece *ret);
/* Splits p at the first `c`; without one, *after is empty and the result false. */
bool rk_piece_split(struct rk_piece p, char c, struct rk_piece *before, struct rk_piece *after);

#endif
