/* report_parts.h - the parts of a report. */
#ifndef RK_REPORT_PARTS_H
#define RK_REPORT_PARTS_H

#include <inttypes.h>

#include "base/map.h"
#include "base/page.h"
#include "base/strtab.h"
#include "rockit/rockit.h"
#include "run/energy.h"
#include "table/aggregate.h"
#include "table/source.h"

/* The sections in the order they are shown. */
enum rk_section {
	RK_SECTION_KERNELS,
	RK_SECTION_COPIES,
	RK_SECTION_API,
	RK_SECTION_MARKERS,
	RK_SECTION_MEMORY,
	RK_SECTION_DOMAINS,
	RK_NSECTIONS
};

const char *rk_section_key(enum rk_section s);   /* JSON: "kernels", "copies", ... */
const char *rk_section_title(enum rk_section s); /* text: "Kernels", "API calls", ... */
/* From the first start of a kernel to the last end, on one clock. */
double rk_report_span_ns(const struct rk_report *r);

struct rk_report_section *rk_report_section(const struct rk_report *r, enum rk_section s);
/* The section for rows of a statistics file about `of` ("kernel", "api", ...). */
enum rk_section rk_section_of_stats(const char *of);

/* Fills *ret (zeroed); names are borrowed from `names`. Freed by rk_free(ret->rows). */
int rk_section_make(const struct rk_agg_row *rows, size_t n, const struct rk_strtab *names,
		    struct rk_report_section *ret, struct rk_error *err);

/* Sets the energy of the kernels, whose rows are parallel to `rows`. e NULL: no energy. */
void rk_report_energy_rows(struct rk_energy *e, const struct rk_agg_row *rows,
			   struct rk_report_section *kernels);
/* Fills *ret (zeroed), and own->numbers. Freed by rk_free(ret->devices), rk_free(own->numbers). */
struct rk_report_own;
int rk_report_energy_make(const struct rk_energy *e, const struct rk_strtab *names,
			  struct rk_report_energy *ret, struct rk_report_own *own,
			  struct rk_error *err);
enum { RK_SAMPLE_STATS_MAX = 1 << 14 }; /* quantities of all GPUs; the rest is left out */

struct rk_sample_stat {
	uint32_t metric, unit, node; /* ids of the run's names */
	int64_t device;              /* place among the GPUs of its node; -1: not known */
	uint64_t n;
	double min, max, sum;
};

/* Zero it before use. */
struct rk_sample_stats {
	struct rk_keys keys; /* node, metric and unit, device */
	struct rk_sample_stat *v;
	size_t n, cap;
	uint64_t left_out; /* samples of further quantities */
};

/* Samples without a time describe the chip, not the run, and are skipped. */
int rk_sample_stats_add(struct rk_sample_stats *s, const struct rk_batch *b, struct rk_error *err);
void rk_sample_stats_release(struct rk_sample_stats *s);

/* One sampled quantity of one GPU. */
struct rk_report_sample {
	const char *metric, *unit, *node; /* "" when not known */
	int64_t device;                   /* place among the GPUs of its node; -1: not known */
	uint64_t samples;
	double mean, min, max; /* mean NaN: a mean makes no sense */
};

/* The private part of a report, rk_report.kept; NULL in reports that tests build. */
struct rk_report_own {
	void *run; /* kept open */
	struct rk_report_sample *samples;
	size_t nsamples;
	int64_t *numbers; /* per energy.devices: its device number in kernels; -1: not known */
};

/* Fills the samples of *ret. Freed by rk_free(ret->samples). */
int rk_report_samples_make(const struct rk_sample_stats *s, const struct rk_strtab *names,
			   struct rk_report_own *ret, struct rk_error *err);

rk_form rk_report_json; /* of a struct rk_report; `look` is not used */
/* The array of hotspots; h NULL: an empty one. */
void rk_hotspots_json_array(struct rk_bytes *out, const struct rk_hotspots *h);

/* "12.34 mJ": four significant digits, nJ to MJ; "-" when it is not finite. */
void rk_put_energy(struct rk_bytes *out, double joule);
/* The value of "energy": an object, or null. */
void rk_energy_json(struct rk_bytes *out, const struct rk_report_energy *e,
		    const struct rk_report_own *own);
/* The value of "samples": an array. own NULL: it is empty. */
void rk_samples_json(struct rk_bytes *out, const struct rk_report_own *own);
/* One line for each sampled quantity of each GPU. */
void rk_samples_text(struct rk_page *p, const struct rk_report_own *own);

/* The energy of each device, a line each; nothing when it is not known. */
void rk_energy_text(struct rk_page *p, const struct rk_report_energy *e,
		    const struct rk_report_own *own);

#endif
