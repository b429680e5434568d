/* zip_write_pack.c - what a task does for a zip archive: reads, sums, packs. */
#include <string.h>

#include "archive/zip_write_impl.h"

int rk_zip_read(const struct rk_zip_member *m, uint64_t offset, void *to, size_t len,
		struct rk_error *err)
{
	int rc = len ? m->read(m->arg, offset, to, len, err) : 0;

	return rc < 0 ? rk_fail(err, rc, "cannot read what '%s' is to hold", m->name) : 0;
}

bool rk_zip_packs(const struct rk_zip *z, const struct rk_zip_member *m)
{
	return z->o.level > 0 && !m->stored;
}

/* One whole member behind those that are in the slot already: header and bytes. */
static int pack_member(struct rk_zip *z, struct rk_zip_member *m, struct rk_packer *k,
		       struct rk_zip_slot *slot, struct rk_error *err)
{
	size_t len = (size_t)m->size, packed = 0;
	uint8_t *to = slot->out + slot->out_len, *data = to + rk_zip_local_bytes(m);
	int rc = rk_zip_read(m, 0, slot->in, len, err);

	if (rc < 0)
		return rc;
	rk_sha256(slot->in, len, m->sha256);
	m->crc = rk_crc32(slot->in, len);
	if (rk_zip_packs(z, m) && len > 1)
		packed = rk_packer_whole(k, slot->in, len, data, len - 1);
	if (!packed && len)
		memcpy(data, slot->in, len); /* it does not shrink */
	m->packed = packed ? packed : len;
	rk_zip_local_header(m, z->o.epoch, to);
	slot->out_len = (size_t)(data - slot->out) + (size_t)m->packed;
	return 0;
}

static int pack_piece(struct rk_zip *z, const struct rk_zip_unit *u, struct rk_packer *k,
		      struct rk_zip_slot *slot, struct rk_error *err)
{
	const struct rk_zip_member *m = &z->members[u->first];
	int rc = rk_zip_read(m, u->offset, slot->in, u->len, err);

	if (rc < 0)
		return rc;
	slot->crc = rk_crc32(slot->in, u->len);
	if (!rk_zip_packs(z, m))
		return 0;
	return rk_packer_piece(k, slot->in, u->len, u->offset + u->len == m->size, slot->out,
			       z->slot_bytes, &slot->out_len, err);
}

int rk_zip_pack_unit(struct rk_zip *z, const struct rk_zip_unit *u, struct rk_packer *k,
		     struct rk_zip_slot *slot, struct rk_error *err)
{
	int rc = 0;

	slot->out_len = 0;
	if (!u->count)
		return pack_piece(z, u, k, slot, err);
	for (size_t i = 0; rc == 0 && i < u->count; i++)
		rc = pack_member(z, &z->members[u->first + i], k, slot, err);
	return rc;
}
