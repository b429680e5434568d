/* fuzz_instream.c - any bytes as a plain or packed file, read twice. */
#include "codec/instream.h"
#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { MOST_UNPACKED = 8 << 20 }; /* bombs are somebody else's memory, not our time */

static void drain(struct rk_instream *s)
{
	static uint8_t buf[50000];
	struct rk_error err = { 0 };
	size_t n = 1, all = 0;

	while (all < MOST_UNPACKED && n && !rk_instream_read(s, buf, sizeof(buf), &n, &err))
		all += n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *path = fuzz_file(data, len);
	struct rk_instream *s = NULL;
	struct rk_error err = { 0 };

	if (!path || rk_instream_open(path, &s, &err))
		return 0;
	drain(s);
	if (!rk_instream_rewind(s, &err))
		drain(s);
	rk_instream_close(s);
	return 0;
}
