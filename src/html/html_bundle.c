/* html_bundle.c - the files of web/ as one style sheet and one script. */
#include <string.h>

#include "base/sha256/sha256.h"
#include "base/text.h"
#include "html/html_page.h"

/* A module comes after those it imports. */
static const char *const modules[] = {
	"format.js",   "codec.js",   "colors.js",   "view.js",   "pyramid.js",  "blocks.js",
	"table.js",    "plot.js",    "lanes.js",    "curves.js", "timeline.js", "roofline.js",
	"sections.js", "metrics.js", "hotspots.js", "ranks.js",  "report.js",
};

const struct rk_data_file *rk_web_find(const char *name)
{
	for (const struct rk_data_file *f = rk_web_files; f->name; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	return NULL;
}

static bool begins(const char *line, size_t len, const char *word)
{
	size_t n = strlen(word);

	return len >= n && memcmp(line, word, n) == 0;
}

/*
 * Imports stand on a line each, nothing is exported by default or under another name, and no string
 * goes over two lines.
 */
static void put_line(struct rk_bytes *out, const char *line, size_t len)
{
	for (; len && *line == '\t'; len--)
		line++;
	if (begins(line, len, "import "))
		return;
	if (begins(line, len, "export "))
		rk_bytes_put(out, line + 7, len - 7);
	else
		rk_bytes_put(out, line, len);
}

static void put_module(struct rk_bytes *out, const struct rk_data_file *f)
{
	const char *end = f->text + f->len;

	for (const char *line = f->text; line < end;) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		size_t len = stop ? (size_t)(stop - line) + 1 : (size_t)(end - line);

		put_line(out, line, len);
		line += len;
	}
}

void rk_html_script(struct rk_bytes *out)
{
	rk_bytes_puts(out, "(() => {\n\"use strict\";\n");
	for (size_t i = 0; i < sizeof(modules) / sizeof(*modules); i++) {
		const struct rk_data_file *f = rk_web_find(modules[i]);

		if (f)
			put_module(out, f);
	}
	rk_bytes_puts(out, "})();\n");
}

void rk_html_hash(struct rk_bytes *out, const void *p, size_t len)
{
	uint8_t sum[RK_SHA256_BYTES];

	rk_sha256(p, len, sum);
	rk_bytes_puts(out, "sha256-");
	rk_base64_put(out, sum, sizeof(sum));
}
