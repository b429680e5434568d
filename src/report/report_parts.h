/* report_parts.h - the parts of a report. */
#ifndef RK_REPORT_PARTS_H
#define RK_REPORT_PARTS_H

#include <inttypes.h>

#include "base/list.h"
#include "base/map.h"
#include "base/page.h"
#include "base/strtab.h"
#include "rockit/rockit.h"
#include "run/energy.h"
#include "table/aggregate.h"
#include "table/source.h"

/* The sections in display order. */
enum rk_section {
	RK_SECTION_KERNELS,
	RK_SECTION_COPIES,
	RK_SECTION_API,
	RK_SECTION_MARKERS,
	RK_SECTION_MEMORY,
	RK_SECTION_LIBRARIES,
	RK_SECTION_DOMAINS,
	RK_NSECTIONS
};

const char *rk_section_key(enum rk_section s);   /* JSON: "kernels", "copies", ... */
const char *rk_section_title(enum rk_section s); /* text: "Kernels", "API calls", ... */
/* From the first kernel start to the last kernel end, on one clock. */
double rk_report_span_ns(const struct rk_report *r);

struct rk_report_section *rk_report_section(const struct rk_report *r, enum rk_section s);
/* The section for a statistics file about `of` ("kernel", "api", ...). */
enum rk_section rk_section_of_stats(const char *of);

/* Fills *ret (zeroed); names are borrowed from `names`. Free with rk_free(ret->rows). */
int rk_section_make(const struct rk_agg_row *rows, size_t n, const struct rk_strtab *names,
		    struct rk_report_section *ret, struct rk_error *err);

/* Sets the energy of the kernels, whose rows are parallel to `rows`. e NULL: no energy. */
void rk_report_energy_rows(struct rk_energy *e, const struct rk_agg_row *rows,
			   struct rk_report_section *kernels);
/* Fills *ret (zeroed) and own->numbers. Free with rk_free(ret->devices), rk_free(own->numbers). */
struct rk_report_own;
int rk_report_energy_make(const struct rk_energy *e, const struct rk_strtab *names,
			  struct rk_report_energy *ret, struct rk_report_own *own,
			  struct rk_error *err);
enum { RK_SAMPLE_STATS_MAX = 1 << 14 }; /* quantities of all GPUs; the rest is left out */

struct rk_sample_stat {
	uint32_t metric, unit, node; /* name ids of the run */
	int64_t device;              /* index among the GPUs of its node; -1: unknown */
	uint64_t n;
	double min, max, sum;
};

/* Zero it before use. */
struct rk_sample_stats {
	struct rk_keys keys; /* node, metric and unit, device */
	struct rk_sample_stat *v;
	size_t n, cap;
	uint64_t left_out; /* samples of quantities beyond the limit */
};

/* Skips samples without a time: they describe the chip, not the run. */
int rk_sample_stats_add(struct rk_sample_stats *s, const struct rk_batch *b, struct rk_error *err);
void rk_sample_stats_release(struct rk_sample_stats *s);

/* One sampled quantity of one GPU. */
struct rk_report_sample {
	const char *metric, *unit, *node; /* "" if unknown */
	int64_t device;                   /* index among the GPUs of its node; -1: unknown */
	uint64_t samples;
	double mean, min, max; /* mean NaN: a mean is meaningless */
};

/* The private part of a report, rk_report.kept; NULL in reports that tests build. */
struct rk_report_own {
	void *run; /* kept open */
	struct rk_report_sample *samples;
	size_t nsamples;
	int64_t *numbers; /* by energy.devices: device number in kernels; -1: unknown */
};

/* Fills the samples of *ret. Free with rk_free(ret->samples). */
int rk_report_samples_make(const struct rk_sample_stats *s, const struct rk_strtab *names,
			   struct rk_report_own *ret, struct rk_error *err);

/* Adds the names of all machines of the report, once each. */
int rk_report_machines(const struct rk_report *r, struct rk_list *ret, struct rk_error *err);

rk_form rk_report_json; /* renders a struct rk_report; `look` is not used */
/* Writes the array of hotspots; empty if h is NULL. */
void rk_hotspots_json_array(struct rk_bytes *out, const struct rk_hotspots *h);

/* Writes "12.34 mJ": four significant digits, nJ to MJ; "-" if it is not finite. */
void rk_put_energy(struct rk_bytes *out, double joule);
/* Writes the value of "energy": an object, or null. */
void rk_energy_json(struct rk_bytes *out, const struct rk_report_energy *e,
		    const struct rk_report_own *own);
/* Writes the value of "samples": an array, empty if own is NULL. */
void rk_samples_json(struct rk_bytes *out, const struct rk_report_own *own);
/* Writes one line per sampled quantity of each GPU. */
void rk_samples_text(struct rk_page *p, const struct rk_report_own *own);

/* Writes the energy of each device, one line each; nothing if it is unknown. */
void rk_energy_text(struct rk_page *p, const struct rk_report_energy *e,
		    const struct rk_report_own *own);

#endif
