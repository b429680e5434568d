/* recorder_settings.c - ROCKIT_COLLECT, read once. */
#include <stdlib.h>
#include <string.h>

#include "recorder_impl.h"

/* A copy: the program may change its environment. */
static char settings[REC_SETTINGS];

void rk_rec_settings_read(void)
{
	const char *text = secure_getenv("ROCKIT_COLLECT");
	size_t len = text ? strlen(text) : 0;

	if (len && len < sizeof(settings))
		memcpy(settings, text, len + 1);
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Up to the comma or the end; false when it does not fit or an escape is none. */
static bool unescape(const char *p, char *buf, size_t cap)
{
	size_t n = 0;

	for (; *p && *p != ','; p++) {
		char c = *p;

		if (c == '%') {
			int high = hex(p[1]), low = high < 0 ? -1 : hex(p[2]);

			if (low < 0)
				return false;
			c = (char)(high << 4 | low);
			p += 2;
		}
		if (n + 1 >= cap || !c)
			return false;
		buf[n++] = c;
	}
	buf[n] = '\0';
	return true;
}

/* What follows "key=", or NULL. */
static const char *find(const char *key)
{
	size_t len = strlen(key);

	for (const char *p = settings; p && *p;) {
		if (!strncmp(p, key, len) && p[len] == '=')
			return p + len + 1;
		p = strchr(p, ',');
		p = p ? p + 1 : NULL;
	}
	return NULL;
}

bool rk_rec_has(const char *key)
{
	return find(key) != NULL;
}

bool rk_rec_setting(const char *key, char *buf, size_t cap)
{
	const char *value = find(key);

	return value && unescape(value, buf, cap);
}

bool rk_rec_flag(const char *key, bool otherwise)
{
	char word[4];

	if (!rk_rec_setting(key, word, sizeof(word)) || word[1] || (word[0] | 1) != '1')
		return otherwise;
	return word[0] == '1';
}

/* How far a unit shifts; -1: no unit. */
static int unit_shift(const char *unit)
{
	static const char letters[] = "KMGT";
	const char *at = *unit ? strchr(letters, *unit & ~0x20) : NULL;

	if (!*unit)
		return 0;
	return at && !unit[1] ? 10 * (int)(at - letters + 1) : -1;
}

uint64_t rk_rec_bytes(const char *key, uint64_t otherwise)
{
	char word[24];
	const char *p = word;
	uint64_t v = 0;
	int shift;

	if (!rk_rec_setting(key, word, sizeof(word)) || *p < '0' || *p > '9')
		return otherwise;
	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return otherwise;
	shift = unit_shift(p);
	if (shift < 0 || v > UINT64_MAX >> shift)
		return otherwise;
	return v << shift;
}
