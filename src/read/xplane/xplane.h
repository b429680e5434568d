/*
 * xplane.h - profiles of JAX and XLA (*.xplane.pb), AMD and NVIDIA.
 *
 * The file is one protobuf message XSpace: planes of lines of events. Only lines "Stream #N" of the
 * planes /device:GPU:N are kernels and copies; the other lines of a GPU ("XLA Ops", "Steps") repeat
 * their time. Calls of the GPU's runtime are events of the host planes that have a correlation id. The
 * XLA operation of a kernel is a marker of the kind gpu_range, as annotations of PyTorch are; steps
 * are markers too. Other events of the host are framework and Python functions, which have no table.
 *
 * Names of events and statistics come after the events of a plane, so the file is read once for them
 * and then once per table. Times are picoseconds from the time of the line, which counts from the
 * start of the profile. Start and end are each rounded to the nearest nanosecond.
 *
 * Warnings: "cut-trace", "damaged-trace", "huge-event", "unknown-name", "name-limit",
 * "time-out-of-range", "number-out-of-range", "other-device", "profiler-says" (a text in the file).
 */
#ifndef RK_XPLANE_H
#define RK_XPLANE_H

#include "base/map.h"
#include "codec/protobuf.h"
#include "read/oddities.h"
#include "read/reader.h"

/* Statistics that are used. */
enum xp_role {
	XP_CORRELATION,
	XP_KERNEL_DETAILS,
	XP_COPY_DETAILS,
	XP_SET_DETAILS,
	XP_HLO_OP,
	XP_HLO_MODULE,
	XP_STEP,
	XP_VENDOR,
	XP_CORES,
	XP_CLOCK,
	XP_MEMORY,
	XP_NROLES
};

enum xp_plane_kind { XP_PLANE_OTHER, XP_PLANE_GPU, XP_PLANE_HOST };
struct xp_plane {
	enum xp_plane_kind kind;
	bool other_device; /* a device that is not a GPU */
	int64_t device;
	bool amd;
	int64_t cores, clock_khz, memory;
};
struct xp_line {
	bool stream;
	int64_t id, time_ns;
	int64_t tid; /* of a host line */
};

struct xp_reader {
	struct rk_reader base;
	struct rk_instream *in;
	struct rk_context *ctx;
	struct xp_plane *planes;
	struct xp_line *lines; /* of all planes */
	size_t nplanes, cap_planes, nlines, cap_lines;
	struct rk_map names; /* (2 * plane, event) and (2 * plane + 1, statistic) -> id of the name */
	uint32_t roles[XP_NROLES];
	int64_t node; /* id of the last host name; RK_NONE: unknown */
	struct rk_oddities odd;
};

/* Where a walk through the file is. */
struct xp_walk {
	struct xp_reader *r;
	struct rk_pb_stream file;
	uint64_t plane_end, line_end; /* offsets; 0: not inside one */
	size_t plane, line;           /* numbers of the current ones */
	size_t next_plane, next_line;
	bool stop; /* at the end, or at damage */
	void *arg; /* NULL in the first pass */
};

/* A statistic: its name and its value. */
struct xp_stat {
	int role; /* -1: not used */
	int64_t number;
	const char *text; /* NULL: it is a number */
	size_t len;
};

/* ---- walk.c: through a file whose messages are too long for memory ---- */

void rk_xp_warn(struct xp_reader *r, const char *kind, const char *message);

/* The first pass: planes, lines and names, and r->roles. */
int rk_xp_index(struct xp_reader *r, struct rk_error *err);

/*
 * One step: the next field, whatever message it is in. Enters planes and lines, and passes their other
 * fields to `use`, which has to read or skip the field's bytes. Sets w->stop at the end.
 */
typedef int xp_use_fn(struct xp_walk *w, const struct rk_pb_field *f, struct rk_error *err);
int rk_xp_step(struct xp_walk *w, xp_use_fn *use, struct rk_error *err);

/* Skips bytes of the current field. */
int rk_xp_skip(struct xp_walk *w, uint64_t n, struct rk_error *err);
/*
 * The message of a field as a whole: its bytes are skipped, but valid until the next read. Returns 1;
 * 0 if there is none.
 */
int rk_xp_message(struct xp_walk *w, const struct rk_pb_field *f, struct rk_cursor *ret,
		  struct rk_error *err);
struct xp_stat rk_xp_stat(const struct xp_reader *r, size_t plane, struct rk_cursor c);

#endif
