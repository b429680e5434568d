/* fuzz_xplane.c - any bytes as a profile of JAX, every table drained. */
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const struct rk_reader_ops *ops = rk_reader_by_name("xplane");
	const char *path = fuzz_file(data, len);

	if (!path)
		return 0;
	rk_reader_probe(ops, data, len, true);
	fuzz_read(ops, path);
	return 0;
}
