/* data.h - the files of data/, carried inside the library. */
#ifndef RK_DATA_H
#define RK_DATA_H

#include <stddef.h>

struct rk_data_file {
	const char *name; /* path below data/: "presets/memory.json" */
	const char *text; /* terminated by a NUL that len does not count */
	size_t len;
};

/* Sorted by name; ended by an entry whose name is NULL. Made by cmake/embed.cmake. */
extern const struct rk_data_file rk_data_files[];

const struct rk_data_file *rk_data_find(const char *name); /* NULL when there is none */

#endif
