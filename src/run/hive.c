/* hive.c - see hive.h. */
#include <string.h>

#include "base/sha256/sha256.h"
#include "run/hive.h"

enum { VALUE_MAX = 200, KEPT = 50 };

static void put_escaped(struct rk_bytes *out, const char *value, size_t len, bool all)
{
	for (size_t i = 0; i < len; i++) {
		char c = value[i];
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			     (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';

		if (plain && !all)
			rk_bytes_put_u8(out, (uint8_t)c);
		else
			rk_bytes_printf(out, "%%%02X", (unsigned)(unsigned char)c);
	}
}

void rk_hive_put(struct rk_bytes *out, const char *value, size_t len)
{
	uint8_t digest[RK_SHA256_BYTES];

	if (!len) {
		rk_bytes_puts(out, RK_HIVE_NULL);
		return;
	}
	if (len <= VALUE_MAX / 3) {
		put_escaped(out, value, len, !strcmp(value, RK_HIVE_NULL));
		return;
	}
	/* too long for a file name: use the beginning and a digest that keeps it unique */
	rk_sha256(value, len, digest);
	put_escaped(out, value, KEPT, false);
	rk_bytes_puts(out, "-");
	for (unsigned i = 0; i < 16; i++)
		rk_bytes_printf(out, "%02x", (unsigned)digest[i]);
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* The innermost folder wins, as for ranks. */
int rk_hive_node(struct rk_context *ctx, const char *path, uint32_t *ret, struct rk_error *err)
{
	const char *value = NULL;
	size_t len = 0, n = 0;
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
	for (size_t i = 0; i < len; i++) {
		if (value[i] == '%' && i + 2 < len && hex(value[i + 1]) >= 0 &&
		    hex(value[i + 2]) >= 0) {
			text[n++] = (char)(hex(value[i + 1]) * 16 + hex(value[i + 2]));
			i += 2;
		} else {
			text[n++] = value[i];
		}
	}
	return rk_strtab_add(ctx->names, text, n, ret, err);
}
