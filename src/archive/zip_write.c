/*
 * zip_write.c - see zip_write.h.
 *
 * The members of one rk_zip_add are cut into units (zip_write_impl.h), each a task of one job. A task
 * waits for its slot to be free, packs into it, and then, when no other thread is writing, writes
 * all units that are ready and whose turn it is. So there is no thread that only writes, nobody
 * waits for the slowest of a batch, and memory is that of the slots. Tasks are taken in order: the
 * next to be written is always under way, so that those that wait for a slot get one.
 *
 * What a piece's bytes become does not depend on other pieces, nor what is written on who does it.
 */
#include "archive/zip_write.h"

#include <string.h>

#include "archive/zip_write_impl.h"
#include "base/alloc.h"

enum { MAX_LEVEL = 12, MAX_AHEAD = 16 };
#define MAX_DIRECTORY ((size_t)1 << 32)

int rk_zip_read_memory(const void *arg, uint64_t offset, void *to, size_t len, struct rk_error *err)
{
	(void)err;
	memcpy(to, (const char *)arg + offset, len);
	return 0;
}

/* -- units -------------------------------------------------------------------------------- */

/* As long as they are small enough together. */
static size_t group_of(const struct rk_zip_member *m, size_t n)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < n && i < RK_ZIP_GROUP_MEMBERS; i++) {
		if (m[i].size > RK_ZIP_GROUP)
			break;
		bytes += m[i].size + rk_zip_local_bytes(&m[i]);
		if (bytes > RK_ZIP_GROUP)
			break;
	}
	return i ? i : 1;
}

/* Of equal size, in whole pages. */
static size_t piece_of(uint64_t size)
{
	uint64_t n = size / RK_ZIP_PIECE + (size % RK_ZIP_PIECE != 0);

	return (size_t)((size / n + (size % n != 0) + 4095) / 4096 * 4096);
}

static bool add_unit(struct rk_zip *z, size_t *cap, struct rk_zip_unit u)
{
	struct rk_zip_unit *grown = rk_grow(z->units, cap, z->nunits + 1, sizeof(*grown));

	if (!grown)
		return false;
	z->units = grown;
	z->units[z->nunits++] = u;
	return true;
}

static bool add_pieces(struct rk_zip *z, size_t *cap, size_t i)
{
	uint64_t size = z->members[i].size, piece = piece_of(size);
	bool ok = true;

	for (uint64_t at = 0; ok && at < size; at += piece) {
		uint64_t len = size - at < piece ? size - at : piece;

		ok = add_unit(z, cap,
			      (struct rk_zip_unit){ .first = i, .offset = at, .len = (size_t)len });
	}
	return ok;
}

static int make_units(struct rk_zip *z, size_t n, struct rk_error *err)
{
	size_t cap = 0, count;
	bool ok = true;

	for (size_t i = 0; ok && i < n; i += count) {
		const struct rk_zip_member *m = &z->members[i];

		count = 1;
		if (strlen(m->name) > RK_ZIP_MAX_NAME)
			return rk_fail(err, RK_E_LIMIT,
				       "the name '%.60s...' is too long for a zip archive",
				       m->name);
		if (m->size > RK_ZIP_PIECE) {
			ok = add_pieces(z, &cap, i);
			continue;
		}
		count = group_of(m, n - i);
		ok = add_unit(z, &cap, (struct rk_zip_unit){ .first = i, .count = count });
	}
	return ok ? 0 : rk_fail_nomem(err);
}

/* -- writing, by one thread at a time ------------------------------------------------------ */

static int write_group(struct rk_zip *z, const struct rk_zip_unit *u, const struct rk_zip_slot *s,
		       struct rk_error *err)
{
	uint64_t at = rk_output_offset(z->out);
	int rc = rk_output_write(z->out, s->out, s->out_len, err);

