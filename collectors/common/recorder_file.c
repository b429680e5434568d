/*
 * recorder_file.c - the mapped file: creation, growth, and the header.
 *
 * The whole limit is mapped at once and the file grows below the mapping, so a block's address
 * never changes. Disk space is reserved before a page is touched: a full disk is then an error here
 * instead of a SIGBUS in the program. We do not keep the descriptor open, because programs close
 * descriptors they do not know and reuse the number.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder_impl.h"

enum {
	GROW_MIN = 1 << 20,
	GROW_MAX = 16 << 20,
	NAME_TRIES = 100,
	BLOCK_DEFAULT = 32 << 10,
	DEFINITIONS_MAX = 4 << 20
};
#define LIMIT_DEFAULT (UINT64_C(1) << 30)
#define LIMIT_MAX (UINT64_C(1) << 40)

/* ---- growing ---- */

static bool reserve(int fd, uint64_t from, uint64_t to)
{
	static const char zeros[64 << 10];
	struct rlimit limit;
	int rc;

	/* Growing beyond the process's file size limit would raise a signal. */
	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY &&
	    to > limit.rlim_cur) {
		errno = EFBIG;
		return false;
	}
	do {
		rc = fallocate(fd, 0, (off_t)from, (off_t)(to - from));
	} while (rc && errno == EINTR);
	if (!rc || (errno != EOPNOTSUPP && errno != ENOSYS))
		return !rc;

	/* The file system cannot reserve space: write zeros. */
	while (from < to) {
		size_t len = to - from < sizeof(zeros) ? (size_t)(to - from) : sizeof(zeros);
		ssize_t n = pwrite(fd, zeros, len, (off_t)from);

		if (n <= 0 && errno != EINTR)
			return false;
		if (n > 0)
			from += (uint64_t)n;
	}
	return true;
}

/* Reserves blocks from `have` on, as many as possible, including `index`. */
static bool reserve_blocks(int fd, uint64_t have, uint64_t index)
{
	uint64_t size = rk_rec.block_bytes, step = have / 4, want;
	uint64_t least = GROW_MIN / size, most = GROW_MAX / size;

	if (step < least)
		step = least;
	else if (step > most)
		step = most;
	want = have + step > index + 1 ? have + step : index + 1;
	if (want > rk_rec.nblocks)
		want = rk_rec.nblocks;
	for (;;) {
		if (reserve(fd, have * size, want * size)) {
			atomic_store(&rk_rec.reserved, want);
			return true;
		}
		if (want == index + 1)
			return false;
		want = index + 1 + (want - index - 1) / 2;
	}
}

/* Reopens the file if the name still refers to it. */
static int reopen(void)
{
	int fd = open(rk_rec.path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && st.st_dev == rk_rec.dev && st.st_ino == rk_rec.ino &&
	    (uint64_t)st.st_size >= atomic_load(&rk_rec.reserved) * rk_rec.block_bytes)
		return fd;
	close(fd);
	errno = ESTALE;
	return -1;
}

bool rk_rec_file_grow(uint64_t index, bool locked)
{
	uint64_t have;
	bool ok = true;
	int fd;

	if (!locked)
		rk_rec_lock();
	have = atomic_load(&rk_rec.reserved);
	if (index >= have) {
		fd = reopen();
		ok = fd >= 0 && reserve_blocks(fd, have, index);
		/* a temporary lack of descriptors must not stop recording for good */
		if (!ok && (fd >= 0 || (errno != EMFILE && errno != ENFILE)))
			atomic_store(&rk_rec.full, 1 + RK_RAW_DISK);
		if (fd >= 0)
			close(fd);
	}
	if (!locked)
		rk_rec_unlock();
	return ok;
}

/*
 * A thread that takes a block adds to `next` and then reads `reserved`; here it is the other way
 * round, so at least one of the two sees the other's change. In a window all blocks stay.
 */
void rk_rec_file_shrink(void)
{
	uint64_t have = atomic_load(&rk_rec.reserved), used = atomic_load(&rk_rec.next);
	int fd;

	if (rk_rec.window || used >= have)
		return;
	fd = reopen();
	if (fd < 0)
		return;
	atomic_store(&rk_rec.reserved, used);
	if (atomic_load(&rk_rec.next) != used || ftruncate(fd, (off_t)(used * rk_rec.block_bytes)))
		atomic_store(&rk_rec.reserved, have);
	close(fd);
}

/* ---- the header ---- */

static int32_t rank_of(const char *const *names)
{
	for (; *names; names++) {
		const char *text = getenv(*names);
		int32_t v = 0;

		if (!text || !*text)
			continue;
		for (; *text >= '0' && *text <= '9' && v < 100000000; text++)
			v = v * 10 + (*text - '0');
		if (!*text)
			return v;
	}
	return -1;
}

