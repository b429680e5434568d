/* fuzz_samples.c - any bytes as a file of samples, sysinfo, roofline or a raw text trace. */
#include "fuzz_reader.h"

extern const struct rk_reader_ops rk_reader_samples_csv, rk_reader_roofline_csv,
	rk_reader_sysinfo_csv, rk_reader_rocprof_v1_txt;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct rk_reader_ops *const all[] = { &rk_reader_samples_csv,
							   &rk_reader_roofline_csv,
							   &rk_reader_sysinfo_csv,
							   &rk_reader_rocprof_v1_txt };
	const char *path = fuzz_file(data, len);

	for (unsigned i = 0; path && i < sizeof(all) / sizeof(all[0]); i++) {
		all[i]->probe(data, len, true, "fuzz");
		fuzz_read(all[i], path);
	}
	return 0;
}
