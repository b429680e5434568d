/* fuzz_samples.c - any bytes as a file of samples, sysinfo, roofline, ncu or a raw text trace. */
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char *const names[] = { "samples-csv", "roofline-csv", "sysinfo-csv",
					     "rocprof-txt", "ncu-csv" };
	const char *path = fuzz_file(data, len);

	for (unsigned i = 0; path && i < sizeof(names) / sizeof(names[0]); i++) {
		const struct rk_reader_ops *ops = rk_reader_by_name(names[i]);

		rk_reader_probe(ops, data, len, true);
		fuzz_read(ops, path);
	}
	return 0;
}
