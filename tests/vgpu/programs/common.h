/* common.h - what all test programs share: numbers of the command line, the code object. */
#ifndef COMMON_H
#define COMMON_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The i-th argument as a number, `fallback` if it is not given. */
static inline unsigned number(int argc, char **argv, int i, unsigned fallback)
{
	unsigned v = fallback;

	if (i < argc && sscanf(argv[i], "%u", &v) != 1) {
		fprintf(stderr, "not a number: %s\n", argv[i]);
		exit(2);
	}
	return v;
}

/*
 * The code object that VGPU_CODE names, for the caller to free. VGPU_FLAGS are the ELF flags of the
 * chip: no compiler here knows them all, and nothing is executed.
 */
static inline char *read_code(size_t *ret_size)
{
	const char *path = getenv("VGPU_CODE"), *flags = getenv("VGPU_FLAGS");
	FILE *f = fopen(path ? path : "kernels.co", "rb");
	char *image = malloc(1 << 20);
	uint32_t v;

	*ret_size = f && image ? fread(image, 1, 1 << 20, f) : 0;
	if (*ret_size < 64) {
		fprintf(stderr, "cannot read the code object\n");
		exit(3);
	}
	fclose(f);
	if (flags && sscanf(flags, "%x", &v) == 1)
		memcpy(image + 48, &v, sizeof(v));
	return image;
}

#endif
