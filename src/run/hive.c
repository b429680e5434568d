/* hive.c - see hive.h. */
#include <string.h>

#include "base/sha256/sha256.h"
#include "run/hive.h"

enum { VALUE_MAX = 200, KEPT = 50 };

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("._-", c));
}

static void put_escaped(struct rk_bytes *out, const char *value, size_t len, bool all)
{
	for (size_t i = 0; i < len; i++) {
		if (is_plain(value[i]) && !all)
			rk_bytes_put_u8(out, (uint8_t)value[i]);
		else
			rk_bytes_printf(out, "%%%02X", (unsigned)(unsigned char)value[i]);
	}
}

/* Too long for a file name: the beginning and a digest that keeps it unique. */
static void put_long(struct rk_bytes *out, const char *value, size_t len)
{
	uint8_t digest[RK_SHA256_BYTES];

	rk_sha256(value, len, digest);
	put_escaped(out, value, KEPT, false);
	rk_bytes_puts(out, "-");
	for (unsigned i = 0; i < 16; i++)
		rk_bytes_printf(out, "%02x", (unsigned)digest[i]);
}

void rk_hive_put(struct rk_bytes *out, const char *value, size_t len)
{
	if (!len)
		rk_bytes_puts(out, RK_HIVE_NULL);
	else if (len > VALUE_MAX / 3)
		put_long(out, value, len);
	else
		put_escaped(out, value, len, !strcmp(value, RK_HIVE_NULL));
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static size_t unescape(char *to, const char *from, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		bool pair = from[i] == '%' && i + 2 < len && hex(from[i + 1]) >= 0 &&
			    hex(from[i + 2]) >= 0;

		to[n++] = pair ? (char)(hex(from[i + 1]) * 16 + hex(from[i + 2])) : from[i];
		i += pair ? 2 : 0;
	}
	return n;
}

/* The innermost folder wins, as for ranks. */
int rk_hive_node(struct rk_context *ctx, const char *path, uint32_t *ret, struct rk_error *err)
{
	const char *value = NULL;
	size_t len = 0;
	char text[256];

	*ret = 0;
	for (const char *p = path, *slash; (slash = strchr(p, '/')); p = slash + 1) {
		if (strncmp(p, "node=", 5) != 0)
			continue;
		value = p + 5;
		len = (size_t)(slash - value);
	}
	if (!value || !len || len > sizeof(text) ||
	    (len == strlen(RK_HIVE_NULL) && !memcmp(value, RK_HIVE_NULL, len)))
		return 0;
	return rk_strtab_add(ctx->names, text, unescape(text, value, len), ret, err);
}
