/*
 * align.h - bring the clocks of many ranks to one, from their records, with a bound on the error.
 *
 * In a collective that needs all ranks (all-reduce, all-gather, reduce-scatter, all-to-all,
 * barrier) no rank ends before the last one starts. Let D(t) be how far the clock of rank j is
 * ahead of that of rank i when i's clock shows t. The recorded times of a matched collective then
 * imply
 *
 *  D(end_i) >= start_j - end_i  and  D(start_i) <= end_j - start_i.
 *
 * Clocks are lines: D(t) = a + b t, |b| <= max_drift_ppm. Each match gives two half planes of (a,
 * b). Their intersection contains every line that can be true, and gives the bound: no distribution
 * is assumed. U(t), the largest possible D(t), is convex and the smallest is concave, so the
 * distance of either to a line is largest at an end of the rank's time: two instants give a bound
 * for everything in between. Within the band the estimate is a robust line through the differences
 * of ends, which are nearly simultaneous. Snapshots of the realtime clock and messages give more
 * half planes of the same kind.
 *
 * Ranks of one node share a clock. Nodes are compared with the node of the reference. A node that
 * shares no collective with it is compared with a node that does; bounds add up along the way.
 *
 * Matches may be wrong: those that contradict the rest are dropped, which can only widen a bound.
 * Memory, besides the input: about 300 bytes per collective of one rank, and a few hundred bytes
 * per rank. Not thread safe within one call; calls share nothing.
 */
#ifndef RK_ALIGN_H
#define RK_ALIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "run/run_json.h"

/* What a collective of this kind implies for times. It has no other effect. */
enum rk_align_kind {
	RK_ALIGN_ALL,    /* no rank ends before all have started */
	RK_ALIGN_ROOTED, /* broadcast, reduce, gather, scatter: helps to match only */
};

/*
 * Times are within this of 0, so that differences of differences do not overflow. Callers with other
 * times subtract the same origin from all of them: the offsets stay the same.
 */
#define RK_ALIGN_TIME_MAX INT64_C(2000000000000000000) /* ns: 63 years */

/* 32 bytes. `sig` is from rk_align_sig. start_ns <= end_ns, on the rank's clock. */
struct rk_align_call {
	int64_t start_ns, end_ns;
	uint64_t sig; /* not 0 */
	uint32_t seq; /* the same for the same collective on all ranks; 0: unknown */
	uint32_t size; /* of the data: the same number, the same size; 0: unknown. For comm_match.h */
};

/*
 * Equal for calls of different ranks that may be the same collective. `name`: id of the operation,
 * the same on all ranks. `group`: the communicator, the same number on all its members; 0 if
 * unknown (then ranks of different communicators may be treated as members of one; contradicting
 * calls are dropped). `bytes`: the same on all ranks; -1 if unknown on some rank.
 */
uint64_t rk_align_sig(enum rk_align_kind kind, uint64_t name, uint64_t group, int64_t bytes);

/* Everything is borrowed for the call. */
struct rk_align_input {
	int64_t rank;           /* unique; for messages */
	uint32_t node;          /* equal: same machine and clock */
	uint64_t job;           /* 0: unknown */
	int64_t stamp_error_ns; /* error of this rank's times against its node's clock; >= 0 */
	const struct rk_align_call *calls; /* sorted by end_ns, ascending */
	size_t ncalls;
	const struct rk_align_snapshot *snapshots;
	size_t nsnapshots;
};

/*
 * Sent at send_ns or later on the clock of input `from` (an index), received before recv_ns at
 * `to`.
 */
struct rk_align_message {
	uint32_t from, to;
	int64_t send_ns, recv_ns;
};

struct rk_align_options {
	size_t reference;     /* index of an input */
	double max_drift_ppm; /* between two clocks; 0: RK_ALIGN_DRIFT_PPM */
	int64_t max_error_ns; /* a wider bound is "not alignable"; 0: RK_ALIGN_ERROR_NS */
	const struct rk_align_message *messages; /* borrowed */
	size_t nmessages;
};

enum {
	RK_ALIGN_DRIFT_PPM = 250,
	RK_ALIGN_ERROR_NS = 10000000,
	RK_ALIGN_MAX_RANKS = 1 << 20,
};

enum rk_align_status {
	RK_ALIGNED,
	RK_ALIGN_OTHER_JOB,  /* not the reference's job */
	RK_ALIGN_NO_COMMON,  /* no collective, snapshot or message leads to the reference */
	RK_ALIGN_AMBIGUOUS,  /* several equally good ways to match, at different offsets */
	RK_ALIGN_CONTRADICT, /* no line fits the matches: different runs, or not a clock */
	RK_ALIGN_JUMP,       /* the clock of this rank's node, or of the other's, jumps */
	RK_ALIGN_WIDE,       /* error_ns is the bound, but it is too wide */
	RK_ALIGN_BAD_TIMES,  /* out of order, end before start, or over 100 days */
};

enum rk_align_evidence {
	RK_ALIGN_BY_NODE = 1, /* same clock as the reference */
	RK_ALIGN_BY_CALLS = 2,
	RK_ALIGN_BY_SNAPSHOTS = 4,
	RK_ALIGN_BY_MESSAGES = 8,
	RK_ALIGN_SNAPSHOTS_OFF = 16, /* contradicted the collectives and were not used */
	RK_ALIGN_UNEVEN = 32, /* D is not a line, or ends suggest so; included in the bound */
};

/*
 * local = ref + offset_ns + drift_ppm / 1e6 * (ref - base_ns). The offset is right within error_ns
 * for all times between the rank's first and last record. At these two the bounds are
 * first_error_ns and last_error_ns; in between, the bound is on the line that connects them.
 * Without RK_ALIGNED only status, jump_* and matched are valid, and error_ns with RK_ALIGN_WIDE.
 */
struct rk_align_rank {
	enum rk_align_status status;
	uint32_t evidence; /* enum rk_align_evidence, or'ed along the path to the reference */
	int64_t base_ns;   /* on the reference's clock */
	int64_t offset_ns;
	double drift_ppm;
	int64_t error_ns, first_error_ns, last_error_ns;
	int64_t spread_ns; /* median distance of ends from the line: jitter, not error; -1: none */
	size_t matched, rejected; /* collectives that were used; matched but contradicting */
	size_t via; /* index of the rank it was compared with; its own index: the reference */
	int64_t jump_at_ns, jump_ns; /* on this rank's clock; RK_ALIGN_JUMP */
};

/*
 * `ret` has n elements. Fails only on bad arguments (RK_E_USAGE) or if out of memory; a rank that
 * cannot be aligned gets a status. The order of the inputs does not matter.
 */
int rk_align(const struct rk_align_input *in, size_t n, const struct rk_align_options *opt,
	     struct rk_align_rank *ret, struct rk_error *err);

/* Converts a time of the rank to the reference's clock; unchanged if the result does not fit. */
int64_t rk_align_to_reference(const struct rk_align_rank *r, int64_t local_ns);

/*
 * One sentence without a full stop about why a rank is not aligned, with its rank number and that
 * of `via`; "" if it is aligned. Always NUL-terminated.
 */
void rk_align_reason(const struct rk_align_rank *r, const struct rk_align_input *in, size_t index,
		     char *text, size_t size);

#endif
