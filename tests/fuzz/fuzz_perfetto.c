/* fuzz_perfetto.c - any bytes as a Perfetto trace, every table drained. */
#include "fuzz_reader.h"
#include "read/perfetto/perfetto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *path = fuzz_file(data, len);

	if (!path)
		return 0;
	rk_reader_probe(rk_reader_by_name("perfetto"), data, len, true);
	fuzz_read(rk_reader_by_name("perfetto"), path);
	return 0;
}
