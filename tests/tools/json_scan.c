/* json_scan.c - `json-scan [--skip] FILE`: every token of a JSON file, or one skipped value. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "codec/json/stream.h"

static int scan(struct rk_json *j, uint64_t *tokens, uint64_t *bytes, struct rk_error *err)
{
	struct rk_json_token tok;
	int kind;

	while ((kind = rk_json_next(j, &tok, err)) > RK_JSON_END) {
		++*tokens;
		if (kind >= RK_JSON_KEY && kind <= RK_JSON_NUMBER)
			*bytes += tok.len + (tok.len && !tok.text[0]);
	}
	return kind;
}

int main(int argc, char **argv)
{
	bool skip = argc == 3 && !strcmp(argv[1], "--skip");
	struct rk_instream *in = NULL;
	struct rk_json *j = NULL;
	struct rk_error err = { 0 };
	uint64_t tokens = 0, bytes = 0;
	int rc;

	if (argc != 2 + skip) {
		fprintf(stderr, "json-scan: usage: json-scan [--skip] FILE\n");
		return 2;
	}
	rc = rk_instream_open(argv[1 + skip], &in, &err);
	if (!rc)
		rc = rk_json_new(in, &j, &err);
	if (!rc)
		rc = skip ? rk_json_skip_value(j, &err) : scan(j, &tokens, &bytes, &err);
	if (rc < 0)
		fprintf(stderr, "json-scan: %s\n", err.message);
	printf("%" PRIu64 " tokens, %" PRIu64 " bytes of text\n", tokens, bytes);
	rk_json_free(j);
	rk_instream_close(in);
	return rc < 0;
}
