/* list.h - a growable list of owned strings: argument vectors, environments, names. */
#ifndef RK_LIST_H
#define RK_LIST_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Zero it before use. v[n] is always NULL once something was added, so v is an argv. After the
 * first failure (out of memory) `bad` is set and every call does nothing: test once at the end.
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
void rk_list_addv(struct rk_list *l, char *const *v); /* NULL at the end; NULL is fine */
/* Adds s unless an equal text is there. */
void rk_list_add_once(struct rk_list *l, const char *s);
bool rk_list_has(const struct rk_list *l, const char *s);
/* The parts of `text` between any of the bytes in `separators`; empty parts are left out. */
void rk_list_split(struct rk_list *l, const char *text, const char *separators);
/*
 * The words of `text` as a shell would see them: blanks part, '...', "..." and \ protect; nothing
 * is expanded. False when a quote is left open.
 */
bool rk_list_split_words(struct rk_list *l, const char *text);
/* The value of a "NAME=VALUE" entry, its name into `name`; NULL when it is none or too long. */
const char *rk_list_entry(const char *entry, char *name, size_t size);
/* Of "NAME=VALUE" entries the value of `name`, or NULL. */
const char *rk_list_value(const struct rk_list *l, const char *name);
/* The same of a vector that ends with NULL, such as an environment; NULL is fine. */
const char *rk_env_value(char *const *env, const char *name);
/* Sets "NAME=VALUE", over the entry of that name when there is one. */
void rk_list_set(struct rk_list *l, const char *name, const char *value);
void rk_list_release(struct rk_list *l); /* and zeroes it */

#endif