static void fill_ranks(struct rk_raw_header *h)
{
	static const char *const ranks[] = {
		"ROCKIT_RANK",          "SLURM_PROCID",        "PMIX_RANK", "PMI_RANK",
		"OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "RANK",      NULL
	};
	static const char *const locals[] = { "ROCKIT_LOCAL_RANK",
					      "SLURM_LOCALID",
					      "MPI_LOCALRANKID",
					      "OMPI_COMM_WORLD_LOCAL_RANK",
					      "MV2_COMM_WORLD_LOCAL_RANK",
					      "LOCAL_RANK",
					      NULL };
	/* a Slurm batch script has these variables but is not a rank: it has no step */
	bool batch = getenv("SLURM_JOB_ID") && !getenv("SLURM_STEP_ID");

	h->rank = rank_of(batch ? ranks + 2 : ranks);
	h->local_rank = rank_of(batch ? locals + 2 : locals);
}

/* Tells this process from a later one with the same pid. */
static uint64_t proc_start(void)
{
	char text[1024];
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	const char *p;
	uint64_t start = 0;

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	p = strrchr(text, ')'); /* the end of field 2, a name with any characters */
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	for (p = p ? p + 1 : ""; *p >= '0' && *p <= '9'; p++)
		start = start * 10 + (uint64_t)(*p - '0');
	return start;
}

static void fill_header(struct rk_raw_header *h)
{
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, h->command, sizeof(h->command));

	if (fd >= 0)
		close(fd);
	h->command_len = n > 0 ? (uint32_t)n : 0;
	memcpy(h->magic, RK_RAW_MAGIC, sizeof(h->magic));
	h->format = RK_RAW_FORMAT;
	h->order = RK_RAW_ORDER;
	h->block_bytes = (uint32_t)rk_rec.block_bytes;
	h->flags = RK_RAW_SWITCHED | (rk_rec.window ? RK_RAW_WINDOW : 0) |
		   (rk_rec_flag("switch", false) ? RK_RAW_SWITCHABLE : 0);
	h->pid = (uint32_t)getpid();
	h->ppid = (uint32_t)getppid();
	h->limit_blocks = rk_rec.nblocks;
	h->definition_blocks = rk_rec.first_data - 1;
	memcpy(h->collector, rk_rec.collector, sizeof(h->collector));
	if (gethostname(h->host, sizeof(h->host)))
		h->host[0] = '\0';
	if (readlink("/proc/self/exe", h->exe, sizeof(h->exe)) < 0)
		h->exe[0] = '\0';
	fill_ranks(h);
	rk_rec_switch_header(h);
	h->proc_start = proc_start();
	rk_rec_clocks_fill(&h->start, 16);
	h->last[0] = h->start;
	h->sum = rk_raw_sum(0, h, offsetof(struct rk_raw_header, sum));
}

/* ---- creating it ---- */

/*
 * Writes the absolute folder with a trailing slash, because the program may change directory.
 * Returns its length, 0 if there is none.
 */
static size_t folder(char *path)
{
	char dir[REC_PATH];
	size_t len, base = 0;

	if (!rk_rec_setting("dir", dir, sizeof(dir)) || !*dir)
		return 0;
	if (*dir != '/') {
		if (!getcwd(path, REC_PATH))
			return 0;
		base = strlen(path);
		path[base++] = '/';
	}
	len = strlen(dir);
	if (base + len + 64 > REC_PATH)
		return 0;
	memcpy(path + base, dir, len);
	path[base + len] = '/';
	return base + len + 1;
}

/* Appends <pid>.rkraw to the folder; <pid>-<n>.rkraw if an earlier program had the same pid. */
static void put_name(size_t len, int n)
{
	char tail[64];

	if (n)
		snprintf(tail, sizeof(tail), "%ld-%d.rkraw", (long)getpid(), n);
	else
		snprintf(tail, sizeof(tail), "%ld.rkraw", (long)getpid());
	memcpy(rk_rec.path + len, tail, strlen(tail) + 1);
}

static bool give_name(int fd, size_t len)
{
	char self[32];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	for (int n = 0; n < NAME_TRIES; n++) {
		put_name(len, n);
		if (!linkat(AT_FDCWD, self, AT_FDCWD, rk_rec.path, AT_SYMLINK_FOLLOW))
			return true;
		if (errno != EEXIST)
			break;
	}
	return false;
}

