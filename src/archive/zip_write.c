/*
 * zip_write.c - see zip_write.h.
 *
 * The members of one rk_zip_add are cut into units, each a task of one job. A task waits until its
 * slot is free and compresses into it. Then, if no other thread is writing, it writes all units
 * that are ready and next in order. So no thread only writes, nobody waits for the slowest of a
 * batch, and memory is limited to the slots. Tasks start in order: the next unit to be written is
 * always in progress, so tasks that wait for a slot get one.
 *
 * The bytes of a piece depend neither on other pieces nor on the thread.
 */
#include "archive/zip_write.h"

#include <pthread.h>
#include <string.h>

#include "archive/deflate_pack.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/num.h"

/*
 * A member larger than PIECE is cut into pieces of equal size, at most PIECE. A piece cannot refer
 * to the 32 KB before it: for a piece of one MB that costs 0.2 %. Smaller members are grouped.
 */
enum {
	PIECE = 1 << 20,
	GROUP = 256 << 10,
	GROUP_MEMBERS = 128,
	HEADER = 30,    /* of a member, before its name */
	HEADER_64 = 20, /* extra for a member of 4 GB or more */
	MAX_NAME = 0xffff,
};

/* The work of one task: some whole members, or a piece of one. */
struct unit {
	size_t first, count; /* members; count 0: a piece of `first` */
	uint64_t offset;
	size_t len; /* uncompressed bytes, of all members */
};

/* Holds the output of a task until it is written. */
struct slot {
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
	struct slot *slots;        /* unit i uses slot i % nslots */
	size_t nslots, slot_bytes; /* slot_bytes: of each `out` */
	struct rk_bytes directory;
	uint64_t nmembers, done; /* done: uncompressed bytes */
	int rc;                  /* < 0: failed, nothing more is written */

	/* the arguments of the current rk_zip_add */
	struct rk_zip_member *members;
	struct unit *units;
	size_t nunits;
	pthread_mutex_t lock; /* protects the fields below, rc and `ready` */
	pthread_cond_t moved;
	size_t written; /* units */
	bool writing;   /* a thread is writing */
	struct rk_error *err;

	/* the member whose pieces are being written; used by the writing thread only */
	uint64_t header_at;
	struct rk_sha256 sum;
};

enum {
	LOCAL = 0x04034b50,
	CENTRAL = 0x02014b50,
	END = 0x06054b50,
	END_64 = 0x06064b50,
	LOCATOR_64 = 0x07064b50,
};
enum { VERSION = 20, VERSION_64 = 45, UNIX = 3, UTF8 = 1 << 11, STORED = 0, DEFLATED = 8 };
enum { END_64_REST = 44 }; /* bytes of the record after its length field */
#define MAX_16 UINT64_C(0xffff)
#define MAX_32 UINT64_C(0xffffffff)

/*
 * Numbers are little endian. A number that does not fit into 32 bits is all ones there, and is in a
 * Zip64 field instead (APPNOTE.TXT, 4.5.3). Compression never makes a member larger, so its size
 * decides whether it needs one.
 */

/* -- numbers ------------------------------------------------------------------------------ */

static uint8_t *put(uint8_t *to, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		*to++ = (uint8_t)(v >> 8 * i);
	return to;
}

static uint8_t *put32_or_ones(uint8_t *to, uint64_t v)
{
	return put(to, rk_min(v, MAX_32), 4);
}

/* -- time --------------------------------------------------------------------------------- */

/* Time in the low 16 bits, in units of two seconds, and date above: from 1980 to 2107. */
static uint32_t dos_time(int64_t epoch)
{
	const int64_t first = INT64_C(315532800), last = INT64_C(4354819199);
	int64_t since, era, in_era, in_year, year, month, day;
	uint32_t s;

	epoch = rk_min_i64(rk_max_i64(epoch, first), last);
	s = (uint32_t)(epoch % 86400);

	/*
	 * days since 1970 to a date (UTC): years begin in March, so that a leap day is the last day
	 */
	since = epoch / 86400 + 719468; /* from the first of March of year 0 */
	era = since / 146097;
	in_era = since % 146097;
	year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
	in_year = in_era - (365 * year + year / 4 - year / 100);
	month = (5 * in_year + 2) / 153; /* 0 is March */
	day = in_year - (153 * month + 2) / 5 + 1;
	year += 400 * era;
	month += 3;
	if (month > 12) {
		month -= 12;
		year++;
	}
	return (uint32_t)((year - 1980) << 25 | month << 21 | day << 16) | s / 3600 << 11 |
	       s / 60 % 60 << 5 | s % 60 / 2;
}

