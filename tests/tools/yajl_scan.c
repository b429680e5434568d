/* yajl_scan.c - `yajl-scan FILE`: every event of a JSON file through yajl, for comparison. */
#include <inttypes.h>
#include <stdio.h>
#include <yajl/yajl_parse.h>

enum { BLOCK_BYTES = 256 << 10 };

struct counts {
	uint64_t values, bytes;
};

static int on_null(void *ctx)
{
	((struct counts *)ctx)->values++;
	return 1;
}

static int on_boolean(void *ctx, int value)
{
	((struct counts *)ctx)->values += value >= 0;
	return 1;
}

static int on_text(void *ctx, const char *text, size_t len)
{
	struct counts *c = ctx;

	c->values++;
	c->bytes += len + (len && !text[0]);
	return 1;
}

static int on_string(void *ctx, const unsigned char *text, size_t len)
{
	return on_text(ctx, (const char *)text, len);
}

static const yajl_callbacks callbacks = {
	.yajl_null = on_null,
	.yajl_boolean = on_boolean,
	.yajl_number = on_text,
	.yajl_string = on_string,
	.yajl_start_map = on_null,
	.yajl_map_key = on_string,
	.yajl_end_map = on_null,
	.yajl_start_array = on_null,
	.yajl_end_array = on_null,
};

static int scan(FILE *f, struct counts *c)
{
	static unsigned char block[BLOCK_BYTES];
	yajl_handle h = yajl_alloc(&callbacks, NULL, c);
	yajl_status status = yajl_status_ok;
	size_t n;

	if (!h)
		return 1;
	while (status == yajl_status_ok && (n = fread(block, 1, sizeof(block), f)) > 0)
		status = yajl_parse(h, block, n);
	if (status == yajl_status_ok)
		status = yajl_complete_parse(h);
	yajl_free(h);
	return status != yajl_status_ok;
}

int main(int argc, char **argv)
{
	struct counts c = { 0 };
	FILE *f = argc == 2 ? fopen(argv[1], "rb") : NULL;
	int bad;

	if (!f) {
		fprintf(stderr, "yajl-scan: usage: yajl-scan FILE\n");
		return 2;
	}
	bad = scan(f, &c);
	fclose(f);
	printf("%" PRIu64 " tokens, %" PRIu64 " bytes of text\n", c.values, c.bytes);
	return bad;
}
