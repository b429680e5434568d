/* redact.c - text without the names of host and user, and without places. */
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/secrets.h"

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '_' || (unsigned char)c >= 0x80;
}

/* What a path ends at. A colon parts two of them. */
#define PATH_ENDS " \t\r\n\"'`:;,|&<>()[]{}=@?#*"

/* Whether `name` stands as a word at `at`, in a text that begins at `text`; its length or 0. */
static size_t word_at(const char *text, const char *at, const char *name, size_t len)
{
	if (!len || strncmp(at, name, len) != 0 || is_word(at[len]))
		return 0;
	return at == text || !is_word(at[-1]) ? len : 0;
}

static size_t host_at(const char *text, const char *at, const char *host)
{
	size_t len;

	if (!host || !strcmp(host, "localhost"))
		return 0;
	len = word_at(text, at, host, strlen(host));
	return len ? len : word_at(text, at, host, strcspn(host, "."));
}

/* Which of the nodes is at `at`, from 1 on; 0: none. */
static size_t node_at(const char *text, const char *at, const struct rk_redaction *who,
		      size_t *ret_len)
{
	for (size_t i = 0; i < who->nnodes; i++) {
		*ret_len = host_at(text, at, who->nodes[i]);
		if (*ret_len)
			return i + 1;
	}
	return 0;
}

/* Appends from..to, a part of `text`, with the names of hosts and user replaced. */
static void put_words(struct rk_bytes *out, const char *text, const char *from, const char *to,
		      const struct rk_redaction *who)
{
	while (from < to) {
		size_t host = host_at(text, from, who->host), at = 0;
		size_t user = who->user ? word_at(text, from, who->user, strlen(who->user)) : 0;
		size_t node = node_at(text, from, who, &at);

		if (node && from + at <= to) {
			rk_bytes_printf(out, "[node %zu]", node);
			from += at;
		} else if (host && from + host <= to) {
			rk_bytes_puts(out, "[host]");
			from += host;
		} else if (user && from + user <= to) {
			rk_bytes_puts(out, "[user]");
			from += user;
		} else {
			rk_bytes_put_u8(out, (uint8_t)*from++);
		}
	}
}

/* The home directory at p, whatever stands before it; its length or 0. */
static size_t home_at(const char *p, const struct rk_redaction *who)
{
	size_t len = who->home ? strlen(who->home) : 0;

	while (len > 1 && who->home[len - 1] == '/')
		len--;
	if (len < 2 || *who->home != '/' || strncmp(p, who->home, len) != 0)
		return 0;
	return p[len] == '/' || !is_word(p[len]) ? len : 0;
}

/* Behind "-I", "-L" and their like. */
static bool after_short_option(const char *text, const char *p)
{
	return p - text >= 2 && p[-2] == '-' && is_word(p[-1]) &&
	       (p - text == 2 || strchr(PATH_ENDS, p[-3]));
}

/* Whether the slash at p begins a path; one in the middle of a relative one does not. */
static bool begins_path(const char *text, const char *p)
{
	if (p == text || after_short_option(text, p))
		return true;
	/* Of file:///x the third slash, of https://host none. */
	if (p - text >= 3 && !strncmp(p - 3, "://", 3))
		return true;
	return strchr(PATH_ENDS, p[-1]) && !(p[-1] == ':' && p[1] == '/');
}

/* The path at p; gives where it ends. */
static const char *put_path(struct rk_bytes *out, const char *text, const char *p,
			    const struct rk_redaction *who)
{
	const char *end = p + strcspn(p, PATH_ENDS), *last = end, *name;
	size_t home = home_at(p, who);

	while (last > p && last[-1] == '/')
		last--;
	for (name = last; name > p && name[-1] != '/';)
		name--;
	if (last == p) {
		rk_bytes_put(out, p, (size_t)(end - p));
	} else if (home && p + home == last) {
		rk_bytes_puts(out, "[home]");
		rk_bytes_put(out, last, (size_t)(end - last));
	} else {
		rk_bytes_puts(out, "/.../");
		put_words(out, text, name, end, who);
	}
	return end;
}

void rk_redact_text(struct rk_bytes *out, const char *text, const struct rk_redaction *who)
{
	const char *p = text, *from = text;

	while (*p) {
		if (*p != '/' || !(begins_path(text, p) || home_at(p, who))) {
			p++;
			continue;
		}
		put_words(out, text, from, p, who);
		p = put_path(out, text, p, who);
		from = p;
	}
	put_words(out, text, from, p, who);
}

static void keep(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text ? text : "");
}

void rk_redaction_self(struct rk_redaction_self *ret)
{
	const char *user = getenv("USER"), *home = getenv("HOME");
	struct passwd pw, *got = NULL;
	char buf[4096];

	*ret = (struct rk_redaction_self){ .who = { ret->host, ret->user, ret->home } };
	if (gethostname(ret->host, sizeof(ret->host) - 1) < 0)
		ret->host[0] = '\0';
	/* The user database may be far away: only when it must be asked. */
	if ((!user || !home) && !getpwuid_r(getuid(), &pw, buf, sizeof(buf), &got) && got) {
		user = user ? user : pw.pw_name;
		home = home ? home : pw.pw_dir;
	}
	keep(ret->user, sizeof(ret->user), user);
	keep(ret->home, sizeof(ret->home), home);
}