/* -- headers ------------------------------------------------------------------------------ */

/*
 * The part that both headers of a member share: from the version needed to the length of the name.
 */
static uint8_t *common(uint8_t *to, const struct rk_zip_member *m, int64_t epoch, bool big,
		       unsigned version)
{
	unsigned flags = 0;

	for (const char *s = m->name; *s; s++)
		if ((unsigned char)*s >= 0x80)
			flags = UTF8;
	to = put(to, version, 2);
	to = put(to, flags, 2);
	to = put(to, m->packed < m->size ? DEFLATED : STORED, 2);
	to = put(to, dos_time(epoch), 4);
	to = put(to, m->crc, 4);
	to = put(to, big ? MAX_32 : m->packed, 4);
	to = put(to, big ? MAX_32 : m->size, 4);
	return put(to, strlen(m->name), 2);
}

static bool is_big(const struct rk_zip_member *m)
{
	return m->size >= MAX_32;
}

static size_t local_bytes(const struct rk_zip_member *m)
{
	return HEADER + strlen(m->name) + (is_big(m) ? HEADER_64 : 0);
}

static size_t put_local_header(const struct rk_zip_member *m, int64_t epoch, uint8_t *to)
{
	bool big = is_big(m);
	size_t name = strlen(m->name);
	uint8_t *at = put(to, LOCAL, 4);

	at = common(at, m, epoch, big, big ? VERSION_64 : VERSION);
	at = put(at, big ? HEADER_64 : 0, 2);
	memcpy(at, m->name, name);
	at += name;
	if (big) {
		at = put(at, 1, 2);
		at = put(at, 16, 2);
		at = put(at, m->size, 8);
		at = put(at, m->packed, 8);
	}
	return (size_t)(at - to);
}

static void directory_add(struct rk_zip *z, const struct rk_zip_member *m, uint64_t offset)
{
	bool big = is_big(m), far = offset >= MAX_32;
	unsigned version = big || far ? VERSION_64 : VERSION;
	unsigned extra = 16u * big + 8u * far;
	uint8_t fixed[46], more[28], *at = put(fixed, CENTRAL, 4);

	at = put(at, UNIX << 8 | version, 2);
	at = common(at, m, z->o.epoch, big, version);
	at = put(at, extra ? extra + 4 : 0, 2);
	at = put(at, 0, 2 + 2 + 2); /* no comment, first volume, no attributes of its own */
	at = put(at, (uint64_t)m->mode << 16, 4);
	put32_or_ones(at, offset);
	rk_bytes_put(&z->directory, fixed, sizeof(fixed));
	rk_bytes_puts(&z->directory, m->name);
	if (extra) {
		at = put(put(more, 1, 2), extra, 2);
		if (big)
			at = put(put(at, m->size, 8), m->packed, 8);
		if (far)
			at = put(at, offset, 8);
		rk_bytes_put(&z->directory, more, (size_t)(at - more));
	}
	z->nmembers++;
}

static int read_bytes(const struct rk_zip_member *m, uint64_t offset, void *to, size_t len,
		      struct rk_error *err)
{
	int rc = len ? m->read(m->arg, offset, to, len, err) : 0;

	return rc < 0 ? rk_fail(err, rc, "cannot read the content of '%s'", m->name) : 0;
}

static bool is_packed(const struct rk_zip *z, const struct rk_zip_member *m)
{
	return z->o.level > 0 && !m->stored;
}

/* Appends one whole member to the slot: header and bytes. */
static int pack_member(struct rk_zip *z, struct rk_zip_member *m, struct rk_packer *k,
		       struct slot *slot, struct rk_error *err)
{
	size_t len = (size_t)m->size, packed = 0;
	uint8_t *to = slot->out + slot->out_len, *data = to + local_bytes(m);
	int rc = read_bytes(m, 0, slot->in, len, err);

	if (rc < 0)
		return rc;
	rk_sha256(slot->in, len, m->sha256);
	m->crc = rk_crc32(slot->in, len);
	if (is_packed(z, m) && len > 1)
		packed = rk_packer_whole(k, slot->in, len, data, len - 1);
	if (!packed && len)
		memcpy(data, slot->in, len); /* it does not shrink */
	m->packed = packed ? packed : len;
	put_local_header(m, z->o.epoch, to);
	slot->out_len = (size_t)(data - slot->out) + (size_t)m->packed;
	return 0;
}

