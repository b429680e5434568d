/* fuzz_nsys.c - any bytes as a database of Nsight Systems, rocprof v1 or rocprof-compute. */
#include "fuzz_reader.h"

extern const struct rk_reader_ops rk_reader_nsys_sqlite, rk_reader_rocprof_v1_db,
	rk_reader_compute_db;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* The file is written anew for each: a database with a journal may be changed by a reader. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct rk_reader_ops *const readers[] = { &rk_reader_nsys_sqlite,
							       &rk_reader_rocprof_v1_db,
							       &rk_reader_compute_db };

	for (unsigned i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
		const char *path = NULL;

		if (readers[i]->probe(data, len, true, "x"))
			path = fuzz_named_file(data, len);
		if (!path)
			continue;
		fuzz_read(readers[i], path);
		unlink(path);
	}
	return 0;
}
