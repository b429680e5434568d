/* fuzz_zip.c - any bytes as a zip archive: its directory, and all its members. */
#include <stdlib.h>

#include "archive/zip_read.h"
#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { MOST = 1 << 20 };

static int count(void *arg, const void *p, size_t len, struct rk_error *err)
{
	uint64_t *sum = arg;

	(void)p;
	*sum += len;
	return *sum > MOST ? rk_fail(err, RK_E_LIMIT, "enough") : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *path = fuzz_file(data, len);
	const struct rk_zip_entry *e;
	struct rk_error err = { 0 };
	struct rk_zip_file *z = NULL;
	size_t n;
	int rc;

	if (!path)
		return 0;
	rc = rk_zip_open(path, &z, &err);
	if (rc < 0) {
		if (rc != err.code)
			abort();
		return 0;
	}
	e = rk_zip_entries(z, &n);
	for (size_t i = 0; i < n; i++) {
		uint64_t sum = 0;

		err = (struct rk_error){ 0 };
		rc = rk_zip_each_bytes(z, &e[i], count, &sum, &err);
		if (rc < 0 ? rc != err.code : sum != e[i].size)
			abort();
	}
	rk_zip_close(z);
	return 0;
}