enum { MAX_LEVEL = 12, MAX_AHEAD = 16 };
#define MAX_DIRECTORY ((size_t)1 << 32)

int rk_zip_read_memory(const void *arg, uint64_t offset, void *to, size_t len, struct rk_error *err)
{
	(void)err;
	memcpy(to, (const char *)arg + offset, len);
	return 0;
}

/* -- units -------------------------------------------------------------------------------- */

/* Counts members whose total is small enough for one unit. */
static size_t group_of(const struct rk_zip_member *m, size_t n)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < n && i < GROUP_MEMBERS; i++) {
		if (m[i].size > GROUP)
			break;
		bytes += m[i].size + local_bytes(&m[i]);
		if (bytes > GROUP)
			break;
	}
	return i ? i : 1;
}

static bool add_unit(struct rk_zip *z, size_t *cap, struct unit u)
{
	struct unit *grown = rk_grow(z->units, cap, z->nunits + 1, sizeof(*grown));

	if (!grown)
		return false;
	z->units = grown;
	z->units[z->nunits++] = u;
	return true;
}

static int make_units(struct rk_zip *z, size_t n, struct rk_error *err)
{
	size_t cap = 0, count;

	for (size_t i = 0; i < n; i += count) {
		const struct rk_zip_member *m = &z->members[i];
		uint64_t pieces, piece;

		count = 1;
		if (strlen(m->name) > MAX_NAME)
			return rk_fail(err, RK_E_LIMIT,
				       "the name '%.60s...' is too long for a zip archive",
				       m->name);
		if (m->size <= PIECE) {
			count = group_of(m, n - i);
			if (!add_unit(z, &cap, (struct unit){ .first = i, .count = count }))
				return rk_fail_nomem(err);
			continue;
		}
		/* pieces of equal size, in whole pages */
		pieces = m->size / PIECE + (m->size % PIECE != 0);
		piece = (m->size / pieces + (m->size % pieces != 0) + 4095) / 4096 * 4096;
		for (uint64_t at = 0; at < m->size; at += piece) {
			struct unit u = { .first = i,
					  .offset = at,
					  .len = rk_min(m->size - at, piece) };

			if (!add_unit(z, &cap, u))
				return rk_fail_nomem(err);
		}
	}
	return 0;
}

/* -- writing, by one thread at a time ------------------------------------------------------ */

/* The header is written twice: sizes and CRC are known only at the end of the member. */
static int write_header(struct rk_zip *z, const struct rk_zip_member *m, bool again,
			struct rk_error *err)
{
	uint8_t *header = rk_alloc(local_bytes(m));
	size_t len;
	int rc;

	if (!header)
		return rk_fail_nomem(err);
	len = put_local_header(m, z->o.epoch, header);
	if (again)
		rc = rk_output_patch(z->out, z->header_at, header, len, err);
	else
		rc = rk_output_write(z->out, header, len, err);
	rk_free(header);
	return rc;
}

static int end_member(struct rk_zip *z, struct rk_zip_member *m, struct slot *s,
		      struct rk_error *err)
{
	int rc;

	rk_sha256_end(&z->sum, m->sha256);
	if (m->packed >= m->size && is_packed(z, m)) {
		/* the compressed pieces are not smaller: store the member instead */
		rc = rk_output_rewind(z->out, z->header_at + local_bytes(m), err);
		if (rc < 0)
			return rc;
		for (uint64_t at = 0, len; at < m->size; at += len) {
			len = rk_min(m->size - at, PIECE);
			if ((rc = read_bytes(m, at, s->in, (size_t)len, err)) < 0 ||
			    (rc = rk_output_write(z->out, s->in, (size_t)len, err)) < 0)
				return rc;
		}
		m->packed = m->size;
	}
	rc = write_header(z, m, true, err);
	if (rc < 0)
		return rc;
	directory_add(z, m, z->header_at);
	return 0;
}

