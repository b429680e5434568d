/* gen_out.h - fast text output and the writers of gen-trace. */
#ifndef GEN_OUT_H
#define GEN_OUT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "gen_workload.h"

enum { GEN_OUT_BYTES = 1 << 20 };

/* Any failure ends the program with one line: a half-written input is of no use. */
struct gen_out {
	FILE *f;
	const char *path;
	size_t len;
	char buf[GEN_OUT_BYTES + 64]; /* room for one more number after the limit */
};

_Noreturn void gen_die(const char *what, const char *path);
struct gen_out *gen_out_open(const char *path); /* "-": stdout */
void gen_out_close(struct gen_out *o);
void gen_put(struct gen_out *o, const char *text);
void gen_put_u64(struct gen_out *o, uint64_t v);
/* `"text",` and `v,` */
void gen_cell(struct gen_out *o, const char *text);
void gen_cell_u64(struct gen_out *o, uint64_t v);
/* The last cell of a row. */
void gen_last_u64(struct gen_out *o, uint64_t v);

void gen_kernel_header(struct gen_out *o);
void gen_kernel_row(struct gen_out *o, const struct gen_event *e);

/* HOST/PID_*.csv below dir. */
void gen_write_dir(const char *dir, uint64_t seed, uint64_t rows);
/* A rocpd database; `api` adds a region per launch. An existing file is replaced. */
void gen_write_rocpd(const char *path, uint64_t seed, uint64_t rows, bool api);

#endif
