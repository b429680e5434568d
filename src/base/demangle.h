/* demangle.h - C++ symbol names to readable text, safely. */
#ifndef RK_DEMANGLE_H
#define RK_DEMANGLE_H

#include <stdbool.h>

#include "base/bytes.h"

/*
 * Appends the demangled form of `name` (terminated). False when it is not a mangled name, or when
 * it is longer than 32 KiB, or when its text would be longer than 64 KiB: a few hundred crafted
 * bytes can mean gigabytes. `out` is then unchanged.
 */
bool rk_demangle(const char *name, struct rk_bytes *out);

#endif