static int write_piece(struct rk_zip *z, const struct unit *u, struct slot *s, struct rk_error *err)
{
	struct rk_zip_member *m = &z->members[u->first];
	bool packed = is_packed(z, m);
	size_t len = packed ? s->out_len : u->len;
	int rc;

	if (u->offset == 0) {
		z->header_at = rk_output_offset(z->out);
		rk_sha256_begin(&z->sum);
		m->crc = 0;
		m->packed = 0;
		rc = write_header(z, m, false, err);
		if (rc < 0)
			return rc;
	}
	rc = rk_output_write(z->out, packed ? s->out : s->in, len, err);
	if (rc < 0)
		return rc;
	rk_sha256_add(&z->sum, s->in, u->len);
	m->crc = u->offset ? rk_crc32_join(m->crc, s->crc, u->len) : s->crc;
	m->packed += len;
	z->done += u->len;
	return u->offset + u->len == m->size ? end_member(z, m, s, err) : 0;
}

static int write_unit(struct rk_zip *z, size_t i, struct rk_error *err)
{
	const struct unit *u = &z->units[i];
	struct slot *s = &z->slots[i % z->nslots];
	uint64_t at = rk_output_offset(z->out);
	int rc;

	if (s->rc < 0) {
		if (err)
			*err = s->err;
		return s->rc;
	}
	rc = u->count ? rk_output_write(z->out, s->out, s->out_len, err) :
			write_piece(z, u, s, err);
	if (rc < 0)
		return rc;
	for (size_t k = 0; k < u->count; k++) {
		const struct rk_zip_member *m = &z->members[u->first + k];

		directory_add(z, m, at);
		at += local_bytes(m) + m->packed;
		z->done += m->size;
	}
	if (z->directory.bad)
		return rk_fail_nomem(err);
	if (z->o.progress && z->o.progress(z->o.progress_arg, z->done))
		return rk_fail(err, RK_E_CANCELLED, "cancelled");
	return 0;
}

/* -- tasks -------------------------------------------------------------------------------- */

/*
 * Called when unit i is in its slot. The writing thread checks again before it stops, so no unit is
 * missed.
 */
static void hand_over(struct rk_zip *z, size_t i)
{
	int rc;

	pthread_mutex_lock(&z->lock);
	z->slots[i % z->nslots].ready = true;
	while (!z->writing && z->rc == 0 && z->written < z->nunits &&
	       z->slots[z->written % z->nslots].ready) {
		size_t next = z->written;

		z->writing = true;
		pthread_mutex_unlock(&z->lock);
		rc = write_unit(z, next, z->err);
		pthread_mutex_lock(&z->lock);
		z->writing = false;
		z->slots[next % z->nslots].ready = false;
		z->written++;
		z->rc = rc;
		pthread_cond_broadcast(&z->moved);
	}
	pthread_mutex_unlock(&z->lock);
}

static void task(void *arg, size_t i, unsigned worker)
{
	struct rk_zip *z = arg;
	struct slot *s = &z->slots[i % z->nslots];
	struct rk_packer *k = z->npackers ? z->packers[worker] : NULL;
	const struct unit *u = &z->units[i];
	struct rk_zip_member *m = &z->members[u->first];
	bool failed;

	pthread_mutex_lock(&z->lock);
	while (z->rc == 0 && i >= z->written + z->nslots)
		pthread_cond_wait(&z->moved, &z->lock);
	failed = z->rc != 0;
	pthread_mutex_unlock(&z->lock);
	if (failed)
		return;

	s->err = (struct rk_error){ 0 };
	s->rc = 0;
	s->out_len = 0;
	if (!u->count) {
		s->rc = read_bytes(m, u->offset, s->in, u->len, &s->err);
		if (s->rc == 0)
			s->crc = rk_crc32(s->in, u->len);
		if (s->rc == 0 && is_packed(z, m))
			s->rc = rk_packer_piece(k, s->in, u->len, u->offset + u->len == m->size,
						s->out, z->slot_bytes, &s->out_len, &s->err);
	}
	for (size_t n = 0; s->rc == 0 && n < u->count; n++)
		s->rc = pack_member(z, &m[n], k, s, &s->err);
	hand_over(z, i);
}

/* -- the archive -------------------------------------------------------------------------- */

int rk_zip_new(struct rk_output *out, struct rk_pool *pool, const struct rk_zip_options *o,
	       struct rk_zip **ret, struct rk_error *err)
{
	unsigned n = rk_pool_threads(pool);
	struct rk_zip *z;
	int rc;

