/* fuzz_snap.c - any bytes as a recorder file that is copied, measured and cut. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "fuzz_raw.h"
#include "read/rkraw/copy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* What is kept is a file that needs no mending: copying it again must give the same records. */
static void check_again(int fd, uint64_t records)
{
	struct rk_raw_copied c = { .records = 0 };
	struct rk_error err = { 0 };
	int to = memfd_create("again", MFD_CLOEXEC);

	if (to < 0)
		return;
	if (rk_raw_copy(fd, "again", to, false, NULL, &c, &err) == 0 &&
	    (c.records != records || c.damaged || c.copied_over))
		abort();
	close(to);
}

static void snap(int from, bool running, int64_t back_ns)
{
	char path[] = "/tmp/rockit-fuzz-snap-XXXXXX";
	struct rk_raw_copied c = { .records = 0 };
	struct rk_error err = { 0 };
	int to = mkostemp(path, O_CLOEXEC);
	int64_t at;

	if (to < 0)
		return;
	if (rk_raw_copy(from, "file", to, running, NULL, &c, &err) == 0) {
		if (!(c.h.flags & RK_RAW_SWITCHED) || !c.h.live_from)
			check_again(to, c.records);
		if (rk_raw_copy_span(path, NULL, &c, &err) == 0 &&
		    !__builtin_sub_overflow(c.newest_ns, back_ns, &at) &&
		    rk_raw_copy_cut(path, at, NULL, &c, &err) == 0)
			rk_raw_copy_span(path, NULL, &c, &err);
	}
	close(to);
	unlink(path);
}

static void give(const uint8_t *data, size_t len, bool running, int64_t back_ns)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, data, len) == (ssize_t)len)
		snap(fd, running, back_ns);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t *copy = rk_alloc(len + 1);

	give(data, len, true, 1000000);
	if (copy) {
		memcpy(copy, data, len);
		raw_mend(copy, len);
		give(copy, len, false, 0);
	}
	rk_free(copy);
	return 0;
}
