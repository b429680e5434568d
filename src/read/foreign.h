/* foreign.h - files that rockit does not read, but knows. */
#ifndef RK_FOREIGN_H
#define RK_FOREIGN_H

#include <stddef.h>

#include "base/error.h"

/*
 * Fails with a message that names the format and how to export it, if the file has one of the known
 * formats that we do not read; otherwise returns 0. `head` has its first bytes.
 */
int rk_foreign_fail(const char *path, const char *head, size_t len, struct rk_error *err);

#endif
