/* copy.c - copies by the copy engines, fills, and memory that is allocated and released. */
#include "rocm.h"

static struct rk_rocm_relay copy_of(uint64_t to_agent, uint64_t from_agent, uint64_t bytes,
				    uint64_t done)
{
	const struct rk_rocm_device *to = rk_rocm_device(to_agent);
	const struct rk_rocm_device *from = rk_rocm_device(from_agent), *at;
	const struct rk_rocm_call *call = &rk_rocm_call;
	struct rk_rec_copy c = { .direction = RK_REC_HOST_TO_HOST, .bytes = bytes };

	if (to && to->id && from && from->id)
		c.direction = to == from ? RK_REC_DEVICE_TO_DEVICE : RK_REC_PEER;
	else if (to && to->id)
		c.direction = RK_REC_HOST_TO_DEVICE;
	else if (from && from->id)
		c.direction = RK_REC_DEVICE_TO_HOST;
	at = to && to->id ? to : from;
	if (at && at->id)
		c.queue = rk_rocm_stream(at, at->copies, call->correlation, call->stream);
	if (c.direction == RK_REC_PEER) {
		c.from = from->id;
		c.to = to->id;
	}
	c.correlation = call->correlation;
	c.tid = rk_rec_begun();
	return (struct rk_rocm_relay){ .original = done, .submit_ns = rk_rec_now(), .copy = c };
}

static bool is_recorded(void)
{
	if (!rk_rocm_live())
		return false;
	if (rk_rec_awake())
		return true;
	rk_rec_skip();
	return false;
}

/* After the call: the copy is under way, or was refused. */
static hsa_status submitted(struct rk_rocm_relay *r, hsa_status rc)
{
	if (rc) {
		rk_rocm_relay_cancel(r);
		rk_rec_failed();
	}
	return rc;
}

static hsa_status memory_async_copy(void *to, uint64_t to_agent, const void *from,
				    uint64_t from_agent, size_t bytes, uint32_t ndeps,
				    const uint64_t *deps, uint64_t done)
{
	struct rk_rocm_relay what, *r;

	if (!is_recorded())
		return rk_rocm.amd.memory_async_copy(to, to_agent, from, from_agent, bytes, ndeps,
						     deps, done);
	what = copy_of(to_agent, from_agent, bytes, done);
	if (!rk_rocm_relay_start(&what, &r)) {
		rk_rec_source_lost(1);
		return rk_rocm.amd.memory_async_copy(to, to_agent, from, from_agent, bytes, ndeps,
						     deps, done);
	}
	return submitted(r, rk_rocm.amd.memory_async_copy(to, to_agent, from, from_agent, bytes,
							  ndeps, deps, r->signal));
}

static hsa_status memory_async_copy_on_engine(void *to, uint64_t to_agent, const void *from,
					      uint64_t from_agent, size_t bytes, uint32_t ndeps,
					      const uint64_t *deps, uint64_t done, uint32_t engine,
					      bool force)
{
	struct rk_rocm_relay what, *r;

	if (!is_recorded())
		return rk_rocm.amd.memory_async_copy_on_engine(
			to, to_agent, from, from_agent, bytes, ndeps, deps, done, engine, force);
	what = copy_of(to_agent, from_agent, bytes, done);
	if (!rk_rocm_relay_start(&what, &r)) {
		rk_rec_source_lost(1);
		return rk_rocm.amd.memory_async_copy_on_engine(
			to, to_agent, from, from_agent, bytes, ndeps, deps, done, engine, force);
	}
	return submitted(r, rk_rocm.amd.memory_async_copy_on_engine(to, to_agent, from, from_agent,
								    bytes, ndeps, deps, r->signal,
								    engine, force));
}

