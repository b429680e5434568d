/* monitor_files.h - samples on disk: CSV files that grow by a line at a time. */
#ifndef RK_MONITOR_FILES_H
#define RK_MONITOR_FILES_H

#include "base/bytes.h"
#include "monitor/monitor_source.h"
#include "rockit/monitor.h"

enum { RK_MONITOR_FILES = 3 };
enum { RK_MONITOR_INTERVAL_MS = 100 }; /* where nobody says another */

/* Their names within the directory. */
extern const char *const rk_monitor_file_names[RK_MONITOR_FILES];

/* Zero it before use. */
struct rk_monitor_files {
	int fd[RK_MONITOR_FILES]; /* meaningful where `columns` is not 0 */
	unsigned columns[RK_MONITOR_FILES];
	char path[RK_MONITOR_FILES][1024];
	const int *gpus; /* the number of each GPU, borrowed */
	size_t ngpus;
	struct rk_bytes line;
	int64_t second; /* that `date` is the text of */
	char date[24];
};

/* The moment of a sample. */
struct rk_monitor_when {
	int64_t boot_ns, real_ns; /* CLOCK_BOOTTIME and CLOCK_REALTIME */
};

/*
 * Makes the files that have a column for one of the metrics, with their headers. A file that is
 * there is refused unless `overwrite`. On failure none of ours is left behind.
 */
int rk_monitor_files_open(struct rk_monitor_files *f, const char *dir, bool overwrite,
			  unsigned metrics, const int *gpus, size_t ngpus, struct rk_error *err);
/* Appends a line to each file, in one write each; `all` has the readings of each GPU. */
int rk_monitor_files_put(struct rk_monitor_files *f, const struct rk_monitor_when *when,
			 const struct rk_readings *all, struct rk_error *err);
void rk_monitor_files_close(struct rk_monitor_files *f);

/* Readings that the metrics need, a bit each; and the metrics that a reading is of. */
unsigned rk_monitor_readings(unsigned metrics);
unsigned rk_monitor_metrics_of(const struct rk_readings *r);

#endif
