/*
 * base85.h - bytes as text of a page: four bytes as five digits, a fourth more where base64 takes a
 * third.
 *
 * The digits are what ASCII has from '!' to '~', in that order, without the nine that mean something
 * to HTML, to scripts or to a shell: " & ' - < = > \ `. Of the last n < 4 bytes there are n + 1
 * digits.
 */
#ifndef RK_BASE85_H
#define RK_BASE85_H

#include "base/bytes.h"

void rk_base85_put(struct rk_bytes *out, const void *p, size_t len); /* appends */

#endif
