/* align_rank.c - what goes into an alignment and what comes out of it, one rank at a time. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/map.h"
#include "ranks/align.h"

uint64_t rk_align_sig(enum rk_align_kind kind, uint64_t name, uint64_t group, int64_t bytes)
{
	uint64_t h = rk_hash_mix(name ^ UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xd6e8feb86659fd93));

	h = rk_hash_mix(h ^ group, UINT64_C(0xa0761d6478bd642f));
	h = rk_hash_mix(h ^ (uint64_t)bytes, UINT64_C(0xe7037ed1a0b428db));
	h &= ~UINT64_C(1);
	return (h ? h : 2) | (kind == RK_ALIGN_ROOTED);
}

int64_t rk_align_to_reference(const struct rk_align_rank *r, int64_t local_ns)
{
	int64_t since = local_ns - r->offset_ns - r->base_ns;
	double drift = r->drift_ppm / 1e6;

	return r->base_ns + since - llround((double)since * (drift / (1 + drift)));
}

void rk_align_reason(const struct rk_align_rank *r, const struct rk_align_input *in, size_t index,
		     char *text, size_t size)
{
	int64_t me = in[index].rank, other = in[r->via].rank;

	switch (r->status) {
	case RK_ALIGNED:
		snprintf(text, size, "%s", "");
		break;
	case RK_ALIGN_OTHER_JOB:
		snprintf(text, size, "rank %" PRId64 " is of another job than rank %" PRId64, me,
			 other);
		break;
	case RK_ALIGN_NO_COMMON:
		snprintf(text, size,
			 "rank %" PRId64 " has nothing in common with rank %" PRId64
			 ": no collective, clock snapshot or message",
			 me, other);
		break;
	case RK_ALIGN_AMBIGUOUS:
		snprintf(text, size,
			 "collectives of rank %" PRId64 " match those of rank %" PRId64
			 " in several ways",
			 me, other);
		break;
	case RK_ALIGN_CONTRADICT:
		snprintf(text, size,
			 "what rank %" PRId64 " and rank %" PRId64
			 " recorded contradicts itself on any clock",
			 me, other);
		break;
	case RK_ALIGN_JUMP:
		snprintf(text, size,
			 "the clock of rank %" PRId64 " (or of rank %" PRId64 ") jumps by %" PRId64
			 " ns at %" PRId64,
			 me, other, r->jump_ns, r->jump_at_ns);
		break;
	case RK_ALIGN_WIDE:
		snprintf(text, size,
			 "the clock of rank %" PRId64 " is only known within %" PRId64 " ns", me,
			 r->error_ns);
		break;
	case RK_ALIGN_BAD_TIMES:
		snprintf(text, size, "times of rank %" PRId64 " are out of order or out of range",
			 me);
		break;
	}
}
