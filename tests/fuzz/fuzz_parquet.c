/* fuzz_parquet.c - any bytes as a Parquet file, every row of it. */
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *path = fuzz_file(data, len);

	if (path)
		fuzz_read(rk_reader_by_name("parquet"), path);
	return 0;
}
