/* list.c - see list.h. */
#include "base/list.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"

enum { LIST_MAX = 1 << 20, TEXT_MAX = 16 << 20 };

/* Takes `s`, which may be NULL: out of memory. */
static void push(struct rk_list *l, char *s)
{
	char **v = NULL;

	if (s && !l->bad && l->n + 2 <= LIST_MAX)
		v = rk_grow(l->v, &l->cap, l->n + 2, sizeof(*v));
	if (!v) {
		rk_free(s);
		l->bad = true;
		return;
	}
	l->v = v;
	l->v[l->n++] = s;
	l->v[l->n] = NULL;
}

void rk_list_addn(struct rk_list *l, const char *s, size_t len)
{
	if (!l->bad)
		push(l, rk_strndup(s, len));
}

void rk_list_add(struct rk_list *l, const char *s)
{
	rk_list_addn(l, s, strlen(s));
}

void rk_list_addf(struct rk_list *l, const char *fmt, ...)
{
	char text[512], *big = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n < 0 || n >= TEXT_MAX) {
		l->bad = true;
		return;
	}
	if ((size_t)n < sizeof(text)) {
		rk_list_addn(l, text, (size_t)n);
		return;
	}
	big = rk_alloc((size_t)n + 1);
	if (big) {
		va_start(ap, fmt);
		vsnprintf(big, (size_t)n + 1, fmt, ap);
		va_end(ap);
	}
	push(l, big);
}

void rk_list_addv(struct rk_list *l, char *const *v)
{
	for (; v && *v; v++)
		rk_list_add(l, *v);
}

void rk_list_append(struct rk_list *l, const struct rk_list *from)
{
	for (size_t i = 0; from && i < from->n; i++)
		rk_list_add(l, from->v[i]);
	l->bad = l->bad || (from && from->bad);
}

bool rk_list_has(const struct rk_list *l, const char *s)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i], s) == 0)
			return true;
	return false;
}

void rk_list_add_once(struct rk_list *l, const char *s)
{
	if (!rk_list_has(l, s))
		rk_list_add(l, s);
}

void rk_list_split(struct rk_list *l, const char *text, const char *separators)
{
	while (*text) {
		size_t len = strcspn(text, separators);

		if (len)
			rk_list_addn(l, text, len);
		text += len + (text[len] != '\0');
	}
}

bool rk_list_split_words(struct rk_list *l, const char *text)
{
	const char *p = text + strspn(text, " \t\n");
	struct rk_bytes word;
	char quote = '\0';

	rk_bytes_init(&word, TEXT_MAX);
	while (*p && !quote) {
		rk_bytes_clear(&word);
		for (; *p && (quote || !strchr(" \t\n", *p)); p++) {
			if (*p == quote) {
				quote = '\0';
			} else if (!quote && (*p == '\'' || *p == '"')) {
				quote = *p;
			} else {
				/* in "..." a backslash only escapes these characters; in '...' none */
				if (*p == '\\' && p[1] &&
				    (!quote || (quote == '"' && strchr("\"\\$`", p[1]))))
					p++;
				rk_bytes_put_u8(&word, (uint8_t)*p);
			}
		}
		if (word.bad)
			l->bad = true;
		else if (!quote)
			rk_list_addn(l, word.len ? (const char *)word.data : "", word.len);
		p += strspn(p, " \t\n");
	}
	rk_bytes_release(&word);
	return !quote;
}

const char *rk_list_entry(const char *entry, char *name, size_t size)
{
	size_t len = strcspn(entry, "=");

	if (!entry[len] || len >= size)
		return NULL;
	memcpy(name, entry, len);
	name[len] = '\0';
	return entry + len + 1;
}

const char *rk_env_value(char *const *env, const char *name)
{
	size_t len = strlen(name);

	for (; env && *env; env++)
		if (strncmp(*env, name, len) == 0 && (*env)[len] == '=')
			return *env + len + 1;
	return NULL;
}

const char *rk_list_value(const struct rk_list *l, const char *name)
{
	return rk_env_value(l->v, name);
}

void rk_list_set(struct rk_list *l, const char *name, const char *value)
{
	size_t len = strlen(name), i = 0;

	while (i < l->n && (strncmp(l->v[i], name, len) || l->v[i][len] != '='))
		i++;
	rk_list_addf(l, "%s=%s", name, value);
	if (l->bad || i == l->n - 1)
		return;
	rk_free(l->v[i]);
	l->v[i] = l->v[--l->n];
	l->v[l->n] = NULL;
}

void rk_list_release(struct rk_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		rk_free(l->v[i]);
	rk_free(l->v);
	*l = (struct rk_list){ 0 };
}
