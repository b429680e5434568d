/* sim_util.c - memory that is never freed, text, numbers. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sim.h"

/* Every block is linked to the last one, so that nothing counts as leaked. */
struct block {
	struct block *before;
	max_align_t data[];
};
static struct block *blocks;

void *take(size_t bytes)
{
	struct block *b = calloc(1, sizeof(*b) + bytes);

	if (!b) {
		fputs("rockit-sim: out of memory\n", stderr);
		exit(120);
	}
	b->before = blocks;
	blocks = b;
	return b->data;
}

char *copy_text(const char *text)
{
	size_t len = strlen(text) + 1;

	return memcpy(take(len), text, len);
}

static void add_args(struct text *t, const char *fmt, va_list ap)
{
	va_list again;
	int len;

	va_copy(again, ap);
	len = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (len < 0)
		return;
	text_bytes(t, NULL, (size_t)len);
	vsnprintf(t->at + t->len - len, (size_t)len + 1, fmt, ap);
}

char *print_text(const char *fmt, ...)
{
	struct text t = { 0 };
	va_list ap;

	va_start(ap, fmt);
	add_args(&t, fmt, ap);
	va_end(ap);
	return t.at;
}

void text_add(struct text *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_args(t, fmt, ap);
	va_end(ap);
}

/* Without `data` the bytes are only made room for. */
void text_bytes(struct text *t, const void *data, size_t len)
{
	if (t->len + len + 1 > t->room) {
		size_t room = (t->len + len + 1) * 2;
		char *at = take(room);

		if (t->len)
			memcpy(at, t->at, t->len);
		t->at = at;
		t->room = room;
	}
	if (data && len)
		memcpy(t->at + t->len, data, len);
	t->len += len;
	t->at[t->len] = '\0';
}

void text_json(struct text *t, const char *string)
{
	text_bytes(t, "\"", 1);
	for (const unsigned char *p = (const unsigned char *)string; *p; p++) {
		if (*p == '"' || *p == '\\')
			text_add(t, "\\%c", *p);
		else if (*p < 0x20)
			text_add(t, "\\u%04x", *p);
		else
			text_bytes(t, p, 1);
	}
	text_bytes(t, "\"", 1);
}

void words_add(struct words *w, const char *word)
{
	char **at = take((w->n + 2) * sizeof(*at));

	if (w->n)
		memcpy(at, w->at, w->n * sizeof(*at));
	at[w->n++] = copy_text(word);
	w->at = at;
}

void words_split(struct words *w, const char *text, const char *separators)
{
	while (*text) {
		size_t len = strcspn(text, separators);

		if (len)
			words_add(w, print_text("%.*s", (int)len, text));
		text += len;
		text += strspn(text, separators);
	}
}

bool words_have(const struct words *w, const char *word)
{
	for (size_t i = 0; i < w->n; i++)
		if (strcmp(w->at[i], word) == 0)
			return true;
	return false;
}

char *words_join(const struct words *w, const char *between)
{
	struct text t = { 0 };

	text_bytes(&t, "", 0);
	for (size_t i = 0; i < w->n; i++)
		text_add(&t, "%s%s", i ? between : "", w->at[i]);
	return t.at;
}

bool read_number(const char *text, unsigned long long *ret)
{
	unsigned long long v = 0;
	unsigned base = begins(text, "0x") ? 16 : 10;

	if (base == 16)
		text += 2;
	if (!*text)
		return false;
	for (; *text; text++) {
		static const char digits[] = "0123456789abcdef";
		const char *d = strchr(digits, *text | 0x20);

		if (!d || d - digits >= (int)base)
			return false;
		v = v * base + (unsigned)(d - digits);
	}
	*ret = v;
	return true;
}

bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

bool ends(const char *text, const char *with)
{
	size_t len = strlen(text), tail = strlen(with);

	return len >= tail && strcmp(text + len - tail, with) == 0;
}

bool env_on(const char *name)
{
	const char *v = getenv(name);

	return v && *v && strcmp(v, "0") != 0;
}

char *read_whole(const char *path, size_t *ret_len)
{
	FILE *f = fopen(path, "rb");
	struct text t = { 0 };
	char piece[8192];
	size_t n;

	if (!f)
		return NULL;
	text_bytes(&t, "", 0);
	while ((n = fread(piece, 1, sizeof(piece), f)) > 0)
		text_bytes(&t, piece, n);
	fclose(f);
	if (ret_len)
		*ret_len = t.len;
	return t.at;
}

bool make_folders(const char *path)
{
	char *p = copy_text(path);

	for (char *s = p + 1; *s; s++) {
		if (*s != '/')
			continue;
		*s = '\0';
		if (mkdir(p, 0777) != 0 && errno != EEXIST)
			return false;
		*s = '/';
	}
	return mkdir(p, 0777) == 0 || errno == EEXIST;
}

uint64_t boot_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void glog(char level, const char *where, const char *fmt, ...)
{
	struct text t = { 0 };
	struct timespec ts;
	struct tm tm;
	char day[32];
	va_list ap;

	clock_gettime(CLOCK_REALTIME, &ts);
	localtime_r(&ts.tv_sec, &tm);
	strftime(day, sizeof(day), "%Y%m%d %H:%M:%S", &tm);
	text_add(&t, "%c%s.%06ld %d %s] ", level, day, ts.tv_nsec / 1000, (int)getpid(), where);
	va_start(ap, fmt);
	add_args(&t, fmt, ap);
	va_end(ap);
	text_bytes(&t, "\n", 1);
	fflush(stderr);
	if (write(STDERR_FILENO, t.at, t.len) < 0)
		return;
}
