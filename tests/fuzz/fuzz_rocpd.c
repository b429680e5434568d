/* fuzz_rocpd.c - any bytes as a database file, every table drained. */
#include "fuzz_reader.h"
#include "read/rocpd/rocpd.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *path = fuzz_named_file(data, len);

	if (!path)
		return 0;
	fuzz_read(rk_reader_by_name("rocpd"), path);
	unlink(path);
	return 0;
}
