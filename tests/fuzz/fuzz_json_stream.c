/*
 * fuzz_json_stream.c - any bytes as JSON: token by token, and skipped.
 *
 * Where the tokens make a whole document, skipping must end at the same byte; and skipping the rest
 * of a container that the tokens have begun must not change what follows.
 */
#include <stdlib.h>

#include "codec/json/stream.h"
#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

struct end {
	int rc;
	uint64_t offset;
	unsigned depth;
};

/* `every`: each n-th container is skipped from its inside; 0: none. */
static struct end read_tokens(struct rk_instream *in, unsigned every)
{
	struct end e = { .rc = -1 };
	struct rk_json_token tok = { 0 };
	struct rk_error err = { 0 };
	struct rk_json *j = NULL;
	uint64_t sum = 0;
	unsigned n = 0;
	int kind = 1;

	if (rk_instream_rewind(in, &err) || rk_json_new(in, &j, &err))
		return e;
	while (kind > RK_JSON_END) {
		kind = rk_json_next(j, &tok, &err);
		if (kind >= RK_JSON_KEY && kind <= RK_JSON_NUMBER)
			for (size_t i = 0; i < tok.len; i++)
				sum += (uint8_t)tok.text[i];
		if ((kind == RK_JSON_OBJECT || kind == RK_JSON_ARRAY) && every &&
		    ++n % every == 0 && rk_json_skip_rest(j, &err) < 0)
			kind = -1;
		if (rk_json_depth(j) >= RK_JSON_DEPTH_MAX)
			abort();
	}
	if (sum == UINT64_MAX) /* every byte of every text is looked at */
		abort();
	e = (struct end){ kind, rk_json_offset(j), rk_json_depth(j) };
	rk_json_free(j);
	return e;
}

static struct end skip_all(struct rk_instream *in)
{
	struct end e = { .rc = -1 };
	struct rk_error err = { 0 };
	struct rk_json *j = NULL;

	if (rk_instream_rewind(in, &err) || rk_json_new(in, &j, &err))
		return e;
	e.rc = rk_json_skip_value(j, &err);
	e.offset = rk_json_offset(j);
	rk_json_free(j);
	return e;
}

static void compare(struct rk_instream *in)
{
	struct end tokens = read_tokens(in, 0), skipped = skip_all(in);
	struct end some = read_tokens(in, 3);

	if (tokens.rc != RK_JSON_END)
		return;
	if (tokens.depth || skipped.rc || skipped.offset != tokens.offset)
		abort();
	if (some.rc != RK_JSON_END || some.offset != tokens.offset)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *path = fuzz_file(data, len);
	struct rk_instream *s = NULL;
	struct rk_error err = { 0 };

	if (!path || rk_instream_open(path, &s, &err))
		return 0;
	compare(s);
	rk_instream_close(s);
	return 0;
}