/* For file systems without unnamed files. */
static int make_named(size_t len)
{
	int fd = -1;

	for (int n = 0; n < NAME_TRIES && fd < 0; n++) {
		put_name(len, n);
		fd = open(rk_rec.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	return fd;
}

/* Address space that the program may still use; a vendor's runtime reserves a lot of it early. */
static uint64_t address_space_left(void)
{
	char text[64] = "";
	struct rlimit limit;
	uint64_t pages = 0;
	int fd;

	if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	if (fd >= 0)
		close(fd);
	for (const char *p = text; *p >= '0' && *p <= '9'; p++)
		pages = pages * 10 + (uint64_t)(*p - '0');
	pages *= (uint64_t)sysconf(_SC_PAGESIZE);
	return limit.rlim_cur > pages ? limit.rlim_cur - pages : 0;
}

/*
 * If the program has little address space, the file is small and the program keeps most of the
 * space.
 */
static bool map_file(int fd)
{
	uint64_t left = address_space_left();

	while (rk_rec.nblocks >= 8 && rk_rec.nblocks * rk_rec.block_bytes > left / 16)
		rk_rec.nblocks /= 2;
	for (; rk_rec.nblocks >= 4; rk_rec.nblocks /= 2) {
		size_t len = rk_rec.nblocks * rk_rec.block_bytes;
		void *p =
			mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);

		if (p != MAP_FAILED) {
			rk_rec.base = p;
			rk_rec.map_bytes = len;
			return true;
		}
	}
	return false;
}

static void unmap_file(void)
{
	munmap(rk_rec.base, rk_rec.map_bytes);
	rk_rec_sealed_close();
}

/*
 * Maps the file again by its name. Otherwise /proc/PID/maps shows it as an unnamed one that was
 * deleted, and who wants to switch this process cannot find it.
 */
static void map_by_name(void)
{
	int fd = reopen();
	void *p = MAP_FAILED;

	if (fd < 0)
		return;
	p = mmap(NULL, rk_rec.map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (p != MAP_FAILED) {
		munmap(rk_rec.base, rk_rec.map_bytes);
		rk_rec.base = p;
	}
	close(fd);
}

static bool set_up(int fd)
{
	uint64_t block = rk_rec_bytes("block", BLOCK_DEFAULT);
	uint64_t limit = rk_rec_bytes("limit", LIMIT_DEFAULT), share;
	struct stat st;

	if (fstat(fd, &st))
		return false;
	rk_rec.dev = st.st_dev;
	rk_rec.ino = st.st_ino;

	if (block < RK_RAW_BLOCK_MIN || block > RK_RAW_BLOCK_MAX || block & (block - 1))
		block = BLOCK_DEFAULT;
	/* pages are released block by block */
	if (block < (uint64_t)sysconf(_SC_PAGESIZE))
		block = (uint64_t)sysconf(_SC_PAGESIZE);
	if (limit > LIMIT_MAX)
		limit = LIMIT_MAX;
	rk_rec.block_bytes = (size_t)block;
	rk_rec.nblocks = limit / block < 4 ? 4 : limit / block;
	rk_rec.window = rk_rec_flag("window", false);
	if (!map_file(fd))
		return false;

	/*
	 * In a window an eighth of the blocks is reserved for definitions, so that they are not
	 * overwritten with the records.
	 */
	share = rk_rec.nblocks / 8;
	if (share > DEFINITIONS_MAX / block)
		share = DEFINITIONS_MAX / block;
	if (share < REC_SEGMENTS)
		share = 2;
	else
		share -= share % REC_SEGMENTS;
	rk_rec.first_data = rk_rec.window ? 1 + share : 1;
	atomic_store(&rk_rec.next, rk_rec.window ? 0 : 1);
	atomic_store(&rk_rec.sequence, 0);
	atomic_store(&rk_rec.reserved, 0);
	atomic_store(&rk_rec.full, 0);
	for (unsigned i = 0; i < REC_SPARE; i++)
		atomic_store(&rk_rec.spare[i], 0);
	atomic_store(&rk_rec.nspare, 0);
	if ((rk_rec.window && !rk_rec_sealed_open()) || !reserve_blocks(fd, 0, rk_rec.first_data)) {
		unmap_file();
		return false;
	}
	return true;
}

/* Turns an empty file into one with a header; closes the descriptor. */
static bool complete(int fd, size_t len, bool named)
{
	bool ok = fd >= 0 && set_up(fd);

	if (ok) {
		fill_header((struct rk_raw_header *)(void *)rk_rec.base);
		ok = named || give_name(fd, len);
		if (!ok)
			unmap_file();
		else if (!named)
			map_by_name();
	}
	if (!ok && fd >= 0 && named)
		unlink(rk_rec.path);
	if (fd >= 0)
		close(fd);
	return ok;
}

bool rk_rec_file_open(void)
{
	size_t len = folder(rk_rec.path);
	bool ok = false;

	if (len) {
		/*
		 * Unnamed, so that a process killed before the header is complete leaves nothing
		 * behind.
		 */
		rk_rec.path[len] = '\0';
		ok = complete(open(rk_rec.path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600), len, false);
		if (!ok)
			ok = complete(make_named(len), len, true);
	}
	if (!ok) {
		rk_rec.base = NULL;
		return false;
	}
	/* keep this order: a file whose word is not set belongs to the parent */
	atomic_store(rk_rec.alive, rk_rec.generation);
	atomic_store(&rk_rec.header, (struct rk_raw_header *)(void *)rk_rec.base);
	return true;
}

void rk_rec_file_forget(bool unmap)
{
	atomic_store(&rk_rec.header, NULL);
	if (rk_rec.base && unmap)
		unmap_file();
	rk_rec.base = NULL;
}