	for (size_t i = 0; rc == 0 && i < u->count; i++) {
		const struct rk_zip_member *m = &z->members[u->first + i];

		rk_zip_directory_add(z, m, at);
		at += rk_zip_local_bytes(m) + m->packed;
		z->done += m->size;
	}
	return rc;
}

/* The header, whose numbers are only known at the end of the member. */
static int write_header(struct rk_zip *z, const struct rk_zip_member *m, bool again,
			struct rk_error *err)
{
	uint8_t *header = rk_alloc(rk_zip_local_bytes(m));
	size_t len;
	int rc;

	if (!header)
		return rk_fail_nomem(err);
	len = rk_zip_local_header(m, z->o.epoch, header);
	if (again)
		rc = rk_output_patch(z->out, z->header_at, header, len, err);
	else
		rc = rk_output_write(z->out, header, len, err);
	rk_free(header);
	return rc;
}

/* The pieces together are not smaller: as it is, then. `buffer` is a slot's. */
static int write_stored(struct rk_zip *z, struct rk_zip_member *m, uint8_t *buffer,
			struct rk_error *err)
{
	int rc = rk_output_rewind(z->out, z->header_at + rk_zip_local_bytes(m), err);

	for (uint64_t at = 0, len; rc == 0 && at < m->size; at += len) {
		len = m->size - at < RK_ZIP_PIECE ? m->size - at : RK_ZIP_PIECE;
		rc = rk_zip_read(m, at, buffer, (size_t)len, err);
		if (rc == 0)
			rc = rk_output_write(z->out, buffer, (size_t)len, err);
	}
	m->packed = m->size;
	return rc;
}

static int end_member(struct rk_zip *z, struct rk_zip_member *m, struct rk_zip_slot *s,
		      struct rk_error *err)
{
	int rc = 0;

	rk_sha256_end(&z->sum, m->sha256);
	if (m->packed >= m->size && rk_zip_packs(z, m))
		rc = write_stored(z, m, s->in, err);
	if (rc == 0)
		rc = write_header(z, m, true, err);
	if (rc == 0)
		rk_zip_directory_add(z, m, z->header_at);
	return rc;
}

static int begin_member(struct rk_zip *z, struct rk_zip_member *m, struct rk_error *err)
{
	z->header_at = rk_output_offset(z->out);
	rk_sha256_begin(&z->sum);
	m->crc = 0;
	m->packed = 0;
	return write_header(z, m, false, err);
}

static int write_piece(struct rk_zip *z, const struct rk_zip_unit *u, struct rk_zip_slot *s,
		       struct rk_error *err)
{
	struct rk_zip_member *m = &z->members[u->first];
	bool packed = rk_zip_packs(z, m);
	size_t len = packed ? s->out_len : u->len;
	int rc = u->offset ? 0 : begin_member(z, m, err);

	if (rc == 0)
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
	const struct rk_zip_unit *u = &z->units[i];
	struct rk_zip_slot *s = &z->slots[i % z->nslots];
	int rc = s->rc;

	if (rc < 0) {
		if (err)
			*err = s->err;
		return rc;
	}
	rc = u->count ? write_group(z, u, s, err) : write_piece(z, u, s, err);
	if (rc == 0 && z->directory.bad)
		rc = rk_fail_nomem(err);
	if (rc == 0 && z->o.progress && z->o.progress(z->o.progress_arg, z->done))
		rc = rk_fail(err, RK_E_CANCELLED, "cancelled");
	return rc;
}

/* -- tasks -------------------------------------------------------------------------------- */

/* False: the archive has failed meanwhile. */
static bool wait_for_slot(struct rk_zip *z, size_t i)
{
	bool ok;

	pthread_mutex_lock(&z->lock);
	while (z->rc == 0 && i >= z->written + z->nslots)
		pthread_cond_wait(&z->moved, &z->lock);
	ok = z->rc == 0;
	pthread_mutex_unlock(&z->lock);
	return ok;
}

