/* data.c - see data.h. */
#include "base/data.h"

#include <string.h>

const struct rk_data_file *rk_data_find(const char *name)
{
	for (const struct rk_data_file *f = rk_data_files; f->name; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	return NULL;
}
