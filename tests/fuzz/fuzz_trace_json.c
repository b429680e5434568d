/* fuzz_trace_json.c - any bytes as each of the JSON traces, every table drained. */
#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { HEAD_BYTES = 64 << 10 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char *const names[] = { "rocprofv3-json", "kineto-json",  "rocprof-v1-json",
					     "proton-tree",    "proton-trace", "hip-json",
					     "att-json" };
	size_t head = len < HEAD_BYTES ? len : HEAD_BYTES;
	const char *path = fuzz_file(data, len);

	for (unsigned i = 0; path && i < sizeof(names) / sizeof(names[0]); i++) {
		const struct rk_reader_ops *ops = rk_reader_by_name(names[i]);

		rk_reader_probe(ops, data, head, head == len);
		fuzz_read(ops, path);
	}
	return 0;
}
