/*
 * fuzz_pack_version.c - any text as a version and as a Python literal: what is accepted is normal the
 * second time, and a literal is closed ASCII whatever is in it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pack/wheel/meta.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void must(int holds)
{
	if (!holds)
		abort();
}

static void check_version(const char *text)
{
	const char *normal = NULL, *again = NULL;
	struct rk_arena *a = NULL;
	struct rk_error err = { 0 };

	if (rk_arena_new(&a, &err) == 0 && rk_pep440_normal(a, text, &normal, &err) == 0) {
		must(rk_pep440_normal(a, normal, &again, &err) == 0 && !strcmp(normal, again));
		must(strspn(normal, "abcdefghijklmnopqrstuvwxyz0123456789.+!") == strlen(normal));
	} else {
		must(err.message[0] && !strchr(err.message, '\n'));
	}
	rk_arena_free(a);
}

static void check_literal(const char *text)
{
	struct rk_bytes out;
	uint8_t quote;

	rk_bytes_init(&out, 16 << 20);
	rk_python_repr(&out, text);
	must(!out.bad && out.len >= 2);
	quote = out.data[0];
	must(quote == '\'' || quote == '"');
	for (size_t i = 1; i + 1 < out.len; i++) {
		must(out.data[i] >= ' ' && out.data[i] <= '~' && out.data[i] != quote);
		i += out.data[i] == '\\';
		must(i + 1 < out.len);
	}
	must(out.data[out.len - 1] == quote);
	rk_bytes_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text = calloc(1, len + 1);

	if (!text)
		return 0;
	memcpy(text, data, len);
	check_version(text);
	check_literal(text);
	free(text);
	return 0;
}
