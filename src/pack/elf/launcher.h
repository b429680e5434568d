/*
 * launcher.h - small ELF files that are made here, byte by byte, for machines of any kind: no
 * compiler is needed.
 */
#ifndef RK_LAUNCHER_H
#define RK_LAUNCHER_H

#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"

enum { RK_LAUNCHER_PATH_MAX = 1024, RK_LAUNCHER_BYTES_MAX = 2048 };

/*
 * A static executable without libc that starts the program at `relpath`, relative to the folder the
 * launcher itself is in, with the same arguments (argv[0] too) and environment. When it cannot, it
 * reports that on stderr and exits with 127. `out` is cleared first. RK_E_UNSUPPORTED: no code for
 * this machine.
 */
int rk_launcher_make(uint16_t machine, const char *relpath, struct rk_bytes *out,
		     struct rk_error *err);
/* The path of a launcher that was made by the above, borrowed from `data`; NULL: it is not one. */
const char *rk_launcher_target(const void *data, size_t len);

/*
 * A shared object that holds nothing but the wish for `soname`, found beside it: what programs get
 * that dlopen a library by its name without a version. dlsym finds the library's symbols. Its own
 * SONAME is `own_name`: with that of the library the loader would take one for the other.
 */
int rk_alias_library_make(uint16_t machine, const char *own_name, const char *soname,
			  struct rk_bytes *out, struct rk_error *err);

#endif