	if (o->level < 0 || o->level > MAX_LEVEL)
		return rk_fail(err, RK_E_USAGE, "invalid level %d: must be from 0 to %d", o->level,
			       MAX_LEVEL);
	z = rk_calloc(1, sizeof(*z));
	if (!z)
		return rk_fail_nomem(err);
	z->out = out, z->pool = pool, z->o = *o;
	pthread_mutex_init(&z->lock, NULL);
	pthread_cond_init(&z->moved, NULL);
	rk_bytes_init(&z->directory, MAX_DIRECTORY);
	z->slot_bytes = PIECE + HEADER + MAX_NAME;
	if (o->level) {
		z->packers = rk_calloc(n, sizeof(*z->packers));
		if (!z->packers)
			goto nomem;
		for (; z->npackers < n; z->npackers++) {
			rc = rk_packer_new(o->level, &z->packers[z->npackers], err);
			if (rc < 0)
				goto fail;
		}
		z->slot_bytes = rk_max(z->slot_bytes, rk_packer_bound(z->packers[0], PIECE));
	}

	/*
	 * twice as many slots as threads, so that a slow piece does not block the others
	 * immediately
	 */
	z->nslots = n == 1 ? 1 : n + rk_min(n, MAX_AHEAD);
	z->slots = rk_calloc(z->nslots, sizeof(*z->slots));
	if (!z->slots)
		goto nomem;
	for (size_t i = 0; i < z->nslots; i++) {
		z->slots[i].in = rk_alloc(PIECE);
		z->slots[i].out = rk_alloc(z->slot_bytes);
		if (!z->slots[i].in || !z->slots[i].out)
			goto nomem;
	}
	*ret = z;
	return 0;
nomem:
	rc = rk_fail_nomem(err);
fail:
	rk_zip_free(z);
	return rc;
}

int rk_zip_add(struct rk_zip *z, struct rk_zip_member *members, size_t n, struct rk_error *err)
{
	struct rk_error own = { 0 };

	if (z->rc < 0)
		return rk_fail(err, z->rc, "an earlier write to the archive failed");
	z->members = members, z->nunits = 0, z->written = 0, z->err = err ? err : &own;
	z->rc = make_units(z, n, err);
	if (z->rc == 0)
		rk_pool_run(z->pool, z->nunits, task, z);
	rk_free(z->units);
	z->units = NULL;
	for (size_t i = 0; i < z->nslots; i++)
		z->slots[i].ready = false;
	return z->rc;
}

int rk_zip_finish(struct rk_zip *z, struct rk_error *err)
{
	uint64_t at, size = z->directory.len, n = rk_min(z->nmembers, MAX_16);
	uint8_t end_64[76], end[22], *to;

	if (z->rc < 0)
		return rk_fail(err, z->rc, "an earlier write to the archive failed");
	at = rk_output_offset(z->out);
	if (n == MAX_16 || size >= MAX_32 || at >= MAX_32) {
		to = put(end_64, END_64, 4);
		to = put(to, END_64_REST, 8);
		to = put(to, UNIX << 8 | VERSION_64, 2);
		to = put(to, VERSION_64, 2);
		to = put(to, 0, 4 + 4); /* one volume */
		to = put(put(to, z->nmembers, 8), z->nmembers, 8);
		to = put(put(to, size, 8), at, 8);
		to = put(put(to, LOCATOR_64, 4), 0, 4);
		to = put(to, at + size, 8);
		to = put(to, 1, 4);
		rk_bytes_put(&z->directory, end_64, (size_t)(to - end_64));
	}
	to = put(put(end, END, 4), 0, 4);
	to = put(put(to, n, 2), n, 2);
	to = put32_or_ones(to, size);
	to = put32_or_ones(to, at);
	put(to, 0, 2);
	rk_bytes_put(&z->directory, end, sizeof(end));
	if (z->directory.bad)
		return rk_fail_nomem(err);
	return rk_output_write(z->out, z->directory.data, z->directory.len, err);
}

void rk_zip_free(struct rk_zip *z)
{
	if (!z)
		return;
	for (unsigned i = 0; i < z->npackers; i++)
		rk_packer_free(z->packers[i]);
	rk_free(z->packers);
	for (size_t i = 0; z->slots && i < z->nslots; i++) {
		rk_free(z->slots[i].in);
		rk_free(z->slots[i].out);
	}
	rk_free(z->slots);
	rk_bytes_release(&z->directory);
	pthread_cond_destroy(&z->moved);
	pthread_mutex_destroy(&z->lock);
	rk_free(z);
}
