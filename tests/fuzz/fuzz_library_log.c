/* fuzz_library_log.c - any bytes as the log of a library, line by line. */
#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "codec/instream.h"
#include "session/library_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void one_line(struct rk_library_counts *counts, struct rk_bytes *config, const char *line,
		     size_t len)
{
	struct rk_library_call call;
	struct rk_error err = { 0 };

	if (!rk_library_line(line, len, &call, config))
		return;
	/* What the header promises. */
	assert(call.calls > 0 && call.function[0] && !config->bad);
	assert(config->len <= RK_LIBRARY_CONFIG_MAX);
	if (config->len) {
		assert(rk_utf8_valid((const char *)config->data, config->len) == config->len);
		assert(!memchr(config->data, '\n', config->len));
		assert(!memchr(config->data, '\0', config->len));
	}
	rk_library_count(counts, &call, config, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct rk_library_counts counts = { .max_rows = 16 };
	const char *pos = (const char *)data, *end = pos + len, *line;
	struct rk_bytes config;
	size_t line_len;

	rk_bytes_init(&config, 4 << 20);
	while (rk_lines_take(&pos, end, &line, &line_len))
		one_line(&counts, &config, line, line_len);
	rk_library_counts_settle(&counts);
	rk_library_counts_release(&counts);
	rk_bytes_release(&config);
	return 0;
}
