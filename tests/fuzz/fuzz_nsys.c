/* fuzz_nsys.c - any bytes as a database of Nsight Systems, rocprof v1, rocprof-compute or rocmProfileData. */
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Written again for each: a reader may change a database with a journal. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char *const names[] = { "nsys-sqlite", "rocprof-v1-db", "rocprof-compute-db",
					     "rpd" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct rk_reader_ops *ops = rk_reader_by_name(names[i]);
		const char *path = NULL;

		if (rk_reader_probe(ops, data, len, true))
			path = fuzz_named_file(data, len);
		if (!path)
			continue;
		fuzz_read(ops, path);
		unlink(path);
	}
	return 0;
}
