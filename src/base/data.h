/* data.h - the files of data/, carried inside the library. */
#ifndef RK_DATA_H
#define RK_DATA_H

#include <stddef.h>
#include <string.h>

struct rk_data_file {
	const char *name; /* path below data/: "presets/memory.json" */
	const char *text; /* terminated by a NUL that len does not count */
	size_t len;
};

/* Sorted by name; ended by an entry whose name is NULL. Made by cmake/embed.cmake. */
extern const struct rk_data_file rk_data_files[];

/* NULL when there is none. */
static inline const struct rk_data_file *rk_data_find(const char *name)
{
	for (const struct rk_data_file *f = rk_data_files; f->name; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	return NULL;
}

#endif
