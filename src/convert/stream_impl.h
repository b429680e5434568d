/* stream_impl.h - for tests of streams. */
#ifndef RK_STREAM_IMPL_H
#define RK_STREAM_IMPL_H

#include "rockit/stream.h"

/* Bytes of plain text that an array may have in a column; before the first array. */
void rk_stream_limit_text(struct ArrowArrayStream *stream, size_t bytes);

#endif
