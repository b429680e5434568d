/* zip_write_impl.h - parts of the zip writer. */
#ifndef RK_ZIP_WRITE_IMPL_H
#define RK_ZIP_WRITE_IMPL_H

#include <pthread.h>

#include "archive/deflate_effort.h"
#include "archive/zip_write.h"
#include "base/bytes.h"

/*
 * A member above RK_ZIP_PIECE is cut into pieces of equal size, at most that much. Each piece begins
 * without the 32 KB that deflate could have looked back at: of one MB that costs 0.2 %.
 * Smaller members are packed some at a time.
 */
enum {
	RK_ZIP_PIECE = 1 << 20,
	RK_ZIP_GROUP = 256 << 10,
	RK_ZIP_GROUP_MEMBERS = 128,
	RK_ZIP_HEADER = 30,    /* of a member, before its name */
	RK_ZIP_HEADER_64 = 20, /* more for one of 4 GB */
	RK_ZIP_MAX_NAME = 0xffff,
};

/* What one task packs: some whole members, or a piece of one. */
struct rk_zip_unit {
	size_t first, count; /* members; count 0: a piece of `first` */
	uint64_t offset;
	size_t len; /* bytes before packing, of all members */
};

/* Where a task leaves what it has made until its turn to be written comes. */
struct rk_zip_slot {
	uint8_t *in, *out;
	size_t out_len;
	uint32_t crc; /* of a piece */
	bool ready;
	int rc;
	struct rk_error err;
};

struct rk_zip {
	struct rk_output *out;
	struct rk_pool *pool;
	struct rk_zip_options o;
	struct rk_packer **packers; /* one for each thread; NULL at level 0 */
	unsigned npackers;
	struct rk_zip_slot *slots; /* unit i uses slot i % nslots */
	size_t nslots, slot_bytes; /* slot_bytes: of each `out` */
	struct rk_bytes directory;
	uint64_t nmembers, done; /* done: bytes before packing */
	int rc;                  /* < 0: it has failed, and nothing more is done */

	/* what rk_zip_add is working on */
	struct rk_zip_member *members;
	struct rk_zip_unit *units;
	size_t nunits;
	pthread_mutex_t lock; /* of what follows, of rc, and of `ready` */
	pthread_cond_t moved;
	size_t written; /* units */
	bool writing;   /* some thread is */
	struct rk_error *err;

	/* the member whose pieces are being written, by the thread that writes */
	uint64_t header_at;
	struct rk_sha256 sum;
};

/* Fills slot->out (or leaves slot->in, for what is not packed), sums and sizes. Any thread. */
int rk_zip_pack_unit(struct rk_zip *z, const struct rk_zip_unit *u, struct rk_packer *k,
		     struct rk_zip_slot *slot, struct rk_error *err);
int rk_zip_read(const struct rk_zip_member *m, uint64_t offset, void *to, size_t len,
		struct rk_error *err);
bool rk_zip_packs(const struct rk_zip *z, const struct rk_zip_member *m);

/* Room for a header: RK_ZIP_HEADER, the name, and RK_ZIP_HEADER_64. The length is returned. */
size_t rk_zip_local_header(const struct rk_zip_member *m, int64_t epoch, uint8_t *to);
size_t rk_zip_local_bytes(const struct rk_zip_member *m);
/* Adds a member to the directory. */
void rk_zip_directory_add(struct rk_zip *z, const struct rk_zip_member *m, uint64_t offset);
/* What comes behind the directory, which begins at `at`. */
void rk_zip_directory_end(struct rk_zip *z, uint64_t at);

#endif
