/* perfetto.h - numbers and words of Perfetto traces that their reader and their writer share. */
#ifndef RK_CODEC_PERFETTO_H
#define RK_CODEC_PERFETTO_H

enum {
	RK_PF_BOOTTIME = 6,         /* builtin_clock.proto */
	RK_PF_FIRST_OWN_CLOCK = 64, /* from here on clocks belong to their sequence */
	RK_PF_STATE_CLEARED = 1,    /* TracePacket.sequence_flags */
	RK_PF_NEEDS_STATE = 2,
};

/* TrackEvent.type */
enum rk_pf_type { RK_PF_BEGIN = 1, RK_PF_END, RK_PF_INSTANT, RK_PF_COUNTER };

/* Categories that are tables; "*_api" is a domain of calls, everything else a marker. */
#define RK_PF_KERNELS "kernel_dispatch"
#define RK_PF_COPIES "memory_copy"
#define RK_PF_MEMORY "memory_allocation"
#define RK_PF_MARKERS "marker_api"

#endif
