/* base64.h - bytes as text (RFC 4648, section 4). */
#ifndef RK_BASE64_H
#define RK_BASE64_H

#include "base/bytes.h"

/* Appends, with padding and without line ends. */
void rk_base64_put(struct rk_bytes *out, const void *p, size_t len);

#endif