static bool is_next_ready(const struct rk_zip *z)
{
	return z->rc == 0 && z->written < z->nunits && z->slots[z->written % z->nslots].ready;
}

/* Unit i is in its slot. Whoever writes looks again before it stops, so none is forgotten. */
static void hand_over(struct rk_zip *z, size_t i)
{
	int rc;

	pthread_mutex_lock(&z->lock);
	z->slots[i % z->nslots].ready = true;
	while (!z->writing && is_next_ready(z)) {
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
	struct rk_zip_slot *s = &z->slots[i % z->nslots];

	if (!wait_for_slot(z, i))
		return;
	s->err = (struct rk_error){ 0 };
	s->rc = rk_zip_pack_unit(z, &z->units[i], z->npackers ? z->packers[worker] : NULL, s,
				 &s->err);
	hand_over(z, i);
}

/* -- the archive -------------------------------------------------------------------------- */

static int make_packers(struct rk_zip *z, struct rk_error *err)
{
	unsigned n = rk_pool_threads(z->pool);
	int rc = 0;

	z->slot_bytes = RK_ZIP_PIECE + RK_ZIP_HEADER + RK_ZIP_MAX_NAME;
	if (!z->o.level)
		return 0;
	z->packers = rk_calloc(n, sizeof(*z->packers));
	if (!z->packers)
		return rk_fail_nomem(err);
	for (; rc == 0 && z->npackers < n; z->npackers += rc == 0)
		rc = rk_packer_new(z->o.level, &z->packers[z->npackers], err);
	if (rc == 0 && rk_packer_bound(z->packers[0], RK_ZIP_PIECE) > z->slot_bytes)
		z->slot_bytes = rk_packer_bound(z->packers[0], RK_ZIP_PIECE);
	return rc;
}

/* Twice as many as there are threads, so that a slow piece does not stop the others at once. */
static int make_slots(struct rk_zip *z, struct rk_error *err)
{
	unsigned n = rk_pool_threads(z->pool);

	z->nslots = n == 1 ? 1 : n + (n < MAX_AHEAD ? n : MAX_AHEAD);
	z->slots = rk_calloc(z->nslots, sizeof(*z->slots));
	if (!z->slots)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < z->nslots; i++) {
		z->slots[i].in = rk_alloc(RK_ZIP_PIECE);
		z->slots[i].out = rk_alloc(z->slot_bytes);
		if (!z->slots[i].in || !z->slots[i].out)
			return rk_fail_nomem(err);
	}
	return 0;
}

int rk_zip_new(struct rk_output *out, struct rk_pool *pool, const struct rk_zip_options *o,
	       struct rk_zip **ret, struct rk_error *err)
{
	struct rk_zip *z;
	int rc;

	if (o->level < 0 || o->level > MAX_LEVEL)
		return rk_fail(err, RK_E_USAGE, "level %d is not one of 0 to %d", o->level,
			       MAX_LEVEL);
	z = rk_calloc(1, sizeof(*z));
	if (!z)
		return rk_fail_nomem(err);
	z->out = out, z->pool = pool, z->o = *o;
	pthread_mutex_init(&z->lock, NULL);
	pthread_cond_init(&z->moved, NULL);
	rk_bytes_init(&z->directory, MAX_DIRECTORY);
	rc = make_packers(z, err);
	if (rc == 0)
		rc = make_slots(z, err);
	if (rc < 0) {
		rk_zip_free(z);
		return rc;
	}
	*ret = z;
	return 0;
}

int rk_zip_add(struct rk_zip *z, struct rk_zip_member *members, size_t n, struct rk_error *err)
{
	struct rk_error own = { 0 };

	if (z->rc < 0)
		return rk_fail(err, z->rc, "the archive could not be written before");
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
	if (z->rc < 0)
		return rk_fail(err, z->rc, "the archive could not be written before");
	rk_zip_directory_end(z, rk_output_offset(z->out));
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