static hsa_status memory_async_copy_rect(const struct hsa_pitched *to,
					 const struct hsa_dim *to_offset,
					 const struct hsa_pitched *from,
					 const struct hsa_dim *from_offset,
					 const struct hsa_dim *range, uint64_t agent,
					 uint32_t direction, uint32_t ndeps, const uint64_t *deps,
					 uint64_t done)
{
	uint64_t bytes = range ? (uint64_t)range->x * range->y * range->z : 0;
	struct rk_rocm_relay what, *r;
	uint64_t to_agent, from_agent;

	if (!is_recorded())
		return rk_rocm.amd.memory_async_copy_rect(to, to_offset, from, from_offset, range,
							  agent, direction, ndeps, deps, done);
	/* the host is not an agent of this call */
	to_agent = direction == HSA_HOST_TO_DEVICE || direction == HSA_DEVICE ? agent : 0;
	from_agent = direction == HSA_DEVICE_TO_HOST || direction == HSA_DEVICE ? agent : 0;
	what = copy_of(to_agent, from_agent, bytes, done);
	if (!rk_rocm_relay_start(&what, &r)) {
		rk_rec_source_lost(1);
		return rk_rocm.amd.memory_async_copy_rect(to, to_offset, from, from_offset, range,
							  agent, direction, ndeps, deps, done);
	}
	return submitted(r, rk_rocm.amd.memory_async_copy_rect(to, to_offset, from, from_offset,
							       range, agent, direction, ndeps, deps,
							       r->signal));
}

/* Without it there are no times. */
static hsa_status async_copy_enable(bool on)
{
	if (!on && rk_rocm_live())
		return 0;
	return rk_rocm.amd.async_copy_enable(on);
}

/* ---- memory ---- */

static void allocated(enum rk_rec_alloc_kind kind, uint64_t pool, uint64_t address, uint64_t bytes,
		      int64_t start_ns)
{
	const struct rk_rocm_device *d = kind == RK_REC_ALLOC ? rk_rocm_pool_device(pool) : NULL;

	rk_rec_alloc(kind, d ? d->id : 0, address, bytes, start_ns, rk_rec_now() - start_ns);
}

static hsa_status memory_pool_allocate(uint64_t pool, size_t bytes, uint32_t flags, void **ret)
{
	int64_t start_ns = rk_rec_now();
	hsa_status rc = rk_rocm.amd.memory_pool_allocate(pool, bytes, flags, ret);

	if (!rc && is_recorded())
		allocated(RK_REC_ALLOC, pool, (uintptr_t)*ret, bytes, start_ns);
	return rc;
}

static hsa_status memory_pool_free(void *p)
{
	int64_t start_ns = rk_rec_now();
	hsa_status rc = rk_rocm.amd.memory_pool_free(p);

	if (!rc && p && is_recorded())
		allocated(RK_REC_FREE, 0, (uintptr_t)p, 0, start_ns);
	return rc;
}

/* Memory without an address has a handle instead. */
static hsa_status vmem_handle_create(uint64_t pool, size_t bytes, uint32_t type, uint64_t flags,
				     uint64_t *ret)
{
	int64_t start_ns = rk_rec_now();
	hsa_status rc = rk_rocm.amd.vmem_handle_create(pool, bytes, type, flags, ret);

	if (!rc && is_recorded())
		allocated(RK_REC_ALLOC, pool, *ret, bytes, start_ns);
	return rc;
}

static hsa_status vmem_handle_release(uint64_t handle)
{
	int64_t start_ns = rk_rec_now();
	hsa_status rc = rk_rocm.amd.vmem_handle_release(handle);

	if (!rc && is_recorded())
		allocated(RK_REC_FREE, 0, handle, 0, start_ns);
	return rc;
}

void rk_rocm_copy_hook(struct hsa_amd *amd)
{
	rk_rocm.amd.async_copy_enable(true);
	amd->async_copy_enable = async_copy_enable;
	amd->memory_async_copy = memory_async_copy;
	amd->memory_async_copy_on_engine = memory_async_copy_on_engine;
	amd->memory_async_copy_rect = memory_async_copy_rect;
	if (!rk_rocm.allocations)
		return;
	amd->memory_pool_allocate = memory_pool_allocate;
	amd->memory_pool_free = memory_pool_free;
	if (HSA_HAS(&rk_rocm.amd, vmem_handle_release)) {
		amd->vmem_handle_create = vmem_handle_create;
		amd->vmem_handle_release = vmem_handle_release;
	}
}
