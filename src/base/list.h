/* list.h - a growable list of owned strings: argument vectors, environments, names. */
#ifndef RK_LIST_H
#define RK_LIST_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Zero it before use. Once something was added v[n] is always NULL, so v can be used as an argv.
 * After the first failure (out of memory) `bad` is set and every call does nothing: test once at
 * the end.
 */
struct rk_list {
	char **v;
	size_t n, cap;
	bool bad;
};

void rk_list_add(struct rk_list *l, const char *s);
void rk_list_addn(struct rk_list *l, const char *s, size_t len);
void rk_list_addf(struct rk_list *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void rk_list_append(struct rk_list *l, const struct rk_list *from);
void rk_list_addv(struct rk_list *l, char *const *v); /* v ends with NULL; v may be NULL */
/* Adds s unless the list has it already. */
void rk_list_add_once(struct rk_list *l, const char *s);
bool rk_list_has(const struct rk_list *l, const char *s);
/* Adds the parts of `text` between any of the bytes in `separators`; empty parts are skipped. */
void rk_list_split(struct rk_list *l, const char *text, const char *separators);
/*
 * Adds the words of `text` as a shell would split them: at blanks, with '...', "..." and \ as
 * quotes. Nothing is expanded. False if a quote is not closed.
 */
bool rk_list_split_words(struct rk_list *l, const char *text);
/*
 * The value of a "NAME=VALUE" entry; its name goes to `name`. NULL if it has no '=' or the name is
 * too long.
 */
const char *rk_list_entry(const char *entry, char *name, size_t size);
/* The value of `name` in a list of "NAME=VALUE" entries, or NULL. */
const char *rk_list_value(const struct rk_list *l, const char *name);
/* The same for a vector that ends with NULL, such as an environment; env may be NULL. */
const char *rk_env_value(char *const *env, const char *name);
/* Sets "NAME=VALUE", replacing an entry with that name. */
void rk_list_set(struct rk_list *l, const char *name, const char *value);
void rk_list_release(struct rk_list *l); /* and zeroes it */

#endif
