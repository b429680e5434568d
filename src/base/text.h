/* text.h - text utilities: case, UTF-8, escaping. */
#ifndef RK_TEXT_H
#define RK_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"

/* ASCII only, locale-free. */
bool rk_text_ieq(const char *a, size_t alen, const char *b);
bool rk_text_same(const char *a, const char *b);
bool rk_text_iprefix(const char *a, size_t alen, const char *prefix);
bool rk_text_ends(const char *s, size_t len, const char *suffix);

static inline bool rk_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool rk_is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static inline bool rk_is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static inline bool rk_is_letter(char c)
{
	return rk_is_lower(c) || rk_is_upper(c);
}

/* Plural ending: "" for 1, else "s". */
static inline const char *rk_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* The text itself, "" for NULL. */
static inline const char *rk_text_or_empty(const char *s)
{
	return s ? s : "";
}

/* The text itself, NULL for "". */
static inline const char *rk_text_or_null(const char *s)
{
	return s && s[0] ? s : NULL;
}

/* For qsort and bsearch over an array of texts. */
static inline int rk_by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The text itself, `other` for NULL and for "". */
static inline const char *rk_text_or(const char *s, const char *other)
{
	return s && *s ? s : other;
}

/* The part after the last slash; borrowed. */
const char *rk_base_name(const char *path);

/* Length of the longest prefix that is valid UTF-8 (no surrogates, no overlong forms). */
size_t rk_utf8_valid(const char *s, size_t len);
/* Appends s with every invalid byte replaced by U+FFFD. */
void rk_utf8_repair(struct rk_bytes *out, const char *s, size_t len);
/* A code point as UTF-8, at most four bytes at `out`; returns the length. */
size_t rk_utf8_put(char *out, uint32_t code);
/* Terminal columns a string takes (East Asian wide counts two, combining zero). */
size_t rk_utf8_columns(const char *s, size_t len);
/* The longest prefix of s, in bytes, that fits in `columns`. */
size_t rk_utf8_fit(const char *s, size_t len, size_t columns);

/* "..." with JSON escapes, quotes included; invalid UTF-8 becomes U+FFFD. */
void rk_json_string(struct rk_bytes *out, const char *s, size_t len);
/*
 * Appends one word of a shell command, quoted only if needed. SHOWN is for people: control
 * characters are written as $'\033', which is visible on a terminal and valid in bash and zsh.
 * SCRIPT is for any POSIX shell; only a carriage return is escaped, because sbatch rejects a script
 * with one before a line end.
 */
enum rk_shell_use { RK_SHELL_SHOWN, RK_SHELL_SCRIPT };
void rk_shell_word(struct rk_bytes *out, enum rk_shell_use use, const char *word);
/* One CSV cell by RFC 4180: quoted only when it holds a comma, quote, CR or LF. */
void rk_csv_cell(struct rk_bytes *out, const char *s, size_t len);
/* The same for a terminated text, followed by `end`: a comma or a line end. */
void rk_csv_text(struct rk_bytes *out, const char *s, char end);
/*
 * Control characters become \xNN, everything else is unchanged: nothing controls a terminal or ends
 * a line.
 */
void rk_put_plain(struct rk_bytes *out, const char *s);

/* Appends bytes in base64 (RFC 4648, section 4), with padding and without line breaks. */
void rk_base64_put(struct rk_bytes *out, const void *p, size_t len);
/*
 * Appends bytes in base 85: five digits for four bytes, i.e. 25 % overhead instead of base64's 33
 * %. The digits are ASCII from '!' to '~', in that order, without the nine that have a meaning in
 * HTML, scripts or a shell: " & ' - < = > \ `. The last n < 4 bytes become n + 1 digits.
 */
void rk_base85_put(struct rk_bytes *out, const void *p, size_t len);

#endif
