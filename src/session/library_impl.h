/* library_impl.h - shared by the files that deal with the logs of libraries. */
#ifndef RK_LIBRARY_IMPL_H
#define RK_LIBRARY_IMPL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"
#include "session/library_trace.h"

enum rk_library {
	RK_LIBRARY_ROCBLAS,
	RK_LIBRARY_HIPBLASLT,
	RK_LIBRARY_MIOPEN,
	RK_LIBRARY_RCCL,
	RK_NLIBRARIES
};

/* By enum rk_library, ended by NULL. */
extern const char *const rk_library_names[];

/* Longer configurations are cut, with "..." at the end. */
enum { RK_LIBRARY_FUNCTION_MAX = 96, RK_LIBRARY_CONFIG_MAX = 2048 };

/* What a line of a log says. */
struct rk_library_call {
	enum rk_library library;
	bool summary; /* counted by the library itself, at its end */
	char function[RK_LIBRARY_FUNCTION_MAX + 1];
	uint64_t calls;
};

/*
 * A line of any log (library_line.c). True: `ret` and `config`, which is cleared first, hold a call;
 * config is one line of valid UTF-8, or bad when out of memory.
 */
bool rk_library_line(const char *line, size_t len, struct rk_library_call *ret,
		     struct rk_bytes *config);

/* Calls counted by library, function and configuration (library_count.c). Zero it before use. */
struct rk_library_row {
	enum rk_library library;
	bool summary;
	uint64_t calls, hash;
	char *text; /* function, NUL, config, NUL, and a byte for library and kind */
	size_t len;
};

struct rk_library_counts {
	struct rk_library_row *rows;
	size_t nrows, cap, bytes;
	uint32_t *slots; /* index + 1 of a row, 0 for none */
	size_t nslots;
	size_t max_rows; /* distinct calls; 0: RK_LIBRARY_CONFIGS_MAX */
};

int rk_library_count(struct rk_library_counts *c, const struct rk_library_call *call,
		     const struct rk_bytes *config, struct rk_error *err);
/* Drops what two logs of one library both counted, and puts the most frequent call first. */
void rk_library_counts_settle(struct rk_library_counts *c);
void rk_library_counts_release(struct rk_library_counts *c);

#endif
