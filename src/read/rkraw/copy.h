/*
 * copy.h - a consistent copy of a recorder file, while its program writes to it or after it died.
 *
 * The program is not stopped and not touched: the file is read with pread, never mapped. Blocks of
 * records are copied first, definitions last, so that every record finds its names. A block is kept
 * if its header is the same before and after its payload was read; one that the program took again
 * meanwhile is counted as copied over, not as damaged. Blocks that were taken after the copy began
 * are left out: otherwise there would be gaps between them. An open block is sealed in the copy.
 */
#ifndef RK_RAW_COPY_H
#define RK_RAW_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/rkraw.h"

struct rk_raw_copied {
	struct rk_raw_header h; /* as it was at the end, before it was changed for the copy */
	uint64_t records, bytes;
	uint64_t copied_over; /* data blocks: overwritten meanwhile, or their names were */
	uint64_t damaged;     /* blocks */
	uint64_t cut;         /* records: see rk_raw_copy_cut() */
	int64_t newest_ns;    /* CLOCK_BOOTTIME: the last known moment */
	int64_t complete_ns;  /* nothing that ended after it was overwritten */
};

/* True to stop with RK_E_CANCELLED; `stop` itself may be NULL. */
struct rk_raw_copy_hooks {
	bool (*stop)(void *arg);
	void *arg;
};

/*
 * Reads the header of the file `fd`; `name` is for messages. Fails for everything that is not a
 * recorder file of this format: links must have been refused when it was opened.
 */
int rk_raw_copy_header(int fd, const char *name, struct rk_raw_header *ret, struct rk_error *err);

/*
 * Copies the file `from` to the empty file `to`. `running`: its program is alive, so that readers do
 * not take the copy for the file of one that was killed.
 */
int rk_raw_copy(int from, const char *name, int to, bool running,
		const struct rk_raw_copy_hooks *hooks, struct rk_raw_copied *ret,
		struct rk_error *err);

/*
 * For the copy `path`: reads the times of all records and sets newest_ns and complete_ns, which are
 * 0 before. Times of a device whose clock was not calibrated are not used.
 */
int rk_raw_copy_span(const char *path, const struct rk_raw_copy_hooks *hooks,
		     struct rk_raw_copied *c, struct rk_error *err);
/*
 * Removes the records that ended before `from_ns` from the copy `path`. Launches without times stay:
 * they may be running. So do records without a time that can be compared.
 */
int rk_raw_copy_cut(const char *path, int64_t from_ns, const struct rk_raw_copy_hooks *hooks,
		    struct rk_raw_copied *c, struct rk_error *err);

#endif
