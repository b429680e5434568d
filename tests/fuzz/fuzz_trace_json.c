/* fuzz_trace_json.c - any bytes as each of the JSON traces, every table drained. */
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

extern const struct rk_reader_ops rk_reader_rocprofv3_json, rk_reader_kineto_json,
	rk_reader_rocprof_v1_json;

enum { HEAD_BYTES = 64 << 10 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct rk_reader_ops *const all[] = { &rk_reader_rocprofv3_json,
							   &rk_reader_kineto_json,
							   &rk_reader_rocprof_v1_json };
	size_t head = len < HEAD_BYTES ? len : HEAD_BYTES;
	const char *path = fuzz_file(data, len);

	for (unsigned i = 0; path && i < sizeof(all) / sizeof(all[0]); i++) {
		all[i]->probe(data, head, head == len, "fuzz.json");
		fuzz_read(all[i], path);
	}
	return 0;
}
